#include "engine/lower.h"

#include "base/mem.h"
#include "engine/engine.h"
#include "engine/optimizer_step.h"
#include "graph/op.h"
#include <string.h>

/** The first operator of the graph that the back end lacks, or YS_OP_COUNT. */
static enum ys_op lacking(const struct ys_backend *backend, const struct ys_graph *graph,
                          enum ys_engine_precision precision)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (!backend->supports(graph->nodes[i].op, precision))
            return graph->nodes[i].op;
    return YS_OP_COUNT;
}

/** Whether the network is one that it has, but for single operators: see ys_lower_choose(). */
static bool has_integers(const struct ys_backend *backend, bool in_integers)
{
    return !in_integers || backend->has_integers;
}

ys_status ys_lower_choose(const struct ys_graph *graph, const struct ys_engine_config *config, bool in_integers,
                          const struct ys_backend **backend)
{
    bool any = !config->backend || strcmp(config->backend, "auto") == 0;
    const struct ys_backend *named = NULL;
    const char *reason = NULL;
    for (const struct ys_backend *const *b = ys_backends(); *b; b++) {
        reason = !reason && (*b)->lacks ? (*b)->lacks(config->precision) : reason;
        if (!any && strcmp((*b)->name, config->backend) != 0)
            continue;
        named = *b;
        if (has_integers(*b, in_integers) && lacking(*b, graph, config->precision) == YS_OP_COUNT) {
            *backend = *b;
            return YS_OK;
        }
    }
    const char *left_out = named || any ? NULL : ys_backend_left_out(config->backend);
    if (left_out)
        return ys_fail(YS_EUNSUPPORTED, "%s", left_out);
    if (!named)
        return ys_fail(YS_EINVAL, "there is no back end \"%s\"; \"ref\" is always there", config->backend);
    if (reason)
        return ys_fail(YS_EUNSUPPORTED, "%s", reason);
    if (!any && !has_integers(named, in_integers))
        return ys_fail(YS_EUNSUPPORTED, "the back end %s computes nothing in integers: take onednn or ref",
                       named->name);
    const char *op = ys_op_name(lacking(named, graph, config->precision)),
               *precision = ys_engine_precision_name(config->precision);
    if (any)
        return ys_fail(YS_EUNSUPPORTED, "no back end of the built-in engine has %s in %s", op, precision);
    return ys_fail(YS_EUNSUPPORTED, "the back end %s has no %s in %s", named->name, op, precision);
}

ys_status ys_lower_call(struct ys_lowering *low, const char *name, ys_call_run run, void *context,
                        void (*free_context)(void *), const struct ys_operand *operands, size_t count)
{
    struct ys_call call = {.name = name,
                           .run = run,
                           .context = context,
                           .free = free_context,
                           .operand_count = count,
                           .segment = low->segment,
                           .kind = low->kind};
    YS_ASSERT(count <= YS_CALL_MAX_OPERANDS);
    memcpy(call.operands, operands, count * sizeof *operands);
    return ys_program_call(low->program, &call);
}

ys_status ys_lower_call_own(struct ys_lowering *low, const char *name, ys_call_run run, const void *context,
                            size_t size_bytes, const struct ys_operand *operands, size_t count)
{
    void *own = ys_alloc(1, size_bytes);
    if (!own)
        return ys_out_of_memory();
    memcpy(own, context, size_bytes);
    return ys_lower_call(low, name, run, own, ys_free, operands, count);
}

void ys_lower_mark(struct ys_lowering *low, enum ys_call_kind kind)
{
    YS_ASSERT(low->program->call_count > 0);
    low->program->calls[low->program->call_count - 1].kind = kind;
}

/** Of the calls of a node, unless its back end says otherwise. */
static enum ys_call_kind kind_of(enum ys_op op)
{
    switch (ys_op_rule(op)->kind) {
    case YS_OPKIND_POOL:
        return YS_CALL_POOL;
    case YS_OPKIND_LAYOUT:
        return YS_CALL_LAYOUT;
    case YS_OPKIND_PRODUCT: /* of its calls, the back end marks the products */
    case YS_OPKIND_POINTWISE:
        break;
    }
    return YS_CALL_POINTWISE;
}

int ys_lower_gradient_holders(const struct ys_lowering *low, int buffer)
{
    int holders = 0;
    for (size_t v = 0; buffer >= 0 && v < low->graph->value_count; v++)
        holders += low->gradient[v] == buffer;
    return holders;
}

