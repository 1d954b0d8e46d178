/* Going on with a study: what is stored of it decides what is left to do. */
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/stored_study.h"
#include "study/anchor_times.h"
#include "study/decide.h"
#include "study/sequence.h"

#include <math.h>
#include <string.h>

/* A study of which not all trials were stored cannot be completed. */
static ys_status check_trials(const struct ys_study_record *told, const struct ys_trial_records *trials)
{
    int64_t planned = told->trials_planned, stored = (int64_t)trials->count;
    if (planned < 0 || planned == stored)
        return YS_OK;
    return ys_fail(YS_EIO,
                   "study %lld holds %lld of its %lld trials: it was stopped while they were stored, or results.db is "
                   "damaged; it cannot be gone on with: run it again (%s)",
                   (long long)told->id, (long long)stored, (long long)planned,
                   told->command ? told->command : "yardstick run");
}

/* Trials as the job has them, without what resolving and storing added. */
static ys_json *as_in_job(const struct ys_trial_records *stored)
{
    ys_json *made = ys_json_array();
    for (size_t i = 0; i < stored->count; i++)
        ys_json_append(made, ys_trial_record_job_json(&stored->items[i]));
    return made;
}

static const char *status_of(const struct ys_trial_record *trial)
{
    return ys_run_status_name((enum ys_run_status)trial->status);
}

static const char *id_of(const struct ys_trial *trial)
{
    return trial->record.id;
}

/* Who takes part was decided when the study began: a framework that is there only now would be in some rounds and not
 * in others. */
static ys_status keep_who_takes_part(struct ys_study *study, const struct ys_trial_records *stored)
{
    for (size_t i = 0; i < study->set.count; i++) {
        struct ys_trial *trial = &study->set.items[i];
        const struct ys_trial_record *was = &stored->items[i];
        bool could_run = ys_trial_record_can_run(was);
        trial->record.trial_id = was->trial_id;
        trial->record.proof = was->proof ? ys_json_copy(was->proof) : NULL;
        YS_TRY(ys_due_read(was->proof, &trial->due));
        trial->left = could_run && !ys_trial_can_run(trial);
        if (!could_run) {
            if (ys_trial_can_run(trial))
                ys_log_info("%s was %s when this study began and can run now: it does not join in the middle; a new "
                            "study would include it",
                            id_of(trial), status_of(was));
            trial->record.status = was->status;
        }
    }
    return YS_OK;
}

/* A proof that was stored counts until it is made again. */
static void count_stored_proofs(struct ys_study *study, const struct ys_trial_records *stored, bool nothing_to_do)
{
    for (size_t i = 0; i < study->set.count; i++) {
        const struct ys_trial *trial = &study->set.items[i];
        if (nothing_to_do || !ys_trial_can_run(trial) || trial->given_up)
            study->proof_failed |= ys_stored_verdict(stored->items[i].proof) == YS_PROOF_FAIL;
    }
}

/* Trials that were given up get no more runs; what an earlier yardstick decided and did not note is noted now. */
static ys_status keep_given_up(struct ys_study *study, const struct ys_past_runs *past,
                               const struct ys_trial_records *stored)
{
    for (size_t i = 0; i < study->set.count; i++) {
        const struct ys_trial *trial = &study->set.items[i];
        if (!trial->given_up)
            continue;
        if (ys_past_runs_lack(past, i))
            ys_log_info("%s is not tried again: it %s", id_of(trial), trial->given_up);
        if (!stored->items[i].given_up)
            YS_TRY(ys_store_trial_give_up(study->store, trial->record.trial_id, trial->last_round, trial->given_up));
    }
    return YS_OK;
}

/* What a trial should have and cannot get now makes the study incomplete, also where it lacks no round yet: the rounds
 * that are repeated now are so without it. */
static void say_what_is_lacking(struct ys_study *study, const struct ys_past_runs *past, bool nothing_to_do)
{
    for (size_t i = 0; i < study->set.count; i++) {
        const struct ys_trial *trial = &study->set.items[i];
        const char *command = trial->record.command, *reason = trial->record.reason;
        if (!trial->left || trial->given_up || (nothing_to_do && !ys_past_runs_lack(past, i)))
            continue;
        ys_log_warn("%s could run when this study began and is %s now (%s): its runs are left out; %s%s, then resume "
                    "again",
                    id_of(trial), status_of(&trial->record), reason ? reason : "no reason is known",
                    command ? "run: " : "mend that", command ? command : "");
        study->lacking = true;
    }
}

