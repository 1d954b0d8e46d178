/* A result as the reports see it, from its document or from the structs that documents are made of. The one place of
 * the reports that knows the members of trials, metrics and comparisons. A document may be anything: what is not there,
 * or of another type, is not known. */
#include "base/json/record.h"
#include "base/json/shared_words.h"
#include "base/mem.h"
#include "metric/metric.h"
#include "metric/result_document.h"
#include "report/view/view.h"
#include "stat/compare.h"
#include <math.h>
#include <string.h>

#define TEXT(type, member)         YS_FIELD(type, member, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "")
#define NAMED(type, member, names) YS_FIELD_NAMED(type, member, names, YS_FIELD_NULL, "")
#define VALUE(type, member)        YS_FIELD(type, member, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "")
#define REAL(type, member)         YS_FIELD(type, member, YS_FIELD_REAL, NULL, YS_FIELD_NULL, "")
#define COUNT(type, member)        YS_FIELD(type, member, YS_FIELD_INT, NULL, 0, "")
#define FLAG(type, member)         YS_FIELD(type, member, YS_FIELD_FLAG, NULL, 0, "")

#define FRAMEWORK struct ys_view_framework
static const struct ys_field framework_fields[] = {TEXT(FRAMEWORK, name), TEXT(FRAMEWORK, version),
                                                   TEXT(FRAMEWORK, title), FLAG(FRAMEWORK, no_work)};
static const struct ys_record framework_record = YS_RECORD("framework", FRAMEWORK, framework_fields);

#define PROOF struct ys_view_proof
static const struct ys_field proof_fields[] = {NAMED(PROOF, verdict, &ys_proof_verdicts), TEXT(PROOF, reason),
                                               VALUE(PROOF, checks), VALUE(PROOF, diagnosis), VALUE(PROOF, audit)};
static const struct ys_record proof_record = YS_RECORD("proof", PROOF, proof_fields);

#define TOLD struct ys_view_trial_document
static const struct ys_field told_fields[] = {
    TEXT(TOLD, id),
    TEXT(TOLD, section),
    YS_FIELD_OF(TOLD, framework, YS_FIELD_OBJECT, &framework_record, 0, ""),
    NAMED(TOLD, status, &ys_run_statuses),
    NAMED(TOLD, stage, &ys_stages),
    TEXT(TOLD, reason),
    TEXT(TOLD, command),
    COUNT(TOLD, runs),
    COUNT(TOLD, failed),
    COUNT(TOLD, disturbed),
    FLAG(TOLD, no_work),
    YS_FIELD(TOLD, threads_shared, YS_FIELD_TRUTH, NULL, YS_FIELD_NULL, ""),
    YS_FIELD_OF(TOLD, proof, YS_FIELD_OBJECT, &proof_record, 0, ""),
    YS_FIELD_OF(TOLD, quiet, YS_FIELD_OBJECT, &ys_result_quiet_record, 0, ""),
    YS_FIELD_OF(TOLD, perf, YS_FIELD_OBJECT, &ys_facts_perf_record, 0, ""),
    VALUE(TOLD, metrics),
    VALUE(TOLD, factors),
    VALUE(TOLD, keys),
    VALUE(TOLD, options),
    VALUE(TOLD, env),
    VALUE(TOLD, deviations),
    VALUE(TOLD, warnings),
    VALUE(TOLD, warned),
    VALUE(TOLD, doubts),
    VALUE(TOLD, agreement),
    VALUE(TOLD, ranks),
    VALUE(TOLD, runs_detail),
    VALUE(TOLD, observed),
    VALUE(TOLD, said),
};
static const struct ys_record told_record = YS_RECORD("trial", TOLD, told_fields);

/* What of keys and factors reports go by. */
struct keys {
    const char *model;
    int mode; /* enum ys_mode */
    int init; /* enum ys_init_from */
};
static const struct ys_field keys_fields[] = {TEXT(struct keys, model), NAMED(struct keys, mode, &ys_modes),
                                              NAMED(struct keys, init, &ys_init_froms)};
static const struct ys_record keys_record = YS_RECORD("keys", struct keys, keys_fields);
struct trial_factors {
    const char *framework;
};
static const struct ys_field factors_fields[] = {TEXT(struct trial_factors, framework)};
static const struct ys_record factors_record = YS_RECORD("factors", struct trial_factors, factors_fields);

#define CHAIN struct ys_view_chain
static const struct ys_field chain_fields[] = {COUNT(CHAIN, link), TEXT(CHAIN, hash)};
static const struct ys_record chain_record = YS_RECORD("chain", CHAIN, chain_fields);

