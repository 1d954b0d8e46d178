#include "metric/pair.h"

#include "base/mem.h"
#include "metric/build.h"
#include "metric/document.h"
#include "metric/moments.h"
#include "metric/taken.h"
#include "metric/together.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ys_compared[YS_COMPARED] = {"rate_per_s", "step_s",         "latency_p50_s", "latency_p99_s",
                                              "accuracy",   "bits_per_token", "wall_s",        "start_s",
                                              "cpu_s",      "rss_peak_bytes"};

int ys_compared_place(const char *metric)
{
    int place = 0;
    while (place < YS_COMPARED - 1 && strcmp(ys_compared[place], metric) != 0)
        place++;
    return place;
}

/* Of what was learned: the same whatever else the machine did, and whatever work it was learned by. */
static bool is_learned(int m)
{
    return ys_metric_find(ys_compared[m])->learning;
}

static bool is_difference(int m)
{
    return ys_metric_find(ys_compared[m])->kind == YS_KIND_SHARE;
}

static bool counts(const char *factor, bool frameworks_differ)
{
    return !frameworks_differ || strncmp(factor, "opt.", 4) != 0;
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

struct factors {
    const ys_json *framework;
};
static const struct ys_field factors_fields[] = {
    YS_FIELD(struct factors, framework, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "where it varies"),
};
static const struct ys_record factors_record = YS_RECORD("factors", struct factors, factors_fields);

static const ys_json *framework_of(const struct ys_trial_record *trial)
{
    struct factors factors;
    ys_record_glance(&factors_record, trial->factors, &factors);
    return factors.framework;
}

const char *ys_pair_varies(const struct ys_trial_record *a, const struct ys_trial_record *b)
{
    if (strcmp(or_empty(a->section), or_empty(b->section)) != 0)
        return NULL;
    const ys_json *of_a = a->factors, *of_b = b->factors;
    bool frameworks = !ys_json_equal(framework_of(a), framework_of(b));
    const char *varies = NULL;
    int differences = 0;
    for (void *it = ys_json_iter(of_a); it; it = ys_json_next(of_a, it)) {
        const char *factor = ys_json_iter_key(it);
        const ys_json *other = ys_json_get(of_b, factor);
        if (counts(factor, frameworks) && (!other || !ys_json_equal(ys_json_iter_value(it), other))) {
            varies = factor;
            differences++;
        }
    }
    for (void *it = ys_json_iter(of_b); it; it = ys_json_next(of_b, it)) {
        const char *factor = ys_json_iter_key(it);
        if (counts(factor, frameworks) && !ys_json_get(of_a, factor)) {
            varies = factor;
            differences++;
        }
    }
    return differences == 1 ? varies : NULL;
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
    double *bias;        /* of a / b of the metric: the change were what is left of warm-up gone in both */
    double *from;        /* where the common window begins, as a share of the run; NaN where it is not known */
    double *of_a, *of_b; /* what was taken from each run (ys_taken_part()) */
    size_t n, bias_known;
    struct ys_comparison_taken taken;
};

/* Two runs of one round and attempt. */
struct runs {
    const struct ys_metric_view_run *a, *b;
};

static bool is_untold(const struct runs *runs)
{
    return isnan(runs->a->taken.work_s) || isnan(runs->b->taken.work_s);
}

/* Pairs of rounds before `end` that have both a value of metric `m`, one a round; of several attempts the last, but
 * none from which nobody knows what was taken in place of one of which that is known: by what was seen of the machine,
 * never by a value. */
static size_t choose_runs(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b, int m,
                          int64_t end, struct runs *chosen)
{
    size_t n = 0;
    for (size_t i = 0, k = 0; next_pair(a, b, &i, &k); i++, k++) {
        const struct runs runs = {&a->runs[i], &b->runs[k]};
        if (runs.a->round >= end)
            break;
        if (!runs.a->ok || !runs.b->ok || isnan(runs.a->compared[m]) || isnan(runs.b->compared[m]))
            continue;
        if (n == 0 || chosen[n - 1].a->round != runs.a->round)
            chosen[n++] = runs;
        else if (!is_untold(&runs) || is_untold(&chosen[n - 1]))
            chosen[n - 1] = runs;
    }
    return n;
}

static ys_status alloc_rounds(size_t most, struct matched *rounds)
{
    *rounds = (struct matched){.taken = YS_TAKEN_NOTHING};
    rounds->a = ys_alloc(6 * most, sizeof(double));
    if (!rounds->a)
        return ys_out_of_memory();
    rounds->b = rounds->a + most;
    rounds->bias = rounds->b + most;
    rounds->from = rounds->bias + most;
    rounds->of_a = rounds->from + most;
    rounds->of_b = rounds->of_a + most;
    return YS_OK;
}

/* Values of metric `m` round by round, before `end`, each pair over one window. */
static ys_status match(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b, int m, int64_t end,
                       struct matched *rounds)
{
    const bool is_speed = ys_metric_find(ys_compared[m])->better == YS_BETTER_HIGHER; /* others are times: they fall */
    struct runs *chosen = ys_alloc(a->run_count, sizeof *chosen);
    if (!chosen)
        return ys_out_of_memory();
    ys_status status = alloc_rounds(a->run_count, rounds);
    const size_t n = status == YS_OK ? choose_runs(a, b, m, end, chosen) : 0;
    for (size_t i = 0; i < n; i++) {
        const struct ys_metric_view_run *run = chosen[i].a, *other = chosen[i].b;
        const struct ys_run_window window = ys_window_common(&run->windows, &other->windows);
        rounds->a[i] = ys_window_value(&run->windows, &window, m, run->compared[m]);
        rounds->b[i] = ys_window_value(&other->windows, &window, m, other->compared[m]);
        rounds->bias[i] = is_speed ? window.bias : -window.bias;
        rounds->from[i] = window.from;
        rounds->of_a[i] = ys_taken_part(run, &window, m);
        rounds->of_b[i] = ys_taken_part(other, &window, m);
        rounds->bias_known += isfinite(rounds->bias[i]);
        if (!isnan(rounds->of_a[i]) && !isnan(rounds->of_b[i]) && rounds->of_a[i] + rounds->of_b[i] > 0)
            ys_taken_add(run, other, &rounds->taken);
    }
    rounds->n = n;
    ys_free(chosen);
    return status;
}

/* By how much the value of a round could be less and more were what was taken from its runs given back. `part` of a
 * time less makes a speed 1 / (1 - part) times as high. */
static void bound(const struct matched *rounds, bool is_speed, bool is_difference, double *down, double *up)
{
    for (size_t i = 0; i < rounds->n; i++) {
        double of_a = is_difference ? rounds->of_a[i] * rounds->a[i] : -log1p(-rounds->of_a[i]);
        double of_b = is_difference ? rounds->of_b[i] * rounds->b[i] : -log1p(-rounds->of_b[i]);
        of_a = isnan(of_a) ? INFINITY : of_a;
        of_b = isnan(of_b) ? INFINITY : of_b;
        down[i] = is_speed ? of_b : of_a;
        up[i] = is_speed ? of_a : of_b;
    }
}

/* Why nothing may be concluded from this trial beside `other` (NULL: any that works); false when something may. What
 * does no work is compared with its like alone: a difference that is known is how the measuring itself is measured. */
static bool has_fault(const struct ys_metric_view_trial *trial, const struct ys_metric_view_trial *other, char *reason,
                      size_t size)
{
    if (trial->no_work && !(other && other->no_work))
        snprintf(reason, size, "%s does no work", trial->id);
    else if (trial->failed == trial->counted)
        snprintf(reason, size, "no run of %s succeeded: %s", trial->id, ys_run_status_name(trial->status));
    else if (trial->verdict == YS_PROOF_NONE && !trial->no_work)
        snprintf(reason, size, "there is no proof that %s does the same work", trial->id);
    else if (trial->verdict == YS_PROOF_FAIL)
        snprintf(reason, size, "the proof that %s does the same work failed", trial->id);
    else
        return false;
    return true;
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

/* Of metric `m` of ys_compared. */
static double median_of(const struct ys_metric_view_trial *trial, int m)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    const struct ys_trial_metric *metric = &trial->metrics[ys_metric_find(ys_compared[m]) - infos];
    return metric->n ? metric->summary.median : NAN;
}

static bool may_conclude(const struct ys_metric_view_trial *a, const struct ys_metric_view_trial *b, bool learned,
                         char *reason, size_t size)
{
    return !has_fault(a, b, reason, size) && !has_fault(b, a, reason, size) &&
           (learned || !is_other_work(a, b, reason, size));
}

struct pair {
    const struct ys_metric_view_trial *a, *b;
    const char *varies;
    double margin;
    const struct ys_moments *moments;
    const double *stretch[YS_LOOKS_MOST]; /* as of each of them, of the families that it is in, by metric */
};

/* What is found of one metric of a pair, beside the comparison itself. */
struct judged {
    double window_from; /* the latest of all rounds; NaN where it is not known or no question */
    struct ys_comparison_taken taken;
    size_t moment; /* that it is as of */
};

static double latest(const double *from, size_t n)
{
    double most = NAN;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, from[i]); /* which passes over NaN */
    return most;
}

