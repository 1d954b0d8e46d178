#include "prepare/work.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "crew/feeder.h"
#include "data/row_order.h"
#include "graph/change.h"
#include "graph/model.h"
#include "graph/sequence_part.h"
#include "job/loss.h"
#include "job/optimizer.h"
#include "job/schedule.h"
#include "onnx/read/onnx_read.h"
#include "prepare/tune_rows.h"
#include "probe/host.h"
#include "protocol/batch_ring.h"
#include "yardstick/protocol.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WORK_VERSION 3 /* part of the keys: raise it when the same inputs would give other files */
#define TESTS        "test.safetensors"
#define WORK_LIMIT   ((uint64_t)4 << 30) /* bytes of all works together; what is in use stays all the same */

void ys_work_fini(struct ys_work *work)
{
    ys_shelf_release(&work->files);
    ys_shelf_release(&work->values);
    ys_shelf_release(&work->tests);
    ys_free(work->test_path);
    ys_free(work->graph_path);
    ys_free(work->weights_path);
    ys_free(work->order_path);
    *work = (struct ys_work){0};
}

/* The loss that the job asks for in the place of the model's own. */
static ys_status set_loss(const struct ys_trial_settings *keys, struct ys_graph *graph)
{
    const char *text = keys->loss ? keys->loss : "auto";
    struct ys_job_loss loss;
    ys_status status = ys_job_loss_parse(text, &loss);
    if (status != YS_OK)
        return ys_fail_in(status, "loss = %s", text);
    if (!loss.own) {
        graph->loss = loss.loss;
        graph->label_smoothing = loss.label_smoothing;
    }
    if (graph->target == YS_TARGET_VECTOR && graph->loss != YS_LOSS_MEAN_SQUARED_ERROR)
        return ys_fail(YS_EINVAL, "loss = %s: the targets of %s are numbers: write mse", text, graph->name);
    const struct ys_value *output = &graph->values[graph->output];
    if (graph->left_softmax && graph->loss != YS_LOSS_SOFTMAX_CROSS_ENTROPY)
        return ys_fail(YS_EINVAL,
                       "loss = %s: the file of %s ends in a Softmax, which only softmax_cross_entropy makes again: "
                       "write that, or auto",
                       text, graph->name);
    if (graph->target != YS_TARGET_VECTOR && graph->loss != YS_LOSS_MEAN_SQUARED_ERROR &&
        output->shape[output->rank - 1] == 1 && ys_mode_of(keys->mode)->trains)
        return ys_fail(YS_EINVAL,
                       "loss = %s: %s tells one class alone, (N, 1), of which that loss is always 0: write mse, or end "
                       "it in two classes or more",
                       text, graph->name);
    int last = output->producer;
    if (graph->loss == YS_LOSS_NLL && (last < 0 || graph->nodes[last].op != YS_OP_LOG_SOFTMAX))
        return ys_fail(YS_EINVAL,
                       "loss = %s needs a network that ends in LogSoftmax, and %s does not: write "
                       "softmax_cross_entropy",
                       text, graph->name);
    return YS_OK;
}

/* By lot. */
static bool is_changed(const struct ys_trial_settings *keys)
{
    return keys->augment && strcmp(keys->augment, "none") != 0;
}

/* The feeder's name for what makes of each row numbers of mean 0 and deviation 1 (feeder/augment.c). */
static bool standardises(const struct ys_trial_settings *keys)
{
    return keys->augment && strcmp(keys->augment, "cifar") == 0;
}

/* Whether rows come to the network in another form than the data set has them in. */
static bool is_reformed(const struct ys_trial_settings *keys)
{
    return keys->input_crop != YS_FIELD_NONE || keys->input_dtype == YS_INPUT_FLOAT32 || standardises(keys);
}

/* What a row is for the network. */
static struct ys_rows rows_of(const struct ys_trial *trial)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    struct ys_rows rows = trial->data->rows;
    struct ys_row_array *x = &rows.inputs[0];
    if (keys->input_crop != YS_FIELD_NONE)
        x->shape[1] = x->shape[2] = keys->input_crop;
    if (is_reformed(keys) && (keys->input_dtype == YS_INPUT_FLOAT32 || standardises(keys)))
        x->dtype = YS_F32;
    return rows;
}

