/* Pictures of what the data ask for: speed along an axis and over two, the distribution of steps, accuracy against
 * time, what no other trial beats, and how still the machine was from round to round. */
#include "base/mem.h"
#include "base/json/record.h"
#include "metric/metric.h"
#include "report/draw/drawing.h"
#include "report/page_parts.h"
#include "report/view/view.h"
#include "report/shared_sentences.h"
#include "report/clean_text.h"
#include "stat/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MOST_VALUES = 64, /* of an axis */
    MOST_TICKS = 12,  /* of them, up to which each has one of its own */
    MOST_PANELS = 12,
    TAIL_POINTS = 200, /* of a distribution */
    HEAT_LEAST = 4     /* cells with a value */
};

/** Whether its speed counts: measured, of work, and not of other work. */
static bool has_speed(const struct ys_view_trial *trial)
{
    return trial->measured && !trial->no_work && ys_view_verdict(trial) != YS_PROOF_FAIL &&
           isfinite(ys_view_number(trial, "rate_per_s"));
}

static bool is_number(const ys_json *value)
{
    return ys_json_type_of(value) == YS_JSON_INT || ys_json_type_of(value) == YS_JSON_REAL;
}

/** Ends a drawing: `drawn` goes out as a figure, where it holds anything. */
static void put_figure(struct ys_buf *out, const char *title, const char *remark, struct ys_buf *drawn)
{
    if (drawn->size) {
        ys_html_begin_figure(out, title, remark);
        ys_buf_append(out, drawn->data, drawn->size);
        ys_html_end_figure(out);
    }
    ys_buf_free(drawn);
}

/** What was drawn as one picture, or with `view` as one a framework where it has many lines. Frees the drawing. */
static void put_lines(struct ys_buf *out, const struct ys_view *view, struct ys_drawing *drawing,
                      struct ys_chart_lines *chart, const char *remark)
{
    chart->curves = drawing->curves;
    chart->count = drawing->count;
    ys_html_curves(out, view, chart, remark);
    ys_drawing_fini(drawing);
}

/* ---- speed along an axis */

/** "2 threads: 12300 [12000, 12500] images per second". */
static void put_point_title(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *trial)
{
    struct ys_measure rate = ys_view_measure(ys_view_metric(trial, "rate_per_s"));
    ys_buf_printf(out, "%s: %s%s%s %s per second", trial->name, rate.value.text, rate.interval.text[0] ? " " : "",
                  rate.interval.text, view->unit);
}

static void draw_along(const struct ys_view *view, const char *axis, struct ys_drawing *drawing)
{
    for (size_t t = 0; t < view->count; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        const ys_json *value = ys_view_value(trial, axis);
        struct ys_buf name = {0}, title = {0};
        if (!has_speed(trial) || !is_number(value))
            continue;
        ys_view_put_name_without(&name, view, trial, axis);
        struct ys_chart_curve *curve = ys_drawing_member(drawing, ys_buf_text(&name), trial->group, view->count);
        struct ys_view_metric rate = ys_view_metric(trial, "rate_per_s");
        if (curve) {
            put_point_title(&title, view, trial);
            ys_drawing_point(curve, ys_json_number(value, NAN), rate.value, rate.lo, rate.hi, &title);
        }
        ys_buf_free(&name);
    }
}

/** The values that an axis has among numbers. */
struct axis_values {
    double at[MOST_VALUES]; /* in rising order */
    size_t count;
    double widest; /* the largest divided by the smallest */
    bool whole;    /* all are whole numbers */
};

