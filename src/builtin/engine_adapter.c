/* The adapter of the built-in engine. */
#include "builtin/builtin.h"
#include "builtin/token_cache.h"
#include "builtin/rank_exchange.h"
#include "builtin/engine_commands.h"
#include "builtin/answer_gradient.h"
#include "builtin/plan_engine.h"
#include "builtin/plan_rows.h"
#include "builtin/plan_state.h"
#include "builtin/quantised_engine.h"
#include "builtin/stored_forms.h"

#include "backend/level.h"
#include "base/clock.h"
#include "base/mem.h"
#include "data/rank_share.h"
#include "data/row_order.h"
#include "dist/dist.h"
#include "engine/backend.h"
#include "engine/engine.h"
#include "protocol/adapter_loop.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

struct adapter {
    struct ys_graph *graph;
    struct ys_engine *engine;        /* over whole rows; with a prompt NULL until it is wanted (need_engine()) */
    struct ys_builtin_cached cached; /* over their pieces, with a prompt */
    struct ys_engine_config config;  /* of each of them */
    struct ys_builtin_input_gradient slopes;
    struct ys_builtin_rows rows;
    struct ys_safetensors *order_file;
    const uint32_t *order;                    /* [steps, batch of all ranks] */
    const double *lr;                         /* [steps] */
    const uint32_t *epochs;                   /* [steps]; NULL: all of one */
    const char *graph_path, *weights, *state; /* of the plan; no state: the optimizer's begins at 0 */
    const char *scales;                       /* of the plan, of a quantised network; else NULL */
    struct ys_builtin_quantised quantised;    /* then: what its engine is of */
    struct ys_onnx_import *import;            /* in place of weights, of a stored model that is a file of ONNX */
    struct ys_engine_optimizer optimizer;
    int64_t batch, steps;       /* batch: the rows of it that this process takes, */
    int64_t rank, world;        /* of the run's processes, */
    struct ys_dist *dist;       /* which meet here; NULL: this is the only one */
    struct ys_shares *shares;   /* what each of them counts for in a batch */
    double weight;              /* of this one in the batch at hand: its share times `world`; 1 where all are alike */
    struct ys_dist_part *parts; /* of the gradient, of all buckets in a row, */
    size_t part_count;          /* of which so many are under way */
    struct ys_block *timed;     /* that its step is noted in; NULL: nobody asks when it exchanges */
    enum ys_engine_precision format; /* of what the engine gives out: double in f64, else float */
};

#define OPTION_BACKEND   "backend"
#define OPTION_TRANSPORT "transport"
#define OPTION_WIRE      "wire"

/* Of a bucket of gradients where the plan says nothing: as PyTorch has it. */
static const size_t BUCKET_BYTES = 25 << 20;

/* Ranks drop other activations, each of its own rows: far from the seeds of other rounds, which count by one. */
static const uint64_t RANK_SEED = 0x9e3779b97f4a7c15;

enum { PRECISIONS = YS_ENGINE_BF16 + 1 };

static bool is_supported(enum ys_op op, enum ys_engine_precision precision)
{
    for (const struct ys_backend *const *backend = ys_backends(); *backend; backend++)
        if ((*backend)->supports(op, precision))
            return true;
    return false;
}

/** What some back end can do; a format in which none can multiply matrices is none of the engine's. */
struct abilities {
    const char *precisions[PRECISIONS + 1], *ops[YS_OP_COUNT + 1];
};

static struct abilities find_abilities(void)
{
    struct abilities found = {{NULL}, {NULL}};
    size_t count = 0;
    for (int p = 0; p < PRECISIONS; p++)
        if (is_supported(YS_OP_GEMM, (enum ys_engine_precision)p))
            found.precisions[count++] = ys_engine_precision_name((enum ys_engine_precision)p);
    count = 0;
    for (int op = 0; op < YS_OP_COUNT; op++)
        if (is_supported((enum ys_op)op, YS_ENGINE_F32))
            found.ops[count++] = ys_op_name((enum ys_op)op);
    return found;
}

