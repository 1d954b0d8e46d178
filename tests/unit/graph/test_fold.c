/* Batch normalisation folded into the product in front of it, by hand. */
#include "base/mem.h"
#include "graph/builder.h"
#include "graph/fold.h"
#include "tap.h"
#include <stdlib.h>
#include <unistd.h>

/** The parameters of `graph`, each element `values(param, index)`, as a file that is gone again but for what is open.
 */
static struct ys_safetensors *weights_of(const struct ys_graph *graph, float (*values)(const char *, int64_t))
{
    struct ys_tensor tensors[16];
    struct ys_safetensors *file = NULL;
    char path[] = "/tmp/ys_fold_XXXXXX";
    const int fd = mkstemp(path);
    for (size_t p = 0; p < graph->param_count; p++) {
        const struct ys_param *param = &graph->params[p];
        const int64_t count = ys_param_elements(param);
        float *data = ys_alloc((size_t)count, sizeof *data);
        for (int64_t i = 0; i < count; i++)
            data[i] = values(param->name, i);
        tensors[p] = (struct ys_tensor){.name = param->name,
                                        .dtype = YS_F32,
                                        .rank = param->rank,
                                        .data = data,
                                        .size_bytes = (size_t)count * sizeof *data};
        memcpy(tensors[p].shape, param->shape, sizeof tensors[p].shape);
    }
    CHECK(ys_safetensors_write(path, tensors, graph->param_count, NULL) == YS_OK);
    CHECK(ys_safetensors_load(path, &file) == YS_OK);
    for (size_t p = 0; p < graph->param_count; p++)
        ys_free((void *)(uintptr_t)tensors[p].data);
    close(fd);
    unlink(path);
    return file;
}

/** conv (no bias) - bn1 - relu - dense (bias) - bn2; and a normalisation whose input has two readers stays. */
static struct ys_graph *network(bool read_twice)
{
    const int64_t row[] = {2, 3, 3};
    struct ys_build *b;
    struct ys_graph *graph = NULL;
    if (ys_build_new("folding", row, 3, YS_F32, &b) != YS_OK)
        return NULL;
    const int conv = ys_build_conv_plain(b, ys_build_input(b), 2, 3, 1, 1, 1, "conv");
    int v = ys_build_batchnorm(b, conv, "bn1");
    v = read_twice ? ys_build_add(b, v, conv, "relu") : ys_build_relu(b, v, "relu");
    v = ys_build_gemm(b, ys_build_flatten(b, v, "flatten"), 3, "fc");
    CHECK(ys_build_finish(b, ys_build_batchnorm(b, v, "bn2"), &graph) == YS_OK);
    return graph;
}

static float powers(const char *param, int64_t i)
{
    if (strstr(param, "running_var"))
        return 4 - 1e-5f; /* with epsilon: a deviation of 2 */
    if (strcmp(param, "bn1.weight") == 0)
        return i == 0 ? 2 : -6;
    if (strcmp(param, "bn2.weight") == 0)
        return 4;
    if (strstr(param, "running_mean"))
        return 3;
    return strstr(param, ".bias") ? 10 : (float)(i + 1);
}

static int param_of(const struct ys_graph *graph, const char *name)
{
    for (size_t p = 0; p < graph->param_count; p++)
        if (strcmp(graph->params[p].name, name) == 0)
            return (int)p;
    return -1;
}

static void products_take_the_normalisation_behind_them(void)
{
    struct ys_graph *graph = network(false);
    REQUIRE(graph);
    struct ys_safetensors *weights = weights_of(graph, powers);
    struct ys_folded folded;
    REQUIRE(weights && ys_graph_fold(graph, weights, &folded) == YS_OK);
    const struct ys_graph *g = folded.graph;
    CHECK_INT(g->node_count, 4);
    CHECK_INT(g->param_count, 4);
    CHECK_TEXT(g->values[g->output].name, "bn2");
    CHECK_TEXT(g->nodes[g->values[g->output].producer].name, "fc");
    CHECK_TEXT(g->values[g->nodes[0].out[0]].name, "bn1");
    CHECK_INT(g->values[g->nodes[0].out[0]].uses, 1);
    const int conv = param_of(g, "conv.weight"), shift = param_of(g, "bn1.bias"), fc = param_of(g, "fc.weight"),
              bias = param_of(g, "fc.bias");
    REQUIRE(conv >= 0 && shift >= 0 && fc >= 0 && bias >= 0);
    CHECK_INT(g->nodes[0].bias, shift);
    /* Gains 2 / 2, -6 / 2, 4 / 2; 1e-6: the variance is a float. */
    CHECK_NEAR(folded.values[conv][17], 18, 18e-6);
    CHECK_NEAR(folded.values[conv][18], -3 * 19, 57e-6);
    CHECK_NEAR(folded.values[shift][0], 10 - 3, 1e-5);
    CHECK_NEAR(folded.values[shift][1], 10 + 9, 2e-5);
    CHECK_NEAR(folded.values[fc][5], 12, 12e-6);
    CHECK_NEAR(folded.values[bias][2], (10 - 3) * 2 + 10, 3e-5);
    ys_folded_fini(&folded);
    ys_safetensors_close(weights);
    ys_graph_free(graph);
}

static void a_normalisation_of_what_others_read_stays(void)
{
    struct ys_graph *graph = network(true);
    REQUIRE(graph);
    struct ys_safetensors *weights = weights_of(graph, powers);
    struct ys_folded folded;
    REQUIRE(weights && ys_graph_fold(graph, weights, &folded) == YS_OK);
    CHECK_INT(folded.graph->node_count, 5);
    CHECK_INT(folded.graph->nodes[1].op, YS_OP_BATCHNORM);
    CHECK(folded.values[param_of(folded.graph, "conv.weight")][18] == 19);
    ys_folded_fini(&folded);
    ys_safetensors_close(weights);
    ys_graph_free(graph);
}

static float not_a_number(const char *param, int64_t i)
{
    return strcmp(param, "fc.weight") == 0 && i == 4 ? NAN : powers(param, i);
}

static float no_variance(const char *param, int64_t i)
{
    return strcmp(param, "bn1.running_var") == 0 ? -1 : powers(param, i);
}

static void weights_that_are_no_numbers_are_named(void)
{
    struct ys_graph *graph = network(false);
    REQUIRE(graph);
    struct ys_folded folded;
    struct ys_safetensors *weights = weights_of(graph, not_a_number);
    CHECK_INT(ys_graph_fold(graph, weights, &folded), YS_EFORMAT);
    CHECK_HAS(ys_error(), "element 4 of fc.weight is nan");
    ys_safetensors_close(weights);
    weights = weights_of(graph, no_variance);
    CHECK_INT(ys_graph_fold(graph, weights, &folded), YS_EFORMAT);
    CHECK_HAS(ys_error(), "bn1 cannot be folded into conv");
    ys_safetensors_close(weights);
    ys_graph_free(graph);
}

TAP_MAIN(TAP_CASE(products_take_the_normalisation_behind_them), TAP_CASE(a_normalisation_of_what_others_read_stays),
         TAP_CASE(weights_that_are_no_numbers_are_named))
