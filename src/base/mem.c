#include "base/mem.h"
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long allocations_until_failure; /* 0: no failure is planned */
static const char *ending_program;            /* NULL: who asked for memory hears that there is none */

void ys_memory_must_suffice(const char *program)
{
    ending_program = program;
}

/* Says it without memory and without locks, for another thread may hold them; the sentence takes the place of a
 * progress line. */
static void *or_end(void *block)
{
    if (block || !ending_program)
        return block;
    dprintf(STDERR_FILENO,
            "%s%s: error: out of memory: give it more, or measure less at once; what was stored is kept\n",
            isatty(STDERR_FILENO) ? "\r\033[K" : "", ending_program);
    _exit(YS_EXIT_MEMORY);
}

static bool planned_to_fail(void)
{
    long left = atomic_load_explicit(&allocations_until_failure, memory_order_relaxed);
    while (left > 0)
        if (atomic_compare_exchange_weak(&allocations_until_failure, &left, left - 1))
            return left == 1;
    return false;
}

void ys_mem_fail_at(long n)
{
    atomic_store(&allocations_until_failure, n > 0 ? n : 0);
}

void *ys_alloc(size_t count, size_t size)
{
    size_t total;
    if (planned_to_fail() || __builtin_mul_overflow(count, size, &total))
        return or_end(NULL);
    return or_end(calloc(total ? total : 1, 1));
}

void *ys_realloc(void *block, size_t count, size_t size)
{
    size_t total;
    if (planned_to_fail() || __builtin_mul_overflow(count, size, &total))
        return or_end(NULL);
    return or_end(realloc(block, total ? total : 1));
}

void *ys_grown(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    size_t wanted = *capacity ? 2 * *capacity : 16;
    void *grown = ys_realloc(array, wanted, size);
    if (grown)
        *capacity = wanted;
    return grown;
}

void ys_free(void *block)
{
    free(block);
}

char *ys_strdup(const char *text)
{
    return text ? ys_strndup(text, strlen(text)) : NULL;
}

void ys_set_text(char **place, const char *text)
{
    char *copy = ys_strdup(text); /* which may be a part of what is there */
    ys_free(*place);
    *place = copy;
}

char *ys_strndup(const char *text, size_t length)
{
    if (!text)
        return NULL;
    length = strnlen(text, length);
    char *copy = ys_alloc(length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

char *ys_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length >= 0 ? ys_alloc((size_t)length + 1, 1) : NULL;
    if (!text)
        return NULL;
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

ys_status ys_out_of_memory(void)
{
    or_end(NULL);
    return ys_fail(YS_ENOMEM, "out of memory");
}
