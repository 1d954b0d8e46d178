#include "report/agreement.h"

#include "base/mem.h"
#include "metric/agreement.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/text.h"
#include <math.h>
#include <stdio.h>

const char *const ys_agreement_heads[YS_AGREEMENT_COLUMNS] = {
    "answers\nthat differ", "accuracy", "builtin's\naccuracy", "error of\nlogits", "of worst\nlayer", "which\nlayer"};
const char *const ys_agreement_titles[YS_AGREEMENT_COLUMNS] = {"Answers that differ",      "Accuracy",
                                                               "Accuracy of builtin",      "Error of the logits",
                                                               "Error of the worst layer", "Which layer"};
const char ys_agreement_heading[] = "Predictions with the same weights, against builtin";
const char ys_agreement_remark[] =
    "Every framework predicts the same test rows with the same weights, so what differs here is how they compute. An "
    "error is the largest difference over the largest value: of the logits against the built-in engine on all rows, of "
    "a layer against the oracle in double on the first few.";

/** The largest error of a layer and its name, which is NULL where there is none. */
static struct ys_agreement_layer worst_layer(const ys_json *layers)
{
    struct ys_agreement_layer worst = {.error = NAN}, layer;
    for (size_t i = 0; i < ys_json_size(layers); i++) {
        ys_record_glance(&ys_agreement_layer_record, ys_json_at(layers, i), &layer);
        if (isnan(layer.error))
            return layer; /* not finite: nothing is worse */
        if (i == 0 || layer.error > worst.error)
            worst = layer;
    }
    return worst;
}

bool ys_agreement_row(const struct ys_view_trial *trial, struct ys_agreement_row *row)
{
    struct ys_agreement_block found;
    if (ys_json_size(trial->told.agreement) == 0)
        return false;
    *row = (struct ys_agreement_row){.reason = NULL};
    ys_record_glance(&ys_agreement_block_record, trial->told.agreement, &found);
    if (found.disagreements == YS_FIELD_NONE) {
        struct ys_agreement_round round;
        ys_record_glance(&ys_agreement_round_record, ys_json_at(found.rounds, 0), &round);
        row->reason = ys_view_or(round.reason, "no round has predictions");
        return true;
    }
    row->disagreements = found.disagreements;
    const struct ys_agreement_layer worst = worst_layer(found.layers);
    snprintf(row->cells[0].text, sizeof row->cells[0].text, "%lld of %lld", (long long)found.disagreements,
             found.predictions == YS_FIELD_NONE ? 0 : (long long)found.predictions);
    row->cells[1] = ys_label_value(YS_KIND_SHARE, found.accuracy);
    row->cells[2] = ys_label_value(YS_KIND_SHARE, found.reference_accuracy);
    row->cells[3] = ys_label_error(found.logits_error);
    row->cells[4] = ys_label_error(worst.error);
    snprintf(row->cells[5].text, sizeof row->cells[5].text, "%.40s", ys_view_or(worst.value, "-"));
    return true;
}

static void put_row(struct ys_buf *out, const struct ys_view_trial *trial, const struct ys_agreement_row *row)
{
    ys_buf_puts(out, "<tr>\n");
    ys_html_put(out, "td", "name", trial->name);
    if (row->reason) {
        ys_buf_printf(out, "<td class=\"bad\" colspan=\"%d\">", YS_AGREEMENT_COLUMNS);
        ys_text_html(out, row->reason);
        ys_buf_puts(out, "</td>\n");
    }
    for (size_t k = 0; !row->reason && k < YS_AGREEMENT_COLUMNS; k++)
        ys_html_put(out, "td", k + 1 < YS_AGREEMENT_COLUMNS ? "n" : NULL, row->cells[k].text);
    ys_buf_puts(out, "</tr>\n");
}

static const ys_json *layers_of(const struct ys_view_trial *trial)
{
    struct ys_agreement_block found;
    ys_record_glance(&ys_agreement_block_record, trial->told.agreement, &found);
    return found.layers;
}

