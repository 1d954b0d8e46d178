#include "builtin/plan_engine.h"

#include <math.h>
#include <string.h>

const char *const ys_builtin_optimizers[] = {[YS_ENGINE_SGD] = "sgd",
                                             [YS_ENGINE_ADAM] = "adam",
                                             [YS_ENGINE_ADAMW] = "adamw",
                                             [YS_ENGINE_RMSPROP] = "rmsprop",
                                             NULL};

ys_status ys_builtin_precision(const char *name, enum ys_engine_precision *precision)
{
    for (int p = YS_ENGINE_F64; p <= YS_ENGINE_BF16; p++)
        if (strcmp(name, ys_engine_precision_name((enum ys_engine_precision)p)) == 0) {
            *precision = (enum ys_engine_precision)p;
            return YS_OK;
        }
    return ys_fail(YS_EUNSUPPORTED, "precision %s is not one of the built-in engine: take f64, f32 or bf16", name);
}

static ys_status read_rule(const char *name, enum ys_engine_rule *rule)
{
    for (int i = 0; ys_builtin_optimizers[i]; i++) {
        *rule = (enum ys_engine_rule)i;
        if (!name || strcmp(name, ys_builtin_optimizers[i]) == 0)
            return YS_OK;
    }
    return ys_fail(YS_EUNSUPPORTED, "optimizer %s is not one of the built-in engine: take sgd, adam, adamw or rmsprop",
                   name);
}

static ys_status read_optimizer(const struct ys_plan_optimizer *optimizer, struct ys_engine_optimizer *read)
{
    YS_TRY(read_rule(optimizer->name, &read->rule));
    read->momentum = optimizer->momentum;
    read->nesterov = optimizer->nesterov;
    read->beta1 = optimizer->beta1;
    read->beta2 = optimizer->beta2;
    read->alpha = optimizer->alpha;
    read->epsilon = optimizer->epsilon;
    read->weight_decay = optimizer->weight_decay;
    read->clip_norm = isnan(optimizer->clip_norm) ? 0 : optimizer->clip_norm;
    return YS_OK;
}

ys_status ys_builtin_plan_config(const struct ys_plan *plan, struct ys_engine_config *config)
{
    if (plan->device && strcmp(plan->device, "cpu") != 0)
        return ys_fail(YS_EUNSUPPORTED, "device \"%s\" is not yet available in the built-in engine", plan->device);
    config->batch = plan->batch;
    config->threads = (int)plan->threads;
    config->training = ys_mode_of(plan->mode)->trains;
    config->seed = (uint64_t)plan->seed;
    YS_TRY(ys_builtin_precision(ys_name_of(&ys_precisions, plan->precision), &config->precision));
    return read_optimizer(&plan->optimizer, &config->optimizer);
}
