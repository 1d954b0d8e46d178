#include "fixture.h"

#include "tap.h"

struct study {
    char *folder;
    struct ys_store *store;
    int64_t id;
};

static bool open_study(struct study *study)
{
    *study = (struct study){.folder = fake_folder()};
    bool opened = ys_store_open(study->folder, YS_STORE_WRITE, &study->store) == YS_OK;
    return tap_check(opened, __LINE__, "%s", opened ? "" : ys_error());
}

static void close_study(struct study *study, ys_json *result)
{
    ys_json_free(result);
    ys_store_close(study->store);
    CHECK(ys_fs_remove_tree(study->folder) == YS_OK);
}

static ys_json *result_of(const struct study *study, unsigned flags)
{
    ys_json *result = NULL;
    ys_status status = result_document(study->store, study->id, flags, &result);
    tap_check(status == YS_OK, __LINE__, "%s", status == YS_OK ? "" : ys_error());
    return result;
}

static const char *told_timing = "{\"prepare_s\":0.84,\"prove_s\":9.7,\"measure_s\":186.25}";

/* The study of the fixture, ended, and a trial that is missing. */
static ys_json *whole_study(struct study *study, int rounds, int failing)
{
    if (!open_study(study) ||
        !CHECK(fake_study(study->store, fake_trials, FAKE_TRIALS, rounds, failing, &study->id) == YS_OK))
        return NULL;
    ys_json *missing = fake_missing_json(FAKE_TRIALS), *timing = fake_json(told_timing);
    int64_t trial_id;
    CHECK(fake_put_trial(study->store, study->id, missing, &trial_id) == YS_OK);
    CHECK(ys_store_study_end(study->store, study->id, YS_STUDY_DONE, failing >= 0 ? 1 : 0, timing) == YS_OK);
    ys_json_free(missing);
    ys_json_free(timing);
    return result_of(study, YS_RESULT_RUNS);
}

static const ys_json *trial_at(const ys_json *result, size_t index)
{
    return ys_json_at(ys_json_get(result, "trials"), index);
}

static const ys_json *metric_of(const ys_json *result, size_t trial, const char *name)
{
    return ys_json_get(ys_json_get(trial_at(result, trial), "metrics"), name);
}

/* Writes the document where YS_SAMPLE_RESULT says: an example for those who read such documents. */
static void a_study_becomes_a_document_that_reads_back_equal(void)
{
    struct study study;
    ys_json *result = whole_study(&study, 7, 4), *back = NULL;
    REQUIRE(result);
    CHECK_TEXT(ys_json_get_text(result, "schema", ""), "yardstick/result/1");
    char *text = ys_json_dump(result, YS_JSON_COMPACT);
    REQUIRE(text && ys_json_parse(text, strlen(text), "result", &back) == YS_OK);
    CHECK(ys_json_equal(result, back));
    CHECK(!strstr(text, "NaN") && !strstr(text, "Infinity"));
    const char *path = getenv("YS_SAMPLE_RESULT");
    if (path)
        CHECK_INT(ys_json_write(path, result), YS_OK);
    ys_free(text);
    ys_json_free(back);
    close_study(&study, result);
}

static void the_study_block_tells_what_was_done(void)
{
    struct study study;
    ys_json *result = whole_study(&study, 2, -1);
    const ys_json *block = ys_json_get(result, "study");
    CHECK_TEXT(ys_json_get_text(block, "name", ""), "first");
    CHECK_TEXT(ys_json_get_text(block, "folder", ""), "001-first");
    CHECK_TEXT(ys_json_get_text(block, "started", ""), "2026-11-21T03:58:02Z");
    CHECK_INT(strlen(ys_json_get_text(block, "ended", "")), 20);
    CHECK_TEXT(ys_json_get_text(block, "status", ""), "done");
    CHECK_INT(ys_json_get_int(block, "repeat", 0), 2);
    CHECK_INT(ys_json_get_int(block, "rounds", 0), 2);
    CHECK(ys_json_get_number(block, "margin", 0) == 0.02);
    CHECK_INT(strlen(ys_json_get_text(block, "job_hash", "")), 64);
    CHECK_HAS(ys_json_get_text(block, "job_text", ""), "threads = {1, 2}");
    CHECK_INT(ys_json_get_int(ys_json_at(ys_json_get(result, "work"), 0), "parameters", 0), 3274634);
    CHECK_INT(ys_json_get_int(ys_json_get(result, "host"), "cpus", 0), 2);
    close_study(&study, result);
}

