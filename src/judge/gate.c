#include "judge/gate.h"

#include "base/mem.h"
#include "judge/judge_parts.h"
#include "metric/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const outcome_words[] = {"holds", "broken", "open"};
const struct ys_names ys_gate_outcomes = YS_NAMES("outcome", outcome_words);

struct gating {
    const struct ys_side *base, *candidate;
    const struct ys_rules *rules;
    struct ys_gate *gate;
};

static void add_check(const struct gating *gating, const char *trial, const struct ys_rule *rule, int outcome,
                      const char *reason, struct ys_gate_check **made)
{
    struct ys_gate_check *check = ys_list_add(&ys_gate_check_record, &gating->gate->checks);
    check->trial = ys_strdup(trial);
    check->rule = ys_strdup(rule->text);
    check->reason = ys_strdup(reason);
    check->outcome = outcome;
    if (made)
        *made = check;
}

/* A trial of which nothing can be told, by all rules. */
static void add_for_all(const struct gating *gating, const char *trial, int outcome, const char *reason)
{
    for (size_t i = 0; i < gating->rules->count; i++)
        add_check(gating, trial, &gating->rules->items[i], outcome, reason, NULL);
}

/* Where an interval of the metric lies against the rule's bound. */
static int outcome_of(const struct ys_rule *rule, const struct ys_judged_metric *metric, const double ci[2])
{
    double bound = metric->scale == YS_SCALE_RATIO ? 1 + rule->change : rule->change;
    bool inside = rule->at_least ? ci[0] >= bound : ci[1] <= bound;
    bool outside = rule->at_least ? ci[1] < bound : ci[0] > bound;
    return inside ? YS_GATE_HOLDS : outside ? YS_GATE_BROKEN : YS_GATE_OPEN;
}

/* Of the runs that count; *reason where it is open. */
static int outcome_of_metric(const struct ys_rule *rule, const struct ys_judged_metric *metric, const char **reason)
{
    const bool is_settled = metric->settled_ci.count == 2;
    const int outcome = outcome_of(rule, metric, metric->ci.items);
    *reason = NULL;
    if (is_settled && outcome_of(rule, metric, metric->settled_ci.items) != outcome)
        *reason = YS_COMPARE_BIASED;
    else if (outcome == YS_GATE_OPEN)
        *reason = "the interval reaches across the rule's bound: more runs, or a quieter machine";
    else if (metric->is_put_back && (outcome_of(rule, metric, metric->restored) != outcome ||
                                     (is_settled && outcome_of(rule, metric, metric->restored_settled) != outcome)))
        *reason = YS_COMPARE_HANGS;
    return *reason ? YS_GATE_OPEN : outcome;
}

static void check_metric(const struct gating *gating, const struct ys_rule *rule, const char *trial,
                         const struct ys_judged_metric *metric)
{
    struct ys_gate_check *check;
    const bool drifts = ys_judge_may_drift(ys_metric_find(rule->metric)) && metric->drift.count == 0;
    int outcome = YS_GATE_OPEN;
    const char *reason = NULL;
    if (metric->candidate_n == 0) {
        outcome = YS_GATE_BROKEN;
        reason = "the baseline has this metric, the candidate has it not";
    } else if (metric->base_n == 0) {
        reason = "the baseline does not have this metric";
    } else if (metric->ci.count != 2 || drifts || metric->is_untold || metric->most_out) {
        reason = metric->reason ? metric->reason : "there is no interval";
    } else {
        outcome = outcome_of_metric(rule, metric, &reason);
    }
    add_check(gating, trial, rule, outcome, reason, &check);
    check->base_value = metric->base_value;
    check->candidate_value = metric->candidate_value;
    check->scale = metric->scale;
    check->ratio = metric->ratio;
    check->difference = metric->difference;
    check->ci = metric->ci;
    check->settled_ci = metric->settled_ci;
    check->is_untold = metric->is_untold;
}

static ys_status refuse_other_work(const struct gating *gating, const struct ys_judged_pair *pair)
{
    return ys_fail(YS_EINVAL, "the baseline %s is of other work: %s: %s; measure a baseline anew with this job",
                   gating->base->word, pair->candidate, pair->invalid);
}

