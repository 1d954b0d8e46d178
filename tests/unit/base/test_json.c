#include "base/json/json.h"
#include "scratch.h"
#include "tap.h"
#include <float.h>

static ys_json *parsed(const char *text)
{
    ys_json *value = NULL;
    if (ys_json_parse(text, strlen(text), "message", &value) != YS_OK)
        tap_check(false, __LINE__, "%s", ys_error());
    return value;
}

static void check_dump(ys_json *value_taken, enum ys_json_style style, const char *expected)
{
    char *text = ys_json_dump(value_taken, style);
    CHECK_TEXT(text, expected);
    ys_free(text);
    ys_json_free(value_taken);
}

static void check_refused(const char *text, const char *reason)
{
    ys_json *value = NULL;
    CHECK_INT(ys_json_parse(text, strlen(text), "message", &value), YS_EFORMAT);
    CHECK(strncmp(ys_error(), "message: line ", 14) == 0);
    CHECK_HAS(ys_error(), reason);
    CHECK(!value);
}

static void members_keep_their_order_in_every_style_but_sorted(void)
{
    const char *text = "{\"z\": 1, \"a\": [true, null, \"x\"], \"m\": {}}";
    check_dump(parsed(text), YS_JSON_COMPACT, "{\"z\":1,\"a\":[true,null,\"x\"],\"m\":{}}");
    check_dump(parsed(text), YS_JSON_SORTED, "{\"a\":[true,null,\"x\"],\"m\":{},\"z\":1}");
    check_dump(parsed(text), YS_JSON_INDENT,
               "{\n  \"z\": 1,\n  \"a\": [\n    true,\n    null,\n    \"x\"\n  ],\n  \"m\": {}\n}");
}

static void sorting_reaches_every_level(void)
{
    check_dump(parsed("[{\"b\":{\"d\":1,\"c\":2},\"a\":0}]"), YS_JSON_SORTED, "[{\"a\":0,\"b\":{\"c\":2,\"d\":1}}]");
}

static void integers_are_exact_to_64_bits(void)
{
    check_dump(ys_json_int(INT64_MAX), YS_JSON_COMPACT, "9223372036854775807");
    check_dump(ys_json_int(INT64_MIN), YS_JSON_COMPACT, "-9223372036854775808");
    ys_json *value = parsed("9007199254740993"); /* 2^53 + 1 */
    CHECK(ys_json_integer(value, 0) == 9007199254740993);
    ys_json_free(value);
    check_refused("9223372036854775808", "big");
}

static void reals_read_back_equal_and_stay_reals(void)
{
    static const double values[] = {0.1,      1.0 / 3,
                                    1e300,    5e-324,
                                    DBL_MAX,  DBL_MIN,
                                    -0.0,     1.0,
                                    1e15,     123456789012345678.0,
                                    -2.5e-10, 0x1.fffffffffffffp-3};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        ys_json *value = ys_json_real(values[i]);
        char *text = ys_json_dump(value, YS_JSON_COMPACT);
        REQUIRE(text);
        ys_json *back = parsed(text);
        CHECK_INT(ys_json_type_of(back), YS_JSON_REAL);
        double number = ys_json_number(back, NAN);
        CHECK(memcmp(&number, &values[i], sizeof number) == 0);
        ys_json_free(back);
        ys_json_free(value);
        ys_free(text);
    }
}

static void reals_take_no_more_digits_than_needed(void)
{
    check_dump(ys_json_real(0.1), YS_JSON_COMPACT, "0.1");
    check_dump(ys_json_real(2), YS_JSON_COMPACT, "2.0");
    check_dump(ys_json_real(1e30), YS_JSON_COMPACT, "1e+30");
    check_dump(ys_json_real(1.0 / 3), YS_JSON_COMPACT, "0.3333333333333333");
}

static void what_is_not_a_number_becomes_null(void)
{
    check_dump(ys_json_real(NAN), YS_JSON_COMPACT, "null");
    check_dump(ys_json_real(-INFINITY), YS_JSON_COMPACT, "null");
}

static void strings_are_escaped_onto_one_line(void)
{
    check_dump(ys_json_string("a\"b\\c\n\t\x01/\x7f\xC3\xA9"), YS_JSON_COMPACT,
               "\"a\\\"b\\\\c\\n\\t\\u0001/\x7f\xC3\xA9\"");
    check_dump(ys_json_string(NULL), YS_JSON_COMPACT, "null");
    check_dump(parsed("\"\\u00e9\\ud83d\\ude00\""), YS_JSON_COMPACT, "\"\xC3\xA9\xF0\x9F\x98\x80\"");
}

