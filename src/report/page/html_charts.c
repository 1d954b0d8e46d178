#include "base/mem.h"
#include "report/answer.h"
#include "report/draw/chart.h"
#include "report/page_parts.h"
#include "report/view/view.h"
#include "report/page/question.h"
#include "report/shared_sentences.h"
#include "report/clean_text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_RATIOS 24  /* rows; the table has more */
#define MAX_POINTS 200 /* of one curve; more are averaged in groups */

/** Texts and numbers that a chart's rows point to, and the rows. */
struct chart_rows {
    struct ys_chart_row *rows;
    char **values, **notes; /* one each row, owned */
    double **dots;
    size_t count, capacity;
};

static void rows_init(struct chart_rows *rows, size_t capacity)
{
    *rows = (struct chart_rows){.capacity = capacity};
    rows->rows = ys_alloc(capacity, sizeof *rows->rows);
    rows->values = ys_alloc(capacity, sizeof *rows->values);
    rows->notes = ys_alloc(capacity, sizeof *rows->notes);
    rows->dots = ys_alloc(capacity, sizeof *rows->dots);
}

static void rows_fini(struct chart_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        ys_free(rows->values[i]);
        ys_free(rows->notes[i]);
        ys_free(rows->dots[i]);
    }
    ys_free(rows->rows);
    ys_free(rows->values);
    ys_free(rows->notes);
    ys_free(rows->dots);
}

/** Adds a row whose texts are taken out of `value` and `note` (empty: none). */
static struct ys_chart_row *rows_add(struct chart_rows *rows, const char *label, struct ys_buf *value,
                                     struct ys_buf *note)
{
    size_t i = rows->count++;
    bool has_note = note->size > 0;
    rows->values[i] = ys_buf_take(value);
    rows->notes[i] = ys_buf_take(note);
    ys_buf_free(value);
    ys_buf_free(note);
    rows->rows[i] = (struct ys_chart_row){.label = label,
                                          .value = rows->values[i],
                                          .note = has_note ? rows->notes[i] : NULL,
                                          .mid = NAN,
                                          .lo = NAN,
                                          .hi = NAN};
    return &rows->rows[i];
}

/** Whether some trial of that mode has the metric. */
static bool mode_has(const struct ys_view *view, int mode, const char *name)
{
    for (size_t t = 0; t < view->count; t++)
        if (view->trials[t].told->keys.mode == mode && isfinite(ys_view_number(&view->trials[t], name)))
            return true;
    return false;
}

static bool counts(const struct ys_view_trial *trial)
{
    return trial->measured && !trial->no_work && ys_view_verdict(trial) != YS_PROOF_FAIL;
}

struct ys_html_shown ys_html_first(const struct ys_view *view)
{
    struct ys_html_shown shown = {.count = 0};
    if (view->count <= YS_HTML_FIRST) {
        for (size_t t = 0; t < view->count; t++)
            shown.places[shown.count++] = t;
        return shown;
    }
    for (size_t t = 0; t < view->count; t++) {
        const double rate = ys_view_number(&view->trials[t], "rate_per_s");
        size_t at = shown.count;
        while (at > 0 && rate > ys_view_number(&view->trials[shown.places[at - 1]], "rate_per_s"))
            at--;
        if (!counts(&view->trials[t]) || !isfinite(rate) || at == YS_HTML_FASTEST)
            continue;
        shown.count += shown.count < YS_HTML_FASTEST;
        memmove(&shown.places[at + 1], &shown.places[at], (shown.count - 1 - at) * sizeof shown.places[0]);
        shown.places[at] = t;
    }
    return shown;
}

/** "8950 [8820, 9100]" */
static void put_row_value(struct ys_buf *out, struct ys_view_metric metric)
{
    const struct ys_measure measure = ys_view_measure(metric);
    ys_buf_printf(out, "%s%s%s %s", measure.value.text, measure.unit.text[0] ? " " : "", measure.unit.text,
                  measure.interval.text[0] ? measure.interval.text : "(no interval)");
}

