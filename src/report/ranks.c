#include "report/ranks.h"

#include "metric/metric.h"
#include "metric/ranks.h"
#include "report/html.h"

#include <math.h>
#include <stdio.h>

static const struct {
    const char *head, *title;
    const char *metric; /* whose file says both, */
    bool is_part;       /* as a part of the time: here of a step */
} columns[YS_RANKS_COLUMNS] = {
    {"rank", "Rank", NULL, false},
    {"ended", "Ended", NULL, false},
    {"rows\nper s", "Rows per s", NULL, false},
    {.metric = "cpu_s"},
    {.metric = "cpu_wait_s"},
    {.metric = "rss_peak_bytes"},
    {.metric = "compute_s", .is_part = true},
    {"ex-\nchanging", "Exchanging", NULL, false},
    {"wait-\ning", "Waiting", NULL, false},
    {.metric = "input_s", .is_part = true},
    {.metric = "rest_s", .is_part = true},
    {"sent", "Sent", NULL, false},
};

struct ys_label ys_ranks_head(size_t column, bool narrow)
{
    struct ys_label label;
    if (columns[column].is_part)
        return ys_view_part_head(columns[column].metric, narrow);
    if (columns[column].metric)
        return ys_view_metric_head(columns[column].metric, narrow);
    snprintf(label.text, sizeof label.text, "%s", narrow ? columns[column].head : columns[column].title);
    return label;
}

const char ys_ranks_heading[] = "Ranks (medians of the runs; brackets hold intervals)";
const char ys_ranks_remark[] =
    "A step of a rank: computing; waiting for the gradients of the slowest rank; exchanging, from then until all have "
    "their mean; waiting for rows; the rest between blocks; and what it sent to others. What an adapter does not tell "
    "is \"-\".";

size_t ys_ranks_count(const struct ys_view_trial *trial)
{
    return ys_json_size(trial->told.ranks);
}

bool ys_ranks_any(const struct ys_view *view)
{
    bool any = false;
    for (size_t i = 0; i < view->count; i++)
        any = any || ys_ranks_count(&view->trials[i]) > 0;
    return any;
}

static struct ys_label label_measure(double value_s, const ys_json *ci)
{
    const struct ys_measure measure = ys_measure(YS_KIND_SPAN, value_s, ys_json_number(ys_json_at(ci, 0), NAN),
                                                 ys_json_number(ys_json_at(ci, 1), NAN));
    struct ys_label label;
    snprintf(label.text, sizeof label.text, "%.14s%s%.24s%s%.4s", measure.value.text,
             measure.interval.text[0] ? " " : "", measure.interval.text, measure.unit.text[0] ? " " : "",
             measure.unit.text);
    return label;
}

/** A number of which the metric of that column says the kind. */
static struct ys_label label_figure(size_t column, double value)
{
    const struct ys_metric_info *info = ys_metric_find(columns[column].metric);
    return ys_label_value(info ? info->kind : YS_KIND_NUMBER, value);
}

struct ys_ranks_row ys_ranks_row(const struct ys_view_trial *trial, size_t index)
{
    struct ys_result_rank found;
    struct ys_ranks_row row = {.failed = false};
    ys_record_glance(&ys_result_rank_record, ys_json_at(trial->told.ranks, index), &found);
    row.failed = found.status != YS_NAME_NONE && found.status != (int)YS_RUN_OK;
    snprintf(row.cells[0].text, sizeof row.cells[0].text, "%lld%s%.30s", (long long)found.rank, found.host ? " " : "",
             found.host ? found.host : "");
    snprintf(row.cells[1].text, sizeof row.cells[1].text, "%.40s",
             ys_view_or(ys_name_of(&ys_run_statuses, found.status), "-"));
    row.cells[2] = ys_label_value(YS_KIND_NUMBER, found.rate_per_s);
    const double figures[] = {found.cpu_s, found.cpu_wait_s, found.rss_peak_bytes};
    for (size_t k = 0; k < sizeof figures / sizeof figures[0]; k++)
        row.cells[3 + k] = label_figure(3 + k, figures[k]);
    const double parts_s[] = {found.compute_s, found.communication_s, found.waiting_s, found.input_s, found.rest_s};
    const ys_json *const ends[] = {found.compute_ci, found.communication_ci, found.waiting_ci, found.input_ci,
                                   found.rest_ci};
    for (size_t k = 0; k < sizeof parts_s / sizeof parts_s[0]; k++)
        row.cells[6 + k] = label_measure(parts_s[k], ends[k]);
    row.cells[11] = ys_label_value(YS_KIND_BYTES, found.sent_bytes);
    return row;
}

