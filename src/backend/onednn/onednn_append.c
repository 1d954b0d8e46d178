#include "backend/onednn/onednn_state.h"

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

/** Makes the operation and its memories; on failure `operation` holds what has to be freed. */
static ys_status operation_fill(const struct onednn *o, const_dnnl_primitive_desc_t pd,
                                const struct onednn_argument *arguments, size_t count, struct operation *operation)
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

ys_status ys_onednn_append(struct ys_lowering *low, const char *name, const_dnnl_primitive_desc_t pd,
                           const struct onednn_argument *given, size_t count)
{
    struct onednn_argument arguments[YS_CALL_MAX_OPERANDS];
    YS_ASSERT(count < YS_CALL_MAX_OPERANDS);
    memcpy(arguments, given, count * sizeof *given);
    ys_layout scratch = ys_layout_of(pd, DNNL_ARG_SCRATCHPAD);
    if (ys_layout_bytes(&scratch) > 0) {
        arguments[count] = (struct onednn_argument){.id = DNNL_ARG_SCRATCHPAD};
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
                           .segment = low->segment,
                           .kind = low->kind};
    for (size_t i = 0; i < count; i++)
        call.operands[i] = arguments[i].operand;
    return ys_program_call(low->program, &call);
}

ys_status ys_onednn_append_reorder(struct ys_lowering *low, const char *name, const ys_layout *from,
                                   struct ys_operand source, const ys_layout *to, struct ys_operand target)
{
    const struct onednn *o = low->state;
    dnnl_primitive_desc_t pd = NULL;
    YS_TRY(ys_onednn_reorder(o->engine, from, to, &pd));
    ys_status status =
        ys_onednn_append(low, name, pd, (struct onednn_argument[]){{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}}, 2);
    dnnl_primitive_desc_destroy(pd);
    if (status == YS_OK)
        ys_lower_mark(low, YS_CALL_LAYOUT);
    return status;
}

struct ys_operand ys_onednn_param(const struct ys_lowering *low, int flat, int param)
{
    return ys_lower_param_at(low, flat, param);
}

size_t ys_onednn_dims(const struct ys_lowering *low, int value, int64_t dims[YS_MAX_RANK])
{
    const struct ys_value *v = &low->graph->values[value];
    memcpy(dims, v->shape, v->rank * sizeof *dims);
    dims[0] = low->config.batch;
    return v->rank;
}

ys_status ys_onednn_plain(const struct ys_lowering *low, int value, ys_layout *layout)
{
    int64_t dims[YS_MAX_RANK];
    size_t rank = ys_onednn_dims(low, value, dims);
    return ys_layout_plain(layout, rank, dims);
}

ys_status ys_onednn_buffer(struct ys_lowering *low, const ys_layout *layout, int *buffer)
{
    return ys_program_buffer(low->program, ys_layout_bytes(layout), false, buffer);
}

ys_status ys_onednn_output(struct ys_lowering *low, int value)
{
    const struct onednn *o = low->state;
    ys_layout plain;
    YS_TRY(ys_onednn_plain(low, value, &plain));
    if (value != low->graph->output || !ys_layout_equal(&o->values[value].layout, &plain))
        return ys_onednn_buffer(low, &o->values[value].layout, &low->value[value]);
    low->value[value] = low->logits;
    return YS_OK;
}

ys_status ys_onednn_need(struct ys_lowering *low, const char *name, const ys_layout *have, const ys_layout *want,
                         struct ys_operand *operand)
{
    if (ys_layout_equal(have, want))
        return YS_OK;
    struct ys_operand other = {0};
    YS_TRY(ys_onednn_buffer(low, want, &other.buffer));
    YS_TRY(ys_onednn_append_reorder(low, name, have, *operand, want, other));
    *operand = other;
    return YS_OK;
}

/** The tail that makes the value, or NULL. */
static struct onednn_tail *tail_of(const struct ys_lowering *low, int value)
{
    const struct onednn *o = low->state;
    int producer = low->graph->values[value].producer;
    int tail = producer < 0 ? -1 : o->nodes[producer].tail;
    return tail >= 0 && o->tails[tail].y == value ? &o->tails[tail] : NULL;
}

ys_status ys_onednn_value(struct ys_lowering *low, const char *name, int value, const ys_layout *want,
                          struct ys_operand *operand)
{
    struct onednn *o = low->state;
    struct onednn_value *v = &o->values[value];
    struct onednn_tail *tail = tail_of(low, value);
    *operand = ys_at(low->value[value]);
    if (low->segment == YS_SEGMENT_BACKWARD && tail && tail->rebuilds) {
        if (v->rebuilt < 0)
            YS_TRY(ys_onednn_rebuild(low, tail, &v->rebuilt));
        *operand = ys_at(v->rebuilt);
    }
    return ys_onednn_need(low, name, &v->layout, want, operand);
}

