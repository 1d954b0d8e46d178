/* What `simd` has beside the text of the reference back end. */
#ifndef YS_BACKEND_PLAIN_SIMD_H
#define YS_BACKEND_PLAIN_SIMD_H

#include "backend/plain/ref.h"

/** Functions of one element that are made of exp, sixteen numbers at a time: the operands are those of `ref`. Others
 * are NULL. */
struct ys_curve_kernels {
    struct {
        ys_call_run forward, backward;
    } of[YS_OP_COUNT];
};

/* In the widest form that this processor runs. */
const struct ys_ref_kernels *ys_simd_kernels(void);
const struct ys_curve_kernels *ys_curve_kernels(void);

/** Puts what `simd` does in its own way in place of what `ref` does. */
void ys_simd_ops(struct ys_ref_op op[YS_OP_COUNT]);
/** The call of an LSTM or GRU; operands: backend/recurrent.h. */
ys_status ys_simd_call_recurrent(struct ys_lowering *low, const struct ys_node *node, bool backward,
                                 const struct ys_operand *operands, size_t count) YS_MUST_CHECK;
/** The call of the optimizer: weights, gradients, [state1], [state2]. */
ys_status ys_simd_update(struct ys_lowering *low, const struct ys_operand *operands, size_t count) YS_MUST_CHECK;

#endif
