/* The attributes of every operator: one table, from which they are read, checked and written. */
#include "base/mem.h"
#include "graph/json_parts.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum attr_kind {                     /* what the JSON holds, and what lies at the offset in struct ys_node */
                 ATTR_ONLY,          /* the number `only`; nothing in the node */
                 ATTR_UNSAID,        /* the same, but not written */
                 ATTR_FLAG,          /* 0 or 1; bool */
                 ATTR_SIZE,          /* from 1; int64_t */
                 ATTR_AXIS,          /* from 1; int */
                 ATTR_PAIR,          /* two integers from 1; int64_t[2] */
                 ATTR_PADS,          /* four integers from 0; int64_t[4] */
                 ATTR_REAL,          /* in `range`; double */
                 ATTR_CHANNEL_REALS, /* 1 to 65536 numbers, as many as mean has; double * with normalize.channels
                                        entries */
                 ATTR_SPLIT,         /* from 1, one for each output; int64_t[] */
                 ATTR_SHAPE,         /* "N" and numbers from 1; `shape` and `shape_rank` */
                 ATTR_PERMUTATION,   /* of the axes, 0 first; int[], 0 behind its end */
                 ATTR_AXES,          /* ascending from 1; bool[] */
                 ATTR_CONNECTIONS    /* a list of input channels for each output channel; unsigned char * */
};

enum range { ANY, POSITIVE, NOT_NEGATIVE, SHARE, SHARE_BELOW_1 };

struct attr {
    uint32_t ops; /* bit OP(op) for each operator that has it */
    const char *name;
    enum attr_kind kind;
    size_t offset;
    bool optional; /* absent in a file: as ys_compose_node() left it */
    enum range range;
    int only;
};

#define OP(op)      ((uint32_t)1 << (op))
#define POOLS       (OP(YS_OP_MAXPOOL) | OP(YS_OP_AVERAGEPOOL))
#define WINDOWS     (OP(YS_OP_CONV) | POOLS)
#define SOFTMAXES   (OP(YS_OP_SOFTMAX) | OP(YS_OP_LOG_SOFTMAX))
#define AT(member)  offsetof(struct ys_node, member)
#define REAL(where) ATTR_REAL, AT(where), false

static const struct attr table[] = {
    {OP(YS_OP_NORMALIZE), "scale", REAL(normalize.scale), POSITIVE, 0},
    {OP(YS_OP_NORMALIZE), "mean", ATTR_CHANNEL_REALS, AT(normalize.mean), false, ANY, 0},
    {OP(YS_OP_NORMALIZE), "std", ATTR_CHANNEL_REALS, AT(normalize.std), false, POSITIVE, 0},
    {WINDOWS, "kernel_shape", ATTR_PAIR, AT(window.kernel), false, ANY, 0},
    {WINDOWS, "strides", ATTR_PAIR, AT(window.stride), true, ANY, 0},
    {WINDOWS, "dilations", ATTR_PAIR, AT(window.dilation), true, ANY, 0},
    {WINDOWS, "pads", ATTR_PADS, AT(window.pad), true, ANY, 0},
    {OP(YS_OP_CONV), "group", ATTR_SIZE, AT(window.group), true, ANY, 0},
    {OP(YS_OP_CONV), "connections", ATTR_CONNECTIONS, AT(connected), true, ANY, 0},
    {POOLS, "ceil_mode", ATTR_FLAG, AT(window.ceil), true, ANY, 0},
    {OP(YS_OP_AVERAGEPOOL), "count_include_pad", ATTR_FLAG, AT(window.include_pad), true, ANY, 0},
    {OP(YS_OP_FLATTEN), "axis", ATTR_ONLY, 0, true, ANY, 1},
    {OP(YS_OP_GEMM), "transB", ATTR_ONLY, 0, true, ANY, 1},
    {OP(YS_OP_GEMM), "transA", ATTR_UNSAID, 0, true, ANY, 0},
    {OP(YS_OP_GEMM), "alpha", ATTR_UNSAID, 0, true, ANY, 1},
    {OP(YS_OP_GEMM), "beta", ATTR_UNSAID, 0, true, ANY, 1},
    {OP(YS_OP_BATCHNORM), "epsilon", REAL(batchnorm.epsilon), POSITIVE, 0},
    {OP(YS_OP_BATCHNORM), "momentum", REAL(batchnorm.momentum), SHARE, 0},
    {OP(YS_OP_LRN), "size", ATTR_SIZE, AT(lrn.size), false, ANY, 0},
    {OP(YS_OP_LRN), "alpha", REAL(lrn.alpha), NOT_NEGATIVE, 0},
    {OP(YS_OP_LRN), "beta", REAL(lrn.beta), NOT_NEGATIVE, 0},
    {OP(YS_OP_LRN), "bias", REAL(lrn.bias), POSITIVE, 0},
    {OP(YS_OP_CLIP), "min", REAL(low), ANY, 0},
    {OP(YS_OP_CLIP), "max", REAL(high), ANY, 0},
    {OP(YS_OP_LEAKY_RELU), "alpha", REAL(slope), SHARE, 0},
    {SOFTMAXES | OP(YS_OP_CONCAT) | OP(YS_OP_SPLIT), "axis", ATTR_AXIS, AT(axis), false, ANY, 0},
    {OP(YS_OP_SPLIT), "split", ATTR_SPLIT, AT(split), false, ANY, 0},
    {OP(YS_OP_RESHAPE), "shape", ATTR_SHAPE, AT(shape), false, ANY, 0},
    {OP(YS_OP_TRANSPOSE), "perm", ATTR_PERMUTATION, AT(permutation), false, ANY, 0},
    {OP(YS_OP_MEAN), "axes", ATTR_AXES, AT(reduced), false, ANY, 0},
    {OP(YS_OP_MEAN), "keepdims", ATTR_FLAG, AT(keepdims), false, ANY, 0},
    {OP(YS_OP_DROPOUT), "ratio", REAL(ratio), SHARE_BELOW_1, 0},
};
enum { TABLE_SIZE = sizeof table / sizeof table[0] };
_Static_assert(YS_OP_COUNT <= 32, "one bit an operator");

