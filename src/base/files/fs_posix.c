#include "base/files/fs.h"
#include "base/files/atomic_file.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/utf8.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WALK_DESCRIPTORS = 32, DEEPEST = 32 };

bool ys_fs_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

bool ys_fs_is_dir(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool ys_fs_is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

bool ys_fs_is_executable(const char *path)
{
    return ys_fs_is_file(path) && access(path, X_OK) == 0;
}

static ys_status make_dir(const char *path)
{
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && ys_fs_is_dir(path)))
        return YS_OK;
    return ys_fail(YS_EIO, "cannot make the folder %s: %s", path,
                   errno == EEXIST ? "a file of that name is in the way" : strerror(errno));
}

ys_status ys_fs_make_dirs(const char *path)
{
    if (!path[0])
        return ys_fail(YS_EINVAL, "cannot make a folder without a name");
    char *partial = ys_strdup(path);
    if (!partial)
        return ys_out_of_memory();
    ys_status status = YS_OK;
    for (char *c = partial + 1; *c && status == YS_OK; c++)
        if (*c == '/' && c[-1] != '/') {
            *c = 0;
            status = make_dir(partial);
            *c = '/';
        }
    if (status == YS_OK)
        status = make_dir(partial);
    ys_free(partial);
    return status;
}

/* A removal under way. What lies deeper than DEEPEST is first moved up into the tree's own folder, so that neither the
 * length of a path nor the number of open folders limits how deep a tree may be. */
struct removal {
    const char *path;
    int top_fd;
    bool has_moved; /* there is more in the top folder than was listed */
    unsigned moved;
};

static ys_status fail_remove(const struct removal *removal, const char *name)
{
    return ys_fail(YS_EIO, "cannot remove %s below %s: %s", name, removal->path, strerror(errno));
}

static ys_status move_up(struct removal *removal, int fd, const char *name)
{
    char moved[64];
    int result;
    do {
        snprintf(moved, sizeof moved, ".removed-%u", removal->moved++);
        result = renameat(fd, name, removal->top_fd, moved);
    } while (result != 0 && (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)); /* the name is taken */
    if (result != 0 && errno != ENOENT)
        return fail_remove(removal, name);
    removal->has_moved = true;
    return YS_OK;
}

static ys_status empty_folder(struct removal *removal, int fd_taken, int depth);

