#include "engine/engine.h"
#include "engine/backend.h"
#include "engine/buckets.h"
#include "engine/lower.h"
#include "engine/open_check.h"
#include "engine/optimizer_step.h"
#include "engine/quantised.h"

#include "base/stored/formats.h"
#include "base/json/shared_words.h"
#include "base/mem.h"
#include "base/stored/safetensors.h"
#include "graph/model.h"
#include "graph/sequence_part.h"
#include <string.h>

struct ys_engine {
    struct ys_graph *owned; /* NULL when the caller keeps the graph */
    const struct ys_backend *backend;
    struct ys_lowering low;
    struct ys_program program;
    struct ys_rows rows;
    void *inputs[YS_ROWS_MAX_INPUTS], *target;
    double lr;
    uint64_t steps;
    int64_t at; /* of the next pass's first position in its row */
    enum ys_engine_mode mode;
    struct ys_engine_exchange exchange; /* end is NULL: there is none */
    struct ys_buckets buckets;          /* for it */
};

const char *ys_engine_error(void)
{
    return ys_error();
}

const char *ys_engine_precision_name(enum ys_engine_precision precision)
{
    static const enum ys_precision words[] = {
        [YS_ENGINE_F64] = YS_PRECISION_F64, [YS_ENGINE_F32] = YS_PRECISION_F32, [YS_ENGINE_BF16] = YS_PRECISION_BF16};
    return ys_name_of(&ys_precisions, (int)words[precision]);
}

/** cache_positions: 0 without a cache; scales: NULL for a network that is not quantised. */
static ys_status open_engine(const struct ys_graph *graph, const struct ys_engine_config *config,
                             const struct ys_scales *scales, int64_t cache_positions, struct ys_engine **engine)
{
    YS_TRY(ys_open_check_config(config));
    YS_TRY(ys_open_check_graph(graph, config->input_gradient));
    struct ys_engine *e = ys_alloc(1, sizeof *e);
    if (!e)
        return ys_out_of_memory();
    e->low = (struct ys_lowering){.graph = graph,
                                  .config = *config,
                                  .program = &e->program,
                                  .lr = &e->lr,
                                  .step = &e->steps,
                                  .mode = &e->mode,
                                  .cache_positions = cache_positions,
                                  .at = &e->at,
                                  .exchange = &e->exchange};
    e->low.only_inputs = config->input_gradient && !config->training;
    e->low.config.training |= e->low.only_inputs;
    ys_status status = scales ? ys_quantised_begin(&e->low, scales) : YS_OK;
    if (status == YS_OK)
        status = ys_lower_choose(graph, config, scales && scales->rule.kind != YS_QUANT_WEIGHTS, &e->backend);
    if (status == YS_OK)
        status = ys_lower_graph(&e->low, e->backend);
    if (status != YS_OK) {
        ys_engine_close(e);
        return status;
    }
    e->low.config.backend = e->backend->name;
    e->rows = ys_graph_rows(graph);
    for (size_t i = 0; i < e->rows.input_count; i++)
        e->inputs[i] = ys_program_at(&e->program, e->low.inputs[i]);
    e->target = ys_program_at(&e->program, e->low.labels);
    *engine = e;
    return YS_OK;
}

int ys_engine_open_graph(const struct ys_graph *graph, const struct ys_engine_config *config, struct ys_engine **engine)
{
    return open_engine(graph, config, NULL, 0, engine);
}

int ys_engine_open_quantised(const struct ys_graph *folded, const struct ys_engine_config *config,
                             const struct ys_scales *scales, struct ys_engine **engine)
{
    return open_engine(folded, config, scales, 0, engine);
}

