#include "job/schedule.h"

#include "base/json.h"
#include "tap.h"

static ys_json *keys_of(const char *text)
{
    ys_json *keys = NULL;
    return ys_json_parse(text, strlen(text), "keys", &keys) == YS_OK ? keys : NULL;
}

static void a_constant_rate_stays(void)
{
    double lr[3];
    ys_json *keys = keys_of("{\"lr\":0.1,\"schedule\":\"constant\"}");
    CHECK_INT(ys_schedule_fill(keys, 3, lr), YS_OK);
    CHECK(lr[0] == 0.1 && lr[1] == 0.1 && lr[2] == 0.1);
    ys_json_free(keys);
}

static void a_step_schedule_multiplies_every_so_many_steps(void)
{
    double lr[7];
    ys_json *keys = keys_of("{\"lr\":1.0,\"schedule\":\"step(3,0.5)\"}");
    CHECK_INT(ys_schedule_fill(keys, 7, lr), YS_OK);
    const double expected[7] = {1, 1, 1, 0.5, 0.5, 0.5, 0.25};
    for (int k = 0; k < 7; k++)
        CHECK(lr[k] == expected[k]);
    ys_json_free(keys);
}

static void a_rate_that_overflows_is_refused(void)
{
    double lr[200];
    ys_json *keys = keys_of("{\"lr\":1.0,\"schedule\":\"step(1,1000)\"}");
    CHECK_INT(ys_schedule_fill(keys, 200, lr), YS_EINVAL);
    CHECK_TEXT(ys_error(),
               "schedule = step(1,1000): the learning rate is infinite from step 103 on: use a smaller factor");
    ys_json_free(keys);
}

static void malformed_schedules_are_refused(void)
{
    struct ys_schedule schedule;
    const char *bad[] = {"",           "cosine",     "step",          "step()",       "step(3)",     "step(3,)",
                         "step(,0.1)", "step(3,0.1", "step(3,0.1,2)", "stepp(3,0.1)", "step(x,0.1)", "step(3.5,0.1)",
                         "step(3,y)",  "(3,0.1)"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(ys_schedule_parse(bad[i], &schedule), YS_EINVAL);
        CHECK_HAS(ys_error(), "this is no schedule: write constant, or step(STEPS, FACTOR) as in step(30, 0.1)");
    }
    CHECK_INT(ys_schedule_parse("step(0, 0.1)", &schedule), YS_EINVAL);
    CHECK_TEXT(ys_error(), "STEPS must be 1 to 1000000000");
    CHECK_INT(ys_schedule_parse("step(1, 0)", &schedule), YS_EINVAL);
    CHECK_TEXT(ys_error(), "FACTOR must be above 0 and at most 1000");
    CHECK_INT(ys_schedule_parse(" step ( 30 , 1e-1 )", &schedule), YS_OK);
    CHECK_INT(schedule.every, 30);
}

static int64_t steps_of(const char *text, int64_t count)
{
    int64_t steps = -1;
    ys_json *keys = keys_of(text);
    ys_status status = ys_job_steps(keys, count, &steps);
    ys_json_free(keys);
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

TAP_MAIN(TAP_CASE(a_constant_rate_stays), TAP_CASE(a_step_schedule_multiplies_every_so_many_steps),
         TAP_CASE(a_rate_that_overflows_is_refused), TAP_CASE(malformed_schedules_are_refused),
         TAP_CASE(epochs_drop_the_remainder_of_the_data), TAP_CASE(a_batch_larger_than_the_data_is_refused),
         TAP_CASE(too_many_steps_are_refused))
