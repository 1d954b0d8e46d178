/* show, report, export: stored results. */
#include "base/files/fs.h"
#include "base/json/record.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "cli/command.h"
#include "cli/verbs/show_result.h"
#include "judge/history.h"
#include "judge/study_pair.h"
#include "metric/metric.h"
#include "metric/result_document.h"
#include "report/judged/judged.h"
#include "report/report.h"
#include "store/import_study.h"

#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* The study's result, its comparisons as --comparisons says. */
static ys_status load_result(const struct ys_args *args, struct ys_store *store, int64_t study_id, unsigned flags,
                             struct ys_result *result)
{
    if (args->comparisons && strcmp(args->comparisons, "axes") != 0 && strcmp(args->comparisons, "all") != 0)
        return ys_fail(YS_EINVAL, "--comparisons=%s: write axes or all", args->comparisons);
    if (args->comparisons)
        flags |= strcmp(args->comparisons, "all") == 0 ? YS_RESULT_ALL : YS_RESULT_AXES;
#ifdef M_MXFAST
    /* A document is millions of small blocks that are freed side by side: glibc would go through its lists of small
     * free blocks again at nearly each of them. */
    mallopt(M_MXFAST, 0);
#endif
    return ys_metric_result_load(store, study_id, flags, result);
}

/* Where the rest is, as commands to paste; a new text. */
static char *more_of(const struct ys_args *args, const struct ys_store *store, int64_t study_id)
{
    const bool shows = strcmp(args->verb, "show") == 0;
    const char *folder = ys_store_folder(store);
    char number[24];
    struct ys_buf place = {0};
    snprintf(number, sizeof number, "%lld", (long long)study_id);
    const char *word = shows                               ? (args->word_count ? args->words[0] : "last")
                       : strcmp(args->verb, "resume") == 0 ? number
                                                           : "last";
    char *usual = ys_path_absolute(YS_RESULTS_FOLDER);
    if (strcmp(folder, usual) != 0) {
        ys_buf_puts(&place, " --results=");
        ys_buf_put_word(&place, folder);
    }
    ys_free(usual);
    char *more = ys_format("More: `yardstick show %s --details%s`; as a page: `yardstick report %s%s`", word,
                           ys_buf_text(&place), word, ys_buf_text(&place));
    ys_buf_free(&place);
    return more;
}

void ys_result_text(const struct ys_args *args, const struct ys_store *store, int64_t study_id,
                    const struct ys_result *result, struct ys_buf *out)
{
    if (args->details) {
        ys_report_table(result, ys_command_width(), ys_command_colour(), out);
        return;
    }
    char *more = more_of(args, store, study_id);
    ys_report_summary(result, more, ys_command_width(), ys_command_colour(), out);
    ys_free(more);
}

int ys_result_print(const struct ys_args *args, struct ys_store *store, int64_t study_id)
{
    struct ys_result result = {0};
    ys_json *document = NULL;
    struct ys_buf out = {0};
    ys_status status = load_result(args, store, study_id, 0, &result);
    if (status == YS_OK && args->format == YS_FORMAT_JSON)
        document = ys_result_json(&result);
    else if (status == YS_OK && args->format == YS_FORMAT_CSV)
        ys_report_csv(&result, &out);
    else if (status == YS_OK && args->format == YS_FORMAT_MD)
        ys_report_markdown(&result, &out);
    else if (status == YS_OK)
        ys_result_text(args, store, study_id, &result, &out);
    ys_result_fini(&result);
    if (status == YS_OK)
        return document ? ys_command_print_json(document) : ys_command_print(&out);
    ys_buf_free(&out);
    return ys_command_fail(status);
}