/* Both one of tokens, of other lengths. */
static ys_status check_positions(const struct ys_dataset *data, const struct ys_graph *graph)
{
    const struct ys_rows wanted = ys_graph_rows(graph);
    const struct ys_row_array *of_data = &data->rows.inputs[0], *of_model = &wanted.inputs[0];
    const bool both =
        of_data->dtype == YS_I32 && of_model->dtype == YS_I32 && of_data->rank == 1 && of_model->rank == 1;
    return !both || of_data->shape[0] == of_model->shape[0]
               ? YS_OK
               : ys_fail(YS_EINVAL,
                         "the data set %s has rows of %lld positions, the model %s takes %lld: data = synthetic "
                         "follows the model",
                         data->name, (long long)of_data->shape[0], graph->name, (long long)of_model->shape[0]);
}

/* A network may tell more classes apart than the data have, and know more tokens. */
static ys_status check_rows(const struct ys_trial *trial, const struct ys_graph *graph)
{
    const struct ys_dataset *data = trial->data;
    const struct ys_rows rows = rows_of(trial);
    struct ys_rows wanted = ys_graph_rows(graph);
    for (size_t i = 0; i < wanted.input_count && i < data->rows.input_count; i++)
        if (wanted.inputs[i].below && data->rows.inputs[i].below > wanted.inputs[i].below)
            return ys_fail(YS_EINVAL, "the data set %s has tokens up to %lld, the model %s a vocabulary of %lld",
                           data->name, (long long)data->rows.inputs[i].below - 1, graph->name,
                           (long long)wanted.inputs[i].below);
    YS_TRY(check_positions(data, graph));
    if (wanted.kind != YS_TARGET_VECTOR && wanted.classes > data->rows.classes)
        wanted.classes = data->rows.classes;
    return ys_rows_equal(&wanted, &rows)
               ? YS_OK
               : ys_fail(YS_EINVAL,
                         "the data set %s has not the rows that the model %s takes: data = synthetic follows the model",
                         data->name, graph->name);
}

static ys_status tell_hidden(const char *path, const char *data, const struct ys_node *node, int64_t row)
{
    if (node->op == YS_OP_LAST)
        return ys_fail(YS_EINVAL,
                       "the data set %s has no token but the padding, %d, in row %lld of %s, of which node %s (last) "
                       "reads the last that is none",
                       data, YS_ROWS_PADDING, (long long)row, path, node->name);
    return ys_fail(YS_EINVAL,
                   "the data set %s hides all that the first position of row %lld of %s may see from node %s "
                   "(Attention): every token there is the padding, %d, and one must not be",
                   data, (long long)row, path, node->name, YS_ROWS_PADDING);
}

/* Whether each row of a file has a token that is not the padding: at its first place, where a causal attention's first
 * query sees that alone, or anywhere. */
static ys_status check_seen(const char *path, const char *data, const char *input, const struct ys_node *node)
{
    const bool first_alone = node->op == YS_OP_ATTENTION && node->attention.causal;
    struct ys_safetensors *file = NULL;
    const struct ys_tensor *x = NULL;
    YS_TRY(ys_safetensors_open(path, &file));
    ys_status status = ys_safetensors_need(file, input, YS_I32, 2, NULL, &x);
    for (int64_t row = 0; status == YS_OK && row < x->shape[0]; row++) {
        const int32_t *tokens = (const int32_t *)x->data + row * x->shape[1];
        bool any = false;
        for (int64_t s = 0; !any && s < (first_alone ? 1 : x->shape[1]); s++)
            any = tokens[s] != YS_ROWS_PADDING;
        if (!any)
            status = tell_hidden(path, data, node, row);
    }
    ys_safetensors_close(file);
    return status;
}

/* Frameworks make no number of a softmax over nothing, and some position or other of a row without one that counts;
 * what yardstick draws itself always has a token. */
static ys_status check_padding(const struct ys_dataset *data, const struct ys_graph *graph)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct ys_node *node = &graph->nodes[i];
        if (ys_node_tokens(node) < 0 || strcmp(data->name, "synthetic") == 0)
            continue;
        const char *input = graph->values[ys_node_tokens(node)].name;
        YS_TRY(check_seen(data->train_path, data->name, input, node));
        YS_TRY(check_seen(data->test_path, data->name, input, node));
    }
    return YS_OK;
}

