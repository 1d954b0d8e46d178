#include "base/mem.h"
#include "report/clean_text.h"
#include "report/report.h"
#include "report/shared_sentences.h"
#include "report/tables/tables.h"
#include <math.h>
#include <string.h>

#define MAX_LINES 40 /* comparisons of one metric; the rest is counted */

/** Everything that the sections of the text report need. */
struct page {
    struct ys_view view;
    struct ys_medium medium;
    struct ys_buf *out;
};

static void put_heading(struct page *page, const char *text)
{
    ys_buf_puts(page->out, page->medium.colour ? "\n\x1B[1m" : "\n");
    ys_text_wrap(page->out, text, 0, 0, page->medium.width);
    ys_text_end_colour(page->out, page->medium.colour);
}

/** "  * text", wrapped. */
static void put_item(struct page *page, const char *text)
{
    ys_buf_puts(page->out, "  * ");
    ys_text_wrap(page->out, text, 4, 4, page->medium.width);
}

static void put_lines(struct page *page, void (*section)(struct ys_buf *, const struct ys_view *))
{
    struct ys_buf text = {0};
    section(&text, &page->view);
    if (text.size > 0)
        ys_text_wrap(page->out, ys_buf_text(&text), 0, 2, page->medium.width);
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
                ys_text_wrap(page->out, marks[m].meaning, 5, 5, page->medium.width);
                break;
            }
    if (few)
        ys_buf_puts(page->out, "n < 6: no interval.\n");
    put_lines(page, ys_section_level);
}

/** What the numbers of the rows stand for. */
static void put_names(struct page *page)
{
    if (!ys_table_is_numbered(&page->view, page->medium.width))
        return;
    put_heading(page, "Trials");
    for (size_t i = 0; i < page->view.count; i++) {
        ys_buf_printf(page->out, "%3zu  ", i + 1);
        ys_text_wrap(page->out, page->view.trials[i].name, 5, 5, page->medium.width);
    }
}

static void put_results(struct page *page)
{
    bool is_few = false;
    for (size_t i = 0; i < page->view.count; i++) {
        const struct ys_view_trial *trial = &page->view.trials[i];
        const struct ys_view_metric rate = ys_view_metric(trial, "rate_per_s");
        is_few |= trial->measured && !ys_view_measure(rate).interval.text[0] &&
                  (rate.n == YS_FIELD_NONE ? trial->runs - trial->failed : rate.n) < 6;
    }
    ys_table_write(ys_table_results, &page->view, &page->medium, page->out);
    put_marks(page, is_few);
}

/** One comparison, with its verdict painted. */
static void put_comparison(struct page *page, const struct ys_result_comparison *comparison)
{
    struct ys_buf text = {0};
    const int verdict = comparison->told.verdict;
    ys_view_put_pair(&text, &page->view, comparison);
    ys_buf_puts(&text, ": ");
    ys_section_comparison(&text, comparison);
    if (page->medium.colour) {
        bool good = verdict == YS_VERDICT_BETTER, bad = verdict == YS_VERDICT_WORSE || verdict == YS_VERDICT_INVALID;
        ys_buf_puts(page->out, good ? "\x1B[32m" : bad ? "\x1B[31m" : "");
    }
    put_item(page, ys_buf_text(&text));
    ys_text_end_colour(page->out, page->medium.colour);
    ys_buf_free(&text);
}

/** The comparisons of one metric. Several that are invalid for one reason, and, speed aside, those that are the same,
 * are gathered in groups; the others have a line of their own. */
struct sorted {
    struct entry {
        const struct ys_result_comparison *comparison;
        const ys_json *group; /* NULL: a line of its own */
    } * entries;              /* in the order of the document */
    size_t count;
    ys_json *groups; /* {"verdict, reason": array of places in entries}, in the order in which they begin */
};

/** The group of comparisons like this one, made when there is none. */
static ys_json *group_of(ys_json *groups, const struct ys_result_comparison *comparison)
{
    const char *reason = ys_view_or(comparison->told.reason, "");
    struct ys_buf name = {0};
    ys_buf_printf(&name, "%s%s", ys_view_verdict_word(comparison), reason[0] ? ", " : "");
    ys_buf_puts(&name, reason);
    if (!ys_json_get(groups, ys_buf_text(&name)))
        ys_json_set(groups, ys_buf_text(&name), ys_json_array());
    ys_json *group = ys_json_get(groups, ys_buf_text(&name));
    ys_buf_free(&name);
    return group;
}