/* So two names of files stay two. */
static void invalid_utf8_is_escaped(void)
{
    check_dump(ys_json_string("a\xFF"), YS_JSON_COMPACT, "\"a\\\\xff\"");
    check_dump(ys_json_string("\xC3"), YS_JSON_COMPACT, "\"\\\\xc3\"");            /* cut short */
    check_dump(ys_json_string("\xC0\xAF"), YS_JSON_COMPACT, "\"\\\\xc0\\\\xaf\""); /* overlong */
    char *text = ys_json_dump(NULL, YS_JSON_COMPACT);
    CHECK(!text);
    ys_json *value = ys_json_string("\xED\xA0\x80|\xF4\x90\x80\x80|\xE2\x82\xAC"); /* surrogate, too large, euro */
    CHECK_HAS(ys_json_text(value, ""), "|\xE2\x82\xAC");
    CHECK(!strchr(ys_json_text(value, ""), '\xED') && !strchr(ys_json_text(value, ""), '\xF4'));
    ys_json_free(value);
    ys_json *object = ys_json_object();
    CHECK_INT(ys_json_set_int(object, "k\xFE", 1), YS_OK);
    check_dump(object, YS_JSON_COMPACT, "{\"k\\\\xfe\":1}");
}

static void damaged_text_is_refused_with_its_place(void)
{
    check_refused("", "line 1");
    check_refused("{\"a\":1,\n\"a\":2}", "line 2");
    check_refused("{\"a\":1,\"a\":2}", "duplicate");
    check_refused("{} x", "line 1, column 4");
    check_refused("[1,]", "line 1");
    check_refused("[NaN]", "NaN");
    check_refused("1e999", "overflow");
    check_refused("{\"a\" 1}", "line 1");
    check_refused("\"\\u0000\"", "u0000");
    check_refused("[\"\xFF\"]", "decode byte 0xff");
    check_refused("[01]", "line 1");
    ys_json *value = NULL;
    CHECK_INT(ys_json_parse("1\0 2", 4, "message", &value), YS_EFORMAT);
    CHECK_INT(ys_json_parse(NULL, 0, "message", &value), YS_EFORMAT);
}

/** `depth` times `[` and as many `]`, with brackets in strings that do not count. */
static char *nested(int depth)
{
    struct ys_buf text = {0};
    for (int i = 0; i < depth; i++)
        ys_buf_puts(&text, "[");
    ys_buf_puts(&text, "\"\\\"[[[{{{\"");
    for (int i = 0; i < depth; i++)
        ys_buf_puts(&text, "]");
    return ys_buf_take(&text);
}

static void nesting_is_limited_to_256(void)
{
    char *text = nested(256);
    ys_json *value = parsed(text);
    char *again = ys_json_dump(value, YS_JSON_COMPACT);
    CHECK_TEXT(again, text);
    ys_free(again);
    ys_json *outer = ys_json_array();
    ys_json_append(outer, value);
    CHECK(!ys_json_dump(outer, YS_JSON_COMPACT));
    CHECK_HAS(ys_error(), "256");
    ys_json_free(outer);
    ys_free(text);
    text = nested(257);
    check_refused(text, "column 257: nested deeper than 256");
    ys_free(text);
    text = nested(1000000);
    check_refused(text, "nested deeper than 256");
    ys_free(text);
}

static void getters_fall_back_on_what_is_not_there(void)
{
    ys_json *object = parsed("{\"t\":\"text\",\"i\":7,\"r\":2.5,\"w\":4.0,\"b\":true,\"n\":null,\"big\":1e19}");
    CHECK_TEXT(ys_json_get_text(object, "t", "?"), "text");
    CHECK_TEXT(ys_json_get_text(object, "i", "?"), "?");
    CHECK_INT(ys_json_get_int(object, "i", -1), 7);
    CHECK_INT(ys_json_get_int(object, "w", -1), 4);
    CHECK_INT(ys_json_get_int(object, "r", -1), -1);
    CHECK_INT(ys_json_get_int(object, "big", -1), -1);
    CHECK(ys_json_get_number(object, "i", 0) == 7 && ys_json_get_number(object, "r", 0) == 2.5);
    CHECK(ys_json_get_number(object, "t", 9) == 9);
    CHECK(ys_json_get_bool(object, "b", false) && ys_json_get_bool(object, "absent", true));
    CHECK(!ys_json_get_bool(object, "n", false));
    CHECK(!ys_json_get(object, "absent") && !ys_json_get(NULL, "t") && !ys_json_at(object, 0));
    CHECK_INT(ys_json_type_of(NULL), YS_JSON_NULL);
    CHECK_INT(ys_json_type_of(ys_json_get(object, "b")), YS_JSON_BOOL);
    CHECK_INT(ys_json_size(object), 7);
    CHECK_INT(ys_json_size(ys_json_get(object, "t")), 0);
    ys_json_free(object);
}

