#include "verify/oracle/reference.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "base/size_text.h"
#include "protocol/batch_ring.h"
#include "verify/oracle/input_gradient.h"
#include "verify/oracle/shorter.h"
#include "verify/oracle/tensor_error.h"
#include "verify/oracle/twin.h"

#include <string.h>
#include <sys/statvfs.h>

void ys_reference_close(struct ys_reference *reference)
{
    ys_graph_free(reference->graph);
    ys_free(reference->graph_path);
    ys_free(reference->order_path);
    ys_free(reference->weights_path);
    ys_free(reference->data_path);
    for (int lot = 0; lot < YS_INPUT_LOTS; lot++) {
        ys_input_files_fini(&reference->asked_with[lot]);
        ys_safetensors_close(reference->input_gradient[lot]);
    }
    struct ys_safetensors *files[] = {reference->weights, reference->data, reference->order, reference->first,
                                      reference->last};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        ys_safetensors_close(files[i]);
    for (size_t b = 0; b < YS_VERIFY_STEPS; b++) {
        ys_safetensors_close(reference->batch[b].forward);
        ys_safetensors_close(reference->batch[b].backward);
    }
    *reference = (struct ys_reference){0};
}

static ys_status open_graph(const struct ys_plan *plan, const char *folder, struct ys_reference *reference)
{
    const bool is_fed = plan->input.kind && strcmp(plan->input.kind, YS_FEED_KIND) == 0;
    YS_TRY(ys_graph_read(plan->graph, &reference->graph));
    if (!is_fed)
        YS_TRY(ys_shorter_graph(reference->graph, &reference->row_positions));
    bool changed = ys_proof_drop_dropout(reference->graph) || reference->row_positions > 0;
    reference->graph_path = changed ? ys_path_join(folder, "graph.json") : ys_strdup(plan->graph);
    if (!changed)
        return YS_OK;
    ys_json *json = ys_graph_to_json(reference->graph);
    ys_status status = ys_json_write(reference->graph_path, json);
    ys_json_free(json);
    return status;
}

static ys_status open_order(const struct ys_plan *plan, const char *folder, struct ys_reference *reference)
{
    reference->order_path = ys_path_join(folder, "order.safetensors");
    YS_TRY(ys_proof_order_write(plan, reference->extent, reference->order_path));
    return ys_safetensors_open(reference->order_path, &reference->order);
}

static void chain(uint8_t digest[32], const void *data, size_t size)
{
    ys_sha256_joined(digest, 32, data, size, digest);
}

/* Of the plan as it is sent, what the oracle reads; not where files lie, nor how the trial's framework is to compute.
 */
static void chain_plan(const struct ys_plan *plan, uint8_t digest[32])
{
    static const char *const others[] = {"graph", "weights", "input",     "folder",  "batch",  "steps",      "block",
                                         "cpus",  "threads", "precision", "options", "device", "eval_every", "dist"};
    ys_json *copy = ys_record_json(&ys_plan_record, plan);
    for (size_t i = 0; copy && i < sizeof others / sizeof others[0]; i++)
        ys_json_remove(copy, others[i]);
    char *text = copy ? ys_json_dump(copy, YS_JSON_SORTED) : NULL;
    ys_json_free(copy);
    chain(digest, text, strlen(text));
    ys_free(text);
}

/* Of several ranks the oracle's answers are another's only where each has statistics of its own. */
static void chain_ranks(const struct ys_plan *plan, const struct ys_graph *graph, uint8_t digest[32])
{
    if (ys_plan_is_apart(plan, ys_graph_has(graph, YS_OP_BATCHNORM)))
        chain(digest, &plan->dist.world, sizeof plan->dist.world);
}

static void chain_graph(const struct ys_graph *graph, uint8_t digest[32])
{
    ys_json *json = ys_graph_to_json(graph);
    char *text = ys_json_dump(json, YS_JSON_SORTED);
    ys_json_free(json);
    chain(digest, text, strlen(text));
    ys_free(text);
}

/* Inputs and targets of every batch. */
static ys_status chain_rows(const struct ys_reference *reference, uint8_t digest[32])
{
    const struct ys_tensor *order, *y = ys_safetensors_find(reference->data, YS_TARGET_NAME);
    const struct ys_rows form = ys_graph_rows(reference->graph);
    YS_TRY(ys_safetensors_need(reference->order, "order", YS_U32, SIZE_MAX, NULL, &order));
    for (size_t a = 0; a <= form.input_count; a++) {
        const struct ys_tensor *array = ys_safetensors_find(reference->data, ys_rows_array(&form, a)->name);
        if (!array || array->rank < 1 || !y || y->rank < 1 || array->shape[0] != y->shape[0])
            return ys_fail(YS_EFORMAT, "the data set of the plan has no %s with as many rows as y",
                           ys_rows_array(&form, a)->name);
    }
    for (size_t i = 0; i < ys_tensor_count(order); i++) {
        uint32_t row = ((const uint32_t *)order->data)[i];
        if (row >= y->shape[0])
            return ys_fail(YS_EFORMAT, "the plan's order names row %u of %lld", row, (long long)y->shape[0]);
        for (size_t a = 0; a <= form.input_count; a++) {
            const struct ys_tensor *array = ys_safetensors_find(reference->data, ys_rows_array(&form, a)->name);
            size_t size = array->size_bytes / (size_t)array->shape[0];
            chain(digest, (const char *)array->data + row * size, size);
        }
    }
    return YS_OK;
}

