#include "graph/change.h"

#include "base/json/shared_words.h"
#include "base/mem.h"
#include "graph/compose.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATORS " ,\t"
static const char copy_mark[] = ".copy";

/* The next word of a list, into memory of its own; NULL at its end. */
static char *next_word(const char **list)
{
    *list += strspn(*list, SEPARATORS);
    const size_t length = strcspn(*list, SEPARATORS);
    char *word = length ? ys_strndup(*list, length) : NULL;
    *list += length;
    return word;
}

/* Marks in `chosen` every trainable parameter that a pattern of the list names. */
static ys_status choose(const struct ys_graph *graph, const char *key, const char *list, bool *chosen)
{
    const char *at = list;
    for (char *word; (word = next_word(&at)) != NULL; ys_free(word)) {
        bool any = false;
        for (size_t i = 0; i < graph->param_count; i++)
            if (graph->params[i].role == YS_ROLE_WEIGHT && ys_is_meant(word, graph->params[i].name))
                chosen[i] = any = true;
        if (!any) {
            ys_status status =
                ys_fail(YS_EINVAL, "%s = %s: no parameter of %s is called \"%.100s\"; it has %s and others", key, list,
                        graph->name, word, graph->param_count ? graph->params[0].name : "none");
            ys_free(word);
            return status;
        }
    }
    return YS_OK;
}

static ys_status set_factors(struct ys_graph *graph, const char *key, const char *list, double factor)
{
    bool *chosen = ys_alloc(graph->param_count, sizeof *chosen);
    ys_status status = chosen ? choose(graph, key, list, chosen) : ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < graph->param_count; i++)
        if (chosen[i])
            graph->params[i].lr_mult = graph->params[i].decay_mult = factor;
    ys_free(chosen);
    return status;
}

static bool reads_two(const struct ys_graph *graph, int a, int b)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        bool reads_a = false, reads_b = false;
        for (int which = 0; which < YS_NODE_PARAM_COUNT; which++) {
            const int param = ys_node_param(&graph->nodes[i], (enum ys_node_param)which);
            reads_a = reads_a || param == a;
            reads_b = reads_b || param == b;
        }
        if (reads_a && reads_b)
            return true;
    }
    return false;
}

static void replace(struct ys_graph *graph, int from, int to)
{
    for (size_t i = 0; i < graph->node_count; i++)
        for (int which = 0; which < YS_NODE_PARAM_COUNT; which++) {
            int *place = ys_node_param_place(&graph->nodes[i], (enum ys_node_param)which);
            if (*place == from)
                *place = to;
        }
}

/* Parameter `gone` is `first` from here on. */
static ys_status tie_two(struct ys_graph *graph, int first, int gone)
{
    const struct ys_param *a = &graph->params[first], *b = &graph->params[gone];
    if (a->rank != b->rank || memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) != 0)
        return ys_fail(YS_EINVAL, "model.tie: %s and %s have different shapes", a->name, b->name);
    if (reads_two(graph, first, gone) || ys_param_connections(graph, (size_t)first) ||
        ys_param_connections(graph, (size_t)gone))
        return ys_fail(YS_EINVAL, "model.tie: %s and %s belong to one node, or to a table of connections", a->name,
                       b->name);
    replace(graph, gone, first);
    ys_free(graph->params[gone].name);
    graph->param_count--;
    for (int i = gone; i < (int)graph->param_count; i++) {
        graph->params[i] = graph->params[i + 1];
        replace(graph, i + 1, i);
    }
    return YS_OK;
}

static ys_status tie(struct ys_graph *graph, const char *list)
{
    bool *chosen = ys_alloc(graph->param_count, sizeof *chosen);
    int first = -1, count = 0;
    ys_status status = chosen ? choose(graph, "model.tie", list, chosen) : ys_out_of_memory();
    for (int i = 0; status == YS_OK && i < (int)graph->param_count; i++) {
        count += chosen[i];
        first = chosen[i] && first < 0 ? i : first;
    }
    if (status == YS_OK && count < 2)
        status = ys_fail(YS_EINVAL, "model.tie = %s: names one parameter, and two or more become one", list);
    for (int i = (int)graph->param_count; status == YS_OK && --i > first;)
        if (chosen[i])
            status = tie_two(graph, first, i);
    ys_free(chosen);
    return status;
}

static ys_status add_copy(struct ys_graph *graph, int param, int number, int *index)
{
    char *name = ys_format("%s%s%d", graph->params[param].name, copy_mark, number);
    struct ys_param copy = graph->params[param];
    copy.name = name;
    ys_status status = name ? YS_OK : ys_out_of_memory();
    if (name && strlen(name) > YS_GRAPH_MAX_NAME)
        status = ys_fail(YS_EINVAL, "model.untie: the name %s is too long", name);
    for (size_t i = 0; status == YS_OK && i < graph->param_count; i++)
        if (strcmp(graph->params[i].name, name) == 0)
            status = ys_fail(YS_EINVAL, "model.untie: there is a parameter %s already", name);
    if (status == YS_OK)
        status = ys_compose_param(graph, &copy, index);
    ys_free(name);
    return status;
}

