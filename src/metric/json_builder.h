/* Building JSON beside what base/json/json.h has. */
#ifndef YS_METRIC_JSON_BUILDER_H
#define YS_METRIC_JSON_BUILDER_H

#include "base/json/json.h"
#include "stat/summary.h"

/** ys_json_set() of the same value, shared; NULL gives null. */
void ys_put_ref(ys_json *object, const char *key, const ys_json *value);
/** `text` unless the array holds it already. */
void ys_add_text_once(ys_json *array, const char *text);
/** A whole number as an integer where it is one. */
ys_json *ys_number(double value, bool whole);
/** ci: [lo, hi] and level; both null when the interval is unknown. */
void ys_put_interval(ys_json *object, const struct ys_interval *interval, bool whole);

#endif
