/* What the tables of made-up studies have in common. YS_STATISTICS_STUDIES says how many studies a cell has (default
 * 100: quick, with wider limits). Seeds are fixed. */
#ifndef YS_TESTS_STATISTICS_CELLS_H
#define YS_TESTS_STATISTICS_CELLS_H

#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEED = 20261122 };

static inline int studies(void)
{
    const char *text = getenv("YS_STATISTICS_STUDIES");
    int count = text ? atoi(text) : 0;
    return count > 0 ? count : 100;
}

static inline struct ys_rng stream(const char *name)
{
    struct ys_rng rng;
    ys_rng_init(&rng, SEED, name);
    return rng;
}

/* Of a share of `n` studies, in per cent: what the choice of seeds makes of it. */
static inline double standard_error(double percent, int n)
{
    return sqrt(percent * (100 - percent) / n);
}

static inline double slack(double percent, int n)
{
    return 3 * standard_error(percent, n);
}

/* A cell of a table: the share of `hits`, with its standard error, which is never below that of one hit. */
static inline double print_share(int hits, int n)
{
    double percent = 100.0 * hits / n;
    printf(" %.1f ± %.1f |", percent, standard_error(100.0 * fmin(fmax(hits, 1), n - 1) / n, n));
    return percent;
}

#endif
