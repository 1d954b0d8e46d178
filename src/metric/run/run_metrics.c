/* The metrics of one run. Times are added and subtracted in whole nanoseconds, so that the parts of wall_s sum to it
 * exactly. */
#include "metric/metric.h"

#include "base/mem.h"
#include "base/size_text.h"
#include "metric/json_builder.h"
#include "metric/run/counted_turns.h"
#include "metric/run/run_windows.h"
#include "metric/run/target_reached.h"
#include "metric/run/waited_input.h"
#include "metric/run/withstood.h"
#include "metric/run/work_span.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S 1e9 /* divided by, never its inverse multiplied: 9 ms is to read 0.009 */
#define UNKNOWN  YS_FIELD_NONE

/* Processes that share more than both of these are not summed. */
#define MOST_SHARED       0.02
#define MOST_SHARED_BYTES 4000000

/* What metrics need of the trial. */
struct trial_keys {
    struct resolved_keys {
        int mode; /* enum ys_mode */
        int64_t batch, ranks, threads;
        const char *loss, *input;
    } keys;
    struct told_work {
        int64_t multiply_adds;
    } work;
    struct ys_trial_framework framework;
};
static const struct ys_field keys_fields[] = {
    YS_FIELD_NAMED(struct resolved_keys, mode, &ys_modes, 0, "what is measured"),
    YS_FIELD(struct resolved_keys, batch, YS_FIELD_INT, "rows", 0, "rows of a batch, of each rank"),
    YS_FIELD(struct resolved_keys, ranks, YS_FIELD_INT, "1", YS_FIELD_NULL, "processes that train together"),
    YS_FIELD(struct resolved_keys, threads, YS_FIELD_INT, "1", YS_FIELD_NULL, "that compute"),
    YS_FIELD(struct resolved_keys, loss, YS_FIELD_TEXT, NULL, 0, "what is minimised"),
    YS_FIELD(struct resolved_keys, input, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "how rows come")};
static const struct ys_record keys_record = YS_RECORD("keys", struct resolved_keys, keys_fields);
static const struct ys_field work_fields[] = {
    YS_FIELD(struct told_work, multiply_adds, YS_FIELD_INT, "1", 0, "of a row, forward; 0: not known")};
static const struct ys_record work_record = YS_RECORD("work", struct told_work, work_fields);
static const struct ys_field told_fields[] = {
    YS_FIELD_OF(struct trial_keys, keys, YS_FIELD_OBJECT, &keys_record, 0, ""),
    YS_FIELD_OF(struct trial_keys, work, YS_FIELD_OBJECT, &work_record, 0, ""),
    YS_FIELD_OF(struct trial_keys, framework, YS_FIELD_OBJECT, &ys_trial_framework_record, 0, "")};
static const struct ys_record told_record = YS_RECORD("trial", struct trial_keys, told_fields);

struct run_view {
    struct trial_keys told;
    const struct ys_facts *facts;
    const struct ys_facts_times *times;
    const struct ys_series *first, *count, *start, *end, *input, *loss; /* NULL when absent */
    const struct ys_series *latency;                                    /* NULL in training */
    const struct ys_series *prompt, *token; /* of rows answered piece by piece: of each request, and of its tokens */
    int64_t group;                          /* requests that were timed together, at most; 1: each was by itself */
    size_t blocks;            /* that all of first, count, start, end have; 0 when they contradict each other. In a run
                                 of requests a block is one of them */
    const char *blocks_wrong; /* why not; NULL */
    int64_t *spans;           /* of each block, ns: metric/run/work_span.h */
    int64_t left_ns;          /* of blocks that do not count: metric/run/counted_turns.h */
    const struct ys_series_set *sampled; /* where its processor time was; NULL: of several ranks, or of turns */
    bool ok, no_work;
    const struct ys_mode_facts *mode;
    struct ys_steady steady; /* `from` counts all blocks, the first step included */
    bool has_steady;         /* there are blocks after the first step */
    ys_json *metrics;
};

static void put_null(struct run_view *run, const char *name, const char *reason)
{
    ys_json *object = ys_json_object();
    ys_json_set(object, "value", ys_json_null());
    ys_json_set_string(object, "reason", reason);
    ys_json_set(run->metrics, name, object);
}

/* Why runs like this one never have the metric; NULL when they may. */
static const char *never(const struct run_view *run, const struct ys_metric_info *info)
{
    if (info->learning && run->no_work)
        return "this framework does no work";
    if (run->told.framework.emulated && (info->kind == YS_KIND_SPAN || info->kind == YS_KIND_RATE ||
                                         (!info->learning && strcmp(info->method, "exact") != 0)))
        return "emulated";
    const bool is_of_mode = info->mode == YS_NAME_NONE || info->mode == (int)run->mode->mode;
    return is_of_mode && (!info->of_questions || run->mode->times_each) ? NULL : run->mode->does;
}

