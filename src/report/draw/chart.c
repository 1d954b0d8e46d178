#include "report/draw/chart.h"
#include "base/mem.h"
#include "report/clean_text.h"
#include "stat/summary.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEFT       8.0
#define RIGHT      (YS_SVG_WIDTH - 14.0)
#define TOP        4.0
#define AXIS       38.0 /* ticks and the axis' title */
#define LEGEND_ROW 18.0

/** A class name with a number in it. */
struct css {
    char text[48];
};

static struct css css_of(const char *before, const char *letter, int number, int count, const char *after)
{
    struct css css;
    snprintf(css.text, sizeof css.text, "%.16s%.2s%d%.16s", before, letter, number >= 0 ? number % count : 0, after);
    return css;
}

static void widen(double value, double *lo, double *hi)
{
    if (!isfinite(value))
        return;
    *lo = fmin(*lo, value);
    *hi = fmax(*hi, value);
}

/** "images per second" and the unit of the ticks where scaling changed it. */
static void put_axis_title(struct ys_buf *out, const struct ys_chart_axis *axis, const char *title, double x, double y,
                           enum ys_svg_anchor anchor)
{
    struct ys_buf text = {0};
    ys_buf_printf(&text, axis->unit[0] ? "%s (%s)" : "%s", title, axis->unit);
    ys_svg_text(out, x, y, anchor, RIGHT - LEFT, "soft", ys_buf_text(&text));
    ys_buf_free(&text);
}

/** Upright lines at the ticks. */
static void put_x_grid(struct ys_buf *out, const struct ys_chart_axis *axis, double top, double bottom)
{
    for (int i = 0; i < ys_axis_ticks(axis); i++) {
        struct ys_label label;
        const double x = ys_axis_place(axis, ys_axis_tick(axis, i, &label));
        ys_svg_line(out, x, top, x, bottom, "grid");
    }
}

/** The numbers of the ticks below the plot, and below them the title; `width` is that of the picture. */
static void put_x_labels(struct ys_buf *out, const struct ys_chart_axis *axis, const char *title, double width,
                         double bottom)
{
    double free_from = -1e9; /* where the last label ended */
    for (int i = 0; i < ys_axis_ticks(axis); i++) {
        struct ys_label label;
        double x = ys_axis_place(axis, ys_axis_tick(axis, i, &label)), half = ys_svg_text_width(label.text) / 2;
        if (x - half < free_from + 4)
            continue;
        bool last = x + half > width - 2, first = x - half < 1;
        ys_svg_text(out,
                    last    ? width - 2
                    : first ? 1
                            : x,
                    bottom + 14,
                    last    ? YS_SVG_END
                    : first ? YS_SVG_START
                            : YS_SVG_MIDDLE,
                    90, "soft", label.text);
        free_from = first ? 1 + 2 * half : x + half;
    }
    put_axis_title(out, axis, title, (axis->from + axis->to) / 2, bottom + 30, YS_SVG_MIDDLE);
}

/** Where a picture of rows has its names, its plot and its values: beside each other where it is wide, else names and
 * values in a line of their own above the marks. */
struct chart_layout {
    double width, left, right; /* of the picture; where the plot begins and ends */
    double top, row;           /* where the first row begins; how high each is */
    double shares;             /* the width of the last column of texts */
    bool wide;
};

static struct chart_layout layout_of(bool wide, double names, double values, double shares)
{
    if (wide)
        return (struct chart_layout){.width = YS_SVG_WIDE,
                                     .left = fmin(names, 330) + 16,
                                     .right = YS_SVG_WIDE - fmin(values, 330) - shares - 16,
                                     .top = TOP,
                                     .row = 26,
                                     .shares = shares,
                                     .wide = true};
    return (struct chart_layout){
        .width = YS_SVG_NARROW, .left = LEFT, .right = YS_SVG_NARROW - 10, .top = TOP, .row = 40, .shares = shares};
}

static double row_top(const struct chart_layout *layout, size_t row)
{
    return layout->top + layout->row * (double)row;
}

/** Where the marks of a row are: half of a line below what is above them. */
static double row_marks(const struct chart_layout *layout, size_t row)
{
    return row_top(layout, row) + (layout->wide ? 13 : 27);
}

