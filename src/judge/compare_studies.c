#include "judge/study_pair.h"

#include "base/mem.h"
#include "judge/judge_parts.h"
#include "metric/metric.h"
#include "store/stored_trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define UNBOUNDED "nothing that both studies measured alike bounds how the machine changed between them"

struct judging {
    const struct ys_side *base, *candidate;
    double margin;
    const char *metric; /* NULL: those that are always compared */
    struct ys_judged *judged;
};

void ys_judge_tell_side(const struct ys_side *side, struct ys_judged_side *told)
{
    told->id = side->store ? side->result.study.id : YS_FIELD_NONE;
    ys_set_text(&told->selector, side->word);
    ys_set_text(&told->name, side->result.study.name);
    ys_set_text(&told->started, side->result.study.started);
    ys_set_text(&told->version, side->result.study.version);
}

void ys_judge_set_ends(struct ys_list *list, const struct ys_interval *interval)
{
    double *ends;
    if (!interval->known || !isfinite(interval->lo) || !isfinite(interval->hi))
        return;
    ends = list->items = ys_alloc(2, sizeof *ends);
    ends[0] = interval->lo;
    ends[1] = interval->hi;
    list->count = 2;
}

bool ys_judge_may_drift(const struct ys_metric_info *info)
{
    return info->kind == YS_KIND_SPAN || info->kind == YS_KIND_RATE;
}

/* If the machine became faster by `bound`, that much of the ratio is not the candidate's doing. */
static void widen(struct ys_interval *interval, const struct ys_interval *bound)
{
    interval->lo /= fmax(1, bound->hi);
    interval->hi /= fmin(1, bound->lo);
}

static struct ys_compare_ends ends_of(const struct ys_interval *interval, double low, double high)
{
    return (struct ys_compare_ends){interval->lo, interval->hi, low, high};
}

/* Of both intervals alike, and of both with the runs put back that were left out. */
static int verdict_of(const struct ys_apart *apart, const struct ys_metric_info *info, double low, double high,
                      const char **reason)
{
    const struct ys_compare_ends on = ends_of(&apart->centre.interval, low, high),
                                 without = ends_of(&apart->settled.interval, low, high),
                                 restored = ends_of(&apart->restored, low, high),
                                 restored_without = ends_of(&apart->restored_settled, low, high);
    const char *other;
    const enum ys_verdict verdict =
        ys_compare_verdict_settled(&on, info->of_steady ? &without : NULL, info->better, reason);
    if (!apart->put_back || verdict == YS_VERDICT_UNCLEAR ||
        ys_compare_verdict_settled(&restored, info->of_steady ? &restored_without : NULL, info->better, &other) ==
            verdict)
        return (int)verdict;
    *reason = YS_COMPARE_HANGS;
    return YS_VERDICT_UNCLEAR;
}

static void widen_all(struct ys_apart *apart, const struct ys_interval *bound)
{
    widen(&apart->centre.interval, bound);
    widen(&apart->settled.interval, bound);
    widen(&apart->restored, bound);
    widen(&apart->restored_settled, bound);
}

/* `bound`: by what ratio the machine may have changed. */
static void conclude(const struct judging *judging, const struct ys_metric_info *info,
                     const struct ys_judged_pair *pair, struct ys_apart *apart, const struct ys_interval *bound,
                     struct ys_judged_metric *told)
{
    const struct ys_interval *interval = &apart->centre.interval;
    bool fraction = told->scale == YS_SCALE_DIFFERENCE, drifts = ys_judge_may_drift(info);
    double margin = fraction ? YS_METRIC_ACCURACY_MARGIN : judging->margin;
    const char *reason = pair->invalid;
    if (drifts && bound->known)
        widen_all(apart, bound);
    told->margin = margin;
    const double low = fraction ? -margin : 1 / (1 + margin), high = fraction ? margin : 1 + margin;
    told->verdict = reason ? YS_VERDICT_INVALID : YS_VERDICT_UNCLEAR;
    if (!reason && apart->most_out)
        reason = YS_COMPARE_MOST_OUT;
    else if (!reason && !interval->known)
        reason = apart->left_out ? YS_COMPARE_FEW_LEFT : "fewer than 6 successful runs on one side give no interval";
    else if (!reason && drifts && !bound->known)
        reason = UNBOUNDED;
    else if (!reason && told->is_untold)
        reason = YS_COMPARE_UNTOLD;
    else if (!reason)
        told->verdict = verdict_of(apart, info, low, high, &reason);
    told->level = interval->known ? interval->level : NAN;
    told->disturbed = (int64_t)apart->disturbed;
    told->left_out = (int64_t)apart->left_out;
    told->is_put_back = apart->put_back > 0;
    told->most_out = apart->most_out;
    memcpy(told->restored, (double[]){apart->restored.lo, apart->restored.hi}, sizeof told->restored);
    memcpy(told->restored_settled, (double[]){apart->restored_settled.lo, apart->restored_settled.hi},
           sizeof told->restored_settled);
    ys_judge_set_ends(&told->ci, interval);
    ys_judge_set_ends(&told->settled_ci, &apart->settled.interval);
    if (drifts)
        ys_judge_set_ends(&told->drift, bound);
    ys_set_text(&told->reason, reason);
}

