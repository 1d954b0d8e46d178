#include "prepare/agreement.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "data/row_order.h"
#include "graph/expose_values.h"
#include "prepare/inputs.h"
#include "probe/host.h"
#include "verify/oracle/evidence.h"
#include "verify/oracle/proof_plan.h"
#include "verify/oracle/tensor_error.h"

#include <math.h>
#include <string.h>

#define AGREEMENT_VERSION 1 /* part of the key: raise it when the same inputs would give other references */

/* Layers are looked at on so many rows, or on fewer where their values in double would take more than so much. */
static const int64_t TAP_ROWS = 8, TAP_BYTES = (int64_t)512 << 20;

void ys_agreement_fini(struct ys_agreement *agreement)
{
    char *paths[] = {agreement->order_path, agreement->tap_path, agreement->tap_order_path, agreement->logits_path,
                     agreement->layers_path};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        ys_free(paths[i]);
    ys_common_weights_fini(&agreement->taught);
    ys_kept_scales_fini(&agreement->scales);
    ys_shelf_release(&agreement->files);
    *agreement = (struct ys_agreement){0};
}

/* Answers of one session: the logits of the rows asked for, row by row. */
struct answers {
    int64_t rows, width;
    double *values;  /* [rows, width] */
    int64_t got;     /* rows so far */
    char *reason;    /* why they are not all there; NULL */
    bool wrong_form; /* a file without logits of that form */
};

static void answers_fini(struct answers *answers)
{
    ys_free(answers->values);
    ys_free(answers->reason);
    *answers = (struct answers){0};
}

/* Takes the logits of the next batch; rows beyond those asked for fill it up. */
static ys_status take(void *context, enum ys_answer answer, int64_t batch, struct ys_safetensors **file)
{
    struct answers *answers = context;
    const struct ys_tensor *logits = ys_safetensors_find(*file, "logits");
    (void)answer;
    (void)batch;
    if (!logits || logits->rank != 2 || logits->shape[1] != answers->width) {
        answers->wrong_form = true;
        return YS_OK;
    }
    for (int64_t r = 0; r < logits->shape[0] && answers->got < answers->rows; r++, answers->got++)
        for (int64_t k = 0; k < answers->width; k++)
            answers->values[answers->got * answers->width + k] =
                ys_tensor_value(logits, (size_t)(r * answers->width + k));
    return YS_OK;
}

/* A session of `framework` with `plan`: forward of all its batches. `answers` has rows and width. An adapter that fails
 * is YS_OK with a reason. */
static ys_status ask(const struct ys_framework *framework, const struct ys_plan *plan, const ys_json *env,
                     double patience_s, struct answers *answers)
{
    const struct ys_questions questions = {.evaluation = true, .batches = plan->steps};
    struct ys_evidence said = {0};
    answers->values = ys_alloc((size_t)(answers->rows * answers->width), sizeof *answers->values);
    ys_status status = ys_evidence_collect(framework, plan, env, patience_s, &questions, take, answers, &said);
    if (status == YS_OK && said.status)
        answers->reason =
            ys_format("%s: %s", ys_run_status_name(said.status), said.message ? said.message : "no message");
    else if (status == YS_OK && (answers->wrong_form || answers->got < answers->rows))
        answers->reason = ys_strdup("wrong_output: its logits have another shape than the graph says");
    ys_evidence_fini(&said);
    return status;
}

ys_status ys_logits_ask(const struct ys_framework *framework, const struct ys_plan *plan, const ys_json *env,
                        int64_t rows, int64_t width, double *values, char **reason)
{
    struct answers answers = {.rows = rows, .width = width};
    ys_status status = ask(framework, plan, env, YS_EVIDENCE_PATIENCE_S, &answers);
    *reason = answers.reason;
    answers.reason = NULL;
    if (status == YS_OK && !*reason)
        memcpy(values, answers.values, (size_t)(rows * width) * sizeof *values);
    answers_fini(&answers);
    return status;
}