/* A signal that came while the file is written would leave a half behind: it waits until there is the whole. */
static ys_status write_page(const char *path, const struct ys_buf *page)
{
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    ys_status status = ys_fs_write(path, page->data, page->size);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

static ys_status judge_against(const struct ys_args *args, struct ys_store *store, int64_t study_id,
                               struct ys_judged *judged)
{
    struct ys_side base, side;
    YS_TRY(ys_side_load(ys_command_results(args), args->compare, &base));
    ys_status status = ys_side_load_stored(store, study_id, 0, args->word_count ? args->words[0] : "last", &side);
    if (status == YS_OK) {
        ys_judge_two(&base, &side, NAN, NULL, judged);
        ys_side_fini(&side);
    }
    ys_side_fini(&base);
    return status;
}

/* The page, among other studies where that is asked for. */
static ys_status make_page(const struct ys_args *args, struct ys_store *store, int64_t study_id, int64_t trial_id,
                           const struct ys_result *result, struct ys_buf *page)
{
    struct ys_judged judged;
    struct ys_history history;
    if (args->compare)
        YS_TRY(judge_against(args, store, study_id, &judged));
    ys_status status = YS_OK;
    const bool over = args->history;
    if (over)
        status = ys_history_load(store, study_id, trial_id, "rate_per_s", &history);
    const bool loaded = over && status == YS_OK;
    if (status == YS_OK)
        ys_report_html(result, args->compare ? &judged : NULL, over ? &history : NULL, page);
    if (loaded)
        ys_record_fini(&ys_history_record, &history);
    if (args->compare)
        ys_record_fini(&ys_judged_record, &judged);
    return status;
}

ys_status ys_result_write_report(const struct ys_args *args, struct ys_store *store, int64_t study_id, int64_t trial_id,
                                 char **path)
{
    struct ys_result result = {0};
    struct ys_buf page = {0};
    char *folder = NULL;
    *path = NULL;
    ys_status status = load_result(args, store, study_id, YS_RESULT_PAGE, &result);
    if (status == YS_OK)
        status = make_page(args, store, study_id, trial_id, &result, &page);
    if (status == YS_OK) {
        folder = ys_path_join(ys_store_folder(store), result.study.folder ? result.study.folder : "");
        *path = ys_path_join(folder, "report.html");
        status = ys_fs_make_dirs(folder);
    }
    if (status == YS_OK)
        status = write_page(*path, &page);
    ys_buf_free(&page);
    ys_free(folder);
    ys_result_fini(&result);
    if (status != YS_OK) {
        ys_free(*path);
        *path = NULL;
    }
    return status;
}

static ys_status open_selected(const struct ys_args *args, struct ys_store **store, int64_t *study_id,
                               int64_t *trial_id)
{
    ys_stop_release(0);
    YS_TRY(ys_store_open(ys_command_results(args), YS_STORE_READ, store));
    return ys_store_select(*store, args->word_count ? args->words[0] : "last", study_id, trial_id);
}

/* What is shown without its damaged rows is shown, and does not end well. */
static int code_of(const struct ys_store *store, int code)
{
    return code == 0 && store && ys_store_damaged(store) ? 7 : code;
}

/* "780 rows, all as they were stored", or what is not. */
struct of_study {
    int64_t link;
    char *hash;
};
static const struct ys_field of_study_fields[] = {
    YS_FIELD(struct of_study, link, YS_FIELD_INT, "1", 0, "its number"),
    YS_FIELD(struct of_study, hash, YS_FIELD_TEXT, NULL, 0, "the chain's up to it"),
};
static const struct ys_record of_study_record = YS_RECORD("study", struct of_study, of_study_fields);

struct chain {
    int64_t links, unlinked;
    char *head;
    struct of_study *study;
};
static const struct ys_field chain_fields[] = {
    YS_FIELD(struct chain, links, YS_FIELD_INT, "1", 0, "of the whole database"),
    YS_FIELD(struct chain, head, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "the last one's hash"),
    YS_FIELD(struct chain, unlinked, YS_FIELD_INT, "1", 0, "runs of the study that are no part of it"),
    YS_FIELD_OF(struct chain, study, YS_FIELD_OBJECT_OWNED, &of_study_record, YS_FIELD_NULL, "the study's last link"),
};
static const struct ys_record chain_record = YS_RECORD("chain", struct chain, chain_fields);

struct verify_document {
    int64_t rows, unverified;
    struct ys_list damaged, unstored; /* char * */
    struct chain chain;
};
static const struct ys_field verified_fields[] = {
    YS_FIELD(struct verify_document, rows, YS_FIELD_INT, "1", 0, "of the study"),
    YS_FIELD(struct verify_document, unverified, YS_FIELD_INT, "1", 0, "those without a checksum"),
    YS_FIELD(struct verify_document, damaged, YS_FIELD_TEXTS, NULL, 0, "what is not as it was"),
    YS_FIELD(struct verify_document, unstored, YS_FIELD_TEXTS, NULL, 0, "folders of runs that have no row"),
    YS_FIELD_OF(struct verify_document, chain, YS_FIELD_OBJECT, &chain_record, YS_FIELD_NULL,
                "null where it cannot be read"),
};
static const struct ys_record verified_record = YS_RECORD("verified", struct verify_document, verified_fields);

static void print_chain(const struct chain *chain, struct ys_buf *out)
{
    long long unlinked = (long long)chain->unlinked;
    if (chain->head)
        ys_command_wrap(out, 0, 2, "chain of %lld links, head %s", (long long)chain->links, chain->head);
    if (chain->study)
        ys_command_wrap(out, 0, 2, "last link of this study: %lld, %s", (long long)chain->study->link,
                        chain->study->hash);
    if (unlinked > 0)
        ys_command_wrap(out, 0, 2,
                        "%lld run%s of the study %s no part of %s chain: stored by an earlier yardstick, or put there "
                        "by something else",
                        unlinked, unlinked == 1 ? "" : "s", unlinked == 1 ? "is" : "are", chain->head ? "the" : "a");
}

static void print_verified(const struct verify_document *found, struct ys_buf *out)
{
    long long rows = (long long)found->rows, unverified = (long long)found->unverified;
    char *const *damaged = found->damaged.items;
    if (found->damaged.count)
        ys_buf_printf(out, "%lld rows, %zu of which something is damaged or lost:\n", rows, found->damaged.count);
    else if (unverified)
        ys_command_wrap(out, 0, 2,
                        "%lld rows, %lld of them without a checksum: the file is sound, they may be what was stored",
                        rows, unverified);
    else
        ys_buf_printf(out, "%lld rows, all as they were stored\n", rows);
    for (size_t i = 0; i < found->damaged.count; i++)
        ys_command_wrap(out, 2, 4, "%s", damaged[i]);
    char *const *unstored = found->unstored.items;
    for (size_t i = 0; i < found->unstored.count; i++)
        ys_command_wrap(out, 0, 2,
                        "runs/%s has no row: it was under way when yardstick was killed, or its row was lost",
                        unstored[i]);
    print_chain(&found->chain, out);
}

static int show_verified(const struct ys_args *args, struct ys_store *store, int64_t study_id)
{
    ys_json *json = NULL;
    struct verify_document found;
    struct ys_buf out = {0};
    if (ys_store_verify(store, study_id, &json) != YS_OK)
        return ys_command_fail(YS_EIO);
    ys_status status = ys_record_read(&verified_record, json, "what was verified", &found);
    bool damaged = status == YS_OK && (found.damaged.count > 0 || ys_store_damaged(store) > 0);
    int code;
    if (status != YS_OK) {
        code = ys_command_fail(status);
    } else if (args->format == YS_FORMAT_JSON) {
        code = ys_command_print_json(ys_json_ref(json));
    } else {
        print_verified(&found, &out);
        code = ys_command_print(&out);
    }
    if (status == YS_OK)
        ys_record_fini(&verified_record, &found);
    ys_json_free(json);
    return code ? code : damaged ? 7 : 0;
}

int ys_command_show(const struct ys_args *args)
{
    struct ys_store *store = NULL;
    int64_t study_id = 0;
    int code;
    ys_status status = open_selected(args, &store, &study_id, NULL);
    if (status != YS_OK)
        code = ys_command_fail(args->verify && status == YS_EFORMAT ? YS_EIO : status);
    else if (args->verify)
        code = show_verified(args, store, study_id);
    else
        code = code_of(store,
                       args->follow ? ys_result_follow(args, store, study_id) : ys_result_print(args, store, study_id));
    ys_store_close(store);
    return code;
}

int ys_command_report(const struct ys_args *args)
{
    struct ys_store *store = NULL;
    int64_t study_id = 0, trial_id = 0;
    char *path = NULL;
    struct ys_buf out = {0};
    ys_status status = open_selected(args, &store, &study_id, &trial_id);
    if (status == YS_OK)
        status = ys_result_write_report(args, store, study_id, trial_id, &path);
    if (status == YS_OK)
        ys_buf_printf(&out, "%s\n", path);
    int code = code_of(store, status == YS_OK ? ys_command_print(&out) : ys_command_fail(status));
    ys_free(path);
    ys_store_close(store);
    return code;
}

/* A number that JSON has no token for is written as the word that the protocol uses for it. */
static ys_json *export_series(const struct ys_series_set *set)
{
    ys_json *all = ys_json_object();
    for (size_t i = 0; i < set->count; i++) {
        const struct ys_series *series = &set->items[i];
        ys_json *numbers = ys_json_array();
        for (size_t k = 0; k < series->count; k++) {
            double real = series->is_real ? series->reals[k] : 0;
            if (!series->is_real)
                ys_json_append(numbers, ys_json_int(series->ints[k]));
            else if (real != real || real - real != 0)
                ys_json_append(numbers, ys_json_string(real != real ? "nan" : real > 0 ? "inf" : "-inf"));
            else
                ys_json_append(numbers, ys_json_real(real));
        }
        ys_json_set(all, series->name, numbers);
    }
    return all;
}

/* An export under way: what is to be written, and the chain of hashes of all lines so far. */
struct exporting {
    struct ys_buf out;
    struct ys_export_sum sum;
};

/* Appends {"type": type, ...value} as one line. */
static void add_line(struct exporting *exporting, const char *type, const ys_json *value)
{
    struct ys_buf *out = &exporting->out;
    const size_t before = out->size;
    ys_json *line = ys_json_object();
    ys_json_set_string(line, "type", type);
    ys_json_merge(line, value);
    char *text = ys_json_dump(line, YS_JSON_COMPACT);
    ys_json_free(line);
    ys_buf_printf(out, "%s\n", text);
    ys_export_sum_add(&exporting->sum, out->data + before, out->size - before);
    ys_free(text);
}

/* The last line, by which a file is told that was cut short or changed. */
static void add_end(struct exporting *exporting)
{
    char text[YS_SHA256_TEXT];
    ys_json *end = ys_json_object();
    ys_export_sum_text(&exporting->sum, text);
    ys_json_set_int(end, "lines", (int64_t)exporting->sum.lines);
    ys_json_set_string(end, "chain", text);
    add_line(exporting, "end", end);
    ys_json_free(end);
}

/* What the rows of trials and runs are called by. */
struct called {
    const char *id;
    int64_t trial_id, run_id;
};
static const struct ys_field called_fields[] = {
    YS_FIELD(struct called, id, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "name of a trial"),
    YS_FIELD(struct called, trial_id, YS_FIELD_INT, NULL, 0, "in the store"),
    YS_FIELD(struct called, run_id, YS_FIELD_INT, NULL, 0, "likewise; of a run"),
};
static const struct ys_record called_record = YS_RECORD("row", struct called, called_fields);

static struct called called(const ys_json *row)
{
    struct called found;
    ys_record_glance(&called_record, row, &found);
    return found;
}

/* Runs go out one after the other: the series of all of them may be more than memory holds. *left: nobody reads on. */
static ys_status export_runs(struct ys_store *store, const struct called *trial, struct exporting *out, bool *left)
{
    ys_json *runs = NULL;
    YS_TRY(ys_store_runs_get(store, trial->trial_id, &runs));
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && !*left && i < ys_json_size(runs); i++) {
        ys_json *run = ys_json_at(runs, i);
        struct ys_series_set series = {0};
        status = ys_store_series_get(store, called(run).run_id, &series);
        bool damaged = status == YS_EFORMAT; /* said by the store */
        if (status == YS_OK || damaged) {
            ys_json_set_string(run, "trial", trial->id ? trial->id : "");
            ys_json_set(run, "series", damaged ? ys_json_null() : export_series(&series));
            add_line(out, "run", run);
            status = YS_OK;
            ys_json_remove(run, "series");
        }
        if (status == YS_OK)
            status = ys_command_write(&out->out, left);
        ys_series_set_free(&series);
    }
    ys_json_free(runs);
    return status;
}

