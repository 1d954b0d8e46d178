/* What the report says of how things were observed. */
#include "report/tables/observed_tables.h"
#include "made.h"
#include "report/report.h"
#include "tap.h"

static const char *const frameworks[] = {"builtin", "pytorch"};

static ys_json *with_trial(const char *member, const char *text)
{
    ys_json *result = made_result(frameworks, 2, 7, NULL);
    ys_json *trial = ys_json_at(ys_json_get(result, "trials"), 0);
    CHECK(ys_json_set(trial, member, made_json(text)) == YS_OK);
    return result;
}

static void one_sentence_tells_of_disturbed_runs(void)
{
    ys_json *result =
                with_trial("quiet", "{'runs':5,'rate_per_s':1234.0,'latency_p50_s':null,'wall_s':2.0,'cpu_s':2.0}"),
            *sentences = NULL;
    ys_json *trial = ys_json_at(ys_json_get(result, "trials"), 0);
    CHECK(ys_json_set_int(trial, "runs", 7) == YS_OK && ys_json_set_int(trial, "disturbed", 2) == YS_OK);
    sentences = made_words(result);
    CHECK_HAS(ys_json_text(ys_json_at(sentences, 1), ""),
              "2 of 14 runs were disturbed by other work on the machine; leaving those out changes a speed by at most");
    ys_json_free(sentences);
    CHECK(ys_json_set_int(trial, "disturbed", 0) == YS_OK);
    sentences = made_words(result);
    for (size_t i = 0; i < ys_json_size(sentences); i++)
        CHECK(!strstr(ys_json_text(ys_json_at(sentences, i), ""), "disturbed"));
    ys_json_free(sentences);
    ys_json_free(result);
}

#define NO_CODE                                                                                                        \
    "{'kernel_s':0.0,'interpreter_s':0.0,'blas_s':0.0,'openmp_s':0.0,'primitives_s':0.0,'framework_s':0.0,"            \
    "'generated_s':0.0,'system_s':0.0,'unknown_s':0.0}"

static void time_by_library_is_drawn_and_listed(void)
{
    ys_json *result = with_trial(
        "perf", "{'runs':2,'reason':null,'in_kernel':false,'period_ns':4000000,'samples':10,'lost':0,"
                "'startup':" NO_CODE ",'steady':{'kernel_s':null,'interpreter_s':1.0,'blas_s':3.0,'openmp_s':0.0,"
                "'primitives_s':0.0,'framework_s':0.0,'generated_s':0.0,'system_s':0.0,'unknown_s':0.0},"
                "'after':" NO_CODE "}");
    struct ys_buf page = {0}, text = {0};
    made_html(result, &page);
    made_markdown(result, &text);
    CHECK_HAS(ys_buf_text(&page), "Processor time by library");
    CHECK_HAS(ys_buf_text(&page), "perf-steady");
    CHECK_HAS(ys_buf_text(&page), "Time in the kernel was not to be seen");
    CHECK_HAS(ys_buf_text(&text), "interpreter 25 %, BLAS 75 %");
    ys_buf_free(&page);
    ys_buf_free(&text);
    ys_json_free(result);
}

static void where_it_could_not_be_sampled_the_reason_is_there(void)
{
    ys_json *result = with_trial(
        "perf", "{'runs':0,'reason':'the kernel <forbids> it','in_kernel':false,'period_ns':null,"
                "'samples':null,'lost':null,'startup':" NO_CODE ",'steady':" NO_CODE ",'after':" NO_CODE "}");
    struct ys_buf page = {0}, text = {0};
    made_html(result, &page);
    made_markdown(result, &text);
    CHECK_HAS(ys_buf_text(&page), "the kernel &lt;forbids&gt; it");
    CHECK_HAS(ys_buf_text(&text), "the kernel");
    ys_buf_free(&page);
    ys_buf_free(&text);
    ys_json_free(result);
}

