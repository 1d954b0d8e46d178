#include "stat/compare.h"

#include "base/mem.h"
#include "stat/signed_rank.h"

#include <math.h>
#include <string.h>

#define ONE_SIDED_Z 2.326 /* 1 % of the standard normal distribution */

static const char *const better_words[] = {"higher", "lower", "neither"};
const struct ys_names ys_betters = YS_NAMES("better", better_words);

static const char *const verdict_words[] = {"better", "worse", "same", "unclear", "invalid"};
const struct ys_names ys_verdicts = YS_NAMES("verdict", verdict_words);

/* By how much farther from the margin than the interval's half width w a true difference must lie to be found nine
 * times of ten: the 90 % quantile of (w' - e) / w, w and w' half widths and e a centre of independent studies of a true
 * difference of 0, normal. 1 + 1.282 / 1.960 for many rounds; for few the width is uncertain too. Fitted to simulation
 * for 6 to 100 rounds, from above and within 4 % (`make test-statistics`); a stretched interval needs less. */
static double reach_of(size_t n)
{
    return 1.654 + 2.6 / (double)n;
}

/* How many of n ascending values are below `value`, or with `equal` no more than it. */
static size_t count_below(const double *sorted, size_t n, double value, bool equal)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] < value || (equal && sorted[middle] == value))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Ranks of the values less their mean; equal values share theirs. */
static void rank_values(const double *values, size_t n, double *sorted, double *rank)
{
    memcpy(sorted, values, n * sizeof *sorted);
    ys_stat_sort(sorted, n);
    for (size_t i = 0; i < n; i++)
        rank[i] = ((double)count_below(sorted, n, values[i], false) + (double)count_below(sorted, n, values[i], true) -
                   (double)n) /
                  2;
}

/* `scratch` has room for 2 n values. The ratio of von Neumann has mean 2 and this variance where rounds are independent
 * (Bartels 1982, "The rank version of von Neumann's ratio test for randomness"). */
static void correlate(const double *values, size_t n, double *scratch, struct ys_comparison *comparison)
{
    double *rank = scratch + n, count = (double)n, steps = 0, squares = 0, products = 0;
    if (n < YS_COMPARE_ROUNDS_MIN)
        return;
    rank_values(values, n, scratch, rank);
    for (size_t i = 0; i < n; i++) {
        squares += rank[i] * rank[i];
        products += i ? rank[i] * rank[i - 1] : 0;
        steps += i ? (rank[i] - rank[i - 1]) * (rank[i] - rank[i - 1]) : 0;
    }
    double variance =
        4 * (count - 2) * (5 * count * count - 2 * count - 9) / (5 * count * (count + 1) * (count - 1) * (count - 1));
    comparison->correlation = squares > 0 ? products / squares : 0;
    comparison->correlated = squares > 0 && (2 - steps / squares) / sqrt(variance) > ONE_SIDED_Z;
}

static enum ys_verdict verdict_of(const struct ys_compare_ends *on, enum ys_better better, const char **reason)
{
    *reason = NULL;
    if (on->lo >= on->low && on->hi <= on->high)
        return YS_VERDICT_SAME;
    if (on->lo <= on->high && on->hi >= on->low)
        *reason = "the runs differ too much among themselves to tell: more of them are needed";
    else if (better == YS_BETTER_NEITHER)
        *reason = "the two differ, and neither direction of this metric is better";
    else
        return (on->lo > on->high) == (better == YS_BETTER_HIGHER) ? YS_VERDICT_BETTER : YS_VERDICT_WORSE;
    return YS_VERDICT_UNCLEAR;
}

/* What is really left lies between nothing and all of the estimate, so the truth lies between the centres of the two,
 * and of a wrong verdict at least one is wrong by chance alone (a test of a union by that of its parts: Berger 1982).
 */
enum ys_verdict ys_compare_verdict_settled(const struct ys_compare_ends *on, const struct ys_compare_ends *settled,
                                           enum ys_better better, const char **reason)
{
    const char *other = NULL;
    const enum ys_verdict verdict = verdict_of(on, better, reason);
    if (!settled || verdict == YS_VERDICT_UNCLEAR || verdict_of(settled, better, &other) == verdict)
        return verdict;
    *reason = YS_COMPARE_BIASED;
    return YS_VERDICT_UNCLEAR;
}

