/* The page: its frame, its style, and the order of its parts. */
#include "report/answer.h"
#include "report/page_parts.h"
#include "report/view/view.h"
#include "base/mem.h"
#include "judge/recommend.h"
#include "report/judged/judged.h"
#include "report/tables/observed_tables.h"
#include "report/page/question.h"
#include "report/report.h"
#include "report/shared_sentences.h"
#include "report/tables/tables.h"
#include "report/clean_text.h"
#include <string.h>

void ys_html_put(struct ys_buf *out, const char *element, const char *css, const char *text)
{
    ys_buf_printf(out, css && css[0] ? "<%s class=\"%s\">" : "<%s>", element, css);
    ys_text_html(out, text);
    ys_buf_printf(out, "</%s>\n", element);
}

void ys_html_begin_fold(struct ys_buf *out, const char *title, const char *id)
{
    ys_buf_puts(out, "<details>\n<summary>");
    ys_text_html(out, title);
    ys_buf_puts(out, "</summary>\n<div");
    if (id)
        ys_buf_printf(out, " id=\"%s\"", id);
    ys_buf_puts(out, ">\n");
}

void ys_html_end_fold(struct ys_buf *out)
{
    ys_buf_puts(out, "</div>\n</details>\n");
}

void ys_html_begin_figure(struct ys_buf *out, const char *title, const char *remark)
{
    ys_buf_puts(out, "<figure>\n<figcaption>");
    ys_text_html(out, title);
    if (remark[0]) {
        ys_buf_puts(out, " ");
        ys_html_put(out, "span", NULL, remark);
    }
    ys_buf_puts(out, "</figcaption>\n");
}

void ys_html_end_figure(struct ys_buf *out)
{
    ys_buf_puts(out, "</figure>\n");
}

void ys_html_say_cut(struct ys_buf *out, const struct ys_view *view, size_t shown, size_t total, const char *things)
{
    if (total <= shown)
        return;
    ys_buf_printf(out,
                  "<p class=\"remark\">The first %zu of %zu %s: <code>yardstick show %lld --format=json</code> has "
                  "all.</p>\n",
                  shown, total, things, (long long)view->id);
}

static void put_sentence(struct ys_buf *out, const struct ys_view *view,
                         void (*section)(struct ys_buf *, const struct ys_view *))
{
    struct ys_buf text = {0};
    section(&text, view);
    if (text.size > 0)
        ys_html_put(out, "p", NULL, ys_buf_text(&text));
    ys_buf_free(&text);
}

static void put_head(struct ys_buf *out, const struct ys_view *view)
{
    struct ys_buf title = {0}, line = {0};
    ys_section_title(&title, view);
    ys_section_study(&line, view);
    ys_buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    ys_text_html(out, ys_buf_text(&title));
    ys_buf_puts(out, " - yardstick</title>\n<style>\n");
    ys_buf_puts(out, ys_html_style);
    ys_buf_puts(out, "</style>\n</head>\n<body>\n<main>\n");
    ys_html_put(out, "h1", NULL, ys_buf_text(&title));
    ys_html_put(out, "p", "soft", ys_buf_text(&line));
    ys_buf_free(&title);
    ys_buf_free(&line);
}

/* What of other studies the page has as well. */
struct other_studies {
    const struct ys_judged *judged;   /* NULL */
    const struct ys_history *history; /* NULL */
};

static void put_contents(struct ys_buf *out, const struct ys_view *view, const struct other_studies *among)
{
    ys_buf_puts(out, "<nav>\n");
    for (size_t i = YS_ASK_SPEED + 1; i < YS_QUESTIONS; i++)
        if (ys_question_is_asked(view, i))
            ys_buf_printf(out, "<a href=\"#%s\">%s</a>\n", ys_questions[i].id, ys_questions[i].brief);
    ys_buf_puts(out, among->judged ? "<a href=\"#compare\">Against the other</a>\n" : "");
    ys_buf_puts(out, among->history ? "<a href=\"#history\">History</a>\n" : "");
    ys_buf_puts(out, "<a href=\"#metrics\">All metrics</a>\n");
    ys_buf_puts(out, "</nav>\n");
}

/* As it stands in a file or on a line; NULL or "": nothing. */
static void put_verbatim(struct ys_buf *out, const char *text)
{
    if (ys_view_or(text, "")[0])
        ys_html_put(out, "pre", NULL, text);
}

