#include "framework/env_lock.h"

#include "base/fs.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number that the holder wrote; 0 without one. */
static long read_holder(int fd)
{
    char text[32] = "";
    return pread(fd, text, sizeof text - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;
}

static ys_status write_holder(int fd, const char *path)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)length, 0) == length)
        return YS_OK;
    return ys_fail(YS_EIO, "cannot write %s: %s", path, strerror(errno));
}

/* Locks of the open file, not of the process: closing another descriptor of the same file does not end them, and unlike
 * those of flock() they can be asked for without being taken. Children do not inherit the descriptor. */
static ys_status lock(const char *folder, const char *path, int *fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (opened < 0)
        return ys_fail(YS_EIO, "cannot write %s: %s", path, strerror(errno));
    ys_status status = YS_OK;
    if (fcntl(opened, F_OFD_SETLK, &whole) == 0)
        status = write_holder(opened, path);
    else if (errno == EAGAIN || errno == EACCES)
        status = ys_fail(YS_EBUSY, "%s is being made or removed by process %ld: wait for it, then try again", folder,
                         read_holder(opened));
    else
        status = ys_fail(YS_EIO, "cannot lock %s: %s", path, strerror(errno));
    if (status == YS_OK)
        *fd = opened;
    else
        close(opened);
    return status;
}

ys_status ys_env_lock_take(const char *folder, int *fd)
{
    char *parent = ys_path_dir(folder), *path = ys_format("%s.lock", folder);
    ys_status status = parent && path ? ys_fs_make_dirs(parent) : ys_out_of_memory();
    if (status == YS_OK)
        status = lock(folder, path, fd);
    ys_free(parent);
    ys_free(path);
    return status;
}

void ys_env_lock_release(int fd)
{
    if (fd >= 0)
        close(fd);
}

bool ys_env_lock_is_taken(const char *folder, long *holder)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char *path = ys_format("%s.lock", folder);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ys_free(path);
    if (fd < 0)
        return false;
    bool taken = fcntl(fd, F_OFD_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
    *holder = taken ? read_holder(fd) : 0;
    close(fd);
    return taken;
}
