#include "study/work.h"

#include "base/fs.h"
#include "base/mem.h"
#include "data/order.h"
#include "graph/model.h"
#include "job/schedule.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORK_VERSION 1 /* part of the key: raise it when the same inputs would give other files */

void ys_work_fini(struct ys_work *work)
{
    ys_free(work->graph_path);
    ys_free(work->weights_path);
    ys_free(work->order_path);
    *work = (struct ys_work){0};
}

static ys_status build_graph(const struct ys_trial *trial, struct ys_graph **graph)
{
    const struct ys_dataset *data = trial->data;
    const char *name = ys_json_text(ys_trial_key(trial, "model"), "");
    const struct ys_model *model = ys_model_find(name);
    if (!model)
        return ys_fail(YS_EINVAL, "there is no model \"%s\"", name);
    struct ys_model_input input = {.dtype = data->dtype, .scale = data->scale, .classes = data->classes};
    memcpy(input.shape, data->shape, sizeof input.shape);
    return model->build(&input, graph);
}

/* Hash over all that the files depend on. */
static ys_status make_key(const ys_json *graph, const struct ys_trial *trial, uint64_t seed, int64_t steps,
                          const double *lr, char key[YS_SHA256_TEXT])
{
    char rates[YS_SHA256_TEXT], *text = ys_json_dump(graph, YS_JSON_SORTED);
    ys_sha256_text(lr, (size_t)steps * sizeof *lr, rates);
    char *all =
        ys_format("%d|%s|%s|%llu|%lld|%lld|%s", WORK_VERSION, text, trial->data->train_hash, (unsigned long long)seed,
                  (long long)ys_json_integer(ys_trial_key(trial, "batch"), 0), (long long)steps, rates);
    ys_free(text);
    if (!all)
        return ys_out_of_memory();
    ys_sha256_text(all, strlen(all), key);
    ys_free(all);
    return YS_OK;
}

static ys_status write_files(const char *folder, const struct ys_graph *graph, const ys_json *json,
                             const struct ys_trial *trial, uint64_t seed, int64_t steps, const double *lr)
{
    char hash[YS_SHA256_TEXT];
    char *graph_path = ys_path_join(folder, "graph.json");
    char *weights = ys_path_join(folder, "weights.safetensors");
    char *order = ys_path_join(folder, "order.safetensors");
    ys_status status = graph_path && weights && order ? ys_fs_make_dirs(folder) : ys_out_of_memory();
    if (status == YS_OK)
        status = ys_json_write(graph_path, json);
    if (status == YS_OK)
        status = ys_graph_write_weights(graph, seed, weights, hash);
    if (status == YS_OK)
        status = ys_order_write(order, seed, trial->data->train_count, ys_json_integer(ys_trial_key(trial, "batch"), 1),
                                steps, lr, hash);
    ys_free(graph_path);
    ys_free(weights);
    ys_free(order);
    return status;
}

/* Made under a name of this process's own, then renamed: two studies may prepare the same work at once. */
static ys_status make_files(const char *folder, const struct ys_graph *graph, const ys_json *json,
                            const struct ys_trial *trial, uint64_t seed, int64_t steps, const double *lr)
{
    if (ys_fs_is_dir(folder))
        return YS_OK;
    char *making = ys_format("%s.%ld", folder, (long)getpid());
    if (!making)
        return ys_out_of_memory();
    ys_status status = write_files(making, graph, json, trial, seed, steps, lr);
    if (status == YS_OK && rename(making, folder) != 0 && !ys_fs_is_dir(folder))
        status = ys_fail(YS_EIO, "cannot rename %s to %s: %m", making, folder);
    if (ys_fs_is_dir(making) && ys_fs_remove_tree(making) != YS_OK && status == YS_OK)
        status = YS_EIO;
    ys_free(making);
    return status;
}

static ys_status name_files(const char *folder, struct ys_work *work)
{
    work->graph_path = ys_path_join(folder, "graph.json");
    work->weights_path = ys_path_join(folder, "weights.safetensors");
    work->order_path = ys_path_join(folder, "order.safetensors");
    return work->graph_path && work->weights_path && work->order_path ? YS_OK : ys_out_of_memory();
}

