/* The page: its frame, its style, and the order of its parts. */
#include "report/html.h"
#include "base/mem.h"
#include "judge/recommend.h"
#include "report/judged.h"
#include "report/observed.h"
#include "report/question.h"
#include "report/report.h"
#include "report/section.h"
#include "report/text.h"
#include <string.h>

void ys_html_put(struct ys_buf *out, const char *element, const char *css, const char *text)
{
    ys_buf_printf(out, css && css[0] ? "<%s class=\"%s\">" : "<%s>", element, css);
    ys_text_html(out, text);
    ys_buf_printf(out, "</%s>\n", element);
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
                  "<p class=\"soft\">The first %zu of %zu %s: <code>yardstick show %lld --format=json</code> has "
                  "all.</p>\n",
                  shown, total, things, (long long)view->study.id);
}

static void put_sentence(struct ys_buf *out, const struct ys_view *view,
                         void (*section)(struct ys_buf *, const struct ys_view *))
{
    struct ys_buf text = {0};
    section(&text, view);
    if (text.size > 0)
        ys_html_put(out, "p", NULL, ys_buf_text(&text));
    out->failed |= text.failed;
    ys_buf_free(&text);
}

static void put_head(struct ys_buf *out, const struct ys_view_study *study)
{
    const char *name = ys_view_or(study->name, "without a name");
    ys_buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    ys_text_html(out, name);
    ys_buf_puts(out, " - yardstick</title>\n<style>\n");
    ys_buf_puts(out, ys_html_style);
    ys_buf_puts(out, "</style>\n</head>\n<body>\n<main>\n<h1>");
    ys_text_html(out, name);
    ys_buf_puts(out, "</h1>\n");
}

/* What of other studies the page has as well. */
struct among {
    const struct ys_judged *judged;   /* NULL */
    const struct ys_history *history; /* NULL */
};

static void put_contents(struct ys_buf *out, const struct among *among)
{
    ys_buf_puts(out, "<nav>\n");
    for (size_t i = 0; i < YS_QUESTIONS; i++)
        ys_buf_printf(out, "<a href=\"#%s\">%s</a>\n", ys_questions[i].id, ys_questions[i].brief);
    ys_buf_puts(out, among->judged ? "<a href=\"#compare\">Against the other</a>\n" : "");
    ys_buf_puts(out, among->history ? "<a href=\"#history\">History</a>\n" : "");
    ys_buf_puts(out, "</nav>\n");
}

static void put_command(struct ys_buf *out, const char *lead, const char *command)
{
    if (!command[0])
        return;
    ys_buf_printf(out, "<p>%s <code>", lead);
    ys_text_html(out, command);
    ys_buf_puts(out, "</code></p>\n");
}

static ys_status put_sentences(struct ys_buf *out, const struct ys_view *view, unsigned parts)
{
    ys_json *sentences;
    YS_TRY(ys_words(view, parts, &sentences));
    ys_buf_puts(out, ys_json_size(sentences) ? "<ul>\n" : "");
    for (size_t i = 0; i < ys_json_size(sentences); i++)
        ys_html_put(out, "li", NULL, ys_json_text(ys_json_at(sentences, i), ""));
    ys_buf_puts(out, ys_json_size(sentences) ? "</ul>\n" : "");
    ys_json_free(sentences);
    return YS_OK;
}

static void put_conditions(struct ys_buf *out, const struct ys_view *view)
{
    ys_buf_puts(out, "<div class=\"box\">\n");
    put_sentence(out, view, ys_section_work);
    put_sentence(out, view, ys_section_same);
    put_sentence(out, view, ys_section_host);
    put_sentence(out, view, ys_section_harness);
    put_command(out, "Repeat with", ys_view_or(view->study.command, ""));
    ys_buf_puts(out, "</div>\n");
}

static void put_differences(struct ys_buf *out, const struct ys_view *view)
{
    const ys_json *differences = view->environment_differences;
    if (ys_json_size(differences) == 0)
        return;
    ys_buf_puts(
        out,
        "<div class=\"box\">\n<p class=\"bad\">The environments differ; read this before the verdicts.</p>\n<ul>\n");
    for (size_t i = 0; i < ys_json_size(differences) && i < YS_HTML_MOST; i++) {
        struct ys_buf text = {0};
        ys_view_put_difference(&text, ys_json_at(differences, i));
        ys_html_put(out, "li", NULL, ys_buf_text(&text));
        out->failed |= text.failed;
        ys_buf_free(&text);
    }
    ys_buf_puts(out, "</ul>\n");
    ys_html_say_cut(out, view, YS_HTML_MOST, ys_json_size(differences), "differences");
    ys_buf_puts(out, "</div>\n");
}

