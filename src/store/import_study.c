#include "store/import_study.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "store/stored_rows.h"
#include "store/stored_study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LIMIT_BYTES = 1 << 30 };

struct importing {
    struct ys_store *store;
    const char *path;
    size_t line; /* from 1 */
    int64_t study_id;
    ys_json *names; /* {name of a trial: its id} */
    size_t trials, runs;
    ys_json *study; /* as it was exported */
    char *chain;    /* what the last line says that the link of those before it is */
    struct ys_export_sum sum;
    bool is_whole; /* they have that link */
    bool ended;
};

void ys_export_sum_add(struct ys_export_sum *sum, const void *line, size_t size)
{
    ys_sha256_joined(sum->link, sizeof sum->link, line, size, sum->link);
    sum->lines++;
}

void ys_export_sum_text(const struct ys_export_sum *sum, char text[YS_SHA256_TEXT])
{
    ys_hex_text(sum->link, sizeof sum->link, text);
}

static ys_status refuse(const struct importing *in, const char *what)
{
    return ys_fail(YS_EFORMAT, "%s: line %zu: %s; write the file with: yardstick export SELECTOR > FILE.jsonl",
                   in->path, in->line, what);
}

static bool is_type(const ys_json *line, const char *type)
{
    return strcmp(ys_json_get_text(line, "type", ""), type) == 0;
}

static ys_status check_schema(const struct importing *in, const ys_json *line)
{
    const char *schema = ys_json_get_text(line, "schema", YS_EXPORT_SCHEMA);
    if (strcmp(schema, YS_EXPORT_SCHEMA) == 0)
        return YS_OK;
    return ys_fail(YS_EFORMAT,
                   "%s is a %.60s of yardstick %.30s, and this one reads %s: export the study again with this version, "
                   "or judge with that one",
                   in->path, schema, ys_json_get_text(line, "version", "unknown"), YS_EXPORT_SCHEMA);
}

static ys_status import_study(struct importing *in, const ys_json *line)
{
    static const char *const of_store[] = {"type",    "schema", "id",        "folder",
                                           "ended_s", "status", "exit_code", "timing"};
    if (in->study)
        return refuse(in, "a second study");
    YS_TRY(check_schema(in, line));
    in->study = ys_json_copy(line);
    ys_json *doc = ys_json_copy(line);
    for (size_t i = 0; i < sizeof of_store / sizeof of_store[0]; i++)
        ys_json_remove(doc, of_store[i]);
    ys_json_set_string(doc, "imported", in->path);
    if (in->chain)
        ys_json_set_string(doc, "imported_chain", in->chain);
    const ys_status status = ys_json_get_text(doc, "name", NULL) ? ys_store_study_begin(in->store, doc, &in->study_id)
                                                                 : refuse(in, "a study without a name");
    ys_json_free(doc);
    return status;
}

static ys_status import_trial(struct importing *in, const ys_json *line)
{
    struct ys_trial_record trial = {0};
    int64_t trial_id = 0;
    YS_TRY(ys_record_read(&ys_trial_record, line, in->path, &trial));
    ys_status status =
        trial.id ? ys_store_trial_put(in->store, in->study_id, &trial, &trial_id) : refuse(in, "a trial without an id");
    if (status == YS_OK && ys_json_type_of(trial.proof) == YS_JSON_OBJECT)
        status = ys_store_proof_put(in->store, trial_id, trial.proof);
    if (status == YS_OK)
        ys_json_set_int(in->names, trial.id, trial_id);
    ys_record_fini(&ys_trial_record, &trial);
    in->trials += status == YS_OK;
    return status;
}

/* A number, or the word that stands for one that JSON has no token for. */
static bool number_of(const ys_json *value, double *number)
{
    const char *word = ys_json_text(value, NULL);
    enum ys_json_type type = ys_json_type_of(value);
    if (word && (strcmp(word, "nan") == 0 || strcmp(word, "inf") == 0 || strcmp(word, "-inf") == 0))
        *number = *word == 'n' ? NAN : *word == 'i' ? INFINITY : -INFINITY;
    else if (type == YS_JSON_INT || type == YS_JSON_REAL)
        *number = ys_json_number(value, NAN);
    else
        return false;
    return true;
}

