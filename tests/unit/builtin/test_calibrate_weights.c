/* `yardstick-builtin calibrate`: its scales are those that the numbers of the network have. */
#include "graph/scales.h"
#include "unit/builtin/program.h"

/** `calibrate` of the fixture with such words behind it; false: it fails, as `code` says. */
static bool calibrate(const char *const *words, int code, struct ys_scales *scales)
{
    const char *arguments[16] = {"calibrate",
                                 "--graph",
                                 in_folder("graph.json"),
                                 "--weights",
                                 in_folder("weights.safetensors"),
                                 "--data",
                                 in_folder("train.safetensors")};
    struct ys_buf output = {0};
    ys_json *json = NULL;
    for (size_t i = 0; words[i]; i++)
        arguments[7 + i] = words[i];
    ys_scales_init(scales);
    CHECK_INT(run_program(arguments, &output), code);
    bool is_read = code == 0 && ys_json_parse(ys_buf_text(&output), output.size, "calibrate", &json) == YS_OK &&
                   ys_scales_from_json(json, "calibrate", scales) == YS_OK;
    CHECK(is_read == (code == 0));
    ys_json_free(json);
    ys_buf_free(&output);
    return is_read;
}

/** Of a network of normalize, Conv with Relu, MaxPool, Flatten, Gemm. */
static void static_scales_are_of_three_values(void)
{
    struct ys_scales scales, again, other;
    REQUIRE(make_fixture());
    REQUIRE(calibrate((const char *const[]){"--rows", "30", "--threads", "2", NULL}, 0, &scales));
    REQUIRE(calibrate((const char *const[]){"--rows", "30", "--threads", "1", NULL}, 0, &again));
    CHECK_INT(scales.activations.count, 3);
    CHECK_INT(scales.weights.count, 2);
    CHECK_INT(scales.rule.rows, 30);
    CHECK_INT(scales.rule.calibration, YS_QUANT_MINMAX);
    const struct ys_activation_scale *at = scales.activations.items, *twice = again.activations.items;
    for (size_t i = 0; i < 3; i++)
        CHECK_NEAR(at[i].scale, twice[i].scale, 1e-5 * at[i].scale); /* sums of floats on other threads */
    CHECK_INT(at[1].zero_point, 0);                                  /* behind a Relu */
    /* x / 255 less the mean, over the deviation: pixels of 30 rows of 64 reach nearly from 0 to 255. */
    struct net n;
    fixture_net(&n);
    CHECK(at[0].scale * 255 * n.deviation[0] > 0.9 && at[0].scale * 255 * n.deviation[0] <= 1 + 1e-6);
    CHECK_INT(((const struct ys_weight_scale *)scales.weights.items)[0].scales.count, 16);
    REQUIRE(calibrate((const char *const[]){"--rows", "30", "--calibration", "percentile(90)", "--scheme", "per-tensor",
                                            "--range=reduced", NULL},
                      0, &other));
    const struct ys_activation_scale *cut = other.activations.items;
    CHECK(cut[1].scale < at[1].scale && cut[2].scale < at[2].scale);
    CHECK_INT(((const struct ys_weight_scale *)other.weights.items)[0].scales.count, 1);
    ys_scales_fini(&scales);
    ys_scales_fini(&again);
    ys_scales_fini(&other);
}

static void other_kinds_have_weights_alone(void)
{
    static const char *const kinds[] = {"dynamic", "weights"};
    REQUIRE(make_fixture());
    for (size_t i = 0; i < 2; i++) {
        struct ys_scales scales;
        REQUIRE(calibrate((const char *const[]){"--quant", kinds[i], NULL}, 0, &scales));
        CHECK_INT(scales.activations.count, 0);
        CHECK_INT(scales.weights.count, 2);
        CHECK_INT(scales.rule.rows, YS_FIELD_NONE);
        ys_scales_fini(&scales);
    }
}