int ys_engine_open_cached(const struct ys_graph *graph, const struct ys_engine_config *config, int64_t positions,
                          struct ys_engine **engine)
{
    YS_TRY(ys_graph_window_check(graph));
    if (config->training)
        return ys_fail(YS_EINVAL, "an engine with a cache of keys and values is for evaluation: it does not train");
    if (ys_graph_positions(graph) > positions)
        return ys_fail(YS_EINVAL, "a cache of %lld positions has no room for the %lld of a pass of %s",
                       (long long)positions, (long long)ys_graph_positions(graph), graph->name);
    return open_engine(graph, config, NULL, positions, engine);
}

static ys_status open_owned(struct ys_graph *graph_taken, const struct ys_engine_config *config,
                            struct ys_engine **engine)
{
    ys_status status = ys_engine_open_graph(graph_taken, config, engine);
    if (status == YS_OK)
        (*engine)->owned = graph_taken;
    else
        ys_graph_free(graph_taken);
    return status;
}

int ys_engine_open(const char *graph_path, const struct ys_engine_config *config, struct ys_engine **engine)
{
    struct ys_graph *graph;
    YS_TRY(ys_graph_read(graph_path, &graph));
    return open_owned(graph, config, engine);
}

int ys_engine_open_model(const char *model, const struct ys_engine_config *config, struct ys_engine **engine)
{
    struct ys_graph *graph;
    const struct ys_model *found = ys_model_find(model);
    if (!found)
        return ys_fail(YS_ENOTFOUND, "there is no model \"%s\": `yardstick list models` names them", model);
    YS_TRY(found->build(&found->usual, &graph));
    return open_owned(graph, config, engine);
}

void ys_engine_close(struct ys_engine *e)
{
    if (!e)
        return;
    ys_program_fini(&e->program);
    ys_lower_fini(&e->low, e->backend);
    ys_graph_free(e->owned);
    ys_buckets_fini(&e->buckets);
    ys_free(e);
}

int ys_engine_seek(struct ys_engine *e, int64_t position)
{
    const int64_t room = e->low.cache_positions, count = ys_graph_positions(e->low.graph);
    if (room == 0)
        return ys_fail(YS_EINVAL, "this engine has no cache of keys and values: a pass is of whole rows");
    if (position < 0 || position > room - count)
        return ys_fail(YS_EINVAL, "a pass of %lld positions from %lld on: the cache has room for positions 0 to %lld",
                       (long long)count, (long long)position, (long long)room - 1);
    e->at = position;
    return YS_OK;
}

void ys_engine_cache_take(struct ys_engine *e, const struct ys_engine *from)
{
    for (size_t i = 0; i < e->low.graph->node_count; i++) {
        const int own = e->low.cached[i], other = from->low.cached[i];
        if (own < 0 || other < 0)
            continue;
        YS_ASSERT(e->program.buffers[own].size_bytes == from->program.buffers[other].size_bytes);
        memcpy(ys_program_at(&e->program, own), ys_program_at(&from->program, other),
               e->program.buffers[own].size_bytes);
    }
}

/** Whether it was opened for training. */
static bool trains(const struct ys_engine *e)
{
    return e->low.config.training && !e->low.only_inputs;
}

const struct ys_graph *ys_engine_graph(const struct ys_engine *e)
{
    return e->low.graph;
}

const char *ys_engine_backend(const struct ys_engine *e)
{
    return e->backend->name;
}

const char *ys_engine_library(const struct ys_engine *e)
{
    return e->backend->library ? e->backend->library() : "";
}

int ys_engine_threads(const struct ys_engine *e)
{
    return e->low.config.threads;
}

size_t ys_engine_real_size(const struct ys_engine *e)
{
    return e->low.real_size;
}

int64_t ys_engine_classes(const struct ys_engine *e)
{
    return e->low.classes;
}

size_t ys_engine_row_logits(const struct ys_engine *e)
{
    return (size_t)ys_value_row_elements(&e->low.graph->values[e->low.graph->output]);
}

