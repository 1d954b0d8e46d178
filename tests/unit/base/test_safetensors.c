#include "base/stored/safetensors.h"
#include "scratch.h"
#include "tap.h"
#include <stdint.h>
#include <unistd.h>

/** Writes a file of this header (padded by nothing) and `data_bytes` zero bytes of data; returns its path. */
static const char *made_file(const char *header, size_t data_bytes)
{
    struct ys_buf bytes = {0};
    uint64_t length = strlen(header);
    ys_buf_append(&bytes, &length, sizeof length);
    ys_buf_puts(&bytes, header);
    for (size_t i = 0; i < data_bytes; i++)
        ys_buf_append(&bytes, "", 1);
    const char *path = scratch("made.safetensors");
    if (ys_fs_write(path, bytes.data, bytes.size) != YS_OK)
        tap_check(false, __LINE__, "%s", ys_error());
    ys_buf_free(&bytes);
    return path;
}

static void check_refused(const char *header, size_t data_bytes, const char *reason)
{
    struct ys_safetensors *file = NULL;
    CHECK_INT(ys_safetensors_open(made_file(header, data_bytes), &file), YS_EFORMAT);
    CHECK_HAS(ys_error(), "made.safetensors");
    CHECK_HAS(ys_error(), reason);
    CHECK(!file);
    ys_safetensors_close(file);
}

static struct ys_safetensors *opened(const char *path)
{
    struct ys_safetensors *file = NULL;
    if (ys_safetensors_open(path, &file) != YS_OK)
        tap_check(false, __LINE__, "%s", ys_error());
    return file;
}

#define TENSOR(name_, dtype_, type, count, ...)                                                                        \
    {                                                                                                                  \
        .name = name_, .dtype = dtype_, .rank = 1, .shape = {count}, .data = (const type[]){__VA_ARGS__},              \
        .size_bytes = sizeof(type) * (count)                                                                           \
    }

static void tensors_of_every_dtype_come_back(void)
{
    const struct ys_tensor tensors[] = {
        TENSOR("u8", YS_U8, uint8_t, 3, 1, 2, 255),
        TENSOR("bf16", YS_BF16, uint16_t, 2, 0x3fc0, 0xc000), /* 1.5, -2 */
        TENSOR("f32", YS_F32, float, 3, 0.5f, -1e30f, 3),
        TENSOR("i32", YS_I32, int32_t, 1, -7),
        TENSOR("u32", YS_U32, uint32_t, 1, 4000000000u),
        TENSOR("f64", YS_F64, double, 1, 0.1),
        TENSOR("i64", YS_I64, int64_t, 2, INT64_MIN, 5),
    };
    ys_json *meta = ys_json_object();
    ys_json_set_string(meta, "format", "test");
    CHECK_INT(ys_safetensors_write(scratch("all"), tensors, 7, meta), YS_OK);
    ys_json_free(meta);
    struct ys_safetensors *file = opened(scratch("all"));
    REQUIRE(file);
    CHECK_INT(ys_safetensors_count(file), 7);
    for (size_t i = 0; i < 7; i++) {
        const struct ys_tensor *found = ys_safetensors_find(file, tensors[i].name);
        REQUIRE(found);
        CHECK_INT(found->dtype, tensors[i].dtype);
        CHECK_INT(ys_tensor_count(found), tensors[i].shape[0]);
        CHECK(memcmp(found->data, tensors[i].data, tensors[i].size_bytes) == 0);
        CHECK((uintptr_t)found->data % 8 == 0);
        CHECK(ys_tensor_value(found, 0) == ys_tensor_value(&tensors[i], 0));
    }
    CHECK(ys_tensor_value(ys_safetensors_find(file, "bf16"), 1) == -2);
    CHECK(ys_tensor_value(ys_safetensors_find(file, "u8"), 2) == 255);
    CHECK(ys_tensor_value(ys_safetensors_find(file, "u32"), 0) == 4e9);
    CHECK(ys_tensor_value(ys_safetensors_find(file, "i64"), 0) == -0x1p63);
    CHECK_TEXT(ys_safetensors_meta(file, "format"), "test");
    CHECK(!ys_safetensors_meta(file, "absent"));
    CHECK_TEXT(ys_safetensors_at(file, 0)->name, "f64"); /* falling element size, then as given */
    CHECK_TEXT(ys_safetensors_at(file, 2)->name, "f32");
    CHECK_TEXT(ys_safetensors_at(file, 6)->name, "u8");
    ys_safetensors_close(file);
}

