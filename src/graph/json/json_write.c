/* The JSON form, out. Every attribute is written, defaults too, so that no reader needs to know a default. */
#include "base/mem.h"
#include "graph/json/json_parts.h"
#include <string.h>

/* Containers take their values also when they fail, and a NULL inside one fails: it is enough to look at the status
 * that each function returns, and the whole is dropped on the first failure. */

/** `fill(object, graph, index)` into a new object, which becomes `object`.`key`, or an entry of `array`. */
static ys_status put(ys_json *container, const char *key, const struct ys_graph *graph, size_t index,
                     ys_status (*fill)(ys_json *, const struct ys_graph *, size_t))
{
    ys_json *object = ys_json_object();
    if (!object)
        return ys_out_of_memory();
    ys_status status = fill(object, graph, index);
    if (status != YS_OK) {
        ys_json_free(object);
        return status;
    }
    return key ? ys_json_set(container, key, object) : ys_json_append(container, object);
}

static ys_status put_all(ys_json *object, const char *key, const struct ys_graph *graph, size_t count,
                         ys_status (*fill)(ys_json *, const struct ys_graph *, size_t))
{
    ys_json *array = ys_json_array();
    ys_status status = array ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; i < count && status == YS_OK; i++)
        status = put(array, NULL, graph, i, fill);
    if (status == YS_OK)
        return ys_json_set(object, key, array);
    ys_json_free(array);
    return status;
}

static ys_status fill_input(ys_json *object, const struct ys_graph *graph, size_t index)
{
    const struct ys_value *input = &graph->values[graph->inputs[index]];
    YS_TRY(ys_json_set_string(object, "name", input->name));
    YS_TRY(ys_parts_set_integers(object, "shape", input->shape, input->rank));
    return ys_json_set_string(object, "dtype", ys_dtype_name(input->dtype));
}

static ys_status fill_attrs(ys_json *object, const struct ys_graph *graph, size_t index)
{
    return ys_attrs_write(object, graph, &graph->nodes[index]);
}

static ys_status fill_param_uses(ys_json *object, const struct ys_graph *graph, size_t index)
{
    const struct ys_node *node = &graph->nodes[index];
    for (int which = 0; which < YS_NODE_PARAM_COUNT; which++) {
        int param = ys_node_param(node, (enum ys_node_param)which);
        if (param >= 0)
            YS_TRY(ys_json_set_string(object, ys_node_param_key((enum ys_node_param)which), graph->params[param].name));
    }
    return YS_OK;
}

static ys_status set_value_names(ys_json *object, const char *key, const struct ys_graph *graph, const int *values,
                                 size_t count)
{
    ys_json *array = ys_json_array();
    ys_status status = array ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; i < count && status == YS_OK; i++)
        status = ys_json_append(array, ys_json_string(graph->values[values[i]].name));
    if (status == YS_OK)
        return ys_json_set(object, key, array);
    ys_json_free(array);
    return status;
}

static ys_status fill_node(ys_json *object, const struct ys_graph *graph, size_t index)
{
    const struct ys_node *node = &graph->nodes[index];
    YS_TRY(ys_json_set_string(object, "op", ys_op_name(node->op)));
    YS_TRY(ys_json_set_string(object, "name", node->name));
    YS_TRY(set_value_names(object, "in", graph, node->in, node->in_count));
    YS_TRY(set_value_names(object, "out", graph, node->out, node->out_count));
    YS_TRY(put(object, "attrs", graph, index, fill_attrs));
    return put(object, "params", graph, index, fill_param_uses);
}

static ys_status fill_init(ys_json *object, const struct ys_graph *graph, size_t index)
{
    const struct ys_initializer *init = &graph->params[index].init;
    switch (init->kind) {
    case YS_INIT_CONSTANT:
        YS_TRY(ys_json_set_string(object, "dist", "constant"));
        return ys_json_set_real(object, "value", init->a);
    case YS_INIT_UNIFORM:
        YS_TRY(ys_json_set_string(object, "dist", "uniform"));
        YS_TRY(ys_json_set_real(object, "low", init->a));
        return ys_json_set_real(object, "high", init->b);
    case YS_INIT_NORMAL:
    case YS_INIT_TRUNCATED_NORMAL:
        YS_TRY(ys_json_set_string(object, "dist", init->kind == YS_INIT_NORMAL ? "normal" : "truncated_normal"));
        YS_TRY(ys_json_set_real(object, "mean", init->a));
        return ys_json_set_real(object, "std", init->b);
    }
    return ys_fail(YS_EINTERNAL, "no JSON form for the initializer %d", (int)init->kind);
}

static ys_status fill_param(ys_json *object, const struct ys_graph *graph, size_t index)
{
    const struct ys_param *param = &graph->params[index];
    YS_TRY(ys_json_set_string(object, "name", param->name));
    YS_TRY(ys_parts_set_integers(object, "shape", param->shape, param->rank));
    YS_TRY(ys_json_set_string(object, "role", ys_role_name(param->role)));
    YS_TRY(put(object, "init", graph, index, fill_init));
    YS_TRY(ys_json_set_real(object, "lr_mult", param->lr_mult));
    return ys_json_set_real(object, "decay_mult", param->decay_mult);
}

static ys_status fill_target(ys_json *object, const struct ys_graph *graph, size_t index)
{
    (void)index; /* there is one */
    struct ys_rows rows = ys_graph_rows(graph);
    int64_t shape[YS_MAX_RANK] = {YS_BATCH};
    memcpy(shape + 1, rows.target.shape, rows.target.rank * sizeof *shape);
    YS_TRY(ys_json_set_string(object, "kind", ys_target_kind_name(graph->target)));
    return ys_parts_set_integers(object, "shape", shape, rows.target.rank + 1);
}

static ys_status fill_graph(ys_json *object, const struct ys_graph *graph)
{
    YS_TRY(ys_json_set_string(object, "format", "yardstick-graph"));
    YS_TRY(ys_json_set_int(object, "version", 1));
    YS_TRY(ys_json_set_string(object, "name", graph->name));
    YS_TRY(put_all(object, "inputs", graph, graph->input_count, fill_input));
    YS_TRY(put_all(object, "nodes", graph, graph->node_count, fill_node));
    YS_TRY(put_all(object, "params", graph, graph->param_count, fill_param));
    YS_TRY(ys_json_set_string(object, "output", graph->values[graph->output].name));
    YS_TRY(ys_json_set_string(object, "loss", ys_loss_name(graph->loss)));
    if (graph->target != YS_TARGET_CLASS)
        YS_TRY(put(object, "target", graph, 0, fill_target));
    if (graph->carries_state)
        YS_TRY(ys_json_set_bool(object, "carries_state", true));
    if (graph->left_softmax && graph->loss == YS_LOSS_SOFTMAX_CROSS_ENTROPY)
        YS_TRY(ys_json_set_string(object, "head", "Softmax"));
    return graph->label_smoothing != 0 ? ys_json_set_real(object, "label_smoothing", graph->label_smoothing) : YS_OK;
}

ys_json *ys_graph_to_json(const struct ys_graph *graph)
{
    ys_json *object = ys_json_object();
    if (object && fill_graph(object, graph) != YS_OK) {
        ys_json_free(object);
        return NULL;
    }
    return object;
}