static struct ys_engine_rows describe_rows(const struct ys_row_array *array)
{
    struct ys_engine_rows rows = {.type = array->dtype == YS_U8    ? YS_ENGINE_UINT8
                                          : array->dtype == YS_I32 ? YS_ENGINE_INT32
                                          : array->dtype == YS_I64 ? YS_ENGINE_INT64
                                                                   : YS_ENGINE_FLOAT32,
                                  .rank = array->rank,
                                  .row_bytes = ys_row_bytes(array),
                                  .name = array->name};
    memcpy(rows.shape, array->shape, rows.rank * sizeof rows.shape[0]);
    return rows;
}

struct ys_engine_rows ys_engine_rows(const struct ys_engine *e)
{
    return describe_rows(&e->rows.inputs[0]);
}

size_t ys_engine_input_count(const struct ys_engine *e)
{
    return e->rows.input_count;
}

struct ys_engine_rows ys_engine_input_rows(const struct ys_engine *e, size_t input)
{
    YS_ASSERT(input < e->rows.input_count);
    return describe_rows(&e->rows.inputs[input]);
}

struct ys_engine_rows ys_engine_target_rows(const struct ys_engine *e)
{
    return describe_rows(&e->rows.target);
}

size_t ys_engine_param_count(const struct ys_engine *e)
{
    return e->low.graph->param_count;
}

static ys_status check_param(const struct ys_engine *e, size_t param)
{
    return param < e->low.graph->param_count
               ? YS_OK
               : ys_fail(YS_EINVAL, "there is no parameter %zu: %s has %zu, the first of which is 0", param,
                         e->low.graph->name, e->low.graph->param_count);
}

int ys_engine_param(const struct ys_engine *e, size_t param, struct ys_engine_param *found)
{
    YS_TRY(check_param(e, param));
    const struct ys_param *p = &e->low.graph->params[param];
    *found = (struct ys_engine_param){.name = p->name,
                                      .rank = p->rank,
                                      .elements = (size_t)ys_param_elements(p),
                                      .is_trained = p->role == YS_ROLE_WEIGHT};
    memcpy(found->shape, p->shape, sizeof found->shape);
    return YS_OK;
}

int ys_engine_param_find(const struct ys_engine *e, const char *name)
{
    for (size_t p = 0; p < e->low.graph->param_count; p++)
        if (strcmp(e->low.graph->params[p].name, name) == 0)
            return (int)p;
    return -1;
}

static void convert(void *to, size_t to_size, const void *from, size_t from_size, size_t count)
{
    if (to_size == from_size)
        memcpy(to, from, count * to_size);
    else if (to_size == sizeof(double))
        for (size_t i = 0; i < count; i++)
            ((double *)to)[i] = ((const float *)from)[i];
    else
        for (size_t i = 0; i < count; i++)
            ((float *)to)[i] = (float)((const double *)from)[i];
}

static ys_status format_size(enum ys_engine_precision format, size_t *size)
{
    if (format != YS_ENGINE_F64 && format != YS_ENGINE_F32)
        return ys_fail(YS_EINVAL, "the format of values is YS_ENGINE_F64 or YS_ENGINE_F32, not %d", (int)format);
    *size = format == YS_ENGINE_F64 ? sizeof(double) : sizeof(float);
    return YS_OK;
}

static void *flat_param(struct ys_engine *e, int buffer, size_t param)
{
    return (char *)ys_program_at(&e->program, buffer) + e->low.param_offset[param] * e->low.real_size;
}

static ys_status enter(struct ys_engine *e)
{
    return e->backend->enter ? e->backend->enter(&e->low) : YS_OK;
}

static void leave(struct ys_engine *e)
{
    if (e->backend->leave)
        e->backend->leave(&e->low);
}

