/* yardstick's built-in engine as a library: trains and evaluates one network at one batch size, on the CPU.
 *
 *     struct ys_engine_config config = {.batch = 64, .precision = YS_ENGINE_F32, .threads = 2, .training = true,
 *                                       .optimizer.momentum = 0.9};
 *     struct ys_engine *engine;
 *     if (ys_engine_open_model("lenet", &config, &engine) != 0) { fprintf(stderr, "%s\n", ys_engine_error()); ... }
 *     ys_engine_draw(engine, 1);
 *     for (...)
 *         ys_engine_step(engine, pixels, labels, 0.01, &loss);
 *     ys_engine_save(engine, "lenet.safetensors");
 *     ys_engine_close(engine);
 *
 * examples/train_lenet.c is a whole program. `make install` installs this header, the library (static and shared) and
 * yardstick-engine.pc:  cc train.c $(pkg-config --cflags --libs yardstick-engine)
 *
 * Errors: a function that returns int gives 0, or a negative number and a sentence in ys_engine_error() that names the
 * thing, the value and the remedy; what it should have filled is then untouched. Nothing is printed. An engine whose
 * function failed can go on being used.
 * Ownership: the caller owns every array it passes (all are copied) and closes every engine it opened; pointers that an
 * engine gives out are its own and end with it, or earlier where their function says so.
 * Threads: one engine is used by one thread at a time; several engines may exist.
 * Memory: after open only load, save, draw and the functions that get or set values allocate. (A library that a back
 * end calls may take and give back small blocks of its own.)
 * Shapes are canonical: images NCHW, convolution weights OIHW, dense weights (out, in); arrays are dense, in C order.
 */
#ifndef YARDSTICK_ENGINE_H
#define YARDSTICK_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define YS_ENGINE_API __attribute__((visibility("default"))) /* what the shared library shows */
#else
#define YS_ENGINE_API
#endif
#ifdef __cplusplus
extern "C" {
#endif

struct ys_engine;

/** BF16: convolutions, products and the activations between them; parameters, optimizer state, statistics, logits and
 * loss are float. */
enum ys_engine_precision { YS_ENGINE_F64, YS_ENGINE_F32, YS_ENGINE_BF16 };
YS_ENGINE_API const char *ys_engine_precision_name(enum ys_engine_precision precision); /* "f64", "f32", "bf16" */
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
    bool input_gradient; /* also the gradient by the first input: when training that of the loss, by backward; else of
                            logits, by ys_engine_cotangent(), without gradients of the weights */
    uint64_t seed;       /* of dropout's masks */
    struct ys_engine_optimizer optimizer; /* all zero: plain SGD */
    /* Training keeps what the backward pass needs; where the values of one step exceed this many bytes, those that
     * follow cheaply from kept ones (batch normalisation and activation) are made again instead. 0: 1.5 GiB. */
    size_t keep_bytes;
    bool guarded; /* for tests of the engine itself: buffers share no memory and stand between guard words */
};

/** The last message of this thread, valid until its next failure; "" when nothing failed. */
YS_ENGINE_API const char *ys_engine_error(void);

/** Compiles the graph of a JSON file, in the form of docs/graph.md. Parameters start as zeros: draw, load or set them.
 * Unsupported operators, precisions and graphs fail here. `config` is copied. */
YS_ENGINE_API int ys_engine_open(const char *graph_path, const struct ys_engine_config *config,
                                 struct ys_engine **engine);
/** Compiles a named network ("lenet", "resnet20"; `yardstick list models` names all) for the input that it is known
 * by. */
YS_ENGINE_API int ys_engine_open_model(const char *model, const struct ys_engine_config *config,
                                       struct ys_engine **engine);
YS_ENGINE_API void ys_engine_close(struct ys_engine *engine); /* NULL is fine */

