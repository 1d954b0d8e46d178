#include "prepare/trial.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/stop.h"
#include "framework/converter.h"
#include "graph/model.h"
#include "job/goal.h"
#include "job/quant.h"
#include "job/schedule.h"
#include "prepare/hosts.h"
#include "prepare/work.h"
#include "probe/host.h"
#include "robust/attack.h"
#include "robust/attackable.h"
#include "session/session.h"
#include "store/stored_study.h"

#include <math.h>
#include <string.h>

bool ys_trial_can_run(const struct ys_trial *trial)
{
    return ys_trial_record_can_run(&trial->record);
}

int64_t ys_trial_requests(const struct ys_trial *trial)
{
    return trial->record.keys.requests == YS_FIELD_NONE ? 0 : trial->record.keys.requests;
}

double ys_trial_limit_s(double key)
{
    return isnan(key) ? 0 : key;
}

void ys_trials_fini(struct ys_trial_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        ys_record_fini(&ys_trial_record, &set->items[i].record);
        ys_framework_free(set->items[i].framework);
        ys_free(set->items[i].cpus);
        ys_free(set->items[i].unproven);
        ys_list_fini(&ys_due_record, &set->items[i].due);
    }
    for (size_t i = 0; i < set->dataset_count; i++)
        ys_dataset_fini(&set->datasets[i]);
    ys_free(set->items);
    ys_free(set->datasets);
    *set = (struct ys_trial_set){0};
}

/* The rows that the study had before, those that are current where it does not say. */
static void find_wanted(const ys_json *measured_with, const char *data, const char *model, const char *form,
                        struct ys_data_wanted *wanted)
{
    struct ys_study_work before;
    (void)ys_study_work_find_form(measured_with, model, data, form, &before);
    wanted->train_hash = before.train_hash && before.test_hash ? before.train_hash : NULL;
    wanted->test_hash = wanted->train_hash ? before.test_hash : NULL;
}

/* Whether a set is already here as a trial needs it, of which the name says not all. */
static bool is_of_form(const struct ys_dataset *dataset, const struct ys_rows *form, const struct ys_data_wanted *asked)
{
    const struct ys_data_source *source = ys_data_find(dataset->name);
    struct ys_rows wanted = *form;
    if (source)
        return source->rows.input_count > 0 || ys_rows_equal(&dataset->rows, form);
    wanted.classes = dataset->rows.classes; /* of a folder they are its own */
    return dataset->skips_bad == asked->skips_bad && dataset->is_listed == asked->lists &&
           ys_rows_equal(&dataset->rows, &wanted);
}

/* Whether the form of a set follows the model: of some names, and of all folders. */
static bool follows_model(const struct ys_trial_settings *keys)
{
    const struct ys_data_source *source = ys_data_find(keys->data);
    return !source || source->rows.input_count == 0;
}

/* The form that the model is known by, at the size that the job asks for. */
static struct ys_rows form_of(const struct ys_trial_settings *keys, const struct ys_rows *usual)
{
    struct ys_rows form = *usual;
    struct ys_row_array *x = &form.inputs[0];
    const bool is_image = form.input_count == 1 && x->rank == 3;
    if (is_image && keys->input_size != YS_FIELD_NONE)
        x->shape[1] = x->shape[2] = keys->input_size;
    if (is_image && keys->input_width != YS_FIELD_NONE)
        x->shape[2] = keys->input_width;
    return form;
}

/* The data set of that name, in the form of the model's usual input where the set follows the model; prepared at its
 * first mention. Room for one a trial was made beforehand, so pointers stay. */
