#include "onnx/file/proto.h"

#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "graph/foreign_format.h"
#include "onnx/file/open_file.h"

#include <string.h>

#define MAX_ELEMENTS ((int64_t)1 << 40)
#define FIRST_OPSET  6
#define LAST_OPSET   28 /* the newest that version 1.23.2 of the package onnx knows */

const char *ys_onnx_type_name(int type)
{
    static const char *const names[] = {
        "no type",   "FLOAT",      "UINT8",      "INT8",         "UINT16",         "INT16",      "INT32",
        "INT64",     "STRING",     "BOOL",       "FLOAT16",      "DOUBLE",         "UINT32",     "UINT64",
        "COMPLEX64", "COMPLEX128", "BFLOAT16",   "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ",
        "UINT4",     "INT4",       "FLOAT4E2M1", "FLOAT8E8M0",   "UINT2",          "INT2"};
    return type >= 0 && type < (int)(sizeof names / sizeof names[0]) ? names[type] : "another type";
}

void *ys_onnx_file_keep(struct ys_onnx_file *file, size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total) ||
        __builtin_add_overflow(total, sizeof(struct ys_onnx_kept), &total))
        return NULL;
    struct ys_onnx_kept *kept = ys_alloc(total, 1);
    kept->next = file->inside->kept;
    file->inside->kept = kept;
    return kept + 1;
}

static ys_status damaged(const struct ys_onnx_file *file, const char *what)
{
    return ys_fail(YS_EFORMAT, "%s: %s is damaged: a field reaches beyond its end, or is none of ONNX", file->path,
                   what);
}

/* A name as one visible word (base/utf8.h), which may have several bytes for one of its own. */
static ys_status read_text(struct ys_onnx_file *file, struct ys_wire_field field, const char **text)
{
    struct ys_buf word = {0};
    if (field.type != YS_WIRE_LENGTH)
        return damaged(file, "a name");
    ys_buf_put_name(&word, (const char *)field.span.data,
                    field.span.size < YS_ONNX_MAX_TEXT ? field.span.size : YS_ONNX_MAX_TEXT);
    char *copy = ys_onnx_file_keep(file, word.size + 1, 1);
    memcpy(copy, ys_buf_text(&word), word.size);
    ys_buf_free(&word);
    if (field.span.size > YS_ONNX_MAX_TEXT)
        return ys_fail(YS_EUNSUPPORTED,
                       "%s: a name of %zu bytes, which begins with %.100s: those of at most %zu are read", file->path,
                       field.span.size, copy, YS_ONNX_MAX_TEXT);
    *text = copy;
    return YS_OK;
}

/* How many fields of each number below `limit` there are: those of higher ones are not looked at. */
static ys_status count_fields(const struct ys_onnx_file *file, struct ys_span message, const char *what, size_t *counts,
                              int limit)
{
    struct ys_wire_field field;
    int got;
    memset(counts, 0, (size_t)limit * sizeof *counts);
    while ((got = ys_wire_next(&message, &field)) > 0)
        if (field.number < limit && ++counts[field.number] > YS_ONNX_MAX_PARTS && field.number != YS_PROTO_MODEL_GRAPH)
            return ys_fail(YS_EFORMAT, "%s: %s has more than %zu parts of one kind", file->path, what,
                           YS_ONNX_MAX_PARTS);
    return got < 0 ? damaged(file, what) : YS_OK;
}

static ys_status read_dim(struct ys_onnx_file *file, struct ys_onnx_tensor_in *tensor, uint64_t dim)
{
    if (tensor->rank == YS_MAX_RANK)
        return ys_fail(YS_EUNSUPPORTED, "%s: tensor %s has more than %d dimensions", file->path, tensor->name,
                       YS_MAX_RANK);
    if (dim > (uint64_t)MAX_ELEMENTS)
        return ys_fail(YS_EFORMAT, "%s: tensor %s has a dimension of %llu: must be 0 to 2^40", file->path, tensor->name,
                       (unsigned long long)dim);
    tensor->shape[tensor->rank++] = (int64_t)dim;
    return YS_OK;
}