int ys_lower_joined(const struct ys_lowering *low)
{
    return low->exchange && low->exchange->mean && *low->mode == YS_ENGINE_TRAIN ? low->exchange->world : 1;
}

ys_status ys_lower_join(const struct ys_lowering *low, double *values, size_t count)
{
    return low->exchange->mean(low->exchange->context, values, count) == 0 ? YS_OK : YS_EIO; /* its own sentence */
}

/** Over engines that have as many rows each: the mean of means, and of variances about that. */
ys_status ys_lower_join_statistics(const struct ys_lowering *low, double *mean, double *variance, double *own,
                                   size_t channels)
{
    memcpy(own, mean, channels * sizeof *own);
    YS_TRY(ys_lower_join(low, mean, channels));
    for (size_t c = 0; c < channels; c++)
        variance[c] += (own[c] - mean[c]) * (own[c] - mean[c]);
    return ys_lower_join(low, variance, channels);
}

enum ys_share ys_lower_share(const struct ys_lowering *low, int value, int share)
{
    int old = low->gradient[value];
    if (old < 0)
        return YS_SHARE_FIRST;
    if (ys_lower_gradient_holders(low, old) == 1)
        return YS_SHARE_INTO_OLD;
    return ys_lower_gradient_holders(low, share) == 0 ? YS_SHARE_INTO_NEW : YS_SHARE_APART;
}

struct ys_operand ys_lower_param_at(const struct ys_lowering *low, int flat, int param)
{
    return (struct ys_operand){flat, low->param_offset[param] * low->real_size};
}

ys_status ys_lower_param_share(struct ys_lowering *low, int param, struct ys_operand *place, bool *is_more)
{
    *is_more = low->param_given[param] && !low->only_inputs;
    if (low->only_inputs) { /* nobody reads it */
        place->offset_bytes = 0;
        return ys_program_buffer(low->program, low->param_size[param] * low->real_size, false, &place->buffer);
    }
    *place = ys_lower_param_at(low, low->gradients, param);
    low->param_given[param] = true;
    if (!*is_more)
        return YS_OK;
    place->offset_bytes = 0;
    return ys_program_buffer(low->program, low->param_size[param] * low->real_size, false, &place->buffer);
}

/** Backwards from the logits: which nodes count, and who reads each value. */
static void find_live(struct ys_lowering *low)
{
    const struct ys_graph *g = low->graph;
    for (size_t v = 0; v < g->value_count; v++)
        low->value_reader[v] = low->value[v] = low->integer[v] = low->gradient[v] = -1;
    low->value_reads[g->output] = 1;
    for (size_t i = g->node_count; i-- > 0;) {
        const struct ys_node *node = &g->nodes[i];
        for (size_t k = 0; k < node->out_count; k++)
            low->node_live[i] |= low->value_reads[node->out[k]] > 0;
        for (size_t k = 0; low->node_live[i] && k < node->in_count; k++) {
            int v = node->in[k];
            low->value_reader[v] = low->value_reads[v]++ == 0 ? (int)i : -1;
        }
    }
}

/** A value needs its gradient when a parameter lies above it, or when the first input's is asked for. */
static void find_wanted_gradients(struct ys_lowering *low)
{
    const struct ys_graph *g = low->graph;
    low->value_gradient[g->inputs[0]] = low->config.input_gradient && low->value_reads[g->inputs[0]] > 0;
    for (size_t i = 0; i < g->node_count; i++) {
        const struct ys_node *node = &g->nodes[i];
        bool wanted = !low->only_inputs && (node->weight >= 0 || node->bias >= 0);
        for (size_t k = 0; k < node->in_count; k++)
            wanted |= low->value_gradient[node->in[k]];
        for (size_t k = 0; k < node->out_count; k++)
            low->value_gradient[node->out[k]] = wanted && low->config.training && low->value_reads[node->out[k]] > 0;
    }
    low->value_gradient[g->output] = low->config.training;
}