static ys_status change_graph(const struct ys_trial_settings *keys, struct ys_graph *graph)
{
    const bool is_standard = standardises(keys) && ys_graph_has(graph, YS_OP_NORMALIZE);
    const struct ys_graph_changes changes = {.freeze = keys->model_freeze,
                                             .train = keys->model_train,
                                             .tie = keys->model_tie,
                                             .untie = keys->model_untie,
                                             .mean = is_standard && !keys->model_mean ? "0" : keys->model_mean,
                                             .std = is_standard && !keys->model_std ? "1" : keys->model_std};
    if (keys->init == YS_INIT_FROM_FILE && !ys_model_is_onnx(keys->model))
        return ys_fail(YS_EINVAL, "init = file: the model %s is no ONNX file, which alone has values; write seed",
                       graph->name);
    return ys_graph_change(graph, &changes);
}

/* Ranks would each have streams of their own, which no adapter cuts so yet. */
static ys_status set_carried(const struct ys_trial *trial, struct ys_graph *graph)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    const bool asked = keys->carry_state == YS_ON;
    if (asked && !ys_graph_is_recurrent(graph))
        return ys_fail(YS_EINVAL, "carry_state = on: %s has no LSTM and no GRU, which alone have a state: write off",
                       graph->name);
    graph->carries_state |= asked;
    if (!graph->carries_state || !ys_mode_of(keys->mode)->trains)
        return YS_OK;
    const struct ys_data_source *source = ys_data_find(trial->data->name);
    if (!source || !source->is_stream)
        return ys_fail(YS_EINVAL,
                       "carry_state = on: the rows of %s do not follow one another: write off, or data = text",
                       trial->data->name);
    return ys_settings_ranks(keys) == 1 ? YS_OK
                                        : ys_fail(YS_EINVAL,
                                                  "carry_state = on: one process carries a state, and ranks = "
                                                  "%lld are several: write off, or ranks = 1",
                                                  (long long)keys->ranks);
}

/* What of the network the job's keys say. */
static ys_status set_sizes(const struct ys_trial_settings *keys, const struct ys_dataset *data,
                           struct ys_model_input *input)
{
    input->sizes[YS_MODEL_WIDTH] = isnan(keys->model_width) ? 0 : keys->model_width;
    input->sizes[YS_MODEL_DEPTH] = isnan(keys->model_depth) ? 0 : keys->model_depth;
    input->sizes[YS_MODEL_LAYERS] = keys->model_layers == YS_FIELD_NONE ? 0 : (double)keys->model_layers;
    input->sizes[YS_MODEL_HEADS] = keys->model_heads == YS_FIELD_NONE ? 0 : (double)keys->model_heads;
    if (keys->model_classes == YS_FIELD_NONE)
        return YS_OK;
    if (ys_model_is_file(keys->model))
        return ys_fail(YS_EINVAL, "model.classes = %lld: the model is a file, which says it: write auto",
                       (long long)keys->model_classes);
    if (keys->model_classes < data->rows.classes)
        return ys_fail(YS_EINVAL, "model.classes = %lld: must be at least the %lld classes of the data %s",
                       (long long)keys->model_classes, (long long)data->rows.classes, data->name);
    input->classes = keys->model_classes;
    return YS_OK;
}

static bool is_fed(const struct ys_trial_settings *keys)
{
    return keys->input && strcmp(keys->input, YS_FEED_KIND) == 0;
}

static bool reads_file(const struct ys_trial_settings *keys)
{
    return !keys->input || strcmp(keys->input, "file") == 0;
}

/* That rows can be cut into a prompt and tokens. */
static ys_status check_prompt(const struct ys_trial *trial, const struct ys_graph *graph)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    const int64_t prompt = keys->mode == YS_MODE_INFER ? keys->prompt : YS_FIELD_NONE;
    if (prompt == YS_FIELD_NONE)
        return YS_OK;
    if (!reads_file(keys))
        return ys_fail(YS_EINVAL, "prompt = %lld: rows come whole from a ring or a loader: write input = file",
                       (long long)prompt);
    const ys_status status = ys_graph_window_check(graph);
    if (status != YS_OK)
        return ys_fail(YS_EINVAL, "prompt = %lld: %s", (long long)prompt, ys_error());
    const int64_t positions = ys_graph_positions(graph), tokens = positions - prompt;
    if (tokens >= 1 && tokens <= YS_PROTOCOL_LATENCIES_LIMIT)
        return YS_OK;
    return ys_fail(YS_EINVAL, "prompt = %lld: a row has %lld positions, of which 1 to %d must be left behind it",
                   (long long)prompt, (long long)positions, YS_PROTOCOL_LATENCIES_LIMIT);
}

