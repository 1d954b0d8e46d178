#include "robust/attack_group.h"

#include "base/mem.h"
#include "base/stop.h"

#include <math.h>
#include <string.h>

void *ys_group_room(struct ys_attack_group *group, size_t each, size_t size_bytes)
{
    YS_ASSERT(group->room_count < YS_GROUP_ROOMS);
    void *room = ys_alloc(group->count, each * size_bytes);
    if (room)
        group->rooms[group->room_count++] = room;
    else
        group->is_short_of_memory = true;
    return room;
}

void ys_group_fini(struct ys_attack_group *group)
{
    while (group->room_count > 0)
        ys_free(group->rooms[--group->room_count]);
}

static bool are_finite(const float *values, size_t count)
{
    float sum = 0; /* 0 times an infinity or a NaN is a NaN */
    for (size_t i = 0; i < count; i++)
        sum += 0 * values[i];
    return sum == 0;
}

/** Rows `from` on of those asked about, one after the other in memory. */
static const float *gather(struct ys_attack_group *group, const float *x, const size_t *which, size_t from,
                           size_t count)
{
    const size_t pixels = group->model->pixels;
    if (!which)
        return x + from * pixels;
    for (size_t i = 0; i < count; i++)
        memcpy(group->gathered + i * pixels, x + which[from + i] * pixels, pixels * sizeof *x);
    return group->gathered;
}

ys_status ys_group_logits(struct ys_attack_group *group, const float *x, const size_t *which, size_t count,
                          float *logits)
{
    const struct ys_attacked *model = group->model;
    for (size_t from = 0; from < count; from += model->batch) {
        const size_t rows = count - from < model->batch ? count - from : model->batch;
        if (ys_stop_signal())
            return ys_stopped();
        YS_TRY(model->logits(model->of, gather(group, x, which, from, rows), rows, logits + from * model->classes));
    }
    group->queries += (int64_t)count;
    if (!are_finite(logits, count * model->classes))
        return ys_fail(YS_EINVAL, "the logits of an image are no finite numbers: there is nothing to attack");
    return YS_OK;
}

ys_status ys_group_gradients(struct ys_attack_group *group, const float *x, const size_t *which, size_t count,
                             const float *cotangents, float *logits, float *gradients)
{
    const struct ys_attacked *model = group->model;
    for (size_t from = 0; from < count; from += model->batch) {
        const size_t rows = count - from < model->batch ? count - from : model->batch;
        if (ys_stop_signal())
            return ys_stopped();
        YS_TRY(model->gradient(model->of, gather(group, x, which, from, rows), cotangents + from * model->classes, rows,
                               logits ? logits + from * model->classes : NULL, gradients + from * model->pixels));
    }
    group->gradients += (int64_t)count;
    if (!are_finite(gradients, count * model->pixels) || (logits && !are_finite(logits, count * model->classes)))
        return ys_fail(YS_EINVAL, "the gradient by an image has no finite numbers: there is nothing to follow");
    return YS_OK;
}

int64_t ys_first_largest(const float *logits, size_t count)
{
    size_t best = 0;
    for (size_t k = 1; k < count; k++)
        if (logits[k] > logits[best])
            best = k;
    return (int64_t)best;
}

void ys_rank_classes(const float *logits, size_t classes, int64_t but, int64_t *ranks, size_t count)
{
    for (size_t r = 0; r < count; r++) {
        int64_t best = -1;
        for (int64_t k = 0; k < (int64_t)classes; k++) {
            bool is_taken = k == but;
            for (size_t before = 0; before < r; before++)
                is_taken = is_taken || ranks[before] == k;
            if (!is_taken && (best < 0 || logits[k] > logits[best]))
                best = k;
        }
        ranks[r] = best;
    }
}

int64_t ys_group_target(const struct ys_attack_group *group, size_t i, const float *logits)
{
    int64_t ranks[YS_TARGETS_MOST];
    YS_ASSERT(group->pass < YS_TARGETS_MOST);
    ys_rank_classes(logits, group->model->classes, group->labels[i], ranks, group->pass + 1);
    return ranks[group->pass];
}

int64_t ys_largest_other(const float *logits, size_t count, int64_t label)
{
    size_t best = label == 0 ? 1 : 0;
    for (size_t k = best + 1; k < count; k++)
        if ((int64_t)k != label && logits[k] > logits[best])
            best = k;
    return (int64_t)best;
}

void ys_loss_cotangent(const float *logits, size_t count, int64_t label, float *cotangent)
{
    const double top = logits[ys_largest_other(logits, count, label)];
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        if ((int64_t)k != label) {
            const double share = exp(logits[k] - top);
            cotangent[k] = (float)share;
            sum += share;
        }
    cotangent[label] = (float)-sum;
}

double ys_norm_l2(const float *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)values[i] * values[i];
    return sqrt(sum);
}

double ys_distance_l2(const float *a, const float *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
    return sqrt(sum);
}

float ys_clipped_pixel(float value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

float ys_bounded_pixel(float value, float image, float eps)
{
    const float low = image - eps, high = image + eps;
    return ys_clipped_pixel(value < low ? low : value > high ? high : value);
}
