#include "quant/layer_network.h"

#include "base/mem.h"
#include "base/rng.h"
#include "graph/builder.h"
#include "quant/exact_operator.h"
#include "quant/quant_plan.h"
#include "quant/rounding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { JOINED_MOST = 100, SPLIT_MOST = YS_NODE_MAX_OUT, TIES = 256, PAIRS = 64, LONG = 32768, MADE_OUT = 8 };

/* Something that an operator reads: a part of the input. */
struct operand {
    int64_t length;
    const struct ys_value *shape; /* of the folded network; NULL: (N, length) */
    double scale;
    int zero_point;
    int *steps;     /* [rows, length] */
    float *numbers; /* likewise; what the input has */
    int value;      /* of the graph that is made */
};

struct layer_maker {
    const struct ys_folded *folded;
    const struct ys_scales *scales;
    struct ys_quant_plan plan;
    ys_layer_values values;
    void *context;
    struct ys_layer_network *made;
    struct ys_build *build;
    struct operand *operands;
    size_t operand_count, next; /* `next` is the first of the operator at hand */
    int *results;               /* [made->count]: values that are shown */
    char **weight_names;        /* of those below, in the order in which they were given */
    float **weights;
    size_t weight_count;
};

void ys_layer_network_fini(struct ys_layer_network *network)
{
    for (size_t i = 0; network->graph && network->values && i < network->graph->param_count; i++)
        ys_free(network->values[i]);
    for (size_t i = 0; i < network->count; i++) {
        ys_free(network->items[i].name);
        ys_free(network->items[i].exact);
        ys_free(network->items[i].size);
    }
    ys_free(network->values);
    ys_free(network->items);
    ys_free(network->x);
    ys_scales_fini(&network->scales);
    ys_graph_free(network->graph);
    *network = (struct ys_layer_network){0};
}

/* Whether an operator of the network is looked at. */
static bool is_shown(const struct layer_maker *m, size_t index)
{
    const struct ys_node *node = &m->folded->graph->nodes[index];
    const enum ys_quant_way way = m->plan.nodes[index].way;
    const bool chooses = way == YS_QUANT_PASSED_ON && (node->op == YS_OP_MAXPOOL || node->op == YS_OP_GLOBAL_MAXPOOL);
    return (way == YS_QUANT_IN_INTEGER || chooses) && ys_exact_has(node);
}

static bool is_product(const struct ys_node *node)
{
    return node->op == YS_OP_CONV || node->op == YS_OP_GEMM;
}

static const struct ys_activation_scale *scale_of(const struct layer_maker *m, int value)
{
    return ys_scales_of_value(m->scales, m->folded->graph->values[m->plan.scale_of[value]].name);
}

static struct operand *add_operand(struct layer_maker *m, int64_t length, double scale, int zero_point)
{
    struct operand *operand = &m->operands[m->operand_count++];
    const size_t count = (size_t)(m->made->rows * length);
    *operand = (struct operand){.length = length, .scale = scale, .zero_point = zero_point};
    operand->steps = ys_alloc(count, sizeof *operand->steps);
    operand->numbers = ys_alloc(count, sizeof *operand->numbers);
    return operand;
}

static void set_number(struct operand *operand, int64_t at, int steps)
{
    operand->steps[at] = steps;
    operand->numbers[at] = (float)(operand->scale * steps);
}

/* A value of the network, as its integers stand for it: who multiplies by 1 / scale and who divides find the same. */
static ys_status add_value(struct layer_maker *m, int value)
{
    const struct ys_value *shape = &m->folded->graph->values[value];
    const struct ys_activation_scale *at = scale_of(m, value);
    const int64_t length = ys_value_row_elements(shape);
    struct operand *operand = add_operand(m, length, at->scale, (int)at->zero_point);
    operand->shape = shape;
    for (int64_t row = 0; row < m->made->rows; row++) {
        const double *numbers = m->values(m->context, value, row);
        if (!numbers)
            return ys_fail(YS_ENOTFOUND, "nothing is known of the numbers of %s", shape->name);
        for (int64_t i = 0; i < length; i++)
            set_number(operand, row * length + i,
                       ys_quant_u8(numbers[i], operand->scale, operand->zero_point) - operand->zero_point);
    }
    return YS_OK;
}

