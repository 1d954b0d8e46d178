/* Places told to values, which is ours: values lie in C order, in float. Sines and cosines are computed once, in
 * double, and kept. */
#include "backend/onednn/onednn_state.h"
#include "backend/parallel.h"

#include <math.h>

struct places {
    int threads;
    int64_t lines, positions, width; /* all positions of all rows; positions of a row; numbers of a part of one */
    int64_t told;                    /* positions that the table has */
    const int64_t *at;               /* of a row's positions, the first of a pass */
    struct ys_rotary how;
    bool is_backward;
};

/** A line of the table: the cosines of all pairs, then their sines. The first cosine, of the angle 0, is 1: then it is
 * filled already. */
static void fill_table(const struct places *p, float *table)
{
    const int64_t pairs = p->width / 2;
    if (table[0] == 1)
        return;
    for (int64_t at = 0; at < p->told * pairs; at++) {
        const double angle = ys_rotary_angle(p->how.base, at / pairs, at % pairs, p->width);
        table[at / pairs * p->width + at % pairs] = (float)cos(angle);
        table[at / pairs * p->width + pairs + at % pairs] = (float)sin(angle);
    }
}

/** Of the table, what is of that line of the values. */
static const float *line_of(const struct places *p, const float *table, int64_t line)
{
    return table + (*p->at + line % p->positions) * p->width;
}

static void turn_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct places *p = context;
    const int64_t pairs = p->width / 2, step = p->how.interleaved ? 2 : 1, apart = p->how.interleaved ? 1 : pairs;
    const float sign = p->is_backward ? -1 : 1;
    for (int64_t line = (int64_t)first; line < (int64_t)end; line++) {
        const float *cosines = line_of(p, operand[2], line), *sines = cosines + pairs;
        for (int64_t head = 0; head < p->how.heads; head++) {
            const int64_t at = (line * p->how.heads + head) * p->width;
            const float *x = (const float *)operand[0] + at;
            float *y = (float *)operand[1] + at;
            for (int64_t i = 0; i < pairs; i++) {
                const float a = x[i * step], b = x[i * step + apart], s = sign * sines[i];
                y[i * step] = a * cosines[i] - b * s;
                y[i * step + apart] = b * cosines[i] + a * s;
            }
        }
    }
}

/** x, y, table; or dy, dx, table */
static ys_status rotary_run(void *context, void *const *operand)
{
    const struct places *p = context;
    fill_table(p, operand[2]);
    ys_parallel_for(p->threads, (size_t)p->lines, 1, turn_part, context, operand);
    return YS_OK;
}

static void add_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct places *p = context;
    const int64_t pairs = p->width / 2;
    for (int64_t line = (int64_t)first; line < (int64_t)end; line++) {
        const float *cosines = line_of(p, operand[2], line), *sines = cosines + pairs;
        const float *x = (const float *)operand[0] + line * p->width;
        float *y = (float *)operand[1] + line * p->width;
        for (int64_t i = 0; i < pairs; i++) {
            y[2 * i] = x[2 * i] + sines[i];
            y[2 * i + 1] = x[2 * i + 1] + cosines[i];
        }
    }
}

/** x, y, table */
static ys_status sinusoid_run(void *context, void *const *operand)
{
    const struct places *p = context;
    fill_table(p, operand[2]);
    ys_parallel_for(p->threads, (size_t)p->lines, 1, add_part, context, operand);
    return YS_OK;
}

static struct places describe(const struct ys_lowering *low, const struct ys_node *node, bool is_backward)
{
    const struct ys_value *in = &low->graph->values[node->in[0]];
    return (struct places){.threads = low->config.threads,
                           .lines = low->config.batch * in->shape[1],
                           .positions = in->shape[1],
                           .told = low->cache_positions ? low->cache_positions : in->shape[1],
                           .at = low->at,
                           .width = in->shape[2] / (node->op == YS_OP_ROTARY ? node->rotary.heads : 1),
                           .how = node->rotary,
                           .is_backward = is_backward};
}

/** A persistent buffer starts as zeros. Each direction has one of its own. */
static ys_status make_table(struct ys_lowering *low, const struct places *p, struct ys_operand *table)
{
    return ys_program_buffer(low->program, (size_t)(p->told * p->width) * sizeof(float), true, &table->buffer);
}

static ys_status forward(struct ys_lowering *low, const struct ys_node *node, ys_call_run run)
{
    const struct places p = describe(low, node, false);
    struct ys_operand operands[3] = {{0}};
    YS_TRY(ys_onednn_plain_value(low, node->name, node->in[0], &operands[0]));
    YS_TRY(ys_onednn_output(low, node->out[0]));
    operands[1] = ys_at(low->value[node->out[0]]);
    YS_TRY(make_table(low, &p, &operands[2]));
    return ys_lower_call_own(low, node->name, run, &p, sizeof p, operands, sizeof operands / sizeof *operands);
}

ys_status ys_onednn_forward_rotary(struct ys_lowering *low, const struct ys_node *node)
{
    return forward(low, node, rotary_run);
}

ys_status ys_onednn_forward_sinusoid(struct ys_lowering *low, const struct ys_node *node)
{
    return forward(low, node, sinusoid_run);
}

ys_status ys_onednn_backward_rotary(struct ys_lowering *low, const struct ys_node *node)
{
    const struct places p = describe(low, node, true);
    struct ys_operand operands[3] = {{0}};
    ys_layout plain;
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &operands[0]));
    YS_TRY(ys_onednn_buffer(low, &plain, &operands[1].buffer));
    YS_TRY(make_table(low, &p, &operands[2]));
    YS_TRY(ys_lower_call_own(low, node->name, rotary_run, &p, sizeof p, operands, sizeof operands / sizeof *operands));
    return ys_onednn_give(low, node->name, node->in[0], &plain, operands[1]);
}

/** What comes back goes on as it is, as a copy: it may be added to. */
ys_status ys_onednn_backward_sinusoid(struct ys_lowering *low, const struct ys_node *node)
{
    struct ys_operand dy, dx = {0};
    ys_layout plain;
    YS_TRY(ys_onednn_plain(low, node->in[0], &plain));
    YS_TRY(ys_onednn_take(low, node->name, node->out[0], &plain, &dy));
    YS_TRY(ys_onednn_buffer(low, &plain, &dx.buffer));
    YS_TRY(ys_onednn_append_reorder(low, node->name, &plain, dy, &plain, dx));
    return ys_onednn_give(low, node->name, node->in[0], &plain, dx);
}
