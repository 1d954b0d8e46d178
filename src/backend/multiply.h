/* Products of matrices in float, as what back ends share (recurrent.h) asks for them. */
#ifndef YS_BACKEND_MULTIPLY_H
#define YS_BACKEND_MULTIPLY_H

#include "base/status.h"
#include <stdint.h>

/** c[m, n] = beta c + a[m, k] b[k, n], beta 0 or 1. `turn_a`, `turn_b`: 'T', the array is the matrix's transpose, or
 * 'N'. Rows of the arrays lie `a_row`, `b_row`, `c_row` numbers apart. By `threads` threads, each of which has its part
 * of the workspace, where the back end wants one. */
typedef ys_status (*ys_multiply)(char turn_a, char turn_b, int64_t m, int64_t n, int64_t k, const float *a,
                                 int64_t a_row, const float *b, int64_t b_row, float beta, float *c, int64_t c_row,
                                 int threads, void *workspace);

#endif
