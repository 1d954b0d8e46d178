/* A sheet on a terminal: a table that keeps to a width. Its first columns name the row; when the others do not fit
 * beside them, the table goes on below itself with the naming columns repeated. */
#include "base/mem.h"
#include "report/clean_text.h"
#include "report/sheet/sheet_forms.h"

#include <string.h>

/* How a table is set: worked out once before printing. */
struct table_layout {
    const struct ys_sheet *sheet;
    int indent, width, gap;
    int *widths;
    int naming_width; /* of the naming columns and the gaps between them */
    bool colour;
};

static const char *head_of(const struct ys_sheet *sheet, size_t column)
{
    return ys_sheet_text(sheet, sheet->columns[column].head);
}

static const char *text_at(const struct ys_sheet *sheet, size_t row, size_t column)
{
    return ys_sheet_text(sheet, ys_sheet_cell(sheet, row, column)->text);
}

/** Line `line` (0 or 1, counted from the last) of a heading: the bottom line of a one-line heading is all of it. */
static void head_line(const char *head, int line, struct ys_buf *text)
{
    const char *cut = strchr(head, '\n');
    if (!cut) {
        ys_buf_puts(text, line == 0 ? head : "");
        return;
    }
    if (line == 0)
        ys_buf_puts(text, cut + 1);
    else
        ys_buf_append(text, head, (size_t)(cut - head));
}

static int head_width(const char *head)
{
    int width = 0;
    for (int line = 0; line < 2; line++) {
        struct ys_buf text = {0};
        head_line(head, line, &text);
        int one = ys_text_width(ys_buf_text(&text));
        width = one > width ? one : width;
        ys_buf_free(&text);
    }
    return width;
}

/** Narrows the widest naming column until all of them leave room for the rest. */
static void fit_naming(struct table_layout *layout)
{
    const struct ys_sheet *sheet = layout->sheet;
    int room = (layout->width - layout->indent) * 45 / 100;
    size_t naming = sheet->naming < sheet->column_count ? sheet->naming : sheet->column_count;
    for (;;) {
        size_t widest = 0;
        int total = 0;
        for (size_t c = 0; c < naming; c++) {
            total += layout->widths[c] + (c ? layout->gap : 0);
            widest = layout->widths[c] > layout->widths[widest] ? c : widest;
        }
        layout->naming_width = total;
        if (total <= room || layout->widths[widest] <= 1)
            return;
        layout->widths[widest]--;
    }
}

static void measure(struct table_layout *layout)
{
    const struct ys_sheet *sheet = layout->sheet;
    for (size_t c = 0; c < sheet->column_count; c++) {
        int width = head_width(head_of(sheet, c));
        for (size_t r = 0; r < sheet->row_count; r++) {
            const int one = ys_text_width(text_at(sheet, r, c));
            width = one > width ? one : width;
        }
        layout->widths[c] = width > 0 ? width : 1;
    }
    for (layout->gap = 2; layout->gap > 0; layout->gap--) {
        int total = layout->indent - layout->gap;
        for (size_t c = 0; c < sheet->column_count; c++)
            total += layout->gap + layout->widths[c];
        if (total <= layout->width)
            break;
    }
    if (layout->gap == 0)
        layout->gap = 2;
    fit_naming(layout);
    int room = layout->width - layout->indent - layout->naming_width - layout->gap;
    for (size_t c = sheet->naming; c < sheet->column_count; c++)
        if (layout->widths[c] > room)
            layout->widths[c] = room;
}

/** The column after the last one that fits in a block that begins with column `from`. */
static size_t block_end(const struct table_layout *layout, size_t from)
{
    int used = layout->indent + layout->naming_width;
    size_t c = from;
    while (c < layout->sheet->column_count && used + layout->gap + layout->widths[c] <= layout->width)
        used += layout->gap + layout->widths[c++];
    return c > from ? c : from + 1;
}

static void put_cell(const struct table_layout *layout, size_t column, const char *text, enum ys_mood mood, bool last,
                     struct ys_buf *out)
{
    static const char *const codes[] = {[YS_MOOD_PLAIN] = "",
                                        [YS_MOOD_GOOD] = "\x1B[32m",
                                        [YS_MOOD_BAD] = "\x1B[31m",
                                        [YS_MOOD_SOFT] = "\x1B[2m",
                                        [YS_MOOD_FAINT] = "\x1B[2m"};
    struct ys_buf clipped = {0};
    ys_text_clip(&clipped, text, layout->widths[column]);
    int blanks = layout->widths[column] - ys_text_width(ys_buf_text(&clipped));
    bool right = ys_sheet_is_right(layout->sheet, column);
    bool painted = layout->colour && mood != YS_MOOD_PLAIN && text[0];
    ys_buf_printf(out, "%*s%s%s%s", right ? blanks : 0, "", painted ? codes[mood] : "", ys_buf_text(&clipped),
                  painted ? "\x1B[0m" : "");
    if (!right && !last)
        ys_buf_printf(out, "%*s", blanks, "");
    ys_buf_free(&clipped);
}