/* The rule with what the machine took from the rounds. */
static ys_status compare_rounds(const struct matched *rounds, struct ys_compare_rule rule, bool is_speed,
                                struct ys_comparison *found)
{
    double *down = ys_alloc(2 * rounds->n, sizeof *down);
    if (!down)
        return ys_out_of_memory();
    double *up = down + rounds->n;
    bound(rounds, is_speed, rule.difference, down, up);
    rule.down = down;
    rule.up = up;
    ys_status status = ys_compare(rounds->a, rounds->b, rounds->n, &rule, found);
    ys_free(down);
    return status;
}

static ys_status judge_at(const struct pair *pair, int m, double margin, size_t moment, struct ys_comparison *found,
                          struct judged *beside)
{
    struct matched rounds;
    const struct ys_metric_info *info = ys_metric_find(ys_compared[m]);
    ys_status status = match(pair->a, pair->b, m, pair->moments->items[moment].rounds, &rounds);
    bool is_of_steady = m < YS_WINDOW_METRICS, has_bias = is_of_steady && rounds.bias_known == rounds.n;
    const struct ys_compare_rule rule = {.better = info->better,
                                         .difference = is_difference(m),
                                         .margin = margin,
                                         .stretch = pair->stretch[moment][m],
                                         .level = pair->moments->items[moment].level,
                                         .bias = has_bias ? rounds.bias : NULL,
                                         .bias_untold = is_of_steady && !has_bias};
    if (status == YS_OK)
        status = compare_rounds(&rounds, rule, info->better == YS_BETTER_HIGHER, found);
    *beside = (struct judged){is_of_steady ? latest(rounds.from, rounds.n) : (double)NAN, rounds.taken, moment};
    ys_free(rounds.a);
    return status;
}

