#include "metric/json_builder.h"

#include "base/mem.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

void ys_put_ref(ys_json *object, const char *key, const ys_json *value)
{
    /* Sharing counts an owner; what is shared stays as it is. */
    ys_json_set(object, key, value ? ys_json_ref((ys_json *)(uintptr_t)value) : ys_json_null());
}

void ys_add_text_once(ys_json *array, const char *text)
{
    if (!ys_json_lists(array, text))
        ys_json_append(array, ys_json_string(text));
}

ys_json *ys_number(double value, bool whole)
{
    if (whole && fabs(value) < 9e15 && value == floor(value))
        return ys_json_int((int64_t)value);
    return ys_json_real(value);
}

static ys_json *interval_ends(const struct ys_interval *interval, bool whole)
{
    ys_json *ends = ys_json_array();
    ys_json_append(ends, ys_number(interval->lo, whole));
    ys_json_append(ends, ys_number(interval->hi, whole));
    return ends;
}

void ys_put_interval(ys_json *object, const struct ys_interval *interval, bool whole)
{
    if (!interval->known) {
        ys_json_set(object, "ci", ys_json_null());
        ys_json_set(object, "level", ys_json_null());
        return;
    }
    ys_json_set(object, "ci", interval_ends(interval, whole));
    ys_json_set_real(object, "level", interval->level);
}
