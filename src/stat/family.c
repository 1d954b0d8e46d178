#include "stat/family.h"

#include "base/mem.h"
#include "base/rng.h"
#include "stat/signed_rank.h"

#include <math.h>
#include <string.h>

#define SEED             20261122
#define PERMUTATIONS     999
#define PERMUTATIONS_MIN 199
#define WORK_MAX         50000 /* intervals in all permutations, beyond which fewer permutations are made */
#define RANKED_MAX       16    /* with more rounds means and standard errors stand in for centres and ranks */

struct family_work {
    const struct ys_family *family;
    double *left;      /* values freed of the means of trial and round, and of their trial's scatter; [trial * rounds +
                          round] */
    double *scatter;   /* of each trial */
    double *moved;     /* a permutation of it */
    double *place;     /* the differences of one pair */
    uint32_t *present; /* the trials that one round has */
    double *largest;   /* of each permutation */
    size_t *rank;      /* of ys_signed_rank(n), by n */
    double normal_reach; /* of the family's level */
    struct ys_rng rng;
};

size_t ys_family_each_with_each(size_t trials, struct ys_family_pair *pairs)
{
    size_t count = 0;
    for (size_t i = 1; i < trials; i++)
        for (size_t k = 0; k < i; k++)
            pairs[count++] = (struct ys_family_pair){i, k};
    return count;
}

/* The differences of a pair in the rounds that both have, into place; returns how many. */
static size_t differ(const struct family_work *work, const double *values, const struct ys_family_pair *pair)
{
    size_t rounds = work->family->rounds, n = 0;
    const double *a = &values[pair->a * rounds], *b = &values[pair->b * rounds];
    for (size_t r = 0; r < rounds; r++) {
        if (!isnan(a[r]) && !isnan(b[r]))
            work->place[n++] = a[r] - b[r];
    }
    return n;
}

static void sort_few(double *values, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        double value = values[i];
        size_t place = i;
        for (; place > 0 && values[place - 1] > value; place--)
            values[place] = values[place - 1];
        values[place] = value;
    }
}

/* How far Student's t reaches with the probability with which the standard normal distribution reaches z, by its
 * expansion in 1 / degrees (Abramowitz and Stegun 26.7.5); within 0.1 % from 16 on where that is 95 %. */
static double t_quantile(double z, double degrees)
{
    double z3 = z * z * z;
    return z + (z3 + z) / (4 * degrees) + (5 * z3 * z * z + 16 * z3 + 3 * z) / (96 * degrees * degrees);
}

static double ratio_of(double centre, double width)
{
    if (centre == 0)
        return 0;
    return width > 0 ? fabs(centre) / width : INFINITY;
}

/* Whether T of so few ascending values can be above `most`, told by counting averages instead of sorting them: then the
 * end towards 0 lies beyond (1 - 1 / most) of a centre that is itself between the end and the outermost value. */
static bool may_exceed(const struct family_work *work, const double *sorted, size_t n, double most)
{
    double part = fmin(0, 1 - 1 / most);
    return ys_signed_rank_count(sorted, n, part * fmax(0, sorted[n - 1])) < work->rank[n] ||
           n * (n + 1) / 2 - ys_signed_rank_count(sorted, n, part * fmin(0, sorted[0])) < work->rank[n];
}

/* The same without sorting them, as far as that goes: k values make k (k + 1) / 2 averages on their side. */
static bool lean_to_one_side(const struct family_work *work, const double *x, size_t n, double most)
{
    double part = fmin(0, 1 - 1 / most), least = x[0], greatest = x[0];
    size_t low = 0, high = 0;
    for (size_t i = 1; i < n; i++) {
        least = x[i] < least ? x[i] : least;
        greatest = x[i] > greatest ? x[i] : greatest;
    }
    const double below = part * fmax(0, greatest), above = part * fmin(0, least);
    for (size_t i = 0; i < n; i++) {
        low += x[i] <= below;
        high += x[i] > above;
    }
    return low * (low + 1) / 2 < work->rank[n] || high * (high + 1) / 2 < work->rank[n];
}

/* T, or some number no larger than `most` where it is not above that. */
static double statistic(const struct family_work *work, double *x, size_t n, double most)
{
    if (n <= RANKED_MAX) {
        struct ys_centre centre;
        if (!lean_to_one_side(work, x, n, most))
            return 0;
        sort_few(x, n);
        if (!may_exceed(work, x, n, most))
            return 0;
        ys_signed_rank_of_sorted(x, n, work->rank[n], work->family->level, &centre);
        return ratio_of(centre.value,
                        centre.value > 0 ? centre.value - centre.interval.lo : centre.interval.hi - centre.value);
    }
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i];
    mean /= (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return ratio_of(mean, t_quantile(work->normal_reach, (double)n - 1) * sqrt(squares / (double)(n - 1) / (double)n));
}

/* The largest T, or `most` where none is above that. */
static double largest(struct family_work *work, const double *values, double most)
{
    for (size_t p = 0; p < work->family->pair_count; p++) {
        size_t n = differ(work, values, &work->family->pairs[p]);
        if (n >= YS_STAT_INTERVAL_MIN)
            most = fmax(most, statistic(work, work->place, n, most));
    }
    return most;
}