/** Errors along the network; where a layer is exact, or not finite, the line breaks. */
static ys_status read_curve(const struct ys_view_trial *trial, struct ys_chart_curve *curve)
{
    const ys_json *layers = layers_of(trial);
    size_t count = ys_json_size(layers);
    *curve = (struct ys_chart_curve){.name = trial->name,
                                     .x = ys_alloc(count, sizeof *curve->x),
                                     .y = ys_alloc(count, sizeof *curve->y),
                                     .count = count,
                                     .group = trial->hue,
                                     .member = trial->dashes,
                                     .strong = true};
    if (!curve->x || !curve->y)
        return ys_out_of_memory();
    for (size_t i = 0; i < count; i++) {
        struct ys_agreement_layer layer;
        ys_record_glance(&ys_agreement_layer_record, ys_json_at(layers, i), &layer);
        curve->x[i] = (double)(i + 1);
        curve->y[i] = layer.error > 0 ? layer.error : NAN;
    }
    return YS_OK;
}

static ys_status put_chart(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_chart_lines chart = {.id = "layers",
                                   .title = "Error layer by layer",
                                   .x_title = "value, in the order of the network",
                                   .y_title = "largest difference / largest value",
                                   .description = "For each trial the error of every value that a node makes.",
                                   .x_kind = YS_KIND_NUMBER,
                                   .y_kind = YS_KIND_NUMBER,
                                   .logarithmic = true};
    ys_status status = YS_OK;
    struct ys_buf drawn = {0};
    chart.curves = ys_alloc(view->count, sizeof *chart.curves);
    if (!chart.curves)
        return ys_out_of_memory();
    for (size_t t = 0; status == YS_OK && t < view->count && chart.count < YS_HTML_DRAWN; t++)
        if (ys_json_size(layers_of(&view->trials[t])) > 0)
            status = read_curve(&view->trials[t], &chart.curves[chart.count++]);
    if (status == YS_OK)
        status = ys_chart_lines(&drawn, &chart);
    if (status == YS_OK && drawn.size > 0) {
        ys_buf_puts(out, "<div class=\"charts\">\n");
        ys_html_begin_figure(
            out, chart.title,
            "Against the oracle in double; logarithmic. Where a line is missing, the values are equal.");
        ys_buf_append(out, drawn.data, drawn.size);
        ys_html_end_figure(out);
        ys_buf_puts(out, "</div>\n");
        if (chart.count == YS_HTML_DRAWN)
            ys_html_say_cut(out, view, chart.count, view->count, "trials");
    }
    out->failed |= drawn.failed;
    ys_buf_free(&drawn);
    ys_chart_free_curves(chart.curves, chart.count);
    return status;
}

ys_status ys_html_agreement(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_agreement_row row;
    size_t total = 0;
    for (size_t t = 0; t < view->count; t++)
        total += ys_agreement_row(&view->trials[t], &row);
    if (total == 0)
        return YS_OK;
    ys_html_put(out, "h3", NULL, ys_agreement_heading);
    ys_html_put(out, "p", "soft", ys_agreement_remark);
    YS_TRY(put_chart(out, view));
    ys_buf_puts(out, "<div class=\"scroll\">\n<table class=\"sort\">\n<tr>\n<th>Trial</th>\n");
    for (size_t k = 0; k < YS_AGREEMENT_COLUMNS; k++)
        ys_html_put(out, "th", k + 1 < YS_AGREEMENT_COLUMNS ? "n" : NULL, ys_agreement_titles[k]);
    ys_buf_puts(out, "</tr>\n");
    for (size_t t = 0, shown = 0; t < view->count && shown < YS_HTML_MOST; t++)
        if (ys_agreement_row(&view->trials[t], &row)) {
            put_row(out, &view->trials[t], &row);
            shown++;
        }
    ys_buf_puts(out, "</table>\n</div>\n");
    ys_html_say_cut(out, view, YS_HTML_MOST, total, "trials");
    return YS_OK;
}
