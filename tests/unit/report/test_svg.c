#include "report/draw/svg.h"
#include "tap.h"

static struct ys_buf out;

static const char *drawn(void)
{
    static char copy[4096];
    snprintf(copy, sizeof copy, "%s", ys_buf_text(&out));
    ys_buf_clear(&out);
    return copy;
}

static void elements_are_plain_text(void)
{
    ys_svg_line(&out, 0, 1.25, -0.01, 1234.56, "grid");
    CHECK_TEXT(drawn(), "<line x1=\"0\" y1=\"1.3\" x2=\"0\" y2=\"1234.6\" class=\"grid\"/>\n");
    ys_svg_rect(&out, 1, 2, 3, 4, "p0", "a<b");
    CHECK_TEXT(drawn(), "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\" class=\"p0\"><title>a&lt;b</title></rect>\n");
    ys_svg_circle(&out, 1, 2, 3, "dot", NULL);
    CHECK_TEXT(drawn(), "<circle cx=\"1\" cy=\"2\" r=\"3\" class=\"dot\"/>\n");
    ys_svg_polygon(&out, (double[]){1, 2, 3}, (double[]){4, 5.25, 6}, 3, "dot", "a");
    CHECK_TEXT(drawn(), "<polygon points=\"1,4 2,5.3 3,6\" class=\"dot\"><title>a</title></polygon>\n");
}

static void pictures_have_a_title_and_a_description(void)
{
    ys_svg_begin(&out, "rate", "wide", 480, 100, "Speed & more", "what it shows");
    ys_svg_end(&out);
    CHECK_TEXT(
        drawn(),
        "<svg class=\"wide\" viewBox=\"0 0 480 100\" role=\"img\" aria-labelledby=\"rate-title rate-about\">\n"
        "<title id=\"rate-title\">Speed &amp; more</title>\n<desc id=\"rate-about\">what it shows</desc>\n</svg>\n");
}

static void what_is_not_finite_is_left_out(void)
{
    ys_svg_line(&out, NAN, 0, 1, 1, "grid");
    ys_svg_rect(&out, 0, 0, INFINITY, 1, "p0", NULL);
    ys_svg_rect(&out, 0, 0, -1, 1, "p0", NULL);
    ys_svg_circle(&out, 0, 1e300, 1, "dot", NULL);
    ys_svg_polygon(&out, (double[]){1, NAN}, (double[]){1, 1}, 2, "dot", NULL);
    CHECK_TEXT(drawn(), "");
}

static void lines_break_where_a_point_is_missing(void)
{
    const double x[] = {0, 1, 2, 3, 4}, y[] = {0, 1, NAN, 3, 4};
    ys_svg_path(&out, x, y, 5, "line", "clip");
    CHECK_TEXT(drawn(), "<path d=\"M0 0L1 1M3 3L4 4\" class=\"line\" clip-path=\"url(#clip)\"/>\n");
    ys_svg_path(&out, x, (const double[]){NAN, NAN}, 2, "line", NULL);
    CHECK_TEXT(drawn(), "");
}

static void long_texts_are_cut_and_kept_as_a_title(void)
{
    ys_svg_text(&out, 0, 0, YS_SVG_END, 40, "soft", "a long <name>");
    const char *text = drawn();
    CHECK_HAS(text, "text-anchor=\"end\"");
    CHECK_HAS(text, "\xE2\x80\xA6<title>a long &lt;name&gt;</title></text>");
    ys_svg_text(&out, 0, 0, YS_SVG_START, 400, "", "short");
    CHECK_TEXT(drawn(), "<text x=\"0\" y=\"0\">short</text>\n");
}

static void ticks(const struct ys_chart_axis *axis, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < ys_axis_ticks(axis); i++) {
        struct ys_label label;
        ys_axis_tick(axis, i, &label);
        snprintf(text + strlen(text), size - strlen(text), "%s ", label.text);
    }
}

