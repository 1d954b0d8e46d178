/* Cosines and sines of positions, as files hold them for RotaryEmbedding. Graphs have one base in their place: the one
 * that makes the same numbers is looked for, and where none does the tables are something else. */
#include "onnx/read/reader_state.h"

#include <math.h>
#include <string.h>

/* Whether a table has those numbers at a place; floats of angles, whose own error grows with the position. */
static bool are_of_angle(const struct ys_onnx_waves *w, int64_t at, int64_t position, double cosine, double sine)
{
    const double near = 1e-6 * (1 + (double)position);
    return fabs(ys_onnx_constant_real(w->cosines, at) - cosine) <= near &&
           fabs(ys_onnx_constant_real(w->sines, at) - sine) <= near;
}

/* The base that gives the second pair of heads of that width the angle that it has at position 1, which is
 * base^(-2 / width) and lies there in the tables; 0: none. */
static double base_of(const struct ys_onnx_waves *w, int64_t at, int64_t width)
{
    const double angle = atan2(ys_onnx_constant_real(w->sines, at), ys_onnx_constant_real(w->cosines, at));
    const double base = angle > 0 ? pow(angle, -0.5 * (double)width) : 0;
    if (!(base > 0 && base < 1e12))
        return 0;
    return fabs(base - round(base)) <= 1e-4 * base && base >= 2 ? round(base) : base;
}

/* Whether the tables are those of pairs in heads of that width. */
static bool are_waves(const struct ys_onnx_waves *w, const struct ys_onnx_joined *j)
{
    for (int64_t at = 0; at < w->positions * w->width; at++) {
        const int64_t k = at % w->width % j->width, half = j->width / 2;
        const bool second = j->interleaved ? k % 2 : k >= half;
        const double angle = ys_rotary_angle(j->base, at / w->width, j->interleaved ? k / 2 : k % half, j->width);
        const double sign = w->others && !second ? -1 : 1;
        const int64_t apart = j->interleaved ? 1 : half, other = at % w->width + (second ? -apart : apart);
        if (!are_of_angle(w, at, at / w->width, cos(angle), sign * sin(angle)))
            return false;
        if (w->others && ys_onnx_constant_whole(w->others, at % w->width).fixed != other)
            return false;
    }
    return true;
}

static bool look_for_waves(const struct ys_onnx_waves *w, struct ys_onnx_joined *j)
{
    for (int64_t width = w->others ? 2 : w->width; width <= w->width; width += 2)
        for (int interleaved = 0; w->width % width == 0 && interleaved <= (w->others != NULL); interleaved++) {
            *j = (struct ys_onnx_joined){
                .positions = w->positions, .width = width, .base = 10000, .interleaved = interleaved};
            if (are_waves(w, j))
                return true;
            if (width < 4 || w->positions < 2)
                continue;
            j->base = base_of(w, w->width + (interleaved ? 3 : 1 + width / 2), width); /* its second number */
            if (j->base > 0 && are_waves(w, j))
                return true;
        }
    return false;
}

/* What is known of the cosines; false where they were looked at beside other tables, or not yet. */
static bool is_known(const struct ys_onnx_waves *w)
{
    const struct ys_onnx_turning *t = &w->cosines->turning;
    return t->sines == w->sines && t->others == w->others && t->positions == w->positions;
}

static bool keep(const struct ys_onnx_waves *w, const struct ys_onnx_joined *j, bool is_found)
{
    w->cosines->turning =
        (struct ys_onnx_turning){w->sines, w->others, w->positions, j->width, j->base, j->interleaved, is_found};
    return is_found;
}

bool ys_onnx_find_waves(const struct ys_onnx_waves *w, struct ys_onnx_joined *j)
{
    const struct ys_onnx_turning *t = &w->cosines->turning;
    if (!is_known(w))
        return keep(w, j, look_for_waves(w, j));
    *j = (struct ys_onnx_joined){
        .positions = w->positions, .width = t->width, .base = t->base, .interleaved = t->interleaved};
    return t->is_found;
}

/* Whether the tables have a number for each pair, and in each of so many blocks of rows those of positions 0, 1, ... */
static bool are_angles(const struct ys_onnx_waves *w, int64_t blocks, const struct ys_onnx_joined *j)
{
    for (int64_t at = 0; at < blocks * w->positions * w->width; at++) {
        const int64_t position = at / w->width % w->positions;
        const double angle = ys_rotary_angle(j->base, position, at % w->width, j->width);
        if (!are_of_angle(w, at, position, cos(angle), sin(angle)))
            return false;
    }
    return true;
}

