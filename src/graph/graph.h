/* A network as data: values, nodes, parameters; shapes are known for every value once a graph exists.
 *
 * The batch dimension is symbolic: YS_BATCH in memory, the string "N" in JSON, always dimension 0. Images are NCHW,
 * convolution weights OIHW, dense weights (out, in). The meaning of each operator is in docs/graph.md. */
#ifndef YS_GRAPH_GRAPH_H
#define YS_GRAPH_GRAPH_H

#include "base/json.h"
#include "base/safetensors.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_BATCH ((int64_t)-1)

enum ys_op {
    YS_OP_NORMALIZE, /* y = (x * scale - mean[c]) / std[c]; x uint8 or float, y float */
    YS_OP_CONV,      /* ONNX Conv: cross-correlation, OIHW weight, optional bias */
    YS_OP_RELU,
    YS_OP_MAXPOOL, /* ONNX MaxPool, floor; padding never wins */
    YS_OP_FLATTEN, /* (N, ...) to (N, product), C order */
    YS_OP_GEMM,    /* y = x * weight^T + bias: ONNX Gemm with transB = 1, weight (out, in) */
    YS_OP_COUNT
};

struct ys_window {     /* of convolutions and pools */
    int64_t kernel[2]; /* height, width */
    int64_t stride[2];
    int64_t dilation[2];
    int64_t pad[4]; /* top, left, bottom, right, as ONNX orders them */
    int64_t group;  /* convolutions; 1 elsewhere */
};

struct ys_normalize {
    double scale;
    size_t channels; /* entries of mean and std: 1 (for all) or the channels of the value */
    double *mean, *std;
};

enum ys_role { YS_ROLE_WEIGHT, YS_ROLE_BUFFER };
enum ys_init { YS_INIT_CONSTANT, YS_INIT_UNIFORM, YS_INIT_NORMAL, YS_INIT_TRUNCATED_NORMAL };

/** Where initial values come from: constant(a), uniform(a, b), normal(mean a, deviation b), or that normal redrawn
 * while it lies beyond two deviations. */
struct ys_initializer {
    enum ys_init kind;
    double a, b;
};

struct ys_param {
    char *name; /* "conv1.weight" */
    size_t rank;
    int64_t shape[YS_MAX_RANK];
    enum ys_role role;
    struct ys_initializer init;
    double lr_mult, decay_mult; /* factors on the job's learning rate and weight decay, usually 1 */
};

struct ys_value {
    char *name;
    size_t rank;
    int64_t shape[YS_MAX_RANK]; /* shape[0] == YS_BATCH */
    enum ys_dtype dtype; /* of the graph inputs (YS_U8 or YS_F32); YS_F32 elsewhere, standing for the run's format */
    int producer;        /* node index, -1 for a graph input */
    int uses;            /* how many node inputs read it; the graph output counts as one more */
};

#define YS_NODE_MAX_IN  8
#define YS_NODE_MAX_OUT 4

struct ys_node {
    enum ys_op op;
    char *name;
    size_t in_count, out_count;
    int in[YS_NODE_MAX_IN], out[YS_NODE_MAX_OUT]; /* value indices */
    int weight, bias;                             /* parameter indices, -1 where the op has none */
    struct ys_window window;                      /* CONV, MAXPOOL */
    struct ys_normalize normalize;                /* NORMALIZE */
};

struct ys_graph {
    char *name;
    size_t value_count, node_count, param_count;
    struct ys_value *values;
    struct ys_node *nodes; /* in an order in which every input is made before it is used */
    struct ys_param *params;
    int input;  /* value index of the graph's one input "x" */
    int output; /* value index of the logits */
    char *loss; /* "softmax_cross_entropy": mean over the batch of -log softmax(logits)[y] */
};

const char *ys_op_name(enum ys_op op); /* "Conv", "normalize": as in the JSON form */

/** Parses, checks and infers every shape. Errors name node and value. `name` begins the messages. */
ys_status ys_graph_from_json(const ys_json *json, const char *name, struct ys_graph **graph) YS_MUST_CHECK;
ys_status ys_graph_read(const char *path, struct ys_graph **graph) YS_MUST_CHECK;
/** The JSON form; new value, NULL without memory. */
ys_json *ys_graph_to_json(const struct ys_graph *graph);
void ys_graph_free(struct ys_graph *graph);

/** Elements of parameter `p`. */
int64_t ys_param_elements(const struct ys_param *p);
/** Elements of value `v` for one row of the batch. */
int64_t ys_value_row_elements(const struct ys_value *v);
/** Trainable elements (role weight). */
int64_t ys_graph_parameter_count(const struct ys_graph *graph);
/** Multiply-adds of one row, forward, of convolutions and matrix products; positions over padding count, as everyone
 * counts. */
int64_t ys_graph_multiply_adds(const struct ys_graph *graph);
/** Of one node, 0 for ops without. */
int64_t ys_node_multiply_adds(const struct ys_graph *graph, const struct ys_node *node);

#endif
