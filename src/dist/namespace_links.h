/* Connections of ranks in network namespaces of this machine, one for each rank: hosts that tools/hosts makes, with a
 * wire of a known bandwidth between them. Of this room alone. */
#ifndef YS_DIST_NAMESPACE_LINKS_H
#define YS_DIST_NAMESPACE_LINKS_H

#include "base/status.h"

#include <netinet/in.h>

struct ys_dist_wire {
    int home_fd;                /* where the thread came from; -1: it never left */
    struct in_addr own, leader; /* addresses of this rank and of rank 0 */
};

/** From now on the calling thread's new sockets are in namespace `name` with the rank's number behind it ("h1"), until
 * ys_dist_wire_leave(); `name` NULL: it stays where it is, and both addresses are left as they are. An address is the
 * first of version 4 of an interface that is up. The files are those of `ip netns` (/run/netns).
 * YS_ENOTFOUND: there is no such namespace, or it has no address; YS_EIO: it may not be entered, which takes root. */
ys_status ys_dist_wire_enter(const char *name, int rank, struct ys_dist_wire *wire) YS_MUST_CHECK;
/** Sockets stay where they were made. */
ys_status ys_dist_wire_leave(struct ys_dist_wire *wire) YS_MUST_CHECK;

#endif
