/* A result on one screen: what was done, the answer, a line a trial, a line for each kind of warning, where the rest
 * is. All of it is what ys_report_table() says at length. */
#include "base/mem.h"
#include "report/grid.h"
#include "report/question.h"
#include "report/report.h"
#include "report/section.h"
#include "report/summary.h"
#include "report/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 20, MOST_NAMES = 3, MOST_ANSWERS = 3 };

struct summary {
    struct ys_view view;
    int width;
    bool colour;
    struct ys_buf *out;
    const struct ys_view_trial **rows; /* each group by speed, the fastest first, then what was not measured */
    size_t *ends;                      /* of each group, the place in `rows` behind its measured trials */
    size_t *begins, groups;
};

static void put_wrapped(struct summary *page, const char *lead, struct ys_buf *text)
{
    const int used = (int)strlen(lead);
    if (text->size > 0) {
        ys_buf_puts(page->out, lead);
        ys_text_wrap(page->out, ys_buf_text(text), used, used, page->width);
    }
    page->out->failed |= text->failed;
    ys_buf_free(text);
}

/* ---- what was done */

/* `is_whole`: how many rounds there are stands nowhere else. */
static void put_done(struct summary *page, bool is_whole)
{
    const struct ys_view *view = &page->view;
    struct ys_buf text = {0}, title = {0};
    ys_text_clean(&text, ys_view_or(view->study.name, "study"), false);
    ys_section_title(&title, view);
    ys_buf_printf(&text, ": %s", ys_buf_text(&title));
    if (is_whole && view->rounds == view->repeat)
        ys_buf_printf(&text, ", %s", ys_label_plural(view->rounds, "round").text);
    else if (is_whole)
        ys_buf_printf(&text, ", %lld of %s", (long long)view->rounds, ys_label_plural(view->repeat, "round").text);
    const char *started = ys_view_or(view->study.started, "");
    if (ys_text_width(ys_buf_text(&text)) + 12 <= page->width && strspn(started, "0123456789-") == 10)
        ys_buf_printf(&text, ", %.10s", started);
    ys_buf_puts(page->out, page->colour ? "\x1B[1m" : "");
    ys_text_clip(page->out, ys_buf_text(&text), page->width);
    ys_buf_puts(page->out, page->colour ? "\x1B[0m\n" : "\n");
    page->out->failed |= text.failed || title.failed;
    ys_buf_free(&text);
    ys_buf_free(&title);
}

/* ---- the order of rows */

static double speed_of(const struct ys_view_trial *trial)
{
    return ys_view_number(trial, "rate_per_s");
}

static int by_speed(const void *x, const void *y)
{
    const struct ys_view_trial *a = *(const struct ys_view_trial *const *)x,
                               *b = *(const struct ys_view_trial *const *)y;
    const double of_a = isfinite(speed_of(a)) ? speed_of(a) : -1, of_b = isfinite(speed_of(b)) ? speed_of(b) : -1;
    if (of_a != of_b)
        return of_a < of_b ? 1 : -1;
    return (a > b) - (a < b);
}

static void add_group(struct summary *page, size_t *count, const struct ys_view_trial *const *trials, size_t size)
{
    const struct ys_view_trial **first = page->rows + *count;
    memcpy(first, trials, size * sizeof *trials);
    qsort(first, size, sizeof *first, by_speed);
    size_t measured = 0;
    while (measured < size && isfinite(speed_of(first[measured])))
        measured++;
    page->begins[page->groups] = *count;
    page->ends[page->groups++] = *count + measured;
    *count += size;
}

/* A document of earlier versions has no groups: all of its trials are one. */
static ys_status order_rows(struct summary *page)
{
    const struct ys_view *view = &page->view;
    size_t total = view->count, count = 0;
    for (size_t g = 0; g < view->group_count; g++)
        total += view->groups[g].count;
    page->rows = ys_alloc(total + 1, sizeof(struct ys_view_trial *));
    page->begins = ys_alloc(view->group_count + 1, sizeof *page->begins);
    page->ends = ys_alloc(view->group_count + 1, sizeof *page->ends);
    const struct ys_view_trial **all = ys_alloc(view->count + 1, sizeof(struct ys_view_trial *));
    const bool ok = page->rows && page->begins && page->ends && all;
    for (size_t i = 0; ok && i < view->count; i++)
        all[i] = &view->trials[i];
    for (size_t g = 0; ok && g < view->group_count; g++)
        add_group(page, &count, view->groups[g].trials, view->groups[g].count);
    if (ok && view->group_count == 0)
        add_group(page, &count, all, view->count);
    ys_free(all);
    return ok ? YS_OK : ys_out_of_memory();
}

