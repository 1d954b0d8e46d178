/* A trial of several ranks, rank by rank. */
#include "base/mem.h"
#include "metric/result/rank_results.h"
#include "tap.h"

#include <math.h>

enum { RUNS = 4, RANKS = 2 };

static const struct ys_trial_record record = {.keys = {.precision = YS_PRECISION_F32}};

struct made {
    struct ys_metric_view_run runs[RUNS];
    struct ys_facts_rank ranks[RUNS][RANKS];
    struct ys_metric_view_trial trial;
};

/* Four runs of two ranks, the third of which failed. */
static void fill(struct made *made)
{
    static const double cpu_s[RUNS] = {1, 5, 100, 3}, waiting_s[RUNS] = {0.1, 0.2, 100, 0.6};
    *made = (struct made){.trial = {.runs = made->runs, .record = &record, .run_count = RUNS}};
    for (int i = 0; i < RUNS; i++) {
        made->runs[i] = (struct ys_metric_view_run){.round = i, .ok = i != 2, .counted = true};
        for (int r = 0; r < RANKS; r++)
            made->ranks[i][r] = (struct ys_facts_rank){.rank = r,
                                                       .status = i != 2 ? YS_RUN_OK
                                                                 : r    ? YS_RUN_KILLED
                                                                        : YS_RUN_CANCELLED,
                                                       .rate_per_s = NAN,
                                                       .cpu_s = cpu_s[i] * (r + 1),
                                                       .waiting_s = waiting_s[i],
                                                       .rss_peak_bytes = r ? 4096 : YS_FIELD_NONE};
        made->runs[i].facts.ranks = (struct ys_list){made->ranks[i], RANKS};
    }
}

/* Borrows what it owns. */
static void of(const struct ys_list *block, size_t rank, struct ys_result_rank *told)
{
    *told = ((const struct ys_result_rank *)block->items)[rank];
}

static double end_of(const struct ys_list *ends, size_t which)
{
    return ends->count == 2 ? ((const double *)ends->items)[which] : (double)NAN;
}

static struct ys_result_rank rank_of(const struct ys_metric_view_trial *trial, size_t rank)
{
    struct ys_result_rank told;
    struct ys_list block = ys_ranks_list(trial);
    CHECK_INT(block.count, RANKS);
    of(&block, rank, &told);
    ys_list_fini(&ys_result_rank_record, &block);
    return told;
}

static void figures_are_of_the_runs_that_are_ok(void)
{
    struct made made;
    fill(&made);
    const struct ys_result_rank first = rank_of(&made.trial, 0), second = rank_of(&made.trial, 1);
    CHECK_INT(first.rank, 0);
    CHECK_INT(second.rank, 1);
    CHECK_INT(first.runs, 3);
    CHECK_NEAR(first.cpu_s, 3, 0); /* median */
    CHECK_NEAR(second.cpu_s, 6, 0);
    CHECK_NEAR(first.waiting_s, 0.2, 0);
    CHECK(isnan(first.rate_per_s) && isnan(first.rss_peak_bytes));
    CHECK_NEAR(second.rss_peak_bytes, 4096, 0);
}

enum { ROUNDS = 6, THREE = 3 };

/* Six runs of three ranks: the second computes 20 ms longer than the first and 18 ms longer than the third, give or
 * take what the rounds differ; the third waits for rows 5 ms longer than the others. */
static void fill_steps(struct ys_metric_view_run *runs, struct ys_facts_rank ranks[][THREE], double late_s)
{
    static const double noise_s[ROUNDS] = {0.003, 0, 0.001, 0.005, 0.002, 0.004}, compute_s[THREE] = {0.010, 0, 0.012};
    for (int i = 0; i < ROUNDS; i++) {
        runs[i] = (struct ys_metric_view_run){.round = i, .ok = true, .counted = true};
        for (int r = 0; r < THREE; r++)
            ranks[i][r] = (struct ys_facts_rank){.rank = r,
                                                 .compute_s = r == 1 ? 0.010 + late_s + noise_s[i] : compute_s[r],
                                                 .input_s = r == 2 ? 0.006 : 0.001};
        runs[i].facts.ranks = (struct ys_list){ranks[i], THREE};
    }
}

