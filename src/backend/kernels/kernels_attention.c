/* Attention of one head of one row, a strip of queries at a time. Queries lie in the lanes and keys one behind the
 * other, so that a softmax is one of whole vectors, products need nothing packed, and keys that no query of a strip
 * sees are left out. No more than a strip of the table of scores is kept, and it is made again for the backward pass
 * (Dao et al. 2022, "FlashAttention"). YS_KERNELS names the table: compiled once for each width of vector registers. */
#include "backend/kernels/kernels_attention.h"
#include "backend/kernels/kernels_curve.h"
#include "backend/kernels/kernels_tile.h"

#include <math.h>

extern const struct ys_attention_kernels YS_KERNELS;

enum { STRIP = TILE_VECTORS * LANES, RUN = 64 /* keys of one sum: longer ones are sums of such sums */ };
_Static_assert((int)STRIP <= (int)YS_ATTENTION_STRIP, "the scratch has room for a strip");

/* What is turned has a row for each number of a part, scores have one for each key: STRIP lanes each. */
struct query_strip {
    const struct ys_heads *h;
    const struct ys_head *head;
    int64_t first, count;  /* of its queries */
    int64_t columns, keys; /* whole vectors of lanes; keys that one of its queries sees */
    float *p, *dp;         /* scores, which become the softmax, and their gradient */
    float *one;            /* what one product takes or gives, turned or as it is */
};

static int64_t vectors_of(int64_t count)
{
    return (count + LANES - 1) / LANES * LANES;
}

static struct query_strip strip_of(const struct ys_heads *h, const struct ys_head *head, int64_t first, float *scratch)
{
    struct query_strip s = {.h = h, .head = head, .first = first, .p = scratch, .dp = scratch + h->room * STRIP};
    s.count = h->queries - first < STRIP ? h->queries - first : STRIP;
    s.columns = vectors_of(s.count);
    s.keys = h->causal ? h->keys - h->queries + first + s.count : h->keys;
    s.one = s.dp + h->room * STRIP;
    return s;
}

/** one[k][lane] = from[query][k]. Nobody asks what comes of lanes that are no query's. */
static struct block turned(const struct query_strip *s, const float *from, int64_t row, int64_t width)
{
    turn(from + s->first * row, row, s->count, width, s->one, STRIP);
    return (struct block){s->one, STRIP};
}

/** The strip's queries as they are, but with something to read up to the end of the last vector. */
static struct block padded(const struct query_strip *s, const float *from, int64_t row, int64_t width)
{
    const int64_t whole = vectors_of(width);
    from += s->first * row;
    if (whole == width)
        return (struct block){from, row};
    for (int64_t t = 0; t < s->count; t++)
        memcpy(s->one + t * whole, from + t * row, (size_t)width * sizeof *from);
    return (struct block){s->one, whole};
}

static bool is_hidden(const struct query_strip *s, int64_t key)
{
    return s->head->tokens && s->head->tokens[key] == YS_ROWS_PADDING;
}