static const struct ys_metric_info *info_of(const char *name)
{
    const struct ys_metric_info *info = ys_metric_find(name);
    if (!info)
        ys_assert_failed("each metric that is computed has a file in metrics/: this one", name, 0);
    return info;
}

/* The metric's object, for more members; NULL when the value was none. */
static ys_json *put_value(struct run_view *run, const char *name, double value)
{
    const struct ys_metric_info *info = info_of(name);
    if (never(run, info) || !isfinite(value)) {
        put_null(run, name, never(run, info) ? never(run, info) : "not a finite number");
        return NULL;
    }
    ys_json *object = ys_json_object();
    ys_json_set(object, "value", ys_number(value, info->whole));
    ys_json_set_string(object, "unit", info->unit);
    ys_json_set_string(object, "method", info->method);
    ys_json_set_string(object, "scope", info->scope);
    ys_json_set_string(object, "source", info->source);
    ys_json_set_string(object, "better", ys_name_of(&ys_betters, (int)info->better));
    ys_json_set(run->metrics, name, object);
    return object;
}

/* "the run ended as crashed in stage train" */
static const char *ending(const struct run_view *run, char text[160])
{
    const char *stage = ys_stage_name(run->facts->stage);
    snprintf(text, 160, "the run ended as %s in stage %s", ys_run_status_name(run->facts->status), stage ? stage : "?");
    return text;
}

static void put_missing(struct run_view *run, const char *name, const char *reason)
{
    char text[160];
    const char *why = never(run, info_of(name));
    put_null(run, name, why ? why : run->ok ? reason : ending(run, text));
}

/* What a run had for itself of that time: not while others had their turn, but for what it did meanwhile. */
static int64_t own_ns(const struct run_view *run, int64_t span_ns)
{
    const struct ys_facts_turns *turns = run->facts->turns;
    if (span_ns == UNKNOWN || !turns || turns->waited_ns == UNKNOWN || turns->ahead_ns == UNKNOWN)
        return span_ns;
    return span_ns - turns->waited_ns + turns->ahead_ns;
}

static int64_t between(int64_t from_ns, int64_t to_ns)
{
    return from_ns == UNKNOWN || to_ns == UNKNOWN || to_ns < from_ns ? UNKNOWN : to_ns - from_ns;
}

static int64_t block_ns(const struct run_view *run, size_t block)
{
    return run->spans[block];
}

static int64_t block_steps(const struct run_view *run, size_t block)
{
    return run->mode->times_each ? 1 : run->count->ints[block];
}

static void view_requests(struct run_view *run)
{
    if (!run->latency)
        return;
    bool agree = true;
    for (size_t i = 0; agree && i < run->latency->count; i++)
        agree = run->latency->ints[i] >= 0;
    if (agree)
        run->blocks = run->latency->count;
    else
        run->blocks_wrong = "a latency is below 0";
}

static void view_blocks(struct run_view *run, const struct ys_series_set *series)
{
    run->first = ys_series_find(series, "block_first");
    run->count = ys_series_find(series, "block_count");
    run->start = ys_series_find(series, "block_start_ns");
    run->end = ys_series_find(series, "block_end_ns");
    run->input = ys_series_find(series, "block_input_ns");
    run->latency = ys_series_find(series, "latency_ns");
    run->prompt = ys_series_find(series, "prompt_ns");
    run->token = ys_series_find(series, "token_ns");
    run->group = ys_span_group(series);
    if (run->mode->times_each) {
        view_requests(run);
        return;
    }
    if (!run->first || !run->count || !run->start || !run->end)
        return;
    size_t n = run->end->count;
    bool agree = run->first->count == n && run->count->count == n && run->start->count == n;
    for (size_t i = 0; agree && i < n; i++)
        agree = run->count->ints[i] > 0 && run->start->ints[i] <= run->end->ints[i] &&
                (i == 0 || run->start->ints[i] >= run->end->ints[i - 1]);
    if (agree)
        run->blocks = n;
    else
        run->blocks_wrong = "the times of the blocks contradict each other";
}

static void find_spans(struct run_view *run, const struct ys_series_set *series)
{
    run->spans = ys_alloc(run->blocks + 1, sizeof *run->spans);
    if (run->mode->times_each)
        ys_span_of_latencies(series, run->blocks, run->spans);
    else
        ys_span_of_blocks(series, run->blocks, run->spans);
}

static void find_steady(struct run_view *run)
{
    if (run->blocks < 2)
        return;
    size_t n = run->blocks - 1;
    double *step_s = ys_alloc(n, sizeof *step_s);
    for (size_t i = 0; i < n; i++)
        step_s[i] = (double)block_ns(run, i + 1) / NS_PER_S / (double)block_steps(run, i + 1);
    ys_steady_find(step_s, n, &run->steady);
    ys_free(step_s);
    run->steady.from++;
    run->has_steady = true;
}