static ys_status export_study(struct ys_store *store, int64_t study_id, int64_t trial_id, struct exporting *out)
{
    ys_json *study = NULL, *host = NULL, *trials = NULL;
    bool left = false;
    ys_status status = ys_store_study_get(store, study_id, &study);
    if (status == YS_OK)
        ys_json_set_string(study, "schema", YS_EXPORT_SCHEMA);
    if (status == YS_OK)
        add_line(out, "study", study);
    if (status == YS_OK)
        status = ys_store_host_get(store, study_id, &host);
    if (status == YS_OK && ys_json_type_of(host) == YS_JSON_OBJECT)
        add_line(out, "host", host);
    if (status == YS_OK)
        status = ys_store_trials_get(store, study_id, &trials);
    for (size_t i = 0; status == YS_OK && !left && i < ys_json_size(trials); i++) {
        const ys_json *trial = ys_json_at(trials, i);
        const struct called names = called(trial);
        if (trial_id && names.trial_id != trial_id)
            continue;
        add_line(out, "trial", trial);
        if (status == YS_OK)
            status = export_runs(store, &names, out, &left);
    }
    if (status == YS_OK && !left)
        add_end(out);
    ys_json_free(study);
    ys_json_free(host);
    ys_json_free(trials);
    return status;
}

int ys_command_export(const struct ys_args *args)
{
    struct ys_store *store = NULL;
    int64_t study_id = 0, trial_id = 0;
    struct exporting exporting = {0};
    if (ys_command_exports_model(args))
        return ys_command_export_model(args);
    ys_status status = open_selected(args, &store, &study_id, &trial_id);
    if (status == YS_OK && args->format == YS_FORMAT_CSV)
        status = ys_export_csv(store, study_id, trial_id, &exporting.out);
    else if (status == YS_OK && args->format == YS_FORMAT_TRACE)
        status = ys_export_trace(store, study_id, trial_id, &exporting.out);
    else if (status == YS_OK)
        status = export_study(store, study_id, trial_id, &exporting);
    int code = code_of(store, status == YS_OK ? ys_command_print(&exporting.out) : ys_command_fail(status));
    ys_buf_free(&exporting.out);
    ys_store_close(store);
    return code;
}
