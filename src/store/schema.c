#include "store/schema.h"

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
                             " doc TEXT NOT NULL) STRICT;"
                             "CREATE TABLE host ("
                             " study_id INTEGER PRIMARY KEY REFERENCES study(id) ON DELETE CASCADE,"
                             " doc TEXT NOT NULL) STRICT;"
                             "CREATE TABLE trial ("
                             " id INTEGER PRIMARY KEY,"
                             " study_id INTEGER NOT NULL REFERENCES study(id) ON DELETE CASCADE,"
                             " position INTEGER NOT NULL,"
                             " name TEXT NOT NULL,"
                             " doc TEXT NOT NULL,"
                             " UNIQUE (study_id, name)) STRICT;"
                             "CREATE TABLE proof ("
                             " trial_id INTEGER PRIMARY KEY REFERENCES trial(id) ON DELETE CASCADE,"
                             " verdict TEXT NOT NULL,"
                             " doc TEXT NOT NULL) STRICT;"
                             "CREATE TABLE run ("
                             " id INTEGER PRIMARY KEY,"
                             " trial_id INTEGER NOT NULL REFERENCES trial(id) ON DELETE CASCADE,"
                             " round INTEGER NOT NULL,"
                             " attempt INTEGER NOT NULL,"
                             " status TEXT NOT NULL,"
                             " stored_s INTEGER NOT NULL,"
                             " facts TEXT NOT NULL,"
                             " UNIQUE (trial_id, round, attempt)) STRICT;"
                             "CREATE TABLE series ("
                             " run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
                             " position INTEGER NOT NULL,"
                             " name TEXT NOT NULL,"
                             " is_real INTEGER NOT NULL,"
                             " count INTEGER NOT NULL,"
                             " data BLOB NOT NULL,"
                             " PRIMARY KEY (run_id, name)) STRICT;"
                             "CREATE TABLE metric ("
                             " run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,"
                             " position INTEGER NOT NULL,"
                             " name TEXT NOT NULL,"
                             " value REAL,"
                             " doc TEXT NOT NULL,"
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
    if (version == YS_STORE_VERSION)
        return YS_OK;
    if (version != 0 || tables != 0)
        return ys_fail(YS_EFORMAT,
                       "%s is a database, but holds no results of yardstick: give another folder with --results DIR",
                       store->path);
    if (!may_write)
        return ys_fail(YS_ENOTFOUND, "no results in %s yet: `yardstick run` makes some", store->folder);
    YS_TRY(ys_db_begin(store));
    return ys_db_end(store, ys_db_exec(store, schema));
}
