/* One run of a trial: fresh processes, the phases in their order, everything that was observed. */
#ifndef YS_RUN_RUN_H
#define YS_RUN_RUN_H

#include "base/json.h"
#include "base/status.h"
#include "run/launch.h"
#include "stat/series.h"
#include <stdint.h>

struct ys_run_spec {
    const ys_json *trial; /* may be NULL; of its keys eval_every and requests are taken when the plan has none */
    const ys_json *plan;  /* docs/protocol.md; in mode "infer" a step is a request, and plan.steps is not looked at */
    struct ys_launch launch; /* `samples` is set by the run */
    int64_t round;
    /** For a progress line: `stage` as in the facts, `fraction` 0 to 1 of the run's steps. At most ten times a second;
     * may be NULL. */
    void (*on_progress)(void *context, const char *stage, double fraction);
    void *context;
};

#define YS_RUN_WEIGHTS_NAME "weights.safetensors" /* the final weights, in the run's folder */

/** What is known of a run. Times are nanoseconds of ys_time_ns(); what was not reached or is not known is null.
 *
 * facts: {"status", "stage", "exit_code", "signal", "message", "log_tail", "warnings": [..], "times", "hello": {..},
 * "opened": {..}, "usage", "observed", "observation", "phase_cpu", "weights" (file in the run's folder), "checkpoints":
 * [{"step", "path"}], "steps_done", "round", "harness": {"cpu_ns" (its keeper's included), "samples",
 * "lateness_max_ns", "stopped_s"}, "disturbance": {..} (probe/host.h)}
 *
 * times: {"exec_ns", "hello_ns" (answered), "open_ns" (asked), "opened_ns", "train_ns", "trained_ns" (in mode "infer":
 * "infer_ns", "inferred_ns"), "save_ns", "saved_ns", "bye_ns", "end_ns" (the last process waited for), "pauses":
 * [[from, to], ..] (saves between steps)}
 *
 * usage: {"user_ns", "system_ns", "voluntary_switches", "involuntary_switches", "minor_faults", "major_faults",
 * "unwaited_ns"}: user and system add up to the control group's count where there is one
 *
 * observed: {"threads_peak", "threads_busy" (probe/threads.h, after the last step), "rss_peak_bytes",
 * "process_peak_bytes", "processes_peak", "libraries": [..], "notes":
 * [..]}
 *
 * observation: {"grouped" (bool), "group" (which controllers, or why none), "killed_as_a_whole", "cpu_ns",
 * "memory_peak_bytes", "memory_own_peak_bytes", "cache_peak_bytes", "tasks_peak" (the control group's),
 * "swap_peak_bytes", "cpu_wait_ns", "read_bytes", "written_bytes", "disk_read_bytes", "disk_written_bytes",
 * "sampled_shared_bytes", "shared_rss_bytes", "shared_pss_bytes", "pss_peak_bytes"} (run/observe.h); null where not observed
 *
 * phase_cpu: processor time in seconds of {"start_s" (exec to hello), "open_s", "first_step_s", "steps_s" (those after
 * it, saves between them included), "requests_s", "save_s"}; null where it was not looked at
 *
 * series: block_first block_count block_start_ns block_end_ns, block_input_ns and step_loss (real) of training,
 * latency_ns of requests (whose blocks are messages), request_first request_sent_ns request_done_ns of
 * questions (what was asked for, from its first step on, and when by yardstick's clock), sample_t_ns sample_cpu_ns
 * sample_rss_bytes sample_threads sample_processes sample_switches. Adapters that do no work send no losses and save
 * nothing. */
struct ys_run_record {
    ys_json *facts;
    struct ys_series_set series;
};
void ys_run_record_fini(struct ys_run_record *record);

/** Order: hello, open, train {0, 1} (the first step alone), train {1, steps} in blocks, interrupted by a save after
 * every `eval_every` steps, save, bye. In mode "infer": hello, open, infer, bye.
 * @return YS_OK also for a run that failed: facts.status tells. YS_EINTR, YS_ENOMEM, YS_EIO and YS_EINTERNAL are
 * failures of yardstick's own or the user's wish; even then the record holds what is known (facts is NULL only for want
 * of memory). */
ys_status ys_run_execute(const struct ys_run_spec *spec, struct ys_run_record *record) YS_MUST_CHECK;

#endif
