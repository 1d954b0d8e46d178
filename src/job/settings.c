#include "job/settings.h"

#include "graph/model.h"
#include "graph/scales.h"

#include <string.h>

static const char *const compare_words[] = {
    [YS_COMPARE_CONTROLLED] = "controlled", [YS_COMPARE_SAME_WEIGHTS] = "same-weights", [YS_COMPARE_OWN] = "own"};
const struct ys_names ys_compares = YS_NAMES("way to compare", compare_words);

static const char *const init_words[] = {
    [YS_INIT_AUTO] = "auto", [YS_INIT_FROM_SEED] = "seed", [YS_INIT_FROM_FILE] = "file"};
const struct ys_names ys_init_froms = YS_NAMES("source of initial values", init_words);

static const char *const layout_words[] = {
    [YS_LAYOUT_AUTO] = "auto", [YS_LAYOUT_NCHW] = "nchw", [YS_LAYOUT_NHWC] = "nhwc"};
const struct ys_names ys_layouts = YS_NAMES("layout of images", layout_words);
static const char *const bad_row_words[] = {[YS_BAD_ROW_REFUSE] = "refuse", [YS_BAD_ROW_SKIP] = "skip"};
static const struct ys_names on_bad_rows = YS_NAMES("way to take a bad row", bad_row_words);

static const char *const decode_words[] = {
    [YS_DECODE_ONCE] = "once", [YS_DECODE_LIVE] = "live", [YS_DECODE_REDUCED] = "reduced"};
static const struct ys_names decodes = YS_NAMES("way to decode", decode_words);
static const char *const dtype_words[] = {[YS_INPUT_UINT8] = "uint8", [YS_INPUT_FLOAT32] = "float32"};
static const struct ys_names dtypes = YS_NAMES("type of pixels", dtype_words);

static const char *const switch_words[] = {[YS_OFF] = "off", [YS_ON] = "on"};
static const struct ys_names switches = YS_NAMES("choice", switch_words);

/* Every key may be absent: studies were stored before there was one of them. */
#define KEY(member, kind, unit, flags, what)                                                                           \
    YS_FIELD(struct ys_trial_settings, member, kind, unit, YS_FIELD_LATER | (flags), what)
#define WORD(member, names, what) YS_FIELD_NAMED(struct ys_trial_settings, member, names, YS_FIELD_LATER, what)

/* A key "model.freeze" of the network. */
#define MODEL_KEY(member, says)                                                                                        \
    {                                                                                                                  \
        .name = "model." #member, .kind = YS_FIELD_TEXT, .offset = offsetof(struct ys_trial_settings, model_##member), \
        .flags = YS_FIELD_LATER | YS_FIELD_NULL, .what = (says)                                                        \
    }

#define MODEL_SIZE(member, form, says)                                                                                 \
    {                                                                                                                  \
        .name = "model." #member, .kind = form, .offset = offsetof(struct ys_trial_settings, model_##member),          \
        .unit = "1", .flags = YS_FIELD_LATER | YS_FIELD_NULL, .what = (says)                                           \
    }

#define ATTACK_KEY(member, form, unit_of, says)                                                                        \
    {                                                                                                                  \
        .name = "attack." #member, .kind = (form), .offset = offsetof(struct ys_trial_settings, attack_##member),      \
        .unit = (unit_of), .flags = YS_FIELD_LATER | YS_FIELD_NULL, .what = (says)                                     \
    }

#define QUANT_WORD(key, member, names, what)                                                                           \
    {                                                                                                                  \
        key, YS_FIELD_ENUM, offsetof(struct ys_trial_settings, member), NULL, YS_FIELD_LATER | YS_FIELD_NULL, what,    \
            NULL, names                                                                                                \
    }

