#include "metric/compare/compare_trials.h"

#include "base/mem.h"
#include "job/quant.h"
#include "metric/compare/compared_trials.h"
#include "metric/compare/comparison_family.h"
#include "metric/compare/decision_looks.h"
#include "metric/compare/disturbance_bias.h"
#include "metric/result_document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ys_compared_place(const char *metric)
{
    int place = 0;
    while (place < YS_COMPARED - 1 && strcmp(ys_compared[place], metric) != 0)
        place++;
    return place;
}

bool ys_compared_of_target(int m)
{
    return strcmp(ys_compared[m], "time_to_target_s") == 0 || strcmp(ys_compared[m], "steps_to_target") == 0;
}

/* Of what was learned: the same whatever else the machine did, and whatever work it was learned by. */
static bool is_learned(int m)
{
    return ys_metric_find(ys_compared[m])->learning;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static bool is_difference(int m)
{
    return ys_metric_find(ys_compared[m])->kind == YS_KIND_SHARE;
}

/* a's run i and b's run k, or the next of both after them that are of one round and attempt; false when there are none.
 * Runs are ordered by round and attempt. */
static bool next_pair(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b, size_t *i, size_t *k)
{
    while (*i < a->run_count && *k < b->run_count) {
        const struct ys_metric_view_run *x = &a->runs[*i], *y = &b->runs[*k];
        if (x->round == y->round && x->attempt == y->attempt)
            return true;
        if (x->round < y->round || (x->round == y->round && x->attempt < y->attempt))
            ++*i;
        else
            ++*k;
    }
    return false;
}

struct matched {
    double *a, *b;
    double *bias;                /* of a / b of the metric: the change were what is left of warm-up gone in both */
    double *from;                /* where the common window begins, as a share of the run; NaN where it is not known */
    double *of_a, *of_b;         /* what was taken from each run (ys_taken_part()) */
    double *beyond_a, *beyond_b; /* how much worse each may be as a whole (ys_outside_reach()) */
    double *grain_a, *grain_b;   /* how much less each may be, of a target between two looks; a logarithm */
    size_t n, again, bias_known; /* again: the last of them, as of struct ys_compare_rule */
    struct ys_comparison_taken taken;
};

/* Two runs of one round and attempt. */
struct run_pair {
    const struct ys_metric_view_run *a, *b;
};

static bool is_untold(const struct run_pair *runs)
{
    return isnan(runs->a->taken.work_s) || isnan(runs->b->taken.work_s);
}

static bool has_value(const struct ys_metric_view_run *run, int m)
{
    const bool counts = run->ok || (ys_compared_of_target(m) && run->status == YS_RUN_NOT_CONVERGED);
    return counts && !isnan(run->compared[m]);
}

/* Pairs of rounds before `end` that have both a value of metric `m`, one a round; of several attempts the last, but
 * none from which nobody knows what was taken in place of one of which that is known: by what was seen of the machine,
 * never by a value. `again`: of the others those of which nobody knows that, `*again_count`. */
static size_t choose_runs(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b, int m,
                          int64_t end, struct run_pair *chosen, struct run_pair *again, size_t *again_count)
{
    size_t n = 0;
    *again_count = 0;
    for (size_t i = 0, k = 0; next_pair(a, b, &i, &k); i++, k++) {
        struct run_pair runs = {&a->runs[i], &b->runs[k]};
        if (runs.a->round >= end)
            break;
        if (!has_value(runs.a, m) || !has_value(runs.b, m))
            continue;
        if (n == 0 || chosen[n - 1].a->round != runs.a->round) {
            chosen[n++] = runs;
            continue;
        }
        if (!is_untold(&runs) || is_untold(&chosen[n - 1])) {
            const struct run_pair last = chosen[n - 1];
            chosen[n - 1] = runs;
            runs = last;
        }
        if (is_untold(&runs))
            again[(*again_count)++] = runs;
    }
    return n;
}

static void alloc_rounds(size_t most, struct matched *rounds)
{
    *rounds = (struct matched){.taken = YS_TAKEN_NOTHING};
    rounds->a = ys_alloc(10 * most, sizeof(double));
    rounds->b = rounds->a + most;
    rounds->bias = rounds->b + most;
    rounds->from = rounds->bias + most;
    rounds->of_a = rounds->from + most;
    rounds->of_b = rounds->of_a + most;
    rounds->beyond_a = rounds->of_b + most;
    rounds->beyond_b = rounds->beyond_a + most;
    rounds->grain_a = rounds->beyond_b + most;
    rounds->grain_b = rounds->grain_a + most;
}

/* By how much the logarithm of what meeting a target took may be less: it was met somewhere behind the look before the
 * one that saw it. Of one that was not met, and of other metrics: 0. */
static double grain_of(const struct ys_metric_view_run *run, int m)
{
    const double value = run->compared[m],
                 before = value - run->target_grain[ys_compared_of_target(m) ? m - YS_TARGET_TIME : 0];
    if (!ys_compared_of_target(m) || isinf(value))
        return 0;
    return before > 0 ? log(value / before) : YS_COMPARE_BEYOND;
}

static void add_round(const struct run_pair *runs, int m, struct matched *rounds)
{
    const bool is_speed = ys_metric_find(ys_compared[m])->better == YS_BETTER_HIGHER; /* others are times: they fall */
    const struct ys_metric_view_run *run = runs->a, *other = runs->b;
    const struct ys_run_window window = ys_window_common(&run->windows, &other->windows);
    const size_t i = rounds->n++;
    rounds->a[i] = ys_window_value(&run->windows, &window, m, run->compared[m]);
    rounds->b[i] = ys_window_value(&other->windows, &window, m, other->compared[m]);
    rounds->bias[i] = is_speed ? window.bias : -window.bias;
    rounds->from[i] = window.from;
    rounds->of_a[i] = ys_taken_part(run, &window, m);
    rounds->of_b[i] = ys_taken_part(other, &window, m);
    rounds->beyond_a[i] = ys_outside_reach(&run->outside, m, rounds->a[i]);
    rounds->beyond_b[i] = ys_outside_reach(&other->outside, m, rounds->b[i]);
    rounds->grain_a[i] = grain_of(run, m);
    rounds->grain_b[i] = grain_of(other, m);
    rounds->bias_known += isfinite(rounds->bias[i]);
    if (!isnan(rounds->of_a[i]) && !isnan(rounds->of_b[i]) && rounds->of_a[i] + rounds->of_b[i] > 0)
        ys_taken_add(run, other, &rounds->taken);
}

/* Values of metric `m` round by round, before `end`, each pair over one window. */
static void match(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b, int m, int64_t end,
                  struct matched *rounds)
{
    struct run_pair *chosen = ys_alloc(2 * a->run_count, sizeof *chosen), *again = chosen + a->run_count;
    size_t again_count = 0;
    alloc_rounds(a->run_count, rounds);
    const size_t n = choose_runs(a, b, m, end, chosen, again, &again_count);
    for (size_t i = 0; i < n; i++)
        add_round(&chosen[i], m, rounds);
    for (size_t i = 0; i < again_count && ys_taken_is_part(m); i++)
        add_round(&again[i], m, rounds);
    rounds->again = rounds->n - n;
    ys_free(chosen);
}

/* By how much the value of a round could be less and more were what was taken from its runs given back, and were either
 * as slow as its whole run. `part` of a time less makes a speed 1 / (1 - part) times as high. */
static void bound(const struct matched *rounds, bool is_speed, bool is_difference, double *down, double *up)
{
    for (size_t i = 0; i < rounds->n; i++) {
        double of_a = is_difference ? rounds->of_a[i] * rounds->a[i] : ys_compare_given_back(rounds->of_a[i]);
        double of_b = is_difference ? rounds->of_b[i] * rounds->b[i] : ys_compare_given_back(rounds->of_b[i]);
        of_a = isnan(of_a) ? INFINITY : of_a;
        of_b = isnan(of_b) ? INFINITY : of_b;
        const double beyond_a = is_difference ? rounds->a[i] * expm1(rounds->beyond_a[i]) : rounds->beyond_a[i];
        const double beyond_b = is_difference ? rounds->b[i] * expm1(rounds->beyond_b[i]) : rounds->beyond_b[i];
        const bool is_open = isinf(rounds->a[i]) && isinf(rounds->b[i]);
        down[i] = is_open ? YS_COMPARE_BEYOND : is_speed ? of_b + beyond_a : of_a + beyond_b;
        up[i] = is_open ? YS_COMPARE_BEYOND : is_speed ? of_a + beyond_b : of_b + beyond_a;
    }
}

/* The same with the grain of both: the truth of each lies in it. */
static bool widen(const struct matched *rounds, double *down, double *up)
{
    bool is_any = false;
    for (size_t i = 0; i < rounds->n; i++) {
        down[i] += rounds->grain_a[i];
        up[i] += rounds->grain_b[i];
        is_any |= rounds->grain_a[i] > 0 || rounds->grain_b[i] > 0;
    }
    return is_any;
}

/* Whether the two have the defaults of different frameworks, or for different data sets: then the time that one takes
 * says nothing against that of the other. Accuracy is that on the same test rows whatever was trained. */
static bool is_other_work(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b, char *reason,
                          size_t size)
{
    const struct ys_trial_settings *of_a = &a->record->keys, *of_b = &b->record->keys;
    const char *own_a = or_empty(of_a->own_of), *own_b = or_empty(of_b->own_of);
    const char *data_a = or_empty(of_a->own_data), *data_b = or_empty(of_b->own_data);
    if (strcmp(own_a, own_b) == 0 && strcmp(data_a, data_b) == 0)
        return false;
    snprintf(reason, size, "different work: the defaults of %s for %s against those of %s for %s", own_a, data_a, own_b,
             data_b);
    return true;
}

/* Whether the two compute with integers that different quantisers chose. */
static bool is_other_quantiser(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b, char *reason,
                               size_t size)
{
    const char *by_a = ys_settings_quantiser(&a->record->keys), *by_b = ys_settings_quantiser(&b->record->keys);
    if (strcmp(by_a, by_b) == 0)
        return false;
    snprintf(reason, size, "different work: the quantiser of %s against that of %s", by_a, by_b);
    return true;
}

/* Runs that end at a target do as many steps as that takes: whole runs are then other work than each other's. */
static bool is_until_target(int m, const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b,
                            char *reason, size_t size)
{
    const bool is_whole = strcmp(ys_compared[m], "wall_s") == 0 || strcmp(ys_compared[m], "cpu_s") == 0;
    if (!is_whole || (!a->record->keys.until && !b->record->keys.until))
        return false;
    snprintf(reason, size, "different work: a run that ends at a target does as many steps as that takes");
    return true;
}

/* Whether the two were to meet different targets, or one of them none. */
static bool is_other_target(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b, char *reason,
                            size_t size)
{
    const char *of_a = or_empty(a->record->keys.until), *of_b = or_empty(b->record->keys.until);
    if (strcmp(of_a, of_b) == 0)
        return false;
    snprintf(reason, size, "different work: until %s against until %s", of_a[0] ? of_a : "none",
             of_b[0] ? of_b : "none");
    return true;
}

/* Times of a graphics processor that is none say nothing of the framework on one. */
static bool is_drawn(int m, const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b, char *reason,
                     size_t size)
{
    const enum ys_kind kind = ys_metric_find(ys_compared[m])->kind;
    const struct ys_metric_view_trial *drawn = a->software ? a : b;
    if ((kind != YS_KIND_SPAN && kind != YS_KIND_RATE) || !drawn->software)
        return false;
    snprintf(reason, size, "%s: its graphics processor is drawn in software (%s)", drawn->id, drawn->software);
    return true;
}

/* What may be concluded of time and steps to a target, in which runs that did not meet it have their place, whatever
 * settings they were to meet it with. */
static bool may_conclude_of_target(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b,
                                   char *reason, size_t size)
{
    struct ys_metric_view_trial x = *a, y = *b; /* borrow */
    x.failed -= x.lost;
    y.failed -= y.lost;
    return !ys_trial_has_fault(&x, &y, reason, size) && !ys_trial_has_fault(&y, &x, reason, size) &&
           !is_other_target(a, b, reason, size);
}

static bool may_conclude(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b, int m,
                         char *reason, size_t size)
{
    if (is_drawn(m, a, b, reason, size))
        return false;
    if (ys_compared_of_target(m))
        return may_conclude_of_target(a, b, reason, size);
    return !ys_trial_has_fault(a, b, reason, size) && !ys_trial_has_fault(b, a, reason, size) &&
           !is_until_target(m, a, b, reason, size) &&
           (is_learned(m) || (!is_other_work(a, b, reason, size) && !is_other_quantiser(a, b, reason, size)));
}

/* In a group of more trials the best is compared by its speed alone: all pairs of a thousand are half a million. */
#define GROUP_MANY 100

static bool is_of_best(const struct ys_chosen *chosen, const struct ys_groups *groups, int m)
{
    return chosen->best != YS_NAME_NONE && (m == 0 || groups->items[chosen->group].count <= GROUP_MANY);
}

struct trial_pair {
    const struct ys_chosen *chosen;
    const struct ys_groups *groups;
    const struct ys_metric_view_trial *a, *b;
    double margin;
    const struct ys_moments *moments;
    const double *stretch[YS_LOOKS_MOST]; /* as of each of them, of the families that it is in, by metric */
};

/* What is found of one metric of a pair, beside the comparison itself. */
struct judged {
    double window_from; /* the latest of all rounds; NaN where it is not known or no question */
    struct ys_comparison_taken taken;
    size_t moment;       /* that it is as of */
    size_t met_a, met_b; /* of a target: rounds in which each met it */
};

static double latest(const double *from, size_t n)
{
    double most = NAN;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, from[i]); /* which passes over NaN */
    return most;
}

