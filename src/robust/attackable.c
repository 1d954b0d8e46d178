#include "robust/attackable.h"

const char ys_attack_no_scale[] = "its numbers have no scale of pixels, of which EPS is a part";

const char *ys_attack_obstacle(const struct ys_graph *graph)
{
    const struct ys_value *input = &graph->values[graph->inputs[0]];
    if (graph->input_count != 1)
        return "it has several inputs, and attacks change the pixels of one";
    if (input->dtype == YS_I32)
        return "it reads tokens, and attacks change pixels";
    if (input->dtype != YS_U8 || input->rank != 4)
        return ys_attack_no_scale;
    if (graph->target != YS_TARGET_CLASS)
        return "a row has no one class that an attack could change";
    return graph->carries_state ? "it carries a state from row to row" : NULL;
}
