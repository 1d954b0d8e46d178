#include "data/sets/mnist.h"
#include "base/hash.h"
#include "data/sets/cifar.h"

#include "mnist_files.h"

static struct ys_data_rows train, test;
static bool verified;

static ys_status read_folder(const char *folder, bool unverified)
{
    train = test = (struct ys_data_rows){0};
    verified = true;
    return ys_mnist_published.read(scratch(folder), unverified, &train, &test, &verified);
}

static void done(void)
{
    ys_data_rows_fini(&train);
    ys_data_rows_fini(&test);
}

static void the_published_files_are_verified(void)
{
    char *folder = find_real_mnist();
    if (!folder) {
        tap_skip("the published MNIST files are not here: YS_DATA_DIR names the folder that has them");
        return;
    }
    ys_status status = ys_mnist_published.read(folder, false, &train, &test, &verified);
    ys_free(folder);
    REQUIRE(status == YS_OK);
    CHECK(verified && train.count == 60000 && test.count == 10000);
    CHECK(ys_data_labels(&train)[0] == 5 && ys_data_labels(&train)[59999] == 8 &&
          ys_data_labels(&test)[0] == 7);            /* as printed in every tutorial */
    CHECK(ys_data_pixels(&train)[5 * 28 + 12] == 3); /* the first pixel of the first image that is not black */
    done();
}

static void other_files_are_refused_with_both_sums(void)
{
    write_mnist("other", true);
    CHECK(read_folder("other", false) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "train-images-idx3-ubyte.gz is not MNIST as published: its MD5 is ");
    CHECK_HAS(ys_error(), "not 6bbc9ace898e44ae57da46a324031adb (--unverified");
    CHECK(!train.array[0] && !test.array[0]);
}

static void other_files_are_taken_unverified_and_marked(void)
{
    for (int compressed = 0; compressed < 2; compressed++) {
        const char *folder = compressed ? "packed" : "plain";
        write_mnist(folder, compressed);
        REQUIRE(read_folder(folder, true) == YS_OK);
        CHECK(!verified);
        CHECK(train.count == FAKE_TRAIN && test.count == FAKE_TEST);
        CHECK(ys_data_pixels(&train)[250] == 250 && ys_data_pixels(&train)[251] == 0 &&
              ys_data_labels(&train)[19] == 9 && ys_data_labels(&test)[3] == 3);
        done();
    }
}

static void names_with_a_point_are_accepted(void)
{
    CHECK(ys_fs_make_dirs(scratch("point")) == YS_OK);
    write_idx("point", "train-images.idx3-ubyte", 4, 28, false);
    write_idx("point", "train-labels.idx1-ubyte.gz", 4, 0, true);
    write_idx("point", "t10k-images.idx3-ubyte.gz", 2, 28, true);
    write_idx("point", "t10k-labels.idx1-ubyte", 2, 0, false);
    CHECK(read_folder("point", true) == YS_OK);
    CHECK_INT(train.count, 4);
    done();
}

static void a_missing_file_is_named(void)
{
    write_mnist("three", false);
    char *path = ys_path_join(scratch("three"), "t10k-labels-idx1-ubyte");
    CHECK(remove(path) == 0);
    ys_free(path);
    CHECK(read_folder("three", true) == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "neither t10k-labels-idx1-ubyte nor t10k-labels.idx1-ubyte");
}

/** write_mnist with one file replaced, which must be refused however lenient. */
static void refuse_with(const char *folder, const char *name, uint32_t count, uint32_t side, const char *message)
{
    write_mnist(folder, false);
    write_idx(folder, name, count, side, false);
    CHECK(read_folder(folder, true) == YS_EFORMAT);
    CHECK_HAS(ys_error(), message);
    CHECK_HAS(ys_error(), folder);
}

static void swapped_files_are_refused(void)
{
    refuse_with("swap1", "train-images-idx3-ubyte", FAKE_TRAIN, 0, "holds labels, not images: are two files swapped?");
    refuse_with("swap2", "t10k-labels-idx1-ubyte", FAKE_TEST, 28, "holds images, not labels: are two files swapped?");
}

