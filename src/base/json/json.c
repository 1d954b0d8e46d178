/* The only file that knows jansson. Parsing, storing and counting owners are jansson's; writing is done here, because
 * numbers must read back equal in as few digits as that takes, and keys must be sortable for hashing. */
#include "base/json/json.h"
#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH      256
#define MAX_FILE_BYTES ((size_t)64 << 20)

/* Stands where a value should have been stored and memory had run out. jansson copies and frees it as it does its own
 * null (never counted); dumping a value that contains it fails. */
static json_t lost_value = {JSON_NULL, (size_t)-1};

static _Thread_local bool ran_out; /* jansson does not always say why it failed */

static void *allocate(size_t size)
{
    void *block = ys_realloc(NULL, size, 1);
    ran_out |= !block;
    return block;
}

static void set_allocator(void)
{
    json_set_alloc_funcs(allocate, ys_free);
}

static void prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_allocator);
    ran_out = false;
}

/** jansson's iterators do not take a const object, though they leave it alone. */
static json_t *unconst(const ys_json *value)
{
    return (json_t *)(uintptr_t)value;
}

/** `text` itself when it is valid UTF-8, otherwise `copy` with each bad byte escaped; NULL without memory. */
static const char *valid_utf8(const char *text, struct ys_buf *copy)
{
    if (ys_utf8_is_text(text))
        return text;
    for (char shown[5]; *text;) {
        text += ys_utf8_show(text, shown);
        ys_buf_puts(copy, shown);
    }
    return copy->failed ? NULL : ys_buf_text(copy);
}

ys_json *ys_json_object(void)
{
    prepare();
    return json_object();
}

ys_json *ys_json_array(void)
{
    prepare();
    return json_array();
}

ys_json *ys_json_string(const char *text)
{
    if (!text)
        return json_null();
    prepare();
    struct ys_buf copy = {0};
    const char *valid = valid_utf8(text, &copy);
    json_t *value = valid ? json_string_nocheck(valid) : NULL;
    ys_buf_free(&copy);
    return value;
}

ys_json *ys_json_int(int64_t value)
{
    prepare();
    return json_integer(value);
}

ys_json *ys_json_real(double value)
{
    prepare();
    return isfinite(value) ? json_real(value) : json_null();
}

ys_json *ys_json_bool(bool value)
{
    return json_boolean(value);
}

ys_json *ys_json_null(void)
{
    return json_null();
}

ys_json *ys_json_ref(ys_json *value)
{
    return json_incref(value);
}

ys_json *ys_json_copy(const ys_json *value)
{
    prepare();
    json_t *copy = json_deep_copy(value);
    if (ran_out) { /* jansson leaves out what it had no memory for */
        json_decref(copy);
        return NULL;
    }
    return copy;
}

void ys_json_free(ys_json *value)
{
    json_decref(value);
}

ys_status ys_json_set(ys_json *object, const char *key, ys_json *value_taken)
{
    if (object && (!json_is_object(object) || object == value_taken)) {
        json_decref(value_taken);
        return ys_fail(YS_EINTERNAL, "cannot set \"%s\" in a JSON value that is not another object", key);
    }
    prepare();
    struct ys_buf copy = {0};
    const char *valid = object ? valid_utf8(key, &copy) : NULL;
    bool stored = valid && value_taken && json_object_set_new_nocheck(object, valid, json_incref(value_taken)) == 0;
    json_decref(value_taken);
    if (!stored && object) /* what cannot be stored must not be missed silently */
        json_object_set_new_nocheck(object, valid ? valid : "", &lost_value);
    ys_buf_free(&copy);
    return stored ? YS_OK : ys_out_of_memory();
}

ys_status ys_json_set_string(ys_json *object, const char *key, const char *text)
{
    return ys_json_set(object, key, ys_json_string(text));
}

ys_status ys_json_set_int(ys_json *object, const char *key, int64_t value)
{
    return ys_json_set(object, key, ys_json_int(value));
}

ys_status ys_json_set_real(ys_json *object, const char *key, double value)
{
    return ys_json_set(object, key, ys_json_real(value));
}

ys_status ys_json_set_bool(ys_json *object, const char *key, bool value)
{
    return ys_json_set(object, key, ys_json_bool(value));
}

ys_status ys_json_append(ys_json *array, ys_json *value_taken)
{
    if (array && (!json_is_array(array) || array == value_taken)) {
        json_decref(value_taken);
        return ys_fail(YS_EINTERNAL, "cannot append to a JSON value that is not another array");
    }
    prepare();
    bool stored = array && value_taken && json_array_append_new(array, json_incref(value_taken)) == 0;
    json_decref(value_taken);
    if (!stored && array)
        json_array_append_new(array, &lost_value);
    return stored ? YS_OK : ys_out_of_memory();
}

void ys_json_remove(ys_json *object, const char *key)
{
    json_object_del(object, key);
}