static ys_status read_tensor_field(struct ys_onnx_file *file, struct ys_wire_field field,
                                   struct ys_onnx_tensor_in *tensor)
{
    uint64_t dim;
    switch (field.number) {
    case YS_PROTO_TENSOR_DIMS:
        if (field.type == YS_WIRE_VARINT)
            return read_dim(file, tensor, field.bits);
        for (struct ys_span packed = field.span; packed.size > 0;) {
            if (field.type != YS_WIRE_LENGTH || !ys_wire_varint(&packed, &dim))
                return damaged(file, "a tensor's shape");
            YS_TRY(read_dim(file, tensor, dim));
        }
        return YS_OK;
    case YS_PROTO_TENSOR_TYPE:
        tensor->type = field.bits <= INT32_MAX ? (int)field.bits : -1;
        return YS_OK;
    case YS_PROTO_TENSOR_SEGMENT:
        return ys_fail(YS_EUNSUPPORTED, "%s: tensor %s comes in segments, which nobody writes", file->path,
                       tensor->name);
    case YS_PROTO_TENSOR_NAME:
        return read_text(file, field, &tensor->name);
    case YS_PROTO_TENSOR_RAW:
        if (field.type != YS_WIRE_LENGTH)
            return damaged(file, "a tensor");
        tensor->raw = field.span;
        return YS_OK;
    case YS_PROTO_TENSOR_LOCATION:
        tensor->is_external = field.bits == 1;
        return YS_OK;
    default:
        return YS_OK;
    }
}

ys_status ys_onnx_tensor_parse(struct ys_onnx_file *file, struct ys_span message, struct ys_onnx_tensor_in *tensor)
{
    struct ys_wire_field field;
    int got;
    *tensor = (struct ys_onnx_tensor_in){.name = "", .message = message, .count = 1};
    while ((got = ys_wire_next(&message, &field)) > 0)
        YS_TRY(read_tensor_field(file, field, tensor));
    if (got < 0)
        return damaged(file, "a tensor");
    for (size_t i = 0; i < tensor->rank; i++)
        if (__builtin_mul_overflow(tensor->count, tensor->shape[i], &tensor->count) || tensor->count > MAX_ELEMENTS)
            return ys_fail(YS_EFORMAT, "%s: tensor %s has more than 2^40 elements", file->path, tensor->name);
    return YS_OK;
}

static ys_status read_attr(struct ys_onnx_file *file, struct ys_span message, struct ys_onnx_attr *attr)
{
    struct ys_wire_field field;
    int got;
    *attr = (struct ys_onnx_attr){.name = "", .message = message};
    while ((got = ys_wire_next(&message, &field)) > 0)
        if (field.number == YS_PROTO_ATTRIBUTE_NAME)
            YS_TRY(read_text(file, field, &attr->name));
    return got < 0 ? damaged(file, "an attribute") : YS_OK;
}

static ys_status read_node(struct ys_onnx_file *file, struct ys_span message, struct ys_onnx_node_in *node)
{
    size_t counts[YS_PROTO_NODE_DOMAIN + 1];
    struct ys_wire_field field;
    *node = (struct ys_onnx_node_in){.name = "", .op = "", .domain = ""};
    YS_TRY(count_fields(file, message, "a node", counts, YS_PROTO_NODE_DOMAIN + 1));
    node->in = ys_onnx_file_keep(file, counts[YS_PROTO_NODE_INPUT], sizeof *node->in);
    node->out = ys_onnx_file_keep(file, counts[YS_PROTO_NODE_OUTPUT], sizeof *node->out);
    node->attrs = ys_onnx_file_keep(file, counts[YS_PROTO_NODE_ATTRIBUTE], sizeof *node->attrs);
    while (ys_wire_next(&message, &field) > 0) {
        const char **text = NULL;
        if (field.number == YS_PROTO_NODE_INPUT)
            text = &node->in[node->in_count++];
        else if (field.number == YS_PROTO_NODE_OUTPUT)
            text = &node->out[node->out_count++];
        else if (field.number == YS_PROTO_NODE_NAME)
            text = &node->name;
        else if (field.number == YS_PROTO_NODE_OP_TYPE)
            text = &node->op;
        else if (field.number == YS_PROTO_NODE_DOMAIN)
            text = &node->domain;
        else if (field.number == YS_PROTO_NODE_ATTRIBUTE)
            YS_TRY(read_attr(file, field.span, &node->attrs[node->attr_count++]));
        if (text)
            YS_TRY(read_text(file, field, text));
    }
    if (!node->name[0])
        node->name = node->out_count ? node->out[0] : "(no name)";
    return YS_OK;
}

