/* What stored models take: the table, and its section of the page. */
#include "base/mem.h"
#include "metric/result_document.h"
#include "report/page_parts.h"
#include "report/tables/tables.h"
#include "report/view/view.h"

#include <math.h>
#include <stdio.h>

static const char heading[] = "Size";
static const char remark[] =
    "The same weights, stored in each form and loaded again by another process. Parameters are "
    "found by their numbers in the files. Runtime: the files that this process runs, without "
    "the C library and an interpreter.";

static const struct size_column {
    const char *metric, *title, *head;
} sizes[] = {{"stored_bytes", "Stored", "stored"},
             {"stored_parameter_bytes", "Parameters", "para-\nmeters"},
             {"stored_rest_bytes", "Rest", "rest"},
             {"stored_zstd_bytes", "Compressed", "zstd 19"},
             {"runtime_bytes", "Runtime", "runtime"},
             {"load_s", "Loading", "loading"},
             {"first_answer_s", "First answer", "first\nanswer"}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* "f16, 2 times, weights alone" */
static void put_type(struct ys_sheet *sheet, const struct ys_facts_stored *stored)
{
    struct ys_buf text = {0};
    ys_buf_puts(&text, ys_name_of(&ys_stored_types, stored->type));
    if (stored->copies >= 1.01)
        ys_buf_printf(&text, ", %.3g times", stored->copies);
    if (stored->is_said)
        ys_buf_puts(&text, ", as said");
    if (!stored->has_graph)
        ys_buf_puts(&text, ", weights alone");
    ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_buf_text(&text));
    ys_buf_free(&text);
}

void ys_table_sizes(struct ys_sheet *sheet, const struct ys_view *view)
{
    struct ys_sheet_column columns[SIZES + 1] = {{YS_FORM_ALL, YS_COLUMN_TEXT, "Parameters as", "as"}};
    for (int i = 0; i < SIZES; i++)
        columns[i + 1] = (struct ys_sheet_column){YS_FORM_ALL, YS_COLUMN_NUMBER, sizes[i].title, sizes[i].head};
    sheet->title = sheet->medium.form == YS_FORM_PAGE ? NULL : heading;
    ys_table_trials(sheet, view, heading);
    ys_sheet_columns(sheet, columns, SIZES + 1);
    sheet->things = "trials";
    for (size_t t = 0; t < view->count; t++) {
        const struct ys_view_trial *trial = &view->trials[t];
        if (!trial->told->stored)
            continue;
        if (sheet->total++ >= YS_SHEET_MOST && sheet->medium.form == YS_FORM_PAGE)
            continue;
        ys_table_trial(sheet, view, t);
        put_type(sheet, trial->told->stored);
        for (int i = 0; i < SIZES; i++) {
            const double value = ys_view_number(trial, sizes[i].metric);
            if (isfinite(value))
                ys_sheet_put(sheet, YS_MOOD_PLAIN, ys_view_label(ys_view_metric(trial, sizes[i].metric)).text);
            else
                ys_sheet_put(sheet, YS_MOOD_PLAIN, "-");
        }
    }
}

void ys_html_sizes(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_buf table = {0};
    ys_table_write(ys_table_sizes, view, &ys_page_medium, &table);
    if (table.size) {
        ys_html_put(out, "p", "soft", remark);
        ys_buf_append(out, table.data, table.size);
    }
    ys_buf_free(&table);
}
