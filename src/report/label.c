#include "report/label.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct scale {
    double from; /* the smallest magnitude it suits, after rounding */
    double factor;
    const char *unit;
};

/* Largest first; the last of each list takes what is left. */
static const struct scale spans[] = {{5999.5, 3600, "h"},    {999.5, 60, "min"},     {0.9995, 1, "s"},
                                     {999.5e-6, 1e-3, "ms"}, {999.5e-9, 1e-6, "us"}, {0, 1e-9, "ns"}};
static const struct scale sizes[] = {
    {999.5e9, 1e12, "TB"}, {999.5e6, 1e9, "GB"}, {999.5e3, 1e6, "MB"}, {999.5, 1e3, "kB"}, {0, 1, "B"}};
static const struct scale counts[] = {
    {999.5e9, 1e12, "T"}, {999.5e6, 1e9, "G"}, {999.5e3, 1e6, "M"}, {9999.5, 1e3, "k"}, {0, 1, ""}};
static const struct scale rates[] = {
    {999.5e9, 1e12, "T"}, {999.5e6, 1e9, "G"}, {999.5e3, 1e6, "M"}, {99950, 1e3, "k"}, {0, 1, ""}};
static const struct scale percents[] = {{0, 0.01, "%"}};
static const struct scale numbers[] = {{0, 1, ""}};

static const struct scale *scale_for(enum ys_kind kind, double value)
{
    static const struct scale *const lists[] = {
        [YS_KIND_NUMBER] = numbers, [YS_KIND_COUNT] = counts, [YS_KIND_RATE] = rates,
        [YS_KIND_SPAN] = spans,     [YS_KIND_BYTES] = sizes,  [YS_KIND_SHARE] = percents,
    };
    const struct scale *scale = lists[kind];
    if (value == 0 && kind == YS_KIND_SPAN)
        return &spans[2];
    while (scale->from > fabs(value))
        scale++;
    return scale;
}

/** The place to round to, as a power of ten: three significant digits, two decimals for percent, whole counts below 10
 * 000. */
static int place_for(enum ys_kind kind, double scaled, const struct scale *scale)
{
    if (kind == YS_KIND_SHARE)
        return -2;
    if (kind == YS_KIND_COUNT && scale->factor == 1 && scaled == floor(scaled))
        return 0;
    if (scaled == 0)
        return 0;
    int digits = (int)floor(log10(fabs(scaled)));
    if (fabs(scaled) >= 9.995 * pow(10, digits)) /* it rounds up to one digit more */
        digits++;
    return digits - 2 < -12 ? -12 : digits - 2;
}

static struct ys_label rounded(double scaled, int place)
{
    struct ys_label label;
    if (fabs(scaled) >= 1e9 || (scaled != 0 && fabs(scaled) < 1e-9)) {
        snprintf(label.text, sizeof label.text, "%.2e", scaled);
        return label;
    }
    double unit = pow(10, place > 0 ? place : 0);
    double value = place > 0 ? round(scaled / unit) * unit : scaled;
    snprintf(label.text, sizeof label.text, "%.*f", place < 0 ? -place : 0, value);
    if (label.text[0] == '-' && strspn(label.text, "-0.") == strlen(label.text))
        memmove(label.text, label.text + 1, strlen(label.text));
    return label;
}

struct ys_measure ys_measure(enum ys_kind kind, double value, double lo, double hi)
{
    struct ys_measure measure = {{"-"}, {""}, {""}};
    if (!isfinite(value))
        return measure;
    const struct scale *scale = scale_for(kind, value);
    int place = place_for(kind, value / scale->factor, scale);
    bool interval = isfinite(lo) && isfinite(hi);
    for (int more = 0; interval && more < 2 && lo < hi; more++) {
        struct ys_label from = rounded(lo / scale->factor, place), to = rounded(hi / scale->factor, place);
        if (strcmp(from.text, to.text) != 0)
            break;
        place--;
    }
    measure.value = rounded(value / scale->factor, place);
    snprintf(measure.unit.text, sizeof measure.unit.text, "%s", scale->unit);
    if (interval) {
        struct ys_label from = rounded(lo / scale->factor, place), to = rounded(hi / scale->factor, place);
        snprintf(measure.interval.text, sizeof measure.interval.text, "[%.21s, %.21s]", from.text, to.text);
    }
    return measure;
}