static ys_status find_data(struct ys_trial_set *set, const struct ys_trial_settings *keys, const struct ys_rows *usual,
                           const struct ys_dataset **data)
{
    const struct ys_rows form = form_of(keys, usual);
    struct ys_data_wanted wanted = {.skips_bad = keys->on_bad_row == YS_BAD_ROW_SKIP,
                                    .lists = keys->input_decode != YS_DECODE_ONCE};
    for (size_t i = 0; i < set->dataset_count; i++) {
        if (strcmp(set->datasets[i].name, keys->data) == 0 && is_of_form(&set->datasets[i], &form, &wanted)) {
            *data = &set->datasets[i];
            return YS_OK;
        }
    }
    char *said = follows_model(keys) ? ys_data_form(&form, wanted.lists) : NULL;
    struct ys_dataset *made = &set->datasets[set->dataset_count];
    find_wanted(set->measured_with, keys->data, keys->model, said, &wanted);
    ys_status status = ys_data_prepare(keys->data, &form, &wanted, made);
    if (status != YS_OK) {
        ys_free(said);
        return status;
    }
    made->form = said;
    set->dataset_count++;
    *data = made;
    return YS_OK;
}

static void cannot_run(struct ys_trial *trial, enum ys_run_status status, const char *reason, const char *command)
{
    trial->record.status = (int)status;
    ys_set_text(&trial->record.reason, reason);
    ys_set_text(&trial->record.command, command);
}

/* As cannot_run() with a reason that ys_format() made. */
static void skip(struct ys_trial *trial, char *reason_taken)
{
    cannot_run(trial, YS_RUN_SKIPPED, reason_taken, NULL);
    ys_free(reason_taken);
}

/* As many as there are, or as many fewer as have equal shares. */
static int64_t threads_of_all(int64_t allowed, int64_t ranks)
{
    if (allowed >= ranks)
        return allowed / ranks * ranks;
    while (ranks % allowed != 0)
        allowed--;
    return allowed;
}

/* Skips the trial where one of those is not to be had. */
static void check_cpus(struct ys_trial *trial, const char *key, const struct ys_list *cpus)
{
    const int64_t *listed = cpus->items;
    for (size_t i = 0; i < cpus->count; i++)
        if (!ys_host_cpu_is_allowed((int)listed[i])) {
            skip(trial, ys_format("%s names CPU %d, which yardstick may not use", key, (int)listed[i]));
            return;
        }
}

static ys_status pick_cpus(struct ys_trial *trial)
{
    struct ys_trial_settings *keys = &trial->record.keys;
    const int64_t *listed = keys->cpus.items;
    int allowed = ys_host_cpus_allowed();
    const bool is_elsewhere = ys_settings_are_apart(keys);
    if (keys->threads == YS_FIELD_NONE)
        keys->threads = threads_of_all(allowed, ys_settings_sharers(keys));
    int threads = trial->threads = (int)keys->threads;
    const int own = is_elsewhere && threads > allowed ? allowed : threads; /* hosts have theirs; here it is proven */
    trial->cpu_count = keys->cpus.count ? keys->cpus.count : (size_t)own;
    trial->cpus = ys_alloc(trial->cpu_count, sizeof *trial->cpus);
    for (size_t i = 0; i < keys->cpus.count; i++)
        trial->cpus[i] = (int)listed[i];
    if (own > allowed) {
        skip(trial,
             ys_format("threads = %d: this machine has %d CPU%s that yardstick may use: write at most %d, or all",
                       threads, allowed, allowed == 1 ? "" : "s", allowed));
        return YS_OK;
    }
    if (!is_elsewhere) /* of others it is asked when their agents are there */
        check_cpus(trial, "cpus", &keys->cpus);
    check_cpus(trial, "input.cpus", &keys->input_cpus);
    return keys->cpus.count ? YS_OK : ys_host_cpu_pick(own, trial->cpus);
}