/* Whether what was learned is matched by seed: the same work from the same seeds. */
static bool is_by_seed(const struct judging *judging, const struct ys_judged_pair *pair,
                       const struct ys_metric_info *info)
{
    const int64_t seed = judging->base->result.study.seed;
    return info->learning && !ys_judge_may_drift(info) && pair->other.count == 0 && seed != YS_FIELD_NONE &&
           seed == judging->candidate->result.study.seed;
}

static void judge_metric(const struct judging *judging, const size_t places[2], size_t metric,
                         const struct ys_drift *drift, struct ys_judged_pair *pair)
{
    size_t count;
    const struct ys_metric_info *info = &ys_metric_infos(&count)[metric];
    const struct ys_result_trial *base = &judging->base->result.trials[places[0]],
                                 *candidate = &judging->candidate->result.trials[places[1]];
    const struct ys_trial_metric *a = &base->values[metric], *b = &candidate->values[metric];
    struct ys_apart apart;
    struct ys_interval bound;
    bool fraction = info->kind == YS_KIND_SHARE;
    if (a->n == 0 && b->n == 0)
        return;
    struct ys_judged_metric *told = ys_list_add(&ys_judged_metric_record, &pair->metrics);
    ys_set_text(&told->metric, info->name);
    ys_set_text(&told->unit, info->unit);
    ys_judge_apart(base, candidate, metric, fraction, is_by_seed(judging, pair, info), &apart);
    told->is_untold = info->of_steady && isfinite(apart.centre.value) && isnan(apart.settled.value);
    ys_drift_bound(drift, judging->base, judging->candidate, metric, &bound);
    told->better = (int)info->better;
    told->scale = fraction ? YS_SCALE_DIFFERENCE : YS_SCALE_RATIO;
    told->base_value = a->n ? a->summary.median : NAN;
    told->candidate_value = b->n ? b->summary.median : NAN;
    told->base_n = (int64_t)a->n;
    told->candidate_n = (int64_t)b->n;
    told->ratio = fraction ? NAN : apart.centre.value;
    told->difference = fraction ? apart.centre.value : NAN;
    conclude(judging, info, pair, &apart, &bound, told);
}

const char *ys_judge_proof_word(const struct ys_result_trial *trial)
{
    return ys_name_of(&ys_proof_verdicts, (int)ys_stored_verdict(trial->proof));
}

char *ys_judge_fault(const struct ys_result_trial *trial, const char *side)
{
    const enum ys_proof_verdict verdict = ys_stored_verdict(trial->proof);
    const char *of = side ? " of the " : "";
    side = side ? side : "";
    if (trial->framework && trial->framework->no_work)
        return ys_format("%s%s%s does no work", trial->id, of, side);
    if (trial->runs == trial->failed)
        return ys_format("no run of %s%s%s succeeded: %s", trial->id, of, side,
                         ys_name_of(&ys_run_statuses, trial->status));
    if (verdict == YS_PROOF_PASS || verdict == YS_PROOF_WEAK)
        return NULL;
    return ys_format("%s %s%s%s does the work that was asked for",
                     verdict == YS_PROOF_FAIL ? "the proof failed that" : "there is no proof that", trial->id, of,
                     side);
}

