/* What there is to say of trials, a sentence each. */
#include "report/shared_sentences.h"
#include "report/tables/rank_tables.h"
#include "report/tables/tables.h"

/* Whether every trial says it, of several that do. */
static bool is_common(const struct ys_view *view, const ys_json *(*remarks_of)(const struct ys_view_trial *trial),
                      const char *text)
{
    for (size_t i = 0; i < view->count; i++)
        if (!ys_json_lists(remarks_of(&view->trials[i]), text))
            return false;
    return view->count > 1;
}

/* What all trials have in common stands with the first. */
static void put_remarks(struct ys_sheet *sheet, const struct ys_view *view,
                        const ys_json *(*remarks_of)(const struct ys_view_trial *trial))
{
    sheet->things = "remarks";
    for (size_t i = 0; i < view->count; i++) {
        const ys_json *remarks = remarks_of(&view->trials[i]);
        for (size_t k = 0; k < ys_json_size(remarks); k++) {
            const bool is_all = is_common(view, remarks_of, ys_json_text(ys_json_at(remarks, k), ""));
            struct ys_buf text = {0};
            if (is_all && i > 0)
                continue;
            ys_buf_printf(&text, "%s: ", is_all ? ys_label_all(view->count, "trials").text : view->trials[i].name);
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
    const ys_json *differences = view->environment_differences;
    sheet->title = sheet->medium.form == YS_FORM_TEXT ? "Differences of environment: read these before the verdicts"
                   : sheet->medium.form == YS_FORM_MARKDOWN
                       ? "Differences of environment, to be read before the verdicts"
                       : NULL;
    sheet->things = "differences";
    sheet->total = ys_json_size(differences);
    for (size_t i = 0; i < ys_json_size(differences); i++) {
        struct ys_buf text = {0};
        ys_view_put_difference(&text, ys_json_at(differences, i));
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
