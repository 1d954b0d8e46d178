/* What the attacks share: a group of rows, all of them right before, and the model asked about any of them. */
#ifndef YS_ROBUST_ATTACK_GROUP_H
#define YS_ROBUST_ATTACK_GROUP_H

#include "robust/attack.h"

enum { YS_GROUP_ROOMS = 32, YS_TARGETS_MOST = 9 /* of the authors' code */ };

struct ys_attack_group {
    const struct ys_attacked *model;
    const struct ys_attack *attack;
    size_t count;
    const float *images; /* [count, pixels], before */
    const int64_t *labels;
    const size_t *rows; /* [count]: which of the spec's they are */
    uint64_t seed;
    size_t pass;    /* of apgd-t and fab-t: the target is the class of that rank among those that are not the label */
    float *changed; /* [count, pixels]: what the attack makes of them; `images` when it begins, or what pgd or apgd
                       begins with */
    bool *is_held;  /* [count]: the attack holds that it changed the class: the judge decides; false when it begins */
    int64_t gradients, queries; /* counted up */
    float *gathered;            /* [batch, pixels], of ys_group_logits() and ys_group_gradients() */
    void *rooms[YS_GROUP_ROOMS];
    size_t room_count;
    bool is_short_of_memory;
};

/** Zeroed room for `each` things of `size_bytes` for each row, the group's until ys_group_fini(); NULL without memory,
 * which the group then says as well, so that an attack asks once. */
void *ys_group_room(struct ys_attack_group *group, size_t each, size_t size_bytes);
void ys_group_fini(struct ys_attack_group *group);

/** The attacks; bounded is fgsm, bim and pgd. Each fills `changed` and `is_held`. */
ys_status ys_attack_bounded(struct ys_attack_group *group) YS_MUST_CHECK;
ys_status ys_attack_deepfool(struct ys_attack_group *group) YS_MUST_CHECK;
ys_status ys_attack_cw(struct ys_attack_group *group) YS_MUST_CHECK;
ys_status ys_attack_ddn(struct ys_attack_group *group) YS_MUST_CHECK;
ys_status ys_attack_jsma(struct ys_attack_group *group) YS_MUST_CHECK;
ys_status ys_attack_apgd(struct ys_attack_group *group) YS_MUST_CHECK; /* of either loss */
ys_status ys_attack_fab(struct ys_attack_group *group) YS_MUST_CHECK;
ys_status ys_attack_square(struct ys_attack_group *group) YS_MUST_CHECK;

/** Asks about the `count` images x[which[i]] of [.., pixels]; which NULL: the first ones. logits [out]: [count,
 * classes]. YS_EINVAL: they are no finite numbers. YS_EINTR: the user asked to stop. */
ys_status ys_group_logits(struct ys_attack_group *group, const float *x, const size_t *which, size_t count,
                          float *logits) YS_MUST_CHECK;
/** The same with cotangents [count, classes] and gradients [out]: [count, pixels]; logits may be NULL. */
ys_status ys_group_gradients(struct ys_attack_group *group, const float *x, const size_t *which, size_t count,
                             const float *cotangents, float *logits, float *gradients) YS_MUST_CHECK;

/** The first largest of `count` logits. */
int64_t ys_first_largest(const float *logits, size_t count);
/** The first `count` classes by falling logit, at most as many as there are, but class `but`; -1: of all. Of equal ones
 * the first comes first. ranks [out, count] */
void ys_rank_classes(const float *logits, size_t classes, int64_t but, int64_t *ranks, size_t count);
/** The target of row i in this pass, whose image has these logits. */
int64_t ys_group_target(const struct ys_attack_group *group, size_t i, const float *logits);
/** The largest but that of `label`, the first of equals. */
int64_t ys_largest_other(const float *logits, size_t count, int64_t label);
/** The cotangent of cross-entropy: c_j = exp(z_j - max over k not y of z_k), c_y = - the sum of the others. That is the
 * gradient (softmax(z) - onehot(y)) by a positive factor that keeps it from vanishing where z_y is far above all. */
void ys_loss_cotangent(const float *logits, size_t count, int64_t label, float *cotangent);
/** Root of the sum of squares, in double; of a - b. */
double ys_norm_l2(const float *values, size_t count);
double ys_distance_l2(const float *a, const float *b, size_t count);
/** Within [0, 1]. */
float ys_clipped_pixel(float value);
/** And within EPS of the image's pixel. */
float ys_bounded_pixel(float value, float image, float eps);

#endif
