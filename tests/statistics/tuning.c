/* What a search for the best settings finds (campaign/halving.h) in made-up landscapes whose best point is known, and
 * how often fresh rounds call its winner better where nothing is (docs/tuning.md). A run takes a second, and a speed
 * scatters from run to run, by what a round shares, and by a run in twenty that is slower by a fifth. */
#include "campaign/halving.h"
#include "stat/compare.h"
#include "statistics/cells.h"
#include "tap.h"

#include <stdbool.h>
#include <string.h>

enum { KNOBS = 3, POINTS = 60, CONFIRM = 10 };
#define SCATTER 0.05
#define SHARED  0.1
#define MARGIN  0.02

/* Logarithms of speeds, by the values of three knobs; point 0 is the default. */
struct landscape {
    uint8_t values[KNOBS]; /* without the default */
    size_t knobs;
    double speeds[POINTS];
    double best;
};

struct searched {
    const struct landscape *landscape;
    struct ys_rng *rng;
    double spent_s;
};

static size_t point_of(const struct landscape *landscape, const uint8_t *values)
{
    size_t point = 0;
    for (size_t k = 0; k < landscape->knobs; k++)
        point = point * (landscape->values[k] + 1U) + values[k];
    return point;
}

static double run_of(struct searched *searched, size_t point, double round)
{
    struct ys_rng *rng = searched->rng;
    const double slow = ys_rng_below(rng, 20) ? 0 : 0.2;
    return searched->landscape->speeds[point] + round + SCATTER * ys_rng_normal(rng) - slow;
}

static ys_status measure(void *context, const struct ys_halving *halving, const struct ys_halving_rung *rung,
                         double *values, bool *out, int *complete)
{
    struct searched *searched = context;
    for (int r = 0; r < rung->rounds; r++) {
        const double round = SHARED * ys_rng_normal(searched->rng);
        for (size_t i = 0; i < rung->count; i++) {
            const size_t point = point_of(searched->landscape, halving->items[rung->candidates[i]].values);
            values[i * (size_t)rung->rounds + (size_t)r] = run_of(searched, point, round);
            out[i] = false;
        }
    }
    searched->spent_s += (double)rung->count * rung->rounds;
    *complete = rung->rounds;
    return YS_OK;
}

static bool is_new(void *context, const struct ys_halving *halving, const uint8_t *values)
{
    (void)context;
    for (size_t i = 0; i < halving->count; i++)
        if (memcmp(halving->items[i].values, values, sizeof halving->items[i].values) == 0)
            return false;
    return true;
}

static double spent_s(void *context)
{
    return ((struct searched *)context)->spent_s;
}

/* The point that it finds, within so many runs. */
static size_t search(const struct landscape *landscape, struct ys_rng *rng, double runs, double *spent)
{
    struct searched searched = {.landscape = landscape, .rng = rng};
    const struct ys_halving_ops ops = {&searched, measure, is_new, spent_s};
    const struct ys_halving_wish wish = {
        .values = landscape->values, .knobs = landscape->knobs, .budget_s = runs, .run_s = 1};
    struct ys_halving halving;
    CHECK_INT(ys_halving_search(&wish, &ops, &halving), YS_OK);
    const size_t found = point_of(landscape, halving.items[halving.best].values);
    *spent += searched.spent_s;
    ys_halving_fini(&halving);
    return found;
}

static void find_best(struct landscape *landscape)
{
    landscape->best = landscape->speeds[0];
    for (size_t i = 1; i < POINTS; i++)
        landscape->best = fmax(landscape->best, landscape->speeds[i]);
}

/* One knob of sixty values, of which one is by `ahead` better than the next. */
static void make_one_knob(struct ys_rng *rng, double ahead, struct landscape *landscape)
{
    *landscape = (struct landscape){.values = {POINTS - 1}, .knobs = 1};
    for (size_t i = 0; i < POINTS; i++)
        landscape->speeds[i] = -0.4 * ys_rng_uniform(rng);
    landscape->speeds[1 + ys_rng_below(rng, POINTS - 1)] = ahead;
    find_best(landscape);
}

/* Five by four by three: each value has its own effect, up to `effect` either way, and each point one of its own, up to
 * `joint`, that no single knob shows. */
static void make_three_knobs(struct ys_rng *rng, double effect, double joint, struct landscape *landscape)
{
    double own[KNOBS][5] = {{0}};
    *landscape = (struct landscape){.values = {4, 3, 2}, .knobs = KNOBS};
    for (size_t k = 0; k < KNOBS; k++)
        for (size_t v = 1; v <= landscape->values[k]; v++)
            own[k][v] = effect * (2 * ys_rng_uniform(rng) - 1);
    for (size_t i = 0; i < POINTS; i++)
        landscape->speeds[i] =
            own[0][i / 12] + own[1][i / 3 % 4] + own[2][i % 3] + joint * (2 * ys_rng_uniform(rng) - 1);
    find_best(landscape);
}