static void shapes_of_every_rank_come_back(void)
{
    const float values[24] = {1, 2, 3};
    const struct ys_tensor tensors[] = {
        {"scalar", YS_F32, 0, {0}, values, 4},
        {"empty", YS_F32, 2, {0, 5}, values, 0},
        {"cube", YS_F32, 3, {2, 3, 4}, values, 96},
        {"deep", YS_F32, 8, {1, 1, 2, 1, 1, 3, 1, 4}, values, 96},
    };
    CHECK_INT(ys_safetensors_write(scratch("shapes"), tensors, 4, NULL), YS_OK);
    struct ys_safetensors *file = opened(scratch("shapes"));
    REQUIRE(file);
    CHECK_INT(ys_tensor_count(ys_safetensors_find(file, "scalar")), 1);
    CHECK_INT(ys_tensor_count(ys_safetensors_find(file, "empty")), 0);
    const struct ys_tensor *deep = ys_safetensors_find(file, "deep");
    CHECK_INT(deep->rank, 8);
    CHECK(memcmp(deep->shape, tensors[3].shape, sizeof deep->shape) == 0);
    CHECK(!ys_safetensors_meta(file, "any"));
    ys_safetensors_close(file);
}

static void a_file_without_tensors_is_one(void)
{
    CHECK_INT(ys_safetensors_write(scratch("none"), NULL, 0, NULL), YS_OK);
    struct ys_safetensors *file = opened(scratch("none"));
    REQUIRE(file);
    CHECK_INT(ys_safetensors_count(file), 0);
    CHECK(!ys_safetensors_find(file, "x"));
    ys_safetensors_close(file);
}

static void a_file_to_pass_on_is_the_same_file(void)
{
    static const float values[3] = {1, 2, 3};
    struct ys_tensor tensor = {
        .name = "w", .dtype = YS_F32, .rank = 1, .shape = {3}, .data = values, .size_bytes = sizeof values};
    struct ys_buf kept = {0}, passed = {0};
    REQUIRE(ys_safetensors_write(scratch("kept"), &tensor, 1, NULL) == YS_OK);
    REQUIRE(ys_safetensors_pass(scratch("passed"), &tensor, 1) == YS_OK);
    REQUIRE(ys_fs_read(scratch("kept"), 4096, &kept) == YS_OK);
    REQUIRE(ys_fs_read(scratch("passed"), 4096, &passed) == YS_OK);
    CHECK_INT(passed.size, kept.size);
    CHECK(passed.size == kept.size && memcmp(passed.data, kept.data, kept.size) == 0);
    ys_buf_free(&kept);
    ys_buf_free(&passed);
}

/* What is put in place, in whatever order, is what would have been written. */
static void a_draft_becomes_the_same_file(void)
{
    static const uint8_t bytes[5] = {9, 8, 7, 6, 5};
    static const int64_t numbers[2] = {-3, 1LL << 40};
    const struct ys_tensor tensors[] = {{"x", YS_U8, 1, {5}, bytes, sizeof bytes},
                                        {"y", YS_I64, 1, {2}, numbers, sizeof numbers}};
    struct ys_safetensors_draft *draft = NULL;
    struct ys_buf kept = {0}, made = {0};
    REQUIRE(ys_safetensors_write(scratch("kept"), tensors, 2, NULL) == YS_OK);
    REQUIRE(ys_safetensors_draft_open(scratch("draft"), tensors, 2, &draft) == YS_OK);
    CHECK(!ys_fs_exists(scratch("draft")));
    memcpy(ys_safetensors_draft_at(draft, 1), numbers, sizeof numbers);
    memcpy(ys_safetensors_draft_at(draft, 0), bytes, sizeof bytes);
    REQUIRE(ys_safetensors_draft_commit(draft) == YS_OK);
    REQUIRE(ys_fs_read(scratch("kept"), 4096, &kept) == YS_OK);
    REQUIRE(ys_fs_read(scratch("draft"), 4096, &made) == YS_OK);
    CHECK(made.size == kept.size && memcmp(made.data, kept.data, kept.size) == 0);
    ys_buf_free(&kept);
    ys_buf_free(&made);
    REQUIRE(ys_safetensors_draft_open(scratch("left"), tensors, 2, &draft) == YS_OK);
    ys_safetensors_draft_discard(draft);
    CHECK(!ys_fs_exists(scratch("left")));
    const struct ys_tensor wrong = {"x", YS_U8, 1, {5}, NULL, 4};
    CHECK_INT(ys_safetensors_draft_open(scratch("left"), &wrong, 1, &draft), YS_EINVAL);
}

