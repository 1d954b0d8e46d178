#include "base/mem.h"
#include "base/record.h"
#include "report/answer.h"
#include "report/html.h"
#include "report/section.h"
#include "report/text.h"
#include <ctype.h>
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

static const char *verdict_css(int verdict)
{
    if (verdict == YS_VERDICT_BETTER)
        return "v good";
    return verdict == YS_VERDICT_WORSE || verdict == YS_VERDICT_INVALID ? "v bad" : "v";
}

#define TEXT(type, member) YS_FIELD(type, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "")

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

/* Of the results: what a phone shows without being moved stands first. */
enum {
    NAME,
    RATE,
    RELATIVE,
    AGAINST,
    INTERVAL,
    FIRST_METRIC,
    RESULT_METRICS = 6,
    MOST_COLUMNS = FIRST_METRIC + RESULT_METRICS + 1
};

static void put_result(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *trial,
                       const char *const *metrics, size_t count)
{
    const struct ys_view_metric rate = ys_view_metric(trial, "rate_per_s");
    const struct ys_measure measure = ys_view_measure(rate);
    const struct ys_relation relation = ys_answer_relation(view, trial);
    const enum ys_proof_verdict verdict = ys_view_verdict(trial);
    struct ys_buf text = {0};
    ys_buf_puts(out, "<tr>\n");
    ys_html_put(out, "td", "name", trial->name);
    ys_buf_printf(&text, "%s%s", measure.value.text, measure.unit.text);
    put_number(out, rate.value, ys_buf_text(&text));
    put_number(out, relation.ratio, ys_label_relative(relation.ratio).text);
    ys_html_put(out, "td",
                relation.is_best                         ? "v good"
                : relation.verdict == YS_VERDICT_INVALID ? "v bad"
                                                         : "v",
                relation.word);
    put_interval(out, &measure, "", rate.n == YS_FIELD_NONE ? trial->runs - trial->failed : rate.n);
    for (size_t i = 0; i < count; i++)
        put_measure(out, ys_view_metric(trial, metrics[i]), false);
    ys_html_put(out, "td", trial->no_work ? "v soft" : ys_html_proof_css(verdict),
                trial->no_work ? "no work" : ys_name_of(&ys_proof_verdicts, (int)verdict));
    ys_buf_puts(out, "</tr>\n");
    out->failed |= text.failed;
    ys_buf_free(&text);
}

/** A trial, and below its numbers what there is to say of them. */
static void put_trial_rows(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *trial,
                           const char *const *metrics, size_t count)
{
    struct ys_buf failure = {0};
    ys_view_put_failure(&failure, trial);
    if (trial->measured)
        put_result(out, view, trial, metrics, count);
    if (!trial->measured || failure.size > 0)
        put_failed_row(out, trial->measured ? "" : trial->name, failure.size ? ys_buf_text(&failure) : "",
                       FIRST_METRIC + count);
    out->failed |= failure.failed;
    ys_buf_free(&failure);
}

/** The head of a column of numbers, in `label`. */
static const char *head_of(const char *metric, struct ys_label *label)
{
    snprintf(label->text, sizeof label->text, "#%.46s", ys_view_metric_head(metric, false).text);
    return label->text;
}

ys_status ys_html_feeders(struct ys_buf *out, const struct ys_view *view)
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
    return YS_OK;
}

/** The columns of results beside those of speed: of the metrics that people ask for first, those that are known. */
static size_t result_metrics(const struct ys_view *view, const char *metrics[RESULT_METRICS])
{
    static const char *const asked[RESULT_METRICS] = {"latency_p50_s",  "latency_p99_s",  "accuracy",
                                                      "bits_per_token", "rss_peak_bytes", "cpu_per_wall"};
    size_t count = 0;
    for (size_t k = 0; k < RESULT_METRICS; k++)
        if (ys_view_is_known(view, asked[k]))
            metrics[count++] = asked[k];
    return count;
}

