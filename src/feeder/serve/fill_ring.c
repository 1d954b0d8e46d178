#include "feeder/serve/fill_ring.h"

#include "base/clock.h"
#include "base/mem.h"
#include "protocol/batch_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* What an adapter asked for, and how far that is. Positions count the batches of a turn. */
struct ys_stream {
    struct ys_stream_asked asked;
    struct ys_feed_head head;
    unsigned char *memory;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t turn, first;         /* 0: nothing is asked for yet */
    uint64_t empty_ns;            /* when the adapter had nothing more to take */
    uint64_t begun, sent, freed;  /* positions: begun to be made, said to be ready, free again */
    bool is_busy[YS_FEED_SLOTS];  /* a thread writes into it, perhaps for an earlier turn */
    bool is_ready[YS_FEED_SLOTS]; /* with the batch of this turn, which is not yet said */
};

static uint64_t align(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static ys_status fill_head(const struct ys_batches *batches, bool wraps, struct ys_feed_head *head)
{
    size_t count = 0;
    uint64_t end = 0;
    const struct ys_tensor *arrays = ys_batches_arrays(batches, &count);
    *head = (struct ys_feed_head){
        .magic = YS_FEED_MAGIC, .slots = YS_FEED_SLOTS, .arrays = (uint32_t)count, .start = YS_FEED_START};
    head->round = wraps ? (uint64_t)ys_batches_count(batches) : 0;
    for (size_t i = 0; i < count; i++) {
        struct ys_feed_array *array = &head->array[i];
        if (strlen(arrays[i].name) >= sizeof array->name)
            return ys_fail(YS_EUNSUPPORTED, "input = ring: the name %s is longer than %zu characters", arrays[i].name,
                           sizeof array->name - 1);
        snprintf(array->name, sizeof array->name, "%s", arrays[i].name);
        snprintf(array->dtype, sizeof array->dtype, "%s", ys_dtype_name(arrays[i].dtype));
        array->rank = (uint32_t)arrays[i].rank;
        for (size_t d = 0; d < arrays[i].rank; d++)
            array->shape[d] = (uint64_t)arrays[i].shape[d];
        array->offset = end;
        array->size_bytes = arrays[i].size_bytes;
        end = align(end + array->size_bytes, 64);
    }
    head->slot_bytes = align(end, 4096); /* no two slots in one page */
    return YS_OK;
}

/* Room is taken at once: later, where it is missing, the kernel can only end the process. */
static ys_status make_ring(struct ys_stream *s)
{
    YS_TRY(fill_head(s->asked.batches, s->asked.wraps, &s->head));
    const uint64_t size = s->head.start + s->head.slots * s->head.slot_bytes;
    int error = posix_fallocate(s->asked.memory, 0, (off_t)size);
    void *mapped = error ? MAP_FAILED : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, s->asked.memory, 0);
    error = error ? error : errno;
    if (mapped == MAP_FAILED)
        return ys_fail(YS_ENOMEM, "no shared memory for a ring of %u batches, %llu bytes: %s; take a smaller batch",
                       s->head.slots, (unsigned long long)size, strerror(error));
    fcntl(s->asked.memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW); /* an adapter that cuts it would kill us */
    close(s->asked.memory);
    s->memory = mapped;
    memcpy(s->memory, &s->head, sizeof s->head);
    return YS_OK;
}

static _Noreturn void give_up(void)
{
    fprintf(stderr, "yardstick-feeder: %s\n", ys_error());
    _exit(1);
}

static uint64_t number_of(const struct ys_stream *s, uint64_t position)
{
    const uint64_t count = (uint64_t)ys_batches_count(s->asked.batches), number = s->first + position;
    return s->asked.wraps ? number % count : number;
}

/* Whether the next batch of the turn can be made now. */
static bool is_due(const struct ys_stream *s)
{
    return s->turn > 0 && s->begun < s->freed + YS_FEED_SLOTS && !s->is_busy[s->begun % YS_FEED_SLOTS] &&
           number_of(s, s->begun) < (uint64_t)ys_batches_count(s->asked.batches);
}

