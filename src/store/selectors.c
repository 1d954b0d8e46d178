/* What a selector names. */
#include "store/store.h"

#include "base/buf.h"
#include "base/mem.h"
#include "store/stored_rows.h"

#include <stdlib.h>
#include <string.h>

/* The number that `text` is, digits only; -1 when it is none. */
static int64_t as_number(const char *text)
{
    if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 18)
        return -1;
    return strtoll(text, NULL, 10);
}

static ys_status find_one(struct ys_store *store, sqlite3_stmt *statement, int64_t *id)
{
    bool more = false;
    ys_status status = ys_db_step(store, statement, &more);
    if (status == YS_OK)
        *id = more ? sqlite3_column_int64(statement, 0) : 0;
    ys_db_finish(statement);
    return status;
}

/* A row that was lost with the end of the write-ahead log takes its id along, and leaves a folder. */
static ys_status check_folder(struct ys_store *store, int64_t id)
{
    sqlite3_stmt *statement;
    char name[256];
    int64_t found = 0;
    if (!ys_store_last_folder(store, name, sizeof name))
        return YS_OK;
    YS_TRY(ys_db_prepare(store, &statement, "SELECT id FROM study WHERE folder = ?", "t", name));
    YS_TRY(find_one(store, statement, &found));
    if (!found)
        ys_row_note(store, YS_ROW_STUDY, id + 1,
                    "the folder %s of a study is there and its rows are lost: `last` is study %lld", name,
                    (long long)id);
    return YS_OK;
}

/* Ids are never given twice, so the latest one ever given tells whether the latest study is still there. */
static ys_status check_latest(struct ys_store *store, int64_t id)
{
    sqlite3_stmt *statement;
    int64_t given = 0;
    YS_TRY(ys_db_prepare(store, &statement, "SELECT max(seq) FROM sqlite_sequence WHERE name = 'study'", ""));
    YS_TRY(find_one(store, statement, &given));
    if (given > id && id == 0)
        ys_row_note(store, YS_ROW_STUDY, given, "study %lld was stored and is not there any more, nor is any other",
                    (long long)given);
    else if (given > id)
        ys_row_note(store, YS_ROW_STUDY, given, "study %lld was stored and is not there any more: `last` is study %lld",
                    (long long)given, (long long)id);
    return given == id && id > 0 ? check_folder(store, id) : YS_OK;
}

bool ys_store_is_date(const char *word, size_t size)
{
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
    for (size_t i = 0; i < size; i++)
        if (i >= sizeof form - 1 || (form[i] == 'd' ? !strchr("0123456789", word[i]) : word[i] != form[i]))
            return false;
    return size >= strlen("2026-11-26");
}

/* The newest study for which `word` is, in this order of preference: the id, the folder, the name, a date. */
static ys_status find_study(struct ys_store *store, const char *word, int64_t *id)
{
    sqlite3_stmt *statement;
    if (strcmp(word, "last") == 0)
        YS_TRY(ys_db_prepare(store, &statement, "SELECT max(id) FROM study", ""));
    else
        YS_TRY(ys_db_prepare(store, &statement,
                             "SELECT id FROM study WHERE id = ?1 OR folder = ?2 OR name = ?2 OR ?3 AND "
                             "substr(strftime('%Y-%m-%dT%H:%M:%SZ', started_s, 'unixepoch'), 1, length(?2)) = ?2 "
                             "ORDER BY id = ?1 DESC, folder = ?2 DESC, name = ?2 DESC, "
                             "iif(name = ?2, 0, started_s) DESC, id DESC LIMIT 1",
                             "iti", as_number(word), word, (int64_t)ys_store_is_date(word, strlen(word))));
    YS_TRY(find_one(store, statement, id));
    return strcmp(word, "last") == 0 ? check_latest(store, *id) : YS_OK;
}

static ys_status no_study(struct ys_store *store, const char *word)
{
    ys_json *studies;
    const char *ending = strrchr(word, '.');
    if (ending && strcmp(ending, ".ys") == 0)
        return ys_fail(YS_ENOTFOUND, "%s is a study to run, and no result: write `last` or the name of one", word);
    YS_TRY(ys_store_studies(store, &studies));
    size_t count = ys_json_size(studies);
    struct ys_buf names = {0};
    for (size_t i = count > 8 ? count - 8 : 0; i < count; i++)
        ys_buf_printf(&names, "%s%s", names.size ? ", " : "", ys_json_get_text(ys_json_at(studies, i), "folder", ""));
    ys_status status = count == 0 ? ys_store_no_results(store)
                                  : ys_fail(YS_ENOTFOUND, "no study `%s` in %s; %s: %s", word, store->folder,
                                            count > 8 ? "the latest there" : "there", ys_buf_text(&names));
    if (count == 0 && status == YS_ENOTFOUND)
        status = ys_fail(status, "no study in %s yet: `yardstick run` makes some", store->folder);
    ys_buf_free(&names);
    ys_json_free(studies);
    return status;
}

static ys_status no_trial(struct ys_store *store, int64_t study_id, const char *word)
{
    struct ys_trial_records trials;
    YS_TRY(ys_store_trials_load(store, study_id, &trials));
    struct ys_buf names = {0};
    for (size_t i = 0; i < trials.count && i < 8; i++)
        ys_buf_printf(&names, "%s%lld (%s)", names.size ? ", " : "", (long long)trials.items[i].index,
                      trials.items[i].id);
    ys_status status = ys_fail(YS_ENOTFOUND, "study %lld has no trial `%s`; of its %zu: %s", (long long)study_id, word,
                               trials.count, ys_buf_text(&names));
    ys_buf_free(&names);
    ys_trial_records_fini(&trials);
    return status;
}

ys_status ys_store_select(struct ys_store *store, const char *selector, int64_t *study_id, int64_t *trial_id)
{
    const char *slash = strchr(selector, '/');
    char *word = slash ? ys_strndup(selector, (size_t)(slash - selector)) : ys_strdup(selector);
    int64_t study = 0, trial = 0;
    ys_status status = find_study(store, word, &study);
    if (status == YS_OK && !study)
        status = no_study(store, word);
    ys_free(word);
    YS_TRY(status);
    if (slash && !trial_id)
        return ys_fail(YS_EINVAL, "`%s` names a trial where a whole study is asked for: leave out `%s`", selector,
                       slash);
    if (slash) {
        sqlite3_stmt *statement;
        YS_TRY(ys_db_prepare(
            store, &statement,
            "SELECT id FROM trial WHERE study_id = ?1 AND (name = ?2 OR position = ?3) ORDER BY name = ?2 DESC LIMIT 1",
            "iti", study, slash + 1, as_number(slash + 1)));
        YS_TRY(find_one(store, statement, &trial));
        if (!trial)
            return no_trial(store, study, slash + 1);
    }
    *study_id = study;
    if (trial_id)
        *trial_id = trial;
    return YS_OK;
}
