/* What the settings of a trial are made of (campaign/knob_space.h), and who stays in a search (campaign/halving.h). */
#include "campaign/halving.h"
#include "campaign/knob_space.h"

#include "base/mem.h"
#include "stat/compare.h"
#include "tap.h"

#include <math.h>
#include <string.h>

enum { CPUS = 20 };

/* Of a trial of the adapter that does nothing, which may use so many CPUs. */
static void open_space(const char *wanted, struct ys_space *space)
{
    static int64_t numbers[CPUS];
    struct ys_trial_settings settings;
    ys_record_init(&ys_trial_settings_record, &settings);
    settings.framework = ys_strdup("null");
    settings.threads = 4;
    settings.cpus = (struct ys_list){numbers, CPUS};
    CHECK_INT(ys_space_open(&settings, wanted, NULL, space), YS_OK);
    settings.cpus = (struct ys_list){0};
    ys_record_fini(&ys_trial_settings_record, &settings);
}

static void all_numbers_of_threads_up_to_eight_then_half_steps(void)
{
    static const char *const names[] = {"1", "2", "3", "4", "5", "6", "7", "8", "12", "16", "20"};
    struct ys_space space;
    open_space("threads", &space);
    const struct ys_knob *knob = space.knobs.items;
    CHECK_INT(space.knobs.count, 1);
    CHECK_INT(knob->values.count, sizeof names / sizeof names[0]);
    for (size_t i = 0; i < knob->values.count && i < sizeof names / sizeof names[0]; i++)
        CHECK_TEXT(((const struct ys_knob_value *)knob->values.items)[i].name, names[i]);
    ys_space_fini(&space);
}

static void a_set_of_values_becomes_lines(void)
{
    const uint8_t values[YS_HALVING_KNOBS] = {2, 1};
    struct ys_space space;
    struct ys_buf lines = {0};
    open_space("threads,wait", &space);
    char *name = ys_space_name(&space, values);
    CHECK_TEXT(name, "threads=2 wait=passive");
    CHECK(ys_space_put_lines(&space, values, &lines));
    CHECK_TEXT(ys_buf_text(&lines), "threads = 2\nenv.OMP_WAIT_POLICY = passive\nenv.GOMP_SPINCOUNT = 0\n"
                                    "env.KMP_BLOCKTIME = 0\n");
    CHECK(ys_space_has(&space, values, "wait"));
    CHECK(!ys_space_has(&space, values, "isa"));
    CHECK(ys_space_preload(&space, values) == NULL);
    ys_free(name);
    ys_buf_free(&lines);
    ys_space_fini(&space);
}

static void a_value_that_cannot_be_had_is_told(void)
{
    struct ys_space space;
    open_space("cpus", &space); /* the trial says which CPUs */
    const struct ys_space_lacking *lacking = space.lacking.items;
    CHECK_INT(space.knobs.count, 0);
    CHECK_INT(space.lacking.count, 1);
    CHECK_TEXT(lacking->name, "cpus=packed");
    CHECK_TEXT(lacking->reason, "the study says which CPUs");
    ys_space_fini(&space);
}

/* Two knobs of three values; value 1 of the first fails. */
struct counted {
    int rungs;
    double runs;
    bool last_proven, default_is_first, failed_again, was_failed;
    int lost; /* value of the first knob with which two rounds of three do not get there; -1: none */
    bool is_default_lost;
};

static ys_status measure(void *context, const struct ys_halving *halving, const struct ys_halving_rung *rung,
                         double *values, bool *out, int *complete)
{
    struct counted *counted = context;
    counted->rungs++;
    counted->last_proven = rung->proven;
    counted->default_is_first &= rung->candidates[0] == 0;
    for (size_t i = 0; i < rung->count; i++) {
        const uint8_t *of = halving->items[rung->candidates[i]].values;
        out[i] = of[0] == 1;
        counted->failed_again |= out[i] && counted->was_failed;
        for (int r = 0; r < rung->rounds; r++) {
            const bool is_lost = (r % 3 && of[0] == counted->lost) || (i == 0 && counted->is_default_lost);
            values[i * (size_t)rung->rounds + (size_t)r] = out[i]    ? (double)NAN
                                                           : is_lost ? -INFINITY
                                                                     : 0.1 * of[0] + 0.2 * of[1];
        }
    }
    counted->was_failed = true;
    counted->runs += (double)rung->count * rung->rounds;
    *complete = rung->rounds;
    return YS_OK;
}

