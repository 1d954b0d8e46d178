/* Weights that the built-in engine trains, made once and kept in the cache: those of compare = same-weights, which are
 * one file for every framework, numeric format and number of threads; and those of the twins of a training. */
#ifndef YS_PREPARE_COMMON_WEIGHTS_H
#define YS_PREPARE_COMMON_WEIGHTS_H

#include "crew/facts.h"
#include "framework/framework.h"
#include "prepare/work.h"

struct ys_common_weights {
    char *weights_path;       /* NULL when training them failed */
    char key[YS_SHA256_TEXT]; /* equal for equal weights */
    struct ys_facts *failure; /* of the run that should have made them; owned; NULL when all went well */
    struct ys_shelf_item
        files; /* held until ys_common_weights_fini(); nothing where the weights are the initial ones */
};

/** Who trains: the built-in engine, for so long at most; 0: no limit. */
struct ys_teacher {
    const struct ys_framework *engine; /* borrowed */
    double limit_s;
};

/** The weights for `trial`, whose work in this round is `work` with `seed`. Training takes every CPU that yardstick may
 * use, in f32. YS_OK also when it failed as a run can (diverged, out of memory): `failure` tells. YS_EINTR. */
ys_status ys_common_weights_open(const struct ys_teacher *teacher, const struct ys_trial *trial,
                                 const struct ys_work *work, uint64_t seed,
                                 struct ys_common_weights *taught) YS_MUST_CHECK;
/** Those of twin number `twin`, from 1: what the built-in engine has after training all that `trial` trains, in its
 * format, in one process, from initial weights that are moved by rounding alone (verify/oracle/twin.h). */
ys_status ys_twin_weights_open(const struct ys_teacher *teacher, const struct ys_trial *trial, uint64_t seed, int twin,
                               struct ys_common_weights *taught) YS_MUST_CHECK;
void ys_common_weights_fini(struct ys_common_weights *taught); /* a zeroed one is fine */

#endif
