#include "base/hash.h"
#include "base/mem.h"
#include "onnx/read/reader_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void ys_onnx_name(struct ys_onnx_reading *r, int sort, const char *wanted, char name[YS_GRAPH_MAX_NAME + 1])
{
    char cut[YS_GRAPH_MAX_NAME - 12], digest[YS_SHA256_TEXT];
    size_t length = strlen(wanted);
    snprintf(cut, sizeof cut, "%s", length ? wanted : "_");
    if (length >= sizeof cut) { /* the end of its name is gone: a sum keeps it apart from others */
        size_t kept = sizeof cut - 10;
        while ((wanted[kept] & 0xC0) == 0x80) /* no character in two */
            kept--;
        ys_sha256_text(wanted, length, digest);
        snprintf(cut + kept, sizeof cut - kept, "%.9s", digest);
    }
    snprintf(name, YS_GRAPH_MAX_NAME + 1, "%s", cut);
    int64_t next = ys_json_get_int(r->taken[sort], cut, 2); /* kept: many nodes may have one name */
    const int64_t first = next;
    for (; ys_json_get(r->taken[sort], name) || strcmp(name, "__metadata__") == 0; next++)
        snprintf(name, YS_GRAPH_MAX_NAME + 1, "%s_%lld", cut, (long long)next);
    if (next > first)
        ys_json_set_int(r->taken[sort], cut, next);
    ys_json_set_int(r->taken[sort], name, 2);
}

static ys_status add_outputs(struct ys_onnx_step *step, int node, size_t count, const char *name)
{
    struct ys_graph *graph = step->r->graph;
    char own[YS_GRAPH_MAX_NAME + 1];
    for (size_t k = 0; k < count; k++) {
        int value;
        ys_onnx_name(step->r, YS_ONNX_VALUE_NAME, name ? name : step->node->out[k], own);
        YS_TRY(ys_compose_value(graph, own, &value));
        graph->values[value].producer = node;
        graph->nodes[node].out[graph->nodes[node].out_count++] = value;
    }
    return YS_OK;
}

static ys_status add_node(struct ys_onnx_step *step, enum ys_op op, const char *name, const int *in, size_t in_count,
                          int *node)
{
    struct ys_graph *graph = step->r->graph;
    char own[YS_GRAPH_MAX_NAME + 1];
    if (graph->node_count == YS_GRAPH_MAX_NODES)
        return ys_fail(YS_EUNSUPPORTED, "more than %d nodes", YS_GRAPH_MAX_NODES);
    ys_onnx_name(step->r, YS_ONNX_NODE_NAME, name, own);
    YS_TRY(ys_compose_node(graph, op, own, node));
    graph->nodes[*node].in_count = in_count;
    memcpy(graph->nodes[*node].in, in, in_count * sizeof *in);
    return YS_OK;
}

ys_status ys_onnx_begin(struct ys_onnx_step *step, enum ys_op op, const int *in, size_t in_count, size_t out_count,
                        int *node)
{
    YS_TRY(add_node(step, op, step->node->name, in, in_count, node));
    return add_outputs(step, *node, out_count, NULL);
}

ys_status ys_onnx_begin_extra(struct ys_onnx_step *step, enum ys_op op, int in, const char *suffix, int *node)
{
    char *name = suffix[0] == '/' ? ys_format("%s%s", step->node->name, suffix) : ys_strdup(suffix);
    ys_status status = add_node(step, op, name, &in, 1, node);
    if (status == YS_OK)
        status = add_outputs(step, *node, 1, name);
    ys_free(name);
    return status;
}

static void report_node(struct ys_onnx_reading *r, const struct ys_node *node)
{
    char shape[YS_SHAPE_TEXT];
    const struct ys_value *out = &r->graph->values[node->out[0]];
    ys_json *line = ys_json_object();
    ys_json_set_string(line, "name", node->name);
    ys_json_set_string(line, "op", ys_op_name(node->op));
    ys_json_set_string(line, "shape", ys_shape_text(out->shape, out->rank, shape));
    ys_json_append(r->nodes, line);
}

