#include "graph/fold.h"

#include "base/mem.h"
#include "graph/compose.h"
#include <math.h>
#include <string.h>

void ys_folded_fini(struct ys_folded *folded)
{
    for (size_t p = 0; folded->values && p < folded->graph->param_count; p++)
        ys_free(folded->values[p]);
    ys_free(folded->values);
    ys_graph_free(folded->graph);
    *folded = (struct ys_folded){0};
}

static ys_status take_values(const struct ys_safetensors *weights, struct ys_folded *folded)
{
    folded->values = ys_alloc(folded->graph->param_count, sizeof *folded->values);
    if (!folded->values)
        return ys_out_of_memory();
    for (size_t p = 0; p < folded->graph->param_count; p++) {
        const struct ys_param *param = &folded->graph->params[p];
        const struct ys_tensor *tensor;
        YS_TRY(ys_safetensors_need(weights, param->name, YS_F32, param->rank, param->shape, &tensor));
        const size_t count = ys_tensor_count(tensor);
        folded->values[p] = ys_alloc(count, sizeof(float));
        if (!folded->values[p])
            return ys_out_of_memory();
        memcpy(folded->values[p], tensor->data, count * sizeof(float));
        ys_param_clear_absent(folded->graph, p, sizeof(float), folded->values[p]);
        for (size_t i = 0; i < count; i++)
            if (!isfinite(folded->values[p][i]))
                return ys_fail(YS_EFORMAT, "weights: element %zu of %s is %g", i, param->name,
                               (double)folded->values[p][i]);
    }
    return YS_OK;
}

/** The product that the normalisation can be folded into; NULL: there is none. */
static struct ys_node *product_before(const struct ys_graph *graph, const struct ys_node *norm)
{
    const struct ys_value *between = &graph->values[norm->in[0]];
    if (norm->op != YS_OP_BATCHNORM || between->producer < 0 || between->uses != 1)
        return NULL;
    struct ys_node *product = &graph->nodes[between->producer];
    const bool is_own = product->weight >= 0 && ys_param_readers(graph, product->weight) == 1 &&
                        (product->bias < 0 || ys_param_readers(graph, product->bias) == 1) &&
                        ys_param_readers(graph, norm->bias) == 1;
    const bool is_product = product->op == YS_OP_CONV || (product->op == YS_OP_GEMM && between->rank == 2);
    return is_own && is_product ? product : NULL;
}

static ys_status fold_values(struct ys_folded *folded, const struct ys_node *product, const struct ys_node *norm)
{
    const struct ys_param *weight = &folded->graph->params[product->weight];
    const int64_t channels = weight->shape[0], each = ys_param_elements(weight) / channels;
    float **values = folded->values, *shift = values[norm->bias];
    for (int64_t c = 0; c < channels; c++) {
        const double gain =
            (double)values[norm->weight][c] / sqrt((double)values[norm->running_var][c] + norm->batchnorm.epsilon);
        const double bias = product->bias < 0 ? 0 : (double)values[product->bias][c];
        if (!isfinite(gain))
            return ys_fail(YS_EFORMAT, "weights: node %s cannot be folded into %s: its variance in channel %lld is %g",
                           norm->name, product->name, (long long)c, (double)values[norm->running_var][c]);
        shift[c] = (float)((bias - (double)values[norm->running_mean][c]) * gain + (double)shift[c]);
        for (int64_t i = 0; i < each; i++)
            values[product->weight][c * each + i] = (float)((double)values[product->weight][c * each + i] * gain);
    }
    return YS_OK;
}

/** The normalisation's shift, folded, becomes the product's bias: in the place of its own, where it has one. */
static void take_bias(struct ys_folded *folded, struct ys_node *product, struct ys_node *norm)
{
    if (product->bias < 0) {
        product->bias = norm->bias;
        norm->bias = -1;
        return;
    }
    float *shift = folded->values[norm->bias];
    folded->values[norm->bias] = folded->values[product->bias];
    folded->values[product->bias] = shift;
}

/** Where each entry goes once those that are not kept are gone; -1 for these. Returns how many are left. */
static size_t number_kept(const bool *kept, size_t count, int *to)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        to[i] = kept[i] ? (int)left++ : -1;
    return left;
}

static void renumber(int *index, const int *to)
{
    *index = *index < 0 ? -1 : to[*index];
}

static void renumber_node(struct ys_node *node, const int *value_to, const int *param_to)
{
    for (size_t k = 0; k < node->in_count; k++)
        renumber(&node->in[k], value_to);
    for (size_t k = 0; k < node->out_count; k++)
        renumber(&node->out[k], value_to);
    for (int which = 0; which < YS_NODE_PARAM_COUNT; which++)
        renumber(ys_node_param_place(node, (enum ys_node_param)which), param_to);
}

/* What of a graph stays, and where it goes. */
struct kept_parts {
    bool *nodes, *values, *params;
    int *node_to, *value_to, *param_to;
};

