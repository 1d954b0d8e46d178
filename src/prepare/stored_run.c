#include "prepare/stored_run.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "framework/network_file.h"
#include "framework/start_env.h"
#include "graph/graph.h"
#include "prepare/agreement.h"
#include "prepare/stored_files.h"
#include "run/execute.h"
#include "verify/oracle/proof_plan.h"
#include "verify/oracle/tensor_error.h"
#include "verify/oracle/twin.h"
#include "verify/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STORED_VERSION 4 /* part of the key: raise it when the same model would get another reference or bound */

static const char LOGITS_NAME[] = "logits.safetensors", WEIGHTS_NAME[] = "weights.safetensors",
                  GRAPH_NAME[] = "graph.json";

/* The session that saves. */

static ys_status save(struct ys_stored_run *run, const struct ys_plan *plan)
{
    const struct ys_trial *trial = run->trial;
    struct ys_run_record record = {0};
    char **env = NULL;
    ys_start_env(trial->framework, (int)plan->threads, plan->options, trial->record.env, &env);
    const struct ys_run_spec spec = {.plan = plan,
                                     .requests = 1,
                                     .stored = &run->stored,
                                     .launch = {.argv = (const char *const *)trial->framework->argv,
                                                .env = (const char *const *)env,
                                                .folder = plan->folder,
                                                .kept = trial->framework->cache,
                                                .cpus = trial->cpus,
                                                .cpu_count = trial->cpu_count,
                                                .stall_limit_s = ys_trial_limit_s(trial->record.keys.stall_limit),
                                                .run_time_limit_s = run->teacher->limit_s}};
    ys_progress("%s: saving the model", trial->record.id);
    ys_status status = ys_run_execute(&spec, &record);
    ys_progress_clear();
    if (status == YS_OK && record.facts.status != YS_RUN_OK) {
        run->failure = ys_alloc(1, sizeof *run->failure);
        status = ys_facts_copy(&record.facts, run->failure);
    }
    ys_run_record_fini(&record);
    ys_start_env_free(env);
    return status;
}

static ys_status save_planned(struct ys_stored_run *run)
{
    struct ys_plan plan;
    YS_TRY(ys_fs_make_dirs(run->saving));
    YS_TRY(ys_plan_copy(run->plan, &plan));
    ys_set_text(&plan.folder, run->saving);
    ys_status status = ys_framework_model_file(run->trial->framework, &plan);
    if (status == YS_OK)
        status = save(run, &plan);
    ys_framework_model_file_remove(&plan);
    ys_plan_fini(&plan);
    return status;
}

static void name_forms(struct ys_stored_run *run)
{
    const ys_json *forms = run->trial->framework->forms;
    run->forms = ys_alloc(ys_json_size(forms) + 1, sizeof *run->forms);
    for (size_t i = 0; i < ys_json_size(forms); i++)
        run->forms[i] = ys_json_text(ys_json_at(forms, i), "");
    run->stored.forms = run->forms;
    run->stored.form = run->trial->record.keys.form;
    run->stored.as_said = YS_FIELD_NONE;
}

static ys_status make_room(struct ys_stored_run *run)
{
    struct ys_graph *graph = NULL;
    YS_TRY(ys_graph_read(run->plan->graph, &graph));
    run->stored.rows = run->trial->record.keys.rows;
    run->stored.width = ys_value_row_elements(&graph->values[graph->output]);
    run->stored.logits = ys_alloc((size_t)(run->stored.rows * run->stored.width), sizeof *run->stored.logits);
    ys_graph_free(graph);
    return YS_OK;
}

/* What was saved is all that it gets of weights. */
static void plan_loading(struct ys_stored_run *run)
{
    struct ys_plan_stored *stored = ys_alloc(1, sizeof *stored);
    *stored = (struct ys_plan_stored){ys_strdup(run->stored.form), ys_strdup(run->stored.path)};
    run->plan->stored = stored;
    ys_set_text(&run->plan->weights, NULL);
}

