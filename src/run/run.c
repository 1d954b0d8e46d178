#include "run/run.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "run/message.h"
#include "run/phase.h"
#include "run/ranks.h"
#include "run/together.h"
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
        run->spec->on_progress(run->spec->context, stage, fraction);
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

static ys_status take_hello(struct ys_run *run)
{
    struct ys_message message;
    ys_json *none;
    YS_TRY(ys_session_answer(run->session, &none, NULL));
    run->hello_cpu_s = ys_session_cpu_s(run->session);
    const ys_json *hello = ys_session_hello(run->session);
    ys_message_read(hello, &message);
    run->has_hello = true;
    run->no_work = message.hello.no_work;
    run->saves_state = ys_message_has_feature(hello, "state");
    run->shows_answers = ys_message_has_feature(hello, "answers");
    if (run->spec->plan->dist.world > 1 && !ys_message_has_feature(hello, "dist"))
        return ys_session_fail(run->session, YS_RUN_UNSUPPORTED,
                               "%s does not declare the feature dist: it trains in one process alone",
                               message.hello.framework ? message.hello.framework : "this adapter");
    return YS_OK;
}

/** All have answered: each goes on to its next question. None is asked before, so that what one does between two
 * questions (a save) falls into no other's time. */
static ys_status go_on(struct ys_run *runs, size_t count, bool *are_done)
{
    *are_done = true;
    for (size_t r = 0; r < count; r++) {
        if (!runs[r].has_hello)
            YS_TRY(take_hello(&runs[r]));
        YS_TRY(ys_order_go_on(&runs[r]));
        *are_done = *are_done && ys_order_is_done(&runs[r]);
    }
    return YS_OK;
}

static ys_status await(struct ys_run *runs, struct ys_session *const *sessions, size_t count)
{
    ys_json *none;
    bool is_busy = true;
    while (is_busy) {
        is_busy = false;
        if (!ys_ranks_wait(sessions, count, ys_answers_due(runs->answers)))
            break;
        for (size_t r = 0; r < count; r++)
            is_busy = is_busy || ys_session_is_busy(sessions[r]);
        YS_TRY(ys_answers_look(runs->answers)); /* of one process alone: only that answers requests */
    }
    for (size_t r = 0; r < count; r++)
        if (ys_session_has_failed(sessions[r]))
            return ys_session_answer(sessions[r], &none, NULL);
    return YS_OK;
}

static ys_status start(struct ys_run *run)
{
    struct ys_launch launch = run->spec->launch;
    ys_status status = ys_feeder_start(run->spec->plan, &launch, &run->feeder);
    ys_feeder_pass(&run->feeder, &launch);
    if (status == YS_OK)
        status = ys_session_begin(&launch, &run->session);
    ys_feeder_passed(&run->feeder);
    return status;
}