static ys_status set_flat(struct ys_engine *e, int buffer, size_t param, enum ys_engine_precision format,
                          const void *values)
{
    size_t size;
    YS_TRY(check_param(e, param));
    YS_TRY(format_size(format, &size));
    size_t count = (size_t)ys_param_elements(&e->low.graph->params[param]);
    const bool is_rounded = ys_quantised_rounds(&e->low, param);
    bool is_changed = is_rounded || size != e->low.real_size || ys_param_connections(e->low.graph, param);
    void *own = is_changed ? ys_alloc(count, e->low.real_size) : NULL;
    if (is_changed && !own)
        return ys_out_of_memory();
    if (own) {
        convert(own, e->low.real_size, values, size, count);
        ys_param_clear_absent(e->low.graph, param, e->low.real_size, own);
        if (is_rounded)
            ys_quantised_round(&e->low, param, own);
    }
    ys_status status = enter(e);
    if (status == YS_OK) {
        status = e->backend->param_store(&e->low, param, own ? own : values, flat_param(e, buffer, param));
        leave(e);
    }
    ys_free(own);
    return status;
}

int ys_engine_param_set(struct ys_engine *e, size_t param, enum ys_engine_precision format, const void *values)
{
    return set_flat(e, e->low.weights, param, format, values);
}

static ys_status get_flat(struct ys_engine *e, int buffer, size_t param, enum ys_engine_precision format, void *values)
{
    size_t size;
    YS_TRY(check_param(e, param));
    YS_TRY(format_size(format, &size));
    size_t count = (size_t)ys_param_elements(&e->low.graph->params[param]);
    void *own = size == e->low.real_size ? NULL : ys_alloc(count, e->low.real_size);
    ys_status status = size == e->low.real_size || own ? enter(e) : ys_out_of_memory();
    if (status == YS_OK) {
        status = e->backend->param_load(&e->low, param, flat_param(e, buffer, param), own ? own : values);
        leave(e);
    }
    if (status == YS_OK && own)
        convert(values, size, own, e->low.real_size, count);
    ys_free(own);
    return status;
}

const char *ys_engine_state_name(const struct ys_engine_optimizer *optimizer, enum ys_engine_state which)
{
    const bool adam = optimizer->rule == YS_ENGINE_ADAM || optimizer->rule == YS_ENGINE_ADAMW;
    if (which == YS_ENGINE_STATE_SQUARE)
        return ys_optimizer_has_state2(optimizer) ? "exp_avg_sq" : NULL;
    return !ys_optimizer_has_state1(optimizer) ? NULL : adam ? "exp_avg" : "velocity";
}

static ys_status check_state(struct ys_engine *e, enum ys_engine_state which, size_t param)
{
    YS_TRY(check_param(e, param));
    if (!trains(e) || !ys_engine_state_name(&e->low.config.optimizer, which))
        return ys_fail(YS_EINVAL, "this engine's optimizer keeps no such array");
    if (e->low.graph->params[param].role != YS_ROLE_WEIGHT)
        return ys_fail(YS_EINVAL, "%s is a buffer: no optimizer keeps anything of it",
                       e->low.graph->params[param].name);
    return YS_OK;
}

int ys_engine_state_set(struct ys_engine *e, enum ys_engine_state which, size_t param, enum ys_engine_precision format,
                        const void *values)
{
    YS_TRY(check_state(e, which, param));
    return set_flat(e, which == YS_ENGINE_STATE_MEAN ? e->low.state1 : e->low.state2, param, format, values);
}

int ys_engine_state_get(struct ys_engine *e, enum ys_engine_state which, size_t param, enum ys_engine_precision format,
                        void *values)
{
    YS_TRY(check_state(e, which, param));
    return get_flat(e, which == YS_ENGINE_STATE_MEAN ? e->low.state1 : e->low.state2, param, format, values);
}

uint64_t ys_engine_steps(const struct ys_engine *e)
{
    return e->steps;
}

void ys_engine_steps_set(struct ys_engine *e, uint64_t steps)
{
    e->steps = steps;
}

int ys_engine_param_get(struct ys_engine *e, size_t param, enum ys_engine_precision format, void *values)
{
    return get_flat(e, e->low.weights, param, format, values);
}