static size_t measured_in(const struct summary *page, size_t group)
{
    return page->ends[group] - page->begins[group];
}

/* Whether speeds are compared at all. */
static bool has_relations(const struct summary *page)
{
    for (size_t g = 0; g < page->groups; g++)
        if (measured_in(page, g) > 1)
            return true;
    return false;
}

/* ---- the answer */

static void put_speed(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *trial)
{
    const struct ys_measure rate = ys_view_measure(ys_view_metric(trial, "rate_per_s"));
    ys_buf_printf(out, "%s%s %s per second", rate.value.text, rate.unit.text, view->unit);
}

/* "2.1 times as fast as X (1.9 to 2.3)": of the best, which is `trial` turned round. */
static void put_times(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *trial,
                      const struct ys_view_group *group, const char *behind)
{
    const struct ys_relation found = ys_question_relation(view, trial), *relation = &found;
    const double ratio = 1 / relation->ratio;
    ys_buf_printf(out, "%s times as fast as ", ys_label_ratio(ratio).text);
    ys_view_put_phrase(out, view, trial, group);
    ys_buf_puts(out, behind);
    if (isfinite(relation->lo) && relation->lo > 0)
        ys_buf_printf(out, " (%s)", ys_label_ratio_range(ratio, 1 / relation->hi, 1 / relation->lo).text);
}

/* Trials of one group, and how the others stand to the first, its fastest. */
struct standing {
    const struct ys_view_group *group; /* whose common factors need no word; NULL */
    const struct ys_view_trial *best;
    const struct ys_view_trial *const *others;
    size_t count;
    size_t of[YS_VERDICT_INVALID + 1]; /* how many others, by the verdict of the best against them turned round */
    const char *reason;                /* of the first that is unclear */
};

static struct standing find_standing(const struct summary *page, size_t group)
{
    const bool is_one_of_several = page->view.group_count > 1;
    struct standing found = {.group = is_one_of_several ? &page->view.groups[group] : NULL,
                             .best = page->rows[page->begins[group]],
                             .others = page->rows + page->begins[group] + 1,
                             .count = measured_in(page, group) - 1};
    for (size_t i = 0; i < found.count; i++) {
        const struct ys_relation relation = ys_question_relation(&page->view, found.others[i]);
        const int verdict = relation.verdict == YS_NAME_NONE ? YS_VERDICT_INVALID : relation.verdict;
        found.of[verdict]++;
        if (verdict == YS_VERDICT_UNCLEAR && !found.reason)
            found.reason = relation.reason;
    }
    return found;
}

/* Names of the others with that verdict: three of them, and how many more. */
static void put_those(struct ys_buf *out, const struct ys_view *view, const struct standing *standing, int verdict)
{
    size_t said = 0;
    const size_t all = standing->of[verdict];
    for (size_t i = 0; i < standing->count && said < MOST_NAMES; i++) {
        if (ys_question_relation(view, standing->others[i]).verdict != verdict)
            continue;
        ys_buf_puts(out, ys_label_join(said, all, ", "));
        ys_view_put_phrase(out, view, standing->others[i], standing->group);
        said++;
    }
    if (all > said)
        ys_buf_printf(out, " and %zu more", all - said);
}

static void say_fastest(struct ys_buf *out, const struct ys_view *view, const struct standing *standing)
{
    const struct ys_view_trial *next = standing->others[0];
    ys_view_put_phrase(out, view, standing->best, standing->group);
    if (standing->count == 1) {
        ys_buf_puts(out, " is ");
        put_times(out, view, next, standing->group, "");
        ys_buf_puts(out, ": ");
        put_speed(out, view, standing->best);
        ys_buf_puts(out, ".");
        return;
    }
    ys_buf_puts(out, " is the fastest: ");
    put_speed(out, view, standing->best);
    ys_buf_puts(out, ", ");
    put_times(out, view, next, standing->group, ", the next");
    ys_buf_puts(out, ".");
}

