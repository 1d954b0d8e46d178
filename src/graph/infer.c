/* Shapes, and everything that can be wrong with them. */
#include "graph/infer.h"
#include "base/mem.h"
#include "graph/op.h"
#include <string.h>

#define FAIL YS_FAIL_SITE

ys_status ys_compose_check_shape(const char *label, const char *what, const int64_t *shape, size_t rank, size_t first)
{
    int64_t elements = 1;
    char text[YS_SHAPE_TEXT];
    for (size_t i = first; i < rank; i++) {
        if (shape[i] < 1)
            return ys_fail(YS_EFORMAT, "%s: %s has shape %s: every dimension must be at least 1", label, what,
                           ys_shape_text(shape, rank, text));
        if (shape[i] > YS_GRAPH_MAX_ELEMENTS / elements)
            return ys_fail(YS_EFORMAT, "%s: %s has shape %s: more than 2^40 elements", label, what,
                           ys_shape_text(shape, rank, text));
        elements *= shape[i];
    }
    return YS_OK;
}

ys_status ys_infer_need_nchw(struct ys_site *site)
{
    if (site->in->rank != 4)
        return FAIL(site, "input %s has shape %s, not (N, channels, height, width)", site->in->name,
                    YS_SITE_SHAPE(site, site->in));
    return YS_OK;
}

ys_status ys_infer_check_vector(struct ys_site *site, enum ys_node_param which, int64_t channels)
{
    int index = ys_node_param(site->node, which);
    if (index < 0)
        return YS_OK;
    const struct ys_param *param = &site->graph->params[index];
    if (param->rank != 1 || param->shape[0] != channels)
        return FAIL(site, "%s %s has shape %s, not [%lld]", ys_node_param_key(which), param->name,
                    YS_SITE_SHAPE(site, param), (long long)channels);
    return YS_OK;
}

ys_status ys_infer_same(struct ys_site *site)
{
    site->out->rank = site->in->rank;
    memcpy(site->out->shape, site->in->shape, sizeof site->out->shape);
    return YS_OK;
}

ys_status ys_infer_normalize(struct ys_site *site)
{
    const struct ys_normalize *n = &site->node->normalize;
    if (n->channels != 1 && (int64_t)n->channels != site->in->shape[1])
        return FAIL(site, "%zu means for the %lld channels of input %s: give one for all, or one each", n->channels,
                    (long long)site->in->shape[1], site->in->name);
    return ys_infer_same(site);
}

ys_status ys_infer_flatten(struct ys_site *site)
{
    site->out->rank = 2;
    site->out->shape[0] = YS_BATCH;
    site->out->shape[1] = ys_value_row_elements(site->in);
    return YS_OK;
}

ys_status ys_infer_gemm(struct ys_site *site)
{
    const size_t last = site->in->rank - 1;
    const struct ys_param *weight = &site->graph->params[site->node->weight];
    if (last < 1)
        return FAIL(site, "input %s has shape %s, not (N, ..., features)", site->in->name,
                    YS_SITE_SHAPE(site, site->in));
    if (weight->rank != 2 || weight->shape[1] != site->in->shape[last])
        return FAIL(site, "weight %s has shape %s; with %lld input features it must be (out, %lld)", weight->name,
                    YS_SITE_SHAPE(site, weight), (long long)site->in->shape[last], (long long)site->in->shape[last]);
    YS_TRY(ys_infer_check_vector(site, YS_NODE_BIAS, weight->shape[0]));
    YS_TRY(ys_infer_same(site));
    site->out->shape[last] = weight->shape[0];
    site->graph->nodes[site->node - site->graph->nodes].positions = last > 1;
    return YS_OK;
}

ys_status ys_infer_batchnorm(struct ys_site *site)
{
    static const double starts[] = {[YS_NODE_RUNNING_MEAN] = 0, [YS_NODE_RUNNING_VAR] = 1};
    if (site->in->rank != 2 && site->in->rank != 4)
        return FAIL(site, "input %s has shape %s, not (N, channels) or (N, channels, height, width)", site->in->name,
                    YS_SITE_SHAPE(site, site->in));
    for (int which = 0; which < YS_NODE_PARAM_COUNT; which++)
        if (ys_op_takes(YS_OP_BATCHNORM, (enum ys_node_param)which))
            YS_TRY(ys_infer_check_vector(site, (enum ys_node_param)which, site->in->shape[1]));
    for (int which = YS_NODE_RUNNING_MEAN; which <= YS_NODE_RUNNING_VAR; which++) {
        const struct ys_param *buffer = &site->graph->params[ys_node_param(site->node, which)];
        if (buffer->init.kind != YS_INIT_CONSTANT || buffer->init.a != starts[which])
            return FAIL(site, "%s %s must start at the constant %g", ys_node_param_key((enum ys_node_param)which),
                        buffer->name, starts[which]);
    }
    return ys_infer_same(site);
}

