#include "store/stored_metric.h"

#include "base/mem.h"
#include "store/store.h"
#include "store/stored_rows.h"

#include <math.h>

#define OF_WINDOW(member, what) YS_FIELD(struct ys_run_windows, member, YS_FIELD_INTS, "1e-9", 0, what)
static const struct ys_field windows_fields[] = {
    YS_FIELD(struct ys_run_windows, blocks, YS_FIELD_INT, "1", 0, "blocks, or requests, after the first"),
    YS_FIELD(struct ys_run_windows, first, YS_FIELD_INT, "1", 0, "the eighth at which the first window begins"),
    OF_WINDOW(rate_per_s, "in each window, over that of the own part"),
    OF_WINDOW(step_s, "likewise"),
    OF_WINDOW(latency_p50_s, "likewise"),
    OF_WINDOW(latency_p99_s, "likewise"),
    OF_WINDOW(drift, "of each window"),
};
const struct ys_record ys_run_windows_record = YS_RECORD("windows", struct ys_run_windows, windows_fields);

#define OF_METRIC(member, kind, unit, what)                                                                            \
    YS_FIELD(struct ys_run_metric, member, kind, unit, YS_FIELD_NULL | YS_FIELD_LATER, what)
static const struct ys_field metric_fields[] = {
    OF_METRIC(value, YS_FIELD_REAL, NULL, "null where there is none"),
    OF_METRIC(reason, YS_FIELD_TEXT, NULL, "why not"),
    OF_METRIC(note, YS_FIELD_TEXT, NULL, "what is to be known of the value"),
    OF_METRIC(cpu_s, YS_FIELD_REAL, "s", "processor time meanwhile, at most"),
    OF_METRIC(steady, YS_FIELD_TRUTH, NULL, "whether it is of a steady part"),
    OF_METRIC(steady_from, YS_FIELD_INT, "1", "the first block or request of it"),
    OF_METRIC(left, YS_FIELD_REAL, "1", "of warm-up in it"),
    YS_FIELD_OF(struct ys_run_metric, windows, YS_FIELD_OBJECT_OWNED, &ys_run_windows_record,
                YS_FIELD_NULL | YS_FIELD_LATER, "it in parts of the run that another run shares"),
};
const struct ys_record ys_run_metric_record = YS_RECORD("metric", struct ys_run_metric, metric_fields);

enum { FIELDS = sizeof metric_fields / sizeof metric_fields[0], FORM = FIELDS };
_Static_assert(FIELDS + 1 == YS_METRIC_COLUMN_COUNT, "YS_METRIC_COLUMNS lists another number of columns");

/* Binds to parameter `place` what a column holds of the object `form`, and leaves a blank of it there, which tells a
 * whole number from a real one, and keeps the sign of a zero. NULL for what it has not, or of another kind. */
static int take_member(ys_json *form, const struct ys_field *field, sqlite3_stmt *statement, int place)
{
    const ys_json *member = ys_json_get(form, field->name);
    const enum ys_json_type type = ys_json_type_of(member);
    const double number = ys_json_number(member, 0);
    ys_json *blank = NULL;
    int code;
    if (field->kind == YS_FIELD_REAL && (type == YS_JSON_INT || type == YS_JSON_REAL)) {
        code = sqlite3_bind_double(statement, place, number);
        blank = type == YS_JSON_INT ? ys_json_int(0) : ys_json_real(number != 0 ? 0 : number);
    } else if (field->kind == YS_FIELD_INT && type == YS_JSON_INT) {
        code = sqlite3_bind_int64(statement, place, ys_json_integer(member, 0));
    } else if (field->kind == YS_FIELD_TRUTH && type == YS_JSON_BOOL) {
        code = sqlite3_bind_int(statement, place, ys_json_truth(member, false));
    } else if (field->kind == YS_FIELD_TEXT && type == YS_JSON_STRING) {
        code = sqlite3_bind_text(statement, place, ys_json_text(member, ""), -1, SQLITE_TRANSIENT);
    } else if (field->kind == YS_FIELD_OBJECT_OWNED && type == YS_JSON_OBJECT) {
        char *text = ys_json_dump(member, YS_JSON_COMPACT);
        code = sqlite3_bind_text(statement, place, text, -1, SQLITE_TRANSIENT);
        ys_free(text);
    } else {
        return sqlite3_bind_null(statement, place);
    }
    ys_json_set(form, field->name, blank ? blank : ys_json_null());
    return code;
}

/* The other way round; `blank` may be NULL. NULL: it is no JSON. */
static ys_json *make_member(const struct ys_field *field, sqlite3_value *column, const ys_json *blank)
{
    ys_json *member = NULL;
    const char *text;
    double number;
    switch (field->kind) {
    case YS_FIELD_REAL:
        number = sqlite3_value_double(column);
        if (ys_json_type_of(blank) == YS_JSON_INT)
            return ys_json_int(llround(number));
        return ys_json_real(number != 0 ? number : ys_json_number(blank, 0));
    case YS_FIELD_INT:
        return ys_json_int(sqlite3_value_int64(column));
    case YS_FIELD_TRUTH:
        return ys_json_bool(sqlite3_value_int(column) != 0);
    case YS_FIELD_TEXT:
        return ys_json_string((const char *)sqlite3_value_text(column));
    default:
        text = (const char *)sqlite3_value_text(column);
        (void)!ys_json_parse(text ? text : "", (size_t)sqlite3_value_bytes(column), field->name, &member);
        return member;
    }
}