/* The rule with what the machine took from the rounds, and what lies beyond the steady parts. */
static void compare_rounds(const struct matched *rounds, struct ys_compare_rule rule, bool is_speed,
                           struct ys_comparison *found)
{
    double *down = ys_alloc(2 * rounds->n, sizeof *down), *up = down + rounds->n;
    bound(rounds, is_speed, rule.difference, down, up);
    rule.down = down;
    rule.up = up;
    rule.again = rounds->again;
    ys_compare(rounds->a, rounds->b, rounds->n, &rule, found);
    const int verdict = (int)found->verdict;
    if (rule.endless && widen(rounds, down, up)) {
        ys_compare(rounds->a, rounds->b, rounds->n, &rule, found);
        if (found->verdict == YS_VERDICT_UNCLEAR && verdict != YS_VERDICT_UNCLEAR)
            found->reason = "the two lie within one checkpoint of each other: take a smaller eval_every";
    }
    ys_free(down);
}

static size_t count_met(const double *values, size_t n)
{
    size_t met = 0;
    for (size_t i = 0; i < n; i++)
        met += !isinf(values[i]);
    return met;
}

static void judge_at(const struct trial_pair *pair, int m, double margin, size_t moment, struct ys_comparison *found,
                     struct judged *beside)
{
    struct matched rounds;
    const struct ys_metric_info *info = ys_metric_find(ys_compared[m]);
    match(pair->a, pair->b, m, pair->moments->items[moment].rounds, &rounds);
    bool is_of_steady = m < YS_WINDOW_METRICS, has_bias = is_of_steady && rounds.bias_known == rounds.n;
    const struct ys_compare_rule rule = {.better = info->better,
                                         .difference = is_difference(m),
                                         .endless = ys_compared_of_target(m),
                                         .margin = margin,
                                         .stretch = pair->stretch[moment][m],
                                         .level = pair->moments->items[moment].level,
                                         .bias = has_bias ? rounds.bias : NULL,
                                         .bias_untold = is_of_steady && !has_bias};
    compare_rounds(&rounds, rule, info->better == YS_BETTER_HIGHER, found);
    *beside =
        (struct judged){is_of_steady ? latest(rounds.from, rounds.n - rounds.again) : (double)NAN, rounds.taken, moment,
                        count_met(rounds.a, rounds.n - rounds.again), count_met(rounds.b, rounds.n - rounds.again)};
    ys_free(rounds.a);
}

