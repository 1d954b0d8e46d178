/* Every row of a study against its checksum. */
#include "store/store.h"

#include "base/mem.h"
#include "store/link.h"
#include "store/rows.h"

#include <string.h>

struct verified {
    int64_t rows, unverified;
    ys_json *damaged;
};

static ys_status add_text(ys_json *texts, char *text_taken)
{
    ys_status status = text_taken ? ys_json_append(texts, ys_json_string(text_taken)) : ys_out_of_memory();
    ys_free(text_taken);
    return status;
}

/* Columns: key, whether it has a checksum, whether that is right, how many rows of it are lost. */
static ys_status verify_row(sqlite3_stmt *row, const char *table, struct verified *verified)
{
    const char *key = (const char *)sqlite3_column_text(row, 0);
    int64_t lost = sqlite3_column_int64(row, 3);
    verified->rows++;
    verified->unverified += !sqlite3_column_int(row, 1);
    if (!sqlite3_column_int(row, 2))
        YS_TRY(add_text(verified->damaged, ys_format("%s %s is not as it was stored", table, key ? key : "?")));
    if (lost > 0)
        return add_text(verified->damaged, ys_format("%s %s lacks %lld of the rows that were stored of it", table,
                                                     key ? key : "?", (long long)lost));
    if (lost < 0)
        return add_text(verified->damaged, ys_format("%s %s has %lld rows more than were stored of it", table,
                                                     key ? key : "?", (long long)-lost));
    return YS_OK;
}

static ys_status verify_table(struct ys_store *store, int64_t study_id, const struct ys_row_info *info,
                              struct verified *verified)
{
    sqlite3_stmt *statement = NULL;
    bool more = true;
    char *lost = info->parts ? ys_format("%s.parts - (%s)", info->table, info->parts) : ys_strdup("0");
    char *sql = lost ? ys_format("SELECT %s, %s.sum IS NOT NULL, %s.sum IS %s, %s FROM %s WHERE %s", info->key,
                                 info->table, info->table, info->sum, lost, info->table, info->of_study)
                     : NULL;
    ys_status status = sql ? ys_db_prepare(store, &statement, sql, "i", study_id) : ys_out_of_memory();
    while (status == YS_OK && more) {
        status = ys_db_step(store, statement, &more);
        if (status == YS_OK && more)
            status = verify_row(statement, info->table, verified);
    }
    ys_db_finish(statement);
    ys_free(sql);
    ys_free(lost);
    return status;
}

/* What SQLite knows of its own pages and indexes: of the whole file. */
static ys_status verify_file(struct ys_store *store, struct verified *verified)
{
    sqlite3_stmt *statement;
    bool more = true;
    YS_TRY(ys_db_prepare(store, &statement, "PRAGMA main.integrity_check(100)", ""));
    ys_status status = YS_OK;
    while (status == YS_OK && more) {
        status = ys_db_step(store, statement, &more);
        const char *text = status == YS_OK && more ? (const char *)sqlite3_column_text(statement, 0) : NULL;
        if (text && strcmp(text, "ok") != 0)
            status = add_text(verified->damaged, ys_format("results.db: %s", text));
    }
    ys_db_finish(statement);
    return status;
}

/* A file that cannot be read to its end is damaged too; the rest is looked at all the same. */
static ys_status keep_going(ys_status status, struct verified *verified)
{
    return status == YS_EFORMAT ? add_text(verified->damaged, ys_strdup(ys_error())) : status;
}

ys_status ys_store_verify(struct ys_store *store, int64_t study_id, ys_json **found)
{
    struct verified verified = {.damaged = ys_json_array()};
    ys_status status = verified.damaged ? YS_OK : ys_out_of_memory();
    for (int i = 0; status == YS_OK && i < YS_ROW_TABLES; i++)
        status = keep_going(verify_table(store, study_id, &ys_row_infos[i], &verified), &verified);
    if (status == YS_OK)
        status = keep_going(verify_file(store, &verified), &verified);
    ys_json *chain = NULL;
    if (status == YS_OK)
        status = keep_going(ys_link_verify(store, study_id, verified.damaged, &chain), &verified);
    ys_json *made = ys_json_object();
    ys_json_set_int(made, "rows", verified.rows);
    ys_json_set_int(made, "unverified", verified.unverified);
    ys_json_set(made, "chain", chain ? chain : ys_json_null());
    ys_status set = ys_json_set(made, "damaged", verified.damaged);
    status = status == YS_OK ? set : status;
    if (status == YS_OK)
        *found = made;
    else
        ys_json_free(made);
    return status;
}
