#include "base/mem.h"
#include "graph/model.h"
#include "metric/metric.h"
#include "report/clean_text.h"
#include "report/shared_sentences.h"
#include "stat/summary.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

struct ys_time_part ys_time_part(size_t k)
{
    static const char *const parts[YS_TIME_PARTS] = {"start_s", "build_s",   "first_step_s", "warmup_s",
                                                     "input_s", "compute_s", "infer_s",      "eval_s",
                                                     "save_s",  "stop_s",    "rest_s"};
    const struct ys_metric_info *info = ys_metric_find(parts[k]);
    return (struct ys_time_part){parts[k], info ? info->part_head : parts[k], ys_view_part(parts[k])};
}

struct ys_section_parts ys_section_find_parts(const struct ys_view *view)
{
    struct ys_section_parts parts = {{false}};
    for (size_t k = 0; k < YS_TIME_PARTS; k++)
        parts.has[k] = ys_view_is_known(view, ys_time_part(k).metric);
    return parts;
}

size_t ys_section_columns(const struct ys_view *view, const char *metrics[YS_METRIC_COLUMNS])
{
    const bool trains = ys_view_has_mode(view, YS_MODE_TRAIN);
    size_t count = 0;
    for (size_t i = 0; i < YS_METRIC_COLUMNS; i++) {
        const struct ys_metric_column *column = &ys_metric_columns[i];
        const struct ys_metric_info *info = ys_metric_find(column->name);
        const bool is_of_training = info->learning || info->mode == YS_MODE_TRAIN;
        if ((trains || !is_of_training) && (!column->if_known || ys_view_is_known(view, column->name)))
            metrics[count++] = column->name;
    }
    return count;
}

const char *const ys_latency_parts[YS_LATENCY_PARTS] = {"latency_p50_s", "latency_p90_s", "latency_p99_s",
                                                        "latency_max_s", "first_step_s"};

void ys_section_feeder(struct ys_buf *out, const struct ys_view_trial *trial)
{
    if (isnan(ys_view_number(trial, "feeder_cpu_s")))
        return;
    ys_text_clean(out, trial->name, false);
    ys_buf_printf(out, ": %s of CPU time, %s of memory", ys_view_label(ys_view_metric(trial, "feeder_cpu_s")).text,
                  ys_view_label(ys_view_metric(trial, "feeder_rss_bytes")).text);
    if (!isnan(ys_view_number(trial, "input_s")))
        ys_buf_printf(out, "; it waited %s for it", ys_view_label(ys_view_metric(trial, "input_s")).text);
}

/** "builtin, PyTorch and JAX": of those that do work, unless none does. Returns how many there are. */
static size_t put_frameworks(struct ys_buf *out, const struct ys_view *view)
{
    enum { MOST_NAMED = 4 };
    size_t total = 0, said = 0;
    for (int pass = 0, last = -1; pass < 2; pass++, last = -1)
        for (size_t i = 0; i < view->count; i++) {
            const struct ys_view_trial *trial = &view->trials[i];
            if (trial->group <= last || (view->works_at_all && trial->no_work))
                continue;
            last = trial->group;
            total += pass == 0;
            if (pass == 0 || (said >= MOST_NAMED - 1 && total > MOST_NAMED))
                continue;
            ys_buf_printf(out, "%s%s", ys_label_join(said, total, ", "), trial->title);
            said++;
        }
    if (said < total)
        ys_buf_printf(out, " and %zu others", total - said);
    return total;
}

/* Of a path what is behind the last folder. */
static void put_file_name(struct ys_buf *out, const char *text)
{
    const char *slash = strrchr(text, '/');
    ys_text_clean(out, slash && slash[1] ? slash + 1 : text, false);
}

