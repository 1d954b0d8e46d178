#include "base/clock.h"
#include "base/mem.h"
#include "protocol/channel.h"
#include "tap.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct pair {
    int far; /* the plain end that the test writes to and reads from */
    int near;
    struct ys_channel *channel;
};

static bool pair_open(struct pair *pair)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return false;
    *pair = (struct pair){.far = fds[0], .near = fds[1]};
    return ys_channel_open(fds[1], &pair->channel) == YS_OK;
}

static void pair_close(struct pair *pair)
{
    ys_channel_close(pair->channel);
    close(pair->near);
    if (pair->far >= 0)
        close(pair->far);
}

static void put(const struct pair *pair, const char *text)
{
    CHECK_INT(write(pair->far, text, strlen(text)), strlen(text));
}

static void hang_up(struct pair *pair)
{
    close(pair->far);
    pair->far = -1;
}

/* The type of the next message into `type`; the status otherwise. Takes only what has arrived. */
static ys_status next(const struct pair *pair, char type[64])
{
    ys_json *message = NULL;
    ys_status status = ys_channel_receive(pair->channel, 0, &message);
    if (status == YS_OK)
        snprintf(type, 64, "%s", ys_json_get_text(message, "type", ""));
    ys_json_free(message);
    return status;
}

static void a_message_arrives_as_it_was_sent(void)
{
    struct pair pair;
    REQUIRE(pair_open(&pair));
    ys_json *sent = ys_json_object(), *got = NULL;
    ys_json_set_string(sent, "type", "train");
    ys_json_set_int(sent, "from", 9007199254740993); /* not a double */
    ys_json_set_string(sent, "text", "a\nb");        /* a newline inside must not end the line */
    struct ys_channel *other = NULL;
    REQUIRE(ys_channel_open(pair.far, &other) == YS_OK);
    CHECK_INT(ys_channel_send(other, sent), YS_OK);
    REQUIRE(ys_channel_receive(pair.channel, UINT64_MAX, &got) == YS_OK);
    CHECK(ys_json_equal(sent, got));
    CHECK_INT(ys_channel_fd(pair.channel), pair.near);
    ys_json_free(sent);
    ys_json_free(got);
    ys_channel_close(other);
    pair_close(&pair);
}

static void a_line_that_comes_in_pieces_is_one_message(void)
{
    struct pair pair;
    char type[64] = "";
    REQUIRE(pair_open(&pair));
    put(&pair, "{\"type\":\"he");
    CHECK_INT(next(&pair, type), YS_ETIMEOUT);
    put(&pair, "llo\"}");
    CHECK_INT(next(&pair, type), YS_ETIMEOUT);
    put(&pair, "\n");
    CHECK_INT(next(&pair, type), YS_OK);
    CHECK_TEXT(type, "hello");
    pair_close(&pair);
}

static void lines_that_come_together_are_handed_out_one_by_one(void)
{
    struct pair pair;
    char type[64] = "";
    REQUIRE(pair_open(&pair));
    put(&pair, "{\"type\":\"a\"}\n{\"type\":\"b\"}\n{\"type\":\"c\"}\n{\"ty");
    const char *expected[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        CHECK_INT(next(&pair, type), YS_OK);
        CHECK_TEXT(type, expected[i]);
    }
    CHECK_INT(next(&pair, type), YS_ETIMEOUT);
    put(&pair, "pe\":\"d\"}\n");
    CHECK_INT(next(&pair, type), YS_OK);
    CHECK_TEXT(type, "d");
    pair_close(&pair);
}

static void messages_before_the_end_of_file_are_still_received(void)
{
    struct pair pair;
    char type[64] = "";
    REQUIRE(pair_open(&pair));
    put(&pair, "{\"type\":\"last\"}\n");
    hang_up(&pair);
    CHECK_INT(next(&pair, type), YS_OK);
    CHECK_TEXT(type, "last");
    CHECK(!ys_channel_eof(pair.channel));
    CHECK_INT(next(&pair, type), YS_EPROTOCOL);
    CHECK(ys_channel_eof(pair.channel));
    CHECK_HAS(ys_error(), "closed");
    CHECK_INT(next(&pair, type), YS_EPROTOCOL);
    pair_close(&pair);
}

static void end_of_file_inside_a_line_is_told_apart(void)
{
    struct pair pair;
    char type[64] = "";
    REQUIRE(pair_open(&pair));
    put(&pair, "{\"type\":\"half");
    hang_up(&pair);
    CHECK_INT(next(&pair, type), YS_EPROTOCOL);
    CHECK_HAS(ys_error(), "in the middle of a message");
    CHECK(ys_channel_eof(pair.channel));
    pair_close(&pair);
}