/* The first field of that number in a message; false without. */
static bool find_field(struct ys_span message, int number, struct ys_wire_field *field)
{
    while (ys_wire_next(&message, field) > 0)
        if (field->number == number)
            return true;
    return false;
}

static ys_status read_value(struct ys_onnx_file *file, struct ys_span message, struct ys_onnx_value_in *value)
{
    struct ys_wire_field field, dim;
    *value = (struct ys_onnx_value_in){.name = ""};
    if (find_field(message, YS_PROTO_VALUE_NAME, &field))
        YS_TRY(read_text(file, field, &value->name));
    if (!find_field(message, YS_PROTO_VALUE_TYPE, &field) || !find_field(field.span, YS_PROTO_TYPE_TENSOR, &field))
        return YS_OK;
    struct ys_span tensor = field.span;
    if (find_field(tensor, YS_PROTO_TENSOR_ELEM, &field))
        value->type = field.bits <= INT32_MAX ? (int)field.bits : -1;
    if (!find_field(tensor, YS_PROTO_TENSOR_SHAPE, &field))
        return YS_OK;
    value->has_shape = true;
    for (struct ys_span shape = field.span; ys_wire_next(&shape, &field) > 0;) {
        if (field.number != YS_PROTO_SHAPE_DIM)
            continue;
        if (value->rank == YS_MAX_RANK)
            return ys_fail(YS_EUNSUPPORTED, "%s: %s has more than %d dimensions", file->path, value->name, YS_MAX_RANK);
        bool known =
            find_field(field.span, YS_PROTO_DIM_VALUE, &dim) && dim.bits >= 1 && dim.bits <= (uint64_t)MAX_ELEMENTS;
        value->shape[value->rank++] = known ? (int64_t)dim.bits : -1;
    }
    return YS_OK;
}

static ys_status read_graph(struct ys_onnx_file *file, struct ys_span message)
{
    size_t counts[YS_PROTO_GRAPH_SPARSE + 1];
    struct ys_wire_field field;
    YS_TRY(count_fields(file, message, "the graph", counts, YS_PROTO_GRAPH_SPARSE + 1));
    if (counts[YS_PROTO_GRAPH_SPARSE])
        return ys_fail(YS_EUNSUPPORTED, "%s has sparse tensors: store them dense", file->path);
    file->nodes = ys_onnx_file_keep(file, counts[YS_PROTO_GRAPH_NODE], sizeof *file->nodes);
    file->tensors = ys_onnx_file_keep(file, counts[YS_PROTO_GRAPH_INITIALIZER], sizeof *file->tensors);
    file->inputs = ys_onnx_file_keep(file, counts[YS_PROTO_GRAPH_INPUT], sizeof *file->inputs);
    file->outputs = ys_onnx_file_keep(file, counts[YS_PROTO_GRAPH_OUTPUT], sizeof *file->outputs);
    while (ys_wire_next(&message, &field) > 0) {
        if (field.number == YS_PROTO_GRAPH_NODE)
            YS_TRY(read_node(file, field.span, &file->nodes[file->node_count++]));
        else if (field.number == YS_PROTO_GRAPH_NAME)
            YS_TRY(read_text(file, field, &file->graph_name));
        else if (field.number == YS_PROTO_GRAPH_INITIALIZER)
            YS_TRY(ys_onnx_tensor_parse(file, field.span, &file->tensors[file->tensor_count++]));
        else if (field.number == YS_PROTO_GRAPH_INPUT)
            YS_TRY(read_value(file, field.span, &file->inputs[file->input_count++]));
        else if (field.number == YS_PROTO_GRAPH_OUTPUT)
            YS_TRY(read_value(file, field.span, &file->outputs[file->output_count++]));
    }
    return YS_OK;
}