/* Of the pairs that were chosen before anything was measured: which is the best is not known before the end. */
static bool is_deciding(const struct trial_pair *pair, int m)
{
    return pair->chosen->along && ys_moments_decide(pair->moments, pair->a, m);
}

static bool is_decided(const struct ys_comparison *found)
{
    return found->verdict == YS_VERDICT_BETTER || found->verdict == YS_VERDICT_WORSE ||
           found->verdict == YS_VERDICT_SAME;
}

/* What a comparison by which the study is decided was at the look that decided it; else as of the last moment. */
static void judge(const struct trial_pair *pair, int m, double margin, struct ys_comparison *found,
                  struct judged *beside)
{
    const size_t last = pair->moments->count - 1;
    size_t i = is_deciding(pair, m) ? 0 : last;
    do
        judge_at(pair, m, margin, i, found, beside);
    while (i++ < last && !is_decided(found));
}

/* More rounds change nothing of what is no comparison, or of runs that are too short to tell. */
static int decision_of(const struct trial_pair *pair, int m, const struct ys_comparison *found)
{
    if (!is_deciding(pair, m))
        return YS_NAME_NONE;
    if (is_decided(found))
        return YS_DECISION_MADE;
    const bool is_untold = found->reason && strcmp(found->reason, YS_COMPARE_UNTOLD) == 0;
    return found->verdict == YS_VERDICT_INVALID || is_untold ? YS_DECISION_NEVER : YS_DECISION_OPEN;
}

