#include "base/clock.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "protocol/adapter_loop.h"
#include "protocol/answer_ring.h"
#include "protocol/channel.h"
#include "tap.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* An adapter that records what it was asked and fails on demand. It runs in a thread; the test is the parent. */
struct recorder {
    char calls[512]; /* "open reset train:0+2 ..." */
    ys_status fail;  /* what the next call returns */
    int opens, closes;
};

static ys_status record(struct recorder *recorder, const char *text)
{
    size_t used = strlen(recorder->calls);
    snprintf(recorder->calls + used, sizeof recorder->calls - used, "%s%s", used ? " " : "", text);
    ys_status status = recorder->fail;
    recorder->fail = YS_OK;
    return status == YS_OK ? YS_OK : ys_fail(status, "made to fail at %s", text);
}

static ys_status op_open(void *self, const struct ys_plan *plan, ys_json *reply)
{
    struct recorder *recorder = self;
    YS_TRY(ys_json_set_string(reply, "op", "Conv"));
    if (recorder->fail == YS_OK)
        ys_json_remove(reply, "op");
    YS_TRY(record(recorder, "open"));
    recorder->opens++;
    return ys_json_set_int(reply, "parameters", plan->batch);
}

static ys_status op_reset(void *self)
{
    return record(self, "reset");
}

static ys_status op_forward(void *self, int64_t batch, bool train_mode, const char *path, ys_json *reply)
{
    char text[64];
    snprintf(text, sizeof text, "forward:%d%s", (int)batch, train_mode ? "t" : "e");
    YS_TRY(ys_json_set_int(reply, "multiply_adds", 12));
    CHECK(path[0] == '/');
    return record(self, text);
}

static ys_status op_step(void *self, int64_t first, int64_t count, const char *path)
{
    char text[64];
    snprintf(text, sizeof text, "step:%d+%d", (int)first, (int)count);
    CHECK_HAS(path, ".safetensors");
    return record(self, text);
}

static ys_status op_train(void *self, int64_t first, int64_t count, struct ys_block *block)
{
    char text[64];
    snprintf(text, sizeof text, "train:%d+%d", (int)first, (int)count);
    block->t_start_ns = 10;
    block->t_end_ns = 20;
    for (int64_t i = 0; i < count; i++)
        block->loss[block->loss_count++] = (double)(first + i);
    return record(self, text);
}

static ys_status op_infer(void *self, int64_t batch, struct ys_adapter_logits *logits)
{
    static const double values[] = {0.5, -1.5, 2};
    *logits = (struct ys_adapter_logits){.values = values, .count = 3, .in_double = true};
    char text[64];
    snprintf(text, sizeof text, "infer:%d", (int)batch);
    return record(self, text);
}

static ys_status op_infer_piece(void *self, int64_t batch, int64_t piece, struct ys_adapter_logits *logits)
{
    static const double values[] = {0.5, -1.5, 2};
    *logits = (struct ys_adapter_logits){.values = values, .count = 3, .in_double = true};
    char text[64];
    snprintf(text, sizeof text, "piece:%d.%d", (int)batch, (int)piece);
    return record(self, text);
}

static ys_status op_save(void *self, const char *path, bool in_double)
{
    YS_TRY(ys_fs_write(path, "12345", 5));
    return record(self, in_double ? "save64" : "save");
}

static void op_close(void *self)
{
    struct recorder *recorder = self;
    recorder->closes++;
}

static const char *const nothing[] = {NULL}, *const two_ops[] = {"Conv", "Relu", NULL};

#define RECORDER .about = {"recorder", "Recorder", nothing, two_ops, nothing, false}, .open = op_open

static const struct ys_adapter_ops recorder_ops = {
    RECORDER,          .reset = op_reset, .forward = op_forward, .step = op_step,
    .train = op_train, .save = op_save,   .close = op_close, /* neither backward nor infer */
};
static const struct ys_adapter_ops inferring_ops = {
    RECORDER,          .forward = op_forward, .step = op_step,   .train = op_train,
    .infer = op_infer, .save = op_save,       .close = op_close,
};
static const struct ys_adapter_ops piecing_ops = {
    RECORDER,          .forward = op_forward,         .step = op_step, .train = op_train,
    .infer = op_infer, .infer_piece = op_infer_piece, .save = op_save, .close = op_close,
};

