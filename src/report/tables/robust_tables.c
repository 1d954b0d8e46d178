/* What trials withstand, as the table, the page and the Markdown show it. */
#include "base/mem.h"
#include "metric/result_document.h"
#include "report/draw/chart.h"
#include "report/page_parts.h"
#include "report/tables/tables.h"
#include "report/view/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct ys_sheet_column attack_columns[] = {
    {YS_FORM_ALL, YS_COLUMN_WHOLE, "Attack", "attack"},
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "Rows", "rows"},
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "Right before", "right\nbefore"},
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "Still right", "still\nright"},
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "Median change", "median\nchange"},
    {YS_FORM_PAGE | YS_FORM_MARKDOWN | YS_FORM_CSV, YS_COLUMN_NUMBER, "Quartiles of the change", NULL},
    {YS_FORM_PAGE | YS_FORM_MARKDOWN | YS_FORM_CSV, YS_COLUMN_NUMBER, "Target reached", NULL},
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "Gradients a row", "gradients\na row"},
    {YS_FORM_PAGE | YS_FORM_CSV, YS_COLUMN_NUMBER, "Time", NULL}};

static const struct ys_sheet_column standing_columns[] = {
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "EPS", "EPS"},
    {YS_FORM_ALL, YS_COLUMN_TEXT, "Attacks", "attacks"},
    {YS_FORM_ALL, YS_COLUMN_NUMBER, "Accuracy left", "accuracy\nleft"}};

static const struct ys_sheet_column corruption_columns[] = {{YS_FORM_ALL, YS_COLUMN_TEXT, "Right after", "right after"},
                                                            {YS_FORM_ALL, YS_COLUMN_NUMBER, "Severity", "severity"}};

static const char
    heading[] = "What it withstands",
    remark[] = "Each attack on the first test rows, of those that were right before: by the built-in engine's "
               "gradients on the weights that the framework saved, in mode attack by the framework's own; each "
               "success is judged again in double. "
               "Medians of the runs. A change is the largest of a pixel (of attacks with an EPS), the root of the "
               "sum of squares (deepfool, cw, ddn) or the number of pixels (jsma), of pixels in [0, 1]; 0 "
               "of a row that was wrong before.",
    corruption_remark[] = "The same rows after corruptions, the same pictures for every framework: the share that is "
                          "right, median of the runs. Nobody looked for a change that fools.";

/* It has no place in the table of attacks. */
static bool is_corrupted_alone(const struct ys_view_trial *trial)
{
    return trial->told->robustness->attacks.count == 0 && trial->told->robustness->corruptions.count > 0;
}

static double share_of(double rows, const struct ys_robustness_block *found)
{
    return rows / (double)found->rows;
}

static void put_change(struct ys_sheet *sheet, const struct ys_attack_block *one)
{
    struct ys_label label = ys_label_value(YS_KIND_NUMBER, one->change_p50);
    ys_sheet_number(sheet, one->change_p50, isnan(one->change_p50) ? "none" : label.text);
    if (isnan(one->change_p25))
        ys_sheet_put(sheet, YS_MOOD_PLAIN, "none");
    else
        ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%s to %s", ys_label_value(YS_KIND_NUMBER, one->change_p25).text,
                        isnan(one->change_p75) ? "none" : ys_label_value(YS_KIND_NUMBER, one->change_p75).text);
}

static void put_attack(struct ys_sheet *sheet, const struct ys_robustness_block *found,
                       const struct ys_attack_block *one)
{
    const double before = share_of(one->clean, found), left = share_of(one->clean - one->broken, found);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_view_or(one->attack, "-"));
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%lld", (long long)found->rows);
    ys_sheet_number(sheet, before, ys_label_value(YS_KIND_SHARE, before).text);
    ys_sheet_number(sheet, left, ys_label_value(YS_KIND_SHARE, left).text);
    put_change(sheet, one);
    ys_sheet_put(sheet, YS_MOOD_PLAIN,
                 isnan(one->target_reached) ? ""
                                            : ys_label_value(YS_KIND_SHARE, share_of(one->target_reached, found)).text);
    ys_sheet_number(sheet, one->gradients / (double)found->rows,
                    ys_label_value(YS_KIND_NUMBER, one->gradients / (double)found->rows).text);
    ys_sheet_number(sheet, one->attack_s, ys_label_value(YS_KIND_SPAN, one->attack_s).text);
}

