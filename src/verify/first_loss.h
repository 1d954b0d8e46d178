/* The loss that the first step of a run must have. */
#ifndef YS_VERIFY_FIRST_LOSS_H
#define YS_VERIFY_FIRST_LOSS_H

#include "base/json.h"
#include "framework/framework.h"

#define YS_FIRST_LOSS_VERSION 1    /* raise it when the same work would get another loss or bound */
#define YS_FIRST_LOSS_LEAST   1e-5 /* the bound at least: a sum over a long batch may be rounded at each row */

struct ys_first_loss {
    double loss;  /* of the first batch with the initial weights, by the oracle */
    double bound; /* how far another's may lie from it, relative: YS_VERIFY_TWIN_FACTOR times the worst of the twins in
                     the plan's format, YS_FIRST_LOSS_LEAST at least */
};

/** Asks the oracle (the built-in engine, ready) for `plan`'s first batch, in double where that is affordable, and eight
 * twins. YS_EPROTOCOL: it broke off, or the loss is no finite number. */
ys_status ys_first_loss_ask(const struct ys_framework *oracle, const ys_json *plan,
                            struct ys_first_loss *first) YS_MUST_CHECK;

/** Whether the network of `plan` drops values at random: then nobody shares its masks, and no loss can be compared. */
ys_status ys_first_loss_is_random(const ys_json *plan, bool *is_random) YS_MUST_CHECK;

#endif
