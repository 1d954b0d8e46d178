#include "metric/trial.h"

#include "base/log.h"
#include "base/mem.h"
#include "metric/build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_MEMBER "metrics_version" /* beside the metrics of a run, with the version they were computed by */

ys_status ys_metric_view_with_work(const ys_json *study, const struct ys_trial_record *trial, ys_json **with_work)
{
    ys_json *copy = ys_trial_record_json(trial);
    ys_status status = copy ? YS_OK : ys_out_of_memory();
    const struct ys_trial_settings *keys = &trial->keys;
    const ys_json *works = ys_json_get(study, "model_info");
    for (size_t i = 0; status == YS_OK && keys->model && keys->data && i < ys_json_size(works); i++) {
        const ys_json *work = ys_json_at(works, i);
        if (strcmp(ys_json_get_text(work, "model", ""), keys->model) == 0 &&
            strcmp(ys_json_get_text(work, "data", ""), keys->data) == 0)
            ys_put_ref(&status, copy, "work", work);
    }
    return ys_built(status, copy, with_work);
}

static double member_of(const struct ys_metric_view_run *run, const char *metric, const char *member)
{
    return ys_json_get_number(ys_json_get(run->metrics, metric), member, NAN);
}

double ys_metric_view_value(const struct ys_metric_view_run *run, const char *name)
{
    return member_of(run, name, "value");
}

static bool is_current(const ys_json *metrics)
{
    return ys_json_size(metrics) > 0 && ys_json_get_int(ys_json_get(metrics, VERSION_MEMBER), "value",
                                                        YS_METRIC_VERSION_UNSAID) == YS_METRIC_VERSION;
}

/* Metrics that were stored, unless they are of another version, or else computed now. */
static ys_status fill_metrics(struct ys_store *store, const ys_json *study, const struct ys_trial_record *trial,
                              const struct ys_facts *facts, ys_json *run)
{
    if (is_current(ys_json_get(run, "metrics"))) {
        ys_json_remove(ys_json_get(run, "metrics"), VERSION_MEMBER);
        return YS_OK;
    }
    struct ys_series_set series = {0};
    ys_json *with_work = NULL, *metrics = NULL;
    YS_TRY(ys_store_series_get(store, ys_json_get_int(run, "run_id", 0), &series));
    ys_status status = ys_metric_view_with_work(study, trial, &with_work);
    if (status == YS_OK)
        status = ys_metric_of_run(with_work, facts, &series, &metrics);
    if (status == YS_OK)
        status = ys_json_set(run, "metrics", metrics);
    ys_json_free(with_work);
    ys_series_set_free(&series);
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
    }
}

/* Takes the facts out of `json`. Those that cannot be read are warned of. */
static ys_status take_facts(ys_json *json, struct ys_facts *facts)
{
    char label[40];
    snprintf(label, sizeof label, "run %lld", (long long)ys_json_get_int(json, "run_id", 0));
    ys_status status = ys_facts_read(ys_json_get(json, "facts"), label, facts);
    if (status == YS_EFORMAT)
        ys_log_warn("a run is left out: %s", ys_error());
    ys_json_remove(json, "facts");
    return status;
}

static void read_run(ys_json *json, struct ys_metric_view_run *run)
{
    run->json = json;
    run->metrics = ys_json_get(json, "metrics");
    run->id = ys_json_get_int(json, "run_id", 0);
    run->round = ys_json_get_int(json, "round", 0);
    run->attempt = (int)ys_json_get_int(json, "attempt", 0);
    run->status = (enum ys_run_status)run->facts.status;
    run->ok = run->status == YS_RUN_OK;
    run->disturbed = run->facts.disturbed.count > 0;
    run->left = member_of(run, "rate_per_s", "left");
    for (int m = 0; m < YS_COMPARED; m++)
        run->compared[m] = ys_metric_view_value(run, ys_compared[m]);
}

ys_status ys_metric_view_trial_load(struct ys_store *store, const struct ys_view *view,
                                    struct ys_metric_view_trial *trial)
{
    YS_TRY(ys_store_runs_get(store, trial->record->trial_id, &trial->runs_json));
    size_t count = ys_json_size(trial->runs_json);
    trial->runs = ys_alloc(count, sizeof *trial->runs);
    if (!trial->runs)
        return ys_out_of_memory();
    for (size_t i = 0; i < count; i++) {
        ys_json *json = ys_json_at(trial->runs_json, i);
        struct ys_metric_view_run *run = &trial->runs[trial->run_count];
        ys_status filled = take_facts(json, &run->facts);
        if (filled == YS_OK)
            filled = fill_metrics(store, view->study, trial->record, &run->facts, json);
        if (filled != YS_OK)
            ys_facts_fini(&run->facts);
        if (filled == YS_EFORMAT) /* of which no numbers can be had; a warning has said so */
            continue;
        YS_TRY(filled);
        trial->run_count++;
        read_run(json, run);
        trial->no_work = trial->no_work || run->facts.said.no_work;
    }
    count_runs(trial);
    find_status(trial);
    return YS_OK;
}

