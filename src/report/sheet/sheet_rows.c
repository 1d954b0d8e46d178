#include "report/sheet/sheet.h"

#include "base/mem.h"
#include "report/clean_text.h"
#include "report/sheet/sheet_forms.h"

#include <math.h>

enum { COLUMNS, ROWS, CELLS, ITEMS };

struct ys_sheet ys_sheet_init(const struct ys_medium *medium)
{
    return (struct ys_sheet){.medium = *medium, .naming = 1};
}

static void fini_sheet(struct ys_sheet *sheet)
{
    ys_buf_free(&sheet->texts);
    ys_buf_free(&sheet->added);
    ys_free(sheet->columns);
    ys_free(sheet->rows);
    ys_free(sheet->cells);
    ys_free(sheet->items);
    *sheet = (struct ys_sheet){.medium = sheet->medium};
}

static size_t begin_text(struct ys_sheet *sheet)
{
    if (sheet->texts.size == 0)
        ys_buf_append(&sheet->texts, "", 1);
    return sheet->texts.size;
}

/* On a terminal nothing may stand that it would take for a command; `is_head`: of several lines. */
static void clean_text(struct ys_sheet *sheet, size_t begun, bool is_head)
{
    struct ys_buf *texts = &sheet->texts;
    char *raw = ys_strdup(texts->data + begun);
    texts->size = begun;
    ys_text_clean(texts, raw, is_head);
    ys_free(raw);
}

static size_t end_text(struct ys_sheet *sheet, size_t begun, bool is_head)
{
    if (sheet->medium.form == YS_FORM_TEXT && sheet->texts.size > begun)
        clean_text(sheet, begun, is_head);
    const bool is_empty = sheet->texts.size == begun;
    ys_buf_append(&sheet->texts, "", is_empty ? 0 : 1);
    return is_empty ? 0 : begun;
}

static size_t keep(struct ys_sheet *sheet, const char *text, bool is_head)
{
    const size_t begun = begin_text(sheet);
    ys_buf_puts(&sheet->texts, text ? text : "");
    return end_text(sheet, begun, is_head);
}

static size_t keep_text(struct ys_sheet *sheet, const char *text)
{
    return keep(sheet, text, false);
}

void ys_sheet_column(struct ys_sheet *sheet, unsigned forms, enum ys_column_kind kind, const char *head,
                     const char *narrow)
{
    const bool is_shown = forms & sheet->medium.form;
    ys_buf_append(&sheet->added, is_shown ? "\1" : "", 1);
    if (!is_shown)
        return;
    sheet->columns = ys_grown(sheet->columns, sheet->column_count, &sheet->room[COLUMNS], sizeof *sheet->columns);
    sheet->columns[sheet->column_count++] = (struct ys_sheet_shown){
        .kind = kind, .head = keep(sheet, narrow && sheet->medium.form == YS_FORM_TEXT ? narrow : head, true)};
}

void ys_sheet_columns(struct ys_sheet *sheet, const struct ys_sheet_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ys_sheet_column(sheet, columns[i].forms, columns[i].kind, columns[i].head, columns[i].narrow);
}

void ys_sheet_row(struct ys_sheet *sheet)
{
    sheet->rows = ys_grown(sheet->rows, sheet->row_count, &sheet->room[ROWS], sizeof *sheet->rows);
    sheet->rows[sheet->row_count++] = (struct ys_sheet_row){.cells = sheet->cell_count};
    sheet->next = sheet->at = 0;
    for (size_t i = 0; i < sheet->column_count; i++) {
        sheet->cells = ys_grown(sheet->cells, sheet->cell_count, &sheet->room[CELLS], sizeof *sheet->cells);
        sheet->cells[sheet->cell_count++] = (struct ys_sheet_cell){.value = NAN};
    }
}

/* The next cell of the last row; NULL: this form has none there. */
static struct ys_sheet_cell *next_cell(struct ys_sheet *sheet)
{
    const bool is_shown = sheet->next < sheet->added.size && sheet->added.data[sheet->next];
    sheet->next++;
    if (!is_shown || sheet->row_count == 0)
        return NULL;
    return &sheet->cells[sheet->rows[sheet->row_count - 1].cells + sheet->at++];
}

void ys_sheet_put(struct ys_sheet *sheet, enum ys_mood mood, const char *text)
{
    struct ys_sheet_cell *cell = next_cell(sheet);
    if (cell)
        *cell = (struct ys_sheet_cell){.text = keep_text(sheet, text), .value = NAN, .mood = mood};
}

void ys_sheet_printf(struct ys_sheet *sheet, enum ys_mood mood, const char *format, ...)
{
    struct ys_sheet_cell *cell = next_cell(sheet);
    va_list arguments;
    if (!cell)
        return;
    va_start(arguments, format);
    const size_t begun = begin_text(sheet);
    ys_buf_vprintf(&sheet->texts, format, arguments);
    cell->text = end_text(sheet, begun, false);
    cell->mood = mood;
    va_end(arguments);
}

void ys_sheet_number(struct ys_sheet *sheet, double value, const char *text)
{
    struct ys_sheet_cell *cell = next_cell(sheet);
    if (cell)
        *cell = (struct ys_sheet_cell){.text = keep_text(sheet, text), .value = value};
}

void ys_sheet_skip(struct ys_sheet *sheet, size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)next_cell(sheet);
}

void ys_sheet_note(struct ys_sheet *sheet, const char *text)
{
    if (sheet->row_count > 0)
        sheet->rows[sheet->row_count - 1].note = keep_text(sheet, text);
}

void ys_sheet_more(struct ys_sheet *sheet, enum ys_mood mood, const char *text)
{
    if (sheet->row_count == 0)
        return;
    sheet->rows[sheet->row_count - 1].more = keep_text(sheet, text);
    sheet->rows[sheet->row_count - 1].mood = mood;
}

void ys_sheet_item(struct ys_sheet *sheet, const char *text)
{
    sheet->items = ys_grown(sheet->items, sheet->item_count, &sheet->room[ITEMS], sizeof *sheet->items);
    sheet->items[sheet->item_count++] = keep_text(sheet, text);
}

const char *ys_sheet_text(const struct ys_sheet *sheet, size_t text)
{
    return text ? sheet->texts.data + text : "";
}

const struct ys_sheet_cell *ys_sheet_cell(const struct ys_sheet *sheet, size_t row, size_t column)
{
    return &sheet->cells[sheet->rows[row].cells + column];
}

bool ys_sheet_is_right(const struct ys_sheet *sheet, size_t column)
{
    const enum ys_column_kind kind = sheet->columns[column].kind;
    return kind == YS_COLUMN_NUMBER || kind == YS_COLUMN_MEASURE;
}

void ys_sheet_write(struct ys_sheet *sheet, struct ys_buf *out)
{
    switch (sheet->medium.form) {
    case YS_FORM_TEXT:
        ys_sheet_as_text(sheet, out);
        break;
    case YS_FORM_PAGE:
        ys_sheet_as_page(sheet, out);
        break;
    case YS_FORM_MARKDOWN:
        ys_sheet_as_markdown(sheet, out);
        break;
    case YS_FORM_CSV:
        ys_sheet_as_csv(sheet, out);
        break;
    case YS_FORM_ALL:
        break;
    }
    fini_sheet(sheet);
}
