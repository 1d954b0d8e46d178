/* What somebody wants of a trial, in words: "fastest at accuracy >= 98 % within 2 GiB". docs/judging.md has the words.
 */
#ifndef YS_JUDGE_WISH_H
#define YS_JUDGE_WISH_H

#include "base/json/json.h"
#include "metric/metric.h"

enum { YS_WISH_MOST = 16 }; /* bounds, and keys */

/** A bound that a metric has to keep. */
struct ys_wish_bound {
    char *text; /* "accuracy >= 98 %" */
    const struct ys_metric_info *metric;
    bool at_least; /* >=; else <= */
    double limit;  /* in the metric's unit; a share from 0 to 1 */
};

/** A key that a trial has to have at this value. */
struct ys_wish_key {
    char *name, *text;
    ys_json *value; /* as resolved trials have it */
};

struct ys_wish {
    char *text; /* as it was written */
    const struct ys_metric_info *metric;
    bool highest; /* of that metric; else the lowest */
    struct ys_wish_bound bounds[YS_WISH_MOST];
    size_t bound_count;
    struct ys_wish_key keys[YS_WISH_MOST];
    size_t key_count;
};

/** `wish` is overwritten. YS_EINVAL: it cannot be read; a word that is none is named with the nearest. */
ys_status ys_wish_read(const char *text, struct ys_wish *wish) YS_MUST_CHECK;
void ys_wish_fini(struct ys_wish *wish);

#endif
