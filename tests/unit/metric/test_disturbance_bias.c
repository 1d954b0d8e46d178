/* By how large a part a metric of a run could be shorter were what the machine took from it given back. */
#include "metric/compare/disturbance_bias.h"
#include "tap.h"

#include <math.h>

/* A run of 10 s, 4 s of whose steady part, from a quarter on, its speed is made; 0.1 s were taken from its work, 0.3 s
 * from all of it. */
static struct ys_metric_view_run run_of(double work_s, double run_s)
{
    struct ys_metric_view_run run = {.disturbed = true,
                                     .taken = {.run_s = run_s, .work_s = work_s, .share = 0.02, .by_host = true},
                                     .steady_s = 4,
                                     .windows = {.is_known = true, .from = 0.25}};
    run.compared[ys_compared_place("wall_s")] = 10;
    run.compared[ys_compared_place("start_s")] = 0.2;
    return run;
}

static double part(const struct ys_metric_view_run *run, double from, const char *metric)
{
    const struct ys_run_window window = {.mark = 2, .from = from};
    return ys_taken_part(run, &window, ys_compared_place(metric));
}

static void each_metric_loses_by_what_it_is_of(void)
{
    const struct ys_metric_view_run run = run_of(0.1, 0.3);
    CHECK_NEAR(part(&run, 0.25, "rate_per_s"), 0.025, 1e-15);
    CHECK_NEAR(part(&run, 0.25, "step_s"), 0.05, 1e-15);
    CHECK_NEAR(part(&run, 0.25, "latency_p50_s"), 0.05, 1e-15);
    CHECK_NEAR(part(&run, 0.25, "wall_s"), 0.03, 1e-15);
    CHECK_NEAR(part(&run, 0.25, "cpu_s"), 0, 0);
    CHECK_NEAR(part(&run, 0.25, "rss_peak_bytes"), 0, 0);
    CHECK_NEAR(part(&run, 0.25, "accuracy"), 0, 0);
}

/* A window of half the run holds two thirds of a part that begins at a quarter, and may hold all that was taken. */
static void a_shorter_window_may_have_lost_as_much(void)
{
    const struct ys_metric_view_run run = run_of(0.1, 0.3);
    CHECK_NEAR(part(&run, 0.5, "rate_per_s"), 0.1 / (4 * 2.0 / 3), 1e-15);
}

static void never_all_of_it(void)
{
    const struct ys_metric_view_run run = run_of(3, 0.3);
    CHECK_NEAR(part(&run, 0.25, "latency_p99_s"), 0.99, 0);
    CHECK_NEAR(part(&run, 0.25, "start_s"), 0.99, 0);
}

static void what_nobody_knows_is_no_number(void)
{
    struct ys_metric_view_run run = run_of(NAN, NAN);
    CHECK(isnan(part(&run, 0.25, "rate_per_s")));
    CHECK(isnan(part(&run, 0.25, "wall_s")));
    CHECK(isnan(part(&run, 0.25, "cpu_s"))); /* caches that another program filled cost processor time */
    CHECK_NEAR(part(&run, 0.25, "rss_peak_bytes"), 0, 0);
    run.disturbed = false;
    CHECK_NEAR(part(&run, 0.25, "rate_per_s"), 0, 0);
}

TAP_MAIN(TAP_CASE(each_metric_loses_by_what_it_is_of), TAP_CASE(a_shorter_window_may_have_lost_as_much),
         TAP_CASE(never_all_of_it), TAP_CASE(what_nobody_knows_is_no_number))
