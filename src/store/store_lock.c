#include "store/store_lock.h"

#include "base/files/atomic_file.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROBE_BYTES 65536

/* What failed said so already; `cause` is its errno. */
static ys_status cannot_write(const char *folder, int cause)
{
    if (cause == ENOSPC || cause == EDQUOT || cause == EFBIG)
        return ys_fail(
            YS_EIO, "no space left in results folder %s: free some, or give another folder with --results DIR", folder);
    return ys_fail_in(YS_EIO,
                      "cannot write into results folder %s; check its owner and rights, or give another folder with "
                      "--results DIR",
                      folder);
}

ys_status ys_store_lock_take(const char *folder, struct ys_lock *lock)
{
    char *path = ys_format("%s/results.lock", folder);
    ys_status status = ys_lock_take(path, YS_LOCK_ALONE, YS_LOCK_PATIENCE_S, lock);
    int cause = errno;
    long holder = ys_lock_holder(path);
    ys_free(path);
    if (status == YS_OK || status == YS_EINTR)
        return status;
    if (status != YS_EBUSY)
        return cannot_write(folder, cause);
    char by[40] = "another process";
    if (holder > 0)
        snprintf(by, sizeof by, "process %ld", holder);
    return ys_fail(status, "results folder %s is in use by %s: wait for it, or give another folder with --results DIR",
                   folder, by);
}

bool ys_store_lock_is_taken(const char *folder)
{
    char *path = ys_format("%s/results.lock", folder);
    const bool taken = ys_lock_is_taken(path);
    ys_free(path);
    return taken;
}

ys_status ys_store_lock_probe(const char *folder)
{
    struct ys_atomic_file file;
    char *path = ys_format("%s/probe", folder), *bytes = ys_alloc(PROBE_BYTES, 1);
    ys_status status = ys_atomic_file_open(&file, path);
    if (status == YS_OK) {
        status = ys_atomic_file_write(&file, bytes, PROBE_BYTES);
        if (status == YS_OK && fsync(file.fd) != 0)
            status = ys_fail(YS_EIO, "cannot sync %s: %s", path, strerror(errno));
        int cause = errno;
        ys_atomic_file_discard(&file);
        errno = cause;
    }
    if (status != YS_OK)
        status = cannot_write(folder, errno);
    ys_free(path);
    ys_free(bytes);
    return status;
}