/* Where nobody listens any more there is nobody to feed. */
static void say_ready(struct ys_stream *s)
{
    while (s->sent < s->begun && s->is_ready[s->sent % YS_FEED_SLOTS]) {
        const uint64_t slot = s->sent % YS_FEED_SLOTS;
        const struct ys_feed_ready ready = {s->turn, number_of(s, s->sent), slot};
        s->is_ready[slot] = false;
        s->sent++;
        (void)!send(s->asked.channel, &ready, sizeof ready, MSG_NOSIGNAL);
    }
}

static void make_one(struct ys_stream *s)
{
    const uint64_t turn = s->turn, slot = s->begun % YS_FEED_SLOTS, number = number_of(s, s->begun);
    void *places[YS_FEED_ARRAYS] = {NULL};
    for (size_t i = 0; i < s->head.arrays; i++)
        places[i] = s->memory + s->head.start + slot * s->head.slot_bytes + s->head.array[i].offset;
    s->begun++;
    s->is_busy[slot] = true;
    pthread_mutex_unlock(&s->lock);
    if (ys_batches_make(s->asked.batches, (int64_t)number, places) != YS_OK)
        give_up();
    pthread_mutex_lock(&s->lock);
    s->is_busy[slot] = false;
    s->is_ready[slot] = s->turn == turn;
    say_ready(s);
    pthread_cond_broadcast(&s->changed);
}

static void *make_batches(void *context)
{
    struct ys_stream *s = context;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!is_due(s))
            pthread_cond_wait(&s->changed, &s->lock);
        make_one(s);
    }
    return NULL;
}

static void take(struct ys_stream *s, const struct ys_feed_wish *wish)
{
    pthread_mutex_lock(&s->lock);
    if (wish->what == YS_FEED_BEGIN && wish->turn > s->turn) {
        s->turn = wish->turn;
        s->first = wish->batch;
        s->begun = s->sent = s->freed = 0;
        s->empty_ns = ys_time_ns();
        memset(s->is_ready, 0, sizeof s->is_ready);
        if (number_of(s, 0) >= (uint64_t)ys_batches_count(s->asked.batches))
            shutdown(s->asked.channel, SHUT_RDWR); /* there is no such batch to wait for */
    } else if (wish->what == YS_FEED_FREE && wish->turn == s->turn && s->freed < s->sent) {
        s->freed++;
        s->empty_ns = ys_time_ns();
    }
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

/* Until the adapter is gone. */
static void *listen_to(void *context)
{
    struct ys_stream *s = context;
    struct ys_feed_wish wish;
    for (;;) {
        ssize_t got = recv(s->asked.channel, &wish, sizeof wish, 0);
        if (got == (ssize_t)sizeof wish)
            take(s, &wish);
        else if (got >= 0 || errno != EINTR) {
            shutdown(s->asked.channel, SHUT_RDWR); /* who still waits for a batch learns that none comes */
            return NULL;
        }
    }
}

static ys_status start_threads(struct ys_stream *s)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, listen_to, s);
    for (int i = 0; !error && i < s->asked.threads; i++)
        error = pthread_create(&thread, NULL, make_batches, s);
    return error ? ys_fail(YS_EIO, "no thread can be made that fills the ring: %s", strerror(error)) : YS_OK;
}

int64_t ys_stream_awaited(struct ys_stream *s, double *since_s)
{
    pthread_mutex_lock(&s->lock);
    const uint64_t batch = number_of(s, s->sent);
    const bool waits = s->turn > 0 && s->sent == s->freed && batch < (uint64_t)ys_batches_count(s->asked.batches);
    *since_s = waits ? (double)(ys_time_ns() - s->empty_ns) * 1e-9 : 0;
    pthread_mutex_unlock(&s->lock);
    return waits ? (int64_t)batch : -1;
}

ys_status ys_stream_begin(const struct ys_stream_asked *asked, struct ys_stream **stream)
{
    struct ys_stream *s = ys_alloc(1, sizeof *s); /* its threads' for as long as the program lives */
    *s = (struct ys_stream){.asked = *asked, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    ys_status status = make_ring(s);
    if (status == YS_OK) {
        *stream = s;
        return start_threads(s);
    }
    ys_free(s);
    return status;
}