static struct axis_values values_of(const struct ys_view *view, const char *axis)
{
    double lo = INFINITY, hi = -INFINITY;
    struct axis_values values = {.whole = true};
    for (size_t t = 0; t < view->count; t++) {
        const ys_json *value = ys_view_value(&view->trials[t], axis);
        const double number = ys_json_number(value, NAN);
        bool is_known = !is_number(value) || !has_speed(&view->trials[t]);
        for (size_t i = 0; i < values.count && !is_known; i++)
            is_known = values.at[i] == number;
        if (is_known || values.count == MOST_VALUES)
            continue;
        values.at[values.count++] = number;
        values.whole = values.whole && ys_json_type_of(value) == YS_JSON_INT;
        lo = fmin(lo, number);
        hi = fmax(hi, number);
    }
    values.widest = lo > 0 ? hi / lo : 1;
    ys_stat_sort(values.at, values.count);
    return values;
}

static void put_along(struct ys_buf *out, const struct ys_view *view, size_t place, const char *axis,
                      const struct axis_values *values)
{
    struct ys_drawing drawing = {0};
    char *id = ys_format("along%zu", place), *title = NULL, *unit = ys_format("%s per second", view->unit);
    struct ys_buf clean = {0};
    ys_text_clean(&clean, axis, false);
    title = ys_format("Speed along %s", ys_buf_text(&clean));
    struct ys_chart_lines chart = {.id = id,
                                   .title = title,
                                   .x_title = ys_buf_text(&clean),
                                   .y_title = unit,
                                   .description = "Median speed with its interval for each value of one setting.",
                                   .x_kind = YS_KIND_NUMBER,
                                   .y_kind = YS_KIND_RATE,
                                   .x_logarithmic = values->widest >= 8,
                                   .x_whole = values->whole,
                                   .x_ticks = values->count <= MOST_TICKS ? values->at : NULL,
                                   .x_tick_count = values->count,
                                   .free_x = true};
    draw_along(view, axis, &drawing);
    put_lines(out, view, &drawing, &chart, "Medians, the bars are their intervals.");
    ys_buf_free(&clean);
    ys_free(id);
    ys_free(title);
    ys_free(unit);
}

/** All axes among numbers that have more than two values, or two. */
static void put_axes(struct ys_buf *out, const struct ys_view *view, bool is_long)
{
    for (size_t i = 0; i < ys_view_axes(view); i++) {
        const struct axis_values values = values_of(view, ys_view_axis(view, i));
        if (is_long ? values.count > 2 : values.count == 2)
            put_along(out, view, i, ys_view_axis(view, i), &values);
    }
}

void ys_html_axis_charts(struct ys_buf *out, const struct ys_view *view)
{
    put_axes(out, view, true);
}

void ys_html_short_axis_charts(struct ys_buf *out, const struct ys_view *view)
{
    put_axes(out, view, false);
}

/* ---- speed over two axes */

/** The values of one axis as texts, numbers in order. */
struct values {
    char *texts[MOST_VALUES]; /* owned */
    double numbers[MOST_VALUES];
    size_t count;
};

static void fini_values(struct values *values)
{
    for (size_t i = 0; i < values->count; i++)
        ys_free(values->texts[i]);
}

/** Where the value stands, or would. */
static size_t find_value(const struct values *values, const char *text)
{
    size_t i = 0;
    while (i < values->count && strcmp(values->texts[i], text) != 0)
        i++;
    return i;
}

static char *text_of(const struct ys_view_trial *trial, const char *axis)
{
    struct ys_buf text = {0};
    const ys_json *value = ys_view_value(trial, axis);
    if (value)
        ys_view_put_value(&text, value);
    else
        ys_buf_puts(&text, "-");
    char *made = ys_strdup(ys_buf_text(&text));
    ys_buf_free(&text);
    return made;
}

static void find_values(const struct ys_view *view, const char *axis, struct values *values)
{
    *values = (struct values){0};
    for (size_t t = 0; t < view->count; t++) {
        const ys_json *value = ys_view_value(&view->trials[t], axis);
        char *text = has_speed(&view->trials[t]) ? text_of(&view->trials[t], axis) : NULL;
        if (!text || values->count == MOST_VALUES || find_value(values, text) < values->count) {
            ys_free(text);
            continue;
        }
        const double number = is_number(value) ? ys_json_number(value, INFINITY) : INFINITY;
        size_t at = values->count++;
        for (; at > 0 && values->numbers[at - 1] > number; at--) {
            values->numbers[at] = values->numbers[at - 1];
            values->texts[at] = values->texts[at - 1];
        }
        values->numbers[at] = number;
        values->texts[at] = text;
    }
}

