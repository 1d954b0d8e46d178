#include "report/tables/observed_tables.h"

#include "base/mem.h"
#include "base/json/record.h"
#include "metric/result_document.h"
#include "report/draw/chart.h"
#include "report/page_parts.h"
#include "report/view/view.h"
#include "report/tables/tables.h"
#include "report/clean_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CODES = 9, PHASES = 2 };

/* What is read of the machine. */
struct self_test_row {
    char *what, *unit, *verdict;
    double truth, observed, error, bound;
};
struct self_test {
    char *date, *host;
    struct ys_list rows; /* struct self_test_row */
};
struct observed_machine {
    struct self_test *self_test;
};
#define OF_ROW(member, kind) YS_FIELD(struct self_test_row, member, kind, NULL, YS_FIELD_NULL | YS_FIELD_LATER, "")
static const struct ys_field row_fields[] = {
    OF_ROW(what, YS_FIELD_TEXT),  OF_ROW(unit, YS_FIELD_TEXT),     OF_ROW(verdict, YS_FIELD_TEXT),
    OF_ROW(truth, YS_FIELD_REAL), OF_ROW(observed, YS_FIELD_REAL), OF_ROW(error, YS_FIELD_REAL),
    OF_ROW(bound, YS_FIELD_REAL),
};
static const struct ys_record row_record = YS_RECORD("row", struct self_test_row, row_fields);
static const struct ys_field self_test_fields[] = {
    YS_FIELD(struct self_test, date, YS_FIELD_TEXT, NULL, YS_FIELD_NULL | YS_FIELD_LATER, "when"),
    YS_FIELD(struct self_test, host, YS_FIELD_TEXT, NULL, YS_FIELD_NULL | YS_FIELD_LATER, "where"),
    YS_FIELD_OF(struct self_test, rows, YS_FIELD_LIST, &row_record, YS_FIELD_NULL | YS_FIELD_LATER, "by what was done"),
};
static const struct ys_record self_test_record = YS_RECORD("self_test", struct self_test, self_test_fields);
static const struct ys_field machine_fields[] = {
    YS_FIELD_OF(struct observed_machine, self_test, YS_FIELD_OBJECT_OWNED, &self_test_record,
                YS_FIELD_NULL | YS_FIELD_LATER, "of doctor"),
};
static const struct ys_record machine_record = YS_RECORD("host", struct observed_machine, machine_fields);

/* By how much a trial's speed is another without its disturbed runs; NaN where none is left, or none has one. */
static double change_of(const struct ys_view_trial *trial)
{
    const struct ys_mode_facts *mode = ys_mode_of(trial->told->keys.mode);
    const struct ys_result_quiet *quiet = trial->told->quiet;
    const double with = ys_view_number(trial, mode->speed_metric), without = !quiet             ? NAN
                                                                             : mode->times_each ? quiet->latency_p50_s
                                                                                                : quiet->rate_per_s;
    return fabs(without / with - 1);
}

void ys_observed_put_disturbed(struct ys_buf *out, const struct ys_view *view)
{
    int64_t runs = 0, disturbed = 0, bare = 0;
    double change = NAN;
    for (size_t i = 0; i < view->count; i++) {
        const struct ys_view_trial *trial = &view->trials[i];
        runs += trial->told->runs;
        disturbed += trial->told->disturbed > 0 ? trial->told->disturbed : 0;
        if (trial->told->disturbed <= 0)
            continue;
        change = fmax(change, change_of(trial)); /* which passes over NaN */
        bare += isnan(change_of(trial));
    }
    if (disturbed == 0)
        return;
    ys_buf_printf(out, "%lld of %s %s disturbed by other work on the machine", (long long)disturbed,
                  ys_label_plural(runs, "run").text, disturbed == 1 ? "was" : "were");
    if (isfinite(change))
        ys_buf_printf(out, "; leaving those out changes a speed by at most %s", ys_label_share(change).text);
    if (bare > 0)
        ys_buf_printf(out, "; %s no undisturbed run", bare == 1 ? "one trial has" : "some trials have");
    ys_buf_puts(out, ".");
}

static const char *const code_names[CODES] = {"kernel",           "interpreter",         "BLAS",
                                              "threads (OpenMP)", "primitives (oneDNN)", "framework",
                                              "generated code",   "system libraries",    "unknown"};
static const char *const phase_titles[PHASES] = {"Processor time of the start-up", "Processor time of the steady part"};

static void parts_of(const struct ys_facts_code *code, double parts[CODES])
{
    const double values[CODES] = {code->kernel_s,    code->interpreter_s, code->blas_s,
                                  code->openmp_s,    code->primitives_s,  code->framework_s,
                                  code->generated_s, code->system_s,      code->unknown_s};
    memcpy(parts, values, sizeof values);
}

