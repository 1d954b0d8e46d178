/* The oneDNN back end: appends calls. */
#include "backend/onednn_state.h"

#include "base/mem.h"
#include <string.h>

/** One operation of the library, ready to run: its memories are bound to the arena once. */
struct operation {
    dnnl_primitive_t primitive;
    dnnl_stream_t stream;
    int count;
    dnnl_exec_arg_t arguments[YS_CALL_MAX_OPERANDS];
};

static void operation_free(void *context)
{
    struct operation *operation = context;
    for (int i = 0; i < operation->count; i++)
        dnnl_memory_destroy(operation->arguments[i].memory);
    dnnl_primitive_destroy(operation->primitive);
    ys_free(operation);
}

static ys_status operation_bind(void *context, void *const *operand)
{
    struct operation *operation = context;
    for (int i = 0; i < operation->count; i++)
        YS_TRY(ys_onednn_status(dnnl_memory_set_data_handle(operation->arguments[i].memory, operand[i]), "memory"));
    return YS_OK;
}

static ys_status operation_run(void *context, void *const *operand)
{
    (void)operand;
    const struct operation *operation = context;
    return ys_onednn_status(
        dnnl_primitive_execute(operation->primitive, operation->stream, operation->count, operation->arguments),
        "call");
}

struct argument {
    int id; /* DNNL_ARG_... */
    struct ys_operand operand;
};

/** Makes the operation and its memories; on failure `operation` holds what has to be freed. */
static ys_status operation_fill(const struct onednn *o, const_dnnl_primitive_desc_t pd,
                                const struct argument *arguments, size_t count, struct operation *operation)
{
    operation->stream = o->stream;
    YS_TRY(ys_onednn_status(dnnl_primitive_create(&operation->primitive, pd), "operation"));
    for (size_t i = 0; i < count; i++) {
        ys_layout layout = ys_layout_of(pd, arguments[i].id);
        dnnl_exec_arg_t *argument = &operation->arguments[i];
        argument->arg = arguments[i].id;
        YS_TRY(
            ys_onednn_status(dnnl_memory_create(&argument->memory, &layout.md, o->engine, DNNL_MEMORY_NONE), "memory"));
        operation->count++;
    }
    return YS_OK;
}

/** Appends the operation; where it wants a scratchpad it gets a buffer for the time of its call. */
static ys_status append(struct ys_lowering *low, const char *name, const_dnnl_primitive_desc_t pd,
                        const struct argument *given, size_t count)
{
    struct argument arguments[YS_CALL_MAX_OPERANDS];
    YS_ASSERT(count < YS_CALL_MAX_OPERANDS);
    memcpy(arguments, given, count * sizeof *given);
    ys_layout scratch = ys_layout_of(pd, DNNL_ARG_SCRATCHPAD);
    if (ys_layout_bytes(&scratch) > 0) {
        arguments[count] = (struct argument){.id = DNNL_ARG_SCRATCHPAD};
        YS_TRY(ys_program_buffer(low->program, ys_layout_bytes(&scratch), false, &arguments[count++].operand.buffer));
    }
    struct operation *operation = ys_alloc(1, sizeof *operation);
    if (!operation)
        return ys_out_of_memory();
    ys_status status = operation_fill(low->state, pd, arguments, count, operation);
    if (status != YS_OK) {
        operation_free(operation);
        return status;
    }
    struct ys_call call = {.name = name,
                           .run = operation_run,
                           .bind = operation_bind,
                           .free = operation_free,
                           .context = operation,
                           .operand_count = count,
                           .segment = low->segment};
    for (size_t i = 0; i < count; i++)
        call.operands[i] = arguments[i].operand;
    return ys_program_call(low->program, &call);
}

static struct ys_operand at(int buffer)
{
    return (struct ys_operand){.buffer = buffer};
}

static struct ys_operand param_at(const struct ys_lowering *low, int flat, int param)
{
    return (struct ys_operand){flat, low->param_offset[param] * sizeof(float)};
}

