/* What several processes bring: speed-up and efficiency over their number, as pictures and as a table. */
#include "metric/result_document.h"
#include "base/mem.h"
#include "dist/dist.h"
#include "report/draw/drawing.h"
#include "report/page_parts.h"
#include "report/view/view.h"
#include "report/tables/tables.h"

#include <math.h>

enum { MOST_TICKS = 12 };

/** One speed-up: comparison of a trial of several ranks with that of one process. */
struct speedup {
    const struct ys_result_comparison *found;
    const struct ys_view_trial *base;
    double ranks;
};

/** The `index`-th comparison, where it is one that says something. */
static bool find_speedup(const struct ys_view *view, size_t index, struct speedup *speedup)
{
    const struct ys_result_comparison *found = &view->comparisons[index];
    const struct ys_view_trial *several = ys_view_find(view, ys_view_or(found->told.a, ""));
    *speedup = (struct speedup){.found = found, .base = ys_view_find(view, ys_view_or(found->told.b, ""))};
    if (found->told.scaling == YS_NAME_NONE || !(found->told.efficiency > 0) || !(found->told.ratio > 0) || !several ||
        !speedup->base)
        return false;
    speedup->ranks = ys_json_number(ys_view_value(several, "ranks"), NAN);
    return speedup->ranks > 1 && speedup->ranks <= YS_DIST_RANKS_MOST;
}

/** "PyTorch, batch 64, strong". */
static void put_name(struct ys_buf *out, const struct ys_view *view, const struct speedup *speedup)
{
    ys_view_put_name_without(out, view, speedup->base, "ranks");
    ys_buf_printf(out, ", %s", ys_name_of(&ys_scalings, speedup->found->told.scaling));
}

static struct ys_chart_curve *curve_of(const struct ys_view *view, const struct speedup *speedup,
                                       struct ys_drawing *drawing)
{
    struct ys_buf name = {0}, title = {0};
    put_name(&name, view, speedup);
    struct ys_chart_curve *curve =
        ys_drawing_member(drawing, ys_buf_text(&name), speedup->base->group, view->comparison_count + 1);
    if (curve && curve->count == 0) {
        ys_buf_puts(&title, "one process");
        ys_drawing_point(curve, 1, 1, NAN, NAN, &title);
    }
    ys_buf_free(&name);
    return curve;
}

/** Where the ticks are: the numbers of ranks that there are, in rising order. */
struct ticks {
    double at[MOST_TICKS];
    size_t count;
};

static void add_tick(struct ticks *ticks, double value)
{
    size_t at = 0;
    while (at < ticks->count && ticks->at[at] < value)
        at++;
    if (ticks->count == MOST_TICKS || (at < ticks->count && ticks->at[at] == value))
        return;
    for (size_t i = ticks->count++; i > at; i--)
        ticks->at[i] = ticks->at[i - 1];
    ticks->at[at] = value;
}

static void draw(const struct ys_view *view, bool efficiency, struct ys_drawing *drawing, struct ticks *ticks)
{
    for (size_t i = 0; i < view->comparison_count; i++) {
        struct speedup speedup;
        struct ys_buf title = {0};
        if (!find_speedup(view, i, &speedup))
            continue;
        struct ys_chart_curve *curve = curve_of(view, &speedup, drawing);
        if (!curve)
            continue;
        const struct ys_result_comparison *c = speedup.found;
        const double value = efficiency ? c->told.efficiency : c->told.ratio,
                     lo = efficiency ? c->efficiency.lo : c->interval.lo,
                     hi = efficiency ? c->efficiency.hi : c->interval.hi;
        const struct ys_label range = ys_label_ratio_range(value, lo, hi);
        ys_buf_printf(&title, "%g ranks: %s%s%s%s", speedup.ranks, ys_label_ratio(value).text,
                      range.text[0] ? " (" : "", range.text, range.text[0] ? ")" : "");
        ys_drawing_point(curve, speedup.ranks, value, lo, hi, &title);
        add_tick(ticks, speedup.ranks);
    }
}

