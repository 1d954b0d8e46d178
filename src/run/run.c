#include "run/run.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "run/message.h"
#include "run/phase.h"
#include <inttypes.h>
#include <sys/resource.h>

enum { MOST_RESERVED = 1 << 20 }; /* latencies; more take memory as they come */

uint64_t ys_run_own_cpu_ns(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000U +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000U;
}

void ys_run_record_fini(struct ys_run_record *record)
{
    if (record->has_facts)
        ys_facts_fini(&record->facts);
    ys_series_set_free(&record->series);
    ys_answers_free(&record->answers);
    *record = (struct ys_run_record){0};
}

void ys_run_tell(const struct ys_run *run, enum ys_stage stage, double fraction)
{
    if (run->spec->on_progress)
        run->spec->on_progress(run->spec->context, ys_stage_name(stage), fraction);
}

/** All that the work will need, before it begins. */
static ys_status reserve(struct ys_run *run)
{
    static const char *const names[] = {"block_first", "block_count", "block_start_ns", "block_end_ns",
                                        "block_input_ns"};
    if (run->infers)
        return ys_series_reserve(run->series, "latency_ns", 0,
                                 run->steps < MOST_RESERVED ? (size_t)run->steps : MOST_RESERVED);
    size_t saves = run->eval_every > 0 ? (size_t)(run->steps / run->eval_every) : 0;
    size_t blocks = (size_t)(run->steps / run->block) + saves + 2;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        YS_TRY(ys_series_reserve(run->series, names[i], 0, blocks));
    return ys_series_reserve(run->series, "step_loss", 1, (size_t)run->steps);
}

static ys_status go_through(struct ys_run *run)
{
    struct ys_message message;
    struct ys_launch launch = run->spec->launch;
    ys_run_tell(run, YS_STAGE_START, 0);
    ys_status status = ys_feeder_start(run->spec->plan, &launch, &run->feeder);
    ys_feeder_pass(&run->feeder, &launch);
    if (status == YS_OK)
        status = ys_session_open(&launch, &run->session);
    ys_feeder_passed(&run->feeder);
    if (status != YS_OK)
        return status;
    run->hello_cpu_s = ys_session_cpu_s(run->session);
    ys_message_read(ys_session_hello(run->session), &message);
    run->no_work = message.hello.no_work;
    run->saves_state = ys_message_has_feature(ys_session_hello(run->session), "state");
    run->shows_answers = ys_message_has_feature(ys_session_hello(run->session), "answers");
    while ((status = ys_order_go_on(run)) == YS_OK && !ys_order_is_done(run))
        while (ys_session_is_busy(run->session)) {
            ys_session_turn(&run->session, 1, ys_answers_due(run->answers));
            YS_TRY(ys_answers_look(run->answers));
        }
    return status;
}

static int64_t requests_of(const struct ys_run *run)
{
    const int64_t asked = run->spec->plan->requests;
    return asked == YS_FIELD_NONE ? run->spec->requests : asked;
}

static ys_status prepare(struct ys_run *run)
{
    const struct ys_plan *plan = run->spec->plan;
    if (ys_plan_check(plan) != YS_OK) /* it is of yardstick's own making */
        return ys_fail_in(YS_EINTERNAL, "a run");
    run->order = run->spec->audit ? ys_order_audited() : ys_order_find((enum ys_mode)plan->mode);
    run->infers = run->order->infers;
    run->steps = run->infers ? requests_of(run) : plan->steps;
    run->batch = plan->batch;
    run->block = plan->block;
    run->eval_every = plan->eval_every;
    if (run->steps < 1 || run->block < 1 || run->eval_every < 0)
        return ys_fail(YS_EINTERNAL,
                       "a plan of %" PRId64 " %s in blocks of %" PRId64 ", saved every %" PRId64 ", cannot be run",
                       run->steps, run->infers ? "requests" : "steps", run->block, run->eval_every);
    if (!run->folder || !run->facts->times.pauses || !run->libraries)
        return ys_out_of_memory();
    return reserve(run);
}

/** Failures that are yardstick's or the user's, not the adapter's. */
static bool is_ours(ys_status status, const struct ys_run *run)
{
    const bool is_started = run->session || run->feeder.session;
    return status == YS_EINTR || status == YS_ENOMEM || status == YS_EINTERNAL || (status != YS_OK && !is_started);
}

static void begin(struct ys_run *run, struct ys_run_record *record)
{
    *record = (struct ys_run_record){0};
    ys_facts_init(&record->facts);
    record->facts.times.pauses = ys_json_array();
    run->facts = &record->facts;
    run->series = &record->series;
    run->answers = &record->answers;
    run->libraries = ys_json_array();
    run->own_cpu_ns = ys_run_own_cpu_ns();
    ys_host_count(&run->before);
}

/** Closes the session and writes down what is known. `failed` is why the run broke off where that is no fault of the
 * adapter's, NULL otherwise. */
static ys_status end_run(struct ys_run *run, const char *failed)
{
    struct ys_session_end end, fed;
    ys_session_close(run->session, &end);
    ys_feeder_end(&run->feeder, &end, &fed);
    if (failed && end.status == YS_RUN_OK) {
        end.status = YS_RUN_CANCELLED;
        ys_free(end.message);
        end.message = ys_strdup(failed);
    }
    ys_run_check_threads(run, &end);
    ys_run_check_cpus(run, &end);
    ys_status status = ys_run_facts(run, &end, &fed, run->facts);
    ys_session_end_fini(&end);
    ys_session_end_fini(&fed);
    ys_json_free(run->libraries);
    ys_json_free(run->opened);
    ys_free(run->folder);
    ys_free(run->save_name);
    ys_free(run->save_path);
    return status;
}

ys_status ys_run_execute(const struct ys_run_spec *spec, struct ys_run_record *record)
{
    struct ys_run_spec own = *spec;
    struct ys_run run = {.spec = &own, .feeder = YS_FEEDER_NONE, .folder = ys_path_absolute(spec->launch.folder)};
    begin(&run, record);
    own.launch.samples = run.series;
    own.launch.folder = run.folder;
    ys_status status = prepare(&run);
    if (status == YS_OK)
        status = go_through(&run);
    const bool is_own_failure = is_ours(status, &run);
    char *message = status != YS_OK ? ys_strdup(ys_error()) : NULL;
    const char *said = message ? message : "out of memory";
    ys_status written = end_run(&run, is_own_failure ? said : NULL);
    record->has_facts = written == YS_OK;
    if (written != YS_OK) {
        ys_facts_fini(&record->facts);
        status = written;
    } else if (is_own_failure) {
        ys_fail(status, "%s", said);
    } else {
        status = YS_OK;
    }
    ys_free(message);
    return status;
}