static void trial_metrics_are_medians_over_rounds(void)
{
    struct study study;
    ys_json *result = whole_study(&study, 7, -1);
    const ys_json *rate = metric_of(result, 0, "rate_per_s"), *values = ys_json_get(rate, "values");
    double sorted[7];
    REQUIRE(ys_json_size(values) == 7);
    for (size_t i = 0; i < 7; i++)
        sorted[i] = ys_json_number(ys_json_at(values, i), NAN);
    ys_stat_sort(sorted, 7);
    CHECK(ys_json_get_number(rate, "value", 0) == sorted[3]);
    CHECK(ys_json_number(ys_json_at(ys_json_get(rate, "ci"), 0), 0) == sorted[0]);
    CHECK(ys_json_number(ys_json_at(ys_json_get(rate, "ci"), 1), 0) == sorted[6]);
    CHECK(ys_json_get_number(rate, "min", 0) == sorted[0] && ys_json_get_number(rate, "max", 0) == sorted[6]);
    CHECK_NEAR(ys_json_get_number(rate, "level", 0), 1 - 2.0 / 128, 1e-15); /* exp and log round once each */
    CHECK_INT(ys_json_get_int(rate, "n", 0), 7);
    CHECK_INT(ys_json_get_int(rate, "steady_runs", 0), 7);
    CHECK_TEXT(ys_json_get_text(rate, "unit", ""), "1/s");
    close_study(&study, result);
}

static void five_rounds_have_no_interval(void)
{
    struct study study;
    ys_json *result = whole_study(&study, 5, -1);
    const ys_json *rate = metric_of(result, 0, "rate_per_s");
    CHECK_INT(ys_json_get_int(rate, "n", 0), 5);
    CHECK(ys_json_get(rate, "ci") && ys_json_type_of(ys_json_get(rate, "ci")) == YS_JSON_NULL);
    CHECK(ys_json_get(rate, "level") && ys_json_type_of(ys_json_get(rate, "level")) == YS_JSON_NULL);
    close_study(&study, result);
}

static void a_failed_run_is_a_row_and_never_a_speed(void)
{
    struct study study;
    ys_json *result = whole_study(&study, 7, 4);
    const ys_json *trial = trial_at(result, 3), *values = ys_json_get(metric_of(result, 3, "rate_per_s"), "values");
    CHECK_TEXT(ys_json_get_text(trial, "status", ""), "crashed");
    CHECK_TEXT(ys_json_get_text(trial, "stage", ""), "train");
    CHECK_HAS(ys_json_get_text(trial, "reason", ""), "signal 11");
    CHECK_INT(ys_json_get_int(trial, "runs", 0), 7);
    CHECK_INT(ys_json_get_int(trial, "failed", 0), 1);
    CHECK_INT(ys_json_get_int(metric_of(result, 3, "rate_per_s"), "n", 0), 6);
    REQUIRE(ys_json_size(values) == 7);
    CHECK(ys_json_type_of(ys_json_at(values, 4)) == YS_JSON_NULL);
    CHECK(ys_json_type_of(ys_json_at(values, 5)) == YS_JSON_REAL);
    const ys_json *run = ys_json_at(ys_json_get(trial, "runs_detail"), 4);
    CHECK_TEXT(ys_json_get_text(run, "status", ""), "crashed");
    CHECK_HAS(ys_json_get_text(run, "log_tail", ""), "Segmentation fault");
    CHECK(!ys_json_get_bool(run, "matched", true));
    CHECK(ys_json_type_of(ys_json_get(ys_json_get(run, "metrics"), "rate_per_s")) == YS_JSON_NULL);
    close_study(&study, result);
}

static void a_missing_framework_is_a_row_with_its_remedy(void)
{
    struct study study;
    ys_json *result = whole_study(&study, 2, -1);
    const ys_json *trial = trial_at(result, 4);
    CHECK_TEXT(ys_json_get_text(trial, "status", ""), "missing");
    CHECK_TEXT(ys_json_get_text(trial, "command", ""), "yardstick install jax@0.10.2");
    CHECK_INT(ys_json_get_int(trial, "runs", -1), 0);
    CHECK_HAS(ys_json_get_text(metric_of(result, 4, "wall_s"), "reason", ""), "missing");
    close_study(&study, result);
}