/* The base of an operator's tables; false where none makes them. */
static bool find_base(const struct ys_onnx_waves *w, int64_t blocks, struct ys_onnx_joined *turn)
{
    const struct ys_onnx_turning *t = &w->cosines->turning;
    if (w->cosines->filled || w->sines->filled) /* one number without end is no table */
        return false;
    if (is_known(w)) {
        turn->base = t->base;
        return t->is_found;
    }
    bool found = are_angles(w, blocks, turn);
    if (!found && w->positions > 1 && w->width > 1) {
        turn->base = base_of(w, w->width + 1, turn->width);
        found = turn->base > 0 && are_angles(w, blocks, turn);
    }
    return keep(w, turn, found);
}

/* The operator's positions: 0, 1, ... in each row. */
static ys_status check_positions(struct ys_onnx_step *step, int64_t positions)
{
    struct ys_onnx_constant *c;
    if (step->in[3]->kind != YS_ONNX_CONSTANT)
        return YS_FAIL_STEP(step, "%s",
                            "has position_ids that the data tell: graphs count the positions of each row from 0; "
                            "leave position_ids out of the inputs and make them by a range");
    YS_TRY(ys_onnx_constant_in(step, 3, &c));
    bool fits = !c->is_real && c->rank == 2 && c->shape[1] == positions && c->rows_axis < 2;
    fits = fits && (!c->filled || positions == 1);
    for (int64_t i = 0; fits && c->counts == YS_ONNX_UNKNOWN && i < (c->filled ? 1 : c->count); i++)
        fits = ys_onnx_constant_whole(c, i).fixed == i % positions && ys_onnx_constant_whole(c, i).each == 0;
    if (fits && c->counts == YS_ONNX_UNKNOWN)
        c->counts = YS_ONNX_IS;
    if (!fits)
        return YS_FAIL_STEP(step, "has other position_ids than 0 to %lld in each row: graphs count from 0",
                            (long long)positions - 1);
    return YS_OK;
}

/* One of the tables: of (positions at least, pairs) for positions that are picked, else of (rows, positions, pairs). */
static ys_status read_table(struct ys_onnx_step *step, size_t i, const char *name, const struct ys_onnx_waves *w,
                            bool picked, struct ys_onnx_constant **table)
{
    YS_TRY(ys_onnx_need_constant(step, i, name, table));
    const struct ys_onnx_constant *c = *table;
    bool fits = c->is_real && c->rank == (picked ? 2 : 3) && c->shape[c->rank - 1] == w->width;
    fits = fits && (picked ? c->shape[0] >= w->positions && !c->rows_axis
                           : c->shape[1] == w->positions && c->shape[0] > 0 && c->rows_axis < 2);
    char shape[YS_SHAPE_TEXT];
    if (!fits)
        return YS_FAIL_STEP(step, "its %s is of shape %s: must be numbers of shape (%s%lld, %lld)", name,
                            ys_shape_text(c->shape, c->rank, shape), picked ? "at least " : "N, ",
                            (long long)w->positions, (long long)w->width);
    return YS_OK;
}

ys_status ys_onnx_read_turn(struct ys_onnx_step *step, int64_t positions, int64_t head, struct ys_onnx_joined *turn)
{
    int64_t interleaved = 0, width = 0;
    YS_TRY(ys_onnx_integer(step->node, "interleaved", &interleaved));
    YS_TRY(ys_onnx_integer(step->node, "rotary_embedding_dim", &width));
    const bool picked = step->node->in_count > 3 && step->in[3];
    if ((interleaved != 0 && interleaved != 1) || width < 0 || width > head || (width ? width : head) % 2)
        return YS_FAIL_STEP(step,
                            "interleaved %lld, rotary_embedding_dim %lld of heads of %lld: must be 0 or 1, and an even "
                            "number of them, 0 for all",
                            (long long)interleaved, (long long)width, (long long)head);
    *turn = (struct ys_onnx_joined){
        .positions = positions, .width = width ? width : head, .base = 10000, .interleaved = interleaved};
    struct ys_onnx_waves w = {.positions = positions, .width = turn->width / 2};
    YS_TRY(picked ? check_positions(step, positions) : YS_OK);
    YS_TRY(read_table(step, 1, "cos_cache", &w, picked, &w.cosines));
    YS_TRY(read_table(step, 2, "sin_cache", &w, picked, &w.sines));
    if (!picked && w.cosines->shape[0] != w.sines->shape[0])
        return YS_FAIL_STEP(step, "has cosines for %lld rows and sines for %lld", (long long)w.cosines->shape[0],
                            (long long)w.sines->shape[0]);
    const int64_t blocks = picked ? 1 : w.cosines->shape[0];
    if (!find_base(&w, blocks, turn))
        return YS_FAIL_STEP(step, "%s",
                            "has a cos_cache and sin_cache that are not the cosines and sines of t b^(-2 i / d), "
                            "position t from 0 and pair i, for any b: graphs have a base alone");
    return YS_OK;
}
