/* Key `until`: what the weights of a checkpoint have to be worth so that a training ends there. */
#ifndef YS_JOB_GOAL_H
#define YS_JOB_GOAL_H

#include "base/buf.h"
#include "base/json/record.h"
#include "base/status.h"

#include <stdbool.h>

/** What is told of the weights of a checkpoint, on the rows that the study tests on. */
enum ys_goal_metric { YS_GOAL_ACCURACY, YS_GOAL_TEST_LOSS, YS_GOAL_BITS_PER_TOKEN };
extern const struct ys_names ys_goal_metrics; /* "accuracy", "test_loss", "bits_per_token", as of metrics/ */

struct ys_goal {
    int metric; /* enum ys_goal_metric */
    double value;
};

/** What may be written, for people. */
extern const char ys_goal_forms[];

/** "accuracy >= 98 %": accuracies above 0 and at most 1, losses and bits above 0. YS_EINVAL says what is wrong, in
 * words that follow what was written. */
ys_status ys_goal_parse(const char *text, struct ys_goal *goal) YS_MUST_CHECK;
/** As the resolved study writes it: "accuracy >= 0.98". Appended. */
void ys_goal_print(const struct ys_goal *goal, struct ys_buf *out);

/** Whether more of it is better. */
bool ys_goal_rises(const struct ys_goal *goal);
/** Whether `value` is at least as good as the target. NaN, that of weights that were not evaluated, is not. */
bool ys_goal_is_met(const struct ys_goal *goal, double value);
enum { YS_GOAL_TEXT = 48 };
/** "98.12 %", "0.0513". */
void ys_goal_value_text(const struct ys_goal *goal, double value, char text[YS_GOAL_TEXT]);
/** "accuracy >= 98 %". */
void ys_goal_text(const struct ys_goal *goal, char text[YS_GOAL_TEXT]);

#endif
