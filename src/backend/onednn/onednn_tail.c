#include "backend/onednn/onednn_state.h"

#include "base/mem.h"
#include <string.h>

static bool is_activation(const struct ys_node *node)
{
    return node->op == YS_OP_RELU || node->op == YS_OP_CLIP;
}

/** A clip that moves zero would move what a blocked layout pads with: it is a tail of its own, in C order. */
static bool keeps_zero(const struct ys_node *activation)
{
    return activation->op == YS_OP_RELU || (activation->low <= 0 && activation->high >= 0);
}

/** A sum of values of different shapes, or with a parameter, is of no tail. */
static bool is_sum(const struct ys_node *node)
{
    return node->op == YS_OP_ADD && ys_onednn_is_even(node);
}

/** The one node that reads the value, if it is of no tail yet. */
static const struct ys_node *only_reader(const struct ys_lowering *low, int value)
{
    const struct onednn *o = low->state;
    int reader = low->value_reader[value];
    return reader >= 0 && o->nodes[reader].tail < 0 ? &low->graph->nodes[reader] : NULL;
}

static void claim(struct ys_lowering *low, struct onednn_tail *tail, const struct ys_node *node, int *part)
{
    struct onednn *o = low->state;
    *part = tail->last = (int)(node - low->graph->nodes);
    o->nodes[*part].tail = (int)(tail - o->tails);
    tail->y = node->out[0];
}

/** The tail that begins at `first`: a normalisation takes the sum behind it, and either takes the activation. */
static void find_tail(struct ys_lowering *low, const struct ys_node *first)
{
    struct onednn *o = low->state;
    const struct ys_graph *g = low->graph;
    struct onednn_tail *tail = &o->tails[o->tail_count++];
    *tail = (struct onednn_tail){.norm = -1, .sum = -1, .act = -1, .x = first->in[0], .z = -1, .stats = -1};
    const struct ys_node *next = first;
    if (next->op == YS_OP_BATCHNORM) {
        claim(low, tail, next, &tail->norm);
        next = only_reader(low, tail->y);
    }
    if (next && is_sum(next)) {
        tail->z = next->in[tail->norm < 0 || next->in[0] == tail->y];
        claim(low, tail, next, &tail->sum);
        next = only_reader(low, tail->y);
    }
    if (next && is_activation(next) && (next == first || keeps_zero(next)) &&
        (tail->norm < 0 || next->out[0] != g->output))
        claim(low, tail, next, &tail->act);
    const struct ys_node *act = tail->act >= 0 ? &g->nodes[tail->act] : NULL;
    tail->kernel.act = !act ? YS_ACT_NONE : act->op == YS_OP_RELU ? YS_ACT_RELU : YS_ACT_CLIP;
    const bool clips = act && act->op == YS_OP_CLIP;
    tail->kernel.low = clips ? (float)act->low : 0;
    tail->kernel.high = clips ? (float)act->high : 0;
    tail->kernel.has_norm = tail->norm >= 0;
    tail->kernel.has_sum = tail->sum >= 0;
}

/** Whether the convolution or product that makes x applies the ReLU itself. */
static bool is_in_producer(const struct ys_lowering *low, const struct onednn_tail *tail)
{
    int producer = low->graph->values[tail->x].producer;
    bool computes =
        producer >= 0 && (low->graph->nodes[producer].op == YS_OP_CONV || low->graph->nodes[producer].op == YS_OP_GEMM);
    return computes && tail->norm < 0 && tail->sum < 0 && tail->kernel.act == YS_ACT_RELU &&
           low->value_reads[tail->x] == 1 && tail->y != low->graph->output;
}

#define KEEP_BYTES ((size_t)1536 << 20)
/* Above this much, a result has left the caches before it is read. */
#define STREAM_BYTES ((size_t)24 << 20)

static size_t value_bytes(const struct ys_lowering *low)
{
    size_t elements = 0;
    for (size_t v = 0; v < low->graph->value_count; v++)
        elements += (size_t)(low->config.batch * ys_value_row_elements(&low->graph->values[v]));
    return elements * (low->config.precision == YS_ENGINE_BF16 ? 2 : sizeof(float));
}

/** Of a chain of sums every other one is kept: each can be made again from the one before. */
static bool rests_on_rebuilt(const struct ys_lowering *low, const struct onednn_tail *tail)
{
    const struct onednn *o = low->state;
    int producer = tail->z < 0 ? -1 : low->graph->values[tail->z].producer;
    int other = producer < 0 ? -1 : o->nodes[producer].tail;
    return other >= 0 && o->tails[other].sum >= 0 && o->tails[other].rebuilds;
}

