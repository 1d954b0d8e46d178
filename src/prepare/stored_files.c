#include "prepare/stored_files.h"

#include "base/files/fs.h"
#include "base/json/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "graph/graph.h"
#include "prepare/find_parameters.h"
#include "session/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* Files below a path, mapped, by their names. */
struct mapped_files {
    char **paths;
    struct ys_bytes *bytes;
    size_t count, room;
};

static void unmap(struct mapped_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        if (files->bytes[i].size > 0)
            munmap((void *)(uintptr_t)files->bytes[i].data, files->bytes[i].size);
        ys_free(files->paths[i]);
    }
    ys_free(files->paths);
    ys_free(files->bytes);
}

/* Calls `visit` with what is in a folder. */
static ys_status each_entry(const char *folder, ys_status (*visit)(void *of, const char *path, const char *name),
                            void *of)
{
    DIR *entries = opendir(folder);
    if (!entries)
        return ys_fail(YS_EIO, "cannot list %s: %s", folder, strerror(errno));
    ys_status status = YS_OK;
    for (struct dirent *entry = readdir(entries); entry && status == YS_OK; entry = readdir(entries)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char *path = ys_path_join(folder, entry->d_name);
        status = visit(of, path, entry->d_name);
        ys_free(path);
    }
    closedir(entries);
    return status;
}

static ys_status add_path(void *of, const char *path, const char *name)
{
    struct mapped_files *files = of;
    (void)name;
    if (ys_fs_is_dir(path))
        return each_entry(path, add_path, of);
    if (files->count == files->room) {
        files->room = 2 * files->room + 16;
        files->paths = ys_realloc(files->paths, files->room, sizeof *files->paths);
    }
    files->paths[files->count++] = ys_strdup(path);
    return YS_OK;
}

