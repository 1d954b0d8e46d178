#include "prepare/attacked_framework.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "framework/start_env.h"
#include "graph/graph.h"
#include "prepare/work.h"
#include "protocol/request.h"
#include "robust/attackable.h"
#include "run/execute.h"
#include "verify/oracle/evidence.h"
#include "verify/oracle/proof_plan.h"
#include "verify/oracle/twin.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define ATTACKED_VERSION 1 /* part of the key: raise it when the same inputs would have other outcomes */
#define OUTCOMES_NAME    "outcomes.json"

/* Of so many rows one may have another outcome: rounding decides it. */
enum { ROWS_OF_ONE = 200, TWINS = 2 };

/* The evaluator: the built-in engine, in double, with the same weights. */
struct ys_attacked_judge {
    struct ys_plan plan;
    struct ys_session *session;
    struct ys_feeder feeder;
    struct ys_gradient_asker asker;
};

static void end_judge(struct ys_attacked_judge *judge)
{
    if (!judge)
        return;
    struct ys_session_end end;
    ys_gradient_asker_close(&judge->asker);
    if (judge->session) {
        ys_session_close(judge->session, &end);
        ys_session_end_fini(&end);
    }
    ys_plan_fini(&judge->plan);
    ys_free(judge);
}

/* The plan of the run, for the built-in engine in a folder of its own. */
static ys_status engine_plan(const struct ys_attacked_framework *attacked, const char *name,
                             enum ys_precision precision, struct ys_plan *plan)
{
    char *folder = ys_path_join(attacked->folder, name);
    YS_TRY(ys_plan_copy(attacked->plan, plan));
    plan->precision = precision;
    ys_proof_plan_backend(plan, NULL);
    ys_set_text(&plan->folder, folder);
    const ys_status status = ys_fs_make_dirs(folder);
    ys_free(folder);
    if (status != YS_OK)
        ys_plan_fini(plan);
    return status;
}

static ys_status begin_judge(struct ys_attacked_framework *attacked)
{
    struct ys_attacked_judge *judge = ys_alloc(1, sizeof *judge);
    ys_json *reply = NULL;
    *judge = (struct ys_attacked_judge){0};
    const ys_status planned = engine_plan(attacked, "judge", YS_PRECISION_F64, &judge->plan);
    if (planned != YS_OK) {
        ys_free(judge);
        return planned;
    }
    attacked->judge = judge;
    YS_TRY(ys_evidence_start(attacked->teacher->engine, &judge->plan, NULL, YS_EVIDENCE_PATIENCE_S, 0, &judge->session,
                             NULL));
    YS_TRY(ys_session_request(judge->session, ys_request_open(&judge->plan), NULL, NULL, &reply));
    ys_json_free(reply);
    ys_gradient_asker_open(judge->session, &attacked->asks.form, judge->plan.folder, true, &judge->asker);
    return YS_OK;
}

/* What it says is yardstick's own: a failure of it is none of the framework's. */
static ys_status judge_images(void *of, const float *images, size_t count, double *logits)
{
    struct ys_attacked_framework *attacked = of;
    const size_t batch = (size_t)attacked->asks.form.shape[0], pixels = ys_gradient_pixels(&attacked->asks.form);
    ys_status status = attacked->judge ? YS_OK : begin_judge(attacked);
    for (size_t from = 0; status == YS_OK && from < count; from += batch)
        status = ys_gradient_ask(&attacked->judge->asker, images + from * pixels, NULL,
                                 count - from < batch ? count - from : batch,
                                 logits + from * (size_t)attacked->asks.form.classes, NULL);
    if (status == YS_OK || status == YS_EINTR)
        return status;
    char *message = ys_strdup(ys_error());
    status = ys_fail(YS_EINTERNAL, "the built-in engine could not judge what attacks made: %s", message);
    ys_free(message);
    return status;
}

static void tell(void *of, double done_part, const char *what)
{
    const struct ys_attacked_framework *attacked = of;
    (void)what;
    if (attacked->on_progress)
        attacked->on_progress(attacked->context, YS_STAGE_INPUT_GRADIENT, done_part);
}

