#include "base/files/fs.h"
#include "helper.h"

#include <stdlib.h>

static void study_keys_are_typed_and_defaults_filled_in(void)
{
    struct helper_study study = study_of(HEAD);
    REQUIRE(study.status == YS_OK);
    char *text = ys_json_dump(study.job.study, YS_JSON_COMPACT);
    CHECK_TEXT(text, "{\"name\":\"t\",\"repeat\":7,\"repeat_most\":null,\"decide\":\"auto\",\"order\":\"random\","
                     "\"interleave\":\"auto\",\"turn_s\":null,"
                     "\"seed\":1,\"time_limit_s\":null,\"cooldown_s\":0.0,"
                     "\"audit\":\"one\",\"anchor\":\"auto\",\"results\":\"yardstick-results\",\"margin\":0.02,\"on_"
                     "disturbance\":\"repeat\","
                     "\"comparisons\":\"axes\",\"max_runs\":1000}");
    ys_free(text);
    ys_job_fini(&study.job);
    study = study_of("version = 1\nname = my-study\ntime_limit = 2h\ncooldown = 500ms\norder = fixed\ninterleave = "
                     "blocks\nturn = 250ms\nmargin = 5%\nseed = 7\n"
                     "results = /some where\n[a]\nmodel = lenet\ndata = digits\n");
    REQUIRE(study.status == YS_OK);
    text = ys_json_dump(study.job.study, YS_JSON_COMPACT);
    CHECK_TEXT(text,
               "{\"name\":\"my-study\",\"repeat\":7,\"repeat_most\":null,\"decide\":\"auto\",\"order\":\"fixed\","
               "\"interleave\":\"blocks\",\"turn_s\":0.25,"
               "\"seed\":7,\"time_limit_s\":7200.0,\"cooldown_s\":0.5,"
               "\"audit\":\"one\",\"anchor\":\"auto\",\"results\":\"/some "
               "where\",\"margin\":0.05,\"on_disturbance\":\"repeat\",\"comparisons\":\"axes\",\"max_runs\":1000}");
    ys_free(text);
    ys_job_fini(&study.job);
}

static void a_file_is_read_with_its_includes_and_kept_as_given(void)
{
    char folder[] = "/tmp/ys-job-XXXXXX", path[96];
    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/common.ys", folder);
    CHECK(ys_fs_write(path, "[global]\nmodel = lenet\ndata = digits\n", 36) == YS_OK);
    snprintf(path, sizeof path, "%s/two words.v2.ys", folder);
    const char *text = "version = 1\nrepeat = 2 ; few\ninclude = common.ys\n[a]\nthreads = {1, 2}\n";
    CHECK(ys_fs_write(path, text, strlen(text)) == YS_OK);
    struct ys_job job;
    ys_status status = ys_job_load(path, NULL, 0, NULL, &job);
    CHECK_INT(status, YS_OK);
    if (status == YS_OK) {
        CHECK_TEXT(ys_json_get_text(job.study, "name", ""), "two-words.v2");
        CHECK_INT(ys_json_size(job.trials), 2);
        char expected[512];
        snprintf(expected, sizeof expected,
                 "version = 1\nrepeat = 2 ; few\n; begin of %s/common.ys\n[global]\nmodel = lenet\ndata = digits\n; "
                 "end of %s/common.ys\n"
                 "[a]\nthreads = {1, 2}\n",
                 folder, folder);
        CHECK_TEXT(job.text, expected);
        struct helper_study again = study_of(job.text); /* what is kept can be run again */
        CHECK(again.status == YS_OK && ys_json_equal(again.job.trials, job.trials));
        ys_job_fini(&again.job);
        ys_job_fini(&job);
    }
    CHECK(ys_fs_remove_tree(folder) == YS_OK);
}

static void a_missing_file_is_not_found(void)
{
    struct ys_job job;
    CHECK_INT(ys_job_load("/nonexistent/x.ys", NULL, 0, NULL, &job), YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "/nonexistent/x.ys");
    CHECK(job.text == NULL && job.study == NULL && job.trials == NULL);
}

/* Loads what `texts` (key, value, key, value) say without a file. */
static ys_status load_flags(char **texts, size_t count, struct ys_job *job)
{
    struct ys_job_flag flags[16];
    for (size_t i = 0; i < count; i++)
        flags[i] = (struct ys_job_flag){.key = texts[2 * i], .value = texts[2 * i + 1]};
    return ys_job_load(NULL, flags, count, NULL, job);
}

static void flags_alone_make_a_section_called_run(void)
{
    char words[][40] = {"framework", "builtin,pytorch",
                        "model",     "lenet",
                        "data",      "digits",
                        "repeat",    "3",
                        "threads",   "1,2",
                        "exclude",   "framework=pytorch threads=1",
                        "schedule",  "constant,warmup(2) step(3,0.5)",
                        "optimizer", "rmsprop,adam(0.9,0.99,1e-8)",
                        "env.X",     "\"a, # b\""};
    char *texts[18];
    for (size_t i = 0; i < 18; i++)
        texts[i] = words[i];
    struct ys_job job;
    REQUIRE(load_flags(texts, 9, &job) == YS_OK);
    CHECK_TEXT(ys_json_get_text(job.study, "name", ""), "run");
    CHECK_INT(ys_json_get_int(job.study, "repeat", 0), 3);
    CHECK_INT(ys_json_size(job.trials), 12);
    CHECK_TEXT(ys_json_get_text(ys_json_at(job.trials, 0), "id", ""),
               "run:framework=builtin,optimizer=rmsprop,schedule=constant,threads=1");
    struct helper_study again = study_of(job.text); /* a file that means the same */
    CHECK_INT(again.status, YS_OK);
    CHECK(ys_json_equal(again.job.trials, job.trials));
    CHECK_INT(ys_json_get_int(again.job.study, "repeat", 0), 3);
    ys_job_fini(&again.job);
    ys_job_fini(&job);
}

