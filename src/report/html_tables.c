#include "base/mem.h"
#include "base/record.h"
#include "report/html.h"
#include "report/section.h"
#include "report/text.h"
#include "verify/audit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ys_html_heads(struct ys_buf *out, const char *remark, const char *const *heads, size_t count)
{
    if (remark)
        ys_html_put(out, "p", "soft", remark);
    ys_buf_puts(out, "<div class=\"scroll\">\n<table class=\"sort\">\n<tr>\n");
    for (size_t i = 0; i < count; i++)
        ys_html_put(out, "th", heads[i][0] == '#' ? "n" : NULL, heads[i] + (heads[i][0] == '#'));
    ys_buf_puts(out, "</tr>\n");
}

void ys_html_table_end(struct ys_buf *out)
{
    ys_buf_puts(out, "</table>\n</div>\n");
}

/** A cell of a number: the text for people, and the number itself, by which a column is sorted. */
static void put_number(struct ys_buf *out, double value, const char *text)
{
    if (isfinite(value))
        ys_buf_printf(out, "<td class=\"n\" data-v=\"%.6g\">", value);
    else
        ys_buf_puts(out, "<td class=\"n\">");
    ys_text_html(out, text);
    ys_buf_puts(out, "</td>\n");
}

static void put_measure(struct ys_buf *out, struct ys_view_metric metric, bool interval)
{
    struct ys_measure measure = ys_view_measure(metric);
    struct ys_buf text = {0};
    if (interval)
        ys_buf_printf(&text, "%s%s%s", measure.value.text, measure.unit.text[0] ? " " : "", measure.unit.text);
    else
        ys_buf_puts(&text, ys_view_label(metric).text);
    if (interval && measure.interval.text[0])
        ys_buf_printf(&text, " %s", measure.interval.text);
    put_number(out, metric.value, ys_buf_text(&text));
    out->failed |= text.failed;
    ys_buf_free(&text);
}

static long long count_of(struct ys_view_metric metric)
{
    return metric.n == YS_FIELD_NONE ? 0 : metric.n;
}

static const char *proof_css(enum ys_proof_verdict verdict)
{
    return verdict == YS_PROOF_PASS ? "v good" : verdict == YS_PROOF_FAIL ? "v bad" : "v";
}

static const char *verdict_css(int verdict)
{
    if (verdict == YS_VERDICT_BETTER)
        return "v good";
    return verdict == YS_VERDICT_WORSE || verdict == YS_VERDICT_INVALID ? "v bad" : "v";
}

#define TEXT(type, member) YS_FIELD(type, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "")
#define REAL(type, member) YS_FIELD(type, member, YS_FIELD_REAL, NULL, YS_FIELD_NULL, "")

/** A check of a proof, in a document. */
struct check {
    const char *half, *name, *worst;
    double error, bound;
    int pass; /* YS_NAME_NONE: it was not judged */
};
static const struct ys_field check_fields[] = {
    TEXT(struct check, half),
    TEXT(struct check, name),
    REAL(struct check, error),
    REAL(struct check, bound),
    YS_FIELD(struct check, pass, YS_FIELD_TRUTH, NULL, YS_FIELD_NULL, ""),
    TEXT(struct check, worst),
};
static const struct ys_record check_record = YS_RECORD("check", struct check, check_fields);

/** How a run ended, in a document. */
struct ended {
    int64_t round;
    int status, stage; /* enum ys_run_status, enum ys_stage */
    const char *message, *log_tail;
};
static const struct ys_field ended_fields[] = {
    YS_FIELD(struct ended, round, YS_FIELD_INT, NULL, 0, ""),
    YS_FIELD_NAMED(struct ended, status, &ys_run_statuses, YS_FIELD_NULL, ""),
    YS_FIELD_NAMED(struct ended, stage, &ys_stages, YS_FIELD_NULL, ""), TEXT(struct ended, message),
    TEXT(struct ended, log_tail)};
static const struct ys_record ended_record = YS_RECORD("run", struct ended, ended_fields);

/** What a metric of a document says of itself. */
struct origin {
    const char *method, *scope, *source, *reason;
};
static const struct ys_field origin_fields[] = {TEXT(struct origin, method), TEXT(struct origin, scope),
                                                TEXT(struct origin, source), TEXT(struct origin, reason)};
static const struct ys_record origin_record = YS_RECORD("metric", struct origin, origin_fields);