static void files_that_do_not_fit_together_are_refused(void)
{
    refuse_with("count", "train-labels-idx1-ubyte", FAKE_TRAIN - 1, 0, "20 images, but 19 labels");
    refuse_with("side", "t10k-images-idx3-ubyte", FAKE_TEST, 32, "images of 32x32 pixels, not 28x28");
}

static void labels_out_of_range_are_refused(void)
{
    struct ys_buf buf = {0};
    write_mnist("label", false);
    put_head(&buf, 1, (const uint32_t[]){FAKE_TEST});
    put_bytes(&buf, FAKE_TEST - 1, 10);
    ys_buf_append(&buf, "\12", 1);
    write_file("label", "t10k-labels-idx1-ubyte", buf.data, buf.size);
    ys_buf_free(&buf);
    CHECK(read_folder("label", true) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "t10k-labels-idx1-ubyte: label 10 of row 9 is above 9");
}

static void damaged_files_are_refused_however_lenient(void)
{
    struct ys_buf buf = {0};
    write_mnist("cut", false);
    char *path = ys_path_join(scratch("cut"), "train-images-idx3-ubyte");
    CHECK(ys_fs_read(path, 1 << 20, &buf) == YS_OK);
    ys_free(path);
    write_file("cut", "train-images-idx3-ubyte", buf.data, buf.size - 1);
    CHECK(read_folder("cut", true) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "train-images-idx3-ubyte: cut short");
    ys_buf_append(&buf, "x", 1);
    write_file("cut", "train-images-idx3-ubyte", buf.data, buf.size);
    CHECK(read_folder("cut", true) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "goes on after");
    ys_buf_free(&buf);
}

static ys_status read_fashion(const char *folder, bool unverified)
{
    done();
    verified = true;
    return ys_fashion_mnist_published.read(scratch(folder), unverified, &train, &test, &verified);
}

static void fashion_has_the_same_form_and_sums_of_the_compressed_files(void)
{
    struct ys_buf packed = {0};
    char md5[YS_MD5_TEXT];
    write_mnist("fashion", true);
    char *path = ys_path_join(scratch("fashion"), "train-images-idx3-ubyte.gz");
    REQUIRE(ys_fs_read(path, 1 << 20, &packed) == YS_OK);
    ys_md5_text(packed.data, packed.size, md5);
    CHECK(read_fashion("fashion", false) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "is not Fashion-MNIST as published: its MD5 is ");
    CHECK_HAS(ys_error(), md5);
    CHECK_HAS(ys_error(), "not 8d4fb7e6c68d591d4c3dfef9ec88bf0d, the sum of the compressed file");
    REQUIRE(read_fashion("fashion", true) == YS_OK);
    CHECK(!verified && train.count == FAKE_TRAIN && test.count == FAKE_TEST);
    done();
    ys_free(path);
    ys_buf_free(&packed);
}

static void mirrors_are_https_folders(void)
{
    const struct ys_data_published *const all[] = {&ys_mnist_published, &ys_fashion_mnist_published,
                                                   &ys_cifar10_published, &ys_cifar100_published};
    for (size_t i = 0; i < 4; i++) {
        CHECK(all[i]->mirrors[0] && all[i]->files[0]);
        for (const char *const *mirror = all[i]->mirrors; *mirror; mirror++)
            CHECK(strncmp(*mirror, "https://", 8) == 0 && (*mirror)[strlen(*mirror) - 1] == '/');
    }
}

TAP_MAIN(TAP_CASE(the_published_files_are_verified), TAP_CASE(other_files_are_refused_with_both_sums),
         TAP_CASE(other_files_are_taken_unverified_and_marked), TAP_CASE(names_with_a_point_are_accepted),
         TAP_CASE(a_missing_file_is_named), TAP_CASE(swapped_files_are_refused),
         TAP_CASE(files_that_do_not_fit_together_are_refused), TAP_CASE(labels_out_of_range_are_refused),
         TAP_CASE(damaged_files_are_refused_however_lenient),
         TAP_CASE(fashion_has_the_same_form_and_sums_of_the_compressed_files), TAP_CASE(mirrors_are_https_folders))
