/* The plan: made and read by one table, what is usual where it says nothing, what is refused. */
#include "base/mem.h"
#include "protocol/plan.h"

#include "tap.h"
#include <math.h>
#include <string.h>

/* The members of docs/protocol.md in the order in which they are sent. */
static const char whole[] =
    "{\"format\":\"yardstick-plan\",\"version\":1,\"mode\":\"train\",\"model\":\"lenet\",\"graph\":\"/w/graph.json\","
    "\"weights\":\"/w/weights.safetensors\",\"input\":{\"kind\":\"file\",\"path\":\"/d/train.safetensors\","
    "\"order\":\"/w/order.safetensors\"},\"batch\":64,\"steps\":100,\"block\":10,\"eval_every\":50,\"seed\":-3,"
    "\"precision\":\"bf16\",\"loss\":\"softmax_cross_entropy\",\"label_smoothing\":0.1,\"optimizer\":{\"name\":\"sgd\","
    "\"momentum\":0.9,\"nesterov\":true,\"weight_decay\":0.0001,\"beta1\":0.9,\"beta2\":0.999,\"alpha\":0.99,"
    "\"epsilon\":1e-8,\"clip_norm\":null},\"threads\":2,\"cpus\":[0,2],\"device\":\"cpu\","
    "\"options\":{\"compile\":[true]},\"dist\":{\"rank\":0,\"world\":1,\"local_rank\":0,\"rendezvous\":null},"
    "\"folder\":\"/r\"}";

/* What every plan has. */
#define HEAD  "{\"format\":\"yardstick-plan\",\"version\":1"
#define LEAST HEAD ",\"mode\":\"train\",\"batch\":8,\"steps\":3,\"block\":1,\"folder\":\"/r\""

static ys_json *parsed(const char *text)
{
    ys_json *value = NULL;
    CHECK(ys_json_parse(text, strlen(text), "the test", &value) == YS_OK);
    return value;
}

static void a_plan_comes_back_as_it_went(void)
{
    struct ys_plan plan;
    ys_json *json = parsed(whole);
    CHECK_INT(ys_plan_read(json, &plan), YS_OK);
    ys_json *back = ys_record_json(&ys_plan_record, &plan);
    CHECK(ys_json_equal(back, json));
    void *there = ys_json_iter(json);
    for (void *here = ys_json_iter(back); here && there; here = ys_json_next(back, here)) {
        CHECK_TEXT(ys_json_iter_key(here), ys_json_iter_key(there)); /* in the same order */
        there = ys_json_next(json, there);
    }
    CHECK(!there);
    CHECK(plan.mode == YS_MODE_TRAIN && plan.precision == YS_PRECISION_BF16 && plan.optimizer.nesterov);
    CHECK(plan.cpus.count == 2 && ((int64_t *)plan.cpus.items)[1] == 2 && isnan(plan.optimizer.clip_norm));
    ys_json_free(back);
    ys_json_free(json);
    ys_plan_fini(&plan);
}

/* Others change their copies; what an adapter gets beside the members of every plan comes last. */
static void a_copy_is_changed_alone(void)
{
    struct ys_plan plan, copy;
    ys_json *json = parsed(whole);
    REQUIRE(ys_plan_read(json, &plan) == YS_OK && ys_plan_copy(&plan, &copy) == YS_OK);
    ys_json *same = ys_record_json(&ys_plan_record, &copy);
    CHECK(ys_json_equal(same, json));
    ys_set_text(&copy.state, "/s");
    ys_set_text(&copy.onnx, "/m");
    ys_set_text(&copy.scales, "/q");
    ys_set_text(&copy.graph, "/other");
    CHECK_TEXT(copy.graph, "/other");
    CHECK_TEXT(plan.graph, "/w/graph.json");
    CHECK(!plan.onnx && copy.cpus.items != plan.cpus.items);
    ys_json *sent = ys_record_json(&ys_plan_record, &copy);
    char *text = ys_json_dump(sent, YS_JSON_COMPACT);
    CHECK_HAS(text ? text : "", ",\"folder\":\"/r\",\"onnx\":\"/m\",\"scales\":\"/q\",\"state\":\"/s\"}");
    ys_free(text);
    ys_json_free(sent);
    ys_json_free(same);
    ys_json_free(json);
    ys_plan_fini(&copy);
    ys_plan_fini(&plan);
}

