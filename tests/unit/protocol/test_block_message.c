#include "base/json/json.h"
#include "base/mem.h"
#include "protocol/block_message.h"
#include "protocol/adapter_loop.h"
#include "protocol/channel.h"
#include "protocol/latency_message.h"
#include "tap.h"
#include <float.h>

static void a_block_reads_back_equal(void)
{
    struct ys_block_line line;
    REQUIRE(ys_block_line_init(&line, 3) == YS_OK);
    struct ys_block block = {
        .t_start_ns = 1, .t_end_ns = UINT64_C(9007199254740993), .input_ns = 7, .loss = line.loss, .loss_count = 3};
    line.loss[0] = 0.1;
    line.loss[1] = -DBL_MIN / 3; /* subnormal */
    line.loss[2] = 2;
    size_t size = ys_block_line_format(&line, 20, 3, &block);
    CHECK(line.text[size - 1] == '\n' && strlen(line.text) == size);
    ys_json *json = NULL;
    REQUIRE(ys_json_parse(line.text, size - 1, "block", &json) == YS_OK);
    CHECK_TEXT(ys_json_get_text(json, "type", ""), "block");
    CHECK_INT(ys_json_get_int(json, "first", -1), 20);
    CHECK_INT(ys_json_get_int(json, "count", -1), 3);
    CHECK_INT(ys_json_get_int(json, "t_start_ns", -1), 1);
    CHECK_INT(ys_json_get_int(json, "t_end_ns", -1), 9007199254740993);
    CHECK_INT(ys_json_get_int(json, "input_ns", -1), 7);
    const ys_json *loss = ys_json_get(json, "loss");
    CHECK_INT(ys_json_size(loss), 3);
    CHECK(ys_json_number(ys_json_at(loss, 0), 0) == 0.1); /* 17 digits give the same double */
    CHECK(ys_json_number(ys_json_at(loss, 1), 0) == -DBL_MIN / 3);
    CHECK(ys_json_number(ys_json_at(loss, 2), 0) == 2);
    ys_json_free(json);
    ys_block_line_fini(&line);
}

static void losses_that_are_no_numbers_are_spelled(void)
{
    struct ys_block_line line;
    REQUIRE(ys_block_line_init(&line, 3) == YS_OK);
    line.loss[0] = NAN;
    line.loss[1] = HUGE_VAL;
    line.loss[2] = -HUGE_VAL;
    struct ys_block block = {.loss = line.loss, .loss_count = 3, .sent_bytes = -1, .exchange_ns = -1};
    ys_block_line_format(&line, 0, 3, &block);
    CHECK_HAS(line.text, "\"loss\":[\"nan\",\"inf\",\"-inf\"]}");
    ys_block_line_fini(&line);
}

static void a_block_without_work_has_no_losses(void)
{
    struct ys_block_line line;
    REQUIRE(ys_block_line_init(&line, 5) == YS_OK);
    struct ys_block block = {.loss = line.loss, .sent_bytes = -1, .exchange_ns = -1};
    ys_block_line_format(&line, 0, 5, &block);
    CHECK_HAS(line.text, "\"count\":5,");
    CHECK_HAS(line.text, "\"loss\":[]}");
    ys_block_line_fini(&line);
}

static void the_longest_block_fits_one_message(void)
{
    struct ys_block_line line;
    size_t steps = YS_PROTOCOL_BLOCK_LIMIT;
    REQUIRE(ys_block_line_init(&line, steps) == YS_OK);
    for (size_t i = 0; i < steps; i++)
        line.loss[i] = -DBL_MAX; /* 24 characters, as long as they come */
    struct ys_block block = ys_block_begin(&line);
    block.t_end_ns = block.input_ns = UINT64_MAX;
    block.loss_count = block.stamp_count = steps;
    for (size_t i = 0; i < steps; i++)
        block.began_ns[i] = block.ready_ns[i] = block.reduced_ns[i] = block.updated_ns[i] = UINT64_C(99999999999999);
    size_t size = ys_block_line_format(&line, INT64_MAX, INT64_MAX, &block);
    CHECK(size > (24 + 4 * 15) * steps && size - 1 <= YS_CHANNEL_LINE_LIMIT);
    ys_block_line_fini(&line);
}

static void the_longest_message_of_latencies_fits(void)
{
    static struct ys_latencies latencies;
    latencies = (struct ys_latencies){
        .first = INT64_MAX, .count = YS_LATENCIES_LIMIT, .t_start_ns = UINT64_MAX, .t_end_ns = UINT64_MAX};
    for (size_t i = 0; i < YS_LATENCIES_LIMIT; i++)
        latencies.latency_ns[i] = UINT64_MAX;
    size_t size = ys_latencies_format(&latencies);
    CHECK(strlen(latencies.text) == size && size > 20 * YS_LATENCIES_LIMIT && size < sizeof latencies.text);
    CHECK_TEXT(latencies.text + size - 24, ",18446744073709551615]}\n");
    CHECK(!strstr(latencies.text, "instructions"));
}

