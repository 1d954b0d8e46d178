/* LSTM and GRU, in float. What the input gives all gates of all places is one product ahead, and so are the gradients
 * of weights and input behind; between them each thread takes some rows of the batch through all positions, as rows do
 * not see each other, so that no step waits for another thread. */
#include "backend/recurrent.h"

#include "backend/kernels/kernels.h"
#include "backend/parallel.h"

#include <string.h>

static float *kept_of(const struct ys_recurrent *r, void *const *operand, int64_t place)
{
    return (float *)operand[YS_RECURRENT_KEPT] + (ys_recurrent_places(r) * r->gates + place) * r->hidden;
}

static float *gate_of(const struct ys_recurrent *r, void *const *operand, int64_t place)
{
    return (float *)operand[YS_RECURRENT_KEPT] + place * r->gates * r->hidden;
}

static float *state_of(const struct ys_recurrent *r, void *const *operand, int64_t place)
{
    return (float *)operand[YS_RECURRENT_Y] + place * r->hidden;
}

/** The state that a row goes on from. */
static float *start_of(const struct ys_recurrent *r, void *const *operand, int64_t row)
{
    return (float *)operand[YS_RECURRENT_STATE] + row * r->hidden;
}

/** The cell that a row goes on from; NULL: from 0. */
static const float *start_cell_of(const struct ys_recurrent *r, void *const *operand, int64_t row)
{
    return r->carries ? start_of(r, operand, r->rows + row) : NULL;
}

/** The workspace of the thread whose rows begin at `row`: those of thread t do at rows * t / threads. */
static void *workspace_of(const struct ys_recurrent_call *c, void *const *operand, int64_t row)
{
    const int64_t thread = (row * c->r.threads + c->r.rows - 1) / c->r.rows;
    return (char *)operand[YS_RECURRENT_SCRATCH] + (size_t)thread * c->workspace_bytes;
}

/** Adds the product of the states before step t of `rows` rows and rows `first` and further of the recurrent weight. */
static void feed_state(const struct ys_recurrent_call *c, void *const *operand, int64_t row, int64_t rows, int64_t t,
                       int64_t first, int64_t count, float *to, int64_t to_row, float beta)
{
    const struct ys_recurrent *r = &c->r;
    const float *states = t > 0 ? state_of(r, operand, row * r->steps + t - 1) : start_of(r, operand, row);
    c->multiply('N', 'T', rows, count, r->hidden, states, t > 0 ? r->steps * r->hidden : r->hidden,
                (const float *)operand[YS_RECURRENT_R] + first * r->hidden, r->hidden, beta, to, to_row, 1,
                workspace_of(c, operand, row));
}

/** What forward ends with, behind what it began with. */
static void leave_state(const struct ys_recurrent *r, void *const *operand, size_t first, size_t end)
{
    const size_t bytes = (size_t)r->hidden * sizeof(float);
    float *left = start_of(r, operand, 0) + ys_recurrent_state(r);
    for (int64_t row = (int64_t)first; r->carries && row < (int64_t)end; row++) {
        const int64_t last = (row + 1) * r->steps - 1;
        memcpy(left + row * r->hidden, state_of(r, operand, last), bytes);
        if (r->gates == 4)
            memcpy(left + (r->rows + row) * r->hidden, kept_of(r, operand, last), bytes);
    }
}

static void lstm_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_recurrent_call *c = context;
    const struct ys_recurrent *r = &c->r;
    const int64_t h = r->hidden, row = (int64_t)first, rows = (int64_t)(end - first);
    for (int64_t t = 0; t < r->steps; t++) {
        if (t > 0 || r->carries)
            feed_state(c, operand, row, rows, t, 0, 4 * h, gate_of(r, operand, row * r->steps + t), r->steps * 4 * h,
                       1);
        for (int64_t place = row * r->steps + t; place < (int64_t)end * r->steps; place += r->steps) {
            float *cell = kept_of(r, operand, place);
            const float *before = t > 0 ? cell - h : start_cell_of(r, operand, place / r->steps);
            c->kernels->lstm(h, operand[YS_RECURRENT_B], before, gate_of(r, operand, place), cell,
                             state_of(r, operand, place));
        }
    }
    leave_state(r, operand, first, end);
}

/** The state before a place; NULL: 0. */
static const float *before_of(const struct ys_recurrent *r, void *const *operand, int64_t place)
{
    if (place % r->steps > 0)
        return state_of(r, operand, place - 1);
    return r->carries ? start_of(r, operand, place / r->steps) : NULL;
}

