/* SQLite, wrapped just enough that the rest of the room reads as SQL. Of this room alone. */
#ifndef YS_STORE_DATABASE_H
#define YS_STORE_DATABASE_H

#include "base/json.h"
#include "base/lock.h"
#include "base/status.h"
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>

struct ys_store {
    char *folder;
    char *path; /* of results.db */
    sqlite3 *db;
    struct ys_lock lock; /* none for readers */
};

/** The failure of the last call on `store`, in words that name the folder and what to do. `doing` completes "cannot
 * ...". */
ys_status ys_db_fail(const struct ys_store *store, int code, const char *doing);

/** Statements without results. */
ys_status ys_db_exec(struct ys_store *store, const char *sql);

/** Prepares `sql` and binds one argument a letter of `kinds`: i int64_t, t const char * (NULL binds NULL), d double, n
 * nothing (NULL). Texts are borrowed until ys_db_finish(). */
ys_status ys_db_prepare(struct ys_store *store, sqlite3_stmt **statement, const char *sql, const char *kinds, ...);
/** One row: *more tells whether there was one. */
ys_status ys_db_step(struct ys_store *store, sqlite3_stmt *statement, bool *more);
void ys_db_finish(sqlite3_stmt *statement); /* NULL is fine */
/** Prepares, binds, runs to the end. */
ys_status ys_db_run(struct ys_store *store, const char *sql, const char *kinds, ...);

/** BEGIN IMMEDIATE; and its end: COMMIT when `status` is YS_OK, ROLLBACK otherwise. Returns `status`, or COMMIT's own
 * failure. */
ys_status ys_db_begin(struct ys_store *store);
ys_status ys_db_end(struct ys_store *store, ys_status status);

/** The JSON text in column `column`; NULL gives null. */
ys_status ys_db_json(const struct ys_store *store, sqlite3_stmt *statement, int column, ys_json **value);
/** As ys_json_dump(compact), with the failure recorded. Free with ys_free(). */
ys_status ys_db_dump(const ys_json *value, char **text);

#endif
