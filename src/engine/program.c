#include "engine/program.h"

#include "base/mem.h"
#include <string.h>
#include <sys/mman.h>

enum { GUARD_BYTES = YS_ALIGNMENT, NAN_BYTE = 0xff, HUGE_PAGE = 2 << 20 };

/* AddressSanitizer's, where the program was linked with it. */
extern void __asan_poison_memory_region(const volatile void *begin, size_t size_bytes) __attribute__((weak));
extern void __asan_unpoison_memory_region(const volatile void *begin, size_t size_bytes) __attribute__((weak));

/** What lies around the buffers of a guarded arena: NaNs in every format, so that a read beside a buffer shows; in
 * double signalling ones, which no arithmetic leaves as they are; and of another payload at almost every place, so that
 * a copy of one guard onto another shows too. */
static unsigned char guard_at(size_t offset_bytes)
{
    uint32_t word = 0x7ff7ff00 | (0x80 + (offset_bytes / sizeof word * 37 + offset_bytes / 512) % 0x80);
    return (unsigned char)(word >> 8 * (offset_bytes % sizeof word));
}

/** What is mapped: an arena that begins anywhere in its first large page. */
static size_t block_bytes(const struct ys_program *program)
{
    return program->arena_bytes + HUGE_PAGE;
}

static void free_arena(struct ys_program *program)
{
    if (!program->block)
        return;
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(program->arena, program->arena_bytes);
    munmap(program->block, block_bytes(program));
}

void ys_program_fini(struct ys_program *program)
{
    for (size_t i = 0; i < program->call_count; i++)
        if (program->calls[i].free)
            program->calls[i].free(program->calls[i].context);
    ys_free(program->calls);
    ys_free(program->buffers);
    free_arena(program);
    memset(program, 0, sizeof *program);
}

ys_status ys_program_buffer(struct ys_program *program, size_t size_bytes, bool persistent, int *buffer)
{
    struct ys_buffer *grown =
        ys_grown(program->buffers, program->buffer_count, &program->buffer_capacity, sizeof *grown);
    if (!grown)
        return ys_out_of_memory();
    program->buffers = grown;
    *buffer = (int)program->buffer_count++;
    program->buffers[*buffer] = (struct ys_buffer){
        .size_bytes = size_bytes ? size_bytes : 1, .persistent = persistent, .first = -1, .last = -1};
    return YS_OK;
}

static ys_status append_call(struct ys_program *program, const struct ys_call *call)
{
    struct ys_call *grown = ys_grown(program->calls, program->call_count, &program->call_capacity, sizeof *grown);
    if (!grown)
        return ys_out_of_memory();
    program->calls = grown;
    int index = (int)program->call_count++;
    program->calls[index] = *call;
    for (size_t i = 0; i < call->operand_count; i++) {
        YS_ASSERT(call->operands[i].buffer >= 0 && (size_t)call->operands[i].buffer < program->buffer_count);
        struct ys_buffer *b = &program->buffers[call->operands[i].buffer];
        YS_ASSERT(call->operands[i].offset_bytes < b->size_bytes);
        b->first = b->first < 0 ? index : b->first;
        b->last = index;
    }
    for (int s = call->segment; s < YS_SEGMENT_COUNT; s++)
        program->segment_end[s] = program->call_count;
    return YS_OK;
}

ys_status ys_program_call(struct ys_program *program, const struct ys_call *call)
{
    YS_ASSERT(call->operand_count <= YS_CALL_MAX_OPERANDS);
    YS_ASSERT(!program->call_count || program->calls[program->call_count - 1].segment <= call->segment);
    ys_status status = append_call(program, call);
    if (status != YS_OK && call->free)
        call->free(call->context);
    return status;
}

/** The arena is aligned to large pages: fresh small pages cost more than the work done on them. It is zero as the
 * system gives it; the first step touches it, on all threads and where each needs it. It does not come from the C
 * library, which clears what it hands out again, and so touches it first, where it is told to keep freed memory. */
