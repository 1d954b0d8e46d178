/* What to take for a wish, as plain text. */
#include "base/mem.h"
#include "metric/metric.h"
#include "report/clean_text.h"
#include "report/judged/judged.h"
#include "report/label.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum ys_kind kind_of(const char *metric)
{
    const struct ys_metric_info *info = ys_metric_find(metric);
    return info ? info->kind : YS_KIND_NUMBER;
}

/* "5180 1/s [5100, 5250]" */
static void put_value(struct ys_buf *out, const struct ys_recommend_value *value)
{
    const double *ci = value->ci.items;
    const bool known = value->ci.count == 2;
    struct ys_measure measure =
        ys_measure(kind_of(value->metric), value->value, known ? ci[0] : NAN, known ? ci[1] : NAN);
    ys_buf_printf(out, "%s", measure.value.text);
    if (*measure.unit.text)
        ys_buf_printf(out, " %s", measure.unit.text);
    if (known)
        ys_buf_printf(out, " %s", measure.interval.text);
}

static void put_wrapped(struct ys_buf *out, struct ys_buf *line, const char *bullet, int width)
{
    ys_buf_puts(out, bullet);
    ys_text_wrap(out, ys_buf_text(line), (int)strlen(bullet), (int)strlen(bullet), width);
    ys_buf_free(line);
}

/* "accuracy >= 98 % and rss_peak_bytes <= 2GiB" */
static void put_texts(struct ys_buf *out, const struct ys_list *texts, const char *between)
{
    char *const *all = texts->items;
    for (size_t i = 0; i < texts->count; i++)
        ys_buf_printf(out, "%s%s", i ? between : "", all[i]);
}

static void put_answer(struct ys_buf *out, const struct ys_recommended *told, int width)
{
    struct ys_buf line = {0};
    const struct ys_recommend_trial *trials = told->trials.items;
    const struct ys_recommend_value *values = told->trials.count ? trials[0].values.items : NULL;
    if (!told->choice) {
        ys_buf_printf(&line, "No trial of %s meets the wish \"%s\".", told->study.name ? told->study.name : "the study",
                      told->wish);
    } else {
        ys_buf_printf(&line, "Take %s: %s %s of those that %s", told->choice,
                      told->highest ? "the highest" : "the lowest", told->metric, told->sure ? "meet " : "may meet ");
        put_texts(&line, &told->bounds, " and ");
        ys_buf_puts(&line, told->bounds.count ? ", " : "the wish, ");
        put_value(&line, &values[0]);
        ys_buf_puts(&line, told->sure ? "." : "; none meets it for sure.");
    }
    put_wrapped(out, &line, "", width);
}

static void put_evidence(struct ys_buf *out, const struct ys_recommended *told, int width)
{
    struct ys_buf line = {0};
    if (!told->choice)
        return;
    ys_buf_printf(&line, "evidence: %lld run%s; proof: %s; audit: %s", (long long)told->rounds,
                  told->rounds == 1 ? "" : "s", told->proof, told->audit ? told->audit : "none was made");
    put_wrapped(out, &line, "", width);
    if (told->alike.count) {
        ys_buf_puts(&line, "not told apart from it: ");
        put_texts(&line, &told->alike, ", ");
        put_wrapped(out, &line, "", width);
    }
}

static const struct ys_recommend_value *value_at(const struct ys_recommend_trial *trial, size_t at)
{
    const struct ys_recommend_value *values = trial->values.items;
    return at < trial->values.count ? &values[at] : NULL;
}

enum { TERMS = 16 };

/* A trial's id in parts: the section, then KEY=VALUE of each factor. */
struct terms {
    struct term {
        const char *text;
        int length, key; /* key: bytes before the = */
    } items[TERMS];
    size_t count;
};

static struct terms split(const char *id)
{
    struct terms terms = {0};
    for (const char *at = id; *at && terms.count < TERMS; at += *at != 0) {
        const char *from = at, *equals = NULL, *end = terms.count ? "," : ":";
        for (int depth = 0; *at && (depth > 0 || *at != *end); at++) {
            depth += (*at == '(') - (*at == ')');
            equals = !equals && *at == '=' ? at : equals;
        }
        terms.items[terms.count++] = (struct term){from, (int)(at - from), equals ? (int)(equals - from) : 0};
    }
    return terms;
}

