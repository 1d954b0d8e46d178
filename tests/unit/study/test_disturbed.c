/* What else the machine did: a run of 10 s of two threads, that used 18 s of processor time. */
#include "study/disturbed.h"
#include "base/mem.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static bool is_disturbed(const char *disturbance, double wait_s, double threads_busy, const char *word)
{
    struct ys_facts facts;
    struct ys_facts_usage usage = {.user_ns = 17000000000, .system_ns = 1000000000};
    struct ys_observation observation = {.cpu_wait_ns = (int64_t)(wait_s * 1e9)};
    ys_json *beside = NULL;
    ys_facts_init(&facts);
    CHECK(ys_json_parse(disturbance, strlen(disturbance), "a test", &beside) == YS_OK);
    facts.usage = &usage;
    facts.observation = &observation;
    facts.disturbance = beside;
    facts.harness.cpu_ns = 20000000;
    facts.observed.threads_busy = threads_busy;
    bool found = ys_disturbed(2, &facts) != YS_DISTURBED_NOT;
    CHECK_INT(facts.disturbed.count > 0, found);
    CHECK_INT(facts.taken != NULL, found);
    if (found) {
        CHECK_HAS(((char **)facts.disturbed.items)[0], word);
        CHECK(isnan(facts.taken->run_s)); /* what of it fell to the run's own CPUs is not said */
    }
    facts.usage = NULL;
    facts.observation = NULL;
    ys_facts_fini(&facts);
    return found;
}

#define QUIET "{\"seconds\":10,\"busy_s\":19,\"steal_s\":0,\"steal_share\":0.001,\"swapped_bytes\":0}"

static void a_quiet_machine_disturbs_nothing(void)
{
    CHECK(!is_disturbed(QUIET, 0.5, 2, ""));
}

static void a_burner_of_half_a_core_is_seen(void)
{
    CHECK(
        is_disturbed("{\"seconds\":10,\"busy_s\":23,\"steal_share\":0}", 0.5, 2, "other programs used 0.50 of a CPU"));
}

static void each_other_cause_has_its_share(void)
{
    CHECK(is_disturbed("{\"seconds\":10,\"busy_s\":20,\"steal_share\":0}", 5, 2, "waited for a CPU"));
    CHECK(is_disturbed("{\"seconds\":10,\"busy_s\":19,\"steal_share\":0.02}", 0, 2, "hypervisor"));
    CHECK(is_disturbed("{\"seconds\":10,\"busy_s\":19,\"throttled_s\":0.5}", 0, 2, "quota"));
    CHECK(is_disturbed("{\"seconds\":10,\"busy_s\":19,\"memory_stalled_s\":0.5}", 0, 2, "memory"));
    CHECK(is_disturbed("{\"seconds\":10,\"busy_s\":19,\"swapped_bytes\":5000000}", 0, 2, "swapped"));
}

/* Eight threads on two CPUs wait for each other, not for anybody else. */
static void load_that_the_trial_made_does_not_count(void)
{
    CHECK(!is_disturbed("{\"seconds\":10,\"busy_s\":18.3,\"steal_share\":0}", 50, 2, ""));
    CHECK(!is_disturbed("{\"seconds\":10,\"busy_s\":20,\"steal_share\":0}", 50, 8, ""));
}

static void a_run_that_is_too_short_is_not_marked(void)
{
    CHECK(!is_disturbed("{\"seconds\":0.5,\"busy_s\":40,\"steal_share\":0.5}", 5, 2, ""));
}