static void describe_framework(struct ys_trial *trial)
{
    const struct ys_framework *framework = trial->framework;
    if (!trial->record.framework)
        trial->record.framework = ys_alloc(1, sizeof *trial->record.framework);
    struct ys_trial_framework *shown = trial->record.framework;
    shown->no_work = framework->no_work;
    shown->emulated = framework->emulated;
    ys_set_text(&shown->name, framework->name);
    ys_set_text(&shown->version, framework->version);
    ys_set_text(&shown->title, framework->title);
    ys_set_text(&shown->closure, framework->closure);
    ys_set_text(&shown->recipe, framework->foreign);
    ys_set_text(&shown->fingerprint, *framework->fingerprint ? framework->fingerprint : NULL);
    ys_set_text(&shown->changes, framework->changes);
    ys_set_text(&shown->unpinned, framework->unpinned);
    if (framework->state == YS_FRAMEWORK_MISSING)
        cannot_run(trial, YS_RUN_MISSING, framework->reason, framework->command);
    else if (framework->state == YS_FRAMEWORK_UNSUPPORTED)
        cannot_run(trial, YS_RUN_UNSUPPORTED, framework->reason, framework->command);
}

ys_status ys_trial_hold(struct ys_trial *trial)
{
    if (!ys_trial_can_run(trial))
        return YS_OK;
    YS_TRY(ys_framework_hold(trial->framework));
    describe_framework(trial);
    return YS_OK;
}

bool ys_trial_same_weights(const struct ys_trial *trial)
{
    return trial->record.keys.compare == YS_COMPARE_SAME_WEIGHTS;
}

/* How long the weights of same weights are trained, and the requests that predict the test rows. */
static ys_status resolve_same_weights(struct ys_trial *trial)
{
    struct ys_trial_settings *keys = &trial->record.keys, training = *keys; /* borrows */
    int64_t all = trial->data->test_count;
    training.mode = YS_MODE_TRAIN;
    training.batch = ys_settings_taught_batch(keys);
    if (keys->steps != 0) {
        if (training.batch > trial->data->train_count)
            return ys_fail(YS_EINVAL,
                           "taught.batch = %lld is larger than the data set %s: it has %lld training rows, give at "
                           "most that",
                           (long long)training.batch, trial->data->name, (long long)trial->data->train_count);
        YS_TRY(ys_job_steps(&training, trial->data->train_count, &trial->taught_steps));
        YS_TRY(ys_schedule_check(&training, trial->taught_steps));
    }
    if (keys->rows == YS_FIELD_NONE || keys->rows > all)
        keys->rows = all;
    keys->requests = (keys->rows + keys->batch - 1) / keys->batch;
    return YS_OK;
}

/* What the job itself knows that it cannot be run needs its framework and its CPUs to be shown, and no more. */
static ys_status resolve_unsupported(struct ys_trial *trial, const char *reason, const char *const *recipe_dirs)
{
    YS_TRY(pick_cpus(trial));
    YS_TRY(ys_framework_find(trial->record.keys.framework, recipe_dirs, &trial->framework));
    describe_framework(trial);
    cannot_run(trial, YS_RUN_UNSUPPORTED, reason, NULL);
    return YS_OK;
}

/* Ranks do equal shares of the work, with as many threads and CPUs each. */
static ys_status check_shares(const char *key, int64_t count, int64_t ranks)
{
    if (count % ranks == 0 || (count < ranks && ranks % count == 0))
        return YS_OK;
    return ys_fail(YS_EINVAL, "%s has %lld for ranks = %lld, which are no equal shares: give a multiple of it", key,
                   (long long)count, (long long)ranks);
}

/* They are read again for each run. */
static ys_status check_hosts(const char *named, int64_t nodes)
{
    struct ys_hosts hosts;
    ys_status status = ys_hosts_read(named, nodes, &hosts);
    ys_hosts_fini(&hosts);
    return status;
}

static ys_status check_nodes(const struct ys_trial_settings *keys, int64_t ranks)
{
    const int64_t nodes = keys->nodes == YS_FIELD_NONE ? 1 : keys->nodes, each = keys->ranks_per_node;
    if (ranks > YS_SESSIONS_MOST)
        return ys_fail(YS_EINVAL, "nodes = %lld times ranks_per_node = %lld are %lld ranks: at most %d are followed",
                       (long long)nodes, (long long)each, (long long)ranks, YS_SESSIONS_MOST);
    if (each != YS_FIELD_NONE && ranks != nodes * each)
        return ys_fail(YS_EINVAL,
                       "ranks = %lld are not nodes = %lld times ranks_per_node = %lld: leave one of them out",
                       (long long)ranks, (long long)nodes, (long long)each);
    if (ranks % nodes != 0)
        return ys_fail(YS_EINVAL, "ranks = %lld have no equal shares on nodes = %lld: give a multiple of it",
                       (long long)ranks, (long long)nodes);
    return keys->launch == YS_LAUNCHER_SSH ? check_hosts(keys->hosts, nodes) : YS_OK;
}

