/* Where the ranks of a run meet: a port of a host that nobody else takes meanwhile. */
#ifndef YS_DIST_PLACE_H
#define YS_DIST_PLACE_H

#include "base/status.h"

struct ys_dist_place {
    int fd;        /* holds the port; -1: none is held */
    char text[32]; /* "ADDRESS:PORT" */
};
#define YS_DIST_NO_PLACE ((struct ys_dist_place){.fd = -1})

#define YS_DIST_LOOPBACK "127.0.0.1"

/** Takes a free port of this host's `address`, which is of IPv4, and holds it without listening there, until it is
 * given back. A program that sets SO_REUSEADDR, as servers do, can listen there all the same, for Linux refuses that
 * only where somebody listens already; what the kernel gives out by itself it is not. YS_EINVAL: it is no address;
 * YS_EIO: this host does not have it, or no port. */
ys_status ys_dist_place_take(const char *address, struct ys_dist_place *place) YS_MUST_CHECK;
void ys_dist_place_give_back(struct ys_dist_place *place); /* YS_DIST_NO_PLACE is fine */

#endif