/* How somebody who has results.db finds out whether it still holds what this report was made of. */
static void put_chain(struct ys_buf *out, const struct ys_view *view)
{
    const struct ys_view_chain *chain = &view->study.chain;
    if (!chain->hash)
        return;
    ys_buf_printf(out, "<p>What is stored of it ends with link %lld of the chain of hashes in results.db, <code>",
                  (long long)chain->link);
    ys_text_html(out, chain->hash);
    ys_buf_printf(out,
                  "</code>. <code>yardstick show %lld --verify</code> goes through the chain, compares its links with "
                  "every row of the study, and prints that hash.</p>\n",
                  (long long)view->study.id);
}

static void put_origin(struct ys_buf *out, const struct ys_view *view)
{
    const char *job = ys_view_or(view->study.job_text, "");
    ys_json *host = ys_json_copy(view->host);
    ys_json_remove(host, "self_test"); /* has a table of its own */
    if (ys_json_size(host) > 0) {
        ys_buf_puts(out, "<details>\n<summary>The host</summary>\n");
        ys_html_object(out, host);
        ys_buf_puts(out, "</details>\n");
    }
    ys_json_free(host);
    ys_json *common;
    if (ys_view_common(view, &common) != YS_OK) {
        out->failed = true;
        return;
    }
    if (ys_json_size(common) > 0) {
        ys_buf_puts(out, "<details>\n<summary>What was the same in all trials</summary>\n");
        ys_html_object(out, common);
        ys_buf_puts(out, "</details>\n");
    }
    ys_json_free(common);
    if (job[0]) {
        ys_buf_puts(out, "<details open>\n<summary>The job</summary>\n");
        ys_html_put(out, "pre", NULL, job);
        ys_buf_puts(out, "</details>\n");
    }
}

/* Figures side by side, where there are any. */
typedef ys_status (*put_figures)(struct ys_buf *out, const struct ys_view *view);

static ys_status put_grid(struct ys_buf *out, const struct ys_view *view, const char *heading, put_figures put)
{
    struct ys_buf figures = {0};
    ys_status status = put(&figures, view);
    if (status == YS_OK && figures.size) {
        if (heading)
            ys_html_put(out, "h3", NULL, heading);
        ys_buf_puts(out, "<div class=\"charts\">\n");
        ys_buf_append(out, figures.data, figures.size);
        ys_buf_puts(out, "</div>\n");
    }
    out->failed |= figures.failed;
    ys_buf_free(&figures);
    return status;
}

static ys_status put_speed(struct ys_buf *out, const struct ys_view *view)
{
    YS_TRY(put_sentences(out, view, YS_WORDS_SPEED));
    YS_TRY(ys_html_speed_charts(out, view));
    YS_TRY(ys_html_latency_charts(out, view));
    YS_TRY(put_grid(out, view, "Along one setting", ys_html_axis_charts));
    YS_TRY(ys_html_heat_charts(out, view));
    YS_TRY(ys_html_scaling(out, view));
    YS_TRY(put_grid(out, view, NULL, ys_html_step_chart));
    ys_html_results(out, view);
    ys_html_latencies(out, view);
    return ys_html_comparisons(out, view);
}

static ys_status put_accuracy(struct ys_buf *out, const struct ys_view *view)
{
    static const char *const metrics[] = {"accuracy", "test_loss", "final_loss", "perplexity", "bits_per_token", NULL};
    YS_TRY(put_sentences(out, view, YS_WORDS_ANSWERS));
    YS_TRY(ys_html_learning_charts(out, view));
    YS_TRY(ys_html_agreement(out, view));
    ys_html_metric_table(out, view, metrics);
    return YS_OK;
}

static ys_status put_resources(struct ys_buf *out, const struct ys_view *view)
{
    static const char *const metrics[] = {
        "rss_peak_bytes", "memory_own_peak_bytes", "cpu_per_wall", "cpu_s", "threads_peak", "feeder_cpu_s", NULL};
    YS_TRY(ys_html_usage_charts(out, view));
    ys_html_metric_table(out, view, metrics);
    return YS_OK;
}

static ys_status put_time(struct ys_buf *out, const struct ys_view *view)
{
    YS_TRY(ys_html_time_chart(out, view));
    YS_TRY(ys_observed_perf_charts(out, view));
    ys_html_times(out, view);
    return ys_html_ranks(out, view);
}

static ys_status put_trust(struct ys_buf *out, const struct ys_view *view)
{
    YS_TRY(put_sentences(out, view, YS_WORDS_DISTURBED | YS_WORDS_PROOFS));
    put_differences(out, view);
    YS_TRY(put_grid(out, view, NULL, ys_html_round_chart));
    ys_html_proofs(out, view);
    YS_TRY(ys_html_said(out, view));
    ys_html_warnings(out, view);
    ys_html_failures(out, view);
    return ys_observed_self_test_html(out, view);
}

