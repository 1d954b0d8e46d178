/* Reports of runs that were recorded (tests/fixtures/runs), as a study of one run a trial. */
#include "base/buf.h"
#include "base/files/fs.h"
#include "made.h"
#include "recorded.h"
#include "report/report.h"

static ys_json *result_of_all(void)
{
    char folder[] = "/tmp/ys-test-recorded-XXXXXX";
    struct ys_store *store;
    ys_json *result = NULL;
    if (!mkdtemp(folder) || ys_store_open(folder, YS_STORE_WRITE, &store) != YS_OK)
        abort();
    int64_t study_id = recorded_study(store);
    ys_status status = result_document(store, study_id, YS_RESULT_RUNS, &result);
    tap_check(status == YS_OK, __LINE__, "%s", status == YS_OK ? "" : ys_error());
    ys_store_close(store);
    CHECK(ys_fs_remove_tree(folder) == YS_OK);
    return result;
}

/** A copy in which every run of white space is one space: what wraps is found all the same. */
static char *unwrapped(const struct ys_buf *text)
{
    char *copy = ys_strdup(ys_buf_text(text)), *end = copy;
    for (const char *c = copy; *c; c++)
        if (*c != ' ' && *c != '\n')
            *end++ = *c;
        else if (end > copy && end[-1] != ' ')
            *end++ = ' ';
    *end = 0;
    return copy;
}

static void every_form_tells_every_run(void)
{
    static void (*const forms[])(const ys_json *, struct ys_buf *) = {made_html, made_csv, made_markdown};
    ys_json *result = result_of_all();
    for (size_t f = 0; f < 3; f++) {
        struct ys_buf out = {0};
        forms[f](result, &out);
        for (size_t i = 0; i < RECORDED_RUNS; i++)
            CHECK_HAS(ys_buf_text(&out), recorded_names[i]);
        ys_buf_free(&out);
    }
    ys_json_free(result);
}

static void the_table_says_how_one_crashed_and_that_others_were_disturbed(void)
{
    struct ys_buf out = {0};
    ys_json *result = result_of_all();
    made_table(result, 100, false, &out);
    char *text = unwrapped(&out);
    CHECK_HAS(text, "crashed (train): misbehaving.py ended with exit code 4");
    CHECK_HAS(text, "runs disturbed");
    CHECK_HAS(text, "null (disturbed): 1 of 1 runs were disturbed; in round 1 other programs used");
    CHECK_HAS(text, "Whether it is faster than PyTorch (pytorch) is unclear");
    ys_free(text);
    ys_buf_free(&out);
    ys_json_free(result);
}

TAP_MAIN(TAP_CASE(every_form_tells_every_run), TAP_CASE(the_table_says_how_one_crashed_and_that_others_were_disturbed))
