#include "campaign/measure_noise.h"

#include "base/mem.h"
#include "prepare/machine_notes.h"
#include "stat/power.h"

#include <stdio.h>

/* Why there were too few pairs. */
static void say_too_few(const struct ys_pairs_ratio *ratio, struct ys_noise *noise)
{
    noise->reason = ratio->failed && ratio->why
                        ? ys_format("no speed: %s", ratio->why)
                        : ys_format("%lld pairs of runs, %d are needed: take more time, or fewer steps",
                                    (long long)noise->pairs, YS_STAT_INTERVAL_MIN);
}

/* Takes what it needs of `ratio`. */
static void take(struct ys_pairs_ratio *ratio, struct ys_noise *noise)
{
    noise->pairs = (int64_t)ratio->ratios.count;
    noise->disturbed = ratio->disturbed;
    noise->ratio = ratio->found.value;
    noise->ratios = ratio->ratios;
    noise->biases = ratio->biases;
    noise->ci = ratio->ci;
    ratio->ratios = ratio->biases = ratio->ci = (struct ys_list){0};
    if (noise->ci.count)
        ys_noise_foresee(noise);
    else
        say_too_few(ratio, noise);
}

static ys_status compare(const struct ys_pairs *pairs, struct ys_noise *noise)
{
    struct ys_pairs_ratio ratio;
    ys_status status = ys_pairs_compare(pairs, 0, 1, &ratio);
    if (status == YS_OK)
        take(&ratio, noise);
    ys_pairs_ratio_fini(&ratio);
    return status;
}

ys_status ys_noise_measure(const struct ys_job_flag *keys, size_t key_count, const char *const *recipe_dirs,
                           double seconds, struct ys_noise *noise)
{
    char limit[40];
    snprintf(limit, sizeof limit, "%.3fs", seconds);
    const struct ys_arms_key ways[] = {{"env.DOCTOR_TWIN", "{a,b}", YS_ARMS_OURS},
                                       {"time_limit", limit, YS_ARMS_OURS},
                                       {"repeat", "10000", YS_ARMS_OURS},
                                       {"steps", "96", YS_ARMS_USUAL},
                                       {NULL, NULL, YS_ARMS_OURS}};
    const struct ys_pairs_wish wish = {keys, key_count, ways, 10000, recipe_dirs};
    struct ys_pairs pairs;
    ys_record_init(&ys_noise_record, noise);
    YS_TRY(ys_pairs_measure(&wish, 2, &pairs));
    noise->date = ys_machine_note_date();
    noise->host = ys_machine_note_host();
    noise->trial = pairs.trial;
    noise->interleave = ys_strdup(pairs.arms.by_turns ? "blocks" : "runs");
    noise->seconds = pairs.seconds;
    pairs.trial = NULL;
    ys_status status = compare(&pairs, noise);
    if (status == YS_OK && !noise->reason)
        status = ys_noise_keep(noise, pairs.arms.by_turns);
    ys_pairs_fini(&pairs);
    if (status != YS_OK)
        ys_record_fini(&ys_noise_record, noise);
    return status;
}
