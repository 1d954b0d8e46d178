/* `yardstick-builtin evaluate` and the arguments of the program. */
#include "unit/builtin/program.h"

/** `evaluate` of these files; the parsed object, or NULL. */
static ys_json *evaluate_files(const char *graph, const char *weights, const char *data, const char *batch,
                               int expected_code)
{
    struct ys_buf output = {0};
    ys_json *object = NULL;
    const char *const arguments[] = {"evaluate", "--graph",   graph, "--weights", weights, "--data",
                                     data,       "--threads", "2",   "--batch",   batch,   NULL};
    CHECK_INT(run_program(arguments, &output), expected_code);
    if (expected_code == 0)
        CHECK(ys_json_parse(ys_buf_text(&output), output.size, "evaluate", &object) == YS_OK);
    else
        CHECK_INT(output.size, 0);
    ys_buf_free(&output);
    return object;
}

static ys_json *evaluate(const char *weights, const char *batch, int expected_code)
{
    return evaluate_files(in_folder("graph.json"), weights, in_folder("train.safetensors"), batch, expected_code);
}

/** The loss that the adapter, in double, gives for batch 2 of these files, and with `mode` "eval" also that of
 * `evaluate` on the same rows. */
static double loss_of(const char *graph, const char *weights, const char *mode, const char *loss, double smoothing,
                      double *evaluated)
{
    struct program p;
    char text[80];
    if (!start(&p))
        return NAN;
    ys_json *plan = make_plan("f64");
    CHECK(ys_json_set_string(plan, "graph", graph) == YS_OK && ys_json_set_string(plan, "weights", weights) == YS_OK &&
          ys_json_set_string(plan, "loss", loss) == YS_OK &&
          ys_json_set_real(plan, "label_smoothing", smoothing) == YS_OK);
    ys_json *opened = open_plan(&p, plan);
    CHECK_TEXT(ys_json_get_text(opened, "message", ""), "");
    ys_json_free(opened);
    snprintf(text, sizeof text, "{\"type\":\"forward\",\"batch\":2,\"mode\":\"%s\"}", mode);
    struct ys_safetensors *file = tensors(&p, text);
    const struct ys_tensor *tensor = file ? ys_safetensors_find(file, "loss") : NULL;
    double value = tensor ? ys_tensor_value(tensor, 0) : NAN;
    ys_safetensors_close(file);
    CHECK_INT(stop(&p), 0);
    if (evaluated) {
        ys_json *object = evaluate_files(graph, weights, in_folder("forward-2-eval.safetensors"), "4", 0);
        *evaluated = ys_json_get_number(object, "loss", NAN);
        ys_json_free(object);
    }
    return value;
}

static void each_loss_is_evaluated_as_the_graph_says(void)
{
    static const struct {
        const char *loss;
        double smoothing;
    } cases[] = {{"softmax_cross_entropy", 0}, {"softmax_cross_entropy", 0.25}, {"mean_squared_error", 0}, {"nll", 0}};
    double values[4];
    if (!CHECK(make_fixture()))
        return;
    for (int i = 0; i < 4; i++) {
        ys_json *graph = NULL;
        REQUIRE(ys_json_read(in_folder("graph.json"), &graph) == YS_OK);
        CHECK(ys_json_set_string(graph, "loss", cases[i].loss) == YS_OK);
        if (cases[i].smoothing > 0)
            CHECK(ys_json_set_real(graph, "label_smoothing", cases[i].smoothing) == YS_OK);
        CHECK(ys_json_write(in_folder("loss.json"), graph) == YS_OK);
        ys_json_free(graph);
        double evaluated = NAN;
        values[i] = loss_of(in_folder("loss.json"), in_folder("weights.safetensors"), "eval", cases[i].loss,
                            cases[i].smoothing, &evaluated);
        /* Logits in float against double: as in saved_weights_are_evaluated. */
        CHECK_NEAR(evaluated, values[i], 2e-5 * (1 + fabs(values[i])));
        for (int k = 0; k < i; k++)
            CHECK(fabs(values[k] - values[i]) > 1e-3); /* so that none is taken for another */
    }
}

