#include "study/decide.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "metric/metric.h"
#include "metric/result_document.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

size_t ys_decide_looks(const struct ys_study *study, struct ys_look looks[YS_LOOKS_MOST])
{
    return study->decides ? ys_looks((size_t)study->keys.repeat_most, looks) : 0;
}

bool ys_decide_is_look(const struct ys_study *study, int64_t rounds)
{
    struct ys_look looks[YS_LOOKS_MOST];
    const size_t count = ys_decide_looks(study, looks);
    for (size_t i = 0; i < count; i++)
        if ((int64_t)looks[i].rounds == rounds)
            return true;
    return false;
}

/* How many of the comparisons by which the study is decided stand how. */
struct decision_counts {
    size_t of[YS_DECISION_NEVER + 1], all;
};

static struct decision_counts standing_of(const struct ys_result *result)
{
    struct decision_counts standing = {.all = 0};
    for (size_t i = 0; i < result->comparison_count; i++) {
        const int decision = result->comparisons[i].told.decision;
        if (decision == YS_NAME_NONE)
            continue;
        standing.of[decision]++;
        standing.all++;
    }
    return standing;
}

static const struct ys_result_trial *trial_at(const struct ys_result *result, int64_t index)
{
    for (size_t i = 0; i < result->trial_count; i++)
        if (result->trials[i].index == index)
            return &result->trials[i];
    return NULL;
}

/* "pytorch", of other factors "threads=2". */
static void put_factor(struct ys_buf *out, const char *factor, const ys_json *value)
{
    const bool is_framework = strcmp(factor, "framework") == 0;
    char *dumped = ys_json_dump(value, YS_JSON_COMPACT);
    ys_buf_printf(out, "%s%s%s", is_framework ? "" : factor, is_framework ? "" : "=", ys_json_text(value, dumped));
    ys_free(dumped);
}

/* What varies, then as far as `all` the other factors. */
static void put_trial(struct ys_buf *out, const struct ys_result_trial *trial, const char *varies, bool all)
{
    const ys_json *factors = trial ? trial->factors : NULL;
    put_factor(out, varies, ys_json_get(factors, varies));
    for (void *it = ys_json_iter(factors); all && it; it = ys_json_next(factors, it)) {
        if (strcmp(ys_json_iter_key(it), varies) == 0)
            continue;
        ys_buf_puts(out, " ");
        put_factor(out, ys_json_iter_key(it), ys_json_iter_value(it));
    }
}

/* "pytorch threads=2 0.48 to 0.55 of builtin, decided"; before the first look "pytorch 0.51 so far of builtin, open" */
static void put_comparison(struct ys_buf *out, const struct ys_result *result,
                           const struct ys_result_comparison *comparison)
{
    const struct ys_comparison_record *told = &comparison->told;
    const struct ys_interval *interval = &comparison->interval;
    const double value = told->scale == YS_SCALE_RATIO ? told->ratio : told->difference;
    put_trial(out, trial_at(result, told->a_index), told->varies, true);
    if (interval->known)
        ys_buf_printf(out, " %.3g to %.3g", interval->lo, interval->hi);
    else if (isfinite(value))
        ys_buf_printf(out, " %.3g so far", value);
    else
        ys_buf_puts(out, " not yet known");
    ys_buf_puts(out, told->scale == YS_SCALE_RATIO ? " of " : " beside ");
    put_trial(out, trial_at(result, told->b_index), told->varies, false);
    ys_buf_printf(out, ", %s", ys_name_of(&ys_decisions, told->decision));
}

/* Those of one decision. */
static void put_comparisons(struct ys_buf *out, const struct ys_result *result, int decision, const char *before)
{
    for (size_t i = 0; i < result->comparison_count; i++) {
        if (result->comparisons[i].told.decision != decision)
            continue;
        ys_buf_puts(out, before);
        put_comparison(out, result, &result->comparisons[i]);
        before = "; ";
    }
}

static ys_status load(const struct ys_study *study, struct ys_result *result)
{
    *result = (struct ys_result){0};
    return ys_metric_result_load(study->store, study->id, 0, result);
}