static void what_cannot_be_calibrated_is_refused(void)
{
    static const char *const refused[][3] = {{"--rows", "41"},         {"--rows", "0"},
                                             {"--quant", "int8"},      {"--calibration", "percentile(40)"},
                                             {"--calibration", "max"}, {"--calibration", "percentile(99"},
                                             {"--range", "half"},      {"--graph", "/nowhere"}};
    REQUIRE(make_fixture());
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct ys_scales scales;
        CHECK(!calibrate(refused[i], 2, &scales));
        ys_scales_fini(&scales);
    }
}

/** The adapter's answer to batch 2 with these scales: whether each logit is a whole number of steps of the output. */
static bool answers_in_steps(const struct ys_scales *scales, double *furthest)
{
    struct program p;
    bool are_steps = false;
    if (!start(&p))
        return false;
    ys_json *plan = make_plan("f32");
    CHECK(ys_json_set_string(plan, "mode", "infer") == YS_OK &&
          ys_json_set_string(plan, "scales", in_folder("scales.json")) == YS_OK);
    ys_json *opened = open_plan(&p, plan);
    CHECK_TEXT(ys_json_get_text(opened, "message", ""), "");
    ys_json_free(opened);
    struct ys_safetensors *file = tensors(&p, "{\"type\":\"forward\",\"batch\":2,\"mode\":\"eval\"}");
    const struct ys_tensor *logits = file ? ys_safetensors_find(file, "logits") : NULL;
    const struct ys_activation_scale *out = scales->activations.items;
    out += scales->activations.count - 1;
    for (size_t i = 0; logits && i < ys_tensor_count(logits); i++) {
        const double steps = ys_tensor_value(logits, i) / out->scale;
        *furthest = fmax(*furthest, fabs(steps - nearbyint(steps)));
        are_steps = true;
    }
    ys_safetensors_close(file);
    CHECK_INT(stop(&p), 0);
    return are_steps;
}

/** Of weights that are no noise a byte keeps what matters: the loss is that of float within the steps of the logits. */
static void adapter_and_evaluation_take_the_scales(void)
{
    const char *arguments[] = {"evaluate",
                               "--graph",
                               in_folder("graph.json"),
                               "--weights",
                               in_folder("weights.safetensors"),
                               "--data",
                               in_folder("train.safetensors"),
                               "--threads",
                               "2",
                               "--scales",
                               NULL,
                               NULL};
    double loss[2] = {NAN, NAN}, furthest = 0;
    struct ys_scales scales;
    REQUIRE(make_fixture());
    REQUIRE(calibrate((const char *const[]){"--rows", "40", NULL}, 0, &scales));
    CHECK(ys_scales_write(in_folder("scales.json"), &scales) == YS_OK);
    for (int with = 0; with < 2; with++) {
        struct ys_buf output = {0};
        ys_json *object = NULL;
        arguments[2] = in_folder("graph.json"); /* whose room is used again and again */
        arguments[4] = in_folder("weights.safetensors");
        arguments[6] = in_folder("train.safetensors");
        arguments[9] = with ? "--scales" : NULL;
        arguments[10] = with ? in_folder("scales.json") : NULL;
        CHECK_INT(run_program(arguments, &output), 0);
        CHECK(ys_json_parse(ys_buf_text(&output), output.size, "evaluate", &object) == YS_OK);
        loss[with] = ys_json_get_number(object, "loss", NAN);
        ys_json_free(object);
        ys_buf_free(&output);
    }
    const struct ys_activation_scale *out = scales.activations.items;
    CHECK(loss[0] != loss[1]);
    CHECK_NEAR(loss[1], loss[0],
               4 * out[2].scale); /* a logit is off by some steps; the loss by at most twice as much */
    CHECK(answers_in_steps(&scales, &furthest));
    CHECK(furthest < 1e-4); /* a product rounded to float, of up to 255 steps */
    ys_scales_fini(&scales);
}

TAP_MAIN(TAP_CASE(adapter_and_evaluation_take_the_scales), TAP_CASE(static_scales_are_of_three_values),
         TAP_CASE(other_kinds_have_weights_alone), TAP_CASE(what_cannot_be_calibrated_is_refused))