struct fixture {
    const struct ys_adapter_ops *ops;
    struct recorder recorder;
    struct ys_channel *channel;
    int fds[2]; /* the test's end, the adapter's end */
    pthread_t thread;
    int exit_code;
};

static void *serve(void *context)
{
    struct fixture *fixture = context;
    fixture->exit_code = ys_adapter_serve(fixture->ops, &fixture->recorder, fixture->fds[1]);
    shutdown(fixture->fds[1], SHUT_RDWR); /* as the end of a process would */
    return NULL;
}

static bool start_with(struct fixture *fixture, const struct ys_adapter_ops *ops)
{
    *fixture = (struct fixture){.ops = ops, .exit_code = -1};
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fixture->fds) == 0 &&
           ys_channel_open(fixture->fds[0], &fixture->channel) == YS_OK &&
           pthread_create(&fixture->thread, NULL, serve, fixture) == 0;
}

static bool start(struct fixture *fixture)
{
    return start_with(fixture, &recorder_ops);
}

/* Closes the test's end and returns what the adapter program would exit with. */
static int finish(struct fixture *fixture)
{
    shutdown(fixture->fds[0], SHUT_RDWR);
    pthread_join(fixture->thread, NULL);
    ys_channel_close(fixture->channel);
    close(fixture->fds[0]);
    close(fixture->fds[1]);
    CHECK_INT(fixture->recorder.opens, fixture->recorder.closes);
    return fixture->exit_code;
}

static ys_json *receive(struct fixture *fixture)
{
    ys_json *reply = NULL;
    ys_status status = ys_channel_receive(fixture->channel, ys_time_ns() + UINT64_C(30000000000), &reply);
    tap_check(status == YS_OK, __LINE__, "no answer: %s", ys_error());
    return reply;
}

/* The answer to `text`, a message in JSON without its newline. */
static ys_json *ask(struct fixture *fixture, const char *text)
{
    char line[1024];
    int size = snprintf(line, sizeof line, "%s\n", text);
    CHECK_INT(ys_channel_send_line(fixture->channel, line, (size_t)size), YS_OK);
    return receive(fixture);
}

/* Asks and expects an answer of type `type`; for errors `type` is the code. */
static void expect(struct fixture *fixture, const char *text, const char *type)
{
    ys_json *reply = ask(fixture, text);
    const char *got = ys_json_get_text(reply, "type", "");
    if (strcmp(got, "error") == 0)
        got = ys_json_get_text(reply, "code", "");
    tap_check(strcmp(got, type) == 0, __LINE__, "%s was answered by \"%s\" (%s), not \"%s\"", text, got,
              ys_json_get_text(reply, "message", "no message"), type);
    ys_json_free(reply);
}

#define INFER_PLAN                                                                                                     \
    "{\"type\":\"open\",\"plan\":{\"format\":\"yardstick-plan\",\"version\":1,\"mode\":\"infer\",\"batch\":8,"         \
    "\"steps\":3,\"folder\":\"/nowhere\"}}"
#define PROMPT_PLAN(tokens)                                                                                            \
    "{\"type\":\"open\",\"plan\":{\"format\":\"yardstick-plan\",\"version\":1,\"mode\":\"infer\",\"batch\":8,"         \
    "\"steps\":3,\"folder\":\"/nowhere\",\"prompt\":5,\"tokens\":" tokens "}}"
#define PLAN(extra)                                                                                                    \
    "{\"type\":\"open\",\"plan\":{\"format\":\"yardstick-plan\",\"version\":1,\"mode\":\"train\",\"batch\":8,"         \
    "\"steps\":10,\"block\":3,\"folder\":\"/nowhere\"" extra "}}"

