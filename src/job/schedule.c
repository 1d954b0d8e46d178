#include "job/schedule.h"

#include "data/row_order.h"

#include <math.h>
#include <string.h>

#define STEPS_LIMIT 1000000000

#define STEPS                                                                                                          \
    {                                                                                                                  \
        .name = "STEPS", .low = 1, .high = STEPS_LIMIT, .whole = true                                                  \
    }
#define ABOVE_0(name_, high_)                                                                                          \
    {                                                                                                                  \
        .name = (name_), .low = 0, .above_low = true, .high = (high_)                                                  \
    }

enum schedule_form { CONSTANT, STEP, INV_POWER, INV_DECAY, COSINE, COSINE_STEPS };

/* clang-format off */
static const struct ys_form forms[] = {
    [CONSTANT] = {"constant"},
    [STEP] = {"step", {STEPS, ABOVE_0("FACTOR", 1000)}, 2},
    [INV_POWER] = {"inv", {ABOVE_0("GAMMA", 1000), ABOVE_0("POWER", 100)}, 2},
    [INV_DECAY] = {"inv", {ABOVE_0("DECAY", 1000)}, 1},
    [COSINE] = {"cosine"},
    [COSINE_STEPS] = {"cosine", {STEPS}, 1},
    {NULL},
};

static const struct ys_form warmups[] = {{"warmup", {STEPS}, 1}, {NULL}};
/* clang-format on */

const struct ys_form *ys_schedules(void)
{
    return forms;
}

ys_status ys_schedule_parse(const char *text, struct ys_schedule *schedule)
{
    *schedule = (struct ys_schedule){.form = &forms[CONSTANT]};
    text += strspn(text, " \t");
    const char *end = strchr(text, ')');
    if (strncmp(text, warmups[0].name, strlen(warmups[0].name)) == 0) {
        const struct ys_form *form;
        double steps[YS_FORM_ARGUMENTS];
        if (!end || !end[1 + strspn(end + 1, " \t")])
            return ys_fail(YS_EINVAL, "a warm-up stands before a schedule: write warmup(STEPS) constant");
        YS_TRY(ys_form_parse(warmups, "warm-up", text, (size_t)(end + 1 - text), &form, steps));
        schedule->warmup = (int64_t)steps[0];
        text = end + 1;
    }
    return ys_form_parse(forms, "schedule", text, strlen(text), &schedule->form, schedule->numbers);
}

void ys_schedule_print(const struct ys_schedule *schedule, struct ys_buf *out)
{
    double warmup = (double)schedule->warmup;
    if (schedule->warmup > 0) {
        ys_form_print(&warmups[0], &warmup, out);
        ys_buf_puts(out, " ");
    }
    ys_form_print(schedule->form, schedule->numbers, out);
}

static double cosine(double k, double steps)
{
    return k < steps ? (1 + cos(M_PI * k / steps)) / 2 : 0;
}

/* The rate of step k, counted from the end of the warm-up, `left` steps of the run coming after that. `last` is the
 * rate of the step before. */
static double rate_of(const struct ys_schedule *schedule, double lr, int64_t k, int64_t left, double last)
{
    const double *numbers = schedule->numbers, at = (double)k;
    switch (schedule->form - forms) {
    case STEP:
        return k == 0 ? lr : k % (int64_t)numbers[0] == 0 ? last * numbers[1] : last;
    case INV_POWER:
        return lr * pow(1 + numbers[0] * at, -numbers[1]);
    case INV_DECAY:
        return lr / (1 + numbers[0] * at);
    case COSINE:
        return lr * cosine(at, (double)left);
    case COSINE_STEPS:
        return lr * cosine(at, numbers[0]);
    default:
        return lr;
    }
}

static const char *schedule_of(const struct ys_trial_settings *keys)
{
    return keys->schedule ? keys->schedule : "constant";
}