static void put_heat(struct ys_buf *out, const struct ys_view *view, int group, const char *title,
                     const struct values *columns, const struct values *rows, struct ys_chart_heat *chart)
{
    double *cells = ys_alloc(columns->count * rows->count + 1, sizeof *cells);
    size_t known = 0;
    for (size_t i = 0; i < columns->count * rows->count; i++)
        cells[i] = NAN;
    for (size_t t = 0; t < view->count; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        if (trial->group != group || !has_speed(trial))
            continue;
        char *column = text_of(trial, ys_view_axis(view, 0)), *row = text_of(trial, ys_view_axis(view, 1));
        const size_t x = find_value(columns, column), y = find_value(rows, row);
        if (x < columns->count && y < rows->count && isnan(cells[y * columns->count + x])) {
            cells[y * columns->count + x] = ys_view_number(trial, "rate_per_s");
            known++;
        }
        ys_free(column);
        ys_free(row);
    }
    struct ys_buf drawn = {0};
    chart->values = cells;
    chart->group = group;
    chart->title = title;
    if (known >= HEAT_LEAST)
        ys_chart_heat(&drawn, chart);
    put_figure(out, title, "", &drawn);
    ys_free(cells);
}

static void put_heats(struct ys_buf *out, const struct ys_view *view, const struct values *columns,
                      const struct values *rows)
{
    struct ys_buf x = {0}, y = {0}, panels = {0};
    struct ys_chart_heat chart = {.description = "Median speed for each pair of values of two settings.",
                                  .kind = YS_KIND_RATE,
                                  .columns = (const char *const *)columns->texts,
                                  .rows = (const char *const *)rows->texts,
                                  .column_count = columns->count,
                                  .row_count = rows->count,
                                  .lo = INFINITY,
                                  .hi = -INFINITY};
    int last = -1, drawn = 0;
    ys_text_clean(&x, ys_view_axis(view, 0), false);
    ys_text_clean(&y, ys_view_axis(view, 1), false);
    chart.x_title = ys_buf_text(&x);
    chart.y_title = ys_buf_text(&y);
    for (size_t t = 0; t < view->count; t++)
        if (has_speed(&view->trials[t])) {
            chart.lo = fmin(chart.lo, ys_view_number(&view->trials[t], "rate_per_s"));
            chart.hi = fmax(chart.hi, ys_view_number(&view->trials[t], "rate_per_s"));
        }
    for (size_t t = 0; t < view->count && drawn < MOST_PANELS; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        if (trial->group <= last)
            continue;
        last = trial->group;
        char id[32];
        snprintf(id, sizeof id, "heat%d", drawn++);
        chart.id = id;
        put_heat(&panels, view, trial->group, trial->title, columns, rows, &chart);
    }
    if (panels.size) {
        ys_html_put(out, "p", "soft", "The deeper, the faster; one scale for all.");
        ys_buf_puts(out, "<div class=\"charts small\">\n");
        ys_buf_append(out, panels.data, panels.size);
        ys_buf_puts(out, "</div>\n");
    }
    ys_buf_free(&panels);
    ys_buf_free(&x);
    ys_buf_free(&y);
}

void ys_html_heat_charts(struct ys_buf *out, const struct ys_view *view)
{
    struct values columns, rows;
    if (ys_view_axes(view) != 2 || view->many_sections)
        return;
    find_values(view, ys_view_axis(view, 0), &columns);
    find_values(view, ys_view_axis(view, 1), &rows);
    if (columns.count >= 2 && rows.count >= 2 && columns.count <= MOST_PANELS)
        put_heats(out, view, &columns, &rows);
    fini_values(&columns);
    fini_values(&rows);
}

/* ---- the distribution of steps */

