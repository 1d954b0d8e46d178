#include "campaign/halving.h"

#include "base/mem.h"
#include "stat/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parts of the budget after which each of the two stages ends. */
static const double single_part = 0.5, combined_part = 0.8;

struct searching {
    const struct ys_halving_wish *wish;
    const struct ys_halving_ops *ops;
    struct ys_halving *halving;
    size_t *pool; /* the candidates of the stage, beside the default; best first after a rung */
    size_t pool_count;
    double error; /* standard error of a gain, of the first rung */
};

static size_t add(struct ys_halving *halving, const uint8_t *values)
{
    halving->items = ys_grown(halving->items, halving->count, &halving->capacity, sizeof *halving->items);
    struct ys_halving_candidate *candidate = &halving->items[halving->count];
    *candidate = (struct ys_halving_candidate){.gain = NAN};
    memcpy(candidate->values, values, sizeof candidate->values);
    return halving->count++;
}

static void add_to_pool(struct searching *searching, const uint8_t *values)
{
    if (!searching->ops->is_new(searching->ops->context, searching->halving, values))
        return;
    const size_t place = add(searching->halving, values);
    searching->pool = ys_realloc(searching->pool, searching->pool_count + 1, sizeof *searching->pool);
    searching->pool[searching->pool_count++] = place;
}

/* ---- who is before whom */

static int changes_of(const struct ys_halving_candidate *candidate)
{
    int changes = 0;
    for (size_t k = 0; k < YS_HALVING_KNOBS; k++)
        changes += candidate->values[k] != 0;
    return changes;
}

/* Better first; what is out last. */
static int compare(const struct ys_halving_candidate *a, const struct ys_halving_candidate *b)
{
    const double gain_a = a->is_out || isnan(a->gain) ? -INFINITY : a->gain,
                 gain_b = b->is_out || isnan(b->gain) ? -INFINITY : b->gain;
    const int changes = changes_of(a) - changes_of(b);
    if (gain_a != gain_b)
        return gain_a > gain_b ? -1 : 1;
    return changes ? changes : memcmp(a->values, b->values, sizeof a->values);
}

static void sort(const struct ys_halving *halving, size_t *places, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k && compare(&halving->items[places[k]], &halving->items[places[k - 1]]) < 0; k--) {
            const size_t kept = places[k];
            places[k] = places[k - 1];
            places[k - 1] = kept;
        }
}

