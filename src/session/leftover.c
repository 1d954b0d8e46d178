#include "session/leftover.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/size_text.h"
#include "probe/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LEAST_DIGITS = 4, MOST_TOLD = 8 };

static void note(ys_json *set, const char *name)
{
    (void)!ys_json_set_bool(set, name, true); /* without memory less is known, and less removed */
}

static bool has(const ys_json *set, const char *name)
{
    return ys_json_get(set, name) != NULL;
}

/* A line of /proc/sysvipc/shm. */
struct segment {
    int id, creator;
    uint64_t size_bytes;
    uint64_t attached;
    unsigned user;
    char name[32]; /* as in the sets */
};

static void name_segment(char name[32], uint64_t id)
{
    snprintf(name, 32, "segment %" PRIu64, id);
}

static bool read_segment(const char *line, struct segment *segment)
{
    if (sscanf(line, "%*d %d %*o %" SCNu64 " %d %*d %" SCNu64 " %u", &segment->id, &segment->size_bytes,
               &segment->creator, &segment->attached, &segment->user) != 5)
        return false;
    name_segment(segment->name, (uint64_t)segment->id);
    return true;
}

/* Calls `each` for every segment of System V that is there; a kernel without them has none. */
static void go_through_segments(struct ys_leftover *leftover, void *context,
                                void (*each)(struct ys_leftover *, const struct segment *, void *))
{
    struct ys_buf text = {0};
    struct segment segment;
    bool is_read = ys_procfs_read_all("", "/proc/sysvipc/shm", &text) == YS_OK;
    for (const char *line = text.data; is_read && line && *line;) {
        if (read_segment(line, &segment))
            each(leftover, &segment, context);
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    ys_buf_free(&text);
}

static void note_segment(struct ys_leftover *leftover, const struct segment *segment, void *context)
{
    (void)context;
    note(leftover->before, segment->name);
}

void ys_leftover_begin(struct ys_leftover *leftover, const char *const *folders)
{
    static const char *const usual[YS_LEFTOVER_FOLDERS] = {"/dev/shm", "/tmp"};
    *leftover =
        (struct ys_leftover){.before = ys_json_object(), .mapped = ys_json_object(), .numbers = ys_json_object()};
    clock_gettime(CLOCK_REALTIME_COARSE, &leftover->begun); /* the clock that file systems take their times from */
    for (size_t i = 0; i < YS_LEFTOVER_FOLDERS; i++) {
        leftover->folders[i] = folders ? folders[i] : usual[i];
        DIR *folder = opendir(leftover->folders[i]);
        for (struct dirent *entry; folder && (entry = readdir(folder));) {
            char *path = ys_format("%s/%s", leftover->folders[i], entry->d_name);
            note(leftover->before, path);
            ys_free(path);
        }
        if (folder)
            closedir(folder);
    }
    go_through_segments(leftover, NULL, note_segment);
}

/* "... INODE  /SYSV0000002a (deleted)": the inode is the segment's number. */
static void note_mapped_segment(ys_json *known, const char *line)
{
    uint64_t inode;
    char name[32];
    if (strstr(line, "/SYSV") && sscanf(line, "%*s %*s %*s %*s %" SCNu64, &inode) == 1) {
        name_segment(name, inode);
        note(known, name);
    }
}

/* The paths below the folders that `maps` (/proc/PID/maps) has; `known` NULL: only whether `path` is among them. */
static bool look_at_maps(const struct ys_leftover *leftover, char *maps, ys_json *known, const char *path)
{
    for (char *line = maps, *next; line && *line; line = next) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        char *file = strchr(line, '/');
        if (known && file)
            note_mapped_segment(known, line);
        for (size_t i = 0; file && i < YS_LEFTOVER_FOLDERS; i++) {
            size_t length = strlen(leftover->folders[i]);
            if (strncmp(file, leftover->folders[i], length) != 0 || file[length] != '/')
                continue;
            if (path && strcmp(file, path) == 0)
                return true;
            if (known)
                note(known, file);
        }
    }
    return false;
}

void ys_leftover_look(struct ys_leftover *leftover, const struct ys_tree_member *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ys_buf maps = {0};
        char path[64], number[24];
        snprintf(number, sizeof number, "%d", members[i].pid);
        note(leftover->numbers, number);
        snprintf(path, sizeof path, "/proc/%d/maps", members[i].pid);
        if (ys_procfs_read_all("", path, &maps) == YS_OK)
            look_at_maps(leftover, maps.data, leftover->mapped, NULL);
        ys_buf_free(&maps);
    }
}

static bool has_open(pid_t pid, const char *path)
{
    char folder[64], link[96], target[PATH_MAX];
    snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
    DIR *fds = opendir(folder);
    bool found = false;
    for (struct dirent *entry; fds && !found && (entry = readdir(fds));) {
        snprintf(link, sizeof link, "%s/%d", folder, atoi(entry->d_name));
        ssize_t size = entry->d_name[0] == '.' ? -1 : readlink(link, target, sizeof target - 1);
        if (size <= 0)
            continue;
        target[size] = 0;
        found = strcmp(target, path) == 0;
    }
    if (fds)
        closedir(fds);
    return found;
}

