#include "study/state.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/files/working_folder.h"
#include "base/log.h"
#include "base/mem.h"
#include "prepare/inputs.h"
#include "probe/anchor.h"
#include "session/guard.h"
#include "store/stored_study.h"
#include "study/turn_group.h"

#include <math.h>
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
    *study = (struct ys_study){.settings = settings, .options = options, .store = store, .opened_ns = start_ns};
    ys_study_settings_read(settings, &study->keys);
    study->seed = study->keys.seed == YS_FIELD_NONE ? 1 : (uint64_t)study->keys.seed;
    study->decides = study->keys.repeat == YS_FIELD_NONE && study->keys.repeat_most != YS_FIELD_NONE;
    study->rounds = study->decides                        ? study->keys.repeat_most
                    : study->keys.repeat == YS_FIELD_NONE ? 1
                                                          : study->keys.repeat;
    if (store)
        YS_TRY(ys_guard_protect(ys_store_folder(store)));
    ys_peak_read(&study->peak);
    YS_TRY(ys_trials_resolve(trials, measured_with, options->recipe_dirs, options->own_recipe_dirs, &study->set));
    count_runnable(study);
    study->prepare_s = (double)(ys_time_ns() - start_ns) * 1e-9;
    if (measured_with && study->keys.interleave == YS_INTERLEAVE_AUTO)
        study->keys.interleave = YS_INTERLEAVE_RUNS; /* so began those that do not say what it came to */
    ys_status status = ys_turn_group_settle(study);
    if (status != YS_OK)
        ys_study_close(study);
    return status;
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
    struct ys_study_record stored;
    struct ys_study_timing timing;
    ys_study_record_read(document, &stored, &timing);
    ys_status status = open_study(stored.job, trials, stored.model_info, options, store, study);
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
    ys_live_fini(&study->live);
    ys_verifier_close(study->verifier);
    ys_framework_free(study->oracle);
    ys_trials_fini(&study->set);
    ys_free(study->folder);
    ys_json_free(study->warned);
    ys_free(study->start_below);
    ys_list_fini(&ys_anchor_record, &study->anchors);
    *study = (struct ys_study){0};
}

/* Whether a trial before `place` has the same rows, of which a warning then was of these too. */
static bool was_told(const struct ys_study *study, size_t place)
{
    const struct ys_trial *trials = study->set.items;
    for (size_t i = 0; i < place; i++)
        if (trials[i].data && strcmp(trials[i].data->train_hash, trials[place].data->train_hash) == 0)
            return true;
    return false;
}

/* One line of the document for every distinct model and data set. */
static void describe_work(struct ys_study *study, ys_json *works)
{
    for (size_t i = 0; i < study->set.count; i++) {
        const struct ys_trial *trial = &study->set.items[i];
        const struct ys_dataset *data = trial->data;
        struct ys_study_work work;
        const char *form = data ? data->form : NULL;
        if (!data || ys_study_work_find_form(works, trial->record.keys.model, data->name, form, &work))
            continue;
        work = (struct ys_study_work){.model = trial->record.keys.model,
                                      .model_hash = *trial->model_hash ? trial->model_hash : NULL,
                                      .parameters = trial->parameters,
                                      .multiply_adds = trial->multiply_adds,
                                      .data = data->name,
                                      .unit = data->rows.unit,
                                      .train_hash = data->train_hash,
                                      .test_hash = data->test_hash,
                                      .train_count = data->train_count,
                                      .test_count = data->test_count,
                                      .verified = data->is_decoded ? YS_NAME_NONE : data->verified,
                                      .skipped = data->is_decoded ? data->skipped : YS_FIELD_NONE,
                                      .classes = data->rows.classes > 0 ? data->rows.classes : YS_FIELD_NONE,
                                      .left_out = data->left_out,
                                      .source = data->source,
                                      .form = form};
        ys_json_append(works, ys_record_json(&ys_study_work_record, &work));
        if (!data->verified && !was_told(study, i))
            ys_log_warn("the data set %s is not the published one: its training rows have SHA-256 %s", data->name,
                        data->train_hash);
    }
}