ys_status ys_onednn_find_tails(struct ys_lowering *low)
{
    struct onednn *o = low->state;
    const struct ys_graph *g = low->graph;
    size_t keep_bytes = low->config.keep_bytes ? low->config.keep_bytes : KEEP_BYTES;
    bool saves = low->config.training && value_bytes(low) > keep_bytes;
    o->tails = ys_alloc(g->node_count, sizeof *o->tails);
    if (!o->tails)
        return ys_out_of_memory();
    /* Normalisations first: a sum goes to the branch that has one. */
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < g->node_count; i++) {
            const struct ys_node *node = &g->nodes[i];
            bool begins = pass == 0 ? node->op == YS_OP_BATCHNORM : is_sum(node) || is_activation(node);
            if (!low->node_live[i] || o->nodes[i].tail >= 0 || !begins)
                continue;
            find_tail(low, node);
            struct onednn_tail *tail = &o->tails[o->tail_count - 1];
            tail->in_producer = is_in_producer(low, tail);
            tail->rebuilds = saves && tail->norm >= 0 && tail->y != g->output && !rests_on_rebuilt(low, tail);
            if (tail->in_producer)
                o->nodes[g->values[tail->x].producer].fuses_relu = true;
        }
    return YS_OK;
}

void ys_onednn_flat_image(size_t count, struct ys_value_layout *im)
{
    int64_t positions = 1, lines = (int64_t)count / YS_LANES;
    *im = (struct ys_value_layout){.rows = 1,
                                   .channels = (int64_t)count,
                                   .positions = 1,
                                   .lanes = YS_LANES,
                                   .block = YS_LANES,
                                   .position = YS_LANES};
    if (count % YS_LANES)
        return;
    while (positions < 256 && lines % (2 * positions) == 0)
        positions *= 2;
    *im = (struct ys_value_layout){.rows = lines / positions,
                                   .channels = YS_LANES,
                                   .positions = positions,
                                   .lanes = YS_LANES,
                                   .row = positions * YS_LANES,
                                   .position = YS_LANES};
}

/** A layout whose channels lie side by side, where x itself has none. */
static ys_status channels_last(const struct ys_lowering *low, int value, ys_layout *layout)
{
    const struct onednn *o = low->state;
    int64_t dims[YS_MAX_RANK], strides[YS_MAX_RANK];
    size_t rank = ys_onednn_dims(low, value, dims);
    if (rank != 4)
        return ys_onednn_plain(low, value, layout);
    strides[1] = 1;
    strides[3] = dims[1];
    strides[2] = dims[3] * strides[3];
    strides[0] = dims[2] * strides[2];
    YS_TRY(ys_layout_strided(layout, rank, dims, strides));
    *layout = ys_layout_cast(layout, o->type);
    return YS_OK;
}

ys_status ys_onednn_decide_tail(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    struct onednn_tail *tail = &o->tails[ys_onednn_node(low, node)->tail];
    if (node - low->graph->nodes != tail->last)
        return YS_OK;
    YS_TRY(ys_onednn_decide_value(low, tail->x));
    struct ys_tail *k = &tail->kernel;
    tail->layout = o->values[tail->x].layout;
    k->threads = low->config.threads;
    if (tail->norm >= 0 && !ys_layout_image(&tail->layout, &k->image)) {
        YS_TRY(channels_last(low, tail->x, &tail->layout));
        if (!ys_layout_image(&tail->layout, &k->image))
            return ys_fail(YS_EUNSUPPORTED,
                           "the back end onednn has no batch normalisation of this shape; " YS_ONEDNN_REMEDY);
    }
    if (tail->norm >= 0) {
        k->epsilon = low->graph->nodes[tail->norm].batchnorm.epsilon;
        k->momentum = low->graph->nodes[tail->norm].batchnorm.momentum;
        k->mode = low->config.training ? low->mode : NULL;
        k->lowering = low;
        k->streams = k->image.has_padding && ys_layout_bytes(&tail->layout) > STREAM_BYTES;
    } else {
        if (tail->act >= 0 && !keeps_zero(&low->graph->nodes[tail->act]))
            YS_TRY(ys_onednn_plain(low, tail->x, &tail->layout));
        ys_onednn_flat_image(ys_layout_elements(&tail->layout), &k->image);
    }
    ys_onednn_set_layout(low, tail->y, &tail->layout);
    return YS_OK;
}

static const struct ys_kernels *kernels(const struct onednn_tail *tail)
{
    return ys_kernels(ys_layout_is_bf16(&tail->layout), tail->kernel.image.lanes);
}

static ys_status append_kernel(struct ys_lowering *low, const struct ys_node *node, ys_call_run run,
                               const struct ys_tail *kernel, const struct ys_operand *operands, size_t count)
{
    return ys_lower_call_own(low, node->name, run, kernel, sizeof *kernel, operands, count);
}

