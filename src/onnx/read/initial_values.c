/* Values of an ONNX file as safetensors. */
#include "base/hash.h"
#include "base/mem.h"
#include "graph/change.h"
#include "onnx/read/onnx_read.h"

#include <string.h>

/* The parameter of the import that `name` of another graph comes from; -1. */
static int find_source(const struct ys_graph *graph, const char *name)
{
    for (size_t length = strlen(name), tries = 0; tries < 2; tries++, length = ys_graph_untied_length(name))
        for (size_t i = 0; i < graph->param_count; i++)
            if (strlen(graph->params[i].name) == length && memcmp(graph->params[i].name, name, length) == 0)
                return (int)i;
    return -1;
}

/* The values of each parameter of `graph`, borrowed. */
static ys_status find_values(const struct ys_onnx_import *import, const struct ys_graph *graph,
                             struct ys_tensor *tensors)
{
    for (size_t i = 0; i < graph->param_count; i++) {
        const struct ys_param *param = &graph->params[i];
        const int source = graph == import->graph ? (int)i : find_source(import->graph, param->name);
        if (source < 0 || ys_param_elements(&import->graph->params[source]) != ys_param_elements(param))
            return ys_fail(YS_EINVAL, "the file has no values for parameter %s", param->name);
        tensors[i] = (struct ys_tensor){.name = param->name,
                                        .dtype = YS_F32,
                                        .rank = param->rank,
                                        .data = import->values[source],
                                        .size_bytes = (size_t)ys_param_elements(param) * sizeof(float)};
        memcpy(tensors[i].shape, param->shape, sizeof tensors[i].shape);
    }
    return YS_OK;
}

static void hash_values(const struct ys_tensor *tensors, size_t count, char hash[65])
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += tensors[i].size_bytes;
    char *values = ys_alloc(total, 1), *next = values;
    for (size_t i = 0; i < count; i++) {
        memcpy(next, tensors[i].data, tensors[i].size_bytes);
        next += tensors[i].size_bytes;
    }
    ys_sha256_text(values, total, hash);
    ys_free(values);
}

static ys_status write_values(const struct ys_onnx_import *import, const struct ys_graph *graph, const char *path,
                              char hash[65])
{
    struct ys_tensor *tensors = ys_alloc(graph->param_count, sizeof *tensors);
    ys_status status = find_values(import, graph, tensors);
    if (status == YS_OK)
        status = ys_safetensors_write(path, tensors, graph->param_count, NULL);
    if (status == YS_OK && hash)
        hash_values(tensors, graph->param_count, hash);
    ys_free(tensors);
    return status;
}

ys_status ys_onnx_write_values(const struct ys_onnx_import *import, const char *path, char hash[65])
{
    return write_values(import, import->graph, path, hash);
}

ys_status ys_onnx_write_initial(const char *onnx, const struct ys_model_feed *feed, const struct ys_graph *graph,
                                const char *path)
{
    struct ys_onnx_import *import;
    YS_TRY(ys_onnx_read(onnx, feed, &import));
    ys_status status = write_values(import, graph, path, NULL);
    ys_onnx_import_free(import);
    return status;
}
