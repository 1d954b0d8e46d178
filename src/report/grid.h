/* A text table that keeps to a width. Its first columns name the row; when the others do not fit beside them, the table
 * goes on below itself with the naming columns repeated. */
#ifndef YS_REPORT_GRID_H
#define YS_REPORT_GRID_H

#include "base/buf.h"
#include <stdbool.h>
#include <stddef.h>

#define YS_GRID_COLUMNS 40

enum ys_grid_style { YS_GRID_PLAIN, YS_GRID_GOOD, YS_GRID_BAD, YS_GRID_DIM };

struct ys_grid_cell {
    char *text; /* clean; NULL is empty */
    enum ys_grid_style style;
};

struct ys_grid_row {
    struct ys_grid_cell cells[YS_GRID_COLUMNS];
    char *note; /* instead of the cells after the naming ones, whole in the first part of the table and its
                   beginning in the others; NULL for none */
};

struct ys_grid {
    size_t naming; /* leading columns that name the row */
    size_t columns;
    struct {
        char *head; /* owned, cleaned; "top\nbottom" for two lines */
        bool right; /* aligned right */
    } column[YS_GRID_COLUMNS];
    struct ys_grid_row *rows;
    size_t count, capacity;
    bool failed; /* memory ran out: print says so */
};

void ys_grid_init(struct ys_grid *grid, size_t naming);
void ys_grid_fini(struct ys_grid *grid);
/** Adds a column; beyond YS_GRID_COLUMNS it is dropped. `head` is copied, without what a terminal would take for a
 * command. */
void ys_grid_column(struct ys_grid *grid, const char *head, bool right);
void ys_grid_row(struct ys_grid *grid);
/** Sets a cell of the last row; `text` is copied and cleaned. */
void ys_grid_cell(struct ys_grid *grid, size_t column, enum ys_grid_style style, const char *text);
/** Lets `text` (copied and cleaned) take the place of all cells of the last row but the naming ones. */
void ys_grid_note(struct ys_grid *grid, const char *text);
/** Appends the table, each line begun with `indent` blanks and at most `width` columns wide; nothing without rows. */
ys_status ys_grid_print(const struct ys_grid *grid, int indent, int width, bool colour,
                        struct ys_buf *out) YS_MUST_CHECK;

#endif
