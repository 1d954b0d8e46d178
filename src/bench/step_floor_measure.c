#include "bench/step_floor.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum {
    ROUNDS_MIN = YS_STAT_INTERVAL_MIN,
    ROUNDS_MAX = 100,
    STEPS_MAX = 20,    /* timed in one round */
    REPEATS_MIN = 3,   /* of a product in one round, where it is short */
    REPEATS_MAX = 100, /* of a product in one round */
};
static const double budget_s = 20, steps_s = 0.02, alone_s = 1e-3, long_s = 0.05;

/** What is known of one round before the medians. */
struct samples {
    size_t capacity;
    double *step, *ratio;    /* [capacity] */
    double *alone, *in_step; /* [call_count][capacity] */
};

bool ys_floor_is_product(const struct ys_call *call)
{
    return call->kind == YS_CALL_PRODUCT || call->kind == YS_CALL_WEIGHTS;
}

static double seconds_since(uint64_t from_ns)
{
    return (double)(ys_time_ns() - from_ns) * 1e-9;
}

static double median_of(double *values, size_t count)
{
    ys_stat_sort(values, count);
    return ys_stat_quantile(values, count, 0.5);
}

/** Weights as a training begins with, random rows. */
static ys_status fill(struct ys_floor *f, int64_t batch)
{
    const struct ys_graph *g = f->graph;
    for (size_t p = 0; p < g->param_count; p++) {
        float *values = ys_alloc((size_t)ys_param_elements(&g->params[p]), sizeof *values);
        ys_param_draw(&g->params[p], 0, values);
        ys_status status = ys_engine_param_set(f->engine, p, YS_ENGINE_F32, values);
        ys_free(values);
        YS_TRY(status);
    }
    struct ys_rng rng;
    const struct ys_rows rows = ys_graph_rows(g);
    ys_rng_init(&rng, 0, "floor");
    for (size_t i = 0; i < rows.input_count; i++)
        ys_rows_draw(&rows.inputs[i], 0, &rng, batch, ys_engine_place(f->engine, i));
    ys_rows_draw(&rows.target, rows.classes, &rng, batch, ys_engine_target(f->engine));
    return YS_OK;
}

/** One step, at rate 0: the weights stay, so every step works on the same values. */
static ys_status step(struct ys_floor *f, double *seconds)
{
    uint64_t from_ns = ys_time_ns();
    YS_TRY(ys_engine_step(f->engine, NULL, NULL, 0, NULL));
    *seconds = seconds_since(from_ns);
    return YS_OK;
}

/** The median of some steps in a row, short ones after one that brings the caches back to where steps leave them. */
static ys_status time_steps(struct ys_floor *f, double *seconds)
{
    double values[STEPS_MAX];
    size_t count = 0;
    YS_TRY(step(f, &values[0]));
    if (values[0] >= steps_s) {
        *seconds = values[0];
        return YS_OK;
    }
    uint64_t from_ns = ys_time_ns();
    while (count < STEPS_MAX && (!count || seconds_since(from_ns) < steps_s))
        YS_TRY(step(f, &values[count++]));
    *seconds = median_of(values, count);
    return YS_OK;
}

static ys_status run_call(struct ys_floor *f, size_t call, double *seconds)
{
    uint64_t from_ns = ys_time_ns();
    YS_TRY(ys_engine_run_call(f->engine, call));
    *seconds = seconds_since(from_ns);
    return YS_OK;
}

/** A call at its turn, then, if it is a product, again and again: the same work on the same values. */
static ys_status time_call(struct ys_floor *f, size_t call, double *in_step, double *alone)
{
    double values[REPEATS_MAX];
    size_t count = 0;
    YS_TRY(run_call(f, call, in_step));
    *alone = 0;
    if (!ys_floor_is_product(&f->program->calls[call]))
        return YS_OK;
    size_t least = *in_step >= long_s ? 1 : REPEATS_MIN;
    uint64_t from_ns = ys_time_ns();
    while (count < least || (count < REPEATS_MAX && seconds_since(from_ns) < alone_s))
        YS_TRY(run_call(f, call, &values[count++]));
    *alone = median_of(values, count);
    return YS_OK;
}

/** Steps, and a step taken apart, side by side, so that both see the same machine. */
static ys_status measure_round(struct ys_floor *f, struct samples *s, size_t round)
{
    double sum = 0;
    YS_TRY(time_steps(f, &s->step[round]));
    for (size_t i = 0; i < f->program->call_count; i++) {
        double *alone = &s->alone[i * s->capacity + round];
        YS_TRY(time_call(f, i, &s->in_step[i * s->capacity + round], alone));
        sum += *alone;
    }
    s->ratio[round] = s->step[round] / sum;
    return YS_OK;
}

static void show_progress(size_t round, double spent_s)
{
    char text[32];
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\r%zu rounds, %s \033[K", round, ys_span_text(spent_s, text, sizeof text));
}

static ys_status measure_rounds(struct ys_floor *f, struct samples *s, int64_t repeat)
{
    double unused;
    YS_TRY(step(f, &unused)); /* the first finds code and tables cold */
    uint64_t from_ns = ys_time_ns();
    while (repeat ? f->rounds < (size_t)repeat
                  : f->rounds < ROUNDS_MIN || (f->rounds < ROUNDS_MAX && seconds_since(from_ns) < budget_s)) {
        show_progress(f->rounds, seconds_since(from_ns));
        YS_TRY(measure_round(f, s, f->rounds));
        f->rounds++;
    }
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return YS_OK;
}

static void take_medians(struct ys_floor *f, struct samples *s)
{
    f->ratio = ys_stat_summarize(s->ratio, f->rounds).interval;
    f->step_s = median_of(s->step, f->rounds);
    for (size_t i = 0; i < f->program->call_count; i++) {
        f->alone_s[i] = median_of(s->alone + i * s->capacity, f->rounds);
        f->in_step_s[i] = median_of(s->in_step + i * s->capacity, f->rounds);
    }
}

static ys_status measure(struct ys_floor *f, int64_t repeat)
{
    size_t calls = f->program->call_count, capacity = repeat ? (size_t)repeat : ROUNDS_MAX;
    struct samples s = {capacity, ys_alloc(capacity, sizeof(double)), ys_alloc(capacity, sizeof(double)),
                        ys_alloc(calls * capacity, sizeof(double)), ys_alloc(calls * capacity, sizeof(double))};
    f->alone_s = ys_alloc(calls, sizeof(double));
    f->in_step_s = ys_alloc(calls, sizeof(double));
    ys_status status = measure_rounds(f, &s, repeat);
    if (status == YS_OK)
        take_medians(f, &s);
    ys_free(s.step);
    ys_free(s.ratio);
    ys_free(s.alone);
    ys_free(s.in_step);
    return status;
}

ys_status ys_floor_measure(const struct ys_model_choice *model, const struct ys_engine_config *config, int64_t repeat,
                           struct ys_floor *floor)
{
    *floor = (struct ys_floor){0};
    YS_TRY(ys_model_choice_build(model, &model->usual, &floor->graph));
    YS_TRY(ys_engine_open_graph(floor->graph, config, &floor->engine));
    floor->program = ys_engine_program(floor->engine);
    YS_TRY(fill(floor, config->batch));
    return measure(floor, repeat);
}

void ys_floor_fini(struct ys_floor *floor)
{
    ys_engine_close(floor->engine);
    ys_graph_free(floor->graph);
    ys_free(floor->alone_s);
    ys_free(floor->in_step_s);
}
