#include "base/mem.h"
#include "base/json/record.h"
#include "report/page_parts.h"
#include "metric/metric.h"
#include "report/view/view.h"
#include "report/shared_sentences.h"
#include "report/tables/tables.h"
#include "report/clean_text.h"

#include <math.h>
#include <string.h>

#define TEXT(type, member) YS_FIELD(type, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "")

/** How a run ended. */
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

/* ---- comparisons */

static void put_comparison(struct ys_sheet *sheet, const struct ys_view *view,
                           const struct ys_result_comparison *comparison)
{
    const struct ys_effect effect = ys_section_effect(comparison);
    const struct ys_label smallest = ys_section_smallest(comparison);
    const int verdict = comparison->told.verdict;
    struct ys_buf text = {0};
    ys_sheet_row(sheet);
    ys_view_put_pair(&text, view, comparison);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_buf_text(&text));
    ys_sheet_number(
        sheet, comparison->told.scale == YS_SCALE_DIFFERENCE ? comparison->told.difference : comparison->told.ratio,
        effect.value.text[0] ? effect.value.text : "-");
    ys_sheet_put(sheet,
                 verdict == YS_VERDICT_BETTER                                   ? YS_MOOD_GOOD
                 : verdict == YS_VERDICT_WORSE || verdict == YS_VERDICT_INVALID ? YS_MOOD_BAD
                                                                                : YS_MOOD_PLAIN,
                 ys_view_verdict_word(comparison));
    ys_sheet_put(sheet, YS_MOOD_PLAIN, effect.range.text[0] ? effect.range.text : "-");
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%lld", (long long)comparison->told.n);
    ys_buf_clear(&text);
    if (effect.value.text[0])
        ys_section_base(&text, comparison);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, text.size ? ys_buf_text(&text) : "-");
    ys_sheet_number(sheet, comparison->told.resolution, smallest.text[0] ? smallest.text : "-");
    ys_buf_free(&text);
}

/* What else is to be known of it: in columns of their own bounds would take the width that numbers need. */
static void put_doubts(struct ys_buf *out, const struct ys_result_comparison *comparison)
{
    ys_section_bounds(out, comparison);
    if (comparison->told.reason && comparison->told.reason[0])
        ys_buf_printf(out, "%s%s", out->size ? "; " : "", comparison->told.reason);
}

/* Whether all comparisons of a metric, two at least, have one and the same, which then is said once. */
static bool share_doubts(const struct ys_view *view, const char *metric)
{
    struct ys_buf first = {0}, text = {0};
    size_t count = 0, equal = 0;
    for (size_t i = 0; i < view->comparison_count; i++) {
        if (strcmp(ys_view_or(view->comparisons[i].told.metric, ""), metric) != 0)
            continue;
        ys_buf_clear(&text);
        put_doubts(count++ ? &text : &first, &view->comparisons[i]);
        equal += count == 1 || strcmp(ys_buf_text(&text), ys_buf_text(&first)) == 0;
    }
    ys_buf_free(&first);
    ys_buf_free(&text);
    return count > 1 && equal == count;
}

/* All of one metric. */
static void put_comparisons(struct ys_buf *out, const struct ys_view *view, const char *metric)
{
    static const struct ys_sheet_column columns[] = {{YS_FORM_PAGE, YS_COLUMN_NAME, "First vs second", NULL},
                                                     {YS_FORM_PAGE, YS_COLUMN_NUMBER, "Ratio or difference", NULL},
                                                     {YS_FORM_PAGE, YS_COLUMN_VERDICT, "Verdict", NULL},
                                                     {YS_FORM_PAGE, YS_COLUMN_NUMBER, "Interval", NULL},
                                                     {YS_FORM_PAGE, YS_COLUMN_NUMBER, "Rounds", NULL},
                                                     {YS_FORM_PAGE, YS_COLUMN_NUMBER, "Values", NULL},
                                                     {YS_FORM_PAGE, YS_COLUMN_NUMBER, "Could show", NULL}};
    struct ys_sheet sheet = ys_sheet_init(&ys_page_medium);
    sheet.view = view;
    sheet.title = ys_view_metric_title(metric);
    sheet.things = "comparisons";
    ys_sheet_columns(&sheet, columns, sizeof columns / sizeof columns[0]);
    const bool is_common = share_doubts(view, metric);
    struct ys_buf doubts = {0};
    for (size_t i = 0; i < view->comparison_count; i++) {
        const struct ys_result_comparison *comparison = &view->comparisons[i];
        if (strcmp(ys_view_or(comparison->told.metric, ""), metric) != 0 || sheet.total++ >= YS_SHEET_MOST)
            continue;
        put_comparison(&sheet, view, comparison);
        ys_buf_clear(&doubts);
        put_doubts(&doubts, comparison);
        if (doubts.size && !is_common)
            ys_sheet_more(&sheet, YS_MOOD_SOFT, ys_buf_text(&doubts));
    }
    if (doubts.size && is_common) {
        struct ys_buf text = {0};
        ys_buf_printf(&text, "Each of them: %s.", ys_buf_text(&doubts));
        ys_sheet_item(&sheet, ys_buf_text(&text));
        ys_buf_free(&text);
    }
    ys_buf_free(&doubts);
    ys_sheet_write(&sheet, out);
}

