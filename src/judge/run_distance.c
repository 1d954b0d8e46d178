/* How far the runs of two studies lie apart. */
#include "base/mem.h"
#include "judge/judge_parts.h"
#include "metric/metric.h"
#include "stat/unpaired.h"

#include <math.h>

/* Runs of a trial that have a value: first those that count, then those from which nobody knows how much was taken,
 * `again` of which were run again.
 * Logarithms where ratios are asked for. */
struct compared_runs {
    double *values, *low, *high; /* owned as one; as measured, and its ends (ys_judge_ends()) */
    size_t kept, all, again, disturbed;
    bool fit; /* each is finite, and was above 0 where its logarithm was taken */
};

void ys_judge_ends(const struct ys_trial_metric *of, size_t metric, size_t round, struct ys_ends *ends)
{
    size_t count;
    const bool is_rate = ys_metric_infos(&count)[metric].kind == YS_KIND_RATE;
    const double value = of->by_round[round], part = of->taken ? of->taken[round] : 0;
    const double whole = of->whole ? of->whole[round] : value;
    ends->untold = isnan(part);
    const double back = 1 - (ends->untold ? 0 : part);
    ends->low = fmin(is_rate ? value : value * back, whole);
    ends->high = fmax(is_rate ? value / back : value, whole);
}

struct distance_question {
    size_t metric;
    bool difference, settled;
};

/* `value`, of that round, on the scale that is asked for. */
static double on(double value, const struct ys_trial_metric *of, size_t round, const struct distance_question *asked)
{
    if (asked->difference)
        return value;
    return value > 0 ? log(value) + (asked->settled ? of->bias[round] : 0) : NAN;
}

static void add(struct compared_runs *runs, const struct ys_trial_metric *of, size_t round,
                const struct distance_question *asked)
{
    struct ys_ends ends;
    ys_judge_ends(of, asked->metric, round, &ends);
    runs->values[runs->all] = on(of->by_round[round], of, round, asked);
    runs->fit = runs->fit && isfinite(runs->values[runs->all]);
    runs->low[runs->all] = on(ends.low, of, round, asked);
    runs->high[runs->all++] = on(ends.high, of, round, asked);
}

/* At its own value, or as far out as the farthest that was kept, on the side where it may have been faster. */
static void restore(struct compared_runs *runs, bool is_rate)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < runs->kept; i++) {
        least = fmin(least, runs->low[i]);
        most = fmax(most, runs->high[i]);
    }
    for (size_t i = runs->kept; i < runs->all; i++) {
        runs->low[i] = is_rate ? runs->low[i] : fmin(runs->low[i], least);
        runs->high[i] = is_rate ? fmax(runs->high[i], most) : runs->high[i];
    }
}

static void take_runs(const struct ys_result_trial *trial, const struct distance_question *asked,
                      struct compared_runs *runs)
{
    size_t count;
    const struct ys_trial_metric *of = &trial->values[asked->metric];
    const bool is_rate = ys_metric_infos(&count)[asked->metric].kind == YS_KIND_RATE;
    const size_t most = of->rounds + of->again;
    double *room = ys_alloc(3 * most + 1, sizeof *room);
    *runs = (struct compared_runs){room, room + most, room + 2 * most, 0, 0, 0, 0, true};
    for (int left_out = 0; left_out < 2; left_out++) {
        for (size_t r = 0; of->n && r < of->rounds; r++) {
            const double part = of->taken ? of->taken[r] : 0;
            if (!isfinite(of->by_round[r]) || isnan(part) != left_out)
                continue;
            runs->disturbed += part > 0;
            add(runs, of, r, asked);
        }
        runs->kept = left_out ? runs->kept : runs->all;
    }
    for (size_t r = of->rounds; of->n && r < most; r++) {
        if (!isfinite(of->by_round[r]) || !isnan(of->taken[r]))
            continue;
        runs->again++;
        add(runs, of, r, asked);
    }
    restore(runs, is_rate);
}

/* From the lower end, with each run of the candidate at its lower end and each of the base at its upper one, to the
 * upper end. As measured too: unlike those of ranks, the ends of the interval of the means do not rise with each value.
 */