static void what_it_does_not_say_is_what_is_usual(void)
{
    struct ys_plan plan;
    ys_json *json = parsed(LEAST "}");
    CHECK_INT(ys_plan_read(json, &plan), YS_OK);
    CHECK(plan.mode == YS_MODE_TRAIN && plan.precision == YS_PRECISION_F32 && plan.steps == 3 && plan.batch == 8);
    CHECK(plan.eval_every == 0 && plan.threads == 1 && plan.dist.world == 1);
    CHECK(plan.optimizer.beta2 == 0.999 && plan.optimizer.momentum == 0 && isnan(plan.label_smoothing));
    CHECK(!plan.loss && !plan.graph && !plan.onnx && !plan.options && plan.requests == YS_FIELD_NONE);
    ys_plan_fini(&plan);
    ys_json_free(json);
}

static void what_there_is_not_is_unsupported_and_what_is_wrong_is_named(void)
{
    static const struct {
        const char *text, *error;
        ys_status status;
    } known[] = {
        {HEAD ",\"mode\":\"dream\"}", "mode \"dream\" is not yet available", YS_EUNSUPPORTED},
        {LEAST ",\"precision\":\"f8\"}", "precision \"f8\" is not yet available", YS_EUNSUPPORTED},
        {"{\"format\":\"yardstick-plan\",\"version\":2}", "plan version 2 is unknown; this adapter reads version 1",
         YS_EUNSUPPORTED},
        {"[]", "the plan must be an object with format \"yardstick-plan\"", YS_EPROTOCOL},
        {"{\"format\":\"yardstick-plan\"}", "the plan's \"version\" must be an integer", YS_EPROTOCOL},
        {HEAD ",\"batch\":8}", "the plan lacks \"mode\", which must be \"train\", \"infer\", \"attack\" or \"size\"",
         YS_EPROTOCOL},
        {HEAD ",\"mode\":\"train\",\"batch\":\"64\"}", "the plan: plan.batch is a text: must be a number",
         YS_EPROTOCOL},
        {HEAD ",\"mode\":\"train\"}", "the plan lacks \"batch\", which must be an integer", YS_EPROTOCOL},
        {HEAD ",\"mode\":\"train\",\"batch\":8,\"steps\":0}",
         "the plan's \"steps\" is 0; it must lie between 1 and 9223372036854775807", YS_EPROTOCOL},
        {HEAD ",\"mode\":\"infer\",\"batch\":8,\"steps\":1}",
         "the plan lacks \"folder\", the folder that answers are written to", YS_EPROTOCOL},
        {LEAST ",\"prompt\":4,\"tokens\":2}", "the plan's \"prompt\" is 4: there is one only in mode \"infer\"",
         YS_EPROTOCOL},
        {HEAD ",\"mode\":\"infer\",\"batch\":8,\"steps\":1,\"prompt\":0,\"tokens\":2}",
         "the plan's \"prompt\" is 0; it must lie between 1 and 2147483647", YS_EPROTOCOL},
        {HEAD ",\"mode\":\"infer\",\"batch\":8,\"steps\":1,\"prompt\":4}",
         "the plan lacks \"tokens\", which must be an integer", YS_EPROTOCOL},
        {HEAD ",\"mode\":\"infer\",\"batch\":8,\"steps\":1,\"prompt\":4,\"tokens\":4097}",
         "the plan's \"tokens\" is 4097; it must lie between 1 and 4096", YS_EPROTOCOL},
        {LEAST ",\"optimizer\":{\"momentum\":\"much\"}}", "the plan: optimizer.momentum is a text: must be a number",
         YS_EPROTOCOL},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct ys_plan plan;
        ys_json *json = parsed(known[i].text);
        CHECK_INT(ys_plan_read(json, &plan), known[i].status);
        CHECK_TEXT(ys_error(), known[i].error);
        CHECK(!plan.folder && plan.cpus.count == 0);
        ys_json_free(json);
    }
}

TAP_MAIN(TAP_CASE(a_plan_comes_back_as_it_went), TAP_CASE(a_copy_is_changed_alone),
         TAP_CASE(what_it_does_not_say_is_what_is_usual),
         TAP_CASE(what_there_is_not_is_unsupported_and_what_is_wrong_is_named))
