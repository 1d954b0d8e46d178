#include "fixture.h"

#include "recorded.h"
#include "tap.h"

static const char *const parts[] = {"start_s", "build_s", "first_step_s", "warmup_s", "train_s",
                                    "eval_s",  "save_s",  "stop_s",       "rest_s"};
enum { PARTS = sizeof parts / sizeof parts[0] };

/* A run that was recorded, with round numbers, in milliseconds: exec 0, hello 10, open 11, opened 31, train 32; the
 * first step 32..42, then `blocks` of five steps each, 50 long and 1 apart; save takes 5, bye 2. */
struct plain_run {
    ys_json *trial, *facts;
    struct ys_series_set series;
};

/* Members of an object of the facts that have round numbers here; the others are as they were recorded. */
static void choose(ys_json *facts, const char *name, ys_json *chosen)
{
    CHECK(ys_json_merge(ys_json_get(facts, name), chosen) == YS_OK);
    ys_json_free(chosen);
}

static struct plain_run plain(int blocks)
{
    struct plain_run run = {0};
    int64_t t = 32;
    for (int i = 0; i <= blocks; i++) {
        int count = i ? 5 : 1;
        ys_series_add_int(&run.series, "block_first", i ? 5 * i - 4 : 0);
        ys_series_add_int(&run.series, "block_count", count);
        ys_series_add_int(&run.series, "block_start_ns", t * MS);
        t += 10 * count;
        ys_series_add_int(&run.series, "block_end_ns", t * MS);
        ys_series_add_int(&run.series, "block_input_ns", 2 * MS);
        for (int s = 0; s < count; s++)
            ys_series_add_real(&run.series, "step_loss", 1.0 / (i + 1));
        t += 1;
    }
    run.trial = fake_json("{\"keys\":{\"mode\":\"train\",\"batch\":64,\"threads\":2,\"loss\":\"softmax_cross_entropy\"}"
                          ",\"work\":{\"multiply_adds\":1000}}");
    run.facts = recorded_facts("builtin");
    choose(run.facts, "times",
           fake_jsonf("{\"exec_ns\":0,\"hello_ns\":%lld,\"open_ns\":%lld,\"opened_ns\":%lld,\"train_ns\":%lld,"
                      "\"trained_ns\":%lld,\"save_ns\":%lld,\"saved_ns\":%lld,\"bye_ns\":%lld,\"end_ns\":%lld,"
                      "\"pauses\":[]}",
                      10LL * MS, 11LL * MS, 31LL * MS, 32LL * MS, (long long)t * MS, (long long)t * MS,
                      (long long)(t + 5) * MS, (long long)(t + 5) * MS, (long long)(t + 7) * MS));
    ys_json_set(run.facts, "target",
                fake_jsonf("{\"until\":\"accuracy >= 0.5\",\"step\":%d,\"before\":%d,\"best\":0.6,\"best_step\":%d}",
                           5 * blocks + 1, blocks > 4 ? 5 * (blocks - 4) + 1 : 0, 5 * blocks + 1));
    choose(run.facts, "opened",
           fake_json("{\"parameters\":77,\"threads\":2,\"download_code_bytes\":5000,\"download_model_bytes\":600}"));
    choose(run.facts, "work", fake_json("{\"parameters\":77,\"multiply_adds\":1000,\"positions\":8}"));
    choose(run.facts, "usage",
           fake_json("{\"user_ns\":400000000,\"system_ns\":100000000,\"voluntary_switches\":3,"
                     "\"involuntary_switches\":4,\"minor_faults\":70,\"major_faults\":2}"));
    ys_json_set(run.facts, "feeder",
                fake_json("{\"threads\":1,\"user_ns\":30000000,\"system_ns\":20000000,\"peak_bytes\":4096}"));
    choose(run.facts, "observation",
           fake_json("{\"cpu_ns\":500000000,\"memory_peak_bytes\":900000,\"memory_own_peak_bytes\":800000,"
                     "\"memory_own_least_bytes\":700000,\"memory_own_most_bytes\":9900000,"
                     "\"swap_peak_bytes\":0,\"cpu_wait_ns\":30000000,\"read_bytes\":11,\"written_bytes\":12,"
                     "\"disk_read_bytes\":13,\"disk_written_bytes\":14}"));
    choose(run.facts, "observed",
           fake_json("{\"threads_peak\":3,\"rss_peak_bytes\":1048576,\"process_peak_bytes\":1048576}"));
    choose(run.facts, "harness", fake_json("{\"cpu_ns\":1000000,\"samples\":7,\"lateness_max_ns\":100000}"));
    choose(run.facts, "evaluation",
           fake_json("{\"accuracy\":0.75,\"correct\":75,\"count\":100,\"loss\":0.5,\"seconds\":0.25}"));
    ys_json_set(
        run.facts, "robustness",
        fake_json(
            "{\"attack_s\":1,\"found\":{\"rows\":10,\"clean\":9,\"attacks\":[{\"attack\":\"ddn(100)\",\"rows\":10,"
            "\"clean\":9,\"broken\":9,\"target_reached\":null,\"change_p25\":0.25,\"change_p50\":0.5,"
            "\"change_p75\":1,\"gradients\":900,\"queries\":900,\"attack_s\":1}],\"robust\":[{\"eps\":0.1,"
            "\"standing\":4}],\"curve\":[],\"alarms\":[],\"is_masked\":false,"
            "\"perturbation_p50\":0.5,\"corruptions\":[{\"kind\":\"fog\",\"severity\":3,\"right\":5}]}}"));
    ys_json_set_int(run.facts, "weights_bytes", 308);
    return run;
}

