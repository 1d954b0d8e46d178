/* Small networks that try one operator each, for the check of an adapter (campaign/conformance.h). They are models like
 * the named ones, found by ys_model_find() once it was told of ys_check_find(), so that any of them can be proven,
 * traced or trained alone; `list models` does not show them.
 *
 * A case is: pixels, normalised; a dense layer and a Reshape that bring any shape about, and through which the gradient
 * of the operator's input is seen; the operator; Flatten and a dense layer; the loss. Dense layers and Reshape are what
 * every framework has. */
#ifndef YS_VERIFY_OPERATORS_CHECK_MODELS_H
#define YS_VERIFY_OPERATORS_CHECK_MODELS_H

#include "graph/model.h"

/* Begins the names of all of them. */
#define YS_CHECK_PREFIX "check_"

/** The cases of one operator. */
struct ys_check_group {
    enum ys_op op;
    struct ys_model whole;        /* "check_Conv": every case of it, side by side, their logits added up */
    const struct ys_model *cases; /* "check_conv_1x1", ... */
    size_t count;                 /* at least 1 */
};

/** One for each operator, in the order of enum ys_op. */
const struct ys_check_group *ys_check_groups(void);
/** Models for optimizers, losses and sessions, ended by a NULL name: "check_small", a convolution, batch normalisation,
 * pool and dense layer with factors of their own on rate and decay; "check_small_nll", the same ending in LogSoftmax;
 * "check_dense" and "check_dense_nll", of dense layers alone; "check_rows", of two inputs, a shared layer, a broadcast
 * sum and product, and a class for each position; "check_numbers", of int32 inputs, a shared layer and a vector as
 * target; "check_padded", of tokens that end before the row does, whose attention hides what is behind them;
 * "check_pieces", of tokens that can be answered one by one, with all that knows its place;
 * "check_shared", of images, whose layers stand at two places each;
 * "check_each", the first case of every operator that reads images, side by side. */
const struct ys_model *ys_check_networks(void);
/** Any of the above; NULL when there is none of that name. */
const struct ys_model *ys_check_find(const char *name);

#endif