/* On two machines, each with a rank that used 9 of 10 s. */
static bool are_disturbed(const char *first, const char *second, double wait_s, const char *word)
{
    struct ys_facts facts;
    const char *const disturbances[] = {first, second};
    ys_facts_init(&facts);
    for (size_t i = 0; i < 2; i++) {
        struct ys_facts_machine *machine = ys_list_add(&ys_facts_machine_record, &facts.machines);
        ys_set_text(&machine->host, i == 0 ? "h0" : "h1");
        machine->used_s = 9;
        machine->harness_s = 0.02;
        machine->cpu_wait_s = wait_s;
        machine->threads_busy = 1;
        CHECK(ys_json_parse(disturbances[i], strlen(disturbances[i]), "a test", &machine->disturbance) == YS_OK);
    }
    bool found = ys_disturbed(1, &facts) != YS_DISTURBED_NOT;
    if (found)
        CHECK_TEXT(((char **)facts.disturbed.items)[0], word);
    CHECK_INT(facts.disturbed.count, found ? 1 : 0);
    ys_facts_fini(&facts);
    return found;
}

static void each_machine_is_judged_by_itself(void)
{
    static const char quiet[] = "{\"seconds\":10,\"busy_s\":9.5,\"steal_share\":0}",
                      burner[] = "{\"seconds\":10,\"busy_s\":14.02,\"steal_share\":0}",
                      stolen[] = "{\"seconds\":10,\"busy_s\":9.5,\"steal_share\":0.02}",
                      slow[] = "{\"seconds\":10,\"busy_s\":11.02,\"steal_share\":0}";
    CHECK(!are_disturbed(quiet, quiet, 0, ""));
    CHECK(are_disturbed(burner, quiet, 0, "h0: other programs used 0.50 of a CPU"));
    CHECK(are_disturbed(quiet, burner, 0, "h1: other programs used 0.50 of a CPU"));
    CHECK(are_disturbed(quiet, stolen, 0, "h1: the hypervisor took 0.020 of the CPUs' time"));
    CHECK(are_disturbed(quiet, slow, 2.7, "h1: its threads waited for a CPU 0.30 times as long as they ran"));
}

/* Of a run of 10 s whose two CPUs are looked at, 8 s of them while it worked, with 16 s of processor time. */
static enum ys_disturbance take(const char *rest, const char *of_run, const char *of_work, double wait_s, double busy,
                                struct ys_facts_taken *taken)
{
    struct ys_facts facts;
    struct ys_facts_usage usage = {.user_ns = 17000000000, .system_ns = 1000000000, .unwaited_ns = 0};
    struct ys_observation observation = {.cpu_wait_ns = (int64_t)(wait_s * 1e9)};
    struct ys_facts_phase_cpu phases = {.steps_s = 16, .requests_s = NAN};
    char text[600];
    snprintf(text, sizeof text,
             "{\"seconds\":10,%s,\"cpus\":{\"seconds\":10,\"cpus\":2,\"tick_s\":0.02,%s},"
             "\"work\":{\"seconds\":8,\"cpus\":2,\"tick_s\":0.02,%s}}",
             rest, of_run, of_work);
    ys_facts_init(&facts);
    CHECK(ys_json_parse(text, strlen(text), "a test", &facts.disturbance) == YS_OK);
    facts.usage = &usage;
    facts.observation = &observation;
    facts.phase_cpu = &phases;
    facts.harness.cpu_ns = 0;
    facts.observed.threads_busy = busy;
    const enum ys_disturbance found = ys_disturbed(2, &facts);
    *taken = facts.taken ? *facts.taken : (struct ys_facts_taken){0};
    facts.usage = NULL;
    facts.observation = NULL;
    facts.phase_cpu = NULL;
    ys_facts_fini(&facts);
    return found;
}

#define BUSY(all) "\"steal_s\":0,\"throttled_s\":null,\"busy_s\":" all

/* All CPUs' steal, and a tick for each, since the kernel counts whole ones. */
static void what_the_hypervisor_took_is_known(void)
{
    struct ys_facts_taken taken;
    CHECK_INT(take("\"busy_s\":18.2,\"steal_share\":0.03", "\"steal_s\":0.6,\"busy_s\":18.2",
                   "\"steal_s\":0.32,\"busy_s\":16.1", 0, 2, &taken),
              YS_DISTURBED_BOUNDED);
    CHECK_NEAR(taken.run_s, 0.62, 1e-12);
    CHECK_NEAR(taken.work_s, 0.34, 1e-12);
    CHECK_NEAR(taken.share, 0.02, 1e-12); /* of 16 s */
    CHECK(taken.by_host);
}

