/* A trial without its disturbed runs, and where its processor time went. */
#include "base/mem.h"
#include "metric/result/processor_profile.h"
#include "metric/undisturbed.h"
#include "tap.h"

#include <math.h>

enum { RUNS = 5 };

static void fill(struct ys_metric_view_run *runs)
{
    static const double rates[RUNS] = {100, 50, 110, 60, 130};
    for (size_t i = 0; i < RUNS; i++) {
        runs[i] = (struct ys_metric_view_run){.round = (int64_t)i, .ok = true, .counted = true};
        for (int m = 0; m < YS_COMPARED; m++)
            runs[i].compared[m] = NAN;
        runs[i].compared[0] = rates[i];
        runs[i].disturbed = i == 1 || i == 3;
    }
}

static void its_medians_are_those_of_the_undisturbed_runs(void)
{
    struct ys_metric_view_run runs[RUNS];
    fill(runs);
    struct ys_metric_view_trial trial = {.runs = runs, .run_count = RUNS, .disturbed = 2};
    struct ys_result_quiet *quiet = ys_quiet_find(&trial);
    REQUIRE(quiet);
    CHECK_INT(quiet->runs, 3);
    CHECK_NEAR(quiet->rate_per_s, 110, 0);
    CHECK(isnan(quiet->wall_s));
    ys_free(quiet);
    runs[0].ok = false;
    runs[2].counted = false;
    quiet = ys_quiet_find(&trial);
    CHECK_INT(quiet->runs, 1);
    CHECK_NEAR(quiet->rate_per_s, 130, 0);
    ys_free(quiet);
}

static void of_a_quiet_trial_there_is_nothing_to_tell(void)
{
    struct ys_metric_view_run runs[RUNS];
    fill(runs);
    struct ys_metric_view_trial trial = {.runs = runs, .run_count = RUNS};
    CHECK(!ys_quiet_find(&trial));
}

static void sampled_time_is_the_mean_over_runs(void)
{
    struct ys_metric_view_run runs[RUNS];
    struct ys_facts_perf one = {.runs = 1, .in_kernel = true, .samples = 10, .steady = {.blas_s = 2, .kernel_s = 1}};
    struct ys_facts_perf other = {.runs = 1, .in_kernel = true, .samples = 30, .steady = {.blas_s = 4, .kernel_s = 1}};
    fill(runs);
    struct ys_metric_view_trial trial = {.runs = runs, .run_count = RUNS};
    CHECK(!ys_perf_mean(&trial)); /* not asked for */
    runs[0].facts.perf = &one;
    runs[1].facts.perf = &other;
    struct ys_facts_perf *mean = ys_perf_mean(&trial);
    REQUIRE(mean);
    CHECK_INT(mean->runs, 2);
    CHECK_INT(mean->samples, 40);
    CHECK_NEAR(mean->steady.blas_s, 3, 1e-15);
    CHECK_NEAR(mean->steady.kernel_s, 1, 1e-15);
    CHECK(!mean->reason);
    ys_record_free(&ys_facts_perf_record, mean);
}

static void where_none_could_be_sampled_there_is_the_reason(void)
{
    struct ys_metric_view_run runs[RUNS];
    char why[] = "the kernel does not let this user sample";
    struct ys_facts_perf none = {.runs = 1, .reason = why};
    fill(runs);
    runs[2].facts.perf = &none;
    struct ys_metric_view_trial trial = {.runs = runs, .run_count = RUNS};
    struct ys_facts_perf *mean = ys_perf_mean(&trial);
    REQUIRE(mean);
    CHECK_INT(mean->runs, 0);
    CHECK_TEXT(mean->reason, why);
    CHECK(isnan(mean->steady.blas_s));
    ys_record_free(&ys_facts_perf_record, mean);
}

TAP_MAIN(TAP_CASE(its_medians_are_those_of_the_undisturbed_runs), TAP_CASE(of_a_quiet_trial_there_is_nothing_to_tell),
         TAP_CASE(sampled_time_is_the_mean_over_runs), TAP_CASE(where_none_could_be_sampled_there_is_the_reason))
