#include "graph/compose.h"
#include "base/mem.h"
#include "graph/op.h"
#include <stdio.h>
#include <string.h>

static const char *const loss_names[] = {"softmax_cross_entropy", "nll", "mean_squared_error"};
_Static_assert(sizeof loss_names / sizeof loss_names[0] == YS_LOSS_COUNT, "one name a loss");

const char *ys_loss_name(enum ys_loss loss)
{
    YS_ASSERT((int)loss >= 0 && loss < YS_LOSS_COUNT);
    return loss_names[loss];
}

const char *ys_pad_mode_name(enum ys_pad_mode mode)
{
    static const char *const names[] = {"constant", "reflect", "edge"};
    _Static_assert(sizeof names / sizeof names[0] == YS_PAD_MODE_COUNT, "one name a mode");
    return names[mode];
}

const char *ys_role_name(enum ys_role role)
{
    return role == YS_ROLE_WEIGHT ? "weight" : "buffer";
}

const char *ys_node_param_key(enum ys_node_param which)
{
    static const char *const keys[] = {"weight", "bias", "recurrent", "recurrent_bias", "running_mean", "running_var"};
    _Static_assert(sizeof keys / sizeof keys[0] == YS_NODE_PARAM_COUNT, "one key a parameter");
    return keys[which];
}

int ys_node_param(const struct ys_node *node, enum ys_node_param which)
{
    const int indices[] = {node->weight,         node->bias,         node->recurrent,
                           node->recurrent_bias, node->running_mean, node->running_var};
    return indices[which];
}

int *ys_node_param_place(struct ys_node *node, enum ys_node_param which)
{
    int *const places[] = {&node->weight,         &node->bias,         &node->recurrent,
                           &node->recurrent_bias, &node->running_mean, &node->running_var};
    return places[which];
}

/** Makes room for one more entry; capacities are powers of two, so that the count alone tells when an array is full. */
static ys_status grow(void **array, size_t count, size_t entry_size)
{
    if (count >= INT32_MAX / 2)
        return ys_fail(YS_EFORMAT, "a graph of more than %zu parts", count);
    if (count & (count - 1))
        return YS_OK;
    void *larger = ys_realloc(*array, count ? 2 * count : 1, entry_size);
    if (!larger)
        return ys_out_of_memory();
    *array = larger;
    return YS_OK;
}

ys_status ys_compose_new(const char *name, struct ys_graph **graph)
{
    struct ys_graph *fresh = ys_alloc(1, sizeof *fresh);
    if (fresh) {
        fresh->name = ys_strdup(name);
        fresh->output = -1;
    }
    if (!fresh || !fresh->name) {
        ys_graph_free(fresh);
        return ys_out_of_memory();
    }
    *graph = fresh;
    return YS_OK;
}

ys_status ys_compose_value(struct ys_graph *graph, const char *name, int *index)
{
    void *array = graph->values;
    YS_TRY(grow(&array, graph->value_count, sizeof *graph->values));
    graph->values = array;
    char *copy = ys_strdup(name);
    if (!copy)
        return ys_out_of_memory();
    graph->values[graph->value_count] = (struct ys_value){.name = copy, .dtype = YS_F32, .producer = -1};
    *index = (int)graph->value_count++;
    return YS_OK;
}

ys_status ys_compose_param(struct ys_graph *graph, const struct ys_param *param, int *index)
{
    void *array = graph->params;
    YS_TRY(grow(&array, graph->param_count, sizeof *graph->params));
    graph->params = array;
    char *copy = ys_strdup(param->name);
    if (!copy)
        return ys_out_of_memory();
    graph->params[graph->param_count] = *param;
    graph->params[graph->param_count].name = copy;
    *index = (int)graph->param_count++;
    return YS_OK;
}

/** What an attribute is where a file may leave it out; of those that it may not, nothing is asked. */
static void set_usual(struct ys_node *node)
{
    if (ys_node_window(node))
        node->window = (struct ys_window){.kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .group = 1};
    if (node->op == YS_OP_ATTENTION)
        node->attention = (struct ys_attention){.heads = 1, .kv_heads = 1};
    if (node->op == YS_OP_ROTARY || node->op == YS_OP_SINUSOID)
        node->rotary = (struct ys_rotary){.heads = 1, .base = 10000};
}

ys_status ys_compose_node(struct ys_graph *graph, enum ys_op op, const char *name, int *index)
{
    void *array = graph->nodes;
    YS_TRY(grow(&array, graph->node_count, sizeof *graph->nodes));
    graph->nodes = array;
    char *copy = ys_strdup(name);
    if (!copy)
        return ys_out_of_memory();
    graph->nodes[graph->node_count] = (struct ys_node){
        .op = op,
        .name = copy,
        .weight = -1,
        .bias = -1,
        .recurrent = -1,
        .recurrent_bias = -1,
        .running_mean = -1,
        .running_var = -1,
    };
    set_usual(&graph->nodes[graph->node_count]);
    *index = (int)graph->node_count++;
    return YS_OK;
}

