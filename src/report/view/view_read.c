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

#define PROOF struct ys_view_proof
static const struct ys_field proof_fields[] = {NAMED(PROOF, verdict, &ys_proof_verdicts), TEXT(PROOF, reason),
                                               VALUE(PROOF, checks), VALUE(PROOF, diagnosis), VALUE(PROOF, audit)};
static const struct ys_record proof_record = YS_RECORD("proof", PROOF, proof_fields);

struct trial_factors {
    const char *framework;
};
static const struct ys_field factors_fields[] = {TEXT(struct trial_factors, framework)};
static const struct ys_record factors_record = YS_RECORD("factors", struct trial_factors, factors_fields);

#define WORK struct ys_view_work
static const struct ys_field work_fields[] = {TEXT(WORK, model),       TEXT(WORK, data),          TEXT(WORK, unit),
                                              REAL(WORK, parameters),  REAL(WORK, multiply_adds), REAL(WORK, classes),
                                              REAL(WORK, train_count), REAL(WORK, test_count),    TEXT(WORK, left_out),
                                              VALUE(WORK, verified)};
static const struct ys_record work_record = YS_RECORD("work", WORK, work_fields);

struct told_host {
    const ys_json *warnings;
};
static const struct ys_field host_fields[] = {VALUE(struct told_host, warnings)};
static const struct ys_record host_record = YS_RECORD("host", struct told_host, host_fields);

/* What the result has once. */
static void read_rest(struct ys_view *view, const struct ys_result *result)
{
    struct told_host host;
    ys_record_glance(&host_record, result->host, &host);
    view->study = &result->study;
    view->harness = &result->harness;
    view->id = result->study.id == YS_FIELD_NONE ? 1 : result->study.id;
    view->rounds = result->study.rounds;
    view->repeat = result->study.repeat == YS_FIELD_NONE ? view->rounds : result->study.repeat;
    view->host = result->host;
    view->host_warnings = host.warnings;
    view->works = ys_alloc(ys_json_size(result->work) + 1, sizeof *view->works);
    for (; view->work_count < ys_json_size(result->work); view->work_count++)
        ys_record_glance(&work_record, ys_json_at(result->work, view->work_count), &view->works[view->work_count]);
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
        trial->found = (struct ys_view_framework){framework->name, framework->version, framework->title,
                                                  framework->no_work, framework->emulated};
    if (!trial->found.name)
        trial->found.name = factors.framework;
    ys_record_glance(&proof_record, told->proof, &trial->proof);
    trial->keys = ys_record_json(&ys_trial_settings_record, &told->keys);
}

void ys_view_read(struct ys_view *view, const struct ys_result *result)
{
    read_rest(view, result);
    view->told_groups = &result->groups;
    view->differences = &result->differences;
    view->transfers = &result->transfers;
    view->comparisons = result->comparisons;
    view->comparison_count = result->comparison_count;
    view->trials = ys_alloc(result->trial_count + 1, sizeof *view->trials);
    for (; view->count < result->trial_count; view->count++)
        take_trial(&result->trials[view->count], &view->trials[view->count]);
}