static void say_not_sure(struct ys_buf *out, const struct ys_view *view, const struct standing *standing)
{
    const size_t unclear = standing->of[YS_VERDICT_UNCLEAR], same = standing->of[YS_VERDICT_SAME],
                 slower = standing->of[YS_VERDICT_WORSE];
    ys_view_put_phrase(out, view, standing->best, standing->group);
    if (same > 0) {
        ys_buf_puts(out, same == 1 ? " and " : ", ");
        put_those(out, view, standing, YS_VERDICT_SAME);
        ys_buf_printf(out, " are equally fast, within %s: ", ys_label_share(view->study.margin).text);
    } else {
        ys_buf_puts(out, " came out fastest: ");
    }
    put_speed(out, view, standing->best);
    ys_buf_puts(out, ".");
    if (unclear > 0) {
        ys_buf_puts(out, same > 0 ? " Whether that is also faster than " : " Whether it is faster than ");
        if (unclear == standing->count && unclear > 1)
            ys_buf_puts(out, "any other");
        else
            put_those(out, view, standing, YS_VERDICT_UNCLEAR);
        ys_buf_puts(out, " is unclear");
        if (standing->reason)
            ys_buf_puts(out, ", because ");
        ys_text_clean(out, ys_view_or(standing->reason, ""), false);
        ys_buf_puts(out, ".");
    }
    if (slower > 0)
        ys_buf_printf(out, " %s slower.", slower == 1 ? "The other is" : unclear + same ? "The others are" : "All are");
}

/* What all of a group have in common and others have not: "batch 8, lr 0.01: ". */
static void put_common(struct ys_buf *out, const struct ys_view *view, const struct ys_view_group *group)
{
    bool begun = false;
    for (size_t i = 0; group && i < ys_view_axes(view); i++) {
        const char *axis = ys_view_axis(view, i);
        if (!ys_view_is_alike(group, axis))
            continue;
        const struct ys_view_trial *alone = group->trials[0];
        for (size_t t = 0; t < group->count && !ys_view_is_alone(alone); t++)
            alone = group->trials[t];
        ys_buf_puts(out, begun ? ", " : "");
        ys_view_put_factor(out, alone, axis, ys_json_get(group->trials[0]->told.factors, axis));
        begun = true;
    }
    ys_buf_puts(out, begun ? ": " : "");
}

/* `said`: the reason of a group before, which is not said again; it becomes that of this one. */
static void say_group(struct ys_buf *out, const struct summary *page, size_t group, const char **said)
{
    struct standing standing = find_standing(page, group);
    if (standing.count == standing.of[YS_VERDICT_INVALID])
        return;
    if (standing.reason && *said && strcmp(standing.reason, *said) == 0)
        standing.reason = NULL;
    else if (standing.reason)
        *said = standing.reason;
    put_common(out, &page->view, standing.group);
    if (standing.of[YS_VERDICT_WORSE] == standing.count)
        say_fastest(out, &page->view, &standing);
    else
        say_not_sure(out, &page->view, &standing);
}

/* Of a group, whether all learned the same as its fastest. */
static void say_learned(struct ys_buf *out, const struct summary *page, size_t group)
{
    const struct ys_view *view = &page->view;
    const bool tokens = ys_view_is_known(view, "bits_per_token");
    const char *metric = tokens ? "bits_per_token" : "accuracy";
    const struct ys_view_trial *best = page->rows[page->begins[group]];
    size_t known = 0, equal = 0, same = 0, differ = 0;
    for (size_t i = page->begins[group] + 1; i < page->ends[group]; i++) {
        const struct ys_view_trial *other = page->rows[i];
        if (!isfinite(ys_view_number(other, metric)) || !isfinite(ys_view_number(best, metric)))
            continue;
        bool is_second;
        const struct ys_view_comparison *found = ys_question_comparison(view, metric, best->id, other->id, &is_second);
        known++;
        equal += ys_view_same_values(ys_view_metric(best, metric), ys_view_metric(other, metric));
        same += found && found->verdict == YS_VERDICT_SAME;
        differ += found && (found->verdict == YS_VERDICT_BETTER || found->verdict == YS_VERDICT_WORSE);
    }
    const char *what = tokens ? "bits a token" : "accuracy";
    if (known == 0)
        return;
    if (equal == known)
        ys_buf_printf(out, " %s the same %s in every round.", known > 1 ? "All reach" : "Both reach", what);
    else if (same == known)
        ys_buf_printf(out, " %s reach the same %s, within %s.", known > 1 ? "All" : "Both", what,
                      tokens ? ys_label_share(view->study.margin).text : "half a point");
    else if (differ > 0)
        ys_buf_printf(out, " Not all reach the same %s.", what);
}

