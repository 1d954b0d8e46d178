#include "fixture.h"

#include "tap.h"

static ys_json *make_result(const struct fake_trial *trials, int count, int rounds, int failing, bool end)
{
    char *folder = fake_folder();
    struct ys_store *store = NULL;
    int64_t study_id = 0;
    ys_json *result = NULL;
    ys_status status = ys_store_open(folder, YS_STORE_WRITE, &store);
    if (status == YS_OK)
        status = fake_study(store, trials, count, rounds, failing, &study_id);
    if (status == YS_OK) {
        ys_json *missing = fake_missing_json(count);
        int64_t trial_id;
        status = ys_store_trial_put(store, study_id, missing, &trial_id);
        ys_json_free(missing);
    }
    if (status == YS_OK && end) {
        ys_json *timing = fake_json("{\"prepare_s\":0.84,\"prove_s\":9.7,\"measure_s\":186.25}");
        status = ys_store_study_end(store, study_id, "done", failing >= 0 ? 1 : 0, timing);
        ys_json_free(timing);
    }
    if (status == YS_OK)
        status = ys_metric_result(store, study_id, YS_RESULT_RUNS, &result);
    if (status != YS_OK)
        printf("# %s\n", ys_error());
    ys_store_close(store);
    if (ys_fs_remove_tree(folder) != YS_OK)
        printf("# %s\n", ys_error());
    return result;
}

/* Writes the document where YS_SAMPLE_RESULT says, for those who build upon it. */
static void a_whole_study_becomes_a_document(void)
{
    ys_json *result = make_result(fake_trials, FAKE_TRIALS, 7, 4, true);
    REQUIRE(result);
    CHECK_TEXT(ys_json_get_text(result, "schema", ""), "yardstick/result/1");
    const char *path = getenv("YS_SAMPLE_RESULT");
    if (path)
        CHECK_INT(ys_json_write(path, result), YS_OK);
    ys_json_free(result);
}

TAP_MAIN(TAP_CASE(a_whole_study_becomes_a_document))
