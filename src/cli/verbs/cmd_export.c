/* export --model: one of yardstick's networks as a file that other programs read. */
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number_text.h"
#include "base/stored/formats.h"
#include "base/json/shared_words.h"
#include "base/files/working_folder.h"
#include "cli/command.h"
#include "data/dataset.h"
#include "graph/model.h"
#include "onnx/write/onnx_write.h"

#include <string.h>

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), wanted = strlen(ending);
    return length > wanted && strcmp(path + length - wanted, ending) == 0;
}

static ys_status build_chosen(const struct ys_args *args, const struct ys_model_choice *model, struct ys_graph **graph)
{
    struct ys_model_input input = model->usual;
    const struct ys_data_source *data = args->data ? ys_data_named(args->data) : NULL;
    if (args->data && !data)
        return ys_fail(YS_EINVAL, "--data=%s: there is no such data set; `yardstick list datasets` shows them",
                       args->data);
    if (data && data->rows.input_count) {
        memcpy(input.shape, data->rows.inputs[0].shape, sizeof input.shape);
        input.classes = data->rows.classes;
        input.vocabulary = data->rows.inputs[0].below;
    }
    return ys_model_choice_build(model, &input, graph);
}

/* The network for the images and classes of --data; without it, for those that it is known by. Or a graph's file. */
static ys_status build_graph(const struct ys_args *args, struct ys_graph **graph)
{
    if (ys_model_is_file(args->model) && !args->data)
        return ys_graph_read(args->model, graph);
    struct ys_model_choice model;
    ys_status status = ys_model_choose(args->model, &model);
    if (status != YS_OK)
        return ys_fail_in(status, "--model=%s", args->model);
    status = build_chosen(args, &model, graph);
    ys_model_choice_fini(&model);
    return status;
}

/* The values of --weights, or those that a run with the seed begins with. */
static ys_status open_weights(const struct ys_args *args, const struct ys_graph *graph, struct ys_safetensors **weights)
{
    int64_t seed = 1;
    char hash[65];
    if (args->seed && (!ys_value_int(args->seed, &seed) || seed < 0))
        return ys_fail(YS_EINVAL, "--seed=%s: write a whole number from 0", args->seed);
    if (args->weights)
        return ys_safetensors_open(args->weights, weights);
    struct ys_working working;
    YS_TRY(ys_working_in_cache("work", &working));
    char *path = ys_path_join(working.path, "weights.safetensors");
    ys_status status = ys_graph_write_weights(graph, (uint64_t)seed, path, hash);
    if (status == YS_OK)
        status = ys_safetensors_open(path, weights); /* mapped, it needs no name */
    ys_working_remove(&working);
    ys_free(path);
    return status;
}

static ys_status write_onnx(const struct ys_args *args, const struct ys_graph *graph)
{
    struct ys_safetensors *weights = NULL;
    const enum ys_dtype dtype = ys_name_find(&ys_precisions, args->precision) == YS_PRECISION_F64 ? YS_F64 : YS_F32;
    YS_TRY(open_weights(args, graph, &weights));
    ys_status status = ys_onnx_write(graph, weights, dtype, args->out);
    ys_safetensors_close(weights);
    return status;
}

static ys_status write_json(const struct ys_args *args, const struct ys_graph *graph)
{
    if (args->weights || args->seed || args->precision)
        return ys_fail(YS_EINVAL, "%s holds no weights: leave --weights, --seed and --precision away, or write .onnx",
                       args->out);
    ys_json *json = ys_graph_to_json(graph);
    ys_status status = ys_json_write(args->out, json);
    ys_json_free(json);
    return status;
}

static ys_status export_model(const struct ys_args *args)
{
    struct ys_graph *graph = NULL;
    if (args->word_count || args->results || args->format_given)
        return ys_fail(YS_EINVAL, "a network is written without SELECTOR, --results and --format: yardstick export "
                                  "--model=NAME --out=FILE.onnx");
    if (!args->model)
        return ys_fail(YS_EINVAL,
                       "a network is written, which --model=NAME names; a study is exported by SELECTOR alone");
    if (!args->out)
        return ys_fail(YS_EINVAL, "say where %s is written: --out=FILE.onnx", args->model);
    if (!ends_in(args->out, ".onnx") && !ends_in(args->out, ".json"))
        return ys_fail(YS_EINVAL, "--out=%s: a model is written as FILE.onnx or, without weights, as FILE.json",
                       args->out);
    YS_TRY(build_graph(args, &graph));
    ys_status status = ends_in(args->out, ".onnx") ? write_onnx(args, graph) : write_json(args, graph);
    ys_graph_free(graph);
    return status;
}

bool ys_command_exports_model(const struct ys_args *args)
{
    return args->model || args->out || args->data || args->weights || args->seed || args->precision;
}

int ys_command_export_model(const struct ys_args *args)
{
    ys_status status = export_model(args);
    if (status != YS_OK)
        return ys_command_fail(status);
    ys_log_info("wrote %s", args->out);
    return 0;
}
