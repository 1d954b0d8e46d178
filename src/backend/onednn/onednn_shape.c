#include "backend/onednn/onednn_state.h"

#include "base/mem.h"
#include <string.h>

/* ---- the input */

ys_status ys_onednn_decide_normalize(struct ys_lowering *low, const struct ys_node *node)
{
    int input = ys_graph_input_of(low->graph, node->in[0]);
    if (input < 0)
        return ys_fail(YS_EUNSUPPORTED, "the back end onednn normalizes the graph's inputs only; " YS_ONEDNN_REMEDY);
    if (low->graph->values[node->in[0]].rank > 4)
        return ys_fail(YS_EUNSUPPORTED, "the back end onednn normalizes up to 4 dimensions; " YS_ONEDNN_REMEDY);
    return YS_OK; /* the first to read the pixels has a wish, or ys_onednn_decide_value() takes C order */
}

ys_status ys_onednn_forward_normalize(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    int value = node->out[0];
    const struct ys_value *raw = &low->graph->values[node->in[0]];
    int input = ys_graph_input_of(low->graph, node->in[0]);
    int64_t strides[YS_MAX_RANK];
    YS_TRY(ys_onednn_decide_value(low, value));
    bool is_strided = ys_layout_strides(&o->values[value].layout, strides);
    YS_ASSERT(is_strided && input >= 0);
    struct ys_onednn_pixels *p = ys_alloc(1, sizeof *p);
    if (!p)
        return ys_out_of_memory();
    *p = (struct ys_onednn_pixels){.threads = low->config.threads,
                                   .rows = low->config.batch,
                                   .channels = 1,
                                   .height = 1,
                                   .dtype = raw->dtype,
                                   .normalize = &node->normalize};
    p->channels = raw->rank > 1 ? raw->shape[1] : 1;
    p->height = raw->rank > 2 ? raw->shape[2] : 1;
    p->width = raw->rank > 3 ? raw->shape[3] : 1;
    for (size_t i = 0; i < 4; i++)
        p->stride[i] = i < raw->rank ? strides[i] : 1;
    ys_status status = raw->dtype == YS_U8 ? ys_onednn_pixels_prepare(p) : YS_OK;
    if (status == YS_OK)
        status = ys_onednn_output(low, value);
    if (status != YS_OK) {
        ys_onednn_pixels_free(p);
        return status;
    }
    return ys_lower_call(low, node->name, ys_onednn_pixels_run, p, ys_onednn_pixels_free,
                         (struct ys_operand[]){ys_at(low->inputs[input]), ys_at(low->value[value])}, 2);
}

ys_status ys_onednn_backward_normalize(struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_value *in = &low->graph->values[node->in[0]];
    ys_layout plain;
    struct ys_operand gradient, share = {0};
    YS_TRY(ys_onednn_plain(low, node->out[0], &plain));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &gradient));
    YS_TRY(ys_onednn_buffer(low, &plain, &share.buffer));
    struct ys_onednn_scale c = {low->config.batch, in->shape[1], ys_value_row_elements(in) / in->shape[1],
                                &node->normalize};
    YS_TRY(ys_lower_call_own(low, node->name, ys_onednn_scale_run, &c, sizeof c, (struct ys_operand[]){gradient, share},
                             2));
    return ys_onednn_give(low, node->name, node->in[0], &plain, share);
}

/* ---- flatten, reshape: C order seen with other dimensions; flatten before a matrix product is left to that product */

