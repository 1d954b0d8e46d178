#include "base/files/fs.h"
#include "made.h"
#include "report/clean_text.h"

static struct ys_buf out;

static const char *table(const ys_json *result, int width, bool colour)
{
    ys_buf_clear(&out);
    made_table(result, width, colour, &out);
    return ys_buf_text(&out);
}

static void the_small_study_prints_as_it_should(void)
{
    ys_json *result = made_fixture("small.json");
    REQUIRE(result != NULL);
    const char *root = getenv("YS_SOURCE_ROOT");
    char *path = ys_format("%s/tests/fixtures/result/small.txt", root ? root : ".");
    struct ys_buf golden = {0};
    CHECK_INT(ys_fs_read(path, 1 << 20, &golden), YS_OK);
    CHECK_TEXT(table(result, 80, false), ys_buf_text(&golden));
    ys_buf_free(&golden);
    ys_free(path);
    ys_json_free(result);
}

static void a_difference_beyond_all_reason_is_no_figure(void)
{
    ys_json *result = made_result((const char *[]){"alpha", "beta"}, 2, 6, "unclear");
    (void)!ys_json_set_real(ys_json_at(ys_json_get(result, "comparisons"), 0), "resolution", 63.94);
    const char *all = table(result, 80, false);
    CHECK(!strstr(all, "6394") && !strstr(all, "6390"));
    CHECK_HAS(all, "Their runs scatter so much");
    ys_json_free(result);
}

static void two_trials_fit_one_table(void)
{
    ys_json *result = made_result((const char *[]){"alpha", "beta"}, 2, 6, "better");
    CHECK_HAS(table(result, 80, false), "Results (median of the runs)\n"
                                        "            rows             step  verified  cores    peak  start-\n"
                                        "framework  per s   interval  time  accuracy   used  memory      up\n"
                                        "alpha        100  [98, 103]     -   97.00 %      -       -       -\n"
                                        "beta         100  [98, 103]     -   97.00 %      -       -       -\n");
    CHECK_HAS(ys_buf_text(&out), "  * alpha vs beta: 1.93x as fast (1.85 to 2.01, 6 rounds): better\n"
                                 "    Smallest difference that could have been shown: 5.0 %; same means within\n"
                                 "    2.0 %.\n");
    ys_json_free(result);
}

static void too_few_runs_are_marked(void)
{
    ys_json *result = made_result((const char *[]){"alpha"}, 1, 3, NULL);
    CHECK_HAS(table(result, 80, false), "alpha        100     n = 3     -   97.00 %");
    CHECK_HAS(ys_buf_text(&out), "\nn < 6: no interval.\n");
    ys_json_free(result);
}

static void a_failure_is_a_row_and_never_a_speed(void)
{
    ys_json *result = made_result((const char *[]){"alpha", "beta"}, 2, 6, NULL),
            *trial = ys_json_at(ys_json_get(result, "trials"), 1);
    (void)!ys_json_set_string(trial, "status", "crashed");
    (void)!ys_json_set_string(trial, "stage", "train");
    (void)!ys_json_set_string(trial, "reason", "signal 11");
    (void)!ys_json_set_int(trial, "failed", 6);
    CHECK_HAS(table(result, 80, false), "\nbeta       6 of 6 runs crashed (train): signal 11\n");
    ys_json_free(result);
}

static void some_failed_runs_leave_the_numbers_of_the_others(void)
{
    ys_json *result = made_result((const char *[]){"alpha"}, 1, 6, NULL),
            *trial = ys_json_at(ys_json_get(result, "trials"), 0);
    (void)!ys_json_set_string(trial, "status", "diverged");
    (void)!ys_json_set_int(trial, "failed", 2);
    CHECK_HAS(table(result, 80, false), "alpha        100  [98, 103]     -   97.00 %      -       -       -\n"
                                        "           2 of 6 runs diverged\n");
    ys_json_free(result);
}

static void proofs_that_are_not_full_are_marked(void)
{
    ys_json *result = made_result((const char *[]){"alpha", "beta", "gamma"}, 3, 6, NULL),
            *trials = ys_json_get(result, "trials");
    static const char *const verdicts[] = {"weak", "fail", "none"};
    for (int i = 0; i < 3; i++)
        (void)!ys_json_set_string(ys_json_get(ys_json_at(trials, i), "proof"), "verdict", verdicts[i]);
    const char *text = table(result, 80, false);
    CHECK_HAS(text, "\nalpha* ");
    CHECK_HAS(text, "\nbeta! ");
    CHECK_HAS(text, "\ngamma? ");
    CHECK_HAS(text, "  *  weak proof");
    CHECK_HAS(text, "  !  FAILED proof");
    CHECK_HAS(text, "  ?  not proven");
    ys_json_free(result);
}

