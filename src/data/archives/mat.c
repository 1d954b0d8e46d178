#include "data/archives/mat.h"
#include "base/mem.h"
#include "data/archives/gzip.h"
#include <stdbool.h>
#include <string.h>

enum { HEAD_BYTES = 128, VERSION_AT = 124, ORDER_AT = 126, TAG_BYTES = 8 };

/* Types of elements. */
enum { INT8 = 1, UINT8 = 2, INT32 = 5, UINT32 = 6, DOUBLE = 9, MATRIX = 14, COMPRESSED = 15 };

/* Classes of arrays whose elements are numbers: double to uint64. */
enum { FIRST_NUMERIC = 6, LAST_NUMERIC = 15, COMPLEX_FLAG = 0x800 };

/** What is left to read, and how messages about it begin. */
struct cursor {
    const uint8_t *at;
    size_t left;
    const char *name;
};

struct element {
    uint32_t type;
    const uint8_t *data; /* `size` bytes */
    size_t size;
};

static uint32_t load_u32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static ys_status cut_short(const struct cursor *c, size_t wanted)
{
    return ys_fail(YS_EFORMAT, "%s: cut short: an element of %zu bytes begins where %zu are left", c->name, wanted,
                   c->left);
}

/* Elements of up to four bytes lie in their own tag. All but compressed ones are padded to eight. */
static ys_status take(struct cursor *c, struct element *element)
{
    if (c->left < TAG_BYTES)
        return cut_short(c, TAG_BYTES);
    const uint32_t type = load_u32(c->at);
    const bool is_small = type >> 16 != 0;
    const size_t size = is_small ? type >> 16 : load_u32(c->at + 4), head = is_small ? 4 : TAG_BYTES;
    if (size > (is_small ? 4 : c->left - TAG_BYTES))
        return cut_short(c, size);
    *element = (struct element){.type = type & 0xffff, .data = c->at + head, .size = size};
    size_t used = head + size;
    if (element->type != COMPRESSED)
        used = (used + 7) / 8 * 8;
    used = used < c->left ? used : c->left;
    c->at += used;
    c->left -= used;
    return YS_OK;
}

static ys_status take_typed(struct cursor *c, uint32_t type, const char *what, struct element *element)
{
    YS_TRY(take(c, element));
    return element->type == type
               ? YS_OK
               : ys_fail(YS_EFORMAT, "%s: an array has type %u where its %s should be", c->name, element->type, what);
}

static ys_status read_shape(const struct cursor *c, const struct element *shape, struct ys_mat_array *array)
{
    array->rank = shape->size / 4;
    array->count = 1;
    if (shape->size % 4 || array->rank < 2 || array->rank > YS_MAT_MAX_RANK)
        return ys_fail(YS_EFORMAT, "%s: array %s has a shape of %zu bytes: 2 to %d dimensions are read", c->name,
                       array->name, shape->size, YS_MAT_MAX_RANK);
    for (size_t i = 0; i < array->rank; i++) {
        const uint32_t extent = load_u32(shape->data + 4 * i);
        if (extent < 1 || extent > YS_MAT_MAX_BYTES / array->count)
            return ys_fail(YS_EFORMAT,
                           "%s: dimension %zu of array %s is %lld: it must be 1 or more, and the array at "
                           "most %zu values",
                           c->name, i, array->name, (long long)(int32_t)extent, YS_MAT_MAX_BYTES);
        array->shape[i] = extent;
        array->count *= extent;
    }
    return YS_OK;
}

static ys_status bad_value(const struct cursor *c, const struct ys_mat_array *array, size_t i, double value)
{
    return ys_fail(YS_EFORMAT, "%s: value %zu of array %s is %g, not a whole number from 0 to 255", c->name, i,
                   array->name, value);
}

static ys_status read_doubles(const struct cursor *c, const uint8_t *data, struct ys_mat_array *array)
{
    for (size_t i = 0; i < array->count; i++) {
        double value;
        memcpy(&value, data + i * sizeof value, sizeof value);
        if (!(value >= 0 && value <= 255) || value != (uint8_t)value)
            return bad_value(c, array, i, value);
        array->values[i] = (uint8_t)value;
    }
    return YS_OK;
}

static ys_status read_values(const struct cursor *c, const struct element *numbers, struct ys_mat_array *array)
{
    const size_t each = numbers->type == DOUBLE ? sizeof(double) : 1;
    if (numbers->type != UINT8 && numbers->type != DOUBLE)
        return ys_fail(YS_EFORMAT, "%s: the numbers of array %s have type %u: bytes (2) and doubles (9) are read",
                       c->name, array->name, numbers->type);
    if (numbers->size != array->count * each)
        return ys_fail(YS_EFORMAT, "%s: array %s has %zu bytes of numbers, not %zu", c->name, array->name,
                       numbers->size, array->count * each);
    array->values = ys_alloc(array->count, 1);
    if (numbers->type == DOUBLE)
        return read_doubles(c, numbers->data, array);
    memcpy(array->values, numbers->data, array->count);
    return YS_OK;
}

/* The wanted array of that name, NULL when it is none. */
static struct ys_mat_array *find(const struct element *name, struct ys_mat_array *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(arrays[i].name) == name->size && memcmp(arrays[i].name, name->data, name->size) == 0)
            return &arrays[i];
    return NULL;
}

