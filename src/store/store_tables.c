#include "store/store_tables.h"

#include "base/log.h"
#include "base/mem.h"
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
                             "CREATE TABLE metric ("
                             " run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
                             " position INTEGER NOT NULL,"
                             " name TEXT NOT NULL,"
                             " value REAL,"
                             " doc TEXT NOT NULL,"
                             " sum INTEGER,"
                             " PRIMARY KEY (run_id, name)) STRICT;"
                             "PRAGMA application_id = " APPLICATION_ID ";"
                             "PRAGMA user_version = " YS_STORE_VERSION_TEXT ";";

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

static ys_status exec_made(struct ys_store *store, const char *sql)
{
    return ys_db_exec(store, sql);
}

static ys_status add_sums(struct ys_store *store, const struct ys_row_info *info)
{
    char *columns = info->parts ? ys_format("ALTER TABLE %s ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;"
                                            "UPDATE %s SET parts = %s;",
                                            info->table, info->table, info->parts)
                                : ys_strdup("");
    char *sums = columns ? ys_format("%sALTER TABLE %s ADD COLUMN sum INTEGER; UPDATE %s SET sum = %s;", columns,
                                     info->table, info->table, info->sum)
                         : NULL;
    ys_status status = exec_made(store, sums);
    ys_free(columns);
    ys_free(sums);
    return status;
}

/* From tables without checksums: what is there is taken as it is, and guarded from now on. */
static ys_status migrate(struct ys_store *store)
{
    ys_log_info(
        "%s is of an earlier yardstick: its rows get checksums, and only this yardstick or a newer one reads it "
        "from now on",
        store->path);
    YS_TRY(ys_db_begin(store));
    ys_status status = YS_OK;
    store->version = YS_STORE_VERSION;
    for (int i = 0; status == YS_OK && i < YS_ROW_TABLES; i++)
        status = add_sums(store, &ys_row_infos[i]);
    if (status == YS_OK)
        status = ys_db_exec(store, "PRAGMA user_version = " YS_STORE_VERSION_TEXT);
    return ys_db_end(store, status);
}

/* Tables without checksums are read through views that have them as null, which is what row_sum() then is. */
static ys_status read_unverified(struct ys_store *store)
{
    ys_log_info("%s is of an earlier yardstick, without checksums: what is read from it cannot be verified; the next "
                "`run` or `resume` there adds them",
                store->path);
    YS_TRY(ys_db_exec(store, "PRAGMA temp_store = MEMORY"));
    for (int i = 0; i < YS_ROW_TABLES; i++) {
        const struct ys_row_info *info = &ys_row_infos[i];
        char *view = ys_format("CREATE TEMP VIEW %s AS SELECT *,%s NULL AS sum FROM main.%s", info->table,
                               info->parts ? " NULL AS parts," : "", info->table);
        ys_status status = exec_made(store, view);
        ys_free(view);
        YS_TRY(status);
    }
    return YS_OK;
}

static ys_status make_tables(struct ys_store *store)
{
    YS_TRY(ys_db_begin(store));
    store->version = YS_STORE_VERSION;
    return ys_db_end(store, ys_db_exec(store, schema));
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
    YS_TRY(ys_row_sum_register(store));
    if (version == 0)
        return make_tables(store);
    if (version < YS_STORE_VERSION)
        return may_write ? migrate(store) : read_unverified(store);
    return YS_OK;
}
