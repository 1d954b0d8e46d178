#include "probe/collectives.h"

#include "base/files/fs.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ys_status ys_collectives_make(const char *path)
{
    static const char version[16] = YS_COLLECTIVES_VERSION;
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int error = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)sizeof(struct ys_collectives_notes));
    if (fd >= 0 && !error && pwrite(fd, version, sizeof version, 0) != (ssize_t)sizeof version)
        error = errno;
    if (fd >= 0)
        close(fd);
    return error ? ys_fail(YS_EIO, "cannot make %s: %s", path, strerror(error)) : YS_OK;
}

static int by_begin(const void *a, const void *b)
{
    const struct ys_collective_call *one = a, *other = b;
    return (one->begin_ns > other->begin_ns) - (one->begin_ns < other->begin_ns);
}

/** A note whose call had not begun when the process ended is none. */
static void take_note(const struct ys_collective_note *note, struct ys_collectives *heard)
{
    const uint64_t begin_ns = atomic_load(&note->begin_ns), end_ns = atomic_load(&note->end_ns);
    if (begin_ns == 0 || note->what < YS_COLLECTIVE_GLOO || note->what > YS_COLLECTIVE_MPI_WAIT)
        return;
    heard->gloo = heard->gloo || note->what == YS_COLLECTIVE_GLOO;
    heard->mpi = heard->mpi || note->what != YS_COLLECTIVE_GLOO;
    heard->items[heard->count++] = (struct ys_collective_call){.begin_ns = begin_ns,
                                                               .end_ns = end_ns >= begin_ns ? end_ns : UINT64_MAX,
                                                               .bytes = note->bytes,
                                                               .is_wait = note->what == YS_COLLECTIVE_MPI_WAIT};
}

/** The calls as times at which at least one was under way. */
static void merge(struct ys_collectives *heard)
{
    heard->spans = ys_alloc(heard->count + 1, sizeof *heard->spans);
    for (size_t i = 0; i < heard->count; i++) {
        const struct ys_collective_call *call = &heard->items[i];
        struct ys_collective_span *last = &heard->spans[heard->span_count > 0 ? heard->span_count - 1 : 0];
        if (heard->span_count == 0 || call->begin_ns > last->end_ns)
            heard->spans[heard->span_count++] = (struct ys_collective_span){call->begin_ns, call->end_ns};
        else if (call->end_ns > last->end_ns)
            last->end_ns = call->end_ns;
    }
}

static void take(const struct ys_collectives_head *head, const struct ys_collective_note *notes, size_t count,
                 struct ys_collectives *heard)
{
    heard->calls = (int64_t)(atomic_load(&head->calls) & INT64_MAX);
    heard->bytes = atomic_load(&head->unsized) > 0 ? -1 : (int64_t)(atomic_load(&head->bytes) & INT64_MAX);
    heard->is_whole = atomic_load(&head->begun) <= count;
    heard->items = ys_alloc(count + 1, sizeof *heard->items);
    for (size_t i = 0; i < count; i++)
        take_note(&notes[i], heard);
    qsort(heard->items, heard->count, sizeof *heard->items, by_begin);
    merge(heard);
}

/* It is read and not mapped, for who wrote it may have cut it off. */
static ys_status read_notes(int fd, const char *path, struct ys_collectives *heard)
{
    struct ys_collectives_head head;
    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head.version, YS_COLLECTIVES_VERSION, sizeof head.version) != 0)
        return ys_fail(YS_EFORMAT, "%s are no notes of collectives of this version", path);
    const uint64_t begun = atomic_load(&head.begun);
    const size_t count = begun < YS_COLLECTIVES_MOST ? (size_t)begun : YS_COLLECTIVES_MOST;
    struct ys_collective_note *notes = ys_alloc(count + 1, sizeof *notes);
    const size_t size = count * sizeof *notes;
    const bool has_all = pread(fd, notes, size, offsetof(struct ys_collectives_notes, items)) == (ssize_t)size;
    if (has_all)
        take(&head, notes, count, heard);
    ys_free(notes);
    return has_all ? YS_OK : ys_fail(YS_EFORMAT, "%s has fewer notes of collectives than it says", path);
}

ys_status ys_collectives_read(const char *path, struct ys_collectives *heard)
{
    *heard = (struct ys_collectives){.is_whole = true};
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); /* whatever it has become */
    if (fd < 0)
        return ys_fail(errno == ENOENT ? YS_ENOTFOUND : YS_EIO, "cannot read %s: %s", path, strerror(errno));
    ys_status status = read_notes(fd, path, heard);
    close(fd);
    if (status != YS_OK)
        ys_collectives_fini(heard);
    return status;
}

void ys_collectives_fini(struct ys_collectives *heard)
{
    ys_free(heard->items);
    ys_free(heard->spans);
    *heard = (struct ys_collectives){.is_whole = true};
}

uint64_t ys_collectives_busy_ns(const struct ys_collectives *heard, uint64_t from_ns, uint64_t to_ns)
{
    size_t low = 0, high = heard->span_count;
    uint64_t busy_ns = 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (heard->spans[middle].end_ns <= from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < heard->span_count && heard->spans[low].begin_ns < to_ns; low++) {
        const struct ys_collective_span *span = &heard->spans[low];
        busy_ns +=
            (span->end_ns < to_ns ? span->end_ns : to_ns) - (span->begin_ns > from_ns ? span->begin_ns : from_ns);
    }
    return busy_ns;
}