/** A member of the plan that has one value that this engine knows; NULL is that. */
static ys_status need_word(const char *text, const char *key, const char *known)
{
    return !text || strcmp(text, known) == 0
               ? YS_OK
               : ys_fail(YS_EUNSUPPORTED, "%s \"%s\" is not yet available in the built-in engine", key, text);
}

struct options {
    const char *backend, *transport, *wire;
};

static const struct ys_field option_fields[] = {
    {OPTION_BACKEND, YS_FIELD_TEXT, offsetof(struct options, backend), NULL, YS_FIELD_NULL, "null: the usual one"},
    {OPTION_TRANSPORT, YS_FIELD_TEXT, offsetof(struct options, transport), NULL, YS_FIELD_NULL, "null: tcp"},
    {OPTION_WIRE, YS_FIELD_TEXT, offsetof(struct options, wire), NULL, YS_FIELD_NULL, "null: the loopback interface"},
};
static const struct ys_record options_record = YS_RECORD("options", struct options, option_fields);

static enum ys_dist_transport transport_of(const struct options *options)
{
    return ys_builtin_transport(ys_name_find(&ys_dist_transports, options->transport));
}

static ys_status read_options(const struct ys_plan *plan, struct options *options)
{
    for (void *it = ys_json_iter(plan->options); it; it = ys_json_next(plan->options, it))
        if (strcmp(ys_json_iter_key(it), OPTION_BACKEND) != 0 && strcmp(ys_json_iter_key(it), OPTION_TRANSPORT) != 0 &&
            strcmp(ys_json_iter_key(it), OPTION_WIRE) != 0)
            return ys_fail(YS_EUNSUPPORTED,
                           "the built-in engine has no option \"%s\"; it has " OPTION_BACKEND ", " OPTION_TRANSPORT
                           " and " OPTION_WIRE,
                           ys_json_iter_key(it));
    ys_record_glance(&options_record, plan->options, options);
    if (options->transport && ys_name_find(&ys_dist_transports, options->transport) == YS_NAME_NONE)
        return ys_fail(YS_EUNSUPPORTED, "option " OPTION_TRANSPORT " is \"%s\": it is tcp or shared",
                       options->transport);
    return YS_OK;
}

static ys_status read_config(const struct ys_plan *plan, struct ys_engine_config *config, struct options *options)
{
    YS_TRY(ys_builtin_plan_config(plan, config));
    if (plan->dist.world != 1 && strcmp(plan->input.kind, "file") != 0)
        return ys_fail(YS_EUNSUPPORTED, "several processes are not fed by a ring: write input = file");
    config->batch /= plan->dist.world;
    config->seed += (uint64_t)plan->dist.rank * RANK_SEED;
    YS_TRY(read_options(plan, options));
    config->backend = options->backend;
    return YS_OK;
}

/** The loss is the graph's; a plan that says otherwise contradicts itself. */
static ys_status check_loss(const struct ys_plan *plan, const struct ys_graph *graph)
{
    const char *own = ys_loss_name(graph->loss);
    if (plan->loss && strcmp(plan->loss, own) != 0)
        return ys_fail(YS_EINVAL, "the plan's loss is %s, its graph's is %s", plan->loss, own);
    if (!isnan(plan->label_smoothing) && plan->label_smoothing != graph->label_smoothing)
        return ys_fail(YS_EINVAL, "the plan's label_smoothing is %g, its graph's is %g", plan->label_smoothing,
                       graph->label_smoothing);
    return YS_OK;
}

static ys_status open_rows(struct adapter *a, const struct ys_plan_input *input)
{
    if (input->kind && strcmp(input->kind, YS_FEED_KIND) == 0)
        return ys_builtin_rows_feed((int)input->channel, (int)input->memory, a->graph, &a->rows);
    if (!input->kind || strcmp(input->kind, "own") != 0) /* its own loader is the mapped file */
        YS_TRY(need_word(input->kind, "kind", "file"));
    YS_TRY(ys_plan_need(input->path, "input.path"));
    return ys_builtin_rows_open(input->path, a->graph, &a->rows);
}