static bool is_decided(const struct ys_comparison *found)
{
    return found->verdict == YS_VERDICT_BETTER || found->verdict == YS_VERDICT_WORSE ||
           found->verdict == YS_VERDICT_SAME;
}

/* What a comparison by which the study is decided was at the look that decided it; else as of the last moment. */
static ys_status judge(const struct pair *pair, int m, double margin, struct ys_comparison *found,
                       struct judged *beside)
{
    const size_t last = pair->moments->count - 1;
    ys_status status = YS_OK;
    for (size_t i = ys_moments_decide(pair->moments, pair->a, m) ? 0 : last; status == YS_OK; i++) {
        status = judge_at(pair, m, margin, i, found, beside);
        if (i == last || is_decided(found))
            break;
    }
    return status;
}

/* More rounds change nothing of what is no comparison, or of runs that are too short to tell. */
static int decision_of(const struct pair *pair, int m, const struct ys_comparison *found)
{
    if (!ys_moments_decide(pair->moments, pair->a, m))
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

/* A place for one more; NULL without memory. */
static struct ys_result_comparison *add_comparison(struct ys_result *result)
{
    struct ys_result_comparison *grown =
        ys_grown(result->comparisons, result->comparison_count, &result->comparison_capacity, sizeof *grown);
    if (!grown)
        return NULL;
    result->comparisons = grown;
    return &result->comparisons[result->comparison_count];
}

/* Of the speed of several ranks against that of one, which is the speed-up: what of it each rank brings. */
static void tell_scaling(const struct pair *pair, int m, struct ys_result_comparison *comparison)
{
    const struct ys_trial_settings *a = &pair->a->record->keys, *b = &pair->b->record->keys;
    const int64_t ranks = ys_settings_ranks(a);
    comparison->told.scaling = YS_NAME_NONE;
    comparison->told.efficiency = NAN;
    comparison->efficiency = (struct ys_interval){.known = false};
    if (strcmp(pair->varies, "ranks") != 0 || strcmp(ys_compared[m], "rate_per_s") != 0 || ys_settings_ranks(b) != 1)
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
static ys_status tell_exposed(const struct pair *pair, int m, struct ys_result_comparison *comparison)
{
    const struct ys_metric_view_trial *a = is_alone(pair->a) ? pair->b : pair->a,
                                      *b = is_alone(pair->a) ? pair->a : pair->b;
    struct matched rounds;
    struct ys_comparison found = ys_compare_invalid(0, "");
    char reason[400];
    comparison->told.exposed_s = NAN;
    comparison->exposed = (struct ys_interval){.known = false};
    if (strcmp(pair->varies, "strategy") != 0 || strcmp(ys_compared[m], "rate_per_s") != 0 || is_alone(a) ||
        !is_alone(b) || has_fault(a, b, reason, sizeof reason))
        return YS_OK;
    const struct ys_moment *moment = &pair->moments->items[pair->moments->count - 1];
    const struct ys_compare_rule rule = {
        .better = YS_BETTER_LOWER, .difference = true, .stretch = 1, .level = moment->level};
    ys_status status = match(a, b, ys_compared_place("step_s"), moment->rounds, &rounds);
    if (status == YS_OK)
        status = compare_rounds(&rounds, rule, false, &found);
    ys_free(rounds.a);
    comparison->told.exposed_s = found.value;
    comparison->exposed = found.interval;
    return status;
}

static ys_status compare_one(const struct pair *pair, int m, struct ys_result *result)
{
    const char *name = ys_compared[m];
    const bool fraction = is_difference(m), learned = is_learned(m);
    double margin = fraction ? YS_METRIC_ACCURACY_MARGIN : pair->margin;
    char reason[400];
    bool invalid = !may_conclude(pair->a, pair->b, learned, reason, sizeof reason);
    struct ys_comparison found;
    struct judged beside;
    YS_TRY(judge(pair, m, margin, &found, &beside));
    if (invalid) {
        found = ys_compare_invalid(found.n, reason);
        beside = (struct judged){NAN, YS_TAKEN_NOTHING, beside.moment};
    }
    const struct ys_metric_info *info = ys_metric_find(name);
    const struct ys_trial_record *a = pair->a->record, *b = pair->b->record;
    struct ys_result_comparison *comparison = add_comparison(result);
    char *kept = ys_strdup(found.reason);
    if (!comparison || (found.reason && !kept)) {
        ys_free(kept);
        return ys_out_of_memory();
    }
    comparison->interval = found.interval;
    comparison->single = found.single;
    comparison->settled = found.settled;
    comparison->told = (struct ys_comparison_record){
        .metric = borrowed(name),
        .a = a->id,
        .b = b->id,
        .a_index = a->index,
        .b_index = b->index,
        .varies = borrowed(pair->varies),
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
        .reason = kept,
        .a_value = median_of(pair->a, m),
        .b_value = median_of(pair->b, m),
        .unit = borrowed(info->unit),
        .better = (int)info->better};
    result->comparison_count++;
    return YS_OK;
}

/* Trials that never ran are rows of their own; there is nothing to compare. A metric that neither has neither. */
static ys_status compare_pair(const struct pair *pair, struct ys_result *result)
{
    if (pair->a->counted == 0 || pair->b->counted == 0)
        return YS_OK;
    bool failed = pair->a->failed == pair->a->counted || pair->b->failed == pair->b->counted;
    for (int m = 0; m < YS_COMPARED; m++) {
        bool known = !isnan(median_of(pair->a, m)) && !isnan(median_of(pair->b, m));
        if (!known && !(failed && m == 0))
            continue;
        YS_TRY(compare_one(pair, m, result));
        struct ys_result_comparison *comparison = &result->comparisons[result->comparison_count - 1];
        tell_scaling(pair, m, comparison);
        YS_TRY(tell_exposed(pair, m, comparison));
    }
    return YS_OK;
}

/* A pair that is to be compared: places of its trials in the job. */
struct chosen {
    size_t a, b;
    const char *varies;
};

struct choice {
    const struct ys_metric_view *view;
    bool all;
    struct chosen *pairs;
    size_t count, capacity;
};

/* Along `ranks` speed-up is told against it. */
static bool is_one_process(const struct ys_metric_view *view, const char *axis, size_t trial)
{
    return strcmp(axis, "ranks") == 0 && ys_settings_ranks(&view->trials[trial].record->keys) == 1;
}

static ys_status choose(struct choice *choice, const char *axis, size_t one, size_t other)
{
    const size_t later = one > other ? one : other, earlier = one > other ? other : one;
    const bool is_base = is_one_process(choice->view, axis, later);
    const size_t a = is_base ? earlier : later, b = is_base ? later : earlier;
    const char *varies = ys_pair_varies(choice->view->trials[a].record, choice->view->trials[b].record);
    if (!varies || strcmp(varies, axis) != 0)
        return YS_OK;
    struct chosen *pairs = ys_grown(choice->pairs, choice->count, &choice->capacity, sizeof *pairs);
    if (!pairs)
        return ys_out_of_memory();
    choice->pairs = pairs;
    choice->pairs[choice->count++] = (struct chosen){a, b, varies};
    return YS_OK;
}

/* A trial and what it is apart from one factor: equal texts are a group. */
struct member {
    char *rest;
    size_t trial;
};

static int by_rest(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    int order = strcmp(x->rest, y->rest);
    return order ? order : (x->trial > y->trial) - (x->trial < y->trial);
}

/* The section and all factors but `axis`, as one text; NULL without memory. */
static char *rest_of(const struct ys_trial_record *trial, const char *axis)
{
    bool frameworks = strcmp(axis, "framework") == 0;
    const ys_json *factors = trial->factors;
    ys_json *rest = ys_json_object();
    ys_status status = YS_OK;
    for (void *it = ys_json_iter(factors); it; it = ys_json_next(factors, it)) {
        const char *factor = ys_json_iter_key(it);
        if (strcmp(factor, axis) != 0 && counts(factor, frameworks))
            ys_put_ref(&status, rest, factor, ys_json_iter_value(it));
    }
    ys_put_text(&status, rest, "", or_empty(trial->section)); /* no factor has this name */
    char *text = status == YS_OK ? ys_json_dump(rest, YS_JSON_SORTED) : NULL;
    ys_json_free(rest);
    return text;
}

/* How much comparing with this trial can say: nothing, when it never ran. */
static int worth_of(const struct ys_metric_view_trial *trial)
{
    char reason[400];
    if (trial->counted == 0)
        return 0;
    return 1 + 2 * !has_fault(trial, NULL, reason, sizeof reason) + !isnan(median_of(trial, 0));
}

/* The first of those that say most; along `ranks` that of one process, where it is one of them. */
static const struct member *base_of(const struct ys_metric_view *view, const char *axis, const struct member *group,
                                    size_t size)
{
    const struct member *base = &group[0];
    int most = -1;
    for (size_t i = 0; i < size; i++) {
        const size_t trial = group[i].trial;
        const int worth = 2 * worth_of(&view->trials[trial]) + is_one_process(view, axis, trial);
        base = worth > most ? &group[i] : base;
        most = worth > most ? worth : most;
    }
    return base;
}

static ys_status choose_in_group(struct choice *choice, const char *axis, const struct member *group, size_t size)
{
    const struct member *base = base_of(choice->view, axis, group, size);
    for (size_t i = 0; i < size; i++) {
        for (size_t k = 0; choice->all && k < i; k++)
            YS_TRY(choose(choice, axis, group[i].trial, group[k].trial));
        if (!choice->all && &group[i] != base)
            YS_TRY(choose(choice, axis, group[i].trial, base->trial));
    }
    return YS_OK;
}

static ys_status choose_along(struct choice *choice, const char *axis)
{
    const struct ys_metric_view *view = choice->view;
    struct member *members = ys_alloc(view->trial_count, sizeof *members);
    size_t count = 0;
    ys_status status = members ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < view->trial_count; i++) {
        char *rest = rest_of(view->trials[i].record, axis);
        if (rest)
            members[count++] = (struct member){rest, i};
        else
            status = ys_out_of_memory();
    }
    if (status == YS_OK)
        qsort(members, count, sizeof *members, by_rest);
    for (size_t first = 0, next; status == YS_OK && first < count; first = next) {
        for (next = first + 1; next < count && strcmp(members[next].rest, members[first].rest) == 0; next++)
            ;
        status = choose_in_group(choice, axis, &members[first], next - first);
    }
    for (size_t i = 0; i < count; i++)
        ys_free(members[i].rest);
    ys_free(members);
    return status;
}

/* Frameworks first, then in the order of the job. */
static int by_place(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;
    int frameworks = (strcmp(y->varies, "framework") == 0) - (strcmp(x->varies, "framework") == 0);
    if (frameworks)
        return frameworks;
    return x->a != y->a ? (x->a > y->a) - (x->a < y->a) : (x->b > y->b) - (x->b < y->b);
}

static ys_status choose_pairs(struct choice *choice)
{
    ys_json *axes = ys_json_object(); /* {name: true} */
    ys_status status = axes ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < choice->view->trial_count; i++) {
        const ys_json *factors = choice->view->trials[i].record->factors;
        for (void *it = ys_json_iter(factors); it; it = ys_json_next(factors, it))
            ys_put_bool(&status, axes, ys_json_iter_key(it), true);
    }
    for (void *it = ys_json_iter(axes); status == YS_OK && it; it = ys_json_next(axes, it))
        status = choose_along(choice, ys_json_iter_key(it));
    ys_json_free(axes);
    if (status == YS_OK && choice->count > 0)
        qsort(choice->pairs, choice->count, sizeof *choice->pairs, by_place);
    return status;
}

