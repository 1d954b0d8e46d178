#include "base/mem.h"
#include "base/record.h"
#include "report/agreement.h"
#include "report/grid.h"
#include "report/ranks.h"
#include "report/report.h"
#include "report/section.h"
#include "report/text.h"
#include "report/view.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_LINES    40 /* comparisons of one metric; the rest is counted */
#define NAME_COLUMNS 20 /* of a long name beside its number */

/** Everything that the sections of the text report need. */
struct page {
    struct ys_view view;
    int width;
    bool colour;
    struct ys_buf *out;
    bool numbered; /* names are long: rows carry a number, and a list says what it stands for */
};

static void put_heading(struct page *page, const char *text)
{
    ys_buf_puts(page->out, page->colour ? "\n\x1B[1m" : "\n");
    ys_text_wrap(page->out, text, 0, 0, page->width);
    ys_buf_puts(page->out, page->colour ? "\x1B[0m" : "");
}

/** "  * text", wrapped. */
static void put_item(struct page *page, const char *text)
{
    ys_buf_puts(page->out, "  * ");
    ys_text_wrap(page->out, text, 4, 4, page->width);
}

static void put_lines(struct page *page, void (*section)(struct ys_buf *, const struct ys_view *))
{
    struct ys_buf text = {0};
    section(&text, &page->view);
    page->out->failed |= text.failed;
    if (text.size > 0)
        ys_text_wrap(page->out, ys_buf_text(&text), 0, 2, page->width);
    ys_buf_free(&text);
}

static const char *axis_head(const char *axis)
{
    const char *dot = strrchr(axis, '.');
    return dot && dot[1] ? dot + 1 : axis;
}

/** The naming columns; for short names one for each factor, else a number and the name. */
static void begin_grid(const struct page *page, struct ys_grid *grid)
{
    const struct ys_view *view = &page->view;
    if (page->numbered) {
        ys_grid_init(grid, 2);
        ys_grid_column(grid, "#", true);
        ys_grid_column(grid, "trial", false);
        return;
    }
    ys_grid_init(grid, 1 + view->many_sections + ys_view_axes(view));
    if (view->many_sections)
        ys_grid_column(grid, "job", false);
    ys_grid_column(grid, "framework", false);
    for (size_t i = 0; i < ys_view_axes(view); i++)
        ys_grid_column(grid, axis_head(ys_view_axis(view, i)), strcmp(ys_view_axis(view, i), "threads") == 0);
}

static const char *without_lead(const char *text)
{
    return text + strspn(text, " ");
}

/** A new row, named; the proof's mark stands behind the framework's name. */
static void name_row(const struct page *page, struct ys_grid *grid, size_t index)
{
    const struct ys_view *view = &page->view;
    const struct ys_view_trial *trial = &view->trials[index];
    struct ys_buf text = {0};
    size_t column = 0;
    ys_grid_row(grid);
    if (page->numbered) {
        ys_buf_printf(&text, "%zu%s", index + 1, without_lead(ys_view_proof_mark(trial)));
        ys_grid_cell(grid, column++, YS_GRID_PLAIN, ys_buf_text(&text));
        ys_buf_clear(&text);
        ys_text_clip(&text, trial->name, NAME_COLUMNS);
        ys_grid_cell(grid, column++, YS_GRID_PLAIN, ys_buf_text(&text));
        grid->failed |= text.failed;
        ys_buf_free(&text);
        return;
    }
    if (view->many_sections)
        ys_grid_cell(grid, column++, YS_GRID_PLAIN, ys_view_or(trial->told.section, ""));
    ys_buf_printf(&text, "%s%s", trial->framework, without_lead(ys_view_proof_mark(trial)));
    ys_grid_cell(grid, column++, YS_GRID_PLAIN, ys_buf_text(&text));
    for (size_t i = 0; i < ys_view_axes(view); i++) {
        const ys_json *value = ys_json_get(trial->told.factors, ys_view_axis(view, i));
        ys_buf_clear(&text);
        if (value)
            ys_view_put_value(&text, value);
        ys_grid_cell(grid, column++, YS_GRID_PLAIN, text.size ? ys_buf_text(&text) : "");
    }
    grid->failed |= text.failed;
    ys_buf_free(&text);
}

