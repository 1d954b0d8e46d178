#include "base/mem.h"
#include "report/sheet/sheet.h"
#include "tap.h"

static struct ys_buf out;

static struct ys_sheet make(const struct ys_medium *medium)
{
    struct ys_sheet sheet = ys_sheet_init(medium);
    ys_sheet_column(&sheet, YS_FORM_ALL, YS_COLUMN_NAME, "name", NULL);
    ys_sheet_column(&sheet, YS_FORM_ALL, YS_COLUMN_NUMBER, "Top bottom", "top\nbottom");
    ys_sheet_column(&sheet, YS_FORM_PAGE, YS_COLUMN_TEXT, "Page", NULL);
    ys_sheet_column(&sheet, YS_FORM_ALL, YS_COLUMN_MEASURE, "x", NULL);
    ys_sheet_row(&sheet);
    ys_sheet_put(&sheet, YS_MOOD_PLAIN, "a");
    ys_sheet_number(&sheet, 1, "1");
    ys_sheet_put(&sheet, YS_MOOD_PLAIN, "of the page");
    ys_sheet_put(&sheet, YS_MOOD_GOOD, "22");
    return sheet;
}

static const char *written(struct ys_sheet *sheet)
{
    ys_buf_clear(&out);
    ys_buf_puts(&out, "");
    ys_sheet_write(sheet, &out);
    return ys_buf_text(&out);
}

static const char *text(int width, bool colour)
{
    struct ys_sheet sheet = make(&(struct ys_medium){.form = YS_FORM_TEXT, .width = width, .colour = colour});
    return written(&sheet);
}

static void columns_align_and_headings_stand_at_the_bottom(void)
{
    CHECK_TEXT(text(80, false), "         top\nname  bottom   x\na          1  22\n");
}

static void gaps_narrow_before_the_table_is_split(void)
{
    CHECK_TEXT(text(14, false), "        top\nname bottom  x\na         1 22\n");
}

static void a_table_too_wide_goes_on_below_with_its_names(void)
{
    CHECK_TEXT(text(13, false), "         top\nname  bottom\na          1\n\nname   x\na     22\n");
}

static void colour_paints_the_text_and_not_the_blanks(void)
{
    CHECK_HAS(text(80, true), "a          1  \x1B[32m22\x1B[0m\n");
}

static void notes_flow_over_the_cells(void)
{
    struct ys_sheet sheet = make(&(struct ys_medium){.form = YS_FORM_TEXT, .width = 18, .indent = 2});
    ys_sheet_more(&sheet, YS_MOOD_BAD, "but of it");
    ys_sheet_row(&sheet);
    ys_sheet_put(&sheet, YS_MOOD_PLAIN, "b");
    ys_sheet_note(&sheet, "broken: here\nis why");
    ys_sheet_item(&sheet, "an item");
    CHECK_TEXT(written(&sheet),
               "           top\n  name  bottom   x\n  a          1  22\n        but of it\n  b     broken:\n"
               "        here is\n        why\n  * an item\n");
}

static void wide_characters_take_two_columns(void)
{
    struct ys_sheet sheet = make(&(struct ys_medium){.form = YS_FORM_TEXT, .width = 80});
    ys_sheet_row(&sheet);
    ys_sheet_put(&sheet, YS_MOOD_PLAIN, "\xE6\x97\xA5\xE6\x9C\xAC");
    ys_sheet_put(&sheet, YS_MOOD_PLAIN, "3");
    CHECK_HAS(written(&sheet), "a          1  22\n\xE6\x97\xA5\xE6\x9C\xAC       3\n");
}

static void cells_of_a_terminal_are_cleaned(void)
{
    struct ys_sheet sheet = make(&(struct ys_medium){.form = YS_FORM_TEXT, .width = 80});
    ys_sheet_row(&sheet);
    ys_sheet_printf(&sheet, YS_MOOD_PLAIN, "%s", "b\n\x1B[2J");
    ys_sheet_put(&sheet, YS_MOOD_PLAIN, "\x1B[2J9\n");
    CHECK_HAS(written(&sheet), "b         9\n");
}

static void an_empty_table_prints_nothing(void)
{
    static const enum ys_sheet_form forms[] = {YS_FORM_TEXT, YS_FORM_PAGE, YS_FORM_MARKDOWN};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct ys_sheet sheet = ys_sheet_init(&(struct ys_medium){.form = forms[i], .width = 80});
        sheet.title = "title";
        sheet.things = "things";
        sheet.total = 1000;
        ys_sheet_column(&sheet, YS_FORM_ALL, YS_COLUMN_NAME, "name", NULL);
        CHECK_TEXT(written(&sheet), "");
    }
}

static void a_page_has_its_own_columns_and_numbers_to_sort_by(void)
{
    struct ys_sheet sheet = make(&(struct ys_medium){.form = YS_FORM_PAGE});
    sheet.title = "<title>";
    CHECK_TEXT(written(&sheet),
               "<h3>&lt;title&gt;</h3>\n<div class=\"scroll\">\n<table class=\"sort\">\n<tr>\n"
               "<th>name</th>\n<th class=\"n\">Top bottom</th>\n<th>Page</th>\n<th class=\"n\">x</th>\n"
               "</tr>\n<tr>\n<td class=\"name\">a</td>\n<td class=\"n\" data-v=\"1\">1</td>\n"
               "<td>of the page</td>\n<td class=\"n good\">22</td>\n</tr>\n</table>\n</div>\n");
}

static void markdown_escapes_what_is_of_others(void)
{
    struct ys_sheet sheet = make(&(struct ys_medium){.form = YS_FORM_MARKDOWN});
    ys_sheet_row(&sheet);
    ys_sheet_put(&sheet, YS_MOOD_PLAIN, "a|b");
    ys_sheet_put(&sheet, YS_MOOD_PLAIN, "[1, 2]");
    ys_sheet_skip(&sheet, 1);
    ys_sheet_put(&sheet, YS_MOOD_PLAIN, "[3, 4]");
    CHECK_TEXT(written(&sheet), "\n| name | Top bottom | x |\n| --- | ---: | ---: |\n| a | 1 | 22 |\n"
                                "| a\\|b | [1, 2] | \\[3, 4\\] |\n");
}

static void csv_quotes_texts_and_leaves_numbers(void)
{
    struct ys_sheet sheet = make(&(struct ys_medium){.form = YS_FORM_CSV});
    ys_sheet_row(&sheet);
    ys_sheet_put(&sheet, YS_MOOD_PLAIN, "a, \"b\"");
    ys_sheet_number(&sheet, -1, "-1");
    ys_sheet_skip(&sheet, 1);
    ys_sheet_put(&sheet, YS_MOOD_PLAIN, "-1");
    CHECK_TEXT(written(&sheet), "name,Top bottom,x\na,1,22\n\"a, \"\"b\"\"\",-1,\"'-1\"\n");
}

TAP_MAIN(TAP_CASE(columns_align_and_headings_stand_at_the_bottom), TAP_CASE(gaps_narrow_before_the_table_is_split),
         TAP_CASE(a_table_too_wide_goes_on_below_with_its_names), TAP_CASE(notes_flow_over_the_cells),
         TAP_CASE(wide_characters_take_two_columns), TAP_CASE(colour_paints_the_text_and_not_the_blanks),
         TAP_CASE(cells_of_a_terminal_are_cleaned), TAP_CASE(an_empty_table_prints_nothing),
         TAP_CASE(a_page_has_its_own_columns_and_numbers_to_sort_by), TAP_CASE(markdown_escapes_what_is_of_others),
         TAP_CASE(csv_quotes_texts_and_leaves_numbers))