/* As of a moment, of each chosen pair and metric by how much its interval is stretched: [pair * YS_COMPARED + metric].
 */
static ys_status stretch_at(const struct choice *choice, const struct ys_moments *moments, size_t moment,
                            double *stretch)
{
    const bool is_last = moment + 1 == moments->count;
    const struct ys_metric_view *view = choice->view;
    struct ys_family_pair *pairs = ys_alloc(choice->count, sizeof *pairs);
    double **places = ys_alloc(choice->count, sizeof *places);
    ys_status status = pairs && places ? YS_OK : ys_out_of_memory();
    char reason[400];
    for (int m = 0; status == YS_OK && m < YS_COMPARED; m++) {
        const bool learned = is_learned(m);
        size_t count = 0;
        for (size_t i = 0; i < choice->count; i++) {
            const struct chosen *chosen = &choice->pairs[i];
            stretch[i * YS_COMPARED + (size_t)m] = 1;
            if (!is_last && !ys_moments_decide(moments, &view->trials[chosen->a], m))
                continue;
            if (!may_conclude(&view->trials[chosen->a], &view->trials[chosen->b], learned, reason, sizeof reason))
                continue;
            pairs[count] = (struct ys_family_pair){chosen->a, chosen->b};
            places[count++] = &stretch[i * YS_COMPARED + (size_t)m];
        }
        status = ys_together_stretch(view, &moments->items[moment], pairs, count, m, !learned, places);
    }
    ys_free(pairs);
    ys_free(places);
    return status;
}

