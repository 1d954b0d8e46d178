#include "metric/undisturbed.h"

#include "base/mem.h"
#include "stat/summary.h"

#include <math.h>

static double median(const struct ys_metric_view_trial *trial, const char *metric, double *values)
{
    const int place = ys_compared_place(metric);
    size_t count = 0;
    for (size_t i = 0; i < trial->run_count; i++) {
        const struct ys_metric_view_run *run = &trial->runs[i];
        if (run->counted && run->ok && !run->disturbed && isfinite(run->compared[place]))
            values[count++] = run->compared[place];
    }
    ys_stat_sort(values, count);
    return ys_stat_quantile(values, count, 0.5);
}

struct ys_result_quiet *ys_quiet_find(const struct ys_metric_view_trial *trial)
{
    if (trial->disturbed == 0)
        return NULL;
    double *values = ys_alloc(trial->run_count, sizeof *values);
    struct ys_result_quiet *made = ys_alloc(1, sizeof *made);
    *made = (struct ys_result_quiet){.rate_per_s = median(trial, "rate_per_s", values),
                                     .latency_p50_s = median(trial, "latency_p50_s", values),
                                     .wall_s = median(trial, "wall_s", values),
                                     .cpu_s = median(trial, "cpu_s", values)};
    for (size_t i = 0; i < trial->run_count; i++)
        made->runs += trial->runs[i].counted && trial->runs[i].ok && !trial->runs[i].disturbed;
    ys_free(values);
    return made;
}
