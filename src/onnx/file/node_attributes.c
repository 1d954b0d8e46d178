#include "onnx/file/node_attributes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ys_onnx_attr *find(const struct ys_onnx_node_in *node, const char *name)
{
    for (size_t i = 0; i < node->attr_count; i++)
        if (strcmp(node->attrs[i].name, name) == 0)
            return &node->attrs[i];
    return NULL;
}

bool ys_onnx_has(const struct ys_onnx_node_in *node, const char *name)
{
    return find(node, name) != NULL;
}

/* The field of an attribute that has its value; *there is false without the attribute. A default of protocol buffers
 * need not be written: then `field` is 0 or empty. */
static ys_status find_value(const struct ys_onnx_node_in *node, const char *name, int number, enum ys_wire_type type,
                            struct ys_wire_field *field, bool *there)
{
    const struct ys_onnx_attr *attr = find(node, name);
    struct ys_wire_field other;
    *there = attr != NULL;
    *field = (struct ys_wire_field){.number = number, .type = type};
    for (struct ys_span message = attr ? attr->message : (struct ys_span){0}; ys_wire_next(&message, &other) > 0;) {
        if (other.number >= YS_PROTO_ATTRIBUTE_F && other.number <= YS_PROTO_ATTRIBUTE_INTS && other.number != number)
            return YS_FAIL_NODE(node, YS_EFORMAT, "attribute %s is of another type than ONNX gives it", name);
        if (other.number == number && other.type == type)
            *field = other;
    }
    return YS_OK;
}

ys_status ys_onnx_integer(const struct ys_onnx_node_in *node, const char *name, int64_t *value)
{
    struct ys_wire_field field;
    bool there;
    YS_TRY(find_value(node, name, YS_PROTO_ATTRIBUTE_I, YS_WIRE_VARINT, &field, &there));
    if (there)
        *value = (int64_t)field.bits;
    return YS_OK;
}

double ys_onnx_short_real(float value)
{
    char text[32];
    for (int digits = 6; digits < 9; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            return strtod(text, NULL);
    }
    return value;
}

static float float_of(uint64_t bits)
{
    float value;
    uint32_t low = (uint32_t)bits;
    memcpy(&value, &low, sizeof value);
    return value;
}

ys_status ys_onnx_real(const struct ys_onnx_node_in *node, const char *name, double *value)
{
    struct ys_wire_field field;
    bool there;
    YS_TRY(find_value(node, name, YS_PROTO_ATTRIBUTE_F, YS_WIRE_32_BITS, &field, &there));
    if (there)
        *value = ys_onnx_short_real(float_of(field.bits));
    return YS_OK;
}

ys_status ys_onnx_integers(const struct ys_onnx_node_in *node, const char *name, int64_t *values, size_t room,
                           size_t *count)
{
    const struct ys_onnx_attr *attr = find(node, name);
    struct ys_wire_field field;
    if (!attr)
        return YS_OK;
    *count = 0;
    for (struct ys_span message = attr->message; ys_wire_next(&message, &field) > 0;) {
        if (field.number != YS_PROTO_ATTRIBUTE_INTS)
            continue;
        struct ys_span packed = field.span;
        do {
            if (*count == room)
                return YS_FAIL_NODE(node, YS_EUNSUPPORTED, "attribute %s has more than %zu numbers", name, room);
            uint64_t bits = field.bits;
            if (field.type == YS_WIRE_LENGTH && (packed.size == 0 || !ys_wire_varint(&packed, &bits)))
                return YS_FAIL_NODE(node, YS_EFORMAT, "attribute %s is damaged", name);
            values[(*count)++] = (int64_t)bits;
        } while (field.type == YS_WIRE_LENGTH && packed.size > 0);
    }
    return YS_OK;
}

ys_status ys_onnx_word(const struct ys_onnx_node_in *node, const char *name, char value[32])
{
    struct ys_wire_field field;
    bool there;
    YS_TRY(find_value(node, name, YS_PROTO_ATTRIBUTE_S, YS_WIRE_LENGTH, &field, &there));
    if (there)
        snprintf(value, 32, "%.*s", (int)(field.span.size < 31 ? field.span.size : 31), (const char *)field.span.data);
    return YS_OK;
}

static ys_status find_message(const struct ys_onnx_node_in *node, const char *name, int number, struct ys_span *message)
{
    struct ys_wire_field field;
    bool there;
    YS_TRY(find_value(node, name, number, YS_WIRE_LENGTH, &field, &there));
    *message = field.span;
    return YS_OK;
}

ys_status ys_onnx_message(const struct ys_onnx_node_in *node, const char *name, struct ys_span *message)
{
    return find_message(node, name, YS_PROTO_ATTRIBUTE_T, message);
}

ys_status ys_onnx_subgraph(const struct ys_onnx_node_in *node, const char *name, struct ys_span *message)
{
    return find_message(node, name, YS_PROTO_ATTRIBUTE_G, message);
}

size_t ys_onnx_listed_reals(const struct ys_onnx_node_in *node, const char *name, double *values)
{
    const struct ys_onnx_attr *attr = find(node, name);
    struct ys_wire_field field;
    size_t count = 0;
    for (struct ys_span message = attr ? attr->message : (struct ys_span){0}; ys_wire_next(&message, &field) > 0;) {
        if (field.number != YS_PROTO_ATTRIBUTE_FLOATS)
            continue;
        for (size_t at = 0; at + 4 <= field.span.size; at += 4, count++) {
            float single;
            memcpy(&single, field.span.data + at, 4);
            if (values)
                values[count] = ys_onnx_short_real(single);
        }
    }
    return count;
}
