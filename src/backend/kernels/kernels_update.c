/* The optimizer over the flat buffers, in float. YS_KERNELS names the function: compiled once for each width of vector
 * registers. */
#include "backend/kernels/kernels.h"
#include "backend/parallel.h"
#include "engine/optimizer_step.h"

#include <math.h>

extern ys_status YS_KERNELS(void *context, void *const *operand);

#define REAL float
#include "backend/kernels/update.inc"

enum { GRAIN = 2048 }; /* elements: whole pages, so that threads share none */

struct update_part {
    struct ys_optimizer_step step;
    struct stretch stretch;
};

static void update_part(const void *context, void *const *operand, size_t first, size_t end)
{
    (void)operand;
    const struct update_part *part = context;
    struct stretch s = part->stretch;
    s.count = end - first;
    s.w += first;
    s.gradient += first;
    s.state1 = s.state1 ? s.state1 + first : NULL;
    s.state2 = s.state2 ? s.state2 + first : NULL;
    update_stretch(&part->step, &s);
}

ys_status YS_KERNELS(void *context, void *const *operand)
{
    const struct ys_update *c = context;
    const struct ys_lowering *low = c->low;
    double squares = ys_optimizer_clips(low) ? sum_of_squares(low, operand[1]) : 0;
    for (size_t r = 0; r < low->range_count; r++) {
        struct update_part part = {.stretch = stretch_of(low, r, operand)};
        ys_optimizer_step(low, &low->ranges[r], squares, &part.step);
        ys_parallel_for(c->threads, part.stretch.count, GRAIN, update_part, &part, operand);
    }
    return YS_OK;
}
