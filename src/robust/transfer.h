/* Attacks that carry over: what was crafted on one model is shown to another (Papernot, McDaniel and Goodfellow,
 * "Transferability in machine learning", 2016). Counted are rows alone that both models had right before. */
#ifndef YS_ROBUST_TRANSFER_H
#define YS_ROBUST_TRANSFER_H

#include "robust/attack.h"

/** Of one attack; JSON by its record. */
struct ys_transfer_result {
    char *attack;       /* with all its numbers */
    int64_t both_right; /* rows that both had right before */
    int64_t broken;     /* of those, that the attack broke where it was made */
    int64_t also_wrong; /* of those, that the other gets wrong too */
};
extern const struct ys_record ys_transfer_result_record;

/** One image that an attack broke. */
struct ys_crafted {
    int64_t attack, row, label; /* which attack of `from` */
};

/** `from` and `to` are what the same attacks found on the same rows, with outcomes; borrowed, as all but `results`. */
struct ys_transfer {
    const struct ys_robustness *from, *to;
    size_t pixels, classes;
    /** The model that they are shown to; as in struct ys_attack_spec */
    ys_status (*judge)(void *of, const float *images, size_t count, double *logits);
    void *judge_of;
    struct ys_list results; /* of struct ys_transfer_result, one an attack of `from`; owned */
};

/** Fills all of `results` but also_wrong, which is 0. YS_EINVAL: they are of other rows, or have no outcomes. */
ys_status ys_transfer_begin(struct ys_transfer *transfer) YS_MUST_CHECK;
/** Shows `count` images [count, pixels], each of which `crafted` names, and counts; those that the model had wrong
 * before are passed over. YS_EINVAL: one is of no attack or row, or the logits are no finite numbers. */
ys_status ys_transfer_show(struct ys_transfer *transfer, const struct ys_crafted *crafted, const float *images,
                           size_t count) YS_MUST_CHECK;
void ys_transfer_fini(struct ys_transfer *transfer);

#endif