/* Of ranks that do more work the more there are, which are in no group. Returns how many sentences there are. */
static size_t say_scaling(struct ys_buf *out, const struct ys_view *view)
{
    size_t said = 0;
    for (size_t i = 0; i < view->comparison_count && said < MOST_ANSWERS; i++) {
        const struct ys_view_comparison *one = &view->comparisons[i];
        const struct ys_view_trial *a = ys_view_find(view, ys_view_or(one->a, "")),
                                   *b = ys_view_find(view, ys_view_or(one->b, ""));
        if (one->scaling != YS_SCALING_WEAK || strcmp(ys_view_or(one->metric, ""), "rate_per_s") != 0 || !a || !b ||
            !isfinite(one->ratio) || !isfinite(one->efficiency))
            continue;
        ys_buf_puts(out, said++ ? " " : "");
        ys_view_put_phrase(out, view, a, NULL);
        ys_buf_printf(out, " is %s times as fast as ", ys_label_ratio(one->ratio).text);
        ys_view_put_phrase(out, view, b, NULL);
        if (isfinite(one->lo))
            ys_buf_printf(out, " (%s)", ys_label_ratio_range(one->ratio, one->lo, one->hi).text);
        ys_buf_printf(out, ": a scaling efficiency of %s.", ys_label_share(one->efficiency).text);
    }
    return said;
}

/* `is_told`: why there is no result stands before it. */
static void say_alone(struct ys_buf *out, const struct summary *page, bool is_told)
{
    const struct ys_view *view = &page->view;
    const struct ys_view_trial *only = NULL;
    size_t measured = 0;
    for (size_t i = 0; i < view->count; i++)
        if (isfinite(speed_of(&view->trials[i])) && (!view->trials[i].no_work || !view->works_at_all)) {
            measured++;
            only = &view->trials[i];
        }
    if (say_scaling(out, view) > 0)
        return;
    if (measured > 1) {
        ys_buf_puts(out, "Each trial does work of its own");
        for (size_t i = 0; i < ys_view_axes(view); i++) {
            ys_buf_puts(out, i ? ", " : " (they differ in ");
            ys_text_clean(out, ys_view_axis(view, i), false);
        }
        ys_buf_puts(out, ys_view_axes(view) ? "): none is called the fastest." : ": none is called the fastest.");
    } else if (only) {
        ys_view_put_phrase(out, view, only, NULL);
        ys_buf_puts(out, only->infers ? " answers " : " trains at ");
        put_speed(out, view, only);
        ys_buf_puts(out, "; there is nothing to compare it with.");
    } else if (!is_told) {
        ys_buf_puts(out, "There is no result.");
    }
}

/* A group each is a paragraph; one alone is told of with what it learned. */
static void put_answer(struct summary *page, const ys_json *state)
{
    const char *reason = NULL;
    size_t said = 0, unsaid = 0, groups = 0;
    ys_buf_puts(page->out, "\n");
    for (size_t i = 0; i < ys_json_size(state); i++)
        ys_text_wrap(page->out, ys_json_text(ys_json_at(state, i), ""), 0, 0, page->width);
    for (size_t g = 0; g < page->groups; g++)
        groups += measured_in(page, g) > 1 && !page->rows[page->begins[g]]->no_work;
    for (size_t g = 0; g < page->groups; g++) {
        struct ys_buf text = {0};
        if (measured_in(page, g) < 2 || (page->rows[page->begins[g]]->no_work && groups > 0))
            continue;
        if (said < MOST_ANSWERS)
            say_group(&text, page, g, &reason);
        else
            unsaid++;
        if (text.size > 0 && groups <= 1)
            say_learned(&text, page, g);
        said += text.size > 0;
        put_wrapped(page, "", &text);
    }
    struct ys_buf text = {0};
    if (unsaid > 0)
        ys_buf_printf(&text, "%s more in the table.", ys_label_plural((long long)unsaid, "group").text);
    if (said == 0)
        say_alone(&text, page, ys_json_size(state) > 0);
    put_wrapped(page, "", &text);
}