/* Signs that what the attacks found is not all there is. */
static void put_alarms(struct ys_sheet *sheet, const struct ys_view_trial *trial)
{
    const struct ys_alarm_block *alarms = trial->told->robustness->alarms.items;
    for (size_t i = 0; i < trial->told->robustness->alarms.count; i++) {
        struct ys_buf text = {0};
        ys_buf_printf(&text, "%s: gradients may be masked: %s", trial->name, ys_view_or(alarms[i].alarm, "an alarm"));
        if (alarms[i].attack)
            ys_buf_printf(&text, " (%s)", alarms[i].attack);
        ys_buf_printf(&text, ": %.3g, over %.3g, in %lld of %s", alarms[i].value, alarms[i].threshold,
                      (long long)alarms[i].runs, ys_label_plural(trial->told->robustness->runs, "run").text);
        ys_table_item(sheet, &text);
    }
}

/* Of a trial of which something stands in the table. */
static void put_unfinished(struct ys_sheet *sheet, const struct ys_view_trial *trial)
{
    struct ys_buf text = {0};
    if (trial->told->robustness->attacks.count + trial->told->robustness->corruptions.count == 0 ||
        !trial->told->robustness->reason)
        return;
    ys_buf_printf(&text, "%s: not all attacks were finished: %s", trial->name, trial->told->robustness->reason);
    ys_table_item(sheet, &text);
}

/* In mode attack: what is yardstick's own of the time that a gradient takes. */
static void put_questions(struct ys_sheet *sheet, const struct ys_view_trial *trial)
{
    const struct ys_robustness_block *found = trial->told->robustness;
    struct ys_buf text = {0};
    if (!(found->computed_s > 0) || !(found->question_s > 0))
        return;
    ys_buf_printf(&text, "%s: files and messages take %s of a gradient: ", trial->name,
                  ys_label_value(YS_KIND_SHARE, 1 - found->computed_s / found->question_s).text);
    ys_buf_printf(&text, "%s for a batch, ", ys_label_value(YS_KIND_SPAN, found->question_s).text);
    ys_buf_printf(&text, "of which it computed %s", ys_label_value(YS_KIND_SPAN, found->computed_s).text);
    ys_table_item(sheet, &text);
}

static bool are_same_twins(const struct ys_robustness_block *a, const struct ys_robustness_block *b)
{
    return a->twins.count == b->twins.count &&
           memcmp(a->twins.items, b->twins.items, a->twins.count * sizeof(struct ys_twin_block)) == 0;
}

/* Whether an earlier trial has them already: all that train the same have the same. */
static bool are_told(const struct ys_view *view, size_t t)
{
    const struct ys_robustness_block *own = view->trials[t].told->robustness;
    for (size_t i = 0; i < t; i++)
        if (view->trials[i].told->robustness && are_same_twins(view->trials[i].told->robustness, own))
            return true;
    return false;
}

/* Of the twins of which it is known. */
static void put_ranges(struct ys_buf *text, const struct ys_list *list)
{
    static const char *const metrics[] = {"robust_accuracy", "perturbation_p50", "corrupted_accuracy"};
    const struct ys_twin_block *twins = list->items;
    for (size_t m = 0; m < sizeof metrics / sizeof metrics[0]; m++) {
        const enum ys_kind kind = m == 1 ? YS_KIND_NUMBER : YS_KIND_SHARE;
        double low = NAN, high = NAN;
        for (size_t i = 0; i < list->count; i++) {
            const double values[] = {twins[i].robust_accuracy, twins[i].perturbation_p50, twins[i].corrupted_accuracy};
            low = fmin(low, values[m]); /* which passes over NaN */
            high = fmax(high, values[m]);
        }
        if (!isnan(low))
            ys_buf_printf(text, "; %s %s to %s", metrics[m], ys_label_value(kind, low).text,
                          ys_label_value(kind, high).text);
    }
}

/* What rounding alone does to what is compared between frameworks. */
static void put_twins(struct ys_sheet *sheet, const struct ys_view *view, size_t t)
{
    const struct ys_list *twins = &view->trials[t].told->robustness->twins;
    struct ys_buf text = {0};
    if (twins->count == 0 || are_told(view, t))
        return;
    ys_buf_printf(&text,
                  "rounding alone, in %s of the built-in engine that train what %s trains, from initial weights "
                  "that are moved by one unit in the last place",
                  ys_label_plural((int64_t)twins->count, "twin").text, view->trials[t].name);
    put_ranges(&text, twins);
    ys_table_item(sheet, &text);
}