static ys_status drive(void *of, const struct ys_attacked *model)
{
    struct ys_attacked_framework *attacked = of;
    const int64_t restarts = attacked->trial->record.keys.attack_restarts;
    const struct ys_attack_spec spec = {.attacks = attacked->attacks,
                                        .images = attacked->images,
                                        .labels = attacked->labels,
                                        .rows = attacked->rows,
                                        .restarts = restarts == YS_FIELD_NONE ? 1 : (size_t)restarts,
                                        .seed = attacked->seed,
                                        .curve = attacked->curve,
                                        .curve_count = attacked->curve_count,
                                        .judge = judge_images,
                                        .judge_of = attacked,
                                        .progress = tell,
                                        .progress_of = attacked};
    return ys_attack_model(model, &spec, &attacked->found);
}

/* Pixels of bytes as numbers in [0, 1], and labels. */
static ys_status read_rows(struct ys_attacked_framework *attacked)
{
    const char *path = attacked->trial->data->test_path;
    const struct ys_tensor *x, *y;
    struct ys_safetensors *file = NULL;
    const size_t pixels = ys_gradient_pixels(&attacked->asks.form);
    YS_TRY(ys_safetensors_open(path, &file));
    ys_status status = ys_safetensors_need(file, attacked->input, YS_U8, 4, NULL, &x);
    if (status == YS_OK)
        status = ys_safetensors_need(file, "y", YS_I64, 1, NULL, &y);
    if (status == YS_OK && ((size_t)x->shape[0] < attacked->rows || (size_t)y->shape[0] < attacked->rows ||
                            ys_tensor_count(x) / (size_t)x->shape[0] != pixels))
        status =
            ys_fail(YS_EFORMAT, "%s has not the %zu rows to attack, in the shape of the network", path, attacked->rows);
    if (status == YS_OK) {
        attacked->images = ys_alloc(attacked->rows * pixels, sizeof *attacked->images);
        attacked->labels = ys_alloc(attacked->rows, sizeof *attacked->labels);
        for (size_t i = 0; i < attacked->rows * pixels; i++)
            attacked->images[i] = (float)(((const uint8_t *)x->data)[i] / attacked->asks.form.unit);
        memcpy(attacked->labels, y->data, attacked->rows * sizeof *attacked->labels);
    }
    ys_safetensors_close(file);
    return status;
}

static ys_status read_form(struct ys_attacked_framework *attacked)
{
    struct ys_graph *graph = NULL;
    YS_TRY(ys_graph_read(attacked->plan->graph, &graph));
    const struct ys_value *input = &graph->values[graph->inputs[0]], *output = &graph->values[graph->output];
    struct ys_gradient_form *form = &attacked->asks.form;
    ys_status status = YS_OK;
    const char *obstacle = ys_attack_obstacle(graph);
    if (obstacle)
        status = ys_fail(YS_EINVAL, "%s cannot be attacked: %s", graph->name, obstacle);
    attacked->input = ys_strdup(input->name);
    *form = (struct ys_gradient_form){
        .input = attacked->input, .rank = input->rank, .classes = output->shape[output->rank - 1], .unit = 255};
    memcpy(form->shape, input->shape, sizeof form->shape);
    form->shape[0] = attacked->plan->batch;
    ys_graph_free(graph);
    return status;
}

static ys_status fill(struct ys_attacked_framework *attacked)
{
    const struct ys_trial_settings *keys = &attacked->trial->record.keys;
    YS_TRY(ys_attacks_read(keys->attack ? keys->attack : "", &attacked->attacks));
    if (keys->attack_curve)
        YS_TRY(ys_attack_read_curve(keys->attack_curve, attacked->curve, &attacked->curve_count));
    attacked->rows = (size_t)keys->attack_rows;
    YS_TRY(read_form(attacked));
    attacked->asks.drive = drive;
    attacked->asks.of = attacked;
    attacked->asks.times = &attacked->times;
    return read_rows(attacked);
}

ys_status ys_attacked_framework_open(const struct ys_teacher *teacher, const struct ys_trial *trial,
                                     const struct ys_plan *plan, const char *folder, uint64_t seed,
                                     struct ys_attacked_framework *attacked)
{
    *attacked = (struct ys_attacked_framework){
        .teacher = teacher, .trial = trial, .plan = plan, .folder = folder, .seed = seed};
    const ys_status status = fill(attacked);
    if (status != YS_OK)
        ys_attacked_framework_close(attacked);
    return status;
}

void ys_attacked_framework_close(struct ys_attacked_framework *attacked)
{
    end_judge(attacked->judge);
    ys_robustness_fini(&attacked->found);
    ys_free(attacked->images);
    ys_free(attacked->labels);
    ys_free(attacked->input);
    *attacked = (struct ys_attacked_framework){0};
}

