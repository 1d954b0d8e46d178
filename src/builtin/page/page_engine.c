#include "builtin/page/page_engine.h"

#include "backend/level.h"
#include "base/mem.h"
#include "builtin/plan_engine.h"
#include "engine/backend.h"

#include <string.h>

static struct {
    struct ys_engine *engine;
    void *values; /* what a parameter is handed over in */
    size_t values_bytes;
    double loss; /* of the last pass or step */
} page;

const char *ys_page_error(void)
{
    return ys_engine_error();
}

const char *ys_page_version(void)
{
    return YS_VERSION;
}

static bool is_supported(enum ys_op op)
{
    for (const struct ys_backend *const *backend = ys_backends(); *backend; backend++)
        if ((*backend)->supports(op, YS_ENGINE_F32))
            return true;
    return false;
}

const char *ys_page_op(int index)
{
    for (int op = 0; op < YS_OP_COUNT; op++)
        if (is_supported((enum ys_op)op) && index-- == 0)
            return ys_op_name((enum ys_op)op);
    return NULL;
}

static ys_status open_plan(const struct ys_plan *plan, const char *graph, const char *backend)
{
    struct ys_engine_config config = {0};
    if (plan->threads != 1)
        return ys_fail(YS_EUNSUPPORTED, "threads %lld: the built-in engine has one in a web page",
                       (long long)plan->threads);
    if (plan->scales)
        return ys_fail(YS_EUNSUPPORTED, "the built-in engine has no quantised networks in a web page");
    YS_TRY(ys_builtin_plan_config(plan, &config));
    config.backend = backend;
    YS_TRY((ys_status)ys_engine_open(graph, &config, &page.engine));
    if (ys_engine_input_count(page.engine) != 1 || ys_engine_target_rows(page.engine).rank != 0)
        return ys_fail(YS_EUNSUPPORTED,
                       "in a web page the built-in engine has networks of one input and one class a row");
    return YS_OK;
}

int ys_page_open(const char *text, const char *graph, const char *backend)
{
    struct ys_plan plan;
    ys_json *json = NULL;
    ys_engine_close(page.engine);
    page.engine = NULL;
    ys_status status = ys_json_parse(text, strlen(text), "the plan", &json);
    if (status == YS_OK)
        status = ys_plan_read(json, &plan);
    ys_json_free(json);
    YS_TRY(status);
    status = open_plan(&plan, graph, *backend ? backend : NULL);
    ys_plan_fini(&plan);
    return status;
}

const char *ys_page_backend(void)
{
    return ys_engine_backend(page.engine);
}

const char *ys_page_level(void)
{
    return ys_level_name();
}

void *ys_page_input(void)
{
    return ys_engine_place(page.engine, 0);
}

int64_t *ys_page_target(void)
{
    return ys_engine_target(page.engine);
}

int ys_page_infer(void)
{
    return ys_engine_forward(page.engine, NULL, NULL, YS_ENGINE_EVAL, NULL);
}

int ys_page_forward(int trains)
{
    return ys_engine_forward(page.engine, NULL, NULL, trains ? YS_ENGINE_TRAIN : YS_ENGINE_EVAL, &page.loss);
}

int ys_page_backward(int trains)
{
    return ys_engine_backward(page.engine, NULL, NULL, trains ? YS_ENGINE_TRAIN : YS_ENGINE_EVAL, &page.loss);
}

int ys_page_step(double lr)
{
    return ys_engine_step(page.engine, NULL, NULL, lr, &page.loss);
}

double ys_page_loss(void)
{
    return page.loss;
}

void ys_page_reset(void)
{
    ys_engine_reset(page.engine);
}

const void *ys_page_logits(void)
{
    return ys_engine_logits(page.engine);
}

int ys_page_classes(void)
{
    return (int)ys_engine_classes(page.engine);
}

int ys_page_real_bytes(void)
{
    return (int)ys_engine_real_size(page.engine);
}

void *ys_page_place(int param, int real_bytes)
{
    struct ys_engine_param found;
    if (param < 0 || ys_engine_param(page.engine, (size_t)param, &found) != 0)
        return NULL;
    const size_t bytes = found.elements * (size_t)real_bytes;
    if (bytes > page.values_bytes) {
        ys_free(page.values);
        page.values = ys_alloc(bytes, 1);
        page.values_bytes = page.values ? bytes : 0;
    }
    return page.values;
}

static enum ys_engine_precision format_of(int real_bytes)
{
    return real_bytes == sizeof(double) ? YS_ENGINE_F64 : YS_ENGINE_F32;
}

int ys_page_set(int param, int real_bytes)
{
    return ys_engine_param_set(page.engine, (size_t)param, format_of(real_bytes), page.values);
}

int ys_page_get(int param, int real_bytes)
{
    return ys_engine_param_get(page.engine, (size_t)param, format_of(real_bytes), page.values);
}

int ys_page_gradient(int param, int real_bytes)
{
    return ys_engine_gradient_get(page.engine, (size_t)param, format_of(real_bytes), page.values);
}
