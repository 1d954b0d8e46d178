#include "builtin/stored_forms.h"

#include "base/mem.h"
#include "onnx/write/onnx_write.h"

#include <string.h>
#include <unistd.h>

static const char ONNX[] = "onnx";
const char *const ys_builtin_forms[] = {"safetensors", ONNX, NULL};

static ys_status write_onnx(const struct ys_graph *graph, const char *weights, const char *path)
{
    struct ys_safetensors *file = NULL;
    YS_TRY(ys_safetensors_open(weights, &file));
    ys_status status = ys_onnx_write(graph, file, YS_F32, path);
    ys_safetensors_close(file);
    return status;
}

ys_status ys_builtin_form_save(struct ys_engine *engine, const struct ys_graph *graph, const char *form,
                               const char *path)
{
    if (strcmp(form, ONNX) != 0)
        return ys_engine_save(engine, path);
    char *weights = ys_format("%s.weights", path);
    if (!weights)
        return ys_out_of_memory();
    ys_status status = ys_engine_save(engine, weights);
    if (status == YS_OK)
        status = write_onnx(graph, weights, path);
    (void)unlink(weights);
    ys_free(weights);
    return status;
}

bool ys_builtin_form_lacks_graph(const struct ys_plan *plan)
{
    return plan->stored && strcmp(plan->stored->form, ONNX) != 0;
}

ys_status ys_builtin_form_open(const struct ys_plan *plan, struct ys_graph **graph, struct ys_onnx_import **import,
                               const char **weights)
{
    const bool is_onnx = plan->stored && strcmp(plan->stored->form, ONNX) == 0;
    *weights = plan->stored ? plan->stored->path : plan->weights;
    if (plan->stored && !is_onnx && strcmp(plan->stored->form, ys_builtin_forms[0]) != 0)
        return ys_fail(YS_EUNSUPPORTED, "the built-in engine loads no form \"%s\"", plan->stored->form);
    if (!is_onnx) {
        YS_TRY(ys_plan_need(*weights, "weights"));
        return ys_graph_read(plan->graph, graph);
    }
    YS_TRY(ys_onnx_read(plan->stored->path, NULL, import));
    *graph = (*import)->graph;
    (*import)->graph = NULL;
    return YS_OK;
}

ys_status ys_builtin_form_load(const struct ys_onnx_import *import, struct ys_engine *engine)
{
    for (size_t i = 0; i < import->value_count; i++)
        YS_TRY(ys_engine_param_set(engine, i, YS_ENGINE_F32, import->values[i]));
    return YS_OK;
}
