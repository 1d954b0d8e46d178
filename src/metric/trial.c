/* From the metrics of runs to those of their trial: medians over rounds. */
#include "metric/trial.h"

#include "base/mem.h"
#include "metric/build.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct gathered {
    double *values; /* of the runs that are ok and have one */
    size_t n, steady, judged;
    ys_json *by_round;  /* entry r is that of round r, null where there is none */
    const char *reason; /* why the last run without a value had none */
};

static ys_status gather(const struct ys_metric_view_trial *trial, const struct ys_metric_info *info,
                        struct gathered *all)
{
    *all = (struct gathered){0};
    all->values = ys_alloc(trial->run_count, sizeof *all->values);
    all->by_round = ys_json_array();
    ys_status status = all->values && all->by_round ? YS_OK : ys_out_of_memory();
    for (size_t i = 0; status == YS_OK && i < trial->run_count; i++) {
        const struct ys_metric_view_run *run = &trial->runs[i];
        if (!run->counted)
            continue;
        const ys_json *metric = ys_json_get(run->metrics, info->name);
        double value = run->ok ? ys_metric_view_value(run, info->name) : NAN;
        while (status == YS_OK && (int64_t)ys_json_size(all->by_round) < run->round)
            ys_add(&status, all->by_round, ys_json_null());
        ys_add(&status, all->by_round, ys_number(value, info->whole));
        if (isnan(value)) {
            if (run->ok || !all->reason)
                all->reason = ys_json_get_text(metric, "reason", all->reason);
            continue;
        }
        all->values[all->n++] = value;
        all->judged += ys_json_get(metric, "steady") != NULL;
        all->steady += ys_json_get_bool(metric, "steady", false);
    }
    return status;
}

static ys_json *unknown(ys_status *status, const struct ys_metric_view_trial *trial, const struct gathered *all)
{
    char text[200];
    const char *reason = all->reason;
    if (trial->counted == 0) {
        snprintf(text, sizeof text, "no run: %s", ys_run_status_name(trial->status));
        reason = text;
    } else if (trial->counted == trial->failed) {
        snprintf(text, sizeof text, "no run succeeded: %s", ys_run_status_name(trial->status));
        reason = text;
    }
    ys_json *object = ys_json_object();
    ys_put(status, object, "value", ys_json_null());
    ys_put_text(status, object, "reason", reason ? reason : "no run has it");
    return object;
}

static ys_json *known(ys_status *status, const struct ys_metric_info *info, const ys_json *texts,
                      const struct gathered *all)
{
    static const char *const shared[] = {"method", "scope", "source", "better", "kind"};
    struct ys_summary summary;
    ys_status summed = ys_stat_summarize(all->values, all->n, &summary);
    if (summed != YS_OK) {
        *status = summed;
        return NULL;
    }
    ys_json *object = ys_json_object();
    ys_put(status, object, "value", ys_number(summary.median, info->whole));
    ys_put_ref(status, object, "unit", ys_json_get(texts, "unit"));
    ys_put_int(status, object, "n", (int64_t)all->n);
    ys_put_interval(status, object, &summary.interval, info->whole);
    ys_put(status, object, "min", ys_number(summary.min, info->whole));
    ys_put(status, object, "max", ys_number(summary.max, info->whole));
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
        ys_put_ref(status, object, shared[i], ys_json_get(texts, shared[i]));
    if (all->judged) {
        ys_put_bool(status, object, "steady", all->steady == all->judged);
        ys_put_int(status, object, "steady_runs", (int64_t)all->steady);
    }
    ys_put_ref(status, object, "values", all->by_round);
    return object;
}

ys_status ys_trial_metrics(const struct ys_view *view, const struct ys_metric_view_trial *trial, ys_json **metrics)
{
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    ys_json *object = ys_json_object();
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < count; i++) {
        struct gathered all;
        status = gather(trial, &infos[i], &all);
        if (status == YS_OK) {
            ys_json *metric = all.n ? known(&status, &infos[i], ys_json_get(view->texts, infos[i].name), &all)
                                    : unknown(&status, trial, &all);
            ys_put(&status, object, infos[i].name, metric);
        }
        ys_free(all.values);
        ys_json_free(all.by_round);
    }
    return ys_built(status, object, metrics);
}
