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
    "\"options\":{\"compile\":[true]},\"dist\":{\"rank\":0,\"world\":1,\"rendezvous\":null},\"folder\":\"/r\"}";

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
    ys_json *back = ys_plan_json(&plan);
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

static void what_it_does_not_say_is_what_is_usual(void)
{
    struct ys_plan plan;
    ys_json *json = parsed("{\"steps\":3}");
    CHECK_INT(ys_plan_read(json, &plan), YS_OK);
    CHECK(plan.mode == YS_MODE_TRAIN && plan.precision == YS_PRECISION_F32 && plan.steps == 3 && plan.batch == 1);
    CHECK(plan.block == 1 && plan.eval_every == 0 && plan.threads == 1 && plan.dist.world == 1);
    CHECK(plan.optimizer.beta2 == 0.999 && plan.optimizer.momentum == 0 && isnan(plan.label_smoothing));
    CHECK(!plan.loss && !plan.folder && !plan.options && plan.requests == YS_FIELD_NONE);
    ys_plan_fini(&plan);
    ys_json_free(json);
}

static void what_there_is_not_is_unsupported_and_what_is_wrong_is_damage(void)
{
    static const struct {
        const char *text, *error;
        ys_status status;
    } known[] = {
        {"{\"mode\":\"dream\"}", "mode \"dream\" is not yet available", YS_EUNSUPPORTED},
        {"{\"precision\":\"f8\"}", "precision \"f8\" is not yet available", YS_EUNSUPPORTED},
        {"{\"batch\":\"64\"}", "the plan: plan.batch is a text: must be a number", YS_EFORMAT},
        {"[]", "the plan: plan is no object", YS_EFORMAT},
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

TAP_MAIN(TAP_CASE(a_plan_comes_back_as_it_went), TAP_CASE(what_it_does_not_say_is_what_is_usual),
         TAP_CASE(what_there_is_not_is_unsupported_and_what_is_wrong_is_damage))
