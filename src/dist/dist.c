#include "dist/dist.h"

#include "base/mem.h"
#include "dist/meet.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct ys_dist {
    int rank, world;
    struct ys_dist_ring ring;
    void *numbers, *come;                   /* those of all parts in a row; a piece on its way in */
    size_t numbers_capacity, come_capacity; /* in bytes */
    bool has_failed;
    char failure[160];
};

/* What is on its way: a piece out, another in. */
struct transfer {
    const char *out;
    size_t out_size;
    char *in;
    size_t in_size;
};

ys_status ys_dist_open(const struct ys_dist_config *config, struct ys_dist **dist)
{
    if (config->world < 1 || config->world > YS_DIST_RANKS_MOST || config->rank < 0 || config->rank >= config->world)
        return ys_fail(YS_EINVAL, "rank %d of %d is none: ranks count from 0, and there are at most %d", config->rank,
                       config->world, YS_DIST_RANKS_MOST);
    struct ys_dist *made = ys_alloc(1, sizeof *made);
    if (!made)
        return ys_out_of_memory();
    *made = (struct ys_dist){.rank = config->rank, .world = config->world, .ring = {-1, -1}};
    ys_status status = config->world > 1 ? ys_dist_meet(config, &made->ring) : YS_OK;
    if (status == YS_OK)
        *dist = made;
    else
        ys_free(made);
    return status;
}

void ys_dist_close(struct ys_dist *dist)
{
    if (!dist)
        return;
    if (dist->ring.next_fd >= 0)
        close(dist->ring.next_fd);
    if (dist->ring.before_fd >= 0)
        close(dist->ring.before_fd);
    ys_free(dist->numbers);
    ys_free(dist->come);
    ys_free(dist);
}

static int next_of(const struct ys_dist *dist)
{
    return (dist->rank + 1) % dist->world;
}

static int before_of(const struct ys_dist *dist)
{
    return (dist->rank + dist->world - 1) % dist->world;
}

static ys_status fail_gone(int rank, const char *why)
{
    return ys_fail(YS_EIO, "rank %d has gone: %s", rank, why);
}

