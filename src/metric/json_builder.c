#include "metric/json_builder.h"

#include "base/mem.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static void keep(ys_status *status, ys_status now)
{
    if (*status == YS_OK)
        *status = now;
}

void ys_put(ys_status *status, ys_json *object, const char *key, ys_json *value_taken)
{
    keep(status, ys_json_set(object, key, value_taken));
}

void ys_put_text(ys_status *status, ys_json *object, const char *key, const char *text)
{
    ys_put(status, object, key, ys_json_string(text));
}

void ys_put_int(ys_status *status, ys_json *object, const char *key, int64_t value)
{
    ys_put(status, object, key, ys_json_int(value));
}

void ys_put_real(ys_status *status, ys_json *object, const char *key, double value)
{
    ys_put(status, object, key, ys_json_real(value));
}

void ys_put_bool(ys_status *status, ys_json *object, const char *key, bool value)
{
    ys_put(status, object, key, ys_json_bool(value));
}

void ys_put_ref(ys_status *status, ys_json *object, const char *key, const ys_json *value)
{
    /* Sharing counts an owner; what is shared stays as it is. */
    ys_put(status, object, key, value ? ys_json_ref((ys_json *)(uintptr_t)value) : ys_json_null());
}

void ys_add(ys_status *status, ys_json *array, ys_json *value_taken)
{
    keep(status, ys_json_append(array, value_taken));
}

void ys_add_text_once(ys_status *status, ys_json *array, const char *text)
{
    if (!ys_json_lists(array, text))
        ys_add(status, array, ys_json_string(text));
}

ys_json *ys_number(double value, bool whole)
{
    if (whole && fabs(value) < 9e15 && value == floor(value))
        return ys_json_int((int64_t)value);
    return ys_json_real(value);
}

ys_json *ys_interval_ends(ys_status *status, const struct ys_interval *interval, bool whole)
{
    ys_json *ends = ys_json_array();
    ys_add(status, ends, ys_number(interval->lo, whole));
    ys_add(status, ends, ys_number(interval->hi, whole));
    return ends;
}

void ys_put_interval(ys_status *status, ys_json *object, const struct ys_interval *interval, bool whole)
{
    if (!interval->known) {
        ys_put(status, object, "ci", ys_json_null());
        ys_put(status, object, "level", ys_json_null());
        return;
    }
    ys_put(status, object, "ci", ys_interval_ends(status, interval, whole));
    ys_put_real(status, object, "level", interval->level);
}

ys_status ys_built(ys_status status, ys_json *value, ys_json **made)
{
    if (status == YS_OK && !value)
        return ys_out_of_memory();
    if (status == YS_OK)
        *made = value;
    else
        ys_json_free(value);
    return status;
}
