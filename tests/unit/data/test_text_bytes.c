/* `text`: how a file is cut into rows. */
#include "data/sets/text_bytes.h"

#include "base/files/fs.h"
#include "tap.h"
#include "unit/base/scratch.h"

static struct ys_data_rows train, test;

static void done(void)
{
    ys_data_rows_fini(&train);
    ys_data_rows_fini(&test);
}

/** A file of `size` bytes, byte i of which is i mod 251, of all values below that. */
static ys_status read_bytes(size_t size)
{
    const char *path = scratch("corpus.txt");
    struct ys_buf bytes = {0};
    bool verified = false;
    for (size_t i = 0; i < size; i++)
        CHECK(ys_buf_append(&bytes, &(const uint8_t){(uint8_t)(i % 251)}, 1) == YS_OK);
    done();
    CHECK(ys_fs_write(path, bytes.data, bytes.size) == YS_OK);
    ys_status status = ys_text_published.read(path, false, &train, &test, &verified);
    CHECK(verified == (status == YS_OK));
    ys_buf_free(&bytes);
    return status;
}

/** Row `row` of a half holds the bytes of the file from `at` on. */
static void check_row(const struct ys_data_rows *half, int64_t row, int64_t at)
{
    const int32_t *x = (const int32_t *)half->array[0] + row * YS_TEXT_ROW;
    const int64_t *y = ys_data_labels(half) + row * YS_TEXT_ROW;
    for (int64_t i = 0; i < YS_TEXT_ROW; i++)
        if (x[i] != (at + i) % 251 || y[i] != (at + i + 1) % 251) {
            tap_check(false, __LINE__, "row %lld, position %lld: %d, then %lld", (long long)row, (long long)i, x[i],
                      (long long)y[i]);
            return;
        }
}

static void a_file_is_cut_into_rows_the_last_tenth_to_test(void)
{
    REQUIRE(read_bytes(25 * YS_TEXT_ROW + 40) == YS_OK);
    CHECK(train.count == 23 && test.count == 2);
    for (int64_t row = 0; row < train.count; row++)
        check_row(&train, row, row * YS_TEXT_ROW);
    for (int64_t row = 0; row < test.count; row++)
        check_row(&test, row, (23 + row) * YS_TEXT_ROW);
    done();
}

static void the_last_byte_is_a_class_alone(void)
{
    REQUIRE(read_bytes(2 * YS_TEXT_ROW + 1) == YS_OK);
    CHECK(train.count == 1 && test.count == 1);
    check_row(&test, 0, YS_TEXT_ROW);
    REQUIRE(read_bytes(3 * YS_TEXT_ROW) == YS_OK);
    CHECK(train.count == 1 && test.count == 1);
    done();
}

static void a_file_too_short_is_refused(void)
{
    for (size_t size = 0; size <= 2 * YS_TEXT_ROW; size += YS_TEXT_ROW) {
        CHECK(read_bytes(size) == YS_EFORMAT);
        CHECK_HAS(ys_error(), "a row to train on and one to test on take 129");
        CHECK(!train.array[0] && !test.array[0]);
    }
}

static void a_file_that_is_not_there_is_named(void)
{
    bool verified;
    CHECK(ys_text_published.read(scratch("nothing.txt"), false, &train, &test, &verified) != YS_OK);
    CHECK_HAS(ys_error(), "nothing.txt");
}

/* It would be text enough: two rows. */
static void a_file_that_stands_for_another_is_no_text(void)
{
    bool verified;
    scratch_text("pointer.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:"
                                "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\nsize 123456789\n");
    CHECK(ys_text_published.read(scratch("pointer.txt"), false, &train, &test, &verified) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "pointer.txt is a pointer of Git LFS");
}

TAP_MAIN(TAP_CASE(a_file_is_cut_into_rows_the_last_tenth_to_test), TAP_CASE(the_last_byte_is_a_class_alone),
         TAP_CASE(a_file_too_short_is_refused), TAP_CASE(a_file_that_is_not_there_is_named),
         TAP_CASE(a_file_that_stands_for_another_is_no_text))