/** Statistics and y. */
static ys_status append_norm(struct ys_lowering *low, struct onednn_tail *tail, int y)
{
    const struct ys_node *node = &low->graph->nodes[tail->norm], *last = &low->graph->nodes[tail->last];
    YS_TRY(ys_program_buffer(low->program, ys_tail_stats_bytes(&tail->kernel), false, &tail->stats));
    struct ys_operand operands[8] = {ys_at(tail->x_buffer),
                                     ys_onednn_param(low, low->weights, node->weight),
                                     ys_onednn_param(low, low->weights, node->bias),
                                     ys_onednn_param(low, low->weights, node->running_mean),
                                     ys_onednn_param(low, low->weights, node->running_var),
                                     ys_at(tail->stats),
                                     ys_at(y)};
    if (tail->sum >= 0)
        YS_TRY(ys_onednn_value(low, last->name, tail->z, &tail->layout, &operands[7]));
    return append_kernel(low, node, kernels(tail)->tail_norm, &tail->kernel, operands, 7 + (tail->sum >= 0));
}

static ys_status append_forward(struct ys_lowering *low, const struct onednn_tail *tail, int y)
{
    const struct ys_node *node = &low->graph->nodes[tail->last];
    struct ys_operand operands[4] = {ys_at(tail->x_buffer), ys_at(y)};
    size_t count = 2;
    if (tail->norm >= 0)
        operands[count++] = ys_at(tail->stats);
    if (tail->sum >= 0)
        YS_TRY(ys_onednn_value(low, node->name, tail->z, &tail->layout, &operands[count++]));
    return append_kernel(low, node, kernels(tail)->tail_forward, &tail->kernel, operands, count);
}

ys_status ys_onednn_rebuild(struct ys_lowering *low, struct onednn_tail *tail, int *buffer)
{
    YS_TRY(ys_onednn_buffer(low, &tail->layout, buffer));
    return append_forward(low, tail, *buffer);
}

ys_status ys_onednn_forward_tail(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    struct onednn_tail *tail = &o->tails[ys_onednn_node(low, node)->tail];
    struct ys_operand x;
    if (node - low->graph->nodes != tail->last)
        return YS_OK;
    if (tail->in_producer) {
        low->value[tail->y] = low->value[tail->x];
        return YS_OK;
    }
    YS_TRY(ys_onednn_value(low, node->name, tail->x, &tail->layout, &x));
    tail->x_buffer = x.buffer;
    YS_TRY(ys_onednn_output(low, tail->y));
    return tail->norm >= 0 ? append_norm(low, tail, low->value[tail->y])
                           : append_forward(low, tail, low->value[tail->y]);
}

/** A buffer that may be written over with something of the same layout: the gradient of y itself, if it is nobody
 * else's. */
static ys_status own_buffer(struct ys_lowering *low, const struct onednn_tail *tail, int dy, int *buffer)
{
    *buffer = dy;
    if (ys_lower_gradient_holders(low, dy) <= 1)
        return YS_OK;
    return ys_onednn_buffer(low, &tail->layout, buffer);
}

/** The gradient of y in the tail's layout, and the second share of it. */
static ys_status take_dy(struct ys_lowering *low, const struct ys_node *node, struct onednn_tail *tail,
                         struct ys_tail *kernel, struct ys_operand *dy, struct ys_operand *second)
{
    struct onednn *o = low->state;
    struct onednn_value *y = &o->values[tail->y];
    kernel->has_second = y->second >= 0 && ys_layout_equal(&y->gradient, &tail->layout);
    if (kernel->has_second) {
        *second = ys_at(y->second);
        y->second = -1;
    }
    return ys_onednn_take(low, node->name, tail->y, &tail->layout, dy);
}

/** Without a normalisation: the gradient behind the activation goes to x and z alike. */
static ys_status backward_pointwise(struct ys_lowering *low, const struct ys_node *node, struct onednn_tail *tail)
{
    struct ys_tail kernel = tail->kernel;
    struct ys_operand operands[4];
    YS_TRY(take_dy(low, node, tail, &kernel, &operands[0], &operands[3]));
    struct ys_operand dz = operands[0];
    if ((kernel.act != YS_ACT_NONE && !tail->is_masked) || kernel.has_second) {
        if (kernel.act == YS_ACT_NONE)
            operands[1] = operands[0];
        else
            YS_TRY(ys_onednn_value(low, node->name, tail->y, &tail->layout, &operands[1]));
        YS_TRY(own_buffer(low, tail, operands[0].buffer, &dz.buffer));
        operands[2] = dz;
        YS_TRY(append_kernel(low, node, kernels(tail)->tail_mask, &kernel, operands, 3 + kernel.has_second));
    }
    low->gradient[tail->y] = -1;
    if (low->value_gradient[tail->x])
        YS_TRY(ys_onednn_give(low, node->name, tail->x, &tail->layout, dz));
    return tail->z >= 0 && low->value_gradient[tail->z] ? ys_onednn_give(low, node->name, tail->z, &tail->layout, dz)
                                                        : YS_OK;
}

