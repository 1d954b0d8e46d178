#include "dist/transport.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

ys_status ys_dist_fail_gone(int rank, const char *why)
{
    return ys_fail(YS_EIO, "rank %d has gone: %s", rank, why);
}

static ys_status send_some(struct ys_dist_transfer *t)
{
    ssize_t sent = send(t->out_fd, t->out, t->out_size, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return ys_dist_fail_gone(t->out_rank, strerror(errno));
    t->out += sent > 0 ? sent : 0;
    t->out_size -= sent > 0 ? (size_t)sent : 0;
    return YS_OK;
}

static ys_status receive_some(struct ys_dist_transfer *t)
{
    ssize_t got = recv(t->in_fd, t->in, t->in_size, 0);
    if (got == 0)
        return ys_dist_fail_gone(t->in_rank, "it closed its connection");
    if (got < 0 && errno != EAGAIN && errno != EINTR)
        return ys_dist_fail_gone(t->in_rank, strerror(errno));
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

size_t ys_dist_piece_begin(const struct ys_dist_numbers *numbers, int piece)
{
    const size_t world = (size_t)numbers->world, at = (size_t)piece, longer = numbers->count % world;
    return numbers->count / world * at + (at < longer ? at : longer);
}

static size_t count_of(const struct ys_dist_numbers *numbers, int piece)
{
    return ys_dist_piece_begin(numbers, piece + 1) - ys_dist_piece_begin(numbers, piece);
}

int ys_dist_around(int world, int piece)
{
    return ((piece % world) + world) % world;
}

void ys_dist_add(void *values, const void *came, size_t count, size_t size, int divisor)
{
    double *d = values;
    float *f = values;
    const double *more_d = came;
    const float *more_f = came, narrow = (float)divisor;
    const bool is_double = size == sizeof *d, divides = divisor != 1;
    for (size_t i = 0; is_double && divides && i < count; i++)
        d[i] = (more_d[i] + d[i]) / divisor;
    for (size_t i = 0; is_double && !divides && i < count; i++)
        d[i] = more_d[i] + d[i];
    for (size_t i = 0; !is_double && divides && i < count; i++)
        f[i] = (more_f[i] + f[i]) / narrow;
    for (size_t i = 0; !is_double && !divides && i < count; i++)
        f[i] = more_f[i] + f[i];
}

static struct ys_dist_passing passing_of(const struct ys_dist_numbers *numbers, int out, int in)
{
    return (struct ys_dist_passing){.out_at = ys_dist_piece_begin(numbers, out) * numbers->size,
                                    .out_bytes = count_of(numbers, out) * numbers->size,
                                    .in_at = ys_dist_piece_begin(numbers, in) * numbers->size,
                                    .in_bytes = count_of(numbers, in) * numbers->size};
}

/** Piece c goes from rank c to rank c + w - 1, which then holds its sum. */
static ys_status sum_pieces(struct ys_dist_link *link, const struct ys_dist_numbers *numbers)
{
    for (int turn = 0; turn < link->world - 1; turn++) {
        const int out = ys_dist_around(link->world, link->rank - turn);
        const int in = ys_dist_around(link->world, link->rank - turn - 1);
        const struct ys_dist_passing passing = passing_of(numbers, out, in);
        const char *came;
        YS_TRY(link->ops->pass(link, &passing, &came));
        ys_dist_add(link->numbers + passing.in_at, came, count_of(numbers, in), numbers->size,
                    turn == link->world - 2 ? link->world : 1);
    }
    return YS_OK;
}

static ys_status share_pieces(struct ys_dist_link *link, const struct ys_dist_numbers *numbers)
{
    for (int turn = 0; turn < link->world - 1; turn++) {
        const int out = ys_dist_around(link->world, link->rank + 1 - turn);
        const int in = ys_dist_around(link->world, link->rank - turn);
        struct ys_dist_passing passing = passing_of(numbers, out, in);
        const char *came;
        passing.into = link->numbers + passing.in_at;
        YS_TRY(link->ops->pass(link, &passing, &came));
        if (came != passing.into)
            memcpy(passing.into, came, passing.in_bytes);
    }
    return YS_OK;
}

ys_status ys_dist_agree(const struct ys_dist_link *link, const struct ys_dist_numbers *numbers,
                        struct ys_dist_notice theirs)
{
    if (theirs.count == numbers->count && theirs.size == numbers->size)
        return YS_OK;
    return ys_fail(YS_EPROTOCOL, "rank %d takes a mean of %llu numbers of %llu bytes, rank %d of %zu of %zu",
                   ys_dist_along(link).in_rank, (unsigned long long)theirs.count, (unsigned long long)theirs.size,
                   link->rank, numbers->count, numbers->size);
}

static ys_status swap_notices(struct ys_dist_link *link, const struct ys_dist_numbers *numbers)
{
    const struct ys_dist_notice own = {numbers->count, numbers->size};
    struct ys_dist_notice theirs;
    struct ys_dist_transfer t = ys_dist_along(link);
    t.out = (const char *)&own;
    t.in = (char *)&theirs;
    t.out_size = t.in_size = sizeof own;
    YS_TRY(ys_dist_transfer(t));
    link->sent_bytes += sizeof own;
    return ys_dist_agree(link, numbers, theirs);
}

static void copy_in(struct ys_dist_link *link, const struct ys_dist_numbers *numbers)
{
    char *to = link->numbers;
    for (size_t i = 0; i < numbers->part_count; to += numbers->parts[i++].count * numbers->size)
        memcpy(to, numbers->parts[i].values, numbers->parts[i].count * numbers->size);
}

static void copy_out(const struct ys_dist_link *link, const struct ys_dist_numbers *numbers)
{
    const char *from = link->numbers;
    for (size_t i = 0; i < numbers->part_count; from += numbers->parts[i++].count * numbers->size)
        memcpy(numbers->parts[i].values, from, numbers->parts[i].count * numbers->size);
}

/** One turn after the other. */
static ys_status mean_by_pieces(struct ys_dist_link *link, const struct ys_dist_numbers *numbers)
{
    YS_TRY(swap_notices(link, numbers));
    if (numbers->count == 0)
        return YS_OK;
    const size_t world = (size_t)link->world;
    YS_TRY(link->ops->reserve(link, numbers->count * numbers->size, (numbers->count / world + 1) * numbers->size));
    copy_in(link, numbers);
    YS_TRY(sum_pieces(link, numbers));
    YS_TRY(share_pieces(link, numbers));
    YS_TRY(link->ops->finish(link));
    copy_out(link, numbers);
    return YS_OK;
}

ys_status ys_dist_ring_mean(struct ys_dist_link *link, const struct ys_dist_numbers *numbers)
{
    return link->ops->mean ? link->ops->mean(link, numbers) : mean_by_pieces(link, numbers);
}

uint64_t ys_dist_mean_bytes(size_t count, size_t size, int rank, int world)
{
    const struct ys_dist_numbers numbers = {.count = count, .size = size, .world = world};
    uint64_t sent = sizeof(struct ys_dist_notice);
    for (int turn = 0; turn < 2 * (world - 1); turn++)
        sent += count_of(&numbers, ys_dist_around(world, rank - turn)) * size;
    return world > 1 ? sent : 0;
}
