#include "backend/broadcast.h"

/** Appends an axis, or makes the last one longer where both values go on in the same steps. */
static void add_axis(struct ys_broadcast *b, int64_t extent, const int64_t step[2])
{
    size_t last = b->rank - 1;
    if (b->rank > 0 && b->step[0][last] == step[0] * extent && b->step[1][last] == step[1] * extent) {
        b->extent[last] *= extent;
        b->step[0][last] = step[0];
        b->step[1][last] = step[1];
        return;
    }
    b->extent[b->rank] = extent;
    b->step[0][b->rank] = step[0];
    b->step[1][b->rank++] = step[1];
}

/** Steps along the axes behind the batch of an operand of these extents; returns its elements. */
static int64_t find_steps(const int64_t *shape, size_t rank, size_t out_rank, int k, int64_t steps[][2])
{
    int64_t step = 1;
    for (size_t axis = out_rank; axis-- > 1;) {
        const int64_t extent = axis + rank < out_rank ? 1 : shape[axis + rank - out_rank];
        steps[axis][k] = extent == 1 ? 0 : step;
        step *= extent;
    }
    return step;
}

struct ys_broadcast ys_broadcast_of(const struct ys_lowering *low, const struct ys_node *node)
{
    const struct ys_value *out = &low->graph->values[node->out[0]];
    struct ys_broadcast b = {.count = low->config.batch * ys_value_row_elements(out)};
    int64_t steps[YS_MAX_RANK][2];
    for (int k = 0; k < 2; k++) {
        if (k == 1 && node->in_count == 1) { /* the same for each row */
            const struct ys_param *weight = &low->graph->params[node->weight];
            b.from[k] = find_steps(weight->shape, weight->rank, out->rank, k, steps);
            steps[0][k] = 0;
            continue;
        }
        const struct ys_value *in = &low->graph->values[node->in[k]];
        steps[0][k] = find_steps(in->shape, in->rank, out->rank, k, steps);
        b.from[k] = steps[0][k] * low->config.batch;
    }
    for (size_t axis = 0; axis < out->rank; axis++) {
        int64_t extent = axis ? out->shape[axis] : low->config.batch;
        if (extent > 1 || (axis + 1 == out->rank && b.rank == 0))
            add_axis(&b, extent, steps[axis]);
    }
    return b;
}
