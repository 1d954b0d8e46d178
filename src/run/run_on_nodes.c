#include "run/nodes.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/stop.h"
#include "crew/ranks.h"
#include "crew/run_state.h"
#include "run/join_ranks.h"
#include "run/nodes_state.h"
#include "session/guard.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* A rank that died is heard of by its neighbours and by its agent alike; this is for the reason to come. */
static const uint64_t REASON_NS = 1000000000;
static const char OTHERS[] = "it was ended because another rank had failed";

/* What agents are told to do. */

static ys_status heed_stop(void *context)
{
    (void)context;
    return ys_stop_signal() ? ys_stopped() : YS_OK;
}

static ys_status add_file(struct ys_node_job *job, const char *path)
{
    struct ys_node_file *file = (struct ys_node_file *)job->files.items + job->files.count;
    char sha256[YS_SHA256_TEXT];
    if (!path)
        return YS_OK;
    YS_TRY(ys_sha256_file_beside(path, heed_stop, NULL, sha256));
    *file = (struct ys_node_file){ys_strdup(path), ys_strdup(sha256)};
    job->files.count++;
    return YS_OK;
}

/** What the plan's adapters read, with what is in it: what an option names by its whole path too. */
static ys_status add_files(struct ys_node_job *job, const struct ys_plan *plan)
{
    const char *const paths[] = {plan->graph, plan->weights,    plan->onnx,
                                 plan->state, plan->input.path, plan->input.order};
    const size_t count = sizeof paths / sizeof paths[0];
    job->files.items = ys_alloc(count + ys_json_size(plan->options), sizeof(struct ys_node_file));
    for (size_t i = 0; i < count; i++)
        YS_TRY(add_file(job, paths[i]));
    for (void *it = ys_json_iter(plan->options); it; it = ys_json_next(plan->options, it)) {
        const char *said = ys_json_text(ys_json_iter_value(it), "");
        if (said[0] == '/' && ys_fs_is_file(said))
            YS_TRY(add_file(job, said));
    }
    return YS_OK;
}

static void add_texts(struct ys_list *list, const char *const *texts)
{
    for (size_t i = 0; texts && texts[i]; i++)
        ys_list_add_text(list, texts[i]);
}

/** All but the plans, which each host has its own of. */
static ys_status describe_job(const struct ys_run_spec *spec, struct ys_node_job *job)
{
    const struct ys_launch *launch = &spec->launch;
    const char *guarded;
    ys_record_init(&ys_node_job_record, job);
    job->stall_limit_s = launch->stall_limit_s;
    job->run_time_limit_s = launch->run_time_limit_s;
    job->cpu_time_limit_s = launch->cpu_time_limit_s;
    job->sample_hz = launch->sample_hz;
    job->stop_grace_s = launch->stop_grace_s;
    job->memory_limit_bytes = (int64_t)launch->memory_limit_bytes;
    job->round = spec->round;
    job->listens = spec->listens;
    job->kept = launch->kept ? ys_strdup(launch->kept) : NULL;
    add_texts(&job->argv, launch->argv);
    add_texts(&job->env, launch->env);
    for (size_t i = 0; (guarded = ys_guard_named(i)); i++)
        ys_list_add_text(&job->guarded, guarded);
    return add_files(job, spec->plan);
}

/** An address that means another host to each is of use only where all are one. */
static void check_addresses(struct ys_nodes *nodes)
{
    char title[128];
    const char *first = nodes->items[0].hello.address;
    bool differ = false;
    for (size_t i = 1; i < nodes->count; i++)
        differ = differ || strcmp(nodes->items[i].hello.address, first) != 0;
    for (size_t i = 0; differ && i < nodes->count; i++) {
        struct ys_run_node *node = &nodes->items[i];
        if (strncmp(node->hello.address, "127.", 4) == 0)
            ys_node_lose(node, YS_RUN_LOAD_FAILED,
                         "%s is reached at %s, where ranks of other hosts do not find it: write its address behind its "
                         "name in hosts",
                         ys_node_title(node, title), node->hello.address);
    }
}

/** The first node with the same kernel as node i: its clock is named by it, and by the time namespace
 * (ys_node_clock()). */