static const struct ys_field fields[] = {
    WORD(mode, &ys_modes, "what is measured"),
    KEY(framework, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "who does the work, as it was asked for"),
    KEY(device, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "where the work is done"),
    KEY(model, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "network"),
    KEY(data, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "data set"),
    KEY(input, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "how batches reach the framework"),
    KEY(batch, YS_FIELD_INT, "rows", 0, "rows of a batch"),
    KEY(global_batch, YS_FIELD_INT, "rows", YS_FIELD_NULL, "of all ranks together; null: batch times ranks"),
    KEY(ranks, YS_FIELD_INT, "1", YS_FIELD_NULL, "processes that train together; null: one"),
    KEY(nodes, YS_FIELD_INT, "1", YS_FIELD_NULL, "hosts that they are on, by agents; null: this one, without"),
    KEY(ranks_per_node, YS_FIELD_INT, "1", YS_FIELD_NULL, "of each host; null of one"),
    {"launch", YS_FIELD_ENUM, offsetof(struct ys_trial_settings, launch), NULL, YS_FIELD_LATER | YS_FIELD_NULL,
     "how agents are started; null of one host", NULL, &ys_launchers},
    KEY(hosts, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "of launch = ssh: their list, or the path of a file; else null"),
    {"strategy", YS_FIELD_ENUM, offsetof(struct ys_trial_settings, strategy), NULL, YS_FIELD_LATER | YS_FIELD_NULL,
     "what they divide; null of one, as the next", NULL, &ys_strategies},
    {"bn", YS_FIELD_ENUM, offsetof(struct ys_trial_settings, bn), NULL, YS_FIELD_LATER | YS_FIELD_NULL,
     "whose rows batch normalisation is by", NULL, &ys_statistics},
    KEY(bucket, YS_FIELD_INT, "B", YS_FIELD_NULL, "gradients that ranks exchange together; null: the framework's own"),
    KEY(block, YS_FIELD_INT, "steps", 0, "steps between two synchronisations"),
    KEY(epochs, YS_FIELD_INT, "1", YS_FIELD_NULL, "passes over the data; null where steps or requests say it"),
    KEY(steps, YS_FIELD_INT, "steps", YS_FIELD_NULL, "null where epochs or requests say it"),
    KEY(requests, YS_FIELD_INT, "requests", YS_FIELD_NULL, "null where nothing is answered"),
    {"prompt", YS_FIELD_INT, offsetof(struct ys_trial_settings, prompt), "positions", YS_FIELD_LATER | YS_FIELD_NULL,
     "of each row that are answered together, before the others one by one; null: rows are answered whole"},
    KEY(optimizer, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "null where nothing is trained, as the next eight"),
    KEY(lr, YS_FIELD_REAL, "1", YS_FIELD_NULL, "learning rate"),
    KEY(momentum, YS_FIELD_REAL, "1", YS_FIELD_NULL, "share of the last change that is kept"),
    KEY(weight_decay, YS_FIELD_REAL, "1", YS_FIELD_NULL, "added to each gradient times the weight"),
    KEY(schedule, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "how the learning rate changes"),
    KEY(clip_norm, YS_FIELD_REAL, "1", YS_FIELD_NULL, "largest norm of the gradient; null: any"),
    {"carry_state", YS_FIELD_ENUM, offsetof(struct ys_trial_settings, carry_state), NULL,
     YS_FIELD_LATER | YS_FIELD_NULL, "whether the state of LSTM and GRU goes on from batch to batch", NULL, &switches},
    KEY(loss, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "what is made small"),
    WORD(precision, &ys_precisions, "format of the numbers computed with"),
    QUANT_WORD("quant", quant, &ys_quant_kinds, "how it is computed in integers; null: not at all"),
    QUANT_WORD("quant.by", quant_by, &ys_quant_makers, "who chose the scales; null as above"),
    QUANT_WORD("quant.scheme", quant_scheme, &ys_quant_schemes, "how many scales a weight has; null as above"),
    {"quant.calibration", YS_FIELD_TEXT, offsetof(struct ys_trial_settings, quant_calibration), NULL,
     YS_FIELD_LATER | YS_FIELD_NULL, "by what ranges of activations are chosen; null where none are"},
    {"quant.rows", YS_FIELD_INT, offsetof(struct ys_trial_settings, quant_rows), "rows", YS_FIELD_LATER | YS_FIELD_NULL,
     "training rows that they are chosen by; null likewise"},
    QUANT_WORD("quant.range", quant_range, &ys_quant_ranges, "integers that weights have; null: none"),
    KEY(eval_every, YS_FIELD_INT, "steps", YS_FIELD_NULL, "between two evaluations; null: at the end alone"),
    {"until", YS_FIELD_TEXT, offsetof(struct ys_trial_settings, until), NULL, YS_FIELD_LATER | YS_FIELD_NULL,
     "what a checkpoint's weights have to be worth so that the run ends; null: it does all of its steps"},
    {"tune.rows", YS_FIELD_REAL, offsetof(struct ys_trial_settings, tune_rows), "1", YS_FIELD_LATER | YS_FIELD_NULL,
     "share of the training rows that is kept from training and evaluated; null: the test rows are"},
    KEY(attack, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "what the weights have to withstand; null: nothing"),
    ATTACK_KEY(rows, YS_FIELD_INT, "rows", "test rows that are attacked; null where nothing attacks, as the next ones"),
    ATTACK_KEY(restarts, YS_FIELD_INT, "1", "how often pgd begins anew"),
    ATTACK_KEY(curve, YS_FIELD_TEXT, NULL, "changes at which pgd tells what accuracy is left; null: none"),
    ATTACK_KEY(twins, YS_FIELD_INT, "1", "trainings of the built-in engine that rounding alone sets apart; null: none"),
    {"attack.transfer", YS_FIELD_ENUM, offsetof(struct ys_trial_settings, attack_transfer), NULL,
     YS_FIELD_LATER | YS_FIELD_NULL, "whether it is shown what was made on others' weights; null where nothing attacks",
     NULL, &switches},
    WORD(compare, &ys_compares, "what trials have in common"),
    KEY(rows, YS_FIELD_INT, "rows", YS_FIELD_NULL, "test rows that same weights predict; null: all"),
    KEY(form, YS_FIELD_TEXT, NULL, YS_FIELD_LATER | YS_FIELD_NULL, "of a stored model; null but in mode size"),
    {"taught.batch", YS_FIELD_INT, offsetof(struct ys_trial_settings, taught_batch), "rows",
     YS_FIELD_LATER | YS_FIELD_NULL, "rows of a training batch of the common weights; null where there are none"},
    KEY(own_of, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "framework whose defaults are taken; null: nobody's"),
    KEY(own_data, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "data set that these are for"),
    MODEL_KEY(freeze, "parameters that keep their initial values; null: as the model says"),
    MODEL_KEY(train, "parameters that are trained although the model says otherwise"),
    MODEL_KEY(tie, "parameters that are one"),
    MODEL_KEY(untie, "shared parameters of which each node has its own"),
    MODEL_KEY(mean, "of the pixels that the network is fed; null: as the model says"),
    MODEL_KEY(std, "deviation of these pixels; null: as the model says"),
    MODEL_KEY(input, "arrays of the data that feed the inputs of an ONNX file; null: those of their names"),
    MODEL_KEY(output, "of the outputs of an ONNX file, that which is the logits; null: it has one"),
    {"model.layout", YS_FIELD_ENUM, offsetof(struct ys_trial_settings, model_layout), NULL, YS_FIELD_LATER,
     "of the images that an ONNX file reads", NULL, &ys_layouts},
    MODEL_SIZE(width, YS_FIELD_REAL, "of a named model; null: as it was published"),
    MODEL_SIZE(depth, YS_FIELD_REAL, "of a named model; null: as it was published"),
    MODEL_SIZE(layers, YS_FIELD_INT, "blocks of a named model; null: as it was published"),
    MODEL_SIZE(heads, YS_FIELD_INT, "of a named model; null: as it was published"),
    MODEL_SIZE(classes, YS_FIELD_INT, "of a named model; null: those of the data"),
    WORD(init, &ys_init_froms, "where initial values come from"),
    {"input.threads", YS_FIELD_INT, offsetof(struct ys_trial_settings, input_threads), "1",
     YS_FIELD_LATER | YS_FIELD_NULL, "that fill the ring of batches, or of the framework's own loader"},
    {"input.decode", YS_FIELD_ENUM, offsetof(struct ys_trial_settings, input_decode), NULL, YS_FIELD_LATER,
     "when images of a folder are decoded", NULL, &decodes},
    {"input.size", YS_FIELD_INT, offsetof(struct ys_trial_settings, input_size), "pixels",
     YS_FIELD_LATER | YS_FIELD_NULL, "side of the prepared images; null: the model's usual one"},
    {"input.width", YS_FIELD_INT, offsetof(struct ys_trial_settings, input_width), "pixels",
     YS_FIELD_LATER | YS_FIELD_NULL,
     "columns of the prepared images; null: as many as input.size, or the model's usual ones"},
    {"input.crop", YS_FIELD_INT, offsetof(struct ys_trial_settings, input_crop), "pixels",
     YS_FIELD_LATER | YS_FIELD_NULL, "side of what is cut out of them; null: nothing is"},
    {"input.dtype", YS_FIELD_ENUM, offsetof(struct ys_trial_settings, input_dtype), NULL, YS_FIELD_LATER,
     "pixels as the framework gets them", NULL, &dtypes},
    KEY(augment, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "how images are changed by lot; null: not at all"),
    WORD(on_bad_row, &on_bad_rows, "what becomes of images that cannot be decoded"),
    KEY(threads, YS_FIELD_INT, "1", YS_FIELD_NULL, "threads of the framework; null, until resolved: all"),
    KEY(cpus, YS_FIELD_INTS, NULL, YS_FIELD_NULL | YS_FIELD_EMPTY, "CPUs to bind to; null: as many as threads"),
    {"input.cpus", YS_FIELD_INTS, offsetof(struct ys_trial_settings, input_cpus), NULL,
     YS_FIELD_LATER | YS_FIELD_NULL | YS_FIELD_EMPTY, "CPUs that the feeder is bound to; null: to none"},
    KEY(cpu_time_limit, YS_FIELD_REAL, "s", YS_FIELD_NULL, "processor time of a run's processes together; null: any"),
    KEY(memory_limit, YS_FIELD_INT, "B", YS_FIELD_NULL, "of a run's processes together; null: none"),
    KEY(run_time_limit, YS_FIELD_REAL, "s", YS_FIELD_NULL, "of a run; null: none"),
    KEY(stall_limit, YS_FIELD_REAL, "s", YS_FIELD_NULL, "that a run may say nothing; null: any"),
    KEY(sample_hz, YS_FIELD_REAL, "1/s", 0, "how often the processes are looked at; 0: never"),
    {"listen", YS_FIELD_ENUM, offsetof(struct ys_trial_settings, listen), NULL, YS_FIELD_LATER | YS_FIELD_NULL,
     "whether collectives are heard; null of one process", NULL, &switches},
    KEY(perf, YS_FIELD_FLAG, NULL, 0, "whether processor time is sampled by where its code lies"),
    KEY(keep_log, YS_FIELD_FLAG, NULL, 0, "whether what the framework prints is kept"),
    KEY(beta1, YS_FIELD_REAL, "1", YS_FIELD_NULL, "of the optimizer; null where its rule has no such number"),
    KEY(beta2, YS_FIELD_REAL, "1", YS_FIELD_NULL, "of the optimizer; null where its rule has no such number"),
    KEY(alpha, YS_FIELD_REAL, "1", YS_FIELD_NULL, "of the optimizer; null where its rule has no such number"),
    KEY(epsilon, YS_FIELD_REAL, "1", YS_FIELD_NULL, "of the optimizer; null where its rule has no such number"),
};