static void hello_has_type_protocol_and_what_the_adapter_says(void)
{
    struct fixture fixture;
    REQUIRE(start(&fixture));
    ys_json *reply = ask(&fixture, "{\"type\":\"hello\",\"protocol\":1}");
    CHECK_TEXT(ys_json_get_text(reply, "type", ""), "hello");
    CHECK_INT(ys_json_get_int(reply, "protocol", 0), 1);
    CHECK_TEXT(ys_json_get_text(reply, "adapter", ""), "recorder");
    CHECK_TEXT(ys_json_get_text(reply, "framework", ""), "Recorder");
    CHECK_TEXT(ys_json_text(ys_json_at(ys_json_get(reply, "ops"), 1), ""), "Relu");
    char *features = ys_json_dump(ys_json_get(reply, "features"), YS_JSON_COMPACT);
    CHECK_TEXT(features, "[\"forward\",\"step\",\"train\",\"save\"]"); /* of what functions there are */
    ys_free(features);
    ys_json_free(reply);
    expect(&fixture, "{\"type\":\"hello\",\"protocol\":2}", "unsupported");
    expect(&fixture, "{\"type\":\"hello\"}", "protocol_error");
    CHECK_INT(finish(&fixture), 0);
}

static void bye_ends_with_0(void)
{
    struct fixture fixture;
    REQUIRE(start(&fixture));
    expect(&fixture, PLAN(""), "opened");
    CHECK_INT(ys_channel_send_line(fixture.channel, "{\"type\":\"bye\"}\n", 15), YS_OK);
    ys_json *reply = NULL;
    CHECK_INT(ys_channel_receive(fixture.channel, UINT64_MAX, &reply), YS_EPROTOCOL); /* bye has no answer */
    CHECK(ys_channel_eof(fixture.channel));
    CHECK_INT(finish(&fixture), 0);
    CHECK_INT(fixture.recorder.closes, 1);
}

static void end_of_file_ends_with_0_and_closes(void)
{
    struct fixture fixture;
    REQUIRE(start(&fixture));
    expect(&fixture, PLAN(""), "opened");
    CHECK_INT(finish(&fixture), 0);
    CHECK_INT(fixture.recorder.closes, 1);
}

static void a_line_that_is_no_message_is_answered_and_ends_the_adapter(void)
{
    struct fixture fixture;
    REQUIRE(start(&fixture));
    expect(&fixture, "what?", "protocol_error");
    CHECK_INT(finish(&fixture), 1);
}

static void work_without_a_plan_is_refused(void)
{
    struct fixture fixture;
    REQUIRE(start(&fixture));
    expect(&fixture, "{\"type\":\"train\",\"from\":0,\"to\":1,\"block\":1}", "protocol_error");
    expect(&fixture, "{\"type\":\"reset\"}", "protocol_error");
    expect(&fixture, "{\"type\":\"step\",\"n\":0}", "protocol_error");
    CHECK_INT(finish(&fixture), 0);
    CHECK_TEXT(fixture.recorder.calls, "");
}

static void damaged_plans_never_reach_the_adapter(void)
{
    struct fixture fixture;
    REQUIRE(start(&fixture));
    expect(&fixture, "{\"type\":\"open\"}", "protocol_error");
    expect(&fixture, "{\"type\":\"open\",\"plan\":[]}", "protocol_error");
    expect(&fixture, "{\"type\":\"open\",\"plan\":{\"format\":\"yardstick-plan\",\"version\":2}}", "unsupported");
    static const char *const parts[] = {"\"mode\":\"infer\",\"batch\":8,\"steps\":1,\"block\":1,\"folder\":\"/x\"",
                                        "\"mode\":\"train\",\"batch\":0,\"steps\":1,\"block\":1,\"folder\":\"/x\"",
                                        "\"mode\":\"train\",\"batch\":8,\"steps\":-1,\"block\":1,\"folder\":\"/x\"",
                                        "\"mode\":\"train\",\"batch\":8,\"steps\":1,\"block\":262145,\"folder\":\"/x\"",
                                        "\"mode\":\"train\",\"batch\":8.5,\"steps\":1,\"block\":1,\"folder\":\"/x\"",
                                        "\"mode\":\"train\",\"steps\":1,\"block\":1,\"folder\":\"/x\"",
                                        "\"batch\":8,\"steps\":1,\"block\":1,\"folder\":\"/x\"",
                                        "\"mode\":\"train\",\"batch\":8,\"steps\":1,\"block\":1"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"type\":\"open\",\"plan\":{\"format\":\"yardstick-plan\",\"version\":1,%s}}",
                 parts[i]);
        expect(&fixture, text, i == 0 ? "unsupported" : "protocol_error");
    }
    CHECK_INT(finish(&fixture), 0);
    CHECK_TEXT(fixture.recorder.calls, "");
}

