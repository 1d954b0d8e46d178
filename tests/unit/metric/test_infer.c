/* The metrics of runs that answer requests. */
#include "fixture.h"

#include "tap.h"

enum { REQUESTS = 501, BATCH = 4 };

struct infer_run {
    ys_json *trial, *facts, *metrics;
    struct ys_series_set series;
};

static struct infer_run run_of(int requests)
{
    struct infer_run run = {.trial = fake_jsonf("{\"keys\":{\"mode\":\"infer\",\"batch\":%d}}", BATCH)};
    run.facts = fake_infer_facts(requests, 100, &run.series);
    return run;
}

static void compute(struct infer_run *run)
{
    CHECK(fake_metrics_of(run->trial, run->facts, &run->series, &run->metrics) == YS_OK);
}

static void finish(struct infer_run *run)
{
    ys_json_free(run->trial);
    ys_json_free(run->facts);
    ys_json_free(run->metrics);
    ys_series_set_free(&run->series);
}

static const ys_json *metric(const struct infer_run *run, const char *name)
{
    return ys_json_get(run->metrics, name);
}

static double value(const struct infer_run *run, const char *name)
{
    return ys_json_get_number(metric(run, name), "value", NAN);
}

static const char *reason(const struct infer_run *run, const char *name)
{
    return ys_json_get_text(metric(run, name), "reason", "");
}

static bool parts_sum_to_wall(const struct infer_run *run)
{
    static const char *const parts[] = {"start_s", "build_s", "first_step_s", "warmup_s", "train_s",
                                        "infer_s", "eval_s",  "save_s",       "stop_s",   "rest_s"};
    long long sum_ns = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        sum_ns += isnan(value(run, parts[i])) ? 0 : llround(value(run, parts[i]) * 1e9);
    return sum_ns == llround(value(run, "wall_s") * 1e9);
}

static void times_are_those_of_the_requests(void)
{
    struct infer_run run = run_of(REQUESTS);
    compute(&run);
    CHECK(value(&run, "start_s") == 0.010 && value(&run, "build_s") == 0.020);
    CHECK(value(&run, "first_step_s") == 0.0009);
    CHECK(value(&run, "warmup_s") == 0);
    CHECK(value(&run, "infer_s") == 0.055); /* 450 of 100 us and 50 of 200 us */
    CHECK(value(&run, "rest_s") == 0.0025); /* 1 ms twice before, 500 gaps of 1 us */
    CHECK(value(&run, "stop_s") == 0.002);
    CHECK(parts_sum_to_wall(&run));
    finish(&run);
}

static void the_rate_is_rows_over_seconds_of_steady_requests(void)
{
    struct infer_run run = run_of(REQUESTS);
    compute(&run);
    CHECK_NEAR(value(&run, "rate_per_s"), 500 * BATCH / 0.055, 1e-9);             /* one division */
    CHECK_NEAR(value(&run, "flops_per_s"), 500 * BATCH / 0.055 * 1000 * 2, 1e-3); /* one pass; numbers near 1e8 */
    CHECK(ys_json_get_bool(metric(&run, "rate_per_s"), "steady", false));
    CHECK_INT(ys_json_get_int(metric(&run, "rate_per_s"), "steady_from", 0), 1);
    finish(&run);
}

static void requests_timed_together_have_a_mean_and_no_percentile(void)
{
    static const char *const none[] = {"latency_p50_s", "latency_p90_s", "latency_p99_s", "latency_max_s"};
    struct infer_run run = run_of(REQUESTS);
    ys_series_add_int(&run.series, "latency_group", 5);
    ys_series_add_int(&run.series, "latency_group", 3);
    compute(&run);
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        CHECK_HAS(reason(&run, none[i]), "up to 5 requests were timed together");
    CHECK_NEAR(value(&run, "rate_per_s"), 500 * BATCH / 0.055, 1e-9); /* one division */
    CHECK(parts_sum_to_wall(&run));
    finish(&run);
}

static void instructions_are_the_median_of_the_requests_behind_the_first(void)
{
    static const int64_t counts[] = {9000, 12, 10, 11, 30};
    struct infer_run run = run_of(REQUESTS);
    compute(&run);
    CHECK_HAS(reason(&run, "instructions"), "under an emulator alone");
    finish(&run);
    run = run_of(REQUESTS);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        ys_series_add_int(&run.series, "instructions", counts[i]);
    ys_json_set(run.trial, "framework", fake_json("{\"name\":\"engine\",\"emulated\":true}"));
    compute(&run);
    CHECK(value(&run, "instructions") == 11.5);
    CHECK_TEXT(reason(&run, "rate_per_s"), "emulated");
    finish(&run);
}

