/* How far two sets of tensors lie apart. */
#ifndef YS_VERIFY_ORACLE_TENSOR_ERROR_H
#define YS_VERIFY_ORACLE_TENSOR_ERROR_H

#include "base/stored/safetensors.h"
#include "graph/graph.h"
#include <stdbool.h>

struct ys_worst {
    double error;   /* infinite when a tensor is missing, has another shape, or holds NaN */
    char name[128]; /* the tensor it was found in; "" where the error is 0 */
};

/** Raises `worst` to `error` where that is larger; NaN counts as infinite. */
void ys_worst_raise(struct ys_worst *worst, double error, const char *name);

/** max|a - ref| / max|ref|; absolute when ref is all zero. NULL is a missing tensor. */
double ys_error_max(const struct ys_tensor *a, const struct ys_tensor *ref);
/** The same of two tensors of one element, such as a loss. */
double ys_error_scalar(const struct ys_tensor *a, const struct ys_tensor *ref);

/** The worst over the graph's parameters of `role`, each found in the files as `prefix` + its name:
 * norm(a - ref) / norm(ref), or, with a `start`, / norm(ref - start), the way that was gone since. A tensor whose norm
 * or way is below 1e-6 of the largest is judged against that largest: its own digits are rounding. Files may be of any
 * format; each is read once. */
void ys_error_parameters(const struct ys_graph *graph, enum ys_role role, const char *prefix,
                         const struct ys_safetensors *a, const struct ys_safetensors *ref,
                         const struct ys_safetensors *start, struct ys_worst *worst);

/** Raises `all` to the worst such error of the weights' gradients, which are named "grad." + their weights, and
 * `matrices` to the worst of the weights of more than one dimension. */
void ys_error_gradients(const struct ys_graph *graph, const struct ys_safetensors *a, const struct ys_safetensors *ref,
                        struct ys_worst *all, struct ys_worst *matrices);

/** As ys_error_parameters(), of weights that were to be saved in double, and that may have been saved as float32: what
 * that rounding explains is no difference. */
void ys_error_saved(const struct ys_graph *graph, enum ys_role role, const struct ys_safetensors *a,
                    const struct ys_safetensors *ref, const struct ys_safetensors *start, struct ys_worst *worst);

/** As ys_error_parameters(), of each parameter: errors[p] for graph->params[p], 0 for those of the other role. */
void ys_error_each(const struct ys_graph *graph, enum ys_role role, const char *prefix, const struct ys_safetensors *a,
                   const struct ys_safetensors *ref, const struct ys_safetensors *start, double *errors);

/** ys_error_max() of `length` columns from `offset` on, of two matrices. */
double ys_error_columns(const struct ys_tensor *a, const struct ys_tensor *ref, int64_t offset, int64_t length);

/** Exact equality, value by value whatever the format; a missing tensor (NULL) is unequal. */
bool ys_tensors_equal(const struct ys_tensor *a, const struct ys_tensor *b);

#endif
