/* Nodes as they are read: the branches of If that were chosen in its place, and each node behind those that make what
 * it reads. */
#include "base/json/shared_words.h"
#include "base/mem.h"
#include "onnx/read/reader_state.h"

#include <string.h>

#define DEEPEST_BRANCH 16 /* branches within branches that are looked into */

static bool is_if(const struct ys_onnx_node_in *node)
{
    return strcmp(node->op, "If") == 0 && (!node->domain[0] || strcmp(node->domain, "ai.onnx") == 0);
}

static void define(ys_json *defined, const char *name)
{
    if (name[0])
        ys_json_set_bool(defined, name, true);
}

/* The names that a graph makes by itself. */
static void define_all(ys_json *defined, const struct ys_onnx_file *graph)
{
    for (size_t i = 0; i < graph->tensor_count; i++)
        define(defined, graph->tensors[i].name);
    for (size_t i = 0; i < graph->input_count; i++)
        define(defined, graph->inputs[i].name);
    for (size_t i = 0; i < graph->node_count; i++)
        for (size_t k = 0; k < graph->nodes[i].out_count; k++)
            define(defined, graph->nodes[i].out[k]);
}

static ys_status look_into(struct ys_onnx_file *file, struct ys_onnx_file *graph, int depth);

/* Adds the names that a branch takes from outside to what the node reads. */
static void add_taken(struct ys_onnx_file *file, struct ys_onnx_node_in *node, const struct ys_onnx_file *branch)
{
    size_t room = node->in_count + branch->output_count, count = node->in_count;
    for (size_t i = 0; i < branch->node_count; i++)
        room += branch->nodes[i].in_count;
    const char **in = ys_onnx_file_keep(file, room, sizeof *in);
    ys_json *own = ys_json_object();
    define_all(own, branch);
    memcpy(in, node->in, node->in_count * sizeof *in);
    for (size_t i = 0; i < branch->node_count; i++)
        for (size_t k = 0; k < branch->nodes[i].in_count; k++)
            if (!ys_json_get(own, branch->nodes[i].in[k]))
                in[count++] = branch->nodes[i].in[k];
    for (size_t i = 0; i < branch->output_count; i++)
        if (!ys_json_get(own, branch->outputs[i].name))
            in[count++] = branch->outputs[i].name;
    node->in = in;
    node->in_count = count;
    ys_json_free(own);
}

static ys_status read_branches(struct ys_onnx_file *file, struct ys_onnx_node_in *node, int depth)
{
    static const char *const names[2] = {"then_branch", "else_branch"};
    if (depth > DEEPEST_BRANCH)
        return YS_FAIL_NODE(node, YS_EUNSUPPORTED, "lies in more than %d branches", DEEPEST_BRANCH);
    for (size_t i = 0; i < 2; i++) {
        struct ys_span message;
        struct ys_onnx_file *branch = ys_onnx_file_keep(file, 1, sizeof *branch);
        YS_TRY(ys_onnx_subgraph(node, names[i], &message));
        YS_TRY(ys_onnx_graph_parse(file, message, branch));
        YS_TRY(look_into(file, branch, depth + 1));
        add_taken(file, node, branch);
        node->branches[i] = branch;
    }
    return YS_OK;
}

static ys_status look_into(struct ys_onnx_file *file, struct ys_onnx_file *graph, int depth)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (is_if(&graph->nodes[i]) && !graph->nodes[i].branches[0])
            YS_TRY(read_branches(file, &graph->nodes[i], depth));
    return YS_OK;
}

/** Putting nodes in order, depth first. */
struct order {
    const struct ys_onnx_file *file;
    ys_json *makers; /* name to the node that makes it */
    char *state;     /* of each node: 0 not seen, 1 on the way, 2 placed */
    size_t *stack, depth, *next_in;
    size_t *placed, count;
    const struct ys_onnx_node_in *looped; /* one that waits for itself, and the name that it reads; NULL */
    const char *looped_in;
};