/* A copy; `quantise` may be NULL. */
static void put_quantise(struct ys_plan *plan, const struct ys_plan_quantise *quantise)
{
    ys_record_free(&ys_plan_quantise_record, plan->quantise);
    plan->quantise = NULL;
    if (!quantise)
        return;
    plan->quantise = ys_alloc(1, sizeof *plan->quantise);
    *plan->quantise = (struct ys_plan_quantise){.rule = ys_json_copy(quantise->rule),
                                                .data = quantise->data ? ys_strdup(quantise->data) : NULL,
                                                .order = quantise->order ? ys_strdup(quantise->order) : NULL};
}

void ys_agreement_plan(const struct ys_agreement *agreement, const struct ys_trial *trial, struct ys_plan *plan)
{
    plan->steps = agreement->batches;
    ys_set_text(&plan->input.path, trial->data->test_path);
    ys_set_text(&plan->input.order, agreement->order_path);
    ys_set_text(&plan->weights, agreement->taught.weights_path);
    ys_set_text(&plan->scales, agreement->scales.path);
    put_quantise(plan, agreement->scales.quantise);
}

/* `plan` of a prediction, made that of the layers. */
static void tap_plan(const struct ys_agreement *agreement, int64_t rows, struct ys_plan *plan)
{
    plan->batch = rows;
    plan->steps = 1;
    ys_set_text(&plan->input.order, agreement->tap_order_path);
    ys_set_text(&plan->graph, agreement->tap_path);
}

/* All CPUs, whatever the trial has. */
static ys_status take_cpus(struct ys_plan *plan)
{
    int threads = ys_host_cpus_allowed();
    int *picked = ys_alloc((size_t)threads, sizeof *picked);
    int64_t *cpus = ys_alloc((size_t)threads, sizeof *cpus);
    ys_status status = ys_host_cpu_pick(threads, picked);
    for (int i = 0; status == YS_OK && i < threads; i++)
        cpus[i] = picked[i];
    ys_free(picked);
    if (status != YS_OK) {
        ys_free(cpus);
        return status;
    }
    ys_free(plan->cpus.items);
    plan->cpus = (struct ys_list){cpus, (size_t)threads};
    plan->threads = threads;
    return YS_OK;
}

/* What a reference is made from. */
struct reference_work {
    const struct ys_teacher *teacher;
    const struct ys_trial *trial;
    const struct ys_work *work;
    const struct ys_agreement *agreement; /* its paths lie in the folder that is being filled */
    struct ys_facts **failure;            /* of a run, where the built-in engine broke off; the caller's */
};

/* The work as the references do it, by the built-in engine. `plan` owns nothing after a failure. */
static ys_status reference_plan(const struct reference_work *asking, const char *backend, enum ys_precision precision,
                                const char *folder, struct ys_plan *plan)
{
    YS_TRY(ys_work_plan(asking->work, asking->trial, 0, folder, plan));
    plan->precision = precision;
    ys_proof_plan_backend(plan, backend);
    ys_status status = take_cpus(plan);
    if (status != YS_OK) {
        ys_plan_fini(plan);
        return status;
    }
    ys_agreement_plan(asking->agreement, asking->trial, plan);
    ys_set_text(&plan->scales, NULL);
    put_quantise(plan, NULL);
    return YS_OK;
}

/* Batches of the first rows in their order; the last is filled up from the beginning. */
static ys_status write_order(const char *path, int64_t rows, int64_t batch, int64_t batches)
{
    if (batches > YS_ORDER_MAX_ROWS / batch)
        return ys_fail(YS_EINVAL, "%lld batches of %lld rows are more than one run may have: take a smaller batch",
                       (long long)batches, (long long)batch);
    uint32_t *order = ys_alloc((size_t)(batches * batch), sizeof *order);
    double *rates = ys_alloc((size_t)batches, sizeof *rates);
    for (int64_t i = 0; i < batches * batch; i++)
        order[i] = (uint32_t)(i % rows);
    ys_status status = ys_order_save(path, order, NULL, batch, batches, rates);
    ys_free(order);
    ys_free(rates);
    return status;
}