static int64_t machine_of(const struct ys_nodes *nodes, size_t i)
{
    const char *clock = nodes->items[i].hello.clock;
    const size_t length = clock ? strcspn(clock, " ") : 0;
    for (size_t first = 0; length > 0 && first < i; first++) {
        const char *other = nodes->items[first].hello.clock;
        if (other && strcspn(other, " ") == length && strncmp(other, clock, length) == 0)
            return nodes->items[first].number;
    }
    return nodes->items[i].number;
}

static bool has_cpu(const struct ys_list *list, int64_t cpu)
{
    for (size_t i = 0; i < list->count; i++)
        if (((const int64_t *)list->items)[i] == cpu)
            return true;
    return false;
}

/** Whether a host has what its ranks are to get; else it is lost. */
static bool check_cpus(struct ys_run_node *node, const struct ys_run_spec *spec)
{
    const struct ys_list *order = &node->hello.cpu_order, *named = &spec->plan->cpus;
    char title[128];
    for (size_t i = 0; spec->names_cpus && i < named->count; i++) {
        const int64_t cpu = ((const int64_t *)named->items)[i];
        if (has_cpu(order, cpu))
            continue;
        ys_node_lose(node, YS_RUN_LOAD_FAILED,
                     "cpus names CPU %" PRId64
                     ", which %s may not use (it may use %zu): name others, or leave cpus out",
                     cpu, ys_node_title(node, title), order->count);
        return false;
    }
    if (spec->names_cpus || (size_t)spec->plan->threads <= order->count)
        return true;
    ys_node_lose(node, YS_RUN_LOAD_FAILED, "threads = %" PRId64 ": %s may use %zu CPU%s; write fewer, or give it more",
                 spec->plan->threads, ys_node_title(node, title), order->count, order->count == 1 ? "" : "s");
    return false;
}

/** How many CPUs nodes before node i have of the same machine. */
static size_t taken_before(const struct ys_nodes *nodes, size_t i)
{
    size_t before = 0;
    for (size_t other = 0; other < i; other++)
        before += machine_of(nodes, other) == machine_of(nodes, i);
    return before * (size_t)nodes->spec->plan->threads;
}

/** Its share of what its host's ranks have, of which the first is at `from` in the order, which goes round. */
static void put_cpus(struct ys_plan *plan, const struct ys_list *order, size_t from, size_t count, int64_t sharers)
{
    size_t first;
    const size_t share = ys_rank_cpus(count, sharers, plan->dist.local_rank, &first);
    int64_t *items = ys_alloc(share + 1, sizeof *items);
    for (size_t k = 0; k < share; k++)
        items[k] = ((const int64_t *)order->items)[(from + first + k) % order->count];
    ys_free(plan->cpus.items);
    plan->cpus = (struct ys_list){items, share};
}

/** Ranks of another host have CPUs of that one: those that `cpus` names, or the first of its own, of which hosts that
 * are one machine take others each as long as there are some. All agents are there. */
static void give_cpus(struct ys_nodes *nodes)
{
    const struct ys_run_spec *spec = nodes->spec;
    for (size_t i = 0; spec->launcher != YS_LAUNCHER_LOCAL && i < nodes->count; i++) {
        struct ys_run_node *node = &nodes->items[i];
        if (!check_cpus(node, spec) || spec->names_cpus)
            continue;
        for (size_t r = 0; r < node->count; r++)
            put_cpus(&nodes->plans->items[node->first + r], &node->hello.cpu_order, taken_before(nodes, i),
                     (size_t)spec->plan->threads, (int64_t)node->count);
    }
}

/** Ranks meet where rank 0 is, at the port that its agent holds. All agents are there. */
static void say_where_ranks_meet(struct ys_nodes *nodes)
{
    check_addresses(nodes);
    for (size_t i = 0; i < nodes->count; i++) {
        const struct ys_run_node *node = &nodes->items[i];
        for (size_t r = 0; r < node->count; r++)
            ys_rank_plan_meet(&nodes->plans->items[node->first + r], nodes->items[0].hello.place, node->hello.address);
    }
}

