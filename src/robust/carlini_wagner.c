/* The attack of Carlini and Wagner for L2: Adam on a variable whose hyperbolic tangent is the image, so that no pixel
 * leaves its range, on the square of the change and c times the margin of the class. c is searched for: times ten until
 * the image breaks, then by halves. */
#include "robust/attack_group.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

static const double first_c = 1e-3, c_factor = 10, rate = 0.01; /* of the authors' code */
static const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
static const double within = 0.999999; /* of [-1, 1], that the inverse tangent of black and of white be finite */
static const double progress = 0.9999; /* of the authors' code: a loss above that share of the last one looked at ends
                                          a search, of its own row here */

struct cw {
    struct ys_attack_group *group;
    float *base, *again;          /* [count, pixels]: the image as that variable; the image as it comes back from it */
    float *move, *mean, *square;  /* [count, pixels]: what the variable moved by; Adam's means */
    float *x;                     /* [count, pixels] */
    float *logits, *cotangents;   /* [active, classes] */
    float *gradients;             /* [pulled, pixels] */
    double *c, *low, *high;       /* [count] */
    double *shortest;             /* [count]: of the best so far, which `changed` of the group is */
    double *last_loss;            /* [count]: when it was looked at last */
    bool *is_broken;              /* [count], in this search */
    size_t *active, active_count; /* rows whose search goes on */
    size_t *pulled;               /* those of them whose margin is above 0: the others' gradient needs no model */
};

static void begin(const struct cw *w)
{
    const size_t all = w->group->count * w->group->model->pixels;
    for (size_t p = 0; p < all; p++) {
        w->base[p] = atanhf((float)((w->group->images[p] * 2.0 - 1) * within));
        w->again[p] = tanhf(w->base[p]) * 0.5f + 0.5f;
    }
    for (size_t i = 0; i < w->group->count; i++) {
        w->c[i] = first_c;
        w->high[i] = w->shortest[i] = INFINITY;
    }
}

static void begin_search(struct cw *w)
{
    const size_t all = w->group->count * w->group->model->pixels;
    memset(w->move, 0, all * sizeof *w->move);
    memset(w->mean, 0, all * sizeof *w->mean);
    memset(w->square, 0, all * sizeof *w->square);
    w->active_count = w->group->count;
    for (size_t i = 0; i < w->group->count; i++) {
        w->active[i] = i;
        w->is_broken[i] = false;
        w->last_loss[i] = INFINITY;
    }
}

static void end_search(struct cw *w, bool is_last)
{
    for (size_t i = 0; i < w->group->count; i++) {
        if (w->is_broken[i])
            w->high[i] = w->c[i];
        else
            w->low[i] = w->c[i];
        w->c[i] = isinf(w->high[i]) ? w->c[i] * c_factor : (w->low[i] + w->high[i]) / 2;
        if (is_last) /* the last search is with what is known to break, as the authors' code has it */
            w->c[i] = fmin(w->high[i], 1e10);
    }
}

/** Adam's step of a row; `gradient`: of the margin times c by the pixels, NULL where that is 0. */
static void move_on(const struct cw *w, size_t i, const float *gradient, size_t step)
{
    const size_t pixels = w->group->model->pixels, at = i * pixels;
    const float mean_part = (float)(1 - pow(beta1, (double)step + 1));
    const float square_part = (float)(1 - pow(beta2, (double)step + 1));
    for (size_t p = at; p < at + pixels; p++) {
        const float tangent = 2 * w->x[p] - 1;
        const float slope = (gradient ? gradient[p - at] : 0) + 2 * (w->x[p] - w->again[p]);
        const float g = slope * 0.5f * (1 - tangent * tangent);
        w->mean[p] = (float)beta1 * w->mean[p] + (float)(1 - beta1) * g;
        w->square[p] = (float)beta2 * w->square[p] + (float)(1 - beta2) * g * g;
        w->move[p] -= (float)rate * (w->mean[p] / mean_part) / (sqrtf(w->square[p] / square_part) + (float)epsilon);
    }
}

static void keep_shortest(struct cw *w, size_t i)
{
    const size_t pixels = w->group->model->pixels, at = i * pixels;
    const double norm = ys_distance_l2(w->x + at, w->group->images + at, pixels);
    w->is_broken[i] = true;
    if (norm >= w->shortest[i])
        return;
    w->shortest[i] = norm;
    w->group->is_held[i] = true;
    memcpy(w->group->changed + at, w->x + at, pixels * sizeof *w->x);
}