static ys_status check_ranks(const struct ys_trial *trial)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    const int64_t ranks = ys_settings_ranks(keys);
    if (ys_mode_of(keys->mode)->trains)
        YS_TRY(check_nodes(keys, ranks));
    if (keys->ranks != YS_FIELD_NONE && keys->ranks > 1 && ys_trial_same_weights(trial))
        return ys_fail(YS_EINVAL, "compare = same-weights takes weights that one process trained: write ranks = 1");
    if (ranks == 1)
        return YS_OK;
    if (keys->global_batch != YS_FIELD_NONE && keys->global_batch != ys_settings_rows(keys))
        return ys_fail(YS_EINVAL,
                       "global_batch = %lld has no equal shares for ranks = %lld: give a multiple of it, at least that",
                       (long long)keys->global_batch, (long long)ranks);
    if (keys->input && strcmp(keys->input, "file") != 0)
        return ys_fail(YS_EINVAL, "input = %s feeds one process, and ranks = %lld are several: write input = file",
                       keys->input, (long long)ranks);
    if (keys->perf)
        return ys_fail(YS_EINVAL, "perf = on samples one process, and ranks = %lld are several: write perf = off",
                       (long long)ranks);
    if (keys->strategy == YS_STRATEGY_ALONE && keys->bn == YS_STATISTICS_SYNC)
        return ys_fail(YS_EINVAL,
                       "strategy = alone exchanges nothing, and bn = sync takes the statistics of all ranks: write "
                       "bn = local");
    const int64_t sharers = ys_settings_sharers(keys);
    if (keys->threads != YS_FIELD_NONE)
        YS_TRY(check_shares("threads", keys->threads, sharers));
    return keys->cpus.count ? check_shares("cpus", (int64_t)keys->cpus.count, sharers) : YS_OK;
}

/* What rows hide is told by those that are there before the run. */
static ys_status check_hidden(const struct ys_trial *trial)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    const struct ys_data_source *source = ys_data_find(trial->data->name);
    if (!source || !source->hides_targets)
        return YS_OK;
    if (keys->input && strcmp(keys->input, "file") != 0)
        return ys_fail(YS_EINVAL, "input = %s: what rows of %s hide is read from a file: write input = file",
                       keys->input, trial->data->name);
    return YS_OK;
}

/* What keeps attacks from a trial's network and the rows that it is given. NULL: nothing. */
static const char *unattacked(const struct ys_trial *trial, const struct ys_graph *graph)
{
    const char *augment = trial->record.keys.augment, *obstacle = ys_attack_obstacle(graph);
    const bool has_scale = trial->data->rows.inputs[0].dtype == YS_U8 && !(augment && strcmp(augment, "cifar") == 0);
    return obstacle ? obstacle : has_scale ? NULL : ys_attack_no_scale;
}

static ys_status check_words(const struct ys_trial_settings *keys, const struct ys_graph *graph)
{
    const struct ys_value *logits = &graph->values[graph->output], *input = &graph->values[graph->inputs[0]];
    struct ys_attacks attacks;
    YS_TRY(ys_attacks_read(keys->attack, &attacks));
    if (attacks.count == 0 && keys->attack_transfer == YS_ON)
        return ys_fail(YS_EINVAL, "attack.transfer shows what attacks made, and corruptions are the same for every "
                                  "trial: write attack.transfer = off");
    return ys_attacks_check(&attacks, (size_t)logits->shape[logits->rank - 1],
                            &(struct ys_picture_shape){input->shape[1], input->shape[2], input->shape[3]});
}

