/* Pieces where they lie: each rank has its numbers in memory that the next one sees too, and tells by a byte through a
 * socket that a piece is ready to be read. Whoever waits sleeps, and sees that the other has gone, as with TCP.
 *
 * A piece is written again, by the sum that comes round, only when it has been read: the next rank added its own before
 * it passed the sum on. What is read last is acknowledged (finish). */
#include "dist/transport.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static void unmap(char **place, size_t *bytes)
{
    if (*place)
        munmap(*place, *bytes);
    *place = NULL;
    *bytes = 0;
}

static ys_status map(int fd, size_t bytes, int protection, char **place, size_t *held_bytes)
{
    void *mapped = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED)
        return ys_fail(YS_ENOMEM, "no %zu bytes of memory for ranks to share: %s", bytes, strerror(errno));
    *place = mapped;
    *held_bytes = bytes;
    return YS_OK;
}

/* A byte, and a descriptor beside it. */
struct letter {
    char byte;
    struct iovec data;
    _Alignas(struct cmsghdr) char beside[CMSG_SPACE(sizeof(int))];
    struct msghdr message;
};

static void address_letter(struct letter *letter)
{
    memset(letter, 0, sizeof *letter);
    letter->data = (struct iovec){&letter->byte, 1};
    letter->message = (struct msghdr){.msg_iov = &letter->data,
                                      .msg_iovlen = 1,
                                      .msg_control = letter->beside,
                                      .msg_controllen = sizeof letter->beside};
}

static ys_status send_memory(const struct ys_dist_link *link, int fd)
{
    struct letter letter;
    address_letter(&letter);
    struct cmsghdr *beside = CMSG_FIRSTHDR(&letter.message);
    *beside = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(beside), &fd, sizeof fd);
    ssize_t sent;
    while ((sent = sendmsg(link->ring.next_fd, &letter.message, MSG_NOSIGNAL)) < 0 &&
           (errno == EINTR || errno == EAGAIN))
        poll(&(struct pollfd){.fd = link->ring.next_fd, .events = POLLOUT}, 1, -1);
    return sent == 1 ? YS_OK : ys_fail(YS_EIO, "rank %d has gone: %s", ys_dist_along(link).out_rank, strerror(errno));
}

static ys_status receive_memory(const struct ys_dist_link *link, int *fd)
{
    struct letter letter;
    ssize_t got;
    do {
        address_letter(&letter);
        got = recvmsg(link->ring.before_fd, &letter.message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && (errno == EINTR || errno == EAGAIN) &&
             poll(&(struct pollfd){.fd = link->ring.before_fd, .events = POLLIN}, 1, -1) >= -1);
    const int in_rank = ys_dist_along(link).in_rank;
    const struct cmsghdr *beside = CMSG_FIRSTHDR(&letter.message);
    if (got <= 0)
        return ys_fail(YS_EIO, "rank %d has gone: %s", in_rank, got ? strerror(errno) : "it closed its connection");
    if (!beside || beside->cmsg_type != SCM_RIGHTS || beside->cmsg_len != CMSG_LEN(sizeof *fd))
        return ys_fail(YS_EPROTOCOL, "rank %d sent no memory to share", in_rank);
    memcpy(fd, CMSG_DATA(beside), sizeof *fd);
    return YS_OK;
}

static ys_status map_theirs(struct ys_dist_link *link, int fd, size_t bytes)
{
    struct stat about;
    if (fstat(fd, &about) != 0 || (size_t)about.st_size < bytes)
        return ys_fail(YS_EPROTOCOL, "rank %d shares less memory than its numbers need", ys_dist_along(link).in_rank);
    return map(fd, bytes, PROT_READ, &link->came, &link->came_bytes);
}

/** New memory for all: neighbours swap it. */
static ys_status swap_memory(struct ys_dist_link *link, int own_fd, size_t bytes)
{
    int their_fd = -1;
    if (ftruncate(own_fd, (off_t)bytes) != 0)
        return ys_fail(YS_EIO, "no %zu bytes of memory for ranks to share: %s", bytes, strerror(errno));
    YS_TRY(map(own_fd, bytes, PROT_READ | PROT_WRITE, &link->numbers, &link->numbers_bytes));
    YS_TRY(send_memory(link, own_fd));
    YS_TRY(receive_memory(link, &their_fd));
    ys_status status = map_theirs(link, their_fd, bytes);
    close(their_fd);
    return status;
}

static ys_status reserve(struct ys_dist_link *link, size_t bytes, size_t piece_bytes)
{
    (void)piece_bytes;
    if (bytes <= link->numbers_bytes)
        return YS_OK;
    unmap(&link->numbers, &link->numbers_bytes);
    unmap(&link->came, &link->came_bytes);
    int own_fd = memfd_create("yardstick ranks", MFD_CLOEXEC);
    if (own_fd < 0)
        return ys_fail(YS_EIO, "no memory for ranks to share: %s", strerror(errno));
    ys_status status = swap_memory(link, own_fd, bytes);
    close(own_fd);
    return status;
}

/** A byte out and a byte in; all that was written before is there to be read after. */
static ys_status tell(struct ys_dist_transfer t)
{
    const char ready = 1;
    char heard;
    t.out = &ready;
    t.in = &heard;
    t.out_size = t.in_size = 1;
    atomic_thread_fence(memory_order_release);
    YS_TRY(ys_dist_transfer(t));
    atomic_thread_fence(memory_order_acquire);
    return YS_OK;
}

static ys_status pass(struct ys_dist_link *link, const struct ys_dist_passing *passing, const char **came)
{
    YS_TRY(tell(ys_dist_along(link)));
    link->sent_bytes += passing->out_bytes;
    *came = link->came + passing->in_at;
    return YS_OK;
}

/** Backwards: to the rank before, whose numbers are read, and from the next one. */
static ys_status finish(struct ys_dist_link *link)
{
    const struct ys_dist_transfer t = ys_dist_along(link);
    return tell(
        (struct ys_dist_transfer){.out_fd = t.in_fd, .in_fd = t.out_fd, .out_rank = t.in_rank, .in_rank = t.out_rank});
}

static void fini(struct ys_dist_link *link)
{
    unmap(&link->numbers, &link->numbers_bytes);
    unmap(&link->came, &link->came_bytes);
}

const struct ys_dist_link_ops ys_dist_link_shared = {.reserve = reserve, .pass = pass, .finish = finish, .fini = fini};
