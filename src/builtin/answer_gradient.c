#include "builtin/answer_gradient.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

static const uint64_t NONE = UINT64_MAX;

static ys_status need_engine(struct ys_builtin_input_gradient *self, const char *graph_path,
                             const struct ys_engine_config *config)
{
    if (self->engine)
        return YS_OK;
    struct ys_engine_config own = *config;
    own.training = false;
    own.input_gradient = true;
    self->batch = own.batch;
    self->steps = NONE;
    if (!self->graph)
        YS_TRY(ys_graph_read(graph_path, &self->graph));
    struct ys_value *input = &self->graph->values[self->graph->inputs[0]];
    if (self->graph->input_count != 1 || input->dtype == YS_I32)
        return ys_fail(YS_EUNSUPPORTED, "input_gradient is of networks with one input of numbers");
    if (self->graph->carries_state)
        return ys_fail(YS_EUNSUPPORTED, "input_gradient is of networks that carry no state");
    input->dtype = YS_F32;
    return ys_engine_open_graph(self->graph, &own, &self->engine);
}

static ys_status take_weights(struct ys_builtin_input_gradient *self, struct ys_engine *trained)
{
    const enum ys_engine_precision format =
        ys_engine_real_size(trained) == sizeof(double) ? YS_ENGINE_F64 : YS_ENGINE_F32;
    if (self->steps == ys_engine_steps(trained))
        return YS_OK;
    ys_status status = YS_OK;
    for (size_t p = 0; status == YS_OK && p < self->graph->param_count; p++) {
        void *values = ys_alloc((size_t)ys_param_elements(&self->graph->params[p]), ys_engine_real_size(trained));
        status = values ? ys_engine_param_get(trained, p, format, values) : ys_out_of_memory();
        if (status == YS_OK)
            status = ys_engine_param_set(self->engine, p, format, values);
        ys_free(values);
    }
    self->steps = status == YS_OK ? ys_engine_steps(trained) : NONE;
    return status;
}

/** A tensor of the shape of `value`, in whatever it computes. */
static struct ys_tensor tensor_of(const struct ys_builtin_input_gradient *self, const char *name, int value,
                                  const void *data)
{
    const struct ys_value *v = &self->graph->values[value];
    struct ys_tensor tensor = {.name = name, .rank = v->rank, .data = data};
    const size_t size = ys_engine_real_size(self->engine);
    memcpy(tensor.shape, v->shape, sizeof tensor.shape);
    tensor.shape[0] = self->batch;
    tensor.dtype = size == sizeof(double) ? YS_F64 : YS_F32;
    tensor.size_bytes = ys_tensor_count(&tensor) * size;
    return tensor;
}

/** `x`: of the file `inputs`; `cotangent`: of the file of that name, where there is one. */
static ys_status pass(struct ys_builtin_input_gradient *self, const struct ys_tensor *x,
                      const struct ys_safetensors *cotangent, const char *path)
{
    const struct ys_tensor *slope = NULL;
    char name[YS_GRAPH_MAX_NAME + sizeof "grad."];
    struct ys_tensor made[2] = {tensor_of(self, "logits", self->graph->output, NULL)};
    if (cotangent)
        YS_TRY(ys_safetensors_need(cotangent, "cotangent", made[0].dtype, made[0].rank, made[0].shape, &slope));
    const uint64_t start_ns = ys_time_ns();
    YS_TRY(ys_engine_cotangent(self->engine, x->data, slope ? slope->data : NULL));
    self->computed_ns = (int64_t)(ys_time_ns() - start_ns);
    snprintf(name, sizeof name, "grad.%s", x->name);
    made[0].data = ys_engine_logits(self->engine);
    made[1] = tensor_of(self, name, self->graph->inputs[0], ys_engine_input_gradient(self->engine));
    return ys_safetensors_pass(path, made, slope ? 2 : 1);
}

ys_status ys_builtin_input_gradient(struct ys_builtin_input_gradient *self, const char *graph_path,
                                    const struct ys_engine_config *config, struct ys_engine *trained,
                                    const char *inputs, const char *cotangent, const char *path, ys_json *reply)
{
    struct ys_safetensors *given = NULL, *slopes = NULL;
    const struct ys_tensor *x = NULL;
    YS_TRY(need_engine(self, graph_path, config));
    YS_TRY(take_weights(self, trained));
    const struct ys_value *input = &self->graph->values[self->graph->inputs[0]];
    const struct ys_tensor wanted = tensor_of(self, input->name, self->graph->inputs[0], NULL);
    ys_status status = ys_safetensors_open(inputs, &given);
    if (status == YS_OK)
        status = ys_safetensors_need(given, input->name, YS_F32, wanted.rank, wanted.shape, &x);
    if (status == YS_OK && cotangent)
        status = ys_safetensors_open(cotangent, &slopes);
    if (status == YS_OK)
        status = pass(self, x, slopes, path);
    ys_safetensors_close(slopes);
    ys_safetensors_close(given);
    return status == YS_OK ? ys_json_set_int(reply, "computed_ns", self->computed_ns) : status;
}

void ys_builtin_input_gradient_close(struct ys_builtin_input_gradient *self)
{
    ys_engine_close(self->engine);
    ys_graph_free(self->graph);
    *self = (struct ys_builtin_input_gradient){0};
}