/* After the first round it is known how long one takes. */
static void warn_of_limit(const struct ys_study *study, int64_t rounds)
{
    struct ys_look looks[YS_LOOKS_MOST];
    (void)ys_decide_looks(study, looks);
    const double left_s = ((double)study->deadline_ns - (double)ys_time_ns()) * 1e-9, took_s = study->round_s;
    char span[2][32];
    if (rounds != 1 || !study->deadline_ns || took_s * (double)(looks[0].rounds - 1) <= left_s)
        return;
    ys_log_warn(
        "a round takes %s and the study's time limit leaves %s: it will end before the first look, which is after "
        "%zu rounds, and decide nothing; give it more time, or shorter runs",
        ys_span_text(took_s, span[0], sizeof span[0]), ys_span_text(fmax(left_s, 0), span[1], sizeof span[1]),
        looks[0].rounds);
}

ys_status ys_decide_tell(struct ys_study *study, int64_t rounds)
{
    struct ys_result result;
    if (!study->decides)
        return YS_OK;
    warn_of_limit(study, rounds);
    if (ys_progress_room() < 3)
        return YS_OK;
    YS_TRY(load(study, &result));
    struct ys_buf line = {0};
    ys_buf_printf(&line, "round %lld", (long long)rounds);
    const int order[] = {YS_DECISION_OPEN, YS_DECISION_MADE};
    for (size_t i = 0; i < 2; i++)
        put_comparisons(&line, &result, order[i], line.size > sizeof "round 9999" ? "; " : ": ");
    ys_free(study->live.known);
    study->live.known = ys_buf_take(&line);
    ys_result_fini(&result);
    ys_study_show_live(study);
    return YS_OK;
}

/* "after 7 rounds 3 of 4 comparisons are decided, 1 cannot be" */
static void say_standing(const struct ys_study *study, const struct decision_counts *standing, int64_t rounds,
                         const char *what)
{
    char never[60] = "";
    if (standing->of[YS_DECISION_NEVER])
        snprintf(never, sizeof never, ", %zu cannot be by more rounds", standing->of[YS_DECISION_NEVER]);
    ys_log_info("after %lld of at most %lld rounds %zu of %zu comparisons are decided%s%s", (long long)rounds,
                (long long)study->keys.repeat_most, standing->of[YS_DECISION_MADE], standing->all, never, what);
}

ys_status ys_decide_look(struct ys_study *study, int64_t rounds, bool *is_over)
{
    struct ys_result result;
    YS_TRY(load(study, &result));
    const struct decision_counts standing = standing_of(&result);
    ys_result_fini(&result);
    *is_over = standing.of[YS_DECISION_OPEN] == 0;
    if (*is_over)
        study->rounds = rounds;
    const bool is_last = rounds == study->keys.repeat_most;
    if (standing.all && !(is_last && !*is_over))
        say_standing(study, &standing, rounds, *is_over ? ": that ends the study" : "");
    return YS_OK;
}

ys_status ys_decide_end(const struct ys_study *study, int64_t rounds)
{
    struct ys_result result;
    struct ys_look looks[YS_LOOKS_MOST];
    if (!ys_decide_looks(study, looks))
        return YS_OK;
    YS_TRY(load(study, &result));
    const struct decision_counts standing = standing_of(&result);
    struct ys_buf open = {0};
    if (standing.of[YS_DECISION_OPEN])
        put_comparisons(&open, &result, YS_DECISION_OPEN, ": ");
    if (standing.of[YS_DECISION_OPEN])
        say_standing(study, &standing, rounds, ys_buf_text(&open));
    if (standing.of[YS_DECISION_OPEN] && rounds < (int64_t)looks[0].rounds)
        ys_log_warn("the study ended after %lld rounds, before the first look, which is after %zu: nothing is decided; "
                    "give it more time, or shorter runs",
                    (long long)rounds, looks[0].rounds);
    ys_buf_free(&open);
    ys_result_fini(&result);
    return YS_OK;
}