static void objects_are_walked_in_order(void)
{
    ys_json *object = parsed("{\"z\":0,\"y\":1,\"x\":2}");
    ys_json_set_int(object, "y", 5); /* replacing keeps the place */
    ys_json_remove(object, "z");
    ys_json_set_int(object, "z", 6);
    struct ys_buf text = {0};
    for (void *it = ys_json_iter(object); it; it = ys_json_next(object, it))
        ys_buf_printf(&text, "%s%lld ", ys_json_iter_key(it), (long long)ys_json_integer(ys_json_iter_value(it), -1));
    CHECK_TEXT(ys_buf_text(&text), "y5 x2 z6 ");
    ys_buf_free(&text);
    ys_json_free(object);
}

static void merging_copies_and_replaces(void)
{
    ys_json *into = parsed("{\"a\":1,\"b\":2}"), *from = parsed("{\"b\":{\"deep\":1},\"c\":3}");
    CHECK_INT(ys_json_merge(into, from), YS_OK);
    ys_json_set_int(ys_json_get(into, "b"), "deep", 2);
    CHECK_INT(ys_json_get_int(ys_json_get(from, "b"), "deep", 0), 1);
    ys_json_free(from);
    check_dump(into, YS_JSON_COMPACT, "{\"a\":1,\"b\":{\"deep\":2},\"c\":3}");
}

static void equality_is_by_content(void)
{
    ys_json *a = parsed("{\"x\":1,\"y\":[1,2]}"), *b = parsed("{\"y\":[1,2],\"x\":1}"), *c = ys_json_copy(a);
    CHECK(ys_json_equal(a, b) && ys_json_equal(a, c) && ys_json_equal(NULL, NULL));
    ys_json_append(ys_json_get(c, "y"), ys_json_int(3));
    CHECK(!ys_json_equal(a, c) && !ys_json_equal(a, NULL));
    ys_json_free(a);
    ys_json_free(b);
    ys_json_free(c);
}

static void a_shared_value_lives_until_its_last_owner(void)
{
    ys_json *value = ys_json_string("shared"), *array = ys_json_array();
    CHECK_INT(ys_json_append(array, ys_json_ref(value)), YS_OK);
    ys_json_free(array);
    CHECK_TEXT(ys_json_text(value, ""), "shared");
    ys_json_free(value);
    ys_json_free(NULL);
}

static void what_could_not_be_stored_fails_the_dump(void)
{
    ys_json *object = ys_json_object();
    CHECK_INT(ys_json_set(object, "lost", NULL), YS_ENOMEM);
    CHECK_INT(ys_json_type_of(ys_json_get(object, "lost")), YS_JSON_NULL);
    CHECK(!ys_json_dump(object, YS_JSON_COMPACT));
    ys_json *copy = ys_json_copy(object);
    CHECK(!ys_json_dump(copy, YS_JSON_COMPACT));
    CHECK_INT(ys_json_write(scratch("lost.json"), copy), YS_ENOMEM);
    CHECK(!ys_fs_exists(scratch("lost.json")));
    ys_json_free(copy);
    ys_json_free(object);
    ys_json *array = ys_json_array();
    CHECK_INT(ys_json_append(array, NULL), YS_ENOMEM);
    CHECK(!ys_json_dump(array, YS_JSON_COMPACT));
    ys_json_free(array);
    CHECK_INT(ys_json_set(NULL, "key", ys_json_object()), YS_ENOMEM);
    CHECK_INT(ys_json_append(NULL, ys_json_object()), YS_ENOMEM);
}

static void setting_in_the_wrong_kind_is_a_mistake(void)
{
    ys_json *array = ys_json_array(), *object = ys_json_object();
    CHECK_INT(ys_json_set_int(array, "a", 1), YS_EINTERNAL);
    CHECK_INT(ys_json_append(object, ys_json_int(1)), YS_EINTERNAL);
    CHECK_INT(ys_json_append(array, ys_json_ref(array)), YS_EINTERNAL);
    CHECK_INT(ys_json_size(array) + ys_json_size(object), 0);
    ys_json_free(array);
    ys_json_free(object);
}