int ys_engine_gradient_get(struct ys_engine *e, size_t param, enum ys_engine_precision format, void *values)
{
    if (!trains(e))
        return ys_fail(YS_EINVAL, "this engine was opened for inference: it has no gradients");
    YS_TRY(check_param(e, param));
    if (e->low.graph->params[param].role != YS_ROLE_WEIGHT)
        return ys_fail(YS_EINVAL, "%s is a buffer: it has no gradient", e->low.graph->params[param].name);
    return get_flat(e, e->low.gradients, param, format, values);
}

int ys_engine_draw(struct ys_engine *e, uint64_t seed)
{
    ys_status status = YS_OK;
    for (size_t p = 0; status == YS_OK && p < e->low.graph->param_count; p++) {
        const struct ys_param *param = &e->low.graph->params[p];
        float *values = ys_alloc((size_t)ys_param_elements(param), sizeof *values);
        if (!values)
            return ys_out_of_memory();
        ys_param_draw(param, seed, values);
        status = ys_engine_param_set(e, p, YS_ENGINE_F32, values);
        ys_free(values);
    }
    return status;
}

static ys_status load_param(struct ys_engine *e, const struct ys_safetensors *file, size_t param)
{
    const struct ys_param *p = &e->low.graph->params[param];
    const struct ys_tensor *tensor = ys_safetensors_find(file, p->name);
    bool is_double = tensor && tensor->dtype == YS_F64;
    YS_TRY(ys_safetensors_need(file, p->name, is_double ? YS_F64 : YS_F32, p->rank, p->shape, &tensor));
    return ys_engine_param_set(e, param, is_double ? YS_ENGINE_F64 : YS_ENGINE_F32, tensor->data);
}

int ys_engine_load(struct ys_engine *e, const char *path)
{
    struct ys_safetensors *file;
    YS_TRY(ys_safetensors_open(path, &file));
    ys_status status = YS_OK;
    for (size_t p = 0; status == YS_OK && p < e->low.graph->param_count; p++)
        status = load_param(e, file, p);
    for (size_t i = 0; status == YS_OK && i < ys_safetensors_count(file); i++)
        if (ys_engine_param_find(e, ys_safetensors_at(file, i)->name) < 0 &&
            strncmp(ys_safetensors_at(file, i)->name, "state.", 6) != 0) /* an optimizer's: docs/protocol.md */
            status = ys_fail(YS_EFORMAT, "%s: tensor \"%s\" is no parameter of the graph %s", path,
                             ys_safetensors_at(file, i)->name, e->low.graph->name);
    ys_safetensors_close(file);
    return status;
}

int ys_engine_save(struct ys_engine *e, const char *path)
{
    size_t count = e->low.graph->param_count;
    struct ys_tensor *tensors = ys_alloc(count, sizeof *tensors);
    void **data = ys_alloc(count, sizeof *data);
    ys_status status = tensors && data ? YS_OK : ys_out_of_memory();
    for (size_t p = 0; status == YS_OK && p < count; p++) {
        const struct ys_param *param = &e->low.graph->params[p];
        size_t elements = (size_t)ys_param_elements(param);
        data[p] = ys_alloc(elements, sizeof(float));
        status = data[p] ? get_flat(e, e->low.weights, p, YS_ENGINE_F32, data[p]) : ys_out_of_memory();
        tensors[p] = (struct ys_tensor){.name = param->name,
                                        .dtype = YS_F32,
                                        .rank = param->rank,
                                        .data = data[p],
                                        .size_bytes = elements * sizeof(float)};
        memcpy(tensors[p].shape, param->shape, sizeof tensors[p].shape);
    }
    if (status == YS_OK)
        status = ys_safetensors_write(path, tensors, count, NULL);
    for (size_t p = 0; data && p < count; p++)
        ys_free(data[p]);
    ys_free(data);
    ys_free(tensors);
    return status;
}

/** The state of a node with which a pass begins, and behind it, as large, that with which it ends; NULL: it carries
 * none. */