static int64_t sum_blocks(const struct run_view *run, size_t from, size_t to)
{
    int64_t sum = 0;
    for (size_t i = from; i < to; i++)
        sum += block_ns(run, i);
    return sum;
}

static double seconds_of(const struct ys_facts_evaluation *evaluation)
{
    return evaluation && !isnan(evaluation->seconds) ? evaluation->seconds : 0;
}

/* Seconds of the evaluator and of the saves that it needed. With a target checkpoints were evaluated in the pauses in
 * which they were saved. */
static int64_t evaluation_ns(const struct run_view *run, int64_t *after_ns)
{
    double seconds = seconds_of(run->facts->evaluation);
    const struct ys_facts_checkpoint *checkpoints = run->facts->checkpoints.items;
    for (size_t i = 0; !run->facts->target && i < run->facts->checkpoints.count; i++)
        seconds += seconds_of(checkpoints[i].evaluation);
    *after_ns = llround(seconds * NS_PER_S);
    return *after_ns + run->times->paused_ns;
}

/* As put_value(). */
static ys_json *put_part(struct run_view *run, const char *name, int64_t part_ns, const char *reason, int64_t *rest_ns)
{
    if (part_ns == UNKNOWN) {
        put_missing(run, name, reason);
        return NULL;
    }
    *rest_ns -= part_ns;
    return put_value(run, name, (double)part_ns / NS_PER_S);
}

/* Beside warm-up its processor time, against which time in which it waited is no work (metric/outside_speed.h). */
static void note_warmup(struct run_view *run, ys_json *warmup)
{
    if (warmup && run->sampled && !run->mode->times_each)
        ys_json_set_real(warmup, "cpu_s",
                         ys_span_cpu_s(run->sampled, run->end->ints[0], run->end->ints[run->steady.from - 1]));
}

static void mark_steady(struct run_view *run, ys_json *metric)
{
    char note[80] = "never steady: the last half is used";
    if (!metric)
        return;
    ys_json_set_bool(metric, "steady", run->steady.answer == YS_STEADY_FOUND);
    ys_json_set_int(metric, "steady_from", (int64_t)run->steady.from);
    ys_json_set_real(metric, "left", run->steady.left);
    if (run->steady.answer == YS_STEADY_FOUND)
        return;
    if (run->steady.answer == YS_STEADY_TOO_SHORT)
        snprintf(note, sizeof note, "too few %s to tell: the last half is used",
                 run->mode->times_each ? run->mode->units : "blocks");
    ys_json_set_string(metric, "note", note);
}

static int64_t saved_ns(const struct run_view *run)
{
    const struct ys_facts_times *t = run->times;
    return t->save_ns == UNKNOWN && run->ok ? 0 : between(t->save_ns, t->saved_ns);
}

static void put_times(struct run_view *run)
{
    char untimed[40];
    snprintf(untimed, sizeof untimed, "no %s was timed", run->mode->unit);
    const char *no_stamp = "the run did not record when", *no_blocks = run->blocks_wrong ? run->blocks_wrong : untimed;
    const struct ys_facts_times *t = run->times;
    int64_t lived_ns = own_ns(run, between(t->exec_ns, t->end_ns)), after_ns;
    int64_t eval_ns = evaluation_ns(run, &after_ns);
    if (lived_ns == UNKNOWN)
        put_missing(run, "wall_s", no_stamp);
    else
        put_value(run, "wall_s", (double)(lived_ns + after_ns) / NS_PER_S);
    int64_t rest_ns = lived_ns == UNKNOWN ? 0 : lived_ns + after_ns;
    size_t steady = run->steady.from;
    bool worked = run->ok && run->has_steady;
    const char *work = run->mode->work_metric;
    put_part(run, "start_s", between(t->exec_ns, t->hello_ns), no_stamp, &rest_ns);
    put_part(run, "build_s", between(t->open_ns, t->opened_ns), no_stamp, &rest_ns);
    put_part(run, "first_step_s", run->blocks ? block_ns(run, 0) : UNKNOWN, no_blocks, &rest_ns);
    const int64_t warmup_ns = worked ? sum_blocks(run, 1, steady) + run->left_ns : UNKNOWN;
    note_warmup(run, put_part(run, "warmup_s", warmup_ns, no_blocks, &rest_ns));
    put_part(run, work, worked ? sum_blocks(run, steady, run->blocks) : UNKNOWN, no_blocks, &rest_ns);
    for (int mode = 0; mode < YS_MODE_COUNT; mode++)
        if (strcmp(ys_mode_of(mode)->work_metric, work) != 0)
            put_missing(run, ys_mode_of(mode)->work_metric, no_blocks);
    put_part(run, "eval_s", run->no_work || !run->mode->trains ? UNKNOWN : eval_ns, no_stamp, &rest_ns);
    put_part(run, "save_s", run->mode->trains ? saved_ns(run) : UNKNOWN, no_stamp, &rest_ns);
    put_part(run, "stop_s", between(t->bye_ns, t->end_ns), no_stamp, &rest_ns);
    if (lived_ns == UNKNOWN)
        put_missing(run, "rest_s", "wall_s is unknown");
    else
        put_value(run, "rest_s", (double)rest_ns / NS_PER_S);
    if (run->ok)
        mark_steady(run, worked ? ys_json_get(run->metrics, work) : NULL);
}

