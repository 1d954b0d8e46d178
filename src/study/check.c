/* `check` and `verify`: what would run, and whether it is the same work. Neither measures anything. */
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "framework/own.h"
#include "stat/steady.h"
#include "stat/summary.h"
#include "study/state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Without a measurement to go by, a run is guessed from its multiply-adds: three passes (forward and twice backward),
 * one where nothing is trained, at this many multiply-adds a second and thread, after this long a start. Rough, and
 * called so. */
static const double GUESSED_RATE = 2e10, GUESSED_START_S = 3;
static const size_t STUDIES_LOOKED_AT = 10;

static bool are_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool are_equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Two trials whose runs should take equally long. */
static bool alike(const struct ys_trial_record *one, const struct ys_trial_record *other)
{
    const struct ys_trial_settings *a = &one->keys, *b = &other->keys;
    return a->mode == b->mode && are_same(a->framework, b->framework) && are_same(a->model, b->model) &&
           are_same(a->data, b->data) && a->batch == b->batch && a->steps == b->steps && a->epochs == b->epochs &&
           a->requests == b->requests && a->block == b->block && a->threads == b->threads &&
           a->precision == b->precision && are_same(a->optimizer, b->optimizer) &&
           ys_json_equal(one->options, other->options);
}

/* Two whose weights are the same training. */
static bool are_taught_alike(const struct ys_trial_settings *a, const struct ys_trial_settings *b)
{
    return are_same(a->model, b->model) && are_same(a->data, b->data) && a->batch == b->batch && a->steps == b->steps &&
           a->epochs == b->epochs && are_same(a->optimizer, b->optimizer) && are_equal(a->lr, b->lr) &&
           are_equal(a->momentum, b->momentum) && are_equal(a->weight_decay, b->weight_decay) &&
           are_same(a->schedule, b->schedule) && are_equal(a->clip_norm, b->clip_norm) && are_same(a->loss, b->loss);
}

/* Median wall time of the stored runs of `trial_id` that ended well; 0 without one. */
static ys_status measured_in(struct ys_store *store, int64_t trial_id, double *seconds)
{
    ys_json *runs = NULL;
    struct ys_summary summary = {.n = 0};
    size_t count = 0;
    YS_TRY(ys_store_runs_get(store, trial_id, &runs));
    double *walls = ys_alloc(ys_json_size(runs), sizeof *walls);
    for (size_t i = 0; walls && i < ys_json_size(runs); i++) {
        const ys_json *metrics = ys_json_get(ys_json_at(runs, i), "metrics");
        double wall_s = ys_json_get_number(ys_json_get(metrics, "wall_s"), "value", 0);
        if (strcmp(ys_json_get_text(ys_json_at(runs, i), "status", ""), "ok") == 0 && wall_s > 0)
            walls[count++] = wall_s;
    }
    ys_status status = walls ? YS_OK : ys_out_of_memory();
    if (status == YS_OK && count)
        status = ys_stat_summarize(walls, count, &summary);
    *seconds = count && status == YS_OK ? summary.median : 0;
    ys_free(walls);
    ys_json_free(runs);
    return status;
}

/* What a run of `trial` took in the latest of the last studies that had one like it. */
static ys_status measured_before(struct ys_store *store, const struct ys_trial_record *trial, double *seconds)
{
    ys_json *studies = NULL;
    *seconds = 0;
    if (!store)
        return YS_OK;
    YS_TRY(ys_store_studies(store, &studies));
    size_t count = ys_json_size(studies), looked = 0;
    ys_status status = YS_OK;
    for (size_t i = count; status == YS_OK && *seconds <= 0 && i-- > 0 && looked++ < STUDIES_LOOKED_AT;) {
        struct ys_trial_records trials = {0};
        status = ys_store_trials_load(store, ys_json_get_int(ys_json_at(studies, i), "id", 0), &trials);
        for (size_t k = 0; status == YS_OK && *seconds <= 0 && k < trials.count; k++)
            if (alike(trial, &trials.items[k]))
                status = measured_in(store, trials.items[k].trial_id, seconds);
        ys_trial_records_fini(&trials);
    }
    ys_json_free(studies);
    return status;
}

