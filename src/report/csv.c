#include "base/mem.h"
#include "metric/json_builder.h"
#include "metric/metric.h"
#include "report/report.h"
#include "report/tables/tables.h"

#include <math.h>

/* A number with all its digits; nothing of anything else. */
static void put_number(struct ys_sheet *sheet, const ys_json *value)
{
    const bool is_number = ys_json_type_of(value) == YS_JSON_INT || ys_json_type_of(value) == YS_JSON_REAL;
    char *text = is_number ? ys_json_dump(value, YS_JSON_COMPACT) : NULL;
    ys_sheet_number(sheet, ys_json_number(value, NAN), text);
    ys_free(text);
}

static void put_factor(struct ys_sheet *sheet, const ys_json *value)
{
    struct ys_buf text = {0};
    const bool is_number = ys_json_type_of(value) == YS_JSON_INT || ys_json_type_of(value) == YS_JSON_REAL;
    if (value && !is_number)
        ys_view_put_value(&text, value);
    if (is_number)
        put_number(sheet, value);
    else
        ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_buf_text(&text));
    ys_buf_free(&text);
}

static void put_heads(struct ys_sheet *sheet, const struct ys_view *view)
{
    static const char *const first[] = {"trial", "section", "framework", "version"},
                             *const last[] = {"status", "stage", "reason", "proof", "runs", "failed", "deviations"},
                             *const endings[] = {"", "_lo", "_hi", "_n"};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        ys_sheet_column(sheet, YS_FORM_CSV, YS_COLUMN_TEXT, first[i], NULL);
    for (size_t i = 0; i < ys_view_axes(view); i++)
        ys_sheet_column(sheet, YS_FORM_CSV, YS_COLUMN_TEXT, ys_view_axis(view, i), NULL);
    for (size_t i = 0; i < sizeof last / sizeof last[0]; i++)
        ys_sheet_column(sheet, YS_FORM_CSV, YS_COLUMN_TEXT, last[i], NULL);
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    for (size_t i = 0; i < count && view->count > 0; i++)
        for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
            char *head = ys_format("%s%s", infos[i].name, endings[k]);
            ys_sheet_column(sheet, YS_FORM_CSV, YS_COLUMN_NUMBER, head, NULL);
            ys_free(head);
        }
}

static void put_joined(struct ys_sheet *sheet, const ys_json *texts)
{
    struct ys_buf all = {0};
    for (size_t i = 0; i < ys_json_size(texts); i++) {
        ys_buf_puts(&all, i ? "; " : "");
        ys_view_put_value(&all, ys_json_at(texts, i));
    }
    ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_buf_text(&all));
    ys_buf_free(&all);
}

static void put_value(struct ys_sheet *sheet, double value, bool is_whole)
{
    ys_json *json = isnan(value) ? NULL : ys_number(value, is_whole);
    put_number(sheet, json);
    ys_json_free(json);
}

static void put_trial(struct ys_sheet *sheet, const struct ys_view *view, const struct ys_view_trial *trial)
{
    const struct ys_result_trial *told = trial->told;
    const char *const texts[] = {trial->id, told->section, ys_view_or(trial->found.name, trial->framework),
                                 trial->found.version},
                      *const states[] = {ys_run_status_name(trial->status), ys_stage_name(told->stage), told->reason,
                                         ys_name_of(&ys_proof_verdicts, (int)ys_view_verdict(trial))};
    ys_sheet_row(sheet);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        ys_sheet_put(sheet, YS_MOOD_PLAIN, texts[i]);
    for (size_t i = 0; i < ys_view_axes(view); i++)
        put_factor(sheet, ys_json_get(told->factors, ys_view_axis(view, i)));
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        ys_sheet_put(sheet, YS_MOOD_PLAIN, states[i]);
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%lld", (long long)trial->runs);
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%lld", (long long)trial->failed);
    put_joined(sheet, told->deviations);
    size_t count;
    const struct ys_metric_info *infos = ys_metric_infos(&count);
    for (size_t i = 0; i < count; i++) {
        const struct ys_view_metric metric = ys_view_metric(trial, infos[i].name);
        const bool is_known = trial->measured && metric.n != YS_FIELD_NONE;
        const double values[] = {metric.value, metric.lo, metric.hi};
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++)
            put_value(sheet, is_known ? values[k] : NAN, infos[i].whole);
        put_value(sheet, is_known ? (double)metric.n : NAN, true);
    }
}

void ys_report_csv(const struct ys_result *result, struct ys_buf *out)
{
    static const struct ys_medium medium = {.form = YS_FORM_CSV};
    struct ys_sheet sheet = ys_sheet_init(&medium);
    struct ys_view view;
    ys_view_init(&view, result);
    put_heads(&sheet, &view);
    for (size_t i = 0; i < view.count; i++)
        put_trial(&sheet, &view, &view.trials[i]);
    ys_sheet_write(&sheet, out);
    ys_view_fini(&view);
}
