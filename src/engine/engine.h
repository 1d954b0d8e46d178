/* What yardstick itself asks of its engine beyond include/yardstick/engine.h: graphs in memory, and where a step spends
 * its time. */
#ifndef YS_ENGINE_ENGINE_H
#define YS_ENGINE_ENGINE_H

#include "yardstick/engine.h"

struct ys_graph;   /* graph/graph.h */
struct ys_program; /* engine/program.h */
struct ys_scales;  /* graph/scales.h */

/** Compiles a graph that the caller keeps alive until close. */
int ys_engine_open_graph(const struct ys_graph *graph, const struct ys_engine_config *config,
                         struct ys_engine **engine);
/** The same of a quantised network, for evaluation in f32: `folded` is its graph (graph/fold.h), whose parameters are
 * set as the numbers that they are; `scales` is kept alive by the caller too. Kinds static and dynamic need a back end
 * that computes in integers, kind weights rounds each weight as it is set. YS_EUNSUPPORTED: a network that has no
 * integers here, training, another format; YS_EFORMAT: scales that are not this network's. */
int ys_engine_open_quantised(const struct ys_graph *folded, const struct ys_engine_config *config,
                             const struct ys_scales *scales, struct ys_engine **engine);
/** The same for evaluation of some positions of a row at a time (graph/sequence_part.h), with a cache of the keys and
 * values of `positions` of them, at least those of a pass: each pass sees those that lie before its own, and puts its
 * own behind them. YS_EUNSUPPORTED: a network that cannot be cut so. YS_EINVAL: a config of training, or too little
 * room.
 */
int ys_engine_open_cached(const struct ys_graph *graph, const struct ys_engine_config *config, int64_t positions,
                          struct ys_engine **engine);
/** The next passes are of the positions from this one on; those before it have been passed. 0 after open. YS_EINVAL:
 * the cache has no room for them, or there is none. */
int ys_engine_seek(struct ys_engine *engine, int64_t position);
/** Takes over what `from`, of the same network, batch, format and back end, has in its cache. */
void ys_engine_cache_take(struct ys_engine *engine, const struct ys_engine *from);
const struct ys_graph *ys_engine_graph(const struct ys_engine *engine);
const struct ys_program *ys_engine_program(const struct ys_engine *engine);
/** Runs one call of the program, in mode TRAIN if the engine trains. Every call in order is a step at the rate of the
 * last ys_engine_step(), on the rows in ys_engine_input(), that is not counted; a convolution or product that is run
 * again at its turn gives the same once more. */
int ys_engine_run_call(struct ys_engine *engine, size_t call);
/** The arrays that the optimizer keeps for each trained parameter. MEAN: the velocity of SGD with momentum and of
 * RMSprop, the mean of gradients of Adam; SQUARE: the mean of their squares, of Adam and RMSprop. */
enum ys_engine_state { YS_ENGINE_STATE_MEAN, YS_ENGINE_STATE_SQUARE };
/** What the protocol calls that array of this optimizer ("velocity", "exp_avg", "exp_avg_sq"); NULL where the optimizer
 * keeps none. */
const char *ys_engine_state_name(const struct ys_engine_optimizer *optimizer, enum ys_engine_state which);
/** Sets such an array (0 after open and reset) of trained parameter `param`, or reads it, like its values (float or
 * double, in the graph's layout). YS_EINVAL: this engine's optimizer has none, or it is a buffer. */
int ys_engine_state_set(struct ys_engine *engine, enum ys_engine_state which, size_t param,
                        enum ys_engine_precision format, const void *values);
int ys_engine_state_get(struct ys_engine *engine, enum ys_engine_state which, size_t param,
                        enum ys_engine_precision format, void *values);
/** The steps done since open or reset, which Adam counts by. */
uint64_t ys_engine_steps(const struct ys_engine *engine);
void ys_engine_steps_set(struct ys_engine *engine, uint64_t steps);
/** Consecutive numbers of the gradient, in the engine's own layout and format (ys_engine_real_size()). */
struct ys_engine_span {
    void *values;
    size_t count;
};
/** Those who change the gradient of all trained parameters before anything reads it: to clipping, the update and
 * ys_engine_gradient_get() it is as they leave it. It comes in buckets, the same ones in the same order each time. Both
 * functions return 0, or a negative number with a sentence in ys_engine_error(). */
struct ys_engine_exchange {
    /** What a bucket holds at least, but for the last one: it is full with the parameter that brings it there. 0: one
     * bucket has all. */
    size_t bucket_bytes;
    /** A bucket is complete, in the midst of the backward pass: it is theirs until end(). Spans stay where they are as
     * long as the engine is open. */
    int (*begin)(void *context, const struct ys_engine_span *spans, size_t count);
    /** All buckets have begun, and the backward pass has ended: returns when all are as they shall be. */
    int (*end)(void *context);
    /** Batch normalisation in training takes the rows of `world` engines together, each of which has as many: replaces
     * each number by the mean of those that they have at its place, in the midst of a pass, while buckets may be under
     * way. NULL: it takes the engine's own rows alone. */
    int (*mean)(void *context, double *values, size_t count);
    int world;
    void *context;
};
/** From now on in every backward pass, that of a step included; it is copied. NULL: nobody, as after open. */
int ys_engine_set_exchange(struct ys_engine *engine, const struct ys_engine_exchange *exchange);
/** How many buckets that makes, and in *span_count how many spans of all of them. */
size_t ys_engine_bucket_count(const struct ys_engine *engine, size_t *span_count);
/** Of a guarded engine: fails when something was written outside a buffer. */
int ys_engine_check(const struct ys_engine *engine);

#endif
