#include "metric/compare/decision_looks.h"

#include "store/stored_study.h"

#include <math.h>
#include <string.h>

static bool decides(const struct ys_metric_view *view)
{
    return view->told.job.repeat == YS_FIELD_NONE && view->told.job.repeat_most != YS_FIELD_NONE;
}

static size_t most_of(const struct ys_metric_view *view)
{
    const int64_t most = view->told.job.repeat_most;
    return most < YS_STAT_INTERVAL_MIN ? YS_STAT_INTERVAL_MIN : (size_t)most;
}

/* From the first on, without a gap. */
static int64_t complete_rounds(const struct ys_metric_view *view)
{
    size_t count = 0;
    while (count < view->rounds.count && view->rounds.items[count].complete &&
           view->rounds.items[count].round == (int64_t)count)
        count++;
    return (int64_t)count;
}

size_t ys_moments_looks(const struct ys_metric_view *view, struct ys_look looks[YS_LOOKS_MOST])
{
    return decides(view) ? ys_looks(most_of(view), looks) : 0;
}

/* Whether a trial's requests were timed together, so that it has a mean and no median. */
static bool has_mean_alone(const struct ys_metric_view_trial *trial)
{
    const int mean = ys_compared_place("rate_per_s"), median = ys_compared_place("latency_p50_s");
    if (!ys_mode_of(trial->record->keys.mode)->answers)
        return false;
    for (size_t i = 0; i < trial->run_count; i++)
        if (trial->runs[i].ok && isfinite(trial->runs[i].compared[mean]) && isnan(trial->runs[i].compared[median]))
            return true;
    return false;
}

struct ys_moments ys_moments_of(const struct ys_metric_view *view)
{
    struct ys_look looks[YS_LOOKS_MOST];
    struct ys_moments moments = {.count = 1, .items = {{INT64_MAX, YS_STAT_LEVEL}}, .metric = -1};
    if (!decides(view))
        return moments;
    const char *by = view->told.job.decide;
    if (by && ys_metric_find(by))
        moments.metric = ys_compared_place(by);
    for (size_t i = 0; moments.metric < 0 && i < view->trial_count; i++)
        if (has_mean_alone(&view->trials[i]))
            moments.metric = ys_compared_place("rate_per_s");
    moments.decides = true;
    moments.count = 0;
    const int64_t complete = complete_rounds(view);
    const size_t count = ys_moments_looks(view, looks);
    int64_t last = 0;
    for (size_t i = 0; i < count && last < complete; i++) {
        last = (int64_t)looks[i].rounds < complete ? (int64_t)looks[i].rounds : complete;
        moments.items[moments.count++] = (struct ys_moment){last, looks[i].level};
    }
    if (moments.count == 0)
        moments.items[moments.count++] = (struct ys_moment){0, looks[0].level};
    return moments;
}

bool ys_moments_decide(const struct ys_moments *moments, const struct ys_metric_view_trial *trial, int m)
{
    const int metric =
        moments->metric >= 0 ? moments->metric : ys_compared_place(ys_mode_of(trial->record->keys.mode)->speed_metric);
    return moments->decides && m == metric;
}

int64_t ys_moments_rounds(const struct ys_metric_view *view)
{
    if (view->told.job.repeat != YS_FIELD_NONE)
        return view->told.job.repeat;
    if (!decides(view)) /* a job that says nothing of it */
        return (int64_t)view->rounds.count;
    return view->told.stored.status == YS_STUDY_DONE ? (int64_t)view->rounds.count : (int64_t)most_of(view);
}
