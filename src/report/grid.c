#include "report/grid.h"
#include "base/mem.h"
#include "report/text.h"
#include <string.h>

/** How a table is set: worked out once before printing. */
struct layout {
    const struct ys_grid *grid;
    int indent, width, gap;
    int widths[YS_GRID_COLUMNS];
    int naming_width; /* of the naming columns and the gaps between them */
    bool colour;
};

void ys_grid_init(struct ys_grid *grid, size_t naming)
{
    *grid = (struct ys_grid){.naming = naming};
}

void ys_grid_fini(struct ys_grid *grid)
{
    for (size_t r = 0; r < grid->count; r++) {
        for (size_t c = 0; c < YS_GRID_COLUMNS; c++)
            ys_free(grid->rows[r].cells[c].text);
        ys_free(grid->rows[r].note);
    }
    for (size_t c = 0; c < grid->columns; c++)
        ys_free(grid->column[c].head);
    ys_free(grid->rows);
    *grid = (struct ys_grid){0};
}

static char *clean_copy(struct ys_grid *grid, const char *text, bool keep_lines)
{
    struct ys_buf clean = {0};
    ys_buf_puts(&clean, "");
    ys_text_clean(&clean, text, keep_lines);
    char *copy = ys_buf_take(&clean);
    ys_buf_free(&clean);
    grid->failed |= !copy;
    return copy;
}

void ys_grid_column(struct ys_grid *grid, const char *head, bool right)
{
    if (grid->columns == YS_GRID_COLUMNS)
        return;
    char *copy = clean_copy(grid, head, true);
    if (!copy)
        return;
    grid->column[grid->columns].head = copy;
    grid->column[grid->columns++].right = right;
}

void ys_grid_row(struct ys_grid *grid)
{
    struct ys_grid_row *rows = ys_grown(grid->rows, grid->count, &grid->capacity, sizeof *rows);
    if (!rows) {
        grid->failed = true;
        return;
    }
    grid->rows = rows;
    grid->rows[grid->count++] = (struct ys_grid_row){0};
}

void ys_grid_cell(struct ys_grid *grid, size_t column, enum ys_grid_style style, const char *text)
{
    if (grid->failed || grid->count == 0 || column >= grid->columns)
        return;
    struct ys_grid_cell *cell = &grid->rows[grid->count - 1].cells[column];
    ys_free(cell->text);
    cell->text = clean_copy(grid, text, false);
    cell->style = style;
}

