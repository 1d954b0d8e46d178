/* Swish, HardSwish and Gelu, which files spell in several nodes: a Sigmoid, a factor or an Erf is put off until the
 * node behind it shows what it is part of. */
#include "onnx/read/reader_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_near(double value, double wanted)
{
    return fabs(value - wanted) <= 1e-6 * fabs(wanted);
}

/* The same value without what is put off. */
static struct ys_onnx_slot bare(const struct ys_onnx_slot *slot)
{
    struct ys_onnx_slot same = *slot;
    same.curve = YS_ONNX_PLAIN;
    same.factor = 0;
    return same;
}

static void put_off(struct ys_onnx_step *step, const struct ys_onnx_slot *slot, enum ys_onnx_curve curve, double factor)
{
    ys_onnx_set(step, slot->value, slot);
    step->out->curve = curve;
    step->out->factor = factor == 1 ? 0 : factor;
    step->out->maker = step->node;
}

static ys_status make_curve(struct ys_onnx_step *step, struct ys_onnx_slot *slot)
{
    const enum ys_op op = slot->curve == YS_ONNX_HARD ? YS_OP_HARDSIGMOID : YS_OP_SIGMOID;
    int node;
    YS_TRY(ys_onnx_begin(step, op, &slot->value, 1, 1, &node));
    if (op == YS_OP_HARDSIGMOID) {
        step->r->graph->nodes[node].slope = slot->alpha;
        step->r->graph->nodes[node].shift = slot->beta;
    }
    slot->curve = YS_ONNX_PLAIN;
    return ys_onnx_end(step->r, node, &slot->value);
}

/* Scores that no attention follows: the product itself, of both values as the file sees them. */
static ys_status make_scores(struct ys_onnx_step *maker, struct ys_onnx_slot *slot)
{
    const struct ys_onnx_attending *a = slot->attending;
    const struct ys_value *values = maker->r->graph->values;
    struct ys_onnx_slot part[2] = {bare(&a->query), bare(&a->key)};
    bool fits = !a->is_causal && !a->is_padded;
    int in[2], node;
    for (size_t i = 0; i < 2; i++)
        fits = fits && !part[i].rows.maker && !part[i].ended;
    for (size_t i = 1; fits && i + 2 < values[part[0].value].rank; i++)
        fits = values[part[0].value].shape[part[0].perm[i]] == values[part[1].value].shape[part[1].perm[i]];
    if (!fits)
        return YS_FAIL_NODE(slot->maker, YS_EUNSUPPORTED, "%s",
                            "is part of a product of two values that is no attention: graphs have softmax(q k) v, and "
                            "matrices (N, ..., m, k) times (N, ..., k, n) of which nothing is hidden");
    for (size_t i = 0; i < 2; i++)
        YS_TRY(ys_onnx_take(maker, &part[i], false, &in[i]));
    YS_TRY(ys_onnx_begin(maker, YS_OP_MATMUL, in, 2, 1, &node));
    YS_TRY(ys_onnx_end(maker->r, node, &slot->value));
    for (int i = 0; i < YS_MAX_RANK; i++)
        slot->perm[i] = i;
    slot->turned = NULL;
    slot->attending = NULL;
    slot->curve = YS_ONNX_PLAIN;
    return YS_OK;
}

/* The softmax of scores that no attention follows. */
static ys_status make_shares(struct ys_onnx_step *step, struct ys_onnx_slot *slot)
{
    struct ys_onnx_step maker = {.r = step->r, .node = slot->maker};
    struct ys_graph *graph = step->r->graph;
    int node;
    slot->curve = YS_ONNX_SCORES;
    YS_TRY(ys_onnx_settle(step, slot));
    const int last = (int)graph->values[slot->value].rank - 1;
    YS_TRY(ys_onnx_begin(&maker, YS_OP_SOFTMAX, &slot->value, 1, 1, &node));
    graph->nodes[node].axis = slot->perm[last];
    return ys_onnx_end(step->r, node, &slot->value);
}

