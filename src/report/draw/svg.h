/* A small drawing kit: SVG elements as deterministic text, and axes with round ticks. Pictures scale with the page;
 * colours come from the page's style sheet by class, so that they follow light and dark: g0 to g7 (a framework), d1 to
 * d7 (dashes), p0 to p10 (a part of a bar), "grid", "soft" and "strong". Elements with a coordinate that is not finite
 * are left out. Coordinates grow to the right and down. */
#ifndef YS_REPORT_DRAW_SVG_H
#define YS_REPORT_DRAW_SVG_H

#include "base/buf.h"
#include "report/label.h"
#include <stdbool.h>
#include <stddef.h>

#define YS_SVG_WIDTH   480.0  /* of a picture beside which there is another */
#define YS_SVG_WIDE    1068.0 /* of one over the whole width of the page, */
#define YS_SVG_NARROW  372.0  /* and over that of a phone */
#define YS_SVG_GROUPS  8
#define YS_SVG_PARTS   11
#define YS_SVG_MEMBERS 8 /* dashes of lines and shapes of dots within a group */

enum ys_svg_anchor { YS_SVG_START, YS_SVG_MIDDLE, YS_SVG_END };

/** `id` is unique in the page and made of letters; title and description are what a screen reader says; `css` (may be
 * "") is the class. */
void ys_svg_begin(struct ys_buf *out, const char *id, const char *css, double width, double height, const char *title,
                  const char *description);
void ys_svg_end(struct ys_buf *out);
void ys_svg_line(struct ys_buf *out, double x1, double y1, double x2, double y2, const char *css);
/** `title` (may be NULL) shows when the pointer rests on it. */
void ys_svg_rect(struct ys_buf *out, double x, double y, double width, double height, const char *css,
                 const char *title);
void ys_svg_circle(struct ys_buf *out, double x, double y, double radius, const char *css, const char *title);
/** A closed figure through the points; nothing where one is not finite. */
void ys_svg_polygon(struct ys_buf *out, const double *x, const double *y, size_t count, const char *css,
                    const char *title);
/** Text of at most `room` units by estimate, cut with an ellipsis; what is cut shows whole under the pointer. */
void ys_svg_text(struct ys_buf *out, double x, double y, enum ys_svg_anchor anchor, double room, const char *css,
                 const char *text);
/** A line through the points, broken where one is not finite. `clip`: id of a clip path or NULL. */
void ys_svg_path(struct ys_buf *out, const double *x, const double *y, size_t count, const char *css, const char *clip);
/** An estimate of how wide `text` is drawn at 13 units. */
double ys_svg_text_width(const char *text);

/** A scale from values to one coordinate. */
struct ys_chart_axis {
    double lo, hi;    /* values, in `factor`; lo < hi */
    double step;      /* between ticks; of a logarithmic scale too where it is short, else 0 */
    const double *at; /* the ticks themselves, values in rising order, borrowed; NULL: round ones */
    int at_count;
    bool logarithmic;
    double factor; /* a value divided by it is in `unit` */
    char unit[8];
    double from, to; /* coordinates of lo and hi */
};

/** Fits `axis` to values from lo to hi with at most `ticks` (at least 2) intervals. `zero`: begins at 0 whatever lo is.
 * `logarithmic`: when both are positive and less than twelve decades apart; else linear. Values that are not finite, or
 * lo > hi, give 0 to 1. */
void ys_axis_fit(struct ys_chart_axis *axis, enum ys_kind kind, double lo, double hi, int ticks, bool zero,
                 bool logarithmic);
double ys_axis_place(const struct ys_chart_axis *axis, double value);
/** The number of ticks, and tick `index` as a value and as text without unit. */
int ys_axis_ticks(const struct ys_chart_axis *axis);
double ys_axis_tick(const struct ys_chart_axis *axis, int index, struct ys_label *label);

#endif
