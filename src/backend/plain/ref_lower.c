#include "backend/plain/ref_lower.h"

#include "base/mem.h"
#include "graph/op.h"
#include <string.h>

const struct ys_ref_op *ys_ref_op(const struct ys_lowering *low, const struct ys_node *node)
{
    return &((const struct ys_ref *)low->state)->op[node->op];
}

/** Channels, height, width of a value; lacking ones are 1. */
static void row_shape(const struct ys_value *v, int64_t shape[3])
{
    for (size_t i = 0; i < 3; i++)
        shape[i] = i + 1 < v->rank ? v->shape[i + 1] : 1;
}

struct ys_ref_context *ys_ref_context(const struct ys_lowering *low, const struct ys_node *node)
{
    struct ys_ref_context *c = ys_alloc(1, sizeof *c);
    if (!c)
        return NULL;
    const struct ys_value *in = &low->graph->values[node->in[0]], *out = &low->graph->values[node->out[0]];
    c->low = low;
    c->node = node;
    c->batch = low->config.batch;
    row_shape(in, c->in);
    row_shape(out, c->out);
    c->in_features = ys_value_row_elements(in);
    c->out_features = ys_value_row_elements(out);
    c->count = (size_t)(c->batch * c->in_features);
    c->dtype = in->dtype;
    const struct ys_window *window = ys_node_window(node);
    if (window)
        c->window = *window;
    c->has_bias = node->bias >= 0;
    c->is_packed = node->op == YS_OP_GEMM && ys_ref_is_packed(low, (size_t)node->weight);
    return c;
}

ys_status ys_ref_call(struct ys_lowering *low, const struct ys_node *node, ys_call_run run, struct ys_ref_context *c,
                      const struct ys_operand *operands, size_t count)
{
    return c ? ys_lower_call(low, node->name, run, c, ys_free, operands, count) : ys_out_of_memory();
}

/** A call over all elements of a value: input, copy, accumulate, zero. */
static ys_status call_each(struct ys_lowering *low, const struct ys_node *node, int value, ys_call_run run,
                           const struct ys_operand *operands, size_t count)
{
    struct ys_ref_context *c = ys_ref_context(low, node);
    if (c) {
        c->count = (size_t)(c->batch * ys_value_row_elements(&low->graph->values[value]));
        c->dtype = low->graph->values[value].dtype;
    }
    return ys_ref_call_rows(low, node, run, c, "rr", operands, count);
}

ys_status ys_ref_value_buffer(struct ys_lowering *low, int value, int *buffer)
{
    size_t count = (size_t)(low->config.batch * ys_value_row_elements(&low->graph->values[value]));
    return ys_program_buffer(low->program, count * low->real_size, false, buffer);
}

ys_status ys_ref_gradient(struct ys_lowering *low, int value)
{
    if (value != low->graph->inputs[0])
        return ys_ref_value_buffer(low, value, &low->gradient[value]);
    low->gradient[value] = low->input_gradient;
    return YS_OK;
}

ys_status ys_ref_output(struct ys_lowering *low, int value)
{
    if (value != low->graph->output)
        return ys_ref_value_buffer(low, value, &low->value[value]);
    low->value[value] = low->logits;
    return YS_OK;
}

ys_status ys_ref_inputs(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_ref *ref = low->state;
    for (size_t k = 0; k < node->in_count; k++) {
        int value = node->in[k];
        if (low->value[value] >= 0)
            continue;
        YS_TRY(ys_ref_value_buffer(low, value, &low->value[value]));
        YS_TRY(call_each(low, node, value, ref->kernels->input,
                         (struct ys_operand[]){ys_ref_at(low->inputs[ys_graph_input_of(low->graph, value)]),
                                               ys_ref_at(low->value[value])},
                         2));
    }
    return YS_OK;
}

