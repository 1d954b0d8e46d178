/* docs/job-file.md ends with a table made from the option table; its example is a study that can be read. */
#include "base/files/fs.h"
#include "helper.h"
#include "job/option.h"

#include <stdlib.h>

#define MARK "says how to renew it. -->\n\n"

/* The manual, or NULL with the case skipped. */
static char *read_manual(char *path, size_t size)
{
    const char *root = getenv("YS_SOURCE_ROOT");
    struct ys_buf text = {0};
    if (!root) {
        tap_skip("YS_SOURCE_ROOT is not set");
        return NULL;
    }
    snprintf(path, size, "%s/docs/job-file.md", root);
    if (!CHECK(ys_fs_read(path, (size_t)1 << 20, &text) == YS_OK))
        return NULL;
    return ys_buf_take(&text);
}

/* To renew the manual after a change of the table: YS_RENEW_DOCS=1 tests/test_job_docs, with YS_SOURCE_ROOT at the
 * source. */
static void the_key_table_of_the_manual_is_that_of_the_program(void)
{
    char path[4096];
    char *manual = read_manual(path, sizeof path);
    if (!manual)
        return;
    char *mark = strstr(manual, MARK);
    if (CHECK(mark != NULL)) {
        struct ys_buf table = {0};
        ys_options_markdown(&table);
        char *tail = mark + strlen(MARK);
        if (getenv("YS_RENEW_DOCS")) {
            struct ys_buf renewed = {0};
            ys_buf_append(&renewed, manual, (size_t)(tail - manual));
            ys_buf_puts(&renewed, ys_buf_text(&table));
            CHECK(ys_fs_write(path, renewed.data, renewed.size) == YS_OK);
            ys_buf_free(&renewed);
        } else if (!CHECK(strcmp(tail, ys_buf_text(&table)) == 0)) {
            printf("#   renew it: YS_RENEW_DOCS=1 YS_SOURCE_ROOT=<source> tests/test_job_docs\n");
        }
        ys_buf_free(&table);
    }
    ys_free(manual);
}

static void the_example_of_the_manual_has_the_trials_it_says(void)
{
    char path[4096];
    char *manual = read_manual(path, sizeof path);
    if (!manual)
        return;
    char *from = strstr(manual, "```ini\n"), *to = from ? strstr(from + 7, "```") : NULL;
    if (CHECK(from && to)) {
        *to = 0;
        struct helper_study study = study_of(from + 7);
        CHECK_TEXT(study.error, "");
        CHECK_INT(ys_json_size(study.job.trials), 5 + 7);
        CHECK_TEXT(id_of(&study, 4), "threads:framework=pytorch,threads=2");
        ys_job_fini(&study.job);
    }
    ys_free(manual);
}

TAP_MAIN(TAP_CASE(the_key_table_of_the_manual_is_that_of_the_program),
         TAP_CASE(the_example_of_the_manual_has_the_trials_it_says))