/* The answers as a matrix; it borrows them. */
static struct ys_tensor matrix_of(const struct answers *answers, const char *name)
{
    return (struct ys_tensor){.name = name,
                              .dtype = YS_F64,
                              .rank = 2,
                              .shape = {answers->rows, answers->width},
                              .data = answers->values,
                              .size_bytes = (size_t)(answers->rows * answers->width) * sizeof *answers->values};
}

static ys_status write_values(const char *path, const char *name, const struct answers *answers)
{
    const struct ys_tensor tensor = matrix_of(answers, name);
    return ys_safetensors_write(path, &tensor, 1, NULL);
}

/* As a run that never began: YS_RUN_... `status`, for the reason that ys_error() has. */
static void note_failure(struct ys_facts **failure, int status)
{
    struct ys_facts *facts = ys_alloc(1, sizeof *facts);
    ys_facts_init(facts);
    facts->status = status;
    facts->stage = YS_STAGE_START;
    ys_set_text(&facts->message, ys_error());
    *failure = facts;
}

/* A reference that breaks off (killed for want of memory, say) fails the run that needs it, and nothing else: YS_EIO
 * with facts of a run that never began. */
static ys_status ask_reference(const struct reference_work *asking, const struct ys_plan *plan, struct answers *answers)
{
    YS_TRY(ask(asking->teacher->engine, plan, NULL, YS_EVIDENCE_PATIENCE_S, answers));
    if (!answers->reason)
        return YS_OK;
    ys_status status = ys_fail(YS_EIO, "the built-in engine's own prediction ended as %s", answers->reason);
    answers->reason[strcspn(answers->reason, ":")] = 0;
    int ended = ys_name_find(&ys_run_statuses, answers->reason);
    note_failure(asking->failure, ended == YS_NAME_NONE ? YS_RUN_PROTOCOL_ERROR : ended);
    return status;
}

static int64_t tap_width(const struct ys_tap *tap)
{
    return tap->count ? tap->slices[tap->count - 1].offset + tap->slices[tap->count - 1].length : 0;
}

static int64_t tap_rows(const struct ys_tap *tap, int64_t rows)
{
    int64_t fit = TAP_BYTES / (int64_t)sizeof(double) / (tap_width(tap) > 0 ? tap_width(tap) : 1);
    int64_t most = rows < TAP_ROWS ? rows : TAP_ROWS;
    return fit < 1 ? 1 : fit < most ? fit : most;
}

static ys_status fill_logits(const struct reference_work *asking, const struct ys_graph *graph, const char *folder)
{
    const struct ys_agreement *agreement = asking->agreement;
    struct answers answers = {.rows = agreement->rows, .width = graph->values[graph->output].shape[1]};
    struct ys_plan plan;
    YS_TRY(reference_plan(asking, NULL, YS_PRECISION_F32, folder, &plan));
    ys_status status = ask_reference(asking, &plan, &answers);
    if (status == YS_OK)
        status = write_values(agreement->logits_path, "logits", &answers);
    ys_plan_fini(&plan);
    answers_fini(&answers);
    return status;
}

static ys_status write_tap(const struct ys_agreement *agreement, const struct ys_tap *tap, int64_t rows)
{
    ys_json *json = ys_graph_to_json(tap->graph);
    ys_status status = ys_json_write(agreement->tap_path, json);
    ys_json_free(json);
    return status == YS_OK ? write_order(agreement->tap_order_path, rows, rows, 1) : status;
}

static ys_status fill_layers(const struct reference_work *asking, const struct ys_tap *tap, const char *folder)
{
    const struct ys_agreement *agreement = asking->agreement;
    struct answers answers = {.rows = tap_rows(tap, agreement->rows), .width = tap_width(tap)};
    struct ys_plan plan;
    YS_TRY(write_tap(agreement, tap, answers.rows));
    YS_TRY(reference_plan(asking, "ref", YS_PRECISION_F64, folder, &plan));
    tap_plan(agreement, answers.rows, &plan);
    ys_status status = ask_reference(asking, &plan, &answers);
    if (status == YS_OK)
        status = write_values(agreement->layers_path, "layers", &answers);
    ys_plan_fini(&plan);
    answers_fini(&answers);
    return status;
}

