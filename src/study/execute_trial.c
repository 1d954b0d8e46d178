#include "study/run_trial.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "framework/network_file.h"
#include "framework/start_env.h"
#include "metric/metric.h"
#include "session/checked_message.h"
#include "crew/ranks.h"
#include "run/execute.h"
#include "crew/run_spec.h"
#include "session/session.h"
#include "run/turns.h"
#include "crew/self_report.h"
#include "prepare/agreement.h"
#include "prepare/attacked_framework.h"
#include "study/attack_run.h"
#include "study/audit_answers.h"
#include "study/disk_full.h"
#include "study/disturbed.h"
#include "study/evaluate_run.h"
#include "study/make_checks.h"
#include "prepare/hosts.h"
#include "prepare/inputs.h"
#include "study/check_first_loss.h"
#include "study/past_runs.h"
#include "study/plausible_time.h"
#include "study/turn_group.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Behind the last save of an audited run: it has nothing more to say, and some take a second over their end. */
static const double AUDIT_STOP_GRACE_S = 0.001;

struct progress {
    struct ys_study *study;
    const struct ys_trial *trial;
    int64_t round;
    uint64_t start_ns, train_ns; /* when its training or answering was first heard of; 0: not yet */
};

/* How long the run under way will take in all, as what it has trained tells; NAN before that. */
static double whole_run_s(struct progress *p, enum ys_stage stage, double fraction, double spent_s)
{
    const bool trains = stage == YS_STAGE_TRAIN || stage == YS_STAGE_INFER;
    if (trains && p->train_ns == 0)
        p->train_ns = ys_time_ns();
    const double before_s = (double)(p->train_ns - p->start_ns) * 1e-9;
    return trains && fraction > 0.1 ? before_s + (spent_s - before_s) / fraction : NAN;
}

static void on_progress(void *context, enum ys_stage stage, double fraction)
{
    struct progress *p = context;
    const struct ys_study *study = p->study;
    char left[40] = "time left unknown", span[32];
    const double spent_s = (double)(ys_time_ns() - p->start_ns) * 1e-9;
    const struct ys_live_trial *current = study->live.trials ? &study->live.trials[p->trial - study->set.items] : NULL;
    double left_s = ys_live_left_s(&study->live, current, spent_s, whole_run_s(p, stage, fraction, spent_s));
    if (study->deadline_ns)
        left_s = fmin(left_s, fmax(((double)study->deadline_ns - (double)ys_time_ns()) * 1e-9, 0));
    if (left_s > 0)
        snprintf(left, sizeof left, "%s %s left", study->decides ? "at most" : "about",
                 ys_span_text(left_s, span, sizeof span));
    ys_progress("round %" PRId64 "/%" PRId64 " run %" PRId64 "/%" PRId64 " %s: %s %.0f%%, %s", p->round + 1,
                study->rounds, study->runs_done + 1, study->runs_total, p->trial->record.id, ys_stage_name(stage),
                fraction * 100, left);
}

/* One run under way, and what it needs. */
struct trial_run {
    struct ys_study *study;
    struct ys_trial *trial;
    const struct ys_work *work;
    int64_t round;
    const char *folder;
    struct ys_plan own, *plan;        /* `plan` is `own`, or that of an audit; NULL: it is not yet made */
    const struct ys_run_audit *audit; /* NULL: a run that counts */
    bool is_harmed;                   /* its inputs changed, which nothing kept it from doing */
    bool agrees;                      /* of same weights: `agreement` is open */
    struct ys_agreement agreement;
    struct ys_teacher teacher; /* of same weights */
    bool attacks;              /* mode = attack: `attacked` is open */
    struct ys_attacked_framework attacked;
    bool stores; /* mode = size: `stored` is open */
    struct ys_stored_run stored;
    struct ys_until *until; /* its target; NULL: none, or an audit, which goes no farther than the run did */
    /* What it is executed with. */
    struct progress progress;
    struct ys_hosts hosts;
    char **env;
    struct ys_run_spec spec;
};

