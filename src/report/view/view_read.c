/* What reports take from a result. */
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

#define PROOF struct ys_view_proof
static const struct ys_field proof_fields[] = {NAMED(PROOF, verdict, &ys_proof_verdicts), TEXT(PROOF, reason),
                                               VALUE(PROOF, checks), VALUE(PROOF, diagnosis), VALUE(PROOF, audit)};
static const struct ys_record proof_record = YS_RECORD("proof", PROOF, proof_fields);

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
    const ys_json *host, *work;
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
};
static const struct ys_record rest_record = YS_RECORD("result", struct study_members, rest_fields);

struct harness_metric {
    double value;
};
static const struct ys_field metric_fields[] = {REAL(struct harness_metric, value)};
static const struct ys_record metric_record = YS_RECORD("metric", struct harness_metric, metric_fields);

/* A number, or the value of a metric. */
static double number_of(const ys_json *value)
{
    struct harness_metric found;
    ys_record_glance(&metric_record, value, &found);
    return ys_json_type_of(value) == YS_JSON_OBJECT ? found.value : ys_json_number(value, NAN);
}

/* What the result has once. */
static void read_rest(struct ys_view *view, const ys_json *result)
{
    struct study_members rest;
    ys_record_glance(&rest_record, result, &rest);
    ys_record_glance(&host_record, rest.host, &rest.machine);
    view->study = rest.study;
    view->study.id = rest.study.id == YS_FIELD_NONE ? 1 : rest.study.id;
    view->rounds = rest.study.rounds;
    view->repeat = rest.study.repeat == YS_FIELD_NONE ? view->rounds : rest.study.repeat;
    view->harness = (struct ys_view_harness){number_of(rest.harness.cpu_share), number_of(rest.harness.lateness_max_s),
                                             number_of(rest.harness.overhead_s)};
    view->host = rest.host;
    view->host_warnings = rest.machine.warnings;
    view->works = ys_alloc(ys_json_size(rest.work) + 1, sizeof *view->works);
    for (; view->work_count < ys_json_size(rest.work); view->work_count++)
        ys_record_glance(&work_record, ys_json_at(rest.work, view->work_count), &view->works[view->work_count]);
}

const char *ys_view_or(const char *text, const char *fallback)
{
    return text ? text : fallback;
}

struct ys_view_metric ys_view_metric(const struct ys_view_trial *trial, const char *name)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count), *info = ys_metric_find(name);
    const struct ys_trial_metric *metric = info ? &trial->told->values[info - infos] : NULL;
    struct ys_view_metric found = {.known = metric != NULL,
                                   .value = NAN,
                                   .lo = NAN,
                                   .hi = NAN,
                                   .level = NAN,
                                   .n = YS_FIELD_NONE,
                                   .kind = YS_KIND_NUMBER,
                                   .reason = metric ? metric->reason : NULL,
                                   .info = info};
    if (!metric || metric->n == 0)
        return found;
    const struct ys_interval *interval = &metric->summary.interval;
    found.value = metric->summary.median;
    found.interval = interval->known;
    found.lo = interval->known ? interval->lo : NAN;
    found.hi = interval->known ? interval->hi : NAN;
    found.level = interval->known ? interval->level : NAN;
    found.n = (int64_t)metric->n;
    found.kind = info->kind;
    found.reason = NULL;
    found.by_round = metric->by_round;
    found.rounds = metric->rounds;
    found.lost = metric->lost;
    found.limit = metric->limit;
    return found;
}

double ys_view_round(struct ys_view_metric metric, size_t round)
{
    return round < metric.rounds ? metric.by_round[round] : NAN;
}

bool ys_view_same_values(struct ys_view_metric a, struct ys_view_metric b)
{
    bool same = a.rounds > 0 && a.rounds == b.rounds;
    for (size_t i = 0; same && i < a.rounds; i++)
        same = a.by_round[i] == b.by_round[i] || (isnan(a.by_round[i]) && isnan(b.by_round[i]));
    return same;
}

static void take_trial(const struct ys_result_trial *told, struct ys_view_trial *trial)
{
    const struct ys_trial_framework *framework = told->framework;
    struct trial_factors factors;
    trial->told = told;
    ys_record_glance(&factors_record, told->factors, &factors);
    if (framework)
        trial->found =
            (struct ys_view_framework){framework->name, framework->version, framework->title, framework->no_work};
    if (!trial->found.name)
        trial->found.name = factors.framework;
    ys_record_glance(&proof_record, told->proof, &trial->proof);
    trial->keys = ys_record_json(&ys_trial_settings_record, &told->keys);
}

void ys_view_read(struct ys_view *view, const struct ys_result *result)
{
    read_rest(view, result->rest);
    view->told_groups = &result->groups;
    view->differences = &result->differences;
    view->transfers = &result->transfers;
    view->comparisons = result->comparisons;
    view->comparison_count = result->comparison_count;
    view->trials = ys_alloc(result->trial_count + 1, sizeof *view->trials);
    for (; view->count < result->trial_count; view->count++)
        take_trial(&result->trials[view->count], &view->trials[view->count]);
}
