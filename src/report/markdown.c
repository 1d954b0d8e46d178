#include "base/mem.h"
#include "report/agreement.h"
#include "report/observed.h"
#include "report/ranks.h"
#include "report/report.h"
#include "report/section.h"
#include "report/text.h"
#include "report/view.h"
#include <math.h>
#include <string.h>

/** Text of others, cleaned, with everything escaped that Markdown or HTML in it would read. */
static void put_text(struct ys_buf *out, const char *text)
{
    struct ys_buf clean = {0};
    ys_text_clean(&clean, text, false);
    out->failed |= clean.failed;
    for (const char *c = ys_buf_text(&clean); *c; c++) {
        if (*c == '<' || *c == '>' || *c == '&')
            ys_buf_puts(out, *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : "&amp;");
        else
            ys_buf_printf(out, strchr("\\`*_{}[]|#~!", *c) ? "\\%c" : "%c", *c);
    }
    ys_buf_free(&clean);
}

static void put_cell(struct ys_buf *out, const char *text)
{
    put_text(out, text);
    ys_buf_puts(out, " |");
}

static void put_head(struct ys_buf *out, const char *metric)
{
    ys_buf_puts(out, " ");
    put_cell(out, ys_view_metric_head(metric, false).text);
}

static void put_heads(struct ys_buf *out, const struct ys_view *view, const char *const *metrics, size_t count)
{
    ys_buf_puts(out, "| Trial | Rate (");
    put_text(out, view->unit);
    ys_buf_puts(out, "/s) | Interval |");
    for (size_t i = 0; i < count; i++)
        put_head(out, metrics[i]);
    ys_buf_puts(out, " Same work |\n| --- | ---: | ---: |");
    for (size_t i = 0; i < count; i++)
        ys_buf_puts(out, " ---: |");
    ys_buf_puts(out, " --- |\n");
}

static void put_trial(struct ys_buf *out, const struct ys_view_trial *trial, const char *const *metrics, size_t count)
{
    struct ys_buf failure = {0};
    ys_view_put_failure(&failure, trial);
    out->failed |= failure.failed;
    ys_buf_puts(out, "| ");
    put_cell(out, trial->name);
    if (trial->measured) {
        struct ys_measure rate = ys_view_measure(ys_view_metric(trial, "rate_per_s"));
        bool interval = rate.interval.text[0];
        ys_buf_printf(out, " %s%s | %s%s |", rate.value.text, rate.unit.text, interval ? rate.interval.text : "n < 6",
                      interval ? rate.unit.text : "");
        for (size_t i = 0; i < count; i++)
            ys_buf_printf(out, " %s |", ys_view_label(ys_view_metric(trial, metrics[i])).text);
    } else {
        for (size_t i = 0; i < count + 2; i++)
            ys_buf_puts(out, " - |");
    }
    ys_buf_puts(out, " ");
    struct ys_buf note = {0};
    ys_buf_puts(&note, trial->no_work ? "does no work" : ys_name_of(&ys_proof_verdicts, (int)ys_view_verdict(trial)));
    if (failure.size > 0)
        ys_buf_printf(&note, "; %s", ys_buf_text(&failure));
    out->failed |= note.failed;
    put_cell(out, ys_buf_text(&note));
    ys_buf_puts(out, "\n");
    ys_buf_free(&note);
    ys_buf_free(&failure);
}

static void put_agreements(struct ys_buf *out, const struct ys_view *view)
{
    bool begun = false;
    for (size_t i = 0; i < view->count; i++) {
        struct ys_agreement_row row;
        if (!ys_agreement_row(&view->trials[i], &row))
            continue;
        for (size_t k = 0; !begun && k < YS_AGREEMENT_COLUMNS; k++)
            ys_buf_printf(out, "%s %s |", k ? "" : "\n| Same weights |", ys_agreement_titles[k]);
        ys_buf_puts(out, begun ? "| " : "\n| --- | ---: | ---: | ---: | ---: | ---: | --- |\n| ");
        begun = true;
        put_cell(out, view->trials[i].name);
        for (size_t k = 0; k < YS_AGREEMENT_COLUMNS; k++) {
            ys_buf_puts(out, " ");
            put_cell(out, row.reason ? k ? "" : row.reason : row.cells[k].text);
        }
        ys_buf_puts(out, "\n");
    }
}