void ys_section_title(struct ys_buf *out, const struct ys_view *view)
{
    enum { MOST_NAMED = 3 };
    const char *verb = NULL;
    int modes = 0;
    for (int mode = 0; mode < YS_MODE_COUNT; mode++)
        if (ys_view_has_mode(view, (enum ys_mode)mode) && ++modes)
            verb = ys_mode_of(mode)->verb;
    struct ys_buf frameworks = {0};
    const bool several = put_frameworks(&frameworks, view) > 1;
    ys_text_clean(out, frameworks.size ? ys_buf_text(&frameworks) : ys_view_or(view->study->name, "A study"), false);
    if (frameworks.size && modes == 1)
        ys_buf_printf(out, " %s%s", verb, several ? "" : "s");
    else if (frameworks.size)
        ys_buf_puts(out, ":");
    ys_buf_free(&frameworks);
    for (size_t i = 0; i < view->work_count && i < MOST_NAMED; i++) {
        const struct ys_view_work *work = &view->works[i];
        ys_buf_puts(out, i ? ", " : " ");
        put_file_name(out, ys_view_or(work->model, "an unknown model"));
        ys_buf_puts(out, " on ");
        put_file_name(out, ys_view_or(work->data, "unknown data"));
    }
    if (view->work_count > MOST_NAMED)
        ys_buf_printf(out, " and %zu more", view->work_count - MOST_NAMED);
}

void ys_section_study(struct ys_buf *out, const struct ys_view *view)
{
    const int state = view->study->status;
    const char *started = ys_view_or(view->study->started, "");
    ys_buf_puts(out, "Study ");
    ys_text_clean(out, ys_view_or(view->study->name, "without a name"), false);
    ys_buf_puts(out, ": ");
    ys_buf_puts(out, state == YS_NAME_NONE          ? "state unknown"
                     : state == YS_STUDY_TIME_LIMIT ? "stopped at its time limit"
                     : state == YS_STUDY_RUNNING    ? "not finished"
                                                    : ys_name_of(&ys_study_states, state));
    ys_buf_printf(out, ", %lld of %s complete", (long long)view->rounds, ys_label_plural(view->repeat, "round").text);
    if (started[0]) {
        ys_buf_puts(out, ", begun ");
        ys_text_clean(out, started, false);
    }
    int64_t runs = 0, disturbed = 0;
    for (size_t i = 0; i < view->count; i++) {
        runs += view->trials[i].told->runs;
        disturbed += view->trials[i].told->disturbed;
    }
    if (disturbed)
        ys_buf_printf(out, ", %lld of %lld runs disturbed", (long long)disturbed, (long long)runs);
}

/* Of a network whose file holds weights: whether they are those. Where trials differ in it their names say so. */
static void put_weights(struct ys_buf *out, const struct ys_view *view, const struct ys_view_work *work)
{
    const char *model = ys_view_or(work->model, "");
    int from = YS_INIT_AUTO;
    for (size_t i = 0; i < view->count && ys_model_is_onnx(model); i++) {
        const struct ys_result_trial *told = view->trials[i].told;
        if (strcmp(ys_view_or(told->keys.model, ""), model) != 0)
            continue;
        if (from != YS_INIT_AUTO && told->keys.init != from)
            return;
        from = told->keys.init;
    }
    if (from == YS_INIT_FROM_FILE)
        ys_buf_puts(out, ", the file's weights");
    else if (from == YS_INIT_FROM_SEED)
        ys_buf_puts(out, ", weights drawn with the seed");
}

/* What a folder was taken for. */
static void put_images(struct ys_buf *out, const struct ys_view_work *work)
{
    ys_buf_printf(out, ", %.0f classes, %.0f images to train on and %.0f to test on", work->classes, work->train_count,
                  work->test_count);
    if (!work->left_out)
        return;
    ys_buf_puts(out, ", left out: ");
    ys_text_clean(out, work->left_out, false);
}

