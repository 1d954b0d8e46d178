/* Tokens and attention.
 *
 * A product of two values may be a part of an attention: q k is put off as scores, which a factor, a mask and a softmax
 * may follow, and the product with v behind them is the operator; for others who read it, it is made. Files cut heads
 * from the last axis by Reshape and Transpose, and graphs have them side by side there: who makes the operator looks
 * behind both. */
#include "base/mem.h"
#include "onnx/read/reader_state.h"

#include <math.h>
#include <string.h>

void ys_onnx_rename(struct ys_onnx_step *step, int value)
{
    struct ys_value *v = &step->r->graph->values[value];
    char name[YS_GRAPH_MAX_NAME + 1];
    ys_onnx_name(step->r, YS_ONNX_VALUE_NAME, step->node->out[0], name);
    char *copy = ys_strdup(name);
    ys_free(v->name);
    v->name = copy;
}

ys_status ys_onnx_embed(struct ys_onnx_step *step)
{
    struct ys_onnx_reading *r = step->r;
    struct ys_onnx_constant *table;
    int64_t axis = 0;
    int in, node, value;
    YS_TRY(ys_onnx_integer(step->node, "axis", &axis));
    YS_TRY(ys_onnx_need_live(step, 1));
    YS_TRY(ys_onnx_need_constant(step, 0, "table", &table));
    YS_TRY(ys_onnx_take(step, step->in[1], true, &in));
    const size_t rank = r->graph->values[in].rank;
    if (table->rank != 2 || !table->is_real || axis != 0 || r->graph->values[in].dtype != YS_I32 || rank >= YS_MAX_RANK)
        return YS_FAIL_STEP(
            step, "%s",
            "takes rows by what is computed from data: graphs have an Embedding, rows of a matrix by tokens");
    struct ys_onnx_slot like = *step->in[1];
    like.perm[rank] = (int)rank;
    YS_TRY(ys_onnx_begin(step, YS_OP_EMBEDDING, &in, 1, 1, &node));
    YS_TRY(ys_onnx_plain_param(step, node, YS_NODE_WEIGHT, table, table->shape, 2));
    YS_TRY(ys_onnx_end(r, node, &value));
    ys_onnx_set(step, value, &like);
    step->out->rows = like.rows;
    return YS_OK;
}

#define NEAR 64 /* nodes behind a Split in which other pieces of it are looked for */

/* A Split of the value into `count` pieces along an axis, of which `which` is wanted; one that is there already where
 * all are of the extent 1. */
static ys_status piece_of(struct ys_onnx_step *step, int in, int axis, const int64_t *extents, size_t count,
                          size_t which, int *value)
{
    struct ys_graph *graph = step->r->graph;
    int node = -1;
    const int last = (int)graph->node_count;
    for (int i = last > NEAR ? last - NEAR : 0; i < last; i++) {
        const struct ys_node *n = &graph->nodes[i];
        if (n->op == YS_OP_SPLIT && n->in[0] == in && n->axis == axis && n->out_count == count &&
            memcmp(n->split, extents, count * sizeof *extents) == 0)
            node = i;
    }
    if (node < 0) {
        const char *names[YS_NODE_MAX_OUT];
        struct ys_onnx_node_in part = *step->node;
        struct ys_onnx_step some = {.r = step->r, .node = &part};
        for (size_t i = 0; i < count; i++)
            names[i] = part.out[0];
        part.out = names;
        YS_TRY(ys_onnx_begin(&some, YS_OP_SPLIT, &in, 1, count, &node));
        graph->nodes[node].axis = axis;
        memcpy(graph->nodes[node].split, extents, count * sizeof *extents);
        YS_TRY(ys_onnx_end(step->r, node, value));
    }
    *value = graph->nodes[node].out[which];
    return YS_OK;
}

/* The slot's value at place `at` of its axis `axis`, whose extent is then 1. */
static ys_status cut_one(struct ys_onnx_step *step, int in, int axis, int64_t at, int *value)
{
    const int64_t extent = step->r->graph->values[in].shape[axis];
    int64_t extents[YS_NODE_MAX_OUT] = {1, 1, 1, 1};
    size_t count = 0, which = 0;
    *value = in;
    if (extent == 1)
        return YS_OK;
    if (extent <= YS_NODE_MAX_OUT)
        return piece_of(step, in, axis, extents, (size_t)extent, (size_t)at, value);
    if (at > 0)
        extents[count++] = at;
    which = count;
    extents[count++] = 1;
    if (at + 1 < extent)
        extents[count++] = extent - at - 1;
    return piece_of(step, in, axis, extents, count, which, value);
}