/* Whether some process has it open or mapped. */
static bool is_held(const struct ys_leftover *leftover, const char *path)
{
    DIR *processes = opendir("/proc");
    bool found = !processes;
    for (struct dirent *entry; !found && (entry = readdir(processes));) {
        struct ys_buf maps = {0};
        char name[64];
        pid_t pid = atoi(entry->d_name);
        if (pid <= 0)
            continue;
        snprintf(name, sizeof name, "/proc/%d/maps", pid);
        found = ys_procfs_read_all("", name, &maps) == YS_OK && look_at_maps(leftover, maps.data, NULL, path);
        ys_buf_free(&maps);
        found = found || has_open(pid, path);
    }
    if (processes)
        closedir(processes);
    return found;
}

/* Whether the name has the number of one of its processes, with no digit beside it. */
static bool has_number(const struct ys_leftover *leftover, const char *name)
{
    for (const char *c = name; *c;) {
        size_t digits = strspn(c, "0123456789");
        char number[24];
        if (digits >= LEAST_DIGITS && digits < sizeof number) {
            snprintf(number, sizeof number, "%.*s", (int)digits, c);
            if (has(leftover->numbers, number))
                return true;
        }
        c += digits ? digits : 1;
    }
    return false;
}

static bool is_new(const struct ys_leftover *leftover, const struct stat *file)
{
    const struct timespec *changed = &file->st_ctim, *begun = &leftover->begun;
    return file->st_uid == geteuid() && (changed->tv_sec > begun->tv_sec ||
                                         (changed->tv_sec == begun->tv_sec && changed->tv_nsec >= begun->tv_nsec));
}

struct leftover_text {
    struct ys_buf removed, left;
    size_t removed_count, left_count;
};

static void tell(struct ys_buf *text, size_t *count, const char *what, uint64_t size_bytes)
{
    char size[YS_SIZE_TEXT];
    if ((*count)++ < MOST_TOLD)
        ys_buf_printf(text, "%s%s (%s)", *count > 1 ? ", " : "", what, ys_size_text(size_bytes, size));
}

/* `folder` is open, and `name` is one that readdir() gave: nothing is followed, and nothing lies elsewhere. A folder is
 * told of and left. */
static void judge(const struct ys_leftover *leftover, int folder, bool is_shared_memory, const char *path,
                  const char *name, struct leftover_text *told)
{
    struct stat file;
    if (has(leftover->before, path) || fstatat(folder, name, &file, AT_SYMLINK_NOFOLLOW) != 0 ||
        !is_new(leftover, &file))
        return;
    bool is_own = has(leftover->mapped, path) || has_number(leftover, name);
    if ((!is_own && !is_shared_memory) || is_held(leftover, path))
        return;
    if (is_own && !S_ISDIR(file.st_mode) && unlinkat(folder, name, 0) == 0)
        tell(&told->removed, &told->removed_count, path, (uint64_t)file.st_size);
    else
        tell(&told->left, &told->left_count, path, (uint64_t)file.st_size);
}

/* One that nobody is attached to. */
static void judge_segment(struct ys_leftover *leftover, const struct segment *segment, void *context)
{
    struct leftover_text *told = context;
    char creator[24], text[96];
    if (has(leftover->before, segment->name) || segment->attached || segment->user != geteuid())
        return;
    snprintf(creator, sizeof creator, "%d", segment->creator);
    snprintf(text, sizeof text, "shared memory of System V, number %d", segment->id);
    bool is_own = has(leftover->numbers, creator) || has(leftover->mapped, segment->name);
    if (is_own && shmctl(segment->id, IPC_RMID, NULL) == 0)
        tell(&told->removed, &told->removed_count, text, segment->size_bytes);
    else
        tell(&told->left, &told->left_count, text, segment->size_bytes);
}

static void warn(ys_json *warnings, const char *before, struct ys_buf *list, size_t count, const char *after)
{
    char more[48] = "";
    if (count > MOST_TOLD)
        snprintf(more, sizeof more, " and %zu more", count - MOST_TOLD);
    char *text = count && list->data ? ys_format("%s%s%s%s", before, ys_buf_text(list), more, after) : NULL;
    if (text)
        (void)!ys_json_append(warnings, ys_json_string(text));
    ys_free(text);
    ys_buf_free(list);
}

void ys_leftover_end(struct ys_leftover *leftover, ys_json *warnings)
{
    struct leftover_text told = {0};
    if (!leftover->before || !leftover->mapped || !leftover->numbers)
        return;
    for (size_t i = 0; i < YS_LEFTOVER_FOLDERS; i++) {
        DIR *folder = opendir(leftover->folders[i]);
        for (struct dirent *entry; folder && (entry = readdir(folder));) {
            char *path = ys_format("%s/%s", leftover->folders[i], entry->d_name);
            judge(leftover, dirfd(folder), i == 0, path, entry->d_name, &told);
            ys_free(path);
        }
        if (folder)
            closedir(folder);
    }
    go_through_segments(leftover, &told, judge_segment);
    warn(warnings, "it left behind ", &told.removed, told.removed_count, ", which was removed");
    warn(warnings, "", &told.left, told.left_count,
         " appeared while it ran and stayed; whether it is its own is not certain, so it was not removed");
}

void ys_leftover_fini(struct ys_leftover *leftover)
{
    ys_json_free(leftover->before);
    ys_json_free(leftover->mapped);
    ys_json_free(leftover->numbers);
    *leftover = (struct ys_leftover){0};
}