struct step_blocks {
    const ys_json *step_s;
    int64_t steady_from;
};
static const struct ys_field blocks_fields[] = {
    YS_FIELD(struct step_blocks, step_s, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "seconds a step, block by block"),
    YS_FIELD(struct step_blocks, steady_from, YS_FIELD_INT, NULL, YS_FIELD_NULL, "first place of the steady part")};
static const struct ys_record blocks_record = YS_RECORD("blocks", struct step_blocks, blocks_fields);
struct pictured_run {
    const ys_json *blocks, *checkpoints;
};
static const struct ys_field run_fields[] = {
    YS_FIELD(struct pictured_run, blocks, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "its time stamps"),
    YS_FIELD(struct pictured_run, checkpoints, YS_FIELD_JSON, NULL, YS_FIELD_NULL, "its accuracy on the way")};
static const struct ys_record run_record = YS_RECORD("run", struct pictured_run, run_fields);

/** Steady steps of all of its drawn runs, in order of size; new (ys_free). */
static void steps_of(const struct ys_view_trial *trial, double **values, size_t *count)
{
    const ys_json *runs = trial->told->runs_detail;
    size_t room = 1;
    struct pictured_run run;
    struct step_blocks blocks;
    for (size_t i = 0; i < ys_json_size(runs); i++) {
        ys_record_glance(&run_record, ys_json_at(runs, i), &run);
        ys_record_glance(&blocks_record, run.blocks, &blocks);
        room += ys_json_size(blocks.step_s);
    }
    *count = 0;
    *values = ys_alloc(room, sizeof **values);
    for (size_t i = 0; i < ys_json_size(runs); i++) {
        ys_record_glance(&run_record, ys_json_at(runs, i), &run);
        ys_record_glance(&blocks_record, run.blocks, &blocks);
        if (blocks.steady_from == YS_FIELD_NONE || blocks.steady_from < 0)
            continue;
        for (size_t k = (size_t)blocks.steady_from; k < ys_json_size(blocks.step_s); k++) {
            const double value = ys_json_number(ys_json_at(blocks.step_s, k), NAN);
            if (value > 0 && isfinite(value))
                (*values)[(*count)++] = value;
        }
    }
    ys_stat_sort(*values, *count);
}

/** The share of blocks that took at least so long: of the n-th of them (n - its place) / n, so the last is 1 / n. */
static void draw_tail(const struct ys_view_trial *trial, struct ys_drawing *drawing)
{
    double *values;
    size_t count;
    steps_of(trial, &values, &count);
    struct ys_chart_curve *curve = count < 10 ? NULL : ys_drawing_add(drawing, trial->name, TAIL_POINTS);
    for (size_t i = 0; curve && i < TAIL_POINTS; i++) {
        /* Points lie as near to each other in the logarithm of the share, for it is the tail that is looked at. */
        const double share = pow((double)count, -(double)i / (TAIL_POINTS - 1));
        const size_t behind = (size_t)lround(share * (double)count), at = count - (behind ? behind : 1);
        ys_drawing_plain(curve, values[at], (double)(count - at) / (double)count);
    }
    if (curve) {
        curve->group = trial->hue;
        curve->member = trial->dashes;
        curve->strong = true;
    }
    ys_free(values);
}

void ys_html_step_chart(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_drawing drawing = {0};
    struct ys_chart_lines chart = {.id = "steps",
                                   .title = "How long steps take",
                                   .x_title = "time of a step",
                                   .y_title = "share of blocks that took at least so long",
                                   .description = "For each trial the share of its steady blocks whose steps took at "
                                                  "least so long, down to the slowest.",
                                   .x_kind = YS_KIND_SPAN,
                                   .y_kind = YS_KIND_NUMBER,
                                   .logarithmic = true,
                                   .x_logarithmic = true};
    for (size_t t = 0; t < view->count && drawing.count < YS_DRAWING_MOST; t++)
        if (!ys_mode_of(view->trials[t].told->keys.mode)->times_each && !view->trials[t].no_work)
            draw_tail(&view->trials[t], &drawing);
    put_lines(
        out, view, &drawing, &chart,
        "Steady blocks of the drawn runs, each with the mean time of its steps. Both scales are logarithmic: steep "
        "lines are steady, a long tail to the right is a few slow steps.");
}

