/* Which of many settings is the best, found by successive halving (Jamieson and Talwalkar, "Non-stochastic best arm
 * identification and hyperparameter optimization", AISTATS 2016), by a third each time. No clock, no program: who
 * searches says how something is measured (campaign/tune.h does it by runs, tests by made-up landscapes).
 *
 * A candidate has a value of each knob, 0 where it is as by default; candidate 0 is the default, and is in every rung.
 * A rung measures its candidates side by side for so many rounds; what a candidate gains is the median over the rung's
 * rounds of the logarithm of its value against the median of those candidates that got there in that round, less that
 * of the default. A rung is judged by its own rounds: what was lucky in one is not ahead in the next. The order of
 * candidates decides nothing: of equals the one with fewer values goes first, then the one whose values come first.
 *
 * First one knob at a time, YS_HALVING_ROUNDS rounds of all, or more where there is time; the better third goes on with
 * three times as many, until at most YS_HALVING_LAST are left. Then those, and the combinations of those values that
 * gained more than the noise floor (what gained most first, while there are at most YS_HALVING_COMBINED and time for
 * them), in the same way.
 * Then a last rung, whose candidates are proven first. Where the time does not suffice for a rung it has fewer rounds,
 * and where it does not suffice for one round the stage ends with what it has. */
#ifndef YS_CAMPAIGN_HALVING_H
#define YS_CAMPAIGN_HALVING_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    YS_HALVING_KNOBS = 24,   /* at most; */
    YS_HALVING_VALUES = 100, /* of each */
    YS_HALVING_ROUNDS = 2,
    YS_HALVING_ROUNDS_MOST = 36,
    YS_HALVING_LAST = 3,
    YS_HALVING_COMBINED = 60
};

struct ys_halving_candidate {
    uint8_t values[YS_HALVING_KNOBS]; /* of each knob; 0: as by default */
    int rung;                         /* the last in which it was measured, from 1; 0: none */
    int64_t rounds;                   /* in all rungs */
    double gain;                      /* of its last rung: a logarithm, more is better; NaN: none. -INFINITY: it mostly
                                         did not get there, and beyond YS_COMPARE_BEYOND / 2: the default did not */
    bool is_out;                      /* it failed: it is in no further rung */
};

/* One rung. `candidates`: places in the halving's. */
struct ys_halving_rung {
    const size_t *candidates;
    size_t count;
    int rounds;
    bool proven; /* each has to be proven before it */
};

struct ys_halving;
struct ys_halving_ops {
    void *context;
    /** Measures a rung: values[i * rounds + r] is the logarithm of what candidate i of the rung had in round r, more is
     * better, NaN where it has none, -INFINITY where it did not get there; out[i]: it is out, for a reason that
     * `context` keeps. *complete: rounds that there was time for. */
    ys_status (*measure)(void *context, const struct ys_halving *halving, const struct ys_halving_rung *rung,
                         double *values, bool *out, int *complete);
    /** Whether a candidate says something that no other does, and nothing twice. */
    bool (*is_new)(void *context, const struct ys_halving *halving, const uint8_t *values);
    double (*spent_s)(void *context); /* since the search began */
};

struct ys_halving_wish {
    const uint8_t *values; /* of each knob, without the default */
    size_t knobs;
    double budget_s;       /* of the whole search */
    double run_s, proof_s; /* what a run and a proof take; the first is learned from each rung */
    double floor;          /* a logarithm: who gains less has not moved; at least one standard error of a rung is */
};

struct ys_halving {
    struct ys_halving_candidate *items;
    size_t count, capacity, knobs;
    size_t best; /* of the last rung that ended, beside the default; 0: none is left, or none got there */
    int rungs;
    double floor;     /* that was used */
    double run_s;     /* as it was learned */
    bool is_unproven; /* there was no time for the last rung: `best` is of an earlier one */
};

/** `halving` is overwritten, and the caller's also after a failure of `measure`: it is what was found so far. */
ys_status ys_halving_search(const struct ys_halving_wish *wish, const struct ys_halving_ops *ops,
                            struct ys_halving *halving) YS_MUST_CHECK;
void ys_halving_fini(struct ys_halving *halving);

/** The least time that a search takes: its first rung and a last one of one round, with the proofs of that. */
double ys_halving_least_s(const struct ys_halving_wish *wish);

#endif
