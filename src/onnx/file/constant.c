#include "onnx/file/constant.h"

#include "base/mem.h"

#include <string.h>

static size_t type_size(int type)
{
    switch (type) {
    case YS_ONNX_DOUBLE:
    case YS_ONNX_INT64:
        return 8;
    case YS_ONNX_FLOAT:
    case YS_ONNX_INT32:
        return 4;
    case YS_ONNX_FLOAT16:
    case YS_ONNX_BFLOAT16:
        return 2;
    case YS_ONNX_BOOL:
        return 1;
    default:
        return 0;
    }
}

static bool is_real_type(int type)
{
    return type == YS_ONNX_FLOAT || type == YS_ONNX_DOUBLE || type == YS_ONNX_FLOAT16 || type == YS_ONNX_BFLOAT16;
}

static void make_room(struct ys_onnx_folding *f, struct ys_onnx_constant *c)
{
    size_t count = c->filled ? 1 : (size_t)c->count;
    c->reals = c->is_real ? ys_onnx_file_keep(f->file, count, sizeof *c->reals) : NULL;
    c->wholes = c->is_real ? NULL : ys_onnx_file_keep(f->file, count, sizeof *c->wholes);
}

static ys_status spend(struct ys_onnx_folding *f, int64_t count)
{
    f->computed += count;
    if (f->computed > YS_ONNX_MAX_COMPUTED)
        return ys_fail(YS_EUNSUPPORTED,
                       "more than 2^26 elements of constants would have to be computed: fold them before "
                       "the export");
    return YS_OK;
}

ys_status ys_onnx_constant_new(struct ys_onnx_folding *f, const struct ys_onnx_constant *like, const int64_t *shape,
                               size_t rank, struct ys_onnx_constant **constant)
{
    struct ys_onnx_constant *fresh = ys_onnx_file_keep(f->file, 1, sizeof *fresh);
    *fresh = (struct ys_onnx_constant){.is_real = like->is_real,
                                       .type = like->type,
                                       .rank = shape ? rank : like->rank,
                                       .count = 1,
                                       .filled = like->filled};
    memcpy(fresh->shape, shape ? shape : like->shape, fresh->rank * sizeof *fresh->shape);
    for (size_t i = 0; i < fresh->rank; i++)
        if (fresh->shape[i] < 0 || __builtin_mul_overflow(fresh->count, fresh->shape[i], &fresh->count) ||
            fresh->count > (int64_t)1 << 40)
            return ys_fail(YS_EFORMAT, "a computed constant has a negative dimension, or more than 2^40 elements");
    YS_TRY(spend(f, fresh->filled ? 1 : fresh->count));
    make_room(f, fresh);
    *constant = fresh;
    return YS_OK;
}

ys_status ys_onnx_constant_of(struct ys_onnx_folding *f, const struct ys_onnx_tensor_in *tensor,
                              struct ys_onnx_constant **constant)
{
    if (type_size(tensor->type) == 0)
        return ys_fail(YS_EUNSUPPORTED,
                       "tensor %.100s is of %s: yardstick reads FLOAT, FLOAT16, BFLOAT16 and DOUBLE, and INT32, INT64 "
                       "and BOOL for shapes; quantised models are not yet available",
                       tensor->name, ys_onnx_type_name(tensor->type));
    struct ys_onnx_constant *fresh = ys_onnx_file_keep(f->file, 1, sizeof *fresh);
    *fresh = (struct ys_onnx_constant){.is_real = is_real_type(tensor->type),
                                       .type = tensor->type,
                                       .rank = tensor->rank,
                                       .count = tensor->count,
                                       .is_held = is_real_type(tensor->type) && tensor->count > 1,
                                       .tensor = tensor};
    memcpy(fresh->shape, tensor->shape, sizeof fresh->shape);
    *constant = fresh;
    return YS_OK;
}

