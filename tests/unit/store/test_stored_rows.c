#include "fixture.h"

#include "tap.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_study_is_given_a_folder_and_comes_back(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t id = begin_study(f.store, "first");
    ys_json *study = NULL;
    REQUIRE(ys_store_study_get(f.store, id, &study) == YS_OK);
    CHECK_TEXT(ys_json_get_text(study, "name", ""), "first");
    CHECK_TEXT(ys_json_get_text(study, "folder", ""), "001-first");
    CHECK_TEXT(ys_json_get_text(study, "status", ""), "running");
    CHECK_INT(ys_json_get_int(study, "started_s", 0), 1795233482);
    CHECK_INT(ys_json_get_int(study, "seed", 0), 1);
    CHECK(ys_json_get(study, "ended_s") && ys_json_type_of(ys_json_get(study, "ended_s")) == YS_JSON_NULL);
    char path[256];
    snprintf(path, sizeof path, "%s/001-first", f.folder);
    CHECK(ys_fs_is_dir(path));
    ys_json_free(study);
    fixture_close(&f);
}

static void folders_count_up_and_their_names_need_no_quoting(void)
{
    struct fixture f;
    fixture_open(&f);
    begin_study(f.store, "first");
    int64_t second = begin_study(f.store, "../a b'c");
    ys_json *study = NULL;
    REQUIRE(ys_store_study_get(f.store, second, &study) == YS_OK);
    CHECK_TEXT(ys_json_get_text(study, "folder", ""), "002-..-a-b-c");
    CHECK_TEXT(ys_json_get_text(study, "name", ""), "../a b'c");
    ys_json_free(study);
    fixture_close(&f);
}

static void a_folder_left_by_lost_results_is_not_used_again(void)
{
    struct fixture f;
    fixture_open(&f);
    char path[256];
    snprintf(path, sizeof path, "%s/001-first", f.folder);
    REQUIRE(ys_fs_make_dirs(path) == YS_OK);
    snprintf(path, sizeof path, "%s/001-first/job.ys", f.folder);
    REQUIRE(ys_fs_write(path, "job", 3) == YS_OK);
    ys_json *study = NULL;
    REQUIRE(ys_store_study_get(f.store, begin_study(f.store, "first"), &study) == YS_OK);
    CHECK_TEXT(ys_json_get_text(study, "folder", ""), "002-first");
    ys_json_free(study);
    fixture_close(&f);
}

static void a_folder_left_by_a_study_that_never_began_is_used_again(void)
{
    struct fixture f;
    fixture_open(&f);
    char path[256];
    snprintf(path, sizeof path, "%s/001-first", f.folder);
    REQUIRE(ys_fs_make_dirs(path) == YS_OK);
    ys_json *study = NULL;
    REQUIRE(ys_store_study_get(f.store, begin_study(f.store, "first"), &study) == YS_OK);
    CHECK_TEXT(ys_json_get_text(study, "folder", ""), "001-first");
    CHECK(ys_fs_is_dir(path));
    ys_json_free(study);
    fixture_close(&f);
}

static void a_study_host_and_trials_are_stored_together_or_not_at_all(void)
{
    struct fixture f;
    fixture_open(&f);
    ys_json *host = make_json("{\"cpus\":2}"), *studies = NULL;
    char path[256];
    REQUIRE(ys_store_begin(f.store) == YS_OK);
    int64_t study = begin_study(f.store, "first");
    CHECK(ys_store_host_put(f.store, study, host) == YS_OK && put_trial(f.store, study, "a", 0) > 0);
    CHECK(ys_store_end(f.store, ys_fail(YS_EIO, "the second trial could not be stored")) == YS_EIO);
    CHECK_HAS(ys_error(), "second trial");
    snprintf(path, sizeof path, "%s/001-first", f.folder);
    CHECK(!ys_fs_exists(path));
    REQUIRE(ys_store_studies(f.store, &studies) == YS_OK);
    CHECK_INT(ys_json_size(studies), 0);
    ys_json_free(studies);

    REQUIRE(ys_store_begin(f.store) == YS_OK); /* what failed in between is not stored half either */
    study = begin_study(f.store, "first");
    CHECK(ys_store_host_put(f.store, study + 1, host) == YS_ENOTFOUND);
    CHECK(ys_store_end(f.store, YS_OK) != YS_OK);

    REQUIRE(ys_store_begin(f.store) == YS_OK);
    study = begin_study(f.store, "first");
    CHECK(ys_store_host_put(f.store, study, host) == YS_OK && put_trial(f.store, study, "a", 0) > 0);
    CHECK(ys_store_end(f.store, YS_OK) == YS_OK);
    REQUIRE(ys_store_studies(f.store, &studies) == YS_OK);
    CHECK_INT(ys_json_get_int(ys_json_at(studies, 0), "trials", 0), 1);
    CHECK(ys_fs_is_dir(path));
    ys_json_free(studies);
    ys_json_free(host);
    fixture_close(&f);
}

