#include "base/stored/safetensors.h"
#include "base/buf.h"
#include "base/files/atomic_file.h"
#include "base/mem.h"
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensors are used as they lie in the file, little-endian");

#define LENGTH_BYTES     8
#define MAX_HEADER_BYTES 100000000u /* the format's own limit */
#define ALIGNMENT        8
#define METADATA         "__metadata__"

static const struct {
    const char *name;
    size_t size;
} dtypes[] = {
    [YS_F64] = {"F64", 8}, [YS_F32] = {"F32", 4}, [YS_BF16] = {"BF16", 2}, [YS_I64] = {"I64", 8},
    [YS_I32] = {"I32", 4}, [YS_U32] = {"U32", 4}, [YS_U8] = {"U8", 1},
};
_Static_assert(sizeof dtypes / sizeof dtypes[0] == YS_DTYPE_COUNT, "every dtype has a name and a size");

struct header_entry {
    struct ys_tensor tensor;
    size_t begin, end; /* bytes from the start of the data */
    size_t index;      /* place in the header */
    void *aligned;     /* a copy, where the file holds the data at an odd place */
};

struct ys_safetensors {
    char *path;
    const char *map; /* the whole file: mapped, or a copy in memory */
    bool is_copy;
    size_t map_size;
    ys_json *header;
    struct header_entry *entries; /* in order of the data */
    const struct ys_tensor **by_name;
    size_t count;
};

size_t ys_dtype_size(enum ys_dtype dtype)
{
    YS_ASSERT(dtype >= 0 && dtype < YS_DTYPE_COUNT);
    return dtypes[dtype].size;
}

const char *ys_dtype_name(enum ys_dtype dtype)
{
    YS_ASSERT(dtype >= 0 && dtype < YS_DTYPE_COUNT);
    return dtypes[dtype].name;
}

ys_status ys_dtype_parse(const char *name, enum ys_dtype *dtype)
{
    for (int i = 0; i < YS_DTYPE_COUNT; i++)
        if (strcmp(name, dtypes[i].name) == 0) {
            *dtype = (enum ys_dtype)i;
            return YS_OK;
        }
    return ys_fail(YS_EFORMAT, "unknown dtype \"%s\" (known: F64 F32 BF16 I64 I32 U32 U8)", name);
}

size_t ys_tensor_count(const struct ys_tensor *tensor)
{
    size_t count = 1;
    for (size_t i = 0; i < tensor->rank; i++)
        count *= (size_t)tensor->shape[i];
    return count;
}