static void put_picture(struct ys_buf *out, const struct ys_view *view, bool efficiency)
{
    struct ys_drawing drawing = {0};
    struct ticks ticks = {{1}, 1};
    struct ys_buf drawn = {0};
    draw(view, efficiency, &drawing, &ticks);
    const double most = ticks.at[ticks.count - 1];
    struct ys_chart_curve *ideal = efficiency ? NULL : ys_drawing_add(&drawing, "ideal", 2);
    if (ideal) {
        ys_drawing_plain(ideal, 1, 1);
        ys_drawing_plain(ideal, most, most);
    }
    struct ys_chart_lines chart = {
        .id = efficiency ? "efficiency" : "speedup",
        .title = efficiency ? "Efficiency" : "Speed-up",
        .x_title = "ranks",
        .y_title = efficiency ? "speed-up over ranks" : "times as fast as one process",
        .description = efficiency ? "Speed-up over the number of ranks, with intervals, by that number."
                                  : "Speed against that of one process, with intervals, by the number of ranks.",
        .x_kind = YS_KIND_NUMBER,
        .y_kind = YS_KIND_NUMBER,
        .x_whole = true,
        .x_ticks = ticks.at,
        .x_tick_count = ticks.count,
        .free_x = true,
        .reference = efficiency ? 1 : 0,
        .curves = drawing.curves,
        .count = drawing.count};
    ys_chart_lines(&drawn, &chart);
    ys_html_begin_figure(out, chart.title,
                         efficiency ? "1 where as many ranks do as many times the rows a second; bars are intervals."
                                    : "The pale line is as many times as there are ranks; bars are intervals.");
    ys_buf_append(out, drawn.data, drawn.size);
    ys_html_end_figure(out);
    ys_buf_free(&drawn);
    ys_drawing_fini(&drawing);
}

static void put_ratio(struct ys_sheet *sheet, double value, double lo, double hi)
{
    const struct ys_label range = ys_label_ratio_range(value, lo, hi);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_label_ratio(value).text);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, range.text[0] ? range.text : "none");
}

static void put_row(struct ys_sheet *sheet, const struct ys_view *view, const struct speedup *speedup)
{
    const struct ys_result_comparison *c = speedup->found;
    struct ys_buf name = {0};
    ys_view_put_name_without(&name, view, speedup->base, "ranks");
    ys_sheet_row(sheet);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_buf_text(&name));
    ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_name_of(&ys_scalings, c->told.scaling));
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%g", speedup->ranks);
    put_ratio(sheet, c->told.ratio, c->interval.lo, c->interval.hi);
    put_ratio(sheet, c->told.efficiency, c->efficiency.lo, c->efficiency.hi);
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%lld", (long long)c->told.n);
    ys_buf_free(&name);
}

static void fill_speedups(struct ys_sheet *sheet, const struct ys_view *view)
{
    static const struct ys_sheet_column columns[] = {
        {YS_FORM_PAGE, YS_COLUMN_NAME, "Trial", NULL},      {YS_FORM_PAGE, YS_COLUMN_TEXT, "Scaling", NULL},
        {YS_FORM_PAGE, YS_COLUMN_NUMBER, "Ranks", NULL},    {YS_FORM_PAGE, YS_COLUMN_NUMBER, "Speed-up", NULL},
        {YS_FORM_PAGE, YS_COLUMN_NUMBER, "Interval", NULL}, {YS_FORM_PAGE, YS_COLUMN_NUMBER, "Efficiency", NULL},
        {YS_FORM_PAGE, YS_COLUMN_NUMBER, "Interval", NULL}, {YS_FORM_PAGE, YS_COLUMN_NUMBER, "Rounds", NULL}};
    struct speedup speedup;
    sheet->things = "speed-ups";
    sheet->remark = "Strong: all have the same rows in a step, which ranks divide; weak: each rank has as many as the "
                    "one process. Whether a difference is more than the margin, the comparisons below say.";
    ys_sheet_columns(sheet, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < view->comparison_count; i++)
        if (find_speedup(view, i, &speedup) && sheet->total++ < YS_SHEET_MOST)
            put_row(sheet, view, &speedup);
}

void ys_html_scaling(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_buf table = {0};
    ys_table_write(fill_speedups, view, &ys_page_medium, &table);
    if (table.size) {
        ys_html_put(out, "h3", NULL, "Several processes against one");
        ys_buf_puts(out, "<div class=\"charts\">\n");
        put_picture(out, view, false);
        put_picture(out, view, true);
        ys_buf_puts(out, "</div>\n");
        ys_buf_append(out, table.data, table.size);
    }
    ys_buf_free(&table);
}