/* The operands of the made operators, in their order. */
static void add_made(struct layer_maker *m)
{
    struct ys_rng rng;
    ys_rng_init(&rng, 0, "numbers of made sums");
    struct operand *ties = add_operand(m, TIES, 0.125, 128);
    struct operand *requant = add_operand(m, TIES, 0.125, 128);
    struct operand *pairs = add_operand(m, PAIRS, 0x1p-8, 0);
    struct operand *sums = add_operand(m, LONG, 0x1p-8, 0);
    for (int64_t row = 0; row < m->made->rows; row++) {
        for (int64_t i = 0; i < TIES; i++) {
            ties->numbers[row * TIES + i] = (float)(0.125 * ((double)i - 128 + 0.5));
            set_number(requant, row * TIES + i, (int)i - 128);
        }
        for (int64_t i = 0; i < PAIRS; i++)
            set_number(pairs, row * PAIRS + i, 255);
        for (int64_t i = 0; i < LONG / 4; i++) { /* as much stands two numbers, and half of all of them, further on */
            const int steps = 129 + 2 * (int)(ys_rng_uniform(&rng) * 63);
            for (int64_t k = 0; k < 4; k++)
                set_number(sums, row * LONG + 2 * i + k % 2 + k / 2 * (LONG / 2), steps);
        }
    }
}

/* ---- the graph */

/* Parts of `value`, (N, all of them), for the operands from `first` on. */
static void split(struct layer_maker *m, int value, size_t first, size_t count)
{
    char name[32];
    if (count == 1) {
        m->operands[first].value = value;
        return;
    }
    struct ys_node node = {.op = YS_OP_SPLIT, .axis = 1};
    size_t starts[SPLIT_MOST + 1];
    node.out_count = count < SPLIT_MOST ? count : SPLIT_MOST;
    for (size_t k = 0; k <= node.out_count; k++)
        starts[k] = first + count * k / node.out_count;
    for (size_t k = 0; k < node.out_count; k++)
        for (size_t i = starts[k]; i < starts[k + 1]; i++)
            node.split[k] += m->operands[i].length;
    snprintf(name, sizeof name, "part_%zu_%zu", first, count);
    const int made = ys_build_node(m->build, &node, &value, 1, name);
    for (size_t k = 0; made >= 0 && k < node.out_count; k++)
        split(m, made + (int)k, starts[k], starts[k + 1] - starts[k]);
}

static int reshape(struct layer_maker *m, int in, const int64_t *shape, size_t rank, const char *name)
{
    struct ys_node node = {.op = YS_OP_RESHAPE, .out_count = 1, .shape_rank = rank};
    memcpy(node.shape, shape, rank * sizeof *shape);
    node.shape[0] = YS_BATCH;
    return ys_build_node(m->build, &node, &in, 1, name);
}

static void add_scale(struct layer_maker *m, const char *name, double scale, int zero_point)
{
    struct ys_activation_scale *at = ys_scales_add_activation(&m->made->scales);
    at->value = ys_strdup(name);
    at->scale = scale;
    at->zero_point = zero_point;
}

/* The weight of the node called `name`: a copy of its values, with scales of its own; `scale` where they are all one.
 */
static void add_weight(struct layer_maker *m, const char *name, const char *what, const float *values, int64_t count)
{
    m->weight_names[m->weight_count] = ys_format("%s.%s", name, what);
    float *copy = m->weights[m->weight_count++] = ys_alloc((size_t)count, sizeof *copy);
    memcpy(copy, values, (size_t)count * sizeof *copy);
}

static void add_weight_scales(struct layer_maker *m, const char *name, const double *scales, size_t given,
                              int64_t channels)
{
    struct ys_weight_scale *at = ys_scales_add_weight(&m->made->scales);
    const size_t count = m->scales->rule.scheme == YS_QUANT_PER_CHANNEL ? (size_t)channels : 1;
    double *items = ys_alloc(count, sizeof *items);
    for (size_t i = 0; i < count; i++)
        items[i] = scales[given == 1 ? 0 : i];
    at->param = ys_format("%s.weight", name);
    at->scales = (struct ys_list){items, count};
}

