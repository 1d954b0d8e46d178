/* What there is to say of trials, a sentence each. */
#include "report/shared_sentences.h"
#include "report/tables/rank_tables.h"
#include "report/tables/tables.h"

typedef const ys_json *remarks_of(const struct ys_view_trial *trial);

/* How many of the trials from `from` on, up to `to`, say it. */
static size_t count_those(const struct ys_view *view, size_t from, size_t to, remarks_of *of, const char *text)
{
    size_t count = 0;
    for (size_t i = from; i < to; i++)
        count += ys_json_lists(of(&view->trials[i]), text);
    return count;
}

/* What several trials say stands with the first of them. */
static void put_remarks(struct ys_sheet *sheet, const struct ys_view *view, remarks_of *of)
{
    sheet->things = "remarks";
    for (size_t i = 0; i < view->count; i++) {
        const ys_json *remarks = of(&view->trials[i]);
        for (size_t k = 0; k < ys_json_size(remarks); k++) {
            const char *remark = ys_json_text(ys_json_at(remarks, k), "");
            const size_t before = count_those(view, 0, i, of, remark),
                         more = count_those(view, i + 1, view->count, of, remark), all = before + 1 + more;
            const bool is_common = all > 1 && all == view->count, is_joined = is_common || all > 2;
            struct ys_buf text = {0};
            if (is_joined && before > 0)
                continue;
            if (is_common)
                ys_buf_puts(&text, ys_label_all(view->count, "trials").text);
            else
                ys_buf_puts(&text, view->trials[i].name);
            if (is_joined && !is_common)
                ys_buf_printf(&text, " and %zu more", more);
            ys_buf_puts(&text, ": ");
            ys_view_put_value(&text, ys_json_at(remarks, k));
            ys_table_item(sheet, &text);
            sheet->total++;
        }
    }
}

static const ys_json *deviations_of(const struct ys_view_trial *trial)
{
    return trial->told->deviations;
}

static const ys_json *warnings_of(const struct ys_view_trial *trial)
{
    return trial->told->warnings;
}

void ys_table_deviations(struct ys_sheet *sheet, const struct ys_view *view)
{
    sheet->title = "Deviations from the common work";
    put_remarks(sheet, view, deviations_of);
}

void ys_table_host_warnings(struct ys_sheet *sheet, const struct ys_view *view)
{
    const bool is_text = sheet->medium.form == YS_FORM_TEXT;
    sheet->title = is_text ? "Warnings" : NULL;
    for (size_t i = 0; i < ys_json_size(view->host_warnings); i++) {
        struct ys_buf text = {0};
        ys_view_put_value(&text, ys_json_at(view->host_warnings, i));
        ys_table_item(sheet, &text);
    }
}

void ys_table_warnings(struct ys_sheet *sheet, const struct ys_view *view)
{
    sheet->title = sheet->medium.form == YS_FORM_TEXT && ys_json_size(view->host_warnings) == 0 ? "Warnings" : NULL;
    put_remarks(sheet, view, warnings_of);
}

void ys_table_differences(struct ys_sheet *sheet, const struct ys_view *view)
{
    const struct ys_difference *differences = view->differences->items;
    sheet->title = sheet->medium.form == YS_FORM_TEXT ? "Differences of environment: read these before the verdicts"
                   : sheet->medium.form == YS_FORM_MARKDOWN
                       ? "Differences of environment, to be read before the verdicts"
                       : NULL;
    sheet->things = "differences";
    sheet->total = view->differences->count;
    for (size_t i = 0; i < view->differences->count; i++) {
        struct ys_buf text = {0};
        ys_view_put_difference(&text, &differences[i]);
        ys_table_item(sheet, &text);
    }
}

static void put_sentences(struct ys_sheet *sheet, const struct ys_view *view,
                          void (*put)(struct ys_buf *, const struct ys_view_trial *))
{
    for (size_t i = 0; i < view->count; i++) {
        struct ys_buf text = {0};
        put(&text, &view->trials[i]);
        sheet->total += text.size > 0;
        ys_table_item(sheet, &text);
    }
}

void ys_table_feeders(struct ys_sheet *sheet, const struct ys_view *view)
{
    sheet->title = "Fed by yardstick-feeder, which is in none of the figures above";
    sheet->things = "feeders";
    put_sentences(sheet, view, ys_section_feeder);
}

void ys_table_lasts(struct ys_sheet *sheet, const struct ys_view *view)
{
    put_sentences(sheet, view, ys_ranks_put_last);
}

void ys_table_words(struct ys_sheet *sheet, const struct ys_view *view)
{
    sheet->title = "In words";
    ys_json *sentences = ys_words(view, YS_WORDS_ALL);
    for (size_t i = 0; i < ys_json_size(sentences); i++)
        ys_sheet_item(sheet, ys_json_text(ys_json_at(sentences, i), ""));
    ys_json_free(sentences);
}
