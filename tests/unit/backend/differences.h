/* Gradients of an engine in double against differences of its own loss. */
#ifndef YS_TEST_DIFFERENCES_H
#define YS_TEST_DIFFERENCES_H

#include "base/mem.h"
#include "engine/engine.h"
#include "tap.h"

#include <math.h>

/** Of the parameter's elements about `some`, each against the central difference of step h: wrong by about h^2 times
 * the third derivative, and by 1e-16 / h. */
static inline void check_differences(struct ys_engine *e, size_t param, size_t some)
{
    const double h = 1e-5;
    struct ys_engine_param p;
    REQUIRE(ys_engine_param(e, param, &p) == 0);
    double *w = ys_alloc(p.elements, sizeof *w), *g = ys_alloc(p.elements, sizeof *g);
    REQUIRE(w && g);
    CHECK(ys_engine_param_get(e, param, YS_ENGINE_F64, w) == 0);
    CHECK(ys_engine_backward(e, NULL, NULL, YS_ENGINE_TRAIN, NULL) == 0);
    CHECK(ys_engine_gradient_get(e, param, YS_ENGINE_F64, g) == 0);
    for (size_t k = 0; k < p.elements; k += 1 + p.elements / some) {
        double at[2] = {NAN, NAN}, old = w[k];
        for (int side = 0; side < 2; side++) {
            w[k] = old + (side ? h : -h);
            CHECK(ys_engine_param_set(e, param, YS_ENGINE_F64, w) == 0);
            CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_TRAIN, &at[side]) == 0);
        }
        w[k] = old;
        const double difference = (at[1] - at[0]) / (2 * h);
        tap_check(fabs(g[k] - difference) < 1e-8, __LINE__, "%s[%zu]: %g, by differences %g", p.name, k, g[k],
                  difference);
    }
    CHECK(ys_engine_param_set(e, param, YS_ENGINE_F64, w) == 0);
    ys_free(w);
    ys_free(g);
}

#endif