/* A convolution of each channel by itself, by one number: `weight` is 32 steps. */
static int by_channel(struct layer_maker *m, int in, int64_t channels, float weight, const char *name)
{
    struct ys_window window = ys_build_window(1, 1, 0);
    const double scale = (double)weight / 32;
    float *values = ys_alloc((size_t)channels, sizeof *values);
    window.group = channels;
    for (int64_t i = 0; i < channels; i++)
        values[i] = weight;
    const int made = ys_build_conv_window(m->build, in, channels, &window, NULL, false, name);
    add_weight(m, name, "weight", values, channels);
    add_weight_scales(m, name, &scale, 1, channels);
    ys_free(values);
    return made;
}

/* What is shown next: `value`, called `name`. */
static struct ys_shown_layer *show(struct layer_maker *m, enum ys_layer_kind kind, int value, const char *name,
                                   const char *op, int64_t length, double scale, int zero_point)
{
    struct ys_shown_layer *layer = &m->made->items[m->made->count];
    const size_t count = (size_t)(m->made->rows * length);
    m->results[m->made->count++] = value;
    *layer = (struct ys_shown_layer){.kind = kind,
                                     .name = ys_strdup(name),
                                     .op = op,
                                     .length = length,
                                     .scale = scale,
                                     .zero_point = zero_point,
                                     .high = UINT8_MAX,
                                     .exact = ys_alloc(count, sizeof *layer->exact),
                                     .size = ys_alloc(count, sizeof *layer->size)};
    return layer;
}

/* The operand in the form that its reader has it, a quantised value where that is a product. */
static int form(struct layer_maker *m, struct operand *operand, size_t index)
{
    char name[32];
    const int64_t flat[] = {YS_BATCH, operand->length};
    const struct ys_value *shape = operand->shape;
    snprintf(name, sizeof name, "operand_%zu", index);
    add_scale(m, name, operand->scale, operand->zero_point);
    return reshape(m, operand->value, shape ? shape->shape : flat, shape ? shape->rank : 2, name);
}

/* The operand as a value in integers, whoever reads it: behind a product by one, which is shown too. */
static int integers(struct layer_maker *m, struct operand *operand, size_t index, enum ys_layer_kind kind, float weight,
                    const char *what)
{
    char name[32], of_operand[32];
    const struct ys_value *shape = operand->shape;
    const bool is_image = shape && shape->rank == 4;
    const int64_t image[] = {YS_BATCH, operand->length, 1, 1};
    snprintf(of_operand, sizeof of_operand, "operand_%zu", index);
    snprintf(name, sizeof name, "one_%zu", index);
    int value = is_image ? reshape(m, operand->value, shape->shape, 4, of_operand)
                         : reshape(m, operand->value, image, 4, of_operand);
    add_scale(m, of_operand, operand->scale, operand->zero_point);
    value = by_channel(m, value, is_image ? shape->shape[1] : operand->length, weight, name);
    add_scale(m, name, operand->scale, operand->zero_point);
    struct ys_shown_layer *layer =
        show(m, kind, value, what, "QuantizeLinear", operand->length, operand->scale, operand->zero_point);
    for (int64_t i = 0; i < m->made->rows * operand->length; i++)
        layer->size[i] = fabs(layer->exact[i] = (double)weight * operand->steps[i]);
    layer->no_band = kind != YS_LAYER_OPERAND;
    if (is_image || !shape)
        return value;
    snprintf(name, sizeof name, "back_%zu", index);
    return reshape(m, value, shape->shape, shape->rank, name);
}