static void runs_come_only_when_asked_for(void)
{
    struct study study;
    ys_json *result = whole_study(&study, 1, -1), *brief = result_of(&study, 0);
    CHECK(ys_json_get(trial_at(result, 0), "runs_detail"));
    CHECK(!ys_json_get(trial_at(brief, 0), "runs_detail"));
    ys_json_free(brief);
    close_study(&study, result);
}

static void curves_and_samples_of_a_run_are_in_its_detail(void)
{
    struct study study;
    ys_json *result = whole_study(&study, 2, -1);
    const ys_json *run = ys_json_at(ys_json_get(trial_at(result, 2), "runs_detail"), 1);
    CHECK_INT(ys_json_size(ys_json_get(run, "loss")), FAKE_STEPS);
    const ys_json *blocks = ys_json_get(run, "blocks"), *samples = ys_json_get(run, "samples");
    CHECK(ys_json_get_int(blocks, "rank", -1) == 0 && ys_json_get_int(samples, "rank", -1) == 0);
    CHECK_INT(ys_json_size(ys_json_get(blocks, "end_s")), 61);
    CHECK_INT(ys_json_size(ys_json_get(blocks, "step_s")), 61);
    CHECK_INT(ys_json_get_int(blocks, "steady_from", 0), 3); /* the first step and two slow blocks */
    CHECK(ys_json_get_bool(blocks, "steady", false));
    size_t n = ys_json_size(ys_json_get(samples, "t_s"));
    CHECK(n > 10);
    CHECK_INT(ys_json_size(ys_json_get(samples, "cpu_cores")), n);
    CHECK_INT(ys_json_size(ys_json_get(samples, "rss_bytes")), n);
    CHECK_NEAR(ys_json_number(ys_json_at(ys_json_get(samples, "t_s"), 0), 0), 0.1, 1e-12);
    CHECK_NEAR(ys_json_number(ys_json_at(ys_json_get(samples, "cpu_cores"), n - 1), 0), 0.985, 1e-6);
    CHECK(ys_json_get_bool(run, "matched", false));
    close_study(&study, result);
}

/* A sample is stamped after its time was read, by as much as a busy machine likes. */
static void two_samples_that_are_close_are_no_rate(void)
{
    struct study study;
    fake_late_ns = 99400000; /* 0.6 ms before the next */
    ys_json *result = whole_study(&study, 1, -1);
    fake_late_ns = 0;
    const ys_json *run = ys_json_at(ys_json_get(trial_at(result, 2), "runs_detail"), 0),
                  *cores = ys_json_get(ys_json_get(run, "samples"), "cpu_cores");
    CHECK(ys_json_size(cores) > 2);
    for (size_t i = 0; i < ys_json_size(cores); i++)
        CHECK(ys_json_number(ys_json_at(cores, i), 0) <= 1.0);
    close_study(&study, result);
}

static void the_harness_says_what_it_cost(void)
{
    struct study study;
    ys_json *result = whole_study(&study, 2, -1);
    const ys_json *harness = ys_json_get(result, "harness");
    CHECK_NEAR(ys_json_get_number(ys_json_get(harness, "cpu_share"), "value", 0), 0.0007,
               1e-6); /* whole nanoseconds of seconds */
    CHECK_NEAR(ys_json_get_number(ys_json_get(harness, "lateness_max_s"), "value", 0), 0.00018, 1e-12);
    double walls = 0;
    for (size_t t = 0; t < FAKE_TRIALS; t++) {
        for (size_t r = 0; r < 2; r++)
            walls += ys_json_number(ys_json_at(ys_json_get(metric_of(result, t, "wall_s"), "values"), r), NAN);
    }
    CHECK_NEAR(ys_json_get_number(harness, "overhead_s", 0), 186.25 - walls, 1e-9); /* sums near 200 in any order */
    close_study(&study, result);
}

/* Its runs are there, and may be longer than what was told of the sessions that ended. */
static void what_a_killed_session_took_is_unknown_and_not_below_nothing(void)
{
    struct study study;
    const char *whole = told_timing;
    told_timing = "{\"prepare_s\":0.84,\"prove_s\":9.7,\"measure_s\":0.5}";
    ys_json *result = whole_study(&study, 2, -1);
    const ys_json *harness = ys_json_get(result, "harness");
    CHECK(harness && ys_json_type_of(ys_json_get(harness, "overhead_s")) == YS_JSON_NULL);
    close_study(&study, result);
    told_timing = whole;
}

