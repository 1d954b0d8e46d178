#include "probe/own_cgroup.h"
#include "base/clock.h"
#include "base/files/lock.h"
#include "base/mem.h"
#include "probe/cgroup_place.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "yardstick-"
#define THAWED "THAWED"

enum { SWEEP_TRIES = 200 /* of a millisecond, for what was killed to end */ };
enum { MOST_FOLDERS = YS_GROUP_MOST_JOINS, PATH_BYTES = 2 * YS_PROCFS_PATH + 64, TEXT_BYTES = 8192 };

static const uint64_t FREEZE_PATIENCE_NS = 1000000000;

/* What is wanted, in version 2 and in version 1; NULL: nothing by that name. */
enum controller { PART_CPU, PART_MEMORY, PART_TASKS, PART_FREEZER, PARTS };
static const struct {
    const char *name, *controller_1, *file_1, *controller_2, *file_2;
} PARTS_OF[PARTS] = {
    {"processor time", "cpuacct", "cpuacct.usage", NULL, "cpu.stat"},
    {"memory", "memory", "memory.usage_in_bytes", "memory", "memory.current"},
    {"tasks", "pids", "pids.current", "pids", "pids.current"},
    {"freezing", "freezer", "freezer.state", NULL, "cgroup.kill"},
};

/* What is read at each sample, by descriptors that are kept open; of version 1, of version 2. NULL: nothing, it is in
 * the memory file. */
enum kept_file { KEPT_CPU, KEPT_MEMORY, KEPT_NOW, KEPT_PEAK, KEPT_KILLS, KEPT_SWAP, KEPT };
static const struct {
    enum controller part;
    const char *files[2];
} KEPT_OF[KEPT] = {
    {PART_CPU, {"cpuacct.usage", "cpu.stat"}},
    {PART_MEMORY, {"memory.stat", "memory.stat"}},
    {PART_MEMORY, {"memory.usage_in_bytes", "memory.current"}},
    {PART_MEMORY, {"memory.max_usage_in_bytes", "memory.peak"}},
    {PART_MEMORY, {"memory.oom_control", "memory.events"}},
    {PART_MEMORY, {NULL, "memory.swap.current"}},
};

struct folder {
    char path[PATH_BYTES]; /* below the root */
    int join_fd;
    bool is_version_2;
    struct ys_lock lock; /* while nobody may sweep it */
};

struct ys_group {
    char *root;
    struct folder folders[MOST_FOLDERS];
    size_t count;
    const struct folder *has[PARTS]; /* NULL: nobody does */
    int end_fd;
    int kept[KEPT]; /* of what is read at each sample; -1 */
    bool limits_memory;
    char text[160];
};

static bool exists(const char *root, const char *folder, const char *file)
{
    char path[PATH_BYTES + YS_PROCFS_PATH];
    snprintf(path, sizeof path, "%s%s/%s", root, folder, file);
    return access(path, F_OK) == 0;
}

static int open_file(const struct ys_group *group, const char *folder, const char *file)
{
    char path[PATH_BYTES + YS_PROCFS_PATH];
    snprintf(path, sizeof path, "%s%s/%s", group->root, folder, file);
    return open(path, O_WRONLY | O_CLOEXEC);
}

static bool write_file(const struct ys_group *group, const char *folder, const char *file, const char *text)
{
    int fd = open_file(group, folder, file);
    bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return is_written;
}

