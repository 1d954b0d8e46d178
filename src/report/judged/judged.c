/* Two studies against each other, as plain text. */
#include "report/judged/judged.h"

#include "base/mem.h"
#include "metric/metric.h"
#include "report/clean_text.h"
#include "report/label.h"

#include <math.h>
#include <string.h>

static const char *or_none(const char *text)
{
    return text ? text : "none";
}

static void put_side(struct ys_buf *out, const char *head, const struct ys_judged_side *side, int width)
{
    struct ys_buf line = {0};
    ys_buf_puts(&line, or_none(side->name));
    if (side->id != YS_FIELD_NONE)
        ys_buf_printf(&line, ", study %lld", (long long)side->id);
    else
        ys_buf_printf(&line, ", of %s", or_none(side->selector));
    ys_buf_printf(&line, ", %s, yardstick %s", or_none(side->started), or_none(side->version));
    ys_buf_printf(out, "%-11s", head);
    ys_text_wrap(out, ys_buf_text(&line), 11, 11, width);
    ys_buf_free(&line);
}

static void put_differences(struct ys_buf *out, const struct ys_list *list, int width)
{
    const struct ys_judged_difference *all = list->items;
    for (size_t i = 0; i < list->count; i++) {
        struct ys_buf line = {0};
        ys_buf_printf(&line, "%s: %s in the base, %s in the candidate", all[i].what, or_none(all[i].base),
                      or_none(all[i].candidate));
        ys_buf_puts(out, "  * ");
        ys_text_wrap(out, ys_buf_text(&line), 4, 4, width);
        ys_buf_free(&line);
    }
}

/* "1.05x [1.02, 1.08]", "+0.3 % [-0.1, +0.7]" or "-". */
static void put_ratio(struct ys_buf *out, const struct ys_judged_metric *metric)
{
    const double *ci = metric->ci.items;
    bool difference = metric->scale == YS_SCALE_DIFFERENCE;
    double value = difference ? metric->difference : metric->ratio;
    if (!isfinite(value)) {
        ys_buf_puts(out, "-");
        return;
    }
    if (difference)
        ys_buf_printf(out, "%+.2f %%", 100 * value);
    else
        ys_buf_printf(out, "%.3fx", value);
    if (metric->ci.count == 2 && difference)
        ys_buf_printf(out, " [%+.2f, %+.2f]", 100 * ci[0], 100 * ci[1]);
    else if (metric->ci.count == 2)
        ys_buf_printf(out, " [%.3f, %.3f]", ci[0], ci[1]);
}

static enum ys_mood mood_of(int verdict)
{
    return verdict == YS_VERDICT_BETTER  ? YS_MOOD_GOOD
           : verdict == YS_VERDICT_WORSE ? YS_MOOD_BAD
           : verdict == YS_VERDICT_SAME  ? YS_MOOD_PLAIN
                                         : YS_MOOD_FAINT;
}

void ys_judged_table(const struct ys_list *list, const struct ys_medium *medium, struct ys_buf *out)
{
    static const struct ys_sheet_column columns[] = {
        {YS_FORM_PAGE, YS_COLUMN_NAME, "Metric", NULL},
        {YS_FORM_TEXT, YS_COLUMN_NAME, "metric", NULL},
        {YS_FORM_ALL, YS_COLUMN_NUMBER, "Base", "base"},
        {YS_FORM_ALL, YS_COLUMN_NUMBER, "Here", "candidate"},
        {YS_FORM_ALL, YS_COLUMN_NUMBER, "Here / base", "candidate / base"},
        {YS_FORM_ALL, YS_COLUMN_VERDICT, "Verdict", "verdict"},
        {YS_FORM_PAGE, YS_COLUMN_WIDE, "Remark", NULL},
    };
    const struct ys_judged_metric *metrics = list->items;
    struct ys_sheet sheet = ys_sheet_init(medium);
    sheet.keeps_heads = true;
    ys_sheet_columns(&sheet, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < list->count; i++) {
        const struct ys_metric_info *info = ys_metric_find(metrics[i].metric);
        const enum ys_kind kind = info ? info->kind : YS_KIND_NUMBER;
        struct ys_buf ratio = {0};
        put_ratio(&ratio, &metrics[i]);
        ys_sheet_row(&sheet);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, info ? info->title : metrics[i].metric);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, metrics[i].metric);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, ys_label_value(kind, metrics[i].base_value).text);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, ys_label_value(kind, metrics[i].candidate_value).text);
        ys_sheet_put(&sheet, YS_MOOD_PLAIN, ys_buf_text(&ratio));
        ys_sheet_put(&sheet, mood_of(metrics[i].verdict), ys_name_of(&ys_verdicts, metrics[i].verdict));
        ys_sheet_put(&sheet, YS_MOOD_SOFT, metrics[i].reason);
        ys_buf_free(&ratio);
    }
    ys_sheet_write(&sheet, out);
}

