/* mode = size: a session of the framework saves the common weights in a form, another one loads them and answers.
 *
 * The first session is the run's preparation, in a folder of its own below the run's. What it saved is all that the
 * second one, which is the run, has of weights. Its logits are held against the oracle's in double, whose weights were
 * rounded to the type that is stored, within what moves twins that are set apart by rounding alone
 * (verify/verify.h); these are made once and kept in the cache. */
#ifndef YS_PREPARE_STORED_RUN_H
#define YS_PREPARE_STORED_RUN_H

#include "crew/run_spec.h"
#include "prepare/common_weights.h"

/** Borrows all but what it says. `stored` is for the run's spec, and points into this struct, which stays where it is.
 */
struct ys_stored_run {
    const struct ys_teacher *teacher;
    const struct ys_trial *trial;
    struct ys_plan *plan; /* of the run */
    const char *folder;   /* of the run */
    const char *weights_key;
    char *weights;               /* owned: path of the common weights */
    char *saving;                /* owned: folder of the session that saves */
    const char **forms;          /* owned; of the recipe, ended by NULL */
    struct ys_run_stored stored; /* its path and logits are owned */
    struct ys_facts *failure;    /* of the session that saves; owned; NULL: it went well */
};

/** For the run of `plan` (after ys_agreement_plan()) in `folder`: saves, and makes `plan` that of a session that loads.
 * Where the framework failed, `failure` tells how; YS_EIO: a folder could not be made. */
ys_status ys_stored_run_open(const struct ys_teacher *teacher, const struct ys_trial *trial, struct ys_plan *plan,
                             const char *folder, const char *weights_key, struct ys_stored_run *run) YS_MUST_CHECK;
void ys_stored_run_close(struct ys_stored_run *run); /* a zeroed one is fine */

/** Behind a run that went well: what was saved becomes a fact of it, and logits that are not those of the weights make
 * it wrong_output. YS_EPROTOCOL: the oracle broke off. */
ys_status ys_stored_run_judge(const struct ys_stored_run *run, struct ys_facts *facts) YS_MUST_CHECK;

#endif