static bool read_file(const struct ys_group *group, const struct folder *folder, const char *file, char *text,
                      size_t size)
{
    char path[PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", folder->path, file);
    return ys_procfs_read(group->root, path, text, size) > 0;
}

static int open_kept(const struct ys_group *group, enum kept_file kept)
{
    char path[PATH_BYTES + YS_PROCFS_PATH];
    const struct folder *folder = group->has[KEPT_OF[kept].part];
    const char *file = folder ? KEPT_OF[kept].files[folder->is_version_2] : NULL;
    if (!file)
        return -1;
    snprintf(path, sizeof path, "%s%s/%s", group->root, folder->path, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool read_kept(const struct ys_group *group, enum kept_file kept, char *text, size_t size)
{
    return group->kept[kept] >= 0 && ys_procfs_reread(group->kept[kept], text, size) > 0;
}

static uint64_t read_number(const struct ys_group *group, const struct folder *folder, const char *file)
{
    char text[64];
    return read_file(group, folder, file, text, sizeof text) ? strtoull(text, NULL, 10) : 0;
}

/** What this process's groups have in their names and no other's: no number of a process, which another container may
 * have as well. */
static const char *own_mark(void)
{
    static char mark[20];
    uint64_t drawn;
    if (mark[0])
        return mark;
    if (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn)
        drawn = ys_time_ns();
    snprintf(mark, sizeof mark, "%016" PRIx64, drawn);
    return mark;
}

/** The name of a group of this process that no other has, a copy of it that fork() made neither. */
static void next_name(const char *root, char name[64])
{
    static unsigned long made;
    if (root[0])
        snprintf(name, 64, PREFIX "run");
    else
        snprintf(name, 64, PREFIX "%s-%d-%lu", own_mark(), (int)getpid(), ++made);
}

static bool make_folder(const struct ys_group *group, const char *path)
{
    char whole[PATH_BYTES + YS_PROCFS_PATH];
    snprintf(whole, sizeof whole, "%s%s", group->root, path);
    return mkdir(whole, 0755) == 0 || (errno == EEXIST && group->root[0]);
}

static void remove_folder(const struct ys_group *group, const char *path)
{
    char whole[PATH_BYTES + YS_PROCFS_PATH];
    snprintf(whole, sizeof whole, "%s%s", group->root, path);
    if (!group->root[0])
        rmdir(whole);
}

/** Whether the group at `place` sets a limit of its own, which what is made above it would escape. */
static bool has_limit(const char *root, const struct ys_cgroup_place *place, bool is_version_2)
{
    static const char *const files_2[] = {"memory.max", "cpu.max", NULL}, *const files_1[] = {"memory.limit_in_bytes",
                                                                                              "cpu.cfs_quota_us", NULL};
    for (const char *const *file = is_version_2 ? files_2 : files_1; *file; file++) {
        char path[PATH_BYTES], text[64];
        snprintf(path, sizeof path, "%s%s/%s", place->mount, place->group, *file);
        if (ys_procfs_read(root, path, text, sizeof text) <= 0 || strncmp(text, "max", 3) == 0 || text[0] == '-')
            continue;
        if (strtoull(text, NULL, 10) < INT64_MAX / 2)
            return true;
    }
    return false;
}

/** Holds a group for as long as somebody may still put a process into it: nobody sweeps it away then. False: somebody
 * was at it. Where there are no locks nobody sweeps. */
static bool hold(const struct ys_group *group, const char *path, struct ys_lock *lock)
{
    *lock = YS_LOCK_NONE;
    ys_status status = group->root[0] ? YS_OK : ys_lock_take_folder(path, YS_LOCK_SHARED, 0, lock);
    return status == YS_OK || status == YS_EIO;
}

static struct folder *add_folder(struct ys_group *group, const char *path, bool is_version_2)
{
    struct folder *folder = &group->folders[group->count];
    snprintf(folder->path, sizeof folder->path, "%s", path);
    folder->is_version_2 = is_version_2;
    folder->join_fd = open_file(group, path, "cgroup.procs");
    if (folder->join_fd < 0 || !hold(group, path, &folder->lock)) {
        if (folder->join_fd >= 0)
            close(folder->join_fd);
        remove_folder(group, path);
        return NULL;
    }
    group->count++;
    return folder;
}

/** Makes the folder below `place` or the nearest of its ancestors in which `file` then exists; "" where there is none.
 */
static bool make_below(struct ys_group *group, struct ys_cgroup_place place, bool is_version_2, const char *name,
                       const char *file, char path[PATH_BYTES])
{
    do {
        snprintf(path, PATH_BYTES, "%s%s/%s", place.mount, place.group, name);
        if (make_folder(group, path)) {
            if (exists(group->root, path, file))
                return true;
            remove_folder(group, path);
        }
    } while (!has_limit(group->root, &place, is_version_2) && ys_cgroup_go_up(&place));
    return false;
}

/** Version 2 gives children of a group its controllers only when told to, and only where no process is in it: when
 * yardstick is alone in a group that was delegated to it, it moves into a child of that. */
static void pass_on_controllers(const struct ys_group *group, const struct ys_cgroup_place *place)
{
    char own[PATH_BYTES], path[PATH_BYTES + 64], text[TEXT_BYTES];
    snprintf(own, sizeof own, "%s%s", place->mount, place->group);
    snprintf(path, sizeof path, "%s/cgroup.controllers", own);
    if (group->root[0] || ys_procfs_read("", path, text, sizeof text) <= 0 || !strstr(text, "memory"))
        return;
    snprintf(path, sizeof path, "%s/cgroup.subtree_control", own);
    if (ys_procfs_read("", path, text, sizeof text) > 0 && strstr(text, "memory"))
        return;
    snprintf(path, sizeof path, "%s/cgroup.procs", own);
    char *end;
    if (!place->group[0] || ys_procfs_read("", path, text, sizeof text) <= 0 ||
        strtol(text, &end, 10) != (long)getpid() || strcmp(end, "\n") != 0)
        return;
    snprintf(path, sizeof path, "%s/" PREFIX "%s-self", own, own_mark());
    if (mkdir(path, 0755) != 0 || !write_file(group, path, "cgroup.procs", "0")) /* a process in it keeps it there */
        return;
    (void)!write_file(group, own, "cgroup.subtree_control", "+memory");
    (void)!write_file(group, own, "cgroup.subtree_control", "+pids");
}

/** This process's place in version 2, before it moved into a child of it. */
static bool find_version_2(const char *root, struct ys_cgroup_place *place)
{
    char self[64];
    if (!ys_cgroup_find(root, "", place))
        return false;
    snprintf(self, sizeof self, "/" PREFIX "%s-self", own_mark());
    const char *last = strrchr(place->group, '/');
    if (last && strcmp(last, self) == 0)
        ys_cgroup_go_up(place);
    return true;
}

static void take_parts(struct ys_group *group, const struct folder *folder)
{
    for (size_t i = 0; i < PARTS; i++) {
        const char *file = folder->is_version_2 ? PARTS_OF[i].file_2 : PARTS_OF[i].file_1;
        if (!group->has[i] && exists(group->root, folder->path, file))
            group->has[i] = folder;
    }
}

static void make_version_2(struct ys_group *group, const char *name)
{
    static bool lacks_memory; /* as this machine is set up: found out once, for a group is dear to make */
    struct ys_cgroup_place place;
    char path[PATH_BYTES];
    if (!find_version_2(group->root, &place))
        return;
    pass_on_controllers(group, &place);
    if (lacks_memory || !make_below(group, place, true, name, "memory.current", path)) {
        lacks_memory = !group->root[0];
        if (!make_below(group, place, true, name, "cgroup.procs", path))
            return;
    }
    const struct folder *folder = add_folder(group, path, true);
    if (folder)
        take_parts(group, folder);
}

static void make_version_1(struct ys_group *group, const char *name)
{
    for (size_t i = 0; i < PARTS; i++) {
        struct ys_cgroup_place place;
        char path[PATH_BYTES];
        if (group->has[i] && !(i == PART_CPU && group->has[i]->is_version_2))
            continue;
        if (!ys_cgroup_find(group->root, PARTS_OF[i].controller_1, &place) || group->count == MOST_FOLDERS ||
            !make_below(group, place, false, name, PARTS_OF[i].file_1, path))
            continue;
        const struct folder *folder = add_folder(group, path, false);
        if (folder && i == PART_CPU)
            group->has[PART_CPU] = folder; /* nanoseconds, where version 2 has microseconds */
        if (folder)
            take_parts(group, folder); /* hierarchies may have several controllers */
    }
}

static void describe(struct ys_group *group)
{
    size_t used = 0;
    for (int version = 1; version <= 2; version++) {
        bool is_first = true;
        for (size_t i = 0; i < PARTS; i++) {
            if (!group->has[i] || group->has[i]->is_version_2 != (version == 2))
                continue;
            used += (size_t)snprintf(group->text + used, sizeof group->text - used, "%s%s%s",
                                     !is_first ? ", "
                                     : used    ? "; "
                                               : "",
                                     is_first ? (version == 2 ? "version 2: " : "version 1: ") : "", PARTS_OF[i].name);
            is_first = false;
        }
    }
}

/** The limit on memory with swap as well, so that what does not fit is not moved out in silence. */
static bool limit_memory(const struct ys_group *group, uint64_t limit_bytes)
{
    const struct folder *folder = group->has[PART_MEMORY];
    char text[32];
    if (!folder || !limit_bytes)
        return false;
    snprintf(text, sizeof text, "%" PRIu64, limit_bytes);
    if (!write_file(group, folder->path, folder->is_version_2 ? "memory.max" : "memory.limit_in_bytes", text))
        return false;
    if (folder->is_version_2) {
        (void)!write_file(group, folder->path, "memory.swap.max", "0");
        (void)!write_file(group, folder->path, "memory.oom.group", "1");
    } else {
        (void)!write_file(group, folder->path, "memory.memsw.limit_in_bytes", text);
    }
    return true;
}

ys_status ys_group_open(const char *root, uint64_t memory_limit_bytes, struct ys_group **group)
{
    char name[64];
    *group = NULL;
    struct ys_group *made = ys_alloc(1, sizeof *made);
    *made = (struct ys_group){.root = ys_strdup(root), .end_fd = -1};
    for (size_t i = 0; i < KEPT; i++)
        made->kept[i] = -1;
    next_name(root, name);
    errno = 0;
    make_version_2(made, name);
    make_version_1(made, name);
    if (!made->has[PART_CPU]) {
        int error = errno;
        bool is_there = exists(root, "/proc/self", "cgroup") && exists(root, "/sys/fs/cgroup", ".");
        ys_group_close(made);
        if (!is_there || error == 0) /* in `ip netns exec` the folder is there, and empty */
            return ys_fail(YS_ENOTFOUND, "the kernel's control groups are not mounted");
        return ys_fail(YS_ENOTFOUND,
                       "yardstick may not make one here (%s); start it as root, or with `systemd-run --user --scope -p "
                       "Delegate=yes yardstick ...`",
                       strerror(error));
    }
    made->limits_memory = limit_memory(made, memory_limit_bytes);
    const struct folder *freezer = made->has[PART_FREEZER];
    if (freezer)
        made->end_fd = open_file(made, freezer->path, freezer->is_version_2 ? "cgroup.kill" : "freezer.state");
    for (size_t i = 0; i < KEPT; i++)
        made->kept[i] = open_kept(made, i);
    describe(made);
    *group = made;
    return YS_OK;
}

size_t ys_group_joins(const struct ys_group *group, int *fds)
{
    for (size_t i = 0; i < group->count; i++)
        fds[i] = group->folders[i].join_fd;
    return group->count;
}

void ys_group_joined(struct ys_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        if (group->folders[i].join_fd >= 0)
            close(group->folders[i].join_fd);
        group->folders[i].join_fd = -1;
    }
}

int ys_group_end_fd(const struct ys_group *group, const char **word)
{
    *word = group->has[PART_FREEZER] && group->has[PART_FREEZER]->is_version_2 ? "1" : THAWED;
    return group->end_fd;
}

bool ys_group_limits_memory(const struct ys_group *group)
{
    return group->limits_memory;
}

bool ys_group_counts_kills(const struct ys_group *group)
{
    return group->kept[KEPT_KILLS] >= 0;
}

bool ys_group_can_kill(const struct ys_group *group)
{
    return group->has[PART_FREEZER] != NULL;
}

const char *ys_group_text(const struct ys_group *group)
{
    return group->text;
}

static void sample_cpu(const struct ys_group *group, struct ys_group_usage *usage)
{
    char text[TEXT_BYTES];
    int64_t total_us, user_us = 0, system_us = 0;
    if (!read_kept(group, KEPT_CPU, text, sizeof text))
        return;
    if (!group->has[PART_CPU]->is_version_2) {
        usage->has_cpu = true;
        usage->cpu_ns = strtoull(text, NULL, 10);
        return;
    }
    if (!ys_procfs_field(text, "usage_usec", &total_us))
        return;
    ys_procfs_field(text, "user_usec", &user_us);
    ys_procfs_field(text, "system_usec", &system_us);
    usage->has_cpu = true;
    usage->cpu_ns = (uint64_t)total_us * 1000;
    usage->user_ns = (uint64_t)user_us * 1000;
    usage->system_ns = (uint64_t)system_us * 1000;
}

static void sample_memory(const struct ys_group *group, struct ys_group_usage *usage)
{
    char text[TEXT_BYTES];
    int64_t held = 0, shared = 0, file = 0, swap = 0, kills;
    uint64_t now_bytes = 0;
    if (!read_kept(group, KEPT_MEMORY, text, sizeof text))
        return;
    bool is_2 = group->has[PART_MEMORY]->is_version_2;
    usage->has_memory = ys_procfs_field(text, is_2 ? "anon" : "total_rss", &held) &&
                        ys_procfs_field(text, is_2 ? "file" : "total_cache", &file);
    ys_procfs_field(text, is_2 ? "shmem" : "total_shmem", &shared);
    usage->held_bytes = (uint64_t)(held + shared);
    usage->cache_bytes = (uint64_t)(file > shared ? file - shared : 0);
    if (!is_2 && ys_procfs_field(text, "total_swap", &swap))
        usage->swap_bytes = (uint64_t)swap;
    if (read_kept(group, KEPT_NOW, text, sizeof text))
        now_bytes = strtoull(text, NULL, 10);
    usage->other_bytes = now_bytes > usage->held_bytes ? now_bytes - usage->held_bytes : 0;
    if (read_kept(group, KEPT_PEAK, text, sizeof text))
        usage->peak_bytes = strtoull(text, NULL, 10);
    if (read_kept(group, KEPT_SWAP, text, sizeof text))
        usage->swap_bytes = strtoull(text, NULL, 10);
    if (read_kept(group, KEPT_KILLS, text, sizeof text) && ys_procfs_field(text, "oom_kill", &kills))
        usage->oom_kills = kills;
}

void ys_group_sample(const struct ys_group *group, struct ys_group_usage *usage)
{
    sample_cpu(group, usage);
    sample_memory(group, usage);
}

void ys_group_read(const struct ys_group *group, struct ys_group_usage *usage)
{
    const struct folder *cpu = group->has[PART_CPU];
    *usage = (struct ys_group_usage){.oom_kills = -1};
    ys_group_sample(group, usage);
    if (!cpu->is_version_2) {
        usage->user_ns = read_number(group, cpu, "cpuacct.usage_user");
        usage->system_ns = read_number(group, cpu, "cpuacct.usage_sys");
    }
    if (!group->has[PART_TASKS])
        return;
    usage->has_tasks = true;
    usage->tasks_peak = read_number(group, group->has[PART_TASKS], "pids.peak");
}

static void kill_members(const char *root, const char *folder)
{
    struct ys_buf text = {0};
    char path[PATH_BYTES + 400];
    snprintf(path, sizeof path, "%s/cgroup.procs", folder);
    if (ys_procfs_read_all(root, path, &text) == YS_OK) {
        for (const char *at = ys_buf_text(&text);;) {
            char *end;
            long pid = strtol(at, &end, 10);
            if (end == at)
                break;
            if (pid > 1 && !root[0])
                kill((pid_t)pid, SIGKILL);
            at = end;
        }
    }
    ys_buf_free(&text);
}

static bool is_all_frozen(const struct ys_group *group, const struct folder *folder)
{
    char state[TEXT_BYTES];
    int64_t is_frozen = 0;
    if (!read_file(group, folder, folder->is_version_2 ? "cgroup.events" : "freezer.state", state, sizeof state))
        return true; /* it has gone */
    if (!folder->is_version_2)
        return strncmp(state, "FROZEN", 6) == 0;
    return !ys_procfs_field(state, "frozen", &is_frozen) || is_frozen == 1;
}

bool ys_group_freeze(const struct ys_group *group, bool is_frozen)
{
    const struct folder *folder = group->has[PART_FREEZER];
    if (!folder)
        return false;
    const bool is_2 = folder->is_version_2;
    const char *word = is_2 ? (is_frozen ? "1" : "0") : is_frozen ? "FROZEN" : THAWED;
    if (!write_file(group, folder->path, is_2 ? "cgroup.freeze" : "freezer.state", word))
        return false;
    for (uint64_t until_ns = ys_time_ns() + FREEZE_PATIENCE_NS; is_frozen && !is_all_frozen(group, folder);) {
        struct timespec pause = {.tv_nsec = 200000};
        if (ys_time_ns() >= until_ns)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

void ys_group_kill(const struct ys_group *group)
{
    const struct folder *folder = group->has[PART_FREEZER];
    if (!folder)
        return;
    if (folder->is_version_2) {
        (void)!write(group->end_fd, "1", 1);
        return;
    }
    (void)!ys_group_freeze(group, true); /* only once all of them are frozen can none be born any more */
    kill_members(group->root, folder->path);
    (void)!ys_group_freeze(group, false);
}

void ys_group_close(struct ys_group *group)
{
    if (!group)
        return;
    ys_group_joined(group);
    if (group->end_fd >= 0)
        close(group->end_fd);
    for (size_t i = 0; i < KEPT; i++)
        if (group->kept[i] >= 0)
            close(group->kept[i]);
    for (size_t i = 0; i < group->count; i++) {
        remove_folder(group, group->folders[i].path);
        ys_lock_release(&group->folders[i].lock);
    }
    ys_free(group->root);
    ys_free(group);
}

static void write_into(const char *folder, const char *file, const char *word)
{
    char path[PATH_BYTES + 400];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return; /* of another version, or another controller's */
    (void)!write(fd, word, strlen(word));
    close(fd);
}

/** Of a yardstick that was killed with all of its keepers: whatever is in it, frozen perhaps, belongs to nobody. */
static void sweep_folder(const char *folder)
{
    write_into(folder, "cgroup.kill", "1");
    kill_members("", folder);
    write_into(folder, "freezer.state", THAWED);
    for (int i = 0; rmdir(folder) != 0 && errno == EBUSY && i < SWEEP_TRIES; i++) {
        struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
}

static void sweep_place(struct ys_cgroup_place place)
{
    do {
        char path[PATH_BYTES], name[PATH_BYTES + 300];
        snprintf(path, sizeof path, "%s%s", place.mount, place.group);
        DIR *folder = opendir(path);
        for (struct dirent *entry; folder && (entry = readdir(folder));) {
            struct ys_lock lock;
            snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
            if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0 ||
                ys_lock_take_folder(name, YS_LOCK_ALONE, 0, &lock) != YS_OK)
                continue;
            sweep_folder(name);
            ys_lock_release(&lock);
        }
        if (folder)
            closedir(folder);
    } while (ys_cgroup_go_up(&place));
}

void ys_group_sweep(const char *root)
{
    struct ys_cgroup_place place;
    if (root[0])
        return;
    if (find_version_2(root, &place))
        sweep_place(place);
    for (size_t i = 0; i < PARTS; i++)
        if (ys_cgroup_find(root, PARTS_OF[i].controller_1, &place))
            sweep_place(place);
}
