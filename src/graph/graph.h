/* A network as data: values, nodes, parameters; shapes are known for every value once a graph exists.
 *
 * The batch dimension is symbolic: YS_BATCH in memory, the string "N" in JSON, always dimension 0. What a row of the
 * inputs is, is the graph's: pixels, tokens, numbers. Images are NCHW, convolution weights OIHW, dense weights (out,
 * in). The meaning of each operator is in docs/graph.md. */
#ifndef YS_GRAPH_GRAPH_H
#define YS_GRAPH_GRAPH_H

#include "base/json/json.h"
#include "base/status.h"
#include "base/stored/row_form.h"
#include "base/stored/safetensors.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_BATCH          ((int64_t)-1)
#define YS_GRAPH_MAX_NAME 200 /* bytes of a name */

/* Every operator once. Each is the ONNX operator of that name unless said otherwise; graph/op.h describes what each of
 * them takes, makes and needs. No operator mixes rows of the batch, but for the statistics of BATCHNORM; axes are
 * counted with the batch as axis 0, which none may touch. Whoever needs something of every operator expands this list
 * (a table, a switch's cases), so that an operator that was forgotten there does not compile. */
#define YS_OPS(OP)                                                                                                     \
    OP(NORMALIZE)      /* y = (x * scale - mean[c]) / std[c]; x integers or float, y float */                          \
    OP(CONV)           /* cross-correlation, OIHW weight, optional bias, optional table of connections */              \
    OP(CONV_TRANSPOSE) /* the gradient of such a convolution by its input: weight (channels, out / group, ...) */      \
    OP(RELU)                                                                                                           \
    OP(MAXPOOL) /* padding never wins */                                                                               \
    OP(FLATTEN) /* (N, ...) to (N, product), C order */                                                                \
    OP(GEMM)    /* along the last axis, y = x * weight^T + bias, weight (out, in): of (N, in) ONNX Gemm, transB = 1 */ \
    OP(EMBEDDING) /* the row of the weight (vocabulary, width) that each integer names: ONNX Gather along axis 0 */    \
    OP(ATTENTION) /* scaled dot products of queries and keys, their softmax, times values; see struct ys_attention */  \
    OP(MATMUL)    /* products of the matrices along the last two axes of two values */                                 \
    OP(LSTM)      /* over positions; (N, positions, width) to (N, positions, hidden); gates i, f, g, o; one bias */    \
    OP(GRU)       /* the same; gates r, z, n, the reset behind the product; a bias more inside it */                   \
    OP(ROTARY)    /* pairs of each head turned by an angle that grows with the position */                             \
    OP(SINUSOID)  /* sines and cosines of the position added: not an ONNX operator */                                  \
    OP(LAST)      /* the last position whose token is not the padding, (N, width): not an ONNX operator */             \
    OP(AVERAGEPOOL)                                                                                                    \
    OP(GLOBAL_AVERAGEPOOL) /* (N, C, H, W) to (N, C, 1, 1) */                                                          \
    OP(GLOBAL_MAXPOOL)                                                                                                 \
    OP(BATCHNORM) /* rank 2 or 4, over all axes but 1; see struct ys_batchnorm */                                      \
    OP(LAYERNORM) /* over the last axis, with the variance of n; a bias if it likes */                                 \
    OP(RMSNORM)   /* over the last axis, by the root of the mean square; no mean is taken away, no bias added */       \
    OP(LRN)       /* across channels */                                                                                \
    OP(CLIP)      /* to [low, high]; ReLU6 is low 0, high 6 */                                                         \
    OP(LEAKY_RELU)                                                                                                     \
    OP(TANH)                                                                                                           \
    OP(SIGMOID)                                                                                                        \
    OP(HARDSWISH)                                                                                                      \
    OP(HARDSIGMOID) /* alpha x + beta, between 0 and 1 */                                                              \
    OP(SWISH)       /* x times its sigmoid, also called SiLU */                                                        \
    OP(GELU)        /* by erf, or approximated by tanh */                                                              \
    OP(SQRT)                                                                                                           \
    OP(POW) /* the exponent is an attribute */                                                                         \
    OP(EXP)                                                                                                            \
    OP(ELU)      /* x, below 0 alpha (exp(x) - 1) */                                                                   \
    OP(SELU)     /* gamma times ELU */                                                                                 \
    OP(CELU)     /* x, below 0 alpha (exp(x / alpha) - 1) */                                                           \
    OP(SOFTPLUS) /* log(1 + exp(x)) */                                                                                 \
    OP(SOFTSIGN) /* x / (1 + |x|) */                                                                                   \
    OP(MISH)     /* x times tanh of SOFTPLUS */                                                                        \
    OP(SOFTMAX)  /* along one axis */                                                                                  \
    OP(LOG_SOFTMAX)                                                                                                    \
    OP(ADD)       /* two values of one rank, or a value and a parameter; extents of 1 are stretched (broadcasting) */  \
    OP(SUB)       /* as ADD */                                                                                         \
    OP(MUL)       /* as ADD */                                                                                         \
    OP(DIV)       /* as ADD */                                                                                         \
    OP(CONCAT)    /* 2 to YS_NODE_MAX_IN values along one axis */                                                      \
    OP(SPLIT)     /* 2 to YS_NODE_MAX_OUT values along one axis, of which one at least is read */                      \
    OP(RESHAPE)   /* C order; the batch stays */                                                                       \
    OP(PAD)       /* any axes but the batch; a constant, the border repeated, or the inside reflected */               \
    OP(TRANSPOSE) /* the batch stays */                                                                                \
    OP(MEAN)      /* ONNX ReduceMean over any axes but the batch */                                                    \
    OP(DROPOUT)   /* training: y = x / (1 - ratio) where kept, else 0; evaluation: y = x */

