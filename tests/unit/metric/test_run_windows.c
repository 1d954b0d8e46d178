#include "fixture.h"

#include "metric/run/run_windows.h"
#include "metric/study_view.h"
#include "tap.h"

enum { BLOCKS = 60, ROUNDS = 6 };
/* What of the speed over the later three quarters is left over all 301 steps, each as long as those on average, and
 * what the first 75 took beyond that. */
#define HELD 0.76704

/* Step times of two trials that do the same: every second block is longer, which hides that steps grow shorter by a
 * quarter until the end. The first quarter of one of them is slow beside. */
static int64_t step_ns(int block, bool is_slow_at_first)
{
    double at = (double)block / BLOCKS, slow = is_slow_at_first && block < BLOCKS / 4 ? 2 : 1;
    return llround(1e7 * slow * (block % 2 ? 1.25 : 0.75) * (1.3 - 0.3 * at));
}

/* One run into the store, whose first step takes as long as the others. */
static void put_run(struct ys_store *store, const struct fake_trial *trial, const ys_json *json, int64_t trial_id,
                    int64_t round, bool is_slow_at_first)
{
    struct ys_series_set series = {0};
    const struct fake_run run = {round, 0, "ok"};
    ys_json *facts = fake_facts(trial, &run, &series), *metrics = NULL;
    int64_t run_id = 0, t_ns = ys_series_find(&series, "block_start_ns")->ints[0];
    struct ys_series *start = ys_series_get(&series, "block_start_ns", 0),
                     *end = ys_series_get(&series, "block_end_ns", 0),
                     *steps = ys_series_get(&series, "block_count", 0);
    REQUIRE(end->count == BLOCKS + 1);
    for (size_t i = 0; i < end->count; i++) {
        start->ints[i] = t_ns;
        t_ns += steps->ints[i] * (i ? step_ns((int)i - 1, is_slow_at_first) : 10 * MS);
        end->ints[i] = t_ns;
    }
    CHECK(ys_store_run_put(store, trial_id, round, 0, facts, &series, &run_id) == YS_OK);
    CHECK(fake_metrics_of(json, facts, &series, &metrics) == YS_OK);
    CHECK(ys_metric_put(store, run_id, metrics) == YS_OK);
    ys_json_free(metrics);
    ys_json_free(facts);
    ys_series_set_free(&series);
}

static const ys_json *comparison(const ys_json *result, const char *metric)
{
    const ys_json *all = ys_json_get(result, "comparisons");
    for (size_t i = 0; i < ys_json_size(all); i++)
        if (strcmp(ys_json_get_text(ys_json_at(all, i), "metric", ""), metric) == 0)
            return ys_json_at(all, i);
    return NULL;
}

/* The result of a study of two trials, the second slow at first. */
static ys_json *result_of_two(bool is_recomputed)
{
    char *folder = fake_folder();
    struct ys_store *store = NULL;
    ys_json *result = NULL, *study = fake_study_json(ROUNDS), *host = fake_host_json();
    int64_t id = 0;
    CHECK(ys_store_open(folder, YS_STORE_WRITE, &store) == YS_OK);
    CHECK(ys_store_study_begin(store, study, &id) == YS_OK && ys_store_host_put(store, id, host) == YS_OK);
    for (int t = 0; t < 2; t++) {
        const struct fake_trial *trial = &fake_trials[2 * t];
        int64_t trial_id = 0;
        ys_json *json = fake_trial_json(trial, t), *proof = fake_proof_json(trial);
        CHECK(fake_put_trial(store, id, json, &trial_id) == YS_OK &&
              ys_store_proof_put(store, trial_id, proof) == YS_OK);
        for (int round = 0; round < ROUNDS; round++)
            put_run(store, trial, json, trial_id, round, t == 1);
        ys_json_free(json);
        ys_json_free(proof);
    }
    CHECK(!is_recomputed || fake_measure_again(store, id) == YS_OK);
    CHECK(result_document(store, id, YS_RESULT_RUNS, &result) == YS_OK);
    ys_store_close(store);
    CHECK(ys_fs_remove_tree(folder) == YS_OK);
    ys_json_free(study);
    ys_json_free(host);
    return result;
}

static void trials_that_drift_alike_are_compared_over_the_part_that_both_share(void)
{
    for (int is_recomputed = 0; is_recomputed < 2; is_recomputed++) {
        ys_json *result = result_of_two(is_recomputed);
        const ys_json *rate = comparison(result, "rate_per_s"), *step = comparison(result, "step_s");
        /* Over its own part the second trial looks faster by more than the margin: means of 1.15 and of 1.1125. */
        double a = ys_json_get_number(rate, "a_value", 0), b = ys_json_get_number(rate, "b_value", 0);
        tap_check(a / b > 1.02, __LINE__, "over its own part the second trial is %g times as fast", a / b);
        CHECK_NEAR(ys_json_get_number(rate, "ratio", 0), 1, 2e-9); /* stored to 1e-9 each */
        /* What took twice as long in the slow quarter may be work of the rest. */
        CHECK_TEXT(ys_json_get_text(rate, "verdict", ""), "unclear");
        CHECK_NEAR(ys_json_number(ys_json_at(ys_json_get(rate, "ci"), 0), 0), HELD, 1e-5);
        CHECK_NEAR(ys_json_number(ys_json_at(ys_json_get(rate, "ci"), 1), 0), 1, 2e-9);
        CHECK_NEAR(ys_json_get_number(rate, "bias_bound", 1), 0, 1e-8);
        CHECK_NEAR(ys_json_get_number(rate, "window_from", 0), 0.25, 0.1251);
        CHECK_NEAR(ys_json_get_number(step, "ratio", 0), 1, 2e-9);
        CHECK(ys_json_type_of(ys_json_get(comparison(result, "wall_s"), "window_from")) == YS_JSON_NULL);
        ys_json_free(result);
    }
}