/** The head of one of these columns: what is a percentile says of what. */
static const char *result_head(const char *metric, struct ys_label *label)
{
    const char *head = head_of(metric, label);
    if (strncmp(metric, "latency_", strlen("latency_")) == 0) {
        const struct ys_label of = ys_view_metric_head(metric, false);
        snprintf(label->text, sizeof label->text, "#Latency, %c%.30s", tolower((unsigned char)of.text[0]), of.text + 1);
    }
    return head;
}

static ys_status put_results(struct ys_buf *out, const struct ys_view *view, const struct ys_html_shown *shown)
{
    struct ys_label rate, titles[RESULT_METRICS];
    const char *heads[MOST_COLUMNS] = {"Trial", rate.text, "#Relative", "Against the best", "#Interval"};
    const char *metrics[RESULT_METRICS];
    const size_t count = result_metrics(view, metrics);
    snprintf(rate.text, sizeof rate.text, "#%c%.30s per second", toupper((unsigned char)view->unit[0]),
             view->unit + (view->unit[0] != 0));
    for (size_t i = 0; i < count; i++)
        heads[FIRST_METRIC + i] = result_head(metrics[i], &titles[i]);
    heads[FIRST_METRIC + count] = "Same work";
    ys_html_heads(out, NULL, heads, FIRST_METRIC + count + 1);
    for (size_t i = 0; i < shown->count; i++)
        put_trial_rows(out, view, &view->trials[shown->places[i]], metrics, count);
    ys_html_table_end(out);
    return YS_OK;
}

ys_status ys_html_results(struct ys_buf *out, const struct ys_view *view)
{
    const struct ys_html_shown shown = ys_html_first(view);
    YS_TRY(put_results(out, view, &shown));
    if (shown.count < view->count)
        ys_buf_printf(out,
                      "<p class=\"soft\">The fastest %zu of %zu trials; <a href=\"#trials\">all trials</a> stand "
                      "below.</p>\n",
                      shown.count, view->count);
    return YS_OK;
}

ys_status ys_html_all_results(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_html_shown shown = {.count = rows_of(view)};
    if (ys_html_first(view).count == view->count)
        return YS_OK;
    for (size_t i = 0; i < shown.count; i++)
        shown.places[i] = i;
    YS_TRY(put_results(out, view, &shown));
    say_rows(out, view);
    return YS_OK;
}

ys_status ys_html_deviations(struct ys_buf *out, const struct ys_view *view)
{
    if (has_remarks(view, deviations_of)) {
        ys_html_put(out, "h3", NULL, "Deviations from the common work");
        put_remarks(out, view, deviations_of);
    }
    return YS_OK;
}

ys_status ys_html_metric_table(struct ys_buf *out, const struct ys_view *view, const char *const *metrics)
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
        return YS_OK;
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
    return YS_OK;
}

ys_status ys_html_latencies(struct ys_buf *out, const struct ys_view *view)
{
    const char *heads[YS_LATENCY_PARTS + 2] = {"Trial"};
    struct ys_label titles[YS_LATENCY_PARTS];
    size_t count = 1;
    bool any = false;
    for (size_t i = 0; i < view->count; i++)
        any |= view->trials[i].infers && isfinite(ys_view_number(&view->trials[i], ys_latency_parts[0]));
    if (!any)
        return YS_OK;
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
    return YS_OK;
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
    ys_html_put(out, "td", verdict_css(comparison->verdict), ys_view_verdict_word(comparison));
    ys_html_put(out, "td", "n", effect.range.text[0] ? effect.range.text : "-");
    ys_buf_clear(&text);
    ys_buf_printf(&text, "%lld", (long long)comparison->n);
    ys_html_put(out, "td", "n", ys_buf_text(&text));
    ys_buf_clear(&text);
    if (effect.value.text[0])
        ys_section_base(&text, view, comparison);
    ys_html_put(out, "td", "n", text.size ? ys_buf_text(&text) : "-");
    put_number(out, comparison->resolution, smallest.text[0] ? smallest.text : "-");
    ys_buf_puts(out, "</tr>\n");
    out->failed |= text.failed;
    ys_buf_free(&text);
    put_comparison_remark(out, comparison);
}