static void environment_differences_stand_before_the_verdicts(void)
{
    ys_json *result = made_fixture("small.json");
    REQUIRE(result != NULL);
    const char *text = table(result, 80, false);
    const char *differences = strstr(text, "Differences of environment"), *verdicts = strstr(text, "Comparisons");
    REQUIRE(differences && verdicts);
    CHECK(differences < verdicts);
    ys_json_free(result);
}

static void colour_comes_only_when_asked(void)
{
    ys_json *result = made_fixture("small.json");
    REQUIRE(result != NULL);
    CHECK(!strchr(table(result, 80, false), 0x1B));
    CHECK(strchr(table(result, 80, true), 0x1B) != NULL);
    ys_json_free(result);
}

static void differences_of_accuracy_are_in_points(void)
{
    ys_json *result = made_result((const char *[]){"alpha", "beta"}, 2, 6, NULL);
    (void)!ys_json_set(
        result, "comparisons",
        made_json(
            "[{'metric':'accuracy','a':'t0','b':'t1','varies':'framework','scale':'difference','ratio':null,"
            "'difference':0.0123,'ci':[0.01,0.015],'n':6,'verdict':'better','resolution':0.005,'margin':0.005}]"));
    CHECK_HAS(table(result, 80, false), "  * alpha vs beta: +1.23 points (1.00 to 1.50, 6 rounds): better\n");
    CHECK_HAS(ys_buf_text(&out), "shown: 0.50 points; same means\n    within 0.50 points.\n");
    ys_json_free(result);
}

static void comparisons_that_are_invalid_for_one_reason_are_gathered(void)
{
    ys_json *result = made_result((const char *[]){"alpha", "beta", "gamma"}, 3, 6, "invalid"),
            *all = ys_json_get(result, "comparisons");
    (void)!ys_json_set_string(ys_json_at(all, 0), "reason", "other work");
    ys_json *more = ys_json_copy(ys_json_at(all, 0));
    (void)!ys_json_set_string(more, "b", "t2");
    (void)!ys_json_append(all, more);
    CHECK_HAS(table(result, 80, false), "  * invalid, other work: alpha vs beta; alpha vs gamma\n");
    ys_json_free(result);
}

static void no_trials_make_a_short_page(void)
{
    ys_json *result = made_json("{'study':{'name':'none','status':'interrupted','repeat':6,'rounds':0},'trials':[]}");
    CHECK_TEXT(table(result, 80, false),
               "Study none: interrupted, 0 of 6 rounds complete\n\nIn words\n  * The study has no trials.\n");
    ys_json_free(result);
}

static void no_line_is_wider_than_asked_whatever_the_result(void)
{
    static const int widths[] = {40, 60, 80, 132};
    for (uint64_t seed = 1; seed <= 150; seed++) {
        ys_json *result = made_random(seed);
        int width = widths[seed % 4];
        bool clean;
        int most = made_widest(table(result, width, false), &clean);
        if (most > width || !clean)
            tap_check(false, __LINE__, "seed %llu: %d columns of %d, clean %d", (unsigned long long)seed, most, width,
                      clean);
        most = made_widest(table(result, width, true), &clean);
        tap_check(most <= width, __LINE__, "seed %llu in colour: %d columns", (unsigned long long)seed, most);
        ys_json_free(result);
    }
}

TAP_MAIN(TAP_CASE(the_small_study_prints_as_it_should), TAP_CASE(two_trials_fit_one_table),
         TAP_CASE(a_difference_beyond_all_reason_is_no_figure), TAP_CASE(too_few_runs_are_marked),
         TAP_CASE(a_failure_is_a_row_and_never_a_speed), TAP_CASE(some_failed_runs_leave_the_numbers_of_the_others),
         TAP_CASE(proofs_that_are_not_full_are_marked), TAP_CASE(environment_differences_stand_before_the_verdicts),
         TAP_CASE(colour_comes_only_when_asked), TAP_CASE(differences_of_accuracy_are_in_points),
         TAP_CASE(comparisons_that_are_invalid_for_one_reason_are_gathered), TAP_CASE(no_trials_make_a_short_page),
         TAP_CASE(no_line_is_wider_than_asked_whatever_the_result))
