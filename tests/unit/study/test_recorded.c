/* What the study says of runs that were recorded (tests/fixtures/runs): the same again. */
#include "recorded.h"
#include "study/disturbed.h"
#include "study/plausible_time.h"

#include <math.h>

static int64_t threads_of(const struct recorded *run)
{
    return ys_json_get_int(ys_json_get(run->trial, "keys"), "threads", 0);
}

static void a_disturbance_is_told_as_it_was(void)
{
    size_t disturbed = 0;
    for (size_t i = 0; i < RECORDED_RUNS; i++) {
        struct recorded run = recorded_open(recorded_names[i]);
        struct ys_facts facts;
        ys_json *said = ys_json_copy(ys_json_get(run.facts, "disturbed"));
        ys_json_remove(run.facts, "disturbed");
        REQUIRE(ys_facts_read(run.facts, recorded_names[i], &facts) == YS_OK);
        const bool is_disturbed = ys_disturbed(threads_of(&run), &facts);
        disturbed += is_disturbed;
        CHECK_INT(is_disturbed, said != NULL);
        CHECK_INT(facts.disturbed.count, ys_json_size(said));
        for (size_t s = 0; s < ys_json_size(said) && s < facts.disturbed.count; s++)
            CHECK_TEXT(((char **)facts.disturbed.items)[s], ys_json_text(ys_json_at(said, s), ""));
        CHECK(strcmp(recorded_names[i], "disturbed") != 0 || is_disturbed);
        CHECK(strcmp(recorded_names[i], "crashed") != 0 || !is_disturbed); /* over in a quarter of a second */
        ys_json_free(said);
        ys_facts_fini(&facts);
        recorded_close(&run);
    }
    CHECK(disturbed > 0 && disturbed < RECORDED_RUNS);
}

static void honest_work_was_paid_for_and_a_thousand_times_it_is_not(void)
{
    static const char *const names[] = {"builtin", "pytorch"};
    const struct ys_peak_measured nothing = {{NAN, NAN, NAN}}; /* of this machine: it says nothing of the other */
    for (size_t i = 0; i < 2; i++) {
        struct recorded run = recorded_open(names[i]);
        struct ys_trial_settings keys;
        struct ys_facts facts;
        REQUIRE(ys_record_read(&ys_trial_settings_record, ys_json_get(run.trial, "keys"), "keys", &keys) == YS_OK);
        REQUIRE(ys_facts_read(run.facts, names[i], &facts) == YS_OK);
        ys_plausible(&keys, &nothing, &facts);
        CHECK_INT(facts.status, YS_RUN_OK);
        facts.work->multiply_adds *= 1000; /* the same processor time for a thousand times the work */
        ys_plausible(&keys, &nothing, &facts);
        CHECK_INT(facts.status, YS_RUN_WRONG_OUTPUT);
        ys_facts_fini(&facts);
        ys_record_fini(&ys_trial_settings_record, &keys);
        recorded_close(&run);
    }
}

TAP_MAIN(TAP_CASE(a_disturbance_is_told_as_it_was), TAP_CASE(honest_work_was_paid_for_and_a_thousand_times_it_is_not))
