/* Measuring how much a trial differs from itself on this machine now. */
#ifndef YS_CAMPAIGN_MEASURE_NOISE_H
#define YS_CAMPAIGN_MEASURE_NOISE_H

#include "campaign/pairs.h"
#include "prepare/noted_noise.h"

/** Measures for `seconds` (proof and preparation come on top), the trial that `keys` change, against itself under two
 * names, as a study with the same `interleave` would, and keeps it beside what was found in the other manner. As of
 * ys_pairs_measure(). */
ys_status ys_noise_measure(const struct ys_job_flag *keys, size_t key_count, const char *const *recipe_dirs,
                           double seconds, struct ys_noise *noise) YS_MUST_CHECK;

#endif
