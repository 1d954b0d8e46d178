#include "metric/result/runs_detail.h"

#include "base/mem.h"
#include "metric/json_builder.h"
#include "metric/run/work_span.h"
#include "stat/summary.h"

#include <math.h>
#include <string.h>

#define NS_PER_S   1e9
#define SHOWN_RANK 0 /* whose curves are in the document, of a run of several */

static size_t stride_for(size_t count)
{
    return count <= YS_DETAIL_MAX_POINTS ? 1 : (count + YS_DETAIL_MAX_POINTS - 1) / YS_DETAIL_MAX_POINTS;
}

/* Every `stride`-th number less `origin`, over `divisor`; left a whole number when that is 1. */
static ys_json *ints(const struct ys_series *series, size_t stride, int64_t origin, double divisor)
{
    ys_json *array = ys_json_array();
    for (size_t i = 0; series && i < series->count; i += stride) {
        int64_t value = series->ints[i] - origin;
        ys_json_append(array, divisor == 1 ? ys_json_int(value) : ys_json_real((double)value / divisor));
    }
    return array;
}

static void put_loss(ys_json *object, const struct ys_series_set *series)
{
    const struct ys_series *loss = ys_series_find(series, "step_loss");
    size_t stride = stride_for(loss ? loss->count : 0);
    ys_json *array = ys_json_array();
    for (size_t i = 0; loss && i < loss->count; i += stride)
        ys_json_append(array, ys_json_real(loss->reals[i]));
    ys_json_set(object, "loss", array);
    ys_json_set_int(object, "loss_every", (int64_t)stride);
}

/* Percentile after percentile of the steady requests, 0 to 100. */
static void put_latency(ys_json *object, const struct ys_metric_view_run *run, const struct ys_series_set *series)
{
    const struct ys_series *latency = ys_series_find(series, "latency_ns");
    int64_t from = ys_metric_view_metric(run, "rate_per_s")->steady_from;
    if (!latency || from < 0 || (size_t)from >= latency->count || ys_span_group(series) > 1)
        return;
    size_t count = latency->count - (size_t)from;
    double *sorted_s = ys_alloc(count, sizeof *sorted_s);
    for (size_t i = 0; i < count; i++)
        sorted_s[i] = (double)latency->ints[(size_t)from + i] / NS_PER_S;
    ys_stat_sort(sorted_s, count);
    ys_json *percentiles = ys_json_object(), *share = ys_json_array(), *latency_s = ys_json_array();
    for (int percent = 0; percent <= 100; percent++) {
        ys_json_append(share, ys_json_real(percent / 100.0));
        ys_json_append(latency_s, ys_json_real(ys_stat_quantile(sorted_s, count, percent / 100.0)));
    }
    ys_free(sorted_s);
    ys_json_set(percentiles, "share", share);
    ys_json_set(percentiles, "latency_s", latency_s);
    ys_json_set(object, "latency", percentiles);
}

static void put_blocks(ys_json *object, const struct ys_metric_view_run *run, const struct ys_series_set *series,
                       int64_t origin_ns)
{
    const struct ys_series *start = ys_series_find(series, "block_start_ns"),
                           *end = ys_series_find(series, "block_end_ns");
    const struct ys_series *count = ys_series_find(series, "block_count");
    ys_json *blocks = ys_json_object(), *step_s = ys_json_array();
    ys_json_set_int(blocks, "rank", SHOWN_RANK);
    size_t n = start && end && count && start->count == end->count && count->count == end->count ? end->count : 0;
    size_t stride = stride_for(n);
    for (size_t i = 0; i < n; i += stride) {
        double steps = (double)(count->ints[i] > 0 ? count->ints[i] : 1);
        ys_json_append(step_s, ys_json_real((double)(end->ints[i] - start->ints[i]) / NS_PER_S / steps));
    }
    const struct ys_run_metric *rate = ys_metric_view_metric(run, "rate_per_s");
    bool counted = rate->steady_from != YS_FIELD_NONE;
    if (ys_series_find(series, "latency_ns")) /* it counts requests, and a block here is a message */
        counted = false;
    ys_json_set(blocks, "end_s", ints(n ? end : NULL, stride, origin_ns, NS_PER_S));
    ys_json_set(blocks, "step_s", step_s);
    ys_json_set_int(blocks, "every", (int64_t)stride);
    /* In places of these arrays. */
    ys_json_set(blocks, "steady_from",
                counted ? ys_json_int((rate->steady_from + (int64_t)stride - 1) / (int64_t)stride) : ys_json_null());
    ys_json_set(blocks, "steady", rate->steady == YS_NAME_NONE ? ys_json_null() : ys_json_bool(rate->steady));
    ys_json_set(object, "blocks", blocks);
}

