#include "report/draw/chart.h"
#include "tap.h"
#include <stdlib.h>
#include <string.h>

static struct ys_buf out;

static int count(const char *part)
{
    int found = 0;
    for (const char *c = ys_buf_text(&out); (c = strstr(c, part)); c++)
        found++;
    return found;
}

static void every_run_is_a_dot_and_failures_are_notes(void)
{
    const double dots[] = {98, 100, NAN, 103};
    const struct ys_chart_row rows[] = {
        {.label = "alpha", .value = "100 [98, 103]", .dots = dots, .count = 4, .mid = 100, .lo = 98, .hi = 103},
        {.label = "beta", .value = "", .note = "missing", .mid = NAN, .lo = NAN, .hi = NAN},
    };
    const struct ys_chart_dots chart = {.id = "rate",
                                        .title = "t",
                                        .description = "d",
                                        .axis_title = "x",
                                        .kind = YS_KIND_RATE,
                                        .zero = true,
                                        .reference = NAN,
                                        .band = NAN,
                                        .rows = rows,
                                        .count = 2};
    ys_buf_clear(&out);
    ys_chart_dots(&out, &chart);
    /* Once for the whole width, once for a phone. */
    CHECK_INT(count("<svg class=\"wide\" viewBox=\"0 0 1068 "), 1);
    CHECK_INT(count("<svg class=\"narrow\" viewBox=\"0 0 372 "), 1);
    CHECK_INT(count("id=\"rate-title\""), 1);
    CHECK_INT(count("id=\"rate-narrow-title\""), 1);
    CHECK_INT(count("<circle"), 2 * 3);
    CHECK_INT(count("class=\"strong line g0\""), 2 * 1); /* the median */
    CHECK_INT(count(">missing<"), 2 * 1);
    CHECK_INT(count("round 4: 103"), 2 * 1);
}

static void charts_without_numbers_are_left_out(void)
{
    const struct ys_chart_row row = {.label = "a", .value = "", .note = "missing", .mid = NAN, .lo = NAN, .hi = NAN};
    const struct ys_chart_bar bar = {.label = "a", .value = "", .parts = {NAN}};
    ys_buf_clear(&out);
    ys_chart_dots(&out, &(struct ys_chart_dots){.id = "a", .title = "", .description = "", .rows = &row, .count = 1});
    ys_chart_dots(&out, &(struct ys_chart_dots){.id = "a", .title = "", .description = ""});
    ys_chart_bars(
        &out, &(struct ys_chart_bars){.id = "a", .title = "", .description = "", .rows = &bar, .count = 1, .parts = 1});
    ys_chart_lines(&out, &(struct ys_chart_lines){.id = "a", .title = "", .description = ""});
    CHECK_INT(out.size, 0);
}

static void parts_of_a_bar_follow_each_other(void)
{
    const struct ys_chart_bar bar = {.label = "alpha", .value = "4 s", .parts = {1, NAN, 3}};
    const struct ys_chart_bars chart = {.id = "time",
                                        .title = "t",
                                        .description = "d",
                                        .axis_title = "x",
                                        .kind = YS_KIND_SPAN,
                                        .part_names = {"one", "two", "three"},
                                        .parts = 3,
                                        .rows = &bar,
                                        .count = 1};
    ys_buf_clear(&out);
    ys_chart_bars(&out, &chart);
    /* For a phone the axis reaches 4 s from 8 to 362: parts of 88.5 and 265.5. */
    CHECK_HAS(ys_buf_text(&out),
              "<rect x=\"8\" y=\"46\" width=\"88.5\" height=\"14\" class=\"p0\"><title>one: 1.00 s</title></rect>");
    CHECK_HAS(ys_buf_text(&out), "<rect x=\"96.5\" y=\"46\" width=\"265.5\" height=\"14\" class=\"p2\">");
    CHECK_INT(count("class=\"p1\""), 2); /* in the legend alone */
}

static void the_strong_curve_is_drawn_last_and_named(void)
{
    double x[] = {0, 1, 2}, y[] = {1, 2, 3}, x2[] = {0, 1, 2}, y2[] = {3, 2, 1};
    struct ys_chart_curve curves[] = {
        {.name = "strong one", .x = x, .y = y, .count = 3, .strong = true},
        {.name = "weak one", .x = x2, .y = y2, .count = 3, .group = 1, .member = 9},
    };
    const struct ys_chart_lines chart = {.id = "loss",
                                         .title = "t",
                                         .description = "d",
                                         .x_title = "step",
                                         .y_title = "loss",
                                         .x_kind = YS_KIND_NUMBER,
                                         .y_kind = YS_KIND_NUMBER,
                                         .curves = curves,
                                         .count = 2};
    ys_buf_clear(&out);
    ys_chart_lines(&out, &chart);
    const char *thin = strstr(ys_buf_text(&out), "class=\"thin line g1 d1\""),
               *strong = strstr(ys_buf_text(&out), "class=\"strong line g0 d0\"");
    REQUIRE(thin && strong);
    CHECK(thin < strong);
    CHECK_INT(count("strong one"), 1);
    CHECK_INT(count("weak one"), 0);
}

static void a_few_huge_values_do_not_flatten_the_rest(void)
{
    double x[100], y[100];
    for (int i = 0; i < 100; i++) {
        x[i] = i;
        y[i] = i == 99 ? 1e30 : 2;
    }
    struct ys_chart_curve curve = {.name = "c", .x = x, .y = y, .count = 100, .strong = true};
    const struct ys_chart_lines chart = {.id = "loss",
                                         .title = "t",
                                         .description = "d",
                                         .x_title = "step",
                                         .y_title = "loss",
                                         .x_kind = YS_KIND_NUMBER,
                                         .y_kind = YS_KIND_NUMBER,
                                         .cut = true,
                                         .curves = &curve,
                                         .count = 1};
    ys_buf_clear(&out);
    ys_chart_lines(&out, &chart);
    CHECK_HAS(ys_buf_text(&out), "loss, cut at the top: some values lie above");
}

