/* What a page says of other studies: against one of them, and over all of that name. */
#include "base/mem.h"
#include "metric/metric.h"
#include "report/draw/drawing.h"
#include "report/page_parts.h"
#include "report/view/view.h"
#include "report/judged/judged.h"
#include "report/tables/tables.h"
#include "report/clean_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *or_none(const char *text)
{
    return text ? text : "none";
}

static void begin_section(struct ys_buf *out, const char *id, const char *title, struct ys_buf *answer)
{
    ys_buf_printf(out, "<section id=\"%s\">\n", id);
    ys_html_put(out, "h2", NULL, title);
    ys_html_put(out, "p", "answer", ys_buf_text(answer));
    ys_buf_free(answer);
}

/* ---- against another study */

static void put_side(struct ys_buf *out, const struct ys_judged_side *side)
{
    ys_buf_puts(out, or_none(side->name));
    if (side->id != YS_FIELD_NONE)
        ys_buf_printf(out, ", study %lld", (long long)side->id);
    else
        ys_buf_printf(out, " of %s", or_none(side->selector));
    ys_buf_printf(out, ", %s", or_none(side->started));
}

static const struct ys_judged_metric *speed_of(const struct ys_judged_pair *pair)
{
    const struct ys_judged_metric *all = pair->metrics.items;
    for (size_t i = 0; i < pair->metrics.count; i++)
        if (strcmp(all[i].metric, "rate_per_s") == 0 && all[i].ratio > 0)
            return &all[i];
    return NULL;
}

/** How often each verdict was given: of speeds, and of all metrics. */
struct verdicts {
    size_t counts[8], all;
};

static void count_verdict(struct verdicts *verdicts, int verdict)
{
    verdicts->counts[verdict >= 0 && verdict < 8 ? verdict : YS_VERDICT_UNCLEAR]++;
    verdicts->all++;
}

/** "8 better, 8 worse, 0 the same, 48 unclear, 0 invalid" */
static void put_verdicts(struct ys_buf *out, const struct verdicts *verdicts)
{
    const size_t *counts = verdicts->counts;
    ys_buf_printf(out, "%zu better, %zu worse, %zu the same, %zu unclear, %zu invalid", counts[YS_VERDICT_BETTER],
                  counts[YS_VERDICT_WORSE], counts[YS_VERDICT_SAME], counts[YS_VERDICT_UNCLEAR],
                  counts[YS_VERDICT_INVALID]);
}

static void answer_compared(struct ys_buf *out, const struct ys_judged *judged)
{
    const struct ys_judged_pair *pairs = judged->pairs.items;
    struct verdicts speeds = {.all = 0}, metrics = {.all = 0};
    size_t others = 0;
    for (size_t i = 0; i < judged->pairs.count; i++) {
        const struct ys_judged_metric *all = pairs[i].metrics.items, *speed = speed_of(&pairs[i]);
        others += pairs[i].other.count > 0;
        for (size_t k = 0; k < pairs[i].metrics.count; k++)
            count_verdict(&metrics, all[k].verdict);
        if (speed)
            count_verdict(&speeds, speed->verdict);
    }
    ys_buf_puts(out, "Against ");
    put_side(out, &judged->base);
    if (speeds.all)
        ys_buf_printf(out, ": of the speeds of %s ", ys_label_plural((long long)speeds.all, "trial").text);
    if (speeds.all)
        put_verdicts(out, &speeds);
    ys_buf_printf(out, "%s of all %zu metrics of %s ", speeds.all ? ";" : ":", metrics.all,
                  ys_label_plural((long long)judged->pairs.count, "trial").text);
    put_verdicts(out, &metrics);
    ys_buf_puts(out, ".");
    if (others)
        ys_buf_printf(out, " %s did other work.", ys_label_plural((long long)others, "trial").text);
    if (judged->differences.count)
        ys_buf_printf(out, " The machines differ in %s.",
                      ys_label_plural((long long)judged->differences.count, "thing").text);
}