/* The same attack of the built-in engine, with `weights`, in a folder `name` of the run's. */
static ys_status attack_engine(const struct ys_attacked_framework *like, const char *weights, const char *name,
                               struct ys_robustness *found)
{
    struct ys_attacked_framework own = *like; /* borrows */
    struct ys_plan plan;
    struct ys_run_record record = {0};
    char **env = NULL;
    own.found = (struct ys_robustness){0};
    own.judge = NULL;
    own.on_progress = NULL;
    own.asks.of = &own;
    own.asks.times = &own.times;
    YS_TRY(engine_plan(like, name, YS_PRECISION_F32, &plan));
    ys_set_text(&plan.weights, weights);
    own.plan = &plan;
    ys_start_env(like->teacher->engine, (int)plan.threads, NULL, NULL, &env);
    const struct ys_run_spec spec = {.plan = &plan,
                                     .requests = 1,
                                     .attack = &own.asks,
                                     .launch = {.argv = (const char *const *)like->teacher->engine->argv,
                                                .program = YS_PROGRAM_OWN,
                                                .env = (const char *const *)env,
                                                .folder = plan.folder,
                                                .cpus = like->trial->cpus,
                                                .cpu_count = like->trial->cpu_count,
                                                .run_time_limit_s = like->teacher->limit_s}};
    ys_progress("%s: the same attacks by the built-in engine", like->trial->record.id);
    ys_status status = ys_run_execute(&spec, &record);
    ys_progress_clear();
    if (status == YS_OK && record.facts.status != YS_RUN_OK)
        status = ys_fail(YS_EIO, "the built-in engine's own attacks ended as %s: %s",
                         ys_run_status_name(record.facts.status),
                         record.facts.message ? record.facts.message : "no message");
    *found = own.found;
    end_judge(own.judge);
    ys_run_record_fini(&record);
    ys_start_env_free(env);
    ys_plan_fini(&plan);
    return status;
}

/* What the built-in engine's outcomes are made from. */
struct outcomes_wanted {
    const struct ys_attacked_framework *like;
    const char *key;
};

static ys_status fill_outcomes(void *context, const char *folder)
{
    const struct outcomes_wanted *wanted = context;
    struct ys_robustness found = {0};
    char *path = ys_path_join(folder, OUTCOMES_NAME);
    ys_status status = attack_engine(wanted->like, wanted->like->plan->weights, "reference", &found);
    if (status == YS_OK) {
        ys_json *json = ys_record_json(&ys_robustness_record, &found);
        status = ys_json_write(path, json);
        ys_json_free(json);
    }
    ys_robustness_fini(&found);
    ys_free(path);
    return status;
}

/* Hash over all that they depend on. */
static void key_of(const struct outcomes_wanted *wanted, char key[YS_SHA256_TEXT])
{
    const struct ys_attacked_framework *like = wanted->like;
    const struct ys_trial_settings *keys = &like->trial->record.keys;
    char *all = ys_format("attacked %d|%s|%s|%s|%s|%lld|%zu|%lld|%llu|%s", ATTACKED_VERSION, wanted->key,
                          like->trial->data->test_hash, keys->attack, keys->attack_curve ? keys->attack_curve : "",
                          (long long)keys->attack_restarts, like->rows, (long long)like->plan->batch,
                          (unsigned long long)like->seed, like->teacher->engine->closure);
    ys_sha256_text(all, strlen(all), key);
    ys_free(all);
}

/* As ys_attack_apart() of attack number `place`, which an answer may lack. */
static int64_t count_apart(const struct ys_robustness *a, const struct ys_robustness *b, size_t place)
{
    const struct ys_attack_result *here = a->attacks.items, *there = b->attacks.items;
    return place < a->attacks.count && place < b->attacks.count ? ys_attack_apart(&here[place], &there[place]) : -1;
}

/* By how many rows the engine's own float twins are apart from it, at most: where rounding decides more of them. */
static ys_status ask_twins(const struct ys_attacked_framework *like, const struct ys_robustness *reference,
                           int64_t *most)
{
    char *path = ys_path_join(like->folder, "twin-weights.safetensors");
    ys_status status = YS_OK;
    for (int twin = 1; status == YS_OK && twin <= TWINS; twin++) {
        struct ys_robustness found = {0};
        status = ys_twin_write_weights((int64_t)like->seed, twin, 1, YS_PRECISION_F32, like->plan->weights, path);
        if (status == YS_OK)
            status = attack_engine(like, path, "twin", &found);
        for (size_t i = 0; status == YS_OK && i < like->attacks.count; i++) {
            const int64_t apart = count_apart(&found, reference, i);
            most[i] = apart > most[i] ? apart : most[i];
        }
        ys_robustness_fini(&found);
    }
    (void)unlink(path); /* which may not be there */
    ys_free(path);
    return status;
}