static ys_status read_only(const struct ys_place *at, const ys_json *value, const char *what, int only)
{
    if (!ys_parts_is_number(value) || ys_json_number(value, NAN) != only)
        return YS_FAIL_AT(at, "%s must be %d", what, only);
    return YS_OK;
}

/** Beyond 1e30 nothing is of use in 32-bit floats. */
static ys_status read_real(const struct ys_place *at, const ys_json *value, const char *what, enum range range,
                           double *number)
{
    static const char *const texts[] = {[ANY] = "from -1e30 to 1e30",
                                        [POSITIVE] = "above 0, up to 1e30",
                                        [NOT_NEGATIVE] = "from 0 to 1e30",
                                        [SHARE] = "from 0 to 1",
                                        [SHARE_BELOW_1] = "from 0 to below 1"};
    double x = *number = ys_json_number(value, 0);
    if (!ys_parts_is_number(value))
        return YS_FAIL_AT(at, "%s must be a number %s, is %s", what, texts[range], ys_parts_type_text(value));
    bool right = fabs(x) <= 1e30 && (range == ANY || x > 0 || (x == 0 && range != POSITIVE)) &&
                 (range < SHARE || x < 1 || (x == 1 && range == SHARE));
    return right ? YS_OK : YS_FAIL_AT(at, "%s is %g: must be a number %s", what, x, texts[range]);
}

static ys_status read_channel_reals(const struct ys_place *at, const ys_json *value, const char *what, enum range range,
                                    size_t *channels, double **numbers)
{
    size_t size;
    YS_TRY(ys_parts_array(at, value, what, 1, 65536, &size));
    if (*channels && size != *channels)
        return YS_FAIL_AT(at, "mean and std must have as many entries, %s has %zu, not %zu", what, size, *channels);
    *numbers = ys_alloc(size, sizeof **numbers);
    if (!*numbers)
        return ys_out_of_memory();
    *channels = size;
    for (size_t i = 0; i < size; i++) {
        char entry[72];
        snprintf(entry, sizeof entry, "%s[%zu]", what, i);
        YS_TRY(read_real(at, ys_json_at(value, i), entry, range, &(*numbers)[i]));
    }
    return YS_OK;
}

static ys_status read_permutation(const struct ys_place *at, const ys_json *value, const char *what, int *permutation)
{
    int64_t axes[YS_MAX_RANK];
    bool seen[YS_MAX_RANK] = {false};
    size_t rank;
    YS_TRY(ys_parts_integers(at, value, what, 2, YS_MAX_RANK, 0, YS_MAX_RANK - 1, axes, &rank));
    for (size_t i = 0; i < rank; i++) {
        if (seen[axes[i]] || axes[i] >= (int64_t)rank || (i == 0 && axes[i] != 0))
            return YS_FAIL_AT(at, "%s must hold each of 0 to %zu once, 0 (the batch) first", what, rank - 1);
        seen[axes[i]] = true;
        permutation[i] = (int)axes[i];
    }
    return YS_OK;
}

