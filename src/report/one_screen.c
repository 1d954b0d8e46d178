/* A result on one screen: what was done, the answer, a line a trial, a line for each kind of warning, where the rest
 * is. All of it is what ys_report_table() says at length. */
#include "base/mem.h"
#include "report/clean_text.h"
#include "report/report.h"
#include "report/shared_sentences.h"
#include "report/tables/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ROWS = 10 };

struct summary {
    struct ys_view view;
    int width;
    bool colour;
    struct ys_buf *out;
};

static void put_wrapped(struct summary *page, const char *lead, struct ys_buf *text)
{
    const int used = (int)strlen(lead);
    if (text->size > 0) {
        ys_buf_puts(page->out, lead);
        ys_text_wrap(page->out, ys_buf_text(text), used, used, page->width);
    }
    ys_buf_free(text);
}

/* ---- what was done */

/* `is_whole`: how many rounds there are stands nowhere else. */
static void put_done(struct summary *page, bool is_whole)
{
    const struct ys_view *view = &page->view;
    struct ys_buf text = {0}, title = {0};
    ys_text_clean(&text, ys_view_or(view->study->name, "study"), false);
    ys_section_title(&title, view);
    ys_buf_printf(&text, ": %s", ys_buf_text(&title));
    if (is_whole && view->rounds == view->repeat)
        ys_buf_printf(&text, ", %s", ys_label_plural(view->rounds, "round").text);
    else if (is_whole)
        ys_buf_printf(&text, ", %lld of %s", (long long)view->rounds, ys_label_plural(view->repeat, "round").text);
    const char *started = ys_view_or(view->study->started, "");
    if (ys_text_width(ys_buf_text(&text)) + 12 <= page->width && strspn(started, "0123456789-") == 10)
        ys_buf_printf(&text, ", %.10s", started);
    ys_buf_puts(page->out, page->colour ? "\x1B[1m" : "");
    ys_text_clip(page->out, ys_buf_text(&text), page->width);
    ys_buf_puts(page->out, page->colour ? "\x1B[0m\n" : "\n");
    ys_buf_free(&text);
    ys_buf_free(&title);
}

static void put_answer(struct summary *page, const ys_json *state)
{
    struct ys_buf text = {0};
    ys_buf_puts(page->out, "\n");
    for (size_t i = 0; i < ys_json_size(state); i++)
        ys_text_wrap(page->out, ys_json_text(ys_json_at(state, i), ""), 0, 0, page->width);
    ys_answer(&text, &page->view);
    if (text.size == 0 && ys_json_size(state) == 0)
        ys_buf_puts(&text, "There is no result.\n");
    for (char *line = text.size ? text.data : NULL, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        ys_text_wrap(page->out, line, 0, 0, page->width);
    }
    ys_buf_free(&text);
}

/* ---- a line a trial */

struct columns {
    bool relative, range;
    const char *metrics[4];
    size_t count;
};

static struct columns choose_columns(const struct summary *page)
{
    static const char *const wanted[] = {"stored_bytes",    "runtime_bytes",      "time_to_target_s", "accuracy",
                                         "robust_accuracy", "corrupted_accuracy", "bits_per_token",   "latency_p50_s",
                                         "latency_p99_s",   "rss_peak_bytes"};
    const struct ys_view *view = &page->view;
    struct columns columns = {.relative = ys_answer_compares(view)};
    const bool tokens = ys_view_is_known(view, "bits_per_token");
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (ys_view_is_known(view, wanted[i]) && !(tokens && strcmp(wanted[i], "accuracy") == 0) &&
            columns.count < sizeof columns.metrics / sizeof columns.metrics[0])
            columns.metrics[columns.count++] = wanted[i];
    for (size_t i = 0; i < view->count; i++) {
        const struct ys_relation relation = ys_answer_relation(view, &view->trials[i]);
        columns.range |=
            columns.relative ? isfinite(relation.lo) : ys_view_metric(&view->trials[i], "rate_per_s").interval;
    }
    return columns;
}

/* How a trial that was not measured ended; sentences below say more. */
static void put_ending(struct ys_sheet *sheet, const struct ys_view_trial *trial)
{
    const char *stage = ys_stage_name(trial->told->stage);
    struct ys_buf text = {0};
    ys_buf_puts(&text, trial->status == YS_RUN_OK ? ys_view_no_run(trial) : ys_run_status_name(trial->status));
    if (stage && trial->status != YS_RUN_OK)
        ys_buf_printf(&text, " (%s)", stage);
    ys_sheet_note(sheet, ys_buf_text(&text));
    ys_buf_free(&text);
}