static void a_folder_belongs_to_one_study(void)
{
    struct fixture f;
    fixture_open(&f);
    ys_json *doc = make_json("{\"name\":\"x\",\"folder\":\"mine\"}");
    int64_t id = 0;
    CHECK(ys_store_study_begin(f.store, doc, &id) == YS_OK);
    CHECK(ys_store_study_begin(f.store, doc, &id) == YS_EINVAL);
    CHECK_HAS(ys_error(), "mine");
    CHECK_INT(id, 1);
    ys_json_free(doc);
    fixture_close(&f);
}

static void an_ended_study_says_how_and_when(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t id = begin_study(f.store, "first");
    ys_json *timing = make_json("{\"prepare_s\":0.5,\"prove_s\":1.5,\"measure_s\":10}"), *study = NULL;
    CHECK(ys_store_study_end(f.store, id, YS_STUDY_INTERRUPTED, 130, timing) == YS_OK);
    ys_json_free(timing);
    REQUIRE(ys_store_study_get(f.store, id, &study) == YS_OK);
    CHECK_TEXT(ys_json_get_text(study, "status", ""), "interrupted");
    CHECK_INT(ys_json_get_int(study, "exit_code", 0), 130);
    CHECK(ys_json_get_int(study, "ended_s", 0) > 1700000000);
    CHECK(ys_json_get_number(ys_json_get(study, "timing"), "prove_s", 0) == 1.5);
    ys_json_free(study);
    CHECK(ys_store_study_resume(f.store, id) == YS_OK);
    REQUIRE(ys_store_study_get(f.store, id, &study) == YS_OK);
    CHECK_TEXT(ys_json_get_text(study, "status", ""), "running");
    CHECK(ys_json_type_of(ys_json_get(study, "ended_s")) == YS_JSON_NULL);
    CHECK_INT(ys_json_get_int(study, "started_s", 0), 1795233482);
    ys_json_free(study);
    fixture_close(&f);
}

static void ids_that_do_not_exist_are_not_found(void)
{
    struct fixture f;
    fixture_open(&f);
    ys_json *doc = make_json("{\"id\":\"t\"}"), *out = NULL;
    struct ys_series_set series = {0};
    int64_t id;
    CHECK(ys_store_study_get(f.store, 9, &out) == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "no study 9");
    CHECK(ys_store_host_get(f.store, 9, &out) == YS_ENOTFOUND);
    CHECK(ys_store_study_end(f.store, 9, YS_STUDY_DONE, 0, NULL) == YS_ENOTFOUND);
    CHECK(ys_store_study_resume(f.store, 9) == YS_ENOTFOUND);
    CHECK(ys_store_host_put(f.store, 9, doc) == YS_ENOTFOUND);
    CHECK(put_trial_json(f.store, 9, doc, &id) == YS_ENOTFOUND);
    CHECK(ys_store_proof_put(f.store, 9, doc) == YS_ENOTFOUND);
    CHECK(ys_store_run_put(f.store, 9, 0, 0, doc, &series, &id) == YS_ENOTFOUND);
    CHECK(ys_store_metric_put(f.store, 9, doc) == YS_ENOTFOUND);
    ys_json_free(doc);
    fixture_close(&f);
}

static void the_host_comes_back_and_is_null_before(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t id = begin_study(f.store, "first");
    ys_json *host = make_json("{\"cpus\":2}"), *back = NULL;
    CHECK(ys_store_host_get(f.store, id, &back) == YS_OK && ys_json_type_of(back) == YS_JSON_NULL);
    ys_json_free(back);
    CHECK(ys_store_host_put(f.store, id, host) == YS_OK && ys_store_host_put(f.store, id, host) == YS_OK);
    REQUIRE(ys_store_host_get(f.store, id, &back) == YS_OK);
    CHECK(ys_json_equal(host, back));
    ys_json_free(host);
    ys_json_free(back);
    fixture_close(&f);
}

