/* The attributes of a node, in and out of JSON, as its operator's descriptor names them. */
#include "base/mem.h"
#include "graph/json/json_parts.h"
#include "graph/op.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static ys_status read_only(const struct ys_place *at, const ys_json *value, const char *what, int only)
{
    if (!ys_parts_is_number(value) || ys_json_number(value, NAN) != only)
        return YS_FAIL_AT(at, "%s must be %d", what, only);
    return YS_OK;
}

/** Beyond 1e30 nothing is of use in 32-bit floats. */
static ys_status read_real(const struct ys_place *at, const ys_json *value, const char *what, enum ys_attr_range range,
                           double *number)
{
    static const char *const texts[] = {[YS_RANGE_ANY] = "from -1e30 to 1e30",
                                        [YS_RANGE_POSITIVE] = "above 0, up to 1e30",
                                        [YS_RANGE_NOT_NEGATIVE] = "from 0 to 1e30",
                                        [YS_RANGE_SHARE] = "from 0 to 1",
                                        [YS_RANGE_SHARE_BELOW_1] = "from 0 to below 1"};
    double x = *number = ys_json_number(value, 0);
    if (!ys_parts_is_number(value))
        return YS_FAIL_AT(at, "%s must be a number %s, is %s", what, texts[range], ys_parts_type_text(value));
    bool right = fabs(x) <= 1e30 && (range == YS_RANGE_ANY || x > 0 || (x == 0 && range != YS_RANGE_POSITIVE)) &&
                 (range < YS_RANGE_SHARE || x < 1 || (x == 1 && range == YS_RANGE_SHARE));
    return right ? YS_OK : YS_FAIL_AT(at, "%s is %g: must be a number %s", what, x, texts[range]);
}

static ys_status read_by_tanh(const struct ys_place *at, const ys_json *value, const char *what, bool *by_tanh)
{
    const char *text = ys_json_text(value, "");
    *by_tanh = strcmp(text, "tanh") == 0;
    if (!*by_tanh && strcmp(text, "none") != 0)
        return YS_FAIL_AT(at, "%s must be none or tanh, is \"%.40s\"", what, text);
    return YS_OK;
}

static ys_status read_pad_mode(const struct ys_place *at, const ys_json *value, const char *what,
                               enum ys_pad_mode *mode)
{
    const char *text = ys_json_text(value, "");
    for (int m = 0; m < YS_PAD_MODE_COUNT; m++)
        if (strcmp(text, ys_pad_mode_name((enum ys_pad_mode)m)) == 0) {
            *mode = (enum ys_pad_mode)m;
            return YS_OK;
        }
    return YS_FAIL_AT(at, "%s must be constant, reflect or edge, is \"%.40s\"", what, text);
}

static ys_status read_axis_pads(const struct ys_place *at, const ys_json *value, const char *what, struct ys_pad *pad)
{
    int64_t pads[2 * YS_MAX_RANK];
    size_t count;
    YS_TRY(ys_parts_integers(at, value, what, 4, 2 * YS_MAX_RANK, 0, YS_GRAPH_MAX_WINDOW, pads, &count));
    if (count % 2)
        return YS_FAIL_AT(at, "%s has %zu entries: must have two for each axis", what, count);
    pad->rank = count / 2;
    memcpy(pad->before, pads, pad->rank * sizeof *pads);
    memcpy(pad->after, pads + pad->rank, pad->rank * sizeof *pads);
    return YS_OK;
}

static ys_status read_channel_reals(const struct ys_place *at, const ys_json *value, const char *what,
                                    enum ys_attr_range range, size_t *channels, double **numbers)
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

static ys_status read_attr(const struct ys_place *at, const struct ys_attr *attr, const ys_json *value,
                           const struct ys_graph *graph, struct ys_node *node)
{
    void *place = (char *)node + attr->offset;
    char what[40];
    size_t count;
    snprintf(what, sizeof what, "attribute %s", attr->name);
    switch (attr->kind) {
    case YS_ATTR_ONLY:
    case YS_ATTR_UNSAID:
        return read_only(at, value, what, attr->only);
    case YS_ATTR_FLAG:
    case YS_ATTR_NOTE:
        return read_flag(at, value, what, place);
    case YS_ATTR_SIZE:
        return ys_parts_integer(at, value, what, 1, YS_GRAPH_MAX_WINDOW, place);
    case YS_ATTR_AXIS:
        return read_axis(at, value, what, place);
    case YS_ATTR_PAIR:
        return ys_parts_integers(at, value, what, 2, 2, 1, YS_GRAPH_MAX_WINDOW, place, &count);
    case YS_ATTR_PADS:
        return ys_parts_integers(at, value, what, 4, 4, 0, YS_GRAPH_MAX_WINDOW, place, &count);
    case YS_ATTR_EXTRA:
        return ys_parts_integers(at, value, what, 2, 2, 0, YS_GRAPH_MAX_WINDOW, place, &count);
    case YS_ATTR_PAD_MODE:
        return read_pad_mode(at, value, what, place);
    case YS_ATTR_AXIS_PADS:
        return read_axis_pads(at, value, what, place);
    case YS_ATTR_REAL:
        return read_real(at, value, what, attr->range, place);
    case YS_ATTR_BY_TANH:
        return read_by_tanh(at, value, what, place);
    case YS_ATTR_CHANNEL_REALS:
        return read_channel_reals(at, value, what, attr->range, &node->normalize.channels, place);
    case YS_ATTR_SPLIT:
        return ys_parts_integers(at, value, what, node->out_count, node->out_count, 1, YS_GRAPH_MAX_ELEMENTS, place,
                                 &count);
    case YS_ATTR_SHAPE:
        return ys_parts_shape(at, value, what, true, place, &node->shape_rank);
    case YS_ATTR_PERMUTATION:
        return read_permutation(at, value, what, place);
    case YS_ATTR_AXES:
        return read_axes(at, value, what, place);
    case YS_ATTR_CONNECTIONS:
        return read_connections(at, value, what, &graph->params[node->weight], place);
    }
    return YS_OK;
}