static ys_status make_tables(struct ys_lowering *low)
{
    size_t values = low->graph->value_count, nodes = low->graph->node_count, params = low->graph->param_count;
    low->node_live = ys_alloc(nodes, sizeof *low->node_live);
    low->value_gradient = ys_alloc(values, sizeof *low->value_gradient);
    low->value_reads = ys_alloc(values, sizeof *low->value_reads);
    low->value_reader = ys_alloc(values, sizeof *low->value_reader);
    low->value = ys_alloc(values, sizeof *low->value);
    low->integer = ys_alloc(values, sizeof *low->integer);
    low->carried = ys_alloc(nodes, sizeof *low->carried);
    low->cached = ys_alloc(nodes, sizeof *low->cached);
    low->gradient = ys_alloc(values, sizeof *low->gradient);
    low->param_offset = ys_alloc(params, sizeof *low->param_offset);
    low->param_given = ys_alloc(params, sizeof *low->param_given);
    low->param_size = ys_alloc(params, sizeof *low->param_size);
    low->ranges = ys_alloc(params, sizeof *low->ranges);
    if (!low->node_live || !low->value_gradient || !low->value_reads || !low->value_reader || !low->value ||
        !low->gradient || !low->carried || !low->cached || !low->param_offset || !low->param_size || !low->ranges ||
        !low->param_given || !low->integer)
        return ys_out_of_memory();
    low->real_size = low->config.precision == YS_ENGINE_F64 ? sizeof(double) : sizeof(float);
    low->logits = low->loss = low->cotangent = low->input_gradient = low->weights = low->gradients = low->state1 =
        low->state2 = -1;
    return YS_OK;
}

static ys_status make_io_buffers(struct ys_lowering *low)
{
    const struct ys_graph *g = low->graph;
    const struct ys_rows rows = ys_graph_rows(g);
    size_t batch = (size_t)low->config.batch, row = (size_t)ys_row_elements(&rows.inputs[0]);
    low->targets = low->config.batch * ys_graph_positions(g);
    low->classes = ys_value_row_elements(&g->values[g->output]) / ys_graph_positions(g);
    for (size_t i = 0; i < rows.input_count; i++)
        YS_TRY(ys_program_buffer(low->program, batch * ys_row_bytes(&rows.inputs[i]), true, &low->inputs[i]));
    YS_TRY(ys_program_buffer(low->program, batch * ys_row_bytes(&rows.target), true, &low->labels));
    YS_TRY(ys_program_buffer(low->program, (size_t)(low->targets * low->classes) * low->real_size, true, &low->logits));
    YS_TRY(ys_program_buffer(low->program, low->real_size, true, &low->loss));
    if (low->only_inputs)
        YS_TRY(ys_program_buffer(low->program, (size_t)(low->targets * low->classes) * low->real_size, true,
                                 &low->cotangent));
    if (low->config.input_gradient)
        YS_TRY(ys_program_buffer(low->program, batch * row * low->real_size, true, &low->input_gradient));
    return YS_OK;
}

static ys_status make_carried_buffers(struct ys_lowering *low)
{
    for (size_t i = 0; i < low->graph->node_count; i++) {
        const struct ys_node *node = &low->graph->nodes[i];
        const size_t arrays = low->graph->carries_state ? 2 * (size_t)ys_node_states(node) : 0;
        low->carried[i] = -1;
        if (arrays > 0)
            YS_TRY(ys_program_buffer(low->program, arrays * ys_lower_carried_elements(low, node) * low->real_size, true,
                                     &low->carried[i]));
    }
    return YS_OK;
}

static ys_status make_caches(struct ys_lowering *low)
{
    for (size_t i = 0; i < low->graph->node_count; i++) {
        const struct ys_node *node = &low->graph->nodes[i];
        low->cached[i] = -1;
        if (low->cache_positions == 0 || node->op != YS_OP_ATTENTION)
            continue;
        const int64_t width = low->graph->values[node->in[1]].shape[2] + low->graph->values[node->in[2]].shape[2];
        YS_TRY(ys_program_buffer(low->program,
                                 (size_t)(low->config.batch * low->cache_positions * width) * low->real_size, true,
                                 &low->cached[i]));
    }
    return YS_OK;
}

size_t ys_lower_carried_elements(const struct ys_lowering *low, const struct ys_node *node)
{
    return (size_t)(low->config.batch * low->graph->values[node->out[0]].shape[2]);
}