ys_status ys_onnx_pick(struct ys_onnx_step *step, struct ys_onnx_slot *slot, int64_t given, int64_t at)
{
    struct ys_onnx_reading *r = step->r;
    int64_t shape[YS_MAX_RANK];
    size_t axis, apart, left = 0;
    int in;
    YS_TRY(ys_onnx_axis(step, slot, given, &axis, &apart));
    YS_TRY(ys_onnx_take(step, slot, true, &in));
    const struct ys_onnx_slot like = *slot;
    const size_t rank = r->graph->values[in].rank;
    const int along = like.perm[apart];
    const int64_t extent = r->graph->values[in].shape[along], place = at < 0 ? at + extent : at;
    if (place < 0 || place >= extent || rank < 3)
        return YS_FAIL_STEP(step, "takes place %lld of an axis of %lld, of a value of %zu dimensions", (long long)at,
                            (long long)extent, rank);
    YS_TRY(cut_one(step, in, along, place, &in));
    for (size_t i = 0; i < rank; i++)
        if ((int)i != along)
            shape[left++] = r->graph->values[in].shape[i];
    YS_TRY(ys_onnx_reshape_extra(step, "/picked", shape, rank - 1, &in));
    ys_onnx_set(step, in, NULL);
    for (size_t i = 0, next = 0; i < rank; i++)
        if (i != apart)
            step->out->perm[next++] = like.perm[i] - (like.perm[i] > along);
    step->out->rows = like.rows;
    step->out->rows.first -= like.rows.each && apart < like.rows.first;
    if (!like.rows.each && step->out->perm[0] == 0)
        step->out->rows.maker = NULL;
    return YS_OK;
}

/* Zeros before the value's own elements along the axis, cut off again: room that is as many rows as the batch has. */
static ys_status make_room(struct ys_onnx_step *step, int in, size_t along, int64_t extent, int *value)
{
    struct ys_graph *graph = step->r->graph;
    int node;
    const size_t rank = graph->values[in].rank;
    const int64_t extents[] = {extent, graph->values[in].shape[along]};
    YS_TRY(ys_onnx_begin_extra(step, YS_OP_PAD, in, "/room", &node));
    graph->nodes[node].pad.rank = rank;
    graph->nodes[node].pad.before[along] = extent;
    YS_TRY(ys_onnx_end(step->r, node, &in));
    return piece_of(step, in, (int)along, extents, 2, 0, value);
}

ys_status ys_onnx_of_rows(struct ys_onnx_step *step, struct ys_onnx_constant *c, struct ys_onnx_slot *beside,
                          size_t apart, struct ys_onnx_slot *made)
{
    const struct ys_graph *graph = step->r->graph;
    size_t front[YS_MAX_RANK], count = 0;
    struct ys_onnx_step part = *step;
    int in;
    YS_TRY(ys_onnx_take(step, beside, true, &in));
    bool fits =
        c->is_real && c->rank == graph->values[in].rank && !beside->rows.each && beside->perm[c->rows_axis - 1] == 0;
    for (size_t i = 0; fits && i < c->rank; i++) {
        fits = i == apart || i == c->rows_axis - 1 || c->shape[i] == graph->values[in].shape[beside->perm[i]];
        if (c->shape[i] != 1)
            front[count++] = (size_t)beside->perm[i];
    }
    if (!fits)
        return YS_FAIL_STEP(step, "%s", "joins a constant to the rows that has not their shape");
    YS_TRY(make_room(step, in, (size_t)beside->perm[apart], c->shape[apart], &in));
    struct ys_onnx_slot room = *beside;
    room.value = in;
    part.out = made;
    made->rows = beside->rows;
    return ys_onnx_operand(&part, &room, YS_OP_ADD, &(struct ys_onnx_operand){c, front, count});
}

/* Axes of a part of an attention as the file has them: the batch, some of heads, positions and width, which `turned`
 * has the other way round. */
struct head_axes {
    int order[YS_MAX_RANK]; /* axes of the value: the batch, positions, heads, width */
    size_t rank;
    int64_t heads, positions, width;
};

static struct head_axes part_of(const struct ys_onnx_reading *r, const struct ys_onnx_slot *slot, bool turned)
{
    const struct ys_value *v = &r->graph->values[slot->value];
    struct head_axes p = {.rank = v->rank, .heads = 1};
    const size_t positions = v->rank - (turned ? 1 : 2), width = v->rank - (turned ? 2 : 1);
    p.order[1] = slot->perm[positions];
    p.order[p.rank - 1] = slot->perm[width];
    for (size_t i = 1; i + 2 < p.rank; i++) {
        p.order[i + 1] = slot->perm[i];
        p.heads *= v->shape[slot->perm[i]];
    }
    p.positions = v->shape[p.order[1]];
    p.width = v->shape[p.order[p.rank - 1]];
    return p;
}

