/* LSTM and GRU. ONNX has the gates in another order, positions first, an axis of directions and two biases, whose sum
 * is the one of graphs. */
#include "base/mem.h"
#include "onnx/read/reader_state.h"

#include <stdio.h>
#include <string.h>

struct layer {
    enum ys_op op;
    int64_t gates, hidden, width;
    bool rows_first; /* layout 1 */
    struct ys_onnx_constant *weight, *recurrent, *bias;
    int twin;   /* node that has all these constants already; -1: none */
    int tokens; /* value of the tokens whose padding ends rows; -1: all are as long as their positions */
};

/* Of each gate as graphs order them, its place in ONNX: i f g o of i o f c, r z n of z r h. */
static int64_t place_of(const struct layer *l, int64_t gate)
{
    static const int64_t lstm[] = {0, 2, 3, 1}, gru[] = {1, 0, 2};
    return l->op == YS_OP_LSTM ? lstm[gate] : gru[gate];
}

static ys_status check_attributes(struct ys_onnx_step *step, struct layer *l)
{
    char direction[32] = "forward";
    double clip = 0;
    int64_t input_forget = 0, before_reset = 0, layout = 0;
    YS_TRY(ys_onnx_word(step->node, "direction", direction));
    YS_TRY(ys_onnx_real(step->node, "clip", &clip));
    YS_TRY(ys_onnx_integer(step->node, "input_forget", &input_forget));
    YS_TRY(ys_onnx_integer(step->node, "linear_before_reset", &before_reset));
    YS_TRY(ys_onnx_integer(step->node, "layout", &layout));
    YS_TRY(ys_onnx_integer(step->node, "hidden_size", &l->hidden));
    if (strcmp(direction, "forward") != 0)
        return YS_FAIL_STEP(step, "direction is %s: graphs have forward alone", direction);
    if (clip != 0 || input_forget != 0)
        return YS_FAIL_STEP(step, "clip %g, input_forget %lld: graphs have neither", clip, (long long)input_forget);
    if (ys_onnx_has(step->node, "activations"))
        return YS_FAIL_STEP(step, "%s",
                            "names activations: leave the attribute out for the usual ones, which graphs have");
    if (l->op == YS_OP_GRU && before_reset != 1)
        return YS_FAIL_STEP(step, "linear_before_reset is %lld: graphs have the reset behind the product, 1",
                            (long long)before_reset);
    l->rows_first = layout != 0;
    return YS_OK;
}

/* How long rows are: all positions, or the number of tokens that are no padding. */
static ys_status read_lengths(struct ys_onnx_step *step, struct layer *l)
{
    struct ys_onnx_slot *in = step->node->in_count > 4 ? step->in[4] : NULL;
    const struct ys_onnx_slot *x = step->in[0];
    const struct ys_value *v = &step->r->graph->values[x->value];
    const int64_t positions = v->rank == 3 ? v->shape[x->perm[l->rows_first]] : 0;
    bool is_all = in && in->kind == YS_ONNX_CONSTANT;
    l->tokens = -1;
    if (in && in->curve == YS_ONNX_LENGTHS && step->r->graph->values[in->value].shape[1] == positions)
        l->tokens = in->value;
    if (is_all)
        YS_TRY(ys_onnx_constant_load(&step->r->folding, in->constant));
    for (int64_t i = 0; is_all && i < (in->constant->filled ? 1 : in->constant->count); i++) {
        const struct ys_onnx_whole length = ys_onnx_constant_whole(in->constant, i);
        is_all = length.fixed == positions && length.each == 0;
    }
    if (in && !is_all && l->tokens < 0)
        return YS_FAIL_STEP(step,
                            "has sequence_lens that are neither %lld, all positions of each row, nor how many of its "
                            "%lld tokens are no padding (ReduceSum of their truths as numbers, along axis 1): graphs "
                            "know no other length",
                            (long long)positions, (long long)positions);
    if (x->ended && x->ended != l->tokens + 1)
        return YS_FAIL_STEP(step, "reads %.100s, whose rows end, with other sequence_lens than the layer before it",
                            step->node->in[0]);
    return YS_OK;
}

