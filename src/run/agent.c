#include "run/agent.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/stop.h"
#include "crew/crew.h"
#include "dist/meeting_place.h"
#include "probe/host.h"
#include "run/agent_message.h"
#include "run/agent_reach.h"
#include "session/guard.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* Between two signs of life. */
static const uint64_t ALIVE_NS = 1000000000;
/* The study answers a greeting at once; one that is stopped does not. */
static const uint64_t WELCOME_NS = 60000000000;

struct agent {
    int64_t node;
    struct ys_node_reached reached;
    struct ys_channel *channel; /* of it */
    struct ys_dist_place place; /* held for the ranks to meet, should rank 0 be here */
    struct utsname host;
    uint64_t alive_ns; /* when the last sign of life was given */
    /* Of its job. */
    struct ys_crew crew;
    struct ys_run_record *records; /* one of each rank */
    bool is_ended;                 /* the study has said so, or has gone */
    char *ended;                   /* why; NULL: nobody's fault */
};

static int64_t whole_or_none(double value)
{
    return value >= 0 && value < 0x1p62 ? (int64_t)value : YS_FIELD_NONE;
}

static ys_status list_cpus(struct ys_list *order)
{
    const int count = ys_host_cpus_allowed();
    int *picked = ys_alloc((size_t)count + 1, sizeof *picked);
    int64_t *items = ys_alloc((size_t)count + 1, sizeof *items);
    ys_status status = ys_host_cpu_pick(count, picked);
    for (int i = 0; status == YS_OK && i < count; i++)
        items[i] = picked[i];
    *order = (struct ys_list){items, status == YS_OK ? (size_t)count : 0};
    ys_free(picked);
    return status;
}

static ys_status say_hello(const struct agent *agent)
{
    struct ys_node_hello hello;
    struct ys_host_known known;
    ys_json *machine;
    const char *token = getenv(YS_NODE_TOKEN_VARIABLE);
    YS_TRY(ys_host_describe(&machine));
    ys_host_read(machine, &known);
    ys_record_init(&ys_node_hello_record, &hello);
    hello.node = agent->node;
    hello.token = ys_strdup(token ? token : "");
    unsetenv(YS_NODE_TOKEN_VARIABLE); /* adapters have no use for it */
    hello.version = ys_strdup(YS_VERSION);
    hello.host = ys_strdup(agent->host.nodename);
    hello.clock = ys_node_clock();
    hello.address = ys_strdup(agent->reached.address);
    hello.place = ys_strdup(agent->place.text);
    hello.cpu = known.cpu.model ? ys_strdup(known.cpu.model) : NULL;
    hello.kernel = ys_strdup(agent->host.release);
    hello.cpus = whole_or_none(known.cpu.allowed);
    hello.memory_bytes = whole_or_none(known.memory.effective_bytes);
    ys_status status = list_cpus(&hello.cpu_order);
    if (status == YS_OK)
        status = ys_node_send(agent->channel, YS_NODE_HELLO, &ys_node_hello_record, &hello);
    ys_record_fini(&ys_node_hello_record, &hello);
    ys_json_free(machine);
    return status;
}

static ys_status fail_gone(const struct agent *agent, ys_status status)
{
    return status == YS_EPROTOCOL && ys_channel_eof(agent->channel) ? ys_fail(YS_EIO, "the study has gone") : status;
}

/** The next message; YS_EIO: the study has gone. */
static ys_status hear(const struct agent *agent, uint64_t until_ns, ys_json **message, int *word)
{
    ys_status status = ys_channel_receive(agent->channel, until_ns, message);
    if (status != YS_OK)
        return fail_gone(agent, status);
    *word = ys_node_word(*message);
    return YS_OK;
}

static ys_status greet(const struct agent *agent)
{
    ys_json *message = NULL;
    struct ys_node_said said;
    int word;
    YS_TRY(say_hello(agent));
    YS_TRY(hear(agent, ys_time_ns() + WELCOME_NS, &message, &word));
    ys_record_glance(&ys_node_said_record, message, &said);
    ys_status status = YS_OK;
    if (word != YS_NODE_WELCOME)
        status = ys_fail(YS_EUNSUPPORTED, "%s", said.message ? said.message : "the study gave no reason");
    ys_json_free(message);
    return status;
}

