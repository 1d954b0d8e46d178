/* The page: its frame, its style, and the order of its parts. */
#include "report/html.h"
#include "base/mem.h"
#include "report/observed.h"
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

static void put_command(struct ys_buf *out, const char *lead, const char *command)
{
    if (!command[0])
        return;
    ys_buf_printf(out, "<p>%s <code>", lead);
    ys_text_html(out, command);
    ys_buf_puts(out, "</code></p>\n");
}

static ys_status put_summary(struct ys_buf *out, const struct ys_view *view)
{
    ys_json *sentences;
    YS_TRY(ys_words(view, &sentences));
    ys_buf_puts(out, ys_json_size(sentences) ? "<ul>\n" : "");
    for (size_t i = 0; i < ys_json_size(sentences); i++)
        ys_html_put(out, "li", NULL, ys_json_text(ys_json_at(sentences, i), ""));
    ys_buf_puts(out, ys_json_size(sentences) ? "</ul>\n" : "");
    ys_json_free(sentences);
    return YS_OK;
}

static void put_conditions(struct ys_buf *out, const struct ys_view *view)
{
    const ys_json *differences = view->environment_differences;
    ys_buf_puts(out, "<div class=\"box\">\n");
    put_sentence(out, view, ys_section_work);
    put_sentence(out, view, ys_section_same);
    put_sentence(out, view, ys_section_host);
    put_sentence(out, view, ys_section_harness);
    put_command(out, "Repeat with", ys_view_or(view->study.command, ""));
    ys_buf_puts(out, "</div>\n");
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
    ys_html_put(out, "h2", NULL, "Host and job");
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
    put_command(out, "Repeat with", ys_view_or(view->study.command, ""));
}

static ys_status put_body(struct ys_buf *out, const struct ys_view *view)
{
    YS_TRY(put_summary(out, view));
    put_conditions(out, view);
    if (view->count > 0) {
        ys_html_results(out, view);
        ys_html_ranks(out, view);
        YS_TRY(ys_html_speed_charts(out, view));
        YS_TRY(ys_html_agreement(out, view));
        YS_TRY(ys_html_latency_charts(out, view));
        YS_TRY(ys_html_comparisons(out, view));
        YS_TRY(ys_html_time_chart(out, view));
        YS_TRY(ys_html_learning_charts(out, view));
        YS_TRY(ys_html_usage_charts(out, view));
        YS_TRY(ys_observed_perf_charts(out, view));
        ys_html_proofs(out, view);
        YS_TRY(ys_html_said(out, view));
        ys_html_warnings(out, view);
        ys_html_failures(out, view);
        YS_TRY(ys_html_metrics(out, view));
    }
    put_origin(out, view);
    YS_TRY(ys_observed_self_test_html(out, view));
    ys_html_checks(out, view);
    put_chain(out, view);
    return YS_OK;
}

ys_status ys_report_html(const ys_json *result, struct ys_buf *out)
{
    struct ys_view view;
    YS_TRY(ys_view_init(&view, result));
    put_head(out, &view.study);
    struct ys_buf line = {0};
    ys_section_study(&line, &view);
    ys_html_put(out, "p", "soft", ys_buf_text(&line));
    out->failed |= line.failed;
    ys_buf_free(&line);
    ys_status status = put_body(out, &view);
    const char *version = ys_view_or(view.study.version, "");
    ys_view_fini(&view);
    YS_TRY(status);
    ys_buf_puts(out, "<p class=\"soft\">Made by yardstick ");
    ys_text_html(out, version);
    ys_buf_puts(
        out,
        " from its result document. Medians of runs in fresh processes; their intervals are rank intervals, those of "
        "ratios are by signed ranks, of at least 95 %.</p>\n</main>\n</body>\n</html>\n");
    return out->failed ? ys_out_of_memory() : YS_OK;
}
