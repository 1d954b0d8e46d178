/* yardstick-null over a socket, as `run` would drive it. */
#include "base/clock.h"
#include "base/mem.h"
#include "protocol/channel.h"
#include "tap.h"
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    pid_t pid;
    int fd;
    struct ys_channel *channel;
};

static bool child_start(struct child *child)
{
    const char *root = getenv("YS_BUILD_ROOT");
    char *program = ys_format("%s/src/yardstick-null", root ? root : ".");
    *child = (struct child){.pid = -1, .fd = -1};
    int fds[2];
    if (!program || access(program, X_OK) != 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
        tap_skip("there is no program %s", program ? program : "");
        ys_free(program);
        return false;
    }
    child->pid = fork();
    if (child->pid == 0) {
        char number[16];
        snprintf(number, sizeof number, "%d", dup(fds[1])); /* the copy is not closed by exec */
        setenv("YARDSTICK_FD", number, 1);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    ys_free(program);
    close(fds[1]);
    child->fd = fds[0];
    return child->pid > 0 && ys_channel_open(child->fd, &child->channel) == YS_OK;
}

/* Closes the connection and returns the wait status. */
static int child_finish(struct child *child)
{
    int status = -1;
    ys_channel_close(child->channel);
    close(child->fd);
    waitpid(child->pid, &status, 0);
    return status;
}

static ys_json *receive(const struct child *child)
{
    ys_json *reply = NULL;
    ys_status status = ys_channel_receive(child->channel, ys_time_ns() + UINT64_C(30000000000), &reply);
    tap_check(status == YS_OK, __LINE__, "no answer: %s", ys_error());
    return reply;
}

static ys_json *ask(const struct child *child, const char *text)
{
    char line[1024];
    int size = snprintf(line, sizeof line, "%s\n", text);
    CHECK_INT(ys_channel_send_line(child->channel, line, (size_t)size), YS_OK);
    return receive(child);
}

static const char *type_of(const ys_json *message)
{
    return ys_json_get_text(message, "type", "");
}

static void open_with(const struct child *child, const char *options, const char *expected)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"type\":\"open\",\"plan\":{\"format\":\"yardstick-plan\",\"version\":1,\"mode\":\"train\",\"batch\":10,"
             "\"steps\":100,\"block\":5,\"folder\":\"/nowhere\",\"options\":%s}}",
             options);
    ys_json *reply = ask(child, text);
    CHECK_TEXT(ys_json_get_text(reply, "code", type_of(reply)), expected);
    ys_json_free(reply);
}

static void it_says_that_it_does_no_work(void)
{
    struct child child;
    if (!child_start(&child))
        return;
    ys_json *reply = ask(&child, "{\"type\":\"hello\",\"protocol\":1}");
    CHECK_TEXT(type_of(reply), "hello");
    CHECK_TEXT(ys_json_get_text(reply, "adapter", ""), "null");
    CHECK(ys_json_get_bool(reply, "no_work", false));
    ys_json_free(reply);
    CHECK_INT(child_finish(&child), 0);
}

/* Trains steps 0 to 20 in blocks of 5; the sum of the block lengths. */
static uint64_t trained_ns(const struct child *child)
{
    uint64_t sum_ns = 0;
    int64_t steps = 0, last_end_ns = 0;
    ys_json *reply = ask(child, "{\"type\":\"train\",\"from\":0,\"to\":20,\"block\":5}");
    while (reply && strcmp(type_of(reply), "block") == 0) {
        int64_t start_ns = ys_json_get_int(reply, "t_start_ns", -1), end_ns = ys_json_get_int(reply, "t_end_ns", -1);
        CHECK_INT(ys_json_get_int(reply, "first", -1), steps);
        CHECK(start_ns >= last_end_ns && end_ns >= start_ns);
        CHECK_INT(ys_json_size(ys_json_get(reply, "loss")), 0);
        steps += ys_json_get_int(reply, "count", 0);
        sum_ns += (uint64_t)(end_ns - start_ns);
        last_end_ns = end_ns;
        ys_json_free(reply);
        reply = receive(child);
    }
    CHECK_TEXT(type_of(reply), "done");
    CHECK_INT(steps, 20);
    ys_json_free(reply);
    return sum_ns;
}

static void blocks_last_as_long_as_the_rate_says(void)
{
    struct child child;
    if (!child_start(&child))
        return;
    open_with(&child, "{\"rate\":10000}", "opened");
    /* 20 steps of 10 rows at 10000 rows a second are 20 ms; sleeping never ends early, and how late it ends depends on
     * the machine's load, so only the lower bound is checked. */
    CHECK(trained_ns(&child) >= 20000000);
    CHECK_INT(child_finish(&child), 0);
}