/* What only the feeder does needs it. */
static ys_status check_fed(const struct ys_trial_settings *keys)
{
    if (is_fed(keys))
        return YS_OK;
    if (is_changed(keys))
        return ys_fail(YS_EINVAL, "augment = %s: rows of a file are the same in every epoch: write input = ring",
                       keys->augment);
    if (keys->input_decode != YS_DECODE_ONCE)
        return ys_fail(YS_EINVAL,
                       "input.decode = %s: only yardstick-feeder decodes while a framework works: write "
                       "input = ring",
                       keys->input_decode == YS_DECODE_LIVE ? "live" : "reduced");
    if (keys->input_crop != YS_FIELD_NONE)
        return ys_fail(YS_EINVAL, "input.crop = %lld: rows of a file have their size: write input = ring",
                       (long long)keys->input_crop);
    if (keys->input_dtype != YS_INPUT_UINT8)
        return ys_fail(YS_EINVAL, "input.dtype = float32: the pixels of a file are bytes: write input = ring");
    return keys->input_cpus.count == 0
               ? YS_OK
               : ys_fail(YS_EINVAL, "input.cpus: there is no yardstick-feeder to bind: write input = ring");
}

/* What is done to images needs some, of which the job asks nothing that they cannot give. */
static ys_status check_images(const struct ys_trial_settings *keys, const struct ys_dataset *data)
{
    const struct ys_row_array *x = &data->rows.inputs[0];
    const bool has_images = data->rows.input_count == 1 && x->dtype == YS_U8 && x->rank == 3;
    if (!has_images)
        return is_changed(keys) ? ys_fail(YS_EINVAL, "augment = %s: the rows of %s are no images: write none",
                                          keys->augment, data->name)
                                : ys_fail(YS_EINVAL,
                                          "input.crop and input.dtype: the rows of %s are no images: leave "
                                          "them out",
                                          data->name);
    const int64_t side = x->shape[1] < x->shape[2] ? x->shape[1] : x->shape[2];
    const bool resamples =
        is_changed(keys) && (strcmp(keys->augment, "area") == 0 || strcmp(keys->augment, "area+colour") == 0);
    return keys->input_crop == YS_FIELD_NONE || keys->input_crop <= side || resamples
               ? YS_OK
               : ys_fail(YS_EINVAL,
                         "input.crop = %lld: the images of %s have %lldx%lld pixels: write at most %lld, or a larger "
                         "input.size",
                         (long long)keys->input_crop, data->name, (long long)x->shape[2], (long long)x->shape[1],
                         (long long)side);
}

static ys_status check_input(const struct ys_trial_settings *keys, const struct ys_dataset *data)
{
    const bool trains = ys_mode_of(keys->mode)->trains && keys->compare != YS_COMPARE_SAME_WEIGHTS;
    YS_TRY(check_fed(keys));
    if (!is_fed(keys) && !reads_file(keys) && !trains)
        return ys_fail(YS_EINVAL, "input = own: a loader of batches is for training: write file or ring");
    if (keys->input_decode != YS_DECODE_ONCE && !data->is_listed)
        return ys_fail(YS_EINVAL,
                       "input.decode: the rows of %s are no files of images, which alone are decoded: write "
                       "once",
                       data->name);
    if ((keys->input_size != YS_FIELD_NONE || keys->input_width != YS_FIELD_NONE) && !data->form)
        return ys_fail(YS_EINVAL, "%s = %lld: the rows of %s have a size of their own: write auto",
                       keys->input_size != YS_FIELD_NONE ? "input.size" : "input.width",
                       (long long)(keys->input_size != YS_FIELD_NONE ? keys->input_size : keys->input_width),
                       data->name);
    if (is_changed(keys) && !trains)
        return ys_fail(YS_EINVAL, "augment = %s: nothing is drawn by lot where requests are answered: write none",
                       keys->augment);
    if (is_reformed(keys) && keys->compare == YS_COMPARE_SAME_WEIGHTS)
        return ys_fail(YS_EINVAL, "input.crop and input.dtype change the rows to test on, which compare = same-weights "
                                  "predicts as they are: leave them out");
    return is_changed(keys) || is_reformed(keys) ? check_images(keys, data) : YS_OK;
}