static ys_status backward_norm(struct ys_lowering *low, const struct ys_node *last, struct onednn_tail *tail)
{
    const struct ys_node *norm = &low->graph->nodes[tail->norm];
    struct ys_tail kernel = tail->kernel;
    struct ys_operand dy, second, y = ys_at(tail->x_buffer);
    YS_TRY(take_dy(low, last, tail, &kernel, &dy, &second));
    bool gives_z = tail->z >= 0 && low->value_gradient[tail->z];
    bool reads_y = tail->sum >= 0 && kernel.act != YS_ACT_NONE;
    kernel.wants_dx = low->value_gradient[tail->x];
    kernel.writes_dz = kernel.has_second || reads_y;
    struct ys_operand dz = dy;
    if (kernel.writes_dz)
        YS_TRY(own_buffer(low, tail, dy.buffer, &dz.buffer));
    if (reads_y)
        YS_TRY(ys_onednn_value(low, last->name, tail->y, &tail->layout, &y));
    /* z keeps dz, so x gets a buffer of its own; otherwise dx may take its place. */
    struct ys_operand dx = dz;
    if (kernel.wants_dx && gives_z)
        YS_TRY(ys_onednn_buffer(low, &tail->layout, &dx.buffer));
    else if (kernel.wants_dx && !kernel.writes_dz)
        YS_TRY(own_buffer(low, tail, dy.buffer, &dx.buffer));
    struct ys_operand weight, bias;
    bool more_weight, more_bias;
    YS_TRY(ys_lower_param_share(low, norm->weight, &weight, &more_weight));
    YS_TRY(ys_lower_param_share(low, norm->bias, &bias, &more_bias));
    const struct ys_operand operands[9] = {
        dy, ys_at(tail->x_buffer), ys_at(tail->stats), weight, bias, y, dz, kernel.has_second ? second : dy, dx};
    YS_TRY(append_kernel(low, norm, kernels(tail)->tail_backward, &kernel, operands, 9));
    YS_TRY(ys_onednn_add_param(low, norm, norm->weight, weight, more_weight));
    YS_TRY(ys_onednn_add_param(low, norm, norm->bias, bias, more_bias));
    low->gradient[tail->y] = -1;
    if (kernel.wants_dx)
        YS_TRY(ys_onednn_give(low, norm->name, tail->x, &tail->layout, dx));
    return gives_z ? ys_onednn_give(low, last->name, tail->z, &tail->layout, dz) : YS_OK;
}

ys_status ys_onednn_backward_tail(struct ys_lowering *low, const struct ys_node *node)
{
    struct onednn *o = low->state;
    struct onednn_tail *tail = &o->tails[ys_onednn_node(low, node)->tail];
    if (node - low->graph->nodes != tail->last)
        return YS_OK;
    return tail->norm >= 0 ? backward_norm(low, node, tail) : backward_pointwise(low, node, tail);
}

/** running_mean, running_var, stats. */
static ys_status running_run(void *context, void *const *operand)
{
    const struct ys_tail *t = context;
    float *mean = operand[0], *variance = operand[1], momentum = (float)t->momentum;
    const float *batch_mean, *unbiased;
    ys_tail_batch(t, operand[2], &batch_mean, &unbiased);
    for (int64_t c = 0; c < t->image.channels; c++) {
        mean[c] = (1 - momentum) * mean[c] + momentum * batch_mean[c];
        variance[c] = (1 - momentum) * variance[c] + momentum * unbiased[c];
    }
    return YS_OK;
}

ys_status ys_onednn_update_running(struct ys_lowering *low)
{
    const struct onednn *o = low->state;
    for (size_t i = 0; i < o->tail_count; i++) {
        const struct onednn_tail *tail = &o->tails[i];
        if (tail->norm < 0)
            continue;
        const struct ys_node *norm = &low->graph->nodes[tail->norm];
        YS_TRY(append_kernel(low, norm, running_run, &tail->kernel,
                             (struct ys_operand[]){ys_onednn_param(low, low->weights, norm->running_mean),
                                                   ys_onednn_param(low, low->weights, norm->running_var),
                                                   ys_at(tail->stats)},
                             3));
    }
    return YS_OK;
}
