/* The result document: docs/results.md, field by field. */
#include "metric/metric.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/process/steering.h"
#include "crew/ranks.h"
#include "metric/compare/compare_trials.h"
#include "metric/compare/decision_looks.h"
#include "metric/json_builder.h"
#include "metric/result/attack_results.h"
#include "metric/result/prediction_agreement.h"
#include "metric/result/processor_profile.h"
#include "metric/result/rank_results.h"
#include "metric/result/run_warnings.h"
#include "metric/result/runs_detail.h"
#include "metric/result/trial_environment.h"
#include "metric/result_document.h"
#include "metric/study_view.h"
#include "metric/undisturbed.h"
#include "probe/host.h"
#include "probe/thread_count.h"
#include "store/due_checks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of a date that may be unknown; owned. */
static char *date_of(int64_t date_s)
{
    char text[32];
    if (date_s == YS_FIELD_NONE)
        return NULL;
    ys_date_text(date_s, text, sizeof text);
    return ys_strdup(text);
}

static char *job_hash_of(const struct ys_study_record *study)
{
    char hash[YS_SHA256_TEXT];
    const char *text = study->job_text ? study->job_text : "";
    ys_sha256_text(text, strlen(text), hash);
    return ys_strdup(study->job_hash ? study->job_hash : hash);
}

static struct ys_result_decide *decide_of(const struct ys_metric_view *view)
{
    struct ys_look looks[YS_LOOKS_MOST];
    const size_t count = ys_moments_looks(view, looks);
    if (!count)
        return NULL;
    struct ys_result_decide *decide = ys_alloc(1, sizeof *decide);
    decide->metric = ys_strdup(view->told.job.decide ? view->told.job.decide : "auto");
    for (size_t i = 0; i < count; i++) {
        struct ys_result_look *look = ys_list_add(&ys_result_look_record, &decide->looks);
        *look = (struct ys_result_look){(int64_t)looks[i].rounds, looks[i].level};
    }
    return decide;
}

static struct ys_result_chain *chain_of(const struct ys_metric_view *view)
{
    if (ys_json_type_of(view->chain) != YS_JSON_OBJECT)
        return NULL;
    struct ys_result_chain *chain = ys_alloc(1, sizeof *chain);
    ys_record_glance(&ys_result_chain_record, view->chain, chain);
    return chain;
}

static struct ys_result_study tell_study(const struct ys_metric_view *view, bool all_pairs)
{
    const struct ys_study_record *stored = &view->told.stored;
    const struct ys_metric_job *job = &view->told.job;
    const bool by_blocks = job->interleave && strcmp(job->interleave, "blocks") == 0;
    int64_t complete = 0;
    for (size_t i = 0; i < view->rounds.count; i++)
        complete += view->rounds.items[i].complete;
    return (struct ys_result_study){.id = stored->id,
                                    .name = stored->name,
                                    .folder = stored->folder,
                                    .started = date_of(stored->started_s),
                                    .ended = date_of(stored->ended_s),
                                    .status = stored->status,
                                    .exit_code = stored->exit_code,
                                    .seed = stored->seed,
                                    .repeat = ys_moments_rounds(view),
                                    .decide = decide_of(view),
                                    .rounds = complete,
                                    .margin = job->margin,
                                    .comparisons = all_pairs ? "all" : "axes",
                                    .interleave = by_blocks ? "blocks" : "runs",
                                    .on_disturbance = job->on_disturbance,
                                    .command = stored->command,
                                    .job_hash = job_hash_of(stored),
                                    .job_text = stored->job_text,
                                    .version = stored->version,
                                    .timing = stored->timing,
                                    .imported = stored->imported,
                                    .chain = chain_of(view)};
}

struct harness_sums {
    double cpu_s, lived_s, wall_s, lateness_s;
    int64_t runs;
};

