/* The result in plain sentences. */
#include "base/mem.h"
#include "base/record.h"
#include "report/agreement.h"
#include "report/observed.h"
#include "report/report.h"
#include "report/section.h"
#include "report/text.h"
#include "report/view.h"
#include <math.h>
#include <string.h>

#define MAX_COMPARISONS 8 /* sentences; the rest is counted */
#define MAX_SINGLE      6
#define MAX_NAMES       40 /* of trials in one sentence, and sentences about failures; the rest is counted */

struct words {
    const struct ys_view *view;
    ys_json *sentences;
    struct ys_buf text; /* the sentence in work */
    ys_status status;
};

static void finish(struct words *w)
{
    if (w->status == YS_OK && w->text.failed)
        w->status = ys_out_of_memory();
    if (w->text.size > 4 && strncmp(w->text.data, "the ", 4) == 0) /* a title such as "the built-in engine" */
        w->text.data[0] = 'T';
    if (w->status == YS_OK && w->text.size > 0)
        w->status = ys_json_append(w->sentences, ys_json_string(ys_buf_text(&w->text)));
    ys_buf_clear(&w->text);
}

static bool is(const char *text, const char *word)
{
    return strcmp(text, word) == 0;
}

/** What the work is called: the model of the trial, by its title where the document has one. */
static void put_model(struct words *w, const struct ys_view_trial *trial)
{
    const char *model = trial->told.model;
    const struct ys_view_work *works = w->view->works;
    if (!model)
        model = w->view->work_count ? ys_view_or(works[0].model, "the model") : "the model";
    const char *title = model;
    for (size_t i = 0; i < w->view->work_count; i++)
        if (is(ys_view_or(works[i].model, ""), model))
            title = ys_view_or(works[i].title, model);
    ys_text_clean(&w->text, title, false);
}

static const char *verb_of(const struct ys_view_trial *trial, bool plural)
{
    return trial->infers ? plural ? "run" : "runs" : plural ? "train" : "trains";
}

/** "on 2 threads", "with batch 64". */
static void put_setting(struct words *w, const struct ys_view_trial *trial, const char *name, const ys_json *value)
{
    ys_buf_printf(&w->text, "%s ", is(name, "threads") ? ys_view_joint(trial, name) : "with");
    ys_view_put_factor(&w->text, trial, name, value);
}

/** Whether two differ in more than one factor: then each is named whole. */
static bool is_several(const char *varies)
{
    return strchr(varies, ',') || is(varies, "section");
}

/** Whether both sides are named by themselves, where else one name is followed by both values. */
static bool has_names(const char *varies)
{
    return is(varies, "framework") || is_several(varies);
}

/** What a sentence begins with. */
static void put_subject(struct words *w, const struct ys_view_trial *trial, const char *varies)
{
    if (is_several(varies))
        ys_view_put_phrase(&w->text, w->view, trial, NULL);
    else
        ys_buf_puts(&w->text, trial->title);
}

/** " on 2 threads with batch 64 (section)": all settings but `varies`; threads also when no trial differs in them. An
 * option that only `other` (may be NULL) has, being of another framework, is told as well. */
static void put_settings(struct words *w, const struct ys_view_trial *trial, const struct ys_view_trial *other,
                         const char *varies)
{
    const ys_json *threads = ys_view_value(trial, "threads");
    if (is_several(varies))
        return;
    if (threads && ys_json_type_of(threads) == YS_JSON_INT && !is(varies, "threads")) {
        ys_buf_puts(&w->text, " ");
        put_setting(w, other && ys_view_is_alone(other) ? other : trial, "threads", threads);
    }
    for (size_t i = 0; i < ys_view_axes(w->view); i++) {
        const char *axis = ys_view_axis(w->view, i);
        const ys_json *value = ys_json_get(trial->told.factors, axis);
        if (!value && other)
            value = ys_json_get(other->told.factors, axis);
        if (value && !is(axis, varies) && !is(axis, "threads")) {
            ys_buf_puts(&w->text, " ");
            put_setting(w, trial, axis, value);
        }
    }
    if (w->view->many_sections) {
        ys_buf_puts(&w->text, " in ");
        ys_text_clean(&w->text, ys_view_or(trial->told.section, "its section"), false);
    }
}

/** Ratios of one sentence, all with the same decimals: two near 1, so that "1.0 times" never hides a difference. */
struct ratios {
    double ratio, lo, hi;
    int decimals;
};

