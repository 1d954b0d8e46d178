#include "metric/study_view.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/due_checks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_MEMBER "metrics_version" /* beside the metrics of a run, with the version they were computed by */

ys_json *ys_metric_view_with_work(const ys_json *study, const struct ys_trial_record *trial)
{
    ys_json *copy = ys_record_json(&ys_trial_record, trial);
    const struct ys_trial_settings *keys = &trial->keys;
    struct ys_study_record told;
    struct ys_study_timing timing;
    struct ys_study_work work;
    ys_study_record_read(study, &told, &timing);
    if (ys_study_work_find(told.model_info, keys->model, keys->data, &work))
        ys_json_set(copy, "work", ys_record_json(&ys_study_work_record, &work));
    return copy;
}

const struct ys_run_metric *ys_metric_view_metric(const struct ys_metric_view_run *run, const char *name)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count), *info = ys_metric_find(name);
    YS_ASSERT(info);
    return run->metrics ? &run->metrics[info - infos] : NULL;
}

double ys_metric_view_value(const struct ys_metric_view_run *run, const char *name)
{
    const struct ys_run_metric *metric = ys_metric_view_metric(run, name);
    return metric ? metric->value : NAN;
}

static struct ys_run_metric *new_metrics(void)
{
    size_t count;
    ys_metric_infos(&count);
    struct ys_run_metric *metrics = ys_alloc(count, sizeof *metrics);
    for (size_t i = 0; i < count; i++)
        ys_record_init(&ys_run_metric_record, &metrics[i]);
    return metrics;
}

static void forget_metrics(struct ys_run_metric *metrics)
{
    size_t count;
    ys_metric_infos(&count);
    for (size_t i = 0; metrics && i < count; i++)
        ys_record_fini(&ys_run_metric_record, &metrics[i]);
}

static void free_metrics(struct ys_metric_view_run *run)
{
    forget_metrics(run->metrics);
    ys_free(run->metrics);
    run->metrics = NULL;
}

static ys_status compute(struct ys_store *store, const ys_json *study, const struct ys_trial_record *trial,
                         const struct ys_metric_view_run *run, ys_json **metrics)
{
    struct ys_series_set series = {0};
    YS_TRY(ys_store_series_get(store, run->id, &series));
    ys_json *with_work = ys_metric_view_with_work(study, trial);
    *metrics = ys_metric_of_run(with_work, &run->facts, &series);
    ys_json_free(with_work);
    ys_series_set_free(&series);
    return YS_OK;
}

/* In place of metrics that are not stored, or are of another version. */
static ys_status compute_metrics(struct ys_store *store, const ys_json *study, const struct ys_trial_record *trial,
                                 struct ys_metric_view_run *run)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    ys_json *computed = NULL;
    forget_metrics(run->metrics);
    ys_status status = compute(store, study, trial, run, &computed);
    for (size_t i = 0; status == YS_OK && i < count; i++) {
        status = ys_record_read(&ys_run_metric_record, ys_json_get(computed, infos[i].name), infos[i].name,
                                &run->metrics[i]);
        run->metrics[i].known = true;
    }
    ys_json_free(computed);
    return status;
}

struct ending {
    size_t count;
    const struct ys_metric_view_run *first;
};

/* The status of most failures, ties going to the earlier; "ok" without any. */
static void find_status(struct ys_metric_view_trial *trial)
{
    struct ending endings[YS_RUN_CANCELLED + 1] = {{0}};
    const struct ending *most = NULL;
    bool can_run = ys_trial_record_can_run(trial->record);
    trial->status = can_run ? YS_RUN_CANCELLED : (enum ys_run_status)trial->record->status;
    if (trial->counted == 0)
        return;
    trial->status = YS_RUN_OK;
    for (size_t i = 0; i < trial->run_count; i++) {
        const struct ys_metric_view_run *run = &trial->runs[i];
        struct ending *ending = &endings[run->status];
        if (!run->counted || run->ok)
            continue;
        if (ending->count++ == 0)
            ending->first = run;
        bool is_more = !most || ending->count > most->count;
        most = is_more || (ending->count == most->count && ending->first < most->first) ? ending : most;
    }
    if (!most)
        return;
    trial->status = most->first->status;
    trial->failure = most->first;
}

/* Of each round the last attempt that was not cancelled. */
static void count_runs(struct ys_metric_view_trial *trial)
{
    struct ys_metric_view_run *last = NULL;
    for (size_t i = 0; i < trial->run_count; i++) {
        struct ys_metric_view_run *run = &trial->runs[i];
        if (run->status == YS_RUN_CANCELLED)
            continue;
        if (last && last->round == run->round)
            last->counted = false;
        run->counted = true;
        last = run;
    }
    for (size_t i = 0; i < trial->run_count; i++) {
        trial->counted += trial->runs[i].counted;
        trial->disturbed += trial->runs[i].counted && trial->runs[i].disturbed;
        trial->failed += trial->runs[i].counted && !trial->runs[i].ok;
        trial->lost += trial->runs[i].counted && trial->runs[i].status == YS_RUN_NOT_CONVERGED;
    }
}

