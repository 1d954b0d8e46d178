/* The sequence of a study. What each step means is in the rooms below; what happens when is here. */
#include "study/study.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/stop.h"
#include "probe/host.h"
#include "study/one.h"
#include "study/state.h"
#include "verify/verify.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/* Names of a study's end, as they are stored. */
static const char *end_status(int exit_code)
{
    if (exit_code == YS_EXIT_TIME_LIMIT)
        return "time_limit";
    if (exit_code > 128)
        return "interrupted";
    return exit_code == YS_EXIT_INTERNAL ? "failed" : "done";
}

int ys_study_exit_code(const struct ys_study *study)
{
    if (study->stopped_by)
        return 128 + study->stopped_by;
    if (study->out_of_time)
        return YS_EXIT_TIME_LIMIT;
    if (study->proof_failed)
        return YS_EXIT_PROOF_FAILED;
    if (study->run_failed)
        return YS_EXIT_RUN_FAILED;
    return study->runs_done ? YS_EXIT_OK : YS_EXIT_NOTHING_RAN;
}

/* Whether it was the oracle that ended before its time, not the adapter. */
static bool has_broken_off(const ys_json *proof)
{
    return strcmp(ys_json_get_text(proof, "verdict", ""), "none") == 0 && !ys_json_get(proof, "ended") &&
           !ys_json_get_bool(proof, "lasting", true);
}

/* Proves each trial that can run; trials that share everything share the cached proof. */
static ys_status prove_all(struct ys_study *study)
{
    uint64_t start_ns = ys_time_ns();
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < study->set.count; i++) {
        struct ys_trial *trial = &study->set.items[i];
        ys_json *proof = NULL;
        if (trial->status)
            continue;
        status = ys_study_prove_one(study, trial, &proof);
        if (status != YS_OK)
            break;
        if (strcmp(ys_json_get_text(proof, "verdict", ""), "fail") == 0) {
            study->proof_failed = true;
            ys_log_warn("%s does not do the work that was asked for: %s", ys_json_get_text(trial->json, "id", ""),
                        ys_json_get_text(proof, "reason", "see the proof"));
        }
        if (has_broken_off(proof))
            ys_log_warn("%s is not proven: %s", ys_json_get_text(trial->json, "id", ""),
                        ys_json_get_text(proof, "reason", "see the proof"));
        status = ys_store_proof_put(study->store, trial->id, proof);
        ys_json_free(proof);
    }
    study->prove_s += (double)(ys_time_ns() - start_ns) * 1e-9;
    return status;
}

/* The order of trials in round `round`. */
static void order_round(const struct ys_study *study, int64_t round, uint32_t *order)
{
    char name[40];
    struct ys_rng rng;
    for (uint32_t i = 0; i < study->set.count; i++)
        order[i] = i;
    if (strcmp(ys_json_get_text(study->settings, "order", "random"), "fixed") == 0)
        return;
    snprintf(name, sizeof name, "round/%lld", (long long)round);
    ys_rng_init(&rng, study->seed, name);
    ys_rng_shuffle(&rng, order, study->set.count);
}

static bool must_end(struct ys_study *study)
{
    if (ys_stop_signal())
        study->stopped_by = ys_stop_signal();
    if (study->deadline_ns && ys_time_ns() >= study->deadline_ns)
        study->out_of_time = true;
    return study->stopped_by || study->out_of_time;
}

/* Waits the job's cooldown before every run but the first; a wish to stop ends it. */
static void cool_down(const struct ys_study *study)
{
    double wait_s = ys_json_get_number(study->settings, "cooldown_s", 0);
    struct pollfd stop = {.fd = ys_stop_fd(), .events = POLLIN};
    if (wait_s <= 0 || study->runs_done == 0)
        return;
    ys_progress("cooling down for %.0f s", wait_s);
    uint64_t until_ns = ys_time_ns() + (uint64_t)(wait_s * 1e9), now_ns;
    while (!ys_stop_signal() && (now_ns = ys_time_ns()) < until_ns)
        (void)poll(&stop, 1, (int)((until_ns - now_ns) / 1000000) + 1); /* SIGCONT ends it early */
}