/** Turns a ratio below 1 round, so that the faster one can be named first. The inverse of a median of ratios is the
 * median of the inverse ratios for an odd number of them; for an even number the two differ by at most ((h - l) / (h +
 * l))^2 of it, where l and h are the middle two: below half a percent, less than what is shown, for the intervals that
 * are let through here. */
static bool turn_round(const struct ys_view_comparison *comparison, struct ratios *r)
{
    bool tight = isfinite(r->lo) && isfinite(r->hi) && r->lo > 0 && r->hi < 1.15 * r->lo;
    if (r->ratio <= 0 || r->ratio >= 1 || !isfinite(r->lo) || r->lo <= 0 || (!tight && comparison->n % 2 == 0))
        return false;
    *r = (struct ratios){1 / r->ratio, 1 / r->hi, 1 / r->lo, 0};
    return true;
}

static void choose_decimals(struct ratios *r)
{
    double nearest = fabs(r->ratio);
    if (isfinite(r->lo) && isfinite(r->hi))
        nearest = fmin(nearest, fmin(fabs(r->lo), fabs(r->hi)));
    r->decimals = nearest < 1.15 ? 2 : nearest < 9.95 ? 1 : 0;
    if (fabs(r->ratio) < 0.1)
        r->decimals = 3;
    double shown = pow(10, r->decimals);
    if (r->decimals == 1 && round(r->lo * shown) == round(r->hi * shown) && r->lo < r->hi)
        r->decimals = 2;
}

static struct ratios read_ratios(const struct ys_view_comparison *comparison)
{
    struct ratios r = {.ratio = comparison->ratio, .lo = comparison->lo, .hi = comparison->hi};
    choose_decimals(&r);
    return r;
}

/** "(1.8 to 2.0, 6 rounds)", or "(3 rounds: too few for an interval)". */
static void put_evidence(struct words *w, const struct ys_view_comparison *comparison, const struct ratios *r)
{
    long long rounds = comparison->n;
    struct ys_label count = ys_label_plural(rounds, "round");
    if (isfinite(r->lo) && isfinite(r->hi))
        ys_buf_printf(&w->text, "(%.*f to %.*f, %s", r->decimals, r->lo, r->decimals, r->hi, count.text);
    else
        ys_buf_printf(&w->text, rounds < 6 ? "(%s: too few for an interval" : "(%s, no interval", count.text);
    ys_section_taken(&w->text, comparison, false);
    ys_buf_puts(&w->text, ")");
}

/** The comparison of another metric between the same two trials, NULL when there is none. */
static const struct ys_view_comparison *sibling(const struct words *w, const struct ys_view_comparison *comparison,
                                                const char *metric)
{
    for (size_t i = 0; i < w->view->comparison_count; i++) {
        const struct ys_view_comparison *other = &w->view->comparisons[i];
        if (is(ys_view_or(other->metric, ""), metric) && is(ys_view_or(other->a, ""), ys_view_or(comparison->a, "?")) &&
            is(ys_view_or(other->b, ""), ys_view_or(comparison->b, "?")))
            return other;
    }
    return NULL;
}

/** "; the median latency of a request is 45.1 us against 190 us." */
static void put_latency(struct words *w, const struct ys_view_trial *a, const struct ys_view_trial *b)
{
    const char *name = "latency_p50_s";
    if (isfinite(ys_view_number(a, name)) && isfinite(ys_view_number(b, name)))
        ys_buf_printf(&w->text, "; the median latency of a request is %s against %s",
                      ys_view_label(ys_view_metric(a, name)).text, ys_view_label(ys_view_metric(b, name)).text);
    ys_buf_puts(&w->text, ".");
}

/** ", at the same verified accuracy." and its kin, of tokens their bits, of requests their latency. "The same" is said
 * only when the verdict, or every round, says so. */
