/* Two studies against each other, as plain text. */
#include "report/judged.h"

#include "base/mem.h"
#include "metric/metric.h"
#include "report/grid.h"
#include "report/label.h"
#include "report/text.h"

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
    out->failed |= line.failed;
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
        out->failed |= line.failed;
        ys_buf_free(&line);
    }
}

void ys_report_put_ratio(struct ys_buf *out, const struct ys_judged_metric *metric)
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

static enum ys_grid_style style_of(int verdict)
{
    return verdict == YS_VERDICT_BETTER  ? YS_GRID_GOOD
           : verdict == YS_VERDICT_WORSE ? YS_GRID_BAD
           : verdict == YS_VERDICT_SAME  ? YS_GRID_PLAIN
                                         : YS_GRID_DIM;
}

static void add_row(struct ys_grid *grid, const struct ys_judged_metric *metric)
{
    const struct ys_metric_info *info = ys_metric_find(metric->metric);
    enum ys_kind kind = info ? info->kind : YS_KIND_NUMBER;
    struct ys_buf ratio = {0};
    ys_report_put_ratio(&ratio, metric);
    ys_grid_row(grid);
    ys_grid_cell(grid, 0, YS_GRID_PLAIN, metric->metric);
    ys_grid_cell(grid, 1, YS_GRID_PLAIN, ys_label_value(kind, metric->base_value).text);
    ys_grid_cell(grid, 2, YS_GRID_PLAIN, ys_label_value(kind, metric->candidate_value).text);
    ys_grid_cell(grid, 3, YS_GRID_PLAIN, ys_buf_text(&ratio));
    ys_grid_cell(grid, 4, style_of(metric->verdict), ys_name_of(&ys_verdicts, metric->verdict));
    ys_buf_free(&ratio);
}

static ys_status put_metrics(const struct ys_list *list, int width, bool colour, struct ys_buf *out)
{
    struct ys_grid grid;
    const struct ys_judged_metric *metrics = list->items;
    ys_grid_init(&grid, 1);
    ys_grid_column(&grid, "metric", false);
    ys_grid_column(&grid, "base", true);
    ys_grid_column(&grid, "candidate", true);
    ys_grid_column(&grid, "candidate / base", true);
    ys_grid_column(&grid, "verdict", false);
    for (size_t i = 0; i < list->count; i++)
        add_row(&grid, &metrics[i]);
    ys_status status = ys_grid_print(&grid, 2, width, colour, out);
    ys_grid_fini(&grid);
    return status;
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

static ys_status put_pair(const struct ys_judged_pair *pair, int width, bool colour, struct ys_buf *out)
{
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
    YS_TRY(put_metrics(&pair->metrics, width, colour, out));
    put_reasons(&pair->metrics, width, out);
    if (pair->confirmed.count) {
        ys_buf_puts(out, "Fresh rounds of both, in turn\n");
        YS_TRY(put_metrics(&pair->confirmed, width, colour, out));
        put_reasons(&pair->confirmed, width, out);
    }
    if (pair->unconfirmed) {
        ys_buf_puts(out, "  * not confirmed: ");
        ys_text_wrap(out, pair->unconfirmed, 19, 4, width);
    }
    return YS_OK;
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

ys_status ys_report_judged(const struct ys_judged *judged, int width, bool colour, struct ys_buf *out)
{
    const struct ys_judged_pair *pairs = judged->pairs.items;
    put_side(out, "base", &judged->base, width);
    put_side(out, "candidate", &judged->candidate, width);
    ys_buf_puts(out, "\n");
    ys_text_wrap(out, judged->differences.count ? "What differs" : "Nothing that was recorded of the machines differs.",
                 0, 0, width);
    put_differences(out, &judged->differences, width);
    for (size_t i = 0; i < judged->pairs.count; i++)
        YS_TRY(put_pair(&pairs[i], width, colour, out));
    put_only(out, "base", &judged->only_base, width);
    put_only(out, "candidate", &judged->only_candidate, width);
    return out->failed ? ys_out_of_memory() : YS_OK;
}
