#include "protocol/batch_ring.h"

#include "base/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct ys_feed {
    int channel;
    const unsigned char *memory;
    size_t size;
    struct ys_feed_head head; /* a copy: nobody changes it under us */
    struct ys_tensor arrays[YS_FEED_ARRAYS];
    uint64_t turn;
    int64_t next; /* the batch that comes if nothing else is asked; -1: none */
};

static ys_status bad(const char *what)
{
    return ys_fail(YS_EFORMAT, "the ring of batches is none of this version: %s", what);
}

static ys_status read_array(const struct ys_feed *feed, const struct ys_feed_array *said, struct ys_tensor *array)
{
    if (!memchr(said->name, 0, sizeof said->name) || !memchr(said->dtype, 0, sizeof said->dtype) ||
        said->rank > YS_MAX_RANK)
        return bad("an array has no name or no shape");
    *array = (struct ys_tensor){.name = said->name, .rank = said->rank, .size_bytes = said->size_bytes};
    YS_TRY(ys_dtype_parse(said->dtype, &array->dtype));
    for (size_t i = 0; i < said->rank; i++)
        array->shape[i] = (int64_t)said->shape[i];
    const uint64_t slot = feed->head.slot_bytes;
    if (said->offset > slot || said->size_bytes > slot - said->offset ||
        ys_tensor_count(array) * ys_dtype_size(array->dtype) != said->size_bytes)
        return bad("an array does not fit into its slot");
    return YS_OK;
}

static ys_status read_head(struct ys_feed *feed)
{
    if (feed->size < YS_FEED_START)
        return bad("it has no head");
    memcpy(&feed->head, feed->memory, sizeof feed->head);
    const struct ys_feed_head *head = &feed->head;
    if (memcmp(head->magic, YS_FEED_MAGIC, sizeof head->magic) != 0 || head->arrays > YS_FEED_ARRAYS ||
        head->slots < 1 || head->start > feed->size)
        return bad("its head is another");
    if (head->slot_bytes > (feed->size - head->start) / head->slots)
        return bad("its slots do not fit into it");
    for (size_t i = 0; i < head->arrays; i++)
        YS_TRY(read_array(feed, &head->array[i], &feed->arrays[i]));
    return YS_OK;
}

static ys_status map(struct ys_feed *feed, int memory)
{
    struct stat info;
    if (fstat(memory, &info) != 0 || info.st_size < 1)
        return bad("it has no size");
    feed->size = (size_t)info.st_size;
    void *mapped = mmap(NULL, feed->size, PROT_READ, MAP_SHARED, memory, 0);
    if (mapped == MAP_FAILED)
        return ys_fail(YS_EIO, "cannot map the ring of batches: %s", strerror(errno));
    feed->memory = mapped;
    return read_head(feed);
}

ys_status ys_feed_open(int channel, int memory, struct ys_feed **feed)
{
    struct ys_feed *made = ys_alloc(1, sizeof *made);
    ys_status status = ys_out_of_memory();
    if (made) {
        *made = (struct ys_feed){.channel = channel, .next = -1};
        status = map(made, memory);
    }
    close(memory);
    if (status == YS_OK)
        *feed = made;
    else
        ys_feed_close(made);
    return status;
}

const struct ys_tensor *ys_feed_array(const struct ys_feed *feed, const char *name)
{
    for (size_t i = 0; i < feed->head.arrays; i++)
        if (strcmp(feed->arrays[i].name, name) == 0)
            return &feed->arrays[i];
    return NULL;
}

static ys_status gone(void)
{
    return ys_fail(YS_EIO, "yardstick-feeder is gone: no more batches come");
}

static ys_status wish(struct ys_feed *feed, enum ys_feed_what what, int64_t batch)
{
    const struct ys_feed_wish said = {(uint64_t)what, feed->turn, (uint64_t)batch};
    ssize_t sent;
    do
        sent = send(feed->channel, &said, sizeof said, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof said ? YS_OK : gone();
}

ys_status ys_feed_take(struct ys_feed *feed, int64_t batch)
{
    struct ys_feed_ready ready;
    if (feed->next != batch) {
        feed->turn++;
        YS_TRY(wish(feed, YS_FEED_BEGIN, batch));
    }
    feed->next = -1;
    do { /* what was said of an earlier turn is passed over */
        ssize_t got = recv(feed->channel, &ready, sizeof ready, 0);
        if (got < 0 && errno == EINTR)
            ready.turn = 0;
        else if (got != (ssize_t)sizeof ready)
            return gone();
    } while (ready.turn != feed->turn);
    if (ready.batch != (uint64_t)batch || ready.slot >= feed->head.slots)
        return bad("the feeder says another batch than was asked for");
    const unsigned char *slot = feed->memory + feed->head.start + ready.slot * feed->head.slot_bytes;
    for (size_t i = 0; i < feed->head.arrays; i++)
        feed->arrays[i].data = slot + feed->head.array[i].offset;
    feed->next = (uint64_t)batch + 1 == feed->head.round ? 0 : batch + 1;
    return YS_OK;
}

ys_status ys_feed_free(struct ys_feed *feed)
{
    return wish(feed, YS_FEED_FREE, 0);
}

void ys_feed_close(struct ys_feed *feed)
{
    if (!feed)
        return;
    if (feed->memory)
        munmap((void *)(uintptr_t)feed->memory, feed->size);
    close(feed->channel);
    ys_free(feed);
}