static ys_json *metrics_of(const struct plain_run *run)
{
    ys_json *metrics = NULL;
    ys_status status = fake_metrics_of(run->trial, run->facts, &run->series, &metrics);
    tap_check(status == YS_OK, __LINE__, "no metrics: %s", ys_error());
    return metrics;
}

static void plain_free(struct plain_run *run, ys_json *metrics)
{
    ys_json_free(run->trial);
    ys_json_free(run->facts);
    ys_series_set_free(&run->series);
    ys_json_free(metrics);
}

static double value(const ys_json *metrics, const char *name)
{
    return ys_json_get_number(ys_json_get(metrics, name), "value", NAN);
}

static const char *reason(const ys_json *metrics, const char *name)
{
    return ys_json_get_text(ys_json_get(metrics, name), "reason", "");
}

static void every_metric_is_there_with_its_unit_or_a_reason(void)
{
    struct plain_run run = plain(20);
    ys_json *metrics = metrics_of(&run);
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    CHECK_INT(ys_json_size(metrics), count);
    void *it = ys_json_iter(metrics);
    for (size_t i = 0; i < count && it; i++, it = ys_json_next(metrics, it)) {
        CHECK_TEXT(ys_json_iter_key(it), infos[i].name);
        const ys_json *metric = ys_json_iter_value(it);
        if (infos[i].mode == YS_MODE_INFER || infos[i].mode == YS_MODE_ATTACK || infos[i].mode == YS_MODE_SIZE ||
            infos[i].of_questions) {
            CHECK_TEXT(ys_json_get_text(metric, "reason", ""), "this run trains, it answers no requests");
            continue;
        }
        const char *why = ys_json_get_text(metric, "reason", "none said");
        if (strcmp(infos[i].name, "target_limit_s") == 0) { /* of a run that has no time to its target */
            CHECK_TEXT(why, "the target was met");
            continue;
        }
        tap_check(isfinite(value(metrics, infos[i].name)), __LINE__, "%s has no value in plain(): %s", infos[i].name,
                  why);
        const char *const found[] = {ys_json_get_text(metric, "unit", ""), ys_json_get_text(metric, "better", ""),
                                     ys_json_get_text(metric, "method", ""), ys_json_get_text(metric, "scope", ""),
                                     ys_json_get_text(metric, "source", "")};
        const char *const due[] = {infos[i].unit, ys_name_of(&ys_betters, (int)infos[i].better), infos[i].method,
                                   infos[i].scope, infos[i].source};
        for (size_t k = 0; k < sizeof due / sizeof due[0]; k++)
            tap_check(strcmp(found[k], due[k]) == 0, __LINE__, "%s says \"%s\", its file \"%s\"", infos[i].name,
                      found[k], due[k]);
    }
    plain_free(&run, metrics);
}

/* 40 blocks of 50 ms, in which it says that it waited 48 of them. Two threads could have used 4 s: 3.6 s leave 0.2 s
 * idle, and what was said is bounded by that; without processor time its word is taken. A twentieth is let pass. */
