#include "onnx/write/onnx_write.h"

#include "base/files/atomic_file.h"
#include "base/mem.h"
#include "onnx/file/onnx_numbers.h"
#include "onnx/file/protobuf.h"
#include "onnx/write/write_parts.h"

#include <stdio.h>
#include <string.h>

#define IR_VERSION 9
#define OPSET      19                 /* the first whose AveragePool has dilations */
#define LIMIT      ((int64_t)1 << 31) /* bytes; no message of protocol buffers may have as many */

void ys_onnx_claim(struct ys_onnx *onnx, const char *name)
{
    if (ys_json_get(onnx->names, name) && !onnx->twice[0])
        snprintf(onnx->twice, sizeof onnx->twice, "%s", name);
    ys_json_set_bool(onnx->names, name, true);
}

int ys_onnx_type(enum ys_dtype dtype)
{
    static const int types[YS_DTYPE_COUNT] = {
        [YS_F64] = YS_ONNX_DOUBLE, [YS_F32] = YS_ONNX_FLOAT,  [YS_BF16] = YS_ONNX_BFLOAT16, [YS_I64] = YS_ONNX_INT64,
        [YS_I32] = YS_ONNX_INT32,  [YS_U32] = YS_ONNX_UINT32, [YS_U8] = YS_ONNX_UINT8};
    return types[dtype];
}

void ys_onnx_tensor_of(struct ys_buf *out, const char *name, int type, const int64_t *shape, size_t rank)
{
    for (size_t i = 0; i < rank; i++)
        ys_wire_integer(out, YS_PROTO_TENSOR_DIMS, shape[i]);
    ys_wire_integer(out, YS_PROTO_TENSOR_TYPE, type);
    ys_wire_text(out, YS_PROTO_TENSOR_NAME, name);
}

void ys_onnx_tensor(struct ys_buf *out, const char *name, enum ys_dtype dtype, const int64_t *shape, size_t rank)
{
    ys_onnx_tensor_of(out, name, ys_onnx_type(dtype), shape, rank);
}

/* A ValueInfoProto: the graph's input or output. */
static void put_value(struct ys_onnx *o, int field, const struct ys_value *value, const char *name, enum ys_dtype dtype)
{
    struct ys_buf dim = {0}, shape = {0}, tensor = {0}, type = {0};
    for (size_t i = 0; i < value->rank; i++) {
        if (value->shape[i] == YS_BATCH)
            ys_wire_text(&dim, YS_PROTO_DIM_PARAM, "N");
        else
            ys_wire_integer(&dim, YS_PROTO_DIM_VALUE, value->shape[i]);
        ys_wire_message(&shape, YS_PROTO_SHAPE_DIM, &dim);
    }
    ys_wire_integer(&tensor, YS_PROTO_TENSOR_ELEM, ys_onnx_type(dtype));
    ys_wire_message(&tensor, YS_PROTO_TENSOR_SHAPE, &shape);
    ys_wire_message(&type, YS_PROTO_TYPE_TENSOR, &tensor);
    ys_wire_text(&o->part, YS_PROTO_VALUE_NAME, name);
    ys_wire_message(&o->part, YS_PROTO_VALUE_TYPE, &type);
    ys_wire_message(&o->body, field, &o->part);
    struct ys_buf *all[] = {&dim, &shape, &tensor, &type};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        ys_buf_free(all[i]);
}

/* All of the GraphProto but the parameters' values. */
static ys_status make_body(struct ys_onnx *o)
{
    const struct ys_graph *graph = o->graph;
    const struct ys_value *output = &graph->values[graph->output];
    for (size_t i = 0; i < graph->value_count; i++)
        ys_onnx_claim(o, graph->values[i].name);
    for (size_t i = 0; i < graph->param_count; i++)
        ys_onnx_claim(o, graph->params[i].name);
    ys_wire_text(&o->body, YS_PROTO_GRAPH_NAME, graph->name);
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct ys_value *input = &graph->values[graph->inputs[i]];
        put_value(o, YS_PROTO_GRAPH_INPUT, input, input->name, input->dtype);
    }
    ys_onnx_nodes(o);
    put_value(o, YS_PROTO_GRAPH_OUTPUT, output, o->numbers ? ys_onnx_value(o, graph->output) : output->name, o->dtype);
    if (o->twice[0])
        return ys_fail(YS_EUNSUPPORTED,
                       "%s: \"%s\" is the name of two things that have one space of names in ONNX: rename one",
                       graph->name, o->twice);
    return YS_OK;
}