static void put_learned(struct words *w, const struct ys_view_comparison *comparison, const struct ys_view_trial *a,
                        const struct ys_view_trial *b)
{
    const char *bits = "bits_per_token";
    const bool tokens = isfinite(ys_view_number(a, bits)) && isfinite(ys_view_number(b, bits));
    const char *metric = tokens ? bits : "accuracy", *what = tokens ? "bits a token" : "verified accuracy";
    if (!isfinite(ys_view_number(a, metric)) || !isfinite(ys_view_number(b, metric))) {
        put_latency(w, a, b);
        return;
    }
    const struct ys_view_comparison *other = sibling(w, comparison, metric);
    const int verdict = other ? other->verdict : YS_NAME_NONE;
    const struct ys_view_metric of_a = ys_view_metric(a, metric), of_b = ys_view_metric(b, metric);
    const struct ys_label label_a = ys_view_label(of_a), label_b = ys_view_label(of_b);
    if (verdict == YS_VERDICT_SAME || ys_view_same_values(of_a, of_b))
        ys_buf_printf(&w->text, ", at the same %s (%s, %s).", what, label_a.text, label_b.text);
    else if (verdict == YS_VERDICT_BETTER || verdict == YS_VERDICT_WORSE)
        ys_buf_printf(&w->text, ", but at %s %s: %s against %s.", tokens ? "other" : "another", what, label_a.text,
                      label_b.text);
    else
        ys_buf_printf(&w->text, "; %s %s against %s.", what, label_a.text, label_b.text);
}

/** "builtin" and "PyTorch", or "on 2 threads" and "on 1 thread". */
static void put_side(struct words *w, const struct ys_view_trial *trial, const char *varies)
{
    if (has_names(varies))
        put_subject(w, trial, varies);
    else
        put_setting(w, trial, varies, ys_view_value(trial, varies));
}

static void say_faster(struct words *w, const struct ys_view_comparison *comparison, const struct ys_view_trial *a,
                       const struct ys_view_trial *b, const char *varies)
{
    struct ratios r = read_ratios(comparison);
    if (turn_round(comparison, &r)) {
        const struct ys_view_trial *slower = a;
        a = b;
        b = slower;
        choose_decimals(&r);
    }
    bool faster = r.ratio >= 1, frameworks = has_names(varies);
    put_subject(w, a, varies);
    ys_buf_printf(&w->text, " %s ", verb_of(a, false));
    put_model(w, a);
    ys_buf_puts(&w->text, faster ? " " : " more slowly");
    if (faster)
        ys_buf_printf(&w->text, "%.*f times as fast", r.decimals, r.ratio);
    if (!frameworks) {
        ys_buf_puts(&w->text, " ");
        put_side(w, a, varies);
    }
    ys_buf_puts(&w->text, faster ? " as " : " than ");
    put_side(w, b, varies);
    put_settings(w, a, b, varies);
    if (!faster)
        ys_buf_printf(&w->text, ", at %.*f times %s speed", r.decimals, r.ratio, frameworks ? "its" : "the");
    ys_buf_puts(&w->text, " ");
    put_evidence(w, comparison, &r);
    put_learned(w, comparison, a, b);
}

static void say_same(struct words *w, const struct ys_view_comparison *comparison, const struct ys_view_trial *a,
                     const struct ys_view_trial *b, const char *varies)
{
    struct ratios r = read_ratios(comparison);
    double margin = w->view->study.margin;
    r.decimals = 2;
    const bool names = has_names(varies);
    put_subject(w, a, varies);
    ys_buf_puts(&w->text, names ? " and " : "");
    if (names)
        put_subject(w, b, varies);
    ys_buf_printf(&w->text, " %s ", verb_of(a, names));
    put_model(w, a);
    ys_buf_puts(&w->text, names ? " equally fast" : " as fast ");
    if (!names) {
        put_side(w, a, varies);
        ys_buf_puts(&w->text, " as ");
        put_side(w, b, varies);
    }
    put_settings(w, a, b, varies);
    if (isfinite(margin))
        ys_buf_printf(&w->text, ", within the margin of %s", ys_label_share(margin).text);
    ys_buf_printf(&w->text, ": %.2f times ", r.ratio);
    put_evidence(w, comparison, &r);
    put_learned(w, comparison, a, b);
}

static void say_unclear(struct words *w, const struct ys_view_comparison *comparison, const struct ys_view_trial *a,
                        const struct ys_view_trial *b, const char *varies)
{
    struct ratios r = read_ratios(comparison);
    r.decimals = 2;
    ys_buf_puts(&w->text, "It is unclear whether ");
    put_subject(w, a, varies);
    ys_buf_printf(&w->text, " %s ", verb_of(a, false));
    put_model(w, a);
    ys_buf_puts(&w->text, " faster or slower ");
    if (!has_names(varies)) {
        put_side(w, a, varies);
        ys_buf_puts(&w->text, " ");
    }
    ys_buf_puts(&w->text, "than ");
    put_side(w, b, varies);
    put_settings(w, a, b, varies);
    if (isfinite(r.ratio)) {
        ys_buf_printf(&w->text, ": %.2f times as fast ", r.ratio);
        put_evidence(w, comparison, &r);
    }
    const char *reason = ys_view_or(comparison->reason, "");
    if (reason[0] && !(isfinite(r.ratio) && comparison->n < 6)) {
        ys_buf_puts(&w->text, "; ");
        ys_text_clean(&w->text, reason, false);
    }
    put_learned(w, comparison, a, b);
}

