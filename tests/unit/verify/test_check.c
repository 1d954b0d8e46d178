#include "files.h"
#include "tap.h"
#include "verify/check.h"

/* One dense layer, 2 to 3, whose numbers are made up: the checks compare files, they do not compute. */
static const char GRAPH[] =
    "{\"format\":\"yardstick-graph\",\"version\":1,\"name\":\"tiny\",\"inputs\":[{\"name\":\"x\",\"shape\":[\"N\",2],"
    "\"dtype\":\"F32\"}],"
    "\"nodes\":[{\"op\":\"Gemm\",\"name\":\"d\",\"in\":[\"x\"],\"out\":[\"logits\"],\"params\":{\"weight\":\"d."
    "weight\",\"bias\":\"d.bias\"}}],"
    "\"params\":[{\"name\":\"d.weight\",\"shape\":[3,2],\"role\":\"weight\",\"init\":{\"dist\":\"constant\",\"value\":"
    "0.5}},"
    "{\"name\":\"d.bias\",\"shape\":[3],\"role\":\"weight\",\"init\":{\"dist\":\"constant\",\"value\":0}}],"
    "\"output\":\"logits\",\"loss\":\"softmax_cross_entropy\"}";

struct world {
    struct ys_graph *graph;
    struct ys_evidence oracle, meaning, numerics;
    char weights[256];
};

static double w0[6] = {.5, .5, .5, .5, .5, .5}, b0[3], x[2] = {1, 2}, logits[3] = {1, 2, 3}, loss = 0.25;
static double gw[6] = {1, 2, 3, 4, 5, 6}, gb[3] = {1, 1, 1}, w1[6] = {.4, .3, .2, .1, 0, -.1}, b1[3] = {-.1, -.1, -.1};

static struct ys_safetensors *weights_file(const char *name, double *w, double *b)
{
    struct ys_tensor tensors[] = {vector64("d.weight", w, 6), vector64("d.bias", b, 3)};
    tensors[0].rank = 2;
    tensors[0].shape[0] = 3;
    tensors[0].shape[1] = 2;
    return files_make(name, tensors, 2);
}

static void fill(struct ys_evidence *said, const char *who)
{
    static int64_t label = 1;
    char name[64];
    *said = (struct ys_evidence){.parameters = 9, .multiply_adds = 6};
    struct ys_tensor forward[] = {
        vector64("x", x, 2),
        vector64("logits", logits, 3),
        scalar64("loss", &loss),
        {.name = "y", .dtype = YS_I64, .rank = 1, .shape = {1}, .data = &label, .size_bytes = sizeof label}};
    for (int b = 0; b < YS_VERIFY_BATCHES; b++) {
        snprintf(name, sizeof name, "%s-forward-%d", who, b);
        said->forward[b] = files_make(name, forward, 4);
    }
    struct ys_tensor backward[] = {vector64("grad.d.weight", gw, 6), vector64("grad.d.bias", gb, 3),
                                   scalar64("loss", &loss)};
    snprintf(name, sizeof name, "%s-backward", who);
    said->backward = files_make(name, backward, 3);
    snprintf(name, sizeof name, "%s-start", who);
    said->start = weights_file(name, w0, b0);
    snprintf(name, sizeof name, "%s-step1", who);
    said->step1 = weights_file(name, w1, b1);
    snprintf(name, sizeof name, "%s-step10", who);
    said->step10 = weights_file(name, w1, b1);
}

/* The framework's answers may differ from the oracle's by what stands at *value while `meaning` is written. */
static bool make_world(struct world *world, double *value, double moved)
{
    ys_json *json = NULL;
    *world = (struct world){0};
    snprintf(world->weights, sizeof world->weights, "%s", files_path("initial"));
    ys_safetensors_close(weights_file("initial", w0, b0));
    if (ys_json_parse(GRAPH, sizeof GRAPH - 1, "graph", &json) != YS_OK ||
        ys_graph_from_json(json, "graph", &world->graph) != YS_OK) {
        printf("# %s\n", ys_error());
        return false;
    }
    ys_json_free(json);
    fill(&world->oracle, "oracle");
    fill(&world->numerics, "numerics");
    double kept = value ? *value : 0;
    if (value)
        *value = moved;
    fill(&world->meaning, "meaning");
    if (value)
        *value = kept;
    return true;
}

static ys_json *judge(struct world *world)
{
    static const struct ys_numerics twins = {.forward = {.error = 1e-6}, .gradients = {.error = 1e-2}};
    ys_json *proof = ys_json_object();
    if (ys_check_all(world->graph, &world->meaning, &world->numerics, &world->oracle, &twins, world->weights, true,
                     proof) != YS_OK)
        printf("# %s\n", ys_error());
    ys_evidence_fini(&world->oracle);
    ys_evidence_fini(&world->meaning);
    ys_evidence_fini(&world->numerics);
    ys_graph_free(world->graph);
    return proof;
}

static bool passes(const ys_json *proof, const char *name)
{
    const ys_json *checks = ys_json_get(proof, "checks");
    for (size_t i = 0; i < ys_json_size(checks); i++)
        if (strcmp(ys_json_get_text(ys_json_at(checks, i), "name", ""), name) == 0)
            return ys_json_get_bool(ys_json_at(checks, i), "pass", false);
    return false;
}