static void trials_come_in_job_order_with_their_proofs(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), second = put_trial(f.store, study, "b", 1),
            first = put_trial(f.store, study, "a", 0);
    ys_json *proof = make_json("{\"verdict\":\"pass\",\"checks\":[]}"), *trials = NULL;
    CHECK(ys_store_proof_put(f.store, second, proof) == YS_OK);
    REQUIRE(ys_store_trials_get(f.store, study, &trials) == YS_OK);
    REQUIRE(ys_json_size(trials) == 2);
    CHECK_TEXT(ys_json_get_text(ys_json_at(trials, 0), "id", ""), "a");
    CHECK_INT(ys_json_get_int(ys_json_at(trials, 0), "trial_id", 0), first);
    CHECK(ys_json_type_of(ys_json_get(ys_json_at(trials, 0), "proof")) == YS_JSON_NULL);
    CHECK(ys_json_equal(ys_json_get(ys_json_at(trials, 1), "proof"), proof));
    ys_json_free(proof);
    ys_json_free(trials);
    fixture_close(&f);
}

static void a_trial_put_again_keeps_its_runs(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), id = put_trial(f.store, study, "a", 0);
    CHECK(put_run(f.store, id, 0, 0, "ok") == YS_OK);
    CHECK_INT(put_trial(f.store, study, "a", 3), id);
    CHECK_INT(count_runs(f.store, id), 1);
    fixture_close(&f);
}

static void a_run_comes_back_whole(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first"), trial = put_trial(f.store, study, "a", 0), run_id = 0;
    ys_json *facts = recorded_facts("builtin"); /* with a number that is no double, and a text that JSON escapes */
    CHECK(ys_json_set_int(ys_json_get(facts, "times"), "exec_ns", 9007199254740993) == YS_OK);
    CHECK(ys_json_set_string(facts, "log_tail",
                             "a\x01"
                             "b\n\xc3\xa4") == YS_OK);
    struct ys_series_set series = {0}, back = {0};
    ys_series_add_int(&series, "block_end_ns", INT64_MAX);
    ys_series_add_real(&series, "step_loss", NAN);
    ys_series_add_real(&series, "step_loss", 0.1);
    ys_series_get(&series, "sample_t_ns", 0);
    REQUIRE(ys_store_run_put(f.store, trial, 2, 1, facts, &series, &run_id) == YS_OK);
    ys_json *runs = NULL;
    REQUIRE(ys_store_runs_get(f.store, trial, &runs) == YS_OK);
    const ys_json *run = ys_json_at(runs, 0);
    CHECK_INT(ys_json_get_int(run, "run_id", 0), run_id);
    CHECK_INT(ys_json_get_int(run, "round", 0), 2);
    CHECK_INT(ys_json_get_int(run, "attempt", 0), 1);
    CHECK(ys_json_equal(ys_json_get(run, "facts"), facts));
    CHECK_INT(ys_json_size(ys_json_get(run, "metrics")), 0);
    REQUIRE(ys_store_series_get(f.store, run_id, &back) == YS_OK);
    CHECK_INT(back.count, 3);
    CHECK_TEXT(back.items[0].name, "block_end_ns");
    CHECK(back.items[0].ints[0] == INT64_MAX && isnan(back.items[1].reals[0]) && back.items[1].reals[1] == 0.1);
    CHECK_INT(back.items[2].count, 0);
    ys_json_free(runs);
    ys_json_free(facts);
    ys_series_set_free(&series);
    ys_series_set_free(&back);
    fixture_close(&f);
}

static void the_same_round_and_attempt_cannot_be_stored_twice(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t trial = put_trial(f.store, begin_study(f.store, "first"), "a", 0);
    CHECK(put_run(f.store, trial, 0, 0, "ok") == YS_OK);
    CHECK(put_run(f.store, trial, 0, 0, "ok") == YS_EINVAL);
    CHECK_HAS(ys_error(), "round 0, attempt 0");
    CHECK(put_run(f.store, trial, 0, 1, "ok") == YS_OK);
    CHECK_INT(count_runs(f.store, trial), 2);
    fixture_close(&f);
}

