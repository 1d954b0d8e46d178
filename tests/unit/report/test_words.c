#include "made.h"

static const char *const two[] = {"alpha", "beta"};
static ys_json *sentences;
static char text[4096];

/** All sentences of `result`, which is freed, one a line. */
static const char *words(ys_json *result)
{
    text[0] = 0;
    ys_json_free(sentences);
    sentences = NULL;
    CHECK_INT(ys_report_words(result, &sentences), YS_OK);
    for (size_t i = 0; i < ys_json_size(sentences); i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", ys_json_text(ys_json_at(sentences, i), "?"));
    ys_json_free(result);
    return text;
}

static void better_names_the_ratio_its_interval_and_the_accuracy(void)
{
    CHECK_TEXT(
        words(made_result(two, 2, 6, "better")),
        "alpha trains lenet 1.9 times as fast as beta on 2 threads (1.9 to 2.0, 6 rounds); verified accuracy 97.00 % "
        "against 97.00 %.\n");
}

static void the_same_accuracy_is_said_only_when_it_was_found(void)
{
    ys_json *result = made_result(two, 2, 6, "better");
    (void)!ys_json_append(ys_json_get(result, "comparisons"),
                          made_json("{'metric':'accuracy','a':'t0','b':'t1','verdict':'same'}"));
    CHECK_HAS(words(result), ", at the same verified accuracy (97.00 %, 97.00 %).");
    result = made_result(two, 2, 6, "better");
    (void)!ys_json_append(ys_json_get(result, "comparisons"),
                          made_json("{'metric':'accuracy','a':'t0','b':'t1','verdict':'worse'}"));
    CHECK_HAS(words(result), ", but at another verified accuracy: 97.00 % against 97.00 %.");
}

static void tokens_are_told_by_their_bits_and_not_by_their_accuracy(void)
{
    ys_json *result = made_result(two, 2, 6, "better"), *trials = ys_json_get(result, "trials");
    for (size_t i = 0; i < 2; i++)
        (void)!ys_json_set(
            ys_json_get(ys_json_at(trials, i), "metrics"), "bits_per_token",
            made_json(i ? "{'value':2.5,'unit':'1','kind':'number'}" : "{'value':2.25,'unit':'1','kind':'number'}"));
    (void)!ys_json_append(ys_json_get(result, "comparisons"),
                          made_json("{'metric':'bits_per_token','a':'t0','b':'t1','verdict':'better'}"));
    CHECK_HAS(words(result), ", but at other bits a token: 2.25 against 2.5");
}

static void a_slower_first_trial_is_told_with_the_faster_one_first(void)
{
    ys_json *result = made_result(two, 2, 7, "worse");
    (void)!ys_json_set_real(made_comparison(result), "ratio", 0.5);
    (void)!ys_json_set(made_comparison(result), "ci", made_json("[0.4,0.625]"));
    CHECK_HAS(words(result), "beta trains lenet 2.0 times as fast as alpha on 2 threads (1.6 to 2.5, 7 rounds)");
}

static void what_the_machine_took_is_told_where_the_interval_is(void)
{
    ys_json *result = made_result(two, 2, 6, "better");
    (void)!ys_json_set(made_comparison(result), "taken",
                       made_json("{'rounds':2,'least':0.011,'most':0.029,'by_host':true}"));
    CHECK_HAS(words(result), "(1.9 to 2.0, 6 rounds; 2 of them with 1.1 % to 2.9 % of the processors taken by the "
                             "host, which is in the interval)");
    result = made_result(two, 2, 6, "better");
    (void)!ys_json_set(made_comparison(result), "taken",
                       made_json("{'rounds':1,'least':0.02,'most':0.02,'by_host':false}"));
    (void)!ys_json_set_int(made_comparison(result), "left_out", 1);
    CHECK_HAS(words(result), "6 rounds; 1 of them with 2.0 % of the processors taken by others, which is in the "
                             "interval; 1 more round left out)");
}

static void an_option_that_only_the_slower_trial_has_is_told(void)
{
    ys_json *result = made_result(two, 2, 6, "better");
    ys_json *second = ys_json_at(ys_json_get(result, "trials"), 1);
    (void)!ys_json_set_bool(ys_json_get(second, "factors"), "opt.beta.fast", true);
    CHECK_HAS(words(result), "alpha trains lenet 1.9 times as fast as beta on 2 threads with fast on (1.9 to 2.0");
}

static void a_wide_interval_over_an_even_number_is_not_turned_round(void)
{
    ys_json *result = made_result(two, 2, 6, "worse");
    (void)!ys_json_set_real(made_comparison(result), "ratio", 0.5);
    (void)!ys_json_set(made_comparison(result), "ci", made_json("[0.4,0.625]"));
    CHECK_HAS(
        words(result),
        "alpha trains lenet more slowly than beta on 2 threads, at 0.50 times its speed (0.40 to 0.62, 6 rounds)");
}

static void same_names_the_margin(void)
{
    ys_json *result = made_result(two, 2, 6, "same");
    (void)!ys_json_set_real(made_comparison(result), "ratio", 1.004);
    (void)!ys_json_set(made_comparison(result), "ci", made_json("[0.99,1.01]"));
    CHECK_HAS(words(result),
              "alpha and beta train lenet equally fast on 2 threads, within the margin of 2.0 %: 1.00 times (0.99 to "
              "1.01, 6 rounds)");
}

static void unclear_says_why_and_no_number_that_nobody_understands(void)
{
    ys_json *result = made_result(two, 2, 6, "unclear");
    (void)!ys_json_set_real(made_comparison(result), "resolution", 63.94);
    (void)!ys_json_set_string(made_comparison(result), "reason", "the runs differ too much");
    const char *said = words(result);
    CHECK_HAS(said,
              "It is unclear whether alpha trains lenet faster or slower than beta on 2 threads: 1.93 times as fast "
              "(1.85 to 2.01, 6 rounds); the runs differ too much");
    CHECK(!strstr(said, "6394"));
}

static void two_that_differ_in_more_than_one_thing_are_named_whole(void)
{
    ys_json *result = made_result(two, 2, 6, "better");
    for (int i = 0; i < 2; i++)
        (void)!ys_json_set_int(ys_json_get(ys_json_at(ys_json_get(result, "trials"), (size_t)i), "factors"), "threads",
                               1 + i);
    (void)!ys_json_set_string(made_comparison(result), "varies", "framework, threads");
    CHECK_HAS(words(result), "alpha on 1 thread trains lenet 1.9 times as fast as beta on 2 threads (1.9 to 2.0, 6");
}

static void fewer_than_six_rounds_have_no_interval_and_say_so(void)
{
    const char *all = words(made_result(two, 2, 3, "unclear"));
    CHECK_HAS(all, "(3 rounds: too few for an interval)");
    CHECK_HAS(all, "With 3 complete rounds there are no intervals and no firm verdicts: 6 are needed.");
}

static void invalid_gives_the_reason_and_no_number(void)
{
    ys_json *result = made_result(two, 2, 6, "invalid");
    (void)!ys_json_set_string(made_comparison(result), "reason", "the proof of beta failed");
    (void)!ys_json_set_string(ys_json_get(ys_json_at(ys_json_get(result, "trials"), 1), "proof"), "verdict", "fail");
    const char *all = words(result);
    CHECK_HAS(all, "alpha and beta on 2 threads cannot be compared: the proof of beta failed.");
    CHECK_HAS(all, "The proof that the same work is done FAILED for beta: comparisons with it are invalid");
    CHECK(!strstr(all, "1.9"));
}

static void a_single_trial_has_its_rate_and_nothing_to_compare(void)
{
    CHECK_TEXT(words(made_result(two, 1, 6, NULL)), "alpha trains lenet at 100 rows per second on 2 threads ([98, "
                                                    "103], 6 runs); its verified accuracy is 97.00 %.\n"
                                                    "There is nothing to compare it with.\n");
}

static void settings_are_compared_within_a_framework(void)
{
    ys_json *result = made_result((const char *[]){"alpha", "alpha"}, 2, 6, "better");
    for (int i = 0; i < 2; i++)
        (void)!ys_json_set_int(ys_json_get(ys_json_at(ys_json_get(result, "trials"), i), "factors"), "threads", 2 - i);
    (void)!ys_json_set_string(made_comparison(result), "varies", "threads");
    CHECK_HAS(words(result), "alpha trains lenet 1.9 times as fast on 2 threads as on 1 thread (1.9 to 2.0, 6 rounds)");
}

static void missing_frameworks_come_with_their_command(void)
{
    ys_json *result = made_result(two, 2, 6, NULL), *trial = ys_json_at(ys_json_get(result, "trials"), 1);
    (void)!ys_json_set_string(trial, "status", "missing");
    (void)!ys_json_set_int(trial, "runs", 0);
    (void)!ys_json_set_string(trial, "reason", "Beta 1 is not installed.");
    (void)!ys_json_set_string(trial, "command", "yardstick install beta");
    CHECK_HAS(words(result),
              "beta has no result: missing: Beta 1 is not installed; to get it: `yardstick install beta`.");
}

static void weak_and_absent_proofs_are_named(void)
{
    ys_json *result = made_result(two, 2, 6, "better"), *trials = ys_json_get(result, "trials");
    (void)!ys_json_set_string(ys_json_get(ys_json_at(trials, 0), "proof"), "verdict", "weak");
    (void)!ys_json_set_string(ys_json_get(ys_json_at(trials, 1), "proof"), "verdict", "none");
    const char *all = words(result);
    CHECK_HAS(all, "The proof is weak, that it is the same work as far as it could be shown, for alpha.");
    CHECK_HAS(all, "It is not proven that the same work is done by beta.");
}

static void a_framework_that_does_no_work_is_never_called_fast(void)
{
    ys_json *result = made_result(two, 2, 6, "better");
    (void)!ys_json_set_string(ys_json_get(ys_json_at(ys_json_get(result, "trials"), 0), "proof"), "reason",
                              "this framework does no work");
    const char *all = words(result);
    CHECK_HAS(all, "alpha does no work");
    CHECK(!strstr(all, "as fast"));
}

static void interrupted_studies_say_how_far_they_came(void)
{
    ys_json *result = made_result(two, 2, 6, "better"), *study = ys_json_get(result, "study");
    (void)!ys_json_set_string(study, "status", "interrupted");
    (void)!ys_json_set_int(study, "repeat", 10);
    CHECK_HAS(words(result), "The study was interrupted: 6 of 10 rounds are complete; `yardstick resume 1` goes on.");
    CHECK_TEXT(words(made_json("{'trials':[]}")), "The study has no trials.\n");
    CHECK_TEXT(words(made_json("{}")), "The study has no trials.\n");
}

static void two_versions_of_a_framework_are_told_apart(void)
{
    ys_json *result = made_result((const char *[]){"alpha", "alpha"}, 2, 6, "better");
    (void)!ys_json_set_string(ys_json_get(ys_json_at(ys_json_get(result, "trials"), 1), "framework"), "version", "0.9");
    CHECK_HAS(words(result), "alpha 1 trains lenet 1.9 times as fast as alpha 0.9 on 2 threads");
}

static void long_lists_are_cut_and_counted(void)
{
    const char *names[12];
    char space[12][16];
    for (int i = 0; i < 12; i++) {
        snprintf(space[i], sizeof space[i], "f%d", i);
        names[i] = space[i];
    }
    ys_json *result = made_result(names, 12, 6, "better"), *all = ys_json_get(result, "comparisons");
    for (int i = 2; i < 12; i++) {
        ys_json *more = ys_json_copy(ys_json_at(all, 0));
        char id[16];
        snprintf(id, sizeof id, "t%d", i);
        (void)!ys_json_set_string(more, "b", id);
        (void)!ys_json_append(all, more);
    }
    CHECK_HAS(words(result), "3 more comparisons of speed are in the table of comparisons.");
    CHECK_INT(ys_json_size(sentences), 9);
}

static void every_allocation_may_fail(void)
{
    ys_json *result = made_fixture("small.json");
    REQUIRE(result != NULL);
    int failures = 0;
    for (long n = 1; n < 100000; n += 1 + n / 20) {
        ys_json *array = NULL;
        ys_mem_fail_at(n);
        ys_status status = ys_report_words(result, &array);
        ys_mem_fail_at(0);
        ys_json_free(array);
        if (status == YS_OK)
            break;
        failures++;
        CHECK_INT(status, YS_ENOMEM);
    }
    CHECK(failures > 10);
    ys_json_free(result);
}

/** What is counted is what the data sets say, where they agree. */
static void a_rate_counts_what_the_document_says(void)
{
    static const struct {
        const char *first, *second, *said;
    } cases[] = {{"tokens", "tokens", "100 tokens per second"},
                 {"tokens", "images", "100 rows per second"},
                 {"tokens", NULL, "100 rows per second"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ys_json *result = made_result((const char *[]){"alpha"}, 1, 6, NULL), *works = ys_json_array();
        const char *const units[] = {cases[i].first, cases[i].second};
        for (size_t k = 0; k < 2; k++) {
            ys_json *work = ys_json_object();
            if (units[k])
                CHECK(ys_json_set_string(work, "unit", units[k]) == YS_OK);
            CHECK(ys_json_append(works, work) == YS_OK);
        }
        CHECK(ys_json_set(result, "work", works) == YS_OK);
        CHECK_HAS(words(result), cases[i].said);
    }
}

TAP_MAIN(TAP_CASE(better_names_the_ratio_its_interval_and_the_accuracy),
         TAP_CASE(tokens_are_told_by_their_bits_and_not_by_their_accuracy),
         TAP_CASE(the_same_accuracy_is_said_only_when_it_was_found),
         TAP_CASE(a_slower_first_trial_is_told_with_the_faster_one_first),
         TAP_CASE(what_the_machine_took_is_told_where_the_interval_is),
         TAP_CASE(an_option_that_only_the_slower_trial_has_is_told),
         TAP_CASE(a_wide_interval_over_an_even_number_is_not_turned_round), TAP_CASE(same_names_the_margin),
         TAP_CASE(unclear_says_why_and_no_number_that_nobody_understands),
         TAP_CASE(two_that_differ_in_more_than_one_thing_are_named_whole),
         TAP_CASE(fewer_than_six_rounds_have_no_interval_and_say_so), TAP_CASE(invalid_gives_the_reason_and_no_number),
         TAP_CASE(a_single_trial_has_its_rate_and_nothing_to_compare), TAP_CASE(a_rate_counts_what_the_document_says),
         TAP_CASE(settings_are_compared_within_a_framework), TAP_CASE(missing_frameworks_come_with_their_command),
         TAP_CASE(weak_and_absent_proofs_are_named), TAP_CASE(a_framework_that_does_no_work_is_never_called_fast),
         TAP_CASE(interrupted_studies_say_how_far_they_came), TAP_CASE(two_versions_of_a_framework_are_told_apart),
         TAP_CASE(long_lists_are_cut_and_counted), TAP_CASE(every_allocation_may_fail))
