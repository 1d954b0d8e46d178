#include "protocol/plan.h"

#include "base/mem.h"

#include <math.h>

enum { OPTIONAL = YS_FIELD_NULL | YS_FIELD_LATER, LACKS = YS_FIELD_NULL | YS_FIELD_MAY_LACK };

#define INPUT(member, what) YS_FIELD(struct ys_plan_input, member, YS_FIELD_TEXT, NULL, OPTIONAL, what)
static const struct ys_field input_fields[] = {
    INPUT(kind, "file"),
    INPUT(path, "the data"),
    INPUT(order, "rows and rate of each step"),
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
static const struct ys_record optimizer_record = YS_RECORD("optimizer", struct ys_plan_optimizer, optimizer_fields);

static const struct ys_field dist_fields[] = {
    YS_FIELD(struct ys_plan_dist, rank, YS_FIELD_INT, NULL, YS_FIELD_LATER, "of this process"),
    YS_FIELD(struct ys_plan_dist, world, YS_FIELD_INT, NULL, OPTIONAL, "processes"),
    YS_FIELD(struct ys_plan_dist, rendezvous, YS_FIELD_JSON, NULL, OPTIONAL, "where they meet; null for one"),
};
static const struct ys_record dist_record = YS_RECORD("dist", struct ys_plan_dist, dist_fields);

#define SAYS(member, kind, flags, what) YS_FIELD(struct ys_plan, member, kind, NULL, flags, what)
#define HAS(member, record, what)       YS_FIELD_OF(struct ys_plan, member, YS_FIELD_OBJECT, record, OPTIONAL, what)
static const struct ys_field plan_fields[] = {
    SAYS(format, YS_FIELD_TEXT, OPTIONAL, YS_PLAN_FORMAT),
    SAYS(version, YS_FIELD_INT, OPTIONAL, "1"),
    YS_FIELD_NAMED(struct ys_plan, mode, &ys_modes, OPTIONAL, "train or infer"),
    SAYS(model, YS_FIELD_TEXT, OPTIONAL, "a name, for messages only"),
    SAYS(graph, YS_FIELD_TEXT, OPTIONAL, "path of the network"),
    SAYS(weights, YS_FIELD_TEXT, OPTIONAL, "path of the initial values"),
    HAS(input, &input_record, "the data"),
    SAYS(batch, YS_FIELD_INT, OPTIONAL, "rows of a batch"),
    SAYS(steps, YS_FIELD_INT, YS_FIELD_LATER, "of the run"),
    SAYS(block, YS_FIELD_INT, OPTIONAL, "that train will be asked for"),
    SAYS(eval_every, YS_FIELD_INT, OPTIONAL, "steps between two saves; 0 for none"),
    SAYS(requests, YS_FIELD_INT, LACKS, "of a run that infers"),
    SAYS(seed, YS_FIELD_INT, YS_FIELD_LATER, "of the masks of dropout"),
    YS_FIELD_NAMED(struct ys_plan, precision, &ys_precisions, OPTIONAL, "f64, f32 or bf16"),
    SAYS(loss, YS_FIELD_TEXT, OPTIONAL, "the graph's"),
    SAYS(label_smoothing, YS_FIELD_REAL, OPTIONAL, "the graph's; 0 without"),
    HAS(optimizer, &optimizer_record, "the rule and all its numbers"),
    SAYS(threads, YS_FIELD_INT, OPTIONAL, "threads to compute with"),
    SAYS(cpus, YS_FIELD_INTS, OPTIONAL, "processors that the process is bound to"),
    SAYS(device, YS_FIELD_TEXT, OPTIONAL, "cpu"),
    SAYS(options, YS_FIELD_JSON, OPTIONAL, "the trial's own for this framework"),
    HAS(dist, &dist_record, "this process among those of the run"),
    SAYS(folder, YS_FIELD_TEXT, OPTIONAL, "where the adapter may write"),
};
const struct ys_record ys_plan_record = YS_RECORD("plan", struct ys_plan, plan_fields);

ys_status ys_plan_init(struct ys_plan *plan)
{
    ys_record_init(&ys_plan_record, plan);
    plan->version = YS_PLAN_VERSION;
    plan->dist.world = 1;
    plan->format = ys_strdup(YS_PLAN_FORMAT);
    return plan->format ? YS_OK : ys_out_of_memory();
}

void ys_plan_fini(struct ys_plan *plan)
{
    ys_record_fini(&ys_plan_record, plan);
}

ys_json *ys_plan_json(const struct ys_plan *plan)
{
    return ys_record_json(&ys_plan_record, plan);
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
    } counts[] = {
        {&plan->batch, 1}, {&plan->block, 1}, {&plan->eval_every, 0}, {&plan->threads, 1}, {&plan->dist.world, 1}};
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
    if (plan->mode == YS_NAME_NONE)
        plan->mode = YS_MODE_TRAIN;
    if (plan->precision == YS_NAME_NONE)
        plan->precision = YS_PRECISION_F32;
}

ys_status ys_plan_read(const ys_json *json, struct ys_plan *plan)
{
    ys_record_init(&ys_plan_record, plan);
    YS_TRY(check_word(json, "mode", &ys_modes));
    YS_TRY(check_word(json, "precision", &ys_precisions));
    ys_status status = ys_record_read(&ys_plan_record, json, "the plan", plan);
    set_usual(plan);
    return status;
}
