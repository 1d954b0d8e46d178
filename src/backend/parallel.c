#include "backend/parallel.h"

#ifdef __wasm__ /* one thread does everything */
#define GOMP_parallel(body, data, threads, flags) ((void)(threads), (body)(data))
#define omp_get_thread_num()                      0
#define omp_get_num_threads()                     1
#define omp_get_max_threads()                     1
#define omp_get_dynamic()                         0
#define omp_get_level()                           0
#define omp_set_num_threads(threads)              ((void)(threads))
#define omp_set_dynamic(is_dynamic)               ((void)(is_dynamic))
#else
/* libgomp, version GOMP_4.0 (GCC 4.9) and later; the OpenMP API, version 5.0, sections 3.2.1, 3.2.3, 3.2.4,
 * 3.2.7, 3.2.8 and 3.2.17. */
extern void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
extern int omp_get_max_threads(void);
extern void omp_set_num_threads(int threads);
extern void omp_set_dynamic(int is_dynamic);
extern int omp_get_dynamic(void);
extern int omp_get_level(void);
#endif

struct loop {
    size_t count, grain;
    ys_parallel_body body;
    const void *context;
    void *const *operand;
};

static void run_part(void *data)
{
    const struct loop *loop = data;
    size_t part = (size_t)omp_get_thread_num(), parts = (size_t)omp_get_num_threads();
    size_t grains = (loop->count + loop->grain - 1) / loop->grain;
    size_t first = grains * part / parts * loop->grain, end = grains * (part + 1) / parts * loop->grain;
    end = end < loop->count ? end : loop->count;
    if (first < end)
        loop->body(loop->context, loop->operand, first, end);
}

void ys_parallel_for(int threads, size_t count, size_t grain, ys_parallel_body body, const void *context,
                     void *const *operand)
{
    struct loop loop = {count, grain, body, context, operand};
    if (threads == 1 || count <= grain)
        body(context, operand, 0, count);
    else
        GOMP_parallel(run_part, &loop, (unsigned)threads, 0);
}

static void count_part(void *data)
{
    if (omp_get_thread_num() == 0)
        *(int *)data = omp_get_num_threads();
}

int ys_parallel_count(int threads)
{
    static _Thread_local struct {
        int asked, level, got;
    } pool; /* the last one of this thread: asking costs a loop */
    if (threads == 1)
        return 1;
    if (pool.asked != threads || pool.level != omp_get_level()) {
        pool.asked = threads;
        pool.level = omp_get_level();
        GOMP_parallel(count_part, &pool.got, (unsigned)threads, 0);
    }
    return pool.got;
}

void ys_parallel_enter(int threads, int *saved_threads, int *saved_dynamic)
{
    *saved_threads = omp_get_max_threads();
    *saved_dynamic = omp_get_dynamic();
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
}

void ys_parallel_leave(int saved_threads, int saved_dynamic)
{
    omp_set_num_threads(saved_threads);
    omp_set_dynamic(saved_dynamic);
}

ys_status ys_parallel_lacks(int threads, int got)
{
    return ys_fail(
        YS_EUNSUPPORTED,
        "the work is divided among %d threads, and OpenMP gives this one %d: OMP_THREAD_LIMIT, or a parallel "
        "region around it, may be why; open the engine where it is run",
        threads, got);
}
