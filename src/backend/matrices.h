/* What the back ends share about MatMul: so many pairs of matrices (rows, inner) and (inner, columns) in a batch. */
#ifndef YS_BACKEND_MATRICES_H
#define YS_BACKEND_MATRICES_H

#include "engine/backend.h"

struct ys_matrices {
    int64_t pairs, rows, inner, columns;
    int threads;
};

static inline struct ys_matrices ys_matrices_of(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_value *a = &low->graph->values[node->in[0]], *b = &low->graph->values[node->in[1]];
    struct ys_matrices m = {.pairs = low->config.batch,
                            .rows = a->shape[a->rank - 2],
                            .inner = a->shape[a->rank - 1],
                            .columns = b->shape[b->rank - 1],
                            .threads = low->config.threads};
    for (size_t i = 1; i + 2 < a->rank; i++)
        m.pairs *= a->shape[i];
    return m;
}

#endif
