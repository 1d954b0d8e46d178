/* How every form of the report tells of trials that answered requests. */
#include "made.h"
#include "report/answer.h"
#include "report/clean_text.h"

static struct ys_buf out;

/** Two trials that answered requests, 6 runs each, builtin twice as fast; with `training` a third that trained. */
static ys_json *made_requests(bool training)
{
    const char *const frameworks[] = {"builtin", "pytorch", "keras"};
    ys_json *result = made_result(frameworks, training ? 3 : 2, 6, "better");
    for (size_t i = 0; i < 2; i++) {
        ys_json *trial = ys_json_at(ys_json_get(result, "trials"), i), *metrics = ys_json_get(trial, "metrics");
        (void)!ys_json_set_string(ys_json_get(trial, "keys"), "mode", "infer");
        (void)!ys_json_set_int(ys_json_get(trial, "keys"), "requests", 1000);
        static const struct {
            const char *name;
            double value_s;
        } parts[] = {
            {"latency_p50_s", 100e-6}, {"latency_p90_s", 120e-6}, {"latency_p99_s", 300e-6}, {"latency_max_s", 900e-6},
            {"first_step_s", 5e-3},    {"infer_s", 0.25},         {"start_s", 0.5},          {"wall_s", 1}};
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            ys_json *metric = made_json("{'unit':'s','kind':'span','n':6,'level':0.969}"), *ci = ys_json_array();
            double value_s = parts[k].value_s * (double)(1 + i);
            (void)!ys_json_append(ci, ys_json_real(0.95 * value_s));
            (void)!ys_json_append(ci, ys_json_real(1.08 * value_s));
            (void)!ys_json_set_real(metric, "value", value_s);
            (void)!ys_json_set(metric, "ci", ci);
            (void)!ys_json_set(metrics, parts[k].name, metric);
        }
        (void)!ys_json_set(metrics, "accuracy", made_json("{'value':null,'reason':'this run answers requests'}"));
        (void)!ys_json_set(trial, "runs_detail",
                           made_json("[{'status':'ok','round':0,'latency':{'share':[0,0.5,1],'latency_s':[1e-4,1e-4,"
                                     "9e-4]}}]"));
    }
    return result;
}

static const char *table(const ys_json *result)
{
    ys_buf_clear(&out);
    made_table(result, 80, false, &out);
    return ys_buf_text(&out);
}

static const char *page(const ys_json *result)
{
    ys_buf_clear(&out);
    made_html(result, &out);
    return ys_buf_text(&out);
}

/** Whether the figure of that caption in the page has `text`. */
static bool figure_has(const char *caption, const char *text)
{
    char begin[64];
    snprintf(begin, sizeof begin, "<figcaption>%s", caption);
    const char *figure = strstr(ys_buf_text(&out), begin);
    char *copy = figure ? ys_strndup(figure, (size_t)(strstr(figure, "</figure>") - figure)) : NULL;
    bool has = copy && strstr(copy, text);
    CHECK(figure != NULL);
    ys_free(copy);
    return has;
}

static void the_table_has_percentiles_and_no_column_of_training(void)
{
    ys_json *result = made_requests(false);
    CHECK_HAS(table(result), "\nResults (median of the runs)\n"
                             "            rows             cores    peak  start-\n"
                             "framework  per s   interval   used  memory      up\n"
                             "builtin      100  [98, 103]      -       -  500 ms\n");
    CHECK_HAS(ys_buf_text(&out), "\nLatency of a request (medians of the runs)\n"
                                 "                                                             first\n"
                                 "framework  median       interval    90 %    99 %  longest   of all\n"
                                 "builtin    100 us   [95, 108] us  120 us  300 us   900 us  5.00 ms\n"
                                 "pytorch    200 us  [190, 216] us  240 us  600 us  1.80 ms  10.0 ms\n");
    CHECK_HAS(ys_buf_text(&out), "re-  whole\n"); /* the time of requests has a column, that of computing has none */
    CHECK(!strstr(ys_buf_text(&out), "pute") && !strstr(ys_buf_text(&out), "accuracy"));
    ys_json_free(result);
}

static void studies_of_both_modes_have_the_columns_of_both(void)
{
    ys_json *result = made_requests(true);
    CHECK_HAS(table(result), "step  verified");
    CHECK_HAS(ys_buf_text(&out), "keras        100  [98, 103]     -   97.00 %");
    const char *latency = strstr(ys_buf_text(&out), "Latency of a request");
    CHECK(latency && !strstr(latency, "\nkeras "));
    ys_json_free(result);
}

static void studies_that_train_say_nothing_of_requests(void)
{
    ys_json *result = made_result((const char *[]){"alpha", "beta"}, 2, 6, "better");
    CHECK(!strstr(table(result), "equest"));
    CHECK(!strstr(page(result), "Latency"));
    ys_json_free(result);
}