ys_status ys_ref_begin_share(struct ys_lowering *low, int value, int *share)
{
    if (ys_lower_share(low, value, -1) != YS_SHARE_FIRST)
        return ys_ref_value_buffer(low, value, share);
    YS_TRY(ys_ref_gradient(low, value));
    *share = low->gradient[value];
    return YS_OK;
}

ys_status ys_ref_end_share(struct ys_lowering *low, const struct ys_node *node, int value, int share)
{
    const struct ys_ref *ref = low->state;
    if (share == low->gradient[value])
        return YS_OK;
    YS_TRY(call_each(low, node, value, ref->kernels->accumulate,
                     (struct ys_operand[]){ys_ref_at(share), ys_ref_at(low->gradient[value])}, 2));
    ys_lower_mark(low, YS_CALL_POINTWISE);
    return YS_OK;
}

/* ---- convolutions and dense layers */

/** Threads share the rows of a convolution, and of a matrix product the whole. */
static ys_status call_product(struct ys_lowering *low, const struct ys_node *node, ys_call_run run, const char *moves,
                              const struct ys_operand *operands, size_t count)
{
    struct ys_ref_context *c = ys_ref_context(low, node);
    return node->op == YS_OP_CONV ? ys_ref_call_rows(low, node, run, c, moves, operands, count)
                                  : ys_ref_call(low, node, run, c, operands, count);
}

ys_status ys_ref_forward_product(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_ref *ref = low->state;
    YS_TRY(ys_ref_inputs(low, node));
    YS_TRY(ys_ref_output(low, node->out[0]));
    struct ys_operand operands[5] = {ys_ref_at(low->value[node->in[0]]),
                                     ys_lower_param_at(low, low->weights, node->weight)};
    size_t count = 2;
    if (node->bias >= 0)
        operands[count++] = ys_lower_param_at(low, low->weights, node->bias);
    operands[count++] = ys_ref_at(ref->workspace);
    operands[count++] = ys_ref_at(low->value[node->out[0]]);
    YS_TRY(call_product(low, node, ys_ref_op(low, node)->forward, node->bias >= 0 ? "r--tr" : "r-tr", operands, count));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return YS_OK;
}

ys_status ys_ref_end_param(struct ys_lowering *low, const struct ys_node *node, int param, struct ys_operand share)
{
    const struct ys_ref *ref = low->state;
    struct ys_ref_context *c = ys_ref_context(low, node);
    if (c)
        c->count = low->param_size[param];
    YS_TRY(ys_ref_call(low, node, ref->kernels->accumulate, c,
                       (struct ys_operand[]){share, ys_lower_param_at(low, low->gradients, param)}, 2));
    ys_lower_mark(low, YS_CALL_POINTWISE);
    return YS_OK;
}

/** `context`: see ys_ref_call(). first, second: what the weights' gradient is made of. */
static ys_status backward_by_weights(struct ys_lowering *low, const struct ys_node *node,
                                     struct ys_ref_context *context, int first, int second)
{
    const struct ys_ref *ref = low->state;
    struct ys_operand operands[5] = {ys_ref_at(first), ys_ref_at(second), ys_ref_at(ref->workspace)};
    bool more_weight = false, more_bias = false;
    ys_status status = ys_lower_param_share(low, node->weight, &operands[3], &more_weight);
    if (status == YS_OK && node->bias >= 0)
        status = ys_lower_param_share(low, node->bias, &operands[4], &more_bias);
    if (status != YS_OK) {
        ys_free(context);
        return status;
    }
    YS_TRY(ys_ref_call(low, node, ys_ref_op(low, node)->weights, context, operands, 4 + (node->bias >= 0)));
    ys_lower_mark(low, YS_CALL_WEIGHTS);
    if (more_weight)
        YS_TRY(ys_ref_end_param(low, node, node->weight, operands[3]));
    return more_bias ? ys_ref_end_param(low, node, node->bias, operands[4]) : YS_OK;
}

