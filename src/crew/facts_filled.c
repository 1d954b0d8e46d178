/* What is known of a run at its end. */
#include "base/mem.h"
#include "crew/run_state.h"
#include "crew/traffic.h"
#include "probe/mapped_libraries.h"
#include <math.h>
#include <string.h>

/** A time or a count that is 0 was never reached, or not seen. */
static int64_t known(uint64_t value)
{
    return value ? (int64_t)value : YS_FIELD_NONE;
}

static ys_json *shared(ys_json *value)
{
    return value ? ys_json_ref(value) : NULL;
}

static void add_texts(struct ys_list *list, const ys_json *texts)
{
    for (size_t i = 0; i < ys_json_size(texts); i++)
        ys_list_add_text(list, ys_json_text(ys_json_at(texts, i), ""));
}

static void fill_end(const struct ys_run *run, const struct ys_session_end *end, struct ys_facts *facts)
{
    facts->status = (int)end->status;
    facts->stage = (int)end->stage;
    facts->exit_code = end->exit_code >= 0 ? end->exit_code : YS_FIELD_NONE;
    facts->signal = end->signal ? end->signal : YS_FIELD_NONE;
    ys_set_text(&facts->message, end->message);
    ys_set_text(&facts->log_tail, end->log_tail);
    facts->times.exec_ns = known(end->exec_ns);
    facts->times.hello_ns = known(end->hello_ns);
    facts->times.bye_ns = known(end->bye_ns);
    facts->times.end_ns = known(end->end_ns);
    facts->hello = shared(end->hello);
    facts->opened = shared(run->opened);
    add_texts(&facts->warnings, end->warnings);
}

static void fill_usage(const struct ys_session_end *end, struct ys_facts *facts)
{
    if (!end->end_ns || !end->exec_ns)
        return;
    struct ys_facts_usage *usage = facts->usage = ys_alloc(1, sizeof *usage);
    *usage = (struct ys_facts_usage){
        .user_ns = (int64_t)end->user_ns,
        .system_ns = (int64_t)end->system_ns,
        .voluntary_switches = (int64_t)end->voluntary_switches,
        .involuntary_switches = (int64_t)end->involuntary_switches,
        .minor_faults = (int64_t)end->minor_faults,
        .major_faults = (int64_t)end->major_faults,
        .unwaited_ns = (int64_t)end->unwaited_ns,
    };
}

static void fill_turns(const struct ys_run *run, const struct ys_session_end *end, struct ys_facts *facts)
{
    if (!run->spec->by_turns)
        return;
    facts->turns = ys_alloc(1, sizeof *facts->turns);
    ys_record_init(&ys_facts_turns_record, facts->turns);
    facts->turns->waited_ns = (int64_t)end->waited.waited_ns;
    facts->turns->ahead_ns = (int64_t)end->waited.cpu_ns;
    facts->turns->hold = (int)end->waited.hold;
}

static void fill_feeder(const struct ys_run *run, const struct ys_session_end *fed, struct ys_facts *facts)
{
    if (!fed->exec_ns)
        return;
    facts->feeder = ys_alloc(1, sizeof *facts->feeder);
    *facts->feeder = (struct ys_facts_feeder){
        .threads = run->spec->plan->input.threads,
        .user_ns = (int64_t)fed->user_ns,
        .system_ns = (int64_t)fed->system_ns,
        .peak_bytes = known(fed->peak.rss_bytes),
    };
}

static void fill_observed(const struct ys_run *run, const struct ys_tree_peak *peak, struct ys_facts_observed *observed)
{
    observed->threads_peak = known(peak->threads);
    if (run->worked.shared > 0)
        observed->threads_busy = run->worked.shared;
    if (run->worked.cpus > 0)
        observed->threads_cpus = run->worked.cpus;
    observed->processes_peak = known(peak->processes);
    observed->rss_peak_bytes = known(peak->rss_bytes);
    observed->process_peak_bytes = known(peak->process_bytes);
    const char *last = NULL;
    for (size_t i = 0; i < ys_json_size(run->libraries); i++) {
        const char *note = ys_maps_note(ys_json_text(ys_json_at(run->libraries, i), ""));
        if (note && note != last)
            ys_list_add_text(&observed->notes, note);
        last = note ? note : last;
    }
    add_texts(&observed->libraries, run->libraries);
}

static double between(double from_s, double to_s, bool is_known)
{
    return is_known && to_s > 0 && to_s >= from_s ? to_s - from_s : NAN;
}

/** What each phase used, unknown where it was not looked at both before and after. */
static struct ys_facts_phase_cpu phase_cpu(const struct ys_run *run)
{
    return (struct ys_facts_phase_cpu){
        .start_s = between(0, run->hello_cpu_s, true),
        .open_s = between(run->hello_cpu_s, run->opened_cpu_s, run->hello_cpu_s > 0),
        .first_step_s = between(run->opened_cpu_s, run->first_cpu_s, run->opened_cpu_s > 0),
        .steps_s = between(run->first_cpu_s, run->worked_cpu_s, run->first_cpu_s > 0),
        .requests_s = between(run->opened_cpu_s, run->worked_cpu_s, run->mode->times_each && run->opened_cpu_s > 0),
        .save_s = between(run->worked_cpu_s, run->saved_cpu_s, run->worked_cpu_s > 0),
        .pauses_s = between(0, run->pauses_cpu_s, true),
    };
}