/* What was predicted with the common weights, as a fact of the run. */
static ys_status check_agreement(const struct trial_run *one, struct ys_facts *facts)
{
    struct ys_facts_agreement *found = ys_alloc(1, sizeof *found);
    char *folder = ys_path_join(one->folder, "agreement");
    ys_status status = ys_fs_make_dirs(folder);
    if (status == YS_OK)
        status = ys_agreement_find(&one->agreement, one->trial, one->work, one->plan, folder, found);
    if (status != YS_OK) {
        ys_free(folder);
        ys_free(found);
        return status;
    }
    if (found->reason)
        ys_log_warn("%s: its predictions could not be had: %s", one->trial->record.id, found->reason);
    facts->agreement = found;
    status = ys_integers_check(one->study, one->trial, &one->agreement, one->work, one->plan, folder, facts);
    ys_free(folder);
    return status;
}

/* What the weights of a training are worth, and withstand. */
static ys_status check_weights(struct trial_run *one, struct ys_facts *facts)
{
    const struct ys_study *study = one->study;
    struct ys_trial *trial = one->trial;
    struct ys_facts_checkpoint *checkpoints = facts->checkpoints.items;
    if (one->until)
        ys_until_look_again(one->folder, facts);
    for (size_t i = 0; !one->until && i < facts->checkpoints.count; i++)
        YS_TRY(ys_weights_evaluate(study, trial, one->work, one->folder, checkpoints[i].path,
                                   &checkpoints[i].weights_bytes, &checkpoints[i].evaluation));
    YS_TRY(
        ys_weights_attack(one->study, trial, one->work, one->round, one->folder, facts)); /* evaluated, they are gone */
    return ys_weights_evaluate(study, trial, one->work, one->folder, facts->weights, &facts->weights_bytes,
                               &facts->evaluation);
}

/* A run whose weights nobody looked at says too little to be one: `resume` makes it again. */
static void cancel_unchecked(struct ys_facts *facts)
{
    facts->status = YS_RUN_CANCELLED;
    ys_set_text(&facts->message, "the evaluation of its weights was interrupted");
}

static ys_status check_run(struct trial_run *one, struct ys_facts *facts)
{
    struct ys_trial *trial = one->trial;
    if (facts->status != YS_RUN_OK || trial->framework->no_work)
        return YS_OK;
    if (one->attacks)
        YS_TRY(ys_outcomes_check(one->study, trial, &one->attacked, one->agreement.taught.key, facts));
    if (one->stores)
        return ys_stored_check(trial, &one->stored, facts);
    if (one->agrees)
        return check_agreement(one, facts);
    const ys_status status = check_weights(one, facts);
    if (one->until)
        ys_until_conclude(one->until, status == YS_OK, facts);
    if (status == YS_EINTR && facts->status == YS_RUN_OK)
        cancel_unchecked(facts);
    return status;
}

struct proven {
    const ys_json *features;
};
static const struct ys_field proven_fields[] = {
    YS_FIELD(struct proven, features, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "that its sessions told")};
static const struct ys_record proven_record = YS_RECORD("proof", struct proven, proven_fields);

/* Whoever can do in a proof what he cannot in a run leaves out the checks that go by it. */
static void check_told(const struct ys_trial *trial, struct ys_facts *facts)
{
    struct proven proof;
    char text[300] = "";
    ys_record_glance(&proven_record, trial->record.proof, &proof);
    const ys_json *told = proof.features;
    if (facts->said.no_work && !trial->framework->no_work)
        snprintf(text, sizeof text, "it says that it does no work, and its recipe does not (no_work = yes)");
    for (size_t i = 0; !text[0] && i < ys_json_size(told); i++) {
        const char *feature = ys_json_text(ys_json_at(told, i), "");
        if (!ys_message_has_feature(facts->hello, feature))
            snprintf(
                text, sizeof text,
                "it told the feature \"%.100s\" in its proof and does not tell it in this run: an adapter tells the "
                "same in each of its sessions",
                feature);
    }
    if (facts->status != YS_RUN_OK || !text[0])
        return;
    facts->status = YS_RUN_PROTOCOL_ERROR;
    ys_set_text(&facts->message, text);
}