/* A text that a record borrows: nobody frees it there. */
static char *borrowed(const char *text)
{
    return (char *)(uintptr_t)text;
}

static double level_of(const struct ys_interval *interval)
{
    return interval->known ? interval->level : NAN;
}

static enum ys_rounds_say rounds_of(const struct ys_comparison *found)
{
    if (isnan(found->correlation))
        return YS_ROUNDS_UNKNOWN;
    return found->correlated ? YS_ROUNDS_CORRELATED : YS_ROUNDS_INDEPENDENT;
}

static struct ys_result_comparison *add_comparison(struct ys_result *result)
{
    result->comparisons = ys_grown(result->comparisons, result->comparison_count, &result->comparison_capacity,
                                   sizeof *result->comparisons);
    return &result->comparisons[result->comparison_count++];
}

/* Of the speed of several ranks against that of one, which is the speed-up: what of it each rank brings. */
static void tell_scaling(const struct trial_pair *pair, int m, struct ys_result_comparison *comparison)
{
    const struct ys_trial_settings *a = &pair->a->record->keys, *b = &pair->b->record->keys;
    const int64_t ranks = ys_settings_ranks(a);
    comparison->told.scaling = YS_NAME_NONE;
    comparison->told.efficiency = NAN;
    comparison->efficiency = (struct ys_interval){false, NAN, NAN, NAN};
    if (strcmp(pair->chosen->varies, "ranks") != 0 || strcmp(ys_compared[m], "rate_per_s") != 0 ||
        ys_settings_ranks(b) != 1)
        return;
    comparison->told.scaling = a->batch == b->batch ? YS_SCALING_WEAK : YS_SCALING_STRONG;
    comparison->told.efficiency = comparison->told.ratio / (double)ranks;
    comparison->efficiency = comparison->interval;
    comparison->efficiency.lo /= (double)ranks;
    comparison->efficiency.hi /= (double)ranks;
}

