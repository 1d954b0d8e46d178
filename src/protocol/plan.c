#include "protocol/plan.h"

#include "base/mem.h"
#include "yardstick/protocol.h"

#include <math.h>
#include <string.h>

enum { OPTIONAL = YS_FIELD_NULL | YS_FIELD_LATER, LACKS = YS_FIELD_NULL | YS_FIELD_MAY_LACK };

#define INPUT(member, what)      YS_FIELD(struct ys_plan_input, member, YS_FIELD_TEXT, NULL, OPTIONAL, what)
#define RING(member, kind, what) YS_FIELD(struct ys_plan_input, member, kind, NULL, LACKS, what)
static const struct ys_field input_fields[] = {
    INPUT(kind, "file, ring or own"),
    INPUT(path, "the data"),
    INPUT(order, "rows, epoch and rate of each step"),
    RING(augment, YS_FIELD_TEXT, "how rows of a ring are changed by lot"),
    RING(decode, YS_FIELD_TEXT, "whether images of a ring are decoded at a reduced size"),
    RING(dtype, YS_FIELD_TEXT, "of the pixels of a ring"),
    RING(crop, YS_FIELD_INT, "side of what is cut out of the images of a ring"),
    RING(seed, YS_FIELD_INT, "of what is drawn by lot"),
    RING(threads, YS_FIELD_INT, "that fill the ring, or of the framework's own loader"),
    RING(cpus, YS_FIELD_INTS, "that the feeder is bound to"),
    RING(channel, YS_FIELD_INT, "descriptor of the socket to the feeder"),
    RING(memory, YS_FIELD_INT, "descriptor of the ring"),
};
static const struct ys_record input_record = YS_RECORD("input", struct ys_plan_input, input_fields);

#define NUMBER(member, what) YS_FIELD(struct ys_plan_optimizer, member, YS_FIELD_REAL, NULL, OPTIONAL, what)
static const struct ys_field optimizer_fields[] = {
    YS_FIELD(struct ys_plan_optimizer, name, YS_FIELD_TEXT, NULL, OPTIONAL, "the rule"),
    NUMBER(momentum, "m"),
    YS_FIELD(struct ys_plan_optimizer, nesterov, YS_FIELD_FLAG, NULL, YS_FIELD_LATER, "of sgd"),
    NUMBER(weight_decay, "d"),
    NUMBER(beta1, "of adam and adamw"),
    NUMBER(beta2, "of adam and adamw"),
    NUMBER(alpha, "of rmsprop"),
    NUMBER(epsilon, "of adam, adamw and rmsprop"),
    NUMBER(clip_norm, "the norm that all gradients together are scaled down to; null for none"),
};
const struct ys_record ys_plan_optimizer_record = YS_RECORD("optimizer", struct ys_plan_optimizer, optimizer_fields);

static const struct ys_field dist_fields[] = {
    YS_FIELD(struct ys_plan_dist, rank, YS_FIELD_INT, NULL, YS_FIELD_LATER, "of this process"),
    YS_FIELD(struct ys_plan_dist, world, YS_FIELD_INT, NULL, OPTIONAL, "processes"),
    YS_FIELD(struct ys_plan_dist, local_rank, YS_FIELD_INT, NULL, YS_FIELD_LATER, "among those of its host"),
    YS_FIELD(struct ys_plan_dist, rendezvous, YS_FIELD_TEXT, NULL, OPTIONAL, "where they meet; null for one"),
    YS_FIELD(struct ys_plan_dist, address, YS_FIELD_TEXT, NULL, LACKS, "of this one's host, for the others"),
    YS_FIELD_NAMED(struct ys_plan_dist, statistics, &ys_statistics, LACKS, "of batch normalisation"),
    YS_FIELD_NAMED(struct ys_plan_dist, strategy, &ys_strategies, LACKS, "what they divide"),
    YS_FIELD(struct ys_plan_dist, bucket_bytes, YS_FIELD_INT, "B", LACKS, "gradients that are exchanged together"),
};
static const struct ys_record dist_record = YS_RECORD("dist", struct ys_plan_dist, dist_fields);

