/* The sequence of a study. What each step means is in the rooms below; what happens when is here. */
#include "study/sequence.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/forked_task.h"
#include "base/rng.h"
#include "base/stop.h"
#include "prepare/machine_notes.h"
#include "prepare/noted_noise.h"
#include "probe/host.h"
#include "session/guard.h"
#include "study/anchor_times.h"
#include "study/decide.h"
#include "study/make_checks.h"
#include "study/run_trial.h"
#include "study/turn_group.h"
#include "verify/verify.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

enum ys_study_state ys_study_end_state(const struct ys_study *study, int exit_code)
{
    if (exit_code == YS_EXIT_TIME_LIMIT)
        return YS_STUDY_TIME_LIMIT;
    if (exit_code > 128 || (study->lacking && exit_code != YS_EXIT_INTERNAL))
        return YS_STUDY_INTERRUPTED;
    return exit_code == YS_EXIT_INTERNAL || exit_code == YS_EXIT_NOTHING_RAN ? YS_STUDY_FAILED : YS_STUDY_DONE;
}

/* A check that was due and was not made is a failed one. */
static bool lacks_checks(const struct ys_study *study)
{
    for (size_t i = 0; i < study->set.count; i++)
        if (ys_due_lacks(&study->set.items[i].due))
            return true;
    return false;
}

int ys_study_exit_code(const struct ys_study *study)
{
    if (study->stopped_by)
        return 128 + study->stopped_by;
    if (study->out_of_time)
        return YS_EXIT_TIME_LIMIT;
    if (study->proof_failed || lacks_checks(study))
        return YS_EXIT_PROOF_FAILED;
    if (study->run_failed)
        return YS_EXIT_RUN_FAILED;
    return study->runs_before + study->runs_done > 0 && !study->lacking ? YS_EXIT_OK : YS_EXIT_NOTHING_RAN;
}

/* Says what is wrong with it, and stores it. */
static ys_status note_proof(struct ys_study *study, struct ys_trial *trial, const struct ys_proof *proof)
{
    const char *reason = proof->reason ? proof->reason : "see the proof";
    if (proof->verdict == YS_PROOF_FAIL) {
        study->proof_failed = true;
        ys_log_warn("%s does not do the work that was asked for: %s", trial->record.id, reason);
    }
    study->proof_failed |= ys_proof_lacks_judge(proof);
    ys_free(trial->unproven);
    trial->unproven = ys_proof_lacks_judge(proof) ? ys_strdup(reason) : NULL;
    ys_json *made = ys_record_json(&ys_proof_record, proof);
    ys_status kept = ys_study_keep_audit(study, trial->record.proof, made);
    ys_json_free(trial->record.proof);
    trial->record.proof = made;
    YS_TRY(kept);
    YS_TRY(ys_due_begin(study, trial));
    return ys_store_proof_put(study->store, trial->record.trial_id, trial->record.proof);
}

/* A proof that is made in a copy of this process, beside another. The copy leaves it in the cache, where this one finds
 * it; where it could not make it this one makes it. */
struct proving_aside {
    struct ys_study *study;
    struct ys_trial *trial; /* NULL: none */
    struct ys_aside aside;
};

static ys_status prove_aside(void *context, struct ys_buf *told)
{
    struct proving_aside *proving = context;
    struct ys_study *study = proving->study;
    struct ys_proof proof;
    YS_TRY(ys_verifier_move(study->verifier));
    ys_status status = ys_study_prove_one(study, proving->trial, &proof);
    if (status == YS_OK) {
        if (!proof.cached)
            ys_buf_puts(told, "made");
        ys_proof_fini(&proof);
    }
    ys_verifier_close(study->verifier);
    study->verifier = NULL;
    return status;
}

/* Two at once need their memory twice, and neither may be able to spoil what both read. */
static bool may_be_proven_aside(const struct ys_trial *trial)
{
    enum { MOST_PARAMETERS = 20000000 };
    static const int64_t least_room_bytes = (int64_t)4 << 30;
    const char *reason;
    return trial->parameters <= MOST_PARAMETERS && trial->multiply_adds <= YS_VERIFY_LARGE &&
           ys_host_memory_room() >= least_room_bytes && ys_host_cpus_allowed() > 1 && ys_guard_version(&reason) > 0 &&
           !trial->framework->no_work;
}