/** Appends a call of ours with a copy of `context`. */
static ys_status append_own(struct ys_lowering *low, const char *name, ys_call_run run, const void *context,
                            size_t size, const struct ys_operand *operands, size_t count)
{
    void *copy = ys_alloc(1, size);
    if (!copy)
        return ys_out_of_memory();
    memcpy(copy, context, size);
    return ys_lower_call(low, name, run, copy, ys_free, operands, count);
}

static ys_status append_reorder(struct ys_lowering *low, const char *name, const ys_layout *from,
                                struct ys_operand source, const ys_layout *to, struct ys_operand target)
{
    const struct onednn *o = low->state;
    dnnl_primitive_desc_t pd = NULL;
    YS_TRY(ys_onednn_reorder(o->engine, from, to, &pd));
    ys_status status = append(low, name, pd, (struct argument[]){{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}}, 2);
    dnnl_primitive_desc_destroy(pd);
    return status;
}

/** *operand holds data laid out `have`; afterwards it names a place where the same data are laid out `want`. */
static ys_status need_layout(struct ys_lowering *low, const char *name, const ys_layout *have, const ys_layout *want,
                             struct ys_operand *operand)
{
    if (ys_layout_equal(have, want))
        return YS_OK;
    struct ys_operand other = {0};
    YS_TRY(ys_program_buffer(low->program, ys_layout_bytes(want), false, &other.buffer));
    YS_TRY(append_reorder(low, name, have, *operand, want, other));
    *operand = other;
    return YS_OK;
}

static ys_status append_pixels(struct ys_lowering *low, const struct ys_node *node, int value,
                               const struct ys_normalize *normalize)
{
    const struct onednn *o = low->state;
    const struct ys_value *raw = &low->graph->values[low->graph->input];
    struct ys_onednn_pixels *p = ys_alloc(1, sizeof *p);
    if (!p)
        return ys_out_of_memory();
    *p = (struct ys_onednn_pixels){.threads = low->config.threads,
                                   .rows = low->config.batch,
                                   .channels = 1,
                                   .height = 1,
                                   .dtype = raw->dtype,
                                   .normalize = normalize};
    int64_t strides[YS_MAX_RANK];
    bool is_strided = ys_layout_strides(&o->values[value].layout, strides);
    YS_ASSERT(is_strided && raw->rank <= 4);
    p->channels = raw->rank > 1 ? raw->shape[1] : 1;
    p->height = raw->rank > 2 ? raw->shape[2] : 1;
    p->width = raw->rank > 3 ? raw->shape[3] : 1;
    for (size_t i = 0; i < 4; i++)
        p->stride[i] = i < raw->rank ? strides[i] : 1;
    ys_status status = raw->dtype == YS_U8 ? ys_onednn_pixels_prepare(p) : YS_OK;
    if (status == YS_OK)
        status = ys_program_buffer(low->program, ys_layout_bytes(&o->values[value].layout), false, &low->value[value]);
    if (status != YS_OK) {
        ys_onednn_pixels_free(p);
        return status;
    }
    return ys_lower_call(low, node->name, ys_onednn_pixels_run, p, ys_onednn_pixels_free,
                         (struct ys_operand[]){at(low->input), at(low->value[value])}, 2);
}

/** The graph's input as a value: float rows as they are, bytes widened first. */
static ys_status need_input(struct ys_lowering *low, const struct ys_node *node)
{
    int input = node->in[0];
    if (input != low->graph->input || low->value[input] >= 0)
        return YS_OK;
    if (low->graph->values[input].dtype == YS_U8)
        return append_pixels(low, node, input, NULL);
    low->value[input] = low->input;
    return YS_OK;
}

static ys_status make_output(struct ys_lowering *low, int value)
{
    const struct onednn *o = low->state;
    if (value == low->graph->output) {
        low->value[value] = low->logits;
        return YS_OK;
    }
    return ys_program_buffer(low->program, ys_layout_bytes(&o->values[value].layout), false, &low->value[value]);
}