static void one_that_could_not_be_sampled_says_why_in_the_picture_of_the_others(void)
{
    ys_json *result = with_trial(
        "perf", "{'runs':2,'reason':null,'in_kernel':true,'period_ns':4000000,'samples':10,'lost':0,"
                "'startup':" NO_CODE ",'steady':{'kernel_s':0.5,'interpreter_s':1.0,'blas_s':3.0,'openmp_s':0.0,"
                "'primitives_s':0.0,'framework_s':0.0,'generated_s':0.0,'system_s':0.0,'unknown_s':0.0},"
                "'after':" NO_CODE "}");
    ys_json *none =
        made_json("{'runs':0,'reason':'its kernel forbids it','in_kernel':false,'period_ns':null,"
                  "'samples':null,'lost':null,'startup':" NO_CODE ",'steady':" NO_CODE ",'after':" NO_CODE "}");
    CHECK(ys_json_set(ys_json_at(ys_json_get(result, "trials"), 1), "perf", none) == YS_OK);
    struct ys_buf page = {0};
    made_html(result, &page);
    const char *picture = strstr(ys_buf_text(&page), "id=\"perf-steady-title\"");
    CHECK(picture && strstr(picture, "its kernel forbids it</text>"));
    ys_buf_free(&page);
    ys_json_free(result);
}

static void what_adapters_say_stands_beside_what_was_seen(void)
{
    ys_json *result =
        with_trial("said", "[{'what':'parameters','said':'7','known':'100','source':'the graph','verdict':'differs'},"
                           "{'what':'runs <in>','said':'C','known':null,'source':'-','verdict':'cannot be told'}]");
    ys_json *observed = made_json("{'grouped':false,'group':'<none> here','guarded':true,'guard':'Landlock',"
                                  "'libraries':['libdnnl.so.3'],'notes':['it holds MKL']}");
    CHECK(ys_json_set(ys_json_at(ys_json_get(result, "trials"), 0), "observed", observed) == YS_OK);
    struct ys_buf page = {0};
    made_html(result, &page);
    const char *text = ys_buf_text(&page);
    CHECK_HAS(text, "id=\"observed\"");
    CHECK_HAS(text, "<td>no: &lt;none&gt; here</td>");
    CHECK_HAS(text, "<td>yes: Landlock</td>");
    CHECK_HAS(text, "<td>libdnnl.so.3; it holds MKL</td>");
    CHECK_HAS(text,
              "<td>parameters</td>\n<td>7</td>\n<td>100</td>\n<td>the graph</td>\n<td class=\"v bad\">differs</td>");
    CHECK_HAS(text, "<td>runs &lt;in&gt;</td>\n<td>C</td>\n<td>-</td>");
    CHECK_HAS(text, "yardstick show 1 --verify");
    ys_buf_free(&page);
    ys_json_free(result);
}

