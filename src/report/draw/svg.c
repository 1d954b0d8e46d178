#include "report/draw/svg.h"
#include "report/clean_text.h"
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/** How wide a character is drawn at 13 units: upper ends over DejaVu Sans and Liberation Sans. */
static double character_width(const char *text, size_t length)
{
    if (length > 1)
        return 7.8 * ys_text_width(text);
    if (strchr("iljI.,:;'|!()[]tfr /-", *text))
        return 5.2;
    if (strchr("mwMW@%#", *text))
        return 12.1;
    return *text >= 'A' && *text <= 'Z' ? 9.4 : 8.0;
}

static bool are_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i]) || fabs(values[i]) > 1e6)
            return false;
    return true;
}

/** One decimal, never "-0.0". */
static void put_number(struct ys_buf *out, double value)
{
    double tenths = round(value * 10);
    bool whole = fmod(tenths, 10) == 0;
    ys_buf_printf(out, "%.*f", whole ? 0 : 1, tenths == 0 ? 0.0 : tenths / 10);
}

static void put_attribute(struct ys_buf *out, const char *name, double value)
{
    ys_buf_printf(out, " %s=\"", name);
    put_number(out, value);
    ys_buf_puts(out, "\"");
}

static void put_class(struct ys_buf *out, const char *css)
{
    if (css && css[0])
        ys_buf_printf(out, " class=\"%s\"", css);
}

static void put_close(struct ys_buf *out, const char *element, const char *title)
{
    if (!title || !title[0]) {
        ys_buf_puts(out, "/>\n");
        return;
    }
    ys_buf_puts(out, "><title>");
    ys_text_html(out, title);
    ys_buf_printf(out, "</title></%s>\n", element);
}

void ys_svg_begin(struct ys_buf *out, const char *id, const char *css, double width, double height, const char *title,
                  const char *description)
{
    ys_buf_puts(out, "<svg");
    put_class(out, css);
    ys_buf_printf(
        out, " viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-labelledby=\"%s-title %s-about\">\n<title id=\"%s-title\">",
        width, height, id, id, id);
    ys_text_html(out, title);
    ys_buf_printf(out, "</title>\n<desc id=\"%s-about\">", id);
    ys_text_html(out, description);
    ys_buf_puts(out, "</desc>\n");
}

void ys_svg_end(struct ys_buf *out)
{
    ys_buf_puts(out, "</svg>\n");
}

void ys_svg_line(struct ys_buf *out, double x1, double y1, double x2, double y2, const char *css)
{
    if (!are_finite((const double[]){x1, y1, x2, y2}, 4))
        return;
    ys_buf_puts(out, "<line");
    put_attribute(out, "x1", x1);
    put_attribute(out, "y1", y1);
    put_attribute(out, "x2", x2);
    put_attribute(out, "y2", y2);
    put_class(out, css);
    ys_buf_puts(out, "/>\n");
}

void ys_svg_rect(struct ys_buf *out, double x, double y, double width, double height, const char *css,
                 const char *title)
{
    if (!are_finite((const double[]){x, y, width, height}, 4) || width < 0 || height < 0)
        return;
    ys_buf_puts(out, "<rect");
    put_attribute(out, "x", x);
    put_attribute(out, "y", y);
    put_attribute(out, "width", width);
    put_attribute(out, "height", height);
    put_class(out, css);
    put_close(out, "rect", title);
}

void ys_svg_circle(struct ys_buf *out, double x, double y, double radius, const char *css, const char *title)
{
    if (!are_finite((const double[]){x, y, radius}, 3) || radius < 0)
        return;
    ys_buf_puts(out, "<circle");
    put_attribute(out, "cx", x);
    put_attribute(out, "cy", y);
    put_attribute(out, "r", radius);
    put_class(out, css);
    put_close(out, "circle", title);
}

void ys_svg_polygon(struct ys_buf *out, const double *x, const double *y, size_t count, const char *css,
                    const char *title)
{
    if (!are_finite(x, count) || !are_finite(y, count))
        return;
    ys_buf_puts(out, "<polygon points=\"");
    for (size_t i = 0; i < count; i++) {
        ys_buf_puts(out, i ? " " : "");
        put_number(out, x[i]);
        ys_buf_puts(out, ",");
        put_number(out, y[i]);
    }
    ys_buf_puts(out, "\"");
    put_class(out, css);
    put_close(out, "polygon", title);
}