static void equal_answers_pass(void)
{
    struct world world;
    REQUIRE(make_world(&world, NULL, 0));
    ys_json *proof = judge(&world);
    CHECK_TEXT(ys_json_get_text(proof, "verdict", ""), "pass");
    CHECK_INT(ys_json_size(ys_json_get(proof, "checks")), 11);
    CHECK(ys_json_get_bool(proof, "lasting", false));
    ys_json_free(proof);
}

static void fails_at(double *value, double moved, const char *check, const char *diagnosis)
{
    struct world world;
    REQUIRE(make_world(&world, value, moved));
    ys_json *proof = judge(&world);
    CHECK_TEXT(ys_json_get_text(proof, "verdict", ""), "fail");
    tap_check(!passes(proof, check), __LINE__, "%s passed", check);
    CHECK_HAS(ys_json_get_text(proof, "reason", ""), diagnosis);
    ys_json_free(proof);
}

static void each_difference_fails_its_own_check(void)
{
    fails_at(&w0[3], 0.500001, "initial weights", "initial weights");
    fails_at(&x[1], 3, "batches", "batches");
    fails_at(&logits[0], 1 + 1e-8, "logits", "forward pass");
    fails_at(&loss, 0.25 * (1 + 1e-8), "loss", "loss");
    fails_at(&gw[5], 6 * (1 + 1e-7), "gradients", "gradients");
    fails_at(&w1[0], 0.4 * (1 + 1e-7), "weights after 1 step", "optimizer");
}

static void differences_below_the_bound_pass(void)
{
    struct world world;
    REQUIRE(make_world(&world, &logits[2], 3 * (1 + 1e-11)));
    ys_json *proof = judge(&world);
    CHECK_TEXT(ys_json_get_text(proof, "verdict", ""), "pass");
    ys_json_free(proof);
}

static void another_number_of_parameters_fails(void)
{
    struct world world;
    REQUIRE(make_world(&world, NULL, 0));
    world.numerics.parameters = 8;
    ys_json *proof = judge(&world);
    CHECK(!passes(proof, "parameters"));
    CHECK_HAS(ys_json_get_text(proof, "reason", ""), "another network");
    ys_json_free(proof);
}

static void without_double_the_proof_is_weak(void)
{
    struct world world;
    REQUIRE(make_world(&world, NULL, 0));
    ys_evidence_fini(&world.meaning);
    ys_json *proof = judge(&world);
    CHECK_TEXT(ys_json_get_text(proof, "verdict", ""), "weak");
    ys_json_free(proof);
}

static void too_little_precision_fails_the_numerics_alone(void)
{
    struct world world;
    REQUIRE(make_world(&world, NULL, 0));
    ys_safetensors_close(world.numerics.forward[0]);
    double kept = logits[1];
    logits[1] = 2.01; /* an error of 0.0033 where the twins reached 1e-6, and 1e-2 in a gradient */
    struct ys_evidence other;
    fill(&other, "coarse");
    logits[1] = kept;
    world.numerics.forward[0] = other.forward[0];
    other.forward[0] = NULL;
    ys_evidence_fini(&other);
    ys_json *proof = judge(&world);
    CHECK_TEXT(ys_json_get_text(proof, "verdict", ""), "fail");
    CHECK(!passes(proof, "logits and loss"));
    CHECK(passes(proof, "logits"));
    ys_json_free(proof);
}

static void an_adapter_that_broke_fails_and_is_not_kept(void)
{
    struct world world;
    REQUIRE(make_world(&world, NULL, 0));
    world.numerics.status = ys_strdup("crashed");
    world.numerics.message = ys_strdup("signal 11");
    ys_json *proof = judge(&world);
    CHECK_TEXT(ys_json_get_text(proof, "verdict", ""), "fail");
    CHECK_HAS(ys_json_get_text(proof, "reason", ""), "crashed: signal 11");
    CHECK(!ys_json_get_bool(proof, "lasting", true));
    ys_json_free(proof);
}

static void an_adapter_that_lacks_an_operator_has_no_proof(void)
{
    struct world world;
    REQUIRE(make_world(&world, NULL, 0));
    world.numerics.status = ys_strdup("unsupported");
    world.numerics.message = ys_strdup("no Conv");
    ys_json *proof = judge(&world);
    CHECK_TEXT(ys_json_get_text(proof, "verdict", ""), "none");
    ys_json_free(proof);
}

TAP_MAIN(TAP_CASE(equal_answers_pass), TAP_CASE(each_difference_fails_its_own_check),
         TAP_CASE(differences_below_the_bound_pass), TAP_CASE(another_number_of_parameters_fails),
         TAP_CASE(without_double_the_proof_is_weak), TAP_CASE(too_little_precision_fails_the_numerics_alone),
         TAP_CASE(an_adapter_that_broke_fails_and_is_not_kept),
         TAP_CASE(an_adapter_that_lacks_an_operator_has_no_proof))
