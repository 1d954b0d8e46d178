/* What went through the network interfaces of a process: the kernel counts it by interface, in each network namespace,
 * for all programs in it together. Bytes are those of frames as the interface is handed them: headers of IP and
 * Ethernet are among them, and where large frames are cut by the device itself (TSO) those of one in place of many. */
#ifndef YS_PROBE_NETWORK_INTERFACES_H
#define YS_PROBE_NETWORK_INTERFACES_H

#include "base/json/record.h"
#include "base/status.h"
#include <sys/types.h>

struct ys_interface {
    char *name; /* "eth0" */
    int64_t received_bytes, sent_bytes;
};
extern const struct ys_record ys_interface_record;

/** Those of a network namespace at one moment. */
struct ys_interfaces {
    struct ys_list items; /* struct ys_interface, since each was made, in the kernel's order */
    char space[128];      /* which kernel and namespace: equal texts are one; "": not known */
    char reason[300];     /* why nothing is known; "" where it is */
};

/** Of the namespace that process `pid` is in. `root` as in probe/procfs.h. */
void ys_interfaces_of(const char *root, pid_t pid, struct ys_interfaces *seen);
/** Of the namespace of that file, as `ip netns` makes them in /run/netns; entering it takes root. A thread of its own
 * does, so that the caller stays where it is. */
void ys_interfaces_in(const char *path, struct ys_interfaces *seen);
void ys_interfaces_fini(struct ys_interfaces *seen);

/** Adds to `items` (struct ys_interface) what the text of a /proc/net/dev has; it is taken apart in place. Lines that
 * are none of an interface are passed over. */
void ys_interfaces_parse(char *text, struct ys_list *items);
/** What passed from one look to another, of interfaces that were there at both. */
void ys_interfaces_passed(const struct ys_interfaces *before, const struct ys_interfaces *after,
                          struct ys_list *passed);
/** The one that ranks of other hosts are reached by: that which sent the most, loopback (lo) aside; bridges and what
 * lies below them count the same bytes. NULL: there is none but that. */
const struct ys_interface *ys_interfaces_busiest(const struct ys_list *passed);
/** lo; NULL: there is none. */
const struct ys_interface *ys_interfaces_loopback(const struct ys_list *passed);

#endif
