#include "run/agent_message.h"

#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"

#include <string.h>
#include <unistd.h>

static const char *const words[] = {
    [YS_NODE_HELLO] = "hello",   [YS_NODE_WELCOME] = "welcome", [YS_NODE_REFUSED] = "refused",
    [YS_NODE_PING] = "ping",     [YS_NODE_PONG] = "pong",       [YS_NODE_JOB] = "job",
    [YS_NODE_ALIVE] = "alive",   [YS_NODE_READY] = "ready",     [YS_NODE_GO] = "go",
    [YS_NODE_FAILED] = "failed", [YS_NODE_END] = "end",         [YS_NODE_SERIES] = "series",
    [YS_NODE_RANK] = "rank",     [YS_NODE_TOLD] = "told",       [YS_NODE_BYE] = "bye",
};
const struct ys_names ys_node_words = YS_NAMES("message of an agent", words);

/* The first member of every message, whatever its word. */
struct envelope {
    int type;
};
static const struct ys_field envelope_fields[] = {
    YS_FIELD_NAMED(struct envelope, type, &ys_node_words, YS_FIELD_NULL, "which message it is"),
};
static const struct ys_record envelope_record = YS_RECORD("message", struct envelope, envelope_fields);

#define HELLO(member, kind, unit, flags, what) YS_FIELD(struct ys_node_hello, member, kind, unit, flags, what)
static const struct ys_field hello_fields[] = {
    HELLO(node, YS_FIELD_INT, "1", 0, "which host of the run it is, from 0 on"),
    HELLO(token, YS_FIELD_TEXT, NULL, 0, "what the study gave it"),
    HELLO(version, YS_FIELD_TEXT, NULL, 0, "of yardstick"),
    HELLO(host, YS_FIELD_TEXT, NULL, 0, "its name"),
    HELLO(clock, YS_FIELD_TEXT, NULL, 0, "whose clock it has"),
    HELLO(address, YS_FIELD_TEXT, NULL, 0, "at which ranks of other hosts reach its own"),
    HELLO(place, YS_FIELD_TEXT, NULL, 0, "where ranks could meet there"),
    HELLO(cpu, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "model of its processor"),
    HELLO(kernel, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "release of its kernel"),
    HELLO(cpus, YS_FIELD_INT, "1", YS_FIELD_NULL, "that it may use"),
    HELLO(memory_bytes, YS_FIELD_INT, "B", YS_FIELD_NULL, "that it may use"),
    HELLO(cpu_order, YS_FIELD_INTS, NULL, 0, "CPUs that it may use, in the order in which a run takes them"),
};
const struct ys_record ys_node_hello_record = YS_RECORD("hello", struct ys_node_hello, hello_fields);

static const struct ys_field file_fields[] = {
    YS_FIELD(struct ys_node_file, path, YS_FIELD_TEXT, NULL, 0, "where all hosts see it"),
    YS_FIELD(struct ys_node_file, sha256, YS_FIELD_TEXT, NULL, 0, "of what is in it"),
};
static const struct ys_record file_record = YS_RECORD("file", struct ys_node_file, file_fields);

#define JOB(member, kind, unit, flags, what) YS_FIELD(struct ys_node_job, member, kind, unit, flags, what)
#define JOB_LIST(member, record, what)       YS_FIELD_OF(struct ys_node_job, member, YS_FIELD_LIST, record, 0, what)
static const struct ys_field job_fields[] = {
    JOB_LIST(plans, &ys_plan_record, "of each rank of the host"),
    JOB(argv, YS_FIELD_TEXTS, NULL, 0, "the adapter's command"),
    JOB(env, YS_FIELD_TEXTS, NULL, 0, "variables of its own, NAME=value"),
    JOB(guarded, YS_FIELD_TEXTS, NULL, 0, "folders that it may not write"),
    JOB(kept, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "a folder of the cache that it may"),
    JOB_LIST(files, &file_record, "that it reads"),
    JOB(stall_limit_s, YS_FIELD_REAL, "s", 0, "that a rank may say nothing; 0: any"),
    JOB(run_time_limit_s, YS_FIELD_REAL, "s", 0, "of a rank; 0: none"),
    JOB(cpu_time_limit_s, YS_FIELD_REAL, "s", 0, "of all ranks of the run; 0: none"),
    JOB(sample_hz, YS_FIELD_REAL, "1/s", 0, "looks at each rank's processes; 0: none"),
    JOB(stop_grace_s, YS_FIELD_REAL, "s", 0, "patience after bye; 0: as usual"),
    JOB(memory_limit_bytes, YS_FIELD_INT, "B", 0, "of all ranks of the run; 0: none"),
    JOB(round, YS_FIELD_INT, "1", 0, "of the study"),
    JOB(listens, YS_FIELD_FLAG, NULL, 0, "whether collectives are listened to"),
};
const struct ys_record ys_node_job_record = YS_RECORD("job", struct ys_node_job, job_fields);

static const struct ys_field alive_fields[] = {
    YS_FIELD_NAMED(struct ys_node_alive, stage, &ys_stages, 0, "where the host's first rank is"),
    YS_FIELD(struct ys_node_alive, steps, YS_FIELD_INT, "1", 0, "that it has done"),
};
const struct ys_record ys_node_alive_record = YS_RECORD("alive", struct ys_node_alive, alive_fields);