/** Long names would push the numbers out of the line. */
static bool needs_numbers(const struct page *page)
{
    const struct ys_view *view = &page->view;
    if (1 + view->many_sections + ys_view_axes(view) >= YS_GRID_COLUMNS / 2)
        return true;
    int framework = 9, total = 0;
    for (size_t k = 0; k < view->count; k++)
        framework = (int)fmax(framework, ys_text_width(view->trials[k].framework) + 2);
    for (size_t i = 0; i < ys_view_axes(view) + view->many_sections; i++) {
        bool section = i == ys_view_axes(view);
        const char *axis = section ? "job" : ys_view_axis(view, i);
        int widest = ys_text_width(axis_head(axis));
        for (size_t k = 0; k < view->count; k++) {
            const struct ys_view_told *told = &view->trials[k].told;
            struct ys_buf text = {0};
            if (section)
                ys_text_clean(&text, ys_view_or(told->section, "none"), false);
            else
                ys_view_put_value(&text, ys_json_get(told->factors, axis));
            widest = (int)fmax(widest, ys_text_width(ys_buf_text(&text)));
            ys_buf_free(&text);
        }
        total += widest + 2;
    }
    return framework + total > page->width * 45 / 100;
}

static void fill_result_row(struct ys_grid *grid, const struct ys_view_trial *trial, const char *const *metrics,
                            size_t count, bool *few)
{
    size_t column = grid->naming;
    struct ys_view_metric rate = ys_view_metric(trial, "rate_per_s");
    struct ys_measure measure = ys_view_measure(rate);
    struct ys_buf text = {0};
    ys_buf_printf(&text, "%s%s", measure.value.text, measure.unit.text);
    ys_grid_cell(grid, column++, YS_GRID_PLAIN, ys_buf_text(&text));
    long long n = rate.n == YS_FIELD_NONE ? trial->runs - trial->failed : rate.n;
    ys_buf_clear(&text);
    ys_buf_printf(&text, "n = %lld", n);
    bool interval = measure.interval.text[0] != 0;
    *few |= !interval && n < 6;
    if (interval) {
        ys_buf_clear(&text);
        ys_buf_printf(&text, "%s%s", measure.interval.text, measure.unit.text);
    }
    ys_grid_cell(grid, column++, interval ? YS_GRID_PLAIN : YS_GRID_DIM, ys_buf_text(&text));
    for (size_t i = 0; i < count; i++)
        ys_grid_cell(grid, column++, YS_GRID_PLAIN, ys_view_label(ys_view_metric(trial, metrics[i])).text);
    grid->failed |= text.failed;
    ys_buf_free(&text);
}

static void put_marks(struct page *page, bool few)
{
    static const struct {
        const char *mark, *meaning;
    } marks[] = {
        {" *", "weak proof: the same work, as far as it could be shown"},
        {" !", "FAILED proof: this trial does other work than the rest"},
        {" ?", "not proven to do the same work"},
        {" ~", "not all of its runs is checked, or its speed is known within bounds alone: in words below"},
    };
    for (size_t m = 0; m < sizeof marks / sizeof marks[0]; m++)
        for (size_t i = 0; i < page->view.count; i++)
            if (strcmp(ys_view_proof_mark(&page->view.trials[i]), marks[m].mark) == 0) {
                ys_buf_printf(page->out, " %s  ", marks[m].mark);
                ys_text_wrap(page->out, marks[m].meaning, 5, 5, page->width);
                break;
            }
    if (few)
        ys_buf_puts(page->out, "n < 6: no interval.\n");
    put_lines(page, ys_section_level);
}

static const ys_json *deviations_of(const struct ys_view_trial *trial)
{
    return trial->told.deviations;
}

static const ys_json *warnings_of(const struct ys_view_trial *trial)
{
    return trial->told.warnings;
}