/** v in the lanes, from `lane` on, whose query sees the key, else `hidden`. */
static inline vector seen(const struct query_strip *s, int64_t key, int64_t lane, vector v, float hidden)
{
    const int64_t behind = key - (s->h->keys - s->h->queries + s->first + lane); /* keys that lane 0 does not see yet */
    static const int32_t numbers[YS_LANES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    truth lanes;
    if (!s->h->causal || behind <= 0)
        return v;
    memcpy(&lanes, numbers, sizeof lanes);
    return choose(lanes >= (int32_t)behind, v, (vector){0} + hidden);
}

/* A sum over keys in each lane. */
struct key_sum {
    vector whole, run; /* the runs before, and the one that has begun */
};

static inline void add_key(struct key_sum *sum, int64_t k, vector term)
{
    sum->run += term;
    if (k % RUN == RUN - 1) {
        sum->whole += sum->run;
        sum->run = (vector){0};
    }
}

/** Scores to a softmax over the keys, in each lane of the vector that begins at `lane`. */
static void soften(const struct query_strip *s, int64_t lane)
{
    float *p = s->p + lane;
    vector top = (vector){0} - INFINITY;
    struct key_sum sum = {{0}, {0}};
    for (int64_t k = 0; k < s->keys; k++) {
        const vector z = seen(s, k, lane, tail_load(p + k * STRIP), -INFINITY);
        if (!is_hidden(s, k))
            top = choose(z > top, z, top);
    }
    for (int64_t k = 0; k < s->keys; k++) {
        vector e = {0};
        if (!is_hidden(s, k))
            e = seen(s, k, lane, exponential((tail_load(p + k * STRIP) - top) * s->h->scale), 0);
        store(p + k * STRIP, e, LANES);
        add_key(&sum, k, e);
    }
    const vector factor = 1 / (sum.whole + sum.run);
    for (int64_t k = 0; k < s->keys; k++)
        store(p + k * STRIP, tail_load(p + k * STRIP) * factor, LANES);
}

/** dp[k] = scale * p[k] * (dp[k] - the sum of p dp) */
static void soften_backward(const struct query_strip *s, int64_t lane)
{
    const float *p = s->p + lane;
    float *dp = s->dp + lane;
    struct key_sum sum = {{0}, {0}};
    for (int64_t k = 0; k < s->keys; k++)
        add_key(&sum, k, tail_load(p + k * STRIP) * tail_load(dp + k * STRIP));
    const vector mean = sum.whole + sum.run;
    for (int64_t k = 0; k < s->keys; k++)
        store(dp + k * STRIP, tail_load(p + k * STRIP) * s->h->scale * (tail_load(dp + k * STRIP) - mean), LANES);
}

static void attend(const struct query_strip *s)
{
    const struct ys_heads *h = s->h;
    const struct block q = turned(s, s->head->q, h->heads * h->width, h->width);
    block_sums(h->width, (struct block){s->head->k, h->kv_heads * h->width, 1}, q, s->p, STRIP, false, s->keys,
               s->columns);
    for (int64_t lane = 0; lane < s->columns; lane += LANES)
        soften(s, lane);
}

static void forward(const struct ys_heads *h, const struct ys_head *head, float *y, float *scratch)
{
    const int64_t v_row = h->kv_heads * h->value_width, y_row = h->heads * h->value_width;
    for (int64_t first = 0; first < h->queries; first += STRIP) {
        const struct query_strip s = strip_of(h, head, first, scratch);
        attend(&s);
        block_sums(s.keys, (struct block){head->v, 1, v_row}, (struct block){s.p, STRIP}, s.one, STRIP, false,
                   h->value_width, s.columns);
        turn(s.one, STRIP, h->value_width, s.count, y + first * y_row, y_row);
    }
}

/** Of one strip; `add`: the gradients of keys and values have a share already. */
static void backward_strip(const struct query_strip *s, const struct ys_head_gradient *g, bool add)
{
    const struct ys_heads *h = s->h;
    const int64_t q_row = h->heads * h->width, k_row = h->kv_heads * h->width;
    const int64_t y_row = h->heads * h->value_width, v_row = h->kv_heads * h->value_width;
    const struct block p = {s->p, STRIP, 1}, dp = {s->dp, STRIP, 1};
    attend(s);
    block_sums(s->count, p, padded(s, g->dy, y_row, h->value_width), g->dv, v_row, add, s->keys, h->value_width);
    block_sums(h->value_width, (struct block){s->head->v, v_row, 1}, turned(s, g->dy, y_row, h->value_width), s->dp,
               STRIP, false, s->keys, s->columns);
    for (int64_t lane = 0; lane < s->columns; lane += LANES)
        soften_backward(s, lane);
    block_sums(s->count, dp, padded(s, s->head->q, q_row, h->width), g->dk, k_row, add, s->keys, h->width);
    block_sums(s->keys, (struct block){s->head->k, 1, k_row}, dp, s->one, STRIP, false, h->width, s->columns);
    turn(s->one, STRIP, h->width, s->count, g->dq + s->first * q_row, q_row);
}

/** The last strip is the first: its queries see all keys, so that it writes the whole of their gradients. */
static void backward(const struct ys_heads *h, const struct ys_head *head, const struct ys_head_gradient *g,
                     float *scratch)
{
    const int64_t last = (h->queries - 1) / STRIP * STRIP;
    for (int64_t first = last; first >= 0; first -= STRIP) {
        const struct query_strip s = strip_of(h, head, first, scratch);
        backward_strip(&s, g, g->is_more || first < last);
    }
}

const struct ys_attention_kernels YS_KERNELS = {.forward = forward, .backward = backward};