static void put_interval(struct ys_buf *out, const struct ys_measure *measure, const char *space, long long n)
{
    struct ys_buf text = {0};
    if (measure->interval.text[0])
        ys_buf_printf(&text, "%s%s%s", measure->interval.text, measure->unit.text[0] ? space : "", measure->unit.text);
    else
        ys_buf_printf(&text, "n = %lld: none", n);
    ys_html_put(out, "td", "n", ys_buf_text(&text));
    out->failed |= text.failed;
    ys_buf_free(&text);
}

static void put_result_row(struct ys_buf *out, const struct ys_view_trial *trial, const char *const *metrics,
                           size_t count)
{
    struct ys_view_metric rate = ys_view_metric(trial, "rate_per_s");
    struct ys_measure measure = ys_view_measure(rate);
    struct ys_buf text = {0};
    ys_buf_printf(&text, "%s%s", measure.value.text, measure.unit.text);
    put_number(out, rate.value, ys_buf_text(&text));
    put_interval(out, &measure, "", rate.n == YS_FIELD_NONE ? trial->runs - trial->failed : rate.n);
    for (size_t i = 0; i < count; i++)
        put_measure(out, ys_view_metric(trial, metrics[i]), false);
    ys_buf_clear(&text);
    ys_buf_printf(&text, "%lld", (long long)(trial->runs - trial->failed));
    ys_html_put(out, "td", "n", ys_buf_text(&text));
    const enum ys_proof_verdict verdict = ys_view_verdict(trial);
    ys_html_put(out, "td", trial->no_work ? "v soft" : proof_css(verdict),
                trial->no_work ? "does no work" : ys_name_of(&ys_proof_verdicts, (int)verdict));
    out->failed |= text.failed;
    ys_buf_free(&text);
}

typedef const ys_json *(*remarks_of)(const struct ys_view_trial *trial);

static const ys_json *deviations_of(const struct ys_view_trial *trial)
{
    return trial->told.deviations;
}

static const ys_json *warnings_of(const struct ys_view_trial *trial)
{
    return trial->told.warnings;
}

static void put_remarks(struct ys_buf *out, const struct ys_view *view, remarks_of of)
{
    size_t total = 0;
    ys_buf_puts(out, "<ul>\n");
    for (size_t i = 0; i < view->count; i++) {
        const ys_json *remarks = of(&view->trials[i]);
        for (size_t k = 0; k < ys_json_size(remarks); k++) {
            struct ys_buf text = {0};
            if (total++ >= YS_HTML_MOST)
                continue;
            ys_buf_printf(&text, "%s: ", view->trials[i].name);
            ys_view_put_value(&text, ys_json_at(remarks, k));
            ys_html_put(out, "li", NULL, ys_buf_text(&text));
            out->failed |= text.failed;
            ys_buf_free(&text);
        }
    }
    ys_buf_puts(out, "</ul>\n");
    ys_html_say_cut(out, view, YS_HTML_MOST, total, "remarks");
}

/** How many trials a table has rows for, and the sentence below one that has not all. */
static size_t rows_of(const struct ys_view *view)
{
    return view->count < YS_HTML_MOST ? view->count : YS_HTML_MOST;
}

static void say_rows(struct ys_buf *out, const struct ys_view *view)
{
    ys_html_say_cut(out, view, YS_HTML_MOST, view->count, "trials");
}

static bool has_remarks(const struct ys_view *view, remarks_of of)
{
    for (size_t i = 0; i < view->count; i++)
        if (ys_json_size(of(&view->trials[i])) > 0)
            return true;
    return false;
}

/** Why a trial has no numbers, or which runs failed, beside its name; "" names it no more. */
static void put_failed_row(struct ys_buf *out, const char *name, const char *failure, size_t columns)
{
    ys_buf_puts(out, name[0] ? "<tr>\n" : "<tr class=\"more\">\n");
    if (name[0])
        ys_html_put(out, "td", "name", name);
    else
        ys_buf_puts(out, "<td></td>\n");
    ys_buf_printf(out, "<td class=\"bad\" colspan=\"%zu\">", columns);
    ys_text_html(out, failure[0] ? failure : "no complete run");
    ys_buf_puts(out, "</td>\n</tr>\n");
}

/** All columns are those of `metrics`, and the name, the rate, its interval, the number of runs and the proof. */
enum { YS_OTHER_COLUMNS = 5 };

