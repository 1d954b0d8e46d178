#include "metric/json_builder.h"

#include "base/mem.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

void ys_put(ys_json *object, const char *key, ys_json *value_taken)
{
    (void)!ys_json_set(object, key, value_taken);
}

void ys_put_text(ys_json *object, const char *key, const char *text)
{
    ys_put(object, key, ys_json_string(text));
}

void ys_put_int(ys_json *object, const char *key, int64_t value)
{
    ys_put(object, key, ys_json_int(value));
}

void ys_put_real(ys_json *object, const char *key, double value)
{
    ys_put(object, key, ys_json_real(value));
}

void ys_put_bool(ys_json *object, const char *key, bool value)
{
    ys_put(object, key, ys_json_bool(value));
}

void ys_put_ref(ys_json *object, const char *key, const ys_json *value)
{
    /* Sharing counts an owner; what is shared stays as it is. */
    ys_put(object, key, value ? ys_json_ref((ys_json *)(uintptr_t)value) : ys_json_null());
}

void ys_add(ys_json *array, ys_json *value_taken)
{
    (void)!ys_json_append(array, value_taken);
}

void ys_add_text_once(ys_json *array, const char *text)
{
    if (!ys_json_lists(array, text))
        ys_add(array, ys_json_string(text));
}

ys_json *ys_number(double value, bool whole)
{
    if (whole && fabs(value) < 9e15 && value == floor(value))
        return ys_json_int((int64_t)value);
    return ys_json_real(value);
}

ys_json *ys_interval_ends(const struct ys_interval *interval, bool whole)
{
    ys_json *ends = ys_json_array();
    ys_add(ends, ys_number(interval->lo, whole));
    ys_add(ends, ys_number(interval->hi, whole));
    return ends;
}

void ys_put_interval(ys_json *object, const struct ys_interval *interval, bool whole)
{
    if (!interval->known) {
        ys_put(object, "ci", ys_json_null());
        ys_put(object, "level", ys_json_null());
        return;
    }
    ys_put(object, "ci", ys_interval_ends(interval, whole));
    ys_put_real(object, "level", interval->level);
}
