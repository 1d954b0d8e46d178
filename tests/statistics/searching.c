/* What a search for hyper-parameters finds (campaign/search.h) on made-up surfaces whose best point is known, random
 * order against halving, under the same budget of steps (docs/tuning.md). The surface is that of a rate (13 values, a
 * valley whose place is drawn), momentum and schedule (2 each): a logarithm of steps to the target, beyond which a run
 * does not get there; runs scatter from seed to seed by a tenth. */
#include "campaign/search.h"
#include "base/rng.h"
#include "statistics/cells.h"
#include "tap.h"

#include <math.h>

enum { RATES = 13, POINTS = 4 * RATES, LIMIT = 500 };

struct surface {
    double logs[POINTS];
    double best, scatter;
    struct ys_rng *rng;
};

static void make(struct ys_rng *rng, double scatter, struct surface *surface)
{
    const double middle = 12 * ys_rng_uniform(rng), width = 1.5 + 2 * ys_rng_uniform(rng);
    *surface = (struct surface){.best = INFINITY, .scatter = scatter, .rng = rng};
    double own[4];
    for (int i = 0; i < 4; i++)
        own[i] = 0.5 * ys_rng_uniform(rng);
    for (int i = 0; i < POINTS; i++) {
        const double far = (i / 4 - middle) / width;
        surface->logs[i] = log(100) + own[i % 4] + far * far;
        surface->best = fmin(surface->best, surface->logs[i]);
    }
}

static ys_status run(void *context, size_t place, int first, int count, double *values, int64_t *steps)
{
    struct surface *surface = context;
    (void)first;
    *steps = 0;
    for (int i = 0; i < count; i++) {
        const double took = exp(surface->logs[place] + surface->scatter * ys_rng_normal(surface->rng));
        values[i] = took <= LIMIT ? took : INFINITY;
        *steps += took <= LIMIT ? (int64_t)ceil(took) : LIMIT;
    }
    return YS_OK;
}

/* By how much the logarithm of what is found lies above the best. */
static double regret(struct surface *surface, uint64_t seed, enum ys_search_way way, int64_t budget)
{
    const struct ys_search_ops ops = {surface, run, NULL};
    const struct ys_search_wish wish = {.points = POINTS, .budget = budget, .limit = LIMIT, .seed = seed, .way = way};
    struct ys_search search;
    CHECK_INT(ys_search_run(&wish, &ops, &search), YS_OK);
    CHECK(search.steps <= budget);
    const double found =
        search.best < search.count ? surface->logs[search.points[search.best].place] - surface->best : INFINITY;
    ys_search_fini(&search);
    return found;
}

static void compare(const char *name, int64_t budget, double scatter, double *ahead, double *behind)
{
    struct ys_rng rng = stream(name);
    struct surface surface;
    const int count = studies();
    int better = 0, worse = 0, near[2] = {0, 0};
    for (int s = 0; s < count; s++) {
        make(&rng, scatter, &surface);
        const double random = regret(&surface, (uint64_t)s, YS_SEARCH_RANDOM, budget),
                     halving = regret(&surface, (uint64_t)s, YS_SEARCH_HALVING, budget);
        better += halving < random;
        worse += halving > random;
        near[0] += random <= 0.1;
        near[1] += halving <= 0.1;
    }
    *ahead = 100.0 * better / count;
    *behind = 100.0 * worse / count;
    printf("# | %s | %lld | %.1f | %.1f | %.1f | %.1f |\n", name, (long long)budget, 100.0 * near[0] / count,
           100.0 * near[1] / count, *ahead, *behind);
}

static void halving_against_random_order(void)
{
    static const int64_t budgets[] = {5000, 10000, 20000, 40000};
    static const char *const names[] = {"searching 10", "searching 20", "searching 40", "searching 80"};
    static const double scatters[] = {0.1, 0.3};
    double ahead, behind;
    printf(
        "# seed %d, %d surfaces each\n# | surfaces | budget | random within 10 %%, %% | halving, %% | halving ahead, "
        "%% | behind, %% |\n",
        SEED, studies());
    for (int i = 0; i < 8; i++) {
        printf("# scatter %.1f\n", scatters[i / 4]);
        compare(names[i % 4], budgets[i % 4], scatters[i / 4], &ahead, &behind);
        CHECK(ahead + slack(50, studies()) >= behind);
    }
}

TAP_MAIN(TAP_CASE(halving_against_random_order))
