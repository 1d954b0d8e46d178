#include "backend/parallel.h"

/* libgomp, version GOMP_4.0 (GCC 4.9) and later; the OpenMP API, version 5.0, sections 3.2.1, 3.2.3, 3.2.4. */
extern void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
extern int omp_get_max_threads(void);
extern void omp_set_num_threads(int threads);

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

int ys_parallel_threads(void)
{
    return omp_get_max_threads();
}

void ys_parallel_set_threads(int threads)
{
    omp_set_num_threads(threads);
}
