/* A sheet in the page: a table with a cell's number beside its text, by which a script sorts it, and a list. */
#include "report/clean_text.h"
#include "report/page_parts.h"
#include "report/sheet/sheet_forms.h"

#include <math.h>

static void put_class(struct ys_buf *out, enum ys_column_kind kind, enum ys_mood mood)
{
    static const char *const kinds[] = {
        [YS_COLUMN_NAME] = "name", [YS_COLUMN_TEXT] = "",     [YS_COLUMN_WIDE] = "wide", [YS_COLUMN_WHOLE] = "whole",
        [YS_COLUMN_NUMBER] = "n",  [YS_COLUMN_MEASURE] = "n", [YS_COLUMN_VERDICT] = "v", [YS_COLUMN_FLAG] = "v"};
    static const char *const moods[] = {[YS_MOOD_PLAIN] = "",
                                        [YS_MOOD_GOOD] = "good",
                                        [YS_MOOD_BAD] = "bad",
                                        [YS_MOOD_SOFT] = "soft",
                                        [YS_MOOD_FAINT] = ""};
    const char *of_kind = kind == YS_COLUMN_FLAG && !moods[mood][0] ? "" : kinds[kind], *of_mood = moods[mood];
    if (of_kind[0] || of_mood[0])
        ys_buf_printf(out, " class=\"%s%s%s\"", of_kind, of_kind[0] && of_mood[0] ? " " : "", of_mood);
}

static void put_cell(struct ys_buf *out, const struct ys_sheet *sheet, size_t row, size_t column)
{
    const struct ys_sheet_cell *cell = ys_sheet_cell(sheet, row, column);
    ys_buf_puts(out, "<td");
    put_class(out, sheet->columns[column].kind, cell->mood);
    if (isfinite(cell->value))
        ys_buf_printf(out, " data-v=\"%.6g\"", cell->value);
    ys_buf_puts(out, ">");
    ys_text_html(out, ys_sheet_text(sheet, cell->text));
    ys_buf_puts(out, "</td>\n");
}

/* `text` over `columns` cells. */
static void put_over(struct ys_buf *out, size_t columns, enum ys_mood mood, const char *text)
{
    ys_buf_puts(out, "<td");
    put_class(out, YS_COLUMN_TEXT, mood);
    ys_buf_printf(out, " colspan=\"%zu\">", columns);
    ys_html_put(out, "span", NULL, text);
    ys_buf_puts(out, "</td>\n</tr>\n");
}

static void put_row(struct ys_buf *out, const struct ys_sheet *sheet, size_t index)
{
    const struct ys_sheet_row *row = &sheet->rows[index];
    const size_t shown = row->note ? 1 : sheet->column_count;
    ys_buf_puts(out, "<tr>\n");
    for (size_t c = 0; c < shown; c++)
        put_cell(out, sheet, index, c);
    if (row->note)
        put_over(out, sheet->column_count - 1, YS_MOOD_BAD, ys_sheet_text(sheet, row->note));
    else
        ys_buf_puts(out, "</tr>\n");
    if (!row->more)
        return;
    const bool is_beside = row->mood == YS_MOOD_BAD;
    ys_buf_puts(out, is_beside ? "<tr class=\"more\">\n<td></td>\n" : "<tr class=\"more\">\n");
    put_over(out, sheet->column_count - is_beside, row->mood, ys_sheet_text(sheet, row->more));
}

static void put_table(struct ys_buf *out, const struct ys_sheet *sheet)
{
    if (sheet->remark)
        ys_html_put(out, "p", "soft", sheet->remark);
    ys_buf_printf(out, "<div class=\"scroll\">\n<table%s>\n", sheet->is_plain ? "" : " class=\"sort\"");
    bool has_heads = false;
    for (size_t c = 0; c < sheet->column_count; c++)
        has_heads |= sheet->columns[c].head != 0;
    ys_buf_puts(out, has_heads ? "<tr>\n" : "");
    for (size_t c = 0; has_heads && c < sheet->column_count; c++)
        ys_html_put(out, "th", ys_sheet_is_right(sheet, c) ? "n" : NULL, ys_sheet_text(sheet, sheet->columns[c].head));
    ys_buf_puts(out, has_heads ? "</tr>\n" : "");
    for (size_t r = 0; r < sheet->row_count; r++)
        put_row(out, sheet, r);
    ys_buf_puts(out, "</table>\n</div>\n");
}

void ys_sheet_as_page(const struct ys_sheet *sheet, struct ys_buf *out)
{
    if (sheet->title && (sheet->row_count || sheet->item_count))
        ys_html_put(out, "h3", NULL, sheet->title);
    if (sheet->row_count || sheet->keeps_heads)
        put_table(out, sheet);
    ys_buf_puts(out, sheet->item_count ? "<ul>\n" : "");
    for (size_t i = 0; i < sheet->item_count && i < YS_SHEET_MOST; i++)
        ys_html_put(out, "li", NULL, ys_sheet_text(sheet, sheet->items[i]));
    ys_buf_puts(out, sheet->item_count ? "</ul>\n" : "");
    if (sheet->things && (sheet->row_count || sheet->item_count || sheet->keeps_heads))
        ys_html_say_cut(out, sheet->view, YS_SHEET_MOST, sheet->total, sheet->things);
}
