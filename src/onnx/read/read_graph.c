#include "onnx/read/onnx_read.h"

#include "base/files/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include "onnx/file/open_file.h"
#include "onnx/read/reader_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FURTHEST_PIECE    256  /* nodes that a piece of a value may come behind the first reader of another */
#define MOST_TURNS        32   /* times that branches are taken */
#define MAX_REFUSALS_TEXT 1500 /* bytes: a message of ys_fail() has room for them */

void ys_onnx_note(struct ys_onnx_reading *r, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ys_json_append(r->notes, ys_json_string(text));
}

/* The slot of a name, made when it is new; NULL for the empty name. There is room for every name of the file. */
static void slot_of(struct ys_onnx_reading *r, const char *name, struct ys_onnx_slot **slot)
{
    *slot = NULL;
    if (!name[0])
        return;
    int64_t index = ys_json_get_int(r->names, name, -1);
    if (index < 0) {
        index = (int64_t)r->slot_count++;
        ys_json_set_int(r->names, name, index);
    }
    *slot = &r->slots[index];
}

static ys_status make_slots(struct ys_onnx_reading *r)
{
    const struct ys_onnx_file *file = r->file;
    size_t count = 1 + file->tensor_count + file->input_count + file->output_count;
    for (size_t i = 0; i < file->node_count; i++)
        count += file->nodes[i].in_count + file->nodes[i].out_count;
    r->slots = ys_alloc(count, sizeof *r->slots);
    r->names = ys_json_object();
    r->matrices = ys_json_object();
    r->layers = ys_json_object();
    r->seen = ys_json_object();
    r->pieces = ys_json_object();
    for (size_t i = 0; i < 3; i++)
        r->taken[i] = ys_json_object();
    r->nodes = ys_json_array();
    r->parameters = ys_json_array();
    r->notes = ys_json_array();
    struct ys_onnx_slot *slot;
    for (size_t i = 0; i < file->tensor_count; i++) {
        slot_of(r, file->tensors[i].name, &slot);
        if (!slot || slot->constant)
            return ys_fail(YS_EFORMAT, "initializer \"%.100s\" has no name, or that of another", file->tensors[i].name);
        slot->kind = YS_ONNX_CONSTANT;
        slot->constant = ys_onnx_file_keep(r->file, 1, sizeof *slot->constant); /* until it is needed, a mark */
    }
    return YS_OK;
}

/* Which nodes the output needs, from its end; how often each name is read. */
static ys_status find_needed(struct ys_onnx_reading *r, bool *needed)
{
    struct ys_onnx_slot *slot;
    slot_of(r, r->file->outputs[0].name, &slot);
    if (!slot)
        return ys_fail(YS_EFORMAT, "%s", "its output has no name");
    slot->needed = true;
    slot->uses++;
    for (size_t i = r->file->node_count; i-- > 0;) {
        const struct ys_onnx_node_in *node = &r->file->nodes[i];
        for (size_t k = 0; k < node->out_count; k++) {
            slot_of(r, node->out[k], &slot);
            needed[i] = needed[i] || (slot && slot->needed);
        }
        for (size_t k = 0; k < node->in_count && needed[i]; k++) {
            slot_of(r, node->in[k], &slot);
            if (slot) {
                slot->needed = true;
                slot->uses++;
                slot->feeds_mul = slot->feeds_mul || strcmp(node->op, "Mul") == 0 || strcmp(node->op, "MatMul") == 0;
                slot->feeds_erf = slot->feeds_erf || strcmp(node->op, "Erf") == 0;
            }
        }
    }
    return YS_OK;
}

/* The output without what makes at most another shape of it. Nodes stand in their order. */
static void find_last(struct ys_onnx_reading *r)
{
    static const char *const passing[] = {"Identity", "Cast",    "CastLike",  "Reshape",
                                          "Flatten",  "Squeeze", "Unsqueeze", "Transpose"};
    struct ys_onnx_slot *out, *in;
    slot_of(r, r->file->outputs[0].name, &out);
    r->last = out;
    for (size_t i = r->file->node_count; i-- > 0;) {
        const struct ys_onnx_node_in *node = &r->file->nodes[i];
        if (node->out_count == 0 || node->in_count == 0)
            continue;
        slot_of(r, node->out[0], &out);
        if (!out || out != r->last)
            continue;
        bool passes = false;
        for (size_t k = 0; k < sizeof passing / sizeof *passing; k++)
            passes = passes || strcmp(node->op, passing[k]) == 0;
        slot_of(r, node->in[0], &in);
        if (!passes || !in || in->uses != 1)
            return;
        r->last = in;
    }
}

