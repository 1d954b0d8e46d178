#include "protocol/answer_ring.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = "YSRING1";

struct ring_head {
    char magic[8];
    uint32_t slots, slot_bytes, floats;
};

/* A slot begins with it. */
struct ring_slot {
    uint64_t sequence, request;
    uint32_t batch, count;
};

struct ys_ring {
    char *map;
    size_t size_bytes;
    struct ring_head head;
};

static off_t slot_at(const struct ring_head *head, uint64_t request)
{
    return (off_t)(YS_RING_HEAD + request % head->slots * head->slot_bytes);
}

static off_t tail_at(const struct ring_head *head, uint64_t request)
{
    return slot_at(head, request) + (off_t)(head->slot_bytes - sizeof(uint64_t));
}

/* As its head says; 0: it cannot be one. */
static size_t size_of(const struct ring_head *head)
{
    const uint64_t need = YS_RING_HEAD + 4 * (uint64_t)head->floats + sizeof(uint64_t);
    if (memcmp(head->magic, magic, sizeof magic) != 0 || head->slots < 1 || head->slots > 4096 ||
        head->slot_bytes < need || head->slot_bytes % 8 != 0 || head->slot_bytes > 1u << 24)
        return 0;
    return YS_RING_HEAD + (size_t)head->slots * head->slot_bytes;
}

ys_status ys_ring_open(const char *path, struct ys_ring **ring)
{
    struct ring_head head = {{0}, 0, 0, 0};
    struct stat file;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return ys_fail(YS_EIO, "cannot open the ring of answers %s: %s", path, strerror(errno));
    bool is_whole = pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head && fstat(fd, &file) == 0;
    size_t size = is_whole ? size_of(&head) : 0;
    if (size == 0 || file.st_size < (off_t)size) {
        close(fd);
        return ys_fail(YS_EFORMAT, "%s is no ring of answers", path);
    }
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int failed = errno;
    close(fd);
    if (map == MAP_FAILED)
        return ys_fail(YS_EIO, "cannot map the ring of answers %s: %s", path, strerror(failed));
    struct ys_ring *made = ys_alloc(1, sizeof *made);
    if (!made) {
        munmap(map, size);
        return ys_out_of_memory();
    }
    *made = (struct ys_ring){.map = map, .size_bytes = size, .head = head};
    *ring = made;
    return YS_OK;
}

void ys_ring_close(struct ys_ring *ring)
{
    if (!ring)
        return;
    munmap(ring->map, ring->size_bytes);
    ys_free(ring);
}

/* Whoever reads the words from the last to the first sees that they are not of one answer, whenever he does. */
void ys_ring_write(struct ys_ring *ring, int64_t request, int64_t batch, const void *values, size_t count,
                   bool in_double)
{
    const uint64_t sequence = (uint64_t)request + 1;
    char *at = ring->map + slot_at(&ring->head, (uint64_t)request);
    struct ring_slot *slot = (struct ring_slot *)(void *)at;
    float *floats = (float *)(void *)(at + YS_RING_HEAD);
    const size_t room = ring->head.floats, kept = count < room ? count : room;
    atomic_store_explicit((_Atomic uint64_t *)&slot->sequence, sequence, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    slot->request = (uint64_t)request;
    slot->batch = (uint32_t)batch;
    slot->count = (uint32_t)kept;
    if (in_double)
        for (size_t i = 0; i < kept; i++)
            floats[i] = (float)((const double *)values)[i];
    else
        memcpy(floats, values, kept * sizeof *floats);
    char *tail = ring->map + tail_at(&ring->head, (uint64_t)request);
    atomic_store_explicit((_Atomic uint64_t *)(void *)tail, sequence, memory_order_release);
}

static struct ring_head head_made(void)
{
    struct ring_head head = {.slots = YS_RING_SLOTS, .slot_bytes = YS_RING_SLOT_BYTES, .floats = YS_RING_FLOATS};
    memcpy(head.magic, magic, sizeof magic);
    return head;
}

ys_status ys_ring_make(const char *path, int *fd)
{
    const struct ring_head head = head_made();
    int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made < 0)
        return ys_fail(YS_EIO, "cannot make the ring of answers %s: %s", path, strerror(errno));
    /* A mapping of space that the disk then lacks would end the adapter. */
    int failed = posix_fallocate(made, 0, (off_t)size_of(&head));
    if (failed == 0 && pwrite(made, &head, sizeof head, 0) != (ssize_t)sizeof head)
        failed = errno;
    if (failed != 0) {
        close(made);
        unlink(path);
        return ys_fail(YS_EIO, "cannot make the ring of answers %s: %s", path, strerror(failed));
    }
    *fd = made;
    return YS_OK;
}