static bool is_new(void *context, const struct ys_halving *halving, const uint8_t *values)
{
    (void)context;
    (void)halving;
    (void)values;
    return true;
}

static double spent_s(void *context)
{
    return ((struct counted *)context)->runs;
}

static void search(double budget_s, struct counted *counted, struct ys_halving *halving)
{
    static const uint8_t values[] = {3, 3};
    const struct ys_halving_wish wish = {.values = values, .knobs = 2, .budget_s = budget_s, .run_s = 1, .floor = 0.01};
    counted->default_is_first = true;
    const struct ys_halving_ops ops = {counted, measure, is_new, spent_s};
    CHECK_INT(ys_halving_search(&wish, &ops, halving), YS_OK);
}

static void what_fails_is_out_and_the_default_stays(void)
{
    struct counted counted = {.lost = -1};
    struct ys_halving halving;
    search(400, &counted, &halving);
    const struct ys_halving_candidate *best = &halving.items[halving.best];
    CHECK_INT(best->values[0], 3);
    CHECK_INT(best->values[1], 3);
    CHECK(fabs(best->gain - 0.9) < 1e-9);
    CHECK(counted.default_is_first);
    CHECK(!counted.failed_again);
    CHECK(counted.last_proven);
    CHECK(!halving.is_unproven);
    CHECK(counted.runs <= 400);
    ys_halving_fini(&halving);
}

/* Seven candidates: a round of the first rung, and what is left of the budget is not enough for more. */
static void a_short_budget_ends_with_what_there_is(void)
{
    struct counted counted = {.lost = -1};
    struct ys_halving halving;
    search(8, &counted, &halving);
    CHECK_INT(counted.rungs, 1);
    CHECK_INT((int)counted.runs, 7);
    CHECK(halving.is_unproven);
    CHECK_INT(halving.items[halving.best].values[1], 3);
    ys_halving_fini(&halving);
}

static void who_mostly_does_not_get_there_is_behind_all_that_do(void)
{
    struct counted counted = {.lost = 3};
    struct ys_halving halving;
    search(400, &counted, &halving);
    CHECK_INT(halving.items[halving.best].values[0], 2);
    CHECK_INT(halving.items[halving.best].values[1], 3);
    CHECK(fabs(halving.items[halving.best].gain - 0.8) < 1e-9);
    CHECK(halving.floor < 0.5); /* it is no scatter */
    for (size_t i = 0; i < halving.count; i++)
        CHECK(halving.items[i].values[0] != 3 || (halving.items[i].gain == -INFINITY && !halving.items[i].is_out));
    ys_halving_fini(&halving);
}

static void where_the_default_does_not_get_there_all_that_do_are_ahead(void)
{
    struct counted counted = {.lost = 3, .is_default_lost = true};
    struct ys_halving halving;
    search(400, &counted, &halving);
    CHECK_INT(halving.items[halving.best].values[0], 2);
    CHECK_INT(halving.items[halving.best].values[1], 3);
    CHECK(halving.items[halving.best].gain > YS_COMPARE_BEYOND / 2);
    CHECK(isfinite(halving.items[halving.best].gain));
    ys_halving_fini(&halving);
}

TAP_MAIN(TAP_CASE(all_numbers_of_threads_up_to_eight_then_half_steps), TAP_CASE(a_set_of_values_becomes_lines),
         TAP_CASE(a_value_that_cannot_be_had_is_told), TAP_CASE(what_fails_is_out_and_the_default_stays),
         TAP_CASE(a_short_budget_ends_with_what_there_is),
         TAP_CASE(who_mostly_does_not_get_there_is_behind_all_that_do),
         TAP_CASE(where_the_default_does_not_get_there_all_that_do_are_ahead))
