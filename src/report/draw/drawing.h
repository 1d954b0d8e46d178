/* Curves under way to a chart: made point by point, with names of their own. */
#ifndef YS_REPORT_DRAW_DRAWING_H
#define YS_REPORT_DRAW_DRAWING_H

#include "report/draw/chart.h"

struct ys_drawing {
    struct ys_chart_curve *curves; /* owned, with their names */
    size_t count, capacity;
};

enum { YS_DRAWING_MOST = 24 }; /* curves that can still be told apart in one picture */

/** A new curve of room for `points`; its name is a copy. */
struct ys_chart_curve *ys_drawing_add(struct ys_drawing *drawing, const char *name, size_t points);
/** The curve of that name; where there is none a new one of room for `points`, drawn heavily, the next member of
 * `group`. NULL: there are YS_DRAWING_MOST curves already. */
struct ys_chart_curve *ys_drawing_member(struct ys_drawing *drawing, const char *name, int group, size_t points);
/** Adds a point that says `title`, which is taken out of the buffer, in the order of x. `lo` and `hi` NaN: no interval.
 */
void ys_drawing_point(struct ys_chart_curve *curve, double x, double y, double lo, double hi, struct ys_buf *title);
/** Adds a point that says nothing, behind the others. A curve has points of one sort. */
void ys_drawing_plain(struct ys_chart_curve *curve, double x, double y);
void ys_drawing_fini(struct ys_drawing *drawing);

#endif