static void a_wait_in_which_it_computed_is_none(void)
{
    static const struct {
        int64_t input_ns;
        const char *steps_s;
        double input_s;
    } cases[] = {{48 * MS, "3.6", 0.2},   {48 * MS, "9", 0},      {48 * MS, "0.1", 1.92},
                 {48 * MS, "null", 1.92}, {2 * MS, "3.99", 0.08}, {3 * MS, "4", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plain_run run = plain(40);
        struct ys_series *input = ys_series_get(&run.series, "block_input_ns", 0);
        for (size_t k = 1; k < input->count; k++)
            input->ints[k] = cases[i].input_ns;
        choose(run.facts, "phase_cpu", fake_jsonf("{\"steps_s\":%s}", cases[i].steps_s));
        ys_json *metrics = metrics_of(&run);
        CHECK_NEAR(value(metrics, "input_s"), cases[i].input_s, 1e-9);
        CHECK_NEAR(value(metrics, "input_s") + value(metrics, "compute_s"), 2, 1e-9);
        CHECK((ys_json_get(ys_json_get(metrics, "input_s"), "note") != NULL) == (cases[i].input_s < 0.05 || i == 0));
        plain_free(&run, metrics);
    }
}

static void the_parts_are_what_the_stamps_say(void)
{
    struct plain_run run = plain(40);
    ys_json *metrics = metrics_of(&run);
    CHECK(value(metrics, "start_s") == 0.010);
    CHECK(value(metrics, "build_s") == 0.020);
    CHECK(value(metrics, "first_step_s") == 0.010);
    CHECK(value(metrics, "warmup_s") == 0);
    CHECK(value(metrics, "train_s") == 2.0);
    CHECK(value(metrics, "input_s") == 0.080);
    CHECK(value(metrics, "compute_s") == 1.920);
    CHECK(value(metrics, "eval_s") == 0.25);
    CHECK(value(metrics, "save_s") == 0.005);
    CHECK(value(metrics, "stop_s") == 0.002);
    /* Two messages of 1 ms before training, 41 gaps of 1 ms after blocks. */
    CHECK(value(metrics, "rest_s") == 0.043);
    CHECK(value(metrics, "wall_s") == 2.340);
    plain_free(&run, metrics);
}

/* Seconds print 17 digits, whole nanoseconds below 2^53 come back exactly. */
static bool parts_sum_to_wall(const ys_json *metrics)
{
    long long sum_ns = 0;
    for (int i = 0; i < PARTS; i++) {
        double part = value(metrics, parts[i]);
        sum_ns += isnan(part) ? 0 : llround(part * 1e9);
    }
    return sum_ns == llround(value(metrics, "wall_s") * 1e9);
}

static void parts_and_rest_sum_to_wall_to_the_nanosecond(void)
{
    for (int t = 0; t < FAKE_TRIALS; t++) {
        for (int round = 0; round < 20; round++) {
            struct fake_run fake = {round, 0, round % 5 == 4 ? "crashed" : "ok"};
            struct plain_run run = {.trial = fake_trial_json(&fake_trials[t], t)};
            run.facts = fake_facts(&fake_trials[t], &fake, &run.series);
            ys_json *metrics = metrics_of(&run);
            CHECK(parts_sum_to_wall(metrics));
            CHECK(value(metrics, "rest_s") >= 0);
            plain_free(&run, metrics);
        }
    }
}

static void input_and_compute_sum_to_train(void)
{
    struct plain_run run = plain(37);
    ys_json *metrics = metrics_of(&run);
    CHECK_INT(llround(value(metrics, "input_s") * 1e9) + llround(value(metrics, "compute_s") * 1e9),
              llround(value(metrics, "train_s") * 1e9));
    plain_free(&run, metrics);
}

static void pauses_and_evaluations_of_checkpoints_are_evaluation(void)
{
    struct plain_run run = plain(20);
    ys_json_set(ys_json_get(run.facts, "times"), "pauses", fake_json("[[100000000,103000000],[200000000,204000000]]"));
    ys_json_set(run.facts, "checkpoints", fake_json("[{\"step\":10,\"evaluation\":{\"seconds\":0.5}},{\"step\":20}]"));
    ys_json_set(run.facts, "target", ys_json_null());
    ys_json *metrics = metrics_of(&run);
    CHECK(value(metrics, "eval_s") == 0.757);
    CHECK(value(metrics, "wall_s") == 1.820);
    CHECK(parts_sum_to_wall(metrics));
    plain_free(&run, metrics);
}

/* What was evaluated while the run stood still lies in its pauses already. */
static void evaluation_inside_a_run_is_counted_once(void)
{
    struct plain_run run = plain(20);
    ys_json_set(ys_json_get(run.facts, "times"), "pauses", fake_json("[[100000000,603000000]]"));
    ys_json_set(run.facts, "checkpoints", fake_json("[{\"step\":10,\"evaluation\":{\"seconds\":0.5}}]"));
    ys_json *metrics = metrics_of(&run);
    CHECK(value(metrics, "eval_s") == 0.753); /* the pause and the 0.25 s of the final weights */
    CHECK(parts_sum_to_wall(metrics));
    plain_free(&run, metrics);
}

/* Of 21 blocks: a step of 10 ms, and 20 times 5 of them. */
static void time_to_a_target_is_that_of_the_steps_before_it(void)
{
    struct plain_run run = plain(20);
    ys_json *metrics = metrics_of(&run);
    const double trained_s = value(metrics, "first_step_s") + value(metrics, "warmup_s") + value(metrics, "train_s");
    CHECK_NEAR(value(metrics, "time_to_target_s"), trained_s, 1e-12); /* sums of three numbers near 1 */
    CHECK(value(metrics, "steps_to_target") == 101);
    CHECK(value(metrics, "target_grain_s") == 0.2); /* four blocks */
    CHECK_TEXT(ys_json_get_text(ys_json_get(metrics, "time_to_target_s"), "note", ""),
               "met after more than 81 and at most 101 steps: nobody looked between");
    plain_free(&run, metrics);
}

static void a_run_without_its_target_has_the_time_that_it_spent(void)
{
    struct plain_run run = plain(20);
    ys_json_set_string(run.facts, "status", "not_converged");
    ys_json_set_string(run.facts, "message",
                       "accuracy >= 98 % was not reached in 101 steps: the best was 60 % after 81");
    ys_json_set(ys_json_get(run.facts, "target"), "step", ys_json_null());
    ys_json *metrics = metrics_of(&run);
    CHECK(isnan(value(metrics, "time_to_target_s")) && isnan(value(metrics, "rate_per_s")));
    CHECK_TEXT(reason(metrics, "steps_to_target"),
               "accuracy >= 98 % was not reached in 101 steps: the best was 60 % after 81");
    CHECK(value(metrics, "target_limit_s") == 1.01);
    plain_free(&run, metrics);
    run = plain(20);
    ys_json_set(run.facts, "target", ys_json_null());
    metrics = metrics_of(&run);
    CHECK_TEXT(reason(metrics, "time_to_target_s"), "no target was asked for (until)");
    CHECK_TEXT(reason(metrics, "target_limit_s"), "no target was asked for (until)");
    plain_free(&run, metrics);
}

static void the_rate_is_samples_over_seconds(void)
{
    struct plain_run run = plain(40);
    ys_json *metrics = metrics_of(&run);
    CHECK_NEAR(value(metrics, "rate_per_s"), 200 * 64 / 2.0, 1e-9); /* one division of exact numbers */
    CHECK_NEAR(value(metrics, "step_s"), 0.010, 1e-17);
    CHECK_NEAR(value(metrics, "flops_per_s"), 6400.0 * 1000 * 2 * 3,
               1e-3); /* three products of numbers near 4e7: below 1e-8 */
    CHECK(ys_json_get_bool(ys_json_get(metrics, "rate_per_s"), "steady", false));
    CHECK_INT(ys_json_get_int(ys_json_get(metrics, "rate_per_s"), "steady_from", 0), 1);
    plain_free(&run, metrics);
}

static void warm_up_blocks_are_not_in_the_rate(void)
{
    struct plain_run run = plain(40);
    struct ys_series *end = ys_series_get(&run.series, "block_end_ns", 0),
                     *start = ys_series_get(&run.series, "block_start_ns", 0);
    /* Blocks 1 and 2 take 100 ms; what follows begins 100 ms later. */
    for (size_t i = 1; i < end->count; i++) {
        start->ints[i] += (i == 1 ? 0 : i == 2 ? 50 : 100) * MS;
        end->ints[i] += (i == 1 ? 50 : 100) * MS;
    }
    ys_json *times = ys_json_get(run.facts, "times");
    static const char *const later[] = {"trained_ns", "save_ns", "saved_ns", "bye_ns", "end_ns"};
    for (int i = 0; i < 5; i++)
        ys_json_set_int(times, later[i], ys_json_get_int(times, later[i], 0) + 100 * MS);
    ys_json *metrics = metrics_of(&run);
    CHECK_INT(ys_json_get_int(ys_json_get(metrics, "rate_per_s"), "steady_from", 0), 3);
    CHECK(value(metrics, "warmup_s") == 0.2);
    CHECK(value(metrics, "train_s") == 1.9);
    CHECK_NEAR(value(metrics, "rate_per_s"), 190 * 64 / 1.9, 1e-9);
    CHECK(parts_sum_to_wall(metrics));
    plain_free(&run, metrics);
}

/* Every block is a question: odd ones settle, the last four were dropped. Of the 2 ms before each of the others, in
 * which others had their turn, 1 was used. */
static void turns_count_without_waiting_settling_and_what_was_dropped(void)
{
    struct plain_run run = plain(80);
    for (int i = 0; i <= 80; i++) {
        const int64_t start_ns = ys_series_find(&run.series, "block_start_ns")->ints[i],
                      end_ns = ys_series_find(&run.series, "block_end_ns")->ints[i];
        ys_series_add_int(&run.series, "request_first", i ? 5 * i - 4 : 0);
        ys_series_add_int(&run.series, "request_sent_ns", start_ns);
        ys_series_add_int(&run.series, "request_done_ns", end_ns);
        ys_series_add_int(&run.series, "request_cycle", i ? (i - 1) / 2 : -1);
        ys_series_add_int(&run.series, "request_settles", i % 2);
        ys_series_add_int(&run.series, "request_ahead_ns", i > 0 && i % 2 == 0 ? MS : 0);
        ys_series_add_int(&run.series, "request_dropped", i > 76);
    }
    ys_json_set(
        run.facts, "turns",
        fake_jsonf("{\"members\":2,\"block_cut\":false,\"waited_ns\":%lld,\"ahead_ns\":%lld}", 80LL * MS, 40LL * MS));
    ys_json *metrics = metrics_of(&run);
    CHECK(value(metrics, "wall_s") == 4.380 - 0.080 + 0.040);
    CHECK(value(metrics, "first_step_s") == 0.010);
    CHECK(value(metrics, "train_s") == 1.938);
    CHECK(value(metrics, "warmup_s") == 2.102);
    CHECK(value(metrics, "rest_s") == 0.003);
    CHECK(parts_sum_to_wall(metrics));
    CHECK_NEAR(value(metrics, "rate_per_s"), 190 * 64 / 1.938, 1e-9);
    CHECK_NEAR(value(metrics, "cpu_per_wall"), 0.5 / (4.130 - 0.040), 1e-12);
    CHECK(isfinite(value(metrics, "final_loss")));
    plain_free(&run, metrics);
}

static void a_run_that_never_gets_steady_says_so_and_uses_its_last_half(void)
{
    struct plain_run run = plain(40);
    struct ys_series *end = ys_series_get(&run.series, "block_end_ns", 0),
                     *start = ys_series_get(&run.series, "block_start_ns", 0);
    for (size_t i = 1; i < end->count; i++) {
        start->ints[i] = end->ints[i - 1] + MS;
        end->ints[i] = start->ints[i] + (50 + (int64_t)i) * MS; /* every block slower than the last */
    }
    ys_json *metrics = metrics_of(&run);
    const ys_json *rate = ys_json_get(metrics, "rate_per_s");
    CHECK(!ys_json_get_bool(rate, "steady", true));
    CHECK_HAS(ys_json_get_text(rate, "note", ""), "never steady");
    CHECK_INT(ys_json_get_int(rate, "steady_from", 0), 21);
    /* Blocks 21..40: 20 * 50 + (21 + ... + 40) = 1610 ms for 100 steps. */
    CHECK_NEAR(value(metrics, "rate_per_s"), 6400 / 1.61, 1e-9);
    plain_free(&run, metrics);
}

static void few_blocks_say_that_they_are_few(void)
{
    struct plain_run run = plain(29);
    ys_json *metrics = metrics_of(&run);
    CHECK_HAS(ys_json_get_text(ys_json_get(metrics, "rate_per_s"), "note", ""), "too few");
    CHECK(ys_json_type_of(ys_json_get(ys_json_get(metrics, "rate_per_s"), "left")) == YS_JSON_NULL);
    CHECK_NEAR(value(metrics, "rate_per_s"), 6400, 1e-9);
    plain_free(&run, metrics);
}

static void a_single_step_has_no_rate(void)
{
    struct plain_run run = plain(0);
    ys_json *metrics = metrics_of(&run);
    CHECK(isnan(value(metrics, "rate_per_s")) && isnan(value(metrics, "step_s")) && isnan(value(metrics, "train_s")));
    CHECK_HAS(reason(metrics, "rate_per_s"), "no step after the first");
    CHECK(value(metrics, "first_step_s") == 0.010);
    CHECK(parts_sum_to_wall(metrics));
    plain_free(&run, metrics);
}

static void a_failed_run_has_times_and_no_speed(void)
{
    struct plain_run run = plain(20);
    ys_json_set_string(run.facts, "status", "crashed");
    ys_json_set_string(run.facts, "stage", "train");
    static const char *const never[] = {"trained_ns", "save_ns", "saved_ns", "bye_ns"};
    for (int i = 0; i < 4; i++)
        ys_json_remove(ys_json_get(run.facts, "times"), never[i]);
    ys_json *metrics = metrics_of(&run);
    static const char *const speeds[] = {"rate_per_s", "step_s",     "flops_per_s", "train_s", "accuracy",
                                         "test_loss",  "final_loss", "save_s",      "stop_s"};
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        CHECK(isnan(value(metrics, speeds[i])));
        CHECK_HAS(reason(metrics, speeds[i]), "crashed in stage train");
    }
    CHECK(value(metrics, "start_s") == 0.010 && value(metrics, "cpu_s") == 0.5 &&
          value(metrics, "rss_peak_bytes") == 1048576);
    CHECK(parts_sum_to_wall(metrics));
    plain_free(&run, metrics);
}

