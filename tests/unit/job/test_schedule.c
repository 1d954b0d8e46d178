#include "job/schedule.h"

#include "base/json/json.h"
#include "tap.h"

#include <math.h>

static struct ys_trial_settings keys_of(const char *text)
{
    ys_json *json = NULL;
    struct ys_trial_settings keys = {0};
    CHECK(ys_json_parse(text, strlen(text), "keys", &json) == YS_OK &&
          ys_record_read(&ys_trial_settings_record, json, "keys", &keys) == YS_OK);
    ys_json_free(json);
    return keys;
}

static void a_constant_rate_stays(void)
{
    double lr[3];
    struct ys_trial_settings keys = keys_of("{\"lr\":0.1,\"schedule\":\"constant\"}");
    CHECK_INT(ys_schedule_fill(&keys, 3, 3, lr), YS_OK);
    CHECK(lr[0] == 0.1 && lr[1] == 0.1 && lr[2] == 0.1);
    ys_record_fini(&ys_trial_settings_record, &keys);
}

static void a_step_schedule_multiplies_every_so_many_steps(void)
{
    double lr[7];
    struct ys_trial_settings keys = keys_of("{\"lr\":1.0,\"schedule\":\"step(3,0.5)\"}");
    CHECK_INT(ys_schedule_fill(&keys, 7, 7, lr), YS_OK);
    const double expected[7] = {1, 1, 1, 0.5, 0.5, 0.5, 0.25};
    for (int k = 0; k < 7; k++)
        CHECK(lr[k] == expected[k]);
    ys_record_fini(&ys_trial_settings_record, &keys);
}

static void a_rate_that_overflows_is_refused(void)
{
    double lr[200];
    struct ys_trial_settings keys = keys_of("{\"lr\":1.0,\"schedule\":\"step(1,1000)\"}");
    CHECK_INT(ys_schedule_fill(&keys, 200, 200, lr), YS_EINVAL);
    CHECK_TEXT(ys_error(),
               "schedule = step(1,1000): the learning rate is infinite from step 103 on: use a smaller factor");
    ys_record_fini(&ys_trial_settings_record, &keys);
}

/* What is said before a run is what filling it says. */
static void a_rate_that_overflows_is_foreseen(void)
{
    static const char *const texts[] = {
        "{\"lr\":1.0,\"schedule\":\"step(1,1000)\"}", "{\"lr\":0.5,\"schedule\":\"warmup(7) step(2,30)\"}",
        "{\"lr\":0.1,\"schedule\":\"step(3,0.5)\"}", "{\"lr\":1000,\"schedule\":\"cosine\"}",
        "{\"mode\":\"infer\",\"lr\":1.0,\"schedule\":\"step(1,1000)\"}"};
    static double lr[600];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct ys_trial_settings keys = keys_of(texts[i]);
        for (int64_t total = 90; total <= 600; total += 1) {
            char said[200] = "";
            ys_status filled = ys_schedule_fill(&keys, total, total, lr);
            if (filled != YS_OK)
                snprintf(said, sizeof said, "%s", ys_error());
            CHECK_INT(ys_schedule_check(&keys, total), filled);
            if (filled != YS_OK)
                CHECK_TEXT(ys_error(), said);
        }
        ys_record_fini(&ys_trial_settings_record, &keys);
    }
}

/* The rates of `steps` steps of a run of `total`, from "lr": 1 unless `keys` says otherwise. */
static void fill(const char *text, int64_t total, int64_t steps, double *lr)
{
    struct ys_trial_settings keys = keys_of(text);
    CHECK_INT(ys_schedule_fill(&keys, total, steps, lr), YS_OK);
    ys_record_fini(&ys_trial_settings_record, &keys);
}

static void check_rate(double rate, double expected, double tolerance, int line)
{
    tap_check(fabs(rate - expected) <= tolerance, line, "%.17g is not %.17g within %g", rate, expected, tolerance);
}

static void caffes_inverse_is_that_of_its_log(void)
{
    static double lr[9901];
    fill("{\"lr\":0.01,\"schedule\":\"inv(0.0001,0.75)\"}", 10000, 9901, lr);
    /* What Caffe's MNIST example logs with these numbers, to six significant digits: half a unit of the last. */
    check_rate(lr[0], 0.01, 0, __LINE__);
    check_rate(lr[100], 0.00992565, 5e-9, __LINE__);
    check_rate(lr[500], 0.00964069, 5e-9, __LINE__);
    check_rate(lr[9900], 0.00596843, 5e-9, __LINE__);
}

static void torchs_inverse_halves_after_one_over_decay(void)
{
    double lr[31];
    fill("{\"lr\":0.5,\"schedule\":\"inv(0.1)\"}", 31, 31, lr);
    /* 1 + 0.1 k is rounded twice, the quotient once: 4 units in the last place of 0.5 are enough. */
    check_rate(lr[0], 0.5, 0, __LINE__);
    check_rate(lr[10], 0.25, 4.5e-16, __LINE__);
    check_rate(lr[30], 0.125, 4.5e-16, __LINE__);
    check_rate(lr[1], 0.5 / 1.1, 4.5e-16, __LINE__);
}

