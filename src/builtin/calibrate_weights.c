/* Scales of a quantised network, from rows of a data file that are drawn by lot. */
#include "builtin/builtin.h"
#include "builtin/engine_commands.h"
#include "builtin/plan_rows.h"

#include "base/mem.h"
#include "base/rng.h"
#include "graph/expose_values.h"
#include "quant/calibrate.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct calibrate_request {
    const char *graph, *weights, *data, *kind, *scheme, *range, *calibration;
    int64_t threads, rows, seed;
    struct ys_quant_rule rule;
};

enum { MOST_ROWS = 64, ROWS = 512 };

/** A word that may be left out: the first of the names is then taken. */
static ys_status read_word(const char *text, const char *flag, const struct ys_names *names, int *value)
{
    *value = text ? ys_name_find(names, text) : 0;
    return *value != YS_NAME_NONE
               ? YS_OK
               : ys_fail(YS_EINVAL, "calibrate --%s is \"%s\": it is no %s", flag, text, names->what);
}

static ys_status read_calibration(const char *text, struct ys_quant_rule *rule)
{
    static const char begin[] = "percentile(";
    char *end = NULL;
    if (!text || strncmp(text, begin, sizeof begin - 1) != 0)
        return read_word(text, "calibration", &ys_quant_calibrations, &rule->calibration);
    rule->calibration = YS_QUANT_PERCENTILE;
    rule->percentile = strtod(text + sizeof begin - 1, &end);
    return strcmp(end, ")") == 0
               ? YS_OK
               : ys_fail(YS_EINVAL, "calibrate --calibration is \"%s\": write percentile(99.9)", text);
}

static ys_status read_rule(struct calibrate_request *r)
{
    struct ys_quant_rule *rule = &r->rule;
    *rule = (struct ys_quant_rule){.calibration = YS_NAME_NONE, .percentile = NAN, .rows = YS_FIELD_NONE};
    YS_TRY(read_word(r->kind, "quant", &ys_quant_kinds, &rule->kind));
    YS_TRY(read_word(r->scheme, "scheme", &ys_quant_schemes, &rule->scheme));
    YS_TRY(read_word(r->range, "range", &ys_quant_ranges, &rule->range));
    if (rule->kind == YS_QUANT_STATIC || r->calibration)
        YS_TRY(read_calibration(r->calibration, rule));
    if (rule->kind == YS_QUANT_STATIC)
        rule->rows = r->rows;
    return ys_quant_rule_check(rule);
}

static ys_status parse(int argc, char **argv, struct calibrate_request *r)
{
    const struct ys_builtin_flag flags[] = {
        {"graph", .text = &r->graph},       {"weights", .text = &r->weights},
        {"data", .text = &r->data},         {"rows", .number = &r->rows},
        {"quant", .text = &r->kind},        {"scheme", .text = &r->scheme},
        {"range", .text = &r->range},       {"calibration", .text = &r->calibration},
        {"threads", .number = &r->threads}, {"seed", .number = &r->seed}};
    r->rows = ROWS;
    r->threads = r->seed = 1;
    YS_TRY(ys_builtin_flags(argc, argv, "calibrate", flags, sizeof flags / sizeof flags[0]));
    if (!r->graph || !r->weights || !r->data)
        return ys_fail(YS_EINVAL, "calibrate needs --graph, --weights and --data");
    return read_rule(r);
}

/* One calibration under way. */
struct calibration {
    const struct calibrate_request *request;
    struct ys_folded folded;
    struct ys_quant_plan plan;
    struct ys_tap tap;
    struct ys_builtin_rows rows;
    struct ys_engine *engine;
    size_t batch;
    uint32_t *order;              /* [rows->count], of which the first request->rows are taken */
    struct ys_numbers_seen *seen; /* [slices]; those of values without a scale of their own stay empty */
    struct ys_scales *scales;
};

static void close_calibration(struct calibration *c)
{
    ys_engine_close(c->engine);
    ys_builtin_rows_close(&c->rows);
    ys_tap_fini(&c->tap);
    ys_quant_plan_fini(&c->plan);
    ys_folded_fini(&c->folded);
    ys_free(c->order);
    ys_free(c->seen);
}

static ys_status draw_rows(struct calibration *c)
{
    struct ys_rng rng;
    if ((size_t)c->request->rows > c->rows.count)
        return ys_fail(YS_EINVAL, "calibrate --rows is %lld: %s has %zu", (long long)c->request->rows, c->request->data,
                       c->rows.count);
    c->order = ys_alloc(c->rows.count, sizeof *c->order);
    if (!c->order)
        return ys_out_of_memory();
    for (size_t i = 0; i < c->rows.count; i++)
        c->order[i] = (uint32_t)i;
    ys_rng_init(&rng, (uint64_t)c->request->seed, YS_QUANT_DRAW);
    ys_rng_shuffle(&rng, c->order, c->rows.count);
    return YS_OK;
}