static void gru_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_recurrent_call *c = context;
    const struct ys_recurrent *r = &c->r;
    const int64_t h = r->hidden, row = (int64_t)first, rows = (int64_t)(end - first);
    for (int64_t t = 0; t < r->steps; t++) {
        const int64_t start = row * r->steps + t;
        if (t > 0 || r->carries) {
            feed_state(c, operand, row, rows, t, 0, 2 * h, gate_of(r, operand, start), r->steps * 3 * h, 1);
            feed_state(c, operand, row, rows, t, 2 * h, h, kept_of(r, operand, start), r->steps * h, 0);
        }
        for (int64_t place = start; place < (int64_t)end * r->steps; place += r->steps) {
            float *y = state_of(r, operand, place);
            c->kernels->gru(h, operand[YS_RECURRENT_B], operand[YS_RECURRENT_RB], before_of(r, operand, place),
                            gate_of(r, operand, place), kept_of(r, operand, place), y);
        }
    }
    leave_state(r, operand, first, end);
}

ys_status ys_recurrent_run(void *context, void *const *operand)
{
    const struct ys_recurrent_call *c = context;
    const struct ys_recurrent *r = &c->r;
    YS_TRY(c->multiply('N', 'T', ys_recurrent_places(r), r->gates * r->hidden, r->width, operand[YS_RECURRENT_X],
                       r->width, operand[YS_RECURRENT_W], r->width, 0, operand[YS_RECURRENT_KEPT], r->gates * r->hidden,
                       r->threads, operand[YS_RECURRENT_SCRATCH]));
    ys_parallel_for(r->threads, (size_t)r->rows, 1, r->gates == 4 ? lstm_part : gru_part, context, operand);
    return YS_OK;
}

/* What lies in the gradient of what is kept: of the gates, of what else is kept, and what a row carries to the position
 * before; the room of the last is that of the states before each place afterwards. */
static float *dgate_of(const struct ys_recurrent *r, void *const *operand, int64_t place)
{
    return (float *)operand[YS_RECURRENT_DKEPT] + place * r->gates * r->hidden;
}

static float *dkept_of(const struct ys_recurrent *r, void *const *operand, int64_t place)
{
    return (float *)operand[YS_RECURRENT_DKEPT] + (ys_recurrent_places(r) * r->gates + place) * r->hidden;
}

static float *carried_of(const struct ys_recurrent *r, void *const *operand, int64_t row)
{
    return dkept_of(r, operand, ys_recurrent_places(r)) + row * r->hidden;
}

/** carried = beta carried + the gradients times the rows of the recurrent weight from `first` on. */
static void carry(const struct ys_recurrent_call *c, void *const *operand, int64_t row, int64_t rows, const float *from,
                  int64_t from_row, int64_t first, int64_t count, float beta)
{
    const struct ys_recurrent *r = &c->r;
    c->multiply('N', 'N', rows, r->hidden, count, from, from_row,
                (const float *)operand[YS_RECURRENT_R] + first * r->hidden, r->hidden, beta,
                carried_of(r, operand, row), r->hidden, 1, workspace_of(c, operand, row));
}

static void lstm_backward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_recurrent_call *c = context;
    const struct ys_recurrent *r = &c->r;
    const int64_t h = r->hidden;
    for (int64_t t = r->steps - 1; t >= 0; t--) {
        const bool is_last = t == r->steps - 1;
        for (int64_t row = (int64_t)first; row < (int64_t)end; row++) {
            const int64_t place = row * r->steps + t;
            const float *cell = kept_of(r, operand, place);
            float *dcell = dkept_of(r, operand, place);
            const float *before = t > 0 ? cell - h : start_cell_of(r, operand, row);
            c->kernels->lstm_backward(h, gate_of(r, operand, place), before, cell,
                                      (const float *)operand[YS_RECURRENT_DY] + place * h,
                                      is_last ? NULL : carried_of(r, operand, row), is_last ? NULL : dcell + h,
                                      dgate_of(r, operand, place), dcell);
        }
        if (t > 0)
            carry(c, operand, (int64_t)first, (int64_t)(end - first),
                  dgate_of(r, operand, (int64_t)first * r->steps + t), r->steps * 4 * h, 0, 4 * h, 0);
    }
}