static unsigned char *carried_at(const struct ys_engine *e, size_t node, size_t *bytes)
{
    const struct ys_node *n = &e->low.graph->nodes[node];
    if (e->low.carried[node] < 0)
        return NULL;
    *bytes = (size_t)ys_node_states(n) * ys_lower_carried_elements(&e->low, n) * e->low.real_size;
    return ys_program_at(&e->program, e->low.carried[node]);
}

size_t ys_engine_carried_count(const struct ys_engine *e)
{
    size_t count = 0;
    for (size_t i = 0; e->low.graph->carries_state && i < e->low.graph->node_count; i++)
        count += (size_t)ys_node_states(&e->low.graph->nodes[i]);
    return count;
}

/** The node of an array, and which of that node's it is. */
static const struct ys_node *find_carried(const struct ys_engine *e, size_t array, size_t *which)
{
    const struct ys_node *node = e->low.graph->nodes;
    for (; array >= (size_t)ys_node_states(node); node++)
        array -= (size_t)ys_node_states(node);
    *which = array;
    return node;
}

struct ys_engine_carried ys_engine_carried(const struct ys_engine *e, size_t array)
{
    size_t which;
    YS_ASSERT(array < ys_engine_carried_count(e));
    const struct ys_node *node = find_carried(e, array, &which);
    return (struct ys_engine_carried){
        .node = node->name, .kind = which ? 'c' : 'h', .hidden = e->low.graph->values[node->out[0]].shape[2]};
}

/** The array that a pass begins with. */
static ys_status find_array(struct ys_engine *e, size_t array, enum ys_engine_precision format, unsigned char **at,
                            size_t *size, size_t *count)
{
    size_t which, bytes;
    YS_TRY(format_size(format, size));
    if (array >= ys_engine_carried_count(e))
        return ys_fail(YS_EINVAL, "there is no carried array %zu: %s has %zu, the first of which is 0", array,
                       e->low.graph->name, ys_engine_carried_count(e));
    const struct ys_node *node = find_carried(e, array, &which);
    *count = ys_lower_carried_elements(&e->low, node);
    *at = carried_at(e, (size_t)(node - e->low.graph->nodes), &bytes) + which * *count * e->low.real_size;
    return YS_OK;
}

int ys_engine_carried_set(struct ys_engine *e, size_t array, enum ys_engine_precision format, const void *values)
{
    unsigned char *at;
    size_t size, count;
    YS_TRY(find_array(e, array, format, &at, &size, &count));
    convert(at, e->low.real_size, values, size, count);
    return YS_OK;
}

int ys_engine_carried_get(struct ys_engine *e, size_t array, enum ys_engine_precision format, void *values)
{
    unsigned char *at;
    size_t size, count;
    YS_TRY(find_array(e, array, format, &at, &size, &count));
    convert(values, size, at, e->low.real_size, count);
    return YS_OK;
}

void ys_engine_carry(struct ys_engine *e)
{
    size_t bytes = 0;
    for (size_t i = 0; i < e->low.graph->node_count; i++) {
        unsigned char *at = carried_at(e, i, &bytes);
        if (at)
            memcpy(at, at + bytes, bytes);
    }
}

void ys_engine_carried_clear(struct ys_engine *e)
{
    size_t bytes = 0;
    for (size_t i = 0; i < e->low.graph->node_count; i++) {
        unsigned char *at = carried_at(e, i, &bytes);
        if (at)
            memset(at, 0, bytes);
    }
}

void ys_engine_reset(struct ys_engine *e)
{
    const int states[] = {e->low.state1, e->low.state2};
    for (int i = 0; i < 2; i++)
        if (states[i] >= 0)
            memset(ys_program_at(&e->program, states[i]), 0, e->program.buffers[states[i]].size_bytes);
    ys_engine_carried_clear(e);
    e->steps = 0;
}

void ys_engine_input(struct ys_engine *e, void **x, int64_t **y)
{
    *x = e->inputs[0];
    *y = e->rows.kind == YS_TARGET_VECTOR ? NULL : e->target;
}

void *ys_engine_place(struct ys_engine *e, size_t input)
{
    YS_ASSERT(input < e->rows.input_count);
    return e->inputs[input];
}

