/* What the lowering tells a back end: who reads a value, whose gradient is wanted, which nodes are asked and when. The
 * back end here computes nothing; it writes down how it was called. */
#include "unit/engine/open.h"

#include "engine/lower.h"

enum { CALLS_MAX = 64 };

static struct {
    int forward[CALLS_MAX], backward[CALLS_MAX]; /* nodes, in order */
    int forward_count, backward_count;
    bool gradients_were_released;
} seen;

static ys_status fake_begin(struct ys_lowering *low)
{
    memset(&seen, 0, sizeof seen);
    seen.gradients_were_released = true;
    for (size_t p = 0; p < low->graph->param_count; p++)
        low->param_size[p] = (size_t)ys_param_elements(&low->graph->params[p]);
    return YS_OK;
}

static ys_status fake_forward(struct ys_lowering *low, const struct ys_node *node)
{
    seen.forward[seen.forward_count++] = (int)(node - low->graph->nodes);
    return YS_OK;
}

static ys_status fake_loss(struct ys_lowering *low)
{
    low->gradient[low->graph->output] = low->logits; /* any buffer will do */
    return YS_OK;
}

/** Passes the buffer on to every value that wants a gradient. */
static ys_status fake_backward(struct ys_lowering *low, const struct ys_node *node)
{
    int buffer = -1;
    for (size_t k = 0; k < node->out_count; k++)
        buffer = low->gradient[node->out[k]] >= 0 ? low->gradient[node->out[k]] : buffer;
    CHECK(buffer >= 0);
    seen.backward[seen.backward_count++] = (int)(node - low->graph->nodes);
    for (size_t later = (size_t)(node - low->graph->nodes) + 1; later < low->graph->node_count; later++)
        for (size_t k = 0; k < low->graph->nodes[later].out_count; k++)
            seen.gradients_were_released &= low->gradient[low->graph->nodes[later].out[k]] < 0;
    for (size_t k = 0; k < node->in_count; k++)
        if (low->value_gradient[node->in[k]])
            low->gradient[node->in[k]] = buffer;
    return YS_OK;
}

static ys_status fake_update(struct ys_lowering *low)
{
    (void)low;
    return YS_OK;
}

static const struct ys_backend fake = {.name = "fake",
                                       .begin = fake_begin,
                                       .forward = fake_forward,
                                       .loss = fake_loss,
                                       .backward = fake_backward,
                                       .update = fake_update};

struct lowered {
    struct ys_lowering low;
    struct ys_program program;
};

static void lower(struct lowered *l, const struct net *n, struct ys_engine_config config)
{
    memset(l, 0, sizeof *l);
    l->low.graph = &n->graph;
    l->low.config = config;
    l->low.program = &l->program;
    CHECK(ys_lower_graph(&l->low, &fake) == YS_OK);
}

static void lowered_free(struct lowered *l)
{
    ys_program_fini(&l->program);
    ys_lower_fini(&l->low, &fake);
}

/** conv (node 0, value 1); split (node 1) into values 2 and 3; relu of 2 (node 2, value 4); its sum with 2 (node 3,
 * value 5); flatten, gemm (values 6, 7). Value 3 is read by nobody. */
static void branching_net(struct net *n)
{
    int parts[2];
    net_input(n, YS_F32, 2, 3, 4, 4);
    net_conv(n, 4, THREE, 1);
    net_split(n, 1, 2, (int64_t[]){1, 3}, parts);
    net_from(n, parts[0]);
    net_relu(n);
    net_with(n, YS_OP_ADD, parts[0]);
    net_flatten(n);
    net_gemm(n, 2, 1);
}

static void readers_are_counted(void)
{
    static const int reads[] = {1, 1, 2, 0, 1, 1, 1, 1}, reader[] = {0, 1, -1, -1, 3, 4, 5, -1};
    struct net n;
    struct lowered l;
    branching_net(&n);
    lower(&l, &n, config_of(&n, &ref64));
    for (int v = 0; v < 8; v++) {
        CHECK_INT(l.low.value_reads[v], reads[v]);
        CHECK_INT(l.low.value_reader[v], reader[v]);
    }
    lowered_free(&l);
}

static void a_value_read_twice_by_one_node_has_two_reads(void)
{
    struct net n;
    struct lowered l;
    net_input(&n, YS_F32, 2, 3, 4, 4);
    net_with(&n, YS_OP_ADD, 0);
    net_flatten(&n);
    net_gemm(&n, 2, 1);
    lower(&l, &n, config_of(&n, &ref64));
    CHECK_INT(l.low.value_reads[0], 2);
    CHECK_INT(l.low.value_reader[0], -1);
    lowered_free(&l);
}

/** Gradients are wanted where a parameter lies above, and of no value that nobody reads. */
static void gradients_are_wanted_above_parameters(void)
{
    static const bool wanted[] = {false, true, true, false, true, true, true, true};
    struct net n;
    struct lowered l;
    branching_net(&n);
    struct ys_engine_config config = config_of(&n, &ref64);
    for (int input = 0; input < 2; input++) {
        config.input_gradient = input;
        lower(&l, &n, config);
        for (int v = 0; v < 8; v++)
            CHECK_INT(l.low.value_gradient[v], v == 0 ? input : wanted[v]);
        lowered_free(&l);
    }
    config.training = config.input_gradient = false;
    lower(&l, &n, config);
    for (int v = 0; v < 8; v++)
        CHECK_INT(l.low.value_gradient[v], 0);
    CHECK_INT(seen.backward_count, 0);
    CHECK_INT(l.low.gradients, -1);
    CHECK_INT(l.low.state1, -1);
    lowered_free(&l);
}

