#include "judge/study_source.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/files/working_folder.h"
#include "base/mem.h"
#include "store/import_study.h"
#include "store/stored_study.h"

#include <string.h>

enum { MOST_NAMED = 8 }; /* studies of one name, in a message */

/* What of the timing of a study is asked for. */
struct side_timing {
    const ys_json *anchors;
};
static const struct ys_field timing_fields[] = {
    YS_FIELD(struct side_timing, anchors, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "the machine's own speed"),
};
static const struct ys_record timing_record = YS_RECORD("timing", struct side_timing, timing_fields);

void ys_side_fini(struct ys_side *side)
{
    ys_free(side->word);
    ys_free(side->store);
    ys_result_fini(&side->result);
    *side = (struct ys_side){.trial = YS_FIELD_NONE};
}

static void find_anchors(struct ys_side *side)
{
    struct side_timing timing;
    ys_record_glance(&timing_record, side->result.study.timing, &timing);
    side->anchors = timing.anchors;
}

static ys_status fill(struct ys_store *store, int64_t study_id, int64_t trial_id, const char *word,
                      struct ys_side *side)
{
    side->word = ys_strdup(word);
    YS_TRY(ys_metric_result_load(store, study_id, YS_RESULT_AXES, &side->result));
    find_anchors(side);
    for (size_t i = 0; trial_id && i < side->result.trial_count; i++)
        if (side->result.trials[i].trial_id == trial_id)
            side->trial = (int64_t)i;
    return YS_OK;
}

ys_status ys_side_load_stored(struct ys_store *store, int64_t study_id, int64_t trial_id, const char *word,
                              struct ys_side *side)
{
    *side = (struct ys_side){.trial = YS_FIELD_NONE};
    ys_status status = fill(store, study_id, trial_id, word, side);
    if (status == YS_OK)
        side->store = ys_strdup(ys_store_folder(store));
    if (status != YS_OK)
        ys_side_fini(side);
    return status;
}

ys_status ys_side_load_one(struct ys_store *store, int64_t study_id, const char *trial,
                           const struct ys_metric_info *metric, struct ys_side *side)
{
    *side = (struct ys_side){.trial = YS_FIELD_NONE};
    YS_TRY(ys_metric_result_load_trial(store, study_id, trial, metric, &side->result));
    find_anchors(side);
    return YS_OK;
}

/* Through a store of its own, which is gone afterwards: a file's runs are read as stored ones are. */
static ys_status load_file(const char *path, struct ys_side *side)
{
    struct ys_working working;
    struct ys_store *store = NULL;
    int64_t study_id = 0;
    bool was_there;
    *side = (struct ys_side){.trial = YS_FIELD_NONE};
    YS_TRY(ys_working_in_cache("judge", &working));
    ys_status status = ys_store_open(working.path, YS_STORE_WRITE, &store);
    if (status == YS_OK)
        status = ys_store_import(store, path, &study_id, &was_there);
    if (status == YS_OK)
        status = fill(store, study_id, 0, path, side);
    ys_store_close(store);
    ys_working_remove(&working);
    if (status != YS_OK)
        ys_side_fini(side);
    return status;
}

static bool ends_with(const char *word, const char *ending)
{
    const size_t length = strlen(word), size = strlen(ending);
    return length > size && strcmp(word + length - size, ending) == 0;
}

/* Whether no study but a file is meant: by its ending, or a path that begins as paths do. */
static bool looks_like_file(const char *word)
{
    static const char *const endings[] = {".jsonl", ".json", ".ndjson", ".csv", ".txt", ".db"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (ends_with(word, endings[i]))
            return true;
    return word[0] == '/' || strncmp(word, "./", 2) == 0 || strncmp(word, "../", 3) == 0;
}

/* `status` of a study that was looked for; where a file was meant that is not there, that. */
static ys_status explain(ys_status status, const char *word)
{
    if (status != YS_ENOTFOUND || !looks_like_file(word) || ends_with(word, ".ys"))
        return status;
    return ys_fail(
        status, "there is no file %s, nor a study of that name: `yardstick export STUDY >FILE.jsonl` writes one", word);
}

ys_status ys_side_load(const char *results, const char *word, struct ys_side *side)
{
    struct ys_store *store = NULL;
    int64_t study_id = 0, trial_id = 0;
    if (ys_fs_exists(word) && !ys_fs_is_dir(word) && !ends_with(word, ".ys"))
        return load_file(word, side);
    ys_status status = ys_store_open(results, YS_STORE_READ, &store);
    if (status != YS_OK)
        return explain(status, word);
    status = explain(ys_store_select(store, word, &study_id, &trial_id), word);
    if (status == YS_OK)
        status = ys_side_load_stored(store, study_id, trial_id, word, side);
    ys_store_close(store);
    return status;
}

/* Whether a study's name, or else the date at which it began, is what the first `length` bytes of `word` say. */
static bool is_called(const struct ys_study_record *study, const char *word, size_t length, bool by_date)
{
    const char *name = study->name ? study->name : "";
    char began[32];
    if (!by_date)
        return strlen(name) == length && strncmp(name, word, length) == 0;
    ys_date_text(study->started_s, began, sizeof began);
    return strncmp(began, word, length) == 0;
}

/* YS_EINVAL where `word`, without its /TRIAL, is neither number nor folder, but the name of several studies, or the
 * date of several. */
static ys_status check_single(struct ys_store *store, const char *word)
{
    ys_json *studies;
    struct ys_buf folders = {0};
    size_t named = 0;
    bool is_folder = false;
    const size_t length = strcspn(word, "/");
    const char *what = "name";
    YS_TRY(ys_store_studies(store, &studies));
    for (int by_date = 0; by_date <= ys_store_is_date(word, length) && named == 0; by_date++) {
        what = by_date ? "date" : "name";
        for (size_t i = 0; i < ys_json_size(studies); i++) {
            struct ys_study_record study;
            ys_record_glance(&ys_study_record, ys_json_at(studies, i), &study);
            const char *folder = study.folder ? study.folder : "";
            is_folder |= strlen(folder) == length && strncmp(folder, word, length) == 0;
            if (is_called(&study, word, length, by_date) && named++ < MOST_NAMED)
                ys_buf_printf(&folders, "%s%s", folders.size ? ", " : "", folder);
        }
    }
    ys_status status = YS_OK;
    if (named > 1 && !is_folder)
        status = ys_fail(YS_EINVAL, "`%.*s` is the %s of %zu studies (%s%s): say which, by its folder or its number",
                         (int)length, word, what, named, ys_buf_text(&folders), named > MOST_NAMED ? ", ..." : "");
    ys_buf_free(&folders);
    ys_json_free(studies);
    return status;
}

ys_status ys_side_load_single(const char *results, const char *word, struct ys_side *side)
{
    struct ys_store *store = NULL;
    if (ys_fs_exists(word) && !ys_fs_is_dir(word) && !ends_with(word, ".ys"))
        return load_file(word, side);
    ys_status status = ys_store_open(results, YS_STORE_READ, &store);
    if (status != YS_OK)
        return explain(status, word);
    status = check_single(store, word);
    ys_store_close(store);
    return status == YS_OK ? ys_side_load(results, word, side) : status;
}
