#include "onnx/wire.h"

#include <string.h>

enum wire_type { WIRE_VARINT = 0, WIRE_LENGTH = 2, WIRE_32_BITS = 5 };

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

static void put_tag(struct ys_buf *out, int field, enum wire_type type)
{
    put_varint(out, (uint64_t)field << 3 | type);
}

void ys_wire_integer(struct ys_buf *out, int field, int64_t value)
{
    put_tag(out, field, WIRE_VARINT);
    put_varint(out, (uint64_t)value);
}

void ys_wire_float(struct ys_buf *out, int field, float value)
{
    put_tag(out, field, WIRE_32_BITS);
    ys_buf_append(out, &value, sizeof value);
}

void ys_wire_length(struct ys_buf *out, int field, uint64_t size)
{
    put_tag(out, field, WIRE_LENGTH);
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
    out->failed |= message->failed;
    ys_buf_clear(message);
}