/* Series are whole numbers when all of their numbers are; one without any is of no kind, and is left out. */
static ys_status import_series(struct importing *in, const char *name, const ys_json *numbers,
                               struct ys_series_set *set)
{
    bool real = false;
    for (size_t i = 0; i < ys_json_size(numbers); i++)
        real |= ys_json_type_of(ys_json_at(numbers, i)) != YS_JSON_INT;
    for (size_t i = 0; i < ys_json_size(numbers); i++) {
        double number;
        if (!number_of(ys_json_at(numbers, i), &number))
            return refuse(in, "a series holds something that is no number");
        const int64_t whole = ys_json_integer(ys_json_at(numbers, i), 0);
        ys_series_add_numbers(set, name, real, real ? (const void *)&number : (const void *)&whole, 1);
    }
    return YS_OK;
}

static ys_status import_all_series(struct importing *in, const ys_json *all, struct ys_series_set *set)
{
    for (void *it = ys_json_iter(all); it; it = ys_json_next(all, it)) {
        if (strlen(ys_json_iter_key(it)) >= sizeof set->items->name)
            return refuse(in, "a series whose name is too long");
        YS_TRY(import_series(in, ys_json_iter_key(it), ys_json_iter_value(it), set));
    }
    return YS_OK;
}

static ys_status import_run(struct importing *in, const ys_json *line)
{
    const char *name = ys_json_get_text(line, "trial", "");
    const ys_json *facts = ys_json_get(line, "facts"), *metrics = ys_json_get(line, "metrics");
    int64_t trial_id = ys_json_get_int(in->names, name, 0), run_id = 0;
    struct ys_series_set set = {0};
    if (!trial_id || ys_json_type_of(facts) != YS_JSON_OBJECT)
        return refuse(in, trial_id ? "a run without facts" : "a run of a trial that is not in the file");
    ys_status status = import_all_series(in, ys_json_get(line, "series"), &set);
    if (status == YS_OK)
        status = ys_store_run_put(in->store, trial_id, ys_json_get_int(line, "round", 0),
                                  (int)ys_json_get_int(line, "attempt", 0), facts, &set, &run_id);
    if (status == YS_OK && ys_json_size(metrics) > 0)
        status = ys_store_metric_put(in->store, run_id, metrics);
    if (status == YS_OK)
        status = ys_store_run_link(in->store, run_id);
    ys_series_set_free(&set);
    in->runs += status == YS_OK;
    return status;
}

static ys_status import_host(struct importing *in, const ys_json *line)
{
    ys_json *host = ys_json_copy(line);
    ys_json_remove(host, "type");
    ys_status status = ys_store_host_put(in->store, in->study_id, host);
    ys_json_free(host);
    return status;
}

static ys_status check_end(struct importing *in, const ys_json *line)
{
    char text[YS_SHA256_TEXT];
    ys_export_sum_text(&in->sum, text);
    if (ys_json_get_int(line, "lines", -1) != (int64_t)in->sum.lines ||
        strcmp(ys_json_get_text(line, "chain", ""), text) != 0)
        return refuse(in, "the lines before it are not those that were exported: the file was changed");
    in->ended = true;
    return YS_OK;
}

/* Lines of a type that is not known were written by a newer yardstick. */
static ys_status import_line(struct importing *in, const char *text, size_t size)
{
    char name[64];
    ys_json *line = NULL;
    snprintf(name, sizeof name, "line %zu", in->line);
    if (ys_json_parse(text, size, name, &line) != YS_OK)
        return ys_fail_in(YS_EFORMAT, "%s is no export of a study (yardstick export SELECTOR > FILE.jsonl)", in->path);
    ys_status status = YS_OK;
    if (in->ended)
        status = refuse(in, "the export ended before");
    else if (!in->study && !is_type(line, "study"))
        status = refuse(in, "not a study");
    else if (is_type(line, "end"))
        status = check_end(in, line);
    else if (is_type(line, "study"))
        status = import_study(in, line);
    else if (is_type(line, "host"))
        status = import_host(in, line);
    else if (is_type(line, "trial"))
        status = import_trial(in, line);
    else if (is_type(line, "run"))
        status = import_run(in, line);
    ys_json_free(line);
    return status;
}

/* A study ends when it ended, not when it was brought in. */
static ys_status end_as_it_did(struct importing *in)
{
    struct ys_study_record told;
    struct ys_study_timing timing;
    ys_study_record_read(in->study, &told, &timing);
    const enum ys_study_state state =
        told.status == YS_NAME_NONE ? YS_STUDY_INTERRUPTED : (enum ys_study_state)told.status;
    int64_t exit_code = told.exit_code == YS_FIELD_NONE ? 0 : told.exit_code;
    return ys_store_study_end_at(in->store, in->study_id, state, (int)exit_code, told.timing,
                                 ys_json_get_int(in->study, "ended_s", 0));
}

