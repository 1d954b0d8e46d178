#include "builtin/attacked_engine.h"

#include "base/mem.h"
#include "base/stored/moved_numbers.h"
#include "robust/attackable.h"

#include <string.h>

enum { BATCH = 100, FEW = 8 }; /* rows of a pass: more are no faster; what a pass of a few is worth the memory for */

static ys_status refuse(const char *graph, const char *why)
{
    return ys_fail(YS_EUNSUPPORTED, "%s cannot be attacked: %s", graph, why);
}

static ys_status check_network(const char *path, const struct ys_graph *graph)
{
    const char *obstacle = ys_attack_obstacle(graph);
    return obstacle ? refuse(path, obstacle) : YS_OK;
}

ys_status ys_attacked_images_read(const char *graph_path, const char *data, size_t most,
                                  struct ys_attacked_images *images)
{
    struct ys_graph *graph;
    struct ys_builtin_rows rows = {0};
    YS_TRY(ys_graph_read(graph_path, &graph));
    ys_status status = check_network(graph_path, graph);
    if (status == YS_OK)
        status = ys_builtin_rows_open(data, graph, &rows);
    if (status == YS_OK && rows.array[0]->dtype != YS_U8)
        status = refuse(data, ys_attack_no_scale);
    if (status == YS_OK) {
        const size_t pixels = rows.row_bytes[0], count = rows.count < most ? rows.count : most;
        *images = (struct ys_attacked_images){.pixels = ys_alloc(count, pixels * sizeof(float)),
                                              .labels = ys_alloc(count, sizeof(int64_t)),
                                              .rows = count};
        const uint8_t *bytes = rows.array[0]->data;
        for (size_t p = 0; images->pixels && p < count * pixels; p++)
            images->pixels[p] = (float)(bytes[p] / 255.0);
        if (images->labels)
            memcpy(images->labels, rows.array[1]->data, count * sizeof *images->labels);
        if (!images->pixels || !images->labels) {
            ys_attacked_images_free(images);
            status = ys_out_of_memory();
        }
    }
    ys_builtin_rows_close(&rows);
    ys_graph_free(graph);
    return status;
}

void ys_attacked_images_free(struct ys_attacked_images *images)
{
    ys_free(images->pixels);
    ys_free(images->labels);
    *images = (struct ys_attacked_images){0};
}

/** Normalisation of bytes becomes one of pixels of [0, 1]: 255 times its scale. */
static void take_pixels(struct ys_graph *graph)
{
    graph->values[graph->inputs[0]].dtype = YS_F32;
    for (size_t n = 0; n < graph->node_count; n++)
        if (graph->nodes[n].op == YS_OP_NORMALIZE && graph->nodes[n].in[0] == graph->inputs[0])
            graph->nodes[n].normalize.scale *= 255;
}

/** Every trained number of `engine` moves by rounding alone. */
static ys_status move_weights(const struct ys_graph *graph, struct ys_engine *engine, int twin)
{
    struct ys_mover mover;
    ys_mover_init(&mover, 0, twin, 1);
    for (size_t p = 0; p < graph->param_count; p++) {
        const size_t count = (size_t)ys_param_elements(&graph->params[p]);
        if (!ys_param_is_trained(&graph->params[p]))
            continue;
        float *values = ys_alloc(count, sizeof *values);
        ys_status status = values ? ys_engine_param_get(engine, p, YS_ENGINE_F32, values) : ys_out_of_memory();
        for (size_t i = 0; status == YS_OK && i < count; i++)
            values[i] = ys_move_float(&mover, values[i]);
        if (status == YS_OK)
            status = ys_engine_param_set(engine, p, YS_ENGINE_F32, values);
        ys_free(values);
        YS_TRY(status);
    }
    return YS_OK;
}

/** The engine that passes so few rows with the least work, and its batch. */
static struct ys_engine *choose(const struct ys_attacked_engine *self, size_t count, size_t *batch)
{
    *batch = count <= self->few_rows ? self->few_rows : self->batch;
    return count <= self->few_rows ? self->few : self->whole;
}

/** Rows without an image are the first one again. */
static void place_images(struct ys_engine *engine, const float *images, size_t count, size_t batch, size_t pixels)
{
    float *place = ys_engine_place(engine, 0);
    memcpy(place, images, count * pixels * sizeof *images);
    for (size_t i = count; i < batch; i++)
        memcpy(place + i * pixels, images, pixels * sizeof *images);
}

/** Rows without a cotangent have zeros. */
static ys_status ask(struct ys_attacked_engine *self, const float *images, const float *cotangent, size_t count,
                     struct ys_engine **engine)
{
    const size_t classes = self->model.classes;
    size_t batch;
    *engine = choose(self, count, &batch);
    place_images(*engine, images, count, batch, self->model.pixels);
    if (cotangent) {
        memset(self->cotangents, 0, batch * classes * sizeof *cotangent);
        memcpy(self->cotangents, cotangent, count * classes * sizeof *cotangent);
    }
    return ys_engine_cotangent(*engine, NULL, cotangent ? self->cotangents : NULL);
}