double ys_tensor_value(const struct ys_tensor *tensor, size_t i)
{
    switch (tensor->dtype) {
    case YS_F64:
        return ((const double *)tensor->data)[i];
    case YS_F32:
        return ((const float *)tensor->data)[i];
    case YS_BF16: {
        uint32_t bits = (uint32_t)((const uint16_t *)tensor->data)[i] << 16; /* the upper half of an F32 */
        float value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    case YS_I64:
        return (double)((const int64_t *)tensor->data)[i];
    case YS_I32:
        return ((const int32_t *)tensor->data)[i];
    case YS_U32:
        return ((const uint32_t *)tensor->data)[i];
    case YS_U8:
        return ((const uint8_t *)tensor->data)[i];
    case YS_DTYPE_COUNT:
        break;
    }
    YS_ASSERT(!"a dtype of the list");
    return 0;
}

/** Bytes of a tensor of this shape; false when a dimension is negative or the product overflows. */
static bool shape_bytes(const struct ys_tensor *tensor, size_t *size_bytes)
{
    size_t bytes = ys_dtype_size(tensor->dtype);
    for (size_t i = 0; i < tensor->rank; i++)
        if (tensor->shape[i] < 0 || __builtin_mul_overflow(bytes, (size_t)tensor->shape[i], &bytes))
            return false;
    *size_bytes = bytes;
    return true;
}

static ys_status map_file(struct ys_safetensors *file, int fd, size_t size)
{
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return ys_fail(YS_EIO, "cannot map %s: %s", file->path, strerror(errno));
    file->map = map;
    file->map_size = size;
    return YS_OK;
}

static ys_status copy_file(struct ys_safetensors *file, int fd, size_t size)
{
    char *copy = ys_realloc(NULL, size, 1);
    if (!copy)
        return ys_out_of_memory();
    file->map = copy;
    file->map_size = size;
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(fd, copy + done, size - done, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ys_fail(YS_EIO, "cannot read %s: %s", file->path, strerror(errno));
        if (got == 0)
            return ys_fail(YS_EFORMAT, "%s became shorter while it was read", file->path);
        done += (size_t)got;
    }
    return YS_OK;
}

static ys_status take_file(struct ys_safetensors *file)
{
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return ys_fail(errno == ENOENT ? YS_ENOTFOUND : YS_EIO, "cannot open %s: %s", file->path, strerror(errno));
    struct stat info;
    ys_status status = YS_OK;
    if (fstat(fd, &info) != 0)
        status = ys_fail(YS_EIO, "cannot read %s: %s", file->path, strerror(errno));
    else if (!S_ISREG(info.st_mode))
        status = ys_fail(YS_EFORMAT, "%s is not a regular file", file->path);
    else if (info.st_size < LENGTH_BYTES)
        status = ys_fail(YS_EFORMAT, "%s: %lld bytes are too few for a safetensors file", file->path,
                         (long long)info.st_size);
    if (status == YS_OK)
        status = file->is_copy ? copy_file(file, fd, (size_t)info.st_size) : map_file(file, fd, (size_t)info.st_size);
    close(fd);
    return status;
}

/** Parses the header and tells how long it is. */
static ys_status read_header(struct ys_safetensors *file, size_t *header_bytes)
{
    uint64_t length;
    memcpy(&length, file->map, sizeof length);
    if (length > MAX_HEADER_BYTES || length > file->map_size - LENGTH_BYTES)
        return ys_fail(YS_EFORMAT, "%s: a header of %llu bytes does not fit a file of %zu bytes", file->path,
                       (unsigned long long)length, file->map_size);
    if (length == 0 || file->map[LENGTH_BYTES] != '{')
        return ys_fail(YS_EFORMAT, "%s: the header is not a JSON object", file->path);
    YS_TRY(ys_json_parse(file->map + LENGTH_BYTES, (size_t)length, file->path, &file->header));
    *header_bytes = (size_t)length;
    return YS_OK;
}

/** Metadata is an object of strings, in a file (YS_EFORMAT) and from a caller (YS_EINVAL). */
static ys_status check_metadata(const char *path, const ys_json *metadata, ys_status status)
{
    if (ys_json_type_of(metadata) != YS_JSON_OBJECT)
        return ys_fail(status, "%s: %s is not an object", path, METADATA);
    for (void *it = ys_json_iter(metadata); it; it = ys_json_next(metadata, it))
        if (ys_json_type_of(ys_json_iter_value(it)) != YS_JSON_STRING)
            return ys_fail(status, "%s: \"%s\" of %s is not a string", path, ys_json_iter_key(it), METADATA);
    return YS_OK;
}

static ys_status read_shape(const struct ys_safetensors *file, const ys_json *shape, struct ys_tensor *tensor)
{
    if (ys_json_type_of(shape) != YS_JSON_ARRAY)
        return ys_fail(YS_EFORMAT, "%s: the shape of tensor \"%s\" is not an array", file->path, tensor->name);
    tensor->rank = ys_json_size(shape);
    if (tensor->rank > YS_MAX_RANK)
        return ys_fail(YS_EFORMAT, "%s: tensor \"%s\" has %zu dimensions, more than %d", file->path, tensor->name,
                       tensor->rank, YS_MAX_RANK);
    for (size_t i = 0; i < tensor->rank; i++) {
        const ys_json *dimension = ys_json_at(shape, i);
        tensor->shape[i] = ys_json_integer(dimension, -1);
        if (ys_json_type_of(dimension) != YS_JSON_INT || tensor->shape[i] < 0)
            return ys_fail(YS_EFORMAT, "%s: dimension %zu of tensor \"%s\" is not a count", file->path, i,
                           tensor->name);
    }
    if (!shape_bytes(tensor, &tensor->size_bytes))
        return ys_fail(YS_EFORMAT, "%s: the shape of tensor \"%s\" is too large", file->path, tensor->name);
    return YS_OK;
}

static ys_status read_entry(const struct ys_safetensors *file, const ys_json *value, size_t data_bytes,
                            struct header_entry *entry)
{
    struct ys_tensor *tensor = &entry->tensor;
    if (ys_json_type_of(value) != YS_JSON_OBJECT)
        return ys_fail(YS_EFORMAT, "%s: tensor \"%s\" is not described by an object", file->path, tensor->name);
    const char *dtype = ys_json_get_text(value, "dtype", NULL);
    if (!dtype)
        return ys_fail(YS_EFORMAT, "%s: tensor \"%s\" has no dtype", file->path, tensor->name);
    ys_status status = ys_dtype_parse(dtype, &tensor->dtype);
    if (status != YS_OK)
        return ys_fail_in(status, "%s: tensor \"%s\"", file->path, tensor->name);
    YS_TRY(read_shape(file, ys_json_get(value, "shape"), tensor));
    const ys_json *offsets = ys_json_get(value, "data_offsets");
    const ys_json *begin = ys_json_at(offsets, 0), *end = ys_json_at(offsets, 1);
    if (ys_json_size(offsets) != 2 || ys_json_type_of(begin) != YS_JSON_INT || ys_json_type_of(end) != YS_JSON_INT)
        return ys_fail(YS_EFORMAT, "%s: the data_offsets of tensor \"%s\" are not two integers", file->path,
                       tensor->name);
    int64_t first = ys_json_integer(begin, -1), last = ys_json_integer(end, -1);
    if (first < 0 || last < first || (uint64_t)last > data_bytes)
        return ys_fail(YS_EFORMAT, "%s: tensor \"%s\" lies at bytes %lld to %lld of %zu", file->path, tensor->name,
                       (long long)first, (long long)last, data_bytes);
    if ((uint64_t)(last - first) != tensor->size_bytes)
        return ys_fail(YS_EFORMAT, "%s: tensor \"%s\" occupies %lld bytes, its shape needs %zu", file->path,
                       tensor->name, (long long)(last - first), tensor->size_bytes);
    entry->begin = (size_t)first;
    entry->end = (size_t)last;
    return YS_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct header_entry *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end) /* empty tensors come before the one that starts at the same place */
        return x->end < y->end ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct ys_tensor *const *)a)->name, (*(const struct ys_tensor *const *)b)->name);
}