static void the_rate_may_be_given_as_text(void)
{
    struct child child;
    if (!child_start(&child))
        return;
    open_with(&child, "{\"rate\":\"2e4\"}", "opened");
    CHECK(trained_ns(&child) >= 10000000);
    CHECK_INT(child_finish(&child), 0);
}

/* 20 steps of 10 rows are 2e7 operations, of which each waits for a multiplication, three cycles at least: 10 ms of a
 * processor at 6 GHz. */
static void what_it_computes_takes_processor_time(void)
{
    struct child child;
    if (!child_start(&child))
        return;
    open_with(&child, "{\"burn\":1e5}", "opened");
    CHECK(trained_ns(&child) >= 10000000);
    CHECK_INT(child_finish(&child), 0);
}

static void requests_last_as_long_as_the_rate_says(void)
{
    struct child child;
    if (!child_start(&child))
        return;
    ys_json *reply = ask(&child, "{\"type\":\"open\",\"plan\":{\"format\":\"yardstick-plan\",\"version\":1,\"mode\":"
                                 "\"infer\",\"batch\":10,\"steps\":4,\"folder\":\"/nowhere\",\"options\":{\"rate\":"
                                 "10000}}}");
    CHECK_TEXT(type_of(reply), "opened");
    ys_json_free(reply);
    int64_t sum_ns = 0, told = 0;
    reply = ask(&child, "{\"type\":\"infer\",\"requests\":20,\"batch\":10}");
    while (reply && strcmp(type_of(reply), "latencies") == 0) {
        const ys_json *latencies = ys_json_get(reply, "latency_ns");
        for (size_t i = 0; i < ys_json_size(latencies); i++)
            sum_ns += ys_json_integer(ys_json_at(latencies, i), 0);
        told += (int64_t)ys_json_size(latencies);
        ys_json_free(reply);
        reply = receive(&child);
    }
    CHECK_TEXT(type_of(reply), "done");
    ys_json_free(reply);
    CHECK_INT(told, 20);
    CHECK(sum_ns >= 20000000); /* 20 requests of 10 rows at 10000 rows a second; only the lower bound, as above */
    CHECK_INT(child_finish(&child), 0);
}

static void without_a_rate_it_trains_at_once(void)
{
    struct child child;
    if (!child_start(&child))
        return;
    open_with(&child, "{}", "opened");
    trained_ns(&child);
    CHECK_INT(child_finish(&child), 0);
}

static void rates_that_are_no_rates_are_refused(void)
{
    struct child child;
    if (!child_start(&child))
        return;
    static const char *const bad[] = {"{\"rate\":0}",      "{\"rate\":-3}",       "{\"rate\":\"fast\"}",
                                      "{\"rate\":\"\"}",   "{\"rate\":\"inf\"}",  "{\"rate\":true}",
                                      "{\"exchange\":-1}", "{\"late_ms\":\"x\"}", "{\"burn\":1e13}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        open_with(&child, bad[i], "build_failed");
    CHECK_INT(child_finish(&child), 0);
}

/* Of one, whose number is 0. */
static void ranks_that_there_are_not_are_refused(void)
{
    static const char *const bad[] = {"1", "-1", "0.5", "\"1\"", "\"\"", "\"0x\"", "\"nan\"", "true"};
    static const char *const good[] = {"0", "\"0\"", "null"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct child child;
        char options[64];
        if (!child_start(&child))
            return;
        for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
            snprintf(options, sizeof options, "{\"late_rank\":%s}", bad[k]);
            open_with(&child, options, "build_failed");
        }
        snprintf(options, sizeof options, "{\"late_rank\":%s}", good[i]);
        open_with(&child, options, "opened");
        CHECK_INT(child_finish(&child), 0);
    }
}

static void it_saves_nothing_and_says_so(void)
{
    struct child child;
    if (!child_start(&child))
        return;
    open_with(&child, "{}", "opened");
    ys_json *reply = ask(&child, "{\"type\":\"save\",\"format\":\"safetensors\",\"path\":\"/nowhere/w\"}");
    CHECK_TEXT(ys_json_get_text(reply, "code", ""), "unsupported");
    ys_json_free(reply);
    CHECK_INT(child_finish(&child), 0);
}

TAP_MAIN(TAP_CASE(it_says_that_it_does_no_work), TAP_CASE(blocks_last_as_long_as_the_rate_says),
         TAP_CASE(the_rate_may_be_given_as_text), TAP_CASE(what_it_computes_takes_processor_time),
         TAP_CASE(requests_last_as_long_as_the_rate_says), TAP_CASE(without_a_rate_it_trains_at_once),
         TAP_CASE(rates_that_are_no_rates_are_refused), TAP_CASE(ranks_that_there_are_not_are_refused),
         TAP_CASE(it_saves_nothing_and_says_so))