static void a_run_that_never_started_knows_nothing_and_says_so(void)
{
    static const char *const learned[] = {"times",    "hello",       "opened",    "usage",
                                          "observed", "observation", "phase_cpu", "steps_done",
                                          "harness",  "disturbance", "work"};
    struct plain_run run = {.trial = fake_json("{}"), .facts = recorded_facts("crashed")};
    ys_json_set_string(run.facts, "status", "load_failed");
    ys_json_set_string(run.facts, "stage", "start");
    for (size_t i = 0; i < sizeof learned / sizeof learned[0]; i++)
        ys_json_remove(run.facts, learned[i]);
    ys_json *metrics = metrics_of(&run);
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(infos[i].name, "eval_s") == 0)
            continue; /* nothing was evaluated: 0 s of it is known */
        tap_check(isnan(value(metrics, infos[i].name)) && *reason(metrics, infos[i].name), __LINE__,
                  "%s has a value, or no reason", infos[i].name);
    }
    plain_free(&run, metrics);
}

static void without_an_evaluation_there_is_no_accuracy(void)
{
    struct plain_run run = plain(20);
    ys_json_remove(run.facts, "evaluation");
    ys_json *metrics = metrics_of(&run);
    CHECK(isnan(value(metrics, "accuracy")));
    CHECK_HAS(reason(metrics, "accuracy"), "not evaluated");
    CHECK(value(metrics, "eval_s") == 0 && value(metrics, "wall_s") == 1.070);
    plain_free(&run, metrics);
}

