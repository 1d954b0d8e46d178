#include "prepare/layer_proof.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "data/row_order.h"
#include "graph/expose_values.h"
#include "quant/layer_network.h"

#include <string.h>

enum { ROWS = 2 };

void ys_layer_proof_fini(struct ys_layer_proof *found)
{
    ys_free(found->wrong);
    ys_free(found->unasked);
    *found = (struct ys_layer_proof){0};
}

/* Where the numbers of values come from: the oracle's, of every value that a node of the network makes. */
struct oracle_values {
    const struct ys_graph *folded, *graph;
    struct ys_tap tap; /* of graph */
    const struct ys_tensor *layers;
};

/* Values keep their names when a network is folded. */
static const double *numbers_of(void *context, int value, int64_t row)
{
    const struct oracle_values *from = context;
    const double *all = (const double *)from->layers->data + row * from->layers->shape[1];
    for (size_t i = 0; i < from->tap.count; i++)
        if (strcmp(from->graph->values[from->tap.slices[i].value].name, from->folded->values[value].name) == 0)
            return all + from->tap.slices[i].offset;
    return NULL;
}

/* What the framework is given, as files. */
struct layer_files {
    char *graph, *weights, *scales, *data, *order;
};

static void name_files(const char *folder, struct layer_files *files)
{
    *files = (struct layer_files){.graph = ys_path_join(folder, "layers.json"),
                                  .weights = ys_path_join(folder, "layers.safetensors"),
                                  .scales = ys_path_join(folder, "layers-scales.json"),
                                  .data = ys_path_join(folder, "layers-data.safetensors"),
                                  .order = ys_path_join(folder, "layers-order.safetensors")};
}

static void free_files(struct layer_files *files)
{
    char *all[] = {files->graph, files->weights, files->scales, files->data, files->order};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        ys_free(all[i]);
}

static ys_status write_weights(const struct ys_layer_network *network, const char *path)
{
    const struct ys_graph *graph = network->graph;
    struct ys_tensor *tensors = ys_alloc(graph->param_count, sizeof *tensors);
    for (size_t i = 0; i < graph->param_count; i++) {
        const struct ys_param *p = &graph->params[i];
        tensors[i] = (struct ys_tensor){.name = p->name,
                                        .dtype = YS_F32,
                                        .rank = p->rank,
                                        .data = network->values[i],
                                        .size_bytes = (size_t)ys_param_elements(p) * sizeof(float)};
        memcpy(tensors[i].shape, p->shape, p->rank * sizeof *p->shape);
    }
    ys_status status = ys_safetensors_write(path, tensors, graph->param_count, NULL);
    ys_free(tensors);
    return status;
}

static ys_status write_rows(const struct ys_layer_network *network, const char *path)
{
    const int64_t each = ys_value_row_elements(&network->graph->values[network->graph->inputs[0]]);
    int64_t classes[ROWS] = {0};
    const struct ys_tensor tensors[] = {{.name = "x",
                                         .dtype = YS_F32,
                                         .rank = 2,
                                         .shape = {network->rows, each},
                                         .data = network->x,
                                         .size_bytes = (size_t)(network->rows * each) * sizeof *network->x},
                                        {.name = YS_TARGET_NAME,
                                         .dtype = YS_I64,
                                         .rank = 1,
                                         .shape = {network->rows},
                                         .data = classes,
                                         .size_bytes = (size_t)network->rows * sizeof *classes}};
    return ys_safetensors_write(path, tensors, sizeof tensors / sizeof tensors[0], NULL);
}

static ys_status write_files(const struct ys_layer_network *network, const struct layer_files *files)
{
    const uint32_t order[ROWS] = {0, 1};
    const double rate = 0;
    ys_json *json = ys_graph_to_json(network->graph);
    ys_status status = ys_json_write(files->graph, json);
    ys_json_free(json);
    if (status == YS_OK)
        status = write_weights(network, files->weights);
    if (status == YS_OK)
        status = ys_scales_write(files->scales, &network->scales);
    if (status == YS_OK)
        status = write_rows(network, files->data);
    return status == YS_OK ? ys_order_save(files->order, order, NULL, network->rows, 1, &rate) : status;
}

static ys_status make_plan(const struct ys_plan *plan, const struct layer_files *files, int64_t rows,
                           const char *folder, struct ys_plan *made)
{
    YS_TRY(ys_plan_copy(plan, made));
    made->batch = rows;
    made->steps = 1;
    made->requests = YS_FIELD_NONE;
    ys_set_text(&made->graph, files->graph);
    ys_set_text(&made->weights, files->weights);
    ys_set_text(&made->scales, files->scales);
    ys_set_text(&made->input.path, files->data);
    ys_set_text(&made->input.order, files->order);
    ys_set_text(&made->folder, folder);
    return YS_OK;
}