/** The remarks of every trial, and before them `general` ones (may be NULL), under `heading`. */
static void put_remarks(struct page *page, const ys_json *general,
                        const ys_json *(*remarks_of)(const struct ys_view_trial *trial), const char *heading)
{
    bool begun = ys_json_size(general) > 0;
    if (begun)
        put_heading(page, heading);
    for (size_t i = 0; i < ys_json_size(general); i++)
        put_item(page, ys_json_text(ys_json_at(general, i), ""));
    for (size_t i = 0; i < page->view.count; i++) {
        const struct ys_view_trial *trial = &page->view.trials[i];
        const ys_json *remarks = remarks_of(trial);
        for (size_t k = 0; k < ys_json_size(remarks); k++) {
            struct ys_buf text = {0};
            ys_buf_printf(&text, "%s: ", trial->name);
            ys_view_put_value(&text, ys_json_at(remarks, k));
            if (!begun)
                put_heading(page, heading);
            begun = true;
            put_item(page, ys_buf_text(&text));
            page->out->failed |= text.failed;
            ys_buf_free(&text);
        }
    }
}

/** What fed the trials, where somebody did: beside their own figures, and in none of them. */
static void put_feeders(struct page *page)
{
    bool begun = false;
    for (size_t i = 0; i < page->view.count; i++) {
        struct ys_buf text = {0};
        ys_section_feeder(&text, &page->view.trials[i]);
        if (text.size > 0) {
            if (!begun)
                put_heading(page, YS_SECTION_FED);
            begun = true;
            put_item(page, ys_buf_text(&text));
        }
        page->out->failed |= text.failed;
        ys_buf_free(&text);
    }
}

/** What the numbers of the rows stand for. */
static void put_names(struct page *page)
{
    if (!page->numbered)
        return;
    put_heading(page, "Trials");
    for (size_t i = 0; i < page->view.count; i++) {
        ys_buf_printf(page->out, "%3zu  ", i + 1);
        ys_text_wrap(page->out, page->view.trials[i].name, 5, 5, page->width);
    }
}

static ys_status put_results(struct page *page)
{
    struct ys_grid grid;
    struct ys_label heads[YS_RESULT_COLUMNS]; /* which the grid borrows */
    const char *metrics[YS_RESULT_COLUMNS];
    const size_t count = ys_section_columns(&page->view, false, metrics);
    bool few = false;
    begin_grid(page, &grid);
    char *rate = ys_format("%s\nper s", page->view.unit);
    page->out->failed |= !rate;
    ys_grid_column(&grid, rate ? rate : "", true);
    ys_grid_column(&grid, "interval", true);
    for (size_t i = 0; i < count; i++) {
        heads[i] = ys_view_metric_head(metrics[i], true);
        ys_grid_column(&grid, heads[i].text, true);
    }
    struct ys_buf failure = {0};
    for (size_t i = 0; i < page->view.count; i++) {
        const struct ys_view_trial *trial = &page->view.trials[i];
        ys_buf_clear(&failure);
        ys_view_put_failure(&failure, trial);
        name_row(page, &grid, i);
        if (trial->measured)
            fill_result_row(&grid, trial, metrics, count, &few);
        if (trial->measured && failure.size > 0)
            ys_grid_row(&grid);
        if (failure.size > 0)
            ys_grid_note(&grid, ys_buf_text(&failure));
        else if (!trial->measured)
            ys_grid_note(&grid, "no complete run");
    }
    put_heading(page, "Results (median of the runs)");
    page->out->failed |= failure.failed;
    ys_buf_free(&failure);
    ys_status status = ys_grid_print(&grid, 0, page->width, page->colour, page->out);
    ys_grid_fini(&grid);
    ys_free(rate);
    YS_TRY(status);
    put_marks(page, few);
    put_feeders(page);
    put_remarks(page, NULL, deviations_of, "Deviations from the common work");
    return YS_OK;
}

