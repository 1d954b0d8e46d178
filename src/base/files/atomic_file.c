#include "base/files/atomic_file.h"
#include "base/files/fs.h"
#include "base/files/lock.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ys_status fail(const struct ys_atomic_file *file)
{
    return ys_fail(YS_EIO, "cannot write %s: %s", file->path, strerror(errno));
}

/* Six letters that nobody guesses, so that processes of different machines and containers do not meet. */
static ys_status draw_name(struct ys_atomic_file *file)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEF0123456789";
    unsigned char drawn[6];
    char text[sizeof drawn + 1] = "";
    if (getentropy(drawn, sizeof drawn) != 0)
        return fail(file);
    for (size_t i = 0; i < sizeof drawn; i++)
        text[i] = letters[drawn[i] % (sizeof letters - 1)];
    ys_free(file->temporary);
    file->temporary = ys_format("%s.%s" YS_ATOMIC_FILE_END, file->path, text);
    return file->temporary ? YS_OK : ys_out_of_memory();
}

/* Opens the file and marks it as in use. False: the name was taken, or swept away before it was marked. */
static bool open_locked(struct ys_atomic_file *file)
{
    struct stat opened;
    file->fd = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return false;
    (void)ys_lock_file(file->fd, YS_LOCK_SHARED); /* where there are no locks nobody sweeps */
    if (fstat(file->fd, &opened) == 0 && opened.st_nlink > 0)
        return true;
    close(file->fd);
    file->fd = -1;
    errno = EEXIST;
    return false;
}

ys_status ys_atomic_file_open(struct ys_atomic_file *file, const char *path)
{
    *file = (struct ys_atomic_file){.path = path, .fd = -1};
    ys_status status;
    do
        status = draw_name(file);
    while (status == YS_OK && !open_locked(file) && errno == EEXIST);
    if (status == YS_OK && file->fd < 0)
        status = fail(file);
    if (status != YS_OK) {
        ys_free(file->temporary);
        file->temporary = NULL;
    }
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

/* Renamed while it is open: closed, it would be a leftover for a moment. */
ys_status ys_atomic_file_commit(struct ys_atomic_file *file)
{
    ys_status status = YS_OK;
    if (!file->fleeting && fsync(file->fd) != 0)
        status = fail(file);
    if (status == YS_OK && rename(file->temporary, file->path) != 0)
        status = fail(file);
    if (status != YS_OK) {
        ys_atomic_file_discard(file);
        return status;
    }
    if (close(file->fd) != 0)
        status = fail(file);
    if (!file->fleeting)
        sync_folder_of(file->path);
    ys_free(file->temporary);
    *file = (struct ys_atomic_file){.fd = -1};
    return status;
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
