#include "report/tables/agreement_tables.h"

#include "base/mem.h"
#include "metric/result_document.h"
#include "report/draw/chart.h"
#include "report/page_parts.h"
#include "report/view/view.h"
#include "report/tables/tables.h"
#include <math.h>
#include <stdio.h>

static const struct ys_sheet_column columns[YS_AGREEMENT_COLUMNS] = {
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "Answers that differ", "answers\nthat differ"},
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "Accuracy", "accuracy"},
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "Accuracy of builtin", "builtin's\naccuracy"},
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "Error of the logits", "error of\nlogits"},
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "Error of the worst layer", "of worst\nlayer"},
    {YS_FORM_ALL, YS_COLUMN_TEXT, "Which layer", "which\nlayer"}};
static const char heading[] = "Predictions with the same weights, against builtin",
                  remark[] = "Every framework predicts the same test rows with the same weights, so what differs here "
                             "is how they compute. An error is the largest difference over the largest value: of the "
                             "logits against the built-in engine on all rows, of a layer against the oracle in double "
                             "on the first few.";

/** The largest error of a layer and its name, which is NULL where there is none. */
static struct ys_agreement_layer worst_layer(const struct ys_list *layers)
{
    const struct ys_agreement_layer *all = layers->items;
    struct ys_agreement_layer worst = {.error = NAN};
    for (size_t i = 0; i < layers->count; i++) {
        if (isnan(all[i].error))
            return all[i]; /* not finite: nothing is worse */
        if (i == 0 || all[i].error > worst.error)
            worst = all[i];
    }
    return worst;
}

bool ys_agreement_row(const struct ys_view_trial *trial, struct ys_agreement_row *row)
{
    const struct ys_agreement_block *found = trial->told->agreement;
    if (!found)
        return false;
    *row = (struct ys_agreement_row){.reason = NULL};
    if (found->disagreements == YS_FIELD_NONE) {
        const struct ys_agreement_round *first = found->rounds.items;
        row->reason = ys_view_or(first ? first->reason : NULL, "no round has predictions");
        return true;
    }
    row->disagreements = found->disagreements;
    const struct ys_agreement_layer worst = worst_layer(&found->layers);
    snprintf(row->cells[0].text, sizeof row->cells[0].text, "%lld of %lld", (long long)found->disagreements,
             found->predictions == YS_FIELD_NONE ? 0 : (long long)found->predictions);
    row->cells[1] = ys_label_value(YS_KIND_SHARE, found->accuracy);
    row->cells[2] = ys_label_value(YS_KIND_SHARE, found->reference_accuracy);
    row->cells[3] = ys_label_error(found->logits_error);
    row->cells[4] = ys_label_error(worst.error);
    snprintf(row->cells[5].text, sizeof row->cells[5].text, "%.40s", ys_view_or(worst.value, "-"));
    return true;
}

void ys_table_agreements(struct ys_sheet *sheet, const struct ys_view *view)
{
    struct ys_agreement_row row;
    sheet->title = sheet->medium.form == YS_FORM_TEXT ? heading : NULL;
    ys_table_trials(sheet, view, "Same weights");
    ys_sheet_columns(sheet, columns, YS_AGREEMENT_COLUMNS);
    sheet->things = "trials";
    for (size_t t = 0; t < view->count; t++) {
        if (!ys_agreement_row(&view->trials[t], &row))
            continue;
        if (sheet->total++ >= YS_SHEET_MOST && sheet->medium.form == YS_FORM_PAGE)
            continue;
        ys_table_trial(sheet, view, t);
        for (size_t k = 0; k < YS_AGREEMENT_COLUMNS; k++)
            ys_sheet_put(sheet, YS_MOOD_PLAIN, row.cells[k].text);
        if (row.reason)
            ys_sheet_note(sheet, row.reason);
    }
}

/** Errors along the network; where a layer is exact, or not finite, the line breaks. */
static bool read_curve(const struct ys_view_trial *trial, struct ys_chart_curve *curve)
{
    if (!trial->told->agreement || trial->told->agreement->layers.count == 0)
        return false;
    const struct ys_agreement_layer *layers = trial->told->agreement->layers.items;
    curve->count = trial->told->agreement->layers.count;
    curve->x = ys_alloc(curve->count, sizeof *curve->x);
    curve->y = ys_alloc(curve->count, sizeof *curve->y);
    for (size_t i = 0; i < curve->count; i++) {
        curve->x[i] = (double)(i + 1);
        curve->y[i] = layers[i].error > 0 ? layers[i].error : NAN;
    }
    return true;
}

static void put_chart(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_chart_lines chart = {.id = "layers",
                                   .title = "Error layer by layer",
                                   .x_title = "value, in the order of the network",
                                   .y_title = "largest difference / largest value",
                                   .description = "For each trial the error of every value that a node makes.",
                                   .x_kind = YS_KIND_NUMBER,
                                   .y_kind = YS_KIND_NUMBER,
                                   .logarithmic = true};
    ys_html_trial_curves(out, view, &chart,
                         "Against the oracle in double; logarithmic. Where a line is missing, the values are equal.",
                         read_curve);
}

void ys_html_agreement(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_buf table = {0};
    ys_table_write(ys_table_agreements, view, &ys_page_medium, &table);
    if (table.size) {
        ys_html_put(out, "h3", NULL, heading);
        ys_html_put(out, "p", "soft", remark);
        put_chart(out, view);
        ys_buf_append(out, table.data, table.size);
    }
    ys_buf_free(&table);
}
