#include "metric/remaining_time.h"

#include "metric/metric.h"

#include <math.h>

static double median_wall_s(const struct ys_result_trial *trial, size_t wall)
{
    return trial->values && trial->values[wall].n ? trial->values[wall].summary.median : NAN;
}

double ys_result_left_s(const struct ys_result *result, double pause_s)
{
    size_t count, known = 0;
    const size_t wall = (size_t)(ys_metric_find("wall_s") - ys_metric_infos(&count));
    double sum_s = 0, left_s = 0;
    for (size_t i = 0; i < result->trial_count; i++) {
        const double each_s = median_wall_s(&result->trials[i], wall);
        known += isfinite(each_s);
        sum_s += isfinite(each_s) ? each_s : 0;
    }
    for (size_t i = 0; i < result->trial_count; i++) {
        const int64_t lacking = result->trials[i].runs_lacking;
        const double each_s = median_wall_s(&result->trials[i], wall);
        if (lacking > 0)
            left_s += (double)lacking * ((isfinite(each_s) ? each_s : sum_s / (double)known) + pause_s);
    }
    return left_s;
}