static void find_faults(const struct ys_result_trial *base, const struct ys_result_trial *candidate,
                        struct ys_judged_pair *pair)
{
    const struct ys_judged_difference *other = pair->other.items;
    pair->base_fault = ys_judge_fault(base, "base");
    pair->candidate_fault = ys_judge_fault(candidate, "candidate");
    ys_set_text(&pair->invalid, pair->base_fault ? pair->base_fault : pair->candidate_fault);
    if (!pair->invalid && pair->other.count > 0)
        pair->invalid =
            ys_format("not the same work: %s is %s there and %s here", other->what,
                      other->base ? other->base : "not set", other->candidate ? other->candidate : "not set");
}

/* What would have bounded it, by why the anchors do not. */
static const char *const unbounded[] = {
    [YS_ANCHORS_LACK] = UNBOUNDED ": have the built-in engine as a trial in both, or anchor = on",
    [YS_ANCHORS_OF_OTHER_CPU] = UNBOUNDED ", and anchors of two models of processor, or of unknown ones, "
                                          "are not compared: have the built-in engine as a trial in both",
    [YS_ANCHORS_OF_OTHER_KERNELS] = UNBOUNDED ", and anchors of two versions or compilers are not compared: measure "
                                              "both with one build of yardstick, or have the built-in engine as a "
                                              "trial in both",
};

static void tell_drift(const struct judging *judging, const struct ys_drift *drift, struct ys_judged_pair *pair)
{
    const bool anchored = drift->anchored == YS_ANCHORS_COMPARED;
    if (drift->none)
        pair->drift = ys_strdup("both are of one study: no drift lies between them");
    else if (drift->count && anchored)
        pair->drift =
            ys_format("drift is bounded by %s, which both studies measured alike, and by the anchors: the "
                      "machine was %.3f to %.3f times as fast",
                      judging->base->result.trials[drift->places[0][0]].id, drift->anchors[0], drift->anchors[1]);
    else if (drift->count)
        pair->drift = ys_format("drift is bounded by %s, which both studies measured alike",
                                judging->base->result.trials[drift->places[0][0]].id);
    else if (anchored)
        pair->drift = ys_format("drift is bounded by the anchors alone: the machine was %.3f to %.3f times as fast",
                                drift->anchors[0], drift->anchors[1]);
    else if (pair->reference)
        pair->drift = ys_strdup("the same engine in both: what its times differ is the machine's doing, or chance");
    else
        pair->drift = ys_strdup(unbounded[drift->anchored]);
}

static void judge_metrics(const struct judging *judging, const size_t places[2], const struct ys_drift *drift,
                          struct ys_judged_pair *pair)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    if (judging->metric) {
        judge_metric(judging, places, (size_t)(ys_metric_find(judging->metric) - infos), drift, pair);
        return;
    }
    for (size_t m = 0; m < YS_COMPARED; m++)
        if (!ys_compared_of_target((int)m)) /* by rounds of one study alone, which know how fine they are */
            judge_metric(judging, places, (size_t)(ys_metric_find(ys_compared[m]) - infos), drift, pair);
}

static void judge_pair(const struct judging *judging, size_t of_base, size_t of_candidate)
{
    const struct ys_result_trial *base = &judging->base->result.trials[of_base],
                                 *candidate = &judging->candidate->result.trials[of_candidate];
    struct ys_judged_pair *pair = ys_list_add(&ys_judged_pair_record, &judging->judged->pairs);
    struct ys_drift drift;
    ys_set_text(&pair->base, base->id);
    ys_set_text(&pair->candidate, candidate->id);
    ys_judge_differ_trials(base, candidate, &pair->differences);
    ys_judge_differ_observed(base, candidate, &pair->differences);
    ys_judge_differ_work(judging->base, base, judging->candidate, candidate, &pair->other);
    find_faults(base, candidate, pair);
    ys_drift_find(judging->base, of_base, judging->candidate, of_candidate, &drift);
    pair->reference = ys_drift_is_reference(judging->base, of_base, judging->candidate, of_candidate);
    tell_drift(judging, &drift, pair);
    judge_metrics(judging, (const size_t[]){of_base, of_candidate}, &drift, pair);
}

static bool takes_part(const struct ys_side *side, size_t place)
{
    return side->trial == YS_FIELD_NONE || (size_t)side->trial == place;
}

static size_t count_of(const struct ys_side *side)
{
    return side->trial == YS_FIELD_NONE ? side->result.trial_count : 1;
}