/** One row a trial for a metric: every run a dot. Trials for which the metric means nothing are left out. */
static void metric_rows(const struct ys_view *view, const struct ys_html_shown *shown, const char *name,
                        struct chart_rows *rows)
{
    bool has[YS_MODE_COUNT];
    for (int mode = 0; mode < YS_MODE_COUNT; mode++)
        has[mode] = mode_has(view, mode, name);
    rows_init(rows, shown->count);
    for (size_t i = 0; i < shown->count; i++) {
        const struct ys_view_trial *trial = &view->trials[shown->places[i]];
        struct ys_view_metric metric = ys_view_metric(trial, name);
        struct ys_buf value = {0}, note = {0};
        if (!has[trial->told->keys.mode] || !trial->measured || trial->no_work) /* which the table of results says */
            continue;
        if (!isfinite(ys_view_number(trial, name)))
            ys_text_clean(&note, ys_view_or(metric.reason, "unknown"), false);
        put_row_value(&value, metric);
        struct ys_chart_row *row = rows_add(rows, trial->name, &value, &note);
        row->group = trial->hue;
        if (strcmp(name, "rate_per_s") == 0 && view->count > 1)
            row->share = ys_label_relative(ys_answer_relation(view, trial).ratio);
        row->mid = ys_view_number(trial, name);
        row->lo = metric.lo;
        row->hi = metric.hi;
        double *dots = rows->dots[rows->count - 1] = ys_alloc(YS_HTML_DOTS, sizeof *dots);
        for (size_t k = 0; k < metric.rounds && k < YS_HTML_DOTS; k++)
            dots[row->count++] = ys_view_round(metric, k);
        row->dots = dots;
    }
}

/** What a chart of those trials leaves out. */
static void put_dots_cut(struct ys_buf *out, const struct ys_view *view, const struct ys_html_shown *shown)
{
    size_t runs = 0;
    for (size_t t = 0; t < view->count; t++)
        runs = (size_t)view->trials[t].runs > runs ? (size_t)view->trials[t].runs : runs;
    if (shown->count == YS_HTML_MOST)
        ys_html_say_cut(out, view, shown->count, view->count, "trials");
    ys_html_say_cut(out, view, YS_HTML_DOTS, runs, "runs of a trial are dots");
}

static void put_metric_chart(struct ys_buf *out, const struct ys_view *view, const struct ys_html_shown *shown,
                             const char *name, const struct ys_chart_dots *chart, const char *remark)
{
    struct chart_rows rows;
    metric_rows(view, shown, name, &rows);
    bool any = false;
    for (size_t i = 0; i < rows.count; i++)
        any |= isfinite(rows.rows[i].mid);
    if (any) {
        struct ys_chart_dots full = *chart;
        full.kind = ys_view_kind(name);
        full.rows = rows.rows;
        full.count = rows.count;
        full.reference = full.band = NAN;
        ys_html_begin_figure(out, chart->title, remark);
        ys_chart_dots(out, &full);
        ys_html_end_figure(out);
        put_dots_cut(out, view, shown);
    }
    rows_fini(&rows);
}

static struct ys_html_shown first_rows(const struct ys_view *view)
{
    struct ys_html_shown shown = {.count = view->count < YS_HTML_MOST ? view->count : YS_HTML_MOST};
    for (size_t i = 0; i < shown.count; i++)
        shown.places[i] = i;
    return shown;
}

/** Valid comparisons of speed, each its ratio with interval, beside the line of "as fast". */
void ys_html_ratio_chart(struct ys_buf *out, const struct ys_view *view)
{
    struct chart_rows rows;
    struct ys_buf labels = {0};
    size_t *offsets = ys_alloc(view->comparison_count, sizeof *offsets);
    rows_init(&rows, view->comparison_count);
    for (size_t i = 0; i < view->comparison_count && rows.count < MAX_RATIOS; i++) {
        const struct ys_result_comparison *comparison = &view->comparisons[i];
        double ratio = comparison->told.ratio;
        if (strcmp(ys_view_or(comparison->told.metric, ""), "rate_per_s") != 0 || !(ratio > 0) ||
            comparison->told.verdict == YS_VERDICT_INVALID)
            continue;
        struct ys_buf value = {0}, note = {0};
        offsets[rows.count] = labels.size;
        ys_view_put_pair(&labels, view, comparison);
        ys_buf_append(&labels, "", 1);
        ys_buf_printf(&value, "%sx ", ys_label_ratio(ratio).text);
        ys_buf_puts(&value, ys_view_verdict_word(comparison));
        struct ys_chart_row *row = rows_add(&rows, "", &value, &note);
        const struct ys_view_trial *a = ys_view_find(view, ys_view_or(comparison->told.a, ""));
        row->group = a ? a->hue : 0;
        row->mid = ratio;
        row->lo = comparison->interval.lo;
        row->hi = comparison->interval.hi;
    }
    for (size_t i = 0; i < rows.count; i++)
        rows.rows[i].label = labels.data + offsets[i];
    if (rows.count > 0) {
        struct ys_chart_dots chart = {.id = "ratio",
                                      .title = "Ratios of speed",
                                      .axis_title = "times as fast as the second",
                                      .description =
                                          "For each pair of trials the ratio of their speeds with its interval.",
                                      .kind = YS_KIND_NUMBER,
                                      .logarithmic = true,
                                      .reference = 1,
                                      .rows = rows.rows,
                                      .count = rows.count,
                                      .band = view->study->margin};
        ys_html_begin_figure(out, chart.title,
                             rows.count < MAX_RATIOS
                                 ? "First against second, with intervals; the dashed line is \"as fast\", the band "
                                   "beside it counts as the same. Logarithmic."
                                 : "First against second, with intervals, the first 24 of the table below; the dashed "
                                   "line is \"as fast\", the band beside it counts as the same. Logarithmic.");
        ys_chart_dots(out, &chart);
        ys_html_end_figure(out);
    }
    rows_fini(&rows);
    ys_free(offsets);
    ys_buf_free(&labels);
}

