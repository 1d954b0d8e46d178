#include "store/hash_chain.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "store/store.h"
#include "store/stored_rows.h"

#include <stdio.h>
#include <string.h>

/* No reference to what is linked: where a study is removed its links stay, and the chain is whole without it. */
static const char table[] = "CREATE TABLE IF NOT EXISTS link ("
                            " id INTEGER PRIMARY KEY AUTOINCREMENT,"
                            " study_id INTEGER NOT NULL,"
                            " run_id INTEGER," /* null: the end of the study */
                            " content TEXT NOT NULL,"
                            " chain TEXT NOT NULL) STRICT";

/* What a link's content is the hash of, ?1 being the run or the study. */
static const char *const of_run[] = {
    "SELECT 'study', study.id, study.name, study.folder, study.started_s, study.doc FROM study, trial, run"
    " WHERE study.id = trial.study_id AND trial.id = run.trial_id AND run.id = ?1",
    "SELECT 'trial', trial.id, trial.study_id, trial.position, trial.name, json_remove(trial.doc, '$.given_up')"
    " FROM trial, run WHERE trial.id = run.trial_id AND run.id = ?1",
    "SELECT 'run', id, trial_id, round, attempt, status, stored_s, facts FROM run WHERE id = ?1",
    "SELECT 'series', run_id, position, name, is_real, count, data FROM series WHERE run_id = ?1 ORDER BY position",
    "SELECT 'metric', run_id, position, name, value, metric_doc(" YS_METRIC_COLUMNS ") FROM metric WHERE run_id = ?1"
    " ORDER BY position",
    NULL};
static const char *const of_study[] = {
    "SELECT 'study', id, name, folder, started_s, ended_s, status, exit_code, timing, doc FROM study WHERE id = ?1",
    "SELECT 'host', study_id, doc FROM host WHERE study_id = ?1",
    "SELECT 'trial', id, study_id, position, name, doc FROM trial WHERE study_id = ?1 ORDER BY id",
    "SELECT 'proof', trial_id, verdict, proof.doc FROM proof, trial WHERE trial.id = trial_id AND study_id = ?1"
    " ORDER BY trial_id",
    NULL};

static ys_status put_rows(struct ys_store *store, const char *sql, int64_t id, struct ys_buf *bytes)
{
    sqlite3_stmt *statement;
    bool more = true;
    YS_TRY(ys_db_prepare(store, &statement, sql, "i", id));
    ys_status status = YS_OK;
    while (status == YS_OK && more) {
        status = ys_db_step(store, statement, &more);
        for (int i = 0; status == YS_OK && more && i < sqlite3_column_count(statement); i++)
            ys_row_put_value(bytes, sqlite3_column_value(statement, i));
    }
    ys_db_finish(statement);
    return status;
}

static ys_status hash_content(struct ys_store *store, const char *const *queries, int64_t id, char hash[YS_SHA256_TEXT])
{
    struct ys_buf bytes = {0};
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && queries[i]; i++)
        status = put_rows(store, queries[i], id, &bytes);
    if (status == YS_OK)
        ys_sha256_text(bytes.data, bytes.size, hash);
    ys_buf_free(&bytes);
    return status;
}

struct link {
    int64_t id, study_id, run_id; /* run_id 0: the end of the study */
    char content[YS_SHA256_TEXT], chain[YS_SHA256_TEXT];
};

/* What `chain` of the link has to be, after one whose own is `before`. */
static void hash_link(const struct link *link, const char *before, char hash[YS_SHA256_TEXT])
{
    char text[3 * 24 + 2 * YS_SHA256_TEXT + 32];
    int size = snprintf(text, sizeof text, "yardstick-link|%lld|%lld|%lld|%s|%s", (long long)link->id,
                        (long long)link->study_id, (long long)link->run_id, link->content, before);
    ys_sha256_text(text, (size_t)size, hash);
}

static void copy_hash(sqlite3_stmt *row, int column, char hash[YS_SHA256_TEXT])
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    snprintf(hash, YS_SHA256_TEXT, "%s", text ? text : "");
}

static void read_link(sqlite3_stmt *row, struct link *link)
{
    *link = (struct link){.id = sqlite3_column_int64(row, 0),
                          .study_id = sqlite3_column_int64(row, 1),
                          .run_id = sqlite3_column_int64(row, 2)};
    copy_hash(row, 3, link->content);
    copy_hash(row, 4, link->chain);
}