static ys_status check_pair(const struct gating *gating, const struct ys_rule *rule, struct ys_judged_pair *pair)
{
    struct ys_judged_metric *metric = pair->metrics.items;
    if (pair->base_fault || pair->candidate_fault) {
        add_check(gating, pair->base, rule, pair->base_fault ? YS_GATE_OPEN : YS_GATE_BROKEN,
                  pair->base_fault ? pair->base_fault : pair->candidate_fault, NULL);
        return YS_OK;
    }
    if (pair->other.count)
        return refuse_other_work(gating, pair);
    /* Of neither, such as a latency of a training; or the very measure of drift, of which no drift can be told. */
    if (pair->metrics.count == 0 || (pair->reference && ys_judge_may_drift(ys_metric_find(rule->metric))))
        return YS_OK;
    check_metric(gating, rule, pair->base, metric);
    metric->ci = metric->settled_ci = (struct ys_list){0}; /* the check's now */
    return YS_OK;
}

static ys_status check_rule(const struct gating *gating, const struct ys_rule *rule)
{
    struct ys_judged judged;
    ys_judge_two(gating->base, gating->candidate, NAN, rule->metric, &judged);
    ys_status status = YS_OK;
    struct ys_judged_pair *pairs = judged.pairs.items;
    for (size_t i = 0; status == YS_OK && i < judged.pairs.count; i++)
        status = check_pair(gating, rule, &pairs[i]);
    ys_record_fini(&ys_judged_record, &judged);
    return status;
}

/* Trials of one side only, and what the two are. */
static ys_status take_frame(const struct gating *gating)
{
    struct ys_judged judged;
    struct ys_gate *gate = gating->gate;
    ys_judge_two(gating->base, gating->candidate, NAN, "rate_per_s", &judged);
    ys_status status = YS_OK;
    if (judged.pairs.count == 0)
        status = ys_fail(YS_EINVAL, "%s and %s have no trial in common: `yardstick show` lists those of each",
                         gating->base->word, gating->candidate->word);
    char *const *lost = judged.only_base.items;
    for (size_t i = 0; status == YS_OK && i < judged.only_base.count; i++)
        add_for_all(gating, lost[i], YS_GATE_BROKEN, "the baseline has this trial, the candidate has it not");
    if (status == YS_OK) { /* moved, not copied */
        gate->base = judged.base;
        gate->candidate = judged.candidate;
        gate->differences = judged.differences;
        gate->added = judged.only_candidate;
        judged.base = judged.candidate = (struct ys_judged_side){.id = YS_FIELD_NONE};
        judged.differences = judged.only_candidate = (struct ys_list){0};
    }
    ys_record_fini(&ys_judged_record, &judged);
    return status;
}

void ys_gate_conclude(struct ys_gate *gate)
{
    ys_free(gate->sentence);
    gate->sentence = NULL;
    const struct ys_gate_check *checks = gate->checks.items, *first = NULL;
    size_t counts[3] = {0};
    for (size_t i = 0; i < gate->checks.count; i++)
        counts[checks[i].outcome]++;
    gate->outcome = counts[YS_GATE_BROKEN]                            ? YS_GATE_BROKEN
                    : counts[YS_GATE_OPEN] || gate->checks.count == 0 ? YS_GATE_OPEN
                                                                      : YS_GATE_HOLDS;
    for (size_t i = gate->checks.count; i-- > 0;)
        if (checks[i].outcome == gate->outcome)
            first = &checks[i];
    if (gate->outcome == YS_GATE_HOLDS)
        gate->sentence = gate->checks.count == 1 ? ys_strdup("The check holds.")
                                                 : ys_format("All %zu checks hold.", gate->checks.count);
    else if (!first)
        gate->sentence = ys_strdup("Nothing was checked: these trials have no metric of a rule, or the same engine is "
                                   "in both, whose times tell of the machine alone.");
    else
        gate->sentence =
            ys_format("%zu of %zu checks %s %s, the first: %s of %s%s%s.", counts[gate->outcome], gate->checks.count,
                      counts[gate->outcome] == 1 ? "is" : "are", ys_name_of(&ys_gate_outcomes, gate->outcome),
                      first->rule, first->trial, first->reason ? ": " : "", first->reason ? first->reason : "");
}

static ys_status judge(const struct gating *gating)
{
    gating->gate->schema = ys_strdup(YS_GATE_SCHEMA);
    YS_TRY(take_frame(gating));
    for (size_t i = 0; i < gating->rules->count; i++)
        YS_TRY(check_rule(gating, &gating->rules->items[i]));
    ys_gate_conclude(gating->gate);
    return YS_OK;
}

