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
    sentences = made_words(result);
    for (size_t i = 0; i < ys_json_size(sentences); i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", ys_json_text(ys_json_at(sentences, i), "?"));
    ys_json_free(result);
    return text;
}

static void the_answer_is_that_of_the_first_screen(void)
{
    CHECK_TEXT(words(made_result(two, 2, 6, "better")),
               "alpha is 1.93 times as fast as beta (1.85 to 2.01): 100 rows per second.\n");
}

static void fewer_than_six_rounds_have_no_interval_and_say_so(void)
{
    const char *all = words(made_result(two, 2, 3, "unclear"));
    CHECK_HAS(all, "alpha came out fastest: 100 rows per second. Whether it is faster than beta is unclear.");
    CHECK_HAS(all, "With 3 complete rounds there are no intervals and no firm verdicts: 6 are needed.");
}

static void invalid_gives_the_reason_and_no_number(void)
{
    ys_json *result = made_result(two, 2, 6, "invalid");
    (void)!ys_json_set_string(made_comparison(result), "reason", "the proof of beta failed");
    (void)!ys_json_set_string(ys_json_get(ys_json_at(ys_json_get(result, "trials"), 1), "proof"), "verdict", "fail");
    const char *all = words(result);
    CHECK_HAS(all, "beta does other work than was asked for, as its proof shows, and is not compared.");
    CHECK(!strstr(all, "1.9"));
}

static void where_nobody_counts_as_the_fastest_the_reason_is_said(void)
{
    ys_json *result = made_result(two, 2, 6, "invalid");
    (void)!ys_json_set_string(made_comparison(result), "reason", "beta: not audited yet");
    (void)!ys_json_set(result, "groups", made_json("[{'trials':['t0','t1'],'best':null}]"));
    const char *all = words(result);
    CHECK_HAS(all, "None is called the fastest, because their comparisons are invalid: beta: not audited yet.");
    CHECK(!strstr(all, "work of its own"));
}

static void a_single_trial_has_its_rate_and_nothing_to_compare(void)
{
    CHECK_TEXT(words(made_result(two, 1, 6, NULL)),
               "alpha trains at 100 rows per second; there is nothing to compare it with.\n");
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

static void what_hits_several_frameworks_is_said_once(void)
{
    for (int is_apart = 0; is_apart < 2; is_apart++) {
        ys_json *result = made_result(two, 2, 6, NULL), *trials = ys_json_get(result, "trials");
        for (size_t i = 0; i < 2; i++) {
            (void)!ys_json_set_string(ys_json_at(trials, i), "status", "missing");
            (void)!ys_json_set_int(ys_json_at(trials, i), "runs", 0);
            (void)!ys_json_set_string(ys_json_at(trials, i), "reason", "It is not here.");
            (void)!ys_json_set_string(ys_json_at(trials, i), "command", is_apart && i ? "get beta" : "get it");
        }
        const char *all = words(result);
        CHECK_HAS(all, is_apart ? "beta has no result: missing: It is not here; to get it: `get beta`."
                                : "2 trials have no result: missing: It is not here; to get it: `get it`.");
    }
}

static void weak_and_absent_proofs_are_named(void)
{
    ys_json *result = made_result(two, 2, 6, "better"), *trials = ys_json_get(result, "trials");
    (void)!ys_json_set_string(ys_json_get(ys_json_at(trials, 0), "proof"), "verdict", "weak");
    (void)!ys_json_set_string(ys_json_get(ys_json_at(trials, 1), "proof"), "verdict", "none");
    const char *all = words(result);
    CHECK_HAS(all, "alpha does the same work as far as it could be shown.");
    CHECK_HAS(all, "beta is not proven to do the work, and is not compared.");
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
    result = made_result(two, 2, 6, "better");
    (void)!ys_json_set_string(ys_json_get(result, "study"), "status", "running"); /* or killed */
    CHECK_HAS(words(result),
              "The study is not finished: 6 of 6 rounds are complete; where nothing measures it any more, "
              "`yardstick resume 1` goes on.");
    CHECK_TEXT(words(made_json("{'trials':[]}")), "The study has no trials.\n");
    CHECK_TEXT(words(made_json("{}")), "The study has no trials.\n");
}

static void two_versions_of_a_framework_are_told_apart(void)
{
    ys_json *result = made_result((const char *[]){"alpha", "alpha"}, 2, 6, "better");
    (void)!ys_json_set_string(ys_json_get(ys_json_at(ys_json_get(result, "trials"), 1), "framework"), "version", "0.9");
    CHECK_HAS(words(result), "alpha 1 is 1.93 times as fast as alpha 0.9 (1.85 to 2.01)");
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

TAP_MAIN(TAP_CASE(the_answer_is_that_of_the_first_screen), TAP_CASE(fewer_than_six_rounds_have_no_interval_and_say_so),
         TAP_CASE(invalid_gives_the_reason_and_no_number),
         TAP_CASE(where_nobody_counts_as_the_fastest_the_reason_is_said),
         TAP_CASE(a_single_trial_has_its_rate_and_nothing_to_compare), TAP_CASE(a_rate_counts_what_the_document_says),
         TAP_CASE(missing_frameworks_come_with_their_command), TAP_CASE(what_hits_several_frameworks_is_said_once),
         TAP_CASE(weak_and_absent_proofs_are_named), TAP_CASE(a_framework_that_does_no_work_is_never_called_fast),
         TAP_CASE(interrupted_studies_say_how_far_they_came), TAP_CASE(two_versions_of_a_framework_are_told_apart))