const struct ys_record ys_trial_settings_record = YS_RECORD("keys", struct ys_trial_settings, fields);

int64_t ys_settings_ranks(const struct ys_trial_settings *settings)
{
    const bool trains = ys_mode_of(settings->mode)->trains && settings->ranks != YS_FIELD_NONE;
    return trains && settings->ranks > 1 ? settings->ranks : 1;
}

bool ys_settings_are_apart(const struct ys_trial_settings *settings)
{
    return settings->launch != YS_NAME_NONE && settings->launch != YS_LAUNCHER_LOCAL;
}

int64_t ys_settings_sharers(const struct ys_trial_settings *settings)
{
    const int64_t ranks = ys_settings_ranks(settings), each = settings->ranks_per_node;
    return ys_settings_are_apart(settings) && each > 0 && each < ranks ? each : ranks;
}

int64_t ys_settings_rows(const struct ys_trial_settings *settings)
{
    return settings->batch * ys_settings_ranks(settings);
}

int64_t ys_settings_taught_batch(const struct ys_trial_settings *settings)
{
    return settings->taught_batch == YS_FIELD_NONE ? settings->batch : settings->taught_batch;
}

const char *const ys_settings_surroundings[YS_SETTINGS_SURROUNDINGS] = {
    "framework",   "threads",   "cpus", "memory_limit", "cpu_time_limit", "run_time_limit",
    "stall_limit", "sample_hz", "perf", "keep_log",     "device",         NULL};