static void files_of_other_writers_are_read_whatever_their_order(void)
{
    /* Data not in order of the header, odd places, spaces after the header, a description with more members. */
    struct ys_safetensors *file =
        opened(made_file("{\"b\":{\"data_offsets\":[3,11],\"dtype\":\"F32\",\"shape\":[2],\"note\":1},"
                         "\"a\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}   ",
                         11));
    REQUIRE(file);
    CHECK_TEXT(ys_safetensors_at(file, 0)->name, "a");
    CHECK_TEXT(ys_safetensors_at(file, 1)->name, "b");
    CHECK((uintptr_t)ys_safetensors_at(file, 0)->data % 8 == 0);
    CHECK((uintptr_t)ys_safetensors_at(file, 1)->data % 8 == 0);
    CHECK(ys_tensor_value(ys_safetensors_at(file, 1), 1) == 0);
    ys_safetensors_close(file);
}

static void unaligned_data_is_copied_right(void)
{
    const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                          "\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[1,5]}}";
    struct ys_buf bytes = {0};
    uint64_t length = strlen(header);
    const float value = 1.25f;
    ys_buf_append(&bytes, &length, sizeof length);
    ys_buf_puts(&bytes, header);
    ys_buf_append(&bytes, "\x09", 1);
    ys_buf_append(&bytes, &value, sizeof value);
    REQUIRE(ys_fs_write(scratch("odd"), bytes.data, bytes.size) == YS_OK);
    ys_buf_free(&bytes);
    struct ys_safetensors *file = opened(scratch("odd"));
    REQUIRE(file);
    CHECK(ys_tensor_value(ys_safetensors_find(file, "a"), 0) == 9);
    CHECK(ys_tensor_value(ys_safetensors_find(file, "b"), 0) == 1.25);
    ys_safetensors_close(file);
}

static void a_needed_tensor_is_checked(void)
{
    const char header[] = "{\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}";
    struct ys_safetensors *file = opened(made_file(header, 24));
    REQUIRE(file);
    const struct ys_tensor *tensor = NULL;
    const int64_t right[] = {2, 3}, wrong[] = {3, 2};
    CHECK_INT(ys_safetensors_need(file, "w", YS_F32, 2, wrong, &tensor), YS_EFORMAT);
    CHECK_HAS(ys_error(), "\"w\" has the shape [2, 3], not [3, 2]");
    CHECK_INT(ys_safetensors_need(file, "w", YS_F32, 1, right, &tensor), YS_EFORMAT);
    CHECK_INT(ys_safetensors_need(file, "w", YS_F32, 3, NULL, &tensor), YS_EFORMAT);
    CHECK_INT(ys_safetensors_need(file, "w", YS_I64, 2, right, &tensor), YS_EFORMAT);
    CHECK_HAS(ys_error(), "F32, not I64");
    CHECK_INT(ys_safetensors_need(file, "v", YS_F32, 2, right, &tensor), YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "made.safetensors has no tensor \"v\"");
    CHECK(!tensor);
    CHECK_INT(ys_safetensors_need(file, "w", YS_F32, 2, right, &tensor), YS_OK);
    CHECK_INT(ys_safetensors_need(file, "w", YS_F32, SIZE_MAX, NULL, &tensor), YS_OK);
    CHECK(tensor && tensor->size_bytes == 24);
    ys_safetensors_close(file);
}

static void headers_that_are_not_headers_are_refused(void)
{
    check_refused("", 0, "not a JSON object");
    check_refused("[1]", 0, "not a JSON object");
    check_refused(" {}", 0, "not a JSON object");
    check_refused("{\"a\":", 0, "line 1");
    check_refused("{} {}", 0, "line 1");
    check_refused("{\"a\":1}", 0, "\"a\" is not described by an object");
    check_refused("{\"__metadata__\":7}", 0, "__metadata__ is not an object");
    check_refused("{\"__metadata__\":{\"k\":7}}", 0, "\"k\" of __metadata__");
    check_refused("{}", 5, "5 bytes after the last tensor");
}

