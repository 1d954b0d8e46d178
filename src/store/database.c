#include "store/database.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

ys_status ys_db_fail(const struct ys_store *store, int code, const char *doing)
{
    int primary = code & 0xff;
    int cause = store->db ? sqlite3_system_errno(store->db) : 0;
    if (primary == SQLITE_NOMEM)
        return ys_out_of_memory();
    if (primary == SQLITE_FULL || cause == ENOSPC || cause == EDQUOT || cause == EFBIG)
        return ys_fail(
            YS_EIO,
            "cannot %s: no space left for %s; what was stored before is kept. Free some space (or give another "
            "folder with --results DIR), then `yardstick resume`, or run it again where nothing of it was stored",
            doing, store->path);
    if (primary == SQLITE_BUSY || primary == SQLITE_LOCKED)
        return ys_fail(YS_EBUSY, "cannot %s: another program keeps %s locked; end it and try again", doing,
                       store->path);
    if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB)
        return ys_fail(YS_EFORMAT,
                       "cannot %s: %s is damaged or no database (%s); move it away and start afresh, or restore a copy",
                       doing, store->path, sqlite3_errstr(code));
    if (primary == SQLITE_READONLY || primary == SQLITE_PERM || primary == SQLITE_CANTOPEN || primary == SQLITE_AUTH)
        return ys_fail(
            YS_EIO,
            "cannot %s: %s cannot be opened or written (%s%s%s); check its owner and rights, or give another "
            "folder with --results DIR",
            doing, store->path, sqlite3_errstr(code), cause ? ": " : "", cause ? strerror(cause) : "");
    if (primary == SQLITE_IOERR)
        return ys_fail(
            YS_EIO,
            "cannot %s: the disk refused %s (%s%s%s); check the disk, or give another folder with --results DIR", doing,
            store->path, sqlite3_errstr(code), cause ? ": " : "", cause ? strerror(cause) : "");
    /* A table or a column that is not there: yardstick's statements fit its tables, so these are not as it made them.
     */
    if (primary == SQLITE_ERROR || primary == SQLITE_MISMATCH)
        return ys_fail(YS_EFORMAT, "cannot %s: %s is damaged (%s); move it away and start afresh, or restore a copy",
                       doing, store->path, store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(code));
    return ys_fail(YS_EINTERNAL, "cannot %s: %s: %s", doing, store->path,
                   store->db ? sqlite3_errmsg(store->db) : sqlite3_errstr(code));
}

ys_status ys_db_exec(struct ys_store *store, const char *sql)
{
    int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? YS_OK : ys_db_fail(store, sqlite3_extended_errcode(store->db), "write results");
}

static int bind_all(sqlite3_stmt *statement, const char *kinds, va_list arguments)
{
    int code = SQLITE_OK;
    for (int i = 0; kinds[i] && code == SQLITE_OK; i++) {
        if (kinds[i] == 'i')
            code = sqlite3_bind_int64(statement, i + 1, va_arg(arguments, int64_t));
        else if (kinds[i] == 'd')
            code = sqlite3_bind_double(statement, i + 1, va_arg(arguments, double));
        else if (kinds[i] == 't')
            code = sqlite3_bind_text(statement, i + 1, va_arg(arguments, const char *), -1, SQLITE_STATIC);
        else
            code = sqlite3_bind_null(statement, i + 1);
    }
    return code;
}

static ys_status prepare(struct ys_store *store, sqlite3_stmt **statement, const char *sql, const char *kinds,
                         va_list arguments)
{
    *statement = NULL;
    int code = sqlite3_prepare_v2(store->db, sql, -1, statement, NULL);
    if (code == SQLITE_OK)
        code = bind_all(*statement, kinds, arguments);
    if (code == SQLITE_OK)
        return YS_OK;
    ys_status status = ys_db_fail(store, sqlite3_extended_errcode(store->db), "use results");
    ys_db_finish(*statement);
    *statement = NULL;
    return status;
}

ys_status ys_db_prepare(struct ys_store *store, sqlite3_stmt **statement, const char *sql, const char *kinds, ...)
{
    va_list arguments;
    va_start(arguments, kinds);
    ys_status status = prepare(store, statement, sql, kinds, arguments);
    va_end(arguments);
    return status;
}

ys_status ys_db_prepare_kept(struct ys_store *store, enum ys_kept which, sqlite3_stmt **statement, const char *sql,
                             const char *kinds, ...)
{
    if (!store->kept[which])
        YS_TRY(ys_db_prepare(store, &store->kept[which], sql, ""));
    *statement = store->kept[which];
    va_list arguments;
    va_start(arguments, kinds);
    const int code = bind_all(*statement, kinds, arguments);
    va_end(arguments);
    return code == SQLITE_OK ? YS_OK : ys_db_fail(store, code, "use results");
}

void ys_db_keep(sqlite3_stmt *statement)
{
    sqlite3_reset(statement);
}

ys_status ys_db_step(struct ys_store *store, sqlite3_stmt *statement, bool *more)
{
    int code = sqlite3_step(statement);
    *more = code == SQLITE_ROW;
    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return YS_OK;
    return ys_db_fail(store, sqlite3_extended_errcode(store->db),
                      sqlite3_stmt_readonly(statement) ? "read results" : "write results");
}

void ys_db_finish(sqlite3_stmt *statement)
{
    sqlite3_finalize(statement);
}

ys_status ys_db_run(struct ys_store *store, const char *sql, const char *kinds, ...)
{
    sqlite3_stmt *statement;
    va_list arguments;
    va_start(arguments, kinds);
    ys_status status = prepare(store, &statement, sql, kinds, arguments);
    va_end(arguments);
    bool more = true;
    while (status == YS_OK && more)
        status = ys_db_step(store, statement, &more);
    ys_db_finish(statement);
    return status;
}

ys_status ys_db_collect(struct ys_store *store, sqlite3_stmt *statement, ys_db_reader read, ys_json **array)
{
    ys_json *rows = ys_json_array();
    ys_status status = YS_OK;
    bool more = true;
    while (status == YS_OK) {
        status = ys_db_step(store, statement, &more);
        if (status != YS_OK || !more)
            break;
        ys_json *object = ys_json_object();
        status = read(store, statement, object);
        if (status == YS_OK && ys_json_size(object) > 0)
            ys_json_append(rows, object);
        else
            ys_json_free(object);
    }
    ys_db_finish(statement);
    if (status == YS_OK)
        *array = rows;
    else
        ys_json_free(rows);
    return status;
}

ys_status ys_db_json(const struct ys_store *store, sqlite3_stmt *statement, int column, ys_json **value)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    if (text)
        return ys_json_parse(text, (size_t)sqlite3_column_bytes(statement, column), store->path, value);
    if (sqlite3_column_type(statement, column) != SQLITE_NULL)
        return ys_out_of_memory();
    *value = ys_json_null();
    return YS_OK;
}

ys_status ys_db_dump(const ys_json *value, char **text)
{
    char *dump = ys_json_dump(value, YS_JSON_COMPACT);
    if (!dump)
        return YS_EINVAL; /* nested too deep */
    *text = dump;
    return YS_OK;
}
