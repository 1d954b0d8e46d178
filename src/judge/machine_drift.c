/* By how much the machine may have changed from one study to the other. */
#include "base/mem.h"
#include "judge/judge_parts.h"
#include "metric/metric.h"
#include "probe/anchor.h"

#include <math.h>
#include <string.h>

static bool is_builtin(const struct ys_result_trial *trial)
{
    return trial->framework && trial->framework->name && strcmp(trial->framework->name, "builtin") == 0 &&
           trial->runs > trial->failed;
}

bool ys_drift_is_reference(const struct ys_side *base, size_t of_base, const struct ys_side *candidate,
                           size_t of_candidate)
{
    const struct ys_result_trial *one = &base->result.trials[of_base], *other = &candidate->result.trials[of_candidate];
    struct ys_list differences = {0};
    if (!is_builtin(one) || !is_builtin(other))
        return false;
    ys_judge_differ_trials(one, other, &differences);
    ys_judge_differ_text("yardstick", base->result.study.version, candidate->result.study.version, &differences);
    ys_judge_differ_work(base, one, candidate, other, &differences);
    const bool alike = differences.count == 0;
    ys_list_fini(&ys_judged_difference_record, &differences);
    return alike;
}

struct drifted_machine {
    struct machine_cpu {
        const char *model;
    } cpu;
};
static const struct ys_field cpu_fields[] = {
    YS_FIELD(struct machine_cpu, model, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "of the processor")};
static const struct ys_record cpu_record = YS_RECORD("cpu", struct machine_cpu, cpu_fields);
static const struct ys_field machine_fields[] = {
    YS_FIELD_OF(struct drifted_machine, cpu, YS_FIELD_OBJECT, &cpu_record, YS_FIELD_NULL, "its processor")};
static const struct ys_record machine_record = YS_RECORD("machine", struct drifted_machine, machine_fields);

/* Three kernels of one thread do not tell how two kinds of processor compare in anything else. */
enum ys_anchored ys_drift_anchors(const struct ys_side *base, const struct ys_side *candidate, double ends[2])
{
    struct drifted_machine a, b;
    struct ys_anchor_range then, now;
    ends[0] = ends[1] = 1;
    ys_record_glance(&machine_record, base->result.host, &a);
    ys_record_glance(&machine_record, candidate->result.host, &b);
    ys_anchor_range(base->anchors, &then);
    ys_anchor_range(candidate->anchors, &now);
    if (!a.cpu.model || !b.cpu.model || strcmp(a.cpu.model, b.cpu.model) != 0)
        return YS_ANCHORS_OF_OTHER_CPU;
    if (!then.count || !now.count)
        return YS_ANCHORS_LACK;
    return ys_anchor_compare(&then, &now, ends) ? YS_ANCHORS_COMPARED : YS_ANCHORS_OF_OTHER_KERNELS;
}

void ys_drift_find(const struct ys_side *base, size_t of_base, const struct ys_side *candidate, size_t of_candidate,
                   struct ys_drift *drift)
{
    const struct ys_result *a = &base->result, *b = &candidate->result;
    const size_t most = sizeof drift->places[0] / sizeof drift->places[0][0];
    *drift = (struct ys_drift){.none = base->store && candidate->store && strcmp(base->store, candidate->store) == 0 &&
                                       base->result.study.id == candidate->result.study.id};
    drift->anchored = ys_drift_anchors(base, candidate, drift->anchors);
    for (size_t i = 0; i < a->trial_count && !drift->none; i++) {
        for (size_t j = 0; j < b->trial_count && drift->count < most; j++) {
            if (i == of_base || j == of_candidate || !ys_drift_is_reference(base, i, candidate, j))
                continue;
            drift->places[0][drift->count] = i;
            drift->places[1][drift->count++] = j;
        }
    }
}

void ys_drift_bound(const struct ys_drift *drift, const struct ys_side *base, const struct ys_side *candidate,
                    size_t metric, struct ys_interval *bound)
{
    const bool anchored = !drift->none && drift->anchored == YS_ANCHORS_COMPARED;
    *bound = (struct ys_interval){drift->none || anchored, 1, 1, YS_STAT_LEVEL};
    if (anchored) {
        bound->lo = drift->anchors[0];
        bound->hi = drift->anchors[1];
    }
    for (size_t i = 0; i < drift->count; i++) {
        struct ys_apart apart;
        ys_judge_apart(&base->result.trials[drift->places[0][i]], &candidate->result.trials[drift->places[1][i]],
                       metric, false, false, &apart);
        if (!apart.centre.interval.known)
            continue;
        bound->known = true;
        bound->lo = fmin(fmin(bound->lo, apart.centre.interval.lo), apart.restored.lo); /* fmin passes over NaN */
        bound->hi = fmax(fmax(bound->hi, apart.centre.interval.hi), apart.restored.hi);
    }
}
