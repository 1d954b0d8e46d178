/* Which settings are the fastest, as plain text and as a study. */
#include "base/mem.h"
#include "job/ini.h"
#include "report/clean_text.h"
#include "report/judged/judged.h"
#include "report/label.h"
#include "stat/compare.h"

#include <math.h>
#include <string.h>

static void put_paragraph(struct ys_buf *out, int width, int indent, const char *text)
{
    ys_buf_printf(out, "%*s", indent, "");
    ys_text_wrap(out, text, indent, indent, width);
}

static void put_ratio(struct ys_sheet *sheet, double ratio)
{
    if (isfinite(ratio))
        ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%.3gx", ratio);
    else
        ys_sheet_skip(sheet, 1);
}

static void put_out(struct ys_sheet *sheet, const struct ys_tuned_point *point)
{
    if (point->out)
        ys_sheet_printf(sheet, YS_MOOD_BAD, "%s%s%s", point->out, point->reason ? ": " : "",
                        point->reason ? point->reason : "");
    else
        ys_sheet_skip(sheet, 1);
}

static void put_ends(struct ys_sheet *sheet, const struct ys_list *ci)
{
    const double *ends = ci->items;
    if (ci->count == 2)
        ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%.3g to %.3g", ends[0], ends[1]);
    else
        ys_sheet_skip(sheet, 1);
}

/* A line a trial: what fresh rounds say of its winner. */
static void put_answers(const struct ys_tuned *told, int width, bool colour, struct ys_buf *out)
{
    static const char *const heads[] = {"trial", "settings", "answer", "ratio", "95 %", "memory", "rounds"};
    const struct ys_tuned_trial *trials = told->trials.items;
    const struct ys_medium medium = {.form = YS_FORM_TEXT, .width = width, .indent = 2, .colour = colour};
    struct ys_sheet sheet = ys_sheet_init(&medium);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        ys_sheet_column(&sheet, YS_FORM_TEXT,
                        i >= 3 ? YS_COLUMN_NUMBER
                        : i    ? YS_COLUMN_TEXT
                               : YS_COLUMN_NAME,
                        heads[i], NULL);
    for (size_t i = 0; i < told->trials.count; i++) {
        const struct ys_tuned_trial *trial = &trials[i];
        ys_sheet_row(&sheet);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, trial->trial);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, trial->settings);
        ys_sheet_put(&sheet, trial->answer == YS_TUNE_BETTER ? YS_MOOD_GOOD : YS_MOOD_FAINT,
                     ys_name_of(&ys_tune_answers, trial->answer));
        put_ratio(&sheet, trial->ratio);
        put_ends(&sheet, &trial->ci);
        put_ratio(&sheet, trial->memory);
        ys_sheet_printf(&sheet, YS_MOOD_PLAIN, "%lld", (long long)trial->rounds);
    }
    ys_sheet_write(&sheet, out);
}

/* What was tried, the last rung first as it was left; what is out stands with its reason. */
static void put_points(const struct ys_tuned_trial *trial, int width, bool colour, struct ys_buf *out)
{
    static const char *const heads[] = {"during the search", "rung", "rounds", "ratio", "out"};
    const struct ys_tuned_point *points = trial->points.items;
    const struct ys_medium medium = {.form = YS_FORM_TEXT, .width = width, .indent = 2, .colour = colour};
    struct ys_sheet sheet = ys_sheet_init(&medium);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        ys_sheet_column(&sheet, YS_FORM_TEXT, i && i < 4 ? YS_COLUMN_NUMBER : YS_COLUMN_TEXT, heads[i], NULL);
    int64_t rungs = 0;
    for (size_t i = 0; i < trial->points.count; i++)
        rungs = points[i].rung > rungs ? points[i].rung : rungs;
    for (int64_t rung = rungs; rung >= 0; rung--)
        for (size_t i = 0; i < trial->points.count; i++) {
            if (points[i].rung != rung)
                continue;
            ys_sheet_row(&sheet);
            ys_sheet_put(&sheet, YS_MOOD_PLAIN, *points[i].settings ? points[i].settings : "as it is");
            ys_sheet_printf(&sheet, YS_MOOD_PLAIN, "%lld", (long long)points[i].rung);
            ys_sheet_printf(&sheet, YS_MOOD_PLAIN, "%lld", (long long)points[i].rounds);
            put_ratio(&sheet, points[i].ratio);
            put_out(&sheet, &points[i]);
        }
    ys_sheet_write(&sheet, out);
}

/* "12 settings were measured, 2 are out: 1 crashed, 1 unsupported" */
static void put_counts(const struct ys_tuned_trial *trial, int width, struct ys_buf *out)
{
    const struct ys_tuned_point *points = trial->points.items;
    struct ys_buf text = {0};
    size_t measured = 0, lost = 0;
    for (size_t i = 0; i < trial->points.count; i++) {
        measured += points[i].rung > 0 && *points[i].settings;
        lost += points[i].out != NULL;
    }
    ys_buf_printf(&text, "%zu settings were measured, %zu are out", measured, lost);
    for (size_t i = 0, told = 0; i < trial->points.count; i++) {
        size_t same = 0, first = i;
        for (size_t k = 0; points[i].out && k < trial->points.count; k++)
            if (points[k].out && strcmp(points[k].out, points[i].out) == 0) {
                first = same++ ? first : k;
            }
        if (same && first == i)
            ys_buf_printf(&text, "%s%zu %s", told++ ? ", " : ": ", same, points[i].out);
    }
    put_paragraph(out, width, 2, ys_buf_text(&text));
    ys_buf_free(&text);
}