#define YS_OP_ENTRY(op) YS_OP_##op,
enum ys_op { YS_OPS(YS_OP_ENTRY) YS_OP_COUNT };
#undef YS_OP_ENTRY

struct ys_window {     /* of convolutions and pools */
    int64_t kernel[2]; /* height, width */
    int64_t stride[2];
    int64_t dilation[2];
    int64_t pad[4]; /* top, left, bottom, right, as ONNX orders them */
    int64_t group;  /* convolutions; 1 elsewhere */
    /* Pools. ceil: a last window may reach beyond the padding; one that would begin behind the image and its left
     * padding is left out (as PyTorch and Caffe do). include_pad, of average pools: divide by the part of the window
     * that lies in image and padding, not in the image alone; what ceil adds beyond the padding never counts. */
    bool ceil, include_pad;
    int64_t extra[2]; /* CONV_TRANSPOSE: rows and columns more at the end (output_padding), below the stride */
};

enum ys_pad_mode { YS_PAD_CONSTANT, YS_PAD_REFLECT, YS_PAD_EDGE, YS_PAD_MODE_COUNT };

struct ys_pad { /* PAD */
    enum ys_pad_mode mode;
    double value;                                    /* of YS_PAD_CONSTANT */
    size_t rank;                                     /* of the input */
    int64_t before[YS_MAX_RANK], after[YS_MAX_RANK]; /* by axis; 0 for the batch */
};

/* Batch normalisation: y = scale * (x - mean) / sqrt(variance + epsilon) + bias. Training uses mean and variance of the
 * batch, the variance with n; evaluation the running ones. A training step then sets
 * running = (1 - momentum) * running + momentum * batch, where the batch's variance is taken with n - 1 (Ioffe and
 * Szegedy, 2015, algorithm 2; n is rows times area, and n = 1 counts as its variance 0). This is PyTorch's momentum;
 * ONNX and TensorFlow call 1 minus it so. Parameters: weight (scale), bias, running_mean, running_var; the last two
 * have the role buffer and start at 0 and 1. All four are always there. */
struct ys_batchnorm {
    double epsilon, momentum;
};

/* Local response normalisation: y[c] = x[c] / (bias + alpha / size * sum of x[i]^2)^beta, i from c - floor((size-1)/2)
 * to c + ceil((size-1)/2), inside the channels. */
struct ys_lrn {
    int64_t size;
    double alpha, beta, bias;
};

/* Attention over positions. A query position t has `heads` parts of equal length along its last axis, a key or value
 * position `kv_heads`; head h sees part h * kv_heads / heads of those. y[t] of a head is the sum over s of p[t, s]
 * v[s], p[t] the softmax over s of scale * q[t] . k[s]; causal: over s <= t alone. A fourth value, tokens (N, keys),
 * hides the keys whose token is YS_ROWS_PADDING. ONNX Attention of inputs of rank 3. */
struct ys_attention {
    int64_t heads, kv_heads; /* the latter divides the former */
    bool causal;
    double scale; /* 0: 1 / sqrt(extent of a query's part) */
};

/* Places told by angles: position t (from 0) and pair i of `width` numbers have t * base^(-2 i / width). ROTARY turns
 * pair i of each head, numbers 2 i and 2 i + 1 of it where they are interleaved, else i and i + width / 2; its width is
 * that of a head. SINUSOID adds the sine to number 2 i, the cosine to 2 i + 1; it has the base alone. */