/* How many rows are right after each: the pictures are the same, and so are the weights. */
static void compare_corruptions(const struct ys_attacked_framework *attacked, const struct ys_robustness *reference,
                                int64_t bound, char **reason)
{
    const struct ys_corruption_result *here = attacked->found.corruptions.items, *there = reference->corruptions.items;
    for (size_t i = 0; i < reference->corruptions.count && !*reason; i++) {
        const int64_t right = i < attacked->found.corruptions.count ? here[i].right : -1;
        if (right < 0)
            *reason = ys_format("%s has no count of rows", there[i].kind);
        else if (right > there[i].right + bound || right < there[i].right - bound)
            *reason =
                ys_format("%s of severity %lld: %lld of %zu rows are right, and with the built-in engine's logits "
                          "%lld; rounding allows %lld more or fewer",
                          there[i].kind, (long long)there[i].severity, (long long)right, attacked->rows,
                          (long long)there[i].right, (long long)bound);
    }
}

static ys_status compare(const struct ys_attacked_framework *attacked, const struct ys_robustness *reference,
                         char **reason)
{
    int64_t bounds[YS_ATTACKS_MOST], twins[YS_ATTACKS_MOST] = {0};
    const int64_t usual = ((int64_t)attacked->rows + ROWS_OF_ONE - 1) / ROWS_OF_ONE;
    bool asked = false;
    for (size_t i = 0; i < attacked->attacks.count; i++) {
        const int64_t apart = count_apart(&attacked->found, reference, i);
        if (apart > usual && !asked) {
            YS_TRY(ask_twins(attacked, reference, twins));
            asked = true;
        }
        bounds[i] = twins[i] > usual ? twins[i] : usual;
        if (apart >= 0 && apart <= bounds[i])
            continue;
        char *attack = ys_attack_text(&attacked->attacks.items[i]);
        *reason = apart < 0 ? ys_format("%s has no outcome for each row", attack)
                            : ys_format("%s: %lld of %zu rows have another outcome than with the built-in engine's "
                                        "gradients; its own twins, moved by rounding alone, allow %lld",
                                        attack, (long long)apart, attacked->rows, (long long)bounds[i]);
        ys_free(attack);
        return YS_OK;
    }
    if (!*reason)
        compare_corruptions(attacked, reference, usual, reason);
    return YS_OK;
}

ys_status ys_attacked_framework_compare(struct ys_attacked_framework *attacked, const char *weights_key, char **reason)
{
    const struct outcomes_wanted wanted = {attacked, weights_key};
    struct ys_shelf_item item = {0};
    struct ys_robustness reference = {0};
    char key[YS_SHA256_TEXT];
    *reason = NULL;
    key_of(&wanted, key);
    YS_TRY(ys_work_shelve(key, fill_outcomes, (void *)(uintptr_t)&wanted, &item));
    ys_status status = ys_shelf_read_record(item.folder, OUTCOMES_NAME, &ys_robustness_record, &reference);
    if (status == YS_OK)
        status = compare(attacked, &reference, reason);
    ys_robustness_fini(&reference);
    ys_shelf_release(&item);
    return status;
}

void ys_attacked_framework_take(struct ys_attacked_framework *attacked, struct ys_facts_robustness *robustness)
{
    struct ys_attack_result *results = attacked->found.attacks.items;
    const struct ys_gradient_times *times = &attacked->times;
    robustness->attack_s = 0;
    for (size_t i = 0; i < attacked->found.attacks.count; i++) {
        robustness->attack_s += results[i].attack_s;
        ys_set_text(&results[i].outcomes, NULL);
    }
    robustness->question_s = robustness->computed_s = (double)NAN;
    if (times->questions > 0)
        robustness->question_s = (double)times->asked_ns * 1e-9 / (double)times->questions;
    if (times->questions > 0 && times->computed_ns >= 0)
        robustness->computed_s = (double)times->computed_ns * 1e-9 / (double)times->questions;
    *robustness->found = attacked->found;
    attacked->found = (struct ys_robustness){0};
}
