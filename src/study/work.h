/* The files that say what a run has to do: graph, initial weights, order of batches. Made once, kept in the cache under
 * the hash of everything they depend on. */
#ifndef YS_STUDY_WORK_H
#define YS_STUDY_WORK_H

#include "base/hash.h"
#include "study/trial.h"

struct ys_work {
    char key[YS_SHA256_TEXT]; /* equal for equal work */
    char *graph_path, *weights_path, *order_path;
    int64_t parameters, multiply_adds;
};

/** The work of `trial` in round `round`: its seed is the study's seed plus the round. The order holds the trial's
 * steps, or `least_steps` where that is more: a proof needs ten. */
ys_status ys_work_prepare(const struct ys_trial *trial, uint64_t seed, int64_t least_steps,
                          struct ys_work *work) YS_MUST_CHECK;
void ys_work_fini(struct ys_work *work);

/** The plan of one run (docs/protocol.md). New value, NULL without memory. */
ys_json *ys_work_plan(const struct ys_work *work, const struct ys_trial *trial, uint64_t seed, const char *folder);

#endif
