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
                  "0.0048,'optimizer_s':0.0031,'framework_s':0.0007,'input_s':0.0001,'rest_s':0.00002,'collective_s':0."
                  "0061,'hidden_s':0.0039,'collective_bytes':2143272,'collective_calls':1.25,'collective_library':'"
                  "gloo','compute_ci':[0."
                  "0118,0.0123],'late_part':'compute','late_s'"
                  ":0.002,"
                  "'late_ci':[0.0017,0.0024]},{'rank':1,'status':'killed','runs':3,'rate_per_s':null,"
                  "'cpu_s':null,'cpu_wait_s':null,'rss_peak_bytes':null,'threads_peak':null,'compute_s':null,"
                  "'communication_s':null,'waiting_s':null,'input_s':null,'rest_s':null}]"));
    return result;
}

static void the_table_has_a_row_for_each_rank(void)
{
    ys_json *result = made_ranks();
    ys_buf_clear(&out);
    made_table(result, 100, false, &out);
    const char *text = strstr(ys_buf_text(&out), "Ranks (medians");
    REQUIRE(text);
    CHECK_HAS(text, "com-"); /* as metrics/compute_s.metric has it */
    CHECK_HAS(text, "cancelled");
    CHECK_HAS(text, "killed");
    CHECK_HAS(text, "64.0 MB");
    CHECK_HAS(text, "4.80 ms");
    CHECK_HAS(text, "2.10 ms");
    CHECK_HAS(text, "3.10 ms");
    CHECK_HAS(text, "700 us");
    CHECK_HAS(text, "6.10 ms");
    CHECK_HAS(text, "3.90 ms");
    CHECK_HAS(text, "For a step a rank hands 2.14 MB to gloo (calls: 1.25).");
    CHECK_HAS(text, "100 us");
    CHECK_HAS(text, "12.0 [11.8, 12.3] ms");
    CHECK_HAS(text, "builtin: rank 0 is the last: computing takes it 2.00 [1.70, 2.40] ms");
    ys_json_free(result);
}

static void the_page_marks_the_rank_that_failed(void)
{
    ys_json *result = made_ranks();
    ys_buf_clear(&out);
    made_html(result, &out);
    CHECK_HAS(ys_buf_text(&out), "<td class=\"bad\">killed</td>");
    CHECK_HAS(ys_buf_text(&out), "waiting for the gradients of the slowest rank");
    CHECK_HAS(ys_buf_text(&out), "<td class=\"n\">12.0 [11.8, 12.3] ms</td>");
    CHECK_HAS(ys_buf_text(&out), "<li>builtin: rank 0 is the last: computing takes it");
    CHECK_HAS(ys_buf_text(&out), "id=\"ranks-title\"");
    CHECK_HAS(ys_buf_text(&out), "builtin, rank 0<");
    CHECK_HAS(ys_buf_text(&out), ">22.8 ms<");             /* the sum of its parts */
    CHECK(!strstr(ys_buf_text(&out), "builtin, rank 1<")); /* of which none is known */
    ys_json_free(result);
}

static void markdown_has_a_row_for_each_rank(void)
{
    ys_json *result = made_ranks();
    ys_buf_clear(&out);
    made_markdown(result, &out);
    CHECK_HAS(ys_buf_text(&out), "| Ranks | Rank | Ended |");
    CHECK_HAS(ys_buf_text(&out),
              "| Computing | Exchanging | Waiting | Optimizer | Framework | Waiting for data | Rest |");
    CHECK_HAS(ys_buf_text(&out), "| builtin | 1 | killed | - |");
    CHECK_HAS(ys_buf_text(&out), "- builtin: rank 0 is the last: computing takes it");
    ys_json_free(result);
}

/* The sentence about the first trial, of ranks that are late by `late`. */
static const char *sentence(const char *late)
{
    ys_json *result = made_ranks(), *ranks = ys_json_get(ys_json_at(ys_json_get(result, "trials"), 0), "ranks");
    for (size_t r = 0; r < 2; r++)
        (void)!ys_json_set(ys_json_at(ranks, r), "late_part", made_json("'input'"));
    (void)!ys_json_set(ys_json_at(ranks, 0), "late_s", made_json("-0.001"));
    (void)!ys_json_set(ys_json_at(ranks, 1), "late_s", made_json("0.001"));
    (void)!ys_json_set(ys_json_at(ranks, 1), "late_ci", made_json(late));
    ys_buf_clear(&out);
    made_table(result, 200, false, &out);
    ys_json_free(result);
    return ys_buf_text(&out);
}

static void it_says_when_rounds_do_not_agree_who_is_last_or_are_too_few(void)
{
    CHECK_HAS(sentence("[0.0004,0.002]"),
              "rank 1 is the last: waiting for data takes it 1.00 [0.40, 2.00] ms a step longer than the other ranks.");
    CHECK_HAS(sentence("[-0.0004,0.002]"), "no rank is the last in all rounds; rank 1 is by most: waiting for data");
    CHECK_HAS(sentence("null"), "1.00 ms a step longer than the other ranks (3 runs: no interval).");
}