static double sum_of(const double parts[CODES])
{
    double sum = 0;
    for (size_t i = 0; i < CODES; i++)
        sum += isfinite(parts[i]) ? parts[i] : 0;
    return sum;
}

/* What charts and tables are made of. */
struct profile {
    const struct ys_view_trial *trial;
    const char *reason; /* NULL: it is known */
    bool in_kernel;
    double parts[PHASES][CODES];
};

static void find_profiles(const struct ys_view *view, struct profile **profiles, size_t *count)
{
    struct profile *made = ys_alloc(view->count + 1, sizeof *made);
    *count = 0;
    *profiles = made;
    for (size_t i = 0; i < view->count; i++) {
        const struct ys_facts_perf *perf = view->trials[i].told->perf;
        if (!perf || perf->runs == YS_FIELD_NONE)
            continue;
        struct profile *profile = &made[(*count)++];
        *profile = (struct profile){.trial = &view->trials[i], .in_kernel = perf->in_kernel, .reason = perf->reason};
        parts_of(&perf->startup, profile->parts[0]);
        parts_of(&perf->steady, profile->parts[1]);
    }
}

static void put_perf_chart(struct ys_buf *out, const struct profile *profiles, size_t count, size_t phase)
{
    static const char *const ids[PHASES] = {"perf-startup", "perf-steady"};
    struct ys_chart_bars chart = {.id = ids[phase],
                                  .title = phase_titles[phase],
                                  .axis_title = "processor time of a run",
                                  .kind = YS_KIND_SPAN,
                                  .description = "For each trial its processor time by what the code is of.",
                                  .parts = CODES};
    struct ys_chart_bar *bars = ys_alloc(count, sizeof *bars);
    struct ys_label *values = ys_alloc(count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        const struct profile *profile = &profiles[i];
        struct ys_chart_bar *bar = &bars[chart.count];
        values[chart.count] = ys_label_value(YS_KIND_SPAN, sum_of(profile->parts[phase]));
        *bar = (struct ys_chart_bar){
            .label = profile->trial->name, .value = values[chart.count++].text, .note = profile->reason};
        for (size_t k = 0; !profile->reason && k < CODES; k++) {
            bar->parts[k] = profile->parts[phase][k];
            if (bar->parts[k] > 0)
                chart.part_names[k] = code_names[k];
        }
    }
    chart.rows = bars;
    ys_chart_bars(out, &chart);
    ys_free(bars);
    ys_free(values);
}

static bool is_any_known(const struct profile *profiles, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!profiles[i].reason)
            return true;
    return false;
}

/* Why nothing is known of any trial; of some, it stands in the charts. */
static void put_reasons(struct ys_buf *out, const struct profile *profiles, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!profiles[i].reason)
            continue;
        ys_buf_puts(out, "<p>");
        ys_text_html(out, profiles[i].trial->name);
        ys_buf_puts(out, ": ");
        ys_text_html(out, profiles[i].reason);
        ys_buf_puts(out, "</p>\n");
    }
}

static bool is_kernel_unseen(const struct profile *profiles, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!profiles[i].reason && !profiles[i].in_kernel)
            return true;
    return false;
}

void ys_observed_perf_charts(struct ys_buf *out, const struct ys_view *view)
{
    struct profile *profiles = NULL;
    size_t count = 0;
    find_profiles(view, &profiles, &count);
    size_t shown = count < YS_HTML_MOST ? count : YS_HTML_MOST;
    if (count) {
        ys_html_put(out, "p", NULL,
                    "Processor time by library is sampled, by the files in which the code lies: what is linked into a "
                    "framework's library counts as the framework.");
        if (is_kernel_unseen(profiles, count))
            ys_html_put(out, "p", NULL, "Time in the kernel was not to be seen here, and is in no bar.");
        const bool known = is_any_known(profiles, shown);
        if (!known)
            put_reasons(out, profiles, shown);
        ys_buf_puts(out, known ? "<div class=\"charts\">\n" : "");
        for (size_t phase = 0; known && phase < PHASES; phase++) {
            ys_html_begin_figure(out, phase_titles[phase], "Mean of the runs.");
            put_perf_chart(out, profiles, shown, phase);
            ys_html_end_figure(out);
        }
        ys_buf_puts(out, known ? "</div>\n" : "");
        ys_html_say_cut(out, view, shown, count, "trials");
    }
    ys_free(profiles);
}