static void put_rank_heads(struct ys_buf *out)
{
    ys_buf_puts(out, "\n| Ranks |");
    for (size_t k = 0; k < YS_RANKS_COLUMNS; k++)
        ys_buf_printf(out, " %s |", ys_ranks_head(k, false).text);
    ys_buf_puts(out, "\n| --- | ---: | --- |");
    for (size_t k = 2; k < YS_RANKS_COLUMNS; k++)
        ys_buf_puts(out, " ---: |");
    ys_buf_puts(out, "\n");
}

static void put_ranks(struct ys_buf *out, const struct ys_view *view)
{
    if (ys_ranks_any(view))
        put_rank_heads(out);
    for (size_t i = 0; i < view->count; i++)
        for (size_t r = 0; r < ys_ranks_count(&view->trials[i]); r++) {
            const struct ys_ranks_row row = ys_ranks_row(&view->trials[i], r);
            ys_buf_puts(out, "| ");
            put_cell(out, view->trials[i].name);
            for (size_t k = 0; k < YS_RANKS_COLUMNS; k++) {
                ys_buf_puts(out, " ");
                put_cell(out, row.cells[k].text);
            }
            ys_buf_puts(out, "\n");
        }
}

static void put_lasts(struct ys_buf *out, const struct ys_view *view)
{
    bool begun = false;
    for (size_t i = 0; i < view->count; i++) {
        struct ys_buf text = {0};
        ys_ranks_put_last(&text, &view->trials[i]);
        if (text.size > 0) {
            ys_buf_puts(out, begun ? "- " : "\n- ");
            put_text(out, ys_buf_text(&text));
            ys_buf_puts(out, "\n");
            begun = true;
        }
        out->failed |= text.failed;
        ys_buf_free(&text);
    }
}