void ys_html_speed_chart(struct ys_buf *out, const struct ys_view *view)
{
    const struct ys_html_shown shown = ys_html_first(view);
    struct ys_label unit;
    struct ys_buf remark = {0};
    snprintf(unit.text, sizeof unit.text, "%.30s per second", view->unit);
    const struct ys_chart_dots rate = {.id = "rate",
                                       .title = "Speed",
                                       .axis_title = unit.text,
                                       .zero = true,
                                       .description =
                                           "For each trial the rate of every run, the median and its interval."};
    ys_buf_printf(&remark, "In %s: each dot is a run, the tall mark the median, the bar its interval. ", unit.text);
    ys_section_level(&remark, view);
    put_metric_chart(out, view, &shown, "rate_per_s", &rate, ys_buf_text(&remark));
    ys_buf_free(&remark);
}

void ys_html_time_chart(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_chart_bars chart = {.id = "time",
                                  .title = "Where the time goes",
                                  .axis_title = "time of a run",
                                  .kind = YS_KIND_SPAN,
                                  .description =
                                      "For each trial the median time of each part of a run, from start to end.",
                                  .parts = YS_TIME_PARTS};
    struct ys_chart_bar *bars = ys_alloc(view->count, sizeof *bars);
    struct ys_label *values = ys_alloc(view->count, sizeof *values);
    const struct ys_section_parts parts = ys_section_find_parts(view);
    for (size_t k = 0; k < YS_TIME_PARTS; k++)
        chart.part_names[k] = parts.has[k] ? ys_time_part(k).title : NULL;
    for (size_t t = 0; t < view->count && chart.count < YS_HTML_MOST; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        double wall_s = ys_view_number(trial, "wall_s");
        if (!isfinite(wall_s))
            continue;
        struct ys_chart_bar *bar = &bars[chart.count];
        values[chart.count] = ys_label_value(YS_KIND_SPAN, wall_s);
        *bar = (struct ys_chart_bar){.label = trial->name, .value = values[chart.count].text};
        for (size_t k = 0; k < YS_TIME_PARTS; k++)
            bar->parts[k] = ys_view_number(trial, ys_time_part(k).metric);
        chart.count++;
    }
    chart.rows = bars;
    if (chart.count > 0) {
        ys_html_begin_figure(
            out, "Parts of a run",
            "Medians of each part, so the parts may not add up exactly to the median of the whole. \"Rest\" is what no "
            "part accounts for.");
        ys_chart_bars(out, &chart);
        ys_html_end_figure(out);
        if (chart.count == YS_HTML_MOST)
            ys_html_say_cut(out, view, chart.count, view->count, "trials");
    }
    ys_free(bars);
    ys_free(values);
}

/** Where in a run's detail a curve's numbers are. */
struct curve_source {
    const char *inside; /* member that holds both, NULL for the run itself */
    const char *x;      /* NULL: counted from 1 */
    const char *y;
    const char *every; /* member that says how far apart counted ones are; NULL: 1 */
    bool ends;         /* with the processes: what is 0 at its end is of none */
};