static ys_status send_jobs(struct ys_nodes *nodes)
{
    struct ys_node_job job;
    char title[128];
    ys_status status = describe_job(nodes->spec, &job);
    for (size_t i = 0; status == YS_OK && i < nodes->count; i++) {
        struct ys_run_node *node = &nodes->items[i];
        if (!node->channel)
            continue;
        job.plans = (struct ys_list){nodes->plans->items + node->first, node->count}; /* borrowed */
        status = ys_node_send(node->channel, YS_NODE_JOB, &ys_node_job_record, &job);
        node->heard_ns = ys_time_ns(); /* from here on it has something to say */
        if (status == YS_OK)
            node->standing = YS_NODE_BUSY;
        else
            ys_node_lose(node, YS_RUN_KILLED, "the agent of %s cannot be reached any more: %s",
                         ys_node_title(node, title), ys_error());
        status = YS_OK;
    }
    job.plans = (struct ys_list){0};
    ys_record_fini(&ys_node_job_record, &job);
    return status;
}

/* From question to question. */

static size_t count_standing(const struct ys_nodes *nodes, enum ys_node_standing standing)
{
    size_t count = 0;
    for (size_t i = 0; i < nodes->count; i++)
        count += nodes->items[i].standing == standing;
    return count;
}

/** Whether one has failed, or cannot go on. */
static bool has_any_failed(const struct ys_nodes *nodes)
{
    return count_standing(nodes, YS_NODE_HAS_FAILED) + count_standing(nodes, YS_NODE_HAS_TOLD) +
               count_standing(nodes, YS_NODE_LOST) >
           0;
}

static bool are_all_done(const struct ys_nodes *nodes)
{
    bool are_done = true;
    for (size_t i = 0; i < nodes->count; i++)
        are_done = are_done && nodes->items[i].is_done;
    return are_done;
}

static ys_status look(struct ys_nodes *nodes)
{
    ys_nodes_ping_beside(nodes);
    return ys_nodes_listen(nodes, UINT64_MAX);
}

static ys_status go_through(struct ys_nodes *nodes)
{
    for (;;) {
        while (count_standing(nodes, YS_NODE_BUSY) > 0 && !has_any_failed(nodes))
            YS_TRY(look(nodes));
        if (has_any_failed(nodes) || are_all_done(nodes))
            return YS_OK;
        for (size_t i = 0; i < nodes->count; i++) {
            nodes->items[i].standing = YS_NODE_BUSY;
            ys_node_say(&nodes->items[i], YS_NODE_GO, NULL);
        }
    }
}

/** One has failed. What the others say now is why, or a consequence. */
static ys_status settle(struct ys_nodes *nodes)
{
    const uint64_t until_ns = ys_time_ns() + REASON_NS;
    while (count_standing(nodes, YS_NODE_BUSY) > 0 && ys_time_ns() < until_ns)
        YS_TRY(ys_nodes_listen(nodes, until_ns));
    return YS_OK;
}

/** Ends the run on all hosts and takes what they saw. */
static ys_status take_all(struct ys_nodes *nodes)
{
    const char *reason = nodes->reason ? nodes->reason : has_any_failed(nodes) ? OTHERS : NULL;
    ys_status status = YS_OK;
    for (size_t i = 0; i < nodes->count; i++) {
        struct ys_run_node *node = &nodes->items[i];
        if (node->standing == YS_NODE_HERE || node->standing == YS_NODE_ABSENT)
            node->standing = YS_NODE_HAS_TOLD; /* it was never asked anything */
        else if (node->standing != YS_NODE_HAS_TOLD)
            ys_node_say(node, YS_NODE_END, reason);
    }
    while (status == YS_OK &&
           count_standing(nodes, YS_NODE_HAS_TOLD) + count_standing(nodes, YS_NODE_LOST) < nodes->count) {
        status = ys_nodes_listen(nodes, UINT64_MAX);
        if (status == YS_EINTR) /* a wish that comes now: what was measured is taken all the same */
            status = YS_OK;
    }
    return status;
}

/* What is known in the end. */

/** The last lines of a log, where its agent could not say them. New string; NULL where there are none. */
static char *tail_of(const char *folder)
{
    char text[4096];
    char *path = ys_path_join(folder, YS_LOG_NAME);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ys_free(path);
    if (fd < 0)
        return NULL;
    const off_t size = lseek(fd, 0, SEEK_END);
    const off_t from = size > (off_t)sizeof text - 1 ? size - (off_t)sizeof text + 1 : 0;
    const ssize_t got = pread(fd, text, sizeof text - 1, from);
    close(fd);
    text[got > 0 ? got : 0] = 0;
    return got > 0 ? ys_strdup(text) : NULL;
}

