#include "study/evaluate_run.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "base/process/forked_task.h"
#include "probe/host.h"
#include "study/make_checks.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double EVALUATION_LIMIT_S = 3600;

static ys_status read_evaluation(const char *text, size_t size, struct ys_facts_evaluation **evaluation)
{
    static const char label[] = "the evaluator's answer";
    ys_json *json = NULL;
    YS_TRY(ys_json_parse(text, size, label, &json));
    struct ys_facts_evaluation *made = ys_alloc(1, sizeof *made);
    ys_status status = ys_record_read(&ys_facts_evaluation_record, json, label, made);
    ys_json_free(json);
    if (status == YS_OK)
        *evaluation = made;
    else
        ys_free(made);
    return status;
}

/* The evaluator's answer: accuracy and loss of `weights` on the test rows, computed by the built-in engine for every
 * framework alike. */
static ys_status ask_evaluator(const struct ys_study *study, const struct ys_work *work, const char *weights,
                               struct ys_facts_evaluation **evaluation)
{
    char threads[16];
    snprintf(threads, sizeof threads, "%d", ys_host_cpus_allowed());
    const char *argv[] = {study->oracle->argv[0],
                          "evaluate",
                          "--graph",
                          work->graph_path,
                          "--weights",
                          weights,
                          "--data",
                          work->test_path,
                          "--threads",
                          threads,
                          NULL};
    struct ys_child_options options = {.is_own = true, .timeout_s = EVALUATION_LIMIT_S};
    struct ys_buf output = {0};
    int code = 0;
    uint64_t start_ns = ys_time_ns();
    ys_status status = ys_child_run(argv, &options, &output, &code);
    if (status == YS_OK && code != 0)
        status = ys_fail(YS_EIO, "the evaluator ended with exit code %d", code);
    if (status == YS_OK)
        status = read_evaluation(ys_buf_text(&output), output.size, evaluation);
    if (status == YS_OK)
        (*evaluation)->seconds = (double)(ys_time_ns() - start_ns) * 1e-9;
    ys_buf_free(&output);
    return status;
}

static bool is_ours(ys_status status)
{
    return status == YS_OK || status == YS_EINTR;
}

/* By which weights that are gone can be said to be the same bits as others. */
static void note_hash(const char *path, struct ys_facts_evaluation *evaluation)
{
    char hash[YS_SHA256_TEXT];
    ys_status status = ys_sha256_file(path, hash);
    if (status == YS_OK)
        ys_set_text(&evaluation->weights_hash, hash);
}

/* Twice, where it breaks off. */
static ys_status ask_twice(const struct ys_study *study, const struct ys_work *work, const char *weights,
                           struct ys_facts_evaluation **evaluation)
{
    ys_status status = ask_evaluator(study, work, weights, evaluation);
    if (!is_ours(status))
        status = ask_evaluator(study, work, weights, evaluation);
    if (status == YS_OK)
        note_hash(weights, *evaluation);
    return status;
}

/* A failure is a fact of the trial, not the end of the study. */
static ys_status note(struct ys_trial *trial, const char *weights, ys_status status)
{
    if (status == YS_OK)
        ys_due_note(trial, YS_DUE_WEIGHTS, YS_DUE_PASS, NULL);
    if (is_ours(status))
        return status;
    ys_log_warn("the weights in %s could not be evaluated: %s", weights, ys_error());
    ys_due_note(trial, YS_DUE_WEIGHTS, YS_DUE_MISSING, ys_error());
    return YS_OK;
}

ys_status ys_weights_evaluate(const struct ys_study *study, struct ys_trial *trial, const struct ys_work *work,
                              const char *folder, const char *name, int64_t *weights_bytes,
                              struct ys_facts_evaluation **evaluation)
{
    if (!name)
        return YS_OK;
    struct stat file;
    char *path = ys_path_join(folder, name);
    if (stat(path, &file) == 0)
        *weights_bytes = file.st_size;
    ys_status status = note(trial, path, ask_twice(study, work, path, evaluation));
    /* Evaluated, a run's weights have said what they have to say; kept, they would fill the disk. */
    unlink(path);
    ys_free(path);
    return status;
}

/* A checkpoint that was judged. */
struct judged_checkpoint {
    int64_t step;
    struct ys_facts_evaluation *evaluation; /* owned; NULL: it could not be evaluated */
};

struct ys_until {
    struct ys_study *study;
    struct ys_trial *trial;
    const struct ys_work *work;
    struct ys_goal goal;
    struct ys_run_until asks;
    struct ys_aside aside; /* that evaluates */
    char *path;            /* what it does, or did last */
    struct judged_checkpoint *judged;
    size_t count, capacity;
    bool is_told; /* they are the run's */
};