/* The fields of the ModelProto before its graph. */
static void put_head(struct ys_buf *out)
{
    struct ys_buf opset = {0};
    ys_wire_integer(out, YS_PROTO_MODEL_IR_VERSION, IR_VERSION);
    ys_wire_text(out, YS_PROTO_MODEL_PRODUCER_NAME, "yardstick");
    ys_wire_text(out, YS_PROTO_MODEL_PRODUCER_VERSION, YS_VERSION);
    ys_wire_text(&opset, YS_PROTO_OPSET_DOMAIN, "");
    ys_wire_integer(&opset, YS_PROTO_OPSET_VERSION, OPSET);
    ys_wire_message(out, YS_PROTO_MODEL_OPSET, &opset);
    ys_buf_free(&opset);
}

static int64_t param_bytes(const struct ys_onnx *o, size_t param)
{
    return ys_param_elements(&o->graph->params[param]) * (int64_t)ys_dtype_size(o->dtype);
}

/* What stands before the values of a parameter, as a field of the GraphProto. */
static void put_param_head(struct ys_onnx *o, size_t param, struct ys_buf *out)
{
    const struct ys_param *p = &o->graph->params[param];
    uint64_t bytes = (uint64_t)param_bytes(o, param);
    ys_buf_clear(&o->part);
    ys_onnx_tensor(&o->part, p->name, o->dtype, p->shape, p->rank);
    ys_wire_length(&o->part, YS_PROTO_TENSOR_RAW, bytes);
    ys_wire_length(out, YS_PROTO_GRAPH_INITIALIZER, o->part.size + bytes);
    ys_buf_append(out, ys_buf_text(&o->part), o->part.size);
    ys_buf_clear(&o->part);
}

static ys_status measure(struct ys_onnx *o, uint64_t *size)
{
    struct ys_buf head = {0};
    int64_t values = 0;
    for (size_t i = 0; i < o->graph->param_count && values < LIMIT; i++) {
        if (o->is_stored && o->is_stored[i])
            continue;
        values += param_bytes(o, i);
        put_param_head(o, i, &head);
    }
    *size = o->body.size + head.size + (uint64_t)values;
    ys_buf_free(&head);
    if (*size >= (uint64_t)LIMIT - 4096) /* the rest of the ModelProto takes less than that */
        return ys_fail(YS_EUNSUPPORTED,
                       "%s has %.2f GiB of weights and more: an ONNX file of one part ends at 2 GiB, the limit of "
                       "protocol buffers",
                       o->graph->name, (double)*size / ((int64_t)1 << 30));
    return YS_OK;
}

static ys_status write_doubles(struct ys_atomic_file *file, const float *values, size_t count)
{
    double wide[4096];
    const size_t room = sizeof wide / sizeof wide[0];
    for (size_t first = 0; first < count; first += room) {
        size_t taken = count - first < room ? count - first : room;
        for (size_t i = 0; i < taken; i++)
            wide[i] = values[first + i];
        YS_TRY(ys_atomic_file_write(file, wide, taken * sizeof *wide));
    }
    return YS_OK;
}

static ys_status write_param(struct ys_onnx *o, const struct ys_safetensors *weights, size_t param,
                             struct ys_atomic_file *file)
{
    const struct ys_param *p = &o->graph->params[param];
    const struct ys_tensor *tensor = NULL;
    struct ys_buf head = {0};
    if (!o->values)
        YS_TRY(ys_safetensors_need(weights, p->name, YS_F32, p->rank, p->shape, &tensor));
    put_param_head(o, param, &head);
    ys_status status = ys_atomic_file_write(file, head.data, head.size);
    ys_buf_free(&head);
    YS_TRY(status);
    const size_t count = (size_t)ys_param_elements(p);
    const float *values = tensor ? tensor->data : o->values[param];
    float *cleared = NULL; /* in place of what a file holds for connections that are absent */
    if (ys_param_connections(o->graph, param)) {
        cleared = ys_alloc(count, sizeof *cleared);
        memcpy(cleared, values, count * sizeof *cleared);
        ys_param_clear_absent(o->graph, param, sizeof *cleared, cleared);
        values = cleared;
    }
    status = o->dtype == YS_F64 ? write_doubles(file, values, count)
                                : ys_atomic_file_write(file, values, count * sizeof *values);
    ys_free(cleared);
    return status;
}