static ys_status check_contiguous(const struct ys_safetensors *file, size_t data_bytes)
{
    size_t place = 0;
    for (size_t i = 0; i < file->count; i++) {
        const struct header_entry *entry = &file->entries[i];
        if (entry->begin != place)
            return ys_fail(YS_EFORMAT, "%s: tensor \"%s\" begins at byte %zu, %s byte %zu where the one before ends",
                           file->path, entry->tensor.name, entry->begin, entry->begin < place ? "before" : "after",
                           place);
        place = entry->end;
    }
    if (place != data_bytes)
        return ys_fail(YS_EFORMAT, "%s: %zu bytes after the last tensor belong to none", file->path,
                       data_bytes - place);
    return YS_OK;
}

/** Points every tensor at its data, copying what is not aligned. */
static ys_status place_data(struct ys_safetensors *file, const char *data)
{
    for (size_t i = 0; i < file->count; i++) {
        struct header_entry *entry = &file->entries[i];
        entry->tensor.data = data + entry->begin;
        if ((uintptr_t)entry->tensor.data % ALIGNMENT == 0)
            continue;
        entry->aligned = ys_realloc(NULL, entry->tensor.size_bytes, 1);
        if (!entry->aligned)
            return ys_out_of_memory();
        memcpy(entry->aligned, entry->tensor.data, entry->tensor.size_bytes);
        entry->tensor.data = entry->aligned;
    }
    return YS_OK;
}

static ys_status read_entries(struct ys_safetensors *file, size_t data_bytes)
{
    size_t members = ys_json_size(file->header);
    file->entries = ys_alloc(members, sizeof *file->entries);
    file->by_name = ys_alloc(members, sizeof *file->by_name);
    if (!file->entries || !file->by_name)
        return ys_out_of_memory();
    for (void *it = ys_json_iter(file->header); it; it = ys_json_next(file->header, it)) {
        const ys_json *value = ys_json_iter_value(it);
        if (strcmp(ys_json_iter_key(it), METADATA) == 0) {
            YS_TRY(check_metadata(file->path, value, YS_EFORMAT));
            continue;
        }
        struct header_entry *entry = &file->entries[file->count];
        *entry = (struct header_entry){.index = file->count, .tensor.name = ys_json_iter_key(it)};
        YS_TRY(read_entry(file, value, data_bytes, entry));
        file->count++;
    }
    if (file->count > 1)
        qsort(file->entries, file->count, sizeof *file->entries, by_place);
    for (size_t i = 0; i < file->count; i++)
        file->by_name[i] = &file->entries[i].tensor;
    if (file->count > 1)
        qsort(file->by_name, file->count, sizeof *file->by_name, by_name);
    return check_contiguous(file, data_bytes);
}

