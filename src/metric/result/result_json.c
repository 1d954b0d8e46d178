/* From a result to its document. */
#include "metric/json_builder.h"
#include "metric/metric.h"
#include "metric/result/processor_profile.h"
#include "metric/study_view.h"

#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What all metric objects of one name have, to be shared by thousands of them: {name: {unit, method, ...}}. */
static ys_json *share_texts(void)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    ys_json *all = ys_json_object();
    for (size_t i = 0; i < count; i++) {
        ys_json *object = ys_json_object();
        ys_json_set_string(object, "unit", infos[i].unit);
        ys_json_set_string(object, "method", infos[i].method);
        ys_json_set_string(object, "scope", infos[i].scope);
        ys_json_set_string(object, "source", infos[i].source);
        ys_json_set_string(object, "better", ys_name_of(&ys_betters, (int)infos[i].better));
        ys_json_set_string(object, "kind", ys_name_of(&ys_kinds, (int)infos[i].kind));
        ys_json_set(all, infos[i].name, object);
    }
    return all;
}

static void put_values(ys_json *object, const char *key, const double *values, size_t count, bool are_whole)
{
    ys_json *array = ys_json_array();
    for (size_t i = 0; i < count; i++)
        ys_json_append(array, ys_number(values[i], are_whole));
    ys_json_set(object, key, array);
}

/* Of runs that did not meet their target: null stands for them, and for what falls on them. */
static void put_lost(ys_json *object, const struct ys_metric_info *info, const struct ys_trial_metric *metric)
{
    char text[120];
    if (!metric->lost)
        return;
    ys_json_set_int(object, "met", (int64_t)(metric->n - metric->lost));
    ys_json_set(object, "limit", ys_number(metric->limit, info->whole));
    snprintf(text, sizeof text, "more than %.4g: %zu of %zu runs met the target", metric->limit,
             metric->n - metric->lost, metric->n);
    if (isinf(metric->summary.median))
        ys_json_set_string(object, "reason", text);
}

static ys_json *known(const struct ys_metric_info *info, const ys_json *texts, const struct ys_trial_metric *metric)
{
    static const char *const shared[] = {"unit", "method", "scope", "source", "better", "kind"};
    const struct ys_summary *summary = &metric->summary;
    ys_json *object = ys_json_object();
    ys_json_set(object, "value", ys_number(summary->median, info->whole));
    put_lost(object, info, metric);
    ys_put_ref(object, shared[0], ys_json_get(texts, shared[0]));
    ys_json_set_int(object, "n", (int64_t)metric->n);
    ys_put_interval(object, &summary->interval, info->whole);
    if (isfinite(summary->min))
        ys_json_set(object, "min", ys_number(summary->min, info->whole));
    if (isfinite(summary->max))
        ys_json_set(object, "max", ys_number(summary->max, info->whole));
    for (size_t i = 1; i < sizeof shared / sizeof shared[0]; i++)
        ys_put_ref(object, shared[i], ys_json_get(texts, shared[i]));
    if (metric->judged) {
        ys_json_set_bool(object, "steady", metric->steady == metric->judged);
        ys_json_set_int(object, "steady_runs", (int64_t)metric->steady);
    }
    put_values(object, "values", metric->by_round, metric->rounds, info->whole);
    if (metric->whole)
        put_values(object, "whole_values", metric->whole, metric->rounds, false);
    return object;
}

static ys_json *unknown(const struct ys_trial_metric *metric)
{
    ys_json *object = ys_json_object();
    ys_json_set(object, "value", ys_json_null());
    ys_json_set_string(object, "reason", metric->reason);
    return object;
}

static ys_json *metrics_of(const struct ys_result_trial *trial, const ys_json *texts)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    ys_json *object = ys_json_object();
    for (size_t i = 0; i < count; i++) {
        const struct ys_trial_metric *metric = &trial->values[i];
        ys_json_set(object, infos[i].name,
                    metric->n ? known(&infos[i], ys_json_get(texts, infos[i].name), metric) : unknown(metric));
    }
    return object;
}

static ys_json *trials_of(const struct ys_result *result)
{
    ys_json *array = ys_json_array(), *texts = share_texts();
    for (size_t i = 0; i < result->trial_count; i++) {
        struct ys_result_trial told = result->trials[i]; /* borrows */
        told.metrics = metrics_of(&told, texts);
        ys_json_append(array, ys_record_json(&ys_result_trial_record, &told));
        ys_json_free(told.metrics);
    }
    ys_json_free(texts);
    return array;
}

/* Both ends, kept in `ends`. */
static struct ys_list list_ends(const struct ys_interval *interval, double ends[2])
{
    ends[0] = interval->lo;
    ends[1] = interval->hi;
    return (struct ys_list){ends, interval->known ? 2 : 0};
}