/** The node's input where and as its operation wants it. */
static ys_status input_operand(struct ys_lowering *low, const struct ys_node *node, const ys_layout *want,
                               struct ys_operand *operand)
{
    const struct onednn *o = low->state;
    const struct onednn_node *state = &o->nodes[node - low->graph->nodes];
    int value = node->op == YS_OP_GEMM ? state->source : node->in[0];
    *operand = at(low->value[value]);
    if (node->op != YS_OP_GEMM)
        return need_layout(low, node->name, &o->values[value].layout, want, operand);
    if (state->in_source_order)
        return YS_OK;
    int64_t dims[YS_MAX_RANK];
    ys_layout plain;
    YS_TRY(ys_layout_plain(&plain, ys_onednn_dims(low, value, dims), dims));
    return need_layout(low, node->name, &o->values[value].layout, &plain, operand);
}

/** Convolution, matrix product, pool: the library's own operations. */
static ys_status forward_operation(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    struct onednn_node *state = &o->nodes[node - low->graph->nodes];
    struct argument arguments[4] = {{.id = DNNL_ARG_SRC}, {.id = DNNL_ARG_DST}};
    size_t count = 2;
    ys_layout src = ys_layout_of(state->forward, DNNL_ARG_SRC);
    YS_TRY(input_operand(low, node, &src, &arguments[0].operand));
    YS_TRY(make_output(low, node->out[0]));
    arguments[1].operand = at(low->value[node->out[0]]);
    if (node->weight >= 0)
        arguments[count++] = (struct argument){DNNL_ARG_WEIGHTS, param_at(low, low->weights, node->weight)};
    if (node->bias >= 0)
        arguments[count++] = (struct argument){DNNL_ARG_BIAS, param_at(low, low->weights, node->bias)};
    if (node->op == YS_OP_MAXPOOL && low->config.training) {
        ys_layout workspace = ys_layout_of(state->forward, DNNL_ARG_WORKSPACE);
        YS_TRY(ys_program_buffer(low->program, ys_layout_bytes(&workspace), false, &state->workspace));
        arguments[count++] = (struct argument){DNNL_ARG_WORKSPACE, at(state->workspace)};
    }
    return append(low, node->name, state->forward, arguments, count);
}

static ys_status forward_relu(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    int in = node->in[0], out = node->out[0];
    if (o->nodes[node - low->graph->nodes].is_fused) {
        low->value[out] = low->value[in];
        return YS_OK;
    }
    struct ys_operand x = at(low->value[in]);
    YS_TRY(need_layout(low, node->name, &o->values[in].layout, &o->values[out].layout, &x));
    /* In place, unless the buffer is the caller's input or the result has a place of its own. */
    if (x.buffer == low->input || out == low->graph->output)
        YS_TRY(make_output(low, out));
    else
        low->value[out] = x.buffer;
    struct ys_onednn_elements c = {low->config.threads, ys_layout_bytes(&o->values[out].layout) / sizeof(float)};
    return append_own(low, node->name, ys_onednn_relu_run, &c, sizeof c, (struct ys_operand[]){x, at(low->value[out])},
                      2);
}

/** Where no matrix product sees through it, Flatten puts the rows in C order. */
static ys_status forward_flatten(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    int in = node->in[0], out = node->out[0];
    if (!o->values[out].known) {
        low->value[out] = low->value[in];
        return YS_OK;
    }
    int source = in;
    while (!o->values[source].known)
        source = low->graph->nodes[low->graph->values[source].producer].in[0];
    int64_t dims[YS_MAX_RANK];
    ys_layout plain;
    YS_TRY(ys_layout_plain(&plain, ys_onednn_dims(low, source, dims), dims));
    struct ys_operand rows = at(low->value[source]);
    if (out == low->graph->output) {
        low->value[out] = low->logits;
        return append_reorder(low, node->name, &o->values[source].layout, rows, &plain, at(low->logits));
    }
    YS_TRY(need_layout(low, node->name, &o->values[source].layout, &plain, &rows));
    low->value[out] = rows.buffer;
    return YS_OK;
}