static ys_status put_latencies(struct page *page)
{
    struct ys_grid grid;
    struct ys_label heads[YS_LATENCY_PARTS]; /* which the grid borrows */
    begin_grid(page, &grid);
    for (size_t k = 0; k < YS_LATENCY_PARTS; k++) {
        heads[k] = ys_view_metric_head(ys_latency_parts[k], true);
        ys_grid_column(&grid, heads[k].text, true);
        if (k == 0)
            ys_grid_column(&grid, "interval", true);
    }
    for (size_t i = 0; i < page->view.count; i++) {
        const struct ys_view_trial *trial = &page->view.trials[i];
        const char *median = ys_latency_parts[0];
        struct ys_measure measure = ys_view_measure(ys_view_metric(trial, median));
        struct ys_buf interval = {0};
        if (!trial->infers || !isfinite(ys_view_number(trial, median)))
            continue;
        name_row(page, &grid, i);
        if (measure.interval.text[0])
            ys_buf_printf(&interval, "%s %s", measure.interval.text, measure.unit.text);
        for (size_t k = 0; k < YS_LATENCY_PARTS; k++) {
            const char *metric = ys_latency_parts[k];
            ys_grid_cell(&grid, grid.naming + k + (k > 0), YS_GRID_PLAIN,
                         ys_view_label(ys_view_metric(trial, metric)).text);
        }
        ys_grid_cell(&grid, grid.naming + 1, YS_GRID_PLAIN, ys_buf_text(&interval));
        grid.failed |= interval.failed;
        ys_buf_free(&interval);
    }
    if (grid.count > 0)
        put_heading(page, "Latency of a request (medians of the runs)");
    ys_status status = ys_grid_print(&grid, 0, page->width, page->colour, page->out);
    ys_grid_fini(&grid);
    return status;
}

static ys_status put_ranks(struct page *page)
{
    struct ys_label heads[YS_RANKS_COLUMNS];
    struct ys_grid grid;
    if (!ys_ranks_any(&page->view))
        return YS_OK;
    begin_grid(page, &grid);
    for (size_t k = 0; k < YS_RANKS_COLUMNS; k++) {
        heads[k] = ys_ranks_head(k, true);
        ys_grid_column(&grid, heads[k].text, k != 1);
    }
    const size_t first = grid.naming++; /* the rank's number names the row too */
    for (size_t i = 0; i < page->view.count; i++)
        for (size_t r = 0; r < ys_ranks_count(&page->view.trials[i]); r++) {
            const struct ys_ranks_row row = ys_ranks_row(&page->view.trials[i], r);
            name_row(page, &grid, i);
            for (size_t k = 0; k < YS_RANKS_COLUMNS; k++)
                ys_grid_cell(&grid, first + k, k == 1 && row.failed ? YS_GRID_BAD : YS_GRID_PLAIN, row.cells[k].text);
        }
    put_heading(page, ys_ranks_heading);
    ys_status status = ys_grid_print(&grid, 0, page->width, page->colour, page->out);
    ys_grid_fini(&grid);
    for (size_t i = 0; i < page->view.count; i++) {
        struct ys_buf text = {0};
        ys_ranks_put_last(&text, &page->view.trials[i]);
        if (text.size > 0)
            put_item(page, ys_buf_text(&text));
        page->out->failed |= text.failed;
        ys_buf_free(&text);
    }
    return status;
}

static ys_status put_agreements(struct page *page)
{
    struct ys_grid grid;
    struct ys_agreement_row row;
    begin_grid(page, &grid);
    for (size_t k = 0; k < YS_AGREEMENT_COLUMNS; k++)
        ys_grid_column(&grid, ys_agreement_heads[k], k + 1 < YS_AGREEMENT_COLUMNS);
    for (size_t i = 0; i < page->view.count; i++) {
        if (!ys_agreement_row(&page->view.trials[i], &row))
            continue;
        name_row(page, &grid, i);
        if (row.reason)
            ys_grid_note(&grid, row.reason);
        for (size_t k = 0; !row.reason && k < YS_AGREEMENT_COLUMNS; k++)
            ys_grid_cell(&grid, grid.naming + k, YS_GRID_PLAIN, row.cells[k].text);
    }
    if (grid.count > 0)
        put_heading(page, ys_agreement_heading);
    ys_status status = ys_grid_print(&grid, 0, page->width, page->colour, page->out);
    ys_grid_fini(&grid);
    return status;
}

