#include "crew/crew.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "crew/phase.h"
#include "crew/ranks.h"
#include "crew/stored_model.h"
#include "crew/run_state.h"
#include "crew/traffic.h"
#include "session/checked_message.h"

#include <inttypes.h>
#include <poll.h>
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

void ys_run_count_cpus(const struct ys_run *run, struct ys_host_cpu_counters *counters)
{
    const struct ys_plan *plan = run->spec->plan;
    const struct ys_list *cpus = &plan->cpus;
    ys_host_count_cpus(cpus->items, plan->dist.world > 1 ? 0 : cpus->count, counters);
}

void ys_run_tell(const struct ys_run *run, enum ys_stage stage, double fraction)
{
    if (run->spec->on_progress)
        run->spec->on_progress(run->spec->context, stage, fraction);
}

/** All that the work will need, before it begins. */
static void reserve(struct ys_run *run)
{
    static const char *const names[] = {"block_first", "block_count", "block_start_ns", "block_end_ns",
                                        "block_input_ns"};
    if (run->mode->times_each) {
        ys_series_reserve(run->series, "latency_ns", 0,
                          run->steps < MOST_RESERVED ? (size_t)run->steps : MOST_RESERVED);
        return;
    }
    size_t saves = run->eval_every > 0 ? (size_t)(run->steps / run->eval_every) : 0;
    size_t blocks = (size_t)(run->steps / run->block) + saves + 2;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        ys_series_reserve(run->series, names[i], 0, blocks);
    ys_series_reserve(run->series, "step_loss", 1, (size_t)run->steps);
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
    run->shows_later = ys_message_has_feature(hello, "answers_later");
    run->shows_answers = run->shows_later || ys_message_has_feature(hello, "answers");
    if (run->spec->plan->dist.world > 1 && !ys_message_has_feature(hello, "dist"))
        return ys_session_fail(run->session, YS_RUN_UNSUPPORTED,
                               "%s does not declare the feature dist: it trains in one process alone",
                               message.hello.framework ? message.hello.framework : "this adapter");
    return run->spec->stored ? ys_run_check_forms(run, hello) : YS_OK;
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
    run->order = run->spec->audit                              ? ys_order_audited()
                 : plan->mode == YS_MODE_SIZE && !plan->stored ? ys_order_saving()
                                                               : ys_order_find((enum ys_mode)plan->mode);
    run->mode = ys_mode_of(plan->mode);
    run->work = run->order->work;
    run->steps = run->mode->times_each ? requests_of(run) : plan->steps;
    run->batch = plan->batch;
    run->block = plan->block;
    run->eval_every = plan->eval_every;
    if (run->steps < 1 || run->block < 1 || run->eval_every < 0)
        return ys_fail(YS_EINTERNAL,
                       "a plan of %" PRId64 " %s in blocks of %" PRId64 ", saved every %" PRId64 ", cannot be run",
                       run->steps, run->mode->units, run->block, run->eval_every);
    reserve(run);
    return YS_OK;
}

static void begin(struct ys_run *run, struct ys_run_record *record)
{
    *record = (struct ys_run_record){0};
    ys_facts_init(&record->facts);
    record->facts.times.pauses = ys_json_array();
    run->record = record;
    run->facts = &record->facts;
    run->series = &record->series;
    run->answers = &record->answers;
    run->libraries = ys_json_array();
    run->own_cpu_ns = ys_run_own_cpu_ns();
    ys_host_count(&run->before);
    ys_run_count_cpus(run, &run->cpus_before);
}

/** Closes the session and writes down what is known. `failed` is why the run broke off where that is no fault of the
 * adapter's, NULL otherwise. */
static void end_run(struct ys_run *run, struct ys_crew_member *member, const char *failed)
{
    struct ys_session_end *end = &member->end;
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
    ys_run_facts(run, end, &fed, run->facts);
    if (run->spec->plan->dist.world > 1)
        ys_listening_end(&member->listening, run->series, &run->facts->collectives);
    ys_session_end_fini(&fed);
    ys_traffic_fini(run);
    ys_json_free(run->libraries);
    ys_json_free(run->opened);
    ys_free(run->folder);
    ys_free(run->save_name);
    ys_free(run->save_path);
    run->record->has_facts = true;
}

/** What one of several ranks is told: its part of what all were to get. */
static void share(struct ys_crew_member *member, const struct ys_plan *plan)
{
    struct ys_launch *launch = &member->spec.launch;
    member->cpus = ys_launch_cpus(&plan->cpus);
    launch->cpus = member->cpus;
    launch->cpu_count = plan->cpus.count;
    launch->rank = plan->dist.rank;
    launch->folder = plan->folder;
    launch->memory_limit_bytes /= (uint64_t)plan->dist.world;
    launch->cpu_time_limit_s /= (double)plan->dist.world;
}

ys_status ys_crew_open(const struct ys_run_spec *spec, const struct ys_plan *plans, size_t count,
                       struct ys_run_record *records, struct ys_crew *crew)
{
    *crew = (struct ys_crew){.count = count};
    if (count > YS_SESSIONS_MOST) {
        crew->count = 0;
        return ys_fail(YS_EINVAL, "a run of %zu ranks: at most %d are followed", count, YS_SESSIONS_MOST);
    }
    crew->members = ys_alloc(count, sizeof *crew->members);
    crew->runs = ys_alloc(count, sizeof *crew->runs);
    ys_status status = YS_OK;
    for (size_t i = 0; i < count; i++) {
        struct ys_crew_member *member = &crew->members[i];
        struct ys_run *run = &crew->runs[i];
        *member = (struct ys_crew_member){.spec = *spec};
        member->spec.plan = &plans[i];
        member->spec.on_progress = i == 0 ? spec->on_progress : NULL;
        *run = (struct ys_run){.spec = &member->spec, .feeder = YS_FEEDER_NONE, .tells_own = i == 0};
        begin(run, &records[i]);
        if (status == YS_OK && plans[i].dist.world > 1)
            share(member, &plans[i]);
        run->folder = ys_path_absolute(member->spec.launch.folder);
        member->spec.launch.samples = run->series;
        member->spec.launch.folder = run->folder;
        if (status == YS_OK)
            status = prepare(run);
        if (status == YS_OK && plans[i].dist.world > 1)
            ys_listening_begin(spec->listens, &member->spec.launch, &member->listening);
    }
    return status;
}