static ys_status open_file(const char *path, bool is_copy, struct ys_safetensors **file)
{
    struct ys_safetensors *opened = ys_alloc(1, sizeof *opened);
    if (!opened)
        return ys_out_of_memory();
    opened->path = ys_strdup(path);
    opened->is_copy = is_copy;
    size_t header_bytes = 0, data_start = 0;
    ys_status status = opened->path ? take_file(opened) : ys_out_of_memory();
    if (status == YS_OK)
        status = read_header(opened, &header_bytes);
    if (status == YS_OK) {
        data_start = LENGTH_BYTES + header_bytes;
        status = read_entries(opened, opened->map_size - data_start);
    }
    if (status == YS_OK)
        status = place_data(opened, opened->map + data_start);
    if (status != YS_OK)
        ys_safetensors_close(opened);
    else
        *file = opened;
    return status;
}

ys_status ys_safetensors_open(const char *path, struct ys_safetensors **file)
{
    return open_file(path, false, file);
}

ys_status ys_safetensors_load(const char *path, struct ys_safetensors **file)
{
    return open_file(path, true, file);
}

void ys_safetensors_close(struct ys_safetensors *file)
{
    if (!file)
        return;
    for (size_t i = 0; i < file->count; i++)
        ys_free(file->entries[i].aligned);
    ys_free(file->entries);
    ys_free(file->by_name);
    ys_json_free(file->header);
    if (file->is_copy)
        ys_free((void *)(uintptr_t)file->map);
    else if (file->map)
        munmap((void *)(uintptr_t)file->map, file->map_size);
    ys_free(file->path);
    ys_free(file);
}

size_t ys_safetensors_count(const struct ys_safetensors *file)
{
    return file->count;
}

const struct ys_tensor *ys_safetensors_at(const struct ys_safetensors *file, size_t index)
{
    YS_ASSERT(index < file->count);
    return &file->entries[index].tensor;
}

const struct ys_tensor *ys_safetensors_find(const struct ys_safetensors *file, const char *name)
{
    const struct ys_tensor wanted = {.name = name}, *key = &wanted;
    if (file->count == 0)
        return NULL;
    const struct ys_tensor *const *found = bsearch(&key, file->by_name, file->count, sizeof *file->by_name, by_name);
    return found ? *found : NULL;
}

/** "[2, 3]" */
static void put_shape(struct ys_buf *text, const int64_t *shape, size_t rank)
{
    ys_buf_puts(text, "[");
    for (size_t i = 0; i < rank; i++)
        ys_buf_printf(text, "%s%lld", i ? ", " : "", (long long)shape[i]);
    ys_buf_puts(text, "]");
}

static ys_status fail_shape(const struct ys_safetensors *file, const struct ys_tensor *found, size_t rank,
                            const int64_t *shape)
{
    struct ys_buf is = {0}, wanted = {0};
    put_shape(&is, found->shape, found->rank);
    if (shape)
        put_shape(&wanted, shape, rank);
    else
        ys_buf_printf(&wanted, "%zu dimensions", rank);
    ys_status status = ys_fail(YS_EFORMAT, "%s: tensor \"%s\" has the shape %s, not %s", file->path, found->name,
                               ys_buf_text(&is), ys_buf_text(&wanted));
    ys_buf_free(&is);
    ys_buf_free(&wanted);
    return status;
}

ys_status ys_safetensors_need(const struct ys_safetensors *file, const char *name, enum ys_dtype dtype, size_t rank,
                              const int64_t *shape, const struct ys_tensor **tensor)
{
    const struct ys_tensor *found = ys_safetensors_find(file, name);
    if (!found)
        return ys_fail(YS_ENOTFOUND, "%s has no tensor \"%s\"", file->path, name);
    if (found->dtype != dtype)
        return ys_fail(YS_EFORMAT, "%s: tensor \"%s\" holds %s, not %s", file->path, name, ys_dtype_name(found->dtype),
                       ys_dtype_name(dtype));
    bool fits = rank == SIZE_MAX || found->rank == rank;
    for (size_t i = 0; fits && rank != SIZE_MAX && shape && i < rank; i++)
        fits = found->shape[i] == shape[i];
    if (!fits)
        return fail_shape(file, found, rank, shape);
    *tensor = found;
    return YS_OK;
}

