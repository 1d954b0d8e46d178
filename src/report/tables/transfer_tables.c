/* Attacks that carry over: a matrix for each attack of a section, as the table, the page and the Markdown show it. */
#include "base/mem.h"
#include "metric/result_document.h"
#include "report/draw/chart.h"
#include "report/page_parts.h"
#include "report/tables/tables.h"

#include <math.h>
#include <string.h>

static const char how_to_read[] =
    "Attacks that carry over: a row is the trial on whose weights the attack was made, a column the trial that the "
    "images were shown to; a cell says how many of the rows that it broke where it was made are wrong there too. Rows "
    "that one of both had wrong before are not counted; of several rounds the rows are summed.";

/* The trials of a section that one attack was carried over between. */
struct carried {
    const struct ys_view *view;
    const char *section, *attack; /* borrowed */
    size_t *places;               /* of trials in the view; owned */
    const char **names;           /* likewise */
    size_t count, index;          /* index: of the matrix's first pair */
};

static bool is_of(const struct carried *matrix, const struct ys_result_transfer *told)
{
    return strcmp(told->section, matrix->section) == 0 && strcmp(told->attack, matrix->attack) == 0;
}

/* NULL: was not shown. */
static const struct ys_result_transfer *find(const struct carried *matrix, size_t from, size_t to)
{
    const struct ys_result_transfer *items = matrix->view->transfers->items;
    const struct ys_view_trial *trials = matrix->view->trials;
    for (size_t i = 0; i < matrix->view->transfers->count; i++)
        if (is_of(matrix, &items[i]) && strcmp(items[i].from, trials[from].id) == 0 &&
            strcmp(items[i].to, trials[to].id) == 0)
            return &items[i];
    return NULL;
}

/* Whether it is in some pair, of any attack and section where `matrix` has none. */
static bool takes_part(const struct ys_view *view, const struct carried *matrix, size_t t)
{
    const struct ys_result_transfer *items = view->transfers->items;
    for (size_t i = 0; i < view->transfers->count; i++)
        if ((!matrix || is_of(matrix, &items[i])) &&
            (strcmp(items[i].from, view->trials[t].id) == 0 || strcmp(items[i].to, view->trials[t].id) == 0))
            return true;
    return false;
}

/* Their frameworks alone name them in a drawing, where no two have the same. */
static void shorten(struct carried *matrix)
{
    const struct ys_view_trial *trials = matrix->view->trials;
    for (size_t a = 0; a < matrix->count; a++)
        for (size_t b = 0; b < a; b++)
            if (strcmp(trials[matrix->places[a]].framework, trials[matrix->places[b]].framework) == 0)
                return;
    for (size_t c = 0; c < matrix->count; c++)
        matrix->names[c] = trials[matrix->places[c]].framework;
}

/* That of transfer `i`, where it is the first of its matrix; on a page the first trials of it. */
static bool open_matrix(const struct ys_view *view, size_t i, size_t most, struct carried *matrix)
{
    const struct ys_result_transfer *items = view->transfers->items;
    *matrix = (struct carried){.view = view, .section = items[i].section, .attack = items[i].attack, .index = i};
    for (size_t before = 0; before < i; before++)
        if (is_of(matrix, &items[before]))
            return false;
    matrix->places = ys_alloc(view->count, sizeof *matrix->places);
    matrix->names = ys_alloc(view->count, sizeof *matrix->names);
    for (size_t t = 0; t < view->count && matrix->count < most; t++)
        if (takes_part(view, matrix, t)) {
            matrix->names[matrix->count] = view->trials[t].name;
            matrix->places[matrix->count++] = t;
        }
    shorten(matrix);
    return true;
}

static void close_matrix(struct carried *matrix)
{
    ys_free(matrix->places);
    ys_free(matrix->names);
}

static void put_title(struct ys_buf *title, const struct carried *matrix)
{
    ys_buf_printf(title, "Attacks that carry over, %s", matrix->attack);
    if (matrix->view->many_sections)
        ys_buf_printf(title, ", %s", matrix->section);
}