/** The folded network, its insides shown, with its numbers. */
static ys_status open_engine(struct calibration *c)
{
    const struct ys_graph *folded = c->folded.graph;
    YS_TRY(ys_tap_make(folded, &c->tap));
    YS_TRY(ys_builtin_rows_open(c->request->data, c->tap.graph, &c->rows));
    YS_TRY(draw_rows(c));
    const int64_t most = c->request->rows < MOST_ROWS ? c->request->rows : MOST_ROWS;
    c->batch = (size_t)ys_builtin_batch(c->tap.graph, most);
    const struct ys_engine_config config = {
        .batch = (int64_t)c->batch, .precision = YS_ENGINE_F32, .threads = (int)c->request->threads};
    YS_TRY(ys_engine_open_graph(c->tap.graph, &config, &c->engine));
    for (size_t p = 0; p < folded->param_count; p++)
        YS_TRY(ys_engine_param_set(c->engine, (size_t)ys_engine_param_find(c->engine, folded->params[p].name),
                                   YS_ENGINE_F32, c->folded.values[p]));
    c->seen = ys_alloc(c->tap.count, sizeof *c->seen);
    return c->seen ? YS_OK : ys_out_of_memory();
}

static bool has_own_scale(const struct calibration *c, const struct ys_tap_slice *slice)
{
    return c->plan.scale_of[slice->value] == slice->value;
}

/** All values of one row, in the engine's answer to a batch. */
static ys_status see_row(struct calibration *c, size_t row, bool in_bins)
{
    const float *values = (const float *)ys_engine_logits(c->engine) + row * ys_engine_row_logits(c->engine);
    for (size_t s = 0; s < c->tap.count; s++) {
        const struct ys_tap_slice *slice = &c->tap.slices[s];
        if (!has_own_scale(c, slice))
            continue;
        if (in_bins)
            ys_observe_bins(&c->seen[s], values + slice->offset, (size_t)slice->length);
        else
            YS_TRY(ys_observe_ends(&c->seen[s], c->folded.graph->values[slice->value].name, values + slice->offset,
                                   (size_t)slice->length));
    }
    return YS_OK;
}

/** The last batch is filled up with the first row, which is not seen again. */
static ys_status see_all(struct calibration *c, bool in_bins)
{
    const size_t count = (size_t)c->request->rows;
    for (size_t first = 0; first < count; first += c->batch) {
        const size_t left = count - first < c->batch ? count - first : c->batch;
        for (size_t i = 0; i < c->batch; i++)
            ys_builtin_rows_copy(&c->rows, c->order[i < left ? first + i : 0], i, c->engine);
        YS_TRY(ys_engine_forward(c->engine, NULL, NULL, YS_ENGINE_EVAL, NULL));
        for (size_t i = 0; i < left; i++)
            YS_TRY(see_row(c, i, in_bins));
    }
    return YS_OK;
}

static ys_status add_activations(struct calibration *c)
{
    YS_TRY(open_engine(c));
    YS_TRY(see_all(c, false));
    if (c->request->rule.calibration != YS_QUANT_MINMAX)
        YS_TRY(see_all(c, true));
    for (size_t s = 0; s < c->tap.count; s++) {
        double low, high;
        if (!has_own_scale(c, &c->tap.slices[s]))
            continue;
        struct ys_activation_scale *at = ys_scales_add_activation(c->scales);
        if (!at)
            return ys_out_of_memory();
        at->value = ys_strdup(c->folded.graph->values[c->tap.slices[s].value].name);
        if (!at->value)
            return ys_out_of_memory();
        ys_quant_range(&c->seen[s], &c->request->rule, &low, &high);
        ys_quant_activation(low, high, at);
    }
    return YS_OK;
}

static ys_status calibrate(const struct calibrate_request *r, struct ys_scales *scales)
{
    struct calibration c = {.request = r, .scales = scales};
    struct ys_graph *graph;
    struct ys_safetensors *weights = NULL;
    scales->rule = r->rule;
    YS_TRY(ys_graph_read(r->graph, &graph));
    ys_status status = ys_safetensors_open(r->weights, &weights);
    if (status == YS_OK)
        status = ys_graph_fold(graph, weights, &c.folded);
    if (status == YS_OK)
        status = ys_quant_plan_make(c.folded.graph, &r->rule, &c.plan);
    if (status == YS_OK && r->rule.kind == YS_QUANT_STATIC)
        status = add_activations(&c);
    if (status == YS_OK)
        status = ys_quant_weights(&c.folded, &c.plan, scales);
    close_calibration(&c);
    ys_safetensors_close(weights);
    ys_graph_free(graph);
    return status;
}

int ys_builtin_calibrate(int argc, char **argv)
{
    struct calibrate_request request = {0};
    struct ys_scales scales;
    ys_scales_init(&scales);
    ys_status status = parse(argc, argv, &request);
    if (status == YS_OK)
        status = calibrate(&request, &scales);
    if (status == YS_OK)
        status = ys_builtin_print_json(ys_record_json(&ys_scales_record, &scales));
    ys_scales_fini(&scales);
    return ys_builtin_end(status);
}
