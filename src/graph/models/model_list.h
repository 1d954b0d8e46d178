/* The named models' functions, one file a family, and how each of them begins. named_models.c lists them. */
#ifndef YS_GRAPH_MODELS_MODEL_LIST_H
#define YS_GRAPH_MODELS_MODEL_LIST_H

#include "graph/builder.h"
#include "graph/model.h"

/* What a network is fed: (range * p - mean) / std of a pixel p in [0, 1]. Means and deviations are those of all
 * training pixels of the data set. */
struct ys_pixels {
    double range, mean, std;
};
#define YS_PIXELS_SHARE       ((struct ys_pixels){1, 0, 1})
#define YS_PIXELS_256TH       ((struct ys_pixels){255.0 / 256, 0, 1}) /* bytes times 1/256 */
#define YS_PIXELS_MNIST       ((struct ys_pixels){1, 0.1307, 0.3081})
#define YS_PIXELS_CIFAR       ((struct ys_pixels){1, 0.4734, 0.2516})
#define YS_PIXELS_CIFAR_BYTES ((struct ys_pixels){255, 120.7, 1})
#define YS_PIXELS_IMAGENET    ((struct ys_pixels){1, 0.449, 0.226}) /* the mean of torchvision's three channels */

/** Refuses data of the other kind: rows of tokens, or of pixels or numbers of three extents. */
ys_status ys_model_need(const char *name, const struct ys_model_input *input, bool tokens) YS_MUST_CHECK;
/** Checks the input; a graph with a normalize node, whose value is `value`. */
ys_status ys_model_begin(const char *name, const struct ys_model_input *input, struct ys_pixels pixels,
                         struct ys_build **build, int *value) YS_MUST_CHECK;

/** "conv`suffix`" and "relu`suffix`". */
int ys_model_conv_relu(struct ys_build *build, int in, int64_t out_channels, int64_t kernel, int64_t stride,
                       int64_t pad, const char *suffix);
/** As ys_build_draw() for layers as PyTorch and Torch make them: weights and biases uniform, sqrt(1 / fan_in). */
void ys_model_draw_as_torch(struct ys_build *build);

/** Convolution without a bias and with padding that keeps the extent, batch normalisation: `prefix`conv`suffix`,
 * `prefix`bn`suffix`. */
int ys_model_conv_bn(struct ys_build *build, int in, int64_t channels, int64_t kernel, int64_t stride, int64_t group,
                     const char *prefix, const char *suffix);
/** What follows from `prefix` and `what`: an operator of one input without attributes of that name. */
int ys_model_plain(struct ys_build *build, enum ys_op op, int in, const char *prefix, const char *what);
/** A whole multiple of 8 near `channels`, and not less than nine tenths of it: how widths of MobileNet are rounded. */
int64_t ys_model_round_to_8(double channels);
/** The mean of each channel, flattened. */
int ys_model_pooled(struct ys_build *build, int in);

/** A block of a transformer: attention over the positions, then two dense layers of each with a Gelu between. */
struct ys_model_block {
    int64_t width, heads;
    enum ys_init normal;     /* how weights are drawn: YS_INIT_NORMAL or YS_INIT_TRUNCATED_NORMAL, deviation 0.02 */
    double residual;         /* deviation of the weights that end a branch */
    double epsilon;          /* of its layer normalisations */
    bool is_causal, by_tanh; /* positions see none behind them; the Gelu is the approximated one */
    bool is_padded;          /* positions whose token, of the graph's input, is the padding are seen by none */
};
/** YS_EINVAL: the heads do not divide the width. */
ys_status ys_model_check_heads(const char *name, const struct ys_model_block *block) YS_MUST_CHECK;
/** The whole block, with a normalisation before each of its two branches, or behind each of its two sums. */
int ys_model_block_before(struct ys_build *build, int in, const struct ys_model_block *block, const char *prefix);
int ys_model_block_behind(struct ys_build *build, int in, const struct ys_model_block *block, const char *prefix);
/** The first of (N, positions, width): (N, width). */
int ys_model_first(struct ys_build *build, int in);

/* What of them can be chosen. */
extern const struct ys_model_key ys_model_keys_cifar_resnet20[], ys_model_keys_cifar_resnet56[];
extern const struct ys_model_key ys_model_keys_resnet18[], ys_model_keys_resnet50[];
extern const struct ys_model_key ys_model_keys_mobilenet[], ys_model_keys_efficientnet[];
extern const struct ys_model_key ys_model_keys_densenet[], ys_model_keys_shufflenet[];
extern const struct ys_model_key ys_model_keys_gpt_nano[], ys_model_keys_gpt2[];
extern const struct ys_model_key ys_model_keys_lstm_char[], ys_model_keys_lstm_ptb[], ys_model_keys_lstm_classifier[];
extern const struct ys_model_key ys_model_keys_vit_tiny[], ys_model_keys_bert_mini[];

ys_status ys_model_alexnet(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_alexnet_cifar(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_vgg16(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_squeezenet(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_fcn5(const struct ys_model_input *input, struct ys_graph **graph);

ys_status ys_model_resnet20(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_resnet56(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_resnet50(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_resnet50_v1(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_mobilenet_v2(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_resnet18(const struct ys_model_input *input, struct ys_graph **graph);

ys_status ys_model_densenet121(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_shufflenet_v2(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_mobilenet_v3(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_efficientnet_b0(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_convnext_tiny(const struct ys_model_input *input, struct ys_graph **graph);

ys_status ys_model_gpt_nano(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_gpt2(const struct ys_model_input *input, struct ys_graph **graph);

ys_status ys_model_lstm_char(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_gru_char(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_lstm_ptb(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_lstm_classifier(const struct ys_model_input *input, struct ys_graph **graph);

ys_status ys_model_vit_tiny(const struct ys_model_input *input, struct ys_graph **graph);
ys_status ys_model_bert_mini(const struct ys_model_input *input, struct ys_graph **graph);

#endif
