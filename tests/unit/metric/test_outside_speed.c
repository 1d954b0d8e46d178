/* How fast a run was as seen from outside. */
#include "metric/outside_speed.h"

#include "base/mem.h"
#include "metric/study_view.h"
#include "tap.h"

#include <math.h>

/* A run of 101 steps of 16 rows: 1 s for `open`, 2 s for the first step, 40 steps of warm-up and 60 steady ones of
 * 0.1 s; and what its proof took. */
struct made {
    struct ys_metric_view_run run;
    struct ys_facts_phase_cpu cpu;
    struct ys_trial_record trial;
};

static void put(struct made *made, const char *metric, double value)
{
    size_t count;
    made->run.metrics[ys_metric_find(metric) - ys_metric_infos(&count)].value = value;
    for (int m = 0; m < YS_COMPARED; m++)
        if (strcmp(ys_compared[m], metric) == 0)
            made->run.compared[m] = value;
}

static void make(struct made *made, const char *proof)
{
    size_t count;
    ys_metric_infos(&count);
    *made = (struct made){.run = {.ok = true, .counted = true, .steady_s = 6}};
    made->run.metrics = ys_alloc(count, sizeof *made->run.metrics);
    for (size_t i = 0; i < count; i++)
        made->run.metrics[i].value = made->run.metrics[i].cpu_s = NAN;
    for (int m = 0; m < YS_COMPARED; m++)
        made->run.compared[m] = NAN;
    made->cpu = (struct ys_facts_phase_cpu){1, 1, 2, 10, NAN, 0.1};
    made->run.facts.phase_cpu = &made->cpu;
    made->run.facts.steps_done = 101;
    made->trial.keys.batch = 16;
    made->trial.keys.ranks = YS_FIELD_NONE;
    CHECK(ys_json_parse(proof, strlen(proof), "proof", &made->trial.proof) == YS_OK);
    put(made, "build_s", 1);
    put(made, "first_step_s", 2);
    put(made, "warmup_s", 4);
    put(made, "rate_per_s", 160);
    put(made, "step_s", 0.1);
}

static void drop(struct made *made)
{
    ys_json_free(made->trial.proof);
    ys_free(made->run.metrics);
}

static struct ys_run_outside find(struct made *made)
{
    struct ys_metric_view_trial trial = {.record = &made->trial, .runs = &made->run, .run_count = 1};
    ys_outside_find(&trial);
    return made->run.outside;
}

static const char alike[] = "{\"open_s\": 1.1, \"open_cpu_s\": 1, \"first_s\": 1.9, \"first_cpu_s\": 1.9}";

static void a_run_that_began_as_its_proof_did_has_one_speed(void)
{
    struct made made;
    make(&made, alike);
    const struct ys_run_outside found = find(&made);
    CHECK_NEAR(found.ahead_s, 0, 0);
    CHECK(isnan(found.whole[0]) && isnan(found.whole[1]) && isnan(found.steps));
    CHECK_NEAR(ys_outside_reach(&found, 0, 160), 0, 0);
    drop(&made);
}

/* 3 s more in `open` than the proof took, and a tenth of that: all 101 steps, of 0.1 s, may have taken 10.1 + 3 s. Of
 * 60 s of steady part, 600 steps behind 41 others, they were a twentieth. */
