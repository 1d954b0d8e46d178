#include "report/answer.h"

#include "job/quant.h"
#include "report/clean_text.h"

#include <math.h>
#include <string.h>

enum { MOST_NAMES = 3, MOST_ANSWERS = 3 };

/* ---- one trial against the best */

const struct ys_view_trial *ys_answer_fastest(const struct ys_view *view)
{
    const struct ys_view_trial *found = NULL;
    for (size_t i = 0; i < view->count; i++) {
        const double rate = ys_view_number(&view->trials[i], "rate_per_s");
        if (ys_view_counts(&view->trials[i]) && !view->trials[i].told->software && isfinite(rate) &&
            (!found || rate > ys_view_number(found, "rate_per_s")))
            found = &view->trials[i];
    }
    return found;
}

/* The comparison of a metric of two trials, by their ids, in which the first may be the second; NULL where there is
 * none. */
static const struct ys_result_comparison *find_comparison(const struct ys_view *view, const char *metric,
                                                          const char *trial, const char *other, bool *is_second)
{
    for (size_t i = 0; i < view->comparison_count; i++) {
        const struct ys_result_comparison *one = &view->comparisons[i];
        const char *a = ys_view_or(one->told.a, ""), *b = ys_view_or(one->told.b, "");
        if (strcmp(ys_view_or(one->told.metric, ""), metric) != 0)
            continue;
        *is_second = strcmp(b, trial) == 0 && strcmp(a, other) == 0;
        if (*is_second || (strcmp(a, trial) == 0 && strcmp(b, other) == 0))
            return one;
    }
    return NULL;
}

static const char *word_of(int verdict)
{
    switch (verdict) {
    case YS_VERDICT_BETTER:
        return "faster";
    case YS_VERDICT_WORSE:
        return "slower";
    case YS_VERDICT_SAME:
        return "as fast";
    case YS_VERDICT_UNCLEAR:
    case YS_VERDICT_INVALID:
        return ys_name_of(&ys_verdicts, verdict);
    default:
        return "not compared";
    }
}

/* The fastest of those that do the trial's work; NULL where there is none, or nobody but the trial has a speed. */
static const struct ys_view_trial *best_of_group(const struct ys_view *view, const struct ys_view_trial *trial)
{
    for (size_t g = 0; g < view->group_count; g++)
        for (size_t i = 0; i < view->groups[g].count; i++)
            if (view->groups[g].trials[i] == trial)
                return view->groups[g].measured > 1 ? view->groups[g].best : NULL;
    return NULL;
}

static void take_comparison(const struct ys_result_comparison *found, bool is_second, struct ys_relation *relation)
{
    relation->verdict = found->told.verdict;
    relation->reason = found->told.reason;
    if (found->told.ratio > 0 &&
        isfinite(found->interval.lo)) { /* else it is of few rounds, and another than the speeds say */
        relation->ratio = is_second ? 1 / found->told.ratio : found->told.ratio;
        relation->lo = is_second ? 1 / found->interval.hi : found->interval.lo;
        relation->hi = is_second ? 1 / found->interval.lo : found->interval.hi;
    }
    if (is_second && (found->told.verdict == YS_VERDICT_BETTER || found->told.verdict == YS_VERDICT_WORSE))
        relation->verdict = found->told.verdict == YS_VERDICT_BETTER ? YS_VERDICT_WORSE : YS_VERDICT_BETTER;
}

struct ys_relation ys_answer_relation(const struct ys_view *view, const struct ys_view_trial *trial)
{
    const struct ys_view_trial *best = best_of_group(view, trial);
    const bool works = !trial->no_work || !view->works_at_all;
    struct ys_relation relation = {
        .ratio = NAN, .lo = NAN, .hi = NAN, .verdict = YS_NAME_NONE, .is_best = works && trial == best, .word = ""};
    bool is_second = false;
    if (!isfinite(ys_view_number(trial, "rate_per_s")))
        return relation;
    if (!works)
        relation.word = "no work";
    if (!best || (trial->no_work && !best->no_work))
        return relation;
    relation.ratio = ys_view_number(trial, "rate_per_s") / ys_view_number(best, "rate_per_s");
    const struct ys_result_comparison *found =
        relation.is_best ? NULL : find_comparison(view, "rate_per_s", trial->id, best->id, &is_second);
    if (found)
        take_comparison(found, is_second, &relation);
    if (works)
        relation.word = relation.is_best ? "best" : word_of(relation.verdict);
    return relation;
}

