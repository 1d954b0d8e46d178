/* Building JSON without a check a line: the first failure sticks in `status`, later calls do nothing but free what they
 * were given. */
#ifndef YS_METRIC_JSON_BUILDER_H
#define YS_METRIC_JSON_BUILDER_H

#include "base/json/json.h"
#include "stat/summary.h"

void ys_put(ys_status *status, ys_json *object, const char *key, ys_json *value_taken);
void ys_put_text(ys_status *status, ys_json *object, const char *key, const char *text); /* NULL gives null */
void ys_put_int(ys_status *status, ys_json *object, const char *key, int64_t value);
void ys_put_real(ys_status *status, ys_json *object, const char *key, double value); /* NaN gives null */
void ys_put_bool(ys_status *status, ys_json *object, const char *key, bool value);
/** The same value, shared; NULL gives null. */
void ys_put_ref(ys_status *status, ys_json *object, const char *key, const ys_json *value);
void ys_add(ys_status *status, ys_json *array, ys_json *value_taken);
/** `text` unless the array holds it already. */
void ys_add_text_once(ys_status *status, ys_json *array, const char *text);
/** A whole number as an integer where it is one. */
ys_json *ys_number(double value, bool whole);
/** [lo, hi] of a known interval. */
ys_json *ys_interval_ends(ys_status *status, const struct ys_interval *interval, bool whole);
/** ci: [lo, hi] and level; both null when the interval is unknown. */
void ys_put_interval(ys_status *status, ys_json *object, const struct ys_interval *interval, bool whole);

/** Ends a builder: `value` into *made if `status` is YS_OK, freed otherwise. Returns `status`. */
ys_status ys_built(ys_status status, ys_json *value, ys_json **made);

#endif