static void fill_row(const struct summary *page, const struct columns *columns, struct ys_sheet *sheet,
                     const struct ys_view_trial *trial)
{
    const struct ys_measure rate = ys_view_measure(ys_view_metric(trial, "rate_per_s"));
    const struct ys_relation relation = ys_answer_relation(&page->view, trial);
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%s%s", rate.value.text, rate.unit.text);
    if (columns->relative)
        ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_label_relative(relation.ratio).text);
    if (columns->relative && columns->range)
        ys_sheet_put(sheet, YS_MOOD_PLAIN,
                     relation.is_best ? "" : ys_label_ratio_range(relation.ratio, relation.lo, relation.hi).text);
    else if (columns->range)
        ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%s%s", rate.interval.text, rate.interval.text[0] ? rate.unit.text : "");
    if (columns->relative)
        ys_table_relation(sheet, &relation);
    for (size_t i = 0; i < columns->count; i++)
        ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_view_label(ys_view_metric(trial, columns->metrics[i])).text);
}

static int name_room(const struct summary *page)
{
    return page->width * 45 / 100 - 2; /* and a mark */
}

static bool has_long_names(const struct summary *page)
{
    for (size_t i = 0; i < page->view.count; i++)
        if (ys_text_width(page->view.trials[i].name) > name_room(page))
            return true;
    return false;
}

/* "builtin, 8, 2": without the names of factors, which the head has. */
static void put_short_name(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *trial)
{
    ys_buf_puts(out, trial->framework);
    for (size_t i = 0; i < ys_view_axes(view); i++) {
        const ys_json *value = ys_json_get(trial->told->factors, ys_view_axis(view, i));
        ys_buf_puts(out, ", ");
        if (value)
            ys_view_put_value(out, value);
        else
            ys_buf_puts(out, "-");
    }
    if (view->many_sections)
        ys_buf_printf(out, ", %s", ys_view_or(trial->told->section, ""));
}

static void put_short_head(struct ys_buf *out, const struct ys_view *view)
{
    ys_buf_puts(out, "framework");
    for (size_t i = 0; i < ys_view_axes(view); i++) {
        ys_buf_puts(out, ", ");
        ys_text_clean(out, ys_view_short_axis(ys_view_axis(view, i)), false);
    }
    ys_buf_puts(out, view->many_sections ? ", section" : "");
}

/* The trial's name with the mark of its proof; one that is too long even so is cut, and begins with its number. */
static void name_row(const struct summary *page, struct ys_sheet *sheet, const struct ys_view_trial *trial,
                     bool is_short)
{
    const int room = name_room(page);
    struct ys_buf name = {0}, whole = {0};
    if (is_short)
        put_short_name(&whole, &page->view, trial);
    else
        ys_buf_puts(&whole, trial->name);
    struct ys_buf clean = {0};
    ys_text_clean(&clean, ys_buf_text(&whole), false);
    ys_sheet_row(sheet);
    if (ys_text_width(ys_buf_text(&clean)) > room)
        ys_buf_printf(&name, "#%zu ", (size_t)(trial - page->view.trials) + 1);
    ys_text_clip(&name, ys_buf_text(&clean), room - (int)name.size);
    ys_buf_puts(&name, ys_view_proof_mark(trial));
    ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_buf_text(&name));
    ys_buf_free(&clean);
    ys_buf_free(&whole);
    ys_buf_free(&name);
}

/* Of latencies the head that their own table has says too little. */
static struct ys_label head_of(const char *metric)
{
    struct ys_label label = {"median\nlatency"};
    if (strcmp(metric, "latency_p99_s") == 0)
        return (struct ys_label){"99 %\nwithin"};
    return strcmp(metric, "latency_p50_s") == 0 ? label : ys_view_metric_head(metric, true);
}

/* All of a few; of many the fastest of each group. Returns how many were left out. */
static size_t fill_rows(const struct summary *page, const struct columns *columns, struct ys_sheet *sheet,
                        bool is_short)
{
    const struct ys_view *view = &page->view;
    const size_t share = MOST_ROWS / view->group_count, most = view->count <= MOST_ROWS ? MOST_ROWS
                                                               : share > 0              ? share
                                                                                        : 1;
    size_t shown = 0;
    for (size_t g = 0; g < view->group_count; g++)
        for (size_t i = 0; i < view->groups[g].count && i < most && shown < MOST_ROWS; i++, shown++) {
            const struct ys_view_trial *trial = view->groups[g].trials[i];
            name_row(page, sheet, trial, is_short);
            if (i < view->groups[g].measured)
                fill_row(page, columns, sheet, trial);
            else
                put_ending(sheet, trial);
        }
    return view->count - shown;
}

