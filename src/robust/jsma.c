/* The attack of Papernot et al. by saliency: two pixels at a time are made brighter, those that raise the target most
 * and lower the others (equations 8 to 10 for pairs), until the target is reached or too many pixels changed. */
#include "robust/attack_group.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float brightest = 0.99f; /* a pixel that is not below it is left alone, as in the authors' library */

struct jsma {
    struct ys_attack_group *group;
    bool *is_free;  /* [count, pixels]: may still be changed */
    size_t *active; /* rows that go on */
    size_t active_count;
    float *logits, *cotangents; /* [active, classes] */
    float *rise, *fall;         /* [active, pixels]: gradients of the target, and of the sum of the others */
    struct salient *salient;    /* [pixels] */
};

struct salient {
    double rise, drop; /* of the target, and of the others together */
    size_t pixel;
};

static int64_t target_of(const struct ys_attack_group *group, size_t row)
{
    return (group->labels[row] + 1) % (int64_t)group->model->classes;
}

static int by_rise(const void *a, const void *b)
{
    const struct salient *x = a, *y = b;
    if (x->rise != y->rise)
        return x->rise > y->rise ? -1 : 1;
    if (x->drop != y->drop)
        return x->drop > y->drop ? -1 : 1;
    return (x->pixel > y->pixel) - (x->pixel < y->pixel);
}

/** Keeps those pixels that can be in the best pair: a pair of a pixel that two others surpass in both numbers is made
 * no worse by putting one of these in its place. Returns how many. */
static size_t keep_unsurpassed(struct salient *salient, size_t count)
{
    double most = -INFINITY, second = -INFINITY; /* of the drops so far */
    size_t kept = 0;
    qsort(salient, count, sizeof *salient, by_rise);
    for (size_t k = 0; k < count; k++) {
        const double drop = salient[k].drop;
        if (drop <= second)
            continue;
        second = fmin(most, drop) > second ? fmin(most, drop) : second;
        most = fmax(most, drop);
        salient[kept++] = salient[k];
    }
    return kept;
}

/** The pair with the largest product of what the target rises and the others fall by; false: none does both. */
static bool find_pair(const struct jsma *j, size_t a, size_t pair[2])
{
    const size_t pixels = j->group->model->pixels, row = j->active[a];
    const float *rise = j->rise + a * pixels, *fall = j->fall + a * pixels;
    size_t count = 0;
    double best = 0;
    for (size_t p = 0; p < pixels; p++)
        if (j->is_free[row * pixels + p])
            j->salient[count++] = (struct salient){rise[p], -(double)fall[p], p};
    count = keep_unsurpassed(j->salient, count);
    for (size_t k = 0; k < count; k++)
        for (size_t l = k + 1; l < count; l++) {
            const double up = j->salient[k].rise + j->salient[l].rise, down = j->salient[k].drop + j->salient[l].drop;
            if (up <= 0 || down <= 0 || up * down <= best)
                continue;
            best = up * down;
            pair[0] = j->salient[k].pixel;
            pair[1] = j->salient[l].pixel;
        }
    return best > 0;
}

/** Rows that reached their target, or have fewer than two pixels left, do not go on. */
static void leave_out_reached(struct jsma *j)
{
    const struct ys_attack_group *group = j->group;
    const size_t classes = group->model->classes;
    size_t kept = 0;
    for (size_t a = 0; a < j->active_count; a++)
        if (ys_first_largest(j->logits + a * classes, classes) != target_of(group, j->active[a]))
            j->active[kept++] = j->active[a];
    j->active_count = kept;
}

static ys_status ask_both(struct jsma *j)
{
    struct ys_attack_group *group = j->group;
    const size_t classes = group->model->classes;
    memset(j->cotangents, 0, j->active_count * classes * sizeof *j->cotangents);
    for (size_t a = 0; a < j->active_count; a++)
        j->cotangents[a * classes + (size_t)target_of(group, j->active[a])] = 1;
    YS_TRY(ys_group_gradients(group, group->changed, j->active, j->active_count, j->cotangents, NULL, j->rise));
    for (size_t k = 0; k < j->active_count * classes; k++)
        j->cotangents[k] = 1 - j->cotangents[k];
    return ys_group_gradients(group, group->changed, j->active, j->active_count, j->cotangents, NULL, j->fall);
}

/** Changes two pixels of each active row; those without a pair do not go on. */
static void brighten(struct jsma *j)
{
    const size_t pixels = j->group->model->pixels;
    const float theta = (float)j->group->attack->numbers[0];
    size_t kept = 0;
    for (size_t a = 0; a < j->active_count; a++) {
        const size_t row = j->active[a];
        size_t pair[2];
        if (!find_pair(j, a, pair))
            continue;
        for (int k = 0; k < 2; k++) {
            float *pixel = &j->group->changed[row * pixels + pair[k]];
            *pixel = ys_clipped_pixel(*pixel + theta);
            j->is_free[row * pixels + pair[k]] = false;
        }
        j->active[kept++] = row;
    }
    j->active_count = kept;
}

ys_status ys_attack_jsma(struct ys_attack_group *group)
{
    const size_t pixels = group->model->pixels, classes = group->model->classes;
    const size_t steps = (size_t)ceil((double)pixels * group->attack->numbers[1] / 2);
    const size_t each = (pixels + group->count - 1) / group->count; /* one row of pixels for the whole group */
    struct jsma j = {.group = group,
                     .is_free = ys_group_room(group, pixels, sizeof(bool)),
                     .active = ys_group_room(group, 1, sizeof(size_t)),
                     .logits = ys_group_room(group, classes, sizeof(float)),
                     .cotangents = ys_group_room(group, classes, sizeof(float)),
                     .rise = ys_group_room(group, pixels, sizeof(float)),
                     .fall = ys_group_room(group, pixels, sizeof(float)),
                     .salient = ys_group_room(group, each, sizeof(struct salient))};
    if (group->is_short_of_memory)
        return ys_out_of_memory();
    j.active_count = group->count;
    for (size_t i = 0; i < group->count; i++) {
        j.active[i] = i;
        group->is_held[i] = true;
        for (size_t p = i * pixels; p < (i + 1) * pixels; p++)
            j.is_free[p] = group->images[p] < brightest;
    }
    for (size_t s = 0; s < steps && j.active_count > 0; s++) {
        YS_TRY(ys_group_logits(group, group->changed, j.active, j.active_count, j.logits));
        leave_out_reached(&j);
        YS_TRY(ask_both(&j));
        brighten(&j);
    }
    return YS_OK;
}