void ys_html_comparisons(struct ys_buf *out, const struct ys_view *view)
{
    double margin = view->study->margin;
    ys_json *metrics = ys_section_compared(view);
    if (ys_json_size(metrics) > 0) {
        ys_buf_puts(
            out, "<p>Each ratio is the centre, over matched rounds, of the first trial's value divided by the second's "
                 "(accuracies: the difference, in percentage points); the verdict says what the first is against the "
                 "second. The last column is the smallest difference that could have been shown.");
        if (isfinite(margin))
            ys_buf_printf(out, " Differences within %s count as the same.", ys_label_share(margin).text);
        ys_buf_puts(out, "</p>\n");
    }
    for (size_t m = 0; m < ys_json_size(metrics); m++)
        put_comparisons(out, view, ys_json_text(ys_json_at(metrics, m), ""));
    ys_json_free(metrics);
}

/* ---- failures */

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
    ys_buf_free(&text);
}

void ys_html_failures(struct ys_buf *out, const struct ys_view *view)
{
    size_t trials = 0, logs = 0;
    for (size_t i = 0; i < view->count; i++) {
        const struct ys_view_trial *trial = &view->trials[i];
        const ys_json *runs = trial->told->runs_detail;
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
        ys_buf_free(&text);
    }
    ys_html_say_cut(out, view, YS_HTML_MOST, trials, "trials that failed");
    if (logs > YS_HTML_MOST)
        ys_buf_printf(out, "<p class=\"soft\">The logs of %d runs are shown; the study's folder has the others.</p>\n",
                      YS_HTML_MOST);
}

/* ---- every metric */

enum { ORIGINS = 3 };

/* By what, of what and from what a metric came about. */
struct came {
    const char *by[ORIGINS], *reason;
};

static struct came origin_of(struct ys_view_metric metric)
{
    const struct ys_metric_info *info = metric.rounds ? metric.info : NULL;
    return info ? (struct came){{info->method, info->scope, info->source}, NULL} : (struct came){{NULL}, metric.reason};
}

static size_t rows_of(const struct ys_view *view)
{
    return view->count < YS_SHEET_MOST ? view->count : YS_SHEET_MOST;
}

/* Where all trials that have it say the same; what differs from trial to trial is NULL. */
static struct came common_origin(const struct ys_view *view, const char *name)
{
    struct came common = {{NULL}, NULL};
    bool begun = false;
    for (size_t i = 0; i < rows_of(view); i++) {
        const struct ys_view_metric metric = ys_view_metric(&view->trials[i], name);
        const struct came origin = origin_of(metric);
        for (size_t k = 0; metric.known && k < ORIGINS; k++)
            if (!begun || (common.by[k] && strcmp(common.by[k], ys_view_or(origin.by[k], "")) != 0))
                common.by[k] = begun ? NULL : origin.by[k];
        begun |= metric.known;
    }
    return common;
}

static void put_metric(struct ys_buf *out, const struct ys_view *view, const char *name)
{
    static const char *const heads[ORIGINS] = {"Method", "Scope", "Source"};
    const struct came common = common_origin(view, name);
    struct ys_sheet sheet = ys_sheet_init(&ys_page_medium);
    struct ys_buf text = {0};
    for (size_t k = 0; k < ORIGINS; k++)
        if (common.by[k] && common.by[k][0])
            ys_buf_printf(&text, "%s%s", text.size ? "; " : "", common.by[k]);
    sheet.remark = text.size ? ys_buf_text(&text) : NULL;
    sheet.keeps_heads = true;
    ys_table_trials(&sheet, view, "Trial");
    ys_sheet_column(&sheet, YS_FORM_PAGE, YS_COLUMN_NUMBER, "Median and interval", NULL);
    ys_sheet_column(&sheet, YS_FORM_PAGE, YS_COLUMN_NUMBER, "Runs", NULL);
    for (size_t k = 0; k < ORIGINS; k++)
        ys_sheet_column(&sheet, common.by[k] ? 0 : YS_FORM_PAGE, YS_COLUMN_TEXT, heads[k], NULL);
    ys_sheet_column(&sheet, YS_FORM_PAGE, YS_COLUMN_WIDE, "Why unknown", NULL);
    for (size_t i = 0; i < rows_of(view); i++) {
        const struct ys_view_metric metric = ys_view_metric(&view->trials[i], name);
        const struct came origin = origin_of(metric);
        if (!metric.known)
            continue;
        ys_table_trial(&sheet, view, i);
        ys_table_measure(&sheet, metric);
        ys_sheet_printf(&sheet, YS_MOOD_PLAIN, "%lld", metric.n == YS_FIELD_NONE ? 0 : (long long)metric.n);
        for (size_t k = 0; k < ORIGINS; k++)
            ys_sheet_put(&sheet, YS_MOOD_PLAIN, origin.by[k]);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, origin.reason);
    }
    ys_sheet_write(&sheet, out);
    ys_buf_free(&text);
}

