/* import: a network of one's own, what it is, and what would be trained. */
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/command.h"
#include "data/dataset.h"
#include "onnx/read.h"

#include <string.h>

/* What the data set feeds; images of its shape, as they are stored. */
static ys_status find_data(const struct ys_args *args, struct ys_onnx_data *data)
{
    const struct ys_data_source *source = ys_data_find(args->data);
    if (!source)
        return ys_fail(YS_EINVAL, "--data=%s: there is no such data set; `yardstick list datasets` shows them",
                       args->data);
    *data = (struct ys_onnx_data){.dtype = YS_U8, .scale = 1.0 / 255};
    memcpy(data->shape, source->shape, sizeof data->shape);
    return YS_OK;
}

static void print_part(struct ys_buf *out, const ys_json *lines, const char *second, const char *third)
{
    for (size_t i = 0; i < ys_json_size(lines); i++) {
        const ys_json *line = ys_json_at(lines, i);
        ys_buf_printf(out, "  %-38s %-20s %s\n", ys_json_get_text(line, "name", ""), ys_json_get_text(line, second, ""),
                      ys_json_get_text(line, third, ""));
    }
}

static void print_report(const ys_json *report, struct ys_buf *out)
{
    const ys_json *notes = ys_json_get(report, "notes");
    const char *producer = ys_json_get_text(report, "producer", "");
    ys_buf_printf(out, "%s, operator set %lld%s%s\n\nnodes\n", ys_json_get_text(report, "file", ""),
                  (long long)ys_json_get_int(report, "opset", 0), producer[0] ? ", by " : "", producer);
    print_part(out, ys_json_get(report, "nodes"), "op", "shape");
    ys_buf_puts(out, "\nparameters (weight: trained; buffer: kept by batch normalisation)\n");
    print_part(out, ys_json_get(report, "parameters"), "role", "shape");
    if (ys_json_size(notes))
        ys_buf_puts(out, "\nchanged, left out, assumed\n");
    for (size_t i = 0; i < ys_json_size(notes); i++)
        ys_buf_printf(out, "  %s\n", ys_json_text(ys_json_at(notes, i), ""));
    ys_buf_printf(out, "\n%lld parameters, %lld multiply-adds a row\n",
                  (long long)ys_json_get_int(report, "parameter_count", 0),
                  (long long)ys_json_get_int(report, "multiply_adds", 0));
}

static ys_status write_files(const struct ys_args *args, const struct ys_onnx_import *import)
{
    ys_json *graph = args->out ? ys_graph_to_json(import->graph) : NULL;
    ys_status status = YS_OK;
    if (args->out)
        status = graph ? ys_json_write(args->out, graph) : ys_out_of_memory();
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
    struct ys_onnx_data data;
    struct ys_buf out = {0};
    ys_status status = YS_OK;
    if (args->word_count != 1)
        return ys_command_fail(ys_fail(YS_EINVAL, "which file? yardstick import net.onnx --out=net.json"));
    if (args->data)
        status = find_data(args, &data);
    if (status == YS_OK)
        status = ys_onnx_read(args->words[0], args->data ? &data : NULL, &import);
    if (status == YS_OK)
        status = write_files(args, import);
    if (status != YS_OK) {
        ys_onnx_import_free(import);
        return ys_command_fail(status);
    }
    ys_json *report = ys_json_ref(import->report);
    ys_onnx_import_free(import);
    if (args->format == YS_FORMAT_JSON)
        return ys_command_print_json(report);
    print_report(report, &out);
    ys_json_free(report);
    return ys_command_print(&out);
}