/* ---- a line a trial */

struct columns {
    bool relative, range;
    const char *metrics[4];
    size_t count;
};

static struct columns choose_columns(const struct summary *page)
{
    static const char *const wanted[] = {"accuracy", "bits_per_token", "latency_p50_s", "latency_p99_s",
                                         "rss_peak_bytes"};
    const struct ys_view *view = &page->view;
    struct columns columns = {.relative = has_relations(page)};
    const bool tokens = ys_view_is_known(view, "bits_per_token");
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (ys_view_is_known(view, wanted[i]) && !(tokens && strcmp(wanted[i], "accuracy") == 0) &&
            columns.count < sizeof columns.metrics / sizeof columns.metrics[0])
            columns.metrics[columns.count++] = wanted[i];
    for (size_t i = 0; i < view->count; i++) {
        const struct ys_relation relation = ys_question_relation(view, &view->trials[i]);
        columns.range |=
            columns.relative ? isfinite(relation.lo) : ys_view_metric(&view->trials[i], "rate_per_s").interval;
    }
    return columns;
}

/* How a trial that was not measured ended; sentences below say more. */
static void put_ending(struct ys_grid *grid, const struct ys_view_trial *trial)
{
    const char *stage = ys_stage_name(trial->told.stage);
    struct ys_buf text = {0};
    ys_buf_puts(&text, trial->status == YS_RUN_OK ? "no complete run" : ys_run_status_name(trial->status));
    if (stage && trial->status != YS_RUN_OK)
        ys_buf_printf(&text, " (%s)", stage);
    ys_grid_note(grid, ys_buf_text(&text));
    grid->failed |= text.failed;
    ys_buf_free(&text);
}

static void fill_row(const struct summary *page, const struct columns *columns, struct ys_grid *grid,
                     const struct ys_view_trial *trial)
{
    const struct ys_measure rate = ys_view_measure(ys_view_metric(trial, "rate_per_s"));
    const struct ys_relation relation = ys_question_relation(&page->view, trial);
    size_t column = 1;
    char text[96];
    snprintf(text, sizeof text, "%.40s%.40s", rate.value.text, rate.unit.text);
    ys_grid_cell(grid, column++, YS_GRID_PLAIN, text);
    if (columns->relative) {
        ys_grid_cell(grid, column++, YS_GRID_PLAIN, ys_label_relative(relation.ratio).text);
        if (columns->range)
            ys_grid_cell(grid, column++, YS_GRID_PLAIN,
                         relation.is_best ? "" : ys_label_ratio_range(relation.ratio, relation.lo, relation.hi).text);
        ys_grid_cell(grid, column++,
                     relation.is_best                         ? YS_GRID_GOOD
                     : relation.verdict == YS_VERDICT_INVALID ? YS_GRID_BAD
                                                              : YS_GRID_PLAIN,
                     relation.word);
    } else if (columns->range) {
        snprintf(text, sizeof text, "%.40s%.40s", rate.interval.text, rate.unit.text);
        ys_grid_cell(grid, column++, YS_GRID_PLAIN, rate.interval.text[0] ? text : "");
    }
    for (size_t i = 0; i < columns->count; i++)
        ys_grid_cell(grid, column++, YS_GRID_PLAIN, ys_view_label(ys_view_metric(trial, columns->metrics[i])).text);
}

static int name_room(const struct summary *page)
{
    return page->width * 45 / 100 - 2; /* and a mark */
}

