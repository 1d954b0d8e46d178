/* Auto-PGD: steps along the sign of the gradient that keep a quarter of the move before, and halve, beginning anew from
 * the best so far, where the loss has stopped rising. apgd-ce raises the cross-entropy; apgd-t the ratio of differences
 * of logits towards one other class after the other, a class a pass. */
#include "robust/attack_group.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { STEPS = 100, FIRST_CHECK = 22, SHORTER = 3, LEAST_CHECK = 6 }; /* 0.22, 0.03 and 0.06 of the steps */
static const float first_step = 2, momentum = 0.75F;                  /* times EPS */
static const double rising_part = 0.75;                               /* of the steps between two checks */

struct apgd {
    struct ys_attack_group *group; /* `changed`: where a row is now */
    bool is_targeted;
    int64_t *target; /* [count] */
    size_t *active, active_count;
    float *before, *best, *gradient, *best_gradient; /* [count, pixels] */
    float *asked, *logits, *cotangents;              /* [active, ..] */
    float *step;                                     /* [count] */
    double *loss, *loss_before;                      /* [count]: now; a step before */
    double *best_loss, *checked_loss;                /* [count]: of `best`; of `best` at the last check */
    int *rises;                                      /* [count], since the last check */
    bool *was_halved;                                /* [count], at the last check */
};

/** (z_target - z_label) / (z_1st - (z_3rd + z_4th) / 2), and the cotangent of it times that divisor, which is positive.
 */
static double difference_ratio(const float *z, size_t classes, int64_t label, int64_t target, float *cotangent)
{
    int64_t ranks[4];
    ys_rank_classes(z, classes, -1, ranks, 4);
    const double divisor = z[ranks[0]] - 0.5 * ((double)z[ranks[2]] + z[ranks[3]]) + 1e-12;
    const double ratio = ((double)z[target] - z[label]) / divisor;
    memset(cotangent, 0, classes * sizeof *cotangent);
    cotangent[target] += 1;
    cotangent[label] -= 1;
    cotangent[ranks[0]] -= (float)ratio;
    cotangent[ranks[2]] += (float)(0.5 * ratio);
    cotangent[ranks[3]] += (float)(0.5 * ratio);
    return ratio;
}

/** ln of the sum over k not y of exp(z_k - z_y): cross-entropy is ln(1 + e^that), which rises with it, but is 0 in
 * float where this is still a number. */
static double log_odds(const float *z, size_t classes, int64_t label)
{
    const double top = z[ys_largest_other(z, classes, label)];
    double sum = 0;
    for (size_t k = 0; k < classes; k++)
        if ((int64_t)k != label)
            sum += exp(z[k] - top);
    return log(sum) + top - z[label];
}

/** Losses and gradients where the active rows are now; those that are broken are active no more. */
static ys_status look(struct apgd *a)
{
    struct ys_attack_group *group = a->group;
    const size_t classes = group->model->classes, pixels = group->model->pixels;
    size_t kept = 0;
    YS_TRY(ys_group_logits(group, group->changed, a->active, a->active_count, a->logits));
    for (size_t k = 0; k < a->active_count; k++) {
        const float *z = a->logits + k * classes;
        const size_t i = a->active[k];
        float *cotangent = a->cotangents + kept * classes;
        group->is_held[i] = ys_first_largest(z, classes) != group->labels[i];
        if (group->is_held[i])
            continue;
        if (a->is_targeted) {
            a->loss[i] = difference_ratio(z, classes, group->labels[i], a->target[i], cotangent);
        } else {
            a->loss[i] = log_odds(z, classes, group->labels[i]);
            ys_loss_cotangent(z, classes, group->labels[i], cotangent);
        }
        a->active[kept++] = i;
    }
    a->active_count = kept;
    YS_TRY(ys_group_gradients(group, group->changed, a->active, kept, a->cotangents, NULL, a->asked));
    for (size_t k = 0; k < kept; k++)
        memcpy(a->gradient + a->active[k] * pixels, a->asked + k * pixels, pixels * sizeof *a->asked);
    return YS_OK;
}

static void keep_best(const struct apgd *a, size_t i)
{
    const size_t pixels = a->group->model->pixels, at = i * pixels;
    memcpy(a->best + at, a->group->changed + at, pixels * sizeof *a->best);
    memcpy(a->best_gradient + at, a->gradient + at, pixels * sizeof *a->best);
    a->best_loss[i] = a->loss[i];
}

