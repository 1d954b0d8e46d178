/* Which version made the change, as plain text. */
#include "base/mem.h"
#include "report/clean_text.h"
#include "report/judged/judged.h"

#include <math.h>

/* Nothing of what is not known. */
static void put_figure(struct ys_sheet *sheet, bool is_ratio, double value)
{
    if (!isfinite(value))
        ys_sheet_skip(sheet, 1);
    else if (is_ratio)
        ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%.3fx", value);
    else
        ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%.2g", value);
}

static void add_row(struct ys_sheet *sheet, const struct ys_bisect_step *step)
{
    ys_sheet_row(sheet);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, step->version);
    ys_sheet_put(sheet,
                 step->side == YS_BISECT_BAD    ? YS_MOOD_BAD
                 : step->side == YS_BISECT_GOOD ? YS_MOOD_GOOD
                                                : YS_MOOD_FAINT,
                 ys_name_of(&ys_bisect_sides, step->side));
    ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%lld", (long long)step->rounds);
    put_figure(sheet, false, step->p);
    put_figure(sheet, true, step->to_good);
    put_figure(sheet, true, step->to_bad);
    ys_sheet_put(sheet, YS_MOOD_FAINT, step->reason);
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
    ys_buf_free(&text);
}

void ys_report_bisected(const struct ys_bisected *told, int width, bool colour, struct ys_buf *out)
{
    static const char *const heads[] = {"version", "counts as", "rounds", "p", "to the good", "to the bad", ""};
    const struct ys_bisect_step *steps = told->steps.items;
    const struct ys_medium medium = {.form = YS_FORM_TEXT, .width = width, .indent = 2, .colour = colour};
    struct ys_sheet sheet = ys_sheet_init(&medium);
    struct ys_buf looks = {0};
    ys_text_wrap(out, told->sentence, 0, 0, width);
    ys_buf_puts(out, "\n");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        ys_sheet_column(&sheet, YS_FORM_TEXT, i >= 2 && i < 6 ? YS_COLUMN_NUMBER : YS_COLUMN_TEXT, heads[i], NULL);
    for (size_t i = 0; i < told->steps.count; i++)
        add_row(&sheet, &steps[i]);
    ys_sheet_write(&sheet, out);
    ys_buf_printf(&looks, "%s; a look decides at p <= %.2g", told->metric, told->level);
    ys_buf_puts(out, "  ");
    ys_text_wrap(out, ys_buf_text(&looks), 2, 2, width);
    ys_buf_free(&looks);
    put_unpinned(told, width, out);
}
