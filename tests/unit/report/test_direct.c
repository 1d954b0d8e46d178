/* The table of a result is that of its document. */
#include "../metric/fixture.h"

#include "metric/result_document.h"
#include "report/report.h"
#include "tap.h"

/* A study of training, failing where `failing` says, a trial that is missing, and two that answer requests. */
static ys_status fill(struct ys_store *store, int rounds, int failing, int64_t *study_id)
{
    int64_t trial_id;
    ys_json *missing = fake_missing_json(FAKE_TRIALS);
    ys_status status = fake_study(store, fake_trials, FAKE_TRIALS, rounds, failing, study_id);
    if (status == YS_OK)
        status = fake_put_trial(store, *study_id, missing, &trial_id);
    if (status == YS_OK)
        status = fake_infer_trial(store, *study_id, FAKE_TRIALS + 1, "ours", 40, rounds);
    if (status == YS_OK)
        status = fake_infer_trial(store, *study_id, FAKE_TRIALS + 2, "theirs", 60, rounds);
    ys_json_free(missing);
    return status;
}

static void compare(struct ys_store *store, int64_t study_id, unsigned flags, const char *word)
{
    struct ys_result result;
    struct ys_buf direct = {0}, read = {0};
    ys_json *document = NULL;
    REQUIRE(ys_metric_result_load(store, study_id, flags, &result) == YS_OK);
    REQUIRE(ys_metric_result(store, study_id, flags, &document) == YS_OK);
    CHECK(ys_report_table_of(&result, 80, true, &direct) == YS_OK);
    CHECK(ys_report_table(document, 80, true, &read) == YS_OK);
    CHECK_TEXT(ys_buf_text(&direct), ys_buf_text(&read));
    CHECK_HAS(ys_buf_text(&direct), word);
    ys_buf_free(&direct);
    ys_buf_free(&read);
    ys_json_free(document);
    ys_result_fini(&result);
}

static void compare_study(int rounds, int failing, const char *word)
{
    char *folder = fake_folder();
    struct ys_store *store = NULL;
    int64_t study_id = 0;
    REQUIRE(ys_store_open(folder, YS_STORE_WRITE, &store) == YS_OK);
    REQUIRE(fill(store, rounds, failing, &study_id) == YS_OK);
    compare(store, study_id, YS_RESULT_AXES, word);
    compare(store, study_id, YS_RESULT_ALL, word);
    ys_store_close(store);
    CHECK(ys_fs_remove_tree(folder) == YS_OK);
}

static void the_table_of_a_result_is_that_of_its_document(void)
{
    compare_study(7, -1, "Comparisons");
    compare_study(7, 1, "crashed");
    compare_study(2, 0, "no intervals");
}

TAP_MAIN(TAP_CASE(the_table_of_a_result_is_that_of_its_document))