static void put_seconds(struct ys_grid *grid, size_t column, double value_s)
{
    struct ys_label text = {"-"};
    int decimals = fabs(value_s) < 9.995 ? 2 : fabs(value_s) < 99.95 ? 1 : 0;
    if (isfinite(value_s) && fabs(value_s) < 1e9)
        snprintf(text.text, sizeof text.text, "%.*f", decimals, value_s);
    ys_grid_cell(grid, column, YS_GRID_PLAIN, text.text);
}

static ys_status put_times(struct page *page)
{
    struct ys_grid grid;
    const struct ys_section_parts parts = ys_section_find_parts(&page->view);
    begin_grid(page, &grid);
    for (size_t k = 0; k < YS_TIME_PARTS; k++)
        if (parts.has[k])
            ys_grid_column(&grid, ys_time_part(k).head, true);
    ys_grid_column(&grid, "whole\nrun", true);
    for (size_t i = 0; i < page->view.count; i++) {
        const struct ys_view_trial *trial = &page->view.trials[i];
        size_t column = grid.naming;
        if (!isfinite(ys_view_number(trial, "wall_s")))
            continue;
        name_row(page, &grid, i);
        for (size_t k = 0; k < YS_TIME_PARTS; k++)
            if (parts.has[k])
                put_seconds(&grid, column++, ys_view_number(trial, ys_time_part(k).metric));
        put_seconds(&grid, column, ys_view_number(trial, "wall_s"));
    }
    if (grid.count > 0)
        put_heading(page, "Where the time goes (seconds, medians; rest is what no part accounts for)");
    ys_status status = ys_grid_print(&grid, 0, page->width, page->colour, page->out);
    ys_grid_fini(&grid);
    return status;
}

/** One comparison, with its verdict painted. */
static void put_comparison(struct page *page, const struct ys_view_comparison *comparison)
{
    struct ys_buf text = {0};
    const int verdict = comparison->verdict;
    ys_view_put_pair(&text, &page->view, comparison);
    ys_buf_puts(&text, ": ");
    ys_section_comparison(&text, &page->view, comparison);
    if (page->colour) {
        bool good = verdict == YS_VERDICT_BETTER, bad = verdict == YS_VERDICT_WORSE || verdict == YS_VERDICT_INVALID;
        ys_buf_puts(page->out, good ? "\x1B[32m" : bad ? "\x1B[31m" : "");
    }
    put_item(page, ys_buf_text(&text));
    if (page->colour)
        ys_buf_puts(page->out, "\x1B[0m");
    page->out->failed |= text.failed;
    ys_buf_free(&text);
}

/** The comparisons of one metric. Several that are invalid for one reason, and, speed aside, those that are the same,
 * are gathered in groups; the others have a line of their own. */
struct sorted {
    struct entry {
        const struct ys_view_comparison *comparison;
        const ys_json *group; /* NULL: a line of its own */
    } * entries;              /* in the order of the document */
    size_t count;
    ys_json *groups; /* {"verdict, reason": array of places in entries}, in the order in which they begin */
};

/** The group of comparisons like this one, made when there is none; NULL without memory. */
static ys_json *group_of(ys_json *groups, const struct ys_view_comparison *comparison)
{
    const char *reason = ys_view_or(comparison->reason, "");
    struct ys_buf name = {0};
    ys_buf_printf(&name, "%s%s", ys_view_verdict_word(comparison), reason[0] ? ", " : "");
    ys_buf_puts(&name, reason);
    bool made = !name.failed && (ys_json_get(groups, ys_buf_text(&name)) ||
                                 ys_json_set(groups, ys_buf_text(&name), ys_json_array()) == YS_OK);
    ys_json *group = made ? ys_json_get(groups, ys_buf_text(&name)) : NULL;
    ys_buf_free(&name);
    return group;
}