/* What it said meanwhile. What the oracle takes for it is no part of the run. */
static ys_status check_said(const struct trial_run *one, struct ys_run_record *record)
{
    uint64_t start_ns = ys_time_ns();
    ys_work_plan_here(one->trial, one->plan);
    check_told(one->trial, &record->facts);
    ys_status status = ys_losses_check(one->study, one->trial, one->work, one->plan, record);
    if (status == YS_OK)
        status = ys_losses_check_checkpoints(one->study, one->trial, one->plan, one->folder, record);
    if (status == YS_OK)
        status = ys_answers_audit(one->study, one->trial, one->round, one->plan, record);
    one->study->prepare_s += (double)(ys_time_ns() - start_ns) * 1e-9;
    return status;
}

static void specify(struct trial_run *one, bool has_nodes)
{
    struct ys_study *study = one->study;
    const struct ys_trial *trial = one->trial;
    const struct ys_trial_settings *keys = &trial->record.keys;
    one->progress = (struct progress){.study = study, .trial = trial, .round = one->round, .start_ns = ys_time_ns()};
    one->spec = (struct ys_run_spec){
        .plan = one->plan,
        .requests = keys->requests == YS_FIELD_NONE ? 0 : keys->requests,
        .nodes = has_nodes ? keys->nodes : 1,
        .launcher = has_nodes ? keys->launch : YS_LAUNCHER_LOCAL,
        .hosts = one->hosts.items,
        .names_cpus = keys->cpus.count > 0,
        .listens = keys->listen == YS_ON,
        .round = one->round,
        .audit = one->audit,
        .attack = one->attacks ? &one->attacked.asks : NULL,
        .stored = one->stores ? &one->stored.stored : NULL,
        .until = ys_until_asks(one->until),
        .looks_at_answers = ys_answers_are_audited(study, trial),
        .on_progress = on_progress,
        .context = &one->progress,
        .launch = {.argv = (const char *const *)trial->framework->argv,
                   .env = (const char *const *)one->env,
                   .folder = one->folder,
                   .kept = trial->framework->cache,
                   .cpus = trial->cpus,
                   .cpu_count = trial->cpu_count,
                   .stall_limit_s = ys_trial_limit_s(keys->stall_limit),
                   .run_time_limit_s = ys_study_run_limit_s(study, keys),
                   .memory_limit_bytes = keys->memory_limit == YS_FIELD_NONE ? 0 : (uint64_t)keys->memory_limit,
                   .cpu_time_limit_s = ys_trial_limit_s(keys->cpu_time_limit),
                   .stop_grace_s = one->audit ? AUDIT_STOP_GRACE_S : 0,
                   .perf = keys->perf && !one->audit,
                   .sample_hz = keys->sample_hz},
    };
}

static ys_status make_ready(struct trial_run *one)
{
    const struct ys_trial *trial = one->trial;
    const struct ys_trial_settings *keys = &trial->record.keys;
    const bool has_nodes = !one->audit && keys->nodes != YS_FIELD_NONE;
    const int64_t sharers = has_nodes ? ys_settings_sharers(keys) : one->plan->dist.world;
    ys_start_env(trial->framework, (int)ys_rank_threads(trial->threads, sharers), one->plan->options, trial->record.env,
                 &one->env);
    if (has_nodes && keys->launch == YS_LAUNCHER_SSH)
        YS_TRY(ys_hosts_read(keys->hosts, keys->nodes, &one->hosts));
    specify(one, has_nodes);
    return YS_OK;
}

