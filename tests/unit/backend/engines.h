/* Engines of one graph that hold the same weights and rows: gradients of `ref` in double against differences of its own
 * loss, and every gradient of the other back ends against those of `ref`. */
#ifndef YS_TEST_ENGINES_H
#define YS_TEST_ENGINES_H

#include "base/mem.h"
#include "base/rng.h"
#include "engine/engine.h"
#include "graph/graph.h"
#include "tap.h"

#include <math.h>

/** What the rows of a test are drawn from. */
struct drawing {
    const char *purpose; /* of the random numbers */
    uint64_t seed;
    int64_t batch;
    int64_t vocabulary;  /* of inputs that are tokens; 0: whatever their type holds */
    bool input_gradient; /* the engines make it as well */
    bool evaluates;      /* they do not train */
    size_t tried;        /* elements of each parameter whose gradient is compared with a difference, about */
};

/** norm(theirs - ours) <= relative norm(ours) + absolute. */
struct allowed {
    double relative, absolute;
};
/* Sums have tens of terms, of a unit roundoff of 6e-8. */
static const struct allowed allowed_f32 = {1e-5, 1e-7};

/** NULL: `backend` has not what the graph needs, and ys_engine_error() says what. */
static inline struct ys_engine *open_engine_of(const struct ys_graph *graph, const char *backend,
                                               enum ys_engine_precision precision, int threads,
                                               const struct drawing *drawing)
{
    struct ys_engine_config config = {.batch = drawing->batch,
                                      .precision = precision,
                                      .backend = backend,
                                      .threads = threads,
                                      .training = !drawing->evaluates,
                                      .guarded = true,
                                      .input_gradient = drawing->input_gradient,
                                      .optimizer.momentum = 0.9};
    struct ys_engine *e = NULL;
    struct ys_rng rng;
    const struct ys_rows rows = ys_graph_rows(graph);
    const int status = ys_engine_open_graph(graph, &config, &e);
    if (status != 0) {
        tap_check(status == YS_EUNSUPPORTED, __LINE__, "%s cannot be opened: %s", backend, ys_engine_error());
        return NULL;
    }
    ys_rng_init(&rng, drawing->seed, drawing->purpose);
    for (size_t i = 0; i < rows.input_count; i++)
        ys_rows_draw(&rows.inputs[i], drawing->vocabulary, &rng, drawing->batch, ys_engine_place(e, i));
    ys_rows_draw(&rows.target, rows.classes, &rng, drawing->batch, ys_engine_target(e));
    CHECK(ys_engine_draw(e, drawing->seed) == 0);
    return e;
}

static inline struct ys_engine *open_engine(const struct ys_graph *graph, const char *backend,
                                            enum ys_engine_precision precision, const struct drawing *drawing)
{
    return open_engine_of(graph, backend, precision, 2, drawing);
}

/** Of the parameter's elements about `tried`, each against the central difference of step h: wrong by about h^2 times
 * the third derivative, and by 1e-16 / h. */