void ys_metric_view_trial_unload(struct ys_metric_view_trial *trial)
{
    for (size_t i = 0; i < trial->run_count; i++) {
        trial->runs[i].json = trial->runs[i].metrics = NULL;
        ys_facts_fini(&trial->runs[i].facts);
    }
    trial->failure = NULL;
    ys_json_free(trial->runs_json);
    trial->runs_json = NULL;
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

ys_status ys_metric_view_match(struct ys_view *view)
{
    size_t total = 0, count = 0;
    for (size_t t = 0; t < view->trial_count; t++)
        total += view->trials[t].run_count;
    struct ys_metric_view_run **runs = ys_alloc(total, sizeof *runs);
    if (!runs)
        return ys_out_of_memory();
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
    return YS_OK;
}

static ys_status share_texts(ys_json **texts)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    ys_json *all = ys_json_object();
    ys_status status = YS_OK;
    for (size_t i = 0; i < count; i++) {
        ys_json *object = ys_json_object();
        ys_put_text(&status, object, "name", infos[i].name);
        ys_put_text(&status, object, "unit", infos[i].unit);
        ys_put_text(&status, object, "method", infos[i].method);
        ys_put_text(&status, object, "scope", infos[i].scope);
        ys_put_text(&status, object, "source", infos[i].source);
        ys_put_text(&status, object, "better", ys_better_name(infos[i].better));
        ys_put_text(&status, object, "kind", infos[i].kind);
        ys_put(&status, all, infos[i].name, object);
    }
    return ys_built(status, all, texts);
}

ys_status ys_metric_view_load(struct ys_store *store, int64_t study_id, struct ys_view *view)
{
    struct ys_view loaded = {0};
    ys_status status = ys_store_study_get(store, study_id, &loaded.study);
    if (status == YS_OK)
        status = ys_store_host_get(store, study_id, &loaded.host);
    if (status == YS_OK)
        status = ys_store_trials_load(store, study_id, &loaded.records);
    if (status == YS_OK)
        status = ys_store_rounds(store, study_id, &loaded.rounds);
    if (status == YS_OK)
        status = share_texts(&loaded.texts);
    size_t count = loaded.records.count;
    int64_t planned = ys_json_get_int(loaded.study, "trials_planned", (int64_t)count);
    if (status == YS_OK && planned != (int64_t)count)
        ys_log_warn("study %lld holds %zu of its %lld trials: it was stopped while they were stored; run it again",
                    (long long)study_id, count, (long long)planned);
    if (status == YS_OK && !(loaded.trials = ys_alloc(count, sizeof *loaded.trials)))
        status = ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < count; i++) {
        struct ys_metric_view_trial *trial = &loaded.trials[loaded.trial_count++];
        trial->record = &loaded.records.items[i];
        trial->id = trial->record->id;
        trial->verdict = ys_trial_record_verdict(trial->record);
    }
    if (status == YS_OK)
        *view = loaded;
    else
        ys_metric_view_fini(&loaded);
    return status;
}

void ys_metric_view_fini(struct ys_view *view)
{
    for (size_t i = 0; i < view->trial_count; i++) {
        for (size_t r = 0; r < view->trials[i].run_count; r++)
            ys_facts_fini(&view->trials[i].runs[r].facts);
        ys_json_free(view->trials[i].runs_json);
        ys_json_free(view->trials[i].metrics);
        ys_free(view->trials[i].runs);
    }
    ys_free(view->trials);
    ys_json_free(view->study);
    ys_json_free(view->host);
    ys_trial_records_fini(&view->records);
    ys_json_free(view->rounds);
    ys_json_free(view->texts);
    memset(view, 0, sizeof *view);
}

ys_status ys_metric_put(struct ys_store *store, int64_t run_id, ys_json *metrics)
{
    ys_json *version = ys_json_object();
    ys_status status = YS_OK;
    ys_put_int(&status, version, "value", YS_METRIC_VERSION);
    ys_put(&status, metrics, VERSION_MEMBER, version);
    return status == YS_OK ? ys_store_metric_put(store, run_id, metrics) : status;
}

static ys_status recompute_run(struct ys_store *store, const ys_json *trial, ys_json *run)
{
    int64_t run_id = ys_json_get_int(run, "run_id", 0);
    struct ys_series_set series = {0};
    ys_json *metrics = NULL;
    struct ys_facts facts;
    YS_TRY(take_facts(run, &facts));
    ys_status status = ys_store_series_get(store, run_id, &series);
    if (status == YS_OK)
        status = ys_metric_of_run(trial, &facts, &series, &metrics);
    if (status == YS_OK)
        status = ys_metric_put(store, run_id, metrics);
    ys_json_free(metrics);
    ys_series_set_free(&series);
    ys_facts_fini(&facts);
    return status;
}

static ys_status recompute_trial(struct ys_store *store, const ys_json *study, const struct ys_trial_record *trial)
{
    ys_json *runs = NULL, *with_work = NULL;
    YS_TRY(ys_store_runs_get(store, trial->trial_id, &runs));
    ys_status status = ys_metric_view_with_work(study, trial, &with_work);
    for (size_t i = 0; status == YS_OK && i < ys_json_size(runs); i++)
        status = recompute_run(store, with_work, ys_json_at(runs, i));
    ys_json_free(with_work);
    ys_json_free(runs);
    return status;
}

ys_status ys_metric_recompute(struct ys_store *store, int64_t study_id)
{
    ys_json *study = NULL;
    struct ys_trial_records trials = {0};
    YS_TRY(ys_store_study_get(store, study_id, &study));
    ys_status status = ys_store_trials_load(store, study_id, &trials);
    for (size_t i = 0; status == YS_OK && i < trials.count; i++)
        status = recompute_trial(store, study, &trials.items[i]);
    ys_trial_records_fini(&trials);
    ys_json_free(study);
    return status;
}