ys_status ys_work_graph(const struct ys_trial *trial, struct ys_graph **graph)
{
    const struct ys_dataset *data = trial->data;
    struct ys_model_choice model;
    struct ys_graph *built = NULL;
    const struct ys_model_feed feed = ys_trial_feed(&trial->record.keys);
    YS_TRY(ys_model_choose_fed(trial->record.keys.model, &feed, &model));
    const struct ys_rows rows = rows_of(trial);
    struct ys_model_input input = {.dtype = rows.inputs[0].dtype,
                                   .scale = standardises(&trial->record.keys) ? 1 : data->scale,
                                   .classes = rows.classes,
                                   .vocabulary = rows.inputs[0].below};
    memcpy(input.shape, rows.inputs[0].shape, sizeof input.shape);
    ys_status status = set_sizes(&trial->record.keys, data, &input);
    if (status == YS_OK)
        status = strcmp(model.hash, trial->model_hash) == 0
                     ? ys_model_choice_build(&model, &input, &built)
                     : ys_fail(YS_EIO, "%s was changed while the study was under way", model.path);
    ys_model_choice_fini(&model);
    if (status == YS_OK)
        status = check_rows(trial, built);
    if (status == YS_OK)
        status = change_graph(&trial->record.keys, built);
    if (status == YS_OK)
        status = set_loss(&trial->record.keys, built);
    if (status == YS_OK)
        status = set_carried(trial, built);
    if (status == YS_OK)
        status = check_prompt(trial, built);
    if (status == YS_OK)
        *graph = built;
    else
        ys_graph_free(built);
    return status;
}

/* Who asks a trained network wants its answers. With same weights they are trained first. */
static void resolve_init(struct ys_trial_settings *keys)
{
    const bool answers = !ys_mode_of(keys->mode)->trains && keys->compare != YS_COMPARE_SAME_WEIGHTS;
    if (keys->init == YS_INIT_AUTO)
        keys->init = answers && ys_model_is_onnx(keys->model) ? YS_INIT_FROM_FILE : YS_INIT_FROM_SEED;
}

ys_status ys_work_resolve(struct ys_trial *trial)
{
    struct ys_graph *graph = NULL;
    resolve_init(&trial->record.keys);
    YS_TRY(check_input(&trial->record.keys, trial->data));
    YS_TRY(ys_work_graph(trial, &graph));
    ys_status fits = check_padding(trial->data, graph);
    if (fits == YS_OK)
        fits = ys_tune_rows_check(&trial->record.keys, trial->data, graph->carries_state);
    if (fits != YS_OK) {
        ys_graph_free(graph);
        return fits;
    }
    struct ys_job_loss loss = {.loss = graph->loss, .label_smoothing = graph->label_smoothing};
    struct ys_buf text = {0};
    ys_job_loss_print(&loss, &text);
    ys_free(trial->record.keys.loss);
    trial->record.keys.loss = ys_buf_take(&text);
    trial->parameters = ys_graph_parameter_count(graph);
    trial->multiply_adds = ys_graph_multiply_adds(graph);
    trial->positions = graph->target == YS_TARGET_CLASSES ? ys_graph_positions(graph) : YS_FIELD_NONE;
    ys_graph_free(graph);
    return YS_OK;
}

/* What the files of a trial are made from. */
struct making {
    const struct ys_trial *trial;
    const struct ys_graph *graph;
    ys_json *json; /* of the graph */
    uint64_t seed;
    int64_t batch, steps; /* of the order */
    int64_t kept;         /* training rows that are evaluated in the place of the test rows */
    double *lr;           /* [steps] */
};

static void hash_text(char *text_taken, char key[YS_SHA256_TEXT])
{
    ys_sha256_text(text_taken, strlen(text_taken), key);
    ys_free(text_taken);
}

