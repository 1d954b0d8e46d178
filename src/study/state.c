#include "study/state.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/working.h"
#include "study/inputs.h"

#include <stdio.h>
#include <string.h>

ys_status ys_study_find_oracle(struct ys_study *study)
{
    if (study->verifier)
        return YS_OK;
    YS_TRY(ys_framework_find_own("builtin", &study->oracle));
    if (study->oracle->state != YS_FRAMEWORK_READY)
        return ys_fail(YS_EINTERNAL, "the built-in engine is not there, and every proof needs it: %s",
                       study->oracle->reason);
    return ys_verifier_open(study->oracle, &study->verifier);
}

static void count_runnable(struct ys_study *study)
{
    study->runnable = 0;
    for (size_t i = 0; i < study->set.count; i++)
        study->runnable += ys_trial_can_run(&study->set.items[i]);
    study->runs_total = study->rounds * (int64_t)study->runnable;
}

static ys_status open_study(const ys_json *settings, const ys_json *trials, const ys_json *measured_with,
                            const struct ys_study_options *options, struct ys_store *store, struct ys_study *study)
{
    uint64_t start_ns = ys_time_ns();
    *study = (struct ys_study){.settings = settings, .options = options, .store = store};
    study->seed = (uint64_t)ys_json_get_int(settings, "seed", 1);
    study->rounds = ys_json_get_int(settings, "repeat", 1);
    YS_TRY(ys_trials_resolve(trials, measured_with, options->recipe_dirs, &study->set));
    count_runnable(study);
    study->prepare_s = (double)(ys_time_ns() - start_ns) * 1e-9;
    return YS_OK;
}

ys_status ys_study_hold(struct ys_study *study)
{
    uint64_t start_ns = ys_time_ns();
    for (size_t i = 0; i < study->set.count; i++)
        YS_TRY(ys_trial_hold(&study->set.items[i]));
    count_runnable(study);
    study->prepare_s += (double)(ys_time_ns() - start_ns) * 1e-9;
    return YS_OK;
}

ys_status ys_study_open(const ys_json *settings, const ys_json *trials, const struct ys_study_options *options,
                        struct ys_store *store, struct ys_study *study)
{
    return open_study(settings, trials, NULL, options, store, study);
}

ys_status ys_study_open_again(const ys_json *document, const ys_json *trials, const struct ys_study_options *options,
                              struct ys_store *store, struct ys_study *study)
{
    ys_status status =
        open_study(ys_json_get(document, "job"), trials, ys_json_get(document, "model_info"), options, store, study);
    if (status == YS_OK) {
        status = ys_study_check_cache(study);
        if (status != YS_OK)
            ys_study_close(study);
    }
    return status == YS_EFORMAT ? YS_EINVAL : status; /* of the data: the results are not what is damaged */
}

ys_status ys_study_check_cache(const struct ys_study *study)
{
    ys_working_sweep_cache(YS_WORK_SHELF, NULL);
    for (size_t i = 0; i < study->set.dataset_count; i++)
        YS_TRY(ys_data_check(&study->set.datasets[i]));
    return YS_OK;
}

void ys_study_close(struct ys_study *study)
{
    ys_verifier_close(study->verifier);
    ys_framework_free(study->oracle);
    ys_trials_fini(&study->set);
    ys_free(study->folder);
    *study = (struct ys_study){0};
}

/* One line of the document for every distinct model and data set. */
static ys_status describe_work(struct ys_study *study, ys_json *works)
{
    for (size_t i = 0; i < study->set.count; i++) {
        const struct ys_trial *trial = &study->set.items[i];
        const char *model = trial->record.keys.model;
        bool known = !trial->data;
        for (size_t k = 0; !known && k < ys_json_size(works); k++)
            known = strcmp(ys_json_get_text(ys_json_at(works, k), "model", ""), model) == 0 &&
                    strcmp(ys_json_get_text(ys_json_at(works, k), "data", ""), trial->data->name) == 0;
        if (known)
            continue;
        ys_json *line = ys_json_object();
        ys_json_set_string(line, "model", model);
        ys_json_set_string(line, "model_hash", *trial->model_hash ? trial->model_hash : NULL);
        ys_json_set_int(line, "parameters", trial->parameters);
        ys_json_set_int(line, "multiply_adds", trial->multiply_adds);
        ys_json_set_string(line, "data", trial->data->name);
        ys_json_set_string(line, "unit", trial->data->rows.unit);
        ys_json_set_string(line, "train_hash", trial->data->train_hash);
        ys_json_set_string(line, "test_hash", trial->data->test_hash);
        ys_json_set_int(line, "train_count", trial->data->train_count);
        ys_json_set_int(line, "test_count", trial->data->test_count);
        ys_json_set_bool(line, "verified", trial->data->verified);
        ys_json_set_string(line, "source", trial->data->source);
        YS_TRY(ys_json_append(works, line));
        if (!trial->data->verified)
            ys_log_warn("the data set %s is not the published one: its training rows have SHA-256 %s",
                        trial->data->name, trial->data->train_hash);
    }
    return YS_OK;
}