static void what_nothing_explains_may_be_work(void)
{
    struct made made;
    make(&made, alike);
    put(&made, "build_s", 4.21);
    made.cpu.open_s = 4.4;
    struct ys_run_outside found = find(&made);
    CHECK_NEAR(found.ahead_s, 3, 1e-12);
    CHECK_NEAR(found.whole[0], 160 / (1 + 3 / 10.1), 1e-9);
    CHECK_NEAR(found.whole[1], 0.1 * (1 + 3 / 10.1), 1e-12);
    CHECK_NEAR(found.steps, 641, 1);
    CHECK_NEAR(ys_outside_reach(&found, 0, 160), log(1 + 3 / 10.1), 1e-12);
    CHECK_NEAR(ys_outside_reach(&found, 1, 0.1), log(1 + 3 / 10.1), 1e-12);
    CHECK_NEAR(ys_outside_reach(&found, 0, 100), 0, 0); /* of a window in which it was no faster than the whole */
    CHECK_NEAR(ys_outside_reach(&found, ys_compared_place("accuracy"), 0.9), 0, 0);
    put(&made, "build_s", 1);
    put(&made, "first_step_s", 5); /* which has one step of its own, of 0.1 s as all */
    made.cpu.first_step_s = 6;
    found = find(&made);
    CHECK_NEAR(found.ahead_s, 3, 1e-12);
    put(&made, "first_step_s", 2);
    put(&made, "warmup_s", 7);
    CHECK_NEAR(find(&made).ahead_s, 3, 1e-12);
    drop(&made);
}

/* 10 of the 40 steps of warm-up settled in, and took 4 s in the place of 1. */
static void what_steps_take_that_settle_in_counts_whole(void)
{
    struct made made;
    struct ys_facts_turns turns = {.settled = 10, .settled_ns = 1000000000};
    make(&made, alike);
    made.run.facts.turns = &turns;
    CHECK_NEAR(find(&made).ahead_s, 0, 0);
    put(&made, "warmup_s", 7);
    turns.settled_ns = 4000000000;
    struct ys_facts_turns fast = {.settled = 10, .settled_ns = 1000000000};
    struct ys_metric_view_run runs[8];
    for (int i = 0; i < 8; i++)
        runs[i] = made.run;
    for (int i = 1; i < 8; i++) /* in the one run alone: what it takes is no matter of how most runs began */
        runs[i].facts.turns = &fast;
    struct ys_metric_view_trial trial = {.record = &made.trial, .runs = runs, .run_count = 8};
    ys_outside_find(&trial);
    CHECK_NEAR(runs[0].outside.ahead_s, 3, 1e-12);
    CHECK_NEAR(runs[0].outside.whole[0], 160 / (1 + 3 / 10.1), 1e-9);
    drop(&made);
}

static void who_waits_does_no_work(void)
{
    struct made made;
    make(&made, alike);
    put(&made, "build_s", 4.21); /* with the processor time of the proof's */
    CHECK_NEAR(find(&made).ahead_s, 0, 0);
    made.cpu.open_s = 1.6;
    CHECK_NEAR(find(&made).ahead_s, 0.5, 1e-12);
    made.run.facts.phase_cpu = NULL; /* a run that was not sampled */
    CHECK_NEAR(find(&made).ahead_s, 3, 1e-12);
    drop(&made);
}

/* 3 s more for 40 steps of warm-up than steady ones take, of 10 s of processor time of all: with 4 s of it, as those of
 * the steady part have, and with 5.5 s, 2.5 s of which are not explained by 60 steps in 4.5 s. */
static void a_warm_up_that_waits_does_no_work(void)
{
    struct made made;
    make(&made, alike);
    put(&made, "warmup_s", 7);
    double *cpu_s = &made.run.metrics[ys_metric_find("warmup_s") - ys_metric_infos(&(size_t){0})].cpu_s;
    *cpu_s = 4;
    CHECK_NEAR(find(&made).ahead_s, 0, 0);
    *cpu_s = 5.5;
    CHECK_NEAR(find(&made).ahead_s, 5.5 - 40 * 4.5 / 60, 1e-12);
    *cpu_s = 9;
    CHECK_NEAR(find(&made).ahead_s, 3, 1e-12);
    drop(&made);
}

/* Openings of 3 s more, in each run, in all but two of eight, and in one: what fewer than three quarters show is noise.
 */
