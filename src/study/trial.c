#include "study/trial.h"

#include "base/mem.h"
#include "base/stop.h"
#include "graph/model.h"
#include "job/schedule.h"
#include "probe/host.h"
#include "study/work.h"

#include <string.h>

const ys_json *ys_trial_key(const struct ys_trial *trial, const char *key)
{
    return ys_json_get(ys_json_get(trial->json, "keys"), key);
}

void ys_trials_fini(struct ys_trial_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        ys_json_free(set->items[i].json);
        ys_framework_free(set->items[i].framework);
        ys_free(set->items[i].cpus);
    }
    for (size_t i = 0; i < set->dataset_count; i++)
        ys_dataset_fini(&set->datasets[i]);
    ys_free(set->items);
    ys_free(set->datasets);
    *set = (struct ys_trial_set){0};
}

static bool is_of_form(const struct ys_dataset *data, const struct ys_data_form *form)
{
    return memcmp(data->shape, form->shape, sizeof form->shape) == 0 && data->classes == form->classes;
}

/* What the study had before of that data set and model; NULL where it does not say. */
static const ys_json *find_before(const ys_json *measured_with, const char *data, const char *model)
{
    for (size_t i = 0; i < ys_json_size(measured_with); i++) {
        const ys_json *line = ys_json_at(measured_with, i);
        if (strcmp(ys_json_get_text(line, "data", ""), data) == 0 &&
            strcmp(ys_json_get_text(line, "model", ""), model) == 0)
            return line;
    }
    return NULL;
}

/* The rows that the study had before, false where it does not say. */
static bool find_wanted(const ys_json *measured_with, const char *data, const char *model,
                        struct ys_data_wanted *wanted)
{
    const ys_json *line = find_before(measured_with, data, model);
    *wanted = (struct ys_data_wanted){.train_hash = ys_json_get_text(line, "train_hash", NULL),
                                      .test_hash = ys_json_get_text(line, "test_hash", NULL)};
    return wanted->train_hash && wanted->test_hash;
}

/* The data set of that name, in the form of the model's usual input where the set follows the model; prepared at its
 * first mention. Room for one a trial was made beforehand, so pointers stay. */
static ys_status find_data(struct ys_trial_set *set, const char *name, const char *model_name,
                           const struct ys_model_input *usual, const struct ys_dataset **data)
{
    const struct ys_data_source *source = ys_data_find(name);
    bool follows_model = source && source->shape[0] == 0;
    struct ys_data_form form = {.classes = usual->classes};
    memcpy(form.shape, usual->shape, sizeof form.shape);
    for (size_t i = 0; i < set->dataset_count; i++) {
        if (strcmp(set->datasets[i].name, name) == 0 && (!follows_model || is_of_form(&set->datasets[i], &form))) {
            *data = &set->datasets[i];
            return YS_OK;
        }
    }
    struct ys_data_wanted wanted;
    bool has_wanted = find_wanted(set->measured_with, name, model_name, &wanted);
    YS_TRY(ys_data_prepare(name, &form, has_wanted ? &wanted : NULL, &set->datasets[set->dataset_count]));
    *data = &set->datasets[set->dataset_count++];
    return YS_OK;
}

static void cannot_run(struct ys_trial *trial, const char *status, const char *reason, const char *command)
{
    trial->status = status;
    ys_json_set_string(trial->json, "status", status);
    ys_json_set_string(trial->json, "reason", reason);
    ys_json_set_string(trial->json, "command", command);
}

static ys_status pick_cpus(struct ys_trial *trial)
{
    ys_json *keys = ys_json_get(trial->json, "keys");
    const ys_json *listed = ys_json_get(keys, "cpus");
    int allowed = ys_host_cpus_allowed();
    int threads = (int)ys_json_get_int(keys, "threads", allowed);
    ys_json_set_int(keys, "threads", threads);
    trial->threads = threads;
    trial->cpu_count = ys_json_size(listed) ? ys_json_size(listed) : (size_t)threads;
    trial->cpus = ys_alloc(trial->cpu_count, sizeof *trial->cpus);
    if (!trial->cpus)
        return ys_out_of_memory();
    for (size_t i = 0; i < ys_json_size(listed); i++)
        trial->cpus[i] = (int)ys_json_integer(ys_json_at(listed, i), 0);
    if (threads > allowed) {
        char *reason = ys_format("threads = %d: this machine has %d CPU%s that yardstick may use", threads, allowed,
                                 allowed == 1 ? "" : "s");
        cannot_run(trial, "skipped", reason, NULL);
        ys_free(reason);
        return YS_OK;
    }
    for (size_t i = 0; i < ys_json_size(listed); i++) {
        if (!ys_host_cpu_is_allowed(trial->cpus[i])) {
            char *reason = ys_format("cpus names CPU %d, which yardstick may not use", trial->cpus[i]);
            cannot_run(trial, "skipped", reason, NULL);
            ys_free(reason);
            return YS_OK;
        }
    }
    return ys_json_size(listed) ? YS_OK : ys_host_cpu_pick(threads, trial->cpus);
}

