/* Every row of a study against its checksum. */
#include "store/store.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "store/hash_chain.h"
#include "store/stored_rows.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

struct verify_counts {
    int64_t rows, unverified;
    ys_json *damaged, *unstored; /* arrays of texts */
    int64_t lost_round;          /* of one of the latter; YS_FIELD_NONE */
    bool is_lost;                /* they are more than a kill leaves behind */
};

static void add_text(ys_json *texts, char *text_taken)
{
    ys_json_append(texts, ys_json_string(text_taken));
    ys_free(text_taken);
}

/* Columns: key, whether it has a checksum, whether that is right, how many rows of it are lost. */
static void verify_row(sqlite3_stmt *row, const char *table, struct verify_counts *verified)
{
    const char *key = (const char *)sqlite3_column_text(row, 0);
    int64_t lost = sqlite3_column_int64(row, 3);
    verified->rows++;
    verified->unverified += !sqlite3_column_int(row, 1);
    if (!sqlite3_column_int(row, 2))
        add_text(verified->damaged, ys_format("%s %s is not as it was stored", table, key ? key : "?"));
    if (lost > 0)
        add_text(verified->damaged, ys_format("%s %s lacks %lld of the rows that were stored of it", table,
                                              key ? key : "?", (long long)lost));
    if (lost < 0)
        add_text(verified->damaged, ys_format("%s %s has %lld rows more than were stored of it", table, key ? key : "?",
                                              (long long)-lost));
}

static ys_status verify_table(struct ys_store *store, int64_t study_id, const struct ys_row_info *info,
                              struct verify_counts *verified)
{
    sqlite3_stmt *statement = NULL;
    bool more = true;
    char *lost = info->parts ? ys_format("%s.parts - (%s)", info->table, info->parts) : ys_strdup("0");
    char *sql = lost ? ys_format("SELECT %s, %s.sum IS NOT NULL, %s.sum IS %s, %s FROM %s WHERE %s", info->key,
                                 info->table, info->table, info->sum, lost, info->table, info->of_study)
                     : NULL;
    ys_status status = ys_db_prepare(store, &statement, sql, "i", study_id);
    while (status == YS_OK && more) {
        status = ys_db_step(store, statement, &more);
        if (status == YS_OK && more)
            verify_row(statement, info->table, verified);
    }
    ys_db_finish(statement);
    ys_free(sql);
    ys_free(lost);
    return status;
}

static ys_status has_row(struct ys_store *store, int64_t study_id, int64_t round, int64_t place, int64_t attempt,
                         bool *has)
{
    sqlite3_stmt *statement;
    YS_TRY(ys_db_prepare(store, &statement,
                         "SELECT 1 FROM run JOIN trial ON trial.id = run.trial_id WHERE trial.study_id = ? AND "
                         "run.round = ? AND trial.position = ? AND run.attempt = ?",
                         "iiii", study_id, round, place, attempt));
    ys_status status = ys_db_step(store, statement, has);
    ys_db_finish(statement);
    return status;
}

/* The folders of runs that have no row. A kill leaves those of the round that was under way; of another round too, and
 * rows were lost with the end of the write-ahead log, which no checksum of what is left can tell. */
static ys_status verify_folders(struct ys_store *store, int64_t study_id, const char *runs,
                                struct verify_counts *verified)
{
    ys_status status = YS_OK;
    DIR *entries = opendir(runs);
    for (struct dirent *entry; status == YS_OK && entries && (entry = readdir(entries));) {
        long long round, place, attempt;
        bool has = true;
        if (sscanf(entry->d_name, "r%lld-t%lld-a%lld-", &round, &place, &attempt) != 3)
            continue;
        status = has_row(store, study_id, round, place, attempt, &has);
        if (status != YS_OK || has)
            continue;
        verified->is_lost |= verified->lost_round != YS_FIELD_NONE && verified->lost_round != round;
        verified->lost_round = round;
        add_text(verified->unstored, ys_strdup(entry->d_name));
    }
    if (entries)
        closedir(entries);
    return status;
}

/* Of a study that did not end; of one that was gone on with the rounds were made again. */
static ys_status verify_runs(struct ys_store *store, int64_t study_id, struct verify_counts *verified)
{
    sqlite3_stmt *statement;
    bool is_there;
    YS_TRY(ys_db_prepare(store, &statement, "SELECT folder FROM study WHERE id = ? AND status = 'running'", "i",
                         study_id));
    ys_status status = ys_db_step(store, statement, &is_there);
    const char *folder = status == YS_OK && is_there ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    char *runs = folder ? ys_format("%s/%s/runs", ys_store_folder(store), folder) : NULL;
    ys_db_finish(statement);
    if (runs)
        status = verify_folders(store, study_id, runs, verified);
    ys_free(runs);
    if (status == YS_OK && verified->is_lost)
        add_text(verified->damaged, ys_format("runs of several rounds have a folder and no row: rows were lost"));
    return status;
}

/* What SQLite knows of its own pages and indexes: of the whole file. */
static ys_status verify_file(struct ys_store *store, struct verify_counts *verified)
{
    sqlite3_stmt *statement;
    bool more = true;
    YS_TRY(ys_db_prepare(store, &statement, "PRAGMA main.integrity_check(100)", ""));
    ys_status status = YS_OK;
    while (status == YS_OK && more) {
        status = ys_db_step(store, statement, &more);
        const char *text = status == YS_OK && more ? (const char *)sqlite3_column_text(statement, 0) : NULL;
        if (text && strcmp(text, "ok") != 0)
            add_text(verified->damaged, ys_format("results.db: %s", text));
    }
    ys_db_finish(statement);
    return status;
}

/* A file that cannot be read to its end is damaged too; the rest is looked at all the same. */
static ys_status keep_going(ys_status status, struct verify_counts *verified)
{
    if (status != YS_EFORMAT)
        return status;
    add_text(verified->damaged, ys_strdup(ys_error()));
    return YS_OK;
}

ys_status ys_store_verify(struct ys_store *store, int64_t study_id, ys_json **found)
{
    struct verify_counts verified = {
        .damaged = ys_json_array(), .unstored = ys_json_array(), .lost_round = YS_FIELD_NONE};
    ys_status status = YS_OK;
    for (int i = 0; status == YS_OK && i < YS_ROW_TABLES; i++)
        status = keep_going(verify_table(store, study_id, &ys_row_infos[i], &verified), &verified);
    if (status == YS_OK)
        status = keep_going(verify_file(store, &verified), &verified);
    if (status == YS_OK)
        status = keep_going(verify_runs(store, study_id, &verified), &verified);
    ys_json *chain = NULL;
    if (status == YS_OK)
        status = keep_going(ys_link_verify(store, study_id, verified.damaged, &chain), &verified);
    ys_json *made = ys_json_object();
    ys_json_set_int(made, "rows", verified.rows);
    ys_json_set_int(made, "unverified", verified.unverified);
    ys_json_set(made, "chain", chain ? chain : ys_json_null());
    ys_json_set(made, "unstored", verified.unstored);
    ys_status set = ys_json_set(made, "damaged", verified.damaged);
    status = status == YS_OK ? set : status;
    if (status == YS_OK)
        *found = made;
    else
        ys_json_free(made);
    return status;
}
