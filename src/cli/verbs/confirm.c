#include "cli/verbs/confirm.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number_text.h"
#include "campaign/confirm_rounds.h"
#include "metric/metric.h"

#include <string.h>

enum { COMPARE_ROUNDS = 10 };
static const double USUAL_BUDGET_S = 600;

struct room {
    double lists[5][2 * YS_GATE_ROUNDS_MOST];
};

static struct ys_compare_rounds rounds_in(struct room *room)
{
    return (struct ys_compare_rounds){
        room->lists[0], room->lists[1], room->lists[2], room->lists[3], room->lists[4], 0, 0};
}

struct confirming {
    const struct ys_args *args;
    const struct ys_side *base, *candidate;
    uint64_t deadline_ns;
};

static ys_status begin(const struct ys_args *args, const struct ys_side *base, const struct ys_side *candidate,
                       struct confirming *confirming)
{
    double budget_s = USUAL_BUDGET_S;
    if (args->budget && (!ys_value_duration(args->budget, &budget_s) || !(budget_s > 0 && budget_s < 1e7)))
        return ys_fail(YS_EINVAL, "--budget=%s: write a time, such as 10min", args->budget);
    *confirming = (struct confirming){args, base, candidate, ys_time_ns() + (uint64_t)(budget_s * 1e9)};
    return YS_OK;
}

/* The trial of that name, or the only one that takes part; NULL where there is none. */
static const struct ys_result_trial *trial_of(const struct ys_side *side, const char *name)
{
    if (side->trial != YS_FIELD_NONE)
        return &side->result.trials[side->trial];
    for (size_t i = 0; i < side->result.trial_count; i++)
        if (strcmp(side->result.trials[i].id, name) == 0)
            return &side->result.trials[i];
    return side->result.trial_count == 1 ? side->result.trials : NULL;
}

static ys_status open_again(const struct confirming *confirming, const char *base, const char *candidate,
                            struct ys_again **again, char **reason)
{
    const struct ys_again_wish wish = {
        .trials = {trial_of(confirming->base, base), trial_of(confirming->candidate, candidate)},
        .recipe_dirs = confirming->args->recipe_dirs,
        .seed =
            confirming->candidate->result.study.seed == YS_FIELD_NONE ? 1 : confirming->candidate->result.study.seed,
        .on_disturbance = confirming->candidate->result.study.on_disturbance,
        .deadline_ns = confirming->deadline_ns};
    *again = NULL;
    *reason = NULL;
    if (wish.trials[0] && wish.trials[1])
        return ys_again_open(&wish, again, reason);
    *reason = ys_strdup("one side has no such trial");
    return YS_OK;
}

/* ---- gate */

static const struct ys_rule *rule_of(const struct ys_rules *rules, const struct ys_gate_check *check)
{
    for (size_t i = 0; i < rules->count; i++)
        if (strcmp(rules->items[i].text, check->rule) == 0)
            return &rules->items[i];
    return NULL;
}

/* The checks of one trial that fresh rounds may decide. */
struct suspects {
    struct ys_gate_check **checks;
    size_t count;
};

static void look(const struct ys_again *again, const struct ys_rules *rules, const struct suspects *suspects,
                 size_t *left)
{
    struct room room;
    *left = 0;
    for (size_t i = 0; i < suspects->count; i++) {
        struct ys_gate_check *check = suspects->checks[i];
        const struct ys_rule *rule = rule_of(rules, check);
        const bool decided = check->fresh_rounds != YS_FIELD_NONE && check->outcome != YS_GATE_OPEN;
        if (decided || !rule)
            continue;
        struct ys_compare_rounds rounds = rounds_in(&room);
        ys_again_values(again, rule->metric, &rounds);
        ys_gate_confirm(check, rule, &rounds, YS_GATE_LEVEL);
        *left += check->outcome == YS_GATE_OPEN;
    }
}

