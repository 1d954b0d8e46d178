#include "dist/link.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

static ys_status fail_gone(int rank, const char *why)
{
    return ys_fail(YS_EIO, "rank %d has gone: %s", rank, why);
}

static ys_status send_some(struct ys_dist_transfer *t)
{
    ssize_t sent = send(t->out_fd, t->out, t->out_size, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return fail_gone(t->out_rank, strerror(errno));
    t->out += sent > 0 ? sent : 0;
    t->out_size -= sent > 0 ? (size_t)sent : 0;
    return YS_OK;
}

static ys_status receive_some(struct ys_dist_transfer *t)
{
    ssize_t got = recv(t->in_fd, t->in, t->in_size, 0);
    if (got == 0)
        return fail_gone(t->in_rank, "it closed its connection");
    if (got < 0 && errno != EAGAIN && errno != EINTR)
        return fail_gone(t->in_rank, strerror(errno));
    t->in += got > 0 ? got : 0;
    t->in_size -= got > 0 ? (size_t)got : 0;
    return YS_OK;
}

ys_status ys_dist_transfer(struct ys_dist_transfer t)
{
    while (t.out_size > 0 || t.in_size > 0) {
        struct pollfd sources[] = {{.fd = t.out_size > 0 ? t.out_fd : -1, .events = POLLOUT},
                                   {.fd = t.in_size > 0 ? t.in_fd : -1, .events = POLLIN}};
        if (poll(sources, 2, -1) < 0 && errno != EINTR)
            return ys_fail(YS_EIO, "waiting for the other ranks: %s", strerror(errno));
        if (sources[0].revents)
            YS_TRY(send_some(&t));
        if (sources[1].revents)
            YS_TRY(receive_some(&t));
    }
    return YS_OK;
}

struct ys_dist_transfer ys_dist_along(const struct ys_dist_link *link)
{
    return (struct ys_dist_transfer){.out_fd = link->ring.next_fd,
                                     .in_fd = link->ring.before_fd,
                                     .out_rank = (link->rank + 1) % link->world,
                                     .in_rank = (link->rank + link->world - 1) % link->world};
}

/* The numbers of one mean, as pieces. */
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

static size_t count_of(const struct pieces *p, int piece)
{
    return begin_of(p, piece + 1) - begin_of(p, piece);
}

/** Piece `piece` counted round the ring, which may be below 0. */
static int around(int world, int piece)
{
    return ((piece % world) + world) % world;
}

static struct ys_dist_passing passing_of(const struct pieces *p, int out, int in)
{
    return (struct ys_dist_passing){.out_at = begin_of(p, out) * p->size,
                                    .out_bytes = count_of(p, out) * p->size,
                                    .in_at = begin_of(p, in) * p->size,
                                    .in_bytes = count_of(p, in) * p->size};
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
static ys_status sum_pieces(struct ys_dist_link *link, const struct pieces *p, bool is_double)
{
    for (int turn = 0; turn < link->world - 1; turn++) {
        const int out = around(link->world, link->rank - turn), in = around(link->world, link->rank - turn - 1);
        const struct ys_dist_passing passing = passing_of(p, out, in);
        const char *came;
        YS_TRY(link->ops->pass(link, &passing, &came));
        add(p->numbers + passing.in_at, came, count_of(p, in), is_double);
    }
    const int own = around(link->world, link->rank + 1);
    divide(p->numbers + begin_of(p, own) * p->size, count_of(p, own), link->world, is_double);
    return YS_OK;
}

static ys_status share_pieces(struct ys_dist_link *link, const struct pieces *p)
{
    for (int turn = 0; turn < link->world - 1; turn++) {
        const int out = around(link->world, link->rank + 1 - turn), in = around(link->world, link->rank - turn);
        struct ys_dist_passing passing = passing_of(p, out, in);
        const char *came;
        passing.into = p->numbers + passing.in_at;
        YS_TRY(link->ops->pass(link, &passing, &came));
        if (came != passing.into)
            memcpy(passing.into, came, passing.in_bytes);
    }
    return YS_OK;
}

ys_status ys_dist_ring_agree(struct ys_dist_link *link, size_t count, size_t size)
{
    const uint64_t own[2] = {count, size};
    uint64_t theirs[2];
    struct ys_dist_transfer t = ys_dist_along(link);
    t.out = (const char *)own;
    t.in = (char *)theirs;
    t.out_size = t.in_size = sizeof own;
    YS_TRY(ys_dist_transfer(t));
    link->sent_bytes += sizeof own;
    if (theirs[0] != own[0] || theirs[1] != own[1])
        return ys_fail(YS_EPROTOCOL, "rank %d takes a mean of %llu numbers of %llu bytes, rank %d of %llu of %llu",
                       t.in_rank, (unsigned long long)theirs[0], (unsigned long long)theirs[1], link->rank,
                       (unsigned long long)own[0], (unsigned long long)own[1]);
    return YS_OK;
}

ys_status ys_dist_ring_mean(struct ys_dist_link *link, size_t count, bool is_double)
{
    const struct pieces p = {link->numbers, count, is_double ? sizeof(double) : sizeof(float), link->world};
    YS_TRY(sum_pieces(link, &p, is_double));
    YS_TRY(share_pieces(link, &p));
    return link->ops->finish(link);
}

uint64_t ys_dist_mean_bytes(size_t count, size_t size, int rank, int world)
{
    const struct pieces p = {NULL, count, size, world};
    uint64_t sent = 2 * sizeof(uint64_t);
    for (int turn = 0; turn < world - 1; turn++)
        sent += (count_of(&p, around(world, rank - turn)) + count_of(&p, around(world, rank + 1 - turn))) * size;
    return world > 1 ? sent : 0;
}