/** Looks at the logits of active row `a`; its cotangent where the margin pulls. */
static bool look(struct cw *w, size_t a, float *cotangent, double *loss)
{
    const struct ys_attack_group *group = w->group;
    const size_t classes = group->model->classes, pixels = group->model->pixels, i = w->active[a];
    const float *logits = w->logits + a * classes;
    const int64_t label = group->labels[i], other = ys_largest_other(logits, classes, label);
    const double margin = (double)logits[label] - logits[other];
    const double norm = ys_distance_l2(w->x + i * pixels, w->again + i * pixels, pixels);
    if (ys_first_largest(logits, classes) != label)
        keep_shortest(w, i);
    *loss = norm * norm + w->c[i] * fmax(margin, 0);
    if (margin <= 0)
        return false;
    memset(cotangent, 0, classes * sizeof *cotangent);
    cotangent[label] = (float)w->c[i];
    cotangent[other] = (float)-w->c[i];
    return true;
}

/** One step of all active rows; where `is_checked`, those that make no progress end. */
static ys_status step_all(struct cw *w, size_t step, bool is_checked)
{
    struct ys_attack_group *group = w->group;
    const size_t classes = group->model->classes, pixels = group->model->pixels;
    size_t pulled = 0, kept = 0, next = 0;
    for (size_t a = 0; a < w->active_count; a++)
        for (size_t p = w->active[a] * pixels; p < (w->active[a] + 1) * pixels; p++)
            w->x[p] = tanhf(w->base[p] + w->move[p]) * 0.5f + 0.5f;
    YS_TRY(ys_group_logits(group, w->x, w->active, w->active_count, w->logits));
    for (size_t a = 0; a < w->active_count; a++) {
        const size_t i = w->active[a];
        double loss;
        const bool is_pulled = look(w, a, w->cotangents + pulled * classes, &loss);
        if (is_checked && !(loss <= progress * w->last_loss[i]))
            continue;
        if (is_checked)
            w->last_loss[i] = loss;
        if (is_pulled)
            w->pulled[pulled++] = i;
        w->active[kept++] = i;
    }
    w->active_count = kept;
    YS_TRY(ys_group_gradients(group, w->x, w->pulled, pulled, w->cotangents, NULL, w->gradients));
    for (size_t a = 0; a < kept; a++) {
        const bool is_pulled = next < pulled && w->pulled[next] == w->active[a];
        move_on(w, w->active[a], is_pulled ? w->gradients + next * pixels : NULL, step);
        next += is_pulled;
    }
    return YS_OK;
}

static ys_status search(struct cw *w)
{
    const size_t searches = (size_t)w->group->attack->numbers[0], steps = (size_t)w->group->attack->numbers[1];
    const size_t tenth = (steps + 9) / 10;
    begin(w);
    for (size_t s = 0; s < searches; s++) {
        begin_search(w);
        for (size_t step = 0; step < steps && w->active_count > 0; step++)
            YS_TRY(step_all(w, step, step % tenth == 0));
        end_search(w, searches >= 10 && s + 2 == searches);
    }
    return YS_OK;
}

ys_status ys_attack_cw(struct ys_attack_group *group)
{
    const size_t pixels = group->model->pixels, classes = group->model->classes;
    struct cw w = {.group = group,
                   .base = ys_group_room(group, pixels, sizeof(float)),
                   .again = ys_group_room(group, pixels, sizeof(float)),
                   .move = ys_group_room(group, pixels, sizeof(float)),
                   .mean = ys_group_room(group, pixels, sizeof(float)),
                   .square = ys_group_room(group, pixels, sizeof(float)),
                   .x = ys_group_room(group, pixels, sizeof(float)),
                   .logits = ys_group_room(group, classes, sizeof(float)),
                   .cotangents = ys_group_room(group, classes, sizeof(float)),
                   .gradients = ys_group_room(group, pixels, sizeof(float)),
                   .c = ys_group_room(group, 1, sizeof(double)),
                   .low = ys_group_room(group, 1, sizeof(double)),
                   .high = ys_group_room(group, 1, sizeof(double)),
                   .shortest = ys_group_room(group, 1, sizeof(double)),
                   .last_loss = ys_group_room(group, 1, sizeof(double)),
                   .is_broken = ys_group_room(group, 1, sizeof(bool)),
                   .active = ys_group_room(group, 1, sizeof(size_t)),
                   .pulled = ys_group_room(group, 1, sizeof(size_t))};
    return group->is_short_of_memory ? ys_out_of_memory() : search(&w);
}