static const struct ys_field stored_fields[] = {
    YS_FIELD(struct ys_plan_stored, form, YS_FIELD_TEXT, NULL, OPTIONAL, "of those that hello tells"),
    YS_FIELD(struct ys_plan_stored, path, YS_FIELD_TEXT, NULL, OPTIONAL, "of a file or folder"),
};
static const struct ys_record stored_record = YS_RECORD("stored", struct ys_plan_stored, stored_fields);

#define MADE(member, what) YS_FIELD(struct ys_plan_converted, member, YS_FIELD_TEXT, NULL, LACKS, what)
static const struct ys_field converted_fields[] = {
    MADE(by, "which tool, and its version"),
    MADE(path, "of the file that it made"),
    MADE(code, "how it ended where there is none: unsupported or build_failed"),
    MADE(message, "its last line then"),
};
const struct ys_record ys_plan_converted_record = YS_RECORD("converted", struct ys_plan_converted, converted_fields);

static const struct ys_field quantise_fields[] = {
    YS_FIELD(struct ys_plan_quantise, rule, YS_FIELD_JSON, NULL, OPTIONAL,
             "by which rule, in the words of a file of scales"),
    YS_FIELD(struct ys_plan_quantise, data, YS_FIELD_TEXT, NULL, LACKS, "path of the training rows"),
    YS_FIELD(struct ys_plan_quantise, order, YS_FIELD_TEXT, NULL, LACKS, "path of which of them to calibrate on"),
};
const struct ys_record ys_plan_quantise_record = YS_RECORD("quantise", struct ys_plan_quantise, quantise_fields);

#define SAYS(member, kind, flags, what) YS_FIELD(struct ys_plan, member, kind, NULL, flags, what)
#define HAS(member, record, what)       YS_FIELD_OF(struct ys_plan, member, YS_FIELD_OBJECT, record, OPTIONAL, what)
static const struct ys_field plan_fields[] = {
    SAYS(format, YS_FIELD_TEXT, OPTIONAL, YS_PLAN_FORMAT),
    SAYS(version, YS_FIELD_INT, OPTIONAL, "1"),
    YS_FIELD_NAMED(struct ys_plan, mode, &ys_modes, OPTIONAL, "train, infer, attack or size"),
    SAYS(model, YS_FIELD_TEXT, OPTIONAL, "a name, for messages only"),
    SAYS(graph, YS_FIELD_TEXT, OPTIONAL, "path of the network"),
    SAYS(weights, YS_FIELD_TEXT, OPTIONAL, "path of the initial values"),
    HAS(input, &input_record, "the data"),
    SAYS(batch, YS_FIELD_INT, OPTIONAL, "rows of a batch"),
    SAYS(steps, YS_FIELD_INT, OPTIONAL, "of the run"),
    SAYS(block, YS_FIELD_INT, OPTIONAL, "that train will be asked for"),
    SAYS(eval_every, YS_FIELD_INT, OPTIONAL, "steps between two saves; 0 for none"),
    SAYS(requests, YS_FIELD_INT, LACKS, "of a run that infers"),
    SAYS(prompt, YS_FIELD_INT, LACKS, "positions of a row that are answered together; none: all"),
    SAYS(tokens, YS_FIELD_INT, LACKS, "those behind them, which are answered one by one"),
    SAYS(seed, YS_FIELD_INT, YS_FIELD_LATER, "of the masks of dropout"),
    YS_FIELD_NAMED(struct ys_plan, precision, &ys_precisions, OPTIONAL, "f64, f32 or bf16"),
    SAYS(loss, YS_FIELD_TEXT, OPTIONAL, "the graph's"),
    SAYS(label_smoothing, YS_FIELD_REAL, OPTIONAL, "the graph's; 0 without"),
    HAS(optimizer, &ys_plan_optimizer_record, "the rule and all its numbers"),
    SAYS(threads, YS_FIELD_INT, OPTIONAL, "threads to compute with"),
    SAYS(cpus, YS_FIELD_INTS, OPTIONAL, "processors that the process is bound to"),
    SAYS(device, YS_FIELD_TEXT, OPTIONAL, "cpu"),
    SAYS(options, YS_FIELD_JSON, OPTIONAL, "the trial's own for this framework"),
    HAS(dist, &dist_record, "this process among those of the run"),
    SAYS(folder, YS_FIELD_TEXT, OPTIONAL, "where the adapter may write"),
    SAYS(onnx, YS_FIELD_TEXT, LACKS, "path of graph and weights in one, for frameworks that read ONNX"),
    YS_FIELD_OF(struct ys_plan, converted, YS_FIELD_OBJECT_OWNED, &ys_plan_converted_record, LACKS,
                "graph and weights in one, as the framework's converter made it"),
    SAYS(scales, YS_FIELD_TEXT, LACKS, "path of the scales that the network is quantised with"),
    YS_FIELD_OF(struct ys_plan, quantise, YS_FIELD_OBJECT_OWNED, &ys_plan_quantise_record, LACKS,
                "how the framework's own quantiser is to make integers of it"),
    YS_FIELD_OF(struct ys_plan, stored, YS_FIELD_OBJECT_OWNED, &stored_record, LACKS,
                "that the network is loaded from"),
    SAYS(state, YS_FIELD_TEXT, LACKS, "path of what the optimizer begins with, of the built-in engine alone"),
};
const struct ys_record ys_plan_record = YS_RECORD("plan", struct ys_plan, plan_fields);

