/* One trial in several ways, in turn: a study of its own that leaves nothing behind but its speeds. */
#ifndef YS_STUDY_PAIRS_H
#define YS_STUDY_PAIRS_H

#include "base/record.h"
#include "job/job.h"
#include "stat/compare.h"

struct ys_pairs_key {
    const char *key, *value; /* of a job */
};

/* What is asked for. Keys that are not given are those of a LeNet on the made digits, trained by the built-in engine in
 * runs of a few seconds. */
struct ys_pairs_wish {
    const struct ys_job_flag *keys; /* of the user */
    size_t key_count;
    const struct ys_pairs_key *ways; /* what tells the trials apart, and how long: "sample_hz" "{10,0}"; ended by NULL
                                      */
    const char *const *recipe_dirs;
};

struct ys_pairs_trial {
    int64_t runs, failed, disturbed;
    char *reason;              /* why it cannot run, or how an example of its failures ended; NULL */
    struct ys_list rate_per_s; /* double, by round; NaN: none */
};

struct ys_pairs {
    char *trial;           /* what was measured, for people: "lenet on digits, builtin" */
    struct ys_list trials; /* struct ys_pairs_trial, in the order of the job */
    struct ys_list ratios; /* double: the speed of the first over that of the second in the rounds in which both have
                              one, over the part that both runs share */
    struct ys_list biases; /* double: of each what is left of both warm-ups; empty where that cannot be told */
    double seconds;        /* that it took, proofs included */
};

/** Measures. YS_EINVAL: a key is one of `ways`, or what was asked for is more than `most` trials; YS_EINTR. Trials that
 * cannot run or fail are no failure of this. */
ys_status ys_pairs_measure(const struct ys_pairs_wish *wish, size_t most, struct ys_pairs *pairs) YS_MUST_CHECK;
void ys_pairs_fini(struct ys_pairs *pairs);

/** The speeds of both in the rounds in which both have one; `a` and `b` have room for as many as either has. */
size_t ys_pairs_match(const struct ys_pairs_trial *a, const struct ys_pairs_trial *b, double *of_a, double *of_b);

#endif
