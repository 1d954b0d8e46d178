#include "feeder/listed_files.h"

#include "base/mem.h"
#include "data/listed_images.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool ys_image_files_are(const struct ys_safetensors *file)
{
    return ys_safetensors_find(file, YS_LISTED_PATHS) && ys_safetensors_meta(file, YS_LISTED_ROWS);
}

static ys_status read_rows(const struct ys_safetensors *file, const char *path, struct ys_image_files *files)
{
    const char *text = ys_safetensors_meta(file, YS_LISTED_ROWS);
    char rest = 0;
    const bool is_read = text && sscanf(text, "%1" SCNd64 "x%5" SCNd64 "x%5" SCNd64 "%c", &files->channels,
                                        &files->height, &files->width, &rest) == 3;
    if (is_read && (files->channels == 1 || files->channels == 3) && files->height >= 1 && files->width >= 1)
        return YS_OK;
    return ys_fail(YS_EFORMAT, "%s: the rows of its images are \"%s\", no size", path, text ? text : "");
}

static ys_status check_paths(const struct ys_tensor *paths, const struct ys_image_files *files, const char *path)
{
    if (paths->size_bytes == 0 || files->paths[paths->size_bytes - 1] != '\0')
        return ys_fail(YS_EFORMAT, "%s: the last path has no end", path);
    for (int64_t i = 0; i < files->count; i++)
        if (files->starts[i] < 0 || (uint64_t)files->starts[i] >= paths->size_bytes || files->sizes[i] < 0)
            return ys_fail(YS_EFORMAT, "%s: row %" PRId64 " names no path", path, i);
    return YS_OK;
}

ys_status ys_image_files_open(const struct ys_safetensors *file, const char *path, struct ys_image_files *files)
{
    const struct ys_tensor *paths, *starts, *sizes, *times;
    YS_TRY(ys_safetensors_need(file, YS_LISTED_PATHS, YS_U8, 1, NULL, &paths));
    YS_TRY(ys_safetensors_need(file, YS_LISTED_STARTS, YS_I64, 1, NULL, &starts));
    YS_TRY(ys_safetensors_need(file, YS_LISTED_SIZES, YS_I64, 1, starts->shape, &sizes));
    YS_TRY(ys_safetensors_need(file, YS_LISTED_TIMES, YS_I64, 1, starts->shape, &times));
    *files = (struct ys_image_files){.count = starts->shape[0],
                                     .paths = paths->data,
                                     .starts = starts->data,
                                     .sizes = sizes->data,
                                     .times = times->data};
    YS_TRY(read_rows(file, path, files));
    return check_paths(paths, files, path);
}

const char *ys_image_files_path(const struct ys_image_files *files, int64_t row)
{
    return files->paths + files->starts[row];
}

static ys_status has_changed(const char *path)
{
    return ys_fail(YS_EFORMAT, "%s changed since this study began: bring it back and resume, or begin a new study",
                   path);
}

/* Short where it was cut while it was read. */
static ys_status read_bytes(int fd, const char *path, uint8_t *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t got = read(fd, bytes, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ys_fail(YS_EIO, "cannot read %s: %s", path, strerror(errno));
        if (got == 0)
            return has_changed(path);
        bytes += got;
        size -= (size_t)got;
    }
    return YS_OK;
}

static ys_status read_open(int fd, const struct ys_image_files *files, int64_t row, uint8_t **bytes)
{
    const char *path = ys_image_files_path(files, row);
    struct stat found;
    if (fstat(fd, &found) != 0)
        return ys_fail(YS_EIO, "cannot read %s: %s", path, strerror(errno));
    const int64_t time_ns = (int64_t)found.st_mtim.tv_sec * 1000000000 + found.st_mtim.tv_nsec;
    if (!S_ISREG(found.st_mode) || found.st_size != files->sizes[row] || time_ns != files->times[row])
        return has_changed(path);
    *bytes = ys_realloc(NULL, (size_t)found.st_size, 1);
    return read_bytes(fd, path, *bytes, (size_t)found.st_size);
}

ys_status ys_image_files_decode(const struct ys_image_files *files, int64_t row, const struct ys_image_chooser *chooser,
                                struct ys_image *image)
{
    const char *path = ys_image_files_path(files, row);
    uint8_t *bytes = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return ys_fail(YS_EIO, "cannot read %s: %s", path, strerror(errno));
    ys_status status = read_open(fd, files, row, &bytes);
    close(fd);
    if (status == YS_OK)
        status = ys_image_decode_part(bytes, (size_t)files->sizes[row], path, chooser, image);
    ys_free(bytes);
    return status;
}