static void put_trial_rows(struct ys_buf *out, const struct ys_view_trial *trial, const char *const *metrics,
                           size_t count)
{
    struct ys_buf failure = {0};
    ys_view_put_failure(&failure, trial);
    if (trial->measured) {
        ys_buf_puts(out, "<tr>\n");
        ys_html_put(out, "td", "name", trial->name);
        put_result_row(out, trial, metrics, count);
        ys_buf_puts(out, "</tr>\n");
    }
    if (!trial->measured || failure.size > 0)
        put_failed_row(out, trial->measured ? "" : trial->name, failure.size ? ys_buf_text(&failure) : "",
                       count + YS_OTHER_COLUMNS - 1);
    out->failed |= failure.failed;
    ys_buf_free(&failure);
}

/** The head of a column of numbers, in `label`. */
static const char *head_of(const char *metric, struct ys_label *label)
{
    snprintf(label->text, sizeof label->text, "#%.46s", ys_view_metric_head(metric, false).text);
    return label->text;
}

/** What fed the trials, where somebody did. */
static void put_feeders(struct ys_buf *out, const struct ys_view *view)
{
    size_t total = 0;
    for (size_t i = 0; i < view->count; i++) {
        struct ys_buf text = {0};
        ys_section_feeder(&text, &view->trials[i]);
        if (text.size > 0 && total++ < YS_HTML_MOST) {
            if (total == 1) {
                ys_html_put(out, "h3", NULL, YS_SECTION_FED);
                ys_buf_puts(out, "<ul>\n");
            }
            ys_html_put(out, "li", NULL, ys_buf_text(&text));
        }
        out->failed |= text.failed;
        ys_buf_free(&text);
    }
    if (total > 0) {
        ys_buf_puts(out, "</ul>\n");
        ys_html_say_cut(out, view, YS_HTML_MOST, total, "feeders");
    }
}

void ys_html_results(struct ys_buf *out, const struct ys_view *view)
{
    char *rate = ys_format("#Rate, %s per second", view->unit);
    struct ys_label titles[YS_RESULT_COLUMNS];
    const char *heads[YS_RESULT_COLUMNS + YS_OTHER_COLUMNS] = {"Trial", rate ? rate : "#Rate", "#Interval"};
    const char *metrics[YS_RESULT_COLUMNS];
    const size_t count = ys_section_columns(view, true, metrics);
    for (size_t i = 0; i < count; i++)
        heads[3 + i] = head_of(metrics[i], &titles[i]);
    heads[3 + count] = "#Runs";
    heads[4 + count] = "Same work";
    ys_html_put(out, "h3", NULL, "Results");
    struct ys_buf remark = {0};
    ys_buf_puts(&remark, "Medians of the runs of each trial. ");
    ys_section_level(&remark, view);
    ys_html_heads(out, ys_buf_text(&remark), heads, count + YS_OTHER_COLUMNS);
    out->failed |= remark.failed || !rate;
    ys_buf_free(&remark);
    ys_free(rate);
    for (size_t i = 0; i < rows_of(view); i++)
        put_trial_rows(out, &view->trials[i], metrics, count);
    ys_html_table_end(out);
    say_rows(out, view);
    put_feeders(out, view);
    if (has_remarks(view, deviations_of)) {
        ys_html_put(out, "h3", NULL, "Deviations from the common work");
        put_remarks(out, view, deviations_of);
    }
}

void ys_html_metric_table(struct ys_buf *out, const struct ys_view *view, const char *const *metrics)
{
    enum { MOST = 8 };
    const char *heads[MOST + 1] = {"Trial"}, *shown[MOST];
    struct ys_label titles[MOST];
    size_t count = 0;
    for (; *metrics && count < MOST; metrics++) {
        bool any = false;
        for (size_t i = 0; i < view->count && !any; i++)
            any = isfinite(ys_view_number(&view->trials[i], *metrics));
        if (!any)
            continue;
        heads[count + 1] = head_of(*metrics, &titles[count]);
        shown[count++] = *metrics;
    }
    if (count == 0)
        return;
    ys_html_heads(out, "Medians of the runs of each trial.", heads, count + 1);
    for (size_t i = 0; i < rows_of(view); i++) {
        if (!view->trials[i].measured)
            continue;
        ys_buf_puts(out, "<tr>\n");
        ys_html_put(out, "td", "name", view->trials[i].name);
        for (size_t k = 0; k < count; k++)
            put_measure(out, ys_view_metric(&view->trials[i], shown[k]), true);
        ys_buf_puts(out, "</tr>\n");
    }
    ys_html_table_end(out);
    say_rows(out, view);
}