static bool has_long_names(const struct summary *page)
{
    for (size_t i = 0; i < page->view.count; i++)
        if (ys_text_width(page->view.trials[i].name) > name_room(page))
            return true;
    return false;
}

/* "builtin, 8, 2": without the names of factors, which the head has. */
static void put_short_name(struct ys_buf *out, const struct ys_view *view, const struct ys_view_trial *trial)
{
    ys_buf_puts(out, trial->framework);
    for (size_t i = 0; i < ys_view_axes(view); i++) {
        const ys_json *value = ys_json_get(trial->told.factors, ys_view_axis(view, i));
        ys_buf_puts(out, ", ");
        if (value)
            ys_view_put_value(out, value);
        else
            ys_buf_puts(out, "-");
    }
    if (view->many_sections)
        ys_buf_printf(out, ", %s", ys_view_or(trial->told.section, ""));
}

static void put_short_head(struct ys_buf *out, const struct ys_view *view)
{
    ys_buf_puts(out, "framework");
    for (size_t i = 0; i < ys_view_axes(view); i++) {
        const char *axis = ys_view_axis(view, i), *dot = strrchr(axis, '.');
        ys_buf_puts(out, ", ");
        ys_text_clean(out, dot && dot[1] ? dot + 1 : axis, false);
    }
    ys_buf_puts(out, view->many_sections ? ", section" : "");
}

/* The trial's name with the mark of its proof; one that is too long even so is cut, and begins with its number. */
static void name_row(const struct summary *page, struct ys_grid *grid, const struct ys_view_trial *trial, bool is_short)
{
    const int room = name_room(page);
    struct ys_buf name = {0}, whole = {0};
    if (is_short)
        put_short_name(&whole, &page->view, trial);
    else
        ys_buf_puts(&whole, trial->name);
    struct ys_buf clean = {0};
    ys_text_clean(&clean, ys_buf_text(&whole), false);
    ys_grid_row(grid);
    if (ys_text_width(ys_buf_text(&clean)) > room)
        ys_buf_printf(&name, "#%zu ", (size_t)(trial - page->view.trials) + 1);
    ys_text_clip(&name, ys_buf_text(&clean), room - (int)name.size);
    ys_buf_puts(&name, ys_view_proof_mark(trial));
    ys_grid_cell(grid, 0, YS_GRID_PLAIN, ys_buf_text(&name));
    grid->failed |= name.failed || whole.failed || clean.failed;
    ys_buf_free(&clean);
    ys_buf_free(&whole);
    ys_buf_free(&name);
}

/* Of latencies the head that their own table has says too little. */
static struct ys_label head_of(const char *metric)
{
    struct ys_label label = {"median\nlatency"};
    if (strcmp(metric, "latency_p99_s") == 0)
        return (struct ys_label){"99 %\nwithin"};
    return strcmp(metric, "latency_p50_s") == 0 ? label : ys_view_metric_head(metric, true);
}

static ys_status print_rows(const struct summary *page, const struct columns *columns, struct ys_buf *out)
{
    struct ys_grid grid;
    struct ys_label heads[4]; /* which the grid borrows */
    const size_t shown = page->view.count < MOST_ROWS ? page->view.count : MOST_ROWS;
    char *rate = ys_format("%s\nper s", page->view.unit);
    ys_grid_init(&grid, 1);
    const bool is_short = has_long_names(page);
    struct ys_buf head = {0};
    if (is_short)
        put_short_head(&head, &page->view);
    ys_grid_column(&grid, ys_buf_text(&head), false);
    ys_grid_column(&grid, rate ? rate : "", true);
    if (columns->relative)
        ys_grid_column(&grid, "relative", true);
    if (columns->range)
        ys_grid_column(&grid, columns->relative ? "range\n(95 %)" : "range", true);
    if (columns->relative)
        ys_grid_column(&grid, "", false);
    for (size_t i = 0; i < columns->count; i++) {
        heads[i] = head_of(columns->metrics[i]);
        ys_grid_column(&grid, heads[i].text, true);
    }
    for (size_t i = 0; i < shown; i++) {
        name_row(page, &grid, page->rows[i], is_short);
        if (isfinite(speed_of(page->rows[i])))
            fill_row(page, columns, &grid, page->rows[i]);
        else
            put_ending(&grid, page->rows[i]);
    }
    grid.failed |= !rate || head.failed;
    ys_buf_free(&head);
    ys_status status = ys_grid_print(&grid, 0, page->width, page->colour, out);
    ys_grid_fini(&grid);
    ys_free(rate);
    return status;
}