#define LINKS "SELECT id, study_id, run_id, content, chain FROM link "

/* The first one of `sql`; all zero where there is none. */
static ys_status find_link(struct ys_store *store, const char *sql, int64_t id, struct link *link)
{
    sqlite3_stmt *statement;
    bool found = false;
    *link = (struct link){0};
    YS_TRY(ys_db_prepare(store, &statement, sql, id ? "i" : "", id));
    ys_status status = ys_db_step(store, statement, &found);
    if (found)
        read_link(statement, link);
    ys_db_finish(statement);
    return status;
}

static ys_status append(struct ys_store *store, struct link *link)
{
    struct link last;
    YS_TRY(find_link(store, LINKS "ORDER BY id DESC LIMIT 1", 0, &last));
    link->id = last.id + 1;
    hash_link(link, last.chain, link->chain);
    return ys_db_run(store, "INSERT INTO link (id, study_id, run_id, content, chain) VALUES (?, ?, nullif(?, 0), ?, ?)",
                     "iiitt", link->id, link->study_id, link->run_id, link->content, link->chain);
}

ys_status ys_link_ensure(struct ys_store *store)
{
    return ys_db_exec(store, table);
}

ys_status ys_link_end(struct ys_store *store, int64_t study_id)
{
    struct link link = {.study_id = study_id};
    YS_TRY(hash_content(store, of_study, study_id, link.content));
    return append(store, &link);
}

static ys_status study_of(struct ys_store *store, int64_t run_id, int64_t *study_id)
{
    sqlite3_stmt *statement;
    bool found = false;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT study_id FROM trial, run WHERE trial.id = run.trial_id AND run.id = ?", "i", run_id));
    ys_status status = ys_db_step(store, statement, &found);
    if (found)
        *study_id = sqlite3_column_int64(statement, 0);
    ys_db_finish(statement);
    if (status == YS_OK && !found)
        return ys_fail(YS_ENOTFOUND, "%s has no run %lld", store->path, (long long)run_id);
    return status;
}

static ys_status link_run(struct ys_store *store, int64_t run_id)
{
    struct link link = {.run_id = run_id};
    YS_TRY(ys_row_require(store, YS_ROW_RUN, run_id));
    YS_TRY(study_of(store, run_id, &link.study_id));
    YS_TRY(hash_content(store, of_run, run_id, link.content));
    return append(store, &link);
}

ys_status ys_store_run_link(struct ys_store *store, int64_t run_id)
{
    YS_TRY(ys_store_begin(store));
    return ys_store_end(store, link_run(store, run_id));
}

static void add(ys_json *texts, char *text_taken)
{
    ys_json_append(texts, ys_json_string(text_taken));
    ys_free(text_taken);
}

static ys_status number(struct ys_store *store, const char *sql, int64_t id, int64_t *value)
{
    sqlite3_stmt *statement;
    bool found = false;
    *value = 0;
    YS_TRY(ys_db_prepare(store, &statement, sql, "i", id));
    ys_status status = ys_db_step(store, statement, &found);
    if (found)
        *value = sqlite3_column_int64(statement, 0);
    ys_db_finish(statement);
    return status;
}

/* A link of the study that is verified, against its rows. A study that goes on is not as it ended. */
static ys_status compare(struct ys_store *store, const struct link *link, ys_json *damaged)
{
    char content[YS_SHA256_TEXT];
    int64_t counts = 0, id = link->run_id ? link->run_id : link->study_id;
    if (link->run_id) /* a run is linked once more where its metrics were stored again */
        YS_TRY(number(store, "SELECT max(id) FROM link WHERE run_id = ?", id, &counts));
    else
        YS_TRY(number(store,
                      "SELECT max(link.id) FROM link, study WHERE link.study_id = ?1 AND run_id IS NULL AND"
                      " study.id = ?1 AND study.status <> 'running'",
                      id, &counts));
    if (counts != link->id)
        return YS_OK;
    ys_status status = hash_content(store, link->run_id ? of_run : of_study, id, content);
    if (status == YS_OK && strcmp(content, link->content) == 0)
        return YS_OK;
    add(damaged, link->run_id
                     ? ys_format("run %lld is not what link %lld was made of", (long long)id, (long long)link->id)
                     : ys_format("study %lld, its machine, trials and proofs are not what link %lld was made of",
                                 (long long)id, (long long)link->id));
    return YS_OK;
}

