/* A sheet as CSV (RFC 4180, with LF). */
#include "report/clean_text.h"
#include "report/sheet/sheet_forms.h"

#include <math.h>
#include <string.h>

/* A field, in quotes where it must be. What a spreadsheet would take for a formula gets an apostrophe in front. */
static void put_text(struct ys_buf *out, const char *text)
{
    struct ys_buf clean = {0};
    ys_text_clean(&clean, text, false);
    const char *c = ys_buf_text(&clean);
    const bool is_formula = *c && strchr("=+-@", *c);
    if (!is_formula && !strpbrk(c, ",\"\n")) {
        ys_buf_puts(out, c);
    } else {
        ys_buf_puts(out, is_formula ? "\"'" : "\"");
        for (; *c; c++)
            ys_buf_printf(out, *c == '"' ? "\"\"" : "%c", *c);
        ys_buf_puts(out, "\"");
    }
    ys_buf_free(&clean);
}

void ys_sheet_as_csv(const struct ys_sheet *sheet, struct ys_buf *out)
{
    for (size_t c = 0; c < sheet->column_count; c++) {
        ys_buf_puts(out, c ? "," : "");
        put_text(out, ys_sheet_text(sheet, sheet->columns[c].head));
    }
    ys_buf_puts(out, "\n");
    for (size_t r = 0; r < sheet->row_count; r++) {
        for (size_t c = 0; c < sheet->column_count; c++) {
            const struct ys_sheet_cell *cell = ys_sheet_cell(sheet, r, c);
            ys_buf_puts(out, c ? "," : "");
            if (isfinite(cell->value)) /* all its digits, and a sign that is no formula */
                ys_buf_puts(out, ys_sheet_text(sheet, cell->text));
            else
                put_text(out, ys_sheet_text(sheet, cell->text));
        }
        ys_buf_puts(out, "\n");
    }
}
