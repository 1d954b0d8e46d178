/* A network that shows each operator of a quantised one by itself: its inputs are numbers that were found in front of
 * that operator, each of which becomes an integer there, and its output is every result, one behind the other, as
 * `logits` of shape (N, columns). An adapter needs to know nothing new: it is a network with scales like any other.
 * What each element has to be is known exactly, so that a runtime's integers are right or wrong:
 *
 *   a result's integer is that of the exact value, rounded half to even; one step beside it is allowed only where the
 *   exact value lies within YS_LAYER_BAND times the size of what was added up of a half: so much may rounding in float
 *   move what is scaled by the product of scales. No step is allowed where all scales are powers of two.
 *
 * Beside the network's own operators there are made ones: ties of QuantizeLinear, ties of a result, sums that saturate
 * in 16 bits with weights of 8 bits, and sums that float32 cannot hold. */
#ifndef YS_QUANT_LAYER_NETWORK_H
#define YS_QUANT_LAYER_NETWORK_H

#include "graph/fold.h"
#include "graph/scales.h"

/** Four roundings of float32 (of the sum, of the product of scales, of its division, of the bias added behind), each
 * half a unit in the last place, and as much again for the order in which they come. */
#define YS_LAYER_BAND 0x1p-21

enum ys_layer_kind {
    YS_LAYER_OPERATOR,  /* of the network */
    YS_LAYER_OPERAND,   /* an input of one that is no product, as its integers stand for it */
    YS_LAYER_TIES,      /* of numbers that become integers */
    YS_LAYER_REQUANT,   /* ties of a result */
    YS_LAYER_PAIRS,     /* products of which two saturate 16 bits, with weights of 8 bits */
    YS_LAYER_LONG_SUMS, /* that float32 does not hold: integers do */
};

struct ys_shown_layer {
    enum ys_layer_kind kind;
    char *name; /* of the operator, or what it is of, in words */
    const char *op;
    int64_t offset, length; /* columns of the logits */
    double scale;
    int zero_point, low, high; /* of its result: the ends of a Relu or Clip that is joined */
    bool no_band;
    double *exact, *size; /* [rows, length]: quant/exact_operator.h */
};

struct ys_layer_network {
    struct ys_graph *graph;
    struct ys_scales scales;
    float **values; /* [param_count] of graph */
    int64_t rows, columns;
    float *x; /* [rows, elements of the graph's input] */
    struct ys_shown_layer *items;
    size_t count;
};

/** The numbers of a value of the folded network in row `row`, in C order: borrowed until the next call; NULL: not
 * known.
 */
typedef const double *(*ys_layer_values)(void *context, int value, int64_t row);

/** Of a network of rule static. YS_EUNSUPPORTED: another rule; YS_ENOTFOUND: a value is not known; others as
 * ys_quant_plan_make(). Free with ys_layer_network_fini(). */
ys_status ys_layer_network_make(const struct ys_folded *folded, const struct ys_scales *scales, int64_t rows,
                                ys_layer_values values, void *context, struct ys_layer_network *made) YS_MUST_CHECK;
void ys_layer_network_fini(struct ys_layer_network *network); /* a zeroed one is fine */

/** What came of the logits of a runtime. */
struct ys_layer_verdict {
    int64_t elements, in_band,
        wrong;         /* of the network's own and the made ones, but long sums; in_band: a step beside */
    int64_t operators; /* of the network's own */
    const struct ys_shown_layer *first; /* the first that is wrong, with its first such element; NULL */
    double exact, got;                  /* of that: before it is rounded, and the integer of the runtime */
    bool saturates;                     /* pairs of products do */
    bool is_float;                      /* long sums are not those of integers */
};
/** `logits` [rows, columns]. */
void ys_layer_judge(const struct ys_layer_network *network, const double *logits, struct ys_layer_verdict *verdict);

#endif
