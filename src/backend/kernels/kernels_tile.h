/* Tiles of a matrix product in float, whose sums stay in registers while k runs, for the registers of the instructions
 * that a file is compiled for. Every sum is taken over k from 0 up in a lane of its own, so no cut changes a bit.
 * Included by kernels that may multiply and add at once. */
#ifndef YS_BACKEND_KERNELS_KERNELS_TILE_H
#define YS_BACKEND_KERNELS_KERNELS_TILE_H

#include "backend/kernels/kernels_tail.h"

#if defined(__AVX512F__)
enum { TILE_ROWS = 12, TILE_VECTORS = 2 }; /* 24 of 32 registers are sums */
#elif defined(__AVX2__)
enum { TILE_ROWS = 6, TILE_VECTORS = 2 }; /* 12 of 16 */
#elif defined(__aarch64__)
enum { TILE_ROWS = 8, TILE_VECTORS = 2 }; /* 16 of 32, and 8 numbers of a */
#else
enum { TILE_ROWS = 4, TILE_VECTORS = 2 }; /* 8 of 16 */
#endif
typedef float quad __attribute__((vector_size(16)));

#ifdef __clang__
#define MIX(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define MIX(a, b, i, j, k, l) __builtin_shuffle(a, b, (int __attribute__((vector_size(16)))){i, j, k, l})
#endif

/** to[column][row] = from[row][column], four by four */
static void turn(const float *from, int64_t from_row, int64_t rows, int64_t columns, float *to, int64_t to_row)
{
    const int64_t whole_rows = rows / 4 * 4, whole = columns / 4 * 4;
    for (int64_t i = 0; i < whole_rows; i += 4)
        for (int64_t k = 0; k < whole; k += 4) {
            quad in[4], out[4];
            for (int64_t r = 0; r < 4; r++)
                memcpy(&in[r], from + (i + r) * from_row + k, sizeof in[r]);
            const quad a = MIX(in[0], in[1], 0, 4, 1, 5), b = MIX(in[0], in[1], 2, 6, 3, 7);
            const quad c = MIX(in[2], in[3], 0, 4, 1, 5), d = MIX(in[2], in[3], 2, 6, 3, 7);
            out[0] = MIX(a, c, 0, 1, 4, 5);
            out[1] = MIX(a, c, 2, 3, 6, 7);
            out[2] = MIX(b, d, 0, 1, 4, 5);
            out[3] = MIX(b, d, 2, 3, 6, 7);
            for (int64_t r = 0; r < 4; r++)
                memcpy(to + (k + r) * to_row + i, &out[r], sizeof out[r]);
        }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t k = i < whole_rows ? whole : 0; k < columns; k++)
            to[k * to_row + i] = from[i * from_row + k];
}

/** A matrix: element [i, j] at i * `row` + j * `column`. */
struct block {
    const float *at;
    int64_t row, column;
};

static inline __attribute__((always_inline)) void tile(int64_t depth, const struct block *a, const struct block *b,
                                                       float *c, int64_t c_row, bool add, int rows, int vectors)
{
    const float *from = b->at;
    vector sum[TILE_ROWS][TILE_VECTORS];
    const float *row[TILE_ROWS];
    for (int r = 0; r < rows; r++) {
        row[r] = a->at + r * a->row;
        for (int v = 0; v < vectors; v++)
            if (add)
                memcpy(&sum[r][v], c + r * c_row + v * LANES, sizeof sum[r][v]);
            else
                sum[r][v] = (vector){0};
    }
    for (int64_t k = 0, at = 0; k < depth; k++, at += a->column, from += b->row) {
        vector column[TILE_VECTORS];
        for (int v = 0; v < vectors; v++)
            memcpy(&column[v], from + v * LANES, sizeof column[v]);
        for (int r = 0; r < rows; r++)
            for (int v = 0; v < vectors; v++)
                sum[r][v] += row[r][at] * column[v];
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++)
            memcpy(c + r * c_row + v * LANES, &sum[r][v], sizeof sum[r][v]);
}

#define SIZE(r)                                                                                                        \
    case r:                                                                                                            \
        if (r <= TILE_ROWS && vectors == 1)                                                                            \
            tile(depth, a, b, c, c_row, add, r, 1);                                                                    \
        else if (r <= TILE_ROWS)                                                                                       \
            tile(depth, a, b, c, c_row, add, r, TILE_VECTORS);                                                         \
        break;

/** Sums of `rows` rows, at most TILE_ROWS, and `columns` columns, at most so many as TILE_VECTORS have; those that are
 * no whole vectors by way of a tile beside c. */
static void some_sums(int64_t depth, const struct block *a, const struct block *b, float *to, int64_t to_row, bool add,
                      int64_t rows, int64_t columns)
{
    float beside[TILE_ROWS * TILE_VECTORS * LANES] __attribute__((aligned(64)));
    const int64_t vectors = columns > LANES ? TILE_VECTORS : 1, width = vectors * LANES;
    const bool is_full = columns == width;
    float *c = is_full ? to : beside;
    const int64_t c_row = is_full ? to_row : width;
    for (int64_t r = 0; !is_full && add && r < rows; r++)
        for (int64_t j = 0; j < width; j++)
            beside[r * width + j] = j < columns ? to[r * to_row + j] : 0;
    switch (rows) {
        SIZE(1)
        SIZE(2)
        SIZE(3)
        SIZE(4)
        SIZE(5)
        SIZE(6)
        SIZE(7)
        SIZE(8)
        SIZE(9)
        SIZE(10)
        SIZE(11)
        SIZE(12)
    default:
        break;
    }
    for (int64_t r = 0; !is_full && r < rows; r++)
        memcpy(to + r * to_row, beside + r * width, (size_t)columns * sizeof *to);
}

/** c[rows, columns] = (add ? c : 0) + a[rows, depth] b[depth, columns], by tiles of about one size. Columns of b and of
 * c are contiguous, and b has numbers up to the end of the last vector. */
static void block_sums(int64_t depth, struct block a, struct block b, float *c, int64_t c_row, bool add, int64_t rows,
                       int64_t columns)
{
    const int64_t strips = (rows + TILE_ROWS - 1) / TILE_ROWS, most = TILE_VECTORS * LANES;
    const float *const first = a.at;
    for (int64_t j = 0; j < columns; j += most, b.at += most)
        for (int64_t strip = 0; strip < strips; strip++) {
            const int64_t i = rows * strip / strips, end = rows * (strip + 1) / strips;
            a.at = first + i * a.row;
            some_sums(depth, &a, &b, c + i * c_row + j, c_row, add, end - i, columns - j < most ? columns - j : most);
        }
}

#endif