static ys_status describe_framework(struct ys_trial *trial)
{
    const struct ys_framework *framework = trial->framework;
    ys_json *shown = ys_json_object();
    ys_json_set_string(shown, "name", framework->name);
    ys_json_set_string(shown, "version", framework->version);
    ys_json_set_string(shown, "title", framework->title);
    ys_json_set_bool(shown, "no_work", framework->no_work);
    ys_json_set_string(shown, "closure", framework->closure);
    if (framework->foreign)
        ys_json_set_string(shown, "recipe", framework->foreign);
    if (*framework->fingerprint)
        ys_json_set_string(shown, "fingerprint", framework->fingerprint);
    if (framework->changes)
        ys_json_set_string(shown, "changes", framework->changes);
    YS_TRY(ys_json_set(trial->json, "framework", shown));
    if (framework->state == YS_FRAMEWORK_MISSING)
        cannot_run(trial, "missing", framework->reason, framework->command);
    if (framework->state == YS_FRAMEWORK_UNSUPPORTED)
        cannot_run(trial, "unsupported", framework->reason, framework->command);
    return YS_OK;
}

ys_status ys_trial_hold(struct ys_trial *trial)
{
    if (trial->status)
        return YS_OK;
    YS_TRY(ys_framework_hold(trial->framework));
    return describe_framework(trial);
}

bool ys_trial_same_weights(const struct ys_trial *trial)
{
    return strcmp(ys_json_text(ys_trial_key(trial, "compare"), ""), "same-weights") == 0;
}

/* How long the weights of same weights are trained, and the requests that predict the test rows. */
static ys_status resolve_same_weights(struct ys_trial *trial)
{
    ys_json *keys = ys_json_get(trial->json, "keys"), *training = ys_json_copy(keys);
    int64_t all = trial->data->test_count, asked = ys_json_get_int(keys, "rows", all);
    int64_t rows = asked < all ? asked : all, batch = ys_json_get_int(keys, "batch", 1);
    bool untrained = ys_json_get_int(keys, "steps", -1) == 0;
    ys_status status = training ? ys_json_set_string(training, "mode", "train") : ys_out_of_memory();
    if (status == YS_OK && !untrained)
        status = ys_job_steps(training, trial->data->train_count, &trial->taught_steps);
    if (status == YS_OK && !untrained)
        status = ys_schedule_check(training, trial->taught_steps);
    ys_json_free(training);
    if (status == YS_OK)
        status = ys_json_set_int(keys, "rows", rows);
    return status == YS_OK ? ys_json_set_int(keys, "requests", (rows + batch - 1) / batch) : status;
}

/* What the job itself knows that it cannot be run needs its framework and its CPUs to be shown, and no more. */
static ys_status resolve_unsupported(struct ys_trial *trial, const char *reason, const char *const *recipe_dirs)
{
    YS_TRY(pick_cpus(trial));
    YS_TRY(ys_framework_find(ys_json_text(ys_trial_key(trial, "framework"), ""), recipe_dirs, &trial->framework));
    YS_TRY(describe_framework(trial));
    cannot_run(trial, "unsupported", reason, NULL);
    return YS_OK;
}

/* What the trial's data and numbers make of its work. YS_EINVAL: they do not go together, whatever the framework. */
static ys_status resolve_point(struct ys_trial *trial)
{
    const ys_json *keys = ys_json_get(trial->json, "keys");
    int64_t batch = ys_json_get_int(keys, "batch", 1);
    if (batch > trial->data->train_count)
        return ys_fail(YS_EINVAL,
                       "batch = %lld is larger than the data set %s: it has %lld training rows, give at most that",
                       (long long)batch, trial->data->name, (long long)trial->data->train_count);
    YS_TRY(ys_work_resolve(trial));
    if (ys_trial_same_weights(trial))
        YS_TRY(resolve_same_weights(trial));
    YS_TRY(ys_job_steps(keys, trial->data->train_count, &trial->steps));
    return ys_schedule_check(keys, trial->steps);
}