ys_status ys_json_merge(ys_json *into, const ys_json *from)
{
    for (void *it = ys_json_iter(from); it; it = ys_json_next(from, it))
        YS_TRY(ys_json_set(into, ys_json_iter_key(it), ys_json_copy(ys_json_iter_value(it))));
    return YS_OK;
}

enum ys_json_type ys_json_type_of(const ys_json *value)
{
    if (!value)
        return YS_JSON_NULL;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return YS_JSON_OBJECT;
    case JSON_ARRAY:
        return YS_JSON_ARRAY;
    case JSON_STRING:
        return YS_JSON_STRING;
    case JSON_INTEGER:
        return YS_JSON_INT;
    case JSON_REAL:
        return YS_JSON_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return YS_JSON_BOOL;
    case JSON_NULL:
        break;
    }
    return YS_JSON_NULL;
}

ys_json *ys_json_get(const ys_json *object, const char *key)
{
    return json_object_get(object, key);
}

ys_json *ys_json_at(const ys_json *array, size_t index)
{
    return json_array_get(array, index);
}

size_t ys_json_size(const ys_json *container)
{
    return json_is_object(container) ? json_object_size(container) : json_array_size(container);
}

const char *ys_json_text(const ys_json *value, const char *fallback)
{
    return json_is_string(value) ? json_string_value(value) : fallback;
}

bool ys_json_lists(const ys_json *array, const char *text)
{
    for (size_t i = 0; i < ys_json_size(array); i++)
        if (strcmp(ys_json_text(ys_json_at(array, i), ""), text) == 0)
            return true;
    return false;
}

int64_t ys_json_integer(const ys_json *value, int64_t fallback)
{
    if (json_is_integer(value))
        return json_integer_value(value);
    double real = json_is_real(value) ? json_real_value(value) : NAN;
    return real >= -0x1p63 && real < 0x1p63 && floor(real) == real ? (int64_t)real : fallback;
}

double ys_json_number(const ys_json *value, double fallback)
{
    return json_is_number(value) ? json_number_value(value) : fallback;
}

bool ys_json_truth(const ys_json *value, bool fallback)
{
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

const char *ys_json_get_text(const ys_json *object, const char *key, const char *fallback)
{
    return ys_json_text(ys_json_get(object, key), fallback);
}

int64_t ys_json_get_int(const ys_json *object, const char *key, int64_t fallback)
{
    return ys_json_integer(ys_json_get(object, key), fallback);
}

double ys_json_get_number(const ys_json *object, const char *key, double fallback)
{
    return ys_json_number(ys_json_get(object, key), fallback);
}

bool ys_json_get_bool(const ys_json *object, const char *key, bool fallback)
{
    return ys_json_truth(ys_json_get(object, key), fallback);
}

void *ys_json_iter(const ys_json *object)
{
    return json_object_iter(unconst(object));
}

void *ys_json_next(const ys_json *object, void *iter)
{
    return json_object_iter_next(unconst(object), iter);
}

const char *ys_json_iter_key(void *iter)
{
    return json_object_iter_key(iter);
}

ys_json *ys_json_iter_value(void *iter)
{
    return json_object_iter_value(iter);
}

bool ys_json_equal(const ys_json *a, const ys_json *b)
{
    return a == b || json_equal(a, b);
}

/** Refuses what nests deeper than MAX_DEPTH before the parser, which recurses, sees it. */
static ys_status check_depth(const char *text, size_t size, const char *name)
{
    size_t line = 1, line_start = 0;
    int depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (c == '\n') {
            line++;
            line_start = i + 1;
        }
        if (in_string) {
            i += c == '\\';
            in_string = c != '"';
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > MAX_DEPTH)
                return ys_fail(YS_EFORMAT, "%s: line %zu, column %zu: nested deeper than %d", name, line,
                               i - line_start + 1, MAX_DEPTH);
        } else if (c == ']' || c == '}') {
            depth--;
        }
    }
    return YS_OK;
}