/* Where layers begin: zeros, which are left out. */
static ys_status check_states(struct ys_onnx_step *step)
{
    static const char *const names[] = {"initial_h", "initial_c", "peepholes"};
    for (size_t i = 5; i < step->node->in_count && i < 8; i++) {
        const struct ys_onnx_slot *in = step->in[i];
        if (!in)
            continue;
        struct ys_onnx_constant *c = in->kind == YS_ONNX_CONSTANT ? in->constant : NULL;
        YS_TRY(c ? ys_onnx_constant_load(&step->r->folding, c) : YS_OK);
        if (i == 7 || !c || !c->is_real || !ys_onnx_constant_is(c, 0))
            return YS_FAIL_STEP(step, "has %s: graphs begin each row with zeros%s", names[i - 5],
                                i == 7 ? ", and have it not" : "");
    }
    return YS_OK;
}

ys_status ys_onnx_check_ended(struct ys_onnx_step *step)
{
    static const char *const passing[] = {"LSTM", "GRU", "Identity", "Dropout", "Squeeze", "Transpose"};
    const char *op = step->node->op;
    size_t which = 0;
    while (which < sizeof passing / sizeof *passing && strcmp(op, passing[which]) != 0)
        which++;
    for (size_t i = 0; i < step->node->in_count; i++) {
        struct ys_onnx_slot *in = step->in[i];
        if (!in || in->kind != YS_ONNX_LIVE)
            continue;
        if (in->curve == YS_ONNX_LENGTHS && which != 2 && !(which < 2 && i == 4) && strcmp(op, "Cast") != 0)
            return ys_onnx_settle(step, in);
        if (in->ended && which == sizeof passing / sizeof *passing)
            return YS_FAIL_STEP(step,
                                "reads %.100s, states that sequence_lens make zeros behind the last token of a row: "
                                "graphs have Y_h alone, and a layer of the same lengths behind",
                                step->node->in[i]);
    }
    return YS_OK;
}

static ys_status read_layer(struct ys_onnx_step *step, struct layer *l)
{
    l->op = step->node->op[0] == 'L' ? YS_OP_LSTM : YS_OP_GRU;
    l->gates = l->op == YS_OP_LSTM ? 4 : 3;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(check_attributes(step, l));
    YS_TRY(read_lengths(step, l));
    YS_TRY(check_states(step));
    YS_TRY(ys_onnx_need_constant(step, 1, "W", &l->weight));
    YS_TRY(ys_onnx_need_constant(step, 2, "R", &l->recurrent));
    if (step->node->in_count > 3 && step->in[3])
        YS_TRY(ys_onnx_need_constant(step, 3, "B", &l->bias));
    const struct ys_onnx_constant *w = l->weight, *r = l->recurrent;
    const bool fits = w->rank == 3 && r->rank == 3 && w->shape[0] == 1 && r->shape[0] == 1 && w->is_real && r->is_real;
    l->width = fits ? w->shape[2] : 0;
    l->hidden = fits && l->hidden == 0 ? r->shape[2] : l->hidden;
    if (!fits || r->shape[2] != l->hidden || w->shape[1] != l->gates * l->hidden ||
        r->shape[1] != l->gates * l->hidden ||
        (l->bias && (!l->bias->is_real || l->bias->count != 2 * l->gates * l->hidden)))
        return YS_FAIL_STEP(step, "its weights do not fit %lld gates of %lld numbers in one direction",
                            (long long)l->gates, (long long)l->hidden);
    return YS_OK;
}

/* A matrix with its gates in order. */
static ys_status add_matrix(struct ys_onnx_step *step, const struct layer *l, int node, enum ys_node_param which,
                            struct ys_onnx_constant *c)
{
    struct ys_onnx_view view = {.factor = 1,
                                .rank = 2,
                                .blocks = (size_t)l->gates,
                                .shape = {l->gates * l->hidden, c->shape[2]},
                                .steps = {c->shape[2], 1}};
    for (int64_t gate = 0; gate < l->gates; gate++)
        view.order[gate] = place_of(l, gate);
    return ys_onnx_param(step, node, which, c, &view);
}

/* By what one layer that the file uses several times is found. Parameters that are not made yet are -1, which no layer
 * has that was there before. */
struct layer_text {
    char text[64];
};