/* Takes from `count` values, `stride` apart, their mean. */
static void centre(double *values, size_t count, size_t stride)
{
    double sum = 0, known = 0;
    for (size_t i = 0; i < count; i++) {
        sum += isnan(values[i * stride]) ? 0 : values[i * stride];
        known += !isnan(values[i * stride]);
    }
    for (size_t i = 0; i < count; i++)
        values[i * stride] -= sum / known;
}

/* Divides values whose mean is 0 by their root mean square, where that is not 0, and returns it. */
static double standardize(double *values, size_t count)
{
    double squares = 0, known = 0;
    for (size_t i = 0; i < count; i++) {
        squares += isnan(values[i]) ? 0 : values[i] * values[i];
        known += !isnan(values[i]);
    }
    for (size_t i = 0; squares > 0 && i < count; i++)
        values[i] /= sqrt(squares / known);
    return squares > 0 ? sqrt(squares / known) : 0;
}

/* What is left of the values when the means of trials and of rounds are taken off, divided by its trial's scatter. What
 * a round does to all trials alike is in no difference, but would be in the scatter. */
static void find_left(struct family_work *work)
{
    size_t trials = work->family->trials, rounds = work->family->rounds;
    memcpy(work->left, work->family->values, trials * rounds * sizeof *work->left);
    for (size_t t = 0; t < trials; t++)
        centre(&work->left[t * rounds], rounds, 1);
    for (size_t r = 0; r < rounds; r++)
        centre(&work->left[r], trials, rounds);
    for (size_t t = 0; t < trials; t++) {
        centre(&work->left[t * rounds], rounds, 1);
        work->scatter[t] = standardize(&work->left[t * rounds], rounds);
    }
}

/* Within each round the trials' values change places, and take on the scatter of the trial that they come to: how much
 * two comparisons with one trial have in common depends on how much of their scatter is that trial's. */
static void permute(struct family_work *work)
{
    size_t trials = work->family->trials, rounds = work->family->rounds;
    memcpy(work->moved, work->left, trials * rounds * sizeof *work->moved);
    for (size_t r = 0; r < rounds; r++) {
        size_t count = 0;
        for (size_t t = 0; t < trials; t++) {
            if (!isnan(work->left[t * rounds + r]))
                work->present[count++] = (uint32_t)t;
        }
        for (size_t i = count; i > 1; i--) {
            size_t k = ys_rng_below(&work->rng, (uint32_t)i);
            double *one = &work->moved[work->present[i - 1] * rounds + r],
                   *other = &work->moved[work->present[k] * rounds + r];
            double kept = *one;
            *one = *other;
            *other = kept;
        }
    }
    for (size_t i = 0; i < trials * rounds; i++)
        work->moved[i] *= work->scatter[i / rounds];
}

/* Trials that are in a pair with enough rounds, and the number of such pairs. */
static size_t count_pairs(struct family_work *work, size_t *trials)
{
    const struct ys_family *family = work->family;
    size_t pairs = 0;
    memset(work->present, 0, family->trials * sizeof *work->present);
    for (size_t p = 0; p < family->pair_count; p++) {
        bool enough = differ(work, family->values, &family->pairs[p]) >= YS_STAT_INTERVAL_MIN;
        pairs += enough;
        work->present[family->pairs[p].a] |= enough;
        work->present[family->pairs[p].b] |= enough;
    }
    *trials = 0;
    for (size_t t = 0; t < family->trials; t++)
        *trials += work->present[t];
    return pairs;
}

static double stretch_of(struct family_work *work)
{
    size_t trials, pairs = count_pairs(work, &trials);
    if (pairs < 2)
        return 1;
    size_t wanted = WORK_MAX / pairs, count = wanted > PERMUTATIONS ? PERMUTATIONS : wanted;
    const size_t least = (size_t)fmax(PERMUTATIONS_MIN, ceil(2 / (1 - work->family->level)));
    if (count < least)
        count = least;
    for (size_t n = 0; n <= RANKED_MAX; n++) {
        double level;
        work->rank[n] = ys_signed_rank(n, work->family->level, &level);
    }
    double given_back = sqrt((double)trials / ((double)trials - 1));
    find_left(work);
    ys_rng_init(&work->rng, SEED, "family");
    for (size_t i = 0; i < count; i++) {
        permute(work);
        work->largest[i] =
            largest(work, work->moved, (1 - 1e-9) / given_back); /* what stretches nothing need not be known */
    }
    ys_stat_sort(work->largest, count);
    /* The k-th of m drawn exceeds another draw with probability k / (m + 1). */
    size_t place = (size_t)ceil(work->family->level * (double)(count + 1)) - 1;
    double stretch = work->largest[place] * given_back;
    return stretch > 1 ? stretch : 1;
}

double ys_family_stretch(const struct ys_family *family)
{
    size_t cells = family->trials * family->rounds, rank[RANKED_MAX + 1];
    struct family_work work = {.family = family, .rank = rank, .normal_reach = ys_normal_reach(family->level)};
    double *numbers = ys_alloc(2 * cells + family->rounds + PERMUTATIONS + family->trials, sizeof *numbers);
    work.present = ys_alloc(family->trials, sizeof *work.present);
    work.left = numbers;
    work.moved = numbers + cells;
    work.place = work.moved + cells;
    work.largest = work.place + family->rounds;
    work.scatter = work.largest + PERMUTATIONS;
    const double stretch = stretch_of(&work);
    ys_free(work.present);
    ys_free(numbers);
    return stretch;
}
