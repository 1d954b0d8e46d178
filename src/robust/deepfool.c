/* DeepFool: step by step across the nearest boundary of the network as if it were linear there. */
#include "robust/attack_group.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { CANDIDATES = 10 }; /* of the authors' code: the class itself and nine others, those with the largest logits */
static const double nudge = 1e-4; /* of the authors' code: without it clipping keeps an image on the boundary */

struct deepfool {
    struct ys_attack_group *group;
    size_t others;       /* candidates of a row but its class */
    int64_t *candidates; /* [count, others], by falling logit of the image */
    float *way;          /* [count, pixels]: the steps so far, together */
    size_t *active;      /* rows that are not broken yet */
    size_t active_count;
    float *logits, *cotangents;   /* [active, classes] */
    float *gradients, *nearest;   /* [active, pixels]: of one candidate; of the nearest one so far */
    double *distance, *steepness; /* [active]: to the nearest boundary; the norm of its gradient */
};

/** Takes out of the active rows those that are broken; logits stay beside their rows. */
static void leave_out_broken(struct deepfool *d)
{
    const size_t classes = d->group->model->classes;
    size_t kept = 0;
    for (size_t a = 0; a < d->active_count; a++) {
        const size_t row = d->active[a];
        const float *logits = d->logits + a * classes;
        if (ys_first_largest(logits, classes) != d->group->labels[row]) {
            d->group->is_held[row] = true;
            continue;
        }
        d->active[kept] = row;
        memmove(d->logits + kept * classes, logits, classes * sizeof *logits);
        kept++;
    }
    d->active_count = kept;
}

/** Boundaries of every active row to its candidate `c`: those that are nearer than the ones before are kept. */
static ys_status try_candidate(struct deepfool *d, size_t c)
{
    struct ys_attack_group *group = d->group;
    const size_t classes = group->model->classes, pixels = group->model->pixels;
    memset(d->cotangents, 0, d->active_count * classes * sizeof *d->cotangents);
    for (size_t a = 0; a < d->active_count; a++) {
        d->cotangents[a * classes + (size_t)d->candidates[d->active[a] * d->others + c]] = 1;
        d->cotangents[a * classes + (size_t)group->labels[d->active[a]]] = -1;
    }
    YS_TRY(ys_group_gradients(group, group->changed, d->active, d->active_count, d->cotangents, NULL, d->gradients));
    for (size_t a = 0; a < d->active_count; a++) {
        const float *gradient = d->gradients + a * pixels, *logits = d->logits + a * classes;
        const double norm = ys_norm_l2(gradient, pixels);
        const double gap =
            fabs((double)logits[d->candidates[d->active[a] * d->others + c]] - logits[group->labels[d->active[a]]]);
        if (norm == 0 || gap / norm >= d->distance[a])
            continue;
        d->distance[a] = gap / norm;
        d->steepness[a] = norm;
        memcpy(d->nearest + a * pixels, gradient, pixels * sizeof *gradient);
    }
    return YS_OK;
}

static void step_across(const struct deepfool *d, size_t a)
{
    const size_t pixels = d->group->model->pixels, row = d->active[a];
    const float over = (float)(1 + d->group->attack->numbers[1]);
    const float scale = (float)((d->distance[a] + nudge) / d->steepness[a]);
    const float *image = d->group->images + row * pixels, *nearest = d->nearest + a * pixels;
    float *x = d->group->changed + row * pixels, *way = d->way + row * pixels;
    for (size_t p = 0; p < pixels; p++) {
        way[p] += scale * nearest[p];
        x[p] = ys_clipped_pixel(image[p] + over * way[p]);
    }
}

static ys_status search(struct deepfool *d)
{
    struct ys_attack_group *group = d->group;
    const size_t steps = (size_t)group->attack->numbers[0], classes = group->model->classes;
    YS_TRY(ys_group_logits(group, group->images, NULL, group->count, d->logits));
    d->active_count = group->count;
    for (size_t i = 0; i < group->count; i++) {
        d->active[i] = i;
        ys_rank_classes(d->logits + i * classes, classes, group->labels[i], d->candidates + i * d->others, d->others);
    }
    leave_out_broken(d);
    for (size_t s = 0; s < steps && d->active_count > 0; s++) {
        for (size_t a = 0; a < d->active_count; a++)
            d->distance[a] = INFINITY;
        for (size_t c = 0; c < d->others; c++)
            YS_TRY(try_candidate(d, c));
        for (size_t a = 0; a < d->active_count; a++)
            if (isfinite(d->distance[a])) /* else every gradient is zero, and there is nowhere to go */
                step_across(d, a);
        YS_TRY(ys_group_logits(group, group->changed, d->active, d->active_count, d->logits));
        leave_out_broken(d);
    }
    return YS_OK;
}

ys_status ys_attack_deepfool(struct ys_attack_group *group)
{
    const size_t pixels = group->model->pixels, classes = group->model->classes;
    const size_t others = (classes < CANDIDATES ? classes : CANDIDATES) - 1;
    struct deepfool d = {.group = group,
                         .others = others,
                         .candidates = ys_group_room(group, others, sizeof(int64_t)),
                         .way = ys_group_room(group, pixels, sizeof(float)),
                         .active = ys_group_room(group, 1, sizeof(size_t)),
                         .logits = ys_group_room(group, classes, sizeof(float)),
                         .cotangents = ys_group_room(group, classes, sizeof(float)),
                         .gradients = ys_group_room(group, pixels, sizeof(float)),
                         .nearest = ys_group_room(group, pixels, sizeof(float)),
                         .distance = ys_group_room(group, 1, sizeof(double)),
                         .steepness = ys_group_room(group, 1, sizeof(double))};
    return group->is_short_of_memory ? ys_out_of_memory() : search(&d);
}
