/* What it took to meet a target (key `until`): the table, and its section of the page. */
#include "base/mem.h"
#include "job/goal.h"
#include "metric/result_document.h"
#include "report/page_parts.h"
#include "report/tables/tables.h"
#include "report/view/view.h"

#include <math.h>
#include <stdio.h>

static const char heading[] = "Target";
static const char remark[] = "Training time alone: start-up stands beside it, and what evaluating on the way took. "
                             "Weights are looked at every so "
                             "many steps, and the target was met somewhere within the last stretch before it was seen. "
                             "Runs that did not meet it "
                             "count as longer than any that did.";

/* "5 of 7" */
static void put_met(struct ys_sheet *sheet, const struct ys_view_metric *steps)
{
    if (steps->n == YS_FIELD_NONE)
        ys_sheet_put(sheet, YS_MOOD_PLAIN, "-");
    else
        ys_sheet_printf(sheet, steps->lost ? YS_MOOD_BAD : YS_MOOD_PLAIN, "%lld of %lld",
                        (long long)(steps->n - (int64_t)steps->lost), (long long)steps->n);
}

static void put_target(struct ys_sheet *sheet, const struct ys_trial_settings *keys)
{
    struct ys_goal goal;
    char text[YS_GOAL_TEXT];
    if (ys_goal_parse(keys->until, &goal) == YS_OK)
        ys_goal_text(&goal, text);
    else
        snprintf(text, sizeof text, "%.40s", keys->until);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, text);
}

static void put_time(struct ys_sheet *sheet, const struct ys_view_trial *trial)
{
    const struct ys_view_metric time = ys_view_metric(trial, "time_to_target_s");
    if (isfinite(time.value) && isfinite(time.lo) && isfinite(time.hi))
        ys_table_measure(sheet, time);
    else
        ys_sheet_number(sheet, time.value, ys_view_label(time).text);
}

void ys_table_targets(struct ys_sheet *sheet, const struct ys_view *view)
{
    static const char *const metrics[] = {"target_grain_s", "steps_to_target", "start_s", "eval_s"};
    enum { METRICS = sizeof metrics / sizeof metrics[0] };
    static const struct ys_sheet_column columns[] = {
        {YS_FORM_ALL, YS_COLUMN_TEXT, "Target", "target"},
        {YS_FORM_ALL, YS_COLUMN_NUMBER, "Met", "met"},
        {YS_FORM_ALL, YS_COLUMN_NUMBER, "Training time", "training\ntime"},
        {YS_FORM_ALL, YS_COLUMN_NUMBER, "Of it the last stretch", "of it the\nlast stretch"},
        {YS_FORM_ALL, YS_COLUMN_NUMBER, "Steps", "steps"},
        {YS_FORM_ALL, YS_COLUMN_NUMBER, "Start-up", "start-up"},
        {YS_FORM_ALL, YS_COLUMN_NUMBER, "Evaluation", "evaluation"},
    };
    sheet->title = sheet->medium.form == YS_FORM_PAGE ? NULL : heading;
    ys_table_trials(sheet, view, heading);
    ys_sheet_columns(sheet, columns, sizeof columns / sizeof columns[0]);
    sheet->things = "trials";
    for (size_t t = 0; t < view->count; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        const struct ys_view_metric steps = ys_view_metric(trial, "steps_to_target");
        if (!trial->told->keys.until)
            continue;
        if (sheet->total++ >= YS_SHEET_MOST && sheet->medium.form == YS_FORM_PAGE)
            continue;
        ys_table_trial(sheet, view, t);
        put_target(sheet, &trial->told->keys);
        put_met(sheet, &steps);
        put_time(sheet, trial);
        for (int i = 0; i < METRICS; i++)
            ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_view_label(ys_view_metric(trial, metrics[i])).text);
    }
}

void ys_html_targets(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_buf table = {0};
    ys_table_write(ys_table_targets, view, &ys_page_medium, &table);
    if (table.size) {
        ys_html_put(out, "p", "soft", remark);
        ys_buf_append(out, table.data, table.size);
    }
    ys_buf_free(&table);
}