/* ---- accuracy */

static void draw_runs(const struct ys_view_trial *trial, struct ys_drawing *drawing)
{
    const struct ys_view_metric accuracy = ys_view_metric(trial, "accuracy"), wall = ys_view_metric(trial, "wall_s");
    const size_t rounds = accuracy.rounds;
    struct ys_chart_curve *curve = ys_drawing_add(drawing, trial->name, rounds);
    for (size_t i = 0; curve && i < rounds && i < YS_HTML_DOTS; i++) {
        const double x = ys_view_round(wall, i), y = ys_view_round(accuracy, i);
        struct ys_buf title = {0};
        if (!isfinite(x) || !isfinite(y))
            continue;
        ys_buf_printf(&title, "%s, round %zu: %s after %s", trial->name, i + 1, ys_label_value(YS_KIND_SHARE, y).text,
                      ys_label_value(YS_KIND_SPAN, x).text);
        ys_drawing_point(curve, x, y, NAN, NAN, &title);
    }
    if (curve) {
        curve->group = trial->hue;
        curve->member = trial->dashes;
        curve->strong = curve->count > 0;
        curve->apart = true;
    }
}

struct checkpoint {
    double step, accuracy;
};
static const struct ys_field checkpoint_fields[] = {
    YS_FIELD(struct checkpoint, step, YS_FIELD_REAL, "1", YS_FIELD_NULL, "after which it was saved"),
    YS_FIELD(struct checkpoint, accuracy, YS_FIELD_REAL, "1", YS_FIELD_NULL, "of these weights")};
static const struct ys_record checkpoint_record = YS_RECORD("checkpoint", struct checkpoint, checkpoint_fields);

/** The first run that has any. */
static void draw_checkpoints(const struct ys_view_trial *trial, struct ys_drawing *drawing)
{
    const ys_json *runs = trial->told->runs_detail;
    for (size_t i = 0; i < ys_json_size(runs); i++) {
        struct pictured_run run;
        struct checkpoint one;
        ys_record_glance(&run_record, ys_json_at(runs, i), &run);
        const size_t count = ys_json_size(run.checkpoints);
        struct ys_chart_curve *curve = count ? ys_drawing_add(drawing, trial->name, count) : NULL;
        for (size_t k = 0; curve && k < count; k++) {
            struct ys_buf title = {0};
            ys_record_glance(&checkpoint_record, ys_json_at(run.checkpoints, k), &one);
            if (!isfinite(one.step) || !isfinite(one.accuracy))
                continue;
            ys_buf_printf(&title, "%s, step %.0f: %s", trial->name, one.step,
                          ys_label_value(YS_KIND_SHARE, one.accuracy).text);
            ys_drawing_point(curve, one.step, one.accuracy, NAN, NAN, &title);
        }
        if (curve) {
            curve->group = trial->hue;
            curve->member = trial->dashes;
            curve->strong = curve->count > 0;
        }
        if (count)
            return;
    }
}

