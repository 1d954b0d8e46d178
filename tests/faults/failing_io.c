/* Lets the n-th call of a program that changes a disk fail, or be its last: loaded with LD_PRELOAD into a whole
 * yardstick, SQLite and all, as ys_mem_fail_at() does it for memory inside one. A write that fails has written nothing.
 *
 *     YS_FAULT_PROGRAM  base name of the executable it is for; others that inherit LD_PRELOAD are left alone
 *     YS_FAULT_BELOW    calls count that concern a path below one of these folders, parted by ':'
 *     YS_FAULT_CALLS    which count: write sync rename close truncate open make remove, parted by ','; else all
 *     YS_FAULT_AT       the number of the call that fails, from 1; 0: none
 *     YS_FAULT_HOW      "kill": SIGKILL in place of the call. "interrupt": SIGINT before it. "EIO": this call fails.
 *                       "ENOSPC": this one and all later ones that would take room fail, as on a disk that is full
 *     YS_FAULT_TRACE    a file: one line a counted call, "NUMBER CALL PATH" */
#undef _FILE_OFFSET_BITS /* the calls of both sizes are told apart here */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static bool is_active;
static const char *below, *calls, *how;
static long at, count;
static int trace = -1;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void set_up(void)
{
    char self[PATH_MAX];
    const char *program = getenv("YS_FAULT_PROGRAM"), *number = getenv("YS_FAULT_AT"), *path = getenv("YS_FAULT_TRACE");
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (!program || length <= 0)
        return;
    self[length] = 0;
    const char *slash = strrchr(self, '/');
    is_active = strcmp(slash ? slash + 1 : self, program) == 0;
    below = getenv("YS_FAULT_BELOW");
    calls = getenv("YS_FAULT_CALLS");
    how = getenv("YS_FAULT_HOW");
    at = number ? strtol(number, NULL, 10) : 0;
    if (is_active && path)
        trace = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

/* Whether `word` is one of the comma-separated `list`. */
static bool is_listed(const char *word, const char *list)
{
    size_t length = strlen(word);
    for (const char *item = list; item && *item; item += strcspn(item, ","), item += *item == ',')
        if (strncmp(item, word, length) == 0 && (item[length] == ',' || !item[length]))
            return true;
    return !list || !*list;
}

static bool is_below(const char *path)
{
    for (const char *folder = below; folder && *folder;) {
        size_t length = strcspn(folder, ":");
        if (strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]))
            return true;
        folder += length + (folder[length] == ':');
    }
    return false;
}

/* Whether this call is to fail; errno says how. `takes_room`: it cannot be done on a full disk. */
static bool fails(const char *call, const char *path, bool takes_room)
{
    if (!is_active || !path || !is_below(path) || !is_listed(call, calls))
        return false;
    pthread_mutex_lock(&counting);
    long number = ++count;
    if (trace >= 0) {
        char line[PATH_MAX + 64];
        int size = snprintf(line, sizeof line, "%ld %s %s\n", number, call, path);
        syscall(SYS_write, trace, line, (size_t)size);
    }
    pthread_mutex_unlock(&counting);
    bool full = how && strcmp(how, "ENOSPC") == 0;
    if (at == 0 || number < at || (number > at && !(full && takes_room)))
        return false;
    if (how && strcmp(how, "kill") == 0) {
        kill(getpid(), SIGKILL);
        for (;;)
            pause();
    }
    if (how && strcmp(how, "interrupt") == 0) {
        kill(getpid(), SIGINT);
        return false;
    }
    errno = full ? ENOSPC : EIO;
    return !full || takes_room;
}

/* The path of an open regular file or folder; false for anything else. */
static bool path_of(int fd, char *path)
{
    char name[64];
    struct stat file;
    if (!is_active || syscall(SYS_newfstatat, fd, "", &file, 0x1000 /* AT_EMPTY_PATH */) != 0 ||
        !(S_ISREG(file.st_mode) || S_ISDIR(file.st_mode)))
        return false;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, PATH_MAX - 1);
    path[length > 0 ? length : 0] = 0;
    return length > 0;
}

