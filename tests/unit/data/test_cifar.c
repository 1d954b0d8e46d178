#include "data/archives/tar.h"
#include "data/sets/cifar.h"

#include "cifar_files.h"
#include "tap.h"
#include "unit/base/scratch.h"

static struct ys_data_rows train, test;
static bool verified;

static void done(void)
{
    ys_data_rows_fini(&train);
    ys_data_rows_fini(&test);
}

static ys_status parse(const struct ys_buf *bytes)
{
    done();
    return ys_cifar_parse(&ys_cifar10, bytes->data, bytes->size, "a.tar.gz", FAKE_ROWS, &train, &test);
}

static void check_rows(void)
{
    REQUIRE(train.count == 5 * FAKE_ROWS && test.count == FAKE_ROWS);
    for (size_t i = 0; i < 6 * FAKE_ROWS; i++) {
        const struct ys_data_rows *half = i < 5 * FAKE_ROWS ? &train : &test;
        size_t row = i % (5 * FAKE_ROWS);
        int64_t label = (int64_t)(3 * (i / FAKE_ROWS) + i % FAKE_ROWS) % 10;
        const uint8_t *x = ys_data_pixels(half) + row * YS_CIFAR_IMAGE_BYTES;
        CHECK_INT(ys_data_labels(half)[row], label);
        CHECK(x[0] == label && x[3071] == (uint8_t)(label + 3071));
    }
}

static void the_archive_is_read_packed_or_not(void)
{
    struct ys_buf tar = {0}, packed = {0};
    put_archive(&tar, 6);
    REQUIRE(parse(&tar) == YS_OK);
    check_rows();
    put_gzip(&packed, tar.data, tar.size);
    REQUIRE(parse(&packed) == YS_OK);
    check_rows();
    tar.size -= 1024; /* archives without their last blocks of zeros exist */
    CHECK(parse(&tar) == YS_OK);
    done();
    ys_buf_free(&tar);
    ys_buf_free(&packed);
}

static void a_missing_batch_is_named(void)
{
    for (size_t batch = 0; batch < 6; batch++) {
        struct ys_buf tar = {0};
        put_archive(&tar, batch);
        CHECK(parse(&tar) == YS_EFORMAT);
        CHECK_HAS(ys_error(), "a.tar.gz holds no ");
        CHECK_HAS(ys_error(), fake_batches[batch]);
        CHECK(!train.array[0] && !test.array[0]);
        ys_buf_free(&tar);
    }
}

static void a_batch_that_comes_twice_is_refused(void)
{
    struct ys_buf tar = {0};
    unsigned char records[FAKE_ROWS * RECORD_BYTES];
    fill_batch(0, records);
    put_member(&tar, "data_batch_1.bin", '0', records, sizeof records);
    put_archive(&tar, 6);
    CHECK(parse(&tar) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "holds data_batch_1.bin twice");
    ys_buf_free(&tar);
}

static void a_wrong_label_is_named_with_its_place(void)
{
    struct ys_buf tar = {0};
    unsigned char records[FAKE_ROWS * RECORD_BYTES];
    fill_batch(0, records);
    records[RECORD_BYTES] = 10;
    put_member(&tar, "x/data_batch_1.bin", '0', records, sizeof records);
    CHECK(parse(&tar) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "a.tar.gz: x/data_batch_1.bin: label 10 of record 1, at byte 3073, is above 9");
    ys_buf_free(&tar);
}

static void a_batch_of_another_size_is_refused(void)
{
    struct ys_buf tar = {0};
    unsigned char records[FAKE_ROWS * RECORD_BYTES];
    fill_batch(0, records);
    put_member(&tar, "test_batch.bin", '0', records, RECORD_BYTES);
    CHECK(parse(&tar) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "a.tar.gz: test_batch.bin: 3073 bytes, not 6146 (2 records of 3073)");
    ys_buf_free(&tar);
}

static void what_goes_beyond_the_end_is_refused(void)
{
    struct ys_buf tar = {0};
    unsigned char records[FAKE_ROWS * RECORD_BYTES];
    fill_batch(0, records);
    put_member(&tar, "data_batch_1.bin", '0', records, sizeof records);
    tar.size = 512 + 100;
    CHECK(parse(&tar) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "cut short: data_batch_1.bin at byte 0 has 6146 bytes, 100 are there");
    tar.size = 500;
    CHECK(parse(&tar) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "cut short: the header at byte 0 has 500 bytes, not 512");
    ys_buf_free(&tar);
}

static void damaged_headers_are_refused(void)
{
    struct ys_buf tar = {0};
    put_archive(&tar, 6);
    tar.data[512 + 3] ^= 1; /* the name in the second header: its sum no longer holds */
    CHECK(parse(&tar) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "there is no tar header at byte 512");
    ys_buf_free(&tar);
    ys_buf_puts(&tar, "<html>not found</html>");
    CHECK(parse(&tar) == YS_EFORMAT);
    ys_buf_free(&tar);
    CHECK(parse(&tar) == YS_EFORMAT); /* nothing at all */
    CHECK_HAS(ys_error(), "holds no data_batch_1.bin");
}

