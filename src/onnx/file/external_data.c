/* Files: the .onnx itself, and those that its tensors name. */
#include "base/files/fs.h"
#include "base/mem.h"
#include "graph/foreign_format.h"
#include "onnx/file/open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT_BYTES ((int64_t)1 << 31) /* no message of protocol buffers may have as many */

/* Maps a regular file. The descriptor is opened without waiting, in case the path is a pipe. */
static ys_status map_file(const char *path, int64_t limit_bytes, struct ys_span *bytes)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return ys_fail(errno == ENOENT ? YS_ENOTFOUND : YS_EIO, "cannot open %s: %s", path, strerror(errno));
    ys_status status = YS_OK;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        status = ys_fail(YS_EFORMAT, "%s is not a regular file", path);
    else if (info.st_size >= limit_bytes)
        status = ys_fail(YS_EFORMAT,
                         "%s has %lld bytes: an ONNX file ends before 2 GiB, and larger weights lie in "
                         "external data",
                         path, (long long)info.st_size);
    *bytes = (struct ys_span){NULL, 0};
    if (status == YS_OK && info.st_size > 0) {
        void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map == MAP_FAILED)
            status = ys_fail(YS_EIO, "cannot map %s: %s", path, strerror(errno));
        else
            *bytes = (struct ys_span){map, (size_t)info.st_size};
    }
    close(fd);
    return status;
}

static void unmap(struct ys_span bytes)
{
    if (bytes.data)
        munmap((void *)(uintptr_t)bytes.data, bytes.size);
}

static void add_map(struct ys_onnx_file *file, char *path_taken, struct ys_span bytes)
{
    file->inside->maps[file->inside->map_count++] = (struct ys_onnx_map){path_taken, bytes};
}

ys_status ys_onnx_file_open(const char *path, struct ys_onnx_file **file)
{
    struct ys_span bytes;
    YS_TRY(map_file(path, LIMIT_BYTES, &bytes));
    ys_status status = ys_onnx_file_parse(path, bytes.data, bytes.size, file);
    if (status == YS_OK)
        add_map(*file, NULL, bytes);
    else
        unmap(bytes);
    return status;
}

void ys_onnx_file_close(struct ys_onnx_file *file)
{
    if (!file)
        return;
    struct ys_onnx_inside *inside = file->inside;
    for (size_t i = 0; i < inside->map_count; i++) {
        unmap(inside->maps[i].bytes);
        ys_free(inside->maps[i].path);
    }
    for (struct ys_onnx_kept *kept = inside->kept, *next; kept; kept = next) {
        next = kept->next;
        ys_free(kept);
    }
    ys_free(inside);
    ys_free(file);
}

/* Where a tensor's values lie, as its external_data says. */
struct data_place {
    const char *location;
    uint64_t offset, length; /* length UINT64_MAX: not said */
};

static bool read_number(const char *text, uint64_t *number)
{
    *number = 0;
    for (; *text; text++)
        if (*text < '0' || *text > '9' || *number > (UINT64_MAX >> 4) / 10)
            return false;
        else
            *number = *number * 10 + (uint64_t)(*text - '0');
    return true;
}

static ys_status read_entry(struct ys_onnx_file *file, const struct ys_onnx_tensor_in *tensor, struct ys_span entry,
                            struct data_place *place)
{
    struct ys_wire_field field;
    const char *key = "", *value = "";
    while (ys_wire_next(&entry, &field) > 0) {
        if (field.type != YS_WIRE_LENGTH || field.number > YS_PROTO_ENTRY_VALUE)
            continue;
        char *text = ys_onnx_file_keep(file, field.span.size + 1, 1); /* as it is: a path may have any byte but 0 */
        memcpy(text, field.span.data, field.span.size);
        if (strlen(text) != field.span.size || field.span.size > YS_ONNX_MAX_TEXT)
            return ys_fail(YS_EFORMAT, "tensor %s: its external_data have a text with a 0 byte, or too long",
                           tensor->name);
        *(field.number == YS_PROTO_ENTRY_KEY ? &key : &value) = text;
    }
    bool right = true;
    if (strcmp(key, "location") == 0)
        place->location = value;
    else if (strcmp(key, "offset") == 0)
        right = read_number(value, &place->offset);
    else if (strcmp(key, "length") == 0)
        right = read_number(value, &place->length);
    return right ? YS_OK
                 : ys_fail(YS_EFORMAT, "tensor %s: %s %s of its external data is no number", tensor->name, key, value);
}