enum { ALL_STUDIES = 0 };

/* Of a study that was removed nothing is left to compare. */
static ys_status concerns(struct ys_store *store, const struct link *link, int64_t study_id, int64_t *is_one)
{
    *is_one = link->study_id == study_id;
    return study_id == ALL_STUDIES ? number(store, "SELECT count(*) FROM study WHERE id = ?", link->study_id, is_one)
                                   : YS_OK;
}

static ys_status walk(struct ys_store *store, sqlite3_stmt *statement, int64_t study_id, ys_json *damaged,
                      struct link *last, int64_t *count)
{
    bool more = true;
    for (;;) {
        struct link link;
        char expected[YS_SHA256_TEXT];
        int64_t is_one;
        YS_TRY(ys_db_step(store, statement, &more));
        if (!more)
            return YS_OK;
        read_link(statement, &link);
        hash_link(&link, last->chain, expected);
        if (link.id != last->id + 1)
            add(damaged, ys_format("the chain lacks what was linked before link %lld", (long long)link.id));
        else if (strcmp(expected, link.chain) != 0)
            add(damaged, ys_format("link %lld does not follow from the one before it", (long long)link.id));
        YS_TRY(concerns(store, &link, study_id, &is_one));
        if (is_one)
            YS_TRY(compare(store, &link, damaged));
        *last = link;
        (*count)++;
    }
}

static ys_status walk_all(struct ys_store *store, int64_t study_id, ys_json *damaged, struct link *last, int64_t *count)
{
    sqlite3_stmt *statement;
    YS_TRY(ys_db_prepare(store, &statement, LINKS "ORDER BY id", ""));
    ys_status status = walk(store, statement, study_id, damaged, last, count);
    ys_db_finish(statement);
    return status;
}

static ys_status has_links(struct ys_store *store, int64_t *has_table)
{
    return number(store, "SELECT count(*) + 0 * ?1 FROM main.sqlite_schema WHERE name = 'link' AND type = 'table'", 0,
                  has_table);
}

ys_status ys_link_last(struct ys_store *store, int64_t study_id, ys_json **last)
{
    struct link link = {0};
    int64_t has_table = 0;
    YS_TRY(has_links(store, &has_table));
    if (has_table)
        YS_TRY(find_link(store, LINKS "WHERE study_id = ? ORDER BY id DESC LIMIT 1", study_id, &link));
    ys_json *made = link.id ? ys_json_object() : ys_json_null();
    if (link.id) {
        ys_json_set_int(made, "link", link.id);
        ys_json_set_string(made, "hash", link.chain);
    }
    *last = made;
    return YS_OK;
}

ys_status ys_link_verify_all(struct ys_store *store, ys_json *damaged)
{
    struct link last = {0};
    int64_t count = 0, has_table = 0;
    YS_TRY(has_links(store, &has_table));
    return has_table ? walk_all(store, ALL_STUDIES, damaged, &last, &count) : YS_OK;
}

ys_status ys_link_verify(struct ys_store *store, int64_t study_id, ys_json *damaged, ys_json **chain)
{
    struct link last = {0};
    int64_t count = 0, unlinked = 0, has_table = 0;
    ys_json *own = NULL;
    YS_TRY(has_links(store, &has_table));
    if (has_table)
        YS_TRY(walk_all(store, study_id, damaged, &last, &count));
    YS_TRY(number(store,
                  has_table ? "SELECT count(*) FROM run, trial WHERE trial.id = run.trial_id AND trial.study_id = ? AND"
                              " run.id NOT IN (SELECT run_id FROM link WHERE run_id IS NOT NULL)"
                            : "SELECT count(*) FROM run, trial WHERE trial.id = run.trial_id AND trial.study_id = ?",
                  study_id, &unlinked));
    YS_TRY(ys_link_last(store, study_id, &own));
    ys_json *made = ys_json_object();
    ys_json_set_int(made, "links", count);
    ys_json_set_string(made, "head", count ? last.chain : NULL);
    ys_json_set_int(made, "unlinked", unlinked);
    ys_json_set(made, "study", own);
    *chain = made;
    return YS_OK;
}