static void put_spent(const struct ys_tuned *told, int width, bool colour, struct ys_buf *out)
{
    static const char *const heads[] = {"trial", "its share was spent for", "seconds", "runs"};
    const struct ys_tuned_trial *trials = told->trials.items;
    const struct ys_medium medium = {.form = YS_FORM_TEXT, .width = width, .indent = 2, .colour = colour};
    struct ys_sheet sheet = ys_sheet_init(&medium);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        ys_sheet_column(&sheet, YS_FORM_TEXT,
                        i > 1 ? YS_COLUMN_NUMBER
                        : i   ? YS_COLUMN_TEXT
                              : YS_COLUMN_NAME,
                        heads[i], NULL);
    for (size_t i = 0; i < told->trials.count; i++) {
        const struct ys_tuned_part *parts = trials[i].spent.items;
        for (size_t k = 0; k < trials[i].spent.count; k++) {
            ys_sheet_row(&sheet);
            ys_sheet_put(&sheet, YS_MOOD_PLAIN, k ? "" : trials[i].trial);
            ys_sheet_put(&sheet, YS_MOOD_PLAIN, parts[k].what);
            ys_sheet_printf(&sheet, YS_MOOD_PLAIN, "%.1f", parts[k].seconds);
            ys_sheet_printf(&sheet, YS_MOOD_PLAIN, "%lld", (long long)parts[k].runs);
        }
    }
    ys_sheet_write(&sheet, out);
}

/* Lines to paste: what is as by default goes without. */
static void put_lines(const struct ys_tuned_trial *trial, struct ys_buf *out)
{
    char *const *lines = trial->lines.items;
    for (size_t i = 0; i < trial->lines.count && lines[i][0] != ';'; i++) {
        ys_buf_puts(out, "    ");
        ys_text_clean(out, lines[i], false);
        ys_buf_puts(out, "\n");
    }
    if (trial->outside) {
        ys_buf_puts(out, "  ");
        ys_text_clean(out, trial->outside, false);
        ys_buf_puts(out, "\n");
    }
}

static void put_number(struct ys_sheet *sheet, double value)
{
    if (isfinite(value))
        ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%.4g", value);
    else
        ys_sheet_skip(sheet, 1);
}

/* Hyper-parameters that were tried, in the order of the search; those that are refused stand with their reason. */
static void put_tried(const struct ys_tuned *told, const struct ys_tuned_trial *trial, int width, bool colour,
                      struct ys_buf *out)
{
    const char *const heads[] = {"during the search", told->metric, "seeds", "steps", "what happened"};
    const struct ys_tuned_point *points = trial->points.items;
    const struct ys_medium medium = {.form = YS_FORM_TEXT, .width = width, .indent = 2, .colour = colour};
    struct ys_sheet sheet = ys_sheet_init(&medium);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        ys_sheet_column(&sheet, YS_FORM_TEXT, i && i < 4 ? YS_COLUMN_NUMBER : YS_COLUMN_TEXT, heads[i], NULL);
    for (size_t i = 0; i < trial->points.count; i++) {
        ys_sheet_row(&sheet);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, points[i].settings);
        put_number(&sheet, points[i].value);
        ys_sheet_printf(&sheet, YS_MOOD_PLAIN, "%lld", (long long)points[i].rounds);
        ys_sheet_printf(&sheet, YS_MOOD_PLAIN, "%lld", (long long)points[i].steps);
        put_out(&sheet, &points[i]);
    }
    ys_sheet_write(&sheet, out);
    char *counts = ys_format("%lld points were judged on all seeds, %lld were refused; %lld steps of a share of %lld",
                             (long long)trial->judged, (long long)trial->skipped, (long long)trial->steps,
                             (long long)(told->budget_steps / (int64_t)told->trials.count));
    put_paragraph(out, width, 2, counts);
    ys_free(counts);
}

void ys_report_tuned(const struct ys_tuned *told, int width, bool colour, struct ys_buf *out)
{
    const struct ys_tuned_trial *trials = told->trials.items;
    for (size_t i = 0; i < told->trials.count; i++) {
        put_paragraph(out, width, 0, trials[i].sentence ? trials[i].sentence : trials[i].trial);
        if (trials[i].doubt)
            put_paragraph(out, width, 2, trials[i].doubt);
    }
    ys_buf_puts(out, "\n");
    put_answers(told, width, colour, out);
    for (size_t i = 0; i < told->trials.count; i++) {
        if (!trials[i].points.count)
            continue;
        ys_buf_puts(out, "\n");
        ys_text_clean(out, trials[i].trial, false);
        ys_buf_puts(out, "\n");
        if (told->search)
            put_tried(told, &trials[i], width, colour, out);
        else
            put_points(&trials[i], width, colour, out);
        if (!told->search)
            put_counts(&trials[i], width, out);
        put_lines(&trials[i], out);
    }
    ys_buf_puts(out, "\n");
    put_spent(told, width, colour, out);
}

/* A section a trial; a name of a trial has what a name of a section may not. */
void ys_report_tuned_study(const struct ys_tuned *told, struct ys_buf *out)
{
    const struct ys_tuned_trial *trials = told->trials.items;
    ys_buf_printf(out, "; what `yardstick tune` found for %s\nversion = 1\nname = %s-tuned\nrepeat = 10\n",
                  told->wanted, told->study);
    for (size_t i = 0; i < told->trials.count; i++) {
        char *const *lines = trials[i].lines.items;
        if (!trials[i].lines.count)
            continue;
        ys_buf_printf(out, "\n; %s: %s\n[tuned-%zu]\n", trials[i].trial,
                      trials[i].answer == YS_TUNE_BETTER ? trials[i].settings
                                                         : "as it is: no other setting was shown to be better",
                      i + 1);
        for (size_t k = 0; k < trials[i].lines.count; k++)
            ys_buf_printf(out, "%s\n", lines[k]);
    }
}