void ys_html_reached_charts(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_drawing runs = {0}, on_the_way = {0};
    struct ys_chart_lines reached = {.id = "reached",
                                     .title = "Accuracy against time",
                                     .x_title = "time of the whole run",
                                     .y_title = "verified accuracy",
                                     .description = "Each run by the time that it took and the accuracy it reached.",
                                     .x_kind = YS_KIND_SPAN,
                                     .y_kind = YS_KIND_SHARE,
                                     .free_x = true,
                                     .free_y = true},
                          saved = {.id = "saved",
                                   .title = "Accuracy while training",
                                   .x_title = "step",
                                   .y_title = "verified accuracy",
                                   .description = "The accuracy of weights that were saved on the way.",
                                   .x_kind = YS_KIND_NUMBER,
                                   .y_kind = YS_KIND_SHARE};
    for (size_t t = 0; t < view->count && runs.count < YS_DRAWING_MOST; t++)
        if (view->trials[t].measured && !view->trials[t].no_work &&
            isfinite(ys_view_number(&view->trials[t], "accuracy"))) {
            draw_runs(&view->trials[t], &runs);
            draw_checkpoints(&view->trials[t], &on_the_way);
        }
    put_lines(out, NULL, &runs, &reached, "Each dot is a run. The axes need not begin at zero.");
    put_lines(out, view, &on_the_way, &saved,
              "Of the first run of each trial on its way, by the same program for all; its end stands in the pictures "
              "before.");
}

/* ---- what no other trial beats */

struct front_figure {
    const char *metric, *id, *title;
};

static bool is_beaten(const struct ys_view *view, const struct ys_view_trial *trial, const struct front_figure *other)
{
    const double rate = ys_view_number(trial, "rate_per_s"), value = ys_view_number(trial, other->metric);
    const bool higher = ys_metric_find(other->metric)->better == YS_BETTER_HIGHER;
    for (size_t t = 0; t < view->count; t++) {
        const struct ys_view_trial *rival = &view->trials[t];
        const double its_rate = ys_view_number(rival, "rate_per_s"), its_value = ys_view_number(rival, other->metric);
        const bool as_good = higher ? its_value >= value : its_value <= value;
        if (rival != trial && has_speed(rival) && its_rate >= rate && as_good &&
            (its_rate > rate || its_value != value))
            return true;
    }
    return false;
}

/** Where there are more colours to tell apart than a page has, dots change their shape. */
static int shape_of(const struct ys_view_trial *trial)
{
    return 2 * (trial->hue / YS_SVG_GROUPS);
}

static void draw_one(const struct ys_view *view, const struct ys_view_trial *trial, const struct front_figure *other,
                     struct ys_drawing *drawing)
{
    const bool beaten = is_beaten(view, trial, other);
    const double rate = ys_view_number(trial, "rate_per_s"), value = ys_view_number(trial, other->metric);
    struct ys_chart_curve *curve = ys_drawing_add(drawing, trial->name, 1);
    struct ys_buf title = {0};
    if (!curve)
        return;
    ys_buf_printf(&title, "%s: %s %s per second, %s%s", trial->name, ys_label_value(YS_KIND_RATE, rate).text,
                  view->unit, ys_label_value(ys_view_kind(other->metric), value).text,
                  beaten ? "" : "; no other is better in both");
    const struct ys_view_metric metric = ys_view_metric(trial, other->metric);
    ys_drawing_point(curve, rate, value, metric.interval ? metric.lo : NAN, metric.interval ? metric.hi : NAN, &title);
    curve->group = trial->hue;
    curve->member = shape_of(trial);
    curve->strong = !beaten;
    curve->apart = true;
}

/** What the colours of those mean that others beat, for the legend: a name for each that it does not explain yet. */
static void name_colours(const struct ys_view *view, const struct front_figure *other, struct ys_drawing *drawing)
{
    const bool alone = view->frameworks < 2;
    size_t added = 0;
    for (size_t t = 0; t < view->count && added < YS_DRAWING_MOST; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        bool named = !has_speed(trial) || !isfinite(ys_view_number(trial, other->metric));
        for (size_t c = 1; c < drawing->count && !named; c++)
            named = drawing->curves[c].strong && drawing->curves[c].group == trial->hue;
        struct ys_chart_curve *curve = named ? NULL : ys_drawing_add(drawing, alone ? trial->name : trial->title, 0);
        if (!curve)
            continue;
        curve->group = trial->hue;
        curve->member = shape_of(trial);
        curve->strong = curve->apart = true;
        added++;
    }
}