static bool are_same(const struct term *a, const struct term *b, bool by_key)
{
    const int size = by_key ? a->key : a->length;
    return size == (by_key ? b->key : b->length) && strncmp(a->text, b->text, (size_t)size) == 0;
}

/* The terms by which trials of the same factors differ, each a column that names them; none where the factors differ.
 */
struct naming {
    size_t at[TERMS], count;
};

static struct naming naming_of(const struct ys_recommended *told)
{
    const struct ys_recommend_trial *trials = told->trials.items;
    struct naming naming = {0};
    const struct terms first = split(told->trials.count ? trials[0].trial : "");
    for (size_t t = 0; t < first.count; t++) {
        bool differs = false;
        for (size_t i = 1; i < told->trials.count; i++) {
            const struct terms other = split(trials[i].trial);
            if (other.count != first.count || !are_same(&first.items[t], &other.items[t], true))
                return (struct naming){0};
            differs |= !are_same(&first.items[t], &other.items[t], false);
        }
        if (differs)
            naming.at[naming.count++] = t;
    }
    return naming;
}

/* The cells before the metrics. */
static void put_names(struct ys_sheet *sheet, const struct naming *naming, const struct ys_recommend_trial *trial)
{
    const struct terms terms = split(trial->trial);
    for (size_t i = 0; i < naming->count; i++) {
        const struct term *term = &terms.items[naming->at[i]];
        const int skip = term->key ? term->key + 1 : 0;
        ys_sheet_printf(sheet, YS_MOOD_PLAIN, "%.*s", term->length - skip, term->text + skip);
    }
    if (!naming->count)
        ys_sheet_put(sheet, YS_MOOD_PLAIN, trial->trial);
}

static void name_columns(struct ys_sheet *sheet, const struct naming *naming, const char *id)
{
    const struct terms terms = split(id);
    for (size_t i = 0; i < naming->count; i++) {
        const struct term *term = &terms.items[naming->at[i]];
        char *key = ys_strndup(term->text, (size_t)term->key);
        ys_sheet_column(sheet, YS_FORM_TEXT, YS_COLUMN_NAME, key && *key ? key : "section", NULL);
        ys_free(key);
    }
    if (!naming->count)
        ys_sheet_column(sheet, YS_FORM_TEXT, YS_COLUMN_NAME, "trial", NULL);
    sheet->naming = naming->count ? naming->count : 1;
}

static void add_row(struct ys_sheet *sheet, const struct naming *naming, const struct ys_recommend_trial *trial,
                    size_t columns)
{
    struct ys_buf text = {0};
    const double *ci = trial->ci.items;
    ys_sheet_row(sheet);
    put_names(sheet, naming, trial);
    ys_sheet_put(sheet, trial->standing == YS_STANDS_CHOSEN ? YS_MOOD_GOOD : YS_MOOD_PLAIN,
                 ys_name_of(&ys_standings, trial->standing));
    ys_sheet_put(sheet, YS_MOOD_PLAIN, trial->front ? "yes" : "");
    for (size_t i = 0; i < columns; i++) {
        ys_buf_clear(&text);
        if (value_at(trial, i))
            put_value(&text, value_at(trial, i));
        ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_buf_text(&text));
    }
    ys_buf_clear(&text);
    if (isfinite(trial->ratio))
        ys_buf_printf(&text, "%.3fx", trial->ratio);
    else if (isfinite(trial->difference))
        ys_buf_printf(&text, "%+.2f %%", 100 * trial->difference);
    if (text.size && trial->ci.count == 2)
        ys_buf_printf(&text, isfinite(trial->ratio) ? " [%.3f, %.3f]" : " [%+.2f, %+.2f]",
                      isfinite(trial->ratio) ? ci[0] : 100 * ci[0], isfinite(trial->ratio) ? ci[1] : 100 * ci[1]);
    ys_sheet_put(sheet, YS_MOOD_FAINT, ys_buf_text(&text));
    ys_buf_free(&text);
}