/* Initial weights follow from graph and seed. */
static ys_status identify(const struct ys_plan *plan, struct ys_reference *reference)
{
    uint8_t digest[32] = {0};
    const struct ys_tensor *lr;
    chain_plan(plan, digest);
    chain_graph(reference->graph, digest);
    if (reference->row_positions > 0)
        chain(digest, &reference->row_positions, sizeof reference->row_positions);
    chain_ranks(plan, reference->graph, digest);
    YS_TRY(chain_rows(reference, digest));
    YS_TRY(ys_safetensors_need(reference->order, "lr", YS_F64, 1, NULL, &lr));
    chain(digest, lr->data, lr->size_bytes);
    ys_sha256_text(digest, sizeof digest, reference->identity);
    return YS_OK;
}

/* Of long rows their first positions, and the weights that these need. */
static ys_status shorten(const struct ys_plan *plan, const char *folder, struct ys_reference *reference)
{
    char *order = ys_path_join(folder, "shorter-order.safetensors");
    reference->weights_path = ys_path_join(folder, "shorter-weights.safetensors");
    reference->data_path = ys_path_join(folder, "shorter-data.safetensors");
    ys_status status = ys_shorter_weights(reference->graph, plan->weights, reference->weights_path);
    if (status == YS_OK)
        status = ys_shorter_rows(reference->graph, plan->input.path, reference->order, reference->data_path, order);
    if (status != YS_OK) {
        ys_free(order);
        return status;
    }
    ys_safetensors_close(reference->order);
    reference->order = NULL;
    ys_free(reference->order_path);
    reference->order_path = order;
    return ys_safetensors_open(order, &reference->order);
}

/* Of a ring the batches as they come out of it, in a file, with an order that counts its rows. */
static ys_status open_data(const struct ys_plan *plan, const char *folder, struct ys_reference *reference)
{
    struct ys_plan made;
    YS_TRY(ys_reference_plan(reference, plan, (enum ys_precision)plan->precision, folder, &made));
    ys_status status = ys_feeder_settle(&made, folder);
    if (status == YS_OK)
        status = ys_safetensors_open(made.input.path, &reference->data);
    if (status == YS_OK && strcmp(made.input.order, reference->order_path) != 0) {
        ys_safetensors_close(reference->order);
        reference->order = NULL;
        status = ys_safetensors_open(made.input.order, &reference->order);
    }
    ys_plan_fini(&made);
    return status;
}

/* At least two rows for each rank, as many for each, and no more than there are. */
static int64_t rows_of_ranks(int64_t rows, const struct ys_plan *plan)
{
    const int64_t world = plan->dist.world;
    if (world > 1 && rows < 2 * world)
        rows = 2 * world;
    rows = (rows + world - 1) / world * world;
    return rows < plan->batch ? rows : plan->batch;
}

typedef struct ys_proof_extent find_extent(const struct ys_graph *graph, int64_t batch);

static ys_status open_all(const struct ys_plan *plan, const char *folder, find_extent *find,
                          struct ys_reference *reference)
{
    YS_TRY(open_graph(plan, folder, reference));
    reference->evaluation = !ys_mode_of(plan->mode)->trains;
    reference->attacked = plan->mode == YS_MODE_ATTACK;
    reference->extent = find(reference->graph, plan->batch);
    reference->extent.rows = rows_of_ranks(reference->extent.rows, plan);
    reference->in_single = reference->extent.trained == 0;
    YS_TRY(open_order(plan, folder, reference));
    if (reference->row_positions > 0)
        YS_TRY(shorten(plan, folder, reference));
    YS_TRY(ys_safetensors_open(reference->weights_path ? reference->weights_path : plan->weights, &reference->weights));
    YS_TRY(open_data(plan, folder, reference));
    return identify(plan, reference);
}

static ys_status open_reference(const struct ys_plan *plan, const char *folder, find_extent *find,
                                struct ys_reference *reference)
{
    *reference = (struct ys_reference){0};
    ys_status status = open_all(plan, folder, find, reference);
    if (status != YS_OK)
        ys_reference_close(reference);
    return status;
}