/* The windows of a run of `count` blocks of these times, which is steady from `from` on. */
static struct ys_windows windows_of(const int64_t *span_ns, const int64_t *latency_ns, size_t count, size_t from)
{
    const struct ys_window_blocks blocks = {.count = count, .span_ns = span_ns, .latency_ns = latency_ns};
    const struct ys_steady steady = {YS_STEADY_FOUND, from, count < YS_STEADY_MIN_BLOCKS ? (double)NAN : 0.02};
    struct ys_run_windows stored;
    struct ys_windows windows;
    ys_json *json = ys_window_measure(&blocks, &steady);
    char *text = ys_json_dump(json, 0);
    CHECK(ys_record_parse(&ys_run_windows_record, text, strlen(text), "the test", &stored) == YS_OK);
    ys_window_take(&stored, (int64_t)from + 1, steady.left, &windows);
    ys_record_fini(&ys_run_windows_record, &stored);
    ys_free(text);
    ys_json_free(json);
    return windows;
}

static void a_window_begins_at_the_eighth_after_the_later_start(void)
{
    int64_t span_ns[40];
    for (int i = 0; i < 40; i++)
        span_ns[i] = 1000000 + 10000 * (40 - i);
    struct ys_windows early = windows_of(span_ns, NULL, 40, 0), late = windows_of(span_ns, NULL, 40, 6),
                      other = windows_of(span_ns, NULL, 20, 3);
    struct ys_run_window window = ys_window_common(&early, &late), turned = ys_window_common(&late, &early);
    CHECK(window.mark == 2 && window.from == 0.25 && turned.mark == 2);
    CHECK(window.bias == -turned.bias);
    /* Means of spans: 30 blocks of 1.155 ms on the average, against 40 of 1.205 ms. */
    CHECK_NEAR(ys_window_value(&early, &window, 0, 1), 1.205 / 1.155, 1e-9);
    CHECK_NEAR(ys_window_value(&early, &window, 1, 1), 1.155 / 1.205, 1e-9);
    CHECK(ys_window_value(&early, &window, YS_WINDOW_METRICS, 3) == 3);
    /* The same share of a run half as long is the same window: each is compared over its own part. */
    window = ys_window_common(&late, &other);
    CHECK(window.mark == -1 && window.from == 0.15 && ys_window_value(&late, &window, 0, 7) == 7);
}

static void what_cannot_be_told_is_not_guessed(void)
{
    int64_t span_ns[40];
    struct ys_windows none, few, many;
    for (int i = 0; i < 40; i++)
        span_ns[i] = 1000000;
    ys_window_take(NULL, YS_FIELD_NONE, NAN, &none);
    few = windows_of(span_ns, NULL, 20, 10);
    many = windows_of(span_ns, NULL, 40, 0);
    struct ys_run_window window = ys_window_common(&none, &many);
    CHECK(window.mark == -1 && isnan(window.from) && isnan(window.bias));
    window = ys_window_common(&few, &many); /* too few blocks to estimate what is left, but a window */
    CHECK(window.mark == 4 && window.from == 0.5 && isnan(window.bias));
    window = ys_window_common(&many, &many);
    CHECK(window.mark == -1 && window.bias == 0);
}

static void percentiles_are_of_the_latencies_in_the_window(void)
{
    int64_t span_ns[200], latency_ns[200];
    for (int i = 0; i < 200; i++) {
        latency_ns[i] = i < 50 ? 3000 : 2000;
        span_ns[i] = latency_ns[i] + 1000; /* beside the latency the message took time */
    }
    struct ys_windows early = windows_of(span_ns, latency_ns, 200, 0), late = windows_of(span_ns, latency_ns, 200, 50);
    struct ys_run_window window = ys_window_common(&early, &late);
    REQUIRE(window.mark == 2);
    CHECK_NEAR(ys_window_value(&early, &window, 0, 1), 3.25 / 3, 1e-9);
    CHECK_NEAR(ys_window_value(&early, &window, 2, 1), 1, 1e-9); /* the median is 2000 either way */
    CHECK_NEAR(ys_window_value(&early, &window, 3, 1), 2.0 / 3, 1e-9);
    CHECK_NEAR(ys_window_value(&late, &window, 3, 1), 1, 1e-9);
}

TAP_MAIN(TAP_CASE(trials_that_drift_alike_are_compared_over_the_part_that_both_share),
         TAP_CASE(a_window_begins_at_the_eighth_after_the_later_start), TAP_CASE(what_cannot_be_told_is_not_guessed),
         TAP_CASE(percentiles_are_of_the_latencies_in_the_window))