/* The part as (N, positions, heads side by side). */
static ys_status lay_side_by_side(struct ys_onnx_step *step, int value, struct head_axes *p, const char *suffix,
                                  int *made)
{
    struct ys_graph *graph = step->r->graph;
    const int64_t shape[3] = {YS_BATCH, p->positions, p->heads * p->width};
    int node;
    bool in_order = false;
    for (;;) { /* behind what only moves axes */
        in_order = true;
        for (size_t i = 0; i < p->rank; i++)
            in_order = in_order && p->order[i] == (int)i;
        const int producer = graph->values[value].producer;
        if (in_order || producer < 0 || graph->nodes[producer].op != YS_OP_TRANSPOSE)
            break;
        for (size_t i = 0; i < p->rank; i++)
            p->order[i] = graph->nodes[producer].permutation[p->order[i]];
        value = graph->nodes[producer].in[0];
    }
    if (!in_order) {
        YS_TRY(ys_onnx_begin_extra(step, YS_OP_TRANSPOSE, value, suffix, &node));
        memcpy(graph->nodes[node].permutation, p->order, p->rank * sizeof *p->order);
        YS_TRY(ys_onnx_end(step->r, node, &value));
    }
    const int producer = graph->values[value].producer;
    const struct ys_value *whole = producer < 0 ? NULL : &graph->values[graph->nodes[producer].in[0]];
    *made = value;
    if (p->rank == 3)
        return YS_OK;
    if (whole && graph->nodes[producer].op == YS_OP_RESHAPE && whole->rank == 3 &&
        memcmp(whole->shape, shape, sizeof shape) == 0) {
        *made = graph->nodes[producer].in[0];
        return YS_OK;
    }
    return ys_onnx_reshape_extra(step, suffix, shape, 3, made);
}

/* Whether the heads of keys are those of queries, or each of them that of several that follow each other. */
static bool heads_fit(const struct ys_onnx_reading *r, const struct ys_onnx_slot *query, const struct ys_onnx_slot *key)
{
    const struct ys_value *q = &r->graph->values[query->value], *k = &r->graph->values[key->value];
    bool fits = q->rank == k->rank, grouped = false;
    for (size_t i = 1; fits && i + 2 < q->rank; i++) {
        const int64_t left = q->shape[query->perm[i]], right = k->shape[key->perm[i]];
        grouped = grouped || left != right;
        fits = !grouped || right == 1;
    }
    return fits;
}

/* What lies side by side as the file sees it: of `shape` (N, positions, heads..., width), heads before positions. */
static ys_status show_heads(struct ys_onnx_step *step, int value, const int64_t *shape, size_t rank)
{
    struct ys_onnx_slot seen = {0};
    for (int i = 0; i < YS_MAX_RANK; i++)
        seen.perm[i] = i;
    if (rank > 3) {
        YS_TRY(ys_onnx_reshape_extra(step, "/heads", shape, rank, &value));
        for (size_t i = 1; i + 2 < rank; i++)
            seen.perm[i] = (int)i + 1;
        seen.perm[rank - 2] = 1;
    }
    ys_onnx_set(step, value, &seen);
    return YS_OK;
}

/* The attention of what was put off and values, seen as the file does: (N, heads..., positions, width). */
static ys_status attend(struct ys_onnx_step *step, const struct ys_onnx_attending *a, double scale, bool turned,
                        struct ys_onnx_slot *values)
{
    struct ys_onnx_reading *r = step->r;
    struct head_axes q = part_of(r, &a->query, false), k = part_of(r, &a->key, turned), v = part_of(r, values, false);
    int in[4], node, value;
    int64_t shape[YS_MAX_RANK] = {YS_BATCH};
    const size_t rank = q.rank;
    shape[1] = q.positions;
    for (size_t i = 2; i < rank; i++)
        shape[i] = r->graph->values[a->query.value].shape[q.order[i]];
    shape[rank - 1] = v.width;
    YS_TRY(lay_side_by_side(step, a->query.value, &q, "/queries", &in[0]));
    YS_TRY(lay_side_by_side(step, a->key.value, &k, "/keys", &in[1]));
    YS_TRY(lay_side_by_side(step, values->value, &v, "/values", &in[2]));
    in[3] = a->tokens;
    YS_TRY(ys_onnx_begin(step, YS_OP_ATTENTION, in, a->is_padded ? 4 : 3, 1, &node));
    if (!(scale > 0 && scale < 1e30))
        return YS_FAIL_STEP(step, "multiplies scores by %g: graphs have a scale above 0", scale);
    const double usual = 1 / sqrt((double)q.width);
    r->graph->nodes[node].attention =
        (struct ys_attention){q.heads, k.heads, a->is_causal, fabs(scale - usual) <= 1e-6 * usual ? 0 : scale};
    YS_TRY(ys_onnx_end(r, node, &value));
    ys_onnx_note(r, "node %.100s (%s) and what leads to it is an Attention of %lld heads", step->node->name,
                 step->node->op, (long long)q.heads);
    return show_heads(step, value, shape, rank);
}