/** The grid behind the marks of a row, never behind a text. */
static void put_row_grid(struct ys_buf *out, const struct chart_layout *layout, const struct ys_chart_axis *axis,
                         size_t row)
{
    if (layout->wide)
        put_x_grid(out, axis, row_top(layout, row), row_top(layout, row + 1));
    else
        put_x_grid(out, axis, row_marks(layout, row) - 9, row_marks(layout, row) + 10);
}

/** Names on the left, values on the right. */
struct row_texts {
    const char *label, *value, *share;
    const char *note, *css; /* in the place of marks and values, and its class; NULL: none */
};

static void put_row_texts(struct ys_buf *out, const struct chart_layout *layout, size_t row,
                          const struct row_texts *texts)
{
    const double y = row_top(layout, row) + (layout->wide ? 17 : 13),
                 end = layout->wide ? layout->width : layout->right, left = layout->wide ? 0 : LEFT;
    double room = texts->note || !texts->value[0] ? 0 : ys_svg_text_width(texts->value) + layout->shares + 12;
    room = layout->wide ? layout->width - layout->right - 8 : fmin(room, layout->width * 0.6);
    ys_svg_text(out, left, y, YS_SVG_START, layout->wide ? layout->left - 12 : layout->right - left - room, "",
                texts->label);
    if (texts->note)
        ys_svg_text(out, layout->left, layout->wide ? y : y + 17, YS_SVG_START, end - layout->left, texts->css,
                    texts->note);
    else if (texts->value[0])
        ys_svg_text(out, end - layout->shares, y, YS_SVG_END, room - layout->shares, "soft", texts->value);
    if (!texts->note && texts->share[0])
        ys_svg_text(out, end, y, YS_SVG_END, layout->shares, "", texts->share);
}

static void put_interval(struct ys_buf *out, const struct ys_chart_axis *axis, const struct ys_chart_row *row, double y)
{
    struct css line = css_of("line ", "g", row->group, YS_SVG_GROUPS, "");
    double lo = ys_axis_place(axis, row->lo), hi = ys_axis_place(axis, row->hi), mid = ys_axis_place(axis, row->mid);
    ys_svg_line(out, lo, y, hi, y, line.text);
    ys_svg_line(out, lo, y - 4, lo, y + 4, line.text);
    ys_svg_line(out, hi, y - 4, hi, y + 4, line.text);
    struct css strong = css_of("strong line ", "g", row->group, YS_SVG_GROUPS, "");
    ys_svg_line(out, mid, y - 7, mid, y + 7, strong.text);
}

static void put_dots(struct ys_buf *out, const struct ys_chart_axis *axis, const struct ys_chart_dots *chart,
                     const struct ys_chart_row *row, double y)
{
    struct css dot = css_of("dot ", "g", row->group, YS_SVG_GROUPS, "");
    for (size_t i = 0; i < row->count; i++) {
        struct ys_buf title = {0};
        ys_buf_printf(&title, "round %zu: %s", i + 1, ys_label_value(chart->kind, row->dots[i]).text);
        ys_svg_circle(out, ys_axis_place(axis, row->dots[i]), y, 3.4, dot.text, ys_buf_text(&title));
        ys_buf_free(&title);
    }
}

/** Begins one of the two pictures of a chart: only the one that suits the page's width is shown. */
static void begin_rows(struct ys_buf *out, const struct chart_layout *layout, const char *id, size_t rows,
                       const char *title, const char *description)
{
    struct ys_buf own = {0};
    ys_buf_printf(&own, "%s%s", id, layout->wide ? "" : "-narrow");
    ys_svg_begin(out, ys_buf_text(&own), layout->wide ? "wide" : "narrow", layout->width, row_top(layout, rows) + AXIS,
                 title, description);
    ys_buf_free(&own);
}

static void put_reference(struct ys_buf *out, const struct chart_layout *layout, const struct ys_chart_axis *axis,
                          const struct ys_chart_dots *chart)
{
    const double bottom = row_top(layout, chart->count), at = ys_axis_place(axis, chart->reference);
    if (isfinite(chart->band)) {
        double from = ys_axis_place(axis, chart->reference * (1 - chart->band));
        double to = ys_axis_place(axis, chart->reference * (1 + chart->band));
        ys_svg_rect(out, from, layout->top, to - from, bottom - layout->top, "band", "counts as the same");
    }
    ys_svg_line(out, at, layout->top, at, bottom, "reference");
}