static ys_status write_inputs(const struct ys_plan *plan, const char *folder, struct ys_reference *reference)
{
    if (!ys_input_gradient_fits(reference->graph))
        return YS_OK;
    for (int lot = 0; lot < YS_INPUT_LOTS; lot++) {
        struct ys_input_files *files = &reference->asked_with[lot];
        files->inputs = ys_format("%s/inputs-%d.safetensors", folder, lot);
        files->cotangent = ys_format("%s/cotangent-%d.safetensors", folder, lot);
        files->single_cotangent = ys_format("%s/cotangent-%d-f32.safetensors", folder, lot);
        YS_TRY(ys_input_gradient_write(reference->graph, reference->data,
                                       ys_safetensors_find(reference->order, "order"), plan->seed, lot, files));
    }
    return YS_OK;
}

void ys_reference_put_inputs(const struct ys_reference *reference, enum ys_precision precision,
                             struct ys_questions *questions)
{
    for (int lot = 0; lot < YS_INPUT_LOTS; lot++) {
        questions->inputs[lot] = reference->asked_with[lot].inputs;
        questions->cotangent[lot] = ys_input_files_cotangent(&reference->asked_with[lot], precision);
    }
}

ys_status ys_reference_write_twin(const struct ys_reference *reference, struct ys_plan *twin_plan, int twin,
                                  int64_t batch, enum ys_precision precision, const char *folder,
                                  struct ys_questions *questions)
{
    ys_status status = ys_twin_write(twin_plan, twin, batch, folder);
    for (int lot = 0; reference->attacked && lot < YS_INPUT_LOTS && reference->asked_with[lot].inputs; lot++) {
        char *images = ys_format("%s/twin-inputs-%d.safetensors", folder, lot);
        questions->inputs[lot] = images;
        questions->cotangent[lot] = ys_input_files_cotangent(&reference->asked_with[lot], precision);
        if (status == YS_OK)
            status = ys_twin_write_images(twin_plan, twin, reference->asked_with[lot].inputs, images);
    }
    return status;
}

void ys_reference_drop_twin(struct ys_questions *questions)
{
    for (int lot = 0; lot < YS_INPUT_LOTS; lot++) {
        ys_free((void *)(uintptr_t)questions->inputs[lot]);
        questions->inputs[lot] = NULL;
    }
}

ys_status ys_reference_open(const struct ys_plan *plan, const char *folder, bool all_steps,
                            struct ys_reference *reference)
{
    YS_TRY(open_reference(plan, folder, all_steps ? ys_proof_extent_long : ys_proof_extent, reference));
    ys_status status = write_inputs(plan, folder, reference);
    if (status != YS_OK)
        ys_reference_close(reference);
    return status;
}

ys_status ys_reference_open_whole(const struct ys_plan *plan, const char *folder, struct ys_reference *reference)
{
    return open_reference(plan, folder, ys_proof_extent_whole, reference);
}

static void swap_texts(char **a, char **b)
{
    char *kept = *a;
    *a = *b;
    *b = kept;
}

void ys_reference_swap_files(struct ys_reference *a, struct ys_reference *b)
{
    swap_texts(&a->graph_path, &b->graph_path);
    swap_texts(&a->order_path, &b->order_path);
    swap_texts(&a->weights_path, &b->weights_path);
    swap_texts(&a->data_path, &b->data_path);
    for (int lot = 0; lot < YS_INPUT_LOTS; lot++) {
        const struct ys_input_files kept = a->asked_with[lot];
        a->asked_with[lot] = b->asked_with[lot];
        b->asked_with[lot] = kept;
    }
}

/* A prompt keeps its part of a row. */
static void point_at_shorter(const struct ys_reference *reference, struct ys_plan *made)
{
    if (ys_plan_has_prompt(made)) {
        const int64_t part = made->prompt * YS_VERIFY_POSITIONS / reference->row_positions;
        made->prompt = part > 0 ? part : 1;
        made->tokens = YS_VERIFY_POSITIONS - made->prompt;
    }
    ys_set_text(&made->weights, reference->weights_path);
    ys_set_text(&made->input.path, reference->data_path);
}

ys_status ys_reference_plan(const struct ys_reference *reference, const struct ys_plan *plan,
                            enum ys_precision precision, const char *folder, struct ys_plan *made)
{
    YS_TRY(
        ys_proof_plan(plan, reference->extent, reference->graph_path, reference->order_path, precision, folder, made));
    if (reference->row_positions > 0)
        point_at_shorter(reference, made);
    return YS_OK;
}

/* In double: the oracle's gradients and, with the first batch, weights after one step and after all; the initial
 * weights of a twin of it; and one answer. */
