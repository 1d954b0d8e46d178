/* The charts of the report page, each one SVG element. Texts are clean, arrays borrowed for the call. NaN is "unknown".
 */
#ifndef YS_REPORT_DRAW_CHART_H
#define YS_REPORT_DRAW_CHART_H

#include "report/draw/svg.h"

/* Pictures with a row a trial are made twice: over the whole width with names and values in gutters, and for a phone
 * with both above the marks. The page shows the one that suits it. */
struct ys_chart_row {
    const char *label;     /* on the left */
    const char *value;     /* on the right, in words: "12400 [12000, 12800]"; may be "" */
    struct ys_label share; /* behind it, in a column of its own: "0.59x"; mostly "" */
    const char *note;      /* instead of marks, for a trial without numbers; NULL when it has some */
    int group;             /* its colour */
    const double *dots;    /* one a run; may be NULL */
    size_t count;
    double mid, lo, hi;
};

struct ys_chart_dots {
    const char *id, *title, *description, *axis_title;
    enum ys_kind kind;
    bool zero, logarithmic;
    double reference, band; /* a line at `reference` and a band of that share on both sides; NaN for none */
    const struct ys_chart_row *rows;
    size_t count;
};
/** Each run a dot, the median a tick, the interval a bar with ends. Nothing without rows. */
void ys_chart_dots(struct ys_buf *out, const struct ys_chart_dots *chart);

struct ys_chart_bar {
    const char *label, *value, *note;
    double parts[YS_SVG_PARTS];
};

struct ys_chart_bars {
    const char *id, *title, *description, *axis_title;
    enum ys_kind kind;
    const char *part_names[YS_SVG_PARTS]; /* NULL: no row has that part */
    size_t parts;
    const struct ys_chart_bar *rows;
    size_t count;
};
/** Parts of a whole, side by side from 0. Nothing without rows. */
void ys_chart_bars(struct ys_buf *out, const struct ys_chart_bars *chart);

struct ys_chart_curve {
    const char *name; /* for the legend, which lists the strong ones */
    double *x, *y;    /* values; y NaN breaks the line. They are turned into coordinates by the call. */
    double *lo, *hi;  /* an interval of each y, drawn as a bar with ends; NULL: none */
    char **titles;    /* of each point, which is then a dot that says it under pointer and keyboard; NULL: no dots */
    size_t count;
    int group, member; /* colour and dashes */
    bool strong;       /* drawn over the others and heavier */
    bool apart;        /* dots alone, no line between them */
};

struct ys_chart_lines {
    const char *id, *title, *description, *x_title, *y_title;
    enum ys_kind x_kind, y_kind;
    bool cut;         /* a few values far above all others may leave the picture, which then says so */
    bool logarithmic; /* the scale of y, where every y is above 0 or NaN */
    bool x_logarithmic;
    bool free_x, free_y;   /* these scales begin near the values, not at 0 */
    bool x_whole;          /* every x is a whole number, and so are the ticks */
    const double *x_ticks; /* where they are, in rising order, borrowed; NULL: at round values */
    size_t x_tick_count;
    double reference; /* a line at this y; 0: none */
    struct ys_chart_curve *curves;
    size_t count;
};
/** Curves over a common axis; scales begin at 0 unless values are negative, or they are free or
 * logarithmic. Nothing without a finite point. */
void ys_chart_lines(struct ys_buf *out, const struct ys_chart_lines *chart);
/** What a picture of several panels has in common: `extent` of the first is widened by all that follow. */
struct ys_chart_extent {
    double x_lo, x_hi, y_lo, y_hi;
    bool cut; /* y_hi lies below some values */
};
/** The same on scales for `extent`, which may be of other curves as well. */
void ys_chart_lines_within(struct ys_buf *out, const struct ys_chart_lines *chart,
                           const struct ys_chart_extent *extent);
/** The extent of its points and intervals; x_lo > x_hi where there are none. */
void ys_chart_lines_extent(const struct ys_chart_lines *chart, struct ys_chart_extent *extent);
/** Frees `count` curves with their values. */
void ys_chart_free_curves(struct ys_chart_curve *curves, size_t count);

/** A table of numbers as colours: the deeper, the larger. */
struct ys_chart_heat {
    const char *id, *title, *description, *x_title, *y_title;
    enum ys_kind kind;
    const char *const *columns, *const *rows; /* names */
    size_t column_count, row_count;
    const double *values; /* [row * column_count + column]; NaN: none */
    double lo, hi;        /* of the scale: the palest and the deepest */
    int group;            /* its colour */
};
/** Each cell says its value. Nothing without cells. */
void ys_chart_heat(struct ys_buf *out, const struct ys_chart_heat *chart);

#endif
