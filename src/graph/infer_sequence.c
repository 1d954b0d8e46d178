/* Shapes of what works on sequences. */
#include "graph/infer.h"
#include <math.h>
#include <string.h>

ys_status ys_infer_embedding(struct ys_site *site)
{
    const struct ys_param *weight = &site->graph->params[site->node->weight];
    if (site->in->dtype != YS_I32)
        return YS_FAIL_SITE(site, "input %s is %s: tokens are I32", site->in->name, ys_dtype_name(site->in->dtype));
    if (site->node->bias >= 0)
        return YS_FAIL_SITE(site, "has a bias, %s: only a weight is read", site->graph->params[site->node->bias].name);
    if (weight->rank != 2)
        return YS_FAIL_SITE(site, "weight %s has shape %s, not (vocabulary, width)", weight->name,
                            YS_SITE_SHAPE(site, weight));
    if (site->in->rank >= YS_MAX_RANK)
        return YS_FAIL_SITE(site, "input %s of shape %s has %zu dimensions: at most %d", site->in->name,
                            YS_SITE_SHAPE(site, site->in), site->in->rank, YS_MAX_RANK - 1);
    YS_TRY(ys_infer_same(site));
    site->out->shape[site->out->rank++] = weight->shape[1];
    return YS_OK;
}

static ys_status check_positions(struct ys_site *site, const struct ys_value *what)
{
    return what->rank == 3 && what->dtype == YS_F32
               ? YS_OK
               : YS_FAIL_SITE(site, "input %s is %s of shape %s, not F32 of (N, positions, width)", what->name,
                              ys_dtype_name(what->dtype), YS_SITE_SHAPE(site, what));
}

/** Fails unless `what` of attention, (N, positions, width), can be cut into `heads` parts. */
static ys_status check_heads(struct ys_site *site, const struct ys_value *what, int64_t heads)
{
    YS_TRY(check_positions(site, what));
    if (what->shape[2] % heads != 0)
        return YS_FAIL_SITE(site, "%lld heads do not divide the width %lld of input %s", (long long)heads,
                            (long long)what->shape[2], what->name);
    return YS_OK;
}

/** Fails unless the tokens that say what is left out, where the node has them, are one for each of the `count` keys or
 * positions. */
static ys_status check_tokens(struct ys_site *site, int64_t count)
{
    const bool of_keys = site->node->op == YS_OP_ATTENTION;
    const int value = ys_node_tokens(site->node);
    const struct ys_value *tokens = value >= 0 ? &site->graph->values[value] : NULL;
    if (tokens && (tokens->dtype != YS_I32 || tokens->rank != 2 || tokens->shape[1] != count))
        return YS_FAIL_SITE(site, "input %s, which %s, is %s of shape %s, not I32 of (N, %lld), a token a %s",
                            tokens->name, of_keys ? "hides keys" : "tells the last position",
                            ys_dtype_name(tokens->dtype), YS_SITE_SHAPE(site, tokens), (long long)count,
                            of_keys ? "key" : "position");
    return YS_OK;
}

ys_status ys_infer_attention(struct ys_site *site)
{
    const struct ys_attention *a = &site->node->attention;
    const struct ys_value *q = site->in, *k = &site->graph->values[site->node->in[1]],
                          *v = &site->graph->values[site->node->in[2]];
    YS_TRY(check_heads(site, q, a->heads));
    YS_TRY(check_heads(site, k, a->kv_heads));
    YS_TRY(check_heads(site, v, a->kv_heads));
    if (a->heads % a->kv_heads != 0)
        return YS_FAIL_SITE(site, "q_num_heads %lld is no multiple of kv_num_heads %lld", (long long)a->heads,
                            (long long)a->kv_heads);
    if (k->shape[1] != v->shape[1] || q->shape[2] / a->heads != k->shape[2] / a->kv_heads)
        return YS_FAIL_SITE(site, "keys %s of shape %s fit neither queries of width %lld in %lld heads nor %lld values",
                            k->name, YS_SITE_SHAPE(site, k), (long long)q->shape[2], (long long)a->heads,
                            (long long)v->shape[1]);
    if (a->causal && q->shape[1] != k->shape[1])
        return YS_FAIL_SITE(site, "is causal with %lld queries and %lld keys: they must be as many",
                            (long long)q->shape[1], (long long)k->shape[1]);
    YS_TRY(check_tokens(site, k->shape[1]));
    YS_TRY(ys_infer_same(site));
    site->out->shape[2] = v->shape[2] / a->kv_heads * a->heads;
    return YS_OK;
}

