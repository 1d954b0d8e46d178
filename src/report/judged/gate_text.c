/* What came out of a gate: for people, for a pull request, for a CI's list of test cases. */
#include "base/mem.h"
#include "metric/metric.h"
#include "report/clean_text.h"
#include "report/judged/judged.h"
#include "report/label.h"

#include <math.h>
#include <string.h>

static enum ys_mood mood_of(int outcome)
{
    return outcome == YS_GATE_HOLDS ? YS_MOOD_GOOD : outcome == YS_GATE_BROKEN ? YS_MOOD_BAD : YS_MOOD_FAINT;
}

/* "-10.0 % [-10.4, -9.6]" of the baseline; "" where nothing was compared. */
static void put_change(struct ys_buf *out, const struct ys_gate_check *check)
{
    const double *ci = check->ci.items;
    const double from = check->scale == YS_SCALE_RATIO ? 1 : 0;
    double value = check->scale == YS_SCALE_RATIO ? check->ratio : check->difference;
    if (check->scale == YS_NAME_NONE || !isfinite(value))
        return;
    ys_buf_printf(out, "%+.1f %%", 100 * (value - from));
    if (check->ci.count == 2)
        ys_buf_printf(out, " [%+.1f, %+.1f]", 100 * (ci[0] - from), 100 * (ci[1] - from));
}

static void add_row(struct ys_sheet *sheet, const struct ys_gate_check *check)
{
    struct ys_buf change = {0};
    put_change(&change, check);
    ys_sheet_row(sheet);
    ys_sheet_put(sheet, mood_of(check->outcome), ys_name_of(&ys_gate_outcomes, check->outcome));
    ys_sheet_put(sheet, YS_MOOD_PLAIN, check->rule);
    ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_buf_text(&change));
    ys_sheet_put(sheet, YS_MOOD_PLAIN, check->trial);
    ys_buf_free(&change);
}

/* Each once, with how many checks it is the reason of. */
static void put_reasons(const struct ys_gate *gate, int width, struct ys_buf *out)
{
    const struct ys_gate_check *checks = gate->checks.items;
    for (size_t i = 0; i < gate->checks.count; i++) {
        bool said = false;
        for (size_t k = 0; k < i; k++)
            said |= checks[i].reason && checks[k].reason && strcmp(checks[i].reason, checks[k].reason) == 0;
        if (!checks[i].reason || said)
            continue;
        const char *outcome = ys_name_of(&ys_gate_outcomes, checks[i].outcome);
        ys_buf_printf(out, "  * %s: ", outcome);
        ys_text_wrap(out, checks[i].reason, 6 + (int)strlen(outcome), 4, width);
    }
}

void ys_report_gate(const struct ys_gate *gate, int width, bool colour, struct ys_buf *out)
{
    static const struct ys_sheet_column columns[] = {{YS_FORM_TEXT, YS_COLUMN_VERDICT, "outcome", NULL},
                                                     {YS_FORM_TEXT, YS_COLUMN_TEXT, "rule", NULL},
                                                     {YS_FORM_TEXT, YS_COLUMN_NUMBER, "change", NULL},
                                                     {YS_FORM_TEXT, YS_COLUMN_NAME, "trial", NULL}};
    const struct ys_medium medium = {.form = YS_FORM_TEXT, .width = width, .indent = 2, .colour = colour};
    const struct ys_gate_check *checks = gate->checks.items;
    struct ys_sheet sheet = ys_sheet_init(&medium);
    ys_text_wrap(out, gate->sentence, 0, 0, width);
    ys_sheet_columns(&sheet, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < gate->checks.count; i++)
        add_row(&sheet, &checks[i]);
    ys_sheet_write(&sheet, out);
    put_reasons(gate, width, out);
}

/* A cell of a Markdown table: no bars, no markup of its own. */
static void put_cell(struct ys_buf *out, const char *text)
{
    struct ys_buf clean = {0};
    ys_text_html(&clean, text ? text : "");
    for (const char *at = ys_buf_text(&clean); *at; at++)
        ys_buf_printf(out, strchr("|\\`*_[]", *at) ? "\\%c" : "%c", *at);
    ys_buf_free(&clean);
}

void ys_report_gate_markdown(const struct ys_gate *gate, struct ys_buf *out)
{
    const struct ys_gate_check *checks = gate->checks.items;
    const struct ys_judged_difference *differences = gate->differences.items;
    ys_buf_printf(out, "**yardstick: %s.** ", ys_name_of(&ys_gate_outcomes, gate->outcome));
    put_cell(out, gate->sentence);
    ys_buf_puts(out, "\n\n| outcome | rule | change | trial | |\n| --- | --- | ---: | --- | --- |\n");
    for (size_t i = 0; i < gate->checks.count; i++) {
        ys_buf_printf(out, "| %s | ", ys_name_of(&ys_gate_outcomes, checks[i].outcome));
        put_cell(out, checks[i].rule);
        ys_buf_puts(out, " | ");
        put_change(out, &checks[i]);
        ys_buf_puts(out, " | ");
        put_cell(out, checks[i].trial);
        ys_buf_puts(out, " | ");
        put_cell(out, checks[i].reason);
        ys_buf_puts(out, " |\n");
    }
    for (size_t i = 0; i < gate->differences.count; i++) {
        ys_buf_puts(out, i ? "\n* " : "\nOf the machines differs:\n\n* ");
        put_cell(out, differences[i].what);
        ys_buf_puts(out, ": ");
        put_cell(out, differences[i].base ? differences[i].base : "none");
        ys_buf_puts(out, " in the baseline, ");
        put_cell(out, differences[i].candidate ? differences[i].candidate : "none");
    }
    ys_buf_puts(out, gate->differences.count ? "\n" : "");
}

static size_t count_of(const struct ys_gate *gate, int outcome)
{
    const struct ys_gate_check *checks = gate->checks.items;
    size_t count = 0;
    for (size_t i = 0; i < gate->checks.count; i++)
        count += checks[i].outcome == outcome;
    return count;
}

/* JUnit knows failure and error: a broken rule is the one, an open one the other, so that neither passes. */
void ys_report_gate_junit(const struct ys_gate *gate, struct ys_buf *out)
{
    const struct ys_gate_check *checks = gate->checks.items;
    ys_buf_printf(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                  "  <testsuite name=\"yardstick gate\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\">\n",
                  gate->checks.count, count_of(gate, YS_GATE_BROKEN), count_of(gate, YS_GATE_OPEN));
    for (size_t i = 0; i < gate->checks.count; i++) {
        const char *word = checks[i].outcome == YS_GATE_BROKEN ? "failure" : "error";
        ys_buf_puts(out, "    <testcase classname=\"");
        ys_text_html(out, checks[i].trial);
        ys_buf_puts(out, "\" name=\"");
        ys_text_html(out, checks[i].rule);
        if (checks[i].outcome == YS_GATE_HOLDS) {
            ys_buf_puts(out, "\"/>\n");
            continue;
        }
        ys_buf_printf(out, "\">\n      <%s type=\"%s\" message=\"", word,
                      ys_name_of(&ys_gate_outcomes, checks[i].outcome));
        put_change(out, &checks[i]);
        ys_buf_puts(out, checks[i].reason && checks[i].scale != YS_NAME_NONE ? ": " : "");
        ys_text_html(out, checks[i].reason ? checks[i].reason : "");
        ys_buf_puts(out, "\"/>\n    </testcase>\n");
    }
    ys_buf_puts(out, "  </testsuite>\n</testsuites>\n");
}
