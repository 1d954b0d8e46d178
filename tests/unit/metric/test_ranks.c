/* A trial of several ranks, rank by rank. */
#include "base/mem.h"
#include "metric/ranks.h"
#include "tap.h"

#include <math.h>

enum { RUNS = 4, RANKS = 2 };

struct made {
    struct ys_metric_view_run runs[RUNS];
    struct ys_facts_rank ranks[RUNS][RANKS];
    struct ys_metric_view_trial trial;
};

/* Four runs of two ranks, the third of which failed. */
static void fill(struct made *made)
{
    static const double cpu_s[RUNS] = {1, 5, 100, 3}, waiting_s[RUNS] = {0.1, 0.2, 100, 0.6};
    *made = (struct made){.trial = {.runs = made->runs, .run_count = RUNS}};
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

static struct ys_result_rank rank_of(const struct ys_metric_view_trial *trial, size_t rank)
{
    struct ys_result_rank told = {0};
    ys_status status = YS_OK;
    ys_json *block = ys_ranks_block(&status, trial);
    CHECK_INT(status, YS_OK);
    CHECK_INT(ys_json_size(block), RANKS);
    ys_record_glance(&ys_result_rank_record, ys_json_at(block, rank), &told);
    ys_json_free(block);
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
    CHECK_NEAR(first.waiting_s, 0.3, 1e-15); /* mean */
    CHECK(isnan(first.rate_per_s) && isnan(first.rss_peak_bytes));
    CHECK_NEAR(second.rss_peak_bytes, 4096, 0);
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
    ys_status status = YS_OK;
    fill(&made);
    for (int i = 0; i < RUNS; i++)
        made.runs[i].facts.ranks = (struct ys_list){0};
    CHECK(!ys_ranks_block(&status, &made.trial));
    CHECK_INT(status, YS_OK);
}

TAP_MAIN(TAP_CASE(figures_are_of_the_runs_that_are_ok),
         TAP_CASE(how_each_ended_is_told_of_the_failure_that_the_trial_tells_of),
         TAP_CASE(of_one_process_there_is_nothing_to_tell))
