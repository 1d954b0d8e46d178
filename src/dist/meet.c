#include "dist/meet.h"

#include "base/clock.h"
#include "dist/meeting_place.h"
#include "dist/namespace_links.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Between two attempts to reach a rank that does not listen yet. */
static const long RETRY_NS = 5000000;
/* A rank greets as soon as it is connected: who has not by then is none, and keeps no others waiting. */
static const uint64_t GREETING_NS = 2000000000;

/* What a rank says of itself when it connects. Both ends are of one version, which yardstick sees to. */
struct greeting {
    char magic[8];
    uint32_t world, rank;
    uint32_t port; /* where it listens for the rank before it; 0 in the ring itself */
    uint32_t transport;
    struct in_addr host;
};
static const char MAGIC[8] = "YSDIST3";

/* Where a rank listens for the one before it. */
struct spot {
    struct in_addr host;
    uint32_t port;
};

/* Where somebody listens. */
struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in ip;
        struct sockaddr_un local;
    } socket;
    socklen_t size;
    char text[40]; /* for messages */
};

struct meeting {
    const struct ys_dist_config *config;
    uint64_t until_ns;
    struct address place; /* of the rendezvous */
    int listen_fd;        /* for the rank before */
    struct spot spots[YS_DIST_RANKS_MOST];
};

static struct address at_port(struct in_addr host, uint16_t port)
{
    struct address place = {.size = sizeof place.socket.ip};
    char text[INET_ADDRSTRLEN] = "";
    place.socket.ip = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = host};
    (void)!inet_ntop(AF_INET, &host, text, sizeof text);
    snprintf(place.text, sizeof place.text, "%s:%d", text, port);
    return place;
}

/** A name that no file has, which goes with the socket. The rendezvous is this run's alone. */
static struct address at_name(const struct meeting *m, uint32_t rank)
{
    struct address place = {.socket.local = {.sun_family = AF_UNIX}};
    const int length =
        snprintf(place.text, sizeof place.text, "@yardstick-dist-%d-%u", ntohs(m->place.socket.ip.sin_port), rank);
    memcpy(place.socket.local.sun_path + 1, place.text + 1, (size_t)length - 1);
    place.size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)length);
    return place;
}

/** Where the ranks meet by what they were told: that of rank 0 and this one's, and the port. */
static ys_status parse_places(const struct ys_dist_config *config, struct ys_dist_wire *wire, uint16_t *port)
{
    const char *own = config->address ? config->address : YS_DIST_LOOPBACK;
    if (!ys_dist_place_read(config->rendezvous, &wire->leader, port))
        return ys_fail(YS_EINVAL, "the rendezvous is \"%s\"; it is ADDRESS:PORT, of IPv4",
                       config->rendezvous ? config->rendezvous : "");
    if (inet_pton(AF_INET, own, &wire->own) != 1)
        return ys_fail(YS_EINVAL, "the address of rank %d is \"%s\"; it is one of IPv4", config->rank, own);
    if (config->wire && config->transport == YS_DIST_MPI)
        return ys_fail(YS_EINVAL, "MPI makes connections of its own, in no network namespace but that of the process: "
                                  "over a wire take the transport tcp");
    if (config->transport != YS_DIST_SHARED)
        return YS_OK;
    if (config->wire)
        return ys_fail(YS_EINVAL, "ranks that share memory have no wire between them: take the transport tcp");
    return wire->own.s_addr == wire->leader.s_addr
               ? YS_OK
               : ys_fail(YS_EINVAL,
                         "rank %d, at %s, shares no memory with rank 0 of another host, at %s: take the "
                         "transport tcp",
                         config->rank, own, config->rendezvous);
}

static ys_status fail_errno(const char *what)
{
    return ys_fail(YS_EIO, "%s: %s", what, strerror(errno));
}

/** What is small must not wait for more. */
static ys_status prepare(int fd, const struct address *place)
{
    const int on = 1;
    const bool is_ip = place->socket.any.sa_family == AF_INET;
    if ((is_ip && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) || fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
        return fail_errno("a connection between ranks");
    return YS_OK;
}

static ys_status new_socket(const struct address *place, int *fd)
{
    *fd = socket(place->socket.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return *fd >= 0 ? YS_OK : fail_errno("no socket for the ranks to meet");
}

/** A port that is 0 becomes the one that was found. */
static ys_status listen_at(struct address *place, int *listen_fd)
{
    const int on = 1;
    socklen_t size = place->size;
    int fd;
    YS_TRY(new_socket(place, &fd));
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, &place->socket.any, place->size) == 0 && listen(fd, 2 * YS_DIST_RANKS_MOST) == 0 &&
        getsockname(fd, &place->socket.any, &size) == 0) {
        *listen_fd = fd;
        return YS_OK;
    }
    ys_status status = ys_fail(YS_EIO, "cannot listen at %s for the other ranks: %s", place->text, strerror(errno));
    close(fd);
    return status;
}