void ys_section_work(struct ys_buf *out, const struct ys_view *view)
{
    for (size_t i = 0; i < view->work_count; i++) {
        const struct ys_view_work *work = &view->works[i];
        ys_buf_puts(out, i ? "; " : "Work: ");
        ys_text_clean(out, ys_view_or(work->model, "unknown model"), false);
        ys_buf_puts(out, " on ");
        ys_text_clean(out, ys_view_or(work->data, "unknown data"), false);
        if (isfinite(work->parameters))
            ys_buf_printf(out, ", %s parameters", ys_label_value(YS_KIND_COUNT, work->parameters).text);
        if (isfinite(work->multiply_adds))
            ys_buf_printf(out, ", %s multiply-adds a row", ys_label_value(YS_KIND_COUNT, work->multiply_adds).text);
        put_weights(out, view, work);
        if (strcmp(ys_view_or(work->data, ""), "synthetic") == 0)
            ys_buf_puts(out, ", random data: accuracy means nothing");
        else if (ys_json_type_of(work->verified) == YS_JSON_BOOL)
            ys_buf_puts(out, ys_json_truth(work->verified, false) ? ", data verified" : ", data NOT verified");
        else if (isfinite(work->classes))
            put_images(out, work);
    }
}

void ys_section_same(struct ys_buf *out, const struct ys_view *view)
{
    static const char *const keys[] = {"mode",      "batch",   "epochs",   "steps",        "requests",
                                       "optimizer", "lr",      "momentum", "weight_decay", "schedule",
                                       "precision", "threads", "device"};
    if (view->count < 2)
        return;
    ys_json *common = ys_view_common(view);
    const struct ys_view_trial *alone = view->trials;
    for (size_t t = 0; t < view->count && !ys_view_is_alone(alone); t++)
        alone = &view->trials[t];
    bool begun = false;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const ys_json *value = ys_json_get(common, keys[i]);
        if (!value)
            continue;
        ys_buf_puts(out, begun ? ", " : "The same in all trials: ");
        begun = true;
        ys_view_put_factor(out, alone, keys[i], value);
    }
    ys_json_free(common);
}

/** The first text among `names`, which may be paths of two members ("cpu.model"). */
static const ys_json *first_of(const ys_json *host, const char *const *names)
{
    for (; *names; names++) {
        const char *dot = strchr(*names, '.');
        const ys_json *value = ys_json_get(host, *names);
        if (dot) {
            char outer[32] = "";
            if ((size_t)(dot - *names) < sizeof outer)
                memcpy(outer, *names, (size_t)(dot - *names));
            value = ys_json_get(ys_json_get(host, outer), dot + 1);
        }
        enum ys_json_type type = ys_json_type_of(value);
        if (type == YS_JSON_STRING || type == YS_JSON_INT || type == YS_JSON_REAL)
            return value;
    }
    return NULL;
}

void ys_section_host(struct ys_buf *out, const struct ys_view *view)
{
    static const char *const model[] = {"cpu.model", "cpu_model", "cpu.name", "cpu", NULL};
    static const char *const cpus[] = {"cpu.allowed", "cpus",      "cpu.cpus", "cpu.logical",
                                       "cpu_count",   "cpu.count", NULL};
    static const char *const memory[] = {"memory_bytes", "memory.total_bytes", "memory_total_bytes", NULL};
    static const char *const system[] = {"system.kernel", "kernel", "os", "system", NULL};
    const ys_json *host = view->host, *value;
    if (ys_json_size(host) == 0)
        return;
    const char *before = "Host: ";
    if ((value = first_of(host, model))) {
        ys_buf_puts(out, before);
        ys_view_put_value(out, value);
        before = ", ";
    }
    if ((value = first_of(host, cpus)) && ys_json_type_of(value) == YS_JSON_INT) {
        ys_buf_printf(out, "%s%s", before, ys_label_plural(ys_json_integer(value, 0), "CPU").text);
        before = ", ";
    }
    if ((value = first_of(host, memory)) && ys_json_number(value, 0) > 0) {
        ys_buf_printf(out, "%s%s memory", before, ys_label_value(YS_KIND_BYTES, ys_json_number(value, 0)).text);
        before = ", ";
    }
    if ((value = first_of(host, system))) {
        ys_buf_puts(out, before);
        ys_view_put_value(out, value);
    }
}

