/* Curves of several trials: one picture, or small multiples. */
#include "base/mem.h"
#include "report/draw/chart.h"
#include "report/page_parts.h"
#include "report/view/view.h"
#include "report/clean_text.h"

#include <math.h>

enum {
    PANEL_CURVES = 6, /* more heavy lines are drawn a framework a panel, where there are several */
    MOST_PANELS = 12,
    COINCIDING = YS_HTML_CURVES /* that are looked at */
};

static size_t groups_of(const struct ys_chart_lines *chart, int groups[MOST_PANELS])
{
    size_t count = 0;
    for (size_t c = 0; c < chart->count; c++) {
        bool known = false;
        for (size_t i = 0; i < count; i++)
            known |= groups[i] == chart->curves[c].group;
        if (!known && count < MOST_PANELS)
            groups[count++] = chart->curves[c].group;
    }
    return count;
}

static const char *title_of_group(const struct ys_view *view, int group)
{
    for (size_t t = 0; t < view->count; t++)
        if (view->trials[t].group == group)
            return view->trials[t].title;
    return "";
}

static size_t count_strong(const struct ys_chart_lines *chart)
{
    size_t strong = 0;
    for (size_t c = 0; c < chart->count; c++)
        strong += chart->curves[c].strong;
    return strong;
}

static void put_panel(struct ys_buf *out, const struct ys_view *view, const struct ys_chart_lines *chart,
                      const struct ys_chart_extent *extent, size_t place, int group)
{
    struct ys_chart_curve *curves = ys_alloc(chart->count + 1, sizeof *curves); /* what is in them is borrowed */
    struct ys_chart_lines panel = *chart;
    struct ys_buf drawn = {0};
    char *id = ys_format("%s-%zu", chart->id, place);
    char *title = ys_format("%s: %s", chart->title, title_of_group(view, group));
    panel.curves = curves;
    panel.count = 0;
    panel.id = id;
    for (size_t c = 0; c < chart->count; c++)
        if (chart->curves[c].group == group)
            curves[panel.count++] = chart->curves[c];
    ys_chart_lines_within(&drawn, &panel, extent);
    if (drawn.size && count_strong(&panel)) {
        ys_html_begin_figure(out, title, "");
        ys_buf_append(out, drawn.data, drawn.size);
        ys_html_end_figure(out);
    }
    ys_buf_free(&drawn);
    ys_free(title);
    ys_free(curves);
    ys_free(id);
}

/** Whether two curves are one line to the eye: nowhere further apart than a two-hundredth of the picture. */
static bool coincide(const struct ys_chart_lines *chart, const struct ys_chart_extent *extent,
                     const struct ys_chart_curve *a, const struct ys_chart_curve *b)
{
    const double high = chart->logarithmic ? log(extent->y_hi / extent->y_lo) : extent->y_hi - extent->y_lo;
    bool any = false;
    if (a->count != b->count || a->apart || b->apart)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const double apart = chart->logarithmic ? log(a->y[i] / b->y[i]) : a->y[i] - b->y[i];
        if (a->x[i] != b->x[i] || isfinite(a->y[i]) != isfinite(b->y[i]) ||
            (isfinite(a->y[i]) && !(fabs(apart) <= high / 200)))
            return false;
        any |= isfinite(a->y[i]);
    }
    return any;
}

/** "All 4 lie on one line.", or which do. Only of heavy curves: each is one run of a trial. */
static void say_coinciding(struct ys_buf *out, const struct ys_chart_lines *chart, const struct ys_chart_extent *extent)
{
    const size_t strong = count_strong(chart);
    bool said[COINCIDING] = {false};
    const char *before = " On one line lie ";
    for (size_t c = 0; c < chart->count && c < COINCIDING; c++) {
        const struct ys_chart_curve *first = &chart->curves[c];
        struct ys_buf names = {0};
        size_t together = 1;
        if (!first->strong || said[c])
            continue;
        for (size_t k = c + 1; k < chart->count && k < COINCIDING; k++)
            if (chart->curves[k].strong && !said[k] && coincide(chart, extent, first, &chart->curves[k])) {
                said[k] = true;
                together++;
                ys_buf_printf(&names, " and %s", chart->curves[k].name);
            }
        if (together == strong && together > 1)
            ys_buf_printf(out, together == 2 ? " Both lie on one line." : " All %zu lie on one line.", together);
        else if (together > 1) {
            ys_buf_printf(out, "%s%s%s", before, first->name, ys_buf_text(&names));
            before = "; ";
        }
        ys_buf_free(&names);
    }
    ys_buf_puts(out, *before == ';' ? "." : "");
}

static void put_panels(struct ys_buf *out, const struct ys_view *view, const struct ys_chart_lines *chart,
                       const struct ys_chart_extent *extent, const char *remark)
{
    int groups[MOST_PANELS];
    const size_t count = groups_of(chart, groups);
    if (!view || view->frameworks < 2 || count < 2 || count_strong(chart) <= PANEL_CURVES) {
        ys_html_begin_figure(out, chart->title, remark);
        ys_chart_lines_within(out, chart, extent);
        ys_html_end_figure(out);
        return;
    }
    ys_buf_puts(out, "<p class=\"remark\">");
    ys_text_html(out, remark);
    ys_buf_puts(out, " One scale for all.</p>\n<div class=\"charts\">\n");
    for (size_t g = 0; g < count; g++)
        put_panel(out, view, chart, extent, g, groups[g]);
    ys_buf_puts(out, "</div>\n");
}

void ys_html_curves(struct ys_buf *out, const struct ys_view *view, const struct ys_chart_lines *chart,
                    const char *remark)
{
    struct ys_chart_extent extent;
    struct ys_buf said = {0};
    ys_chart_lines_extent(chart, &extent);
    if (extent.x_lo > extent.x_hi)
        return;
    ys_buf_puts(&said, remark);
    say_coinciding(&said, chart, &extent);
    put_panels(out, view, chart, &extent, ys_buf_text(&said));
    ys_buf_free(&said);
}

void ys_html_trial_curves(struct ys_buf *out, const struct ys_view *view, struct ys_chart_lines *chart,
                          const char *remark,
                          bool (*read)(const struct ys_view_trial *trial, struct ys_chart_curve *curve))
{
    struct ys_buf drawn = {0};
    chart->curves = ys_alloc(view->count, sizeof *chart->curves);
    for (size_t t = 0; t < view->count && chart->count < YS_HTML_DRAWN; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        struct ys_chart_curve *curve = &chart->curves[chart->count];
        *curve =
            (struct ys_chart_curve){.name = trial->name, .group = trial->hue, .member = trial->dashes, .strong = true};
        chart->count += read(trial, curve);
    }
    ys_chart_lines(&drawn, chart);
    if (drawn.size > 0) {
        ys_buf_puts(out, "<div class=\"charts\">\n");
        ys_html_begin_figure(out, chart->title, remark);
        ys_buf_append(out, drawn.data, drawn.size);
        ys_html_end_figure(out);
        ys_buf_puts(out, "</div>\n");
        if (chart->count == YS_HTML_DRAWN)
            ys_html_say_cut(out, view, chart->count, view->count, "trials");
    }
    ys_buf_free(&drawn);
    ys_chart_free_curves(chart->curves, chart->count);
}