static void descriptions_that_cannot_be_are_refused(void)
{
    check_refused("{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4, "\"a\" has no dtype");
    check_refused("{\"a\":{\"dtype\":\"F8\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
                  "tensor \"a\": unknown dtype \"F8\"");
    check_refused("{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,4]}}", 4, "shape of tensor \"a\"");
    check_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4,
                  "dimension 0 of tensor \"a\"");
    check_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]}}", 4,
                  "dimension 0 of tensor \"a\"");
    check_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1, "9 dimensions");
    check_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]}}", 4, "data_offsets of tensor \"a\"");
    check_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0.0,4]}}", 4,
                  "data_offsets of tensor \"a\"");
    check_refused("{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "data_offsets of tensor \"a\"");
}

static void overflowing_shapes_are_refused(void)
{
    check_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
                  "too large");
    check_refused("{\"a\":{\"dtype\":\"F64\",\"shape\":[2305843009213693952],\"data_offsets\":[0,0]}}", 0, "too large");
    check_refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[9223372036854775808],\"data_offsets\":[0,0]}}", 0, "line 1");
}

static void places_outside_holes_and_overlaps_are_refused(void)
{
#define U8(name, size, begin, end)                                                                                     \
    "\"" name "\":{\"dtype\":\"U8\",\"shape\":[" #size "],\"data_offsets\":[" #begin "," #end "]}"
    check_refused("{" U8("a", 4, 0, 4) "}", 3, "\"a\" lies at bytes 0 to 4 of 3");
    check_refused("{" U8("a", 4, -4, 0) "}", 4, "\"a\" lies at");
    check_refused("{" U8("a", 4, 4, 0) "}", 4, "\"a\" lies at");
    check_refused("{" U8("a", 3, 0, 4) "}", 4, "\"a\" occupies 4 bytes, its shape needs 3");
    check_refused("{" U8("a", 2, 0, 2) "," U8("b", 2, 3, 5) "}", 5, "\"b\" begins at byte 3, after byte 2");
    check_refused("{" U8("a", 2, 0, 2) "," U8("b", 2, 1, 3) "}", 3, "\"b\" begins at byte 1, before byte 2");
    check_refused("{" U8("a", 2, 1, 3) "}", 3, "\"a\" begins at byte 1, after byte 0");
    check_refused("{" U8("a", 2, 0, 2) "}", 3, "1 bytes after the last tensor");
    check_refused("{" U8("a", 2, 0, 2) "," U8("a", 2, 2, 4) "}", 4, "duplicate");
#undef U8
}

static void lengths_beyond_the_file_are_refused(void)
{
    struct ys_safetensors *file = NULL;
    uint64_t lengths[] = {3, UINT64_MAX, (uint64_t)1 << 40, 100000001};
    for (size_t i = 0; i < 4; i++) {
        unsigned char bytes[10] = {0};
        memcpy(bytes, &lengths[i], 8);
        memcpy(bytes + 8, "{}", 2);
        REQUIRE(ys_fs_write(scratch("length"), bytes, sizeof bytes) == YS_OK);
        CHECK_INT(ys_safetensors_open(scratch("length"), &file), YS_EFORMAT);
        CHECK_HAS(ys_error(), "does not fit");
    }
    CHECK_INT(ys_safetensors_open(scratch_text("seven", "1234567"), &file), YS_EFORMAT);
    CHECK_INT(ys_safetensors_open(scratch_text("zero", ""), &file), YS_EFORMAT);
    CHECK_INT(ys_safetensors_open(scratch("."), &file), YS_EFORMAT);
    CHECK_INT(ys_safetensors_open(scratch("missing"), &file), YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "missing");
    CHECK(!file);
}

static void what_cannot_be_written_is_refused(void)
{
    const float value = 1;
    const struct ys_tensor twice[] = {{"a", YS_F32, 0, {0}, &value, 4}, {"a", YS_F32, 0, {0}, &value, 4}};
    CHECK_INT(ys_safetensors_write(scratch("refused"), twice, 2, NULL), YS_EINVAL);
    CHECK_HAS(ys_error(), "the name \"a\"");
    struct ys_tensor one = {"__metadata__", YS_F32, 0, {0}, &value, 4};
    CHECK_INT(ys_safetensors_write(scratch("refused"), &one, 1, NULL), YS_EINVAL);
    one = (struct ys_tensor){"a", YS_F32, 1, {2}, &value, 4};
    CHECK_INT(ys_safetensors_write(scratch("refused"), &one, 1, NULL), YS_EINVAL);
    one = (struct ys_tensor){"a", YS_F32, 1, {-1}, &value, 4};
    CHECK_INT(ys_safetensors_write(scratch("refused"), &one, 1, NULL), YS_EINVAL);
    one = (struct ys_tensor){"a", YS_F32, 9, {1}, &value, 4};
    CHECK_INT(ys_safetensors_write(scratch("refused"), &one, 1, NULL), YS_EINVAL);
    ys_json *meta = ys_json_object();
    ys_json_set_int(meta, "k", 1);
    one = (struct ys_tensor){"a", YS_F32, 0, {0}, &value, 4};
    CHECK_INT(ys_safetensors_write(scratch("refused"), &one, 1, meta), YS_EINVAL);
    ys_json_free(meta);
    CHECK(!ys_fs_exists(scratch("refused")));
    CHECK_INT(ys_safetensors_write(scratch("no/folder"), &one, 1, NULL), YS_EIO);
}

