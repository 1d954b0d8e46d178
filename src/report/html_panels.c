/* Curves of several trials: one picture, or small multiples. */
#include "base/mem.h"
#include "report/chart.h"
#include "report/html.h"

enum {
    PANEL_CURVES = 6, /* more heavy lines are drawn a framework a panel, where there are several */
    MOST_PANELS = 12
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

static ys_status put_panel(struct ys_buf *out, const struct ys_view *view, const struct ys_chart_lines *chart,
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
    for (size_t c = 0; curves && c < chart->count; c++)
        if (chart->curves[c].group == group)
            curves[panel.count++] = chart->curves[c];
    ys_status status = curves && id && title ? ys_chart_lines_within(&drawn, &panel, extent) : ys_out_of_memory();
    if (status == YS_OK && drawn.size && count_strong(&panel)) {
        ys_html_begin_figure(out, title, "");
        ys_buf_append(out, drawn.data, drawn.size);
        ys_html_end_figure(out);
    }
    out->failed |= drawn.failed;
    ys_buf_free(&drawn);
    ys_free(title);
    ys_free(curves);
    ys_free(id);
    return status;
}

ys_status ys_html_curves(struct ys_buf *out, const struct ys_view *view, const struct ys_chart_lines *chart,
                         const char *remark)
{
    struct ys_chart_extent extent;
    int groups[MOST_PANELS];
    const size_t count = groups_of(chart, groups);
    YS_TRY(ys_chart_lines_extent(chart, &extent));
    if (extent.x_lo > extent.x_hi)
        return YS_OK;
    if (!view || view->frameworks < 2 || count < 2 || count_strong(chart) <= PANEL_CURVES) {
        ys_html_begin_figure(out, chart->title, remark);
        ys_status status = ys_chart_lines_within(out, chart, &extent);
        ys_html_end_figure(out);
        return status;
    }
    ys_buf_puts(out, "<div class=\"charts small\">\n<p class=\"soft whole\">");
    ys_buf_printf(out, "%s One scale for all.</p>\n", remark);
    ys_status status = YS_OK;
    for (size_t g = 0; status == YS_OK && g < count; g++)
        status = put_panel(out, view, chart, &extent, g, groups[g]);
    ys_buf_puts(out, "</div>\n");
    return status;
}