static ys_status remove_entry(struct removal *removal, int fd, const char *name, int depth)
{
    if (unlinkat(fd, name, 0) == 0 || errno == ENOENT)
        return YS_OK;
    if (errno != EISDIR && errno != EPERM) /* POSIX has EPERM for a folder */
        return fail_remove(removal, name);
    if (unlinkat(fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return YS_OK;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return fail_remove(removal, name);
    if (depth == DEEPEST)
        return move_up(removal, fd, name);
    int inner = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        return errno == ENOENT ? YS_OK : fail_remove(removal, name);
    YS_TRY(empty_folder(removal, inner, depth + 1));
    return unlinkat(fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT ? YS_OK : fail_remove(removal, name);
}

static ys_status empty_folder(struct removal *removal, int fd_taken, int depth)
{
    ys_status status = YS_OK;
    DIR *folder = fdopendir(fd_taken);
    if (!folder) {
        close(fd_taken);
        return ys_fail(YS_EIO, "cannot list a folder below %s: %s", removal->path, strerror(errno));
    }
    for (struct dirent *entry; status == YS_OK && (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = remove_entry(removal, fd_taken, entry->d_name, depth);
    closedir(folder);
    return status;
}

ys_status ys_fs_remove_tree(const char *path)
{
    if (unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR)
        return YS_OK;
    if (errno != EISDIR && errno != EPERM)
        return ys_fail(YS_EIO, "cannot remove %s: %s", path, strerror(errno));
    struct removal removal = {.path = path, .has_moved = true};
    removal.top_fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    ys_status status = YS_OK;
    while (status == YS_OK && removal.has_moved && removal.top_fd >= 0) {
        int again = openat(removal.top_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        removal.has_moved = false;
        if (again >= 0)
            status = empty_folder(&removal, again, 1);
    }
    if (removal.top_fd >= 0)
        close(removal.top_fd);
    if (status == YS_OK && rmdir(path) != 0 && errno != ENOENT)
        status = ys_fail(YS_EIO, "cannot remove %s: %s", path, strerror(errno));
    return status;
}

/** Waits until something can be read, the end included. */
static ys_status wait_readable(int fd)
{
    struct pollfd waited[] = {{.fd = fd, .events = POLLIN}, {.fd = ys_stop_fd(), .events = POLLIN}};
    while (!ys_stop_signal() && poll(waited, 2, -1) < 0 && errno == EINTR) {
    }
    return ys_stop_signal() ? ys_stopped() : YS_OK;
}

/** Appends to `buf` until the end of the file; a byte beyond the limit is a failure. */
static ys_status read_all(int fd, const char *name, bool waits, size_t limit_bytes, struct ys_buf *buf)
{
    char block[65536];
    size_t total = 0;
    for (;;) {
        if (waits)
            YS_TRY(wait_readable(fd));
        ssize_t got = read(fd, block, sizeof block);
        if (got == 0)
            return ys_buf_append(buf, "", 0);
        if (got < 0 && (errno == EINTR || (waits && errno == EAGAIN)))
            continue;
        if (got < 0)
            return ys_fail(YS_EIO, "cannot read %s: %s", name, strerror(errno));
        total += (size_t)got;
        if (total > limit_bytes)
            return ys_fail(YS_EFORMAT, "%s is larger than the %zu bytes it may have", name, limit_bytes);
        YS_TRY(ys_buf_append(buf, block, (size_t)got));
    }
}

static ys_status read_open(int fd, const char *name, bool any, size_t limit_bytes, struct ys_buf *buf, bool *is_regular)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return ys_fail(YS_EIO, "cannot read %s: %s", name, strerror(errno));
    if (S_ISDIR(info.st_mode))
        return ys_fail(YS_EINVAL, "%s is a folder, not a file", name);
    *is_regular = S_ISREG(info.st_mode);
    if (!any && !*is_regular)
        return ys_fail(YS_EINVAL, "%s is not a regular file", name);
    size_t size_before = buf->size;
    ys_status status = read_all(fd, name, !*is_regular, limit_bytes, buf);
    if (status != YS_OK && buf->data) {
        buf->size = size_before;
        buf->data[size_before] = 0;
    }
    return status;
}

static ys_status read_path(const char *path, bool any, size_t limit_bytes, struct ys_buf *buf, bool *is_regular)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a named pipe must not block here */
    if (fd < 0)
        return ys_fail(errno == ENOENT || errno == ENOTDIR ? YS_ENOTFOUND : YS_EIO, "cannot open %s: %s", path,
                       strerror(errno));
    ys_status status = read_open(fd, path, any, limit_bytes, buf, is_regular);
    close(fd);
    return status;
}

ys_status ys_fs_read(const char *path, size_t limit_bytes, struct ys_buf *buf)
{
    bool is_regular;
    return read_path(path, false, limit_bytes, buf, &is_regular);
}

ys_status ys_fs_read_any(const char *path, size_t limit_bytes, struct ys_buf *buf, bool *is_regular)
{
    if (path)
        return read_path(path, true, limit_bytes, buf, is_regular);
    ys_status status = read_open(STDIN_FILENO, "standard input", true, limit_bytes, buf, is_regular);
    *is_regular = false;
    return status;
}

ys_status ys_fs_write(const char *path, const void *data, size_t size)
{
    struct ys_atomic_file file;
    YS_TRY(ys_atomic_file_open(&file, path));
    ys_status status = ys_atomic_file_write(&file, data, size);
    if (status == YS_OK)
        return ys_atomic_file_commit(&file);
    ys_atomic_file_discard(&file);
    return status;
}

void ys_fs_forget(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    (void)fdatasync(fd); /* what is not on the disk yet would stay */
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

struct linked_file {
    dev_t device;
    ino_t inode;
    uint64_t size_bytes;
};

struct tree_walk {
    uint64_t size_bytes;
    struct linked_file *linked; /* regular files with more than one name, counted once at the end */
    size_t count, capacity;
};

static _Thread_local struct tree_walk *walk; /* nftw passes no context */

static int count_entry(const char *path, const struct stat *info, int type, struct FTW *position)
{
    (void)position;
    if (type == FTW_DNR)
        return ys_fail(YS_EIO, "cannot list the folder %s", path);
    if (type != FTW_F || !S_ISREG(info->st_mode))
        return 0;
    if (info->st_nlink == 1) {
        walk->size_bytes += (uint64_t)info->st_size;
        return 0;
    }
    walk->linked = ys_grown(walk->linked, walk->count, &walk->capacity, sizeof *walk->linked);
    walk->linked[walk->count++] = (struct linked_file){info->st_dev, info->st_ino, (uint64_t)info->st_size};
    return 0;
}

static int by_inode(const void *a, const void *b)
{
    const struct linked_file *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

ys_status ys_fs_tree_size(const char *path, uint64_t *size_bytes)
{
    struct tree_walk counted = {0};
    walk = &counted;
    int result = nftw(path, count_entry, WALK_DESCRIPTORS, FTW_PHYS);
    walk = NULL;
    ys_status status = YS_OK;
    if (result == -1)
        status = ys_fail(errno == ENOENT ? YS_ENOTFOUND : YS_EIO, "cannot measure %s: %s", path, strerror(errno));
    else if (result != 0)
        status = (ys_status)result;
    if (counted.count > 1)
        qsort(counted.linked, counted.count, sizeof *counted.linked, by_inode);
    for (size_t i = 0; i < counted.count; i++)
        if (i == 0 || by_inode(&counted.linked[i - 1], &counted.linked[i]) != 0)
            counted.size_bytes += counted.linked[i].size_bytes;
    ys_free(counted.linked);
    if (status == YS_OK)
        *size_bytes = counted.size_bytes;
    return status;
}

char *ys_path_join(const char *folder, const char *name)
{
    size_t length = strlen(folder);
    if (length == 0 || name[0] == '/')
        return ys_strdup(name);
    return ys_format(folder[length - 1] == '/' ? "%s%s" : "%s/%s", folder, name);
}

char *ys_path_absolute(const char *path)
{
    char current[PATH_MAX] = "";
    if (path[0] != '/' && !getcwd(current, sizeof current))
        snprintf(current, sizeof current, "/");
    struct ys_buf whole = {0};
    if (strcmp(current, "/") != 0)
        ys_buf_puts(&whole, current);
    for (const char *part = path; *part;) {
        size_t length = strcspn(part, "/");
        if (length > 0 && !(length == 1 && part[0] == '.'))
            ys_buf_printf(&whole, "/%.*s", (int)length, part);
        part += length + (part[length] == '/');
    }
    if (whole.size == 0)
        ys_buf_puts(&whole, "/");
    return ys_buf_take(&whole);
}

ys_status ys_path_check_text(const char *path)
{
    return ys_utf8_is_text(path)
               ? YS_OK
               : ys_fail(YS_EINVAL, "its path, %s, is no UTF-8 text: rename the folder or file", path);
}

const char *ys_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *ys_path_dir(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ys_strdup(".");
    return slash == path ? ys_strdup("/") : ys_strndup(path, (size_t)(slash - path));
}

char *ys_path_real_below(const char *path, const char *folder)
{
    char real[PATH_MAX], top[PATH_MAX];
    if (!realpath(path, real) || !realpath(folder, top))
        return NULL;
    size_t length = strlen(top);
    bool is_below = strncmp(real, top, length) == 0 && (real[length] == '/' || strcmp(top, "/") == 0);
    return is_below ? ys_strdup(real) : NULL;
}

#define CHUNK_BYTES (1 << 20)

/* All of `from`, which may be read, to the new file `to`. */
static ys_status copy_bytes(int from, int to, char *chunk)
{
    for (;;) {
        ssize_t size = read(from, chunk, CHUNK_BYTES), done = 0;
        if (size == 0)
            return YS_OK;
        if (size < 0 && errno == EINTR)
            continue;
        while (size > 0 && done < size) {
            ssize_t written = write(to, chunk + done, (size_t)(size - done));
            if (written < 0 && errno != EINTR)
                break;
            done += written > 0 ? written : 0;
        }
        if (size < 0 || done < size)
            return ys_fail(YS_EIO, "%s", strerror(errno));
    }
}

ys_status ys_fs_copy(const char *from, const char *to)
{
    char *chunk = ys_alloc(CHUNK_BYTES, 1);
    int in = open(from, O_RDONLY | O_CLOEXEC);
    int out = in >= 0 ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    ys_status status = in < 0 || out < 0 ? ys_fail(YS_EIO, "%s", strerror(errno)) : copy_bytes(in, out, chunk);
    if (out >= 0 && close(out) != 0 && status == YS_OK)
        status = ys_fail(YS_EIO, "%s", strerror(errno));
    if (in >= 0)
        close(in);
    ys_free(chunk);
    return status;
}