const char *ys_safetensors_meta(const struct ys_safetensors *file, const char *key)
{
    return ys_json_get_text(ys_json_get(file->header, METADATA), key, NULL);
}

static ys_status describe(ys_json *header, const struct ys_tensor *tensor, size_t begin)
{
    ys_json *entry = ys_json_object(), *shape = ys_json_array(), *offsets = ys_json_array();
    for (size_t i = 0; i < tensor->rank; i++)
        ys_json_append(shape, ys_json_int(tensor->shape[i]));
    ys_json_append(offsets, ys_json_int((int64_t)begin));
    ys_json_append(offsets, ys_json_int((int64_t)(begin + tensor->size_bytes)));
    ys_json_set_string(entry, "dtype", ys_dtype_name(tensor->dtype));
    ys_json_set(entry, "shape", shape);
    ys_json_set(entry, "data_offsets", offsets);
    size_t before = ys_json_size(header);
    YS_TRY(ys_json_set(header, tensor->name, entry));
    if (ys_json_size(header) == before)
        return ys_fail(YS_EINVAL, "two tensors cannot have the name \"%s\"", tensor->name);
    return YS_OK;
}

static ys_status check_tensor(const struct ys_tensor *tensor)
{
    size_t size_bytes;
    if (!tensor->name || strcmp(tensor->name, METADATA) == 0)
        return ys_fail(YS_EINVAL, "a tensor cannot have the name \"%s\"", tensor->name ? tensor->name : "");
    if (tensor->rank > YS_MAX_RANK || !shape_bytes(tensor, &size_bytes) || size_bytes != tensor->size_bytes)
        return ys_fail(YS_EINVAL, "tensor \"%s\": its shape does not give its size, %zu bytes", tensor->name,
                       tensor->size_bytes);
    return YS_OK;
}

/** The order of writing: falling element size, so that each tensor is aligned to its elements. Free with ys_free. */
static const struct ys_tensor **order_to_write(const struct ys_tensor *tensors, size_t count)
{
    const struct ys_tensor **order = ys_alloc(count, sizeof *order);
    size_t used = 0;
    for (size_t size = 8; order && size >= 1; size /= 2)
        for (size_t i = 0; i < count; i++)
            if (ys_dtype_size(tensors[i].dtype) == size)
                order[used++] = &tensors[i];
    return order;
}

/** The length and the padded header into `out`. */
static ys_status make_header(const struct ys_tensor *const *order, size_t count, const ys_json *meta,
                             struct ys_buf *out)
{
    ys_json *header = ys_json_object();
    ys_status status = header ? YS_OK : ys_out_of_memory();
    if (status == YS_OK && meta)
        status = ys_json_set(header, METADATA, ys_json_copy(meta));
    for (size_t i = 0, begin = 0; i < count && status == YS_OK; begin += order[i++]->size_bytes)
        status = describe(header, order[i], begin);
    char *text = status == YS_OK ? ys_json_dump(header, YS_JSON_COMPACT) : NULL;
    ys_json_free(header);
    if (!text)
        return status == YS_OK ? ys_out_of_memory() : status;
    size_t text_bytes = strlen(text), padding = (ALIGNMENT - text_bytes % ALIGNMENT) % ALIGNMENT;
    uint64_t length = text_bytes + padding;
    ys_buf_append(out, &length, sizeof length);
    ys_buf_puts(out, text);
    status = ys_buf_append(out, "       ", padding);
    ys_free(text);
    if (status == YS_OK && length > MAX_HEADER_BYTES)
        status =
            ys_fail(YS_EINVAL, "a header of %llu bytes is more than safetensors allows", (unsigned long long)length);
    return status;
}

static ys_status write_file(const char *path, const struct ys_buf *header, const struct ys_tensor *const *order,
                            size_t count, bool fleeting)
{
    struct ys_atomic_file file;
    YS_TRY(ys_atomic_file_open(&file, path));
    file.fleeting = fleeting;
    ys_status status = ys_atomic_file_write(&file, header->data, header->size);
    for (size_t i = 0; i < count && status == YS_OK; i++)
        status = ys_atomic_file_write(&file, order[i]->data, order[i]->size_bytes);
    if (status == YS_OK)
        return ys_atomic_file_commit(&file);
    ys_atomic_file_discard(&file);
    return status;
}