ys_status ys_gate_judge(const struct ys_side *base, const struct ys_side *candidate, const struct ys_rules *rules,
                        struct ys_gate *gate)
{
    const struct gating gating = {base, candidate, rules, gate};
    ys_record_init(&ys_gate_record, gate);
    ys_status status = judge(&gating);
    if (status != YS_OK)
        ys_record_fini(&ys_gate_record, gate);
    return status;
}

const size_t YS_GATE_ROUNDS[YS_GATE_LOOKS] = {8, 20, YS_GATE_ROUNDS_MOST};

bool ys_gate_is_suspect(const struct ys_gate_check *check)
{
    return check->outcome != YS_GATE_HOLDS && !check->is_untold && check->scale != YS_NAME_NONE &&
           isfinite(check->base_value) && isfinite(check->candidate_value);
}

/* How surely the rounds that count do not lie about the rule's bound, `bounds`, each. */
static double sureness_of(const struct ys_compare_rounds *rounds, const double *bounds, bool ratio)
{
    size_t n = 0;
    double *away = ys_alloc(rounds->n + 1, sizeof *away);
    for (size_t i = 0; i < rounds->n; i++) {
        const double one = ratio ? log(rounds->a[i] / bounds[i]) : rounds->a[i] - bounds[i];
        if (isfinite(one) && !isnan(rounds->of_a[i]) && !isnan(rounds->of_b[i]))
            away[n++] = one;
    }
    const double p = ys_signed_rank_p(away, n);
    ys_free(away);
    return p;
}

/* Of fresh rounds against the rule's bound: an interval at this level lies on one side of it just where the test says
 * so. */
static void compare_with_bound(const struct ys_rule *rule, bool ratio, const struct ys_compare_rounds *rounds,
                               double level, struct ys_comparison *found, double *p)
{
    const struct ys_compare_rule above = {
        .better = YS_BETTER_HIGHER, .difference = !ratio, .stretch = 1, .level = 1 - level};
    double *bounds = ys_alloc(rounds->n + 1, sizeof *bounds);
    struct ys_compare_rounds against = *rounds;
    for (size_t i = 0; i < rounds->n; i++)
        bounds[i] = ratio ? rounds->b[i] * (1 + rule->change) : rounds->b[i] + rule->change;
    against.b = bounds;
    ys_compare_rounds(&against, above, ys_metric_find(rule->metric)->kind == YS_KIND_RATE, found);
    *p = sureness_of(rounds, bounds, ratio);
    ys_free(bounds);
}

/* "8 fresh rounds of both in turn, 2 of them left out as the machine was busy with something else: 0.912x, p = 0.031".
 */
static char *say_rounds(const struct ys_gate_check *check, size_t left_out, const char *doubt)
{
    char change[32], without[96] = "";
    if (check->scale == YS_SCALE_RATIO)
        snprintf(change, sizeof change, "%.3fx", check->fresh_change);
    else
        snprintf(change, sizeof change, "%+.2f %%", 100 * check->fresh_change);
    if (left_out)
        snprintf(without, sizeof without, ", %zu of them left out as the machine was busy with something else",
                 left_out);
    return ys_format("%lld fresh rounds of both in turn%s: %s, p = %.2g%s%s", (long long)check->fresh_rounds, without,
                     change, check->fresh_p, doubt ? "; " : "", doubt ? doubt : "");
}

void ys_gate_confirm(struct ys_gate_check *check, const struct ys_rule *rule, const struct ys_compare_rounds *rounds,
                     double level)
{
    const bool ratio = check->scale == YS_SCALE_RATIO;
    struct ys_comparison found;
    compare_with_bound(rule, ratio, rounds, level, &found, &check->fresh_p);
    const bool is_above = found.verdict == YS_VERDICT_BETTER, is_told = is_above || found.verdict == YS_VERDICT_WORSE;
    check->fresh_rounds = (int64_t)(rounds->n - rounds->again);
    check->fresh_change = ratio ? found.value * (1 + rule->change) : found.value + rule->change;
    check->outcome = !is_told ? YS_GATE_OPEN : is_above == rule->at_least ? YS_GATE_HOLDS : YS_GATE_BROKEN;
    ys_free(check->reason);
    check->reason = say_rounds(check, found.left_out, !is_told && check->fresh_p <= level ? found.reason : NULL);
}