ys_status ys_onednn_decide_flatten(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    int reader = low->value_reader[node->out[0]];
    bool is_seen_through =
        node->op == YS_OP_FLATTEN && reader >= 0 &&
        ys_integer_way(low, &low->graph->nodes[reader]) == YS_QUANT_IN_FLOAT &&
        (low->graph->nodes[reader].op == YS_OP_GEMM || low->graph->nodes[reader].op == YS_OP_FLATTEN);
    if (is_seen_through)
        return YS_OK;
    int source = node->in[0];
    while (!o->values[source].known && low->graph->values[source].producer >= 0 &&
           low->graph->nodes[low->graph->values[source].producer].op == YS_OP_FLATTEN)
        source = low->graph->nodes[low->graph->values[source].producer].in[0];
    YS_TRY(ys_onednn_decide_value(low, source));
    ys_onednn_node(low, node)->source = source;
    ys_layout plain;
    YS_TRY(ys_onednn_plain(low, node->out[0], &plain));
    plain = ys_layout_cast(&plain, ys_layout_is_bf16(&o->values[source].layout) ? dnnl_bf16 : dnnl_f32);
    ys_onednn_set_layout(low, node->out[0], &plain);
    return YS_OK;
}

/** C order of the value before, in the number format of the one behind. */
static ys_status source_plain(const struct ys_lowering *low, const struct ys_node *node, ys_layout *plain)
{
    const struct onednn *o = low->state;
    YS_TRY(ys_onednn_plain(low, ys_onednn_node(low, node)->source, plain));
    *plain = ys_layout_cast(plain, ys_layout_is_bf16(&o->values[node->out[0]].layout) ? dnnl_bf16 : dnnl_f32);
    return YS_OK;
}

ys_status ys_onednn_forward_flatten(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    int out = node->out[0];
    ys_layout plain;
    struct ys_operand rows;
    if (!o->values[out].known)
        return YS_OK;
    YS_TRY(source_plain(low, node, &plain));
    YS_TRY(ys_onednn_value(low, node->name, ys_onednn_node(low, node)->source, &plain, &rows));
    low->value[out] = rows.buffer;
    return YS_OK;
}

ys_status ys_onednn_backward_flatten(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    int out = node->out[0];
    ys_layout plain;
    struct ys_operand gradient;
    if (!o->values[out].known)
        return YS_OK;
    YS_TRY(source_plain(low, node, &plain));
    YS_TRY(ys_onednn_take(low, node->name, out, &o->values[out].layout, &gradient));
    return ys_onednn_give(low, node->name, ys_onednn_node(low, node)->source, &plain, gradient);
}

/* ---- transpose: the same numbers, read with other strides */

/** The input's C order, seen with the axes of the result. */
static ys_status permuted(const struct ys_lowering *low, const struct ys_node *node, ys_layout *view)
{
    int64_t in[YS_MAX_RANK], out[YS_MAX_RANK], strides[YS_MAX_RANK], permuted_strides[YS_MAX_RANK];
    size_t rank = ys_onednn_dims(low, node->in[0], in);
    ys_onednn_dims(low, node->out[0], out);
    for (size_t i = rank; i-- > 0;)
        strides[i] = i + 1 < rank ? strides[i + 1] * in[i + 1] : 1;
    for (size_t i = 0; i < rank; i++)
        permuted_strides[i] = strides[node->permutation[i]];
    return ys_layout_strided(view, rank, out, permuted_strides);
}

ys_status ys_onednn_forward_transpose(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    ys_layout plain, view;
    struct ys_operand x;
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    YS_TRY(permuted(low, node, &view));
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &plain, &x));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    return ys_onednn_append_reorder(low, node->name, &view, x, &o->values[node->out[0]].layout,
                                    ys_at(low->value[node->out[0]]));
}

ys_status ys_onednn_backward_transpose(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    ys_layout plain, view;
    struct ys_operand dy, dx = {0};
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    YS_TRY(permuted(low, node, &view));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &o->values[node->out[0]].layout, &dy));
    YS_TRY(ys_onednn_buffer(low, &plain, &dx.buffer));
    YS_TRY(ys_onednn_append_reorder(low, node->name, &o->values[node->out[0]].layout, dy, &view, dx));
    return ys_onednn_give(low, node->name, node->in[0], &plain, dx);
}

