/* What a number format costs and gains: trials of same weights in another format than f32, or quantised, against the
 * accuracy of the built-in engine in f32 and the speed of the trial that differs from them in the format alone. */
#include "base/mem.h"
#include "metric/result_document.h"
#include "report/clean_text.h"
#include "report/page_parts.h"
#include "report/tables/tables.h"
#include "report/view/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SCALES = 8 }; /* of a trial, in text: a deep network has hundreds */

static const char heading[] = "What the number format changes, against f32 with the same weights";
static const char remark[] =
    "The change of the accuracy is against the built-in engine in f32, on the same rows: its interval is Tango's, over "
    "the rows; p is McNemar's. Speed and memory stand beside those of the trial that differs in the format alone.";

static const struct ys_sheet_column columns[] = {
    {YS_FORM_ALL, YS_COLUMN_MEASURE, "Change of accuracy", "change of\naccuracy"},
    {YS_FORM_ALL, YS_COLUMN_MEASURE, "Over the rounds", "over\nrounds"},
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "p", "p"},
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "Answers that differ", "answers\nthat differ"},
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "Median latency", "latency"},
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "in f32", "in f32"},
    {YS_FORM_ALL & ~YS_FORM_TEXT, YS_COLUMN_NUMBER, "Rate", NULL},
    {YS_FORM_ALL & ~YS_FORM_TEXT, YS_COLUMN_NUMBER, "in f32", NULL},
    {YS_FORM_ALL & ~YS_FORM_TEXT, YS_COLUMN_NUMBER, "Peak memory", NULL},
    {YS_FORM_ALL & ~YS_FORM_TEXT, YS_COLUMN_NUMBER, "in f32", NULL}};
static const char *const beside[] = {"latency_p50_s", "rate_per_s", "rss_peak_bytes"};

static bool is_f32(const struct ys_result_trial *told)
{
    return told->keys.precision == YS_PRECISION_F32 && told->keys.quant == YS_NAME_NONE;
}

/* Of the framework, its options and the machine alike, and of its work but for the format. */
static char *work_in_f32(const struct ys_view_trial *trial)
{
    struct ys_trial_settings keys = trial->told->keys; /* borrows */
    keys.precision = YS_PRECISION_F32;
    keys.quant = keys.quant_by = keys.quant_scheme = keys.quant_range = YS_NAME_NONE;
    keys.quant_calibration = NULL;
    keys.quant_rows = YS_FIELD_NONE;
    char *work = ys_settings_work(&keys), *options = ys_json_dump(trial->told->options, YS_JSON_SORTED);
    char *all = ys_format("%s|%s|%lld|%s", work, ys_view_or(keys.framework, ""), (long long)keys.threads,
                          options ? options : "");
    ys_free(work);
    ys_free(options);
    return all;
}

/* The trial that differs from `trial` in the format alone; NULL. */
static const struct ys_view_trial *in_f32(const struct ys_view *view, const struct ys_view_trial *trial)
{
    const struct ys_view_trial *found = NULL;
    char *wanted = work_in_f32(trial);
    for (size_t i = 0; i < view->count && !found; i++) {
        if (!is_f32(view->trials[i].told))
            continue;
        char *work = work_in_f32(&view->trials[i]);
        if (strcmp(work, wanted) == 0)
            found = &view->trials[i];
        ys_free(work);
    }
    ys_free(wanted);
    return found;
}

/* Where its change shows nothing, that and why. */
static void put_doubt(struct ys_sheet *sheet, const struct ys_view_trial *trial)
{
    const struct ys_agreement_block *found = trial->told->agreement;
    const double chance = 1 / (double)found->classes;
    struct ys_buf text = {0};
    if (found->classes <= 0 || !(found->reference_accuracy < (1 + chance) / 2))
        return;
    ys_buf_printf(&text,
                  "%s: its change of accuracy shows nothing: weights that are right on %s in f32 have not learnt: "
                  "halfway from chance to 1 is %s",
                  trial->name, ys_label_value(YS_KIND_SHARE, found->reference_accuracy).text,
                  ys_label_value(YS_KIND_SHARE, (1 + chance) / 2).text);
    ys_table_item(sheet, &text);
}

