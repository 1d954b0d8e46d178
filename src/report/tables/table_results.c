/* The tables with a row a trial. */
#include "base/mem.h"
#include "report/page_parts.h"
#include "report/view/view.h"
#include "report/shared_sentences.h"
#include "report/tables/tables.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static void put_head(struct ys_sheet *sheet, unsigned forms, const char *metric)
{
    const struct ys_label head = ys_view_metric_head(metric, false), narrow = ys_view_metric_head(metric, true);
    ys_sheet_column(sheet, forms, YS_COLUMN_NUMBER, head.text, narrow.text);
}

/* The value of a metric, in the page with the number by which it is sorted. */
static void put_value(struct ys_sheet *sheet, const struct ys_view_trial *trial, const char *name)
{
    const struct ys_view_metric metric = ys_view_metric(trial, name);
    ys_sheet_number(sheet, metric.value, ys_view_label(metric).text);
}

void ys_table_measure(struct ys_sheet *sheet, struct ys_view_metric metric)
{
    const struct ys_measure measure = ys_view_measure(metric);
    char *text = ys_format("%s%s%s%s%s", measure.value.text, measure.unit.text[0] ? " " : "", measure.unit.text,
                           measure.interval.text[0] ? " " : "", measure.interval.text);
    ys_sheet_number(sheet, metric.value, text);
    ys_free(text);
}

/* The interval of a median, or why there is none: after `n` runs. */
static void put_interval(struct ys_sheet *sheet, const struct ys_measure *measure, const char *space, long long n)
{
    const enum ys_sheet_form form = sheet->medium.form;
    if (measure->interval.text[0])
        ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%s%s%s", measure->interval.text, measure->unit.text[0] ? space : "",
                        measure->unit.text);
    else if (form == YS_FORM_MARKDOWN)
        ys_sheet_put(sheet, YS_MOOD_PLAIN, "n < 6");
    else
        ys_sheet_printf(sheet, YS_MOOD_FAINT, form == YS_FORM_PAGE ? "n = %lld: none" : "n = %lld", n);
}

/* ---- results */

enum { TABLED = YS_FORM_TEXT | YS_FORM_MARKDOWN, ASKED = 9 };
enum { MOST_COLUMNS = (int)ASKED > (int)YS_METRIC_COLUMNS ? (int)ASKED : (int)YS_METRIC_COLUMNS };

/* Behind rate and interval: in the page those that people ask for first, elsewhere those of the work. */
static size_t metrics_of(const struct ys_sheet *sheet, const struct ys_view *view, const char *metrics[MOST_COLUMNS])
{
    static const char *const asked[ASKED] = {"stored_bytes",   "runtime_bytes",  "latency_p50_s",
                                             "latency_p99_s",  "accuracy",       "robust_accuracy",
                                             "bits_per_token", "rss_peak_bytes", "cpu_per_wall"};
    size_t count = 0;
    if (sheet->medium.form != YS_FORM_PAGE)
        return ys_section_columns(view, metrics);
    for (size_t k = 0; k < ASKED; k++)
        if (ys_view_is_known(view, asked[k]))
            metrics[count++] = asked[k];
    return count;
}

/* In the page, where latencies stand beside others, a percentile says of what. */
static void put_result_head(struct ys_sheet *sheet, const char *metric)
{
    const struct ys_label head = ys_view_metric_head(metric, false);
    char *whole = NULL;
    if (sheet->medium.form == YS_FORM_PAGE && strncmp(metric, "latency_", strlen("latency_")) == 0)
        whole = ys_format("Latency, %c%s", tolower((unsigned char)head.text[0]), head.text + 1);
    if (whole)
        ys_sheet_column(sheet, YS_FORM_PAGE, YS_COLUMN_NUMBER, whole, NULL);
    else
        put_head(sheet, YS_FORM_ALL, metric);
    ys_free(whole);
}

static void put_result_heads(struct ys_sheet *sheet, const struct ys_view *view, const char *const *metrics,
                             size_t count)
{
    const unsigned compared = ys_answer_compares(view) ? YS_FORM_PAGE : 0;
    char *rate = sheet->medium.form == YS_FORM_TEXT   ? ys_format("%s\nper s", view->unit)
                 : sheet->medium.form == YS_FORM_PAGE ? ys_format("%s per second", view->unit)
                                                      : ys_format("Rate (%s/s)", view->unit);
    if (rate && sheet->medium.form == YS_FORM_PAGE)
        rate[0] = (char)toupper((unsigned char)rate[0]);
    ys_table_trials(sheet, view, "Trial");
    ys_sheet_column(sheet, YS_FORM_ALL, YS_COLUMN_NUMBER, rate, NULL);
    ys_sheet_column(sheet, compared, YS_COLUMN_NUMBER, "Relative", NULL);
    ys_sheet_column(sheet, compared, YS_COLUMN_VERDICT, "Against the best", NULL);
    ys_sheet_column(sheet, YS_FORM_ALL, YS_COLUMN_NUMBER, "Interval", "interval");
    for (size_t i = 0; i < count; i++)
        put_result_head(sheet, metrics[i]);
    ys_sheet_column(sheet, YS_FORM_PAGE, YS_COLUMN_VERDICT, "Same work", NULL);
    ys_sheet_column(sheet, YS_FORM_MARKDOWN, YS_COLUMN_TEXT, "Same work", NULL);
    ys_free(rate);
}