static struct layer_text key_of(const struct ys_graph *graph, const struct layer *l, int node)
{
    struct layer_text key;
    const int recurrent = l->recurrent->readers > 0 ? l->recurrent->param : -1;
    const int bias = l->bias && l->bias->readers > 0 ? l->bias->param : -1;
    snprintf(key.text, sizeof key.text, "%s %d %d %s%d", ys_op_name(l->op), graph->nodes[node].weight, recurrent,
             l->bias ? "" : "none ", bias);
    return key;
}

/* A vector that is made of the file's biases, or of nothing: it belongs to this node, and to its twin. */
static ys_status add_vector(struct ys_onnx_step *step, const struct layer *l, int node, enum ys_node_param which,
                            float *values, int64_t count)
{
    struct ys_onnx_reading *r = step->r;
    struct ys_onnx_constant own = {.is_real = true, .filled = true, .count = count, .reals = &(double){0}};
    const int same = l->twin < 0 ? -1 : *ys_node_param_place(&r->graph->nodes[l->twin], which);
    if (same >= 0 && memcmp(r->import->values[same], values, (size_t)count * sizeof *values) == 0) {
        *ys_node_param_place(&r->graph->nodes[node], which) = same;
        ys_free(values);
        return YS_OK;
    }
    if (l->bias && which == YS_NODE_BIAS)
        own = *l->bias;
    return ys_onnx_made_param(step, node, which, &own, values, &count, 1);
}

/* The sum of both biases, but of the last gate of GRU, which has one of each. */
static ys_status add_bias(struct ys_onnx_step *step, const struct layer *l, int node)
{
    const int64_t count = l->gates * l->hidden, apart = l->op == YS_OP_GRU ? l->gates - 1 : l->gates;
    float *values = ys_alloc((size_t)count, sizeof *values);
    bool two = false;
    for (int64_t i = 0; i < count; i++) {
        const int64_t gate = i / l->hidden, from = place_of(l, gate) * l->hidden + i % l->hidden;
        const double second = l->bias && gate < apart ? ys_onnx_constant_real(l->bias, count + from) : 0;
        values[i] = (float)((l->bias ? ys_onnx_constant_real(l->bias, from) : 0) + second);
        two = two || second != 0;
    }
    YS_TRY(add_vector(step, l, node, YS_NODE_BIAS, values, count));
    if (two)
        ys_onnx_note(step->r,
                     "node %.100s (%s): its two biases are one, their sum: two that are trained make a step of "
                     "another length",
                     step->node->name, step->node->op);
    return YS_OK;
}

static ys_status add_recurrent_bias(struct ys_onnx_step *step, const struct layer *l, int node)
{
    const int64_t from = l->gates * l->hidden + place_of(l, l->gates - 1) * l->hidden;
    float *values = ys_alloc((size_t)l->hidden, sizeof *values);
    for (int64_t i = 0; l->bias && i < l->hidden; i++)
        values[i] = (float)ys_onnx_constant_real(l->bias, from + i);
    return add_vector(step, l, node, YS_NODE_RECURRENT_BIAS, values, l->hidden);
}

/* The state that each row ends in, (N, hidden). */
static ys_status pick_end(struct ys_onnx_step *step, const struct layer *l, int value, int *end)
{
    struct ys_graph *graph = step->r->graph;
    struct ys_onnx_slot states = {.kind = YS_ONNX_LIVE, .value = value}, picked = {0};
    struct ys_onnx_step one = *step;
    int node;
    if (l->tokens >= 0) {
        YS_TRY(ys_onnx_begin_extra(step, YS_OP_LAST, value, "/end", &node));
        graph->nodes[node].in[graph->nodes[node].in_count++] = l->tokens;
        YS_TRY(ys_onnx_end(step->r, node, end));
        ys_onnx_note(step->r,
                     "node %.100s (%s): its rows are taken to be filled up at their end, so that how many of "
                     "their tokens are no padding is where they end",
                     step->node->name, step->node->op);
        return YS_OK;
    }
    for (int i = 0; i < YS_MAX_RANK; i++)
        states.perm[i] = i;
    one.out = &picked;
    YS_TRY(ys_onnx_pick(&one, &states, 1, -1));
    *end = picked.value;
    return YS_OK;
}

