#include "stat/compare.h"

#include "base/mem.h"

#include <math.h>

static const char *const better_words[] = {"higher", "lower", "neither"};
const struct ys_names ys_betters = YS_NAMES("better", better_words);

static const char *const verdict_words[] = {"better", "worse", "same", "unclear", "invalid"};
const struct ys_names ys_verdicts = YS_NAMES("verdict", verdict_words);

const char *ys_better_name(enum ys_better better)
{
    return ys_name_of(&ys_betters, (int)better);
}

const char *ys_verdict_name(enum ys_verdict verdict)
{
    return ys_name_of(&ys_verdicts, (int)verdict);
}

/* The band [low, high] counts as the same. */
static void judge(struct ys_comparison *comparison, enum ys_better better, double low, double high)
{
    const struct ys_interval *interval = &comparison->interval;
    comparison->verdict = YS_VERDICT_UNCLEAR;
    if (comparison->n == 0) {
        comparison->reason = "no round in which both trials succeeded";
    } else if (!interval->known) {
        comparison->reason = "fewer than 6 matched rounds give no interval of 95 %";
    } else if (interval->lo >= low && interval->hi <= high) {
        comparison->verdict = YS_VERDICT_SAME;
    } else if (interval->lo <= high && interval->hi >= low) {
        comparison->reason = "the interval reaches across the margin";
    } else if (better == YS_BETTER_NEITHER) {
        comparison->reason = "the trials differ, and neither direction of this metric is better";
    } else {
        bool higher = interval->lo > high;
        comparison->verdict = higher == (better == YS_BETTER_HIGHER) ? YS_VERDICT_BETTER : YS_VERDICT_WORSE;
    }
}

static ys_status start(const double *values, size_t n, struct ys_comparison *comparison)
{
    struct ys_summary summary;
    YS_TRY(ys_stat_summarize(values, n, &summary));
    *comparison = (struct ys_comparison){n, summary.median, summary.interval, NAN, YS_VERDICT_UNCLEAR, NULL};
    return YS_OK;
}

static void refuse(size_t n, const char *reason, struct ys_comparison *comparison)
{
    *comparison = (struct ys_comparison){n, NAN, {false, NAN, NAN, NAN}, NAN, YS_VERDICT_INVALID, reason};
}

ys_status ys_compare_ratio(const double *a, const double *b, size_t n, enum ys_better better, double margin,
                           struct ys_comparison *comparison)
{
    double *ratios = ys_alloc(n, sizeof *ratios);
    if (!ratios)
        return ys_out_of_memory();
    ys_status status = YS_OK;
    bool positive = true;
    for (size_t i = 0; i < n; i++) {
        positive = positive && isfinite(a[i]) && isfinite(b[i]) && a[i] > 0 && b[i] > 0;
        ratios[i] = positive ? a[i] / b[i] : NAN;
    }
    if (!positive) {
        refuse(n, "a value that is not a number above 0 has no ratio", comparison);
    } else if ((status = start(ratios, n, comparison)) == YS_OK) {
        const struct ys_interval *interval = &comparison->interval;
        double ratio = comparison->value;
        if (interval->known)
            comparison->resolution = (1 + margin) * fmax(ratio / interval->lo, interval->hi / ratio) - 1;
        judge(comparison, better, 1 / (1 + margin), 1 + margin);
    }
    ys_free(ratios);
    return status;
}

ys_status ys_compare_difference(const double *a, const double *b, size_t n, enum ys_better better, double margin,
                                struct ys_comparison *comparison)
{
    double *differences = ys_alloc(n, sizeof *differences);
    if (!differences)
        return ys_out_of_memory();
    ys_status status = YS_OK;
    bool finite = true;
    for (size_t i = 0; i < n; i++) {
        differences[i] = a[i] - b[i];
        finite = finite && isfinite(differences[i]);
    }
    if (!finite) {
        refuse(n, "a value is not a finite number", comparison);
    } else if ((status = start(differences, n, comparison)) == YS_OK) {
        const struct ys_interval *interval = &comparison->interval;
        if (interval->known)
            comparison->resolution = margin + fmax(comparison->value - interval->lo, interval->hi - comparison->value);
        judge(comparison, better, -margin, margin);
    }
    ys_free(differences);
    return status;
}
