#include "store/store_tables.h"

#include "base/log.h"
#include "base/mem.h"
#include "store/hash_chain.h"
#include "store/stored_rows.h"

/* "YSTK": tells file(1) and us whose database this is. */
#define APPLICATION_ID "1498633291"

static const char schema[] = "CREATE TABLE study ("
                             " id INTEGER PRIMARY KEY AUTOINCREMENT,"
                             " name TEXT NOT NULL,"
                             " folder TEXT NOT NULL UNIQUE,"
                             " started_s INTEGER NOT NULL,"
                             " ended_s INTEGER,"
                             " status TEXT NOT NULL,"
                             " exit_code INTEGER,"
                             " timing TEXT,"
                             " doc TEXT NOT NULL,"
                             " parts INTEGER NOT NULL DEFAULT 0,"
                             " sum INTEGER) STRICT;"
                             "CREATE TABLE host ("
                             " study_id INTEGER PRIMARY KEY REFERENCES study(id) ON DELETE CASCADE,"
                             " doc TEXT NOT NULL,"
                             " sum INTEGER) STRICT;"
                             "CREATE TABLE trial ("
                             " id INTEGER PRIMARY KEY,"
                             " study_id INTEGER NOT NULL REFERENCES study(id) ON DELETE CASCADE,"
                             " position INTEGER NOT NULL,"
                             " name TEXT NOT NULL,"
                             " doc TEXT NOT NULL,"
                             " parts INTEGER NOT NULL DEFAULT 0,"
                             " sum INTEGER,"
                             " UNIQUE (study_id, name)) STRICT;"
                             "CREATE TABLE proof ("
                             " trial_id INTEGER PRIMARY KEY REFERENCES trial(id) ON DELETE CASCADE,"
                             " verdict TEXT NOT NULL,"
                             " doc TEXT NOT NULL,"
                             " sum INTEGER) STRICT;"
                             "CREATE TABLE run ("
                             " id INTEGER PRIMARY KEY,"
                             " trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,"
                             " round INTEGER NOT NULL,"
                             " attempt INTEGER NOT NULL,"
                             " status TEXT NOT NULL,"
                             " stored_s INTEGER NOT NULL,"
                             " facts TEXT NOT NULL,"
                             " parts INTEGER NOT NULL DEFAULT 0,"
                             " sum INTEGER,"
                             " UNIQUE (trial_id, round, attempt)) STRICT;"
                             "CREATE TABLE series ("
                             " run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
                             " position INTEGER NOT NULL,"
                             " name TEXT NOT NULL,"
                             " is_real INTEGER NOT NULL,"
                             " count INTEGER NOT NULL,"
                             " data BLOB NOT NULL,"
                             " sum INTEGER,"
                             " PRIMARY KEY (run_id, name)) STRICT;"
                             "PRAGMA application_id = " APPLICATION_ID ";"
                             "PRAGMA user_version = " YS_STORE_VERSION_TEXT ";";

static const char metric_schema[] = "CREATE TABLE metric_form ("
                                    " id INTEGER PRIMARY KEY,"
                                    " doc TEXT NOT NULL UNIQUE) STRICT;"
                                    "CREATE TABLE metric ("
                                    " run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
                                    " position INTEGER NOT NULL,"
                                    " name TEXT NOT NULL,"
                                    " value REAL,"
                                    " reason TEXT,"
                                    " note TEXT,"
                                    " cpu_s REAL,"
                                    " steady INTEGER,"
                                    " steady_from INTEGER,"
                                    " \"left\" REAL,"
                                    " windows TEXT,"
                                    " form INTEGER NOT NULL REFERENCES metric_form(id),"
                                    " sum INTEGER,"
                                    " PRIMARY KEY (run_id, name)) STRICT;";

