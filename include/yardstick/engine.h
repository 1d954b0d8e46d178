/* yardstick's built-in engine as a library: trains and evaluates one network at one batch size.
 *
 *     struct ys_engine_config config = {.batch = 64, .precision = YS_ENGINE_F32, .threads = 2, .training = true,
 *                                       .optimizer.momentum = 0.9};
 *     struct ys_engine *engine;
 *     if (ys_engine_open("graph.json", &config, &engine) != 0) { fprintf(stderr, "%s\n", ys_engine_error()); ... }
 *     ys_engine_load(engine, "weights.safetensors");
 *     for (...)
 *         ys_engine_step(engine, pixels, labels, 0.01, &loss);
 *     ys_engine_close(engine);
 *
 * Functions that return int give 0 or a negative code, with a message in ys_engine_error(). Shapes are canonical: rows
 * NCHW, convolution weights OIHW, dense weights (out, in), C order. One engine is used by one thread at a time; several
 * engines may exist. After open, no function allocates memory except load, save, set and get. (A library that a back
 * end calls may take and give back small blocks of its own.) */
#ifndef YARDSTICK_ENGINE_H
#define YARDSTICK_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ys_engine;
struct ys_graph;   /* graph/graph.h */
struct ys_program; /* engine/program.h */

/** BF16: convolutions, products and the activations between them; parameters, optimizer state, statistics, logits and
 * loss are float. */
enum ys_engine_precision { YS_ENGINE_F64, YS_ENGINE_F32, YS_ENGINE_BF16 };
const char *ys_engine_precision_name(enum ys_engine_precision precision); /* "f64", "f32", "bf16" */
/** Batch normalisation and dropout differ between the two. TRAIN: statistics of the batch, and the mask of the step
 * about to run (the number of steps done chooses it, so passes between two steps all see the same). An engine opened
 * with training false knows EVAL only. */
enum ys_engine_mode { YS_ENGINE_EVAL, YS_ENGINE_TRAIN };

/* With G the gradient of the loss, first scaled by clip_norm / norm where its norm over all parameters together (summed
 * in double) is larger than clip_norm; r = lr * lr_mult and d = weight_decay * decay_mult (the multipliers are the
 * graph's, per parameter); t counts steps from 1:
 *
 *   SGD      g = G + d w;  v = momentum v + g;  w = w - r (nesterov ? g + momentum v : v)
 *   ADAM     g = G + d w;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;
 *            w = w - r (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)        (Kingma and Ba, 2015)
 *   ADAMW    first w = w - r d w, then as ADAM with g = G                              (Loshchilov and Hutter, 2019)
 *   RMSPROP  g = G + d w;  v = alpha v + (1 - alpha) g^2;  u = momentum u + g / (sqrt(v) + epsilon);  w = w - r u
 *
 * All state starts at zero. Buffers (role buffer) take no part: batch normalisation moves its running statistics in a
 * step, and only there. */
enum ys_engine_rule { YS_ENGINE_SGD, YS_ENGINE_ADAM, YS_ENGINE_ADAMW, YS_ENGINE_RMSPROP };

struct ys_engine_optimizer {
    enum ys_engine_rule rule;
    double momentum;     /* SGD, RMSPROP: [0, 1) */
    bool nesterov;       /* SGD */
    double beta1, beta2; /* ADAM, ADAMW: [0, 1) */
    double alpha;        /* RMSPROP: [0, 1) */
    double epsilon;      /* all but SGD: at least FLT_MIN */
    double weight_decay; /* at least 0 */
    double clip_norm;    /* 0: no clipping */
};

struct ys_engine_config {
    int64_t batch; /* rows of every call, at least 1 */
    enum ys_engine_precision precision;
    const char *backend; /* "ref", "onednn"; NULL or "auto": the first that has every operator in that precision */
    int threads;         /* at least 1 */
    bool training;       /* false: forward only, with less memory */
    bool input_gradient; /* backward also gives the gradient of the loss by the input */
    uint64_t seed;       /* of dropout's masks */
    struct ys_engine_optimizer optimizer; /* all zero: plain SGD */
    /* Training keeps what the backward pass needs; where the values of one step exceed this many bytes, those that
     * follow cheaply from kept ones (batch normalisation and activation) are made again instead. 0: 1.5 GiB. */
    size_t keep_bytes;
    bool guarded; /* tests: buffers share no memory and stand between guard words (ys_engine_check) */
};

/** The last message of this thread; "" when nothing failed. */
const char *ys_engine_error(void);