ys_status ys_onnx_end(struct ys_onnx_reading *r, int node, int *value)
{
    YS_TRY(ys_compose_infer(r->graph, node, r->graph->name));
    *value = r->graph->nodes[node].out[0];
    report_node(r, &r->graph->nodes[node]);
    return YS_OK;
}

void ys_onnx_set(struct ys_onnx_step *step, int value, const struct ys_onnx_slot *like)
{
    step->out->kind = YS_ONNX_LIVE;
    step->out->value = value;
    for (int i = 0; i < YS_MAX_RANK; i++)
        step->out->perm[i] = like ? like->perm[i] : i;
}

void ys_onnx_alias(struct ys_onnx_step *step, const struct ys_onnx_slot *slot)
{
    const struct ys_onnx_slot old = *step->out;
    *step->out = *slot;
    step->out->needed = old.needed;
    step->out->made_by = old.made_by;
    step->out->uses = old.uses;
    step->out->counted = old.counted;
    step->out->feeds_mul = old.feeds_mul;
    step->out->feeds_erf = old.feeds_erf;
}

ys_status ys_onnx_emit(struct ys_onnx_step *step, enum ys_op op, const int *in, size_t in_count,
                       const struct ys_onnx_slot *like)
{
    int node, value;
    YS_TRY(ys_onnx_begin(step, op, in, in_count, 1, &node));
    YS_TRY(ys_onnx_end(step->r, node, &value));
    ys_onnx_set(step, value, like);
    return YS_OK;
}

/* Elements that no bytes of the file stand for: a file of a few hundred bytes may ask for any number of them. */
static ys_status count_beyond(struct ys_onnx_step *step, const char *name, int64_t count)
{
    if (count > YS_ONNX_MAX_BEYOND - step->r->beyond)
        return YS_FAIL_STEP(step,
                            "%.100s would have %lld elements that no bytes of the file stand for: %lld of all such "
                            "parameters are read",
                            name, (long long)count, (long long)YS_ONNX_MAX_BEYOND);
    step->r->beyond += count;
    return YS_OK;
}

static int64_t count_elements(const int64_t *shape, size_t rank)
{
    int64_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= shape[i];
    return count;
}

/* Filled, or copied for another node. */
static bool is_beyond(const struct ys_onnx_constant *constant)
{
    return constant->filled || constant->readers > 0;
}

static const char *name_of(const struct ys_onnx_constant *constant)
{
    return constant->tensor ? constant->tensor->name : "a computed constant";
}

/* A copy that needs memory of its own, because its node sees the constant times another number or in another order. */
static ys_status count_form(struct ys_onnx_step *step, const struct ys_onnx_constant *constant, int64_t count)
{
    if (constant->readers == 0)
        return YS_OK;
    if (count > YS_ONNX_MAX_FORMS - step->r->forms)
        return YS_FAIL_STEP(step,
                            "reads %.100s in another form (times a number, or in another order), and its %lld elements "
                            "are more than are left of %lld for all such forms: store it as it is read",
                            name_of(constant), (long long)count, (long long)YS_ONNX_MAX_FORMS);
    step->r->forms += count;
    return YS_OK;
}

/* New memory with the numbers of a parameter. */
static void make_values(const struct ys_onnx_constant *c, const struct ys_onnx_view *view, float **values)
{
    const int64_t count = count_elements(view->shape, view->rank), rows = view->shape[0];
    const int64_t block = view->blocks ? rows / (int64_t)view->blocks : rows;
    int64_t at = 0;
    float *made = *values = ys_alloc((size_t)count, sizeof **values);
    for (int64_t row = 0; row < rows; row++) {
        int64_t place[YS_MAX_RANK] = {0};
        int64_t from = (view->blocks ? view->order[row / block] * block + row % block : row) * view->steps[0];
        for (int64_t end = at + count / rows; at < end; at++) {
            made[at] = (float)(view->factor * ys_onnx_constant_real(c, from));
            for (size_t d = view->rank - 1; d > 0; d--) {
                from += view->steps[d];
                if (++place[d] < view->shape[d])
                    break;
                from -= place[d] * view->steps[d];
                place[d] = 0;
            }
        }
    }
}