static void deviations_and_options_are_told(void)
{
    struct study study;
    REQUIRE(open_study(&study));
    struct fake_trial trial = fake_trials[2];
    CHECK(fake_study(study.store, &trial, 1, 1, -1, &study.id) == YS_OK);
    ys_json *json = fake_trial_json(&trial, 0);
    int64_t id;
    ys_json_set_bool(ys_json_get(json, "options"), "compile", true);
    ys_json_set_string(ys_json_get(json, "keys"), "precision", "bf16");
    CHECK(fake_put_trial(study.store, study.id, json, &id) == YS_OK);
    ys_json *result = result_of(&study, 0),
            *expected = fake_json("[\"channels_last memory format\",\"option compile = true\",\"precision bf16\"]");
    CHECK(ys_json_equal(ys_json_get(trial_at(result, 0), "deviations"), expected));
    ys_json_free(expected);
    ys_json_free(json);
    close_study(&study, result);
}

static void differences_of_environment_are_told(void)
{
    struct study study;
    ys_json *result = whole_study(&study, 1, -1);
    const ys_json *differences = ys_json_get(result, "environment_differences");
    static const char *const expected[] = {"runtime", "libraries", "threads", "threads"};
    REQUIRE(ys_json_size(differences) == 4);
    for (size_t i = 0; i < 4; i++)
        CHECK_TEXT(ys_json_get_text(ys_json_at(differences, i), "what", ""), expected[i]);
    CHECK_HAS(ys_json_get_text(ys_json_at(differences, 0), "text", ""), "native; CPython 3.11.7");
    CHECK_HAS(ys_json_get_text(ys_json_at(differences, 2), "text", ""), "asked for 1 thread and had up to 2");
    CHECK_INT(ys_json_size(ys_json_get(ys_json_at(ys_json_get(ys_json_at(differences, 1), "values"), 0), "trials")), 2);
    close_study(&study, result);
}

static void equal_environments_are_not_mentioned(void)
{
    struct study study;
    REQUIRE(open_study(&study));
    CHECK(fake_study(study.store, fake_trials, 2, 2, -1, &study.id) == YS_OK); /* the built-in engine alone */
    ys_json *result = result_of(&study, 0);
    CHECK_INT(ys_json_size(ys_json_get(result, "environment_differences")), 0);
    close_study(&study, result);
}

static void a_recipe_of_the_user_and_changed_files_are_differences(void)
{
    struct study study;
    REQUIRE(open_study(&study));
    CHECK(fake_study(study.store, fake_trials, 1, 1, -1, &study.id) == YS_OK);
    ys_json *json = fake_trial_json(&fake_trials[2], 1), *framework = ys_json_get(json, "framework");
    int64_t id;
    ys_json_set_string(framework, "recipe", "/home/me/pytorch.recipe");
    ys_json_set_string(framework, "changes", "1 file of pytorch@2 is not as it was installed (a.py changed)");
    CHECK(fake_put_trial(study.store, study.id, json, &id) == YS_OK);
    ys_json *result = result_of(&study, 0);
    const ys_json *differences = ys_json_get(result, "environment_differences"), *recipe = ys_json_at(differences, 0);
    REQUIRE(ys_json_size(differences) == 2);
    CHECK_TEXT(ys_json_get_text(recipe, "what", ""), "recipe");
    CHECK_HAS(ys_json_get_text(recipe, "text", ""), "/home/me/pytorch.recipe");
    CHECK_INT(ys_json_size(ys_json_get(ys_json_at(ys_json_get(recipe, "values"), 0), "trials")), 1);
    CHECK_TEXT(ys_json_get_text(ys_json_at(differences, 1), "what", ""), "files");
    CHECK_HAS(ys_json_get_text(ys_json_at(differences, 1), "text", ""), "a.py changed");
    CHECK_TEXT(ys_json_get_text(ys_json_get(trial_at(result, 1), "framework"), "recipe", ""),
               "/home/me/pytorch.recipe");
    ys_json_free(json);
    close_study(&study, result);
}