static const struct ys_field said_fields[] = {
    YS_FIELD(struct ys_node_said, message, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "why"),
    YS_FIELD(struct ys_node_said, is_done, YS_FIELD_FLAG, NULL, 0, "whether there is nothing left to ask"),
    YS_FIELD(struct ys_node_said, t_ns, YS_FIELD_INT, "ns", YS_FIELD_NULL, "the time by its clock"),
    YS_FIELD(struct ys_node_said, asked_ns, YS_FIELD_INT, "ns", YS_FIELD_NULL, "the time of the question"),
    YS_FIELD(struct ys_node_said, status, YS_FIELD_INT, NULL, YS_FIELD_NULL, "what kind of failure"),
};
const struct ys_record ys_node_said_record = YS_RECORD("said", struct ys_node_said, said_fields);

static const struct ys_field series_fields[] = {
    YS_FIELD(struct ys_node_series, rank, YS_FIELD_INT, NULL, 0, "whose they are"),
    YS_FIELD(struct ys_node_series, name, YS_FIELD_TEXT, NULL, 0, "of the series"),
    YS_FIELD(struct ys_node_series, is_real, YS_FIELD_FLAG, NULL, 0, "whether they are bits of doubles"),
    YS_FIELD(struct ys_node_series, values, YS_FIELD_INTS, NULL, 0, "the next of its numbers"),
};
const struct ys_record ys_node_series_record = YS_RECORD("series", struct ys_node_series, series_fields);

static const struct ys_field rank_fields[] = {
    YS_FIELD(struct ys_node_rank, rank, YS_FIELD_INT, NULL, 0, "which one"),
    YS_FIELD(struct ys_node_rank, facts, YS_FIELD_JSON, NULL, 0, "what is known of it"),
    YS_FIELD(struct ys_node_rank, is_told, YS_FIELD_FLAG, NULL, 0, "whether the adapter itself said how it ended"),
    YS_FIELD(struct ys_node_rank, is_stopped, YS_FIELD_FLAG, NULL, 0, "whether a process of it is stopped"),
    YS_FIELD(struct ys_node_rank, failed_ns, YS_FIELD_INT, "ns", 0, "when it failed; 0: it did not"),
};
const struct ys_record ys_node_rank_record = YS_RECORD("rank", struct ys_node_rank, rank_fields);

int ys_node_word(const ys_json *message)
{
    struct envelope envelope;
    ys_record_glance(&envelope_record, message, &envelope);
    return envelope.type;
}

ys_status ys_node_send(struct ys_channel *channel, enum ys_node_word word, const struct ys_record *record,
                       const void *item)
{
    const struct envelope envelope = {.type = (int)word};
    ys_json *message = ys_record_json(&envelope_record, &envelope), *members = NULL;
    if (item) {
        members = ys_record_json(record, item);
        ys_json_merge(message, members);
    }
    ys_status status = ys_channel_send(channel, message);
    ys_json_free(members);
    ys_json_free(message);
    return status;
}

static ys_status send_piece(struct ys_channel *channel, int64_t rank, const struct ys_series *series, size_t first,
                            size_t count)
{
    struct ys_node_series piece = {.rank = rank, .is_real = series->is_real != 0};
    int64_t *values = ys_alloc(count + 1, sizeof *values);
    piece.name = ys_strdup(series->name);
    piece.values = (struct ys_list){values, count};
    memcpy(values, ys_series_numbers(series, first), count * sizeof *values);
    ys_status status = ys_node_send(channel, YS_NODE_SERIES, &ys_node_series_record, &piece);
    ys_record_fini(&ys_node_series_record, &piece);
    return status;
}

ys_status ys_node_send_said(struct ys_channel *channel, enum ys_node_word word, struct ys_node_said said,
                            const char *why)
{
    said.message = (char *)(uintptr_t)why; /* nobody frees it here */
    return ys_node_send(channel, word, &ys_node_said_record, &said);
}

ys_status ys_node_send_series(struct ys_channel *channel, int64_t rank, const struct ys_series_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        for (size_t first = 0; first < set->items[i].count; first += YS_NODE_SERIES_MOST) {
            const size_t left = set->items[i].count - first;
            YS_TRY(send_piece(channel, rank, &set->items[i], first,
                              left < YS_NODE_SERIES_MOST ? left : YS_NODE_SERIES_MOST));
        }
    return YS_OK;
}

ys_status ys_node_take_series(const struct ys_node_series *said, struct ys_series_set *set)
{
    const struct ys_series *known = ys_series_find(set, said->name);
    if (strlen(said->name) >= sizeof known->name || (known && known->is_real != said->is_real))
        return ys_fail(YS_EPROTOCOL, "a series \"%s\" of the agent is none", said->name);
    ys_series_add_numbers(set, said->name, said->is_real, said->values.items, said->values.count);
    return YS_OK;
}

char *ys_node_clock(void)
{
    struct ys_buf boot = {0};
    char space[64];
    if (ys_fs_read("/proc/sys/kernel/random/boot_id", 64, &boot) != YS_OK)
        return ys_strdup("");
    const ssize_t length = readlink("/proc/self/ns/time", space, sizeof space - 1);
    space[length > 0 ? length : 0] = 0; /* a kernel without time namespaces has one clock */
    const char *text = ys_buf_text(&boot);
    char *clock = ys_format("%.*s %s", (int)strcspn(text, "\n"), text, space);
    ys_buf_free(&boot);
    return clock;
}