static void sum_harness(const struct ys_metric_view_trial *trial, struct harness_sums *sums)
{
    for (size_t r = 0; r < trial->run_count; r++) {
        const struct ys_metric_view_run *run = &trial->runs[r];
        const struct ys_facts_harness *harness = &run->facts.harness;
        const struct ys_facts_times *times = &run->facts.times;
        double wall_s = ys_metric_view_value(run, "wall_s");
        sums->wall_s += isnan(wall_s) ? 0 : wall_s;
        if (harness->lateness_max_ns != YS_FIELD_NONE)
            sums->lateness_s = fmax(sums->lateness_s, (double)harness->lateness_max_ns / 1e9);
        if (harness->cpu_ns == YS_FIELD_NONE || times->exec_ns == YS_FIELD_NONE || times->end_ns == YS_FIELD_NONE)
            continue;
        sums->cpu_s += (double)harness->cpu_ns / 1e9;
        sums->lived_s += ((double)times->end_ns - (double)times->exec_ns) / 1e9;
        sums->runs++;
    }
}

/* Seconds between the first run and the last in which no run was under way: what measuring itself took, preparing and
 * proving aside. NAN while the study runs, and when a session of it was killed before it could say: then its runs are
 * there, and may be longer than what the other sessions told. */
static double overhead_s(const struct ys_metric_study *study, double runs_s)
{
    const double spent_s = study->took.measure_s - runs_s;
    return spent_s < 0 ? NAN : spent_s;
}

static struct ys_result_harness tell_harness(const struct ys_metric_study *study, const struct harness_sums *sums)
{
    return (struct ys_result_harness){.cpu_share = sums->lived_s > 0 ? sums->cpu_s / sums->lived_s : NAN,
                                      .lateness_max_s = sums->lateness_s,
                                      .overhead_s = overhead_s(study, sums->wall_s),
                                      .runs = sums->runs};
}

/* Of the surroundings, what reaches an adapter and steers it, unless the job says it itself. */
static void add_surroundings(ys_json *array, const ys_json *host, const ys_json *env)
{
    struct ys_host_known known;
    char text[300];
    ys_host_read(host, &known);
    const ys_json *set = known.environment;
    for (void *it = ys_json_iter(set); it; it = ys_json_next(set, it)) {
        const char *name = ys_json_iter_key(it), *value = ys_json_text(ys_json_iter_value(it), NULL);
        if (!value || ys_json_get(env, name) || !ys_steering_passes(name, YS_PROGRAM_MEASURED))
            continue;
        snprintf(text, sizeof text, "%s=%s is set in the environment", name, value);
        ys_add_text_once(array, text);
    }
}

/* In most of the runs of which it is known. */
static int threads_shared(const struct ys_metric_view_trial *trial)
{
    const struct ys_trial_settings *keys = &trial->record->keys;
    const int64_t sharers = ys_settings_sharers(keys);
    size_t known = 0, alone = 0;
    if (trial->no_work || keys->threads < 2 * sharers)
        return YS_NAME_NONE;
    for (size_t r = 0; r < trial->run_count; r++) {
        const struct ys_facts_observed *seen = &trial->runs[r].facts.observed;
        if (!trial->runs[r].counted || !trial->runs[r].ok || !(seen->threads_busy > 0))
            continue;
        known++;
        alone += ys_threads_alone(seen->threads_busy, seen->threads_cpus, ys_settings_ranks(keys));
    }
    return known ? 2 * alone <= known : YS_NAME_NONE;
}