static bool is_uniform(const float *values, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (values[i] != values[0])
            return false;
    return true;
}

/* How values are drawn where the job does not take them from the file: as yardstick's own networks draw them. */
static struct ys_initializer draw_of(enum ys_op op, enum ys_node_param which, const int64_t *shape, size_t rank,
                                     double start)
{
    double fan_in = 1;
    if (op == YS_OP_ADD || op == YS_OP_SUB)
        return (struct ys_initializer){YS_INIT_CONSTANT, 0, 0};
    if (op == YS_OP_MUL || op == YS_OP_DIV)
        return (struct ys_initializer){YS_INIT_CONSTANT, start, 0};
    if (op == YS_OP_BATCHNORM || op == YS_OP_LAYERNORM)
        return (struct ys_initializer){YS_INIT_CONSTANT, which == YS_NODE_WEIGHT || which == YS_NODE_RUNNING_VAR, 0};
    if ((op == YS_OP_LSTM || op == YS_OP_GRU) && rank == 2)
        return (struct ys_initializer){YS_INIT_UNIFORM, -sqrt((double)(op == YS_OP_LSTM ? 4 : 3) / (double)shape[0]),
                                       sqrt((double)(op == YS_OP_LSTM ? 4 : 3) / (double)shape[0])};
    if (op == YS_OP_EMBEDDING)
        return (struct ys_initializer){YS_INIT_NORMAL, 0, 0.02};
    if (which != YS_NODE_WEIGHT)
        return (struct ys_initializer){YS_INIT_CONSTANT, 0, 0};
    for (size_t i = 1; i < rank; i++)
        fan_in *= (double)shape[i];
    if (rank == 4 && fan_in == 1) /* factors of channels */
        return (struct ys_initializer){YS_INIT_CONSTANT, start, 0};
    return (struct ys_initializer){YS_INIT_UNIFORM, -sqrt(6 / fan_in), sqrt(6 / fan_in)};
}

static void report_param(struct ys_onnx_reading *r, const struct ys_param *param, const char *from)
{
    char shape[YS_SHAPE_TEXT];
    ys_json *line = ys_json_object();
    ys_json_set_string(line, "name", param->name);
    ys_json_set_string(line, "shape", ys_shape_text(param->shape, param->rank, shape));
    ys_json_set_string(line, "role", ys_role_name(param->role));
    ys_json_set_string(line, "from", from);
    ys_json_append(r->parameters, line);
}

/* Numbers that a parameter begins with: new memory, or that of an earlier parameter, which keeps it. */
struct numbers {
    float *values;
    bool is_earlier;
};

static void drop(struct numbers numbers)
{
    if (!numbers.is_earlier)
        ys_free(numbers.values);
}

/* Those of the newest parameter. Takes them. */
static void keep(struct ys_onnx_reading *r, struct numbers numbers)
{
    const size_t count = r->graph->param_count;
    float **values = ys_realloc(r->import->values, count, sizeof *values);
    bool *borrows = ys_realloc(r->import->borrows, count, sizeof *borrows);
    r->import->values = values;
    r->import->borrows = borrows;
    values[count - 1] = numbers.values;
    borrows[count - 1] = numbers.is_earlier;
    r->import->value_count = count;
}

static ys_status add_param(struct ys_onnx_step *step, int node, enum ys_node_param which,
                           const struct ys_onnx_constant *constant, const float *values, const int64_t *shape,
                           size_t rank)
{
    struct ys_onnx_reading *r = step->r;
    const double start = is_uniform(values, count_elements(shape, rank)) ? values[0] : 1;
    char name[YS_GRAPH_MAX_NAME + 1], wanted[YS_GRAPH_MAX_NAME + 32];
    struct ys_param param = {.name = name,
                             .rank = rank,
                             .role = which < YS_NODE_RUNNING_MEAN ? YS_ROLE_WEIGHT : YS_ROLE_BUFFER,
                             .init = draw_of(r->graph->nodes[node].op, which, shape, rank, start),
                             .lr_mult = 1,
                             .decay_mult = 1};
    int index;
    memcpy(param.shape, shape, rank * sizeof *shape);
    snprintf(wanted, sizeof wanted, "%s.%s", r->graph->nodes[node].name, ys_node_param_key(which));
    const struct ys_onnx_tensor_in *tensor = constant->tensor ? constant->tensor : constant->origin;
    const char *from = tensor ? tensor->name : "(computed)";
    YS_TRY(ys_compose_check_shape(r->graph->name, from, shape, rank, 0));
    ys_onnx_name(r, YS_ONNX_PARAM_NAME, tensor && from[0] ? from : wanted, name);
    YS_TRY(ys_compose_param(r->graph, &param, &index));
    *ys_node_param_place(&r->graph->nodes[node], which) = index;
    report_param(r, &param, from);
    return YS_OK;
}

