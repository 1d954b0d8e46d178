/* The parts of the report page. Each appends whole elements; without data it appends nothing. */
#ifndef YS_REPORT_PAGE_PARTS_H
#define YS_REPORT_PAGE_PARTS_H

#include "base/buf.h"
#include "base/json/json.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

struct ys_view;
struct ys_view_trial;

extern const char ys_html_style[];
/** What makes tables sort, lists filter and points speak. It has none of the characters that markup would have to
 * escape, and reads nothing but the page. */
extern const char ys_html_script[];

/* A page for people is cut where a list grows too long to be read, and says so; the document has everything. */
enum {
    YS_HTML_MOST = 100,   /* rows of a table or chart, items of a list */
    YS_HTML_FIRST = 24,   /* trials that the first screen has all of; where there are more, */
    YS_HTML_FASTEST = 12, /* so many of them */
    YS_HTML_FEW = 12,     /* trials that a picture with a row for each is open for */
    YS_HTML_DOTS = 200,   /* runs in one row of a chart */
    YS_HTML_DRAWN = 24,   /* trials in a picture of curves, */
    YS_HTML_CURVES = 100  /* and their runs */
};
/** Appends "The first 100 of 400 trials: `yardstick show 3 --format=json` has all." when `total` is more than `shown`.
 */
void ys_html_say_cut(struct ys_buf *out, const struct ys_view *view, size_t shown, size_t total, const char *things);

/** Trials of which a table or picture has rows, by their places in the view. */
struct ys_html_shown {
    size_t places[YS_HTML_MOST];
    size_t count;
};
/** Those of the first screen: all, or of more than YS_HTML_FIRST the fastest, in that order. */
struct ys_html_shown ys_html_first(const struct ys_view *view);

/** Appends <element>text</element>, escaped. `css` (may be NULL) is the class. */
void ys_html_put(struct ys_buf *out, const char *element, const char *css, const char *text);
/** A figure with its title and a remark ("": none); what is drawn comes between the two calls. */
void ys_html_begin_figure(struct ys_buf *out, const char *title, const char *remark);
void ys_html_end_figure(struct ys_buf *out);
/** What is folded until somebody wants it; `id` (NULL: none) is a place in it. It does not stand at the fold itself,
 * for browsers unfold what a link leads into, and not what it leads to. */
void ys_html_begin_fold(struct ys_buf *out, const char *title, const char *id);
void ys_html_end_fold(struct ys_buf *out);
/** Nested objects and arrays as a table of paths and values. */
void ys_html_object(struct ys_buf *out, const ys_json *object);

/* Parts of the page; what there is nothing of appends nothing. First tables and lists. */
void ys_html_comparisons(struct ys_buf *out, const struct ys_view *view);
void ys_html_proofs(struct ys_buf *out, const struct ys_view *view);
/** How runs were observed, and what adapters say of themselves beside it. */
void ys_html_said(struct ys_buf *out, const struct ys_view *view);
/** The commands by which a reader can check the page. */
void ys_html_checks(struct ys_buf *out, const struct ys_view *view);
void ys_html_failures(struct ys_buf *out, const struct ys_view *view);
/** Every metric that some trial has, each folded, and which no trial has; all of it folded. */
void ys_html_metrics(struct ys_buf *out, const struct ys_view *view);
/** Each process of the trials that are of several. */
void ys_html_ranks(struct ys_buf *out, const struct ys_view *view);

/* Then what has pictures: with a row a trial over the whole width, */
void ys_html_speed_chart(struct ys_buf *out, const struct ys_view *view);
void ys_html_accuracy_chart(struct ys_buf *out, const struct ys_view *view);
void ys_html_ratio_chart(struct ys_buf *out, const struct ys_view *view);
void ys_html_time_chart(struct ys_buf *out, const struct ys_view *view);
/** Where a step of each rank goes, and which rank is the last. */
void ys_html_ranks_chart(struct ys_buf *out, const struct ys_view *view);
/* in a grid of their own, */
void ys_html_heat_charts(struct ys_buf *out, const struct ys_view *view);
/** Speed-up and efficiency of trials of several processes, with a heading of their own. */
void ys_html_scaling(struct ys_buf *out, const struct ys_view *view);
/** What was predicted with the same weights, with the errors along the network drawn. */
void ys_html_agreement(struct ys_buf *out, const struct ys_view *view);
/** What a number format changes, against f32. */
void ys_html_formats(struct ys_buf *out, const struct ys_view *view);
/** What attacks did, with the accuracy that is left drawn against the change. */
void ys_html_sizes(struct ys_buf *out, const struct ys_view *view);
/** What it took to meet a target. */
void ys_html_targets(struct ys_buf *out, const struct ys_view *view);
void ys_html_robustness(struct ys_buf *out, const struct ys_view *view);
/* and figures for a grid of them (<div class="charts">). */
void ys_html_latency_chart(struct ys_buf *out, const struct ys_view *view);
void ys_html_percentile_chart(struct ys_buf *out, const struct ys_view *view);
/** Speed along each setting of three values or more; of two, which the picture of speed shows too. */
void ys_html_axis_charts(struct ys_buf *out, const struct ys_view *view);
void ys_html_short_axis_charts(struct ys_buf *out, const struct ys_view *view);
void ys_html_step_chart(struct ys_buf *out, const struct ys_view *view);
void ys_html_learning_charts(struct ys_buf *out, const struct ys_view *view);
/** Of ys_html_learning_charts(): accuracy against time, and on the way. */
void ys_html_reached_charts(struct ys_buf *out, const struct ys_view *view);
void ys_html_usage_charts(struct ys_buf *out, const struct ys_view *view);
void ys_html_front_charts(struct ys_buf *out, const struct ys_view *view);
void ys_html_round_chart(struct ys_buf *out, const struct ys_view *view);

struct ys_chart_lines;
struct ys_chart_curve;
/** Curves as a figure; with `view` (NULL: never), where they are more than six heavy ones of several frameworks, a
 * figure a framework, all on one scale: groups of curves are then those of trials. Nothing without a finite point.
 * `remark` is no text from outside; what coincides is said behind it. */
void ys_html_curves(struct ys_buf *out, const struct ys_view *view, const struct ys_chart_lines *chart,
                    const char *remark);

/** A picture of a curve for each trial that has one, the first YS_HTML_DRAWN of them. `read` allocates and fills x, y
 * and count; false: the trial has none. `chart` comes without curves. */
void ys_html_trial_curves(struct ys_buf *out, const struct ys_view *view, struct ys_chart_lines *chart,
                          const char *remark,
                          bool (*read)(const struct ys_view_trial *trial, struct ys_chart_curve *curve));

#endif