static bool is_to_be_proven(const struct ys_trial *trial)
{
    return ys_trial_can_run(trial) && !trial->given_up;
}

static ys_status end_aside(struct proving_aside *proving)
{
    struct ys_buf told = {0};
    if (!proving->trial)
        return YS_OK;
    ys_progress("proving %s", proving->trial->record.id);
    ys_status status = ys_aside_end(&proving->aside, &told);
    proving->trial->is_proven_aside = status == YS_OK && told.size > 0;
    ys_buf_free(&told);
    proving->trial = NULL;
    return status == YS_EINTR ? status : YS_OK;
}

/* All behind the first, which has asked the oracle, two at once. */
static ys_status prove_aside_from(struct ys_study *study, size_t from)
{
    struct proving_aside lanes[2] = {{.study = study}, {.study = study}};
    size_t lane = 0;
    ys_status status = YS_OK;
    for (size_t i = from; status == YS_OK && i < study->set.count; i++) {
        struct ys_trial *trial = &study->set.items[i];
        if (!is_to_be_proven(trial) || !may_be_proven_aside(trial))
            continue;
        struct proving_aside *proving = &lanes[lane++ % 2];
        status = end_aside(proving);
        proving->trial = trial;
        proving->aside = YS_ASIDE_NONE;
        if (status != YS_OK || ys_aside_begin(prove_aside, proving, &proving->aside) != YS_OK)
            proving->trial = NULL;
    }
    for (size_t i = 0; i < 2; i++) {
        const ys_status ended = end_aside(&lanes[lane++ % 2]);
        status = status == YS_OK ? ended : status;
    }
    ys_progress_clear();
    return status;
}

static ys_status prove_and_note(struct ys_study *study, struct ys_trial *trial)
{
    struct ys_proof proof;
    YS_TRY(ys_study_prove_one(study, trial, &proof));
    proof.cached = proof.cached && !trial->is_proven_aside;
    ys_status status = note_proof(study, trial, &proof);
    ys_proof_fini(&proof);
    return status;
}

/* What is checked of runs without one. */
static ys_status begin_unproven(struct ys_study *study)
{
    for (size_t i = 0; i < study->set.count; i++)
        if (is_to_be_proven(&study->set.items[i]))
            YS_TRY(ys_due_begin(study, &study->set.items[i]));
    return YS_OK;
}

ys_status ys_study_prove_all(struct ys_study *study)
{
    if (study->options->unproven)
        return begin_unproven(study);
    uint64_t start_ns = ys_time_ns();
    ys_status status = YS_OK;
    bool is_first = true;
    for (size_t i = 0; status == YS_OK && i < study->set.count; i++) {
        if (!is_to_be_proven(&study->set.items[i]))
            continue;
        status = prove_and_note(study, &study->set.items[i]);
        if (status == YS_OK && is_first && study->verifier)
            status = prove_aside_from(study, i + 1);
        is_first = false;
    }
    study->prove_s += (double)(ys_time_ns() - start_ns) * 1e-9;
    return status;
}

/* The order of trials in round `round`. Every second round is the one before it backwards: of any two trials each is as
 * often the earlier one, and each trial is as often first as last (but for one round where their number is odd). */
static void order_round(const struct ys_study *study, int64_t round, uint32_t *order)
{
    char name[40];
    struct ys_rng rng;
    for (uint32_t i = 0; i < study->set.count; i++)
        order[i] = i;
    if (study->keys.order == YS_TRIALS_FIXED)
        return;
    snprintf(name, sizeof name, "round/%lld", (long long)(round - round % 2));
    ys_rng_init(&rng, study->seed, name);
    ys_rng_shuffle(&rng, order, study->set.count);
    for (uint32_t i = 0, last = (uint32_t)study->set.count; round % 2 && i + 1 < last; i++) {
        uint32_t kept = order[i];
        order[i] = order[--last];
        order[last] = kept;
    }
}

static bool must_end(struct ys_study *study)
{
    if (ys_stop_signal())
        study->stopped_by = ys_stop_signal();
    if (study->deadline_ns && ys_time_ns() >= study->deadline_ns)
        study->out_of_time = true;
    return study->stopped_by || study->out_of_time;
}