/** Reads one curve, averaged in groups to at most MAX_POINTS; a group without a number breaks the line. */
static void read_curve(const ys_json *run, const struct curve_source *source, struct ys_chart_curve *curve)
{
    const ys_json *inside = source->inside ? ys_json_get(run, source->inside) : run;
    const ys_json *xs = source->x ? ys_json_get(inside, source->x) : NULL, *ys = ys_json_get(inside, source->y);
    size_t count = ys_json_size(ys);
    if (source->x && ys_json_size(xs) < count)
        count = ys_json_size(xs);
    while (source->ends && count > 0 && ys_json_number(ys_json_at(ys, count - 1), 0) == 0)
        count--;
    double every = source->every ? ys_json_get_number(inside, source->every, 1) : 1;
    size_t group = (count + MAX_POINTS - 1) / MAX_POINTS;
    curve->x = ys_alloc(MAX_POINTS, sizeof *curve->x);
    curve->y = ys_alloc(MAX_POINTS, sizeof *curve->y);
    for (size_t first = 0; first < count; first += group) {
        size_t end = first + group < count ? first + group : count, found = 0;
        double x = 0, y = 0;
        for (size_t i = first; i < end; i++) {
            double one = ys_json_number(ys_json_at(ys, i), NAN);
            x += xs ? ys_json_number(ys_json_at(xs, i), NAN) : 1 + every * (double)i;
            y += isfinite(one) ? one : 0;
            found += isfinite(one);
        }
        curve->x[curve->count] = x / (double)(end - first);
        curve->y[curve->count++] = found ? y / (double)found : NAN;
    }
}

static bool has_number(const struct ys_chart_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++)
        if (isfinite(curve->x[i]) && isfinite(curve->y[i]))
            return true;
    return false;
}

/** Whether a picture of curves has it: what does no work is no company for what does, and an emulator's times are none.
 */
static bool is_drawn(const struct ys_view *view, const struct ys_view_trial *trial)
{
    return ys_json_size(trial->told->runs_detail) > 0 && !trial->found.emulated &&
           !(view->works_at_all && trial->no_work);
}

/** How many runs of each of the trials that a picture shows are drawn. */
static size_t runs_drawn(const struct ys_view *view)
{
    size_t trials = 0;
    for (size_t t = 0; t < view->count && trials < YS_HTML_DRAWN; t++)
        trials += is_drawn(view, &view->trials[t]);
    return trials ? YS_HTML_CURVES / trials : 0;
}

/** Runs as curves, of the first trials that have any; of each trial the first run that has numbers is strong. */
static void read_curves(const struct ys_view *view, const struct curve_source *source, struct ys_chart_curve **curves,
                        size_t *count)
{
    size_t each = runs_drawn(view), trials = 0;
    *count = 0;
    *curves = ys_alloc(YS_HTML_CURVES, sizeof **curves);
    for (size_t t = 0; t < view->count && trials < YS_HTML_DRAWN; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        const ys_json *runs = trial->told->runs_detail;
        bool strong = true;
        if (!is_drawn(view, trial))
            continue;
        trials++;
        for (size_t i = 0; i < ys_json_size(runs) && i < each; i++) {
            struct ys_chart_curve *curve = &(*curves)[(*count)++];
            *curve = (struct ys_chart_curve){.name = trial->name, .group = trial->hue, .member = trial->dashes};
            read_curve(ys_json_at(runs, i), source, curve);
            curve->strong = strong && has_number(curve);
            strong &= !curve->strong;
        }
    }
}

static void put_curves_cut(struct ys_buf *out, const struct ys_view *view)
{
    size_t each = runs_drawn(view), trials = 0;
    bool cut = false;
    for (size_t t = 0; t < view->count; t++) {
        trials += is_drawn(view, &view->trials[t]);
        cut |= is_drawn(view, &view->trials[t]) && (size_t)view->trials[t].runs > each;
    }
    if (cut || trials > YS_HTML_DRAWN)
        ys_buf_printf(out,
                      "<p class=\"remark\">Drawn are the first %zu of %zu trials, and of each the first %s: "
                      "<code>yardstick export %lld</code> has all.</p>\n",
                      trials < YS_HTML_DRAWN ? trials : YS_HTML_DRAWN, trials,
                      ys_label_plural((long long)each, "run").text, (long long)view->id);
}

static void put_curves(struct ys_buf *out, const struct ys_view *view, const struct curve_source *source,
                       const struct ys_chart_lines *chart, const char *remark)
{
    struct ys_chart_lines full = *chart;
    read_curves(view, source, &full.curves, &full.count);
    bool any = false;
    for (size_t i = 0; i < full.count; i++)
        any |= full.curves[i].strong;
    if (any) {
        ys_html_curves(out, view, &full, remark);
        put_curves_cut(out, view);
    }
    ys_chart_free_curves(full.curves, full.count);
}

/* Whether the largest median latency, or the end of its interval, is 8 times the smallest: on one scale from 0 the
 * small ones would look alike. */
