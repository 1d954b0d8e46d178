/* The facts of a run: stored as they were, read from what older versions stored, one table of words. */
#include "base/fs.h"
#include "run/facts.h"
#include "run_fixture.h"
#include <math.h>

/* As it stands in stores: of a training with one save between steps that went well. */
static const char stored[] =
    "{\"status\":\"ok\",\"stage\":\"stop\",\"exit_code\":0,\"signal\":null,\"message\":null,\"log_tail\":\"\","
    "\"warnings\":[\"it was told\"],\"round\":2,\"times\":{\"exec_ns\":100,\"hello_ns\":110,\"open_ns\":120,"
    "\"opened_ns\":130,\"train_ns\":140,\"trained_ns\":200,\"save_ns\":210,\"saved_ns\":220,\"bye_ns\":230,"
    "\"end_ns\":240,\"pauses\":[[150,160],[170,175]]},"
    "\"hello\":{\"type\":\"hello\",\"protocol\":1,\"adapter\":\"t\",\"framework\":\"torch\",\"version\":\"2.1\","
    "\"new\":[1]},"
    "\"opened\":{\"type\":\"opened\",\"parameters\":7,\"threads\":2,\"deviations\":[\"a\"]},"
    "\"usage\":{\"user_ns\":5,\"system_ns\":6,\"voluntary_switches\":7,\"involuntary_switches\":8,"
    "\"unwaited_ns\":0},"
    "\"observed\":{\"threads_peak\":3,\"threads_busy\":1.5,\"processes_peak\":1,\"rss_peak_bytes\":4096,"
    "\"process_peak_bytes\":2048,\"libraries\":[\"libdnnl.so.3\"],\"notes\":[]},"
    "\"steps_done\":9,\"weights\":\"weights.safetensors\","
    "\"checkpoints\":[{\"step\":4,\"path\":\"step-4.safetensors\",\"weights_bytes\":99,\"evaluation\":"
    "{\"correct\":3,\"count\":4,\"accuracy\":0.75,\"loss\":0.5,\"seconds\":0.25}},{\"step\":8,\"path\":\"p\"}],"
    "\"harness\":{\"cpu_ns\":1,\"samples\":2,\"lateness_max_ns\":0,\"stopped_s\":0.0},"
    "\"disturbance\":{\"seconds\":1.0},\"work\":{\"parameters\":7,\"multiply_adds\":8},\"weights_bytes\":99,"
    "\"evaluation\":{\"correct\":3,\"count\":4,\"accuracy\":0.75,\"loss\":null,\"seconds\":0.25}}";

static ys_json *parsed(const char *text)
{
    ys_json *value = NULL;
    CHECK(ys_json_parse(text, strlen(text), "the test", &value) == YS_OK);
    return value;
}

static void what_is_stored_comes_back_byte_for_byte(void)
{
    struct ys_facts facts, copy;
    ys_json *json = parsed(stored);
    CHECK_INT(ys_facts_read(json, "the test", &facts), YS_OK);
    CHECK_INT(ys_facts_copy(&facts, &copy), YS_OK);
    ys_facts_fini(&facts);
    ys_json *back = ys_facts_json(&copy);
    char *text = ys_json_dump(back, YS_JSON_COMPACT);
    CHECK_TEXT(text, stored);
    ys_free(text);
    ys_json_free(back);
    ys_json_free(json);
    ys_facts_fini(&copy);
}