ys_status ys_onnx_settle(struct ys_onnx_step *step, struct ys_onnx_slot *slot)
{
    struct ys_onnx_slot made = {0};
    struct ys_onnx_step maker = {.r = step->r, .node = slot->maker, .out = &made};
    if (slot->curve == YS_ONNX_SLICE)
        return ys_onnx_piece_alone(step->r, slot);
    if (slot->curve == YS_ONNX_SEQUENCE)
        return YS_FAIL_NODE(slot->maker, YS_EUNSUPPORTED, "%s",
                            "makes a sequence of which something else than SequenceAt reads: graphs have values alone");
    if (slot->curve == YS_ONNX_FLAT)
        return YS_FAIL_NODE(slot->maker, YS_EUNSUPPORTED, "%s",
                            "makes a value of 1 dimensions: the batch and another must stay");
    if (slot->curve == YS_ONNX_SHARES)
        return make_shares(step, slot);
    if (slot->curve == YS_ONNX_SCORES)
        YS_TRY(make_scores(&maker, slot));
    if (slot->curve >= YS_ONNX_COUNTS)
        return YS_FAIL_NODE(slot->maker, YS_EUNSUPPORTED, "%s",
                            "makes truths of tokens: they are read as what hides keys of an attention alone, as what "
                            "picks each row's last position that is no padding, or as the sequence_lens of a layer");
    if (slot->curve == YS_ONNX_ERF || slot->curve == YS_ONNX_ERF1)
        return YS_FAIL_NODE(slot->maker, YS_EUNSUPPORTED, "%s",
                            "is part of an Erf that is not a Gelu: graphs have x (1 + erf(x / sqrt 2)) / 2 alone");
    if (slot->curve != YS_ONNX_PLAIN)
        YS_TRY(make_curve(&maker, slot));
    if (slot->factor == 0)
        return YS_OK;
    const struct ys_onnx_affine affine = {.factor = slot->factor};
    struct ys_onnx_slot value = bare(slot);
    ys_onnx_note(step->r, "node %.100s (%s with the number %g) is a Conv of 1x1 that is not trained", slot->maker->name,
                 slot->maker->op, slot->factor);
    YS_TRY(ys_onnx_affine(&maker, &value, &affine));
    slot->value = made.value;
    slot->factor = 0;
    memcpy(slot->perm, made.perm, sizeof made.perm);
    return YS_OK;
}

/* Whether the node goes on with the scores, or their softmax, so that they may become an attention, or asks for their
 * shape alone. */
static bool goes_on(const struct ys_onnx_step *step, size_t i)
{
    static const char *const plainly[] = {"Shape", "Identity", "Cast", "CastLike", "Dropout"};
    const char *op = step->node->op;
    const struct ys_onnx_slot *other = step->node->in_count == 2 ? step->in[1 - i] : NULL;
    const bool has_constant = other && other->kind == YS_ONNX_CONSTANT;
    for (size_t k = 0; k < sizeof plainly / sizeof *plainly; k++)
        if (strcmp(op, plainly[k]) == 0)
            return true;
    if (step->in[i]->curve == YS_ONNX_SHARES)
        return i == 0 && strcmp(op, "MatMul") == 0;
    if (strcmp(op, "Mul") == 0 || (strcmp(op, "Div") == 0 && i == 0))
        return has_constant && other->constant->count == 1;
    return strcmp(op, "Softmax") == 0 || strcmp(op, "Where") == 0 || (strcmp(op, "Add") == 0 && has_constant);
}

ys_status ys_onnx_settle_scores(struct ys_onnx_step *step)
{
    for (size_t i = 0; i < step->node->in_count; i++) {
        struct ys_onnx_slot *slot = step->in[i];
        if (slot && slot->kind == YS_ONNX_LIVE && (slot->curve == YS_ONNX_SCORES || slot->curve == YS_ONNX_SHARES) &&
            !goes_on(step, i))
            YS_TRY(ys_onnx_settle(step, slot));
    }
    return YS_OK;
}

ys_status ys_onnx_put_off(struct ys_onnx_step *step, struct ys_onnx_slot *slot, double factor, bool *done)
{
    const bool is_curve = slot->curve == YS_ONNX_ERF1 || slot->curve == YS_ONNX_SCORES;
    *done = is_curve || (slot->curve == YS_ONNX_PLAIN &&
                         (slot->factor != 0 || step->out->feeds_mul || step->out->feeds_erf) && factor != 0);
    if (!*done)
        return YS_OK;
    int value = slot->value;
    struct ys_onnx_slot plain = bare(slot);
    if (slot->curve != YS_ONNX_SCORES)
        YS_TRY(ys_onnx_take(step, &plain, true, &value));
    const double together = (slot->factor == 0 ? 1 : slot->factor) * factor;
    if (together == 0)
        return YS_FAIL_STEP(step, "multiplies by %g what a node behind it is to make an operator of: graphs have none",
                            factor);
    plain.value = value;
    put_off(step, &plain, slot->curve, is_near(together, 1) ? 1 : together);
    step->out->attending = slot->attending;
    return YS_OK;
}

static ys_status emit_joined(struct ys_onnx_step *step, enum ys_op op, const struct ys_onnx_slot *x, double factor)
{
    int node, value;
    YS_TRY(ys_onnx_begin(step, op, &x->value, 1, 1, &node));
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_note(step->r, "node %.100s (%s) and what leads to it is a %s", step->node->name, step->node->op,
                 ys_op_name(op));
    struct ys_onnx_slot made = *x;
    made.value = value;
    put_off(step, &made, YS_ONNX_PLAIN, is_near(factor, 1) ? 1 : factor);
    return YS_OK;
}