/** `asked_ns`: when, by the study's clock, by which it knows its question again. */
static ys_status answer_ping(const struct agent *agent, int64_t asked_ns)
{
    const struct ys_node_said said = {.t_ns = (int64_t)ys_time_ns(), .status = YS_FIELD_NONE, .asked_ns = asked_ns};
    return ys_node_send_said(agent->channel, YS_NODE_PONG, said, NULL);
}

static ys_status say(const struct agent *agent, enum ys_node_word word, bool is_done, int64_t status, const char *why)
{
    const struct ys_node_said said = {
        .is_done = is_done, .t_ns = YS_FIELD_NONE, .asked_ns = YS_FIELD_NONE, .status = status};
    return ys_node_send_said(agent->channel, word, said, why);
}

static ys_status say_alive(struct agent *agent)
{
    struct ys_node_alive alive;
    const uint64_t now_ns = ys_time_ns();
    if (now_ns < agent->alive_ns + ALIVE_NS)
        return YS_OK;
    agent->alive_ns = now_ns;
    alive = (struct ys_node_alive){.stage = YS_STAGE_START};
    if (agent->crew.count > 0)
        alive.stage = (int)ys_crew_stage(&agent->crew, &alive.steps);
    return ys_node_send(agent->channel, YS_NODE_ALIVE, &ys_node_alive_record, &alive);
}

/** Its ranks are waited for: to start, to answer or to end. */
static void live_on(void *context)
{
    (void)!say_alive(context); /* a study that has gone shows where it is listened to */
}

/** The study has said that the run is over, or has gone. */
static void end_with(struct agent *agent, const char *why)
{
    agent->is_ended = true;
    if (why && !agent->ended)
        agent->ended = ys_strdup(why);
}

/** Takes what the study has said, without waiting. *may_go: to the next question. */
static ys_status listen_to_study(struct agent *agent, uint64_t until_ns, bool *may_go)
{
    *may_go = false;
    while (!agent->is_ended && !*may_go) {
        ys_json *message = NULL;
        struct ys_node_said said;
        int word;
        ys_status status = hear(agent, until_ns, &message, &word);
        if (status == YS_ETIMEOUT)
            return YS_OK;
        YS_TRY(status);
        ys_record_glance(&ys_node_said_record, message, &said);
        if (word == YS_NODE_END)
            end_with(agent, said.message);
        else if (word == YS_NODE_GO)
            *may_go = true;
        else if (word == YS_NODE_PING)
            status = answer_ping(agent, said.t_ns);
        else
            status = ys_fail(YS_EPROTOCOL, "the study said \"%s\" in the midst of a run",
                             word == YS_NAME_NONE ? "?" : ys_name_of(&ys_node_words, word));
        ys_json_free(message);
        YS_TRY(status);
    }
    return YS_OK;
}

/** From question to question, until the study ends the run or one of the ranks has failed. */
static ys_status go_through(struct agent *agent)
{
    struct ys_crew *crew = &agent->crew;
    bool is_done = false, may_go, is_said = false;
    YS_TRY(ys_crew_begin(crew));
    while (!agent->is_ended) {
        if (!is_said && !ys_crew_is_busy(crew) && !ys_crew_has_failed(crew)) {
            YS_TRY(ys_crew_take(crew, &is_done));
            YS_TRY(say(agent, YS_NODE_READY, is_done, YS_FIELD_NONE, NULL));
            is_said = true;
        }
        YS_TRY(ys_crew_wait(crew, ys_channel_fd(agent->channel)));
        YS_TRY(listen_to_study(agent, 0, &may_go));
        if (!may_go)
            continue;
        YS_TRY(ys_crew_ask(crew));
        is_said = false;
    }
    return YS_OK;
}

/** Between two parts of a file. YS_EINTR: the run is over, or the agent was asked to end. */
static ys_status look_up(void *context)
{
    struct agent *agent = context;
    bool may_go;
    if (ys_stop_signal())
        return ys_stopped();
    if (ys_time_ns() < agent->alive_ns + ALIVE_NS)
        return YS_OK;
    YS_TRY(say_alive(agent));
    YS_TRY(listen_to_study(agent, 0, &may_go));
    return agent->is_ended ? ys_fail(YS_EINTR, "the study has ended the run") : YS_OK;
}

