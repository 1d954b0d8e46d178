#include "report/ranks.h"

#include "metric/ranks.h"
#include "report/html.h"

#include <math.h>
#include <stdio.h>

static const struct {
    const char *head, *title;
    const char *metric; /* whose file says both */
} columns[YS_RANKS_COLUMNS] = {
    {"rank", "Rank", NULL},
    {"ended", "Ended", NULL},
    {"rows\nper s", "Rows per s", NULL},
    {.metric = "cpu_s"},
    {.metric = "cpu_wait_s"},
    {.metric = "rss_peak_bytes"},
    {"com-\nputing", "Computing", NULL},
    {"ex-\nchanging", "Exchanging", NULL},
    {"wait-\ning", "Waiting", NULL},
    {"data\nwait", "Waiting for data", NULL},
    {"rest", "Rest", NULL},
    {"sent", "Sent", NULL},
};

struct ys_label ys_ranks_head(size_t column, bool narrow)
{
    struct ys_label label;
    if (columns[column].metric)
        return ys_view_metric_head(columns[column].metric, narrow);
    snprintf(label.text, sizeof label.text, "%s", narrow ? columns[column].head : columns[column].title);
    return label;
}

const char ys_ranks_heading[] = "Ranks (medians of the runs; the parts of a step, computing to rest, means)";
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

struct ys_ranks_row ys_ranks_row(const struct ys_view_trial *trial, size_t index)
{
    struct ys_result_rank found;
    struct ys_ranks_row row = {.failed = false};
    ys_record_glance(&ys_result_rank_record, ys_json_at(trial->told.ranks, index), &found);
    row.failed = found.status != YS_NAME_NONE && found.status != (int)YS_RUN_OK;
    snprintf(row.cells[0].text, sizeof row.cells[0].text, "%lld", (long long)found.rank);
    snprintf(row.cells[1].text, sizeof row.cells[1].text, "%.40s",
             ys_view_or(ys_name_of(&ys_run_statuses, found.status), "-"));
    row.cells[2] = ys_label_value(YS_KIND_NUMBER, found.rate_per_s);
    row.cells[3] = ys_label_value(YS_KIND_SPAN, found.cpu_s);
    row.cells[4] = ys_label_value(YS_KIND_SPAN, found.cpu_wait_s);
    row.cells[5] = ys_label_value(YS_KIND_BYTES, found.rss_peak_bytes);
    const double parts_s[] = {found.compute_s, found.communication_s, found.waiting_s, found.input_s, found.rest_s};
    for (size_t k = 0; k < sizeof parts_s / sizeof parts_s[0]; k++)
        row.cells[6 + k] = ys_label_value(YS_KIND_SPAN, parts_s[k]);
    row.cells[11] = ys_label_value(YS_KIND_BYTES, found.sent_bytes);
    return row;
}

static void put_rank(struct ys_buf *out, const struct ys_view_trial *trial, size_t index)
{
    const struct ys_ranks_row row = ys_ranks_row(trial, index);
    ys_buf_puts(out, "<tr>\n");
    ys_html_put(out, "td", "name", trial->name);
    for (size_t k = 0; k < YS_RANKS_COLUMNS; k++)
        ys_html_put(out, "td", k == 1 ? row.failed ? "bad" : NULL : "n", row.cells[k].text);
    ys_buf_puts(out, "</tr>\n");
}

void ys_html_ranks(struct ys_buf *out, const struct ys_view *view)
{
    size_t total = 0;
    if (!ys_ranks_any(view))
        return;
    ys_html_put(out, "h2", NULL, ys_ranks_heading);
    ys_html_put(out, "p", "soft", ys_ranks_remark);
    ys_buf_puts(out, "<div class=\"scroll\">\n<table>\n<tr>\n<th>Trial</th>\n");
    for (size_t k = 0; k < YS_RANKS_COLUMNS; k++)
        ys_html_put(out, "th", k == 1 ? NULL : "n", ys_ranks_head(k, false).text);
    ys_buf_puts(out, "</tr>\n");
    for (size_t i = 0; i < view->count; i++)
        for (size_t r = 0; r < ys_ranks_count(&view->trials[i]); r++)
            if (total++ < YS_HTML_MOST)
                put_rank(out, &view->trials[i], r);
    ys_buf_puts(out, "</table>\n</div>\n");
    ys_html_say_cut(out, view, YS_HTML_MOST, total, "ranks");
}