/* The other side's trial of that name; false when it has none. */
static bool partner(const struct ys_side *side, const char *name, size_t *place)
{
    for (*place = 0; *place < side->result.trial_count; (*place)++)
        if (takes_part(side, *place) && strcmp(side->result.trials[*place].id, name) == 0)
            return true;
    return false;
}

static void add_lonely(const struct ys_side *side, const struct ys_side *other, struct ys_list *only)
{
    for (size_t i = 0; i < side->result.trial_count; i++) {
        size_t place;
        if (takes_part(side, i) && !partner(other, side->result.trials[i].id, &place))
            ys_list_add_text(only, side->result.trials[i].id);
    }
}

static void pair_all(const struct judging *judging)
{
    const struct ys_side *base = judging->base, *candidate = judging->candidate;
    if (count_of(base) == 1 && count_of(candidate) == 1) {
        judge_pair(judging, base->trial == YS_FIELD_NONE ? 0 : (size_t)base->trial,
                   candidate->trial == YS_FIELD_NONE ? 0 : (size_t)candidate->trial);
        return;
    }
    for (size_t i = 0; i < base->result.trial_count; i++) {
        size_t place;
        if (takes_part(base, i) && partner(candidate, base->result.trials[i].id, &place))
            judge_pair(judging, i, place);
    }
    add_lonely(base, candidate, &judging->judged->only_base);
    add_lonely(candidate, base, &judging->judged->only_candidate);
}

void ys_judge_two(const struct ys_side *base, const struct ys_side *candidate, double margin, const char *metric,
                  struct ys_judged *judged)
{
    const struct judging judging = {base, candidate, isnan(margin) ? base->result.study.margin : margin, metric,
                                    judged};
    struct ys_interval machine = {.known = true};
    double ends[2];
    ys_record_init(&ys_judged_record, judged);
    ys_set_text(&judged->schema, YS_JUDGE_SCHEMA);
    ys_judge_tell_side(base, &judged->base);
    ys_judge_tell_side(candidate, &judged->candidate);
    ys_judge_differ_studies(base, candidate, &judged->differences);
    if (ys_drift_anchors(base, candidate, ends) == YS_ANCHORS_COMPARED) {
        machine.lo = ends[0];
        machine.hi = ends[1];
        ys_judge_set_ends(&judged->anchors, &machine);
    }
    pair_all(&judging);
}

/* Runs from which the machine took a known time, and those of which nobody knows. */
static void count_disturbed(const double *parts, size_t n, struct ys_judged_metric *told)
{
    for (size_t i = 0; i < n; i++) {
        told->disturbed += parts[i] > 0;
        told->left_out += isnan(parts[i]);
    }
}

void ys_judged_confirm(struct ys_judged_pair *pair, const struct ys_judged_metric *metric,
                       const struct ys_compare_rounds *rounds)
{
    const bool fraction = metric->scale == YS_SCALE_DIFFERENCE;
    const struct ys_compare_rule rule = {
        .better = (enum ys_better)metric->better, .difference = fraction, .margin = metric->margin, .stretch = 1};
    const size_t n = rounds->n - rounds->again;
    struct ys_comparison found;
    struct ys_judged_metric *told = ys_list_add(&ys_judged_metric_record, &pair->confirmed);
    double *scratch = ys_alloc(rounds->n + 1, sizeof *scratch);
    ys_compare_rounds(rounds, rule, ys_metric_find(metric->metric)->kind == YS_KIND_RATE, &found);
    told->better = metric->better;
    told->scale = metric->scale;
    told->base_value = ys_stat_median(rounds->b, n, scratch);
    told->candidate_value = ys_stat_median(rounds->a, n, scratch);
    told->base_n = told->candidate_n = (int64_t)n;
    told->ratio = fraction ? NAN : found.value;
    told->difference = fraction ? found.value : NAN;
    told->level = found.interval.known ? found.interval.level : NAN;
    told->disturbed = told->left_out = 0;
    count_disturbed(rounds->of_a, n, told);
    count_disturbed(rounds->of_b, n, told);
    told->margin = metric->margin;
    told->verdict = (int)found.verdict;
    ys_set_text(&told->metric, metric->metric);
    ys_free(scratch);
    ys_set_text(&told->unit, metric->unit);
    ys_judge_set_ends(&told->ci, &found.interval);
    ys_judge_set_ends(&told->settled_ci, &found.settled);
    ys_set_text(&told->reason, found.reason);
}