static ys_status make_piece(struct ys_lowering *low, const struct ys_node *node, struct ys_operand *piece)
{
    int64_t kernel = node->window.kernel[0] * node->window.kernel[1];
    int64_t elements = ys_ref_piece_channels(kernel) * kernel * YS_REF_PIECE_POSITIONS;
    return ys_program_buffer(low->program, (size_t)low->config.threads * (size_t)elements * low->real_size, false,
                             &piece->buffer);
}

ys_status ys_ref_backward_product(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_ref *ref = low->state;
    if (!low->only_inputs)
        YS_TRY(backward_by_weights(low, node, ys_ref_context(low, node), low->value[node->in[0]],
                                   low->gradient[node->out[0]]));
    if (!low->value_gradient[node->in[0]])
        return YS_OK;
    int share;
    YS_TRY(ys_ref_begin_share(low, node->in[0], &share));
    struct ys_operand operands[5] = {ys_lower_param_at(low, low->weights, node->weight),
                                     ys_ref_at(low->gradient[node->out[0]]), ys_ref_at(ref->workspace)};
    size_t count = 3;
    if (node->op == YS_OP_CONV)
        YS_TRY(make_piece(low, node, &operands[count++]));
    operands[count++] = ys_ref_at(share);
    YS_TRY(call_product(low, node, ys_ref_op(low, node)->backward, "-rttr", operands, count));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return ys_ref_end_share(low, node, node->in[0], share);
}

/* ---- transposed convolutions */

/** Of the convolution that would make the node's input of its output. */
static struct ys_ref_context *turned_context(const struct ys_lowering *low, const struct ys_node *node, bool has_bias)
{
    struct ys_ref_context *c = ys_ref_context(low, node);
    if (!c)
        return NULL;
    const struct ys_ref_context as = *c;
    memcpy(c->in, as.out, sizeof c->in);
    memcpy(c->out, as.in, sizeof c->out);
    c->in_features = as.out_features;
    c->out_features = as.in_features;
    c->has_bias = has_bias;
    return c;
}

ys_status ys_ref_forward_transposed(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_ref *ref = low->state;
    YS_TRY(ys_ref_inputs(low, node));
    YS_TRY(ys_ref_output(low, node->out[0]));
    struct ys_operand operands[6] = {ys_lower_param_at(low, low->weights, node->weight),
                                     ys_ref_at(low->value[node->in[0]]),
                                     ys_ref_at(ref->workspace),
                                     {0},
                                     ys_ref_at(low->value[node->out[0]])};
    YS_TRY(make_piece(low, node, &operands[3]));
    if (node->bias >= 0)
        operands[5] = ys_lower_param_at(low, low->weights, node->bias);
    YS_TRY(ys_ref_call_rows(low, node, ys_ref_op(low, node)->forward, turned_context(low, node, node->bias >= 0),
                            "-rttr-", operands, 5 + (node->bias >= 0)));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return YS_OK;
}

ys_status ys_ref_backward_transposed(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_ref *ref = low->state;
    int share;
    if (!low->only_inputs)
        YS_TRY(backward_by_weights(low, node, turned_context(low, node, node->bias >= 0), low->gradient[node->out[0]],
                                   low->value[node->in[0]]));
    if (!low->value_gradient[node->in[0]])
        return YS_OK;
    YS_TRY(ys_ref_begin_share(low, node->in[0], &share));
    const struct ys_operand operands[] = {ys_ref_at(low->gradient[node->out[0]]),
                                          ys_lower_param_at(low, low->weights, node->weight), ys_ref_at(ref->workspace),
                                          ys_ref_at(share)};
    YS_TRY(ys_ref_call_rows(low, node, ys_ref_op(low, node)->backward, turned_context(low, node, false), "r-tr",
                            operands, 4));
    ys_lower_mark(low, YS_CALL_PRODUCT);
    return ys_ref_end_share(low, node, node->in[0], share);
}