static void refuse(struct ys_onnx_reading *r)
{
    r->refusal_count++;
    r->is_cut = r->is_cut || r->refusals.size + strlen(ys_error()) >= MAX_REFUSALS_TEXT;
    if (!r->is_cut)
        ys_buf_printf(&r->refusals, "%s%s", r->refusals.size ? "; " : "", ys_error());
}

/* What holds neither reals nor integers is refused with all else that is. */
static ys_status load_initializer(struct ys_onnx_reading *r, const struct ys_onnx_tensor_in *tensor,
                                  struct ys_onnx_slot *slot)
{
    ys_status status = ys_onnx_constant_of(&r->folding, tensor, &slot->constant);
    if (status != YS_EUNSUPPORTED)
        return status;
    if (r->refusal_count > 0) /* which types are read was said */
        (void)ys_fail(YS_EUNSUPPORTED, "tensor %.100s is of %s", tensor->name, ys_onnx_type_name(tensor->type));
    slot->kind = YS_ONNX_REFUSED;
    refuse(r);
    return YS_OK;
}

static ys_status load_initializers(struct ys_onnx_reading *r)
{
    struct ys_onnx_slot *slot;
    size_t unused = 0, narrow = 0, wide = 0;
    for (size_t i = 0; i < r->file->tensor_count; i++) {
        slot_of(r, r->file->tensors[i].name, &slot);
        if (slot->needed)
            YS_TRY(load_initializer(r, &r->file->tensors[i], slot));
        const int type = slot->needed ? r->file->tensors[i].type : YS_ONNX_FLOAT;
        unused += !slot->needed;
        narrow += type == YS_ONNX_FLOAT16 || type == YS_ONNX_BFLOAT16;
        wide += type == YS_ONNX_DOUBLE && !r->own;
    }
    if (narrow)
        ys_onnx_note(r, "%zu initializers of FLOAT16 or BFLOAT16 are widened to FLOAT", narrow);
    if (wide)
        ys_onnx_note(r, "%zu initializers of DOUBLE are rounded to FLOAT where they are parameters", wide);
    if (unused)
        ys_onnx_note(r, "%zu initializers that nothing reads are left out", unused);
    return YS_OK;
}

/* The inputs that the output depends on. */
static ys_status find_inputs(struct ys_onnx_reading *r, const struct ys_onnx_value_in *inputs[YS_ROWS_MAX_INPUTS],
                             size_t *count)
{
    struct ys_onnx_slot *slot;
    *count = 0;
    for (size_t i = 0; i < r->file->input_count; i++) {
        slot_of(r, r->file->inputs[i].name, &slot);
        if (!slot || slot->constant || !slot->needed)
            continue;
        if (*count == YS_ROWS_MAX_INPUTS)
            return ys_fail(YS_EUNSUPPORTED, "has more than %d inputs that its output depends on", YS_ROWS_MAX_INPUTS);
        inputs[(*count)++] = &r->file->inputs[i];
    }
    return *count ? YS_OK : ys_fail(YS_EFORMAT, "%s", "its output depends on no input");
}

/* What of the network's pixels is done before it: nothing for those of yardstick's own files, and bytes are read as
 * they are; floats are taken to be in [0, 1]. */
static void begin_pixels(struct ys_onnx_reading *r, const struct ys_onnx_value_in *input, struct ys_onnx_slot *slot)
{
    struct ys_value *x = &r->graph->values[r->graph->inputs[0]];
    const bool as_stored = r->own || input->type == YS_ONNX_UINT8;
    const double scale = r->feed.scale > 0 ? r->feed.scale : 1.0 / 255;
    x->dtype = r->feed.scale > 0 ? r->feed.dtype : as_stored && input->type != YS_ONNX_UINT8 ? YS_F32 : YS_U8;
    slot->pixels = ys_onnx_file_keep(r->file, 1, sizeof *slot->pixels);
    *slot->pixels = (struct ys_onnx_pixels){.scale = as_stored ? 1 : scale, .std = {1}, .channels = 1};
    if (as_stored || scale == 1)
        return;
    ys_onnx_note(r, "input %.100s is taken to be pixels in [0, 1]: they are multiplied by %g first", input->name,
                 scale);
}

static ys_status begin_image(struct ys_onnx_reading *r, const struct ys_onnx_value_in *input, struct ys_onnx_slot *slot)
{
    static const int seen[4] = {0, 2, 3, 1};
    struct ys_value *x = &r->graph->values[r->graph->inputs[0]];
    bool channels_last;
    x->rank = 4;
    YS_TRY(ys_onnx_find_image(r, input, x->shape + 1, &channels_last));
    if (channels_last) {
        memcpy(slot->perm, seen, sizeof seen);
        ys_onnx_note(r, "input %.100s is (N, height, width, channels): the data are NCHW, and seen that way",
                     input->name);
    } else if (!r->own && r->feed.layout == YS_LAYOUT_AUTO && x->shape[1] > 4) {
        ys_onnx_note(r, "input %.100s is taken to be (N, channels, height, width)", input->name);
    }
    begin_pixels(r, input, slot);
    return YS_OK;
}

