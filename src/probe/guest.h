/* Whether this machine is a guest: of a hypervisor, of a container runtime, or of both. */
#ifndef YS_PROBE_GUEST_H
#define YS_PROBE_GUEST_H

#include <stddef.h>

/** What it runs under, into `text`: "KVM", "KVM (Amazon EC2)", "Hyper-V", or "yes (...)" where only the firmware or
 * nothing names it; NULL where nothing says that the machine is virtual. `root` as in probe/procfs.h; the CPU itself is
 * asked only of this machine (""). Costs a few small files. */
const char *ys_guest_hypervisor(const char *root, char *text, size_t size);

/** The kind of container that this process is in, by the traces that the usual ones leave, into `text`: "docker",
 * "podman", "kubernetes", "lxc", or what systemd was told; NULL for none that is known. A virtual machine whose disk
 * was made from a container's image is none. */
const char *ys_guest_container(const char *root, char *text, size_t size);

#endif
