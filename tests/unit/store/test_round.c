#include "fixture.h"

#include "tap.h"

static struct ys_store_next next_of(struct ys_store *store, int64_t study, int64_t repeat)
{
    struct ys_store_next next = {-1, -1};
    CHECK(ys_store_unfinished(store, study, repeat, &next) == YS_OK);
    return next;
}

static void a_study_without_runs_begins_at_round_zero(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first");
    put_trial(f.store, study, "a", 0);
    struct ys_store_next next = next_of(f.store, study, 3);
    CHECK(next.round == 0 && next.attempt == 0);
    fixture_close(&f);
}

static void an_unfinished_round_is_repeated_under_a_new_attempt(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), a = put_trial(f.store, study, "a", 0),
            b = put_trial(f.store, study, "b", 1);
    put_run(f.store, a, 0, 0, "ok");
    put_run(f.store, b, 0, 0, "ok");
    put_run(f.store, b, 1, 0, "ok");
    struct ys_store_next next = next_of(f.store, study, 3);
    CHECK(next.round == 1 && next.attempt == 1);
    put_run(f.store, a, 1, 1, "ok");
    next = next_of(f.store, study, 3);
    CHECK(next.round == 1 && next.attempt == 2); /* b ran only under attempt 0 */
    put_run(f.store, b, 1, 1, "ok");
    next = next_of(f.store, study, 3);
    CHECK(next.round == 2 && next.attempt == 0);
    CHECK_INT(next_of(f.store, study, 2).round, 2);
    fixture_close(&f);
}

static void rounds_tell_who_is_there(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), a = put_trial(f.store, study, "a", 0),
            b = put_trial(f.store, study, "b", 1);
    put_run(f.store, a, 0, 0, "ok");
    put_run(f.store, b, 0, 0, "crashed");
    put_run(f.store, a, 1, 0, "ok");
    put_run(f.store, a, 1, 1, "ok");
    ys_json *rounds = NULL,
            *expected = make_json("[{\"round\":0,\"attempt\":0,\"expected\":2,\"present\":2,\"complete\":true},"
                                  "{\"round\":1,\"attempt\":1,\"expected\":2,\"present\":1,\"complete\":false}]");
    REQUIRE(ys_store_rounds(f.store, study, &rounds) == YS_OK);
    CHECK(ys_json_equal(rounds, expected));
    ys_json_free(rounds);
    ys_json_free(expected);
    fixture_close(&f);
}

static void trials_that_cannot_run_are_not_waited_for(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), a = put_trial(f.store, study, "a", 0), missing = 0;
    ys_json *trial = make_json("{\"id\":\"m\",\"index\":1,\"status\":\"missing\"}");
    CHECK(ys_store_trial_put(f.store, study, trial, &missing) == YS_OK);
    put_run(f.store, a, 0, 0, "ok");
    CHECK_INT(next_of(f.store, study, 5).round, 1);
    ys_json_free(trial);
    fixture_close(&f);
}

static void a_trial_that_was_given_up_is_not_waited_for(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), a = put_trial(f.store, study, "a", 0),
            b = put_trial(f.store, study, "b", 1);
    int64_t c = put_trial(f.store, study, "c", 2), d = put_trial(f.store, study, "d", 3);
    for (int round = 0; round < 3; round++) {
        put_run(f.store, a, round, 0, "ok");
        put_run(f.store, d, round, 0, round == 0 ? "ok" : "crashed"); /* succeeded once: goes on */
        if (round < 2)
            put_run(f.store, b, round, 0, "crashed");
        if (round < 1)
            put_run(f.store, c, round, 0, "unsupported");
    }
    CHECK_INT(next_of(f.store, study, 9).round, 3);
    fixture_close(&f);
}

static void one_failure_is_no_reason_to_give_up(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), a = put_trial(f.store, study, "a", 0),
            b = put_trial(f.store, study, "b", 1);
    put_run(f.store, a, 0, 0, "ok");
    put_run(f.store, b, 0, 0, "crashed");
    put_run(f.store, a, 1, 0, "ok");
    struct ys_store_next next = next_of(f.store, study, 9);
    CHECK(next.round == 1 && next.attempt == 1);
    fixture_close(&f);
}

static void cancelled_runs_are_neither_made_nor_failed(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), a = put_trial(f.store, study, "a", 0),
            b = put_trial(f.store, study, "b", 1);
    put_run(f.store, a, 0, 0, "ok");
    put_run(f.store, b, 0, 0, "cancelled");
    struct ys_store_next next = next_of(f.store, study, 9);
    CHECK(next.round == 0 && next.attempt == 1);
    put_run(f.store, a, 0, 1, "ok");
    put_run(f.store, b, 0, 1, "ok");
    put_run(f.store, a, 1, 0, "ok");
    put_run(f.store, b, 1, 0, "cancelled");
    put_run(f.store, b, 1, 1, "cancelled");
    next = next_of(f.store, study, 9);
    CHECK(next.round == 1 && next.attempt == 2);
    fixture_close(&f);
}

TAP_MAIN(TAP_CASE(a_study_without_runs_begins_at_round_zero),
         TAP_CASE(an_unfinished_round_is_repeated_under_a_new_attempt), TAP_CASE(rounds_tell_who_is_there),
         TAP_CASE(trials_that_cannot_run_are_not_waited_for), TAP_CASE(a_trial_that_was_given_up_is_not_waited_for),
         TAP_CASE(one_failure_is_no_reason_to_give_up), TAP_CASE(cancelled_runs_are_neither_made_nor_failed))