/* A trial that is being read; its last run is the one that the store tells of. */
struct loading {
    struct ys_store *store;
    const struct ys_metric_view *view;
    struct ys_metric_view_trial *trial;
    size_t capacity;
    struct ys_metric_view_run *run; /* that is told of; NULL: none, or its facts cannot be read */
    struct ys_buf facts;            /* of that run, where they were not read: one metric is all that is wanted of it */
    double version;                 /* of the algorithms that its metrics were computed by; NaN: it has none */
    bool spoiled;                   /* one of them cannot be used: all are computed again */
};

/* What did not meet its target takes longer than any that did. */
static void note_target(struct ys_metric_view_run *run)
{
    const struct ys_facts_target *target = run->facts.target;
    const bool is_met = target && target->step != YS_FIELD_NONE, is_lost = run->status == YS_RUN_NOT_CONVERGED;
    run->target_grain[0] = ys_metric_view_value(run, "target_grain_s");
    run->target_grain[1] = is_met ? (double)(target->step - target->before) : (double)NAN;
    run->target_limit[0] = ys_metric_view_value(run, "target_limit_s");
    run->target_limit[1] = is_lost ? (double)run->facts.steps_done : (double)NAN;
    for (int k = 0; k < 2 && is_lost; k++)
        run->compared[YS_TARGET_TIME + k] = INFINITY;
}

/* Takes from the metrics what comparisons need. */
static void note_values(struct ys_metric_view_run *run)
{
    const struct ys_run_metric *rate = ys_metric_view_metric(run, "rate_per_s");
    ys_window_take(rate->windows, rate->steady_from, rate->left, &run->windows);
    for (int m = 0; m < YS_COMPARED; m++)
        run->compared[m] = ys_metric_view_value(run, ys_compared[m]);
    note_target(run);
    const double trained_s = ys_metric_view_value(run, "train_s");
    run->steady_s = isfinite(trained_s) ? trained_s : ys_metric_view_value(run, "infer_s");
}

/* Those that cannot be read are warned of: YS_EFORMAT, and the run is left out. */
static ys_status parse_facts(int64_t run_id, const void *data, size_t size, struct ys_facts *facts)
{
    char label[40];
    snprintf(label, sizeof label, "run %lld", (long long)run_id);
    ys_status status = ys_facts_parse(data, size, label, facts);
    if (status == YS_EFORMAT)
        ys_log_warn("a run is left out: %s", ys_error());
    return status;
}

/* After all: its metrics have to be made of them. */
static ys_status read_facts(struct loading *loading, struct ys_metric_view_run *run)
{
    if (!loading->facts.size)
        return YS_OK;
    ys_facts_fini(&run->facts);
    return parse_facts(run->id, loading->facts.data, loading->facts.size, &run->facts);
}

static ys_status end_run(struct loading *loading)
{
    struct ys_metric_view_run *run = loading->run;
    if (!run)
        return YS_OK;
    loading->run = NULL;
    ys_status status = YS_OK;
    if (loading->version != YS_METRIC_VERSION || loading->spoiled) {
        status = read_facts(loading, run);
        if (status == YS_OK)
            status = compute_metrics(loading->store, loading->view->study, loading->trial->record, run);
    }
    if (status == YS_OK) {
        note_values(run);
        loading->trial->no_work |= run->facts.said.no_work;
        if (run->facts.said.software && !loading->trial->software)
            loading->trial->software = ys_strdup(run->facts.said.software);
        return YS_OK;
    }
    ys_facts_fini(&run->facts);
    free_metrics(run);
    loading->trial->run_count--;
    return status == YS_EFORMAT ? YS_OK : status; /* of which no numbers can be had; a warning has said so */
}

/* Of a run of which one metric is wanted how it ended is enough: facts are long, and histories have many runs. Of a
 * time or a speed they say how far it may lie, by what the machine took and what was done ahead of it. */
static bool is_enough(const struct ys_metric_view *view)
{
    return view->only && view->only->kind != YS_KIND_SPAN && view->only->kind != YS_KIND_RATE;
}

static ys_status take_facts(struct loading *loading, const struct ys_run_row *row, struct ys_facts *facts)
{
    const int status = is_enough(loading->view) ? ys_name_find(&ys_run_statuses, row->status) : YS_NAME_NONE;
    ys_buf_clear(&loading->facts);
    if (status == YS_NAME_NONE)
        return parse_facts(row->run_id, row->facts, row->facts_size, facts);
    ys_facts_init(facts);
    facts->status = status;
    ys_buf_append(&loading->facts, row->facts, row->facts_size);
    return YS_OK;
}

