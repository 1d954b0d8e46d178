#include "job/settings.h"

static const char *const compare_words[] = {
    [YS_COMPARE_CONTROLLED] = "controlled", [YS_COMPARE_SAME_WEIGHTS] = "same-weights", [YS_COMPARE_OWN] = "own"};
const struct ys_names ys_compares = YS_NAMES("way to compare", compare_words);

/* Every key may be absent: studies were stored before there was one of them. */
#define KEY(member, kind, unit, flags, what)                                                                           \
    YS_FIELD(struct ys_trial_settings, member, kind, unit, YS_FIELD_LATER | (flags), what)
#define WORD(member, names, what) YS_FIELD_NAMED(struct ys_trial_settings, member, names, YS_FIELD_LATER, what)

static const struct ys_field fields[] = {
    WORD(mode, &ys_modes, "what is measured"),
    KEY(framework, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "who does the work, as it was asked for"),
    KEY(device, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "where the work is done"),
    KEY(model, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "network"),
    KEY(data, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "data set"),
    KEY(input, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "how batches reach the framework"),
    KEY(batch, YS_FIELD_INT, "rows", 0, "rows of a batch"),
    KEY(block, YS_FIELD_INT, "steps", 0, "steps between two synchronisations"),
    KEY(epochs, YS_FIELD_INT, "1", YS_FIELD_NULL, "passes over the data; null where steps or requests say it"),
    KEY(steps, YS_FIELD_INT, "steps", YS_FIELD_NULL, "null where epochs or requests say it"),
    KEY(requests, YS_FIELD_INT, "requests", YS_FIELD_NULL, "null where nothing is answered"),
    KEY(optimizer, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "null where nothing is trained, as the next seven"),
    KEY(lr, YS_FIELD_REAL, "1", YS_FIELD_NULL, "learning rate"),
    KEY(momentum, YS_FIELD_REAL, "1", YS_FIELD_NULL, "share of the last change that is kept"),
    KEY(weight_decay, YS_FIELD_REAL, "1", YS_FIELD_NULL, "added to each gradient times the weight"),
    KEY(schedule, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "how the learning rate changes"),
    KEY(clip_norm, YS_FIELD_REAL, "1", YS_FIELD_NULL, "largest norm of the gradient; null: any"),
    KEY(loss, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "what is made small"),
    WORD(precision, &ys_precisions, "format of the numbers computed with"),
    KEY(eval_every, YS_FIELD_INT, "steps", YS_FIELD_NULL, "between two evaluations; null: at the end alone"),
    WORD(compare, &ys_compares, "what trials have in common"),
    KEY(rows, YS_FIELD_INT, "rows", YS_FIELD_NULL, "test rows that same weights predict; null: all"),
    KEY(own_of, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "framework whose defaults are taken; null: nobody's"),
    KEY(own_data, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "data set that these are for"),
    KEY(threads, YS_FIELD_INT, "1", YS_FIELD_NULL, "threads of the framework; null, until resolved: all"),
    KEY(cpus, YS_FIELD_INTS, NULL, YS_FIELD_NULL | YS_FIELD_EMPTY, "CPUs to bind to; null: as many as threads"),
    KEY(cpu_time_limit, YS_FIELD_REAL, "s", YS_FIELD_NULL, "processor time of a run's processes together; null: any"),
    KEY(memory_limit, YS_FIELD_INT, "B", YS_FIELD_NULL, "of a run's processes together; null: none"),
    KEY(run_time_limit, YS_FIELD_REAL, "s", YS_FIELD_NULL, "of a run; null: none"),
    KEY(stall_limit, YS_FIELD_REAL, "s", YS_FIELD_NULL, "that a run may say nothing; null: any"),
    KEY(sample_hz, YS_FIELD_REAL, "1/s", 0, "how often the processes are looked at; 0: never"),
    KEY(keep_log, YS_FIELD_FLAG, NULL, 0, "whether what the framework prints is kept"),
    KEY(beta1, YS_FIELD_REAL, "1", YS_FIELD_NULL, "of the optimizer; null where its rule has no such number"),
    KEY(beta2, YS_FIELD_REAL, "1", YS_FIELD_NULL, "of the optimizer; null where its rule has no such number"),
    KEY(alpha, YS_FIELD_REAL, "1", YS_FIELD_NULL, "of the optimizer; null where its rule has no such number"),
    KEY(epsilon, YS_FIELD_REAL, "1", YS_FIELD_NULL, "of the optimizer; null where its rule has no such number"),
};

const struct ys_record ys_trial_settings_record = YS_RECORD("keys", struct ys_trial_settings, fields);
