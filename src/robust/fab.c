/* Fast adaptive boundary, with a target: the nearest image on the boundary to the target, as if the network were linear
 * where the search is, in between the way from there and the way from the image before. */
#include "robust/attack_group.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { STEPS = 100 };
static const double alpha_most = 0.1, overshoot = 1.05, backward = 0.9; /* of the authors' code */

struct fab {
    struct ys_attack_group *group; /* `changed`: the nearest broken image so far */
    int64_t *target;               /* [count] */
    size_t *active, active_count;  /* rows that are not broken within EPS yet */
    float *x;                      /* [count, pixels] */
    float *gradients;              /* [active, pixels] */
    float *logits, *cotangents;    /* [active, classes] */
    double *nearest;               /* [count]: the largest change of a pixel of `changed` */
    double *from_x, *from_image;   /* [pixels] of one row: the two ways to the boundary */
};

/** How far pixel `at` may go against the sign of w. */
static double room(double at, double w)
{
    return w < 0 ? 1 - at : at;
}

/** The smallest change, in its largest pixel, that takes t to the plane sum(w x) = b within [0, 1]; where none does,
 * the one that comes nearest. Every pixel goes by the same length as far as it has room, so that length solves
 * sum(|w_p| min(length, room_p)) = gap, whose left side is concave: Newton's steps come from below and end.
 * change [out, pixels]; returns its largest. */
static double project(const float *t, const float *w, double sign, double gap, size_t pixels, double *change)
{
    double length = 0, farthest = 0, largest = 0;
    for (size_t p = 0; p < pixels; p++)
        farthest = w[p] != 0 ? fmax(farthest, room(t[p], sign * w[p])) : farthest;
    for (bool goes_on = gap > 0; goes_on;) {
        double reached = 0, slope = 0;
        for (size_t p = 0; p < pixels; p++) {
            const double most = room(t[p], sign * w[p]), weight = fabs((double)w[p]);
            reached += weight * fmin(length, most);
            slope += most > length ? weight : 0;
        }
        const double next = slope > 0 ? fmin(length + (gap - reached) / slope, farthest) : farthest;
        goes_on = next > length && next < farthest;
        length = fmax(length, next);
    }
    for (size_t p = 0; p < pixels; p++) {
        const double by = w[p] != 0 ? fmin(length, room(t[p], sign * w[p])) : 0;
        change[p] = sign * w[p] < 0 ? by : -by;
        largest = fmax(largest, by);
    }
    return largest;
}

static void step_to_boundary(const struct fab *f, size_t a)
{
    const size_t pixels = f->group->model->pixels, classes = f->group->model->classes;
    const size_t i = f->active[a];
    const float *image = f->group->images + i * pixels, *w = f->gradients + a * pixels, *z = f->logits + a * classes;
    float *x = f->x + i * pixels;
    double here = 0, there = 0; /* sum(w x) */
    for (size_t p = 0; p < pixels; p++) {
        here += (double)w[p] * x[p];
        there += (double)w[p] * image[p];
    }
    const double b = here - ((double)z[f->target[i]] - z[f->group->labels[i]]);
    const double sign_x = here >= b ? 1 : -1, sign_image = there >= b ? 1 : -1;
    const double far_x = fmax(project(x, w, sign_x, fabs(here - b), pixels, f->from_x), 1e-8);
    const double far_image = fmax(project(image, w, sign_image, fabs(there - b), pixels, f->from_image), 1e-8);
    const double alpha = fmin(far_x / (far_x + far_image), alpha_most);
    for (size_t p = 0; p < pixels; p++)
        x[p] = ys_clipped_pixel((float)((x[p] + overshoot * f->from_x[p]) * (1 - alpha) +
                                        (image[p] + overshoot * f->from_image[p]) * alpha));
}

/** A broken image is kept where it is nearer than the last one, and the search goes on a tenth nearer to the image. */
static void keep_nearest(const struct fab *f, size_t i)
{
    const size_t pixels = f->group->model->pixels;
    const float *image = f->group->images + i * pixels;
    float *x = f->x + i * pixels;
    double largest = 0;
    for (size_t p = 0; p < pixels; p++)
        largest = fmax(largest, fabsf(x[p] - image[p]));
    if (largest < f->nearest[i]) {
        f->nearest[i] = largest;
        memcpy(f->group->changed + i * pixels, x, pixels * sizeof *x);
    }
    for (size_t p = 0; p < pixels; p++)
        x[p] = image[p] + (x[p] - image[p]) * (float)backward;
}

static void begin(struct fab *f)
{
    struct ys_attack_group *group = f->group;
    memcpy(f->x, group->images, group->count * group->model->pixels * sizeof *f->x);
    f->active_count = group->count;
    for (size_t i = 0; i < group->count; i++) {
        f->active[i] = i;
        f->target[i] = ys_group_target(group, i, f->logits + i * group->model->classes);
        f->nearest[i] = INFINITY;
    }
}

/** One step of all active rows; those that it breaks within EPS are active no more. */
static ys_status step_all(struct fab *f)
{
    struct ys_attack_group *group = f->group;
    const size_t classes = group->model->classes;
    size_t kept = 0;
    memset(f->cotangents, 0, f->active_count * classes * sizeof *f->cotangents);
    for (size_t a = 0; a < f->active_count; a++) {
        f->cotangents[a * classes + (size_t)f->target[f->active[a]]] = 1;
        f->cotangents[a * classes + (size_t)group->labels[f->active[a]]] = -1;
    }
    YS_TRY(ys_group_gradients(group, f->x, f->active, f->active_count, f->cotangents, f->logits, f->gradients));
    for (size_t a = 0; a < f->active_count; a++)
        step_to_boundary(f, a);
    YS_TRY(ys_group_logits(group, f->x, f->active, f->active_count, f->logits));
    for (size_t a = 0; a < f->active_count; a++) {
        const size_t i = f->active[a];
        if (ys_first_largest(f->logits + a * classes, classes) != group->labels[i])
            keep_nearest(f, i);
        group->is_held[i] = f->nearest[i] <= (float)group->attack->numbers[0];
        if (!group->is_held[i])
            f->active[kept++] = i;
    }
    f->active_count = kept;
    return YS_OK;
}

static ys_status search(struct fab *f)
{
    YS_TRY(ys_group_logits(f->group, f->group->images, NULL, f->group->count, f->logits));
    begin(f);
    for (int s = 0; s < STEPS && f->active_count > 0; s++)
        YS_TRY(step_all(f));
    return YS_OK;
}

ys_status ys_attack_fab(struct ys_attack_group *group)
{
    const size_t pixels = group->model->pixels, classes = group->model->classes;
    struct fab f = {.group = group,
                    .target = ys_group_room(group, 1, sizeof(int64_t)),
                    .active = ys_group_room(group, 1, sizeof(size_t)),
                    .x = ys_group_room(group, pixels, sizeof(float)),
                    .gradients = ys_group_room(group, pixels, sizeof(float)),
                    .logits = ys_group_room(group, classes, sizeof(float)),
                    .cotangents = ys_group_room(group, classes, sizeof(float)),
                    .nearest = ys_group_room(group, 1, sizeof(double)),
                    .from_x = ys_group_room(group, pixels, sizeof(double)),
                    .from_image = ys_group_room(group, pixels, sizeof(double))};
    return group->is_short_of_memory ? ys_out_of_memory() : search(&f);
}