/* Whether the parameter has these values already. Of values that are all the same it is no sign of anything. */
static bool holds(const struct ys_onnx_reading *r, int index, const float *values, const int64_t *shape, size_t rank)
{
    const struct ys_param *param = &r->graph->params[index];
    const size_t count = (size_t)count_elements(shape, rank);
    return param->rank == rank && memcmp(param->shape, shape, rank * sizeof *shape) == 0 &&
           memcmp(r->import->values[index], values, count * sizeof *values) == 0;
}

struct matrix_key {
    char text[24];
};

struct emitted_key {
    char text[96];
};

struct view_key {
    char text[96 + YS_MAX_RANK * 44];
};

/* Whether the file has a matrix the other way round than the graph, which has it as `values`. */
static bool is_turned(const struct ys_onnx_constant *constant, const float *values, const int64_t *shape)
{
    bool same = constant->shape[0] == shape[0] && constant->shape[1] == shape[1];
    for (int64_t i = 0; same && i < constant->count; i++)
        same = (float)ys_onnx_constant_real(constant, i) == values[i];
    return !same;
}

/* By what a matrix that lies in the file that way is found: a sum of its values, which may be another's too. */
static struct matrix_key key_of(const float *values, const int64_t *shape, size_t rank, bool turned)
{
    const int64_t count = count_elements(shape, rank);
    uint64_t sum = 0xcbf29ce484222325 ^ rank; /* FNV-1a, of whole values */
    uint32_t bits;
    struct matrix_key key;
    for (int64_t i = 0; i < count; i++) {
        memcpy(&bits, &values[i], sizeof bits);
        sum = (sum ^ bits) * 0x100000001b3;
    }
    snprintf(key.text, sizeof key.text, "%c%016llx", turned ? 't' : 'a', (unsigned long long)sum);
    return key;
}

/* The parameter that a matrix is already, by its numbers: -1 for none. */
static ys_status find_tie(struct ys_onnx_step *step, const struct ys_onnx_constant *constant, const float *values,
                          const struct ys_onnx_view *view, int *tie)
{
    struct ys_onnx_reading *r = step->r;
    const char *name = constant->tensor ? constant->tensor->name : "(computed)";
    *tie = -1;
    const bool uniform = is_uniform(values, count_elements(view->shape, view->rank));
    if (constant->readers > 0 && !(uniform && values[0] == 0)) {
        if (!holds(r, constant->param, values, view->shape, view->rank))
            return YS_FAIL_STEP(step, "shares its weight %.100s with another node, which has it in another form", name);
        *tie = constant->param;
    }
    if (*tie < 0 && !uniform && constant->rank == 2) {
        const struct matrix_key key =
            key_of(values, view->shape, view->rank, !is_turned(constant, values, view->shape));
        const int other = (int)ys_json_get_int(r->matrices, key.text, -1);
        *tie = other >= 0 && holds(r, other, values, view->shape, view->rank) ? other : -1;
    }
    return YS_OK;
}

/* By what the bias of a layer that stands at several places is found: its weight, and of what the bias was made, and
 * how. */
static struct emitted_key layer_of(const struct ys_onnx_reading *r, int node, const struct ys_onnx_constant *constant,
                                   const struct ys_onnx_view *view)
{
    struct emitted_key key;
    snprintf(key.text, sizeof key.text, "%d %p %lld %.17g", r->graph->nodes[node].weight, (const void *)constant,
             (long long)view->steps[0], view->factor);
    return key;
}