static ys_status go_through(struct ys_run *runs, struct ys_session **sessions, size_t count)
{
    bool are_done = false;
    ys_run_tell(runs, YS_STAGE_START, 0);
    for (size_t r = 0; r < count; r++) {
        ys_status status = start(&runs[r]);
        sessions[r] = runs[r].session;
        YS_TRY(status);
    }
    while (!are_done) {
        YS_TRY(await(runs, sessions, count));
        YS_TRY(go_on(runs, count, &are_done));
    }
    return YS_OK;
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

/** Failures that are yardstick's or the user's, not an adapter's. */
static bool is_ours(ys_status status, const struct ys_run *runs, size_t count)
{
    bool have_begun = true;
    for (size_t r = 0; r < count; r++)
        have_begun = have_begun && (runs[r].session || runs[r].feeder.session);
    return status == YS_EINTR || status == YS_ENOMEM || status == YS_EINTERNAL || (status != YS_OK && !have_begun);
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
static ys_status end_run(struct ys_run *run, struct ys_session_end *end, const char *failed)
{
    struct ys_session_end fed;
    ys_session_close(run->session, end);
    ys_feeder_end(&run->feeder, end, &fed);
    if (failed && end->status == YS_RUN_OK) {
        end->status = YS_RUN_CANCELLED;
        ys_free(end->message);
        end->message = ys_strdup(failed);
    }
    ys_run_check_threads(run, end);
    ys_run_check_cpus(run, end);
    ys_status status = ys_run_facts(run, end, &fed, run->facts);
    ys_session_end_fini(&fed);
    ys_json_free(run->libraries);
    ys_json_free(run->opened);
    ys_free(run->folder);
    ys_free(run->save_name);
    ys_free(run->save_path);
    return status;
}

/** A run's processes, each with what it was asked and what is known of it. */
struct processes {
    size_t count;
    struct ys_dist_place place; /* where they meet */
    struct ys_run *runs;
    struct process {
        struct ys_run_spec spec;
        struct ys_plan plan;
        int *cpus;
        struct ys_run_record own, *record; /* `record` is the caller's where there is one process, else `own` */
        struct ys_session_end end;
    } * items;
};

static int *copy_cpus(const struct ys_list *listed)
{
    const int64_t *items = listed->items;
    int *cpus = ys_alloc(listed->count + 1, sizeof *cpus);
    for (size_t i = 0; cpus && i < listed->count; i++)
        cpus[i] = (int)items[i];
    return cpus;
}

/** What one of several ranks is told: its part of what all were to get. */
static ys_status share(struct process *process, const struct ys_run_spec *spec, int64_t rank,
                       const struct ys_dist_place *place)
{
    const int64_t world = spec->plan->dist.world;
    YS_TRY(ys_rank_plan(spec->plan, rank, place, &process->plan));
    process->cpus = copy_cpus(&process->plan.cpus);
    if (!process->cpus)
        return ys_out_of_memory();
    struct ys_launch *launch = &process->spec.launch;
    process->spec.plan = &process->plan;
    process->spec.on_progress = rank == 0 ? spec->on_progress : NULL;
    launch->cpus = process->cpus;
    launch->cpu_count = process->plan.cpus.count;
    launch->rank = rank;
    launch->folder = process->plan.folder;
    launch->memory_limit_bytes /= (uint64_t)world;
    launch->cpu_time_limit_s /= (double)world;
    return YS_OK;
}

static ys_status open_processes(const struct ys_run_spec *spec, struct ys_run_record *record, struct processes *all)
{
    const int64_t world = spec->plan->dist.world;
    *all = (struct processes){.count = world > 1 ? (size_t)world : 1, .place = YS_DIST_NO_PLACE};
    *record = (struct ys_run_record){0};
    if (all->count > YS_SESSIONS_MOST)
        return ys_fail(YS_EINVAL, "a run of %zu ranks: at most %d are followed", all->count, YS_SESSIONS_MOST);
    all->items = ys_alloc(all->count, sizeof *all->items);
    all->runs = ys_alloc(all->count, sizeof *all->runs);
    if (!all->items || !all->runs)
        return ys_out_of_memory();
    ys_status status = all->count > 1 ? ys_dist_place_take(&all->place) : YS_OK;
    for (size_t r = 0; r < all->count; r++) {
        struct process *process = &all->items[r];
        struct ys_run *run = &all->runs[r];
        *process = (struct process){.spec = *spec, .record = all->count > 1 ? &process->own : record};
        *run = (struct ys_run){.spec = &process->spec, .feeder = YS_FEEDER_NONE};
        begin(run, process->record);
        if (status == YS_OK && all->count > 1)
            status = share(process, spec, (int64_t)r, &all->place);
        run->folder = ys_path_absolute(process->spec.launch.folder);
        process->spec.launch.samples = run->series;
        process->spec.launch.folder = run->folder;
        if (status == YS_OK)
            status = prepare(run);
    }
    return status;
}

static void close_processes(struct processes *all)
{
    for (size_t r = 0; all->items && r < all->count; r++) {
        struct process *process = &all->items[r];
        ys_session_end_fini(&process->end);
        if (all->count > 1) {
            ys_run_record_fini(&process->own);
            ys_plan_fini(&process->plan);
        }
        ys_free(process->cpus);
    }
    ys_free(all->items);
    ys_free(all->runs);
    ys_dist_place_give_back(&all->place);
}

/** Ends all and makes one record of theirs. */
static ys_status join(struct processes *all, const struct ys_run_spec *spec, struct ys_session *const *sessions,
                      const char *failed, struct ys_run_record *record)
{
    struct ys_run_record *own[YS_SESSIONS_MOST];
    struct ys_session_end ends[YS_SESSIONS_MOST]; /* borrowed from where they are freed */
    ys_status status = YS_OK;
    ys_ranks_bye(sessions, all->count);
    for (size_t r = 0; r < all->count; r++) {
        ys_status written = end_run(&all->runs[r], &all->items[r].end, failed);
        status = status == YS_OK ? written : status;
        own[r] = all->items[r].record;
        own[r]->has_facts = written == YS_OK;
        ends[r] = all->items[r].end;
    }
    if (status == YS_OK && all->count > 1)
        status = ys_run_join(spec->plan, own, all->count, ys_ranks_culprit(ends, all->count), record);
    if (status != YS_OK)
        ys_facts_fini(&record->facts);
    record->has_facts = status == YS_OK;
    return status;
}

ys_status ys_run_execute(const struct ys_run_spec *spec, struct ys_run_record *record)
{
    struct processes all;
    struct ys_session *sessions[YS_SESSIONS_MOST] = {NULL};
    ys_status status = open_processes(spec, record, &all);
    if (!all.items || !all.runs || all.count > YS_SESSIONS_MOST) {
        close_processes(&all);
        return status;
    }
    if (status == YS_OK)
        status = go_through(all.runs, sessions, all.count);
    const bool is_own_failure = is_ours(status, all.runs, all.count);
    char *message = status != YS_OK ? ys_strdup(ys_error()) : NULL;
    const char *said = message ? message : "out of memory";
    ys_status written = join(&all, spec, sessions, is_own_failure ? said : NULL, record);
    if (written != YS_OK)
        status = written;
    else if (is_own_failure)
        ys_fail(status, "%s", said);
    else
        status = YS_OK;
    ys_free(message);
    close_processes(&all);
    return status;
}