#define STUDY struct ys_view_study
static const struct ys_field study_fields[] = {
    YS_FIELD(STUDY, id, YS_FIELD_INT, NULL, YS_FIELD_NULL, ""),
    TEXT(STUDY, name),
    NAMED(STUDY, status, &ys_study_states),
    TEXT(STUDY, started),
    TEXT(STUDY, command),
    TEXT(STUDY, job_text),
    TEXT(STUDY, version),
    REAL(STUDY, margin),
    COUNT(STUDY, rounds),
    YS_FIELD(STUDY, repeat, YS_FIELD_INT, NULL, YS_FIELD_NULL, ""),
    YS_FIELD(STUDY, seed, YS_FIELD_INT, NULL, YS_FIELD_NULL, ""),
    YS_FIELD_OF(STUDY, chain, YS_FIELD_OBJECT, &chain_record, 0, ""),
};
static const struct ys_record study_record = YS_RECORD("study", STUDY, study_fields);

#define WORK struct ys_view_work
static const struct ys_field work_fields[] = {TEXT(WORK, model),    TEXT(WORK, data),        TEXT(WORK, title),
                                              TEXT(WORK, unit),     REAL(WORK, parameters),  REAL(WORK, multiply_adds),
                                              REAL(WORK, classes),  REAL(WORK, train_count), REAL(WORK, test_count),
                                              TEXT(WORK, left_out), VALUE(WORK, verified)};
static const struct ys_record work_record = YS_RECORD("work", WORK, work_fields);

/* What a result has once. */
struct study_members {
    struct ys_view_study study;
    struct harness {
        const ys_json *cpu_share, *lateness_max_s, *overhead_s;
    } harness;
    struct host {
        const ys_json *warnings;
    } machine;
    const ys_json *host, *work, *metrics, *environment_differences, *groups;
};
static const struct ys_field harness_fields[] = {
    VALUE(struct harness, cpu_share), VALUE(struct harness, lateness_max_s), VALUE(struct harness, overhead_s)};
static const struct ys_record harness_record = YS_RECORD("harness", struct harness, harness_fields);
static const struct ys_field host_fields[] = {VALUE(struct host, warnings)};
static const struct ys_record host_record = YS_RECORD("host", struct host, host_fields);
static const struct ys_field rest_fields[] = {
    YS_FIELD_OF(struct study_members, study, YS_FIELD_OBJECT, &study_record, 0, ""),
    YS_FIELD_OF(struct study_members, harness, YS_FIELD_OBJECT, &harness_record, 0, ""),
    VALUE(struct study_members, host),
    VALUE(struct study_members, work),
    VALUE(struct study_members, metrics),
    VALUE(struct study_members, environment_differences),
    VALUE(struct study_members, groups),
};
static const struct ys_record rest_record = YS_RECORD("result", struct study_members, rest_fields);

/* What numbers have that both a metric and a comparison are. */
struct read_figure {
    double value, level, ratio, difference, a_value, b_value, margin, resolution, round_correlation, bias_bound,
        window_from;
    int64_t n, left_out;
    struct ys_comparison_taken taken;
    const char *rounds, *metric, *a, *b, *varies, *reason;
    int kind, scale, verdict, best;
    int scaling;
    double efficiency, exposed_s;
    const ys_json *ci, *settled_ci, *efficiency_ci, *exposed_s_ci, *values;
};
#define FIGURE struct read_figure
static const struct ys_field metric_fields[] = {
    REAL(FIGURE, value),  REAL(FIGURE, level),
    VALUE(FIGURE, ci),    NAMED(FIGURE, kind, &ys_kinds),
    TEXT(FIGURE, reason), YS_FIELD(FIGURE, n, YS_FIELD_INT, NULL, YS_FIELD_NULL, ""),
    VALUE(FIGURE, values)};