/* The parameter that the constant became for another node, made in the same way: of a bias, where that node has this
 * node's weight too, as exporters merge vectors that happen to be equal. -1: none, as far as is known without its
 * numbers, which a file may have thousands of nodes read. */
static int find_known(const struct ys_onnx_reading *r, int node, enum ys_node_param which, bool is_matrix,
                      const struct ys_onnx_constant *constant, const struct ys_onnx_view *view)
{
    if (is_matrix)
        return constant->is_shared && memcmp(&constant->view, view, sizeof *view) == 0 ? constant->param : -1;
    if (which != YS_NODE_BIAS || constant->readers == 0)
        return -1;
    return (int)ys_json_get_int(r->layers, layer_of(r, node, constant, view).text, -1);
}

/* By what a parameter is found that has the same numbers of a constant in the same order, whatever axes of extent 1 it
 * has. */
static struct view_key key_of_view(const struct ys_onnx_constant *constant, const struct ys_onnx_view *view)
{
    struct view_key key;
    const int64_t *order = view->order;
    size_t used = (size_t)snprintf(key.text, sizeof key.text, "%p %.17g", (const void *)constant, view->factor);
    for (size_t i = 0; i < view->blocks; i++)
        used += (size_t)snprintf(key.text + used, sizeof key.text - used, " %lld", (long long)order[i]);
    for (size_t i = 0; i < view->rank; i++)
        if (view->shape[i] != 1)
            used += (size_t)snprintf(key.text + used, sizeof key.text - used, " %lld*%lld", (long long)view->shape[i],
                                     (long long)view->steps[i]);
    return key;
}

static bool is_zero(const float *values, int64_t count)
{
    return values[0] == 0 && is_uniform(values, count);
}

/* The numbers that the constant had for another node, seen in the same way: a node that gets a copy begins with them.
 * Of matrices only those that are all 0 are copied. Else none: their values are NULL. */
static struct numbers find_numbers(const struct ys_onnx_reading *r, bool is_matrix,
                                   const struct ys_onnx_constant *constant, const struct ys_onnx_view *view)
{
    const int same = constant->readers ? (int)ys_json_get_int(r->seen, key_of_view(constant, view).text, -1) : -1;
    float *values = same >= 0 ? r->import->values[same] : NULL;
    if (values && is_matrix && !is_zero(values, count_elements(view->shape, view->rank)))
        values = NULL;
    return (struct numbers){.values = values, .is_earlier = true};
}

/* Notes the newest parameter, unless there is one that holds the same. */
static void keep_matrix(struct ys_onnx_reading *r, const struct ys_onnx_constant *constant, const float *values,
                        const int64_t *shape, size_t rank)
{
    if (constant->rank != 2)
        return;
    const struct matrix_key key = key_of(values, shape, rank, is_turned(constant, values, shape));
    if (!ys_json_get(r->matrices, key.text))
        ys_json_set_int(r->matrices, key.text, (int64_t)r->graph->param_count - 1);
}

static ys_status check_values(struct ys_onnx_step *step, const struct ys_onnx_constant *constant, const float *values,
                              int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i])) /* DOUBLE may be beyond what floats hold */
            return YS_FAIL_STEP(step, "%.100s has a value that is no finite number of 32 bits", name_of(constant));
    return YS_OK;
}

/* Of operands extents of 1 do not count: numbers for each channel are a vector, whatever their shape. */
static bool counts_as_matrix(enum ys_op op, const struct ys_onnx_constant *constant)
{
    size_t axes = 0;
    for (size_t i = 0; i < constant->rank; i++)
        axes += constant->shape[i] != 1;
    return ys_op_rule(op)->params == YS_PARAMS_OPERAND ? axes > 1 : constant->rank > 1;
}