static int64_t sum_input(const struct run_view *run, size_t from)
{
    int64_t sum = 0;
    for (size_t i = from; i < run->blocks; i++)
        sum += run->input->ints[i];
    return sum;
}

static void put_input(struct run_view *run)
{
    bool known = run->ok && run->has_steady && run->input && run->input->count == run->blocks;
    if (!known) {
        put_missing(run, "input_s", "the adapter does not say how long it waited for data");
        put_missing(run, "compute_s", "input_s is unknown");
        return;
    }
    const struct resolved_keys *keys = &run->told.keys;
    const bool is_bounded = keys->ranks <= 1 && !(keys->input && strcmp(keys->input, "own") == 0);
    const double part = is_bounded ? ys_waited_part(sum_blocks(run, 1, run->blocks), sum_input(run, 1), keys->threads,
                                                    run->facts->phase_cpu)
                                   : 1;
    const int64_t said_ns = sum_input(run, run->steady.from);
    const int64_t input_ns = llround((double)said_ns * part), train_ns = sum_blocks(run, run->steady.from, run->blocks);
    char text[160];
    snprintf(text, sizeof text, "the adapter says %.3g s, but its processes computed meanwhile",
             (double)said_ns / NS_PER_S);
    ys_json *metric = put_value(run, "input_s", (double)input_ns / NS_PER_S);
    if (metric && part < 1)
        ys_json_set_string(metric, "note", text);
    put_value(run, "compute_s", (double)(train_ns - input_ns) / NS_PER_S);
}

/* Seconds a step of the steady blocks, ascending: new (ys_free). */
static double *sorted_steps_s(const struct run_view *run, size_t *count)
{
    *count = run->blocks - run->steady.from;
    double *step_s = ys_alloc(*count, sizeof *step_s);
    for (size_t i = 0; i < *count; i++) {
        size_t block = run->steady.from + i;
        int64_t took_ns = run->mode->times_each ? run->latency->ints[block] : block_ns(run, block);
        step_s[i] = (double)took_ns / NS_PER_S / (double)block_steps(run, block);
    }
    ys_stat_sort(step_s, *count);
    return step_s;
}

/* A percentile needs as many requests that one of them may lie above it: with fewer it would be their maximum. */
static void put_latencies(struct run_view *run, const double *sorted_s, size_t count)
{
    static const struct {
        const char *name;
        double share;
        size_t least;
    } percentiles[] = {
        {"latency_p50_s", 0.5, 1}, {"latency_p90_s", 0.9, 10}, {"latency_p99_s", 0.99, 100}, {"latency_max_s", 1, 1}};
    char text[128];
    for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++) {
        const char *name = percentiles[i].name;
        snprintf(text, sizeof text, "%zu steady requests; this percentile needs %zu", count, percentiles[i].least);
        if (run->group > 1)
            snprintf(text, sizeof text, "up to %" PRId64 " requests were timed together, for its clock is too coarse",
                     run->group);
        if (run->group > 1 || count < percentiles[i].least)
            put_missing(run, name, text);
        else
            mark_steady(run, put_value(run, name, ys_stat_quantile(sorted_s, count, percentiles[i].share)));
    }
}

static const char *const no_prompt = "rows are answered whole: with `prompt` they are a prompt and tokens behind it";

/* A quantile of the pieces of the steady requests, `each` of a request. */
static void put_piece(struct run_view *run, const char *name, const struct ys_series *series, double share,
                      size_t least)
{
    char text[100];
    const size_t each = series && run->blocks ? series->count / run->blocks : 0;
    const size_t from = run->steady.from * each, count = each * run->blocks - from;
    if (each == 0 || series->count != each * run->blocks) {
        put_missing(run, name, no_prompt);
        return;
    }
    snprintf(text, sizeof text, "%zu pieces of steady requests; this percentile needs %zu", count, least);
    if (count < least) {
        put_missing(run, name, text);
        return;
    }
    double *sorted_s = ys_alloc(count, sizeof *sorted_s);
    for (size_t i = 0; i < count; i++)
        sorted_s[i] = (double)series->ints[from + i] / NS_PER_S;
    ys_stat_sort(sorted_s, count);
    mark_steady(run, put_value(run, name, ys_stat_quantile(sorted_s, count, share)));
    ys_free(sorted_s);
}

