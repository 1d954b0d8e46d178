#include "graph/json/json_parts.h"
#include "base/mem.h"
#include <stdio.h>
#include <string.h>

const char *ys_parts_type_text(const ys_json *value)
{
    static const char *const names[] = {"null",     "a boolean", "an integer", "a number",
                                        "a string", "an array",  "an object"};
    return value ? names[ys_json_type_of(value)] : "missing";
}

bool ys_parts_is_number(const ys_json *value)
{
    return ys_json_type_of(value) == YS_JSON_INT || ys_json_type_of(value) == YS_JSON_REAL;
}

ys_status ys_parts_members(const struct ys_place *at, const ys_json *object, const char *what, const char *const *known)
{
    if (ys_json_type_of(object) != YS_JSON_OBJECT)
        return YS_FAIL_AT(at, "%s must be an object, is %s", what, ys_parts_type_text(object));
    for (void *it = ys_json_iter(object); it; it = ys_json_next(object, it)) {
        const char *const *name = known;
        while (*name && strcmp(*name, ys_json_iter_key(it)) != 0)
            name++;
        if (!*name)
            return YS_FAIL_AT(at, "unknown member \"%.100s\" of %s", ys_json_iter_key(it), what);
    }
    return YS_OK;
}

ys_status ys_parts_array(const struct ys_place *at, const ys_json *value, const char *what, size_t low, size_t high,
                         size_t *size)
{
    if (ys_json_type_of(value) != YS_JSON_ARRAY)
        return YS_FAIL_AT(at, "%s must be an array, is %s", what, ys_parts_type_text(value));
    *size = ys_json_size(value);
    if (*size < low || *size > high)
        return YS_FAIL_AT(at, "%s must have %zu to %zu entries, has %zu", what, low, high, *size);
    return YS_OK;
}

ys_status ys_parts_integer(const struct ys_place *at, const ys_json *value, const char *what, int64_t low, int64_t high,
                           int64_t *number)
{
    *number = ys_json_integer(value, low);
    if (ys_json_type_of(value) != YS_JSON_INT)
        return YS_FAIL_AT(at, "%s must be an integer from %lld to %lld, is %s", what, (long long)low, (long long)high,
                          ys_parts_type_text(value));
    if (*number < low || *number > high)
        return YS_FAIL_AT(at, "%s is %lld: must be an integer from %lld to %lld", what, (long long)*number,
                          (long long)low, (long long)high);
    return YS_OK;
}

ys_status ys_parts_integers(const struct ys_place *at, const ys_json *value, const char *what, size_t count_low,
                            size_t count_high, int64_t low, int64_t high, int64_t *numbers, size_t *count)
{
    YS_TRY(ys_parts_array(at, value, what, count_low, count_high, count));
    for (size_t i = 0; i < *count; i++) {
        char entry[64];
        snprintf(entry, sizeof entry, "%s[%zu]", what, i);
        YS_TRY(ys_parts_integer(at, ys_json_at(value, i), entry, low, high, &numbers[i]));
    }
    return YS_OK;
}

ys_status ys_parts_shape(const struct ys_place *at, const ys_json *value, const char *what, bool batched,
                         int64_t *shape, size_t *rank)
{
    YS_TRY(ys_parts_array(at, value, what, batched ? 2 : 1, YS_MAX_RANK, rank));
    for (size_t i = 0; i < *rank; i++) {
        const ys_json *entry = ys_json_at(value, i);
        if (batched && i == 0) {
            if (strcmp(ys_json_text(entry, ""), "N") != 0)
                return YS_FAIL_AT(at, "%s[0] must be the string \"N\", the batch", what);
            shape[0] = YS_BATCH;
            continue;
        }
        if (ys_json_type_of(entry) != YS_JSON_INT)
            return YS_FAIL_AT(at, "%s[%zu] must be an integer, is %s", what, i, ys_parts_type_text(entry));
        shape[i] = ys_json_integer(entry, 0);
        if (shape[i] < 1)
            return YS_FAIL_AT(at, "%s[%zu] is %lld: must be at least 1", what, i, (long long)shape[i]);
    }
    char text[sizeof at->where + 32];
    snprintf(text, sizeof text, "%s: %s", at->where, what);
    return ys_compose_check_shape(at->label, text, shape, *rank, batched ? 1 : 0);
}

ys_status ys_parts_set_integers(ys_json *object, const char *key, const int64_t *numbers, size_t count)
{
    ys_json *array = ys_json_array();
    ys_status status = array ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; i < count && status == YS_OK; i++)
        status = ys_json_append(array, numbers[i] == YS_BATCH ? ys_json_string("N") : ys_json_int(numbers[i]));
    if (status == YS_OK)
        return ys_json_set(object, key, array);
    ys_json_free(array);
    return status;
}