static ys_status check_attack(struct ys_trial *trial)
{
    struct ys_trial_settings *keys = &trial->record.keys;
    struct ys_graph *graph = NULL;
    if (!keys->attack)
        return YS_OK;
    YS_TRY(ys_work_graph(trial, &graph));
    const char *reason = unattacked(trial, graph);
    ys_status status = reason ? ys_fail(YS_EINVAL, "%s: write attack = none", reason) : check_words(keys, graph);
    ys_graph_free(graph);
    if (keys->attack_rows > trial->data->test_count)
        keys->attack_rows = trial->data->test_count;
    return status == YS_OK ? YS_OK : ys_fail_in(status, "attack: %s with %s", keys->model, trial->data->name);
}

/* Whether what its network's weights are worth tells that metric. */
static ys_status check_until(const struct ys_trial *trial)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    struct ys_graph *graph = NULL;
    struct ys_goal goal;
    if (!keys->until)
        return YS_OK;
    YS_TRY(ys_goal_parse(keys->until, &goal));
    YS_TRY(ys_work_graph(trial, &graph));
    const bool has_classes = graph->target != YS_TARGET_VECTOR;
    ys_graph_free(graph);
    const bool is_mean =
        keys->loss && (strcmp(keys->loss, "softmax_cross_entropy") == 0 || strcmp(keys->loss, "nll") == 0);
    if (goal.metric == YS_GOAL_ACCURACY && !has_classes)
        return ys_fail(YS_EINVAL, "until = %s: the rows of %s have numbers and no class: write until = test_loss <= X",
                       keys->until, trial->data->name);
    if (goal.metric == YS_GOAL_BITS_PER_TOKEN &&
        (trial->positions == YS_FIELD_NONE || trial->positions <= 0 || !is_mean))
        return ys_fail(YS_EINVAL,
                       "until = %s: bits are of networks that have a class for each position, by the mean of -log p: "
                       "write until = accuracy >= X or test_loss <= X",
                       keys->until);
    return YS_OK;
}

int64_t ys_trial_looks(const struct ys_trial *trial)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    if (!keys->until || keys->eval_every < 1 || trial->steps < 1)
        return YS_FIELD_NONE;
    return (trial->steps - 1) / keys->eval_every + 1;
}

/* What the trial's data and numbers make of its work. YS_EINVAL: they do not go together, whatever the framework. */
static ys_status resolve_point(struct ys_trial *trial)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    const int64_t rows = ys_settings_rows(keys);
    YS_TRY(check_ranks(trial));
    YS_TRY(check_hidden(trial));
    if (rows > trial->data->train_count && rows == keys->batch)
        return ys_fail(YS_EINVAL,
                       "batch = %lld is larger than the data set %s: it has %lld training rows, give at most that",
                       (long long)keys->batch, trial->data->name, (long long)trial->data->train_count);
    if (rows > trial->data->train_count)
        return ys_fail(YS_EINVAL,
                       "a batch of %lld rows for %lld ranks is larger than the data set %s: it has %lld training rows, "
                       "give at most that",
                       (long long)rows, (long long)keys->ranks, trial->data->name, (long long)trial->data->train_count);
    YS_TRY(ys_work_resolve(trial));
    YS_TRY(check_attack(trial));
    YS_TRY(check_until(trial));
    if (ys_trial_same_weights(trial))
        YS_TRY(resolve_same_weights(trial));
    YS_TRY(ys_job_steps(keys, trial->data->train_count, &trial->steps));
    return ys_schedule_check(keys, trial->steps);
}

/* ys_error() says why. */
static ys_status resolve_impossible(struct ys_trial *trial, const char *const *recipe_dirs)
{
    char *reason = ys_strdup(ys_error());
    ys_status status = resolve_unsupported(trial, reason, recipe_dirs);
    trial->impossible = true;
    trial->data = NULL;
    ys_free(reason);
    return status;
}

