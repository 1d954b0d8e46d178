#include "report/tables/rank_tables.h"

#include "metric/metric.h"
#include "report/page_parts.h"
#include "report/view/view.h"
#include "report/tables/tables.h"
#include "report/clean_text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
    {"opti-\nmizer", "Optimizer", NULL, false},
    {"frame-\nwork", "Framework", NULL, false},
    {.metric = "input_s", .is_part = true},
    {.metric = "rest_s", .is_part = true},
    {"sent", "Sent", NULL, false},
    {"host\nsent", "Sent by its host", NULL, false},
    {"collec-\ntives", "In collectives", NULL, false},
    {"of it\nhidden", "Of it hidden", NULL, false},
};

/* As a share of a step: more is said. */
static const double REST_MOST = 0.02;

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

static const char ranks_remark[] =
    "A step of a rank: computing, forward and backward; waiting for the gradients of the slowest rank; exchanging, "
    "from then until all have their mean; the optimizer; the framework, from there to the next forward pass; waiting "
    "for rows; the rest between blocks. Then what it sent to others; what its host's network interface sent, for "
    "whichever program; for how long some collective was under way, and what of that was hidden, while it did not wait "
    "for its gradients. What is not known is \"-\"; where that are optimizer and framework alone, they are a part of "
    "computing.";

/** One end of an interval, as a list of both; NaN: it is not known. */
static double end_of(const struct ys_list *ends, size_t which)
{
    return ends && ends->count == 2 ? ((const double *)ends->items)[which] : (double)NAN;
}

