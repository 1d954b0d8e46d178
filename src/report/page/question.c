#include "report/page/question.h"

#include "report/answer.h"
#include "report/clean_text.h"
#include "report/shared_sentences.h"
#include "report/tables/observed_tables.h"

#include <math.h>
#include <string.h>

/** Of those that count the one with the largest or smallest value; NULL where none has one. `known`: how many have. */
static const struct ys_view_trial *extreme(const struct ys_view *view, const char *metric, bool largest, size_t *known)
{
    const struct ys_view_trial *found = NULL;
    double best = NAN;
    *known = 0;
    for (size_t t = 0; t < view->count; t++) {
        const double value = ys_view_number(&view->trials[t], metric);
        if (!ys_view_counts(&view->trials[t]) || !isfinite(value))
            continue;
        ++*known;
        if (!found || (largest ? value > best : value < best)) {
            found = &view->trials[t];
            best = value;
        }
    }
    return found;
}

static void put_value(struct ys_buf *out, const struct ys_view_trial *trial, const char *metric)
{
    ys_buf_puts(out, ys_view_label(ys_view_metric(trial, metric)).text);
}

static void answer_speed(struct ys_buf *out, const struct ys_view *view)
{
    const size_t before = out->size;
    ys_answer(out, view);
    if (out->size == before)
        ys_buf_puts(out, "No trial that did the work has a speed.");
}

static void put_range(struct ys_buf *out, const struct ys_view *view, const char *metric, const char *what)
{
    size_t known;
    const struct ys_view_trial *least = extreme(view, metric, false, &known),
                               *most = extreme(view, metric, true, &known);
    if (!least)
        return;
    struct ys_buf low = {0}, high = {0};
    put_value(&low, least, metric);
    put_value(&high, most, metric);
    ys_buf_printf(out, "%s%s: %s", out->size ? " " : "", what, ys_buf_text(&low));
    if (strcmp(ys_buf_text(&low), ys_buf_text(&high)) != 0)
        ys_buf_printf(out, " (%s) to %s (%s).", least->name, ys_buf_text(&high), most->name);
    else if (known > 1)
        ys_buf_puts(out, " in each.");
    else
        ys_buf_printf(out, " (%s).", least->name);
    ys_buf_free(&low);
    ys_buf_free(&high);
}

/* ---- accuracy */

