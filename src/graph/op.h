/* What an operator is: one descriptor for each, in graph/op_table.c. Whatever goes by operator elsewhere looks here
 * (the JSON reader and writer, shapes, counts, the ONNX writer, the engine and its back ends, the tests' inputs), or
 * has a table made from YS_OPS, in which an operator cannot be forgotten. docs/graph.md has the formulas. */
#ifndef YS_GRAPH_OP_H
#define YS_GRAPH_OP_H

#include "graph/graph.h"

enum ys_op_params { /* which parameters a node of an operator has */
                    YS_PARAMS_NONE,
                    YS_PARAMS_WEIGHT,    /* a weight, always, and a bias, if it likes */
                    YS_PARAMS_SCALE,     /* a weight, always */
                    YS_PARAMS_OPERAND,   /* a weight where its second value would be, if it has none */
                    YS_PARAMS_BATCHNORM, /* weight, bias, running mean and variance, always */
                    YS_PARAMS_LSTM,      /* weight, bias, recurrent weight, always */
                    YS_PARAMS_GRU        /* the same, and the recurrent bias */
};

enum ys_op_kind {                      /* what it spends its time on */
                  YS_OPKIND_PRODUCT,   /* sums over products with weights: it has multiply-adds */
                  YS_OPKIND_POINTWISE, /* a function of elements, or of statistics of some */
                  YS_OPKIND_POOL,
                  YS_OPKIND_LAYOUT /* moves elements */
};

enum ys_op_reach {                         /* of (N, positions, width), of what a position of its result is made */
                   YS_REACH_ALL,           /* of any positions */
                   YS_REACH_OWN,           /* of the same position alone */
                   YS_REACH_OWN_ALONG_LAST /* likewise, where its axis is the last */
};

enum ys_attr_kind {                        /* what the JSON holds, and what lies at the offset in struct ys_node */
                    YS_ATTR_ONLY,          /* the number `only`; nothing in the node */
                    YS_ATTR_UNSAID,        /* the same, but not written */
                    YS_ATTR_FLAG,          /* 0 or 1; bool */
                    YS_ATTR_NOTE,          /* the same, written where it is 1 alone; it follows from the shapes */
                    YS_ATTR_SIZE,          /* from 1; int64_t */
                    YS_ATTR_AXIS,          /* from 1; int */
                    YS_ATTR_PAIR,          /* two integers from 1; int64_t[2] */
                    YS_ATTR_PADS,          /* four integers from 0; int64_t[4] */
                    YS_ATTR_EXTRA,         /* two integers from 0; int64_t[2] */
                    YS_ATTR_PAD_MODE,      /* "constant", "reflect" or "edge"; enum ys_pad_mode */
                    YS_ATTR_AXIS_PADS,     /* from 0, before each axis, then behind each; struct ys_pad */
                    YS_ATTR_REAL,          /* in `range`; double */
                    YS_ATTR_BY_TANH,       /* "none" or "tanh", the latter where it is true; bool */
                    YS_ATTR_CHANNEL_REALS, /* 1 to 65536 numbers, as many as mean has; double * with
                                              normalize.channels entries */
                    YS_ATTR_SPLIT,         /* from 1, one for each output; int64_t[] */
                    YS_ATTR_SHAPE,         /* "N" and numbers from 1; `shape` and `shape_rank` */
                    YS_ATTR_PERMUTATION,   /* of the axes, 0 first; int[], 0 behind its end */
                    YS_ATTR_AXES,          /* ascending from 1; bool[] */
                    YS_ATTR_CONNECTIONS    /* a list of input channels for each output channel; unsigned char * */
};

enum ys_attr_range { YS_RANGE_ANY, YS_RANGE_POSITIVE, YS_RANGE_NOT_NEGATIVE, YS_RANGE_SHARE, YS_RANGE_SHARE_BELOW_1 };

struct ys_attr {
    const char *name; /* as in docs/graph.md; NULL behind the last */
    enum ys_attr_kind kind;
    size_t offset;            /* of its place in struct ys_node */
    bool optional;            /* absent in a file: as ys_compose_node() left it */
    enum ys_attr_range range; /* of YS_ATTR_REAL and YS_ATTR_CHANNEL_REALS */
    int only;
};

#define YS_OP_MAX_ATTRS 8
#define YS_OP_MAX_KINKS 2

struct ys_site; /* graph/infer.h */

struct ys_op_rule {
    const char *name;                          /* "Conv", "normalize": as in the JSON form */
    size_t in_low, in_high, out_low, out_high; /* how many values it reads and makes */
    enum ys_op_params params;
    enum ys_op_kind kind;
    enum ys_op_reach reach;
    bool takes_integers;                      /* an input may be uint8 or int32 */
    const struct ys_attr *attrs;              /* ended by a NULL name; at most YS_OP_MAX_ATTRS */
    ys_status (*infer)(struct ys_site *site); /* checks a node and gives its outputs a shape */
    /** Of one row, forward; NULL for none. */
    int64_t (*multiply_adds)(const struct ys_graph *graph, const struct ys_node *node);
    bool reads_x, reads_y; /* what its gradient is computed from, beside that of its outputs */
    /** The ONNX operator that means the same and takes `attrs` as they are; NULL where it takes more than that to say
     * it in ONNX (onnx/write/write_nodes.c). */
    const char *onnx;
    /** Of a function of one element: where it goes over from one formula to another, or has no derivative, ascending;
     * NULL where it does so nowhere. Returns how many there are. */
    size_t (*kinks)(const struct ys_node *node, double at[YS_OP_MAX_KINKS]);
};

const struct ys_op_rule *ys_op_rule(enum ys_op op);
/** Gives the node the attributes of `as`, which is of the same operator. What they own is not copied: tables of
 * connections and numbers of channels are `as`'s still, so they are the caller's to take or to copy. */
void ys_node_set_attrs(struct ys_node *node, const struct ys_node *as);

/* What is trained, then what is not. */
enum ys_node_param {
    YS_NODE_WEIGHT,
    YS_NODE_BIAS,
    YS_NODE_RECURRENT,
    YS_NODE_RECURRENT_BIAS,
    YS_NODE_RUNNING_MEAN,
    YS_NODE_RUNNING_VAR,
    YS_NODE_PARAM_COUNT
};
/** Whether nodes of an operator can have it, and whether they must. */
bool ys_op_takes(enum ys_op op, enum ys_node_param which);
bool ys_op_needs(enum ys_op op, enum ys_node_param which);
/** "weight", "bias", "recurrent", "recurrent_bias", "running_mean", "running_var". */
const char *ys_node_param_key(enum ys_node_param which);
/** The index of that parameter of the node, -1 without; and where the node keeps it. */
int ys_node_param(const struct ys_node *node, enum ys_node_param which);
int *ys_node_param_place(struct ys_node *node, enum ys_node_param which);

/** The axes of an attribute that names some of the input's (YS_ATTR_PERMUTATION, YS_ATTR_AXES), as it is written.
 * Returns how many. */
size_t ys_attr_axes(const struct ys_attr *attr, const struct ys_graph *graph, const struct ys_node *node,
                    int64_t axes[YS_MAX_RANK]);

#endif
