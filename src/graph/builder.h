/* Making graphs in C. Shapes follow from the input, so a layer is told only what it adds.
 *
 *     struct ys_build *b;
 *     YS_TRY(ys_build_new("tiny", row_shape, 3, YS_U8, &b));
 *     int v = ys_build_normalize(b, ys_build_input(b), 1.0 / 255, 0, 1, "normalize");
 *     v = ys_build_gemm(b, ys_build_flatten(b, v, "flatten"), 10, "fc");
 *     return ys_build_finish(b, v, &graph);
 *
 * Every layer function takes and returns value indices and names its node and its output value `name`, its parameters
 * `name`.weight and so on. After a failure they return -1 and do nothing more: ys_build_finish() tells. Attributes are
 * trusted to be in the ranges of docs/graph.md; shapes are checked. */
#ifndef YS_GRAPH_BUILDER_H
#define YS_GRAPH_BUILDER_H

#include "graph/graph.h"

struct ys_build;

/** `row_shape`: the input without its batch, 1 to YS_MAX_RANK - 1 dimensions. `dtype`: YS_U8, YS_I32 or YS_F32. */
ys_status ys_build_new(const char *name, const int64_t *row_shape, size_t row_rank, enum ys_dtype dtype,
                       struct ys_build **build) YS_MUST_CHECK;
int ys_build_input(const struct ys_build *build);
/** One more input, beside "x". */
int ys_build_more_input(struct ys_build *build, const char *name, const int64_t *row_shape, size_t row_rank,
                        enum ys_dtype dtype);
/** What the output is compared with; a class for each row without this. */
void ys_build_target(struct ys_build *build, enum ys_target_kind kind);
/** The shape of a value, the batch as dimension 0; valid until the next layer. Ones after a failure. */
const int64_t *ys_build_shape(const struct ys_build *build, int value);

/* How initial values are drawn. The spread is the deviation of normal and truncated normal distributions (mean 0), the
 * limit l of a uniform one over (-l, l), the value of a constant. */
enum ys_spread {
    YS_SPREAD_FIXED,  /* `spread` itself */
    YS_SPREAD_FAN_IN, /* sqrt(spread / fan_in), fan_in the inputs that one output sees */
    YS_SPREAD_FAN_OUT /* sqrt(spread / fan_out), fan_out the weight's elements for one channel of the input */
};
struct ys_draw {
    enum ys_init kind;
    enum ys_spread of;
    double spread;
};
#define YS_DRAW_CONSTANT(value)      ((struct ys_draw){YS_INIT_CONSTANT, YS_SPREAD_FIXED, value})
#define YS_DRAW_NORMAL(std)          ((struct ys_draw){YS_INIT_NORMAL, YS_SPREAD_FIXED, std})
#define YS_DRAW_TRUNCATED(std)       ((struct ys_draw){YS_INIT_TRUNCATED_NORMAL, YS_SPREAD_FIXED, std})
#define YS_DRAW_NORMAL_FAN_OUT(gain) ((struct ys_draw){YS_INIT_NORMAL, YS_SPREAD_FAN_OUT, gain})
#define YS_DRAW_UNIFORM(limit)       ((struct ys_draw){YS_INIT_UNIFORM, YS_SPREAD_FIXED, limit})
#define YS_DRAW_UNIFORM_FAN_IN(gain) ((struct ys_draw){YS_INIT_UNIFORM, YS_SPREAD_FAN_IN, gain})
/** For the layers that follow: their weights, and their biases, which count fan_in and fan_out as their weights do. At
 * first weights are uniform with sqrt(6 / fan_in) (He et al., "Delving deep into rectifiers", ICCV 2015), biases 0. */
void ys_build_draw(struct ys_build *build, struct ys_draw weights, struct ys_draw biases);
/** lr_mult and decay_mult for the layers that follow, 1 at first. */
void ys_build_factors(struct ys_build *build, double weight_lr, double weight_decay, double bias_lr, double bias_decay);

/** y = (x * scale - mean) / std, the same for all channels. */
int ys_build_normalize(struct ys_build *build, int in, double scale, double mean, double std, const char *name);
/** A mean and a deviation for each of the input's channels. */
int ys_build_normalize_each(struct ys_build *build, int in, double scale, const double *means, const double *stds,
                            const char *name);
/** Square windows, with a bias. */
int ys_build_conv(struct ys_build *build, int in, int64_t out_channels, int64_t kernel, int64_t stride, int64_t pad,
                  const char *name);
/** The same without a bias, as batch normalisation follows it, in `group` groups. */
int ys_build_conv_plain(struct ys_build *build, int in, int64_t out_channels, int64_t kernel, int64_t stride,
                        int64_t pad, int64_t group, const char *name);