static void parts_of_a_step_have_the_interval_of_their_median(void)
{
    struct ys_metric_view_run runs[ROUNDS];
    struct ys_facts_rank ranks[ROUNDS][THREE];
    const struct ys_metric_view_trial trial = {.runs = runs, .record = &record, .run_count = ROUNDS};
    struct ys_result_rank told;
    fill_steps(runs, ranks, 0.020);
    struct ys_list block = ys_ranks_list(&trial);
    of(&block, 1, &told);
    CHECK_NEAR(told.compute_s, 0.0325, 1e-15);
    CHECK_NEAR(end_of(&told.compute_ci, 0), 0.030, 1e-15); /* of six values the smallest */
    CHECK_NEAR(end_of(&told.compute_ci, 1), 0.035, 1e-15); /* and the largest */
    CHECK_NEAR(told.level, 0.96875, 1e-12);
    ys_list_fini(&ys_result_rank_record, &block);
    runs[4].ok = false; /* five are left */
    block = ys_ranks_list(&trial);
    of(&block, 1, &told);
    CHECK_NEAR(told.compute_s, 0.033, 1e-15);
    CHECK_INT(told.compute_ci.count, 0);
    CHECK_INT(told.late_ci.count, 0);
    CHECK(isnan(told.level));
    ys_list_fini(&ys_result_rank_record, &block);
}

static void who_is_late_is_told_with_the_part_that_makes_it_so(void)
{
    struct ys_metric_view_run runs[ROUNDS];
    struct ys_facts_rank ranks[ROUNDS][THREE];
    const struct ys_metric_view_trial trial = {.runs = runs, .record = &record, .run_count = ROUNDS};
    struct ys_result_rank told[THREE];
    fill_steps(runs, ranks, 0.020);
    struct ys_list block = ys_ranks_list(&trial);
    for (size_t r = 0; r < THREE; r++)
        of(&block, r, &told[r]);
    CHECK_INT(told[1].late_part, YS_RANK_COMPUTE);
    CHECK_NEAR(told[1].late_s, 0.0325 - 0.011, 1e-15); /* beyond the median of the other two */
    CHECK_NEAR(end_of(&told[1].late_ci, 0), 0.030 - 0.011, 1e-15);
    CHECK_INT(told[2].late_part, YS_RANK_INPUT);
    CHECK_NEAR(told[2].late_s, 0.005, 1e-15);
    CHECK_NEAR(told[0].late_s, 0, 1e-15); /* its rest is that of the others, in all else it is the faster one */
    ys_list_fini(&ys_result_rank_record, &block);
    ranks[0][0].compute_s = ranks[0][0].input_s = ranks[0][0].rest_s = NAN; /* of this run nothing can be said */
    block = ys_ranks_list(&trial);
    of(&block, 1, &told[1]);
    CHECK_NEAR(told[1].late_s, 0.032 - 0.011, 1e-15); /* the median of 0, 1, 2, 4 and 5 ms */
    ys_list_fini(&ys_result_rank_record, &block);
}

static void what_was_heard_of_collectives_is_a_median_with_the_last_runs_library(void)
{
    struct made made;
    fill(&made);
    struct ys_facts_collectives heard[RUNS];
    for (int i = 0; i < RUNS; i++) {
        ys_record_init(&ys_facts_collectives_record, &heard[i]);
        heard[i].library = i == 3 ? NULL : (char *)(uintptr_t) "gloo";
        heard[i].reason = i == 3 ? (char *)(uintptr_t) "listen = off" : NULL;
        heard[i].busy_s = i == 3 ? (double)NAN : 0.001 * (i + 1);
        heard[i].step_bytes = 4096;
        made.ranks[i][0].collectives = &heard[i];
    }
    const struct ys_result_rank first = rank_of(&made.trial, 0), second = rank_of(&made.trial, 1);
    struct ys_result_rank told;
    CHECK_NEAR(first.collective_s, 0.0015, 1e-15); /* of 1 and 2 ms; the third run failed, the last one does not know */
    CHECK_NEAR(first.collective_bytes, 4096, 0);
    CHECK(isnan(first.hidden_s) && isnan(first.collective_calls));
    CHECK(isnan(second.collective_s));
    struct ys_list block = ys_ranks_list(&made.trial);
    of(&block, 0, &told);
    CHECK_TEXT(told.collective_reason, "listen = off");
    CHECK(!told.collective_library);
    ys_list_fini(&ys_result_rank_record, &block);
}

