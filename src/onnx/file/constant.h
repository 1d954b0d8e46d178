/* Constants of an ONNX file: initializers, and what is computed from them and from shapes before there are any data.
 *
 * Integers may depend on the batch: `each` a row of it more, as the number of rows itself is 0 + 1 for each. Reals are
 * computed in double. A constant that was only read is decoded when its elements are first asked for. */
#ifndef YS_ONNX_FILE_CONSTANT_H
#define YS_ONNX_FILE_CONSTANT_H

#include "onnx/file/node_attributes.h"

#define YS_ONNX_MAX_COMPUTED ((int64_t)1 << 26) /* elements, of all constants of a file that are computed together */

struct ys_onnx_whole {
    int64_t fixed, each;
};

enum ys_onnx_found { YS_ONNX_UNKNOWN, YS_ONNX_IS, YS_ONNX_IS_NOT };

/* What numbers or truths hide of the scores of an attention. */
struct ys_onnx_hiding {
    bool is_known, is_plain, is_none, is_causal; /* a mask; of nothing; of what lies behind each query */
};

/* The base of which these cosines and those sines are, for heads of `width` and pairs of that order. */
struct ys_onnx_turning {
    const struct ys_onnx_constant *sines, *others; /* NULL: nothing is known; none are given */
    int64_t positions, width;
    double base;
    bool interleaved, is_found;
};

/* How a parameter is made of a constant: element (i0, i1, ...) of `shape` is `factor` times that at the place
 * i0 * steps[0] + i1 * steps[1] + ... of the constant. With `blocks` axis 0 is so many equal parts, part k of which is
 * part order[k] of the constant's. */
struct ys_onnx_view {
    double factor;
    size_t rank, blocks;
    int64_t shape[YS_MAX_RANK], steps[YS_MAX_RANK], order[4];
};

struct ys_onnx_constant {
    bool is_real;
    int type; /* enum ys_onnx_dtype: reals are FLOAT, FLOAT16, BFLOAT16 or DOUBLE; truths and integers whole */
    size_t rank;
    int64_t shape[YS_MAX_RANK], count;
    bool filled; /* one element, which stands for all */
    /* Integers of each row: axis 0, of extent 1 here, is the batch, and row n has `fixed` + n times `each`. */
    bool per_row;
    double *reals;
    struct ys_onnx_whole *wholes;
    const struct ys_onnx_tensor_in *tensor; /* what it was read from, unchanged; NULL for what was computed */
    /* Reals that are the same for every row: axis `rows_axis` - 1, of extent 1 here, is the batch; 0: no axis is. */
    size_t rows_axis;
    const struct ys_onnx_tensor_in *origin; /* whose elements it has in another shape or order; NULL: it is computed */
    bool is_held;             /* the file holds numbers of its own, more than one, that it was computed of */
    int readers;              /* nodes of the graph that it has become a parameter of */
    int param;                /* where it has readers: the last parameter of the graph that it became */
    bool is_shared;           /* that parameter is a matrix, made by `view`: who reads the constant so shares it */
    struct ys_onnx_view view; /* so that numbers which are known are not read again for each of thousands of nodes */
    /* What its elements are, once it was asked for. `hides`: of scores, without and with truths that hide. */
    enum ys_onnx_found uniform, mask[2], counts;
    struct ys_onnx_hiding hides[2];
    struct ys_onnx_turning turning;
};

struct ys_onnx_folding { /* the constants of one file */
    struct ys_onnx_file *file;
    int64_t computed; /* elements so far */
};

/** A constant of that type and shape with room for its elements, zeroed; NULL `shape` is that of `like`. */
ys_status ys_onnx_constant_new(struct ys_onnx_folding *folding, const struct ys_onnx_constant *like,
                               const int64_t *shape, size_t rank, struct ys_onnx_constant **constant) YS_MUST_CHECK;
/** A tensor of the file, decoded later. Refused by its name: types that hold neither reals nor integers. */
ys_status ys_onnx_constant_of(struct ys_onnx_folding *folding, const struct ys_onnx_tensor_in *tensor,
                              struct ys_onnx_constant **constant) YS_MUST_CHECK;
/** Decodes what was only read. */
ys_status ys_onnx_constant_load(struct ys_onnx_folding *folding, struct ys_onnx_constant *constant) YS_MUST_CHECK;

/* Of a loaded constant. */
double ys_onnx_constant_real(const struct ys_onnx_constant *constant, int64_t index);
struct ys_onnx_whole ys_onnx_constant_whole(const struct ys_onnx_constant *constant, int64_t index);
/** Whether all its elements are that number. */
bool ys_onnx_constant_is(struct ys_onnx_constant *constant, double value);
/** Whether it lets through or not: numbers that are 0 and 1, or with `is_sum` 0 and what is beyond all values of a
 * network. */
bool ys_onnx_constant_is_mask(struct ys_onnx_constant *constant, bool is_sum);

/** Whether an operator can be computed beforehand when all that it reads are constants. */
bool ys_onnx_folds(const char *op);
/** Computes a node. `in`: its inputs, NULL for those that are left out. One output. */
ys_status ys_onnx_fold(struct ys_onnx_folding *folding, const struct ys_onnx_node_in *node,
                       struct ys_onnx_constant *const *in, struct ys_onnx_constant **out) YS_MUST_CHECK;
/** A list of numbers that a node reads as its input `in`, or where that is NULL as the attribute: axes, pads, starts.
 * At most `room`; numbers that depend on the batch are refused. *count stays where there is neither. */
ys_status ys_onnx_numbers(struct ys_onnx_folding *folding, const struct ys_onnx_node_in *node,
                          struct ys_onnx_constant *in, const char *name, int64_t *values, size_t room,
                          size_t *count) YS_MUST_CHECK;

#endif
