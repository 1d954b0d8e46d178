/* What an adapter is checked on, beside operators; conformance.c goes through it. */
#ifndef YS_CAMPAIGN_CONFORMANCE_LIST_H
#define YS_CAMPAIGN_CONFORMANCE_LIST_H

#include "base/json/json.h"
#include <stdbool.h>

#define YS_CONFORMANCE_KEYS 8

struct ys_conformance_item {
    const char *name;
    const char *keys[YS_CONFORMANCE_KEYS]; /* "lr=0.05", of the job; ended by NULL */
    bool small;                            /* on the small network that the adapter can do; `model` is then NULL */
    bool nll;                              /* on that which ends in LogSoftmax */
    const char *needs; /* what it must declare for this: a word of its hello's lists; NULL for nothing */
    bool whole;        /* prove the numerics too, although it is small */
    bool quick;        /* in a quick check too */
};

/** Networks that others have published, each with another schedule; ended by a NULL name. Key `model` is among the
 * keys.
 */
const struct ys_conformance_item *ys_conformance_networks(void);
/** Optimizers, schedules, losses, formats and modes; likewise. */
const struct ys_conformance_item *ys_conformance_training(void);

#endif
