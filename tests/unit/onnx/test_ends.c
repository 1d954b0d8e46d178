/* How files end: what makes probabilities of the logits is left to the loss, whatever only changes their shape behind
 * it. */
#include "unit/onnx/eval_onnx.h"

/* A network of three classes, as values of the shape (N, 3, 1, 1) with `images`, else (N, 3): "logits". */
static void begin(struct made *m, bool images)
{
    made_input(m, -1, 2, 4, 4);
    made_node(m, "Conv", "x w", "a");
    made_weight(m, "w", 3, 2, 1, 1);
    made_node(m, "GlobalAveragePool", "a", images ? "logits" : "b");
    if (!images)
        made_node(m, "Flatten", "b", "logits");
}

static void read_as(struct made *m, size_t softmaxes, size_t logs, const char *note)
{
    struct ys_onnx_import *import = made_read(m, "y", 17);
    size_t found = 0, found_logs = 0;
    for (size_t i = 0; import && i < import->graph->node_count; i++) {
        found += import->graph->nodes[i].op == YS_OP_SOFTMAX;
        found_logs += import->graph->nodes[i].op == YS_OP_LOG_SOFTMAX;
    }
    CHECK_INT(found, softmaxes);
    CHECK_INT(found_logs, logs);
    bool said = false;
    for (size_t i = 0; import && i < ys_json_size(import->notes); i++)
        said = said || strstr(ys_json_text(ys_json_at(import->notes, i), ""), note[0] ? note : "left to the loss");
    CHECK(said == (note[0] != 0));
    if (import)
        CHECK_INT(import->graph->loss, logs ? YS_LOSS_NLL : YS_LOSS_SOFTMAX_CROSS_ENTROPY);
    ys_onnx_import_free(import);
}

/* The operator on `from`, then what changes nothing of it but its shape. */
static void each_way(const char *op, const char *note)
{
    static const int64_t one[] = {1}, two[] = {2}, shape[] = {-1, 3}, axes[] = {2, 3};
    struct made m = {0};
    begin(&m, false);
    made_node(&m, op, "logits", "p");
    made_node(&m, "Identity", "p", "y");
    read_as(&m, 0, 0, note);
    begin(&m, false);
    made_node(&m, op, "logits", "p");
    made_node(&m, "Cast", "p", "y");
    made_integer(&m, "to", 11);
    read_as(&m, 0, 0, note);
    begin(&m, true);
    made_node(&m, op, "logits", "p");
    made_integer(&m, "axis", 1);
    made_node(&m, "Flatten", "p", "y");
    read_as(&m, 0, 0, note);
    begin(&m, true);
    made_tensor(&m, "shape", 7, two, 1, shape, sizeof shape);
    made_tensor(&m, "axes", 7, two, 1, axes, sizeof axes);
    made_node(&m, op, "logits", "p");
    made_integer(&m, "axis", 1);
    made_node(&m, "Identity", "p", "q");
    made_node(&m, "Squeeze", "q axes", "r");
    made_node(&m, "Reshape", "r shape", "y");
    read_as(&m, 0, 0, note);
    begin(&m, false); /* along the last of three axes */
    made_tensor(&m, "axes", 7, one, 1, one, sizeof one);
    made_node(&m, "Unsqueeze", "logits axes", "line");
    made_node(&m, op, "line", "p");
    made_integer(&m, "axis", 2);
    made_node(&m, "Squeeze", "p axes", "y");
    read_as(&m, 0, 0, note);
}

static void what_changes_the_shape_of_probabilities_is_no_end(void)
{
    each_way("Softmax", "node p (Softmax) is left to the loss");
}

static void nor_of_their_logarithms(void)
{
    each_way("LogSoftmax", "node p (LogSoftmax) is left to the loss");
}

/* Probabilities that something else than the output reads, or that something is done with, are the network's own. */
static void what_is_used_inside_stays(void)
{
    struct made m = {0};
    begin(&m, false);
    made_node(&m, "Softmax", "logits", "p");
    made_node(&m, "Gemm", "p v", "y");
    made_weight(&m, "v", 3, 3, 0, 0);
    read_as(&m, 1, 0, "");
    begin(&m, false);
    made_node(&m, "Softmax", "logits", "p");
    made_node(&m, "Identity", "p", "q");
    made_node(&m, "Add", "q p", "y");
    read_as(&m, 1, 0, "");
    begin(&m, false); /* of two the last alone */
    made_node(&m, "Softmax", "logits", "p");
    made_node(&m, "Softmax", "p", "q");
    made_node(&m, "Identity", "q", "y");
    read_as(&m, 1, 0, "node q (Softmax) is left to the loss");
    begin(&m, false);
    made_node(&m, "LogSoftmax", "logits", "y");
    read_as(&m, 0, 1, "the loss is nll");
}