void ys_html_latencies(struct ys_buf *out, const struct ys_view *view)
{
    const char *heads[YS_LATENCY_PARTS + 2] = {"Trial"};
    struct ys_label titles[YS_LATENCY_PARTS];
    size_t count = 1;
    bool any = false;
    for (size_t i = 0; i < view->count; i++)
        any |= view->trials[i].infers && isfinite(ys_view_number(&view->trials[i], ys_latency_parts[0]));
    if (!any)
        return;
    ys_html_put(out, "h3", NULL, "Latencies");
    for (size_t k = 0; k < YS_LATENCY_PARTS; k++) {
        heads[count++] = head_of(ys_latency_parts[k], &titles[k]);
        if (k == 0)
            heads[count++] = "#Interval";
    }
    ys_html_heads(out, "Medians of the runs of each trial.", heads, count);
    for (size_t i = 0; i < rows_of(view); i++) {
        const struct ys_view_trial *trial = &view->trials[i];
        struct ys_view_metric median = ys_view_metric(trial, ys_latency_parts[0]);
        struct ys_measure measure = ys_view_measure(median);
        if (!trial->infers || !isfinite(ys_view_number(trial, ys_latency_parts[0])))
            continue;
        ys_buf_puts(out, "<tr>\n");
        ys_html_put(out, "td", "name", trial->name);
        for (size_t k = 0; k < YS_LATENCY_PARTS; k++) {
            put_measure(out, ys_view_metric(trial, ys_latency_parts[k]), false);
            if (k == 0)
                put_interval(out, &measure, " ", count_of(median));
        }
        ys_buf_puts(out, "</tr>\n");
    }
    ys_html_table_end(out);
    say_rows(out, view);
}

enum { COMPARISON_COLUMNS = 7 };

/** What bounds a comparison, and what else there is to say of it, below it: in columns of their own they would take the
 * width that the numbers need. */
static void put_comparison_remark(struct ys_buf *out, const struct ys_view_comparison *comparison)
{
    struct ys_buf text = {0};
    ys_section_bounds(&text, comparison);
    if (comparison->reason && comparison->reason[0])
        ys_buf_printf(&text, "%s%s", text.size ? "; " : "", comparison->reason);
    if (text.size) {
        ys_buf_printf(out, "<tr class=\"more\">\n<td class=\"soft\" colspan=\"%d\">", (int)COMPARISON_COLUMNS);
        ys_html_put(out, "span", NULL, ys_buf_text(&text));
        ys_buf_puts(out, "</td>\n</tr>\n");
    }
    out->failed |= text.failed;
    ys_buf_free(&text);
}

static void put_comparison(struct ys_buf *out, const struct ys_view *view, const struct ys_view_comparison *comparison)
{
    struct ys_effect effect = ys_section_effect(comparison);
    struct ys_label smallest = ys_section_smallest(comparison);
    struct ys_buf text = {0};
    ys_view_put_pair(&text, view, comparison);
    ys_buf_puts(out, "<tr>\n");
    ys_html_put(out, "td", "name", ys_buf_text(&text));
    put_number(out, comparison->is_difference ? comparison->difference : comparison->ratio,
               effect.value.text[0] ? effect.value.text : "-");
    ys_html_put(out, "td", "n", effect.range.text[0] ? effect.range.text : "-");
    ys_buf_clear(&text);
    ys_buf_printf(&text, "%lld", (long long)comparison->n);
    ys_html_put(out, "td", "n", ys_buf_text(&text));
    ys_buf_clear(&text);
    if (effect.value.text[0])
        ys_section_base(&text, view, comparison);
    ys_html_put(out, "td", "n", text.size ? ys_buf_text(&text) : "-");
    ys_html_put(out, "td", verdict_css(comparison->verdict), ys_view_verdict_word(comparison));
    put_number(out, comparison->resolution, smallest.text[0] ? smallest.text : "-");
    ys_buf_puts(out, "</tr>\n");
    out->failed |= text.failed;
    ys_buf_free(&text);
    put_comparison_remark(out, comparison);
}