/* What each row of an operator comes to. */
static void put_exact(struct layer_maker *m, const struct ys_node *node, const struct operand *operands,
                      const struct ys_activation_scale *result, struct ys_shown_layer *layer)
{
    const struct ys_activation_scale *in[YS_NODE_MAX_IN];
    const int *steps[YS_NODE_MAX_IN];
    struct ys_exact_operator op = {.graph = m->folded->graph,
                                   .node = node,
                                   .limit = ys_quant_weight_limit(m->scales->rule.range),
                                   .in = in,
                                   .result = result,
                                   .steps = steps};
    if (is_product(node)) {
        op.weight = m->folded->values[node->weight];
        op.bias = node->bias >= 0 ? m->folded->values[node->bias] : NULL;
        op.of_weight = ys_scales_of_param(m->scales, m->folded->graph->params[node->weight].name);
    }
    for (int64_t row = 0; row < m->made->rows; row++) {
        for (size_t k = 0; k < node->in_count; k++) {
            in[k] = scale_of(m, node->in[k]);
            steps[k] = operands[k].steps + row * operands[k].length;
        }
        ys_exact_row(&op, layer->exact + row * layer->length, layer->size + row * layer->length);
    }
}

static int put_product(struct layer_maker *m, const struct ys_node *node, int in)
{
    const struct ys_graph *graph = m->folded->graph;
    const struct ys_param *weight = &graph->params[node->weight];
    const struct ys_weight_scale *scales = ys_scales_of_param(m->scales, weight->name);
    const bool has_bias = node->bias >= 0;
    const int made = node->op == YS_OP_CONV ? ys_build_conv_window(m->build, in, weight->shape[0], &node->window,
                                                                   ys_node_connections(node), has_bias, node->name)
                     : has_bias             ? ys_build_gemm(m->build, in, weight->shape[0], node->name)
                                            : ys_build_gemm_plain(m->build, in, weight->shape[0], node->name);
    add_weight(m, node->name, "weight", m->folded->values[node->weight], ys_param_elements(weight));
    if (has_bias)
        add_weight(m, node->name, "bias", m->folded->values[node->bias], weight->shape[0]);
    add_weight_scales(m, node->name, scales->scales.items, scales->scales.count, weight->shape[0]);
    return made;
}

/* An operator of the network, with the one that is joined with it. */
static void put_operator(struct layer_maker *m, size_t index)
{
    const struct ys_graph *graph = m->folded->graph;
    const struct ys_node *node = &graph->nodes[index];
    const int joins = m->plan.nodes[index].joins, result = ys_quant_result(graph, &m->plan, node);
    const struct ys_activation_scale *at = scale_of(m, result);
    struct operand *operands = &m->operands[m->next];
    int in[YS_NODE_MAX_IN], value;
    for (size_t k = 0; k < node->in_count; k++) {
        char *what = ys_format("input %zu of %s", k, node->name);
        in[k] = is_product(node) ? form(m, &operands[k], m->next + k)
                                 : integers(m, &operands[k], m->next + k, YS_LAYER_OPERAND, 1, what);
        ys_free(what);
    }
    value =
        is_product(node) ? put_product(m, node, in[0]) : ys_build_node(m->build, node, in, node->in_count, node->name);
    if (joins >= 0)
        value = ys_build_node(m->build, &graph->nodes[joins], &value, 1, graph->nodes[joins].name);
    if (m->plan.nodes[index].way == YS_QUANT_IN_INTEGER)
        add_scale(m, joins >= 0 ? graph->nodes[joins].name : node->name, at->scale, (int)at->zero_point);
    struct ys_shown_layer *layer = show(m, YS_LAYER_OPERATOR, value, node->name, ys_op_name(node->op),
                                        ys_value_row_elements(&graph->values[result]), at->scale, (int)at->zero_point);
    ys_quant_ends(graph, &m->plan, node, at, &layer->low, &layer->high);
    put_exact(m, node, operands, at, layer);
    m->next += node->in_count;
}