static void put_ratios(struct ys_buf *out, const struct ys_judged *judged)
{
    const struct ys_judged_pair *pairs = judged->pairs.items;
    struct ys_chart_row *rows = ys_alloc(judged->pairs.count + 1, sizeof *rows);
    struct ys_label *values = ys_alloc(judged->pairs.count + 1, sizeof *values);
    size_t count = 0;
    double margin = NAN;
    for (size_t i = 0; i < judged->pairs.count && count < YS_HTML_MOST; i++) {
        const struct ys_judged_metric *speed = speed_of(&pairs[i]);
        const double *ci = speed ? speed->ci.items : NULL;
        if (!speed)
            continue;
        margin = speed->margin;
        snprintf(values[count].text, sizeof values[count].text, "%.20sx %.20s", ys_label_ratio(speed->ratio).text,
                 ys_name_of(&ys_verdicts, speed->verdict));
        rows[count] = (struct ys_chart_row){.label = pairs[i].candidate,
                                            .value = values[count].text,
                                            .group = speed->verdict == YS_VERDICT_WORSE    ? 1
                                                     : speed->verdict == YS_VERDICT_BETTER ? 2
                                                                                           : 7,
                                            .mid = speed->ratio,
                                            .lo = speed->ci.count == 2 ? ci[0] : NAN,
                                            .hi = speed->ci.count == 2 ? ci[1] : NAN};
        count++;
    }
    const struct ys_chart_dots chart = {.id = "against",
                                        .title = "Speed against the base",
                                        .axis_title = "times as fast as the base",
                                        .description = "For each trial of both the ratio of its speeds, with the "
                                                       "interval that the drift of the machine has widened.",
                                        .kind = YS_KIND_NUMBER,
                                        .logarithmic = true,
                                        .reference = 1,
                                        .band = margin,
                                        .rows = rows,
                                        .count = count};
    if (count) {
        ys_html_begin_figure(out, chart.title,
                             "The dashed line is \"as fast\", the band beside it counts as the same. Logarithmic.");
        ys_chart_dots(out, &chart);
        ys_html_end_figure(out);
    }
    ys_free(rows);
    ys_free(values);
}

static void put_differences(struct ys_buf *out, const struct ys_list *list, const char *before)
{
    const struct ys_judged_difference *all = list->items;
    if (list->count)
        ys_html_put(out, "p", NULL, before);
    ys_buf_puts(out, list->count ? "<ul>\n" : "");
    for (size_t i = 0; i < list->count && i < YS_HTML_MOST; i++) {
        struct ys_buf line = {0};
        ys_buf_printf(&line, "%s: %s in the base, %s here", all[i].what, or_none(all[i].base),
                      or_none(all[i].candidate));
        ys_html_put(out, "li", NULL, ys_buf_text(&line));
        ys_buf_free(&line);
    }
    ys_buf_puts(out, list->count ? "</ul>\n" : "");
}

static void put_pair(struct ys_buf *out, const struct ys_judged_pair *pair)
{
    ys_buf_puts(out, "<details open>\n<summary>");
    ys_text_html(out, pair->candidate);
    ys_buf_puts(out, "</summary>\n");
    ys_html_put(out, "p", "soft", pair->drift);
    ys_judged_table(&pair->metrics, &ys_page_medium, out);
    put_differences(out, &pair->other, "Not the same work:");
    put_differences(out, &pair->differences, "What differs around it:");
    ys_buf_puts(out, "</details>\n");
}

/** Trials that one side has alone. */
static void put_only(struct ys_buf *out, const char *where, const struct ys_list *names)
{
    char *const *all = names->items;
    struct ys_buf line = {0};
    for (size_t i = 0; i < names->count && i < YS_HTML_MOST; i++)
        ys_buf_printf(&line, "%s%s", i ? ", " : "", all[i]);
    if (names->count > YS_HTML_MOST)
        ys_buf_puts(&line, ", ...");
    if (names->count) {
        ys_buf_printf(out, "<p>Only %s: ", where);
        ys_text_html(out, ys_buf_text(&line));
        ys_buf_puts(out, "</p>\n");
    }
    ys_buf_free(&line);
}

void ys_html_judged(struct ys_buf *out, const struct ys_judged *judged)
{
    const struct ys_judged_pair *pairs = judged->pairs.items;
    struct ys_buf answer = {0}, figures = {0};
    answer_compared(&answer, judged);
    begin_section(out, "compare", "What is it against the other study?", &answer);
    put_ratios(&figures, judged);
    if (figures.size) {
        ys_buf_puts(out, "<div class=\"charts\">\n");
        ys_buf_append(out, figures.data, figures.size);
        ys_buf_puts(out, "</div>\n");
    }
    ys_buf_free(&figures);
    put_differences(out, &judged->differences, "The machines and programs differ; read this before the verdicts:");
    put_only(out, "in the base", &judged->only_base);
    put_only(out, "here", &judged->only_candidate);
    for (size_t i = 0; i < judged->pairs.count && i < YS_HTML_MOST; i++)
        put_pair(out, &pairs[i]);
    ys_buf_puts(out, "</section>\n");
}

/* ---- over all studies of that name */

static void put_point_title(struct ys_buf *out, enum ys_kind kind, const struct ys_history_point *point)
{
    ys_buf_printf(out, "study %lld, %s", (long long)point->study, or_none(point->started));
    if (point->version && point->version[0])
        ys_buf_printf(out, ", version %s", point->version);
    ys_buf_printf(out, ": %s", ys_label_value(kind, point->value).text);
}

