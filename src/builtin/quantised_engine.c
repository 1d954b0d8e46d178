#include "builtin/quantised_engine.h"

static ys_status fold(const struct ys_graph *graph, const char *weights, struct ys_folded *folded)
{
    struct ys_safetensors *file;
    YS_TRY(ys_safetensors_open(weights, &file));
    ys_status status = ys_graph_fold(graph, file, folded);
    ys_safetensors_close(file);
    return status;
}

ys_status ys_builtin_quantised_open(const struct ys_graph *graph, const char *weights, const char *scales,
                                    const struct ys_engine_config *config, struct ys_builtin_quantised *quantised,
                                    struct ys_engine **engine)
{
    ys_scales_init(&quantised->scales);
    *engine = NULL;
    ys_status status = fold(graph, weights, &quantised->folded);
    if (status == YS_OK)
        status = ys_scales_read(scales, &quantised->scales);
    if (status == YS_OK)
        status = ys_engine_open_quantised(quantised->folded.graph, config, &quantised->scales, engine);
    for (size_t p = 0; status == YS_OK && p < quantised->folded.graph->param_count; p++)
        status = ys_engine_param_set(*engine, p, YS_ENGINE_F32, quantised->folded.values[p]);
    if (status == YS_OK)
        return YS_OK;
    ys_engine_close(*engine);
    *engine = NULL;
    ys_builtin_quantised_close(quantised);
    return status;
}

void ys_builtin_quantised_close(struct ys_builtin_quantised *quantised)
{
    if (!quantised->folded.graph) /* nor were there scales */
        return;
    ys_folded_fini(&quantised->folded);
    ys_scales_fini(&quantised->scales);
}