/* Whether the batch comes first; with it may be axes that are one with it in the file, which are heads then. */
static bool begins_with_batch(const struct ys_onnx_slot *slot)
{
    return slot->perm[0] == 0 && (!slot->rows.each || slot->rows.first == 0);
}

static ys_status begin_scores(struct ys_onnx_step *step)
{
    struct ys_onnx_slot *q = step->in[0], *k = step->in[1];
    struct ys_onnx_attending *a = ys_onnx_file_keep(step->r->file, 1, sizeof *a);
    YS_TRY(ys_onnx_make_padded(step, q));
    YS_TRY(ys_onnx_make_padded(step, k));
    a->query = *q;
    a->key = *k;
    const size_t rank = ys_onnx_rank(step->r, q);
    const struct ys_graph *graph = step->r->graph;
    bool fits = q->curve == YS_ONNX_PLAIN && k->curve == YS_ONNX_PLAIN && !q->pixels && !k->pixels && rank > 2 &&
                rank == ys_onnx_rank(step->r, k) && begins_with_batch(q) && begins_with_batch(k) &&
                heads_fit(step->r, q, k);
    fits = fits && graph->values[q->value].shape[q->perm[rank - 1]] == graph->values[k->value].shape[k->perm[rank - 2]];
    if (!fits)
        return YS_FAIL_STEP(step, "%s",
                            "is a product of two values that is no attention, of (N, heads, positions, width), nor one "
                            "of matrices (N, ..., m, k) and (N, ..., k, n)");
    ys_onnx_set(step, q->value, q);
    step->out->curve = YS_ONNX_SCORES;
    step->out->maker = step->node;
    step->out->attending = a;
    const double factor = (q->factor == 0 ? 1 : q->factor) * (k->factor == 0 ? 1 : k->factor);
    step->out->factor = factor == 1 ? 0 : factor;
    return YS_OK;
}

ys_status ys_onnx_product(struct ys_onnx_step *step)
{
    struct ys_onnx_slot *left = step->in[0], *values = step->in[1];
    if (left->curve != YS_ONNX_SHARES)
        return begin_scores(step);
    YS_TRY(ys_onnx_make_padded(step, values));
    const struct ys_onnx_attending *a = left->attending;
    const struct ys_graph *graph = step->r->graph;
    const struct ys_value *v = &graph->values[values->value], *k = &graph->values[a->key.value];
    const size_t rank = v->rank;
    if (values->curve != YS_ONNX_PLAIN || values->factor != 0 || values->pixels || rank != k->rank ||
        !begins_with_batch(values) || !heads_fit(step->r, &a->key, values) || !heads_fit(step->r, values, &a->key) ||
        v->shape[values->perm[rank - 2]] != k->shape[a->key.perm[rank - 1]])
        return YS_FAIL_STEP(step, "%s",
                            "has values that do not fit the keys: graphs have as many of both, and of their heads");
    return attend(step, a, left->factor == 0 ? 1 : left->factor, true, values);
}

/* The first numbers of each head turned, and those behind them as they are: `in` has heads of `head` numbers side by
 * side, and so has what is made. */
static ys_status turn_part(struct ys_onnx_step *step, int in, const struct ys_rotary *how, int64_t head, int64_t width,
                           int *value)
{
    struct ys_graph *graph = step->r->graph;
    const int64_t positions = graph->values[in].shape[1], heads = how->heads, extents[2] = {width, head - width},
                  apart[4] = {YS_BATCH, positions, heads, head}, beside[3] = {YS_BATCH, positions, heads * width},
                  again[4] = {YS_BATCH, positions, heads, width}, whole[3] = {YS_BATCH, positions, heads * head};
    int parts[2], node;
    YS_TRY(ys_onnx_reshape_extra(step, "/apart", apart, 4, &in));
    for (size_t i = 0; i < 2; i++)
        YS_TRY(piece_of(step, in, 3, extents, 2, i, &parts[i]));
    YS_TRY(ys_onnx_reshape_extra(step, "/first", beside, 3, &parts[0]));
    YS_TRY(ys_onnx_begin_extra(step, YS_OP_ROTARY, parts[0], "/turned", &node));
    graph->nodes[node].rotary = *how;
    YS_TRY(ys_onnx_end(step->r, node, &parts[0]));
    YS_TRY(ys_onnx_reshape_extra(step, "/again", again, 4, &parts[0]));
    YS_TRY(ys_onnx_begin(step, YS_OP_CONCAT, parts, 2, 1, &node));
    graph->nodes[node].axis = 3;
    YS_TRY(ys_onnx_end(step->r, node, value));
    return ys_onnx_reshape_extra(step, "/whole", whole, 3, value);
}