/* Waits the job's cooldown before every run but the first; a wish to stop and the study's time limit end it. */
static void cool_down(const struct ys_study *study)
{
    double wait_s = isnan(study->keys.cooldown_s) ? 0 : study->keys.cooldown_s;
    char span[32];
    struct pollfd stop = {.fd = ys_stop_fd(), .events = POLLIN};
    if (study->deadline_ns)
        wait_s = fmin(wait_s, ((double)study->deadline_ns - (double)ys_time_ns()) * 1e-9);
    if (wait_s <= 0 || study->runs_done == 0)
        return;
    ys_progress("cooling down for %s", ys_span_text(wait_s, span, sizeof span));
    uint64_t until_ns = ys_time_ns() + (uint64_t)(wait_s * 1e9), now_ns;
    while (!ys_stop_signal() && (now_ns = ys_time_ns()) < until_ns)
        (void)poll(&stop, 1, (int)((until_ns - now_ns) / 1000000) + 1); /* SIGCONT ends it early */
}

static ys_status run_trials(struct ys_study *study, struct ys_trial **trials, size_t count, int64_t round, int attempt)
{
    struct ys_trial *members[YS_TURNS_MOST];
    while (count > 0 && !must_end(study)) {
        const size_t together = ys_turn_group_take(study, trials, &count, members);
        cool_down(study);
        if (!must_end(study))
            YS_TRY(ys_study_run_group(study, members, together, round, attempt));
    }
    return YS_OK;
}

static ys_status run_round(struct ys_study *study, int64_t round, int attempt)
{
    uint32_t *order = ys_alloc(study->set.count, sizeof *order);
    struct ys_trial **trials = ys_alloc(study->set.count, sizeof *trials);
    size_t count = 0;
    order_round(study, round, order);
    for (size_t i = 0; i < study->set.count; i++) {
        struct ys_trial *trial = &study->set.items[order[i]];
        if (ys_trial_can_run(trial) && !trial->given_up)
            trials[count++] = trial;
    }
    ys_status status = run_trials(study, trials, count, round, attempt);
    ys_kept_round_end(&study->kept, status == YS_OK && !must_end(study));
    ys_free(trials);
    ys_free(order);
    return status;
}

/* The rounds of which some run lost nobody knows how much. Run again, as wholes so that pairs stay pairs, behind all
 * others: what disturbs a machine takes minutes, and may be over then. */
struct unknown_rounds {
    bool *is_untold; /* of each round */
    int *attempts;   /* likewise: what it is to be run under next; the past's */
    int64_t run;     /* rounds, in this session */
    int64_t again;   /* of them those that were run once more */
    int64_t looked;  /* rounds before it stay as they are: what they say was looked at */
};

static ys_status run_and_look(struct ys_study *study, int64_t round, struct unknown_rounds *untold)
{
    const uint64_t start_ns = ys_time_ns();
    study->round_untold = false;
    YS_TRY(run_round(study, round, untold->attempts[round]++));
    study->round_s = (double)(ys_time_ns() - start_ns) * 1e-9;
    untold->is_untold[round] = study->round_untold;
    untold->run++;
    return YS_OK;
}

/* Of the rounds that were not looked at, up to `end`, at most half as many as were run, each once at a time. */
static ys_status repeat_untold(struct ys_study *study, int64_t end, struct unknown_rounds *untold)
{
    ys_status status = YS_OK;
    bool is_any = study->keys.on_disturbance == YS_DISTURBANCE_REPEAT;
    for (int64_t left = (untold->run - untold->again + 1) / 2 - untold->again; is_any && left > 0;) {
        is_any = false;
        for (int64_t round = untold->looked; status == YS_OK && round < end && left > 0 && !must_end(study); round++) {
            if (!untold->is_untold[round])
                continue;
            ys_log_info("the machine did something else in round %lld: it is run once more", (long long)round + 1);
            for (size_t i = 0; i < study->set.count; i++)
                study->runs_total += ys_trial_can_run(&study->set.items[i]) && !study->set.items[i].given_up;
            status = run_and_look(study, round, untold);
            is_any = status == YS_OK;
            untold->again++;
            left--;
        }
    }
    return status;
}

static void tell_untold(const struct ys_study *study, const struct unknown_rounds *untold)
{
    int64_t count = 0;
    for (int64_t round = 0; round < study->rounds; round++)
        count += untold->is_untold[round];
    if (count > 0)
        ys_log_warn("in %lld of %lld rounds the machine did something else to the end, and nobody knows what that took "
                    "from their runs: comparisons leave them out",
                    (long long)count, (long long)study->rounds);
}