static void sort_comparisons(const struct ys_view *view, const char *metric, struct sorted *sorted)
{
    bool speed = strcmp(metric, "rate_per_s") == 0;
    *sorted = (struct sorted){.entries = ys_alloc(view->comparison_count, sizeof *sorted->entries),
                              .groups = ys_json_object()};
    for (size_t i = 0; i < view->comparison_count; i++) {
        const struct ys_result_comparison *comparison = &view->comparisons[i];
        const int verdict = comparison->told.verdict;
        ys_json *group = NULL;
        if (strcmp(ys_view_or(comparison->told.metric, ""), metric) != 0)
            continue;
        if (verdict == YS_VERDICT_INVALID || (!speed && verdict == YS_VERDICT_SAME)) {
            group = group_of(sorted->groups, comparison);
            ys_json_append(group, ys_json_int((int64_t)sorted->count));
        }
        sorted->entries[sorted->count++] = (struct entry){comparison, group};
    }
}

/** What is invalid for a reason of its own needs no group. */
static bool has_own_line(const struct entry *entry)
{
    return !entry->group || (ys_json_size(entry->group) == 1 && entry->comparison->told.verdict == YS_VERDICT_INVALID);
}

/** One item for all of a group, called `name`. */
static void put_gathered(struct page *page, const struct sorted *sorted, const char *name, const ys_json *group)
{
    const struct entry *first = &sorted->entries[ys_json_integer(ys_json_at(group, 0), 0)];
    const char *metric = ys_view_or(first->comparison->told.metric, "");
    struct ys_buf text = {0};
    if (has_own_line(first))
        return;
    ys_buf_puts(&text, name);
    if (first->comparison->told.verdict == YS_VERDICT_INVALID &&
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

static void put_comparisons_of(struct page *page, const char *metric)
{
    struct sorted sorted;
    struct ys_buf text = {0};
    sort_comparisons(&page->view, metric, &sorted);
    ys_buf_puts(page->out, "  ");
    ys_text_wrap(page->out, ys_view_metric_title(metric), 2, 2, page->medium.width);
    put_sorted(page, &sorted);
    ys_section_resolution(&text, &page->view, metric);
    if (text.size > 0) {
        ys_buf_puts(page->out, "    ");
        ys_text_wrap(page->out, ys_buf_text(&text), 4, 4, page->medium.width);
    }
    ys_buf_free(&text);
    ys_free(sorted.entries);
    ys_json_free(sorted.groups);
}

/** The comparisons that most readers came for; the report has all of them. */
static bool is_shown(const char *metric)
{
    static const char *const shown[] = {"rate_per_s",     "latency_p50_s",    "latency_p99_s",    "accuracy",
                                        "bits_per_token", "robust_accuracy",  "perturbation_p50", "corrupted_accuracy",
                                        "rss_peak_bytes", "time_to_target_s", "steps_to_target"};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        if (strcmp(metric, shown[i]) == 0)
            return true;
    return false;
}

static void put_comparisons(struct page *page)
{
    ys_json *metrics = ys_section_compared(&page->view);
    if (ys_json_size(metrics) > 0)
        put_heading(page, "Comparisons (first against second, over matched rounds)");
    bool more = false;
    for (size_t i = 0; i < ys_json_size(metrics); i++) {
        const char *metric = ys_json_text(ys_json_at(metrics, i), "");
        if (is_shown(metric))
            put_comparisons_of(page, metric);
        more |= !is_shown(metric);
    }
    if (more)
        put_item(page, "other metrics are compared in the report and in --format=json");
    ys_json_free(metrics);
}

static void put_sections(struct page *page)
{
    static ys_table *const tables[] = {
        ys_table_feeders,  ys_table_deviations, ys_table_ranks,     ys_table_lasts,     ys_table_agreements,
        ys_table_formats,  ys_table_scales,     ys_table_attacks,   ys_table_standings, ys_table_corruptions,
        ys_table_sizes,    ys_table_targets,    ys_table_latencies, ys_table_times,     ys_table_host_warnings,
        ys_table_warnings, ys_table_differences};
    put_lines(page, ys_section_study);
    put_lines(page, ys_section_work);
    put_lines(page, ys_section_same);
    put_lines(page, ys_section_host);
    if (page->view.count == 0)
        return;
    put_names(page);
    put_results(page);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        ys_table_write(tables[i], &page->view, &page->medium, page->out);
    ys_table_transfers(&page->view, &page->medium, page->out);
    put_comparisons(page);
    ys_buf_puts(page->out, "\n");
    put_lines(page, ys_section_harness);
}

/** Ends the view of the page. */
static void put_page(struct page *page)
{
    put_sections(page);
    ys_table_write(ys_table_words, &page->view, &page->medium, page->out);
    ys_view_fini(&page->view);
}

void ys_report_table(const struct ys_result *result, int width, bool colour, struct ys_buf *out)
{
    struct page page = {.medium = {YS_FORM_TEXT, .width = width < 40 ? 40 : width, .colour = colour}, .out = out};
    ys_view_init(&page.view, result);
    put_page(&page);
}
