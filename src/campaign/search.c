#include "campaign/search.h"

#include "base/json/shared_words.h"
#include "base/mem.h"
#include "base/rng.h"
#include "stat/summary.h"

#include <math.h>

static const char *const way_words[] = {"random", "halving", "tpe"};
const struct ys_names ys_search_ways = YS_NAMES("search", way_words);

static const double first_part = 0.6; /* of the budget, for the first seed of a halving */

struct point_search {
    const struct ys_search_wish *wish;
    const struct ys_search_ops *ops;
    struct ys_search *search;
    uint32_t *order; /* of all points, by lot */
    size_t at;       /* in it */
    bool *seen;      /* by place */
};

double ys_search_worth(const struct ys_search_point *point)
{
    double scratch[YS_SEARCH_SEEDS];
    return point->seeds ? ys_stat_median(point->values, (size_t)point->seeds, scratch) : (double)INFINITY;
}

static ys_status go_on(struct point_search *searching, struct ys_search_point *point, int count)
{
    int64_t steps = 0;
    YS_TRY(searching->ops->run(searching->ops->context, point->place, point->seeds, count, point->values + point->seeds,
                               &steps));
    point->seeds += count;
    point->steps += steps;
    searching->search->steps += steps;
    return YS_OK;
}

static ys_status begin(struct point_search *searching, size_t place, int count)
{
    struct ys_search *search = searching->search;
    search->points = ys_realloc(search->points, search->count + 1, sizeof *search->points);
    struct ys_search_point *point = &search->points[search->count];
    *point = (struct ys_search_point){.place = place};
    searching->seen[place] = true;
    const ys_status status = go_on(searching, point, count);
    search->count += status == YS_OK;
    if (status != YS_EUNSUPPORTED)
        return status;
    search->refused = ys_realloc(search->refused, search->skipped + 1, sizeof *search->refused);
    search->refused[search->skipped++] = place;
    return YS_OK;
}

/* Whether there is another by lot. */
static bool next_by_lot(struct point_search *searching, size_t *place)
{
    while (searching->at < searching->wish->points && searching->seen[searching->order[searching->at]])
        searching->at++;
    if (searching->at == searching->wish->points)
        return false;
    *place = searching->order[searching->at];
    return true;
}

static bool is_affordable(const struct point_search *searching, int runs, double part)
{
    const double after = (double)searching->search->steps + (double)runs * (double)searching->wish->limit;
    return after <= part * (double)searching->wish->budget;
}

static ys_status search_each(struct point_search *searching, int seeds, double part)
{
    size_t place;
    while (is_affordable(searching, seeds, part) && next_by_lot(searching, &place)) {
        if (searching->wish->way == YS_SEARCH_TPE) {
            size_t asked = searching->wish->points;
            YS_TRY(searching->ops->ask(searching->ops->context, searching->search, &asked));
            if (asked < searching->wish->points && !searching->seen[asked])
                place = asked;
        }
        YS_TRY(begin(searching, place, seeds));
    }
    return YS_OK;
}

/* The unfinished point that is worth most; NULL. */
static struct ys_search_point *best_unfinished(const struct ys_search *search)
{
    struct ys_search_point *best = NULL;
    for (size_t i = 0; i < search->count; i++) {
        struct ys_search_point *point = &search->points[i];
        if (point->seeds < YS_SEARCH_SEEDS && (!best || ys_search_worth(point) < ys_search_worth(best)))
            best = point;
    }
    return best;
}

static ys_status search_by_halving(struct point_search *searching)
{
    struct ys_search *search = searching->search;
    YS_TRY(search_each(searching, 1, first_part));
    for (size_t left = (search->count + 2) / 3; left && is_affordable(searching, YS_SEARCH_SEEDS - 1, 1); left--)
        YS_TRY(go_on(searching, best_unfinished(search), YS_SEARCH_SEEDS - 1));
    return YS_OK;
}

static void find_best(struct ys_search *search)
{
    double worth = INFINITY;
    search->best = search->count;
    for (size_t i = 0; i < search->count; i++)
        if (search->points[i].seeds == YS_SEARCH_SEEDS && ys_search_worth(&search->points[i]) < worth) {
            search->best = i;
            worth = ys_search_worth(&search->points[i]);
        }
}

ys_status ys_search_run(const struct ys_search_wish *wish, const struct ys_search_ops *ops, struct ys_search *search)
{
    struct ys_rng rng;
    struct point_search searching = {.wish = wish, .ops = ops, .search = search};
    *search = (struct ys_search){0};
    searching.order = ys_alloc(wish->points, sizeof *searching.order);
    searching.seen = ys_alloc(wish->points, sizeof *searching.seen);
    for (size_t i = 0; i < wish->points; i++)
        searching.order[i] = (uint32_t)i;
    ys_rng_init(&rng, wish->seed, "tune/order");
    ys_rng_shuffle(&rng, searching.order, wish->points);
    ys_status status =
        wish->way == YS_SEARCH_HALVING ? search_by_halving(&searching) : search_each(&searching, YS_SEARCH_SEEDS, 1);
    find_best(search);
    ys_free(searching.order);
    ys_free(searching.seen);
    return status;
}

void ys_search_fini(struct ys_search *search)
{
    ys_free(search->points);
    ys_free(search->refused);
    *search = (struct ys_search){0};
}