static void free_attrs(struct ys_node *node)
{
    for (const struct ys_attr *attr = ys_op_rule(node->op)->attrs; attr->name; attr++) {
        char *place = (char *)node + attr->offset;
        if (attr->kind == YS_ATTR_CHANNEL_REALS)
            ys_free(*(double **)place);
        else if (attr->kind == YS_ATTR_CONNECTIONS)
            ys_free(*(unsigned char **)place);
    }
}

void ys_graph_free(struct ys_graph *graph)
{
    if (!graph)
        return;
    for (size_t i = 0; i < graph->value_count; i++)
        ys_free(graph->values[i].name);
    for (size_t i = 0; i < graph->node_count; i++) {
        ys_free(graph->nodes[i].name);
        free_attrs(&graph->nodes[i]);
    }
    for (size_t i = 0; i < graph->param_count; i++)
        ys_free(graph->params[i].name);
    ys_free(graph->values);
    ys_free(graph->nodes);
    ys_free(graph->params);
    ys_free(graph->name);
    ys_free(graph);
}

const char *ys_shape_text(const int64_t *shape, size_t rank, char text[YS_SHAPE_TEXT])
{
    size_t used = (size_t)snprintf(text, YS_SHAPE_TEXT, "[");
    for (size_t i = 0; i < rank && used < YS_SHAPE_TEXT; i++) {
        const char *comma = i ? "," : "";
        int added = shape[i] == YS_BATCH
                        ? snprintf(text + used, YS_SHAPE_TEXT - used, "%sN", comma)
                        : snprintf(text + used, YS_SHAPE_TEXT - used, "%s%lld", comma, (long long)shape[i]);
        used += (size_t)added;
    }
    if (used < YS_SHAPE_TEXT)
        snprintf(text + used, YS_SHAPE_TEXT - used, "]");
    return text;
}

static int64_t product(const int64_t *shape, size_t from, size_t rank)
{
    int64_t elements = 1;
    for (size_t i = from; i < rank; i++)
        elements *= shape[i];
    return elements;
}

int ys_graph_input_of(const struct ys_graph *graph, int value)
{
    for (size_t i = 0; i < graph->input_count; i++)
        if (graph->inputs[i] == value)
            return (int)i;
    return -1;
}

int64_t ys_graph_positions(const struct ys_graph *graph)
{
    const struct ys_value *output = &graph->values[graph->output];
    return graph->target == YS_TARGET_CLASSES ? product(output->shape, 1, output->rank - 1) : 1;
}

static struct ys_row_array row_array(const char *name, enum ys_dtype dtype, const struct ys_value *value, size_t rank)
{
    struct ys_row_array array = {.dtype = dtype, .rank = rank};
    snprintf(array.name, sizeof array.name, "%s", name);
    memcpy(array.shape, value->shape + 1, rank * sizeof *array.shape);
    return array;
}

/* Whether some node leaves out what its tokens say. */
static bool is_padded(const struct ys_graph *graph, int input)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (ys_node_tokens(&graph->nodes[i]) == input)
            return true;
    return false;
}

/* What the smallest embedding that reads the input has; 0 where none does. */
static int64_t vocabulary_of(const struct ys_graph *graph, int input)
{
    int64_t below = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct ys_node *node = &graph->nodes[i];
        if (node->op != YS_OP_EMBEDDING || node->in[0] != input)
            continue;
        const int64_t rows = graph->params[node->weight].shape[0];
        below = below == 0 || rows < below ? rows : below;
    }
    return below;
}

struct ys_rows ys_graph_rows(const struct ys_graph *graph)
{
    const struct ys_value *output = &graph->values[graph->output];
    bool is_vector = graph->target == YS_TARGET_VECTOR;
    struct ys_rows rows = {.unit = "rows", .input_count = graph->input_count, .kind = graph->target};
    for (size_t i = 0; i < graph->input_count; i++) {
        const struct ys_value *input = &graph->values[graph->inputs[i]];
        rows.inputs[i] = row_array(input->name, input->dtype, input, input->rank - 1);
        rows.inputs[i].below = vocabulary_of(graph, graph->inputs[i]);
        rows.inputs[i].padded = rows.inputs[i].below != 1 && is_padded(graph, graph->inputs[i]);
    }
    rows.target = row_array(YS_TARGET_NAME, is_vector ? YS_F32 : YS_I64, output, output->rank - (is_vector ? 1 : 2));
    rows.classes = is_vector ? 0 : output->shape[output->rank - 1];
    return rows;
}

int ys_param_readers(const struct ys_graph *graph, int param)
{
    int readers = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        for (int which = 0; which < YS_NODE_PARAM_COUNT; which++)
            readers += ys_node_param(&graph->nodes[i], (enum ys_node_param)which) == param;
    return readers;
}

int64_t ys_param_elements(const struct ys_param *p)
{
    return product(p->shape, 0, p->rank);
}

int64_t ys_value_row_elements(const struct ys_value *v)
{
    return product(v->shape, 1, v->rank);
}

const unsigned char *ys_param_connections(const struct ys_graph *graph, size_t param)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].weight == (int)param && ys_node_connections(&graph->nodes[i]))
            return graph->nodes[i].connected;
    return NULL;
}