ys_status ys_onnx_join(struct ys_onnx_step *step, struct ys_onnx_slot *a, struct ys_onnx_slot *b, bool *done)
{
    struct ys_onnx_slot *curve = a->curve != YS_ONNX_PLAIN ? a : b, *x = curve == a ? b : a;
    *done = curve->curve != YS_ONNX_PLAIN && x->curve == YS_ONNX_PLAIN && x->value == curve->value && !x->pixels &&
            memcmp(x->perm, curve->perm, sizeof x->perm) == 0;
    const double left = curve->factor == 0 ? 1 : curve->factor, right = x->factor == 0 ? 1 : x->factor;
    if (*done && curve->curve == YS_ONNX_ERF1)
        return emit_joined(step, YS_OP_GELU, x, 2 * left * right);
    *done = *done && left == 1 && right == 1;
    if (*done && curve->curve == YS_ONNX_SIGMOID)
        return emit_joined(step, YS_OP_SWISH, x, 1);
    *done = *done && curve->curve == YS_ONNX_HARD && is_near(curve->alpha, 1.0 / 6) && curve->beta == 0.5;
    return *done ? emit_joined(step, YS_OP_HARDSWISH, x, 1) : YS_OK;
}

static ys_status put_off_curve(struct ys_onnx_step *step, enum ys_onnx_curve curve)
{
    int value;
    YS_TRY(ys_onnx_take(step, step->in[0], true, &value));
    put_off(step, step->in[0], curve, 1);
    return step->out->feeds_mul && step->out->uses == 1 ? YS_OK : ys_onnx_settle(step, step->out);
}

ys_status ys_onnx_sigmoid(struct ys_onnx_step *step)
{
    YS_TRY(ys_onnx_need_live(step, 0));
    return put_off_curve(step, YS_ONNX_SIGMOID);
}

ys_status ys_onnx_hardsigmoid(struct ys_onnx_step *step)
{
    step->out->alpha = 0.2;
    step->out->beta = 0.5;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_real(step->node, "alpha", &step->out->alpha));
    YS_TRY(ys_onnx_real(step->node, "beta", &step->out->beta));
    if (step->node->joined)
        step->out->alpha = step->node->joined->alpha;
    if (is_near(step->out->alpha, 1.0 / 6)) /* what a float of it was before it was rounded */
        step->out->alpha = 1.0 / 6;
    if (!(step->out->alpha > 0 && step->out->alpha < 1e30) || !(fabs(step->out->beta) < 1e30))
        return YS_FAIL_STEP(step, "alpha %g and beta %g: graphs have an alpha above 0", step->out->alpha,
                            step->out->beta);
    return put_off_curve(step, YS_ONNX_HARD);
}

ys_status ys_onnx_erf(struct ys_onnx_step *step)
{
    YS_TRY(ys_onnx_need_live(step, 0));
    if (step->in[0]->curve != YS_ONNX_PLAIN || !is_near(step->in[0]->factor, sqrt(0.5)))
        return YS_FAIL_STEP(step, "%s", "there is no such operator in yardstick's graphs, but as a part of Gelu");
    const struct ys_onnx_slot value = bare(step->in[0]);
    put_off(step, &value, YS_ONNX_ERF, 1);
    return YS_OK;
}

ys_status ys_onnx_gelu(struct ys_onnx_step *step)
{
    char how[32] = "none";
    int in, node, value;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_word(step->node, "approximate", how));
    if (step->node->joined)
        snprintf(how, sizeof how, "%s", step->node->joined->approximate);
    if (strcmp(how, "none") != 0 && strcmp(how, "tanh") != 0)
        return YS_FAIL_STEP(step, "attribute approximate is %s", how);
    YS_TRY(ys_onnx_take(step, step->in[0], true, &in));
    const struct ys_onnx_slot like = *step->in[0];
    YS_TRY(ys_onnx_begin(step, YS_OP_GELU, &in, 1, 1, &node));
    step->r->graph->nodes[node].by_tanh = how[0] == 't';
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, &like);
    return YS_OK;
}

static ys_status to_power(struct ys_onnx_step *step, double exponent)
{
    int in, node, value;
    YS_TRY(ys_onnx_take(step, step->in[0], true, &in));
    const struct ys_onnx_slot like = *step->in[0];
    YS_TRY(ys_onnx_begin(step, YS_OP_POW, &in, 1, 1, &node));
    step->r->graph->nodes[node].exponent = exponent;
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, &like);
    return YS_OK;
}

ys_status ys_onnx_reciprocal(struct ys_onnx_step *step)
{
    YS_TRY(ys_onnx_need_live(step, 0));
    return to_power(step, -1);
}

ys_status ys_onnx_pow(struct ys_onnx_step *step)
{
    struct ys_onnx_constant *exponent;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_need_constant(step, 1, "exponent", &exponent));
    const double number = exponent->count == 1 ? ys_onnx_constant_real(exponent, 0) : 0;
    if (exponent->count != 1 || exponent->rank > ys_onnx_rank(step->r, step->in[0]) || number == 0 ||
        !(fabs(number) < 1e30))
        return YS_FAIL_STEP(step, "has %lld exponents, the first %g: graphs have one, not 0",
                            (long long)exponent->count, number);
    return to_power(step, number);
}
