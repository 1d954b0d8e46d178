/* The metrics of runs that were recorded (tests/fixtures/runs). What they must be follows from the facts themselves. */
#include "recorded.h"

#include <math.h>

static const char *const parts[] = {"start_s", "build_s", "first_step_s", "warmup_s", "train_s",
                                    "eval_s",  "save_s",  "stop_s",       "rest_s",   "requests_s"};

static double value(const ys_json *metrics, const char *name)
{
    return ys_json_get_number(ys_json_get(metrics, name), "value", NAN);
}

static const char *reason(const ys_json *metrics, const char *name)
{
    return ys_json_get_text(ys_json_get(metrics, name), "reason", "");
}

/** The run and its metrics; the caller frees both. */
static ys_json *metrics_of(const char *name, struct recorded *run, struct ys_facts *facts)
{
    *run = recorded_open(name);
    CHECK(ys_facts_read(run->facts, name, facts) == YS_OK);
    return ys_metric_of_run(run->trial, facts, &run->series);
}

static void forget(struct recorded *run, struct ys_facts *facts, ys_json *metrics)
{
    ys_json_free(metrics);
    ys_facts_fini(facts);
    recorded_close(run);
}

/** Whether `value` is as it was `stored`: what a newer yardstick knows beside that is no difference. */
static bool holds(const ys_json *value, const ys_json *stored)
{
    if (ys_json_type_of(stored) != YS_JSON_OBJECT)
        return ys_json_equal(value, stored);
    for (void *it = ys_json_iter(stored); it; it = ys_json_next(stored, it))
        if (!holds(ys_json_get(value, ys_json_iter_key(it)), ys_json_iter_value(it))) {
            printf("# %s is another\n", ys_json_iter_key(it));
            return false;
        }
    return true;
}

static void facts_come_back_as_they_were_stored(void)
{
    for (size_t i = 0; i < RECORDED_RUNS; i++) {
        struct recorded run = recorded_open(recorded_names[i]);
        struct ys_facts facts;
        REQUIRE(ys_facts_read(run.facts, recorded_names[i], &facts) == YS_OK);
        ys_json *again = ys_record_json(&ys_facts_record, &facts);
        CHECK(holds(again, run.facts));
        ys_json_free(again);
        ys_facts_fini(&facts);
        recorded_close(&run);
    }
}

static void every_metric_has_a_value_or_a_reason(void)
{
    for (size_t i = 0; i < RECORDED_RUNS; i++) {
        struct recorded run;
        struct ys_facts facts;
        ys_json *metrics = metrics_of(recorded_names[i], &run, &facts);
        size_t count;
        const struct ys_metric_info *infos = ys_metric_infos(&count);
        for (size_t m = 0; m < count; m++)
            CHECK(isfinite(value(metrics, infos[m].name)) != (*reason(metrics, infos[m].name) != 0));
        forget(&run, &facts, metrics);
    }
}

static void the_parts_sum_to_the_wall_clock(void)
{
    for (size_t i = 0; i < RECORDED_RUNS; i++) {
        struct recorded run;
        struct ys_facts facts;
        ys_json *metrics = metrics_of(recorded_names[i], &run, &facts);
        double sum_s = 0, eval_s = value(metrics, "eval_s");
        for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
            sum_s += isfinite(value(metrics, parts[p])) ? value(metrics, parts[p]) : 0;
        /* saves between steps are no part of the work */
        const double lived_s = (double)(facts.times.end_ns - facts.times.exec_ns - facts.times.paused_ns) * 1e-9;
        if (strcmp(recorded_names[i], "builtin-infer") != 0)   /* which has other parts: test_infer.c */
            CHECK_NEAR(sum_s, value(metrics, "wall_s"), 1e-8); /* nine numbers of whole nanoseconds */
        CHECK_NEAR(value(metrics, "wall_s"), lived_s + (isfinite(eval_s) ? eval_s : 0), 1e-8);
        CHECK_NEAR(value(metrics, "start_s"), (double)(facts.times.hello_ns - facts.times.exec_ns) * 1e-9, 1e-8);
        forget(&run, &facts, metrics);
    }
}

static void a_training_has_speed_memory_and_the_accuracy_of_its_evaluation(void)
{
    static const char *const names[] = {"builtin", "pytorch"};
    for (size_t i = 0; i < 2; i++) {
        struct recorded run;
        struct ys_facts facts;
        ys_json *metrics = metrics_of(names[i], &run, &facts);
        const ys_json *evaluation = ys_json_get(run.facts, "evaluation");
        CHECK_NEAR(value(metrics, "accuracy"),
                   (double)ys_json_get_int(evaluation, "correct", -1) / (double)ys_json_get_int(evaluation, "count", 1),
                   1e-12);
        /* 100 steps of 32 rows in at most the time between the question and the answer */
        double asked_s = (double)(facts.times.trained_ns - facts.times.train_ns) * 1e-9;
        CHECK(value(metrics, "rate_per_s") * asked_s > 0.9 * 100 * 32);
        CHECK(value(metrics, "train_s") < asked_s);
        CHECK(value(metrics, "memory_peak_bytes") > 0);
        CHECK(value(metrics, "final_loss") > 0 || *reason(metrics, "final_loss"));
        forget(&run, &facts, metrics);
    }
}

static void a_run_that_crashed_has_what_came_before_and_reasons_for_the_rest(void)
{
    struct recorded run;
    struct ys_facts facts;
    ys_json *metrics = metrics_of("crashed", &run, &facts);
    CHECK(value(metrics, "start_s") > 0 && value(metrics, "build_s") > 0);
    CHECK(isnan(value(metrics, "rate_per_s")) && isnan(value(metrics, "save_s")) && isnan(value(metrics, "accuracy")));
    CHECK(*reason(metrics, "rate_per_s") && *reason(metrics, "save_s"));
    forget(&run, &facts, metrics);
}

TAP_MAIN(TAP_CASE(facts_come_back_as_they_were_stored), TAP_CASE(every_metric_has_a_value_or_a_reason),
         TAP_CASE(the_parts_sum_to_the_wall_clock),
         TAP_CASE(a_training_has_speed_memory_and_the_accuracy_of_its_evaluation),
         TAP_CASE(a_run_that_crashed_has_what_came_before_and_reasons_for_the_rest))