static void every_lack_of_memory_is_reported(void)
{
    const float values[3] = {1, 2, 3};
    const struct ys_tensor tensors[] = {{"a", YS_F32, 1, {3}, values, 12}, {"b", YS_F32, 1, {1}, values, 4}};
    ys_json *meta = ys_json_object();
    ys_json_set_string(meta, "k", "v");
    int failures = 0;
    for (long n = 1; n < 1000; n++) {
        struct ys_safetensors *file = NULL;
        ys_mem_fail_at(n);
        ys_status written = ys_safetensors_write(scratch("memory"), tensors, 2, meta);
        ys_status read = written == YS_OK ? ys_safetensors_open(scratch("memory"), &file) : YS_OK;
        ys_mem_fail_at(0);
        if (written != YS_OK || read != YS_OK) {
            failures++;
            CHECK_INT(written != YS_OK ? written : read, YS_ENOMEM);
            CHECK(!file);
            continue;
        }
        /* The one allocation that may be missing: the folder's name, without which the rename is not synced. */
        CHECK(ys_tensor_value(ys_safetensors_find(file, "b"), 0) == 1);
        ys_safetensors_close(file);
        if (n > 300)
            break;
    }
    CHECK(failures >= 20);
    ys_json_free(meta);
}

static void dtypes_have_names_and_sizes(void)
{
    for (int i = 0; i < YS_DTYPE_COUNT; i++) {
        enum ys_dtype dtype = YS_DTYPE_COUNT;
        CHECK_INT(ys_dtype_parse(ys_dtype_name((enum ys_dtype)i), &dtype), YS_OK);
        CHECK_INT(dtype, i);
    }
    CHECK_INT(ys_dtype_size(YS_BF16), 2);
    CHECK_INT(ys_dtype_size(YS_I64), 8);
    enum ys_dtype dtype;
    CHECK_INT(ys_dtype_parse("f32", &dtype), YS_EFORMAT);
}

/* Mapped, this would end the process: SIGBUS. */
static void a_file_that_was_loaded_may_become_shorter(void)
{
    const char *path = made_file("{\"x\":{\"dtype\":\"F64\",\"shape\":[4096],\"data_offsets\":[0,32768]}}", 32768);
    struct ys_safetensors *file = NULL;
    REQUIRE(ys_safetensors_load(path, &file) == YS_OK);
    REQUIRE(truncate(path, 0) == 0);
    const struct ys_tensor *x = ys_safetensors_find(file, "x");
    CHECK(x && ys_tensor_value(x, 4095) == 0);
    ys_safetensors_close(file);
    CHECK_INT(ys_safetensors_load(path, &file), YS_EFORMAT);
    CHECK_HAS(ys_error(), "too few");
}

TAP_MAIN(TAP_CASE(a_file_that_was_loaded_may_become_shorter), TAP_CASE(tensors_of_every_dtype_come_back),
         TAP_CASE(shapes_of_every_rank_come_back), TAP_CASE(a_file_without_tensors_is_one),
         TAP_CASE(a_file_to_pass_on_is_the_same_file), TAP_CASE(a_draft_becomes_the_same_file),
         TAP_CASE(files_of_other_writers_are_read_whatever_their_order), TAP_CASE(unaligned_data_is_copied_right),
         TAP_CASE(a_needed_tensor_is_checked), TAP_CASE(headers_that_are_not_headers_are_refused),
         TAP_CASE(descriptions_that_cannot_be_are_refused), TAP_CASE(overflowing_shapes_are_refused),
         TAP_CASE(places_outside_holes_and_overlaps_are_refused), TAP_CASE(lengths_beyond_the_file_are_refused),
         TAP_CASE(what_cannot_be_written_is_refused), TAP_CASE(every_lack_of_memory_is_reported),
         TAP_CASE(dtypes_have_names_and_sizes))