static void the_page_has_percentiles_as_a_table_and_a_curve(void)
{
    ys_json *result = made_requests(true);
    page(result);
    CHECK_HAS(ys_buf_text(&out), "<th class=\"n\">Latency, median</th>"); /* of the results */
    CHECK_HAS(ys_buf_text(&out), "<div id=\"latencies\">");
    CHECK_HAS(ys_buf_text(&out), "<th class=\"n\">99 %</th>");
    CHECK_HAS(ys_buf_text(&out), "<td class=\"n\">[95, 108] us</td>");
    const char *curve = strstr(ys_buf_text(&out), "Latency by percentile");
    CHECK(curve && strstr(curve, "<path"));
    const char *fold = strstr(ys_buf_text(&out), "id=\"requests\""); /* whose tail is for those who ask for it */
    CHECK(fold && fold < curve);
    /* Trials of the other mode are left out of a chart. */
    CHECK(figure_has("Median latency", "builtin") && !figure_has("Median latency", "keras"));
    CHECK(figure_has("Verified accuracy", "keras") && !figure_has("Verified accuracy", "builtin"));
    ys_json_free(result);
}

/* The second trial takes twice as long, then sixteen times. */
static void latencies_far_apart_are_drawn_on_a_logarithmic_scale(void)
{
    ys_json *result = made_requests(false);
    page(result);
    CHECK(!figure_has("Median latency", "Logarithmic.") && !figure_has("Latency by percentile", "Logarithmic."));
    CHECK_HAS(ys_buf_text(&out), "builtin answers a request soonest: half of them within 100 us.");
    ys_json *slow = ys_json_get(ys_json_get(ys_json_at(ys_json_get(result, "trials"), 1), "metrics"), "latency_p50_s");
    (void)!ys_json_set_real(slow, "value", 1600e-6);
    page(result);
    CHECK(figure_has("Median latency", "Logarithmic.") && figure_has("Latency by percentile", "Logarithmic."));
    ys_json_free(result);
}

static void the_words_tell_who_answers_soonest(void)
{
    ys_json *result = made_requests(false), *sentences = NULL;
    sentences = made_words(result);
    CHECK_TEXT(ys_json_text(ys_json_at(sentences, 0), ""),
               "builtin is 1.93 times as fast as pytorch (1.85 to 2.01): 100 rows per second.");
    CHECK_TEXT(ys_json_text(ys_json_at(sentences, 1), ""),
               "builtin answers a request soonest: half of them within 100 us.");
    ys_json_free(sentences);
    ys_json_free(result);
}

/* What different quantisers made is different work. */
static void nobody_answers_soonest_across_quantisers(void)
{
    ys_json *result = made_requests(false), *sentences = NULL;
    for (size_t i = 0; i < 2; i++) {
        ys_json *keys = ys_json_get(ys_json_at(ys_json_get(result, "trials"), i), "keys");
        (void)!ys_json_set_string(keys, "framework", i == 0 ? "builtin" : "pytorch");
        (void)!ys_json_set_string(keys, "quant", "static");
        (void)!ys_json_set_string(keys, "quant.by", i == 0 ? "yardstick" : "own");
    }
    sentences = made_words(result);
    for (size_t i = 0; i < ys_json_size(sentences); i++)
        CHECK(!strstr(ys_json_text(ys_json_at(sentences, i), ""), "soonest"));
    ys_json_free(sentences);
    ys_json_free(result);
}

/* The first is the soonest on a graphics processor that is none, which leaves one alone. */
static void nobody_answers_soonest_or_fastest_in_software(void)
{
    struct ys_result result;
    struct ys_view view;
    ys_json *document = made_requests(false), *sentences = NULL;
    (void)!ys_json_set_string(ys_json_at(ys_json_get(document, "trials"), 0), "software", "SwiftShader");
    sentences = made_words(document);
    for (size_t i = 0; i < ys_json_size(sentences); i++)
        CHECK(!strstr(ys_json_text(ys_json_at(sentences, i), ""), "soonest"));
    made_open(document, &result);
    ys_view_init(&view, &result);
    const struct ys_view_trial *fastest = ys_answer_fastest(&view);
    CHECK_TEXT(fastest ? fastest->id : "", "t1");
    ys_view_fini(&view);
    made_close(&result);
    ys_json_free(sentences);
    ys_json_free(document);
}