static ys_status open_input(struct adapter *a, const struct ys_plan_input *input)
{
    const struct ys_tensor *tensor;
    YS_TRY(ys_plan_need(input->order, "input.order"));
    YS_TRY(open_rows(a, input));
    YS_TRY(ys_safetensors_open(input->order, &a->order_file));
    YS_TRY(ys_safetensors_need(a->order_file, "order", YS_U32, 2, (int64_t[]){a->steps, a->batch * a->world}, &tensor));
    a->order = tensor->data;
    YS_TRY(ys_safetensors_need(a->order_file, "lr", YS_F64, 1, &a->steps, &tensor));
    a->lr = tensor->data;
    a->epochs = ys_order_epochs(a->order_file, a->steps);
    return YS_OK;
}

static void close_plan(void *self)
{
    struct adapter *a = self;
    ys_dist_close(a->dist); /* before the engine, whose gradients may still be on their way */
    ys_shares_close(a->shares);
    ys_engine_close(a->engine);
    ys_builtin_quantised_close(&a->quantised);
    ys_builtin_cached_close(&a->cached);
    ys_builtin_input_gradient_close(&a->slopes);
    ys_free(a->parts);
    ys_builtin_rows_close(&a->rows);
    ys_safetensors_close(a->order_file);
    ys_graph_free(a->graph);
    ys_onnx_import_free(a->import);
    *a = (struct adapter){0};
}

static ys_status describe(const struct adapter *a, const struct options *options, ys_json *reply)
{
    const char *libraries[] = {NULL, NULL, NULL}, *deviations[] = {NULL, NULL, NULL};
    const struct ys_engine *engine = a->engine ? a->engine : a->cached.engine[0];
    char deviation[64], level[64];
    size_t count = 0;
    if (ys_engine_library(engine)[0])
        libraries[count++] = ys_engine_library(engine);
    snprintf(level, sizeof level, "instructions: %s", ys_level_name());
    libraries[count] = level;
    snprintf(deviation, sizeof deviation, "back end %s", ys_engine_backend(engine));
    count = 0;
    if (options->backend)
        deviations[count++] = deviation;
    if (a->dist && transport_of(options) != YS_DIST_TCP)
        deviations[count++] =
            transport_of(options) == YS_DIST_MPI ? "gradients go through MPI" : "gradients go through shared memory";
    if (a->dist && options->wire)
        deviations[count++] = "gradients go through network namespaces";
    if (a->world > 1 && !a->dist) {
        deviations[count++] = "gradients are not exchanged";
        YS_TRY(ys_json_set_string(reply, "untimed", YS_ADAPTER_ALONE));
    }
    YS_TRY(ys_json_set_int(reply, "parameters", ys_graph_parameter_count(a->graph)));
    YS_TRY(ys_json_set_int(reply, "threads", ys_engine_threads(engine)));
    YS_TRY(ys_adapter_set_names(reply, "libraries", libraries));
    return ys_adapter_set_names(reply, "deviations", deviations);
}

/** An operator that no back end has is lacking, not a damaged file. */
static ys_status check_ops(const char *path, ys_json *reply)
{
    char *op = NULL;
    YS_TRY(ys_graph_find_unknown(path, &op));
    ys_status status = op ? ys_json_set_string(reply, "op", op) : YS_OK;
    if (op && status == YS_OK)
        status = ys_fail(YS_EUNSUPPORTED, "the built-in engine has no operator %.100s", op);
    ys_free(op);
    return status;
}

/** The state that a plan begins with. */
static ys_status load(struct adapter *a)
{
    const struct ys_builtin_state state = {a->engine, a->graph, &a->optimizer, a->batch, a->state};
    YS_TRY(a->import ? ys_builtin_form_load(a->import, a->engine) : ys_engine_load(a->engine, a->weights));
    return a->state ? ys_builtin_state_load(&state) : YS_OK;
}

