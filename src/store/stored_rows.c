#include "store/stored_rows.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

#define TRIALS_OF_STUDY "(SELECT trial.id FROM trial WHERE trial.study_id = ?1)"
#define RUNS_OF_STUDY   "(SELECT run.id FROM run WHERE run.trial_id IN " TRIALS_OF_STUDY ")"

const struct ys_row_info ys_row_infos[YS_ROW_TABLES] = {
    [YS_ROW_STUDY] = {"study", YS_SUM_OF_STUDY, YS_PARTS_OF_STUDY, "study.id", "study.id = ?1"},
    [YS_ROW_HOST] = {"host", YS_SUM_OF_HOST, NULL, "host.study_id", "host.study_id = ?1"},
    [YS_ROW_TRIAL] = {"trial", YS_SUM_OF_TRIAL, YS_PARTS_OF_TRIAL, "trial.id", "trial.study_id = ?1"},
    [YS_ROW_PROOF] = {"proof", YS_SUM_OF_PROOF, NULL, "proof.trial_id", "proof.trial_id IN " TRIALS_OF_STUDY},
    [YS_ROW_RUN] = {"run", YS_SUM_OF_RUN, YS_PARTS_OF_RUN, "run.id", "run.trial_id IN " TRIALS_OF_STUDY},
    [YS_ROW_SERIES] = {"series", YS_SUM_OF_SERIES, NULL, "series.run_id || ' ' || quote(series.name)",
                       "series.run_id IN " RUNS_OF_STUDY},
    [YS_ROW_METRIC] = {"metric", YS_SUM_OF_METRIC, NULL, "metric.run_id || ' ' || quote(metric.name)",
                       "metric.run_id IN " RUNS_OF_STUDY},
};

static void put_number(struct ys_buf *bytes, char type, uint64_t number)
{
    char encoded[9] = {type};
    for (int i = 0; i < 8; i++)
        encoded[1 + i] = (char)(number >> (8 * i));
    ys_buf_append(bytes, encoded, sizeof encoded);
}

void ys_row_put_value(struct ys_buf *bytes, sqlite3_value *value)
{
    uint64_t bits;
    double real;
    int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER) {
        put_number(bytes, 'i', (uint64_t)sqlite3_value_int64(value));
    } else if (type == SQLITE_FLOAT) {
        real = sqlite3_value_double(value) + 0.0; /* SQLite keeps no sign of a zero */
        memcpy(&bits, &real, sizeof bits);
        put_number(bytes, 'r', bits);
    } else if (type == SQLITE_NULL) {
        put_number(bytes, 'n', 0);
    } else {
        const void *data = sqlite3_value_blob(value); /* before its size is asked for */
        size_t size = (size_t)sqlite3_value_bytes(value);
        put_number(bytes, type == SQLITE_TEXT ? 't' : 'b', size);
        if (size && data)
            ys_buf_append(bytes, data, size);
        bytes->failed |= size && !data;
    }
}

static void row_sum(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct ys_store *store = sqlite3_user_data(context);
    struct ys_buf bytes = {0};
    uint8_t digest[32];
    uint64_t sum = 0;
    if (store->version < 2) {
        sqlite3_result_null(context);
        return;
    }
    for (int i = 0; i < count; i++)
        ys_row_put_value(&bytes, values[i]);
    if (bytes.failed) {
        sqlite3_result_error_nomem(context);
    } else {
        ys_sha256(bytes.data, bytes.size, digest);
        for (int i = 0; i < 8; i++)
            sum |= (uint64_t)digest[i] << (8 * i);
        sqlite3_result_int64(context, (int64_t)sum);
    }
    ys_buf_free(&bytes);
}

