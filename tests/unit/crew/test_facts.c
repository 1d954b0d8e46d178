/* The facts of a run: stored as they were, read from what older versions stored, one table of words. */
#include "base/files/fs.h"
#include "crew/facts.h"
#include "recorded.h"
#include "unit/run/run_fixture.h"
#include <math.h>

/* A training with two saves between steps that went well, as this version stored it. */
static const char recording[] = "checkpoints";

static void what_is_stored_comes_back_byte_for_byte(void)
{
    struct ys_facts facts, copy;
    ys_json *json = recorded_facts(recording);
    char *stored = ys_json_dump(json, YS_JSON_COMPACT);
    CHECK_INT(ys_facts_read(json, "the test", &facts), YS_OK);
    CHECK_INT(ys_facts_copy(&facts, &copy), YS_OK);
    ys_facts_fini(&facts);
    ys_json *back = ys_record_json(&ys_facts_record, &copy);
    char *text = ys_json_dump(back, YS_JSON_COMPACT);
    CHECK_TEXT(text, stored);
    ys_free(text);
    ys_free(stored);
    ys_json_free(back);
    ys_json_free(json);
    ys_facts_fini(&copy);
}

/* The member `name` of the member `of` of `json`. */
static int64_t number_in(const ys_json *json, const char *of, const char *name)
{
    return ys_json_get_int(ys_json_get(json, of), name, -1);
}

static void members_hold_what_is_stored(void)
{
    struct ys_facts facts;
    ys_json *json = recorded_facts(recording);
    const ys_json *pauses = ys_json_get(ys_json_get(json, "times"), "pauses");
    int64_t paused_ns = 0;
    for (size_t i = 0; i < ys_json_size(pauses); i++)
        paused_ns += ys_json_integer(ys_json_at(ys_json_at(pauses, i), 1), 0) -
                     ys_json_integer(ys_json_at(ys_json_at(pauses, i), 0), 0);
    CHECK(ys_json_set(ys_json_get(json, "evaluation"), "loss", ys_json_null()) == YS_OK);
    ys_json_remove(ys_json_get(json, "usage"), "minor_faults"); /* older versions did not ask for them */
    ys_json_remove(ys_json_get(json, "opened"), "libraries");
    CHECK_INT(ys_facts_read(json, "the test", &facts), YS_OK);
    const struct ys_facts_checkpoint *checkpoints = facts.checkpoints.items;
    CHECK(facts.status == YS_RUN_OK && facts.stage == YS_STAGE_STOP && facts.exit_code == 0);
    CHECK(facts.signal == YS_FIELD_NONE && !facts.message);
    CHECK(paused_ns > 0 && facts.times.paused_ns == paused_ns);
    CHECK(facts.times.infer_ns == YS_FIELD_NONE && facts.times.trained_ns == number_in(json, "times", "trained_ns"));
    CHECK_TEXT(facts.said.framework, ys_json_get_text(ys_json_get(json, "hello"), "framework", ""));
    CHECK(!facts.said.no_work && facts.said.threads == number_in(json, "opened", "threads"));
    CHECK(facts.said.parameters == number_in(json, "work", "parameters") && !facts.said.libraries);
    REQUIRE(facts.usage && facts.evaluation && facts.checkpoints.count == 2);
    CHECK(facts.usage->minor_faults == YS_FIELD_NONE && facts.usage->user_ns == number_in(json, "usage", "user_ns"));
    CHECK(checkpoints[0].step < checkpoints[1].step && checkpoints[0].evaluation && checkpoints[1].evaluation);
    CHECK(isnan(facts.evaluation->loss) &&
          facts.evaluation->accuracy == (double)facts.evaluation->correct / (double)facts.evaluation->count);
    ys_facts_fini(&facts);
    ys_json_free(json);
}

/* Removes all members but those of the list, which ends with NULL. */
static void keep(ys_json *json, const char *const *names)
{
    ys_json *all = ys_json_copy(json);
    for (void *it = ys_json_iter(all); it; it = ys_json_next(all, it)) {
        bool is_kept = false;
        for (size_t i = 0; names[i]; i++)
            is_kept = is_kept || strcmp(names[i], ys_json_iter_key(it)) == 0;
        if (!is_kept)
            ys_json_remove(json, ys_json_iter_key(it));
    }
    ys_json_free(all);
}

static void what_older_versions_did_not_know_is_unknown(void)
{
    static const char *const known[] = {"status", "stage", "times", "usage", "harness", NULL};
    static const char *const begun[] = {"exec_ns", NULL}, *const nothing[] = {NULL};
    struct ys_facts facts;
    ys_json *json = recorded_facts("crashed");
    keep(json, known);
    keep(ys_json_get(json, "times"), begun);
    keep(ys_json_get(json, "usage"), nothing);
    CHECK(ys_json_set(json, "harness", ys_json_null()) == YS_OK);
    CHECK(ys_json_set_int(json, "of a newer version", 1) == YS_OK);
    CHECK_INT(ys_facts_read(json, "the test", &facts), YS_OK);
    CHECK(facts.status == YS_RUN_CRASHED && facts.round == YS_FIELD_NONE && facts.weights_bytes == YS_FIELD_NONE);
    CHECK(facts.stage == YS_STAGE_TRAIN && facts.times.exec_ns == number_in(json, "times", "exec_ns"));
    CHECK(facts.times.end_ns == YS_FIELD_NONE && facts.times.paused_ns == 0);
    CHECK(facts.usage && facts.usage->user_ns == YS_FIELD_NONE && isnan(facts.harness.stopped_s));
    CHECK(facts.harness.cpu_ns == YS_FIELD_NONE && facts.observed.threads_peak == YS_FIELD_NONE);
    CHECK(!facts.hello && !facts.work && !facts.evaluation && facts.checkpoints.count == 0);
    ys_facts_fini(&facts);
    ys_json_free(json);
}

static void an_adapters_own_word_for_a_stage_that_an_older_version_stored_is_none(void)
{
    struct ys_facts facts;
    ys_json *json = recorded_facts("crashed");
    CHECK(ys_json_set_string(json, "stage", "build") == YS_OK);
    CHECK_INT(ys_facts_read(json, "the test", &facts), YS_OK);
    CHECK(facts.stage == YS_NAME_NONE && facts.status == YS_RUN_CRASHED);
    ys_facts_fini(&facts);
    ys_json_free(json);
}

static void a_status_that_is_no_word_of_the_table_is_refused(void)
{
    struct ys_facts facts;
    ys_json *json = recorded_facts("crashed");
    CHECK(ys_json_set_string(json, "status", "tired") == YS_OK);
    CHECK_INT(ys_facts_read(json, "run 7", &facts), YS_EFORMAT);
    CHECK_TEXT(ys_error(), "run 7: facts.status is \"tired\": no status of a run of this version");
    ys_facts_fini(&facts);
    ys_json_free(json);
}

TAP_MAIN(TAP_CASE(what_is_stored_comes_back_byte_for_byte), TAP_CASE(members_hold_what_is_stored),
         TAP_CASE(what_older_versions_did_not_know_is_unknown),
         TAP_CASE(an_adapters_own_word_for_a_stage_that_an_older_version_stored_is_none),
         TAP_CASE(a_status_that_is_no_word_of_the_table_is_refused))
