#include "study/attack_run.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "probe/host.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of an attack that hangs: C&W on thousands of images takes hours. */
static const double ATTACK_LIMIT_S = 24 * 3600.0;

struct waiting {
    const char *id;
    uint64_t start_ns;
};

static void on_wait(void *context)
{
    const struct waiting *waiting = context;
    ys_progress("%s: its weights are attacked: %.0f s", waiting->id, (double)(ys_time_ns() - waiting->start_ns) * 1e-9);
}

/* Lines are what it says of how far it is, and at last the answer, a line that begins with a brace; or, where it fails,
 * why. */
static const char *last_line(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        text[--length] = 0;
    const char *newline = strrchr(text, '\n');
    return newline ? newline + 1 : text;
}

static ys_status read_answer(const char *line, struct ys_robustness **found)
{
    static const char label[] = "the attacks' answer";
    ys_json *json = NULL;
    YS_TRY(ys_json_parse(line, strlen(line), label, &json));
    struct ys_robustness *made = ys_alloc(1, sizeof *made);
    const ys_status status = ys_record_read(&ys_robustness_record, json, label, made);
    ys_json_free(json);
    if (status == YS_OK)
        *found = made;
    else
        ys_free(made);
    return status;
}

static double limit_s(const struct ys_study *study)
{
    if (!study->deadline_ns)
        return ATTACK_LIMIT_S;
    return fmax(((double)study->deadline_ns - (double)ys_time_ns()) * 1e-9, 1);
}

static ys_status ask(const struct ys_study *study, const struct ys_trial *trial, const char *const *argv,
                     struct ys_robustness **found)
{
    struct waiting waiting = {trial->record.id, ys_time_ns()};
    const struct ys_child_options options = {
        .is_own = true, .merge_stderr = true, .timeout_s = limit_s(study), .on_wait = on_wait, .context = &waiting};
    struct ys_buf output = {0};
    int code = 0;
    ys_status status = ys_child_run(argv, &options, &output, &code);
    ys_progress_clear();
    char *text = ys_strdup(ys_buf_text(&output));
    const char *line = last_line(text);
    if (status == YS_OK)
        status = code == 0 ? read_answer(line, found)
                           : ys_fail(YS_EIO, "they ended with exit code %d: %s", code, *line ? line : "no message");
    ys_free(text);
    ys_buf_free(&output);
    return status;
}

/* The verb and its flags, each with a value. */
static ys_status attack(const struct ys_study *study, const struct ys_trial *trial, const struct ys_work *work,
                        int64_t round, const char *weights, struct ys_robustness **found)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    char rows[24], restarts[24], threads[24], seed[24];
    snprintf(rows, sizeof rows, "%" PRId64, keys->attack_rows);
    snprintf(restarts, sizeof restarts, "%" PRId64, keys->attack_restarts);
    snprintf(threads, sizeof threads, "%d", ys_host_cpus_allowed());
    snprintf(seed, sizeof seed, "%" PRIu64, study->seed + (uint64_t)round);
    const char *argv[] = {study->oracle->argv[0],
                          "attack",
                          "--graph",
                          work->graph_path,
                          "--weights",
                          weights,
                          "--data",
                          work->test_path,
                          "--rows",
                          rows,
                          "--threads",
                          threads,
                          "--attack",
                          keys->attack,
                          "--restarts",
                          restarts,
                          "--seed",
                          seed,
                          NULL,
                          NULL,
                          NULL};
    if (keys->attack_curve) {
        argv[sizeof argv / sizeof argv[0] - 3] = "--curve";
        argv[sizeof argv / sizeof argv[0] - 2] = keys->attack_curve;
    }
    return ask(study, trial, argv, found);
}

/* What went wrong is told of the run, which is made again where somebody stopped it. */
static ys_status settle(const struct ys_trial *trial, ys_status status, struct ys_facts *facts)
{
    if (status == YS_OK)
        return YS_OK;
    ys_set_text(&facts->robustness->reason, ys_error());
    if (status != YS_EINTR) {
        ys_log_warn("%s: the attacks on its weights: %s", trial->record.id, ys_error());
        return YS_OK;
    }
    facts->status = YS_RUN_CANCELLED;
    ys_set_text(&facts->message, "the attacks on its weights were interrupted");
    return status;
}

ys_status ys_weights_attack(struct ys_study *study, const struct ys_trial *trial, const struct ys_work *work,
                            int64_t round, const char *folder, struct ys_facts *facts)
{
    if (!trial->record.keys.attack || !facts->weights)
        return YS_OK;
    const uint64_t start_ns = ys_time_ns();
    struct ys_facts_robustness *robustness = facts->robustness = ys_alloc(1, sizeof *robustness);
    ys_record_init(&ys_facts_robustness_record, robustness);
    char *weights = ys_path_join(folder, facts->weights);
    const ys_status status = attack(study, trial, work, round, weights, &robustness->found);
    ys_free(weights);
    robustness->attack_s = (double)(ys_time_ns() - start_ns) * 1e-9;
    study->attack_s += robustness->attack_s;
    study->attack_in_rounds_s += robustness->attack_s;
    return settle(trial, status, facts);
}