static void accuracy_is_correct_over_count(void)
{
    struct plain_run run = plain(20);
    ys_json_set_int(ys_json_get(run.facts, "evaluation"), "correct",
                    76); /* against the fraction that stands beside it */
    ys_json *metrics = metrics_of(&run);
    CHECK(value(metrics, "accuracy") == 0.76 && value(metrics, "test_loss") == 0.5);
    plain_free(&run, metrics);
}

static void tokens_and_what_they_surprise_by_follow_from_positions(void)
{
    struct plain_run run = plain(20);
    ys_json *metrics = metrics_of(&run);
    CHECK_NEAR(value(metrics, "tokens_per_s"), 8 * value(metrics, "rate_per_s"), 1e-9 * value(metrics, "tokens_per_s"));
    CHECK_NEAR(value(metrics, "bits_per_token"), 0.72134752044448, 1e-13); /* a loss of 1/2: log2 of the root of e */
    CHECK_NEAR(value(metrics, "perplexity"), 1.6487212707001, 1e-12);
    ys_json_free(metrics);
    ys_json_set_string(ys_json_get(run.trial, "keys"), "loss", "mean_squared_error");
    metrics = metrics_of(&run);
    CHECK_HAS(reason(metrics, "bits_per_token"), "the loss of this network is not the mean of -log p");
    CHECK(value(metrics, "tokens_per_s") > 0);
    ys_json_free(metrics);
    ys_json_remove(ys_json_get(run.facts, "work"), "positions");
    metrics = metrics_of(&run);
    static const char *const names[] = {"tokens_per_s", "bits_per_token", "perplexity"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK_HAS(reason(metrics, names[i]), "a row of this network has one target");
    CHECK(value(metrics, "test_loss") == 0.5);
    plain_free(&run, metrics);
}

static void a_loss_that_diverged_is_null_with_a_reason(void)
{
    struct plain_run run = plain(20);
    ys_series_add_real(&run.series, "step_loss", INFINITY);
    ys_json_remove(ys_json_get(run.facts, "evaluation"), "loss");
    ys_json *metrics = metrics_of(&run);
    CHECK(isnan(value(metrics, "final_loss")) && isnan(value(metrics, "test_loss")));
    CHECK_HAS(reason(metrics, "final_loss"), "finite");
    plain_free(&run, metrics);
}

static void a_program_that_does_no_work_learns_nothing(void)
{
    struct plain_run run = plain(20);
    ys_json_set_bool(ys_json_get(run.facts, "hello"), "no_work", true);
    ys_json *metrics = metrics_of(&run);
    static const char *const learning[] = {"accuracy",      "test_loss",  "final_loss",
                                           "flops_per_s",   "parameters", "multiply_adds",
                                           "weights_bytes", "perplexity", "bits_per_token"};
    for (size_t i = 0; i < sizeof learning / sizeof learning[0]; i++)
        CHECK_TEXT(reason(metrics, learning[i]), "this framework does no work");
    CHECK(value(metrics, "rate_per_s") > 0 && value(metrics, "cpu_s") == 0.5);
    plain_free(&run, metrics);
}

static void an_emulator_s_times_and_memory_are_none(void)
{
    struct plain_run run = plain(20);
    ys_json_set(run.trial, "framework", fake_json("{\"name\":\"engine\",\"emulated\":true}"));
    ys_json *metrics = metrics_of(&run);
    static const char *const none[] = {"rate_per_s",        "wall_s",      "step_s",          "cpu_s",
                                       "memory_peak_bytes", "flops_per_s", "context_switches"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        CHECK_TEXT(reason(metrics, none[i]), "emulated");
    CHECK(value(metrics, "parameters") == 77 && value(metrics, "accuracy") == 0.75);
    CHECK(isfinite(value(metrics, "perplexity")));
    plain_free(&run, metrics);
}

static void blocks_that_contradict_each_other_are_not_believed(void)
{
    for (int wrong = 0; wrong < 4; wrong++) {
        struct plain_run run = plain(20);
        if (wrong == 0)
            ys_series_get(&run.series, "block_end_ns", 0)->ints[7] = 0;
        else if (wrong == 1)
            ys_series_get(&run.series, "block_start_ns", 0)->ints[7] = 33 * MS;
        else if (wrong == 2)
            ys_series_get(&run.series, "block_count", 0)->ints[7] = 0;
        else
            ys_series_add_int(&run.series, "block_end_ns", 99999 * MS);
        ys_json *metrics = metrics_of(&run);
        CHECK(isnan(value(metrics, "rate_per_s")) && isnan(value(metrics, "first_step_s")));
        CHECK_HAS(reason(metrics, "rate_per_s"), "contradict");
        CHECK(parts_sum_to_wall(metrics));
        plain_free(&run, metrics);
    }
}

static void counters_are_taken_over(void)
{
    struct plain_run run = plain(20);
    ys_json *metrics = metrics_of(&run);
    CHECK(value(metrics, "cpu_s") == 0.5 && value(metrics, "cpu_user_s") == 0.4 &&
          value(metrics, "cpu_system_s") == 0.1);
    CHECK_NEAR(value(metrics, "cpu_per_wall"), 0.5 / 1.070, 1e-15);
    CHECK_NEAR(value(metrics, "harness_cpu_share"), 0.001 / 1.070, 1e-17);
    CHECK(value(metrics, "context_switches") == 7 && value(metrics, "threads_peak") == 3);
    CHECK(value(metrics, "parameters") == 77 && value(metrics, "multiply_adds") == 1000 &&
          value(metrics, "weights_bytes") == 308);
    CHECK(ys_json_type_of(ys_json_get(ys_json_get(metrics, "rss_peak_bytes"), "value")) == YS_JSON_INT);
    plain_free(&run, metrics);
}

static void what_the_kernel_counted_beside_time_is_shown(void)
{
    struct plain_run run = plain(20);
    ys_json *metrics = metrics_of(&run);
    CHECK(value(metrics, "memory_peak_bytes") == 900000 && value(metrics, "memory_own_peak_bytes") == 800000);
    CHECK(value(metrics, "memory_own_least_bytes") == 700000 && value(metrics, "memory_own_most_bytes") == 9900000);
    CHECK(value(metrics, "page_faults_minor") == 70 && value(metrics, "page_faults_major") == 2);
    CHECK(value(metrics, "read_bytes") == 11 && value(metrics, "written_bytes") == 12);
    CHECK(value(metrics, "disk_read_bytes") == 13 && value(metrics, "disk_written_bytes") == 14);
    CHECK(value(metrics, "cpu_wait_s") == 0.03 && value(metrics, "swap_peak_bytes") == 0);
    ys_json_free(metrics);
    ys_json_set_int(ys_json_get(run.facts, "observation"), "memory_own_most_bytes", 4600000); /* 4 MB are one figure */
    metrics = metrics_of(&run);
    const ys_json *most = ys_json_get(metrics, "memory_own_most_bytes");
    CHECK(ys_json_type_of(ys_json_get(most, "value")) == YS_JSON_NULL);
    CHECK_HAS(ys_json_get_text(most, "reason", ""), "known to 2 % or 4 MB");
    plain_free(&run, metrics);
}

/* 200 MB that four share are resident 800 MB: neither is said to be the peak. */
static void the_peak_of_processes_that_share_pages_is_null_with_both_bounds(void)
{
    struct plain_run run = plain(20);
    ys_json *observed = ys_json_get(run.facts, "observed"), *more = ys_json_get(run.facts, "observation");
    ys_json_set_int(observed, "rss_peak_bytes", 842000000);
    ys_json_set_int(observed, "process_peak_bytes", 210000000);
    ys_json_set_int(more, "shared_rss_bytes", 840000000);
    ys_json_set_int(more, "shared_pss_bytes", 240000000);
    ys_json_set_int(more, "pss_peak_bytes", 245000000);
    ys_json *metrics = metrics_of(&run);
    const ys_json *resident = ys_json_get(metrics, "rss_peak_bytes");
    CHECK(ys_json_type_of(ys_json_get(resident, "value")) == YS_JSON_NULL);
    CHECK_HAS(ys_json_get_text(resident, "reason", ""), "between 245 MB and 842 MB");
    CHECK_HAS(ys_json_get_text(resident, "reason", ""), "memory_own_peak_bytes");
    ys_json_free(metrics);
    ys_json_set_int(more, "shared_pss_bytes", 838000000); /* as much as anybody shares with his neighbours */
    metrics = metrics_of(&run);
    CHECK(value(metrics, "rss_peak_bytes") == 842000000);
    plain_free(&run, metrics);
}

/* Blocks of 5 ms that an adapter says it did, one every 10 ms: it works between them, or hides that it does. */
static void what_passes_between_blocks_belongs_to_the_block_after_it(void)
{
    struct plain_run run = plain(0);
    static const char *const names[] = {"block_first", "block_count", "block_start_ns", "block_end_ns"};
    for (int i = 0; i < 4; i++)
        ys_series_get(&run.series, names[i], 0)->count = 0;
    for (long long i = 0; i < 30; i++) { /* block i ends at 10 (i + 1) ms and says that it began 5 ms before */
        ys_series_add_int(&run.series, names[0], i);
        ys_series_add_int(&run.series, names[1], 1);
        ys_series_add_int(&run.series, names[2], (10 * i + 5) * MS);
        ys_series_add_int(&run.series, names[3], (10 * i + 10) * MS);
    }
    ys_json *metrics = metrics_of(&run);
    CHECK(fabs(value(metrics, "rate_per_s") - 64 / 0.005) < 1e-6); /* stored before requests were */
    ys_json_free(metrics);
    const long long questions[][3] = {{0, 0, 10}, {1, 10, 300}}; /* first step, sent, done: ms */
    for (int i = 0; i < 2; i++) {
        ys_series_add_int(&run.series, "request_first", questions[i][0]);
        ys_series_add_int(&run.series, "request_sent_ns", questions[i][1] * MS);
        ys_series_add_int(&run.series, "request_done_ns", questions[i][2] * MS);
    }
    metrics = metrics_of(&run);
    CHECK(fabs(value(metrics, "rate_per_s") - 64 / 0.010) < 1e-6);
    CHECK(fabs(value(metrics, "step_s") - 0.010) < 1e-12);
    CHECK(fabs(value(metrics, "first_step_s") - 0.010) < 1e-12);
    ys_json_free(metrics);
    ys_series_get(&run.series, "request_done_ns", 0)->ints[1] += 300 * MS; /* and it is long in saying `done` */
    metrics = metrics_of(&run);
    CHECK(value(metrics, "rate_per_s") < 64 / 0.015);
    plain_free(&run, metrics);
}

/* A save lies between two questions, and is no part of the speed. */
static void what_passes_between_questions_is_no_block_s(void)
{
    struct plain_run run = plain(0);
    static const char *const names[] = {"block_first", "block_count", "block_start_ns", "block_end_ns"};
    for (int i = 0; i < 4; i++)
        ys_series_get(&run.series, names[i], 0)->count = 0;
    for (long long i = 0; i < 30; i++) {
        long long sent = 1000 * i;
        ys_series_add_int(&run.series, names[0], i);
        ys_series_add_int(&run.series, names[1], 1);
        ys_series_add_int(&run.series, names[2], (sent + 2) * MS);
        ys_series_add_int(&run.series, names[3], (sent + 9) * MS);
        ys_series_add_int(&run.series, "request_first", i);
        ys_series_add_int(&run.series, "request_sent_ns", sent * MS);
        ys_series_add_int(&run.series, "request_done_ns", (sent + 10) * MS);
    }
    ys_json *metrics = metrics_of(&run);
    CHECK(fabs(value(metrics, "rate_per_s") - 64 / 0.010) < 1e-6);
    plain_free(&run, metrics);
}

static void processor_time_that_is_not_known_in_full_is_null(void)
{
    struct plain_run run = plain(20);
    ys_json_set_int(ys_json_get(run.facts, "usage"), "unwaited_ns", 2000000000);
    ys_json *metrics = metrics_of(&run);
    CHECK(ys_json_type_of(ys_json_get(ys_json_get(metrics, "cpu_s"), "value")) == YS_JSON_NULL);
    CHECK_HAS(ys_json_get_text(ys_json_get(metrics, "cpu_s"), "reason", ""), "nobody waited for used 2 s more");
    CHECK(value(metrics, "context_switches") == 7);
    plain_free(&run, metrics);
}

TAP_MAIN(TAP_CASE(an_emulator_s_times_and_memory_are_none), TAP_CASE(processor_time_that_is_not_known_in_full_is_null),
         TAP_CASE(what_passes_between_blocks_belongs_to_the_block_after_it),
         TAP_CASE(what_passes_between_questions_is_no_block_s), TAP_CASE(what_the_kernel_counted_beside_time_is_shown),
         TAP_CASE(the_peak_of_processes_that_share_pages_is_null_with_both_bounds),
         TAP_CASE(every_metric_is_there_with_its_unit_or_a_reason), TAP_CASE(a_wait_in_which_it_computed_is_none),
         TAP_CASE(the_parts_are_what_the_stamps_say), TAP_CASE(parts_and_rest_sum_to_wall_to_the_nanosecond),
         TAP_CASE(input_and_compute_sum_to_train), TAP_CASE(pauses_and_evaluations_of_checkpoints_are_evaluation),
         TAP_CASE(evaluation_inside_a_run_is_counted_once), TAP_CASE(time_to_a_target_is_that_of_the_steps_before_it),
         TAP_CASE(a_run_without_its_target_has_the_time_that_it_spent), TAP_CASE(the_rate_is_samples_over_seconds),
         TAP_CASE(warm_up_blocks_are_not_in_the_rate),
         TAP_CASE(turns_count_without_waiting_settling_and_what_was_dropped),
         TAP_CASE(a_run_that_never_gets_steady_says_so_and_uses_its_last_half),
         TAP_CASE(few_blocks_say_that_they_are_few), TAP_CASE(a_single_step_has_no_rate),
         TAP_CASE(a_failed_run_has_times_and_no_speed), TAP_CASE(a_run_that_never_started_knows_nothing_and_says_so),
         TAP_CASE(without_an_evaluation_there_is_no_accuracy), TAP_CASE(accuracy_is_correct_over_count),
         TAP_CASE(a_loss_that_diverged_is_null_with_a_reason),
         TAP_CASE(tokens_and_what_they_surprise_by_follow_from_positions),
         TAP_CASE(a_program_that_does_no_work_learns_nothing),
         TAP_CASE(blocks_that_contradict_each_other_are_not_believed), TAP_CASE(counters_are_taken_over))