static void name_files(struct ys_agreement *agreement, const char *folder)
{
    agreement->order_path = ys_path_join(folder, "order.safetensors");
    agreement->tap_path = ys_path_join(folder, "tap.json");
    agreement->tap_order_path = ys_path_join(folder, "tap-order.safetensors");
    agreement->logits_path = ys_path_join(folder, "logits.safetensors");
    agreement->layers_path = ys_path_join(folder, "layers.safetensors");
}

static ys_status fill_all(const struct reference_work *asking, const struct ys_graph *graph, const char *folder)
{
    const struct ys_agreement *agreement = asking->agreement;
    int64_t batch = asking->trial->record.keys.batch;
    struct ys_tap tap = {0};
    if (graph->target != YS_TARGET_CLASS)
        return ys_fail(YS_EINVAL,
                       "compare = same-weights needs a network with a class for each row: %s has other targets",
                       graph->name);
    YS_TRY(write_order(agreement->order_path, agreement->rows, batch, agreement->batches));
    YS_TRY(fill_logits(asking, graph, folder));
    YS_TRY(ys_tap_make(graph, &tap));
    ys_status status = fill_layers(asking, &tap, folder);
    ys_tap_fini(&tap);
    return status;
}

static ys_status fill(void *context, const char *folder)
{
    struct reference_work asking = *(const struct reference_work *)context;
    struct ys_agreement here = *asking.agreement;
    struct ys_graph *graph = NULL;
    asking.agreement = &here;
    here.files = (struct ys_shelf_item){0}; /* what is being made */
    ys_progress("%s: asking the built-in engine and the oracle", asking.trial->record.id);
    name_files(&here, folder);
    ys_status status = ys_graph_read(asking.work->graph_path, &graph);
    if (status == YS_OK)
        status = fill_all(&asking, graph, folder);
    const struct ys_inputs inputs = {.trial = asking.trial, .work = asking.work, .agreement = &here};
    if (status == YS_OK)
        status = ys_inputs_check(&inputs);
    ys_graph_free(graph);
    here.scales = (struct ys_kept_scales){0};
    here.taught = (struct ys_common_weights){0}; /* borrowed, as the rest of it that is no path */
    ys_agreement_fini(&here);
    ys_progress_clear();
    return status;
}

/* Hash over all that the references depend on. */
static void key_of(const struct reference_work *asking, char key[YS_SHA256_TEXT])
{
    const struct ys_agreement *agreement = asking->agreement;
    char *all = ys_format("agreement %d|%s|%s|%lld|%lld|%s", AGREEMENT_VERSION, agreement->taught.key,
                          asking->trial->data->test_hash, (long long)agreement->rows,
                          (long long)asking->trial->record.keys.batch, asking->teacher->engine->closure);
    ys_sha256_text(all, strlen(all), key);
    ys_free(all);
}

static ys_status open_all(const struct reference_work *asking, uint64_t seed, struct ys_agreement *agreement)
{
    const struct ys_trial *trial = asking->trial;
    char key[YS_SHA256_TEXT];
    agreement->rows = trial->record.keys.rows;
    agreement->batches = trial->record.keys.requests;
    YS_TRY(ys_common_weights_open(asking->teacher, trial, asking->work, seed, &agreement->taught));
    if (agreement->taught.failure)
        return YS_OK;
    const struct ys_quantised_work quantised = {.engine = asking->teacher->engine,
                                                .trial = trial,
                                                .work = asking->work,
                                                .weights = agreement->taught.weights_path,
                                                .weights_key = agreement->taught.key,
                                                .seed = seed};
    ys_status status = ys_kept_scales_open(&quantised, &agreement->scales);
    if (status == YS_EUNSUPPORTED) {
        note_failure(&agreement->taught.failure, YS_RUN_UNSUPPORTED);
        return YS_OK;
    }
    YS_TRY(status);
    key_of(asking, key);
    status = ys_work_shelve(key, fill, (void *)(uintptr_t)asking, &agreement->files);
    if (status == YS_EIO && *asking->failure) {
        agreement->taught.failure = *asking->failure;
        *asking->failure = NULL;
        return YS_OK;
    }
    if (status != YS_OK)
        return status;
    name_files(agreement, agreement->files.folder);
    return YS_OK;
}

