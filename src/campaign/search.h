/* Which of the points of a grid is the best, under a budget of steps: hyper-parameters of a training. No clock, no
 * program: who searches says how a point is run (campaign/tune_over.h does it by trainings, tests by made-up surfaces).
 *
 * A point is judged on YS_SEARCH_SEEDS seeds, the same for all points: its worth is the median, in which a run that did
 * not get there counts as longer than any that did. A point is begun while as many steps are left as it can take at
 * most, so that nobody spends more than the budget. Points that are refused cost nothing.
 *
 *   random    points in an order drawn by the seed, each on all seeds (Bergstra and Bengio, "Random search for
 *             hyper-parameter optimization", JMLR 2012)
 *   halving   the same order, each on one seed while three fifths of the budget last; then the better third on the
 *             others, best first (Jamieson and Talwalkar, AISTATS 2016, with seeds as the resource: a training that is
 *             cut short would have another schedule)
 *   asked     whoever asks says which is next; a point that was judged already is replaced by the next by lot */
#ifndef YS_CAMPAIGN_SEARCH_H
#define YS_CAMPAIGN_SEARCH_H

#include "base/json/record.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { YS_SEARCH_SEEDS = 3 };
enum ys_search_way { YS_SEARCH_RANDOM, YS_SEARCH_HALVING, YS_SEARCH_TPE };
extern const struct ys_names ys_search_ways; /* "random", "halving", "tpe" */

struct ys_search_point {
    size_t place;                   /* in the grid */
    double values[YS_SEARCH_SEEDS]; /* less is better; INFINITY: it did not get there */
    int seeds;                      /* of these, that were run */
    int64_t steps;                  /* of all of them */
};

struct ys_search_wish {
    size_t points;  /* of the grid */
    int64_t budget; /* steps of all runs together */
    int64_t limit;  /* of one run, at most */
    uint64_t seed;  /* of the order */
    enum ys_search_way way;
};

struct ys_search {
    struct ys_search_point *points; /* those that were run, as they were begun */
    size_t count;
    size_t *refused; /* places of those that were refused */
    size_t skipped;  /* how many those are */
    size_t best;     /* of those on all seeds; `count`: none of them got there on most */
    int64_t steps;
};

struct ys_search_ops {
    void *context;
    /** Runs a point on seeds first to first + count - 1. YS_EUNSUPPORTED: it is refused. */
    ys_status (*run)(void *context, size_t place, int first, int count, double *values, int64_t *steps);
    /** The next point, by those that were run and those that were refused; of YS_SEARCH_TPE alone. */
    ys_status (*ask)(void *context, const struct ys_search *search, size_t *place);
};

/** `search` is overwritten; after a failure it has what was run until then. */
ys_status ys_search_run(const struct ys_search_wish *wish, const struct ys_search_ops *ops,
                        struct ys_search *search) YS_MUST_CHECK;
void ys_search_fini(struct ys_search *search);
/** The median of the seeds that were run; INFINITY where most did not get there. */
double ys_search_worth(const struct ys_search_point *point);

#endif
