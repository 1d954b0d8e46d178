#include "onnx/file/protobuf.h"

#include <string.h>

/* Seven bits a byte, the lowest first; the top bit says that more follow. */
static void put_varint(struct ys_buf *out, uint64_t value)
{
    unsigned char bytes[10];
    size_t count = 0;
    do {
        bytes[count++] = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
    ys_buf_append(out, bytes, count);
}

static void put_tag(struct ys_buf *out, int field, enum ys_wire_type type)
{
    put_varint(out, (uint64_t)field << 3 | type);
}

void ys_wire_integer(struct ys_buf *out, int field, int64_t value)
{
    put_tag(out, field, YS_WIRE_VARINT);
    put_varint(out, (uint64_t)value);
}

void ys_wire_float(struct ys_buf *out, int field, float value)
{
    put_tag(out, field, YS_WIRE_32_BITS);
    ys_buf_append(out, &value, sizeof value);
}

void ys_wire_length(struct ys_buf *out, int field, uint64_t size)
{
    put_tag(out, field, YS_WIRE_LENGTH);
    put_varint(out, size);
}

void ys_wire_bytes(struct ys_buf *out, int field, const void *data, size_t size)
{
    ys_wire_length(out, field, size);
    ys_buf_append(out, data, size);
}

void ys_wire_text(struct ys_buf *out, int field, const char *text)
{
    ys_wire_bytes(out, field, text, strlen(text));
}

void ys_wire_message(struct ys_buf *out, int field, struct ys_buf *message)
{
    ys_wire_bytes(out, field, ys_buf_text(message), message->size);
    ys_buf_clear(message);
}

bool ys_wire_varint(struct ys_span *from, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; from->size > 0 && shift < 64; shift += 7) {
        unsigned char byte = *from->data++;
        from->size--;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

static int take_bytes(struct ys_span *from, uint64_t size, struct ys_wire_field *field)
{
    if (size > from->size)
        return -1;
    field->span = (struct ys_span){from->data, (size_t)size};
    from->data += size;
    from->size -= (size_t)size;
    return 1;
}

int ys_wire_next(struct ys_span *from, struct ys_wire_field *field)
{
    uint64_t tag, size = 0;
    if (from->size == 0)
        return 0;
    if (!ys_wire_varint(from, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return -1;
    *field = (struct ys_wire_field){.number = (int)(tag >> 3), .type = (enum ys_wire_type)(tag & 7)};
    switch (field->type) {
    case YS_WIRE_VARINT:
        field->span.data = from->data;
        if (!ys_wire_varint(from, &field->bits))
            return -1;
        field->span.size = (size_t)(from->data - field->span.data);
        return 1;
    case YS_WIRE_LENGTH:
        return ys_wire_varint(from, &size) ? take_bytes(from, size, field) : -1;
    case YS_WIRE_64_BITS:
    case YS_WIRE_32_BITS:
        size = field->type == YS_WIRE_64_BITS ? 8 : 4;
        if (take_bytes(from, size, field) < 0)
            return -1;
        memcpy(&field->bits, field->span.data, (size_t)size);
        return 1;
    }
    return -1;
}