/** Places of the parameters in the flat buffers, each on a cache line of its own, and the ranges of the optimizer. */
static ys_status make_param_buffers(struct ys_lowering *low)
{
    size_t line = YS_ALIGNMENT / low->real_size, end = 0;
    for (size_t p = 0; p < low->graph->param_count; p++) {
        const struct ys_param *param = &low->graph->params[p];
        low->param_offset[p] = end;
        size_t count = (low->param_size[p] + line - 1) / line * line;
        end += count;
        if (param->role != YS_ROLE_WEIGHT)
            continue;
        struct ys_update_range *last = low->range_count ? &low->ranges[low->range_count - 1] : NULL;
        if (last && last->lr_mult == param->lr_mult && last->decay_mult == param->decay_mult &&
            last->first + last->count == low->param_offset[p])
            last->count += count;
        else
            low->ranges[low->range_count++] =
                (struct ys_update_range){low->param_offset[p], count, param->lr_mult, param->decay_mult};
    }
    YS_TRY(ys_program_buffer(low->program, end * low->real_size, true, &low->weights));
    if (!low->config.training || low->only_inputs)
        return YS_OK;
    YS_TRY(ys_program_buffer(low->program, end * low->real_size, true, &low->gradients));
    if (ys_optimizer_has_state1(&low->config.optimizer))
        YS_TRY(ys_program_buffer(low->program, end * low->real_size, true, &low->state1));
    if (ys_optimizer_has_state2(&low->config.optimizer))
        YS_TRY(ys_program_buffer(low->program, end * low->real_size, true, &low->state2));
    return YS_OK;
}

static ys_status copy_run(void *context, void *const *operand)
{
    memcpy(operand[1], operand[0], *(const size_t *)context);
    return YS_OK;
}

/** In place of the gradient that the loss gave the logits. */
static ys_status take_cotangent(struct ys_lowering *low)
{
    const size_t size_bytes = (size_t)(low->targets * low->classes) * low->real_size;
    const struct ys_operand operands[] = {{low->cotangent, 0}, {low->gradient[low->graph->output], 0}};
    return ys_lower_call_own(low, "cotangent", copy_run, &size_bytes, sizeof size_bytes, operands, 2);
}

static ys_status emit(struct ys_lowering *low, const struct ys_backend *backend)
{
    const struct ys_graph *g = low->graph;
    low->segment = YS_SEGMENT_FORWARD;
    for (size_t i = 0; i < g->node_count; i++) {
        low->kind = kind_of(g->nodes[i].op);
        if (low->node_live[i])
            YS_TRY(backend->forward(low, &g->nodes[i]));
    }
    low->kind = YS_CALL_LOSS;
    YS_TRY(backend->loss(low));
    if (!low->config.training)
        return YS_OK;
    low->segment = YS_SEGMENT_BACKWARD;
    if (low->only_inputs)
        YS_TRY(take_cotangent(low));
    for (size_t i = g->node_count; i-- > 0;) {
        const struct ys_node *node = &g->nodes[i];
        bool wanted = false;
        low->kind = kind_of(node->op);
        for (size_t k = 0; k < node->out_count; k++)
            wanted |= low->value_gradient[node->out[k]];
        if (wanted)
            YS_TRY(backend->backward(low, node));
        for (size_t k = 0; k < node->out_count; k++)
            low->gradient[node->out[k]] = -1;
    }
    if (low->only_inputs)
        return YS_OK;
    low->segment = YS_SEGMENT_UPDATE;
    low->kind = YS_CALL_UPDATE;
    return backend->update(low);
}

static ys_status lower(struct ys_lowering *low, const struct ys_backend *backend)
{
    YS_TRY(make_tables(low));
    find_live(low);
    find_wanted_gradients(low);
    YS_TRY(make_io_buffers(low));
    YS_TRY(make_carried_buffers(low));
    YS_TRY(make_caches(low));
    YS_TRY(backend->begin(low));
    YS_TRY(make_param_buffers(low));
    YS_TRY(emit(low, backend));
    return ys_program_plan(low->program, low->config.guarded);
}

ys_status ys_lower_graph(struct ys_lowering *low, const struct ys_backend *backend)
{
    if (backend->enter)
        YS_TRY(backend->enter(low));
    ys_status status = lower(low, backend);
    if (backend->leave)
        backend->leave(low);
    return status;
}

void ys_lower_fini(struct ys_lowering *low, const struct ys_backend *backend)
{
    if (backend && low->state)
        backend->end(low);
    ys_free(low->node_live);
    ys_free(low->value_gradient);
    ys_free(low->value_reads);
    ys_free(low->value_reader);
    ys_free(low->value);
    ys_free(low->integer);
    ys_quant_plan_fini(&low->quant);
    ys_free(low->gradient);
    ys_free(low->carried);
    ys_free(low->cached);
    ys_free(low->param_offset);
    ys_free(low->param_size);
    ys_free(low->param_given);
    ys_free(low->ranges);
}
