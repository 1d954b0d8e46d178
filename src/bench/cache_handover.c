#include "bench/machine_peaks.h"

#include "base/clock.h"
#include "base/mem.h"
#include "stat/summary.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

enum { TRIPS = 10000, PAUSE_NS = 50000000 };
enum turn { PING, PONG, ENDED };

struct exchange {
    _Alignas(128) atomic_int turn; /* alone in its cache line, and in the pair that some processors fetch */
    _Alignas(128) int samples;
    double *trip_ns; /* [samples] */
};

static void *ping(void *context)
{
    struct exchange *x = context;
    for (int i = 0; i < x->samples; i++) {
        uint64_t from_ns = ys_time_ns();
        for (int trip = 0; trip < TRIPS; trip++) {
            atomic_store(&x->turn, PONG);
            while (atomic_load(&x->turn) != PING) {
            }
        }
        x->trip_ns[i] = (double)(ys_time_ns() - from_ns) / TRIPS;
        if (i + 1 < x->samples)
            nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    atomic_store(&x->turn, ENDED);
    return NULL;
}

static void *pong(void *context)
{
    struct exchange *x = context;
    for (int turn; (turn = atomic_load(&x->turn)) != ENDED;)
        if (turn == PONG)
            atomic_store(&x->turn, PING);
    return NULL;
}

/** Starts a thread on that CPU alone. */
static bool start(pthread_t *thread, int cpu, void *(*body)(void *), struct exchange *x)
{
    pthread_attr_t attributes;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_attr_init(&attributes);
    bool started = pthread_attr_setaffinity_np(&attributes, sizeof one, &one) == 0 &&
                   pthread_create(thread, &attributes, body, x) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

static ys_status exchange(const int cpus[2], struct exchange *x)
{
    pthread_t first, second;
    if (!start(&first, cpus[0], pong, x))
        return ys_fail(YS_EIO, "no thread could be started on CPU %d", cpus[0]);
    bool both = start(&second, cpus[1], ping, x);
    if (both)
        pthread_join(second, NULL);
    else
        atomic_store(&x->turn, ENDED);
    pthread_join(first, NULL);
    return both ? YS_OK : ys_fail(YS_EIO, "no thread could be started on CPU %d", cpus[1]);
}

ys_status ys_peak_handover(const int cpus[2], int samples, struct ys_peak_handover *handover)
{
    struct exchange x = {.samples = samples, .trip_ns = ys_alloc((size_t)samples, sizeof *x.trip_ns)};
    ys_status status = exchange(cpus, &x);
    if (status == YS_OK) {
        ys_stat_sort(x.trip_ns, (size_t)samples);
        *handover = (struct ys_peak_handover){samples, x.trip_ns[0], ys_stat_quantile(x.trip_ns, (size_t)samples, 0.5),
                                              x.trip_ns[samples - 1]};
    }
    ys_free(x.trip_ns);
    return status;
}
