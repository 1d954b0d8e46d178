#include "data/archives/idx.h"

#include "idx_files.h"
#include "tap.h"
#include "unit/base/scratch.h"

static ys_status parse(const struct ys_buf *buf, struct ys_idx *idx)
{
    return ys_idx_parse(buf->data, buf->size, "t.idx", idx);
}

static void images_are_read_plain_and_compressed(void)
{
    struct ys_buf plain = {0}, packed = {0};
    struct ys_idx idx = {0}, again = {0};
    put_head(&plain, 3, (const uint32_t[]){2, 3, 4});
    put_bytes(&plain, 24, 256);
    put_gzip(&packed, plain.data, plain.size);
    REQUIRE(parse(&plain, &idx) == YS_OK);
    REQUIRE(parse(&packed, &again) == YS_OK);
    CHECK(idx.rank == 3 && idx.shape[0] == 2 && idx.shape[1] == 3 && idx.shape[2] == 4);
    CHECK(idx.data[0] == 0 && idx.data[23] == 23);
    CHECK(memcmp(idx.data, again.data, 24) == 0);
    CHECK_TEXT(again.md5, idx.md5);
    ys_idx_fini(&idx);
    ys_idx_fini(&again);
    ys_buf_free(&plain);
    ys_buf_free(&packed);
}

static void the_sums_are_of_the_uncompressed_bytes_and_of_the_file(void)
{
    struct ys_buf plain = {0}, packed = {0};
    struct ys_idx idx = {0}, again = {0};
    char plain_md5[YS_MD5_TEXT], packed_md5[YS_MD5_TEXT];
    put_head(&plain, 1, (const uint32_t[]){3});
    put_bytes(&plain, 3, 10);
    put_gzip(&packed, plain.data, plain.size);
    ys_md5_text(plain.data, plain.size, plain_md5);
    ys_md5_text(packed.data, packed.size, packed_md5);
    REQUIRE(parse(&plain, &idx) == YS_OK);
    REQUIRE(parse(&packed, &again) == YS_OK);
    CHECK_TEXT(idx.md5, plain_md5);
    CHECK_TEXT(idx.file_md5, plain_md5);
    CHECK_TEXT(again.md5, plain_md5);
    CHECK_TEXT(again.file_md5, packed_md5);
    ys_idx_fini(&idx);
    ys_idx_fini(&again);
    ys_buf_free(&plain);
    ys_buf_free(&packed);
}

static void refuse(size_t rank, const uint32_t *shape, size_t bytes, const char *message)
{
    for (int compressed = 0; compressed < 2; compressed++) {
        struct ys_buf plain = {0}, packed = {0};
        struct ys_idx idx = {0};
        put_head(&plain, rank, shape);
        put_bytes(&plain, bytes, 10);
        put_gzip(&packed, plain.data, plain.size);
        CHECK(parse(compressed ? &packed : &plain, &idx) == YS_EFORMAT);
        CHECK_HAS(ys_error(), message);
        CHECK_HAS(ys_error(), "t.idx: ");
        ys_buf_free(&plain);
        ys_buf_free(&packed);
    }
}

static void files_cut_short_or_too_long_are_refused(void)
{
    refuse(1, (const uint32_t[]){10}, 9, "cut short: 17 bytes, its header announces 18");
    refuse(1, (const uint32_t[]){10}, 11, "goes on after the 18 bytes");
    refuse(3, (const uint32_t[]){2, 3, 4}, 0, "cut short: 16 bytes, its header announces 40");
}

static void hostile_shapes_are_refused(void)
{
    static const uint32_t all[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    refuse(4, all, 0, "more than 268435456 bytes");
    refuse(1, all, 0, "more than 268435456 bytes");
    refuse(2, (const uint32_t[]){65536, 65536}, 0, "more than 268435456 bytes");
    refuse(2, (const uint32_t[]){5, 0}, 0, "dimension 1 is 0");
    refuse(0, NULL, 4, "rank 0, must be 1 to 4");
    refuse(4, (const uint32_t[]){1, 1, 1, 1}, 0, "cut short: 20 bytes");
}

static void other_formats_are_refused(void)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } cases[] = {
        {"", 0, "cut short: 0 bytes"},
        {"\0\0\10", 3, "cut short: 3 bytes"},
        {"\0\0\10\3\0\0", 6, "the header alone has 16"},
        {"\0\0\15\1\0\0\0\1abcd", 12, "begins with 00 00 0d"},
        {"\x89PNG\r\n", 6, "begins with 89 50 4e"},
        {"\0\0\10\377\0\0\0\1\0", 9, "rank 255"},
        {"\37\213", 2, "cut short"},
        {"\37\213\10\0zzzzzzzzzzz", 15, "the compressed data is"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_idx idx = {0};
        CHECK(ys_idx_parse(cases[i].bytes, cases[i].size, "t.idx", &idx) == YS_EFORMAT);
        CHECK_HAS(ys_error(), cases[i].message);
    }
}

static void a_missing_file_and_a_folder_are_errors(void)
{
    struct ys_idx idx = {0};
    CHECK(ys_idx_read(scratch("none"), &idx) != YS_OK);
    CHECK_HAS(ys_error(), "none");
    CHECK(ys_fs_make_dirs(scratch("folder")) == YS_OK);
    CHECK(ys_idx_read(scratch("folder"), &idx) != YS_OK);
}

TAP_MAIN(TAP_CASE(images_are_read_plain_and_compressed),
         TAP_CASE(the_sums_are_of_the_uncompressed_bytes_and_of_the_file),
         TAP_CASE(files_cut_short_or_too_long_are_refused), TAP_CASE(hostile_shapes_are_refused),
         TAP_CASE(other_formats_are_refused), TAP_CASE(a_missing_file_and_a_folder_are_errors))
