/* What people ask of a result, in the order in which they ask it: each question is a section of the page, which begins
 * with its answer in a sentence or two. */
#ifndef YS_REPORT_PAGE_QUESTION_H
#define YS_REPORT_PAGE_QUESTION_H

#include "report/view/view.h"

enum ys_question_place {
    YS_ASK_SPEED,
    YS_ASK_ACCURACY,
    YS_ASK_ROBUST,
    YS_ASK_SIZE,
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

/** Whether the page has the section: of what attacks did, where something attacked. */
bool ys_question_is_asked(const struct ys_view *view, size_t question);

/** Whether all trials that count and have an accuracy have the same one in every round, and there are several. */
bool ys_question_same_accuracy(const struct ys_view *view);

#endif
