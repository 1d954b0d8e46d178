#include "base/mem.h"
#include "report/report.h"
#include "report/text.h"
#include "report/view.h"
#include <string.h>

/** One field, quoted where it must be. A text that a spreadsheet would take for a formula gets an apostrophe in front.
 */
static void put_text(struct ys_buf *out, const char *text)
{
    struct ys_buf clean = {0};
    ys_text_clean(&clean, text, false);
    out->failed |= clean.failed;
    const char *c = ys_buf_text(&clean);
    bool formula = *c && strchr("=+-@", *c);
    if (!formula && !strpbrk(c, ",\"\n")) {
        ys_buf_puts(out, c);
    } else {
        ys_buf_puts(out, formula ? "\"'" : "\"");
        for (; *c; c++)
            ys_buf_printf(out, *c == '"' ? "\"\"" : "%c", *c);
        ys_buf_puts(out, "\"");
    }
    ys_buf_free(&clean);
}

/** A number with all its digits; nothing for anything else. */
static void put_number(struct ys_buf *out, const ys_json *value)
{
    if (ys_json_type_of(value) != YS_JSON_INT && ys_json_type_of(value) != YS_JSON_REAL)
        return;
    char *text = ys_json_dump(value, YS_JSON_COMPACT);
    if (text)
        ys_buf_puts(out, text);
    else
        out->failed = true;
    ys_free(text);
}

static void put_factor(struct ys_buf *out, const ys_json *value)
{
    struct ys_buf text = {0};
    enum ys_json_type type = ys_json_type_of(value);
    if (type == YS_JSON_INT || type == YS_JSON_REAL) {
        put_number(out, value);
    } else if (value) {
        ys_view_put_value(&text, value);
        put_text(out, ys_buf_text(&text));
    }
    out->failed |= text.failed;
    ys_buf_free(&text);
}

static void put_head(struct ys_buf *out, const struct ys_view *view, const ys_json *metrics)
{
    ys_buf_puts(out, "trial,section,framework,version");
    for (size_t i = 0; i < ys_view_axes(view); i++) {
        ys_buf_puts(out, ",");
        put_text(out, ys_view_axis(view, i));
    }
    ys_buf_puts(out, ",status,stage,reason,proof,runs,failed,deviations");
    for (size_t i = 0; i < ys_json_size(metrics); i++) {
        static const char *const endings[] = {"", "_lo", "_hi", "_n"};
        for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
            ys_buf_puts(out, ",");
            put_text(out, ys_json_text(ys_json_at(metrics, i), ""));
            ys_buf_puts(out, endings[k]);
        }
    }
    ys_buf_puts(out, "\n");
}

static void put_joined(struct ys_buf *out, const ys_json *texts)
{
    struct ys_buf all = {0};
    for (size_t i = 0; i < ys_json_size(texts); i++) {
        ys_buf_puts(&all, i ? "; " : "");
        ys_view_put_value(&all, ys_json_at(texts, i));
    }
    put_text(out, ys_buf_text(&all));
    out->failed |= all.failed;
    ys_buf_free(&all);
}

/* What of a metric is written: as it stands, with all its digits. */
struct figure {
    const ys_json *value, *ci, *n;
};
#define FIGURE(member, what) YS_FIELD(struct figure, member, YS_FIELD_JSON, NULL, YS_FIELD_NULL, what)
static const struct ys_field figure_fields[] = {FIGURE(value, "median"), FIGURE(ci, "both ends of its interval"),
                                                FIGURE(n, "values")};
static const struct ys_record figure_record = YS_RECORD("metric", struct figure, figure_fields);

static void put_trial(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *trial,
                      const ys_json *metrics)
{
    const struct ys_view_told *told = &trial->told;
    const char *const texts[] = {trial->id, ys_view_or(told->section, ""),
                                 ys_view_or(told->framework.name, trial->framework),
                                 ys_view_or(told->framework.version, "")};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ys_buf_puts(out, i ? "," : "");
        put_text(out, texts[i]);
    }
    for (size_t i = 0; i < ys_view_axes(view); i++) {
        ys_buf_puts(out, ",");
        put_factor(out, ys_json_get(told->factors, ys_view_axis(view, i)));
    }
    const char *const states[] = {ys_run_status_name(trial->status), ys_view_or(ys_stage_name(told->stage), ""),
                                  ys_view_or(told->reason, ""),
                                  ys_name_of(&ys_proof_verdicts, (int)ys_view_verdict(trial))};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        ys_buf_puts(out, ",");
        put_text(out, states[i]);
    }
    ys_buf_printf(out, ",%lld,%lld,", (long long)trial->runs, (long long)trial->failed);
    put_joined(out, told->deviations);
    for (size_t i = 0; i < ys_json_size(metrics); i++) {
        const char *name = ys_json_text(ys_json_at(metrics, i), "");
        struct figure figure;
        ys_record_glance(&figure_record, trial->measured ? ys_view_metric(trial, name).json : NULL, &figure);
        const ys_json *const values[] = {figure.value, ys_json_at(figure.ci, 0), ys_json_at(figure.ci, 1), figure.n};
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            ys_buf_puts(out, ",");
            put_number(out, values[k]);
        }
    }
    ys_buf_puts(out, "\n");
}

ys_status ys_report_csv(const ys_json *result, struct ys_buf *out)
{
    struct ys_view view;
    ys_json *metrics;
    YS_TRY(ys_view_init(&view, result));
    ys_status status = ys_view_metric_names(&view, &metrics);
    if (status != YS_OK) {
        ys_view_fini(&view);
        return status;
    }
    put_head(out, &view, metrics);
    for (size_t i = 0; i < view.count; i++)
        put_trial(out, &view, &view.trials[i], metrics);
    ys_json_free(metrics);
    ys_view_fini(&view);
    return out->failed ? ys_out_of_memory() : YS_OK;
}
