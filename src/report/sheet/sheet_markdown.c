/* A sheet in Markdown, with tables as GitHub reads them. */
#include "report/clean_text.h"
#include "report/sheet/sheet_forms.h"

#include <string.h>

void ys_sheet_escape(struct ys_buf *out, const char *text)
{
    struct ys_buf clean = {0};
    ys_text_clean(&clean, text, false);
    for (const char *c = ys_buf_text(&clean); *c; c++) {
        if (*c == '<' || *c == '>' || *c == '&')
            ys_buf_puts(out, *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : "&amp;");
        else
            ys_buf_printf(out, strchr("\\`*_{}[]|#~!", *c) ? "\\%c" : "%c", *c);
    }
    ys_buf_free(&clean);
}

static void put_cell(struct ys_buf *out, bool is_ours, const char *text)
{
    ys_buf_puts(out, " ");
    if (is_ours)
        ys_buf_puts(out, text);
    else
        ys_sheet_escape(out, text);
    ys_buf_puts(out, " |");
}

static void put_row(struct ys_buf *out, const struct ys_sheet *sheet, size_t row)
{
    ys_buf_puts(out, "|");
    for (size_t c = 0; c < sheet->column_count; c++) {
        const size_t note = c == 1 ? sheet->rows[row].note : 0, text = ys_sheet_cell(sheet, row, c)->text;
        put_cell(out, sheet->columns[c].kind == YS_COLUMN_NUMBER && !note, ys_sheet_text(sheet, note ? note : text));
    }
    ys_buf_puts(out, "\n");
}

static void put_table(struct ys_buf *out, const struct ys_sheet *sheet)
{
    ys_buf_puts(out, "\n|");
    for (size_t c = 0; c < sheet->column_count; c++)
        put_cell(out, false, ys_sheet_text(sheet, sheet->columns[c].head));
    ys_buf_puts(out, "\n|");
    for (size_t c = 0; c < sheet->column_count; c++)
        ys_buf_puts(out, ys_sheet_is_right(sheet, c) ? " ---: |" : " --- |");
    ys_buf_puts(out, "\n");
    for (size_t r = 0; r < sheet->row_count; r++)
        put_row(out, sheet, r);
}

void ys_sheet_as_markdown(const struct ys_sheet *sheet, struct ys_buf *out)
{
    if (sheet->row_count)
        put_table(out, sheet);
    if (sheet->item_count && sheet->title && !sheet->row_count) {
        ys_buf_puts(out, "\n");
        ys_sheet_escape(out, sheet->title);
        ys_buf_puts(out, ":\n");
    }
    for (size_t i = 0; i < sheet->item_count; i++) {
        ys_buf_puts(out, i ? "- " : "\n- ");
        ys_sheet_escape(out, ys_sheet_text(sheet, sheet->items[i]));
        ys_buf_puts(out, "\n");
    }
}
