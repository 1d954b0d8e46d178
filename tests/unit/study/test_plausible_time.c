/* Whether processor time can have paid for the work: LeNet on 64 rows, 201 steps. */
#include "study/plausible_time.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static const int64_t MULTIPLY_ADDS = 13900000;

static ys_json *parse(const char *text)
{
    ys_json *made = NULL;
    CHECK(ys_json_parse(text, strlen(text), "a test", &made) == YS_OK);
    return made;
}

static struct ys_facts facts_of(struct ys_facts_phase_cpu phases)
{
    struct ys_facts facts;
    static struct ys_facts_work work;
    work = (struct ys_facts_work){.multiply_adds = MULTIPLY_ADDS};
    ys_facts_init(&facts);
    facts.steps_done = 201;
    facts.work = &work;
    static struct ys_facts_phase_cpu kept;
    kept = phases;
    facts.phase_cpu = &kept;
    return facts;
}

static void looked_at_here(struct ys_facts *facts, const char *keys_text, const struct ys_peak_measured *measured)
{
    ys_json *json = parse(keys_text);
    struct ys_trial_settings keys;
    REQUIRE(ys_record_read(&ys_trial_settings_record, json, "test", &keys) == YS_OK);
    ys_plausible(&keys, measured, facts);
    ys_record_fini(&ys_trial_settings_record, &keys);
    ys_json_free(json);
    facts->work = NULL;
    facts->phase_cpu = NULL;
}

static void looked_at(struct ys_facts *facts, const char *keys_text)
{
    const struct ys_peak_measured nothing = {{NAN, NAN, NAN}};
    looked_at_here(facts, keys_text, &nothing);
}

static void steps_that_nothing_paid_for_are_wrong_output(void)
{
    /* 201 steps take an honest framework 8 s, and no CPU less than 0.56 s. */
    struct ys_facts facts = facts_of((struct ys_facts_phase_cpu){1, 8, 0.1, 0.2, NAN, 0.1});
    looked_at(&facts, "{\"mode\":\"train\",\"batch\":64,\"precision\":\"f32\"}");
    CHECK_INT(facts.status, YS_RUN_WRONG_OUTPUT);
    CHECK_HAS(facts.message ? facts.message : "", "0.2 s of processor time");
    ys_facts_fini(&facts);
    facts = facts_of((struct ys_facts_phase_cpu){1, 8, NAN, NAN, 0.01, NAN});
    looked_at(&facts, "{\"mode\":\"infer\",\"batch\":64,\"precision\":\"f32\"}");
    CHECK_INT(facts.status, YS_RUN_WRONG_OUTPUT);
    ys_facts_fini(&facts);
}

static void honest_steps_stay_ok(void)
{
    static const struct ys_facts_phase_cpu phases[] = {
        {3, 9, 0.1, 1.2, NAN, 0.1}, {NAN, NAN, NAN, NAN, NAN, NAN}, /* nothing known */
    };
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        struct ys_facts facts = facts_of(phases[i]);
        looked_at(&facts, "{\"mode\":\"train\",\"batch\":64,\"precision\":\"f32\"}");
        CHECK_INT(facts.status, YS_RUN_OK);
        CHECK_INT(facts.warnings.count, 0);
        ys_facts_fini(&facts);
    }
}

/* 0.0056 s at the very least, which two readings in hundredths of a second may miss. */
static void what_no_clock_shows_is_no_lie(void)
{
    struct ys_facts facts = facts_of((struct ys_facts_phase_cpu){1, 8, 0.1, 0, NAN, 0.1});
    facts.steps_done = 3;
    looked_at(&facts, "{\"mode\":\"train\",\"batch\":64,\"precision\":\"f32\"}");
    CHECK_INT(facts.status, YS_RUN_OK);
    ys_facts_fini(&facts);
}

static void work_beside_the_steps_is_a_warning(void)
{
    static const struct ys_facts_phase_cpu phases[] = {{30, NAN, NAN, 12, NAN, NAN},
                                                       {NAN, 30, NAN, 12, NAN, NAN},
                                                       {NAN, NAN, 30, 12, NAN, NAN},
                                                       {NAN, NAN, NAN, 12, NAN, 30}};
    static const char *const places[] = {"before hello", "in open", "in the first step", "in saving"};
    for (size_t i = 0; i < 4; i++) {
        struct ys_facts facts = facts_of(phases[i]);
        looked_at(&facts, "{\"mode\":\"train\",\"batch\":64,\"precision\":\"f32\"}");
        CHECK_INT(facts.status, YS_RUN_OK);
        CHECK_INT(facts.warnings.count, 1);
        CHECK_HAS(facts.warnings.count ? ((char **)facts.warnings.items)[0] : "", places[i]);
        ys_facts_fini(&facts);
    }
}

/* 0.7e12 operations: any CPU needs 0.56 s, one of 2e10 a second 4.4 s, which the measured peak times eight says. */
static void where_a_peak_was_measured_it_is_the_limit(void)
{
    static const struct {
        double f32_per_s;
        int status;
        const char *basis;
    } cases[] = {{2e10, YS_RUN_WRONG_OUTPUT, "by the measured peak of this machine"},
                 {1e11, YS_RUN_OK, ""},
                 {1e13, YS_RUN_OK, ""}}; /* beyond what any CPU can do it is not believed */
    for (size_t i = 0; i < 3; i++) {
        const struct ys_peak_measured measured = {{cases[i].f32_per_s, NAN, NAN}};
        struct ys_facts facts = facts_of((struct ys_facts_phase_cpu){1, 8, 0.1, 1.2, NAN, 0.1});
        looked_at_here(&facts, "{\"mode\":\"train\",\"batch\":64,\"precision\":\"f32\"}", &measured);
        CHECK_INT(facts.status, cases[i].status);
        CHECK_HAS(facts.message ? facts.message : "", cases[i].basis);
        ys_facts_fini(&facts);
    }
    const struct ys_peak_measured boast = {{1e13, NAN, NAN}};
    struct ys_facts facts = facts_of((struct ys_facts_phase_cpu){1, 8, 0.1, 0.2, NAN, 0.1});
    looked_at_here(&facts, "{\"mode\":\"train\",\"batch\":64,\"precision\":\"f32\"}", &boast);
    CHECK_INT(facts.status, YS_RUN_WRONG_OUTPUT);
    CHECK_HAS(facts.message ? facts.message : "", "by what any CPU can do");
    ys_facts_fini(&facts);
}

TAP_MAIN(TAP_CASE(steps_that_nothing_paid_for_are_wrong_output), TAP_CASE(honest_steps_stay_ok),
         TAP_CASE(what_no_clock_shows_is_no_lie), TAP_CASE(work_beside_the_steps_is_a_warning),
         TAP_CASE(where_a_peak_was_measured_it_is_the_limit))
