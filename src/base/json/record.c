#include "base/json/record.h"
#include "base/mem.h"
#include <math.h>
#include <string.h>

const char *ys_name_of(const struct ys_names *names, int value)
{
    return value >= 0 && (size_t)value < names->count ? names->names[value] : NULL;
}

int ys_name_find(const struct ys_names *names, const char *text)
{
    for (size_t i = 0; text && i < names->count; i++)
        if (names->names[i] && strcmp(names->names[i], text) == 0)
            return (int)i;
    return YS_NAME_NONE;
}

static void *place_of(const struct ys_field *field, void *item)
{
    return (char *)item + field->offset;
}

static size_t item_size(const struct ys_field *field)
{
    switch (field->kind) {
    case YS_FIELD_LIST:
        return field->record->size;
    case YS_FIELD_TEXTS:
        return sizeof(char *);
    case YS_FIELD_INTS:
        return sizeof(int64_t);
    case YS_FIELD_REALS:
        return sizeof(double);
    default:
        return 0;
    }
}

static void init_field(const struct ys_field *field, void *place)
{
    switch (field->kind) {
    case YS_FIELD_FLAG:
        *(bool *)place = false;
        break;
    case YS_FIELD_INT:
        *(int64_t *)place = field->flags & YS_FIELD_NULL ? YS_FIELD_NONE : 0;
        break;
    case YS_FIELD_TIME:
        *(uint64_t *)place = 0;
        break;
    case YS_FIELD_REAL:
        *(double *)place = field->flags & YS_FIELD_NULL ? (double)NAN : 0.0;
        break;
    case YS_FIELD_TEXT:
    case YS_FIELD_JSON:
    case YS_FIELD_OBJECT_OWNED:
        *(void **)place = NULL;
        break;
    case YS_FIELD_TRUTH:
    case YS_FIELD_ENUM:
        *(int *)place = field->flags & YS_FIELD_NULL ? YS_NAME_NONE : 0;
        break;
    case YS_FIELD_OBJECT:
        ys_record_init(field->record, place);
        break;
    case YS_FIELD_LIST:
    case YS_FIELD_TEXTS:
    case YS_FIELD_INTS:
    case YS_FIELD_REALS:
        *(struct ys_list *)place = (struct ys_list){0};
        break;
    }
}

void ys_record_init(const struct ys_record *record, void *item)
{
    memset(item, 0, record->size);
    for (size_t i = 0; i < record->count; i++)
        init_field(&record->fields[i], place_of(&record->fields[i], item));
}

static void fini_list(const struct ys_field *field, struct ys_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (field->kind == YS_FIELD_LIST)
            ys_record_fini(field->record, (char *)list->items + i * field->record->size);
        else if (field->kind == YS_FIELD_TEXTS)
            ys_free(((char **)list->items)[i]);
    }
    ys_free(list->items);
}

static void fini_field(const struct ys_field *field, void *place)
{
    switch (field->kind) {
    case YS_FIELD_FLAG:
    case YS_FIELD_TRUTH:
    case YS_FIELD_INT:
    case YS_FIELD_TIME:
    case YS_FIELD_REAL:
    case YS_FIELD_ENUM:
        break;
    case YS_FIELD_TEXT:
        ys_free(*(char **)place);
        break;
    case YS_FIELD_JSON:
        ys_json_free(*(ys_json **)place);
        break;
    case YS_FIELD_OBJECT:
        ys_record_fini(field->record, place);
        break;
    case YS_FIELD_OBJECT_OWNED:
        ys_record_free(field->record, *(void **)place);
        break;
    case YS_FIELD_LIST:
    case YS_FIELD_TEXTS:
    case YS_FIELD_INTS:
    case YS_FIELD_REALS:
        fini_list(field, place);
        break;
    }
}

void ys_record_fini(const struct ys_record *record, void *item)
{
    for (size_t i = 0; i < record->count; i++)
        fini_field(&record->fields[i], place_of(&record->fields[i], item));
    ys_record_init(record, item);
}

void ys_record_free(const struct ys_record *record, void *item)
{
    if (item)
        ys_record_fini(record, item);
    ys_free(item);
}

static void *make_room(struct ys_list *list, size_t size)
{
    char *items = ys_realloc(list->items, list->count + 1, size);
    if (!items)
        return NULL;
    list->items = items;
    return items + list->count * size;
}

void *ys_list_add(const struct ys_record *record, struct ys_list *list)
{
    void *item = make_room(list, record->size);
    if (!item)
        return NULL;
    ys_record_init(record, item);
    list->count++;
    return item;
}