/* In place of speeds: what a stored model takes is what was asked. */
static void of_sizes_the_words_tell_who_stores_least(void)
{
    ys_json *result = made_requests(false), *sentences = NULL;
    for (size_t i = 0; i < 2; i++) {
        ys_json *trial = ys_json_at(ys_json_get(result, "trials"), i);
        (void)!ys_json_set_string(ys_json_get(trial, "keys"), "mode", "size");
        ys_json *stored = made_json("{'unit':'B','kind':'exact','n':6}"),
                *runtime = made_json("{'unit':'B','kind':'exact','n':6}");
        (void)!ys_json_set_int(stored, "value", i == 0 ? 26200000 : 13100000);
        (void)!ys_json_set_int(runtime, "value", i == 0 ? 51900000 : 554000000);
        (void)!ys_json_set(ys_json_get(trial, "metrics"), "stored_bytes", stored);
        (void)!ys_json_set(ys_json_get(trial, "metrics"), "runtime_bytes", runtime);
    }
    sentences = made_words(result);
    CHECK_TEXT(ys_json_text(ys_json_at(sentences, 0), ""), "pytorch stores least, 13.1 MB, and builtin most, 26.2 MB.");
    CHECK_TEXT(ys_json_text(ys_json_at(sentences, 1), ""),
               "The runtime of builtin takes least, 51.9 MB, and that of pytorch most, 554 MB.");
    ys_json_free(sentences);
    ys_json_free(result);
}

static void markdown_has_a_table_of_its_own(void)
{
    ys_json *result = made_requests(false);
    ys_buf_clear(&out);
    made_markdown(result, &out);
    CHECK_HAS(ys_buf_text(&out), "\n| builtin | 100 us | [95, 108] us | 120 us | 300 us | 900 us | 5.00 ms |\n");
    ys_json_free(result);
}

static void finish(void)
{
    ys_buf_free(&out);
}

static void unknown_percentiles_are_dashes(void)
{
    ys_json *result = made_requests(false);
    ys_json *metrics = ys_json_get(ys_json_at(ys_json_get(result, "trials"), 0), "metrics");
    (void)!ys_json_set(metrics, "latency_p99_s", made_json("{'value':null,'reason':'this percentile needs 100'}"));
    ys_json_remove(ys_json_get(metrics, "latency_p50_s"), "ci");
    CHECK_HAS(table(result), "builtin    100 us                 120 us       -   900 us  5.00 ms\n");
    ys_json_free(result);
    finish();
}

static void a_study_of_everything_has_all_columns(void)
{
    static const char *const of_page[] = {"stored_bytes",   "runtime_bytes",  "latency_p50_s",
                                          "latency_p99_s",  "accuracy",       "robust_accuracy",
                                          "bits_per_token", "rss_peak_bytes", "cpu_per_wall"};
    static const char *const of_table[] = {"step_s",         "accuracy",     "robust_accuracy", "corrupted_accuracy",
                                           "bits_per_token", "cpu_per_wall", "rss_peak_bytes",  "start_s"};
    ys_json *result = made_result((const char *const[]){"builtin"}, 1, 6, NULL);
    ys_json *trial = ys_json_at(ys_json_get(result, "trials"), 0), *metrics = ys_json_get(trial, "metrics");
    (void)!ys_json_set_string(ys_json_get(trial, "keys"), "mode", "train");
    for (size_t i = 0; i < sizeof of_page / sizeof of_page[0]; i++)
        (void)!ys_json_set(metrics, of_page[i], made_json("{'value':0.75,'n':6}"));
    for (size_t i = 0; i < sizeof of_table / sizeof of_table[0]; i++)
        (void)!ys_json_set(metrics, of_table[i], made_json("{'value':0.75,'n':6}"));
    ys_buf_clear(&out);
    made_html(result, &out);
    for (size_t i = 0; i < sizeof of_page / sizeof of_page[0]; i++)
        CHECK(strstr(ys_buf_text(&out), ys_view_metric_head(of_page[i], false).text) != NULL);
    ys_buf_clear(&out);
    made_markdown(result, &out);
    for (size_t i = 0; i < sizeof of_table / sizeof of_table[0]; i++)
        CHECK(strstr(ys_buf_text(&out), ys_view_metric_head(of_table[i], false).text) != NULL);
    ys_json_free(result);
}

TAP_MAIN(TAP_CASE(a_study_of_everything_has_all_columns), TAP_CASE(the_table_has_percentiles_and_no_column_of_training),
         TAP_CASE(studies_of_both_modes_have_the_columns_of_both), TAP_CASE(studies_that_train_say_nothing_of_requests),
         TAP_CASE(the_page_has_percentiles_as_a_table_and_a_curve),
         TAP_CASE(latencies_far_apart_are_drawn_on_a_logarithmic_scale), TAP_CASE(the_words_tell_who_answers_soonest),
         TAP_CASE(nobody_answers_soonest_across_quantisers), TAP_CASE(nobody_answers_soonest_or_fastest_in_software),
         TAP_CASE(of_sizes_the_words_tell_who_stores_least), TAP_CASE(markdown_has_a_table_of_its_own),
         TAP_CASE(unknown_percentiles_are_dashes))