static void put_sentences(struct ys_buf *out, const struct ys_view *view, unsigned parts)
{
    ys_json *sentences = ys_words(view, parts);
    ys_buf_puts(out, ys_json_size(sentences) ? "<ul>\n" : "");
    for (size_t i = 0; i < ys_json_size(sentences); i++)
        ys_html_put(out, "li", NULL, ys_json_text(ys_json_at(sentences, i), ""));
    ys_buf_puts(out, ys_json_size(sentences) ? "</ul>\n" : "");
    ys_json_free(sentences);
}

/* How somebody who has results.db finds out whether it still holds what this report was made of. */
static void put_chain(struct ys_buf *out, const struct ys_view *view)
{
    const struct ys_result_chain *chain = view->study->chain;
    if (!chain || !chain->hash)
        return;
    ys_buf_printf(out, "<p>What is stored of it ends with link %lld of the chain of hashes in results.db, <code>",
                  (long long)chain->link);
    ys_text_html(out, chain->hash);
    ys_buf_printf(out,
                  "</code>. <code>yardstick show %lld --verify</code> goes through the chain, compares its links with "
                  "every row of the study, and prints that hash.</p>\n",
                  (long long)view->id);
}

static void put_state(struct ys_buf *out, const struct ys_view *view)
{
    put_sentences(out, view, YS_WORDS_STATE | YS_WORDS_ROUNDS | YS_WORDS_IDLE);
}

static void put_words(struct ys_buf *out, const struct ys_view *view)
{
    ys_html_ratio_chart(out, view);
    ys_html_comparisons(out, view);
}

static void put_results(struct ys_buf *out, const struct ys_view *view)
{
    const size_t shown = ys_html_first(view).count;
    ys_table_write(ys_table_results, view, &ys_page_medium, out);
    if (shown < view->count)
        ys_buf_printf(out,
                      "<p class=\"soft\">The fastest %zu of %zu trials; <a href=\"#trials\">all trials</a> stand "
                      "below.</p>\n",
                      shown, view->count);
}

static void put_used(struct ys_buf *out, const struct ys_view *view)
{
    ys_table_write(ys_table_used, view, &ys_page_medium, out);
    ys_table_write(ys_table_feeders, view, &ys_page_medium, out);
}

static void put_warnings(struct ys_buf *out, const struct ys_view *view)
{
    ys_table_write(ys_table_host_warnings, view, &ys_page_medium, out);
    ys_table_write(ys_table_warnings, view, &ys_page_medium, out);
}

static void put_answers(struct ys_buf *out, const struct ys_view *view)
{
    put_sentences(out, view, YS_WORDS_ANSWERS);
}

static void put_doubts(struct ys_buf *out, const struct ys_view *view)
{
    put_sentences(out, view, YS_WORDS_PROOFS | YS_WORDS_DOUBTS);
}

static void put_lines(struct ys_buf *out, const struct ys_view *view)
{
    const struct ys_view_trial *fastest = ys_answer_fastest(view);
    struct ys_list lines = {0};
    if (!fastest)
        return;
    const struct ys_recommend_of of = {fastest->keys,       fastest->told->options, fastest->told->env,
                                       fastest->found.name, fastest->found.version, view->study->seed};
    (void)!ys_recommend_lines_of(&of, &lines);
    struct ys_buf text = {0};
    for (size_t i = 0; i < lines.count; i++)
        ys_buf_printf(&text, "%s\n", ((char *const *)lines.items)[i]);
    if (text.size) {
        ys_html_put(out, "p", NULL, fastest->name);
        ys_html_put(out, "pre", NULL, ys_buf_text(&text));
    }
    ys_buf_free(&text);
    for (size_t i = 0; i < lines.count; i++)
        ys_free(((char **)lines.items)[i]);
    ys_free(lines.items);
}

static void put_again(struct ys_buf *out, const struct ys_view *view)
{
    put_verbatim(out, view->study->command);
}

static void put_host(struct ys_buf *out, const struct ys_view *view)
{
    ys_json *host = ys_json_copy(view->host);
    ys_json_remove(host, "self_test"); /* has a table of its own */
    put_sentence(out, view, ys_section_host);
    put_sentence(out, view, ys_section_harness);
    if (ys_json_size(host) > 0)
        ys_html_object(out, host);
    ys_json_free(host);
}

static void put_common(struct ys_buf *out, const struct ys_view *view)
{
    ys_json *common = ys_view_common(view);
    put_sentence(out, view, ys_section_work);
    put_sentence(out, view, ys_section_same);
    if (ys_json_size(common) > 0)
        ys_html_object(out, common);
    ys_json_free(common);
}