ys_status ys_list_copy_ints(const struct ys_list *list, struct ys_list *copy)
{
    *copy = (struct ys_list){0};
    if (list->count == 0)
        return YS_OK;
    copy->items = ys_alloc(list->count, sizeof(int64_t));
    if (!copy->items)
        return ys_out_of_memory();
    memcpy(copy->items, list->items, list->count * sizeof(int64_t));
    copy->count = list->count;
    return YS_OK;
}

ys_status ys_list_add_text(struct ys_list *list, const char *text)
{
    char **place = make_room(list, sizeof *place), *copy = ys_strdup(text);
    if (!place || !copy) {
        ys_free(copy);
        return ys_out_of_memory();
    }
    *place = copy;
    list->count++;
    return YS_OK;
}

void ys_list_fini(const struct ys_record *record, struct ys_list *list)
{
    fini_list(&(const struct ys_field){.kind = YS_FIELD_LIST, .record = record}, list);
    *list = (struct ys_list){0};
}

/* C to JSON. NULL: no memory. */

static ys_json *json_of_list(const struct ys_field *field, const struct ys_list *list)
{
    ys_json *array = ys_json_array();
    for (size_t i = 0; array && i < list->count; i++) {
        ys_json *value = NULL;
        if (field->kind == YS_FIELD_LIST)
            value = ys_record_json(field->record, (const char *)list->items + i * field->record->size);
        else if (field->kind == YS_FIELD_TEXTS)
            value = ys_json_string(((char *const *)list->items)[i]);
        else if (field->kind == YS_FIELD_INTS)
            value = ys_json_int(((const int64_t *)list->items)[i]);
        else
            value = ys_json_real(((const double *)list->items)[i]);
        if (ys_json_append(array, value) != YS_OK) {
            ys_json_free(array);
            array = NULL;
        }
    }
    return array;
}

ys_json *ys_list_json(const struct ys_record *record, const struct ys_list *list)
{
    return json_of_list(&(const struct ys_field){.kind = YS_FIELD_LIST, .record = record}, list);
}

static ys_json *json_of_field(const struct ys_field *field, const void *place)
{
    switch (field->kind) {
    case YS_FIELD_FLAG:
        return ys_json_bool(*(const bool *)place);
    case YS_FIELD_TRUTH:
        return *(const int *)place == YS_NAME_NONE ? ys_json_null() : ys_json_bool(*(const int *)place != 0);
    case YS_FIELD_INT:
        return *(const int64_t *)place == YS_FIELD_NONE ? ys_json_null() : ys_json_int(*(const int64_t *)place);
    case YS_FIELD_TIME:
        return *(const uint64_t *)place ? ys_json_int((int64_t) * (const uint64_t *)place) : ys_json_null();
    case YS_FIELD_REAL:
        return ys_json_real(*(const double *)place);
    case YS_FIELD_TEXT:
        return ys_json_string(*(char *const *)place);
    case YS_FIELD_ENUM:
        return ys_json_string(ys_name_of(field->names, *(const int *)place));
    case YS_FIELD_JSON:
        return *(ys_json *const *)place ? ys_json_ref(*(ys_json *const *)place) : ys_json_null();
    case YS_FIELD_OBJECT:
        return ys_record_json(field->record, place);
    case YS_FIELD_OBJECT_OWNED:
        return *(void *const *)place ? ys_record_json(field->record, *(void *const *)place) : ys_json_null();
    case YS_FIELD_LIST:
    case YS_FIELD_TEXTS:
    case YS_FIELD_INTS:
    case YS_FIELD_REALS:
        if ((field->flags & YS_FIELD_EMPTY) && ((const struct ys_list *)place)->count == 0)
            return ys_json_null();
        return json_of_list(field, place);
    }
    return NULL;
}

/* What a field that may lack is when it lacks. */
static bool is_nothing(const struct ys_field *field, const ys_json *value)
{
    enum ys_json_type type = ys_json_type_of(value);
    return type == YS_JSON_NULL ||
           (type == YS_JSON_BOOL && field->kind != YS_FIELD_TRUTH && !ys_json_truth(value, true)) ||
           (type == YS_JSON_ARRAY && ys_json_size(value) == 0);
}

ys_json *ys_record_json(const struct ys_record *record, const void *item)
{
    ys_json *object = ys_json_object();
    for (size_t i = 0; object && i < record->count; i++) {
        const struct ys_field *field = &record->fields[i];
        ys_json *value = json_of_field(field, (const char *)item + field->offset);
        if (value && (field->flags & YS_FIELD_MAY_LACK) && is_nothing(field, value)) {
            ys_json_free(value);
            continue;
        }
        if (ys_json_set(object, field->name, value) != YS_OK) {
            ys_json_free(object);
            object = NULL;
        }
    }
    return object;
}

