#include "verify/oracle/input_gradient.h"

#include "base/mem.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double MOVED_BY = 1.0 / 16;

bool ys_input_gradient_fits(const struct ys_graph *graph)
{
    return graph->input_count == 1 && graph->values[graph->inputs[0]].dtype != YS_I32 && !graph->carries_state;
}

bool ys_input_gradient_is_due(const struct ys_plan *plan, const ys_json *features)
{
    return plan->dist.world == 1 && !ys_plan_has_prompt(plan) && ys_json_lists(features, "input_gradient");
}

/* A tensor of `rows` rows in the shape of `value`, without its numbers. */
static struct ys_tensor tensor_of(const struct ys_value *value, const char *name, enum ys_dtype dtype, int64_t rows)
{
    struct ys_tensor tensor = {.name = name, .dtype = dtype, .rank = value->rank};
    memcpy(tensor.shape, value->shape, sizeof tensor.shape);
    tensor.shape[0] = rows;
    tensor.size_bytes = ys_tensor_count(&tensor) * ys_dtype_size(dtype);
    return tensor;
}

static void take_rows(const struct ys_tensor *array, const uint32_t *rows, int64_t count, float *values)
{
    const size_t row = ys_tensor_count(array) / (size_t)array->shape[0];
    for (int64_t r = 0; r < count; r++)
        for (size_t k = 0; k < row; k++)
            values[(size_t)r * row + k] = (float)ys_tensor_value(array, rows[r] * row + k);
}

/* Back from the ends of the range: a power or a root is not there for all numbers. */
static void move(struct ys_rng *rng, float *values, size_t count)
{
    float low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < count; k++) {
        low = fminf(low, values[k]);
        high = fmaxf(high, values[k]);
    }
    const double most = MOVED_BY * (high > low ? high - low : 1);
    for (size_t k = 0; k < count; k++) {
        const double moved = values[k] + most * (2 * ys_rng_uniform(rng) - 1);
        values[k] = (float)(moved > high && high > low  ? 2.0 * high - moved
                            : moved < low && high > low ? 2.0 * low - moved
                                                        : moved);
    }
}

static ys_status write_inputs(struct ys_rng *rng, const struct ys_value *input, const struct ys_tensor *array,
                              const struct ys_tensor *order, const char *path)
{
    struct ys_tensor tensor = tensor_of(input, input->name, YS_F32, order->shape[1]);
    const size_t count = ys_tensor_count(&tensor);
    if (!array || array->rank < 1 || array->shape[0] < 1 ||
        ys_tensor_count(array) / (size_t)array->shape[0] * (size_t)order->shape[1] != count)
        return ys_fail(YS_EFORMAT, "the data set of the plan has no %s in the shape of the graph's", input->name);
    float *values = ys_alloc(count, sizeof *values);
    take_rows(array, order->data, order->shape[1], values);
    move(rng, values, count);
    tensor.data = values;
    ys_status status = ys_safetensors_pass(path, &tensor, 1);
    ys_free(values);
    return status;
}

/* The same numbers in both formats. */
static ys_status write_cotangent(struct ys_rng *rng, const struct ys_value *output, int64_t rows, const char *path,
                                 const char *single_path)
{
    struct ys_tensor tensor = tensor_of(output, "cotangent", YS_F64, rows);
    struct ys_tensor single = tensor_of(output, "cotangent", YS_F32, rows);
    const size_t count = ys_tensor_count(&tensor);
    double *values = ys_alloc(count, sizeof *values);
    float *singles = ys_alloc(count, sizeof *singles);
    for (size_t k = 0; k < count; k++)
        values[k] = singles[k] = (float)ys_rng_normal(rng);
    tensor.data = values;
    single.data = singles;
    ys_status status = ys_safetensors_pass(path, &tensor, 1);
    if (status == YS_OK)
        status = ys_safetensors_pass(single_path, &single, 1);
    ys_free(values);
    ys_free(singles);
    return status;
}

static struct ys_rng rng_of(const char *what, int64_t seed, int lot)
{
    struct ys_rng rng;
    char name[48];
    snprintf(name, sizeof name, "input_gradient/%s/%d", what, lot);
    ys_rng_init(&rng, (uint64_t)seed, name);
    return rng;
}

ys_status ys_input_cotangent_write(const struct ys_graph *graph, int64_t rows, int64_t seed, int lot,
                                   const struct ys_input_files *files)
{
    struct ys_rng rng = rng_of("cotangent", seed, lot);
    return write_cotangent(&rng, &graph->values[graph->output], rows, files->cotangent, files->single_cotangent);
}

ys_status ys_input_gradient_write(const struct ys_graph *graph, const struct ys_safetensors *data,
                                  const struct ys_tensor *order, int64_t seed, int lot,
                                  const struct ys_input_files *files)
{
    const struct ys_value *input = &graph->values[graph->inputs[0]];
    struct ys_rng rng = rng_of("images", seed, lot);
    YS_TRY(write_inputs(&rng, input, ys_safetensors_find(data, input->name), order, files->inputs));
    return ys_input_cotangent_write(graph, order->shape[1], seed, lot, files);
}

void ys_input_files_fini(struct ys_input_files *files)
{
    ys_free(files->inputs);
    ys_free(files->cotangent);
    ys_free(files->single_cotangent);
    *files = (struct ys_input_files){0};
}

const char *ys_input_files_cotangent(const struct ys_input_files *files, enum ys_precision precision)
{
    return precision == YS_PRECISION_F64 ? files->cotangent : files->single_cotangent;
}