static void a_bomb_is_not_expanded(void)
{
    struct ys_buf zeros = {0}, packed = {0};
    put_bytes(&zeros, 2 << 20, 1);
    put_gzip(&packed, zeros.data, zeros.size);
    CHECK(parse(&packed) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "expands to more than");
    ys_buf_free(&zeros);
    ys_buf_free(&packed);
}

enum { HUNDRED_BYTES = 2 + YS_CIFAR_IMAGE_BYTES };

/* CIFAR-100's archive of `rows` rows in train.bin: group i mod 20, class (7 i) mod 100, pixels that count up from it.
 */
static void put_hundred(struct ys_buf *tar, size_t rows)
{
    static unsigned char records[5 * FAKE_ROWS * HUNDRED_BYTES];
    for (size_t i = 0; i < 5 * FAKE_ROWS; i++) {
        unsigned char *record = records + i * HUNDRED_BYTES;
        record[0] = (unsigned char)(i % 20);
        record[1] = (unsigned char)(7 * i % 100);
        for (size_t k = 0; k < YS_CIFAR_IMAGE_BYTES; k++)
            record[2 + k] = (unsigned char)(record[1] + k);
    }
    put_member(tar, "cifar-100-binary/fine_label_names.txt", '0', "apple", 5);
    put_member(tar, "cifar-100-binary/train.bin", '0', records, rows * HUNDRED_BYTES);
    put_member(tar, "cifar-100-binary/test.bin", '0', records + 3 * HUNDRED_BYTES, FAKE_ROWS * HUNDRED_BYTES);
}

static ys_status parse_hundred(const struct ys_buf *bytes)
{
    done();
    return ys_cifar_parse(&ys_cifar100, bytes->data, bytes->size, "b.tar.gz", FAKE_ROWS, &train, &test);
}

static void cifar100_has_two_files_and_the_class_after_its_group(void)
{
    struct ys_buf tar = {0};
    put_hundred(&tar, 5 * FAKE_ROWS);
    REQUIRE(parse_hundred(&tar) == YS_OK);
    REQUIRE(train.count == 5 * FAKE_ROWS && test.count == FAKE_ROWS);
    for (int64_t i = 0; i < train.count; i++) {
        const uint8_t *x = ys_data_pixels(&train) + i * YS_CIFAR_IMAGE_BYTES;
        CHECK_INT(ys_data_labels(&train)[i], 7 * i % 100);
        CHECK(x[0] == 7 * i % 100 && x[3071] == (uint8_t)(7 * i % 100 + 3071));
    }
    CHECK(ys_data_labels(&test)[0] == 21 && ys_data_pixels(&test)[0] == 21);
    done();
    ys_buf_free(&tar);
}

static void cifar100_that_is_not_is_refused(void)
{
    struct ys_buf tar = {0};
    put_hundred(&tar, 5 * FAKE_ROWS - 1);
    CHECK(parse_hundred(&tar) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "cifar-100-binary/train.bin: 27666 bytes, not 30740 (10 records of 3074)");
    static const struct {
        int at, value;
        const char *words;
    } wrong[] = {{0, 20, "train.bin: group 20 of record 2, at byte 6148, is above 19"},
                 {1, 100, "train.bin: label 100 of record 2, at byte 6149, is above 99"}};
    for (int i = 0; i < 2; i++) {
        ys_buf_clear(&tar);
        put_hundred(&tar, 5 * FAKE_ROWS);
        tar.data[3 * 512 + 2 * HUNDRED_BYTES + wrong[i].at] = (char)wrong[i].value; /* after two headers and a page */
        CHECK(parse_hundred(&tar) == YS_EFORMAT);
        CHECK_HAS(ys_error(), wrong[i].words);
    }
    ys_buf_clear(&tar);
    put_archive(&tar, 6); /* CIFAR-10's */
    CHECK(parse_hundred(&tar) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "b.tar.gz holds no train.bin");
    CHECK(ys_cifar_read(&ys_cifar100, scratch("nowhere"), FAKE_ROWS, true, &train, &test, &verified) != YS_OK);
    ys_buf_free(&tar);
}

static ys_status read_folder(const char *folder, bool unverified)
{
    done();
    verified = true;
    return ys_cifar_read(&ys_cifar10, scratch(folder), FAKE_ROWS, unverified, &train, &test, &verified);
}

static void write_batches(const char *folder)
{
    CHECK(ys_fs_make_dirs(scratch(folder)) == YS_OK);
    for (size_t batch = 0; batch < 6; batch++) {
        unsigned char records[FAKE_ROWS * RECORD_BYTES];
        fill_batch(batch, records);
        char *path = ys_path_join(scratch(folder), fake_batches[batch]);
        CHECK(ys_fs_write(path, records, sizeof records) == YS_OK);
        ys_free(path);
    }
}