void ys_section_harness(struct ys_buf *out, const struct ys_view *view)
{
    double share = view->harness->cpu_share, late_s = view->harness->lateness_max_s;
    double overhead_s = view->harness->overhead_s;
    const char *before = "Measuring ";
    if (isfinite(share)) {
        ys_buf_printf(out, "%stook %s of a CPU", before, ys_label_share(share).text);
        before = ", ";
    }
    if (isfinite(late_s)) {
        ys_buf_printf(out, "%ssampled at most %s late", before, ys_label_value(YS_KIND_SPAN, late_s).text);
        before = ", ";
    }
    if (isfinite(overhead_s)) {
        ys_buf_printf(out, "%sspent %s between the runs", before, ys_label_value(YS_KIND_SPAN, overhead_s).text);
        before = ", ";
    }
    if (strcmp(before, ", ") == 0)
        ys_buf_puts(out, ".");
}

void ys_section_base(struct ys_buf *out, const struct ys_result_comparison *comparison)
{
    enum ys_kind kind = ys_view_kind(ys_view_or(comparison->told.metric, ""));
    double a = comparison->told.a_value, b = comparison->told.b_value;
    if (isfinite(a) && isfinite(b))
        ys_buf_printf(out, "%s against %s", ys_label_value(kind, a).text, ys_label_value(kind, b).text);
}

/** A difference of shares in percentage points. */
static struct ys_label points_of(double share, const char *sign)
{
    struct ys_label label = {""};
    if (isfinite(share) && fabs(share) < 1e6)
        snprintf(label.text, sizeof label.text, "%s%.2f", share > 0 ? sign : "", fabs(share) < 5e-5 ? 0 : 100 * share);
    return label;
}

struct ys_effect ys_section_effect(const struct ys_result_comparison *comparison)
{
    struct ys_effect effect = {{""}, {""}};
    double lo = comparison->interval.lo, hi = comparison->interval.hi, ratio = comparison->told.ratio;
    if (comparison->told.verdict == YS_VERDICT_INVALID)
        return effect;
    if (comparison->told.scale != YS_SCALE_DIFFERENCE) {
        if (isfinite(ratio) && ratio > 0)
            snprintf(effect.value.text, sizeof effect.value.text, "%.40sx", ys_label_ratio(ratio).text);
        else if (!isnan(ratio))
            snprintf(effect.value.text, sizeof effect.value.text, "%s",
                     ratio > 0 ? "more than the limit" : "less than any");
        effect.range = ys_label_ratio_range(ratio, lo, hi);
        return effect;
    }
    struct ys_label value = points_of(comparison->told.difference, "+");
    struct ys_label from = points_of(lo, ""), to = points_of(hi, "");
    if (value.text[0])
        snprintf(effect.value.text, sizeof effect.value.text, "%.30s points", value.text);
    if (from.text[0] && to.text[0])
        snprintf(effect.range.text, sizeof effect.range.text, "%.20s to %.20s", from.text, to.text);
    return effect;
}

/** Of a speed-up. */
static void put_efficiency(struct ys_buf *out, const struct ys_result_comparison *comparison)
{
    if (!(comparison->told.efficiency > 0)) /* NaN, or nothing */
        return;
    ys_buf_printf(out, "; %s scaling, efficiency %.3g", ys_name_of(&ys_scalings, comparison->told.scaling),
                  comparison->told.efficiency);
    if (isfinite(comparison->efficiency.lo))
        ys_buf_printf(out, " (%.3g to %.3g)", comparison->efficiency.lo, comparison->efficiency.hi);
}

/** Of ranks that exchange against ranks that do not. */
static void put_exposed(struct ys_buf *out, const struct ys_result_comparison *comparison)
{
    if (!isfinite(comparison->told.exposed_s))
        return;
    ys_buf_printf(out, "; exposed communication by difference: %s a step",
                  ys_label_value(YS_KIND_SPAN, comparison->told.exposed_s).text);
    if (isfinite(comparison->exposed.lo))
        ys_buf_printf(out, " (%s to %s)", ys_label_value(YS_KIND_SPAN, comparison->exposed.lo).text,
                      ys_label_value(YS_KIND_SPAN, comparison->exposed.hi).text);
}