ys_status ys_infer_global_pool(struct ys_site *site)
{
    YS_TRY(ys_infer_need_nchw(site));
    site->out->rank = 4;
    memcpy(site->out->shape, (const int64_t[]){YS_BATCH, site->in->shape[1], 1, 1}, 4 * sizeof(int64_t));
    return YS_OK;
}

ys_status ys_infer_layernorm(struct ys_site *site)
{
    const size_t last = site->in->rank - 1;
    if (site->node->axis < 1 || (size_t)site->node->axis != last)
        return FAIL(site, "axis %d of input %s of shape %s: must be the last, %zu; a Transpose brings others there",
                    site->node->axis, site->in->name, YS_SITE_SHAPE(site, site->in), last);
    for (int which = YS_NODE_WEIGHT; which <= YS_NODE_BIAS; which++)
        YS_TRY(ys_infer_check_vector(site, (enum ys_node_param)which, site->in->shape[last]));
    return ys_infer_same(site);
}

ys_status ys_infer_lrn(struct ys_site *site)
{
    YS_TRY(ys_infer_need_nchw(site));
    return ys_infer_same(site);
}

ys_status ys_infer_clip(struct ys_site *site)
{
    if (!(site->node->low < site->node->high))
        return FAIL(site, "min %g must be below max %g", site->node->low, site->node->high);
    return ys_infer_same(site);
}

ys_status ys_infer_pow(struct ys_site *site)
{
    if (site->node->exponent == 0)
        return FAIL(site, "exponent %g: the result would be 1 whatever the input", site->node->exponent);
    return ys_infer_same(site);
}

static ys_status check_axis(struct ys_site *site)
{
    if (site->node->axis < 1 || (size_t)site->node->axis >= site->in->rank)
        return FAIL(site, "axis %d of input %s of shape %s: must be 1 to %zu", site->node->axis, site->in->name,
                    YS_SITE_SHAPE(site, site->in), site->in->rank - 1);
    return YS_OK;
}

ys_status ys_infer_softmax(struct ys_site *site)
{
    YS_TRY(check_axis(site));
    return ys_infer_same(site);
}

ys_status ys_infer_concat(struct ys_site *site)
{
    YS_TRY(check_axis(site));
    const int axis = site->node->axis;
    YS_TRY(ys_infer_same(site));
    for (size_t i = 1; i < site->node->in_count; i++) {
        const struct ys_value *other = &site->graph->values[site->node->in[i]];
        bool same = other->rank == site->in->rank;
        for (size_t d = 1; d < other->rank && same; d++)
            same = (int)d == axis || other->shape[d] == site->in->shape[d];
        if (!same)
            return FAIL(site, "inputs %s of shape %s and %s of shape %s do not fit together", site->in->name,
                        YS_SITE_SHAPE(site, site->in), other->name,
                        ys_shape_text(other->shape, other->rank, site->other));
        site->out->shape[axis] += other->shape[axis];
    }
    return YS_OK;
}

/* The rank and extents of the second operand as the value sees them: a parameter lies along the last axes of a row. */
static bool operand_shape(const struct ys_site *site, int64_t shape[YS_MAX_RANK])
{
    const struct ys_node *node = site->node;
    const size_t rank = site->in->rank;
    if (node->in_count == 2) {
        const struct ys_value *other = &site->graph->values[node->in[1]];
        memcpy(shape, other->shape, sizeof other->shape);
        return other->rank == rank;
    }
    const struct ys_param *weight = &site->graph->params[node->weight];
    for (size_t d = 0; d < rank; d++)
        shape[d] = d == 0 || d + weight->rank < rank ? 1 : weight->shape[d + weight->rank - rank];
    return weight->rank < rank;
}