ys_status ys_html_comparisons(struct ys_buf *out, const struct ys_view *view)
{
    static const char *const heads[COMPARISON_COLUMNS] = {
        "First vs second", "#Ratio or difference", "#Interval", "#Rounds", "#Values", "Verdict", "#Could show"};
    double margin = view->study.margin;
    ys_json *metrics;
    YS_TRY(ys_section_compared(view, &metrics));
    if (ys_json_size(metrics) > 0) {
        ys_html_put(out, "h3", NULL, "Comparisons");
        ys_buf_puts(
            out, "<p>Each ratio is the centre, over matched rounds, of the first trial's value divided by the second's "
                 "(accuracies: the difference, in percentage points); the verdict says what the first is against the "
                 "second. The last column is the smallest difference that could have been shown.");
        if (isfinite(margin))
            ys_buf_printf(out, " Differences within %s count as the same.", ys_label_share(margin).text);
        ys_buf_puts(out, "</p>\n");
    }
    for (size_t m = 0; m < ys_json_size(metrics); m++) {
        const char *metric = ys_json_text(ys_json_at(metrics, m), "");
        ys_buf_puts(out, m == 0 ? "<details open>\n" : "<details>\n");
        ys_html_put(out, "summary", NULL, ys_view_metric_title(view, metric));
        ys_html_heads(out, NULL, heads, sizeof heads / sizeof heads[0]);
        size_t total = 0;
        for (size_t i = 0; i < view->comparison_count; i++)
            if (strcmp(ys_view_or(view->comparisons[i].metric, ""), metric) == 0 && total++ < YS_HTML_MOST)
                put_comparison(out, view, &view->comparisons[i]);
        ys_html_table_end(out);
        ys_html_say_cut(out, view, YS_HTML_MOST, total, "comparisons");
        ys_buf_puts(out, "</details>\n");
    }
    ys_json_free(metrics);
    return YS_OK;
}

/** What came of going through a stretch of a run again; nothing where no audit was made. */
static void put_audit(struct ys_buf *out, const ys_json *said)
{
    struct ys_buf text = {0};
    struct ys_audit audit;
    if (!said || ys_record_read(&ys_audit_record, said, "audit", &audit) != YS_OK)
        return;
    ys_buf_printf(&text, "Audit of its runs: %s", ys_name_of(&ys_audit_verdicts, audit.verdict));
    if (audit.reason)
        ys_buf_printf(&text, " (%s)", audit.reason);
    if (audit.place && audit.answers != YS_FIELD_NONE)
        ys_buf_printf(&text, "; %lld answers of its runs; closest to its bound: %s of round %lld, error %s, bound %s",
                      (long long)audit.answers, audit.place, (long long)audit.round + 1,
                      ys_label_error(isnan(audit.error) ? INFINITY : audit.error).text,
                      ys_label_error(audit.bound).text);
    else if (audit.place)
        ys_buf_printf(
            &text, "; %lld steps from step %lld of a run like round %lld; closest to its bound: %s, error %s, bound %s",
            (long long)audit.steps, (long long)audit.step, (long long)audit.round + 1, audit.place,
            ys_label_error(isnan(audit.error) ? INFINITY : audit.error).text, ys_label_error(audit.bound).text);
    if (audit.compared > 0)
        ys_buf_printf(
            &text,
            "; of %lld losses that the timed run of that round has as well, the first %lld are the same to the bit",
            (long long)audit.compared, (long long)audit.same);
    if (isfinite(audit.run_s) && isfinite(audit.judge_s))
        ys_buf_printf(&text, "; its run took %.3g s, to go through these steps again %.3g s", audit.run_s,
                      audit.judge_s);
    ys_html_put(out, "p", NULL, ys_buf_text(&text));
    out->failed |= text.failed;
    ys_buf_free(&text);
    ys_record_fini(&ys_audit_record, &audit);
}