static void fill_observation(const struct ys_run *run, const struct ys_session_end *end, struct ys_facts *facts)
{
    if (!end->end_ns)
        return;
    facts->observation = ys_alloc(1, sizeof *facts->observation);
    facts->phase_cpu = ys_alloc(1, sizeof *facts->phase_cpu);
    *facts->phase_cpu = phase_cpu(run);
    (void)!ys_record_copy(&ys_observation_record, &end->observed, facts->observation); /* want of memory ends it all */
}

/* A sample is one period of processor time. */
static struct ys_facts_code code_of(const uint64_t samples[YS_CODE_COUNT], bool in_kernel)
{
    const double each_s = YS_PERF_PERIOD_NS * 1e-9;
    return (struct ys_facts_code){
        .kernel_s = in_kernel ? each_s * (double)samples[YS_CODE_KERNEL] : NAN,
        .interpreter_s = each_s * (double)samples[YS_CODE_INTERPRETER],
        .blas_s = each_s * (double)samples[YS_CODE_BLAS],
        .openmp_s = each_s * (double)samples[YS_CODE_OPENMP],
        .primitives_s = each_s * (double)samples[YS_CODE_PRIMITIVES],
        .framework_s = each_s * (double)samples[YS_CODE_FRAMEWORK],
        .generated_s = each_s * (double)samples[YS_CODE_GENERATED],
        .system_s = each_s * (double)samples[YS_CODE_SYSTEM],
        .unknown_s = each_s * (double)samples[YS_CODE_UNKNOWN],
    };
}

static void fill_perf(const struct ys_session_perf *seen, struct ys_facts *facts)
{
    const struct ys_profile_counts *counts = &seen->counts;
    if (!seen->is_asked)
        return;
    struct ys_facts_perf *perf = facts->perf = ys_alloc(1, sizeof *perf);
    ys_record_init(&ys_facts_perf_record, perf);
    perf->runs = 1;
    ys_set_text(&perf->reason, seen->is_known ? NULL : seen->reason[0] ? seen->reason : "it did not begin");
    if (!seen->is_known)
        return;
    perf->in_kernel = seen->in_kernel;
    perf->period_ns = YS_PERF_PERIOD_NS;
    perf->lost = (int64_t)counts->lost;
    perf->samples = 0;
    for (int phase = 0; phase < YS_PROFILE_PHASES; phase++)
        for (int code = 0; code < YS_CODE_COUNT; code++)
            perf->samples += (int64_t)counts->samples[phase][code];
    perf->startup = code_of(counts->samples[YS_PROFILE_STARTUP], seen->in_kernel);
    perf->steady = code_of(counts->samples[YS_PROFILE_STEADY], seen->in_kernel);
    perf->after = code_of(counts->samples[YS_PROFILE_AFTER], seen->in_kernel);
}

static uint64_t own_cpu_ns(const struct ys_run *run)
{
    return run->tells_own ? ys_run_own_cpu_ns() - run->own_cpu_ns : 0;
}

/* What else the machine did, and its CPUs that the run may use, in all of the run and while it worked. */
static ys_json *disturbance_of(const struct ys_run *run)
{
    struct ys_host_counters after;
    struct ys_host_cpu_counters cpus_after;
    ys_host_count(&after);
    ys_run_count_cpus(run, &cpus_after);
    ys_json *made = ys_host_disturbance(&run->before, &after);
    ys_json_set(made, "cpus", ys_host_cpus_between(&run->cpus_before, &cpus_after));
    const bool has_worked = run->work_before.t_ns && run->work_after.t_ns;
    ys_json *work = has_worked ? ys_host_cpus_between(&run->work_before, &run->work_after) : ys_json_null();
    ys_json_set(made, "work", work);
    return made;
}

void ys_run_facts(const struct ys_run *run, const struct ys_session_end *end, const struct ys_session_end *fed,
                  struct ys_facts *facts)
{
    facts->round = run->spec->round;
    facts->steps_done = run->next_step;
    facts->harness = (struct ys_facts_harness){
        .cpu_ns = (int64_t)(own_cpu_ns(run) + end->keeper_ns + fed->keeper_ns),
        .samples = (int64_t)end->peak.samples,
        .lateness_max_ns = (int64_t)end->lateness_max_ns,
        .stopped_s = (double)end->stopped_ns * 1e-9,
    };
    fill_end(run, end, facts);
    fill_usage(end, facts);
    fill_feeder(run, fed, facts);
    fill_turns(run, end, facts);
    fill_observed(run, &end->peak, &facts->observed);
    fill_observation(run, end, facts);
    fill_perf(&end->perf, facts);
    ys_traffic_fill(run, facts);
    facts->disturbance = disturbance_of(run);
    ys_facts_derive(facts);
}