static void put_job(struct ys_buf *out, const struct ys_view *view)
{
    put_verbatim(out, view->study->job_text);
}

static void put_checks(struct ys_buf *out, const struct ys_view *view)
{
    ys_html_checks(out, view);
    put_chain(out, view);
}

/* What stands below the answer to a question, in this order. What is folded has a title, and a place of its own that
 * links lead to. */
static const struct page_part {
    enum ys_question_place question;
    void (*put)(struct ys_buf *out, const struct ys_view *view);
    const char *fold, *id; /* NULL: open */
    enum {
        PLAIN = 0,
        GRID = 1,  /* figures side by side */
        LARGE = 2, /* folded only where there are many trials */
    } form;
    ys_table *table; /* where `put` is NULL */
} parts[] = {
    {YS_ASK_SPEED, put_state, NULL, NULL, PLAIN},
    {YS_ASK_SPEED, put_results, NULL, NULL, PLAIN},
    {YS_ASK_SPEED, ys_html_speed_chart, NULL, NULL, PLAIN},
    {YS_ASK_SPEED, ys_html_latency_chart, NULL, NULL, GRID},
    {YS_ASK_SPEED, ys_html_axis_charts, NULL, NULL, GRID},
    {YS_ASK_SPEED, ys_html_scaling, NULL, NULL, PLAIN},
    {YS_ASK_SPEED, NULL, "All trials", "trials", PLAIN, ys_table_all_results},
    {YS_ASK_SPEED, put_words, "Trials against each other, metric by metric", "comparisons", PLAIN},
    {YS_ASK_SPEED, ys_html_short_axis_charts, "Speed along settings of two values", "along", GRID},
    {YS_ASK_SPEED, ys_html_heat_charts, "Speed over two settings", "heat", PLAIN},
    {YS_ASK_SPEED, ys_html_percentile_chart, "How long requests take, up to the slowest", "requests", GRID},
    {YS_ASK_SPEED, NULL, "Latencies in numbers", "latencies", PLAIN, ys_table_latencies},
    {YS_ASK_SPEED, ys_html_step_chart, "How long steps take, down to the slowest", "steps", GRID},
    {YS_ASK_ACCURACY, put_answers, NULL, NULL, PLAIN},
    {YS_ASK_ACCURACY, ys_html_targets, NULL, NULL, PLAIN},
    {YS_ASK_ACCURACY, ys_html_learning_charts, "Loss and accuracy over time", "learning", GRID | LARGE},
    {YS_ASK_ACCURACY, ys_html_accuracy_chart, "Accuracy, run by run", "accuracies", LARGE},
    {YS_ASK_ACCURACY, ys_html_agreement, NULL, NULL, PLAIN},
    {YS_ASK_ACCURACY, ys_html_formats, NULL, NULL, PLAIN},
    {YS_ASK_ACCURACY, NULL, "Scales that frameworks' own quantisers chose", "scales", PLAIN, ys_table_scales},
    {YS_ASK_ACCURACY, NULL, "What was learned, in numbers", "learned", PLAIN, ys_table_learned},
    {YS_ASK_ROBUST, ys_html_robustness, NULL, NULL, PLAIN},
    {YS_ASK_SIZE, ys_html_sizes, NULL, NULL, PLAIN},
    {YS_ASK_RESOURCES, ys_html_usage_charts, "Memory and CPU over time", "usage", GRID | LARGE},
    {YS_ASK_RESOURCES, put_used, "Memory and processor in numbers", "used", PLAIN},
    {YS_ASK_TIME, ys_html_time_chart, "Parts of a run", "parts", LARGE},
    {YS_ASK_TIME, ys_html_ranks_chart, NULL, NULL, PLAIN},
    {YS_ASK_TIME, NULL, "Parts of a run in numbers", "times", PLAIN, ys_table_times},
    {YS_ASK_TIME, ys_html_ranks, "Ranks in numbers", "ranks", PLAIN},
    {YS_ASK_TIME, ys_observed_perf_charts, "Processor time by library", "libraries", LARGE},
    {YS_ASK_TRUST, put_doubts, NULL, NULL, PLAIN},
    {YS_ASK_TRUST, NULL, "The environments differ; read this before the verdicts", "differences", PLAIN,
     ys_table_differences},
    {YS_ASK_TRUST, NULL, NULL, NULL, PLAIN, ys_table_deviations},
    {YS_ASK_TRUST, ys_html_failures, NULL, NULL, PLAIN},
    {YS_ASK_TRUST, ys_html_proofs, "Is it the same work? Every check of the proofs", "proofs", PLAIN},
    {YS_ASK_TRUST, put_warnings, "Warnings", "warnings", PLAIN},
    {YS_ASK_TRUST, ys_html_round_chart, "From round to round", "rounds", GRID},
    {YS_ASK_TRUST, ys_html_said, "How was it observed, and what do adapters say of themselves?", "observed", PLAIN},
    {YS_ASK_TRUST, ys_observed_self_test_html, "Is what is observed true on this machine?", "self-test", PLAIN},
    {YS_ASK_SETTINGS, ys_html_front_charts, "Speed against accuracy and memory", "fronts", GRID},
    {YS_ASK_SETTINGS, put_lines, "To paste into a section of a study, for the fastest here", "lines", PLAIN},
    {YS_ASK_REPEAT, put_again, NULL, NULL, PLAIN},
    {YS_ASK_REPEAT, put_common, "What was the same in all trials", "same", PLAIN},
    {YS_ASK_REPEAT, put_host, "The host", "host", PLAIN},
    {YS_ASK_REPEAT, put_job, "The job", "job", PLAIN},
    {YS_ASK_REPEAT, put_checks, "How to check it", "checks", PLAIN},
};

