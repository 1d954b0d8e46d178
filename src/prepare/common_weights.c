#include "prepare/common_weights.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "crew/run_spec.h"
#include "framework/start_env.h"
#include "prepare/inputs.h"
#include "probe/host.h"
#include "run/execute.h"
#include "verify/oracle/twin.h"

#include <string.h>
#include <unistd.h>

#define TEACH_VERSION 1 /* part of the key: raise it when the same inputs would give other weights */

void ys_common_weights_fini(struct ys_common_weights *taught)
{
    ys_shelf_release(&taught->files);
    ys_free(taught->weights_path);
    ys_record_free(&ys_facts_record, taught->failure);
    *taught = (struct ys_common_weights){0};
}

/* One training of the built-in engine. */
struct weights_training {
    const struct ys_teacher *teacher;
    struct ys_trial trial; /* what it trains: the trial's work, in no format and with no option but its own */
    struct ys_work work;
    uint64_t seed;
    int twin;                 /* 0: it begins with the initial weights as they are */
    const char *id;           /* of the trial that wants the weights */
    struct ys_facts *failure; /* of a run that failed; owned */
};

/* The trial as the built-in engine trains it. */
static ys_status describe_lesson(const struct ys_trial *trial, int twin, struct ys_trial_record *record)
{
    struct ys_trial_record plain = trial->record; /* borrows */
    char builtin[] = "builtin";
    plain.keys.mode = YS_MODE_TRAIN;
    plain.keys.framework = builtin;
    plain.keys.precision = YS_PRECISION_F32;
    plain.keys.requests = YS_FIELD_NONE;
    plain.keys.batch = ys_settings_taught_batch(&trial->record.keys);
    plain.keys.global_batch = YS_FIELD_NONE;
    plain.env = plain.options = NULL;
    if (twin) {
        plain.keys.batch = ys_settings_rows(&trial->record.keys);
        plain.keys.precision = trial->record.keys.precision;
        plain.keys.ranks = plain.keys.nodes = plain.keys.ranks_per_node = plain.keys.eval_every = YS_FIELD_NONE;
    }
    return ys_record_copy(&ys_trial_record, &plain, record);
}

static ys_status begin_lesson(struct weights_training *lesson, const struct ys_trial *wants)
{
    struct ys_trial *trial = &lesson->trial;
    *trial = (struct ys_trial){.data = wants->data,
                               .steps = lesson->twin ? wants->steps : wants->taught_steps,
                               .parameters = wants->parameters,
                               .multiply_adds = wants->multiply_adds,
                               .threads = ys_host_cpus_allowed()};
    trial->cpu_count = (size_t)trial->threads;
    trial->cpus = ys_alloc(trial->cpu_count, sizeof *trial->cpus);
    YS_TRY(ys_host_cpu_pick(trial->threads, trial->cpus));
    YS_TRY(describe_lesson(wants, lesson->twin, &trial->record));
    return ys_work_prepare(trial, lesson->seed, 0, &lesson->work);
}

static void end_lesson(struct weights_training *lesson)
{
    ys_work_fini(&lesson->work);
    ys_record_fini(&ys_trial_record, &lesson->trial.record);
    ys_free(lesson->trial.cpus);
    ys_record_free(&ys_facts_record, lesson->failure);
}

static void on_progress(void *context, enum ys_stage stage, double fraction)
{
    const struct weights_training *lesson = context;
    ys_progress("%s: its weights, by the built-in engine: %s %.0f%%", lesson->id, ys_stage_name(stage), fraction * 100);
}

static ys_status run_lesson(struct weights_training *lesson, const struct ys_plan *plan, const char *folder,
                            struct ys_run_record *record)
{
    const struct ys_framework *teacher = lesson->teacher->engine;
    const struct ys_trial_settings *keys = &lesson->trial.record.keys;
    char **env = NULL;
    ys_start_env(teacher, lesson->trial.threads, NULL, NULL, &env);
    const struct ys_run_spec spec = {
        .plan = plan,
        .on_progress = on_progress,
        .context = lesson,
        .launch = {.argv = (const char *const *)teacher->argv,
                   .program = YS_PROGRAM_OWN,
                   .env = (const char *const *)env,
                   .folder = folder,
                   .cpus = lesson->trial.cpus,
                   .cpu_count = lesson->trial.cpu_count,
                   .stall_limit_s = ys_trial_limit_s(keys->stall_limit),
                   .run_time_limit_s = lesson->teacher->limit_s},
    };
    const ys_status status = ys_run_execute(&spec, record);
    ys_start_env_free(env);
    return status;
}