/** Sleeps until `fd` has what is waited for, or it is `until_ns`. */
static ys_status wait_for(const struct meeting *m, int fd, short events, uint64_t until_ns)
{
    for (;;) {
        const uint64_t now_ns = ys_time_ns();
        if (now_ns >= until_ns)
            return ys_fail(YS_ETIMEOUT, "the ranks did not meet in %g s", m->config->patience_s);
        struct pollfd source = {.fd = fd, .events = events};
        const uint64_t left_ms = (until_ns - now_ns) / 1000000 + 1;
        int found = poll(&source, 1, left_ms > 60000 ? 60000 : (int)left_ms);
        if (found > 0)
            return YS_OK;
        if (found < 0 && errno != EINTR)
            return fail_errno("waiting for the other ranks");
    }
}

static ys_status send_all(const struct meeting *m, int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return fail_errno("a rank has gone before all had met");
        if (sent < 0)
            YS_TRY(wait_for(m, fd, POLLOUT, m->until_ns));
        at += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
    }
    return YS_OK;
}

static ys_status receive_all(const struct meeting *m, int fd, void *data, size_t size, uint64_t until_ns)
{
    char *at = data;
    while (size > 0) {
        ssize_t got = recv(fd, at, size, 0);
        if (got == 0)
            return ys_fail(YS_EIO, "a rank has gone before all had met");
        if (got < 0 && errno != EAGAIN && errno != EINTR)
            return fail_errno("a rank has gone before all had met");
        if (got < 0)
            YS_TRY(wait_for(m, fd, POLLIN, until_ns));
        at += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return YS_OK;
}

/** Connects to `place`, where somebody may not listen yet, and greets. */
static ys_status reach(const struct meeting *m, const struct address *place, uint32_t rank, struct spot own,
                       int *reached)
{
    struct greeting greeting = {.world = (uint32_t)m->config->world,
                                .rank = (uint32_t)m->config->rank,
                                .host = own.host,
                                .port = own.port,
                                .transport = (uint32_t)m->config->transport};
    memcpy(greeting.magic, MAGIC, sizeof MAGIC);
    for (;;) {
        int fd;
        YS_TRY(new_socket(place, &fd));
        if (connect(fd, &place->socket.any, place->size) == 0) {
            ys_status status = prepare(fd, place);
            if (status == YS_OK)
                status = send_all(m, fd, &greeting, sizeof greeting);
            if (status == YS_OK)
                *reached = fd;
            else
                close(fd);
            return status;
        }
        const int why = errno;
        close(fd);
        if (why != ECONNREFUSED && why != EINTR && why != ETIMEDOUT)
            return ys_fail(YS_EIO, "cannot reach rank %u at %s: %s", rank, place->text, strerror(why));
        if (ys_time_ns() >= m->until_ns)
            return ys_fail(YS_ETIMEOUT, "rank %u did not come to %s in %g s", rank, place->text, m->config->patience_s);
        nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL);
    }
}

/** Through a Unix socket the kernel says whose process it is. A port it cannot tell of. */
static bool is_ours(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid == 0 || peer.uid == geteuid();
}

/** The next connection whose greeting is one; whoever says something else, or nothing, is no rank, and is sent away. */
static ys_status accept_greeted(const struct meeting *m, const struct address *place, int listen_fd,
                                struct greeting *greeting, int *accepted)
{
    for (;;) {
        YS_TRY(wait_for(m, listen_fd, POLLIN, m->until_ns));
        int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED || errno == EAGAIN))
            continue;
        if (fd < 0)
            return fail_errno("waiting for the other ranks");
        const uint64_t until_ns = ys_time_ns() + GREETING_NS;
        ys_status status = prepare(fd, place);
        if (status == YS_OK)
            status = receive_all(m, fd, greeting, sizeof *greeting, until_ns < m->until_ns ? until_ns : m->until_ns);
        if (status == YS_OK && memcmp(greeting->magic, MAGIC, sizeof MAGIC) == 0 && is_ours(fd)) {
            *accepted = fd;
            return YS_OK;
        }
        close(fd);
    }
}

static ys_status check_greeting(const struct meeting *m, const struct greeting *greeting, const int *fds)
{
    const uint32_t world = (uint32_t)m->config->world;
    if (greeting->world != world || greeting->rank == 0 || greeting->rank >= world)
        return ys_fail(YS_EPROTOCOL, "rank %u of %u came where %u ranks meet", greeting->rank, greeting->world, world);
    if (fds[greeting->rank] >= 0)
        return ys_fail(YS_EPROTOCOL, "rank %u came twice", greeting->rank);
    if (greeting->transport != (uint32_t)m->config->transport)
        return ys_fail(YS_EPROTOCOL, "rank %u has another transport than rank 0, which has %s", greeting->rank,
                       ys_name_of(&ys_dist_transports, (int)m->config->transport));
    return YS_OK;
}

/** Who is not there, for the message. */
static ys_status name_absent(const struct meeting *m, const int *fds)
{
    int first = 1, count = 0;
    for (int r = m->config->world - 1; r > 0; r--)
        if (fds[r] < 0) {
            first = r;
            count++;
        }
    return ys_fail(YS_ETIMEOUT, "%d of %d ranks did not come in %g s, rank %d among them", count, m->config->world,
                   m->config->patience_s, first);
}