void ys_observed_perf(struct ys_sheet *sheet, const struct ys_view *view)
{
    struct profile *profiles = NULL;
    size_t count = 0;
    sheet->title = "Processor time of the steady part, by library";
    find_profiles(view, &profiles, &count);
    for (size_t i = 0; i < count; i++) {
        const double *parts = profiles[i].parts[1], sum = sum_of(parts);
        const char *before = "";
        struct ys_buf text = {0};
        ys_buf_printf(&text, "%s: %s", profiles[i].trial->name, profiles[i].reason ? profiles[i].reason : "");
        for (size_t k = 0; !profiles[i].reason && k < CODES; k++) {
            if (!(parts[k] > 0))
                continue;
            ys_buf_printf(&text, "%s%s %.0f %%", before, code_names[k], 100 * parts[k] / sum);
            before = ", ";
        }
        ys_table_item(sheet, &text);
    }
    ys_free(profiles);
}

static const char *label_of(const struct self_test_row *row, double value, char text[32])
{
    const char *unit = row->unit ? row->unit : "";
    if (!isfinite(value))
        return "-";
    if (strcmp(unit, "s") == 0)
        snprintf(text, 32, "%.4f s", value);
    else
        snprintf(text, 32, "%.0f%s", value, strcmp(unit, "B") == 0 ? " B" : "");
    return text;
}

static const char *const heads[] = {"What was done", "Truth", "Observed", "Error", "Bound", "Verdict"};
enum { COLUMNS = sizeof heads / sizeof heads[0] };

static const char *cell(const struct self_test_row *row, size_t column, char text[32])
{
    const double values[] = {row->truth, row->observed, row->error, row->bound};
    if (column == 0 || column == COLUMNS - 1) {
        const char *word = column == 0 ? row->what : row->verdict;
        return word ? word : "";
    }
    return label_of(row, values[column - 1], text);
}

static void put_html_rows(struct ys_buf *out, const struct self_test *test)
{
    const struct self_test_row *rows = test->rows.items;
    ys_buf_puts(out, "<details>\n<summary>Is what is observed true on this machine? ");
    ys_text_html(out, test->date ? test->date : "");
    ys_buf_puts(out, " on ");
    ys_text_html(out, test->host ? test->host : "?");
    ys_buf_puts(out, " (<code>yardstick doctor --self-test</code>)</summary>\n<table>\n<tr>");
    for (size_t k = 0; k < COLUMNS; k++)
        ys_html_put(out, "th", NULL, heads[k]);
    ys_buf_puts(out, "</tr>\n");
    for (size_t i = 0; i < test->rows.count && i < YS_HTML_MOST; i++) {
        char text[32];
        ys_buf_puts(out, "<tr>");
        for (size_t k = 0; k < COLUMNS; k++)
            ys_html_put(out, "td", NULL, cell(&rows[i], k, text));
        ys_buf_puts(out, "</tr>\n");
    }
    ys_buf_puts(out, "</table>\n</details>\n");
}

static void put_markdown_rows(struct ys_buf *out, const struct self_test *test)
{
    const struct self_test_row *rows = test->rows.items;
    ys_buf_puts(out, "\nIs what is observed true on this machine? ");
    ys_sheet_escape(out, test->date ? test->date : "");
    ys_buf_puts(out, " on ");
    ys_sheet_escape(out, test->host ? test->host : "");
    ys_buf_puts(out, ":\n\n|");
    for (size_t k = 0; k < COLUMNS; k++)
        ys_buf_printf(out, " %s |", heads[k]);
    ys_buf_puts(out, "\n| --- | ---: | ---: | ---: | ---: | --- |\n");
    for (size_t i = 0; i < test->rows.count && i < YS_HTML_MOST; i++) {
        char text[32];
        ys_buf_puts(out, "|");
        for (size_t k = 0; k < COLUMNS; k++) {
            ys_buf_puts(out, " ");
            ys_sheet_escape(out, cell(&rows[i], k, text));
            ys_buf_puts(out, " |");
        }
        ys_buf_puts(out, "\n");
    }
}

/* A document that is damaged here says nothing here. */
static void put_self_test(struct ys_buf *out, const struct ys_view *view,
                          void (*put)(struct ys_buf *, const struct self_test *))
{
    struct observed_machine host;
    if (ys_record_read(&machine_record, view->host, "the result", &host) != YS_OK)
        return;
    if (host.self_test && host.self_test->rows.count)
        put(out, host.self_test);
    ys_record_fini(&machine_record, &host);
}

void ys_observed_self_test_html(struct ys_buf *out, const struct ys_view *view)
{
    put_self_test(out, view, put_html_rows);
}

void ys_observed_self_test_markdown(struct ys_buf *out, const struct ys_view *view)
{
    put_self_test(out, view, put_markdown_rows);
}