static void say_invalid(struct words *w, const struct ys_view_comparison *comparison, const struct ys_view_trial *a,
                        const struct ys_view_trial *b, const char *varies)
{
    const char *reason = ys_view_or(comparison->reason, "");
    if (has_names(varies)) {
        put_subject(w, a, varies);
        ys_buf_puts(&w->text, " and ");
        put_subject(w, b, varies);
    } else {
        ys_buf_printf(&w->text, "%s ", a->title);
        put_side(w, a, varies);
        ys_buf_puts(&w->text, " and ");
        put_side(w, b, varies);
    }
    put_settings(w, a, b, varies);
    ys_buf_puts(&w->text, " cannot be compared");
    if (reason[0]) {
        ys_buf_puts(&w->text, ": ");
        ys_text_clean(&w->text, reason, false);
    }
    if (w->text.size > 0 && w->text.data[w->text.size - 1] != '.')
        ys_buf_puts(&w->text, ".");
}

static bool say_comparison(struct words *w, const struct ys_view_comparison *comparison)
{
    const struct ys_view_trial *a = ys_view_find(w->view, ys_view_or(comparison->a, ""));
    const struct ys_view_trial *b = ys_view_find(w->view, ys_view_or(comparison->b, ""));
    const char *varies = ys_view_or(comparison->varies, "");
    const int verdict = comparison->verdict;
    if (!a || !b || (!has_names(varies) && (!ys_view_value(a, varies) || !ys_view_value(b, varies))))
        return false;
    bool ratio = isfinite(comparison->ratio);
    if ((verdict == YS_VERDICT_BETTER || verdict == YS_VERDICT_WORSE) && ratio)
        say_faster(w, comparison, a, b, varies);
    else if (verdict == YS_VERDICT_SAME && ratio)
        say_same(w, comparison, a, b, varies);
    else if (verdict == YS_VERDICT_UNCLEAR)
        say_unclear(w, comparison, a, b, varies);
    else if (verdict == YS_VERDICT_INVALID)
        say_invalid(w, comparison, a, b, varies);
    else
        return false;
    finish(w);
    return true;
}

/** A trial that was not measured is told of by its failure; its comparisons would only repeat that. */
static bool is_worth_saying(const struct words *w, const struct ys_view_comparison *comparison)
{
    if (!is(ys_view_or(comparison->metric, ""), "rate_per_s"))
        return false;
    const struct ys_view_trial *a = ys_view_find(w->view, ys_view_or(comparison->a, ""));
    const struct ys_view_trial *b = ys_view_find(w->view, ys_view_or(comparison->b, ""));
    return a && b && a->measured && b->measured && !a->no_work && !b->no_work;
}

/** Frameworks against each other first, then settings. */
static int say_comparisons(struct words *w)
{
    int said = 0, unsaid = 0;
    for (int frameworks = 1; frameworks >= 0; frameworks--)
        for (size_t i = 0; i < w->view->comparison_count; i++) {
            const struct ys_view_comparison *comparison = &w->view->comparisons[i];
            if (!is_worth_saying(w, comparison) ||
                is(ys_view_or(comparison->varies, ""), "framework") != (frameworks == 1))
                continue;
            if (said == MAX_COMPARISONS)
                unsaid++;
            else
                said += say_comparison(w, comparison);
        }
    if (unsaid > 0) {
        ys_buf_printf(&w->text, "%s of speed %s in the table of comparisons.",
                      ys_label_plural(unsaid, "more comparison").text, unsaid == 1 ? "is" : "are");
        finish(w);
    }
    return said;
}

/** "; half of its requests are answered within 45.1 us, 99 % within 80.3 us": what is known of that. */
static void put_percentiles(struct words *w, const struct ys_view_trial *trial)
{
    const char *median = "latency_p50_s", *most = "latency_p99_s";
    if (!isfinite(ys_view_number(trial, median)))
        return;
    ys_buf_printf(&w->text, "; half of its requests are answered within %s",
                  ys_view_label(ys_view_metric(trial, median)).text);
    if (isfinite(ys_view_number(trial, most)))
        ys_buf_printf(&w->text, ", 99 %% within %s", ys_view_label(ys_view_metric(trial, most)).text);
}

