/* Numbers as people read them: three significant digits, scaled to a unit that suits them. */
#ifndef YS_REPORT_LABEL_H
#define YS_REPORT_LABEL_H

#include "base/json/shared_words.h"
#include <stddef.h>

/** A short text by value; valid until the end of the full expression that made it, like any temporary. */
struct ys_label {
    char text[48];
};

/** A value with its interval, all in the unit that suits the value and to the same place. */
struct ys_measure {
    struct ys_label value;    /* "12300", "5.18"; "-" when it is NaN */
    struct ys_label unit;     /* "", "ms", "GB", "%" */
    struct ys_label interval; /* "[5.10, 5.25]", or "" when an end is NaN */
};
/** `lo` and `hi` NaN: no interval. Places are added (at most two) where three digits would show both ends alike. */
struct ys_measure ys_measure(enum ys_kind kind, double value, double lo, double hi);

/** What a value of about this size is divided by to be in the unit that ys_measure() gives it. */
double ys_measure_factor(enum ys_kind kind, double value);

/** "5.18 ms", "98.12 %", "3.27 M"; "-" for NaN and infinities. */
struct ys_label ys_label_value(enum ys_kind kind, double value);
/** What stands before name number `said`, from 0, of a list of `all`: "", `comma` or " and ". */
const char *ys_label_join(size_t said, size_t all, const char *comma);
/** A ratio: "0.52", "1.004", "1.93", "12.4", "130". */
struct ys_label ys_label_ratio(double ratio);
/** A speed as a part of the best one: "1.00", "0.59x", "0.004x"; "" for NaN. */
struct ys_label ys_label_relative(double ratio);
/** Its interval to the same place: "1.85 to 2.01"; "" when an end is NaN. */
struct ys_label ys_label_ratio_range(double ratio, double lo, double hi);
/** An error of a proof: "4.1e-13", "0". */
struct ys_label ys_label_error(double error);
/** A share in percent with two significant digits: "0.34 %", "2.0 %", "12 %". */
struct ys_label ys_label_share(double share);
/** "Both trials", "All 4 trials": of two or more. */
struct ys_label ys_label_all(size_t count, const char *things);
/** "1 round", "6 rounds": `thing` takes an s for all numbers but 1. */
struct ys_label ys_label_plural(long long count, const char *thing);

#endif