static void put_proof(struct ys_buf *out, const struct ys_view_trial *trial)
{
    static const char *const heads[] = {"Part", "What was compared", "#Error", "#Bound", "Verdict", "Worst tensor"};
    const ys_json *checks = trial->told.proof.checks, *diagnosis = trial->told.proof.diagnosis;
    const enum ys_proof_verdict verdict = ys_view_verdict(trial);
    const char *reason = ys_view_or(trial->told.proof.reason, "");
    ys_buf_puts(out, verdict == YS_PROOF_FAIL ? "<details open>\n<summary>" : "<details>\n<summary>");
    ys_text_html(out, trial->name);
    ys_buf_puts(out, ": ");
    ys_buf_printf(out, "<strong class=\"%s\">%s", proof_css(verdict), ys_name_of(&ys_proof_verdicts, (int)verdict));
    ys_buf_puts(out, reason[0] ? "</strong>, " : "</strong>");
    ys_text_html(out, reason);
    ys_buf_puts(out, "</summary>\n");
    if (ys_json_size(checks) > 0)
        ys_html_heads(out, NULL, heads, sizeof heads / sizeof heads[0]);
    for (size_t i = 0; i < ys_json_size(checks); i++) {
        struct check check;
        ys_record_glance(&check_record, ys_json_at(checks, i), &check);
        ys_buf_puts(out, "<tr>\n");
        ys_html_put(out, "td", NULL, ys_view_or(check.half, ""));
        ys_html_put(out, "td", "name", ys_view_or(check.name, ""));
        ys_html_put(out, "td", "n", ys_label_error(check.error).text);
        ys_html_put(out, "td", "n", check.bound == 0 ? "equal" : ys_label_error(check.bound).text);
        ys_html_put(out, "td",
                    check.pass == YS_NAME_NONE ? "v"
                    : check.pass               ? "v good"
                                               : "v bad",
                    check.pass == YS_NAME_NONE ? "not judged"
                    : check.pass               ? "pass"
                                               : "FAIL");
        ys_html_put(out, "td", "wide", ys_view_or(check.worst, ""));
        ys_buf_puts(out, "</tr>\n");
    }
    if (ys_json_size(checks) > 0)
        ys_html_table_end(out);
    for (size_t i = 0; i < ys_json_size(diagnosis); i++)
        ys_html_put(out, "p", NULL, ys_json_text(ys_json_at(diagnosis, i), ""));
    put_audit(out, trial->told.proof.audit);
    ys_buf_puts(out, "</details>\n");
}

void ys_html_proofs(struct ys_buf *out, const struct ys_view *view)
{
    ys_html_put(out, "h3", NULL, "Is it the same work?");
    ys_html_put(out, "p", NULL,
                "Every trial is compared with a reference implementation in double precision, on the trial's own "
                "network, initial weights and batches. Pass: the same work. Weak: nothing differs, as far as it "
                "could be shown. Fail: other work, so that comparisons with it are invalid.");
    for (size_t i = 0; i < rows_of(view); i++)
        put_proof(out, &view->trials[i]);
    say_rows(out, view);
}

void ys_html_warnings(struct ys_buf *out, const struct ys_view *view)
{
    const ys_json *host = view->host_warnings;
    if (!has_remarks(view, warnings_of) && ys_json_size(host) == 0)
        return;
    ys_html_put(out, "h3", NULL, "Warnings");
    ys_buf_puts(out, ys_json_size(host) ? "<ul>\n" : "");
    for (size_t i = 0; i < ys_json_size(host); i++) {
        struct ys_buf text = {0};
        ys_view_put_value(&text, ys_json_at(host, i));
        ys_html_put(out, "li", NULL, ys_buf_text(&text));
        out->failed |= text.failed;
        ys_buf_free(&text);
    }
    ys_buf_puts(out, ys_json_size(host) ? "</ul>\n" : "");
    if (has_remarks(view, warnings_of))
        put_remarks(out, view, warnings_of);
}

static void put_failed_run(struct ys_buf *out, const struct ys_view_trial *trial, const struct ended *run)
{
    const char *log = ys_view_or(run->log_tail, ""), *message = ys_view_or(run->message, "");
    const char *stage = ys_stage_name(run->stage);
    struct ys_buf text = {0};
    ys_buf_printf(&text, "%s, round %lld: ", trial->name, (long long)run->round + 1);
    ys_buf_puts(&text, ys_run_status_name((enum ys_run_status)run->status));
    if (stage)
        ys_buf_printf(&text, " in stage %s", stage);
    ys_buf_puts(&text, message[0] ? ": " : "");
    ys_text_clean(&text, message, false);
    ys_buf_puts(out, "<details>\n");
    ys_html_put(out, "summary", NULL, ys_buf_text(&text));
    ys_html_put(out, "pre", NULL, log[0] ? log : "(the log is empty)");
    ys_buf_puts(out, "</details>\n");
    out->failed |= text.failed;
    ys_buf_free(&text);
}