/* ---- one input, one output, no weights */

static int64_t outputs_of(const struct ys_lowering *low, const struct ys_node *node)
{
    return low->config.batch * ys_value_row_elements(&low->graph->values[node->out[0]]);
}

size_t ys_ref_save_winners(const struct ys_lowering *low, const struct ys_node *node)
{
    return low->value_gradient[node->in[0]] ? (size_t)outputs_of(low, node) * sizeof(int64_t) : 0;
}

size_t ys_ref_save_outputs(const struct ys_lowering *low, const struct ys_node *node)
{
    return (size_t)outputs_of(low, node) * low->real_size;
}

/** Mean and variance of every channel, as double. */
size_t ys_ref_save_statistics(const struct ys_lowering *low, const struct ys_node *node)
{
    return 4 * (size_t)low->graph->values[node->in[0]].shape[1] * sizeof(double);
}

static ys_status make_saved(struct ys_lowering *low, const struct ys_node *node)
{
    struct ys_ref *ref = low->state;
    const struct ys_ref_op *op = ys_ref_op(low, node);
    size_t size_bytes = op->saved_bytes ? op->saved_bytes(low, node) : 0;
    return size_bytes ? ys_program_buffer(low->program, size_bytes, false, &ref->saved[node - low->graph->nodes])
                      : YS_OK;
}

static int saved_of(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_ref *ref = low->state;
    return ref->saved[node - low->graph->nodes];
}

/** Elements of the axes [first, end) of a value, the batch among them as axis 0. */
static int64_t extent_of(const struct ys_lowering *low, int value, size_t first, size_t end)
{
    int64_t elements = 1;
    for (size_t axis = first; axis < end; axis++)
        elements *= axis ? low->graph->values[value].shape[axis] : low->config.batch;
    return elements;
}

void ys_ref_describe_line(const struct ys_lowering *low, const struct ys_node *node, struct ys_ref_context *c)
{
    int value = node->in[0];
    size_t axis = (size_t)node->axis;
    c->line = (struct ys_ref_line){extent_of(low, value, 0, axis), extent_of(low, value, axis, axis + 1),
                                   extent_of(low, value, axis + 1, low->graph->values[value].rank)};
}

/** Transpose and mean: an index of the input moves along the output's axis that it becomes, or stays in place. */
void ys_ref_describe_walk(const struct ys_lowering *low, const struct ys_node *node, struct ys_ref_context *c)
{
    const struct ys_value *in = &low->graph->values[node->in[0]];
    struct ys_ref_walk *walk = &c->walk;
    int64_t step = 1;
    walk->rank = in->rank;
    for (size_t axis = 0; axis < in->rank; axis++)
        walk->extent[axis] = extent_of(low, node->in[0], axis, axis + 1);
    for (size_t i = in->rank; i-- > 0;) {
        size_t axis = node->op == YS_OP_TRANSPOSE ? (size_t)node->permutation[i] : i;
        if (node->op == YS_OP_MEAN && node->reduced[axis])
            continue;
        walk->step[axis] = step;
        step *= walk->extent[axis];
    }
}

void ys_ref_describe_padding(const struct ys_lowering *low, const struct ys_node *node, struct ys_ref_context *c)
{
    c->padding = ys_padding_of(low, node);
}

void ys_ref_describe_whole(const struct ys_lowering *low, const struct ys_node *node, struct ys_ref_context *c)
{
    (void)low;
    (void)node;
    c->window = (struct ys_window){{c->in[1], c->in[2]}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1, false, false, {0, 0}};
}

/** The context of an operator with one input and one output. */
static struct ys_ref_context *unary_context(const struct ys_lowering *low, const struct ys_node *node)
{
    struct ys_ref_context *c = ys_ref_context(low, node);
    if (!c)
        return NULL;
    c->has_saved = saved_of(low, node) >= 0;
    if (ys_ref_op(low, node)->describe)
        ys_ref_op(low, node)->describe(low, node, c);
    return c;
}