static ys_status fail_pair(struct ys_site *site)
{
    const struct ys_node *node = site->node;
    if (node->in_count == 1) {
        const struct ys_param *weight = &site->graph->params[node->weight];
        return FAIL(site, "input %s of shape %s and weight %s of shape %s do not fit together", site->in->name,
                    YS_SITE_SHAPE(site, site->in), weight->name,
                    ys_shape_text(weight->shape, weight->rank, site->other));
    }
    const struct ys_value *other = &site->graph->values[node->in[1]];
    return FAIL(site, "inputs %s of shape %s and %s of shape %s do not fit together", site->in->name,
                YS_SITE_SHAPE(site, site->in), other->name, ys_shape_text(other->shape, other->rank, site->other));
}

/* Broadcasting as ONNX has it, where the batch is axis 0 of both: operands of one rank, whose extents are equal or 1.
 */
ys_status ys_infer_pair(struct ys_site *site)
{
    int64_t other[YS_MAX_RANK];
    if ((site->node->in_count == 1) != (site->node->weight >= 0))
        return FAIL(site, "has %zu inputs and %s weight: must be two inputs, or one and a weight", site->node->in_count,
                    site->node->weight < 0 ? "no" : "a");
    bool fits = operand_shape(site, other), alike = true;
    YS_TRY(ys_infer_same(site));
    for (size_t d = 1; fits && d < site->in->rank; d++) {
        fits = other[d] == site->in->shape[d] || other[d] == 1 || site->in->shape[d] == 1;
        alike = alike && other[d] == site->in->shape[d];
        if (site->in->shape[d] == 1)
            site->out->shape[d] = other[d];
    }
    site->graph->nodes[site->node - site->graph->nodes].broadcast = !alike && site->node->in_count == 2;
    return fits ? YS_OK : fail_pair(site);
}

ys_status ys_infer_split(struct ys_site *site)
{
    YS_TRY(check_axis(site));
    const struct ys_node *node = site->node;
    int64_t sum = 0;
    for (size_t i = 0; i < node->out_count; i++) {
        struct ys_value *out = &site->graph->values[node->out[i]];
        out->rank = site->in->rank;
        memcpy(out->shape, site->in->shape, sizeof out->shape);
        out->shape[node->axis] = node->split[i];
        sum += node->split[i];
    }
    if (sum != site->in->shape[node->axis])
        return FAIL(site, "the parts add up to %lld, axis %d of input %s of shape %s has another extent",
                    (long long)sum, node->axis, site->in->name, YS_SITE_SHAPE(site, site->in));
    return YS_OK;
}

ys_status ys_infer_reshape(struct ys_site *site)
{
    site->out->rank = site->node->shape_rank;
    memcpy(site->out->shape, site->node->shape, sizeof site->out->shape);
    if (ys_value_row_elements(site->out) != ys_value_row_elements(site->in))
        return FAIL(site, "input %s of shape %s has another number of elements than shape %s", site->in->name,
                    YS_SITE_SHAPE(site, site->in), ys_shape_text(site->out->shape, site->out->rank, site->other));
    return YS_OK;
}

ys_status ys_infer_padded(struct ys_site *site)
{
    const struct ys_pad *pad = &site->node->pad;
    const struct ys_value *in = site->in;
    YS_TRY(ys_infer_same(site));
    if (pad->rank != in->rank)
        return FAIL(site, "has %zu pads; with input %s of shape %s it must have %zu", 2 * pad->rank, in->name,
                    YS_SITE_SHAPE(site, in), 2 * in->rank);
    if (pad->before[0] || pad->after[0])
        return FAIL(site, "pads the batch by %lld and %lld: rows stay apart", (long long)pad->before[0],
                    (long long)pad->after[0]);
    for (size_t axis = 1; axis < in->rank; axis++) {
        if (pad->mode == YS_PAD_REFLECT &&
            (pad->before[axis] >= in->shape[axis] || pad->after[axis] >= in->shape[axis]))
            return FAIL(site, "reflects %lld and %lld of axis %zu of input %s of shape %s, which has fewer",
                        (long long)pad->before[axis], (long long)pad->after[axis], axis, in->name,
                        YS_SITE_SHAPE(site, in));
        site->out->shape[axis] += pad->before[axis] + pad->after[axis];
    }
    return YS_OK;
}

