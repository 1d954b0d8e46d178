/* Engines over small networks, as the tests of this room open them. */
#ifndef YS_TESTS_ENGINE_OPEN_H
#define YS_TESTS_ENGINE_OPEN_H

#include "backend/level.h"
#include "engine/backend.h"
#include "tap.h"
#include "unit/engine/net.h"

#define THREE ((struct ys_window){{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1})
#define HALVE ((struct ys_window){{2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}, 1})

struct backend_case {
    const char *name;
    enum ys_engine_precision precision;
    int threads;
};

__attribute__((unused)) static const struct backend_case ref64 = {"ref", YS_ENGINE_F64, 1},
                                                         ref32 = {"ref", YS_ENGINE_F32, 1},
                                                         onednn1 = {"onednn", YS_ENGINE_F32, 1},
                                                         onednn2 = {"onednn", YS_ENGINE_F32, 2},
                                                         simd1 = {"simd", YS_ENGINE_F32, 1},
                                                         simd2 = {"simd", YS_ENGINE_F32, 2},
                                                         bf16 = {"onednn", YS_ENGINE_BF16, 2};

static struct ys_engine_config config_of(const struct net *n, const struct backend_case *b)
{
    return (struct ys_engine_config){.batch = n->batch,
                                     .precision = b->precision,
                                     .backend = b->name,
                                     .threads = b->threads,
                                     .training = true,
                                     .optimizer.momentum = 0.9,
                                     .optimizer.weight_decay = 5e-4};
}

/** Marks the case as skipped where this build has not the back end. */
__attribute__((unused)) static bool is_left_out(const char *backend)
{
    const char *reason = ys_backend_left_out(backend);
    if (reason)
        tap_skip("%s", reason);
    return reason != NULL;
}

/** NULL where the case is to end: the engine cannot be opened, or this build has not its back end. */
__attribute__((unused)) static struct ys_engine *open_with(const struct net *n, const struct ys_engine_config *config)
{
    struct ys_engine *engine = NULL;
    if (config->backend && is_left_out(config->backend))
        return NULL;
    CHECK_TEXT(ys_engine_open_graph(&n->graph, config, &engine) == 0 ? "" : ys_engine_error(), "");
    if (engine)
        CHECK(net_fill(engine, n, 0) == 0);
    return engine;
}

__attribute__((unused)) static struct ys_engine *open_case(const struct net *n, const struct backend_case *b)
{
    struct ys_engine_config config = config_of(n, b);
    return open_with(n, &config);
}

/** All parameters, or gradients, one after the other, as double. Free with free(). */
__attribute__((unused)) static double *flat_of(struct ys_engine *e, bool gradients, size_t *count)
{
    const struct ys_graph *g = ys_engine_graph(e);
    *count = 0;
    for (size_t p = 0; p < g->param_count; p++)
        *count += (size_t)ys_param_elements(&g->params[p]);
    double *all = malloc((*count + 1) * sizeof *all), *to = all;
    for (size_t p = 0; p < g->param_count; to += ys_param_elements(&g->params[p++]))
        CHECK((gradients ? ys_engine_gradient_get(e, p, YS_ENGINE_F64, to)
                         : ys_engine_param_get(e, p, YS_ENGINE_F64, to)) == 0);
    return all;
}

__attribute__((unused)) static void small_net(struct net *n, int64_t batch)
{
    net_input(n, YS_U8, batch, 3, 9, 7);
    net_normalize(n, 3, 1.0 / 255);
    net_conv(n, 6, THREE, 1);
    net_relu(n);
    net_pool(n, HALVE);
    net_flatten(n);
    net_gemm(n, 11, 1);
    net_relu(n);
    net_gemm(n, 4, 1);
}

/** Ends the case as skipped where this processor cannot compute in the format. */
__attribute__((unused)) static bool lacks_bf16(void)
{
    const char *reason = ys_level_lacks(YS_ENGINE_BF16);
    if (reason)
        tap_skip("%s", reason);
    return reason != NULL;
}

#endif
