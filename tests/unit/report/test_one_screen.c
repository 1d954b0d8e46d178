/* The result on one screen. */
#include "base/files/fs.h"
#include "made.h"
#include "stat/compare.h"

static struct ys_buf out;

static const char *summary(const ys_json *result, int width, bool colour)
{
    ys_buf_clear(&out);
    made_summary(result, "More: `yardstick show last --details`", width, colour, &out);
    return ys_buf_text(&out);
}

static int count_lines(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* As made_result(), with its trials in one group whose best is the first. */
static ys_json *made_group(const char *const *frameworks, size_t count, int n, const char *verdict)
{
    ys_json *result = made_result(frameworks, count, n, verdict), *ids = ys_json_array();
    for (size_t i = 0; i < count; i++)
        (void)!ys_json_append(ids, ys_json_copy(ys_json_get(ys_json_at(ys_json_get(result, "trials"), i), "id")));
    ys_json *groups = made_json("[{'best':'t0'}]");
    (void)!ys_json_set(ys_json_at(groups, 0), "trials", ids);
    (void)!ys_json_set(result, "groups", groups);
    return result;
}

static void the_small_study_is_one_screen(void)
{
    ys_json *result = made_fixture("small.json");
    REQUIRE(result != NULL);
    const char *root = getenv("YS_SOURCE_ROOT");
    char *path = ys_format("%s/tests/fixtures/result/small-summary.txt", root ? root : ".");
    struct ys_buf golden = {0};
    CHECK_INT(ys_fs_read(path, 1 << 20, &golden), YS_OK);
    CHECK_TEXT(summary(result, 80, false), ys_buf_text(&golden));
    CHECK(count_lines(ys_buf_text(&golden)) <= 30);
    CHECK(count_lines(summary(result, 120, false)) <= 30);
    CHECK(count_lines(summary(result, 80, true)) <= 30);
    ys_buf_free(&golden);
    ys_free(path);
    ys_json_free(result);
}

static void each_trial_stands_beside_the_best_of_its_group(void)
{
    ys_json *result = made_group((const char *[]){"alpha", "beta"}, 2, 6, "better");
    const char *text = summary(result, 80, false);
    CHECK_HAS(text, "alpha is 1.93 times as fast as beta (1.85 to 2.01): 100 rows per second.");
    ys_json *sentences = NULL; /* which the page, Markdown and --details say too */
    sentences = made_words(result);
    CHECK_TEXT(ys_json_text(ys_json_at(sentences, 0), ""),
               "alpha is 1.93 times as fast as beta (1.85 to 2.01): 100 rows per second.");
    ys_json_free(sentences);
    CHECK_HAS(text, "relative        (95 %)");
    CHECK_HAS(text, "alpha    100      1.00                best");
    CHECK_HAS(text, "beta     100     0.52x  0.50 to 0.54  slower");
    ys_json_free(result);
}

/* Two factors that differ make no other sentence than one. */
static void the_two_that_would_be_deployed_have_a_verdict(void)
{
    ys_json *result = made_fixture("small.json");
    REQUIRE(result != NULL);
    const char *text = summary(result, 120, false);
    CHECK_HAS(text, "pytorch, 1 thread ");
    const char *row = strstr(text, "\npytorch, 1 thread ");
    REQUIRE(row);
    char *line = ys_strndup(row + 1, strcspn(row + 1, "\n"));
    CHECK_HAS(line, "0.49x  0.47 to 0.51  slower");
    ys_free(line);
    ys_json_free(result);
}

static const char *const reasons[] = {
    YS_COMPARE_UNTOLD,   YS_COMPARE_MOST_OUT,
    YS_COMPARE_FEW_LEFT, YS_COMPARE_HANGS,
    YS_COMPARE_BIASED,   "the runs differ too much among themselves to tell: more of them are needed",
};

/* Words that only a manual of statistics explains. */
static void every_sentence_is_for_people_who_read_no_manual(void)
{
    static const char *const forbidden[] = {
        "interval", "margin",      "left of warm-up", "could have been shown", "nobody knows", "matched",
        "rank of",  "steady part", "worse end",       "something else, and",   "resolution",   "bias",
        "centre"};
    for (size_t r = 0; r < sizeof reasons / sizeof reasons[0]; r++) {
        ys_json *result = made_group((const char *[]){"alpha", "beta"}, 2, 6, "unclear");
        (void)!ys_json_set_string(made_comparison(result), "reason", reasons[r]);
        (void)!ys_json_set_real(made_comparison(result), "resolution", 63.94);
        const char *text = summary(result, 400, false);
        CHECK_HAS(text, "Whether it is faster than beta is unclear, because ");
        CHECK_HAS(text, reasons[r]);
        for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++)
            CHECK(!strstr(text, forbidden[i]));
        CHECK(!strstr(text, "6394"));
        ys_json_free(result);
    }
}