static void opened_has_the_adapters_members_and_a_second_open_is_refused(void)
{
    struct fixture fixture;
    REQUIRE(start(&fixture));
    ys_json *reply = ask(&fixture, PLAN(""));
    CHECK_TEXT(ys_json_get_text(reply, "type", ""), "opened");
    CHECK_INT(ys_json_get_int(reply, "parameters", 0), 8);
    CHECK(!ys_json_get(reply, "op"));
    ys_json_free(reply);
    expect(&fixture, PLAN(""), "protocol_error");
    CHECK_INT(finish(&fixture), 0);
}

static void a_failed_open_names_the_operator_and_may_be_repeated(void)
{
    struct fixture fixture;
    REQUIRE(start(&fixture));
    fixture.recorder.fail = YS_EUNSUPPORTED;
    ys_json *reply = ask(&fixture, PLAN(""));
    CHECK_TEXT(ys_json_get_text(reply, "type", ""), "error");
    CHECK_TEXT(ys_json_get_text(reply, "code", ""), "unsupported");
    CHECK_TEXT(ys_json_get_text(reply, "stage", ""), "open");
    CHECK_TEXT(ys_json_get_text(reply, "op", ""), "Conv");
    CHECK_TEXT(ys_json_get_text(reply, "message", ""), "made to fail at open");
    ys_json_free(reply);
    expect(&fixture, PLAN(""), "opened");
    CHECK_INT(finish(&fixture), 0);
}

static void training_is_cut_into_blocks_and_the_last_may_be_short(void)
{
    struct fixture fixture;
    REQUIRE(start(&fixture));
    expect(&fixture, PLAN(""), "opened");
    ys_json *reply = ask(&fixture, "{\"type\":\"train\",\"from\":0,\"to\":5,\"block\":2}");
    static const int first[] = {0, 2, 4}, count[] = {2, 2, 1};
    for (int i = 0; i < 3; i++) {
        CHECK_TEXT(ys_json_get_text(reply, "type", ""), "block");
        CHECK_INT(ys_json_get_int(reply, "first", -1), first[i]);
        CHECK_INT(ys_json_get_int(reply, "count", -1), count[i]);
        CHECK_INT(ys_json_get_int(reply, "t_end_ns", -1), 20);
        CHECK_INT(ys_json_size(ys_json_get(reply, "loss")), count[i]);
        CHECK_INT(ys_json_integer(ys_json_at(ys_json_get(reply, "loss"), 0), -1), first[i]);
        ys_json_free(reply);
        reply = receive(&fixture);
    }
    CHECK_TEXT(ys_json_get_text(reply, "type", ""), "done");
    ys_json_free(reply);
    CHECK_INT(finish(&fixture), 0);
    CHECK_TEXT(fixture.recorder.calls, "open train:0+2 train:2+2 train:4+1");
}

static void step_and_train_share_one_counter(void)
{
    struct fixture fixture;
    REQUIRE(start(&fixture));
    expect(&fixture, PLAN(""), "opened");
    expect(&fixture, "{\"type\":\"step\",\"n\":0}", "tensors");
    expect(&fixture, "{\"type\":\"step\",\"n\":3}", "tensors");
    expect(&fixture, "{\"type\":\"train\",\"from\":0,\"to\":4,\"block\":4}", "protocol_error");
    expect(&fixture, "{\"type\":\"train\",\"from\":3,\"to\":5,\"block\":4}", "block");
    ys_json_free(receive(&fixture));                                   /* done */
    expect(&fixture, "{\"type\":\"step\",\"n\":6}", "protocol_error"); /* 5 + 6 passes the plan's 10 */
    expect(&fixture, "{\"type\":\"step\",\"n\":5}", "tensors");
    expect(&fixture, "{\"type\":\"train\",\"from\":10,\"to\":10,\"block\":1}", "done");
    expect(&fixture, "{\"type\":\"train\",\"from\":10,\"to\":11,\"block\":1}", "protocol_error");
    expect(&fixture, "{\"type\":\"reset\"}", "done");
    expect(&fixture, "{\"type\":\"step\",\"n\":1}", "tensors");
    CHECK_INT(finish(&fixture), 0);
    CHECK_TEXT(fixture.recorder.calls, "open step:0+0 step:0+3 train:3+2 step:5+5 reset step:0+1");
}

