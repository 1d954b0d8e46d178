#include "study/pairs.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/working.h"
#include "metric/metric.h"
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Short runs, yet of blocks enough to tell where their warm-up ends: an interval needs pairs more than it needs steps,
 * and a minute is to hold them. */
static const struct ys_pairs_key usual[] = {{"framework", "builtin"}, {"model", "lenet"}, {"data", "digits"},
                                            {"steps", "96"},          {"block", "3"},     {"batch", "64"}};
static const struct ys_pairs_key always[] = {
    {"audit", "off"}, {"anchor", "off"}, {"keep_log", "off"}, {"name", "doctor"}, {"max_runs", "100000"}};
enum { USUAL = sizeof usual / sizeof usual[0], ALWAYS = sizeof always / sizeof always[0], MOST_WAYS = 8 };

/* What is read of the result document. */
struct rate {
    struct ys_list values; /* double */
};
struct metrics {
    struct rate rate_per_s;
};
struct trial {
    int64_t runs, failed, disturbed;
    char *reason;
    struct metrics metrics;
};
struct document {
    struct ys_list trials; /* struct trial */
};
static const struct ys_field rate_fields[] = {
    YS_FIELD(struct rate, values, YS_FIELD_REALS, NULL, YS_FIELD_LATER, "by round"),
};
static const struct ys_record rate_record = YS_RECORD("rate_per_s", struct rate, rate_fields);
static const struct ys_field metrics_fields[] = {
    YS_FIELD_OF(struct metrics, rate_per_s, YS_FIELD_OBJECT, &rate_record, 0, "of the trial"),
};
static const struct ys_record metrics_record = YS_RECORD("metrics", struct metrics, metrics_fields);
static const struct ys_field trial_fields[] = {
    YS_FIELD(struct trial, runs, YS_FIELD_INT, NULL, 0, "that count"),
    YS_FIELD(struct trial, failed, YS_FIELD_INT, NULL, 0, "of them"),
    YS_FIELD(struct trial, disturbed, YS_FIELD_INT, NULL, 0, "of them"),
    YS_FIELD(struct trial, reason, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why it failed or never ran"),
    YS_FIELD_OF(struct trial, metrics, YS_FIELD_OBJECT, &metrics_record, 0, "by name"),
};
static const struct ys_record trial_record = YS_RECORD("trial", struct trial, trial_fields);
static const struct ys_field document_fields[] = {
    YS_FIELD_OF(struct document, trials, YS_FIELD_LIST, &trial_record, 0, "of the study"),
};
static const struct ys_record document_record = YS_RECORD("result", struct document, document_fields);

static const char *value_of(const struct ys_job_flag *keys, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i].key, key) == 0)
            return keys[i].value;
    return NULL;
}

static const char *chosen(const struct ys_pairs_wish *wish, const char *key)
{
    const char *value = value_of(wish->keys, wish->key_count, key);
    for (size_t i = 0; !value && i < USUAL; i++)
        if (strcmp(usual[i].key, key) == 0)
            value = usual[i].value;
    return value;
}

/* Whether the user says it himself, or in another word for how long a run is. */
static bool is_replaced(const struct ys_pairs_wish *wish, const char *key)
{
    return value_of(wish->keys, wish->key_count, key) ||
           (strcmp(key, "steps") == 0 &&
            (value_of(wish->keys, wish->key_count, "epochs") || value_of(wish->keys, wish->key_count, "requests")));
}

/* A flag that borrows: the job only reads it. */
static struct ys_job_flag flag_of(const struct ys_pairs_key *key)
{
    return (struct ys_job_flag){(char *)(uintptr_t)key->key, (char *)(uintptr_t)key->value};
}

/* A key that this measurement sets is not the user's. */
static ys_status add_own(const struct ys_pairs_wish *wish, const struct ys_pairs_key *key, struct ys_job_flag *flags,
                         size_t *count)
{
    if (value_of(wish->keys, wish->key_count, key->key))
        return ys_fail(YS_EINVAL, "--%s is not yours to choose here: this measurement sets it to %s", key->key,
                       key->value);
    flags[(*count)++] = flag_of(key);
    return YS_OK;
}

static ys_status load_job(const struct ys_pairs_wish *wish, struct ys_job *job)
{
    size_t count = 0;
    struct ys_job_flag *flags = ys_alloc(wish->key_count + USUAL + ALWAYS + MOST_WAYS, sizeof *flags);
    ys_status status = flags ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; flags && i < USUAL; i++)
        if (!is_replaced(wish, usual[i].key))
            flags[count++] = flag_of(&usual[i]);
    for (size_t i = 0; flags && i < wish->key_count; i++)
        flags[count++] = wish->keys[i];
    for (size_t i = 0; status == YS_OK && i < ALWAYS; i++)
        status = add_own(wish, &always[i], flags, &count);
    for (size_t i = 0; status == YS_OK && i < MOST_WAYS && wish->ways[i].key; i++)
        status = add_own(wish, &wish->ways[i], flags, &count);
    struct ys_job_hooks hooks = ys_study_job_hooks(wish->recipe_dirs);
    if (status == YS_OK)
        status = ys_job_load(NULL, flags, count, &hooks, job);
    ys_free(flags);
    return status;
}