/* JSON to C. */

struct field_reading {
    const char *label;
    const struct ys_record *record;
    const struct ys_field *field;
};

static ys_status refuse(const struct field_reading *at, const ys_json *value, const char *wanted)
{
    static const char *const types[] = {
        [YS_JSON_NULL] = "null",       [YS_JSON_BOOL] = "a truth value", [YS_JSON_INT] = "a number",
        [YS_JSON_REAL] = "a number",   [YS_JSON_STRING] = "a text",      [YS_JSON_ARRAY] = "an array",
        [YS_JSON_OBJECT] = "an object"};
    return ys_fail(YS_EFORMAT, "%s: %s.%s is %s: must be %s", at->label, at->record->name, at->field->name,
                   value ? types[ys_json_type_of(value)] : "missing", wanted);
}

static bool is_number(const ys_json *value)
{
    enum ys_json_type type = ys_json_type_of(value);
    return type == YS_JSON_INT || type == YS_JSON_REAL;
}

static ys_status read_text(const struct field_reading *at, const ys_json *value, char **text)
{
    if (ys_json_type_of(value) != YS_JSON_STRING)
        return refuse(at, value, "a text");
    *text = ys_strdup(ys_json_text(value, ""));
    return *text ? YS_OK : ys_out_of_memory();
}

static ys_status read_name(const struct field_reading *at, const ys_json *value, int *name)
{
    if (ys_json_type_of(value) != YS_JSON_STRING)
        return refuse(at, value, "a text");
    int found = ys_name_find(at->field->names, ys_json_text(value, NULL));
    if (found == YS_NAME_NONE && !(at->field->flags & YS_FIELD_OTHER))
        return ys_fail(YS_EFORMAT, "%s: %s.%s is \"%s\": no %s of this version", at->label, at->record->name,
                       at->field->name, ys_json_text(value, ""), at->field->names->what);
    *name = found;
    return YS_OK;
}

static ys_status read_entry(const struct field_reading *at, const ys_json *value, void *place)
{
    switch (at->field->kind) {
    case YS_FIELD_LIST:
        return ys_record_read(at->field->record, value, at->label, place);
    case YS_FIELD_TEXTS:
        return read_text(at, value, place);
    case YS_FIELD_INTS:
        if (ys_json_type_of(value) != YS_JSON_INT)
            return refuse(at, value, "an array of whole numbers");
        *(int64_t *)place = ys_json_integer(value, 0);
        return YS_OK;
    default:
        if (!is_number(value) && ys_json_type_of(value) != YS_JSON_NULL)
            return refuse(at, value, "an array of numbers");
        *(double *)place = ys_json_number(value, NAN);
        return YS_OK;
    }
}

static ys_status read_list(const struct field_reading *at, const ys_json *value, struct ys_list *list)
{
    size_t count = ys_json_size(value), size = item_size(at->field);
    if (ys_json_type_of(value) != YS_JSON_ARRAY)
        return refuse(at, value, "an array");
    if (count == 0)
        return YS_OK;
    list->items = ys_alloc(count, size);
    if (!list->items)
        return ys_out_of_memory();
    for (size_t i = 0; i < count; i++) {
        YS_TRY(read_entry(at, ys_json_at(value, i), (char *)list->items + i * size));
        list->count = i + 1;
    }
    return YS_OK;
}

static ys_status read_owned(const struct field_reading *at, const ys_json *value, void **place)
{
    void *item = ys_alloc(1, at->field->record->size);
    if (!item)
        return ys_out_of_memory();
    ys_status status = ys_record_read(at->field->record, value, at->label, item);
    if (status != YS_OK) {
        ys_free(item);
        return status;
    }
    *place = item;
    return YS_OK;
}

static ys_status read_number(const struct field_reading *at, const ys_json *value, void *place)
{
    int64_t whole = ys_json_integer(value, YS_FIELD_NONE);
    if (!is_number(value))
        return refuse(at, value, "a number");
    if (at->field->kind == YS_FIELD_REAL) {
        *(double *)place = ys_json_number(value, NAN);
        return YS_OK;
    }
    if (whole == YS_FIELD_NONE || (at->field->kind == YS_FIELD_TIME && whole < 0))
        return refuse(at, value, at->field->kind == YS_FIELD_TIME ? "a whole number, not below 0" : "a whole number");
    if (at->field->kind == YS_FIELD_TIME)
        *(uint64_t *)place = (uint64_t)whole;
    else
        *(int64_t *)place = whole;
    return YS_OK;
}

