/* JSON values. A thin layer over jansson, the only place that knows it.
 *
 * Ownership: constructors and parsers return a value that the caller owns (ys_json_free). Functions that put a value
 * into an object or array TAKE it, also when they fail. Getters BORROW from the container. Objects keep insertion
 * order. Integers are 64 bits and exact; reals print so that they read back equal (up to 17 digits). NaN and
 * infinities cannot be stored: ys_json_real() of one gives null. Text is UTF-8; each byte that is none is
 * escaped as \xNN when a string is made. */
#ifndef YS_BASE_JSON_JSON_H
#define YS_BASE_JSON_JSON_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct json_t ys_json;

enum ys_json_type {
    YS_JSON_NULL,
    YS_JSON_BOOL,
    YS_JSON_INT,
    YS_JSON_REAL,
    YS_JSON_STRING,
    YS_JSON_ARRAY,
    YS_JSON_OBJECT,
};

/* Making. NULL means that memory ran out; containers ignore nothing: setting NULL fails the later dump. */
ys_json *ys_json_object(void);
ys_json *ys_json_array(void);
ys_json *ys_json_string(const char *text); /* NULL gives null */
ys_json *ys_json_int(int64_t value);
ys_json *ys_json_real(double value);
ys_json *ys_json_bool(bool value);
ys_json *ys_json_null(void);
ys_json *ys_json_ref(ys_json *value);        /* shares it: one more owner */
ys_json *ys_json_copy(const ys_json *value); /* deep */
void ys_json_free(ys_json *value);           /* NULL is fine */

ys_status ys_json_set(ys_json *object, const char *key, ys_json *value_taken);
ys_status ys_json_set_string(ys_json *object, const char *key, const char *text);
ys_status ys_json_set_int(ys_json *object, const char *key, int64_t value);
ys_status ys_json_set_real(ys_json *object, const char *key, double value);
ys_status ys_json_set_bool(ys_json *object, const char *key, bool value);
ys_status ys_json_append(ys_json *array, ys_json *value_taken);
void ys_json_remove(ys_json *object, const char *key);
/** Every member of `from` into `into`, replacing. */
ys_status ys_json_merge(ys_json *into, const ys_json *from);

/* Reading. Wrong types and missing members give the fallback: check with ys_json_type_of() where it matters. */
enum ys_json_type ys_json_type_of(const ys_json *value);      /* NULL counts as YS_JSON_NULL */
ys_json *ys_json_get(const ys_json *object, const char *key); /* borrowed, NULL when absent */
ys_json *ys_json_at(const ys_json *array, size_t index);      /* borrowed */
bool ys_json_lists(const ys_json *array, const char *text);   /* whether one of its elements is that text */
size_t ys_json_size(const ys_json *container);                /* of an array or object, 0 for anything else */
const char *ys_json_text(const ys_json *value, const char *fallback);
int64_t ys_json_integer(const ys_json *value, int64_t fallback); /* a real with an integral value counts */
double ys_json_number(const ys_json *value, double fallback);    /* integer or real */
bool ys_json_truth(const ys_json *value, bool fallback);
/* The same, of a member. */
const char *ys_json_get_text(const ys_json *object, const char *key, const char *fallback);
int64_t ys_json_get_int(const ys_json *object, const char *key, int64_t fallback);
double ys_json_get_number(const ys_json *object, const char *key, double fallback);
bool ys_json_get_bool(const ys_json *object, const char *key, bool fallback);

/** Walks an object in order: `for (void *it = ys_json_iter(o); it; it = ys_json_next(o, it))`. */
void *ys_json_iter(const ys_json *object);
void *ys_json_next(const ys_json *object, void *iter);
const char *ys_json_iter_key(void *iter);
ys_json *ys_json_iter_value(void *iter);

bool ys_json_equal(const ys_json *a, const ys_json *b);

/* Text. */
/** Parses exactly one value. Duplicate keys, trailing text, NaN and nesting deeper than 256 are refused.
 * `name` (a path or "message") begins the error, which gives line and column. */
ys_status ys_json_parse(const char *text, size_t size, const char *name, ys_json **value) YS_MUST_CHECK;
ys_status ys_json_read(const char *path, ys_json **value) YS_MUST_CHECK; /* files up to 64 MiB */
enum ys_json_style { YS_JSON_COMPACT, YS_JSON_INDENT, YS_JSON_SORTED /* compact, keys sorted: for hashing */ };
/** NULL without memory now or when a value was set, and for what nests deeper than 256; ys_error() says which. */
char *ys_json_dump(const ys_json *value, enum ys_json_style style);            /* new string (ys_free) */
ys_status ys_json_write(const char *path, const ys_json *value) YS_MUST_CHECK; /* indented, atomically, final newline */

#endif