/* Sentences end with a stop and a blank or line. */
static void nothing_is_said_twice(void)
{
    ys_json *result = made_fixture("small.json");
    REQUIRE(result != NULL);
    char *text = ys_strdup(summary(result, 400, false)), *seen[64];
    size_t count = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        for (char *at = line, *end; count < 64 && at && *at; at = end ? end + 2 : NULL) {
            end = strstr(at, ". ");
            if (end)
                *end = 0;
            for (size_t i = 0; i < count; i++)
                CHECK(strcmp(seen[i], at) != 0);
            seen[count++] = at;
        }
    CHECK(count > 8);
    ys_free(text);
    ys_json_free(result);
}

static void a_kind_of_warning_is_one_line_with_its_runs(void)
{
    ys_json *result = made_group((const char *[]){"alpha", "beta"}, 2, 6, "better");
    for (size_t i = 0; i < 2; i++) {
        ys_json *trial = ys_json_at(ys_json_get(result, "trials"), i);
        (void)!ys_json_set(trial, "warned",
                           made_json(i ? "[{'kind':'unsteady','runs':2,'text':null},{'kind':'said','runs':1,'text':"
                                         "'it kept 7 threads'}]"
                                       : "[{'kind':'unsteady','runs':3,'text':null},{'kind':'said','runs':4,'text':"
                                         "'it kept 12 threads'}]"));
    }
    const char *text = summary(result, 120, false);
    CHECK_HAS(text, "- 5 of 12 runs did not settle to a steady speed: the last half counts.\n");
    CHECK_HAS(text, "- 5 runs: it kept 12 threads.\n");
    CHECK(!strstr(text, "7 threads"));
    ys_json_free(result);
}

static void what_all_trials_share_is_said_once(void)
{
    ys_json *result = made_group((const char *[]){"alpha", "beta", "gamma"}, 3, 6, "better"),
            *trials = ys_json_get(result, "trials");
    for (size_t i = 0; i < 3; i++)
        (void)!ys_json_set(ys_json_at(trials, i), "deviations", made_json("['X=1 is set in the environment']"));
    CHECK_HAS(summary(result, 120, false), "\n- All 3 trials: X=1 is set in the environment.\n");
    (void)!ys_json_set_int(ys_json_at(trials, 2), "runs", 0); /* which says nothing of those that ran */
    (void)!ys_json_set_string(ys_json_at(trials, 2), "status", "missing");
    CHECK_HAS(summary(result, 120, false), "\n- Both trials: X=1 is set in the environment.\n");
    ys_json_free(result);
}

static void what_the_same_trials_depart_in_is_one_line(void)
{
    ys_json *result = made_group((const char *[]){"alpha", "beta"}, 2, 6, "better"),
            *trials = ys_json_get(result, "trials");
    for (size_t i = 0; i < 2; i++)
        (void)!ys_json_set(ys_json_at(trials, i), "deviations",
                           made_json(i ? "['X=1 is set in the environment','Y=is set in the environment is set in the "
                                         "environment']"
                                       : "['X=1 is set in the environment','another layout','Y=is set in the "
                                         "environment is set in the environment','other sums']"));
    const char *text = summary(result, 120, false);
    CHECK_HAS(text, "\n- Both trials: X=1, Y=is set in the environment are set in the environment.\n");
    CHECK_HAS(text, "\n- alpha departs from the common work: another layout; other sums.\n");
    ys_json_free(result);
}

static void a_kind_of_doubt_is_one_line_with_the_numbers_of_one(void)
{
    static const char *const doubts[] = {"['up to 1.5 times too high']", "['up to 1.25 times too high','2 odd']", "[]"};
    ys_json *result = made_group((const char *[]){"alpha", "beta", "gamma"}, 3, 6, "better");
    for (size_t i = 0; i < 3; i++)
        (void)!ys_json_set(ys_json_at(ys_json_get(result, "trials"), i), "doubts", made_json(doubts[i]));
    CHECK_HAS(summary(result, 120, false), "\n~ alpha and beta: up to 1.5 times too high (numbers of alpha).\n");
    CHECK_HAS(ys_buf_text(&out), "\n~ beta: 2 odd.\n");
    ys_json_free(result);
}

/* A ratio of the few rounds that are left may be the reverse of what the speeds beside it say. */
static void without_an_interval_relative_is_what_the_speeds_say(void)
{
    ys_json *result = made_group((const char *[]){"alpha", "beta"}, 2, 6, "unclear");
    (void)!ys_json_set(made_comparison(result), "ci", ys_json_null());
    CHECK_HAS(summary(result, 80, false), "beta     100      1.00  unclear");
    ys_json_free(result);
}

static void of_files_the_title_has_the_names(void)
{
    ys_json *result = made_group((const char *[]){"alpha"}, 1, 6, NULL);
    (void)!ys_json_set(result, "work",
                       made_json("[{'model':'/somewhere/far/net.onnx','data':'/somewhere/far/photos'}]"));
    CHECK_HAS(summary(result, 120, false), "net.onnx on photos");
    CHECK(!strstr(ys_buf_text(&out), "/somewhere"));
    ys_json_free(result);
}