static void a_study_that_still_runs_can_be_read(void)
{
    struct study study;
    REQUIRE(open_study(&study));
    CHECK(fake_study(study.store, fake_trials, 2, 0, -1, &study.id) == YS_OK);
    ys_json *result = result_of(&study, YS_RESULT_RUNS);
    CHECK_TEXT(ys_json_get_text(ys_json_get(result, "study"), "status", ""), "running");
    CHECK(ys_json_type_of(ys_json_get(ys_json_get(result, "study"), "ended")) == YS_JSON_NULL);
    CHECK_TEXT(ys_json_get_text(trial_at(result, 0), "status", ""), "cancelled");
    CHECK_INT(ys_json_size(ys_json_get(result, "comparisons")), 0);
    close_study(&study, result);
}

/* Removes the stored metrics by storing none. */
static void forget_metrics(const struct study *study, size_t runs)
{
    ys_json *none = ys_json_object();
    for (size_t i = 1; i <= runs; i++)
        CHECK(ys_store_metric_put(study->store, (int64_t)i, none) == YS_OK);
    ys_json_free(none);
}

static void metrics_that_were_lost_are_computed_again_the_same(void)
{
    struct study study;
    ys_json *result = whole_study(&study, 2, 1);
    forget_metrics(&study, 8);
    ys_json *again = result_of(&study, YS_RESULT_RUNS);
    CHECK(ys_json_equal(result, again));
    ys_json_free(again);
    CHECK(fake_measure_again(study.store, study.id) == YS_OK);
    ys_json *runs = NULL;
    REQUIRE(ys_store_runs_get(study.store, 1, &runs) == YS_OK);
    CHECK(ys_json_size(ys_json_get(ys_json_at(runs, 0), "metrics")) > 20);
    ys_json_free(runs);
    again = result_of(&study, YS_RESULT_RUNS);
    CHECK(ys_json_equal(result, again));
    ys_json_free(again);
    close_study(&study, result);
}

/* Stores for every run a rate of 1, as version `version` would have computed it (0: without saying). */
static void spoil_rates(const struct study *study, size_t runs, int64_t version)
{
    for (size_t i = 1; i <= runs; i++) {
        ys_json *spoilt = fake_json("{\"rate_per_s\":{\"value\":1,\"unit\":\"1/s\",\"steady\":true}}");
        ys_json *said = ys_json_object();
        CHECK(ys_json_set_int(said, "value", version) == YS_OK);
        CHECK(!version || ys_json_set(spoilt, "metrics_version", ys_json_ref(said)) == YS_OK);
        CHECK(ys_store_metric_put(study->store, (int64_t)i, spoilt) == YS_OK);
        ys_json_free(said);
        ys_json_free(spoilt);
    }
}

static void metrics_of_another_version_are_computed_again_and_stay_stored(void)
{
    struct study study;
    ys_json *result = whole_study(&study, 2, -1), *runs = NULL;
    spoil_rates(&study, 8, YS_METRIC_VERSION + 1);
    ys_json *again = result_of(&study, YS_RESULT_RUNS);
    CHECK(ys_json_equal(result, again));
    CHECK_INT(ys_json_get_int(ys_json_get(again, "harness"), "metrics_version", 0), YS_METRIC_VERSION);
    ys_json_free(again);
    REQUIRE(ys_store_runs_get(study.store, 1, &runs) == YS_OK); /* a reader writes nothing */
    const ys_json *stored = ys_json_get(ys_json_at(runs, 0), "metrics");
    CHECK_INT(ys_json_get_int(ys_json_get(stored, "rate_per_s"), "value", 0), 1);
    ys_json_free(runs);
    close_study(&study, result);
}

static void metrics_of_this_version_are_taken_as_they_are(void)
{
    struct study study;
    ys_json_free(whole_study(&study, 2, -1));
    spoil_rates(&study, 8, YS_METRIC_VERSION);
    ys_json *result = result_of(&study, YS_RESULT_RUNS);
    CHECK_INT(ys_json_get_int(metric_of(result, 0, "rate_per_s"), "value", 0), 1);
    const ys_json *run = ys_json_at(ys_json_get(trial_at(result, 0), "runs_detail"), 0);
    CHECK(!ys_json_get(ys_json_get(run, "metrics"), "metrics_version")); /* it is no metric */
    close_study(&study, result);
}