/* What was opened. */
YS_ENGINE_API const char *ys_engine_backend(const struct ys_engine *engine); /* "ref" */
/** Name and version of the library that the back end calls, "oneDNN 2.6.3"; "" for none. */
YS_ENGINE_API const char *ys_engine_library(const struct ys_engine *engine);
YS_ENGINE_API int ys_engine_threads(const struct ys_engine *engine);      /* that it computes with */
YS_ENGINE_API size_t ys_engine_real_size(const struct ys_engine *engine); /* bytes of a logit: 8 or 4 */
YS_ENGINE_API int64_t ys_engine_classes(const struct ys_engine *engine);  /* last axis of the logits */
/** Elements of the logits of one row: the classes, once for each position that has a target. */
YS_ENGINE_API size_t ys_engine_row_logits(const struct ys_engine *engine);

#define YS_ENGINE_MAX_RANK 8

enum ys_engine_type { YS_ENGINE_UINT8, YS_ENGINE_FLOAT32, YS_ENGINE_INT32, YS_ENGINE_INT64 };

/** One row of an input, or of the target. */
struct ys_engine_rows {
    enum ys_engine_type type;          /* of its elements */
    size_t rank;                       /* without the batch: 3 for an image */
    int64_t shape[YS_ENGINE_MAX_RANK]; /* channels, height, width of an image */
    size_t row_bytes;
    const char *name; /* in a data file; the engine's */
};
/** Of the first input. */
YS_ENGINE_API struct ys_engine_rows ys_engine_rows(const struct ys_engine *engine);
YS_ENGINE_API size_t ys_engine_input_count(const struct ys_engine *engine);
/** Of input `input`, 0 to ys_engine_input_count() - 1. */
YS_ENGINE_API struct ys_engine_rows ys_engine_input_rows(const struct ys_engine *engine, size_t input);
/** Of the target: int64 of rank 0 for a class, with the positions for a class each, float32 for numbers. */
YS_ENGINE_API struct ys_engine_rows ys_engine_target_rows(const struct ys_engine *engine);

/* Parameters, by their index in the graph, 0 to ys_engine_param_count() - 1. */
struct ys_engine_param {
    const char *name; /* "conv1.weight"; the engine's */
    size_t rank;
    int64_t shape[YS_ENGINE_MAX_RANK];
    size_t elements;
    bool is_trained; /* false for buffers, such as running statistics, which have no gradient */
};
YS_ENGINE_API size_t ys_engine_param_count(const struct ys_engine *engine);
YS_ENGINE_API int ys_engine_param(const struct ys_engine *engine, size_t param, struct ys_engine_param *found);
/** Its index, or -1. */
YS_ENGINE_API int ys_engine_param_find(const struct ys_engine *engine, const char *name);
/* `format` is that of `values`: YS_ENGINE_F64 (double) or YS_ENGINE_F32 (float), whatever the engine computes in. */
/** Weights of absent connections become 0 whatever `values` has there. */
YS_ENGINE_API int ys_engine_param_set(struct ys_engine *engine, size_t param, enum ys_engine_precision format,
                                      const void *values);
YS_ENGINE_API int ys_engine_param_get(struct ys_engine *engine, size_t param, enum ys_engine_precision format,
                                      void *values);
/** Of the last backward or step, without weight decay and clipping; of trained parameters only. */
YS_ENGINE_API int ys_engine_gradient_get(struct ys_engine *engine, size_t param, enum ys_engine_precision format,
                                         void *values);
/** Gives every parameter the initial values that the graph describes, each from a stream of random numbers of its own
 * (seed and name): those that a study of that seed starts from. */
YS_ENGINE_API int ys_engine_draw(struct ys_engine *engine, uint64_t seed);
/** All parameters, buffers included, from a safetensors file (F32 or F64). A tensor that is missing, has another shape
 * or is no parameter of the graph is an error; parameters before it have then been replaced. */
YS_ENGINE_API int ys_engine_load(struct ys_engine *engine, const char *path);
/** All parameters, buffers included, into a safetensors file, as float32. */
YS_ENGINE_API int ys_engine_save(struct ys_engine *engine, const char *path);
/** Forgets the optimizer's state, the count of steps and what is carried; parameters and buffers stay. */
YS_ENGINE_API void ys_engine_reset(struct ys_engine *engine);