struct ys_rotary {
    int64_t heads;
    double base;
    bool interleaved;
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
    enum ys_dtype dtype; /* of the graph inputs (YS_U8, YS_I32 or YS_F32); YS_F32 elsewhere, standing for the run's
                            format */
    int producer;        /* node index, -1 for a graph input */
    int uses;            /* how many node inputs read it; the graph output counts as one more */
};

#define YS_NODE_MAX_IN  128
#define YS_NODE_MAX_OUT 4

struct ys_node {
    enum ys_op op;
    char *name;
    size_t in_count, out_count;
    int in[YS_NODE_MAX_IN], out[YS_NODE_MAX_OUT]; /* value indices */
    int weight, bias;                             /* parameter indices, -1 where the op has none; nodes may share one.
                                                     ADD, SUB, MUL, DIV of one value: the weight is the other */
    int recurrent, recurrent_bias;                /* of LSTM and GRU, the latter of GRU alone; -1 elsewhere */
    int running_mean, running_var;                /* of BATCHNORM; -1 elsewhere */
    /* The attributes: of one node those of its operator alone, and reading another's is an error. What goes over nodes
     * of any operator asks the descriptor (graph/op.h), ys_node_window() or ys_node_connections(). */
    union {
        struct {                     /* CONV, CONV_TRANSPOSE, MAXPOOL, AVERAGEPOOL */
            struct ys_window window; /* first: ys_node_set_attrs() goes by where it lies */
            /* CONV, NULL for all: [out channels][in channels / group], 1 where the output channel sees the input
             * channel. Weights of absent connections are no parameters: they are 0 in every file, stay 0, have gradient
             * 0, and count neither as parameters nor as multiply-adds. */
            unsigned char *connected;
        };
        struct ys_pad pad;             /* PAD */
        struct ys_normalize normalize; /* NORMALIZE */
        struct ys_batchnorm batchnorm; /* BATCHNORM */
        struct ys_lrn lrn;             /* LRN */
        struct ys_attention attention; /* ATTENTION */
        struct ys_rotary rotary;       /* ROTARY, SINUSOID */
        struct {                       /* CLIP */
            double low, high;
        };
        struct {
            double slope; /* LEAKY_RELU: of its negative side; HARDSIGMOID, ELU, SELU, CELU: their alpha */
            double shift; /* HARDSIGMOID: its beta */
            double gamma; /* SELU: a factor of all of it */
        };
        double exponent; /* POW; not 0 */
        bool by_tanh;    /* GELU: approximated */
        bool broadcast;  /* ADD, SUB, MUL, DIV: its two values have different shapes; set by their shape rule */
        bool positions;  /* GEMM: its value has more than two dimensions; set by its shape rule */
        double ratio;    /* DROPOUT: share of elements dropped, 0 <= ratio < 1 */
        struct {
            int axis; /* LAYERNORM, RMSNORM, SOFTMAX, LOG_SOFTMAX, CONCAT, SPLIT; at least 1 */
            union {
                double epsilon;                 /* LAYERNORM, RMSNORM */
                int64_t split[YS_NODE_MAX_OUT]; /* SPLIT: extent of each output along the axis */
            };
        };
        struct { /* RESHAPE: shape[0] is YS_BATCH, the others are numbers */
            size_t shape_rank;
            int64_t shape[YS_MAX_RANK];
        };
        int permutation[YS_MAX_RANK]; /* TRANSPOSE: axis i of the result is axis permutation[i]; the first is 0 */
        struct {                      /* MEAN: which axes, and whether they stay with extent 1 */
            bool reduced[YS_MAX_RANK], keepdims;
        };
    };
};

enum ys_loss { /* each the mean over all targets: the rows of the batch, or their positions; y is the label, K the
                  number of classes. Of targets that are numbers: the mean squared error alone, over all of them. */
               YS_LOSS_SOFTMAX_CROSS_ENTROPY, /* -sum over k of t[k] log softmax(z)[k]; t[y] = 1 - s + s / K, others s /
                                                 K, with s the label smoothing */
               YS_LOSS_NLL,                   /* -z[y], for a network that ends in LogSoftmax */
               YS_LOSS_MEAN_SQUARED_ERROR,    /* 1 / K sum over k of (z[k] - t[k])^2, t[y] = 1, others 0 */
               YS_LOSS_COUNT
};