static void rubbish_is_quoted_and_the_next_line_still_counts(void)
{
    struct pair pair;
    char type[64] = "";
    REQUIRE(pair_open(&pair));
    static const char *const rubbish[] = {"Loading plugins\033[0m",
                                          "",
                                          "[1,2]",
                                          "7",
                                          "{\"kind\":\"x\"}",
                                          "{\"type\":3}",
                                          "{\"type\":\"a\"} {\"type\":\"b\"}",
                                          "{\"type\":\"a\",\"type\":\"b\"}"};
    for (size_t i = 0; i < sizeof rubbish / sizeof rubbish[0]; i++) {
        put(&pair, rubbish[i]);
        put(&pair, "\n{\"type\":\"good\"}\n");
        tap_check(next(&pair, type) == YS_EPROTOCOL, __LINE__, "accepted: %s", rubbish[i]);
        if (i == 0)
            CHECK_HAS(ys_error(), "\"Loading plugins?[0m\"");
        CHECK(!ys_channel_eof(pair.channel));
        CHECK_INT(next(&pair, type), YS_OK);
        CHECK_TEXT(type, "good");
    }
    pair_close(&pair);
}

static void a_zero_byte_does_not_end_a_line_early(void)
{
    struct pair pair;
    char type[64] = "";
    REQUIRE(pair_open(&pair));
    static const char line[] = "{\"type\":\"a\"}\0junk\n";
    CHECK_INT(write(pair.far, line, sizeof line - 1), sizeof line - 1);
    CHECK_INT(next(&pair, type), YS_EPROTOCOL);
    CHECK_INT(next(&pair, type), YS_ETIMEOUT);
    pair_close(&pair);
}

struct writer {
    int fd;
    size_t filler; /* bytes of the member that makes the line long */
    bool end;      /* ends the line */
};

static void *write_long(void *context)
{
    const struct writer *writer = context;
    static const char head[] = "{\"type\":\"long\",\"x\":\"", tail[] = "\"}\n";
    size_t size = sizeof head - 1 + writer->filler + sizeof tail - 1;
    char *line = malloc(size);
    memset(line, 'a', size);
    memcpy(line, head, sizeof head - 1);
    if (writer->end)
        memcpy(line + size - (sizeof tail - 1), tail, sizeof tail - 1);
    for (size_t done = 0; done < size;) {
        ssize_t sent = send(writer->fd, line + done, size - done, MSG_NOSIGNAL);
        if (sent <= 0)
            break;
        done += (size_t)sent;
    }
    free(line);
    return NULL;
}

/* A line of exactly `size` bytes before its newline, written from another thread; the result of receiving it. */
static ys_status receive_long(struct pair *pair, size_t size, bool end)
{
    enum { FRAME = 22 }; /* {"type":"long","x":""} */
    struct writer writer = {.fd = pair->far, .filler = size - FRAME, .end = end};
    pthread_t thread;
    if (pthread_create(&thread, NULL, write_long, &writer) != 0)
        return YS_EINTERNAL;
    ys_json *message = NULL;
    ys_status status = ys_channel_receive(pair->channel, UINT64_MAX, &message);
    if (status == YS_OK)
        CHECK_INT(strlen(ys_json_get_text(message, "x", "")), writer.filler);
    ys_json_free(message);
    shutdown(pair->near, SHUT_RDWR); /* a writer that was not read to the end must not wait for ever */
    pthread_join(thread, NULL);
    return status;
}

static void a_line_of_exactly_the_limit_passes(void)
{
    struct pair pair;
    REQUIRE(pair_open(&pair));
    CHECK_INT(receive_long(&pair, YS_CHANNEL_LINE_LIMIT, true), YS_OK);
    pair_close(&pair);
}

static void a_line_over_the_limit_ends_the_conversation(void)
{
    struct pair pair;
    char type[64] = "";
    REQUIRE(pair_open(&pair));
    CHECK_INT(receive_long(&pair, YS_CHANNEL_LINE_LIMIT + 1, true), YS_EPROTOCOL);
    CHECK_HAS(ys_error(), "33554432");
    CHECK(!ys_channel_eof(pair.channel));
    CHECK_INT(next(&pair, type), YS_EPROTOCOL);
    pair_close(&pair);
}

static void a_line_without_end_is_not_read_for_ever(void)
{
    struct pair pair;
    REQUIRE(pair_open(&pair));
    CHECK_INT(receive_long(&pair, 2 * YS_CHANNEL_LINE_LIMIT, false), YS_EPROTOCOL);
    pair_close(&pair);
}

static void waiting_ends_at_the_deadline(void)
{
    struct pair pair;
    REQUIRE(pair_open(&pair));
    ys_json *message = NULL;
    uint64_t deadline_ns = ys_time_ns() + 20000000;
    CHECK_INT(ys_channel_receive(pair.channel, deadline_ns, &message), YS_ETIMEOUT);
    CHECK(ys_time_ns() >= deadline_ns);
    CHECK(message == NULL);
    CHECK(!ys_channel_eof(pair.channel));
    pair_close(&pair);
}

static void sending_to_a_closed_end_fails_without_a_signal(void)
{
    struct pair pair;
    REQUIRE(pair_open(&pair));
    hang_up(&pair);
    CHECK_INT(ys_channel_send_line(pair.channel, "{}\n", 3), YS_EIO);
    CHECK_HAS(ys_error(), "closed");
    pair_close(&pair);
}

