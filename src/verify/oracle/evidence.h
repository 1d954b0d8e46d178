/* What an adapter says when it is asked to show its work. */
#ifndef YS_VERIFY_ORACLE_EVIDENCE_H
#define YS_VERIFY_ORACLE_EVIDENCE_H

#include "base/json/json.h"
#include "base/stored/safetensors.h"
#include "crew/feeder.h"
#include "framework/framework.h"
#include "protocol/plan.h"
#include "protocol/run_status.h"
#include "session/session.h"
#include "verify/oracle/input_gradient.h"

/** The files that are asked for, in this order. */
enum ys_answer {
    YS_ANSWER_BACKWARD,       /* loss and gradients of a batch */
    YS_ANSWER_FORWARD,        /* x, y, logits, loss of a batch */
    YS_ANSWER_START,          /* weights and buffers as loaded */
    YS_ANSWER_FIRST_STEP,     /* the same after one step; of `trained` as they were saved */
    YS_ANSWER_LAST_STEP,      /* and after all */
    YS_ANSWER_INPUT_GRADIENT, /* logits in evaluation, and their gradient by the input: of a lot, not of a batch */
};

struct ys_questions {
    bool evaluation;   /* of inference: no gradients, and forward in mode eval */
    bool forward_only; /* no gradients, whatever the mode */
    int64_t first;     /* the batch whose gradients are asked for */
    int64_t batches;   /* so many forward, from `first` on */
    bool start;
    int64_t steps;
    bool trained; /* the first of the steps goes through `train` and `save`, as those of a run do, not through `step` */
    bool timed;   /* without any steps, one goes through `train` for its time alone */
    /* Files for `input_gradient`, before the first step, of an adapter that can be asked for it; NULL: it is not asked.
     */
    const char *inputs[YS_INPUT_LOTS], *cotangent[YS_INPUT_LOTS];
    bool mapped; /* of yardstick's own engine, which leaves its answers alone: they are mapped, not read into memory */
};

/** Called for each answer as it comes. `*file` is closed on return unless it was taken (and set to NULL); it has no
 * name any more, so its space on disk is free once it is closed, whatever happens to this process. */
typedef ys_status (*ys_on_answer)(void *context, enum ys_answer answer, int64_t batch, struct ys_safetensors **file);

struct ys_evidence {
    int64_t parameters;    /* from `opened`; -1 when the adapter does not say */
    int64_t multiply_adds; /* of one row, from `forward`; -1 when the adapter does not say */
    double train_loss;     /* of the first step, from `train`; NAN where none was said */
    /* That `open` took; and the first question behind it with a first step by `train`, in which frameworks compile. */
    struct ys_evidence_took {
        double span_s, cpu_s;
    } open, first;
    bool chooses_equals;       /* it says among its deviations that of equal values its pools choose in another way */
    ys_json *features;         /* that `hello` told, owned; NULL: it told none */
    enum ys_run_status status; /* YS_RUN_OK: all went well */
    char *message;             /* when it did not; may be NULL */
};

/* A proof computes large networks slowly on purpose (double, one oracle thread): its patience is long. */
#define YS_EVIDENCE_PATIENCE_S 1800.0

/** Opens the file of tensors `path` that an adapter has named, read into memory (or mapped), and removes it: what is
 * judged is gone from the disk. Only files below `folder` are its own to name; another, or one that is not there, is
 * YS_EPROTOCOL and stays where it is. Other failures: it is no file of tensors. */
ys_status ys_evidence_open(const char *path, const char *folder, bool mapped,
                           struct ys_safetensors **file) YS_MUST_CHECK;

/** Starts the adapter in the plan's folder, which exists, on its CPUs and with its threads (and `extra_env`, {NAME:
 * text}, may be NULL), and says hello; before it what feeds it, where the plan's rows come by ring. Results are those
 * of ys_session_open(). `feeder` must be ended in any case, after the session; NULL for a plan whose rows lie in a
 * file. */
ys_status ys_evidence_start(const struct ys_framework *framework, const struct ys_plan *plan, const ys_json *extra_env,
                            double patience_s, double stop_grace_s, struct ys_session **session,
                            struct ys_feeder *feeder) YS_MUST_CHECK;

/** Starts the adapter with `plan` (and `extra_env`, {NAME: text}, may be NULL) in its folder, which exists, and asks
 * it, waiting at most `patience_s` for an answer and YS_EVIDENCE_PATIENCE_S in all. An adapter that fails is YS_OK with
 * status and message set; a failure of `on_answer` is passed on. */
ys_status ys_evidence_collect(const struct ys_framework *framework, const struct ys_plan *plan,
                              const ys_json *extra_env, double patience_s, const struct ys_questions *questions,
                              ys_on_answer on_answer, void *context, struct ys_evidence *evidence) YS_MUST_CHECK;
void ys_evidence_fini(struct ys_evidence *evidence);

#endif