void ys_plan_init(struct ys_plan *plan)
{
    ys_record_init(&ys_plan_record, plan);
    plan->version = YS_PLAN_VERSION;
    plan->dist.world = 1;
    plan->format = ys_strdup(YS_PLAN_FORMAT);
}

void ys_plan_fini(struct ys_plan *plan)
{
    ys_record_fini(&ys_plan_record, plan);
}

ys_status ys_plan_copy(const struct ys_plan *plan, struct ys_plan *copy)
{
    return ys_record_copy(&ys_plan_record, plan, copy);
}

/** A word that none of this version's adapters knows is no damage: it is what they lack. */
static ys_status check_word(const ys_json *json, const char *key, const struct ys_names *names)
{
    const char *text = ys_json_get_text(json, key, NULL);
    if (!text || ys_name_find(names, text) != YS_NAME_NONE)
        return YS_OK;
    return ys_fail(YS_EUNSUPPORTED, "%s \"%s\" is not yet available", names->what, text);
}

static void set_usual(struct ys_plan *plan)
{
    struct ys_plan_optimizer *optimizer = &plan->optimizer;
    const struct {
        int64_t *place, usual;
    } counts[] = {{&plan->eval_every, 0}, {&plan->threads, 1}, {&plan->dist.world, 1}};
    const struct {
        double *place, usual;
    } numbers[] = {{&optimizer->momentum, 0},  {&optimizer->weight_decay, 0}, {&optimizer->beta1, 0.9},
                   {&optimizer->beta2, 0.999}, {&optimizer->alpha, 0.99},     {&optimizer->epsilon, 1e-8}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (*counts[i].place == YS_FIELD_NONE)
            *counts[i].place = counts[i].usual;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (isnan(*numbers[i].place))
            *numbers[i].place = numbers[i].usual;
    if (plan->precision == YS_NAME_NONE)
        plan->precision = YS_PRECISION_F32;
}

static ys_status check_range(const char *key, int64_t value, int64_t high)
{
    if (value == YS_FIELD_NONE)
        return ys_fail(YS_EPROTOCOL, "the plan lacks \"%s\", which must be an integer", key);
    if (value < 1 || value > high)
        return ys_fail(YS_EPROTOCOL, "the plan's \"%s\" is %lld; it must lie between 1 and %lld", key, (long long)value,
                       (long long)high);
    return YS_OK;
}

bool ys_plan_is_apart(const struct ys_plan *plan, bool has_batchnorm)
{
    return has_batchnorm && plan->dist.world > 1 && plan->dist.statistics != YS_STATISTICS_SYNC;
}

bool ys_plan_has_prompt(const struct ys_plan *plan)
{
    return plan->prompt != YS_FIELD_NONE;
}

static ys_status check_dist(const struct ys_plan_dist *dist, int64_t batch)
{
    YS_TRY(check_range("dist.world", dist->world, INT32_MAX));
    if (dist->rank < 0 || dist->rank >= dist->world)
        return ys_fail(YS_EPROTOCOL, "the plan's \"dist.rank\" is %lld; it must lie between 0 and %lld",
                       (long long)dist->rank, (long long)dist->world - 1);
    if (batch % dist->world != 0)
        return ys_fail(YS_EPROTOCOL, "the plan's batch of %lld rows has no equal shares for %lld ranks",
                       (long long)batch, (long long)dist->world);
    return YS_OK;
}

ys_status ys_plan_check(const struct ys_plan *plan)
{
    if (plan->mode == YS_NAME_NONE)
        return ys_fail(YS_EPROTOCOL,
                       "the plan lacks \"mode\", which must be \"train\", \"infer\", \"attack\" or \"size\"");
    YS_TRY(check_range("batch", plan->batch, INT32_MAX));
    YS_TRY(check_range("steps", plan->steps, INT64_MAX));
    if (ys_mode_of(plan->mode)->trains)
        YS_TRY(check_range("block", plan->block, YS_PROTOCOL_BLOCK_LIMIT));
    if (plan->prompt != YS_FIELD_NONE) {
        if (plan->mode != YS_MODE_INFER)
            return ys_fail(YS_EPROTOCOL, "the plan's \"prompt\" is %lld: there is one only in mode \"infer\"",
                           (long long)plan->prompt);
        YS_TRY(check_range("prompt", plan->prompt, INT32_MAX));
        YS_TRY(check_range("tokens", plan->tokens, YS_PROTOCOL_LATENCIES_LIMIT));
    }
    YS_TRY(check_dist(&plan->dist, plan->batch));
    if (plan->stored && (!plan->stored->form || !plan->stored->path || plan->mode != YS_MODE_SIZE))
        return ys_fail(YS_EPROTOCOL,
                       "the plan's \"stored\" must have form and path, and is there only in mode \"size\"");
    if (!plan->folder)
        return ys_fail(YS_EPROTOCOL, "the plan lacks \"folder\", the folder that answers are written to");
    return YS_OK;
}

static ys_status check_format(const ys_json *json)
{
    const ys_json *version = ys_json_get(json, "version");
    if (strcmp(ys_json_get_text(json, "format", ""), YS_PLAN_FORMAT) != 0)
        return ys_fail(YS_EPROTOCOL, "the plan must be an object with format \"%s\"", YS_PLAN_FORMAT);
    if (ys_json_type_of(version) != YS_JSON_INT)
        return ys_fail(YS_EPROTOCOL, "the plan's \"version\" must be an integer");
    if (ys_json_integer(version, 0) != YS_PLAN_VERSION)
        return ys_fail(YS_EUNSUPPORTED, "plan version %lld is unknown; this adapter reads version %d",
                       (long long)ys_json_integer(version, 0), YS_PLAN_VERSION);
    return YS_OK;
}

ys_status ys_plan_read(const ys_json *json, struct ys_plan *plan)
{
    ys_record_init(&ys_plan_record, plan);
    YS_TRY(check_format(json));
    YS_TRY(check_word(json, "mode", &ys_modes));
    YS_TRY(check_word(json, "precision", &ys_precisions));
    ys_status status = ys_record_read(&ys_plan_record, json, "the plan", plan);
    if (status != YS_OK) /* as the answer to a message it is the message that is wrong */
        return status == YS_EFORMAT ? YS_EPROTOCOL : status;
    set_usual(plan);
    status = ys_plan_check(plan);
    if (status != YS_OK)
        ys_plan_fini(plan);
    return status;
}

ys_status ys_plan_need(const char *text, const char *key)
{
    return text ? YS_OK : ys_fail(YS_EINVAL, "the plan has no text \"%s\"", key);
}