ys_status ys_json_parse(const char *text, size_t size, const char *name, ys_json **value)
{
    YS_TRY(check_depth(text, size, name));
    prepare();
    json_error_t error;
    json_t *parsed = json_loadb(text ? text : "", size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (ran_out) { /* jansson goes on without the characters that it could not save */
        json_decref(parsed);
        return ys_out_of_memory();
    }
    if (!parsed)
        return ys_fail(YS_EFORMAT, "%s: line %d, column %d: %s", name, error.line, error.column, error.text);
    *value = parsed;
    return YS_OK;
}

ys_status ys_json_read(const char *path, ys_json **value)
{
    struct ys_buf text = {0};
    ys_status status = ys_fs_read(path, MAX_FILE_BYTES, &text);
    if (status == YS_OK)
        status = ys_json_parse(ys_buf_text(&text), text.size, path, value);
    ys_buf_free(&text);
    return status;
}

struct writer {
    struct ys_buf *out;
    enum ys_json_style style;
};

static ys_status write_value(const struct writer *writer, const json_t *value, int depth);

static void write_string(const struct writer *writer, const char *text)
{
    ys_buf_append(writer->out, "\"", 1);
    for (const char *c = text; *c;) {
        size_t plain = 0;
        while ((unsigned char)c[plain] >= 0x20 && c[plain] != '"' && c[plain] != '\\')
            plain++;
        ys_buf_append(writer->out, c, plain);
        c += plain;
        if (*c == '"' || *c == '\\')
            ys_buf_printf(writer->out, "\\%c", *c);
        else if (*c == '\n')
            ys_buf_puts(writer->out, "\\n");
        else if (*c == '\t')
            ys_buf_puts(writer->out, "\\t");
        else if (*c)
            ys_buf_printf(writer->out, "\\u%04x", (unsigned char)*c);
        c += *c != 0;
    }
    ys_buf_append(writer->out, "\"", 1);
}

static void write_real(const struct writer *writer, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    char *comma = strchr(text, ','); /* the decimal sign of some locales */
    if (comma)
        *comma = '.';
    ys_buf_puts(writer->out, text);
    if (!strpbrk(text, ".e"))
        ys_buf_puts(writer->out, ".0"); /* stays a real when read back */
}

static void write_break(const struct writer *writer, int depth)
{
    if (writer->style == YS_JSON_INDENT)
        ys_buf_printf(writer->out, "\n%*s", 2 * depth, "");
}

static ys_status write_array(const struct writer *writer, const json_t *array, int depth)
{
    size_t count = json_array_size(array);
    ys_buf_puts(writer->out, "[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            ys_buf_puts(writer->out, ",");
        write_break(writer, depth + 1);
        YS_TRY(write_value(writer, json_array_get(array, i), depth + 1));
    }
    if (count > 0)
        write_break(writer, depth);
    return ys_buf_puts(writer->out, "]");
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static ys_status write_members(const struct writer *writer, const json_t *object, const char **keys, size_t count,
                               int depth)
{
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            ys_buf_puts(writer->out, ",");
        write_break(writer, depth + 1);
        write_string(writer, keys[i]);
        ys_buf_puts(writer->out, writer->style == YS_JSON_INDENT ? ": " : ":");
        YS_TRY(write_value(writer, json_object_get(object, keys[i]), depth + 1));
    }
    return YS_OK;
}

static ys_status write_object(const struct writer *writer, const json_t *object, int depth)
{
    size_t count = json_object_size(object), used = 0;
    const char **keys = ys_alloc(count, sizeof *keys);
    if (!keys)
        return ys_out_of_memory();
    for (void *it = ys_json_iter(object); it; it = ys_json_next(object, it))
        keys[used++] = ys_json_iter_key(it);
    if (writer->style == YS_JSON_SORTED && count > 1)
        qsort(keys, count, sizeof *keys, compare_keys);
    ys_buf_puts(writer->out, "{");
    ys_status status = write_members(writer, object, keys, count, depth);
    ys_free(keys);
    YS_TRY(status);
    if (count > 0)
        write_break(writer, depth);
    return ys_buf_puts(writer->out, "}");
}

static ys_status write_value(const struct writer *writer, const json_t *value, int depth)
{
    if (!value || value == &lost_value)
        return ys_out_of_memory();
    switch (json_typeof(value)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        if (depth >= MAX_DEPTH)
            return ys_fail(YS_EINVAL, "JSON nested deeper than %d cannot be read back", MAX_DEPTH);
        return json_is_object(value) ? write_object(writer, value, depth) : write_array(writer, value, depth);
    case JSON_STRING:
        write_string(writer, json_string_value(value));
        break;
    case JSON_INTEGER:
        ys_buf_printf(writer->out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        write_real(writer, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        ys_buf_puts(writer->out, json_is_true(value) ? "true" : "false");
        break;
    case JSON_NULL:
        ys_buf_puts(writer->out, "null");
        break;
    }
    return writer->out->failed ? ys_out_of_memory() : YS_OK;
}

char *ys_json_dump(const ys_json *value, enum ys_json_style style)
{
    struct ys_buf text = {0};
    struct writer writer = {&text, style};
    if (write_value(&writer, value, 0) == YS_OK)
        return ys_buf_take(&text);
    ys_buf_free(&text);
    return NULL;
}

ys_status ys_json_write(const char *path, const ys_json *value)
{
    struct ys_buf text = {0};
    struct writer writer = {&text, YS_JSON_INDENT};
    ys_status status = write_value(&writer, value, 0);
    if (status == YS_OK)
        status = ys_buf_puts(&text, "\n");
    if (status == YS_OK)
        status = ys_fs_write(path, text.data, text.size);
    ys_buf_free(&text);
    return status;
}