/** The width of the first `size` bytes. */
static double width_of(const char *text, size_t size)
{
    double width = 0;
    for (size_t i = 0, length; i < size && text[i]; i += length) {
        char one[8] = "";
        uint32_t character;
        length = ys_text_decode(text + i, &character);
        memcpy(one, text + i, length);
        width += character_width(one, length);
    }
    return width;
}

double ys_svg_text_width(const char *text)
{
    return width_of(text, strlen(text));
}

/** Appends the part of `text` that fits, with an ellipsis when it is not all. */
static void clip_text(struct ys_buf *out, const char *text, double room)
{
    size_t size = 0, length;
    uint32_t character;
    if (ys_svg_text_width(text) <= room) {
        ys_buf_puts(out, text);
        return;
    }
    double used = 12.1; /* the ellipsis */
    for (; text[size]; size += length) {
        length = ys_text_decode(text + size, &character);
        used += width_of(text + size, length);
        if (used > room)
            break;
    }
    ys_buf_append(out, text, size);
    ys_buf_puts(out, "\xE2\x80\xA6");
}

void ys_svg_text(struct ys_buf *out, double x, double y, enum ys_svg_anchor anchor, double room, const char *css,
                 const char *text)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    if (!are_finite((const double[]){x, y, room}, 3))
        return;
    struct ys_buf clipped = {0};
    clip_text(&clipped, text, room);
    ys_buf_puts(out, "<text");
    put_attribute(out, "x", x);
    put_attribute(out, "y", y);
    ys_buf_puts(out, anchors[anchor]);
    put_class(out, css);
    ys_buf_puts(out, ">");
    ys_text_html(out, ys_buf_text(&clipped));
    if (strcmp(ys_buf_text(&clipped), text) != 0) {
        ys_buf_puts(out, "<title>");
        ys_text_html(out, text);
        ys_buf_puts(out, "</title>");
    }
    ys_buf_puts(out, "</text>\n");
    ys_buf_free(&clipped);
}

void ys_svg_path(struct ys_buf *out, const double *x, const double *y, size_t count, const char *css, const char *clip)
{
    size_t drawn = 0;
    bool pen = false;
    for (size_t i = 0; i < count; i++) {
        bool here = are_finite((const double[]){x[i], y[i]}, 2);
        if (here) {
            ys_buf_puts(out, drawn++ == 0 ? "<path d=\"M" : pen ? "L" : "M");
            put_number(out, x[i]);
            ys_buf_puts(out, " ");
            put_number(out, y[i]);
        }
        pen = here;
    }
    if (drawn == 0)
        return;
    ys_buf_puts(out, "\"");
    put_class(out, css);
    if (clip)
        ys_buf_printf(out, " clip-path=\"url(#%s)\"", clip);
    ys_buf_puts(out, "/>\n");
}

/** The smallest of 1, 2, 5 times a power of ten that is at least `least`. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least)));
    static const double steps[] = {1, 2, 5, 10};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        if (steps[i] * power >= least * (1 - 1e-9))
            return steps[i] * power;
    return 10 * power;
}

/** Round values, fewer a decade the more decades there are. */
static double log_tick(const struct ys_chart_axis *axis, int index, int *count)
{
    static const double steps[] = {1, 1.5, 2, 3, 5, 7};
    double decades = log10(axis->hi / axis->lo), found = NAN;
    int power = (int)floor(log10(axis->lo)) - 1, seen = 0;
    for (; power <= log10(axis->hi) + 1; power++)
        for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
            bool shown = i == 0 || (decades < 1.1) || (decades < 3 && (i == 2 || i == 4));
            double value = steps[i] * pow(10, power);
            if (!shown || value < axis->lo * (1 - 1e-9) || value > axis->hi * (1 + 1e-9))
                continue;
            if (seen++ == index)
                found = value;
        }
    *count = seen;
    return found;
}

