/* Sums and products of two values, one of which is stretched. Where both have one shape a sum is part of a tail, and a
 * product is one pass over any layout; here both are read in C order. */
#include "backend/broadcast.h"
#include "backend/onednn_state.h"

#include <string.h>

struct pair {
    struct ys_broadcast broadcast;
    bool is_product;
    int stretched; /* backward: the value whose gradient it is */
};

/** a, b, y */
static ys_status forward_run(void *context, void *const *operand)
{
    const struct pair *p = context;
    const float *a = operand[0], *b = operand[1];
    float *y = operand[2];
    struct ys_broadcast_walk walk = {{0}, {0}};
    for (int64_t i = 0; i < p->broadcast.count; i++, ys_broadcast_next(&p->broadcast, &walk))
        y[i] = p->is_product ? a[walk.at[0]] * b[walk.at[1]] : a[walk.at[0]] + b[walk.at[1]];
    return YS_OK;
}

/** dy, dx, and of a product the other factor */
static ys_status backward_run(void *context, void *const *operand)
{
    const struct pair *p = context;
    const float *dy = operand[0], *other = p->is_product ? operand[2] : NULL;
    float *dx = operand[1];
    int own = p->stretched;
    struct ys_broadcast_walk walk = {{0}, {0}};
    memset(dx, 0, (size_t)p->broadcast.from[own] * sizeof *dx);
    for (int64_t i = 0; i < p->broadcast.count; i++, ys_broadcast_next(&p->broadcast, &walk))
        dx[walk.at[own]] += other ? dy[i] * other[walk.at[1 - own]] : dy[i];
    return YS_OK;
}

static ys_status plain_value(struct ys_lowering *low, const struct ys_node *node, int value, struct ys_operand *operand)
{
    ys_layout plain;
    YS_TRY(ys_onednn_plain(low, value, &plain));
    return ys_onednn_value(low, node->name, value, &plain, operand);
}

static ys_status forward_stretched(struct ys_lowering *low, const struct ys_node *node)
{
    struct pair p = {.broadcast = ys_broadcast_of(low, node), .is_product = node->op == YS_OP_MUL};
    struct ys_operand operands[3];
    for (int k = 0; k < 2; k++)
        YS_TRY(plain_value(low, node, node->in[k], &operands[k]));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    operands[2] = ys_at(low->value[node->out[0]]);
    return ys_onednn_append_own(low, node->name, forward_run, &p, sizeof p, operands, 3);
}

static ys_status backward_stretched(struct ys_lowering *low, const struct ys_node *node)
{
    struct pair p = {.broadcast = ys_broadcast_of(low, node), .is_product = node->op == YS_OP_MUL};
    struct ys_operand operands[3] = {{0}};
    ys_layout plain;
    YS_TRY(ys_onednn_plain(low, node->out[0], &plain));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &operands[0]));
    for (p.stretched = 0; p.stretched < 2; p.stretched++) {
        int in = node->in[p.stretched];
        if (!low->value_gradient[in])
            continue;
        if (p.is_product)
            YS_TRY(plain_value(low, node, node->in[1 - p.stretched], &operands[2]));
        YS_TRY(ys_onednn_plain(low, in, &plain));
        YS_TRY(ys_onednn_buffer(low, &plain, &operands[1].buffer));
        YS_TRY(ys_onednn_append_own(low, node->name, backward_run, &p, sizeof p, operands, 2 + p.is_product));
        YS_TRY(ys_onednn_give(low, node->name, in, &plain, operands[1]));
    }
    return YS_OK;
}

ys_status ys_onednn_decide_sum(struct ys_lowering *low, const struct ys_node *node)
{
    return node->broadcast ? ys_onednn_decide_plain(low, node) : ys_onednn_decide_tail(low, node);
}

ys_status ys_onednn_forward_sum(struct ys_lowering *low, const struct ys_node *node)
{
    return node->broadcast ? forward_stretched(low, node) : ys_onednn_forward_tail(low, node);
}

ys_status ys_onednn_backward_sum(struct ys_lowering *low, const struct ys_node *node)
{
    return node->broadcast ? backward_stretched(low, node) : ys_onednn_backward_tail(low, node);
}

ys_status ys_onednn_decide_product(struct ys_lowering *low, const struct ys_node *node)
{
    return node->broadcast ? ys_onednn_decide_plain(low, node) : ys_onednn_decide_same(low, node);
}

ys_status ys_onednn_forward_product(struct ys_lowering *low, const struct ys_node *node)
{
    return node->broadcast ? forward_stretched(low, node) : ys_onednn_forward_multiply(low, node);
}

ys_status ys_onednn_backward_product(struct ys_lowering *low, const struct ys_node *node)
{
    return node->broadcast ? backward_stretched(low, node) : ys_onednn_backward_multiply(low, node);
}