/* Hash over all that graph and order depend on. */
static void key_of_files(const struct making *m, char key[YS_SHA256_TEXT])
{
    char rates[YS_SHA256_TEXT], *graph = ys_json_dump(m->json, YS_JSON_SORTED);
    ys_sha256_text(m->lr, (size_t)m->steps * sizeof *m->lr, rates);
    const struct ys_trial_settings *keys = &m->trial->record.keys;
    const struct ys_dataset *data = m->trial->data;
    /* The hash of images that are only listed is of their files, whatever rows are made of them. */
    char kept[32] = "";
    if (m->kept)
        snprintf(kept, sizeof kept, "|kept %lld", (long long)m->kept);
    char *rows = ys_format("%s%s%s%s%s%s", kept, is_changed(keys) ? "|" : "", is_changed(keys) ? keys->augment : "",
                           data->is_listed ? "|" : "", data->is_listed ? data->form : "",
                           keys->input_decode == YS_DECODE_REDUCED ? "|reduced" : "");
    char *all = ys_format("%d|%s|%s|%llu|%lld|%lld|%s%s", WORK_VERSION, graph, data->train_hash,
                          (unsigned long long)m->seed, (long long)m->batch, (long long)m->steps, rates, rows);
    ys_free(rows);
    ys_free(graph);
    hash_text(all, key);
}

/* Hash over all that the initial values depend on: the network without its loss, and the seed. Trials that differ in
 * anything else share them, for those of a large network take hundreds of megabytes. */
static void key_of_values(const struct making *m, char key[YS_SHA256_TEXT])
{
    ys_json *network = ys_json_copy(m->json);
    ys_json_remove(network, "loss");
    ys_json_remove(network, "label_smoothing");
    char *text = network ? ys_json_dump(network, YS_JSON_SORTED) : NULL;
    ys_json_free(network);
    const bool is_file = m->trial->record.keys.init == YS_INIT_FROM_FILE;
    char *all = ys_format("%d|%s|%llu%s%s", WORK_VERSION, text, (unsigned long long)(is_file ? 0 : m->seed),
                          is_file ? "|" : "", is_file ? m->trial->model_hash : "");
    ys_free(text);
    hash_text(all, key);
}

static ys_status fill_files(void *context, const char *folder)
{
    const struct making *m = context;
    char hash[YS_SHA256_TEXT];
    char *graph = ys_path_join(folder, "graph.json"), *order = ys_path_join(folder, "order.safetensors");
    ys_status status = ys_json_write(graph, m->json);
    if (status == YS_OK && m->kept)
        status =
            ys_order_write_kept(order, m->seed, m->kept, m->trial->data->train_count, m->batch, m->steps, m->lr, hash);
    else if (status == YS_OK)
        status = ys_order_write(order, m->seed, m->graph->carries_state, m->trial->data->train_count, m->batch,
                                m->steps, m->lr, hash);
    ys_free(graph);
    ys_free(order);
    return status;
}

static ys_status fill_values(void *context, const char *folder)
{
    const struct making *m = context;
    const struct ys_trial_settings *keys = &m->trial->record.keys;
    const struct ys_model_feed feed = ys_trial_feed(keys);
    char hash[YS_SHA256_TEXT];
    char *path = ys_path_join(folder, "weights.safetensors");
    ys_status status = keys->init == YS_INIT_FROM_FILE ? ys_onnx_write_initial(keys->model, &feed, m->graph, path)
                                                       : ys_graph_write_weights(m->graph, m->seed, path, hash);
    ys_free(path);
    return status;
}

static void name_files(const struct ys_trial *trial, struct ys_work *work)
{
    work->graph_path = ys_path_join(work->files.folder, "graph.json");
    work->weights_path = ys_path_join(work->values.folder, "weights.safetensors");
    work->order_path = ys_path_join(work->files.folder, "order.safetensors");
    work->test_path = work->tests.folder ? ys_path_join(work->tests.folder, TESTS) : ys_strdup(trial->data->test_path);
}

/* Nothing is drawn of rows to test on: they hang on no seed. */
static ys_status fill_tests(void *context, const char *folder)
{
    const struct making *m = context;
    const struct ys_trial_settings *keys = &m->trial->record.keys;
    const struct ys_plan_input input = {.path = m->trial->data->test_path,
                                        .augment = standardises(keys) ? keys->augment : NULL,
                                        .dtype = keys->input_dtype == YS_INPUT_FLOAT32 ? (char[]){"float32"} : NULL,
                                        .crop = keys->input_crop};
    char *path = ys_path_join(folder, TESTS);
    ys_status status = ys_feeder_write_batches(&input, path);
    ys_free(path);
    return status;
}