/* What earlier sessions of this study took, as far as they could still say it: one that was killed could not. */
static ys_status add_timing(struct ys_study *study, const struct ys_study_record *told,
                            const struct ys_study_timing *timing)
{
    const double limit_s = study->keys.time_limit_s;
    double runs_s = 0;
    study->prepare_s += isnan(timing->prepare_s) ? 0 : timing->prepare_s;
    study->prove_s += isnan(timing->prove_s) ? 0 : timing->prove_s;
    study->attack_s += isnan(timing->attack_s) ? 0 : timing->attack_s;
    study->audit_s += isnan(timing->audit_s) ? 0 : timing->audit_s;
    study->measured_before_s = told->status == YS_STUDY_RUNNING ? NAN : timing->measure_s;
    YS_TRY(ys_store_wall_s(study->store, study->id, &runs_s, NULL));
    study->limit_spent_s = isnan(study->measured_before_s) ? fmax(timing->measure_s, runs_s) : study->measured_before_s;
    ys_study_keep_anchors(study, told->timing);
    if (told->status == YS_STUDY_TIME_LIMIT) /* preparing between the runs counts too */
        study->limit_spent_s = fmax(study->limit_spent_s, limit_s);
    return YS_OK;
}

/* Nothing is left to run: the exit code is that of what is stored, and so is the end of a study that was killed before
 * it could say it. */
static ys_status settle(struct ys_study *study, const struct ys_study_record *told, int *exit_code)
{
    *exit_code = ys_study_exit_code(study);
    const enum ys_study_state state = ys_study_end_state(study, *exit_code);
    if (!study->lacking && !study->out_of_time)
        ys_log_info("study %lld is complete: all %lld rounds are there", (long long)study->id,
                    (long long)study->rounds);
    if (told->status == (int)state && told->exit_code == *exit_code)
        return YS_OK;
    ys_json *timing = ys_json_copy(told->timing);
    if (timing && told->status == YS_STUDY_RUNNING) /* what the last session took nobody knows */
        ys_json_set(timing, "measure_s", ys_json_null());
    ys_status status = ys_store_study_end(study->store, study->id, state, *exit_code, timing);
    ys_json_free(timing);
    return status;
}

/* Whether nothing more may be run, because the study's time limit is used up. */
static bool is_out_of_time(struct ys_study *study)
{
    const double limit_s = study->keys.time_limit_s;
    study->out_of_time = limit_s > 0 && study->limit_spent_s >= limit_s;
    if (study->out_of_time)
        ys_log_warn(
            "the study's time limit of %g s is used up (%.1f s were measured): nothing was run; for more, run it "
            "again with a larger --time-limit",
            limit_s, study->limit_spent_s);
    return study->out_of_time;
}

/* A study that was killed at its very beginning has no copy of its job in its folder yet. */
static ys_status keep_job(const struct ys_study *study, const struct ys_study_record *told, const ys_json *trials)
{
    char *path = ys_path_join(study->folder, "job.json");
    char *text = ys_strdup(told->job_text);
    struct ys_job job = {.text = text, .study = ys_json_copy(told->job), .trials = ys_json_copy(trials)};
    ys_status status = YS_OK;
    if (!ys_fs_exists(path))
        status = ys_study_write_job(study, &job);
    ys_json_free(job.study);
    ys_json_free(job.trials);
    ys_free(text);
    ys_free(path);
    return status;
}

static ys_status go_on(struct ys_study *study, const struct ys_past_runs *past, const struct ys_study_record *told,
                       const ys_json *trials)
{
    int64_t first = 0, each = 0;
    while (!ys_past_runs_want(past, study, first))
        first++;
    for (size_t i = 0; i < study->set.count; i++)
        each += ys_trial_can_run(&study->set.items[i]) && !study->set.items[i].given_up;
    study->runs_total = 0;
    for (int64_t round = first; round < study->rounds; round++)
        study->runs_total += ys_past_runs_want(past, study, round) ? each : 0;
    ys_log_info("going on with round %lld of %lld", (long long)first + 1, (long long)study->rounds);
    YS_TRY(ys_study_find_folder(study));
    YS_TRY(ys_store_study_resume(study->store, study->id));
    YS_TRY(keep_job(study, told, trials));
    YS_TRY(ys_study_prove_all(study));
    YS_TRY(ys_study_run_rounds(study, past));
    return ys_study_audit_all(study);
}