static int64_t multiply_adds(const struct run_view *run)
{
    int64_t count = run->facts->work ? run->facts->work->multiply_adds : 0;
    if (count <= 0)
        count = run->told.work.multiply_adds;
    return count;
}

static void put_flops(struct run_view *run, double rate_per_s)
{
    int64_t forward = multiply_adds(run);
    if (forward <= 0)
        put_missing(run, "flops_per_s", "the multiply-adds of the model are not known");
    else
        put_value(run, "flops_per_s", rate_per_s * (double)forward * 2 * run->mode->passes);
}

static const char *const no_positions = "no class for each position: a row of this network has one target, or its "
                                        "positions were not counted yet when it ran";

/* Positions of a row that have a class each; 0 where a row has one target, or stored facts do not say. */
static int64_t positions(const struct run_view *run)
{
    const struct ys_facts_work *work = run->facts->work;
    return work && work->positions != UNKNOWN ? work->positions : 0;
}

static void put_no_speed(struct run_view *run, const char *reason)
{
    static const char *const names[] = {"step_s",        "latency_p50_s", "latency_p90_s", "latency_p99_s",
                                        "latency_max_s", "prompt_p50_s",  "token_p50_s",   "token_p99_s",
                                        "rate_per_s",    "tokens_per_s",  "flops_per_s"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        put_missing(run, names[i], reason);
}

static int64_t ranks_of(const struct run_view *run)
{
    return run->mode->trains && run->told.keys.ranks > 1 ? run->told.keys.ranks : 1;
}

/* Beside the speed, what it is in the parts of the run that another run may share. */
static void put_windows(struct run_view *run, ys_json *rate)
{
    const struct ys_window_blocks after_first = {.count = run->blocks - 1,
                                                 .span_ns = run->spans + 1,
                                                 .steps = run->mode->times_each ? NULL : run->count->ints + 1,
                                                 .latency_ns =
                                                     run->group > 1 || !run->latency ? NULL : run->latency->ints + 1};
    struct ys_steady steady = run->steady;
    steady.from--;
    if (rate)
        ys_json_set(rate, "windows", ys_window_measure(&after_first, &steady));
}

static void put_speed(struct run_view *run)
{
    char text[80];
    const char *reason = run->blocks_wrong ? run->blocks_wrong : text;
    snprintf(text, sizeof text, "no %s after the first was timed", run->mode->unit);
    int64_t steps = 0, batch = run->told.keys.batch * ranks_of(run);
    int64_t work_ns = run->has_steady ? sum_blocks(run, run->steady.from, run->blocks) : 0;
    for (size_t i = run->steady.from; run->has_steady && i < run->blocks; i++)
        steps += block_steps(run, i);
    if (!run->ok || work_ns <= 0 || batch <= 0) {
        if (run->has_steady)
            reason = work_ns <= 0 ? text : "the batch size is not known";
        if (run->has_steady && work_ns <= 0)
            snprintf(text, sizeof text, "the %s took no time that the clock could see", run->mode->units);
        put_no_speed(run, reason);
        return;
    }
    size_t count;
    double rate_per_s = (double)steps * (double)batch / ((double)work_ns / NS_PER_S);
    double *step_s = sorted_steps_s(run, &count);
    mark_steady(run, put_value(run, "step_s", ys_stat_quantile(step_s, count, 0.5)));
    put_latencies(run, step_s, count);
    put_piece(run, "prompt_p50_s", run->prompt, 0.5, 1);
    put_piece(run, "token_p50_s", run->token, 0.5, 1);
    put_piece(run, "token_p99_s", run->token, 0.99, 100);
    ys_json *rate = put_value(run, "rate_per_s", rate_per_s);
    mark_steady(run, rate);
    put_windows(run, rate);
    if (positions(run) > 0)
        put_value(run, "tokens_per_s", rate_per_s * (double)positions(run));
    else
        put_missing(run, "tokens_per_s", no_positions);
    put_flops(run, rate_per_s);
    ys_free(step_s);
}

static void put_known(struct run_view *run, const char *name, double value, const char *reason)
{
    if (isnan(value))
        put_missing(run, name, reason);
    else
        put_value(run, name, value);
}

static double number(int64_t count)
{
    return count == UNKNOWN ? NAN : (double)count;
}

/* What the mean of -log p on the test rows says of a class: only of networks of positions, whose loss is that mean. */
static void put_surprise(struct run_view *run, double loss, const char *reason)
{
    const bool is_mean = run->told.keys.loss && (strcmp(run->told.keys.loss, "softmax_cross_entropy") == 0 ||
                                                 strcmp(run->told.keys.loss, "nll") == 0);
    if (positions(run) == 0)
        reason = no_positions;
    else if (!is_mean)
        reason = "the loss of this network is not the mean of -log p of the classes";
    if (positions(run) == 0 || !is_mean)
        loss = NAN;
    put_known(run, "bits_per_token", loss / M_LN2, reason);
    put_known(run, "perplexity", exp(loss), reason);
}

static void put_learning(struct run_view *run)
{
    const struct ys_facts_evaluation *evaluation = run->ok ? run->facts->evaluation : NULL;
    const char *none = "the weights were not evaluated";
    if (evaluation && evaluation->count > 0 && evaluation->correct != UNKNOWN)
        put_value(run, "accuracy", (double)evaluation->correct / (double)evaluation->count);
    else
        put_known(run, "accuracy", evaluation ? evaluation->accuracy : NAN, none);
    const double loss = evaluation ? evaluation->loss : NAN;
    const char *no_loss = evaluation ? "the loss on the test rows is not a finite number" : none;
    put_known(run, "test_loss", loss, no_loss);
    put_surprise(run, loss, no_loss);
    if (!run->ok || !run->loss || run->loss->count == 0)
        put_missing(run, "final_loss", "the adapter sent no losses");
    else if (!isfinite(run->loss->reals[run->loss->count - 1]))
        put_missing(run, "final_loss", "the last loss is not a finite number");
    else
        put_value(run, "final_loss", run->loss->reals[run->loss->count - 1]);
}

static void put_target_part(struct run_view *run, const char *name, double value, const char *reason, const char *note)
{
    const char *why = never(run, info_of(name));
    ys_json *metric = isnan(value) ? NULL : put_value(run, name, value);
    if (isnan(value))
        put_null(run, name, why ? why : reason);
    else if (metric && note[0])
        ys_json_set_string(metric, "note", note);
}

static void put_target(struct run_view *run)
{
    struct ys_target_reached found;
    ys_target_find(run->facts, run->first, run->spans, run->mode->times_each ? 0 : run->blocks, &found);
    put_target_part(run, "time_to_target_s", found.time_ns / NS_PER_S, found.reason, found.note);
    put_target_part(run, "steps_to_target", found.steps, found.reason, found.note);
    put_target_part(run, "target_grain_s", found.grain_ns / NS_PER_S, found.reason, "");
    put_target_part(run, "target_limit_s", found.limit_ns / NS_PER_S, found.no_limit, "");
}

static void put_robustness(struct run_view *run)
{
    const struct ys_facts_robustness *robustness = run->ok ? run->facts->robustness : NULL;
    const struct ys_withstood accuracy = ys_withstood_accuracy(robustness), change = ys_withstood_change(robustness),
                              corrupted = ys_withstood_corruptions(robustness);
    put_known(run, "robust_accuracy", accuracy.value, accuracy.reason);
    put_known(run, "perturbation_p50", change.value, change.reason);
    put_known(run, "corrupted_accuracy", corrupted.value, corrupted.reason);
}

static int64_t or_zero(int64_t value)
{
    return value == UNKNOWN ? 0 : value;
}

/* Pages that several processes share are resident in each: their sum is then more than the tree holds, and by how much
 * at its peak nobody knows. */
static void put_resident(struct run_view *run, const struct ys_observation *more)
{
    const struct ys_facts_observed *observed = &run->facts->observed;
    int64_t high = observed->rss_peak_bytes, low = or_zero(more->pss_peak_bytes), rss = or_zero(more->shared_rss_bytes);
    int64_t pss = or_zero(more->shared_pss_bytes), shared = or_zero(more->sampled_shared_bytes);
    char text[200], held[2][YS_SIZE_TEXT];
    low = observed->process_peak_bytes > low ? observed->process_peak_bytes : low;
    if (shared > rss - pss) { /* seen between the ends of phases, where it is not known how much of it is one's own */
        rss = high;
        pss = high - shared;
    }
    if (high == UNKNOWN || rss - pss <= MOST_SHARED_BYTES || (double)(rss - pss) <= MOST_SHARED * (double)rss ||
        low >= high) {
        put_known(run, "rss_peak_bytes", number(high), "the run was not sampled");
        return;
    }
    ys_size_texts((uint64_t)low, (uint64_t)high, held[0], held[1]);
    snprintf(text, sizeof text, "its processes share pages: together they held between %s and %s%s", held[0], held[1],
             more->grouped ? "; memory_own_peak_bytes tells" : "");
    put_null(run, "rss_peak_bytes", text);
}

/* Between which the peak of own memory lies, where that is not as good as one figure: a spike between two samples. */
static void put_own_bounds(struct run_view *run, const struct ys_observation *more, const char *no_group)
{
    const double least = number(more->memory_own_least_bytes), most = number(more->memory_own_most_bytes);
    const char *reason = more->memory_own_peak_bytes == UNKNOWN ? no_group
                         : isnan(most)                          ? "the run was observed before this was"
                         : most - least <= (double)MOST_SHARED_BYTES || most - least <= MOST_SHARED * most
                             ? "memory_own_peak_bytes is known to 2 % or 4 MB"
                             : NULL;
    put_known(run, "memory_own_least_bytes", reason ? (double)NAN : least, reason);
    put_known(run, "memory_own_most_bytes", reason ? (double)NAN : most, reason);
}

/* What the kernel counted beside time and residence (session/observe.h). */
static void put_observation(struct run_view *run, const struct ys_facts_usage *usage, const struct ys_observation *more)
{
    static const char *const no_group = "the run had no control group that counts memory";
    static const char *const no_io = "the kernel keeps no count of it, or does not show it";
    static const char *const no_usage = "the kernel's account of the run is missing";
    const struct {
        const char *name;
        int64_t value;
        const char *reason;
    } counts[] = {
        {"memory_own_peak_bytes", more->memory_own_peak_bytes, no_group},
        {"memory_peak_bytes", more->memory_peak_bytes, no_group},
        {"swap_peak_bytes", more->swap_peak_bytes, "the run was not sampled"},
        {"page_faults_minor", usage->minor_faults, no_usage},
        {"page_faults_major", usage->major_faults, no_usage},
        {"read_bytes", more->read_bytes, no_io},
        {"written_bytes", more->written_bytes, no_io},
        {"disk_read_bytes", more->disk_read_bytes, no_io},
        {"disk_written_bytes", more->disk_written_bytes, no_io},
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        put_known(run, counts[i].name, number(counts[i].value), counts[i].reason);
    put_own_bounds(run, more, no_group);
    put_known(run, "cpu_wait_s", number(more->cpu_wait_ns) / NS_PER_S,
              "the run was not sampled, or the kernel does not count it");
}

static void put_resources(struct run_view *run)
{
    static const struct ys_facts_usage unknown = {UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN};
    const struct ys_facts_usage *usage = run->facts->usage ? run->facts->usage : &unknown;
    const struct ys_facts_observed *observed = &run->facts->observed;
    struct ys_observation nothing;
    ys_record_init(&ys_observation_record, &nothing);
    const struct ys_observation *more = run->facts->observation ? run->facts->observation : &nothing;
    const char *no_usage = "the kernel's account of the run is missing", *no_samples = "the run was not sampled";
    int64_t user_ns = usage->user_ns, system_ns = usage->system_ns;
    int64_t lived_ns = between(run->times->exec_ns, run->times->end_ns), work_ns = own_ns(run, lived_ns);
    int64_t harness_ns = run->facts->harness.cpu_ns;
    int64_t voluntary = usage->voluntary_switches, involuntary = usage->involuntary_switches;
    char text[160];
    if (usage->unwaited_ns != UNKNOWN && usage->unwaited_ns > 0) { /* in samples alone, and so a lower bound */
        snprintf(text, sizeof text,
                 "processes that nobody waited for used %.3g s more, or longer; a control group counts them",
                 (double)usage->unwaited_ns / NS_PER_S);
        no_usage = text;
        user_ns = UNKNOWN;
    }
    if (user_ns == UNKNOWN || system_ns == UNKNOWN) {
        put_missing(run, "cpu_s", no_usage);
        put_missing(run, "cpu_user_s", no_usage);
        put_missing(run, "cpu_system_s", no_usage);
        put_missing(run, "cpu_per_wall", no_usage);
    } else {
        put_value(run, "cpu_s", (double)(user_ns + system_ns) / NS_PER_S);
        put_value(run, "cpu_user_s", (double)user_ns / NS_PER_S);
        put_value(run, "cpu_system_s", (double)system_ns / NS_PER_S);
        put_value(run, "cpu_per_wall", work_ns > 0 ? (double)(user_ns + system_ns) / (double)work_ns : NAN);
    }
    put_known(run, "threads_peak", number(observed->threads_peak), no_samples);
    put_known(run, "context_switches",
              voluntary == UNKNOWN || involuntary == UNKNOWN ? NAN : (double)(voluntary + involuntary),
              "the kernel's account of the run is missing");
    put_resident(run, more);
    put_observation(run, usage, more);
    put_known(run, "harness_cpu_share",
              harness_ns == UNKNOWN || lived_ns <= 0 ? NAN : (double)harness_ns / (double)lived_ns,
              "yardstick did not count its own processor time");
}

static void put_feeder(struct run_view *run)
{
    const struct ys_facts_feeder *feeder = run->facts->feeder;
    static const char *const in_file = "rows lie in a file: nobody fed the run";
    const bool has_time = feeder && feeder->user_ns != UNKNOWN && feeder->system_ns != UNKNOWN;
    put_known(run, "feeder_cpu_s", has_time ? (double)(feeder->user_ns + feeder->system_ns) / NS_PER_S : NAN, in_file);
    put_known(run, "feeder_rss_bytes", number(feeder ? feeder->peak_bytes : UNKNOWN), in_file);
}

/* What an emulator counted of the requests behind the first, which may make ready what the others find. */
static void put_instructions(struct run_view *run, const struct ys_series *counted)
{
    const size_t count = counted && counted->count > 1 ? counted->count - 1 : 0;
    double *values = ys_alloc(2 * count + 1, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (double)counted->ints[i + 1];
    put_known(run, "instructions", ys_stat_median(values, count, values + count),
              "counted under an emulator alone, of two requests or more with one thread");
    ys_free(values);
}

static void put_model(struct run_view *run)
{
    put_known(run, "parameters", number(run->facts->said.parameters), "the adapter does not say");
    put_known(run, "multiply_adds", multiply_adds(run) > 0 ? (double)multiply_adds(run) : NAN,
              "the multiply-adds of the model are not known");
    put_known(run, "weights_bytes", number(run->facts->weights_bytes), "the size of the weights was not recorded");
    put_known(run, "download_code_bytes", number(run->facts->said.download_code_bytes), "it runs in no page");
    put_known(run, "download_model_bytes", number(run->facts->said.download_model_bytes), "it runs in no page");
}

/* What a model takes on disk and until it answers, of a session that loaded it. */
static void put_stored(struct run_view *run)
{
    const struct ys_facts_stored *stored = run->facts->stored;
    const struct ys_facts_times *t = run->times;
    const int64_t bytes = stored ? stored->bytes : UNKNOWN, parameters = stored ? stored->parameter_bytes : UNKNOWN;
    static const char *const
        nothing = "nothing was saved and loaded again",
        *const hidden = "the parameters could not be found in the files, and the adapter does not say what they take";
    const int64_t load_ns = between(t->open_ns, t->opened_ns);
    put_known(run, "load_s", load_ns == UNKNOWN ? NAN : (double)load_ns / NS_PER_S, "the run did not record when");
    const bool has_first = run->blocks > 0 && run->start && run->start->count > 0 && t->exec_ns != UNKNOWN;
    put_known(run, "first_answer_s",
              has_first ? (double)(run->start->ints[0] - t->exec_ns + block_ns(run, 0)) / NS_PER_S : NAN,
              "no request was answered");
    put_known(run, "stored_bytes", number(bytes), nothing);
    put_known(run, "stored_zstd_bytes", number(stored ? stored->zstd_bytes : UNKNOWN), nothing);
    put_known(run, "runtime_bytes", number(stored ? stored->runtime_bytes : UNKNOWN), nothing);
    put_known(run, "stored_parameter_bytes", number(parameters), stored ? hidden : nothing);
    put_known(run, "stored_rest_bytes", number(parameters == UNKNOWN ? UNKNOWN : bytes - parameters),
              stored ? hidden : nothing);
}

ys_json *ys_metric_of_run(const ys_json *trial, const struct ys_facts *facts, const struct ys_series_set *series)
{
    struct run_view run = {
        .facts = facts,
        .times = &facts->times,
        .ok = facts->status == YS_RUN_OK,
        .no_work = facts->said.no_work,
        .metrics = ys_json_object(),
    };
    ys_record_glance(&told_record, trial, &run.told);
    run.mode = ys_mode_of(run.told.keys.mode);
    struct ys_series_set slowest = {0}, kept = {0};
    const int64_t ranks = ys_series_processes(series);
    if (ranks > 1)
        ys_span_slowest(series, ranks, &slowest);
    const struct ys_series_set *viewed = ranks > 1 ? &slowest : series;
    const bool by_turns = ys_kept_find(viewed, &kept, &run.left_ns);
    run.sampled = ranks > 1 || by_turns ? NULL : series;
    view_blocks(&run, by_turns ? &kept : viewed);
    run.loss = ys_series_find(viewed, "step_loss");
    find_spans(&run, by_turns ? &kept : viewed);
    find_steady(&run);
    put_times(&run);
    put_input(&run);
    put_speed(&run);
    put_learning(&run);
    put_target(&run);
    put_robustness(&run);
    put_resources(&run);
    put_feeder(&run);
    put_model(&run);
    put_stored(&run);
    put_instructions(&run, ys_series_find(viewed, "instructions"));
    ys_json *ordered = ys_metric_in_order(run.metrics);
    ys_json_free(run.metrics);
    ys_free(run.spans);
    ys_series_set_free(&slowest);
    ys_series_set_free(&kept);
    return ordered;
}