/* What is known once `rounds` are there, and at a look whether they are enough. */
static ys_status learn(struct ys_study *study, int64_t rounds, struct unknown_rounds *untold, bool *is_over)
{
    if (must_end(study))
        return YS_OK;
    if (ys_decide_is_look(study, rounds)) {
        YS_TRY(repeat_untold(study, rounds, untold));
        if (!must_end(study))
            YS_TRY(ys_decide_look(study, rounds, is_over));
        untold->looked = rounds;
    }
    return ys_decide_tell(study, rounds);
}

/* With the machine's own speed before, between and after, as far as it is wished for and cheap. */
static ys_status run_all(struct ys_study *study, const struct ys_past_runs *past)
{
    const size_t rounds = study->rounds > 0 ? (size_t)study->rounds : 0;
    struct unknown_rounds untold = {.is_untold = ys_alloc(rounds + 1, sizeof(bool)), .attempts = past->attempts};
    ys_status status = YS_OK;
    bool is_over = false;
    int64_t done = 0;
    for (int64_t round = 0; status == YS_OK && !is_over && round < study->rounds && !must_end(study); round++) {
        if (!ys_past_runs_want(past, study, round)) {
            done = round + 1;
            continue;
        }
        status = ys_study_anchor(study, untold.run ? YS_ANCHOR_BETWEEN : YS_ANCHOR_START, round);
        if (status == YS_OK)
            status = run_and_look(study, round, &untold);
        if (status == YS_OK && !must_end(study))
            status = learn(study, done = round + 1, &untold, &is_over);
    }
    if (status == YS_OK && !study->decides)
        status = repeat_untold(study, study->rounds, &untold);
    if (status == YS_OK && !is_over)
        status = ys_decide_end(study, done);
    if (status == YS_OK && untold.run && !must_end(study))
        status = ys_study_anchor(study, YS_ANCHOR_END, study->rounds);
    if (status == YS_OK)
        tell_untold(study, &untold);
    ys_free(untold.is_untold);
    return status;
}

ys_status ys_study_run_rounds(struct ys_study *study, const struct ys_past_runs *past)
{
    uint64_t start_ns = ys_time_ns();
    ys_host_count(&study->before);
    const double limit_s = study->keys.time_limit_s, left_s = limit_s - study->limit_spent_s;
    if (limit_s > 0)
        study->deadline_ns = start_ns + (left_s > 0 ? (uint64_t)(left_s * 1e9) : 0);
    ys_study_begin_live(study);
    ys_status status = run_all(study, past);
    ys_progress_above("");
    ys_progress_clear();
    study->measure_s += (double)(ys_time_ns() - start_ns) * 1e-9;
    return status;
}

/* What ended for want of space can be gone on with. */
static ys_status with_remedy(ys_status status)
{
    const char *text = ys_error();
    bool full = strstr(text, strerror(ENOSPC)) || strstr(text, strerror(EDQUOT));
    if (status != YS_EIO || !full || strstr(text, "yardstick resume"))
        return status;
    return ys_fail(status, "%s; free some space, then `yardstick resume`", text);
}

static ys_json *timing_of(const struct ys_study *study)
{
    ys_json *timing = ys_json_object();
    struct ys_host_counters after;
    ys_host_count(&after);
    if (study->before.t_ns)
        ys_json_set(timing, "disturbance", ys_host_disturbance(&study->before, &after));
    ys_json_set_real(timing, "prepare_s", study->prepare_s);
    ys_json_set_real(timing, "prove_s", study->prove_s);
    ys_json_set_real(timing, "audit_s", study->audit_s);
    ys_json_set_real(timing, "attack_s", study->attack_s);
    ys_json_set_real(timing, "measure_s",
                     study->measured_before_s + study->measure_s - study->prepare_in_rounds_s -
                         study->attack_in_rounds_s);
    ys_json_set(timing, "anchors", ys_list_json(&ys_anchor_record, &study->anchors));
    return timing;
}

ys_status ys_study_end(struct ys_study *study, ys_status status, int *exit_code)
{
    if (status == YS_EINTR) {
        study->stopped_by = ys_stop_signal();
        status = YS_OK;
    }
    *exit_code = status == YS_OK ? ys_study_exit_code(study) : YS_EXIT_INTERNAL;
    ys_json *timing = timing_of(study);
    char *message = status == YS_OK ? NULL : ys_strdup(ys_error());
    ys_status ended =
        ys_store_study_end(study->store, study->id, ys_study_end_state(study, *exit_code), *exit_code, timing);
    ys_json_free(timing);
    if (message)
        ys_fail(status, "%s", message);
    ys_free(message);
    return with_remedy(status != YS_OK ? status : ended);
}