/** The gradients of the batch are the means of those of its shares, once each has its weight. */
static void weigh(const struct adapter *a, void *values, size_t count)
{
    double *d = values;
    float *f = values;
    for (size_t i = 0; a->format == YS_ENGINE_F64 && i < count; i++)
        d[i] *= a->weight;
    for (size_t i = 0; a->format != YS_ENGINE_F64 && i < count; i++)
        f[i] *= (float)a->weight;
}

static int begin_bucket(void *context, const struct ys_engine_span *spans, size_t count)
{
    struct adapter *a = context;
    struct ys_dist_part *parts = a->parts + a->part_count;
    for (size_t i = 0; i < count; i++) {
        if (a->shares)
            weigh(a, spans[i].values, spans[i].count);
        parts[i] = (struct ys_dist_part){spans[i].values, spans[i].count};
    }
    a->part_count += count;
    return ys_dist_begin(a->dist, parts, count, a->format == YS_ENGINE_F64);
}

static int end_buckets(void *context)
{
    struct adapter *a = context;
    const uint64_t ready_ns = ys_time_ns();
    a->part_count = 0;
    ys_status status = ys_dist_wait(a->dist);
    if (a->timed) {
        a->timed->ready_ns[a->timed->stamp_count] = ready_ns;
        a->timed->reduced_ns[a->timed->stamp_count] = ys_time_ns();
    }
    return status;
}

static int take_mean(void *context, double *values, size_t count)
{
    struct adapter *a = context;
    const struct ys_dist_part part = {values, count};
    return ys_dist_mean(a->dist, &part, 1, true);
}

static ys_status meet(struct adapter *a, const struct ys_plan_dist *dist, const struct options *options)
{
    const struct ys_dist_config config = {.rank = (int)dist->rank,
                                          .world = (int)dist->world,
                                          .rendezvous = dist->rendezvous,
                                          .address = dist->address,
                                          .wire = options->wire,
                                          .transport = transport_of(options)};
    const struct ys_engine_exchange exchange = {
        .bucket_bytes = dist->bucket_bytes == YS_FIELD_NONE ? BUCKET_BYTES : (size_t)dist->bucket_bytes,
        .begin = begin_bucket,
        .end = end_buckets,
        .mean = dist->statistics == YS_STATISTICS_SYNC ? take_mean : NULL,
        .world = (int)dist->world,
        .context = a};
    size_t spans;
    if (dist->world == 1 || dist->strategy == YS_STRATEGY_ALONE)
        return YS_OK;
    YS_TRY(ys_engine_set_exchange(a->engine, &exchange));
    ys_engine_bucket_count(a->engine, &spans);
    a->parts = ys_alloc(spans, sizeof *a->parts);
    return a->parts ? ys_dist_open(&config, &a->dist) : ys_out_of_memory();
}

static bool is_by_pieces(const struct adapter *a)
{
    return a->cached.engine[0] != NULL;
}

static ys_status need_engine(struct adapter *a)
{
    if (a->engine)
        return YS_OK;
    if (a->scales)
        return ys_builtin_quantised_open(a->graph, a->weights, a->scales, &a->config, &a->quantised, &a->engine);
    YS_TRY(ys_engine_open_graph(a->graph, &a->config, &a->engine));
    return load(a);
}

static ys_status open_engines(struct adapter *a, const struct ys_plan *plan)
{
    if (!ys_plan_has_prompt(plan) || a->scales)
        return need_engine(a);
    return ys_builtin_cached_open(plan->graph, plan->weights, plan->prompt, plan->tokens, &a->config, &a->rows,
                                  &a->cached);
}

