/* How every form of the report tells of each rank. */
#include "made.h"

static struct ys_buf out;

/* builtin in two ranks, of which one was killed in a run; pytorch in one process. */
static ys_json *made_ranks(void)
{
    static const char *const frameworks[] = {"builtin", "pytorch"};
    ys_json *result = made_result(frameworks, 2, 1, NULL);
    (void)!ys_json_set(
        ys_json_at(ys_json_get(result, "trials"), 0), "ranks",
        made_json("[{'rank':0,'status':'cancelled','runs':3,'rate_per_s':512,'cpu_s':1.5,'cpu_wait_s':0.25,"
                  "'rss_peak_bytes':64000000,'threads_peak':1,'compute_s':0.012,'communication_s':0.0021,'waiting_s':"
                  "0.0048,'input_s':0.0001,'rest_s':0.00002},{'rank':1,'status':'killed','runs':3,'rate_per_s':null,"
                  "'cpu_s':null,'cpu_wait_s':null,'rss_peak_bytes':null,'threads_peak':null,'compute_s':null,"
                  "'communication_s':null,'waiting_s':null,'input_s':null,'rest_s':null}]"));
    return result;
}

static void the_table_has_a_row_for_each_rank(void)
{
    ys_json *result = made_ranks();
    ys_buf_clear(&out);
    REQUIRE(ys_report_table(result, 100, false, &out) == YS_OK);
    const char *text = strstr(ys_buf_text(&out), "Ranks (medians");
    REQUIRE(text);
    CHECK_HAS(text, "cancelled");
    CHECK_HAS(text, "killed");
    CHECK_HAS(text, "64.0 MB");
    CHECK_HAS(text, "4.80 ms");
    CHECK_HAS(text, "2.10 ms");
    CHECK_HAS(text, "100 us");
    ys_json_free(result);
}

static void the_page_marks_the_rank_that_failed(void)
{
    ys_json *result = made_ranks();
    ys_buf_clear(&out);
    REQUIRE(ys_report_html(result, &out) == YS_OK);
    CHECK_HAS(ys_buf_text(&out), "<td class=\"bad\">killed</td>");
    CHECK_HAS(ys_buf_text(&out), "waiting for the gradients of the slowest rank");
    ys_json_free(result);
}

static void markdown_has_a_row_for_each_rank(void)
{
    ys_json *result = made_ranks();
    ys_buf_clear(&out);
    REQUIRE(ys_report_markdown(result, &out) == YS_OK);
    CHECK_HAS(ys_buf_text(&out), "| Ranks | Rank | Ended |");
    CHECK_HAS(ys_buf_text(&out), "| builtin | 1 | killed | - |");
    ys_json_free(result);
}

static void of_one_process_there_is_no_word_of_it(void)
{
    static const char *const frameworks[] = {"builtin"};
    ys_json *result = made_result(frameworks, 1, 1, NULL);
    ys_buf_clear(&out);
    REQUIRE(ys_report_html(result, &out) == YS_OK && ys_report_table(result, 80, false, &out) == YS_OK &&
            ys_report_markdown(result, &out) == YS_OK);
    CHECK(!strstr(ys_buf_text(&out), "Rank"));
    ys_json_free(result);
}

static void free_all(void)
{
    ys_buf_free(&out);
}

TAP_MAIN(TAP_CASE(the_table_has_a_row_for_each_rank), TAP_CASE(the_page_marks_the_rank_that_failed),
         TAP_CASE(markdown_has_a_row_for_each_rank), TAP_CASE(of_one_process_there_is_no_word_of_it),
         TAP_CASE(free_all))
