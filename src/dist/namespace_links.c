#include "dist/namespace_links.h"

#include "dist/dist.h"
#include "dist/meeting_place.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static ys_status fail(const char *name, int rank, const char *what)
{
    const char *why = strerror(errno);
    const bool is_absent = errno == ENOENT;
    return ys_fail(is_absent ? YS_ENOTFOUND : YS_EIO, "network namespace %s%d %s: %s (%s)", name, rank, what, why,
                   is_absent ? "tools/hosts makes it" : "entering one takes root");
}

void ys_dist_wire_path(const char *wire, int rank, char path[YS_DIST_WIRE_PATH])
{
    snprintf(path, YS_DIST_WIRE_PATH, "/run/netns/%.200s%d", wire, rank);
}

static ys_status enter(const char *name, int rank)
{
    char path[YS_DIST_WIRE_PATH];
    ys_dist_wire_path(name, rank, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(name, rank, "cannot be opened");
    const int entered = setns(fd, CLONE_NEWNET);
    ys_status status = entered == 0 ? YS_OK : fail(name, rank, "cannot be entered");
    close(fd);
    return status;
}

/** Of the namespace that the thread is in. */
static ys_status find_address(const char *name, int rank, struct in_addr *found)
{
    ys_status status = ys_dist_place_find(found);
    return status == YS_OK ? YS_OK : ys_fail_in(status, "network namespace %s%d", name, rank);
}

ys_status ys_dist_wire_enter(const char *name, int rank, struct ys_dist_wire *wire)
{
    wire->home_fd = -1;
    if (!name)
        return YS_OK;
    wire->home_fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (wire->home_fd < 0)
        return fail(name, rank, "cannot be left again");
    ys_status status = enter(name, 0);
    if (status == YS_OK)
        status = find_address(name, 0, &wire->leader);
    if (status == YS_OK)
        status = enter(name, rank);
    if (status == YS_OK)
        status = find_address(name, rank, &wire->own);
    if (status != YS_OK) {
        char said[400];
        snprintf(said, sizeof said, "%s", ys_error());
        (void)!ys_dist_wire_leave(wire); /* the first sentence says more */
        return ys_fail(status, "%s", said);
    }
    return YS_OK;
}

ys_status ys_dist_wire_leave(struct ys_dist_wire *wire)
{
    if (wire->home_fd < 0)
        return YS_OK;
    const int left = setns(wire->home_fd, CLONE_NEWNET);
    ys_status status = left == 0 ? YS_OK : ys_fail(YS_EIO, "back to the own network namespace: %s", strerror(errno));
    close(wire->home_fd);
    wire->home_fd = -1;
    return status;
}
