/* Data parallelism of the engine's own: the ranks of one run, processes of one host or of several, form a ring and take
 * means of their gradients over it: through TCP connections between the addresses of their hosts or, where each has a
 * network namespace of its own, over the wire between these, on one host through memory that neighbours share, or by
 * messages of MPI where such a library is there.
 *
 * A mean is taken in two turns of the ring (Patarasuk and Yuan, 2009: bandwidth-optimal). The numbers are cut into as
 * many pieces as there are ranks. In the first turn each piece goes from rank to rank, each of which adds its own, and
 * arrives summed at one, which divides it; in the second that piece goes round as it is. So the order of every sum is
 * fixed by the number of ranks and the place of the number, all ranks hold the same bits afterwards, whichever the
 * transport, and each sends 2 (w - 1) / w of the numbers. Sums are taken in the format of the numbers.
 *
 * Through TCP nobody waits for the end of a piece: what has come in and is summed goes on at once (tcp.c).
 *
 * Means that are begun are taken one after the other by a thread of their own, while the caller goes on. Nobody spins:
 * whoever waits sleeps. One thread calls these functions. */
#ifndef YS_DIST_DIST_H
#define YS_DIST_DIST_H

#include "base/json/shared_words.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_DIST_RANKS_MOST 64 /* of one run */

enum ys_dist_transport { YS_DIST_TCP, YS_DIST_SHARED, YS_DIST_MPI };
extern const struct ys_names ys_dist_transports; /* "tcp", "shared", "mpi" */

struct ys_dist;

struct ys_dist_config {
    int rank, world;                  /* 0 <= rank < world <= YS_DIST_RANKS_MOST */
    const char *rendezvous;           /* "ADDRESS:PORT": rank 0 listens there, and the others tell it where they do */
    const char *address;              /* of IPv4, at which the others reach this rank; NULL: 127.0.0.1 */
    double patience_s;                /* how long the others may take to come; 0: YS_DIST_PATIENCE_S */
    enum ys_dist_transport transport; /* of all ranks the same */
    const char *wire; /* NULL: connections are between the addresses above; else in network namespaces of this machine,
                         for rank r the one of that name with r behind it ("h0", "h1"); YS_DIST_TCP alone */
};

#define YS_DIST_PATIENCE_S 120.0

enum { YS_DIST_WIRE_PATH = 300 };
/** The file of the network namespace in which rank `rank` has its connections over the wire of that name. */
void ys_dist_wire_path(const char *wire, int rank, char path[YS_DIST_WIRE_PATH]);

/** Meets the other ranks; returns once all of them are there. A world of 1 meets nobody, whatever the rendezvous. Who
 * connects and does not say within 2 s which rank it is, is sent away.
 * YS_EINVAL: the rank, the world, the rendezvous or the address are none, or memory is to be shared over a wire or with
 * another host; YS_ENOTFOUND: a
 * network namespace is not there, or has no address, or no library of MPI; YS_ETIMEOUT: somebody did not come, the
 * message says who; YS_EPROTOCOL: a rank came twice, counts another world, or has another transport; YS_EIO, YS_ENOMEM.
 */
ys_status ys_dist_open(const struct ys_dist_config *config, struct ys_dist **dist) YS_MUST_CHECK;
/** Means that are under way are broken off. NULL is fine. */
void ys_dist_close(struct ys_dist *dist);

/** Consecutive numbers, which a mean replaces. */
struct ys_dist_part {
    void *values; /* double, or float */
    size_t count;
};

/** Replaces each number by the mean of those that the ranks have at its place. All ranks call it with as many numbers,
 * of one format, in the same order of calls; where the rank before has others it is YS_EPROTOCOL. Waits as long as it
 * takes: limits are those of whoever started the ranks. YS_EIO: a neighbour in the ring has gone, the message says
 * which. After a failure the numbers are undefined, and every later mean is the same failure. */
ys_status ys_dist_mean(struct ys_dist *dist, const struct ys_dist_part *parts, size_t count,
                       bool is_double) YS_MUST_CHECK;
/** The same in two halves: until ys_dist_wait() has returned, `parts` and the numbers are the other thread's. Any
 * number of means may be under way. */
ys_status ys_dist_begin(struct ys_dist *dist, const struct ys_dist_part *parts, size_t count,
                        bool is_double) YS_MUST_CHECK;
/** Until all means that were begun are taken, or one has failed. */
ys_status ys_dist_wait(struct ys_dist *dist) YS_MUST_CHECK;

/** Since open, of means that are taken: bytes that went to the next rank, all of them, and the time during which a mean
 * was being taken. */
struct ys_dist_counters {
    uint64_t sent_bytes, busy_ns;
};
/** No mean may be under way. */
struct ys_dist_counters ys_dist_counters(const struct ys_dist *dist);

/** What a rank sends in a mean of that many numbers of `size` bytes: its share of two turns of the ring, and before
 * them what it is about to send. */
uint64_t ys_dist_mean_bytes(size_t count, size_t size, int rank, int world);

#endif