ys_status ys_study_document(struct ys_study *study, const struct ys_job *job, ys_json **document)
{
    ys_json *made = ys_json_object(), *works = ys_json_array();
    ys_status status = made && works ? describe_work(study, works) : ys_out_of_memory();
    char hash[YS_SHA256_TEXT] = "", *text = ys_json_dump(job->trials, YS_JSON_SORTED);
    if (text)
        ys_sha256_text(text, strlen(text), hash);
    ys_json_set_string(made, "name", ys_json_get_text(job->study, "name", "study"));
    ys_json_set_string(made, "job_text", job->text);
    ys_json_set_string(made, "job_hash", hash);
    ys_json_set(made, "job", ys_json_copy(job->study));
    ys_json_set_int(made, "trials_planned", (int64_t)study->set.count);
    ys_json_set_int(made, "started_s", ys_date_s());
    ys_json_set_int(made, "seed", (int64_t)study->seed);
    ys_json_set_string(made, "command", study->options->command);
    ys_json_set_string(made, "version", YS_VERSION);
    ys_json_set(made, "model_info", works);
    ys_free(text);
    if (status == YS_OK)
        *document = made;
    else
        ys_json_free(made);
    return status;
}

ys_status ys_study_find_folder(struct ys_study *study)
{
    ys_json *document = NULL;
    YS_TRY(ys_store_study_get(study->store, study->id, &document));
    study->folder = ys_path_join(ys_store_folder(study->store), ys_json_get_text(document, "folder", ""));
    ys_json_free(document);
    return study->folder ? ys_fs_make_dirs(study->folder) : ys_out_of_memory();
}

ys_status ys_study_write_job(const struct ys_study *study, const struct ys_job *job)
{
    char *given = ys_path_join(study->folder, "job.ys"), *resolved = ys_path_join(study->folder, "job.json");
    ys_json *all = ys_json_object();
    ys_status status = given && resolved && all ? YS_OK : ys_out_of_memory();
    if (status == YS_OK && job->text)
        status = ys_fs_write(given, job->text, strlen(job->text));
    if (status == YS_OK) {
        ys_json_set(all, "study", ys_json_copy(job->study));
        ys_json_set(all, "trials", ys_json_copy(job->trials));
        status = ys_json_write(resolved, all);
    }
    ys_json_free(all);
    ys_free(given);
    ys_free(resolved);
    return status;
}

ys_status ys_study_prepare(struct ys_study *study, const struct ys_trial *trial, int64_t round, int64_t least_steps,
                           struct ys_work *work)
{
    uint64_t start_ns = ys_time_ns();
    ys_status status = ys_data_check(trial->data);
    if (status == YS_OK)
        status = ys_work_prepare(trial, study->seed + (uint64_t)round, least_steps, work);
    study->prepare_s += (double)(ys_time_ns() - start_ns) * 1e-9;
    return status;
}

double ys_study_run_limit_s(const struct ys_study *study, const struct ys_trial_settings *keys)
{
    double limit_s = ys_trial_limit_s(keys->run_time_limit);
    if (!study->deadline_ns)
        return limit_s;
    double left_s = ((double)study->deadline_ns - (double)ys_time_ns()) * 1e-9 + 0.001;
    return left_s > 0 && (limit_s <= 0 || left_s < limit_s) ? left_s : limit_s;
}

struct proving {
    const char *id;
    struct ys_inputs inputs;
};

static void on_progress(void *context, const char *what)
{
    const struct proving *proving = context;
    ys_progress("proving %s: %s", proving->id, what);
}

static ys_status check_inputs(void *context)
{
    const struct proving *proving = context;
    return ys_inputs_check(&proving->inputs);
}

/* Of what was not proven there is none. */
static ys_status add_trace(struct ys_study *study, const struct ys_verify_request *request, ys_json *proof)
{
    ys_json *trace = NULL;
    if (strcmp(ys_json_get_text(proof, "verdict", "none"), "none") == 0)
        return YS_OK;
    YS_TRY(ys_verify_trace(study->verifier, request, proof, &trace));
    return ys_json_set(proof, "trace", trace);
}

ys_status ys_study_prove_one(struct ys_study *study, const struct ys_trial *trial, ys_json **proof)
{
    struct ys_work work;
    if (!trial->framework->no_work)
        YS_TRY(ys_study_find_oracle(study));
    YS_TRY(ys_study_prepare(study, trial, 0, YS_VERIFY_STEPS, &work));
    struct proving proving = {.id = trial->record.id, .inputs = {.trial = trial, .work = &work}};
    ys_json *plan = ys_work_plan(&work, trial, study->seed, "");
    struct ys_verify_request request = {
        .framework = trial->framework,
        .plan = plan,
        .env = trial->record.env,
        .stall_limit_s = ys_trial_limit_s(trial->record.keys.stall_limit),
        .fresh = study->options->fresh_proofs,
        .meaning_only = study->options->meaning_only,
        .on_progress = on_progress,
        .check_inputs = check_inputs,
        .context = &proving,
    };
    ys_status status = plan ? ys_verify_prove(study->verifier, &request, proof) : ys_out_of_memory();
    if (status == YS_OK && study->options->trace)
        status = add_trace(study, &request, *proof);
    ys_progress_clear();
    ys_json_free(plan);
    ys_work_fini(&work);
    return status;
}