ys_status ys_ref_forward_unary(struct ys_lowering *low, const struct ys_node *node)
{
    YS_TRY(ys_ref_inputs(low, node));
    YS_TRY(ys_ref_output(low, node->out[0]));
    YS_TRY(make_saved(low, node));
    struct ys_operand operands[3] = {ys_ref_at(low->value[node->in[0]]), ys_ref_at(low->value[node->out[0]]),
                                     ys_ref_at(saved_of(low, node))};
    return ys_ref_call_rows(low, node, ys_ref_op(low, node)->forward, unary_context(low, node), "rrr", operands,
                            2 + (saved_of(low, node) >= 0));
}

/** [x], [y], [saved], dy, dx */
ys_status ys_ref_backward_unary(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_op_rule *rule = ys_op_rule(node->op);
    struct ys_operand operands[5];
    size_t count = 0;
    int share;
    if (!low->value_gradient[node->in[0]])
        return YS_OK;
    YS_TRY(ys_ref_begin_share(low, node->in[0], &share));
    if (rule->reads_x)
        operands[count++] = ys_ref_at(low->value[node->in[0]]);
    if (rule->reads_y)
        operands[count++] = ys_ref_at(low->value[node->out[0]]);
    if (saved_of(low, node) >= 0)
        operands[count++] = ys_ref_at(saved_of(low, node));
    operands[count++] = ys_ref_at(low->gradient[node->out[0]]);
    operands[count++] = ys_ref_at(share);
    YS_TRY(ys_ref_call_rows(low, node, ys_ref_op(low, node)->backward, unary_context(low, node), "rrrrr", operands,
                            count));
    return ys_ref_end_share(low, node, node->in[0], share);
}

/* ---- batch normalisation */

ys_status ys_ref_forward_batchnorm(struct ys_lowering *low, const struct ys_node *node)
{
    YS_TRY(ys_ref_inputs(low, node));
    YS_TRY(ys_ref_output(low, node->out[0]));
    YS_TRY(make_saved(low, node));
    const struct ys_operand operands[] = {ys_ref_at(low->value[node->in[0]]),
                                          ys_lower_param_at(low, low->weights, node->weight),
                                          ys_lower_param_at(low, low->weights, node->bias),
                                          ys_lower_param_at(low, low->weights, node->running_mean),
                                          ys_lower_param_at(low, low->weights, node->running_var),
                                          ys_ref_at(saved_of(low, node)),
                                          ys_ref_at(low->value[node->out[0]])};
    return ys_ref_call(low, node, ys_ref_op(low, node)->forward, ys_ref_context(low, node), operands, 7);
}

ys_status ys_ref_backward_batchnorm(struct ys_lowering *low, const struct ys_node *node)
{
    int in = node->in[0], share = -1;
    struct ys_ref_context *c = ys_ref_context(low, node);
    if (!c)
        return ys_out_of_memory();
    c->has_input_gradient = low->value_gradient[in];
    ys_status status = c->has_input_gradient ? ys_ref_begin_share(low, in, &share) : YS_OK;
    if (status != YS_OK) {
        ys_free(c);
        return status;
    }
    struct ys_operand operands[] = {ys_ref_at(low->value[in]),
                                    ys_lower_param_at(low, low->weights, node->weight),
                                    ys_ref_at(saved_of(low, node)),
                                    ys_ref_at(low->gradient[node->out[0]]),
                                    {0},
                                    {0},
                                    ys_ref_at(share)};
    bool more_weight = false, more_bias = false;
    status = ys_lower_param_share(low, node->weight, &operands[4], &more_weight);
    if (status == YS_OK)
        status = ys_lower_param_share(low, node->bias, &operands[5], &more_bias);
    if (status != YS_OK) {
        ys_free(c);
        return status;
    }
    YS_TRY(ys_ref_call(low, node, ys_ref_op(low, node)->backward, c, operands, 6 + c->has_input_gradient));
    if (more_weight)
        YS_TRY(ys_ref_end_param(low, node, node->weight, operands[4]));
    if (more_bias)
        YS_TRY(ys_ref_end_param(low, node, node->bias, operands[5]));
    return share < 0 ? YS_OK : ys_ref_end_share(low, node, in, share);
}