/* Weights of the made sums, [MADE_OUT, count] in steps. */
static void draw_weights(int64_t count, int limit, bool is_long, float scale, float *weights)
{
    struct ys_rng rng;
    ys_rng_init(&rng, 0, "weights of made sums");
    for (int64_t o = 0; o < MADE_OUT; o++)
        for (int64_t i = 0; i < count; i++) {
            const int64_t half = count / 2, twin = o % 2 ? i % half : i / 2 * 2; /* of the same number, other sign */
            const bool is_negative = o % 2 ? i >= half : i % 2;
            float *at = &weights[o * count + i];
            if (!is_long)
                *at = scale * (float)limit;
            else if (is_negative)
                *at = -weights[o * count + twin];
            else
                *at = scale * (float)(limit - 2 * (int)(ys_rng_uniform(&rng) * 16));
        }
}

/* Sums that are known: of pairs 64 * 255 * limit steps, of long ones 0. */
static void put_made_sums(struct layer_maker *m, enum ys_layer_kind kind, int64_t count, const char *name,
                          const char *what)
{
    const int limit = ys_quant_weight_limit(m->scales->rule.range), zero_point = kind == YS_LAYER_PAIRS ? 0 : 128;
    const double step = 0x1p-7, scale = kind == YS_LAYER_PAIRS ? 0.25 : 0x1p-15;
    float *weights = ys_alloc((size_t)(MADE_OUT * count), sizeof *weights);
    struct operand *operand = &m->operands[m->next];
    const int value = ys_build_gemm_plain(m->build, form(m, operand, m->next), MADE_OUT, name);
    draw_weights(count, limit, kind == YS_LAYER_LONG_SUMS, (float)step, weights);
    add_weight(m, name, "weight", weights, MADE_OUT * count);
    add_weight_scales(m, name, &step, 1, MADE_OUT);
    add_scale(m, name, scale, zero_point);
    struct ys_shown_layer *layer = show(m, kind, value, what, "Gemm", MADE_OUT, scale, zero_point);
    layer->no_band = true;
    for (int64_t i = 0; i < m->made->rows * MADE_OUT; i++)
        layer->size[i] = layer->exact[i] =
            kind == YS_LAYER_PAIRS ? (double)count * 255 * limit * operand->scale * step / scale : 0;
    ys_free(weights);
    m->next++;
}

static void put_made(struct layer_maker *m)
{
    integers(m, &m->operands[m->next], m->next, YS_LAYER_TIES, 1, "numbers halfway between two steps");
    for (int64_t i = 0; i < m->made->rows * TIES; i++) {
        struct ys_shown_layer *layer = &m->made->items[m->made->count - 1];
        layer->exact[i] = (double)m->operands[m->next].numbers[i] / m->operands[m->next].scale;
    }
    m->next++;
    integers(m, &m->operands[m->next], m->next, YS_LAYER_REQUANT, 0.5F, "results halfway between two steps");
    m->next++;
    put_made_sums(m, YS_LAYER_PAIRS, PAIRS, "made_pairs", "sums of pairs of large products");
    put_made_sums(m, YS_LAYER_LONG_SUMS, LONG, "made_long", "sums that float32 does not hold");
}

/* ---- the output */

/* Joins what is shown, with a number of the input before each lot: so that they are joined as numbers, and not as
 * integers of one scale. */
static int join(struct layer_maker *m, int spare)
{
    int lots[YS_NODE_MAX_IN], in[YS_NODE_MAX_IN];
    size_t lot_count = 0;
    char name[32];
    int64_t offset = 0;
    const struct ys_node concat = {.op = YS_OP_CONCAT, .out_count = 1, .axis = 1};
    for (size_t first = 0; first < m->made->count; first += JOINED_MOST, lot_count++) {
        size_t count = 0;
        in[count++] = spare;
        offset++;
        for (size_t i = first; i < m->made->count && i < first + JOINED_MOST; i++) {
            snprintf(name, sizeof name, "shown_%zu", i);
            in[count++] = ys_build_flatten(m->build, m->results[i], name);
            m->made->items[i].offset = offset;
            offset += m->made->items[i].length;
        }
        snprintf(name, sizeof name, "lot_%zu", lot_count);
        lots[lot_count] = ys_build_node(m->build, &concat, in, count, name);
    }
    m->made->columns = offset;
    return lot_count == 1 ? lots[0] : ys_build_node(m->build, &concat, lots, lot_count, "lots");
}

