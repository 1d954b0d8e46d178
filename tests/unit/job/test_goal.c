#include "job/goal.h"

#include "tap.h"

#include <math.h>
#include <string.h>

static void a_target_is_read_and_written_in_one_way(void)
{
    static const struct {
        const char *text, *written, *said;
        int metric;
    } cases[] = {
        {"accuracy >= 98 %", "accuracy >= 0.98", "accuracy >= 98 %", YS_GOAL_ACCURACY},
        {" Accuracy>=0.98 ", "accuracy >= 0.98", "accuracy >= 98 %", YS_GOAL_ACCURACY},
        {"accuracy >= 1", "accuracy >= 1", "accuracy >= 100 %", YS_GOAL_ACCURACY},
        {"test-loss <= 0.05", "test_loss <= 0.05", "test_loss <= 0.05", YS_GOAL_TEST_LOSS},
        {"bits_per_token<=1.5", "bits_per_token <= 1.5", "bits_per_token <= 1.5", YS_GOAL_BITS_PER_TOKEN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_goal goal;
        struct ys_buf written = {0};
        char said[YS_GOAL_TEXT];
        REQUIRE(ys_goal_parse(cases[i].text, &goal) == YS_OK);
        ys_goal_print(&goal, &written);
        ys_goal_text(&goal, said);
        CHECK_INT(goal.metric, cases[i].metric);
        CHECK_TEXT(ys_buf_text(&written), cases[i].written);
        CHECK_TEXT(said, cases[i].said);
        ys_buf_free(&written);
    }
}

static void what_is_none_says_what_is_wrong(void)
{
    static const char forms[] = "accuracy >= SHARE, test_loss <= NUMBER or bits_per_token <= NUMBER";
    static const struct {
        const char *text, *message;
        bool names_forms;
    } cases[] = {
        {"rate_per_s >= 5", "a checkpoint cannot tell rate_per_s: write ", true},
        {">= 5", "no metric is named: write ", true},
        {"accuracy", "accuracy has to rise for a target: write accuracy >= NUMBER", false},
        {"accuracy <= 98 %", "accuracy has to rise for a target: write accuracy >= NUMBER", false},
        {"test_loss >= 1", "test_loss has to fall for a target: write test_loss <= NUMBER", false},
        {"accuracy >= 98", "an accuracy is above 0 and at most 1, and 98 is not: write 98 % or 0.98", false},
        {"accuracy >= 0 %", "an accuracy is above 0 and at most 1, and 0% is not: write 98 % or 0.98", false},
        {"accuracy >= much", "\"much\" is no share: write ", true},
        {"test_loss <= 5 %", "\"5%\" is no number: write ", true},
        {"test_loss <= 0", "test_loss is above 0 and at most 1e9, and 0 is not", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_goal goal;
        char message[200];
        snprintf(message, sizeof message, "%s%s", cases[i].message, cases[i].names_forms ? forms : "");
        CHECK_INT(ys_goal_parse(cases[i].text, &goal), YS_EINVAL);
        CHECK_TEXT(ys_error(), message);
    }
}

static void a_target_is_met_on_its_own_side_and_never_by_what_is_not_known(void)
{
    const struct ys_goal accuracy = {YS_GOAL_ACCURACY, 0.98}, loss = {YS_GOAL_TEST_LOSS, 0.1};
    CHECK(ys_goal_is_met(&accuracy, 0.98) && ys_goal_is_met(&accuracy, 1) && !ys_goal_is_met(&accuracy, 0.9799));
    CHECK(ys_goal_is_met(&loss, 0.1) && ys_goal_is_met(&loss, 0) && !ys_goal_is_met(&loss, 0.1001));
    CHECK(!ys_goal_is_met(&accuracy, NAN) && !ys_goal_is_met(&loss, NAN));
}

TAP_MAIN(TAP_CASE(a_target_is_read_and_written_in_one_way), TAP_CASE(what_is_none_says_what_is_wrong),
         TAP_CASE(a_target_is_met_on_its_own_side_and_never_by_what_is_not_known))
