#include "job/ini.h"

#include "base/files/fs.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/rng.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ys_status parse(const char *text, struct ys_ini *ini)
{
    return ys_ini_parse("t.ini", text, strlen(text), NULL, ini);
}

#define CHECK_REFUSED(text, message)                                                                                   \
    do {                                                                                                               \
        struct ys_ini ini_;                                                                                            \
        CHECK_INT(parse(text, &ini_), YS_EINVAL);                                                                      \
        CHECK_TEXT(ys_error(), message);                                                                               \
    } while (0)

static void entries_have_section_key_value_and_place(void)
{
    struct ys_ini ini;
    REQUIRE(parse("first = 1\n[a]\n\n  key.x-y_2 =  two words  \n[b : a]\nlast=3", &ini) == YS_OK);
    CHECK_INT(ini.section_count, 3);
    CHECK_TEXT(ini.sections[0].name, "");
    CHECK_TEXT(ini.sections[1].name, "a");
    CHECK(ini.sections[1].parent == NULL);
    CHECK_TEXT(ini.sections[2].name, "b");
    CHECK_TEXT(ini.sections[2].parent, "a");
    CHECK_INT(ini.sections[2].parent_place.column, 6);
    REQUIRE(ini.entry_count == 3);
    CHECK_INT(ini.entries[0].section, 0);
    CHECK_TEXT(ini.entries[1].key, "key.x-y_2");
    CHECK_TEXT(ini.entries[1].value, "two words");
    CHECK_TEXT(ini.entries[1].place.file, "t.ini");
    CHECK_INT(ini.entries[1].place.line, 4);
    CHECK_INT(ini.entries[1].place.column, 3);
    CHECK_INT(ini.entries[1].value_place.column, 16);
    CHECK_INT(ini.entries[2].section, 2);
    CHECK_TEXT(ini.entries[2].value, "3");
    ys_ini_fini(&ini);
}

static void comments_begin_a_line_or_follow_a_blank(void)
{
    struct ys_ini ini;
    REQUIRE(parse("; one\n  # two\na = 1 ; x\nb = 2# 3;4\t#y\n[s] # z\n", &ini) == YS_OK);
    REQUIRE(ini.entry_count == 2);
    CHECK_TEXT(ini.entries[0].value, "1");
    CHECK_TEXT(ini.entries[1].value, "2# 3;4");
    CHECK_TEXT(ini.sections[1].name, "s");
    ys_ini_fini(&ini);
}

static void quotes_keep_blanks_comments_and_nothing(void)
{
    struct ys_ini ini;
    REQUIRE(parse("a = \" x ; y \" ; z\nb = \"\"\nc = \"\\\"\\\\\\n\"\nd = say \"a # b\" c\n", &ini) == YS_OK);
    REQUIRE(ini.entry_count == 4);
    CHECK_TEXT(ini.entries[0].value, " x ; y ");
    CHECK(ini.entries[0].quoted);
    CHECK_TEXT(ini.entries[1].value, "");
    CHECK_TEXT(ini.entries[2].value, "\"\\\\n"); /* only \" and \\ are escapes */
    CHECK_TEXT(ini.entries[3].value, "say \"a # b\" c");
    CHECK(!ini.entries[3].quoted);
    ys_ini_fini(&ini);
    CHECK_REFUSED("a = \"open", "t.ini:1:5: this quote is never closed: add a \" at the end of the text");
    CHECK_REFUSED("a = \"x\" y", "t.ini:1:5: \" y\" follows the closing quote: put all of the text inside the quotes");
}

static void byte_order_mark_and_carriage_returns_are_accepted(void)
{
    struct ys_ini ini;
    REQUIRE(parse("\xEF\xBB\xBF"
                  "a = 1\r\n[s]\r\nb = 2\r\n",
                  &ini) == YS_OK);
    CHECK_INT(ini.entry_count, 2);
    CHECK_TEXT(ini.entries[0].value, "1");
    CHECK_INT(ini.entries[0].place.column, 1);
    CHECK_TEXT(ini.sections[1].name, "s");
    CHECK_TEXT(ys_buf_text(&ini.text), "a = 1\n[s]\nb = 2\n");
    ys_ini_fini(&ini);
}