static ys_status cut(void)
{
    return ys_fail(YS_EFORMAT, "it cut the ring of answers");
}

static bool read_at(int fd, off_t at, void *to, size_t size)
{
    return pread(fd, to, size, at) == (ssize_t)size;
}

static ys_status check_head(int fd)
{
    const struct ring_head made = head_made();
    struct ring_head head = {{0}, 0, 0, 0};
    if (!read_at(fd, 0, &head, sizeof head))
        return cut();
    return memcmp(&head, &made, sizeof head) == 0 ? YS_OK : ys_fail(YS_EFORMAT, "it changed the ring's head");
}

/* YS_ENOTFOUND: what lies in the slot of `request` is not, or no longer, its answer. */
static ys_status read_slot(int fd, uint64_t request, struct ys_ring_answer *answer)
{
    const struct ring_head made = head_made();
    const off_t at = slot_at(&made, request);
    uint64_t last;
    struct ring_slot slot, again;
    if (!read_at(fd, tail_at(&made, request), &last, sizeof last) || !read_at(fd, at, &slot, sizeof slot))
        return cut();
    const bool is_one = slot.sequence == request + 1 && slot.request == request && last == request + 1;
    if (!is_one || slot.count > YS_RING_FLOATS)
        return YS_ENOTFOUND;
    if (!read_at(fd, at + YS_RING_HEAD, answer->values, slot.count * sizeof answer->values[0]) ||
        !read_at(fd, at, &again, sizeof again))
        return cut();
    if (memcmp(&slot, &again, sizeof slot) != 0)
        return YS_ENOTFOUND;
    answer->request = (int64_t)request;
    answer->batch = slot.batch;
    answer->count = slot.count;
    return YS_OK;
}

/* The answers that slots say they have, each in its own; `*count` of them. */
static ys_status list_requests(int fd, uint64_t requests[YS_RING_SLOTS], size_t *count)
{
    const struct ring_head made = head_made();
    *count = 0;
    YS_TRY(check_head(fd));
    for (uint64_t i = 0; i < YS_RING_SLOTS; i++) {
        struct ring_slot slot;
        if (!read_at(fd, slot_at(&made, i), &slot, sizeof slot))
            return cut();
        if (slot.sequence > 0 && slot.sequence <= INT64_MAX && (slot.sequence - 1) % YS_RING_SLOTS == i)
            requests[(*count)++] = slot.sequence - 1;
    }
    return YS_OK;
}

/* YS_ENOTFOUND: none of them is whole. `*newest`: the number of the last of them and one, which may not be. */
static ys_status read_newest(int fd, struct ys_ring_answer *answer, uint64_t *newest)
{
    uint64_t requests[YS_RING_SLOTS];
    size_t count;
    *newest = 0;
    YS_TRY(list_requests(fd, requests, &count));
    for (; count > 0; count--) { /* from the last on: the one that is being written is not whole, the one before is */
        size_t last = 0;
        for (size_t i = 1; i < count; i++)
            last = requests[i] > requests[last] ? i : last;
        *newest = *newest ? *newest : requests[last] + 1;
        ys_status status = read_slot(fd, requests[last], answer);
        if (status != YS_ENOTFOUND)
            return status;
        requests[last] = requests[count - 1];
    }
    return ys_fail(YS_ENOTFOUND, "there is no answer in the ring");
}

enum { OVERTAKEN_MOST = 16 /* times in a row that a reader begins again */ };

ys_status ys_ring_newest(int fd, struct ys_ring_answer *answer)
{
    uint64_t newest = 0, before;
    ys_status status;
    int again = 0;
    do { /* who was put aside while he read may find that all of the slots were written over meanwhile */
        before = newest;
        status = read_newest(fd, answer, &newest);
    } while (status == YS_ENOTFOUND && newest != before && again++ < OVERTAKEN_MOST);
    return status;
}