static ys_status open_parts(struct adapter *a, const struct ys_plan *plan, ys_json *reply)
{
    struct ys_engine_config config = {0};
    struct options options;
    YS_TRY(read_config(plan, &config, &options));
    a->config = config;
    YS_TRY(ys_plan_need(plan->graph, "graph"));
    a->batch = config.batch;
    a->rank = plan->dist.rank;
    a->world = plan->dist.world;
    a->steps = plan->steps;
    a->format = config.precision == YS_ENGINE_F64 ? YS_ENGINE_F64 : YS_ENGINE_F32;
    a->graph_path = plan->graph;
    a->state = plan->state;
    a->scales = plan->scales;
    a->optimizer = config.optimizer;
    YS_TRY(check_ops(plan->graph, reply));
    YS_TRY(ys_builtin_form_open(plan, &a->graph, &a->import, &a->weights));
    YS_TRY(check_loss(plan, a->graph));
    YS_TRY(open_input(a, &plan->input));
    YS_TRY(open_engines(a, plan));
    YS_TRY(ys_shares_open(plan->input.path, plan->input.order, a->world, &a->shares));
    YS_TRY(meet(a, &plan->dist, &options));
    if (a->dist)
        YS_TRY(ys_builtin_tell_exchange(&plan->dist, options.wire, reply));
    if (ys_builtin_form_lacks_graph(plan))
        YS_TRY(ys_json_set_bool(reply, "graph_from_file", false));
    return describe(a, &options, reply);
}

static ys_status open_plan(void *self, const struct ys_plan *plan, ys_json *reply)
{
    ys_status status = open_parts(self, plan, reply);
    if (status != YS_OK)
        close_plan(self);
    return status;
}

static ys_status reset(void *self)
{
    struct adapter *a = self;
    if (!a->engine)
        return YS_OK;
    ys_engine_reset(a->engine);
    return a->scales ? YS_OK : load(a);
}

/** The rows of batch `step` that are this process's. */
static const uint32_t *rows_of(const struct adapter *a, int64_t step)
{
    return a->order + (step * a->world + a->rank) * a->batch;
}

/** Writes the rows of batch `step` straight into the engine's input. */
static ys_status gather(struct adapter *a, int64_t step)
{
    const uint32_t *order = rows_of(a, step);
    a->weight = (double)a->world * ys_share_of(a->shares, a->world, step, a->rank);
    if (a->rows.feed)
        return ys_builtin_rows_take(&a->rows, step, a->engine);
    for (int64_t i = 0; i < a->batch; i++) {
        if (order[i] >= a->rows.count)
            return ys_fail(YS_EINVAL, "the order asks for row %u of %zu in step %lld", order[i], a->rows.count,
                           (long long)step);
        ys_builtin_rows_copy(&a->rows, order[i], (size_t)i, a->engine);
    }
    return YS_OK;
}

/** A tensor in the format that the engine gives out; shape and data are to be filled in. */
static struct ys_tensor real_tensor(const struct adapter *a, const char *name, size_t rank)
{
    return (struct ys_tensor){.name = name, .dtype = a->format == YS_ENGINE_F64 ? YS_F64 : YS_F32, .rank = rank};
}

/** The loss as one element of that format, in `place`. */
static struct ys_tensor loss_tensor(const struct adapter *a, double loss, double *place)
{
    struct ys_tensor t = real_tensor(a, "loss", 0);
    float narrow = (float)loss;
    *place = loss;
    if (t.dtype == YS_F32)
        memcpy(place, &narrow, sizeof narrow);
    t.data = place;
    t.size_bytes = ys_dtype_size(t.dtype);
    return t;
}

/** Writes what a batch in the engine's input gave. */
static ys_status write_forward(struct adapter *a, const void *logits, double loss, const char *path)
{
    double place;
    const struct ys_value *output = &a->graph->values[a->graph->output];
    size_t count = 0;
    struct ys_tensor tensors[YS_ROWS_MAX_INPUTS + 3];
    for (; count <= a->rows.input_count; count++) {
        tensors[count] = *a->rows.array[count];
        tensors[count].data =
            count < a->rows.input_count ? ys_engine_place(a->engine, count) : ys_engine_target(a->engine);
        tensors[count].size_bytes = (size_t)a->batch * a->rows.row_bytes[count];
    }
    tensors[count] = real_tensor(a, "logits", output->rank);
    memcpy(tensors[count].shape, output->shape, sizeof output->shape);
    tensors[count].data = logits;
    tensors[count++].size_bytes = (size_t)(a->batch * ys_value_row_elements(output)) * ys_engine_real_size(a->engine);
    for (size_t i = 0; i < count; i++)
        tensors[i].shape[0] = a->batch;
    tensors[count++] = loss_tensor(a, loss, &place);
    return ys_safetensors_pass(path, tensors, count);
}