static void after_a_failure_in_training_only_reset_helps(void)
{
    struct fixture fixture;
    REQUIRE(start(&fixture));
    expect(&fixture, PLAN(""), "opened");
    fixture.recorder.fail = YS_ENOMEM;
    expect(&fixture, "{\"type\":\"step\",\"n\":1}", "oom_host");
    expect(&fixture, "{\"type\":\"step\",\"n\":1}", "protocol_error");
    expect(&fixture, "{\"type\":\"reset\"}", "done");
    expect(&fixture, "{\"type\":\"step\",\"n\":1}", "tensors");
    CHECK_INT(finish(&fixture), 0);
}

static void arguments_out_of_range_are_refused(void)
{
    struct fixture fixture;
    REQUIRE(start(&fixture));
    expect(&fixture, PLAN(""), "opened");
    static const char *const bad[] = {
        "{\"type\":\"forward\",\"batch\":10,\"mode\":\"eval\"}",
        "{\"type\":\"forward\",\"batch\":-1,\"mode\":\"eval\"}",
        "{\"type\":\"forward\",\"batch\":0,\"mode\":\"test\"}",
        "{\"type\":\"forward\",\"mode\":\"eval\"}",
        "{\"type\":\"step\",\"n\":-1}",
        "{\"type\":\"step\"}",
        "{\"type\":\"train\",\"from\":0,\"to\":5,\"block\":0}",
        "{\"type\":\"save\",\"format\":\"safetensors\",\"path\":\"x\"}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect(&fixture, bad[i], "protocol_error");
    CHECK_INT(finish(&fixture), 0);
    CHECK_TEXT(fixture.recorder.calls, "open");
}

static void tensors_have_a_path_in_the_plans_folder(void)
{
    struct fixture fixture;
    REQUIRE(start(&fixture));
    expect(&fixture, PLAN(""), "opened");
    ys_json *reply = ask(&fixture, "{\"type\":\"forward\",\"batch\":7,\"mode\":\"train\"}");
    CHECK_TEXT(ys_json_get_text(reply, "type", ""), "tensors");
    CHECK_TEXT(ys_json_get_text(reply, "path", ""), "/nowhere/forward-7-train.safetensors");
    CHECK_INT(ys_json_get_int(reply, "multiply_adds", 0), 12);
    ys_json_free(reply);
    CHECK_INT(finish(&fixture), 0);
    CHECK_TEXT(fixture.recorder.calls, "open forward:7t");
}

static void what_an_adapter_lacks_is_unsupported(void)
{
    struct fixture fixture;
    REQUIRE(start(&fixture));
    expect(&fixture, PLAN(""), "opened");
    expect(&fixture, "{\"type\":\"backward\",\"batch\":0,\"mode\":\"train\"}", "unsupported");
    expect(&fixture, "{\"type\":\"infer\",\"requests\":1,\"batch\":1}", "unsupported");
    expect(&fixture, "{\"type\":\"input_gradient\",\"path\":\"/x\",\"target\":0}", "unsupported");
    expect(&fixture, "{\"type\":\"save\",\"format\":\"onnx\",\"path\":\"/x\"}", "unsupported");
    expect(&fixture, "{\"type\":\"save\",\"format\":\"safetensors\",\"path\":\"/x\",\"dtype\":\"f64\"}",
           "unsupported"); /* of a plan that is not in double */
    CHECK_INT(finish(&fixture), 0);
}

/* The latencies of one `infer`, each taken once, in order; the count of them. */
static int64_t requests_told(struct fixture *fixture, const char *text)
{
    int64_t told = 0, last_end_ns = (int64_t)ys_time_ns();
    ys_json *reply = ask(fixture, text);
    while (reply && strcmp(ys_json_get_text(reply, "type", ""), "latencies") == 0) {
        const ys_json *latencies = ys_json_get(reply, "latency_ns");
        int64_t start_ns = ys_json_get_int(reply, "t_start_ns", -1), end_ns = ys_json_get_int(reply, "t_end_ns", -1);
        int64_t sum_ns = 0;
        CHECK_INT(ys_json_get_int(reply, "first", -1), told);
        CHECK_INT(ys_json_size(latencies), ys_json_get_int(reply, "count", -1));
        CHECK(ys_json_size(latencies) >= 1 && ys_json_size(latencies) <= 4096);
        for (size_t i = 0; i < ys_json_size(latencies); i++)
            sum_ns += ys_json_integer(ys_json_at(latencies, i), INT64_MAX / 8192);
        CHECK(start_ns >= last_end_ns && sum_ns >= 0 && sum_ns <= end_ns - start_ns);
        told += (int64_t)ys_json_size(latencies);
        last_end_ns = end_ns;
        ys_json_free(reply);
        reply = receive(fixture);
    }
    CHECK_TEXT(ys_json_get_text(reply, "type", ""), "done");
    ys_json_free(reply);
    return told;
}

static void requests_take_the_batches_in_turn(void)
{
    struct fixture fixture;
    REQUIRE(start_with(&fixture, &inferring_ops));
    expect(&fixture, INFER_PLAN, "opened");
    CHECK_INT(requests_told(&fixture, "{\"type\":\"infer\",\"requests\":7,\"batch\":8}"), 7);
    CHECK_INT(requests_told(&fixture, "{\"type\":\"infer\",\"requests\":1,\"batch\":8}"), 1);
    CHECK_INT(finish(&fixture), 0);
    CHECK_TEXT(fixture.recorder.calls, "open infer:0 infer:1 infer:2 infer:0 infer:1 infer:2 infer:0 infer:0");
}

/** A message's pieces: `tokens` of each request behind its prompt, together no longer than it. */
static void check_pieces(const ys_json *reply, size_t tokens)
{
    const ys_json *latencies = ys_json_get(reply, "latency_ns"), *prompts = ys_json_get(reply, "prompt_ns"),
                  *each = ys_json_get(reply, "token_ns");
    CHECK_INT(ys_json_size(prompts), ys_json_size(latencies));
    CHECK_INT(ys_json_size(each), ys_json_size(latencies) * tokens);
    CHECK(ys_json_size(each) <= 4096);
    for (size_t i = 0; i < ys_json_size(latencies); i++) {
        int64_t sum_ns = ys_json_integer(ys_json_at(prompts, i), INT64_MAX / 8192);
        for (size_t k = 0; k < tokens; k++)
            sum_ns += ys_json_integer(ys_json_at(each, i * tokens + k), INT64_MAX / 8192);
        CHECK(sum_ns >= 0 && sum_ns <= ys_json_integer(ys_json_at(latencies, i), -1));
    }
}

static void pieces_are_asked_for_in_their_order_and_timed(void)
{
    struct fixture fixture;
    REQUIRE(start_with(&fixture, &piecing_ops));
    expect(&fixture, PROMPT_PLAN("2"), "opened");
    ys_json *reply = ask(&fixture, "{\"type\":\"infer\",\"requests\":2,\"batch\":8}");
    CHECK_INT(ys_json_get_int(reply, "count", 0), 2);
    check_pieces(reply, 2);
    ys_json_free(reply);
    reply = receive(&fixture);
    CHECK_TEXT(ys_json_get_text(reply, "type", ""), "done");
    ys_json_free(reply);
    CHECK_INT(finish(&fixture), 0);
    CHECK_TEXT(fixture.recorder.calls, "open piece:0.0 piece:0.1 piece:0.2 piece:1.0 piece:1.1 piece:1.2");
}

/** A message holds 4096 tokens: the requests of 1000 tokens come by fours. */
static void a_message_has_no_more_tokens_than_it_has_room_for(void)
{
    struct fixture fixture;
    int64_t told = 0;
    REQUIRE(start_with(&fixture, &piecing_ops));
    expect(&fixture, PROMPT_PLAN("1000"), "opened");
    ys_json *reply = ask(&fixture, "{\"type\":\"infer\",\"requests\":9,\"batch\":8}");
    while (reply && strcmp(ys_json_get_text(reply, "type", ""), "latencies") == 0) {
        CHECK(ys_json_get_int(reply, "count", 0) <= 4);
        check_pieces(reply, 1000);
        told += ys_json_get_int(reply, "count", 0);
        ys_json_free(reply);
        reply = receive(&fixture);
    }
    ys_json_free(reply);
    CHECK_INT(told, 9);
    CHECK_INT(finish(&fixture), 0);
}

static void a_prompt_is_for_an_adapter_that_answers_pieces(void)
{
    struct fixture fixture;
    REQUIRE(start_with(&fixture, &inferring_ops));
    ys_json *reply = ask(&fixture, PROMPT_PLAN("2"));
    CHECK_TEXT(ys_json_get_text(reply, "code", ""), "unsupported");
    CHECK_TEXT(ys_json_get_text(reply, "message", ""),
               "prompt = 5: this adapter answers rows whole: write prompt = none");
    ys_json_free(reply);
    CHECK_INT(finish(&fixture), 0);
}

static void many_requests_take_several_messages(void)
{
    struct fixture fixture;
    REQUIRE(start_with(&fixture, &inferring_ops));
    expect(&fixture, INFER_PLAN, "opened");
    CHECK_INT(requests_told(&fixture, "{\"type\":\"infer\",\"requests\":10000,\"batch\":8}"), 10000);
    CHECK_INT(finish(&fixture), 0);
}

static void a_request_that_fails_ends_the_answer(void)
{
    struct fixture fixture;
    REQUIRE(start_with(&fixture, &inferring_ops));
    expect(&fixture, INFER_PLAN, "opened");
    fixture.recorder.fail = YS_ENOMEM;
    expect(&fixture, "{\"type\":\"infer\",\"requests\":3,\"batch\":8}", "oom_host");
    CHECK_INT(requests_told(&fixture, "{\"type\":\"infer\",\"requests\":3,\"batch\":8}"), 3);
    CHECK_INT(finish(&fixture), 0);
}

static void a_plan_that_infers_does_not_train_and_the_reverse(void)
{
    static const char *const training[] = {"{\"type\":\"train\",\"from\":0,\"to\":1,\"block\":1}",
                                           "{\"type\":\"step\",\"n\":1}",
                                           "{\"type\":\"forward\",\"batch\":0,\"mode\":\"train\"}"};
    static const char *const wrong[] = {"{\"type\":\"infer\",\"requests\":0,\"batch\":8}",
                                        "{\"type\":\"infer\",\"requests\":1,\"batch\":7}",
                                        "{\"type\":\"infer\",\"requests\":1}", "{\"type\":\"infer\",\"batch\":8}"};
    struct fixture fixture;
    REQUIRE(start_with(&fixture, &inferring_ops));
    expect(&fixture, INFER_PLAN, "opened");
    for (size_t i = 0; i < sizeof training / sizeof training[0]; i++)
        expect(&fixture, training[i], "protocol_error");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        expect(&fixture, wrong[i], "protocol_error");
    expect(&fixture, "{\"type\":\"forward\",\"batch\":2,\"mode\":\"eval\"}", "tensors");
    expect(&fixture, "{\"type\":\"step\",\"n\":0}", "tensors");
    CHECK_INT(finish(&fixture), 0);
    CHECK_TEXT(fixture.recorder.calls, "open forward:2e step:0+0");
    REQUIRE(start_with(&fixture, &inferring_ops));
    expect(&fixture, PLAN(""), "opened");
    expect(&fixture, "{\"type\":\"infer\",\"requests\":1,\"batch\":8}", "protocol_error");
    CHECK_INT(finish(&fixture), 0);
    CHECK_TEXT(fixture.recorder.calls, "open");
}

static void saved_has_path_and_size(void)
{
    struct fixture fixture;
    char folder[] = "/tmp/yardstick-test-XXXXXX";
    REQUIRE(mkdtemp(folder));
    REQUIRE(start(&fixture));
    expect(&fixture, PLAN(""), "opened");
    char *text = ys_format("{\"type\":\"save\",\"format\":\"safetensors\",\"path\":\"%s/w\"}", folder);
    ys_json *reply = ask(&fixture, text);
    CHECK_TEXT(ys_json_get_text(reply, "type", ""), "saved");
    CHECK_HAS(ys_json_get_text(reply, "path", ""), folder);
    CHECK_INT(ys_json_get_int(reply, "bytes", 0), 5);
    ys_json_free(reply);
    ys_free(text);
    CHECK_INT(finish(&fixture), 0);
    CHECK_INT(ys_fs_remove_tree(folder), YS_OK);
}

static void statuses_become_the_run_statuses_of_the_protocol(void)
{
    CHECK_TEXT(ys_adapter_error_code(YS_EUNSUPPORTED, "open"), "unsupported");
    CHECK_TEXT(ys_adapter_error_code(YS_ENOMEM, "train"), "oom_host");
    CHECK_TEXT(ys_adapter_error_code(YS_EIO, "open"), "load_failed");
    CHECK_TEXT(ys_adapter_error_code(YS_EINVAL, "open"), "build_failed");
    CHECK_TEXT(ys_adapter_error_code(YS_EINVAL, "step"), "protocol_error");
    CHECK_TEXT(ys_adapter_error_code(YS_EIO, "train"), "crashed");
    CHECK_TEXT(ys_adapter_error_code(YS_EINTR, "train"), "crashed");
}

static void without_a_descriptor_the_program_says_what_it_is(void)
{
    struct recorder recorder = {0};
    unsetenv("YARDSTICK_FD");
    CHECK_INT(ys_adapter_serve_environment(&recorder_ops, &recorder), 2);
    setenv("YARDSTICK_FD", "3x", 1);
    CHECK_INT(ys_adapter_serve_environment(&recorder_ops, &recorder), 2);
    unsetenv("YARDSTICK_FD");
    CHECK_TEXT(recorder.calls, "");
}

static void answers_are_shown_where_that_is_asked_for(void)
{
    struct fixture fixture;
    char path[64] = "/tmp/ys-test-answers-XXXXXX", request[160];
    int fd = mkstemp(path), ring;
    struct ys_ring_answer *answer = ys_alloc(1, sizeof *answer);
    REQUIRE(fd >= 0 && answer && start_with(&fixture, &inferring_ops));
    close(fd);
    unlink(path);
    REQUIRE(ys_ring_make(path, &ring) == YS_OK);
    expect(&fixture, INFER_PLAN, "opened");
    snprintf(request, sizeof request, "{\"type\":\"infer\",\"requests\":5,\"batch\":8,\"answers\":\"%s\"}", path);
    CHECK_INT(requests_told(&fixture, request), 5);
    CHECK_INT(ys_ring_newest(ring, answer), YS_OK);
    CHECK_INT(answer->request, 4);
    CHECK_INT(answer->batch, 1); /* of three */
    CHECK_INT(answer->count, 3);
    CHECK(answer->values[0] == 0.5f && answer->values[1] == -1.5f && answer->values[2] == 2.0f);
    unlink(path);
    expect(&fixture, request, "crashed"); /* it is gone */
    close(ring);
    ys_free(answer);
    CHECK_INT(finish(&fixture), 0);
}

TAP_MAIN(TAP_CASE(hello_has_type_protocol_and_what_the_adapter_says), TAP_CASE(bye_ends_with_0),
         TAP_CASE(end_of_file_ends_with_0_and_closes),
         TAP_CASE(a_line_that_is_no_message_is_answered_and_ends_the_adapter), TAP_CASE(work_without_a_plan_is_refused),
         TAP_CASE(damaged_plans_never_reach_the_adapter),
         TAP_CASE(opened_has_the_adapters_members_and_a_second_open_is_refused),
         TAP_CASE(a_failed_open_names_the_operator_and_may_be_repeated),
         TAP_CASE(training_is_cut_into_blocks_and_the_last_may_be_short), TAP_CASE(step_and_train_share_one_counter),
         TAP_CASE(after_a_failure_in_training_only_reset_helps), TAP_CASE(arguments_out_of_range_are_refused),
         TAP_CASE(tensors_have_a_path_in_the_plans_folder), TAP_CASE(what_an_adapter_lacks_is_unsupported),
         TAP_CASE(requests_take_the_batches_in_turn), TAP_CASE(pieces_are_asked_for_in_their_order_and_timed),
         TAP_CASE(a_message_has_no_more_tokens_than_it_has_room_for),
         TAP_CASE(a_prompt_is_for_an_adapter_that_answers_pieces), TAP_CASE(many_requests_take_several_messages),
         TAP_CASE(a_request_that_fails_ends_the_answer), TAP_CASE(answers_are_shown_where_that_is_asked_for),
         TAP_CASE(a_plan_that_infers_does_not_train_and_the_reverse), TAP_CASE(saved_has_path_and_size),
         TAP_CASE(statuses_become_the_run_statuses_of_the_protocol),
         TAP_CASE(without_a_descriptor_the_program_says_what_it_is))