static ys_status take_two(const struct ys_metric_view *view, struct ys_list *ratios, struct ys_list *biases)
{
    struct matched rounds;
    ys_status status = match(&view->trials[0], &view->trials[1], 0, INT64_MAX, &rounds);
    double *of = status == YS_OK ? ys_alloc(rounds.n, sizeof *of) : NULL,
           *left = status == YS_OK ? ys_alloc(rounds.n, sizeof *left) : NULL;
    for (size_t i = 0; of && left && i < rounds.n; i++) {
        of[i] = rounds.a[i] / rounds.b[i];
        left[i] = rounds.bias[i];
    }
    *ratios = (struct ys_list){of, of && left ? rounds.n : 0};
    *biases = (struct ys_list){left, of && left && rounds.bias_known == rounds.n ? rounds.n : 0};
    ys_free(rounds.a);
    return status == YS_OK && !(of && left) ? ys_out_of_memory() : status;
}

ys_status ys_metric_rounds_of_two(struct ys_store *store, int64_t study_id, struct ys_list *ratios,
                                  struct ys_list *biases)
{
    struct ys_metric_view view;
    *ratios = *biases = (struct ys_list){0};
    YS_TRY(ys_metric_view_load(store, study_id, &view));
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < 2 && i < view.trial_count; i++) {
        status = ys_metric_view_trial_load(store, &view, &view.trials[i]);
        if (status == YS_OK)
            ys_metric_view_trial_unload(&view.trials[i]);
    }
    if (status == YS_OK && view.trial_count > 1)
        status = take_two(&view, ratios, biases);
    ys_metric_view_fini(&view);
    return status;
}

ys_status ys_pair_comparisons(const struct ys_metric_view *view, bool all, struct ys_result *result)
{
    struct choice choice = {.view = view, .all = all};
    const struct ys_moments moments = ys_moments_of(view);
    double *stretch = NULL;
    ys_status status = choose_pairs(&choice);
    const size_t each = choice.count * YS_COMPARED;
    if (status == YS_OK && !(stretch = ys_alloc(each * moments.count, sizeof *stretch)))
        status = ys_out_of_memory();
    for (size_t k = 0; status == YS_OK && k < moments.count; k++)
        status = stretch_at(&choice, &moments, k, &stretch[k * each]);
    for (size_t i = 0; status == YS_OK && i < choice.count; i++) {
        const struct chosen *chosen = &choice.pairs[i];
        struct pair pair = {.a = &view->trials[chosen->a],
                            .b = &view->trials[chosen->b],
                            .varies = chosen->varies,
                            .margin = view->told.job.margin,
                            .moments = &moments};
        for (size_t k = 0; k < moments.count; k++)
            pair.stretch[k] = &stretch[k * each + i * YS_COMPARED];
        status = compare_pair(&pair, result);
    }
    ys_free(stretch);
    ys_free(choice.pairs);
    return status;
}
