#include "study/evaluate_run.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "probe/host.h"
#include "study/make_checks.h"

#include <stdio.h>
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

/* Twice, where it breaks off. A failure is a fact of the trial, not the end of the study. */
static ys_status evaluate(const struct ys_study *study, struct ys_trial *trial, const struct ys_work *work,
                          const char *weights, struct ys_facts_evaluation **evaluation)
{
    ys_status status = ask_evaluator(study, work, weights, evaluation);
    if (!is_ours(status))
        status = ask_evaluator(study, work, weights, evaluation);
    if (status == YS_OK) {
        ys_due_note(trial, YS_DUE_WEIGHTS, YS_DUE_PASS, NULL);
        return YS_OK;
    }
    if (is_ours(status))
        return status;
    ys_log_warn("the weights in %s could not be evaluated: %s", weights, ys_error());
    *evaluation = NULL;
    ys_due_note(trial, YS_DUE_WEIGHTS, YS_DUE_MISSING, ys_error());
    return YS_OK;
}

/* By which weights that are gone can be said to be the same bits as others. */
static void note_hash(const char *path, struct ys_facts_evaluation *evaluation)
{
    char hash[YS_SHA256_TEXT];
    ys_status status = ys_sha256_file(path, hash);
    if (status == YS_OK)
        ys_set_text(&evaluation->weights_hash, hash);
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
    ys_status status = evaluate(study, trial, work, path, evaluation);
    if (status == YS_OK && *evaluation)
        note_hash(path, *evaluation);
    /* Evaluated, a run's weights have said what they have to say; kept, they would fill the disk. */
    unlink(path);
    ys_free(path);
    return status;
}