static ys_status read_field(const struct field_reading *at, ys_json *value, void *place)
{
    switch (at->field->kind) {
    case YS_FIELD_FLAG:
    case YS_FIELD_TRUTH:
        if (ys_json_type_of(value) != YS_JSON_BOOL)
            return refuse(at, value, "true or false");
        if (at->field->kind == YS_FIELD_FLAG)
            *(bool *)place = ys_json_truth(value, false);
        else
            *(int *)place = ys_json_truth(value, false);
        return YS_OK;
    case YS_FIELD_INT:
    case YS_FIELD_TIME:
    case YS_FIELD_REAL:
        return read_number(at, value, place);
    case YS_FIELD_TEXT:
        return read_text(at, value, place);
    case YS_FIELD_ENUM:
        return read_name(at, value, place);
    case YS_FIELD_JSON:
        *(ys_json **)place = ys_json_ref(value);
        return YS_OK;
    case YS_FIELD_OBJECT:
        return ys_record_read(at->field->record, value, at->label, place);
    case YS_FIELD_OBJECT_OWNED:
        return read_owned(at, value, place);
    case YS_FIELD_LIST:
    case YS_FIELD_TEXTS:
    case YS_FIELD_INTS:
    case YS_FIELD_REALS:
        return read_list(at, value, place);
    }
    return YS_EINTERNAL;
}

/* A time says null by 0, and a value by NULL, whatever the flags. */
static bool may_be_null(const struct ys_field *field)
{
    return (field->flags & YS_FIELD_NULL) || field->kind == YS_FIELD_TIME;
}

ys_status ys_record_read(const struct ys_record *record, const ys_json *object, const char *label, void *item)
{
    ys_record_init(record, item);
    if (ys_json_type_of(object) != YS_JSON_OBJECT)
        return ys_fail(YS_EFORMAT, "%s: %s is no object", label, record->name);
    for (size_t i = 0; i < record->count; i++) {
        const struct ys_field *field = &record->fields[i];
        ys_json *value = ys_json_get(object, field->name);
        bool is_null = value && ys_json_type_of(value) == YS_JSON_NULL;
        if ((!value && (field->flags & (YS_FIELD_MAY_LACK | YS_FIELD_LATER))) || (is_null && may_be_null(field)))
            continue;
        struct field_reading at = {label, record, field};
        ys_status status = read_field(&at, value, place_of(field, item));
        if (status != YS_OK) {
            ys_record_fini(record, item);
            return status;
        }
    }
    return YS_OK;
}

ys_status ys_record_read_field(const struct ys_field *field, ys_json *value, void *place)
{
    static const struct ys_record nameless = {.name = "value"};
    struct field_reading at = {"a value", &nameless, field};
    if (ys_json_type_of(value) == YS_JSON_NULL && may_be_null(field))
        return YS_OK;
    return read_field(&at, value, place);
}

static void glance_at(const struct ys_field *field, ys_json *value, void *place)
{
    switch (field->kind) {
    case YS_FIELD_FLAG:
        *(bool *)place = ys_json_truth(value, false);
        break;
    case YS_FIELD_TRUTH:
        if (ys_json_type_of(value) == YS_JSON_BOOL)
            *(int *)place = ys_json_truth(value, false);
        break;
    case YS_FIELD_ENUM:
        *(int *)place = ys_name_find(field->names, ys_json_text(value, NULL));
        break;
    case YS_FIELD_INT:
        *(int64_t *)place = ys_json_integer(value, *(int64_t *)place);
        break;
    case YS_FIELD_REAL:
        *(double *)place = ys_json_number(value, *(double *)place);
        break;
    case YS_FIELD_TEXT:
        *(const char **)place = ys_json_text(value, NULL);
        break;
    case YS_FIELD_JSON:
        *(ys_json **)place = value;
        break;
    case YS_FIELD_OBJECT:
        ys_record_glance(field->record, value, place);
        break;
    default:
        YS_ASSERT(false);
    }
}

void ys_record_glance(const struct ys_record *record, const ys_json *object, void *item)
{
    ys_record_init(record, item);
    for (size_t i = 0; i < record->count; i++) {
        const struct ys_field *field = &record->fields[i];
        ys_json *value = ys_json_get(object, field->name);
        if (value)
            glance_at(field, value, place_of(field, item));
    }
}

ys_status ys_record_copy(const struct ys_record *record, const void *item, void *copy)
{
    ys_json *object = ys_record_json(record, item);
    if (!object)
        return ys_out_of_memory();
    ys_status status = ys_record_read(record, object, "a copy", copy);
    ys_json_free(object);
    return status;
}