static inline void check_differences(struct ys_engine *e, size_t param, size_t tried)
{
    const double h = 1e-5;
    struct ys_engine_param p;
    REQUIRE(ys_engine_param(e, param, &p) == 0);
    if (!p.is_trained)
        return;
    double *w = ys_alloc(p.elements, sizeof *w), *g = ys_alloc(p.elements, sizeof *g);
    REQUIRE(w && g);
    CHECK(ys_engine_param_get(e, param, YS_ENGINE_F64, w) == 0);
    CHECK(ys_engine_backward(e, NULL, NULL, YS_ENGINE_TRAIN, NULL) == 0);
    CHECK(ys_engine_gradient_get(e, param, YS_ENGINE_F64, g) == 0);
    for (size_t k = 0; k < p.elements; k += 1 + p.elements / tried) {
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

static inline void compare_gradient(struct ys_engine *ref, struct ys_engine *other, size_t param,
                                    const struct allowed *allowed)
{
    struct ys_engine_param p;
    REQUIRE(ys_engine_param(ref, param, &p) == 0);
    if (!p.is_trained)
        return;
    double *ours = ys_alloc(p.elements, sizeof *ours), *theirs = ys_alloc(p.elements, sizeof *theirs);
    double difference = 0, size = 0;
    REQUIRE(ours && theirs);
    CHECK(ys_engine_gradient_get(ref, param, YS_ENGINE_F64, ours) == 0);
    CHECK(ys_engine_gradient_get(other, param, YS_ENGINE_F64, theirs) == 0);
    for (size_t k = 0; k < p.elements; k++) {
        difference += (theirs[k] - ours[k]) * (theirs[k] - ours[k]);
        size += ours[k] * ours[k];
    }
    tap_check(sqrt(difference) <= allowed->relative * sqrt(size) + allowed->absolute, __LINE__,
              "gradient of %s is %g away from %g", p.name, sqrt(difference), sqrt(size));
    ys_free(ours);
    ys_free(theirs);
}

/** What the error of a loss is a part of. One that is exp of minus the distance of logits, as it is of a label that is
 * far ahead, is off by so large a part of itself as that distance is off. */
static inline double size_of_loss(double loss)
{
    return loss > 0 && loss < 1 ? loss * (1 - log(loss)) : fabs(loss);
}

/** Loss and gradients, the loss of the third step of a training: each step can add a part of its own error; and then of
 * an evaluation, which has the statistics that the steps left. */
static inline void compare_engines(struct ys_engine *ref, struct ys_engine *e, const struct allowed *allowed)
{
    double ours, theirs;
    CHECK(ys_engine_backward(ref, NULL, NULL, YS_ENGINE_TRAIN, &ours) == 0);
    CHECK(ys_engine_backward(e, NULL, NULL, YS_ENGINE_TRAIN, &theirs) == 0);
    CHECK_NEAR(theirs, ours, allowed->relative * size_of_loss(ours));
    for (size_t p = 0; p < ys_engine_param_count(ref); p++)
        compare_gradient(ref, e, p, allowed);
    for (int step = 0; step < 3; step++) {
        CHECK(ys_engine_step(ref, NULL, NULL, 0.05, &ours) == 0);
        CHECK(ys_engine_step(e, NULL, NULL, 0.05, &theirs) == 0);
    }
    CHECK_NEAR(theirs, ours, 4 * allowed->relative * size_of_loss(ours));
    CHECK(ys_engine_forward(ref, NULL, NULL, YS_ENGINE_EVAL, &ours) == 0);
    CHECK(ys_engine_forward(e, NULL, NULL, YS_ENGINE_EVAL, &theirs) == 0);
    CHECK_NEAR(theirs, ours, 4 * allowed->relative * size_of_loss(ours));
    CHECK(ys_engine_check(e) == 0);
}

/** The same with an engine that it opens of each other back end that has the format; skips
 * where none has. */
static inline void compare(const struct ys_graph *graph, struct ys_engine *ref, enum ys_engine_precision precision,
                           const struct drawing *drawing, const struct allowed *allowed)
{
    static const char *const others[] = {"onednn", "simd"};
    int opened = 0;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct ys_engine *e = open_engine(graph, others[i], precision, drawing);
        struct ys_engine *fresh = e && opened ? open_engine(graph, "ref", YS_ENGINE_F64, drawing) : NULL;
        if (e)
            compare_engines(fresh ? fresh : ref, e, allowed); /* which moves both */
        opened += e != NULL;
        ys_engine_close(fresh);
        ys_engine_close(e);
    }
    if (!opened)
        tap_skip("%s", ys_engine_error());
}

/** Gradients of `ref` by differences; then `onednn` in single precision, and with bfloat16 where that is allowed to be
 * `bf16` away. Frees the graph. */
static inline void try_out(struct ys_graph *graph, const struct drawing *drawing, const struct allowed *bf16)
{
    REQUIRE(graph);
    for (int precision = YS_ENGINE_F32; precision <= YS_ENGINE_BF16; precision++) {
        struct ys_engine *ref = open_engine(graph, "ref", YS_ENGINE_F64, drawing);
        REQUIRE(ref);
        for (size_t p = 0; p < ys_engine_param_count(ref) && precision == YS_ENGINE_F32; p++)
            check_differences(ref, p, drawing->tried);
        compare(graph, ref, precision, drawing, precision == YS_ENGINE_BF16 ? bf16 : &allowed_f32);
        CHECK(ys_engine_check(ref) == 0);
        ys_engine_close(ref);
    }
    ys_graph_free(graph);
}

#endif