/* Takes the numbers. */
static ys_status add_with(struct ys_onnx_step *step, int node, enum ys_node_param which,
                          const struct ys_onnx_constant *constant, struct numbers numbers, const int64_t *shape,
                          size_t rank)
{
    struct ys_onnx_reading *r = step->r;
    const size_t before = r->graph->param_count;
    ys_status status =
        numbers.is_earlier ? YS_OK : check_values(step, constant, numbers.values, count_elements(shape, rank));
    if (status == YS_OK)
        status = add_param(step, node, which, constant, numbers.values, shape, rank);
    if (status == YS_OK) {
        keep(r, numbers);
        return YS_OK;
    }
    drop(numbers);
    if (r->graph->param_count > before) /* so that there are as many values as parameters */
        keep(r, (struct numbers){NULL, false});
    return status;
}

/* The constant is that parameter, for one node more. */
static void tie_to(struct ys_onnx_step *step, int node, enum ys_node_param which, bool is_matrix,
                   struct ys_onnx_constant *constant, const struct ys_onnx_view *view, int tie)
{
    const struct ys_graph *graph = step->r->graph;
    const bool is_copy = constant->readers == 0;
    *ys_node_param_place(&step->r->graph->nodes[node], which) = constant->param = tie;
    constant->readers++;
    constant->is_shared = is_matrix;
    constant->view = *view;
    if (!is_matrix)
        return;
    ys_onnx_note(step->r, "node %.100s shares parameter %.100s%s: they are one, trained by both",
                 graph->nodes[node].name, graph->params[tie].name,
                 is_copy ? ", of which its weight is the transposed copy" : "");
}

/* A parameter that no other is. Takes the numbers. */
static ys_status add_new(struct ys_onnx_step *step, int node, enum ys_node_param which, bool is_matrix,
                         struct ys_onnx_constant *constant, const struct ys_onnx_view *view, struct numbers numbers)
{
    struct ys_onnx_reading *r = step->r;
    if (constant->readers > 0)
        ys_onnx_note(r, "%.100s is read by several nodes: node %.100s gets a copy that is trained by itself",
                     constant->tensor ? constant->tensor->name : "(computed)", step->node->name);
    YS_TRY(add_with(step, node, which, constant, numbers, view->shape, view->rank));
    constant->readers++;
    constant->param = (int)r->graph->param_count - 1;
    constant->is_shared =
        is_matrix && !numbers.is_earlier && !is_zero(numbers.values, count_elements(view->shape, view->rank));
    constant->view = *view;
    if (!numbers.is_earlier)
        ys_json_set_int(r->seen, key_of_view(constant, view).text, constant->param);
    if (which == YS_NODE_BIAS && r->graph->nodes[node].weight >= 0) {
        ys_json_set_int(r->layers, layer_of(r, node, constant, view).text, constant->param);
        return YS_OK;
    }
    if (is_matrix && !numbers.is_earlier)
        keep_matrix(r, constant, numbers.values, view->shape, view->rank);
    return YS_OK;
}

ys_status ys_onnx_param(struct ys_onnx_step *step, int node, enum ys_node_param which,
                        struct ys_onnx_constant *constant, const struct ys_onnx_view *view)
{
    const bool is_matrix = (which == YS_NODE_WEIGHT || which == YS_NODE_RECURRENT) &&
                           counts_as_matrix(step->r->graph->nodes[node].op, constant);
    int tie = find_known(step->r, node, which, is_matrix, constant, view);
    if (tie >= 0) {
        tie_to(step, node, which, is_matrix, constant, view, tie);
        return YS_OK;
    }
    const int64_t count = count_elements(view->shape, view->rank);
    if (is_beyond(constant))
        YS_TRY(count_beyond(step, name_of(constant), count));
    struct numbers numbers = find_numbers(step->r, is_matrix, constant, view);
    if (numbers.values)
        return add_new(step, node, which, is_matrix, constant, view, numbers);
    numbers.is_earlier = false;
    make_values(constant, view, &numbers.values);
    ys_status status = is_matrix ? find_tie(step, constant, numbers.values, view, &tie) : YS_OK;
    if (status == YS_OK && tie < 0)
        status = count_form(step, constant, count);
    if (status == YS_OK && tie < 0)
        return add_new(step, node, which, is_matrix, constant, view, numbers);
    if (status == YS_OK && is_beyond(constant))
        step->r->beyond -= count; /* it has none of its own */
    drop(numbers);
    if (status == YS_OK)
        tie_to(step, node, which, is_matrix, constant, view, tie);
    return status;
}

