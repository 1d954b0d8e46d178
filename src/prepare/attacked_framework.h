/* mode = attack: a framework with the common weights gives logits and gradients, and yardstick drives the attack.
 *
 * Each success is judged again by the built-in engine in double. What came of each row is held against the same attack
 * of the built-in engine in f32, which is made once and kept in the cache. */
#ifndef YS_PREPARE_ATTACKED_FRAMEWORK_H
#define YS_PREPARE_ATTACKED_FRAMEWORK_H

#include "crew/run_spec.h"
#include "prepare/common_weights.h"
#include "robust/attack.h"

struct ys_attacked_judge;

/** Borrows all but what it says. `asks` is for the run's spec, and points to this struct, which stays where it is. */
struct ys_attacked_framework {
    const struct ys_teacher *teacher;
    const struct ys_trial *trial;
    const struct ys_plan *plan; /* of the run */
    const char *folder;         /* of the run; work of its own lies in folders below it */
    uint64_t seed;              /* of the round */
    struct ys_attacks attacks;
    double curve[YS_ATTACKS_MOST];
    size_t curve_count, rows;
    float *images;   /* owned: [rows, pixels] */
    int64_t *labels; /* owned */
    char *input;     /* owned: the name of the network's */
    struct ys_run_attack asks;
    struct ys_attacked_judge *judge; /* owned; begun when it is first asked */
    struct ys_robustness found;      /* owned: what the run's attacks did */
    struct ys_gradient_times times;
    void (*on_progress)(void *context, enum ys_stage stage, double fraction);
    void *context;
};

/** For the run of `plan` (after ys_agreement_plan()) in `folder`. YS_EINVAL: words that are none. */
ys_status ys_attacked_framework_open(const struct ys_teacher *teacher, const struct ys_trial *trial,
                                     const struct ys_plan *plan, const char *folder, uint64_t seed,
                                     struct ys_attacked_framework *attacked) YS_MUST_CHECK;
void ys_attacked_framework_close(struct ys_attacked_framework *attacked); /* a zeroed one is fine */

/** Behind its run: hands over what its attacks did, without the outcomes of single rows, and how long they took. What
 * was in `robustness`, whose `found` is there, is overwritten. */
void ys_attacked_framework_take(struct ys_attacked_framework *attacked, struct ys_facts_robustness *robustness);

/** Before that: how the outcomes of its rows agree with the built-in engine's. *reason: why they do not, new; NULL:
 * they do. `key` is that of the common weights. Other failures: they could not be compared. */
ys_status ys_attacked_framework_compare(struct ys_attacked_framework *attacked, const char *key,
                                        char **reason) YS_MUST_CHECK;

#endif
