/* Initial values. */
#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "graph/model.h"
#include <math.h>
#include <string.h>

static double draw(const struct ys_initializer *init, struct ys_rng *rng)
{
    double z;
    switch (init->kind) {
    case YS_INIT_UNIFORM:
        return init->a + (init->b - init->a) * ys_rng_uniform(rng);
    case YS_INIT_NORMAL:
        return init->a + init->b * ys_rng_normal(rng);
    case YS_INIT_TRUNCATED_NORMAL:
        do
            z = ys_rng_normal(rng);
        while (fabs(z) > 2);
        return init->a + init->b * z;
    case YS_INIT_CONSTANT:
        break;
    }
    return init->a;
}

void ys_param_draw(const struct ys_param *param, uint64_t seed, float *values)
{
    struct ys_rng rng;
    ys_rng_init(&rng, seed, param->name);
    size_t count = (size_t)ys_param_elements(param);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)draw(&param->init, &rng);
}

ys_status ys_graph_write_weights(const struct ys_graph *graph, uint64_t seed, const char *path, char hash[65])
{
    size_t total = 0;
    for (size_t i = 0; i < graph->param_count; i++)
        total += (size_t)ys_param_elements(&graph->params[i]);
    float *values = ys_alloc(total, sizeof *values);
    struct ys_tensor *tensors = ys_alloc(graph->param_count, sizeof *tensors);
    if (!values || !tensors) {
        ys_free(values);
        ys_free(tensors);
        return ys_out_of_memory();
    }
    float *next = values;
    for (size_t i = 0; i < graph->param_count; i++) {
        const struct ys_param *param = &graph->params[i];
        size_t count = (size_t)ys_param_elements(param);
        ys_param_draw(param, seed, next);
        ys_param_clear_absent(graph, i, sizeof *next, next);
        tensors[i] = (struct ys_tensor){.name = param->name,
                                        .dtype = YS_F32,
                                        .rank = param->rank,
                                        .data = next,
                                        .size_bytes = count * sizeof *next};
        memcpy(tensors[i].shape, param->shape, sizeof tensors[i].shape);
        next += count;
    }
    ys_status status = ys_safetensors_write(path, tensors, graph->param_count, NULL);
    if (status == YS_OK)
        ys_sha256_text(values, total * sizeof *values, hash);
    ys_free(tensors);
    ys_free(values);
    return status;
}