static ys_status prepare(const struct ys_trial *trial, uint64_t seed, int64_t steps, const struct ys_graph *graph,
                         const double *lr, struct ys_work *work)
{
    ys_json *json = ys_graph_to_json(graph);
    char *works = NULL, *folder = NULL;
    ys_status status = json ? make_key(json, trial, seed, steps, lr, work->key) : ys_out_of_memory();
    if (status == YS_OK)
        status = ys_cache_path("work", &works);
    if (status == YS_OK && !(folder = ys_path_join(works, work->key)))
        status = ys_out_of_memory();
    if (status == YS_OK)
        status = make_files(folder, graph, json, trial, seed, steps, lr);
    if (status == YS_OK)
        status = name_files(folder, work);
    work->parameters = ys_graph_parameter_count(graph);
    work->multiply_adds = ys_graph_multiply_adds(graph);
    ys_json_free(json);
    ys_free(works);
    ys_free(folder);
    return status;
}

ys_status ys_work_prepare(const struct ys_trial *trial, uint64_t seed, int64_t least_steps, struct ys_work *work)
{
    *work = (struct ys_work){0};
    int64_t steps = trial->steps > least_steps ? trial->steps : least_steps;
    struct ys_graph *graph = NULL;
    double *lr = ys_alloc((size_t)steps, sizeof *lr);
    if (!lr)
        return ys_out_of_memory();
    ys_status status = ys_schedule_fill(ys_json_get(trial->json, "keys"), steps, lr);
    if (status == YS_OK)
        status = build_graph(trial, &graph);
    if (status == YS_OK)
        status = prepare(trial, seed, steps, graph, lr, work);
    if (status != YS_OK)
        ys_work_fini(work);
    ys_graph_free(graph);
    ys_free(lr);
    return status;
}

static ys_json *plan_input(const struct ys_work *work, const struct ys_trial *trial)
{
    ys_json *input = ys_json_object();
    ys_json_set_string(input, "kind", "file");
    ys_json_set_string(input, "path", trial->data->train_path);
    ys_json_set_string(input, "order", work->order_path);
    return input;
}

static ys_json *plan_optimizer(const ys_json *keys)
{
    ys_json *optimizer = ys_json_object();
    ys_json_set_string(optimizer, "name", ys_json_get_text(keys, "optimizer", "sgd"));
    ys_json_set_real(optimizer, "momentum", ys_json_get_number(keys, "momentum", 0));
    ys_json_set_bool(optimizer, "nesterov", false);
    ys_json_set_real(optimizer, "weight_decay", ys_json_get_number(keys, "weight_decay", 0));
    ys_json_set(optimizer, "clip_norm", ys_json_null());
    return optimizer;
}

ys_json *ys_work_plan(const struct ys_work *work, const struct ys_trial *trial, uint64_t seed, const char *folder)
{
    const ys_json *keys = ys_json_get(trial->json, "keys");
    ys_json *plan = ys_json_object(), *cpus = ys_json_array(), *dist = ys_json_object();
    ys_json *options = ys_json_get(trial->json, "options");
    for (size_t i = 0; i < trial->cpu_count; i++)
        ys_json_append(cpus, ys_json_int(trial->cpus[i]));
    ys_json_set_int(dist, "rank", 0);
    ys_json_set_int(dist, "world", 1);
    ys_json_set(dist, "rendezvous", ys_json_null());
    ys_json_set_string(plan, "format", "yardstick-plan");
    ys_json_set_int(plan, "version", 1);
    ys_json_set_string(plan, "mode", ys_json_get_text(keys, "mode", "train"));
    ys_json_set_string(plan, "model", ys_json_get_text(keys, "model", ""));
    ys_json_set_string(plan, "graph", work->graph_path);
    ys_json_set_string(plan, "weights", work->weights_path);
    ys_json_set(plan, "input", plan_input(work, trial));
    ys_json_set_int(plan, "batch", ys_json_get_int(keys, "batch", 1));
    ys_json_set_int(plan, "steps", trial->steps);
    ys_json_set_int(plan, "block", ys_json_get_int(keys, "block", 1));
    ys_json_set_int(plan, "eval_every", ys_json_get_int(keys, "eval_every", 0));
    ys_json_set_int(plan, "seed", (int64_t)seed);
    ys_json_set_string(plan, "precision", ys_json_get_text(keys, "precision", "f32"));
    ys_json_set_string(plan, "loss", ys_json_get_text(keys, "loss", "softmax_cross_entropy"));
    ys_json_set(plan, "optimizer", plan_optimizer(keys));
    ys_json_set_int(plan, "threads", trial->threads);
    ys_json_set(plan, "cpus", cpus);
    ys_json_set_string(plan, "device", ys_json_get_text(keys, "device", "cpu"));
    ys_json_set(plan, "options", options ? ys_json_copy(options) : ys_json_object());
    ys_json_set(plan, "dist", dist);
    if (ys_json_set_string(plan, "folder", folder) == YS_OK)
        return plan;
    ys_json_free(plan);
    return NULL;
}