static void put_trials(struct ys_buf *out, const struct ys_recommended *told, int width, bool colour)
{
    const struct ys_medium medium = {.form = YS_FORM_TEXT, .width = width, .indent = 2, .colour = colour};
    const struct ys_recommend_trial *trials = told->trials.items;
    const size_t columns = told->trials.count ? trials[0].values.count : 0;
    const struct naming naming = naming_of(told);
    struct ys_sheet sheet = ys_sheet_init(&medium);
    name_columns(&sheet, &naming, told->trials.count ? trials[0].trial : "");
    ys_sheet_column(&sheet, YS_FORM_TEXT, YS_COLUMN_VERDICT, "standing", NULL);
    ys_sheet_column(&sheet, YS_FORM_TEXT, YS_COLUMN_TEXT, "front", NULL);
    for (size_t i = 0; i < columns; i++)
        ys_sheet_column(&sheet, YS_FORM_TEXT, YS_COLUMN_NUMBER, value_at(&trials[0], i)->metric, NULL);
    ys_sheet_column(&sheet, YS_FORM_TEXT, YS_COLUMN_NUMBER, "against the choice", NULL);
    for (size_t i = 0; i < told->trials.count; i++)
        add_row(&sheet, &naming, &trials[i], columns);
    ys_buf_puts(out, "\n");
    ys_sheet_write(&sheet, out);
}

/* What one trial could do to the answer; nothing: it could not. */
static void put_change(struct ys_buf *line, const struct ys_recommended *told, const struct ys_recommend_trial *trial)
{
    if (trial->standing == YS_STANDS_UNFIT) {
        ys_buf_printf(line, "%s counts for nothing: %s", trial->trial, trial->reason ? trial->reason : "");
    } else if (trial->standing == YS_STANDS_MAY && (trial->better || !told->choice)) {
        ys_buf_printf(line, "more runs may show that %s meets ", trial->trial);
        put_texts(line, &trial->misses, " and ");
        ys_buf_puts(line, ": then it is the choice");
    } else if (trial->standing == YS_STANDS_MISSES && (trial->better || !told->choice)) {
        ys_buf_printf(line, "%s would be %s without ", trial->trial, told->choice ? "better" : "the choice");
        put_texts(line, &trial->misses, " and ");
    } else if (trial->verdict == YS_VERDICT_BETTER) {
        ys_buf_printf(line, "%s is better than the choice in the rounds that both have: runs that failed hide it",
                      trial->trial);
    } else if (trial->verdict == YS_VERDICT_UNCLEAR) {
        ys_buf_printf(line, "more rounds may tell %s from the choice, either way", trial->trial);
    }
}

static void put_changes(struct ys_buf *out, const struct ys_recommended *told, int width)
{
    const struct ys_recommend_trial *trials = told->trials.items;
    bool any = false;
    for (size_t i = 0; i < told->trials.count; i++) {
        struct ys_buf line = {0};
        put_change(&line, told, &trials[i]);
        if (line.size) {
            ys_buf_puts(out, any ? "" : "\nWhat would change the answer\n");
            put_wrapped(out, &line, "  * ", width);
            any = true;
        }
        ys_buf_free(&line);
    }
}

static void put_lines(struct ys_buf *out, const struct ys_recommended *told)
{
    char *const *lines = told->lines.items;
    ys_buf_puts(out, told->lines.count ? "\nTo paste into a section of a study\n" : "");
    for (size_t i = 0; i < told->lines.count; i++) {
        ys_buf_puts(out, "  ");
        ys_text_clean(out, lines[i], false);
        ys_buf_puts(out, "\n");
    }
}

void ys_report_recommended(const struct ys_recommended *told, int width, bool colour, struct ys_buf *out)
{
    put_answer(out, told, width);
    put_evidence(out, told, width);
    put_trials(out, told, width, colour);
    if (told->left_out > 0)
        ys_buf_printf(out, "  %lld trial%s of other keys left out\n", (long long)told->left_out,
                      told->left_out == 1 ? "" : "s");
    put_changes(out, told, width);
    put_lines(out, told);
}
