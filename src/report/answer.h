/* The answer of a study in sentences: the terminal's, the page's and that of the lists of sentences. */
#ifndef YS_REPORT_ANSWER_H
#define YS_REPORT_ANSWER_H

#include "report/view/view.h"

/** The trial with the highest median speed of those that do the work asked for: measured, not of other work, and not
 * drawn in software. NULL where there is none. */
const struct ys_view_trial *ys_answer_fastest(const struct ys_view *view);

/** How the speed of a trial stands to that of the fastest of its group. */
struct ys_relation {
    double ratio;       /* over that one's, as compared round by round, else of both medians; NAN where there is none */
    double lo, hi;      /* its interval; NAN */
    const char *reason; /* why it is unclear or invalid; NULL */
    int verdict;        /* enum ys_verdict, of the side of this trial; YS_NAME_NONE where the two were not compared */
    bool is_best;       /* it is the fastest */
    const char *word;   /* "best", "slower", "as fast", "unclear", ...; "" where there is nothing to say */
};
/** Whether any trial stands to another so: two of a group have a speed. */
bool ys_answer_compares(const struct ys_view *view);
struct ys_relation ys_answer_relation(const struct ys_view *view, const struct ys_view_trial *trial);

/** Appends which trial is the fastest of each group (of three, if there are more), by how much, and whether that is
 * sure; where one group alone is told of, whether all of it learned the same. Where sizes alone were asked for, who
 * stores least and most. A line each, clean text; nothing where no trial has a speed, or a size. */
void ys_answer(struct ys_buf *out, const struct ys_view *view);

#endif
