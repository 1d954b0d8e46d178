/* What the installed header adds for strangers: named models, initial values, descriptions, errors. */
#include "base/mem.h"
#include "base/status.h"
#include "engine/engine.h"
#include "graph/model.h"
#include "tap.h"
#include <stdlib.h>
#include <unistd.h>

static struct ys_engine *open_model(const char *name, enum ys_engine_precision precision)
{
    struct ys_engine_config config = {.batch = 2, .precision = precision, .threads = 1, .training = true};
    struct ys_engine *engine = NULL;
    CHECK_TEXT(ys_engine_open_model(name, &config, &engine) == 0 ? "" : ys_engine_error(), "");
    return engine;
}

static void a_named_model_is_opened_for_its_usual_input(void)
{
    struct ys_engine *engine = open_model("resnet20", YS_ENGINE_F32);
    REQUIRE(engine);
    struct ys_engine_rows rows = ys_engine_rows(engine);
    CHECK_INT(rows.type, YS_ENGINE_UINT8);
    CHECK_INT(rows.rank, 3);
    CHECK_INT(rows.shape[0], 3);
    CHECK_INT(rows.shape[1], 32);
    CHECK_INT(rows.shape[2], 32);
    CHECK_INT(rows.row_bytes, 3 * 32 * 32);
    CHECK_INT(ys_engine_classes(engine), 10);
    ys_engine_close(engine);
}

static void parameters_are_described(void)
{
    struct ys_engine *engine = open_model("resnet20", YS_ENGINE_F32);
    REQUIRE(engine);
    size_t trained = 0, buffers = 0;
    for (size_t p = 0; p < ys_engine_param_count(engine); p++) {
        struct ys_engine_param param;
        CHECK(ys_engine_param(engine, p, &param) == 0);
        CHECK_INT(ys_engine_param_find(engine, param.name), p);
        size_t elements = 1;
        for (size_t i = 0; i < param.rank; i++)
            elements *= (size_t)param.shape[i];
        CHECK_INT(param.elements, elements);
        trained += param.is_trained ? elements : 0;
        buffers += !param.is_trained;
    }
    CHECK_INT(trained, 272474); /* as `list models` counts them */
    CHECK(buffers > 0);         /* running statistics */
    ys_engine_close(engine);
}

static void drawn_weights_are_those_that_a_study_starts_from(void)
{
    char hash[65], path[] = "/tmp/ys-engine-XXXXXX";
    struct ys_engine *drawn = open_model("lenet", YS_ENGINE_F32), *loaded = open_model("lenet", YS_ENGINE_F32);
    REQUIRE(drawn && loaded);
    close(mkstemp(path));
    CHECK_INT(ys_graph_write_weights(ys_engine_graph(loaded), 7, path, hash), YS_OK);
    CHECK(ys_engine_load(loaded, path) == 0);
    unlink(path);
    CHECK(ys_engine_draw(drawn, 7) == 0);
    for (size_t p = 0; p < ys_engine_param_count(drawn); p++) {
        struct ys_engine_param param;
        REQUIRE(ys_engine_param(drawn, p, &param) == 0);
        float *a = ys_alloc(param.elements, sizeof *a), *b = ys_alloc(param.elements, sizeof *b);
        CHECK(ys_engine_param_get(drawn, p, YS_ENGINE_F32, a) == 0);
        CHECK(ys_engine_param_get(loaded, p, YS_ENGINE_F32, b) == 0);
        CHECK(memcmp(a, b, param.elements * sizeof *a) == 0);
        ys_free(a);
        ys_free(b);
    }
    ys_engine_close(drawn);
    ys_engine_close(loaded);
}

static void what_a_stranger_gets_wrong_is_an_error(void)
{
    struct ys_engine_config config = {.batch = 2, .precision = YS_ENGINE_F32, .threads = 1};
    struct ys_engine *engine = NULL;
    struct ys_engine_param param;
    float value;
    CHECK(ys_engine_open_model("lennet", &config, &engine) < 0);
    CHECK_HAS(ys_engine_error(), "\"lennet\"");
    CHECK(ys_engine_open("/nowhere/graph.json", &config, &engine) < 0);
    CHECK_HAS(ys_engine_error(), "/nowhere/graph.json");
    config.precision = (enum ys_engine_precision)9;
    CHECK(ys_engine_open_model("mlp", &config, &engine) < 0);
    CHECK_HAS(ys_engine_error(), "precision is 9");
    CHECK(engine == NULL);
    engine = open_model("mlp", YS_ENGINE_F32);
    REQUIRE(engine);
    size_t beyond = ys_engine_param_count(engine);
    CHECK(ys_engine_param(engine, beyond, &param) < 0);
    CHECK_HAS(ys_engine_error(), "mlp has 6");
    CHECK(ys_engine_param_get(engine, beyond, YS_ENGINE_F32, &value) < 0);
    CHECK(ys_engine_param_set(engine, beyond, YS_ENGINE_F32, &value) < 0);
    CHECK(ys_engine_gradient_get(engine, beyond, YS_ENGINE_F32, &value) < 0);
    CHECK(ys_engine_param_get(engine, 1, YS_ENGINE_BF16, &value) < 0);
    CHECK_HAS(ys_engine_error(), "YS_ENGINE_F64");
    CHECK(ys_engine_draw(engine, 1) == 0); /* and goes on being of use */
    ys_engine_close(engine);
}

TAP_MAIN(TAP_CASE(a_named_model_is_opened_for_its_usual_input), TAP_CASE(parameters_are_described),
         TAP_CASE(drawn_weights_are_those_that_a_study_starts_from), TAP_CASE(what_a_stranger_gets_wrong_is_an_error))
