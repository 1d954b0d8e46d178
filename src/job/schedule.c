#include "job/schedule.h"

#include "job/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STEPS_LIMIT  1000000000
#define FACTOR_LIMIT 1000.0
#define NUMBER_SIZE  64

/* Copies `length` bytes without the blanks around them; false when they are too many for a number. */
static bool copy_trimmed(const char *text, size_t length, char number[NUMBER_SIZE])
{
    while (length > 0 && *text == ' ') {
        text++;
        length--;
    }
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length >= NUMBER_SIZE)
        return false;
    memcpy(number, text, length);
    number[length] = 0;
    return true;
}

ys_status ys_schedule_parse(const char *text, struct ys_schedule *schedule)
{
    *schedule = (struct ys_schedule){0, 1};
    if (strcmp(text, "constant") == 0)
        return YS_OK;
    const char *open = strchr(text, '('), *comma = open ? strchr(open, ',') : NULL;
    size_t length = strlen(text);
    char name[NUMBER_SIZE], every[NUMBER_SIZE], factor[NUMBER_SIZE];
    bool well_formed = comma && text[length - 1] == ')' && copy_trimmed(text, (size_t)(open - text), name) &&
                       strcmp(name, "step") == 0 && copy_trimmed(open + 1, (size_t)(comma - open - 1), every) &&
                       copy_trimmed(comma + 1, (size_t)(text + length - 1 - (comma + 1)), factor);
    if (!well_formed || !ys_value_int(every, &schedule->every) || !ys_value_real(factor, &schedule->factor))
        return ys_fail(YS_EINVAL, "this is no schedule: write constant, or step(STEPS, FACTOR) as in step(30, 0.1)");
    if (schedule->every < 1 || schedule->every > STEPS_LIMIT)
        return ys_fail(YS_EINVAL, "STEPS must be 1 to %d", STEPS_LIMIT);
    if (!(schedule->factor > 0) || schedule->factor > FACTOR_LIMIT)
        return ys_fail(YS_EINVAL, "FACTOR must be above 0 and at most %g", FACTOR_LIMIT);
    return YS_OK;
}

ys_status ys_schedule_fill(const ys_json *keys, int64_t steps, double *lr)
{
    const char *text = ys_json_get_text(keys, "schedule", "constant");
    struct ys_schedule schedule;
    ys_status status = ys_schedule_parse(text, &schedule);
    if (status != YS_OK)
        return ys_fail_in(status, "schedule = %s", text);
    double rate = ys_json_get_number(keys, "lr", 0);
    for (int64_t k = 0; k < steps; k++) {
        if (k > 0 && schedule.every > 0 && k % schedule.every == 0)
            rate *= schedule.factor;
        if (!isfinite(rate))
            return ys_fail(YS_EINVAL,
                           "schedule = %s: the learning rate is infinite from step %lld on: use a smaller factor", text,
                           (long long)k);
        lr[k] = rate;
    }
    return YS_OK;
}

ys_status ys_job_steps(const ys_json *keys, int64_t train_count, int64_t *steps)
{
    int64_t batch = ys_json_get_int(keys, "batch", 0), wanted = ys_json_get_int(keys, "steps", 0);
    if (batch < 1 || batch > train_count)
        return ys_fail(YS_EINVAL, "batch = %lld: the data set has %lld training rows: use a batch of 1 to %lld",
                       (long long)batch, (long long)train_count, (long long)train_count);
    if (wanted == 0) {
        int64_t epochs = ys_json_get_int(keys, "epochs", 0), each = train_count / batch;
        if (epochs > STEPS_LIMIT / each)
            return ys_fail(YS_EINVAL, "epochs = %lld: that is more than %d steps: use fewer epochs or a larger batch",
                           (long long)epochs, STEPS_LIMIT);
        wanted = epochs * each;
    }
    if (wanted < 1)
        return ys_fail(YS_EINVAL, "neither steps nor epochs says how long training is: give one of them");
    *steps = wanted;
    return YS_OK;
}
