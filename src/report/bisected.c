/* Which version made the change, as plain text. */
#include "base/mem.h"
#include "report/grid.h"
#include "report/judged.h"
#include "report/text.h"

#include <math.h>

static void put_ratio(struct ys_grid *grid, size_t column, double ratio)
{
    struct ys_buf text = {0};
    if (isfinite(ratio))
        ys_buf_printf(&text, "%.3fx", ratio);
    ys_grid_cell(grid, column, YS_GRID_PLAIN, ys_buf_text(&text));
    grid->failed |= text.failed;
    ys_buf_free(&text);
}

static void add_row(struct ys_grid *grid, const struct ys_bisect_step *step)
{
    struct ys_buf text = {0};
    ys_grid_row(grid);
    ys_grid_cell(grid, 0, YS_GRID_PLAIN, step->version);
    ys_grid_cell(grid, 1,
                 step->side == YS_BISECT_BAD    ? YS_GRID_BAD
                 : step->side == YS_BISECT_GOOD ? YS_GRID_GOOD
                                                : YS_GRID_DIM,
                 ys_name_of(&ys_bisect_sides, step->side));
    ys_buf_printf(&text, "%lld", (long long)step->rounds);
    ys_grid_cell(grid, 2, YS_GRID_PLAIN, ys_buf_text(&text));
    ys_buf_clear(&text);
    if (isfinite(step->p))
        ys_buf_printf(&text, "%.2g", step->p);
    ys_grid_cell(grid, 3, YS_GRID_PLAIN, ys_buf_text(&text));
    put_ratio(grid, 4, step->to_good);
    put_ratio(grid, 5, step->to_bad);
    ys_grid_cell(grid, 6, YS_GRID_DIM, step->reason ? step->reason : "");
    grid->failed |= text.failed;
    ys_buf_free(&text);
}

/* Which versions were made of what a resolver chose. */
static void put_unpinned(const struct ys_bisected *told, int width, struct ys_buf *out)
{
    char *const *versions = told->unpinned.items;
    struct ys_buf text = {0};
    for (size_t i = 0; i < told->unpinned.count; i++)
        ys_buf_printf(&text, "%s%s", i ? ", " : "Not pinned by a recipe, but resolved when installed: ", versions[i]);
    if (told->unpinned.count) {
        ys_text_wrap(out, ys_buf_text(&text), 2, 2, width);
        ys_buf_puts(out, "\n");
    }
    out->failed |= text.failed;
    ys_buf_free(&text);
}

ys_status ys_report_bisected(const struct ys_bisected *told, int width, bool colour, struct ys_buf *out)
{
    static const char *const heads[] = {"version", "counts as", "rounds", "p", "to the good", "to the bad", ""};
    const struct ys_bisect_step *steps = told->steps.items;
    struct ys_grid grid;
    struct ys_buf looks = {0};
    ys_text_wrap(out, told->sentence, 0, 0, width);
    ys_buf_puts(out, "\n");
    ys_grid_init(&grid, 1);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        ys_grid_column(&grid, heads[i], i >= 2 && i < 6);
    for (size_t i = 0; i < told->steps.count; i++)
        add_row(&grid, &steps[i]);
    ys_status status = ys_grid_print(&grid, 2, width, colour, out);
    ys_grid_fini(&grid);
    ys_buf_printf(&looks, "%s; a look decides at p <= %.2g", told->metric, told->level);
    ys_buf_puts(out, "  ");
    ys_text_wrap(out, ys_buf_text(&looks), 2, 2, width);
    out->failed |= looks.failed;
    ys_buf_free(&looks);
    put_unpinned(told, width, out);
    return status == YS_OK && out->failed ? ys_out_of_memory() : status;
}