ys_status ys_ref_running(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_operand operands[] = {ys_ref_at(saved_of(low, node)),
                                          ys_lower_param_at(low, low->weights, node->running_mean),
                                          ys_lower_param_at(low, low->weights, node->running_var)};
    return ys_ref_call(low, node, ys_ref_op(low, node)->update, ys_ref_context(low, node), operands, 3);
}

/* ---- layer normalisation */

static struct ys_ref_context *line_context(const struct ys_lowering *low, const struct ys_node *node, bool wants_dx)
{
    struct ys_ref_context *c = ys_ref_context(low, node);
    if (c) {
        ys_ref_describe_line(low, node, c);
        c->has_input_gradient = wants_dx;
    }
    return c;
}

ys_status ys_ref_forward_layernorm(struct ys_lowering *low, const struct ys_node *node)
{
    YS_TRY(ys_ref_inputs(low, node));
    YS_TRY(ys_ref_output(low, node->out[0]));
    struct ys_operand operands[4] = {ys_ref_at(low->value[node->in[0]]), ys_ref_at(low->value[node->out[0]]),
                                     ys_lower_param_at(low, low->weights, node->weight)};
    if (node->bias >= 0)
        operands[3] = ys_lower_param_at(low, low->weights, node->bias);
    return ys_ref_call_rows(low, node, ys_ref_op(low, node)->forward, line_context(low, node, false), "rr--", operands,
                            3 + (node->bias >= 0));
}

ys_status ys_ref_backward_layernorm(struct ys_lowering *low, const struct ys_node *node)
{
    int in = node->in[0], share = -1;
    bool more_weight, more_bias = false;
    struct ys_operand bias;
    if (low->value_gradient[in])
        YS_TRY(ys_ref_begin_share(low, in, &share));
    struct ys_operand operands[6] = {ys_ref_at(low->value[in]), ys_lower_param_at(low, low->weights, node->weight),
                                     ys_ref_at(low->gradient[node->out[0]])};
    size_t count = 4;
    YS_TRY(ys_lower_param_share(low, node->weight, &operands[3], &more_weight));
    if (share >= 0)
        operands[count++] = ys_ref_at(share);
    if (node->bias >= 0) {
        YS_TRY(ys_lower_param_share(low, node->bias, &bias, &more_bias));
        operands[count++] = bias;
    }
    YS_TRY(
        ys_ref_call(low, node, ys_ref_op(low, node)->backward, line_context(low, node, share >= 0), operands, count));
    if (more_weight)
        YS_TRY(ys_ref_end_param(low, node, node->weight, operands[3]));
    if (more_bias)
        YS_TRY(ys_ref_end_param(low, node, node->bias, bias));
    return share < 0 ? YS_OK : ys_ref_end_share(low, node, in, share);
}

/* ---- sums, differences, products and quotients */

static struct ys_ref_context *pair_context(const struct ys_lowering *low, const struct ys_node *node, int stretched)
{
    struct ys_ref_context *c = ys_ref_context(low, node);
    if (c) {
        c->broadcast = ys_broadcast_of(low, node);
        c->stretched = stretched;
    }
    return c;
}

/** The second operand: a value, or a parameter. */
static struct ys_operand second_of(const struct ys_lowering *low, const struct ys_node *node)
{
    return node->in_count == 2 ? ys_ref_at(low->value[node->in[1]])
                               : ys_lower_param_at(low, low->weights, node->weight);
}