ys_status ys_crew_begin(struct ys_crew *crew)
{
    ys_run_tell(crew->runs, YS_STAGE_START, 0);
    for (size_t i = 0; i < crew->count; i++) {
        ys_status status = start(&crew->runs[i]);
        crew->sessions[i] = crew->runs[i].session;
        YS_TRY(status);
    }
    return YS_OK;
}

bool ys_crew_is_busy(const struct ys_crew *crew)
{
    for (size_t i = 0; i < crew->count; i++)
        if (ys_session_is_busy(crew->sessions[i]) || crew->runs[i].is_judged)
            return true;
    return false;
}

bool ys_crew_has_failed(const struct ys_crew *crew)
{
    for (size_t i = 0; i < crew->count; i++)
        if (crew->sessions[i] && ys_session_has_failed(crew->sessions[i]))
            return true;
    return false;
}

static ys_status failure_of(const struct ys_crew *crew)
{
    ys_json *none;
    for (size_t i = 0; i < crew->count; i++)
        if (ys_session_has_failed(crew->sessions[i]))
            return ys_session_answer(crew->sessions[i], &none, NULL);
    return YS_OK;
}

/* What is said of the weights of the first rank, to all of them, once it is. */
static ys_status hear_judgement(struct ys_crew *crew)
{
    const struct ys_run_until *until = crew->runs->spec->until;
    struct pollfd source = {.fd = crew->runs->judged_fd, .events = POLLIN};
    bool is_met;
    if (poll(&source, 1, 0) <= 0)
        return YS_OK;
    YS_TRY(until->end(until->of, &is_met));
    for (size_t i = 0; i < crew->count; i++)
        ys_order_judged(&crew->runs[i], is_met);
    return YS_OK;
}

ys_status ys_crew_wait(struct ys_crew *crew, int beside_fd)
{
    struct ys_answers *answers = crew->runs->answers; /* of one process alone: only that answers requests */
    const bool is_judged = crew->runs->is_judged;     /* on this host, and nobody else says anything */
    if (!ys_ranks_wait(crew->sessions, crew->count, ys_answers_due(answers),
                       is_judged ? crew->runs->judged_fd : beside_fd))
        return failure_of(crew);
    ys_answers_look(answers);
    return is_judged ? hear_judgement(crew) : YS_OK;
}

ys_status ys_crew_take(struct ys_crew *crew, bool *is_done)
{
    *is_done = true;
    for (size_t i = 0; i < crew->count; i++) {
        struct ys_run *run = &crew->runs[i];
        if (!run->has_hello)
            YS_TRY(take_hello(run));
        YS_TRY(ys_order_take(run));
        *is_done = *is_done && ys_order_is_done(run);
    }
    return YS_OK;
}

ys_status ys_crew_ask(struct ys_crew *crew)
{
    for (size_t i = 0; i < crew->count; i++)
        YS_TRY(ys_order_ask(&crew->runs[i]));
    return YS_OK;
}

bool ys_crew_takes_turns(const struct ys_crew *crew)
{
    for (size_t i = 0; i < crew->count; i++)
        if (!ys_order_takes_turns(&crew->runs[i]))
            return false;
    return true;
}

bool ys_crew_has_steps(const struct ys_crew *crew)
{
    return crew->runs->next_step < crew->runs->steps;
}

void ys_crew_set_turn(struct ys_crew *crew, const struct ys_run_turn *turn)
{
    for (size_t i = 0; i < crew->count; i++)
        crew->runs[i].turn = *turn;
}

ys_status ys_crew_fail(struct ys_crew *crew)
{
    (void)ys_ranks_wait(crew->sessions, crew->count, UINT64_MAX, -1);
    return failure_of(crew);
}

enum ys_stage ys_crew_stage(const struct ys_crew *crew, int64_t *steps)
{
    const struct ys_run *run = crew->runs;
    *steps = run->next_step;
    if (!run->has_hello)
        return YS_STAGE_START;
    return ys_order_is_done(run) ? YS_STAGE_STOP : run->order->phases[run->phase].stage;
}

bool ys_crew_is_ours(const struct ys_crew *crew, ys_status status)
{
    bool have_begun = true;
    for (size_t i = 0; i < crew->count; i++)
        have_begun = have_begun && (crew->runs[i].session || crew->runs[i].feeder.session);
    return status == YS_EINTR || status == YS_EINTERNAL || (status != YS_OK && !have_begun);
}

void ys_crew_end(struct ys_crew *crew, const char *failed)
{
    ys_ranks_bye(crew->sessions, crew->count);
    for (size_t i = 0; i < crew->count; i++)
        end_run(&crew->runs[i], &crew->members[i], failed);
}

void ys_crew_close(struct ys_crew *crew)
{
    for (size_t i = 0; i < crew->count; i++) {
        ys_session_end_fini(&crew->members[i].end);
        ys_free(crew->members[i].cpus);
    }
    ys_free(crew->members);
    ys_free(crew->runs);
    *crew = (struct ys_crew){0};
}
