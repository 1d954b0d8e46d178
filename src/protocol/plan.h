/* The plan of docs/protocol.md: what an adapter is to do. Made in one place (prepare/work.h), changed by those who ask
 * for something else than a run, sent as JSON (protocol/request.h), and read from it by the adapters written in C. */
#ifndef YS_PROTOCOL_PLAN_H
#define YS_PROTOCOL_PLAN_H

#include "base/json/record.h"
#include "base/json/shared_words.h"
#include "base/modes.h"
#include "base/status.h"
#include "base/stored/formats.h"

#define YS_PLAN_FORMAT  "yardstick-plan"
#define YS_PLAN_VERSION 1

struct ys_plan_input {
    char *kind;  /* "file"; "ring": protocol/batch_ring.h; "own": the file, by the framework's own loader of batches */
    char *path;  /* the data */
    char *order; /* rows, epoch and rate of each step */
    /* Of a ring alone, but for `threads`. */
    char *augment;           /* how its rows are changed by lot; NULL: not at all */
    char *decode;            /* "reduced": JPEG may be decoded at a reduced size; NULL: at its own */
    char *dtype;             /* "float32": pixels come as numbers; NULL: as the data have them */
    int64_t crop;            /* side of what is cut out of an image; none: nothing is */
    int64_t seed;            /* of what is drawn by lot: the bits of an unsigned number */
    int64_t threads;         /* of the feeder, or of the framework's own loader */
    struct ys_list cpus;     /* int64_t: those the feeder is bound to; empty: to none */
    int64_t channel, memory; /* descriptors of the process that gets the plan */
};

struct ys_plan_optimizer {
    char *name;
    double momentum;
    bool nesterov;
    double weight_decay, beta1, beta2, alpha, epsilon;
    double clip_norm; /* NaN: none */
};

/** One process is rank 0 of 1. Of w ranks rank r takes rows r B/w to (r + 1) B/w - 1 of each batch of B. */
struct ys_plan_dist {
    int64_t rank, world;
    int64_t local_rank;   /* among those of its host */
    char *rendezvous;     /* "ADDRESS:PORT", where rank 0 may listen; NULL where there is one process */
    char *address;        /* of this rank's host, at which the others reach it; NULL likewise */
    int statistics;       /* enum ys_statistics; YS_NAME_NONE where there is one process */
    int strategy;         /* enum ys_strategy; likewise */
    int64_t bucket_bytes; /* of gradients that are exchanged together; YS_FIELD_NONE: the framework's own */
};

/** What another session has saved: the network is taken from it, or at least its weights. */
struct ys_plan_stored {
    char *form; /* one of those that the adapter's `hello` tells */
    char *path; /* of a file or folder, absolute */
};

/** What was made of graph and weights for the framework, by a program of its makers: a file, or why there is none. */
struct ys_plan_converted {
    char *by;      /* the tool's recipe and version: "litert-converter@0.10.0" */
    char *path;    /* of the file, absolute; NULL: it failed */
    char *code;    /* then: "unsupported" or "build_failed" */
    char *message; /* and the last line that it said */
};

/** How the framework's own quantiser is to make integers of the network. */
struct ys_plan_quantise {
    ys_json *rule;      /* struct ys_quant_rule of graph/scales.h, as a file of scales has it */
    char *data, *order; /* paths of training rows and, as of batches, of those of them to calibrate on; NULL likewise */
};

/** All texts, lists and JSON are owned. */
struct ys_plan {
    char *format;
    int64_t version;
    int mode;                            /* enum ys_mode */
    char *model;                         /* a name, for messages only */
    char *graph, *weights;               /* paths */
    char *onnx;                          /* path of both as one file, for frameworks that read ONNX; NULL */
    struct ys_plan_converted *converted; /* owned; of frameworks whose recipe has a converter; else NULL */
    char *scales;                        /* path of how the network is quantised (graph/scales.h); NULL: it is not */
    struct ys_plan_quantise *quantise;   /* owned; of a run whose framework quantises by itself; else NULL */
    struct ys_plan_stored *stored;       /* owned; of a session that loads it, whose plan has no weights; else NULL */
    char *state; /* path of what the optimizer begins with, named as `save` does, for the built-in engine
                    alone; NULL: zero */
    struct ys_plan_input input;
    int64_t batch, steps, block; /* in mode infer steps are the batches that requests take in turn */
    int64_t eval_every;          /* steps between two saves; 0: none */
    int64_t requests;            /* YS_FIELD_NONE: the plan does not say */
    int64_t prompt, tokens; /* in mode infer, positions of a row that are answered together, and those behind them, one
                               by one; YS_FIELD_NONE: rows are answered whole */
    int64_t seed;           /* the bits of an unsigned number */
    int precision;          /* enum ys_precision */
    char *loss;             /* NULL: the graph's */
    double label_smoothing; /* NaN: the graph's */
    struct ys_plan_optimizer optimizer;
    int64_t threads;
    struct ys_list cpus; /* int64_t */
    char *device;
    ys_json *options; /* of this framework, in its own words */
    struct ys_plan_dist dist;
    char *folder; /* where the adapter may write */
};

/** Whether several ranks normalise a batch each by its own rows, which no single process does: so they do in a network
 * that has batch normalisation (`has_batchnorm`), unless the plan says sync. */
bool ys_plan_is_apart(const struct ys_plan *plan, bool has_batchnorm);

/** Whether rows are answered piece by piece: a prompt, then its tokens. */
bool ys_plan_has_prompt(const struct ys_plan *plan);

/** The fields with unit and meaning, in the order of JSON. */
extern const struct ys_record ys_plan_record, ys_plan_optimizer_record, ys_plan_converted_record,
    ys_plan_quantise_record;

/** The format, the version and one process; all else unsaid. */
void ys_plan_init(struct ys_plan *plan);
void ys_plan_fini(struct ys_plan *plan);
/** A copy with owners of its own; `copy` is overwritten. Its options are shared with `plan`: others take their place,
 * they are not changed. On failure `copy` owns nothing. */
ys_status ys_plan_copy(const struct ys_plan *plan, struct ys_plan *copy) YS_MUST_CHECK;
/** What every plan has, and within its limits. YS_EPROTOCOL names what is wrong. */
ys_status ys_plan_check(const struct ys_plan *plan) YS_MUST_CHECK;
/** Reads what docs/protocol.md says that every plan has; other members that it has not are what is usual: precision
 * f32, one thread, no saves between steps, the optimizer's usual numbers. A text that is not there is NULL.
 *   YS_EUNSUPPORTED  a version, a mode or a precision that there is not
 *   YS_EPROTOCOL     a member is missing, of another type or beyond its limits; the message names it
 * `plan` then owns nothing. */
ys_status ys_plan_read(const ys_json *json, struct ys_plan *plan) YS_MUST_CHECK;
/** A text that an adapter cannot do without; `key` is its name for the message. YS_EINVAL: it is NULL. */
ys_status ys_plan_need(const char *text, const char *key) YS_MUST_CHECK;

#endif