static void say_single(struct words *w, const struct ys_view_trial *trial)
{
    struct ys_view_metric metric = ys_view_metric(trial, "rate_per_s");
    struct ys_measure rate = ys_view_measure(metric);
    const struct ys_view_metric accuracy = ys_view_metric(trial, "accuracy"),
                                bits = ys_view_metric(trial, "bits_per_token");
    long long n = metric.n == YS_FIELD_NONE ? trial->runs - trial->failed : metric.n;
    ys_buf_printf(&w->text, "%s %s ", trial->title, verb_of(trial, false));
    put_model(w, trial);
    ys_buf_printf(&w->text, " at %s%s%s %s per second", rate.value.text, rate.unit.text[0] ? " " : "", rate.unit.text,
                  w->view->unit);
    put_settings(w, trial, NULL, "");
    struct ys_label runs = ys_label_plural(n, "run");
    if (rate.interval.text[0])
        ys_buf_printf(&w->text, " (%s%s, %s)", rate.interval.text, rate.unit.text, runs.text);
    else
        ys_buf_printf(&w->text, n < 6 ? " (%s: too few for an interval)" : " (%s)", runs.text);
    put_percentiles(w, trial);
    if (isfinite(bits.value))
        ys_buf_printf(&w->text, "; on the test set it needs %s bits a token", ys_view_label(bits).text);
    else if (isfinite(accuracy.value))
        ys_buf_printf(&w->text, "; its verified accuracy is %s", ys_view_label(accuracy).text);
    ys_buf_puts(&w->text, ".");
    finish(w);
}

static void say_singles(struct words *w)
{
    int said = 0, unsaid = 0;
    for (size_t i = 0; i < w->view->count; i++) {
        const struct ys_view_trial *trial = &w->view->trials[i];
        if (trial->no_work || !isfinite(ys_view_number(trial, "rate_per_s")))
            continue;
        if (said == MAX_SINGLE) {
            unsaid++;
            continue;
        }
        say_single(w, trial);
        said++;
    }
    if (unsaid > 0)
        ys_buf_printf(&w->text, "%s in the table.", ys_label_plural(unsaid, "more trial").text);
    else if (said == 1)
        ys_buf_puts(&w->text, "There is nothing to compare it with.");
    finish(w);
}

static void say_state(struct words *w)
{
    const int state = w->view->study.status;
    long long rounds = w->view->rounds, repeat = w->view->repeat;
    if (w->view->count == 0) {
        ys_buf_puts(&w->text, "The study has no trials.");
        finish(w);
        return;
    }
    const char *ended = state == YS_STUDY_INTERRUPTED  ? "was interrupted"
                        : state == YS_STUDY_TIME_LIMIT ? "reached its time limit"
                        : state == YS_STUDY_RUNNING    ? "is not finished"
                                                       : NULL;
    if (ended)
        ys_buf_printf(&w->text, "The study %s: %lld of %lld rounds %s complete", ended, rounds, repeat,
                      rounds == 1 ? "is" : "are");
    if (state == YS_STUDY_INTERRUPTED)
        ys_buf_printf(&w->text, "; `yardstick resume %lld` goes on", (long long)w->view->study.id);
    if (ended)
        ys_buf_puts(&w->text, ".");
    else if (state == YS_STUDY_FAILED && rounds == 0)
        ys_buf_puts(&w->text, "Nothing of the study could run.");
    finish(w);
}

/** What trials of one framework that failed in the same way have in common, as one text. */
static void put_way(struct ys_buf *out, const struct ys_view_trial *trial)
{
    ys_buf_printf(out, "%s\n%s\n%lld\n%lld\n%s\n", trial->framework, ys_run_status_name(trial->status),
                  (long long)trial->runs, (long long)trial->failed, ys_view_or(ys_stage_name(trial->told.stage), ""));
    ys_buf_puts(out, ys_view_or(trial->told.reason, ""));
}