ys_status ys_stored_run_open(const struct ys_teacher *teacher, const struct ys_trial *trial, struct ys_plan *plan,
                             const char *folder, const char *weights_key, struct ys_stored_run *run)
{
    *run = (struct ys_stored_run){
        .teacher = teacher, .trial = trial, .plan = plan, .folder = folder, .weights_key = weights_key};
    run->weights = ys_strdup(plan->weights);
    run->saving = ys_path_join(folder, YS_STORED_SAVING);
    name_forms(run);
    ys_status status = make_room(run);
    if (status == YS_OK)
        status = save_planned(run);
    if (status == YS_OK && !run->failure)
        plan_loading(run);
    if (status != YS_OK)
        ys_stored_run_close(run);
    return status;
}

void ys_stored_run_close(struct ys_stored_run *run)
{
    if (run->saving)
        ys_stored_files_remove(run->saving);
    ys_free(run->weights);
    ys_free(run->saving);
    ys_free(run->forms);
    ys_free(run->stored.path);
    ys_free(run->stored.logits);
    ys_record_free(&ys_facts_record, run->failure);
    *run = (struct ys_stored_run){0};
}

/* What the network gives whose weights are rounded to the stored type. Whether the numbers that pixels are normalised
 * by were rounded too nobody tells: what it gives for each way that is known is a reference, and the nearest one
 * counts. */
static const enum ys_stored_constants KINDS[] = {YS_CONSTANTS_WHOLE, YS_CONSTANTS_DIVISOR_WHOLE, YS_CONSTANTS_ROUNDED};

struct stored_reference {
    const struct ys_stored_run *run;
    enum ys_stored_type type;
    int units; /* in float32's last place, by which twins' weights are moved */
};

static ys_status ask(const struct stored_reference *of, const struct ys_plan *plan, double *values)
{
    const struct ys_run_stored *stored = &of->run->stored;
    char *reason = NULL;
    YS_TRY(ys_logits_ask(of->run->teacher->engine, plan, NULL, stored->rows, stored->width, values, &reason));
    ys_status status = reason ? ys_fail(YS_EPROTOCOL, "the built-in engine ended as %s", reason) : YS_OK;
    ys_free(reason);
    return status;
}

static int64_t kinds_of(enum ys_stored_type type)
{
    return type == YS_STORED_F32 ? 1 : (int64_t)(sizeof KINDS / sizeof *KINDS);
}

/* Parameters that are not found may have been merged into others before these were rounded: then nobody knows what was
 * rounded, and twins move by a unit of the stored type. */
static int units_of(const struct ys_facts_stored *found)
{
    if (found->type == YS_STORED_F32 || found->found >= 1)
        return 1;
    return found->type == YS_STORED_F16 ? 1 << 13 : 1 << 16;
}

static ys_status write_twin(const struct stored_reference *of, int twin, const char *weights, const char *folder,
                            struct ys_plan *plan)
{
    YS_TRY(ys_twin_write_all(plan, twin, plan->steps, folder));
    return of->units == 1
               ? YS_OK
               : ys_twin_write_weights(plan->seed, twin, of->units, YS_PRECISION_F32, weights, plan->weights);
}

static ys_status make_plan(const struct stored_reference *of, const char *backend, int precision, const char *weights,
                           const char *folder, struct ys_plan *made)
{
    YS_TRY(ys_proof_plan_builtin(of->run->plan, backend, folder, made));
    made->mode = YS_MODE_INFER;
    made->precision = precision;
    if (made->stored) {
        ys_free(made->stored->form);
        ys_free(made->stored->path);
        ys_free(made->stored);
        made->stored = NULL;
    }
    ys_set_text(&made->weights, weights);
    ys_free(made->graph);
    made->graph = ys_path_join(folder, GRAPH_NAME);
    return YS_OK;
}

static struct ys_tensor matrix_of(const struct ys_run_stored *stored, const char *name, const double *values)
{
    return (struct ys_tensor){.name = name,
                              .dtype = YS_F64,
                              .rank = 2,
                              .shape = {stored->rows, stored->width},
                              .data = values,
                              .size_bytes = (size_t)(stored->rows * stored->width) * sizeof *values};
}