/* Rows that are no images: a list of features, or images of data of which they are the elements. */
static ys_status begin_rows(struct ys_onnx_reading *r, const struct ys_onnx_value_in *input, struct ys_onnx_slot *slot)
{
    struct ys_value *x = &r->graph->values[r->graph->inputs[0]];
    const int64_t *data = r->feed.shape;
    int64_t elements = 1;
    for (size_t i = 1; i < input->rank; i++)
        elements = input->shape[i] < 1 ? 0 : elements * input->shape[i];
    if (input->rank < 2 || elements < 1)
        return ys_fail(YS_EUNSUPPORTED, "its input %.100s has %zu dimensions, or an open one besides the batch",
                       input->name, input->rank);
    const bool fits = data[0] * data[1] * data[2] == elements, has_data = data[0] && (fits || r->feed.is_strict);
    x->rank = has_data ? 4 : input->rank;
    memcpy(x->shape + 1, has_data ? data : input->shape + 1, (x->rank - 1) * sizeof *x->shape);
    if (has_data && !fits)
        return ys_fail(YS_EUNSUPPORTED, "its input %.100s has %lld elements a row, the data have %lld x %lld x %lld",
                       input->name, (long long)elements, (long long)data[0], (long long)data[1], (long long)data[2]);
    if (!has_data)
        return YS_OK;
    const struct ys_onnx_node_in node = {.name = "rows", .op = "input"};
    struct ys_onnx_step step = {.r = r, .node = &node};
    int made;
    begin_pixels(r, input, slot);
    YS_TRY(ys_onnx_take(&step, slot, false, &slot->value));
    YS_TRY(ys_onnx_begin_extra(&step, input->rank == 2 ? YS_OP_FLATTEN : YS_OP_RESHAPE, slot->value, "rows", &made));
    if (input->rank > 2) {
        r->graph->nodes[made].shape_rank = input->rank;
        memcpy(r->graph->nodes[made].shape, input->shape, sizeof input->shape);
        r->graph->nodes[made].shape[0] = YS_BATCH;
    }
    return ys_onnx_end(r, made, &slot->value);
}

static bool is_tokens(const struct ys_onnx_value_in *input)
{
    return input->type == YS_ONNX_INT32 || input->type == YS_ONNX_INT64;
}

/* Checks an input and gives it a value of the graph, without its shape. */
static ys_status add_input(struct ys_onnx_reading *r, const struct ys_onnx_value_in *input, const char *name,
                           struct ys_onnx_slot **slot)
{
    struct ys_graph *graph = r->graph;
    int *value = &graph->inputs[graph->input_count];
    slot_of(r, input->name, slot);
    if (is_tokens(input) && input->has_shape && input->rank < 2)
        return ys_fail(YS_EUNSUPPORTED, "its input %.100s has no positions besides the batch", input->name);
    if (!is_tokens(input) && input->type != YS_ONNX_FLOAT && input->type != YS_ONNX_DOUBLE &&
        input->type != YS_ONNX_FLOAT16 && input->type != YS_ONNX_BFLOAT16 && input->type != YS_ONNX_UINT8)
        return ys_fail(YS_EUNSUPPORTED,
                       "its input %.100s is of %s: pixels (FLOAT or UINT8) and tokens (INT32 or INT64) are read",
                       input->name, ys_onnx_type_name(input->type));
    if (!input->has_shape || input->rank < 2)
        return ys_fail(YS_EUNSUPPORTED, "its input %.100s has no shape, or no dimension besides the batch",
                       input->name);
    if (input->shape[0] != -1 && r->fixed_batch && input->shape[0] != r->fixed_batch)
        return ys_fail(YS_EUNSUPPORTED, "its inputs are fixed at %lld and %lld rows", (long long)r->fixed_batch,
                       (long long)input->shape[0]);
    r->fixed_batch = input->shape[0] == -1 ? r->fixed_batch : input->shape[0];
    ys_json_set_bool(r->taken[YS_ONNX_VALUE_NAME], name, true);
    YS_TRY(ys_compose_value(graph, name, value));
    graph->input_count++;
    graph->values[*value].shape[0] = YS_BATCH;
    (*slot)->kind = YS_ONNX_LIVE;
    (*slot)->value = *value;
    for (int i = 0; i < YS_MAX_RANK; i++)
        (*slot)->perm[i] = i;
    if (input->shape[0] == -1)
        return YS_OK;
    ys_onnx_note(r, "input %.100s is fixed at %lld rows: read as any number of them", input->name,
                 (long long)input->shape[0]);
    return YS_OK;
}