/* Whether a path, taken word by word, stays below the folder that it is relative to. */
static bool stays_below(const char *location)
{
    if (*location == '/')
        return false;
    for (const char *at = location; *at; at += strspn(at, "/")) {
        size_t size = strcspn(at, "/");
        if (size == 2 && at[0] == '.' && at[1] == '.')
            return false;
        at += size;
    }
    return true;
}

/* Links are followed, but to below the folder of the .onnx as it was named, or below that in which it really lies: in
 * the caches of model hubs both it and its data are links into one folder. */
static ys_status find_real(const struct ys_onnx_file *file, const char *tensor, const char *location, char **real)
{
    char *folder = ys_path_dir(file->path);
    char *path = ys_path_join(folder, location);
    char *own = realpath(file->path, NULL);
    char *own_folder = own ? ys_path_dir(own) : NULL;
    *real = ys_path_real_below(path, folder);
    if (!*real && own_folder)
        *real = ys_path_real_below(path, own_folder);
    ys_status status = YS_OK;
    if (!*real)
        status = ys_fail(ys_fs_exists(path) ? YS_EFORMAT : YS_ENOTFOUND,
                         ys_fs_exists(path)
                             ? "tensor %s: its external data %s lie outside the folder of the file"
                             : "tensor %s: its external data %s are not there: copy them into the file's folder",
                         tensor, location);
    ys_free(folder);
    ys_free(path);
    free(own);
    ys_free(own_folder);
    return status;
}

static ys_status map_external(struct ys_onnx_file *file, const char *tensor, const char *location,
                              struct ys_span *bytes)
{
    struct ys_onnx_inside *inside = file->inside;
    for (size_t i = 0; i < inside->map_count; i++)
        if (inside->maps[i].path && strcmp(inside->maps[i].path, location) == 0) {
            *bytes = inside->maps[i].bytes;
            return YS_OK;
        }
    if (inside->map_count == sizeof inside->maps / sizeof inside->maps[0])
        return ys_fail(YS_EUNSUPPORTED, "more than %d files of external data", YS_ONNX_MAX_FILES);
    if (!*location)
        return ys_fail(YS_EFORMAT, "tensor %s: its external data name no file", tensor);
    if (!stays_below(location))
        return ys_fail(YS_EFORMAT, "tensor %s: its external data %s lie outside the folder of the file", tensor,
                       location);
    char *real = NULL, *name = ys_strdup(location);
    ys_status status = find_real(file, tensor, location, &real);
    if (status == YS_OK)
        status = map_file(real, INT64_MAX, bytes);
    if (status == YS_OK)
        add_map(file, name, *bytes);
    else
        ys_free(name);
    ys_free(real);
    return status;
}

ys_status ys_onnx_file_external(struct ys_onnx_file *file, const struct ys_onnx_tensor_in *tensor, uint64_t wanted,
                                struct ys_span *bytes)
{
    struct data_place place = {.location = "", .length = UINT64_MAX};
    struct ys_wire_field field;
    for (struct ys_span message = tensor->message; ys_wire_next(&message, &field) > 0;)
        if (field.number == YS_PROTO_TENSOR_EXTERNAL && field.type == YS_WIRE_LENGTH)
            YS_TRY(read_entry(file, tensor, field.span, &place));
    struct ys_span whole;
    YS_TRY(map_external(file, tensor->name, place.location, &whole));
    if (place.length != UINT64_MAX && place.length != wanted)
        return ys_fail(YS_EFORMAT, "tensor %s has %llu bytes in %s, its shape asks for %llu", tensor->name,
                       (unsigned long long)place.length, place.location, (unsigned long long)wanted);
    const bool is_short = place.offset > whole.size || wanted > whole.size - place.offset;
    const char *begin = (const char *)whole.data;
    if (ys_model_foreign_numbers(begin, whole.size) != YS_OK ||
        (is_short && ys_model_foreign(begin, whole.size, true) != YS_OK))
        return ys_fail_in(YS_EFORMAT, "tensor %s: %s, which has its values", tensor->name, place.location);
    if (is_short)
        return ys_fail(YS_EFORMAT, "tensor %s lies beyond the end of %s, which has %zu bytes", tensor->name,
                       place.location, whole.size);
    *bytes = (struct ys_span){whole.data ? whole.data + place.offset : NULL, (size_t)wanted};
    return YS_OK;
}