static void trim_blanks(struct ys_buf *out)
{
    while (out->size > 0 && out->data[out->size - 1] == ' ')
        out->data[--out->size] = 0;
}

static void put_cells(const struct table_layout *layout, size_t row, size_t from, size_t to, bool is_last,
                      struct ys_buf *out)
{
    for (size_t c = from; c < to; c++) {
        const struct ys_sheet_cell *cell = ys_sheet_cell(layout->sheet, row, c);
        ys_buf_printf(out, "%*s", c > 0 ? layout->gap : 0, "");
        put_cell(layout, c, ys_sheet_text(layout->sheet, cell->text), cell->mood, is_last && c + 1 == to, out);
    }
}

/* In place of cells: whole in the first part of the table, and its beginning in the others. */
static void put_note(const struct table_layout *layout, const char *note, bool is_first, struct ys_buf *out)
{
    const int used = layout->indent + layout->naming_width + layout->gap;
    ys_buf_printf(out, "%*s%s", layout->gap, "", layout->colour ? "\x1B[31m" : "");
    if (is_first) {
        ys_text_wrap(out, note, used, used, layout->width);
    } else {
        ys_text_clip(out, note, layout->width - used);
        ys_buf_puts(out, "\n");
    }
    ys_text_end_colour(out, layout->colour);
}

static void put_row(const struct table_layout *layout, size_t index, size_t from, size_t to, struct ys_buf *out)
{
    const struct ys_sheet *sheet = layout->sheet;
    const struct ys_sheet_row *row = &sheet->rows[index];
    const bool is_first = from == sheet->naming;
    ys_buf_printf(out, "%*s", layout->indent, "");
    put_cells(layout, index, 0, sheet->naming, false, out);
    if (row->note) {
        put_note(layout, ys_sheet_text(sheet, row->note), is_first, out);
    } else {
        put_cells(layout, index, from, to, true, out);
        trim_blanks(out);
        ys_buf_puts(out, "\n");
    }
    if (row->more) {
        ys_buf_printf(out, "%*s", layout->indent + layout->naming_width, "");
        put_note(layout, ys_sheet_text(sheet, row->more), is_first, out);
    }
}

static void put_head(const struct table_layout *layout, size_t from, size_t to, struct ys_buf *out)
{
    const struct ys_sheet *sheet = layout->sheet;
    bool two = false;
    for (size_t c = 0; c < to; c++)
        two |= (c < sheet->naming || c >= from) && strchr(head_of(sheet, c), '\n');
    for (int line = two; line >= 0; line--) {
        ys_buf_printf(out, "%*s", layout->indent, "");
        for (size_t c = 0; c < to; c++) {
            if (c >= sheet->naming && c < from)
                continue;
            struct ys_buf text = {0};
            head_line(head_of(sheet, c), line, &text);
            ys_buf_printf(out, "%*s", c ? layout->gap : 0, "");
            put_cell(layout, c, ys_buf_text(&text), YS_MOOD_FAINT, c + 1 == to, out);
            ys_buf_free(&text);
        }
        trim_blanks(out);
        ys_buf_puts(out, "\n");
    }
}

static void put_table(const struct ys_sheet *sheet, struct ys_buf *out)
{
    struct table_layout layout = {.sheet = sheet,
                                  .indent = sheet->medium.indent,
                                  .width = sheet->medium.width,
                                  .colour = sheet->medium.colour,
                                  .widths = ys_alloc(sheet->column_count, sizeof *layout.widths)};
    measure(&layout);
    for (size_t from = sheet->naming, to; from < sheet->column_count; from = to) {
        to = block_end(&layout, from);
        if (from > sheet->naming)
            ys_buf_puts(out, "\n");
        put_head(&layout, from, to, out);
        for (size_t r = 0; r < sheet->row_count; r++)
            put_row(&layout, r, from, to, out);
    }
    ys_free(layout.widths);
}

static void put_title(const struct ys_sheet *sheet, struct ys_buf *out)
{
    ys_buf_puts(out, sheet->medium.colour ? "\n\x1B[1m" : "\n");
    ys_text_wrap(out, sheet->title, 0, 0, sheet->medium.width);
    ys_text_end_colour(out, sheet->medium.colour);
}

void ys_sheet_as_text(const struct ys_sheet *sheet, struct ys_buf *out)
{
    if (sheet->title && (sheet->row_count || sheet->item_count))
        put_title(sheet, out);
    if (sheet->row_count)
        put_table(sheet, out);
    for (size_t i = 0; i < sheet->item_count; i++) {
        ys_buf_puts(out, "  * ");
        ys_text_wrap(out, ys_sheet_text(sheet, sheet->items[i]), 4, 4, sheet->medium.width);
    }
}