/* Of each metric that no trial has the first reason. */
static void put_unknown(struct ys_buf *out, const struct ys_view *view)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    struct ys_sheet sheet = ys_sheet_init(&ys_page_medium);
    sheet.remark = "Known of no trial:";
    ys_sheet_column(&sheet, YS_FORM_PAGE, YS_COLUMN_NAME, "Metric", NULL);
    ys_sheet_column(&sheet, YS_FORM_PAGE, YS_COLUMN_WIDE, "Why unknown", NULL);
    for (size_t i = 0; i < count; i++) {
        const char *name = infos[i].name, *reason = NULL;
        if (ys_view_is_known(view, name))
            continue;
        for (size_t t = 0; t < view->count && !reason; t++)
            reason = ys_view_metric(&view->trials[t], name).reason;
        ys_sheet_row(&sheet);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, name);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, reason);
    }
    ys_sheet_write(&sheet, out);
}

void ys_html_metrics(struct ys_buf *out, const struct ys_view *view)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    ys_html_begin_fold(out, "All metrics", "metrics");
    for (size_t i = 0; i < count; i++) {
        const struct ys_metric_info *info = &infos[i];
        if (!ys_view_is_known(view, info->name))
            continue;
        ys_buf_puts(out, "<details>\n<summary><code>");
        ys_text_html(out, info->name);
        ys_buf_puts(out, "</code>");
        if (strcmp(info->title, info->name) != 0)
            ys_buf_printf(out, " %s", info->title);
        ys_buf_puts(out, "</summary>\n");
        put_metric(out, view, info->name);
        ys_buf_puts(out, "</details>\n");
    }
    put_unknown(out, view);
    ys_html_say_cut(out, view, YS_SHEET_MOST, view->count, "trials");
    ys_html_end_fold(out);
}

/* ---- a document's object */

/* Rows for one member, its name after `prefix`; objects and arrays of objects go one level down, four at most. */
static void put_member(struct ys_sheet *sheet, const char *prefix, const char *name, const ys_json *value, int depth)
{
    struct ys_buf text = {0};
    char *path = ys_format("%s%s%s", prefix, prefix[0] ? "." : "", name);
    const enum ys_json_type type = ys_json_type_of(value);
    if (type == YS_JSON_OBJECT && depth < 4) {
        for (void *it = ys_json_iter(value); it; it = ys_json_next(value, it))
            put_member(sheet, path, ys_json_iter_key(it), ys_json_iter_value(it), depth + 1);
        ys_free(path);
        return;
    }
    const bool is_list = type == YS_JSON_ARRAY && ys_json_type_of(ys_json_at(value, 0)) != YS_JSON_OBJECT;
    for (size_t i = 0; is_list && i < ys_json_size(value); i++) {
        ys_buf_puts(&text, i ? ", " : "");
        ys_view_put_value(&text, ys_json_at(value, i));
    }
    if (!is_list)
        ys_view_put_value(&text, value);
    ys_sheet_row(sheet);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, path);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_buf_text(&text));
    ys_buf_free(&text);
    ys_free(path);
}

void ys_html_object(struct ys_buf *out, const ys_json *object)
{
    struct ys_sheet sheet = ys_sheet_init(&ys_page_medium);
    sheet.is_plain = sheet.keeps_heads = true;
    ys_sheet_column(&sheet, YS_FORM_PAGE, YS_COLUMN_NAME, "", NULL);
    ys_sheet_column(&sheet, YS_FORM_PAGE, YS_COLUMN_WIDE, "", NULL);
    for (void *it = ys_json_iter(object); it; it = ys_json_next(object, it))
        put_member(&sheet, "", ys_json_iter_key(it), ys_json_iter_value(it), 0);
    ys_sheet_write(&sheet, out);
}
