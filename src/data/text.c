#include "data/text.h"

#include "base/buf.h"
#include "base/fs.h"

#define TEST_SHARE 10 /* one row of so many is to test on: those at the end of the file */

static void fill(const uint8_t *bytes, struct ys_data_rows *rows)
{
    int32_t *x = rows->array[0];
    int64_t *y = ys_data_labels(rows);
    for (int64_t i = 0; i < rows->count * YS_TEXT_ROW; i++) {
        x[i] = bytes[i];
        y[i] = bytes[i + 1];
    }
}

static ys_status cut(const char *path, const struct ys_buf *bytes, struct ys_data_rows *train,
                     struct ys_data_rows *test)
{
    const struct ys_rows *form = &ys_data_find("text")->rows;
    const int64_t count = bytes->size > 0 ? ((int64_t)bytes->size - 1) / YS_TEXT_ROW : 0;
    const int64_t tests = count >= TEST_SHARE ? count / TEST_SHARE : 1;
    if (count < 2)
        return ys_fail(YS_EFORMAT, "%s has %zu bytes: a row to train on and one to test on take %d", path, bytes->size,
                       2 * YS_TEXT_ROW + 1);
    YS_TRY(ys_data_rows_init(train, form, count - tests));
    ys_status status = ys_data_rows_init(test, form, tests);
    if (status != YS_OK) {
        ys_data_rows_fini(train);
        return status;
    }
    fill((const uint8_t *)bytes->data, train);
    fill((const uint8_t *)bytes->data + (count - tests) * YS_TEXT_ROW, test);
    return YS_OK;
}

/* There are no sums to compare with, so that nothing is unverified. */
static ys_status read_text(const char *path, bool unverified, struct ys_data_rows *train, struct ys_data_rows *test,
                           bool *verified)
{
    struct ys_buf bytes = {0};
    (void)unverified;
    YS_TRY(ys_fs_read(path, YS_TEXT_MAX_BYTES, &bytes));
    ys_status status = cut(path, &bytes, train, test);
    ys_buf_free(&bytes);
    if (status == YS_OK)
        *verified = true;
    return status;
}

const struct ys_data_published ys_text_published = {
    .mirrors = (const char *const[]){NULL},
    .files = (const char *const[]){NULL},
    .from_file = true,
    .read = read_text,
};
