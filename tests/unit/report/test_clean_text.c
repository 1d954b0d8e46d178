#include "report/clean_text.h"
#include "tap.h"

static struct ys_buf buf;

static const char *cleaned(const char *text, bool lines)
{
    ys_buf_clear(&buf);
    ys_buf_puts(&buf, "");
    ys_text_clean(&buf, text, lines);
    return ys_buf_text(&buf);
}

static const char *wrapped(const char *text, int used, int indent, int width)
{
    ys_buf_clear(&buf);
    ys_text_wrap(&buf, text, used, indent, width);
    return ys_buf_text(&buf);
}

static void width_counts_columns_not_bytes(void)
{
    CHECK_INT(ys_text_width("abc"), 3);
    CHECK_INT(ys_text_width("\xC3\xA4\xC3\xB6"), 2);         /* two letters of two bytes */
    CHECK_INT(ys_text_width("\xE6\x97\xA5\xE6\x9C\xAC"), 4); /* two wide ones */
    CHECK_INT(ys_text_width("e\xCC\x81"), 1);                /* a letter and a combining accent */
    CHECK_INT(ys_text_width("\xF0\x9F\x94\xA5"), 2);
}

static void bad_bytes_count_as_one_character_each(void)
{
    uint32_t character;
    CHECK_INT(ys_text_decode("\xFFz", &character), 1);
    CHECK_INT(character, 0xFFFD);
    CHECK_INT(ys_text_decode("\xE6\x97", &character), 1); /* ends too early */
    CHECK_INT(character, 0xFFFD);
    CHECK_INT(ys_text_width("\xFF\xFE"), 2);
}

static void escape_sequences_vanish(void)
{
    CHECK_TEXT(cleaned("\x1B[1;31mred\x1B[0m text", true), "red text");
    CHECK_TEXT(cleaned("a\x1B]0;title\a"
                       "b",
                       true),
               "ab");
    CHECK_TEXT(cleaned("a\x1B]8;;http://x\x1B\\b", true), "ab");
    CHECK_TEXT(cleaned("end\x1B", true), "end");
    CHECK_TEXT(cleaned("end\x1B[", true), "end");
}

static void control_and_direction_characters_are_replaced(void)
{
    CHECK_TEXT(cleaned("a\001b\x7F", true), "a\xEF\xBF\xBD"
                                            "b\xEF\xBF\xBD");
    CHECK_TEXT(cleaned("a\xE2\x80\xAE"
                       "b",
                       true),
               "a\xEF\xBF\xBD"
               "b"); /* right-to-left override */
}

static void line_ends_are_kept_or_become_blanks(void)
{
    CHECK_TEXT(cleaned("a\r\nb\rc\nd\te", true), "a\nb\nc\nd e");
    CHECK_TEXT(cleaned("a\r\nb\rc\nd\te", false), "a b c d e");
}

static void clipping_leaves_what_fits_and_marks_the_cut(void)
{
    ys_buf_clear(&buf);
    ys_text_clip(&buf, "abcdef", 6);
    CHECK_TEXT(ys_buf_text(&buf), "abcdef");
    ys_buf_clear(&buf);
    ys_text_clip(&buf, "abcdefg", 6);
    CHECK_TEXT(ys_buf_text(&buf), "abcde\xE2\x80\xA6");
    ys_buf_clear(&buf);
    ys_text_clip(&buf, "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E", 4); /* wide ones are not cut in half */
    CHECK_TEXT(ys_buf_text(&buf), "\xE6\x97\xA5\xE2\x80\xA6");
}

static void wrapping_breaks_between_words_and_indents(void)
{
    CHECK_TEXT(wrapped("one two three four", 0, 2, 9), "one two\n  three\n  four\n");
    CHECK_TEXT(wrapped("one two", 4, 4, 80), "one two\n");
    CHECK_TEXT(wrapped("", 0, 0, 80), "\n");
}

static void words_longer_than_a_line_are_cut(void)
{
    CHECK_TEXT(wrapped("abcdefghij", 0, 2, 6), "abcdef\n  ghij\n");
    CHECK_TEXT(wrapped("abcdefghij", 3, 2, 6), "abc\n  defg\n  hij\n");
    CHECK_TEXT(wrapped("abcdef", 3, 2, 8), "\n  abcdef\n"); /* it fits below what stands on the line */
}

static void a_percent_sign_stays_with_its_number(void)
{
    CHECK_TEXT(wrapped("is 98.15 %, 98.12 % good", 0, 0, 11), "is 98.15 %,\n98.12 %\ngood\n");
}

static void a_command_between_backquotes_stays_whole(void)
{
    CHECK_TEXT(wrapped("say `a b c`, then", 0, 2, 12), "say `a b c`,\n  then\n");
    CHECK_TEXT(wrapped("say it: `a b c`, then", 0, 2, 12), "say it:\n  `a b c`,\n  then\n");
    CHECK_TEXT(wrapped("(`a b`) c", 6, 2, 12), "\n  (`a b`) c\n");
    CHECK_TEXT(wrapped("x `one two three` y", 0, 2, 8), "x\n  `one two three`\n  y\n"); /* longer than a line */
    CHECK_TEXT(wrapped("one`s two and three", 0, 2, 9), "one`s two\n  and\n  three\n"); /* one that does not close */
}

static void html_escapes_what_markup_is_made_of(void)
{
    ys_buf_clear(&buf);
    ys_text_html(&buf, "<a href=\"x\" title='y'>&\x1B[0m</a>\n");
    CHECK_TEXT(ys_buf_text(&buf), "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;&lt;/a&gt;\n");
}

TAP_MAIN(TAP_CASE(width_counts_columns_not_bytes), TAP_CASE(bad_bytes_count_as_one_character_each),
         TAP_CASE(escape_sequences_vanish), TAP_CASE(control_and_direction_characters_are_replaced),
         TAP_CASE(line_ends_are_kept_or_become_blanks), TAP_CASE(clipping_leaves_what_fits_and_marks_the_cut),
         TAP_CASE(wrapping_breaks_between_words_and_indents), TAP_CASE(words_longer_than_a_line_are_cut),
         TAP_CASE(a_percent_sign_stays_with_its_number), TAP_CASE(a_command_between_backquotes_stays_whole),
         TAP_CASE(html_escapes_what_markup_is_made_of))