/** How the operands move with the rows of the batch: a parameter does not. */
static const char *moves_of(const struct ys_node *node)
{
    return node->in_count == 2 ? "rrrr" : "r-rr";
}

ys_status ys_ref_forward_pair(struct ys_lowering *low, const struct ys_node *node)
{
    YS_TRY(ys_ref_inputs(low, node));
    YS_TRY(ys_ref_output(low, node->out[0]));
    const struct ys_operand operands[] = {ys_ref_at(low->value[node->in[0]]), second_of(low, node),
                                          ys_ref_at(low->value[node->out[0]])};
    return ys_ref_call_rows(low, node, ys_ref_op(low, node)->forward, pair_context(low, node, 0), moves_of(node),
                            operands, 3);
}

/** The gradient of operand k into `share`. Where it is made of the operands: a, b, dy, dx; else dy, dx. */
static ys_status backward_of(struct ys_lowering *low, const struct ys_node *node, int k, struct ys_operand share)
{
    struct ys_operand operands[4];
    size_t count = 0;
    if (ys_op_rule(node->op)->reads_x) {
        operands[count++] = ys_ref_at(low->value[node->in[0]]);
        operands[count++] = second_of(low, node);
    }
    operands[count++] = ys_ref_at(low->gradient[node->out[0]]);
    operands[count++] = share;
    if (k >= (int)node->in_count) /* a parameter's, to which all rows add */
        return ys_ref_call(low, node, ys_ref_op(low, node)->backward, pair_context(low, node, k), operands, count);
    return ys_ref_call_rows(low, node, ys_ref_op(low, node)->backward, pair_context(low, node, k),
                            count == 4 ? moves_of(node) : "rr", operands, count);
}

ys_status ys_ref_backward_pair(struct ys_lowering *low, const struct ys_node *node)
{
    for (size_t k = 0; k < node->in_count; k++) {
        int in = node->in[k], share;
        if (!low->value_gradient[in])
            continue;
        YS_TRY(ys_ref_begin_share(low, in, &share));
        YS_TRY(backward_of(low, node, (int)k, ys_ref_at(share)));
        YS_TRY(ys_ref_end_share(low, node, in, share));
    }
    if (node->weight < 0)
        return YS_OK;
    struct ys_operand share;
    bool is_more;
    YS_TRY(ys_lower_param_share(low, node->weight, &share, &is_more));
    YS_TRY(backward_of(low, node, 1, share));
    return is_more ? ys_ref_end_param(low, node, node->weight, share) : YS_OK;
}

/* ---- Flatten and Reshape: the same elements in the same order */

ys_status ys_ref_forward_view(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_ref *ref = low->state;
    YS_TRY(ys_ref_inputs(low, node));
    int from = low->value[node->in[0]];
    if (node->out[0] != low->graph->output) {
        low->value[node->out[0]] = from;
        return YS_OK;
    }
    YS_TRY(ys_ref_output(low, node->out[0]));
    return call_each(low, node, node->in[0], ref->kernels->copy,
                     (struct ys_operand[]){ys_ref_at(from), ys_ref_at(low->logits)}, 2);
}

/** The gradient is passed on, unless others have given theirs or it has a place of its own. */
ys_status ys_ref_backward_view(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_ref *ref = low->state;
    int in = node->in[0], from = low->gradient[node->out[0]];
    if (!low->value_gradient[in])
        return YS_OK;
    if (low->gradient[in] >= 0)
        return ys_ref_end_share(low, node, in, from);
    if (in != low->graph->inputs[0]) {
        low->gradient[in] = from;
        return YS_OK;
    }
    YS_TRY(ys_ref_gradient(low, in));
    return call_each(low, node, in, ref->kernels->copy,
                     (struct ys_operand[]){ys_ref_at(from), ys_ref_at(low->gradient[in])}, 2);
}

/* ---- Concat and Split: pieces along an axis */