bool ys_answer_compares(const struct ys_view *view)
{
    for (size_t g = 0; g < view->group_count; g++)
        if (view->groups[g].measured > 1)
            return true;
    return false;
}

/* ---- in sentences */

static void put_speed(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *trial)
{
    const struct ys_measure rate = ys_view_measure(ys_view_metric(trial, "rate_per_s"));
    ys_buf_printf(out, "%s%s %s per second", rate.value.text, rate.unit.text, view->unit);
}

/* "2.1 times as fast as X (1.9 to 2.3)": of the best, which is `trial` turned round. */
static void put_times(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *trial,
                      const struct ys_view_group *group, const char *behind)
{
    const struct ys_relation found = ys_answer_relation(view, trial), *relation = &found;
    const double ratio = 1 / relation->ratio;
    ys_buf_printf(out, "%s times as fast as ", ys_label_ratio(ratio).text);
    ys_view_put_phrase(out, view, trial, group);
    ys_buf_puts(out, behind);
    if (isfinite(relation->lo) && relation->lo > 0)
        ys_buf_printf(out, " (%s)", ys_label_ratio_range(ratio, 1 / relation->hi, 1 / relation->lo).text);
}

/* Trials of one group, and how the others stand to its fastest. */
struct group_standing {
    const struct ys_view *view;
    const struct ys_view_group *all;
    const struct ys_view_group *group; /* likewise, where its common factors need no word; NULL */
    const struct ys_view_trial *best, *next;
    size_t count;                      /* of the others that have a speed */
    size_t of[YS_VERDICT_INVALID + 1]; /* how many others, by the verdict of the best against them turned round */
    const char *reason;                /* of the first that is unclear */
};

/* Those that were not compared count as invalid. */
static int verdict_of(const struct ys_relation *relation)
{
    return relation->verdict == YS_NAME_NONE ? YS_VERDICT_INVALID : relation->verdict;
}

static struct group_standing find_standing(const struct ys_view *view, const struct ys_view_group *group)
{
    struct group_standing found = {.view = view,
                                   .all = group,
                                   .group = view->group_count > 1 ? group : NULL,
                                   .best = group->best ? group->best : group->trials[0]};
    for (size_t i = 0; i < group->measured; i++) {
        const struct ys_relation relation = ys_answer_relation(view, group->trials[i]);
        if (group->trials[i] == found.best)
            continue;
        found.count++;
        found.of[verdict_of(&relation)]++;
        if (!found.next && verdict_of(&relation) != YS_VERDICT_INVALID)
            found.next = group->trials[i];
        if (relation.verdict == YS_VERDICT_UNCLEAR && !found.reason)
            found.reason = relation.reason;
    }
    return found;
}

/* Names of the others with that verdict: three of them, and how many more. */
static void put_those(struct ys_buf *out, const struct group_standing *standing, int verdict)
{
    size_t said = 0;
    const size_t all = standing->of[verdict];
    for (size_t i = 0; i < standing->all->measured && said < MOST_NAMES; i++) {
        const struct ys_view_trial *trial = standing->all->trials[i];
        const struct ys_relation relation = ys_answer_relation(standing->view, trial);
        if (trial == standing->best || verdict_of(&relation) != verdict)
            continue;
        ys_buf_puts(out, ys_label_join(said, all, ", "));
        ys_view_put_phrase(out, standing->view, trial, standing->group);
        said++;
    }
    if (all > said)
        ys_buf_printf(out, " and %zu more", all - said);
}

static void say_fastest(struct ys_buf *out, const struct group_standing *standing)
{
    const struct ys_view *view = standing->view;
    const struct ys_view_trial *next = standing->next;
    ys_view_put_phrase(out, view, standing->best, standing->group);
    if (standing->count == 1) {
        ys_buf_puts(out, " is ");
        put_times(out, view, next, standing->group, "");
        ys_buf_puts(out, ": ");
        put_speed(out, view, standing->best);
        ys_buf_puts(out, ".");
        return;
    }
    ys_buf_puts(out, " is the fastest: ");
    put_speed(out, view, standing->best);
    ys_buf_puts(out, ", ");
    put_times(out, view, next, standing->group, ", the next");
    ys_buf_puts(out, ".");
}