static void an_optimizer_or_a_framework_can_make_a_rank_late(void)
{
    struct ys_metric_view_run runs[ROUNDS];
    struct ys_facts_rank ranks[ROUNDS][THREE];
    const struct ys_metric_view_trial trial = {.record = &record, .runs = runs, .run_count = ROUNDS};
    struct ys_result_rank told;
    fill_steps(runs, ranks, 0);
    for (int i = 0; i < ROUNDS; i++) {
        ranks[i][0].optimizer_s = 0.050;
        ranks[i][2].framework_s = 0.060;
    }
    struct ys_list block = ys_ranks_list(&trial);
    of(&block, 0, &told);
    CHECK_INT(told.late_part, YS_RANK_OPTIMIZER);
    CHECK_NEAR(told.late_s, 0.050, 1e-15);
    CHECK_NEAR(told.optimizer_s, 0.050, 1e-15);
    CHECK_NEAR(end_of(&told.optimizer_ci, 1), 0.050, 1e-15);
    of(&block, 2, &told);
    CHECK_INT(told.late_part, YS_RANK_FRAMEWORK);
    CHECK_NEAR(told.late_s, 0.060, 1e-15);
    ys_list_fini(&ys_result_rank_record, &block);
    for (int i = 0; i < ROUNDS; i++)
        for (int r = 0; r < THREE; r++)
            ranks[i][r].optimizer_s = ranks[i][r].framework_s = NAN; /* nobody tells */
    block = ys_ranks_list(&trial);
    of(&block, 2, &told);
    CHECK(isnan(told.framework_s) && isnan(told.optimizer_s));
    CHECK_INT(told.late_part, YS_RANK_INPUT);
    ys_list_fini(&ys_result_rank_record, &block);
}

static void why_parts_are_not_known_is_told(void)
{
    struct made made;
    fill(&made);
    CHECK(!rank_of(&made.trial, 0).untimed); /* they are */
    for (int i = 0; i < RUNS; i++)
        for (int r = 0; r < RANKS; r++)
            made.ranks[i][r].compute_s = NAN;
    struct ys_list block = ys_ranks_list(&made.trial);
    struct ys_result_rank told;
    of(&block, 1, &told);
    CHECK_HAS(told.untimed, "its adapter does not say when gradients were");
    ys_list_fini(&ys_result_rank_record, &block);
    made.runs[3].facts.said.untimed = "a step is one program";
    made.runs[2].facts.said.untimed = "it failed";
    block = ys_ranks_list(&made.trial);
    of(&block, 0, &told);
    CHECK_TEXT(told.untimed, "a step is one program");
    ys_list_fini(&ys_result_rank_record, &block);
    for (int i = 0; i < RUNS; i++)
        made.runs[i].ok = false;
    block = ys_ranks_list(&made.trial);
    of(&block, 0, &told);
    CHECK(!told.untimed); /* nothing ended well */
    ys_list_fini(&ys_result_rank_record, &block);
}

static void how_each_ended_is_told_of_the_failure_that_the_trial_tells_of(void)
{
    struct made made;
    fill(&made);
    CHECK_INT(rank_of(&made.trial, 1).status, YS_RUN_OK);
    made.trial.failure = &made.runs[2];
    CHECK_INT(rank_of(&made.trial, 0).status, YS_RUN_CANCELLED);
    CHECK_INT(rank_of(&made.trial, 1).status, YS_RUN_KILLED);
    made.runs[2].facts.ranks = (struct ys_list){0}; /* it failed before there were any */
    CHECK_INT(rank_of(&made.trial, 1).status, YS_NAME_NONE);
}

static void of_one_process_there_is_nothing_to_tell(void)
{
    struct made made;
    fill(&made);
    for (int i = 0; i < RUNS; i++)
        made.runs[i].facts.ranks = (struct ys_list){0};
    CHECK_INT(ys_ranks_list(&made.trial).count, 0);
}

TAP_MAIN(TAP_CASE(what_was_heard_of_collectives_is_a_median_with_the_last_runs_library),
         TAP_CASE(figures_are_of_the_runs_that_are_ok), TAP_CASE(parts_of_a_step_have_the_interval_of_their_median),
         TAP_CASE(who_is_late_is_told_with_the_part_that_makes_it_so),
         TAP_CASE(an_optimizer_or_a_framework_can_make_a_rank_late), TAP_CASE(why_parts_are_not_known_is_told),
         TAP_CASE(how_each_ended_is_told_of_the_failure_that_the_trial_tells_of),
         TAP_CASE(of_one_process_there_is_nothing_to_tell))