/* How far rounding alone moves them, as of answers that are audited (verify/audits/judge_answers.h). */
static ys_status ask_twins(const struct stored_reference *of, const char *weights, const char *folder,
                           const double *reference, double *worst)
{
    const struct ys_run_stored *stored = &of->run->stored;
    double *values = ys_alloc((size_t)(stored->rows * stored->width), sizeof *values);
    const struct ys_tensor right = matrix_of(stored, "logits", reference),
                           twin_logits = matrix_of(stored, "twin", values);
    ys_status status = YS_OK;
    *worst = YS_VERIFY_TWIN_LEAST;
    for (int twin = 0; status == YS_OK && twin < YS_VERIFY_TWINS; twin++) {
        struct ys_plan plan;
        status = make_plan(of, NULL, of->run->plan->precision, weights, folder, &plan);
        if (status != YS_OK)
            break;
        status = write_twin(of, twin, weights, folder, &plan);
        if (status == YS_OK)
            status = ask(of, &plan, values);
        ys_plan_fini(&plan);
        if (status == YS_OK)
            *worst = fmax(*worst, ys_error_max(&twin_logits, &right));
    }
    ys_free(values);
    return status;
}

/* In double, by the weights, of the network as GRAPH_NAME has it. */
static ys_status ask_exactly(const struct stored_reference *of, const char *weights, const char *folder, double *values)
{
    struct ys_plan plan;
    YS_TRY(make_plan(of, "ref", YS_PRECISION_F64, weights, folder, &plan));
    ys_status status = ask(of, &plan, values);
    ys_plan_fini(&plan);
    return status;
}

static ys_status ask_all(const struct stored_reference *of, const char *weights, const char *folder, double *values,
                         double *worst)
{
    const int64_t each = of->run->stored.rows * of->run->stored.width;
    char *graph = ys_path_join(folder, GRAPH_NAME);
    ys_status status = YS_OK;
    for (int64_t i = 0; status == YS_OK && i < kinds_of(of->type); i++) {
        status = ys_stored_round_graph(of->run->plan->graph, of->type, KINDS[i], graph);
        if (status == YS_OK)
            status = ask_exactly(of, weights, folder, values + i * each);
        if (status == YS_OK && i == 0)
            status = ask_twins(of, weights, folder, values, worst);
    }
    ys_free(graph);
    return status;
}

static ys_status fill_with(const struct stored_reference *of, const char *weights, const char *logits,
                           const char *folder)
{
    const struct ys_run_stored *stored = &of->run->stored;
    const int64_t count = kinds_of(of->type) * stored->rows * stored->width;
    double *values = ys_alloc((size_t)count, sizeof *values), worst;
    ys_status status = ask_all(of, weights, folder, values, &worst);
    if (status == YS_OK) {
        const struct ys_tensor tensors[] = {
            {.name = "logits",
             .dtype = YS_F64,
             .rank = 3,
             .shape = {kinds_of(of->type), stored->rows, stored->width},
             .data = values,
             .size_bytes = (size_t)count * sizeof *values},
            {.name = "worst", .dtype = YS_F64, .rank = 1, .shape = {1}, .data = &worst, .size_bytes = sizeof worst}};
        status = ys_safetensors_write(logits, tensors, 2, NULL);
    }
    ys_free(values);
    return status;
}

static ys_status fill(void *context, const char *folder)
{
    const struct stored_reference *of = context;
    char *weights = ys_path_join(folder, WEIGHTS_NAME), *logits = ys_path_join(folder, LOGITS_NAME);
    ys_progress("%s: asking the oracle", of->run->trial->record.id);
    ys_status status = ys_stored_round_weights(of->run->weights, of->type, weights);
    if (status == YS_OK)
        status = fill_with(of, weights, logits, folder);
    ys_progress_clear();
    ys_free(weights);
    ys_free(logits);
    return status;
}

/* Hash over all that they depend on. */
static void key_of(const struct stored_reference *of, char key[YS_SHA256_TEXT])
{
    const struct ys_stored_run *run = of->run;
    char *all = ys_format("stored %d|%s|%s|%lld|%lld|%d|%d|%d|%s", STORED_VERSION, run->weights_key,
                          run->trial->data->test_hash, (long long)run->stored.rows, (long long)run->plan->batch,
                          run->plan->precision, (int)of->type, of->units, run->teacher->engine->closure);
    ys_sha256_text(all, strlen(all), key);
    ys_free(all);
}