static ys_status forward_by_pieces(struct adapter *a, int64_t batch, const char *path)
{
    double loss;
    const size_t count = (size_t)a->batch * ys_engine_row_logits(a->engine);
    void *logits = ys_alloc(count, ys_engine_real_size(a->engine));
    ys_status status =
        logits ? ys_builtin_cached_forward(&a->cached, rows_of(a, batch), logits, &loss) : ys_out_of_memory();
    if (status == YS_OK)
        status = write_forward(a, logits, loss, path);
    ys_free(logits);
    return status;
}

static ys_status forward(void *self, int64_t batch, bool train_mode, const char *path, ys_json *reply)
{
    struct adapter *a = self;
    double loss;
    YS_TRY(need_engine(a));
    YS_TRY(gather(a, batch));
    YS_TRY(ys_json_set_int(reply, "multiply_adds", ys_graph_multiply_adds(a->graph)));
    if (is_by_pieces(a))
        return forward_by_pieces(a, batch, path);
    YS_TRY(ys_engine_forward(a->engine, NULL, NULL, train_mode ? YS_ENGINE_TRAIN : YS_ENGINE_EVAL, &loss));
    return write_forward(a, ys_engine_logits(a->engine), loss, path);
}

/** Tensors for all parameters, or for the gradients of the trained ones. */
struct collection {
    struct ys_tensor *tensors;
    size_t count;
};

static void free_collection(struct collection *c)
{
    for (size_t i = 0; i < c->count; i++) {
        ys_free((void *)(uintptr_t)c->tensors[i].name); /* both made in add_tensor() */
        ys_free((void *)(uintptr_t)c->tensors[i].data);
    }
    ys_free(c->tensors);
}

/** Adds an array of the shape of parameter `param`; its values are to be filled in. NULL: no memory. */
static void *add_tensor(struct adapter *a, size_t param, char *name_taken, struct collection *c)
{
    const struct ys_param *p = &a->graph->params[param];
    size_t count = (size_t)ys_param_elements(p);
    void *data = ys_alloc(count, ys_engine_real_size(a->engine));
    struct ys_tensor *tensor = &c->tensors[c->count++];
    *tensor = real_tensor(a, name_taken, p->rank);
    memcpy(tensor->shape, p->shape, sizeof tensor->shape);
    tensor->data = data;
    tensor->size_bytes = count * ys_engine_real_size(a->engine);
    return name_taken ? data : NULL;
}

static ys_status collect_one(struct adapter *a, bool gradients, size_t param, struct collection *c)
{
    void *data = add_tensor(a, param, ys_format("%s%s", gradients ? "grad." : "", a->graph->params[param].name), c);
    if (!data)
        return ys_out_of_memory();
    return gradients ? ys_engine_gradient_get(a->engine, param, a->format, data)
                     : ys_engine_param_get(a->engine, param, a->format, data);
}

static ys_status collect(struct adapter *a, bool gradients, struct collection *c)
{
    const size_t most = 3 * a->graph->param_count + ys_engine_carried_count(a->engine) + 1;
    *c = (struct collection){.tensors = ys_alloc(most, sizeof *c->tensors)};
    ys_status status = c->tensors ? YS_OK : ys_out_of_memory();
    for (size_t p = 0; status == YS_OK && p < a->graph->param_count; p++)
        if (!gradients || a->graph->params[p].role == YS_ROLE_WEIGHT)
            status = collect_one(a, gradients, p, c);
    return status;
}