/* The plan, and of same weights what it points to. */
static ys_status plan_run(struct trial_run *one)
{
    const uint64_t seed = one->study->seed + (uint64_t)one->round;
    if (!one->plan) {
        YS_TRY(ys_work_plan(one->work, one->trial, seed, one->folder, &one->own));
        one->plan = &one->own;
    }
    if (!ys_trial_same_weights(one->trial) || one->trial->framework->no_work)
        return YS_OK;
    one->teacher = (struct ys_teacher){one->study->oracle, ys_study_run_limit_s(one->study, &one->trial->record.keys)};
    YS_TRY(ys_agreement_open(&one->teacher, one->trial, one->work, seed, &one->agreement));
    one->agrees = true;
    if (one->agreement.taught.failure)
        return YS_OK;
    ys_agreement_plan(&one->agreement, one->trial, one->plan);
    if (one->trial->record.keys.mode == YS_MODE_SIZE) {
        YS_TRY(ys_stored_run_open(&one->teacher, one->trial, one->plan, one->folder, one->agreement.taught.key,
                                  &one->stored));
        one->stores = true;
        return YS_OK;
    }
    if (one->trial->record.keys.mode != YS_MODE_ATTACK)
        return YS_OK;
    YS_TRY(ys_attacked_framework_open(&one->teacher, one->trial, one->plan, one->folder, seed, &one->attacked));
    one->attacks = true;
    one->attacked.on_progress = on_progress;
    one->attacked.context = &one->progress;
    return YS_OK;
}

static struct ys_inputs inputs_of(const struct trial_run *one)
{
    return (struct ys_inputs){
        .trial = one->trial, .work = one->work, .agreement = one->agrees ? &one->agreement : NULL};
}

/* One that nothing kept from writing its inputs is held against their bytes, before anything is made of them. Who
 * changed them cannot be told, so it is the run that is in doubt, and each that read them at the same time. */
static ys_status check_unguarded(struct trial_run *one, struct ys_facts *facts)
{
    const struct ys_inputs inputs = inputs_of(one);
    if (!facts->observation || facts->observation->guarded)
        return YS_OK;
    ys_status status = ys_inputs_check_bytes(&inputs);
    if (status != YS_EFORMAT)
        return status;
    one->is_harmed = true;
    char *message = ys_format(
        "%s while it ran, and nothing kept it from writing there (yardstick doctor: guarded files)", ys_error());
    if (facts->status != YS_RUN_CANCELLED) {
        facts->status = YS_RUN_WRONG_OUTPUT;
        ys_set_text(&facts->message, message);
    }
    ys_free(message);
    return YS_OK;
}

/* What comes after it gets them as they were. */
static ys_status mend(const struct trial_run *one)
{
    const struct ys_inputs inputs = inputs_of(one);
    return one->is_harmed ? ys_inputs_mend_data(&inputs) : YS_OK;
}

/* A run whose inputs changed under it says nothing: it is repeated, as one that was interrupted is. */
static ys_status check_inputs(const struct trial_run *one, struct ys_facts *facts)
{
    const struct ys_inputs inputs = inputs_of(one);
    ys_status status = ys_inputs_check(&inputs);
    if (status == YS_EIO) {
        facts->status = YS_RUN_CANCELLED;
        ys_set_text(&facts->message, ys_error());
    }
    return status;
}

/* A run that has nothing to do to meet its target measures nothing: the record is then complete. */
static ys_status open_target(struct trial_run *one, struct ys_run_record *record)
{
    char *reason = NULL;
    if (one->audit)
        return YS_OK;
    YS_TRY(ys_until_open(one->study, one->trial, one->work, &one->until));
    if (one->until)
        YS_TRY(ys_until_check_start(one->until, &reason));
    if (!reason)
        return YS_OK;
    ys_facts_init(&record->facts);
    record->has_facts = true;
    record->facts.status = YS_RUN_UNSUPPORTED;
    record->facts.stage = YS_STAGE_START;
    record->facts.round = one->round;
    record->facts.message = reason;
    return YS_OK;
}

/* Where the common weights could not be trained, how that failed is how this run did: the record is then complete. */
static ys_status prepare(struct trial_run *one, struct ys_run_record *record)
{
    uint64_t start_ns = ys_time_ns();
    ys_status status = plan_run(one);
    if (status == YS_OK)
        status = open_target(one, record);
    if (status == YS_OK)
        status = ys_framework_model_file(one->trial->framework, one->plan);
    const struct ys_inputs inputs = inputs_of(one);
    if (status == YS_OK)
        status = ys_inputs_use(&inputs);
    one->study->prepare_s += (double)(ys_time_ns() - start_ns) * 1e-9;
    if (status != YS_OK)
        return status;
    const struct ys_facts *failure =
        one->agreement.taught.failure ? one->agreement.taught.failure : one->stored.failure;
    if (!failure)
        return make_ready(one);
    status = ys_facts_copy(failure, &record->facts);
    record->has_facts = status == YS_OK;
    return status;
}