/* In a copy of this process, which waits for the evaluator while the session's loop goes on. */
static ys_status evaluate_aside(void *context, struct ys_buf *told)
{
    const struct ys_until *until = context;
    struct ys_facts_evaluation *evaluation = NULL;
    YS_TRY(ask_twice(until->study, until->work, until->path, &evaluation));
    ys_json *said = ys_record_json(&ys_facts_evaluation_record, evaluation);
    char *text = ys_json_dump(said, YS_JSON_COMPACT);
    ys_buf_puts(told, text);
    ys_free(text);
    ys_json_free(said);
    ys_record_fini(&ys_facts_evaluation_record, evaluation);
    ys_free(evaluation);
    return YS_OK;
}

static ys_status begin(void *of, int64_t step, const char *path, int *fd)
{
    struct ys_until *until = of;
    ys_set_text(&until->path, path);
    if (ys_aside_begin(evaluate_aside, until, &until->aside) != YS_OK)
        return ys_fail(YS_EINTERNAL, "%s", ys_error());
    until->judged = ys_grown(until->judged, until->count, &until->capacity, sizeof *until->judged);
    until->judged[until->count++] = (struct judged_checkpoint){.step = step};
    *fd = until->aside.fd;
    return YS_OK;
}

/* What a target is about; NaN: weights that were not evaluated have none. */
static double worth_of(const struct ys_goal *goal, const struct ys_facts_evaluation *evaluation)
{
    if (!evaluation)
        return NAN;
    switch ((enum ys_goal_metric)goal->metric) {
    case YS_GOAL_ACCURACY:
        return evaluation->count > 0 && evaluation->correct != YS_FIELD_NONE
                   ? (double)evaluation->correct / (double)evaluation->count
                   : evaluation->accuracy;
    case YS_GOAL_TEST_LOSS:
        return evaluation->loss;
    case YS_GOAL_BITS_PER_TOKEN:
        return evaluation->loss / M_LN2;
    }
    return NAN;
}

static ys_status end(void *of, bool *is_met)
{
    struct ys_until *until = of;
    struct judged_checkpoint *last = &until->judged[until->count - 1];
    struct ys_buf told = {0};
    ys_status status = ys_aside_end(&until->aside, &told);
    if (status == YS_OK)
        status = read_evaluation(ys_buf_text(&told), told.size, &last->evaluation);
    ys_buf_free(&told);
    status = note(until->trial, until->path, status);
    *is_met = status == YS_OK && ys_goal_is_met(&until->goal, worth_of(&until->goal, last->evaluation));
    return status;
}

ys_status ys_until_open(struct ys_study *study, struct ys_trial *trial, const struct ys_work *work,
                        struct ys_until **until)
{
    struct ys_goal goal;
    *until = NULL;
    if (!trial->record.keys.until)
        return YS_OK;
    YS_TRY(ys_goal_parse(trial->record.keys.until, &goal));
    struct ys_until *made = *until = ys_alloc(1, sizeof *made);
    *made = (struct ys_until){.study = study, .trial = trial, .work = work, .goal = goal, .aside = YS_ASIDE_NONE};
    made->asks = (struct ys_run_until){begin, end, made};
    return YS_OK;
}

const struct ys_run_until *ys_until_asks(const struct ys_until *until)
{
    return until ? &until->asks : NULL;
}

ys_status ys_until_check_start(struct ys_until *until, char **reason)
{
    struct ys_study *study = until->study;
    struct ys_facts_evaluation *evaluation = NULL;
    char target[YS_GOAL_TEXT], worth[YS_GOAL_TEXT];
    ys_goal_text(&until->goal, target);
    char *asked = ys_format("%s: %s", until->work->weights_path, target);
    bool is_known = study->start_below && strcmp(study->start_below, asked) == 0;
    ys_status status = is_known ? YS_OK : ys_study_find_oracle(study);
    if (status == YS_OK && !is_known)
        status = note(until->trial, until->work->weights_path,
                      ask_twice(study, until->work, until->work->weights_path, &evaluation));
    const double value = worth_of(&until->goal, evaluation);
    ys_goal_value_text(&until->goal, value, worth);
    if (evaluation && ys_goal_is_met(&until->goal, value))
        *reason = ys_format("until = %s is met before the first step: the initial weights have %s; ask for more",
                            target, worth);
    else if (evaluation)
        ys_set_text(&study->start_below, asked);
    if (evaluation)
        ys_record_fini(&ys_facts_evaluation_record, evaluation);
    ys_free(evaluation);
    ys_free(asked);
    return status;
}