/* Lines end as they were written: what changed that on the way, as git may, or put a byte order mark before them, as
 * editors do, changed nothing of the study. */
static void end_lines_by_newlines(struct ys_buf *text)
{
    size_t kept = 0;
    for (size_t i = text->size >= 3 && memcmp(text->data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; i < text->size; i++)
        if (text->data[i] != '\r' || i + 1 == text->size || text->data[i + 1] != '\n')
            text->data[kept++] = text->data[i];
    text->size = kept;
}

static ys_status import_lines(struct importing *in, const struct ys_buf *text)
{
    const char *at = ys_buf_text(text), *end = at + text->size;
    for (in->line = 1; at < end; in->line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop && !in->is_whole) /* only of the last line the newline may be lost */
            return refuse(in, "it does not end: the file is cut short");
        YS_TRY(import_line(in, at, (size_t)((stop ? stop : end) - at)));
        if (!stop)
            break;
        ys_export_sum_add(&in->sum, at, (size_t)(stop - at) + 1);
        at = stop + 1;
    }
    if (!in->study || in->trials == 0)
        return refuse(in, "the file ends without a trial");
    if (!in->ended)
        return refuse(in, "its last line, which says that it is whole, is not there: the file is cut short");
    return end_as_it_did(in);
}

/* Where the last line of `text` begins. */
static const char *last_line(const struct ys_buf *text)
{
    const char *start = ys_buf_text(text), *at = start + text->size;
    at -= at > start && at[-1] == '\n';
    while (at > start && at[-1] != '\n')
        at--;
    return at;
}

/* Reads `chain`; whether the lines before the last have that link. What is no export has none. */
static bool is_whole(struct importing *in, const struct ys_buf *text)
{
    const char *last = last_line(text);
    struct ys_export_sum sum = {0};
    char link[YS_SHA256_TEXT];
    ys_json *line = NULL;
    if (ys_json_parse(last, text->size - (size_t)(last - ys_buf_text(text)), in->path, &line) != YS_OK)
        return false;
    in->chain = ys_strdup(ys_json_get_text(line, "chain", ""));
    ys_json_free(line);
    for (const char *at = ys_buf_text(text), *next; at < last; at = next) {
        next = (const char *)memchr(at, '\n', (size_t)(last - at)) + 1;
        ys_export_sum_add(&sum, at, (size_t)(next - at));
    }
    ys_export_sum_text(&sum, link);
    return in->chain && strcmp(link, in->chain) == 0;
}

/* The study that came from these very lines before; 0. */
static ys_status find_imported(struct importing *in, int64_t *study_id)
{
    ys_json *studies = NULL;
    YS_TRY(ys_store_studies(in->store, &studies));
    for (size_t i = 0; i < ys_json_size(studies) && !*study_id; i++) {
        const int64_t id = ys_json_get_int(ys_json_at(studies, i), "id", 0);
        ys_json *study = NULL;
        if (ys_store_study_get(in->store, id, &study) != YS_OK)
            continue; /* a damaged one is not it */
        if (strcmp(ys_json_get_text(study, "imported_chain", ""), in->chain) == 0)
            *study_id = id;
        ys_json_free(study);
    }
    ys_json_free(studies);
    return YS_OK;
}

ys_status ys_store_import(struct ys_store *store, const char *path, int64_t *study_id, bool *was_there)
{
    struct ys_buf text = {0};
    struct importing in = {.store = store, .path = path};
    ys_status status = ys_fs_read(path, LIMIT_BYTES, &text);
    in.names = status == YS_OK ? ys_json_object() : NULL;
    if (status == YS_OK)
        end_lines_by_newlines(&text);
    in.is_whole = status == YS_OK && is_whole(&in, &text);
    if (in.is_whole)
        status = find_imported(&in, &in.study_id);
    *was_there = in.study_id != 0;
    if (status == YS_OK && !*was_there)
        status = ys_store_begin(store);
    if (status == YS_OK && !*was_there)
        status = ys_store_end(store, import_lines(&in, &text));
    if (status == YS_OK)
        *study_id = in.study_id;
    ys_free(in.chain);
    ys_json_free(in.names);
    ys_json_free(in.study);
    ys_buf_free(&text);
    return status;
}