static void ticks_are_round_and_begin_at_zero_when_asked(void)
{
    struct ys_chart_axis axis;
    char text[256];
    ys_axis_fit(&axis, YS_KIND_RATE, 900, 9300, 6, true, false);
    ticks(&axis, text, sizeof text);
    CHECK_TEXT(text, "0 2000 4000 6000 8000 10000 ");
    ys_axis_fit(&axis, YS_KIND_SHARE, 0.978, 0.9845, 6, false, false);
    ticks(&axis, text, sizeof text);
    CHECK_TEXT(text, "97.8 98.0 98.2 98.4 98.6 ");
    ys_axis_fit(&axis, YS_KIND_BYTES, 0, 312e6, 5, true, false);
    ticks(&axis, text, sizeof text);
    CHECK_TEXT(text, "0 100 200 300 400 ");
    CHECK_TEXT(axis.unit, "MB");
}

static void logarithmic_ticks_are_round_too(void)
{
    struct ys_chart_axis axis;
    char text[256];
    ys_axis_fit(&axis, YS_KIND_NUMBER, 0.55, 2.2, 6, false, true);
    ticks(&axis, text, sizeof text);
    CHECK_TEXT(text, "0.5 0.7 1 1.5 2 ");
    ys_axis_fit(&axis, YS_KIND_NUMBER, 0.01, 1000, 6, false, true);
    ticks(&axis, text, sizeof text);
    CHECK_TEXT(text, "0.01 0.1 1 10 100 1000 ");
    ys_axis_fit(&axis, YS_KIND_NUMBER, 0.78, 1.03, 6, false, true); /* too short for two of these */
    ticks(&axis, text, sizeof text);
    CHECK_TEXT(text, "0.8 0.9 1.0 1.1 ");
    axis.from = log(axis.lo);
    axis.to = log(axis.hi);
    struct ys_label label;
    CHECK_NEAR(ys_axis_place(&axis, ys_axis_tick(&axis, 1, &label)), log(0.9),
               1e-12); /* some roundings of one double */
}

static void places_are_proportional(void)
{
    struct ys_chart_axis axis;
    ys_axis_fit(&axis, YS_KIND_NUMBER, 0, 10, 5, true, false);
    axis.from = 100;
    axis.to = 200;
    CHECK_NEAR(ys_axis_place(&axis, 5), 150, 1e-9); /* three roundings of doubles of this size */
    ys_axis_fit(&axis, YS_KIND_NUMBER, 1 * 1.1, 100 / 1.1, 5, false, true); /* widened by 1.1 to 1 and 100 */
    axis.from = 0;
    axis.to = 100;
    CHECK_NEAR(ys_axis_place(&axis, 10), 50, 1e-9);
    CHECK(isnan(ys_axis_place(&axis, -1)));
}

static void every_range_gives_an_axis(void)
{
    static const double ends[] = {NAN,    -INFINITY, INFINITY,     0,   1, -1, 1e300, -1e300, 1e-300,
                                  5e-324, 0.97,      1.0000000001, 1e12};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++)
            for (int how = 0; how < 4; how++) {
                struct ys_chart_axis axis;
                ys_axis_fit(&axis, how & 1 ? YS_KIND_SPAN : YS_KIND_SHARE, ends[i], ends[k], 6, how & 1, how & 2);
                int count = ys_axis_ticks(&axis);
                tap_check(isfinite(axis.lo) && isfinite(axis.hi) && axis.lo < axis.hi && count >= 0 && count < 40,
                          __LINE__, "%g to %g, %d: %g to %g with %d ticks", ends[i], ends[k], how, axis.lo, axis.hi,
                          count);
            }
}

TAP_MAIN(TAP_CASE(elements_are_plain_text), TAP_CASE(pictures_have_a_title_and_a_description),
         TAP_CASE(what_is_not_finite_is_left_out), TAP_CASE(lines_break_where_a_point_is_missing),
         TAP_CASE(long_texts_are_cut_and_kept_as_a_title), TAP_CASE(ticks_are_round_and_begin_at_zero_when_asked),
         TAP_CASE(logarithmic_ticks_are_round_too), TAP_CASE(places_are_proportional),
         TAP_CASE(every_range_gives_an_axis))