double ys_measure_factor(enum ys_kind kind, double value)
{
    return isfinite(value) ? scale_for(kind, value)->factor : 1;
}

struct ys_label ys_label_value(enum ys_kind kind, double value)
{
    struct ys_measure measure = ys_measure(kind, value, NAN, NAN);
    struct ys_label label;
    snprintf(label.text, sizeof label.text, "%.30s%s%.10s", measure.value.text, measure.unit.text[0] ? " " : "",
             measure.unit.text);
    return label;
}

const char *ys_label_join(size_t said, size_t all, const char *comma)
{
    return said == 0 ? "" : said + 1 == all ? " and " : comma;
}

/** Two decimals, three close to 1, fewer for large ratios. */
static int ratio_place(double ratio)
{
    double size = fabs(ratio);
    return fabs(size - 1) < 0.0995 || size < 0.0995 ? -3 : size < 9.995 ? -2 : size < 99.95 ? -1 : 0;
}

struct ys_label ys_label_ratio(double ratio)
{
    struct ys_label label = {"-"};
    return isfinite(ratio) ? rounded(ratio, ratio_place(ratio)) : label;
}

struct ys_label ys_label_relative(double ratio)
{
    struct ys_label label = {""};
    if (ratio == 1)
        snprintf(label.text, sizeof label.text, "1.00");
    else if (isfinite(ratio))
        snprintf(label.text, sizeof label.text, "%.40sx",
                 rounded(ratio, ratio < 0.0995  ? -3
                                : ratio < 9.995 ? -2
                                                : 0)
                     .text);
    return label;
}

struct ys_label ys_label_ratio_range(double ratio, double lo, double hi)
{
    struct ys_label label = {""};
    const bool is_wide = fabs(ratio) >= 0.0995 && hi - lo > 0.1; /* the third decimal says nothing then */
    const int place = isfinite(ratio) && !(is_wide && ratio_place(ratio) < -2) ? ratio_place(ratio) : -2;
    if (isfinite(lo) && isfinite(hi))
        snprintf(label.text, sizeof label.text, "%.20s to %.20s", rounded(lo, place).text, rounded(hi, place).text);
    else if (isfinite(lo) && hi == INFINITY)
        snprintf(label.text, sizeof label.text, "%.20s to more than the limit", rounded(lo, place).text);
    return label;
}

struct ys_label ys_label_error(double error)
{
    struct ys_label label = {"-"};
    if (error == 0)
        snprintf(label.text, sizeof label.text, "0");
    else if (isfinite(error))
        snprintf(label.text, sizeof label.text, "%.1e", error);
    return label;
}

struct ys_label ys_label_share(double share)
{
    struct ys_label label = {"-"};
    double percent = 100 * share;
    if (!isfinite(share) || fabs(percent) >= 1e9)
        return label;
    if (percent == 0)
        snprintf(label.text, sizeof label.text, "0 %%");
    else if (fabs(percent) < 0.01)
        snprintf(label.text, sizeof label.text, "below 0.01 %%");
    else
        snprintf(label.text, sizeof label.text, "%.*f %%",
                 fabs(percent) < 0.995  ? 2
                 : fabs(percent) < 9.95 ? 1
                                        : 0,
                 percent);
    return label;
}

struct ys_label ys_label_plural(long long count, const char *thing)
{
    struct ys_label label;
    snprintf(label.text, sizeof label.text, "%lld %.24s%s", count, thing, count == 1 ? "" : "s");
    return label;
}

struct ys_label ys_label_all(size_t count, const char *things)
{
    struct ys_label label;
    if (count == 2)
        snprintf(label.text, sizeof label.text, "Both %s", things);
    else
        snprintf(label.text, sizeof label.text, "All %zu %s", count, things);
    return label;
}