ys_status ys_onnx_graph_parse(struct ys_onnx_file *file, struct ys_span message, struct ys_onnx_file *graph)
{
    *graph = (struct ys_onnx_file){.path = file->path, .opset = file->opset, .graph_name = "", .inside = file->inside};
    return read_graph(graph, message);
}

static ys_status read_opset(struct ys_onnx_file *file, struct ys_span message)
{
    struct ys_wire_field field;
    bool foreign = find_field(message, YS_PROTO_OPSET_DOMAIN, &field) && field.span.size > 0 &&
                   !(field.span.size == 7 && memcmp(field.span.data, "ai.onnx", 7) == 0);
    if (foreign || !find_field(message, YS_PROTO_OPSET_VERSION, &field) || field.bits > INT32_MAX)
        return YS_OK;
    if (file->opset && file->opset != (int64_t)field.bits)
        return ys_fail(YS_EFORMAT, "%s names two operator sets, %lld and %lld", file->path, (long long)file->opset,
                       (long long)field.bits);
    file->opset = (int64_t)field.bits;
    return YS_OK;
}

static ys_status no_model(const struct ys_onnx_file *file, struct ys_span bytes)
{
    if (ys_model_foreign((const char *)bytes.data, bytes.size, true) != YS_OK)
        return ys_fail_in(YS_EFORMAT, "%s is no ONNX file", file->path);
    return ys_fail(YS_EFORMAT,
                   "%s is no ONNX file, or is damaged: it must hold one graph and its operator set; bring it again",
                   file->path);
}

static ys_status read_model(struct ys_onnx_file *file, struct ys_span message)
{
    size_t counts[YS_PROTO_MODEL_FUNCTION + 1];
    struct ys_wire_field field, graph = {0};
    const struct ys_span whole = message;
    file->producer = file->graph_name = "";
    if (message.size == 0 || count_fields(file, message, "the file", counts, YS_PROTO_MODEL_FUNCTION + 1) != YS_OK ||
        counts[YS_PROTO_MODEL_GRAPH] != 1 || counts[YS_PROTO_MODEL_OPSET] == 0)
        return no_model(file, whole);
    if (counts[YS_PROTO_MODEL_FUNCTION])
        return ys_fail(YS_EUNSUPPORTED, "%s has local functions: inline them (onnx.inliner.inline_local_functions)",
                       file->path);
    while (ys_wire_next(&message, &field) > 0) {
        if (field.number == YS_PROTO_MODEL_GRAPH)
            graph = field;
        else if (field.number == YS_PROTO_MODEL_OPSET)
            YS_TRY(read_opset(file, field.span));
        else if (field.number == YS_PROTO_MODEL_PRODUCER_NAME)
            YS_TRY(read_text(file, field, &file->producer));
    }
    if (file->opset < FIRST_OPSET)
        return ys_fail(YS_EUNSUPPORTED, "%s is of operator set %lld: yardstick reads %d and later", file->path,
                       (long long)file->opset, FIRST_OPSET);
    if (file->opset > LAST_OPSET)
        return ys_fail(YS_EUNSUPPORTED,
                       "%s is of operator set %lld, and the newest that yardstick knows is %d: export it with that or "
                       "an earlier one",
                       file->path, (long long)file->opset, LAST_OPSET);
    return read_graph(file, graph.span);
}

ys_status ys_onnx_file_parse(const char *path, const void *data, size_t size, struct ys_onnx_file **file)
{
    struct ys_onnx_file *fresh = ys_alloc(1, sizeof *fresh);
    fresh->inside = ys_alloc(1, sizeof *fresh->inside);
    const size_t length = strlen(path) + 1;
    char *copy = ys_onnx_file_keep(fresh, length, 1);
    memcpy(copy, path, length);
    fresh->path = copy;
    ys_status status = read_model(fresh, (struct ys_span){data, size});
    if (status == YS_OK)
        *file = fresh;
    else
        ys_onnx_file_close(fresh);
    return status;
}