/* Processors in use between this sample and the last that is at least SHORTEST_NS older: time and use of a sample are
 * not read at one moment, which between two samples that are close to each other would be most of what is found. */
static ys_json *cores(const struct ys_series *t, const struct ys_series *cpu, size_t stride, int64_t origin_ns)
{
    static const int64_t SHORTEST_NS = 20000000;
    ys_json *array = ys_json_array();
    int64_t last_t = origin_ns, last_cpu = 0;
    for (size_t i = 0, next = 0; t && cpu && i < t->count && i < cpu->count; i += stride) {
        for (; next < i && t->ints[next] <= t->ints[i] - SHORTEST_NS; next += stride) {
            last_t = t->ints[next];
            last_cpu = cpu->ints[next];
        }
        const int64_t span = t->ints[i] - last_t;
        ys_json_append(array, span >= SHORTEST_NS ? ys_json_real((double)(cpu->ints[i] - last_cpu) / (double)span)
                                                  : ys_json_null());
    }
    return array;
}

static void put_samples(ys_json *object, const struct ys_series_set *series, int64_t origin_ns)
{
    const struct ys_series *t = ys_series_find(series, "sample_t_ns");
    size_t stride = stride_for(t ? t->count : 0);
    ys_json *samples = ys_json_object();
    ys_json_set_int(samples, "rank", SHOWN_RANK);
    ys_json_set(samples, "t_s", ints(t, stride, origin_ns, NS_PER_S));
    ys_json_set(samples, "cpu_cores", cores(t, ys_series_find(series, "sample_cpu_ns"), stride, origin_ns));
    ys_json_set(samples, "rss_bytes", ints(ys_series_find(series, "sample_rss_bytes"), stride, 0, 1));
    ys_json_set(samples, "threads", ints(ys_series_find(series, "sample_threads"), stride, 0, 1));
    ys_json_set(samples, "processes", ints(ys_series_find(series, "sample_processes"), stride, 0, 1));
    ys_json_set_int(samples, "every", (int64_t)stride);
    ys_json_set(object, "samples", samples);
}

static ys_json *plain_metrics(const struct ys_metric_view_run *run)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    ys_json *object = ys_json_object();
    for (size_t i = 0; i < count; i++)
        if (run->metrics[i].known)
            ys_json_set(object, infos[i].name, ys_number(run->metrics[i].value, infos[i].whole));
    return object;
}

static ys_json *checkpoints(const struct ys_metric_view_run *run)
{
    const struct ys_facts_checkpoint *stored = run->facts.checkpoints.items;
    ys_json *array = ys_json_array();
    for (size_t i = 0; i < run->facts.checkpoints.count; i++) {
        const struct ys_facts_evaluation *evaluation = stored[i].evaluation;
        ys_json *object = ys_json_object();
        ys_json_set_int(object, "step", stored[i].step);
        ys_json_set_real(object, "accuracy", evaluation ? evaluation->accuracy : NAN);
        ys_json_set_real(object, "loss", evaluation ? evaluation->loss : NAN);
        ys_json_append(array, object);
    }
    return array;
}

static ys_json *int_or_null(int64_t value)
{
    return value == YS_FIELD_NONE ? ys_json_null() : ys_json_int(value);
}