ys_status ys_onednn_forward(struct ys_lowering *low, const struct ys_node *node)
{
    if (node->op == YS_OP_NORMALIZE) {
        struct onednn *o = low->state;
        struct onednn_value *out = &o->values[node->out[0]];
        YS_ASSERT(out->known);
        return append_pixels(low, node, node->out[0], &node->normalize);
    }
    YS_TRY(need_input(low, node));
    switch (node->op) {
    case YS_OP_RELU:
        return forward_relu(low, node);
    case YS_OP_FLATTEN:
        return forward_flatten(low, node);
    default:
        return forward_operation(low, node);
    }
}

ys_status ys_onednn_loss(struct ys_lowering *low)
{
    struct onednn *o = low->state;
    int output = low->graph->output;
    struct ys_onednn_loss c = {low->config.batch, low->classes, low->config.training};
    struct ys_operand operands[4] = {at(low->logits), at(low->labels), at(low->loss)};
    if (c.with_gradient) {
        o->values[output].gradient = o->values[output].layout;
        YS_TRY(
            ys_program_buffer(low->program, ys_layout_bytes(&o->values[output].layout), false, &low->gradient[output]));
        operands[3] = at(low->gradient[output]);
    }
    return append_own(low, "loss", ys_onednn_loss_run, &c, sizeof c, operands, 3 + c.with_gradient);
}

/** Takes a finished gradient for `value`; the input's goes, in C order, to its own place. */
static ys_status set_gradient(struct ys_lowering *low, const struct ys_node *node, int value, const ys_layout *layout,
                              struct ys_operand operand)
{
    struct onednn *o = low->state;
    low->gradient[value] = operand.buffer;
    o->values[value].gradient = *layout;
    if (value != low->graph->input)
        return YS_OK;
    int64_t dims[YS_MAX_RANK];
    ys_layout plain;
    YS_TRY(ys_layout_plain(&plain, ys_onednn_dims(low, value, dims), dims));
    return append_reorder(low, node->name, layout, operand, &plain, at(low->input_gradient));
}

/** Appends one of the two backward operations of a convolution or matrix product: `arguments[0]` wants src or weights,
 * `arguments[1]` the gradient of dst. */
static ys_status backward_data(struct ys_lowering *low, const struct ys_node *node, const_dnnl_primitive_desc_t pd)
{
    const struct onednn *o = low->state;
    const struct onednn_node *state = &o->nodes[node - low->graph->nodes];
    int out = node->out[0], in = node->op == YS_OP_GEMM ? state->source : node->in[0];
    ys_layout weight = ys_layout_of(pd, DNNL_ARG_WEIGHTS), dst = ys_layout_of(pd, DNNL_ARG_DIFF_DST);
    ys_layout src = ys_layout_of(pd, DNNL_ARG_DIFF_SRC);
    struct argument arguments[3] = {{DNNL_ARG_WEIGHTS, param_at(low, low->weights, node->weight)},
                                    {DNNL_ARG_DIFF_DST, at(low->gradient[out])},
                                    {.id = DNNL_ARG_DIFF_SRC}};
    YS_TRY(need_layout(low, node->name, &o->params[node->weight].stored, &weight, &arguments[0].operand));
    YS_TRY(need_layout(low, node->name, &o->values[out].gradient, &dst, &arguments[1].operand));
    YS_TRY(ys_program_buffer(low->program, ys_layout_bytes(&src), false, &arguments[2].operand.buffer));
    YS_TRY(append(low, node->name, pd, arguments, 3));
    if (node->op == YS_OP_GEMM) { /* rows again as the value before Flatten has them */
        int64_t dims[YS_MAX_RANK];
        YS_TRY(ys_layout_plain(&src, ys_onednn_dims(low, in, dims), dims));
        if (state->in_source_order)
            src = o->values[in].layout;
    }
    return set_gradient(low, node, in, &src, arguments[2].operand);
}

