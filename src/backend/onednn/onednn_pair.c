/* Sums, differences, products and quotients of two values, or of a value and a parameter. Of two values of one shape a
 * sum is part of a tail, and a product is one pass over any layout; all others are here, and read both in C order. */
#include "backend/broadcast.h"
#include "backend/onednn/onednn_state.h"
#include "backend/parallel.h"
#include "graph/op.h"

#include <string.h>

struct operand_pair {
    struct ys_broadcast broadcast;
    enum ys_op op;
    int threads;
    int stretched; /* backward: the value whose gradient it is */
};

/** A run of the result along its last axis, made of `a` and `b`, which go on in the given steps. */
static void run_of(enum ys_op op, int64_t count, const float *a, int64_t a_step, const float *b, int64_t b_step,
                   float *y)
{
    if (op == YS_OP_ADD)
        for (int64_t i = 0; i < count; i++)
            y[i] = a[i * a_step] + b[i * b_step];
    else if (op == YS_OP_SUB)
        for (int64_t i = 0; i < count; i++)
            y[i] = a[i * a_step] - b[i * b_step];
    else if (op == YS_OP_MUL)
        for (int64_t i = 0; i < count; i++)
            y[i] = a[i * a_step] * b[i * b_step];
    else
        for (int64_t i = 0; i < count; i++)
            y[i] = a[i * a_step] / b[i * b_step];
}

/** Sets a walk to the run of that number. */
static void go_to_run(const struct ys_broadcast *b, int64_t number, struct ys_broadcast_walk *walk)
{
    *walk = (struct ys_broadcast_walk){{0}, {0}};
    for (size_t axis = b->rank - 1; axis-- > 0; number /= b->extent[axis])
        for (int k = 0; k < 2; k++)
            walk->at[k] += number % b->extent[axis] * b->step[k][axis];
}

static void forward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct operand_pair *p = context;
    const struct ys_broadcast *b = &p->broadcast;
    const float *x[2] = {operand[0], operand[1]};
    float *y = operand[2];
    int64_t count = b->extent[b->rank - 1];
    struct ys_broadcast_walk walk;
    for (size_t i = first; i < end; i++) {
        go_to_run(b, (int64_t)i, &walk);
        run_of(p->op, count, x[0] + walk.at[0], b->step[0][b->rank - 1], x[1] + walk.at[1], b->step[1][b->rank - 1],
               y + (int64_t)i * count);
    }
}

/** a, b, y */
static ys_status forward_run(void *context, void *const *operand)
{
    const struct operand_pair *p = context;
    int64_t runs = p->broadcast.count / p->broadcast.extent[p->broadcast.rank - 1];
    ys_parallel_for(p->threads, (size_t)runs, 1, forward_part, context, operand);
    return YS_OK;
}

enum { CHUNK = 256 };

/** What the gradients of some results add to those of the elements of the operand that they were made of. */
static void shares_of(const struct operand_pair *p, int64_t count, const float *const x[2], const int64_t step[2],
                      const float *dy, float *share)
{
    const float sign = p->stretched == 1 && p->op == YS_OP_SUB ? -1.0F : 1.0F;
    const float *other = x[!p->stretched];
    const int64_t other_step = step[!p->stretched];
    if (p->op == YS_OP_ADD || p->op == YS_OP_SUB)
        for (int64_t i = 0; i < count; i++)
            share[i] = sign * dy[i];
    else if (p->op == YS_OP_MUL)
        for (int64_t i = 0; i < count; i++)
            share[i] = dy[i] * other[i * other_step];
    else if (p->stretched == 0)
        for (int64_t i = 0; i < count; i++)
            share[i] = dy[i] / other[i * other_step];
    else
        for (int64_t i = 0; i < count; i++)
            share[i] = -dy[i] * other[i * other_step] / (x[1][i * step[1]] * x[1][i * step[1]]);
}

static void add_shares(int64_t count, const float *share, float *dx, int64_t step)
{
    float sum = 0;
    for (int64_t i = 0; step != 0 && i < count; i++)
        dx[i * step] += share[i];
    for (int64_t i = 0; step == 0 && i < count; i++)
        sum += share[i];
    if (step == 0)
        *dx += sum;
}

/** Runs of the result along its last axis; x is NULL twice where no value is read. */
static void backward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct operand_pair *p = context;
    const struct ys_broadcast *b = &p->broadcast;
    const size_t last = b->rank - 1;
    const bool reads = ys_op_rule(p->op)->reads_x;
    const int64_t count = b->extent[last], step[2] = {b->step[0][last], b->step[1][last]};
    struct ys_broadcast_walk walk;
    float share[CHUNK];
    for (size_t run = first; run < end; run++) {
        go_to_run(b, (int64_t)run, &walk);
        for (int64_t i = 0; i < count; i += CHUNK) {
            const int64_t some = count - i < CHUNK ? count - i : CHUNK;
            const float *x[2] = {NULL, NULL};
            for (int k = 0; reads && k < 2; k++)
                x[k] = (const float *)operand[2 + k] + walk.at[k] + i * step[k];
            shares_of(p, some, x, step, (const float *)operand[0] + (int64_t)run * count + i, share);
            add_shares(some, share, (float *)operand[1] + walk.at[p->stretched] + i * step[p->stretched],
                       step[p->stretched]);
        }
    }
}