ys_status ys_row_functions_register(struct ys_store *store)
{
    int code = sqlite3_create_function_v2(store->db, "row_sum", -1, SQLITE_UTF8, store, row_sum, NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_create_function_v2(store->db, "metric_doc", YS_METRIC_COLUMN_COUNT, SQLITE_UTF8, store,
                                          ys_row_metric_doc, NULL, NULL, NULL);
    return code == SQLITE_OK ? YS_OK : ys_db_fail(store, code, "open results");
}

ys_status ys_row_seal(struct ys_store *store, enum ys_row_table table, int64_t id, int64_t more)
{
    const struct ys_row_info *info = &ys_row_infos[table];
    char *grow = ys_format("UPDATE %s SET parts = parts + ?2 WHERE id = ?1", info->table);
    char *seal = ys_format("UPDATE %s SET sum = %s WHERE id = ?1", info->table, info->sum);
    ys_status status = more ? ys_db_run(store, grow, "ii", id, more) : YS_OK;
    if (status == YS_OK)
        status = ys_db_run(store, seal, "i", id);
    ys_free(grow);
    ys_free(seal);
    return status;
}

ys_status ys_row_require(struct ys_store *store, enum ys_row_table table, int64_t id)
{
    const struct ys_row_info *info = &ys_row_infos[table];
    sqlite3_stmt *statement = NULL;
    bool found = false, intact = false;
    char *sql = ys_format("SELECT %s.sum IS %s FROM %s WHERE id = ?", info->table, info->sum, info->table);
    ys_status status = ys_db_prepare(store, &statement, sql, "i", id);
    if (status == YS_OK)
        status = ys_db_step(store, statement, &found);
    if (status == YS_OK && found)
        intact = sqlite3_column_int(statement, 0) != 0;
    ys_db_finish(statement);
    ys_free(sql);
    if (status == YS_OK && !found)
        return ys_fail(YS_ENOTFOUND, "%s has no %s %lld", store->path, info->table, (long long)id);
    return status == YS_OK && !intact ? ys_row_fail(store, table, id) : status;
}

ys_status ys_row_fail(struct ys_store *store, enum ys_row_table table, int64_t id)
{
    store->damaged++;
    return ys_fail(
        YS_EFORMAT,
        "%s is damaged: row %lld of its table %s is not as it was stored; restore a copy, or move it away and "
        "measure again",
        store->path, (long long)id, ys_row_infos[table].table);
}

/* Whether this is the first word about that row. */
static bool is_new(struct ys_store *store, const char *name)
{
    if (!store->told)
        store->told = ys_json_object();
    bool known = ys_json_get(store->told, name) != NULL;
    if (!known)
        ys_json_set_bool(store->told, name, true);
    return !known;
}

void ys_row_note(struct ys_store *store, enum ys_row_table table, int64_t id, const char *format, ...)
{
    struct ys_buf text = {0};
    char said[400];
    va_list arguments;
    ys_buf_printf(&text, "%s %lld", ys_row_infos[table].table, (long long)id);
    bool first = is_new(store, ys_buf_text(&text));
    ys_buf_free(&text);
    store->damaged++;
    if (!first)
        return;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    ys_log_warn("%s (%s; `yardstick show --verify` lists all that is damaged)", said, store->path);
}

void ys_row_note_run(struct ys_store *store, int64_t id, int64_t round, const char *trial)
{
    ys_row_note(store, YS_ROW_RUN, id, "run %lld (round %lld of %s) is damaged: left out", (long long)id,
                (long long)round + 1, trial ? trial : "a trial");
}

void ys_row_note_lost(struct ys_store *store, enum ys_row_table table, int64_t id, int64_t lost)
{
    const char *of = ys_row_infos[table].table;
    if (lost > 0)
        ys_row_note(store, table, id, "%s %lld lacks %lld of the rows that were stored of it", of, (long long)id,
                    (long long)lost);
    else if (lost < 0)
        ys_row_note(store, table, id, "%s %lld has %lld rows more than were stored of it", of, (long long)id,
                    (long long)-lost);
}

size_t ys_store_damaged(const struct ys_store *store)
{
    return store->damaged;
}