static void say_not_sure(struct ys_buf *out, const struct group_standing *standing)
{
    const struct ys_view *view = standing->view;
    const size_t unclear = standing->of[YS_VERDICT_UNCLEAR], same = standing->of[YS_VERDICT_SAME],
                 slower = standing->of[YS_VERDICT_WORSE];
    ys_view_put_phrase(out, view, standing->best, standing->group);
    if (same > 0) {
        ys_buf_puts(out, same == 1 ? " and " : ", ");
        put_those(out, standing, YS_VERDICT_SAME);
        ys_buf_printf(out, " are equally fast, within %s: ", ys_label_share(view->study->margin).text);
    } else {
        ys_buf_puts(out, " came out fastest: ");
    }
    put_speed(out, view, standing->best);
    ys_buf_puts(out, ".");
    if (unclear > 0) {
        ys_buf_puts(out, same > 0 ? " Whether that is also faster than " : " Whether it is faster than ");
        if (unclear == standing->count && unclear > 1)
            ys_buf_puts(out, "any other");
        else
            put_those(out, standing, YS_VERDICT_UNCLEAR);
        ys_buf_puts(out, " is unclear");
        if (standing->reason)
            ys_buf_puts(out, ", because ");
        ys_text_clean(out, ys_view_or(standing->reason, ""), false);
        ys_buf_puts(out, ".");
    }
    if (slower > 0 && slower + unclear + same == standing->count) {
        ys_buf_printf(out, " %s slower.", slower == 1 ? "The other is" : "The others are");
    } else if (slower > 0) {
        ys_buf_puts(out, " It is faster than ");
        put_those(out, standing, YS_VERDICT_WORSE);
        ys_buf_puts(out, ".");
    }
}

/* What all of a group have in common and others have not: "batch 8, lr 0.01: ". */
static void put_common(struct ys_buf *out, const struct ys_view *view, const struct ys_view_group *group)
{
    bool begun = false;
    for (size_t i = 0; group && i < ys_view_axes(view); i++) {
        const char *axis = ys_view_axis(view, i);
        if (!ys_view_is_alike(group, axis))
            continue;
        const struct ys_view_trial *alone = group->trials[0];
        for (size_t t = 0; t < group->count && !ys_view_is_alone(alone); t++)
            alone = group->trials[t];
        ys_buf_puts(out, begun ? ", " : "");
        ys_view_put_factor(out, alone, axis, ys_json_get(group->trials[0]->told->factors, axis));
        begun = true;
    }
    ys_buf_puts(out, begun ? ": " : "");
}

/* `said`: the reason of a group before, which is not said again; it becomes that of this one. */
static bool say_group(struct ys_buf *out, const struct ys_view *view, const struct ys_view_group *group,
                      const char **said)
{
    struct group_standing standing = find_standing(view, group);
    if (!standing.next)
        return false;
    if (standing.reason && *said && strcmp(standing.reason, *said) == 0)
        standing.reason = NULL;
    else if (standing.reason)
        *said = standing.reason;
    put_common(out, view, standing.group);
    if (standing.of[YS_VERDICT_WORSE] == standing.count)
        say_fastest(out, &standing);
    else
        say_not_sure(out, &standing);
    return true;
}

/* Of a group, whether all learned the same as its fastest. */
static void say_learned(struct ys_buf *out, const struct ys_view *view, const struct ys_view_group *group)
{
    const bool tokens = ys_view_is_known(view, "bits_per_token");
    const char *metric = tokens ? "bits_per_token" : "accuracy";
    const struct ys_view_trial *best = group->best ? group->best : group->trials[0];
    size_t known = 0, equal = 0, same = 0, differ = 0;
    for (size_t i = 0; i < group->measured; i++) {
        const struct ys_view_trial *other = group->trials[i];
        bool is_second;
        if (other == best || !isfinite(ys_view_number(other, metric)) || !isfinite(ys_view_number(best, metric)))
            continue;
        const struct ys_result_comparison *found = find_comparison(view, metric, best->id, other->id, &is_second);
        known++;
        equal += ys_view_same_values(ys_view_metric(best, metric), ys_view_metric(other, metric));
        same += found && found->told.verdict == YS_VERDICT_SAME;
        differ += found && (found->told.verdict == YS_VERDICT_BETTER || found->told.verdict == YS_VERDICT_WORSE);
    }
    const char *what = tokens ? "bits a token" : "accuracy";
    if (known == 0)
        return;
    if (equal == known)
        ys_buf_printf(out, " %s the same %s in every round.", known > 1 ? "All reach" : "Both reach", what);
    else if (same == known)
        ys_buf_printf(out, " %s reach the same %s, within %s.", known > 1 ? "All" : "Both", what,
                      tokens ? ys_label_share(view->study->margin).text : "half a point");
    else if (differ > 0)
        ys_buf_printf(out, " Not all reach the same %s.", what);
}

