/* Where the ranks of a run meet: an address of a host, and a port that nobody else takes meanwhile. */
#ifndef YS_DIST_MEETING_PLACE_H
#define YS_DIST_MEETING_PLACE_H

#include "base/status.h"

#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>

struct ys_dist_place {
    int fd;        /* holds the port; -1: none is held */
    char text[32]; /* "ADDRESS:PORT" */
};
#define YS_DIST_NO_PLACE ((struct ys_dist_place){.fd = -1})

#define YS_DIST_LOOPBACK "127.0.0.1"

/** The first address of IPv4 of an interface that is up, the loopback interface apart, in the network namespace of the
 * calling thread. YS_ENOTFOUND: there is none; YS_EIO: the kernel does not tell. */
ys_status ys_dist_place_find(struct in_addr *address) YS_MUST_CHECK;

/** The name of the interface that has this address of IPv4; false where it is that of the loopback interface, or of
 * none. NULL is the loopback interface's. */
bool ys_dist_place_interface(const char *address, char name[IF_NAMESIZE]);

/** Takes a free port of this host's `address`, which is of IPv4, and holds it without listening there, until it is
 * given back. A program that sets SO_REUSEADDR, as servers do, can listen there all the same, for Linux refuses that
 * only where somebody listens already; what the kernel gives out by itself it is not. YS_EINVAL: it is no address;
 * YS_EIO: this host does not have it, or no port. */
ys_status ys_dist_place_take(const char *address, struct ys_dist_place *place) YS_MUST_CHECK;
/** Whether `text`, which may be NULL, is "ADDRESS:PORT" with an address of IPv4 and a port of 1 to 65535, the address
 * then in *address. */
bool ys_dist_place_read(const char *text, struct in_addr *address, uint16_t *port);
void ys_dist_place_give_back(struct ys_dist_place *place); /* YS_DIST_NO_PLACE is fine */

#endif