void ys_grid_note(struct ys_grid *grid, const char *text)
{
    if (grid->failed || grid->count == 0)
        return;
    struct ys_grid_row *row = &grid->rows[grid->count - 1];
    ys_free(row->note);
    row->note = clean_copy(grid, text, false);
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
static void fit_naming(struct layout *layout)
{
    const struct ys_grid *grid = layout->grid;
    int room = (layout->width - layout->indent) * 45 / 100;
    size_t naming = grid->naming < grid->columns ? grid->naming : grid->columns;
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

static void measure(struct layout *layout)
{
    const struct ys_grid *grid = layout->grid;
    for (size_t c = 0; c < grid->columns; c++) {
        int width = head_width(grid->column[c].head);
        for (size_t r = 0; r < grid->count; r++) {
            const char *text = grid->rows[r].cells[c].text;
            int one = text ? ys_text_width(text) : 0;
            width = one > width ? one : width;
        }
        layout->widths[c] = width > 0 ? width : 1;
    }
    for (layout->gap = 2; layout->gap > 0; layout->gap--) {
        int total = layout->indent - layout->gap;
        for (size_t c = 0; c < grid->columns; c++)
            total += layout->gap + layout->widths[c];
        if (total <= layout->width)
            break;
    }
    if (layout->gap == 0)
        layout->gap = 2;
    fit_naming(layout);
    int room = layout->width - layout->indent - layout->naming_width - layout->gap;
    for (size_t c = grid->naming; c < grid->columns; c++)
        if (layout->widths[c] > room)
            layout->widths[c] = room;
}

/** The column after the last one that fits in a block that begins with column `from`. */
static size_t block_end(const struct layout *layout, size_t from)
{
    int used = layout->indent + layout->naming_width;
    size_t c = from;
    while (c < layout->grid->columns && used + layout->gap + layout->widths[c] <= layout->width)
        used += layout->gap + layout->widths[c++];
    return c > from ? c : from + 1;
}

static void put_cell(const struct layout *layout, size_t column, const char *text, enum ys_grid_style style, bool last,
                     struct ys_buf *out)
{
    static const char *const codes[] = {"", "\x1B[32m", "\x1B[31m", "\x1B[2m"};
    struct ys_buf clipped = {0};
    ys_text_clip(&clipped, text, layout->widths[column]);
    out->failed |= clipped.failed;
    int blanks = layout->widths[column] - ys_text_width(ys_buf_text(&clipped));
    bool right = layout->grid->column[column].right;
    bool painted = layout->colour && style != YS_GRID_PLAIN && text[0];
    ys_buf_printf(out, "%*s%s%s%s", right ? blanks : 0, "", painted ? codes[style] : "", ys_buf_text(&clipped),
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

static void put_row(const struct layout *layout, const struct ys_grid_row *row, size_t from, size_t to,
                    struct ys_buf *out)
{
    const struct ys_grid *grid = layout->grid;
    ys_buf_printf(out, "%*s", layout->indent, "");
    for (size_t c = 0; c < grid->naming; c++) {
        ys_buf_printf(out, "%*s", c ? layout->gap : 0, "");
        put_cell(layout, c, row->cells[c].text ? row->cells[c].text : "", row->cells[c].style, false, out);
    }
    if (row->note) {
        int used = layout->indent + layout->naming_width + layout->gap;
        ys_buf_printf(out, "%*s%s", layout->gap, "", layout->colour ? "\x1B[31m" : "");
        if (from == grid->naming) {
            ys_text_wrap(out, row->note, used, used, layout->width);
        } else {
            ys_text_clip(out, row->note, layout->width - used);
            ys_buf_puts(out, "\n");
        }
        ys_buf_puts(out, layout->colour ? "\x1B[0m" : "");
        return;
    }
    for (size_t c = from; c < to; c++) {
        ys_buf_printf(out, "%*s", c > 0 ? layout->gap : 0, "");
        put_cell(layout, c, row->cells[c].text ? row->cells[c].text : "", row->cells[c].style, c + 1 == to, out);
    }
    trim_blanks(out);
    ys_buf_puts(out, "\n");
}

static void put_head(const struct layout *layout, size_t from, size_t to, struct ys_buf *out)
{
    const struct ys_grid *grid = layout->grid;
    bool two = false;
    for (size_t c = 0; c < to; c++)
        two |= (c < grid->naming || c >= from) && strchr(grid->column[c].head, '\n');
    for (int line = two; line >= 0; line--) {
        ys_buf_printf(out, "%*s", layout->indent, "");
        for (size_t c = 0; c < to; c++) {
            if (c >= grid->naming && c < from)
                continue;
            struct ys_buf text = {0};
            head_line(grid->column[c].head, line, &text);
            out->failed |= text.failed;
            ys_buf_printf(out, "%*s", c ? layout->gap : 0, "");
            put_cell(layout, c, ys_buf_text(&text), YS_GRID_DIM, c + 1 == to, out);
            ys_buf_free(&text);
        }
        trim_blanks(out);
        ys_buf_puts(out, "\n");
    }
}

ys_status ys_grid_print(const struct ys_grid *grid, int indent, int width, bool colour, struct ys_buf *out)
{
    if (grid->failed)
        return ys_out_of_memory();
    if (grid->count == 0 || grid->columns == 0)
        return YS_OK;
    struct layout layout = {.grid = grid, .indent = indent, .width = width, .colour = colour};
    measure(&layout);
    for (size_t from = grid->naming, to; from < grid->columns; from = to) {
        to = block_end(&layout, from);
        if (from > grid->naming)
            ys_buf_puts(out, "\n");
        put_head(&layout, from, to, out);
        for (size_t r = 0; r < grid->count; r++)
            put_row(&layout, &grid->rows[r], from, to, out);
    }
    return out->failed ? ys_out_of_memory() : YS_OK;
}
