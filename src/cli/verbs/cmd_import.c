/* import: a network of one's own, what it is, and what would be trained. */
#include "base/json/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/command.h"
#include "data/dataset.h"
#include "graph/compose.h"
#include "onnx/read/onnx_read.h"

#include <string.h>

/* What the data set feeds; images of its shape, as they are stored. */
static ys_status find_data(const struct ys_args *args, struct ys_model_feed *feed)
{
    const struct ys_data_source *source = ys_data_named(args->data);
    if (!source)
        return ys_fail(YS_EINVAL, "--data=%s: there is no such data set; `yardstick list datasets` shows them",
                       args->data);
    feed->dtype = YS_U8;
    feed->scale = 1.0 / 255;
    feed->is_strict = true;
    if (source->rows.input_count > 0 && source->rows.inputs[0].rank != 3)
        return ys_fail(YS_EINVAL, "--data=%s: its rows are no images: leave the flag out", args->data);
    if (source->rows.input_count > 0)
        memcpy(feed->shape, source->rows.inputs[0].shape, sizeof feed->shape);
    return YS_OK;
}

static void put_line(struct ys_buf *out, const char *name, const char *kind, const char *shape)
{
    const bool narrow = ys_command_is_narrow();
    ys_command_name(out, 2, narrow ? 0 : 38, name);
    ys_buf_printf(out, " %-*s %s\n", narrow ? 0 : 20, kind, shape);
}

static void print_graph(const struct ys_graph *graph, struct ys_buf *out)
{
    char shape[YS_SHAPE_TEXT];
    ys_buf_puts(out, "nodes\n");
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct ys_node *node = &graph->nodes[i];
        const struct ys_value *made = &graph->values[node->out[0]];
        put_line(out, node->name, ys_op_name(node->op), ys_shape_text(made->shape, made->rank, shape));
    }
    ys_buf_puts(out, "\n");
    ys_command_wrap(out, 0, 2, "parameters (weight: trained; constant: not; buffer: kept by batch normalisation)");
    for (size_t i = 0; i < graph->param_count; i++) {
        const struct ys_param *param = &graph->params[i];
        const char *role =
            param->role == YS_ROLE_WEIGHT && !ys_param_is_trained(param) ? "constant" : ys_role_name(param->role);
        put_line(out, param->name, role, ys_shape_text(param->shape, param->rank, shape));
    }
}

static void print_import(const char *path, const struct ys_onnx_import *import, struct ys_buf *out)
{
    ys_buf_printf(out, "%s, operator set %lld%s%s\n\n", path, (long long)import->opset,
                  import->producer[0] ? ", by " : "", import->producer);
    print_graph(import->graph, out);
    if (ys_json_size(import->notes))
        ys_buf_puts(out, "\nchanged, left out, assumed\n");
    for (size_t i = 0; i < ys_json_size(import->notes); i++)
        ys_command_wrap(out, 2, 4, "%s", ys_json_text(ys_json_at(import->notes, i), ""));
    ys_buf_puts(out, "\n");
    ys_command_line(out, 4, "%lld parameters, %lld multiply-adds a row",
                    (long long)ys_graph_parameter_count(import->graph),
                    (long long)ys_graph_multiply_adds(import->graph));
}

static ys_status write_files(const struct ys_args *args, const struct ys_onnx_import *import)
{
    ys_json *graph = args->out ? ys_graph_to_json(import->graph) : NULL;
    ys_status status = YS_OK;
    if (args->out)
        status = ys_json_write(args->out, graph);
    ys_json_free(graph);
    if (status == YS_OK && args->weights)
        status = ys_onnx_write_values(import, args->weights, NULL);
    if (status == YS_OK && args->out)
        ys_log_info("wrote %s", args->out);
    if (status == YS_OK && args->weights)
        ys_log_info("wrote %s", args->weights);
    return status;
}

int ys_command_import(const struct ys_args *args)
{
    struct ys_onnx_import *import = NULL;
    struct ys_model_feed feed = {.inputs = args->input, .output = args->output};
    struct ys_buf out = {0};
    ys_status status = YS_OK;
    if (args->word_count != 1)
        return ys_command_fail(ys_fail(YS_EINVAL, "which file? yardstick import net.onnx --out=net.json"));
    const char *ending = strrchr(args->words[0], '.');
    if (ending && strcmp(ending, ".jsonl") == 0)
        status =
            ys_fail(YS_EINVAL,
                    "%s: what `export` wrote of a study is taken in by `yardstick results import`, a network by this",
                    args->words[0]);
    if (status == YS_OK && args->data)
        status = find_data(args, &feed);
    if (args->layout)
        feed.layout = strcmp(args->layout, "nhwc") == 0 ? YS_LAYOUT_NHWC : YS_LAYOUT_NCHW;
    if (status == YS_OK)
        status = ys_onnx_read(args->words[0], &feed, &import);
    if (status == YS_OK)
        status = write_files(args, import);
    if (status != YS_OK) {
        ys_onnx_import_free(import);
        return ys_command_fail(status);
    }
    if (args->format == YS_FORMAT_JSON) {
        ys_json *report = ys_json_ref(import->report);
        ys_onnx_import_free(import);
        return ys_command_print_json(report);
    }
    print_import(args->words[0], import, &out);
    ys_onnx_import_free(import);
    return ys_command_print(&out);
}
