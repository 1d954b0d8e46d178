/* run, size, check, verify, resume. */
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/clock.h"
#include "cli/command.h"
#include "cli/verbs/show_result.h"
#include "job/settings.h"
#include "report/label.h"
#include "report/report.h"
#include "report/clean_text.h"
#include "store/stored_study.h"
#include "study/job_listing.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PARAMS_AT = 14 }; /* the column at which lists of parameters begin */

/* The job that the command line names: a file, flags, or both. */
static ys_status load_job(const struct ys_args *args, struct ys_job *job)
{
    struct ys_job_hooks hooks = ys_study_job_hooks(args->recipe_dirs);
    YS_TRY(ys_command_need_study(args, true));
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
        .all_steps = args->all_steps,
        .trace = args->trace,
    };
}

static const char *job_results(const struct ys_args *args, const struct ys_job *job)
{
    struct ys_study_settings settings;
    ys_study_settings_read(job->study, &settings);
    return settings.results ? settings.results : ys_command_results(args);
}

/* Results that are damaged or of a newer version cannot be written, whoever's mistake that is. */
static ys_status open_for_writing(const char *folder, struct ys_store **store)
{
    ys_status status = ys_store_open(folder, YS_STORE_WRITE, store);
    return status == YS_EFORMAT ? YS_EIO : status;
}

/* How the study is named on the command line: by its name where that is this one's, else by its folder. */
static const char *selector_of(struct ys_store *store, int64_t study_id, const struct ys_study_record *told)
{
    int64_t found = 0;
    if (told->name && ys_store_select(store, told->name, &found, NULL) == YS_OK && found == study_id)
        return told->name;
    return told->folder ? told->folder : "last";
}

/* The command that goes on with what was interrupted. */
static void say_resume(struct ys_store *store, int64_t study_id)
{
    char *standard = ys_path_absolute("yardstick-results");
    ys_json *document = NULL;
    struct ys_study_record told;
    struct ys_study_timing timing;
    struct ys_buf command = {0};
    if (ys_store_study_get(store, study_id, &document) == YS_OK) {
        ys_study_record_read(document, &told, &timing);
        ys_buf_puts(&command, "yardstick resume ");
        ys_buf_put_word(&command, selector_of(store, study_id, &told));
        if (!standard || strcmp(ys_store_folder(store), standard) != 0) {
            ys_buf_puts(&command, " --results=");
            ys_buf_put_word(&command, ys_store_folder(store));
        }
        if (told.status == YS_STUDY_INTERRUPTED)
            ys_log_warn("what was measured is kept: `%s` goes on with it", ys_buf_text(&command));
    }
    ys_buf_free(&command);
    ys_json_free(document);
    ys_free(standard);
}

/* What a study leaves behind: its report and its table. The study's own exit code wins unless they cannot be written.
 */