static struct ys_label label_measure(double value_s, const struct ys_list *ends)
{
    const struct ys_measure measure = ys_measure(YS_KIND_SPAN, value_s, end_of(ends, 0), end_of(ends, 1));
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

double ys_ranks_parts(const struct ys_result_rank *rank, double parts_s[YS_RANKS_PARTS])
{
    const double all_s[YS_RANKS_PARTS] = {rank->compute_s,   rank->communication_s, rank->waiting_s, rank->optimizer_s,
                                          rank->framework_s, rank->input_s,         rank->rest_s};
    double sum_s = rank->compute_s;
    for (size_t k = 0; k < YS_RANKS_PARTS; k++) {
        parts_s[k] = all_s[k];
        sum_s += k > 0 && isfinite(all_s[k]) ? all_s[k] : 0;
    }
    return sum_s;
}

struct ys_ranks_row ys_ranks_row(const struct ys_result_rank *found)
{
    struct ys_ranks_row row = {.failed = false};
    row.failed = found->status != YS_NAME_NONE && found->status != (int)YS_RUN_OK;
    snprintf(row.cells[0].text, sizeof row.cells[0].text, "%lld%s%.30s", (long long)found->rank, found->host ? " " : "",
             found->host ? found->host : "");
    snprintf(row.cells[1].text, sizeof row.cells[1].text, "%.40s",
             ys_view_or(ys_name_of(&ys_run_statuses, found->status), "-"));
    row.cells[2] = ys_label_value(YS_KIND_NUMBER, found->rate_per_s);
    const double figures[] = {found->cpu_s, found->cpu_wait_s, found->rss_peak_bytes};
    for (size_t k = 0; k < sizeof figures / sizeof figures[0]; k++)
        row.cells[3 + k] = label_figure(3 + k, figures[k]);
    double parts_s[YS_RANKS_PARTS];
    (void)ys_ranks_parts(found, parts_s);
    const struct ys_list *const ends[] = {&found->compute_ci,   &found->communication_ci, &found->waiting_ci,
                                          &found->optimizer_ci, &found->framework_ci,     &found->input_ci,
                                          &found->rest_ci};
    for (size_t k = 0; k < YS_RANKS_PARTS; k++)
        row.cells[YS_RANKS_FIRST_PART + k] = label_measure(parts_s[k], ends[k]);
    row.cells[13] = ys_label_value(YS_KIND_BYTES, found->sent_bytes);
    row.cells[14] = ys_label_value(YS_KIND_BYTES, found->wire_sent_bytes);
    row.cells[15] = label_measure(found->collective_s, NULL);
    row.cells[16] = label_measure(found->hidden_s, NULL);
    return row;
}

/** By how much clocks of hosts are uncertain, where one has another. */
static void put_clocks(struct ys_buf *out, const struct ys_result_rank *ranks, size_t count)
{
    double most_s = 0;
    for (size_t i = 0; i < count; i++)
        most_s = fmax(most_s, ranks[i].clock_error_s); /* passes NaN over */
    if (most_s > 0)
        ys_buf_printf(
            out,
            "the clocks of its hosts are related to within %s, so waiting and exchanging are known no more finely.",
            label_measure(most_s, NULL).text);
}

/** What went through the interfaces of its hosts, beside what had to: of some ways each host has to send as much, of
 * others only all together (metric/result/wire_traffic.h), so the mean is said, which is true of either. */
static void put_wire(struct ys_buf *out, const struct ys_result_rank *ranks, size_t count)
{
    double least_bytes = NAN, most_bytes = NAN, needed_bytes = NAN;
    const char *interface = NULL;
    for (size_t i = 0; i < count; i++) {
        interface = interface ? interface : ranks[i].interface;
        least_bytes = fmin(least_bytes, ranks[i].wire_sent_bytes); /* NaN is passed over */
        most_bytes = fmax(most_bytes, ranks[i].wire_sent_bytes);
        needed_bytes = fmin(needed_bytes, ranks[i].wire_needed_bytes);
    }
    if (!interface)
        return;
    const struct ys_label least = ys_label_value(YS_KIND_BYTES, least_bytes),
                          most = ys_label_value(YS_KIND_BYTES, most_bytes);
    if (isnan(needed_bytes))
        ys_buf_printf(out, "interface %s sent %s a step, of all ranks and of whatever else went there.", interface,
                      most.text);
    else
        ys_buf_printf(out,
                      "each host sent %s%s%s a step through %s, where the mean over all hosts has to be %s at least.",
                      least.text, strcmp(least.text, most.text) != 0 ? " to " : "",
                      strcmp(least.text, most.text) != 0 ? most.text : "", interface,
                      ys_label_value(YS_KIND_BYTES, needed_bytes).text);
}

static void put_last(struct ys_buf *out, const struct ys_result_rank *ranks, size_t count)
{
    const char *const parts[] = {[YS_RANK_COMPUTE] = ys_view_part("compute_s"),
                                 [YS_RANK_OPTIMIZER] = "the optimizer",
                                 [YS_RANK_FRAMEWORK] = "the framework",
                                 [YS_RANK_INPUT] = ys_view_part("input_s"),
                                 [YS_RANK_REST] = ys_view_part("rest_s")};
    struct ys_result_rank last = {.late_part = YS_NAME_NONE};
    for (size_t i = 0; i < count; i++)
        if (ranks[i].late_part != YS_NAME_NONE && (last.late_part == YS_NAME_NONE || ranks[i].late_s > last.late_s))
            last = ranks[i];
    if (last.late_part == YS_NAME_NONE)
        return;
    const double least_s = end_of(&last.late_ci, 0);
    ys_buf_printf(out, "%s %lld %s: %s takes it %s a step longer than the other ranks",
                  least_s <= 0 ? "no rank is the last in all rounds; rank" : "rank", (long long)last.rank,
                  least_s <= 0 ? "is by most" : "is the last", parts[last.late_part],
                  label_measure(last.late_s, &last.late_ci).text);
    if (isnan(least_s))
        ys_buf_printf(out, " (%s: no interval)", ys_label_plural(last.runs, "run").text);
    ys_buf_puts(out, ".");
}

/** Why nothing is known of its steps. */
static void put_untimed(struct ys_buf *out, const struct ys_result_rank *ranks, size_t count)
{
    size_t i = 0;
    while (i < count && !ranks[i].untimed)
        i++;
    if (i == count)
        return;
    ys_buf_puts(out, "where its steps go is not known: ");
    ys_text_clean(out, ranks[i].untimed, false);
    ys_buf_puts(out, ".");
}

/** What of a step is in no part that has a name: it should be at most 2 %. */
static void put_rest(struct ys_buf *out, const struct ys_result_rank *ranks, size_t count)
{
    double most = REST_MOST;
    int64_t rank = -1;
    for (size_t i = 0; i < count; i++) {
        double parts_s[YS_RANKS_PARTS];
        const double share = ranks[i].rest_s / ys_ranks_parts(&ranks[i], parts_s);
        if (share > most) {
            most = share;
            rank = ranks[i].rank;
        }
    }
    if (rank >= 0)
        ys_buf_printf(out,
                      "of a step of rank %lld %.1f %% lie between blocks, which is no part of training: longer "
                      "blocks have less of it.",
                      (long long)rank, 100 * most);
}

/** What was heard of collectives, or why nothing or not all was. */
static void put_heard(struct ys_buf *out, const struct ys_result_rank *ranks, size_t count)
{
    struct ys_result_rank most = {.collective_bytes = NAN};
    for (size_t i = 0; i < count; i++) {
        if (ranks[i].collective_reason && isnan(ranks[i].collective_bytes)) {
            ys_buf_printf(out, "%s in collectives is not known of rank %lld: %s.",
                          isnan(ranks[i].collective_calls) ? "what passes" : "how many bytes pass",
                          (long long)ranks[i].rank, ranks[i].collective_reason);
            return;
        }
        if (isnan(most.collective_bytes) || ranks[i].collective_bytes > most.collective_bytes)
            most = ranks[i];
    }
    if (!isnan(most.collective_bytes))
        ys_buf_printf(out, "for a step a rank hands %s to %s (calls: %.3g).",
                      ys_label_value(YS_KIND_BYTES, most.collective_bytes).text, most.collective_library,
                      most.collective_calls);
}

void ys_ranks_put_last(struct ys_buf *out, const struct ys_view_trial *trial)
{
    static void (*const sentences[])(struct ys_buf *, const struct ys_result_rank *,
                                     size_t) = {put_last, put_untimed, put_rest, put_heard, put_clocks, put_wire};
    const struct ys_list *ranks = &trial->told->ranks;
    for (size_t i = 0; i < sizeof sentences / sizeof sentences[0]; i++) {
        struct ys_buf text = {0};
        sentences[i](&text, ranks->items, ranks->count);
        const char *sentence = ys_buf_text(&text);
        if (text.size > 0 && out->size == 0)
            ys_buf_printf(out, "%s: %s", trial->name, sentence);
        else if (text.size > 0)
            ys_buf_printf(out, " %c%s", toupper((unsigned char)*sentence), sentence + 1);
        ys_buf_free(&text);
    }
}

static void fill(struct ys_sheet *sheet, const struct ys_view *view, const size_t *shown, size_t count)
{
    ys_table_trials(sheet, view, "Ranks");
    sheet->naming++; /* the rank's number names the row too */
    sheet->is_plain = true;
    for (size_t k = 0; k < count; k++)
        ys_sheet_column(sheet, YS_FORM_ALL, shown[k] == 1 ? YS_COLUMN_TEXT : YS_COLUMN_MEASURE,
                        ys_ranks_head(shown[k], false).text, ys_ranks_head(shown[k], true).text);
    for (size_t i = 0; i < view->count; i++) {
        const struct ys_list *ranks = &view->trials[i].told->ranks;
        for (size_t r = 0; r < ranks->count; r++, sheet->total++) {
            if (sheet->medium.form == YS_FORM_PAGE && sheet->total >= YS_SHEET_MOST)
                continue;
            const struct ys_ranks_row row = ys_ranks_row((const struct ys_result_rank *)ranks->items + r);
            ys_table_trial(sheet, view, i);
            for (size_t k = 0; k < count; k++)
                ys_sheet_put(sheet, shown[k] == 1 && row.failed ? YS_MOOD_BAD : YS_MOOD_PLAIN,
                             row.cells[shown[k]].text);
        }
    }
}

void ys_table_ranks(struct ys_sheet *sheet, const struct ys_view *view)
{
    size_t all[YS_RANKS_COLUMNS];
    for (size_t k = 0; k < YS_RANKS_COLUMNS; k++)
        all[k] = k;
    sheet->title = sheet->medium.form == YS_FORM_TEXT ? "Ranks (medians of the runs; brackets hold intervals)" : NULL;
    fill(sheet, view, all, YS_RANKS_COLUMNS);
}

void ys_html_ranks(struct ys_buf *out, const struct ys_view *view)
{
    /* Too wide for one table: the rank as a whole, what of its step is its own, and what it has with others. */
    static const size_t whole[] = {0, 1, 2, 3, 4, 5}, own[] = {0, 6, 9, 10, 11, 12},
                        others[] = {0, 8, 7, 13, 14, 15, 16};
    static const struct {
        const size_t *shown;
        size_t count;
        const char *remark, *things;
    } parts[] = {{whole, sizeof whole / sizeof whole[0], ranks_remark, NULL},
                 {own, sizeof own / sizeof own[0], NULL, NULL},
                 {others, sizeof others / sizeof others[0], NULL, "ranks"}};
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        struct ys_sheet sheet = ys_sheet_init(&ys_page_medium);
        sheet.view = view;
        sheet.remark = parts[k].remark;
        sheet.things = parts[k].things;
        fill(&sheet, view, parts[k].shown, parts[k].count);
        ys_sheet_write(&sheet, out);
    }
}
