/* Decoupled direction and norm: the change turns with the gradient at each step, and its length is set apart from that:
 * shorter by a twentieth behind an image that is broken, longer by one behind one that is not. */
#include "robust/attack_group.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

static const double gamma_ = 0.05, first_length = 1, last_step = 0.01; /* of the paper, section 4 */

struct ddn {
    struct ys_attack_group *group;
    float *x, *change, *gradients;       /* [count, pixels]; `changed` of the group has the best so far */
    float *logits, *cotangents;          /* [count, classes] */
    double *length, *longest, *shortest; /* [count]: now; to the farthest corner; of the best so far */
};

/** Broken and no longer than before: the best so far. */
static void keep_shortest(struct ddn *d, size_t i, bool is_broken)
{
    const size_t pixels = d->group->model->pixels;
    const double norm = ys_norm_l2(d->change + i * pixels, pixels);
    if (!is_broken || norm > d->shortest[i])
        return;
    d->shortest[i] = norm;
    d->group->is_held[i] = true;
    memcpy(d->group->changed + i * pixels, d->x + i * pixels, pixels * sizeof *d->x);
}

static void turn(struct ddn *d, size_t i, bool is_broken, double step)
{
    const size_t pixels = d->group->model->pixels;
    const float *image = d->group->images + i * pixels, *gradient = d->gradients + i * pixels;
    float *change = d->change + i * pixels, *x = d->x + i * pixels;
    const double slope = ys_norm_l2(gradient, pixels);
    const float factor = slope > 0 ? (float)(step / slope) : 0;
    for (size_t p = 0; p < pixels; p++)
        change[p] += factor * gradient[p];
    d->length[i] = fmin(d->length[i] * (is_broken ? 1 - gamma_ : 1 + gamma_), d->longest[i]);
    const double norm = ys_norm_l2(change, pixels);
    const float scale = norm > 0 ? (float)(d->length[i] / norm) : 0;
    for (size_t p = 0; p < pixels; p++) {
        x[p] = ys_clipped_pixel(image[p] + scale * change[p]);
        change[p] = x[p] - image[p];
    }
}

static void begin(struct ddn *d)
{
    const struct ys_attack_group *group = d->group;
    const size_t pixels = group->model->pixels;
    memcpy(d->x, group->images, group->count * pixels * sizeof *d->x);
    for (size_t i = 0; i < group->count; i++) {
        double sum = 0;
        for (size_t p = 0; p < pixels; p++) {
            const double value = group->images[i * pixels + p], far = fmax(value, 1 - value);
            sum += far * far;
        }
        d->length[i] = first_length;
        d->longest[i] = d->shortest[i] = sqrt(sum);
    }
}

static ys_status search(struct ddn *d)
{
    struct ys_attack_group *group = d->group;
    const size_t classes = group->model->classes, steps = (size_t)group->attack->numbers[0];
    begin(d);
    for (size_t s = 0; s < steps; s++) {
        const double step = last_step + (1 - last_step) * (1 + cos(M_PI * (double)s / (double)steps)) / 2;
        YS_TRY(ys_group_logits(group, d->x, NULL, group->count, d->logits));
        for (size_t i = 0; i < group->count; i++)
            ys_loss_cotangent(d->logits + i * classes, classes, group->labels[i], d->cotangents + i * classes);
        YS_TRY(ys_group_gradients(group, d->x, NULL, group->count, d->cotangents, NULL, d->gradients));
        for (size_t i = 0; i < group->count; i++) {
            const bool is_broken = ys_first_largest(d->logits + i * classes, classes) != group->labels[i];
            keep_shortest(d, i, is_broken);
            turn(d, i, is_broken, step);
        }
    }
    return YS_OK;
}

ys_status ys_attack_ddn(struct ys_attack_group *group)
{
    const size_t pixels = group->model->pixels, classes = group->model->classes;
    struct ddn d = {.group = group,
                    .x = ys_group_room(group, pixels, sizeof(float)),
                    .change = ys_group_room(group, pixels, sizeof(float)),
                    .gradients = ys_group_room(group, pixels, sizeof(float)),
                    .logits = ys_group_room(group, classes, sizeof(float)),
                    .cotangents = ys_group_room(group, classes, sizeof(float)),
                    .length = ys_group_room(group, 1, sizeof(double)),
                    .longest = ys_group_room(group, 1, sizeof(double)),
                    .shortest = ys_group_room(group, 1, sizeof(double))};
    return group->is_short_of_memory ? ys_out_of_memory() : search(&d);
}