static int by_number(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of those that are no NaN; NaN of none. `values` is sorted. */
static double median(double *values, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            values[n++] = values[i];
    if (!n)
        return NAN;
    qsort(values, n, sizeof *values, by_number);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* ---- one rung */

/* Each value less the median of those of its round that got there, so that what a whole round shares does not stand
 * between two candidates. */
static void centre_rounds(double *values, size_t count, int rounds, int complete)
{
    double *round = ys_alloc(count, sizeof *round);
    for (int r = 0; r < complete; r++) {
        for (size_t i = 0; i < count; i++)
            round[i] = isfinite(values[i * (size_t)rounds + (size_t)r]) ? values[i * (size_t)rounds + (size_t)r] : NAN;
        const double middle = median(round, count);
        for (size_t i = 0; i < count && isfinite(middle); i++)
            values[i * (size_t)rounds + (size_t)r] -= middle;
    }
    ys_free(round);
}

/* The standard error of the difference of two candidates' medians, by how their rounds scatter: of two rounds a median
 * is the mean. */
static double error_of(const double *values, size_t count, int rounds, int complete)
{
    double squares = 0;
    int freedom = 0;
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (int r = 0; r < complete; r++)
            sum += values[i * (size_t)rounds + (size_t)r];
        const double mean = sum / complete;
        for (int r = 0; isfinite(mean) && r < complete; r++)
            squares += pow(values[i * (size_t)rounds + (size_t)r] - mean, 2);
        freedom += isfinite(mean) ? complete - 1 : 0;
    }
    return freedom > 0 ? sqrt(2 * squares / freedom / complete) : 0;
}

static void take_gains(struct searching *searching, const struct ys_halving_rung *rung, double *values, const bool *out,
                       int complete)
{
    struct ys_halving *halving = searching->halving;
    double *own = ys_alloc((size_t)rung->rounds, sizeof *own), standard = NAN;
    centre_rounds(values, rung->count, rung->rounds, complete);
    if (halving->rungs == 1)
        searching->error = error_of(values, rung->count, rung->rounds, complete);
    for (size_t i = 0; i < rung->count; i++) {
        struct ys_halving_candidate *candidate = &halving->items[rung->candidates[i]];
        memcpy(own, values + i * (size_t)rung->rounds, (size_t)complete * sizeof *own);
        const double middle = median(own, (size_t)complete);
        if (i == 0) /* the default */
            standard = isinf(middle) ? -YS_COMPARE_BEYOND : middle;
        candidate->gain = i || isnan(middle) ? middle - standard : 0;
        candidate->rung = halving->rungs;
        candidate->rounds += complete;
        candidate->is_out |= out[i] || isnan(candidate->gain);
    }
    ys_free(own);
}

static ys_status measure(struct searching *searching, size_t count, int rounds, bool proven)
{
    struct ys_halving *halving = searching->halving;
    const struct ys_halving_ops *ops = searching->ops;
    size_t *places = ys_alloc(count + 1, sizeof *places);
    double *values = ys_alloc((count + 1) * (size_t)rounds, sizeof *values);
    bool *out = ys_alloc(count + 1, sizeof *out);
    int complete = 0;
    memcpy(places + 1, searching->pool, count * sizeof *places); /* behind the default, which is 0 */
    const struct ys_halving_rung rung = {places, count + 1, rounds, proven};
    const double start_s = ops->spent_s(ops->context);
    ys_status status = ops->measure(ops->context, halving, &rung, values, out, &complete);
    if (status == YS_OK && complete) {
        const double proofs_s = proven ? searching->wish->proof_s * (double)count : 0;
        const double run_s = (ops->spent_s(ops->context) - start_s - proofs_s) / ((double)(count + 1) * complete);
        halving->run_s = run_s > 0 && complete == rounds ? run_s : halving->run_s;
        halving->rungs++;
        take_gains(searching, &rung, values, out, complete);
    }
    ys_free(places);
    ys_free(values);
    ys_free(out);
    return status;
}

/* Those that are out leave the pool, the others stand in it best first; at most `most` stay. */
static void keep(struct searching *searching, size_t most)
{
    const struct ys_halving *halving = searching->halving;
    size_t left = 0;
    for (size_t i = 0; i < searching->pool_count; i++)
        if (!halving->items[searching->pool[i]].is_out)
            searching->pool[left++] = searching->pool[i];
    sort(halving, searching->pool, left);
    searching->pool_count = left < most ? left : most;
    searching->halving->best = left && isfinite(halving->items[searching->pool[0]].gain) ? searching->pool[0] : 0;
}

static double left_s(const struct searching *searching, double part)
{
    return part * searching->wish->budget_s - searching->ops->spent_s(searching->ops->context);
}

/* As many of the rounds as there is time for until that part of the budget. */
static int affordable(const struct searching *searching, size_t count, int rounds, double part, double proofs_s)
{
    const double time_s = left_s(searching, part) - proofs_s, round_s = searching->halving->run_s * (double)(count + 1);
    return time_s >= round_s * rounds ? rounds : time_s >= round_s ? (int)(time_s / round_s) : 0;
}

/* ---- the stages */

/* Each rung of a stage takes about as long as its first: more rounds of that where there is time. */
static int first_rounds(const struct searching *searching, double part)
{
    int rungs = 1;
    for (size_t left = (searching->pool_count + 2) / 3; left > YS_HALVING_LAST; left = (left + 2) / 3)
        rungs++;
    const double rung_s = searching->halving->run_s * (double)(searching->pool_count + 1) * rungs,
                 rounds = rung_s > 0 ? left_s(searching, part) / rung_s : YS_HALVING_ROUNDS;
    return (int)fmax(searching->halving->rungs ? 1 : YS_HALVING_ROUNDS, fmin(rounds, YS_HALVING_ROUNDS_MOST / 3));
}

static ys_status run_stage(struct searching *searching, double part, bool is_first)
{
    int rounds = first_rounds(searching, part);
    while (searching->pool_count > (is_first && !searching->halving->rungs ? 0 : YS_HALVING_LAST)) {
        const size_t count = searching->pool_count;
        int able = affordable(searching, count, rounds, part, 0);
        if (able == 0 && is_first && !searching->halving->rungs)
            able = 1; /* without it there is nothing to say */
        if (able == 0)
            return YS_OK;
        YS_TRY(measure(searching, count, able, false));
        if (searching->halving->rungs == 0)
            return YS_OK;
        keep(searching, count <= YS_HALVING_LAST ? count : (count + 2) / 3);
        rounds = rounds * 3 < YS_HALVING_ROUNDS_MOST ? rounds * 3 : YS_HALVING_ROUNDS_MOST;
    }
    return YS_OK;
}

static void add_singles(struct searching *searching)
{
    uint8_t values[YS_HALVING_KNOBS] = {0};
    for (size_t k = 0; k < searching->wish->knobs; k++)
        for (int v = 1; v <= searching->wish->values[k]; v++) {
            values[k] = (uint8_t)v;
            add_to_pool(searching, values);
            values[k] = 0;
        }
}

/* Values that moved, by knob: how many of each are combined, and which. */
struct moved {
    uint8_t values[YS_HALVING_KNOBS][YS_HALVING_COMBINED];
    size_t counts[YS_HALVING_KNOBS];
};

static size_t combinations(const struct moved *moved)
{
    size_t all = 1;
    for (size_t k = 0; k < YS_HALVING_KNOBS; k++)
        all *= moved->counts[k] + 1;
    return all;
}

static size_t knob_of(const struct ys_halving_candidate *single)
{
    size_t k = 0;
    while (!single->values[k])
        k++;
    return k;
}

/* The best first, while there are few enough: a round of all takes half of what the stage has. */
static void find_moved(struct searching *searching, struct moved *moved)
{
    const struct ys_halving *halving = searching->halving;
    const double able = left_s(searching, combined_part) / (2 * halving->run_s);
    const size_t most = able > YS_HALVING_COMBINED ? YS_HALVING_COMBINED : able > 4 ? (size_t)able : 4;
    size_t *places = ys_alloc(halving->count, sizeof *places);
    for (size_t i = 1; i < halving->count; i++)
        places[i - 1] = i;
    sort(halving, places, halving->count - 1);
    for (size_t i = 0; i + 1 < halving->count; i++) {
        const struct ys_halving_candidate *single = &halving->items[places[i]];
        if (single->is_out || !(single->gain > halving->floor))
            break;
        const size_t k = knob_of(single);
        moved->values[k][moved->counts[k]++] = single->values[k];
        if (combinations(moved) > most)
            moved->counts[k]--;
    }
    ys_free(places);
}

static void add_combinations(struct searching *searching)
{
    struct moved moved = {.counts = {0}};
    find_moved(searching, &moved);
    const size_t all = combinations(&moved);
    for (size_t number = 1; number < all; number++) {
        uint8_t values[YS_HALVING_KNOBS] = {0};
        size_t rest = number, changed = 0;
        for (size_t k = 0; k < YS_HALVING_KNOBS; k++) {
            const size_t choices = moved.counts[k] + 1, choice = rest % choices;
            rest /= choices;
            values[k] = choice ? moved.values[k][choice - 1] : 0;
            changed += choice != 0;
        }
        if (changed > 1)
            add_to_pool(searching, values);
    }
}

static ys_status run_last(struct searching *searching)
{
    struct ys_halving *halving = searching->halving;
    size_t count = searching->pool_count < YS_HALVING_LAST ? searching->pool_count : YS_HALVING_LAST;
    int able = 0;
    for (; count; count--) {
        able = affordable(searching, count, YS_HALVING_ROUNDS_MOST, 1, searching->wish->proof_s * (double)count);
        if (able >= YS_HALVING_ROUNDS || (able && count == 1))
            break;
    }
    halving->is_unproven = count == 0;
    if (!count)
        return YS_OK;
    const int rungs = halving->rungs;
    YS_TRY(measure(searching, count, able, true));
    halving->is_unproven = halving->rungs == rungs;
    keep(searching, count);
    return YS_OK;
}

ys_status ys_halving_search(const struct ys_halving_wish *wish, const struct ys_halving_ops *ops,
                            struct ys_halving *halving)
{
    static const uint8_t as_by_default[YS_HALVING_KNOBS];
    struct searching searching = {.wish = wish, .ops = ops, .halving = halving};
    *halving = (struct ys_halving){.knobs = wish->knobs, .run_s = wish->run_s, .floor = wish->floor};
    add(halving, as_by_default);
    add_singles(&searching);
    ys_status status = run_stage(&searching, single_part, true);
    halving->floor = fmax(wish->floor, searching.error);
    if (status == YS_OK && halving->rungs) {
        add_combinations(&searching);
        status = run_stage(&searching, combined_part, false);
    }
    if (status == YS_OK && halving->rungs)
        status = run_last(&searching);
    ys_free(searching.pool);
    return status;
}

void ys_halving_fini(struct ys_halving *halving)
{
    ys_free(halving->items);
    *halving = (struct ys_halving){0};
}

double ys_halving_least_s(const struct ys_halving_wish *wish)
{
    size_t count = 1;
    for (size_t k = 0; k < wish->knobs; k++)
        count += wish->values[k];
    return wish->run_s * (double)(count + 2) + wish->proof_s;
}