/** Rank 0 hears where everybody listens, and tells all. */
static ys_status gather(struct meeting *m, int listen_fd, int *fds)
{
    const int world = m->config->world;
    for (int come = 1; come < world; come++) {
        struct greeting greeting;
        int fd = -1;
        ys_status status = accept_greeted(m, &m->place, listen_fd, &greeting, &fd);
        if (status == YS_ETIMEOUT)
            return name_absent(m, fds);
        YS_TRY(status);
        status = check_greeting(m, &greeting, fds);
        if (status != YS_OK) {
            close(fd);
            return status;
        }
        fds[greeting.rank] = fd;
        m->spots[greeting.rank] = (struct spot){greeting.host, greeting.port};
    }
    for (int r = 1; r < world; r++)
        YS_TRY(send_all(m, fds[r], m->spots, (size_t)world * sizeof *m->spots));
    return YS_OK;
}

static ys_status lead(struct meeting *m)
{
    int listen_fd, fds[YS_DIST_RANKS_MOST];
    for (int r = 0; r < YS_DIST_RANKS_MOST; r++)
        fds[r] = -1;
    YS_TRY(listen_at(&m->place, &listen_fd));
    ys_status status = gather(m, listen_fd, fds);
    for (int r = 1; r < m->config->world; r++)
        if (fds[r] >= 0)
            close(fds[r]);
    close(listen_fd);
    return status;
}

static ys_status follow(struct meeting *m)
{
    int fd;
    YS_TRY(reach(m, &m->place, 0, m->spots[m->config->rank], &fd));
    ys_status status = receive_all(m, fd, m->spots, (size_t)m->config->world * sizeof *m->spots, m->until_ns);
    close(fd);
    return status == YS_ETIMEOUT ? ys_fail_in(status, "rank 0 waits for another rank") : status;
}

/** All know where all listen: each connects to the next, which cannot block, since it listens already. */
static ys_status close_ring(const struct meeting *m, const struct address *own, struct ys_dist_ring *ring)
{
    const uint32_t world = (uint32_t)m->config->world, rank = (uint32_t)m->config->rank;
    const uint32_t next = (rank + 1) % world, before = (rank + world - 1) % world;
    const struct address place = m->config->transport == YS_DIST_SHARED
                                     ? at_name(m, next)
                                     : at_port(m->spots[next].host, (uint16_t)m->spots[next].port);
    struct greeting greeting = {.rank = UINT32_MAX};
    YS_TRY(reach(m, &place, next, (struct spot){.port = 0}, &ring->next_fd));
    while (greeting.rank != before) {
        if (ring->before_fd >= 0)
            close(ring->before_fd);
        ring->before_fd = -1;
        ys_status status = accept_greeted(m, own, m->listen_fd, &greeting, &ring->before_fd);
        if (status == YS_ETIMEOUT)
            return ys_fail(status, "rank %u did not come in %g s", before, m->config->patience_s);
        YS_TRY(status);
    }
    return YS_OK;
}

static ys_status meet(struct meeting *m, struct in_addr host, struct ys_dist_ring *ring)
{
    const bool is_shared = m->config->transport == YS_DIST_SHARED;
    struct address own = is_shared ? at_name(m, (uint32_t)m->config->rank) : at_port(host, 0);
    YS_TRY(listen_at(&own, &m->listen_fd));
    m->spots[m->config->rank] = (struct spot){host, is_shared ? 0 : ntohs(own.socket.ip.sin_port)};
    YS_TRY(m->config->rank == 0 ? lead(m) : follow(m));
    return close_ring(m, &own, ring);
}

ys_status ys_dist_meet(const struct ys_dist_config *config, struct ys_dist_ring *ring)
{
    struct ys_dist_config own = *config;
    if (own.patience_s <= 0)
        own.patience_s = YS_DIST_PATIENCE_S;
    struct meeting m = {.config = &own, .until_ns = ys_time_ns() + (uint64_t)(own.patience_s * 1e9), .listen_fd = -1};
    *ring = (struct ys_dist_ring){-1, -1};
    struct ys_dist_wire wire;
    uint16_t port;
    YS_TRY(parse_places(&own, &wire, &port));
    YS_TRY(ys_dist_wire_enter(config->wire, config->rank, &wire));
    m.place = at_port(wire.leader, port);
    ys_status status = meet(&m, wire.own, ring);
    const ys_status left = ys_dist_wire_leave(&wire);
    status = status == YS_OK ? left : status;
    if (m.listen_fd >= 0)
        close(m.listen_fd);
    if (status != YS_OK && ring->next_fd >= 0)
        close(ring->next_fd);
    if (status != YS_OK && ring->before_fd >= 0)
        close(ring->before_fd);
    if (status != YS_OK)
        *ring = (struct ys_dist_ring){-1, -1};
    return status;
}
