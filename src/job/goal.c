#include "job/goal.h"

#include "base/json/shared_words.h"
#include "base/number_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char ys_goal_forms[] = "accuracy >= SHARE, test_loss <= NUMBER or bits_per_token <= NUMBER";

static const char *const metric_words[] = {
    [YS_GOAL_ACCURACY] = "accuracy", [YS_GOAL_TEST_LOSS] = "test_loss", [YS_GOAL_BITS_PER_TOKEN] = "bits_per_token"};
const struct ys_names ys_goal_metrics = YS_NAMES("metric of a target", metric_words);

enum { NUMBER_SIZE = 64 };

bool ys_goal_rises(const struct ys_goal *goal)
{
    return goal->metric == YS_GOAL_ACCURACY;
}

static const char *sign_of(const struct ys_goal *goal)
{
    return ys_goal_rises(goal) ? ">=" : "<=";
}

/* The metric that the `length` bytes at `text` name. */
static ys_status find_metric(const char *text, size_t length, int *metric)
{
    for (int i = 0; i <= YS_GOAL_BITS_PER_TOKEN; i++)
        if (ys_is_spelled(text, length, metric_words[i])) {
            *metric = i;
            return YS_OK;
        }
    if (length == 0)
        return ys_fail(YS_EINVAL, "no metric is named: write %s", ys_goal_forms);
    return ys_fail(YS_EINVAL, "a checkpoint cannot tell %.*s: write %s", (int)length, text, ys_goal_forms);
}

static ys_status read_value(const char *text, struct ys_goal *goal)
{
    const bool is_share = ys_goal_rises(goal);
    char number[NUMBER_SIZE];
    size_t length = 0;
    for (; *text && length + 1 < sizeof number; text++)
        if (!isspace((unsigned char)*text)) /* "98 %" */
            number[length++] = *text;
    number[length] = 0;
    const bool is_number =
        !*text && (is_share ? ys_value_share(number, &goal->value) : ys_value_real(number, &goal->value));
    if (!is_number)
        return ys_fail(YS_EINVAL, "\"%s\" is no %s: write %s", number, is_share ? "share" : "number", ys_goal_forms);
    if (is_share && !(goal->value > 0 && goal->value <= 1))
        return ys_fail(YS_EINVAL, "an accuracy is above 0 and at most 1, and %s is not: write 98 %% or 0.98", number);
    if (!is_share && !(goal->value > 0 && goal->value <= 1e9))
        return ys_fail(YS_EINVAL, "%s is above 0 and at most 1e9, and %s is not",
                       ys_name_of(&ys_goal_metrics, goal->metric), number);
    return YS_OK;
}

ys_status ys_goal_parse(const char *text, struct ys_goal *goal)
{
    text += strspn(text, " \t");
    const size_t name = strcspn(text, " \t<>=");
    const char *sign = text + name + strspn(text + name, " \t");
    YS_TRY(find_metric(text, name, &goal->metric));
    if (strncmp(sign, sign_of(goal), 2) != 0)
        return ys_fail(YS_EINVAL, "%s has to %s for a target: write %s %s NUMBER",
                       ys_name_of(&ys_goal_metrics, goal->metric), ys_goal_rises(goal) ? "rise" : "fall",
                       ys_name_of(&ys_goal_metrics, goal->metric), sign_of(goal));
    return read_value(sign + 2, goal);
}

void ys_goal_print(const struct ys_goal *goal, struct ys_buf *out)
{
    ys_buf_printf(out, "%s %s ", ys_name_of(&ys_goal_metrics, goal->metric), sign_of(goal));
    ys_buf_put_real(out, goal->value);
}

bool ys_goal_is_met(const struct ys_goal *goal, double value)
{
    return ys_goal_rises(goal) ? value >= goal->value : value <= goal->value;
}

void ys_goal_value_text(const struct ys_goal *goal, double value, char text[YS_GOAL_TEXT])
{
    if (ys_goal_rises(goal))
        snprintf(text, YS_GOAL_TEXT, "%.4g %%", 100 * value);
    else
        snprintf(text, YS_GOAL_TEXT, "%.4g", value);
}

void ys_goal_text(const struct ys_goal *goal, char text[YS_GOAL_TEXT])
{
    char value[YS_GOAL_TEXT];
    ys_goal_value_text(goal, goal->value, value);
    snprintf(text, YS_GOAL_TEXT, "%s %s %.20s", ys_name_of(&ys_goal_metrics, goal->metric), sign_of(goal), value);
}