ys_status ys_onednn_plain_value(struct ys_lowering *low, const char *name, int value, struct ys_operand *operand)
{
    ys_layout plain;
    YS_TRY(ys_onednn_plain(low, value, &plain));
    return ys_onednn_value(low, name, value, &plain, operand);
}

/* ---- gradients */

static ys_status append_add(struct ys_lowering *low, const char *name, const ys_layout *layout, int into, int share)
{
    struct ys_elements c = {low->config.threads, ys_layout_elements(layout)};
    YS_TRY(ys_lower_call_own(low, name, ys_kernels(ys_layout_is_bf16(layout), YS_LANES)->add, &c, sizeof c,
                             (struct ys_operand[]){ys_at(into), ys_at(share)}, 2));
    ys_lower_mark(low, YS_CALL_POINTWISE);
    return YS_OK;
}

ys_status ys_onednn_add_param(struct ys_lowering *low, const struct ys_node *node, int param, struct ys_operand share,
                              bool is_more)
{
    if (!is_more) /* nor is there a parameter, where a node has no bias */
        return YS_OK;
    struct ys_elements c = {low->config.threads, low->param_size[param]};
    YS_TRY(ys_lower_call_own(low, node->name, ys_kernels(false, YS_LANES)->add, &c, sizeof c,
                             (struct ys_operand[]){ys_onednn_param(low, low->gradients, param), share}, 2));
    ys_lower_mark(low, YS_CALL_POINTWISE);
    return YS_OK;
}

/** Adds a share in the gradient's own layout. */
static ys_status add_share(struct ys_lowering *low, const char *name, int value, int share)
{
    const struct onednn *o = low->state;
    const ys_layout *layout = &o->values[value].gradient;
    int old = low->gradient[value], fresh;
    switch (ys_lower_share(low, value, share)) {
    case YS_SHARE_INTO_OLD:
        return append_add(low, name, layout, old, share);
    case YS_SHARE_INTO_NEW:
        low->gradient[value] = share;
        return append_add(low, name, layout, share, old);
    case YS_SHARE_FIRST:
    case YS_SHARE_APART:
        break;
    }
    YS_TRY(ys_onednn_buffer(low, layout, &fresh));
    YS_TRY(ys_onednn_append_reorder(low, name, layout, ys_at(old), layout, ys_at(fresh)));
    low->gradient[value] = fresh;
    return append_add(low, name, layout, fresh, share);
}

/** The graph's first input has a place of its own for its gradient: in C order, float. */
static ys_status give_input(struct ys_lowering *low, const char *name, const ys_layout *layout, struct ys_operand share)
{
    int input = low->graph->inputs[0];
    ys_layout plain;
    YS_TRY(ys_onednn_plain(low, input, &plain));
    if (low->gradient[input] < 0) {
        low->gradient[input] = low->input_gradient;
        return ys_onednn_append_reorder(low, name, layout, share, &plain, ys_at(low->input_gradient));
    }
    YS_TRY(ys_onednn_need(low, name, layout, &plain, &share));
    return append_add(low, name, &plain, low->input_gradient, share.buffer);
}

ys_status ys_onednn_give(struct ys_lowering *low, const char *name, int value, const ys_layout *layout,
                         struct ys_operand share)
{
    struct onednn *o = low->state;
    struct onednn_value *v = &o->values[value];
    if (value == low->graph->inputs[0])
        return give_input(low, name, layout, share);
    if (low->gradient[value] < 0) {
        low->gradient[value] = share.buffer;
        v->gradient = *layout;
        return YS_OK;
    }
    YS_TRY(ys_onednn_need(low, name, layout, &v->gradient, &share));
    if (v->second < 0 && tail_of(low, value)) { /* whose backward pass adds as it reads */
        v->second = share.buffer;
        return YS_OK;
    }
    return add_share(low, name, value, share.buffer);
}

ys_status ys_onednn_take(struct ys_lowering *low, const char *name, int value, const ys_layout *want,
                         struct ys_operand *operand)
{
    struct onednn *o = low->state;
    struct onednn_value *v = &o->values[value];
    if (v->second >= 0)
        YS_TRY(add_share(low, name, value, v->second));
    v->second = -1;
    *operand = ys_at(low->gradient[value]);
    return ys_onednn_need(low, name, &v->gradient, want, operand);
}