static void put_trial(struct ys_sheet *sheet, const struct ys_view *view, size_t t)
{
    const struct ys_robustness_block *found = view->trials[t].told->robustness;
    const struct ys_attack_block *attacks = found->attacks.items;
    for (size_t k = 0; k < found->attacks.count; k++) {
        ys_table_trial(sheet, view, t);
        put_attack(sheet, found, &attacks[k]);
    }
    if (found->attacks.count == 0 && !is_corrupted_alone(&view->trials[t])) {
        ys_table_trial(sheet, view, t);
        ys_sheet_note(sheet, ys_view_or(found->reason, "it was not attacked"));
    }
}

void ys_table_attacks(struct ys_sheet *sheet, const struct ys_view *view)
{
    sheet->title = sheet->medium.form == YS_FORM_TEXT ? heading : NULL;
    ys_table_trials(sheet, view, "Withstands");
    ys_sheet_columns(sheet, attack_columns, sizeof attack_columns / sizeof attack_columns[0]);
    sheet->things = "trials";
    for (size_t t = 0; t < view->count; t++) {
        if (!view->trials[t].told->robustness)
            continue;
        if (sheet->total++ >= YS_SHEET_MOST && sheet->medium.form == YS_FORM_PAGE)
            continue;
        put_trial(sheet, view, t);
        put_alarms(sheet, &view->trials[t]);
        put_unfinished(sheet, &view->trials[t]);
        put_questions(sheet, &view->trials[t]);
        if (!is_corrupted_alone(&view->trials[t]))
            put_twins(sheet, view, t);
    }
}

static void put_standings(struct ys_sheet *sheet, const struct ys_view *view, size_t t, const struct ys_list *list,
                          const char *attacks)
{
    const bool is_masked = view->trials[t].told->robustness->is_masked;
    const struct ys_standing_block *items = list->items;
    for (size_t k = 0; k < list->count; k++) {
        ys_table_trial(sheet, view, t);
        ys_sheet_number(sheet, items[k].eps, ys_label_value(YS_KIND_NUMBER, items[k].eps).text);
        ys_sheet_put(sheet, YS_MOOD_PLAIN, attacks);
        ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%s%s", is_masked ? "at most " : "",
                        ys_label_value(YS_KIND_SHARE, items[k].accuracy).text);
    }
}

void ys_table_standings(struct ys_sheet *sheet, const struct ys_view *view)
{
    sheet->title = sheet->medium.form == YS_FORM_TEXT ? "Accuracy that is left" : NULL;
    ys_table_trials(sheet, view, "Accuracy left");
    ys_sheet_columns(sheet, standing_columns, sizeof standing_columns / sizeof standing_columns[0]);
    sheet->things = "trials";
    for (size_t t = 0; t < view->count; t++) {
        const struct ys_robustness_block *found = view->trials[t].told->robustness;
        if (!found || (sheet->total++ >= YS_SHEET_MOST && sheet->medium.form == YS_FORM_PAGE))
            continue;
        put_standings(sheet, view, t, &found->robust, "all");
        put_standings(sheet, view, t, &found->curve, "pgd");
    }
}

/* After that kind and severity; the mean of the severity's kinds for NULL. NaN: it was not corrupted so. */
static double corrupted_accuracy(const struct ys_view_trial *trial, const char *kind, int64_t severity)
{
    const struct ys_list *list = &trial->told->robustness->corruptions;
    const struct ys_corruption_block *items = list->items;
    double sum = 0, count = 0;
    for (size_t k = 0; k < list->count; k++)
        if (items[k].severity == severity && (!kind || strcmp(ys_view_or(items[k].kind, "-"), kind) == 0)) {
            sum += items[k].accuracy;
            count++;
        }
    return count > 0 ? sum / count : (double)NAN;
}

/* Those that were corrupted: a column each. */
struct corrupted {
    const struct ys_view *view;
    size_t *places, count; /* owned */
};

/* Whether a trial or an item before has no such kind and severity; of no kind, no such severity. */
static bool is_first(const struct corrupted *of, size_t c, size_t k, bool has_kind)
{
    const struct ys_corruption_block *items = of->view->trials[of->places[c]].told->robustness->corruptions.items;
    const char *kind = has_kind ? ys_view_or(items[k].kind, "-") : NULL;
    for (size_t before = 0; before < c; before++)
        if (!isnan(corrupted_accuracy(&of->view->trials[of->places[before]], kind, items[k].severity)))
            return false;
    for (size_t before = 0; before < k; before++)
        if (!has_kind && items[before].severity == items[k].severity)
            return false;
    return true;
}

