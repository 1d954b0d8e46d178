/* The ring as a stream of bytes. What a rank sends is its own piece and, behind it, all that has come in from the rank
 * before, with its own numbers added in the first turn of the ring; so each byte is passed on as soon as it is here,
 * and no wire waits for the end of a piece, nor for a sum.
 *
 * Numbers are sent from where the caller has them, and replaced there: those that come in the second turn have the sum
 * of the bytes that went out long before. Before its numbers each rank says how many there are; the next one looks at
 * that when it comes, and nobody waits for an answer. */
#include "dist/transport.h"

#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum {
    CAME_BYTES = 131072, /* that are received before they are added: they stay in the second cache */
    SEND_BYTES = 262144, /* of one call: what comes in meanwhile waits that long */
    RUNS_MOST = 64       /* of numbers that lie one behind the other, in one call */
};

/* A place in the stream of pieces, which are counted downwards round the ring, and where it lies. */
struct piece_walk {
    const struct ys_dist_numbers *numbers;
    int piece;
    size_t left_bytes; /* of this piece */
    size_t part, at;   /* the number of a part, and a byte of it; where left_bytes is 0 they mean nothing */
};

static void begin_piece(struct piece_walk *walk, int piece)
{
    const struct ys_dist_numbers *numbers = walk->numbers;
    const size_t begin = ys_dist_piece_begin(numbers, piece);
    walk->piece = piece;
    walk->left_bytes = (ys_dist_piece_begin(numbers, piece + 1) - begin) * numbers->size;
    walk->part = 0;
    walk->at = begin * numbers->size;
    while (walk->left_bytes > 0 && walk->at >= numbers->parts[walk->part].count * numbers->size)
        walk->at -= numbers->parts[walk->part++].count * numbers->size;
}

static struct piece_walk walk_from(const struct ys_dist_numbers *numbers, int piece)
{
    struct piece_walk walk = {.numbers = numbers};
    begin_piece(&walk, ys_dist_around(numbers->world, piece));
    return walk;
}

/** The next bytes that lie one behind the other, `most` at most, and goes on behind them. There must be some left, of
 * this piece or another. */
static struct iovec next_run(struct piece_walk *walk, size_t most)
{
    const struct ys_dist_numbers *numbers = walk->numbers;
    while (walk->left_bytes == 0)
        begin_piece(walk, ys_dist_around(numbers->world, walk->piece - 1));
    while (walk->at == numbers->parts[walk->part].count * numbers->size) {
        walk->part++;
        walk->at = 0;
    }
    const struct ys_dist_part *part = &numbers->parts[walk->part];
    struct iovec run = {(char *)part->values + walk->at, part->count * numbers->size - walk->at};
    run.iov_len = run.iov_len < walk->left_bytes ? run.iov_len : walk->left_bytes;
    run.iov_len = run.iov_len < most ? run.iov_len : most;
    walk->at += run.iov_len;
    walk->left_bytes -= run.iov_len;
    return run;
}

/** What lies ahead, without going there: `most` bytes at most, in `count` runs at most. Returns how many there are. */
static int look_ahead(struct piece_walk walk, size_t most, struct iovec *runs, int count)
{
    int found = 0;
    for (; found < count && most > 0; most -= runs[found++].iov_len)
        runs[found] = next_run(&walk, most);
    return found;
}

static void go_on(struct piece_walk *walk, size_t bytes)
{
    while (bytes > 0)
        bytes -= next_run(walk, bytes).iov_len;
}

struct stream {
    struct ys_dist_link *link;
    const struct ys_dist_numbers *numbers;
    struct ys_dist_notice own, theirs;
    size_t own_bytes, theirs_bytes; /* of these, that are still to go and to come */
    struct piece_walk out, in;
    size_t out_bytes;   /* that are still to go; */
    size_t ready_bytes; /* so many may, for they are here and summed */
    size_t add_bytes;   /* that are still to be added; */
    size_t take_bytes;  /* and behind them those that come as they are */
    size_t held_bytes; /* of those to be added, at the beginning of link->came: a number that has not come to its end */
};

static size_t piece_bytes(const struct ys_dist_numbers *numbers, int piece)
{
    const int at = ys_dist_around(numbers->world, piece);
    return (ys_dist_piece_begin(numbers, at + 1) - ys_dist_piece_begin(numbers, at)) * numbers->size;
}

static struct stream stream_of(struct ys_dist_link *link, const struct ys_dist_numbers *numbers)
{
    const int rank = link->rank;
    struct stream s = {.link = link,
                       .numbers = numbers,
                       .own = {numbers->count, numbers->size},
                       .own_bytes = sizeof s.own,
                       .theirs_bytes = sizeof s.theirs,
                       .out = walk_from(numbers, rank),
                       .in = walk_from(numbers, rank - 1),
                       .ready_bytes = piece_bytes(numbers, rank)};
    for (int turn = 0; turn < link->world - 1; turn++) {
        s.out_bytes += piece_bytes(numbers, rank - turn) + piece_bytes(numbers, rank + 1 - turn);
        s.add_bytes += piece_bytes(numbers, rank - turn - 1);
        s.take_bytes += piece_bytes(numbers, rank - turn);
    }
    return s;
}