/* What a verdict is made of: ends of intervals with what is left of warm-up and without, and both again with the rounds
 * that were left out put back. */
struct evidence {
    struct ys_compare_ends on, settled, restored, restored_settled;
    size_t put_back;
};

static void judge(struct ys_comparison *comparison, const struct ys_compare_rule *rule, const struct evidence *evidence)
{
    const bool is_settled = comparison->settled.known;
    const char *other = NULL;
    comparison->verdict = YS_VERDICT_UNCLEAR;
    if (comparison->left_out * 3 > comparison->n + comparison->left_out) {
        comparison->reason = YS_COMPARE_MOST_OUT;
    } else if (comparison->n == 0) {
        comparison->reason = "no round in which both trials succeeded";
    } else if (!comparison->single.known) {
        comparison->reason =
            comparison->left_out ? YS_COMPARE_FEW_LEFT : "fewer than 6 rounds of both are too few to tell";
    } else if (!comparison->interval.known) {
        comparison->reason = "the values are too few and too equal to tell";
    } else if (rule->bias_untold) {
        comparison->reason = YS_COMPARE_UNTOLD;
    } else {
        comparison->verdict = ys_compare_verdict_settled(&evidence->on, is_settled ? &evidence->settled : NULL,
                                                         rule->better, &comparison->reason);
        if (evidence->put_back && comparison->verdict != YS_VERDICT_UNCLEAR &&
            ys_compare_verdict_settled(&evidence->restored, is_settled ? &evidence->restored_settled : NULL,
                                       rule->better, &other) != comparison->verdict) {
            comparison->verdict = YS_VERDICT_UNCLEAR;
            comparison->reason = YS_COMPARE_HANGS;
        }
    }
}

/* The interval of a family: the ends move away from the centre. */
static struct ys_interval stretched(const struct ys_centre *centre, double stretch, double level)
{
    struct ys_interval single = centre->interval;
    if (!single.known || stretch <= 1)
        return single;
    if (!isfinite(stretch))
        return (struct ys_interval){false, NAN, NAN, NAN};
    return (struct ys_interval){true, centre->value - stretch * (centre->value - single.lo),
                                centre->value + stretch * (single.hi - centre->value), level};
}

static struct ys_interval ratios_of(struct ys_interval logarithms)
{
    logarithms.lo = exp(logarithms.lo);
    logarithms.hi = exp(logarithms.hi);
    return logarithms;
}

/* The rounds of a comparison as they are put together for one interval: `values` as measured, `low` and `high` were
 * what was taken given back to the one trial or the other. One list each, n values, and `scratch` for another. */
struct rounds {
    double *values, *low, *high, *bias, *scratch;
    size_t n;
};

/* The centre of values[i] + bias[i], lists of these rounds; bias NULL: of the values. */
static void centre_of(const double *values, const double *bias, const struct rounds *rounds, double level,
                      struct ys_centre *centre)
{
    const size_t n = rounds->n;
    double *scratch = rounds->scratch;
    for (size_t i = 0; bias && i < n; i++)
        scratch[i] = values[i] + bias[i];
    ys_signed_rank_centre(bias ? scratch : values, n, level, centre);
}

/* From the lower end of `low` to the upper end of `high`, both stretched; its own level where it was not. */
static void span(const struct rounds *rounds, const double *bias, double stretch, double level,
                 struct ys_interval *interval)
{
    struct ys_centre low, high;
    centre_of(rounds->low, bias, rounds, level, &low);
    centre_of(rounds->high, bias, rounds, level, &high);
    const struct ys_interval lower = stretched(&low, stretch, level), upper = stretched(&high, stretch, level);
    *interval = lower;
    interval->hi = upper.hi;
}

static struct ys_compare_ends ends_of(const struct ys_interval *interval, double margin)
{
    return (struct ys_compare_ends){interval->lo, interval->hi, -margin, margin};
}

