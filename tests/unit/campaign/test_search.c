/* The grid that `tune --over` searches, and what the search does with a budget of steps. */
#include "campaign/search.h"
#include "campaign/search_space.h"

#include "base/mem.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static void a_grid_is_read_and_named(void)
{
    struct ys_grid grid;
    struct ys_buf lines = {0};
    bool seen[52] = {false};
    REQUIRE(ys_grid_read(" lr={log 1e-4..1e-1 x 13} momentum={0, 0.9}  schedule={constant, cosine} ", &grid) == YS_OK);
    CHECK_INT(grid.points, 52);
    for (size_t place = 0; place < grid.points; place++) {
        const size_t again =
            (ys_grid_value(&grid, place, 0) * 2 + ys_grid_value(&grid, place, 1)) * 2 + ys_grid_value(&grid, place, 2);
        CHECK_INT(again, place);
        seen[again] = true;
    }
    CHECK(seen[0] && seen[51]);
    char *name = ys_grid_name(&grid, 51);
    CHECK_TEXT(name, "lr=0.1 momentum=0.9 schedule=cosine");
    ys_grid_put_lines(&grid, 0, &lines);
    CHECK_TEXT(ys_buf_text(&lines), "lr = 0.0001\nmomentum = 0\nschedule = constant\n");
    ys_free(name);
    ys_buf_free(&lines);
    ys_grid_fini(&grid);
}

static void what_is_no_grid_is_refused(void)
{
    static const char *const wrong[][2] = {{"", "a single point"},
                                           {"lr={0.1}", "a single point"},
                                           {"lr={0.1} lr={0.2}", "lr stands twice"},
                                           {"lrs={0.1, 0.2}", "did you mean lr?"},
                                           {"threads={1, 2}", "\"threads\" is no key of training that is searched"},
                                           {"lr=0.1", "lr needs its values in braces"},
                                           {"lr={0.1, 0.2", "lr needs its values in braces"},
                                           {"lr={log 1..2}", "--over: lr"},
                                           {"lr={0.1, fast}", "--over: lr"},
                                           {"schedule={constant, sine}", "--over: schedule"},
                                           {"batch={1..1000} lr={log 1e-4..1 x 101}", "more than 100000 points"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ys_grid grid;
        CHECK_INT(ys_grid_read(wrong[i][0], &grid), YS_EINVAL);
        CHECK_HAS(ys_error(), wrong[i][1]);
    }
}

enum { POINTS = 12, LIMIT = 100 };

struct made_up {
    int runs[POINTS][YS_SEARCH_SEEDS];
    size_t asked;
};

/* Point 5 is the best, 6 is refused, from 9 on none arrives; 4 does on its first seed alone, and then soonest. */
static ys_status run(void *context, size_t place, int first, int count, double *values, int64_t *steps)
{
    struct made_up *made = context;
    *steps = 0;
    if (place == 6)
        return ys_fail(YS_EUNSUPPORTED, "refused");
    for (int i = 0; i < count; i++) {
        const bool lucky = place == 4 && first + i == 0, lost = place >= 9 || (place == 4 && !lucky);
        made->runs[place][first + i]++;
        values[i] = lost ? INFINITY : lucky ? 1 : 10 + 5 * fabs((double)place - 5);
        *steps += lost ? LIMIT : (int64_t)values[i];
    }
    return YS_OK;
}

static ys_status ask(void *context, const struct ys_search *search, size_t *place)
{
    struct made_up *made = context;
    (void)search;
    *place = made->asked++ % 2 ? 5 : 8;
    return YS_OK;
}

static void every_way_keeps_the_budget_and_drops_nobody(void)
{
    for (int way = YS_SEARCH_RANDOM; way <= YS_SEARCH_TPE; way++)
        for (int64_t budget = 0; budget <= 4000; budget += 250) {
            struct made_up made = {0};
            struct ys_search search;
            const struct ys_search_ops ops = {&made, run, ask};
            const struct ys_search_wish wish = {POINTS, budget, LIMIT, 7, (enum ys_search_way)way};
            REQUIRE(ys_search_run(&wish, &ops, &search) == YS_OK);
            int64_t steps = 0;
            CHECK(search.steps <= budget);
            for (size_t i = 0; i < search.count; i++) {
                const struct ys_search_point *point = &search.points[i];
                steps += point->steps;
                for (int s = 0; s < YS_SEARCH_SEEDS; s++)
                    CHECK_INT(made.runs[point->place][s], s < point->seeds); /* each seed once */
            }
            CHECK_INT(steps, search.steps);
            if (budget == 4000) {
                REQUIRE(search.best < search.count);
                CHECK_INT(search.points[search.best].place, 5);
                CHECK_INT(search.skipped, 1);
                CHECK_INT(search.count, POINTS - 1);
            }
            if (search.best < search.count)
                CHECK(search.points[search.best].place != 4); /* the luckiest seed is no worth */
            ys_search_fini(&search);
        }
}

static void where_none_arrives_there_is_no_best(void)
{
    struct made_up made = {0};
    struct ys_search search;
    const struct ys_search_ops ops = {&made, run, ask};
    const struct ys_search_wish wish = {POINTS, 2 * LIMIT, LIMIT, 7, YS_SEARCH_RANDOM};
    REQUIRE(ys_search_run(&wish, &ops, &search) == YS_OK);
    CHECK_INT(search.count, 0); /* a point takes three hundred at most */
    CHECK_INT(search.best, search.count);
    ys_search_fini(&search);
    const struct ys_search_point lost = {.values = {3, INFINITY, INFINITY}, .seeds = 3},
                                 most = {.values = {3, INFINITY, 4}, .seeds = 3};
    CHECK(isinf(ys_search_worth(&lost)));
    CHECK(ys_search_worth(&most) == 4);
}

TAP_MAIN(TAP_CASE(a_grid_is_read_and_named), TAP_CASE(what_is_no_grid_is_refused),
         TAP_CASE(every_way_keeps_the_budget_and_drops_nobody), TAP_CASE(where_none_arrives_there_is_no_best))