static void each_node_is_asked_once_and_backwards_from_the_last(void)
{
    struct net n;
    struct lowered l;
    branching_net(&n);
    lower(&l, &n, config_of(&n, &ref64));
    CHECK_INT(seen.forward_count, 6);
    CHECK_INT(seen.backward_count, 6); /* the convolution too: it has parameters */
    for (int i = 0; i < 6; i++) {
        CHECK_INT(seen.forward[i], i);
        CHECK_INT(seen.backward[i], 5 - i);
    }
    CHECK(seen.gradients_were_released);
    lowered_free(&l);
}

/** A node above which no parameter lies, and one that the logits do not depend on. */
static void nodes_without_gradient_or_use_are_left_out(void)
{
    struct net n;
    struct lowered l;
    net_input(&n, YS_F32, 2, 3, 4, 4);
    net_relu(&n);
    int rectified = n.last;
    net_conv(&n, 2, THREE, 1); /* dead */
    net_from(&n, rectified);
    net_flatten(&n);
    net_gemm(&n, 2, 1);
    lower(&l, &n, config_of(&n, &ref64));
    CHECK_INT(seen.forward_count, 3);
    CHECK_INT(seen.forward[1], 2);
    CHECK_INT(seen.backward_count, 1);
    CHECK_INT(seen.backward[0], 3);
    CHECK_INT(l.low.value_reads[rectified], 1);
    lowered_free(&l);
}

/** Buffers lie in the flat array but in no range of the optimizer. */
static void ranges_hold_weights_only(void)
{
    struct net n;
    struct lowered l;
    net_input(&n, YS_F32, 2, 3, 4, 4);
    net_conv(&n, 5, THREE, 0);
    net_batchnorm(&n, 1e-5, 0.1);
    net_flatten(&n);
    net_gemm(&n, 2, 1);
    lower(&l, &n, config_of(&n, &ref64));
    size_t updated = 0;
    for (size_t r = 0; r < l.low.range_count; r++)
        for (size_t i = 0; i < l.low.ranges[r].count; i++, updated++)
            for (size_t p = 0; p < n.graph.param_count; p++)
                if (n.params[p].role == YS_ROLE_BUFFER)
                    CHECK(l.low.ranges[r].first + i < l.low.param_offset[p] ||
                          l.low.ranges[r].first + i >= l.low.param_offset[p] + l.low.param_size[p]);
    CHECK_INT(l.low.range_count, 2); /* before the running statistics and behind them */
    CHECK(updated >= (size_t)ys_graph_parameter_count(&n.graph));
    lowered_free(&l);
}

/** Four values and three buffers: what becomes of a share, by who else holds its buffer. */
static void shares_never_go_where_another_value_looks(void)
{
    struct ys_graph graph = {.value_count = 4};
    int gradient[4] = {-1, 10, 11, 11};
    struct ys_lowering low = {.graph = &graph, .gradient = gradient};
    CHECK_INT(ys_lower_gradient_holders(&low, -1), 0);
    CHECK_INT(ys_lower_gradient_holders(&low, 10), 1);
    CHECK_INT(ys_lower_gradient_holders(&low, 11), 2);
    CHECK_INT(ys_lower_gradient_holders(&low, 12), 0);
    CHECK_INT(ys_lower_share(&low, 0, 12), YS_SHARE_FIRST);
    CHECK_INT(ys_lower_share(&low, 0, -1), YS_SHARE_FIRST);
    CHECK_INT(ys_lower_share(&low, 1, 12), YS_SHARE_INTO_OLD);
    CHECK_INT(ys_lower_share(&low, 1, 11), YS_SHARE_INTO_OLD);
    CHECK_INT(ys_lower_share(&low, 1, -1), YS_SHARE_INTO_OLD);
    CHECK_INT(ys_lower_share(&low, 2, 12), YS_SHARE_INTO_NEW);
    CHECK_INT(ys_lower_share(&low, 2, -1), YS_SHARE_INTO_NEW);
    CHECK_INT(ys_lower_share(&low, 2, 10), YS_SHARE_APART);
    CHECK_INT(ys_lower_share(&low, 2, 11), YS_SHARE_APART); /* the old one itself, which value 3 holds too */
    gradient[3] = -1;                                       /* its producer is done */
    CHECK_INT(ys_lower_share(&low, 2, 12), YS_SHARE_INTO_OLD);
}

TAP_MAIN(TAP_CASE(readers_are_counted), TAP_CASE(a_value_read_twice_by_one_node_has_two_reads),
         TAP_CASE(gradients_are_wanted_above_parameters), TAP_CASE(each_node_is_asked_once_and_backwards_from_the_last),
         TAP_CASE(nodes_without_gradient_or_use_are_left_out), TAP_CASE(ranges_hold_weights_only),
         TAP_CASE(shares_never_go_where_another_value_looks))