/** Of a rank of which its agent told nothing. */
static void make_up(const struct ys_nodes *nodes, const struct ys_run_node *node, size_t rank)
{
    struct ys_run_record *own = &nodes->own[rank];
    struct ys_facts *facts = &own->facts;
    char *tail = tail_of(nodes->plans->items[rank].folder);
    ys_facts_init(facts);
    facts->round = nodes->spec->round;
    facts->status = (int)(node->message ? node->status : YS_RUN_CANCELLED);
    facts->stage = node->alive.stage;
    facts->steps_done = node->alive.steps == YS_FIELD_NONE ? 0 : node->alive.steps;
    ys_set_text(&facts->message, node->message ? node->message : nodes->reason ? nodes->reason : OTHERS);
    ys_set_text(&facts->log_tail, tail);
    ys_free(tail);
    own->has_facts = true;
    nodes->ends[rank].failed_ns = node->failed_ns ? node->failed_ns : ys_time_ns();
}

/** By this host's clock; and with what else is known of how it ended. */
static void complete(const struct ys_nodes *nodes, const struct ys_run_node *node, size_t rank)
{
    struct ys_run_record *own = &nodes->own[rank];
    struct ys_session_end *end = &nodes->ends[rank];
    if (!own->has_facts) {
        make_up(nodes, node, rank);
    } else {
        ys_clock_record(&node->clock, own);
        if (end->failed_ns)
            end->failed_ns = (uint64_t)ys_clock_ours(&node->clock, (int64_t)end->failed_ns);
        if (node->message && node->status == YS_RUN_LOAD_FAILED && own->facts.status == YS_RUN_CANCELLED)
            own->facts.status = YS_RUN_LOAD_FAILED; /* its agent had trouble of its own */
        if (node->is_stopped && !nodes->reason && own->facts.status != YS_RUN_OK) {
            own->facts.status = YS_RUN_KILLED;
            ys_set_text(&own->facts.message, node->message);
        }
    }
    end->status = (enum ys_run_status)own->facts.status;
}

static void describe_hosts(const struct ys_nodes *nodes, struct ys_list *hosts)
{
    for (size_t i = 0; i < nodes->count; i++) {
        const struct ys_run_node *node = &nodes->items[i];
        struct ys_facts_node *told = ys_list_add(&ys_facts_node_record, hosts);
        told->node = node->number;
        told->machine = machine_of(nodes, i);
        if (!node->hello.host)
            continue;
        ys_set_text(&told->host, node->hello.host);
        ys_set_text(&told->cpu, node->hello.cpu);
        ys_set_text(&told->kernel, node->hello.kernel);
        told->cpus = node->hello.cpus;
        told->memory_bytes = node->hello.memory_bytes;
        if (!node->clock.is_one && !node->clock.before.is_known)
            continue;
        told->clock_offset_ns = node->clock.before.offset_ns;
        told->clock_error_ns = ys_clock_error_ns(&node->clock);
        told->clock_drift = ys_clock_drift(&node->clock);
        told->clock_looks = node->clock.is_one ? 0 : 2 + (int64_t)node->clock.count;
    }
}

static ys_status join(struct ys_nodes *nodes, struct ys_run_record *record)
{
    struct ys_run_record *parts[YS_SESSIONS_MOST];
    struct ys_list hosts = {0};
    const size_t count = nodes->plans->count;
    describe_hosts(nodes, &hosts);
    for (size_t i = 0; i < nodes->count; i++)
        for (size_t r = 0; r < nodes->items[i].count; r++)
            complete(nodes, &nodes->items[i], nodes->items[i].first + r);
    for (size_t r = 0; r < count; r++)
        parts[r] = &nodes->own[r];
    ys_status status = ys_run_join(nodes->spec->plan, nodes->plans->items, parts, count,
                                   ys_ranks_culprit(nodes->ends, count), &hosts, record);
    ys_list_fini(&ys_facts_node_record, &hosts);
    if (status != YS_OK)
        ys_facts_fini(&record->facts);
    record->has_facts = status == YS_OK;
    return status;
}

