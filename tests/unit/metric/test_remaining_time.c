/* How long what a study still lacks will take, by what its runs took. */
#include "metric/remaining_time.h"

#include "base/mem.h"
#include "metric/metric.h"
#include "tap.h"

#include <math.h>

enum { TRIALS = 3 };

struct made {
    struct ys_result result;
    struct ys_result_trial trials[TRIALS];
};

/* Trial i has `runs` runs of medians[i] seconds (NaN: none yet) and lacks lacking[i]. */
static void make(struct made *made, const double *medians, const int64_t *lacking)
{
    size_t count;
    const size_t wall = (size_t)(ys_metric_find("wall_s") - ys_metric_infos(&count));
    *made = (struct made){.result = {.trials = made->trials, .trial_count = TRIALS}};
    for (size_t i = 0; i < TRIALS; i++) {
        made->trials[i].runs_lacking = lacking[i];
        made->trials[i].values = ys_alloc(count, sizeof *made->trials[i].values);
        REQUIRE(made->trials[i].values);
        made->trials[i].values[wall] =
            (struct ys_trial_metric){.n = isfinite(medians[i]) ? 2 : 0, .summary = {.median = medians[i]}};
    }
}

static void drop(struct made *made)
{
    for (size_t i = 0; i < TRIALS; i++)
        ys_free(made->trials[i].values);
}

static void each_trial_counts_as_long_as_its_own_runs(void)
{
    struct made made;
    make(&made, (double[]){2, 10, NAN}, (int64_t[]){3, 1, 2});
    /* 3 of 2 s, 1 of 10 s, 2 of their mean of 6 s, and a pause of half a second before each of the 6. */
    CHECK_NEAR(ys_result_left_s(&made.result, 0.5), 6 + 10 + 12 + 3, 1e-12);
    drop(&made);
}

static void nothing_lacking_is_no_time_whatever_is_known(void)
{
    struct made made;
    make(&made, (double[]){NAN, NAN, NAN}, (int64_t[]){0, 0, 0});
    CHECK_NEAR(ys_result_left_s(&made.result, 1), 0, 0);
    drop(&made);
}

static void without_any_run_nothing_is_told(void)
{
    struct made made;
    make(&made, (double[]){NAN, NAN, NAN}, (int64_t[]){1, 0, 0});
    CHECK(isnan(ys_result_left_s(&made.result, 0)));
    drop(&made);
}

TAP_MAIN(TAP_CASE(each_trial_counts_as_long_as_its_own_runs), TAP_CASE(nothing_lacking_is_no_time_whatever_is_known),
         TAP_CASE(without_any_run_nothing_is_told))
