/* What a back end is: it lowers a graph, node by node, into calls of a program.
 *
 * The engine (engine/lower.c) walks the graph and asks; the back end chooses layouts, temporary buffers and fusion. The
 * order is: begin, forward of every live node, loss, backward of every live node from the last to the first, update.
 * A node is live when the logits depend on it. Parameters, logits, loss and the input's gradient are double for
 * YS_ENGINE_F64, float for YS_ENGINE_F32 and YS_ENGINE_BF16; other values and gradients have the precision's format, in
 * whatever layout the back end likes.
 *
 * A value may be read by several nodes; its gradient is the sum of what each gives. Backward of a node comes after
 * backward of every reader of its results, so when it comes, gradient[out] is complete; it adds its own share to
 * gradient[in], or makes that buffer if it is the first (gradient[in] is -1). ys_lower_share() says which. A back end
 * may also pass a buffer on, gradient[in] = gradient[out], to one value or to several; then several hold one buffer,
 * and ys_lower_share() and ys_lower_gradient_holders() tell when nobody may write into it. After backward of a node its
 * results hold nothing any more: the engine sets their gradient to -1.
 *
 * A node with several results (Split) has one backward, called when the gradient of any of them is wanted; a result
 * that no live node reads has no gradient (-1), which counts as zeros.
 *
 * What differs between training and evaluation is decided when the program runs, from `mode`; an evaluating program
 * (config.training false) knows no other mode. The update segment, and it alone, also moves running statistics.
 *
 * Parameters live in one flat buffer, in whatever layout the back end likes; gradients and the optimizer's state mirror
 * it element for element, so the optimizer is one pass over a few arrays. Buffers (role buffer) lie there too, and
 * belong to no update range; what stands at their place in `gradients` is nobody's. */
#ifndef YS_ENGINE_BACKEND_H
#define YS_ENGINE_BACKEND_H

#include "engine/program.h"
#include "graph/graph.h"
#include "quant/quant_plan.h"
#include "yardstick/engine.h"

/* Of a row without a last position. */
#define YS_NO_LAST "row %lld has no last position: all its tokens are the padding, 0, and one at least must not be"

/* What a query of an attention that sees no key has: no softmax. */
#define YS_ALL_HIDDEN                                                                                                  \
    "query %lld of row %lld sees no key: all tokens that it could see are the padding, 0, and one at least must not "  \
    "be"

/** Consecutive elements of the flat buffers that are updated alike. */
struct ys_update_range {
    size_t first, count;
    double lr_mult, decay_mult;
};

struct ys_lowering {
    const struct ys_graph *graph;
    struct ys_engine_config config;
    struct ys_program *program;
    size_t real_size;     /* bytes of an element of parameters, logits and loss: 8 or 4 */
    int64_t classes;      /* last axis of the logits, or all elements of a row where the target is a vector */
    int64_t targets;      /* rows that the loss sees: the batch, times the positions that have a class each */
    bool *node_live;      /* [node_count] */
    bool *value_gradient; /* [value_count]: the gradient of this value is wanted; false where no live node reads it */
    int *value_reads;     /* [value_count]: how often live nodes read it; being the logits counts as one more */
    int *value_reader; /* [value_count]: the live node that reads it, where value_reads is 1 and it is not the logits;
                          else -1 */
    int *value;        /* [value_count]: its buffer, -1 before it has one */
    bool *param_given; /* [param_count]: some node gave the parameter its gradient; see ys_lower_param_share() */
    const struct ys_scales *scales; /* of a quantised network; NULL. Valid for the life of the program */
    struct ys_quant_plan quant;     /* of it, by these scales: what is computed in integers */
    int *integer;                   /* [value_count]: the buffer of a quantised value's bytes, -1 before it has one */
    int *gradient;                  /* [value_count]: the buffer of its gradient, -1 before it has one */
    int *carried; /* [node_count]: of a node that carries its state, the buffer of ys_node_states() arrays [batch,
                     hidden] that forward begins with, and behind them those that it ends with, which the engine makes
                     the first ones when it is time; -1 of the others */
    int64_t cache_positions; /* of a row, whose keys and values attention keeps from pass to pass; 0: none */
    int *cached;             /* [node_count]: of an attention that keeps them, the buffer of its keys [batch,
                                cache_positions, width] and of its values behind them; -1 of the others */
    size_t *param_offset;    /* [param_count]: first element in the flat buffers; set by the engine after begin */
    size_t *param_size;      /* [param_count]: elements there, padding included; set by begin */
    int inputs[YS_ROWS_MAX_INPUTS]; /* batch rows as each input of the graph stores them (uint8, int32, float32), C
                                       order */
    int labels;                     /* int64 [targets]; of a vector float [batch, ...] */
    int logits;                     /* [targets, classes], C order */
    int loss;                       /* one element */
    bool only_inputs; /* training stands for "has a backward pass", in mode EVAL, which gives no parameter its gradient:
                         a back end may leave out what would make one */
    int cotangent;    /* like logits, which replaces the gradient that the loss gives them; -1: it stays */
    int input_gradient;     /* of the first input: [batch, ...] in C order, -1 unless asked for */
    int weights, gradients; /* the flat buffers; gradients is -1 without training */
    int state1, state2;     /* flat: v of SGD and u of RMSPROP, m of ADAM; v of ADAM and RMSPROP; -1 where not needed */
    struct ys_update_range *ranges;
    size_t range_count;
    const double *lr;     /* of the step about to run; valid for the life of the program, as are the next three */
    const uint64_t *step; /* steps done since open or reset */
    const int64_t *at; /* of the positions of a row, the first that the run about to begin is of; 0 without a cache */
    const enum ys_engine_mode *mode;           /* of the run about to begin */
    const struct ys_engine_exchange *exchange; /* with other engines, engine/engine.h; likewise */
    enum ys_segment segment;                   /* that calls are being appended to */
    enum ys_call_kind kind;                    /* of those calls, unless ys_lower_mark() says otherwise */
    int saved_threads, saved_dynamic;          /* the calling thread's own settings, between enter and leave */
    void *state; /* the back end's own; made by begin, which may fail half way: end copes */
};