static void members_hold_what_is_stored(void)
{
    struct ys_facts facts;
    ys_json *json = parsed(stored);
    CHECK_INT(ys_facts_read(json, "the test", &facts), YS_OK);
    ys_json_free(json);
    const struct ys_facts_checkpoint *checkpoints = facts.checkpoints.items;
    CHECK(facts.status == YS_RUN_OK && facts.exit_code == 0 && facts.signal == YS_FIELD_NONE && !facts.message);
    CHECK_INT(facts.times.paused_ns, 15);
    CHECK(facts.times.infer_ns == YS_FIELD_NONE && facts.times.trained_ns == 200);
    CHECK_TEXT(facts.said.framework, "torch");
    CHECK(!facts.said.no_work && facts.said.threads == 2 && facts.said.parameters == 7 && !facts.said.libraries);
    CHECK(facts.usage && facts.usage->minor_faults == YS_FIELD_NONE && facts.usage->system_ns == 6);
    CHECK(facts.checkpoints.count == 2 && checkpoints[0].evaluation->correct == 3 && !checkpoints[1].evaluation);
    CHECK(isnan(facts.evaluation->loss) && facts.evaluation->accuracy == 0.75);
    ys_facts_fini(&facts);
}

static void what_older_versions_did_not_know_is_unknown(void)
{
    struct ys_facts facts;
    ys_json *json = parsed("{\"status\":\"timeout_wall\",\"stage\":\"build\",\"times\":{\"exec_ns\":0},\"usage\":{},"
                           "\"harness\":null,\"of a newer version\":1}");
    CHECK_INT(ys_facts_read(json, "the test", &facts), YS_OK);
    CHECK(facts.status == YS_RUN_TIMEOUT_WALL && facts.round == YS_FIELD_NONE && facts.weights_bytes == YS_FIELD_NONE);
    CHECK_TEXT(facts.stage, "build");
    CHECK(facts.times.exec_ns == 0 && facts.times.end_ns == YS_FIELD_NONE && facts.times.paused_ns == 0);
    CHECK(facts.usage && facts.usage->user_ns == YS_FIELD_NONE && isnan(facts.harness.stopped_s));
    CHECK(facts.harness.cpu_ns == YS_FIELD_NONE && facts.observed.threads_peak == YS_FIELD_NONE);
    CHECK(!facts.hello && !facts.work && !facts.evaluation && facts.checkpoints.count == 0);
    ys_facts_fini(&facts);
    ys_json_free(json);
}

static void a_status_that_is_no_word_of_the_table_is_refused(void)
{
    struct ys_facts facts;
    ys_json *json = parsed("{\"status\":\"tired\"}");
    CHECK_INT(ys_facts_read(json, "run 7", &facts), YS_EFORMAT);
    CHECK_TEXT(ys_error(), "run 7: facts.status is \"tired\": no status of a run of this version");
    ys_facts_fini(&facts);
    ys_json_free(json);
}

/* The result document's words of trials and of runs. */
static void the_schema_has_the_words_of_the_table(void)
{
    char *path = ys_format("%s/docs/result.schema.json", getenv("YS_SOURCE_ROOT") ? getenv("YS_SOURCE_ROOT") : ".");
    ys_json *schema = NULL;
    REQUIRE((path && ys_json_read(path, &schema) == YS_OK));
    const ys_json *kinds = ys_json_get(schema, "$defs");
    size_t lists = 0;
    for (void *it = ys_json_iter(kinds); it; it = ys_json_next(kinds, it)) {
        const ys_json *members = ys_json_get(ys_json_iter_value(it), "properties");
        const ys_json *words = ys_json_get(ys_json_get(members, "status"), "enum");
        if (!words || strcmp(ys_json_text(ys_json_at(words, 0), ""), "ok") != 0)
            continue;
        lists++;
        CHECK_INT(ys_json_size(words), ys_run_statuses.count);
        for (size_t i = 0; i < ys_json_size(words); i++)
            CHECK_TEXT(ys_json_text(ys_json_at(words, i), ""), ys_name_of(&ys_run_statuses, (int)i));
    }
    CHECK(lists > 0);
    ys_json_free(schema);
    ys_free(path);
}

TAP_MAIN(TAP_CASE(what_is_stored_comes_back_byte_for_byte), TAP_CASE(members_hold_what_is_stored),
         TAP_CASE(what_older_versions_did_not_know_is_unknown),
         TAP_CASE(a_status_that_is_no_word_of_the_table_is_refused), TAP_CASE(the_schema_has_the_words_of_the_table))
