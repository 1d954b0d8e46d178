/* Pad: in C order, in float. */
#include "backend/onednn/onednn_state.h"
#include "backend/padding.h"
#include "backend/parallel.h"

#include <string.h>

struct padded {
    struct ys_padding padding;
    int threads;
    size_t count; /* elements of the input */
};

static void forward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_padding *p = &((const struct padded *)context)->padding;
    const size_t last = p->rank - 1;
    const float *x = operand[0];
    float *y = operand[1];
    for (int64_t row = (int64_t)first; row < (int64_t)end; row++) {
        const int64_t line = ys_padding_line(p, row);
        for (int64_t i = 0; i < p->out[last]; i++) {
            const int64_t from = ys_padding_from(p->mode, i - p->before[last], p->in[last]);
            y[row * p->out[last] + i] = line < 0 || from < 0 ? (float)p->value : x[line + from];
        }
    }
}

/** x, y */
static ys_status forward_run(void *context, void *const *operand)
{
    const struct padded *c = context;
    ys_parallel_for(c->threads, (size_t)c->padding.rows, 1, forward_part, context, operand);
    return YS_OK;
}

/** dy, dx */
static ys_status backward_run(void *context, void *const *operand)
{
    const struct padded *c = context;
    const struct ys_padding *p = &c->padding;
    const size_t last = p->rank - 1;
    const float *dy = operand[0];
    float *dx = operand[1];
    memset(dx, 0, c->count * sizeof *dx);
    for (int64_t row = 0; row < p->rows; row++) {
        const int64_t line = ys_padding_line(p, row);
        for (int64_t i = 0; line >= 0 && i < p->out[last]; i++) {
            const int64_t from = ys_padding_from(p->mode, i - p->before[last], p->in[last]);
            if (from >= 0)
                dx[line + from] += dy[row * p->out[last] + i];
        }
    }
    return YS_OK;
}

static struct padded describe(const struct ys_lowering *low, const struct ys_node *node)
{
    const size_t row = (size_t)ys_value_row_elements(&low->graph->values[node->in[0]]);
    return (struct padded){ys_padding_of(low, node), low->config.threads, (size_t)low->config.batch * row};
}

ys_status ys_onednn_forward_padding(struct ys_lowering *low, const struct ys_node *node)
{
    const struct padded c = describe(low, node);
    struct ys_operand x;
    YS_TRY(ys_onednn_plain_value(low, node->name, node->in[0], &x));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    return ys_lower_call_own(low, node->name, forward_run, &c, sizeof c,
                             (struct ys_operand[]){x, ys_at(low->value[node->out[0]])}, 2);
}

ys_status ys_onednn_backward_padding(struct ys_lowering *low, const struct ys_node *node)
{
    const struct padded c = describe(low, node);
    ys_layout plain, padded;
    struct ys_operand dy, dx = {0};
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    YS_TRY(ys_onednn_plain(low, node->out[0], &padded));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &padded, &dy));
    YS_TRY(ys_onednn_buffer(low, &plain, &dx.buffer));
    YS_TRY(ys_lower_call_own(low, node->name, backward_run, &c, sizeof c, (struct ys_operand[]){dy, dx}, 2));
    return ys_onednn_give(low, node->name, node->in[0], &plain, dx);
}
