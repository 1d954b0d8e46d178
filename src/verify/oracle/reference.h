/* What a proof compares with: the proof's part of a trial's work as files, and what the oracle says of it. */
#ifndef YS_VERIFY_ORACLE_REFERENCE_H
#define YS_VERIFY_ORACLE_REFERENCE_H

#include "base/hash.h"
#include "verify/oracle/evidence.h"
#include "verify/oracle/proof_plan.h"
#include "verify/verify.h"

struct ys_reference {
    /* The work, from ys_reference_open(). */
    struct ys_graph *graph; /* without dropout, over the first positions of long rows (verify/oracle/shorter.h) */
    char *graph_path, *order_path;
    char *weights_path, *data_path; /* of its own where it is shorter, else NULL: those of the plan */
    int64_t row_positions;          /* of the plan's, where it is shorter; else 0 */
    /* For `input_gradient`, of each lot; NULL where the work has none, and of whole batches. */
    struct ys_input_files asked_with[YS_INPUT_LOTS];
    struct ys_proof_extent extent;
    bool in_single;  /* too much for double: single precision, by the engine's own back end */
    bool evaluation; /* inference, or attacks: nothing is trained */
    bool attacked;   /* mode attack: the framework's own gradients count, so they are proven in its format too */
    char identity[YS_SHA256_TEXT];  /* over all that the oracle's answers depend on */
    struct ys_safetensors *weights; /* initial ones */
    struct ys_safetensors *data;    /* x, y */
    struct ys_safetensors *order;   /* of the proof */
    /* The oracle's answers, from ys_reference_ask(). */
    struct ys_reference_batch {
        bool asked;
        struct ys_safetensors *forward, *backward; /* backward is NULL of inference */
    } batch[YS_VERIFY_STEPS];
    struct ys_safetensors *first, *last; /* weights and buffers after one step and after all; NULL of inference */
    struct ys_safetensors *input_gradient[YS_INPUT_LOTS]; /* by the first weights; NULL where it was not asked */
    bool finite;                                          /* the work itself does not diverge within the proof */
};

/** Reads what `plan` names and writes the proof's own graph (where it differs) and order into `folder`; of long rows
 * weights and data too; and what `input_gradient` is asked with. `all_steps`: as in struct ys_verify_request. */
ys_status ys_reference_open(const struct ys_plan *plan, const char *folder, bool all_steps,
                            struct ys_reference *reference) YS_MUST_CHECK;
/** The same with the trial's whole batches (ys_proof_extent_whole()). */
ys_status ys_reference_open_whole(const struct ys_plan *plan, const char *folder,
                                  struct ys_reference *reference) YS_MUST_CHECK;
/** Questions with the files that `input_gradient` is asked with in `precision`, where there are. */
void ys_reference_put_inputs(const struct ys_reference *reference, enum ys_precision precision,
                             struct ys_questions *questions);
/** As ys_twin_write(), with the images that `questions` then asks for in `precision`, that which the twin computes in,
 * where twins are asked for those too. */
ys_status ys_reference_write_twin(const struct ys_reference *reference, struct ys_plan *twin_plan, int twin,
                                  int64_t batch, enum ys_precision precision, const char *folder,
                                  struct ys_questions *questions) YS_MUST_CHECK;
void ys_reference_drop_twin(struct ys_questions *questions); /* what it put there */
/** The files that the two wrote change places, and nothing else. */
void ys_reference_swap_files(struct ys_reference *a, struct ys_reference *b);
/** Asks the oracle for a batch, once; with the first also for the steps. YS_EIO: among others when `folder` has no room
 * for the files of a proof. YS_EPROTOCOL: the oracle broke off (it was killed, say), which proves nothing of anybody.
 */
ys_status ys_reference_ask(struct ys_reference *reference, const struct ys_framework *oracle,
                           const struct ys_plan *plan, int64_t batch, const char *folder) YS_MUST_CHECK;
void ys_reference_close(struct ys_reference *reference);

/** `plan` changed to the proof's work. `made` owns nothing after a failure. */
ys_status ys_reference_plan(const struct ys_reference *reference, const struct ys_plan *plan,
                            enum ys_precision precision, const char *folder, struct ys_plan *made) YS_MUST_CHECK;

#endif
