/* How the nodes of a quantised network are lowered, for every back end that computes in integers.
 *
 * A back end hands ys_integer_forward() each node; what stays in float comes back to it. Values between quantised nodes
 * are bytes (kernels_integer.h), in low->integer[value]; where a node in float reads such a value, or it is the logits,
 * it is turned into numbers, once. Products may be the back end's own; those that it has not, and all of `ref`, are
 * plain loops. The parameters of products lie in the flat buffer as integers: behind a weight's scales nobody asks for
 * its numbers again. */
#ifndef YS_BACKEND_INTEGER_INTEGER_H
#define YS_BACKEND_INTEGER_INTEGER_H

#include "backend/integer/kernels_integer.h"
#include "engine/backend.h"

/** What a product of a back end's own makes. */
enum ys_integer_own {
    YS_INTEGER_NONE, /* there is none: plain loops do it */
    YS_INTEGER_SUMS, /* int32, of x as it lies, its zero point not taken away */
    YS_INTEGER_BYTES /* the result; of kind static alone */
};

/** What a back end gives. */
struct ys_integer_backend {
    /** Lowers a node in float. */
    ys_status (*in_float)(struct ys_lowering *low, const struct ys_node *node);
    /** Where a value that was computed in float lies in C order. */
    ys_status (*plain)(struct ys_lowering *low, const struct ys_node *node, int value, struct ys_operand *operand);
    /** low->value[value] lies in C order from here on. */
    ys_status (*adopt)(struct ys_lowering *low, int value);
    /** What product of its own it has for the node; NULL: none for any. */
    enum ys_integer_own (*own)(const struct ys_lowering *low, const struct ys_node *node);
    /** Appends it: from low->integer of the input to that of the result, or to the buffer `sums`. */
    ys_status (*product)(struct ys_lowering *low, const struct ys_node *node, int sums);
};

/** Whether the network is quantised so that back ends compute in integers: static or dynamic. */
bool ys_integer_is_used(const struct ys_lowering *low);
enum ys_quant_way ys_integer_way(const struct ys_lowering *low, const struct ys_node *node);
ys_status ys_integer_forward(struct ys_lowering *low, const struct ys_node *node,
                             const struct ys_integer_backend *backend) YS_MUST_CHECK;

/* Parameters. A weight in the flat buffer: the sums of its channels (int32), from YS_INTEGER_WEIGHTS on its integers.
 */
/** The product whose weight or bias is kept as integers; NULL: it is kept as it is. */
const struct ys_node *ys_integer_product_of(const struct ys_lowering *low, size_t param);
/** Bytes of the sums that lie in front of a weight's integers: of whole cache lines. */
size_t ys_integer_sums_bytes(const struct ys_lowering *low, const struct ys_node *node);
/** Elements of the flat buffer for a parameter whose integers take `bytes` (a bias: 0). */
size_t ys_integer_param_size(const struct ys_lowering *low, size_t param, size_t bytes);
/** A weight's integers, [out][in / group][height][width] as its numbers, and its sums; `integers` has room for them. */
void ys_integer_weight(const struct ys_lowering *low, const struct ys_node *node, const float *canonical,
                       int8_t *integers, int32_t *sums);
void ys_integer_bias(const struct ys_lowering *low, const struct ys_node *node, const float *canonical, int32_t *bias);
/** A parameter of a product of plain loops, into its place. */
ys_status ys_integer_store(struct ys_lowering *low, size_t param, const void *canonical, void *flat) YS_MUST_CHECK;
/** Says that they are not given out. */
ys_status ys_integer_load(const struct ys_lowering *low, size_t param) YS_MUST_CHECK;

/* What a back end needs to describe a product of its own. */
const struct ys_activation_scale *ys_integer_scale(const struct ys_lowering *low, int value);
/** Where the bytes of a node's input lie for a product: with a border of zero points in dynamic. */
struct ys_integer_image ys_integer_image(const struct ys_lowering *low, int value);
/** Zero point and cuts of what the node makes. */
struct ys_integer_ends ys_integer_ends(const struct ys_lowering *low, const struct ys_node *node);
/** scale of x times that of the weight over that of y, of a channel (static); the weight's alone (dynamic). */
double ys_integer_factor(const struct ys_lowering *low, const struct ys_node *node, int64_t channel);

#endif