/** Copies `part` to or from the place in `whole` that begins at index `first` of the axis. */
static ys_status call_piece(struct ys_lowering *low, const struct ys_node *node, int whole, int part, int64_t first,
                            bool into_whole, struct ys_operand from, struct ys_operand to)
{
    size_t axis = (size_t)node->axis, rank = low->graph->values[whole].rank;
    int64_t inner = extent_of(low, whole, axis + 1, rank), row = extent_of(low, whole, axis, rank);
    struct ys_ref_context *c = ys_ref_context(low, node);
    if (!c)
        return ys_out_of_memory();
    struct ys_ref_piece piece = {.outer = extent_of(low, whole, 0, axis), .length = extent_of(low, part, axis, rank)};
    piece.from_row = into_whole ? piece.length : row;
    piece.to_row = into_whole ? row : piece.length;
    *(into_whole ? &piece.to_first : &piece.from_first) = first * inner;
    c->piece = piece;
    return ys_ref_call_rows(low, node, ys_ref_op(low, node)->forward, c, "rr", (struct ys_operand[]){from, to}, 2);
}

ys_status ys_ref_forward_concat(struct ys_lowering *low, const struct ys_node *node)
{
    int whole = node->out[0];
    YS_TRY(ys_ref_inputs(low, node));
    YS_TRY(ys_ref_output(low, whole));
    int64_t first = 0;
    for (size_t k = 0; k < node->in_count; k++) {
        int part = node->in[k];
        YS_TRY(
            call_piece(low, node, whole, part, first, true, ys_ref_at(low->value[part]), ys_ref_at(low->value[whole])));
        first += low->graph->values[part].shape[node->axis];
    }
    return YS_OK;
}

ys_status ys_ref_backward_concat(struct ys_lowering *low, const struct ys_node *node)
{
    int64_t first = 0;
    for (size_t k = 0; k < node->in_count; k++) {
        int part = node->in[k], share;
        if (low->value_gradient[part]) {
            YS_TRY(ys_ref_begin_share(low, part, &share));
            YS_TRY(call_piece(low, node, node->out[0], part, first, false, ys_ref_at(low->gradient[node->out[0]]),
                              ys_ref_at(share)));
            YS_TRY(ys_ref_end_share(low, node, part, share));
        }
        first += low->graph->values[part].shape[node->axis];
    }
    return YS_OK;
}

ys_status ys_ref_forward_split(struct ys_lowering *low, const struct ys_node *node)
{
    int whole = node->in[0];
    YS_TRY(ys_ref_inputs(low, node));
    int64_t first = 0;
    for (size_t k = 0; k < node->out_count; k++) {
        int part = node->out[k];
        if (low->value_reads[part] > 0) {
            YS_TRY(ys_ref_output(low, part));
            YS_TRY(call_piece(low, node, whole, part, first, false, ys_ref_at(low->value[whole]),
                              ys_ref_at(low->value[part])));
        }
        first += low->graph->values[part].shape[node->axis];
    }
    return YS_OK;
}

/** A result that nobody reads has no gradient: its place stays zero. */
ys_status ys_ref_backward_split(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_ref *ref = low->state;
    int whole = node->in[0], share;
    if (!low->value_gradient[whole])
        return YS_OK;
    YS_TRY(ys_ref_begin_share(low, whole, &share));
    YS_TRY(call_each(low, node, whole, ref->kernels->zero, (struct ys_operand[]){ys_ref_at(share)}, 1));
    int64_t first = 0;
    for (size_t k = 0; k < node->out_count; k++) {
        int part = node->out[k];
        if (low->gradient[part] >= 0)
            YS_TRY(call_piece(low, node, whole, part, first, true, ys_ref_at(low->gradient[part]), ys_ref_at(share)));
        first += low->graph->values[part].shape[node->axis];
    }
    return ys_ref_end_share(low, node, whole, share);
}