void *ys_engine_target(struct ys_engine *e)
{
    return e->target;
}

static ys_status take_input(struct ys_engine *e, const void *x, const int64_t *y)
{
    const bool is_vector = e->rows.kind == YS_TARGET_VECTOR;
    if ((x && e->rows.input_count > 1) || (y && is_vector))
        return ys_fail(YS_EINVAL,
                       "%s has several inputs, or a target of numbers: write them where ys_engine_place() "
                       "and ys_engine_target() point, and pass NULL",
                       e->low.graph->name);
    if (x)
        memcpy(e->inputs[0], x, e->program.buffers[e->low.inputs[0]].size_bytes);
    if (y)
        memcpy(e->target, y, e->program.buffers[e->low.labels].size_bytes);
    if (is_vector)
        return YS_OK;
    const int64_t *labels = e->target, positions = e->low.targets / e->low.config.batch;
    const int64_t least = e->rows.kind == YS_TARGET_CLASSES ? YS_ROWS_HIDDEN : 0;
    int64_t hidden = 0;
    for (int64_t i = 0; i < e->low.targets; i++) {
        if (labels[i] < least || labels[i] >= e->low.classes)
            return ys_fail(YS_EINVAL, "label %lld of row %lld is not one of %lld classes", (long long)labels[i],
                           (long long)(i / positions), (long long)e->low.classes);
        hidden += labels[i] < 0;
    }
    return hidden < e->low.targets
               ? YS_OK
               : ys_fail(YS_EINVAL, "all %lld targets of the batch are hidden (%d): there is nothing to take a mean of",
                         (long long)hidden, YS_ROWS_HIDDEN);
}

int ys_engine_set_exchange(struct ys_engine *e, const struct ys_engine_exchange *exchange)
{
    if (!trains(e))
        return ys_fail(YS_EINVAL, "this engine was opened for inference: it has no gradients");
    ys_buckets_fini(&e->buckets);
    e->exchange = (struct ys_engine_exchange){0};
    if (!exchange)
        return YS_OK;
    YS_TRY(ys_buckets_plan(&e->low, exchange->bucket_bytes, &e->buckets));
    e->exchange = *exchange;
    return YS_OK;
}

size_t ys_engine_bucket_count(const struct ys_engine *e, size_t *span_count)
{
    const size_t count = e->buckets.count;
    const struct ys_bucket *last = count ? &e->buckets.items[count - 1] : NULL;
    *span_count = last ? last->first_span + last->span_count : 0;
    return count;
}

/** Gives each bucket away as soon as the calls that it needs have run. */
static ys_status give_buckets(struct ys_engine *e)
{
    struct ys_program *program = &e->program;
    size_t call = program->segment_end[YS_SEGMENT_FORWARD];
    for (size_t b = 0; b < e->buckets.count; b++) {
        const struct ys_bucket *bucket = &e->buckets.items[b];
        for (; call < bucket->end_call; call++)
            YS_TRY(ys_program_run_call(program, call));
        if (e->exchange.begin(e->exchange.context, e->buckets.spans + bucket->first_span, bucket->span_count) != 0)
            return YS_EIO; /* the sentence is its own */
    }
    for (; call < program->segment_end[YS_SEGMENT_BACKWARD]; call++)
        YS_TRY(ys_program_run_call(program, call));
    return YS_OK;
}

/** What has begun is ended, also where the pass broke off: until then it is theirs. */
static ys_status run_backward(struct ys_engine *e)
{
    const ys_status given = give_buckets(e);
    const int ended = e->exchange.end(e->exchange.context);
    return given != YS_OK || ended == 0 ? given : YS_EIO;
}

