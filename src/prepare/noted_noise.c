#include "prepare/noted_noise.h"

#include "base/mem.h"
#include "job/settings.h"
#include "prepare/machine_notes.h"
#include "stat/looks.h"
#include "stat/power.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const int64_t RUNS[] = {6, 7, 8, 10, 12, 15, 20, 30};
static const double DIFFERENCES[] = {0.01, 0.02, 0.03, 0.05, 0.1};
enum { RUN_STEPS = sizeof RUNS / sizeof RUNS[0], DIFFERENCE_STEPS = sizeof DIFFERENCES / sizeof DIFFERENCES[0] };

static const struct ys_field step_fields[] = {
    YS_FIELD(struct ys_noise_step, runs, YS_FIELD_INT, "1", YS_FIELD_NULL, "rounds of a study; null: none is enough"),
    YS_FIELD(struct ys_noise_step, difference, YS_FIELD_REAL, "1", YS_FIELD_NULL, "that they find"),
};
static const struct ys_record step_record = YS_RECORD("step", struct ys_noise_step, step_fields);

#define OF_NOISE(member, kind, unit, flags, what) YS_FIELD(struct ys_noise, member, kind, unit, flags, what)
static const struct ys_field fields[] = {
    OF_NOISE(date, YS_FIELD_TEXT, NULL, 0, "when"),
    OF_NOISE(host, YS_FIELD_TEXT, NULL, 0, "where"),
    OF_NOISE(trial, YS_FIELD_TEXT, NULL, 0, "what ran against itself"),
    OF_NOISE(interleave, YS_FIELD_TEXT, NULL, YS_FIELD_LATER, "how the pairs shared the machine: runs, blocks"),
    OF_NOISE(seconds, YS_FIELD_REAL, "s", 0, "that it took"),
    OF_NOISE(pairs, YS_FIELD_INT, "1", 0, "rounds with a speed of both"),
    OF_NOISE(disturbed, YS_FIELD_INT, "1", 0, "disturbed runs of both"),
    OF_NOISE(ratio, YS_FIELD_REAL, "1", YS_FIELD_NULL, "of the two, centre"),
    OF_NOISE(ci, YS_FIELD_REALS, "1", 0, "its interval at 95 %"),
    OF_NOISE(ratios, YS_FIELD_REALS, "1", 0, "by pair"),
    OF_NOISE(biases, YS_FIELD_REALS, "1", YS_FIELD_LATER, "by pair, what is left of warm-up"),
    YS_FIELD_OF(struct ys_noise, tells_apart, YS_FIELD_LIST, &step_record, 0, "what so many runs tell apart"),
    YS_FIELD_OF(struct ys_noise, needed, YS_FIELD_LIST, &step_record, 0, "what a difference needs"),
    OF_NOISE(reason, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why these are empty"),
};
const struct ys_record ys_noise_record = YS_RECORD("noise", struct ys_noise, fields);

static struct ys_power_seen seen_by(const struct ys_noise *noise)
{
    return (struct ys_power_seen){noise->ratios.items, noise->biases.count ? noise->biases.items : NULL,
                                  noise->ratios.count};
}

void ys_noise_foresee(struct ys_noise *noise)
{
    const struct ys_power_seen seen = seen_by(noise);
    struct ys_noise_step *apart = ys_alloc(RUN_STEPS, sizeof *apart);
    struct ys_noise_step *needed = ys_alloc(DIFFERENCE_STEPS, sizeof *needed);
    noise->tells_apart = (struct ys_list){apart, RUN_STEPS};
    noise->needed = (struct ys_list){needed, DIFFERENCE_STEPS};
    for (size_t i = 0; i < RUN_STEPS; i++)
        apart[i] = (struct ys_noise_step){RUNS[i], ys_power_difference(&seen, (size_t)RUNS[i], YS_STAT_LEVEL, 0)};
    for (size_t i = 0; i < DIFFERENCE_STEPS; i++) {
        const size_t runs = ys_power_rounds(&seen, 0, DIFFERENCES[i]);
        needed[i] = (struct ys_noise_step){runs ? (int64_t)runs : YS_FIELD_NONE, DIFFERENCES[i]};
    }
}

/* Under which it is kept. */
static const char *name_of(bool by_turns)
{
    return by_turns ? "noise-blocks" : "noise";
}

ys_status ys_noise_keep(const struct ys_noise *noise, bool by_turns)
{
    return ys_machine_note_keep(name_of(by_turns), &ys_noise_record, noise);
}

static ys_status read_kept(bool by_turns, struct ys_noise *noise)
{
    ys_json *json = NULL;
    YS_TRY(ys_machine_note_read(name_of(by_turns), &json));
    ys_status status = ys_record_read(&ys_noise_record, json, "the noise that doctor kept", noise);
    ys_json_free(json);
    if (status == YS_OK && ys_machine_note_is_fresh(noise->date))
        return YS_OK;
    if (status == YS_OK)
        ys_record_fini(&ys_noise_record, noise);
    return ys_fail(YS_ENOTFOUND, "the noise of this machine was not measured within a day");
}

char *ys_noise_say(const ys_json *study)
{
    struct ys_noise noise;
    struct ys_study_settings plan;
    char *text = NULL;
    ys_study_settings_read(study, &plan);
    const bool by_turns = plan.interleave != YS_INTERLEAVE_RUNS;
    if (read_kept(by_turns, &noise) != YS_OK)
        return NULL;
    const struct ys_power_seen seen = seen_by(&noise);
    const bool decides = plan.repeat == YS_FIELD_NONE;
    const int64_t rounds = decides ? plan.repeat_most : plan.repeat;
    struct ys_look looks[YS_LOOKS_MOST];
    const double level = decides ? looks[ys_looks((size_t)rounds, looks) - 1].level : YS_STAT_LEVEL;
    const double difference = rounds > 0 ? ys_power_difference(&seen, (size_t)rounds, level, plan.margin) : (double)NAN;
    if (isfinite(difference))
        text = ys_format("with %s%lld runs this study can tell %.2g %% apart%s, if its trials scatter as %s did (%s)",
                         decides ? "up to " : "", (long long)rounds, 100 * difference, by_turns ? " by turns" : "",
                         noise.trial, noise.date);
    ys_record_fini(&ys_noise_record, &noise);
    return text;
}

size_t ys_noise_rounds(double difference, double margin)
{
    struct ys_noise noise;
    if (read_kept(false, &noise) != YS_OK)
        return 0;
    const struct ys_power_seen seen = seen_by(&noise);
    const size_t rounds = ys_power_rounds(&seen, margin, difference);
    ys_record_fini(&ys_noise_record, &noise);
    return rounds;
}
