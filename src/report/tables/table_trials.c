/* How rows of tables name trials. */
#include "base/mem.h"
#include "report/clean_text.h"
#include "report/tables/tables.h"

#include <math.h>
#include <string.h>

enum {
    NAME_WIDTH = 20,  /* of a long name beside its number */
    HEAD_WIDTH = 16,  /* of a trial's name above a column of text */
    MOST_FACTORS = 20 /* that have columns of their own */
};

const struct ys_medium ys_page_medium = {.form = YS_FORM_PAGE};
const struct ys_medium ys_markdown_medium = {.form = YS_FORM_MARKDOWN};

void ys_table_write(ys_table *make, const struct ys_view *view, const struct ys_medium *medium, struct ys_buf *out)
{
    struct ys_sheet sheet = ys_sheet_init(medium);
    sheet.view = view;
    make(&sheet, view);
    ys_sheet_write(&sheet, out);
}

static int width_of_axis(const struct ys_view *view, const char *axis)
{
    int widest = ys_text_width(axis ? ys_view_short_axis(axis) : "job");
    for (size_t k = 0; k < view->count; k++) {
        const struct ys_result_trial *told = view->trials[k].told;
        struct ys_buf text = {0};
        if (axis)
            ys_view_put_value(&text, ys_json_get(told->factors, axis));
        else
            ys_text_clean(&text, ys_view_or(told->section, "none"), false);
        widest = (int)fmax(widest, ys_text_width(ys_buf_text(&text)));
        ys_buf_free(&text);
    }
    return widest;
}

bool ys_table_is_numbered(const struct ys_view *view, int width)
{
    if (1 + view->many_sections + ys_view_axes(view) >= MOST_FACTORS)
        return true;
    int framework = 9, total = 0;
    for (size_t k = 0; k < view->count; k++)
        framework = (int)fmax(framework, ys_text_width(view->trials[k].framework) + 2);
    for (size_t i = 0; i < ys_view_axes(view); i++)
        total += width_of_axis(view, ys_view_axis(view, i)) + 2;
    if (view->many_sections)
        total += width_of_axis(view, NULL) + 2;
    return framework + total > width * 45 / 100;
}

void ys_table_trials(struct ys_sheet *sheet, const struct ys_view *view, const char *head)
{
    ys_sheet_column(sheet, YS_FORM_PAGE, YS_COLUMN_NAME, "Trial", NULL);
    ys_sheet_column(sheet, YS_FORM_MARKDOWN, YS_COLUMN_NAME, head, NULL);
    if (sheet->medium.form != YS_FORM_TEXT)
        return;
    sheet->is_numbered = ys_table_is_numbered(view, sheet->medium.width);
    if (sheet->is_numbered) {
        ys_sheet_column(sheet, YS_FORM_TEXT, YS_COLUMN_NUMBER, "#", NULL);
        ys_sheet_column(sheet, YS_FORM_TEXT, YS_COLUMN_NAME, "trial", NULL);
        sheet->naming = 2;
        return;
    }
    if (view->many_sections)
        ys_sheet_column(sheet, YS_FORM_TEXT, YS_COLUMN_NAME, "job", NULL);
    ys_sheet_column(sheet, YS_FORM_TEXT, YS_COLUMN_NAME, "framework", NULL);
    for (size_t i = 0; i < ys_view_axes(view); i++)
        ys_sheet_column(sheet, YS_FORM_TEXT,
                        strcmp(ys_view_axis(view, i), "threads") == 0 ? YS_COLUMN_NUMBER : YS_COLUMN_NAME,
                        ys_view_short_axis(ys_view_axis(view, i)), NULL);
    sheet->naming = 1 + view->many_sections + ys_view_axes(view);
}

/* In text; the proof's mark stands behind the framework's name. */
static void put_names(struct ys_sheet *sheet, const struct ys_view *view, size_t index)
{
    const struct ys_view_trial *trial = &view->trials[index];
    const char *mark = ys_view_proof_mark(trial);
    struct ys_buf text = {0};
    mark += strspn(mark, " ");
    if (sheet->is_numbered) {
        ys_text_clip(&text, trial->name, NAME_WIDTH);
        ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%zu%s", index + 1, mark);
        ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_buf_text(&text));
    } else {
        if (view->many_sections)
            ys_sheet_put(sheet, YS_MOOD_PLAIN, trial->told->section);
        ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%s%s", trial->framework, mark);
    }
    for (size_t i = 0; !sheet->is_numbered && i < ys_view_axes(view); i++) {
        const ys_json *value = ys_json_get(trial->told->factors, ys_view_axis(view, i));
        ys_buf_clear(&text);
        if (value)
            ys_view_put_value(&text, value);
        ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_buf_text(&text));
    }
    ys_buf_free(&text);
}

void ys_table_trial(struct ys_sheet *sheet, const struct ys_view *view, size_t index)
{
    ys_sheet_row(sheet);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, view->trials[index].name); /* in the page, */
    ys_sheet_put(sheet, YS_MOOD_PLAIN, view->trials[index].name); /* and in Markdown */
    if (sheet->medium.form == YS_FORM_TEXT)
        put_names(sheet, view, index);
}

/* In text its framework above what else names it. */
static void put_narrow(struct ys_buf *head, const char *name)
{
    const char *comma = strstr(name, ", ");
    char *first = comma ? ys_strndup(name, (size_t)(comma - name)) : ys_strdup(name);
    ys_text_clip(head, first, HEAD_WIDTH);
    if (comma) {
        ys_buf_puts(head, "\n");
        ys_text_clip(head, comma + 2, HEAD_WIDTH);
    }
    ys_free(first);
}

void ys_table_trial_heads(struct ys_sheet *sheet, const struct ys_view *view, const size_t *places, size_t count)
{
    for (size_t c = 0; c < count; c++) {
        const char *name = view->trials[places[c]].name;
        struct ys_buf head = {0};
        if (sheet->is_numbered)
            ys_buf_printf(&head, "#%zu", places[c] + 1);
        else if (sheet->medium.form == YS_FORM_TEXT)
            put_narrow(&head, name);
        else
            ys_buf_puts(&head, name);
        ys_sheet_column(sheet, YS_FORM_ALL, YS_COLUMN_NUMBER, ys_buf_text(&head), NULL);
        ys_buf_free(&head);
    }
}

size_t ys_table_count(struct ys_sheet *sheet, const struct ys_view *view)
{
    sheet->things = "trials";
    sheet->total = view->count;
    return sheet->medium.form == YS_FORM_PAGE && view->count > YS_SHEET_MOST ? YS_SHEET_MOST : view->count;
}

void ys_table_item(struct ys_sheet *sheet, struct ys_buf *text)
{
    if (text->size > 0)
        ys_sheet_item(sheet, ys_buf_text(text));
    ys_buf_free(text);
}