/* What is to be turned, and how many heads lie in a position: as the operator's inputs say, or the nodes that spelled
 * it. */
static ys_status read_turn(struct ys_onnx_step *step, size_t rank, const struct head_axes *p,
                           struct ys_onnx_joined *turn, int64_t *heads)
{
    const struct ys_onnx_joined *j = step->node->joined;
    if (j && (p->positions != j->positions || p->width % j->width || (rank == 4 && p->width != j->width)))
        return YS_FAIL_STEP(step, "turns %lld positions of width %lld by tables of %lld positions and heads of %lld",
                            (long long)p->positions, (long long)p->width, (long long)j->positions, (long long)j->width);
    if (j) {
        *turn = *j;
        *heads = p->heads * p->width / j->width;
        return YS_OK;
    }
    *heads = rank == 4 ? p->heads : 0;
    YS_TRY(ys_onnx_integer(step->node, "num_heads", heads));
    if (*heads < 1 || (rank == 4 && *heads != p->heads) || p->heads * p->width % *heads)
        return YS_FAIL_STEP(step, "num_heads is %lld: must divide the width %lld of a position%s", (long long)*heads,
                            (long long)(p->heads * p->width), rank == 4 ? ", and be how many heads there are" : "");
    return ys_onnx_read_turn(step, p->positions, p->heads * p->width / *heads, turn);
}

ys_status ys_onnx_rotary(struct ys_onnx_step *step)
{
    struct ys_onnx_reading *r = step->r;
    struct ys_onnx_joined turn;
    int64_t heads;
    int in, node, value;
    YS_TRY(ys_onnx_need_live(step, 0));
    YS_TRY(ys_onnx_settle(step, step->in[0]));
    YS_TRY(ys_onnx_make_padded(step, step->in[0]));
    struct ys_onnx_slot *x = step->in[0];
    const size_t rank = ys_onnx_rank(r, x);
    if (x->rows.maker || x->pixels || x->perm[0] != 0 || (rank != 3 && rank != 4))
        return YS_FAIL_STEP(step, "%s", "turns what is not (N, positions, width) or (N, heads, positions, width)");
    struct head_axes p = part_of(r, x, false);
    YS_TRY(read_turn(step, rank, &p, &turn, &heads));
    const int64_t shape[4] = {YS_BATCH, p.positions, p.heads, p.width}, head = p.heads * p.width / heads;
    const struct ys_rotary how = {heads, turn.base, turn.interleaved};
    YS_TRY(lay_side_by_side(step, x->value, &p, "/whole", &in));
    if (turn.width < head) {
        YS_TRY(turn_part(step, in, &how, head, turn.width, &value));
        return show_heads(step, value, shape, rank);
    }
    YS_TRY(ys_onnx_begin(step, YS_OP_ROTARY, &in, 1, 1, &node));
    r->graph->nodes[node].rotary = how;
    YS_TRY(ys_onnx_end(r, node, &value));
    return show_heads(step, value, shape, rank);
}

/* What the mask hides of a query and a key: numbers beyond all scores, or what is no truth, or `where` it is one. */
static bool is_hidden(const struct ys_onnx_constant *mask, bool where, int64_t at)
{
    if (where)
        return ys_onnx_constant_whole(mask, at).fixed != 0;
    return mask->is_real ? ys_onnx_constant_real(mask, at) <= -1e4 : ys_onnx_constant_whole(mask, at).fixed == 0;
}

/* What the numbers hide, found once for all attentions that read them. */
static const struct ys_onnx_hiding *look_at_mask(struct ys_onnx_constant *c, bool where, int64_t rows, int64_t columns)
{
    struct ys_onnx_hiding *h = &c->hides[where];
    if (h->is_known)
        return h;
    *h = (struct ys_onnx_hiding){true, true, true, !c->filled && rows == columns};
    for (int64_t q = 0; h->is_plain && q < (c->filled ? 1 : rows); q++) /* no more than the file has numbers for */
        for (int64_t k = 0; h->is_plain && k < (c->filled ? 1 : columns); k++) {
            const int64_t at = q * columns + k;
            const bool hidden = is_hidden(c, where, at);
            h->is_none = h->is_none && !hidden;
            h->is_causal = h->is_causal && hidden == (k > q);
            h->is_plain = hidden || where || !c->is_real || ys_onnx_constant_real(c, at) == 0;
        }
    return h;
}

