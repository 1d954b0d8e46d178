/* Loops on the threads that oneDNN computes with.
 *
 * The library was built with GNU OpenMP. Two pools of threads would fight for the processors, so loops of our own run
 * in its pool, whatever the compiler: through the runtime's entry points, not through pragmas (clang's would bring
 * another pool). */
#ifndef YS_BACKEND_PARALLEL_H
#define YS_BACKEND_PARALLEL_H

#include "base/status.h"

#include <stddef.h>

/** The work on elements [first, end). */
typedef void (*ys_parallel_body)(const void *context, void *const *operand, size_t first, size_t end);

/** Splits [0, count) into at most `threads` runs of about equal length, each but the last a multiple of `grain`, and
 * calls `body` once for each, at the same time. The split depends on the arguments alone. */
void ys_parallel_for(int threads, size_t count, size_t grain, ys_parallel_body body, const void *context,
                     void *const *operand);

/** How many threads the runtime really gives the calling thread's loops, of so many: fewer under OMP_THREAD_LIMIT, or
 * within a parallel region of the caller's. What is divided by threads is divided by this. Counted once for each pool
 * of threads, that is for each calling thread, number and depth of regions. */
int ys_parallel_count(int threads);
/** YS_EUNSUPPORTED, which says that work was divided among more. */
ys_status ys_parallel_lacks(int threads, int got);

/** From here to leave the calling thread's parallel work, the library's too, uses so many threads, and not fewer from
 * loop to loop as the machine is loaded. Saved are its settings until now. */
void ys_parallel_enter(int threads, int *saved_threads, int *saved_dynamic);
void ys_parallel_leave(int saved_threads, int saved_dynamic);

#endif
