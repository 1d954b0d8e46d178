/* A sheet on a terminal. */
#include "report/grid.h"
#include "report/sheet_forms.h"
#include "report/text.h"

static void fill_row(struct ys_grid *grid, const struct ys_sheet *sheet, size_t row)
{
    static const enum ys_grid_style styles[] = {[YS_MOOD_PLAIN] = YS_GRID_PLAIN,
                                                [YS_MOOD_GOOD] = YS_GRID_GOOD,
                                                [YS_MOOD_BAD] = YS_GRID_BAD,
                                                [YS_MOOD_SOFT] = YS_GRID_DIM,
                                                [YS_MOOD_FAINT] = YS_GRID_DIM};
    ys_grid_row(grid);
    for (size_t c = 0; c < sheet->column_count; c++) {
        const struct ys_sheet_cell *cell = ys_sheet_cell(sheet, row, c);
        ys_grid_cell(grid, c, styles[cell->mood], ys_sheet_text(sheet, cell->text));
    }
    if (sheet->rows[row].note)
        ys_grid_note(grid, ys_sheet_text(sheet, sheet->rows[row].note));
    if (!sheet->rows[row].more)
        return;
    ys_grid_row(grid);
    ys_grid_note(grid, ys_sheet_text(sheet, sheet->rows[row].more));
}

static void put_title(const struct ys_sheet *sheet, struct ys_buf *out)
{
    ys_buf_puts(out, sheet->medium.colour ? "\n\x1B[1m" : "\n");
    ys_text_wrap(out, sheet->title, 0, 0, sheet->medium.width);
    ys_buf_puts(out, sheet->medium.colour ? "\x1B[0m" : "");
}

ys_status ys_sheet_as_text(const struct ys_sheet *sheet, struct ys_buf *out)
{
    struct ys_grid grid;
    ys_grid_init(&grid, sheet->naming);
    for (size_t c = 0; c < sheet->column_count; c++)
        ys_grid_column(&grid, ys_sheet_text(sheet, sheet->columns[c].head), ys_sheet_is_right(sheet, c));
    for (size_t r = 0; r < sheet->row_count; r++)
        fill_row(&grid, sheet, r);
    if (sheet->title && (sheet->row_count || sheet->item_count))
        put_title(sheet, out);
    ys_status status = ys_grid_print(&grid, sheet->medium.indent, sheet->medium.width, sheet->medium.colour, out);
    ys_grid_fini(&grid);
    for (size_t i = 0; i < sheet->item_count; i++) {
        ys_buf_puts(out, "  * ");
        ys_text_wrap(out, ys_sheet_text(sheet, sheet->items[i]), 4, 4, sheet->medium.width);
    }
    return status;
}