/* How often the point that is found is no farther than `near` from the best. */
static double share_found(const char *name, int kind, double runs, double near)
{
    struct ys_rng rng = stream(name);
    struct landscape landscape;
    const int count = studies();
    double spent = 0;
    int found = 0;
    for (int s = 0; s < count; s++) {
        if (kind == 0)
            make_one_knob(&rng, 0.1, &landscape);
        else
            make_three_knobs(&rng, 0.3, kind == 1 ? 0 : 0.02, &landscape);
        found += landscape.best - landscape.speeds[search(&landscape, &rng, runs, &spent)] <= near;
    }
    printf("# | %s | %.0f | %.0f |", name, runs, spent / count);
    const double percent = print_share(found, count);
    printf("\n");
    return percent;
}

static void the_best_of_sixty_is_found(void)
{
    const int count = studies();
    printf("# seed %d, %d landscapes each\n# | landscape | runs at most | runs | found, %% |\n", SEED, count);
    CHECK(share_found("one knob, the best 10 % ahead", 0, 600, 1e-9) >= 90 - slack(90, count));
    CHECK(share_found("5 x 4 x 3, within 3 %", 1, 300, 0.03) >= 90 - slack(90, count));
    CHECK(share_found("5 x 4 x 3, within 5 %", 1, 300, 0.05) >= 90 - slack(90, count));
    CHECK(share_found("5 x 4 x 3, within 3 %, a fifth of all points 6 times", 1, 72, 0.03) >= 60);
    CHECK(share_found("5 x 4 x 3 and joint effects, within 5 %", 2, 300, 0.05) >= 90 - slack(90, count));
}

/* Fresh rounds of the winner and the default, as `tune` asks them. */
static bool is_better(const struct landscape *landscape, struct ys_rng *rng, size_t winner)
{
    struct searched searched = {.landscape = landscape, .rng = rng};
    const struct ys_compare_rule rule = {.better = YS_BETTER_HIGHER, .margin = MARGIN, .stretch = 1};
    double a[CONFIRM], b[CONFIRM];
    struct ys_comparison found;
    for (int r = 0; r < CONFIRM; r++) {
        const double round = SHARED * ys_rng_normal(rng);
        a[r] = exp(run_of(&searched, winner, round));
        b[r] = exp(run_of(&searched, 0, round));
    }
    ys_compare(a, b, CONFIRM, &rule, &found);
    return found.verdict == YS_VERDICT_BETTER;
}

static void where_all_are_equal_none_is_better(void)
{
    struct ys_rng rng = stream("equal");
    struct landscape landscape = {.values = {4, 3, 2}, .knobs = KNOBS};
    const int count = studies();
    double spent = 0;
    int wrong = 0;
    for (int s = 0; s < count; s++)
        wrong += is_better(&landscape, &rng, search(&landscape, &rng, 300, &spent));
    printf("# seed %d, %d equal landscapes of 60 points: one is called better in", SEED, count);
    CHECK(print_share(wrong, count) <= 5);
    printf(" %% of them\n");
}

/* The order in which knobs stand decides nothing but by which numbers chance is drawn. */
static void the_order_of_knobs_decides_nothing(void)
{
    struct ys_rng rng = stream("order");
    const int count = studies();
    double spent = 0;
    int found[2] = {0};
    for (int s = 0; s < count; s++) {
        struct landscape first = {.values = {4, 3, 2}, .knobs = KNOBS}, turned = {.values = {2, 3, 4}, .knobs = KNOBS};
        make_three_knobs(&rng, 0.3, 0, &first);
        for (size_t a = 0; a < 5; a++)
            for (size_t b = 0; b < 4; b++)
                for (size_t c = 0; c < 3; c++)
                    turned.speeds[(c * 4 + b) * 5 + a] = first.speeds[(a * 4 + b) * 3 + c];
        find_best(&turned);
        found[0] += first.best - first.speeds[search(&first, &rng, 300, &spent)] <= 0.03;
        found[1] += turned.best - turned.speeds[search(&turned, &rng, 300, &spent)] <= 0.03;
    }
    CHECK(fabs((double)(found[0] - found[1])) / count * 100 <= 1.5 * slack(90, count));
}

TAP_MAIN(TAP_CASE(the_best_of_sixty_is_found), TAP_CASE(where_all_are_equal_none_is_better),
         TAP_CASE(the_order_of_knobs_decides_nothing))
