#include "report/question.h"

#include "report/observed.h"
#include "report/section.h"
#include "report/text.h"

#include <math.h>
#include <string.h>

static bool counts(const struct ys_view_trial *trial)
{
    return trial->measured && !trial->no_work && ys_view_verdict(trial) != YS_PROOF_FAIL;
}

/** Of those that count the one with the largest or smallest value; NULL where none has one. `known`: how many have. */
static const struct ys_view_trial *extreme(const struct ys_view *view, const char *metric, bool largest, size_t *known)
{
    const struct ys_view_trial *found = NULL;
    double best = NAN;
    *known = 0;
    for (size_t t = 0; t < view->count; t++) {
        const double value = ys_view_number(&view->trials[t], metric);
        if (!counts(&view->trials[t]) || !isfinite(value))
            continue;
        ++*known;
        if (!found || (largest ? value > best : value < best)) {
            found = &view->trials[t];
            best = value;
        }
    }
    return found;
}

const struct ys_view_trial *ys_question_fastest(const struct ys_view *view)
{
    size_t known;
    return extreme(view, "rate_per_s", true, &known);
}

const struct ys_view_comparison *ys_question_comparison(const struct ys_view *view, const char *metric,
                                                        const char *trial, const char *other, bool *is_second)
{
    for (size_t i = 0; i < view->comparison_count; i++) {
        const struct ys_view_comparison *one = &view->comparisons[i];
        const char *a = ys_view_or(one->a, ""), *b = ys_view_or(one->b, "");
        if (strcmp(ys_view_or(one->metric, ""), metric) != 0)
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

/** The fastest of those that do the same work; of a document of earlier versions, which says nothing of that, of all.
 */
static const struct ys_view_trial *best_of_group(const struct ys_view *view, const struct ys_view_trial *trial)
{
    for (size_t g = 0; g < view->group_count; g++)
        for (size_t i = 0; i < view->groups[g].count; i++)
            if (view->groups[g].trials[i] == trial)
                return view->groups[g].best;
    return view->group_count ? NULL : ys_question_fastest(view);
}

static void take_comparison(const struct ys_view_comparison *found, bool is_second, struct ys_relation *relation)
{
    relation->verdict = found->verdict;
    relation->reason = found->reason;
    if (found->ratio > 0) {
        relation->ratio = is_second ? 1 / found->ratio : found->ratio;
        relation->lo = is_second ? 1 / found->hi : found->lo;
        relation->hi = is_second ? 1 / found->lo : found->hi;
    }
    if (is_second && (found->verdict == YS_VERDICT_BETTER || found->verdict == YS_VERDICT_WORSE))
        relation->verdict = found->verdict == YS_VERDICT_BETTER ? YS_VERDICT_WORSE : YS_VERDICT_BETTER;
}

struct ys_relation ys_question_relation(const struct ys_view *view, const struct ys_view_trial *trial)
{
    const struct ys_view_trial *best = best_of_group(view, trial);
    struct ys_relation relation = {
        .ratio = NAN, .lo = NAN, .hi = NAN, .verdict = YS_NAME_NONE, .is_best = best && trial == best, .word = ""};
    bool is_second = false;
    if (!best || (trial->no_work && !best->no_work) || !isfinite(ys_view_number(trial, "rate_per_s")))
        return relation;
    relation.ratio = ys_view_number(trial, "rate_per_s") / ys_view_number(best, "rate_per_s");
    const struct ys_view_comparison *found =
        relation.is_best ? NULL : ys_question_comparison(view, "rate_per_s", trial->id, best->id, &is_second);
    if (found)
        take_comparison(found, is_second, &relation);
    relation.word = trial->no_work && view->works_at_all ? "no work"
                    : relation.is_best                   ? "best"
                                                         : word_of(relation.verdict);
    return relation;
}

static void put_value(struct ys_buf *out, const struct ys_view_trial *trial, const char *metric)
{
    ys_buf_puts(out, ys_view_label(ys_view_metric(trial, metric)).text);
}

/* ---- speed */

/** How the comparisons of speed with this trial came out, of its side. */
struct tally {
    size_t faster, same, unclear, slower, invalid, total;
};

static struct tally tally_of(const struct ys_view *view, const struct ys_view_trial *trial)
{
    struct tally tally = {0};
    for (size_t i = 0; i < view->comparison_count; i++) {
        const struct ys_view_comparison *one = &view->comparisons[i];
        const bool first = strcmp(ys_view_or(one->a, ""), trial->id) == 0,
                   second = strcmp(ys_view_or(one->b, ""), trial->id) == 0;
        const struct ys_view_trial *other = ys_view_find(view, ys_view_or(first ? one->b : one->a, ""));
        if (strcmp(ys_view_or(one->metric, ""), "rate_per_s") != 0 || first == second || !other || other->no_work ||
            !other->measured)
            continue;
        tally.total++;
        tally.same += one->verdict == YS_VERDICT_SAME;
        tally.invalid += one->verdict == YS_VERDICT_INVALID;
        tally.faster += one->verdict == (first ? YS_VERDICT_BETTER : YS_VERDICT_WORSE);
        tally.slower += one->verdict == (first ? YS_VERDICT_WORSE : YS_VERDICT_BETTER);
    }
    tally.unclear = tally.total - tally.same - tally.invalid - tally.faster - tally.slower;
    return tally;
}

static void put_tally_part(struct ys_buf *out, size_t count, const char *what)
{
    if (count)
        ys_buf_printf(out, ", %zu %s", count, what);
}

/** How sure it is that it is the fastest: by the comparisons of the study that it takes part in. */
static void put_surety(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *fastest,
                       size_t known)
{
    const struct tally tally = tally_of(view, fastest);
    if (tally.total == 0) {
        ys_buf_puts(out, " How sure: no comparison of the study is with it, so this is by medians alone.");
        return;
    }
    ys_buf_printf(out, " How sure: of %s with it", ys_label_plural((long long)tally.total, "comparison").text);
    put_tally_part(out, tally.faster, tally.faster == 1 ? "finds it faster" : "find it faster");
    put_tally_part(out, tally.same, "as fast within the margin");
    put_tally_part(out, tally.unclear, tally.unclear == 1 ? "is unclear" : "are unclear");
    put_tally_part(out, tally.slower, "slower by matched rounds");
    put_tally_part(out, tally.invalid, tally.invalid == 1 ? "is invalid" : "are invalid");
    if (known - 1 > tally.total)
        ys_buf_printf(out, "; against %s by medians alone",
                      ys_label_plural((long long)(known - 1 - tally.total), "other trial").text);
    ys_buf_puts(out, ".");
}

/* The most rows a second and the shortest wait are mostly not of the same trial. */
static void put_quickest(struct ys_buf *out, const struct ys_view *view)
{
    size_t known;
    const struct ys_view_trial *quickest = extreme(view, "latency_p50_s", false, &known);
    if (!quickest || known < 2)
        return;
    ys_buf_printf(out, " The shortest wait for an answer has %s, in the median of its requests: ", quickest->name);
    put_value(out, quickest, "latency_p50_s");
    ys_buf_puts(out, ".");
}

static void answer_speed(struct ys_buf *out, const struct ys_view *view)
{
    size_t known;
    const struct ys_view_trial *fastest = extreme(view, "rate_per_s", true, &known);
    if (!fastest) {
        ys_buf_puts(out, "No trial that did the work has a speed.");
        return;
    }
    struct ys_measure rate = ys_view_measure(ys_view_metric(fastest, "rate_per_s"));
    if (known > 1)
        ys_buf_printf(out, "%s is the fastest of %s: ", fastest->name, ys_label_plural((long long)known, "trial").text);
    else
        ys_buf_printf(out, "%s alone has a speed: ", fastest->name);
    ys_buf_printf(out, "%s%s%s%s%s %s per second.", rate.value.text, rate.unit.text[0] ? " " : "", rate.unit.text,
                  rate.interval.text[0] ? " " : "", rate.interval.text, view->unit);
    if (known > 1)
        put_surety(out, view, fastest, known);
    put_quickest(out, view);
}

static void put_range(struct ys_buf *out, const struct ys_view *view, const char *metric, const char *what)
{
    size_t known;
    const struct ys_view_trial *least = extreme(view, metric, false, &known),
                               *most = extreme(view, metric, true, &known);
    if (!least)
        return;
    ys_buf_printf(out, "%s%s: ", out->size ? " " : "", what);
    put_value(out, least, metric);
    ys_buf_printf(out, " (%s)", least->name);
    if (most != least) {
        ys_buf_puts(out, " to ");
        put_value(out, most, metric);
        ys_buf_printf(out, " (%s)", most->name);
    }
    ys_buf_puts(out, ".");
}

/* ---- accuracy */

bool ys_question_same_accuracy(const struct ys_view *view)
{
    const struct ys_view_trial *first = NULL;
    size_t known = 0;
    for (size_t t = 0; t < view->count; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        if (!counts(trial) || !isfinite(ys_view_number(trial, "accuracy")))
            continue;
        if (first && !ys_view_same_values(ys_view_metric(first, "accuracy"), ys_view_metric(trial, "accuracy")))
            return false;
        first = trial;
        known++;
    }
    return known > 1;
}

static void answer_accuracy(struct ys_buf *out, const struct ys_view *view)
{
    size_t known, differ = 0, compared = 0;
    const struct ys_view_trial *high = extreme(view, "accuracy", true, &known),
                               *low = extreme(view, "accuracy", false, &known);
    for (size_t i = 0; i < view->comparison_count; i++)
        if (strcmp(ys_view_or(view->comparisons[i].metric, ""), "accuracy") == 0) {
            compared += view->comparisons[i].verdict != YS_VERDICT_INVALID;
            differ +=
                view->comparisons[i].verdict == YS_VERDICT_BETTER || view->comparisons[i].verdict == YS_VERDICT_WORSE;
        }
    if (!high) {
        ys_buf_puts(out, ys_view_has_mode(view, false) ? "No accuracy was verified."
                                                       : "Nothing was trained, so there is no accuracy to verify.");
        return;
    }
    const bool alike = ys_view_number(high, "accuracy") - ys_view_number(low, "accuracy") < 5e-5; /* as it is printed */
    if (known == 1)
        ys_buf_printf(out, "%s reaches a verified accuracy of ", high->name);
    else if (alike)
        ys_buf_printf(out, "%s that have one reach the same verified accuracy, ", ys_label_all(known, "trials").text);
    else
        ys_buf_puts(out, "Verified accuracy reaches from ");
    put_value(out, low, "accuracy");
    if (!alike) {
        ys_buf_printf(out, " (%s) to ", low->name);
        put_value(out, high, "accuracy");
        ys_buf_printf(out, " (%s)", high->name);
    }
    if (ys_question_same_accuracy(view))
        ys_buf_puts(out, ", round by round");
    else if (compared && differ == 0)
        ys_buf_puts(out, "; no comparison of it shows a difference beyond the margin");
    else if (compared)
        ys_buf_printf(out, "; of %s of it %zu %s a difference beyond the margin",
                      ys_label_plural((long long)compared, "comparison").text, differ, differ == 1 ? "shows" : "show");
    ys_buf_puts(out, ".");
    put_range(out, view, "bits_per_token", "Bits a token on the test set");
}

/* ---- memory and processor */

static void answer_resources(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_buf text = {0};
    put_range(&text, view, "rss_peak_bytes", "Memory at its peak");
    put_range(&text, view, "cpu_per_wall", "Processors in use");
    ys_buf_puts(out, text.size ? ys_buf_text(&text)
                               : "No trial that did the work has memory or processor time that is known.");
    out->failed |= text.failed;
    ys_buf_free(&text);
}

/* ---- time */

/** "Of the 5.2 s of a run of X 64 % are computing, 20 % start-up." */
static void put_shares(struct ys_buf *out, const struct ys_view_trial *trial)
{
    const double wall_s = ys_view_number(trial, "wall_s");
    bool taken[YS_TIME_PARTS] = {false};
    ys_buf_puts(out, "Of the ");
    put_value(out, trial, "wall_s");
    ys_buf_printf(out, " of a run of %s", trial->name);
    for (size_t said = 0; said < 3; said++) {
        size_t most = YS_TIME_PARTS;
        double best = 0;
        for (size_t k = 0; k < YS_TIME_PARTS; k++) {
            const double part = ys_view_number(trial, ys_time_part(k).metric);
            if (!taken[k] && part > best) {
                most = k;
                best = part;
            }
        }
        if (most == YS_TIME_PARTS)
            break;
        taken[most] = true;
        ys_buf_printf(out, "%s %s is %s", said ? "," : "", ys_label_share(best / wall_s).text,
                      ys_time_part(most).title);
    }
    ys_buf_puts(out, ".");
}

static void answer_time(struct ys_buf *out, const struct ys_view *view)
{
    size_t known;
    const struct ys_view_trial *fastest = extreme(view, "rate_per_s", true, &known),
                               *longest = extreme(view, "wall_s", true, &known);
    if (!longest) {
        ys_buf_puts(out, "No trial that did the work has a run that ended well, so there is no time to divide.");
        return;
    }
    if (fastest && fastest != longest && ys_view_number(fastest, "wall_s") > 0) {
        put_shares(out, fastest);
        ys_buf_puts(out, " ");
    }
    put_shares(out, longest);
}

/* ---- the same work, a quiet machine */

static void answer_trust(struct ys_buf *out, const struct ys_view *view)
{
    size_t proofs[4] = {0}, working = 0;
    int64_t runs = 0, disturbed = 0;
    for (size_t t = 0; t < view->count; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        runs += trial->told.runs;
        disturbed += trial->told.disturbed;
        if (!trial->measured || trial->no_work)
            continue;
        const enum ys_proof_verdict verdict = ys_view_verdict(trial);
        working++;
        proofs[verdict == YS_PROOF_PASS ? 0 : verdict == YS_PROOF_WEAK ? 1 : verdict == YS_PROOF_FAIL ? 2 : 3]++;
    }
    if (working == 0)
        ys_buf_puts(out, "No trial was measured that had work to do.");
    else if (proofs[0] == working && working == 1)
        ys_buf_puts(out, "The one trial that was measured is proven to do the work asked for.");
    else if (proofs[0] == working)
        ys_buf_printf(out, "%s that were measured are proven to do the same work.",
                      ys_label_all(working, "trials").text);
    else
        ys_buf_printf(
            out,
            "Of %zu measured trials %zu %s proven to do the same work, %zu weakly, %zu not at all, and of %zu "
            "the proof failed.",
            working, proofs[0], proofs[0] == 1 ? "is" : "are", proofs[1], proofs[3], proofs[2]);
    if (disturbed) {
        ys_buf_puts(out, " The machine was not always quiet: ");
        ys_observed_put_disturbed(out, view);
    } else if (runs) {
        ys_buf_printf(out, " 0 of %s were disturbed.", ys_label_plural((long long)runs, "run").text);
    }
    const size_t differences = ys_json_size(view->environment_differences);
    if (differences)
        ys_buf_printf(out, " The environments differ in %s.", ys_label_plural((long long)differences, "thing").text);
}

/* ---- what to set */

static void answer_settings(struct ys_buf *out, const struct ys_view *view)
{
    size_t known;
    const struct ys_view_trial *fastest = extreme(view, "rate_per_s", true, &known),
                               *smallest = extreme(view, "rss_peak_bytes", false, &known);
    if (!fastest) {
        ys_buf_puts(out, "Nothing that was measured here can be recommended.");
        return;
    }
    ys_buf_printf(out, "For speed alone: %s", fastest->name);
    if (smallest && smallest != fastest) {
        ys_buf_printf(out, "; for the least memory: %s, at ", smallest->name);
        const double share = ys_view_number(smallest, "rate_per_s") / ys_view_number(fastest, "rate_per_s");
        ys_buf_puts(out, isfinite(share) ? ys_label_share(share).text : "an unknown share");
        ys_buf_puts(out, " of that speed");
    }
    ys_buf_printf(
        out,
        ". With wishes of your own: yardstick recommend %lld --wish='fastest within 2 GiB' weighs nothing, and "
        "says how sure it is.",
        (long long)view->study.id);
}

/* ---- again */

static void answer_repeat(struct ys_buf *out, const struct ys_view *view)
{
    const char *command = ys_view_or(view->study.command, ""), *job = ys_view_or(view->study.job_text, "");
    if (command[0])
        ys_buf_puts(out, "With the command below, on a machine like this one");
    else
        ys_buf_puts(out, "The command that made this study is not known");
    ys_buf_puts(out, job[0] ? "; the job as it was read stands below." : ".");
}

const struct ys_question ys_questions[YS_QUESTIONS] = {
    [YS_ASK_SPEED] = {"speed", "Which is fastest, and how sure?", "Speed", answer_speed},
    [YS_ASK_ACCURACY] = {"accuracy", "At what accuracy?", "Accuracy", answer_accuracy},
    [YS_ASK_RESOURCES] = {"resources", "How much memory and processor?", "Memory and processor", answer_resources},
    [YS_ASK_TIME] = {"time", "Where does the time go?", "Time", answer_time},
    [YS_ASK_TRUST] = {"trust", "Was it the same work, and was the machine quiet?", "Trust", answer_trust},
    [YS_ASK_SETTINGS] = {"settings", "What should I set?", "Settings", answer_settings},
    [YS_ASK_REPEAT] = {"repeat", "How do I repeat it?", "Again", answer_repeat},
};