static ys_status begin_run(void *context, const struct ys_run_row *row)
{
    struct loading *loading = context;
    struct ys_metric_view_trial *trial = loading->trial;
    YS_TRY(end_run(loading));
    trial->runs = ys_grown(trial->runs, trial->run_count, &loading->capacity, sizeof *trial->runs);
    struct ys_metric_view_run *run = &trial->runs[trial->run_count];
    *run = (struct ys_metric_view_run){.id = row->run_id, .round = row->round, .attempt = (int)row->attempt};
    ys_status status = take_facts(loading, row, &run->facts);
    if (status == YS_EFORMAT)
        return YS_OK;
    YS_TRY(status);
    run->metrics = new_metrics();
    run->status = (enum ys_run_status)run->facts.status;
    run->ok = run->status == YS_RUN_OK;
    run->disturbed = run->facts.disturbed.count > 0;
    run->taken = run->facts.taken ? *run->facts.taken : (struct ys_facts_taken){0};
    if (run->disturbed && !run->facts.taken)
        run->taken = (struct ys_facts_taken){NAN, NAN, NAN, false};
    trial->run_count++;
    loading->run = run;
    loading->version = NAN;
    loading->spoiled = false;
    return YS_OK;
}

static ys_status add_metric(void *context, const struct ys_metric_row *row)
{
    struct loading *loading = context;
    if (!row)
        loading->spoiled = true;
    if (!loading->run || loading->spoiled)
        return YS_OK;
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count), *info = ys_metric_find(row->name);
    ys_status status = YS_OK;
    if (info) {
        struct ys_run_metric *metric = &loading->run->metrics[info - infos];
        status = ys_metric_row_read(row, metric);
        metric->known = true;
    } else if (strcmp(row->name, VERSION_MEMBER) == 0) {
        loading->version = row->value;
    }
    loading->spoiled |= status == YS_EFORMAT;
    return loading->spoiled ? YS_OK : status;
}

ys_status ys_metric_view_trial_load(struct ys_store *store, const struct ys_metric_view *view,
                                    struct ys_metric_view_trial *trial)
{
    struct loading loading = {.store = store, .view = view, .trial = trial};
    const struct ys_run_reader reader = {
        &loading, {is_enough(view) ? view->only->name : NULL, VERSION_MEMBER}, begin_run, add_metric};
    ys_status status = ys_store_runs_each(store, trial->record->trial_id, &reader);
    if (status == YS_OK)
        status = end_run(&loading);
    ys_buf_free(&loading.facts);
    YS_TRY(status);
    count_runs(trial);
    find_status(trial);
    ys_outside_find(trial);
    return YS_OK;
}

void ys_metric_view_trial_unload(struct ys_metric_view_trial *trial)
{
    for (size_t i = 0; i < trial->run_count; i++) {
        free_metrics(&trial->runs[i]);
        ys_facts_fini(&trial->runs[i].facts);
    }
    trial->failure = NULL;
}

static int by_round(const void *a, const void *b)
{
    const struct ys_metric_view_run *x = *(struct ys_metric_view_run *const *)a,
                                    *y = *(struct ys_metric_view_run *const *)b;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    return (x->attempt > y->attempt) - (x->attempt < y->attempt);
}

/* Of several attempts of one round the last that another trial shares. */
static void match_runs(struct ys_metric_view_trial *trial)
{
    struct ys_metric_view_run *last = NULL;
    for (size_t i = 0; i < trial->run_count; i++) {
        struct ys_metric_view_run *run = &trial->runs[i];
        if (run->matched && last && last->round == run->round)
            last->matched = false;
        last = run->matched ? run : last;
    }
}

void ys_metric_view_match(struct ys_metric_view *view)
{
    size_t total = 0, count = 0;
    for (size_t t = 0; t < view->trial_count; t++)
        total += view->trials[t].run_count;
    struct ys_metric_view_run **runs = ys_alloc(total, sizeof *runs);
    for (size_t t = 0; t < view->trial_count; t++) {
        for (size_t i = 0; i < view->trials[t].run_count; i++) {
            if (view->trials[t].runs[i].ok)
                runs[count++] = &view->trials[t].runs[i];
        }
    }
    qsort(runs, count, sizeof *runs, by_round);
    for (size_t i = 0; i < count; i++)
        runs[i]->matched = (i > 0 && by_round(&runs[i - 1], &runs[i]) == 0) ||
                           (i + 1 < count && by_round(&runs[i], &runs[i + 1]) == 0);
    ys_free(runs);
    for (size_t t = 0; t < view->trial_count; t++)
        match_runs(&view->trials[t]);
}