static ys_status need_room(const struct ys_reference *reference, int64_t batch, const char *folder)
{
    const uint64_t files = reference->evaluation || batch > 0 ? 2 : 5;
    uint64_t elements = 0;
    struct statvfs disk;
    for (size_t p = 0; p < reference->graph->param_count; p++)
        elements += (uint64_t)ys_param_elements(&reference->graph->params[p]);
    uint64_t need = files * elements * sizeof(double);
    if (statvfs(folder, &disk) != 0)
        return YS_OK; /* a file system that does not say fails when it is full */
    uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (need <= room)
        return YS_OK;
    char need_text[YS_SIZE_TEXT], room_text[YS_SIZE_TEXT];
    ys_size_texts(need, room, need_text, room_text);
    return ys_fail(
        YS_EIO,
        "a proof of %s needs %s in %s, which has %s left: free some, or set YARDSTICK_CACHE to a folder on a "
        "larger disk",
        reference->graph->name, need_text, folder, room_text);
}

static ys_status keep(void *context, enum ys_answer answer, int64_t batch, struct ys_safetensors **file)
{
    struct ys_reference *reference = context;
    struct ys_safetensors **const slopes = &reference->input_gradient[batch < YS_INPUT_LOTS ? batch : 0];
    struct ys_safetensors **places[] = {[YS_ANSWER_BACKWARD] = &reference->batch[batch].backward,
                                        [YS_ANSWER_FORWARD] = &reference->batch[batch].forward,
                                        [YS_ANSWER_START] = NULL,
                                        [YS_ANSWER_FIRST_STEP] = &reference->first,
                                        [YS_ANSWER_LAST_STEP] = &reference->last,
                                        [YS_ANSWER_INPUT_GRADIENT] = slopes};
    if (places[answer]) {
        *places[answer] = *file;
        *file = NULL;
    }
    return YS_OK;
}

/* Nothing lies at a distance from itself but what is not finite. */
static void look_for_divergence(struct ys_reference *reference)
{
    const struct ys_tensor *logits = ys_safetensors_find(reference->batch[0].forward, "logits");
    struct ys_worst worst = {.error = ys_error_max(logits, logits)};
    if (worst.error == 0 && reference->last)
        ys_error_parameters(reference->graph, YS_ROLE_WEIGHT, "", reference->last, reference->last, NULL, &worst);
    reference->finite = worst.error == 0;
}

static ys_status ask_engine(struct ys_reference *reference, const struct ys_framework *oracle,
                            const struct ys_plan *plan, const char *backend, const struct ys_questions *questions,
                            const char *folder)
{
    struct ys_evidence said = {0};
    struct ys_plan asked;
    YS_TRY(ys_proof_plan_builtin(plan, backend, folder, &asked));
    ys_status status =
        ys_evidence_collect(oracle, &asked, NULL, YS_EVIDENCE_PATIENCE_S, questions, keep, reference, &said);
    if (status == YS_OK && said.status)
        status =
            ys_fail(said.status == YS_RUN_UNSUPPORTED ? YS_EUNSUPPORTED : YS_EPROTOCOL, "the oracle ended as %s: %s",
                    ys_run_status_name(said.status), said.message ? said.message : "no message");
    ys_evidence_fini(&said);
    ys_plan_fini(&asked);
    return status;
}

ys_status ys_reference_ask(struct ys_reference *reference, const struct ys_framework *oracle,
                           const struct ys_plan *plan, int64_t batch, const char *folder)
{
    if (reference->batch[batch].asked)
        return YS_OK;
    YS_TRY(need_room(reference, batch, folder));
    const bool trains = batch == 0 && !reference->evaluation, in_single = reference->in_single;
    struct ys_questions questions = {.evaluation = reference->evaluation,
                                     .first = batch,
                                     .batches = 1,
                                     .mapped = true,
                                     .steps = trains ? reference->extent.trained : 0};
    const enum ys_precision precision = in_single ? YS_PRECISION_F32 : YS_PRECISION_F64;
    if (batch == 0)
        ys_reference_put_inputs(reference, precision, &questions);
    struct ys_plan base;
    YS_TRY(ys_reference_plan(reference, plan, precision, folder, &base));
    ys_status status = ask_engine(reference, oracle, &base, in_single ? NULL : "ref", &questions, folder);
    if (status == YS_EUNSUPPORTED && in_single) /* what the default back end lacks plain C has */
        status = ask_engine(reference, oracle, &base, "ref", &questions, folder);
    if (status == YS_EUNSUPPORTED)
        status = YS_EPROTOCOL;
    if (status == YS_OK && batch == 0)
        look_for_divergence(reference);
    reference->batch[batch].asked = status == YS_OK;
    ys_plan_fini(&base);
    return status;
}
