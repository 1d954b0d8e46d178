#include "metric/run/run_windows.h"

#include "base/mem.h"
#include "stat/summary.h"

#include <math.h>
#include <string.h>

#define UNIT     1e-9
#define LARGEST  1e6 /* no window of a run differs more from its own part in any clock's truth */
#define ALONE    (-1)
#define NS_PER_S 1e9

/* What is measured of the part that begins at `from`. */
static void measure(const struct ys_window_blocks *blocks, size_t from, double *scratch,
                    double values[YS_WINDOW_METRICS])
{
    double work_s = 0, steps = 0;
    size_t count = blocks->count - from;
    for (size_t i = from; i < blocks->count; i++) {
        double of_block = blocks->steps ? (double)blocks->steps[i] : 1;
        int64_t took_ns = blocks->latency_ns ? blocks->latency_ns[i] : blocks->span_ns[i];
        work_s += (double)blocks->span_ns[i] / NS_PER_S;
        steps += of_block;
        scratch[i - from] = (double)took_ns / NS_PER_S / of_block;
    }
    ys_stat_sort(scratch, count);
    values[0] = steps / work_s;
    values[1] = values[2] = ys_stat_quantile(scratch, count, 0.5);
    values[3] = ys_stat_quantile(scratch, count, 0.99);
}

static int64_t in_units(double value)
{
    return llround(fmin(fmax(value, -LARGEST), LARGEST) / UNIT);
}

/* A median that the clock could not see is the same in every window. */
static int64_t ratio_of(double value, double own)
{
    return in_units(own > 0 && isfinite(value / own) ? value / own : 1);
}

static double *steps_s(const struct ys_window_blocks *blocks)
{
    double *step_s = ys_alloc(2 * blocks->count, sizeof *step_s);
    for (size_t i = 0; i < blocks->count; i++)
        step_s[i] = (double)blocks->span_ns[i] / NS_PER_S / (blocks->steps ? (double)blocks->steps[i] : 1);
    return step_s;
}

ys_json *ys_window_measure(const struct ys_window_blocks *blocks, const struct ys_steady *steady)
{
    int64_t ratios[YS_WINDOW_METRICS][YS_WINDOW_MARKS], drifts[YS_WINDOW_MARKS];
    double own[YS_WINDOW_METRICS], *step_s = steps_s(blocks);
    size_t first = (steady->from * YS_WINDOW_PARTS + blocks->count - 1) / blocks->count, n = YS_WINDOW_MARKS - first;
    measure(blocks, steady->from, step_s + blocks->count, own);
    for (size_t k = 0; k < n; k++) {
        double values[YS_WINDOW_METRICS];
        size_t from = (first + k) * blocks->count / YS_WINDOW_PARTS;
        measure(blocks, from, step_s + blocks->count, values);
        for (int m = 0; m < YS_WINDOW_METRICS; m++)
            ratios[m][k] = ratio_of(values[m], own[m]);
        const double drift = ys_steady_drift(step_s, blocks->count, from);
        drifts[k] = isfinite(drift) ? in_units(drift) : 0;
    }
    ys_free(step_s);
    const bool has_latencies = blocks->latency_ns != NULL;
    const struct ys_run_windows found = {.blocks = (int64_t)blocks->count,
                                         .first = (int64_t)first,
                                         .rate_per_s = {ratios[0], n},
                                         .step_s = {ratios[1], has_latencies ? 0 : n},
                                         .latency_p50_s = {ratios[2], has_latencies ? n : 0},
                                         .latency_p99_s = {ratios[3], has_latencies ? n : 0},
                                         .drift = {drifts, isfinite(steady->left) ? n : 0}};
    return ys_record_json(&ys_run_windows_record, &found);
}

void ys_window_take(const struct ys_run_windows *stored, int64_t steady_from, double left, struct ys_windows *windows)
{
    *windows = (struct ys_windows){.from = NAN, .drift = NAN};
    if (!stored || stored->blocks <= 0 || stored->first < 0 || stored->first >= YS_WINDOW_MARKS)
        return;
    const struct ys_list *lists[YS_WINDOW_METRICS] = {&stored->rate_per_s, &stored->step_s, &stored->latency_p50_s,
                                                      &stored->latency_p99_s};
    windows->is_known = true;
    windows->first = (int)stored->first;
    windows->from = (double)(steady_from - 1) / (double)stored->blocks;
    windows->drift = left / ys_steady_multiple(windows->from);
    for (int mark = 0; mark < YS_WINDOW_MARKS; mark++) {
        size_t k = (size_t)(mark - windows->first);
        bool has = mark >= windows->first;
        for (int m = 0; m < YS_WINDOW_METRICS; m++)
            windows->at[mark][m] =
                has && k < lists[m]->count ? (double)((const int64_t *)lists[m]->items)[k] * UNIT : 1;
        windows->drift_at[mark] =
            has && k < stored->drift.count ? (double)((const int64_t *)stored->drift.items)[k] * UNIT : NAN;
    }
}

struct ys_run_window ys_window_common(const struct ys_windows *a, const struct ys_windows *b)
{
    struct ys_run_window window = {ALONE, NAN, NAN};
    if (!a->is_known || !b->is_known)
        return window;
    double drift = a->drift - b->drift;
    window.from = a->from;
    if (a->from != b->from) {
        window.mark = a->first > b->first ? a->first : b->first;
        window.from = (double)window.mark / YS_WINDOW_PARTS;
        drift = a->drift_at[window.mark] - b->drift_at[window.mark];
    }
    window.bias = ys_steady_multiple(window.from) * drift;
    return window;
}

double ys_window_value(const struct ys_windows *windows, const struct ys_run_window *window, int metric, double own)
{
    return window->mark == ALONE || metric >= YS_WINDOW_METRICS ? own : own * windows->at[window->mark][metric];
}