static void end_one(struct trial_run *one)
{
    ys_attacked_framework_close(&one->attacked);
    ys_stored_run_close(&one->stored);
    ys_until_close(one->until);
    ys_agreement_fini(&one->agreement);
    if (one->plan)
        ys_framework_model_file_remove(one->plan);
    ys_plan_fini(&one->own);
    ys_start_env_free(one->env);
    ys_hosts_fini(&one->hosts);
}

/* The log of a run that went well says little; a job may ask that it be dropped. */
static void drop_log(const struct ys_trial *trial, const char *folder, const struct ys_facts *facts)
{
    if (trial->record.keys.keep_log || facts->status != YS_RUN_OK)
        return;
    char *log = ys_path_join(folder, YS_LOG_NAME);
    unlink(log);
    ys_free(log);
}

/* A run, its metrics and what they decide of its trial: all or nothing. */
static ys_status put_run(struct ys_study *study, const struct ys_trial *trial, int64_t round, int attempt,
                         const struct ys_run_record *record, ys_json *metrics)
{
    int64_t run_id = 0;
    ys_json *facts = ys_record_json(&ys_facts_record, &record->facts);
    ys_status status =
        ys_store_run_put(study->store, trial->record.trial_id, round, attempt, facts, &record->series, &run_id);
    ys_json_free(facts);
    YS_TRY(status);
    YS_TRY(ys_metric_put(study->store, run_id, metrics));
    YS_TRY(ys_store_run_link(study->store, run_id));
    if (trial->due_changed && trial->record.proof)
        YS_TRY(ys_store_proof_put(study->store, trial->record.trial_id, trial->record.proof));
    return trial->given_up ? ys_store_trial_give_up(study->store, trial->record.trial_id, round, trial->given_up)
                           : YS_OK;
}

static ys_status store_run(struct ys_study *study, struct ys_trial *trial, int64_t round, int attempt,
                           const struct ys_run_record *record)
{
    ys_json *stored = ys_record_json(&ys_trial_record, &trial->record);
    ys_json *metrics = ys_metric_of_run(stored, &record->facts, &record->series);
    ys_json_free(stored);
    ys_status status = ys_store_begin(study->store);
    if (status == YS_OK)
        status = ys_store_end(study->store, put_run(study, trial, round, attempt, record, metrics));
    trial->due_changed &= status != YS_OK;
    if (status == YS_OK && record->facts.status == YS_RUN_OK)
        ys_live_add(&study->live.trials[trial - study->set.items], metrics);
    ys_json_free(metrics);
    return status;
}

static void warn_of_failure(const char *id, const struct ys_facts *facts, const char *folder)
{
    const char *stage = ys_stage_name(facts->stage);
    char said[160];
    ys_session_last_line(facts->log_tail, said, sizeof said);
    ys_log_warn("%s: %s in %s: %s%s%s%s%s%s", id, ys_run_status_name(facts->status), stage ? stage : "?",
                facts->message ? facts->message : "no message", said[0] ? "; its log ends with \"" : "", said,
                said[0] ? "\" and is " : "", said[0] ? folder : "", said[0] ? "/" YS_LOG_NAME : "");
}

/* Most warnings hold for every run: each is said once of a framework. All of them are stored. */
static void warn_once(struct ys_study *study, const struct ys_trial *trial, const char *warning)
{
    char *key = ys_format("%s: %s", trial->framework->spec, warning);
    if (!study->warned)
        study->warned = ys_json_object();
    if (!ys_json_get(study->warned, key))
        ys_log_warn("%s: %s", trial->record.id, warning);
    ys_json_set_bool(study->warned, key, true);
    ys_free(key);
}