static void keep_trial(struct trial *from, struct ys_pairs_trial *to)
{
    *to = (struct ys_pairs_trial){.runs = from->runs,
                                  .failed = from->failed,
                                  .disturbed = from->disturbed,
                                  .reason = from->reason,
                                  .rate_per_s = from->metrics.rate_per_s.values};
    from->reason = NULL;
    from->metrics.rate_per_s.values = (struct ys_list){0};
}

static ys_status read_result(struct ys_store *store, int64_t study_id, struct ys_pairs *pairs)
{
    ys_json *result = NULL;
    struct document document;
    YS_TRY(ys_metric_result(store, study_id, 0, &result));
    ys_status status = ys_record_read(&document_record, result, "the result of doctor's own study", &document);
    ys_json_free(result);
    YS_TRY(status);
    struct ys_pairs_trial *trials = ys_alloc(document.trials.count, sizeof *trials);
    if (trials)
        pairs->trials = (struct ys_list){trials, document.trials.count};
    else
        status = ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < document.trials.count; i++)
        keep_trial((struct trial *)document.trials.items + i, &trials[i]);
    ys_record_fini(&document_record, &document);
    return status;
}

/* Runs the study in a folder that goes with it. */
static ys_status run(const struct ys_pairs_wish *wish, const struct ys_job *job, const char *folder,
                     struct ys_pairs *pairs)
{
    const struct ys_study_options options = {.recipe_dirs = wish->recipe_dirs, .command = "yardstick doctor"};
    struct ys_store *store = NULL;
    int64_t study_id = 0;
    int exit_code = 0;
    YS_TRY(ys_store_open(folder, YS_STORE_WRITE, &store));
    ys_status status = ys_study_run(job, &options, store, &study_id, &exit_code);
    if (status == YS_OK && ys_stop_signal())
        status = ys_stopped();
    if (status == YS_OK)
        status = read_result(store, study_id, pairs);
    if (status == YS_OK)
        status = ys_metric_rounds_of_two(store, study_id, &pairs->ratios, &pairs->biases);
    ys_store_close(store);
    return status;
}

ys_status ys_pairs_measure(const struct ys_pairs_wish *wish, size_t most, struct ys_pairs *pairs)
{
    struct ys_job job = {0};
    struct ys_working working;
    uint64_t start_ns = ys_time_ns();
    *pairs = (struct ys_pairs){0};
    YS_TRY(load_job(wish, &job));
    ys_status status = ys_json_size(job.trials) <= most
                           ? YS_OK
                           : ys_fail(YS_EINVAL, "doctor measures one trial: give each key one value");
    if (status == YS_OK)
        status = ys_working_in_cache("doctor", &working);
    if (status == YS_OK) {
        status = run(wish, &job, working.path, pairs);
        ys_working_remove(&working);
    }
    ys_job_fini(&job);
    ys_progress_clear();
    pairs->trial = ys_format("%s on %s, %s", chosen(wish, "model"), chosen(wish, "data"), chosen(wish, "framework"));
    pairs->seconds = (double)(ys_time_ns() - start_ns) * 1e-9;
    if (status == YS_OK && !pairs->trial)
        status = ys_out_of_memory();
    if (status != YS_OK)
        ys_pairs_fini(pairs);
    return status;
}

void ys_pairs_fini(struct ys_pairs *pairs)
{
    struct ys_pairs_trial *trials = pairs->trials.items;
    for (size_t i = 0; i < pairs->trials.count; i++) {
        ys_free(trials[i].reason);
        ys_free(trials[i].rate_per_s.items);
    }
    ys_free(trials);
    ys_free(pairs->ratios.items);
    ys_free(pairs->biases.items);
    ys_free(pairs->trial);
    *pairs = (struct ys_pairs){0};
}

size_t ys_pairs_match(const struct ys_pairs_trial *a, const struct ys_pairs_trial *b, double *of_a, double *of_b)
{
    const double *x = a->rate_per_s.items, *y = b->rate_per_s.items;
    size_t rounds = a->rate_per_s.count < b->rate_per_s.count ? a->rate_per_s.count : b->rate_per_s.count, count = 0;
    for (size_t i = 0; i < rounds; i++) {
        if (!(x[i] > 0) || !(y[i] > 0))
            continue;
        of_a[count] = x[i];
        of_b[count++] = y[i];
    }
    return count;
}