static void points_say_their_values_and_intervals(void)
{
    double x[] = {1, 2, 4}, y[] = {100, 190, 300}, lo[] = {90, NAN, 280}, hi[] = {110, NAN, 310};
    char one[] = "1 thread", two[] = "2 threads", four[] = "4 threads", *titles[] = {one, two, four};
    struct ys_chart_curve curve = {
        .name = "alpha", .x = x, .y = y, .lo = lo, .hi = hi, .titles = titles, .count = 3, .strong = true};
    const struct ys_chart_lines chart = {.id = "along",
                                         .title = "t",
                                         .description = "d",
                                         .x_title = "x",
                                         .y_title = "y",
                                         .x_kind = YS_KIND_NUMBER,
                                         .y_kind = YS_KIND_RATE,
                                         .free_x = true,
                                         .curves = &curve,
                                         .count = 1};
    struct ys_chart_extent extent;
    ys_chart_lines_extent(&chart, &extent);
    CHECK(extent.y_lo == 90 && extent.y_hi == 310 && extent.x_lo == 1 && extent.x_hi == 4);
    ys_buf_clear(&out);
    ys_chart_lines(&out, &chart);
    CHECK_INT(count("<circle"), 3);
    CHECK_INT(count("<title>2 threads</title>"), 1);
    CHECK_INT(count("class=\"line g0\""), 2 * 3); /* two intervals, each a bar and two ends */
}

/* Names and values of a wide picture lie outside its plot; of a narrow one no line of the grid crosses them. */
static void labels_stand_in_a_gutter(void)
{
    const struct ys_chart_row row = {
        .label = "alpha", .value = "100", .share = {"0.59x"}, .mid = 100, .lo = 98, .hi = 103};
    const struct ys_chart_dots chart = {.id = "rate",
                                        .title = "t",
                                        .description = "d",
                                        .axis_title = "x",
                                        .kind = YS_KIND_RATE,
                                        .zero = true,
                                        .reference = NAN,
                                        .band = NAN,
                                        .rows = &row,
                                        .count = 1};
    ys_buf_clear(&out);
    ys_chart_dots(&out, &chart);
    CHECK_INT(count(">0.59x<"), 2);
    const char *narrow = strstr(ys_buf_text(&out), "<svg class=\"narrow\"");
    REQUIRE(narrow != NULL);
    for (const char *c = ys_buf_text(&out); (c = strstr(c, "<line x1=\"")); c++) {
        const double x = strtod(c + strlen("<line x1=\""), NULL), y = strtod(strstr(c, "y1=\"") + 4, NULL);
        if (c < narrow)
            CHECK(x > ys_svg_text_width("alpha") &&
                  x < YS_SVG_WIDE - ys_svg_text_width("100") - ys_svg_text_width("0.59x"));
        else
            CHECK(y > 4 + 13); /* the base line of the name */
    }
}

/* Of one scale over several panels each panel has the same axis. */
static void panels_share_a_scale(void)
{
    double x[] = {1, 2}, y[] = {10, 20};
    struct ys_chart_curve curve = {.name = "a", .x = x, .y = y, .count = 2, .strong = true};
    const struct ys_chart_lines chart = {
        .id = "p", .title = "t", .description = "d", .x_title = "x", .y_title = "y", .curves = &curve, .count = 1};
    const struct ys_chart_extent extent = {1, 2, 10, 1000, false};
    ys_buf_clear(&out);
    ys_chart_lines_within(&out, &chart, &extent);
    CHECK_INT(count(">1000<"), 1);
}

static void cells_are_deeper_the_larger_and_say_their_values(void)
{
    static const char *const columns[] = {"1", "2"}, *const rows[] = {"8", "64"};
    const double values[] = {100, 200, NAN, 400};
    const struct ys_chart_heat chart = {.id = "heat",
                                        .title = "t",
                                        .description = "d",
                                        .x_title = "threads",
                                        .y_title = "batch",
                                        .kind = YS_KIND_RATE,
                                        .columns = columns,
                                        .rows = rows,
                                        .column_count = 2,
                                        .row_count = 2,
                                        .values = values,
                                        .lo = 100,
                                        .hi = 400,
                                        .group = 1};
    ys_buf_clear(&out);
    ys_chart_heat(&out, &chart);
    CHECK_INT(count("<rect"), 3);
    CHECK_INT(count("class=\"heat h1 g1\"><title>8, 1: 100</title>"), 1);
    CHECK_INT(count("class=\"heat h4 g1\"><title>8, 2: 200</title>"), 1); /* 0.12 + 0.73 / 3 */
    CHECK_INT(count("class=\"heat h9 g1\"><title>64, 2: 400</title>"), 1);
    CHECK_INT(count(">-<"), 1);
}

TAP_MAIN(TAP_CASE(labels_stand_in_a_gutter), TAP_CASE(points_say_their_values_and_intervals),
         TAP_CASE(panels_share_a_scale), TAP_CASE(cells_are_deeper_the_larger_and_say_their_values),
         TAP_CASE(every_run_is_a_dot_and_failures_are_notes), TAP_CASE(charts_without_numbers_are_left_out),
         TAP_CASE(parts_of_a_bar_follow_each_other), TAP_CASE(the_strong_curve_is_drawn_last_and_named),
         TAP_CASE(a_few_huge_values_do_not_flatten_the_rest))
