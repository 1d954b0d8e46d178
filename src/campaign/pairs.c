#include "campaign/pairs.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "metric/metric.h"

#include <string.h>

/* Short runs, yet of blocks enough to tell where their warm-up ends: an interval needs pairs more than it needs steps,
 * and a minute is to hold them. */
static const struct ys_arms_key usual[] = {
    {"framework", "builtin", YS_ARMS_USUAL}, {"model", "lenet", YS_ARMS_USUAL}, {"data", "digits", YS_ARMS_USUAL},
    {"block", "3", YS_ARMS_USUAL},           {"batch", "64", YS_ARMS_USUAL},    {"audit", "off", YS_ARMS_OURS},
    {"anchor", "off", YS_ARMS_OURS},         {"keep_log", "off", YS_ARMS_OURS}, {"name", "doctor", YS_ARMS_OURS},
    {"max_runs", "100000", YS_ARMS_OURS}};
enum { USUAL = sizeof usual / sizeof usual[0], MOST_WAYS = 8 };

static const char *chosen(const struct ys_pairs_wish *wish, const char *key)
{
    const char *value = NULL;
    for (size_t i = 0; !value && i < wish->key_count; i++)
        value = strcmp(wish->keys[i].key, key) == 0 ? wish->keys[i].value : NULL;
    for (size_t i = 0; !value && i < USUAL; i++)
        value = strcmp(usual[i].key, key) == 0 ? usual[i].value : NULL;
    return value;
}

static ys_status measure(const struct ys_pairs_wish *wish, size_t ways, struct ys_arms *arms)
{
    struct ys_job job;
    struct ys_arms_key keys[USUAL + MOST_WAYS + 1] = {{0}};
    memcpy(keys, usual, sizeof usual);
    for (size_t i = 0; i < MOST_WAYS && wish->ways[i].key; i++)
        keys[USUAL + i] = wish->ways[i];
    YS_TRY(ys_arms_load(NULL, wish->keys, wish->key_count, keys, wish->recipe_dirs, ways, &job));
    const struct ys_arms_wish of = {.job = &job, .recipe_dirs = wish->recipe_dirs, .command = "yardstick doctor"};
    YS_TRY(ys_arms_open(&of, arms));
    return ys_arms_measure(arms, wish->rounds);
}

ys_status ys_pairs_measure(const struct ys_pairs_wish *wish, size_t ways, struct ys_pairs *pairs)
{
    const uint64_t start_ns = ys_time_ns();
    *pairs = (struct ys_pairs){0};
    ys_status status = measure(wish, ways, &pairs->arms);
    ys_progress_clear();
    pairs->trial = ys_format("%s on %s, %s", chosen(wish, "model"), chosen(wish, "data"), chosen(wish, "framework"));
    pairs->seconds = (double)(ys_time_ns() - start_ns) * 1e-9;
    if (status != YS_OK)
        ys_pairs_fini(pairs);
    return status;
}

void ys_pairs_fini(struct ys_pairs *pairs)
{
    ys_arms_close(&pairs->arms);
    ys_free(pairs->trial);
    *pairs = (struct ys_pairs){0};
}

ys_status ys_pairs_compare(const struct ys_pairs *pairs, size_t a, size_t b, struct ys_pairs_ratio *ratio)
{
    const struct ys_arms *arms = &pairs->arms;
    const struct ys_arm *one = &arms->items[a], *other = &arms->items[b];
    *ratio = (struct ys_pairs_ratio){.disturbed = arms->last.trials[a].disturbed + arms->last.trials[b].disturbed,
                                     .why = one->reason ? one->reason : other->reason,
                                     .failed = one->runs == one->failed || other->runs == other->failed};
    YS_TRY(ys_metric_rounds_of(arms->store, arms->study_id, a, b, &ratio->ratios, &ratio->biases));
    const size_t count = ratio->ratios.count;
    double *ones = ys_alloc(count + 1, sizeof *ones), *ends = ys_alloc(2, sizeof *ends);
    ratio->ci.items = ends;
    for (size_t i = 0; i < count; i++)
        ones[i] = 1;
    ys_compare_ratio(ratio->ratios.items, ones, count, YS_BETTER_HIGHER, 0, &ratio->found);
    ys_free(ones);
    ends[0] = ratio->found.interval.lo;
    ends[1] = ratio->found.interval.hi;
    ratio->ci.count = ratio->found.interval.known ? 2 : 0;
    return YS_OK;
}

void ys_pairs_ratio_fini(struct ys_pairs_ratio *ratio)
{
    ys_free(ratio->ratios.items);
    ys_free(ratio->biases.items);
    ys_free(ratio->ci.items);
    *ratio = (struct ys_pairs_ratio){0};
}
