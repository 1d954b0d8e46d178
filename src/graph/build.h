/* Making graphs in C. Shapes follow from the input, so a layer is told only what it adds.
 *
 *     struct ys_build *b;
 *     YS_TRY(ys_build_new("tiny", row_shape, 3, YS_U8, &b));
 *     int v = ys_build_normalize(b, ys_build_input(b), 1.0 / 255, 0, 1, "normalize");
 *     v = ys_build_gemm(b, ys_build_flatten(b, v, "flatten"), 10, "fc");
 *     return ys_build_finish(b, v, &graph);
 *
 * Every layer function takes and returns value indices and names its node and its output value `name`, its parameters
 * `name`.weight and `name`.bias. After a failure they return -1 and do nothing more: ys_build_finish() tells. */
#ifndef YS_GRAPH_BUILD_H
#define YS_GRAPH_BUILD_H

#include "graph/graph.h"

struct ys_build;

/** `row_shape`: the input without its batch, 1 to YS_MAX_RANK - 1 dimensions. `dtype`: YS_U8 or YS_F32. */
ys_status ys_build_new(const char *name, const int64_t *row_shape, size_t row_rank, enum ys_dtype dtype,
                       struct ys_build **build) YS_MUST_CHECK;
int ys_build_input(const struct ys_build *build);

/** Weights of the layers that follow are drawn uniformly from (-l, l), l = sqrt(gain / fan_in); biases are 0. The gain
 * is 6 at first: He et al., "Delving deep into rectifiers", ICCV 2015, for layers that a ReLU follows. 3 keeps the
 * variance. */
void ys_build_gain(struct ys_build *build, double gain);

/** y = (x * scale - mean) / std, the same for all channels. */
int ys_build_normalize(struct ys_build *build, int in, double scale, double mean, double std, const char *name);
/** Square windows, with a bias. */
int ys_build_conv(struct ys_build *build, int in, int64_t out_channels, int64_t kernel, int64_t stride, int64_t pad,
                  const char *name);
int ys_build_relu(struct ys_build *build, int in, const char *name);
int ys_build_maxpool(struct ys_build *build, int in, int64_t kernel, int64_t stride, int64_t pad, const char *name);
int ys_build_flatten(struct ys_build *build, int in, const char *name);
int ys_build_gemm(struct ys_build *build, int in, int64_t out_features, const char *name);

/** Ends the graph at the logits `output`, or says what had failed. Frees `build` either way. */
ys_status ys_build_finish(struct ys_build *build, int output, struct ys_graph **graph) YS_MUST_CHECK;

#endif