static void a_run_on_one_cpu_loses_what_that_cpu_lost(void)
{
    struct ys_facts_taken taken;
    CHECK_INT(take("\"busy_s\":18.2,\"steal_share\":0.03", "\"steal_s\":0.01,\"busy_s\":18.2",
                   "\"steal_s\":0,\"busy_s\":16.1", 0, 2, &taken),
              YS_DISTURBED_NOT);
}

static void what_a_quota_took_is_known(void)
{
    struct ys_facts_taken taken;
    CHECK_INT(take("\"busy_s\":18,\"steal_share\":0,\"throttled_s\":0.5",
                   "\"steal_s\":0,\"busy_s\":18,\"throttled_s\":0.5", "\"steal_s\":0,\"busy_s\":16,\"throttled_s\":0.4",
                   0, 2, &taken),
              YS_DISTURBED_BOUNDED);
    CHECK_NEAR(taken.run_s, 0.52, 1e-12);
    CHECK_NEAR(taken.work_s, 0.42, 1e-12);
    CHECK(!taken.by_host);
}

/* Waiting counts as far as others used those CPUs: 1.5 s and 1.2 s, however long the threads say that they waited. */
static void waiting_counts_as_far_as_others_used_the_cpus(void)
{
    struct ys_facts_taken taken;
    CHECK_INT(take("\"busy_s\":19.5,\"steal_share\":0", BUSY("19.5"), BUSY("17.2"), 5, 2, &taken),
              YS_DISTURBED_BOUNDED);
    CHECK_NEAR(taken.run_s, 1.52, 1e-12);
    CHECK_NEAR(taken.work_s, 1.22, 1e-12);
}

static void one_that_starts_too_many_threads_to_look_disturbed_is_not(void)
{
    struct ys_facts_taken taken;
    CHECK_INT(take("\"busy_s\":19.5,\"steal_share\":0", BUSY("19.5"), BUSY("17.2"), 50, 8, &taken), YS_DISTURBED_NOT);
    CHECK_INT(take("\"busy_s\":20,\"steal_share\":0.03", "\"steal_s\":0.6,\"busy_s\":20",
                   "\"steal_s\":0.32,\"busy_s\":18", 50, 8, &taken),
              YS_DISTURBED_BOUNDED);
    CHECK_NEAR(taken.work_s, 0.34, 1e-12); /* its threads' waiting adds nothing */
}

static void what_another_program_took_nobody_knows(void)
{
    struct ys_facts_taken taken;
    CHECK_INT(take("\"busy_s\":23,\"steal_share\":0", BUSY("23"), BUSY("19"), 0, 2, &taken), YS_DISTURBED_UNTOLD);
    CHECK(isnan(taken.run_s) && isnan(taken.work_s) && isnan(taken.share) && !taken.by_host);
    CHECK_INT(take("\"busy_s\":18,\"steal_share\":0,\"swapped_bytes\":5000000", BUSY("18"), BUSY("16"), 0, 2, &taken),
              YS_DISTURBED_UNTOLD);
}

TAP_MAIN(TAP_CASE(a_quiet_machine_disturbs_nothing), TAP_CASE(a_burner_of_half_a_core_is_seen),
         TAP_CASE(each_other_cause_has_its_share), TAP_CASE(load_that_the_trial_made_does_not_count),
         TAP_CASE(a_run_that_is_too_short_is_not_marked), TAP_CASE(each_machine_is_judged_by_itself),
         TAP_CASE(what_the_hypervisor_took_is_known), TAP_CASE(a_run_on_one_cpu_loses_what_that_cpu_lost),
         TAP_CASE(what_a_quota_took_is_known), TAP_CASE(waiting_counts_as_far_as_others_used_the_cpus),
         TAP_CASE(one_that_starts_too_many_threads_to_look_disturbed_is_not),
         TAP_CASE(what_another_program_took_nobody_knows))