static void a_cosine_falls_to_zero_and_stays_there(void)
{
    /* (1 + cos(k pi / 4)) / 2, from the square root of 2; cos() and the sum round to within 4.5e-16. */
    static const double expected[7] = {1, 0.85355339059327376, 0.5, 0.14644660940672624, 0, 0, 0};
    double lr[7];
    fill("{\"lr\":1.0,\"schedule\":\"cosine(4)\"}", 7, 7, lr);
    for (int k = 0; k < 7; k++)
        check_rate(lr[k], expected[k], 4.5e-16, __LINE__);
    fill("{\"lr\":1.0,\"schedule\":\"cosine\"}", 4, 7, lr); /* over the run, however many rates are asked for */
    for (int k = 0; k < 7; k++)
        check_rate(lr[k], expected[k], 4.5e-16, __LINE__);
    fill("{\"lr\":1.0,\"schedule\":\"cosine(8)\"}", 2, 3, lr); /* a run may be shorter than its schedule */
    check_rate(lr[2], expected[1], 4.5e-16, __LINE__);
}

static void a_warm_up_rises_to_the_rate_and_the_schedule_begins_after_it(void)
{
    double lr[9];
    static const double steps[9] = {0.25, 0.5, 0.75, 1, 1, 1, 0.5, 0.5, 0.25};
    fill("{\"lr\":1.0,\"schedule\":\"warmup(4) step(2,0.5)\"}", 9, 9, lr);
    for (int k = 0; k < 9; k++)
        check_rate(lr[k], steps[k], 0, __LINE__);
    static const double constant[4] = {0.5, 1, 1, 1};
    fill("{\"lr\":1.0,\"schedule\":\"warmup(2)constant\"}", 4, 4, lr);
    for (int k = 0; k < 4; k++)
        check_rate(lr[k], constant[k], 0, __LINE__);
    static const double cosine[7] = {0.5, 1, 1, 0.85355339059327376, 0.5, 0.14644660940672624, 0};
    fill("{\"lr\":1.0,\"schedule\":\"warmup(2) cosine\"}", 6, 7, lr); /* 4 of the 6 steps are left for it */
    for (int k = 0; k < 7; k++)
        check_rate(lr[k], cosine[k], 4.5e-16, __LINE__);
    fill("{\"lr\":1.0,\"schedule\":\"warmup(100) cosine\"}", 3, 3, lr); /* longer than the run */
    check_rate(lr[2], 0.03, 1e-17, __LINE__);
}

static void what_does_not_train_has_no_rates(void)
{
    double lr[2] = {1, 1};
    fill("{\"lr\":null,\"schedule\":null}", 2, 2, lr);
    CHECK(lr[0] == 0 && lr[1] == 0);
}

#define ALL "write constant, step(STEPS, FACTOR), inv(GAMMA, POWER), inv(DECAY), cosine or cosine(STEPS)"

static void malformed_schedules_are_refused(void)
{
    struct ys_schedule schedule;
    const char *bad[] = {"",
                         "linear",
                         "step",
                         "step()",
                         "step(3)",
                         "step(3,)",
                         "step(,0.1)",
                         "step(3,0.1",
                         "step(3,0.1,2)",
                         "stepp(3,0.1)",
                         "step(x,0.1)",
                         "step(3,y)",
                         "(3,0.1)",
                         "inv",
                         "inv(1,2,3,4)",
                         "cosine()",
                         "constant constant",
                         "warmup(3) warmup(3) constant",
                         "warmup(3) linear",
                         "step(0x3,0.1)",
                         "step(inf,0.1)"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(ys_schedule_parse(bad[i], &schedule), YS_EINVAL);
        CHECK_TEXT(ys_error(), "this is no schedule: " ALL);
    }
    const char *bad_warmups[] = {"warmup()constant", "warmup(1,2) constant", "warmupp(3) constant",
                                 "warmup (x) cosine"};
    for (size_t i = 0; i < sizeof bad_warmups / sizeof bad_warmups[0]; i++) {
        CHECK_INT(ys_schedule_parse(bad_warmups[i], &schedule), YS_EINVAL);
        CHECK_TEXT(ys_error(), "this is no warm-up: write warmup(STEPS)");
    }
    const char *alone[] = {"warmup(3)", "warmup(3) ", "warmup", "warmup(3"};
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
        CHECK_INT(ys_schedule_parse(alone[i], &schedule), YS_EINVAL);
        CHECK_TEXT(ys_error(), "a warm-up stands before a schedule: write warmup(STEPS) constant");
    }
}