static void evaluation_takes_running_statistics(void)
{
    struct net n;
    struct ys_window three = {{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1};
    if (!CHECK(make_fixture()))
        return;
    net_input(&n, YS_U8, ROWS, 1, 8, 8);
    strcpy(n.value_names[0], "x");
    net_normalize(&n, 1, 1.0 / 255);
    net_conv(&n, 6, three, 0);
    net_batchnorm(&n, 1e-5, 0.1);
    net_relu(&n);
    net_flatten(&n);
    net_gemm(&n, 5, 1);
    ys_json *graph = ys_graph_to_json(&n.graph);
    CHECK(graph && ys_json_write(in_folder("norm.json"), graph) == YS_OK);
    CHECK(write_weights(&n, in_folder("norm.safetensors"), 1));
    ys_json_free(graph);
    double evaluated = NAN;
    double eval =
        loss_of(in_folder("norm.json"), in_folder("norm.safetensors"), "eval", "softmax_cross_entropy", 0, &evaluated);
    double train =
        loss_of(in_folder("norm.json"), in_folder("norm.safetensors"), "train", "softmax_cross_entropy", 0, NULL);
    CHECK_NEAR(evaluated, eval, 2e-5 * (1 + fabs(eval)));
    CHECK(fabs(eval - train) > 1e-3);
}

static void saved_weights_are_evaluated(void)
{
    struct program p;
    double losses[STEPS];
    if (!start_open(&p, "f32"))
        return;
    train(&p, 0, STEPS, losses);
    char text[256];
    snprintf(text, sizeof text, "{\"type\":\"save\",\"format\":\"safetensors\",\"path\":\"%s/saved.safetensors\"}",
             folder);
    ys_json *saved = request(&p, parse(text));
    CHECK_TEXT(ys_json_get_text(saved, "type", ""), "saved");
    CHECK(ys_json_get_int(saved, "bytes", 0) > 4 * 1445);
    ys_json_free(saved);
    CHECK_INT(stop(&p), 0);
    char path[128];
    snprintf(path, sizeof path, "%s/saved.safetensors", folder);
    ys_json *whole = evaluate(path, "250", 0), *parts = evaluate(path, "7", 0);
    CHECK_INT(ys_json_get_int(whole, "count", 0), ROWS);
    CHECK_INT(ys_json_get_int(whole, "correct", -1), ys_json_get_int(parts, "correct", -2));
    CHECK_NEAR(ys_json_get_number(whole, "accuracy", NAN), (double)ys_json_get_int(whole, "correct", -1) / ROWS, 1e-15);
    /* Logits of 256 products in float, of the order of one: some 256 * 2^-24 = 1.5e-5 at most. */
    CHECK_NEAR(ys_json_get_number(whole, "loss", NAN), ys_json_get_number(parts, "loss", NAN), 2e-5);
    ys_json_free(whole);
    ys_json_free(parts);
}

static void weights_of_nan_have_no_loss(void)
{
    char *path = program_path();
    if (!path || !CHECK(make_fixture())) {
        tap_skip("yardstick-builtin is not built");
        return;
    }
    ys_free(path);
    ys_json *result = evaluate(in_folder("nan.safetensors"), "250", 0);
    CHECK(result && ys_json_get(result, "loss") && ys_json_type_of(ys_json_get(result, "loss")) == YS_JSON_NULL);
    CHECK(ys_json_get_number(result, "accuracy", NAN) <= 1);
    ys_json_free(result);
}

static void wrong_arguments_exit_2(void)
{
    char *path = program_path();
    if (!path || !CHECK(make_fixture())) {
        tap_skip("yardstick-builtin is not built");
        return;
    }
    ys_free(path);
    static const char *const wrong[][4] = {{"--floor"},
                                           {"--peak", "--threads"},
                                           {"nonsense"},
                                           {"--peak", "--thr=1"},
                                           {"--peak", "word", "--threads=1"},
                                           {"evaluate"},
                                           {"evaluate", "--graph"},
                                           {"evaluate", "--threads", "0"}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ys_buf output = {0};
        const char *arguments[5] = {wrong[i][0], wrong[i][1], wrong[i][2], NULL};
        CHECK_INT(run_program(arguments, &output), 2);
        CHECK_INT(output.size, 0);
        ys_buf_free(&output);
    }
    ys_json_free(evaluate("/nonexistent/weights", "250", 2));
    struct ys_buf output = {0};
    CHECK_INT(run_program((const char *const[]){"--version", NULL}, &output), 0);
    CHECK_HAS(ys_buf_text(&output), "yardstick-builtin");
    ys_buf_free(&output);
}

TAP_MAIN(TAP_CASE(saved_weights_are_evaluated), TAP_CASE(each_loss_is_evaluated_as_the_graph_says),
         TAP_CASE(evaluation_takes_running_statistics), TAP_CASE(weights_of_nan_have_no_loss),
         TAP_CASE(wrong_arguments_exit_2))