static void note_seen(struct ys_trial *trial, const struct ys_facts *facts)
{
    const struct ys_facts_times *times = &facts->times;
    const int64_t needed[] = {times->exec_ns, times->opened_ns, times->train_ns, times->trained_ns,
                              facts->observed.rss_peak_bytes};
    if (facts->status != YS_RUN_OK || !facts->observation || !facts->observation->guarded)
        return;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
        if (needed[i] == YS_FIELD_NONE)
            return;
    trial->seen = (struct ys_trial_seen){.is_known = true,
                                         .start_s = (double)(times->opened_ns - times->exec_ns) * 1e-9,
                                         .train_s = (double)(times->trained_ns - times->train_ns) * 1e-9,
                                         .peak_bytes = facts->observed.rss_peak_bytes};
}

/* Once a run of it went well: where none does, it says itself what is wrong, and the oracle lacked the same. */
static void warn_of_proof(struct ys_trial *trial)
{
    if (trial->unproven)
        ys_log_warn("%s is not proven: %s", trial->record.id, trial->unproven);
    ys_free(trial->unproven);
    trial->unproven = NULL;
}

/* What this run's end means for the study and for the trial's later runs. */
static void judge(const struct trial_run *one, const struct ys_facts *facts)
{
    struct ys_study *study = one->study;
    struct ys_trial *trial = one->trial;
    const char *id = trial->record.id;
    char *const *warnings = facts->warnings.items;
    for (size_t i = 0; i < facts->warnings.count; i++)
        warn_once(study, trial, warnings[i]);
    bool lacks = facts->status == YS_RUN_UNSUPPORTED, failed = ys_run_status_is_failure(facts->status);
    if (failed || lacks)
        warn_of_failure(id, facts, one->folder);
    else
        warn_of_proof(trial);
    study->run_failed |= failed;
    study->runs_done += !lacks;
    ys_past_runs_count(trial, one->round, facts->status);
    note_seen(trial, facts);
    if (trial->given_up && !lacks)
        ys_log_warn("%s %s: its other runs are left out", id, trial->given_up);
}

/* What the run was asked to do, beside what it did: speeds in operations a second come from it. */
static void note_work(const struct ys_trial *trial, struct ys_facts *facts)
{
    struct ys_facts_work *work = facts->work ? facts->work : ys_alloc(1, sizeof *work);
    *work = (struct ys_facts_work){
        .parameters = trial->parameters, .multiply_adds = trial->multiply_adds, .positions = trial->positions};
    facts->work = work;
}

/* Of a run that the study's time limit ended. */
static void cancel_for_time(struct ys_study *study, struct ys_facts *facts)
{
    if (!study->deadline_ns || ys_time_ns() < study->deadline_ns || facts->status != YS_RUN_TIMEOUT_WALL)
        return;
    facts->status = YS_RUN_CANCELLED;
    ys_set_text(&facts->message, "the study's time limit passed");
    study->out_of_time = true; /* also when no other run would have followed */
}

/* The message of a run of several ranks names the one that wanted it, and its host. */
static ys_status fail_full(const struct trial_run *one, const struct ys_facts *facts)
{
    const bool is_named = facts->ranks.count > 0 && facts->message;
    return ys_fail(YS_EIO,
                   "no space left %s %s: free some, then `yardstick resume`; the run of %s that wanted it is not "
                   "stored, and will be made again",
                   is_named ? "for" : "in", is_named ? facts->message : ys_store_folder(one->study->store),
                   one->trial->record.id);
}

