/* The loss that the first step of a run must have, and the one behind each checkpoint. */
#ifndef YS_VERIFY_AUDITS_FIRST_LOSS_H
#define YS_VERIFY_AUDITS_FIRST_LOSS_H

#include "framework/framework.h"
#include "protocol/plan.h"

#define YS_FIRST_LOSS_VERSION 1    /* raise it when the same work would get another loss or bound */
#define YS_FIRST_LOSS_LEAST   1e-5 /* the bound at least: a sum over a long batch may be rounded at each row */

struct ys_first_loss {
    double loss;  /* of the first batch with the initial weights, by the oracle */
    double bound; /* how far another's may lie from it, relative: YS_VERIFY_TWIN_FACTOR times the worst of the twins in
                     the plan's format, YS_FIRST_LOSS_LEAST at least */
};

/** Asks the oracle (the built-in engine, ready) for `plan`'s first batch, in double where that is affordable; and eight
 * twins, without which the bound is YS_FIRST_LOSS_LEAST. YS_EPROTOCOL: it broke off, or the loss is no finite number.
 */
ys_status ys_first_loss_ask(const struct ys_framework *oracle, const struct ys_plan *plan, bool with_twins,
                            struct ys_first_loss *first) YS_MUST_CHECK;

/** The same of a later step, whose weights are those of the file `weights` (float32). `said` is the loss to be judged:
 * where it is next to the oracle's, no twin is asked and the bound is YS_FIRST_LOSS_LEAST. */
ys_status ys_first_loss_after(const struct ys_framework *oracle, const struct ys_plan *plan, const char *weights,
                              int64_t step, double said, struct ys_first_loss *first) YS_MUST_CHECK;
/** Whether `loss` lies within the bound. */
bool ys_first_loss_holds(const struct ys_first_loss *first, double loss);

/** Whether the network of `plan` drops values at random: then nobody shares its masks, and no loss can be compared. */
ys_status ys_first_loss_is_random(const struct ys_plan *plan, bool *is_random) YS_MUST_CHECK;
/** Whether the oracle knows the losses of `plan`: not of those at random, nor where each of several ranks normalises by
 * its own rows, steps of which it does not go through; nor, behind a checkpoint, where batches carry a state, which
 * checkpoints do not hold. */
ys_status ys_first_loss_is_known(const struct ys_plan *plan, bool is_behind_checkpoint, bool *is_known) YS_MUST_CHECK;

#endif