/** By how much clocks of hosts are uncertain, where one has another. */
static void put_clocks(struct ys_buf *out, const struct ys_view_trial *trial)
{
    double most_s = 0;
    for (size_t i = 0; i < ys_ranks_count(trial); i++) {
        struct ys_result_rank found;
        ys_record_glance(&ys_result_rank_record, ys_json_at(trial->told.ranks, i), &found);
        most_s = fmax(most_s, found.clock_error_s); /* passes NaN over */
    }
    if (most_s > 0)
        ys_buf_printf(
            out,
            "%s: the clocks of its hosts are related to within %s, so waiting and exchanging are known no more "
            "finely.",
            trial->name, label_measure(most_s, NULL).text);
}

static void put_last(struct ys_buf *out, const struct ys_view_trial *trial)
{
    static const char *const metrics[] = {
        [YS_RANK_COMPUTE] = "compute_s", [YS_RANK_INPUT] = "input_s", [YS_RANK_REST] = "rest_s"};
    struct ys_result_rank last = {.late_part = YS_NAME_NONE};
    for (size_t i = 0; i < ys_ranks_count(trial); i++) {
        struct ys_result_rank found;
        ys_record_glance(&ys_result_rank_record, ys_json_at(trial->told.ranks, i), &found);
        if (found.late_part != YS_NAME_NONE && (last.late_part == YS_NAME_NONE || found.late_s > last.late_s))
            last = found;
    }
    if (last.late_part == YS_NAME_NONE)
        return;
    const double least_s = ys_json_number(ys_json_at(last.late_ci, 0), NAN);
    ys_buf_printf(out, "%s: %s %lld %s: %s takes it %s a step longer than the other ranks", trial->name,
                  least_s <= 0 ? "no rank is the last in all rounds; rank" : "rank", (long long)last.rank,
                  least_s <= 0 ? "is by most" : "is the last", ys_view_part(metrics[last.late_part]),
                  label_measure(last.late_s, last.late_ci).text);
    if (isnan(least_s))
        ys_buf_printf(out, " (%s: no interval)", ys_label_plural(last.runs, "run").text);
    ys_buf_puts(out, ".");
}

void ys_ranks_put_last(struct ys_buf *out, const struct ys_view_trial *trial)
{
    struct ys_buf clocks = {0};
    put_last(out, trial);
    put_clocks(&clocks, trial);
    if (clocks.size > 0)
        ys_buf_printf(out, "%s%s", out->size > 0 ? " " : "", ys_buf_text(&clocks));
    out->failed |= clocks.failed;
    ys_buf_free(&clocks);
}

static void put_lasts(struct ys_buf *out, const struct ys_view *view)
{
    bool begun = false;
    for (size_t i = 0; i < view->count && i < YS_HTML_MOST; i++) {
        struct ys_buf text = {0};
        ys_ranks_put_last(&text, &view->trials[i]);
        if (text.size > 0) {
            ys_buf_puts(out, begun ? "" : "<ul>\n");
            ys_html_put(out, "li", NULL, ys_buf_text(&text));
            begun = true;
        }
        out->failed |= text.failed;
        ys_buf_free(&text);
    }
    ys_buf_puts(out, begun ? "</ul>\n" : "");
}

/** A row for each rank with these columns. */
static void put_table(struct ys_buf *out, const struct ys_view *view, const size_t *shown, size_t count)
{
    size_t total = 0;
    ys_buf_puts(out, "<div class=\"scroll\">\n<table>\n<tr>\n<th>Trial</th>\n");
    for (size_t k = 0; k < count; k++)
        ys_html_put(out, "th", shown[k] == 1 ? NULL : "n", ys_ranks_head(shown[k], false).text);
    ys_buf_puts(out, "</tr>\n");
    for (size_t i = 0; i < view->count; i++)
        for (size_t r = 0; r < ys_ranks_count(&view->trials[i]) && total < YS_HTML_MOST; r++, total++) {
            const struct ys_ranks_row row = ys_ranks_row(&view->trials[i], r);
            ys_buf_puts(out, "<tr>\n");
            ys_html_put(out, "td", "name", view->trials[i].name);
            for (size_t k = 0; k < count; k++)
                ys_html_put(out, "td", shown[k] == 1 ? row.failed ? "bad" : NULL : "n", row.cells[shown[k]].text);
            ys_buf_puts(out, "</tr>\n");
        }
    ys_buf_puts(out, "</table>\n</div>\n");
}

void ys_html_ranks(struct ys_buf *out, const struct ys_view *view)
{
    static const size_t whole[] = {0, 1, 2, 3, 4, 5, 11}, parts[] = {0, 6, 7, 8, 9, 10}; /* too wide for one table */
    size_t total = 0;
    if (!ys_ranks_any(view))
        return;
    for (size_t i = 0; i < view->count; i++)
        total += ys_ranks_count(&view->trials[i]);
    ys_html_put(out, "h2", NULL, ys_ranks_heading);
    ys_html_put(out, "p", "soft", ys_ranks_remark);
    put_table(out, view, whole, sizeof whole / sizeof whole[0]);
    put_table(out, view, parts, sizeof parts / sizeof parts[0]);
    ys_html_say_cut(out, view, YS_HTML_MOST, total, "ranks");
    put_lasts(out, view);
}