/* The run's facts, said to be those of the training. */
static ys_status note_failure(struct weights_training *lesson, const struct ys_facts *facts)
{
    struct ys_facts *failure = ys_alloc(1, sizeof *failure);
    const ys_status copied = ys_facts_copy(facts, failure);
    if (copied != YS_OK) {
        ys_free(failure);
        return copied;
    }
    lesson->failure = failure;
    char *message = ys_format("the built-in engine could not train the weights: %s",
                              facts->message ? facts->message : "no message");
    ys_free(failure->message);
    failure->message = message;
    return ys_fail(YS_EIO, "%s", message);
}

/* A twin's plan begins with weights of its own, new in *moved. */
static ys_status move_start(const struct weights_training *lesson, const char *folder, struct ys_plan *plan,
                            char **moved)
{
    *moved = NULL;
    if (!lesson->twin)
        return YS_OK;
    *moved = ys_path_join(folder, "moved.safetensors");
    YS_TRY(ys_twin_write_weights((int64_t)lesson->seed, lesson->twin, 1, (enum ys_precision)plan->precision,
                                 plan->weights, *moved));
    ys_set_text(&plan->weights, *moved);
    return YS_OK;
}

/* Leaves YS_RUN_WEIGHTS_NAME in `folder`. */
static ys_status fill(void *context, const char *folder)
{
    struct weights_training *lesson = context;
    struct ys_run_record record = {0};
    struct ys_plan plan;
    char *moved;
    YS_TRY(ys_work_plan(&lesson->work, &lesson->trial, lesson->seed, folder, &plan));
    ys_status status = move_start(lesson, folder, &plan, &moved);
    if (status == YS_OK)
        status = run_lesson(lesson, &plan, folder, &record);
    ys_progress_clear();
    if (moved)
        (void)unlink(moved);
    ys_free(moved);
    if (status == YS_OK && record.facts.status != YS_RUN_OK)
        status = note_failure(lesson, &record.facts);
    const struct ys_inputs inputs = {.trial = &lesson->trial, .work = &lesson->work};
    if (status == YS_OK)
        status = ys_inputs_check(&inputs);
    ys_run_record_fini(&record);
    ys_plan_fini(&plan);
    return status;
}

/* Hash over all that the weights depend on. */
static ys_status key_of(const struct weights_training *lesson, char key[YS_SHA256_TEXT])
{
    struct ys_plan plan;
    YS_TRY(ys_work_plan(&lesson->work, &lesson->trial, lesson->seed, "", &plan));
    ys_json *said = ys_record_json(&ys_plan_optimizer_record, &plan.optimizer);
    char *optimizer = ys_json_dump(said, YS_JSON_SORTED);
    char *all =
        ys_format("taught %d|%s|%s|%s", TEACH_VERSION, lesson->work.key, optimizer, lesson->teacher->engine->closure);
    if (lesson->twin) {
        char *of_twin = ys_format("%s|twin %d", all, lesson->twin);
        ys_free(all);
        all = of_twin;
    }
    ys_sha256_text(all, strlen(all), key);
    ys_json_free(said);
    ys_plan_fini(&plan);
    ys_free(optimizer);
    ys_free(all);
    return YS_OK;
}

static ys_status teach(struct weights_training *lesson, const struct ys_trial *trial, struct ys_common_weights *taught)
{
    YS_TRY(begin_lesson(lesson, trial));
    YS_TRY(key_of(lesson, taught->key));
    ys_status status = ys_work_shelve(taught->key, fill, lesson, &taught->files);
    if (lesson->failure && status == YS_EIO) {
        taught->failure = lesson->failure;
        lesson->failure = NULL;
        return YS_OK;
    }
    if (status == YS_OK)
        taught->weights_path = ys_path_join(taught->files.folder, YS_RUN_WEIGHTS_NAME);
    return status;
}

static ys_status take(const struct ys_teacher *teacher, const struct ys_trial *trial, uint64_t seed, int twin,
                      struct ys_common_weights *taught)
{
    struct weights_training lesson = {.teacher = teacher, .seed = seed, .twin = twin, .id = trial->record.id};
    ys_status status = teach(&lesson, trial, taught);
    end_lesson(&lesson);
    if (status != YS_OK)
        ys_common_weights_fini(taught);
    return status;
}

ys_status ys_common_weights_open(const struct ys_teacher *teacher, const struct ys_trial *trial,
                                 const struct ys_work *work, uint64_t seed, struct ys_common_weights *taught)
{
    *taught = (struct ys_common_weights){0};
    if (trial->taught_steps == 0) {
        memcpy(taught->key, work->values_key, sizeof taught->key);
        taught->weights_path = ys_strdup(work->weights_path);
        return YS_OK;
    }
    return take(teacher, trial, seed, 0, taught);
}

ys_status ys_twin_weights_open(const struct ys_teacher *teacher, const struct ys_trial *trial, uint64_t seed, int twin,
                               struct ys_common_weights *taught)
{
    *taught = (struct ys_common_weights){0};
    return take(teacher, trial, seed, twin, taught);
}