/* Of keys and values that make a study with those of some work. */
static struct ys_job job_of_flags(char words[][20], size_t count)
{
    char *texts[2 * 8] = {(char[]){"model"}, (char[]){"lenet"}, (char[]){"data"}, (char[]){"digits"}};
    struct ys_job job = {0};
    for (size_t i = 0; i < 2 * count; i++)
        texts[4 + i] = words[i];
    CHECK_INT(load_flags(texts, 2 + count, &job), YS_OK);
    return job;
}

static void flags_alone_go_on_until_it_is_decided(void)
{
    struct ys_job job = job_of_flags((char[][20]){"threads", "1,2"}, 1);
    CHECK(ys_json_type_of(ys_json_get(job.study, "repeat")) == YS_JSON_NULL);
    CHECK_INT(ys_json_get_int(job.study, "repeat_most", 0), 20);
    struct helper_study again = study_of(job.text); /* a file that means the same, though files have a number */
    CHECK_INT(again.status, YS_OK);
    CHECK(ys_json_type_of(ys_json_get(again.job.study, "repeat")) == YS_JSON_NULL);
    CHECK_INT(ys_json_get_int(again.job.study, "repeat_most", 0), 20);
    ys_job_fini(&again.job);
    ys_job_fini(&job);
}

static void rounds_at_most_are_as_many_as_runs_may_be(void)
{
    struct ys_job job = job_of_flags((char[][20]){"threads", "1,2,3", "max_runs", "30"}, 2);
    CHECK_INT(ys_json_get_int(job.study, "repeat_most", 0), 10);
    ys_job_fini(&job);
    char *few[] = {(char[]){"model"},   (char[]){"lenet"}, (char[]){"data"},     (char[]){"digits"},
                   (char[]){"threads"}, (char[]){"1,2,3"}, (char[]){"max_runs"}, (char[]){"20"}};
    CHECK_INT(load_flags(few, 4, &job), YS_EINVAL); /* not even as many as the first look asks for */
    CHECK(strstr(ys_error(), "3 trials, each run 7 times, make 21 runs, more than max_runs = 20"));
    struct helper_study study =
        study_of("version = 1\nrepeat = decide\nrepeat_most = 40\ndecide = step_s\nmax_runs = 39\n"
                 "[a]\nmodel = lenet\ndata = digits\n");
    CHECK_INT(study.status, YS_EINVAL);
    study = study_of("version = 1\nrepeat = decide\nrepeat_most = 5\n[a]\nmodel = lenet\ndata = digits\n");
    CHECK_INT(study.status, YS_EINVAL);
    CHECK(strstr(ys_error(), "repeat_most = 5: out of range: write a whole number, 6 to 10000, or auto"));
}

static void flags_alone_must_say_what_the_work_is(void)
{
    struct ys_job job;
    CHECK_INT(ys_job_load(NULL, NULL, 0, NULL, &job), YS_EINVAL);
    CHECK_TEXT(ys_error(), "command line: no model is given: add --model=NAME, or name a study's file");
}

/* What a command would have unless it is said: by the file, or by a flag of the user's. */
static void a_flag_that_yields_gives_way_to_the_file(void)
{
    static const char *const lines[] = {"interleave = runs\n", "interleave = blocks\n", ""};
    char word[] = "auto", key[] = "interleave";
    const struct ys_job_flag flag = {.key = key, .value = word, .yields = true};
    for (size_t i = 0; i < 3; i++) {
        char text[200];
        struct ys_job job;
        snprintf(text, sizeof text, "version = 1\n%s[a]\nmodel = lenet\ndata = digits\n", lines[i]);
        REQUIRE(ys_job_parse("study.ys", text, strlen(text), &flag, 1, NULL, &job) == YS_OK);
        CHECK_TEXT(ys_json_get_text(job.study, "interleave", ""), i == 0 ? "runs" : i == 1 ? "blocks" : "auto");
        ys_job_fini(&job);
    }
}

TAP_MAIN(TAP_CASE(study_keys_are_typed_and_defaults_filled_in),
         TAP_CASE(a_file_is_read_with_its_includes_and_kept_as_given), TAP_CASE(a_missing_file_is_not_found),
         TAP_CASE(flags_alone_make_a_section_called_run), TAP_CASE(flags_alone_go_on_until_it_is_decided),
         TAP_CASE(rounds_at_most_are_as_many_as_runs_may_be), TAP_CASE(flags_alone_must_say_what_the_work_is),
         TAP_CASE(a_flag_that_yields_gives_way_to_the_file))