ys_status ys_html_comparisons(struct ys_buf *out, const struct ys_view *view)
{
    static const char *const heads[COMPARISON_COLUMNS] = {
        "First vs second", "#Ratio or difference", "Verdict", "#Interval", "#Rounds", "#Values", "#Could show"};
    double margin = view->study.margin;
    ys_json *metrics;
    YS_TRY(ys_section_compared(view, &metrics));
    if (ys_json_size(metrics) > 0) {
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
        ys_html_put(out, "h3", NULL, ys_view_metric_title(view, metric));
        ys_html_heads(out, NULL, heads, sizeof heads / sizeof heads[0]);
        size_t total = 0;
        for (size_t i = 0; i < view->comparison_count; i++)
            if (strcmp(ys_view_or(view->comparisons[i].metric, ""), metric) == 0 && total++ < YS_HTML_MOST)
                put_comparison(out, view, &view->comparisons[i]);
        ys_html_table_end(out);
        ys_html_say_cut(out, view, YS_HTML_MOST, total, "comparisons");
    }
    ys_json_free(metrics);
    return YS_OK;
}

ys_status ys_html_warnings(struct ys_buf *out, const struct ys_view *view)
{
    const ys_json *host = view->host_warnings;
    if (!has_remarks(view, warnings_of) && ys_json_size(host) == 0)
        return YS_OK;
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
    return YS_OK;
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

ys_status ys_html_failures(struct ys_buf *out, const struct ys_view *view)
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
    return YS_OK;
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

/** Of each metric that no trial has the first reason. */
static void put_unknown(struct ys_buf *out, const struct ys_view *view, const ys_json *names)
{
    static const char *const heads[] = {"Metric", "Why unknown"};
    bool begun = false;
    for (size_t i = 0; i < ys_json_size(names); i++) {
        const char *name = ys_json_text(ys_json_at(names, i), ""), *reason = NULL;
        if (ys_view_is_known(view, name))
            continue;
        for (size_t t = 0; t < view->count && !reason; t++)
            reason = ys_view_metric(&view->trials[t], name).reason;
        if (!begun)
            ys_html_heads(out, "Known of no trial:", heads, sizeof heads / sizeof heads[0]);
        begun = true;
        ys_buf_puts(out, "<tr>\n");
        ys_html_put(out, "td", "name", name);
        ys_html_put(out, "td", "wide", ys_view_or(reason, ""));
        ys_buf_puts(out, "</tr>\n");
    }
    if (begun)
        ys_html_table_end(out);
}

ys_status ys_html_metrics(struct ys_buf *out, const struct ys_view *view)
{
    ys_json *names;
    YS_TRY(ys_view_metric_names(view, &names));
    if (ys_json_size(names) > 0) {
        ys_html_begin_fold(out, "All metrics", "metrics");
        for (size_t i = 0; i < ys_json_size(names); i++) {
            const char *name = ys_json_text(ys_json_at(names, i), "");
            if (!ys_view_is_known(view, name))
                continue;
            ys_buf_puts(out, "<details>\n<summary><code>");
            ys_text_html(out, name);
            ys_buf_puts(out, "</code>");
            if (strcmp(ys_view_metric_title(view, name), name) != 0)
                ys_buf_printf(out, " %s", ys_view_metric_title(view, name));
            ys_buf_puts(out, "</summary>\n");
            put_metric(out, view, name);
            ys_buf_puts(out, "</details>\n");
        }
        put_unknown(out, view, names);
        say_rows(out, view);
        ys_html_end_fold(out);
    }
    ys_json_free(names);
    return YS_OK;
}

ys_status ys_html_times(struct ys_buf *out, const struct ys_view *view)
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
    return YS_OK;
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