static void move_on(const struct apgd *a, size_t i, bool is_first)
{
    const size_t pixels = a->group->model->pixels;
    const float eps = (float)a->group->attack->numbers[0], part = is_first ? 1 : momentum;
    const float *image = a->group->images + i * pixels, *gradient = a->gradient + i * pixels;
    float *x = a->group->changed + i * pixels, *before = a->before + i * pixels;
    for (size_t p = 0; p < pixels; p++) {
        const float last = x[p] - before[p], sign = (float)((gradient[p] > 0) - (gradient[p] < 0));
        const float to = ys_bounded_pixel(x[p] + a->step[i] * sign, image[p], eps);
        before[p] = x[p];
        x[p] = ys_bounded_pixel(x[p] + (to - x[p]) * part + last * (1 - part), image[p], eps);
    }
}

/** `steps` steps after the last check: a row whose loss rose too seldom, or whose best is still that of the check
 * before, at which it went on, halves its step and begins anew from its best. */
static void check(struct apgd *a, size_t i, int steps)
{
    const size_t pixels = a->group->model->pixels, at = i * pixels;
    const bool has_stalled = !a->was_halved[i] && a->checked_loss[i] >= a->best_loss[i];
    a->was_halved[i] = a->rises[i] <= rising_part * steps || has_stalled;
    a->checked_loss[i] = a->best_loss[i];
    a->rises[i] = 0;
    if (!a->was_halved[i])
        return;
    a->step[i] /= 2;
    memcpy(a->group->changed + at, a->best + at, pixels * sizeof *a->best);
    memcpy(a->gradient + at, a->best_gradient + at, pixels * sizeof *a->best);
}

static ys_status begin(struct apgd *a)
{
    struct ys_attack_group *group = a->group;
    const size_t classes = group->model->classes;
    YS_TRY(ys_group_logits(group, group->images, NULL, a->is_targeted ? group->count : 0, a->logits));
    a->active_count = group->count;
    for (size_t i = 0; i < group->count; i++) {
        a->active[i] = i;
        a->step[i] = first_step * (float)group->attack->numbers[0];
        a->was_halved[i] = true;
        if (a->is_targeted)
            a->target[i] = ys_group_target(group, i, a->logits + i * classes);
    }
    YS_TRY(look(a));
    for (size_t k = 0; k < a->active_count; k++) {
        keep_best(a, a->active[k]);
        a->checked_loss[a->active[k]] = a->best_loss[a->active[k]];
    }
    memcpy(a->before, group->changed, group->count * group->model->pixels * sizeof *a->before);
    return YS_OK;
}

static ys_status climb(struct apgd *a)
{
    int every = FIRST_CHECK, since = 0;
    YS_TRY(begin(a));
    for (int s = 0; s < STEPS && a->active_count > 0; s++) {
        for (size_t k = 0; k < a->active_count; k++) {
            const size_t i = a->active[k];
            move_on(a, i, s == 0);
            /* As the authors' code, which compares the loss of the first step with 0: cross-entropy is above that. */
            a->loss_before[i] = s > 0 ? a->loss[i] : a->is_targeted ? 0 : (double)-INFINITY;
        }
        YS_TRY(look(a));
        const bool is_check = ++since == every;
        for (size_t k = 0; k < a->active_count; k++) {
            const size_t i = a->active[k];
            a->rises[i] += a->loss[i] > a->loss_before[i];
            if (a->loss[i] > a->best_loss[i])
                keep_best(a, i);
            if (is_check)
                check(a, i, every);
        }
        if (is_check) {
            since = 0;
            every = every - SHORTER > LEAST_CHECK ? every - SHORTER : LEAST_CHECK;
        }
    }
    return YS_OK;
}

ys_status ys_attack_apgd(struct ys_attack_group *group)
{
    const size_t pixels = group->model->pixels, classes = group->model->classes;
    struct apgd a = {.group = group,
                     .is_targeted = group->attack->kind == YS_ATTACK_APGD_T,
                     .target = ys_group_room(group, 1, sizeof(int64_t)),
                     .active = ys_group_room(group, 1, sizeof(size_t)),
                     .before = ys_group_room(group, pixels, sizeof(float)),
                     .best = ys_group_room(group, pixels, sizeof(float)),
                     .gradient = ys_group_room(group, pixels, sizeof(float)),
                     .best_gradient = ys_group_room(group, pixels, sizeof(float)),
                     .asked = ys_group_room(group, pixels, sizeof(float)),
                     .logits = ys_group_room(group, classes, sizeof(float)),
                     .cotangents = ys_group_room(group, classes, sizeof(float)),
                     .step = ys_group_room(group, 1, sizeof(float)),
                     .loss = ys_group_room(group, 1, sizeof(double)),
                     .loss_before = ys_group_room(group, 1, sizeof(double)),
                     .best_loss = ys_group_room(group, 1, sizeof(double)),
                     .checked_loss = ys_group_room(group, 1, sizeof(double)),
                     .rises = ys_group_room(group, 1, sizeof(int)),
                     .was_halved = ys_group_room(group, 1, sizeof(bool))};
    return group->is_short_of_memory ? ys_out_of_memory() : climb(&a);
}