/* One of several inputs: the data have arrays of their names, shapes and types. */
static ys_status begin_one_of(struct ys_onnx_reading *r, const struct ys_onnx_value_in *input, const char *name)
{
    static const int seen[4] = {0, 2, 3, 1};
    const bool channels_last = input->rank == 4 && r->feed.layout == YS_LAYOUT_NHWC;
    struct ys_onnx_slot *slot;
    YS_TRY(add_input(r, input, name, &slot));
    struct ys_value *value = &r->graph->values[slot->value];
    value->rank = input->rank;
    if (channels_last)
        memcpy(slot->perm, seen, sizeof seen);
    for (size_t i = 1; i < input->rank; i++) {
        if (input->shape[i] < 1)
            return ys_fail(YS_EUNSUPPORTED, "its input %.100s has an open dimension besides the batch", input->name);
        value->shape[slot->perm[i]] = input->shape[i];
    }
    value->dtype = is_tokens(input) ? YS_I32 : input->type == YS_ONNX_UINT8 ? YS_U8 : YS_F32;
    if (value->dtype == YS_U8) {
        slot->pixels = ys_onnx_file_keep(r->file, 1, sizeof *slot->pixels);
        *slot->pixels = (struct ys_onnx_pixels){.scale = 1, .std = {1}, .channels = 1};
    }
    if (strcmp(name, input->name) == 0)
        return YS_OK;
    ys_onnx_note(r, "input %.100s is fed by the array %s of the data", input->name, name);
    return YS_OK;
}

/* A layout says something of images alone. */
static ys_status check_layout(const struct ys_onnx_reading *r, const struct ys_onnx_value_in *const *inputs,
                              size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (inputs[i]->rank == 4)
            return YS_OK;
    return r->feed.layout == YS_LAYOUT_AUTO
               ? YS_OK
               : ys_fail(YS_EINVAL, "model.layout: its input %.100s has %zu dimensions, and no image has: write auto",
                         inputs[0]->name, inputs[0]->rank);
}

static ys_status begin_graph(struct ys_onnx_reading *r)
{
    const struct ys_onnx_value_in *inputs[YS_ROWS_MAX_INPUTS];
    const char *names[YS_ROWS_MAX_INPUTS];
    struct ys_onnx_slot *slot;
    size_t count;
    YS_TRY(find_inputs(r, inputs, &count));
    YS_TRY(check_layout(r, inputs, count));
    YS_TRY(ys_onnx_feed(r, inputs, count, names));
    if (count == 1) {
        if (is_tokens(inputs[0]))
            return begin_one_of(r, inputs[0], names[0]);
        YS_TRY(add_input(r, inputs[0], names[0], &slot));
        return inputs[0]->rank == 4 ? begin_image(r, inputs[0], slot) : begin_rows(r, inputs[0], slot);
    }
    for (size_t i = 0; i < count; i++)
        YS_TRY(begin_one_of(r, inputs[i], names[i]));
    ys_onnx_note(r, "it has %zu inputs: the data must have arrays of their names, read as they are", count);
    return YS_OK;
}

static ys_status read_node(struct ys_onnx_reading *r, const struct ys_onnx_node_in *node);

/* Whether all that a node reads is there, and is constant but for pieces of that value. */
static bool may_come_early(const struct ys_onnx_reading *r, const struct ys_onnx_node_in *node, int value)
{
    const bool takes = strcmp(node->op, "Slice") == 0 || strcmp(node->op, "SequenceAt") == 0 ||
                       strcmp(node->op, "SplitToSequence") == 0;
    bool may = true;
    for (size_t i = 0; may && i < node->in_count; i++) {
        const int64_t index = ys_json_get_int(r->names, node->in[i], -1);
        const struct ys_onnx_slot *in = index < 0 ? NULL : &r->slots[index];
        may = !node->in[i][0] || (in && in->kind == YS_ONNX_CONSTANT) ||
              (in && i == 0 && takes && in->kind == YS_ONNX_LIVE && in->value == value &&
               (in->curve == YS_ONNX_PLAIN || in->curve == YS_ONNX_SEQUENCE));
    }
    return may;
}

/* A piece is read before the others of its value: files may have them later, where they are needed. They are read now,
 * or the piece is refused. */
