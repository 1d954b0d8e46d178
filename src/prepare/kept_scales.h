/* Scales by which a network with the common weights is quantised, made once by the built-in engine for each weights and
 * rule, and kept in the cache: one file for every framework. Where the framework's own quantiser chooses them, what it
 * is told, with the same rows. */
#ifndef YS_PREPARE_KEPT_SCALES_H
#define YS_PREPARE_KEPT_SCALES_H

#include "prepare/work.h"

struct ys_kept_scales {
    char *path;                        /* of the scales as JSON (graph/scales.h); NULL: none are common to frameworks */
    struct ys_plan_quantise *quantise; /* owned; of quant.by = own; else NULL */
    char key[YS_SHA256_TEXT];          /* equal for equal scales */
    struct ys_shelf_item files;        /* held until ys_kept_scales_fini() */
};

/** What is quantised, and by whom. */
struct ys_quantised_work {
    const struct ys_framework *engine; /* the built-in one; borrowed, as all of it */
    const struct ys_trial *trial;
    const struct ys_work *work;
    const char *weights, *weights_key; /* path; equal for equal weights */
    uint64_t seed;
};

/** Calibrates, or has it done, on training rows drawn with its seed, where the cache has them not. YS_EUNSUPPORTED: the
 * engine could not, and says why; YS_EIO, YS_EINTR. On failure `kept` is as a zeroed one. */
ys_status ys_kept_scales_open(const struct ys_quantised_work *asking, struct ys_kept_scales *kept) YS_MUST_CHECK;
/** Of common scales: a text for each node of `graph` that is computed in float, with the reason why, added to `texts`.
 * `weights` are those that were quantised. */
ys_status ys_kept_scales_in_float(const struct ys_kept_scales *kept, const struct ys_graph *graph, const char *weights,
                                  struct ys_list *texts) YS_MUST_CHECK;
void ys_kept_scales_fini(struct ys_kept_scales *kept); /* a zeroed one is fine */

#endif
