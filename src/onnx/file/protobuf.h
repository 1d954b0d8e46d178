/* The wire format of protocol buffers. Out: fields are appended to a ys_buf, whose `failed` tells at the end whether
 * there was memory for all. In: they are found where they lie. Source: protobuf.dev/programming-guides/encoding. */
#ifndef YS_ONNX_FILE_PROTOBUF_H
#define YS_ONNX_FILE_PROTOBUF_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ys_wire_type { YS_WIRE_VARINT = 0, YS_WIRE_64_BITS = 1, YS_WIRE_LENGTH = 2, YS_WIRE_32_BITS = 5 };

/* Out. */
void ys_wire_integer(struct ys_buf *out, int field, int64_t value);
void ys_wire_float(struct ys_buf *out, int field, float value);
void ys_wire_bytes(struct ys_buf *out, int field, const void *data, size_t size);
void ys_wire_text(struct ys_buf *out, int field, const char *text);
/** What stands before a field of `size` bytes, which the caller puts behind it. */
void ys_wire_length(struct ys_buf *out, int field, uint64_t size);
/** `message` as a field of another; leaves it empty, with its memory. */
void ys_wire_message(struct ys_buf *out, int field, struct ys_buf *message);

/* In. */
struct ys_span {
    const unsigned char *data;
    size_t size;
};

struct ys_wire_field {
    int number;
    enum ys_wire_type type;
    uint64_t bits;       /* of a varint, or of 4 or 8 bytes */
    struct ys_span span; /* of text, bytes, packed numbers or a message; the bytes of the others */
};

/** The next field of a message, which `from` then lies behind. Returns 1; 0 at the end; -1 for what is no message:
 * what reaches beyond the end, has the number 0 or is a group. */
int ys_wire_next(struct ys_span *from, struct ys_wire_field *field);
/** A varint at the beginning of `from`, which then lies behind it; false for one that does not end. */
bool ys_wire_varint(struct ys_span *from, uint64_t *value);

#endif