static ys_status number(struct ys_store *store, const char *sql, int64_t *value)
{
    sqlite3_stmt *statement;
    bool more = false;
    YS_TRY(ys_db_prepare(store, &statement, sql, ""));
    ys_status status = ys_db_step(store, statement, &more);
    if (more)
        *value = sqlite3_column_int64(statement, 0);
    ys_db_finish(statement);
    return status;
}

static ys_status add_sums(struct ys_store *store, const struct ys_row_info *info)
{
    char *columns = info->parts ? ys_format("ALTER TABLE %s ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;"
                                            "UPDATE %s SET parts = %s;",
                                            info->table, info->table, info->parts)
                                : ys_strdup("");
    char *sums = ys_format("%sALTER TABLE %s ADD COLUMN sum INTEGER; UPDATE %s SET sum = %s;", columns, info->table,
                           info->table, info->sum);
    ys_status status = ys_db_exec(store, sums);
    ys_free(columns);
    ys_free(sums);
    return status;
}

/* Metrics of earlier versions, whose object is one text, as rows of which all but the value is in the form. */
#define EARLIER_METRICS(sum)                                                                                           \
    "CREATE TEMP VIEW metric_form AS SELECT rowid AS id, doc FROM main.metric;"                                        \
    "CREATE TEMP VIEW metric AS SELECT run_id, position, name, value, NULL AS reason, NULL AS note, NULL AS cpu_s,"    \
    " NULL AS steady, NULL AS steady_from, NULL AS \"left\", NULL AS windows, rowid AS form, " sum                     \
    " AS sum FROM main.metric"
/* A checksum that holds is given as one that holds of such a row. */
#define EARLIER_SUM                                                                                                    \
    "CASE WHEN sum IS row_sum('metric', run_id, position, name, value, doc) THEN row_sum('metric', run_id, position,"  \
    " name, value, NULL, NULL, NULL, NULL, NULL, NULL, NULL, doc) ELSE 0 END"

/* Tables without checksums are read through views that have them as null, which is what row_sum() then is. */
static ys_status view_earlier(struct ys_store *store)
{
    YS_TRY(ys_db_exec(store, "PRAGMA temp_store = MEMORY"));
    YS_TRY(ys_db_exec(store, store->version < 2 ? EARLIER_METRICS("NULL") : EARLIER_METRICS(EARLIER_SUM)));
    for (int i = 0; store->version < 2 && i < YS_ROW_METRIC; i++) {
        const struct ys_row_info *info = &ys_row_infos[i];
        char *view = ys_format("CREATE TEMP VIEW %s AS SELECT *,%s NULL AS sum FROM main.%s", info->table,
                               info->parts ? " NULL AS parts," : "", info->table);
        ys_status status = ys_db_exec(store, view);
        ys_free(view);
        YS_TRY(status);
    }
    return YS_OK;
}

/* What is damaged is not carried over, where its rows would get checksums that hold. */
static ys_status check_metrics(struct ys_store *store)
{
    ys_json *damaged = ys_json_array();
    int64_t count = 0;
    ys_status status = number(store, "SELECT count(*) FROM metric WHERE NOT (" YS_METRIC_INTACT ")", &count);
    if (status == YS_OK)
        status = ys_link_verify_all(store, damaged);
    count += (int64_t)ys_json_size(damaged);
    if (status == YS_OK && count > 0)
        status = ys_fail(YS_EFORMAT,
                         "%s is damaged (%s), and of an earlier yardstick, whose tables this one has to change before "
                         "it writes: nothing was changed, and `yardstick show --verify` lists what is damaged; restore "
                         "a copy, or give another folder with --results DIR",
                         store->path, ys_json_text(ys_json_at(damaged, 0), "metrics are not as they were stored"));
    ys_json_free(damaged);
    return status;
}

