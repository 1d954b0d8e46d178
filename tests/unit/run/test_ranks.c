/* What the ranks of a run get, and which of them is to blame. */
#include "crew/ranks.h"
#include "run_fixture.h"

static void shares_of_cpus_are_equal_and_apart_or_common(void)
{
    static const struct {
        size_t count;
        int64_t world;
        size_t first[4], share;
    } known[] = {{4, 2, {0, 2}, 2}, {4, 4, {0, 1, 2, 3}, 1}, {2, 4, {0, 0, 1, 1}, 1}, {1, 3, {0, 0, 0}, 1}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        for (int64_t r = 0; r < known[i].world; r++) {
            size_t first = 99;
            CHECK_INT(ys_rank_cpus(known[i].count, known[i].world, r, &first), known[i].share);
            CHECK_INT(first, known[i].first[r]);
        }
    CHECK_INT(ys_rank_threads(4, 2), 2);
    CHECK_INT(ys_rank_threads(2, 4), 1);
    CHECK_INT(ys_rank_threads(3, 1), 3);
}

static void a_rank_has_its_part_of_the_plan(void)
{
    struct ys_plan plan = fixture_plan(4, 1), made;
    struct ys_dist_place place;
    int64_t cpus[] = {3, 5, 7, 9};
    REQUIRE(ys_dist_place_take(YS_DIST_LOOPBACK, &place) == YS_OK);
    plan.cpus = (struct ys_list){cpus, 4};
    plan.threads = 4;
    plan.batch = 8;
    plan.dist.world = 2;
    REQUIRE(ys_rank_plan(&plan, 1, &place, &made) == YS_OK);
    CHECK(made.dist.rank == 1 && made.dist.local_rank == 1 && made.dist.world == 2 && made.batch == 8);
    CHECK_TEXT(made.dist.rendezvous, place.text);
    CHECK_TEXT(made.dist.address, "127.0.0.1");
    CHECK_INT(made.threads, 2);
    CHECK_INT(made.cpus.count, 2);
    CHECK_INT(((const int64_t *)made.cpus.items)[0], 7);
    CHECK_HAS(made.folder, "/rank-1");
    CHECK(ys_fs_exists(made.folder));
    ys_plan_fini(&made);
    REQUIRE(ys_rank_plan(&plan, 0, &place, &made) == YS_OK);
    CHECK_TEXT(made.folder, plan.folder);
    ys_plan_fini(&made);
    plan.cpus = (struct ys_list){0};
    ys_plan_fini(&plan);
    ys_dist_place_give_back(&place);
}

/* Of hosts of their own each has all threads and CPUs for its own ranks; of one that is called several, all share. */
static void ranks_of_hosts_have_what_these_have(void)
{
    struct ys_plan plan = fixture_plan(4, 1);
    struct ys_rank_plans made;
    int64_t cpus[] = {3, 5};
    plan.cpus = (struct ys_list){cpus, 2};
    plan.threads = 2;
    plan.batch = 8;
    plan.dist.world = 4;
    for (int apart = 0; apart < 2; apart++) {
        REQUIRE(ys_rank_plans_make(&plan, 2, apart, &made) == YS_OK);
        for (size_t r = 0; r < 4; r++) {
            const struct ys_plan *one = &made.items[r];
            const int64_t *its = one->cpus.items;
            CHECK(one->dist.rank == (int64_t)r && one->dist.local_rank == (int64_t)(r % 2) && one->threads == 1);
            CHECK(one->cpus.count == 1 && its[0] == cpus[apart ? r % 2 : r / 2]);
            CHECK(!one->dist.rendezvous); /* not known before the host of rank 0 has said it */
            ys_rank_plan_meet(&made.items[r], "10.0.0.1:77", "10.0.0.2");
            CHECK_TEXT(one->dist.rendezvous, "10.0.0.1:77");
            CHECK_TEXT(one->dist.address, "10.0.0.2");
        }
        ys_rank_plans_fini(&made);
    }
    plan.cpus = (struct ys_list){0};
    ys_plan_fini(&plan);
}

/* The ends of four ranks, in the order in which they failed, and who was it. */
static void the_first_cause_is_to_blame(void)
{
    static const struct {
        struct ys_session_end ends[4];
        size_t culprit;
    } known[] = {
        {{{.status = YS_RUN_OK}, {.status = YS_RUN_OK}, {.status = YS_RUN_OK}, {.status = YS_RUN_OK}}, 0},
        /* One is killed; its neighbours say so before yardstick has heard of it. */
        {{{.status = YS_RUN_CRASHED, .is_told = true, .failed_ns = 1},
          {.status = YS_RUN_CANCELLED, .failed_ns = 4},
          {.status = YS_RUN_KILLED, .failed_ns = 3},
          {.status = YS_RUN_CRASHED, .failed_ns = 2}},
         2},
        /* One is stopped, and all fall silent. */
        {{{.status = YS_RUN_STALLED, .failed_ns = 1},
          {.status = YS_RUN_STALLED, .failed_ns = 2},
          {.status = YS_RUN_STALLED, .failed_ns = 3},
          {.status = YS_RUN_STALLED, .is_stopped = true, .failed_ns = 4}},
         3},
        /* One lacks something, and says so; the others wait for it. */
        {{{.status = YS_RUN_CANCELLED, .failed_ns = 2},
          {.status = YS_RUN_BUILD_FAILED, .is_told = true, .failed_ns = 1},
          {.status = YS_RUN_CANCELLED, .failed_ns = 3},
          {.status = YS_RUN_CANCELLED, .failed_ns = 4}},
         1},
        /* Two crash: the earlier one. */
        {{{.status = YS_RUN_CANCELLED, .failed_ns = 9},
          {.status = YS_RUN_CRASHED, .failed_ns = 6},
          {.status = YS_RUN_CRASHED, .failed_ns = 5},
          {.status = YS_RUN_CANCELLED, .failed_ns = 9}},
         2},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        CHECK_INT(ys_ranks_culprit(known[i].ends, 4), known[i].culprit);
}

/* Three ranks of the adapter that does nothing: one record, in which the rows of each are told apart. */
static void a_run_of_several_is_one_record(void)
{
    char *null = fixture_null();
    const char *argv[] = {null, NULL};
    struct ys_plan plan = fixture_plan(9, 2);
    struct ys_run_record record;
    plan.batch = 6;
    plan.dist.world = 3;
    const struct ys_run_spec spec = {
        .plan = &plan,
        .launch = {
            .argv = argv, .folder = fixture_open(), .stall_limit_s = 20, .run_time_limit_s = 60, .sample_hz = 100}};
    CHECK_INT(ys_run_execute(&spec, &record), YS_OK);
    CHECK_INT(fixture_descendants(), 0);
    REQUIRE(record.has_facts);
    CHECK_INT(record.facts.status, YS_RUN_OK);
    CHECK_INT(record.facts.steps_done, 9);
    REQUIRE(record.facts.ranks.count == 3);
    CHECK_INT(ys_series_processes(&record.series), 3);
    for (int64_t r = 0; r < 3; r++) {
        const struct ys_facts_rank *rank = (const struct ys_facts_rank *)record.facts.ranks.items + r;
        struct ys_series_set own;
        CHECK(rank->rank == r && rank->status == YS_RUN_OK && rank->steps_done == 9);
        ys_series_take_process(&record.series, r, &own);
        const struct ys_series *first = ys_series_find(&own, "block_first");
        REQUIRE(first && first->count == 5);
        CHECK(first->ints[0] == 0 && first->ints[1] == 1 && first->ints[4] == 7);
        CHECK(!ys_series_find(&own, "block_rank"));
        CHECK_INT(ys_series_find(&own, "request_sent_ns")->count, 2);
        ys_series_set_free(&own);
    }
    ys_run_record_fini(&record);
    ys_plan_fini(&plan);
    ys_free(null);
}

/* What is told of blocks has a row a block, and nothing in between, whichever rank tells it. */
static void check_blocks(const struct ys_series_set *all, int64_t rank)
{
    static const char *const names[] = {"block_sent_bytes", "block_exchange_ns"};
    struct ys_series_set own;
    ys_series_take_process(all, rank, &own);
    for (size_t k = 0; k < 2; k++) {
        const struct ys_series *told = ys_series_find(&own, names[k]);
        REQUIRE(told);
        CHECK_INT(told->count, 5);
        for (size_t i = 0; i < told->count; i++)
            CHECK(told->ints[i] > 0);
    }
    CHECK_INT(ys_series_find(&own, "exchange_step")->count, 21);
    ys_series_set_free(&own);
}

/* Ranks that exchange something, one of which takes 30 ms longer than the 3 ms of the others: they wait for it, and it
 * for nobody. Shares alone are looked at, with room for a machine that does much else. */
static void a_rank_that_is_late_is_found(void)
{
    char *null = fixture_null();
    const char *argv[] = {null, NULL};
    struct ys_plan plan = fixture_plan(21, 5);
    struct ys_run_record record;
    plan.batch = 3;
    plan.dist.world = 3;
    ys_json_free(plan.options);
    REQUIRE(ys_json_parse("{\"rate\":333,\"exchange\":1000,\"late_ms\":30,\"late_rank\":1}", 55, "options",
                          &plan.options) == YS_OK);
    const struct ys_run_spec spec = {
        .plan = &plan, .launch = {.argv = argv, .folder = fixture_open(), .stall_limit_s = 20, .run_time_limit_s = 60}};
    CHECK_INT(ys_run_execute(&spec, &record), YS_OK);
    REQUIRE(record.has_facts && record.facts.ranks.count == 3);
    CHECK_INT(record.facts.status, YS_RUN_OK);
    for (int64_t r = 0; r < 3; r++) {
        const struct ys_facts_rank *rank = (const struct ys_facts_rank *)record.facts.ranks.items + r;
        const double all_s = rank->compute_s + rank->communication_s + rank->waiting_s;
        const double share = rank->waiting_s / all_s;
        tap_check(r == 1 ? share < 0.3 : share > 0.5, __LINE__, "rank %d waits %.3f of its step", (int)r, share);
        CHECK(rank->communication_s > 0 && rank->communication_s < all_s);
        check_blocks(&record.series, r);
    }
    ys_run_record_fini(&record);
    ys_plan_fini(&plan);
    ys_free(null);
}

TAP_MAIN(TAP_CASE(shares_of_cpus_are_equal_and_apart_or_common), TAP_CASE(a_rank_has_its_part_of_the_plan),
         TAP_CASE(ranks_of_hosts_have_what_these_have), TAP_CASE(the_first_cause_is_to_blame),
         TAP_CASE(a_run_of_several_is_one_record), TAP_CASE(a_rank_that_is_late_is_found))