/* Whether the numbers hide nothing, or what lies behind each query. */
static bool read_mask(struct ys_onnx_constant *c, bool where, int64_t queries, int64_t keys, bool *is_causal)
{
    const int64_t rows = c->rank > 1 ? c->shape[c->rank - 2] : 1, columns = c->rank > 0 ? c->shape[c->rank - 1] : 1;
    bool fits = (rows == 1 || rows == queries) && (columns == 1 || columns == keys);
    for (size_t i = 0; i + 2 < c->rank; i++)
        fits = fits && c->shape[i] == 1;
    if (!fits)
        return false;
    const struct ys_onnx_hiding *h = look_at_mask(c, where, rows, columns);
    const bool causal = h->is_causal && queries == keys && rows == queries && columns == keys;
    *is_causal = causal && !h->is_none;
    return h->is_plain && (h->is_none || causal);
}

ys_status ys_onnx_mask_scores(struct ys_onnx_step *step, struct ys_onnx_slot *scores, struct ys_onnx_constant *mask,
                              bool where)
{
    struct ys_onnx_attending *a = ys_onnx_file_keep(step->r->file, 1, sizeof *a);
    bool is_causal;
    *a = *scores->attending;
    const struct head_axes q = part_of(step->r, &a->query, false), k = part_of(step->r, &a->key, true);
    if (!read_mask(mask, where, q.positions, k.positions, &is_causal))
        return YS_FAIL_STEP(
            step, "%s", "has a mask that hides other than what lies behind each position: graphs have is_causal alone");
    a->is_causal = a->is_causal || is_causal;
    ys_onnx_alias(step, scores);
    step->out->attending = a;
    return YS_OK;
}

/* Whether the slot says of each key of each row whether it counts, for all heads and queries alike. */
static bool counts_keys(const struct ys_onnx_reading *r, const struct ys_onnx_slot *slot, int64_t rank, int64_t keys)
{
    return slot && slot->kind == YS_ONNX_LIVE && slot->curve == YS_ONNX_COUNTS && slot->axis == rank &&
           r->graph->values[slot->value].shape[1] == keys;
}

/* Scores stay where tokens are not the padding. */
static ys_status hide_padding(struct ys_onnx_step *step, struct ys_onnx_slot *scores, struct ys_onnx_slot *counts)
{
    struct ys_onnx_attending *a = ys_onnx_file_keep(step->r->file, 1, sizeof *a);
    *a = *scores->attending;
    const int64_t rank = (int64_t)ys_onnx_rank(step->r, &a->key);
    if (a->is_padded || !counts_keys(step->r, counts, rank, part_of(step->r, &a->key, true).positions))
        return YS_FAIL_STEP(step, "%s", "hides keys otherwise than by a token for each of them");
    a->is_padded = true;
    a->tokens = counts->value;
    ys_onnx_alias(step, scores);
    step->out->attending = a;
    return YS_OK;
}

/* Whether the slot is one number that hides what it stands in place of. */
static bool is_lowest(const struct ys_onnx_slot *slot)
{
    return slot && slot->kind == YS_ONNX_CONSTANT && slot->constant->count == 1 && slot->constant->is_real &&
           ys_onnx_constant_real(slot->constant, 0) <= -1e4;
}

/* Of scores alone: minus infinity where a mask says so. */
ys_status ys_onnx_where(struct ys_onnx_step *step)
{
    struct ys_onnx_constant *where = NULL, *number = NULL;
    YS_TRY(step->node->in_count == 3 ? YS_OK : YS_FAIL_STEP(step, "has %zu inputs, not 3", step->node->in_count));
    for (size_t i = 0; i < 3; i++)
        if (step->in[i] && step->in[i]->kind == YS_ONNX_CONSTANT)
            YS_TRY(ys_onnx_constant_load(&step->r->folding, step->in[i]->constant));
    for (size_t k = 1; step->in[0] && step->in[0]->kind == YS_ONNX_LIVE && k < 3; k++) {
        struct ys_onnx_slot counts = *step->in[0], *scores = step->in[k];
        if (counts.curve != (k == 1 ? YS_ONNX_COUNTS : YS_ONNX_BLANKS) || !scores || scores->kind != YS_ONNX_LIVE ||
            scores->curve != YS_ONNX_SCORES || !is_lowest(step->in[3 - k]))
            continue;
        counts.curve = YS_ONNX_COUNTS;
        return hide_padding(step, scores, &counts);
    }
    where = step->in[0] && step->in[0]->kind == YS_ONNX_CONSTANT ? step->in[0]->constant : NULL;
    for (size_t k = 1; where && !where->is_real && k < 3; k++) {
        struct ys_onnx_slot *scores = step->in[k], *other = step->in[3 - k];
        if (!scores || scores->kind != YS_ONNX_LIVE || scores->curve != YS_ONNX_SCORES || !other ||
            other->kind != YS_ONNX_CONSTANT)
            continue;
        number = other->constant;
        YS_TRY(ys_onnx_constant_load(&step->r->folding, number));
        if (number->count != 1 || !number->is_real || !(ys_onnx_constant_real(number, 0) <= -1e4))
            break;
        /* where it holds the scores stay, or the number stands */
        return k == 1 ? ys_onnx_mask_scores(step, scores, where, false)
                      : ys_onnx_mask_scores(step, scores, where, true);
    }
    return YS_FAIL_STEP(step, "%s", "is read of constants, and as the mask of an attention alone");
}