static double half_value(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits >> 15) << 31, exponent = (bits >> 10) & 31, mantissa = bits & 1023;
    float value;
    if (exponent == 0) { /* below the normal numbers: units of 2^-24 */
        value = (float)mantissa * 0x1p-24F;
        return sign ? -value : value;
    }
    uint32_t wide = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* One element of `size` bytes at `data`, little-endian. */
static void put_element(struct ys_onnx_constant *c, int64_t index, const unsigned char *data)
{
    uint64_t bits = 0;
    float single;
    memcpy(&bits, data, type_size(c->type));
    uint32_t low = c->type == YS_ONNX_BFLOAT16 ? (uint32_t)bits << 16 : (uint32_t)bits;
    switch (c->type) {
    case YS_ONNX_DOUBLE:
        memcpy(&c->reals[index], &bits, sizeof bits);
        return;
    case YS_ONNX_FLOAT:
    case YS_ONNX_BFLOAT16:
        memcpy(&single, &low, sizeof single);
        c->reals[index] = single;
        return;
    case YS_ONNX_FLOAT16:
        c->reals[index] = half_value((uint16_t)bits);
        return;
    case YS_ONNX_INT32:
        c->wholes[index].fixed = (int32_t)low;
        return;
    case YS_ONNX_BOOL:
        c->wholes[index].fixed = bits != 0;
        return;
    default:
        c->wholes[index].fixed = (int64_t)bits;
    }
}

static ys_status wrong_count(const struct ys_onnx_constant *c, const char *what)
{
    return ys_fail(YS_EFORMAT, "tensor %.100s has %s values than its shape asks for", c->tensor->name, what);
}

/* Whether the tensor has numbers in the field of a type. */
static bool has_typed(const struct ys_onnx_tensor_in *tensor)
{
    struct ys_wire_field field;
    for (struct ys_span message = tensor->message; ys_wire_next(&message, &field) > 0;)
        if (field.span.size > 0 &&
            (field.number == YS_PROTO_TENSOR_FLOAT_DATA || field.number == YS_PROTO_TENSOR_INT32_DATA ||
             field.number == YS_PROTO_TENSOR_INT64_DATA || field.number == YS_PROTO_TENSOR_DOUBLE_DATA))
            return true;
    return false;
}

static ys_status load_raw(struct ys_onnx_folding *f, struct ys_onnx_constant *c)
{
    size_t size = type_size(c->type);
    struct ys_span raw = c->tensor->raw;
    if ((c->tensor->is_external && raw.size > 0) || has_typed(c->tensor))
        return ys_fail(YS_EFORMAT, "tensor %.100s has its values in two places: one must be left out", c->tensor->name);
    if (c->tensor->is_external)
        YS_TRY(ys_onnx_file_external(f->file, c->tensor, (uint64_t)c->count * size, &raw));
    if (raw.size != (uint64_t)c->count * size)
        return wrong_count(c, raw.size < (uint64_t)c->count * size ? "fewer" : "more");
    make_room(f, c);
    for (int64_t i = 0; i < c->count; i++)
        put_element(c, i, raw.data + (size_t)i * size);
    return YS_OK;
}

/* Numbers of the field of the tensor's type, packed or one by one. */
static ys_status load_typed(struct ys_onnx_folding *f, struct ys_onnx_constant *c)
{
    const bool is_float = c->type == YS_ONNX_FLOAT, is_double = c->type == YS_ONNX_DOUBLE;
    const size_t size = is_float ? 4 : is_double ? 8 : 0;
    const int number = is_float                   ? YS_PROTO_TENSOR_FLOAT_DATA
                       : is_double                ? YS_PROTO_TENSOR_DOUBLE_DATA
                       : c->type == YS_ONNX_INT64 ? YS_PROTO_TENSOR_INT64_DATA
                                                  : YS_PROTO_TENSOR_INT32_DATA;
    struct ys_wire_field field;
    int64_t filled = 0;
    if ((uint64_t)c->count > c->tensor->message.size) /* each has a byte at least */
        return wrong_count(c, "fewer");
    make_room(f, c);
    for (struct ys_span message = c->tensor->message; ys_wire_next(&message, &field) > 0;) {
        if (field.number != number)
            continue;
        for (struct ys_span values = field.span; values.size > 0; filled++) {
            uint64_t bits = 0;
            if (filled == c->count)
                return wrong_count(c, "more");
            if (size == 0) {
                if (!ys_wire_varint(&values, &bits))
                    return wrong_count(c, "other");
            } else {
                if (values.size < size)
                    return wrong_count(c, "other");
                memcpy(&bits, values.data, size);
                values = (struct ys_span){values.data + size, values.size - size};
            }
            put_element(c, filled, (const unsigned char *)&bits);
        }
    }
    return filled == c->count ? YS_OK : wrong_count(c, "fewer");
}