static void put_front(struct ys_buf *out, const struct ys_view *view, const struct front_figure *other)
{
    struct ys_drawing drawing = {0};
    char *unit = ys_format("%s per second", view->unit);
    struct ys_chart_lines chart = {.id = other->id,
                                   .title = other->title,
                                   .x_title = unit,
                                   .y_title = ys_view_metric_title(other->metric),
                                   .description = "Each trial by its speed and one other metric; the line joins those "
                                                  "that no other trial beats in both.",
                                   .x_kind = YS_KIND_RATE,
                                   .y_kind = ys_view_kind(other->metric),
                                   .free_x = true,
                                   .free_y = true};
    size_t shown = 0;
    struct ys_chart_curve *front = unit ? ys_drawing_add(&drawing, "no other is better in both", view->count) : NULL;
    for (size_t t = 0; front && t < view->count && shown < YS_HTML_MOST; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        struct ys_buf said = {0};
        if (!has_speed(trial) || !isfinite(ys_view_number(trial, other->metric)))
            continue;
        shown++;
        if (!is_beaten(view, trial, other))
            ys_drawing_point(front, ys_view_number(trial, "rate_per_s"), ys_view_number(trial, other->metric), NAN, NAN,
                             &said);
    }
    for (size_t i = 0; i < front->count; i++)
        ys_free(front->titles[i]);
    ys_free(front->titles);
    front->titles = NULL; /* its dots are those of the trials */
    front->group = YS_SVG_GROUPS - 1;
    front->member = 1;
    front->strong = front->count > 1;
    for (size_t t = 0, drawn = 0; t < view->count && drawn < shown; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        if (!has_speed(trial) || !isfinite(ys_view_number(trial, other->metric)))
            continue;
        draw_one(view, trial, other, &drawing);
        drawn++;
    }
    name_colours(view, other, &drawing);
    if (shown >= 3)
        put_lines(out, NULL, &drawing, &chart,
                  "Each dot is a trial, by its medians; the bar is the interval. The axes need not begin at zero.");
    ys_drawing_fini(&drawing);
    ys_free(unit);
}

void ys_html_front_charts(struct ys_buf *out, const struct ys_view *view)
{
    static const struct front_figure others[] = {
        {"accuracy", "front-accuracy", "Speed against accuracy"},
        {"rss_peak_bytes", "front-memory", "Speed against memory"},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        put_front(out, view, &others[i]);
}

/* ---- from round to round */

void ys_html_round_chart(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_drawing drawing = {0};
    struct ys_chart_lines chart = {.id = "rounds",
                                   .title = "From round to round",
                                   .x_title = "round",
                                   .y_title = "speed, of the trial's median",
                                   .description = "For each trial the speed of each run against its median.",
                                   .x_kind = YS_KIND_NUMBER,
                                   .y_kind = YS_KIND_NUMBER,
                                   .x_whole = true,
                                   .free_x = true,
                                   .free_y = true,
                                   .reference = 1};
    for (size_t t = 0; t < view->count && drawing.count < YS_DRAWING_MOST; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        const struct ys_view_metric rate = ys_view_metric(trial, "rate_per_s");
        const size_t rounds = rate.rounds;
        if (!has_speed(trial) || rounds < 2 || !(rate.value > 0))
            continue;
        struct ys_chart_curve *curve = ys_drawing_add(&drawing, trial->name, rounds);
        for (size_t i = 0; curve && i < rounds; i++) {
            const double ratio = ys_view_round(rate, i) / rate.value;
            struct ys_buf title = {0};
            if (!isfinite(ratio))
                continue;
            ys_buf_printf(&title, "%s, round %zu: %s of its median", trial->name, i + 1, ys_label_ratio(ratio).text);
            ys_drawing_point(curve, (double)(i + 1), ratio, NAN, NAN, &title);
        }
        if (curve) {
            curve->group = trial->hue;
            curve->member = trial->dashes;
            curve->strong = true;
        }
    }
    put_lines(out, NULL, &drawing, &chart,
              "What moves all trials at once is the machine; what moves one alone is the trial.");
}
