#include "probe/cgroup.h"
#include "probe/cgroup_place.h"
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 16384 };

/* Version 1 says "no limit" by the largest multiple of the page size that fits. */
static const int64_t NO_LIMIT_BYTES = INT64_MAX / 2;

/** Whether `word` is an entry of the comma-separated `list`, which ends at a blank, a colon or the end. */
static bool lists(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (;;) {
        size_t entry = strcspn(list, ",: \n");
        if (entry == length && strncmp(list, word, length) == 0)
            return true;
        if (list[entry] != ',')
            return false;
        list += entry + 1;
    }
}

/** Our path in the hierarchy that has `controller` ("" is version 2), from the text of /proc/self/cgroup. */
static bool own_path(const char *text, const char *controller, char *path, size_t size)
{
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line ? 1 : 0) {
        const char *controllers = strchr(line, ':'), *found;
        if (!controllers || !(found = strchr(controllers + 1, ':')))
            return false;
        if (!lists(controllers + 1, controller))
            continue;
        int length = (int)strcspn(found + 1, "\n");
        return (size_t)snprintf(path, size, "%.*s", length, found + 1) < size;
    }
    return false;
}

/** Fields of a line of /proc/self/mountinfo (proc(5)): root and mount point, then after " - " type, source, options. */
static bool mount_of_line(const char *line, const char *controller, char *root, struct ys_cgroup_place *place)
{
    char type[32], options[512], whole[4096];
    snprintf(whole, sizeof whole, "%.*s", (int)strcspn(line, "\n"), line);
    const char *tail = strstr(whole, " - ");
    if (!tail || sscanf(whole, "%*s %*s %*s %511s %511s", root, place->mount) != 2 ||
        sscanf(tail, " - %31s %*s %511s", type, options) != 2)
        return false;
    return controller[0] ? strcmp(type, "cgroup") == 0 && lists(options, controller) : strcmp(type, "cgroup2") == 0;
}

/** The text of /proc/self/mountinfo, NULL when unreadable. That of this machine is read once: a hierarchy is mounted
 * when the machine starts, and to list all mounts takes the kernel longer than all else that is asked of a group. */
static const char *read_mounts(const char *root)
{
    static _Thread_local char own[4 * TEXT_BYTES], other[4 * TEXT_BYTES];
    char *text = root[0] ? other : own;
    if (!root[0] && own[0])
        return own;
    return ys_procfs_read(root, "/proc/self/mountinfo", text, sizeof own) > 0 ? text : NULL;
}

bool ys_cgroup_find(const char *root, const char *controller, struct ys_cgroup_place *place)
{
    static _Thread_local char groups[TEXT_BYTES];
    char path[YS_PROCFS_PATH], mount_root[YS_PROCFS_PATH];
    if (ys_procfs_read(root, "/proc/self/cgroup", groups, sizeof groups) <= 0 ||
        !own_path(groups, controller, path, sizeof path))
        return false;
    for (const char *line = read_mounts(root); line && *line; line = strchr(line, '\n'), line += line ? 1 : 0) {
        if (!mount_of_line(line, controller, mount_root, place))
            continue;
        /* In a container the mount may show only a part of the hierarchy, or paths may be seen from inside already. */
        size_t hidden = strcmp(mount_root, "/") == 0 ? 0 : strlen(mount_root);
        const char *below = strncmp(path, mount_root, hidden) == 0 ? path + hidden : path;
        snprintf(place->group, sizeof place->group, "%s", strcmp(below, "/") == 0 ? "" : below);
        return true;
    }
    return false;
}

bool ys_cgroup_go_up(struct ys_cgroup_place *place)
{
    char *slash = strrchr(place->group, '/');
    if (!slash)
        return false;
    *slash = 0;
    return true;
}

static bool read_file(const char *root, const struct ys_cgroup_place *place, const char *name, char *text, size_t size)
{
    char path[2 * YS_PROCFS_PATH + 64];
    snprintf(path, sizeof path, "%s%s/%s", place->mount, place->group, name);
    return ys_procfs_read(root, path, text, size) > 0;
}