/* All rounds that there will be are there, and somebody or the time limit interrupted what follows them. */
static ys_status audit_only(struct ys_study *study)
{
    ys_log_info("%s", study->out_of_time ? "the audits of the rounds that are there are made"
                                         : "all rounds are there; audits are lacking");
    YS_TRY(ys_study_find_folder(study));
    YS_TRY(ys_store_study_resume(study->store, study->id));
    return ys_study_audit_all(study);
}

static bool wants_any(const struct ys_study *study, const struct ys_past_runs *past)
{
    for (int64_t round = 0; round < study->rounds; round++)
        if (ys_past_runs_want(past, study, round))
            return true;
    return false;
}

static ys_status resume(struct ys_study *study, const struct ys_past_runs *past, const struct ys_study_record *told,
                        const struct ys_trial_records *stored, const ys_json *trials, int *exit_code)
{
    bool nothing_to_do = !wants_any(study, past);
    count_stored_proofs(study, stored, nothing_to_do);
    YS_TRY(keep_given_up(study, past, stored));
    if (!nothing_to_do && is_out_of_time(study))
        return ys_study_lacks_audit(study) ? ys_study_end(study, audit_only(study), exit_code)
                                           : settle(study, told, exit_code);
    say_what_is_lacking(study, past, nothing_to_do);
    if (nothing_to_do && (study->lacking || !ys_study_lacks_audit(study)))
        return settle(study, told, exit_code);
    if (nothing_to_do)
        return ys_study_end(study, audit_only(study), exit_code);
    return ys_study_end(study, go_on(study, past, told, trials), exit_code);
}

/* What was decided when it was ended needs no more rounds. */
static ys_status look_back(struct ys_study *study, const struct ys_past_runs *past)
{
    int64_t rounds = 0;
    bool is_over = false;
    while (rounds < study->rounds && !ys_past_runs_want(past, study, rounds))
        rounds++;
    return ys_decide_is_look(study, rounds) ? ys_decide_look(study, rounds, &is_over) : YS_OK;
}

static ys_status resume_opened(struct ys_study *study, const struct ys_study_record *told,
                               const struct ys_study_timing *timing, const struct ys_trial_records *stored,
                               const ys_json *trials, int *exit_code)
{
    struct ys_past_runs past;
    YS_TRY(ys_study_hold(study));
    YS_TRY(keep_who_takes_part(study, stored));
    YS_TRY(add_timing(study, told, timing));
    YS_TRY(ys_past_runs_load(study, &past));
    ys_status status = look_back(study, &past);
    if (status == YS_OK)
        status = resume(study, &past, told, stored, trials, exit_code);
    ys_past_runs_free(&past);
    return status;
}

ys_status ys_study_resume(const struct ys_study_options *options, struct ys_store *store, int64_t study_id,
                          int *exit_code)
{
    struct ys_study study;
    ys_json *document = NULL, *trials = NULL;
    struct ys_trial_records stored = {0};
    struct ys_study_record told;
    struct ys_study_timing timing;
    ys_status status = ys_store_study_get(store, study_id, &document);
    ys_study_record_read(document, &told, &timing);
    if (status == YS_OK)
        status = ys_store_trials_load(store, study_id, &stored);
    if (status == YS_OK)
        status = check_trials(&told, &stored);
    if (status == YS_OK)
        trials = as_in_job(&stored);
    if (status == YS_OK)
        status = ys_study_open_again(document, trials, options, store, &study);
    if (status == YS_OK) {
        study.id = study_id;
        status = ys_study_not_kept(resume_opened(&study, &told, &timing, &stored, trials, exit_code));
        ys_study_close(&study);
    }
    ys_json_free(document);
    ys_trial_records_fini(&stored);
    ys_json_free(trials);
    return status == YS_EFORMAT ? YS_EIO : status; /* damaged results */
}