/* A study goes on with the network that it began with, whatever lies in its file now. */
static ys_status check_model_file(const struct ys_trial_set *set, const struct ys_trial_settings *keys,
                                  const struct ys_model_choice *model)
{
    struct ys_study_work before;
    bool known = ys_study_work_find(set->measured_with, keys->model, keys->data, &before);
    const char *hash = before.model_hash;
    if (!known || !hash || strcmp(hash, model->hash) == 0)
        return YS_OK;
    return ys_fail(YS_EINVAL,
                   "%s has changed since this study began: its SHA-256 was %s and is %s; bring it back, or begin a new "
                   "study",
                   model->path, hash, model->hash);
}

/* Of data that follow the model nothing is known. */
struct ys_model_feed ys_trial_feed(const struct ys_trial_settings *keys)
{
    const struct ys_data_source *source = keys->data ? ys_data_find(keys->data) : NULL;
    struct ys_model_feed feed = {
        .inputs = keys->model_input, .output = keys->model_output, .layout = (enum ys_layout)keys->model_layout};
    if (!source || source->rows.input_count != 1 || source->rows.inputs[0].rank != 3 ||
        source->rows.inputs[0].dtype != YS_U8) {
        if (keys->input_size != YS_FIELD_NONE) { /* the form of such data follows the model, and this key */
            feed.shape[1] = keys->input_size;
            feed.shape[2] = keys->input_width != YS_FIELD_NONE ? keys->input_width : keys->input_size;
        }
        return feed;
    }
    memcpy(feed.shape, source->rows.inputs[0].shape, sizeof feed.shape);
    feed.dtype = YS_U8;
    feed.scale = 1.0 / 255;
    return feed;
}

static ys_status resolve_model_and_data(struct ys_trial_set *set, struct ys_trial *trial)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    const struct ys_model_feed feed = ys_trial_feed(keys);
    struct ys_model_choice model;
    YS_TRY(ys_model_choose_fed(keys->model, &feed, &model));
    memcpy(trial->model_hash, model.hash, sizeof trial->model_hash);
    ys_status status = check_model_file(set, keys, &model);
    if (status == YS_OK)
        status = find_data(set, keys, &model.rows, &trial->data);
    ys_model_choice_fini(&model);
    return status;
}

/* Which frameworks compute a network in integers, and by whose quantiser. */
static void check_quantised(struct ys_trial *trial)
{
    const struct ys_framework *framework = trial->framework;
    const struct ys_converter *quantiser = framework->quantiser;
    if (trial->record.keys.quant == YS_NAME_NONE || framework->no_work)
        return;
    const bool is_own = ys_settings_quant_own(&trial->record.keys),
               is_builtin = strcmp(framework->name, "builtin") == 0;
    if (is_own && is_builtin)
        cannot_run(trial, YS_RUN_UNSUPPORTED,
                   "quant.by = own: the built-in engine's own scales are those of quant.by = yardstick", NULL);
    else if (is_own && !quantiser)
        cannot_run(trial, YS_RUN_UNSUPPORTED, "quant.by = own: its recipe names no quantiser of its makers", NULL);
    else if (is_own && quantiser->reason && ys_trial_can_run(trial)) {
        char *reason = ys_format("its quantiser, %s: %s", quantiser->spec, quantiser->reason);
        char *name = ys_strndup(quantiser->spec, strcspn(quantiser->spec, "@"));
        char *command = ys_format("yardstick install %s", name);
        cannot_run(trial, YS_RUN_MISSING, reason, command);
        ys_free(reason);
        ys_free(name);
        ys_free(command);
    } else if (!is_own && !framework->reads_onnx && !is_builtin)
        cannot_run(trial, YS_RUN_UNSUPPORTED,
                   "precision = int8: common scales come in an ONNX file, which this framework does not read", NULL);
}