bool ys_question_same_accuracy(const struct ys_view *view)
{
    const struct ys_view_trial *first = NULL;
    size_t known = 0;
    for (size_t t = 0; t < view->count; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        if (!ys_view_counts(trial) || !isfinite(ys_view_number(trial, "accuracy")))
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
        if (strcmp(ys_view_or(view->comparisons[i].told.metric, ""), "accuracy") == 0) {
            compared += view->comparisons[i].told.verdict != YS_VERDICT_INVALID;
            differ += view->comparisons[i].told.verdict == YS_VERDICT_BETTER ||
                      view->comparisons[i].told.verdict == YS_VERDICT_WORSE;
        }
    if (!high) {
        ys_buf_puts(out, ys_view_has_mode(view, YS_MODE_TRAIN)
                             ? "No accuracy was verified."
                             : "Nothing was trained, so there is no accuracy to verify.");
        return;
    }
    const bool alike = ys_view_number(high, "accuracy") - ys_view_number(low, "accuracy") < 5e-5; /* as it is printed */
    if (known == 1)
        ys_buf_printf(out, "%s reaches a verified accuracy of ", high->name);
    else if (alike)
        ys_buf_printf(out, "%s%s reach the same verified accuracy, ", ys_label_all(known, "trials").text,
                      known < view->count ? " that have one" : "");
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
        ys_buf_puts(out, "; no comparison shows a difference beyond the margin");
    else if (compared == 1)
        ys_buf_puts(out, ", a difference beyond the margin");
    else if (compared)
        ys_buf_printf(out, "; %zu of %zu comparisons %s a difference beyond the margin", differ, compared,
                      differ == 1 ? "shows" : "show");
    ys_buf_puts(out, ".");
    put_range(out, view, "bits_per_token", "Bits a token on the test set");
}

/* ---- what it withstands */

bool ys_question_is_asked(const struct ys_view *view, size_t question)
{
    bool is_attacked = false, is_stored = false;
    for (size_t t = 0; t < view->count; t++) {
        is_attacked |= view->trials[t].told->robustness != NULL;
        is_stored |= view->trials[t].told->stored != NULL;
    }
    return question == YS_ASK_ROBUST ? is_attacked : question == YS_ASK_SIZE ? is_stored : true;
}

/* The smallest change that was asked for, of the trial that is told of. */
static double eps_of(const struct ys_view_trial *trial)
{
    const struct ys_robustness_block *found = trial->told->robustness;
    const struct ys_standing_block *first = found && found->robust.count > 0 ? found->robust.items : NULL;
    return first ? first->eps : (double)NAN;
}

/* Of the trials that were asked for the same EPS as the one at `first`, and of which it is known what is left. */
static void put_left(struct ys_buf *out, const struct ys_view *view, size_t first)
{
    const struct ys_view_trial *high = NULL, *low = NULL;
    const double eps = eps_of(&view->trials[first]);
    const struct ys_label limit = ys_label_value(YS_KIND_NUMBER, eps);
    for (size_t t = first; t < view->count; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        const double value = ys_view_number(trial, "robust_accuracy");
        if (eps_of(trial) != eps || !isfinite(value))
            continue;
        high = !high || value > ys_view_number(high, "robust_accuracy") ? trial : high;
        low = !low || value < ys_view_number(low, "robust_accuracy") ? trial : low;
    }
    if (!high)
        return;
    ys_buf_puts(out, out->size ? "; " : "Of the rows that were attacked ");
    put_value(out, low, "robust_accuracy");
    if (high != low) {
        ys_buf_printf(out, " (%s) to ", low->name);
        put_value(out, high, "robust_accuracy");
    }
    ys_buf_printf(out, " (%s) stay right where no pixel of [0, 1] changes by more than %s", high->name, limit.text);
}

static void answer_robust(struct ys_buf *out, const struct ys_view *view)
{
    size_t masked = 0;
    for (size_t t = 0; t < view->count; t++) {
        bool is_first = true;
        for (size_t before = 0; before < t; before++)
            is_first &= eps_of(&view->trials[before]) != eps_of(&view->trials[t]);
        if (is_first)
            put_left(out, view, t);
        masked += view->trials[t].told->robustness && view->trials[t].told->robustness->is_masked;
    }
    if (out->size)
        ys_buf_puts(out, ".");
    put_range(out, view, "perturbation_p50", "The smallest change that fools, L2, in the middle of all rows");
    put_range(out, view, "corrupted_accuracy", "Accuracy on rows that noise, blur, weather and the like have changed");
    if (masked)
        ys_buf_printf(out, "%sGradients may be masked in %s: what stands there is at most what stands.",
                      out->size ? " " : "", ys_label_plural((long long)masked, "trial").text);
    if (out->size == 0)
        ys_buf_puts(out, "Of no trial it is known what it withstands as one number; below stands what was tried.");
}

/* ---- what it takes on disk */

static void answer_size(struct ys_buf *out, const struct ys_view *view)
{
    put_range(out, view, "stored_bytes", "The stored model");
    put_range(out, view, "runtime_bytes", "What reads it");
    if (out->size == 0)
        ys_buf_puts(out, "Of no trial it is known what was stored.");
}

/* ---- memory and processor */

static void answer_resources(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_buf text = {0};
    put_range(&text, view, "rss_peak_bytes", "Memory at its peak");
    put_range(&text, view, "cpu_per_wall", "Processors in use");
    ys_buf_puts(out, text.size ? ys_buf_text(&text)
                               : "No trial that did the work has memory or processor time that is known.");
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
    const struct ys_view_trial *fastest = ys_answer_fastest(view), *longest = extreme(view, "wall_s", true, &known);
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

/* Of those that are not all proven; what none is goes without a word. */
static void put_proofs(struct ys_buf *out, size_t working, const size_t proofs[4])
{
    static const char *const others[] = {NULL, "as far as it could be shown", "to do other work", "not"};
    ys_buf_printf(out, "Of %zu measured trials %zu %s proven to do the same work", working, proofs[0],
                  proofs[0] == 1 ? "is" : "are");
    for (size_t k = 1; k < 4; k++)
        if (proofs[k] > 0)
            ys_buf_printf(out, ", %zu %s", proofs[k], others[k]);
    ys_buf_puts(out, ".");
}

static void answer_trust(struct ys_buf *out, const struct ys_view *view)
{
    size_t proofs[4] = {0}, working = 0;
    int64_t runs = 0, disturbed = 0;
    for (size_t t = 0; t < view->count; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        runs += trial->told->runs;
        disturbed += trial->told->disturbed;
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
        put_proofs(out, working, proofs);
    if (disturbed) {
        ys_buf_puts(out, " The machine was not always quiet: ");
        ys_observed_put_disturbed(out, view);
    } else if (runs) {
        ys_buf_printf(out, " 0 of %s were disturbed.", ys_label_plural((long long)runs, "run").text);
    }
    const size_t differences = view->differences->count;
    if (differences)
        ys_buf_printf(out, " The environments differ in %s.", ys_label_plural((long long)differences, "thing").text);
}

/* ---- what to set */

static void answer_settings(struct ys_buf *out, const struct ys_view *view)
{
    size_t known;
    const struct ys_view_trial *fastest = ys_answer_fastest(view),
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
    ys_buf_printf(out,
                  ". With wishes of your own: yardstick recommend %lld --wish='fastest within 2 GiB' answers, and says "
                  "how sure that is.",
                  (long long)view->id);
}

/* ---- again */

static void answer_repeat(struct ys_buf *out, const struct ys_view *view)
{
    const char *command = ys_view_or(view->study->command, ""), *job = ys_view_or(view->study->job_text, "");
    if (command[0])
        ys_buf_puts(out, "With the command below, on a machine like this one");
    else
        ys_buf_puts(out, "The command that made this study is not known");
    ys_buf_puts(out, job[0] ? "; the job as it was read stands below." : ".");
}

const struct ys_question ys_questions[YS_QUESTIONS] = {
    [YS_ASK_SPEED] = {"speed", "Which is fastest, and how sure?", "Speed", answer_speed},
    [YS_ASK_ACCURACY] = {"accuracy", "At what accuracy?", "Accuracy", answer_accuracy},
    [YS_ASK_ROBUST] = {"robust", "What does it withstand?", "Robustness", answer_robust},
    [YS_ASK_SIZE] = {"size", "What does it take on disk?", "Size", answer_size},
    [YS_ASK_RESOURCES] = {"resources", "How much memory and processor?", "Memory and processor", answer_resources},
    [YS_ASK_TIME] = {"time", "Where does the time go?", "Time", answer_time},
    [YS_ASK_TRUST] = {"trust", "Was it the same work, and was the machine quiet?", "Trust", answer_trust},
    [YS_ASK_SETTINGS] = {"settings", "What should I set?", "Settings", answer_settings},
    [YS_ASK_REPEAT] = {"repeat", "How do I repeat it?", "Again", answer_repeat},
};
