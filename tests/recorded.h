/* Runs that were recorded (tests/fixtures/runs): trial, facts and series as the store has them. */
#ifndef YS_TESTS_RECORDED_H
#define YS_TESTS_RECORDED_H

#include "base/json/json.h"
#include "base/mem.h"
#include "crew/facts.h"
#include "metric/metric.h"
#include "metric/result_document.h"
#include "store/store.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

static const char *const recorded_names[] = {"builtin", "builtin-infer", "checkpoints", "pytorch",
                                             "null",    "crashed",       "disturbed"};
enum { RECORDED_RUNS = sizeof recorded_names / sizeof recorded_names[0] };

struct recorded {
    ys_json *doc;
    ys_json *trial, *proof, *facts; /* of doc; they may be changed */
    struct ys_series_set series;
};

/** The result document of a study. */
static inline ys_status result_document(struct ys_store *store, int64_t study_id, unsigned flags, ys_json **document)
{
    struct ys_result result = {0};
    YS_TRY(ys_metric_result_load(store, study_id, flags, &result));
    *document = ys_result_json(&result);
    ys_result_fini(&result);
    return YS_OK;
}

static void recorded_series(const ys_json *columns, struct ys_series_set *series)
{
    for (void *it = ys_json_iter(columns); it; it = ys_json_next(columns, it)) {
        const ys_json *values = ys_json_iter_value(it);
        const bool is_real = strcmp(ys_json_iter_key(it), "step_loss") == 0;
        ys_series_reserve(series, ys_json_iter_key(it), is_real, ys_json_size(values));
        for (size_t i = 0; i < ys_json_size(values); i++)
            if (is_real)
                ys_series_add_real(series, ys_json_iter_key(it), ys_json_number(ys_json_at(values, i), 0));
            else
                ys_series_add_int(series, ys_json_iter_key(it), ys_json_integer(ys_json_at(values, i), 0));
    }
}

/** tests/fixtures/runs/NAME.json; without it the program ends. To be closed with recorded_close(). */
static struct recorded recorded_open(const char *name)
{
    struct recorded run = {0};
    const char *root = getenv("YS_SOURCE_ROOT");
    char *path = ys_format("%s/tests/fixtures/runs/%s.json", root ? root : ".", name);
    if (ys_json_read(path, &run.doc) != YS_OK) {
        printf("# %s\n", ys_error());
        abort();
    }
    ys_free(path);
    run.trial = ys_json_get(run.doc, "trial");
    run.proof = ys_json_get(run.doc, "proof");
    run.facts = ys_json_get(run.doc, "facts");
    recorded_series(ys_json_get(run.doc, "series"), &run.series);
    return run;
}

static void recorded_close(struct recorded *run)
{
    ys_json_free(run->doc);
    ys_series_set_free(&run->series);
}

/** The facts of a recorded run as a document of the caller's own. */
__attribute__((unused)) static ys_json *recorded_facts(const char *name)
{
    struct recorded run = recorded_open(name);
    ys_json *facts = ys_json_copy(run.facts);
    recorded_close(&run);
    return facts;
}

/** All of them as the trials of one study, each with one run and its metrics; the number of the study. */
__attribute__((unused)) static int64_t recorded_study(struct ys_store *store)
{
    int64_t study_id = 0;
    ys_json *study = ys_json_object();
    ys_json_set_string(study, "name", "recorded");
    CHECK(ys_store_study_begin(store, study, &study_id) == YS_OK);
    for (size_t i = 0; i < RECORDED_RUNS; i++) {
        struct recorded run = recorded_open(recorded_names[i]);
        struct ys_trial_record trial = {0};
        struct ys_facts facts;
        int64_t trial_id = 0, run_id = 0;
        ys_json_set_int(run.trial, "index", (int64_t)i);
        CHECK(ys_record_read(&ys_trial_record, run.trial, "a recorded run", &trial) == YS_OK);
        CHECK(ys_store_trial_put(store, study_id, &trial, &trial_id) == YS_OK);
        CHECK(ys_json_type_of(run.proof) != YS_JSON_OBJECT || ys_store_proof_put(store, trial_id, run.proof) == YS_OK);
        CHECK(ys_store_run_put(store, trial_id, 0, 0, run.facts, &run.series, &run_id) == YS_OK);
        CHECK(ys_facts_read(run.facts, "a recorded run", &facts) == YS_OK);
        ys_json *metrics = ys_metric_of_run(run.trial, &facts, &run.series);
        CHECK(ys_store_metric_put(store, run_id, metrics) == YS_OK);
        ys_json_free(metrics);
        ys_facts_fini(&facts);
        ys_record_fini(&ys_trial_record, &trial);
        recorded_close(&run);
    }
    ys_json_free(study);
    return study_id;
}

#endif