static ys_status run_round(struct ys_study *study, int64_t round, int attempt)
{
    uint32_t *order = ys_alloc(study->set.count, sizeof *order);
    if (!order)
        return ys_out_of_memory();
    order_round(study, round, order);
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < study->set.count && !must_end(study); i++) {
        struct ys_trial *trial = &study->set.items[order[i]];
        if (trial->status || trial->broken)
            continue;
        cool_down(study);
        if (!must_end(study))
            status = ys_study_run_one(study, trial, round, attempt);
    }
    ys_free(order);
    return status;
}

/* Rounds from `first` on; `attempt` is the one of the first, which may be a repetition. */
static ys_status run_rounds(struct ys_study *study, int64_t first, int attempt)
{
    uint64_t start_ns = ys_time_ns();
    ys_host_count(&study->before);
    double limit_s = ys_json_get_number(study->settings, "time_limit_s", 0);
    if (limit_s > 0)
        study->deadline_ns = start_ns + (uint64_t)(limit_s * 1e9);
    ys_status status = YS_OK;
    for (int64_t round = first; status == YS_OK && round < study->rounds && !must_end(study); round++)
        status = run_round(study, round, round == first ? attempt : 0);
    ys_progress_clear();
    study->measure_s += (double)(ys_time_ns() - start_ns) * 1e-9;
    return status;
}

static ys_status end_study(struct ys_study *study, ys_status status, int *exit_code)
{
    if (status == YS_EINTR) {
        study->stopped_by = ys_stop_signal();
        status = YS_OK;
    }
    *exit_code = status == YS_OK ? ys_study_exit_code(study) : YS_EXIT_INTERNAL;
    ys_json *timing = ys_json_object();
    struct ys_host_counters after;
    ys_host_count(&after);
    if (study->before.t_ns)
        ys_json_set(timing, "disturbance", ys_host_disturbance(&study->before, &after));
    ys_json_set_real(timing, "prepare_s", study->prepare_s);
    ys_json_set_real(timing, "prove_s", study->prove_s);
    ys_json_set_real(timing, "measure_s", study->measured_before_s + study->measure_s - study->prepare_in_rounds_s);
    char *message = status == YS_OK ? NULL : ys_strdup(ys_error());
    ys_status ended = ys_store_study_end(study->store, study->id, end_status(*exit_code), *exit_code, timing);
    ys_json_free(timing);
    if (message)
        ys_fail(status, "%s", message);
    ys_free(message);
    return status != YS_OK ? status : ended;
}

static ys_status store_trials(struct ys_study *study)
{
    for (size_t i = 0; i < study->set.count; i++) {
        struct ys_trial *trial = &study->set.items[i];
        if (trial->status)
            ys_log_warn("%s: %s: %s%s%s", ys_json_get_text(trial->json, "id", ""), trial->status,
                        ys_json_get_text(trial->json, "reason", ""),
                        ys_json_get_text(trial->json, "command", NULL) ? "; run: " : "",
                        ys_json_get_text(trial->json, "command", ""));
        YS_TRY(ys_store_trial_put(study->store, study->id, trial->json, &trial->id));
    }
    return YS_OK;
}

static ys_status begin_study(struct ys_study *study, const struct ys_job *job)
{
    ys_json *document = NULL, *host = NULL;
    YS_TRY(ys_study_document(study, job, &document));
    ys_status status = ys_store_study_begin(study->store, document, &study->id);
    ys_json_free(document);
    if (status == YS_OK)
        status = ys_study_find_folder(study);
    if (status == YS_OK)
        status = ys_study_write_job(study, job);
    if (status == YS_OK)
        status = ys_host_describe(&host);
    if (status == YS_OK)
        status = ys_store_host_put(study->store, study->id, host);
    ys_json_free(host);
    return status == YS_OK ? store_trials(study) : status;
}