static void unpacked_batches_are_never_verified(void)
{
    write_batches("flat");
    write_batches("nested/cifar-10-batches-bin");
    for (int nested = 0; nested < 2; nested++) {
        const char *folder = nested ? "nested" : "flat";
        CHECK(read_folder(folder, false) == YS_EFORMAT);
        CHECK_HAS(ys_error(), "give the archive cifar-10-binary.tar.gz (MD5 c32a1d4ab5d03f1284b67883e8d87530)");
        REQUIRE(read_folder(folder, true) == YS_OK);
        CHECK(!verified);
        check_rows();
    }
    char *path = ys_path_join(scratch("flat"), "data_batch_4.bin");
    CHECK(remove(path) == 0);
    CHECK(read_folder("flat", true) == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "data_batch_4.bin");
    CHECK(ys_fs_write(path, "short", 5) == YS_OK);
    CHECK(read_folder("flat", true) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "data_batch_4.bin: 5 bytes, not 6146");
    ys_free(path);
    done();
}

static void an_archive_with_another_sum_is_refused_or_marked(void)
{
    struct ys_buf tar = {0};
    put_archive(&tar, 6);
    CHECK(ys_fs_make_dirs(scratch("archive")) == YS_OK);
    char *path = ys_path_join(scratch("archive"), "cifar-10-binary.tar.gz");
    CHECK(ys_fs_write(path, tar.data, tar.size) == YS_OK);
    ys_free(path);
    for (int by_folder = 0; by_folder < 2; by_folder++) {
        const char *from = by_folder ? "archive" : "archive/cifar-10-binary.tar.gz";
        CHECK(read_folder(from, false) == YS_EFORMAT);
        CHECK_HAS(ys_error(), "is not CIFAR-10 as published: its MD5 is ");
        CHECK_HAS(ys_error(), "not c32a1d4ab5d03f1284b67883e8d87530 (--unverified");
        REQUIRE(read_folder(from, true) == YS_OK);
        CHECK(!verified);
        check_rows();
    }
    done();
    ys_buf_free(&tar);
}

/* Keras and torchvision keep pickles of Python: nothing in them could be taken, verified or not. */
static void other_versions_are_told_before_anything_is_advised(void)
{
    static const char *const folders[] = {"keras/cifar-10-batches-py", "vision/cifar-10-batches-py"};
    static const char *const froms[] = {"keras", "keras/cifar-10-batches-py", "vision",
                                        "vision/cifar-10-python.tar.gz"};
    struct ys_buf tar = {0}, packed = {0};
    put_member(&tar, "cifar-10-batches-py/", '5', NULL, 0);
    put_member(&tar, "cifar-10-batches-py/data_batch_1", '0', "pickle", 6);
    put_gzip(&packed, tar.data, tar.size);
    for (size_t i = 0; i < 2; i++) {
        CHECK(ys_fs_make_dirs(scratch(folders[i])) == YS_OK);
        char *batch = ys_path_join(scratch(folders[i]), "data_batch_1");
        CHECK(ys_fs_write(batch, "pickle", 6) == YS_OK);
        ys_free(batch);
    }
    CHECK(ys_fs_write(scratch("vision/cifar-10-python.tar.gz"), packed.data, packed.size) == YS_OK);
    for (size_t i = 0; i < 2 * sizeof froms / sizeof froms[0]; i++) {
        CHECK(read_folder(froms[i / 2], i % 2) == YS_EFORMAT);
        CHECK_HAS(ys_error(), "is CIFAR-10 in another version, of Python as Keras and torchvision keep it");
        CHECK_HAS(ys_error(), "give cifar-10-binary.tar.gz (MD5 c32a1d4ab5d03f1284b67883e8d87530)");
        CHECK(!strstr(ys_error(), "--unverified"));
    }
    CHECK(ys_fs_write(scratch("vision/other.tar.gz"), "<html>", 6) == YS_OK); /* nor in what is no archive at all */
    CHECK(read_folder("vision/other.tar.gz", false) == YS_EFORMAT);
    CHECK(!strstr(ys_error(), "--unverified"));
    ys_buf_free(&tar);
    ys_buf_free(&packed);
}

static void what_is_not_there_is_named(void)
{
    CHECK(ys_fs_make_dirs(scratch("nothing")) == YS_OK);
    CHECK(read_folder("nothing", true) == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "has neither cifar-10-binary.tar.gz nor data_batch_1.bin");
    CHECK(read_folder("no such", true) == YS_ENOTFOUND);
}

TAP_MAIN(TAP_CASE(the_archive_is_read_packed_or_not), TAP_CASE(a_missing_batch_is_named),
         TAP_CASE(cifar100_has_two_files_and_the_class_after_its_group), TAP_CASE(cifar100_that_is_not_is_refused),
         TAP_CASE(a_batch_that_comes_twice_is_refused), TAP_CASE(a_wrong_label_is_named_with_its_place),
         TAP_CASE(a_batch_of_another_size_is_refused), TAP_CASE(what_goes_beyond_the_end_is_refused),
         TAP_CASE(damaged_headers_are_refused), TAP_CASE(a_bomb_is_not_expanded),
         TAP_CASE(unpacked_batches_are_never_verified), TAP_CASE(an_archive_with_another_sum_is_refused_or_marked),
         TAP_CASE(other_versions_are_told_before_anything_is_advised), TAP_CASE(what_is_not_there_is_named))
