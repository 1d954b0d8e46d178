/* How the page shows what several processes bring. */
#include "made.h"

static struct ys_buf out;

/* One, two and four ranks; `second` are the members of the second speed-up. */
static ys_json *made_speedups(const char *second)
{
    static const char *const frameworks[] = {"builtin", "builtin", "builtin"};
    static const char *const ranks[] = {"1", "2", "4"};
    ys_json *result = made_result(frameworks, 3, 6, NULL);
    for (size_t i = 0; i < 3; i++) {
        ys_json *trial = ys_json_at(ys_json_get(result, "trials"), i);
        (void)!ys_json_set(ys_json_get(trial, "factors"), "ranks", made_json(ranks[i]));
    }
    char *text =
        ys_format("[{'metric':'rate_per_s','a':'t1','b':'t0','varies':'ranks','ratio':1.6,'ci':[1.5,1.7],'n':6,"
                  "'verdict':'better','scaling':'strong','efficiency':0.8,'efficiency_ci':[0.75,0.85]},"
                  "{'metric':'rate_per_s','a':'t2','b':'t0','varies':'ranks','n':6,'verdict':'better',%s}]",
                  second);
    (void)!ys_json_set(result, "comparisons", made_json(text));
    ys_free(text);
    return result;
}

static const char *page(const char *second)
{
    ys_json *result = made_speedups(second);
    ys_buf_clear(&out);
    made_html(result, &out);
    ys_json_free(result);
    return ys_buf_text(&out);
}

static void speed_up_and_efficiency_have_intervals_and_a_picture(void)
{
    const char *text = page("'ratio':2.4,'scaling':'strong','efficiency':0.6");
    CHECK_HAS(text, "<h3>Several processes against one</h3>");
    CHECK_HAS(text, "<td class=\"n\">2</td>\n<td class=\"n\">1.60</td>\n<td class=\"n\">1.50 to 1.70</td>\n"
                    "<td class=\"n\">0.80</td>\n<td class=\"n\">0.75 to 0.85</td>\n<td class=\"n\">6</td>");
    CHECK_HAS(text, "<td class=\"n\">4</td>\n<td class=\"n\">2.40</td>\n<td class=\"n\">none</td>");
    CHECK_HAS(text, "2 ranks: 1.60 (1.50 to 1.70)");
    CHECK_HAS(text, "2 ranks: 0.80 (0.75 to 0.85)");
    CHECK_HAS(text, "4 ranks: 2.40<");
    CHECK_HAS(text, "id=\"speedup-");
    CHECK_HAS(text, "id=\"efficiency-");
}

static void what_is_no_speed_up_is_left_out(void)
{
    const char *text = page("'ratio':2.4,'scaling':null,'efficiency':null");
    CHECK_HAS(text, "2 ranks: 1.60");
    CHECK(!strstr(text, "4 ranks: 2.40"));
    text = page("'ratio':null,'scaling':'strong','efficiency':0.6");
    CHECK(!strstr(text, "4 ranks: 0.60"));
}

static void without_speed_ups_there_is_no_word_of_it(void)
{
    static const char *const frameworks[] = {"builtin", "pytorch"};
    ys_json *result = made_result(frameworks, 2, 6, "better");
    ys_buf_clear(&out);
    made_html(result, &out);
    CHECK(!strstr(ys_buf_text(&out), "Several processes"));
    ys_json_free(result);
}

static void free_all(void)
{
    ys_buf_free(&out);
}

TAP_MAIN(TAP_CASE(speed_up_and_efficiency_have_intervals_and_a_picture), TAP_CASE(what_is_no_speed_up_is_left_out),
         TAP_CASE(without_speed_ups_there_is_no_word_of_it), TAP_CASE(free_all))