/* Each reason once: mostly all metrics have the same. */
static void put_reasons(const struct ys_list *list, int width, struct ys_buf *out)
{
    const struct ys_judged_metric *metrics = list->items;
    for (size_t i = 0; i < list->count; i++) {
        bool said = false;
        for (size_t k = 0; k < i; k++)
            said |= metrics[i].reason && metrics[k].reason && strcmp(metrics[i].reason, metrics[k].reason) == 0;
        if (!metrics[i].reason || said)
            continue;
        ys_buf_printf(out, "  * %s: ", ys_name_of(&ys_verdicts, metrics[i].verdict));
        ys_text_wrap(out, metrics[i].reason, 6 + (int)strlen(ys_name_of(&ys_verdicts, metrics[i].verdict)), 4, width);
    }
}

static void put_pair(const struct ys_judged_pair *pair, int width, bool colour, struct ys_buf *out)
{
    const struct ys_medium medium = {.form = YS_FORM_TEXT, .width = width, .indent = 2, .colour = colour};
    struct ys_buf head = {0};
    ys_buf_printf(&head, strcmp(pair->base, pair->candidate) == 0 ? "%s" : "%s, against %s", pair->candidate,
                  pair->base);
    ys_buf_puts(out, "\n");
    ys_text_wrap(out, ys_buf_text(&head), 0, 0, width);
    ys_buf_free(&head);
    put_differences(out, &pair->differences, width);
    ys_buf_puts(out, pair->other.count ? "Not the same work:\n" : "The same work; ");
    put_differences(out, &pair->other, width);
    ys_text_wrap(out, pair->drift, pair->other.count ? 0 : 15, 2, width);
    ys_judged_table(&pair->metrics, &medium, out);
    put_reasons(&pair->metrics, width, out);
    if (pair->confirmed.count) {
        ys_buf_puts(out, "Fresh rounds of both, in turn\n");
        ys_judged_table(&pair->confirmed, &medium, out);
        put_reasons(&pair->confirmed, width, out);
    }
    if (pair->unconfirmed) {
        ys_buf_puts(out, "  * not confirmed: ");
        ys_text_wrap(out, pair->unconfirmed, 19, 4, width);
    }
}

static void put_only(struct ys_buf *out, const char *side, const struct ys_list *names, int width)
{
    char *const *all = names->items;
    struct ys_buf line = {0};
    for (size_t i = 0; i < names->count; i++)
        ys_buf_printf(&line, "%s%s", i ? ", " : "", all[i]);
    if (names->count) {
        ys_buf_printf(out, "\nOnly in the %s: ", side);
        ys_text_wrap(out, ys_buf_text(&line), 15 + (int)strlen(side), 2, width);
    }
    ys_buf_free(&line);
}

void ys_report_judged(const struct ys_judged *judged, int width, bool colour, struct ys_buf *out)
{
    const struct ys_judged_pair *pairs = judged->pairs.items;
    put_side(out, "base", &judged->base, width);
    put_side(out, "candidate", &judged->candidate, width);
    ys_buf_puts(out, "\n");
    ys_text_wrap(out, judged->differences.count ? "What differs" : "Nothing that was recorded of the machines differs.",
                 0, 0, width);
    put_differences(out, &judged->differences, width);
    for (size_t i = 0; i < judged->pairs.count; i++)
        put_pair(&pairs[i], width, colour, out);
    put_only(out, "base", &judged->only_base, width);
    put_only(out, "candidate", &judged->only_candidate, width);
}