static void numbers_of_schedules_have_ranges(void)
{
    static const struct {
        const char *text, *error;
    } bad[] = {
        {"step(0, 0.1)", "STEPS must be a whole number, 1 to 1000000000"},
        {"step(3.5, 0.1)", "STEPS must be a whole number, 1 to 1000000000"},
        {"step(1000000001, 0.1)", "STEPS must be a whole number, 1 to 1000000000"},
        {"step(1, 0)", "FACTOR must be above 0 and at most 1000"},
        {"step(1, 1001)", "FACTOR must be above 0 and at most 1000"},
        {"inv(0, 1)", "GAMMA must be above 0 and at most 1000"},
        {"inv(1e-4, -1)", "POWER must be above 0 and at most 100"},
        {"inv(1e-4, 1e999)", "POWER must be above 0 and at most 100"},
        {"inv(0)", "DECAY must be above 0 and at most 1000"},
        {"cosine(0)", "STEPS must be a whole number, 1 to 1000000000"},
        {"warmup(0) constant", "STEPS must be a whole number, 1 to 1000000000"},
        {"warmup(2.5) constant", "STEPS must be a whole number, 1 to 1000000000"},
    };
    struct ys_schedule schedule;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(ys_schedule_parse(bad[i].text, &schedule), YS_EINVAL);
        CHECK_TEXT(ys_error(), bad[i].error);
    }
}

static void equal_schedules_are_written_alike(void)
{
    static const char *const texts[][2] = {
        {" step ( 30 , 1e-1 )", "step(30,0.1)"},
        {"constant ", "constant"},
        {"inv(1e-4, .75)", "inv(0.0001,0.75)"},
        {"inv( 0.10 )", "inv(0.1)"},
        {"cosine( 500 )", "cosine(500)"},
        {"warmup( 5 )cosine", "warmup(5) cosine"},
        {"warmup(5)   step(3, 0.3333333333333333)", "warmup(5) step(3,0.3333333333333333)"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct ys_schedule schedule;
        struct ys_buf out = {0};
        CHECK_INT(ys_schedule_parse(texts[i][0], &schedule), YS_OK);
        ys_schedule_print(&schedule, &out);
        CHECK_TEXT(ys_buf_text(&out), texts[i][1]);
        ys_buf_free(&out);
    }
}

static int64_t steps_of(const char *text, int64_t count)
{
    int64_t steps = -1;
    struct ys_trial_settings keys = keys_of(text);
    ys_status status = ys_job_steps(&keys, count, &steps);
    ys_record_fini(&ys_trial_settings_record, &keys);
    return status == YS_OK ? steps : status;
}

static void epochs_drop_the_remainder_of_the_data(void)
{
    CHECK_INT(steps_of("{\"batch\":64,\"epochs\":3,\"steps\":null}", 1000), 3 * 15);
    CHECK_INT(steps_of("{\"batch\":1000,\"epochs\":2,\"steps\":null}", 1000), 2);
    CHECK_INT(steps_of("{\"batch\":64,\"epochs\":null,\"steps\":7}", 1000), 7);
}

static void a_batch_larger_than_the_data_is_refused(void)
{
    CHECK_INT(steps_of("{\"batch\":64,\"epochs\":1,\"steps\":null}", 50), YS_EINVAL);
    CHECK_TEXT(ys_error(), "batch = 64: the data set has 50 training rows: use a batch of 1 to 50");
    CHECK_INT(steps_of("{\"batch\":64,\"epochs\":null,\"steps\":3}", 50), YS_EINVAL);
}

static void too_many_steps_are_refused(void)
{
    CHECK_INT(steps_of("{\"batch\":1,\"epochs\":1000000,\"steps\":null}", 60000), YS_EINVAL);
    CHECK_TEXT(ys_error(), "epochs = 1000000: that is more than 1000000000 steps: use fewer epochs or a larger batch");
}

static void requests_repeat_no_row_before_all_have_come(void)
{
    CHECK_INT(steps_of("{\"mode\":\"infer\",\"batch\":8,\"epochs\":null,\"steps\":null,\"requests\":5}", 100), 5);
    CHECK_INT(steps_of("{\"mode\":\"infer\",\"batch\":8,\"epochs\":null,\"steps\":null,\"requests\":1000}", 100), 12);
    CHECK_INT(steps_of("{\"mode\":\"infer\",\"batch\":1,\"epochs\":null,\"steps\":null,\"requests\":50000}", 60000),
              50000);
}

TAP_MAIN(TAP_CASE(a_constant_rate_stays), TAP_CASE(a_step_schedule_multiplies_every_so_many_steps),
         TAP_CASE(a_rate_that_overflows_is_refused), TAP_CASE(a_rate_that_overflows_is_foreseen),
         TAP_CASE(caffes_inverse_is_that_of_its_log), TAP_CASE(torchs_inverse_halves_after_one_over_decay),
         TAP_CASE(a_cosine_falls_to_zero_and_stays_there),
         TAP_CASE(a_warm_up_rises_to_the_rate_and_the_schedule_begins_after_it),
         TAP_CASE(what_does_not_train_has_no_rates), TAP_CASE(malformed_schedules_are_refused),
         TAP_CASE(numbers_of_schedules_have_ranges), TAP_CASE(equal_schedules_are_written_alike),
         TAP_CASE(epochs_drop_the_remainder_of_the_data), TAP_CASE(a_batch_larger_than_the_data_is_refused),
         TAP_CASE(too_many_steps_are_refused), TAP_CASE(requests_repeat_no_row_before_all_have_come))
