#include "metric/compare/disturbance_bias.h"

#include "metric/metric.h"

#include <math.h>
#include <string.h>

/* Of a known time taken so much of the run's own is left at least. */
#define MOST 0.99

bool ys_taken_is_part(int m)
{
    return ys_disturbed_parts[m].part != YS_PART_OF_NOTHING;
}

/* Of the steady part, as far as the window that two runs share reaches into it. */
static double work_s(const struct ys_metric_view_run *run, const struct ys_run_window *window)
{
    const double own = 1 - run->windows.from, shared = 1 - window->from;
    return run->steady_s * (shared < own ? shared / own : 1);
}

double ys_taken_part(const struct ys_metric_view_run *run, const struct ys_run_window *window, int m)
{
    if (!run->disturbed || ys_disturbed_parts[m].part == YS_PART_OF_NOTHING)
        return 0;
    if (!isfinite(run->taken.work_s) || !isfinite(run->taken.run_s))
        return NAN;
    const double part = ys_disturbed_parts[m].part == YS_PART_OF_WORK  ? run->taken.work_s / work_s(run, window)
                        : ys_disturbed_parts[m].part == YS_PART_OF_RUN ? run->taken.run_s / run->compared[m]
                                                                       : 0;
    return isnan(part) ? MOST : fmin(ys_disturbed_parts[m].times * part, MOST);
}

double ys_taken_part_of(const struct ys_metric_view_run *run, size_t place)
{
    size_t count;
    const struct ys_metric_info *info = &ys_metric_infos(&count)[place];
    const struct ys_run_window own = {.from = run->windows.from};
    const int m = ys_compared_place(info->name);
    if (strcmp(ys_compared[m], info->name) == 0)
        return ys_taken_part(run, &own, m);
    if (!run->disturbed)
        return 0;
    if (!isfinite(run->taken.work_s) || !isfinite(run->taken.run_s))
        return NAN;
    const double part = info->kind == YS_KIND_RATE ? run->taken.work_s / work_s(run, &own)
                                                   : run->taken.run_s / run->metrics[place].value;
    return isnan(part) ? MOST : fmin(part, MOST);
}

static bool is_known(const struct ys_metric_view_run *run)
{
    return run->disturbed && isfinite(run->taken.share);
}

void ys_taken_add(const struct ys_metric_view_run *a, const struct ys_metric_view_run *b,
                  struct ys_comparison_taken *rounds)
{
    const struct ys_metric_view_run *const runs[] = {a, b};
    const bool is_first = rounds->rounds == 0;
    if (!is_known(a) && !is_known(b))
        return;
    rounds->rounds++;
    rounds->by_host = is_first || rounds->by_host;
    for (size_t i = 0; i < 2; i++) {
        if (!is_known(runs[i]))
            continue;
        rounds->least = fmin(rounds->least, runs[i]->taken.share); /* which passes over NaN */
        rounds->most = fmax(rounds->most, runs[i]->taken.share);
        rounds->by_host = rounds->by_host && runs[i]->taken.by_host;
    }
}
