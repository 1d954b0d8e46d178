/* What is written down of a run. */
#include "base/mem.h"
#include "probe/maps.h"
#include "run/run_internal.h"
#include <string.h>

/** A time or a count, null when it is 0, which means that it was never reached. */
static void put_time(ys_json *object, const char *key, uint64_t t_ns)
{
    ys_json_set(object, key, t_ns ? ys_json_int((int64_t)t_ns) : ys_json_null());
}

static ys_json *shared(ys_json *value)
{
    return value ? ys_json_ref(value) : ys_json_null();
}

static ys_json *times(const struct ys_run *run, const struct ys_session_end *end)
{
    ys_json *object = ys_json_object();
    const struct {
        const char *key;
        uint64_t t_ns;
    } points[] = {
        {"exec_ns", end->exec_ns},
        {"hello_ns", end->hello_ns},
        {"open_ns", run->open_ns},
        {"opened_ns", run->opened_ns},
        {run->infers ? "infer_ns" : "train_ns", run->work_ns},
        /* After an interruption `worked_ns` is the end of a part of the steps, not of training. */
        {run->infers ? "inferred_ns" : "trained_ns", run->next_step < run->steps ? 0 : run->worked_ns},
        {"save_ns", run->save_ns},
        {"saved_ns", run->saved_ns},
        {"bye_ns", end->bye_ns},
        {"end_ns", end->end_ns},
    };
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        put_time(object, points[i].key, points[i].t_ns);
    ys_json_set(object, "pauses", shared(run->pauses));
    return object;
}

static ys_json *usage(const struct ys_session_end *end)
{
    if (!end->end_ns || !end->exec_ns)
        return ys_json_null();
    ys_json *object = ys_json_object();
    ys_json_set_int(object, "user_ns", (int64_t)end->user_ns);
    ys_json_set_int(object, "system_ns", (int64_t)end->system_ns);
    ys_json_set_int(object, "voluntary_switches", (int64_t)end->voluntary_switches);
    ys_json_set_int(object, "involuntary_switches", (int64_t)end->involuntary_switches);
    ys_json_set_int(object, "minor_faults", (int64_t)end->minor_faults);
    ys_json_set_int(object, "major_faults", (int64_t)end->major_faults);
    ys_json_set_int(object, "unwaited_ns", (int64_t)end->unwaited_ns);
    return object;
}

static ys_json *observed(const struct ys_run *run, const struct ys_session_end *end)
{
    const struct ys_tree_peak *peak = &end->peak;
    ys_json *object = ys_json_object(), *notes = ys_json_array();
    ys_json_set(object, "threads_peak", peak->threads ? ys_json_int(peak->threads) : ys_json_null());
    ys_json_set(object, "threads_busy", run->busy_threads > 0 ? ys_json_real(run->busy_threads) : ys_json_null());
    ys_json_set(object, "processes_peak", peak->processes ? ys_json_int(peak->processes) : ys_json_null());
    put_time(object, "rss_peak_bytes", peak->rss_bytes);
    put_time(object, "process_peak_bytes", peak->process_bytes);
    const char *last = NULL;
    for (size_t i = 0; i < ys_json_size(run->libraries); i++) {
        const char *note = ys_maps_note(ys_json_text(ys_json_at(run->libraries, i), ""));
        if (note && note != last)
            ys_json_append(notes, ys_json_string(note));
        last = note ? note : last;
    }
    ys_json_set(object, "libraries", shared(run->libraries));
    ys_json_set(object, "notes", notes);
    return object;
}

/** What each phase used, null where it was not looked at both before and after. */
static ys_json *phase_cpu(const struct ys_run *run)
{
    const struct {
        const char *key;
        double from_s, to_s;
        bool is_known;
    } phases[] = {
        {"start_s", 0, run->hello_cpu_s, true},
        {"open_s", run->hello_cpu_s, run->opened_cpu_s, run->hello_cpu_s > 0},
        {"first_step_s", run->opened_cpu_s, run->first_cpu_s, run->opened_cpu_s > 0},
        {"steps_s", run->first_cpu_s, run->worked_cpu_s, run->first_cpu_s > 0},
        {"requests_s", run->opened_cpu_s, run->worked_cpu_s, run->infers && run->opened_cpu_s > 0},
        {"save_s", run->worked_cpu_s, run->saved_cpu_s, run->has_weights && run->worked_cpu_s > 0},
    };
    ys_json *object = ys_json_object();
    for (size_t i = 0; i < sizeof phases / sizeof phases[0]; i++)
        ys_json_set(object, phases[i].key,
                    phases[i].is_known && phases[i].to_s > 0 && phases[i].to_s >= phases[i].from_s
                        ? ys_json_real(phases[i].to_s - phases[i].from_s)
                        : ys_json_null());
    return object;
}

static ys_json *harness(const struct ys_run *run, const struct ys_session_end *end)
{
    ys_json *object = ys_json_object();
    ys_json_set_int(object, "cpu_ns", (int64_t)(ys_run_own_cpu_ns() - run->own_cpu_ns + end->keeper_ns));
    ys_json_set_int(object, "samples", (int64_t)end->peak.samples);
    ys_json_set_int(object, "lateness_max_ns", (int64_t)end->lateness_max_ns);
    ys_json_set_real(object, "stopped_s", (double)end->stopped_ns * 1e-9);
    return object;
}

static void put_end(ys_json *facts, const struct ys_session_end *end)
{
    ys_json_set_string(facts, "status", end->status);
    ys_json_set_string(facts, "stage", end->stage[0] ? end->stage : "start");
    ys_json_set(facts, "exit_code", end->exit_code >= 0 ? ys_json_int(end->exit_code) : ys_json_null());
    ys_json_set(facts, "signal", end->signal ? ys_json_int(end->signal) : ys_json_null());
    ys_json_set_string(facts, "message", end->message);
    ys_json_set_string(facts, "log_tail", end->log_tail);
    ys_json_set(facts, "warnings", end->warnings ? ys_json_ref(end->warnings) : ys_json_array());
}

ys_json *ys_run_facts(const struct ys_run *run, const struct ys_session_end *end)
{
    ys_json *facts = ys_json_object();
    struct ys_host_counters after;
    ys_host_count(&after);
    put_end(facts, end);
    ys_json_set_int(facts, "round", run->spec->round);
    ys_json_set(facts, "times", times(run, end));
    ys_json_set(facts, "hello", shared(end->hello));
    ys_json_set(facts, "opened", shared(run->opened));
    ys_json_set(facts, "usage", usage(end));
    ys_json_set(facts, "observed", observed(run, end));
    ys_json_set(facts, "observation", end->end_ns ? ys_observe_facts(&end->observed, &end->peak) : ys_json_null());
    ys_json_set(facts, "phase_cpu", phase_cpu(run));
    ys_json_set_int(facts, "steps_done", run->next_step);
    ys_json_set_string(facts, "weights", run->has_weights ? YS_RUN_WEIGHTS_NAME : NULL);
    ys_json_set(facts, "checkpoints", shared(run->checkpoints));
    ys_json_set(facts, "harness", harness(run, end));
    /* The last one reports what went wrong on the way: a container refuses what could not be made. */
    if (ys_json_set(facts, "disturbance", ys_host_disturbance(&run->before, &after)) != YS_OK ||
        ys_json_size(facts) < 20) {
        ys_json_free(facts);
        return NULL;
    }
    return facts;
}
