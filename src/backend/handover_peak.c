#include "backend/peak.h"

#include "base/clock.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIPS = 10000, PAUSE_NS = 50000000 };
enum turn { PING, PONG, ENDED };

struct exchange {
    _Alignas(128) atomic_int turn; /* alone in its cache line, and in the pair that some processors fetch */
    _Alignas(128) int samples;
    double trip_ns[YS_PEAK_HANDOVER_MOST];
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

/** The `index`-th CPU that this process may use, as the only one; false where there are fewer. */
static bool only_cpu(int index, pthread_attr_t *attributes)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return false;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && index-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            return pthread_attr_setaffinity_np(attributes, sizeof one, &one) == 0;
        }
    return false;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

ys_status ys_peak_handover(int samples, struct ys_peak_handover *handover)
{
    static void *(*const bodies[2])(void *) = {pong, ping};
    struct exchange x = {.samples = samples < YS_PEAK_HANDOVER_MOST ? samples : YS_PEAK_HANDOVER_MOST};
    pthread_attr_t attributes[2];
    pthread_t threads[2];
    int started = 0;
    memset(handover, 0, sizeof *handover);
    for (int i = 0; i < 2; i++)
        pthread_attr_init(&attributes[i]);
    bool two = only_cpu(0, &attributes[0]) && only_cpu(1, &attributes[1]);
    while (two && started < 2 && pthread_create(&threads[started], &attributes[started], bodies[started], &x) == 0)
        started++;
    if (started == 1)
        atomic_store(&x.turn, ENDED);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 2; i++)
        pthread_attr_destroy(&attributes[i]);
    if (started < 2)
        return two ? ys_fail(YS_EIO, "no thread could be started to time a cache line's way between two CPUs") : YS_OK;
    qsort(x.trip_ns, (size_t)x.samples, sizeof *x.trip_ns, by_size);
    *handover = (struct ys_peak_handover){x.samples, x.trip_ns[0], x.trip_ns[x.samples / 2], x.trip_ns[x.samples - 1]};
    return YS_OK;
}
