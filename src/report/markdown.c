#include "base/mem.h"
#include "report/report.h"
#include "report/shared_sentences.h"
#include "report/tables/observed_tables.h"
#include "report/tables/tables.h"
#include <string.h>

static void put_comparisons_of(struct ys_buf *out, const struct ys_view *view, const char *metric)
{
    struct ys_buf text = {0};
    struct ys_sheet sheet = ys_sheet_init(&ys_markdown_medium);
    char *title = ys_format("Comparisons, %s", ys_view_metric_title(metric));
    sheet.title = title;
    for (size_t i = 0; i < view->comparison_count; i++) {
        const struct ys_result_comparison *comparison = &view->comparisons[i];
        if (strcmp(ys_view_or(comparison->told.metric, ""), metric) != 0)
            continue;
        ys_view_put_pair(&text, view, comparison);
        ys_buf_puts(&text, ": ");
        ys_section_comparison(&text, comparison);
        struct ys_buf bounds = {0};
        ys_section_bounds(&bounds, comparison);
        ys_buf_printf(&text, "%s%s", bounds.size ? "; " : "", ys_buf_text(&bounds));
        ys_buf_free(&bounds);
        ys_table_item(&sheet, &text);
    }
    ys_sheet_write(&sheet, out);
    ys_section_resolution(&text, view, metric);
    ys_buf_printf(out, text.size ? "\n%s\n" : "%s", ys_buf_text(&text));
    ys_buf_free(&text);
    ys_free(title);
}

static void put_comparisons(struct ys_buf *out, const struct ys_view *view)
{
    ys_json *metrics = ys_section_compared(view);
    for (size_t m = 0; m < ys_json_size(metrics); m++)
        put_comparisons_of(out, view, ys_json_text(ys_json_at(metrics, m), ""));
    ys_json_free(metrics);
}

void ys_report_markdown(const struct ys_result *result, struct ys_buf *out)
{
    static ys_table *const tables[] = {
        ys_table_results, ys_table_ranks,     ys_table_lasts,     ys_table_agreements,  ys_table_formats,
        ys_table_scales,  ys_table_attacks,   ys_table_standings, ys_table_corruptions, ys_table_sizes,
        ys_table_targets, ys_table_latencies, ys_table_feeders,   ys_table_deviations,  ys_table_differences};
    struct ys_view view;
    struct ys_buf title = {0};
    ys_view_init(&view, result);
    ys_section_study(&title, &view);
    ys_sheet_escape(out, ys_buf_text(&title));
    ys_buf_puts(out, "\n");
    ys_buf_free(&title);
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        ys_table_write(tables[i], &view, &ys_markdown_medium, out);
    ys_table_transfers(&view, &ys_markdown_medium, out);
    put_comparisons(out, &view);
    ys_table_write(ys_observed_perf, &view, &ys_markdown_medium, out);
    ys_table_write(ys_table_words, &view, &ys_markdown_medium, out);
    ys_observed_self_test_markdown(out, &view);
    ys_view_fini(&view);
}
