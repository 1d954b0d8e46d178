/* The wire format of protocol buffers, out: fields are appended to a ys_buf, whose `failed` tells at the end whether
 * there was memory for all. Source: protobuf.dev/programming-guides/encoding. */
#ifndef YS_ONNX_WIRE_H
#define YS_ONNX_WIRE_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

void ys_wire_integer(struct ys_buf *out, int field, int64_t value);
void ys_wire_float(struct ys_buf *out, int field, float value);
void ys_wire_bytes(struct ys_buf *out, int field, const void *data, size_t size);
void ys_wire_text(struct ys_buf *out, int field, const char *text);
/** What stands before a field of `size` bytes, which the caller puts behind it. */
void ys_wire_length(struct ys_buf *out, int field, uint64_t size);
/** `message` as a field of another; leaves it empty, with its memory. */
void ys_wire_message(struct ys_buf *out, int field, struct ys_buf *message);

#endif
