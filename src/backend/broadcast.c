#include "backend/broadcast.h"

struct ys_broadcast ys_broadcast_of(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_value *out = &low->graph->values[node->out[0]];
    struct ys_broadcast b = {.rank = out->rank, .count = low->config.batch * ys_value_row_elements(out)};
    for (size_t axis = 0; axis < out->rank; axis++)
        b.extent[axis] = axis ? out->shape[axis] : low->config.batch;
    for (int k = 0; k < 2; k++) {
        const struct ys_value *in = &low->graph->values[node->in[k]];
        int64_t step = 1;
        for (size_t axis = in->rank; axis-- > 1;) {
            b.step[k][axis] = in->shape[axis] == 1 ? 0 : step;
            step *= in->shape[axis];
        }
        b.step[k][0] = step;
        b.from[k] = step * low->config.batch;
    }
    return b;
}