void ys_html_failures(struct ys_buf *out, const struct ys_view *view)
{
    size_t trials = 0, logs = 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct ys_view_trial *trial = &view->trials[i];
        const ys_json *runs = trial->told.runs_detail;
        struct ys_buf text = {0};
        ys_view_put_failure(&text, trial);
        if (text.size > 0 && trials++ < YS_HTML_MOST) {
            if (trials == 1)
                ys_html_put(out, "h3", NULL, "What did not run");
            ys_html_put(out, "h4", NULL, trial->name);
            ys_html_put(out, "p", "bad", ys_buf_text(&text));
            for (size_t k = 0; k < ys_json_size(runs); k++) {
                struct ended run;
                ys_record_glance(&ended_record, ys_json_at(runs, k), &run);
                if (run.status != YS_NAME_NONE && run.status != YS_RUN_OK && logs++ < YS_HTML_MOST)
                    put_failed_run(out, trial, &run);
            }
        }
        out->failed |= text.failed;
        ys_buf_free(&text);
    }
    ys_html_say_cut(out, view, YS_HTML_MOST, trials, "trials that failed");
    if (logs > YS_HTML_MOST)
        ys_buf_printf(out, "<p class=\"soft\">The logs of %d runs are shown; the study's folder has the others.</p>\n",
                      YS_HTML_MOST);
}

/* How the metric came about, where all trials that have it say the same; what differs from trial to trial is NULL. */
static struct origin common_origin(const struct ys_view *view, const char *name)
{
    struct origin common = {0};
    bool begun = false;
    for (size_t i = 0; i < rows_of(view); i++) {
        struct ys_view_metric metric = ys_view_metric(&view->trials[i], name);
        struct origin origin;
        if (!metric.known)
            continue;
        ys_record_glance(&origin_record, metric.json, &origin);
        const char *const own[] = {origin.method, origin.scope, origin.source};
        const char **const told[] = {&common.method, &common.scope, &common.source};
        for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
            if (!begun || (*told[k] && strcmp(*told[k], own[k] ? own[k] : "") != 0))
                *told[k] = begun ? NULL : own[k];
        begun = true;
    }
    return common;
}

static void put_common_origin(struct ys_buf *out, const struct origin *common)
{
    const char *const texts[] = {common->method, common->scope, common->source};
    struct ys_buf text = {0};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i] && texts[i][0])
            ys_buf_printf(&text, "%s%s", text.size ? "; " : "", texts[i]);
    if (text.size)
        ys_html_put(out, "p", "soft", ys_buf_text(&text));
    out->failed |= text.failed;
    ys_buf_free(&text);
}

static void put_metric_rows(struct ys_buf *out, const struct ys_view *view, const char *name,
                            const struct origin *common)
{
    for (size_t i = 0; i < rows_of(view); i++) {
        struct ys_view_metric metric = ys_view_metric(&view->trials[i], name);
        if (!metric.known)
            continue;
        ys_buf_puts(out, "<tr>\n");
        ys_html_put(out, "td", "name", view->trials[i].name);
        put_measure(out, metric, true);
        struct ys_buf text = {0};
        ys_buf_printf(&text, "%lld", (long long)count_of(metric));
        ys_html_put(out, "td", "n", ys_buf_text(&text));
        out->failed |= text.failed;
        ys_buf_free(&text);
        struct origin origin;
        ys_record_glance(&origin_record, metric.json, &origin);
        const char *const own[] = {origin.method, origin.scope, origin.source};
        const char *const told[] = {common->method, common->scope, common->source};
        for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
            if (!told[k])
                ys_html_put(out, "td", NULL, ys_view_or(own[k], ""));
        ys_html_put(out, "td", "wide", ys_view_or(origin.reason, ""));
        ys_buf_puts(out, "</tr>\n");
    }
}

static void put_metric(struct ys_buf *out, const struct ys_view *view, const char *name)
{
    const struct origin common = common_origin(view, name);
    const char *heads[] = {"Trial", "#Median and interval", "#Runs", NULL, NULL, NULL, NULL};
    size_t count = 3;
    if (!common.method)
        heads[count++] = "Method";
    if (!common.scope)
        heads[count++] = "Scope";
    if (!common.source)
        heads[count++] = "Source";
    heads[count++] = "Why unknown";
    put_common_origin(out, &common);
    ys_html_heads(out, NULL, heads, count);
    put_metric_rows(out, view, name, &common);
    ys_html_table_end(out);
}