static void put_ending(ys_json *object, const struct ys_facts *facts)
{
    ys_json *warnings = ys_json_array();
    char *const *said = facts->warnings.items;
    for (size_t i = 0; i < facts->warnings.count; i++)
        ys_json_append(warnings, ys_json_string(said[i]));
    ys_json_set_string(object, "status", ys_run_status_name((enum ys_run_status)facts->status));
    ys_json_set_string(object, "stage", ys_stage_name(facts->stage));
    ys_json_set(object, "exit_code", int_or_null(facts->exit_code));
    ys_json_set(object, "signal", int_or_null(facts->signal));
    ys_json_set_string(object, "message", facts->message);
    ys_json_set_string(object, "log_tail", facts->log_tail);
    ys_json_set(object, "warnings", warnings);
    ys_put_ref(object, "disturbance", facts->disturbance);
    ys_json *disturbed = ys_json_array();
    char *const *causes = facts->disturbed.items;
    for (size_t i = 0; i < facts->disturbed.count; i++)
        ys_json_append(disturbed, ys_json_string(causes[i]));
    ys_json_set(object, "disturbed", disturbed);
    ys_json_set(object, "taken", facts->taken ? ys_record_json(&ys_facts_taken_record, facts->taken) : ys_json_null());
    if (facts->turns)
        ys_json_set(object, "turns", ys_record_json(&ys_facts_turns_record, facts->turns));
}

static void keep_shown(struct ys_series_set *series)
{
    struct ys_series_set shown;
    ys_series_take_process(series, SHOWN_RANK, &shown);
    ys_series_set_free(series);
    *series = shown;
}

static ys_status detail(struct ys_store *store, const struct ys_metric_view_run *run, bool curves, ys_json *runs)
{
    struct ys_series_set series = {0};
    ys_status read = curves ? ys_store_series_get(store, run->id, &series) : YS_OK;
    if (read == YS_OK && ys_series_processes(&series) > 1)
        keep_shown(&series);
    if (read != YS_OK && read != YS_EFORMAT) /* damaged, the store has warned of it: this run goes without curves */
        return read;
    int64_t origin_ns = run->facts.times.exec_ns != YS_FIELD_NONE ? run->facts.times.exec_ns : 0;
    ys_json *object = ys_json_object();
    ys_json_set_int(object, "run_id", run->id);
    ys_json_set_int(object, "round", run->round);
    ys_json_set_int(object, "attempt", run->attempt);
    ys_json_set_bool(object, "matched", run->matched);
    put_ending(object, &run->facts);
    ys_json_set(object, "metrics", plain_metrics(run));
    put_loss(object, &series);
    put_blocks(object, run, &series, origin_ns);
    put_latency(object, run, &series);
    put_samples(object, &series, origin_ns);
    ys_json_set(object, "checkpoints", checkpoints(run));
    if (run->facts.ranks.count > 0)
        ys_json_set(object, "ranks", ys_list_json(&ys_facts_rank_record, &run->facts.ranks));
    if (run->facts.nodes.count > 0)
        ys_json_set(object, "nodes", ys_list_json(&ys_facts_node_record, &run->facts.nodes));
    if (run->facts.networks.count > 0)
        ys_json_set(object, "networks", ys_list_json(&ys_facts_network_record, &run->facts.networks));
    if (run->facts.machines.count > 0)
        ys_json_set(object, "machines", ys_list_json(&ys_facts_machine_record, &run->facts.machines));
    ys_json_append(runs, object);
    ys_series_set_free(&series);
    return YS_OK;
}

ys_status ys_detail_runs(struct ys_store *store, struct ys_metric_view_trial *trial, struct ys_detail_choice *choice,
                         ys_json **runs)
{
    ys_json *array = ys_json_array();
    ys_status status = YS_OK;
    size_t drawn = choice->all ? trial->run_count : choice->trials > 0 ? choice->runs : 0;
    for (size_t i = 0; status == YS_OK && i < trial->run_count; i++) {
        bool curves = i < drawn, failed = !trial->runs[i].ok && choice->failed > 0;
        trial->runs[i].detailed = curves || failed;
        if (trial->runs[i].detailed)
            status = detail(store, &trial->runs[i], curves, array);
        choice->failed -= !curves && failed;
    }
    choice->trials -= choice->trials > 0 && trial->run_count > 0;
    *runs = array;
    return status;
}

void ys_detail_match(const struct ys_metric_view_trial *trial, ys_json *runs)
{
    for (size_t i = 0, k = 0; i < trial->run_count; i++) {
        if (trial->runs[i].detailed)
            ys_json_set_bool(ys_json_at(runs, k++), "matched", trial->runs[i].matched);
    }
}