static void put_input(struct layer_maker *m, int64_t total)
{
    m->made->x = ys_alloc((size_t)(m->made->rows * total), sizeof *m->made->x);
    for (int64_t row = 0; row < m->made->rows; row++) {
        float *at = m->made->x + row * total;
        for (size_t i = 0; i < m->operand_count; i++) {
            const struct operand *operand = &m->operands[i];
            memcpy(at, operand->numbers + row * operand->length, (size_t)operand->length * sizeof *at);
            at += operand->length;
        }
    }
}

/* The weights in the order of the graph's parameters. */
static void order_weights(struct layer_maker *m)
{
    const struct ys_graph *graph = m->made->graph;
    m->made->values = ys_alloc(graph->param_count, sizeof *m->made->values);
    for (size_t p = 0; p < graph->param_count; p++)
        for (size_t w = 0; w < m->weight_count; w++)
            if (m->weights[w] && strcmp(graph->params[p].name, m->weight_names[w]) == 0) {
                m->made->values[p] = m->weights[w];
                m->weights[w] = NULL;
            }
}

static ys_status build(struct layer_maker *m)
{
    const struct ys_graph *graph = m->folded->graph;
    int64_t total = 0;
    for (size_t i = 0; i < m->operand_count; i++)
        total += m->operands[i].length;
    YS_TRY(ys_build_new("layers", &total, 1, YS_F32, &m->build));
    split(m, ys_build_input(m->build), 0, m->operand_count);
    m->next = 1;
    for (size_t i = 0; i < graph->node_count; i++)
        if (is_shown(m, i))
            put_operator(m, i);
    put_made(m);
    const int output = join(m, m->operands[0].value);
    YS_TRY(ys_build_finish(m->build, output, &m->made->graph));
    order_weights(m);
    put_input(m, total);
    return YS_OK;
}

static ys_status make(struct layer_maker *m)
{
    const struct ys_graph *graph = m->folded->graph;
    size_t most = 8;
    for (size_t i = 0; i < graph->node_count; i++)
        most += is_shown(m, i) ? graph->nodes[i].in_count + 1 : 0;
    m->operands = ys_alloc(most, sizeof *m->operands);
    m->results = ys_alloc(most, sizeof *m->results);
    m->made->items = ys_alloc(most, sizeof *m->made->items);
    m->weight_names = ys_alloc(2 * most, sizeof *m->weight_names);
    m->weights = ys_alloc(2 * most, sizeof *m->weights);
    (void)add_operand(m, 1, 1, 0); /* the number between lots */
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; is_shown(m, i) && k < graph->nodes[i].in_count; k++)
            YS_TRY(add_value(m, graph->nodes[i].in[k]));
    add_made(m);
    return build(m);
}

ys_status ys_layer_network_make(const struct ys_folded *folded, const struct ys_scales *scales, int64_t rows,
                                ys_layer_values values, void *context, struct ys_layer_network *made)
{
    struct layer_maker m = {.folded = folded, .scales = scales, .values = values, .context = context, .made = made};
    *made = (struct ys_layer_network){.rows = rows};
    ys_scales_init(&made->scales);
    if (scales->rule.kind != YS_QUANT_STATIC)
        return ys_fail(YS_EUNSUPPORTED, "operators are shown by themselves of rule static alone");
    made->scales.rule = scales->rule;
    YS_TRY(ys_quant_plan_make(folded->graph, &scales->rule, &m.plan));
    ys_status status = ys_quant_plan_check(folded->graph, &m.plan, scales);
    if (status == YS_OK)
        status = make(&m);
    for (size_t i = 0; i < m.operand_count; i++) {
        ys_free(m.operands[i].steps);
        ys_free(m.operands[i].numbers);
    }
    for (size_t i = 0; i < m.weight_count; i++) {
        ys_free(m.weight_names[i]);
        ys_free(m.weights[i]);
    }
    ys_free(m.operands);
    ys_free(m.results);
    ys_free(m.weight_names);
    ys_free(m.weights);
    ys_quant_plan_fini(&m.plan);
    if (status != YS_OK)
        ys_layer_network_fini(made);
    return status;
}
