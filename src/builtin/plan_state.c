#include "builtin/plan_state.h"

#include "base/mem.h"
#include "base/stored/safetensors.h"

/** The arrays that the optimizer keeps of one parameter, as the protocol names them. */
static ys_status load_state_of(const struct ys_builtin_state *a, const struct ys_safetensors *file, size_t param)
{
    const struct ys_param *p = &a->graph->params[param];
    ys_status status = YS_OK;
    for (int which = YS_ENGINE_STATE_MEAN; status == YS_OK && which <= YS_ENGINE_STATE_SQUARE; which++) {
        const char *kept = ys_engine_state_name(a->optimizer, (enum ys_engine_state)which);
        if (!kept)
            continue;
        char *name = ys_format("state.%s.%s", kept, p->name);
        const struct ys_tensor *tensor = name ? ys_safetensors_find(file, name) : NULL;
        if (!name)
            status = ys_out_of_memory();
        else if (!tensor || (tensor->dtype != YS_F64 && tensor->dtype != YS_F32) ||
                 ys_tensor_count(tensor) != (size_t)ys_param_elements(p))
            status =
                ys_fail(YS_EFORMAT, "%s holds no %s of %lld floats", a->path, name, (long long)ys_param_elements(p));
        else
            status = ys_engine_state_set(a->engine, (enum ys_engine_state)which, param,
                                         tensor->dtype == YS_F64 ? YS_ENGINE_F64 : YS_ENGINE_F32, tensor->data);
        ys_free(name);
    }
    return status;
}

/** What is not there is zero, as where an epoch begins. */
static ys_status load_carried(const struct ys_builtin_state *a, const struct ys_safetensors *file)
{
    for (size_t i = 0; i < ys_engine_carried_count(a->engine); i++) {
        const struct ys_engine_carried array = ys_engine_carried(a->engine, i);
        char *name = ys_format("state.%c.%s", array.kind, array.node);
        const struct ys_tensor *tensor = name ? ys_safetensors_find(file, name) : NULL;
        ys_status status = name ? YS_OK : ys_out_of_memory();
        if (tensor && (tensor->dtype != YS_F64 && tensor->dtype != YS_F32))
            status = ys_fail(YS_EFORMAT, "%s: %s is %s, no floats", a->path, name, ys_dtype_name(tensor->dtype));
        else if (tensor && ys_tensor_count(tensor) != (size_t)(a->batch * array.hidden))
            status = ys_fail(YS_EFORMAT, "%s: %s has %zu numbers: %lld rows of %lld have %lld", a->path, name,
                             ys_tensor_count(tensor), (long long)a->batch, (long long)array.hidden,
                             (long long)(a->batch * array.hidden));
        else if (tensor)
            status = ys_engine_carried_set(a->engine, i, tensor->dtype == YS_F64 ? YS_ENGINE_F64 : YS_ENGINE_F32,
                                           tensor->data);
        ys_free(name);
        YS_TRY(status);
    }
    return YS_OK;
}

ys_status ys_builtin_state_load(const struct ys_builtin_state *a)
{
    struct ys_safetensors *file = NULL;
    YS_TRY(ys_safetensors_open(a->path, &file));
    ys_status status = YS_OK;
    for (size_t p = 0; status == YS_OK && p < a->graph->param_count; p++)
        if (a->graph->params[p].role == YS_ROLE_WEIGHT)
            status = load_state_of(a, file, p);
    if (status == YS_OK)
        status = load_carried(a, file);
    const struct ys_tensor *steps = ys_safetensors_find(file, YS_BUILTIN_STATE_STEPS);
    if (steps && ys_tensor_count(steps) == 1)
        ys_engine_steps_set(a->engine, (uint64_t)ys_tensor_value(steps, 0));
    ys_safetensors_close(file);
    return status;
}