static void put_dot_rows(struct ys_buf *out, const struct ys_chart_dots *chart, struct ys_chart_axis *axis, bool wide)
{
    double names = 0, values = 0, shares = 0;
    for (size_t r = 0; r < chart->count; r++) {
        const struct ys_chart_row *row = &chart->rows[r];
        names = fmax(names, ys_svg_text_width(row->label));
        values = fmax(values, row->note ? 0 : ys_svg_text_width(row->value));
        shares = fmax(shares, row->share.text[0] ? ys_svg_text_width(row->share.text) + 12 : 0);
    }
    const struct chart_layout layout = layout_of(wide, names, values, shares);
    axis->from = layout.left;
    axis->to = layout.right;
    begin_rows(out, &layout, chart->id, chart->count, chart->title, chart->description);
    for (size_t r = 0; r < chart->count; r++)
        if (!chart->rows[r].note)
            put_row_grid(out, &layout, axis, r);
    put_x_labels(out, axis, chart->axis_title, layout.width, row_top(&layout, chart->count));
    put_reference(out, &layout, axis, chart);
    for (size_t r = 0; r < chart->count; r++) {
        const struct ys_chart_row *row = &chart->rows[r];
        put_row_texts(out, &layout, r, &(struct row_texts){row->label, row->value, row->share.text, row->note, "soft"});
        if (row->note)
            continue;
        put_dots(out, axis, chart, row, row_marks(&layout, r));
        put_interval(out, axis, row, row_marks(&layout, r));
    }
    ys_svg_end(out);
}

void ys_chart_dots(struct ys_buf *out, const struct ys_chart_dots *chart)
{
    double lo = INFINITY, hi = -INFINITY;
    for (size_t r = 0; r < chart->count; r++) {
        const struct ys_chart_row *row = &chart->rows[r];
        for (size_t i = 0; !row->note && i < row->count; i++)
            widen(row->dots[i], &lo, &hi);
        if (row->note)
            continue;
        widen(row->mid, &lo, &hi);
        widen(row->lo, &lo, &hi);
        widen(row->hi, &lo, &hi);
    }
    if (chart->count == 0 || lo > hi)
        return;
    bool band = isfinite(chart->reference) && isfinite(chart->band);
    widen(chart->reference, &lo, &hi);
    widen(band ? chart->reference * (1 + chart->band) : NAN, &lo, &hi);
    widen(band ? chart->reference * (1 - chart->band) : NAN, &lo, &hi);
    struct ys_chart_axis axis;
    ys_axis_fit(&axis, chart->kind, lo, hi, 6, chart->zero, chart->logarithmic);
    put_dot_rows(out, chart, &axis, true);
    put_dot_rows(out, chart, &axis, false);
}

/** Squares and names, as many in a line as fit; draws when `out` is given. Returns the height. */
static double put_part_legend(struct ys_buf *out, const struct ys_chart_bars *chart, const struct chart_layout *layout)
{
    const double left = layout->wide ? layout->left : LEFT;
    double x = left;
    int lines = 1;
    for (size_t p = 0; p < chart->parts; p++) {
        if (!chart->part_names[p])
            continue;
        double width = 16 + ys_svg_text_width(chart->part_names[p]) + 10;
        if (x > left && x + width > layout->width) {
            x = left;
            lines++;
        }
        if (out) {
            double base = TOP + LEGEND_ROW * (lines - 1);
            ys_svg_rect(out, x, base + 3, 11, 11, css_of("", "p", (int)p, YS_SVG_PARTS, "").text, NULL);
            ys_svg_text(out, x + 16, base + 13, YS_SVG_START, layout->width, "", chart->part_names[p]);
        }
        x += width;
    }
    return LEGEND_ROW * lines + 4;
}

static void put_bar(struct ys_buf *out, const struct ys_chart_axis *axis, const struct ys_chart_bars *chart,
                    const struct ys_chart_bar *row, double y)
{
    double sum = 0;
    for (size_t p = 0; p < chart->parts; p++) {
        double part = isfinite(row->parts[p]) && row->parts[p] > 0 ? row->parts[p] : 0;
        double from = ys_axis_place(axis, sum), to = ys_axis_place(axis, sum + part);
        struct ys_buf title = {0};
        sum += part;
        if (part == 0)
            continue;
        ys_buf_printf(&title, "%s: %s", chart->part_names[p], ys_label_value(chart->kind, part).text);
        ys_svg_rect(out, from, y, to - from, 14, css_of("", "p", (int)p, YS_SVG_PARTS, "").text, ys_buf_text(&title));
        ys_buf_free(&title);
    }
}

