#include "campaign/perturbation.h"

#include "base/mem.h"
#include "framework/framework.h"
#include "prepare/machine_notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The trials of the job below, in its order. */
enum { WATCHED, WATCHED_WITH_PERF, ALONE, TRIALS };

static const struct {
    const char *what;
    size_t watched, not_watched;
} compared[] = {{"10 samples a second", WATCHED, ALONE}, {"perf = on", WATCHED_WITH_PERF, WATCHED}};
enum { COMPARED = sizeof compared / sizeof compared[0], MOST_FRAMEWORKS = 2 };

#define OF_ONE(member, kind, flags, what) YS_FIELD(struct ys_perturbed, member, kind, NULL, flags, what)
static const struct ys_field one_fields[] = {
    OF_ONE(trial, YS_FIELD_TEXT, 0, "what was watched"),
    OF_ONE(what, YS_FIELD_TEXT, 0, "how"),
    OF_ONE(pairs, YS_FIELD_INT, 0, "rounds with a speed of both"),
    OF_ONE(disturbed, YS_FIELD_INT, 0, "disturbed runs of both"),
    OF_ONE(ratio, YS_FIELD_REAL, YS_FIELD_NULL, "speed when watched over speed when not, centre"),
    OF_ONE(ci, YS_FIELD_REALS, 0, "its interval"),
    OF_ONE(level, YS_FIELD_REAL, YS_FIELD_NULL, "of that interval"),
    OF_ONE(resolution, YS_FIELD_REAL, YS_FIELD_NULL, "the smallest difference found nine times of ten"),
    OF_ONE(reason, YS_FIELD_TEXT, YS_FIELD_NULL, "why there is no ratio or no interval"),
};
static const struct ys_record one_record = YS_RECORD("found", struct ys_perturbed, one_fields);
static const struct ys_field fields[] = {
    YS_FIELD(struct ys_perturbation, date, YS_FIELD_TEXT, NULL, 0, "when"),
    YS_FIELD(struct ys_perturbation, host, YS_FIELD_TEXT, NULL, 0, "where"),
    YS_FIELD(struct ys_perturbation, seconds, YS_FIELD_REAL, "s", 0, "that it took"),
    YS_FIELD_OF(struct ys_perturbation, found, YS_FIELD_LIST, &one_record, 0, "by training and way of watching"),
};
const struct ys_record ys_perturbation_record = YS_RECORD("perturbation", struct ys_perturbation, fields);

/* Takes the interval of `ratio`. */
static void take(struct ys_pairs_ratio *ratio, struct ys_perturbed *one)
{
    one->pairs = (int64_t)ratio->ratios.count;
    one->disturbed = ratio->disturbed;
    one->ratio = ratio->found.value;
    one->level = ratio->found.interval.level;
    one->resolution = ratio->found.resolution;
    one->ci = ratio->ci;
    ratio->ci = (struct ys_list){0};
    if (!one->ci.count)
        one->reason = ys_format("%lld pairs, an interval needs %d: %s", (long long)one->pairs, YS_STAT_INTERVAL_MIN,
                                ratio->why ? ratio->why : "ask for as many with --times");
}

static ys_status compare(const struct ys_pairs *pairs, size_t at, struct ys_perturbed *one)
{
    struct ys_pairs_ratio ratio;
    ys_record_init(&one_record, one);
    one->trial = ys_strdup(pairs->trial);
    one->what = ys_strdup(compared[at].what);
    ys_status status = ys_pairs_compare(pairs, compared[at].watched, compared[at].not_watched, &ratio);
    if (status == YS_OK)
        take(&ratio, one);
    ys_pairs_ratio_fini(&ratio);
    return status;
}

/* `asked` is without its ways. */
static ys_status measure_one(const struct ys_pairs_wish *asked, struct ys_perturbation *perturbation)
{
    char repeat[16];
    snprintf(repeat, sizeof repeat, "%d", asked->rounds);
    const struct ys_arms_key ways[] = {{"sample_hz", "{10,0}", YS_ARMS_OURS},
                                       {"perf", "{off,on}", YS_ARMS_OURS},
                                       {"exclude", "sample_hz=0 perf=on", YS_ARMS_OURS},
                                       {"repeat", repeat, YS_ARMS_OURS},
                                       {"interleave", "auto", YS_ARMS_USUAL},
                                       {"steps", "132", YS_ARMS_USUAL},
                                       {NULL, NULL, YS_ARMS_OURS}};
    struct ys_pairs_wish wish = *asked;
    wish.ways = ways;
    struct ys_pairs pairs;
    struct ys_perturbed *found = perturbation->found.items;
    YS_TRY(ys_pairs_measure(&wish, TRIALS, &pairs));
    perturbation->seconds += pairs.seconds;
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < COMPARED; i++)
        status = compare(&pairs, i, &found[perturbation->found.count++]);
    ys_pairs_fini(&pairs);
    return status;
}

static bool is_ready(const char *name, const char *const *recipe_dirs)
{
    struct ys_framework *framework = NULL;
    bool ready = ys_framework_find(name, recipe_dirs, &framework) == YS_OK && framework->state == YS_FRAMEWORK_READY;
    ys_framework_free(framework);
    return ready;
}

static ys_status measure_all(const struct ys_pairs_wish *asked, struct ys_perturbation *perturbation)
{
    bool is_chosen = false;
    for (size_t i = 0; i < asked->key_count; i++)
        is_chosen |= strcmp(asked->keys[i].key, "framework") == 0;
    YS_TRY(measure_one(asked, perturbation));
    if (is_chosen || !is_ready("pytorch", asked->recipe_dirs))
        return YS_OK;
    char framework[] = "framework", pytorch[] = "pytorch";
    struct ys_job_flag *keys = ys_alloc(asked->key_count + 1, sizeof *keys);
    for (size_t i = 0; i < asked->key_count; i++)
        keys[i] = asked->keys[i];
    keys[asked->key_count] = (struct ys_job_flag){.key = framework, .value = pytorch};
    struct ys_pairs_wish another = *asked;
    another.keys = keys;
    another.key_count++;
    ys_status status = measure_one(&another, perturbation);
    ys_free(keys);
    return status;
}

ys_status ys_perturbation_measure(const struct ys_job_flag *keys, size_t key_count, const char *const *recipe_dirs,
                                  int pairs, struct ys_perturbation *perturbation)
{
    const struct ys_pairs_wish asked = {keys, key_count, NULL, pairs, recipe_dirs};
    ys_record_init(&ys_perturbation_record, perturbation);
    perturbation->seconds = 0;
    perturbation->date = ys_machine_note_date();
    perturbation->host = ys_machine_note_host();
    perturbation->found.items = ys_alloc(COMPARED * MOST_FRAMEWORKS, sizeof(struct ys_perturbed));
    ys_status status = measure_all(&asked, perturbation);
    if (status == YS_OK)
        status = ys_machine_note_keep("perturbation", &ys_perturbation_record, perturbation);
    if (status != YS_OK)
        ys_record_fini(&ys_perturbation_record, perturbation);
    return status;
}