/* The next node that the one on top waits for; false where it waits for none. */
static bool find_earlier(struct order *o, size_t node, size_t *earlier)
{
    const struct ys_onnx_node_in *at = &o->file->nodes[node];
    while (o->next_in[node] < at->in_count) {
        const int64_t maker = ys_json_get_int(o->makers, at->in[o->next_in[node]++], -1);
        if (maker >= 0 && o->state[maker] == 1) {
            o->looped = &o->file->nodes[maker];
            o->looped_in = o->looped->in[o->next_in[maker] - 1];
        }
        if (maker >= 0 && o->state[maker] == 0) {
            *earlier = (size_t)maker;
            return true;
        }
    }
    return false;
}

static void place(struct order *o, size_t first)
{
    o->stack[o->depth++] = first;
    o->state[first] = 1;
    while (o->depth > 0) {
        size_t top = o->stack[o->depth - 1], earlier;
        if (find_earlier(o, top, &earlier)) {
            o->state[earlier] = 1;
            o->stack[o->depth++] = earlier;
        } else {
            o->state[top] = 2;
            o->placed[o->count++] = top;
            o->depth--;
        }
    }
}

static ys_status sort(struct order *o, struct ys_onnx_node_in *sorted)
{
    bool moved = false;
    for (size_t i = 0; i < o->file->node_count; i++)
        for (size_t k = 0; k < o->file->nodes[i].out_count; k++)
            ys_json_set_int(o->makers, o->file->nodes[i].out[k], (int64_t)i);
    ys_json_set_int(o->makers, "", -1);
    for (size_t i = 0; i < o->file->node_count; i++)
        if (o->state[i] == 0)
            place(o, i);
    if (o->looped)
        return YS_FAIL_NODE(o->looped, YS_EFORMAT, "reads %.100s, which is made of what it makes itself: a cycle",
                            o->looped_in);
    for (size_t i = 0; i < o->count; i++) {
        sorted[i] = o->file->nodes[o->placed[i]];
        moved = moved || o->placed[i] != i;
    }
    if (moved)
        memcpy(o->file->nodes, sorted, o->count * sizeof *sorted);
    return YS_OK;
}

/* A file that is in order stays as it is. */
static ys_status put_in_order(struct ys_onnx_file *file)
{
    const size_t count = file->node_count;
    struct ys_onnx_node_in *sorted = ys_alloc(count, sizeof *sorted);
    struct order o = {.file = file,
                      .makers = ys_json_object(),
                      .state = ys_alloc(count, 1),
                      .stack = ys_alloc(count, sizeof *o.stack),
                      .next_in = ys_alloc(count, sizeof *o.next_in),
                      .placed = ys_alloc(count, sizeof *o.placed)};
    ys_status status = sort(&o, sorted);
    ys_json_free(o.makers);
    ys_free(o.state);
    ys_free(o.stack);
    ys_free(o.next_in);
    ys_free(o.placed);
    ys_free(sorted);
    return status;
}

/* Reading changes nodes (onnx/read/patterns/composed_operators.c): where they are read again, they are what they were.
 */
static void keep_nodes(struct ys_onnx_file *file)
{
    file->arranged = ys_onnx_file_keep(file, file->node_count, sizeof *file->arranged);
    memcpy(file->arranged, file->nodes, file->node_count * sizeof *file->nodes);
}

ys_status ys_onnx_arrange(struct ys_onnx_file *file)
{
    ys_status status = look_into(file, file, 0);
    if (status == YS_OK)
        status = put_in_order(file);
    if (status != YS_OK)
        return ys_fail_in(status, "%s", file->path);
    keep_nodes(file);
    return YS_OK;
}

/* What an If is told by does not hang on the data: it is one of its branches. */
ys_status ys_onnx_choose_branch(struct ys_onnx_step *step)
{
    struct ys_onnx_reading *r = step->r;
    struct ys_onnx_node_in *node = &r->file->nodes[step->node - r->file->nodes];
    const struct ys_onnx_slot *in = node->in_count > 0 ? step->in[0] : NULL;
    if (in && in->kind == YS_ONNX_REFUSED)
        return YS_OK;
    if (!in || in->kind != YS_ONNX_CONSTANT)
        return YS_FAIL_STEP(step, "%s", "its condition hangs on the data: graphs do the same with all of them");
    YS_TRY(ys_onnx_constant_load(&r->folding, in->constant));
    const struct ys_onnx_whole truth =
        in->constant->is_real ? (struct ys_onnx_whole){0, 1} : ys_onnx_constant_whole(in->constant, 0);
    if (in->constant->count != 1 || truth.each)
        return YS_FAIL_STEP(step, "%s", "its condition is not one truth that is known before there are any data");
    node->chosen = truth.fixed ? 1 : 2;
    r->chosen_count++;
    return YS_OK;
}