ys_status ys_onnx_share_scores(struct ys_onnx_step *step, int64_t axis)
{
    const int64_t rank = (int64_t)ys_onnx_file_rank(step->r, step->in[0]);
    if (axis != -1 && axis != rank - 1)
        return YS_FAIL_STEP(step, "axis %lld of scores: graphs have the softmax over the keys", (long long)axis);
    ys_onnx_alias(step, step->in[0]);
    step->out->curve = YS_ONNX_SHARES;
    step->out->maker = step->node;
    return YS_OK;
}

/* Inputs and attributes that graphs have nothing for. */
static ys_status check_attention(struct ys_onnx_step *step)
{
    static const char *const rest[] = {"past_key", "past_value", "nonpad_kv_seqlen"};
    static const char *const known[] = {"q_num_heads", "kv_num_heads",          "is_causal",        "scale",
                                        "softcap",     "qk_matmul_output_mode", "softmax_precision"};
    double softcap = 0;
    YS_TRY(ys_onnx_real(step->node, "softcap", &softcap));
    for (size_t i = 0; i < step->node->attr_count; i++) { /* of newer operator sets: windows, sinks */
        bool is_known = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            is_known = is_known || strcmp(step->node->attrs[i].name, known[k]) == 0;
        if (!is_known)
            return YS_FAIL_STEP(step, "has the attribute %.60s: graphs have nothing like it",
                                step->node->attrs[i].name);
    }
    for (size_t i = 4; i < step->node->in_count; i++)
        if (step->node->in[i][0])
            return YS_FAIL_STEP(step, "has %s: graphs have whole sequences alone", rest[i < 7 ? i - 4 : 2]);
    double scale = 0;
    YS_TRY(ys_onnx_real(step->node, "scale", &scale));
    if (!(scale >= 0 && scale < 1e30))
        return YS_FAIL_STEP(step, "scale is %g: graphs have one above 0", scale);
    return softcap == 0 ? YS_OK : YS_FAIL_STEP(step, "softcap is %g: graphs have none", softcap);
}

/* ONNX's operator, of set 23: of three axes, with the heads side by side, or of four. */
ys_status ys_onnx_attention(struct ys_onnx_step *step)
{
    struct ys_onnx_reading *r = step->r;
    struct ys_onnx_attending a = {0};
    struct ys_onnx_constant *mask = NULL;
    int64_t heads[2] = {0, 0}, causal = 0;
    double scale = 0;
    int in[4] = {0}, node, value;
    YS_TRY(check_attention(step));
    for (size_t i = 0; i < 3; i++)
        YS_TRY(ys_onnx_need_live(step, i));
    YS_TRY(ys_onnx_integer(step->node, "q_num_heads", &heads[0]));
    YS_TRY(ys_onnx_integer(step->node, "kv_num_heads", &heads[1]));
    YS_TRY(ys_onnx_integer(step->node, "is_causal", &causal));
    YS_TRY(ys_onnx_real(step->node, "scale", &scale));
    for (size_t i = 0; i < 3; i++) {
        YS_TRY(ys_onnx_take(step, step->in[i], true, &in[i]));
        if (step->in[i]->rows.maker || ys_onnx_rank(r, step->in[i]) != ys_onnx_rank(r, step->in[0]))
            return YS_FAIL_STEP(step, "%s",
                                "reads values whose first axis is not the batch, or of different dimensions");
    }
    const size_t rank = ys_onnx_rank(r, step->in[0]);
    a.query = *step->in[0];
    a.key = *step->in[1];
    const struct head_axes q = part_of(r, &a.query, false), k = part_of(r, &a.key, false);
    a.is_padded = step->node->in_count > 3 && counts_keys(r, step->in[3], 4, k.positions);
    a.tokens = a.is_padded ? step->in[3]->value : -1;
    YS_TRY(step->node->in_count > 3 && !a.is_padded ? ys_onnx_constant_in(step, 3, &mask) : YS_OK);
    if (mask && !read_mask(mask, false, q.positions, k.positions, &a.is_causal))
        return YS_FAIL_STEP(
            step, "%s", "has a mask that hides other than what lies behind each position: graphs have is_causal alone");
    a.is_causal = a.is_causal || causal;
    if (rank == 4)
        return attend(step, &a, scale > 0 ? scale : 1 / sqrt((double)q.width), false, step->in[2]);
    if (rank != 3 || heads[0] < 1 || heads[1] < 1)
        return YS_FAIL_STEP(step, "reads values of %zu dimensions, q_num_heads %lld, kv_num_heads %lld", rank,
                            (long long)heads[0], (long long)heads[1]);
    for (size_t i = 0; i < 3; i++)
        YS_TRY(ys_onnx_take(step, step->in[i], false, &in[i]));
    in[3] = a.tokens;
    YS_TRY(ys_onnx_begin(step, YS_OP_ATTENTION, in, a.is_padded ? 4 : 3, 1, &node));
    r->graph->nodes[node].attention = (struct ys_attention){heads[0], heads[1], a.is_causal, scale > 0 ? scale : 0};
    YS_TRY(ys_onnx_end(r, node, &value));
    ys_onnx_set(step, value, NULL);
    return YS_OK;
}