/* Checks, judges and stores what was recorded, `ran` being how running went. */
static ys_status conclude(struct trial_run *one, int attempt, struct ys_run_record *record, ys_status ran,
                          ys_status checked)
{
    const bool is_harmed = one->is_harmed;
    struct ys_study *study = one->study;
    struct ys_facts *facts = &record->facts;
    uint64_t check_ns = ys_time_ns();
    note_work(one->trial, facts);
    ys_until_tell(one->until, facts);
    if (study->keys.on_disturbance != YS_DISTURBANCE_IGNORE)
        study->round_untold |= ys_disturbed(one->trial->threads, facts) == YS_DISTURBED_UNTOLD;
    ys_plausible(&one->trial->record.keys, &study->peak, facts);
    ys_said_check(one->trial->framework->version, facts);
    if (ran == YS_OK && checked == YS_OK && !is_harmed)
        checked = check_said(one, record);
    if (ran == YS_OK && checked == YS_OK)
        checked = check_run(one, facts);
    ys_outcomes_keep(&one->attacked, facts);
    ys_status unchanged = is_harmed ? YS_OK : check_inputs(one, facts);
    if (one->agrees) /* no part of the run, as evaluating a training is */
        study->prepare_s += (double)(ys_time_ns() - check_ns) * 1e-9;
    if (ys_disk_stopped(one->trial, facts, one->folder))
        return fail_full(one, facts);
    if (unchanged != YS_OK)
        checked = unchanged;
    else if (checked == YS_EIO) /* a fact that the run should have is lacking */
        return checked;
    cancel_for_time(study, facts);
    char *message = ran != YS_OK || checked != YS_OK ? ys_strdup(ys_error()) : NULL;
    judge(one, facts);
    ys_status stored = store_run(study, one->trial, one->round, attempt, record);
    drop_log(one->trial, one->folder, facts);
    if (stored == YS_OK && message)
        ys_fail(ran != YS_OK ? ran : checked, "%s", message);
    ys_free(message);
    return stored != YS_OK ? stored : ran != YS_OK ? ran : checked;
}

/* The run is done, whatever came of it: the lines of the study under way have it. */
static void note_spent(const struct trial_run *one, double seconds)
{
    struct ys_study *study = one->study;
    const struct ys_trial *trial = one->trial;
    struct ys_live_trial *live = &study->live.trials[trial - study->set.items];
    live->done++;
    live->failed = trial->failures;
    live->over = trial->given_up != NULL;
    live->spent_s += seconds;
    live->spent_on++;
    ys_study_show_live(study);
}

ys_status ys_study_make_run_folder(const struct ys_study *study, const struct ys_trial *trial, int64_t round,
                                   int attempt, char **folder)
{
    uint32_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        return ys_fail(YS_EIO, "the kernel gives no random numbers: %s", strerror(errno));
    char *made = ys_format("%s/runs/r%" PRId64 "-t%" PRId64 "-a%d-%08" PRIx32, study->folder, round,
                           trial->record.index, attempt, number);
    ys_status status = ys_fs_make_dirs(made);
    if (status == YS_OK)
        *folder = made;
    else
        ys_free(made);
    return status;
}

/* The runs of a round that take turns; or one alone. */
struct run_group {
    size_t count;
    struct trial_run ones[YS_TURNS_MOST];
    struct ys_work works[YS_TURNS_MOST];
    char *folders[YS_TURNS_MOST];
    struct ys_run_record records[YS_TURNS_MOST];
};

static ys_status begin_one(struct run_group *group, struct ys_study *study, struct ys_trial *trial, int64_t round,
                           int attempt)
{
    const size_t i = group->count;
    YS_TRY(ys_study_prepare(study, trial, round, 0, &group->works[i]));
    struct trial_run *one = &group->ones[group->count++];
    *one = (struct trial_run){.study = study, .trial = trial, .work = &group->works[i], .round = round};
    YS_TRY(ys_study_make_run_folder(study, trial, round, attempt, &group->folders[i]));
    one->folder = group->folders[i];
    return prepare(one, &group->records[i]);
}

static ys_status execute(struct run_group *group)
{
    struct ys_run_spec specs[YS_TURNS_MOST];
    struct ys_turns turns;
    if (group->count == 1)
        return group->records[0].has_facts ? YS_OK : ys_run_execute(&group->ones[0].spec, &group->records[0]);
    for (size_t i = 0; i < group->count; i++) {
        specs[i] = group->ones[i].spec;
        specs[i].by_turns = true;
    }
    ys_turn_group_turns(group->ones[0].study, group->ones[0].round, &turns);
    for (size_t from = 0, started; from < group->count; from += started) {
        YS_TRY(ys_turns_execute(&specs[from], group->count - from, &turns, &group->records[from], &started));
        if (started < group->count - from)
            ys_log_warn("%zu of %zu trials take turns: there is no memory for more of them at a time", started,
                        group->count - from);
    }
    return YS_OK;
}