static ys_status read_axes(const struct ys_place *at, const ys_json *value, const char *what, bool *reduced)
{
    int64_t axes[YS_MAX_RANK];
    size_t count;
    YS_TRY(ys_parts_integers(at, value, what, 1, YS_MAX_RANK - 1, 1, YS_MAX_RANK - 1, axes, &count));
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && axes[i] <= axes[i - 1])
            return YS_FAIL_AT(at, "%s must be in ascending order, each axis once", what);
        reduced[axes[i]] = true;
    }
    return YS_OK;
}

/** One list of `connections`: the input channels, out of `channels`, that an output channel sees. */
static ys_status read_connection(const struct ys_place *at, const ys_json *list, const char *what, int64_t channels,
                                 unsigned char *connected)
{
    size_t count;
    int64_t before = -1;
    YS_TRY(ys_parts_array(at, list, what, 1, (size_t)channels, &count));
    for (size_t i = 0; i < count; i++) {
        int64_t channel;
        YS_TRY(ys_parts_integer(at, ys_json_at(list, i), what, 0, channels - 1, &channel));
        if (channel <= before)
            return YS_FAIL_AT(at, "%s must be in ascending order, each channel once", what);
        connected[channel] = 1;
        before = channel;
    }
    return YS_OK;
}

static ys_status read_connections(const struct ys_place *at, const ys_json *value, const char *what,
                                  const struct ys_param *weight, unsigned char **connected)
{
    size_t size;
    if (weight->rank < 2)
        return YS_FAIL_AT(at, "weight %s must have the shape (out channels, channels, height, width)", weight->name);
    int64_t outs = weight->shape[0], channels = weight->shape[1];
    YS_TRY(ys_parts_array(at, value, what, (size_t)outs, (size_t)outs, &size));
    if (outs > YS_GRAPH_MAX_PAIRS / channels)
        return YS_FAIL_AT(at, "%s: %lld times %lld channels: at most %lld pairs", what, (long long)outs,
                          (long long)channels, (long long)YS_GRAPH_MAX_PAIRS);
    *connected = ys_alloc((size_t)(outs * channels), 1);
    if (!*connected)
        return ys_out_of_memory();
    for (size_t o = 0; o < size; o++) {
        char entry[72];
        snprintf(entry, sizeof entry, "%s[%zu]", what, o);
        YS_TRY(read_connection(at, ys_json_at(value, o), entry, channels, *connected + (int64_t)o * channels));
    }
    return YS_OK;
}

static ys_status read_flag(const struct ys_place *at, const ys_json *value, const char *what, bool *flag)
{
    int64_t number;
    YS_TRY(ys_parts_integer(at, value, what, 0, 1, &number));
    *flag = number == 1;
    return YS_OK;
}

static ys_status read_axis(const struct ys_place *at, const ys_json *value, const char *what, int *axis)
{
    int64_t number;
    YS_TRY(ys_parts_integer(at, value, what, 1, YS_MAX_RANK - 1, &number));
    *axis = (int)number;
    return YS_OK;
}

static ys_status read_attr(const struct ys_place *at, const struct attr *attr, const ys_json *value,
                           const struct ys_graph *graph, struct ys_node *node)
{
    void *place = (char *)node + attr->offset;
    char what[40];
    size_t count;
    snprintf(what, sizeof what, "attribute %s", attr->name);
    switch (attr->kind) {
    case ATTR_ONLY:
    case ATTR_UNSAID:
        return read_only(at, value, what, attr->only);
    case ATTR_FLAG:
        return read_flag(at, value, what, place);
    case ATTR_SIZE:
        return ys_parts_integer(at, value, what, 1, YS_GRAPH_MAX_WINDOW, place);
    case ATTR_AXIS:
        return read_axis(at, value, what, place);
    case ATTR_PAIR:
        return ys_parts_integers(at, value, what, 2, 2, 1, YS_GRAPH_MAX_WINDOW, place, &count);
    case ATTR_PADS:
        return ys_parts_integers(at, value, what, 4, 4, 0, YS_GRAPH_MAX_WINDOW, place, &count);
    case ATTR_REAL:
        return read_real(at, value, what, attr->range, place);
    case ATTR_CHANNEL_REALS:
        return read_channel_reals(at, value, what, attr->range, &node->normalize.channels, place);
    case ATTR_SPLIT:
        return ys_parts_integers(at, value, what, node->out_count, node->out_count, 1, YS_GRAPH_MAX_ELEMENTS, place,
                                 &count);
    case ATTR_SHAPE:
        return ys_parts_shape(at, value, what, true, place, &node->shape_rank);
    case ATTR_PERMUTATION:
        return read_permutation(at, value, what, place);
    case ATTR_AXES:
        return read_axes(at, value, what, place);
    case ATTR_CONNECTIONS:
        return read_connections(at, value, what, &graph->params[node->weight], place);
    }
    return YS_OK;
}