/* All states, (positions, 1, N, hidden) or with the rows first, and the last of them, in the outputs that are read. */
static ys_status set_outputs(struct ys_onnx_step *step, const struct layer *l, int value)
{
    struct ys_onnx_reading *r = step->r;
    const struct ys_onnx_node_in *node = step->node;
    const int64_t positions = r->graph->values[value].shape[1];
    struct ys_onnx_slot *slots[3] = {NULL, NULL, NULL};
    struct ys_onnx_step one = *step;
    for (size_t k = 0; k < node->out_count && k < 3; k++)
        if (node->out[k][0])
            slots[k] = &r->slots[ys_json_get_int(r->names, node->out[k], 0)];
    if (slots[2] && slots[2]->uses > 0)
        return YS_FAIL_STEP(
            step, "something reads its output %.100s, the last cell state: graphs have the states alone", node->out[2]);
    const int first[] = {1, 2, 0, 3}, behind[] = {0, 1, 2, 3}, last_first[] = {1, 0, 2}, last_behind[] = {0, 1, 2};
    int last;
    if (slots[0] && slots[0]->uses > 0) {
        const int64_t shape[] = {YS_BATCH, positions, 1, l->hidden};
        int all = value;
        YS_TRY(ys_onnx_reshape_extra(step, "/directions", shape, 4, &all));
        one.out = slots[0];
        ys_onnx_set(&one, all, NULL);
        memcpy(slots[0]->perm, l->rows_first ? behind : first, sizeof first);
        slots[0]->rows = (struct ys_onnx_rows){l->rows_first ? NULL : node, 0, 0, 0};
        slots[0]->ended = l->tokens + 1;
    }
    if (!slots[1] || slots[1]->uses == 0)
        return YS_OK;
    YS_TRY(pick_end(step, l, value, &last));
    const int64_t shape[] = {YS_BATCH, 1, l->hidden};
    YS_TRY(ys_onnx_reshape_extra(step, "/last", shape, 3, &last));
    one.out = slots[1];
    ys_onnx_set(&one, last, NULL);
    memcpy(slots[1]->perm, l->rows_first ? last_behind : last_first, sizeof last_first);
    slots[1]->rows = (struct ys_onnx_rows){l->rows_first ? NULL : node, 0, 0, 0};
    return YS_OK;
}

ys_status ys_onnx_recurrent(struct ys_onnx_step *step)
{
    struct layer l = {0};
    struct ys_onnx_slot *x = step->in[0];
    int in, node, value;
    YS_TRY(read_layer(step, &l));
    if (ys_onnx_rank(step->r, x) != 3 || x->rows.each || ys_onnx_batch_axis(x) != (l.rows_first ? 0U : 1U))
        return YS_FAIL_STEP(step, "reads no value of (%s, width)", l.rows_first ? "N, positions" : "positions, N");
    if (x->turned) { /* of yardstick's own files: a part of the operator */
        in = x->value;
        if (x->perm[0] != 1 || x->perm[1] != 0)
            return YS_FAIL_STEP(step, "%s", "reads a value with its axes in another order");
    } else
        YS_TRY(ys_onnx_take_behind(step, x, &in));
    const struct ys_onnx_node_in whole = *step->node;
    const char *name[] = {whole.out[0][0] ? whole.out[0] : whole.out[1]};
    struct ys_onnx_node_in part = whole;
    struct ys_onnx_step one = *step;
    part.out = name;
    part.out_count = 1;
    one.node = &part;
    YS_TRY(ys_onnx_begin(&one, l.op, &in, 1, 1, &node));
    YS_TRY(add_matrix(step, &l, node, YS_NODE_WEIGHT, l.weight));
    l.twin = (int)ys_json_get_int(step->r->layers, key_of(step->r->graph, &l, node).text, -1);
    YS_TRY(add_bias(step, &l, node));
    YS_TRY(add_matrix(step, &l, node, YS_NODE_RECURRENT, l.recurrent));
    if (l.op == YS_OP_GRU)
        YS_TRY(add_recurrent_bias(step, &l, node));
    if (l.bias) {
        l.bias->readers++;
        l.bias->param = step->r->graph->nodes[node].bias;
        l.bias->is_shared = false;
    }
    ys_json_set_int(step->r->layers, key_of(step->r->graph, &l, node).text, node);
    YS_TRY(ys_onnx_end(step->r, node, &value));
    return set_outputs(step, &l, value);
}