static void put_bar_rows(struct ys_buf *out, const struct ys_chart_bars *chart, struct ys_chart_axis *axis, bool wide)
{
    double names = 0, values = 0;
    for (size_t r = 0; r < chart->count; r++) {
        names = fmax(names, ys_svg_text_width(chart->rows[r].label));
        values = fmax(values, chart->rows[r].note ? 0 : ys_svg_text_width(chart->rows[r].value));
    }
    struct chart_layout layout = layout_of(wide, names, values, 0);
    layout.top += put_part_legend(NULL, chart, &layout);
    axis->from = layout.left;
    axis->to = layout.right;
    begin_rows(out, &layout, chart->id, chart->count, chart->title, chart->description);
    put_part_legend(out, chart, &layout);
    put_x_labels(out, axis, chart->axis_title, layout.width, row_top(&layout, chart->count));
    for (size_t r = 0; r < chart->count; r++) {
        const struct ys_chart_bar *row = &chart->rows[r];
        if (!row->note)
            put_row_grid(out, &layout, axis, r);
        put_row_texts(out, &layout, r, &(struct row_texts){row->label, row->value, "", row->note, "bad"});
        if (!row->note)
            put_bar(out, axis, chart, row, row_marks(&layout, r) - 7);
    }
    ys_svg_end(out);
}

void ys_chart_bars(struct ys_buf *out, const struct ys_chart_bars *chart)
{
    double longest = 0;
    for (size_t r = 0; r < chart->count; r++) {
        double sum = 0;
        for (size_t p = 0; p < chart->parts && !chart->rows[r].note; p++)
            sum += isfinite(chart->rows[r].parts[p]) && chart->rows[r].parts[p] > 0 ? chart->rows[r].parts[p] : 0;
        longest = fmax(longest, sum);
    }
    if (chart->count == 0 || longest <= 0)
        return;
    struct ys_chart_axis axis;
    ys_axis_fit(&axis, chart->kind, 0, longest, 6, true, false);
    put_bar_rows(out, chart, &axis, true);
    put_bar_rows(out, chart, &axis, false);
}

/** The largest y that is worth showing: all of them, unless the largest is more than four times what 98 of 100 reach.
 */
void ys_chart_lines_extent(const struct ys_chart_lines *chart, struct ys_chart_extent *extent)
{
    size_t total = 0, used = 0;
    *extent = (struct ys_chart_extent){INFINITY, -INFINITY, INFINITY, -INFINITY, false};
    for (size_t c = 0; c < chart->count; c++)
        total += chart->curves[c].count;
    double *values = ys_alloc(total, sizeof *values);
    for (size_t c = 0; c < chart->count; c++) {
        const struct ys_chart_curve *curve = &chart->curves[c];
        for (size_t i = 0; i < curve->count; i++) {
            if (!isfinite(curve->x[i]) || !isfinite(curve->y[i]))
                continue;
            widen(curve->x[i], &extent->x_lo, &extent->x_hi);
            widen(curve->y[i], &extent->y_lo, &extent->y_hi);
            widen(curve->lo ? curve->lo[i] : NAN, &extent->y_lo, &extent->y_hi);
            widen(curve->hi ? curve->hi[i] : NAN, &extent->y_lo, &extent->y_hi);
            values[used++] = curve->y[i];
        }
    }
    if (chart->cut && used > 0) {
        ys_stat_sort(values, used);
        double usual = values[(size_t)(0.98 * (double)(used - 1))];
        if (usual > 0 && extent->y_hi > 4 * usual) {
            extent->y_hi = 1.5 * usual;
            extent->cut = true;
        }
    }
    ys_free(values);
}

static void put_y_axis(struct ys_buf *out, const struct ys_chart_axis *axis, double left, double right)
{
    for (int i = 0; i < ys_axis_ticks(axis); i++) {
        struct ys_label label;
        double y = ys_axis_place(axis, ys_axis_tick(axis, i, &label));
        ys_svg_line(out, left, y, right, y, "grid");
        ys_svg_text(out, left - 5, y + 4, YS_SVG_END, 60, "soft", label.text);
    }
}