static double guess_s(double multiply_adds, double rows, int threads)
{
    return GUESSED_START_S + multiply_adds * rows / (GUESSED_RATE * threads);
}

/* Of same weights: what training them may take in every round, where `trial` is the first that wants them. */
static double guess_taught_s(const struct ys_trial_set *set, const struct ys_trial *trial)
{
    for (const struct ys_trial *other = set->items; other < trial; other++)
        if (ys_trial_can_run(other) && other->taught_steps &&
            are_taught_alike(&other->record.keys, &trial->record.keys))
            return 0;
    double rows = 3 * (double)trial->taught_steps * (double)trial->record.keys.batch;
    return trial->taught_steps ? guess_s((double)trial->multiply_adds, rows, ys_host_cpus_allowed()) : 0;
}

static int64_t requests_of(const struct ys_trial *trial)
{
    return trial->record.keys.requests == YS_FIELD_NONE ? 0 : trial->record.keys.requests;
}

static ys_status estimate(struct ys_study *study, const struct ys_trial *trial, ys_json *line, double *run_s)
{
    ys_status status = measured_before(study->store, &trial->record, run_s);
    if (status == YS_ENOMEM)
        return status;
    if (status != YS_OK) { /* what cannot be read was not measured */
        ys_log_warn("%s", ys_error());
        study->store = NULL;
        *run_s = 0;
    }
    bool known = *run_s > 0;
    if (!known) {
        double requests = (double)requests_of(trial);
        double passes = requests > 0 ? requests : 3 * (double)trial->steps;
        double rows = passes * (double)trial->record.keys.batch;
        *run_s = guess_s((double)trial->multiply_adds, rows, trial->threads);
    }
    ys_json_set_bool(line, "known", known);
    return ys_json_set_real(line, "run_s", *run_s);
}

static const char *id_of(const struct ys_trial *trial)
{
    return trial->record.id;
}

/* What every listing says of a trial. */
static ys_json *describe(const struct ys_trial *trial)
{
    ys_json *line = ys_json_object();
    ys_json_set_string(line, "id", id_of(trial));
    ys_json_set_string(line, "framework", trial->framework->spec);
    ys_json_set_string(line, "title", trial->framework->title);
    ys_json_set_string(line, "version", trial->framework->version);
    ys_json_set_int(line, "threads", trial->threads);
    ys_json_set_string(
        line, "status",
        ys_run_status_name(ys_trial_can_run(trial) ? YS_RUN_OK : (enum ys_run_status)trial->record.status));
    ys_json_set_string(line, "reason", trial->record.reason);
    ys_json_set_string(line, "command", trial->record.command);
    int64_t requests = requests_of(trial);
    ys_json_set(line, "steps", requests ? ys_json_null() : ys_json_int(trial->steps));
    ys_json_set(line, "requests", requests ? ys_json_int(requests) : ys_json_null());
    return line;
}

/* Blocks after the first step, or requests after the first. */
static int64_t blocks_of(const struct ys_trial *trial)
{
    int64_t requests = requests_of(trial), block = trial->record.keys.block > 0 ? trial->record.keys.block : 1;
    return requests ? requests - 1 : (trial->steps - 1 + block - 1) / block;
}

/* With few blocks no run can be called steady, which is better known before it is measured. */
static void warn_of_few_blocks(const struct ys_trial_set *set)
{
    const struct ys_trial *least = NULL;
    size_t few = 0;
    for (const struct ys_trial *trial = set->items; trial < set->items + set->count; trial++) {
        if (!ys_trial_can_run(trial) || blocks_of(trial) >= YS_STEADY_MIN_BLOCKS)
            continue;
        few++;
        least = !least || blocks_of(trial) < blocks_of(least) ? trial : least;
    }
    if (least)
        ys_log_warn("%zu of %zu trials have too few blocks to tell where warm-up ends: %s has %lld after the first "
                    "step, %d are needed; lower `block` or raise `steps` (`requests`)",
                    few, set->count, id_of(least), (long long)blocks_of(least), YS_STEADY_MIN_BLOCKS);
}

