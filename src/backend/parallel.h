/* Loops on the threads that oneDNN computes with.
 *
 * The library was built with GNU OpenMP. Two pools of threads would fight for the processors, so loops of our own run
 * in its pool, whatever the compiler: through the runtime's entry points, not through pragmas (clang's would bring
 * another pool). */
#ifndef YS_BACKEND_PARALLEL_H
#define YS_BACKEND_PARALLEL_H

#include <stddef.h>

/** The work on elements [first, end). */
typedef void (*ys_parallel_body)(const void *context, void *const *operand, size_t first, size_t end);

/** Splits [0, count) into at most `threads` runs of about equal length, each but the last a multiple of `grain`, and
 * calls `body` once for each, at the same time. The split depends on the arguments alone. */
void ys_parallel_for(int threads, size_t count, size_t grain, ys_parallel_body body, const void *context,
                     void *const *operand);

/** Threads that the calling thread's parallel work uses; the setting belongs to the calling thread. */
int ys_parallel_threads(void);
void ys_parallel_set_threads(int threads);

#endif