static ys_json *deviations(const struct ys_metric_view *view, const struct ys_metric_view_trial *trial)
{
    ys_json *array = ys_json_array();
    const ys_json *options = trial->record->options;
    const struct ys_trial_settings *keys = &trial->record->keys;
    char text[300];
    if (keys->compare == YS_COMPARE_OWN) {
        snprintf(text, sizeof text, "not the common work but the defaults of %s for %s",
                 keys->own_of ? keys->own_of : "?", keys->own_data ? keys->own_data : "?");
        ys_add_text_once(array, text);
    }
    for (size_t r = 0; r < trial->run_count; r++) {
        const ys_json *said = trial->runs[r].facts.said.deviations;
        for (size_t i = 0; i < ys_json_size(said); i++)
            ys_add_text_once(array, ys_json_text(ys_json_at(said, i), "?"));
    }
    for (void *it = ys_json_iter(options); it; it = ys_json_next(options, it)) {
        char *value = ys_json_dump(ys_json_iter_value(it), YS_JSON_COMPACT);
        snprintf(text, sizeof text, "option %s = %s", ys_json_iter_key(it), value);
        ys_free(value);
        ys_add_text_once(array, text);
    }
    add_surroundings(array, view->host, trial->record->env);
    ys_warn_of_wire(array, trial, YS_WIRE_LESS);
    if (keys->precision != YS_PRECISION_F32) {
        snprintf(text, sizeof text, "precision %s", ys_name_of(&ys_precisions, keys->precision));
        ys_add_text_once(array, text);
    }
    return array;
}

/* As the first ok run read them back; NULL. */
static ys_json *own_scales(const struct ys_metric_view_trial *trial)
{
    for (size_t r = 0; r < trial->run_count; r++)
        if (trial->runs[r].ok && ys_json_size(trial->runs[r].facts.said.scales) > 0)
            return ys_json_copy(trial->runs[r].facts.said.scales);
    return NULL;
}

/* Of a trial without numbers there is nothing to doubt. */
static ys_status doubt(const struct ys_metric_view_trial *trial, ys_json **doubts)
{
    *doubts = ys_json_array();
    if (trial->failed < trial->counted)
        YS_TRY(ys_due_say(trial->record->proof, *doubts));
    ys_outside_say(trial, *doubts);
    return YS_OK;
}

static ys_json *proof_block(const struct ys_metric_view_trial *trial)
{
    const ys_json *proof = trial->record->proof;
    ys_json *object = ys_json_object();
    if (ys_json_type_of(proof) == YS_JSON_OBJECT) {
        ys_put_ref(object, "verdict", NULL);
        for (void *it = ys_json_iter(proof); it; it = ys_json_next(proof, it))
            ys_put_ref(object, ys_json_iter_key(it), ys_json_iter_value(it));
        return object;
    }
    ys_json_set_string(object, "verdict", "none");
    ys_json_set_string(object, "reason", trial->no_work ? "this framework does no work" : "no proof was made");
    ys_json_set(object, "checks", ys_json_array());
    return object;
}

/* Copies the reason: the facts of a run go before the result does. */
static void tell_ending(const struct ys_metric_view_trial *trial, struct ys_result_trial *told)
{
    const struct ys_facts *failure = trial->failure ? &trial->failure->facts : NULL;
    const char *reason = failure ? failure->message : trial->record->reason;
    if (!reason && trial->counted == 0)
        reason = "no run of it was finished";
    told->status = (int)trial->status;
    told->stage = failure ? failure->stage : YS_NAME_NONE;
    told->reason = ys_strdup(reason);
    told->command = trial->record->command;
    told->runs = (int64_t)trial->counted;
    told->failed = (int64_t)trial->failed;
}

/* A result under way: trials are read, told and let go one after the other. */
struct building {
    struct ys_store *store;
    struct ys_metric_view *view; /* of the result */
    struct ys_detail_choice choice;
    bool with_runs;
    struct ys_result *result;
    struct harness_sums sums;
    struct ys_environments environment;
    struct ys_transfers transfers;
};

/* What comes from the record, which is borrowed from. */
static struct ys_result_trial tell_plainly(const struct building *building, const struct ys_metric_view_trial *trial)
{
    const struct ys_trial_record *record = trial->record;
    return (struct ys_result_trial){.id = record->id,
                                    .index = record->index,
                                    .trial_id = record->trial_id,
                                    .section = record->section,
                                    .factors = record->factors,
                                    .framework = record->framework,
                                    .software = trial->software,
                                    .disturbed = (int64_t)trial->disturbed,
                                    .runs_planned = ys_warnings_planned(building->view, trial),
                                    .runs_lacking = ys_warnings_lacking(building->view, trial),
                                    .keys = record->keys,
                                    .options = record->options,
                                    .env = record->env};
}