static void say_what_cannot_run(const struct ys_study *study)
{
    for (size_t i = 0; i < study->set.count; i++) {
        const struct ys_trial *trial = &study->set.items[i];
        const struct ys_trial_record *record = &trial->record;
        if (!ys_trial_can_run(trial))
            ys_log_warn("%s: %s: %s%s%s", record->id, ys_run_status_name((enum ys_run_status)record->status),
                        record->reason ? record->reason : "", record->command ? "; run: " : "",
                        record->command ? record->command : "");
    }
}

/* All of a study that is known before it is measured. */
static ys_status store_study(struct ys_study *study, const ys_json *document, const ys_json *host)
{
    YS_TRY(ys_store_study_begin(study->store, document, &study->id));
    YS_TRY(ys_store_host_put(study->store, study->id, host));
    for (size_t i = 0; i < study->set.count; i++) {
        struct ys_trial_record *trial = &study->set.items[i].record;
        YS_TRY(ys_store_trial_put(study->store, study->id, trial, &trial->trial_id));
    }
    return YS_OK;
}

/* The machine, with what doctor found of how true it is observed here. */
static ys_status describe_host(ys_json **host)
{
    ys_json *table = NULL;
    YS_TRY(ys_host_describe(host));
    ys_status status = ys_machine_note_read("self-test", &table);
    if (status != YS_OK)
        return YS_OK;
    ys_json_set(*host, "self_test", table);
    return YS_OK;
}

/* One transaction: a study that is stored has all of its trials. */
static ys_status begin_study(struct ys_study *study, const struct ys_job *job)
{
    ys_json *document = ys_study_document(study, job), *host = NULL;
    ys_status status = describe_host(&host);
    if (status == YS_OK)
        status = ys_store_begin(study->store);
    if (status == YS_OK)
        status = ys_store_end(study->store, store_study(study, document, host));
    if (status != YS_OK)
        study->id = 0;
    ys_json_free(document);
    ys_json_free(host);
    return status;
}

/* Everything from the stored study on, which its end is stored of in any case. */
static ys_status measure(struct ys_study *study, const struct ys_job *job)
{
    struct ys_past_runs past;
    YS_TRY(ys_study_find_folder(study));
    YS_TRY(ys_study_write_job(study, job));
    say_what_cannot_run(study);
    YS_TRY(ys_study_prove_all(study));
    YS_TRY(ys_past_runs_load(study, &past));
    ys_status status = ys_study_run_rounds(study, &past);
    if (status == YS_OK)
        status = ys_study_audit_all(study);
    ys_past_runs_free(&past);
    return status;
}

ys_status ys_study_not_kept(ys_status status)
{
    return status == YS_OK || status == YS_EINTR || status == YS_EINTERNAL ? status : YS_EIO;
}

/* What the noise of this machine lets a study show in its manner, where doctor measured it lately. */
static void say_noise(const struct ys_study *study, const struct ys_job *job)
{
    ys_json *keys = ys_json_copy(job->study);
    ys_json_set_string(keys, "interleave", ys_name_of(&ys_interleaves, study->keys.interleave));
    char *text = ys_noise_say(keys);
    if (text)
        ys_log_info("%s", text);
    ys_free(text);
    ys_json_free(keys);
}

ys_status ys_study_run(const struct ys_job *job, const struct ys_study_options *options, struct ys_store *store,
                       int64_t *study_id, int *exit_code)
{
    struct ys_study study;
    YS_TRY(ys_study_open(job->study, job->trials, options, store, &study));
    if (options->says_noise)
        say_noise(&study, job);
    ys_status status = ys_study_check_cache(&study);
    if (status == YS_OK)
        status = ys_study_hold(&study);
    if (status != YS_OK) {
        ys_study_close(&study);
        return status;
    }
    status = begin_study(&study, job);
    *study_id = study.id;
    if (status == YS_OK)
        status = ys_study_end(&study, measure(&study, job), exit_code);
    ys_study_close(&study);
    return ys_study_not_kept(status);
}