ys_status ys_infer_transpose(struct ys_site *site)
{
    const int *permutation = site->node->permutation;
    unsigned seen = 0, all = (1U << site->in->rank) - 1;
    for (size_t i = 0; i < YS_MAX_RANK; i++) /* behind its end, a permutation is 0 */
        seen |= 1U << permutation[i];
    if (permutation[0] != 0 || seen != all)
        return FAIL(site, "perm must name each axis of input %s of shape %s once, 0 (the batch) first", site->in->name,
                    YS_SITE_SHAPE(site, site->in));
    site->out->rank = site->in->rank;
    for (size_t i = 0; i < site->in->rank; i++)
        site->out->shape[i] = site->in->shape[permutation[i]];
    return YS_OK;
}

ys_status ys_infer_mean(struct ys_site *site)
{
    const struct ys_node *node = site->node;
    size_t rank = 0;
    for (size_t i = 0; i < YS_MAX_RANK; i++) {
        if (node->reduced[i] && (i == 0 || i >= site->in->rank))
            return FAIL(site, "axis %zu of input %s of shape %s: must be 1 to %zu", i, site->in->name,
                        YS_SITE_SHAPE(site, site->in), site->in->rank - 1);
        if (i < site->in->rank && (!node->reduced[i] || node->keepdims))
            site->out->shape[rank++] = node->reduced[i] ? 1 : site->in->shape[i];
    }
    if (rank < 2)
        return FAIL(site, "nothing but the batch would be left of input %s of shape %s: set keepdims to 1",
                    site->in->name, YS_SITE_SHAPE(site, site->in));
    site->out->rank = rank;
    return YS_OK;
}

ys_status ys_compose_infer(struct ys_graph *graph, int node, const char *label)
{
    struct ys_site site = {.graph = graph, .node = &graph->nodes[node], .label = label};
    site.in = &graph->values[site.node->in[0]];
    site.out = &graph->values[site.node->out[0]];
    const struct ys_op_rule *rule = ys_op_rule(site.node->op);
    for (size_t i = 0; i < site.node->in_count; i++) {
        const struct ys_value *in = &graph->values[site.node->in[i]];
        if (in->dtype != YS_F32 && !rule->takes_integers)
            return FAIL(&site, "input %s is %s: put a normalize before it%s", in->name, ys_dtype_name(in->dtype),
                        in->dtype == YS_I32 ? ", or an Embedding" : "");
    }
    YS_TRY(rule->infer(&site));
    for (size_t i = 0; i < site.node->out_count; i++) {
        const struct ys_value *out = &graph->values[site.node->out[i]];
        YS_TRY(ys_compose_check_shape(label, out->name, out->shape, out->rank, 1));
    }
    return YS_OK;
}

/** Nodes may share what is trained: its gradient is the sum of theirs. They may not share running statistics, which
 * each would move, nor the weight of a convolution with a table of connections. */
static ys_status check_sharing(const struct ys_graph *graph, const char *label, int index, const struct ys_node *first,
                               const struct ys_node *second)
{
    const char *name = graph->params[index].name;
    if (first == second)
        return ys_fail(YS_EFORMAT, "%s: node %s (%s) reads parameter %s in two places: it must have one for each",
                       label, second->name, ys_op_name(second->op), name);
    if (graph->params[index].role == YS_ROLE_BUFFER || ys_node_connections(first) || ys_node_connections(second))
        return ys_fail(YS_EFORMAT,
                       "%s: parameter %s is used twice, by nodes %s and %s: running statistics, and weights with a "
                       "table of connections, cannot be shared",
                       label, name, first->name, second->name);
    return YS_OK;
}

/** Fails unless every parameter is read, by nodes that may read it. */
static ys_status check_param_uses(const struct ys_graph *graph, const char *label, const struct ys_node **readers)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct ys_node *node = &graph->nodes[i];
        for (int which = 0; which < YS_NODE_PARAM_COUNT; which++) {
            int index = ys_node_param(&graph->nodes[i], (enum ys_node_param)which);
            if (index < 0)
                continue;
            const struct ys_param *param = &graph->params[index];
            enum ys_role role = which < YS_NODE_RUNNING_MEAN ? YS_ROLE_WEIGHT : YS_ROLE_BUFFER;
            if (param->role != role)
                return ys_fail(YS_EFORMAT, "%s: node %s (%s): parameter %s has role %s, not %s", label, node->name,
                               ys_op_name(node->op), param->name, ys_role_name(param->role), ys_role_name(role));
            if (readers[index])
                YS_TRY(check_sharing(graph, label, index, readers[index], node));
            readers[index] = node;
        }
    }
    for (size_t p = 0; p < graph->param_count; p++)
        if (!readers[p])
            return ys_fail(YS_EFORMAT, "%s: parameter %s is used by no node", label, graph->params[p].name);
    return YS_OK;
}

