/* fgsm, bim and pgd: steps along the sign of the loss's gradient, none farther than EPS from the image. fgsm is one
 * step of EPS; pgd begins elsewhere, which is in `changed` before. */
#include "robust/attack_group.h"

#include "base/mem.h"

/** x0 + clip(x + step sign(g) - x0, -eps, eps), clipped to [0, 1]: in that order, since each rounds. */
static void step_within(float *x, const float *gradient, const float *image, size_t pixels, float step, float eps)
{
    for (size_t i = 0; i < pixels; i++) {
        const float sign = (float)((gradient[i] > 0) - (gradient[i] < 0));
        float change = x[i] + step * sign - image[i];
        change = change < -eps ? -eps : change > eps ? eps : change;
        x[i] = ys_clipped_pixel(image[i] + change);
    }
}

ys_status ys_attack_bounded(struct ys_attack_group *group)
{
    const bool is_one = group->attack->kind == YS_ATTACK_FGSM;
    const double *numbers = group->attack->numbers;
    const float eps = (float)numbers[0], step = is_one ? eps : (float)numbers[2];
    const size_t classes = group->model->classes, pixels = group->model->pixels;
    const size_t steps = is_one ? 1 : (size_t)numbers[1];
    float *logits = ys_group_room(group, classes, sizeof *logits);
    float *cotangents = ys_group_room(group, classes, sizeof *cotangents);
    float *gradients = ys_group_room(group, pixels, sizeof *gradients);
    if (group->is_short_of_memory)
        return ys_out_of_memory();
    for (size_t s = 0; s < steps; s++) {
        YS_TRY(ys_group_logits(group, group->changed, NULL, group->count, logits));
        for (size_t i = 0; i < group->count; i++)
            ys_loss_cotangent(logits + i * classes, classes, group->labels[i], cotangents + i * classes);
        YS_TRY(ys_group_gradients(group, group->changed, NULL, group->count, cotangents, NULL, gradients));
        for (size_t i = 0; i < group->count; i++)
            step_within(group->changed + i * pixels, gradients + i * pixels, group->images + i * pixels, pixels, step,
                        eps);
    }
    for (size_t i = 0; i < group->count; i++)
        group->is_held[i] = true;
    return YS_OK;
}