static void percentiles_are_those_of_the_steady_requests(void)
{
    struct infer_run run = run_of(REQUESTS);
    compute(&run);
    CHECK(value(&run, "latency_p50_s") == 0.0001);
    /* Rank 449.1 of 0 to 499: a tenth of the way from the last 100 us to the first 200 us; a rank rounded to 6e-14,
     * times 100 us.
     */
    CHECK_NEAR(value(&run, "latency_p90_s"), 0.00011, 1e-17);
    CHECK(value(&run, "latency_p99_s") == 0.0002 && value(&run, "latency_max_s") == 0.0002);
    CHECK(ys_json_get_bool(metric(&run, "latency_p99_s"), "steady", false));
    finish(&run);
}

/** Of request i a prompt of i + 1 us and two tokens, of 2 us and of 3 us. */
static void add_pieces(struct infer_run *run, int requests)
{
    for (int i = 0; i < requests; i++) {
        ys_series_add_int(&run->series, "prompt_ns", (i + 1) * 1000);
        ys_series_add_int(&run->series, "token_ns", 2000);
        ys_series_add_int(&run->series, "token_ns", 3000);
    }
}

static void prompt_and_tokens_are_those_of_the_steady_requests(void)
{
    struct infer_run run = run_of(REQUESTS);
    add_pieces(&run, REQUESTS);
    compute(&run);
    /* Steady from request 1: prompts of 2 to 501 us, and half of 1000 tokens each of 2 and of 3 us. */
    CHECK_NEAR(value(&run, "prompt_p50_s"), 251.5e-6, 1e-15);
    CHECK_NEAR(value(&run, "token_p50_s"), 2.5e-6, 1e-15);
    CHECK(value(&run, "token_p99_s") == 3e-6);
    CHECK(ys_json_get_bool(metric(&run, "token_p99_s"), "steady", false));
    CHECK_INT(ys_json_get_int(metric(&run, "prompt_p50_s"), "steady_from", 0), 1);
    finish(&run);
}

static void pieces_are_missing_where_there_are_none_or_too_few(void)
{
    static const char *const names[] = {"prompt_p50_s", "token_p50_s", "token_p99_s"};
    struct infer_run run = run_of(REQUESTS);
    compute(&run);
    for (size_t i = 0; i < 3; i++)
        CHECK_HAS(reason(&run, names[i]), "rows are answered whole");
    finish(&run);
    run = run_of(40);
    add_pieces(&run, 40);
    compute(&run);
    CHECK(!isnan(value(&run, "prompt_p50_s")) && !isnan(value(&run, "token_p50_s")));
    CHECK_HAS(reason(&run, "token_p99_s"), "78 pieces of steady requests; this percentile needs 100");
    finish(&run);
    run = run_of(REQUESTS);
    add_pieces(&run, REQUESTS - 1); /* of another run: as many are nobody's */
    compute(&run);
    CHECK(isnan(value(&run, "token_p50_s")));
    finish(&run);
}

static void warm_up_requests_are_left_out(void)
{
    struct infer_run run = run_of(REQUESTS);
    struct ys_series *latency = ys_series_get(&run.series, "latency_ns", 0);
    for (size_t i = 1; i < 21; i++)
        latency->ints[i] = 5 * MS;
    compute(&run);
    int64_t from = ys_json_get_int(metric(&run, "latency_max_s"), "steady_from", 0);
    CHECK(from >= 21 && from < 30); /* requests are joined by threes to be judged */
    CHECK(value(&run, "latency_max_s") == 0.0002);
    CHECK(value(&run, "warmup_s") >= 0.1 && value(&run, "first_step_s") == 0.0009);
    finish(&run);
}