ys_status ys_agreement_open(const struct ys_teacher *teacher, const struct ys_trial *trial, const struct ys_work *work,
                            uint64_t seed, struct ys_agreement *agreement)
{
    struct ys_facts *failure = NULL;
    const struct reference_work asking = {
        .teacher = teacher, .trial = trial, .work = work, .agreement = agreement, .failure = &failure};
    *agreement = (struct ys_agreement){0};
    ys_status status = open_all(&asking, seed, agreement);
    ys_record_free(&ys_facts_record, failure);
    if (status != YS_OK)
        ys_agreement_fini(agreement);
    return status;
}

/* What is not finite has no size. */
static double known_error(double error)
{
    return isfinite(error) ? error : (double)NAN;
}

/* The first largest; a NaN is never larger. */
static int64_t predicted(const double *logits, int64_t classes)
{
    int64_t best = 0;
    for (int64_t k = 1; k < classes; k++)
        if (logits[k] > logits[best])
            best = k;
    return best;
}

static void compare_logits(const struct answers *a, const struct ys_tensor *ref, const int64_t *labels,
                           struct ys_facts_agreement *found)
{
    const struct ys_tensor matrix = matrix_of(a, "logits");
    int64_t apart = 0, right = 0, reference_right = 0, both_right = 0;
    for (int64_t r = 0; r < a->rows; r++) {
        int64_t here = predicted(a->values + r * a->width, a->width);
        int64_t there = predicted((const double *)ref->data + r * a->width, a->width);
        apart += here != there;
        right += here == labels[r];
        reference_right += there == labels[r];
        both_right += here == labels[r] && there == labels[r];
    }
    found->disagreements = apart;
    found->only_here = right - both_right;
    found->only_reference = reference_right - both_right;
    found->classes = a->width;
    found->accuracy = (double)right / (double)a->rows;
    found->reference_accuracy = (double)reference_right / (double)a->rows;
    found->logits_error = known_error(ys_error_columns(&matrix, ref, 0, a->width));
}

/* The reference in `path`, tensor `name`; its file stays open. */
static ys_status open_reference(const char *path, const char *name, struct ys_safetensors **file,
                                const struct ys_tensor **tensor)
{
    YS_TRY(ys_safetensors_open(path, file));
    return ys_safetensors_need(*file, name, YS_F64, 2, NULL, tensor);
}

static ys_status find_logits(const struct ys_agreement *agreement, const struct ys_trial *trial,
                             const struct ys_plan *plan, double patience_s, struct ys_facts_agreement *found)
{
    struct ys_safetensors *file = NULL, *data = NULL;
    const struct ys_tensor *ref, *labels;
    struct answers answers = {.rows = agreement->rows};
    ys_status status = open_reference(agreement->logits_path, "logits", &file, &ref);
    if (status == YS_OK)
        status = ys_safetensors_open(trial->data->test_path, &data);
    if (status == YS_OK)
        status = ys_safetensors_need(data, "y", YS_I64, 1, NULL, &labels);
    if (status == YS_OK) {
        answers.width = ref->shape[1];
        status = ask(trial->framework, plan, trial->record.env, patience_s, &answers);
    }
    if (status == YS_OK && !answers.reason)
        compare_logits(&answers, ref, labels->data, found);
    found->reason = answers.reason;
    answers.reason = NULL;
    answers_fini(&answers);
    ys_safetensors_close(file);
    ys_safetensors_close(data);
    return status;
}