static ys_status write_tensors(const char *path, const struct ys_tensor *tensors, size_t count, const ys_json *meta,
                               bool fleeting)
{
    for (size_t i = 0; i < count; i++)
        YS_TRY(check_tensor(&tensors[i]));
    if (meta)
        YS_TRY(check_metadata(path, meta, YS_EINVAL));
    const struct ys_tensor **order = order_to_write(tensors, count);
    if (!order)
        return ys_out_of_memory();
    struct ys_buf header = {0};
    ys_status status = make_header(order, count, meta, &header);
    if (status == YS_OK)
        status = write_file(path, &header, order, count, fleeting);
    ys_buf_free(&header);
    ys_free(order);
    return status == YS_OK || status == YS_EIO ? status : ys_fail_in(status, "cannot write %s", path);
}

ys_status ys_safetensors_write(const char *path, const struct ys_tensor *tensors, size_t count, const ys_json *meta)
{
    return write_tensors(path, tensors, count, meta, false);
}

ys_status ys_safetensors_pass(const char *path, const struct ys_tensor *tensors, size_t count)
{
    return write_tensors(path, tensors, count, NULL, true);
}

struct ys_safetensors_draft {
    struct ys_atomic_file file;
    char *path;
    unsigned char *mapped;
    size_t size;
    size_t *starts; /* of each tensor */
};

/* Room is taken at once: later, where it is missing, the kernel can only end the process. */
static ys_status map_draft(struct ys_safetensors_draft *draft)
{
    int error = posix_fallocate(draft->file.fd, 0, (off_t)draft->size);
    void *mapped = error ? MAP_FAILED : mmap(NULL, draft->size, PROT_READ | PROT_WRITE, MAP_SHARED, draft->file.fd, 0);
    if (mapped == MAP_FAILED)
        return ys_fail(YS_EIO, "no room for %zu bytes of %s: %s", draft->size, draft->path,
                       strerror(error ? error : errno));
    draft->mapped = mapped;
    return YS_OK;
}

static ys_status begin_draft(struct ys_safetensors_draft *draft, const struct ys_tensor *tensors, size_t count)
{
    struct ys_buf header = {0};
    const struct ys_tensor **order = order_to_write(tensors, count);
    ys_status status = order ? make_header(order, count, NULL, &header) : ys_out_of_memory();
    draft->size = header.size;
    for (size_t i = 0; status == YS_OK && i < count; i++) {
        draft->starts[order[i] - tensors] = draft->size;
        draft->size += order[i]->size_bytes;
    }
    if (status == YS_OK)
        status = ys_atomic_file_open(&draft->file, draft->path);
    draft->file.fleeting = true;
    if (status == YS_OK)
        status = map_draft(draft);
    if (status == YS_OK)
        memcpy(draft->mapped, header.data, header.size);
    ys_buf_free(&header);
    ys_free(order);
    return status;
}

ys_status ys_safetensors_draft_open(const char *path, const struct ys_tensor *tensors, size_t count,
                                    struct ys_safetensors_draft **draft)
{
    for (size_t i = 0; i < count; i++)
        YS_TRY(check_tensor(&tensors[i]));
    struct ys_safetensors_draft *made = ys_alloc(1, sizeof *made);
    if (!made)
        return ys_out_of_memory();
    made->file.fd = -1;
    made->path = ys_strdup(path);
    made->starts = ys_alloc(count, sizeof *made->starts);
    ys_status status = made->path && made->starts ? begin_draft(made, tensors, count) : ys_out_of_memory();
    if (status == YS_OK)
        *draft = made;
    else
        ys_safetensors_draft_discard(made);
    return status;
}

void *ys_safetensors_draft_at(const struct ys_safetensors_draft *draft, size_t index)
{
    return draft->mapped + draft->starts[index];
}

ys_status ys_safetensors_draft_commit(struct ys_safetensors_draft *draft)
{
    ys_status status = ys_atomic_file_commit(&draft->file);
    ys_safetensors_draft_discard(draft);
    return status;
}

void ys_safetensors_draft_discard(struct ys_safetensors_draft *draft)
{
    if (!draft)
        return;
    if (draft->mapped)
        munmap(draft->mapped, draft->size);
    ys_atomic_file_discard(&draft->file);
    ys_free(draft->path);
    ys_free(draft->starts);
    ys_free(draft);
}