static ys_status backward_weights(struct ys_lowering *low, const struct ys_node *node, const_dnnl_primitive_desc_t pd)
{
    const struct onednn *o = low->state;
    const ys_layout *stored = &o->params[node->weight].stored;
    ys_layout src = ys_layout_of(pd, DNNL_ARG_SRC), dst = ys_layout_of(pd, DNNL_ARG_DIFF_DST);
    ys_layout weight = ys_layout_of(pd, DNNL_ARG_DIFF_WEIGHTS);
    struct ys_operand target = param_at(low, low->gradients, node->weight);
    bool is_stored = ys_layout_equal(&weight, stored);
    struct argument arguments[4] = {
        {.id = DNNL_ARG_SRC}, {DNNL_ARG_DIFF_DST, at(low->gradient[node->out[0]])}, {DNNL_ARG_DIFF_WEIGHTS, target}};
    YS_TRY(input_operand(low, node, &src, &arguments[0].operand));
    YS_TRY(need_layout(low, node->name, &o->values[node->out[0]].gradient, &dst, &arguments[1].operand));
    if (!is_stored) {
        arguments[2].operand = at(-1);
        YS_TRY(ys_program_buffer(low->program, ys_layout_bytes(&weight), false, &arguments[2].operand.buffer));
    }
    if (node->bias >= 0)
        arguments[3] = (struct argument){DNNL_ARG_DIFF_BIAS, param_at(low, low->gradients, node->bias)};
    YS_TRY(append(low, node->name, pd, arguments, 3 + (node->bias >= 0)));
    return is_stored ? YS_OK : append_reorder(low, node->name, &weight, arguments[2].operand, stored, target);
}

static ys_status backward_conv(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    const struct onednn_node *state = &o->nodes[node - low->graph->nodes];
    dnnl_primitive_desc_t pd = NULL;
    struct ys_onednn_conv conv;
    ys_layout bias;
    YS_TRY(ys_onednn_describe_conv(low, node, &conv, &bias));
    YS_TRY(ys_onednn_conv_backward_weights(o->engine, &conv, state->forward, &pd));
    ys_status status = backward_weights(low, node, pd);
    dnnl_primitive_desc_destroy(pd);
    if (status != YS_OK || !low->value_gradient[node->in[0]])
        return status;
    YS_TRY(ys_onednn_conv_backward_data(o->engine, &conv, state->forward, &pd));
    status = backward_data(low, node, pd);
    dnnl_primitive_desc_destroy(pd);
    return status;
}

static ys_status backward_gemm(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    const struct onednn_node *state = &o->nodes[node - low->graph->nodes];
    dnnl_primitive_desc_t pd = NULL;
    struct ys_onednn_gemm gemm;
    ys_layout bias;
    YS_TRY(ys_onednn_describe_gemm(low, node, &gemm, &bias));
    gemm.weight = o->params[node->weight].stored; /* large: never to be put in another order each step */
    YS_TRY(ys_onednn_gemm_backward_weights(o->engine, &gemm, state->forward, &pd));
    ys_status status = backward_weights(low, node, pd);
    dnnl_primitive_desc_destroy(pd);
    if (status != YS_OK || !low->value_gradient[state->source])
        return status;
    YS_TRY(ys_onednn_gemm_backward_data(o->engine, &gemm, state->forward, &pd));
    status = backward_data(low, node, pd);
    dnnl_primitive_desc_destroy(pd);
    return status;
}

/** Puts zeros into the gradient of `value` where the value itself is not above zero, in place. */
static ys_status append_mask(struct ys_lowering *low, const struct ys_node *node, int value)
{
    struct onednn *o = low->state;
    const ys_layout *layout = &o->values[value].layout;
    struct ys_operand gradient = at(low->gradient[value]);
    YS_TRY(need_layout(low, node->name, &o->values[value].gradient, layout, &gradient));
    low->gradient[value] = gradient.buffer;
    o->values[value].gradient = *layout;
    struct ys_onednn_elements c = {low->config.threads, ys_layout_bytes(layout) / sizeof(float)};
    return append_own(low, node->name, ys_onednn_mask_run, &c, sizeof c,
                      (struct ys_operand[]){at(low->value[value]), gradient}, 2);
}

/** The largest of values that ReLU left is zero only where nothing was above zero; so the gradient of ReLU can be
 * masked behind the pool, where there is less of it. */
