/* What the back ends share about LSTM and GRU: extents, and the operands of their calls.
 *
 * A place is a position of a row of the batch: place n * steps + t. Of each, forward keeps `gates` times `hidden`
 * numbers, the gates behind their functions, and for all places behind those `hidden` more: of LSTM the cell, of GRU
 * the product of the state before and the last part of the recurrent weight, its bias added.
 *
 * The state that is carried is [rows, hidden], of LSTM with the cell behind it; what forward ends with follows. */
#ifndef YS_BACKEND_RECURRENT_H
#define YS_BACKEND_RECURRENT_H

#include "backend/multiply.h"
#include "engine/backend.h"

struct ys_recurrent {
    int64_t rows, steps, width, hidden, gates;
    bool carries; /* goes on from YS_RECURRENT_STATE, and leaves there what it ends with */
    int threads;
};

/* Forward: x, the parameters (of LSTM the bias stands for the second one), what is kept, y, scratch. */
enum {
    YS_RECURRENT_X,
    YS_RECURRENT_W,
    YS_RECURRENT_R,
    YS_RECURRENT_B,
    YS_RECURRENT_RB,
    YS_RECURRENT_KEPT,
    YS_RECURRENT_Y,
    YS_RECURRENT_STATE, /* what is kept stands for it where none is carried */
    YS_RECURRENT_SCRATCH,
    YS_RECURRENT_FORWARD,
    /* Backward: these and their gradients; that of what is kept has room for `hidden` numbers of each place more. */
    YS_RECURRENT_DY = YS_RECURRENT_FORWARD,
    YS_RECURRENT_DKEPT,
    YS_RECURRENT_DW,
    YS_RECURRENT_DR,
    YS_RECURRENT_DB,
    YS_RECURRENT_DRB,
    YS_RECURRENT_DX,
    YS_RECURRENT_BACKWARD
};

static inline struct ys_recurrent ys_recurrent_of(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_value *in = &low->graph->values[node->in[0]];
    return (struct ys_recurrent){.rows = low->config.batch,
                                 .steps = in->shape[1],
                                 .width = in->shape[2],
                                 .hidden = low->graph->values[node->out[0]].shape[2],
                                 .gates = node->op == YS_OP_LSTM ? 4 : 3,
                                 .carries = low->carried[node - low->graph->nodes] >= 0,
                                 .threads = low->config.threads};
}

static inline int64_t ys_recurrent_places(const struct ys_recurrent *r)
{
    return r->rows * r->steps;
}

/** Elements of the state that a batch goes on from. */
static inline int64_t ys_recurrent_state(const struct ys_recurrent *r)
{
    return (r->gates == 4 ? 2 : 1) * r->rows * r->hidden;
}

/** Elements of what is kept, and of its gradient. */
static inline size_t ys_recurrent_kept(const struct ys_recurrent *r)
{
    return (size_t)(ys_recurrent_places(r) * (r->gates + 1) * r->hidden);
}

static inline size_t ys_recurrent_gradient(const struct ys_recurrent *r)
{
    return (size_t)(ys_recurrent_places(r) * (r->gates + 2) * r->hidden);
}

/** What the calls in float, of any back end, take as their context. */
struct ys_recurrent_call {
    struct ys_recurrent r;
    const struct ys_recurrent_kernels *kernels;
    ys_multiply multiply;
    size_t workspace_bytes; /* of each thread, in YS_RECURRENT_SCRATCH */
};
ys_status ys_recurrent_run(void *context, void *const *operand);
ys_status ys_recurrent_backward_run(void *context, void *const *operand);

#endif
