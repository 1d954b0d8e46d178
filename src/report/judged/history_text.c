/* One trial over all studies, as plain text. */
#include "base/mem.h"
#include "metric/metric.h"
#include "report/clean_text.h"
#include "report/judged/judged.h"
#include "report/label.h"
#include "stat/summary.h"

#include <math.h>
#include <string.h>

enum { BAR = 16 }; /* columns of the longest bar */

static void put_interval(struct ys_buf *out, enum ys_kind kind, const struct ys_history_point *point)
{
    const double *ci = point->ci.items;
    if (point->ci.count == 2)
        ys_buf_puts(out, ys_measure(kind, point->value, ci[0], ci[1]).interval.text);
}

static void add_row(struct ys_sheet *sheet, enum ys_kind kind, const struct ys_history_point *point, double most)
{
    const bool is_page = sheet->medium.form == YS_FORM_PAGE;
    const double *machine = point->anchor.items;
    struct ys_buf text = {0};
    ys_sheet_row(sheet);
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%lld", (long long)point->study);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, point->started ? point->started : is_page ? "none" : "-");
    ys_sheet_put(sheet, YS_MOOD_PLAIN, point->version);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_label_value(kind, point->value).text);
    put_interval(&text, kind, point);
    ys_sheet_put(sheet, YS_MOOD_FAINT, ys_buf_text(&text));
    if (point->anchor.count == 2)
        ys_sheet_printf(sheet, YS_MOOD_FAINT, "%.2f to %.2f", machine[0], machine[1]);
    else
        ys_sheet_skip(sheet, 1);
    ys_buf_clear(&text);
    for (int i = 0; !is_page && isfinite(point->value) && most > 0 && i < (int)lround(BAR * point->value / most); i++)
        ys_buf_puts(&text, "#");
    if (point->change)
        ys_buf_puts(&text, is_page ? "change" : " change");
    ys_sheet_put(sheet, point->change ? YS_MOOD_BAD : YS_MOOD_PLAIN, ys_buf_text(&text));
    ys_buf_free(&text);
}

void ys_history_table(const struct ys_history *history, const struct ys_medium *medium, struct ys_buf *out)
{
    static const struct ys_sheet_column columns[] = {
        {YS_FORM_ALL, YS_COLUMN_NUMBER, "Study", "study"},
        {YS_FORM_ALL, YS_COLUMN_WHOLE, "Begun", "begun"},
        {YS_FORM_ALL, YS_COLUMN_TEXT, "Version", "version"},
        {YS_FORM_ALL, YS_COLUMN_NUMBER, "Median", "median"},
        {YS_FORM_ALL, YS_COLUMN_NUMBER, "Interval", "interval"},
        {YS_FORM_ALL, YS_COLUMN_NUMBER, "Machine", "machine"},
        {YS_FORM_ALL, YS_COLUMN_FLAG, "", NULL},
    };
    const struct ys_history_point *points = history->points.items;
    const struct ys_metric_info *info = ys_metric_find(history->metric);
    const size_t most_rows = medium->form == YS_FORM_PAGE ? YS_SHEET_MOST * 10 : history->points.count;
    struct ys_sheet sheet = ys_sheet_init(medium);
    double most = 0;
    sheet.keeps_heads = true;
    ys_sheet_columns(&sheet, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < history->points.count; i++)
        most = fmax(most, points[i].value);
    for (size_t i = 0; i < history->points.count && i < most_rows; i++)
        add_row(&sheet, info ? info->kind : YS_KIND_NUMBER, &points[i], most);
    ys_sheet_write(&sheet, out);
}

/* The median of the points from `from` on up to the next change. */
static double level_from(const struct ys_history *history, size_t from)
{
    const struct ys_history_point *points = history->points.items;
    double *values = ys_alloc(2 * history->points.count + 1, sizeof *values);
    size_t n = 0;
    for (size_t i = from; i < history->points.count && (i == from || !points[i].change); i++)
        if (isfinite(points[i].value))
            values[n++] = points[i].value;
    const double level = ys_stat_median(values, n, values + history->points.count);
    ys_free(values);
    return level;
}

/* "with study 12 of 2026-10-30T03:17:33Z (version 2.1.0 after 2.0.1) from 301 to 264". `before`: where the stretch
 * before it begins. */
static void put_change(struct ys_buf *out, const struct ys_history *history, enum ys_kind kind, size_t before,
                       size_t at)
{
    const struct ys_history_point *points = history->points.items;
    const char *version = points[at].version ? points[at].version : "",
               *last = at > 0 && points[at - 1].version ? points[at - 1].version : "";
    ys_buf_printf(out, "with study %lld", (long long)points[at].study);
    if (points[at].started)
        ys_buf_printf(out, " of %s", points[at].started);
    if (strcmp(version, last) != 0)
        ys_buf_printf(out, " (version %s after %s)", *version ? version : "unknown", *last ? last : "unknown");
    ys_buf_printf(out, " from %s", ys_label_value(kind, level_from(history, before)).text);
    ys_buf_printf(out, " to %s", ys_label_value(kind, level_from(history, at)).text);
}

void ys_report_put_history(struct ys_buf *out, const struct ys_history *history)
{
    enum { TOLD = 3 };
    const struct ys_history_point *points = history->points.items;
    const struct ys_metric_info *info = ys_metric_find(history->metric);
    size_t changes = 0, begun = 0, told = 0;
    for (size_t i = 0; i < history->points.count; i++)
        changes += points[i].change;
    ys_buf_printf(out, "%s of %s in %zu stored %s: ", history->metric, history->trial, history->points.count,
                  history->points.count == 1 ? "study" : "studies");
    if (history->points.count < YS_HISTORY_POINTS)
        ys_buf_printf(out, "too few to tell a change, %d are needed.", YS_HISTORY_POINTS);
    else if (changes == 0)
        ys_buf_puts(out, "no change that chance would not show in 1 of 100 histories.");
    else
        ys_buf_printf(out, "%s, of a kind that chance shows in 1 of 100 histories: ",
                      ys_label_plural((long long)changes, "change").text);
    for (size_t i = 0; i < history->points.count && told < TOLD; i++) {
        if (!points[i].change)
            continue;
        ys_buf_puts(out, told++ ? "; " : "");
        put_change(out, history, info ? info->kind : YS_KIND_NUMBER, begun, i);
        begun = i;
    }
    if (changes)
        ys_buf_puts(out, changes > TOLD ? "; and more." : ".");
}

void ys_report_history(const struct ys_history *history, int width, bool colour, struct ys_buf *out)
{
    const struct ys_medium medium = {.form = YS_FORM_TEXT, .width = width, .indent = 2, .colour = colour};
    struct ys_buf answer = {0};
    ys_report_put_history(&answer, history);
    ys_text_wrap(out, ys_buf_text(&answer), 0, 0, width);
    ys_buf_free(&answer);
    ys_history_table(history, &medium, out);
}