/** A part, where there is anything of it. */
static void put_part(struct ys_buf *out, const struct ys_view *view, const struct page_part *part)
{
    struct ys_buf inner = {0};
    if (part->put)
        part->put(&inner, view);
    else
        ys_table_write(part->table, view, &ys_page_medium, &inner);
    const bool folded = part->fold && (!(part->form & LARGE) || view->count > YS_HTML_FEW);
    if (inner.size) {
        if (folded)
            ys_html_begin_fold(out, part->fold, part->id);
        ys_buf_puts(out, part->form & GRID ? "<div class=\"charts\">\n" : "");
        ys_buf_append(out, inner.data, inner.size);
        ys_buf_puts(out, part->form & GRID ? "</div>\n" : "");
        if (folded)
            ys_html_end_fold(out);
    }
    ys_buf_free(&inner);
}

/** A question with its answer; the first needs no words of its own, as the page itself is about it. */
static void put_question(struct ys_buf *out, const struct ys_view *view, size_t question)
{
    struct ys_buf answer = {0};
    ys_buf_printf(out, "<section id=\"%s\">\n", ys_questions[question].id);
    if (question != YS_ASK_SPEED)
        ys_html_put(out, "h2", NULL, ys_questions[question].title);
    ys_questions[question].answer(&answer, view);
    for (char *line = answer.data, *end; line && line < answer.data + answer.size; line = end + 1) {
        end = line + strcspn(line, "\n");
        *end = 0;
        ys_html_put(out, "p", "answer", line);
    }
    ys_buf_free(&answer);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].question == question &&
            (view->count > 0 || question == YS_ASK_REPEAT || parts[i].put == put_state))
            put_part(out, view, &parts[i]);
    ys_buf_puts(out, "</section>\n");
}

static void put_body(struct ys_buf *out, const struct ys_view *view, const struct other_studies *among)
{
    for (size_t i = 0; i < YS_QUESTIONS; i++) {
        if (ys_question_is_asked(view, i))
            put_question(out, view, i);
        if (i == YS_ASK_SPEED)
            put_contents(out, view, among);
    }
    if (among->judged)
        ys_html_judged(out, among->judged);
    if (among->history)
        ys_html_history(out, among->history);
    if (view->count > 0)
        ys_html_metrics(out, view);
}

void ys_report_html(const struct ys_result *result, const struct ys_judged *judged, const struct ys_history *history,
                    struct ys_buf *out)
{
    const struct other_studies among = {judged, history};
    struct ys_view view;
    ys_view_init(&view, result);
    put_head(out, &view);
    put_body(out, &view, &among);
    const char *version = ys_view_or(view.study->version, "");
    ys_view_fini(&view);
    ys_buf_puts(out, "<p class=\"soft\">Made by yardstick ");
    ys_text_html(out, version);
    ys_buf_puts(out, " from its result document. Medians of runs in fresh processes, with intervals of at least 95 % "
                     "confidence.</p>\n</main>\n<script>\n");
    ys_buf_puts(out, ys_html_script);
    ys_buf_puts(out, "</script>\n</body>\n</html>\n");
}