static int show_end(const struct ys_args *args, struct ys_store *store, int64_t study_id, int exit_code)
{
    char *path = NULL;
    if (ys_result_write_report(args, store, study_id, 0, &path) != YS_OK)
        return ys_command_fail(YS_EIO);
    int printed = ys_result_print(args, store, study_id);
    ys_log_info("report: %s", path);
    say_resume(store, study_id);
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
    ys_status status = ys_store_open(folder, YS_STORE_READ, store);
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
    options.says_noise = true;
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

static bool has_flag(const struct ys_args *args, const char *key)
{
    for (size_t i = 0; i < args->flags.count; i++)
        if (strcmp(args->flags.items[i].key, key) == 0)
            return true;
    return false;
}

/* Sizes are exact, so that rounds are for what loading takes alone. */
int ys_command_size(const struct ys_args *args)
{
    static const struct {
        const char *key, *value;
        bool is_of_flags; /* a file says it itself */
    } usual[] = {{"mode", "size", false}, {"compare", "same-weights", false},
                 {"form", "all", false},  {"rows", "256", true},
                 {"batch", "16", true},   {"repeat", "3", true}};
    struct ys_args own = *args;
    if (args->word_count == 0 && args->flags.count == 0)
        return ys_command_run(args);
    own.flags = (struct ys_job_flags){0};
    for (size_t i = 0; i < args->flags.count; i++)
        ys_job_flags_add(&own.flags, args->flags.items[i].key, args->flags.items[i].value);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (!has_flag(args, usual[i].key) && !(usual[i].is_of_flags && args->word_count > 0))
            ys_job_flags_add(&own.flags, usual[i].key, usual[i].value);
    const int code = ys_command_run(&own);
    ys_job_flags_fini(&own.flags);
    return code;
}

/* Where there are no results there is nothing to go on with, and nothing to be made. */
static ys_status need_results(const char *folder)
{
    struct ys_store *store = NULL;
    ys_status status = ys_store_open(folder, YS_STORE_READ, &store);
    ys_store_close(store);
    return status == YS_EFORMAT ? YS_EIO : status == YS_ENOTFOUND ? status : YS_OK;
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

/* Name, and of one that cannot run why; false then. */
static bool print_trial(const struct ys_listing_trial *trial, struct ys_buf *out)
{
    ys_buf_printf(out, "%s\n", trial->id);
    if (trial->status == YS_RUN_OK)
        return true;
    const bool is_missing = trial->status == YS_RUN_MISSING && trial->title;
    ys_command_wrap(out, 4, 8, "%s: %s%s%s%s%s", ys_run_status_name((enum ys_run_status)trial->status),
                    is_missing ? trial->title : "", is_missing && trial->version && *trial->version ? " " : "",
                    is_missing && trial->version ? trial->version : "", is_missing ? ": " : "",
                    trial->reason ? trial->reason : "");
    if (trial->command)
        ys_buf_printf(out, "    run: %s\n", trial->command);
    return false;
}

/* "PyTorch 2.13.0, 2 threads" */
static void put_framework(const struct ys_listing_trial *trial, struct ys_buf *out)
{
    const char *version = trial->version ? trial->version : "";
    ys_buf_printf(out, "%s%s%s, %lld thread%s", trial->title ? trial->title : "", version[0] ? " " : "", version,
                  (long long)trial->threads, trial->threads == 1 ? "" : "s");
}

/* "    constant  a, b, c": the parameters of a role; with `tied` those that several nodes read. */
static void print_params(const struct ys_listing_file *file, const char *title, int role, bool tied, struct ys_buf *out)
{
    struct ys_buf names = {0};
    const struct ys_listing_param *params = file->params.items;
    for (size_t i = 0; i < file->params.count; i++) {
        if (tied ? params[i].nodes < 2 : params[i].role != role)
            continue;
        ys_buf_printf(&names, "%s%s", names.size ? ", " : "", params[i].name);
        if (tied)
            ys_buf_printf(&names, " (%lld nodes)", (long long)params[i].nodes);
    }
    if (names.size) {
        ys_buf_printf(out, "    %-10s", title);
        ys_text_wrap(out, ys_buf_text(&names), PARAMS_AT, PARAMS_AT, ys_command_width());
    }
    ys_buf_free(&names);
}

/* What was made of the ONNX files that are models. */
static void print_files(const struct ys_listing *listing, struct ys_buf *out)
{
    const struct ys_listing_file *files = listing->files.items;
    for (size_t i = 0; i < listing->files.count; i++) {
        ys_buf_printf(out, "\n%s: parameters of %s\n", files[i].model, files[i].trial);
        print_params(&files[i], "trained", YS_LISTING_WEIGHT, false, out);
        print_params(&files[i], "constant", YS_LISTING_CONSTANT, false, out);
        print_params(&files[i], "buffers", YS_LISTING_BUFFER, false, out);
        print_params(&files[i], "tied", YS_NAME_NONE, true, out);
        ys_buf_printf(out, "\n%s: changed, left out, assumed\n", files[i].model);
        for (size_t k = 0; k < ys_json_size(files[i].notes); k++)
            ys_command_wrap(out, 4, 8, "%s", ys_json_text(ys_json_at(files[i].notes, k), ""));
    }
}

static void print_not_due(const struct ys_listing_trial *trial, struct ys_buf *out)
{
    const struct ys_due *due = trial->due.items;
    for (size_t i = 0; i < trial->due.count; i++)
        if (due[i].state == YS_DUE_NOT)
            ys_command_wrap(out, 4, 8, "no check of its runs: %s (%s)", ys_name_of(&ys_due_checks, due[i].check),
                            due[i].reason);
}

static void print_target(const struct ys_listing_trial *trial, struct ys_buf *out)
{
    char rows[80] = "the test rows";
    if (trial->kept_rows != YS_FIELD_NONE)
        snprintf(rows, sizeof rows, "%lld rows that are kept from training", (long long)trial->kept_rows);
    if (!trial->until && trial->kept_rows != YS_FIELD_NONE)
        ys_command_wrap(out, 4, 8, "evaluated on %s, in the place of the test rows", rows);
    if (!trial->until)
        return;
    ys_command_wrap(out, 4, 8,
                    "until %s on %s: its weights are evaluated at most %s a run, which stands still meanwhile",
                    trial->until, rows, ys_label_plural(trial->looks, "time").text);
    if (trial->schedule)
        ys_command_wrap(out, 4, 8, "schedule = %s is laid over all %lld steps, wherever the run ends", trial->schedule,
                        (long long)trial->steps);
}

static void print_check(const struct ys_listing *listing, struct ys_buf *out)
{
    const struct ys_listing_trial *trials = listing->trials.items;
    bool guessed = false;
    char span[32];
    for (const struct ys_listing_trial *trial = trials; trial < trials + listing->trials.count; trial++) {
        const struct ys_mode_facts *mode = ys_mode_of(trial->mode);
        if (!print_trial(trial, out))
            continue;
        guessed |= !trial->known;
        struct ys_buf line = {0};
        put_framework(trial, &line);
        ys_command_wrap(out, 4, 8, "%s, %lld %s, %s %s a run", ys_buf_text(&line),
                        (long long)(mode->times_each ? trial->requests : trial->steps), mode->units,
                        trial->known ? "about" : "perhaps", ys_span_text(trial->run_s, span, sizeof span));
        ys_buf_free(&line);
        if (isfinite(trial->apart_times))
            ys_command_wrap(out, 4, 8,
                            "its speed was a range of %.3g times when it last ran, and verdicts must hold at both "
                            "ends: with %.0f %s or more it is none",
                            trial->apart_times, trial->apart_steps, mode->units);
        print_target(trial, out);
        print_not_due(trial, out);
    }
    print_files(listing, out);
    ys_buf_puts(out, "\n");
    const struct ys_label all = ys_label_plural((long long)listing->trials.count, "trial");
    if (listing->runs == 0)
        ys_command_wrap(out, 0, 4, "%s, of which none can run here", all.text);
    else
        ys_command_wrap(out, 0, 4, "%s, %s%s, %s %s%s", all.text, listing->looks.count ? "at most " : "",
                        ys_label_plural(listing->runs, "run").text, guessed ? "perhaps" : "about",
                        ys_span_text(listing->estimate_s, span, sizeof span),
                        guessed ? " (a guess: not all of it was measured here before)" : ", from earlier runs");
    const struct ys_listing_look *looks = listing->looks.items;
    for (size_t i = 0; listing->runs && i + 1 < listing->looks.count; i++)
        ys_command_wrap(out, 0, 4, "it ends after %lld rounds, at %s %s, if all its comparisons are decided then",
                        (long long)looks[i].rounds, guessed ? "perhaps" : "about",
                        ys_span_text(looks[i].estimate_s, span, sizeof span));
    if (listing->noise)
        ys_command_wrap(out, 0, 4, "%s", listing->noise);
}

int ys_command_check(const struct ys_args *args)
{
    struct ys_study_options options = study_options(args);
    struct ys_store *store = NULL;
    struct ys_job job = {0};
    struct ys_listing listing = {0};
    ys_status status = load_job(args, &job);
    /* Without earlier results there is nothing to estimate from, which is no failure of a check. */
    if (status == YS_OK) {
        ys_status opened = ys_store_open(job_results(args, &job), YS_STORE_READ, &store);
        if (opened != YS_OK && opened != YS_ENOTFOUND)
            ys_log_warn("%s", ys_error());
    }
    if (status == YS_OK)
        status = ys_study_check(&job, &options, store, &listing);
    int code = 0;
    if (status != YS_OK) {
        code = ys_command_fail(status);
    } else if (args->format == YS_FORMAT_JSON) {
        code = ys_command_print_json(ys_record_json(&ys_listing_record, &listing));
    } else {
        struct ys_buf out = {0};
        print_check(&listing, &out);
        code = ys_command_print(&out);
    }
    ys_listing_fini(&listing);
    ys_store_close(store);
    ys_job_fini(&job);
    return code;
}

/* "    PyTorch 2.13.0, 2 threads; 8 rows of each of 10 batches; 12 s" */
static void print_prover(const struct ys_listing_trial *line, struct ys_buf *out)
{
    const struct ys_proof *proof = line->proof;
    char span[32];
    struct ys_buf text = {0};
    put_framework(line, &text);
    if (proof->rows != YS_FIELD_NONE)
        ys_buf_printf(&text, "; %lld rows of each of %lld batches; ", (long long)proof->rows,
                      (long long)proof->batches);
    if (proof->positions != YS_FIELD_NONE)
        ys_buf_printf(&text, "the first %lld positions of a row; ", (long long)proof->positions);
    if (proof->cached == 1)
        ys_buf_printf(&text, "kept from %s", proof->date ? proof->date : "before");
    else if (!isnan(proof->seconds))
        ys_buf_puts(&text, ys_span_text(proof->seconds, span, sizeof span));
    ys_command_wrap(out, 4, 8, "%s", ys_buf_text(&text));
    ys_buf_free(&text);
}

static void print_proofs(const struct ys_listing *listing, struct ys_buf *out)
{
    const struct ys_listing_trial *lines = listing->trials.items;
    for (size_t i = 0; i < listing->trials.count; i++) {
        ys_buf_puts(out, i ? "\n" : "");
        if (!print_trial(&lines[i], out))
            continue;
        print_prover(&lines[i], out);
        ys_report_proof_table(lines[i].proof, ys_command_width(), out);
    }
}

int ys_command_verify(const struct ys_args *args)
{
    struct ys_study_options options = study_options(args);
    struct ys_job job = {0};
    struct ys_listing listing = {0};
    struct ys_buf out = {0};
    int exit_code = 0;
    ys_status status = load_job(args, &job);
    if (status == YS_OK)
        status = ys_study_verify(&job, &options, &listing, &exit_code);
    if (status == YS_OK && args->format != YS_FORMAT_JSON)
        print_proofs(&listing, &out);
    int code;
    if (status != YS_OK) {
        ys_buf_free(&out);
        code = ys_command_fail(status);
    } else {
        code = args->format == YS_FORMAT_JSON
                   ? ys_command_print_json(ys_list_json(&ys_listing_verify_record, &listing.trials))
                   : ys_command_print(&out);
        code = code ? code : exit_code;
    }
    ys_listing_fini(&listing);
    ys_job_fini(&job);
    return code;
}