/* ---- concat, split: a whole and its parts along one axis, all laid out alike */

/** As many as the library joins in one call; beyond that each part is moved by a call of its own, none of which would
 * write what a blocked layout pads with. */
enum { JOIN_MAX = 8 };

/** Whether the pattern's blocks, if it has any, divide the part. */
static bool fits(const ys_layout *pattern, const int64_t *dims, int axis)
{
    struct ys_value_layout image;
    int64_t strides[YS_MAX_RANK];
    if (ys_layout_strides(pattern, strides))
        return true;
    return ys_layout_image(pattern, &image) && (axis != 1 || dims[1] % image.lanes == 0);
}

ys_status ys_onednn_decide_parts(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    bool joins = node->op == YS_OP_CONCAT, all_fit = true;
    int64_t dims[YS_MAX_RANK];
    for (size_t k = 0; k < node->in_count; k++)
        YS_TRY(ys_onednn_decide_value(low, node->in[k]));
    ys_layout pattern = o->values[node->in[0]].layout, layout;
    for (size_t k = 0; k < (joins ? node->in_count : node->out_count); k++) {
        ys_onednn_dims(low, joins ? node->in[k] : node->out[k], dims);
        all_fit &= fits(&pattern, dims, node->in_count > JOIN_MAX ? 1 : node->axis);
    }
    for (size_t k = 0; k < node->out_count; k++) {
        ys_onednn_dims(low, node->out[k], dims);
        if (all_fit)
            YS_TRY(ys_layout_like(&layout, &pattern, dims));
        else
            YS_TRY(ys_onednn_plain(low, node->out[k], &layout));
        ys_onednn_set_layout(low, node->out[k], &layout);
    }
    return YS_OK;
}

/** How `value` is laid out as a part, or as the whole. */
static ys_status alike(const struct ys_lowering *low, const struct ys_node *node, int value, ys_layout *layout)
{
    const struct onednn *o = low->state;
    int64_t dims[YS_MAX_RANK];
    ys_onednn_dims(low, value, dims);
    return ys_layout_like(layout, &o->values[node->out[0]].layout, dims);
}

/** Part k of the whole, where it lies in there; `from` is its first index along the axis. */
static ys_status part_of(const struct ys_lowering *low, const struct ys_node *node, const ys_layout *whole, int value,
                         int64_t from, ys_layout *part)
{
    int64_t dims[YS_MAX_RANK], offsets[YS_MAX_RANK] = {0};
    ys_onednn_dims(low, value, dims);
    offsets[node->axis] = from;
    return ys_layout_part(part, whole, dims, offsets);
}

static ys_status join(struct ys_lowering *low, const struct ys_node *node, const ys_layout *parts,
                      const struct ys_operand *sources, size_t count, const ys_layout *whole, struct ys_operand target)
{
    const struct onednn *o = low->state;
    struct onednn_argument arguments[JOIN_MAX + 1] = {{DNNL_ARG_DST, target}};
    dnnl_primitive_desc_t pd = NULL;
    YS_ASSERT(count <= JOIN_MAX);
    for (size_t k = 0; k < count; k++)
        arguments[1 + k] = (struct onednn_argument){DNNL_ARG_MULTIPLE_SRC + (int)k, sources[k]};
    YS_TRY(ys_onednn_concat(o->engine, whole, parts, count, node->axis, &pd));
    ys_status status = ys_onednn_append(low, node->name, pd, arguments, 1 + count);
    dnnl_primitive_desc_destroy(pd);
    return status;
}

static ys_status join_one_by_one(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    const ys_layout *whole = &o->values[node->out[0]].layout;
    int64_t from = 0;
    for (size_t k = 0; k < node->in_count; k++) {
        ys_layout part, here;
        struct ys_operand source;
        YS_TRY(alike(low, node, node->in[k], &part));
        YS_TRY(ys_onednn_value(low, node->name, node->in[k], &part, &source));
        YS_TRY(part_of(low, node, whole, node->in[k], from, &here));
        YS_TRY(ys_onednn_append_reorder(low, node->name, &part, source, &here, ys_at(low->value[node->out[0]])));
        from += low->graph->values[node->in[k]].shape[node->axis];
    }
    return YS_OK;
}