ys_json *ys_study_document(struct ys_study *study, const struct ys_job *job)
{
    ys_json *works = ys_json_array();
    describe_work(study, works);
    char hash[YS_SHA256_TEXT] = "", *text = ys_json_dump(job->trials, YS_JSON_SORTED);
    ys_sha256_text(text, strlen(text), hash);
    ys_free(text);
    struct ys_study_record record;
    ys_record_init(&ys_study_record, &record);
    record.name = study->keys.name ? study->keys.name : "study";
    record.job_text = job->text;
    record.job_hash = hash;
    ys_json *keys = ys_json_copy(job->study);
    record.job = keys;
    ys_json_set_string(keys, "interleave", ys_name_of(&ys_interleaves, study->keys.interleave));
    record.trials_planned = (int64_t)study->set.count;
    record.started_s = ys_date_s();
    record.seed = (int64_t)study->seed;
    record.command = study->options->command;
    record.version = YS_VERSION;
    record.model_info = works;
    ys_json *document = ys_record_json(&ys_study_record, &record);
    ys_json_free(keys);
    ys_json_free(works);
    return document;
}

ys_status ys_study_find_folder(struct ys_study *study)
{
    ys_json *document = NULL;
    struct ys_study_record stored;
    struct ys_study_timing timing;
    YS_TRY(ys_store_study_get(study->store, study->id, &document));
    ys_study_record_read(document, &stored, &timing);
    study->folder = ys_path_join(ys_store_folder(study->store), stored.folder ? stored.folder : "");
    ys_json_free(document);
    return ys_fs_make_dirs(study->folder);
}

ys_status ys_study_write_job(const struct ys_study *study, const struct ys_job *job)
{
    char *given = ys_path_join(study->folder, "job.ys"), *resolved = ys_path_join(study->folder, "job.json");
    ys_json *all = ys_json_object();
    ys_status status = YS_OK;
    if (job->text)
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

struct proof_progress {
    const char *id;
    struct ys_inputs inputs;
};

static void on_progress(void *context, const char *what)
{
    const struct proof_progress *proving = context;
    ys_progress("proving %s: %s", proving->id, what);
}

static ys_status check_inputs(void *context)
{
    const struct proof_progress *proving = context;
    return ys_inputs_check(&proving->inputs);
}

ys_status ys_study_prove_one(struct ys_study *study, const struct ys_trial *trial, struct ys_proof *proof)
{
    struct ys_work work;
    if (!trial->framework->no_work)
        YS_TRY(ys_study_find_oracle(study));
    YS_TRY(ys_study_prepare(study, trial, 0, YS_VERIFY_STEPS, &work));
    struct proof_progress proving = {.id = trial->record.id, .inputs = {.trial = trial, .work = &work}};
    struct ys_plan plan;
    ys_status status = ys_work_plan(&work, trial, study->seed, "", &plan);
    if (status == YS_OK)
        ys_work_plan_here(trial, &plan);
    struct ys_verify_request request = {
        .framework = trial->framework,
        .plan = &plan,
        .env = trial->record.env,
        .stall_limit_s = ys_trial_limit_s(trial->record.keys.stall_limit),
        .fresh = study->options->fresh_proofs && !trial->is_proven_aside,
        .all_steps = study->options->all_steps,
        .meaning_only = study->options->meaning_only,
        .on_progress = on_progress,
        .check_inputs = check_inputs,
        .context = &proving,
    };
    if (status == YS_OK)
        status = ys_verify_prove(study->verifier, &request, proof);
    /* Of what was not proven there is no trace. */
    if (status == YS_OK && study->options->trace && proof->verdict != YS_PROOF_NONE)
        status = ys_verify_trace(study->verifier, &request, proof);
    ys_progress_clear();
    ys_plan_fini(&plan);
    ys_work_fini(&work);
    return status;
}

void ys_study_begin_live(struct ys_study *study)
{
    ys_live_fini(&study->live);
    ys_live_init(&study->live, study->set.count);
    study->live.pause_s = isnan(study->keys.cooldown_s) ? 0 : study->keys.cooldown_s;
    for (size_t i = 0; i < study->set.count; i++) {
        const struct ys_trial *trial = &study->set.items[i];
        struct ys_live_trial *live = &study->live.trials[i];
        live->id = trial->record.id;
        live->planned = ys_trial_can_run(trial) ? study->rounds : 0;
        live->done = trial->successes + trial->failures;
        live->failed = trial->failures;
        live->over = !ys_trial_can_run(trial) || trial->given_up;
    }
    ys_study_show_live(study);
}

void ys_study_show_live(const struct ys_study *study)
{
    struct ys_buf lines = {0};
    const size_t room = ys_progress_room();
    if (room < 3)
        return;
    ys_live_print(&study->live, room, &lines);
    ys_progress_above(ys_buf_text(&lines));
    ys_buf_free(&lines);
}
