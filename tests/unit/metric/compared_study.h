/* A study that is compared, and what its document says of the comparisons. */
#ifndef YS_TESTS_METRIC_COMPARED_STUDY_H
#define YS_TESTS_METRIC_COMPARED_STUDY_H

#include "fixture.h"
#include "tap.h"

struct study {
    char *folder;
    struct ys_store *store;
    int64_t id;
};

static ys_json *compare(struct study *study, const struct fake_trial *trials, int count, int rounds, int failing)
{
    ys_json *result = NULL;
    *study = (struct study){.folder = fake_folder()};
    ys_status status = ys_store_open(study->folder, YS_STORE_WRITE, &study->store);
    if (status == YS_OK)
        status = fake_study(study->store, trials, count, rounds, failing, &study->id);
    if (status == YS_OK)
        status = result_document(study->store, study->id, YS_RESULT_RUNS, &result);
    tap_check(status == YS_OK, __LINE__, "%s", status == YS_OK ? "" : ys_error());
    return result;
}

static ys_json *compare_again(struct study *study)
{
    ys_json *result = NULL;
    CHECK(result_document(study->store, study->id, YS_RESULT_RUNS, &result) == YS_OK);
    return result;
}

static void end(struct study *study, ys_json *result)
{
    ys_json_free(result);
    ys_store_close(study->store);
    CHECK(ys_fs_remove_tree(study->folder) == YS_OK);
}

/* The comparison of `metric` in which `factor` varies; the first such. */
static const ys_json *find(const ys_json *result, const char *metric, const char *factor)
{
    const ys_json *all = ys_json_get(result, "comparisons");
    for (size_t i = 0; i < ys_json_size(all); i++) {
        const ys_json *one = ys_json_at(all, i);
        if (strcmp(ys_json_get_text(one, "metric", ""), metric) == 0 &&
            strcmp(ys_json_get_text(one, "varies", ""), factor) == 0)
            return one;
    }
    return NULL;
}

static const double *ends(const ys_json *comparison, double pair[2])
{
    for (size_t i = 0; i < 2; i++)
        pair[i] = ys_json_number(ys_json_at(ys_json_get(comparison, "ci"), i), NAN);
    return pair;
}

/* One more run of trial `index`, whose id in the store is one more. */
static void add_run(struct study *study, const struct fake_trial *trial, int index, struct fake_run run)
{
    ys_json *json = fake_trial_json(trial, index);
    CHECK(fake_put_run(study->store, trial, json, index + 1, &run) == YS_OK);
    ys_json_free(json);
}

#endif