static void put_corruption(struct ys_sheet *sheet, const struct corrupted *of, const char *kind, int64_t severity)
{
    ys_sheet_row(sheet);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, kind ? kind : "mean");
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%lld", (long long)severity);
    for (size_t c = 0; c < of->count; c++) {
        const double accuracy = corrupted_accuracy(&of->view->trials[of->places[c]], kind, severity);
        ys_sheet_number(sheet, accuracy, isnan(accuracy) ? "-" : ys_label_value(YS_KIND_SHARE, accuracy).text);
    }
}

/* All kinds, or the mean of each severity. */
static void put_corruptions(struct ys_sheet *sheet, const struct corrupted *of, bool has_kind)
{
    for (size_t c = 0; c < of->count; c++) {
        const struct ys_list *list = &of->view->trials[of->places[c]].told->robustness->corruptions;
        const struct ys_corruption_block *items = list->items;
        for (size_t k = 0; k < list->count; k++)
            if (is_first(of, c, k, has_kind))
                put_corruption(sheet, of, has_kind ? ys_view_or(items[k].kind, "-") : NULL, items[k].severity);
    }
}

void ys_table_corruptions(struct ys_sheet *sheet, const struct ys_view *view)
{
    struct corrupted of = {view, ys_alloc(view->count, sizeof *of.places), 0};
    sheet->title = sheet->medium.form == YS_FORM_TEXT ? "Accuracy after corruptions" : NULL;
    sheet->things = "trials";
    for (size_t t = 0; t < view->count; t++) {
        const struct ys_robustness_block *found = view->trials[t].told->robustness;
        if (!found || found->corruptions.count == 0 ||
            (sheet->total++ >= YS_HTML_DRAWN && sheet->medium.form == YS_FORM_PAGE))
            continue;
        of.places[of.count++] = t;
        if (is_corrupted_alone(&view->trials[t]))
            put_twins(sheet, view, t);
    }
    sheet->is_numbered = sheet->medium.form == YS_FORM_TEXT && ys_table_is_numbered(view, sheet->medium.width);
    ys_sheet_columns(sheet, corruption_columns, sizeof corruption_columns / sizeof corruption_columns[0]);
    ys_table_trial_heads(sheet, view, of.places, of.count);
    put_corruptions(sheet, &of, true);
    put_corruptions(sheet, &of, false);
    ys_free(of.places);
}

/* Accuracy by EPS; it begins where nothing is changed. */
static bool read_curve(const struct ys_view_trial *trial, struct ys_chart_curve *curve)
{
    const struct ys_robustness_block *found = trial->told->robustness;
    if (!found || found->curve.count == 0)
        return false;
    const struct ys_standing_block *items = found->curve.items;
    curve->count = found->curve.count + 1;
    curve->x = ys_alloc(curve->count, sizeof *curve->x);
    curve->y = ys_alloc(curve->count, sizeof *curve->y);
    curve->x[0] = 0;
    curve->y[0] = found->accuracy;
    for (size_t i = 1; i < curve->count; i++) {
        curve->x[i] = items[i - 1].eps;
        curve->y[i] = items[i - 1].accuracy;
    }
    return true;
}

static void put_chart(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_chart_lines chart = {.id = "robustness",
                                   .title = "Accuracy against the change",
                                   .x_title = "EPS, the most that a pixel of [0, 1] changes",
                                   .y_title = "accuracy under pgd",
                                   .description = "For each trial the accuracy that pgd leaves, by EPS.",
                                   .x_kind = YS_KIND_NUMBER,
                                   .y_kind = YS_KIND_SHARE};
    ys_html_trial_curves(out, view, &chart, "By pgd alone, medians of the runs.", read_curve);
}

void ys_html_robustness(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_buf table = {0};
    ys_table_write(ys_table_attacks, view, &ys_page_medium, &table);
    if (table.size) {
        ys_html_put(out, "p", "soft", remark);
        put_chart(out, view);
        ys_buf_append(out, table.data, table.size);
        ys_table_write(ys_table_standings, view, &ys_page_medium, out);
        ys_table_transfers(view, &ys_page_medium, out);
    }
    ys_buf_clear(&table);
    ys_table_write(ys_table_corruptions, view, &ys_page_medium, &table);
    if (table.size) {
        ys_html_put(out, "p", "soft", corruption_remark);
        ys_buf_append(out, table.data, table.size);
    }
    ys_buf_free(&table);
}
