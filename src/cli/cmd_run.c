/* run, check, verify, resume. */
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/result.h"
#include "report/report.h"
#include "study/study.h"

#include <stdio.h>
#include <string.h>

/* The job that the command line names: a file, flags, or both. */
static ys_status load_job(const struct ys_args *args, struct ys_job *job)
{
    struct ys_job_hooks hooks = ys_study_job_hooks(args->recipe_dirs);
    if (args->word_count == 0 && args->flags.count == 0)
        return ys_fail(YS_EINVAL, "%s needs a study file or flags; `yardstick init` writes an example", args->verb);
    if (args->word_count && strcmp(args->words[0], "-") != 0 && !ys_fs_exists(args->words[0]))
        return ys_fail(YS_EINVAL, "there is no study file %s; `yardstick init %s` writes an example", args->words[0],
                       args->words[0]);
    ys_status status =
        ys_job_load(args->word_count ? args->words[0] : NULL, args->flags.items, args->flags.count, &hooks, job);
    return status == YS_EIO ? YS_EINVAL : status; /* a job file that cannot be read is the user's to mend */
}

static struct ys_study_options study_options(const struct ys_args *args)
{
    return (struct ys_study_options){
        .recipe_dirs = args->recipe_dirs,
        .command = args->command,
        .fresh_proofs = args->fresh,
        .trace = args->trace,
    };
}

static const char *job_results(const struct ys_args *args, const struct ys_job *job)
{
    const char *chosen = ys_json_get_text(job->study, "results", NULL);
    return chosen ? chosen : ys_command_results(args);
}

/* Results that are damaged or of a newer version cannot be written, whoever's mistake that is. */
static ys_status open_for_writing(const char *folder, struct ys_store **store)
{
    ys_status status = ys_store_open(folder, YS_STORE_WRITE, store);
    return status == YS_EFORMAT ? YS_EIO : status;
}

/* What a study leaves behind: its report and its table. The study's own exit code wins unless they cannot be written.
 */
static int show_end(const struct ys_args *args, struct ys_store *store, int64_t study_id, int exit_code)
{
    char *path = NULL;
    if (ys_result_write_report(args, store, study_id, &path) != YS_OK)
        return ys_command_fail(YS_EIO);
    int printed = ys_result_print(args, store, study_id);
    ys_log_info("report: %s", path);
    ys_free(path);
    return printed ? printed : exit_code;
}

/* Everything is stored, so the store is let go before: from here on this is a reader like `show`, which a signal ends.
 */
static int finish(const struct ys_args *args, struct ys_store **store, int64_t study_id, int exit_code)
{
    char *folder = ys_strdup(ys_store_folder(*store));
    ys_store_close(*store);
    *store = NULL;
    ys_stop_release(exit_code > 128 ? exit_code - 128 : 0);
    ys_status status = folder ? ys_store_open(folder, YS_STORE_READ, store) : ys_out_of_memory();
    ys_free(folder);
    return status == YS_OK ? show_end(args, *store, study_id, exit_code) : ys_command_fail(YS_EIO);
}

int ys_command_run(const struct ys_args *args)
{
    struct ys_study_options options = study_options(args);
    struct ys_store *store = NULL;
    struct ys_job job = {0};
    int64_t study_id = 0;
    int exit_code = 0;
    ys_status status = load_job(args, &job);
    if (status == YS_OK)
        status = open_for_writing(job_results(args, &job), &store);
    if (status == YS_OK)
        status = ys_study_run(&job, &options, store, &study_id, &exit_code);
    int code = status == YS_OK ? finish(args, &store, study_id, exit_code) : ys_command_fail(status);
    ys_store_close(store);
    ys_job_fini(&job);
    return code;
}

/* Where there are no results there is nothing to go on with, and nothing to be made. */
static ys_status need_results(const char *folder)
{
    struct ys_store *store = NULL;
    ys_status status = ys_store_open(folder, YS_STORE_READ, &store);
    ys_store_close(store);
    return status == YS_ENOTFOUND ? status : YS_OK;
}

int ys_command_resume(const struct ys_args *args)
{
    struct ys_study_options options = study_options(args);
    struct ys_store *store = NULL;
    int64_t study_id = 0;
    int exit_code = 0;
    ys_status status = need_results(ys_command_results(args));
    if (status == YS_OK)
        status = open_for_writing(ys_command_results(args), &store);
    if (status == YS_OK)
        status = ys_store_select(store, args->word_count ? args->words[0] : "last", &study_id, NULL);
    if (status == YS_OK)
        status = ys_study_resume(&options, store, study_id, &exit_code);
    int code = status == YS_OK ? finish(args, &store, study_id, exit_code) : ys_command_fail(status);
    ys_store_close(store);
    return code;
}