static ys_status collect_carried(struct adapter *a, struct collection *c)
{
    for (size_t i = 0; i < ys_engine_carried_count(a->engine); i++) {
        const struct ys_engine_carried array = ys_engine_carried(a->engine, i);
        const size_t count = (size_t)(a->batch * array.hidden), size = ys_engine_real_size(a->engine);
        struct ys_tensor *tensor = &c->tensors[c->count++];
        void *data = ys_alloc(count, size);
        *tensor = real_tensor(a, ys_format("state.%c.%s", array.kind, array.node), 2);
        tensor->shape[0] = a->batch;
        tensor->shape[1] = array.hidden;
        tensor->data = data;
        tensor->size_bytes = count * size;
        if (!data || !tensor->name)
            return ys_out_of_memory();
        YS_TRY(ys_engine_carried_get(a->engine, i, a->format, data));
    }
    return YS_OK;
}

/** What the optimizer keeps, beside the weights: at most two arrays for each, and the number of steps. */
static ys_status collect_state(struct adapter *a, struct collection *c)
{
    for (size_t p = 0; p < a->graph->param_count; p++)
        for (int which = YS_ENGINE_STATE_MEAN; which <= YS_ENGINE_STATE_SQUARE; which++) {
            const char *kept = ys_engine_state_name(&a->optimizer, (enum ys_engine_state)which);
            if (!kept || a->graph->params[p].role != YS_ROLE_WEIGHT)
                continue;
            void *data = add_tensor(a, p, ys_format("state.%s.%s", kept, a->graph->params[p].name), c);
            if (!data)
                return ys_out_of_memory();
            YS_TRY(ys_engine_state_get(a->engine, (enum ys_engine_state)which, p, a->format, data));
        }
    YS_TRY(collect_carried(a, c));
    double *steps = ys_alloc(1, sizeof *steps);
    c->tensors[c->count] = (struct ys_tensor){
        .name = ys_strdup(YS_BUILTIN_STATE_STEPS), .dtype = YS_F64, .data = steps, .size_bytes = sizeof *steps};
    if (!steps || !c->tensors[c->count++].name)
        return ys_out_of_memory();
    *steps = (double)ys_engine_steps(a->engine);
    return YS_OK;
}

static ys_status backward(void *self, int64_t batch, bool train_mode, const char *path)
{
    struct adapter *a = self;
    struct collection c;
    double loss, place;
    YS_TRY(gather(a, batch));
    YS_TRY(ys_engine_backward(a->engine, NULL, NULL, train_mode ? YS_ENGINE_TRAIN : YS_ENGINE_EVAL, &loss));
    ys_status status = collect(a, true, &c);
    if (status == YS_OK) {
        c.tensors[c.count] = loss_tensor(a, loss, &place); /* there is room for one more; it owns nothing */
        status = ys_safetensors_pass(path, c.tensors, c.count + 1);
    }
    free_collection(&c);
    return status;
}

/* As the engine holds them. */
static ys_status write_weights(struct adapter *a, bool with_state, const char *path)
{
    struct collection c;
    ys_status status = collect(a, false, &c);
    if (status == YS_OK && with_state)
        status = collect_state(a, &c);
    if (status == YS_OK)
        status = ys_safetensors_pass(path, c.tensors, c.count);
    free_collection(&c);
    return status;
}

/** The first batch of an epoch begins with no state. */
static void end_step(struct adapter *a, int64_t step)
{
    if (a->epochs && step + 1 < a->steps && a->epochs[step + 1] != a->epochs[step])
        ys_engine_carried_clear(a->engine);
}

static ys_status step(void *self, int64_t first, int64_t count, const char *path)
{
    struct adapter *a = self;
    YS_TRY(need_engine(a));
    for (int64_t s = first; s < first + count; s++) {
        YS_TRY(gather(a, s));
        YS_TRY(ys_engine_step(a->engine, NULL, NULL, a->lr[s], NULL));
        end_step(a, s);
    }
    return write_weights(a, false, path);
}