ys_status ys_infer_matmul(struct ys_site *site)
{
    const struct ys_value *a = site->in, *b = &site->graph->values[site->node->in[1]];
    bool fits = a->rank > 2 && a->rank == b->rank && a->shape[a->rank - 1] == b->shape[b->rank - 2];
    for (size_t i = 0; fits && i + 2 < a->rank; i++)
        fits = a->shape[i] == b->shape[i];
    if (!fits)
        return YS_FAIL_SITE(
            site, "inputs %s of shape %s and %s of shape %s are no matrices (N, ..., m, k) and (N, ..., k, n)", a->name,
            YS_SITE_SHAPE(site, a), b->name, ys_shape_text(b->shape, b->rank, site->other));
    YS_TRY(ys_infer_same(site));
    site->out->shape[a->rank - 1] = b->shape[a->rank - 1];
    return YS_OK;
}

/** Fails unless the weight is a matrix of that shape. */
static ys_status check_matrix(struct ys_site *site, enum ys_node_param which, int64_t rows, int64_t columns)
{
    const struct ys_param *weight = &site->graph->params[ys_node_param(site->node, which)];
    if (weight->rank != 2 || weight->shape[0] != rows || weight->shape[1] != columns)
        return YS_FAIL_SITE(site, "%s %s has shape %s, not (%lld, %lld)", ys_node_param_key(which), weight->name,
                            YS_SITE_SHAPE(site, weight), (long long)rows, (long long)columns);
    return YS_OK;
}

ys_status ys_infer_recurrent(struct ys_site *site)
{
    const struct ys_param *recurrent = &site->graph->params[site->node->recurrent];
    const int64_t gates = site->node->op == YS_OP_LSTM ? 4 : 3;
    if (site->in->rank != 3)
        return YS_FAIL_SITE(site, "input %s has shape %s, not (N, positions, width)", site->in->name,
                            YS_SITE_SHAPE(site, site->in));
    if (recurrent->rank != 2 || recurrent->shape[0] != gates * recurrent->shape[1])
        return YS_FAIL_SITE(site, "recurrent %s has shape %s, not (%lld * hidden, hidden)", recurrent->name,
                            YS_SITE_SHAPE(site, recurrent), (long long)gates);
    const int64_t hidden = recurrent->shape[1];
    YS_TRY(check_matrix(site, YS_NODE_WEIGHT, gates * hidden, site->in->shape[2]));
    YS_TRY(ys_infer_check_vector(site, YS_NODE_BIAS, gates * hidden));
    YS_TRY(ys_infer_check_vector(site, YS_NODE_RECURRENT_BIAS, hidden));
    YS_TRY(ys_infer_same(site));
    site->out->shape[2] = hidden;
    return YS_OK;
}

double ys_rotary_angle(double base, int64_t position, int64_t pair, int64_t width)
{
    return (double)position * pow(base, -2 * (double)pair / (double)width);
}

ys_status ys_infer_rotary(struct ys_site *site)
{
    const int64_t heads = site->node->rotary.heads;
    YS_TRY(check_heads(site, site->in, heads));
    if (site->in->shape[2] / heads % 2)
        return YS_FAIL_SITE(site, "a head of input %s has %lld numbers: they are turned in pairs", site->in->name,
                            (long long)(site->in->shape[2] / heads));
    return ys_infer_same(site);
}

ys_status ys_infer_sinusoid(struct ys_site *site)
{
    if (site->in->rank != 3 || site->in->shape[2] % 2)
        return YS_FAIL_SITE(site, "input %s has shape %s, not (N, positions, width) with an even width", site->in->name,
                            YS_SITE_SHAPE(site, site->in));
    return ys_infer_same(site);
}

ys_status ys_infer_last(struct ys_site *site)
{
    YS_TRY(check_positions(site, site->in));
    YS_TRY(check_tokens(site, site->in->shape[1]));
    site->out->rank = 2;
    site->out->shape[0] = YS_BATCH;
    site->out->shape[1] = site->in->shape[2];
    return YS_OK;
}
