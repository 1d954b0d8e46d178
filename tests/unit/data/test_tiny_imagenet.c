#include "data/sets/tiny_imagenet.h"

#include "corpus.h"
#include "unit/base/scratch.h"
#include <string.h>

/** Unpacks a file of the corpus into a fresh folder, whose path it gives; borrowed until the next one. */
static ys_status unpack(const char *name, const char **folder)
{
    struct ys_buf bytes = {0};
    read_corpus("zip", name, &bytes);
    *folder = scratch(name);
    ys_status status = ys_tiny_unpack((const uint8_t *)ys_buf_text(&bytes), bytes.size, "a.zip", *folder);
    ys_buf_free(&bytes);
    return status;
}

static bool is_in(const char *folder, const char *name)
{
    char *path = ys_path_join(folder, name);
    const bool is_there = ys_fs_exists(path);
    ys_free(path);
    return is_there;
}

static void what_is_wanted_is_unpacked(void)
{
    static const char *const same[] = {"deflated.zip", "stored.zip", "comment.zip", "wide.zip"};
    const char *folder;
    for (size_t f = 0; f < sizeof same / sizeof same[0]; f++) {
        struct ys_buf bytes = {0};
        REQUIRE(unpack(same[f], &folder) == YS_OK);
        char *path = ys_path_join(folder, "train/n1/images/a.JPEG");
        REQUIRE(ys_fs_read(path, 1000, &bytes) == YS_OK);
        CHECK(bytes.size == 126 && strncmp(bytes.data, "content of it content", 21) == 0);
        CHECK(is_in(folder, "val/val_annotations.txt") && !is_in(folder, "test") && !is_in(folder, "other"));
        ys_buf_free(&bytes);
        ys_free(path);
    }
}

static void what_is_none_is_refused_in_a_sentence(void)
{
    static const struct refused files[] = {
        {"empty", "a.zip is no zip archive, or is cut short"},
        {"out-of-folder.zip", "train/../../../x leads out of its folder"},
        {"absolute.zip", "train//etc/x leads out of its folder"},
        {"twice.zip", "twice"},
        {"bomb.zip", "has 2147483648 bytes: at most 16777216 are read"},
        {"announces-more.zip", "has not the 1000 bytes that its directory says"},
        {"announces-less.zip", "has not the 10 bytes that its directory says"},
        {"bad-sum.zip", "is damaged: its CRC-32 is"},
        {"encrypted.zip", "is encrypted"},
        {"method-12.zip", "is packed by method 12"},
        {"member-elsewhere.zip", "there is no member at byte 2147483648"},
        {"directory-elsewhere.zip", "there is no directory at byte 2147483648"},
        {"wide-without-locator.zip", "there is no locator of its directory"},
        {"long-name.zip", "there is no whole entry of its directory"},
    };
    const char *folder;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        CHECK(unpack(files[i].name, &folder) == YS_EFORMAT);
        CHECK_HAS(ys_error(), files[i].message);
        CHECK(!is_in(folder, "../x") && !is_in(folder, "etc"));
    }
    CHECK(unpack("file-and-folder.zip", &folder) == YS_EIO);
}

TAP_MAIN(TAP_CASE(what_is_wanted_is_unpacked), TAP_CASE(what_is_none_is_refused_in_a_sentence))
