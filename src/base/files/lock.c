#include "base/files/lock.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "base/stop.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TICK_MS 10

static int held[YS_LOCK_MOST_HELD];
static size_t held_count;

/* The file systems that have no locks say so in different words. */
static bool has_no_locks(int error)
{
    return error == ENOLCK || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL;
}

static ys_status open_lock(const char *path, int *fd)
{
    struct stat file;
    bool is_folder = stat(path, &file) == 0 && S_ISDIR(file.st_mode);
    *fd = is_folder ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*fd < 0 && (errno == EACCES || errno == EROFS)) /* another user's, or read-only: enough to lock it */
        *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd >= 0)
        return YS_OK;
    return ys_fail(errno == ENOENT ? YS_ENOTFOUND : YS_EIO, "cannot open the lock %s: %s", path, strerror(errno));
}

/* Whether `path` still names what is open: who removes a lock's file or folder holds it first. */
static bool is_current(const char *path, int fd)
{
    struct stat named, opened;
    return stat(path, &named) == 0 && fstat(fd, &opened) == 0 && named.st_ino == opened.st_ino &&
           named.st_dev == opened.st_dev;
}

bool ys_lock_file(int fd, enum ys_lock_kind kind)
{
    return flock(fd, (kind == YS_LOCK_SHARED ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0;
}

/* Waits for the lock itself: YS_EBUSY when `end_ns` has passed. */
static ys_status wait_for(int fd, const char *path, enum ys_lock_kind kind, uint64_t end_ns)
{
    while (!ys_lock_file(fd, kind)) {
        struct pollfd stop = {.fd = ys_stop_fd(), .events = POLLIN};
        if (has_no_locks(errno) && kind == YS_LOCK_SHARED)
            return YS_OK;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return ys_fail(YS_EIO, "cannot lock %s: %s", path, strerror(errno));
        if (ys_stop_signal())
            return ys_stopped();
        if (ys_time_ns() >= end_ns)
            return ys_fail(YS_EBUSY, "%s is locked by another process", path);
        (void)poll(&stop, 1, TICK_MS);
    }
    return YS_OK;
}

/* For messages alone, so that it may fail. */
static void write_holder(int fd)
{
    char text[32];
    struct stat file;
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && ftruncate(fd, 0) == 0) {
        ssize_t written = pwrite(fd, text, (size_t)length, 0);
        (void)written;
    }
}

ys_status ys_lock_take(const char *path, enum ys_lock_kind kind, double patience_s, struct ys_lock *lock)
{
    uint64_t end_ns = ys_time_ns() + (uint64_t)(patience_s * 1e9);
    *lock = YS_LOCK_NONE;
    for (;;) {
        int fd;
        YS_TRY(open_lock(path, &fd));
        ys_status status = wait_for(fd, path, kind, end_ns);
        if (status == YS_OK && is_current(path, fd)) {
            if (kind == YS_LOCK_ALONE)
                write_holder(fd);
            if (held_count < YS_LOCK_MOST_HELD)
                held[held_count++] = fd;
            lock->fd = fd;
            return YS_OK;
        }
        close(fd);
        YS_TRY(status);
    }
}

ys_status ys_lock_take_folder(const char *folder, enum ys_lock_kind kind, double patience_s, struct ys_lock *lock)
{
    char *inside = ys_path_join(folder, "."); /* is nothing that open() could make */
    *lock = YS_LOCK_NONE;
    ys_status status = ys_lock_take(inside, kind, patience_s, lock);
    ys_free(inside);
    return status;
}

void ys_lock_release(struct ys_lock *lock)
{
    if (lock->fd < 0)
        return;
    for (size_t i = 0; i < held_count; i++) {
        if (held[i] == lock->fd) {
            held[i] = held[--held_count];
            break;
        }
    }
    close(lock->fd);
    *lock = YS_LOCK_NONE;
}

bool ys_lock_is_taken(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool taken = !ys_lock_file(fd, YS_LOCK_ALONE) && errno == EWOULDBLOCK;
    close(fd);
    return taken;
}

long ys_lock_holder(const char *path)
{
    char text[32] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    long holder = pread(fd, text, sizeof text - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;
    close(fd);
    return holder;
}

size_t ys_lock_held(int *fds, size_t most)
{
    size_t count = held_count < most ? held_count : most;
    memcpy(fds, held, count * sizeof *fds);
    return count;
}
