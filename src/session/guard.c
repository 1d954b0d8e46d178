#include "session/guard.h"

#include "base/files/fs.h"
#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As <linux/landlock.h> has them, which a machine that builds may be too old for. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, GET_VERSION = 1, PATH_BENEATH = 1, LEAST_VERSION = 3 };

struct ruleset_attr {
    uint64_t handled_access_fs;
};

struct path_beneath_attr {
    uint64_t allowed_access;
    int32_t parent_fd;
} __attribute__((packed));

/* Rights by their bits: 1 to write a file, 4 and 5 to remove a folder and a file, 6 and 8 to 12 to make a file, device,
 * socket, pipe, block device and link, 13 to move between folders, 14 to cut a file. To make an empty folder (7) is
 * left to everybody: libraries do that when they are loaded, and it changes nothing that is there. */
static const uint64_t TO_FILES = 1U << 1 | 1U << 14;
static const uint64_t TO_FOLDERS = 1U << 1 | 1U << 4 | 1U << 5 | 1U << 6 | 0x1fU << 8 | 1U << 13 | 1U << 14;

static char *named[YS_GUARD_MOST]; /* by ys_guard_protect(), for as long as the process lives */
static size_t named_count;

/* What is guarded, and the rules that are being made. Paths are real ones. */
struct rules {
    int fd;
    char *guarded[YS_GUARD_MOST + 8];
    size_t count;
    ys_status status;
};

ys_status ys_guard_protect(const char *folder)
{
    for (size_t i = 0; i < named_count; i++)
        if (strcmp(named[i], folder) == 0)
            return YS_OK;
    if (named_count == YS_GUARD_MOST)
        return ys_fail(YS_EINTERNAL, "more than %d folders are to be guarded", YS_GUARD_MOST);
    named[named_count++] = ys_path_absolute(folder);
    return YS_OK;
}

const char *ys_guard_named(size_t index)
{
    return index < named_count ? named[index] : NULL;
}

int ys_guard_version(const char **reason)
{
    static char text[160];
    const char *wish = getenv("YARDSTICK_LANDLOCK");
    int version = (int)syscall(CREATE_RULESET, NULL, 0, GET_VERSION);
    if (wish && strcmp(wish, "off") == 0)
        snprintf(text, sizeof text, "YARDSTICK_LANDLOCK is off");
    else if (version < 0)
        snprintf(text, sizeof text, "the kernel has none: %s",
                 errno == EOPNOTSUPP ? "it was switched off at boot" : strerror(errno));
    else if (version < LEAST_VERSION)
        snprintf(text, sizeof text, "the kernel's is of version %d, which lets files be cut", version);
    else
        return version;
    if (reason)
        *reason = text;
    return 0;
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

/* Adds it as it is on the disk; what is not there needs no guard. Takes `path`. */
static void guard(struct rules *rules, char *path)
{
    char *real = path ? realpath(path, NULL) : NULL;
    char *kept = real && rules->count < sizeof rules->guarded / sizeof *rules->guarded ? ys_strdup(real) : NULL;
    if (kept)
        rules->guarded[rules->count++] = kept;
    free(real);
    ys_free(path);
}

static void list_guarded(struct rules *rules)
{
    static const char *const parts[] = {"adapters", "frameworks"};
    guard(rules, ys_cache_dir());
    guard(rules, ys_strdup(ys_exe_dir()));
    guard(rules, ys_strdup("/sys"));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        guard(rules, ys_find_support(parts[i]));
    for (size_t i = 0; i < named_count; i++)
        guard(rules, ys_strdup(named[i]));
}

static bool is_guarded(const struct rules *rules, const char *path)
{
    for (size_t i = 0; i < rules->count; i++)
        if (is_below(path, rules->guarded[i]))
            return true;
    return false;
}

static bool holds_guarded(const struct rules *rules, const char *path)
{
    for (size_t i = 0; i < rules->count; i++)
        if (is_below(rules->guarded[i], path))
            return true;
    return false;
}

/* Allows what `name` is in the open folder `at` (AT_FDCWD: a whole path). What has gone meanwhile, and what this user
 * may not look at, is passed over: so it stays guarded. `type` is what readdir() says, which saves a look at each. */
static void allow(struct rules *rules, int at, const char *name, unsigned char type)
{
    struct stat file;
    if (type == DT_LNK)
        return;
    int fd = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (type == DT_UNKNOWN && fstat(fd, &file) == 0)
        type = S_ISLNK(file.st_mode) ? DT_LNK : S_ISDIR(file.st_mode) ? DT_DIR : DT_REG;
    if (type != DT_UNKNOWN && type != DT_LNK) {
        struct path_beneath_attr rule = {.allowed_access = type == DT_DIR ? TO_FOLDERS : TO_FILES, .parent_fd = fd};
        if (syscall(ADD_RULE, rules->fd, PATH_BENEATH, &rule, 0) != 0 && errno != EBADFD)
            rules->status =
                ys_fail(YS_EIO, "cannot make the rules of what an adapter may write: %s: %s", name, strerror(errno));
    }
    close(fd);
}

/* Landlock can only allow. So of a folder in which something guarded lies everything else is allowed. */
static void allow_around(struct rules *rules, const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && rules->status == YS_OK && (entry = readdir(dir));) {
        char path[PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            (size_t)snprintf(path, sizeof path, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, entry->d_name) >=
                sizeof path ||
            is_guarded(rules, path))
            continue; /* no rule */
        if (holds_guarded(rules, path))
            allow_around(rules, path);
        else
            allow(rules, dirfd(dir), entry->d_name, entry->d_type);
    }
    if (dir)
        closedir(dir);
}

ys_status ys_guard_open(const char *const *writable, size_t count, int *fd)
{
    const struct ruleset_attr attr = {.handled_access_fs = TO_FOLDERS};
    struct rules rules = {.fd = -1};
    *fd = -1;
    if (ys_guard_version(NULL) == 0)
        return YS_OK;
    rules.fd = (int)syscall(CREATE_RULESET, &attr, sizeof attr, 0);
    if (rules.fd < 0)
        return ys_fail(YS_EIO, "cannot make the rules of what an adapter may write: %s", strerror(errno));
    fcntl(rules.fd, F_SETFD, FD_CLOEXEC);
    list_guarded(&rules);
    if (!is_guarded(&rules, "/"))
        allow_around(&rules, "/");
    for (size_t i = 0; rules.status == YS_OK && i < count; i++)
        if (writable[i])
            allow(&rules, AT_FDCWD, writable[i], DT_UNKNOWN);
    for (size_t i = 0; i < rules.count; i++)
        ys_free(rules.guarded[i]);
    if (rules.status == YS_OK)
        *fd = rules.fd;
    else
        close(rules.fd);
    return rules.status;
}