ys_status ys_onnx_plain_param(struct ys_onnx_step *step, int node, enum ys_node_param which,
                              struct ys_onnx_constant *constant, const int64_t *shape, size_t rank)
{
    struct ys_onnx_view view = {.factor = 1, .rank = rank};
    memcpy(view.shape, shape, rank * sizeof *shape);
    for (int64_t d = (int64_t)rank - 1, step_by = 1; d >= 0; step_by *= shape[d--])
        view.steps[d] = step_by;
    return ys_onnx_param(step, node, which, constant, &view);
}

ys_status ys_onnx_vector(struct ys_onnx_step *step, int node, enum ys_node_param which,
                         struct ys_onnx_constant *constant)
{
    return ys_onnx_plain_param(step, node, which, constant, &constant->count, 1);
}

ys_status ys_onnx_made_param(struct ys_onnx_step *step, int node, enum ys_node_param which,
                             const struct ys_onnx_constant *constant, float *values, const int64_t *shape, size_t rank)
{
    return add_with(step, node, which, constant, (struct numbers){values, false}, shape, rank);
}

ys_status ys_onnx_fixed(struct ys_onnx_step *step, int node, enum ys_node_param which, double value,
                        const int64_t *shape, size_t rank)
{
    struct ys_onnx_reading *r = step->r;
    char name[YS_GRAPH_MAX_NAME + 1], wanted[YS_GRAPH_MAX_NAME + 32];
    int index;
    if (!isfinite((float)value))
        return YS_FAIL_STEP(step, "reads the number %g", value);
    snprintf(wanted, sizeof wanted, "%s.%s", r->graph->nodes[node].name, ys_node_param_key(which));
    YS_TRY(ys_compose_check_shape(r->graph->name, wanted, shape, rank, 0));
    ys_onnx_name(r, YS_ONNX_PARAM_NAME, wanted, name);
    struct ys_param param = {.name = name, .rank = rank, .role = YS_ROLE_WEIGHT, .init = {YS_INIT_CONSTANT, value, 0}};
    memcpy(param.shape, shape, rank * sizeof *shape);
    const int64_t count = ys_param_elements(&param);
    YS_TRY(count_beyond(step, name, count));
    YS_TRY(ys_compose_param(r->graph, &param, &index));
    *ys_node_param_place(&r->graph->nodes[node], which) = index;
    float *values = ys_alloc((size_t)count, sizeof *values);
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)value;
    keep(r, (struct numbers){values, false});
    report_param(r, &param, "(a number)");
    return YS_OK;
}

static ys_status normalize(struct ys_onnx_step *step, struct ys_onnx_slot *slot)
{
    struct ys_onnx_reading *r = step->r;
    const struct ys_onnx_pixels *pixels = slot->pixels;
    bool is_nothing = pixels->scale == 1 && r->graph->values[slot->value].dtype == YS_F32;
    for (size_t c = 0; c < pixels->channels; c++)
        is_nothing = is_nothing && pixels->mean[c] == 0 && pixels->std[c] == 1;
    slot->pixels = NULL;
    if (is_nothing)
        return YS_OK;
    int node;
    YS_TRY(ys_onnx_begin_extra(step, YS_OP_NORMALIZE, slot->value, "normalize", &node));
    struct ys_normalize *n = &r->graph->nodes[node].normalize;
    *n = (struct ys_normalize){.scale = pixels->scale, .channels = pixels->channels};
    n->mean = ys_alloc(pixels->channels, sizeof(double));
    n->std = ys_alloc(pixels->channels, sizeof(double));
    for (size_t c = 0; c < pixels->channels; c++) {
        n->mean[c] = pixels->mean[c];
        n->std[c] = pixels->std[c];
        if (!(fabs(n->mean[c]) < 1e30 && n->std[c] > 0 && n->std[c] < 1e30 && n->scale > 0 && n->scale < 1e30))
            return YS_FAIL_STEP(step, "reads pixels normalised with the mean %g and the deviation %g", n->mean[c],
                                n->std[c]);
    }
    r->import->normalizes = true;
    return ys_onnx_end(r, node, &slot->value);
}

