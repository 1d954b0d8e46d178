/* One trial in several ways, side by side: arms (campaign/arms.h) that leave nothing behind but the ratios of their
 * speeds. */
#ifndef YS_CAMPAIGN_PAIRS_H
#define YS_CAMPAIGN_PAIRS_H

#include "base/json/record.h"
#include "campaign/arms.h"
#include "stat/compare.h"

/* What is asked for. Keys that are not given are those of a LeNet on the made digits, trained by the built-in engine in
 * runs of a few seconds. */
struct ys_pairs_wish {
    const struct ys_job_flag *keys; /* of the user */
    size_t key_count;
    const struct ys_arms_key *ways; /* what tells the trials apart, or how they are measured; ended by a NULL key */
    int rounds;
    const char *const *recipe_dirs;
};

struct ys_pairs {
    char *trial; /* what was measured, for people: "lenet on digits, builtin" */
    struct ys_arms arms;
    double seconds; /* that it took, proofs included */
};

/** Measures so many ways. YS_EINVAL: a key is one of `ways`, or what was asked for is another number of trials;
 * YS_EINTR. Trials that cannot run or fail are no failure of this. */
ys_status ys_pairs_measure(const struct ys_pairs_wish *wish, size_t ways, struct ys_pairs *pairs) YS_MUST_CHECK;
void ys_pairs_fini(struct ys_pairs *pairs);

/* The speed of one way over that of another. */
struct ys_pairs_ratio {
    struct ys_list ratios; /* double: in the rounds in which both have one, over the part that both runs share */
    struct ys_list biases; /* double: of each what is left of both warm-ups; empty where that cannot be told */
    struct ys_comparison found;
    struct ys_list ci; /* double: its interval; empty with fewer than 6 pairs */
    int64_t disturbed; /* runs of both */
    char *why;         /* no ratio, or none of all: of either that has no run, or failed runs; borrowed; NULL */
    bool failed;       /* either, in all runs */
};
/** *ratio is the caller's also after a failure. */
ys_status ys_pairs_compare(const struct ys_pairs *pairs, size_t a, size_t b,
                           struct ys_pairs_ratio *ratio) YS_MUST_CHECK;
void ys_pairs_ratio_fini(struct ys_pairs_ratio *ratio);

#endif