static bool is_alone(const struct ys_metric_view_trial *trial)
{
    return trial->record->keys.strategy == YS_STRATEGY_ALONE;
}

/* Of the speed of ranks that exchange against that of ranks that do the same but for that: what the exchange adds to a
 * step. The others' lack of a proof, which forbids any other comparison, is what this one is about; what else forbids
 * one forbids it too. */
static void tell_exposed(const struct trial_pair *pair, int m, struct ys_result_comparison *comparison)
{
    const struct ys_metric_view_trial *a = is_alone(pair->a) ? pair->b : pair->a,
                                      *b = is_alone(pair->a) ? pair->a : pair->b;
    struct matched rounds;
    struct ys_comparison found = ys_compare_invalid(0, "");
    char reason[YS_TRIAL_FAULT_SIZE];
    comparison->told.exposed_s = NAN;
    comparison->exposed = (struct ys_interval){false, NAN, NAN, NAN};
    if (strcmp(pair->chosen->varies, "strategy") != 0 || strcmp(ys_compared[m], "rate_per_s") != 0 || is_alone(a) ||
        !is_alone(b) || ys_trial_has_fault(a, b, reason, sizeof reason))
        return;
    const struct ys_moment *moment = &pair->moments->items[pair->moments->count - 1];
    const struct ys_compare_rule rule = {
        .better = YS_BETTER_LOWER, .difference = true, .stretch = 1, .level = moment->level};
    match(a, b, ys_compared_place("step_s"), moment->rounds, &rounds);
    compare_rounds(&rounds, rule, false, &found);
    ys_free(rounds.a);
    comparison->told.exposed_s = found.value;
    comparison->exposed = found.interval;
}