static ys_status read_other_pieces(struct ys_onnx_step *step, struct ys_onnx_slot *piece)
{
    struct ys_onnx_reading *r = step->r;
    const size_t from = (size_t)(step->node - r->file->nodes) + 1, count = r->file->node_count;
    for (size_t i = from; i < count && i - from < FURTHEST_PIECE && piece->curve == YS_ONNX_SLICE; i++) {
        if (r->done[i] || !may_come_early(r, &r->file->nodes[i], piece->value))
            continue;
        r->done[i] = true;
        YS_TRY(read_node(r, &r->file->nodes[i]));
    }
    return piece->curve == YS_ONNX_SLICE ? ys_onnx_settle(step, piece) : YS_OK;
}

/* Of several outputs, the first of which may be left out. */
static bool is_recurrent(const char *op)
{
    return strcmp(op, "LSTM") == 0 || strcmp(op, "GRU") == 0;
}

/* What a node reads and makes, as slots; *refused when something before it was. */
static ys_status find_slots(struct ys_onnx_reading *r, const struct ys_onnx_node_in *node, struct ys_onnx_slot **in,
                            struct ys_onnx_slot **out, bool *refused, bool *all_constant)
{
    *all_constant = true;
    *refused = false;
    for (size_t i = 0; i < node->in_count; i++) {
        slot_of(r, node->in[i], &in[i]);
        if (!in[i])
            continue;
        if (in[i]->kind == YS_ONNX_NONE)
            return YS_FAIL_NODE(node, YS_EFORMAT, "reads %.100s, which nothing makes", node->in[i]);
        *refused = *refused || in[i]->kind == YS_ONNX_REFUSED;
        *all_constant = *all_constant && in[i]->kind == YS_ONNX_CONSTANT;
    }
    for (size_t k = node->out_count; k-- > 0;) {
        struct ys_onnx_slot *made;
        slot_of(r, node->out[k], &made);
        *out = made ? made : *out;
        if (made)
            made->made_by = node;
        if (made && made->kind != YS_ONNX_NONE)
            return YS_FAIL_NODE(node, YS_EFORMAT, "makes %.100s, which is there already", node->out[k]);
    }
    if (!*out || (node->out_count > 0 && !node->out[0][0] && !is_recurrent(node->op)))
        return YS_FAIL_NODE(node, YS_EUNSUPPORTED, "%s", "its first output is not there");
    return YS_OK;
}

static ys_status fold(struct ys_onnx_step *step)
{
    if (strcmp(step->node->op, "Identity") == 0 && step->node->in_count > 0 && step->in[0]) { /* the same, shared */
        step->out->kind = YS_ONNX_CONSTANT;
        step->out->constant = step->in[0]->constant;
        return YS_OK;
    }
    struct ys_onnx_constant **in = ys_alloc(step->node->in_count, sizeof *in);
    for (size_t i = 0; i < step->node->in_count; i++)
        in[i] = step->in[i] ? step->in[i]->constant : NULL;
    ys_status status = ys_onnx_fold(&step->r->folding, step->node, in, &step->out->constant);
    if (status == YS_OK)
        step->out->kind = YS_ONNX_CONSTANT;
    ys_free(in);
    return status;
}

static ys_status map_rows(struct ys_onnx_step *step, ys_onnx_map *map)
{
    const struct ys_onnx_rows *found;
    YS_TRY(ys_onnx_make_turned(step));
    YS_TRY(ys_onnx_check_rows(step, &found));
    const struct ys_onnx_rows rows = found ? *found : (struct ys_onnx_rows){0};
    const int ended = step->in[0] ? step->in[0]->ended : 0;
    YS_TRY(ys_onnx_check_ended(step));
    YS_TRY(map(step));
    if (!is_recurrent(step->node->op))
        step->out->ended = ended;
    if (!ys_onnx_makes_rows(step->node->op))
        step->out->rows = rows;
    return YS_OK;
}