static ys_status check_totals(const struct ys_graph *graph, const char *label)
{
    int64_t sum = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct ys_node *node = &graph->nodes[i];
        if (!ys_op_rule(node->op)->multiply_adds)
            continue;
        const struct ys_param *weight = node->weight >= 0 ? &graph->params[node->weight] : NULL;
        const int value = node->op == YS_OP_CONV_TRANSPOSE ? node->in[0] : node->out[0];
        int64_t outputs = ys_value_row_elements(&graph->values[value]), multiply_adds;
        /* of attention, every query part meets every key and every value position */
        int64_t each = weight ? ys_param_elements(weight) / weight->shape[0]
                              : ys_value_row_elements(&graph->values[node->in[0]]) + outputs;
        if (!weight)
            outputs = graph->values[node->in[1]].shape[1];
        if (node->op == YS_OP_MATMUL) { /* every element of the result sums over a row of the first matrix */
            outputs = ys_value_row_elements(&graph->values[value]);
            each = graph->values[node->in[0]].shape[graph->values[node->in[0]].rank - 1];
        }
        if (node->recurrent >= 0) { /* every position meets both weights */
            outputs = graph->values[node->in[0]].shape[1];
            each = ys_param_elements(weight) + ys_param_elements(&graph->params[node->recurrent]);
        }
        if (__builtin_mul_overflow(outputs, each, &multiply_adds) || __builtin_add_overflow(sum, multiply_adds, &sum))
            return ys_fail(YS_EFORMAT, "%s: node %s (%s): more than 2^63 multiply-adds", label, node->name,
                           ys_op_name(node->op));
    }
    return YS_OK;
}

static ys_status check_output(const struct ys_graph *graph, const char *label, const struct ys_value *output)
{
    char text[YS_SHAPE_TEXT];
    static const char *const wanted[] = {"(N, classes)", "(N, positions, ..., classes)", "(N, ...)"};
    if (output->dtype != YS_F32 || output->producer < 0 || (graph->target == YS_TARGET_CLASS && output->rank != 2) ||
        (graph->target == YS_TARGET_CLASSES && output->rank < 3))
        return ys_fail(YS_EFORMAT,
                       "%s: output %s has shape %s, type %s; %s needs %s with a target of kind %s, F32, made by a node",
                       label, output->name, ys_shape_text(output->shape, output->rank, text),
                       ys_dtype_name(output->dtype), ys_loss_name(graph->loss), wanted[graph->target],
                       ys_target_kind_name(graph->target));
    if (graph->target == YS_TARGET_VECTOR && graph->loss != YS_LOSS_MEAN_SQUARED_ERROR)
        return ys_fail(YS_EFORMAT, "%s: loss %s: a target of numbers has mean_squared_error alone", label,
                       ys_loss_name(graph->loss));
    return YS_OK;
}

/** A part of a Split may be left aside, as long as another is read. */
static bool may_be_unused(const struct ys_graph *graph, const struct ys_value *value)
{
    const struct ys_node *node = value->producer >= 0 ? &graph->nodes[value->producer] : NULL;
    for (size_t k = 0; node && node->op == YS_OP_SPLIT && k < node->out_count; k++)
        if (graph->values[node->out[k]].uses > 0)
            return true;
    return false;
}

ys_status ys_compose_finish(struct ys_graph *graph, const char *label)
{
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].in_count; k++)
            graph->values[graph->nodes[i].in[k]].uses++;
    struct ys_value *output = &graph->values[graph->output];
    output->uses++;
    for (size_t i = 0; i < graph->value_count; i++)
        if (graph->values[i].uses == 0 && !may_be_unused(graph, &graph->values[i]))
            return ys_fail(YS_EFORMAT, "%s: value %s is never used", label, graph->values[i].name);
    YS_TRY(check_output(graph, label, output));
    const struct ys_node **readers = ys_alloc(graph->param_count, sizeof *readers);
    if (!readers)
        return ys_out_of_memory();
    ys_status status = check_param_uses(graph, label, readers);
    ys_free((void *)readers);
    return status == YS_OK ? check_totals(graph, label) : status;
}