ys_status ys_onednn_forward_concat(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    ys_layout parts[JOIN_MAX];
    struct ys_operand sources[JOIN_MAX];
    YS_TRY(ys_onednn_output(low, node->out[0]));
    if (node->in_count > JOIN_MAX)
        return join_one_by_one(low, node);
    for (size_t k = 0; k < node->in_count; k++) {
        YS_TRY(alike(low, node, node->in[k], &parts[k]));
        YS_TRY(ys_onednn_value(low, node->name, node->in[k], &parts[k], &sources[k]));
    }
    return join(low, node, parts, sources, node->in_count, &o->values[node->out[0]].layout,
                ys_at(low->value[node->out[0]]));
}

ys_status ys_onednn_backward_concat(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    const ys_layout *whole = &o->values[node->out[0]].layout;
    struct ys_operand dy, dx = {0};
    int64_t from = 0;
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], whole, &dy));
    for (size_t k = 0; k < node->in_count; k++) {
        ys_layout here, own;
        YS_TRY(part_of(low, node, whole, node->in[k], from, &here));
        from += low->graph->values[node->in[k]].shape[node->axis];
        if (!low->value_gradient[node->in[k]])
            continue;
        YS_TRY(alike(low, node, node->in[k], &own));
        YS_TRY(ys_onednn_buffer(low, &own, &dx.buffer));
        YS_TRY(ys_onednn_append_reorder(low, node->name, &here, dy, &own, dx));
        YS_TRY(ys_onednn_give(low, node->name, node->in[k], &own, dx));
    }
    return YS_OK;
}

ys_status ys_onednn_forward_split(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    ys_layout whole, here;
    struct ys_operand x;
    int64_t from = 0;
    YS_TRY(alike(low, node, node->in[0], &whole));
    YS_TRY(ys_onednn_value(low, node->name, node->in[0], &whole, &x));
    for (size_t k = 0; k < node->out_count; k++) {
        YS_TRY(part_of(low, node, &whole, node->out[k], from, &here));
        from += node->split[k];
        if (low->value_reads[node->out[k]] == 0)
            continue;
        YS_TRY(ys_onednn_output(low, node->out[k]));
        YS_TRY(ys_onednn_append_reorder(low, node->name, &here, x, &o->values[node->out[k]].layout,
                                        ys_at(low->value[node->out[k]])));
    }
    return YS_OK;
}

ys_status ys_onednn_backward_split(struct ys_lowering *low, const struct ys_node *node)
{
    const struct onednn *o = low->state;
    ys_layout whole, parts[YS_NODE_MAX_OUT];
    struct ys_operand sources[YS_NODE_MAX_OUT], dx = {0};
    for (size_t k = 0; k < node->out_count; k++) {
        parts[k] = o->values[node->out[k]].layout;
        if (low->gradient[node->out[k]] >= 0) {
            YS_TRY(ys_onednn_take(low, node->name, node->out[k], &parts[k], &sources[k]));
            continue;
        }
        sources[k] = ys_at(-1); /* nobody reads this part: a persistent buffer starts as zeros, and stays so */
        YS_TRY(ys_program_buffer(low->program, ys_layout_bytes(&parts[k]), true, &sources[k].buffer));
    }
    YS_TRY(alike(low, node, node->in[0], &whole));
    YS_TRY(ys_onednn_buffer(low, &whole, &dx.buffer));
    YS_TRY(join(low, node, parts, sources, node->out_count, &whole, dx));
    return ys_onednn_give(low, node->name, node->in[0], &whole, dx);
}