static void gru_backward_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_recurrent_call *c = context;
    const struct ys_recurrent *r = &c->r;
    const int64_t h = r->hidden, rows = (int64_t)(end - first);
    for (int64_t t = r->steps - 1; t >= 0; t--) {
        const int64_t start = (int64_t)first * r->steps + t;
        for (int64_t row = (int64_t)first; row < (int64_t)end; row++) {
            const int64_t place = row * r->steps + t;
            c->kernels->gru_backward(h, gate_of(r, operand, place), before_of(r, operand, place),
                                     kept_of(r, operand, place), (const float *)operand[YS_RECURRENT_DY] + place * h,
                                     t == r->steps - 1, carried_of(r, operand, row), dgate_of(r, operand, place),
                                     dkept_of(r, operand, place));
        }
        if (t == 0)
            continue;
        carry(c, operand, (int64_t)first, rows, dgate_of(r, operand, start), r->steps * 3 * h, 0, 2 * h, 1);
        carry(c, operand, (int64_t)first, rows, dkept_of(r, operand, start), r->steps * h, 2 * h, h, 1);
    }
}

/** The state before each place, in the order of the places. */
static void shift_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_recurrent *r = &((const struct ys_recurrent_call *)context)->r;
    const size_t row_bytes = (size_t)(r->steps - 1) * (size_t)r->hidden * sizeof(float);
    for (int64_t row = (int64_t)first; row < (int64_t)end; row++) {
        float *to = carried_of(r, operand, row * r->steps);
        if (r->carries)
            memcpy(to, start_of(r, operand, row), (size_t)r->hidden * sizeof *to);
        else
            memset(to, 0, (size_t)r->hidden * sizeof *to);
        memcpy(to + r->hidden, state_of(r, operand, row * r->steps), row_bytes);
    }
}

/** Columns [first, end) of the sum over the places of what gates and, of GRU, the inner product have for gradients. */
static void bias_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct ys_recurrent *r = &((const struct ys_recurrent_call *)context)->r;
    const int64_t all = r->gates * r->hidden;
    for (int64_t j = (int64_t)first; j < (int64_t)end; j++) { /* the inner product's come behind the gates' */
        float *to = j < all ? (float *)operand[YS_RECURRENT_DB] + j : (float *)operand[YS_RECURRENT_DRB] + j - all;
        *to = 0;
    }
    for (int64_t place = 0; place < ys_recurrent_places(r); place++) {
        const float *gate = dgate_of(r, operand, place), *inner = dkept_of(r, operand, place);
        const int64_t gates = (int64_t)end < all ? (int64_t)end : all;
        for (int64_t j = (int64_t)first; j < gates; j++)
            ((float *)operand[YS_RECURRENT_DB])[j] += gate[j];
        for (int64_t j = (int64_t)first > all ? (int64_t)first : all; j < (int64_t)end; j++)
            ((float *)operand[YS_RECURRENT_DRB])[j - all] += inner[j - all];
    }
}

/** to[count, width] = the transpose of from[places, count] times with[places, width] */
static ys_status weigh(const struct ys_recurrent_call *c, void *const *operand, const float *from, int64_t count,
                       int64_t from_row, const float *with, int64_t width, float *to)
{
    return c->multiply('T', 'N', count, width, ys_recurrent_places(&c->r), from, from_row, with, width, 0, to, width,
                       c->r.threads, operand[YS_RECURRENT_SCRATCH]);
}

ys_status ys_recurrent_backward_run(void *context, void *const *operand)
{
    const struct ys_recurrent_call *c = context;
    const struct ys_recurrent *r = &c->r;
    const int64_t h = r->hidden, all = r->gates * h;
    const bool is_lstm = r->gates == 4;
    const float *dgates = dgate_of(r, operand, 0);
    float *dweight = operand[YS_RECURRENT_DR];
    ys_parallel_for(r->threads, (size_t)r->rows, 1, is_lstm ? lstm_backward_part : gru_backward_part, context, operand);
    ys_parallel_for(r->threads, (size_t)r->rows, 1, shift_part, context, operand);
    ys_parallel_for(r->threads, (size_t)(all + (is_lstm ? 0 : h)), YS_ALIGNMENT / sizeof(float), bias_part, context,
                    operand);
    YS_TRY(weigh(c, operand, dgates, is_lstm ? all : 2 * h, all, carried_of(r, operand, 0), h, dweight));
    if (!is_lstm)
        YS_TRY(weigh(c, operand, dkept_of(r, operand, 0), h, h, carried_of(r, operand, 0), h, dweight + 2 * h * h));
    YS_TRY(weigh(c, operand, dgates, all, all, operand[YS_RECURRENT_X], r->width, operand[YS_RECURRENT_DW]));
    return c->multiply('N', 'N', ys_recurrent_places(r), r->width, all, dgates, all, operand[YS_RECURRENT_W], r->width,
                       0, operand[YS_RECURRENT_DX], r->width, r->threads, operand[YS_RECURRENT_SCRATCH]);
}