static void binary_files_are_refused_where_they_stop_being_text(void)
{
    struct ys_ini ini;
    CHECK_INT(ys_ini_parse("t.ini", "a = 1\nb\0 = 2", 12, NULL, &ini), YS_EINVAL);
    CHECK_TEXT(ys_error(), "t.ini:2:2: control character 0x00: only text, blanks and tabs may stand here");
    CHECK_REFUSED("a = \xC3\xA4\xFF", "t.ini:1:6: byte 0xff is not UTF-8 text: save the file as UTF-8");
    CHECK_REFUSED("a = \xC0\x80", "t.ini:1:5: byte 0xc0 is not UTF-8 text: save the file as UTF-8");
    CHECK_REFUSED("a = \xED\xA0\x80", "t.ini:1:5: byte 0xed is not UTF-8 text: save the file as UTF-8");
    CHECK_REFUSED("a = 1\rb = 2", "t.ini:1:6: control character 0x0d: only text, blanks and tabs may stand here");
}

static void columns_count_characters(void)
{
    CHECK_REFUSED("\xC3\xA4\xE2\x82\xAC = 1",
                  "t.ini:1:1: \"\xC3\xA4\xE2\x82\xAC\" is no key: write key = value, the key in "
                  "letters, digits, _ - and .");
    CHECK_REFUSED("a = \xC3\xA4\xE2\x82\xAC\x01",
                  "t.ini:1:7: control character 0x01: only text, blanks and tabs may stand here");
}

static void an_empty_text_has_no_entries(void)
{
    struct ys_ini ini;
    REQUIRE(parse("", &ini) == YS_OK);
    CHECK_INT(ini.entry_count, 0);
    CHECK_INT(ini.section_count, 1);
    ys_ini_fini(&ini);
}

static void very_long_lines_and_files_are_refused(void)
{
    struct ys_ini ini;
    size_t size = (size_t)70 << 10;
    char *text = ys_alloc(size, 1);
    REQUIRE(text != NULL);
    memset(text, 'a', size);
    memcpy(text, "x = 1\nkey = ", 12);
    CHECK_INT(ys_ini_parse("t.ini", text, size, NULL, &ini), YS_EINVAL);
    CHECK_TEXT(ys_error(), "t.ini:2:1: the line is 71674 bytes long: at most 65536 are allowed");
    /* 6 bytes fewer than the limit are left for a line that is just allowed */
    CHECK_INT(ys_ini_parse("t.ini", text + 6, 65536, NULL, &ini), YS_OK);
    CHECK_INT(strlen(ini.entries[0].value), 65536 - 6);
    ys_ini_fini(&ini);
    ys_free(text);
}

static void malformed_lines_are_refused_with_their_place(void)
{
    CHECK_REFUSED("a = 1\n  what is this", "t.ini:2:3: \"what is this\" is neither [section] nor key = value");
    CHECK_REFUSED("a =", "t.ini:1:1: a has no value: write a = value, or \"\" for empty text");
    CHECK_REFUSED("a = ; 1", "t.ini:1:1: a has no value: write a = value, or \"\" for empty text");
    CHECK_REFUSED("= 1", "t.ini:1:1: \"\" is no key: write key = value, the key in letters, digits, _ - and .");
    CHECK_REFUSED("a b = 1", "t.ini:1:1: \"a b\" is no key: write key = value, the key in letters, digits, _ - and .");
    CHECK_REFUSED("[a", "t.ini:1:1: \"[a\" has no closing bracket: write [name] or [name : parent]");
    CHECK_REFUSED("[]", "t.ini:1:1: \"\" is no section name: use letters, digits, _ - and .");
    CHECK_REFUSED("[a : ]", "t.ini:1:6: \"\" is no section name: use letters, digits, _ - and .");
    CHECK_REFUSED("[a b]", "t.ini:1:1: \"a b\" is no section name: use letters, digits, _ - and .");
}

static void a_key_twice_in_one_section_names_both_lines(void)
{
    struct ys_ini ini;
    REQUIRE(parse("a = 1\n[s]\na = 2\nb = 1\n\na = 3\nb = 2", &ini) == YS_OK);
    CHECK_INT(ys_ini_check_unique(&ini, NULL), YS_EINVAL);
    CHECK_TEXT(ys_error(), "t.ini:6:1: a is given twice here, first in t.ini line 3: keep one of them");
    ys_ini_fini(&ini);
    REQUIRE(parse("a = 1\na = 2", &ini) == YS_OK);
    CHECK_INT(ys_ini_check_unique(&ini, "a"), YS_OK);
    ys_ini_fini(&ini);
}

/* A folder of files for one case. */
static char folder[64];

static bool make_folder(void)
{
    strcpy(folder, "/tmp/ys-ini-XXXXXX");
    return mkdtemp(folder) != NULL;
}