static ys_json *comparisons_of(const struct ys_result *result)
{
    ys_json *array = ys_json_array();
    for (size_t i = 0; i < result->comparison_count; i++) {
        const struct ys_result_comparison *comparison = &result->comparisons[i];
        struct ys_comparison_record told = comparison->told; /* borrows */
        double ends[2], single_ends[2], settled_ends[2], efficiency_ends[2], exposed_ends[2];
        told.ci = list_ends(&comparison->interval, ends);
        told.single.ci = list_ends(&comparison->single, single_ends);
        told.settled_ci = list_ends(&comparison->settled, settled_ends);
        told.efficiency_ci = list_ends(&comparison->efficiency, efficiency_ends);
        told.exposed_s_ci = list_ends(&comparison->exposed, exposed_ends);
        ys_json_append(array, ys_record_json(&ys_comparison_record, &told));
    }
    return array;
}

static ys_json *harness_metric(double value, const char *unit, int64_t n, const char *method, const char *source)
{
    ys_json *object = ys_json_object();
    if (isnan(value)) {
        ys_json_set(object, "value", ys_json_null());
        ys_json_set_string(object, "reason", "no run recorded it");
        return object;
    }
    ys_json_set_real(object, "value", value);
    ys_json_set_string(object, "unit", unit);
    ys_json_set_int(object, "n", n);
    ys_json_set(object, "ci", ys_json_null());
    ys_json_set(object, "level", ys_json_null());
    ys_json_set_string(object, "method", method);
    ys_json_set_string(object, "scope", "all runs of the study");
    ys_json_set_string(object, "source", source);
    ys_json_set_string(object, "better", "lower");
    return object;
}

static ys_json *harness_of(const struct ys_result *result)
{
    const struct ys_result_harness *harness = &result->harness;
    ys_json *object = ys_json_object();
    ys_json_set_string(object, "version", result->study.version);
    ys_json_set_int(object, "metrics_version", YS_METRIC_VERSION);
    ys_json_set(object, "cpu_share",
                harness_metric(harness->cpu_share, "1", harness->runs, "counter",
                               "yardstick's processor time over the time runs lived"));
    ys_json_set(object, "lateness_max_s",
                harness_metric(harness->lateness_max_s, "s", harness->runs, "exact",
                               "the latest of all samples against its due time"));
    ys_json_set_real(object, "overhead_s", harness->overhead_s);
    return object;
}

ys_json *ys_result_json(const struct ys_result *result)
{
    ys_json *object = ys_json_object();
    ys_json_set_string(object, "schema", "yardstick/result/1");
    ys_json_set(object, "study", ys_record_json(&ys_result_study_record, &result->study));
    ys_json_set(object, "work", result->work ? ys_json_copy(result->work) : ys_json_array());
    ys_put_ref(object, "host", result->host);
    ys_json_set(object, "harness", harness_of(result));
    ys_json_set(object, "metrics", ys_metric_texts());
    ys_json_set(object, "trials", trials_of(result));
    ys_json_set(object, "groups", ys_list_json(&ys_result_group_record, &result->groups));
    ys_json_set(object, "comparisons", comparisons_of(result));
    ys_json_set(object, "transfers", ys_list_json(&ys_result_transfer_record, &result->transfers));
    ys_json_set(object, "environment_differences", ys_list_json(&ys_difference_record, &result->differences));
    return object;
}

static void free_trial(struct ys_result_trial *trial)
{
    ys_json *const made[] = {trial->deviations, trial->scales, trial->warnings,
                             trial->doubts,     trial->proof,  trial->runs_detail};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
        ys_json_free(made[i]);
    ys_record_free(&ys_agreement_block_record, trial->agreement);
    ys_record_free(&ys_robustness_block_record, trial->robustness);
    ys_record_free(&ys_facts_stored_record, trial->stored);
    ys_record_free(&ys_result_observed_record, trial->observed);
    ys_list_fini(&ys_result_rank_record, &trial->ranks);
    ys_free(trial->quiet);
    ys_record_free(&ys_facts_perf_record, trial->perf);
    ys_list_fini(&ys_result_warned_record, &trial->warned);
    ys_list_fini(&ys_said_record, &trial->said);
    ys_free(trial->reason);
    ys_trial_metrics_free(trial->values);
}

void ys_result_fini(struct ys_result *result)
{
    for (size_t i = 0; i < result->trial_count; i++)
        free_trial(&result->trials[i]);
    for (size_t i = 0; i < result->comparison_count; i++) {
        ys_free(result->comparisons[i].told.reason);
        ys_free(result->comparisons[i].told.varies);
    }
    ys_list_fini(&ys_result_group_record, &result->groups);
    ys_list_fini(&ys_difference_record, &result->differences);
    ys_list_fini(&ys_result_transfer_record, &result->transfers);
    ys_free(result->trials);
    ys_free(result->comparisons);
    ys_free(result->study.started);
    ys_free(result->study.ended);
    ys_free(result->study.job_hash);
    ys_record_free(&ys_result_decide_record, result->study.decide);
    ys_free(result->study.chain);
    if (result->source)
        ys_metric_view_fini(result->source);
    ys_free(result->source);
    *result = (struct ys_result){0};
}