static ys_status carry_metrics(struct ys_store *store)
{
    sqlite3_stmt *row;
    bool more = true;
    YS_TRY(ys_db_prepare(store, &row, "SELECT run_id, position, name, doc FROM earlier_metric ORDER BY rowid", ""));
    ys_status status = YS_OK;
    while (status == YS_OK && more) {
        ys_json *metric = NULL;
        status = ys_db_step(store, row, &more);
        if (status == YS_OK && more)
            status = ys_db_json(store, row, 3, &metric);
        if (status == YS_OK && more)
            status = ys_row_put_metric(store, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1),
                                       (const char *)sqlite3_column_text(row, 2), metric);
        ys_json_free(metric);
    }
    ys_db_finish(row);
    return status;
}

/* What is without checksums is taken as it is, and guarded from now on. */
static ys_status carry_over(struct ys_store *store)
{
    const bool has_sums = store->version >= 2;
    store->version = YS_STORE_VERSION;
    YS_TRY(ys_db_exec(store, "ALTER TABLE metric RENAME TO earlier_metric"));
    YS_TRY(ys_db_exec(store, metric_schema));
    YS_TRY(carry_metrics(store));
    YS_TRY(ys_db_exec(store, "DROP TABLE earlier_metric; PRAGMA user_version = " YS_STORE_VERSION_TEXT));
    for (int i = 0; !has_sums && i < YS_ROW_METRIC; i++)
        YS_TRY(add_sums(store, &ys_row_infos[i]));
    return has_sums ? check_metrics(store) : YS_OK;
}

/* In WAL mode, where readers need not undo what a killed one has left. */
static ys_status migrate(struct ys_store *store)
{
    if (store->version >= 2) {
        YS_TRY(view_earlier(store));
        YS_TRY(check_metrics(store));
        YS_TRY(ys_db_exec(store, "DROP VIEW temp.metric; DROP VIEW temp.metric_form"));
    }
    ys_log_info("%s is of an earlier yardstick: its %s, and only this yardstick or a newer one reads it from now on",
                store->path, store->version < 2 ? "rows get checksums" : "metrics get columns of their own");
    YS_TRY(ys_db_exec(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"));
    YS_TRY(ys_store_begin(store));
    return ys_store_end(store, carry_over(store));
}

static ys_status make_tables(struct ys_store *store)
{
    YS_TRY(ys_store_begin(store));
    store->version = YS_STORE_VERSION;
    ys_status status = ys_db_exec(store, schema);
    return ys_store_end(store, status == YS_OK ? ys_db_exec(store, metric_schema) : status);
}

ys_status ys_schema_ensure(struct ys_store *store, bool may_write)
{
    int64_t version = 0, tables = 0;
    YS_TRY(number(store, "PRAGMA user_version", &version));
    YS_TRY(number(store, "SELECT count(*) FROM sqlite_schema", &tables));
    if (version > YS_STORE_VERSION)
        return ys_fail(YS_EFORMAT,
                       "%s was written by a newer yardstick (its tables are of version %lld, this one knows %d): use "
                       "the newer one, "
                       "or another folder with --results DIR",
                       store->path, (long long)version, YS_STORE_VERSION);
    if (version < 0 || (version == 0 && tables != 0))
        return ys_fail(YS_EFORMAT,
                       "%s is a database, but holds no results of yardstick: give another folder with --results DIR",
                       store->path);
    const ys_status none = version == 0 ? ys_store_no_results(store) : YS_OK;
    if (version == 0 && !may_write)
        return none;
    if (none == YS_EFORMAT)
        ys_log_warn("%s", ys_error());
    store->version = version;
    YS_TRY(ys_row_functions_register(store));
    if (version == 0)
        return make_tables(store);
    if (version < YS_STORE_VERSION && may_write)
        return migrate(store);
    if (version < 2)
        ys_log_info("%s is of an earlier yardstick, without checksums: what is read from it cannot be verified; the "
                    "next `run` or `resume` there adds them",
                    store->path);
    return version < YS_STORE_VERSION ? view_earlier(store) : YS_OK;
}