static ys_status sort_comparisons(const struct ys_view *view, const char *metric, struct sorted *sorted)
{
    bool speed = strcmp(metric, "rate_per_s") == 0;
    *sorted = (struct sorted){.entries = ys_alloc(view->comparison_count, sizeof *sorted->entries),
                              .groups = ys_json_object()};
    if (!sorted->entries || !sorted->groups)
        return ys_out_of_memory();
    for (size_t i = 0; i < view->comparison_count; i++) {
        const struct ys_view_comparison *comparison = &view->comparisons[i];
        const int verdict = comparison->verdict;
        ys_json *group = NULL;
        if (strcmp(ys_view_or(comparison->metric, ""), metric) != 0)
            continue;
        if (verdict == YS_VERDICT_INVALID || (!speed && verdict == YS_VERDICT_SAME)) {
            group = group_of(sorted->groups, comparison);
            if (!group)
                return ys_out_of_memory();
            YS_TRY(ys_json_append(group, ys_json_int((int64_t)sorted->count)));
        }
        sorted->entries[sorted->count++] = (struct entry){comparison, group};
    }
    return YS_OK;
}

/** What is invalid for a reason of its own needs no group. */
static bool has_own_line(const struct entry *entry)
{
    return !entry->group || (ys_json_size(entry->group) == 1 && entry->comparison->verdict == YS_VERDICT_INVALID);
}

/** One item for all of a group, called `name`. */
static void put_gathered(struct page *page, const struct sorted *sorted, const char *name, const ys_json *group)
{
    const struct entry *first = &sorted->entries[ys_json_integer(ys_json_at(group, 0), 0)];
    const char *metric = ys_view_or(first->comparison->metric, "");
    struct ys_buf text = {0};
    if (has_own_line(first))
        return;
    ys_buf_puts(&text, name);
    if (first->comparison->verdict == YS_VERDICT_INVALID &&
        strcmp(metric, "rate_per_s") != 0) { /* the pairs are named under speed */
        ys_buf_printf(&text, ": %s", ys_label_plural((long long)ys_json_size(group), "comparison").text);
    } else {
        for (size_t i = 0; i < ys_json_size(group) && i < MAX_LINES; i++) {
            ys_buf_puts(&text, i ? "; " : ": ");
            ys_view_put_pair(&text, &page->view, sorted->entries[ys_json_integer(ys_json_at(group, i), 0)].comparison);
        }
        ys_buf_puts(&text, ys_json_size(group) > MAX_LINES ? "; and more" : "");
    }
    put_item(page, ys_buf_text(&text));
    page->out->failed |= text.failed;
    ys_buf_free(&text);
}

static void put_sorted(struct page *page, const struct sorted *sorted)
{
    int lines = 0;
    for (size_t i = 0; i < sorted->count; i++) {
        if (has_own_line(&sorted->entries[i]) && lines++ < MAX_LINES)
            put_comparison(page, sorted->entries[i].comparison);
    }
    if (lines > MAX_LINES)
        ys_buf_printf(page->out, "  * and %d more, in --format=md and --format=json\n", lines - MAX_LINES);
    for (void *it = ys_json_iter(sorted->groups); it; it = ys_json_next(sorted->groups, it))
        put_gathered(page, sorted, ys_json_iter_key(it), ys_json_iter_value(it));
}

static ys_status put_comparisons_of(struct page *page, const char *metric)
{
    struct sorted sorted;
    struct ys_buf text = {0};
    ys_status status = sort_comparisons(&page->view, metric, &sorted);
    ys_buf_puts(page->out, "  ");
    ys_text_wrap(page->out, ys_view_metric_title(&page->view, metric), 2, 2, page->width);
    if (status == YS_OK)
        put_sorted(page, &sorted);
    ys_section_resolution(&text, &page->view, metric);
    if (text.size > 0) {
        ys_buf_puts(page->out, "    ");
        ys_text_wrap(page->out, ys_buf_text(&text), 4, 4, page->width);
    }
    page->out->failed |= text.failed;
    ys_buf_free(&text);
    ys_free(sorted.entries);
    ys_json_free(sorted.groups);
    return status;
}