static const struct ys_record metric_record = YS_RECORD("metric", FIGURE, metric_fields);
static const struct ys_field comparison_fields[] = {
    TEXT(FIGURE, metric),
    TEXT(FIGURE, a),
    TEXT(FIGURE, b),
    TEXT(FIGURE, varies),
    NAMED(FIGURE, scale, &ys_scales),
    NAMED(FIGURE, verdict, &ys_verdicts),
    NAMED(FIGURE, best, &ys_pair_bests),
    TEXT(FIGURE, reason),
    REAL(FIGURE, ratio),
    REAL(FIGURE, difference),
    REAL(FIGURE, a_value),
    REAL(FIGURE, b_value),
    REAL(FIGURE, margin),
    REAL(FIGURE, resolution),
    COUNT(FIGURE, n),
    COUNT(FIGURE, left_out),
    YS_FIELD_OF(FIGURE, taken, YS_FIELD_OBJECT, &ys_comparison_taken_record, 0, ""),
    VALUE(FIGURE, ci),
    VALUE(FIGURE, settled_ci),
    TEXT(FIGURE, rounds),
    REAL(FIGURE, round_correlation),
    REAL(FIGURE, bias_bound),
    REAL(FIGURE, window_from),
    NAMED(FIGURE, scaling, &ys_scalings),
    REAL(FIGURE, efficiency),
    VALUE(FIGURE, efficiency_ci),
    REAL(FIGURE, exposed_s),
    VALUE(FIGURE, exposed_s_ci),
};
static const struct ys_record comparison_record = YS_RECORD("comparison", FIGURE, comparison_fields);

/* A number, or the value of a metric. */
static double number_of(const ys_json *value)
{
    struct read_figure found;
    ys_record_glance(&metric_record, value, &found);
    return ys_json_type_of(value) == YS_JSON_OBJECT ? found.value : ys_json_number(value, NAN);
}

/* All but trials and comparisons. */
static ys_status read_rest(struct ys_view *view, const ys_json *result)
{
    struct study_members rest;
    ys_record_glance(&rest_record, result, &rest);
    ys_record_glance(&host_record, rest.host, &rest.machine);
    view->result = result;
    view->study = rest.study;
    view->study.id = rest.study.id == YS_FIELD_NONE ? 1 : rest.study.id;
    view->rounds = rest.study.rounds;
    view->repeat = rest.study.repeat == YS_FIELD_NONE ? view->rounds : rest.study.repeat;
    view->harness = (struct ys_view_harness){number_of(rest.harness.cpu_share), number_of(rest.harness.lateness_max_s),
                                             number_of(rest.harness.overhead_s)};
    view->host = rest.host;
    view->host_warnings = rest.machine.warnings;
    view->metrics = rest.metrics;
    view->environment_differences = rest.environment_differences;
    view->told_groups = rest.groups;
    view->works = ys_alloc(ys_json_size(rest.work) + 1, sizeof *view->works);
    if (!view->works)
        return ys_out_of_memory();
    for (; view->work_count < ys_json_size(rest.work); view->work_count++)
        ys_record_glance(&work_record, ys_json_at(rest.work, view->work_count), &view->works[view->work_count]);
    return YS_OK;
}

const char *ys_view_or(const char *text, const char *fallback)
{
    return text ? text : fallback;
}

static const struct ys_field difference_fields[] = {TEXT(struct ys_view_difference, what),
                                                    TEXT(struct ys_view_difference, text)};
static const struct ys_record difference_record = YS_RECORD("difference", struct ys_view_difference, difference_fields);

struct ys_view_difference ys_view_read_difference(const ys_json *difference)
{
    struct ys_view_difference told;
    ys_record_glance(&difference_record, difference, &told);
    return told;
}

struct read_group {
    const ys_json *trials;
    const char *best;
};
static const struct ys_field group_fields[] = {VALUE(struct read_group, trials), TEXT(struct read_group, best)};
static const struct ys_record group_record = YS_RECORD("group", struct read_group, group_fields);

void ys_view_read_group(const ys_json *group, const ys_json **trials, const char **best)
{
    struct read_group told;
    ys_record_glance(&group_record, group, &told);
    *trials = told.trials;
    *best = told.best;
}

struct ys_view_comparison ys_view_read_comparison(const ys_json *comparison)
{
    struct read_figure found;
    ys_record_glance(&comparison_record, comparison, &found);
    return (struct ys_view_comparison){.metric = found.metric,
                                       .a = found.a,
                                       .b = found.b,
                                       .varies = found.varies,
                                       .verdict = found.verdict,
                                       .best = found.best,
                                       .reason = found.reason,
                                       .is_difference = found.scale == YS_SCALE_DIFFERENCE,
                                       .ratio = found.ratio,
                                       .difference = found.difference,
                                       .lo = ys_json_number(ys_json_at(found.ci, 0), NAN),
                                       .hi = ys_json_number(ys_json_at(found.ci, 1), NAN),
                                       .settled_lo = ys_json_number(ys_json_at(found.settled_ci, 0), NAN),
                                       .settled_hi = ys_json_number(ys_json_at(found.settled_ci, 1), NAN),
                                       .a_value = found.a_value,
                                       .b_value = found.b_value,
                                       .margin = found.margin,
                                       .resolution = found.resolution,
                                       .n = found.n,
                                       .left_out = found.left_out,
                                       .taken = found.taken,
                                       .rounds = found.rounds,
                                       .round_correlation = found.round_correlation,
                                       .bias_bound = found.bias_bound,
                                       .window_from = found.window_from,
                                       .scaling = found.scaling,
                                       .efficiency = found.efficiency,
                                       .efficiency_lo = ys_json_number(ys_json_at(found.efficiency_ci, 0), NAN),
                                       .efficiency_hi = ys_json_number(ys_json_at(found.efficiency_ci, 1), NAN),
                                       .exposed_s = found.exposed_s,
                                       .exposed_lo_s = ys_json_number(ys_json_at(found.exposed_s_ci, 0), NAN),
                                       .exposed_hi_s = ys_json_number(ys_json_at(found.exposed_s_ci, 1), NAN)};
}

