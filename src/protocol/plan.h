/* The plan of docs/protocol.md: what an adapter is to do. Made in one place (study/work.h), sent as JSON, and read from
 * it by the adapters written in C. */
#ifndef YS_PROTOCOL_PLAN_H
#define YS_PROTOCOL_PLAN_H

#include "base/record.h"
#include "base/status.h"
#include "base/words.h"

#define YS_PLAN_FORMAT  "yardstick-plan"
#define YS_PLAN_VERSION 1

struct ys_plan_input {
    char *kind;  /* "file" */
    char *path;  /* the data */
    char *order; /* rows and rate of each step */
};

struct ys_plan_optimizer {
    char *name;
    double momentum;
    bool nesterov;
    double weight_decay, beta1, beta2, alpha, epsilon;
    double clip_norm; /* NaN: none */
};

struct ys_plan_dist {
    int64_t rank, world;
    ys_json *rendezvous; /* NULL where there is one process */
};

/** All texts, lists and JSON are owned. */
struct ys_plan {
    char *format;
    int64_t version;
    int mode;              /* enum ys_mode */
    char *model;           /* a name, for messages only */
    char *graph, *weights; /* paths */
    struct ys_plan_input input;
    int64_t batch, steps, block; /* in mode infer steps are the batches that requests take in turn */
    int64_t eval_every;          /* steps between two saves; 0: none */
    int64_t requests;            /* YS_FIELD_NONE: the plan does not say */
    int64_t seed;                /* the bits of an unsigned number */
    int precision;               /* enum ys_precision */
    char *loss;                  /* NULL: the graph's */
    double label_smoothing;      /* NaN: the graph's */
    struct ys_plan_optimizer optimizer;
    int64_t threads;
    struct ys_list cpus; /* int64_t */
    char *device;
    ys_json *options; /* of this framework, in its own words */
    struct ys_plan_dist dist;
    char *folder; /* where the adapter may write */
};

/** The fields with unit and meaning, in the order of JSON. */
extern const struct ys_record ys_plan_record;

/** The format, the version and one process; all else unsaid. YS_ENOMEM. */
ys_status ys_plan_init(struct ys_plan *plan) YS_MUST_CHECK;
void ys_plan_fini(struct ys_plan *plan);
/** NULL: no memory. */
ys_json *ys_plan_json(const struct ys_plan *plan);
/** Members that the plan has not are what is usual: mode train, precision f32, one thread, batch and block 1, the
 * optimizer's usual numbers. YS_EUNSUPPORTED: a mode or a precision that there is not · YS_EFORMAT: a member of another
 * type. `plan` then owns nothing. */
ys_status ys_plan_read(const ys_json *json, struct ys_plan *plan) YS_MUST_CHECK;

#endif
