/* What is stored of a trial, as a struct. */
#include "fixture.h"

#include "tap.h"

static const char stored[] =
    "{\"id\":\"a:threads=2\",\"index\":7,\"section\":\"a\",\"factors\":{\"threads\":2},\"keys\":{\"mode\":\"train\","
    "\"framework\":\"jax\",\"threads\":2},\"options\":{\"jit\":true},\"env\":{},\"framework\":{\"name\":\"jax\","
    "\"version\":\"1\",\"title\":\"JAX\",\"no_work\":false,\"emulated\":false,\"closure\":\"c\"},\"status\":"
    "\"missing\",\"reason\":\"not "
    "installed\",\"command\":\"yardstick install jax\",\"given_up\":{\"round\":2,\"reason\":\"failed twice\"}}";

static void a_trial_is_read_into_a_struct_and_written_back(void)
{
    ys_json *json = make_json("%s", stored);
    struct ys_trial_record trial;
    REQUIRE(ys_record_read(&ys_trial_record, json, "test", &trial) == YS_OK);
    CHECK(trial.index == 7 && trial.keys.threads == 2 && trial.status == YS_RUN_MISSING);
    CHECK(!ys_trial_record_can_run(&trial) && ys_stored_verdict(trial.proof) == YS_PROOF_NONE);
    CHECK_TEXT(trial.framework->title, "JAX");
    CHECK(trial.given_up->round == 2 && trial.trial_id == YS_FIELD_NONE);
    ys_json *back = ys_record_json(&ys_trial_record, &trial), *in_job = ys_trial_record_job_json(&trial);
    static const char *const kept[] = {"id",        "index",  "section", "factors", "options", "env",
                                       "framework", "status", "reason",  "command", "given_up"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        tap_check(ys_json_equal(ys_json_get(back, kept[i]), ys_json_get(json, kept[i])), __LINE__, "%s", kept[i]);
        CHECK(!ys_json_get(in_job, kept[i]) == (i >= 6)); /* what resolving and storing add comes last */
    }
    ys_json_free(in_job);
    ys_json_free(back);
    ys_json_free(json);
    ys_record_fini(&ys_trial_record, &trial);
}

static void a_trial_without_a_status_or_with_ok_can_run(void)
{
    struct ys_trial_record trial;
    ys_json *plain = make_json("{\"id\":\"a\"}"), *ok = make_json("{\"id\":\"a\",\"status\":\"ok\"}");
    CHECK(ys_record_read(&ys_trial_record, plain, "test", &trial) == YS_OK && ys_trial_record_can_run(&trial));
    ys_record_fini(&ys_trial_record, &trial);
    CHECK(ys_record_read(&ys_trial_record, ok, "test", &trial) == YS_OK && ys_trial_record_can_run(&trial));
    ys_record_fini(&ys_trial_record, &trial);
    ys_json_free(plain);
    ys_json_free(ok);
}

static void trials_are_loaded_with_number_proof_and_what_was_given_up(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), second = put_trial(f.store, study, "b", 1),
            first = put_trial(f.store, study, "a", 0);
    ys_json *proof = make_json("{\"verdict\":\"weak\"}");
    CHECK(ys_store_proof_put(f.store, second, proof) == YS_OK);
    CHECK(ys_store_trial_give_up(f.store, first, 3, "failed twice") == YS_OK);
    struct ys_trial_records trials;
    REQUIRE(ys_store_trials_load(f.store, study, &trials) == YS_OK);
    CHECK_INT(trials.count, 2);
    CHECK_TEXT(trials.items[0].id, "a");
    CHECK(trials.items[0].trial_id == first && trials.items[0].given_up && trials.items[0].given_up->round == 3);
    CHECK(trials.items[1].index == 1 && ys_stored_verdict(trials.items[1].proof) == YS_PROOF_WEAK);
    ys_trial_records_fini(&trials);
    ys_json_free(proof);
    fixture_close(&f);
}

TAP_MAIN(TAP_CASE(a_trial_is_read_into_a_struct_and_written_back),
         TAP_CASE(a_trial_without_a_status_or_with_ok_can_run),
         TAP_CASE(trials_are_loaded_with_number_proof_and_what_was_given_up))