static struct ys_view_comparison take_comparison(const struct ys_result_comparison *comparison)
{
    const struct ys_comparison_record *told = &comparison->told;
    return (struct ys_view_comparison){.metric = told->metric,
                                       .a = told->a,
                                       .b = told->b,
                                       .varies = told->varies,
                                       .verdict = told->verdict,
                                       .best = told->best,
                                       .reason = told->reason,
                                       .is_difference = told->scale == YS_SCALE_DIFFERENCE,
                                       .ratio = told->ratio,
                                       .difference = told->difference,
                                       .lo = comparison->interval.known ? comparison->interval.lo : NAN,
                                       .hi = comparison->interval.known ? comparison->interval.hi : NAN,
                                       .settled_lo = comparison->settled.known ? comparison->settled.lo : NAN,
                                       .settled_hi = comparison->settled.known ? comparison->settled.hi : NAN,
                                       .a_value = told->a_value,
                                       .b_value = told->b_value,
                                       .margin = told->margin,
                                       .resolution = told->resolution,
                                       .n = told->n,
                                       .left_out = told->left_out,
                                       .taken = told->taken,
                                       .rounds = ys_name_of(&ys_rounds_say, told->rounds),
                                       .round_correlation = told->round_correlation,
                                       .bias_bound = told->bias_bound,
                                       .window_from = told->window_from,
                                       .scaling = told->scaling,
                                       .efficiency = told->efficiency,
                                       .efficiency_lo = comparison->efficiency.known ? comparison->efficiency.lo : NAN,
                                       .efficiency_hi = comparison->efficiency.known ? comparison->efficiency.hi : NAN,
                                       .exposed_s = told->exposed_s,
                                       .exposed_lo_s = comparison->exposed.known ? comparison->exposed.lo : NAN,
                                       .exposed_hi_s = comparison->exposed.known ? comparison->exposed.hi : NAN};
}

static struct ys_view_metric read_metric(const ys_json *json)
{
    struct read_figure found;
    ys_record_glance(&metric_record, json, &found);
    return (struct ys_view_metric){.known = json != NULL,
                                   .value = found.value,
                                   .interval = ys_json_size(found.ci) == 2,
                                   .lo = ys_json_number(ys_json_at(found.ci, 0), NAN),
                                   .hi = ys_json_number(ys_json_at(found.ci, 1), NAN),
                                   .level = found.level,
                                   .n = found.n,
                                   .kind = ys_view_kind_of(found.kind),
                                   .reason = found.reason,
                                   .json = json,
                                   .values = found.values};
}

struct ys_view_metric ys_view_metric(const struct ys_view_trial *trial, const char *name)
{
    if (!trial->values)
        return read_metric(ys_json_get(trial->told.metrics, name));
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count), *info = ys_metric_find(name);
    const struct ys_trial_metric *metric = info ? &trial->values[info - infos] : NULL;
    struct ys_view_metric none = read_metric(NULL);
    none.known = metric != NULL;
    none.reason = metric ? metric->reason : NULL;
    if (!metric || metric->n == 0)
        return none;
    const struct ys_interval *interval = &metric->summary.interval;
    return (struct ys_view_metric){.known = true,
                                   .value = metric->summary.median,
                                   .interval = interval->known,
                                   .lo = interval->known ? interval->lo : NAN,
                                   .hi = interval->known ? interval->hi : NAN,
                                   .level = interval->known ? interval->level : NAN,
                                   .n = (int64_t)metric->n,
                                   .kind = info->kind,
                                   .by_round = metric->by_round,
                                   .rounds = metric->rounds};
}

