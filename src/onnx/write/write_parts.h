/* What the halves of the writer share; other rooms use onnx/write/onnx_write.h. */
#ifndef YS_ONNX_WRITE_WRITE_PARTS_H
#define YS_ONNX_WRITE_WRITE_PARTS_H

#include "base/buf.h"
#include "graph/op.h"
#include "quant/quant_plan.h"

#define YS_ONNX_NAME (YS_GRAPH_MAX_NAME + 16)

struct ys_onnx {
    const struct ys_graph *graph;
    enum ys_dtype dtype;      /* YS_F32 or YS_F64 */
    struct ys_buf body;       /* of the GraphProto: nodes, and the initializers that are no parameters */
    struct ys_buf node;       /* the NodeProto in the making */
    struct ys_buf part;       /* a message inside it, or an initializer */
    ys_json *names;           /* members: every name of a value or initializer so far */
    char twice[YS_ONNX_NAME]; /* the first of them that came again; "" for none */
    /* What nodes read in place of each of the graph's inputs: itself, or its Cast. */
    char inputs[YS_ROWS_MAX_INPUTS][YS_ONNX_NAME];
    /* Of a quantised network; else NULL. */
    const struct ys_scales *scales;
    const struct ys_quant_plan *plan;
    float *const *values;          /* [param_count] */
    bool *is_stored;               /* [param_count]: it is in the body, as integers or because another form of it is */
    char (*numbers)[YS_ONNX_NAME]; /* [value_count]: what nodes read in place of a quantised value; "" of others */
};

/** Notes that `name` stands for something in the file. */
void ys_onnx_claim(struct ys_onnx *onnx, const char *name);
/** The number of a type in TensorProto.DataType. */
int ys_onnx_type(enum ys_dtype dtype);
/** A TensorProto as far as its values: its name, type and shape. */
void ys_onnx_tensor(struct ys_buf *out, const char *name, enum ys_dtype dtype, const int64_t *shape, size_t rank);

/** The same with a number of TensorProto.DataType, of a type that no file of tensors has. */
void ys_onnx_tensor_of(struct ys_buf *out, const char *name, int type, const int64_t *shape, size_t rank);
/** What nodes read as that value, and the file gives as its output: itself, its Cast, or what its integers stand for.
 */
const char *ys_onnx_value(const struct ys_onnx *onnx, int value);

/** Every node of the graph, in its order, into `body`, with what they need of constants. */
void ys_onnx_nodes(struct ys_onnx *onnx);

#endif