static double y_label_room(const struct ys_chart_axis *axis)
{
    double room = 0;
    for (int i = 0; i < ys_axis_ticks(axis); i++) {
        struct ys_label label;
        ys_axis_tick(axis, i, &label);
        room = fmax(room, ys_svg_text_width(label.text));
    }
    return fmin(room, 60) + 8;
}

/* Dots that no line joins tell the settings of one framework apart by their shape: filled or hollow, round, square, on
 * a corner, or a triangle. */
static void put_dot(struct ys_buf *out, const struct ys_chart_curve *curve, double x, double y, const char *title)
{
    const int member = curve->apart && curve->member > 0 ? curve->member % YS_SVG_MEMBERS : 0;
    struct css css = css_of("point ", "g", curve->group, YS_SVG_GROUPS, member % 2 ? " ring" : "");
    if (member < 2)
        ys_svg_circle(out, x, y, 4, css.text, title);
    else if (member < 4)
        ys_svg_rect(out, x - 3.5, y - 3.5, 7, 7, css.text, title);
    else if (member < 6)
        ys_svg_polygon(out, (double[]){x, x + 5, x, x - 5}, (double[]){y - 5, y, y + 5, y}, 4, css.text, title);
    else
        ys_svg_polygon(out, (double[]){x, x + 5, x - 5}, (double[]){y - 5, y + 4, y + 4}, 3, css.text, title);
}

/** The points of a curve that has words for them: each with its interval. Coordinates stand in x and y. */
static void put_points(struct ys_buf *out, const struct ys_chart_curve *curve, const struct ys_chart_axis *y)
{
    struct css line = css_of("line ", "g", curve->group, YS_SVG_GROUPS, "");
    for (size_t i = 0; i < curve->count; i++) {
        const double lo = curve->lo ? ys_axis_place(y, curve->lo[i]) : NAN,
                     hi = curve->hi ? ys_axis_place(y, curve->hi[i]) : NAN;
        if (!isfinite(curve->x[i]) || !isfinite(curve->y[i]))
            continue;
        ys_svg_line(out, curve->x[i], lo, curve->x[i], hi, line.text);
        ys_svg_line(out, curve->x[i] - 4, lo, curve->x[i] + 4, lo, isfinite(hi) ? line.text : NULL);
        ys_svg_line(out, curve->x[i] - 4, hi, curve->x[i] + 4, hi, isfinite(lo) ? line.text : NULL);
        put_dot(out, curve, curve->x[i], curve->y[i], curve->titles[i]);
    }
}

static void put_curve(struct ys_buf *out, const struct ys_chart_curve *curve, const struct ys_chart_axis *x,
                      const struct ys_chart_axis *y, const char *clip)
{
    for (size_t i = 0; i < curve->count; i++) {
        curve->x[i] = ys_axis_place(x, curve->x[i]);
        curve->y[i] = ys_axis_place(y, curve->y[i]);
    }
    struct css dash = css_of("", " d", curve->member, YS_SVG_MEMBERS, "");
    struct css css = css_of(curve->strong ? "strong line " : "thin line ", "g", curve->group, YS_SVG_GROUPS, dash.text);
    if (!curve->apart)
        ys_svg_path(out, curve->x, curve->y, curve->count, css.text, clip);
    if (curve->titles)
        put_points(out, curve, y);
    else if (curve->count == 1)
        ys_svg_circle(out, curve->x[0], curve->y[0], 2.5, css_of("dot ", "g", curve->group, YS_SVG_GROUPS, "").text,
                      NULL);
}

/** A line sample and a name for each strong curve, in two columns when the names are short. Returns the height. */
static double put_curve_legend(struct ys_buf *out, const struct ys_chart_lines *chart, double y)
{
    double room = (RIGHT - LEFT) / 2;
    size_t strong = 0, columns = 2;
    for (size_t c = 0; c < chart->count; c++) {
        strong += chart->curves[c].strong;
        if (chart->curves[c].strong && ys_svg_text_width(chart->curves[c].name) + 40 > room)
            columns = 1;
    }
    room = (RIGHT - LEFT) / (double)columns;
    size_t index = 0;
    for (size_t c = 0; c < chart->count && out; c++) {
        const struct ys_chart_curve *curve = &chart->curves[c];
        if (!curve->strong)
            continue;
        double x = LEFT + room * (double)(index % columns), base = y + LEGEND_ROW * (double)(index / columns);
        struct css dash = css_of("", " d", curve->member, YS_SVG_MEMBERS, "");
        if (curve->apart)
            put_dot(out, curve, x + 13, base + 9, NULL);
        else
            ys_svg_line(out, x, base + 9, x + 26, base + 9,
                        css_of("strong line ", "g", curve->group, YS_SVG_GROUPS, dash.text).text);
        ys_svg_text(out, x + 32, base + 13, YS_SVG_START, room - 34, "", curve->name);
        index++;
    }
    return LEGEND_ROW * (double)((strong + columns - 1) / columns);
}