struct ys_graph {
    char *name;
    size_t value_count, node_count, param_count;
    struct ys_value *values;
    struct ys_node *nodes; /* in an order in which every input is made before it is used */
    struct ys_param *params;
    size_t input_count;
    int inputs[YS_ROWS_MAX_INPUTS]; /* value indices; in a data file each has the array of its name */
    int output;                     /* value index of what the loss reads, the logits: classes are its last axis */
    enum ys_target_kind target;     /* its shape follows from that of the output */
    enum ys_loss loss;
    double label_smoothing; /* of softmax cross-entropy: 0 <= s < 1; 0 with the others */
    bool carries_state; /* in training each row of a batch goes on from the state that LSTM and GRU were left in by the
                           same row of the batch before: docs/graph.md */
    bool left_softmax;  /* whose graph it was ends in a Softmax of the output, and softmax cross-entropy has it */
};

/** The input whose value index is `value`: 0 to input_count - 1, or -1. */
int ys_graph_input_of(const struct ys_graph *graph, int value);
/** What the graph wants of each row: its inputs, and the target that its output is compared with. The unit is "rows".
 */
struct ys_rows ys_graph_rows(const struct ys_graph *graph);
/** How many targets a row has: 1, or its positions; 1 for a vector. */
int64_t ys_graph_positions(const struct ys_graph *graph);
/** Nodes that read the parameter. */
int ys_param_readers(const struct ys_graph *graph, int param);

const char *ys_op_name(enum ys_op op);               /* "Conv", "normalize": as in the JSON form */
const char *ys_pad_mode_name(enum ys_pad_mode mode); /* "constant", "reflect", "edge" */
const char *ys_loss_name(enum ys_loss loss);         /* "softmax_cross_entropy", "nll", "mean_squared_error" */

/** Parses, checks and infers every shape. Errors name node and value. `name` begins the messages. */
ys_status ys_graph_from_json(const ys_json *json, const char *name, struct ys_graph **graph) YS_MUST_CHECK;
ys_status ys_graph_read(const char *path, struct ys_graph **graph) YS_MUST_CHECK;
/** The first operator in a file that is none of YS_OPS, as a new text; NULL: there is none, and ys_graph_read() says
 * what else is wrong. */
ys_status ys_graph_find_unknown(const char *path, char **op) YS_MUST_CHECK;
/** The JSON form; new value, NULL without memory. */
ys_json *ys_graph_to_json(const struct ys_graph *graph);
void ys_graph_free(struct ys_graph *graph);

/** The angle of a position and a pair, of struct ys_rotary; `width`: numbers that hold all pairs. */
double ys_rotary_angle(double base, int64_t position, int64_t pair, int64_t width);
/** Elements of parameter `p`. */
int64_t ys_param_elements(const struct ys_param *p);
/** Whether it is trained: of role weight, and not both factors 0. */
bool ys_param_is_trained(const struct ys_param *param);
/** The window of a node whose operator has one; NULL for others. */
const struct ys_window *ys_node_window(const struct ys_node *node);
/** The node's table of connections; NULL where it has none. */
const unsigned char *ys_node_connections(const struct ys_node *node);
/** The table of connections (see struct ys_node) of the convolution whose weight `param` is; NULL for all others. */
const unsigned char *ys_param_connections(const struct ys_graph *graph, size_t param);
/** Zeroes the weights of absent connections in `values`, the parameter in C order, elements of `element_bytes`. */
void ys_param_clear_absent(const struct ys_graph *graph, size_t param, size_t element_bytes, void *values);
/** Elements of value `v` for one row of the batch. */
int64_t ys_value_row_elements(const struct ys_value *v);
/** Trainable elements (role weight, and not both factors 0), absent connections left out. */
int64_t ys_graph_parameter_count(const struct ys_graph *graph);
/** Multiply-adds of one row, forward, of convolutions and matrix products; positions over padding count, as everyone
 * counts. */
int64_t ys_graph_multiply_adds(const struct ys_graph *graph);
/** Whether any node is of this operator. */
bool ys_graph_has(const struct ys_graph *graph, enum ys_op op);
/** Arrays of state that a node can carry from batch to batch, each (N, hidden): 2 of LSTM, h and c, 1 of GRU, h; 0 of
 * the others. */
int ys_node_states(const struct ys_node *node);
/** The value of tokens that says what the node leaves out, YS_ROWS_PADDING: keys of ATTENTION, positions of LAST. -1
 * where nothing is. */
int ys_node_tokens(const struct ys_node *node);
/** Whether any node can. */
bool ys_graph_is_recurrent(const struct ys_graph *graph);
/** Of one node, 0 for ops without. */
int64_t ys_node_multiply_adds(const struct ys_graph *graph, const struct ys_node *node);

#endif