static char *what_is_wrong(const struct ys_layer_verdict *verdict)
{
    const struct ys_shown_layer *first = verdict->first;
    if (verdict->wrong == 0)
        return NULL;
    if (verdict->saturates)
        return ys_format("it saturates: sums of two products do not fit its 16 bits, and %lld of %lld integers of "
                         "operators are wrong, the first of %s; quant.range = reduced does not",
                         (long long)verdict->wrong, (long long)verdict->elements, first->name);
    return ys_format("%lld of %lld integers of operators are wrong, the first of %s (%s): it is %.4f before it is "
                     "rounded, and %.4f was given",
                     (long long)verdict->wrong, (long long)verdict->elements, first->name, first->op, verdict->exact,
                     verdict->got);
}

static ys_status ask(const struct ys_layer_network *network, const struct ys_trial *trial, const struct ys_plan *plan,
                     const char *folder, struct ys_layer_proof *found)
{
    struct layer_files files;
    struct ys_plan made;
    struct ys_layer_verdict verdict;
    double *logits = ys_alloc((size_t)(network->rows * network->columns), sizeof *logits);
    name_files(folder, &files);
    ys_status status = write_files(network, &files);
    if (status == YS_OK)
        status = make_plan(plan, &files, network->rows, folder, &made);
    if (status == YS_OK) {
        status = ys_logits_ask(trial->framework, &made, trial->record.env, network->rows, network->columns, logits,
                               &found->unasked);
        ys_plan_fini(&made);
    }
    if (status == YS_OK && !found->unasked) {
        ys_layer_judge(network, logits, &verdict);
        found->operators = verdict.operators;
        found->elements = verdict.elements;
        found->in_band = verdict.in_band;
        found->is_float = verdict.is_float && !verdict.saturates;
        found->wrong = what_is_wrong(&verdict);
    }
    ys_free(logits);
    free_files(&files);
    return status;
}

/* All that lies in files. */
struct layer_inputs {
    struct ys_graph *graph;
    struct ys_safetensors *weights, *layers;
    struct ys_folded folded;
    struct ys_scales scales;
    struct oracle_values values;
};

static ys_status open_inputs(const struct ys_agreement *agreement, const struct ys_work *work, struct layer_inputs *in)
{
    YS_TRY(ys_scales_read(agreement->scales.path, &in->scales));
    YS_TRY(ys_graph_read(work->graph_path, &in->graph));
    YS_TRY(ys_safetensors_open(agreement->taught.weights_path, &in->weights));
    YS_TRY(ys_graph_fold(in->graph, in->weights, &in->folded));
    YS_TRY(ys_safetensors_open(agreement->layers_path, &in->layers));
    YS_TRY(ys_safetensors_need(in->layers, "layers", YS_F64, 2, NULL, &in->values.layers));
    in->values.graph = in->graph;
    in->values.folded = in->folded.graph;
    return ys_tap_make(in->graph, &in->values.tap);
}

static void close_inputs(struct layer_inputs *in)
{
    ys_tap_fini(&in->values.tap);
    ys_safetensors_close(in->layers);
    ys_folded_fini(&in->folded);
    ys_safetensors_close(in->weights);
    ys_graph_free(in->graph);
    ys_scales_fini(&in->scales);
}

ys_status ys_layer_proof_ask(const struct ys_agreement *agreement, const struct ys_trial *trial,
                             const struct ys_work *work, const struct ys_plan *plan, const char *folder,
                             struct ys_layer_proof *found)
{
    struct layer_inputs in = {.graph = NULL};
    struct ys_layer_network network = {.graph = NULL};
    *found = (struct ys_layer_proof){.operators = 0};
    ys_scales_init(&in.scales);
    ys_status status = open_inputs(agreement, work, &in);
    if (status == YS_OK) {
        const int64_t known = in.values.layers->shape[0];
        status = ys_layer_network_make(&in.folded, &in.scales, known < ROWS ? known : ROWS, numbers_of, &in.values,
                                       &network);
    }
    if (status == YS_OK)
        status = ask(&network, trial, plan, folder, found);
    ys_layer_network_fini(&network);
    close_inputs(&in);
    if (status != YS_OK)
        ys_layer_proof_fini(found);
    return status;
}