static bool is_left_out(const struct ys_compare_rule *rule, size_t i)
{
    return rule->down && !(isfinite(rule->down[i]) && isfinite(rule->up[i]));
}

/* The rounds that count, in `kept`; and in `all` these and the ones that were left out, at their worse ends. */
static void divide(const double *values, size_t n, const struct ys_compare_rule *rule, struct rounds *kept,
                   struct rounds *all)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (is_left_out(rule, i))
            continue;
        kept->values[kept->n] = values[i];
        kept->low[kept->n] = values[i] - (rule->down ? rule->down[i] : 0);
        kept->high[kept->n] = values[i] + (rule->up ? rule->up[i] : 0);
        kept->bias[kept->n] = rule->bias ? rule->bias[i] : 0;
        least = fmin(least, kept->low[kept->n]);
        most = fmax(most, kept->high[kept->n++]);
    }
    for (all->n = 0; all->n < n; all->n++) {
        const size_t i = all->n;
        const double down = rule->down ? rule->down[i] : 0, up = rule->up ? rule->up[i] : 0;
        all->low[i] = isfinite(down) ? values[i] - down : fmin(values[i], least);
        all->high[i] = isfinite(up) ? values[i] + up : fmax(values[i], most);
        all->bias[i] = rule->bias ? rule->bias[i] : 0;
    }
}

/* What is found of what is left of warm-up, with it and without. */
static void settle(const struct rounds *kept, const struct rounds *all, const struct ys_compare_rule *rule,
                   struct ys_comparison *comparison, struct ys_interval *restored)
{
    struct ys_centre bias;
    ys_signed_rank_centre(kept->bias, kept->n, rule->level, &bias);
    if (bias.interval.known)
        comparison->bias_bound = fmax(fabs(bias.interval.lo), fabs(bias.interval.hi));
    span(kept, kept->bias, rule->stretch, rule->level, &comparison->settled);
    if (all->n > kept->n)
        span(all, all->bias, rule->stretch, rule->level, restored);
}

/* What an average of signed ranks is, as a logarithm, where some values are beyond all others. */
static double unbounded(double logarithm, const struct ys_compare_rule *rule)
{
    return rule->endless && fabs(logarithm) > YS_COMPARE_BEYOND / 4 ? copysign(INFINITY, logarithm) : logarithm;
}

static struct ys_interval on_scale(struct ys_interval interval, const struct ys_compare_rule *rule)
{
    interval.lo = unbounded(interval.lo, rule);
    interval.hi = unbounded(interval.hi, rule);
    return rule->difference ? interval : ratios_of(interval);
}

/* `values` are logarithms of ratios, or differences. */
static void conclude(const struct rounds *kept, const struct rounds *all, const struct ys_compare_rule *rule,
                     struct ys_comparison *comparison)
{
    const double margin = rule->difference ? rule->margin : log(1 + rule->margin), reach = reach_of(kept->n);
    struct ys_interval interval, single, restored = {false, NAN, NAN, NAN}, restored_settled = restored;
    struct ys_centre centre, settled = {NAN, {false, NAN, NAN, NAN}};
    comparison->n = kept->n;
    ys_signed_rank_centre(kept->values, kept->n, rule->level, &centre);
    span(kept, NULL, 1, rule->level, &single);
    span(kept, NULL, rule->stretch, rule->level, &interval);
    if (all->n > kept->n)
        span(all, NULL, rule->stretch, rule->level, &restored);
    if (rule->bias) {
        settle(kept, all, rule, comparison, &restored_settled);
        centre_of(kept->values, kept->bias, kept, rule->level, &settled);
    }
    correlate(kept->values, kept->n, kept->scratch, comparison);
    const struct evidence evidence = {ends_of(&interval, margin), ends_of(&comparison->settled, margin),
                                      ends_of(&restored, margin), ends_of(&restored_settled, margin), all->n - kept->n};
    double smallest = reach * (interval.hi - interval.lo) / 2;
    if (comparison->settled.known)
        smallest = fmax(smallest, fabs(settled.value - centre.value) +
                                      reach * (comparison->settled.hi - comparison->settled.lo) / 2);
    comparison->value = rule->difference ? centre.value : exp(unbounded(centre.value, rule));
    comparison->interval = on_scale(interval, rule);
    comparison->single = on_scale(single, rule);
    comparison->settled = on_scale(comparison->settled, rule);
    comparison->resolution = rule->difference ? margin + smallest : exp(margin + smallest) - 1;
    judge(comparison, rule, &evidence);
}