/* The loader passes over a folder that is not there, and the machine's default library would be measured in silence. */
static void check_library_path(struct ys_trial *trial, const char *path)
{
    while (*path) {
        const size_t length = strcspn(path, ":");
        char *folder = ys_format("%.*s", (int)length, path);
        if (*folder == '/' && !ys_fs_is_dir(folder)) {
            char *reason = ys_format("env.LD_LIBRARY_PATH: there is no folder %s", folder);
            cannot_run(trial, YS_RUN_UNSUPPORTED, reason, NULL);
            ys_free(reason);
        }
        ys_free(folder);
        path += length + (path[length] == ':');
    }
}

static void check_env(struct ys_trial *trial)
{
    const ys_json *env = trial->record.env;
    for (void *it = ys_json_iter(env); it; it = ys_json_next(env, it))
        if (strcmp(ys_json_iter_key(it), "LD_LIBRARY_PATH") == 0)
            check_library_path(trial, ys_json_text(ys_json_iter_value(it), ""));
}

static ys_status resolve_one(struct ys_trial_set *set, struct ys_trial *trial, const char *const *recipe_dirs)
{
    const struct ys_trial_settings *keys = &trial->record.keys;
    if (!keys->framework)
        return ys_fail(YS_EFORMAT, "%s: no framework is said", trial->record.id);
    if (trial->record.unsupported)
        return resolve_unsupported(trial, trial->record.unsupported, recipe_dirs);
    if (!keys->model || !keys->data || keys->batch < 1)
        return ys_fail(YS_EFORMAT, "%s: no model, data or batch is said", trial->record.id);
    YS_TRY(resolve_model_and_data(set, trial));
    ys_status status = resolve_point(trial);
    if (status == YS_EINVAL)
        return resolve_impossible(trial, recipe_dirs);
    if (status != YS_OK)
        return ys_fail_in(status, "%s", trial->record.id);
    YS_TRY(pick_cpus(trial));
    YS_TRY(ys_framework_find(keys->framework, recipe_dirs, &trial->framework));
    describe_framework(trial);
    check_quantised(trial);
    if (!ys_settings_are_apart(keys))
        check_env(trial);
    const char *no_work = keys->attack  ? "attack: this framework does no work, and has no weights to attack"
                          : keys->until ? "until: this framework does no work, and meets no target"
                                        : NULL;
    if (no_work && trial->framework->no_work) {
        cannot_run(trial, YS_RUN_UNSUPPORTED, no_work, NULL);
        trial->impossible = true;
    }
    return YS_OK;
}

/* A study that no framework could run is a mistake, not a result. */
static ys_status refuse_impossible(const struct ys_trial_set *set)
{
    const struct ys_trial_record *first = &set->items[0].record;
    for (size_t i = 0; i < set->count; i++)
        if (!set->items[i].impossible)
            return YS_OK;
    if (set->count == 1)
        return ys_fail(YS_EINVAL, "%s: %s", first->id, first->reason);
    return ys_fail(YS_EINVAL, "none of the %zu trials can run; the first, %s: %s", set->count, first->id,
                   first->reason);
}

ys_status ys_trials_resolve(const ys_json *trials, const ys_json *measured_with, const char *const *recipe_dirs,
                            const char *const *const *own_recipe_dirs, struct ys_trial_set *set)
{
    size_t count = ys_json_size(trials);
    *set = (struct ys_trial_set){.items = ys_alloc(count, sizeof *set->items),
                                 .datasets = ys_alloc(count, sizeof *set->datasets),
                                 .measured_with = measured_with};
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < count; i++) {
        struct ys_trial *trial = &set->items[set->count++];
        status = ys_record_read(&ys_trial_record, ys_json_at(trials, i), "a trial of the job", &trial->record);
        if (status == YS_OK)
            status = resolve_one(set, trial, own_recipe_dirs ? own_recipe_dirs[i] : recipe_dirs);
        if (status == YS_OK && ys_stop_signal())
            status = ys_stopped();
    }
    if (status == YS_OK && count > 0)
        status = refuse_impossible(set);
    if (status != YS_OK)
        ys_trials_fini(set);
    return status;
}
