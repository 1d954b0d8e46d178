#include "bench/machine_peaks.h"

#include "backend/parallel.h"
#include "base/clock.h"
#include "engine/program.h"
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum { GRAIN = 4096 / sizeof(float) }; /* a page */

static atomic_ullong sink; /* keeps the compiler from leaving the reading out */

static void body_read(const void *context, void *const *operand, size_t first, size_t end)
{
    const uint32_t *from = operand[0];
    uint32_t sum = 0; /* of integers: those may be added in any order, so in wide registers */
    (void)context;
    for (size_t i = first; i < end; i++)
        sum += from[i];
    sink += sum;
}

static void body_copy(const void *context, void *const *operand, size_t first, size_t end)
{
    (void)context;
    memcpy((float *)operand[1] + first, (const float *)operand[0] + first, (end - first) * sizeof(float));
}

static void body_triad(const void *context, void *const *operand, size_t first, size_t end)
{
    const float *b = operand[0], *c = operand[1], s = *(const float *)context;
    float *restrict a = operand[2];
    for (size_t i = first; i < end; i++)
        a[i] = b[i] + s * c[i];
}

static void body_fill(const void *context, void *const *operand, size_t first, size_t end)
{
    (void)context;
    for (size_t i = first; i < end; i++)
        ((float *)operand[0])[i] = (float)(i % 1000) + 1;
}

/** Bytes a second of the shortest. */
static double rate_of(ys_parallel_body body, void *const *operand, size_t count, size_t bytes, int threads, int repeats)
{
    static const float s = 0.5F;
    uint64_t best_ns = UINT64_MAX;
    for (int i = 0; i < repeats; i++) {
        uint64_t from_ns = ys_time_ns();
        ys_parallel_for(threads, count, GRAIN, body, &s, operand);
        uint64_t spent_ns = ys_time_ns() - from_ns;
        best_ns = spent_ns < best_ns ? spent_ns : best_ns;
    }
    return (double)bytes / ((double)best_ns * 1e-9);
}

ys_status ys_peak_memory(size_t buffer_bytes, int threads, int repeats, struct ys_peak_memory *memory)
{
    struct ys_program program = {0}; /* of no calls: its buffers lie as those of the engine do */
    size_t count = buffer_bytes / sizeof(float);
    void *buffers[3];
    ys_status status = YS_OK;
    for (int i = 0, buffer; status == YS_OK && i < 3; i++)
        status = ys_program_buffer(&program, buffer_bytes, true, &buffer);
    if (status == YS_OK)
        status = ys_program_plan(&program, false);
    for (int i = 0; status == YS_OK && i < 3; i++) {
        buffers[i] = ys_program_at(&program, i);
        ys_parallel_for(threads, count, GRAIN, body_fill, NULL, &buffers[i]);
    }
    if (status == YS_OK)
        *memory = (struct ys_peak_memory){rate_of(body_read, buffers, count, buffer_bytes, threads, repeats),
                                          rate_of(body_copy, buffers, count, 2 * buffer_bytes, threads, repeats),
                                          rate_of(body_triad, buffers, count, 3 * buffer_bytes, threads, repeats)};
    ys_program_fini(&program);
    return status;
}