/* A reduction along the last axis of two, which is kept. */
static void made_reduction(struct made *m, const char *op, const char *in, const char *out)
{
    static const int64_t axis[] = {-1};
    made_node(m, op, in, out);
    made_integers(m, "axes", axis, 1);
}

/* exp(u) and its sum, of the logits or of these less their maximum. */
static void made_exponents(struct made *m, bool shifted)
{
    begin(m, false);
    if (shifted) {
        made_reduction(m, "ReduceMax", "logits", "most");
        made_node(m, "Sub", "logits most", "u");
    } else {
        made_node(m, "Identity", "logits", "u");
    }
    made_node(m, "Exp", "u", "e");
    made_reduction(m, "ReduceSum", "e", "s");
}

static struct ys_onnx_import *read_spelled(struct made *m, const char *note)
{
    struct ys_onnx_import *import = made_read(m, "y", 11);
    bool said = false;
    for (size_t i = 0; import && i < ys_json_size(import->notes); i++)
        said = said || strstr(ys_json_text(ys_json_at(import->notes, i), ""), note);
    CHECK(said);
    return import;
}

static void heads_that_are_spelled_out_are_known(void)
{
    struct made m = {0};
    for (int shifted = 0; shifted < 2; shifted++) {
        made_exponents(&m, shifted);
        made_node(&m, "Div", "e s", "y");
        struct ys_onnx_import *import = read_spelled(&m, "node y (Softmax) is left to the loss");
        if (import)
            CHECK_INT(import->graph->loss, YS_LOSS_SOFTMAX_CROSS_ENTROPY);
        ys_onnx_import_free(import);
        made_exponents(&m, shifted);
        made_node(&m, "Div", "e s", "p");
        made_node(&m, "Log", "p", "y");
        import = read_spelled(&m, "the loss is nll");
        ys_onnx_import_free(import);
        made_exponents(&m, shifted);
        made_node(&m, "Log", "s", "l");
        made_node(&m, "Sub", "u l", "y");
        import = read_spelled(&m, "the loss is nll");
        ys_onnx_import_free(import);
    }
    begin(&m, false);
    made_node(&m, "Softmax", "logits", "p");
    made_integer(&m, "axis", 1);
    made_node(&m, "Log", "p", "y");
    struct ys_onnx_import *import = read_spelled(&m, "node y (Log) and what leads to it is a LogSoftmax");
    if (import)
        CHECK_INT(import->graph->loss, YS_LOSS_NLL);
    ys_onnx_import_free(import);
}

/* What is divided is not what was summed; and what lies between is read once more. */
/* As they stand: none of it is a softmax. */
static void read_as_it_stands(struct made *m)
{
    struct ys_onnx_import *import = made_read(m, "y", 11);
    size_t softmaxes = 0, exponentials = 0;
    for (size_t i = 0; import && i < import->graph->node_count; i++) {
        softmaxes += import->graph->nodes[i].op == YS_OP_SOFTMAX;
        exponentials += import->graph->nodes[i].op == YS_OP_EXP;
    }
    CHECK(import && softmaxes == 0 && exponentials > 0);
    ys_onnx_import_free(import);
}

static void heads_that_are_nearly_so_are_none(void)
{
    struct made m = {0};
    made_exponents(&m, false);
    made_node(&m, "Exp", "logits", "f");
    made_node(&m, "Div", "f s", "y");
    read_as_it_stands(&m);
    made_exponents(&m, true);
    made_node(&m, "Div", "e s", "p");
    made_node(&m, "Add", "p e", "y");
    read_as_it_stands(&m);
    begin(&m, false);
    made_node(&m, "Softmax", "logits", "p");
    made_node(&m, "Log", "p", "l");
    made_node(&m, "Add", "l p", "y");
    check_read(&m, "y", 17, "node l (Log)");
}

/* An image of one pixel whose channels come last is as flat as another. */
static void logits_may_have_their_channels_last(void)
{
    struct made m = {0};
    struct ys_onnx_import *import;
    begin(&m, true);
    made_node(&m, "Transpose", "logits", "y");
    made_integers(&m, "perm", (const int64_t[]){0, 2, 3, 1}, 4);
    import = made_read(&m, "y", 17);
    if (import)
        CHECK_INT(import->graph->values[import->graph->output].shape[1], 3);
    ys_onnx_import_free(import);
}

TAP_MAIN(TAP_CASE(what_changes_the_shape_of_probabilities_is_no_end), TAP_CASE(heads_that_are_spelled_out_are_known),
         TAP_CASE(heads_that_are_nearly_so_are_none), TAP_CASE(nor_of_their_logarithms),
         TAP_CASE(what_is_used_inside_stays), TAP_CASE(logits_may_have_their_channels_last))