/* Where no group has two: comparisons of trials that do different work, such as another precision, or more ranks with
 * more rows. Returns how many sentences there are. */
static size_t say_pairs(struct ys_buf *out, const struct ys_view *view)
{
    size_t said = 0;
    for (size_t i = 0; i < view->comparison_count && said < MOST_ANSWERS; i++) {
        const struct ys_result_comparison *one = &view->comparisons[i];
        const struct ys_view_trial *a = ys_view_find(view, ys_view_or(one->told.a, "")),
                                   *b = ys_view_find(view, ys_view_or(one->told.b, ""));
        const bool is_decided = one->told.verdict == YS_VERDICT_BETTER || one->told.verdict == YS_VERDICT_WORSE;
        if (strcmp(ys_view_or(one->told.metric, ""), "rate_per_s") != 0 || !a || !b || a->no_work || b->no_work ||
            !isfinite(one->told.ratio) || (!is_decided && !isfinite(one->told.efficiency)))
            continue;
        ys_buf_puts(out, said++ ? " " : "");
        ys_view_put_phrase(out, view, a, NULL);
        ys_buf_printf(out, " is %s times as fast as ", ys_label_ratio(one->told.ratio).text);
        ys_view_put_phrase(out, view, b, NULL);
        if (isfinite(one->interval.lo))
            ys_buf_printf(out, " (%s)", ys_label_ratio_range(one->told.ratio, one->interval.lo, one->interval.hi).text);
        if (isfinite(one->told.efficiency))
            ys_buf_printf(out, ": a scaling efficiency of %s", ys_label_share(one->told.efficiency).text);
        ys_buf_puts(out, ".");
    }
    return said;
}

/* Why trials that do the same work have no fastest; NULL where no two do. */
static const char *why_invalid(const struct ys_view *view)
{
    for (size_t g = 0; g < view->group_count; g++) {
        const struct ys_view_group *group = &view->groups[g];
        for (size_t i = 1; i < group->measured && !group->best; i++) {
            bool is_second;
            const struct ys_result_comparison *found =
                find_comparison(view, "rate_per_s", group->trials[0]->id, group->trials[i]->id, &is_second);
            if (found && found->told.verdict == YS_VERDICT_INVALID)
                return found->told.reason;
        }
    }
    return NULL;
}

static void say_alone(struct ys_buf *out, const struct ys_view *view)
{
    const char *reason = why_invalid(view);
    const struct ys_view_trial *only = NULL;
    size_t measured = 0;
    for (size_t i = 0; i < view->count; i++)
        if (isfinite(ys_view_number(&view->trials[i], "rate_per_s")) &&
            (!view->trials[i].no_work || !view->works_at_all)) {
            measured++;
            only = &view->trials[i];
        }
    if (measured > 1 && reason) {
        ys_buf_puts(out, "None is called the fastest, because their comparisons are invalid: ");
        ys_text_clean(out, reason, false);
        ys_buf_puts(out, ".");
    } else if (measured > 1 && say_pairs(out, view) == 0) {
        ys_buf_puts(out, "Each trial does work of its own");
        for (size_t i = 0; i < ys_view_axes(view); i++) {
            ys_buf_puts(out, i ? ", " : " (they differ in ");
            ys_text_clean(out, ys_view_axis(view, i), false);
        }
        ys_buf_puts(out, ys_view_axes(view) ? "): none is called the fastest." : ": none is called the fastest.");
    } else if (measured == 1) {
        ys_view_put_phrase(out, view, only, NULL);
        ys_buf_printf(out, " %s ", ys_mode_of(only->told->keys.mode)->speed_at);
        put_speed(out, view, only);
        ys_buf_puts(out, "; there is nothing to compare it with.");
    }
}

