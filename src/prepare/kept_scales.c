#include "prepare/kept_scales.h"

#include "base/files/atomic_file.h"
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "base/rng.h"
#include "base/stored/safetensors.h"
#include "data/row_order.h"
#include "graph/fold.h"
#include "graph/op.h"
#include "job/quant.h"
#include "probe/host.h"
#include "quant/quant_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SCALES_VERSION 1 /* part of the key: raise it when the same inputs would give other scales */
#define SCALES_NAME    "scales.json"
#define ROWS_NAME      "rows.safetensors"
#define SEEDS          ((uint64_t)1 << 20) /* that the verb takes */

static const double CALIBRATION_LIMIT_S = 3600;

void ys_kept_scales_fini(struct ys_kept_scales *kept)
{
    ys_shelf_release(&kept->files);
    ys_free(kept->path);
    ys_record_free(&ys_plan_quantise_record, kept->quantise);
    *kept = (struct ys_kept_scales){0};
}

static int64_t rows_of(const struct ys_trial *trial)
{
    const int64_t all = trial->data->train_count, asked = trial->record.keys.quant_rows;
    return asked == YS_FIELD_NONE ? 1 : asked < all ? asked : all;
}

static uint64_t seed_of(const struct ys_quantised_work *asking)
{
    return 1 + asking->seed % SEEDS;
}

struct scales_question {
    const struct ys_quantised_work *of;
    struct ys_quant_rule rule;
};

/* The engine's answer, a line; it is checked as it is read. */
static ys_status ask(const struct scales_question *asking, struct ys_scales *scales)
{
    const struct ys_trial_settings *keys = &asking->of->trial->record.keys;
    char rows[24], threads[24], seed[24];
    snprintf(rows, sizeof rows, "%" PRId64, rows_of(asking->of->trial));
    snprintf(threads, sizeof threads, "%d", ys_host_cpus_allowed());
    snprintf(seed, sizeof seed, "%" PRIu64, seed_of(asking->of));
    const char *argv[] = {asking->of->engine->argv[0],
                          "calibrate",
                          "--graph",
                          asking->of->work->graph_path,
                          "--weights",
                          asking->of->weights,
                          "--data",
                          asking->of->trial->data->train_path,
                          "--rows",
                          rows,
                          "--seed",
                          seed,
                          "--threads",
                          threads,
                          "--quant",
                          ys_name_of(&ys_quant_kinds, asking->rule.kind),
                          "--scheme",
                          ys_name_of(&ys_quant_schemes, asking->rule.scheme),
                          "--range",
                          ys_name_of(&ys_quant_ranges, asking->rule.range),
                          NULL,
                          NULL,
                          NULL};
    if (keys->quant_calibration) {
        argv[sizeof argv / sizeof argv[0] - 3] = "--calibration";
        argv[sizeof argv / sizeof argv[0] - 2] = keys->quant_calibration;
    }
    const struct ys_child_options options = {.is_own = true, .merge_stderr = true, .timeout_s = CALIBRATION_LIMIT_S};
    struct ys_buf output = {0};
    ys_json *json = NULL;
    int code = 0;
    ys_status status = ys_child_run(argv, &options, &output, &code);
    char *text = ys_strdup(ys_buf_text(&output));
    const char *line = ys_child_last_line(text);
    if (status == YS_OK && code != 0)
        status = ys_fail(YS_EUNSUPPORTED, "the network could not be quantised: %s", *line ? line : "no message");
    if (status == YS_OK)
        status = ys_json_parse(line, strlen(line), "the scales", &json);
    if (status == YS_OK)
        status = ys_scales_from_json(json, "the scales", scales);
    ys_json_free(json);
    ys_free(text);
    ys_buf_free(&output);
    return status;
}

/* The rows that the verb would calibrate on, as batches of one. */
static ys_status write_rows(const struct ys_quantised_work *asking, const char *path)
{
    const size_t all = (size_t)asking->trial->data->train_count;
    const int64_t rows = rows_of(asking->trial);
    struct ys_rng rng;
    uint32_t *order = ys_alloc(all, sizeof *order);
    double *rates = ys_alloc((size_t)rows, sizeof *rates);
    for (size_t i = 0; i < all; i++)
        order[i] = (uint32_t)i;
    ys_rng_init(&rng, seed_of(asking), YS_QUANT_DRAW);
    ys_rng_shuffle(&rng, order, all);
    ys_status status = ys_order_save(path, order, NULL, 1, rows, rates);
    ys_free(order);
    ys_free(rates);
    return status;
}

