#include "fixture.h"

#include "tap.h"

/* Whether the rounds of a study are `expected`, as JSON. */
static bool rounds_are(struct ys_store *store, int64_t study, const char *expected)
{
    ys_json *rounds = NULL, *wanted = make_json("%s", expected);
    bool same = read_rounds(store, study, &rounds) == YS_OK && ys_json_equal(rounds, wanted);
    ys_json_free(rounds);
    ys_json_free(wanted);
    return same;
}

static void a_study_without_runs_has_no_rounds(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first");
    put_trial(f.store, study, "a", 0);
    CHECK(rounds_are(f.store, study, "[]"));
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
    CHECK(rounds_are(f.store, study,
                     "[{\"round\":0,\"attempt\":0,\"expected\":2,\"present\":2,\"complete\":true},"
                     "{\"round\":1,\"attempt\":1,\"expected\":2,\"present\":1,\"complete\":false}]"));
    fixture_close(&f);
}

static void trials_that_cannot_run_are_not_waited_for(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), a = put_trial(f.store, study, "a", 0), missing = 0;
    ys_json *trial = make_json("{\"id\":\"m\",\"index\":1,\"status\":\"missing\"}");
    CHECK(put_trial_json(f.store, study, trial, &missing) == YS_OK);
    put_run(f.store, a, 0, 0, "ok");
    CHECK(rounds_are(f.store, study, "[{\"round\":0,\"attempt\":0,\"expected\":1,\"present\":1,\"complete\":true}]"));
    ys_json_free(trial);
    fixture_close(&f);
}

static void a_trial_that_was_given_up_is_waited_for_no_longer(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), a = put_trial(f.store, study, "a", 0),
            b = put_trial(f.store, study, "b", 1);
    put_run(f.store, a, 0, 0, "ok");
    put_run(f.store, b, 0, 0, "crashed");
    put_run(f.store, a, 1, 0, "ok");
    put_run(f.store, a, 2, 0, "ok");
    CHECK(ys_store_trial_give_up(f.store, b, 1, "failed twice") == YS_OK);
    CHECK(rounds_are(f.store, study,
                     "[{\"round\":0,\"attempt\":0,\"expected\":2,\"present\":2,\"complete\":true},"
                     "{\"round\":1,\"attempt\":0,\"expected\":2,\"present\":1,\"complete\":false},"
                     "{\"round\":2,\"attempt\":0,\"expected\":1,\"present\":1,\"complete\":true}]"));
    ys_json *trials = NULL;
    REQUIRE(ys_store_trials_get(f.store, study, &trials) == YS_OK);
    const ys_json *given_up = ys_json_get(ys_json_at(trials, 1), "given_up");
    CHECK_INT(ys_json_get_int(given_up, "round", -1), 1);
    CHECK_TEXT(ys_json_get_text(given_up, "reason", ""), "failed twice");
    CHECK_INT(ys_store_damaged(f.store), 0);
    ys_json_free(trials);
    fixture_close(&f);
}

static void of_a_study_that_is_done_nothing_is_waited_for(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), a = put_trial(f.store, study, "a", 0);
    put_trial(f.store, study, "b", 1);
    put_run(f.store, a, 0, 0, "ok");
    CHECK(ys_store_study_end(f.store, study, YS_STUDY_DONE, 1, NULL) == YS_OK);
    CHECK(rounds_are(f.store, study, "[{\"round\":0,\"attempt\":0,\"expected\":1,\"present\":1,\"complete\":true}]"));
    fixture_close(&f);
}

static void cancelled_runs_are_not_there(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), a = put_trial(f.store, study, "a", 0);
    put_run(f.store, a, 0, 0, "ok");
    put_run(f.store, a, 0, 1, "cancelled");
    CHECK(rounds_are(f.store, study, "[{\"round\":0,\"attempt\":1,\"expected\":1,\"present\":0,\"complete\":false}]"));
    fixture_close(&f);
}

static void all_tries_are_told_in_order(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), a = put_trial(f.store, study, "a", 0);
    put_run(f.store, a, 1, 0, "ok");
    put_run(f.store, a, 0, 1, "crashed");
    put_run(f.store, a, 0, 0, "cancelled");
    ys_json *tries = NULL,
            *expected = make_json("[{\"trial_id\":%d,\"round\":0,\"attempt\":0,\"status\":\"cancelled\"},"
                                  "{\"trial_id\":%d,\"round\":0,\"attempt\":1,\"status\":\"crashed\"},"
                                  "{\"trial_id\":%d,\"round\":1,\"attempt\":0,\"status\":\"ok\"}]",
                                  (int)a, (int)a, (int)a);
    REQUIRE(ys_store_tries(f.store, study, &tries) == YS_OK);
    CHECK(ys_json_equal(tries, expected));
    ys_json_free(tries);
    ys_json_free(expected);
    fixture_close(&f);
}

static void the_time_of_all_runs_is_summed(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), a = put_trial(f.store, study, "a", 0);
    double wall_s = -1;
    int64_t runs = -1;
    ys_json *metrics = make_json("{\"wall_s\":{\"value\":1.5},\"rate_per_s\":{\"value\":7}}");
    for (int round = 0; round < 3; round++) {
        CHECK(put_run(f.store, a, round, 0, "ok") == YS_OK);
        CHECK(ys_store_metric_put(f.store, round + 1, metrics) == YS_OK);
    }
    CHECK(ys_store_wall_s(f.store, study, &wall_s, &runs) == YS_OK);
    CHECK(wall_s == 4.5 && runs == 3);
    ys_json_free(metrics);
    fixture_close(&f);
}

TAP_MAIN(TAP_CASE(a_study_without_runs_has_no_rounds), TAP_CASE(rounds_tell_who_is_there),
         TAP_CASE(trials_that_cannot_run_are_not_waited_for),
         TAP_CASE(a_trial_that_was_given_up_is_waited_for_no_longer),
         TAP_CASE(of_a_study_that_is_done_nothing_is_waited_for), TAP_CASE(cancelled_runs_are_not_there),
         TAP_CASE(all_tries_are_told_in_order), TAP_CASE(the_time_of_all_runs_is_summed))