/* ys_error() says why. */
static ys_status resolve_impossible(struct ys_trial *trial, const char *const *recipe_dirs)
{
    char *reason = ys_strdup(ys_error());
    ys_status status = reason ? resolve_unsupported(trial, reason, recipe_dirs) : ys_out_of_memory();
    trial->impossible = true;
    trial->data = NULL;
    ys_free(reason);
    return status;
}

/* A study goes on with the network that it began with, whatever lies in its file now. */
static ys_status check_model_file(const struct ys_trial_set *set, const ys_json *keys,
                                  const struct ys_model_choice *model)
{
    const ys_json *before =
        find_before(set->measured_with, ys_json_get_text(keys, "data", ""), ys_json_get_text(keys, "model", ""));
    const char *hash = ys_json_get_text(before, "model_hash", model->hash);
    if (strcmp(hash, model->hash) == 0)
        return YS_OK;
    return ys_fail(YS_EINVAL,
                   "%s has changed since this study began: its SHA-256 was %s and is %s; bring it back, or begin a new "
                   "study",
                   model->path, hash, model->hash);
}

static ys_status resolve_model_and_data(struct ys_trial_set *set, struct ys_trial *trial)
{
    const ys_json *keys = ys_json_get(trial->json, "keys");
    const char *name = ys_json_get_text(keys, "model", "");
    struct ys_model_choice model;
    YS_TRY(ys_model_choose(name, &model));
    memcpy(trial->model_hash, model.hash, sizeof trial->model_hash);
    ys_status status = check_model_file(set, keys, &model);
    if (status == YS_OK)
        status = find_data(set, ys_json_get_text(keys, "data", ""), name, &model.usual, &trial->data);
    ys_model_choice_fini(&model);
    return status;
}

static ys_status resolve_one(struct ys_trial_set *set, struct ys_trial *trial, const char *const *recipe_dirs)
{
    const ys_json *keys = ys_json_get(trial->json, "keys");
    const char *unsupported = ys_json_get_text(trial->json, "unsupported", NULL);
    if (unsupported)
        return resolve_unsupported(trial, unsupported, recipe_dirs);
    YS_TRY(resolve_model_and_data(set, trial));
    ys_status status = resolve_point(trial);
    if (status == YS_EINVAL)
        return resolve_impossible(trial, recipe_dirs);
    if (status != YS_OK)
        return ys_fail_in(status, "%s", ys_json_get_text(trial->json, "id", ""));
    YS_TRY(pick_cpus(trial));
    YS_TRY(ys_framework_find(ys_json_get_text(keys, "framework", ""), recipe_dirs, &trial->framework));
    return describe_framework(trial);
}

/* A study that no framework could run is a mistake, not a result. */
static ys_status refuse_impossible(const struct ys_trial_set *set)
{
    const ys_json *first = set->items[0].json;
    for (size_t i = 0; i < set->count; i++)
        if (!set->items[i].impossible)
            return YS_OK;
    const char *id = ys_json_get_text(first, "id", ""), *reason = ys_json_get_text(first, "reason", "");
    if (set->count == 1)
        return ys_fail(YS_EINVAL, "%s: %s", id, reason);
    return ys_fail(YS_EINVAL, "none of the %zu trials can run; the first, %s: %s", set->count, id, reason);
}

ys_status ys_trials_resolve(const ys_json *trials, const ys_json *measured_with, const char *const *recipe_dirs,
                            struct ys_trial_set *set)
{
    size_t count = ys_json_size(trials);
    *set = (struct ys_trial_set){.items = ys_alloc(count, sizeof *set->items),
                                 .datasets = ys_alloc(count, sizeof *set->datasets),
                                 .measured_with = measured_with};
    ys_status status = set->items && set->datasets ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < count; i++) {
        struct ys_trial *trial = &set->items[set->count++];
        trial->json = ys_json_copy(ys_json_at(trials, i));
        status = trial->json ? resolve_one(set, trial, recipe_dirs) : ys_out_of_memory();
        if (status == YS_OK && ys_stop_signal())
            status = ys_stopped();
    }
    if (status == YS_OK && count > 0)
        status = refuse_impossible(set);
    if (status != YS_OK)
        ys_trials_fini(set);
    return status;
}
