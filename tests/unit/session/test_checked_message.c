/* Members that adapters send have the types of docs/protocol.md. */
#include "session/checked_message.h"
#include "unit/run/run_fixture.h"

static void check(const char *text, const char *named)
{
    ys_json *message = NULL;
    REQUIRE((ys_json_parse(text, strlen(text), "message", &message) == YS_OK));
    ys_status status = ys_message_check(message);
    CHECK_INT(status, named ? YS_EPROTOCOL : YS_OK);
    if (named && status != YS_OK)
        CHECK_HAS(ys_error(), named);
    ys_json_free(message);
}

static void right_ones_pass_and_unknown_ones_too(void)
{
    check("{\"type\":\"hello\",\"protocol\":1}", NULL);
    check("{\"type\":\"hello\",\"protocol\":1.0,\"ops\":[\"Conv\"],\"devices\":[],\"no_work\":true,\"mine\":{}}", NULL);
    check("{\"type\":\"tensors\",\"path\":\"/r/x\",\"multiply_adds\":7}", NULL);
    check("{\"type\":\"greeting\",\"path\":7}", NULL);
    check("{\"type\":\"error\",\"code\":\"crashed\"}", NULL);
}

static void another_type_is_named(void)
{
    check("{\"type\":\"hello\",\"protocol\":\"1\"}",
          "\"protocol\" of the message \"hello\" is of another type: it must be an integer");
    check("{\"type\":\"hello\",\"protocol\":1.5}", "protocol");
    check("{\"type\":\"hello\",\"protocol\":1,\"ops\":[\"Conv\",7]}",
          "\"ops\" of the message \"hello\" is of another type: it must be an array of strings");
    check("{\"type\":\"hello\",\"protocol\":1,\"no_work\":0}", "a boolean");
    check("{\"type\":\"hello\",\"protocol\":1,\"version\":null}", "a string");
    check("{\"type\":\"opened\",\"parameters\":\"many\"}", "parameters");
    check("{\"type\":\"opened\",\"untimed\":true}", "untimed");
    check("{\"type\":\"tensors\",\"path\":3}", "an absolute path");
    check("{\"type\":\"tensors\",\"path\":\"x.safetensors\"}", "an absolute path");
    check("{\"type\":\"error\",\"code\":3}", "code");
    check("{\"type\":\"latencies\",\"first\":0,\"count\":1,\"t_start_ns\":1,\"t_end_ns\":2,\"latency_ns\":{}}",
          "an array");
}

static void what_the_work_needs_may_not_be_missing(void)
{
    check("{\"type\":\"hello\"}", "\"protocol\" of the message \"hello\" is missing");
    check("{\"type\":\"tensors\"}", "missing");
    check("{\"type\":\"saved\"}", "path");
    check("{\"type\":\"block\",\"first\":0,\"count\":1,\"t_start_ns\":1,\"t_end_ns\":2,\"loss\":[]}", "input_ns");
}

static void members_are_read_by_their_type(void)
{
    static const char block[] = "{\"type\":\"block\",\"first\":3,\"count\":2.0,\"t_start_ns\":\"1\",\"loss\":[1,2]}";
    static const char hello[] =
        "{\"type\":\"hello\",\"protocol\":1,\"version\":\"2\",\"ops\":[\"Conv\"],\"no_work\":true}";
    struct ys_message read;
    ys_json *message = NULL;
    REQUIRE((ys_json_parse(block, sizeof block - 1, "message", &message) == YS_OK));
    ys_message_read(message, &read);
    CHECK_TEXT(read.type, "block");
    CHECK(read.saved.bytes == -1 && !read.saved.path);
    CHECK(read.block.first == 3 && read.block.count == 2 && read.block.t_start_ns == -1 && read.block.input_ns == -1);
    CHECK_INT(ys_json_size(read.block.loss), 2);
    ys_json_free(message);
    REQUIRE((ys_json_parse(hello, sizeof hello - 1, "message", &message) == YS_OK));
    ys_message_read(message, &read);
    CHECK(read.hello.protocol == 1 && read.hello.no_work && !read.hello.runtime && !read.hello.features);
    CHECK_TEXT(read.hello.version, "2");
    CHECK_INT(ys_json_size(read.hello.ops), 1);
    ys_json_free(message);
    ys_message_read(NULL, &read); /* none came */
    CHECK_TEXT(read.type, "");
    CHECK(read.opened.threads == -1 && read.opened.parameters == -1 && !read.opened.libraries);
}

TAP_MAIN(TAP_CASE(right_ones_pass_and_unknown_ones_too), TAP_CASE(another_type_is_named),
         TAP_CASE(what_the_work_needs_may_not_be_missing), TAP_CASE(members_are_read_by_their_type))