/* The whole of it. */

static ys_status open_nodes(const struct ys_run_spec *spec, struct ys_rank_plans *plans, struct ys_run_record *own,
                            struct ys_nodes *nodes)
{
    *nodes = (struct ys_nodes){.spec = spec, .plans = plans, .own = own, .count = (size_t)spec->nodes};
    if (nodes->count > YS_NODES_MOST || plans->count % nodes->count != 0)
        return ys_fail(YS_EINVAL, "%zu ranks have no equal shares on %zu hosts, of which at most %d are followed",
                       plans->count, nodes->count, YS_NODES_MOST);
    nodes->items = ys_alloc(nodes->count, sizeof *nodes->items);
    nodes->ends = ys_alloc(plans->count, sizeof *nodes->ends);
    const size_t each = plans->count / nodes->count;
    for (size_t i = 0; i < nodes->count; i++)
        nodes->items[i] = (struct ys_run_node){.number = (int64_t)i,
                                               .first = i * each,
                                               .count = each,
                                               .named = spec->launcher == YS_LAUNCHER_SSH ? spec->hosts[i].name : NULL,
                                               .is_starter = spec->launcher != YS_LAUNCHER_LOCAL,
                                               .is_shared = ys_nodes_have_one_starter(nodes),
                                               .process = YS_NOT_STARTED,
                                               .fd = -1,
                                               .alive = {.stage = YS_STAGE_START, .steps = YS_FIELD_NONE}};
    return YS_OK;
}

static void close_nodes(struct ys_nodes *nodes)
{
    for (size_t i = 0; nodes->items && i < nodes->count; i++) {
        struct ys_run_node *node = &nodes->items[i];
        ys_node_finish(node);
        if (node->hello.host)
            ys_record_fini(&ys_node_hello_record, &node->hello);
        ys_clock_free(&node->clock);
        ys_free(node->message);
    }
    ys_free(nodes->items);
    ys_free(nodes->ends);
    ys_free(nodes->reason);
}

/** Starts them, has them do the run and tell of it. What becomes of the run is in `nodes`; a failure is yardstick's
 * own, or the user's wish. */
static ys_status go(struct ys_nodes *nodes)
{
    ys_status status = ys_nodes_start(nodes);
    if (status == YS_OK)
        status = ys_nodes_ping(nodes, false);
    if (status == YS_OK && !has_any_failed(nodes))
        say_where_ranks_meet(nodes);
    if (status == YS_OK && !has_any_failed(nodes))
        give_cpus(nodes);
    if (status == YS_OK && !has_any_failed(nodes))
        status = send_jobs(nodes);
    if (status == YS_OK && !has_any_failed(nodes))
        status = go_through(nodes);
    if (status == YS_OK && has_any_failed(nodes))
        status = settle(nodes);
    nodes->reason = status != YS_OK ? ys_strdup(ys_error()) : NULL;
    ys_status taken = take_all(nodes);
    if (taken == YS_OK)
        taken = ys_nodes_ping(nodes, true);
    for (size_t i = 0; i < nodes->count; i++)
        ys_node_say(&nodes->items[i], YS_NODE_BYE, NULL);
    return status == YS_OK ? taken : ys_fail(status, "%s", nodes->reason);
}

ys_status ys_nodes_execute(const struct ys_run_spec *spec, struct ys_rank_plans *plans, struct ys_run_record *own,
                           struct ys_run_record *record)
{
    struct ys_nodes nodes;
    const uint64_t own_cpu_ns = ys_run_own_cpu_ns();
    ys_status status = open_nodes(spec, plans, own, &nodes);
    if (status == YS_OK)
        status = go(&nodes);
    char *failed = status != YS_OK ? ys_strdup(ys_error()) : NULL;
    ys_status written = nodes.count > 0 ? join(&nodes, record) : YS_OK;
    if (record->has_facts && record->facts.harness.cpu_ns != YS_FIELD_NONE)
        record->facts.harness.cpu_ns += (int64_t)(ys_run_own_cpu_ns() - own_cpu_ns);
    if (written != YS_OK)
        status = written;
    else if (status != YS_OK)
        ys_fail(status, "%s", failed);
    ys_free(failed);
    close_nodes(&nodes);
    return status;
}