static void a_percentile_needs_requests_enough(void)
{
    static const struct {
        int requests;
        bool has_p90, has_p99;
    } cases[] = {{10, false, false}, {30, true, false}, {31, true, false}, {100, true, false}, {101, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct infer_run run = run_of(1);
        for (int k = 1; k < cases[i].requests; k++) /* all alike: steady from the second on, where that can be told */
            ys_series_add_int(&run.series, "latency_ns", 100000);
        compute(&run);
        bool found = cases[i].requests > 30; /* thirty are needed to tell; of fewer the last half is used */
        int half = cases[i].requests / 2;
        CHECK_INT(ys_json_get_int(metric(&run, "latency_p50_s"), "steady_from", 0), found ? 1 : half);
        CHECK(!isnan(value(&run, "latency_p50_s")) && !isnan(value(&run, "latency_max_s")));
        CHECK_INT(!isnan(value(&run, "latency_p90_s")), cases[i].has_p90);
        CHECK_INT(!isnan(value(&run, "latency_p99_s")), cases[i].has_p99);
        if (!cases[i].has_p99)
            CHECK_HAS(reason(&run, "latency_p99_s"), "this percentile needs 100");
        if (!found)
            CHECK_HAS(ys_json_get_text(metric(&run, "latency_p50_s"), "note", ""), "too few requests");
        finish(&run);
    }
}

static void what_belongs_to_training_is_null_and_says_why(void)
{
    struct infer_run run = run_of(REQUESTS);
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    ys_json_set(run.facts, "evaluation", fake_json("{\"accuracy\":0.5,\"seconds\":1}"));
    compute(&run);
    CHECK_INT(ys_json_size(run.metrics), count);
    for (size_t i = 0; i < count; i++)
        if (infos[i].mode == YS_MODE_TRAIN)
            CHECK_TEXT(reason(&run, infos[i].name), "this run answers requests, it does not train");
    static const char *const of_training[] = {"train_s", "step_s", "accuracy"};
    for (size_t i = 0; i < 3; i++)
        CHECK_INT(ys_metric_find(of_training[i])->mode, YS_MODE_TRAIN);
    finish(&run);
}

static void a_single_request_has_no_rate(void)
{
    struct infer_run run = run_of(1);
    compute(&run);
    CHECK(value(&run, "first_step_s") == 0.0009);
    CHECK_HAS(reason(&run, "rate_per_s"), "no request after the first");
    CHECK_HAS(reason(&run, "latency_p50_s"), "no request after the first");
    CHECK_HAS(reason(&run, "infer_s"), "no request was timed");
    CHECK(parts_sum_to_wall(&run));
    finish(&run);
}

static void a_failed_run_has_no_latency(void)
{
    struct infer_run run = run_of(REQUESTS);
    ys_json_set_string(run.facts, "status", "stalled");
    ys_json_set_string(run.facts, "stage", "infer");
    compute(&run);
    CHECK_HAS(reason(&run, "latency_p50_s"), "stalled in stage infer");
    CHECK_HAS(reason(&run, "rate_per_s"), "stalled in stage infer");
    CHECK(value(&run, "first_step_s") == 0.0009);
    finish(&run);
}

static void latencies_that_cannot_be_are_not_believed(void)
{
    struct infer_run run = run_of(REQUESTS);
    ys_series_get(&run.series, "latency_ns", 0)->ints[7] = -1;
    compute(&run);
    CHECK_HAS(reason(&run, "rate_per_s"), "below 0");
    CHECK_HAS(reason(&run, "first_step_s"), "below 0");
    finish(&run);
}

static void no_work_at_no_cost_is_no_speed(void)
{
    struct infer_run run = run_of(1);
    for (int k = 0; k < 20; k++)
        ys_series_add_int(&run.series, "latency_ns", 0);
    compute(&run);
    CHECK_HAS(reason(&run, "latency_p50_s"), "no time that the clock could see");
    finish(&run);
}

static const ys_json *comparison_of(const ys_json *result, const char *name)
{
    const ys_json *all = ys_json_get(result, "comparisons");
    for (size_t i = 0; i < ys_json_size(all); i++)
        if (strcmp(ys_json_get_text(ys_json_at(all, i), "metric", ""), name) == 0)
            return ys_json_at(all, i);
    return NULL;
}

static void a_study_compares_latencies_and_keeps_percentiles(void)
{
    char *folder = fake_folder();
    struct ys_store *store = NULL;
    ys_json *study = fake_study_json(6), *result = NULL;
    int64_t id = 0;
    CHECK(ys_store_open(folder, YS_STORE_WRITE, &store) == YS_OK && ys_store_study_begin(store, study, &id) == YS_OK);
    CHECK(fake_infer_trial(store, id, 0, "pytorch", 400, 6) == YS_OK);
    CHECK(fake_infer_trial(store, id, 1, "builtin", 100, 6) == YS_OK);
    REQUIRE(result_document(store, id, YS_RESULT_RUNS, &result) == YS_OK);
    const ys_json *p50 = comparison_of(result, "latency_p50_s"), *p99 = comparison_of(result, "latency_p99_s");
    CHECK_TEXT(ys_json_get_text(p50, "verdict", ""), "better");
    CHECK_NEAR(ys_json_get_number(p50, "ratio", NAN), 0.2537, 1e-3); /* 102.5 against 402.5, each round its own */
    CHECK_TEXT(ys_json_get_text(p99, "verdict", ""), "better");
    CHECK(!comparison_of(result, "step_s") && !comparison_of(result, "accuracy"));
    const ys_json *run = ys_json_at(ys_json_get(ys_json_at(ys_json_get(result, "trials"), 0), "runs_detail"), 0);
    const ys_json *latency = ys_json_get(run, "latency"), *latency_s = ys_json_get(latency, "latency_s");
    CHECK_INT(ys_json_size(latency_s), 101);
    CHECK(ys_json_number(ys_json_at(latency_s, 0), 0) == 0.0004 &&
          ys_json_number(ys_json_at(latency_s, 50), 0) == 0.0004);
    CHECK(ys_json_number(ys_json_at(latency_s, 100), 0) == 0.0008);
    CHECK(ys_json_number(ys_json_at(ys_json_get(latency, "share"), 99), 0) == 0.99);
    ys_json_free(study);
    ys_json_free(result);
    ys_store_close(store);
    CHECK(ys_fs_remove_tree(folder) == YS_OK);
}

/* Two trials in seven rounds of a study that goes on until it is decided, the first with requests timed together. */
static void a_study_with_grouped_requests_is_decided_by_the_mean(void)
{
    char *folder = fake_folder();
    struct ys_store *store = NULL;
    fake_decides = true;
    ys_json *study = fake_study_json(7), *result = NULL;
    fake_decides = false;
    int64_t id = 0;
    CHECK(ys_store_open(folder, YS_STORE_WRITE, &store) == YS_OK && ys_store_study_begin(store, study, &id) == YS_OK);
    fake_group = 5;
    CHECK(fake_infer_trial(store, id, 0, "tfjs", 400, 7) == YS_OK);
    fake_group = 1;
    CHECK(fake_infer_trial(store, id, 1, "builtin", 100, 7) == YS_OK);
    REQUIRE(result_document(store, id, YS_RESULT_RUNS, &result) == YS_OK);
    CHECK_TEXT(ys_json_get_text(comparison_of(result, "rate_per_s"), "decision", "-"), "decided");
    const ys_json *median = comparison_of(result, "latency_p50_s");
    CHECK(!median || ys_json_type_of(ys_json_get(median, "decision")) == YS_JSON_NULL ||
          !ys_json_get(median, "decision"));
    const ys_json *trials = ys_json_get(result, "trials");
    for (size_t i = 0; i < 2; i++) {
        const ys_json *run = ys_json_at(ys_json_get(ys_json_at(trials, i), "runs_detail"), 0);
        CHECK((ys_json_get(run, "latency") != NULL) == (i == 1));
    }
    ys_json_free(study);
    ys_json_free(result);
    ys_store_close(store);
    CHECK(ys_fs_remove_tree(folder) == YS_OK);
}

TAP_MAIN(TAP_CASE(times_are_those_of_the_requests), TAP_CASE(the_rate_is_rows_over_seconds_of_steady_requests),
         TAP_CASE(percentiles_are_those_of_the_steady_requests),
         TAP_CASE(instructions_are_the_median_of_the_requests_behind_the_first),
         TAP_CASE(requests_timed_together_have_a_mean_and_no_percentile),
         TAP_CASE(a_study_with_grouped_requests_is_decided_by_the_mean),
         TAP_CASE(prompt_and_tokens_are_those_of_the_steady_requests),
         TAP_CASE(pieces_are_missing_where_there_are_none_or_too_few), TAP_CASE(warm_up_requests_are_left_out),
         TAP_CASE(a_percentile_needs_requests_enough), TAP_CASE(what_belongs_to_training_is_null_and_says_why),
         TAP_CASE(a_single_request_has_no_rate), TAP_CASE(a_failed_run_has_no_latency),
         TAP_CASE(latencies_that_cannot_be_are_not_believed), TAP_CASE(no_work_at_no_cost_is_no_speed),
         TAP_CASE(a_study_compares_latencies_and_keeps_percentiles))