static ys_status read_matrix(const struct element *matrix, const char *name, struct ys_mat_array *arrays, size_t count)
{
    struct cursor c = {matrix->data, matrix->size, name};
    struct element flags, shape, word, numbers;
    YS_TRY(take_typed(&c, UINT32, "flags", &flags));
    if (flags.size != 8)
        return ys_fail(YS_EFORMAT, "%s: the flags of an array have %zu bytes, not 8", name, flags.size);
    YS_TRY(take_typed(&c, INT32, "shape", &shape));
    YS_TRY(take_typed(&c, INT8, "name", &word));
    struct ys_mat_array *array = find(&word, arrays, count);
    if (!array)
        return YS_OK;
    const uint32_t bits = load_u32(flags.data), class = bits & 0xff;
    if (array->values)
        return ys_fail(YS_EFORMAT, "%s holds array %s twice", name, array->name);
    if (class < FIRST_NUMERIC || class > LAST_NUMERIC || bits & COMPLEX_FLAG)
        return ys_fail(YS_EFORMAT, "%s: array %s is of class %u: plain numbers are read", name, array->name, class);
    YS_TRY(read_shape(&c, &shape, array));
    YS_TRY(take(&c, &numbers));
    return read_values(&c, &numbers, array);
}

/* The one element that a compressed one holds; *expanded: new bytes, which it lies in. */
static ys_status unpack(const struct element *packed, const char *name, uint8_t **expanded, struct element *element)
{
    uint8_t tag[TAG_BYTES];
    size_t got;
    bool more;
    YS_TRY(ys_zlib_expand(packed->data, packed->size, name, tag, sizeof tag, &got, &more));
    if (got < sizeof tag)
        return ys_fail(YS_EFORMAT, "%s: a compressed element holds %zu bytes", name, got);
    const size_t size = load_u32(tag + 4);
    if (load_u32(tag) >> 16 || size > YS_MAT_MAX_BYTES + 4096)
        return ys_fail(YS_EFORMAT, "%s: a compressed element announces %zu bytes: at most %zu are read", name, size,
                       YS_MAT_MAX_BYTES);
    *expanded = ys_alloc(TAG_BYTES + size, 1);
    YS_TRY(ys_zlib_expand(packed->data, packed->size, name, *expanded, TAG_BYTES + size, &got, &more));
    if (got < TAG_BYTES + size || more)
        return ys_fail(YS_EFORMAT, "%s: a compressed element announces %zu bytes and holds %s", name, size,
                       more ? "more" : "fewer");
    *element = (struct element){.type = load_u32(tag), .data = *expanded + TAG_BYTES, .size = size};
    return YS_OK;
}

static ys_status read_element(struct cursor *c, struct ys_mat_array *arrays, size_t count)
{
    struct element element;
    uint8_t *expanded = NULL;
    YS_TRY(take(c, &element));
    ys_status status = YS_OK;
    if (element.type == COMPRESSED) {
        const struct element packed = element;
        status = unpack(&packed, c->name, &expanded, &element);
    }
    if (status == YS_OK && element.type == MATRIX)
        status = read_matrix(&element, c->name, arrays, count);
    ys_free(expanded);
    return status;
}

static ys_status check_head(const uint8_t *bytes, size_t size, const char *name)
{
    if (size < HEAD_BYTES)
        return ys_fail(YS_EFORMAT, "%s: cut short: %zu bytes, a MAT-file begins with %d", name, size, HEAD_BYTES);
    if (bytes[ORDER_AT] != 'I' || bytes[ORDER_AT + 1] != 'M')
        return ys_fail(YS_EFORMAT, "%s is no MAT-file of format 5 with the lowest byte first", name);
    if (bytes[VERSION_AT + 1] != 1)
        return ys_fail(YS_EFORMAT,
                       "%s: a MAT-file of version %d: format 5 is read, which has 1 there (7.3 has 2: save "
                       "it with -v7)",
                       name, bytes[VERSION_AT + 1]);
    return YS_OK;
}

static ys_status read_all(const uint8_t *bytes, size_t size, const char *name, struct ys_mat_array *arrays,
                          size_t count)
{
    YS_TRY(check_head(bytes, size, name));
    struct cursor c = {bytes + HEAD_BYTES, size - HEAD_BYTES, name};
    for (int elements = 0; c.left > 0; elements++) {
        if (elements == YS_MAT_MAX_ELEMENTS)
            return ys_fail(YS_EFORMAT, "%s holds more than %d arrays", name, YS_MAT_MAX_ELEMENTS);
        YS_TRY(read_element(&c, arrays, count));
    }
    for (size_t i = 0; i < count; i++)
        if (!arrays[i].values)
            return ys_fail(YS_EFORMAT, "%s holds no array %s", name, arrays[i].name);
    return YS_OK;
}

ys_status ys_mat_read(const uint8_t *bytes, size_t size, const char *name, struct ys_mat_array *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        arrays[i].values = NULL;
    ys_status status = read_all(bytes, size, name, arrays, count);
    for (size_t i = 0; i < count && status != YS_OK; i++)
        ys_mat_fini(&arrays[i]);
    return status;
}

void ys_mat_fini(struct ys_mat_array *array)
{
    ys_free(array->values);
    array->values = NULL;
}