ys_status ys_attrs_read(const struct ys_place *at, const ys_json *attrs, const struct ys_graph *graph,
                        struct ys_node *node)
{
    const char *known[TABLE_SIZE + 1] = {NULL};
    size_t known_count = 0;
    for (size_t i = 0; i < TABLE_SIZE; i++)
        if (table[i].ops & OP(node->op))
            known[known_count++] = table[i].name;
    if (attrs)
        YS_TRY(ys_parts_members(at, attrs, "attrs", known));
    for (size_t i = 0; i < TABLE_SIZE; i++) {
        const ys_json *value = ys_json_get(attrs, table[i].name);
        if (table[i].ops & OP(node->op) && (value || !table[i].optional))
            YS_TRY(read_attr(at, &table[i], value, graph, node));
    }
    return YS_OK;
}

static ys_status set_reals(ys_json *object, const char *key, const double *numbers, size_t count)
{
    ys_json *array = ys_json_array();
    ys_status status = array ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; i < count && status == YS_OK; i++)
        status = ys_json_append(array, ys_json_real(numbers[i]));
    if (status == YS_OK)
        return ys_json_set(object, key, array);
    ys_json_free(array);
    return status;
}

/** The places at which `flags` is set, or, for a permutation, its entries. */
static ys_status set_axes(ys_json *object, const char *key, const struct ys_graph *graph, const struct ys_node *node)
{
    int64_t axes[YS_MAX_RANK];
    size_t count = 0, rank = graph->values[node->in[0]].rank;
    for (size_t i = 0; i < rank; i++)
        if (node->op == YS_OP_TRANSPOSE)
            axes[count++] = node->permutation[i];
        else if (node->reduced[i])
            axes[count++] = (int64_t)i;
    return ys_parts_set_integers(object, key, axes, count);
}

static ys_status append_connection(ys_json *lists, const unsigned char *connected, int64_t channels)
{
    ys_json *list = ys_json_array();
    ys_status status = list ? YS_OK : ys_out_of_memory();
    for (int64_t i = 0; i < channels && status == YS_OK; i++)
        if (connected[i])
            status = ys_json_append(list, ys_json_int(i));
    if (status == YS_OK)
        return ys_json_append(lists, list);
    ys_json_free(list);
    return status;
}

static ys_status set_connections(ys_json *object, const char *key, const struct ys_param *weight,
                                 const unsigned char *connected)
{
    ys_json *lists = ys_json_array();
    ys_status status = lists ? YS_OK : ys_out_of_memory();
    for (int64_t o = 0; o < weight->shape[0] && status == YS_OK; o++)
        status = append_connection(lists, connected + o * weight->shape[1], weight->shape[1]);
    if (status == YS_OK)
        return ys_json_set(object, key, lists);
    ys_json_free(lists);
    return status;
}

static ys_status write_attr(ys_json *object, const struct attr *attr, const struct ys_graph *graph,
                            const struct ys_node *node)
{
    const void *place = (const char *)node + attr->offset;
    switch (attr->kind) {
    case ATTR_ONLY:
        return ys_json_set_int(object, attr->name, attr->only);
    case ATTR_UNSAID:
        return YS_OK;
    case ATTR_FLAG:
        return ys_json_set_int(object, attr->name, *(const bool *)place);
    case ATTR_SIZE:
        return ys_json_set_int(object, attr->name, *(const int64_t *)place);
    case ATTR_AXIS:
        return ys_json_set_int(object, attr->name, *(const int *)place);
    case ATTR_PAIR:
        return ys_parts_set_integers(object, attr->name, place, 2);
    case ATTR_PADS:
        return ys_parts_set_integers(object, attr->name, place, 4);
    case ATTR_REAL:
        return ys_json_set_real(object, attr->name, *(const double *)place);
    case ATTR_CHANNEL_REALS:
        return set_reals(object, attr->name, *(double *const *)place, node->normalize.channels);
    case ATTR_SPLIT:
        return ys_parts_set_integers(object, attr->name, place, node->out_count);
    case ATTR_SHAPE:
        return ys_parts_set_integers(object, attr->name, place, node->shape_rank);
    case ATTR_PERMUTATION:
    case ATTR_AXES:
        return set_axes(object, attr->name, graph, node);
    case ATTR_CONNECTIONS:
        return node->connected ? set_connections(object, attr->name, &graph->params[node->weight], node->connected)
                               : YS_OK;
    }
    return YS_OK;
}

ys_status ys_attrs_write(ys_json *object, const struct ys_graph *graph, const struct ys_node *node)
{
    for (size_t i = 0; i < TABLE_SIZE; i++)
        if (table[i].ops & OP(node->op))
            YS_TRY(write_attr(object, &table[i], graph, node));
    return YS_OK;
}