void ys_table_relation(struct ys_sheet *sheet, const struct ys_relation *relation)
{
    ys_sheet_put(sheet,
                 relation->is_best                         ? YS_MOOD_GOOD
                 : relation->verdict == YS_VERDICT_INVALID ? YS_MOOD_BAD
                                                           : YS_MOOD_PLAIN,
                 relation->word);
}

static void put_relation(struct ys_sheet *sheet, const struct ys_view *view, const struct ys_view_trial *trial)
{
    const struct ys_relation relation = ys_answer_relation(view, trial);
    ys_sheet_number(sheet, relation.ratio, ys_label_relative(relation.ratio).text);
    ys_table_relation(sheet, &relation);
}

static void put_same_work(struct ys_sheet *sheet, const struct ys_view_trial *trial, const char *failure)
{
    const enum ys_proof_verdict verdict = ys_view_verdict(trial);
    const char *word = ys_name_of(&ys_proof_verdicts, (int)verdict);
    ys_sheet_put(sheet,
                 trial->no_work             ? YS_MOOD_SOFT
                 : verdict == YS_PROOF_PASS ? YS_MOOD_GOOD
                 : verdict == YS_PROOF_FAIL ? YS_MOOD_BAD
                                            : YS_MOOD_PLAIN,
                 trial->no_work ? "no work" : word);
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%s%s%s", trial->no_work ? "does no work" : word, failure[0] ? "; " : "",
                    failure);
}

static void put_result(struct ys_sheet *sheet, const struct ys_view *view, const struct ys_view_trial *trial,
                       const char *const *metrics, size_t count)
{
    const struct ys_view_metric rate = ys_view_metric(trial, "rate_per_s");
    const struct ys_measure measure = ys_view_measure(rate);
    char *text = ys_format("%s%s", measure.value.text, measure.unit.text);
    ys_sheet_number(sheet, rate.value, text);
    ys_free(text);
    if (sheet->medium.form == YS_FORM_PAGE)
        put_relation(sheet, view, trial);
    else
        ys_sheet_skip(sheet, 2);
    put_interval(sheet, &measure, "", rate.n == YS_FIELD_NONE ? trial->runs - trial->failed : rate.n);
    for (size_t i = 0; i < count; i++)
        put_value(sheet, trial, metrics[i]);
}

static void put_results(struct ys_sheet *sheet, const struct ys_view *view, const struct ys_html_shown *shown)
{
    const char *metrics[MOST_COLUMNS];
    const size_t count = metrics_of(sheet, view, metrics);
    const bool is_table = sheet->medium.form == YS_FORM_MARKDOWN;
    sheet->keeps_heads = true;
    put_result_heads(sheet, view, metrics, count);
    for (size_t i = 0; i < (shown ? shown->count : view->count); i++) {
        const size_t place = shown ? shown->places[i] : i;
        const struct ys_view_trial *trial = &view->trials[place];
        struct ys_buf failure = {0};
        ys_view_put_failure(&failure, trial);
        const char *text = failure.size || is_table ? ys_buf_text(&failure) : ys_view_no_run(trial);
        ys_table_trial(sheet, view, place);
        if (trial->measured)
            put_result(sheet, view, trial, metrics, count);
        for (size_t k = 0; !trial->measured && k < count + 4; k++)
            ys_sheet_put(sheet, YS_MOOD_PLAIN, "-");
        put_same_work(sheet, trial, text);
        if (!trial->measured && !is_table)
            ys_sheet_note(sheet, text);
        else if (failure.size > 0 && !is_table)
            ys_sheet_more(sheet, YS_MOOD_BAD, text);
        ys_buf_free(&failure);
    }
}

void ys_table_results(struct ys_sheet *sheet, const struct ys_view *view)
{
    const struct ys_html_shown first = ys_html_first(view);
    sheet->title = sheet->medium.form == YS_FORM_TEXT ? "Results (median of the runs)" : NULL;
    put_results(sheet, view, sheet->medium.form == YS_FORM_PAGE ? &first : NULL);
}

void ys_table_all_results(struct ys_sheet *sheet, const struct ys_view *view)
{
    struct ys_html_shown shown = {.count = ys_table_count(sheet, view)};
    if (ys_html_first(view).count == view->count)
        return;
    for (size_t i = 0; i < shown.count; i++)
        shown.places[i] = i;
    put_results(sheet, view, &shown);
}

/* ---- latencies */