/* One that was done before the others were interrupted is not checked any more, and so it is none. */
static void end_with_others(ys_status ran, struct ys_facts *facts)
{
    if (ran == YS_OK || facts->status != YS_RUN_OK)
        return;
    facts->status = YS_RUN_CANCELLED;
    ys_set_text(&facts->message, "those that it took turns with were interrupted");
}

/* Of all before any of them is mended. */
static ys_status check_inputs_of_all(struct run_group *group)
{
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < group->count; i++)
        if (group->records[i].has_facts)
            status = check_unguarded(&group->ones[i], &group->records[i].facts);
    for (size_t i = 0; status == YS_OK && i < group->count; i++)
        status = mend(&group->ones[i]);
    return status;
}

static ys_status conclude_group(struct run_group *group, int attempt, ys_status ran)
{
    char *message = ran != YS_OK ? ys_strdup(ys_error()) : NULL;
    const ys_status checked = check_inputs_of_all(group);
    ys_status status = ran;
    for (size_t i = 0; i < group->count; i++) {
        struct ys_run_record *record = &group->records[i];
        ys_status concluded = YS_OK;
        if (record->has_facts && ran != YS_OK)
            ys_fail(ran, "%s", message);
        if (record->has_facts && group->count > 1)
            end_with_others(ran, &record->facts);
        if (record->has_facts)
            concluded = conclude(&group->ones[i], attempt, record, ran, checked);
        else if (ran == YS_OK)
            concluded = ys_fail(YS_EINTERNAL, "a run left no record");
        if (status == YS_OK && concluded != YS_OK) {
            status = concluded;
            ys_free(message);
            message = ys_strdup(ys_error());
        }
    }
    if (status != YS_OK)
        ys_fail(status, "%s", message);
    ys_free(message);
    return status;
}

ys_status ys_study_run_group(struct ys_study *study, struct ys_trial *const *trials, size_t count, int64_t round,
                             int attempt)
{
    const double prepared_s = study->prepare_s;
    struct run_group *group = ys_alloc(1, sizeof *group);
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < count; i++)
        status = begin_one(group, study, trials[i], round, attempt);
    const uint64_t start_ns = ys_time_ns();
    if (status == YS_OK)
        status = conclude_group(group, attempt, execute(group));
    const double each_s = (double)(ys_time_ns() - start_ns) * 1e-9 / (double)count;
    for (size_t i = 0; i < group->count; i++) {
        if (group->folders[i])
            ys_store_sweep_run(group->folders[i], NULL);
        note_spent(&group->ones[i], each_s);
        ys_run_record_fini(&group->records[i]);
        end_one(&group->ones[i]);
        ys_free(group->folders[i]);
        ys_work_fini(&group->works[i]);
    }
    study->prepare_in_rounds_s += study->prepare_s - prepared_s;
    ys_free(group);
    return status;
}

/* That it had to be ended is no failure of a run that was given no time to end. */
static void overlook_end(const struct trial_run *one, struct ys_facts *facts)
{
    if (!one->audit || facts->status != YS_RUN_STALLED || facts->stage != YS_STAGE_STOP)
        return;
    facts->status = YS_RUN_OK;
    ys_set_text(&facts->message, NULL);
}

ys_status ys_study_run_again(struct ys_study *study, struct ys_trial *trial, const struct ys_work *work, int64_t round,
                             const char *folder, const struct ys_run_audit *audit, struct ys_plan *plan,
                             struct ys_run_record *record)
{
    struct trial_run one = {
        .study = study, .trial = trial, .work = work, .round = round, .folder = folder, .plan = plan, .audit = audit};
    ys_status status = prepare(&one, record);
    if (status == YS_OK && !record->has_facts)
        status = ys_run_execute(&one.spec, record);
    if (record->has_facts)
        overlook_end(&one, &record->facts);
    if (status == YS_OK && record->has_facts)
        status = check_unguarded(&one, &record->facts);
    if (status == YS_OK)
        status = mend(&one);
    if (status == YS_OK && !one.is_harmed)
        status = check_said(&one, record);
    end_one(&one);
    return status;
}