static ys_status fill_kept(void *context, const char *folder)
{
    const struct making *m = context;
    const struct ys_dataset *data = m->trial->data;
    char *path = ys_path_join(folder, TESTS);
    ys_status status = ys_tune_rows_write(data->train_path, m->seed, data->train_count, m->kept, path);
    ys_free(path);
    return status;
}

static ys_status shelve_tests(struct making *m, struct ys_work *work)
{
    const struct ys_trial_settings *keys = &m->trial->record.keys;
    char key[YS_SHA256_TEXT];
    if (m->kept) {
        hash_text(ys_format("kept|%d|%s|%llu|%lld", WORK_VERSION, m->trial->data->train_hash,
                            (unsigned long long)m->seed, (long long)m->kept),
                  key);
        return ys_work_shelve(key, fill_kept, m, &work->tests);
    }
    if (!is_reformed(keys))
        return YS_OK;
    hash_text(ys_format("tests|%d|%s|%s|%lld|%d", WORK_VERSION, m->trial->data->test_hash,
                        standardises(keys) ? keys->augment : "",
                        (long long)(keys->input_crop == YS_FIELD_NONE ? 0 : keys->input_crop), keys->input_dtype),
              key);
    return ys_work_shelve(key, fill_tests, m, &work->tests);
}

ys_status ys_work_shelve(const char *key, ys_shelf_fill fill, void *context, struct ys_shelf_item *item)
{
    YS_TRY(ys_shelf_take(YS_WORK_SHELF, key, fill, context, item));
    if (item->filled && ys_shelf_trim(YS_WORK_SHELF, WORK_LIMIT) != YS_OK)
        ys_log_warn("old works stay in the cache: %s", ys_error());
    return YS_OK;
}

static ys_status prepare(struct making *m, struct ys_work *work)
{
    key_of_files(m, work->key);
    key_of_values(m, work->values_key);
    YS_TRY(ys_work_shelve(work->key, fill_files, m, &work->files));
    YS_TRY(ys_work_shelve(work->values_key, fill_values, m, &work->values));
    YS_TRY(shelve_tests(m, work));
    work->loss = m->graph->loss;
    work->label_smoothing = m->graph->label_smoothing;
    work->is_random = ys_graph_has(m->graph, YS_OP_DROPOUT);
    name_files(m->trial, work);
    return YS_OK;
}

ys_status ys_work_prepare(const struct ys_trial *trial, uint64_t seed, int64_t least_steps, struct ys_work *work)
{
    *work = (struct ys_work){0};
    struct ys_graph *graph = NULL;
    struct making m = {
        .trial = trial,
        .seed = seed,
        .batch = ys_settings_rows(&trial->record.keys),
        .steps = trial->steps > least_steps ? trial->steps : least_steps,
        .kept = ys_job_kept_rows(&trial->record.keys, trial->data->train_count),
    };
    m.lr = ys_alloc((size_t)m.steps, sizeof *m.lr);
    ys_status status = ys_schedule_fill(&trial->record.keys, trial->steps, m.steps, m.lr);
    if (status == YS_OK)
        status = ys_work_graph(trial, &graph);
    if (status == YS_OK)
        m.json = ys_graph_to_json(graph);
    m.graph = graph;
    if (status == YS_OK)
        status = prepare(&m, work);
    if (status != YS_OK)
        ys_work_fini(work);
    ys_json_free(m.json);
    ys_graph_free(graph);
    ys_free(m.lr);
    return status;
}

/* Where nothing is trained it is the plainest, whatever the keys say. */
static ys_status plan_optimizer(const struct ys_trial_settings *keys, struct ys_plan_optimizer *plan)
{
    const bool trains = ys_mode_of(keys->mode)->trains;
    struct ys_job_optimizer optimizer;
    YS_TRY(ys_job_optimizer_parse(trains && keys->optimizer ? keys->optimizer : "sgd", &optimizer));
    *plan = (struct ys_plan_optimizer){
        .name = ys_strdup(optimizer.name),
        .momentum = trains && !isnan(keys->momentum) ? keys->momentum : 0,
        .nesterov = optimizer.nesterov,
        .weight_decay = trains && !isnan(keys->weight_decay) ? keys->weight_decay : 0,
        .beta1 = optimizer.beta1,
        .beta2 = optimizer.beta2,
        .alpha = optimizer.alpha,
        .epsilon = optimizer.epsilon,
        .clip_norm = trains ? keys->clip_norm : NAN,
    };
    return YS_OK;
}

