#include "verify/oracle/ceiling.h"

#include "graph/op.h"
#include "verify/verify.h"

#include <math.h>

/* A gradient is a sum over rows and places; statistics, pools and attention add over places or fewer. */
static double places_of(const struct ys_value *value)
{
    double places = 1;
    for (int d = 2; value->rank == 4 && d < 4; d++)
        places *= (double)value->shape[d];
    return value->rank == 3 ? (double)value->shape[1] : places;
}

/* What goes into one value of a product: the weights that meet in it. */
static double terms_of(const struct ys_graph *graph, int param)
{
    return param < 0 ? 1 : (double)(ys_param_elements(&graph->params[param]) / graph->params[param].shape[0]);
}

static double longest_sum(const struct ys_graph *graph, int64_t rows)
{
    double longest = 1;
    for (size_t n = 0; n < graph->node_count; n++) {
        const struct ys_node *node = &graph->nodes[n];
        for (size_t i = 0; i < node->in_count; i++) {
            const struct ys_value *in = &graph->values[node->in[i]];
            longest = fmax(longest, (double)rows * places_of(in));
            longest = fmax(longest, (double)in->shape[in->rank - 1]); /* a softmax, a normalised line */
        }
        longest = fmax(longest, fmax(terms_of(graph, node->weight), terms_of(graph, node->recurrent)));
    }
    return longest;
}

double ys_ceiling_factor(const struct ys_graph *graph, int64_t rows, enum ys_precision precision)
{
    const struct ys_format_facts *format = ys_format_of((int)precision);
    return YS_VERIFY_LUCK * format->moves + format->of_term * sqrt(longest_sum(graph, rows));
}

static double ceiling(const struct ys_reference *reference, enum ys_precision precision, const struct ys_worst *moved)
{
    return YS_VERIFY_TWIN_FACTOR * YS_VERIFY_ROOM *
           ys_ceiling_factor(reference->graph, reference->extent.rows, precision) *
           fmax(moved->error, YS_VERIFY_TWIN_LEAST);
}

double ys_ceiling_forward(const struct ys_reference *reference, enum ys_precision precision,
                          const struct ys_findings *moved)
{
    return ceiling(reference, precision, ys_findings_forward(moved));
}

/* Whether rounding may choose another derivative: that of a ReLU, or which value of a pool is the largest. */
static bool has_kinks(const struct ys_graph *graph)
{
    double at[YS_OP_MAX_KINKS];
    for (size_t n = 0; n < graph->node_count; n++) {
        const struct ys_node *node = &graph->nodes[n];
        size_t (*kinks)(const struct ys_node *, double *) = ys_op_rule(node->op)->kinks;
        if (node->op == YS_OP_MAXPOOL || node->op == YS_OP_GLOBAL_MAXPOOL || (kinks && kinks(node, at) > 0))
            return true;
    }
    return false;
}

static double ceiling_of_gradients(const struct ys_reference *reference, enum ys_precision precision,
                                   const struct ys_worst *moved)
{
    const double flips = has_kinks(reference->graph) ? YS_VERIFY_FLIPPED : 0;
    return ceiling(reference, precision, moved) + YS_VERIFY_TWIN_FACTOR * flips;
}

double ys_ceiling_gradients(const struct ys_reference *reference, enum ys_precision precision,
                            const struct ys_findings *moved)
{
    return ceiling_of_gradients(reference, precision, &moved->gradients);
}

double ys_ceiling_input_gradient(const struct ys_reference *reference, enum ys_precision precision,
                                 const struct ys_findings *moved, int lot)
{
    return ceiling_of_gradients(reference, precision, &moved->input_gradient[lot]);
}

static ys_status check(const char *what, const struct ys_worst *twins, double highest)
{
    const double most = highest / YS_VERIFY_TWIN_FACTOR;
    if (twins->error <= fmax(most, YS_VERIFY_TWIN_LEAST))
        return YS_OK;
    return ys_fail(
        YS_EPROTOCOL,
        "the oracle or its twins failed: a twin lies %.3g from the oracle in %s, where rounding explains %.2g "
        "at most (docs/proof.md#the-ceiling)",
        twins->error, what, most);
}

ys_status ys_ceiling_check(const struct ys_reference *reference, enum ys_precision precision,
                           const struct ys_findings *moved, const struct ys_findings *twins)
{
    YS_TRY(check("logits and loss", ys_findings_forward(twins), ys_ceiling_forward(reference, precision, moved)));
    for (int lot = 0; lot < YS_INPUT_LOTS; lot++)
        YS_TRY(check("gradients by the input", &twins->input_gradient[lot],
                     ys_ceiling_input_gradient(reference, precision, moved, lot)));
    if (reference->evaluation)
        return YS_OK;
    return check("gradients", &twins->gradients, ys_ceiling_gradients(reference, precision, moved));
}