/* As many columns as fit beside each other: a second table below the first would be a second screen. */
static ys_status put_rows(struct summary *page)
{
    struct columns columns = choose_columns(page);
    struct ys_buf text = {0};
    ys_status status = print_rows(page, &columns, &text);
    while (status == YS_OK && strstr(ys_buf_text(&text), "\n\n") && (columns.count > 0 || columns.range)) {
        if (columns.count > 0)
            columns.count--;
        else
            columns.range = false;
        ys_buf_clear(&text);
        status = print_rows(page, &columns, &text);
    }
    ys_buf_printf(page->out, "\n%s", ys_buf_text(&text));
    if (page->view.count > MOST_ROWS)
        ys_buf_printf(page->out, "and %zu more\n", page->view.count - MOST_ROWS);
    page->out->failed |= text.failed;
    ys_buf_free(&text);
    return status;
}

/* ---- what is to be known beside it */

static void put_texts(struct summary *page, ys_json *texts, bool *begun)
{
    for (size_t i = 0; i < ys_json_size(texts); i++) {
        struct ys_buf text = {0};
        ys_buf_puts(&text, ys_json_text(ys_json_at(texts, i), ""));
        if (!*begun)
            ys_buf_puts(page->out, "\n");
        *begun = true;
        const bool is_marked = text.size > 1 && strchr("*!?~", text.data[0]) && text.data[1] == ' ';
        if (is_marked) { /* the mark that stands behind names is the line's own */
            const char lead[3] = {text.data[0], ' ', 0};
            struct ys_buf rest = {0};
            ys_buf_puts(&rest, text.data + 2);
            ys_buf_free(&text);
            put_wrapped(page, lead, &rest);
        } else {
            put_wrapped(page, "- ", &text);
        }
    }
}

static ys_status put_notes(struct summary *page)
{
    ys_json *failures = NULL, *notes = ys_json_array();
    bool begun = false;
    ys_status status =
        notes ? ys_words(&page->view, YS_WORDS_FAILED | YS_WORDS_ANSWERS, &failures) : ys_out_of_memory();
    if (status == YS_OK)
        status = ys_summary_notes(&page->view, notes);
    if (status == YS_OK) {
        put_texts(page, failures, &begun);
        put_texts(page, notes, &begun);
    }
    ys_json_free(failures);
    ys_json_free(notes);
    return status;
}

static ys_status put_page(struct summary *page, const char *more)
{
    ys_json *state = NULL;
    ys_status status = order_rows(page);
    if (status == YS_OK)
        status = ys_words(&page->view, YS_WORDS_STATE, &state);
    if (status == YS_OK) {
        put_done(page, ys_json_size(state) == 0);
        put_answer(page, state);
        if (page->view.count > 0)
            status = put_rows(page);
    }
    if (status == YS_OK)
        status = put_notes(page);
    ys_json_free(state);
    if (status == YS_OK && more) {
        ys_buf_puts(page->out, "\n");
        ys_text_wrap(page->out, more, 0, 2, page->width);
    }
    ys_free(page->rows);
    ys_free(page->begins);
    ys_free(page->ends);
    ys_view_fini(&page->view);
    return status == YS_OK && page->out->failed ? ys_out_of_memory() : status;
}

ys_status ys_report_summary(const ys_json *result, const char *more, int width, bool colour, struct ys_buf *out)
{
    struct summary page = {.width = width < 40 ? 40 : width, .colour = colour, .out = out};
    YS_TRY(ys_view_init(&page.view, result));
    return put_page(&page, more);
}

ys_status ys_report_summary_of(const struct ys_result *result, const char *more, int width, bool colour,
                               struct ys_buf *out)
{
    struct summary page = {.width = width < 40 ? 40 : width, .colour = colour, .out = out};
    YS_TRY(ys_view_init_of(&page.view, result));
    return put_page(&page, more);
}