/** A branch on its way into the file. */
struct taking {
    struct ys_onnx_file *file;
    const struct ys_onnx_node_in *node; /* the If */
    ys_json *defined;                   /* names of the file */
    ys_json *renamed;                   /* of the branch, to what they are called in the file */
};

/* Branches are scopes of their own: their names may be there already. */
static void rename_one(struct taking *t, const char *name)
{
    if (!name[0])
        return;
    if (!ys_json_get(t->defined, name)) {
        ys_json_set_bool(t->defined, name, true);
        return;
    }
    for (int64_t n = 1;; n++) {
        char *other = n == 1 ? ys_format("%s/%s", t->node->name, name)
                             : ys_format("%s/%s_%lld", t->node->name, name, (long long)n);
        const bool taken = ys_json_get(t->defined, other) != NULL;
        if (!taken) {
            ys_json_set(t->renamed, name, ys_json_string(other));
            ys_json_set_bool(t->defined, other, true);
        }
        ys_free(other);
        if (!taken)
            return;
    }
}

static void rename_all(struct taking *t, const struct ys_onnx_file *branch)
{
    for (size_t i = 0; i < branch->tensor_count; i++)
        rename_one(t, branch->tensors[i].name);
    for (size_t i = 0; i < branch->node_count; i++)
        for (size_t k = 0; k < branch->nodes[i].out_count; k++)
            rename_one(t, branch->nodes[i].out[k]);
}

/* As the file calls it, kept with the file. */
static const char *called(const struct taking *t, const char *name)
{
    const char *other = ys_json_get_text(t->renamed, name, NULL);
    return other ? strcpy(ys_onnx_file_keep(t->file, strlen(other) + 1, 1), other) : name;
}

static void call_all(const struct taking *t, const char **names, size_t count, const ys_json *own)
{
    for (size_t i = 0; i < count; i++) {
        names[i] = ys_json_get(own, names[i]) ? names[i] : called(t, names[i]);
    }
}

/* What branches within it take from outside; their own names stay. */
static void call_taken(const struct taking *t, const struct ys_onnx_node_in *node)
{
    for (size_t b = 0; b < 2 && node->branches[b]; b++) {
        const struct ys_onnx_file *branch = node->branches[b];
        ys_json *own = ys_json_object();
        define_all(own, branch);
        for (size_t i = 0; i < branch->node_count; i++) {
            call_all(t, branch->nodes[i].in, branch->nodes[i].in_count, own);
            call_taken(t, &branch->nodes[i]);
        }
        for (size_t i = 0; i < branch->output_count; i++)
            call_all(t, &branch->outputs[i].name, 1, own);
        ys_json_free(own);
    }
}

/* The nodes of a branch, and one for each of its outputs that calls it as the If does. */
static void take_nodes(struct taking *t, struct ys_onnx_file *branch, struct ys_onnx_node_in *to, size_t *count)
{
    for (size_t i = 0; i < branch->node_count; i++) {
        struct ys_onnx_node_in *node = &branch->nodes[i];
        call_all(t, node->in, node->in_count, NULL);
        call_all(t, node->out, node->out_count, NULL);
        call_taken(t, node);
        to[(*count)++] = *node;
    }
    for (size_t i = 0; i < branch->output_count && i < t->node->out_count; i++) {
        const char **ends = ys_onnx_file_keep(t->file, 2, sizeof *ends);
        ends[0] = called(t, branch->outputs[i].name);
        ends[1] = t->node->out[i];
        to[(*count)++] = (struct ys_onnx_node_in){.name = t->node->name,
                                                  .op = "Identity",
                                                  .domain = "",
                                                  .in_count = 1,
                                                  .out_count = 1,
                                                  .in = ends,
                                                  .out = ends + 1};
    }
}