/** Compiles the graph of a file. Parameters start as zeros. Unsupported operators, precisions and graphs fail here. */
int ys_engine_open(const char *graph_path, const struct ys_engine_config *config, struct ys_engine **engine);
/** Compiles a graph that the caller keeps alive until close. */
int ys_engine_open_graph(const struct ys_graph *graph, const struct ys_engine_config *config,
                         struct ys_engine **engine);
void ys_engine_close(struct ys_engine *engine); /* NULL is fine */

/* What was opened. */
const struct ys_graph *ys_engine_graph(const struct ys_engine *engine);
const char *ys_engine_backend(const struct ys_engine *engine); /* "ref" */
const char *
ys_engine_library(const struct ys_engine *engine);          /* that the back end calls, "oneDNN 2.6.3"; "" for none */
int ys_engine_threads(const struct ys_engine *engine);      /* that it computes with */
size_t ys_engine_real_size(const struct ys_engine *engine); /* bytes of a floating-point element: 8 or 4 */
int64_t ys_engine_classes(const struct ys_engine *engine);  /* columns of the logits */

/* Parameters, by their index in the graph. `format` is of the caller's array: YS_ENGINE_F64 or YS_ENGINE_F32. */
size_t ys_engine_param_count(const struct ys_engine *engine);
/** Its index, or -1. */
int ys_engine_param_find(const struct ys_engine *engine, const char *name);
/** Weights of absent connections become 0 whatever `values` has there. */
int ys_engine_param_set(struct ys_engine *engine, size_t param, enum ys_engine_precision format, const void *values);
int ys_engine_param_get(struct ys_engine *engine, size_t param, enum ys_engine_precision format, void *values);
/** Of the last backward or step, without weight decay and clipping; of role weight only. */
int ys_engine_gradient_get(struct ys_engine *engine, size_t param, enum ys_engine_precision format, void *values);
/** All parameters, buffers included, from a safetensors file (F32 or F64). A tensor that is missing, has another shape
 * or is no parameter of the graph is an error. */
int ys_engine_load(struct ys_engine *engine, const char *path);
/** All parameters, buffers included, into a safetensors file, as float32. */
int ys_engine_save(struct ys_engine *engine, const char *path);
/** Forgets the optimizer's state and the count of steps; parameters and buffers stay. */
void ys_engine_reset(struct ys_engine *engine);

/* Running. `x`: batch rows as the graph's input says (uint8 or float32); `y`: batch labels in [0, classes). Both are
 * copied; NULL means: already written where ys_engine_input() points. `loss` (may be NULL): the graph's loss, the mean
 * over the batch. Nothing stops at infinities and NaNs: they come out as they are. */
void ys_engine_input(struct ys_engine *engine, void **x, int64_t **y); /* borrowed, writable, until close */
/** Logits and loss; changes no parameter and no buffer. */
int ys_engine_forward(struct ys_engine *engine, const void *x, const int64_t *y, enum ys_engine_mode mode,
                      double *loss);
/** Loss and gradients; changes no parameter and no buffer. */
int ys_engine_backward(struct ys_engine *engine, const void *x, const int64_t *y, enum ys_engine_mode mode,
                       double *loss);
/** Loss, gradients and one optimizer step, in mode TRAIN. */
int ys_engine_step(struct ys_engine *engine, const void *x, const int64_t *y, double lr, double *loss);
/** [batch, classes] of the last forward, elements of ys_engine_real_size(); valid until the next run. */
const void *ys_engine_logits(const struct ys_engine *engine);
/** [batch, ...] of the last backward, elements of ys_engine_real_size(); NULL unless config.input_gradient. */
const void *ys_engine_input_gradient(const struct ys_engine *engine);

struct ys_engine_counters {
    size_t arena_bytes;     /* all memory that a step touches, parameters included */
    size_t requested_bytes; /* sum over the buffers: what it would be without sharing */
    size_t calls;           /* of one training step */
    uint64_t steps;         /* since open or reset */
};
struct ys_engine_counters ys_engine_counters(const struct ys_engine *engine);

/* Where a step spends its time. */
const struct ys_program *ys_engine_program(const struct ys_engine *engine);
/** Runs one call of the program, in mode TRAIN if the engine trains. Every call in order is a step at the rate of the
 * last ys_engine_step(), on the rows in ys_engine_input(), that is not counted; a convolution or product that is run
 * again at its turn gives the same once more. */
int ys_engine_run_call(struct ys_engine *engine, size_t call);

/** Of a guarded engine: fails when something was written outside a buffer. */
int ys_engine_check(const struct ys_engine *engine);

#endif