/** {way: [place of its first trial, how many there are]}, in the order of the trials. */
static ys_json *find_ways(struct words *w)
{
    ys_json *ways = ys_json_object();
    for (size_t i = 0; i < w->view->count && w->status == YS_OK; i++) {
        const struct ys_view_trial *trial = &w->view->trials[i];
        struct ys_buf way = {0};
        if (trial->status == YS_RUN_OK && trial->failed == 0)
            continue;
        put_way(&way, trial);
        const ys_json *known = ys_json_get(ways, ys_buf_text(&way));
        int64_t first = ys_json_integer(ys_json_at(known, 0), (int64_t)i),
                times = ys_json_integer(ys_json_at(known, 1), 0);
        ys_json *entry = ys_json_array();
        w->status = ys_json_append(entry, ys_json_int(first));
        if (w->status == YS_OK)
            w->status = ys_json_append(entry, ys_json_int(times + 1));
        if (w->status == YS_OK)
            w->status = way.failed ? ys_out_of_memory() : ys_json_set(ways, ys_buf_text(&way), ys_json_ref(entry));
        ys_json_free(entry);
        ys_buf_free(&way);
    }
    return ways;
}

static void say_failure(struct words *w, const struct ys_view_trial *trial, int64_t times)
{
    ys_buf_puts(&w->text, times > 1 ? trial->title : is(trial->title, trial->framework) ? trial->name : trial->title);
    if (times == 1 && !is(trial->title, trial->framework))
        put_settings(w, trial, NULL, "");
    if (times > 1)
        ys_buf_printf(&w->text, " (%lld trials)", (long long)times);
    ys_buf_puts(&w->text, trial->measured ? " is measured in part: " : " has no result: ");
    ys_view_put_failure(&w->text, trial);
    ys_buf_puts(&w->text, ".");
    finish(w);
}

static void say_failures(struct words *w)
{
    ys_json *ways = find_ways(w);
    int64_t said = 0, unsaid = 0;
    for (void *it = ys_json_iter(ways); it; it = ys_json_next(ways, it)) {
        const ys_json *way = ys_json_iter_value(it);
        int64_t first = ys_json_integer(ys_json_at(way, 0), 0), times = ys_json_integer(ys_json_at(way, 1), 0);
        if (said++ < MAX_NAMES)
            say_failure(w, &w->view->trials[first], times);
        else
            unsaid += times;
    }
    ys_json_free(ways);
    if (unsaid > 0)
        ys_buf_printf(&w->text, "%s failed as the table says.", ys_label_plural(unsaid, "more trial").text);
    finish(w);
}

/** "name; name": `said` names of this sentence came before; the rest is counted by put_unsaid(). */
static void put_name(struct words *w, const struct ys_view_trial *trial, int said, const char *before)
{
    ys_buf_puts(&w->text, said == 0 ? before : said < MAX_NAMES ? "; " : "");
    ys_buf_puts(&w->text, said < MAX_NAMES ? trial->name : "");
}

static void put_unsaid(struct words *w, int said)
{
    if (said > MAX_NAMES)
        ys_buf_printf(&w->text, "; and %d more", said - MAX_NAMES);
}

/** One sentence about all trials with this verdict. */
static void say_proofs(struct words *w, enum ys_proof_verdict verdict, const char *before, const char *after)
{
    int said = 0;
    for (size_t i = 0; i < w->view->count; i++) {
        const struct ys_view_trial *trial = &w->view->trials[i];
        if (ys_view_verdict(trial) != verdict || (verdict == YS_PROOF_NONE && (trial->no_work || !trial->measured)))
            continue;
        put_name(w, trial, said++, before);
    }
    put_unsaid(w, said);
    if (said > 0)
        ys_buf_puts(&w->text, after);
    finish(w);
}

/** With the same weights: who answers otherwise than the built-in engine, or that nobody does. */
static void say_agreements(struct words *w)
{
    int asked = 0, apart = 0;
    for (size_t i = 0; i < w->view->count; i++) {
        const struct ys_view_trial *trial = &w->view->trials[i];
        struct ys_agreement_row row;
        if (!ys_agreement_row(trial, &row) || row.reason)
            continue;
        asked++;
        if (row.disagreements == 0)
            continue;
        put_name(w, trial, apart, "With the same weights another class than builtin's is answered by ");
        if (apart++ < MAX_NAMES)
            ys_buf_printf(&w->text, " for %s rows", row.cells[0].text);
    }
    put_unsaid(w, apart);
    if (apart > 0)
        ys_buf_puts(&w->text, ".");
    else if (asked > 0)
        ys_buf_puts(&w->text, "With the same weights every trial gives the answers that builtin gives.");
    finish(w);
}

