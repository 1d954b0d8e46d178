#include "probe/perf.h"

#include "base/clock.h"
#include "base/mem.h"
#include "probe/procfs.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RING_BYTES = 256 << 10, MOST_RECORD = 65536 };

struct ring {
    int fd;
    struct perf_event_mmap_page *page; /* followed by RING_BYTES of data */
};

struct ys_perf {
    struct ring *rings;
    size_t count, page_bytes;
    bool in_kernel;
    uint64_t drained_ns; /* when the last draining began: what is older has all been read */
    struct ys_profile *profile;
    unsigned char record[MOST_RECORD];
};

static int open_event(int cpu, bool in_kernel)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = YS_PERF_PERIOD_NS,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
        .disabled = 1,
        .enable_on_exec = 1,
        .inherit = 1,
        .exclude_kernel = !in_kernel,
        .exclude_hv = 1,
        .mmap = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    return (int)syscall(SYS_perf_event_open, &attr, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static ys_status refused(int error)
{
    char level[32];
    bool has_level = ys_procfs_line(ys_procfs_root(), "/proc/sys/kernel/perf_event_paranoid", level, sizeof level);
    if (error == EACCES || error == EPERM)
        return ys_fail(YS_ENOTFOUND,
                       "the kernel does not let this user sample (perf_event_paranoid is %s): sysctl "
                       "kernel.perf_event_paranoid=2, or where a container's filter forbids it, run outside of it",
                       has_level ? level : "unknown");
    if (error == EMFILE || error == ENFILE)
        return ys_fail(YS_ENOTFOUND, "too few descriptors for a ring of samples a CPU: raise ulimit -n");
    return ys_fail(YS_ENOTFOUND, "the kernel cannot sample: %s", strerror(error));
}

/* YS_ENOTFOUND sets errno's value in *error; a CPU that is switched off is passed over. */
static ys_status open_ring(struct ys_perf *perf, int cpu, int *error)
{
    int fd = open_event(cpu, perf->in_kernel);
    if (fd < 0) {
        *error = errno;
        return *error == ENODEV ? YS_OK : YS_ENOTFOUND;
    }
    void *page = mmap(NULL, perf->page_bytes + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        *error = errno;
        close(fd);
        return YS_ENOTFOUND;
    }
    perf->rings[perf->count++] = (struct ring){fd, page};
    return YS_OK;
}

static void close_rings(struct ys_perf *perf)
{
    for (size_t i = 0; i < perf->count; i++) {
        munmap(perf->rings[i].page, perf->page_bytes + RING_BYTES);
        close(perf->rings[i].fd);
    }
    perf->count = 0;
}

static ys_status open_rings(struct ys_perf *perf, int cpus, int *error)
{
    ys_status status = YS_OK;
    for (int cpu = 0; status == YS_OK && cpu < cpus; cpu++)
        status = open_ring(perf, cpu, error);
    if (status == YS_OK && perf->count == 0)
        status = YS_ENOTFOUND;
    if (status != YS_OK)
        close_rings(perf);
    return status;
}

ys_status ys_perf_open(struct ys_perf **perf)
{
    int cpus = (int)sysconf(_SC_NPROCESSORS_CONF), error = ENODEV;
    struct ys_perf *made = ys_alloc(1, sizeof *made);
    made->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    made->in_kernel = true;
    made->profile = ys_profile_new();
    made->rings = ys_alloc((size_t)cpus, sizeof *made->rings);
    ys_status status = open_rings(made, cpus, &error);
    if (status != YS_OK && (error == EACCES || error == EPERM)) {
        made->in_kernel = false;
        status = open_rings(made, cpus, &error);
    }
    if (status != YS_OK) {
        ys_perf_close(made);
        return refused(error);
    }
    *perf = made;
    return YS_OK;
}

/* Copies `size` bytes from place `at` of a ring, which goes round. */
static void copy(const struct ys_perf *perf, const struct ring *ring, uint64_t at, void *to, size_t size)
{
    const unsigned char *data = (const unsigned char *)ring->page + perf->page_bytes;
    size_t place = (size_t)(at % RING_BYTES), first = RING_BYTES - place < size ? RING_BYTES - place : size;
    memcpy(to, data + place, first);
    memcpy((unsigned char *)to + first, data, size - first);
}

static void drain_ring(struct ys_perf *perf, const struct ring *ring)
{
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE), tail = ring->page->data_tail;
    while (tail < head) {
        struct perf_event_header header;
        copy(perf, ring, tail, &header, sizeof header);
        if (header.size < sizeof header || header.size > head - tail)
            break; /* never, of an honest kernel; not to go on for ever */
        copy(perf, ring, tail, perf->record, header.size);
        ys_profile_add(perf->profile, perf->record, header.size);
        tail += header.size;
    }
    __atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
}

/* What happened before the draining of this time began has been read from all rings, whichever CPU it was on. */
static void drain(struct ys_perf *perf, bool is_last)
{
    uint64_t now_ns = ys_time_ns();
    for (size_t i = 0; i < perf->count; i++)
        drain_ring(perf, &perf->rings[i]);
    perf->drained_ns = now_ns;
    ys_profile_settle(perf->profile, is_last ? UINT64_MAX : perf->drained_ns);
}

void ys_perf_drain(struct ys_perf *perf)
{
    if (perf)
        drain(perf, false);
}

void ys_perf_begin(struct ys_perf *perf, enum ys_profile_phase phase)
{
    if (perf)
        ys_profile_begin(perf->profile, phase, ys_time_ns());
}

void ys_perf_read(struct ys_perf *perf, struct ys_profile_counts *counts, bool *in_kernel)
{
    drain(perf, true);
    *counts = ys_profile_counts(perf->profile);
    *in_kernel = perf->in_kernel;
}

void ys_perf_close(struct ys_perf *perf)
{
    if (!perf)
        return;
    close_rings(perf);
    ys_free(perf->rings);
    ys_profile_free(perf->profile);
    ys_free(perf);
}
