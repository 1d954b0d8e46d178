/* What being watched costs a training: with samples and without, with the profile of `perf = on` and without, in turn.
 */
#ifndef YS_CAMPAIGN_PERTURBATION_H
#define YS_CAMPAIGN_PERTURBATION_H

#include "campaign/pairs.h"

struct ys_perturbed {
    char *trial, *what;       /* "10 samples a second", "perf = on" */
    int64_t pairs, disturbed; /* rounds; disturbed runs of both */
    double ratio;             /* speed when watched / when not, centre over pairs */
    struct ys_list ci;        /* double: its interval; empty with fewer than 6 pairs */
    double level, resolution;
    char *reason; /* why there is no ratio or no interval; NULL */
};

struct ys_perturbation {
    char *date, *host;
    double seconds;
    struct ys_list found; /* struct ys_perturbed */
};
extern const struct ys_record ys_perturbation_record;

#define YS_PERTURBATION_PAIRS 12 /* twice what an interval needs, and even: the order inside rounds is balanced */

/** Measures `pairs` rounds of a training of the built-in engine, and as many of one of PyTorch where that is installed;
 * with `keys` that name a framework of that alone. Keeps what it found. As of ys_pairs_measure(). */
ys_status ys_perturbation_measure(const struct ys_job_flag *keys, size_t key_count, const char *const *recipe_dirs,
                                  int pairs, struct ys_perturbation *perturbation) YS_MUST_CHECK;

#endif
