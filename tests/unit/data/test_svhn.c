#include "data/sets/svhn.h"

#include "corpus.h"
#include "data/published.h"
#include "unit/base/scratch.h"
#include <string.h>

static struct ys_data_rows rows;

static ys_status parse(const char *name)
{
    struct ys_buf bytes = {0};
    read_corpus("mat", name, &bytes);
    ys_data_rows_fini(&rows);
    ys_status status = ys_svhn_parse(ys_buf_text(&bytes), bytes.size, "a.mat", &rows);
    ys_buf_free(&bytes);
    return status;
}

/* The files count up along their first index, then the second, and so on; the next image begins with one more. */
static void images_are_turned_and_ten_is_zero(void)
{
    static const char *const same[] = {"packed.mat", "plain.mat", "doubles.mat", "other-array.mat"};
    for (size_t f = 0; f < sizeof same / sizeof same[0]; f++) {
        REQUIRE(parse(same[f]) == YS_OK);
        REQUIRE(rows.count == 2);
        CHECK(ys_data_labels(&rows)[0] == 0 && ys_data_labels(&rows)[1] == 1);
        for (size_t i = 0; i < 2 * (size_t)3072; i++) {
            const size_t x = i % 32, y = i / 32 % 32, c = i / 1024 % 3, image = i / 3072;
            CHECK(ys_data_pixels(&rows)[i] == (uint8_t)(y + 32 * x + 1024 * c + image));
        }
    }
    ys_data_rows_fini(&rows);
}

static void what_is_none_is_refused_in_a_sentence(void)
{
    static const struct refused files[] = {
        {"empty", "a.mat: cut short: 0 bytes, a MAT-file begins with 128"},
        {"big-endian.mat", "a.mat is no MAT-file of format 5 with the lowest byte first"},
        {"hdf5.mat", "a.mat: a MAT-file of version 2: format 5 is read"},
        {"no-labels.mat", "a.mat holds no array y"},
        {"fewer-labels.mat", "a.mat: 2 images, but 1 labels"},
        {"label-11.mat", "a.mat: label 11 of image 0 is not 1 to 10"},
        {"half.mat", "a.mat: value 0 of array y is 10.5, not a whole number from 0 to 255"},
        {"other-shape.mat", "array X is no images of 32x32 pixels"},
        {"twice.mat", "a.mat holds array y twice"},
        {"huge-shape.mat", "dimension 0 of array X is 2147483647"},
        {"negative-shape.mat", "dimension 0 of array X is -1"},
        {"rank-9.mat", "array X has a shape of 36 bytes"},
        {"complex.mat", "array y is of class"},
        {"text.mat", "array X is of class 4: plain numbers are read"},
        {"long-element.mat", "cut short: an element of 4294967295 bytes begins where 8 are left"},
        {"announces-more.mat", "a compressed element announces 4294967295 bytes"},
        {"many.mat", "cut short"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        CHECK(parse(files[i].name) == YS_EFORMAT);
        CHECK_HAS(ys_error(), files[i].message);
        CHECK(!rows.array[0]);
    }
}

static void other_files_are_taken_unverified_only(void)
{
    static const char *const names[] = {"train_32x32.mat", "test_32x32.mat"};
    const char *folder = scratch("svhn");
    struct ys_data_rows train = {0}, test = {0};
    bool verified = true;
    REQUIRE(ys_fs_make_dirs(folder) == YS_OK);
    CHECK(ys_svhn_published.read(folder, true, &train, &test, &verified) == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "has no train_32x32.mat");
    for (size_t i = 0; i < 2; i++) {
        struct ys_buf bytes = {0};
        char *path = ys_path_join(folder, names[i]);
        read_corpus("mat", "packed.mat", &bytes);
        REQUIRE(ys_fs_write(path, bytes.data, bytes.size) == YS_OK);
        ys_buf_free(&bytes);
        ys_free(path);
    }
    CHECK(ys_svhn_published.read(folder, false, &train, &test, &verified) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "not e26dedcc434d2e4c54c9b2d4a06d8373 (--unverified takes it, and marks it)");
    REQUIRE(ys_svhn_published.read(folder, true, &train, &test, &verified) == YS_OK);
    CHECK(!verified && train.count == 2 && test.count == 2);
    ys_data_rows_fini(&train);
    ys_data_rows_fini(&test);
}

TAP_MAIN(TAP_CASE(images_are_turned_and_ten_is_zero), TAP_CASE(what_is_none_is_refused_in_a_sentence),
         TAP_CASE(other_files_are_taken_unverified_only))
