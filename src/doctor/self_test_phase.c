#include "doctor/self_test_phase.h"

#include "base/files/fs.h"
#include "base/json/record.h"
#include "base/mem.h"
#include "crew/run_spec.h"
#include "metric/run/work_span.h"
#include "run/execute.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 6 }; /* yardstick-known pauses before the blocks 2 and 4 */

/* What the program says at its end, in a file, as nothing is answered after bye. NaN: it did not. */
struct phase_sleeps {
    double start_ns, open_ns, train_ns, gap_ns, save_ns, stop_ns;
};
#define SLEPT(member)                                                                                                  \
    YS_FIELD(struct phase_sleeps, member, YS_FIELD_REAL, "ns", YS_FIELD_NULL, "slept, by its own clock")
static const struct ys_field slept_fields[] = {SLEPT(start_ns), SLEPT(open_ns), SLEPT(train_ns),
                                               SLEPT(gap_ns),   SLEPT(save_ns), SLEPT(stop_ns)};
static const struct ys_record slept_record = YS_RECORD("slept", struct phase_sleeps, slept_fields);

static ys_status read_slept(const char *folder, struct ys_known_times *times)
{
    struct phase_sleeps slept;
    ys_json *json = NULL;
    char *path = ys_path_join(folder, "known-sleeps.json");
    ys_status status = ys_json_read(path, &json);
    if (status == YS_OK) {
        ys_record_glance(&slept_record, json, &slept);
        times->slept_s[YS_KNOWN_START] = slept.start_ns * 1e-9;
        times->slept_s[YS_KNOWN_OPEN] = slept.open_ns * 1e-9;
        times->slept_s[YS_KNOWN_TRAIN] = (slept.train_ns + slept.gap_ns) * 1e-9;
        times->slept_s[YS_KNOWN_GAP] = slept.gap_ns * 1e-9;
        times->slept_s[YS_KNOWN_SAVE] = slept.save_ns * 1e-9;
        times->slept_s[YS_KNOWN_STOP] = slept.stop_ns * 1e-9;
    }
    ys_json_free(json);
    ys_free(path);
    return status;
}

static double span_of(int64_t from_ns, int64_t to_ns)
{
    return from_ns == YS_FIELD_NONE || to_ns == YS_FIELD_NONE ? NAN : (double)(to_ns - from_ns) * 1e-9;
}

static void observe(const struct ys_run_record *record, struct ys_known_times *times)
{
    const struct ys_facts_times *at = &record->facts.times;
    const struct ys_series *blocks = ys_series_find(&record->series, "block_end_ns");
    int64_t spans[STEPS] = {0};
    ys_span_of_blocks(&record->series, STEPS, spans);
    bool has_all = blocks && blocks->count == STEPS;
    times->observed_s[YS_KNOWN_START] = span_of(at->exec_ns, at->hello_ns);
    times->observed_s[YS_KNOWN_OPEN] = span_of(at->open_ns, at->opened_ns);
    times->observed_s[YS_KNOWN_TRAIN] = span_of(at->train_ns, at->trained_ns);
    times->observed_s[YS_KNOWN_GAP] = has_all ? (double)(spans[2] + spans[4]) * 1e-9 : NAN;
    times->observed_s[YS_KNOWN_SAVE] = span_of(at->save_ns, at->saved_ns);
    times->observed_s[YS_KNOWN_STOP] = span_of(at->bye_ns, at->end_ns);
}

static void fill_plan(const char *folder, bool sleeps, struct ys_plan *plan)
{
    plan->mode = YS_MODE_TRAIN;
    plan->batch = plan->block = plan->threads = 1;
    plan->steps = STEPS;
    plan->eval_every = 0;
    plan->options = ys_json_object();
    ys_json_set_string(plan->options, "act", sleeps ? "phases" : "nothing");
    ys_set_text(&plan->folder, folder);
}

static ys_status run(const char *program, const char *folder, bool sleeps, const struct ys_plan *plan,
                     struct ys_known_times *times)
{
    const char *argv[] = {program, sleeps ? "sleep" : NULL, NULL};
    const struct ys_run_spec spec = {
        .plan = plan,
        .launch = {.argv = argv, .folder = folder, .stall_limit_s = 30, .run_time_limit_s = 60, .sample_hz = 10}};
    struct ys_run_record record;
    ys_status status = ys_run_execute(&spec, &record);
    if (status == YS_OK) {
        observe(&record, times);
        if (record.facts.status != YS_RUN_OK)
            snprintf(times->reason, sizeof times->reason, "%s",
                     record.facts.message ? record.facts.message : "it did not end well");
        else if (sleeps)
            status = read_slept(folder, times);
    }
    ys_run_record_fini(&record);
    return status;
}

ys_status ys_known_run(const char *program, const char *folder, bool sleeps, struct ys_known_times *times)
{
    struct ys_plan plan;
    *times = (struct ys_known_times){{0}, {0}, ""};
    ys_plan_init(&plan);
    fill_plan(folder, sleeps, &plan);
    ys_status status = run(program, folder, sleeps, &plan, times);
    ys_plan_fini(&plan);
    return status;
}