enum { MOST_VERSIONS = 5 }; /* with colours of their own */

static const char *version_of(const struct ys_history_point *point)
{
    return point->version && point->version[0] ? point->version : "of no version";
}

/** Versions in order of appearance, as many as fit; how many there are. */
static size_t find_versions(const struct ys_history *history, const char *versions[MOST_VERSIONS])
{
    const struct ys_history_point *points = history->points.items;
    size_t count = 0;
    for (size_t i = 0; i < history->points.count; i++) {
        bool known = false;
        for (size_t k = 0; k < count && k < MOST_VERSIONS; k++)
            known |= strcmp(versions[k], version_of(&points[i])) == 0;
        if (!known && count < MOST_VERSIONS)
            versions[count] = version_of(&points[i]);
        count += !known;
    }
    return count;
}

/** Where there are several versions, but not too many to tell apart: the points of each as dots of its colour. */
static void draw_versions(struct ys_drawing *drawing, const struct ys_history *history, enum ys_kind kind)
{
    const struct ys_history_point *points = history->points.items;
    const char *versions[MOST_VERSIONS];
    const size_t count = find_versions(history, versions);
    for (size_t v = 0; count > 1 && count <= MOST_VERSIONS && v < count; v++) {
        struct ys_chart_curve *curve = ys_drawing_add(drawing, versions[v], history->points.count);
        for (size_t i = 0; curve && i < history->points.count; i++) {
            struct ys_buf title = {0};
            if (!isfinite(points[i].value) || strcmp(version_of(&points[i]), versions[v]) != 0)
                continue;
            put_point_title(&title, kind, &points[i]);
            ys_drawing_point(curve, (double)(i + 1), points[i].value, NAN, NAN, &title);
        }
        if (curve) {
            curve->group = 2 + (int)v;
            curve->member = 2;
            curve->apart = true;
            curve->strong = curve->count > 0;
        }
    }
}

/** All points as one line, those of a version and those behind a change once more as dots of another colour. */
static void put_history_chart(struct ys_buf *out, const struct ys_history *history, enum ys_kind kind)
{
    const struct ys_history_point *points = history->points.items;
    const size_t count = history->points.count;
    struct ys_drawing drawing = {0};
    struct ys_chart_lines chart = {.id = "over-studies",
                                   .title = "Over all studies",
                                   .x_title = "study, by date",
                                   .y_title = history->metric,
                                   .description = "The median of each study with its interval, by date.",
                                   .x_kind = YS_KIND_NUMBER,
                                   .y_kind = kind,
                                   .free_x = true,
                                   .free_y = true};
    for (int changed = 0; changed <= 1; changed++) {
        if (changed)
            draw_versions(&drawing, history, kind);
        struct ys_chart_curve *curve = ys_drawing_add(&drawing, changed ? "behind a change" : history->trial, count);
        for (size_t i = 0; curve && i < count; i++) {
            const double *ci = points[i].ci.items;
            const bool known = points[i].ci.count == 2 && !changed;
            struct ys_buf title = {0};
            if (!isfinite(points[i].value) || (changed && !points[i].change))
                continue;
            put_point_title(&title, kind, &points[i]);
            ys_drawing_point(curve, (double)(i + 1), points[i].value, known ? ci[0] : NAN, known ? ci[1] : NAN, &title);
        }
        if (curve) {
            curve->group = changed;
            curve->apart = changed;
            curve->strong = curve->count > 0;
        }
    }
    chart.curves = drawing.curves;
    chart.count = drawing.count;
    struct ys_buf drawn = {0};
    ys_chart_lines(&drawn, &chart);
    if (drawn.size) {
        ys_buf_puts(out, "<div class=\"charts\">\n");
        ys_html_begin_figure(out, chart.title,
                             "Medians, the bars are their intervals. The axis does not begin at zero.");
        ys_buf_append(out, drawn.data, drawn.size);
        ys_html_end_figure(out);
        ys_buf_puts(out, "</div>\n");
    }
    ys_buf_free(&drawn);
    ys_drawing_fini(&drawing);
}

void ys_html_history(struct ys_buf *out, const struct ys_history *history)
{
    const struct ys_metric_info *info = ys_metric_find(history->metric);
    const enum ys_kind kind = info ? info->kind : YS_KIND_NUMBER;
    struct ys_buf answer = {0};
    ys_report_put_history(&answer, history);
    begin_section(out, "history", "How did it change?", &answer);
    put_history_chart(out, history, kind);
    ys_history_table(history, &ys_page_medium, out);
    ys_buf_puts(out, "</section>\n");
}
