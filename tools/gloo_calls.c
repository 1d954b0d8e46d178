/* libgloo-calls: how long a process exchanges through gloo, from inside it, whatever it hides behind its computing.
 *
 *     yardstick run --framework=pytorch --ranks=2 ... --env.LD_PRELOAD=BUILD/tools/libgloo-calls.so
 *
 * It stands before gloo::allreduce, which libtorch_cpu.so exports and calls through its own table, and says in the
 * process's log, as the process ends, how often it was called, and how long that took: with the waiting for ranks that
 * came later, so the least is what the wire takes. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef void allreduce(const void *options);

__attribute__((visibility("default"))) allreduce gloo_allreduce __asm__(
    "_ZN4gloo9allreduceERKNS_16AllreduceOptionsE"); /* gloo::allreduce(gloo::AllreduceOptions const &) */

static _Atomic uint64_t calls, sum_ns, least_ns = UINT64_MAX;
static allreduce *_Atomic own;

/** The library that calls is the one that has it; it need not be among those that all see. */
static allreduce *find(const void *caller)
{
    Dl_info about;
    void *library = dladdr(caller, &about) ? dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = library ? dlsym(library, "_ZN4gloo9allreduceERKNS_16AllreduceOptionsE") : NULL;
    if (!found || found == (void *)gloo_allreduce) {
        fputs("gloo-calls: gloo::allreduce is not in the library that calls it\n", stderr);
        abort();
    }
    return (allreduce *)found;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

void gloo_allreduce(const void *options)
{
    allreduce *function = atomic_load(&own);
    if (!function)
        atomic_store(&own, function = find(__builtin_return_address(0)));
    const uint64_t begin_ns = now_ns();
    function(options);
    const uint64_t took_ns = now_ns() - begin_ns;
    uint64_t least = atomic_load(&least_ns);
    while (took_ns < least && !atomic_compare_exchange_weak(&least_ns, &least, took_ns))
        continue;
    atomic_fetch_add(&sum_ns, took_ns);
    atomic_fetch_add(&calls, 1);
}

__attribute__((destructor)) static void tell(void)
{
    const uint64_t count = atomic_load(&calls);
    if (count > 0)
        fprintf(stderr, "gloo-calls: %llu of allreduce, %.6f s, the least %.6f s\n", (unsigned long long)count,
                (double)atomic_load(&sum_ns) * 1e-9, (double)atomic_load(&least_ns) * 1e-9);
}
