/* Whether processor time can have paid for the work: LeNet on 64 rows, 201 steps. */
#include "study/plausible.h"
#include "tap.h"

#include <string.h>

static const int64_t MULTIPLY_ADDS = 13900000;

static ys_json *parse(const char *text)
{
    ys_json *made = NULL;
    CHECK(ys_json_parse(text, strlen(text), "a test", &made) == YS_OK);
    return made;
}

static ys_json *facts_of(const char *phases)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"status\":\"ok\",\"message\":null,\"steps_done\":201,\"warnings\":[],\"hello\":{},\"phase_cpu\":%s}",
             phases);
    return parse(text);
}

static void looked_at(ys_json *facts, const char *keys_text)
{
    ys_json *keys = parse(keys_text);
    ys_plausible(keys, MULTIPLY_ADDS, facts);
    ys_json_free(keys);
}

static void steps_that_nothing_paid_for_are_wrong_output(void)
{
    /* 201 steps take an honest framework 8 s, and no CPU less than 0.56 s. */
    ys_json *facts = facts_of("{\"start_s\":1,\"open_s\":8,\"first_step_s\":0.1,\"steps_s\":0.2,\"save_s\":0.1}");
    looked_at(facts, "{\"mode\":\"train\",\"batch\":64,\"precision\":\"f32\"}");
    CHECK_TEXT(ys_json_get_text(facts, "status", ""), "wrong_output");
    CHECK_HAS(ys_json_get_text(facts, "message", ""), "0.2 s of processor time");
    ys_json_free(facts);
    facts = facts_of("{\"requests_s\":0.01}");
    looked_at(facts, "{\"mode\":\"infer\",\"batch\":64,\"precision\":\"f32\"}");
    CHECK_TEXT(ys_json_get_text(facts, "status", ""), "wrong_output");
    ys_json_free(facts);
}

static void honest_steps_stay_ok(void)
{
    static const char *const phases[] = {
        "{\"start_s\":3,\"open_s\":9,\"first_step_s\":0.1,\"steps_s\":1.2,\"save_s\":0.1}",
        "{\"start_s\":null,\"open_s\":null,\"first_step_s\":null,\"steps_s\":null,\"save_s\":null}", /* nothing known */
    };
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        ys_json *facts = facts_of(phases[i]);
        looked_at(facts, "{\"mode\":\"train\",\"batch\":64,\"precision\":\"f32\"}");
        CHECK_TEXT(ys_json_get_text(facts, "status", ""), "ok");
        CHECK_INT(ys_json_size(ys_json_get(facts, "warnings")), 0);
        ys_json_free(facts);
    }
}

static void work_beside_the_steps_is_a_warning(void)
{
    static const char *const phases[] = {"{\"start_s\":30,\"steps_s\":12}", "{\"open_s\":30,\"steps_s\":12}",
                                         "{\"first_step_s\":30,\"steps_s\":12}", "{\"save_s\":30,\"steps_s\":12}"};
    static const char *const places[] = {"before hello", "in open", "in the first step", "in saving"};
    for (size_t i = 0; i < 4; i++) {
        ys_json *facts = facts_of(phases[i]);
        looked_at(facts, "{\"mode\":\"train\",\"batch\":64,\"precision\":\"f32\"}");
        CHECK_TEXT(ys_json_get_text(facts, "status", ""), "ok");
        CHECK_HAS(ys_json_text(ys_json_at(ys_json_get(facts, "warnings"), 0), ""), places[i]);
        ys_json_free(facts);
    }
}

TAP_MAIN(TAP_CASE(steps_that_nothing_paid_for_are_wrong_output), TAP_CASE(honest_steps_stay_ok),
         TAP_CASE(work_beside_the_steps_is_a_warning))
