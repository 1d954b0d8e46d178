/* What names stand for, and how often it is read. */
#include "base/mem.h"
#include "onnx/read/reader_state.h"

#include <string.h>

ys_status ys_onnx_constant_in(struct ys_onnx_step *step, size_t i, struct ys_onnx_constant **constant)
{
    const struct ys_onnx_slot *in = i < step->node->in_count ? step->in[i] : NULL;
    *constant = in && in->kind == YS_ONNX_CONSTANT ? in->constant : NULL;
    if (in && !*constant && i > 0)
        return YS_FAIL_STEP(step, "reads %.100s, which is computed from data, where a constant belongs",
                            step->node->in[i]);
    return *constant ? ys_onnx_constant_load(&step->r->folding, *constant) : YS_OK;
}

ys_status ys_onnx_need_constant(struct ys_onnx_step *step, size_t i, const char *what,
                                struct ys_onnx_constant **constant)
{
    YS_TRY(ys_onnx_constant_in(step, i, constant));
    if (!*constant)
        return YS_FAIL_STEP(step, "its %s is no constant: graphs have parameters there", what);
    return YS_OK;
}

ys_status ys_onnx_need_live(struct ys_onnx_step *step, size_t i)
{
    if (i >= step->node->in_count || !step->in[i] || step->in[i]->kind != YS_ONNX_LIVE)
        return YS_FAIL_STEP(step, "its input %zu is a constant, where a value that depends on the data belongs", i);
    return YS_OK;
}

size_t ys_onnx_rank(const struct ys_onnx_reading *r, const struct ys_onnx_slot *slot)
{
    return r->graph->values[slot->value].rank;
}

int64_t ys_onnx_extent(const struct ys_onnx_reading *r, const struct ys_onnx_slot *slot, size_t axis)
{
    return r->graph->values[slot->value].shape[slot->perm[axis]];
}

bool ys_onnx_is_plain(const struct ys_onnx_slot *slot)
{
    for (int i = 0; i < YS_MAX_RANK; i++)
        if (slot->perm[i] != i)
            return false;
    return true;
}

bool ys_onnx_is_padded(const struct ys_onnx_slot *slot)
{
    return slot->pads[0] || slot->pads[1] || slot->pads[2] || slot->pads[3];
}

/* Room for each value of the graph, of which nothing is counted yet. */
static void make_room(struct ys_onnx_reading *r)
{
    if (r->read_room >= r->graph->value_count)
        return;
    const size_t room = 2 * r->graph->value_count;
    int *larger = ys_realloc(r->reads, room, sizeof *larger);
    memset(larger + r->read_room, 0, (room - r->read_room) * sizeof *larger);
    r->reads = larger;
    r->read_room = room;
}

void ys_onnx_count_reads(struct ys_onnx_reading *r, struct ys_onnx_slot *slot)
{
    if (slot->kind != YS_ONNX_LIVE || slot->counted == slot->value + 1)
        return;
    make_room(r);
    if (slot->counted)
        r->reads[slot->counted - 1] -= slot->uses - 1;
    r->reads[slot->value] += slot->uses - 1;
    slot->counted = slot->value + 1;
}

bool ys_onnx_is_read_once(struct ys_onnx_reading *r, const struct ys_onnx_slot *slot)
{
    make_room(r);
    for (; r->nodes_counted < r->graph->node_count; r->nodes_counted++)
        for (size_t k = 0; k < r->graph->nodes[r->nodes_counted].in_count; k++)
            r->reads[r->graph->nodes[r->nodes_counted].in[k]]++;
    return slot->uses == 1 && r->reads[slot->value] == 0;
}