static ys_status map_node(struct ys_onnx_step *step, bool refused, bool all_constant)
{
    const struct ys_onnx_node_in *node = step->node;
    const bool is_own = !node->domain[0] || strcmp(node->domain, "ai.onnx") == 0;
    if (node->branches[0])
        return ys_onnx_choose_branch(step);
    ys_onnx_map *map = is_own ? ys_onnx_find_map(node->op) : NULL;
    if (!is_own)
        return YS_FAIL_STEP(step, "is of the domain %.60s: only ONNX's own operators are read", node->domain);
    if (!map && !ys_onnx_folds(node->op)) {
        const char *remedy = ys_onnx_remedy(node->op);
        return YS_FAIL_STEP(step, "there is no such operator in yardstick's graphs%s%s; at operator set %lld",
                            remedy ? ": " : "", remedy ? remedy : "", (long long)step->r->file->opset);
    }
    if (refused)
        return YS_OK; /* said already, of a node before it */
    if (all_constant)
        return fold(step);
    if (!map)
        return YS_FAIL_STEP(step, "%s", "is read of constants and shapes only, and this one depends on the data");
    for (size_t i = 0; i < node->in_count && strcmp(node->op, "Gather") != 0; i++) {
        const struct ys_onnx_constant *c =
            step->in[i] && step->in[i]->kind == YS_ONNX_CONSTANT ? step->in[i]->constant : NULL;
        if (c && c->rows_axis && !is_recurrent(node->op) && strcmp(node->op, "Concat") != 0 &&
            strcmp(node->op, "RotaryEmbedding") != 0)
            return YS_FAIL_STEP(step, "reads %.100s, which was spread over the batch", node->in[i]);
        if (c && c->per_row)
            return YS_FAIL_STEP(step, "reads %.100s, the numbers of the rows: rows must stay apart", node->in[i]);
        if (step->in[i] && step->in[i]->kind == YS_ONNX_LIVE && step->in[i]->curve == YS_ONNX_FLAT)
            YS_TRY(ys_onnx_settle(step, step->in[i]));
        if (step->in[i] && step->in[i]->kind == YS_ONNX_LIVE && step->in[i]->curve == YS_ONNX_SLICE)
            YS_TRY(read_other_pieces(step, step->in[i]));
    }
    for (size_t k = 1; k < node->out_count && strcmp(node->op, "Split") != 0 && !is_recurrent(node->op); k++) {
        struct ys_onnx_slot *other;
        slot_of(step->r, node->out[k], &other);
        if (other && other->needed)
            return YS_FAIL_STEP(step, "something reads its output %.100s: only the first is there", node->out[k]);
    }
    YS_TRY(ys_onnx_settle_scores(step));
    return map_rows(step, map);
}

/* What the node reads may stand for another value than before, as a padded one. */
static void count_reads(struct ys_onnx_reading *r, const struct ys_onnx_node_in *node)
{
    struct ys_onnx_slot *slot;
    for (size_t i = 0; i < node->in_count + node->out_count; i++) {
        slot_of(r, i < node->in_count ? node->in[i] : node->out[i - node->in_count], &slot);
        if (slot)
            ys_onnx_count_reads(r, slot);
    }
}

/* One node. What it is refused for is kept, and the nodes behind it are looked at all the same. */
static ys_status read_node(struct ys_onnx_reading *r, const struct ys_onnx_node_in *node)
{
    bool refused = false, all_constant = false;
    struct ys_onnx_slot **in = ys_alloc(node->in_count, sizeof *in), *out = NULL;
    struct ys_onnx_step step = {.r = r, .node = node, .in = in};
    ys_status status = find_slots(r, node, in, &out, &refused, &all_constant);
    step.out = out;
    if (status == YS_OK)
        status = map_node(&step, refused, all_constant);
    if (status == YS_OK)
        count_reads(r, node);
    ys_free(in);
    if (status == YS_OK && !refused && !node->chosen)
        return YS_OK;
    if (status == YS_EIO || status == YS_ENOTFOUND)
        return status;
    if (status != YS_OK)
        refuse(r);
    for (size_t k = 0; k < node->out_count; k++) {
        slot_of(r, node->out[k], &out);
        if (out)
            out->kind = YS_ONNX_REFUSED;
    }
    return YS_OK;
}

static ys_status refuse_all(const struct ys_onnx_reading *r)
{
    if (r->refusal_count == 0)
        return YS_OK;
    return ys_fail(YS_EUNSUPPORTED, "%s%s", ys_buf_text(&r->refusals), r->is_cut ? "; and more" : "");
}

static ys_status check_output_rows(const struct ys_onnx_reading *r, const struct ys_onnx_slot *slot)
{
    const char *name = r->file->outputs[0].name;
    const struct ys_onnx_rows *rows = &slot->rows;
    if (slot->ended)
        return ys_fail(YS_EUNSUPPORTED, "its output %.100s has zeros behind the last token of a row: graphs have none",
                       name);
    if (rows->maker && rows->each)
        return ys_fail(
            YS_EUNSUPPORTED,
            "its output %.100s has %lld rows for each of the batch, where one belongs, since node %.100s (%s)", name,
            (long long)rows->each, rows->maker->name, rows->maker->op);
    if (rows->maker)
        return ys_fail(YS_EUNSUPPORTED,
                       "its output %.100s has the batch as axis %zu, where it belongs first, since node %.100s (%s)",
                       name, ys_onnx_batch_axis(slot), rows->maker->name, rows->maker->op);
    return YS_OK;
}