static void put_latency_heads(struct ys_buf *out)
{
    ys_buf_puts(out, "\n| Latency of a request |");
    for (size_t k = 0; k < YS_LATENCY_PARTS; k++) {
        put_head(out, ys_latency_parts[k]);
        ys_buf_puts(out, k == 0 ? " Interval |" : "");
    }
    ys_buf_puts(out, "\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
}

static void put_latencies(struct ys_buf *out, const struct ys_view *view)
{
    bool begun = false;
    for (size_t i = 0; i < view->count; i++) {
        const struct ys_view_trial *trial = &view->trials[i];
        const char *median = ys_latency_parts[0];
        if (!trial->infers || !isfinite(ys_view_number(trial, median)))
            continue;
        if (!begun)
            put_latency_heads(out);
        begun = true;
        struct ys_measure measure = ys_view_measure(ys_view_metric(trial, median));
        bool interval = measure.interval.text[0];
        ys_buf_puts(out, "| ");
        put_cell(out, trial->name);
        for (size_t k = 0; k < YS_LATENCY_PARTS; k++) {
            const char *metric = ys_latency_parts[k];
            ys_buf_printf(out, " %s |", ys_view_label(ys_view_metric(trial, metric)).text);
            if (k == 0)
                ys_buf_printf(out, " %s%s%s |", interval ? measure.interval.text : "n < 6", interval ? " " : "",
                              interval ? measure.unit.text : "");
        }
        ys_buf_puts(out, "\n");
    }
}

static void put_list(struct ys_buf *out, const char *heading, const ys_json *texts)
{
    for (size_t i = 0; i < ys_json_size(texts); i++) {
        struct ys_buf text = {0};
        if (i == 0)
            ys_buf_printf(out, "\n%s\n\n", heading);
        ys_view_put_difference(&text, ys_json_at(texts, i));
        ys_buf_puts(out, "- ");
        put_text(out, ys_buf_text(&text));
        ys_buf_puts(out, "\n");
        out->failed |= text.failed;
        ys_buf_free(&text);
    }
}

static void put_deviations(struct ys_buf *out, const struct ys_view *view)
{
    bool begun = false;
    for (size_t i = 0; i < view->count; i++) {
        const ys_json *deviations = view->trials[i].told.deviations;
        for (size_t k = 0; k < ys_json_size(deviations); k++) {
            struct ys_buf text = {0};
            ys_buf_printf(&text, "%s: ", view->trials[i].name);
            ys_view_put_value(&text, ys_json_at(deviations, k));
            ys_buf_puts(out, begun ? "- " : "\nDeviations from the common work:\n\n- ");
            put_text(out, ys_buf_text(&text));
            ys_buf_puts(out, "\n");
            begun = true;
            out->failed |= text.failed;
            ys_buf_free(&text);
        }
    }
}

static void put_feeders(struct ys_buf *out, const struct ys_view *view)
{
    bool begun = false;
    for (size_t i = 0; i < view->count; i++) {
        struct ys_buf text = {0};
        ys_section_feeder(&text, &view->trials[i]);
        if (text.size > 0) {
            ys_buf_puts(out, begun ? "- " : "\n" YS_SECTION_FED ":\n\n- ");
            put_text(out, ys_buf_text(&text));
            ys_buf_puts(out, "\n");
            begun = true;
        }
        out->failed |= text.failed;
        ys_buf_free(&text);
    }
}

static ys_status put_comparisons(struct ys_buf *out, const struct ys_view *view)
{
    ys_json *metrics;
    put_list(out, "Differences of environment, to be read before the verdicts:", view->environment_differences);
    YS_TRY(ys_section_compared(view, &metrics));
    for (size_t m = 0; m < ys_json_size(metrics); m++) {
        const char *metric = ys_json_text(ys_json_at(metrics, m), "");
        ys_buf_puts(out, "\nComparisons, ");
        put_text(out, ys_view_metric_title(view, metric));
        ys_buf_puts(out, ":\n\n");
        for (size_t i = 0; i < view->comparison_count; i++) {
            const struct ys_view_comparison *comparison = &view->comparisons[i];
            if (strcmp(ys_view_or(comparison->metric, ""), metric) != 0)
                continue;
            struct ys_buf text = {0};
            ys_view_put_pair(&text, view, comparison);
            ys_buf_puts(&text, ": ");
            ys_section_comparison(&text, view, comparison);
            ys_buf_puts(out, "- ");
            put_text(out, ys_buf_text(&text));
            ys_buf_clear(&text);
            ys_section_bounds(&text, comparison);
            ys_buf_puts(out, text.size ? "; " : "");
            put_text(out, ys_buf_text(&text));
            ys_buf_puts(out, "\n");
            out->failed |= text.failed;
            ys_buf_free(&text);
        }
        struct ys_buf text = {0};
        ys_section_resolution(&text, view, metric);
        ys_buf_printf(out, text.size ? "\n%s\n" : "%s", ys_buf_text(&text));
        out->failed |= text.failed;
        ys_buf_free(&text);
    }
    ys_json_free(metrics);
    return YS_OK;
}

ys_status ys_report_markdown(const ys_json *result, struct ys_buf *out)
{
    struct ys_view view;
    ys_json *sentences;
    YS_TRY(ys_view_init(&view, result));
    ys_status status = ys_words(&view, YS_WORDS_ALL, &sentences);
    const char *metrics[YS_RESULT_COLUMNS];
    const size_t columns = ys_section_columns(&view, false, metrics);
    if (status == YS_OK) {
        struct ys_buf title = {0};
        ys_section_study(&title, &view);
        put_text(out, ys_buf_text(&title));
        ys_buf_puts(out, "\n");
        out->failed |= title.failed;
        ys_buf_free(&title);
        if (view.count > 0) {
            ys_buf_puts(out, "\n");
            put_heads(out, &view, metrics, columns);
        }
        for (size_t i = 0; i < view.count; i++)
            put_trial(out, &view.trials[i], metrics, columns);
        put_ranks(out, &view);
        put_lasts(out, &view);
        put_agreements(out, &view);
        put_latencies(out, &view);
        put_feeders(out, &view);
        put_deviations(out, &view);
        status = put_comparisons(out, &view);
        if (status == YS_OK)
            status = ys_observed_perf_markdown(out, &view);
        put_list(out, "In words:", sentences);
        if (status == YS_OK)
            status = ys_observed_self_test_markdown(out, &view);
        ys_json_free(sentences);
    }
    ys_view_fini(&view);
    return status == YS_OK && out->failed ? ys_out_of_memory() : status;
}
