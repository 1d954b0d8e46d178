/* Where this process's control groups lie. Internal to this room. */
#ifndef YS_PROBE_CGROUP_PLACE_H
#define YS_PROBE_CGROUP_PLACE_H

#include "probe/procfs.h"
#include <stdbool.h>

struct ys_cgroup_place {
    char mount[YS_PROCFS_PATH]; /* where the hierarchy is mounted */
    char group[YS_PROCFS_PATH]; /* our group below it: "" or "/a/b" */
};

/** Where the group with `controller` of version 1 ("" is version 2) of this process lies; false where there is none. */
bool ys_cgroup_find(const char *root, const char *controller, struct ys_cgroup_place *place);
/** Cuts the last part off the group's path; false when it was the top already. */
bool ys_cgroup_go_up(struct ys_cgroup_place *place);

#endif
