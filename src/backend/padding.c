#include "backend/padding.h"

#include <string.h>

struct ys_padding ys_padding_of(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_value *in = &low->graph->values[node->in[0]], *out = &low->graph->values[node->out[0]];
    struct ys_padding p = {
        .rank = in->rank, .rows = low->config.batch, .mode = node->pad.mode, .value = node->pad.value};
    int64_t step = 1;
    memcpy(p.in, in->shape, sizeof p.in);
    memcpy(p.out, out->shape, sizeof p.out);
    memcpy(p.before, node->pad.before, sizeof p.before);
    p.in[0] = p.out[0] = low->config.batch;
    for (size_t axis = p.rank; axis-- > 0; step *= p.in[axis])
        p.step[axis] = step;
    for (size_t axis = 1; axis + 1 < p.rank; axis++)
        p.rows *= p.out[axis];
    return p;
}

int64_t ys_padding_line(const struct ys_padding *p, int64_t row)
{
    int64_t first = 0;
    for (size_t axis = p->rank - 1; axis-- > 0; row /= p->out[axis]) {
        const int64_t from = ys_padding_from(p->mode, row % p->out[axis] - p->before[axis], p->in[axis]);
        if (from < 0)
            return -1;
        first += from * p->step[axis];
    }
    return first;
}
