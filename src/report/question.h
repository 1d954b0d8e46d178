/* What people ask of a result, in the order in which they ask it: each question is a section of the page, which begins
 * with its answer in a sentence or two. */
#ifndef YS_REPORT_QUESTION_H
#define YS_REPORT_QUESTION_H

#include "report/view.h"

enum ys_question_place {
    YS_ASK_SPEED,
    YS_ASK_ACCURACY,
    YS_ASK_RESOURCES,
    YS_ASK_TIME,
    YS_ASK_TRUST,
    YS_ASK_SETTINGS,
    YS_ASK_REPEAT,
    YS_QUESTIONS,
};

struct ys_question {
    const char *id;    /* of the section: where links lead */
    const char *title; /* the question */
    const char *brief; /* of the list of contents */
    /** Appends the answer, a sentence or more, always something. Clean text. */
    void (*answer)(struct ys_buf *out, const struct ys_view *view);
};
extern const struct ys_question ys_questions[YS_QUESTIONS];

/** The trial with the highest median speed of those that do the work asked for: measured, and not of other work. NULL
 * where there is none. */
const struct ys_view_trial *ys_question_fastest(const struct ys_view *view);

/** The comparison of a metric of two trials, by their ids, in which the first may be the second; NULL where there is
 * none.
 */
const struct ys_view_comparison *ys_question_comparison(const struct ys_view *view, const char *metric,
                                                        const char *trial, const char *other, bool *is_second);
/** Whether all trials that count and have an accuracy have the same one in every round, and there are several. */
bool ys_question_same_accuracy(const struct ys_view *view);
/** How the speed of a trial stands to that of the fastest of its group. */
struct ys_relation {
    double ratio;       /* over that one's, as compared round by round, else of both medians; NAN where there is none */
    double lo, hi;      /* its interval; NAN */
    const char *reason; /* why it is unclear or invalid; NULL */
    int verdict;        /* enum ys_verdict, of the side of this trial; YS_NAME_NONE where the two were not compared */
    bool is_best;       /* it is the fastest */
    const char *word;   /* "best", "slower", "as fast", "unclear", ...; "" where there is nothing to say */
};
struct ys_relation ys_question_relation(const struct ys_view *view, const struct ys_view_trial *trial);

#endif
