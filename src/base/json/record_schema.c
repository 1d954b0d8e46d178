#include "base/json/record_schema.h"

#include <string.h>

static const char *type_of(enum ys_field_kind kind)
{
    switch (kind) {
    case YS_FIELD_FLAG:
    case YS_FIELD_TRUTH:
        return "boolean";
    case YS_FIELD_INT:
    case YS_FIELD_TIME:
        return "integer";
    case YS_FIELD_REAL:
        return "number";
    case YS_FIELD_TEXT:
    case YS_FIELD_ENUM: /* its words */
        return "string";
    case YS_FIELD_JSON:
        return NULL;
    case YS_FIELD_OBJECT:
    case YS_FIELD_OBJECT_OWNED:
        return "object";
    case YS_FIELD_LIST:
    case YS_FIELD_TEXTS:
    case YS_FIELD_INTS:
    case YS_FIELD_REALS:
        return "array";
    }
    return NULL;
}

/* Of what an array of the kind holds, where no table says it; NULL: it is no such array. */
static const char *item_type_of(enum ys_field_kind kind)
{
    return kind == YS_FIELD_TEXTS   ? "string"
           : kind == YS_FIELD_INTS  ? "integer"
           : kind == YS_FIELD_REALS ? "number"
                                    : NULL;
}

static bool may_be_null(const struct ys_field *field)
{
    return (field->kind == YS_FIELD_TIME || (field->flags & YS_FIELD_NULL)) && !(field->flags & YS_FIELD_MAY_LACK);
}

ys_json *ys_names_json(const struct ys_names *names)
{
    ys_json *words = ys_json_array();
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < names->count; i++)
        status = ys_json_append(words, ys_json_string(names->names[i]));
    if (status == YS_OK)
        return words;
    ys_json_free(words);
    return NULL;
}

static ys_status add_words(ys_json *rule, const struct ys_field *field)
{
    ys_json *words = ys_names_json(field->names);
    ys_status status = may_be_null(field) ? ys_json_append(words, ys_json_null()) : YS_OK;
    ys_status put = ys_json_set(rule, "enum", words);
    return status == YS_OK ? put : status;
}

/* A type of JSON, and null where the field may be that. */
static ys_status add_type(ys_json *rule, const struct ys_field *field, const char *type)
{
    if (field->kind == YS_FIELD_ENUM)
        return add_words(rule, field);
    if (!may_be_null(field))
        return ys_json_set_string(rule, "type", type);
    ys_json *types = ys_json_array();
    ys_status status = ys_json_append(types, ys_json_string(type));
    if (status == YS_OK)
        status = ys_json_append(types, ys_json_string("null"));
    ys_status put = ys_json_set(rule, "type", types);
    return status == YS_OK ? put : status;
}

static ys_status add_items(ys_json *rule, const struct ys_field *field)
{
    const char *type = item_type_of(field->kind);
    ys_json *items = field->record ? ys_record_schema(field->record) : ys_json_object();
    ys_status status = type ? ys_json_set_string(items, "type", type) : YS_OK;
    ys_status put = ys_json_set(rule, "items", items);
    return status == YS_OK ? put : status;
}

static ys_json *schema_of(const struct ys_field *field)
{
    const char *type = type_of(field->kind);
    const bool is_list = type && strcmp(type, "array") == 0;
    ys_json *rule = field->record && !is_list ? ys_record_schema(field->record) : ys_json_object();
    ys_status status = type ? add_type(rule, field, type) : YS_OK;
    if (status == YS_OK && is_list)
        status = add_items(rule, field);
    if (status == YS_OK)
        return rule;
    ys_json_free(rule);
    return NULL;
}

ys_json *ys_record_schema(const struct ys_record *record)
{
    ys_json *rule = ys_json_object(), *required = ys_json_array(), *properties = ys_json_object();
    ys_status status = ys_json_set_string(rule, "type", "object");
    for (size_t i = 0; status == YS_OK && i < record->count; i++) {
        const struct ys_field *field = &record->fields[i];
        status = ys_json_set(properties, field->name, schema_of(field));
        if (status == YS_OK && !(field->flags & (YS_FIELD_MAY_LACK | YS_FIELD_LATER)))
            status = ys_json_append(required, ys_json_string(field->name));
    }
    if (ys_json_set(rule, "required", required) == YS_OK && ys_json_set(rule, "properties", properties) == YS_OK &&
        status == YS_OK)
        return rule;
    ys_json_free(rule);
    return NULL;
}