/* `left_out`: becomes how many trials have no row. */
static void print_rows(const struct summary *page, const struct columns *columns, struct ys_buf *out, size_t *left_out)
{
    const struct ys_medium medium = {.form = YS_FORM_TEXT, .width = page->width, .colour = page->colour};
    struct ys_sheet sheet = ys_sheet_init(&medium);
    char *rate = ys_format("%s\nper s", page->view.unit);
    const bool is_short = has_long_names(page);
    struct ys_buf head = {0};
    if (is_short)
        put_short_head(&head, &page->view);
    ys_sheet_column(&sheet, YS_FORM_TEXT, YS_COLUMN_NAME, ys_buf_text(&head), NULL);
    ys_sheet_column(&sheet, YS_FORM_TEXT, YS_COLUMN_NUMBER, rate, NULL);
    if (columns->relative)
        ys_sheet_column(&sheet, YS_FORM_TEXT, YS_COLUMN_NUMBER, "relative", NULL);
    if (columns->range)
        ys_sheet_column(&sheet, YS_FORM_TEXT, YS_COLUMN_NUMBER, columns->relative ? "range\n(95 %)" : "range", NULL);
    if (columns->relative)
        ys_sheet_column(&sheet, YS_FORM_TEXT, YS_COLUMN_VERDICT, "", NULL);
    for (size_t i = 0; i < columns->count; i++)
        ys_sheet_column(&sheet, YS_FORM_TEXT, YS_COLUMN_NUMBER, head_of(columns->metrics[i]).text, NULL);
    *left_out = fill_rows(page, columns, &sheet, is_short);
    ys_buf_free(&head);
    ys_free(rate);
    ys_sheet_write(&sheet, out);
}

/* As many columns as fit beside each other: a second table below the first would be a second screen. */
static void put_rows(struct summary *page)
{
    struct columns columns = choose_columns(page);
    struct ys_buf text = {0};
    size_t left_out;
    print_rows(page, &columns, &text, &left_out);
    while (strstr(ys_buf_text(&text), "\n\n") && (columns.count > 0 || columns.range)) {
        if (columns.count > 0)
            columns.count--;
        else
            columns.range = false;
        ys_buf_clear(&text);
        print_rows(page, &columns, &text, &left_out);
    }
    ys_buf_printf(page->out, "\n%s", ys_buf_text(&text));
    if (left_out > 0)
        ys_buf_printf(page->out, "and %zu more, %s\n", left_out,
                      page->view.group_count > 1 ? "slower or of other groups" : "slower");
    ys_buf_free(&text);
}

/* ---- what is to be known beside it */

static void put_texts(struct summary *page, const ys_json *texts)
{
    for (size_t i = 0; i < ys_json_size(texts); i++) {
        struct ys_buf text = {0};
        ys_buf_puts(&text, ys_json_text(ys_json_at(texts, i), ""));
        ys_buf_puts(page->out, i == 0 ? "\n" : "");
        const bool is_marked = text.size > 1 && strchr("*!?~", text.data[0]) && text.data[1] == ' ';
        if (is_marked) { /* the mark that stands behind names is the line's own */
            const char lead[3] = {text.data[0], ' ', 0};
            struct ys_buf rest = {0};
            ys_buf_puts(&rest, text.data + 2);
            ys_buf_free(&text);
            put_wrapped(page, lead, &rest);
        } else {
            put_wrapped(page, "- ", &text);
        }
    }
}

static void put_notes(struct summary *page)
{
    ys_json *notes = ys_words(&page->view, YS_WORDS_BRIEF);
    put_texts(page, notes);
    ys_json_free(notes);
}

static void put_page(struct summary *page, const char *more)
{
    ys_json *state = ys_words(&page->view, YS_WORDS_STATE);
    put_done(page, ys_json_size(state) == 0);
    put_answer(page, state);
    if (page->view.count > 0)
        put_rows(page);
    put_notes(page);
    ys_json_free(state);
    if (more) {
        ys_buf_puts(page->out, "\n");
        ys_text_wrap(page->out, more, 0, 2, page->width);
    }
    ys_view_fini(&page->view);
}

void ys_report_summary(const struct ys_result *result, const char *more, int width, bool colour, struct ys_buf *out)
{
    struct summary page = {.width = width < 40 ? 40 : width, .colour = colour, .out = out};
    ys_view_init(&page.view, result);
    put_page(&page, more);
}