/* Every reader of `param` but the first gets a copy. */
static ys_status untie_one(struct ys_graph *graph, int param)
{
    int readers = 0, copy;
    for (size_t i = 0; i < graph->node_count; i++)
        for (int which = 0; which < YS_NODE_PARAM_COUNT; which++) {
            int *place = ys_node_param_place(&graph->nodes[i], (enum ys_node_param)which);
            if (*place != param || readers++ == 0)
                continue;
            YS_TRY(add_copy(graph, param, readers, &copy));
            *place = copy;
        }
    return readers > 1 ? YS_OK
                       : ys_fail(YS_EINVAL, "model.untie: %s belongs to one node alone", graph->params[param].name);
}

static ys_status untie(struct ys_graph *graph, const char *list)
{
    const size_t count = graph->param_count;
    bool *chosen = ys_alloc(count, sizeof *chosen);
    ys_status status = chosen ? choose(graph, "model.untie", list, chosen) : ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < count; i++)
        if (chosen[i])
            status = untie_one(graph, (int)i);
    ys_free(chosen);
    return status;
}

/* The node that normalises what the network is fed; NULL without. */
static struct ys_node *find_normalize(struct ys_graph *graph)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i].op == YS_OP_NORMALIZE && ys_graph_input_of(graph, graph->nodes[i].in[0]) >= 0)
            return &graph->nodes[i];
    return NULL;
}

/* As many numbers as there are channels, in memory that the normalize node has from here on. */
static ys_status widen(struct ys_normalize *n, size_t channels)
{
    double **lists[] = {&n->mean, &n->std};
    for (size_t k = 0; n->channels != channels && k < 2; k++) {
        double *larger = ys_alloc(channels, sizeof *larger);
        if (!larger)
            return ys_out_of_memory();
        for (size_t c = 0; c < channels; c++)
            larger[c] = (*lists[k])[0];
        ys_free(*lists[k]);
        *lists[k] = larger;
    }
    n->channels = channels;
    return YS_OK;
}

static ys_status read_numbers(const char *key, const char *list, bool positive, size_t room, double *numbers,
                              size_t *count)
{
    const char *at = list;
    *count = 0;
    for (char *word; (word = next_word(&at)) != NULL; ys_free(word)) {
        char *end;
        const double number = strtod(word, &end);
        const bool fits = !*end && *count < room && fabs(number) < 1e30 && (!positive || number > 0);
        if (!fits) {
            ys_free(word);
            return ys_fail(YS_EINVAL, "%s = %s: must be 1 number or %zu%s", key, list, room,
                           positive ? ", each above 0" : "");
        }
        numbers[(*count)++] = number;
    }
    return *count == 1 || *count == room
               ? YS_OK
               : ys_fail(YS_EINVAL, "%s = %s: has %zu numbers, must be 1 or %zu", key, list, *count, room);
}

static ys_status set_pixels(struct ys_graph *graph, const char *key, const char *list, bool is_std)
{
    struct ys_node *node = find_normalize(graph);
    if (!node)
        return ys_fail(YS_EINVAL, "%s: %s does not normalise what it is fed", key, graph->name);
    const struct ys_value *in = &graph->values[node->in[0]];
    const size_t channels = in->rank > 1 ? (size_t)in->shape[1] : 1;
    double *numbers = ys_alloc(channels, sizeof *numbers);
    size_t count;
    ys_status status = numbers ? read_numbers(key, list, is_std, channels, numbers, &count) : ys_out_of_memory();
    if (status == YS_OK && count > 1)
        status = widen(&node->normalize, channels);
    double *places = is_std ? node->normalize.std : node->normalize.mean;
    for (size_t c = 0; status == YS_OK && c < node->normalize.channels; c++)
        places[c] = numbers[count == 1 ? 0 : c];
    ys_free(numbers);
    return status;
}

ys_status ys_graph_change(struct ys_graph *graph, const struct ys_graph_changes *c)
{
    if (c->freeze)
        YS_TRY(set_factors(graph, "model.freeze", c->freeze, 0));
    if (c->train)
        YS_TRY(set_factors(graph, "model.train", c->train, 1));
    if (c->tie)
        YS_TRY(tie(graph, c->tie));
    if (c->untie)
        YS_TRY(untie(graph, c->untie));
    if (c->mean)
        YS_TRY(set_pixels(graph, "model.mean", c->mean, false));
    if (c->std)
        YS_TRY(set_pixels(graph, "model.std", c->std, true));
    return c->freeze && ys_graph_parameter_count(graph) == 0
               ? ys_fail(YS_EINVAL, "model.freeze = %s: leaves nothing to train", c->freeze)
               : YS_OK;
}

size_t ys_graph_untied_length(const char *name)
{
    const size_t length = strlen(name), mark = strlen(copy_mark);
    size_t digits = 0;
    while (digits < length && isdigit((unsigned char)name[length - 1 - digits]))
        digits++;
    const bool is_copy =
        digits > 0 && length > digits + mark && strncmp(name + length - digits - mark, copy_mark, mark) == 0;
    return is_copy ? length - digits - mark : length;
}
