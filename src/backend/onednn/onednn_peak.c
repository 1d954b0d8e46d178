#include "backend/onednn/onednn_state.h"
#include "backend/parallel.h"
#include "backend/product_peak.h"

#include "base/clock.h"
#include <string.h>

enum { LEAST_REPEATS = 3, BUDGET_NS = 300000000 };

/** Appends the product to the program; buffers[0] and [1] are the factors. */
static ys_status append(struct ys_lowering *low, const struct ys_peak_product *p, dnnl_data_type_t type, int buffers[3])
{
    static const int ids[3] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    const struct onednn *o = low->state;
    const int64_t dims[3][2] = {{p->rows, p->depth}, {p->depth, p->columns}, {p->rows, p->columns}};
    ys_layout any[3];
    struct onednn_argument arguments[3];
    dnnl_primitive_desc_t pd = NULL;
    for (int i = 0; i < 3; i++)
        YS_TRY(ys_layout_any(&any[i], 2, dims[i], type));
    YS_TRY(ys_onednn_matmul(o->engine, &any[0], &any[1], &any[2], &pd));
    ys_status status = YS_OK;
    for (int i = 0; status == YS_OK && i < 3; i++) {
        ys_layout layout = ys_layout_of(pd, ids[i]);
        status = ys_onednn_buffer(low, &layout, &buffers[i]);
        arguments[i] = (struct onednn_argument){ids[i], ys_at(buffers[i])};
    }
    if (status == YS_OK)
        status = ys_onednn_append(low, "matrix product", pd, arguments, 3);
    dnnl_primitive_desc_destroy(pd);
    return status;
}

/** Numbers in [-1, 1) with many digits, as far as the format has them. */
static void fill(struct ys_program *program, int buffer, dnnl_data_type_t type)
{
    unsigned char *to = ys_program_at(program, buffer);
    size_t size = type == dnnl_bf16 ? 2 : sizeof(float);
    uint32_t word = 1;
    for (size_t i = 0; i < program->buffers[buffer].size_bytes / size; i++) {
        word = word * 1664525U + 1013904223U; /* Numerical Recipes, section 7.1 */
        float value = (float)(int32_t)word * 0x1p-31F;
        memcpy(to + i * size, (unsigned char *)&value + sizeof value - size, size); /* bf16: the upper half */
    }
}

static ys_status time_best(struct ys_program *program, int repeats, double *seconds)
{
    uint64_t best_ns = UINT64_MAX, begin_ns = ys_time_ns();
    YS_TRY(ys_program_run(program, YS_SEGMENT_FORWARD));
    for (int i = 0; repeats ? i < repeats : i < LEAST_REPEATS || ys_time_ns() - begin_ns < BUDGET_NS; i++) {
        uint64_t from_ns = ys_time_ns();
        YS_TRY(ys_program_run(program, YS_SEGMENT_FORWARD));
        uint64_t spent_ns = ys_time_ns() - from_ns;
        best_ns = spent_ns < best_ns ? spent_ns : best_ns;
    }
    *seconds = (double)best_ns * 1e-9;
    return YS_OK;
}

static ys_status measure(struct ys_lowering *low, const struct ys_peak_product *product, int repeats, double *seconds)
{
    struct onednn *o = low->state;
    int buffers[3];
    YS_TRY(ys_onednn_status(dnnl_engine_create(&o->engine, dnnl_cpu, 0), "engine"));
    YS_TRY(ys_onednn_status(dnnl_stream_create(&o->stream, o->engine, dnnl_stream_default_flags), "stream"));
    YS_TRY(append(low, product, o->type, buffers));
    YS_TRY(ys_program_plan(low->program, false));
    fill(low->program, buffers[0], o->type);
    fill(low->program, buffers[1], o->type);
    return time_best(low->program, repeats, seconds);
}

ys_status ys_peak_product(const struct ys_peak_product *product, enum ys_engine_precision precision, int threads,
                          int repeats, double *seconds)
{
    YS_ASSERT(precision != YS_ENGINE_F64);
    struct onednn o = {.type = precision == YS_ENGINE_BF16 ? dnnl_bf16 : dnnl_f32};
    struct ys_program program = {0};
    struct ys_lowering low = {.program = &program, .state = &o};
    ys_parallel_enter(threads, &low.saved_threads, &low.saved_dynamic);
    const int got = ys_parallel_count(threads);
    ys_status status = got == threads ? measure(&low, product, repeats, seconds) : ys_parallel_lacks(threads, got);
    ys_parallel_leave(low.saved_threads, low.saved_dynamic);
    ys_program_fini(&program);
    if (o.stream)
        dnnl_stream_destroy(o.stream);
    if (o.engine)
        dnnl_engine_destroy(o.engine);
    return status;
}