static ys_status map(const char *path, struct ys_bytes *bytes)
{
    struct stat file;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || fstat(fd, &file) != 0) {
        ys_status status = ys_fail(YS_EIO, "cannot read %s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    const size_t size = (size_t)file.st_size;
    void *data = size > 0 ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    close(fd);
    if (data == MAP_FAILED)
        return ys_fail(YS_EIO, "cannot map %s: %s", path, strerror(errno));
    *bytes = (struct ys_bytes){data, size};
    return YS_OK;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static ys_status map_all(const char *path, struct mapped_files *files)
{
    ys_status status = add_path(files, path, "");
    if (files->count > 1)
        qsort(files->paths, files->count, sizeof *files->paths, by_path);
    files->bytes = ys_alloc(files->count, sizeof *files->bytes);
    for (size_t i = 0; status == YS_OK && i < files->count; i++)
        status = map(files->paths[i], &files->bytes[i]);
    return status;
}

/* Parameters that cannot be told from other bytes are there as often as the others, in the same type. Where some of the
 * others hide, the adapter's word counts, or nothing does. */
static void settle(const struct ys_found_parameters *seen, int64_t as_said, struct ys_facts_stored *found)
{
    found->elements = seen->elements;
    found->type = (int)seen->type;
    found->found = seen->known > 0 ? (double)seen->found / (double)seen->known : 0;
    if (seen->found > 0)
        found->copies = (double)seen->copies / (double)seen->found;
    if (seen->found > 0 && seen->found == seen->known) {
        const double each = (double)seen->bytes / (double)seen->known;
        found->parameter_bytes = seen->bytes + (int64_t)(each * (double)(seen->elements - seen->known) + 0.5);
        return;
    }
    found->parameter_bytes = as_said;
    found->is_said = as_said != YS_FIELD_NONE;
    if (found->is_said && seen->found == 0 && as_said == 2 * seen->elements)
        found->type = YS_STORED_F16;
}

enum { LEVEL = 19 };

/* One frame of all files; *size is what it takes. */
static size_t compress_all(ZSTD_CCtx *context, const struct mapped_files *files, void *room, size_t room_size,
                           size_t *size)
{
    size_t left = ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
    for (size_t i = 0; i <= files->count && !ZSTD_isError(left); i++) {
        const bool ends = i == files->count;
        ZSTD_inBuffer in = {ends ? NULL : files->bytes[i].data, ends ? 0 : files->bytes[i].size, 0};
        do {
            ZSTD_outBuffer out = {room, room_size, 0};
            left = ZSTD_compressStream2(context, &out, &in, ends ? ZSTD_e_end : ZSTD_e_continue);
            *size += out.pos;
        } while (!ZSTD_isError(left) && (ends ? left > 0 : in.pos < in.size));
    }
    return left;
}

static ys_status compress(const struct mapped_files *files, struct ys_facts_stored *found)
{
    const size_t room_size = ZSTD_CStreamOutSize();
    ZSTD_CCtx *context = ZSTD_createCCtx();
    void *room = ys_alloc(room_size, 1);
    size_t size = 0;
    const size_t left = context ? compress_all(context, files, room, room_size, &size) : 0;
    ys_status status = !context ? ys_out_of_memory()
                       : ZSTD_isError(left)
                           ? ys_fail(YS_EIO, "zstd cannot compress what was stored: %s", ZSTD_getErrorName(left))
                           : YS_OK;
    ZSTD_freeCCtx(context);
    ys_free(room);
    if (status == YS_OK)
        found->zstd_bytes = (int64_t)size;
    ys_set_text(&found->zstd_version, ZSTD_versionString());
    return status;
}

static ys_status count(const struct mapped_files *files, const char *weights, int64_t as_said,
                       struct ys_facts_stored *found)
{
    struct ys_found_parameters seen;
    struct ys_safetensors *file = NULL;
    found->bytes = 0;
    found->files = (int64_t)files->count;
    for (size_t i = 0; i < files->count; i++)
        found->bytes += (int64_t)files->bytes[i].size;
    YS_TRY(ys_safetensors_open(weights, &file));
    ys_status status = ys_parameters_find(file, files->bytes, files->count, &seen);
    if (status == YS_OK)
        settle(&seen, as_said, found);
    ys_safetensors_close(file);
    return status;
}

ys_status ys_stored_files_count(const char *path, const char *weights, int64_t as_said, struct ys_facts_stored *found)
{
    struct mapped_files files = {0};
    ys_status status = map_all(path, &files);
    if (status == YS_OK)
        status = count(&files, weights, as_said, found);
    if (status == YS_OK)
        status = compress(&files, found);
    unmap(&files);
    return status;
}

static void round_tensor(const struct ys_tensor *from, enum ys_stored_type type, float *to)
{
    const size_t elements = ys_tensor_count(from);
    for (size_t i = 0; i < elements; i++)
        to[i] = ys_stored_round((float)ys_tensor_value(from, i), type);
}

ys_status ys_stored_round_weights(const char *from, enum ys_stored_type type, const char *to)
{
    struct ys_safetensors *file = NULL;
    YS_TRY(ys_safetensors_open(from, &file));
    const size_t tensors = ys_safetensors_count(file);
    struct ys_tensor *rounded = ys_alloc(tensors, sizeof *rounded);
    for (size_t i = 0; i < tensors; i++) {
        const struct ys_tensor *tensor = ys_safetensors_at(file, i);
        float *values = ys_alloc(ys_tensor_count(tensor), sizeof *values);
        round_tensor(tensor, type, values);
        rounded[i] = *tensor;
        rounded[i].dtype = YS_F32;
        rounded[i].data = values;
        rounded[i].size_bytes = ys_tensor_count(tensor) * sizeof *values;
    }
    ys_status status = ys_safetensors_write(to, rounded, tensors, NULL);
    for (size_t i = 0; i < tensors; i++)
        ys_free((void *)(uintptr_t)rounded[i].data);
    ys_free(rounded);
    ys_safetensors_close(file);
    return status;
}

static void round_reals(double *values, size_t count, enum ys_stored_type type)
{
    for (size_t i = 0; i < count; i++)
        values[i] = ys_stored_round((float)values[i], type);
}

ys_status ys_stored_round_graph(const char *from, enum ys_stored_type type, enum ys_stored_constants constants,
                                const char *to)
{
    struct ys_graph *graph = NULL;
    YS_TRY(ys_graph_read(from, &graph));
    for (size_t i = 0; i < graph->node_count; i++) {
        struct ys_normalize *numbers = &graph->nodes[i].normalize;
        if (graph->nodes[i].op != YS_OP_NORMALIZE || constants == YS_CONSTANTS_WHOLE)
            continue;
        round_reals(&numbers->scale, 1, type);
        round_reals(numbers->mean, numbers->channels, type);
        if (constants == YS_CONSTANTS_ROUNDED)
            round_reals(numbers->std, numbers->channels, type);
    }
    ys_json *json = ys_graph_to_json(graph);
    ys_status status = json ? ys_json_write(to, json) : ys_out_of_memory();
    ys_json_free(json);
    ys_graph_free(graph);
    return status;
}

static ys_status remove_entry(void *of, const char *path, const char *name)
{
    (void)of;
    return strcmp(name, YS_LOG_NAME) == 0 ? YS_OK : ys_fs_remove_tree(path);
}

void ys_stored_files_remove(const char *saving)
{
    if (ys_fs_is_dir(saving) && each_entry(saving, remove_entry, NULL) != YS_OK)
        ys_log_warn("%s", ys_error());
}