static void what_few_runs_show_is_of_the_machine(void)
{
    static const struct {
        int usual;
        double ahead_s;
    } cases[] = {{0, 3}, {2, 3}, {3, 0}, {7, 0}};
    struct made made, slow;
    make(&made, alike);
    make(&slow, alike);
    put(&slow, "build_s", 4.21);
    slow.run.facts.phase_cpu = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ys_metric_view_run runs[8];
        struct ys_metric_view_trial trial = {.record = &made.trial, .runs = runs, .run_count = 8};
        for (int r = 0; r < 8; r++)
            runs[r] = r < cases[i].usual ? made.run : slow.run;
        ys_outside_find(&trial);
        CHECK_NEAR(runs[7].outside.ahead_s, cases[i].ahead_s, 1e-12);
    }
    drop(&made);
    drop(&slow);
}

/* A twentieth of the steady part is 0.3 s. */
static void what_is_too_short_to_hold_work_is_none(void)
{
    struct made made;
    make(&made, alike);
    put(&made, "warmup_s", 4.29);
    CHECK(isnan(find(&made).whole[0]));
    put(&made, "warmup_s", 4.31);
    CHECK_NEAR(find(&made).ahead_s, 0.31, 1e-12);
    drop(&made);
}

static void a_proof_that_kept_no_times_explains_nothing_and_hides_nothing(void)
{
    struct made made;
    make(&made, "{\"verdict\": \"pass\"}");
    put(&made, "build_s", 100);
    CHECK(isnan(find(&made).whole[0]));
    drop(&made);
}

/* Half of the blocks took 0.08 s a step: their median hides what the mean holds. */
static void a_median_of_uneven_steps_has_the_mean_at_its_other_end(void)
{
    struct made made;
    make(&made, alike);
    put(&made, "step_s", 0.08);
    const struct ys_run_outside found = find(&made);
    CHECK(isnan(found.whole[0]));
    CHECK_NEAR(found.whole[1], 0.1, 1e-12);
    put(&made, "step_s", 0.096);
    CHECK(isnan(find(&made).whole[1]));
    drop(&made);
}

static void runs_that_failed_or_do_no_work_have_none(void)
{
    struct made made;
    make(&made, alike);
    put(&made, "warmup_s", 70);
    made.run.facts.said.no_work = true;
    CHECK(isnan(find(&made).whole[0]));
    made.run.facts.said.no_work = false;
    made.run.ok = false;
    CHECK(isnan(find(&made).whole[0]));
    drop(&made);
}

static void it_is_said_once_a_trial_with_the_farthest_run(void)
{
    struct made made;
    make(&made, alike);
    struct ys_metric_view_run runs[2] = {made.run, made.run};
    struct ys_metric_view_trial trial = {.record = &made.trial, .runs = runs, .run_count = 2};
    ys_json *texts = ys_json_array();
    put(&made, "warmup_s", 5);
    runs[0].outside = find(&made);
    put(&made, "warmup_s", 7);
    put(&made, "step_s", 0.08);
    runs[1].compared[1] = 0.08;
    runs[1].outside = find(&made);
    ys_outside_say(&trial, texts);
    CHECK_INT(ys_json_size(texts), 2);
    CHECK_HAS(ys_json_text(ys_json_at(texts, 0), ""), "up to 1.3 times too high");
    CHECK_HAS(ys_json_text(ys_json_at(texts, 0), ""), "641 steps or more");
    CHECK_HAS(ys_json_text(ys_json_at(texts, 1), ""), "holds with and without them");
    ys_json_free(texts);
    drop(&made);
}

TAP_MAIN(TAP_CASE(a_run_that_began_as_its_proof_did_has_one_speed), TAP_CASE(what_nothing_explains_may_be_work),
         TAP_CASE(what_steps_take_that_settle_in_counts_whole), TAP_CASE(who_waits_does_no_work),
         TAP_CASE(a_warm_up_that_waits_does_no_work), TAP_CASE(what_few_runs_show_is_of_the_machine),
         TAP_CASE(what_is_too_short_to_hold_work_is_none),
         TAP_CASE(a_proof_that_kept_no_times_explains_nothing_and_hides_nothing),
         TAP_CASE(a_median_of_uneven_steps_has_the_mean_at_its_other_end),
         TAP_CASE(runs_that_failed_or_do_no_work_have_none), TAP_CASE(it_is_said_once_a_trial_with_the_farthest_run))
