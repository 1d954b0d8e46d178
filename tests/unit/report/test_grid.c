#include "report/grid.h"
#include "tap.h"

static struct ys_buf out;

static const char *print(struct ys_grid *grid, int indent, int width, bool colour)
{
    ys_buf_clear(&out);
    ys_buf_puts(&out, "");
    CHECK_INT(ys_grid_print(grid, indent, width, colour, &out), YS_OK);
    return ys_buf_text(&out);
}

static void make(struct ys_grid *grid)
{
    ys_grid_init(grid, 1);
    ys_grid_column(grid, "name", false);
    ys_grid_column(grid, "top\nbottom", true);
    ys_grid_column(grid, "x", true);
    ys_grid_row(grid);
    ys_grid_cell(grid, 0, YS_GRID_PLAIN, "a");
    ys_grid_cell(grid, 1, YS_GRID_PLAIN, "1");
    ys_grid_cell(grid, 2, YS_GRID_GOOD, "22");
}

static void columns_align_and_headings_stand_at_the_bottom(void)
{
    struct ys_grid grid;
    make(&grid);
    CHECK_TEXT(print(&grid, 0, 80, false), "         top\nname  bottom   x\na          1  22\n");
    ys_grid_fini(&grid);
}

static void gaps_narrow_before_the_table_is_split(void)
{
    struct ys_grid grid;
    make(&grid);
    CHECK_TEXT(print(&grid, 0, 14, false), "        top\nname bottom  x\na         1 22\n");
    ys_grid_fini(&grid);
}

static void a_table_too_wide_goes_on_below_with_its_names(void)
{
    struct ys_grid grid;
    make(&grid);
    CHECK_TEXT(print(&grid, 0, 13, false), "         top\nname  bottom\na          1\n\nname   x\na     22\n");
    ys_grid_fini(&grid);
}

static void notes_flow_over_the_cells(void)
{
    struct ys_grid grid;
    make(&grid);
    ys_grid_row(&grid);
    ys_grid_cell(&grid, 0, YS_GRID_PLAIN, "b");
    ys_grid_note(&grid, "broken: here\nis why");
    CHECK_TEXT(print(&grid, 2, 18, false),
               "           top\n  name  bottom   x\n  a          1  22\n  b     broken:\n        here is\n"
               "        why\n");
    ys_grid_fini(&grid);
}

static void wide_characters_take_two_columns(void)
{
    struct ys_grid grid;
    make(&grid);
    ys_grid_row(&grid);
    ys_grid_cell(&grid, 0, YS_GRID_PLAIN, "\xE6\x97\xA5\xE6\x9C\xAC");
    ys_grid_cell(&grid, 1, YS_GRID_PLAIN, "3");
    CHECK_HAS(print(&grid, 0, 80, false), "a          1  22\n\xE6\x97\xA5\xE6\x9C\xAC       3\n");
    ys_grid_fini(&grid);
}

static void colour_paints_the_text_and_not_the_blanks(void)
{
    struct ys_grid grid;
    make(&grid);
    CHECK_HAS(print(&grid, 0, 80, true), "a          1  \x1B[32m22\x1B[0m\n");
    ys_grid_fini(&grid);
}

static void cells_are_cleaned(void)
{
    struct ys_grid grid;
    make(&grid);
    ys_grid_cell(&grid, 1, YS_GRID_PLAIN, "\x1B[2J9\n");
    CHECK_HAS(print(&grid, 0, 80, false), "a         9   22\n");
    ys_grid_fini(&grid);
}

static void an_empty_table_prints_nothing(void)
{
    struct ys_grid grid;
    ys_grid_init(&grid, 1);
    ys_grid_column(&grid, "name", false);
    CHECK_TEXT(print(&grid, 0, 80, false), "");
    ys_grid_fini(&grid);
}

TAP_MAIN(TAP_CASE(columns_align_and_headings_stand_at_the_bottom), TAP_CASE(gaps_narrow_before_the_table_is_split),
         TAP_CASE(a_table_too_wide_goes_on_below_with_its_names), TAP_CASE(notes_flow_over_the_cells),
         TAP_CASE(wide_characters_take_two_columns), TAP_CASE(colour_paints_the_text_and_not_the_blanks),
         TAP_CASE(cells_are_cleaned), TAP_CASE(an_empty_table_prints_nothing))