/* Who answers most requests a second mostly does not answer one soonest. */
static void say_soonest(struct ys_buf *out, const struct ys_view *view)
{
    const struct ys_view_trial *soonest = NULL;
    size_t known = 0;
    for (size_t i = 0; i < view->count; i++) {
        const double wait_s = ys_view_number(&view->trials[i], "latency_p50_s");
        if (!ys_view_counts(&view->trials[i]) || view->trials[i].told->software)
            continue;
        if (!isfinite(wait_s)) /* its requests were timed together: nobody knows which is the soonest */
            return;
        known++;
        if (soonest && strcmp(ys_settings_quantiser(&view->trials[i].told->keys),
                              ys_settings_quantiser(&soonest->told->keys)) != 0)
            return; /* different work, as comparisons of speed have it */
        if (!soonest || wait_s < ys_view_number(soonest, "latency_p50_s"))
            soonest = &view->trials[i];
    }
    if (known < 2)
        return;
    ys_view_put_phrase(out, view, soonest, NULL);
    ys_buf_printf(out, " answers a request soonest: half of them within %s.\n",
                  ys_view_label(ys_view_metric(soonest, "latency_p50_s")).text);
}

/* Who stores least and who most in a section; NULL: of all sections whose runtime takes least and most. */
static void say_range(struct ys_buf *out, const struct ys_view *view, const char *metric, const char *section)
{
    const struct ys_view_trial *least = NULL, *most = NULL;
    for (size_t i = 0; i < view->count; i++) {
        const struct ys_view_trial *trial = &view->trials[i];
        const double value = ys_view_number(trial, metric);
        if (!ys_view_counts(trial) || !isfinite(value) ||
            (section && strcmp(ys_view_or(trial->told->section, ""), section) != 0))
            continue;
        if (!least || value < ys_view_number(least, metric))
            least = trial;
        if (!most || value > ys_view_number(most, metric))
            most = trial;
    }
    if (!least || least == most)
        return;
    if (section)
        ys_view_put_phrase(out, view, least, NULL);
    else
        ys_buf_printf(out, "The runtime of %s", least->title);
    ys_buf_printf(out, " %s least, %s, and ", section ? "stores" : "takes",
                  ys_view_label(ys_view_metric(least, metric)).text);
    if (section)
        ys_view_put_phrase(out, view, most, NULL);
    else
        ys_buf_printf(out, "that of %s", most->title);
    ys_buf_printf(out, " most, %s.\n", ys_view_label(ys_view_metric(most, metric)).text);
}

static void say_sizes(struct ys_buf *out, const struct ys_view *view)
{
    size_t said = 0;
    for (size_t i = 0; i < view->count && said < MOST_ANSWERS; i++) {
        const char *section = ys_view_or(view->trials[i].told->section, "");
        if (i > 0 && strcmp(section, ys_view_or(view->trials[i - 1].told->section, "")) == 0)
            continue;
        say_range(out, view, "stored_bytes", section);
        said++;
    }
    say_range(out, view, "runtime_bytes", NULL);
}

static bool is_of_sizes(const struct ys_view *view)
{
    size_t count = 0;
    for (size_t i = 0; i < view->count; i++)
        count += view->trials[i].told->keys.mode == YS_MODE_SIZE;
    return count > 0 && count == view->count;
}

/* A group each is a line; one alone is told of with what it learned. */
void ys_answer(struct ys_buf *out, const struct ys_view *view)
{
    const char *reason = NULL;
    const size_t before = out->size;
    size_t said = 0, unsaid = 0, groups = 0;
    if (is_of_sizes(view)) {
        say_sizes(out, view);
        return;
    }
    for (size_t g = 0; g < view->group_count; g++)
        groups += view->groups[g].measured > 1 && !view->groups[g].trials[0]->no_work;
    for (size_t g = 0; g < view->group_count; g++) {
        const struct ys_view_group *group = &view->groups[g];
        if (group->measured < 2 || (group->trials[0]->no_work && groups > 0))
            continue;
        if (said == (groups > MOST_ANSWERS ? MOST_ANSWERS - 1 : MOST_ANSWERS)) { /* of many none is whole anyway */
            unsaid++;
            continue;
        }
        const bool is_said = say_group(out, view, group, &reason);
        if (is_said && groups <= 1)
            say_learned(out, view, group);
        ys_buf_puts(out, is_said ? "\n" : "");
        said += is_said;
    }
    if (unsaid > 0)
        ys_buf_printf(out, "%s more in the table.\n", ys_label_plural((long long)unsaid, "group").text);
    if (said == 0)
        say_alone(out, view);
    if (out->size > before && out->data[out->size - 1] != '\n')
        ys_buf_puts(out, "\n");
    say_soonest(out, view);
}