static ys_status train_steps(struct adapter *a, int64_t first, int64_t count, struct ys_block *block)
{
    for (int64_t s = first; s < first + count; s++) {
        uint64_t before_ns = ys_time_ns();
        YS_TRY(gather(a, s));
        const size_t place = block->stamp_count;
        block->began_ns[place] = ys_time_ns();
        block->input_ns += block->began_ns[place] - before_ns;
        YS_TRY(ys_engine_step(a->engine, NULL, NULL, a->lr[s], &block->loss[block->loss_count]));
        block->updated_ns[place] = ys_time_ns();
        block->stamp_count += a->dist != NULL; /* which has noted the other two */
        end_step(a, s);
        block->loss_count++;
    }
    return YS_OK;
}

static ys_status train(void *self, int64_t first, int64_t count, struct ys_block *block)
{
    struct adapter *a = self;
    const struct ys_dist_counters before = a->dist ? ys_dist_counters(a->dist) : (struct ys_dist_counters){0, 0};
    block->t_start_ns = ys_time_ns();
    a->timed = block;
    ys_status status = train_steps(a, first, count, block);
    a->timed = NULL;
    block->t_end_ns = ys_time_ns();
    if (a->dist)
        ys_builtin_count_exchange(a->dist, &before, block);
    return status;
}

static ys_status infer(void *self, int64_t batch, struct ys_adapter_logits *logits)
{
    struct adapter *a = self;
    const struct ys_value *output = &a->graph->values[a->graph->output];
    YS_TRY(gather(a, batch));
    YS_TRY(ys_engine_forward(a->engine, NULL, NULL, YS_ENGINE_EVAL, NULL));
    *logits = (struct ys_adapter_logits){.values = ys_engine_logits(a->engine),
                                         .count = (size_t)(a->batch * ys_value_row_elements(output)),
                                         .in_double = a->format == YS_ENGINE_F64};
    return YS_OK;
}

static ys_status infer_piece(void *self, int64_t batch, int64_t piece, struct ys_adapter_logits *logits)
{
    struct adapter *a = self;
    int64_t first, count = ys_builtin_cached_piece(&a->cached, piece, &first);
    *logits = (struct ys_adapter_logits){.count = (size_t)(a->batch * count * ys_engine_classes(a->cached.engine[0])),
                                         .in_double = a->format == YS_ENGINE_F64};
    return ys_builtin_cached_answer(&a->cached, rows_of(a, batch), piece, &logits->values, NULL);
}

static ys_status input_gradient(void *self, const char *inputs, const char *cotangent, const char *path, ys_json *reply)
{
    struct adapter *a = self;
    YS_TRY(need_engine(a));
    return ys_builtin_input_gradient(&a->slopes, a->graph_path, &a->config, a->engine, inputs, cotangent, path, reply);
}

static ys_status save(void *self, const char *path, bool in_double)
{
    struct adapter *a = self;
    YS_TRY(need_engine(a));
    return in_double ? write_weights(a, false, path) : ys_engine_save(a->engine, path);
}

static ys_status save_form(void *self, const char *form, const char *path)
{
    struct adapter *a = self;
    YS_TRY(need_engine(a));
    return ys_builtin_form_save(a->engine, a->graph, form, path);
}

static ys_status save_state(void *self, const char *path)
{
    return write_weights(self, true, path);
}

int ys_builtin_serve(void)
{
    struct abilities abilities = find_abilities();
    const struct ys_adapter_ops ops = {.about = {.adapter = "builtin",
                                                 .framework = "yardstick built-in engine",
                                                 .precisions = abilities.precisions,
                                                 .ops = abilities.ops,
                                                 .optimizers = ys_builtin_optimizers,
                                                 .forms = ys_builtin_forms,
                                                 .dist = true,
                                                 .alone = true},
                                       .open = open_plan,
                                       .reset = reset,
                                       .forward = forward,
                                       .backward = backward,
                                       .step = step,
                                       .train = train,
                                       .infer = infer,
                                       .infer_piece = infer_piece,
                                       .input_gradient = input_gradient,
                                       .save = save,
                                       .save_state = save_state,
                                       .save_form = save_form,
                                       .close = close_plan};
    struct adapter adapter = {0};
    return ys_adapter_serve_environment(&ops, &adapter);
}