static void take_quota(struct ys_cgroup *cgroup, double quota_us, double period_us)
{
    if (quota_us <= 0 || period_us <= 0)
        return;
    if (!cgroup->has_cpu_quota || quota_us / period_us < cgroup->quota_cores)
        cgroup->quota_cores = quota_us / period_us;
    cgroup->has_cpu_quota = true;
}

static void take_limit(struct ys_cgroup *cgroup, const char *text)
{
    char *end;
    long long limit = strtoll(text, &end, 10); /* "max" is no number */
    if (end == text || limit >= NO_LIMIT_BYTES)
        return;
    if (!cgroup->has_memory_limit || limit < cgroup->memory_limit_bytes)
        cgroup->memory_limit_bytes = limit;
    cgroup->has_memory_limit = true;
}

static void take_throttled(const char *root, const struct ys_cgroup_place *place, const char *key, double unit_s,
                           struct ys_cgroup *cgroup)
{
    char text[4096];
    int64_t throttled;
    if (read_file(root, place, "cpu.stat", text, sizeof text) && ys_procfs_field(text, key, &throttled))
        cgroup->throttled_s = (double)throttled * unit_s;
}

static void count_kills(const char *root, const struct ys_cgroup_place *place, const char *file,
                        struct ys_cgroup *cgroup)
{
    char text[4096];
    if (read_file(root, place, file, text, sizeof text))
        (void)ys_procfs_field(text, "oom_kill", &cgroup->oom_kills);
}

static void limit_version_2(const char *root, struct ys_cgroup_place place, struct ys_cgroup *cgroup)
{
    char text[4096];
    do {
        double quota, period;
        if (read_file(root, &place, "cpu.max", text, sizeof text) && sscanf(text, "%lf %lf", &quota, &period) == 2)
            take_quota(cgroup, quota, period);
        if (read_file(root, &place, "memory.max", text, sizeof text))
            take_limit(cgroup, text);
    } while (ys_cgroup_go_up(&place));
}

static void limit_cpu_1(const char *root, struct ys_cgroup_place place, struct ys_cgroup *cgroup)
{
    char text[64], period[64];
    do {
        if (read_file(root, &place, "cpu.cfs_quota_us", text, sizeof text) &&
            read_file(root, &place, "cpu.cfs_period_us", period, sizeof period))
            take_quota(cgroup, strtod(text, NULL), strtod(period, NULL));
    } while (ys_cgroup_go_up(&place));
}

static void limit_memory_1(const char *root, struct ys_cgroup_place place, struct ys_cgroup *cgroup)
{
    char text[64];
    do {
        if (read_file(root, &place, "memory.limit_in_bytes", text, sizeof text))
            take_limit(cgroup, text);
    } while (ys_cgroup_go_up(&place));
}

static void take(const char *root, bool with_limits, struct ys_cgroup *cgroup)
{
    struct ys_cgroup_place place;
    *cgroup = (struct ys_cgroup){.oom_kills = -1, .throttled_s = -1};
    if (ys_cgroup_find(root, "", &place)) {
        count_kills(root, &place, "memory.events", cgroup);
        take_throttled(root, &place, "throttled_usec", 1e-6, cgroup);
        if (with_limits)
            limit_version_2(root, place, cgroup);
    }
    if (ys_cgroup_find(root, "cpu", &place)) {
        take_throttled(root, &place, "throttled_time", 1e-9, cgroup);
        if (with_limits)
            limit_cpu_1(root, place, cgroup);
    }
    if (ys_cgroup_find(root, "memory", &place)) {
        count_kills(root, &place, "memory.oom_control", cgroup);
        if (with_limits)
            limit_memory_1(root, place, cgroup);
    }
}

void ys_cgroup_read(const char *root, struct ys_cgroup *cgroup)
{
    take(root, true, cgroup);
}

void ys_cgroup_count(const char *root, struct ys_cgroup *cgroup)
{
    take(root, false, cgroup);
}