/** With a bias, stride 1, no padding; `connected` as in struct ys_node (copied; NULL is taken for a
 * table that found no memory). */
int ys_build_conv_table(struct ys_build *build, int in, int64_t out_channels, int64_t kernel,
                        const unsigned char *connected, const char *name);
/** Any convolution; `connected` as in struct ys_node (copied), NULL for all. */
int ys_build_conv_window(struct ys_build *build, int in, int64_t out_channels, const struct ys_window *window,
                         const unsigned char *connected, bool with_bias, const char *name);
/** A transposed convolution, with a bias. */
int ys_build_conv_transpose(struct ys_build *build, int in, int64_t out_channels, const struct ys_window *window,
                            const char *name);
int ys_build_gemm(struct ys_build *build, int in, int64_t out_features, const char *name);
int ys_build_gemm_plain(struct ys_build *build, int in, int64_t out_features, const char *name); /* without a bias */
/** Without a bias; its weight is that of the node that made the value `embedding`. */
int ys_build_gemm_tied(struct ys_build *build, int embedding, int in, const char *name);
/** A weight of `vocabulary` rows of `width` numbers, whose fan_in is `width`. */
int ys_build_embedding(struct ys_build *build, int in, int64_t vocabulary, int64_t width, const char *name);
/** Epsilon 1e-5, momentum 0.1; scale 1 and shift 0 at first. */
int ys_build_batchnorm(struct ys_build *build, int in, const char *name);
int ys_build_batchnorm_of(struct ys_build *build, int in, struct ys_batchnorm batchnorm, const char *name);

/** Over the last axis; scale 1 and shift 0 at first. */
int ys_build_layernorm(struct ys_build *build, int in, double epsilon, const char *name);

/** The same by the root of the mean square, without a shift. */
int ys_build_rmsnorm(struct ys_build *build, int in, double epsilon, const char *name);

/** YS_OP_LSTM or YS_OP_GRU over (N, positions, width); all parameters drawn with fan_in = `hidden`. */
int ys_build_recurrent(struct ys_build *build, enum ys_op op, int in, int64_t hidden, const char *name);

/** Add, Sub, Mul or Div of a value and a parameter, which is its weight: extents are those of the value's last axes,
 * or 1.
 */
int ys_build_operand(struct ys_build *build, enum ys_op op, int in, const int64_t *shape, size_t rank,
                     struct ys_initializer init, const char *name);

/** A node of any operator without parameters but normalize: `as` has its op, its attributes and, of Split, its
 * out_count (elsewhere 0 counts as 1). Further outputs are the values behind the first, named `name`_1 and so on. */
int ys_build_node(struct ys_build *build, const struct ys_node *as, const int *in, size_t in_count, const char *name);
/** A node like the one that made the value `like`, with the same parameters, on another value. */
int ys_build_shared(struct ys_build *build, int like, int in, const char *name);
/** An operator of one input without attributes: Relu, Tanh, Sigmoid, Flatten, the global pools. */
int ys_build_plain(struct ys_build *build, enum ys_op op, int in, const char *name);
int ys_build_relu(struct ys_build *build, int in, const char *name);
int ys_build_flatten(struct ys_build *build, int in, const char *name);
int ys_build_maxpool(struct ys_build *build, int in, int64_t kernel, int64_t stride, int64_t pad, const char *name);
/** `op`: YS_OP_MAXPOOL or YS_OP_AVERAGEPOOL. */
int ys_build_pool(struct ys_build *build, enum ys_op op, int in, const struct ys_window *window, const char *name);
/** Square, dilation 1. */
struct ys_window ys_build_window(int64_t kernel, int64_t stride, int64_t pad);
int ys_build_lrn(struct ys_build *build, int in, struct ys_lrn lrn, const char *name);
int ys_build_clip(struct ys_build *build, int in, double low, double high, const char *name);
int ys_build_dropout(struct ys_build *build, int in, double ratio, const char *name);
/** Along the channels. */
int ys_build_log_softmax(struct ys_build *build, int in, const char *name);
int ys_build_add(struct ys_build *build, int a, int b, const char *name);
int ys_build_mul(struct ys_build *build, int a, int b, const char *name);
/** Channels of `a`, then those of `b`. */
int ys_build_concat(struct ys_build *build, int a, int b, const char *name);

/** The loss; softmax cross-entropy without this. */
void ys_build_loss(struct ys_build *build, enum ys_loss loss);
/** Ends the graph at the logits `output`, or says what had failed: YS_EINVAL where the input does not fit. Frees
 * `build` either way. */
ys_status ys_build_finish(struct ys_build *build, int output, struct ys_graph **graph) YS_MUST_CHECK;

#endif