static ys_status allocate_arena(struct ys_program *program)
{
    const size_t large_bytes = program->arena_bytes / HUGE_PAGE * HUGE_PAGE;
    void *block = mmap(NULL, block_bytes(program), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return ys_fail(YS_ENOMEM, "no memory for an arena of %zu bytes; take a smaller batch", program->arena_bytes);
    program->block = block;
    program->arena = (unsigned char *)(((uintptr_t)block + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    if (large_bytes)
        (void)madvise(program->arena, large_bytes, MADV_HUGEPAGE);
    if (!program->guarded)
        return YS_OK;
    for (size_t i = 0; i < program->arena_bytes; i++)
        program->arena[i] = guard_at(i);
    if (__asan_poison_memory_region) /* who reads beside a buffer then ends the program, even if the result is the same
                                      */
        __asan_poison_memory_region(program->arena, program->arena_bytes);
    for (size_t i = 0; i < program->buffer_count; i++) {
        const struct ys_buffer *b = &program->buffers[i];
        if (!b->persistent && b->first < 0)
            continue;
        if (__asan_unpoison_memory_region)
            __asan_unpoison_memory_region(program->arena + b->offset_bytes, b->size_bytes);
        memset(program->arena + b->offset_bytes, b->persistent ? 0 : NAN_BYTE, b->size_bytes);
    }
    return YS_OK;
}

ys_status ys_program_plan(struct ys_program *program, bool guarded)
{
    YS_ASSERT(!program->block);
    program->guarded = guarded;
    YS_TRY(ys_plan_memory(program->buffers, program->buffer_count, !guarded, guarded ? GUARD_BYTES : 0,
                          &program->arena_bytes));
    YS_TRY(allocate_arena(program));
    for (size_t i = 0; i < program->call_count; i++) {
        struct ys_call *call = &program->calls[i];
        for (size_t k = 0; k < call->operand_count; k++)
            call->address[k] =
                (unsigned char *)ys_program_at(program, call->operands[k].buffer) + call->operands[k].offset_bytes;
        if (call->bind)
            YS_TRY(call->bind(call->context, call->address));
    }
    return YS_OK;
}

void *ys_program_at(const struct ys_program *program, int buffer)
{
    YS_ASSERT(program->arena && buffer >= 0 && (size_t)buffer < program->buffer_count);
    return program->arena + program->buffers[buffer].offset_bytes;
}

ys_status ys_program_run_call(struct ys_program *program, size_t index)
{
    const struct ys_call *call = &program->calls[index];
    ys_status status = call->run(call->context, call->address);
    return status == YS_OK ? YS_OK : ys_fail_in(status, "%s", call->name);
}

ys_status ys_program_run_from(struct ys_program *program, enum ys_segment first, enum ys_segment last)
{
    for (size_t i = first == YS_SEGMENT_FORWARD ? 0 : program->segment_end[first - 1]; i < program->segment_end[last];
         i++)
        YS_TRY(ys_program_run_call(program, i));
    return YS_OK;
}

ys_status ys_program_run(struct ys_program *program, enum ys_segment last)
{
    return ys_program_run_from(program, YS_SEGMENT_FORWARD, last);
}

/** It reads what nobody else may. */
__attribute__((no_sanitize("address"))) static bool has_guards(const struct ys_program *program,
                                                               const struct ys_buffer *b)
{
    const size_t begin = b->offset_bytes, end = begin + b->size_bytes;
    for (size_t k = 0; k < GUARD_BYTES; k++)
        if (program->arena[begin - 1 - k] != guard_at(begin - 1 - k) || program->arena[end + k] != guard_at(end + k))
            return false;
    return true;
}

ys_status ys_program_check_guards(const struct ys_program *program)
{
    YS_ASSERT(program->guarded);
    for (size_t i = 0; i < program->buffer_count; i++) {
        const struct ys_buffer *b = &program->buffers[i];
        if ((b->persistent || b->first >= 0) && !has_guards(program, b))
            return ys_fail(YS_EINTERNAL, "something was written beside buffer %zu of %zu bytes", i, b->size_bytes);
    }
    return YS_OK;
}