/** That the study has the same folder for each rank, and reads the same in each file. */
static ys_status check_files(struct agent *agent, const struct ys_node_job *job)
{
    const struct ys_node_file *files = job->files.items;
    const struct ys_plan *plans = job->plans.items;
    for (size_t i = 0; i < job->plans.count; i++)
        if (!ys_fs_is_dir(plans[i].folder))
            return ys_fail(
                YS_ENOTFOUND,
                "%s does not see the folder %s of a rank: results need to lie in a folder that all hosts see, "
                "at the same path",
                agent->host.nodename, plans[i].folder);
    for (size_t i = 0; i < job->files.count; i++) {
        char sha256[YS_SHA256_TEXT];
        ys_status status = ys_sha256_file_beside(files[i].path, look_up, agent, sha256);
        if (status == YS_ENOTFOUND || status == YS_EIO)
            return ys_fail_in(
                status,
                "%s does not see what the study sees: the cache (YARDSTICK_CACHE), and files that options name, need "
                "to lie in a folder that all hosts see, at the same path",
                agent->host.nodename);
        YS_TRY(status);
        if (strcmp(sha256, files[i].sha256) != 0)
            return ys_fail(YS_EFORMAT,
                           "%s reads other bytes than the study in %s: all hosts need to see the same folder",
                           agent->host.nodename, files[i].path);
    }
    return YS_OK;
}

/** Texts of `list` as an array that ends with NULL: borrowed, but for the array. */
static const char **texts_of(const struct ys_list *list)
{
    const char **texts = ys_alloc(list->count + 1, sizeof *texts);
    for (size_t i = 0; i < list->count; i++)
        texts[i] = ((char *const *)list->items)[i];
    return texts;
}

/** What it saw of each rank. */
static ys_status tell_all(struct agent *agent)
{
    for (size_t i = 0; i < agent->crew.count; i++) {
        const struct ys_session_end *end = &agent->crew.members[i].end;
        const int64_t rank = agent->crew.members[i].spec.plan->dist.rank;
        struct ys_node_rank told = {
            .rank = rank, .is_told = end->is_told, .is_stopped = end->is_stopped, .failed_ns = (int64_t)end->failed_ns};
        if (!agent->records[i].has_facts)
            continue;
        YS_TRY(ys_node_send_series(agent->channel, rank, &agent->records[i].series));
        told.facts = ys_record_json(&ys_facts_record, &agent->records[i].facts);
        ys_status status = ys_node_send(agent->channel, YS_NODE_RANK, &ys_node_rank_record, &told);
        ys_json_free(told.facts);
        YS_TRY(status);
    }
    return YS_OK;
}

/** Those that are asked something still, when the run is over because of others. */
static void break_off(struct agent *agent)
{
    struct ys_crew *crew = &agent->crew;
    for (size_t i = 0; i < crew->count; i++)
        if (agent->ended && crew->sessions[i] && !ys_session_has_failed(crew->sessions[i]))
            (void)!ys_session_fail(crew->sessions[i], YS_RUN_CANCELLED, "%s", agent->ended);
}

/** Waits for the study to end a run in which `failed` has come to pass here. */
static ys_status wait_for_end(struct agent *agent, const char *failed)
{
    bool may_go;
    YS_TRY(say(agent, YS_NODE_FAILED, false, YS_FIELD_NONE, failed));
    while (!agent->is_ended && !ys_stop_signal()) {
        YS_TRY(say_alive(agent));
        YS_TRY(listen_to_study(agent, ys_time_ns() + ALIVE_NS, &may_go));
    }
    return YS_OK;
}

static ys_status run_ranks(struct agent *agent, const struct ys_node_job *job, const struct ys_run_spec *spec)
{
    ys_status status = ys_crew_open(spec, job->plans.items, job->plans.count, agent->records, &agent->crew);
    if (status == YS_OK)
        status = go_through(agent);
    const bool is_ours = !ys_crew_has_failed(&agent->crew) && status != YS_OK;
    char *failed = status != YS_OK ? ys_strdup(ys_error()) : NULL;
    const bool is_stopped = status != YS_OK && !agent->is_ended && ys_stop_signal(); /* as by scancel */
    ys_status heard = status != YS_OK && !agent->is_ended ? wait_for_end(agent, failed) : YS_OK;
    if (heard != YS_OK)
        end_with(agent, ys_error());
    break_off(agent);
    ys_crew_end(&agent->crew, is_ours ? failed : NULL);
    if (heard == YS_OK)
        heard = tell_all(agent);
    if (heard == YS_OK)
        heard = say(agent, YS_NODE_TOLD, true,
                    is_stopped ? (int64_t)YS_EINTR
                    : is_ours  ? (int64_t)status
                               : YS_FIELD_NONE,
                    is_stopped || is_ours ? failed : NULL);
    ys_free(failed);
    return heard;
}