static void commands_that_check_a_number_are_those_of_the_study(void)
{
    static const struct {
        const char *command, *verify, *audits;
    } cases[] = {
        {"yardstick run a.ys --results=<dir> --format=json",
         "<code>yardstick verify a.ys --results=&lt;dir&gt; --fresh</code>",
         "<code>yardstick run a.ys --results=&lt;dir&gt; --audit=all</code>"},
        {"yardstick run --fresh --framework=builtin --audit=off --quiet --repeat=3",
         "<code>yardstick verify --framework=builtin --repeat=3 --fresh</code>",
         "<code>yardstick run --framework=builtin --repeat=3 --audit=all</code>"},
        {"yardstick dir/a.ys --repeat=3", "<code>yardstick verify dir/a.ys --repeat=3 --fresh</code>",
         "<code>yardstick run dir/a.ys --repeat=3 --audit=all</code>"},
        {"yardstick bisect a.ys --good=x@1 --bad=x@2", "<code>yardstick verify JOB.ys --fresh</code>",
         "<code>yardstick run JOB.ys --audit=all</code>"},
        {"", "<code>yardstick verify JOB.ys --fresh</code>", "<code>yardstick run JOB.ys --audit=all</code>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ys_json *result = with_trial("said", "[]");
        struct ys_buf page = {0};
        REQUIRE(ys_json_set_string(ys_json_get(result, "study"), "command", cases[i].command) == YS_OK);
        made_html(result, &page);
        CHECK_HAS(ys_buf_text(&page), cases[i].verify);
        CHECK_HAS(ys_buf_text(&page), cases[i].audits);
        ys_buf_free(&page);
        ys_json_free(result);
    }
}

static void an_audit_says_how_much_of_the_timed_run_was_the_same(void)
{
    ys_json *result =
        with_trial("proof", "{'verdict':'pass','reason':null,'checks':[],'audit':{'verdict':'pass','reason':null,"
                            "'place':'fc1.bias','error':0.001,'bound':0.0025,'round':2,'step':17,'steps':4,'tensors':8,"
                            "'small':0,'loose':0,'compared':21,'same':20}}");
    struct ys_buf page = {0};
    made_html(result, &page);
    const char *text = ys_buf_text(&page);
    CHECK_HAS(text,
              "Audit of its runs: pass; 4 steps from step 17 of a run like round 3; closest to its bound: fc1.bias");
    CHECK_HAS(text, "of 21 losses that the timed run of that round has as well, the first 20 are the same to the bit");
    ys_buf_free(&page);
    ys_json_free(result);
}

static void the_self_test_of_the_machine_is_shown(void)
{
    ys_json *result = made_result(frameworks, 2, 7, NULL);
    ys_json *host = made_json("{'self_test':{'date':'2026-11-22T00:00:00Z','host':'<b>box','rows':["
                              "{'what':'CPU time of a child','unit':'s','truth':0.1,'observed':0.1001,'error':0.0001,"
                              "'bound':0.01,'verdict':'true'},"
                              "{'what':'memory | shared','unit':'B','truth':null,'observed':null,'error':null,"
                              "'bound':null,'verdict':'unknown'}]}}");
    CHECK(ys_json_set(result, "host", host) == YS_OK);
    struct ys_buf page = {0}, text = {0};
    made_html(result, &page);
    made_markdown(result, &text);
    CHECK_HAS(ys_buf_text(&page), "Is what is observed true on this machine? 2026-11-22T00:00:00Z on &lt;b&gt;box");
    CHECK_HAS(ys_buf_text(&page), "<td>CPU time of a child</td>");
    CHECK_HAS(ys_buf_text(&text), "| CPU time of a child | 0.1000 s | 0.1001 s | 0.0001 s | 0.0100 s | true |");
    CHECK_HAS(ys_buf_text(&text), "| memory \\| shared | - | - | - | - | unknown |");
    ys_buf_free(&page);
    ys_buf_free(&text);
    ys_json_free(result);
}

static void where_there_is_nothing_nothing_is_said(void)
{
    ys_json *result = made_result(frameworks, 2, 7, NULL);
    struct ys_buf page = {0}, text = {0};
    made_html(result, &page);
    made_markdown(result, &text);
    CHECK(!strstr(ys_buf_text(&page), "Processor time by library"));
    CHECK(!strstr(ys_buf_text(&page), "Is what is observed true"));
    CHECK(!strstr(ys_buf_text(&page), "id=\"observed\""));
    CHECK(!strstr(ys_buf_text(&text), "Is what is observed true"));
    ys_buf_free(&page);
    ys_buf_free(&text);
    ys_json_free(result);
}

TAP_MAIN(TAP_CASE(one_sentence_tells_of_disturbed_runs), TAP_CASE(time_by_library_is_drawn_and_listed),
         TAP_CASE(where_it_could_not_be_sampled_the_reason_is_there), TAP_CASE(the_self_test_of_the_machine_is_shown),
         TAP_CASE(one_that_could_not_be_sampled_says_why_in_the_picture_of_the_others),
         TAP_CASE(an_audit_says_how_much_of_the_timed_run_was_the_same),
         TAP_CASE(what_adapters_say_stands_beside_what_was_seen),
         TAP_CASE(commands_that_check_a_number_are_those_of_the_study),
         TAP_CASE(where_there_is_nothing_nothing_is_said))
