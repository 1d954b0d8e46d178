/* Quantised networks as ONNX files: which operators stand where, and what is stored as integers. */
#include "onnx/write/onnx_write.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "graph/builder.h"
#include "quant/quant_plan.h"
#include "tap.h"
#include "unit/base/scratch.h"

/* n - a (Conv) - r (Relu) - p (MaxPool) - f - fc (Gemm) */
static struct ys_graph *network(void)
{
    const int64_t row[] = {2, 6, 6};
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (ys_build_new("small", row, 3, YS_U8, &b) != YS_OK)
        return NULL;
    int v = ys_build_normalize(b, ys_build_input(b), 1, 128, 64, "n");
    v = ys_build_maxpool(b, ys_build_relu(b, ys_build_conv(b, v, 4, 3, 1, 1, "a"), "r"), 2, 2, 0, "p");
    CHECK(ys_build_finish(b, ys_build_gemm(b, ys_build_flatten(b, v, "f"), 3, "fc"), &graph) == YS_OK);
    return graph;
}

static void make_scales(const struct ys_graph *graph, int kind, struct ys_scales *scales)
{
    struct ys_quant_plan plan;
    ys_scales_init(scales);
    scales->rule = (struct ys_quant_rule){.kind = kind,
                                          .calibration = kind == YS_QUANT_STATIC ? YS_QUANT_MINMAX : YS_NAME_NONE,
                                          .percentile = NAN,
                                          .rows = kind == YS_QUANT_STATIC ? 1 : YS_FIELD_NONE};
    REQUIRE(ys_quant_plan_make(graph, &scales->rule, &plan) == YS_OK);
    for (size_t v = 0; v < graph->value_count; v++)
        if (plan.scale_of[v] == (int)v) {
            struct ys_activation_scale *at = ys_scales_add_activation(scales);
            at->value = ys_strdup(graph->values[v].name);
            at->scale = 0.25;
            at->zero_point = 7;
        }
    for (size_t n = 0; n < graph->node_count; n++) {
        if (graph->nodes[n].weight < 0)
            continue;
        const struct ys_param *param = &graph->params[graph->nodes[n].weight];
        struct ys_weight_scale *at = ys_scales_add_weight(scales);
        double *all = ys_alloc((size_t)param->shape[0], sizeof *all);
        for (int64_t c = 0; c < param->shape[0]; c++)
            all[c] = 0.125;
        at->param = ys_strdup(param->name);
        at->scales = (struct ys_list){all, (size_t)param->shape[0]};
    }
    ys_quant_plan_fini(&plan);
}

/* How often `text` stands among the bytes. */
static size_t count_of(const struct ys_buf *bytes, const char *text)
{
    size_t found = 0;
    const size_t length = strlen(text);
    for (size_t i = 0; i + length <= bytes->size; i++)
        found += memcmp(bytes->data + i, text, length) == 0;
    return found;
}

static void write_it(int kind, struct ys_buf *bytes)
{
    struct ys_folded folded = {.graph = network()};
    struct ys_scales scales;
    REQUIRE(folded.graph);
    folded.values = ys_alloc(folded.graph->param_count, sizeof *folded.values);
    for (size_t p = 0; p < folded.graph->param_count; p++) {
        const int64_t count = ys_param_elements(&folded.graph->params[p]);
        folded.values[p] = ys_alloc((size_t)count, sizeof *folded.values[p]);
        for (int64_t i = 0; i < count; i++)
            folded.values[p][i] = 0.125F * (float)(i % 8);
    }
    make_scales(folded.graph, kind, &scales);
    CHECK(ys_onnx_write_quantised(&folded, &scales, scratch("int8.onnx")) == YS_OK);
    CHECK(ys_fs_read(scratch("int8.onnx"), 1 << 20, bytes) == YS_OK);
    ys_scales_fini(&scales);
    ys_folded_fini(&folded);
}

static void static_networks_have_integers_around_each_quantised_value(void)
{
    struct ys_buf bytes = {0};
    write_it(YS_QUANT_STATIC, &bytes);
    /* n, r, p, f and fc; each of their operators once as an operator and nowhere as a name. */
    CHECK_INT(count_of(&bytes, "\x22\x0eQuantizeLinear"), 5);
    CHECK_INT(count_of(&bytes, "\x22\x10"
                               "DequantizeLinear"),
              5 + 4);                                                    /* and two weights, two biases */
    CHECK_INT(count_of(&bytes, "\x01\x02\x03\x04\x05\x06\x07"), 9 + 13); /* in 72 weights of a and 108 of fc */
    CHECK_INT(count_of(&bytes, "fc/quantised/numbers"), 3);              /* made, called so, and the output */
    CHECK(bytes.size < 6000);
    ys_buf_free(&bytes);
}

static void dynamic_networks_scale_what_products_read(void)
{
    struct ys_buf bytes = {0};
    write_it(YS_QUANT_DYNAMIC, &bytes);
    CHECK_INT(count_of(&bytes, "\x22\x15"
                               "DynamicQuantizeLinear"),
              2);
    CHECK_INT(count_of(&bytes, "\x22\x0b"
                               "ConvInteger"),
              1);
    CHECK_INT(count_of(&bytes, "\x22\x0dMatMulInteger"), 1);
    CHECK_INT(count_of(&bytes, "DequantizeLinear"), 0);
    ys_buf_free(&bytes);
}

static void of_weights_alone_activations_stay(void)
{
    struct ys_buf bytes = {0};
    write_it(YS_QUANT_WEIGHTS, &bytes);
    CHECK_INT(count_of(&bytes, "\x22\x10"
                               "DequantizeLinear"),
              2);
    CHECK_INT(count_of(&bytes, "\x22\x0eQuantizeLinear"), 0);
    ys_buf_free(&bytes);
}

TAP_MAIN(TAP_CASE(static_networks_have_integers_around_each_quantised_value),
         TAP_CASE(dynamic_networks_scale_what_products_read), TAP_CASE(of_weights_alone_activations_stay))