/** Scales of both axes, without their coordinates. */
static void fit_axes(const struct ys_chart_lines *chart, const struct ys_chart_extent *extent, struct ys_chart_axis *x,
                     struct ys_chart_axis *y)
{
    ys_axis_fit(x, chart->x_kind, extent->x_lo, extent->x_hi, 6, !chart->free_x && !chart->x_logarithmic,
                chart->x_logarithmic);
    if (chart->x_whole && !x->logarithmic)
        x->step = fmax(x->step, 1 / x->factor);
    x->at = chart->x_ticks;
    x->at_count = (int)chart->x_tick_count;
    ys_axis_fit(y, chart->y_kind, extent->y_lo, extent->y_hi, 5, !chart->free_y && !chart->logarithmic,
                chart->logarithmic);
    /* The x axis ends where the data end: a time or a step is no quantity that wants a round end. */
    if (!chart->free_x && !x->logarithmic)
        x->hi = fmax(extent->x_hi / x->factor, x->lo + (x->hi - x->lo) * 1e-3);
}

void ys_chart_lines_within(struct ys_buf *out, const struct ys_chart_lines *chart, const struct ys_chart_extent *extent)
{
    if (extent->x_lo > extent->x_hi)
        return;
    struct ys_chart_axis x, y;
    fit_axes(chart, extent, &x, &y);
    double top = TOP + 24, bottom = top + 200, left = LEFT + y_label_room(&y);
    const double aside = chart->free_x ? 10 : 0; /* dots and intervals keep off the numbers in the gutter */
    x.from = left + aside;
    x.to = RIGHT - aside;
    y.from = bottom;
    y.to = top;
    double legend = put_curve_legend(NULL, chart, 0);
    struct ys_buf clip = {0}, title = {0};
    ys_buf_printf(&clip, "%s-clip", chart->id);
    ys_buf_printf(&title, "%s%s", chart->y_title, extent->cut ? ", cut at the top: some values lie above" : "");
    ys_svg_begin(out, chart->id, "", YS_SVG_WIDTH, bottom + AXIS + 6 + legend, chart->title, chart->description);
    ys_buf_printf(out, "<clipPath id=\"%s\">", ys_buf_text(&clip));
    ys_svg_rect(out, left, top - 1, RIGHT - left + 1, bottom - top + 2, NULL, NULL);
    ys_buf_puts(out, "</clipPath>\n");
    put_axis_title(out, &y, ys_buf_text(&title), LEFT, TOP + 10, YS_SVG_START);
    put_y_axis(out, &y, left, RIGHT);
    put_x_grid(out, &x, top, bottom);
    put_x_labels(out, &x, chart->x_title, YS_SVG_WIDTH, bottom);
    if (chart->reference != 0)
        ys_svg_line(out, left, ys_axis_place(&y, chart->reference), RIGHT, ys_axis_place(&y, chart->reference),
                    "reference");
    for (int strong = 0; strong <= 1; strong++)
        for (size_t c = 0; c < chart->count; c++)
            if (chart->curves[c].strong == (strong == 1))
                put_curve(out, &chart->curves[c], &x, &y, ys_buf_text(&clip));
    put_curve_legend(out, chart, bottom + AXIS + 2);
    ys_svg_end(out);
    ys_buf_free(&clip);
    ys_buf_free(&title);
}

void ys_chart_lines(struct ys_buf *out, const struct ys_chart_lines *chart)
{
    struct ys_chart_extent extent;
    ys_chart_lines_extent(chart, &extent);
    ys_chart_lines_within(out, chart, &extent);
}

void ys_chart_free_curves(struct ys_chart_curve *curves, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; curves[i].titles && k < curves[i].count; k++)
            ys_free(curves[i].titles[k]);
        ys_free(curves[i].titles);
        ys_free(curves[i].lo);
        ys_free(curves[i].hi);
        ys_free(curves[i].x);
        ys_free(curves[i].y);
    }
    ys_free(curves);
}
