#include "campaign/target_rounds.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

static size_t place_of(const struct ys_metric_info *info)
{
    size_t count;
    return (size_t)(info - ys_metric_infos(&count));
}

bool ys_target_is_of(const struct ys_metric_info *info)
{
    return ys_compared_of_target(ys_compared_place(info->name));
}

int64_t ys_target_failed(const struct ys_arms *arms, size_t arm, const struct ys_metric_info *info)
{
    const struct ys_result_trial *trials = arms->last.trials; /* NULL: there was no time for any round */
    return arms->items[arm].failed - (trials ? (int64_t)trials[arm].values[place_of(info)].lost : 0);
}

/* By how much the logarithm of what was seen may be less. */
static double reach_of(const struct ys_arms *arms, size_t arm, size_t round, const struct ys_metric_info *info,
                       int64_t eval_every)
{
    const struct ys_arms_value value = ys_arms_value(arms, arm, place_of(info), round);
    const bool is_steps = strcmp(info->name, "steps_to_target") == 0;
    const double grain = is_steps ? (double)eval_every
                                  : ys_arms_value(arms, arm, place_of(ys_metric_find("target_grain_s")), round).value;
    const double before = value.value - grain;
    if (!isfinite(value.value))
        return 0;
    return (before > 0 ? log(value.value / before) : YS_COMPARE_BEYOND) + ys_compare_given_back(value.taken);
}

static double value_of(const struct ys_arms *arms, size_t arm, size_t round, const struct ys_metric_info *info)
{
    const double value = ys_arms_value(arms, arm, place_of(info), round).value;
    return isnan(value) ? (double)INFINITY : value;
}

struct ys_comparison ys_target_compare(const struct ys_arms *arms, const struct ys_metric_info *info,
                                       int64_t eval_every, double margin, int64_t met[2])
{
    const size_t n = arms->complete; /* a round that there was no time for says nothing of the target */
    double *a = ys_alloc(4 * n + 1, sizeof *a), *b = a + n, *down = b + n, *up = down + n;
    struct ys_comparison found;
    met[0] = met[1] = 0;
    for (size_t r = 0; r < n; r++) {
        a[r] = value_of(arms, 1, r, info);
        b[r] = value_of(arms, 0, r, info);
        const bool is_open = isinf(a[r]) && isinf(b[r]);
        down[r] = is_open ? YS_COMPARE_BEYOND : reach_of(arms, 1, r, info, eval_every);
        up[r] = is_open ? YS_COMPARE_BEYOND : reach_of(arms, 0, r, info, eval_every);
        met[0] += isfinite(b[r]);
        met[1] += isfinite(a[r]);
    }
    const struct ys_compare_rule rule = {
        .better = YS_BETTER_LOWER, .margin = margin, .stretch = 1, .down = down, .up = up, .endless = true};
    ys_compare(a, b, n, &rule, &found);
    found.value = isfinite(found.value) && found.value > 0 ? found.value : (double)NAN;
    ys_free(a);
    return found;
}