static void write_file(const char *name, const char *text)
{
    char *path = ys_path_join(folder, name);
    CHECK(ys_fs_write(path, text, strlen(text)) == YS_OK);
    ys_free(path);
}

static ys_status read_file(const char *name, struct ys_ini *ini)
{
    char *path = ys_path_join(folder, name);
    ys_status status = ys_ini_read(path, ini);
    ys_free(path);
    return status;
}

static void remove_folder(void)
{
    CHECK(ys_fs_remove_tree(folder) == YS_OK);
}

static void included_lines_stand_where_the_include_stands(void)
{
    struct ys_ini ini;
    char path[128];
    REQUIRE(make_folder());
    snprintf(path, sizeof path, "%s/sub", folder);
    CHECK(ys_fs_make_dirs(path) == YS_OK);
    write_file("top.ini", "a = 1\ninclude = sub/mid.ini\n[s]\nd = 4\n");
    write_file("sub/mid.ini", "b = 2\ninclude = low.ini");
    write_file("sub/low.ini", "[r]\nc = 3\n");
    REQUIRE(read_file("top.ini", &ini) == YS_OK);
    REQUIRE(ini.entry_count == 4);
    CHECK_TEXT(ini.entries[1].key, "b");
    CHECK_INT(ini.entries[1].section, 0);
    CHECK_TEXT(ini.entries[2].key, "c");
    CHECK_TEXT(ini.sections[ini.entries[2].section].name, "r");
    snprintf(path, sizeof path, "%s/sub/low.ini", folder);
    CHECK_TEXT(ini.entries[2].place.file, path);
    CHECK_INT(ini.entries[2].place.line, 2);
    CHECK_INT(ini.entries[3].place.line, 4);
    struct ys_ini again;
    REQUIRE(ys_ini_parse("again", ini.text.data, ini.text.size, NULL, &again) == YS_OK);
    CHECK_INT(again.entry_count, 4);
    CHECK_TEXT(again.entries[2].value, "3");
    ys_ini_fini(&again);
    ys_ini_fini(&ini);
    remove_folder();
}

static void a_key_after_an_include_that_opened_a_section_is_refused(void)
{
    struct ys_ini ini;
    char message[256];
    REQUIRE(make_folder());
    write_file("top.ini", "a = 1\ninclude = low.ini\nb = 2\n");
    write_file("low.ini", "[r]\nc = 3\n");
    CHECK_INT(read_file("top.ini", &ini), YS_EINVAL);
    snprintf(message, sizeof message,
             "%s/top.ini:3:1: b would belong to [r] of %s/low.ini: put it before the include, or under a section "
             "header of its own",
             folder, folder);
    CHECK_TEXT(ys_error(), message);
    write_file("top.ini", "include = low.ini\ninclude = key.ini\n");
    write_file("key.ini", "b = 2\n");
    CHECK_INT(read_file("top.ini", &ini), YS_EINVAL);
    CHECK_HAS(ys_error(), "key.ini:1:1: b would belong to [r]");
    remove_folder();
}

static void include_circles_are_refused_with_the_chain(void)
{
    struct ys_ini ini;
    char message[512];
    REQUIRE(make_folder());
    write_file("a.ini", "include = b.ini\n");
    write_file("b.ini", "\n include = ./a.ini\n");
    CHECK_INT(read_file("a.ini", &ini), YS_EINVAL);
    snprintf(message, sizeof message,
             "%s/b.ini:2:12: files include each other in a circle: %s/a.ini -> %s/b.ini -> %s/./a.ini", folder, folder,
             folder, folder);
    CHECK_TEXT(ys_error(), message);
    write_file("self.ini", "include = self.ini\n");
    CHECK_INT(read_file("self.ini", &ini), YS_EINVAL);
    CHECK_HAS(ys_error(), "self.ini:1:11: files include each other in a circle");
    remove_folder();
}

static void includes_deeper_than_16_are_refused(void)
{
    struct ys_ini ini;
    REQUIRE(make_folder());
    for (int i = 1; i <= 17; i++) {
        char name[16], text[32];
        snprintf(name, sizeof name, "%d", i);
        snprintf(text, sizeof text, i == 17 ? "a = 1\n" : "include = %d\n", i + 1);
        write_file(name, text);
    }
    CHECK_INT(read_file("2", &ini), YS_OK);
    CHECK_INT(ini.entry_count, 1);
    ys_ini_fini(&ini);
    CHECK_INT(read_file("1", &ini), YS_EINVAL);
    CHECK_HAS(ys_error(), "/16:1:11: files are included more than 16 deep: ");
    CHECK_HAS(ys_error(), "/1 -> ");
    CHECK_HAS(ys_error(), "/16 -> ");
    remove_folder();
}