static ys_status run_segments(struct ys_engine *e, enum ys_segment last)
{
    if (!e->exchange.end || last == YS_SEGMENT_FORWARD)
        return ys_program_run(&e->program, last);
    YS_TRY(ys_program_run(&e->program, YS_SEGMENT_FORWARD));
    YS_TRY(run_backward(e));
    return last == YS_SEGMENT_UPDATE ? ys_program_run_from(&e->program, YS_SEGMENT_UPDATE, last) : YS_OK;
}

static ys_status run_on(struct ys_engine *e, const void *x, const int64_t *y, enum ys_segment last,
                        enum ys_engine_mode mode, double *loss)
{
    YS_TRY(take_input(e, x, y));
    e->mode = mode;
    YS_TRY(enter(e));
    ys_status status = run_segments(e, last);
    leave(e);
    if (status == YS_OK && loss)
        convert(loss, sizeof *loss, ys_program_at(&e->program, e->low.loss), e->low.real_size, 1);
    return status;
}

static ys_status run(struct ys_engine *e, const void *x, const int64_t *y, enum ys_segment last,
                     enum ys_engine_mode mode, double *loss)
{
    if (last != YS_SEGMENT_FORWARD && !trains(e))
        return ys_fail(YS_EINVAL, "this engine was opened for inference: it has no backward pass");
    if (mode != YS_ENGINE_EVAL && !trains(e))
        return ys_fail(YS_EINVAL, "this engine was opened for inference: it knows no training mode");
    return run_on(e, x, y, last, mode, loss);
}

int ys_engine_forward(struct ys_engine *e, const void *x, const int64_t *y, enum ys_engine_mode mode, double *loss)
{
    return run(e, x, y, YS_SEGMENT_FORWARD, mode, loss);
}

int ys_engine_backward(struct ys_engine *e, const void *x, const int64_t *y, enum ys_engine_mode mode, double *loss)
{
    return run(e, x, y, YS_SEGMENT_BACKWARD, mode, loss);
}

int ys_engine_step(struct ys_engine *e, const void *x, const int64_t *y, double lr, double *loss)
{
    e->lr = lr;
    YS_TRY(run(e, x, y, YS_SEGMENT_UPDATE, YS_ENGINE_TRAIN, loss));
    ys_engine_carry(e);
    e->steps++;
    return YS_OK;
}

int ys_engine_cotangent(struct ys_engine *e, const void *x, const void *cotangent)
{
    if (!e->low.only_inputs)
        return ys_fail(YS_EINVAL, "a cotangent is for an engine opened with input_gradient and not for training");
    if (cotangent)
        memcpy(ys_program_at(&e->program, e->low.cotangent), cotangent,
               e->program.buffers[e->low.cotangent].size_bytes);
    return run_on(e, x, NULL, cotangent ? YS_SEGMENT_BACKWARD : YS_SEGMENT_FORWARD, YS_ENGINE_EVAL, NULL);
}

const void *ys_engine_logits(const struct ys_engine *e)
{
    return ys_program_at(&e->program, e->low.logits);
}

const void *ys_engine_input_gradient(const struct ys_engine *e)
{
    return e->low.input_gradient < 0 ? NULL : ys_program_at(&e->program, e->low.input_gradient);
}

struct ys_engine_counters ys_engine_counters(const struct ys_engine *e)
{
    struct ys_engine_counters c = {
        .arena_bytes = e->program.arena_bytes, .calls = e->program.call_count, .steps = e->steps};
    for (size_t i = 0; i < e->program.buffer_count; i++)
        c.requested_bytes += e->program.buffers[i].size_bytes;
    return c;
}

const struct ys_program *ys_engine_program(const struct ys_engine *e)
{
    return &e->program;
}

int ys_engine_run_call(struct ys_engine *e, size_t call)
{
    YS_ASSERT(call < e->program.call_count);
    e->mode = trains(e) ? YS_ENGINE_TRAIN : YS_ENGINE_EVAL;
    YS_TRY(enter(e));
    ys_status status = ys_program_run_call(&e->program, call);
    leave(e);
    return status;
}

int ys_engine_check(const struct ys_engine *e)
{
    return ys_program_check_guards(&e->program);
}