/* State of LSTM and GRU that is carried from batch to batch, where the graph says so (docs/graph.md): arrays [batch,
 * hidden], zero at first. Every pass begins with it; a step ends by making it what its batch was left in. */
struct ys_engine_carried {
    const char *node;
    char kind; /* 'h', or of an LSTM 'c' */
    int64_t hidden;
};
YS_ENGINE_API size_t ys_engine_carried_count(const struct ys_engine *engine); /* 0 where nothing is carried */
/** Array `array`, 0 to ys_engine_carried_count() - 1. */
YS_ENGINE_API struct ys_engine_carried ys_engine_carried(const struct ys_engine *engine, size_t array);
/* `format` as of the parameters. */
YS_ENGINE_API int ys_engine_carried_set(struct ys_engine *engine, size_t array, enum ys_engine_precision format,
                                        const void *values);
YS_ENGINE_API int ys_engine_carried_get(struct ys_engine *engine, size_t array, enum ys_engine_precision format,
                                        void *values);
/** What the last forward or backward was left in is what the next begins with, as behind a step. */
YS_ENGINE_API void ys_engine_carry(struct ys_engine *engine);
/** All of it is zero, as where an epoch begins. */
YS_ENGINE_API void ys_engine_carried_clear(struct ys_engine *engine);

/* Running. `x`: batch rows as ys_engine_rows() says; `y`: batch targets, labels in [0, classes), or -1 for a position
 * that is hidden: it has no loss. NULL means: already
 * written where ys_engine_input() points. A network of several inputs, or with a target of numbers, takes NULL for what
 * is not as said here: its rows are written where ys_engine_place() and ys_engine_target() point. `loss` (may be NULL):
 * the graph's loss, the mean over all targets of the batch that are not hidden. Nothing stops at infinities and NaNs:
 * they come out as they are. */
/** Where rows and labels lie; writable, until close. *y is NULL where the target is no class. */
YS_ENGINE_API void ys_engine_input(struct ys_engine *engine, void **x, int64_t **y);
/** Where the batch's rows of input `input` lie; where its targets do. Writable, until close. */
YS_ENGINE_API void *ys_engine_place(struct ys_engine *engine, size_t input);
YS_ENGINE_API void *ys_engine_target(struct ys_engine *engine);
/** Logits and loss; changes no parameter and no buffer. */
YS_ENGINE_API int ys_engine_forward(struct ys_engine *engine, const void *x, const int64_t *y, enum ys_engine_mode mode,
                                    double *loss);
/** Loss and gradients; changes no parameter and no buffer. */
YS_ENGINE_API int ys_engine_backward(struct ys_engine *engine, const void *x, const int64_t *y,
                                     enum ys_engine_mode mode, double *loss);
/** Logits, in mode EVAL, and the gradient of the sum of cotangent * logits by the first input. `cotangent`: elements as
 * those of the logits and as many; NULL: the logits alone. For an engine opened with input_gradient and not for
 * training. Of equal values in a max pool the first one gets the gradient. */
YS_ENGINE_API int ys_engine_cotangent(struct ys_engine *engine, const void *x, const void *cotangent);
/** Loss, gradients and one optimizer step at rate `lr`, in mode TRAIN. */
YS_ENGINE_API int ys_engine_step(struct ys_engine *engine, const void *x, const int64_t *y, double lr, double *loss);
/** [batch, ..., classes] of the last forward, backward or step: double in F64, float in F32 and BF16; valid until the
 * next.
 */
YS_ENGINE_API const void *ys_engine_logits(const struct ys_engine *engine);
/** [batch, ...] of the last backward, step or cotangent, by the first input, elements as those of the logits; NULL
 * unless config.input_gradient. */
YS_ENGINE_API const void *ys_engine_input_gradient(const struct ys_engine *engine);

struct ys_engine_counters {
    size_t arena_bytes;     /* all memory that a step touches, parameters included */
    size_t requested_bytes; /* sum over the buffers: what it would be without sharing */
    size_t calls;           /* of one training step */
    uint64_t steps;         /* since open or reset */
};
YS_ENGINE_API struct ys_engine_counters ys_engine_counters(const struct ys_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