/* Does `work` in a process of its own that opens the store, and whose n-th allocation from then on fails: its exit
 * code. */
static int end_at(const struct fixture *f, int n, ys_status (*work)(struct ys_store *store, int64_t of), int64_t of)
{
    int state = 0;
    const pid_t pid = fork();
    if (pid == 0) {
        struct ys_store *store = NULL;
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        ys_memory_must_suffice("yardstick");
        ys_status status = ys_store_open(f->folder, YS_STORE_WRITE, &store);
        ys_mem_fail_at(n);
        if (status == YS_OK)
            status = work(store, of);
        _exit(status == YS_OK ? 0 : 1);
    }
    return pid > 0 && waitpid(pid, &state, 0) == pid && WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static ys_status store_run(struct ys_store *store, int64_t trial)
{
    struct ys_series_set series = {0};
    int64_t run_id = 0;
    ys_series_add_int(&series, "t_ns", 1);
    ys_series_add_int(&series, "u_ns", 1);
    return ys_store_run_put(store, trial, count_runs(store, trial), 0, make_facts("ok"), &series, &run_id);
}

static void who_ends_without_memory_has_stored_a_run_whole_or_not_at_all(void)
{
    struct fixture f;
    fixture_open(&f);
    const int64_t trial = put_trial(f.store, begin_study(f.store, "first"), "a", 0);
    int ended = 0, stored = 0;
    ys_store_close(f.store);
    for (int n = 1; n < 4000 && stored < 3; n += 1 + n / 8) {
        const int code = end_at(&f, n, store_run, trial);
        ended += code == YS_EXIT_MEMORY;
        stored += code == 0;
        CHECK(code == 0 || code == YS_EXIT_MEMORY);
        REQUIRE(ys_store_open(f.folder, YS_STORE_READ, &f.store) == YS_OK);
        CHECK_INT(count_runs(f.store, trial), stored);
        CHECK_INT(ys_store_damaged(f.store), 0);
        ys_store_close(f.store);
    }
    CHECK(ended >= 3 && stored == 3);
    f.store = NULL;
    fixture_close(&f);
}

/* Everything that begins a study, and what reads it again. */
static ys_status begin_and_read(struct ys_store *store, int64_t unused)
{
    ys_json *doc = make_json("{\"name\":\"first\"}"), *trial = make_json("{\"id\":\"a\",\"index\":0}"), *found = NULL;
    int64_t study_id = 0, trial_id = 0;
    (void)unused;
    YS_TRY(ys_store_begin(store));
    ys_status status = ys_store_study_begin(store, doc, &study_id);
    if (status == YS_OK)
        status = ys_store_host_put(store, study_id, doc);
    if (status == YS_OK)
        status = put_trial_json(store, study_id, trial, &trial_id);
    YS_TRY(ys_store_end(store, status));
    YS_TRY(ys_store_trial_give_up(store, trial_id, 1, "it failed"));
    struct ys_store_rounds rounds;
    YS_TRY(ys_store_rounds(store, study_id, &rounds));
    YS_TRY(ys_store_verify(store, study_id, &found));
    return ys_json_size(ys_json_get(found, "damaged")) == 0 ? YS_OK : YS_EINTERNAL;
}

static void who_ends_without_memory_has_not_stored_half_a_study(void)
{
    struct fixture f;
    fixture_open(&f);
    ys_json *studies = NULL;
    int ended = 0, stored = 0;
    ys_store_close(f.store);
    for (int n = 1; n < 1000; n += 1 + n / 8) {
        const int code = end_at(&f, n, begin_and_read, 0);
        ended += code == YS_EXIT_MEMORY;
        stored += code == 0;
        CHECK(code == 0 || code == YS_EXIT_MEMORY);
    }
    CHECK(ended >= 10 && stored >= 1);
    REQUIRE(ys_store_open(f.folder, YS_STORE_READ, &f.store) == YS_OK);
    REQUIRE(ys_store_studies(f.store, &studies) == YS_OK);
    CHECK(ys_json_size(studies) >= (size_t)stored);
    for (size_t i = 0; i < ys_json_size(studies); i++) {
        const ys_json *study = ys_json_at(studies, i);
        char path[300];
        snprintf(path, sizeof path, "%s/%s", f.folder, ys_json_get_text(study, "folder", "?"));
        CHECK(ys_json_get_int(study, "trials", 0) == 1 && ys_fs_is_dir(path));
    }
    CHECK_INT(ys_store_damaged(f.store), 0);
    ys_json_free(studies);
    fixture_close(&f);
}

static void metrics_come_back_in_order_and_are_replaced_as_a_whole(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t trial = put_trial(f.store, begin_study(f.store, "first"), "a", 0);
    CHECK(put_run(f.store, trial, 0, 0, "ok") == YS_OK);
    ys_json *old = make_json("{\"a\":{\"value\":1}}");
    ys_json *metrics = make_json(
        "{\"wall_s\":{\"value\":1.5,\"unit\":\"s\"},\"accuracy\":{\"value\":null,\"reason\":\"none\"},"
        "\"whole\":{\"value\":7},\"real\":{\"value\":7.0},\"zeros\":{\"value\":-0.0,\"left\":0.0,\"cpu_s\":0},"
        "\"odd\":{\"reason\":7,\"value\":\"x\",\"steady\":0,\"windows\":[],\"note\":{}},"
        "\"all\":{\"windows\":{\"blocks\":3,\"drift\":[-1,2]},\"newer\":[1.25],\"left\":-3e-300,\"steady_from\":4,"
        "\"steady\":false,\"note\":\"\\u00e4\\n\",\"cpu_s\":null,\"value\":1e300}}");
    CHECK(ys_store_metric_put(f.store, 1, old) == YS_OK && ys_store_metric_put(f.store, 1, metrics) == YS_OK);
    ys_json *runs = NULL;
    REQUIRE(ys_store_runs_get(f.store, trial, &runs) == YS_OK);
    const ys_json *back = ys_json_get(ys_json_at(runs, 0), "metrics");
    char *stored = ys_json_dump(back, YS_JSON_COMPACT), *put = ys_json_dump(metrics, YS_JSON_COMPACT);
    CHECK_TEXT(stored, put); /* to the byte, whatever an object holds */
    ys_free(stored);
    ys_free(put);
    ys_json_free(old);
    ys_json_free(metrics);
    ys_json_free(runs);
    fixture_close(&f);
}

static void all_studies_are_listed_with_their_counts(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first");
    put_run(f.store, put_trial(f.store, study, "a", 0), 0, 0, "ok");
    put_run(f.store, put_trial(f.store, study, "b", 1), 0, 0, "ok");
    begin_study(f.store, "second");
    ys_json *studies = NULL;
    REQUIRE(ys_store_studies(f.store, &studies) == YS_OK);
    REQUIRE(ys_json_size(studies) == 2);
    CHECK_INT(ys_json_get_int(ys_json_at(studies, 0), "trials", 0), 2);
    CHECK_INT(ys_json_get_int(ys_json_at(studies, 0), "runs", 0), 2);
    CHECK_TEXT(ys_json_get_text(ys_json_at(studies, 1), "folder", ""), "002-second");
    CHECK_INT(ys_json_get_int(ys_json_at(studies, 1), "runs", -1), 0);
    ys_json_free(studies);
    fixture_close(&f);
}

TAP_MAIN(TAP_CASE(a_study_is_given_a_folder_and_comes_back), TAP_CASE(folders_count_up_and_their_names_need_no_quoting),
         TAP_CASE(a_folder_left_by_lost_results_is_not_used_again),
         TAP_CASE(a_folder_left_by_a_study_that_never_began_is_used_again),
         TAP_CASE(a_study_host_and_trials_are_stored_together_or_not_at_all), TAP_CASE(a_folder_belongs_to_one_study),
         TAP_CASE(an_ended_study_says_how_and_when), TAP_CASE(ids_that_do_not_exist_are_not_found),
         TAP_CASE(the_host_comes_back_and_is_null_before), TAP_CASE(trials_come_in_job_order_with_their_proofs),
         TAP_CASE(a_trial_put_again_keeps_its_runs), TAP_CASE(a_run_comes_back_whole),
         TAP_CASE(the_same_round_and_attempt_cannot_be_stored_twice),
         TAP_CASE(who_ends_without_memory_has_stored_a_run_whole_or_not_at_all),
         TAP_CASE(who_ends_without_memory_has_not_stored_half_a_study),
         TAP_CASE(metrics_come_back_in_order_and_are_replaced_as_a_whole),
         TAP_CASE(all_studies_are_listed_with_their_counts))
