/* Where the ranks of a run meet: a port of the loopback interface that nobody else takes meanwhile. */
#ifndef YS_DIST_PLACE_H
#define YS_DIST_PLACE_H

#include "base/status.h"

struct ys_dist_place {
    int fd;        /* holds the port; -1: none is held */
    char text[32]; /* "127.0.0.1:PORT" */
};
#define YS_DIST_NO_PLACE ((struct ys_dist_place){.fd = -1})

/** Takes a free port and holds it without listening there, until it is given back. A program that sets SO_REUSEADDR,
 * as servers do, can listen there all the same, for Linux refuses that only where somebody listens already; what the
 * kernel gives out by itself it is not. YS_EIO. */
ys_status ys_dist_place_take(struct ys_dist_place *place) YS_MUST_CHECK;
void ys_dist_place_give_back(struct ys_dist_place *place); /* YS_DIST_NO_PLACE is fine */

#endif
