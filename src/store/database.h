/* SQLite, wrapped just enough that the rest of the room reads as SQL. Of this room alone. */
#ifndef YS_STORE_DATABASE_H
#define YS_STORE_DATABASE_H

#include "base/files/lock.h"
#include "base/files/working_folder.h"
#include "base/json/json.h"
#include "base/status.h"
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>

/* Statements that are made for each of thousands of trials, runs or metrics. */
enum ys_kept { YS_KEPT_RUNS, YS_KEPT_METRICS, YS_KEPT_PUT_METRIC, YS_KEPT_PUT_FORM, YS_KEPT };

struct ys_store {
    char *folder;
    char *path; /* of results.db */
    sqlite3 *db;
    sqlite3_stmt *kept[YS_KEPT]; /* of ys_db_prepare_kept(); NULL */
    struct ys_lock lock;         /* none for readers */
    struct ys_working copy;      /* what is read in place of a database that cannot be read where it lies; else none */
    int64_t version;             /* of the tables as they lie in the file */
    int depth;                   /* of transactions begun one inside the other: SQLite sees the outermost alone */
    bool spoiled;                /* one of them failed: the outermost cannot be committed */
    char *made_folder;           /* of a study begun in this transaction; it goes when the study does */
    size_t damaged;              /* rows met that are not as they were stored */
    ys_json *told;               /* set of those that were warned of */
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
/** As ys_db_prepare() for a statement that is compiled once; parameters behind the last letter are as they were.
 * ys_db_keep() ends its use; ys_store_close() frees it. */
ys_status ys_db_prepare_kept(struct ys_store *store, enum ys_kept which, sqlite3_stmt **statement, const char *sql,
                             const char *kinds, ...);
void ys_db_keep(sqlite3_stmt *statement);
/** Prepares, binds, runs to the end. */
ys_status ys_db_run(struct ys_store *store, const char *sql, const char *kinds, ...);

/** Makes an object of a row; left empty, the row is left out. */
typedef ys_status (*ys_db_reader)(struct ys_store *store, sqlite3_stmt *row, ys_json *object);
/** An array with one object a row of `statement`, which is finished here. */
ys_status ys_db_collect(struct ys_store *store, sqlite3_stmt *statement, ys_db_reader read, ys_json **array);

/** The JSON text in column `column`; NULL gives null. */
ys_status ys_db_json(const struct ys_store *store, sqlite3_stmt *statement, int column, ys_json **value);
/** As ys_json_dump(compact), with the failure recorded. Free with ys_free(). */
ys_status ys_db_dump(const ys_json *value, char **text);

/** Says that there are none where they were looked for. YS_ENOTFOUND; YS_EFORMAT: a study had some. */
ys_status ys_store_no_results(const struct ys_store *store) YS_MUST_CHECK;
/** The folder of a study, 001-name, of the highest number; where there are tables of those with runs, for one that was
 * killed before it was stored leaves a folder without. False: there is none. */
bool ys_store_last_folder(const struct ys_store *store, char *name, size_t size);

#endif