static ys_status backward_pool(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    struct onednn_node *state = &o->nodes[node - low->graph->nodes];
    int in = node->in[0], out = node->out[0], producer = low->graph->values[in].producer;
    if (producer >= 0 && low->graph->nodes[producer].op == YS_OP_RELU) {
        YS_TRY(append_mask(low, node, out));
        o->nodes[producer].is_masked = true;
    }
    ys_layout src = o->values[in].layout, dst = o->values[out].layout;
    struct argument arguments[3] = {{DNNL_ARG_DIFF_DST, at(low->gradient[out])},
                                    {DNNL_ARG_WORKSPACE, at(state->workspace)},
                                    {.id = DNNL_ARG_DIFF_SRC}};
    YS_TRY(need_layout(low, node->name, &o->values[out].gradient, &dst, &arguments[0].operand));
    YS_TRY(ys_program_buffer(low->program, ys_layout_bytes(&src), false, &arguments[2].operand.buffer));
    dnnl_primitive_desc_t pd = NULL;
    YS_TRY(ys_onednn_maxpool_backward(o->engine, &src, &dst, &node->window, state->forward, &pd));
    ys_status status = append(low, node->name, pd, arguments, 3);
    dnnl_primitive_desc_destroy(pd);
    return status == YS_OK ? set_gradient(low, node, in, &src, arguments[2].operand) : status;
}

static ys_status backward_flatten(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    int in = node->in[0];
    if (low->gradient[in] >= 0 || !o->values[node->out[0]].known)
        return YS_OK; /* a matrix product has seen through it */
    int64_t dims[YS_MAX_RANK], flat_dims[YS_MAX_RANK];
    ys_layout plain, flat;
    struct ys_operand gradient = at(low->gradient[node->out[0]]);
    YS_TRY(ys_layout_plain(&flat, ys_onednn_dims(low, node->out[0], flat_dims), flat_dims));
    YS_TRY(need_layout(low, node->name, &o->values[node->out[0]].gradient, &flat, &gradient));
    YS_TRY(ys_layout_plain(&plain, ys_onednn_dims(low, in, dims), dims));
    return set_gradient(low, node, in, &plain, gradient);
}

static ys_status backward_relu(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    int in = node->in[0], out = node->out[0];
    if (!o->nodes[node - low->graph->nodes].is_masked)
        YS_TRY(append_mask(low, node, out));
    return set_gradient(low, node, in, &o->values[out].gradient, at(low->gradient[out]));
}

static ys_status backward_normalize(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    const struct ys_value *in = &low->graph->values[node->in[0]];
    int out = node->out[0];
    int64_t dims[YS_MAX_RANK];
    ys_layout plain;
    struct ys_operand gradient = at(low->gradient[out]);
    YS_TRY(ys_layout_plain(&plain, ys_onednn_dims(low, out, dims), dims));
    YS_TRY(need_layout(low, node->name, &o->values[out].gradient, &plain, &gradient));
    struct ys_onednn_scale c = {low->config.batch, in->shape[1], ys_value_row_elements(in) / in->shape[1],
                                &node->normalize};
    low->gradient[node->in[0]] = low->input_gradient;
    return append_own(low, node->name, ys_onednn_scale_run, &c, sizeof c,
                      (struct ys_operand[]){gradient, at(low->input_gradient)}, 2);
}

ys_status ys_onednn_backward(struct ys_lowering *low, const struct ys_node *node)
{
    if (node->weight < 0 && !low->value_gradient[node->in[0]])
        return YS_OK;
    switch (node->op) {
    case YS_OP_CONV:
        return backward_conv(low, node);
    case YS_OP_GEMM:
        return backward_gemm(low, node);
    case YS_OP_MAXPOOL:
        return backward_pool(low, node);
    case YS_OP_FLATTEN:
        return backward_flatten(low, node);
    case YS_OP_RELU:
        return backward_relu(low, node);
    default:
        return backward_normalize(low, node);
    }
}

ys_status ys_onednn_update(struct ys_lowering *low)
{
    struct ys_onednn_update c = {low->config.threads, low};
    struct ys_operand operands[3] = {at(low->weights), at(low->gradients), at(low->state1)};
    return append_own(low, "update", ys_onednn_update_run, &c, sizeof c, operands, 2 + (low->state1 >= 0));
}
