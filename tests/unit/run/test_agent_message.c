/* What a study and the agent of a host say to one another. */
#include "run/agent_message.h"
#include "run_fixture.h"

#include <math.h>
#include <sys/socket.h>
#include <unistd.h>

/* Both ends of a connection. */
struct ends {
    int fds[2];
    struct ys_channel *channels[2];
};

static void open_ends(struct ends *ends)
{
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->fds) == 0);
    for (int i = 0; i < 2; i++)
        REQUIRE(ys_channel_open(ends->fds[i], &ends->channels[i]) == YS_OK);
}

static void close_ends(struct ends *ends)
{
    for (int i = 0; i < 2; i++) {
        ys_channel_close(ends->channels[i]);
        close(ends->fds[i]);
    }
}

static void a_word_and_its_members_arrive(void)
{
    struct ends ends;
    struct ys_node_said said = {.message = ys_strdup("it is"), .t_ns = 77, .status = YS_FIELD_NONE}, read;
    ys_json *message = NULL;
    open_ends(&ends);
    REQUIRE(ys_node_send(ends.channels[0], YS_NODE_END, &ys_node_said_record, &said) == YS_OK);
    REQUIRE(ys_node_send(ends.channels[0], YS_NODE_WELCOME, NULL, NULL) == YS_OK);
    REQUIRE(ys_channel_receive(ends.channels[1], UINT64_MAX, &message) == YS_OK);
    CHECK_INT(ys_node_word(message), YS_NODE_END);
    REQUIRE(ys_record_read(&ys_node_said_record, message, "end", &read) == YS_OK);
    CHECK_TEXT(read.message, "it is");
    CHECK(read.t_ns == 77 && read.status == YS_FIELD_NONE && !read.is_done);
    ys_record_fini(&ys_node_said_record, &read);
    ys_json_free(message);
    REQUIRE(ys_channel_receive(ends.channels[1], UINT64_MAX, &message) == YS_OK);
    CHECK_INT(ys_node_word(message), YS_NODE_WELCOME);
    ys_json_free(message);
    REQUIRE(ys_json_parse("{\"type\":\"bonjour\"}", 18, "message", &message) == YS_OK);
    CHECK_INT(ys_node_word(message), YS_NAME_NONE);
    ys_json_free(message);
    ys_record_fini(&ys_node_said_record, &said);
    close_ends(&ends);
}

/* More than one message holds, with what JSON cannot say: the bits are those that were sent. */
static void series_arrive_with_all_their_bits(void)
{
    enum { COUNT = YS_NODE_SERIES_MOST + 7 };
    struct ends ends;
    struct ys_series_set sent = {0}, taken = {0};
    open_ends(&ends);
    for (int i = 0; i < COUNT; i++)
        ys_series_add_int(&sent, "block_end_ns", INT64_MAX - i);
    const double reals[] = {0.1, -0.0, NAN, INFINITY, 5e-324};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        ys_series_add_real(&sent, "step_loss", reals[i]);
    const pid_t sender = fork(); /* a socket does not hold all of it */
    if (sender == 0)
        _exit(ys_node_send_series(ends.channels[0], 3, &sent) != YS_OK);
    for (int i = 0; i < 3; i++) {
        struct ys_node_series said;
        ys_json *message = NULL;
        REQUIRE(ys_channel_receive(ends.channels[1], UINT64_MAX, &message) == YS_OK);
        REQUIRE(ys_record_read(&ys_node_series_record, message, "series", &said) == YS_OK);
        CHECK_INT(said.rank, 3);
        REQUIRE(ys_node_take_series(&said, &taken) == YS_OK);
        ys_record_fini(&ys_node_series_record, &said);
        ys_json_free(message);
    }
    const struct ys_series *ends_ns = ys_series_find(&taken, "block_end_ns"),
                           *losses = ys_series_find(&taken, "step_loss");
    REQUIRE(ends_ns && losses && ends_ns->count == COUNT && losses->count == sizeof reals / sizeof reals[0]);
    CHECK(ends_ns->ints[0] == INT64_MAX && ends_ns->ints[COUNT - 1] == INT64_MAX - COUNT + 1);
    CHECK(memcmp(losses->reals, reals, sizeof reals) == 0);
    ys_series_set_free(&sent);
    ys_series_set_free(&taken);
    close_ends(&ends);
}

static void a_series_that_is_none_is_refused(void)
{
    struct ys_series_set set = {0};
    int64_t value = 1;
    char long_name[] = "a_name_that_is_longer_than_any_series_has_in_truth_ns", known[] = "step_loss";
    struct ys_node_series said = {.name = long_name, .values = {&value, 1}};
    CHECK(ys_node_take_series(&said, &set) == YS_EPROTOCOL);
    ys_series_add_real(&set, known, 1);
    said.name = known;
    CHECK(ys_node_take_series(&said, &set) == YS_EPROTOCOL);
    CHECK_HAS(ys_error(), "step_loss");
    ys_series_set_free(&set);
}

static void a_clock_has_a_name(void)
{
    char *one = ys_node_clock(), *again = ys_node_clock();
    REQUIRE(one && again);
    CHECK_TEXT(one, again);
    ys_free(one);
    ys_free(again);
}

TAP_MAIN(TAP_CASE(a_word_and_its_members_arrive), TAP_CASE(series_arrive_with_all_their_bits),
         TAP_CASE(a_series_that_is_none_is_refused), TAP_CASE(a_clock_has_a_name))
