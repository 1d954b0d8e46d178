/* One trial over all studies, as plain text. */
#include "base/mem.h"
#include "metric/metric.h"
#include "report/grid.h"
#include "report/judged.h"
#include "report/label.h"
#include "report/text.h"

#include <math.h>

enum { BAR = 16 }; /* columns of the longest bar */

static void put_interval(struct ys_buf *out, enum ys_kind kind, const struct ys_history_point *point)
{
    const double *ci = point->ci.items;
    if (point->ci.count == 2)
        ys_buf_puts(out, ys_measure(kind, point->value, ci[0], ci[1]).interval.text);
}

static void add_row(struct ys_grid *grid, enum ys_kind kind, const struct ys_history_point *point, double most)
{
    struct ys_buf text = {0};
    ys_grid_row(grid);
    ys_buf_printf(&text, "%lld", (long long)point->study);
    ys_grid_cell(grid, 0, YS_GRID_PLAIN, ys_buf_text(&text));
    ys_grid_cell(grid, 1, YS_GRID_PLAIN, point->started ? point->started : "-");
    ys_grid_cell(grid, 2, YS_GRID_PLAIN, point->version);
    ys_grid_cell(grid, 3, YS_GRID_PLAIN, ys_label_value(kind, point->value).text);
    ys_buf_clear(&text);
    put_interval(&text, kind, point);
    ys_grid_cell(grid, 4, YS_GRID_DIM, ys_buf_text(&text));
    const double *machine = point->anchor.items;
    ys_buf_clear(&text);
    if (point->anchor.count == 2)
        ys_buf_printf(&text, "%.2f to %.2f", machine[0], machine[1]);
    ys_grid_cell(grid, 5, YS_GRID_DIM, ys_buf_text(&text));
    ys_buf_clear(&text);
    for (int i = 0; isfinite(point->value) && most > 0 && i < (int)lround(BAR * point->value / most); i++)
        ys_buf_puts(&text, "#");
    if (point->change)
        ys_buf_puts(&text, " change");
    ys_grid_cell(grid, 6, point->change ? YS_GRID_BAD : YS_GRID_PLAIN, ys_buf_text(&text));
    ys_buf_free(&text);
}

static void put_summary(const struct ys_history *history, int width, struct ys_buf *out)
{
    const struct ys_history_point *points = history->points.items;
    struct ys_buf line = {0};
    size_t changes = 0;
    for (size_t i = 0; i < history->points.count; i++)
        changes += points[i].change;
    ys_buf_printf(&line, "%s of %s in %zu studies: ", history->metric, history->trial, history->points.count);
    if (history->points.count < YS_HISTORY_POINTS)
        ys_buf_printf(&line, "too few to tell a change, %d are needed.", YS_HISTORY_POINTS);
    else if (changes == 0)
        ys_buf_puts(&line, "no change that chance would not show in 1 of 100.");
    else
        ys_buf_printf(&line, "%zu change%s, of a kind that chance shows in 1 of 100 histories.", changes,
                      changes == 1 ? "" : "s");
    ys_text_wrap(out, ys_buf_text(&line), 0, 0, width);
    out->failed |= line.failed;
    ys_buf_free(&line);
}

ys_status ys_report_history(const struct ys_history *history, int width, bool colour, struct ys_buf *out)
{
    struct ys_grid grid;
    const struct ys_history_point *points = history->points.items;
    const struct ys_metric_info *info = ys_metric_find(history->metric);
    double most = 0;
    for (size_t i = 0; i < history->points.count; i++)
        most = fmax(most, points[i].value);
    put_summary(history, width, out);
    ys_grid_init(&grid, 1);
    ys_grid_column(&grid, "study", true);
    ys_grid_column(&grid, "begun", false);
    ys_grid_column(&grid, "version", false);
    ys_grid_column(&grid, "median", true);
    ys_grid_column(&grid, "interval", true);
    ys_grid_column(&grid, "machine", true);
    ys_grid_column(&grid, "", false);
    for (size_t i = 0; i < history->points.count; i++)
        add_row(&grid, info ? info->kind : YS_KIND_NUMBER, &points[i], most);
    ys_status status = ys_grid_print(&grid, 2, width, colour, out);
    ys_grid_fini(&grid);
    return status == YS_OK && out->failed ? ys_out_of_memory() : status;
}