/* As text; empty where all is in integers, or a quantiser of its own made it. */
static char *in_float(const struct ys_view_trial *trial)
{
    const struct ys_agreement_block *found = trial->told->agreement;
    char *const *nodes = found ? found->in_float.items : NULL;
    struct ys_buf text = {0};
    for (size_t i = 0; found && i < found->in_float.count; i++)
        ys_buf_printf(&text, "%s%s", i ? "; " : "", nodes[i]);
    char *all = ys_strdup(ys_buf_text(&text));
    ys_buf_free(&text);
    return all;
}

/* Once for all trials of which the same is true: with common scales it is of the network, and of no framework. */
static void put_in_float(struct ys_sheet *sheet, const struct ys_view *view, size_t t)
{
    struct ys_buf text = {0};
    char *said = in_float(&view->trials[t]);
    bool is_new = said[0] != '\0';
    for (size_t i = 0; i < t && is_new; i++) {
        char *earlier = in_float(&view->trials[i]);
        is_new = strcmp(said, earlier) != 0;
        ys_free(earlier);
    }
    if (is_new) {
        ys_buf_printf(&text, "%s: computed in float, though it is quantised: ", view->trials[t].name);
        ys_text_clean(&text, said, false);
        ys_table_item(sheet, &text);
    }
    ys_free(said);
}

static void put_row(struct ys_sheet *sheet, const struct ys_view *view, const struct ys_view_trial *trial)
{
    const struct ys_agreement_block *found = trial->told->agreement;
    const struct ys_view_trial *plain = in_f32(view, trial);
    struct ys_view_metric change = {.value = found->change,
                                    .lo = found->change_lo,
                                    .hi = found->change_hi,
                                    .kind = YS_KIND_SHARE},
                          over_rounds = change;
    over_rounds.lo = found->rounds_lo;
    over_rounds.hi = found->rounds_hi;
    ys_table_measure(sheet, change);
    const struct ys_measure measure = ys_view_measure(over_rounds);
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%s%s%s", measure.interval.text[0] ? measure.interval.text : "n < 6",
                    measure.interval.text[0] ? " " : "", measure.interval.text[0] ? measure.unit.text : "");
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%.2g", found->change_p);
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%lld of %lld", (long long)found->disagreements,
                    (long long)found->predictions);
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_view_label(ys_view_metric(trial, beside[i])).text);
        ys_sheet_put(sheet, YS_MOOD_PLAIN, plain ? ys_view_label(ys_view_metric(plain, beside[i])).text : "-");
    }
    put_doubt(sheet, trial);
}

void ys_table_formats(struct ys_sheet *sheet, const struct ys_view *view)
{
    sheet->title = sheet->medium.form == YS_FORM_TEXT ? heading : NULL;
    ys_table_trials(sheet, view, "Number format");
    ys_sheet_columns(sheet, columns, sizeof columns / sizeof columns[0]);
    sheet->things = "trials";
    for (size_t t = 0; t < view->count; t++) {
        const struct ys_result_trial *told = view->trials[t].told;
        if (is_f32(told) || !told->agreement || !isfinite(told->agreement->change))
            continue;
        if (sheet->total++ >= YS_SHEET_MOST && sheet->medium.form == YS_FORM_PAGE)
            continue;
        ys_table_trial(sheet, view, t);
        put_row(sheet, view, &view->trials[t]);
        put_in_float(sheet, view, t);
    }
}

void ys_table_scales(struct ys_sheet *sheet, const struct ys_view *view)
{
    const bool is_page = sheet->medium.form == YS_FORM_PAGE;
    sheet->title = is_page ? NULL : "Scales that the framework's own quantiser chose";
    sheet->things = "scales";
    for (size_t t = 0; t < view->count; t++) {
        const ys_json *scales = view->trials[t].told->scales;
        const size_t count = ys_json_size(scales), shown = is_page || count < MOST_SCALES ? count : MOST_SCALES;
        for (size_t i = 0; i < shown; i++) {
            struct ys_buf text = {0};
            ys_buf_printf(&text, "%s: ", view->trials[t].name);
            ys_view_put_value(&text, ys_json_at(scales, i));
            if (i + 1 == shown && shown < count)
                ys_buf_printf(&text, "; %zu more in the document (--format=json)", count - shown);
            ys_table_item(sheet, &text);
            sheet->total++;
        }
    }
}

void ys_html_formats(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_buf table = {0};
    ys_table_write(ys_table_formats, view, &ys_page_medium, &table);
    if (table.size) {
        ys_html_put(out, "h3", NULL, heading);
        ys_html_put(out, "p", "soft", remark);
        ys_buf_append(out, table.data, table.size);
    }
    ys_buf_free(&table);
}
