/* What an adapter says when it is asked to show its work: the files it answered with, opened. */
#ifndef YS_VERIFY_EVIDENCE_H
#define YS_VERIFY_EVIDENCE_H

#include "base/json.h"
#include "base/safetensors.h"
#include "framework/framework.h"
#include "verify/verify.h"

enum ys_evidence_depth {
    YS_EVIDENCE_FIRST,   /* forward and backward of the first batch: what a twin is asked */
    YS_EVIDENCE_BATCHES, /* and the rows of all ten batches, and the weights as loaded */
    YS_EVIDENCE_STEPS,   /* and the weights after one step and after ten */
};

struct ys_evidence {
    int64_t parameters;           /* from `opened`; -1 when the adapter does not say */
    int64_t multiply_adds;        /* of one row, from `forward`; -1 when the adapter does not say */
    struct ys_safetensors *start; /* weights as loaded */
    struct ys_safetensors *forward[YS_VERIFY_BATCHES]; /* x, y, logits, loss */
    struct ys_safetensors *backward;                   /* gradients of the first batch */
    struct ys_safetensors *step1, *step10;             /* weights after so many steps */
    char *version;                                     /* of the framework, from `hello` */
    /* When the session failed: */
    char *status; /* a run's status word, NULL when all went well */
    char *message;
};

/* A proof computes large networks slowly on purpose (double, one oracle thread): its patience is long. */
#define YS_EVIDENCE_PATIENCE_S 1800.0

/** Starts the adapter with `plan` (and `extra_env`, {NAME: text}, may be NULL) and asks it, waiting at most
 * `patience_s` for an answer and YS_EVIDENCE_PATIENCE_S in all. Answers are moved into `folder`, which exists; what the
 * depth does not reach stays NULL. An adapter that fails is YS_OK with status and message set. */
ys_status ys_evidence_collect(const struct ys_framework *framework, const ys_json *plan, const ys_json *extra_env,
                              double patience_s, enum ys_evidence_depth depth, const char *folder,
                              struct ys_evidence *evidence) YS_MUST_CHECK;
void ys_evidence_fini(struct ys_evidence *evidence);

#endif