static void compare_layers(const struct ys_graph *graph, const struct ys_tap *tap, const struct answers *a,
                           const struct ys_tensor *ref, struct ys_list *layers)
{
    const struct ys_tensor matrix = matrix_of(a, "layers");
    for (size_t s = 0; s < tap->count; s++) {
        const struct ys_tap_slice *slice = &tap->slices[s];
        struct ys_facts_layer *layer = ys_list_add(&ys_facts_layer_record, layers);
        layer->value = ys_strdup(graph->values[slice->value].name);
        layer->op = ys_strdup(ys_op_name(graph->nodes[slice->node].op));
        layer->error = known_error(ys_error_columns(&matrix, ref, slice->offset, slice->length));
    }
}

static ys_status ask_layers(const struct ys_agreement *agreement, const struct ys_trial *trial,
                            const struct ys_plan *plan, double patience_s, struct answers *answers)
{
    struct ys_plan tapped;
    YS_TRY(ys_plan_copy(plan, &tapped));
    tap_plan(agreement, answers->rows, &tapped);
    ys_status status = ask(trial->framework, &tapped, trial->record.env, patience_s, answers);
    ys_plan_fini(&tapped);
    return status;
}

static ys_status find_layers(const struct ys_agreement *agreement, const struct ys_trial *trial,
                             const struct ys_graph *graph, const struct ys_plan *plan, double patience_s,
                             struct ys_facts_agreement *found)
{
    struct ys_safetensors *file = NULL;
    const struct ys_tensor *ref;
    struct ys_tap tap = {0};
    struct answers answers = {0};
    ys_status status = open_reference(agreement->layers_path, "layers", &file, &ref);
    if (status == YS_OK)
        status = ys_tap_make(graph, &tap);
    if (status == YS_OK) {
        answers.rows = ref->shape[0];
        answers.width = ref->shape[1];
        status = ask_layers(agreement, trial, plan, patience_s, &answers);
    }
    if (status == YS_OK && !answers.reason)
        compare_layers(graph, &tap, &answers, ref, &found->layers);
    found->layers_rows = answers.rows;
    found->layers_reason = answers.reason;
    answers.reason = NULL;
    answers_fini(&answers);
    ys_tap_fini(&tap);
    ys_safetensors_close(file);
    return status;
}

ys_status ys_agreement_find(const struct ys_agreement *agreement, const struct ys_trial *trial,
                            const struct ys_work *work, const struct ys_plan *plan, const char *folder,
                            struct ys_facts_agreement *found)
{
    double stall_s = ys_trial_limit_s(trial->record.keys.stall_limit);
    /* Not a run: what a network that shows its insides takes says nothing of the one that does not. */
    double patience_s = stall_s > 0 ? 10 * stall_s : YS_EVIDENCE_PATIENCE_S;
    struct ys_graph *graph = NULL;
    struct ys_plan here;
    ys_record_init(&ys_facts_agreement_record, found);
    YS_TRY(ys_plan_copy(plan, &here));
    found->reference = ys_strdup("builtin");
    found->weights_steps = trial->taught_steps;
    found->rows = agreement->rows;
    ys_set_text(&here.folder, folder);
    ys_status status = ys_graph_read(work->graph_path, &graph);
    ys_progress("%s: predicting the test rows", trial->record.id);
    if (status == YS_OK)
        status = find_logits(agreement, trial, &here, patience_s, found);
    if (status == YS_OK && (here.scales || here.quantise))
        found->layers_reason = ys_strdup(here.scales ? "values of a quantised network are proven operator by operator"
                                                     : "of a network that a quantiser made no other value is known");
    if (status == YS_OK && here.scales)
        status = ys_kept_scales_in_float(&agreement->scales, graph, here.weights, &found->in_float);
    if (status == YS_OK && !here.scales && !here.quantise)
        status = find_layers(agreement, trial, graph, &here, patience_s, found);
    ys_progress_clear();
    ys_graph_free(graph);
    ys_plan_fini(&here);
    if (status != YS_OK)
        ys_record_fini(&ys_facts_agreement_record, found);
    return status;
}