/* "; 2 of them with 1.1 % to 2.9 % of the processors taken by the host, which is in the interval; 1 more round left
 * out". Nothing of quiet ones. */
static void put_taken(struct ys_buf *out, const struct ys_result_comparison *comparison)
{
    const struct ys_comparison_taken *taken = &comparison->told.taken;
    if (taken->rounds > 0) {
        const struct ys_label most = ys_label_share(taken->most), least = ys_label_share(taken->least);
        ys_buf_printf(out, "; %lld of them with ", (long long)taken->rounds);
        if (strcmp(least.text, most.text) != 0)
            ys_buf_printf(out, "%s to ", least.text);
        ys_buf_printf(out, "%s of the processors taken by %s, which is in the interval", most.text,
                      taken->by_host ? "the host" : "others");
    }
    if (comparison->told.left_out > 0)
        ys_buf_printf(out, "; %s left out", ys_label_plural(comparison->told.left_out, "more round").text);
}

/** Of a target that not all rounds met: how many of each trial did. */
static void put_met(struct ys_buf *out, const struct ys_result_comparison *comparison)
{
    const struct ys_comparison_record *told = &comparison->told;
    if (told->a_met == YS_FIELD_NONE || (told->a_met == told->n && told->b_met == told->n))
        return;
    ys_buf_printf(out, ", the target met in %lld against %lld of them", (long long)told->a_met, (long long)told->b_met);
}

void ys_section_comparison(struct ys_buf *out, const struct ys_result_comparison *comparison)
{
    const char *metric = ys_view_or(comparison->told.metric, ""), *reason = ys_view_or(comparison->told.reason, "");
    struct ys_effect effect = ys_section_effect(comparison);
    int64_t rounds = comparison->told.n;
    bool few = effect.value.text[0] && rounds < YS_STAT_INTERVAL_MIN; /* which its brackets say, as the reason does */
    if (effect.value.text[0]) {
        ys_buf_printf(out, "%s", effect.value.text);
        if (comparison->told.scale != YS_SCALE_DIFFERENCE && isfinite(comparison->told.ratio) &&
            comparison->told.ratio > 0)
            ys_buf_printf(out, " %s", ys_view_ratio_words(metric));
        ys_buf_printf(out, " (%s, %s", effect.range.text[0] ? effect.range.text : "no interval",
                      ys_label_plural(rounds, "round").text);
        put_met(out, comparison);
        put_taken(out, comparison);
        ys_buf_puts(out, "): ");
    }
    ys_buf_puts(out, ys_view_verdict_word(comparison));
    if (reason[0] && !few) {
        ys_buf_puts(out, ", ");
        ys_text_clean(out, reason, false);
    }
    put_efficiency(out, comparison);
    put_exposed(out, comparison);
}

void ys_section_bounds(struct ys_buf *out, const struct ys_result_comparison *comparison)
{
    if (comparison->told.verdict == YS_NAME_NONE || comparison->told.verdict == YS_VERDICT_INVALID)
        return;
    const char *before = "";
    if (isfinite(comparison->told.window_from)) {
        if (comparison->told.window_from > 0)
            ys_buf_printf(out, "both from %.3g %% of the run on", 100 * comparison->told.window_from);
        else
            ys_buf_puts(out, "both from the second step on");
        if (isfinite(comparison->told.bias_bound))
            ys_buf_printf(out, ", where at most %s may be left of warm-up",
                          ys_label_share(comparison->told.bias_bound).text);
        else
            ys_buf_puts(out, "; what is left of warm-up there cannot be told");
        if (isfinite(comparison->settled.lo))
            ys_buf_printf(
                out, " (without it %s)",
                ys_label_ratio_range(comparison->told.ratio, comparison->settled.lo, comparison->settled.hi).text);
        before = "; ";
    }
    if (comparison->told.rounds == YS_NAME_NONE ||
        !isfinite(comparison->told.round_correlation)) /* as below 12 rounds */
        return;
    ys_buf_printf(out, "%swhether rounds hang together: ", before);
    ys_buf_puts(out, ys_name_of(&ys_rounds_say, comparison->told.rounds));
    ys_buf_printf(out, " (%.2f from one to the next)", comparison->told.round_correlation);
}