static bool fd_fails(const char *call, int fd, bool takes_room)
{
    char path[PATH_MAX];
    int saved = errno;
    bool failed = path_of(fd, path) && fails(call, path, takes_room);
    if (!failed)
        errno = saved;
    return failed;
}

/* A path as the call had it, made absolute. */
static bool name_fails(const char *call, const char *name, bool takes_room)
{
    char path[2 * PATH_MAX], folder[PATH_MAX];
    if (!is_active || !name)
        return false;
    if (name[0] == '/' || !getcwd(folder, sizeof folder))
        snprintf(path, sizeof path, "%s", name);
    else
        snprintf(path, sizeof path, "%s/%s", folder, name);
    return fails(call, path, takes_room);
}

#define NEXT(type, name, ...)                                                                                          \
    static type (*next)(__VA_ARGS__);                                                                                  \
    if (!next)                                                                                                         \
    *(void **)&next = dlsym(RTLD_NEXT, name)

EXPORT ssize_t write(int fd, const void *data, size_t size)
{
    NEXT(ssize_t, "write", int, const void *, size_t);
    return fd_fails("write", fd, true) ? -1 : next(fd, data, size);
}

EXPORT ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    NEXT(ssize_t, "pwrite", int, const void *, size_t, off_t);
    return fd_fails("write", fd, true) ? -1 : next(fd, data, size, offset);
}

EXPORT ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
    NEXT(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    return fd_fails("write", fd, true) ? -1 : next(fd, data, size, offset);
}

EXPORT int fsync(int fd)
{
    NEXT(int, "fsync", int);
    return fd_fails("sync", fd, false) ? -1 : next(fd);
}

EXPORT int fdatasync(int fd)
{
    NEXT(int, "fdatasync", int);
    return fd_fails("sync", fd, false) ? -1 : next(fd);
}

EXPORT int ftruncate(int fd, off_t size)
{
    NEXT(int, "ftruncate", int, off_t);
    return fd_fails("truncate", fd, true) ? -1 : next(fd, size);
}

EXPORT int ftruncate64(int fd, off64_t size)
{
    NEXT(int, "ftruncate64", int, off64_t);
    return fd_fails("truncate", fd, true) ? -1 : next(fd, size);
}

/* A close that fails has closed all the same. */
EXPORT int close(int fd)
{
    NEXT(int, "close", int);
    bool failed = fd_fails("close", fd, false);
    int error = errno, code = next(fd);
    if (!failed)
        return code;
    errno = error;
    return -1;
}

EXPORT int rename(const char *from, const char *to)
{
    NEXT(int, "rename", const char *, const char *);
    return name_fails("rename", to, true) ? -1 : next(from, to);
}

EXPORT int unlink(const char *path)
{
    NEXT(int, "unlink", const char *);
    return name_fails("remove", path, false) ? -1 : next(path);
}

EXPORT int rmdir(const char *path)
{
    NEXT(int, "rmdir", const char *);
    return name_fails("remove", path, false) ? -1 : next(path);
}

/* Names relative to an open folder are counted as that folder's. */
EXPORT int unlinkat(int folder, const char *name, int flags)
{
    NEXT(int, "unlinkat", int, const char *, int);
    bool failed = folder == AT_FDCWD ? name_fails("remove", name, false) : fd_fails("remove", folder, false);
    return failed ? -1 : next(folder, name, flags);
}

EXPORT int mkdir(const char *path, mode_t mode)
{
    NEXT(int, "mkdir", const char *, mode_t);
    return name_fails("make", path, true) ? -1 : next(path, mode);
}

static bool makes(int flags, const char *path)
{
    return (flags & O_CREAT) && access(path, F_OK) != 0;
}

EXPORT int open(const char *path, int flags, ...)
{
    NEXT(int, "open", const char *, int, ...);
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return makes(flags, path) && name_fails("open", path, true) ? -1 : next(path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
    NEXT(int, "open64", const char *, int, ...);
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return makes(flags, path) && name_fails("open", path, true) ? -1 : next(path, flags, mode);
}