static ys_status logits_of(void *of, const float *images, size_t count, float *logits)
{
    struct ys_attacked_engine *self = of;
    struct ys_engine *engine;
    YS_TRY(ask(self, images, NULL, count, &engine));
    memcpy(logits, ys_engine_logits(engine), count * self->model.classes * sizeof *logits);
    return YS_OK;
}

static ys_status gradient_of(void *of, const float *images, const float *cotangent, size_t count, float *logits,
                             float *gradient)
{
    struct ys_attacked_engine *self = of;
    struct ys_engine *engine;
    YS_TRY(ask(self, images, cotangent, count, &engine));
    if (logits)
        memcpy(logits, ys_engine_logits(engine), count * self->model.classes * sizeof *logits);
    memcpy(gradient, ys_engine_input_gradient(engine), count * self->model.pixels * sizeof *gradient);
    return YS_OK;
}

ys_status ys_attacked_engine_judge(void *of, const float *images, size_t count, double *logits)
{
    const struct ys_attacked_engine *self = of;
    const size_t classes = self->model.classes, pixels = self->model.pixels;
    for (size_t from = 0; from < count; from += self->batch) {
        const size_t rows = count - from < self->batch ? count - from : self->batch;
        place_images(self->judge, images + from * pixels, rows, self->batch, pixels);
        YS_TRY(ys_engine_forward(self->judge, NULL, NULL, YS_ENGINE_EVAL, NULL));
        memcpy(logits + from * classes, ys_engine_logits(self->judge), rows * classes * sizeof *logits);
    }
    return YS_OK;
}

static ys_status open_one(const struct ys_graph *graph, const char *weights, const struct ys_engine_config *config,
                          int twin, struct ys_engine **engine)
{
    YS_TRY(ys_engine_open_graph(graph, config, engine));
    YS_TRY(ys_engine_load(*engine, weights));
    return twin ? move_weights(graph, *engine, twin) : YS_OK;
}

static ys_status open_all(struct ys_attacked_engine *self, const char *weights, int threads, int twin)
{
    struct ys_engine_config config = {
        .batch = (int64_t)self->batch, .precision = YS_ENGINE_F32, .threads = threads, .input_gradient = true};
    YS_TRY(open_one(self->graph, weights, &config, twin, &self->whole));
    config.batch = (int64_t)self->few_rows;
    YS_TRY(open_one(self->graph, weights, &config, twin, &self->few));
    config = (struct ys_engine_config){.batch = (int64_t)self->batch, .precision = YS_ENGINE_F64, .threads = threads};
    if (!twin)
        YS_TRY(open_one(self->graph, weights, &config, 0, &self->judge));
    self->cotangents = ys_alloc(self->batch, (size_t)ys_engine_classes(self->whole) * sizeof *self->cotangents);
    return self->cotangents ? YS_OK : ys_out_of_memory();
}

ys_status ys_attacked_engine_open(const char *graph, const char *weights, int threads, size_t rows, int twin,
                                  struct ys_attacked_engine *engine)
{
    *engine = (struct ys_attacked_engine){0};
    YS_TRY(ys_graph_read(graph, &engine->graph));
    ys_status status = check_network(graph, engine->graph);
    if (status == YS_OK) {
        const size_t fit = (size_t)ys_builtin_batch(engine->graph, BATCH);
        take_pixels(engine->graph);
        engine->batch = rows < fit ? rows : fit;
        engine->few_rows = engine->batch < FEW ? engine->batch : FEW;
        status = open_all(engine, weights, threads, twin);
    }
    if (status != YS_OK) {
        ys_attacked_engine_close(engine);
        return status;
    }
    const struct ys_value *input = &engine->graph->values[engine->graph->inputs[0]];
    engine->model = (struct ys_attacked){.of = engine,
                                         .logits = logits_of,
                                         .gradient = gradient_of,
                                         .pixels = (size_t)ys_value_row_elements(input),
                                         .classes = (size_t)ys_engine_classes(engine->whole),
                                         .batch = engine->batch,
                                         .channels = input->shape[1],
                                         .height = input->shape[2],
                                         .width = input->shape[3]};
    return YS_OK;
}

void ys_attacked_engine_close(struct ys_attacked_engine *engine)
{
    ys_engine_close(engine->whole);
    ys_engine_close(engine->few);
    ys_engine_close(engine->judge);
    ys_graph_free(engine->graph);
    ys_free(engine->cotangents);
    *engine = (struct ys_attacked_engine){0};
}