/* The logits: the file's output, of images of one pixel their channels. */
static ys_status end_graph(struct ys_onnx_reading *r)
{
    struct ys_onnx_slot *slot;
    const struct ys_onnx_node_in node = {.name = "logits", .op = "output"};
    struct ys_onnx_step step = {.r = r, .node = &node};
    int made;
    slot_of(r, r->file->outputs[0].name, &slot);
    if (slot->kind != YS_ONNX_LIVE)
        return ys_fail(YS_EUNSUPPORTED, "its output %.100s does not depend on the data", r->file->outputs[0].name);
    struct ys_graph *graph = r->graph;
    YS_TRY(check_output_rows(r, slot));
    const bool of_positions = graph->values[graph->inputs[0]].dtype == YS_I32 && graph->values[slot->value].rank > 2;
    graph->target = of_positions ? YS_TARGET_CLASSES : YS_TARGET_CLASS;
    if (graph->values[slot->value].rank > 2 && !of_positions) {
        YS_TRY(ys_onnx_take_flat(&step, slot, &slot->value));
        YS_TRY(ys_onnx_begin_extra(&step, YS_OP_FLATTEN, slot->value, "logits", &made));
        YS_TRY(ys_onnx_end(r, made, &slot->value));
        for (int i = 0; i < YS_MAX_RANK; i++)
            slot->perm[i] = i;
        ys_onnx_note(r, "output %.100s has more than two dimensions: it is flattened", r->file->outputs[0].name);
    }
    YS_TRY(ys_onnx_take(&step, slot, false, &graph->output));
    const int producer = graph->values[graph->output].producer;
    if (producer >= 0 && graph->nodes[producer].op == YS_OP_LOG_SOFTMAX) {
        graph->loss = YS_LOSS_NLL;
        ys_onnx_note(r, "it ends in LogSoftmax: the loss is %s", ys_loss_name(YS_LOSS_NLL));
    }
    ys_onnx_prune(r);
    YS_TRY(ys_compose_finish(graph, graph->name));
    if (ys_graph_parameter_count(graph) == 0)
        return ys_fail(YS_EUNSUPPORTED, "%s", "it has no weight that could be trained");
    return YS_OK;
}

static ys_status read_all(struct ys_onnx_reading *r)
{
    YS_TRY(ys_onnx_choose_output(r));
    YS_TRY(make_slots(r));
    ys_onnx_join_spelled(r);
    bool *needed = ys_alloc(r->file->node_count, sizeof *needed);
    r->done = ys_alloc(r->file->node_count, sizeof *r->done);
    ys_status status = find_needed(r, needed);
    if (status == YS_OK)
        find_last(r);
    if (status == YS_OK)
        status = load_initializers(r);
    if (status == YS_OK)
        status = begin_graph(r);
    for (size_t i = 0; status == YS_OK && i < r->file->node_count; i++)
        r->done[i] = !needed[i];
    for (size_t i = 0; status == YS_OK && !r->is_cut && i < r->file->node_count; i++)
        if (!r->done[i]) {
            r->done[i] = true;
            status = read_node(r, &r->file->nodes[i]);
        }
    ys_free(needed);
    if (status == YS_OK && r->chosen_count > 0)
        return YS_OK;
    if (status == YS_OK)
        status = refuse_all(r);
    if (status == YS_OK)
        status = end_graph(r);
    if (status == YS_OK)
        ys_onnx_note_lost(r);
    return status;
}

/* Every parameter has a line, in the order of the graph. */
static void report_trained(struct ys_onnx_reading *r)
{
    for (size_t i = 0; i < r->graph->param_count; i++)
        ys_json_set_bool(ys_json_at(r->parameters, i), "trained", ys_param_is_trained(&r->graph->params[i]));
}

static void report(struct ys_onnx_reading *r)
{
    ys_json *all = r->import->report = ys_json_object();
    report_trained(r);
    ys_json_set_string(all, "file", ys_path_base(r->file->path));
    ys_json_set_string(all, "producer", r->file->producer);
    ys_json_set_int(all, "opset", r->file->opset);
    ys_json_set_int(all, "parameter_count", ys_graph_parameter_count(r->graph));
    ys_json_set_int(all, "multiply_adds", ys_graph_multiply_adds(r->graph));
    ys_json_set(all, "nodes", ys_json_ref(r->nodes));
    ys_json_set(all, "parameters", ys_json_ref(r->parameters));
    r->import->notes = r->notes;
    r->import->opset = r->file->opset;
    r->import->producer = ys_strdup(r->file->producer);
    ys_json_set(all, "notes", ys_json_ref(r->notes));
}

/* The graph's name: that in a file of yardstick's own, else the file's without its ending. */
static char *graph_name(const struct ys_onnx_file *file, bool own)
{
    const char *base = ys_path_base(file->path), *dot = strrchr(base, '.');
    const size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    if (own && file->graph_name[0])
        return ys_strndup(file->graph_name, YS_GRAPH_MAX_NAME);
    return ys_strndup(base, length < YS_GRAPH_MAX_NAME ? length : YS_GRAPH_MAX_NAME);
}

