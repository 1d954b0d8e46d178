/* A table of numbers as colours. */
#include "report/clean_text.h"
#include "report/draw/chart.h"

#include <math.h>
#include <stdio.h>

#define LEFT   8.0
#define RIGHT  (YS_SVG_WIDTH - 14.0)
#define TOP    24.0
#define CELL   30.0 /* high */
#define BOTTOM 42.0 /* names of the columns, and the title */

/* How much of the colour shows: even the smallest value a little, so that a cell is told from none. */
static double depth_of(const struct ys_chart_heat *chart, double value)
{
    const double span = chart->hi - chart->lo;
    return 0.12 + 0.73 * (span > 0 ? fmin(fmax((value - chart->lo) / span, 0), 1) : 1);
}

static void put_cell(struct ys_buf *out, const struct ys_chart_heat *chart, size_t row, size_t column, double x,
                     double width)
{
    const double value = chart->values[row * chart->column_count + column], y = TOP + CELL * (double)row;
    struct ys_buf title = {0}, css = {0};
    if (!isfinite(value)) {
        ys_svg_text(out, x + width / 2, y + CELL / 2 + 4, YS_SVG_MIDDLE, width, "soft", "-");
        return;
    }
    struct ys_label label = ys_label_value(chart->kind, value);
    ys_buf_printf(&title, "%s, %s: %s", chart->rows[row], chart->columns[column], label.text);
    /* Steps of a class, since what a page may do is kept to its one style sheet. */
    ys_buf_printf(&css, "heat h%d g%d", (int)lround(10 * depth_of(chart, value)),
                  chart->group >= 0 ? chart->group % YS_SVG_GROUPS : 0);
    ys_svg_rect(out, x + 1, y + 1, width - 2, CELL - 2, ys_buf_text(&css), ys_buf_text(&title));
    if (chart->kind == YS_KIND_SHARE && ys_svg_text_width(label.text) > width - 4)
        snprintf(label.text, sizeof label.text, "%.0f %%", 100 * value); /* the title has it whole */
    ys_svg_text(out, x + width / 2, y + CELL / 2 + 4, YS_SVG_MIDDLE, width - 4, "", label.text);
    ys_buf_free(&title);
    ys_buf_free(&css);
}

void ys_chart_heat(struct ys_buf *out, const struct ys_chart_heat *chart)
{
    double names = 0;
    if (chart->row_count == 0 || chart->column_count == 0)
        return;
    for (size_t r = 0; r < chart->row_count; r++)
        names = fmax(names, ys_svg_text_width(chart->rows[r]));
    names = fmin(names, 150) + 8;
    const double left = LEFT + names, width = (RIGHT - left) / (double)chart->column_count,
                 bottom = TOP + CELL * (double)chart->row_count;
    ys_svg_begin(out, chart->id, "", YS_SVG_WIDTH, bottom + BOTTOM, chart->title, chart->description);
    ys_svg_text(out, LEFT, 14, YS_SVG_START, RIGHT - LEFT, "soft", chart->y_title);
    for (size_t r = 0; r < chart->row_count; r++) {
        ys_svg_text(out, left - 6, TOP + CELL * ((double)r + 0.5) + 4, YS_SVG_END, names, "soft", chart->rows[r]);
        for (size_t c = 0; c < chart->column_count; c++)
            put_cell(out, chart, r, c, left + width * (double)c, width);
    }
    for (size_t c = 0; c < chart->column_count; c++)
        ys_svg_text(out, left + width * ((double)c + 0.5), bottom + 14, YS_SVG_MIDDLE, width, "soft",
                    chart->columns[c]);
    ys_svg_text(out, (left + RIGHT) / 2, bottom + 32, YS_SVG_MIDDLE, RIGHT - left, "soft", chart->x_title);
    ys_svg_end(out);
}