struct ys_comparison ys_compare_invalid(size_t n, const char *reason)
{
    const struct ys_interval none = {false, NAN, NAN, NAN};
    return (struct ys_comparison){.n = n,
                                  .value = NAN,
                                  .interval = none,
                                  .single = none,
                                  .settled = none,
                                  .resolution = NAN,
                                  .correlation = NAN,
                                  .bias_bound = NAN,
                                  .verdict = YS_VERDICT_INVALID,
                                  .reason = reason};
}

static bool is_value(double value, const struct ys_compare_rule *rule)
{
    return (isfinite(value) || (rule->endless && value == INFINITY)) && (rule->difference || value > 0);
}

static double logarithm_of(double value)
{
    return isinf(value) ? YS_COMPARE_BEYOND : log(value);
}

void ys_compare(const double *a, const double *b, size_t n, const struct ys_compare_rule *rule,
                struct ys_comparison *comparison)
{
    enum { LISTS = 10 }; /* the values, two for correlate(), and those of two struct rounds */
    double *values = ys_alloc(LISTS * n + 1, sizeof *values);
    double *scratch = values + n;
    struct rounds kept = {values + 3 * n, values + 4 * n, values + 5 * n, values + 6 * n, scratch, 0};
    struct rounds all = {values, values + 7 * n, values + 8 * n, values + 9 * n, scratch, 0};
    struct ys_compare_rule of = *rule;
    of.level = rule->level > 0 ? rule->level : YS_STAT_LEVEL;
    bool valid = true;
    for (size_t i = 0; i < n; i++) {
        valid = valid && is_value(a[i], rule) && is_value(b[i], rule);
        /* log(a) - log(b), not log(a / b): swapping the two changes the sign and nothing else. */
        values[i] = !valid ? NAN : rule->difference ? a[i] - b[i] : logarithm_of(a[i]) - logarithm_of(b[i]);
    }
    *comparison = ys_compare_invalid(n, rule->difference ? "a value is not a finite number"
                                                         : "a value that is not a number above 0 has no ratio");
    if (valid) {
        comparison->reason = NULL;
        divide(values, n, &of, &kept, &all);
        comparison->left_out = n - rule->again - kept.n;
        conclude(&kept, &all, &of, comparison);
    }
    ys_free(values);
}

double ys_compare_given_back(double part)
{
    return isnan(part) ? INFINITY : -log1p(-part);
}

void ys_compare_rounds(const struct ys_compare_rounds *rounds, struct ys_compare_rule rule, bool is_rate,
                       struct ys_comparison *comparison)
{
    const size_t n = rounds->n;
    double *down = ys_alloc(2 * n + 1, sizeof *down), *up = down + n;
    rule.down = down;
    rule.up = up;
    rule.bias = rounds->bias;
    rule.again = rounds->again;
    for (size_t i = 0; i < n; i++) {
        up[i] = ys_compare_given_back(is_rate ? rounds->of_a[i] : rounds->of_b[i]);
        down[i] = ys_compare_given_back(is_rate ? rounds->of_b[i] : rounds->of_a[i]);
        rule.bias_untold |= rounds->bias && isnan(rounds->bias[i]);
    }
    if (rule.bias_untold)
        rule.bias = NULL;
    ys_compare(rounds->a, rounds->b, n, &rule, comparison);
    ys_free(down);
}

void ys_compare_ratio(const double *a, const double *b, size_t n, enum ys_better better, double margin,
                      struct ys_comparison *comparison)
{
    const struct ys_compare_rule rule = {.better = better, .margin = margin, .stretch = 1};
    ys_compare(a, b, n, &rule, comparison);
}