static void put_rows(struct ys_sheet *sheet, const struct carried *matrix)
{
    for (size_t r = 0; r < matrix->count; r++) {
        ys_table_trial(sheet, matrix->view, matrix->places[r]);
        for (size_t c = 0; c < matrix->count; c++) {
            const struct ys_result_transfer *told = find(matrix, matrix->places[r], matrix->places[c]);
            if (told)
                ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%lld of %lld", (long long)told->also_wrong,
                                (long long)told->broken);
            else
                ys_sheet_put(sheet, YS_MOOD_PLAIN, "-");
        }
    }
}

static void write_matrix(const struct carried *matrix, const struct ys_medium *medium, struct ys_buf *out)
{
    struct ys_buf title = {0};
    struct ys_sheet sheet = ys_sheet_init(medium);
    put_title(&title, matrix);
    sheet.view = matrix->view;
    sheet.title = medium->form == YS_FORM_PAGE ? NULL : ys_buf_text(&title);
    ys_table_trials(&sheet, matrix->view, ys_buf_text(&title));
    ys_table_trial_heads(&sheet, matrix->view, matrix->places, matrix->count);
    put_rows(&sheet, matrix);
    ys_sheet_write(&sheet, out);
    ys_buf_free(&title);
}

static void draw_matrix(const struct carried *matrix, struct ys_buf *out)
{
    struct ys_buf title = {0};
    char *id = ys_format("carry%zu", matrix->index);
    double *values = ys_alloc(matrix->count, matrix->count * sizeof *values);
    for (size_t r = 0; r < matrix->count; r++)
        for (size_t c = 0; c < matrix->count; c++) {
            const struct ys_result_transfer *told = find(matrix, matrix->places[r], matrix->places[c]);
            values[r * matrix->count + c] =
                told && told->broken > 0 ? (double)told->also_wrong / (double)told->broken : (double)NAN;
        }
    put_title(&title, matrix);
    const struct ys_chart_heat chart = {.id = id,
                                        .title = ys_buf_text(&title),
                                        .description = "For each pair of trials the share of broken rows that carries "
                                                       "over.",
                                        .x_title = "shown to",
                                        .y_title = "made on",
                                        .kind = YS_KIND_SHARE,
                                        .columns = matrix->names,
                                        .rows = matrix->names,
                                        .column_count = matrix->count,
                                        .row_count = matrix->count,
                                        .values = values,
                                        .lo = 0,
                                        .hi = 1};
    ys_html_begin_figure(out, chart.title, "");
    ys_chart_heat(out, &chart);
    ys_html_end_figure(out);
    ys_buf_free(&title);
    ys_free(values);
    ys_free(id);
}

/* Those that were asked for and are in no pair; then how the matrices are read. */
static void make_sentences(struct ys_sheet *sheet, const struct ys_view *view)
{
    for (size_t t = 0; t < view->count; t++) {
        struct ys_buf text = {0};
        const struct ys_result_trial *told = view->trials[t].told;
        if (told->robustness && told->keys.attack_transfer == YS_ON && !takes_part(view, NULL, t))
            ys_buf_printf(&text,
                          "%s: attacks on it were shown to no other trial: its section has no other that was attacked "
                          "likewise on the same rows, or a warning says why not",
                          view->trials[t].name);
        ys_table_item(sheet, &text);
    }
    if (view->transfers->count > 0 && sheet->medium.form != YS_FORM_PAGE)
        ys_sheet_item(sheet, how_to_read);
}

void ys_table_transfers(const struct ys_view *view, const struct ys_medium *medium, struct ys_buf *out)
{
    const bool is_page = medium->form == YS_FORM_PAGE;
    if (view->transfers->count > 0 && is_page)
        ys_html_put(out, "p", "soft", how_to_read);
    for (size_t i = 0; i < view->transfers->count; i++) {
        struct carried matrix;
        if (!open_matrix(view, i, is_page ? YS_HTML_DRAWN : view->count, &matrix))
            continue;
        if (is_page)
            draw_matrix(&matrix, out);
        write_matrix(&matrix, medium, out);
        close_matrix(&matrix);
    }
    ys_table_write(make_sentences, view, medium, out);
}