static void what_is_the_same_is_called_so(void)
{
    ys_json *result = made_group((const char *[]){"alpha", "beta"}, 2, 6, "same");
    CHECK_HAS(summary(result, 120, false), "alpha and beta are equally fast, within 2.0 %: 100 rows per second.");
    CHECK_HAS(ys_buf_text(&out), "as fast");
    ys_json_free(result);
}

static void one_trial_alone_is_compared_with_nothing(void)
{
    ys_json *result = made_group((const char *[]){"alpha"}, 1, 6, NULL);
    CHECK_HAS(summary(result, 80, false), "alpha trains at 100 rows per second; there is nothing to compare it with.");
    CHECK(!strstr(ys_buf_text(&out), "relative"));
    ys_json_free(result);
}

static void a_study_that_did_not_end_says_what_goes_on_with_it(void)
{
    ys_json *result = made_group((const char *[]){"alpha", "beta"}, 2, 6, "better");
    ys_json *study = ys_json_get(result, "study");
    (void)!ys_json_set_string(study, "status", "interrupted");
    (void)!ys_json_set_int(study, "rounds", 3);
    const char *text = summary(result, 120, false);
    CHECK_HAS(text,
              "\nThe study was interrupted: 3 of 6 rounds are complete; `yardstick resume 1` goes on.\nalpha is 1.93 ");
    CHECK(!strstr(strstr(text, "3 of 6") + 1, "3 of 6"));
    ys_json_free(result);
}

/* Twice as many ranks do twice the work: no trial has another of its group. */
static void ranks_are_compared_by_what_they_add(void)
{
    ys_json *result = made_group((const char *[]){"alpha", "beta"}, 2, 6, "worse");
    ys_json *one = made_comparison(result);
    (void)!ys_json_set(result, "groups", made_json("[{'best':'t0','trials':['t0']},{'best':'t1','trials':['t1']}]"));
    (void)!ys_json_set_string(one, "scaling", "weak");
    (void)!ys_json_set_real(one, "efficiency", 0.965);
    CHECK_HAS(summary(result, 120, false),
              "\nalpha is 1.93 times as fast as beta (1.85 to 2.01): a scaling efficiency of 96 %.\n");
    CHECK(!strstr(ys_buf_text(&out), "called the fastest"));
    ys_json_free(result);
}

static void an_accuracy_on_random_data_means_nothing(void)
{
    ys_json *result = made_group((const char *[]){"alpha", "beta"}, 2, 6, "better");
    CHECK(!strstr(summary(result, 120, false), "means nothing"));
    (void)!ys_json_set(result, "work", made_json("[{'model':'lenet','data':'synthetic'}]"));
    CHECK_HAS(summary(result, 120, false), "\n- synthetic is random data: accuracy means nothing.\n");
    ys_json_free(result);
}

static void more_trials_than_a_screen_has_lines_are_counted(void)
{
    const char *frameworks[60];
    for (size_t i = 0; i < 60; i++)
        frameworks[i] = "alpha";
    ys_json *result = made_group(frameworks, 60, 6, "better");
    CHECK_HAS(summary(result, 80, false), "\nand 50 more, slower\n");
    CHECK(count_lines(ys_buf_text(&out)) <= 30);
    ys_json_free(result);
}

static void no_line_is_wider_than_asked_whatever_the_result(void)
{
    static const int widths[] = {40, 60, 80, 132};
    for (uint64_t seed = 1; seed <= 150; seed++) {
        ys_json *result = made_random(seed);
        bool clean;
        const int width = widths[seed % 4], plain = made_widest(summary(result, width, false), &clean);
        tap_check(plain <= width && clean, __LINE__, "seed %llu: %d columns of %d", (unsigned long long)seed, plain,
                  width);
        const int coloured = made_widest(summary(result, width, true), &clean);
        tap_check(coloured <= width, __LINE__, "seed %llu in colour: %d columns", (unsigned long long)seed, coloured);
        ys_json_free(result);
    }
}

TAP_MAIN(TAP_CASE(the_small_study_is_one_screen), TAP_CASE(each_trial_stands_beside_the_best_of_its_group),
         TAP_CASE(the_two_that_would_be_deployed_have_a_verdict),
         TAP_CASE(every_sentence_is_for_people_who_read_no_manual), TAP_CASE(nothing_is_said_twice),
         TAP_CASE(a_kind_of_warning_is_one_line_with_its_runs), TAP_CASE(what_all_trials_share_is_said_once),
         TAP_CASE(what_the_same_trials_depart_in_is_one_line),
         TAP_CASE(a_kind_of_doubt_is_one_line_with_the_numbers_of_one),
         TAP_CASE(without_an_interval_relative_is_what_the_speeds_say), TAP_CASE(of_files_the_title_has_the_names),
         TAP_CASE(what_is_the_same_is_called_so), TAP_CASE(a_study_that_did_not_end_says_what_goes_on_with_it),
         TAP_CASE(ranks_are_compared_by_what_they_add), TAP_CASE(an_accuracy_on_random_data_means_nothing),
         TAP_CASE(one_trial_alone_is_compared_with_nothing), TAP_CASE(more_trials_than_a_screen_has_lines_are_counted),
         TAP_CASE(no_line_is_wider_than_asked_whatever_the_result))