/* A list that is empty in the plan. */
static void plan_cpus(const struct ys_trial *trial, struct ys_list *cpus)
{
    int64_t *items = ys_alloc(trial->cpu_count, sizeof *items);
    for (size_t i = 0; i < trial->cpu_count; i++)
        items[i] = trial->cpus[i];
    *cpus = (struct ys_list){items, trial->cpu_count};
}

static void plan_texts(const struct ys_work *work, const struct ys_trial *trial, const char *folder,
                       struct ys_plan *plan)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    const struct {
        char **place;
        const char *text;
    } texts[] = {
        {&plan->model, keys->model},
        {&plan->graph, work->graph_path},
        {&plan->weights, work->weights_path},
        {&plan->input.kind, keys->input ? keys->input : "file"},
        {&plan->input.path, trial->data->train_path},
        {&plan->input.order, work->order_path},
        {&plan->loss, ys_loss_name(work->loss)},
        {&plan->device, keys->device ? keys->device : "cpu"},
        {&plan->folder, folder},
        {&plan->input.augment, is_changed(keys) ? keys->augment : NULL},
        {&plan->input.decode, keys->input_decode == YS_DECODE_REDUCED ? "reduced" : NULL},
        {&plan->input.dtype, keys->input_dtype == YS_INPUT_FLOAT32 ? "float32" : NULL},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].text)
            *texts[i].place = ys_strdup(texts[i].text);
}

static ys_status fill_plan(const struct ys_work *work, const struct ys_trial *trial, uint64_t seed, const char *folder,
                           struct ys_plan *plan)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    const ys_json *options = trial->record.options;
    ys_plan_init(plan);
    plan_texts(work, trial, folder, plan);
    plan->mode = keys->mode;
    plan->precision = keys->precision;
    plan->batch = ys_settings_rows(keys);
    plan->dist.world = ys_settings_ranks(keys);
    if (plan->dist.world > 1) {
        plan->dist.statistics = keys->bn;
        plan->dist.strategy = keys->strategy;
        plan->dist.bucket_bytes = keys->bucket;
    }
    if (keys->mode == YS_MODE_INFER && keys->prompt != YS_FIELD_NONE) {
        plan->prompt = keys->prompt;
        plan->tokens = trial->positions - keys->prompt;
    }
    plan->steps = trial->steps;
    plan->block = keys->block > 0 ? keys->block : 1;
    plan->eval_every = keys->eval_every == YS_FIELD_NONE ? 0 : keys->eval_every;
    plan->seed = (int64_t)seed;
    plan->label_smoothing = work->label_smoothing;
    plan->threads = trial->threads;
    plan->options = options ? ys_json_copy(options) : ys_json_object();
    if (!reads_file(keys))
        plan->input.threads = keys->input_threads == YS_FIELD_NONE ? 1 : keys->input_threads;
    if (is_fed(keys)) {
        plan->input.seed = (int64_t)seed;
        plan->input.crop = keys->input_crop;
        plan->input.channel = YS_FEED_CHANNEL_FD;
        plan->input.memory = YS_FEED_MEMORY_FD;
        ys_list_copy_ints(&keys->input_cpus, &plan->input.cpus);
    }
    plan_cpus(trial, &plan->cpus);
    return plan_optimizer(keys, &plan->optimizer);
}

ys_status ys_work_plan(const struct ys_work *work, const struct ys_trial *trial, uint64_t seed, const char *folder,
                       struct ys_plan *plan)
{
    ys_status status = fill_plan(work, trial, seed, folder, plan);
    if (status != YS_OK)
        ys_plan_fini(plan);
    return status;
}

void ys_work_plan_here(const struct ys_trial *trial, struct ys_plan *plan)
{
    int64_t *cpus = plan->cpus.items;
    size_t kept = 0;
    if (!ys_settings_are_apart(&trial->record.keys))
        return;
    for (size_t i = 0; i < plan->cpus.count; i++)
        if (ys_host_cpu_is_allowed((int)cpus[i]))
            cpus[kept++] = cpus[i];
    plan->cpus.count = kept;
}
