#include "base/stored/formats.h"

static const char *const words[] = {
    [YS_PRECISION_F32] = "f32", [YS_PRECISION_F64] = "f64", [YS_PRECISION_BF16] = "bf16"};
const struct ys_names ys_precisions = YS_NAMES("precision", words);

static const struct ys_format_facts table[] = {
    [YS_PRECISION_F32] = {.kept = YS_PRECISION_F32,
                          .dtype = YS_F32,
                          .unit = 1,
                          .of_term = 1,
                          .moves = 1,
                          .may_flip = true,
                          .peak = YS_PRECISION_F32,
                          .most_times = 1},
    [YS_PRECISION_F64] = {.kept = YS_PRECISION_F64,
                          .dtype = YS_F64,
                          .unit = 1,
                          .of_term = 0x1p-29, /* doubles are moved as float32 */
                          .moves = 1,
                          .peak = YS_PRECISION_F32,
                          .most_times = 1},
    [YS_PRECISION_BF16] = {.kept = YS_PRECISION_F32,
                           .dtype = YS_F32,
                           .unit = 1u << 16,
                           .of_term = 0x1p-16, /* products are added in float32, but operands rounded once more */
                           .moves = 2,
                           .adds_up = true,
                           .peak = YS_PRECISION_BF16,
                           .most_times = 16}, /* matrix units */
};
_Static_assert(sizeof table / sizeof table[0] == YS_PRECISION_COUNT &&
                   sizeof words / sizeof words[0] == YS_PRECISION_COUNT,
               "one row a format");

const struct ys_format_facts *ys_format_of(int precision)
{
    return &table[precision];
}