static void the_longest_message_of_pieces_fits(void)
{
    static const size_t tokens[] = {1, 3, 1000, YS_LATENCIES_LIMIT};
    static struct ys_latencies latencies;
    for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
        latencies = (struct ys_latencies){
            .tokens = tokens[i], .first = INT64_MAX, .t_start_ns = UINT64_MAX, .t_end_ns = UINT64_MAX, .counted = true};
        memset(latencies.latency_ns, 0xff, sizeof latencies.latency_ns);
        memset(latencies.instructions, 0xff, sizeof latencies.instructions);
        memset(latencies.prompt_ns, 0xff, sizeof latencies.prompt_ns);
        memset(latencies.token_ns, 0xff, sizeof latencies.token_ns);
        while (ys_latencies_have_room(&latencies))
            latencies.count++;
        CHECK_INT(latencies.count, YS_LATENCIES_LIMIT / tokens[i]);
        const size_t size = ys_latencies_format(&latencies);
        CHECK(strlen(latencies.text) == size && size < sizeof latencies.text && size - 1 <= YS_CHANNEL_LINE_LIMIT);
        CHECK_HAS(latencies.text, "\"instructions\":[18446744073709551615");
    }
}

static void latencies_read_back_equal(void)
{
    static struct ys_latencies latencies;
    latencies = (struct ys_latencies){
        .first = 7, .count = 2, .t_start_ns = 5, .t_end_ns = 30, .latency_ns = {11, UINT64_C(9007199254740993)}};
    CHECK_TEXT((ys_latencies_format(&latencies), latencies.text),
               "{\"type\":\"latencies\",\"first\":7,\"count\":2,\"t_start_ns\":5,\"t_end_ns\":30,"
               "\"latency_ns\":[11,9007199254740993]}\n");
    latencies.tokens = 2;
    latencies.prompt_ns[0] = 3;
    for (size_t i = 0; i < 4; i++)
        latencies.token_ns[i] = 4 + i;
    CHECK_TEXT((ys_latencies_format(&latencies), latencies.text),
               "{\"type\":\"latencies\",\"first\":7,\"count\":2,\"t_start_ns\":5,\"t_end_ns\":30,"
               "\"latency_ns\":[11,9007199254740993],\"prompt_ns\":[3,0],\"token_ns\":[4,5,6,7]}\n");
}

static void times_of_an_exchange_are_since_the_block_began(void)
{
    struct ys_block_line line;
    REQUIRE(ys_block_line_init(&line, 2) == YS_OK);
    struct ys_block block = ys_block_begin(&line);
    block.t_start_ns = 1000;
    block.t_end_ns = 5000;
    block.began_ns[0] = 1000;
    block.began_ns[1] = 2000;
    block.ready_ns[0] = 1100;
    block.ready_ns[1] = 2100;
    block.reduced_ns[0] = 1200;
    block.reduced_ns[1] = 2200;
    block.updated_ns[0] = 1300;
    block.updated_ns[1] = 1000 + UINT64_C(99999999999999);
    block.stamp_count = 2;
    ys_block_line_format(&line, 0, 2, &block);
    CHECK_HAS(line.text, "\"loss\":[],\"began_ns\":[0,1000],\"ready_ns\":[100,1100],\"reduced_ns\":[200,1200],"
                         "\"updated_ns\":[300,99999999999999]}");
    block.updated_ns[1]++;
    ys_block_line_format(&line, 0, 2, &block);
    CHECK(!strstr(line.text, "ready_ns"));
    block.updated_ns[1] = 2300;
    block.began_ns[0] = 999;
    ys_block_line_format(&line, 0, 2, &block);
    CHECK(!strstr(line.text, "ready_ns"));
    CHECK(!strstr(line.text, "sent_bytes"));
    block.sent_bytes = 96;
    ys_block_line_format(&line, 0, 2, &block);
    CHECK_HAS(line.text, "\"loss\":[],\"sent_bytes\":96}");
    block.exchange_ns = 0;
    ys_block_line_format(&line, 0, 2, &block);
    CHECK_HAS(line.text, "\"sent_bytes\":96,\"exchange_ns\":0}");
    ys_block_line_fini(&line);
}

static void running_out_of_memory_is_reported(void)
{
    for (long n = 1; n <= 3; n++) {
        struct ys_block_line line;
        ys_mem_fail_at(n);
        CHECK_INT(ys_block_line_init(&line, 3), YS_ENOMEM);
        ys_mem_fail_at(0);
    }
}

TAP_MAIN(TAP_CASE(a_block_reads_back_equal), TAP_CASE(losses_that_are_no_numbers_are_spelled),
         TAP_CASE(a_block_without_work_has_no_losses), TAP_CASE(the_longest_block_fits_one_message),
         TAP_CASE(the_longest_message_of_pieces_fits), TAP_CASE(latencies_read_back_equal),
         TAP_CASE(times_of_an_exchange_are_since_the_block_began), TAP_CASE(the_longest_message_of_latencies_fits),
         TAP_CASE(running_out_of_memory_is_reported))
