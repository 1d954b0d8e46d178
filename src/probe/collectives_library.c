/* The library that probe/collectives.h tells of. It stands alone: nothing of yardstick's is linked into it, and it
 * needs the C library only.
 *
 * MPI is called without its header, whose handles are numbers in MPICH and pointers in Open MPI: an argument is passed
 * on as the register or the place on the stack that it came in, whichever it is, and sizes are asked of the MPI that is
 * there. Gloo's functions have the names that C++ makes of them. */
#include "probe/collectives.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EXPORT    __attribute__((visibility("default")))
#define MY_CALLER __builtin_return_address(0)
#define NOT_OURS  ((struct ys_collectives_notes *)-1) /* no file, or that of another process */
typedef intptr_t word;                                /* an argument, whatever it is */

static _Atomic(struct ys_collectives_notes *) notes; /* NULL: not looked yet */

static void forget(void)
{
    atomic_store(&notes, NULL); /* a child that fork() has made looks for itself, and finds whose they are */
}

__attribute__((constructor)) static void begin(void)
{
    pthread_atfork(NULL, NULL, forget);
}

static struct ys_collectives_notes *map_notes(void)
{
    const char *path = getenv(YS_COLLECTIVES_VARIABLE);
    struct stat stat;
    const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return NOT_OURS;
    void *mapped = MAP_FAILED;
    if (fstat(fd, &stat) == 0 && stat.st_size == (off_t)sizeof(struct ys_collectives_notes))
        mapped = mmap(NULL, sizeof(struct ys_collectives_notes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED)
        return NOT_OURS;
    struct ys_collectives_notes *found = mapped;
    int64_t owner = 0;
    if (memcmp(found->head.version, YS_COLLECTIVES_VERSION, sizeof found->head.version) == 0 &&
        (atomic_compare_exchange_strong(&found->head.owner, &owner, getpid()) || owner == getpid()))
        return found;
    munmap(mapped, sizeof(struct ys_collectives_notes));
    return NOT_OURS;
}

/** NULL: nothing is noted. */
static struct ys_collectives_notes *get_notes(void)
{
    struct ys_collectives_notes *known = atomic_load(&notes), *none = NULL;
    if (!known) {
        known = map_notes();
        if (!atomic_compare_exchange_strong(&notes, &none, known)) { /* another thread was first */
            if (known != NOT_OURS)
                munmap(known, sizeof *known);
            known = none;
        }
    }
    return known == NOT_OURS ? NULL : known;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/** Notes that a call begins. NULL: it is not noted by itself. */
static struct ys_collective_note *note(enum ys_collective what, int64_t bytes)
{
    struct ys_collectives_notes *all = get_notes();
    if (!all)
        return NULL;
    const uint64_t place = atomic_fetch_add(&all->head.begun, 1);
    atomic_fetch_add(&all->head.calls, what != YS_COLLECTIVE_MPI_WAIT);
    atomic_fetch_add(bytes < 0 ? &all->head.unsized : &all->head.bytes, bytes < 0 ? 1 : (uint64_t)bytes);
    if (place >= YS_COLLECTIVES_MOST)
        return NULL;
    struct ys_collective_note *made = &all->items[place];
    made->bytes = bytes;
    made->what = what;
    atomic_store(&made->begin_ns, now_ns());
    return made;
}

static void end(struct ys_collective_note *noted)
{
    if (noted)
        atomic_store(&noted->end_ns, now_ns());
}

/** The function that would have been called without this library: of the libraries that the program has from the
 * beginning, or among those of the library that calls, as Python loads them. */
static void *real_of(const char *name, const void *caller, _Atomic(void *) *known)
{
    void *found = atomic_load(known);
    Dl_info info;
    if (found)
        return found;
    found = dlsym(RTLD_NEXT, name);
    if (!found && dladdr(caller, &info) && info.dli_fname) {
        void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        found = library ? dlsym(library, name) : NULL;
        if (library)
            dlclose(library); /* it was there before */
    }
    atomic_store(known, found);
    return found;
}

/** The same; there is none for whom a call could be passed on to where it is not found. */
static void *must_find(const char *name, const void *caller, _Atomic(void *) *known)
{
    static const char says[] =
        ": " YS_COLLECTIVES_LIBRARY " does not find it behind itself; listen = off goes without\n";
    void *found = real_of(name, caller, known);
    if (found)
        return found;
    (void)!write(STDERR_FILENO, name, strlen(name));
    (void)!write(STDERR_FILENO, says, sizeof says - 1);
    abort();
}

/* Gloo: `context`, two words, comes first in all options; then what is below. */

struct buffer {
    const void *functions, *data;
    size_t size;
};

/** Copies what lies there; false: nothing does. */
static bool look(const void *from, void *to, size_t size)
{
    const struct iovec here = {to, size}, there = {(void *)(uintptr_t)from, size};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

static int64_t size_of(const void *buffer)
{
    struct buffer seen;
    return buffer && look(buffer, &seen, sizeof seen) && seen.size < (size_t)1 << 44 ? (int64_t)seen.size : -1;
}

/** Of options whose buffers, in and out, are their third and fourth word: what the rank gives, else what it gets. */
static int64_t gloo_bytes(const void *options)
{
    const void *words[4];
    if (!look(options, words, sizeof words))
        return -1;
    return size_of(words[2] ? words[2] : words[3]);
}

/** Of a scatter: the part that the rank gets, behind a vector. */
static int64_t scatter_bytes(const void *options)
{
    const void *words[6];
    return look(options, words, sizeof words) ? size_of(words[5]) : -1;
}

/** Of an allreduce: a time limit, an algorithm, the vectors of buffers in and out, elements and their size, which have
 * to be those of the buffers. */
static int64_t allreduce_bytes(const void *options)
{
    struct {
        const void *context[2];
        int64_t timeout_ms, algorithm;
        const struct buffer *const *in[3], *const *out[3];
        size_t elements, element_size;
    } seen;
    const struct buffer *first;
    if (!look(options, &seen, sizeof seen) || seen.out[1] <= seen.out[0] || seen.element_size > 16 ||
        !look(seen.out[0], &first, sizeof first))
        return -1;
    const int64_t size = size_of(first);
    const bool fits =
        size >= 0 && seen.elements <= (size_t)1 << 44 && (size_t)size == seen.elements * seen.element_size;
    return fits ? size * (seen.out[1] - seen.out[0]) : -1;
}

static int64_t no_bytes(const void *options)
{
    (void)options;
    return 0;
}

#define GLOO(name, symbol, bytes)                                                                                      \
    EXPORT void ys_gloo_##name(void *options) __asm__(symbol);                                                         \
    void ys_gloo_##name(void *options)                                                                                 \
    {                                                                                                                  \
        static _Atomic(void *) real;                                                                                   \
        void (*go_on)(void *) = (void (*)(void *))must_find(symbol, MY_CALLER, &real);                                 \
        struct ys_collective_note *noted = note(YS_COLLECTIVE_GLOO, bytes(options));                                   \
        go_on(options);                                                                                                \
        end(noted);                                                                                                    \
    }
GLOO(allreduce, "_ZN4gloo9allreduceERKNS_16AllreduceOptionsE", allreduce_bytes)
GLOO(broadcast, "_ZN4gloo9broadcastERNS_16BroadcastOptionsE", gloo_bytes)
GLOO(reduce, "_ZN4gloo6reduceERNS_13ReduceOptionsE", gloo_bytes)
GLOO(allgather, "_ZN4gloo9allgatherERNS_16AllgatherOptionsE", gloo_bytes)
GLOO(allgatherv, "_ZN4gloo10allgathervERNS_17AllgathervOptionsE", gloo_bytes)
GLOO(gather, "_ZN4gloo6gatherERNS_13GatherOptionsE", gloo_bytes)
GLOO(gatherv, "_ZN4gloo7gathervERNS_14GathervOptionsE", gloo_bytes)
GLOO(scatter, "_ZN4gloo7scatterERNS_14ScatterOptionsE", scatter_bytes)
GLOO(alltoall, "_ZN4gloo8alltoallERNS_15AlltoallOptionsE", gloo_bytes)
GLOO(alltoallv, "_ZN4gloo9alltoallvERNS_16AlltoallvOptionsE", gloo_bytes)
GLOO(barrier, "_ZN4gloo7barrierERNS_14BarrierOptionsE", no_bytes)

/* MPI */

/** Asks `name` (PMPI_Type_size and the like) of a handle for a number. */
static int64_t ask(const char *name, word handle, const void *caller, _Atomic(void *) *known)
{
    int (*asked)(word, int *) = (int (*)(word, int *))real_of(name, caller, known);
    int number = -1;
    return asked && asked(handle, &number) == 0 ? number : -1;
}

static int64_t type_size(word type, const void *caller)
{
    static _Atomic(void *) known;
    return ask("PMPI_Type_size", type, caller, &known);
}

static int64_t world_of(word comm, const void *caller)
{
    static _Atomic(void *) known;
    return ask("PMPI_Comm_size", comm, caller, &known);
}

static int64_t rank_in(word comm, const void *caller)
{
    static _Atomic(void *) known;
    return ask("PMPI_Comm_rank", comm, caller, &known);
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? -1 : product;
}

/** MPI_IN_PLACE of MPICH and of Open MPI: no address of anything. */
static bool in_place(word address)
{
    return address == -1 || address == 1;
}

/* Counts are int, or of functions whose names end with _c 64 bits (MPI_Count). */
enum width { INT, LONG };

static int64_t number(word count, enum width width)
{
    return width == INT ? (int32_t)count : (int64_t)count;
}

static int64_t number_at(word counts, int64_t place, enum width width)
{
    if (place < 0 || !counts)
        return -1;
    return width == INT ? ((const int32_t *)counts)[place] : ((const int64_t *)counts)[place];
}

static int64_t sum_of(word counts, word comm, enum width width, const void *caller)
{
    const int64_t world = world_of(comm, caller);
    int64_t sum = world < 0 || !counts ? -1 : 0;
    for (int64_t i = 0; sum >= 0 && i < world; i++)
        sum += number_at(counts, i, width);
    return sum;
}

/* Of the arguments of the function that they stand in. */
#define SIZED(count, type)         times(number(count, width), type_size(type, caller))
#define SUMMED(counts, type, comm) times(sum_of(counts, comm, width, caller), type_size(type, caller))
#define OWN_OF(counts, type, comm) times(number_at(counts, rank_in(comm, caller), width), type_size(type, caller))

/* Twelve arguments are the most that one of them has. Those that one does not have are passed on likewise: whatever is
 * in their place, nobody looks at it, and whoever called takes from the stack what it put there. */
#define TWELVE word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k, word l
#define MPI_AS(name, wide, kind, sized)                                                                                \
    EXPORT int MPI_##name(TWELVE);                                                                                     \
    int MPI_##name(TWELVE)                                                                                             \
    {                                                                                                                  \
        static _Atomic(void *) real;                                                                                   \
        const enum width width = wide;                                                                                 \
        const void *const caller = MY_CALLER;                                                                          \
        int (*go_on)(TWELVE) = (int (*)(TWELVE))must_find("MPI_" #name, caller, &real);                                \
        (void)width;                                                                                                   \
        struct ys_collective_note *noted = note(kind, sized);                                                          \
        const int result = go_on(a, b, c, d, e, f, g, h, i, j, k, l);                                                  \
        end(noted);                                                                                                    \
        return result;                                                                                                 \
    }
/* A function, the one that does not wait and has a request behind the same arguments, and both with large counts. */
#define MPI(name, unwaited, sized)                                                                                     \
    MPI_AS(name, INT, YS_COLLECTIVE_MPI, sized)                                                                        \
    MPI_AS(unwaited, INT, YS_COLLECTIVE_MPI, sized)                                                                    \
    MPI_AS(name##_c, LONG, YS_COLLECTIVE_MPI, sized)                                                                   \
    MPI_AS(unwaited##_c, LONG, YS_COLLECTIVE_MPI, sized)

/* What the rank gives; where it gives nothing of its own, or says that it lies in place, what it gets. */
MPI(Allreduce, Iallreduce, SIZED(c, d))
MPI(Bcast, Ibcast, SIZED(b, c))
MPI(Reduce, Ireduce, SIZED(c, d))
MPI(Scan, Iscan, SIZED(c, d))
MPI(Exscan, Iexscan, SIZED(c, d))
MPI(Reduce_scatter, Ireduce_scatter, SUMMED(c, d, f))
MPI(Reduce_scatter_block, Ireduce_scatter_block, times(SIZED(c, d), world_of(f, caller)))
MPI(Allgather, Iallgather, in_place(a) ? SIZED(e, f) : SIZED(b, c))
MPI(Allgatherv, Iallgatherv, in_place(a) ? OWN_OF(e, g, h) : SIZED(b, c))
MPI(Gather, Igather, in_place(a) ? SIZED(e, f) : SIZED(b, c))
MPI(Gatherv, Igatherv, in_place(a) ? OWN_OF(e, g, i) : SIZED(b, c))
MPI(Scatter, Iscatter, in_place(d) ? SIZED(b, c) : SIZED(e, f))
MPI(Scatterv, Iscatterv, in_place(e) ? OWN_OF(b, d, i) : SIZED(f, g))
MPI(Alltoall, Ialltoall, times(in_place(a) ? SIZED(e, f) : SIZED(b, c), world_of(g, caller)))
MPI(Alltoallv, Ialltoallv, in_place(a) ? SUMMED(f, h, i) : SUMMED(b, d, i))
MPI(Send, Isend, SIZED(b, c))
MPI(Ssend, Issend, SIZED(b, c))
MPI(Recv, Irecv, 0)
MPI_AS(Sendrecv, INT, YS_COLLECTIVE_MPI, SIZED(b, c))
MPI_AS(Sendrecv_c, LONG, YS_COLLECTIVE_MPI, SIZED(b, c))
MPI_AS(Barrier, INT, YS_COLLECTIVE_MPI, 0)
MPI_AS(Ibarrier, INT, YS_COLLECTIVE_MPI, 0)
MPI_AS(Wait, INT, YS_COLLECTIVE_MPI_WAIT, 0)
MPI_AS(Waitall, INT, YS_COLLECTIVE_MPI_WAIT, 0)
MPI_AS(Waitany, INT, YS_COLLECTIVE_MPI_WAIT, 0)
MPI_AS(Waitsome, INT, YS_COLLECTIVE_MPI_WAIT, 0)