/* What was not looked at stays as it was, what looks left open stays open; both say why it went no further. */
static void leave(const struct suspects *suspects, const char *why)
{
    for (size_t i = 0; i < suspects->count; i++) {
        struct ys_gate_check *check = suspects->checks[i];
        const bool looked = check->fresh_rounds != YS_FIELD_NONE;
        if (looked && check->outcome != YS_GATE_OPEN)
            continue;
        const char *what = looked ? "no more of them" : "not confirmed";
        char *reason =
            check->reason ? ys_format("%s; %s: %s", check->reason, what, why) : ys_format("%s: %s", what, why);
        ys_free(check->reason);
        check->reason = reason;
    }
}

static ys_status confirm_trial(const struct confirming *confirming, const struct ys_rules *rules,
                               const struct suspects *suspects)
{
    struct ys_again *again;
    char *reason;
    size_t left = suspects->count;
    const char *name = suspects->checks[0]->trial;
    YS_TRY(open_again(confirming, name, name, &again, &reason));
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && again && !reason && left && i < YS_GATE_LOOKS; i++) {
        ys_log_info("%s: fresh rounds of both side by side, up to %zu", name, YS_GATE_ROUNDS[i]);
        status = ys_again_measure(again, YS_GATE_ROUNDS[i], &reason);
        if (status == YS_OK && !reason)
            look(again, rules, suspects, &left);
    }
    if (status == YS_OK && reason)
        leave(suspects, reason);
    ys_again_close(again);
    ys_free(reason);
    return status;
}

ys_status ys_confirm_gate(const struct ys_args *args, const struct ys_side *base, const struct ys_side *candidate,
                          const struct ys_rules *rules, struct ys_gate *gate)
{
    struct confirming confirming;
    struct ys_gate_check *checks = gate->checks.items;
    YS_TRY(begin(args, base, candidate, &confirming));
    struct ys_gate_check **list = ys_alloc(gate->checks.count + 1, sizeof(struct ys_gate_check *));
    bool *taken = ys_alloc(gate->checks.count + 1, sizeof *taken);
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < gate->checks.count; i++) {
        struct suspects suspects = {list, 0};
        for (size_t k = i; k < gate->checks.count; k++) {
            if (taken[k] || strcmp(checks[k].trial, checks[i].trial) != 0)
                continue;
            taken[k] = true;
            if (ys_gate_is_suspect(&checks[k]))
                list[suspects.count++] = &checks[k];
        }
        if (suspects.count)
            status = confirm_trial(&confirming, rules, &suspects);
    }
    ys_free(list);
    ys_free(taken);
    if (status != YS_OK)
        return status;
    ys_gate_conclude(gate);
    return YS_OK;
}

/* ---- compare */

static ys_status confirm_pair(const struct confirming *confirming, struct ys_judged_pair *pair)
{
    struct ys_again *again;
    struct room room;
    YS_TRY(open_again(confirming, pair->base, pair->candidate, &again, &pair->unconfirmed));
    if (!again)
        return YS_OK;
    ys_log_info("%s: %d fresh rounds of both side by side", pair->candidate, COMPARE_ROUNDS);
    ys_status status = ys_again_measure(again, COMPARE_ROUNDS, &pair->unconfirmed);
    const struct ys_judged_metric *metrics = pair->metrics.items;
    for (size_t i = 0; status == YS_OK && !pair->unconfirmed && i < pair->metrics.count; i++) {
        struct ys_compare_rounds rounds = rounds_in(&room);
        ys_again_values(again, metrics[i].metric, &rounds);
        if (rounds.n > rounds.again)
            ys_judged_confirm(pair, &metrics[i], &rounds);
    }
    ys_again_close(again);
    return status;
}

ys_status ys_confirm_judged(const struct ys_args *args, const struct ys_side *base, const struct ys_side *candidate,
                            struct ys_judged *judged)
{
    struct confirming confirming;
    struct ys_judged_pair *pairs = judged->pairs.items;
    YS_TRY(begin(args, base, candidate, &confirming));
    for (size_t i = 0; i < judged->pairs.count; i++)
        if (!pairs[i].invalid)
            YS_TRY(confirm_pair(&confirming, &pairs[i]));
    return YS_OK;
}