static ys_status send_some(const struct ys_dist *dist, struct transfer *t)
{
    ssize_t sent = send(dist->ring.next_fd, t->out, t->out_size, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return fail_gone(next_of(dist), strerror(errno));
    t->out += sent > 0 ? sent : 0;
    t->out_size -= sent > 0 ? (size_t)sent : 0;
    return YS_OK;
}

static ys_status receive_some(const struct ys_dist *dist, struct transfer *t)
{
    ssize_t got = recv(dist->ring.before_fd, t->in, t->in_size, 0);
    if (got == 0)
        return fail_gone(before_of(dist), "it closed its connection");
    if (got < 0 && errno != EAGAIN && errno != EINTR)
        return fail_gone(before_of(dist), strerror(errno));
    t->in += got > 0 ? got : 0;
    t->in_size -= got > 0 ? (size_t)got : 0;
    return YS_OK;
}

/** Both at once: were each to send all before it receives, all would wait for all. */
static ys_status transfer(const struct ys_dist *dist, struct transfer t)
{
    while (t.out_size > 0 || t.in_size > 0) {
        struct pollfd sources[] = {{.fd = t.out_size > 0 ? dist->ring.next_fd : -1, .events = POLLOUT},
                                   {.fd = t.in_size > 0 ? dist->ring.before_fd : -1, .events = POLLIN}};
        if (poll(sources, 2, -1) < 0 && errno != EINTR)
            return ys_fail(YS_EIO, "waiting for the other ranks: %s", strerror(errno));
        if (sources[0].revents)
            YS_TRY(send_some(dist, &t));
        if (sources[1].revents)
            YS_TRY(receive_some(dist, &t));
    }
    return YS_OK;
}

/* The numbers of one mean, as bytes and as pieces. */
struct pieces {
    char *numbers;
    size_t count, size; /* of a number, in bytes */
    int world;
};

/** Pieces differ in length by one at most. */
static size_t begin_of(const struct pieces *p, int piece)
{
    const size_t world = (size_t)p->world, at = (size_t)piece, longer = p->count % world;
    return p->count / world * at + (at < longer ? at : longer);
}

static char *place_of(const struct pieces *p, int piece)
{
    return p->numbers + begin_of(p, piece) * p->size;
}

static size_t count_of(const struct pieces *p, int piece)
{
    return begin_of(p, piece + 1) - begin_of(p, piece);
}

/** Piece `piece` counted round the ring, which may be below 0. */
static int around(const struct ys_dist *dist, int piece)
{
    return ((piece % dist->world) + dist->world) % dist->world;
}

static void add(void *values, const void *more, size_t count, bool is_double)
{
    double *d = values;
    float *f = values;
    for (size_t i = 0; is_double && i < count; i++)
        d[i] = ((const double *)more)[i] + d[i];
    for (size_t i = 0; !is_double && i < count; i++)
        f[i] = ((const float *)more)[i] + f[i];
}

static void divide(void *values, size_t count, int by, bool is_double)
{
    double *d = values;
    float *f = values;
    for (size_t i = 0; is_double && i < count; i++)
        d[i] /= by;
    for (size_t i = 0; !is_double && i < count; i++)
        f[i] /= (float)by;
}

/** Piece c goes from rank c to rank c + w - 1, which then holds its sum. */
static ys_status sum_pieces(struct ys_dist *dist, const struct pieces *p, bool is_double)
{
    for (int turn = 0; turn < dist->world - 1; turn++) {
        const int out = around(dist, dist->rank - turn), in = around(dist, dist->rank - turn - 1);
        const struct transfer t = {place_of(p, out), count_of(p, out) * p->size, dist->come, count_of(p, in) * p->size};
        YS_TRY(transfer(dist, t));
        add(place_of(p, in), dist->come, count_of(p, in), is_double);
    }
    const int own = around(dist, dist->rank + 1);
    divide(place_of(p, own), count_of(p, own), dist->world, is_double);
    return YS_OK;
}

static ys_status share_pieces(const struct ys_dist *dist, const struct pieces *p)
{
    for (int turn = 0; turn < dist->world - 1; turn++) {
        const int out = around(dist, dist->rank + 1 - turn), in = around(dist, dist->rank - turn);
        const struct transfer t = {place_of(p, out), count_of(p, out) * p->size, place_of(p, in),
                                   count_of(p, in) * p->size};
        YS_TRY(transfer(dist, t));
    }
    return YS_OK;
}

/** Ranks that sum different things would hang, or mix numbers up: each tells the next one what it is about to send. */
static ys_status check_agreed(const struct ys_dist *dist, size_t count, size_t size)
{
    const uint64_t own[2] = {count, size};
    uint64_t theirs[2];
    YS_TRY(transfer(dist, (struct transfer){(const char *)own, sizeof own, (char *)theirs, sizeof theirs}));
    if (theirs[0] != own[0] || theirs[1] != own[1])
        return ys_fail(YS_EPROTOCOL, "rank %d takes a mean of %llu numbers of %llu bytes, rank %d of %llu of %llu",
                       before_of(dist), (unsigned long long)theirs[0], (unsigned long long)theirs[1], dist->rank,
                       (unsigned long long)own[0], (unsigned long long)own[1]);
    return YS_OK;
}

static ys_status reserve(void **place, size_t *capacity, size_t size)
{
    if (size <= *capacity)
        return YS_OK;
    void *grown = ys_realloc(*place, size, 1);
    if (!grown)
        return ys_out_of_memory();
    *place = grown;
    *capacity = size;
    return YS_OK;
}

static ys_status mean(struct ys_dist *dist, const struct ys_dist_part *parts, size_t count, bool is_double)
{
    const size_t size = is_double ? sizeof(double) : sizeof(float);
    size_t all = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        all += parts[i].count;
    YS_TRY(reserve(&dist->numbers, &dist->numbers_capacity, all * size));
    YS_TRY(reserve(&dist->come, &dist->come_capacity, (all / (size_t)dist->world + 1) * size));
    YS_TRY(check_agreed(dist, all, size));
    struct pieces p = {dist->numbers, all, size, dist->world};
    for (size_t i = 0; i < count; at += parts[i++].count)
        memcpy(p.numbers + at * size, parts[i].values, parts[i].count * size);
    YS_TRY(sum_pieces(dist, &p, is_double));
    YS_TRY(share_pieces(dist, &p));
    at = 0;
    for (size_t i = 0; i < count; at += parts[i++].count)
        memcpy(parts[i].values, p.numbers + at * size, parts[i].count * size);
    return YS_OK;
}

ys_status ys_dist_mean(struct ys_dist *dist, const struct ys_dist_part *parts, size_t count, bool is_double)
{
    if (dist->world == 1)
        return YS_OK;
    if (dist->has_failed)
        return ys_fail(YS_EIO, "%s", dist->failure);
    ys_status status = mean(dist, parts, count, is_double);
    if (status == YS_OK)
        return YS_OK;
    dist->has_failed = true;
    const char *said = ys_error();
    size_t length = strlen(said) < sizeof dist->failure - 1 ? strlen(said) : sizeof dist->failure - 1;
    memcpy(dist->failure, said, length); /* the rest of the array is zero */
    return status;
}