/* Of the first run that is ok, as all of a trial's are by one program. */
static const struct ys_facts *facts_of_one(const struct ys_metric_view_trial *trial)
{
    for (size_t r = 0; r < trial->run_count; r++)
        if (trial->runs[r].counted && trial->runs[r].ok)
            return &trial->runs[r].facts;
    return NULL;
}

static void tell_said(const struct ys_metric_view_trial *trial, struct ys_list *said)
{
    const struct ys_trial_framework *framework = trial->record->framework;
    const struct ys_facts *facts = facts_of_one(trial);
    const struct ys_trial_settings *keys = &trial->record->keys;
    if (!facts)
        return;
    ys_said_list(facts, framework ? framework->version : NULL,
                 keys->threads == YS_FIELD_NONE ? YS_FIELD_NONE
                                                : ys_rank_threads(keys->threads, ys_settings_sharers(keys)),
                 said);
}

static ys_status tell_observed(const struct ys_metric_view_trial *trial, struct ys_result_observed **told)
{
    const struct ys_facts *facts = facts_of_one(trial);
    if (!facts || !facts->observation)
        return YS_OK;
    const struct ys_result_observed seen = {.grouped = facts->observation->grouped,
                                            .group = facts->observation->group,
                                            .guarded = facts->observation->guarded,
                                            .guard = facts->observation->guard,
                                            .libraries = facts->observed.libraries,
                                            .notes = facts->observed.notes};
    *told = ys_alloc(1, sizeof **told);
    return ys_record_copy(&ys_result_observed_record, &seen, *told);
}

/* Of the last run that counts; sizes are the same in all of them. */
static ys_status tell_stored(const struct ys_metric_view_trial *trial, struct ys_facts_stored **stored)
{
    const struct ys_facts_stored *found = NULL;
    for (size_t r = 0; r < trial->run_count; r++)
        if (trial->runs[r].counted && trial->runs[r].ok && trial->runs[r].facts.stored)
            found = trial->runs[r].facts.stored;
    if (!found)
        return YS_OK;
    *stored = ys_alloc(1, sizeof **stored);
    return ys_record_copy(&ys_facts_stored_record, found, *stored);
}

/* What was made stays with the result, also where more could not be. */
static ys_status tell_trial(struct building *building, struct ys_metric_view_trial *trial)
{
    struct ys_result *result = building->result;
    struct ys_result_trial *told = &result->trials[result->trial_count];
    *told = tell_plainly(building, trial);
    result->trial_count++;
    tell_ending(trial, told);
    trial->metrics = told->values = ys_trial_metrics(trial);
    told->threads_shared = threads_shared(trial);
    told->deviations = deviations(building->view, trial);
    told->scales = own_scales(trial);
    told->warnings = ys_warnings_find(building->view, trial, &told->warned);
    told->proof = proof_block(trial);
    told->agreement = ys_agreement_block(trial);
    told->robustness = ys_robustness_block(trial);
    YS_TRY(tell_stored(trial, &told->stored));
    ys_transfers_add(trial, &building->transfers);
    told->ranks = ys_ranks_list(trial);
    YS_TRY(tell_observed(trial, &told->observed));
    tell_said(trial, &told->said);
    told->perf = ys_perf_mean(trial);
    told->quiet = ys_quiet_find(trial);
    YS_TRY(doubt(trial, &told->doubts));
    return building->with_runs ? ys_detail_runs(building->store, trial, &building->choice, &told->runs_detail) : YS_OK;
}

static ys_status add_trial(struct building *building, struct ys_metric_view_trial *trial)
{
    ys_status status = ys_metric_view_trial_load(building->store, building->view, trial);
    if (status == YS_OK)
        status = tell_trial(building, trial);
    if (status == YS_OK) {
        ys_environments_add(&building->environment, trial);
        sum_harness(trial, &building->sums);
    }
    ys_metric_view_trial_unload(trial);
    return status;
}