/* Once the job is resolved, whatever ends a study but the user's wish is results that could not be kept. */
static ys_status not_kept(ys_status status)
{
    return status == YS_OK || status == YS_EINTR || status == YS_ENOMEM || status == YS_EINTERNAL ? status : YS_EIO;
}

ys_status ys_study_run(const struct ys_job *job, const struct ys_study_options *options, struct ys_store *store,
                       int64_t *study_id, int *exit_code)
{
    struct ys_study study;
    YS_TRY(ys_study_open(job->study, job->trials, options, store, &study));
    ys_status status = begin_study(&study, job);
    *study_id = study.id;
    if (status == YS_OK) {
        status = prove_all(&study);
        if (status == YS_OK)
            status = run_rounds(&study, 0, 0);
        status = end_study(&study, status, exit_code);
    }
    ys_study_close(&study);
    return not_kept(status);
}

/* Trials as they were stored, without what resolving added to them. */
static ys_status stored_trials(struct ys_store *store, int64_t study_id, ys_json **trials)
{
    YS_TRY(ys_store_trials_get(store, study_id, trials));
    for (size_t i = 0; i < ys_json_size(*trials); i++) {
        ys_json *trial = ys_json_at(*trials, i);
        ys_json_remove(trial, "status");
        ys_json_remove(trial, "reason");
        ys_json_remove(trial, "command");
    }
    return YS_OK;
}

static ys_status resume_rounds(struct ys_study *study, const ys_json *trials, const struct ys_store_next *next)
{
    for (size_t i = 0; i < study->set.count; i++)
        study->set.items[i].id = ys_json_get_int(ys_json_at(trials, i), "trial_id", 0);
    ys_log_info("going on with round %lld of %lld", (long long)next->round + 1, (long long)study->rounds);
    study->runs_total = (study->rounds - next->round) * (int64_t)study->runnable;
    YS_TRY(ys_store_study_resume(study->store, study->id));
    YS_TRY(prove_all(study));
    return run_rounds(study, next->round, next->attempt);
}

/* What earlier sessions of this study took, as far as they could still say it: one that was killed could not. */
static void add_timing(struct ys_study *study, const ys_json *document)
{
    const ys_json *timing = ys_json_get(document, "timing");
    study->prepare_s += ys_json_get_number(timing, "prepare_s", 0);
    study->prove_s += ys_json_get_number(timing, "prove_s", 0);
    study->measured_before_s = ys_json_get_number(timing, "measure_s", NAN);
}

static ys_status resume(struct ys_study *study, const ys_json *document, const ys_json *trials, int *exit_code)
{
    struct ys_store_next next;
    add_timing(study, document);
    YS_TRY(ys_store_unfinished(study->store, study->id, study->rounds, &next));
    if (next.round >= study->rounds) {
        ys_log_info("study %lld is complete: all %lld rounds are there", (long long)study->id,
                    (long long)study->rounds);
        *exit_code = (int)ys_json_get_int(document, "exit_code", YS_EXIT_OK);
        return YS_OK;
    }
    ys_status status = ys_study_find_folder(study);
    if (status == YS_OK)
        status = resume_rounds(study, trials, &next);
    return end_study(study, status, exit_code);
}

ys_status ys_study_resume(const struct ys_study_options *options, struct ys_store *store, int64_t study_id,
                          int *exit_code)
{
    struct ys_study study;
    ys_json *document = NULL, *trials = NULL;
    ys_status status = ys_store_study_get(store, study_id, &document);
    if (status == YS_OK)
        status = stored_trials(store, study_id, &trials);
    if (status == YS_OK)
        status = ys_study_open(ys_json_get(document, "job"), trials, options, store, &study);
    if (status == YS_OK) {
        study.id = study_id;
        status = not_kept(resume(&study, document, trials, exit_code));
        ys_study_close(&study);
    }
    ys_json_free(document);
    ys_json_free(trials);
    return status == YS_EFORMAT ? YS_EIO : status; /* damaged results */
}