/* `perm` of a value whose axes are those of the name, but for the batch, which the name has at `at`. */
static void put_batch(int perm[YS_MAX_RANK], size_t at)
{
    for (int i = 0; i < YS_MAX_RANK; i++)
        perm[i] = i < (int)at ? i + 1 : i == (int)at ? 0 : i;
}

static ys_status transpose(struct ys_onnx_step *step, struct ys_onnx_slot *slot)
{
    const size_t rank = step->r->graph->values[slot->value].rank;
    int node, wanted[YS_MAX_RANK];
    size_t batch = 0, next = 1;
    while (slot->perm[batch] != 0)
        batch++;
    put_batch(wanted, batch);
    if (memcmp(wanted, slot->perm, rank * sizeof *wanted) == 0 && !slot->turned)
        return YS_OK;
    struct ys_onnx_step own = {.r = step->r, .node = slot->turned};
    if (slot->turned)
        YS_TRY(ys_onnx_begin(&own, YS_OP_TRANSPOSE, &slot->value, 1, 1, &node));
    else
        YS_TRY(ys_onnx_begin_extra(step, YS_OP_TRANSPOSE, slot->value, "/transposed", &node));
    slot->turned = NULL;
    for (size_t i = 0; i < rank; i++)
        if (i != batch)
            step->r->graph->nodes[node].permutation[next++] = slot->perm[i];
    memcpy(slot->perm, wanted, sizeof wanted);
    return ys_onnx_end(step->r, node, &slot->value);
}

ys_status ys_onnx_make_padded(struct ys_onnx_step *step, struct ys_onnx_slot *slot)
{
    int node;
    if (!ys_onnx_is_padded(slot))
        return YS_OK;
    if (slot->pixels)
        YS_TRY(normalize(step, slot));
    YS_TRY(ys_onnx_begin_extra(step, YS_OP_PAD, slot->value, "/padded", &node));
    struct ys_pad *pad = &step->r->graph->nodes[node].pad;
    pad->rank = 4;
    memcpy(pad->before + 2, slot->pads, 2 * sizeof *slot->pads);
    memcpy(pad->after + 2, slot->pads + 2, 2 * sizeof *slot->pads);
    memset(slot->pads, 0, sizeof slot->pads);
    return ys_onnx_end(step->r, node, &slot->value);
}

ys_status ys_onnx_take(struct ys_onnx_step *step, struct ys_onnx_slot *slot, bool seen, int *value)
{
    YS_TRY(ys_onnx_settle(step, slot));
    YS_TRY(ys_onnx_make_padded(step, slot));
    if (slot->pixels)
        YS_TRY(normalize(step, slot));
    const bool moved = slot->perm[0] != 0;
    if (moved && (!seen || slot->turned))
        return YS_FAIL_STEP(step, "%s", "reads a value in which the batch is not the first axis");
    if (!seen || slot->turned)
        YS_TRY(transpose(step, slot));
    *value = slot->value;
    return YS_OK;
}

ys_status ys_onnx_take_behind(struct ys_onnx_step *step, struct ys_onnx_slot *slot, int *value)
{
    YS_TRY(ys_onnx_take(step, slot, true, value));
    YS_TRY(transpose(step, slot));
    *value = slot->value;
    return YS_OK;
}

ys_status ys_onnx_take_flat(struct ys_onnx_step *step, struct ys_onnx_slot *slot, int *value)
{
    const struct ys_value *v = &step->r->graph->values[slot->value];
    int last = -1;
    bool in_order = true;
    for (size_t i = 0; i < v->rank; i++) {
        if (v->shape[slot->perm[i]] == 1 || slot->perm[i] == 0)
            continue;
        in_order = in_order && slot->perm[i] > last;
        last = slot->perm[i];
    }
    return in_order ? ys_onnx_take(step, slot, true, value) : ys_onnx_take_behind(step, slot, value);
}