static void what_is_stored_says_its_version(void)
{
    struct study study;
    ys_json *result = whole_study(&study, 1, -1), *runs = NULL;
    CHECK(fake_measure_again(study.store, study.id) == YS_OK);
    REQUIRE(ys_store_runs_get(study.store, 1, &runs) == YS_OK);
    const ys_json *stored = ys_json_get(ys_json_at(runs, 0), "metrics");
    CHECK_INT(ys_json_get_int(ys_json_get(stored, "metrics_version"), "value", 0), YS_METRIC_VERSION);
    ys_json_free(runs);
    close_study(&study, result);
}

/* A page draws some curves; the first runs have them, and those that failed are told without. */
static void a_page_has_the_curves_that_it_draws(void)
{
    struct study study;
    enum { ROUNDS = YS_RESULT_DRAWN_RUNS / FAKE_TRIALS + 5, FAILING = ROUNDS - 2 };
    REQUIRE(open_study(&study));
    CHECK(fake_study(study.store, fake_trials, FAKE_TRIALS, ROUNDS, FAILING, &study.id) == YS_OK);
    ys_json *result = result_of(&study, YS_RESULT_PAGE);
    for (size_t t = 0; t < FAKE_TRIALS; t++) {
        const ys_json *runs = ys_json_get(trial_at(result, t), "runs_detail");
        bool failed = t == FAKE_TRIALS - 1;
        CHECK_INT(ys_json_size(runs), YS_RESULT_DRAWN_RUNS / FAKE_TRIALS + failed);
        CHECK(ys_json_size(ys_json_get(ys_json_at(runs, 3), "loss")) > 0);
        const ys_json *last = failed ? ys_json_at(runs, ys_json_size(runs) - 1) : NULL;
        CHECK(!failed || ys_json_size(ys_json_get(last, "loss")) == 0);
        CHECK_INT(ys_json_get_int(last, "round", FAILING), FAILING);
    }
    close_study(&study, result);
}

static void recomputing_finds_the_multiply_adds_in_the_study(void)
{
    struct study study;
    REQUIRE(open_study(&study));
    CHECK(fake_study(study.store, fake_trials, 1, 1, -1, &study.id) == YS_OK);
    ys_json *trial = fake_trial_json(&fake_trials[0], 0); /* without the member `work` */
    int64_t id;
    CHECK(fake_put_trial(study.store, study.id, trial, &id) == YS_OK);
    CHECK(fake_measure_again(study.store, study.id) == YS_OK);
    ys_json *result = result_of(&study, 0);
    CHECK_INT(ys_json_get_int(metric_of(result, 0, "multiply_adds"), "value", 0), 13886464);
    ys_json_free(trial);
    close_study(&study, result);
}

static void a_study_that_does_not_exist_has_no_result(void)
{
    struct study study;
    ys_json *result = NULL;
    REQUIRE(open_study(&study));
    CHECK(result_document(study.store, 3, 0, &result) == YS_ENOTFOUND);
    CHECK(!result);
    close_study(&study, NULL);
}

TAP_MAIN(TAP_CASE(a_study_becomes_a_document_that_reads_back_equal), TAP_CASE(the_study_block_tells_what_was_done),
         TAP_CASE(trial_metrics_are_medians_over_rounds), TAP_CASE(five_rounds_have_no_interval),
         TAP_CASE(a_failed_run_is_a_row_and_never_a_speed), TAP_CASE(a_missing_framework_is_a_row_with_its_remedy),
         TAP_CASE(runs_come_only_when_asked_for), TAP_CASE(curves_and_samples_of_a_run_are_in_its_detail),
         TAP_CASE(two_samples_that_are_close_are_no_rate), TAP_CASE(the_harness_says_what_it_cost),
         TAP_CASE(what_a_killed_session_took_is_unknown_and_not_below_nothing),
         TAP_CASE(deviations_and_options_are_told), TAP_CASE(differences_of_environment_are_told),
         TAP_CASE(equal_environments_are_not_mentioned),
         TAP_CASE(a_recipe_of_the_user_and_changed_files_are_differences),
         TAP_CASE(a_study_that_still_runs_can_be_read), TAP_CASE(metrics_that_were_lost_are_computed_again_the_same),
         TAP_CASE(metrics_of_another_version_are_computed_again_and_stay_stored),
         TAP_CASE(metrics_of_this_version_are_taken_as_they_are), TAP_CASE(what_is_stored_says_its_version),
         TAP_CASE(a_page_has_the_curves_that_it_draws), TAP_CASE(recomputing_finds_the_multiply_adds_in_the_study),
         TAP_CASE(a_study_that_does_not_exist_has_no_result))