static void a_message_over_the_limit_is_not_sent(void)
{
    struct pair pair;
    REQUIRE(pair_open(&pair));
    size_t size = YS_CHANNEL_LINE_LIMIT + 2;
    char *line = ys_alloc(size, 1);
    REQUIRE(line);
    memset(line, 'a', size - 1);
    line[size - 1] = '\n';
    CHECK_INT(ys_channel_send_line(pair.channel, line, size), YS_EPROTOCOL);
    char byte;
    CHECK_INT(recv(pair.far, &byte, 1, MSG_DONTWAIT), -1); /* nothing was sent */
    ys_free(line);
    pair_close(&pair);
}

static void the_descriptor_keeps_its_flags(void)
{
    struct pair pair;
    char type[64] = "";
    REQUIRE(pair_open(&pair));
    int before = fcntl(pair.near, F_GETFL);
    put(&pair, "{\"type\":\"a\"}\n");
    CHECK_INT(next(&pair, type), YS_OK);
    CHECK_INT(fcntl(pair.near, F_GETFL), before);
    pair_close(&pair);
}

/* As of a program that a remote shell has started: one pipe for each way. */
static void pipes_do_as_a_socket_does(void)
{
    int in[2], out[2];
    struct ys_channel *channel;
    ys_json *got = NULL;
    char line[64] = "";
    const char *said = "{\"type\":\"a\"}\n";
    size_t size = strlen(said);
    REQUIRE(pipe2(in, O_NONBLOCK) == 0 && pipe2(out, O_NONBLOCK) == 0);
    REQUIRE(ys_channel_open_pair(in[0], out[1], &channel) == YS_OK);
    CHECK_INT(ys_channel_fd(channel), in[0]);
    CHECK_INT(ys_channel_receive(channel, 0, &got), YS_ETIMEOUT);
    CHECK_INT(write(in[1], "{\"type\":\"b\"}\n", 13), 13);
    if (CHECK(ys_channel_receive(channel, UINT64_MAX, &got) == YS_OK))
        CHECK_TEXT(ys_json_get_text(got, "type", ""), "b");
    ys_json_free(got);
    CHECK_INT(ys_channel_send_line(channel, said, size), YS_OK);
    CHECK_INT(read(out[0], line, sizeof line - 1), size);
    CHECK_TEXT(line, said);
    while (size > 0 && ys_channel_push(channel, &said, &size) == YS_OK && size == 0) { /* until the pipe is full */
        said -= 13;
        size = 13;
    }
    CHECK_INT(size, 13); /* nothing blocks */
    close(in[1]);
    CHECK_INT(ys_channel_receive(channel, UINT64_MAX, &got), YS_EPROTOCOL);
    CHECK(ys_channel_eof(channel));
    signal(SIGPIPE, SIG_IGN);
    close(out[0]);
    CHECK_INT(ys_channel_push(channel, &said, &size), YS_EIO);
    ys_channel_close(channel);
    close(in[0]);
    close(out[1]);
}

static void running_out_of_memory_is_reported(void)
{
    struct pair pair;
    char type[64] = "";
    struct ys_channel *channel = NULL;
    for (long n = 1; n <= 2; n++) {
        ys_mem_fail_at(n);
        CHECK_INT(ys_channel_open(0, &channel), YS_ENOMEM);
        ys_mem_fail_at(0);
    }
    REQUIRE(pair_open(&pair));
    put(&pair, "{\"type\":\"a\"}\n{\"type\":\"b\"}\n");
    ys_mem_fail_at(1);
    CHECK_INT(next(&pair, type), YS_ENOMEM);
    ys_mem_fail_at(0);
    CHECK_INT(next(&pair, type), YS_OK);
    CHECK_TEXT(type, "b");
    pair_close(&pair);
}

TAP_MAIN(TAP_CASE(a_message_arrives_as_it_was_sent), TAP_CASE(a_line_that_comes_in_pieces_is_one_message),
         TAP_CASE(lines_that_come_together_are_handed_out_one_by_one),
         TAP_CASE(messages_before_the_end_of_file_are_still_received),
         TAP_CASE(end_of_file_inside_a_line_is_told_apart), TAP_CASE(rubbish_is_quoted_and_the_next_line_still_counts),
         TAP_CASE(a_zero_byte_does_not_end_a_line_early), TAP_CASE(a_line_of_exactly_the_limit_passes),
         TAP_CASE(a_line_over_the_limit_ends_the_conversation), TAP_CASE(a_line_without_end_is_not_read_for_ever),
         TAP_CASE(waiting_ends_at_the_deadline), TAP_CASE(sending_to_a_closed_end_fails_without_a_signal),
         TAP_CASE(a_message_over_the_limit_is_not_sent), TAP_CASE(the_descriptor_keeps_its_flags),
         TAP_CASE(pipes_do_as_a_socket_does), TAP_CASE(running_out_of_memory_is_reported))
