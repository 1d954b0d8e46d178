/* export --format=csv and --format=trace: runs for a table, and for Perfetto. */
#include "base/mem.h"
#include "cli/command.h"
#include "cli/verbs/show_result.h"
#include "metric/metric.h"
#include "metric/result_document.h"
#include "report/trace_events.h"

#include <math.h>

/* As RFC 4180 has it: text in quotes, where quotes are doubled. */
static void put_text(struct ys_buf *out, const char *text)
{
    ys_buf_puts(out, "\"");
    for (; text && *text; text++)
        ys_buf_printf(out, *text == '"' ? "\"\"" : "%c", *text);
    ys_buf_puts(out, "\"");
}

static void put_round(struct ys_buf *out, const struct ys_result_trial *trial, size_t round)
{
    size_t count;
    bool any = false;
    ys_metric_infos(&count);
    for (size_t m = 0; m < count; m++)
        any |= round < trial->values[m].rounds && isfinite(trial->values[m].by_round[round]);
    if (!any)
        return; /* it failed, or was not run */
    put_text(out, trial->id);
    ys_buf_printf(out, ",%zu", round);
    for (size_t m = 0; m < count; m++) {
        ys_buf_puts(out, ",");
        if (round < trial->values[m].rounds && isfinite(trial->values[m].by_round[round]))
            ys_buf_printf(out, "%.17g", trial->values[m].by_round[round]);
    }
    ys_buf_puts(out, "\n");
}

ys_status ys_export_csv(struct ys_store *store, int64_t study_id, int64_t trial_id, struct ys_buf *out)
{
    struct ys_result result = {0};
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    YS_TRY(ys_metric_result_load(store, study_id, YS_RESULT_AXES, &result));
    ys_buf_puts(out, "trial,round");
    for (size_t m = 0; m < count; m++)
        ys_buf_printf(out, ",%s", infos[m].name);
    ys_buf_puts(out, "\n");
    for (size_t i = 0; i < result.trial_count; i++) {
        const struct ys_result_trial *trial = &result.trials[i];
        size_t rounds = 0;
        for (size_t m = 0; m < count; m++)
            rounds = trial->values[m].rounds > rounds ? trial->values[m].rounds : rounds;
        for (size_t r = 0; (!trial_id || trial->trial_id == trial_id) && r < rounds; r++)
            put_round(out, trial, r);
    }
    ys_result_fini(&result);
    return YS_OK;
}

struct tracing {
    struct ys_store *store;
    const char *trial;
    struct ys_report_trace trace;
    struct ys_buf *out;
    bool left; /* nobody reads on */
};

static ys_status trace_run(void *context, const struct ys_run_row *row)
{
    struct tracing *tracing = context;
    struct ys_series_set series = {0};
    struct ys_facts facts;
    if (tracing->left)
        return YS_OK;
    ys_status status = ys_store_series_get(tracing->store, row->run_id, &series);
    if (status != YS_OK && status != YS_EFORMAT) /* damaged: said by the store, and its phases are shown */
        return status;
    status = ys_facts_parse(row->facts, row->facts_size, "facts of a run", &facts);
    if (status == YS_OK) {
        ys_report_trace_run(&tracing->trace, row->run_id, tracing->trial, &facts, &series, tracing->out);
        ys_facts_fini(&facts);
    }
    ys_series_set_free(&series);
    return status == YS_OK ? ys_command_write(tracing->out, &tracing->left) : status;
}

ys_status ys_export_trace(struct ys_store *store, int64_t study_id, int64_t trial_id, struct ys_buf *out)
{
    struct ys_trial_records trials = {0};
    struct tracing tracing = {.store = store, .out = out};
    const struct ys_run_reader reader = {.context = &tracing, .run = trace_run};
    YS_TRY(ys_store_trials_load(store, study_id, &trials));
    ys_status status = YS_OK;
    ys_report_trace_head(out);
    for (size_t i = 0; status == YS_OK && i < trials.count; i++) {
        tracing.trial = trials.items[i].id;
        if (!trial_id || trials.items[i].trial_id == trial_id)
            status = ys_store_runs_each(store, trials.items[i].trial_id, &reader);
    }
    if (status == YS_OK && !tracing.left)
        ys_report_trace_tail(out);
    ys_trial_records_fini(&trials);
    return status;
}
