#include "engine/optimizer_step.h"

#include <float.h>
#include <math.h>

static bool is_adam(const struct ys_engine_optimizer *o)
{
    return o->rule == YS_ENGINE_ADAM || o->rule == YS_ENGINE_ADAMW;
}

bool ys_optimizer_has_state1(const struct ys_engine_optimizer *o)
{
    return is_adam(o) || o->momentum != 0;
}

bool ys_optimizer_has_state2(const struct ys_engine_optimizer *o)
{
    return is_adam(o) || o->rule == YS_ENGINE_RMSPROP;
}

bool ys_optimizer_clips(const struct ys_lowering *low)
{
    return low->config.optimizer.clip_norm > 0;
}

void ys_optimizer_step(const struct ys_lowering *low, const struct ys_update_range *range, double sum_of_squares,
                       struct ys_optimizer_step *step)
{
    const struct ys_engine_optimizer *o = &low->config.optimizer;
    double t = (double)(*low->step + 1), norm = ys_optimizer_clips(low) ? sqrt(sum_of_squares) : 0;
    *step = (struct ys_optimizer_step){.rule = o->rule,
                                       .nesterov = o->nesterov,
                                       .gradient_scale = norm > o->clip_norm ? o->clip_norm / norm : 1,
                                       .rate = *low->lr * range->lr_mult,
                                       .decay = o->weight_decay * range->decay_mult,
                                       .momentum = o->momentum,
                                       .beta1 = o->beta1,
                                       .beta2 = o->beta2,
                                       .alpha = o->alpha,
                                       .epsilon = o->epsilon,
                                       .correction1 = is_adam(o) ? 1 - pow(o->beta1, t) : 1,
                                       .correction2 = is_adam(o) ? 1 - pow(o->beta2, t) : 1};
}

static ys_status check_share(const char *name, double value)
{
    if (value >= 0 && value < 1)
        return YS_OK;
    return ys_fail(YS_EINVAL, "%s of the optimizer is %g; it is at least 0 and below 1", name, value);
}

static ys_status check_size(const char *name, double value)
{
    if (value >= 0 && isfinite(value))
        return YS_OK;
    return ys_fail(YS_EINVAL, "%s of the optimizer is %g; it is a number of at least 0", name, value);
}

ys_status ys_optimizer_check(const struct ys_engine_optimizer *o)
{
    if (o->rule < YS_ENGINE_SGD || o->rule > YS_ENGINE_RMSPROP)
        return ys_fail(YS_EINVAL, "rule %d of the optimizer is none of sgd, adam, adamw and rmsprop", (int)o->rule);
    YS_TRY(check_size("weight_decay", o->weight_decay));
    YS_TRY(check_size("clip_norm", o->clip_norm));
    if (is_adam(o)) {
        YS_TRY(check_share("beta1", o->beta1));
        YS_TRY(check_share("beta2", o->beta2));
    } else {
        YS_TRY(check_share("momentum", o->momentum));
    }
    if (o->rule == YS_ENGINE_RMSPROP)
        YS_TRY(check_share("alpha", o->alpha));
    /* Without it an element whose gradient was always 0 (padding, absent connections) would become 0 / 0. */
    if (o->rule != YS_ENGINE_SGD && !(o->epsilon >= (double)FLT_MIN && isfinite(o->epsilon)))
        return ys_fail(YS_EINVAL, "epsilon of the optimizer is %g; it is at least %g, the smallest normal float",
                       o->epsilon, (double)FLT_MIN);
    return YS_OK;
}