/** What is wrong with a connection, or nothing. */
static ys_status check_moved(ssize_t moved, int rank)
{
    return moved >= 0 || errno == EAGAIN || errno == EINTR ? YS_OK : ys_dist_fail_gone(rank, strerror(errno));
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/** How much may go now. */
static size_t sendable_bytes(const struct stream *s)
{
    return s->own_bytes + least(s->ready_bytes, s->out_bytes);
}

static ys_status send_some(struct stream *s, bool *has_moved)
{
    if (sendable_bytes(s) == 0)
        return YS_OK;
    struct iovec runs[1 + RUNS_MOST] = {{(char *)&s->own + sizeof s->own - s->own_bytes, s->own_bytes}};
    const size_t most = least(least(s->ready_bytes, s->out_bytes), SEND_BYTES);
    const int count = 1 + look_ahead(s->out, most, runs + 1, RUNS_MOST);
    const struct msghdr message = {.msg_iov = runs, .msg_iovlen = (size_t)count};
    const ssize_t sent = sendmsg(s->link->ring.next_fd, &message, MSG_NOSIGNAL);
    YS_TRY(check_moved(sent, ys_dist_along(s->link).out_rank));
    if (sent <= 0)
        return YS_OK;
    const size_t of_notice = least((size_t)sent, s->own_bytes), of_numbers = (size_t)sent - of_notice;
    s->own_bytes -= of_notice;
    s->out_bytes -= of_numbers;
    s->ready_bytes -= of_numbers;
    go_on(&s->out, of_numbers);
    s->link->sent_bytes += (size_t)sent;
    *has_moved = true;
    return YS_OK;
}

/** Returns what came, 0 for nothing yet, in *got. */
static ys_status receive(const struct stream *s, struct iovec *runs, int count, size_t *got)
{
    struct msghdr message = {.msg_iov = runs, .msg_iovlen = (size_t)count};
    const ssize_t came = recvmsg(s->link->ring.before_fd, &message, 0);
    const int rank = ys_dist_along(s->link).in_rank;
    *got = came > 0 ? (size_t)came : 0;
    return came == 0 ? ys_dist_fail_gone(rank, "it closed its connection") : check_moved(came, rank);
}

static ys_status receive_notice(struct stream *s, size_t *got)
{
    struct iovec run = {(char *)&s->theirs + sizeof s->theirs - s->theirs_bytes, s->theirs_bytes};
    YS_TRY(receive(s, &run, 1, got));
    s->theirs_bytes -= *got;
    return s->theirs_bytes > 0 ? YS_OK : ys_dist_agree(s->link, s->numbers, s->theirs);
}

/** The first turn of the ring: with the last of its pieces sums are complete. */
static ys_status receive_and_add(struct stream *s, size_t *got)
{
    char *came = s->link->came;
    struct iovec run = {came + s->held_bytes, least(CAME_BYTES, s->add_bytes) - s->held_bytes};
    YS_TRY(receive(s, &run, 1, got));
    const size_t here = s->held_bytes + *got, whole = here - here % s->numbers->size;
    const int last = ys_dist_around(s->link->world, s->link->rank + 1);
    for (size_t at = 0; at < whole; at += run.iov_len) {
        run = next_run(&s->in, whole - at);
        ys_dist_add(run.iov_base, came + at, run.iov_len / s->numbers->size, s->numbers->size,
                    s->in.piece == last ? s->link->world : 1);
    }
    s->held_bytes = here - whole;
    memmove(came, came + whole, s->held_bytes);
    s->add_bytes -= whole;
    s->ready_bytes += whole;
    return YS_OK;
}

static ys_status receive_in_place(struct stream *s, size_t *got)
{
    struct iovec runs[RUNS_MOST];
    YS_TRY(receive(s, runs, look_ahead(s->in, s->take_bytes, runs, RUNS_MOST), got));
    go_on(&s->in, *got);
    s->take_bytes -= *got;
    s->ready_bytes += *got;
    return YS_OK;
}

static bool is_expecting(const struct stream *s)
{
    return s->theirs_bytes + s->add_bytes + s->take_bytes > 0;
}

static ys_status receive_some(struct stream *s, bool *has_moved)
{
    size_t got = 0;
    ys_status status = YS_OK;
    if (s->theirs_bytes > 0)
        status = receive_notice(s, &got);
    else if (s->add_bytes > 0)
        status = receive_and_add(s, &got);
    else if (s->take_bytes > 0)
        status = receive_in_place(s, &got);
    *has_moved = *has_moved || got > 0;
    return status;
}

static ys_status wait_for_either(const struct stream *s)
{
    struct pollfd sources[] = {{.fd = sendable_bytes(s) > 0 ? s->link->ring.next_fd : -1, .events = POLLOUT},
                               {.fd = is_expecting(s) ? s->link->ring.before_fd : -1, .events = POLLIN}};
    return poll(sources, 2, -1) >= 0 || errno == EINTR
               ? YS_OK
               : ys_fail(YS_EIO, "waiting for the other ranks: %s", strerror(errno));
}

static ys_status mean(struct ys_dist_link *link, const struct ys_dist_numbers *numbers)
{
    struct stream s = stream_of(link, numbers);
    if (!link->came)
        link->came = ys_alloc(CAME_BYTES, 1);
    if (!link->came)
        return ys_out_of_memory();
    while (s.own_bytes + s.out_bytes > 0 || is_expecting(&s)) {
        bool has_moved = false;
        YS_TRY(send_some(&s, &has_moved));
        YS_TRY(receive_some(&s, &has_moved));
        if (!has_moved)
            YS_TRY(wait_for_either(&s));
    }
    return YS_OK;
}

static void fini(struct ys_dist_link *link)
{
    ys_free(link->came);
}

const struct ys_dist_link_ops ys_dist_link_tcp = {.mean = mean, .fini = fini};