void ys_table_latencies(struct ys_sheet *sheet, const struct ys_view *view)
{
    const char *median = ys_latency_parts[0];
    sheet->title = sheet->medium.form == YS_FORM_TEXT ? "Latency of a request (medians of the runs)" : NULL;
    sheet->remark = "Medians of the runs of each trial.";
    ys_table_trials(sheet, view, "Latency of a request");
    for (size_t k = 0; k < YS_LATENCY_PARTS; k++) {
        put_head(sheet, YS_FORM_ALL, ys_latency_parts[k]);
        if (k == 0)
            ys_sheet_column(sheet, YS_FORM_ALL, YS_COLUMN_NUMBER, "Interval", "interval");
    }
    const size_t count = ys_table_count(sheet, view);
    for (size_t i = 0; i < count; i++) {
        const struct ys_view_trial *trial = &view->trials[i];
        const struct ys_view_metric metric = ys_view_metric(trial, median);
        const struct ys_measure measure = ys_view_measure(metric);
        if (!ys_mode_of(trial->told->keys.mode)->times_each || !isfinite(ys_view_number(trial, median)))
            continue;
        ys_table_trial(sheet, view, i);
        put_value(sheet, trial, median);
        if (sheet->medium.form == YS_FORM_TEXT && !measure.interval.text[0])
            ys_sheet_put(sheet, YS_MOOD_PLAIN, "");
        else
            put_interval(sheet, &measure, " ", metric.n == YS_FIELD_NONE ? 0 : metric.n);
        for (size_t k = 1; k < YS_LATENCY_PARTS; k++)
            put_value(sheet, trial, ys_latency_parts[k]);
    }
}

/* ---- where the time goes */

static void put_part(struct ys_sheet *sheet, const struct ys_view_trial *trial, const char *metric)
{
    const double value_s = ys_view_number(trial, metric);
    if (sheet->medium.form != YS_FORM_TEXT)
        put_value(sheet, trial, metric);
    else if (isfinite(value_s) && fabs(value_s) < 1e9)
        ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%.*f",
                        fabs(value_s) < 9.995   ? 2
                        : fabs(value_s) < 99.95 ? 1
                                                : 0,
                        value_s);
    else
        ys_sheet_put(sheet, YS_MOOD_PLAIN, "-");
}

void ys_table_times(struct ys_sheet *sheet, const struct ys_view *view)
{
    const struct ys_section_parts parts = ys_section_find_parts(view);
    sheet->title = sheet->medium.form == YS_FORM_TEXT
                       ? "Where the time goes (seconds, medians; rest is what no part accounts for)"
                       : NULL;
    sheet->remark = "Medians.";
    sheet->keeps_heads = true;
    ys_table_trials(sheet, view, "Trial");
    for (size_t k = 0; k < YS_TIME_PARTS; k++)
        if (parts.has[k])
            ys_sheet_column(sheet, YS_FORM_ALL, YS_COLUMN_NUMBER, ys_time_part(k).title, ys_time_part(k).head);
    ys_sheet_column(sheet, YS_FORM_ALL, YS_COLUMN_NUMBER, "whole run", "whole\nrun");
    const size_t count = ys_table_count(sheet, view);
    for (size_t i = 0; i < count; i++) {
        const struct ys_view_trial *trial = &view->trials[i];
        if (!isfinite(ys_view_number(trial, "wall_s")))
            continue;
        ys_table_trial(sheet, view, i);
        for (size_t k = 0; k < YS_TIME_PARTS; k++)
            if (parts.has[k])
                put_part(sheet, trial, ys_time_part(k).metric);
        put_part(sheet, trial, "wall_s");
    }
}

/* ---- metrics of one subject, in the page */

static void put_metrics(struct ys_sheet *sheet, const struct ys_view *view, const char *const *metrics, size_t all)
{
    bool is_known[8] = {false}, is_any = false;
    for (size_t k = 0; k < all; k++)
        is_any |= is_known[k] = ys_view_is_known(view, metrics[k]);
    if (!is_any)
        return;
    sheet->remark = "Medians of the runs of each trial.";
    ys_table_trials(sheet, view, "Trial");
    for (size_t k = 0; k < all; k++)
        if (is_known[k])
            put_head(sheet, YS_FORM_PAGE, metrics[k]);
    const size_t count = ys_table_count(sheet, view);
    for (size_t i = 0; i < count; i++) {
        if (!view->trials[i].measured)
            continue;
        ys_table_trial(sheet, view, i);
        for (size_t k = 0; k < all; k++)
            if (is_known[k])
                ys_table_measure(sheet, ys_view_metric(&view->trials[i], metrics[k]));
    }
}

void ys_table_learned(struct ys_sheet *sheet, const struct ys_view *view)
{
    static const char *const metrics[] = {"accuracy", "test_loss", "final_loss", "perplexity", "bits_per_token"};
    put_metrics(sheet, view, metrics, sizeof metrics / sizeof metrics[0]);
}

void ys_table_used(struct ys_sheet *sheet, const struct ys_view *view)
{
    static const char *const metrics[] = {"rss_peak_bytes",        "memory_own_peak_bytes", "memory_own_least_bytes",
                                          "memory_own_most_bytes", "cpu_per_wall",          "cpu_s",
                                          "threads_peak",          "feeder_cpu_s"};
    put_metrics(sheet, view, metrics, sizeof metrics / sizeof metrics[0]);
}