ys_status ys_attrs_read(const struct ys_place *at, const ys_json *attrs, const struct ys_graph *graph,
                        struct ys_node *node)
{
    const struct ys_attr *first = ys_op_rule(node->op)->attrs;
    const char *known[YS_OP_MAX_ATTRS + 1] = {NULL};
    for (size_t i = 0; first[i].name; i++)
        known[i] = first[i].name;
    if (attrs)
        YS_TRY(ys_parts_members(at, attrs, "attrs", known));
    for (const struct ys_attr *attr = first; attr->name; attr++) {
        const ys_json *value = ys_json_get(attrs, attr->name);
        if (value || !attr->optional)
            YS_TRY(read_attr(at, attr, value, graph, node));
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

static ys_status set_axis_pads(ys_json *object, const char *key, const struct ys_pad *pad)
{
    int64_t pads[2 * YS_MAX_RANK];
    memcpy(pads, pad->before, pad->rank * sizeof *pads);
    memcpy(pads + pad->rank, pad->after, pad->rank * sizeof *pads);
    return ys_parts_set_integers(object, key, pads, 2 * pad->rank);
}

static ys_status write_attr(ys_json *object, const struct ys_attr *attr, const struct ys_graph *graph,
                            const struct ys_node *node)
{
    const void *place = (const char *)node + attr->offset;
    int64_t axes[YS_MAX_RANK];
    size_t count;
    switch (attr->kind) {
    case YS_ATTR_ONLY:
        return ys_json_set_int(object, attr->name, attr->only);
    case YS_ATTR_UNSAID:
        return YS_OK;
    case YS_ATTR_FLAG:
        return ys_json_set_int(object, attr->name, *(const bool *)place);
    case YS_ATTR_NOTE:
        return *(const bool *)place ? ys_json_set_int(object, attr->name, 1) : YS_OK;
    case YS_ATTR_SIZE:
        return ys_json_set_int(object, attr->name, *(const int64_t *)place);
    case YS_ATTR_AXIS:
        return ys_json_set_int(object, attr->name, *(const int *)place);
    case YS_ATTR_PAIR:
        return ys_parts_set_integers(object, attr->name, place, 2);
    case YS_ATTR_PADS:
        return ys_parts_set_integers(object, attr->name, place, 4);
    case YS_ATTR_EXTRA:
        return ys_parts_set_integers(object, attr->name, place, 2);
    case YS_ATTR_PAD_MODE:
        return ys_json_set_string(object, attr->name, ys_pad_mode_name(*(const enum ys_pad_mode *)place));
    case YS_ATTR_AXIS_PADS:
        return set_axis_pads(object, attr->name, place);
    case YS_ATTR_REAL:
        return ys_json_set_real(object, attr->name, *(const double *)place);
    case YS_ATTR_BY_TANH:
        return ys_json_set_string(object, attr->name, *(const bool *)place ? "tanh" : "none");
    case YS_ATTR_CHANNEL_REALS:
        return set_reals(object, attr->name, *(double *const *)place, node->normalize.channels);
    case YS_ATTR_SPLIT:
        return ys_parts_set_integers(object, attr->name, place, node->out_count);
    case YS_ATTR_SHAPE:
        return ys_parts_set_integers(object, attr->name, place, node->shape_rank);
    case YS_ATTR_PERMUTATION:
    case YS_ATTR_AXES:
        count = ys_attr_axes(attr, graph, node, axes);
        return ys_parts_set_integers(object, attr->name, axes, count);
    case YS_ATTR_CONNECTIONS:
        return node->connected ? set_connections(object, attr->name, &graph->params[node->weight], node->connected)
                               : YS_OK;
    }
    return YS_OK;
}

ys_status ys_attrs_write(ys_json *object, const struct ys_graph *graph, const struct ys_node *node)
{
    for (const struct ys_attr *attr = ys_op_rule(node->op)->attrs; attr->name; attr++)
        YS_TRY(write_attr(object, attr, graph, node));
    return YS_OK;
}
