/* How far two sets of tensors lie apart. */
#ifndef YS_VERIFY_ERROR_H
#define YS_VERIFY_ERROR_H

#include "base/safetensors.h"
#include <stdbool.h>

struct ys_worst {
    double error;   /* infinite when a tensor is missing, has another shape, or holds NaN */
    char name[128]; /* the tensor it was found in */
};

/** max|a - ref| / max|ref|; absolute when ref is all zero. */
double ys_error_max(const struct ys_tensor *a, const struct ys_tensor *ref);
/** Euclidean norm of the difference. */
double ys_error_norm(const struct ys_tensor *a, const struct ys_tensor *ref);
double ys_tensor_norm(const struct ys_tensor *a);

/** Gradients: norm(a - ref) / norm(ref), tensor by tensor, over every tensor of `ref` whose name begins with `prefix`.
 */
void ys_error_gradients(const struct ys_safetensors *a, const struct ys_safetensors *ref, const char *prefix,
                        struct ys_worst *worst);
/** Weights after some steps: norm(a - ref) / norm(ref - start), over every tensor of `ref`; `start` may be of another
 * format. */
void ys_error_weights(const struct ys_safetensors *a, const struct ys_safetensors *ref,
                      const struct ys_safetensors *start, struct ys_worst *worst);
/** Exact equality, value by value, of tensor `name` in both; a missing one is unequal. */
bool ys_tensors_equal(const struct ys_tensor *a, const struct ys_tensor *b);

#endif