/* Renumbers what refers to values and nodes; those that are gone have -1. */
static void renumber(struct ys_graph *graph, const int *value_to, const int *node_to)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        struct ys_node *node = &graph->nodes[i];
        for (size_t k = 0; k < node->in_count; k++)
            node->in[k] = value_to[node->in[k]];
        for (size_t k = 0; k < node->out_count; k++)
            node->out[k] = value_to[node->out[k]];
    }
    for (size_t i = 0; i < graph->value_count; i++)
        if (graph->values[i].producer >= 0)
            graph->values[i].producer = node_to[graph->values[i].producer];
    for (size_t i = 0; i < graph->input_count; i++)
        graph->inputs[i] = value_to[graph->inputs[i]];
    graph->output = value_to[graph->output];
}

/* Takes out the nodes that `value_to` and `node_to`, of all values and nodes, have -1 for, with their lines of the
 * report, and puts into both where the others go. */
static void take_out(struct ys_onnx_reading *r, int *value_to, int *node_to)
{
    struct ys_graph *graph = r->graph;
    ys_json *lines = ys_json_array();
    size_t values = 0, nodes = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        if (node_to[i] >= 0)
            ys_json_append(lines, ys_json_ref(ys_json_at(r->nodes, i)));
    ys_json_free(r->nodes);
    r->nodes = lines;
    for (size_t i = 0; i < graph->value_count; i++)
        value_to[i] = value_to[i] < 0 ? -1 : (int)values++;
    for (size_t i = 0; i < graph->node_count; i++)
        node_to[i] = node_to[i] < 0 ? -1 : (int)nodes++;
    renumber(graph, value_to, node_to);
    for (size_t i = 0; i < graph->value_count; i++)
        if (value_to[i] >= 0)
            graph->values[value_to[i]] = graph->values[i];
        else
            ys_free(graph->values[i].name);
    for (size_t i = 0; i < graph->node_count; i++)
        if (node_to[i] >= 0)
            graph->nodes[node_to[i]] = graph->nodes[i];
        else
            ys_free(graph->nodes[i].name);
    graph->value_count = values;
    graph->node_count = nodes;
}

void ys_onnx_prune(struct ys_onnx_reading *r)
{
    const struct ys_graph *graph = r->graph;
    int *value_to = ys_alloc(graph->value_count, sizeof *value_to); /* first how often each is read */
    int *node_to = ys_alloc(graph->node_count, sizeof *node_to);
    bool any = false;
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].in_count; k++)
            value_to[graph->nodes[i].in[k]]++;
    value_to[graph->output]++;
    for (size_t i = graph->node_count; i-- > 0;) {
        const struct ys_node *node = &graph->nodes[i];
        const bool moves = node->op == YS_OP_RESHAPE || node->op == YS_OP_TRANSPOSE;
        if (!moves || value_to[node->out[0]] > 0)
            continue;
        value_to[node->in[0]]--;
        value_to[node->out[0]] = node_to[i] = -1;
        any = true;
    }
    if (any)
        take_out(r, value_to, node_to);
    ys_free(value_to);
    ys_free(node_to);
}