static ys_status do_job(struct agent *agent, const struct ys_node_job *job)
{
    char *const *guarded = job->guarded.items;
    const char **argv = texts_of(&job->argv), **env = texts_of(&job->env);
    agent->records = ys_alloc(job->plans.count + 1, sizeof *agent->records);
    ys_status status = check_files(agent, job);
    for (size_t i = 0; status == YS_OK && i < job->guarded.count; i++)
        status = ys_guard_protect(guarded[i]);
    if (status == YS_OK && job->plans.count == 0)
        status = ys_fail(YS_EPROTOCOL, "the study has no rank for %s", agent->host.nodename);
    const struct ys_run_spec spec = {
        .round = job->round,
        .listens = job->listens,
        .launch = {.argv = argv,
                   .env = env,
                   .kept = job->kept,
                   .stall_limit_s = job->stall_limit_s,
                   .run_time_limit_s = job->run_time_limit_s,
                   .memory_limit_bytes = (uint64_t)job->memory_limit_bytes,
                   .cpu_time_limit_s = job->cpu_time_limit_s,
                   .stop_grace_s = job->stop_grace_s,
                   .sample_hz = job->sample_hz,
                   .on_turn = live_on,
                   .turn_context = agent},
    };
    if (status == YS_OK)
        status = run_ranks(agent, job, &spec);
    else if (agent->is_ended)
        status = say(agent, YS_NODE_TOLD, true, YS_FIELD_NONE, NULL);
    else
        status = say(agent, YS_NODE_TOLD, true, status, ys_error());
    for (size_t i = 0; agent->records && i < job->plans.count; i++)
        ys_run_record_fini(&agent->records[i]);
    ys_crew_close(&agent->crew);
    ys_free(agent->records);
    ys_free(agent->ended);
    ys_free(argv);
    ys_free(env);
    return status;
}

/** A wish to stop is heeded by the ranks' sessions from here on, which the study then hears of. */
static ys_status take_job(struct agent *agent, const ys_json *message)
{
    struct ys_node_job job;
    YS_TRY(ys_record_read(&ys_node_job_record, message, "the study's job", &job));
    ys_channel_ignore_stop(agent->channel);
    ys_status status = do_job(agent, &job);
    ys_record_fini(&ys_node_job_record, &job);
    return status;
}

static int64_t asked_of(const ys_json *ping)
{
    struct ys_node_said said;
    ys_record_glance(&ys_node_said_record, ping, &said);
    return said.t_ns;
}

static ys_status serve(struct agent *agent)
{
    for (;;) {
        ys_json *message = NULL;
        int word;
        ys_status status = hear(agent, UINT64_MAX, &message, &word);
        YS_TRY(status);
        if (word == YS_NODE_PING)
            status = answer_ping(agent, asked_of(message));
        else if (word == YS_NODE_JOB)
            status = take_job(agent, message);
        else if (word != YS_NODE_BYE && word != YS_NODE_END) /* a job that could not begin is ended like others */
            status = ys_fail(YS_EPROTOCOL, "the study said what it does not say here");
        ys_json_free(message);
        if (status != YS_OK || word == YS_NODE_BYE)
            return status;
    }
}

int ys_node_serve(const char *address, int64_t node, const char *own)
{
    struct agent agent = {.node = node, .reached = {.fd = -1}, .place = YS_DIST_NO_PLACE};
    bool is_refused = false;
    uname(&agent.host);
    ys_status status = ys_node_reach(address, own, &agent.reached);
    agent.channel = agent.reached.channel;
    if (status == YS_OK)
        status = ys_dist_place_take(agent.reached.address, &agent.place);
    if (status == YS_OK) {
        status = greet(&agent);
        is_refused = status == YS_EUNSUPPORTED;
    }
    if (status == YS_OK)
        status = serve(&agent);
    if (status != YS_OK)
        fprintf(stderr, "yardstick-node: node %" PRId64 " on %s: %s\n", node, agent.host.nodename, ys_error());
    ys_dist_place_give_back(&agent.place);
    ys_node_leave(&agent.reached);
    return is_refused ? 2 : status == YS_OK ? 0 : 1;
}
