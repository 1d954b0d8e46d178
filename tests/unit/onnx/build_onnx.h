/* ONNX files in memory, for tests: one input, nodes with attributes, initializers, one output. */
#ifndef YS_TESTS_UNIT_ONNX_BUILD_ONNX_H
#define YS_TESTS_UNIT_ONNX_BUILD_ONNX_H

#include "base/buf.h"
#include "onnx/file/protobuf.h"
#include <string.h>

struct made { /* a file in the making */
    struct ys_buf graph, node, part;
};

/* A node that reads and makes the names in `in` and `out`, separated by blanks; `-` is one left out. */
static void made_names(struct made *m, int field, const char *names)
{
    for (const char *at = names; *at;) {
        size_t size = strcspn(at, " ");
        ys_wire_bytes(&m->node, field, at, *at == '-' ? 0 : size);
        at += size;
        at += strspn(at, " ");
    }
}

static void made_node(struct made *m, const char *op, const char *in, const char *out)
{
    if (m->node.size)
        ys_wire_message(&m->graph, 1, &m->node);
    made_names(m, 1, in);
    made_names(m, 2, out);
    ys_wire_text(&m->node, 4, op);
}

/* Attributes of the node last begun. */
static inline void made_integer(struct made *m, const char *name, int64_t value)
{
    ys_wire_text(&m->part, 1, name);
    ys_wire_integer(&m->part, 3, value);
    ys_wire_integer(&m->part, 20, 2);
    ys_wire_message(&m->node, 5, &m->part);
}

static inline void made_text(struct made *m, const char *name, const char *value)
{
    ys_wire_text(&m->part, 1, name);
    ys_wire_text(&m->part, 4, value);
    ys_wire_integer(&m->part, 20, 3);
    ys_wire_message(&m->node, 5, &m->part);
}

static inline void made_real(struct made *m, const char *name, float value)
{
    ys_wire_text(&m->part, 1, name);
    ys_wire_float(&m->part, 2, value);
    ys_wire_integer(&m->part, 20, 1);
    ys_wire_message(&m->node, 5, &m->part);
}

static inline void made_integers(struct made *m, const char *name, const int64_t *values, size_t count)
{
    ys_wire_text(&m->part, 1, name);
    for (size_t i = 0; i < count; i++)
        ys_wire_integer(&m->part, 8, values[i]);
    ys_wire_integer(&m->part, 20, 7);
    ys_wire_message(&m->node, 5, &m->part);
}

/* What made_tensor() begins of a TensorProto. */
static void made_tensor_head(struct made *m, const char *name, int type, const int64_t *shape, size_t rank)
{
    for (size_t i = 0; i < rank; i++)
        ys_wire_integer(&m->part, 1, shape[i]);
    ys_wire_integer(&m->part, 2, type);
    ys_wire_text(&m->part, 8, name);
}

static void made_tensor(struct made *m, const char *name, int type, const int64_t *shape, size_t rank, const void *data,
                        size_t size)
{
    made_tensor_head(m, name, type, shape, rank);
    ys_wire_bytes(&m->part, 9, data, size);
    ys_wire_message(&m->graph, 5, &m->part);
}

/* Floats 0.1, 0.2, ... of a shape of at most four dimensions, 0 ending it early. */
static inline void made_weight(struct made *m, const char *name, int64_t a, int64_t b, int64_t c, int64_t d)
{
    const int64_t shape[4] = {a, b, c, d};
    float values[4096];
    size_t rank = 0, count = 1;
    while (rank < 4 && shape[rank])
        count *= (size_t)shape[rank++];
    for (size_t i = 0; i < count; i++)
        values[i] = 0.1F * (float)(i + 1);
    made_tensor(m, name, 1, shape, rank, values, count * sizeof *values);
}

static void made_value(struct made *m, int field, const char *name, int type, const int64_t *shape, size_t rank)
{
    struct ys_buf dim = {0}, dims = {0}, tensor = {0}, wrapped = {0};
    for (size_t i = 0; i < rank; i++) {
        if (shape[i] < 0)
            ys_wire_text(&dim, 2, "n");
        else
            ys_wire_integer(&dim, 1, shape[i]);
        ys_wire_message(&dims, 1, &dim);
    }
    ys_wire_integer(&tensor, 1, type);
    ys_wire_message(&tensor, 2, &dims);
    ys_wire_message(&wrapped, 1, &tensor);
    ys_wire_text(&m->part, 1, name);
    ys_wire_message(&m->part, 2, &wrapped);
    ys_wire_message(&m->graph, field, &m->part);
    ys_buf_free(&dim);
    ys_buf_free(&dims);
    ys_buf_free(&tensor);
    ys_buf_free(&wrapped);
}

/* An input `x` of FLOAT. */
static inline void made_input(struct made *m, int64_t n, int64_t c, int64_t h, int64_t w)
{
    const int64_t shape[4] = {n, c, h, w};
    made_value(m, 11, "x", 1, shape, h ? 4 : 2);
}

/* The whole file; `m` is empty afterwards. */
static void made_file(struct made *m, const char *output, int64_t opset, struct ys_buf *file)
{
    struct ys_buf set = {0};
    if (m->node.size)
        ys_wire_message(&m->graph, 1, &m->node);
    if (output)
        made_value(m, 12, output, 1, NULL, 0);
    ys_wire_integer(file, 1, 8);
    ys_wire_integer(&set, 2, opset);
    ys_wire_message(file, 8, &set);
    ys_wire_message(file, 7, &m->graph);
    ys_buf_free(&set);
    ys_buf_free(&m->graph);
    ys_buf_free(&m->node);
    ys_buf_free(&m->part);
}

#endif