/* Weights of step `step`, in the order of steps. */
static void see(const struct ys_goal *goal, int64_t step, double value, struct ys_facts_target *target)
{
    const bool is_better = isnan(target->best) || (ys_goal_rises(goal) ? value > target->best : value < target->best);
    if (!isnan(value) && is_better) {
        target->best = value;
        target->best_step = step;
    }
    if (target->step == YS_FIELD_NONE && ys_goal_is_met(goal, value))
        target->step = step;
    else if (target->step == YS_FIELD_NONE)
        target->before = step;
}

void ys_until_tell(struct ys_until *until, struct ys_facts *facts)
{
    if (!until || until->is_told)
        return;
    struct ys_facts_target *target = facts->target = ys_alloc(1, sizeof *target);
    struct ys_facts_checkpoint *checkpoints = facts->checkpoints.items;
    ys_record_init(&ys_facts_target_record, target);
    target->before = 0;
    ys_set_text(&target->until, until->trial->record.keys.until);
    for (size_t i = 0; i < until->count; i++) {
        struct judged_checkpoint *judged = &until->judged[i];
        see(&until->goal, judged->step, worth_of(&until->goal, judged->evaluation), target);
        for (size_t k = 0; k < facts->checkpoints.count && judged->evaluation; k++)
            if (checkpoints[k].step == judged->step && !checkpoints[k].evaluation) {
                checkpoints[k].evaluation = judged->evaluation;
                judged->evaluation = NULL;
            }
    }
    until->is_told = true;
}

void ys_until_look_again(const char *folder, struct ys_facts *facts)
{
    struct ys_facts_checkpoint *checkpoints = facts->checkpoints.items;
    for (size_t i = 0; i < facts->checkpoints.count; i++) {
        const struct ys_facts_evaluation *evaluation = checkpoints[i].evaluation;
        char *path = ys_path_join(folder, checkpoints[i].path), hash[YS_SHA256_TEXT];
        struct stat file;
        if (stat(path, &file) == 0)
            checkpoints[i].weights_bytes = file.st_size;
        if (evaluation && evaluation->weights_hash &&
            (ys_sha256_file(path, hash) != YS_OK || strcmp(hash, evaluation->weights_hash) != 0)) {
            char *message = ys_format("it changed the checkpoint of step %lld after its weights had been evaluated",
                                      (long long)checkpoints[i].step);
            facts->status = YS_RUN_WRONG_OUTPUT;
            ys_set_text(&facts->message, message);
            ys_free(message);
        }
        unlink(path);
        ys_free(path);
    }
}

void ys_until_conclude(const struct ys_until *until, bool is_checked, struct ys_facts *facts)
{
    struct ys_facts_target *target = facts->target;
    char wanted[YS_GOAL_TEXT], best[YS_GOAL_TEXT];
    if (facts->status != YS_RUN_OK)
        return;
    if (target->step == YS_FIELD_NONE && !is_checked) {
        facts->status = YS_RUN_CANCELLED;
        ys_set_text(&facts->message, "nobody knows whether its last weights meet the target: that was interrupted");
        return;
    }
    if (target->step == YS_FIELD_NONE)
        see(&until->goal, facts->steps_done, worth_of(&until->goal, facts->evaluation), target);
    if (target->step != YS_FIELD_NONE)
        return;
    ys_goal_text(&until->goal, wanted);
    ys_goal_value_text(&until->goal, target->best, best);
    char *message = isnan(target->best)
                        ? ys_format("%s was not reached in %lld steps: no weights of it could be evaluated", wanted,
                                    (long long)facts->steps_done)
                        : ys_format("%s was not reached in %lld steps: the best was %s after %lld", wanted,
                                    (long long)facts->steps_done, best, (long long)target->best_step);
    facts->status = YS_RUN_NOT_CONVERGED;
    ys_set_text(&facts->message, message);
    ys_free(message);
}

void ys_until_close(struct ys_until *until)
{
    struct ys_buf told = {0};
    if (!until)
        return;
    if (until->aside.pid) { /* of a run that broke off: nobody wants to know any more */
        kill(until->aside.pid, SIGKILL);
        (void)!ys_aside_end(&until->aside, &told);
    }
    ys_buf_free(&told);
    for (size_t i = 0; i < until->count; i++) {
        if (until->judged[i].evaluation)
            ys_record_fini(&ys_facts_evaluation_record, until->judged[i].evaluation);
        ys_free(until->judged[i].evaluation);
    }
    ys_free(until->judged);
    ys_free(until->path);
    ys_free(until);
}