static void missing_files_are_named(void)
{
    struct ys_ini ini;
    REQUIRE(make_folder());
    CHECK_INT(read_file("none.ini", &ini), YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "none.ini");
    write_file("top.ini", "include = none.ini\n");
    CHECK_INT(read_file("top.ini", &ini), YS_EINVAL);
    CHECK_HAS(ys_error(), "top.ini:1:11: ");
    CHECK_HAS(ys_error(), "none.ini");
    remove_folder();
    CHECK_REFUSED("include = x", "t.ini:1:1: include = x: files cannot be included here");
}

static void an_included_empty_file_is_named(void)
{
    struct ys_ini ini;
    REQUIRE(make_folder());
    write_file("top.ini", "include = low.ini\n");
    write_file("low.ini", "");
    CHECK_INT(read_file("top.ini", &ini), YS_EINVAL);
    CHECK_HAS(ys_error(), "low.ini:1:1: the file is empty");
    remove_folder();
}

static void including_a_file_very_often_is_refused(void)
{
    struct ys_ini ini;
    REQUIRE(make_folder());
    struct ys_buf text = {0};
    for (int i = 0; i < 1000; i++)
        ys_buf_puts(&text, "include = low.ini\n");
    write_file("top.ini", ys_buf_text(&text));
    ys_buf_clear(&text);
    for (int i = 0; i < 1000; i++)
        ys_buf_puts(&text, "; a line of a comment\n");
    write_file("low.ini", ys_buf_text(&text));
    ys_buf_free(&text);
    CHECK_INT(read_file("top.ini", &ini), YS_EINVAL);
    CHECK_HAS(ys_error(), "low.ini:1:1: with this file more than 4 MiB are included: that is no study");
    remove_folder();
}

/* Texts of what the dialect has a meaning for, each written as a value and read again. */
static void what_is_put_as_a_value_is_read_again(void)
{
    static const char pieces[] = "a 1;#\"\\{},zip(\t=[]";
    struct ys_rng rng;
    const uint64_t seed = 20261124;
    ys_rng_init(&rng, seed, "values");
    for (int i = 0; i < 5000; i++) {
        struct ys_buf line = {0};
        struct ys_ini ini;
        char text[9] = "";
        const size_t length = (size_t)ys_rng_below(&rng, sizeof text);
        for (size_t k = 0; k < length; k++)
            text[k] = pieces[ys_rng_below(&rng, sizeof pieces - 1)];
        ys_buf_puts(&line, "key = ");
        ys_ini_put_value(&line, text);
        ys_buf_puts(&line, " ; a comment\n");
        tap_check(parse(ys_buf_text(&line), &ini) == YS_OK, __LINE__, "seed %llu: %s: %s", (unsigned long long)seed,
                  ys_buf_text(&line), ys_error());
        REQUIRE(ini.entry_count == 1);
        CHECK_TEXT(ini.entries[0].value, text);
        CHECK(ini.entries[0].quoted || text[0] != '{');
        ys_ini_fini(&ini);
        ys_buf_free(&line);
    }
}

TAP_MAIN(TAP_CASE(entries_have_section_key_value_and_place), TAP_CASE(comments_begin_a_line_or_follow_a_blank),
         TAP_CASE(quotes_keep_blanks_comments_and_nothing), TAP_CASE(byte_order_mark_and_carriage_returns_are_accepted),
         TAP_CASE(binary_files_are_refused_where_they_stop_being_text), TAP_CASE(columns_count_characters),
         TAP_CASE(an_empty_text_has_no_entries), TAP_CASE(very_long_lines_and_files_are_refused),
         TAP_CASE(malformed_lines_are_refused_with_their_place), TAP_CASE(a_key_twice_in_one_section_names_both_lines),
         TAP_CASE(included_lines_stand_where_the_include_stands),
         TAP_CASE(a_key_after_an_include_that_opened_a_section_is_refused),
         TAP_CASE(include_circles_are_refused_with_the_chain), TAP_CASE(includes_deeper_than_16_are_refused),
         TAP_CASE(missing_files_are_named), TAP_CASE(an_included_empty_file_is_named),
         TAP_CASE(including_a_file_very_often_is_refused), TAP_CASE(what_is_put_as_a_value_is_read_again))