/* *again: there are branches to be taken first; then there is no import. */
static ys_status read_once(struct ys_onnx_file *file, const struct ys_model_feed *feed, struct ys_onnx_import **import,
                           bool *again)
{
    struct ys_onnx_reading r = {.file = file, .folding = {.file = file}};
    if (feed)
        r.feed = *feed;
    r.own = strcmp(file->producer, "yardstick") == 0;
    r.import = ys_alloc(1, sizeof *r.import);
    char *name = graph_name(file, r.own);
    ys_status status = ys_compose_new(name, &r.graph);
    if (status == YS_OK) {
        r.import->graph = r.graph;
        status = read_all(&r);
        *again = status == YS_OK && r.chosen_count > 0;
        if (status == YS_OK && !*again)
            report(&r);
        else if (status != YS_OK)
            status = ys_fail_in(status, "%s", file->path);
    }
    for (size_t i = 0; i < 3; i++)
        ys_json_free(r.taken[i]);
    ys_json_free(r.names);
    ys_json_free(r.matrices);
    ys_json_free(r.layers);
    ys_json_free(r.seen);
    ys_json_free(r.pieces);
    ys_json_free(r.nodes);
    ys_json_free(r.parameters);
    ys_json_free(r.notes);
    ys_buf_free(&r.refusals);
    ys_free(r.slots);
    ys_free(r.reads);
    ys_free(r.slices);
    ys_free(r.done);
    ys_free(name);
    if (status == YS_OK && !*again)
        *import = r.import;
    else
        ys_onnx_import_free(r.import);
    return status;
}

static ys_status read_file(struct ys_onnx_file *file, const struct ys_model_feed *feed, struct ys_onnx_import **import)
{
    bool again = false;
    ys_status status = ys_onnx_arrange(file);
    for (int turn = 0; status == YS_OK && (turn == 0 || again); turn++) {
        if (turn == MOST_TURNS)
            return ys_fail(YS_EUNSUPPORTED, "%s: branches of If hang on one another, more than %d times", file->path,
                           MOST_TURNS);
        if (again)
            status = ys_onnx_take_branches(file);
        if (status == YS_OK)
            status = read_once(file, feed, import, &again);
    }
    return status;
}

ys_status ys_onnx_read(const char *path, const struct ys_model_feed *feed, struct ys_onnx_import **import)
{
    struct ys_onnx_file *file;
    YS_TRY(ys_onnx_file_open(path, &file));
    ys_status status = read_file(file, feed, import);
    ys_onnx_file_close(file);
    return status;
}

ys_status ys_onnx_read_bytes(const char *path, const void *bytes, size_t size, const struct ys_model_feed *feed,
                             struct ys_onnx_import **import)
{
    struct ys_onnx_file *file;
    YS_TRY(ys_onnx_file_parse(path, bytes, size, &file));
    ys_status status = read_file(file, feed, import);
    ys_onnx_file_close(file);
    return status;
}

/* SHA-256 of the file, or, with external data, of the sums of all the files that were read. */
static void hash_files(const struct ys_onnx_file *file, char hash[65])
{
    struct ys_buf sums = {0};
    for (size_t i = 0; i < file->inside->map_count; i++) {
        ys_sha256_text(file->inside->maps[i].bytes.data, file->inside->maps[i].bytes.size, hash);
        ys_buf_puts(&sums, hash);
    }
    if (file->inside->map_count > 1)
        ys_sha256_text(ys_buf_text(&sums), sums.size, hash);
    ys_buf_free(&sums);
}

ys_status ys_onnx_read_graph(const char *path, const struct ys_model_feed *feed, ys_json **graph, char hash[65])
{
    struct ys_onnx_file *file;
    struct ys_onnx_import *import = NULL;
    YS_TRY(ys_onnx_file_open(path, &file));
    ys_status status = graph ? read_file(file, feed, &import) : YS_OK;
    if (graph && status == YS_OK) {
        hash_files(file, hash);
        *graph = ys_graph_to_json(import->graph);
    }
    ys_onnx_file_close(file);
    ys_onnx_import_free(import);
    return status;
}

void ys_onnx_import_free(struct ys_onnx_import *import)
{
    if (!import)
        return;
    for (size_t i = 0; i < import->value_count; i++)
        if (!import->borrows[i])
            ys_free(import->values[i]);
    ys_free(import->values);
    ys_free(import->borrows);
    ys_graph_free(import->graph);
    ys_json_free(import->report);
    ys_free(import->producer);
    ys_free(import);
}