static void drop_rest(struct ys_folded *folded, const struct kept_parts *kept)
{
    struct ys_graph *g = folded->graph;
    const size_t nodes = number_kept(kept->nodes, g->node_count, kept->node_to),
                 values = number_kept(kept->values, g->value_count, kept->value_to),
                 params = number_kept(kept->params, g->param_count, kept->param_to);
    for (size_t i = 0; i < g->node_count; i++) {
        if (kept->nodes[i]) {
            renumber_node(&g->nodes[i], kept->value_to, kept->param_to);
            g->nodes[kept->node_to[i]] = g->nodes[i];
        } else {
            ys_free(g->nodes[i].name);
        }
    }
    for (size_t v = 0; v < g->value_count; v++) {
        if (kept->values[v]) {
            renumber(&g->values[v].producer, kept->node_to);
            g->values[kept->value_to[v]] = g->values[v];
        } else {
            ys_free(g->values[v].name);
        }
    }
    for (size_t p = 0; p < g->param_count; p++) {
        if (kept->params[p]) {
            g->params[kept->param_to[p]] = g->params[p];
            folded->values[kept->param_to[p]] = folded->values[p];
        } else {
            ys_free(g->params[p].name);
            ys_free(folded->values[p]);
        }
    }
    for (size_t i = 0; i < g->input_count; i++)
        renumber(&g->inputs[i], kept->value_to);
    renumber(&g->output, kept->value_to);
    g->node_count = nodes;
    g->value_count = values;
    g->param_count = params;
}

static ys_status make_kept(const struct ys_graph *g, struct kept_parts *kept)
{
    *kept = (struct kept_parts){
        .nodes = ys_alloc(g->node_count, sizeof *kept->nodes),
        .values = ys_alloc(g->value_count, sizeof *kept->values),
        .params = ys_alloc(g->param_count, sizeof *kept->params),
        .node_to = ys_alloc(g->node_count, sizeof *kept->node_to),
        .value_to = ys_alloc(g->value_count, sizeof *kept->value_to),
        .param_to = ys_alloc(g->param_count, sizeof *kept->param_to),
    };
    if (!kept->nodes || !kept->values || !kept->params || !kept->node_to || !kept->value_to || !kept->param_to)
        return ys_out_of_memory();
    memset(kept->nodes, 1, g->node_count * sizeof *kept->nodes);
    memset(kept->values, 1, g->value_count * sizeof *kept->values);
    memset(kept->params, 1, g->param_count * sizeof *kept->params);
    return YS_OK;
}

static void free_kept(struct kept_parts *kept)
{
    ys_free(kept->nodes);
    ys_free(kept->values);
    ys_free(kept->params);
    ys_free(kept->node_to);
    ys_free(kept->value_to);
    ys_free(kept->param_to);
}

static ys_status fold_all(struct ys_folded *folded, struct kept_parts *kept)
{
    struct ys_graph *g = folded->graph;
    for (size_t i = 0; i < g->node_count; i++) {
        struct ys_node *norm = &g->nodes[i], *product = product_before(g, norm);
        if (!product)
            continue;
        YS_TRY(fold_values(folded, product, norm));
        take_bias(folded, product, norm);
        kept->nodes[i] = kept->values[norm->in[0]] = false;
        product->out[0] = norm->out[0];
        g->values[norm->out[0]].producer = (int)(product - g->nodes);
    }
    memset(kept->params, 0, g->param_count * sizeof *kept->params);
    for (size_t i = 0; i < g->node_count; i++)
        for (int which = 0; kept->nodes[i] && which < YS_NODE_PARAM_COUNT; which++) {
            const int param = ys_node_param(&g->nodes[i], (enum ys_node_param)which);
            if (param >= 0)
                kept->params[param] = true;
        }
    drop_rest(folded, kept);
    for (size_t v = 0; v < g->value_count; v++)
        g->values[v].uses = 0;
    return ys_compose_finish(g, g->name);
}

static ys_status copy_graph(const struct ys_graph *graph, struct ys_graph **copy)
{
    ys_json *json = ys_graph_to_json(graph);
    ys_status status = json ? ys_graph_from_json(json, graph->name, copy) : ys_out_of_memory();
    ys_json_free(json);
    return status;
}

ys_status ys_graph_fold(const struct ys_graph *graph, const struct ys_safetensors *weights, struct ys_folded *folded)
{
    struct kept_parts kept = {0};
    *folded = (struct ys_folded){0};
    ys_status status = copy_graph(graph, &folded->graph);
    if (status == YS_OK)
        status = take_values(weights, folded);
    if (status == YS_OK)
        status = make_kept(folded->graph, &kept);
    if (status == YS_OK)
        status = fold_all(folded, &kept);
    free_kept(&kept);
    if (status != YS_OK && folded->graph)
        ys_folded_fini(folded);
    return status;
}
