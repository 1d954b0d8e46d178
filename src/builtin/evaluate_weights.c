#include "builtin/builtin.h"
#include "builtin/engine_commands.h"
#include "builtin/plan_rows.h"
#include "builtin/quantised_engine.h"

#include "base/json/json.h"
#include "engine/engine.h"
#include <math.h>

struct evaluate_request {
    const char *graph, *weights, *data, *scales, *backend; /* the last two may be NULL */
    int64_t threads, batch;                                /* batch 0: as fits */
};

enum { STREAMS = 16 };    /* few, so that most rows have much before them */
enum { MOST_ROWS = 250 }; /* of a batch: more are no faster */

struct correct_tally {
    int64_t correct, count; /* of targets: rows, or their positions; correct stays 0 where a target is no class */
    double loss;            /* sum over the targets */
};

static ys_status parse(int argc, char **argv, struct evaluate_request *r)
{
    const struct ys_builtin_flag flags[] = {{"graph", .text = &r->graph},     {"weights", .text = &r->weights},
                                            {"data", .text = &r->data},       {"scales", .text = &r->scales},
                                            {"backend", .text = &r->backend}, {"threads", .number = &r->threads},
                                            {"batch", .number = &r->batch}};
    YS_TRY(ys_builtin_flags(argc, argv, "evaluate", flags, sizeof flags / sizeof flags[0]));
    if (!r->graph || !r->weights || !r->data || r->threads < 1)
        return ys_fail(YS_EINVAL, "evaluate needs --graph, --weights, --data and --threads");
    return YS_OK;
}

/** The first largest logit; a NaN is never larger. */
static int64_t first_largest(const float *logits, int64_t classes)
{
    int64_t best = 0;
    for (int64_t k = 1; k < classes; k++)
        if (logits[k] > logits[best])
            best = k;
    return best;
}

/** The graph's loss of one row, in double. */
static double row_loss(const struct ys_graph *graph, const float *logits, int64_t classes, int64_t label)
{
    double top = logits[0], exponentials = 0, sum = 0, squares = 0, smoothing = graph->label_smoothing;
    for (int64_t k = 1; k < classes; k++)
        top = logits[k] > top ? logits[k] : top;
    for (int64_t k = 0; k < classes; k++) {
        double error = logits[k] - (k == label);
        exponentials += exp(logits[k] - top);
        sum += logits[k];
        squares += error * error;
    }
    if (graph->loss == YS_LOSS_NLL)
        return -(double)logits[label];
    if (graph->loss == YS_LOSS_MEAN_SQUARED_ERROR)
        return squares / (double)classes;
    return top + log(exponentials) - (1 - smoothing) * logits[label] - smoothing / (double)classes * sum;
}

static double squared_distance(const float *output, const float *numbers, size_t count)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        sum += ((double)output[k] - numbers[k]) * ((double)output[k] - numbers[k]);
    return sum / (double)count;
}

/** Row `row` of the engine's batch. */
static void tally_row(struct ys_engine *engine, size_t row, struct correct_tally *tally)
{
    const struct ys_graph *graph = ys_engine_graph(engine);
    const size_t width = ys_engine_row_logits(engine);
    const float *output = (const float *)ys_engine_logits(engine) + row * width;
    const int64_t classes = ys_engine_classes(engine), positions = ys_graph_positions(graph);
    if (graph->target == YS_TARGET_VECTOR) {
        tally->loss += squared_distance(output, (const float *)ys_engine_target(engine) + row * width, width);
        tally->count++;
        return;
    }
    const int64_t *labels = (const int64_t *)ys_engine_target(engine) + (int64_t)row * positions;
    for (int64_t p = 0; p < positions; p++) {
        if (labels[p] < 0)
            continue;
        tally->count++;
        tally->correct += first_largest(output + p * classes, classes) == labels[p];
        tally->loss += row_loss(graph, output + p * classes, classes, labels[p]);
    }
}

/** Batch after batch; where there are no more rows a batch is filled up with the first one, which is not counted again.
 * Where state is carried, row i of the batches has the i-th stretch of the rows, one after the other; else a batch has
 * those that follow the batch before. */
static ys_status count_rows(struct ys_engine *engine, const struct ys_builtin_rows *rows, size_t batch,
                            struct correct_tally *tally)
{
    const bool carries = ys_engine_graph(engine)->carries_state;
    const size_t batches = (rows->count + batch - 1) / batch;
    for (size_t k = 0; k < batches; k++) {
        for (size_t i = 0; i < batch; i++) {
            const size_t row = carries ? i * batches + k : k * batch + i;
            ys_builtin_rows_copy(rows, row < rows->count ? row : 0, i, engine);
        }
        YS_TRY(ys_engine_forward(engine, NULL, NULL, YS_ENGINE_EVAL, NULL));
        for (size_t i = 0; i < batch; i++)
            if ((carries ? i * batches + k : k * batch + i) < rows->count)
                tally_row(engine, i, tally);
        ys_engine_carry(engine);
    }
    return YS_OK;
}

static ys_status evaluate(const struct evaluate_request *r, struct correct_tally *tally)
{
    struct ys_graph *graph;
    struct ys_builtin_rows rows = {0};
    struct ys_engine *engine = NULL;
    struct ys_builtin_quantised quantised = {0};
    YS_TRY(ys_graph_read(r->graph, &graph));
    ys_status status = ys_builtin_rows_open(r->data, graph, &rows);
    int64_t batch = r->batch ? r->batch : ys_builtin_batch(graph, MOST_ROWS);
    if (!r->batch && graph->carries_state && batch > STREAMS)
        batch = STREAMS;
    if (status == YS_OK && (int64_t)rows.count < batch)
        batch = (int64_t)rows.count;
    struct ys_engine_config config = {
        .batch = batch, .precision = YS_ENGINE_F32, .threads = (int)r->threads, .backend = r->backend};
    if (status == YS_OK && r->scales)
        status = ys_builtin_quantised_open(graph, r->weights, r->scales, &config, &quantised, &engine);
    else if (status == YS_OK)
        status = ys_engine_open_graph(graph, &config, &engine);
    if (status == YS_OK && !r->scales)
        status = ys_engine_load(engine, r->weights);
    if (status == YS_OK)
        status = count_rows(engine, &rows, (size_t)batch, tally);
    ys_engine_close(engine);
    ys_builtin_quantised_close(&quantised);
    ys_builtin_rows_close(&rows);
    ys_graph_free(graph);
    return status;
}

static ys_status print(const struct correct_tally *tally)
{
    ys_json *object = ys_json_object();
    ys_status status = ys_json_set_int(object, "correct", tally->correct);
    if (status == YS_OK)
        status = ys_json_set_int(object, "count", tally->count);
    if (status == YS_OK)
        status = ys_json_set_real(object, "accuracy", (double)tally->correct / (double)tally->count);
    if (status == YS_OK)
        status = ys_json_set_real(object, "loss", tally->loss / (double)tally->count); /* NaN becomes null */
    if (status == YS_OK)
        return ys_builtin_print_json(object);
    ys_json_free(object);
    return status;
}

int ys_builtin_evaluate(int argc, char **argv)
{
    struct evaluate_request request = {0};
    struct correct_tally tally = {0};
    ys_status status = parse(argc, argv, &request);
    if (status == YS_OK)
        status = evaluate(&request, &tally);
    if (status == YS_OK)
        status = print(&tally);
    return ys_builtin_end(status);
}