#define DEFAULT_MARGIN 0.02

static const struct ys_field job_fields[] = {
    YS_FIELD(struct ys_metric_job, repeat, YS_FIELD_INT, "1", YS_FIELD_NULL,
             "rounds that were asked for; null: until comparisons are decided"),
    YS_FIELD(struct ys_metric_job, repeat_most, YS_FIELD_INT, "1", YS_FIELD_NULL, "rounds at most, of those"),
    YS_FIELD(struct ys_metric_job, decide, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "by what they are decided"),
    YS_FIELD(struct ys_metric_job, margin, YS_FIELD_REAL, "1", YS_FIELD_NULL, "what counts as the same"),
    YS_FIELD(struct ys_metric_job, interleave, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "how trials share the machine"),
    YS_FIELD(struct ys_metric_job, on_disturbance, YS_FIELD_TEXT, NULL, YS_FIELD_NULL,
             "what becomes of runs that were disturbed"),
    YS_FIELD(struct ys_metric_job, comparisons, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "axes or all"),
};
static const struct ys_record job_record = YS_RECORD("job", struct ys_metric_job, job_fields);
static void tell_study(const ys_json *study, struct ys_metric_study *told)
{
    ys_study_record_read(study, &told->stored, &told->took);
    ys_record_glance(&job_record, told->stored.job, &told->job);
    if (isnan(told->job.margin))
        told->job.margin = DEFAULT_MARGIN;
}

static bool is_over(const struct ys_metric_study *study)
{
    return study->stored.status != YS_STUDY_RUNNING;
}

ys_status ys_metric_view_load(struct ys_store *store, int64_t study_id, struct ys_metric_view *view)
{
    struct ys_metric_view loaded = {0};
    ys_status status = ys_store_study_get(store, study_id, &loaded.study);
    if (status == YS_OK)
        status = ys_store_chain_get(store, study_id, &loaded.chain);
    if (status == YS_OK)
        status = ys_store_host_get(store, study_id, &loaded.host);
    if (status == YS_OK)
        status = ys_store_trials_load(store, study_id, &loaded.records);
    if (status == YS_OK)
        status = ys_store_rounds(store, study_id, &loaded.rounds);
    tell_study(loaded.study, &loaded.told);
    size_t count = loaded.records.count;
    const int64_t stored = loaded.told.stored.trials_planned,
                  planned = stored == YS_FIELD_NONE ? (int64_t)count : stored;
    if (status == YS_OK && planned != (int64_t)count)
        ys_log_warn("study %lld holds %zu of its %lld trials: it was stopped while they were stored; run it again",
                    (long long)study_id, count, (long long)planned);
    loaded.trials = ys_alloc(count, sizeof *loaded.trials);
    for (size_t i = 0; status == YS_OK && i < count; i++) {
        struct ys_metric_view_trial *trial = &loaded.trials[loaded.trial_count++];
        trial->record = &loaded.records.items[i];
        trial->id = trial->record->id;
        trial->verdict = ys_stored_verdict(trial->record->proof);
        status = ys_due_fault(trial->record->proof, is_over(&loaded.told), &trial->fault);
    }
    if (status == YS_OK)
        *view = loaded;
    else
        ys_metric_view_fini(&loaded);
    return status;
}

void ys_metric_view_keep(struct ys_metric_view *view, const char *trial)
{
    size_t kept = 0;
    for (size_t i = 0; i < view->trial_count; i++)
        if (strcmp(view->trials[i].id, trial) == 0)
            view->trials[kept++] = view->trials[i];
        else {
            ys_free(view->trials[i].fault);
            ys_free(view->trials[i].software);
        }
    view->trial_count = kept;
}

void ys_metric_view_fini(struct ys_metric_view *view)
{
    for (size_t i = 0; i < view->trial_count; i++) {
        ys_metric_view_trial_unload(&view->trials[i]);
        ys_free(view->trials[i].fault);
        ys_free(view->trials[i].software);
        ys_free(view->trials[i].runs);
    }
    ys_free(view->trials);
    ys_json_free(view->study);
    ys_json_free(view->chain);
    ys_json_free(view->host);
    ys_trial_records_fini(&view->records);
    ys_free(view->rounds.items);
    memset(view, 0, sizeof *view);
}

ys_status ys_metric_put(struct ys_store *store, int64_t run_id, ys_json *metrics)
{
    ys_json *version = ys_json_object();
    ys_json_set_int(version, "value", YS_METRIC_VERSION);
    ys_json_set(metrics, VERSION_MEMBER, version);
    return ys_store_metric_put(store, run_id, metrics);
}
