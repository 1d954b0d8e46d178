/* The engine as a page's script calls it, against the engine's own interface. */
#include "builtin/page/page_engine.h"
#include "unit/builtin/program.h"

#include "engine/engine.h"

static int open_page(const char *precision, int64_t threads, const char *backend)
{
    ys_json *plan = make_plan(precision);
    CHECK(ys_json_set_int(plan, "threads", threads) == YS_OK);
    char *text = ys_json_dump(plan, YS_JSON_COMPACT);
    const int status = ys_page_open(text, in_folder("graph.json"), backend);
    ys_free(text);
    ys_json_free(plan);
    return status;
}

/* Weights go through the page's place, parameter by parameter. */
static void hand_weights_over(struct ys_engine *from)
{
    struct ys_engine_param param;
    for (size_t p = 0; p < ys_engine_param_count(from); p++) {
        CHECK(ys_engine_param(from, p, &param) == 0);
        float *values = calloc(param.elements, sizeof *values), *place = ys_page_place((int)p, sizeof *values);
        CHECK(ys_engine_param_get(from, p, YS_ENGINE_F32, values) == 0);
        if (CHECK(place != NULL))
            memcpy(place, values, param.elements * sizeof *values);
        CHECK_INT(ys_page_set((int)p, sizeof *values), 0);
        free(values);
    }
}

static void check_backend(const char *precision, const char *backend)
{
    struct ys_engine_config config = {.batch = BATCH, .threads = 1, .backend = backend};
    struct ys_engine *engine = NULL;
    uint8_t x[BATCH * 64];
    int64_t y[BATCH] = {0};
    config.precision = strcmp(precision, "f64") == 0 ? YS_ENGINE_F64 : YS_ENGINE_F32;
    if (!make_fixture() || !CHECK(ys_engine_open(in_folder("graph.json"), &config, &engine) == 0))
        return;
    CHECK(ys_engine_load(engine, in_folder("weights.safetensors")) == 0);
    for (size_t i = 0; i < sizeof x; i++)
        x[i] = (uint8_t)(i * 37 % 251);
    if (!CHECK(open_page(precision, 1, backend) == 0))
        return;
    CHECK_TEXT(ys_page_backend(), backend);
    CHECK_INT(ys_page_real_bytes(), ys_engine_real_size(engine));
    CHECK_INT(ys_page_classes(), 5);
    hand_weights_over(engine);
    memcpy(ys_page_input(), x, sizeof x);
    CHECK(ys_engine_forward(engine, x, y, YS_ENGINE_EVAL, NULL) == 0);
    CHECK_INT(ys_page_infer(), 0);
    CHECK(memcmp(ys_engine_logits(engine), ys_page_logits(), BATCH * 5 * ys_engine_real_size(engine)) == 0);
    ys_engine_close(engine);
}

static void a_page_has_the_engines_numbers(void)
{
    check_backend("f32", "ref");
    check_backend("f32", "simd");
    check_backend("f64", "ref");
}

static void parameters_are_handed_out_in_either_format(void)
{
    const int bias = 3; /* of the dense layer: 5 numbers */
    if (!make_fixture() || !CHECK(open_page("f64", 1, "ref") == 0))
        return;
    float *values = ys_page_place(bias, sizeof *values);
    for (int i = 0; values && i < 5; i++)
        values[i] = 0.5f * (float)i;
    CHECK_INT(ys_page_set(bias, sizeof *values), 0);
    double *wide = ys_page_place(bias, sizeof *wide);
    CHECK_INT(ys_page_get(bias, sizeof *wide), 0);
    CHECK_NEAR(wide[3], 1.5, 0);
    CHECK(ys_page_place(4, 8) == NULL && ys_page_place(-1, 8) == NULL);
}

static void operators_are_those_of_the_engine(void)
{
    bool has_convolution = false;
    int count = 0;
    for (const char *op; (op = ys_page_op(count)); count++)
        has_convolution |= strcmp(op, "Conv") == 0;
    CHECK(has_convolution && count > 30 && !ys_page_op(count + 1));
}

static void what_a_page_has_not_is_refused(void)
{
    if (!make_fixture())
        return;
    CHECK_INT(open_page("f32", 2, "ref"), YS_EUNSUPPORTED);
    CHECK_HAS(ys_page_error(), "threads 2");
    CHECK_INT(open_page("f64", 1, "simd"), YS_EUNSUPPORTED);
    CHECK_HAS(ys_page_error(), "simd");
    CHECK(ys_page_open("{", in_folder("graph.json"), "") != YS_OK);
    CHECK_HAS(ys_page_error(), "the plan");
}

TAP_MAIN(TAP_CASE(a_page_has_the_engines_numbers), TAP_CASE(parameters_are_handed_out_in_either_format),
         TAP_CASE(operators_are_those_of_the_engine), TAP_CASE(what_a_page_has_not_is_refused))
