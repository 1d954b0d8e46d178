#include "store/lock.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define PROBE_BYTES 65536

static ys_status cannot_write(const char *folder, int cause)
{
    if (cause == ENOSPC || cause == EDQUOT || cause == EFBIG)
        return ys_fail(
            YS_EIO, "no space left in results folder %s: free some, or give another folder with --results DIR", folder);
    return ys_fail(YS_EIO,
                   "cannot write into results folder %s: %s; check its owner and rights, or give another folder with "
                   "--results DIR",
                   folder, strerror(cause));
}

ys_status ys_lock_take(const char *folder, int *fd)
{
    char *path = ys_format("%s/results.lock", folder);
    if (!path)
        return ys_out_of_memory();
    /* Closed on exec: a lock of flock() belongs to the open file, and a measured program must not keep it after us. */
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    ys_free(path);
    if (lock < 0)
        return cannot_write(folder, errno);
    char text[32] = "";
    if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
        ys_status status;
        int cause = errno;
        ssize_t size = pread(lock, text, sizeof text - 1, 0);
        long holder = size > 0 ? strtol(text, NULL, 10) : 0;
        if (cause != EWOULDBLOCK)
            status = cannot_write(folder, cause);
        else if (holder > 0)
            status = ys_fail(YS_EBUSY,
                             "results folder %s is in use by process %ld: wait for it, or give another folder with "
                             "--results DIR",
                             folder, holder);
        else
            status = ys_fail(YS_EBUSY,
                             "results folder %s is in use by another process: wait for it, or give another folder "
                             "with --results DIR",
                             folder);
        close(lock);
        return status;
    }
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(lock, 0) != 0 || pwrite(lock, text, (size_t)length, 0) != length) {
        ys_status status = cannot_write(folder, errno);
        close(lock);
        return status;
    }
    *fd = lock;
    return YS_OK;
}

void ys_lock_release(int fd)
{
    if (fd < 0)
        return;
    flock(fd, LOCK_UN); /* also where a child still holds a copy of the descriptor */
    close(fd);
}

ys_status ys_lock_probe_folder(const char *folder)
{
    char *path = ys_format("%s/.probe-%ld", folder, (long)getpid());
    char *bytes = ys_alloc(PROBE_BYTES, 1);
    ys_status status = path && bytes ? YS_OK : ys_out_of_memory();
    if (status == YS_OK) {
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        bool written = fd >= 0;
        for (size_t done = 0; written && done < PROBE_BYTES;) {
            ssize_t size = write(fd, bytes + done, PROBE_BYTES - done);
            written = size > 0;
            done += written ? (size_t)size : 0;
        }
        written = written && fsync(fd) == 0;
        if (!written)
            status = cannot_write(folder, errno);
        if (fd >= 0)
            close(fd);
        if (unlink(path) != 0 && status == YS_OK)
            status = cannot_write(folder, errno);
    }
    ys_free(path);
    ys_free(bytes);
    return status;
}
