/* Formats that a network is computed in: each a row of one table (formats.c), with all that is asked of it beside the
 * kernels, and beside the instructions that it needs (backend/level.c). */
#ifndef YS_BASE_STORED_FORMATS_H
#define YS_BASE_STORED_FORMATS_H

#include "base/json/record.h"
#include "base/stored/safetensors.h"

enum ys_precision { YS_PRECISION_F32, YS_PRECISION_F64, YS_PRECISION_BF16, YS_PRECISION_COUNT };
extern const struct ys_names ys_precisions; /* "f32", "f64", "bf16" */

struct ys_format_facts {
    enum ys_precision kept; /* that of weights, optimizer and loss; plain C computes in it in its place */
    enum ys_dtype dtype;    /* of that in files */
    uint32_t unit;          /* in the last place, in units of float32, of which the numbers that twins move are */
    double of_term;         /* what a sum is rounded by at each term, in what was moved */
    double moves;           /* how often operands are rounded in all, beside being moved once */
    bool may_flip;          /* what rounds in it may choose another side of a kink, where twins do not move as far */
    bool adds_up;           /* a framework may add up in it, where much of a sum is lost */
    enum ys_precision peak; /* whose products' measured peak limits it */
    double most_times;      /* operations of a CPU at the very most, in those of float32 */
};
const struct ys_format_facts *ys_format_of(int precision);

#endif