static void files_are_written_whole_and_read_back(void)
{
    ys_json *value = parsed("{\"a\":[1,2.5,\"x\"]}"), *back = NULL;
    CHECK_INT(ys_json_write(scratch("value.json"), value), YS_OK);
    CHECK_INT(ys_json_read(scratch("value.json"), &back), YS_OK);
    CHECK(ys_json_equal(value, back));
    ys_json_free(back);
    ys_json_free(value);
    struct ys_buf text = {0};
    CHECK_INT(ys_fs_read(scratch("value.json"), 1000, &text), YS_OK);
    CHECK(text.size > 0 && text.data[text.size - 1] == '\n');
    ys_buf_free(&text);
    back = NULL;
    CHECK_INT(ys_json_read(scratch("missing.json"), &back), YS_ENOTFOUND);
    CHECK_INT(ys_json_read(scratch_text("bad.json", "{\n\n  oops"), &back), YS_EFORMAT);
    CHECK_HAS(ys_error(), "bad.json: line 3");
    CHECK(!back);
}

/** Builds, copies, merges, dumps and parses; NULL as soon as anything failed. */
static char *everything(void)
{
    ys_json *object = ys_json_object(), *array = ys_json_array();
    for (int i = 0; i < 20; i++)
        ys_json_append(array, ys_json_int(i));
    ys_json_set(object, "array", array);
    ys_json_set_string(object, "text", "bad \xFF");
    ys_json_set_real(object, "real", 0.5);
    ys_json *copy = ys_json_copy(object), *back = NULL;
    ys_json_merge(object, copy);
    char *text = copy ? ys_json_dump(object, YS_JSON_SORTED) : NULL;
    char *again = NULL;
    if (text && ys_json_parse(text, strlen(text), "message", &back) == YS_OK)
        again = ys_json_dump(back, YS_JSON_COMPACT);
    ys_json_free(back);
    ys_json_free(copy);
    ys_json_free(object);
    ys_free(text);
    return again;
}

static void every_lack_of_memory_is_noticed(void)
{
    char *expected = everything();
    REQUIRE(expected);
    int failures = 0;
    for (long n = 1; n < 2000; n++) {
        ys_mem_fail_at(n);
        char *text = everything();
        if (text)
            CHECK_TEXT(text, expected);
        failures += !text;
        ys_free(text);
        if (text && n > 400)
            break;
    }
    ys_mem_fail_at(0);
    CHECK(failures >= 50); /* 20 integers and 3 members, each made, copied and parsed */
    ys_free(expected);
}

static void lack_of_memory_while_parsing_is_not_a_damaged_file(void)
{
    const char *text = "{\"a\": [1, 2.5, \"text\", {\"b\": \"\\u00e9\"}],"
                       " \"c\": \"a longer text than the first buffer\"}";
    for (long n = 1;; n++) {
        ys_json *value = NULL;
        ys_mem_fail_at(n);
        ys_status status = ys_json_parse(text, strlen(text), "message", &value);
        ys_mem_fail_at(0);
        ys_json_free(value);
        if (status == YS_OK) {
            CHECK(n > 10);
            return;
        }
        REQUIRE(status == YS_ENOMEM);
    }
}

TAP_MAIN(TAP_CASE(members_keep_their_order_in_every_style_but_sorted), TAP_CASE(sorting_reaches_every_level),
         TAP_CASE(integers_are_exact_to_64_bits), TAP_CASE(reals_read_back_equal_and_stay_reals),
         TAP_CASE(reals_take_no_more_digits_than_needed), TAP_CASE(what_is_not_a_number_becomes_null),
         TAP_CASE(strings_are_escaped_onto_one_line), TAP_CASE(invalid_utf8_is_escaped),
         TAP_CASE(damaged_text_is_refused_with_its_place), TAP_CASE(nesting_is_limited_to_256),
         TAP_CASE(getters_fall_back_on_what_is_not_there), TAP_CASE(objects_are_walked_in_order),
         TAP_CASE(merging_copies_and_replaces), TAP_CASE(equality_is_by_content),
         TAP_CASE(a_shared_value_lives_until_its_last_owner), TAP_CASE(what_could_not_be_stored_fails_the_dump),
         TAP_CASE(setting_in_the_wrong_kind_is_a_mistake), TAP_CASE(files_are_written_whole_and_read_back),
         TAP_CASE(every_lack_of_memory_is_noticed), TAP_CASE(lack_of_memory_while_parsing_is_not_a_damaged_file))