static void compare_one(const struct trial_pair *pair, int m, struct ys_result *result)
{
    const char *name = ys_compared[m];
    const bool fraction = is_difference(m);
    double margin = fraction ? YS_METRIC_ACCURACY_MARGIN : pair->margin;
    char reason[YS_TRIAL_FAULT_SIZE];
    bool invalid = !may_conclude(pair->a, pair->b, m, reason, sizeof reason);
    struct ys_comparison found;
    struct judged beside;
    judge(pair, m, margin, &found, &beside);
    if (invalid) {
        found = ys_compare_invalid(found.n, reason);
        beside = (struct judged){.window_from = NAN, .taken = YS_TAKEN_NOTHING, .moment = beside.moment};
    }
    const struct ys_metric_info *info = ys_metric_find(name);
    const struct ys_trial_record *a = pair->a->record, *b = pair->b->record;
    struct ys_result_comparison *comparison = add_comparison(result);
    comparison->interval = found.interval;
    comparison->single = found.single;
    comparison->settled = found.settled;
    comparison->told = (struct ys_comparison_record){
        .metric = borrowed(name),
        .a = a->id,
        .b = b->id,
        .a_index = a->index,
        .b_index = b->index,
        .varies = ys_strdup(pair->chosen->varies),
        .best = is_of_best(pair->chosen, pair->groups, m) ? pair->chosen->best : YS_NAME_NONE,
        .scale = fraction ? YS_SCALE_DIFFERENCE : YS_SCALE_RATIO,
        .ratio = fraction ? NAN : found.value,
        .difference = fraction ? found.value : NAN,
        .level = level_of(&found.interval),
        .single = {.level = level_of(&found.single)},
        .rounds = rounds_of(&found),
        .round_correlation = found.correlation,
        .bias_bound = found.bias_bound,
        .window_from = beside.window_from,
        .n = (int64_t)found.n,
        .left_out = (int64_t)found.left_out,
        .taken = beside.taken,
        .decision = decision_of(pair, m, &found),
        .look_rounds = pair->moments->decides ? pair->moments->items[beside.moment].rounds : YS_FIELD_NONE,
        .margin = margin,
        .verdict = (int)found.verdict,
        .resolution = found.resolution,
        .reason = ys_strdup(found.reason),
        .a_value = ys_trial_median(pair->a, ys_compared[m]),
        .b_value = ys_trial_median(pair->b, ys_compared[m]),
        .a_met = ys_compared_of_target(m) && !invalid ? (int64_t)beside.met_a : YS_FIELD_NONE,
        .b_met = ys_compared_of_target(m) && !invalid ? (int64_t)beside.met_b : YS_FIELD_NONE,
        .unit = borrowed(info->unit),
        .better = (int)info->better};
    tell_scaling(pair, m, comparison);
    tell_exposed(pair, m, comparison);
}

/* Trials that never ran are rows of their own; there is nothing to compare. A metric that neither has neither. */
static void compare_pair(const struct trial_pair *pair, struct ys_result *result)
{
    if (pair->a->counted == 0 || pair->b->counted == 0)
        return;
    bool failed = pair->a->failed == pair->a->counted || pair->b->failed == pair->b->counted;
    for (int m = 0; m < YS_COMPARED; m++) {
        bool known =
            !isnan(ys_trial_median(pair->a, ys_compared[m])) && !isnan(ys_trial_median(pair->b, ys_compared[m]));
        const bool is_wanted = pair->chosen->along || is_of_best(pair->chosen, pair->groups, m);
        if (is_wanted && (known || (failed && m == 0)))
            compare_one(pair, m, result);
    }
}

