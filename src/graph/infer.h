/* What the shape rules share; the rest of the room uses ys_compose_infer(). */
#ifndef YS_GRAPH_INFER_H
#define YS_GRAPH_INFER_H

#include "graph/compose.h"

struct ys_site { /* the node that a rule is about */
    struct ys_graph *graph;
    const struct ys_node *node;
    const struct ys_value *in; /* its first */
    struct ys_value *out;      /* its first */
    const char *label;
    char shape[YS_SHAPE_TEXT], other[YS_SHAPE_TEXT]; /* room for messages */
};

/* Arguments: a format that goes on after "graph.json: node conv1 (Conv): ". */
#define YS_FAIL_SITE(site, format, ...)                                                                                \
    ys_fail(YS_EFORMAT, "%s: node %s (%s): " format, (site)->label, (site)->node->name, ys_op_name((site)->node->op),  \
            __VA_ARGS__)

/* The shape of a value, for a message. */
#define YS_SITE_SHAPE(site, value) ys_shape_text((value)->shape, (value)->rank, (site)->shape)

/** Fails unless the input is (N, channels, height, width). */
ys_status ys_infer_need_nchw(struct ys_site *site) YS_MUST_CHECK;
/** Fails unless the parameter, where the node has it, has shape [channels]. */
ys_status ys_infer_check_vector(struct ys_site *site, enum ys_node_param which, int64_t channels) YS_MUST_CHECK;

/* The shape rules (graph/op_table.c says which operator has which): each checks the node against its inputs, attributes
 * and parameters and gives its outputs a shape. */
ys_status ys_infer_same(struct ys_site *site) YS_MUST_CHECK; /* the shape of the input */
ys_status ys_infer_pair(struct ys_site *site) YS_MUST_CHECK; /* that of both inputs */
ys_status ys_infer_normalize(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_conv(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_conv_transpose(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_pool(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_padded(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_global_pool(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_flatten(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_gemm(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_embedding(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_attention(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_matmul(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_recurrent(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_rotary(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_sinusoid(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_last(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_batchnorm(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_layernorm(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_lrn(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_clip(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_pow(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_softmax(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_concat(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_split(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_reshape(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_transpose(struct ys_site *site) YS_MUST_CHECK;
ys_status ys_infer_mean(struct ys_site *site) YS_MUST_CHECK;

#endif