/** dy, dx, and of a product or quotient a, b. Where elements are stretched several results add to one. */
static ys_status backward_run(void *context, void *const *operand)
{
    const struct operand_pair *p = context;
    const struct ys_broadcast *b = &p->broadcast;
    const size_t runs = (size_t)(b->count / b->extent[b->rank - 1]);
    memset(operand[1], 0, (size_t)b->from[p->stretched] * sizeof(float));
    if (b->from[p->stretched] == b->count)
        ys_parallel_for(p->threads, runs, 1, backward_part, context, operand);
    else
        backward_part(context, operand, 0, runs);
    return YS_OK;
}

static struct operand_pair describe(const struct ys_lowering *low, const struct ys_node *node)
{
    return (struct operand_pair){
        .broadcast = ys_broadcast_of(low, node), .op = node->op, .threads = low->config.threads};
}

/** The operands in C order; a parameter is kept so. */
static ys_status plain_operands(struct ys_lowering *low, const struct ys_node *node, struct ys_operand operands[2])
{
    for (size_t k = 0; k < node->in_count; k++)
        YS_TRY(ys_onednn_plain_value(low, node->name, node->in[k], &operands[k]));
    if (node->in_count == 1)
        operands[1] = ys_onednn_param(low, low->weights, node->weight);
    return YS_OK;
}

ys_status ys_onednn_forward_pair(struct ys_lowering *low, const struct ys_node *node)
{
    struct operand_pair p = describe(low, node);
    struct ys_operand operands[3];
    YS_TRY(plain_operands(low, node, operands));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    operands[2] = ys_at(low->value[node->out[0]]);
    return ys_lower_call_own(low, node->name, forward_run, &p, sizeof p, operands, 3);
}

static ys_status backward_weight(struct ys_lowering *low, const struct ys_node *node, struct operand_pair *p,
                                 struct ys_operand *operands, size_t count)
{
    bool is_more;
    p->stretched = 1;
    YS_TRY(ys_lower_param_share(low, node->weight, &operands[1], &is_more));
    YS_TRY(ys_lower_call_own(low, node->name, backward_run, p, sizeof *p, operands, count));
    return ys_onednn_add_param(low, node, node->weight, operands[1], is_more);
}

ys_status ys_onednn_backward_pair(struct ys_lowering *low, const struct ys_node *node)
{
    struct operand_pair p = describe(low, node);
    struct ys_operand operands[4] = {{0}};
    const bool reads = ys_op_rule(node->op)->reads_x;
    ys_layout plain;
    YS_TRY(ys_onednn_plain(low, node->out[0], &plain));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &operands[0]));
    if (reads)
        YS_TRY(plain_operands(low, node, operands + 2));
    for (p.stretched = 0; p.stretched < (int)node->in_count; p.stretched++) {
        int in = node->in[p.stretched];
        if (!low->value_gradient[in])
            continue;
        YS_TRY(ys_onednn_plain(low, in, &plain));
        YS_TRY(ys_onednn_buffer(low, &plain, &operands[1].buffer));
        YS_TRY(ys_lower_call_own(low, node->name, backward_run, &p, sizeof p, operands, reads ? 4 : 2));
        YS_TRY(ys_onednn_give(low, node->name, in, &plain, operands[1]));
    }
    return node->weight < 0 ? YS_OK : backward_weight(low, node, &p, operands, reads ? 4 : 2);
}

bool ys_onednn_is_even(const struct ys_node *node)
{
    return node->in_count == 2 && !node->broadcast;
}

ys_status ys_onednn_decide_sum(struct ys_lowering *low, const struct ys_node *node)
{
    return ys_onednn_is_even(node) ? ys_onednn_decide_tail(low, node) : ys_onednn_decide_plain(low, node);
}

ys_status ys_onednn_forward_sum(struct ys_lowering *low, const struct ys_node *node)
{
    return ys_onednn_is_even(node) ? ys_onednn_forward_tail(low, node) : ys_onednn_forward_pair(low, node);
}

ys_status ys_onednn_backward_sum(struct ys_lowering *low, const struct ys_node *node)
{
    return ys_onednn_is_even(node) ? ys_onednn_backward_tail(low, node) : ys_onednn_backward_pair(low, node);
}

ys_status ys_onednn_decide_product(struct ys_lowering *low, const struct ys_node *node)
{
    return ys_onednn_is_even(node) ? ys_onednn_decide_same(low, node) : ys_onednn_decide_plain(low, node);
}

ys_status ys_onednn_forward_product(struct ys_lowering *low, const struct ys_node *node)
{
    return ys_onednn_is_even(node) ? ys_onednn_forward_multiply(low, node) : ys_onednn_forward_pair(low, node);
}

ys_status ys_onednn_backward_product(struct ys_lowering *low, const struct ys_node *node)
{
    return ys_onednn_is_even(node) ? ys_onednn_backward_multiply(low, node) : ys_onednn_backward_pair(low, node);
}