/* Of several ranks: how many there are and where, which is no work either. */
static const char *const spread[] = {"batch",  "global_batch", "ranks",  "nodes",  "ranks_per_node",
                                     "launch", "hosts",        "bucket", "listen", NULL};

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/* What one process does is what ranks do that divide its rows, by the defaults of the keys of ranks. */
static struct ys_trial_settings undivided(const struct ys_trial_settings *settings)
{
    struct ys_trial_settings whole = *settings; /* borrows */
    if (whole.strategy != YS_STRATEGY_ALONE)
        whole.strategy = YS_NAME_NONE;
    if (whole.bn == YS_STATISTICS_LOCAL)
        whole.bn = YS_NAME_NONE;
    return whole;
}

char *ys_settings_work(const struct ys_trial_settings *settings)
{
    const struct ys_trial_settings whole = undivided(settings);
    ys_json *keys = ys_record_json(&ys_trial_settings_record, &whole), *work = ys_json_object();
    ys_json_set_int(work, "batch", ys_settings_rows(settings));
    for (void *it = ys_json_iter(keys); it; it = ys_json_next(keys, it)) {
        const char *name = ys_json_iter_key(it);
        if (!is_one_of(name, ys_settings_surroundings) && !is_one_of(name, spread))
            ys_json_set(work, name, ys_json_copy(ys_json_iter_value(it)));
    }
    char *text = ys_json_dump(work, YS_JSON_SORTED);
    ys_json_free(work);
    ys_json_free(keys);
    return text;
}