void ys_param_clear_absent(const struct ys_graph *graph, size_t param, size_t element_bytes, void *values)
{
    const unsigned char *connected = ys_param_connections(graph, param);
    const int64_t *shape = graph->params[param].shape;
    if (!connected)
        return;
    size_t kernel_bytes = (size_t)(shape[2] * shape[3]) * element_bytes;
    for (int64_t pair = 0; pair < shape[0] * shape[1]; pair++)
        if (!connected[pair])
            memset((unsigned char *)values + (size_t)pair * kernel_bytes, 0, kernel_bytes);
}

/** Pairs of an output channel and an input channel of its group between which a convolution has weights. */
static int64_t connected_pairs(const struct ys_node *node, const struct ys_param *weight)
{
    int64_t all = weight->shape[0] * weight->shape[1], connected = 0;
    if (!node->connected)
        return all;
    for (int64_t pair = 0; pair < all; pair++)
        connected += node->connected[pair];
    return connected;
}

bool ys_param_is_trained(const struct ys_param *param)
{
    return param->role == YS_ROLE_WEIGHT && (param->lr_mult != 0 || param->decay_mult != 0);
}

int64_t ys_graph_parameter_count(const struct ys_graph *graph)
{
    int64_t count = 0;
    for (size_t i = 0; i < graph->param_count; i++)
        if (ys_param_is_trained(&graph->params[i]))
            count += ys_param_elements(&graph->params[i]);
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct ys_node *node = &graph->nodes[i];
        if (!ys_node_connections(node) || !ys_param_is_trained(&graph->params[node->weight]))
            continue;
        const struct ys_param *weight = &graph->params[node->weight];
        int64_t absent = weight->shape[0] * weight->shape[1] - connected_pairs(node, weight);
        count -= absent * node->window.kernel[0] * node->window.kernel[1];
    }
    return count;
}

/* Conv: every output element sums over a window of the input channels that its channel sees. Gemm: over its inputs. */
int64_t ys_compose_count_product(const struct ys_graph *graph, const struct ys_node *node)
{
    const struct ys_param *weight = &graph->params[node->weight];
    const struct ys_value *out = &graph->values[node->out[0]];
    if (node->op == YS_OP_GEMM)
        return product(out->shape, 1, out->rank) * weight->shape[1];
    return product(out->shape, 2, out->rank) * connected_pairs(node, weight) * product(weight->shape, 2, weight->rank);
}

/* Every query meets every key, and every position of the result every value, hidden ones too. */
int64_t ys_compose_count_attention(const struct ys_graph *graph, const struct ys_node *node)
{
    const int64_t keys = graph->values[node->in[1]].shape[1];
    return keys *
           (ys_value_row_elements(&graph->values[node->in[0]]) + ys_value_row_elements(&graph->values[node->out[0]]));
}

int64_t ys_compose_count_matmul(const struct ys_graph *graph, const struct ys_node *node)
{
    const struct ys_value *a = &graph->values[node->in[0]];
    return ys_value_row_elements(&graph->values[node->out[0]]) * a->shape[a->rank - 1];
}

/* Every position meets both weights, the first one too, whose state is zero. */
int64_t ys_compose_count_recurrent(const struct ys_graph *graph, const struct ys_node *node)
{
    return graph->values[node->in[0]].shape[1] *
           (ys_param_elements(&graph->params[node->weight]) + ys_param_elements(&graph->params[node->recurrent]));
}

/* Every element of the input meets all weights of its channel. */
int64_t ys_compose_count_transposed(const struct ys_graph *graph, const struct ys_node *node)
{
    const struct ys_param *weight = &graph->params[node->weight];
    return ys_value_row_elements(&graph->values[node->in[0]]) * product(weight->shape, 1, weight->rank);
}

int64_t ys_node_multiply_adds(const struct ys_graph *graph, const struct ys_node *node)
{
    const struct ys_op_rule *rule = ys_op_rule(node->op);
    return rule->multiply_adds ? rule->multiply_adds(graph, node) : 0;
}

int ys_node_states(const struct ys_node *node)
{
    return node->op == YS_OP_LSTM ? 2 : node->op == YS_OP_GRU ? 1 : 0;
}

int ys_node_tokens(const struct ys_node *node)
{
    if (node->op == YS_OP_LAST)
        return node->in[1];
    return node->op == YS_OP_ATTENTION && node->in_count > 3 ? node->in[3] : -1;
}

bool ys_graph_has(const struct ys_graph *graph, enum ys_op op)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].op == op)
            return true;
    return false;
}

bool ys_graph_is_recurrent(const struct ys_graph *graph)
{
    return ys_graph_has(graph, YS_OP_LSTM) || ys_graph_has(graph, YS_OP_GRU);
}

int64_t ys_graph_multiply_adds(const struct ys_graph *graph)
{
    int64_t sum = 0;
    for (size_t i = 0; i < graph->node_count; i++)
        sum += ys_node_multiply_adds(graph, &graph->nodes[i]);
    return sum;
}