static void say_no_work(struct words *w)
{
    int last = -1;
    for (size_t i = 0; i < w->view->count; i++) {
        const struct ys_view_trial *trial = &w->view->trials[i];
        if (!trial->no_work || trial->group == last || trial->member > 0)
            continue;
        last = trial->group;
        ys_buf_printf(&w->text, "%s does no work: its numbers show what measuring costs, not how fast anything learns.",
                      trial->title);
        finish(w);
    }
}

static void say_rounds(struct words *w)
{
    bool measured = false;
    for (size_t i = 0; i < w->view->count; i++)
        measured |= w->view->trials[i].measured;
    if (measured && w->view->rounds < 6)
        ys_buf_printf(&w->text, "With %s there are no intervals and no firm verdicts: 6 are needed.",
                      ys_label_plural(w->view->rounds, "complete round").text);
    finish(w);
}

static void say_all_proofs(struct words *w)
{
    say_proofs(w, YS_PROOF_FAIL, "The proof that the same work is done FAILED for ",
               ": comparisons with it are invalid, and its speed is that of other work.");
    say_proofs(w, YS_PROOF_WEAK, "The proof is weak, that it is the same work as far as it could be shown, for ", ".");
    say_proofs(w, YS_PROOF_NONE, "It is not proven that the same work is done by ", ".");
}

static bool doubts(const struct ys_view_trial *trial, const char *text)
{
    for (size_t i = 0; i < ys_json_size(trial->told.doubts); i++)
        if (strcmp(ys_json_text(ys_json_at(trial->told.doubts, i), ""), text) == 0)
            return true;
    return false;
}

/* Whether a trial before number `index` has it too, and said it for both. */
static bool is_doubted_before(const struct ys_view *view, size_t index, const char *text)
{
    for (size_t i = 0; i < index; i++)
        if (doubts(&view->trials[i], text))
            return true;
    return false;
}

/* One doubt, with all trials that have it. */
static void say_doubt(struct words *w, size_t from, const char *text)
{
    int said = 0;
    for (size_t i = from; i < w->view->count; i++)
        if (doubts(&w->view->trials[i], text))
            put_name(w, &w->view->trials[i], said++, "");
    put_unsaid(w, said);
    ys_buf_puts(&w->text, ": ");
    ys_text_clean(&w->text, text, false);
    ys_buf_puts(&w->text, ".");
    finish(w);
}

static void say_doubts(struct words *w)
{
    for (size_t i = 0; i < w->view->count; i++) {
        const ys_json *texts = w->view->trials[i].told.doubts;
        for (size_t k = 0; k < ys_json_size(texts); k++) {
            const char *text = ys_json_text(ys_json_at(texts, k), "");
            if (!is_doubted_before(w->view, i, text))
                say_doubt(w, i, text);
        }
    }
}

ys_status ys_words(const struct ys_view *view, unsigned parts, ys_json **sentences)
{
    struct words w = {.view = view, .sentences = ys_json_array(), .status = YS_OK};
    if (!w.sentences)
        w.status = ys_out_of_memory();
    if (parts & YS_WORDS_STATE)
        say_state(&w);
    if (w.status == YS_OK && (parts & YS_WORDS_DISTURBED))
        w.status = ys_observed_disturbed(w.view, w.sentences);
    if ((parts & YS_WORDS_SPEED) && say_comparisons(&w) == 0)
        say_singles(&w);
    if (parts & YS_WORDS_SPEED)
        say_doubts(&w);
    if (parts & YS_WORDS_ANSWERS)
        say_agreements(&w);
    if (parts & YS_WORDS_BOUNDS)
        say_rounds(&w);
    if (parts & YS_WORDS_FAILED)
        say_failures(&w);
    if (parts & YS_WORDS_PROOFS)
        say_all_proofs(&w);
    if (parts & YS_WORDS_BOUNDS)
        say_no_work(&w);
    ys_buf_free(&w.text);
    if (w.status != YS_OK) {
        ys_json_free(w.sentences);
        return w.status;
    }
    *sentences = w.sentences;
    return YS_OK;
}

ys_status ys_report_words(const ys_json *result, ys_json **sentences)
{
    struct ys_view view;
    YS_TRY(ys_view_init(&view, result));
    ys_status status = ys_words(&view, YS_WORDS_ALL, sentences);
    ys_view_fini(&view);
    return status;
}
