#include "made.h"

static struct ys_buf out;

static const char *markdown(ys_json *result)
{
    ys_buf_clear(&out);
    made_markdown(result, &out);
    ys_json_free(result);
    return ys_buf_text(&out);
}

static void a_study_is_a_table_a_list_and_sentences(void)
{
    CHECK_TEXT(
        markdown(made_result((const char *[]){"alpha", "beta"}, 2, 6, "better")),
        "Study made: done, 6 of 6 rounds complete\n\n"
        "| Trial | Rate (rows/s) | Interval | Step time | Verified accuracy | Cores used | Peak memory | Start-up | "
        "Same work |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n"
        "| alpha | 100 | [98, 103] | - | 97.00 % | - | - | - | pass |\n"
        "| beta | 100 | [98, 103] | - | 97.00 % | - | - | - | pass |\n\n"
        "Comparisons, speed:\n\n"
        "- alpha vs beta: 1.93x as fast (1.85 to 2.01, 6 rounds): better\n\n"
        "Smallest difference that could have been shown: 5.0 %; same means within 2.0 %.\n\n"
        "In words:\n\n"
        "- alpha is 1.93 times as fast as beta (1.85 to 2.01): 100 rows per second.\n");
}

static void what_the_machine_took_stands_beside_the_interval(void)
{
    ys_json *result = made_result((const char *[]){"alpha", "beta"}, 2, 6, "better");
    (void)!ys_json_set(made_comparison(result), "taken",
                       made_json("{'rounds':2,'least':0.011,'most':0.029,'by_host':true}"));
    (void)!ys_json_set_int(made_comparison(result), "left_out", 1);
    CHECK_HAS(markdown(result), "(1.85 to 2.01, 6 rounds; 2 of them with 1.1 % to 2.9 % of the processors taken by the "
                                "host, which is in the interval; 1 more round left out): better");
}

static void comparisons_say_what_bounds_them(void)
{
    static const char one[] =
        "{'study':{'rounds':6},'trials':[],'comparisons':[{'metric':'rate_per_s','a':'x','b':'y','ratio':1.5,"
        "'ci':[1.4,1.6],'n':%d,'verdict':'better','rounds':'%s','round_correlation':%s,"
        "'bias_bound':%s,'settled_ci':%s,'window_from':%s}]}";
    char text[600];
    snprintf(text, sizeof text, one, 12, "correlated", "0.61", "0.008", "[1.38,1.61]", "0.25");
    CHECK_HAS(markdown(made_json(text)), "better; both from 25 % of the run on, where at most 0.80 % may be left of "
                                         "warm-up (without it 1.38 to 1.61); whether rounds hang together: "
                                         "correlated (0.61 from one to the next)\n");
    snprintf(text, sizeof text, one, 7, "cannot be told", "null", "null", "null", "0.5");
    CHECK_HAS(markdown(made_json(text)),
              "both from 50 % of the run on; what is left of warm-up there cannot be told\n");
}

static void a_speed_up_says_what_each_rank_brings(void)
{
    CHECK_HAS(markdown(made_json("{'study':{'rounds':6},'trials':[],'comparisons':[{'metric':'rate_per_s','a':'x','b':"
                                 "'y','ratio':1.5,'ci':[1.4,1.6],'n':6,'verdict':'better','scaling':'weak',"
                                 "'efficiency':0.75,'efficiency_ci':[0.7,0.8]}]}")),
              "better; weak scaling, efficiency 0.75 (0.7 to 0.8)\n");
}

static void ranks_that_exchange_nothing_say_what_the_exchange_adds(void)
{
    CHECK_HAS(markdown(made_json("{'study':{'rounds':6},'trials':[],'comparisons':[{'metric':'rate_per_s','a':'x','b':"
                                 "'y','n':6,'verdict':'invalid','reason':'no proof','exposed_s':0.0125,"
                                 "'exposed_s_ci':[0.012,0.014]}]}")),
              "invalid, no proof; exposed communication by difference: 12.5 ms a step (12.0 ms to 14.0 ms)\n");
}

static void markup_in_names_is_escaped(void)
{
    const char *text = markdown(made_result((const char *[]){"a|b*<i>[x](y)`"}, 1, 6, NULL));
    CHECK_HAS(text, "| a\\|b\\*&lt;i&gt;\\[x\\](y)\\` |");
    CHECK(!strstr(text, "<i>"));
}

static void failures_are_rows(void)
{
    CHECK_HAS(markdown(made_json("{'trials':[{'framework':{'name':'x'},'status':'missing','reason':'not here',"
                                 "'command':'get x'}]}")),
              "| x | - | - | - | - | - | - | - | none; missing: not here; to get it: \\`get x\\` |\n");
}

static int count_bars(const char *line)
{
    int bars = 0;
    for (size_t i = 0; line[0] == '|' && line[i] && line[i] != '\n'; i++) {
        bars += line[i] == '|';
        i += line[i] == '\\';
    }
    return bars;
}

/** Nine of results, seven of latencies. */
static void every_row_has_the_cells_of_its_table(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        const char *line = markdown(made_random(seed));
        int expected = 0;
        for (; *line; line += strcspn(line, "\n") + 1) {
            int bars = count_bars(line);
            expected = bars == 0 ? 0 : expected ? expected : bars;
            tap_check(bars == expected && (bars == 0 || bars == 8 || bars == 10), __LINE__, "seed %llu: %d bars",
                      (unsigned long long)seed, bars);
        }
    }
}

TAP_MAIN(TAP_CASE(a_study_is_a_table_a_list_and_sentences), TAP_CASE(what_the_machine_took_stands_beside_the_interval),
         TAP_CASE(comparisons_say_what_bounds_them), TAP_CASE(a_speed_up_says_what_each_rank_brings),
         TAP_CASE(ranks_that_exchange_nothing_say_what_the_exchange_adds), TAP_CASE(markup_in_names_is_escaped),
         TAP_CASE(failures_are_rows), TAP_CASE(every_row_has_the_cells_of_its_table))