void ys_axis_fit(struct ys_chart_axis *axis, enum ys_kind kind, double lo, double hi, int ticks, bool zero,
                 bool logarithmic)
{
    if (!isfinite(lo) || !isfinite(hi) || lo > hi || fabs(hi) > 1e30 || fabs(lo) > 1e30) {
        lo = 0;
        hi = 1;
    }
    struct ys_measure measure = ys_measure(kind, fmax(fabs(lo), fabs(hi)), NAN, NAN);
    struct ys_measure one = ys_measure(kind, 0, NAN, NAN);
    *axis =
        (struct ys_chart_axis){.factor = 1, .logarithmic = logarithmic && lo > 0 && hi < 1e12 * lo, .from = 0, .to = 1};
    axis->factor = ys_measure_factor(kind, fmax(fabs(lo), fabs(hi)));
    snprintf(axis->unit, sizeof axis->unit, "%.7s", hi == 0 && lo == 0 ? one.unit.text : measure.unit.text);
    lo /= axis->factor;
    hi /= axis->factor;
    if (axis->logarithmic) {
        int round_ticks;
        axis->lo = lo / 1.1;
        axis->hi = hi * 1.1;
        log_tick(axis, 0, &round_ticks);
        if (round_ticks < 3) /* the scale is that short */
            axis->step = round_step((axis->hi - axis->lo) / ticks);
        return;
    }
    if (zero)
        lo = fmin(lo, 0);
    if (zero)
        hi = fmax(hi, 0);
    double around = 0;
    if (!(hi - lo > 1e-9 * fmax(fabs(lo), fabs(hi)))) { /* one value: room on both sides, or up to it from 0 */
        around = kind == YS_KIND_SHARE ? 0.5 : hi == 0 ? 1 : 0.05 * fabs(hi);
        lo = zero ? lo : lo - around;
        hi += around;
    }
    axis->step = round_step((hi - lo) / ticks);
    axis->lo = floor(lo / axis->step + 1e-9) * axis->step;
    axis->hi = ceil(hi / axis->step - 1e-9) * axis->step;
    if (kind == YS_KIND_SHARE && hi <= 100 + around && axis->hi > 100) /* a share has an end */
        axis->hi = 100;
}

double ys_axis_place(const struct ys_chart_axis *axis, double value)
{
    double v = value / axis->factor, share;
    if (axis->logarithmic)
        share = v > 0 ? log(v / axis->lo) / log(axis->hi / axis->lo) : NAN;
    else
        share = (v - axis->lo) / (axis->hi - axis->lo);
    return axis->from + share * (axis->to - axis->from);
}

/** Of ticks that lie a step apart. */
static double first_tick(const struct ys_chart_axis *axis)
{
    return axis->logarithmic ? ceil(axis->lo / axis->step - 1e-9) * axis->step : axis->lo;
}

int ys_axis_ticks(const struct ys_chart_axis *axis)
{
    int count;
    if (axis->at)
        return axis->at_count;
    if (axis->step > 0) {
        const double steps = floor((axis->hi - first_tick(axis)) / axis->step + 1e-6);
        return steps < INT_MAX ? (int)steps + 1 : 0; /* numbers beyond all sense have none */
    }
    log_tick(axis, 0, &count);
    return count;
}

double ys_axis_tick(const struct ys_chart_axis *axis, int index, struct ys_label *label)
{
    int count, decimals;
    double value;
    if (axis->at) {
        snprintf(label->text, sizeof label->text, "%.6g", axis->at[index] / axis->factor);
        return axis->at[index];
    }
    if (axis->logarithmic && !(axis->step > 0)) {
        value = log_tick(axis, index, &count);
        decimals = value < 0.0995 ? 3 : value < 0.995 || fmod(value, 1) != 0 ? 1 : 0;
        if (value < 0.995 && fabs(value * 10 - round(value * 10)) > 1e-9)
            decimals = 2;
    } else {
        value = first_tick(axis) + index * axis->step;
        decimals = (int)-floor(log10(axis->step) + 1e-9);
        if (fabs(value) < axis->step * 1e-6)
            value = 0;
    }
    bool tiny = axis->logarithmic && value < 0.00995;
    if (fabs(value) >= 1e9 || decimals > 8 || tiny)
        snprintf(label->text, sizeof label->text, "%.3g", value);
    else
        snprintf(label->text, sizeof label->text, "%.*f", decimals > 0 ? decimals : 0, value);
    return value * axis->factor;
}