static ys_status add_trials(struct building *building)
{
    struct ys_metric_view *view = building->view;
    for (size_t i = 0; i < view->trial_count; i++)
        YS_TRY(add_trial(building, &view->trials[i]));
    ys_metric_view_match(view);
    for (size_t i = 0; building->with_runs && i < view->trial_count; i++)
        ys_detail_match(&view->trials[i], building->result->trials[i].runs_detail);
    return YS_OK;
}

/* For a page the first trials share the curves that it draws. */
static struct ys_detail_choice choose_runs(const struct ys_metric_view *view, unsigned flags)
{
    size_t running = 0;
    for (size_t i = 0; i < view->trial_count; i++)
        running += ys_trial_record_can_run(view->trials[i].record);
    size_t trials = running < YS_RESULT_DRAWN_TRIALS ? running : YS_RESULT_DRAWN_TRIALS;
    return (struct ys_detail_choice){.all = flags & YS_RESULT_RUNS,
                                     .trials = trials,
                                     .runs = trials ? YS_RESULT_DRAWN_RUNS / trials : 0,
                                     .failed = YS_RESULT_DRAWN_RUNS};
}

static bool wants_all_pairs(const struct ys_metric_study *study, unsigned flags)
{
    if (flags & (YS_RESULT_AXES | YS_RESULT_ALL))
        return flags & YS_RESULT_ALL;
    return study->job.comparisons && strcmp(study->job.comparisons, "all") == 0;
}

/* All but trials and comparisons. */
static void tell_rest(struct building *building, const struct ys_groups *groups, bool all)
{
    const struct ys_metric_view *view = building->view;
    struct ys_result *result = building->result;
    result->study = tell_study(view, all);
    result->harness = tell_harness(&view->told, &building->sums);
    result->work = view->told.stored.model_info;
    result->host = view->host;
    result->groups = ys_groups_list(view, groups);
    result->differences = ys_environment_differences(&building->environment);
}

static ys_status build(struct building *building, unsigned flags)
{
    struct ys_result *result = building->result;
    const struct ys_metric_view *view = building->view;
    bool all = wants_all_pairs(&view->told, flags);
    result->trials = ys_alloc(view->trial_count, sizeof *result->trials);
    building->choice = choose_runs(view, flags);
    YS_TRY(add_trials(building));
    struct ys_groups groups;
    ys_groups_find(view, &groups);
    tell_rest(building, &groups, all);
    ys_pair_comparisons(view, &groups, all, result);
    ys_groups_fini(&groups);
    return YS_OK;
}

/* Of one trial one metric is read; `trial` NULL: all of all. */
static ys_status load(struct ys_store *store, int64_t study_id, unsigned flags, const char *trial,
                      const struct ys_metric_info *metric, struct ys_result *result)
{
    struct building building = {.store = store,
                                .result = result,
                                .with_runs = flags & (YS_RESULT_RUNS | YS_RESULT_PAGE),
                                .sums.lateness_s = NAN};
    *result = (struct ys_result){.source = ys_alloc(1, sizeof *result->source)};
    building.view = result->source;
    ys_status status = ys_metric_view_load(store, study_id, result->source);
    if (status == YS_OK && trial) {
        ys_metric_view_keep(result->source, trial);
        result->source->only = metric;
    }
    if (status == YS_OK)
        status = build(&building, flags);
    ys_transfers_sum(result->source, &building.transfers, &result->transfers);
    ys_environments_fini(&building.environment);
    if (status != YS_OK)
        ys_result_fini(result);
    return status;
}

ys_status ys_metric_result_load(struct ys_store *store, int64_t study_id, unsigned flags, struct ys_result *result)
{
    return load(store, study_id, flags, NULL, NULL, result);
}

ys_status ys_metric_result_load_trial(struct ys_store *store, int64_t study_id, const char *trial,
                                      const struct ys_metric_info *metric, struct ys_result *result)
{
    return load(store, study_id, YS_RESULT_AXES, trial, metric, result);
}