/* Of YS_METRIC_COLUMNS. Earlier versions have all of it in what is the form here. */
static ys_status make_object(const struct ys_store *store, sqlite3_value *const *columns, ys_json **object)
{
    const char *form = (const char *)sqlite3_value_text(columns[FORM]);
    ys_json *made = NULL;
    YS_TRY(ys_json_parse(form ? form : "", (size_t)sqlite3_value_bytes(columns[FORM]), store->path, &made));
    ys_status status = YS_OK;
    for (int i = 0; status == YS_OK && store->version >= YS_STORE_VERSION && i < FIELDS; i++) {
        const char *name = metric_fields[i].name;
        if (sqlite3_value_type(columns[i]) == SQLITE_NULL)
            continue;
        ys_json *member = make_member(&metric_fields[i], columns[i], ys_json_get(made, name));
        status = member ? ys_json_set(made, name, member) : YS_EFORMAT;
    }
    if (status == YS_OK)
        *object = made;
    else
        ys_json_free(made);
    return status;
}

ys_status ys_metric_row_json(const struct ys_metric_row *row, ys_json **metric)
{
    sqlite3_value *columns[YS_METRIC_COLUMN_COUNT];
    for (int i = 0; i < YS_METRIC_COLUMN_COUNT; i++)
        columns[i] = sqlite3_column_value(row->row, i);
    return make_object(row->store, columns, metric);
}

ys_status ys_metric_row_read(const struct ys_metric_row *row, struct ys_run_metric *metric)
{
    if (row->store->version < YS_STORE_VERSION) {
        const char *form = (const char *)sqlite3_column_text(row->row, FORM);
        return ys_record_parse(&ys_run_metric_record, form ? form : "", (size_t)sqlite3_column_bytes(row->row, FORM),
                               row->name, metric);
    }
    ys_status status = YS_OK;
    ys_record_init(&ys_run_metric_record, metric);
    for (int i = 0; status == YS_OK && i < FIELDS; i++) {
        if (sqlite3_column_type(row->row, i) == SQLITE_NULL)
            continue;
        ys_json *member = make_member(&metric_fields[i], sqlite3_column_value(row->row, i), NULL);
        status = member ? ys_record_read_field(&metric_fields[i], member, (char *)metric + metric_fields[i].offset)
                        : YS_EFORMAT;
        ys_json_free(member);
    }
    if (status != YS_OK)
        ys_record_fini(&ys_run_metric_record, metric);
    return status;
}

void ys_row_metric_doc(sqlite3_context *context, int count, sqlite3_value **columns)
{
    const struct ys_store *store = sqlite3_user_data(context);
    ys_json *metric = NULL;
    (void)count;
    if (store->version < YS_STORE_VERSION) {
        sqlite3_result_value(context, columns[FORM]);
        return;
    }
    char *text = make_object(store, columns, &metric) == YS_OK ? ys_json_dump(metric, YS_JSON_COMPACT) : NULL;
    if (text)
        sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_result_error(context, ys_error(), -1);
    ys_free(text);
    ys_json_free(metric);
}

/* Unless it is there. */
static ys_status put_form(struct ys_store *store, const char *form)
{
    static const char insert[] = "INSERT OR IGNORE INTO metric_form (doc) VALUES (?)";
    sqlite3_stmt *statement;
    bool more;
    YS_TRY(ys_db_prepare_kept(store, YS_KEPT_PUT_FORM, &statement, insert, "t", form));
    ys_status status = ys_db_step(store, statement, &more);
    ys_db_keep(statement);
    return status;
}

ys_status ys_row_put_metric(struct ys_store *store, int64_t run_id, int64_t position, const char *name,
                            const ys_json *metric)
{
    static const char insert[] = "INSERT INTO metric (run_id, position, name, value, reason, note, cpu_s, steady, "
                                 "steady_from, \"left\", windows,"
                                 " form, sum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, (SELECT id FROM "
                                 "metric_form WHERE doc = ?12),"
                                 " row_sum('metric', ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12))";
    sqlite3_stmt *statement;
    char *text = NULL;
    bool more;
    YS_TRY(ys_db_prepare_kept(store, YS_KEPT_PUT_METRIC, &statement, insert, "iit", run_id, position, name));
    ys_json *form = ys_json_copy(metric);
    int code = SQLITE_OK;
    for (int i = 0; code == SQLITE_OK && i < FIELDS; i++)
        code = take_member(form, &metric_fields[i], statement, 4 + i);
    ys_status status = ys_db_dump(form, &text);
    if (status == YS_OK && code == SQLITE_OK)
        code = sqlite3_bind_text(statement, 4 + FIELDS, text, -1, SQLITE_STATIC);
    if (status == YS_OK && code != SQLITE_OK)
        status = ys_db_fail(store, code, "write results");
    if (status == YS_OK)
        status = put_form(store, text);
    if (status == YS_OK)
        status = ys_db_step(store, statement, &more);
    ys_db_keep(statement);
    ys_free(text);
    ys_json_free(form);
    return status;
}