static void take_branch(struct taking *t, struct ys_onnx_file *branch, struct ys_onnx_node_in *nodes,
                        size_t *node_count, struct ys_onnx_tensor_in *tensors, size_t *tensor_count)
{
    t->renamed = ys_json_object();
    rename_all(t, branch);
    for (size_t i = 0; i < branch->tensor_count; i++) {
        tensors[*tensor_count] = branch->tensors[i];
        tensors[(*tensor_count)++].name = called(t, branch->tensors[i].name);
    }
    take_nodes(t, branch, nodes, node_count);
    ys_json_free(t->renamed);
}

static void take_all(struct ys_onnx_file *file)
{
    ys_json *defined = ys_json_object();
    size_t node_room = file->node_count, tensor_room = file->tensor_count, node_count = 0;
    for (size_t i = 0; i < file->node_count; i++) {
        const struct ys_onnx_node_in *node = &file->nodes[i];
        const struct ys_onnx_file *branch = node->chosen ? node->branches[node->chosen - 1] : NULL;
        node_room += branch ? branch->node_count + branch->output_count : 0;
        tensor_room += branch ? branch->tensor_count : 0;
    }
    struct ys_onnx_node_in *nodes = ys_onnx_file_keep(file, node_room, sizeof *nodes);
    struct ys_onnx_tensor_in *tensors = ys_onnx_file_keep(file, tensor_room, sizeof *tensors);
    size_t tensor_count = file->tensor_count;
    memcpy(tensors, file->tensors, tensor_count * sizeof *tensors);
    define_all(defined, file);
    for (size_t i = 0; i < file->node_count; i++) {
        struct taking t = {.file = file, .node = &file->nodes[i], .defined = defined};
        if (!t.node->chosen)
            nodes[node_count++] = file->nodes[i];
        else
            take_branch(&t, t.node->branches[t.node->chosen - 1], nodes, &node_count, tensors, &tensor_count);
    }
    file->nodes = nodes;
    file->node_count = node_count;
    file->tensors = tensors;
    file->tensor_count = tensor_count;
    ys_json_free(defined);
}

ys_status ys_onnx_take_branches(struct ys_onnx_file *file)
{
    for (size_t i = 0; i < file->node_count; i++)
        file->arranged[i].chosen = file->nodes[i].chosen;
    file->nodes = file->arranged;
    take_all(file);
    YS_TRY(put_in_order(file));
    keep_nodes(file);
    return YS_OK;
}

/* "logits and boxes", or with more of them "a, b and others". */
static ys_status name_outputs(const struct ys_onnx_file *file)
{
    const struct ys_onnx_value_in *out = file->outputs;
    return ys_fail(
        YS_EUNSUPPORTED,
        "has %zu outputs, %.100s%s%.100s%s: graphs have one, the logits; say which it is, model.output = %.100s "
        "in a job, --output of import",
        file->output_count, out[0].name, file->output_count > 2 ? ", " : " and ", out[1].name,
        file->output_count > 2 ? " and others" : "", out[0].name);
}

ys_status ys_onnx_choose_output(struct ys_onnx_reading *r)
{
    struct ys_onnx_file *file = r->file;
    const char *pattern = r->feed.output;
    size_t found = file->output_count;
    if (file->output_count == 0)
        return ys_fail(YS_EFORMAT, "%s", "has no output");
    if (!pattern)
        return file->output_count == 1 ? YS_OK : name_outputs(file);
    for (size_t i = 0; i < file->output_count; i++) {
        const char *name = file->outputs[i].name;
        if (!ys_is_meant(pattern, name))
            continue;
        if (found < file->output_count)
            return ys_fail(YS_EINVAL, "model.output = %s: both %.100s and %.100s are called so", pattern,
                           file->outputs[found].name, name);
        found = i;
    }
    if (found == file->output_count)
        return ys_fail(YS_EINVAL, "model.output = %s: no output is called so; it has %.100s%s", pattern,
                       file->outputs[0].name, file->output_count > 1 ? " and others" : "");
    file->outputs[0] = file->outputs[found];
    file->output_count = 1;
    return YS_OK;
}