/* What is said of a rank with so much rest; computing and waiting are 20 ms. */
static const char *rest_sentence(const char *rest, const char *around)
{
    ys_json *result = made_ranks(),
            *first = ys_json_at(ys_json_get(ys_json_at(ys_json_get(result, "trials"), 0), "ranks"), 0);
    (void)!ys_json_set(first, "compute_s", made_json("0.016"));
    (void)!ys_json_set(first, "communication_s", made_json("0"));
    (void)!ys_json_set(first, "waiting_s", made_json("0.004"));
    (void)!ys_json_set(first, "optimizer_s", made_json(around));
    (void)!ys_json_set(first, "framework_s", made_json(around));
    (void)!ys_json_set(first, "input_s", made_json("0"));
    (void)!ys_json_set(first, "rest_s", made_json(rest));
    ys_buf_clear(&out);
    made_table(result, 200, false, &out);
    ys_json_free(result);
    return ys_buf_text(&out);
}

static void it_says_why_nothing_is_known_of_steps(void)
{
    ys_json *result = made_ranks(),
            *first = ys_json_at(ys_json_get(ys_json_at(ys_json_get(result, "trials"), 0), "ranks"), 0);
    (void)!ys_json_set(first, "late_part", ys_json_null());
    (void)!ys_json_set(first, "untimed", made_json("'a step is <one> program'"));
    ys_buf_clear(&out);
    made_table(result, 200, false, &out);
    CHECK_HAS(ys_buf_text(&out), "builtin: where its steps go is not known: a step is <one> program.");
    ys_buf_clear(&out);
    made_html(result, &out);
    CHECK_HAS(ys_buf_text(&out), "a step is &lt;one&gt; program. For a step a rank hands");
    ys_json_free(result);
}

static void it_says_when_much_of_a_step_is_rest(void)
{
    CHECK_HAS(rest_sentence("0.005", "null"), "Of a step of rank 0 20.0 % lie between blocks");
    CHECK_HAS(rest_sentence("0.005", "0.0125"), "Of a step of rank 0 10.0 % lie between blocks");
    CHECK(!strstr(rest_sentence("0.0004", "null"), "between blocks,")); /* 1.96 % */
    CHECK(strstr(rest_sentence("0.00042", "null"), "2.1 % lie between blocks,"));
    CHECK(!strstr(rest_sentence("null", "null"), "between blocks,"));
}

static void it_says_why_nothing_was_heard(void)
{
    ys_json *result = made_ranks(), *ranks = ys_json_get(ys_json_at(ys_json_get(result, "trials"), 0), "ranks");
    (void)!ys_json_set(ys_json_at(ranks, 1), "collective_reason", made_json("'listen = off'"));
    ys_buf_clear(&out);
    made_table(result, 200, false, &out);
    CHECK_HAS(ys_buf_text(&out), "What passes in collectives is not known of rank 1: listen = off.");
    CHECK(!strstr(ys_buf_text(&out), "to gloo"));
    (void)!ys_json_set(ys_json_at(ranks, 0), "collective_reason", made_json("'some do not show it'"));
    (void)!ys_json_set(ys_json_at(ranks, 0), "collective_bytes", ys_json_null());
    ys_buf_clear(&out);
    made_table(result, 200, false, &out);
    CHECK_HAS(ys_buf_text(&out), "How many bytes pass in collectives is not known of rank 0: some do not show it.");
    ys_json_free(result);
}

/* Of a mean or of servers one host may send less than the others, so nothing is said of what a single one has to. */
static void what_hosts_sent_stands_beside_the_mean_that_they_have_to(void)
{
    ys_json *result = made_ranks(), *ranks = ys_json_get(ys_json_at(ys_json_get(result, "trials"), 0), "ranks");
    for (size_t r = 0; r < 2; r++) {
        (void)!ys_json_set(ys_json_at(ranks, r), "interface", made_json("'eth0'"));
        (void)!ys_json_set(ys_json_at(ranks, r), "wire_sent_bytes", made_json(r ? "3000000" : "1200000"));
        (void)!ys_json_set(ys_json_at(ranks, r), "wire_needed_bytes", made_json("2000000"));
    }
    ys_buf_clear(&out);
    made_table(result, 200, false, &out);
    CHECK_HAS(ys_buf_text(&out), "Each host sent 1.20 MB to 3.00 MB a"); /* the line ends there */
    CHECK_HAS(ys_buf_text(&out), "through eth0, where the mean over all hosts has to be 2.00 MB at least.");
    ys_json_free(result);
}

static void of_one_process_there_is_no_word_of_it(void)
{
    static const char *const frameworks[] = {"builtin"};
    ys_json *result = made_result(frameworks, 1, 1, NULL);
    ys_buf_clear(&out);
    made_html(result, &out);
    made_table(result, 80, false, &out);
    made_markdown(result, &out);
    CHECK(!strstr(ys_buf_text(&out), "Rank"));
    ys_json_free(result);
}

static void free_all(void)
{
    ys_buf_free(&out);
}

TAP_MAIN(TAP_CASE(the_table_has_a_row_for_each_rank), TAP_CASE(the_page_marks_the_rank_that_failed),
         TAP_CASE(markdown_has_a_row_for_each_rank), TAP_CASE(of_one_process_there_is_no_word_of_it),
         TAP_CASE(it_says_when_much_of_a_step_is_rest), TAP_CASE(it_says_why_nothing_is_known_of_steps),
         TAP_CASE(it_says_when_much_of_a_step_is_rest), TAP_CASE(it_says_why_nothing_was_heard),
         TAP_CASE(what_hosts_sent_stands_beside_the_mean_that_they_have_to),
         TAP_CASE(it_says_when_rounds_do_not_agree_who_is_last_or_are_too_few), TAP_CASE(free_all))
