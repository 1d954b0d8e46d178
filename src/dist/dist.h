/* Data parallelism of the engine's own: the ranks of one run, processes of one host, form a ring of TCP connections on
 * the loopback interface and take means of their gradients over it.
 *
 * A mean is taken in two turns of the ring (Patarasuk and Yuan, 2009: bandwidth-optimal). The numbers are cut into as
 * many pieces as there are ranks. In the first turn each piece goes from rank to rank, each of which adds its own, and
 * arrives summed at one, which divides it; in the second that piece goes round as it is. So the order of every sum is
 * fixed by the number of ranks and the place of the number, all ranks hold the same bits afterwards, and each sends
 * 2 (w - 1) / w of the numbers. Sums are taken in the format of the numbers.
 *
 * Nobody spins: whoever waits sleeps in poll(). */
#ifndef YS_DIST_DIST_H
#define YS_DIST_DIST_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

#define YS_DIST_RANKS_MOST 64 /* of one run */

struct ys_dist;

struct ys_dist_config {
    int rank, world;        /* 0 <= rank < world <= YS_DIST_RANKS_MOST */
    const char *rendezvous; /* "127.0.0.1:PORT": rank 0 listens there, and the others tell it where they do */
    double patience_s;      /* how long the others may take to come; 0: YS_DIST_PATIENCE_S */
};

#define YS_DIST_PATIENCE_S 120.0

/** Meets the other ranks; returns once all of them are there. A world of 1 meets nobody, whatever the rendezvous.
 * YS_EINVAL: the rank, the world or the rendezvous are none; YS_ETIMEOUT: somebody did not come, the message says who;
 * YS_EPROTOCOL: a rank came twice, or counts another world; YS_EIO, YS_ENOMEM. */
ys_status ys_dist_open(const struct ys_dist_config *config, struct ys_dist **dist) YS_MUST_CHECK;
void ys_dist_close(struct ys_dist *dist); /* NULL is fine */

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

#endif