static void take_rounds(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b,
                        struct ys_list *ratios, struct ys_list *biases)
{
    struct matched rounds;
    match(a, b, 0, INT64_MAX, &rounds);
    rounds.n -= rounds.again;
    double *of = ys_alloc(rounds.n, sizeof *of), *left = ys_alloc(rounds.n, sizeof *left);
    for (size_t i = 0; i < rounds.n; i++) {
        of[i] = rounds.a[i] / rounds.b[i];
        left[i] = rounds.bias[i];
    }
    *ratios = (struct ys_list){of, rounds.n};
    *biases = (struct ys_list){left, rounds.bias_known >= rounds.n ? rounds.n : 0};
    ys_free(rounds.a);
}

ys_status ys_metric_rounds_of(struct ys_store *store, int64_t study_id, size_t a, size_t b, struct ys_list *ratios,
                              struct ys_list *biases)
{
    const size_t both[] = {a, b};
    struct ys_metric_view view;
    *ratios = *biases = (struct ys_list){0};
    YS_TRY(ys_metric_view_load(store, study_id, &view));
    ys_status status = a < view.trial_count && b < view.trial_count
                           ? YS_OK
                           : ys_fail(YS_EINTERNAL, "of %zu trials those at %zu and %zu", view.trial_count, a, b);
    for (size_t i = 0; status == YS_OK && i < 2; i++) {
        status = ys_metric_view_trial_load(store, &view, &view.trials[both[i]]);
        if (status == YS_OK)
            ys_metric_view_trial_unload(&view.trials[both[i]]);
    }
    if (status == YS_OK)
        take_rounds(&view.trials[a], &view.trials[b], ratios, biases);
    ys_metric_view_fini(&view);
    return status;
}

/* What stretches are found for, as of one of the moments: [pair * YS_COMPARED + metric] of `stretch`. */
struct stretching {
    const struct ys_metric_view *view;
    const struct ys_choice *choice;
    const struct ys_groups *groups;
    const struct ys_moments *moments;
    size_t moment;
    double *stretch;
};

/* Before the last moment only those by which the study is decided. */
static bool is_asked(const struct stretching *of, const struct ys_chosen *chosen, int m)
{
    return of->moment + 1 == of->moments->count ||
           (chosen->along && ys_moments_decide(of->moments, &of->view->trials[chosen->a], m));
}

static bool is_of_section(const struct stretching *of, const struct ys_chosen *chosen,
                          const struct ys_trial_record *one)
{
    return chosen->along && ys_pair_is_of_one_section(of->view->trials[chosen->a].record, one);
}

/* Those of the pairs of one section, beginning with `first`, that were chosen before anything was measured. */
static void stretch_section(const struct stretching *of, size_t first, int m, struct ys_family_pair *pairs)
{
    const struct ys_choice *choice = of->choice;
    const struct ys_trial_record *one = of->view->trials[choice->pairs[first].a].record;
    char reason[YS_TRIAL_FAULT_SIZE];
    size_t count = 0;
    for (size_t i = first; i < choice->count; i++) {
        const struct ys_chosen *chosen = &choice->pairs[i];
        if (is_of_section(of, chosen, one) &&
            may_conclude(&of->view->trials[chosen->a], &of->view->trials[chosen->b], m, reason, sizeof reason))
            pairs[count++] = (struct ys_family_pair){chosen->a, chosen->b};
    }
    const double factor =
        ys_together_stretch(of->view, &of->moments->items[of->moment], pairs, count, m, !is_learned(m));
    for (size_t i = first; i < choice->count; i++)
        if (is_of_section(of, &choice->pairs[i], one))
            of->stretch[i * YS_COMPARED + (size_t)m] = factor;
}

static bool has_trial(const struct ys_work_group *group, size_t trial)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->trials[i] == trial)
            return true;
    return false;
}