static ys_status put_settings(struct ys_buf *out, const struct ys_view *view)
{
    const struct ys_view_trial *fastest = ys_question_fastest(view);
    struct ys_list lines = {0};
    YS_TRY(put_grid(out, view, NULL, ys_html_front_charts));
    if (!fastest)
        return YS_OK;
    const struct ys_view_told *told = &fastest->told;
    const struct ys_recommend_of of = {told->keys,           told->options,           told->env,
                                       told->framework.name, told->framework.version, view->study.seed};
    ys_status status = ys_recommend_lines_of(&of, &lines);
    struct ys_buf text = {0};
    for (size_t i = 0; i < lines.count; i++)
        ys_buf_printf(&text, "%s\n", ((char *const *)lines.items)[i]);
    if (status == YS_OK && text.size) {
        ys_buf_puts(out, "<p>To paste into a section of a study, for the fastest here (");
        ys_text_html(out, fastest->name);
        ys_buf_puts(out, "):</p>\n");
        ys_html_put(out, "pre", NULL, ys_buf_text(&text));
    }
    out->failed |= text.failed;
    ys_buf_free(&text);
    for (size_t i = 0; i < lines.count; i++)
        ys_free(((char **)lines.items)[i]);
    ys_free(lines.items);
    return status;
}

static ys_status put_repeat(struct ys_buf *out, const struct ys_view *view)
{
    put_command(out, "Repeat with", ys_view_or(view->study.command, ""));
    put_origin(out, view);
    ys_html_checks(out, view);
    put_chain(out, view);
    return YS_OK;
}

static ys_status put_body(struct ys_buf *out, const struct ys_view *view, const struct among *among)
{
    static const put_figures sections[YS_QUESTIONS] = {
        [YS_ASK_SPEED] = put_speed,  [YS_ASK_ACCURACY] = put_accuracy, [YS_ASK_RESOURCES] = put_resources,
        [YS_ASK_TIME] = put_time,    [YS_ASK_TRUST] = put_trust,       [YS_ASK_SETTINGS] = put_settings,
        [YS_ASK_REPEAT] = put_repeat};
    YS_TRY(put_sentences(out, view, YS_WORDS_STATE));
    put_conditions(out, view);
    for (size_t i = 0; i < YS_QUESTIONS; i++) {
        struct ys_buf answer = {0};
        ys_buf_printf(out, "<section id=\"%s\">\n", ys_questions[i].id);
        ys_html_put(out, "h2", NULL, ys_questions[i].title);
        ys_questions[i].answer(&answer, view);
        ys_html_put(out, "p", "answer", ys_buf_text(&answer));
        out->failed |= answer.failed;
        ys_buf_free(&answer);
        if (view->count > 0 || i == YS_ASK_REPEAT)
            YS_TRY(sections[i](out, view));
        ys_buf_puts(out, "</section>\n");
    }
    if (among->judged)
        ys_html_judged(out, among->judged);
    if (among->history)
        YS_TRY(ys_html_history(out, among->history));
    return view->count > 0 ? ys_html_metrics(out, view) : YS_OK;
}

ys_status ys_report_html(const ys_json *result, struct ys_buf *out)
{
    return ys_report_html_among(result, NULL, NULL, out);
}

ys_status ys_report_html_among(const ys_json *result, const struct ys_judged *judged, const struct ys_history *history,
                               struct ys_buf *out)
{
    const struct among among = {judged, history};
    struct ys_view view;
    YS_TRY(ys_view_init(&view, result));
    put_head(out, &view.study);
    put_contents(out, &among);
    struct ys_buf line = {0};
    ys_section_study(&line, &view);
    ys_html_put(out, "p", "soft", ys_buf_text(&line));
    out->failed |= line.failed;
    ys_buf_free(&line);
    ys_status status = put_body(out, &view, &among);
    const char *version = ys_view_or(view.study.version, "");
    ys_view_fini(&view);
    YS_TRY(status);
    ys_buf_puts(out, "<p class=\"soft\">Made by yardstick ");
    ys_text_html(out, version);
    ys_buf_puts(
        out,
        " from its result document. Medians of runs in fresh processes; their intervals are rank intervals, those of "
        "ratios are by signed ranks, of at least 95 %.</p>\n</main>\n<script>\n");
    ys_buf_puts(out, ys_html_script);
    ys_buf_puts(out, "</script>\n</body>\n</html>\n");
    return out->failed ? ys_out_of_memory() : YS_OK;
}
