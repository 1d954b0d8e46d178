/* Calls whose rows do not see each other, shared by threads: each makes some rows of the batch, by the kernel that
 * makes all of them where there is one thread. */
#include "backend/parallel.h"
#include "backend/plain/ref_lower.h"

#include "base/mem.h"
#include <string.h>

struct rows {
    struct ys_ref_context *whole;
    ys_call_run run;
    int threads;
    size_t count, row_bytes[YS_CALL_MAX_OPERANDS], thread_bytes[YS_CALL_MAX_OPERANDS];
};

/** The rows of one thread. */
static ys_status run_rows(const struct rows *r, void *const *operand, size_t thread)
{
    struct ys_ref_context c = *r->whole;
    void *at[YS_CALL_MAX_OPERANDS];
    const int64_t all = c.batch, threads = r->threads;
    c.first_row = all * (int64_t)thread / threads;
    c.batch = all * (int64_t)(thread + 1) / threads - c.first_row;
    c.count = c.count / (size_t)all * (size_t)c.batch;
    c.line.outer = c.line.outer / all * c.batch;
    c.piece.outer = c.piece.outer / all * c.batch;
    c.padding.rows = c.padding.rows / all * c.batch;
    c.walk.extent[0] = c.batch;
    c.broadcast.extent[0] = c.broadcast.extent[0] / all * c.batch; /* the batch, and what runs on behind it */
    c.broadcast.count = c.broadcast.count / all * c.batch;
    c.broadcast.from[c.stretched] = c.broadcast.from[c.stretched] / all * c.batch;
    for (size_t i = 0; i < r->count; i++)
        at[i] = (char *)operand[i] + (size_t)c.first_row * r->row_bytes[i] + thread * r->thread_bytes[i];
    return c.batch ? r->run(&c, at) : YS_OK;
}

struct outcome {
    const struct rows *rows;
    bool *failed; /* [threads] */
};

static void rows_part(const void *context, void *const *operand, size_t first, size_t end)
{
    const struct outcome *o = context;
    for (size_t thread = first; thread < end; thread++)
        o->failed[thread] = run_rows(o->rows, operand, thread) != YS_OK;
}

/** What failed is done again by the calling thread, which then has the error and its words. */
static ys_status rows_run(void *context, void *const *operand)
{
    const struct rows *r = context;
    bool failed[YS_REF_MOST_THREADS];
    const struct outcome outcome = {r, failed};
    ys_parallel_for(r->threads, (size_t)r->threads, 1, rows_part, &outcome, operand);
    for (size_t thread = 0; thread < (size_t)r->threads; thread++)
        if (failed[thread])
            return run_rows(r, operand, thread);
    return YS_OK;
}

static void free_rows(void *context)
{
    struct rows *r = context;
    ys_free(r->whole);
    ys_free(r);
}

ys_status ys_ref_call_rows(struct ys_lowering *low, const struct ys_node *node, ys_call_run run,
                           struct ys_ref_context *c, const char *moves, const struct ys_operand *operands, size_t count)
{
    if (low->config.threads == 1 || !c)
        return ys_ref_call(low, node, run, c, operands, count);
    struct rows *r = ys_alloc(1, sizeof *r);
    if (!r) {
        ys_free(c);
        return ys_out_of_memory();
    }
    *r = (struct rows){.whole = c, .run = run, .threads = low->config.threads, .count = count};
    for (size_t i = 0; i < count; i++) {
        const size_t size_bytes = low->program->buffers[operands[i].buffer].size_bytes;
        r->row_bytes[i] = moves[i] == 'r' ? size_bytes / (size_t)c->batch : 0;
        r->thread_bytes[i] = moves[i] == 't' ? size_bytes / (size_t)low->config.threads : 0;
    }
    return ys_lower_call(low, node->name, rows_run, r, free_rows, operands, count);
}
