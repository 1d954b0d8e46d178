/* A program: what a back end made of a graph. A flat list of calls over buffers that lie in one arena.
 *
 * A back end first describes buffers (ys_program_buffer) and appends calls in the order in which they will run
 * (ys_program_call), segment after segment; ys_program_plan() then gives every buffer its place and binds the calls.
 * From then on nothing is allocated: ys_program_run() walks the list. */
#ifndef YS_ENGINE_PROGRAM_H
#define YS_ENGINE_PROGRAM_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_ALIGNMENT         64 /* of every buffer: a cache line, and the widest vector register */
#define YS_CALL_MAX_OPERANDS 16

/** Segments run in this order; a run may stop after any of them. */
enum ys_segment { YS_SEGMENT_FORWARD, YS_SEGMENT_BACKWARD, YS_SEGMENT_UPDATE, YS_SEGMENT_COUNT };

/** What a call does, for those who ask where the time of a step goes. */
enum ys_call_kind {
    YS_CALL_PRODUCT,   /* a convolution or matrix product: forward, or backward by the data */
    YS_CALL_WEIGHTS,   /* a convolution or matrix product backward by the weights */
    YS_CALL_LAYOUT,    /* values in another order, number format or place */
    YS_CALL_POINTWISE, /* normalisation, activation, sum and the like */
    YS_CALL_POOL,
    YS_CALL_LOSS,
    YS_CALL_UPDATE,
    YS_CALL_KIND_COUNT
};

struct ys_buffer {
    size_t size_bytes;
    bool persistent;     /* keeps its content between runs; a transient one holds it from its first call to its last */
    int first, last;     /* calls that use it; first is -1 while none does */
    size_t offset_bytes; /* in the arena, once planned */
};

/** A place inside a buffer. */
struct ys_operand {
    int buffer;
    size_t offset_bytes;
};

/** Does the work; `operand[i]` is the address of the i-th operand. */
typedef ys_status (*ys_call_run)(void *context, void *const *operand);

struct ys_call {
    const char *name; /* for people: "conv2 backward weights"; borrowed, must outlive the program */
    ys_call_run run;
    ys_status (*bind)(void *context, void *const *operand); /* NULL, or told once where the operands are */
    void (*free)(void *context);                            /* NULL, or ends the context */
    void *context;
    size_t operand_count;
    struct ys_operand operands[YS_CALL_MAX_OPERANDS];
    void *address[YS_CALL_MAX_OPERANDS]; /* filled by the plan */
    enum ys_segment segment;
    enum ys_call_kind kind;
};

struct ys_program {
    struct ys_buffer *buffers;
    size_t buffer_count, buffer_capacity;
    struct ys_call *calls;
    size_t call_count, call_capacity;
    size_t segment_end[YS_SEGMENT_COUNT]; /* one past the last call of each */
    void *block;                          /* what was allocated */
    unsigned char *arena;                 /* its first aligned byte */
    size_t arena_bytes;
    bool guarded;
};

void ys_program_fini(struct ys_program *program);

/** A new buffer of `size_bytes` (at least 1) in *buffer. */
ys_status ys_program_buffer(struct ys_program *program, size_t size_bytes, bool persistent, int *buffer) YS_MUST_CHECK;
/** Appends a copy of `call`. The context is the program's from here on, also on failure. Segments must not go back. */
ys_status ys_program_call(struct ys_program *program, const struct ys_call *call) YS_MUST_CHECK;

/** Places every buffer, allocates the arena (zeroed) and binds the calls. With `guarded`, a test's aid, no
 * two buffers share bytes, words of a fixed pattern stand around each, and transient buffers start as NaN. */
ys_status ys_program_plan(struct ys_program *program, bool guarded) YS_MUST_CHECK;
/** The address of a buffer, after planning. */
void *ys_program_at(const struct ys_program *program, int buffer);
/** Runs one call. */
ys_status ys_program_run_call(struct ys_program *program, size_t call) YS_MUST_CHECK;
/** Runs the segments up to and including `last`; the second from `first` on. */
ys_status ys_program_run(struct ys_program *program, enum ys_segment last) YS_MUST_CHECK;
ys_status ys_program_run_from(struct ys_program *program, enum ys_segment first, enum ys_segment last) YS_MUST_CHECK;
/** Of a guarded program: YS_EINTERNAL, naming the buffer, if something was written outside a buffer. */
ys_status ys_program_check_guards(const struct ys_program *program) YS_MUST_CHECK;

/* The memory plan alone (engine/memory_plan.c). */

/** Gives every buffer that is used or persistent an offset, so that buffers that live at the same time share no byte;
 * the largest first, each at the lowest offset that is free during its life (first fit by falling size). `gap_bytes`
 * are kept free on both sides of each; with `share` false no two share bytes at all. *arena_bytes: the size needed. */
ys_status ys_plan_memory(struct ys_buffer *buffers, size_t count, bool share, size_t gap_bytes,
                         size_t *arena_bytes) YS_MUST_CHECK;
/** Whether two buffers must not share bytes. */
bool ys_plan_conflict(const struct ys_buffer *a, const struct ys_buffer *b);

#endif