static ys_status write_all(struct ys_onnx *o, const struct ys_safetensors *weights, const char *path)
{
    struct ys_atomic_file file;
    struct ys_buf head = {0};
    uint64_t size;
    YS_TRY(make_body(o));
    YS_TRY(measure(o, &size));
    put_head(&head);
    ys_wire_length(&head, YS_PROTO_MODEL_GRAPH, size);
    ys_status status = ys_atomic_file_open(&file, path);
    if (status == YS_OK) {
        status = ys_atomic_file_write(&file, head.data, head.size);
        if (status == YS_OK)
            status = ys_atomic_file_write(&file, o->body.data, o->body.size);
        for (size_t i = 0; status == YS_OK && i < o->graph->param_count; i++)
            if (!o->is_stored || !o->is_stored[i])
                status = write_param(o, weights, i, &file);
        if (status == YS_OK)
            status = ys_atomic_file_commit(&file);
        else
            ys_atomic_file_discard(&file);
    }
    ys_buf_free(&head);
    return status;
}

static void end_file(struct ys_onnx *onnx)
{
    ys_buf_free(&onnx->body);
    ys_buf_free(&onnx->node);
    ys_buf_free(&onnx->part);
    ys_json_free(onnx->names);
    ys_free(onnx->is_stored);
    ys_free(onnx->numbers);
}

ys_status ys_onnx_write(const struct ys_graph *graph, const struct ys_safetensors *weights, enum ys_dtype dtype,
                        const char *path)
{
    struct ys_onnx onnx = {.graph = graph, .dtype = dtype, .names = ys_json_object()};
    YS_ASSERT(dtype == YS_F32 || dtype == YS_F64);
    ys_status status = write_all(&onnx, weights, path);
    end_file(&onnx);
    return status;
}

ys_status ys_onnx_write_quantised(const struct ys_folded *network, const struct ys_scales *scales, const char *path)
{
    const struct ys_graph *graph = network->graph;
    struct ys_quant_plan plan;
    YS_TRY(ys_quant_plan_make(graph, &scales->rule, &plan));
    struct ys_onnx onnx = {.graph = graph,
                           .dtype = YS_F32,
                           .names = ys_json_object(),
                           .scales = scales,
                           .plan = &plan,
                           .values = network->values,
                           .is_stored = ys_alloc(graph->param_count + 1, sizeof *onnx.is_stored),
                           .numbers = ys_alloc(graph->value_count, sizeof *onnx.numbers)};
    ys_status status = ys_quant_plan_check(graph, &plan, scales);
    if (status == YS_OK)
        status = write_all(&onnx, NULL, path);
    end_file(&onnx);
    ys_quant_plan_fini(&plan);
    return status;
}

ys_status ys_onnx_convert_quantised(const char *graph_path, const char *weights_path, const char *scales_path,
                                    const char *path)
{
    struct ys_graph *graph = NULL;
    struct ys_safetensors *weights = NULL;
    struct ys_folded folded = {0};
    struct ys_scales scales;
    YS_TRY(ys_scales_read(scales_path, &scales));
    ys_status status = ys_graph_read(graph_path, &graph);
    if (status == YS_OK)
        status = ys_safetensors_open(weights_path, &weights);
    if (status == YS_OK)
        status = ys_graph_fold(graph, weights, &folded);
    if (status == YS_OK)
        status = ys_onnx_write_quantised(&folded, &scales, path);
    ys_folded_fini(&folded);
    ys_safetensors_close(weights);
    ys_graph_free(graph);
    ys_scales_fini(&scales);
    return status;
}

ys_status ys_onnx_convert(const char *graph_path, const char *weights_path, enum ys_dtype dtype, const char *path)
{
    struct ys_graph *graph = NULL;
    struct ys_safetensors *weights = NULL;
    ys_status status = ys_graph_read(graph_path, &graph);
    if (status == YS_OK)
        status = ys_safetensors_open(weights_path, &weights);
    if (status == YS_OK)
        status = ys_onnx_write(graph, weights, dtype, path);
    ys_safetensors_close(weights);
    ys_graph_free(graph);
    return status;
}