ys_status ys_onnx_constant_load(struct ys_onnx_folding *f, struct ys_onnx_constant *c)
{
    if (c->reals || c->wholes)
        return YS_OK;
    return c->tensor->raw.data || c->tensor->is_external ? load_raw(f, c) : load_typed(f, c);
}

double ys_onnx_constant_real(const struct ys_onnx_constant *c, int64_t index)
{
    return c->is_real ? c->reals[c->filled ? 0 : index] : (double)c->wholes[c->filled ? 0 : index].fixed;
}

struct ys_onnx_whole ys_onnx_constant_whole(const struct ys_onnx_constant *c, int64_t index)
{
    if (!c->is_real)
        return c->wholes[c->filled ? 0 : index];
    double real = c->reals[c->filled ? 0 : index];
    if (!(real > -9e18 && real < 9e18))
        real = real > 0 ? 9e18 : real < 0 ? -9e18 : 0;
    return (struct ys_onnx_whole){(int64_t)real, 0};
}

bool ys_onnx_constant_is(struct ys_onnx_constant *c, double value)
{
    bool same = true;
    for (int64_t i = 1; c->uniform == YS_ONNX_UNKNOWN && !c->filled && same && i < c->count; i++)
        same = ys_onnx_constant_real(c, i) == ys_onnx_constant_real(c, 0);
    if (c->uniform == YS_ONNX_UNKNOWN)
        c->uniform = same ? YS_ONNX_IS : YS_ONNX_IS_NOT;
    return c->uniform == YS_ONNX_IS && (c->count == 0 || ys_onnx_constant_real(c, 0) == value);
}

bool ys_onnx_constant_is_mask(struct ys_onnx_constant *c, bool is_sum)
{
    bool zeros = false, others = false, is = !c->filled;
    if (c->mask[is_sum] != YS_ONNX_UNKNOWN)
        return c->mask[is_sum] == YS_ONNX_IS;
    for (int64_t i = 0; i < c->count && is; i++) {
        const double number = ys_onnx_constant_real(c, i);
        zeros = zeros || number == 0;
        others = others || number != 0;
        is = number == 0 || (is_sum ? number <= -1e4 : number == 1);
    }
    is = is && zeros && others;
    c->mask[is_sum] = is ? YS_ONNX_IS : YS_ONNX_IS_NOT;
    return is;
}

ys_status ys_onnx_numbers(struct ys_onnx_folding *f, const struct ys_onnx_node_in *node, struct ys_onnx_constant *in,
                          const char *name, int64_t *values, size_t room, size_t *count)
{
    if (!in)
        return ys_onnx_integers(node, name, values, room, count);
    YS_TRY(ys_onnx_constant_load(f, in));
    if (in->is_real || in->rank > 1 || in->count > (int64_t)room)
        return YS_FAIL_NODE(node, YS_EFORMAT, "%s must be a list of at most %zu integers", name, room);
    for (int64_t i = 0; i < in->count; i++) {
        struct ys_onnx_whole whole = ys_onnx_constant_whole(in, i);
        if (whole.each)
            return YS_FAIL_NODE(node, YS_EUNSUPPORTED, "%s depend on the batch", name);
        values[i] = whole.fixed;
    }
    *count = (size_t)in->count;
    return YS_OK;
}