static void print_check(const ys_json *plan, struct ys_buf *out)
{
    const ys_json *trials = ys_json_get(plan, "trials");
    bool guessed = false;
    char span[32];
    for (size_t i = 0; i < ys_json_size(trials); i++) {
        const ys_json *trial = ys_json_at(trials, i);
        const char *status = ys_json_get_text(trial, "status", "");
        ys_buf_printf(out, "%s\n", ys_json_get_text(trial, "id", ""));
        if (strcmp(status, "ok") != 0) {
            ys_buf_printf(out, "    %s: %s\n", status, ys_json_get_text(trial, "reason", ""));
            if (ys_json_get_text(trial, "command", NULL))
                ys_buf_printf(out, "    run: %s\n", ys_json_get_text(trial, "command", ""));
            continue;
        }
        bool known = ys_json_get_bool(trial, "known", false);
        int64_t requests = ys_json_get_int(trial, "requests", 0);
        guessed |= !known;
        ys_buf_printf(
            out, "    %s%s%s, %lld thread%s, %lld %s, %s %s a run\n", ys_json_get_text(trial, "title", ""),
            ys_json_get_text(trial, "version", "")[0] ? " " : "", ys_json_get_text(trial, "version", ""),
            (long long)ys_json_get_int(trial, "threads", 0), ys_json_get_int(trial, "threads", 0) == 1 ? "" : "s",
            (long long)(requests ? requests : ys_json_get_int(trial, "steps", 0)), requests ? "requests" : "steps",
            known ? "about" : "perhaps", ys_span_text(ys_json_get_number(trial, "run_s", 0), span, sizeof span));
    }
    ys_buf_printf(out, "\n%zu trials, %lld runs, %s %s%s\n", ys_json_size(trials),
                  (long long)ys_json_get_int(plan, "runs", 0), guessed ? "perhaps" : "about",
                  ys_span_text(ys_json_get_number(plan, "estimate_s", 0), span, sizeof span),
                  guessed ? " (a guess: not all of it was measured here before)" : ", from earlier runs");
}

int ys_command_check(const struct ys_args *args)
{
    struct ys_study_options options = study_options(args);
    struct ys_store *store = NULL;
    struct ys_job job = {0};
    ys_json *plan = NULL;
    ys_status status = load_job(args, &job);
    /* Without earlier results there is nothing to estimate from, which is no failure of a check. */
    if (status == YS_OK) {
        ys_status opened = ys_store_open(job_results(args, &job), YS_STORE_READ, &store);
        if (opened != YS_OK && opened != YS_ENOTFOUND)
            ys_log_warn("%s", ys_error());
    }
    if (status == YS_OK)
        status = ys_study_check(&job, &options, store, &plan);
    int code = 0;
    if (status != YS_OK) {
        code = ys_command_fail(status);
    } else if (args->format == YS_FORMAT_JSON) {
        code = ys_command_print_json(ys_json_ref(plan));
    } else {
        struct ys_buf out = {0};
        print_check(plan, &out);
        code = ys_command_print(&out);
    }
    ys_json_free(plan);
    ys_store_close(store);
    ys_job_fini(&job);
    return code;
}

/* "    PyTorch 2.13.0, 2 threads; 8 rows of each of 10 batches; 12 s" */
static void print_prover(const ys_json *line, const ys_json *proof, struct ys_buf *out)
{
    int64_t threads = ys_json_get_int(line, "threads", 0);
    char span[32];
    ys_buf_printf(out, "    %s%s%s, %lld thread%s", ys_json_get_text(line, "title", ""),
                  ys_json_get_text(line, "version", "")[0] ? " " : "", ys_json_get_text(line, "version", ""),
                  (long long)threads, threads == 1 ? "" : "s");
    if (ys_json_get(proof, "rows"))
        ys_buf_printf(out, "; %lld rows of each of %lld batches; ", (long long)ys_json_get_int(proof, "rows", 0),
                      (long long)ys_json_get_int(proof, "batches", 0));
    if (ys_json_get_bool(proof, "cached", false))
        ys_buf_printf(out, "kept from %s", ys_json_get_text(proof, "date", "before"));
    else if (ys_json_get(proof, "seconds"))
        ys_buf_puts(out, ys_span_text(ys_json_get_number(proof, "seconds", 0), span, sizeof span));
    ys_buf_puts(out, "\n");
}

static ys_status print_proofs(const ys_json *proofs, struct ys_buf *out)
{
    for (size_t i = 0; i < ys_json_size(proofs); i++) {
        const ys_json *line = ys_json_at(proofs, i), *proof = ys_json_get(line, "proof");
        ys_buf_printf(out, "%s%s\n", i ? "\n" : "", ys_json_get_text(line, "id", ""));
        if (ys_json_type_of(proof) == YS_JSON_OBJECT) {
            print_prover(line, proof, out);
            YS_TRY(ys_report_proof_table(proof, out));
            continue;
        }
        ys_buf_printf(out, "    %s: %s\n", ys_json_get_text(line, "status", ""), ys_json_get_text(line, "reason", ""));
        if (ys_json_get_text(line, "command", NULL))
            ys_buf_printf(out, "    run: %s\n", ys_json_get_text(line, "command", ""));
    }
    return YS_OK;
}

int ys_command_verify(const struct ys_args *args)
{
    struct ys_study_options options = study_options(args);
    struct ys_job job = {0};
    ys_json *proofs = NULL;
    struct ys_buf out = {0};
    int exit_code = 0;
    ys_status status = load_job(args, &job);
    if (status == YS_OK)
        status = ys_study_verify(&job, &options, &proofs, &exit_code);
    if (status == YS_OK && args->format != YS_FORMAT_JSON)
        status = print_proofs(proofs, &out);
    int code;
    if (status != YS_OK) {
        ys_buf_free(&out);
        code = ys_command_fail(status);
    } else {
        code = args->format == YS_FORMAT_JSON ? ys_command_print_json(ys_json_ref(proofs)) : ys_command_print(&out);
        code = code ? code : exit_code;
    }
    ys_json_free(proofs);
    ys_job_fini(&job);
    return code;
}