static ys_status parse(const struct ys_trial_settings *keys, struct ys_schedule *schedule, double *lr)
{
    const char *text = schedule_of(keys);
    ys_status status = ys_schedule_parse(text, schedule);
    *lr = ys_mode_of(keys->mode)->trains && !isnan(keys->lr) ? keys->lr : 0;
    return status == YS_OK ? YS_OK : ys_fail_in(status, "schedule = %s", text);
}

static ys_status infinite(const struct ys_trial_settings *keys, int64_t step)
{
    return ys_fail(YS_EINVAL, "schedule = %s: the learning rate is infinite from step %lld on: use a smaller factor",
                   schedule_of(keys), (long long)step);
}

ys_status ys_schedule_check(const struct ys_trial_settings *keys, int64_t total)
{
    struct ys_schedule schedule;
    double lr;
    YS_TRY(parse(keys, &schedule, &lr));
    if (schedule.form != &forms[STEP] || schedule.numbers[1] <= 1)
        return YS_OK; /* the others never rise above lr */
    for (int64_t k = (int64_t)schedule.numbers[0]; k < total - schedule.warmup; k += (int64_t)schedule.numbers[0])
        if (!isfinite(lr *= schedule.numbers[1]))
            return infinite(keys, k + schedule.warmup);
    return YS_OK;
}

ys_status ys_schedule_fill(const struct ys_trial_settings *keys, int64_t total, int64_t steps, double *rates)
{
    struct ys_schedule schedule;
    double lr;
    YS_TRY(parse(keys, &schedule, &lr));
    for (int64_t s = 0; s < steps; s++) {
        int64_t k = s - schedule.warmup;
        rates[s] = k < 0 ? lr * ((double)(s + 1) / (double)schedule.warmup)
                         : rate_of(&schedule, lr, k, total - schedule.warmup, s > 0 ? rates[s - 1] : lr);
        if (!isfinite(rates[s]))
            return infinite(keys, s);
    }
    return YS_OK;
}

static int64_t number_of(int64_t value)
{
    return value == YS_FIELD_NONE ? 0 : value;
}

int64_t ys_job_kept_rows(const struct ys_trial_settings *keys, int64_t train_count)
{
    const bool trains = ys_mode_of(keys->mode)->trains && !isnan(keys->tune_rows);
    return trains ? (int64_t)ceil(keys->tune_rows * (double)train_count) : 0;
}

ys_status ys_job_steps(const struct ys_trial_settings *keys, int64_t train_count, int64_t *steps)
{
    int64_t batch = ys_settings_rows(keys), wanted = number_of(keys->steps), requests = number_of(keys->requests);
    train_count -= ys_job_kept_rows(keys, train_count);
    if (batch < 1 || batch > train_count)
        return ys_fail(YS_EINVAL, "batch = %lld: the data set has %lld training rows: use a batch of 1 to %lld",
                       (long long)batch, (long long)train_count, (long long)train_count);
    if (ys_mode_of(keys->mode)->times_each)
        wanted = requests < train_count / batch ? requests : train_count / batch;
    if (wanted == 0) {
        int64_t epochs = number_of(keys->epochs), each = train_count / batch;
        if (epochs > STEPS_LIMIT / each)
            return ys_fail(YS_EINVAL, "epochs = %lld: that is more than %d steps: use fewer epochs or a larger batch",
                           (long long)epochs, STEPS_LIMIT);
        wanted = epochs * each;
    }
    if (wanted < 1)
        return ys_fail(YS_EINVAL, "neither steps nor epochs says how long training is: give one of them");
    if (wanted > YS_ORDER_MAX_ROWS / batch)
        return ys_fail(YS_EINVAL,
                       "%lld steps of %lld rows are more than the %lld rows that one run can have: use fewer",
                       (long long)wanted, (long long)batch, (long long)YS_ORDER_MAX_ROWS);
    *steps = wanted;
    return YS_OK;
}
