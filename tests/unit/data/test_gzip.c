#include "data/archives/gzip.h"

#include "idx_files.h"
#include "tap.h"

static void bytes_that_are_not_gzip_come_as_they_are(void)
{
    char out[8];
    size_t got;
    bool more;
    REQUIRE(ys_gzip_expand("hello", 5, "t", out, sizeof out, &got, &more) == YS_OK);
    CHECK(got == 5 && !more && memcmp(out, "hello", 5) == 0);
    REQUIRE(ys_gzip_expand("hello", 5, "t", out, 3, &got, &more) == YS_OK);
    CHECK(got == 3 && more);
    REQUIRE(ys_gzip_expand("", 0, "t", out, 3, &got, &more) == YS_OK);
    CHECK(got == 0 && !more);
}

static void compressed_bytes_are_expanded_and_checked(void)
{
    struct ys_buf packed = {0};
    char out[64];
    size_t got;
    bool more;
    put_gzip(&packed, "the quick brown fox", 19);
    REQUIRE(ys_gzip_expand(packed.data, packed.size, "t", out, 64, &got, &more) == YS_OK);
    CHECK(got == 19 && !more && memcmp(out, "the quick brown fox", 19) == 0);
    REQUIRE(ys_gzip_expand(packed.data, packed.size, "t", out, 19, &got, &more) == YS_OK);
    CHECK(got == 19 && !more);
    REQUIRE(ys_gzip_expand(packed.data, packed.size, "t", out, 18, &got, &more) == YS_OK);
    CHECK(got == 18 && more);
    REQUIRE(ys_gzip_expand(packed.data, packed.size, "t", out, 0, &got, &more) == YS_OK);
    CHECK(got == 0 && more);
    ys_buf_free(&packed);
}

static void several_members_are_one_content(void)
{
    struct ys_buf packed = {0};
    char out[64];
    size_t got;
    bool more;
    put_gzip(&packed, "one ", 4);
    put_gzip(&packed, "", 0);
    put_gzip(&packed, "two", 3);
    REQUIRE(ys_gzip_expand(packed.data, packed.size, "t", out, sizeof out, &got, &more) == YS_OK);
    CHECK(got == 7 && !more && memcmp(out, "one two", 7) == 0);
    ys_buf_free(&packed);
}

static void cut_short_anywhere_is_refused(void)
{
    struct ys_buf packed = {0};
    char out[64];
    size_t got;
    bool more;
    put_gzip(&packed, "the quick brown fox", 19);
    for (size_t size = 2; size < packed.size; size++)
        CHECK(ys_gzip_expand(packed.data, size, "t.gz", out, sizeof out, &got, &more) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "t.gz: the compressed data is cut short");
    ys_buf_free(&packed);
}

static void damage_and_trailing_bytes_are_refused(void)
{
    struct ys_buf packed = {0};
    char out[64];
    size_t got;
    bool more;
    put_gzip(&packed, "the quick brown fox", 19);
    packed.data[packed.size - 6] ^= 1; /* in the CRC */
    CHECK(ys_gzip_expand(packed.data, packed.size, "t.gz", out, sizeof out, &got, &more) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "t.gz: the compressed data is damaged");
    packed.data[packed.size - 6] ^= 1;
    ys_buf_append(&packed, "tail", 4);
    CHECK(ys_gzip_expand(packed.data, packed.size, "t.gz", out, sizeof out, &got, &more) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "4 bytes follow the end of the compressed data");
    ys_buf_free(&packed);
}

static void a_bomb_is_not_expanded(void)
{
    enum { BOMB = 8 << 20 };
    struct ys_buf packed = {0};
    char *zeros = ys_alloc(BOMB, 1), out[16];
    size_t got;
    bool more;
    put_gzip(&packed, zeros, BOMB);
    CHECK(packed.size < 16384);
    CHECK(ys_gzip_expand(packed.data, packed.size, "t", out, sizeof out, &got, &more) == YS_OK);
    CHECK(got == sizeof out && more);
    ys_free(zeros);
    ys_buf_free(&packed);
}

static void running_out_of_memory_is_reported(void)
{
    struct ys_buf packed = {0};
    char out[64];
    size_t got;
    bool more;
    put_gzip(&packed, "the quick brown fox", 19);
    ys_mem_fail_at(1);
    CHECK(ys_gzip_expand(packed.data, packed.size, "t", out, sizeof out, &got, &more) == YS_ENOMEM);
    ys_mem_fail_at(0);
    ys_buf_free(&packed);
}

TAP_MAIN(TAP_CASE(bytes_that_are_not_gzip_come_as_they_are), TAP_CASE(compressed_bytes_are_expanded_and_checked),
         TAP_CASE(several_members_are_one_content), TAP_CASE(cut_short_anywhere_is_refused),
         TAP_CASE(damage_and_trailing_bytes_are_refused), TAP_CASE(a_bomb_is_not_expanded),
         TAP_CASE(running_out_of_memory_is_reported))