bool ys_view_same_values(struct ys_view_metric a, struct ys_view_metric b)
{
    if (a.json || b.json)
        return ys_json_size(a.values) > 0 && ys_json_equal(a.values, b.values);
    bool same = a.rounds > 0 && a.rounds == b.rounds;
    for (size_t i = 0; same && i < a.rounds; i++)
        same = a.by_round[i] == b.by_round[i] || (isnan(a.by_round[i]) && isnan(b.by_round[i]));
    return same;
}

/* Room for so many of both; one more, so that none is no want of memory. */
static ys_status make_room(struct ys_view *view, size_t trials, size_t comparisons)
{
    view->trials = ys_alloc(trials + 1, sizeof *view->trials);
    view->comparisons = ys_alloc(comparisons + 1, sizeof *view->comparisons);
    return view->trials && view->comparisons ? YS_OK : ys_out_of_memory();
}

static void note_asked(struct ys_view_trial_document *told)
{
    struct keys keys;
    struct trial_factors factors;
    ys_record_glance(&keys_record, told->keys, &keys);
    ys_record_glance(&factors_record, told->factors, &factors);
    told->model = keys.model;
    told->mode = (int)ys_mode_of(keys.mode)->mode;
    told->init = keys.init;
    if (!told->framework.name)
        told->framework.name = factors.framework;
}

static void read_trial(const ys_json *trial, struct ys_view_trial_document *told)
{
    ys_record_glance(&told_record, trial, told);
    note_asked(told);
}

ys_status ys_view_read(struct ys_view *view, const ys_json *result)
{
    const ys_json *trials = ys_json_get(result, "trials"), *comparisons = ys_json_get(result, "comparisons");
    bool is_list = ys_json_type_of(trials) == YS_JSON_ARRAY;
    YS_TRY(read_rest(view, result));
    YS_TRY(make_room(view, is_list ? ys_json_size(trials) : 0, ys_json_size(comparisons)));
    for (; is_list && view->count < ys_json_size(trials); view->count++)
        read_trial(ys_json_at(trials, view->count), &view->trials[view->count].told);
    for (; view->comparison_count < ys_json_size(comparisons); view->comparison_count++)
        view->comparisons[view->comparison_count] =
            ys_view_read_comparison(ys_json_at(comparisons, view->comparison_count));
    return YS_OK;
}

static ys_status take_trial(const struct ys_result_trial *from, struct ys_view_trial *trial)
{
    const struct ys_trial_framework *framework = from->framework;
    struct ys_view_trial_document *told = &trial->told;
    *told = (struct ys_view_trial_document){.id = from->id,
                                            .section = from->section,
                                            .status = from->status,
                                            .stage = from->stage,
                                            .reason = from->reason,
                                            .command = from->command,
                                            .runs = from->runs,
                                            .failed = from->failed,
                                            .disturbed = from->disturbed,
                                            .threads_shared = from->threads_shared,
                                            .factors = from->factors,
                                            .options = from->options,
                                            .env = from->env,
                                            .deviations = from->deviations,
                                            .warnings = from->warnings,
                                            .doubts = from->doubts,
                                            .agreement = from->agreement,
                                            .ranks = from->ranks,
                                            .runs_detail = from->runs_detail};
    if (framework)
        told->framework =
            (struct ys_view_framework){framework->name, framework->version, framework->title, framework->no_work};
    ys_record_glance(&proof_record, from->proof, &told->proof);
    ys_record_glance(&ys_result_quiet_record, NULL, &told->quiet);
    ys_record_glance(&ys_facts_perf_record, NULL, &told->perf);
    if (from->quiet)
        told->quiet = *from->quiet;
    if (from->perf)
        told->perf = *from->perf;
    trial->values = from->values;
    told->keys = trial->made_keys = ys_record_json(&ys_trial_settings_record, &from->keys);
    told->warned = trial->made_warned = ys_list_json(&ys_result_warned_record, &from->warned);
    note_asked(told);
    return told->keys && told->warned ? YS_OK : ys_out_of_memory();
}

ys_status ys_view_read_result(struct ys_view *view, const struct ys_result *result)
{
    YS_TRY(read_rest(view, result->rest));
    YS_TRY(make_room(view, result->trial_count, result->comparison_count));
    for (size_t i = 0; i < result->trial_count; i++) {
        view->count++;
        YS_TRY(take_trial(&result->trials[i], &view->trials[i]));
    }
    for (; view->comparison_count < result->comparison_count; view->comparison_count++)
        view->comparisons[view->comparison_count] = take_comparison(&result->comparisons[view->comparison_count]);
    return YS_OK;
}