static struct ys_label share_label(double share, bool difference)
{
    struct ys_label label = {""};
    if (difference && isfinite(share) && fabs(share) < 1e6)
        snprintf(label.text, sizeof label.text, "%.2f points", 100 * share);
    else if (isfinite(share))
        label = ys_label_share(share);
    return label;
}

/* Not even a ratio of 2 could have been shown: then a figure of how much more says nothing. */
static bool shows_nothing(const struct ys_result_comparison *comparison)
{
    return comparison->told.scale != YS_SCALE_DIFFERENCE && comparison->told.resolution > 1;
}

struct ys_label ys_section_smallest(const struct ys_result_comparison *comparison)
{
    double smallest = comparison->told.resolution;
    bool valid = comparison->told.verdict != YS_VERDICT_INVALID && smallest > 0;
    if (valid && shows_nothing(comparison))
        return (struct ys_label){"above 2x"};
    return share_label(valid ? smallest : NAN, comparison->told.scale == YS_SCALE_DIFFERENCE);
}

void ys_section_resolution(struct ys_buf *out, const struct ys_view *view, const char *metric)
{
    double lo = INFINITY, hi = 0, margin = view->study->margin;
    bool difference = false;
    for (size_t i = 0; i < view->comparison_count; i++) {
        const struct ys_result_comparison *comparison = &view->comparisons[i];
        double resolution = comparison->told.resolution;
        if (strcmp(ys_view_or(comparison->told.metric, ""), metric) != 0 || !ys_section_smallest(comparison).text[0])
            continue;
        lo = fmin(lo, resolution);
        hi = fmax(hi, resolution);
        difference = comparison->told.scale == YS_SCALE_DIFFERENCE;
        margin = comparison->told.margin;
    }
    if (hi <= 0)
        return;
    struct ys_label from = share_label(lo, difference), to = share_label(hi, difference);
    if (!difference && lo > 1) {
        ys_buf_puts(out, "Their runs scatter so much that not even twice as fast could have been shown.");
        return;
    }
    if (!difference && hi > 1)
        to = (struct ys_label){"more than twice as much"};
    ys_buf_printf(out, "Smallest difference that could have been shown: %s", from.text);
    if (strcmp(from.text, to.text) != 0)
        ys_buf_printf(out, " to %s", to.text);
    if (isfinite(margin))
        ys_buf_printf(out, "; same means within %s", share_label(margin, difference).text);
    ys_buf_puts(out, ".");
}

void ys_section_level(struct ys_buf *out, const struct ys_view *view)
{
    double lo = INFINITY, hi = -INFINITY;
    for (size_t i = 0; i < view->count; i++) {
        struct ys_view_metric rate = ys_view_metric(&view->trials[i], "rate_per_s");
        double level = rate.level;
        if (rate.interval && level > 0 && level < 1) {
            lo = fmin(lo, level);
            hi = fmax(hi, level);
        }
    }
    if (lo > hi)
        return;
    ys_buf_printf(out, "In brackets: where the median of many runs lies, with a confidence of %.1f %%", 100 * lo);
    if (hi - lo > 5e-4)
        ys_buf_printf(out, " to %.1f %%", 100 * hi);
    ys_buf_puts(out, ".");
}

static bool has(const ys_json *array, const char *text)
{
    for (size_t i = 0; i < ys_json_size(array); i++)
        if (strcmp(ys_json_text(ys_json_at(array, i), ""), text) == 0)
            return true;
    return false;
}

ys_json *ys_section_compared(const struct ys_view *view)
{
    ys_json *found = ys_json_array();
    for (int speed = 1; speed >= 0; speed--)
        for (size_t i = 0; i < view->comparison_count; i++) {
            const char *metric = ys_view_or(view->comparisons[i].told.metric, "");
            if ((strcmp(metric, "rate_per_s") == 0) == (speed == 1) && metric[0] && !has(found, metric))
                ys_json_append(found, ys_json_string(metric));
        }
    return found;
}