/* Error and bound of what it answered. */
static ys_status compare(const struct ys_stored_run *run, const char *path, struct ys_facts_stored *found)
{
    const struct ys_run_stored *stored = &run->stored;
    const struct ys_tensor said = matrix_of(stored, "logits", stored->logits), *all, *worst;
    const int64_t kinds = kinds_of((enum ys_stored_type)found->type);
    struct ys_safetensors *file = NULL;
    YS_TRY(ys_safetensors_open(path, &file));
    ys_status status =
        ys_safetensors_need(file, "logits", YS_F64, 3, (int64_t[]){kinds, stored->rows, stored->width}, &all);
    if (status == YS_OK)
        status = ys_safetensors_need(file, "worst", YS_F64, 1, (int64_t[]){1}, &worst);
    if (status == YS_OK) {
        found->logits_error = (double)INFINITY;
        for (int64_t i = 0; i < kinds; i++) {
            const double *values = (const double *)all->data + i * stored->rows * stored->width;
            const struct ys_tensor right = matrix_of(stored, "right", values);
            const double error = ys_error_max(&said, &right);
            found->logits_error = error < found->logits_error ? error : found->logits_error;
        }
        found->logits_bound = YS_VERIFY_TWIN_FACTOR * ys_tensor_value(worst, 0);
    }
    ys_safetensors_close(file);
    return status;
}

static ys_status judge(const struct ys_stored_run *run, struct ys_facts *facts)
{
    struct ys_facts_stored *found = facts->stored;
    const struct stored_reference of = {run, (enum ys_stored_type)found->type, units_of(found)};
    struct ys_shelf_item item = {0};
    char key[YS_SHA256_TEXT];
    key_of(&of, key);
    YS_TRY(ys_work_shelve(key, fill, (void *)(uintptr_t)&of, &item));
    char *path = ys_path_join(item.folder, LOGITS_NAME);
    ys_status status = compare(run, path, found);
    ys_free(path);
    ys_shelf_release(&item);
    if (status != YS_OK || found->logits_error <= found->logits_bound)
        return status;
    char *message =
        ys_format("the logits of the model that it loaded lie %.3g of the largest from those of its weights "
                  "in %s; rounding allows %.3g",
                  found->logits_error, ys_name_of(&ys_stored_types, found->type), found->logits_bound);
    facts->status = YS_RUN_WRONG_OUTPUT;
    facts->stage = YS_STAGE_FORWARD;
    ys_set_text(&facts->message, message);
    ys_free(message);
    if (!isfinite(found->logits_error))
        found->logits_error = (double)NAN;
    return YS_OK;
}

/* What a framework's defaults make of it. */
static void note_deviations(struct ys_facts *facts)
{
    const struct ys_facts_stored *found = facts->stored;
    char text[120];
    if (found->parameter_bytes != YS_FIELD_NONE && found->copies >= 1.01) {
        snprintf(text, sizeof text, "each parameter is stored %.3g times", found->copies);
        ys_facts_add_deviation(facts, text);
    }
    if (found->type != YS_STORED_F32) {
        snprintf(text, sizeof text, "parameters are stored in %s, half of their bytes in float32",
                 ys_name_of(&ys_stored_types, found->type));
        ys_facts_add_deviation(facts, text);
    }
    if (!found->has_graph)
        ys_facts_add_deviation(facts, "weights alone are stored: the network is not in them");
}

ys_status ys_stored_run_judge(const struct ys_stored_run *run, struct ys_facts *facts)
{
    facts->stored = ys_alloc(1, sizeof *facts->stored);
    ys_record_init(&ys_facts_stored_record, facts->stored);
    facts->stored->form = ys_strdup(run->stored.form);
    facts->stored->has_graph = facts->said.has_graph;
    facts->stored->runtime_bytes = run->stored.runtime_bytes;
    facts->stored->interpreter_bytes = run->stored.interpreter_bytes;
    facts->stored->libc_bytes = run->stored.libc_bytes;
    YS_TRY(ys_stored_files_count(run->stored.path, run->weights, run->stored.as_said, facts->stored));
    note_deviations(facts);
    return judge(run, facts);
}
