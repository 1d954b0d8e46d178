/* How the reference back end lowers a node, by operator. */
#ifndef YS_BACKEND_REF_LOWER_H
#define YS_BACKEND_REF_LOWER_H

#include "backend/ref.h"

/** The back end's state. */
struct ys_ref {
    const struct ys_ref_kernels *kernels;
    int *saved;    /* [node_count]: what forward keeps for backward (winners, statistics), -1 for nothing */
    int workspace; /* of every matrix product */
};

struct ys_ref_rule {
    ys_status (*forward)(struct ys_lowering *low, const struct ys_node *node);
    ys_status (*backward)(struct ys_lowering *low, const struct ys_node *node);
    bool reads_x, reads_y; /* what a backward kernel with one input wants beside saved, dy and dx */
};
/** By operator; all zero for one that is not there. */
extern const struct ys_ref_rule ys_ref_rules[YS_OP_COUNT];

/** A new context, the shapes of the node filled in. NULL without memory. */
struct ys_ref_context *ys_ref_context(const struct ys_lowering *low, const struct ys_node *node);
/** The optimizer's counterpart of batch normalisation: moves its running statistics. */
ys_status ys_ref_running(struct ys_lowering *low, const struct ys_node *node) YS_MUST_CHECK;
/** A buffer for the first share of a value's gradient. */
ys_status ys_ref_gradient(struct ys_lowering *low, int value) YS_MUST_CHECK;

#endif
