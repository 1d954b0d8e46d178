#include "base/atomic_file.h"
#include "base/fs.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static ys_status fail(const struct ys_atomic_file *file)
{
    return ys_fail(YS_EIO, "cannot write %s: %s", file->path, strerror(errno));
}

ys_status ys_atomic_file_open(struct ys_atomic_file *file, const char *path)
{
    static atomic_uint serial;
    *file = (struct ys_atomic_file){.path = path, .fd = -1};
    file->temporary = ys_format("%s.%ld-%u.tmp", path, (long)getpid(), atomic_fetch_add(&serial, 1));
    if (!file->temporary)
        return ys_out_of_memory();
    unlink(file->temporary); /* what an earlier process of this number may have left */
    file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->fd >= 0)
        return YS_OK;
    ys_status status = fail(file);
    ys_free(file->temporary);
    file->temporary = NULL;
    return status;
}

ys_status ys_atomic_file_write(struct ys_atomic_file *file, const void *data, size_t size)
{
    const char *next = data;
    while (size > 0) {
        ssize_t written = write(file->fd, next, size);
        if (written >= 0) {
            next += written;
            size -= (size_t)written;
        } else if (errno != EINTR) {
            return fail(file);
        }
    }
    return YS_OK;
}

/** Makes the rename itself last. Some file systems cannot sync a folder; the file is safe there all the same. */
static void sync_folder_of(const char *path)
{
    char *folder = ys_path_dir(path);
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    ys_free(folder);
}

ys_status ys_atomic_file_commit(struct ys_atomic_file *file)
{
    ys_status status = YS_OK;
    if (!file->fleeting && fsync(file->fd) != 0)
        status = fail(file);
    if (close(file->fd) != 0 && status == YS_OK)
        status = fail(file);
    file->fd = -1;
    if (status == YS_OK && rename(file->temporary, file->path) != 0)
        status = fail(file);
    if (status != YS_OK) {
        ys_atomic_file_discard(file);
        return status;
    }
    if (!file->fleeting)
        sync_folder_of(file->path);
    ys_free(file->temporary);
    file->temporary = NULL;
    return YS_OK;
}

void ys_atomic_file_discard(struct ys_atomic_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->temporary)
        unlink(file->temporary);
    ys_free(file->temporary);
    *file = (struct ys_atomic_file){.fd = -1};
}
