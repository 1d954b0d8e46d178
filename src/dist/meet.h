/* How the ranks come to be a ring. Of this room alone. */
#ifndef YS_DIST_MEET_H
#define YS_DIST_MEET_H

#include "dist/dist.h"

/** Connected stream sockets, non-blocking: to the next rank of the ring and from the one before; -1 where there is no
 * other rank. Of the transport YS_DIST_SHARED they are Unix sockets, which carry descriptors too. */
struct ys_dist_ring {
    int next_fd, before_fd;
};

/** As ys_dist_open() for a world above 1. The sockets are the caller's; none are left after a failure. */
ys_status ys_dist_meet(const struct ys_dist_config *config, struct ys_dist_ring *ring) YS_MUST_CHECK;

#endif
