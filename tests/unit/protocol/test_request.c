/* What yardstick asks, to the byte. */
#include "base/mem.h"
#include "protocol/request.h"

#include "tap.h"
#include <string.h>

/* Frees `message`. */
static void check_sent(ys_json *message, const char *text)
{
    char *sent = message ? ys_json_dump(message, YS_JSON_COMPACT) : NULL;
    CHECK_TEXT(sent ? sent : "no message", text);
    ys_free(sent);
    ys_json_free(message);
}

static void messages_are_those_of_the_protocol(void)
{
    check_sent(ys_request("reset"), "{\"type\":\"reset\"}");
    check_sent(ys_request_pass("forward", 3, "eval"), "{\"type\":\"forward\",\"batch\":3,\"mode\":\"eval\"}");
    check_sent(ys_request_step(-1), "{\"type\":\"step\",\"n\":-1}");
    check_sent(ys_request_train(0, 4, 2), "{\"type\":\"train\",\"from\":0,\"to\":4,\"block\":2}");
    check_sent(ys_request_save("/r/w", NULL), "{\"type\":\"save\",\"format\":\"safetensors\",\"path\":\"/r/w\"}");
    check_sent(ys_request_save("/r/w", "f64"),
               "{\"type\":\"save\",\"format\":\"safetensors\",\"dtype\":\"f64\",\"path\":\"/r/w\"}");
}

static void a_plan_is_sent_whole(void)
{
    struct ys_plan plan;
    ys_plan_init(&plan);
    ys_set_text(&plan.onnx, "/m");
    ys_set_text(&plan.folder, "/r");
    ys_json *open = ys_request_open(&plan), *sent = ys_record_json(&ys_plan_record, &plan);
    CHECK_TEXT(ys_json_get_text(open, "type", ""), "open");
    CHECK(sent && ys_json_equal(ys_json_get(open, "plan"), sent));
    CHECK_TEXT(ys_json_get_text(sent, "onnx", ""), "/m");
    ys_json_free(sent);
    ys_json_free(open);
    ys_plan_fini(&plan);
}

static void without_memory_there_is_no_message(void)
{
    struct ys_plan plan;
    ys_plan_init(&plan);
    int failed = 0;
    for (long n = 1; n < 40; n++) {
        ys_mem_fail_at(n);
        ys_json *message = ys_request_open(&plan);
        ys_mem_fail_at(0);
        failed += !message;
        CHECK(!message || ys_json_get(message, "plan"));
        ys_json_free(message);
    }
    CHECK(failed > 10);
    ys_plan_fini(&plan);
}

TAP_MAIN(TAP_CASE(messages_are_those_of_the_protocol), TAP_CASE(a_plan_is_sent_whole),
         TAP_CASE(without_memory_there_is_no_message))
