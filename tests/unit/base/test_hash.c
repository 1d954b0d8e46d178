#include "base/hash.h"
#include "scratch.h"
#include "tap.h"

/* FIPS 180-2, appendix B, and RFC 1321, section A.5. */
static void published_sums_come_out(void)
{
    char text[YS_SHA256_TEXT], sum[YS_MD5_TEXT];
    ys_sha256_text("", 0, text);
    CHECK_TEXT(text, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    ys_sha256_text("abc", 3, text);
    CHECK_TEXT(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    ys_md5_text("", 0, sum);
    CHECK_TEXT(sum, "d41d8cd98f00b204e9800998ecf8427e");
    ys_md5_text("message digest", 14, sum);
    CHECK_TEXT(sum, "f96b697d7cb7938d525a2f31aaf161d0");
}

static void joined_parts_hash_as_one(void)
{
    uint8_t whole[32], joined[32];
    ys_sha256("abcdef", 6, whole);
    ys_sha256_joined("abc", 3, "def", 3, joined);
    CHECK(memcmp(whole, joined, 32) == 0);
    CHECK_INT(whole[0], 0xbe); /* bef57ec7f53a6d40beb640a780a639c83bc29ac8a9816f1fc6c5c6dcd93c4721 */
    ys_sha256_joined(NULL, 0, "abcdef", 6, joined);
    CHECK(memcmp(whole, joined, 32) == 0);
}

/* Behind a first byte no block begins where the processor's instructions could take it, so the two ways are compared.
 */
static void every_length_hashes_alike_from_any_place(void)
{
    uint8_t bytes[300], whole[32], joined[32];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 37 + 11);
    for (size_t size = 1; size < sizeof bytes; size++) {
        ys_sha256(bytes, size, whole);
        ys_sha256_joined(bytes, 1, bytes + 1, size - 1, joined);
        tap_check(memcmp(whole, joined, 32) == 0, __LINE__, "%zu bytes", size);
    }
    char text[YS_SHA256_TEXT]; /* FIPS 180-2, appendix B.2 */
    ys_sha256_text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, text);
    CHECK_TEXT(text, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void a_file_hashes_as_its_bytes(void)
{
    size_t size = 200000; /* more than is read at once */
    char *bytes = ys_alloc(size, 1);
    REQUIRE(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (char)(i * 31);
    char of_bytes[YS_SHA256_TEXT], of_file[YS_SHA256_TEXT];
    ys_sha256_text(bytes, size, of_bytes);
    REQUIRE(ys_fs_write(scratch("bytes"), bytes, size) == YS_OK);
    CHECK_INT(ys_sha256_file(scratch("bytes"), of_file), YS_OK);
    CHECK_TEXT(of_file, of_bytes);
    ys_free(bytes);
}

static ys_status count(void *context)
{
    int *left = context;
    return --*left > 0 ? YS_OK : ys_fail(YS_EINTR, "enough");
}

static void what_is_done_beside_is_done_often_and_can_end_it(void)
{
    enum { SIZE = 200000 };
    static const char bytes[SIZE];
    char of_bytes[YS_SHA256_TEXT], of_file[YS_SHA256_TEXT] = "untouched";
    int left = 3;
    ys_sha256_text(bytes, SIZE, of_bytes);
    REQUIRE(ys_fs_write(scratch("zeros"), bytes, SIZE) == YS_OK);
    CHECK_INT(ys_sha256_file_beside(scratch("zeros"), count, &left, of_file), YS_EINTR);
    CHECK_TEXT(ys_error(), "enough");
    CHECK_TEXT(of_file, "untouched");
    left = 100;
    CHECK_INT(ys_sha256_file_beside(scratch("zeros"), count, &left, of_file), YS_OK);
    CHECK_TEXT(of_file, of_bytes);
    CHECK(left <= 100 - SIZE / 65536);
}

static void a_file_that_cannot_be_read_is_named(void)
{
    char text[YS_SHA256_TEXT] = "untouched";
    CHECK_INT(ys_sha256_file(scratch("missing"), text), YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "missing");
    CHECK_INT(ys_sha256_file(scratch("."), text), YS_EIO);
    CHECK_TEXT(text, "untouched");
}

TAP_MAIN(TAP_CASE(published_sums_come_out), TAP_CASE(joined_parts_hash_as_one),
         TAP_CASE(every_length_hashes_alike_from_any_place), TAP_CASE(a_file_hashes_as_its_bytes),
         TAP_CASE(what_is_done_beside_is_done_often_and_can_end_it), TAP_CASE(a_file_that_cannot_be_read_is_named))
