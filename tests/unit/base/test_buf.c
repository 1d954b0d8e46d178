#include "base/buf.h"
#include "base/mem.h"
#include "tap.h"

static void appended_parts_lie_behind_each_other(void)
{
    struct ys_buf buf = {0};
    CHECK_TEXT(ys_buf_text(&buf), "");
    CHECK_INT(ys_buf_puts(&buf, "one "), YS_OK);
    CHECK_INT(ys_buf_append(&buf, "two xx", 4), YS_OK);
    CHECK_INT(ys_buf_printf(&buf, "%d", 3), YS_OK);
    CHECK_TEXT(ys_buf_text(&buf), "one two 3");
    CHECK_INT(buf.size, 9);
    ys_buf_free(&buf);
}

static void a_long_text_is_whole(void)
{
    struct ys_buf buf = {0};
    for (int i = 0; i < 20000; i++)
        ys_buf_printf(&buf, "%05d,", i);
    REQUIRE(!buf.failed);
    CHECK_INT(buf.size, 120000);
    CHECK_INT(strlen(buf.data), 120000);
    CHECK(memcmp(buf.data + 6 * 12345, "12345,", 6) == 0);
    ys_buf_free(&buf);
}

static void zero_bytes_are_kept(void)
{
    struct ys_buf buf = {0};
    ys_buf_append(&buf, "a\0b", 3);
    CHECK_INT(buf.size, 3);
    CHECK(memcmp(buf.data, "a\0b", 4) == 0);
    ys_buf_free(&buf);
}

static void clearing_keeps_the_memory(void)
{
    struct ys_buf buf = {0};
    ys_buf_puts(&buf, "something");
    char *data = buf.data;
    ys_buf_clear(&buf);
    CHECK_TEXT(ys_buf_text(&buf), "");
    ys_buf_puts(&buf, "else");
    CHECK(buf.data == data);
    CHECK_TEXT(ys_buf_text(&buf), "else");
    ys_buf_free(&buf);
    CHECK(!buf.data && buf.size == 0 && buf.capacity == 0);
}

static void taking_hands_over_the_bytes(void)
{
    struct ys_buf buf = {0};
    ys_buf_puts(&buf, "mine");
    char *text = ys_buf_take(&buf);
    CHECK_TEXT(text, "mine");
    CHECK(!buf.data && buf.size == 0);
    ys_free(text);
    text = ys_buf_take(&buf);
    CHECK_TEXT(text, "");
    ys_free(text);
}

static void after_a_failed_append_every_later_one_fails(void)
{
    struct ys_buf buf = {0};
    ys_buf_puts(&buf, "kept");
    ys_mem_fail_at(1);
    CHECK_INT(ys_buf_printf(&buf, "%500d", 1), YS_ENOMEM);
    CHECK_INT(ys_buf_puts(&buf, "x"), YS_ENOMEM);
    CHECK_INT(ys_buf_append(&buf, "", 0), YS_ENOMEM);
    CHECK_TEXT(ys_buf_text(&buf), "kept");
    CHECK(!ys_buf_take(&buf));
    CHECK(!buf.data && !buf.failed);
    CHECK_INT(ys_buf_puts(&buf, "again"), YS_OK);
    ys_buf_free(&buf);
}

static void a_first_append_without_memory_leaves_an_empty_text(void)
{
    struct ys_buf buf = {0};
    ys_mem_fail_at(1);
    CHECK_INT(ys_buf_puts(&buf, "x"), YS_ENOMEM);
    CHECK_TEXT(ys_buf_text(&buf), "");
    CHECK_TEXT(ys_error(), "out of memory");
    ys_buf_free(&buf);
}

static void a_word_is_quoted_where_a_shell_would_not_read_it_back(void)
{
    static const char *const words[][2] = {
        {"--opt.keras.backend=jax", "--opt.keras.backend=jax"}, {"a b", "'a b'"}, {"", "''"}, {"it's", "'it'\\''s'"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct ys_buf text = {0};
        ys_buf_put_word(&text, words[i][0]);
        CHECK_TEXT(ys_buf_text(&text), words[i][1]);
        ys_buf_free(&text);
    }
}

static void words_are_replaced_wherever_they_stand(void)
{
    static const char *const texts[][2] = {
        {"{a}-{a}/b", "x{a}-x{a}/b"}, {"none", "none"}, {"", ""}, {"{a", "{a"}, {"{{a}", "{x{a}"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *text = ys_replace(texts[i][0], "{a}", "x{a}");
        CHECK_TEXT(text, texts[i][1]);
        ys_free(text);
    }
}

TAP_MAIN(TAP_CASE(words_are_replaced_wherever_they_stand),
         TAP_CASE(a_word_is_quoted_where_a_shell_would_not_read_it_back),
         TAP_CASE(appended_parts_lie_behind_each_other), TAP_CASE(a_long_text_is_whole), TAP_CASE(zero_bytes_are_kept),
         TAP_CASE(clearing_keeps_the_memory), TAP_CASE(taking_hands_over_the_bytes),
         TAP_CASE(after_a_failed_append_every_later_one_fails),
         TAP_CASE(a_first_append_without_memory_leaves_an_empty_text))