static ys_status fill(void *context, const char *folder)
{
    const struct scales_question *asking = context;
    struct ys_scales scales;
    if (ys_settings_quant_own(&asking->of->trial->record.keys)) {
        char *rows = ys_path_join(folder, ROWS_NAME);
        ys_status written = write_rows(asking->of, rows);
        ys_free(rows);
        return written;
    }
    ys_progress("%s: calibrating", asking->of->trial->record.id);
    ys_status status = ask(asking, &scales);
    ys_progress_clear();
    YS_TRY(status);
    char *path = ys_path_join(folder, SCALES_NAME);
    status = ys_scales_write(path, &scales);
    ys_free(path);
    ys_scales_fini(&scales);
    return status;
}

/* Hash over all that they depend on. */
static void key_of(const struct scales_question *asking, char key[YS_SHA256_TEXT])
{
    ys_json *said = ys_record_json(&ys_quant_rule_record, &asking->rule);
    char *rule = ys_json_dump(said, YS_JSON_SORTED);
    const bool is_own = ys_settings_quant_own(&asking->of->trial->record.keys);
    char *all = ys_format("scales %d|%s|%s|%s|%s|%s|%" PRIu64 "|%s", SCALES_VERSION, is_own ? "rows" : "",
                          asking->of->work->key, asking->of->weights_key, asking->of->trial->data->train_hash, rule,
                          asking->of->seed, asking->of->engine->closure);
    ys_sha256_text(all, strlen(all), key);
    ys_json_free(said);
    ys_free(rule);
    ys_free(all);
}

ys_status ys_kept_scales_open(const struct ys_quantised_work *asking, struct ys_kept_scales *kept)
{
    struct scales_question calibration = {.of = asking};
    *kept = (struct ys_kept_scales){0};
    if (!ys_settings_quant_rule(&asking->trial->record.keys, &calibration.rule))
        return YS_OK;
    key_of(&calibration, kept->key);
    YS_TRY(ys_work_shelve(kept->key, fill, &calibration, &kept->files));
    if (ys_settings_quant_own(&asking->trial->record.keys)) {
        kept->quantise = ys_alloc(1, sizeof *kept->quantise);
        kept->quantise->rule = ys_record_json(&ys_quant_rule_record, &calibration.rule);
        if (calibration.rule.kind == YS_QUANT_STATIC) {
            kept->quantise->data = ys_strdup(asking->trial->data->train_path);
            kept->quantise->order = ys_path_join(kept->files.folder, ROWS_NAME);
        }
        return YS_OK;
    }
    kept->path = ys_path_join(kept->files.folder, SCALES_NAME);
    return YS_OK;
}

/* All but products are in float where nothing but these is to be quantised, and need no word. */
static void name_in_float(const struct ys_graph *folded, const struct ys_quant_plan *plan, bool is_static,
                          struct ys_list *texts)
{
    for (size_t i = 0; i < folded->node_count; i++) {
        const struct ys_node *node = &folded->nodes[i];
        if (plan->nodes[i].way != YS_QUANT_IN_FLOAT || (!is_static && node->op != YS_OP_CONV && node->op != YS_OP_GEMM))
            continue;
        char *text = ys_format("%s (%s): %s", node->name, ys_op_name(node->op), plan->nodes[i].reason);
        ys_list_add_text(texts, text);
        ys_free(text);
    }
}

ys_status ys_kept_scales_in_float(const struct ys_kept_scales *kept, const struct ys_graph *graph, const char *weights,
                                  struct ys_list *texts)
{
    struct ys_safetensors *file = NULL;
    struct ys_folded folded = {0};
    struct ys_quant_plan plan = {0};
    struct ys_scales scales;
    YS_TRY(ys_scales_read(kept->path, &scales));
    ys_status status = ys_safetensors_open(weights, &file);
    if (status == YS_OK)
        status = ys_graph_fold(graph, file, &folded);
    if (status == YS_OK)
        status = ys_quant_plan_make(folded.graph, &scales.rule, &plan);
    if (status == YS_OK)
        name_in_float(folded.graph, &plan, scales.rule.kind == YS_QUANT_STATIC, texts);
    ys_quant_plan_fini(&plan);
    ys_folded_fini(&folded);
    ys_safetensors_close(file);
    ys_scales_fini(&scales);
    return status;
}