static const char *const order_words[] = {[YS_TRIALS_RANDOM] = "random", [YS_TRIALS_FIXED] = "fixed"};
static const struct ys_names orders = YS_NAMES("order", order_words);

static const char *const interleave_words[] = {
    [YS_INTERLEAVE_RUNS] = "runs", [YS_INTERLEAVE_BLOCKS] = "blocks", [YS_INTERLEAVE_AUTO] = "auto"};
const struct ys_names ys_interleaves = YS_NAMES("way to share the machine", interleave_words);

static const char *const disturbance_words[] = {
    [YS_DISTURBANCE_MARK] = "mark", [YS_DISTURBANCE_REPEAT] = "repeat", [YS_DISTURBANCE_IGNORE] = "ignore"};
static const struct ys_names disturbances = YS_NAMES("way to take a disturbance", disturbance_words);

static const char *const audit_words[] = {[YS_AUDITS_OFF] = "off", [YS_AUDITS_ONE] = "one", [YS_AUDITS_ALL] = "all"};
static const struct ys_names audits = YS_NAMES("choice of audited rounds", audit_words);

static const char *const anchor_words[] = {
    [YS_ANCHORS_AUTO] = "auto", [YS_ANCHORS_ON] = "on", [YS_ANCHORS_OFF] = "off"};
static const struct ys_names anchors = YS_NAMES("way to measure the machine", anchor_words);

#define OF_STUDY struct ys_study_settings
static const struct ys_field study_fields[] = {
    YS_FIELD(OF_STUDY, name, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "of the study"),
    YS_FIELD(OF_STUDY, results, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "folder of the store; null: the usual one"),
    YS_FIELD(OF_STUDY, repeat, YS_FIELD_INT, "1", YS_FIELD_NULL, "rounds; null: until comparisons are decided"),
    YS_FIELD(OF_STUDY, repeat_most, YS_FIELD_INT, "1", YS_FIELD_NULL, "rounds at most, of those"),
    YS_FIELD(OF_STUDY, seed, YS_FIELD_INT, NULL, YS_FIELD_NULL, "of round 0"),
    YS_FIELD_NAMED(OF_STUDY, order, &orders, 0, "of the trials of a round"),
    YS_FIELD_NAMED(OF_STUDY, interleave, &ys_interleaves, 0, "how the trials of a round share the machine"),
    YS_FIELD(OF_STUDY, turn_s, YS_FIELD_REAL, "s", YS_FIELD_NULL,
             "of the slowest of those that take turns; null: auto"),
    YS_FIELD_NAMED(OF_STUDY, on_disturbance, &disturbances, 0, "what becomes of a run that was disturbed"),
    YS_FIELD_NAMED(OF_STUDY, audit, &audits, 0, "which of its rounds are audited"),
    YS_FIELD_NAMED(OF_STUDY, anchor, &anchors, 0, "whether the machine's own speed is measured beside it"),
    YS_FIELD(OF_STUDY, time_limit_s, YS_FIELD_REAL, "s", YS_FIELD_NULL, "of all of it; null: none"),
    YS_FIELD(OF_STUDY, cooldown_s, YS_FIELD_REAL, "s", YS_FIELD_NULL, "before each run but the first"),
    YS_FIELD(OF_STUDY, margin, YS_FIELD_REAL, "1", YS_FIELD_NULL, "what counts as the same"),
};
static const struct ys_record study_settings_record = YS_RECORD("job", OF_STUDY, study_fields);

void ys_study_settings_read(const ys_json *study, struct ys_study_settings *settings)
{
    ys_record_glance(&study_settings_record, study, settings);
}