static void reach(const struct compared_runs *a, size_t n, const struct compared_runs *b, size_t m,
                  struct ys_centre *centre)
{
    struct ys_centre low, high;
    const bool fit = a->fit && b->fit;
    ys_unpaired_centre(a->values, fit ? n : 0, b->values, fit ? m : 0, centre);
    ys_unpaired_centre(a->low, fit ? n : 0, b->high, fit ? m : 0, &low);
    ys_unpaired_centre(a->high, fit ? n : 0, b->low, fit ? m : 0, &high);
    centre->interval.lo = fmin(centre->interval.lo, low.interval.lo);
    centre->interval.hi = fmax(centre->interval.hi, high.interval.hi);
}

static struct ys_interval on_scale(struct ys_interval interval, bool difference)
{
    if (!difference) {
        interval.lo = exp(interval.lo);
        interval.hi = exp(interval.hi);
    }
    return interval;
}

static void find(const struct compared_runs *candidate, const struct compared_runs *base, bool difference,
                 struct ys_centre *centre, struct ys_interval *restored)
{
    struct ys_centre all;
    reach(candidate, candidate->kept, base, base->kept, centre);
    reach(candidate, candidate->all, base, base->all, &all);
    centre->value = difference ? centre->value : exp(centre->value);
    centre->interval = on_scale(centre->interval, difference);
    *restored = on_scale(all.interval, difference);
}

static size_t left_out_of(const struct compared_runs *runs)
{
    return runs->all - runs->kept - runs->again;
}

static void unpaired(const struct ys_result_trial *base, const struct ys_result_trial *candidate,
                     const struct distance_question *asked, struct ys_apart *apart)
{
    struct compared_runs a = {0}, b = {0};
    take_runs(candidate, asked, &a);
    take_runs(base, asked, &b);
    find(&a, &b, asked->difference, asked->settled ? &apart->settled : &apart->centre,
         asked->settled ? &apart->restored_settled : &apart->restored);
    apart->left_out = left_out_of(&a) + left_out_of(&b);
    apart->put_back = a.all - a.kept + b.all - b.kept;
    apart->disturbed = a.disturbed + b.disturbed;
    apart->most_out = left_out_of(&a) * 3 > a.kept + left_out_of(&a) || left_out_of(&b) * 3 > b.kept + left_out_of(&b);
    ys_free(a.values);
    ys_free(b.values);
}

/* By the rounds that both have, which are of one seed each. */
static void paired(const struct ys_result_trial *base, const struct ys_result_trial *candidate,
                   const struct distance_question *asked, struct ys_centre *centre)
{
    const struct ys_trial_metric *a = &candidate->values[asked->metric], *b = &base->values[asked->metric];
    const size_t rounds = a->rounds < b->rounds ? a->rounds : b->rounds;
    size_t n = 0;
    double *values = ys_alloc(rounds + 1, sizeof *values);
    for (size_t r = 0; r < rounds; r++) {
        const double value = on(a->by_round[r], a, r, asked) - on(b->by_round[r], b, r, asked);
        if (isfinite(value))
            values[n++] = value;
    }
    ys_signed_rank_centre(values, n, YS_STAT_LEVEL, centre);
    ys_free(values);
    centre->value = asked->difference ? centre->value : exp(centre->value);
    centre->interval = on_scale(centre->interval, asked->difference);
}

void ys_judge_apart(const struct ys_result_trial *base, const struct ys_result_trial *candidate, size_t metric,
                    bool difference, bool by_seed, struct ys_apart *apart)
{
    size_t count;
    const struct ys_interval none = {false, NAN, NAN, NAN};
    struct distance_question asked = {metric, difference, false};
    *apart = (struct ys_apart){{NAN, none}, {NAN, none}, none, none, 0, 0, 0, false, by_seed};
    if (by_seed) {
        paired(base, candidate, &asked, &apart->centre);
        return;
    }
    unpaired(base, candidate, &asked, apart);
    asked.settled = true;
    if (ys_metric_infos(&count)[metric].of_steady)
        unpaired(base, candidate, &asked, apart);
}