struct ys_backend {
    const char *name; /* "ref" */
    /** Name and version of the library that it calls; NULL when it calls none. */
    const char *(*library)(void);
    /** Whether it can do this operator in this format. */
    bool (*supports)(enum ys_op op, enum ys_engine_precision precision);
    /** Why it has this format for no operator, on this processor or in this build, and what to do; NULL: it has it, or
     * never had. The member is NULL where that is so everywhere. */
    const char *(*lacks)(enum ys_engine_precision precision);
    /** Whether it computes quantised networks in integers, in f32 alone (ys_lowering.quant). */
    bool has_integers;
    /** Makes the state, decides every parameter's layout and fills param_size. May lower config.threads to what it will
     * really use. */
    ys_status (*begin)(struct ys_lowering *low);
    /** Appends the calls of one node; sets value[out] and takes value[in]. The last node's value is the logits: it must
     * be plain. */
    ys_status (*forward)(struct ys_lowering *low, const struct ys_node *node);
    /** Loss from logits and labels; when training, also gradient[graph->output]. */
    ys_status (*loss)(struct ys_lowering *low);
    /** Gradients of the node's parameters into the flat buffer, added to those of other nodes that share them
     * (ys_lower_param_share()); gradient[in] where value_gradient[in]. */
    ys_status (*backward)(struct ys_lowering *low, const struct ys_node *node);
    /** The optimizer over `ranges`. */
    ys_status (*update)(struct ys_lowering *low);
    /** Frees the state; contexts of calls go with the program. */
    void (*end)(struct ys_lowering *low);
    /** One parameter between its place in a flat buffer and canonical C order, in the program's format. */
    ys_status (*param_store)(struct ys_lowering *low, size_t param, const void *canonical, void *flat);
    ys_status (*param_load)(struct ys_lowering *low, size_t param, const void *flat, void *canonical);
    /** Around lowering and every run: thread settings that belong to the calling thread. Before begin it may lower
     * config.threads, likewise; behind it, it fails where the thread has not what the work was divided among:
     * there is no leave then. NULL when there is nothing to do. */
    ys_status (*enter)(struct ys_lowering *low);
    void (*leave)(struct ys_lowering *low);
};

/** Every back end that was compiled in, best first, ended by NULL. Defined in backend/backend_list.c. */
const struct ys_backend *const *ys_backends(void);
/** Why this build has not the back end of that name, and what to do; NULL where it has, and for a name that is none. */
const char *ys_backend_left_out(const char *name);

/** What becomes of a node's share of a gradient to which other nodes may have given theirs. */
enum ys_share {
    YS_SHARE_FIRST,    /* there is no other: gradient[value] = the share's buffer */
    YS_SHARE_INTO_OLD, /* add the share to what lies in gradient[value], there */
    YS_SHARE_INTO_NEW, /* add what lies in gradient[value] to the share; gradient[value] = the share's buffer */
    YS_SHARE_APART     /* the sum of both goes to a new buffer, which becomes gradient[value] */
};

/** `share`: the buffer in which the share lies, or -1 while it is not made (then never APART). A back end whose kernels
 * can add as they write asks with -1; one that never passes a buffer on to several values sees FIRST and INTO_OLD only.
 */
enum ys_share ys_lower_share(const struct ys_lowering *low, int value, int share);
/** How many values hold `buffer` as their gradient. Backward of a node may write over its gradient[out] where this
 * is 1. */
int ys_lower_gradient_holders(const struct ys_lowering *low, int buffer);

/** Where a node is to write the gradient of a parameter: its place in the flat buffer, or, where a node before it gave
 * its own (*is_more), a buffer of the same size whose content the back end then adds to that place. */
ys_status ys_lower_param_share(struct ys_lowering *low, int param, struct ys_operand *place,
                               bool *is_more) YS_MUST_CHECK;
/** The place of a parameter in one of the flat buffers. */
struct ys_operand ys_lower_param_at(const struct ys_lowering *low, int flat, int param);

/** The engines whose rows batch normalisation takes together in the run that is going on; 1: this one's alone. */
int ys_lower_joined(const struct ys_lowering *low);
/** Replaces each number by the mean over them. */
ys_status ys_lower_join(const struct ys_lowering *low, double *values, size_t count) YS_MUST_CHECK;
/** Replaces means and variances (with n) of this engine's rows, [channels], by those of the rows of all. `own`:
 * [channels], undefined afterwards. */
ys_status ys_lower_join_statistics(const struct ys_lowering *low, double *mean, double *variance, double *own,
                                   size_t channels) YS_MUST_CHECK;

/** Appends a call to the current segment; `context` is the program's from here on, also on failure. */
ys_status ys_lower_call(struct ys_lowering *low, const char *name, ys_call_run run, void *context,
                        void (*free_context)(void *), const struct ys_operand *operands, size_t count) YS_MUST_CHECK;
/** The same with a copy of `context`, of so many bytes, as the call's own. */
ys_status ys_lower_call_own(struct ys_lowering *low, const char *name, ys_call_run run, const void *context,
                            size_t size_bytes, const struct ys_operand *operands, size_t count) YS_MUST_CHECK;
/** The call appended last is of this kind. The engine takes calls of a convolution or matrix product for pointwise
 * ones: a back end marks the products, and what it does beside a node's own work. */
void ys_lower_mark(struct ys_lowering *low, enum ys_call_kind kind);

#endif