static bool latencies_are_wide(const struct ys_view *view)
{
    double low = INFINITY, high = 0;
    for (size_t t = 0; t < view->count; t++) {
        const struct ys_view_metric median = ys_view_metric(&view->trials[t], "latency_p50_s");
        if (median.value > 0) {
            low = fmin(low, median.value);
            high = fmax(high, median.interval ? fmax(median.hi, median.value) : median.value);
        }
    }
    return high >= 8 * low;
}

void ys_html_latency_chart(struct ys_buf *out, const struct ys_view *view)
{
    const bool wide = latencies_are_wide(view);
    struct ys_chart_dots median = {.id = "latency",
                                   .title = "Median latency",
                                   .axis_title = "latency of a request",
                                   .zero = !wide,
                                   .logarithmic = wide,
                                   .description = "For each trial the median latency of every run, their median and "
                                                  "its interval."};
    const struct ys_html_shown shown = first_rows(view);
    put_metric_chart(out, view, &shown, "latency_p50_s", &median,
                     wide ? "Of the steady requests: each dot is a run, the tall mark the median, the bar its "
                            "interval. Logarithmic."
                          : "Of the steady requests: each dot is a run, the tall mark the median, the bar its "
                            "interval.");
}

void ys_html_percentile_chart(struct ys_buf *out, const struct ys_view *view)
{
    static const struct curve_source source = {"latency", "share", "latency_s", NULL, false};
    const bool wide = latencies_are_wide(view);
    struct ys_chart_lines percentiles = {.id = "percentiles",
                                         .title = "Latency by percentile",
                                         .x_title = "share of the requests",
                                         .y_title = "answered within",
                                         .description = "The time within which a share of the requests was answered.",
                                         .x_kind = YS_KIND_SHARE,
                                         .y_kind = YS_KIND_SPAN,
                                         .cut = !wide,
                                         .logarithmic = wide};
    put_curves(out, view, &source, &percentiles,
               wide ? "One run of each trial is drawn heavily, the others thinly. Logarithmic."
                    : "One run of each trial is drawn heavily, the others thinly.");
}

void ys_html_learning_charts(struct ys_buf *out, const struct ys_view *view)
{
    static const struct curve_source loss_source = {NULL, NULL, "loss", "loss_every", false};
    struct ys_chart_lines loss = {.id = "loss",
                                  .title = "Loss while training",
                                  .x_title = "step",
                                  .y_title = "training loss",
                                  .description = "The training loss of each run against the step.",
                                  .x_kind = YS_KIND_NUMBER,
                                  .y_kind = YS_KIND_NUMBER,
                                  .cut = true};
    put_curves(out, view, &loss_source, &loss,
               "As the framework reports it. One run of each trial is drawn heavily, the others thinly.");
    ys_html_reached_charts(out, view);
}

void ys_html_accuracy_chart(struct ys_buf *out, const struct ys_view *view)
{
    const struct ys_label title = ys_view_metric_head("accuracy", false);
    const struct ys_chart_dots accuracy = {
        .id = "accuracy",
        .title = title.text,
        .axis_title = "share classified correctly",
        .description = "For each trial the accuracy of every run, the median and its interval."};
    const struct ys_html_shown shown = first_rows(view);
    if (ys_question_same_accuracy(view)) /* which the answer says: there is nothing to see */
        return;
    put_metric_chart(out, view, &shown, "accuracy", &accuracy,
                     "Of the saved weights on the test set, by the same program for all; each dot is a run. The "
                     "axis does not begin at zero.");
}

void ys_html_usage_charts(struct ys_buf *out, const struct ys_view *view)
{
    static const struct curve_source memory_source = {"samples", "t_s", "rss_bytes", NULL, true},
                                     cpu_source = {"samples", "t_s", "cpu_cores", NULL, true};
    struct ys_chart_lines memory = {.id = "memory",
                                    .title = "Memory over time",
                                    .x_title = "time since the start",
                                    .y_title = "resident memory",
                                    .description = "Resident memory of each run's processes against time.",
                                    .x_kind = YS_KIND_SPAN,
                                    .y_kind = YS_KIND_BYTES};
    struct ys_chart_lines cpu = {.id = "cpu",
                                 .title = "CPU over time",
                                 .x_title = "time since the start",
                                 .y_title = "CPU cores in use",
                                 .description = "CPU cores used by each run's processes against time.",
                                 .x_kind = YS_KIND_SPAN,
                                 .y_kind = YS_KIND_NUMBER,
                                 .cut = true}; /* between two samples close together a tick of the kernel's is many */
    const char *remark = "All processes of a run together. One run of each trial is drawn heavily, the others thinly.";
    put_curves(out, view, &memory_source, &memory, remark);
    put_curves(out, view, &cpu_source, &cpu, remark);
}
