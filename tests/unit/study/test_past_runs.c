#include "../store/fixture.h"

#include "study/disk_full.h"
#include "study/past_runs.h"
#include "tap.h"

/* A study of two trials, "a" and "b", and six rounds, in a folder of its own. */
struct began {
    struct fixture f;
    struct ys_trial trials[2];
    struct ys_study study;
    struct ys_past_runs past;
};

static void begin(struct began *b)
{
    *b = (struct began){0};
    fixture_open(&b->f);
    b->study = (struct ys_study){.store = b->f.store, .rounds = 6};
    b->study.id = begin_study(b->f.store, "first");
    b->study.set.items = b->trials;
    b->study.set.count = 2;
    b->trials[0].record.trial_id = put_trial(b->f.store, b->study.id, "a", 0);
    b->trials[1].record.trial_id = put_trial(b->f.store, b->study.id, "b", 1);
}

static void put(struct began *b, int trial, int round, int attempt, const char *status)
{
    CHECK(put_run(b->f.store, b->trials[trial].record.trial_id, round, attempt, status) == YS_OK);
}

static void load(struct began *b)
{
    CHECK(ys_past_runs_load(&b->study, &b->past) == YS_OK);
}

static void end(struct began *b)
{
    ys_past_runs_free(&b->past);
    fixture_close(&b->f);
}

static void a_study_without_runs_wants_every_round(void)
{
    struct began b;
    begin(&b);
    load(&b);
    for (int round = 0; round < 6; round++)
        CHECK(ys_past_runs_want(&b.past, &b.study, round) && b.past.attempts[round] == 0);
    CHECK_INT(ys_past_runs_lack(&b.past, 1), 6);
    CHECK(!b.study.run_failed && b.study.runs_before == 0);
    end(&b);
}

static void an_unfinished_round_is_wanted_under_a_new_attempt(void)
{
    struct began b;
    begin(&b);
    put(&b, 0, 0, 0, "ok");
    put(&b, 1, 0, 0, "ok");
    put(&b, 1, 1, 0, "ok");
    put(&b, 0, 2, 0, "ok");
    put(&b, 0, 2, 1, "ok");
    load(&b);
    CHECK(!ys_past_runs_want(&b.past, &b.study, 0));
    CHECK(ys_past_runs_want(&b.past, &b.study, 1) && b.past.attempts[1] == 1);
    CHECK(ys_past_runs_want(&b.past, &b.study, 2) && b.past.attempts[2] == 2); /* also where later ones were begun */
    CHECK(ys_past_runs_want(&b.past, &b.study, 3) && b.past.attempts[3] == 0);
    CHECK_INT(b.study.runs_before, 5);
    end(&b);
}

static void runs_of_different_attempts_do_not_make_a_round(void)
{
    struct began b;
    begin(&b);
    put(&b, 1, 0, 0, "ok");
    put(&b, 0, 0, 1, "ok");
    load(&b);
    CHECK(ys_past_runs_want(&b.past, &b.study, 0) && b.past.attempts[0] == 2);
    CHECK_INT(ys_past_runs_lack(&b.past, 0), 5);
    CHECK_INT(ys_past_runs_lack(&b.past, 1), 6);
    end(&b);
}

static void cancelled_runs_still_have_to_be_made(void)
{
    struct began b;
    begin(&b);
    put(&b, 0, 0, 0, "ok");
    put(&b, 1, 0, 0, "cancelled");
    load(&b);
    CHECK(ys_past_runs_want(&b.past, &b.study, 0) && b.past.attempts[0] == 1);
    CHECK(!b.study.run_failed && !b.trials[1].given_up);
    end(&b);
}

static void a_trial_that_cannot_run_now_makes_no_round_wanted(void)
{
    struct began b;
    begin(&b);
    b.trials[1].record.status = YS_RUN_MISSING;
    for (int round = 0; round < 6; round++)
        put(&b, 0, round, 0, "ok");
    load(&b);
    for (int round = 0; round < 6; round++)
        CHECK(!ys_past_runs_want(&b.past, &b.study, round));
    CHECK_INT(ys_past_runs_lack(&b.past, 1), 6);
    end(&b);
}

static void two_failures_and_no_success_give_a_trial_up(void)
{
    struct began b;
    begin(&b);
    for (int round = 0; round < 2; round++) {
        put(&b, 0, round, 0, round ? "ok" : "crashed");
        put(&b, 1, round, 0, "crashed");
    }
    put(&b, 0, 2, 0, "killed");
    load(&b);
    CHECK(!b.trials[0].given_up); /* it succeeded once */
    CHECK_HAS(b.trials[1].given_up, "failed twice");
    CHECK_INT(b.trials[1].last_round, 1);
    CHECK(b.study.run_failed);
    CHECK(!ys_past_runs_want(&b.past, &b.study, 2));
    CHECK(ys_past_runs_want(&b.past, &b.study, 3));
    end(&b);
}

static void what_an_adapter_cannot_do_is_asked_once(void)
{
    struct began b;
    begin(&b);
    put(&b, 0, 0, 0, "ok");
    put(&b, 1, 0, 0, "unsupported");
    load(&b);
    CHECK_HAS(b.trials[1].given_up, "cannot do this");
    CHECK(!b.study.run_failed && b.study.runs_before == 1); /* that is no failure */
    end(&b);
}

/* Of a recorded run, which ended like this and printed that. */
static ys_json *ended(const char *name, const char *status, const char *log_tail)
{
    ys_json *json = recorded_facts(name);
    CHECK(ys_json_set_string(json, "status", status) == YS_OK);
    CHECK(ys_json_set_string(json, "log_tail", log_tail) == YS_OK);
    return json;
}

static bool stopped(const struct ys_trial *trial, ys_json *json_taken)
{
    struct ys_facts facts;
    CHECK(ys_facts_read(json_taken, "the test", &facts) == YS_OK);
    bool result = ys_disk_stopped(trial, &facts, "/proc"); /* of which the system says nothing */
    ys_facts_fini(&facts);
    ys_json_free(json_taken);
    return result;
}

static void the_disk_is_known_by_the_adapters_words(void)
{
    struct ys_framework framework = {0};
    struct ys_trial trial = {.framework = &framework, .record.keys.mode = YS_MODE_TRAIN};
    static const char full[] = "OSError: [Errno 28] No space left on device";
    CHECK(stopped(&trial, ended("crashed", "crashed", full)));
    ys_json *killed = ended("crashed", "killed", "");
    CHECK(ys_json_set_string(killed, "message", "save: Disk quota exceeded") == YS_OK);
    CHECK(stopped(&trial, killed));
    CHECK(!stopped(&trial, ended("crashed", "crashed", "Segmentation fault")));
    CHECK(!stopped(&trial, ended("crashed", "cancelled", full)));
    CHECK(!stopped(&trial, ended("builtin", "ok", full)));
    ys_json *unevaluated = ended("builtin", "ok", full);
    ys_json_remove(unevaluated, "evaluation");
    CHECK(stopped(&trial, unevaluated));
}

TAP_MAIN(TAP_CASE(a_study_without_runs_wants_every_round), TAP_CASE(an_unfinished_round_is_wanted_under_a_new_attempt),
         TAP_CASE(runs_of_different_attempts_do_not_make_a_round), TAP_CASE(cancelled_runs_still_have_to_be_made),
         TAP_CASE(a_trial_that_cannot_run_now_makes_no_round_wanted),
         TAP_CASE(two_failures_and_no_success_give_a_trial_up), TAP_CASE(what_an_adapter_cannot_do_is_asked_once),
         TAP_CASE(the_disk_is_known_by_the_adapters_words))