/** The comparisons that most readers came for; the report has all of them. */
static bool is_shown(const char *metric)
{
    static const char *const shown[] = {"rate_per_s", "latency_p50_s",  "latency_p99_s",
                                        "accuracy",   "bits_per_token", "rss_peak_bytes"};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        if (strcmp(metric, shown[i]) == 0)
            return true;
    return false;
}

static ys_status put_comparisons(struct page *page)
{
    const ys_json *differences = page->view.environment_differences;
    for (size_t i = 0; i < ys_json_size(differences); i++) {
        struct ys_buf text = {0};
        if (i == 0)
            put_heading(page, "Differences of environment: read these before the verdicts");
        ys_view_put_difference(&text, ys_json_at(differences, i));
        put_item(page, ys_buf_text(&text));
        page->out->failed |= text.failed;
        ys_buf_free(&text);
    }
    ys_json *metrics;
    YS_TRY(ys_section_compared(&page->view, &metrics));
    if (ys_json_size(metrics) > 0)
        put_heading(page, "Comparisons (first against second, over matched rounds)");
    bool more = false;
    ys_status status = YS_OK;
    for (size_t i = 0; status == YS_OK && i < ys_json_size(metrics); i++) {
        const char *metric = ys_json_text(ys_json_at(metrics, i), "");
        if (is_shown(metric))
            status = put_comparisons_of(page, metric);
        more |= !is_shown(metric);
    }
    if (more)
        put_item(page, "other metrics are compared in the report and in --format=json");
    ys_json_free(metrics);
    return status;
}

static ys_status put_summary(struct page *page)
{
    ys_json *sentences;
    YS_TRY(ys_words(&page->view, YS_WORDS_ALL, &sentences));
    if (ys_json_size(sentences) > 0)
        put_heading(page, "In words");
    for (size_t i = 0; i < ys_json_size(sentences); i++)
        put_item(page, ys_json_text(ys_json_at(sentences, i), ""));
    ys_json_free(sentences);
    return YS_OK;
}

static ys_status put_sections(struct page *page)
{
    page->numbered = needs_numbers(page);
    put_lines(page, ys_section_study);
    put_lines(page, ys_section_work);
    put_lines(page, ys_section_same);
    put_lines(page, ys_section_host);
    if (page->view.count == 0)
        return YS_OK;
    put_names(page);
    YS_TRY(put_results(page));
    YS_TRY(put_ranks(page));
    YS_TRY(put_agreements(page));
    YS_TRY(put_latencies(page));
    YS_TRY(put_times(page));
    put_remarks(page, page->view.host_warnings, warnings_of, "Warnings");
    YS_TRY(put_comparisons(page));
    ys_buf_puts(page->out, "\n");
    put_lines(page, ys_section_harness);
    return YS_OK;
}

/** Ends the view of the page. */
static ys_status put_page(struct page *page)
{
    ys_status status = put_sections(page);
    if (status == YS_OK)
        status = put_summary(page);
    ys_view_fini(&page->view);
    return status == YS_OK && page->out->failed ? ys_out_of_memory() : status;
}

ys_status ys_report_table(const ys_json *result, int width, bool colour, struct ys_buf *out)
{
    struct page page = {.width = width < 40 ? 40 : width, .colour = colour, .out = out};
    YS_TRY(ys_view_init(&page.view, result));
    return put_page(&page);
}

ys_status ys_report_table_of(const struct ys_result *result, int width, bool colour, struct ys_buf *out)
{
    struct page page = {.width = width < 40 ? 40 : width, .colour = colour, .out = out};
    YS_TRY(ys_view_init_of(&page.view, result));
    return put_page(&page);
}
