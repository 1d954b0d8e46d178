/* An ONNX file as it lies in memory. The file is mapped: names are copied, values of tensors and attributes are not,
 * they are decoded where they are asked for (onnx/file/node_attributes.h, onnx/file/constant.h).
 *
 * Every length is held against what encloses it; counts, ranks and products have limits, so that no file makes more
 * work than it has bytes. Names are those of the file, of at most YS_ONNX_MAX_TEXT bytes, as words (base/utf8.h): what
 * differs there differs here. Source: onnx.proto at onnx.ai, protobuf.dev/programming-guides/encoding. */
#ifndef YS_ONNX_FILE_PROTO_H
#define YS_ONNX_FILE_PROTO_H

#include "base/status.h"
#include "base/stored/safetensors.h"
#include "onnx/file/onnx_numbers.h"
#include "onnx/file/protobuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_ONNX_MAX_PARTS ((size_t)1 << 18) /* nodes, initializers, inputs of one file */
#define YS_ONNX_MAX_TEXT  ((size_t)1 << 12)

/** "FLOAT"; "type 99" is "another type". */
const char *ys_onnx_type_name(int type);

struct ys_onnx_tensor_in {
    const char *name; /* "" for the value of an attribute */
    int type;         /* enum ys_onnx_dtype, or another */
    size_t rank;
    int64_t shape[YS_MAX_RANK]; /* each at least 0 */
    int64_t count;              /* their product, at most 2^40 */
    bool is_external;           /* the values lie in another file: see ys_onnx_file_external() */
    struct ys_span message;     /* the whole TensorProto */
    struct ys_span raw;         /* its raw_data, or with no bytes */
};

struct ys_onnx_attr {
    const char *name;
    struct ys_span message;
};

/* Of an operator that took the place of several nodes, what it would have as attributes
 * (onnx/read/patterns/composed_operators.c). */
struct ys_onnx_joined {
    const char *approximate; /* of Gelu */
    double alpha;            /* of HardSigmoid; its beta is 0.5 */
    double epsilon;          /* of LayerNormalization and RMSNormalization */
    int64_t axis;            /* of LayerNormalization, RMSNormalization, Softmax and LogSoftmax */
    /* Of RotaryEmbedding: how many positions there are, and the numbers of a head, which lie side by side along the
     * last axis or are an axis of their own. */
    int64_t positions, width;
    double base;
    bool interleaved;
};

struct ys_onnx_node_in {
    const char *name; /* that in the file; without one that of its first output */
    const char *op, *domain;
    const struct ys_onnx_joined *joined; /* NULL: it is as the file has it */
    size_t in_count, out_count, attr_count;
    const char **in, **out; /* "" stands for an optional one that is not there */
    struct ys_onnx_attr *attrs;
    /* Of an If, once it was looked into (onnx/read/patterns/order_nodes.c): what it has for true and for false, and 1
     * more than the place of the one that its condition chooses, 0 while that is not known. It reads then what they
     * take from outside. */
    struct ys_onnx_file *branches[2];
    int chosen;
};

struct ys_onnx_value_in {
    const char *name;
    int type;       /* 0 where it is no tensor */
    bool has_shape; /* false: the rank is not known */
    size_t rank;
    int64_t shape[YS_MAX_RANK]; /* -1 for a dimension that has a name or nothing */
};

struct ys_onnx_file {
    const char *path;
    int64_t opset;                     /* of the domain "" */
    const char *producer, *graph_name; /* "" where the file says none */
    size_t node_count, tensor_count, input_count, output_count;
    struct ys_onnx_node_in *nodes;
    struct ys_onnx_node_in
        *arranged; /* those in their order, as nothing has changed them (onnx/read/patterns/order_nodes.c) */
    struct ys_onnx_tensor_in *tensors;
    struct ys_onnx_value_in *inputs, *outputs; /* inputs: those that are initializers too are among them */
    struct ys_onnx_inside *inside;
};

/** Reads the file's structure. YS_EFORMAT: damaged, or not ONNX; YS_EUNSUPPORTED: functions, sparse tensors, or no
 * operator set 6 or later; YS_EIO. Close it with ys_onnx_file_close(). */
ys_status ys_onnx_file_open(const char *path, struct ys_onnx_file **file) YS_MUST_CHECK;
/** The same from memory, which must live as long; `path` begins messages and says where external data lie. */
ys_status ys_onnx_file_parse(const char *path, const void *data, size_t size, struct ys_onnx_file **file) YS_MUST_CHECK;
void ys_onnx_file_close(struct ys_onnx_file *file); /* NULL is fine */

/** A graph within it, the value of an attribute: its nodes, tensors, inputs and outputs, which live as long as the
 * file. */
ys_status ys_onnx_graph_parse(struct ys_onnx_file *file, struct ys_span message,
                              struct ys_onnx_file *graph) YS_MUST_CHECK;
/** A TensorProto by itself, the value of an attribute; lives as long as the file. */
ys_status ys_onnx_tensor_parse(struct ys_onnx_file *file, struct ys_span message,
                               struct ys_onnx_tensor_in *tensor) YS_MUST_CHECK;
/** Where the values of a tensor that is_external lie, `wanted` bytes: the named file is mapped until the close.
 * Refused: a place outside the folder of the .onnx file, what is no regular file, what ends before offset + length,
 * another length than `wanted`. */
ys_status ys_onnx_file_external(struct ys_onnx_file *file, const struct ys_onnx_tensor_in *tensor, uint64_t wanted,
                                struct ys_span *bytes) YS_MUST_CHECK;
/** Memory that lives as long as the file. */
void *ys_onnx_file_keep(struct ys_onnx_file *file, size_t count, size_t size);

#endif
