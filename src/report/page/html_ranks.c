/* Where a step of each rank goes, drawn. */
#include "base/mem.h"
#include "metric/result_document.h"
#include "report/draw/chart.h"
#include "report/page_parts.h"
#include "report/view/view.h"
#include "report/tables/rank_tables.h"
#include "report/tables/tables.h"

#include <math.h>

struct drawn {
    struct ys_chart_bar *bars;
    struct ys_label *values;
    char **labels; /* owned */
    size_t count;
};

static void add_bar(struct drawn *drawn, const struct ys_view_trial *trial, const struct ys_result_rank *rank)
{
    struct ys_chart_bar *bar = &drawn->bars[drawn->count];
    const double step_s = ys_ranks_parts(rank, bar->parts);
    if (isnan(step_s))
        return;
    drawn->labels[drawn->count] = ys_format("%s, rank %lld", trial->name, (long long)rank->rank);
    drawn->values[drawn->count] = ys_label_value(YS_KIND_SPAN, step_s);
    bar->label = drawn->labels[drawn->count];
    bar->value = drawn->values[drawn->count].text;
    drawn->count++;
}

static void put_bars(struct ys_buf *out, const struct drawn *drawn)
{
    struct ys_label titles[YS_RANKS_PARTS];
    struct ys_chart_bars chart = {.id = "ranks",
                                  .title = "Where a step of each rank goes",
                                  .axis_title = "time of a step",
                                  .kind = YS_KIND_SPAN,
                                  .description = "For each rank the median time of each part of its step.",
                                  .parts = YS_RANKS_PARTS,
                                  .rows = drawn->bars,
                                  .count = drawn->count};
    for (size_t k = 0; k < YS_RANKS_PARTS; k++) {
        titles[k] = ys_ranks_head(YS_RANKS_FIRST_PART + k, false);
        for (size_t i = 0; i < drawn->count; i++)
            if (drawn->bars[i].parts[k] > 0)
                chart.part_names[k] = titles[k].text;
    }
    ys_html_begin_figure(out, chart.title,
                         "Medians of each part, so the parts may not add up exactly to the median of a step. Ranks of "
                         "which no part is known are left out.");
    ys_chart_bars(out, &chart);
    ys_html_end_figure(out);
}

void ys_html_ranks_chart(struct ys_buf *out, const struct ys_view *view)
{
    size_t most = 0;
    for (size_t i = 0; i < view->count; i++)
        most += view->trials[i].told->ranks.count;
    most = most < YS_HTML_MOST ? most : YS_HTML_MOST;
    struct drawn drawn = {.bars = ys_alloc(most, sizeof *drawn.bars),
                          .values = ys_alloc(most, sizeof *drawn.values),
                          .labels = ys_alloc(most, sizeof *drawn.labels)};
    for (size_t i = 0; i < view->count; i++)
        for (size_t r = 0; r < view->trials[i].told->ranks.count && drawn.count < most; r++)
            add_bar(&drawn, &view->trials[i], (const struct ys_result_rank *)view->trials[i].told->ranks.items + r);
    if (drawn.count > 0)
        put_bars(out, &drawn);
    ys_table_write(ys_table_lasts, view, &ys_page_medium, out);
    for (size_t i = 0; i < drawn.count; i++)
        ys_free(drawn.labels[i]);
    ys_free(drawn.bars);
    ys_free(drawn.values);
    ys_free(drawn.labels);
}