ys_status ys_html_metrics(struct ys_buf *out, const struct ys_view *view)
{
    ys_json *names;
    YS_TRY(ys_view_metric_names(view, &names));
    if (ys_json_size(names) > 0) {
        ys_html_put(out, "h2", NULL, "All metrics");
        for (size_t i = 0; i < ys_json_size(names); i++) {
            const char *name = ys_json_text(ys_json_at(names, i), "");
            ys_buf_puts(out, "<details>\n<summary><code>");
            ys_text_html(out, name);
            ys_buf_puts(out, "</code>");
            if (strcmp(ys_view_metric_title(view, name), name) != 0)
                ys_buf_printf(out, " %s", ys_view_metric_title(view, name));
            ys_buf_puts(out, "</summary>\n");
            put_metric(out, view, name);
            ys_buf_puts(out, "</details>\n");
        }
        say_rows(out, view);
    }
    ys_json_free(names);
    return YS_OK;
}

void ys_html_times(struct ys_buf *out, const struct ys_view *view)
{
    const struct ys_section_parts parts = ys_section_find_parts(view);
    const char *heads[YS_TIME_PARTS + 2] = {"Trial"};
    struct ys_label names[YS_TIME_PARTS];
    size_t count = 1;
    for (size_t k = 0; k < YS_TIME_PARTS; k++) {
        snprintf(names[k].text, sizeof names[k].text, "#%s", ys_time_part(k).title);
        if (parts.has[k])
            heads[count++] = names[k].text;
    }
    heads[count++] = "#whole run";
    ys_buf_puts(out, "<details>\n<summary>The same as a table</summary>\n");
    ys_html_heads(out, "Medians.", heads, count);
    for (size_t i = 0; i < rows_of(view); i++) {
        const struct ys_view_trial *trial = &view->trials[i];
        if (!isfinite(ys_view_number(trial, "wall_s")))
            continue;
        ys_buf_puts(out, "<tr>\n");
        ys_html_put(out, "td", "name", trial->name);
        for (size_t k = 0; k < YS_TIME_PARTS; k++)
            if (parts.has[k])
                put_measure(out, ys_view_metric(trial, ys_time_part(k).metric), false);
        put_measure(out, ys_view_metric(trial, "wall_s"), false);
        ys_buf_puts(out, "</tr>\n");
    }
    ys_html_table_end(out);
    say_rows(out, view);
    ys_buf_puts(out, "</details>\n");
}

/** Rows for one member, its name after `prefix`; objects and arrays of objects go one level down, four at most. */
static void put_member(struct ys_buf *out, const char *prefix, const char *name, const ys_json *value, int depth)
{
    struct ys_buf path = {0};
    ys_buf_printf(&path, "%s%s%s", prefix, prefix[0] ? "." : "", name);
    enum ys_json_type type = ys_json_type_of(value);
    if (type == YS_JSON_OBJECT && depth < 4) {
        for (void *it = ys_json_iter(value); it; it = ys_json_next(value, it))
            put_member(out, ys_buf_text(&path), ys_json_iter_key(it), ys_json_iter_value(it), depth + 1);
    } else {
        struct ys_buf text = {0};
        if (type == YS_JSON_ARRAY && ys_json_type_of(ys_json_at(value, 0)) != YS_JSON_OBJECT) {
            for (size_t i = 0; i < ys_json_size(value); i++) {
                ys_buf_puts(&text, i ? ", " : "");
                ys_view_put_value(&text, ys_json_at(value, i));
            }
        } else {
            ys_view_put_value(&text, value);
        }
        ys_buf_puts(out, "<tr>\n");
        ys_html_put(out, "td", "name", ys_buf_text(&path));
        ys_html_put(out, "td", "wide", ys_buf_text(&text));
        ys_buf_puts(out, "</tr>\n");
        out->failed |= text.failed;
        ys_buf_free(&text);
    }
    out->failed |= path.failed;
    ys_buf_free(&path);
}

void ys_html_object(struct ys_buf *out, const ys_json *object)
{
    ys_buf_puts(out, "<div class=\"scroll\">\n<table>\n");
    for (void *it = ys_json_iter(object); it; it = ys_json_next(object, it))
        put_member(out, "", ys_json_iter_key(it), ys_json_iter_value(it), 0);
    ys_html_table_end(out);
}