ys_status ys_study_check(const struct ys_job *job, const struct ys_study_options *options, struct ys_store *store,
                         ys_json **plan)
{
    struct ys_study study;
    YS_TRY(ys_study_open(job->study, job->trials, options, store, &study));
    ys_json *made = ys_json_object(), *lines = ys_json_array();
    ys_status status = made && lines ? YS_OK : ys_out_of_memory();
    double total_s = 0;
    for (size_t i = 0; status == YS_OK && i < study.set.count; i++) {
        ys_json *line = describe(&study.set.items[i]);
        double run_s = 0;
        if (ys_stop_signal())
            status = ys_stopped();
        else if (ys_trial_can_run(&study.set.items[i]))
            status = estimate(&study, &study.set.items[i], line, &run_s);
        if (ys_trial_can_run(&study.set.items[i]))
            run_s += guess_taught_s(&study.set, &study.set.items[i]);
        total_s += run_s * (double)study.rounds;
        ys_status added = ys_json_append(lines, line);
        status = status == YS_OK ? added : status;
    }
    warn_of_few_blocks(&study.set);
    ys_json_set(made, "study", ys_json_copy(job->study));
    ys_json_set(made, "trials", lines);
    ys_json_set_int(made, "runs", study.runs_total);
    ys_json_set_real(made, "estimate_s", total_s);
    ys_study_close(&study);
    if (status == YS_OK)
        *plan = made;
    else
        ys_json_free(made);
    return status;
}

ys_status ys_study_verify(const struct ys_job *job, const struct ys_study_options *options, ys_json **proofs,
                          int *exit_code)
{
    struct ys_study study;
    YS_TRY(ys_study_open(job->study, job->trials, options, NULL, &study));
    ys_json *lines = ys_json_array();
    ys_status status = lines ? ys_study_check_cache(&study) : ys_out_of_memory();
    if (status == YS_OK)
        status = ys_study_hold(&study);
    for (size_t i = 0; status == YS_OK && i < study.set.count; i++) {
        ys_json *line = describe(&study.set.items[i]), *proof = NULL;
        if (ys_trial_can_run(&study.set.items[i])) {
            status = ys_study_prove_one(&study, &study.set.items[i], &proof);
            study.proof_failed |= strcmp(ys_json_get_text(proof, "verdict", ""), "fail") == 0;
        }
        ys_json_set(line, "proof", proof ? proof : ys_json_null());
        ys_status added = ys_json_append(lines, line);
        status = status == YS_OK ? added : status;
    }
    *exit_code = study.proof_failed                  ? YS_EXIT_PROOF_FAILED
                 : study.runnable == study.set.count ? YS_EXIT_OK
                                                     : YS_EXIT_NOTHING_RAN;
    ys_study_close(&study);
    if (status == YS_OK)
        *proofs = lines;
    else
        ys_json_free(lines);
    return status;
}

static ys_status check_framework(void *context, const char *name)
{
    struct ys_framework *framework = NULL;
    ys_status status = ys_framework_find(name, context, &framework);
    ys_framework_free(framework);
    return status;
}

static ys_status check_option(void *context, const char *name, const char *option, const char *text, ys_json **value)
{
    struct ys_framework *framework = NULL;
    YS_TRY(ys_framework_find(name, context, &framework));
    ys_status status = ys_framework_option(framework, option, text, value);
    ys_framework_free(framework);
    return status;
}

static ys_status own_settings(void *context, const char *framework, const char *data, ys_json **own, char **reason)
{
    return ys_framework_own(framework, data, context, own, reason);
}

struct ys_job_hooks ys_study_job_hooks(const char *const *recipe_dirs)
{
    return (struct ys_job_hooks){
        .context = (void *)(uintptr_t)recipe_dirs,
        .check_framework = check_framework,
        .check_option = check_option,
        .own_settings = own_settings,
    };
}