/* Which is the best may change from look to look; what decides a study must not: all that might be are stretched. */
static bool is_of_group(const struct stretching *of, const struct ys_chosen *chosen, size_t place, int m)
{
    const struct ys_work_group *group = &of->groups->items[place];
    if (of->moments->decides && chosen->along)
        return has_trial(group, chosen->a) && has_trial(group, chosen->b);
    return is_of_best(chosen, of->groups, m) && chosen->group == place;
}

/* The best was read off the same values, so its comparisons hold together with those of each trial of its group with
 * each. */
static void stretch_group(const struct stretching *of, size_t place, int m)
{
    const struct ys_work_group *group = &of->groups->items[place];
    struct ys_family_pair *pairs = ys_alloc(group->count * group->count / 2 + 1, sizeof *pairs);
    size_t *fit = ys_alloc(group->count + 1, sizeof *fit), count = 0;
    char reason[YS_TRIAL_FAULT_SIZE];
    for (size_t i = 0; i < group->count; i++) {
        const struct ys_metric_view_trial *trial = &of->view->trials[group->trials[i]];
        if (!ys_trial_has_fault(trial, trial, reason, sizeof reason))
            fit[count++] = group->trials[i];
    }
    const size_t pair_count = ys_family_each_with_each(count, pairs);
    for (size_t i = 0; i < pair_count; i++)
        pairs[i] = (struct ys_family_pair){fit[pairs[i].a], fit[pairs[i].b]};
    const double factor =
        ys_together_stretch(of->view, &of->moments->items[of->moment], pairs, pair_count, m, !is_learned(m));
    for (size_t i = 0; i < of->choice->count; i++) {
        double *of_pair = &of->stretch[i * YS_COMPARED + (size_t)m];
        if (is_of_group(of, &of->choice->pairs[i], place, m))
            *of_pair = fmax(*of_pair, factor);
    }
    ys_free(pairs);
    ys_free(fit);
}

/* Of one metric. */
static void stretch_metric(const struct stretching *of, int m, struct ys_family_pair *pairs)
{
    const struct ys_choice *choice = of->choice;
    bool is_any = false;
    for (size_t i = 0; i < choice->count; i++) {
        if (!is_asked(of, &choice->pairs[i], m))
            continue;
        is_any = true;
        if (choice->pairs[i].along && of->stretch[i * YS_COMPARED + (size_t)m] == 0) /* its section was not done */
            stretch_section(of, i, m, pairs);
    }
    for (size_t i = 0; is_any && i < of->groups->count; i++)
        if (of->groups->items[i].best != YS_GROUP_NO_BEST && (m == 0 || of->groups->items[i].count <= GROUP_MANY))
            stretch_group(of, i, m);
}

static void stretch_all(const struct stretching *of)
{
    struct ys_family_pair *pairs = ys_alloc(of->choice->count, sizeof *pairs);
    for (int m = 0; m < YS_COMPARED; m++)
        stretch_metric(of, m, pairs);
    ys_free(pairs);
}

void ys_pair_comparisons(const struct ys_metric_view *view, const struct ys_groups *groups, bool all,
                         struct ys_result *result)
{
    struct ys_choice choice;
    const struct ys_moments moments = ys_moments_of(view);
    ys_choice_make(view, groups, all, &choice);
    const size_t each = choice.count * YS_COMPARED;
    double *stretch = ys_alloc(each * moments.count, sizeof *stretch);
    for (size_t k = 0; k < moments.count; k++)
        stretch_all(&(struct stretching){view, &choice, groups, &moments, k, &stretch[k * each]});
    for (size_t i = 0; i < choice.count; i++) {
        const struct ys_chosen *chosen = &choice.pairs[i];
        struct trial_pair pair = {.chosen = chosen,
                                  .groups = groups,
                                  .a = &view->trials[chosen->a],
                                  .b = &view->trials[chosen->b],
                                  .margin = view->told.job.margin,
                                  .moments = &moments};
        for (size_t k = 0; k < moments.count; k++)
            pair.stretch[k] = &stretch[k * each + i * YS_COMPARED];
        compare_pair(&pair, result);
    }
    ys_free(stretch);
    ys_choice_fini(&choice);
}
