/* Records: there and back, what null means of each kind, what is refused, and want of memory. */
#include "base/json/record.h"
#include "base/json/record_schema.h"
#include "base/mem.h"

#include "tap.h"
#include <math.h>
#include <string.h>

enum colour { RED, GREEN };
static const char *const colour_words[] = {[RED] = "red", [GREEN] = "green"};
static const struct ys_names colours = YS_NAMES("colour", colour_words);

struct leaf {
    int64_t size;
    char *note;
};
static const struct ys_field leaf_fields[] = {
    YS_FIELD(struct leaf, size, YS_FIELD_INT, "cm", 0, "its length"),
    YS_FIELD(struct leaf, note, YS_FIELD_TEXT, NULL, YS_FIELD_NULL | YS_FIELD_MAY_LACK, "what is worth knowing of it"),
};
static const struct ys_record leaf_record = YS_RECORD("leaf", struct leaf, leaf_fields);

struct tree {
    bool evergreen;
    int blooms;
    int64_t age;
    uint64_t felled_ns;
    double height;
    char *name;
    int colour, bark;
    ys_json *word;
    struct leaf top;
    struct leaf *lowest;
    struct ys_list leaves, names, rings, widths;
};
static const struct ys_field tree_fields[] = {
    YS_FIELD(struct tree, evergreen, YS_FIELD_FLAG, NULL, 0, ""),
    YS_FIELD(struct tree, blooms, YS_FIELD_TRUTH, NULL, YS_FIELD_NULL | YS_FIELD_MAY_LACK, ""),
    YS_FIELD(struct tree, age, YS_FIELD_INT, "a", YS_FIELD_NULL, ""),
    YS_FIELD(struct tree, felled_ns, YS_FIELD_TIME, "ns", 0, ""),
    YS_FIELD(struct tree, height, YS_FIELD_REAL, "m", YS_FIELD_NULL, ""),
    YS_FIELD(struct tree, name, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, ""),
    YS_FIELD_NAMED(struct tree, colour, &colours, YS_FIELD_NULL, ""),
    YS_FIELD_NAMED(struct tree, bark, &colours, YS_FIELD_NULL | YS_FIELD_MAY_LACK | YS_FIELD_OTHER, ""),
    YS_FIELD(struct tree, word, YS_FIELD_JSON, NULL, YS_FIELD_NULL, ""),
    YS_FIELD_OF(struct tree, top, YS_FIELD_OBJECT, &leaf_record, 0, ""),
    YS_FIELD_OF(struct tree, lowest, YS_FIELD_OBJECT_OWNED, &leaf_record, YS_FIELD_NULL, ""),
    YS_FIELD_OF(struct tree, leaves, YS_FIELD_LIST, &leaf_record, 0, ""),
    YS_FIELD(struct tree, names, YS_FIELD_TEXTS, NULL, YS_FIELD_MAY_LACK, ""),
    YS_FIELD(struct tree, rings, YS_FIELD_INTS, "mm", YS_FIELD_NULL, ""),
    YS_FIELD(struct tree, widths, YS_FIELD_REALS, "mm", YS_FIELD_NULL | YS_FIELD_EMPTY, ""),
};
static const struct ys_record tree_record = YS_RECORD("tree", struct tree, tree_fields);

static const char full[] = "{\"evergreen\":true,\"blooms\":false,\"age\":7,\"felled_ns\":5,\"height\":2.5,\"name\":"
                           "\"fir\",\"colour\":\"green\","
                           "\"word\":{\"x\":[1]},\"top\":{\"size\":3,\"note\":\"high\"},\"lowest\":{\"size\":4},"
                           "\"leaves\":[{\"size\":1},{\"size\":2,\"note\":\"small\"}],\"names\":[\"a\",\"b\"],"
                           "\"rings\":[1,-2],\"widths\":[0.5,null]}";
static const char empty[] = "{\"evergreen\":false,\"age\":null,\"felled_ns\":null,\"height\":null,\"name\":null,"
                            "\"colour\":null,\"word\":null,\"top\":{\"size\":0},\"lowest\":null,\"leaves\":[],"
                            "\"rings\":[],\"widths\":null}";

static ys_json *parsed(const char *text)
{
    ys_json *value = NULL;
    CHECK(ys_json_parse(text, strlen(text), "the test", &value) == YS_OK);
    return value;
}

static void returns_as_it_came(const char *text)
{
    struct tree tree, twin;
    ys_json *value = parsed(text);
    CHECK(ys_record_read(&tree_record, value, "the test", &tree) == YS_OK);
    CHECK(ys_record_copy(&tree_record, &tree, &twin) == YS_OK);
    ys_record_fini(&tree_record, &tree);
    ys_json *back = ys_record_json(&tree_record, &twin);
    char *said = ys_json_dump(back, YS_JSON_COMPACT);
    CHECK_TEXT(said, text);
    ys_free(said);
    ys_json_free(back);
    ys_json_free(value);
    ys_record_fini(&tree_record, &twin);
}

static void a_record_comes_back_as_it_went(void)
{
    returns_as_it_came(full);
    returns_as_it_came(empty);
}

static void members_hold_what_was_read(void)
{
    struct tree tree;
    ys_json *value = parsed(full);
    CHECK(ys_record_read(&tree_record, value, "the test", &tree) == YS_OK);
    ys_json_free(value);
    CHECK(tree.evergreen && tree.blooms == 0 && tree.age == 7 && tree.felled_ns == 5 && tree.height == 2.5 &&
          tree.colour == GREEN);
    CHECK(tree.top.size == 3 && tree.lowest->size == 4 && tree.leaves.count == 2);
    CHECK_TEXT(((struct leaf *)tree.leaves.items)[1].note, "small");
    CHECK(((int64_t *)tree.rings.items)[1] == -2 && isnan(((double *)tree.widths.items)[1]));
    ys_record_fini(&tree_record, &tree);
    CHECK(tree.age == YS_FIELD_NONE && tree.blooms == YS_NAME_NONE && isnan(tree.height) &&
          tree.colour == YS_NAME_NONE && !tree.name);
}

static void what_is_not_as_the_table_says_is_refused(void)
{
    static const struct {
        const char *from, *to, *error;
    } known[] = {
        {"\"age\":7", "\"age\":7.5", "the test: tree.age is a number: must be a whole number"},
        {"\"age\":7,", "", "the test: tree.age is missing: must be a number"},
        {"\"felled_ns\":5", "\"felled_ns\":-5",
         "the test: tree.felled_ns is a number: must be a whole number, not below 0"},
        {"\"evergreen\":true", "\"evergreen\":null", "the test: tree.evergreen is null: must be true or false"},
        {"\"blooms\":false", "\"blooms\":0", "the test: tree.blooms is a number: must be true or false"},
        {"\"colour\":\"green\"", "\"colour\":\"blue\"", "the test: tree.colour is \"blue\": no colour of this version"},
        {"\"size\":2", "\"size\":\"2\"", "the test: leaf.size is a text: must be a number"},
        {"\"size\":4", "\"size\":[]", "the test: leaf.size is an array: must be a number"},
        {"[\"a\",\"b\"]", "[\"a\",1]", "the test: tree.names is a number: must be a text"},
        {"[1,-2]", "[1,0.5]", "the test: tree.rings is a number: must be an array of whole numbers"},
        {"[0.5,null]", "[0.5,true]", "the test: tree.widths is a truth value: must be an array of numbers"},
        {"\"name\":\"fir\"", "\"name\":1", "the test: tree.name is a number: must be a text"},
        {"{\"x\":[1]},\"top\":{\"size\":3,\"note\":\"high\"}", "0,\"top\":1", "the test: leaf is no object"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char text[sizeof full + 64];
        const char *at = strstr(full, known[i].from);
        struct tree tree;
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - full), full, known[i].to, at + strlen(known[i].from));
        ys_json *value = parsed(text);
        CHECK(ys_record_read(&tree_record, value, "the test", &tree) == YS_EFORMAT);
        CHECK_TEXT(ys_error(), known[i].error);
        CHECK(!tree.name && !tree.lowest && tree.leaves.count == 0);
        ys_json_free(value);
    }
}

static void a_word_that_no_name_is_becomes_null_where_the_table_says_so(void)
{
    static const char *const words[] = {"red", "green", "rough"};
    static const int places[] = {RED, GREEN, YS_NAME_NONE};
    const char *at = strstr(full, "\"word\"");
    for (size_t i = 0; i < 3; i++) {
        char text[sizeof full + 64];
        struct tree tree, twin;
        snprintf(text, sizeof text, "%.*s\"bark\":\"%s\",%s", (int)(at - full), full, words[i], at);
        ys_json *value = parsed(text);
        CHECK(ys_record_read(&tree_record, value, "the test", &tree) == YS_OK && tree.bark == places[i]);
        CHECK(ys_record_parse(&tree_record, text, strlen(text), "the test", &twin) == YS_OK && twin.bark == places[i]);
        ys_json_free(value);
        ys_record_fini(&tree_record, &tree);
        ys_record_fini(&tree_record, &twin);
    }
}

struct herb {
    int64_t height;
    struct leaf top;
    double width;
};
static const struct ys_field herb_fields[] = {
    YS_FIELD(struct herb, height, YS_FIELD_INT, "m", YS_FIELD_NULL | YS_FIELD_LATER, ""),
    YS_FIELD_OF(struct herb, top, YS_FIELD_OBJECT, &leaf_record, YS_FIELD_LATER, ""),
    YS_FIELD(struct herb, width, YS_FIELD_REAL, "m", YS_FIELD_NULL, ""),
};
static const struct ys_record herb_record = YS_RECORD("herb", struct herb, herb_fields);

static void what_came_later_may_be_absent_and_is_written(void)
{
    struct herb herb;
    ys_json *value = parsed("{\"width\":2}"), *back = NULL;
    CHECK(ys_record_read(&herb_record, value, "the test", &herb) == YS_OK);
    CHECK(herb.height == YS_FIELD_NONE && herb.top.size == 0 && herb.width == 2);
    back = ys_record_json(&herb_record, &herb);
    char *said = ys_json_dump(back, YS_JSON_COMPACT);
    CHECK_TEXT(said, "{\"height\":null,\"top\":{\"size\":0},\"width\":2.0}");
    ys_free(said);
    ys_json_free(back);
    ys_json_free(value);
    ys_record_fini(&herb_record, &herb);
}

static void members_of_a_newer_version_are_passed_over(void)
{
    struct leaf leaf;
    ys_json *value = parsed("{\"size\":3,\"veins\":[1]}");
    CHECK(ys_record_read(&leaf_record, value, "the test", &leaf) == YS_OK && leaf.size == 3);
    ys_json_free(value);
    ys_record_fini(&leaf_record, &leaf);
}

/* As JSON, or the error. */
static char *told(ys_status status, struct tree *tree)
{
    if (status != YS_OK)
        return ys_strdup(ys_error());
    ys_json *back = ys_record_json(&tree_record, tree);
    char *said = ys_json_dump(back, YS_JSON_COMPACT);
    ys_json_free(back);
    ys_record_fini(&tree_record, tree);
    return said;
}

static void parsing_text_is_reading_what_it_holds(const char *text)
{
    struct tree tree, twin;
    ys_json *value = NULL;
    ys_status status = ys_json_parse(text, strlen(text), "the test", &value);
    if (status == YS_OK)
        status = ys_record_read(&tree_record, value, "the test", &tree);
    char *expected = told(status, &tree);
    ys_status parsed_status = ys_record_parse(&tree_record, text, strlen(text), "the test", &twin);
    char *found = told(parsed_status, &twin);
    CHECK_INT(parsed_status, status);
    CHECK_TEXT(found, expected);
    ys_free(expected);
    ys_free(found);
    ys_json_free(value);
}

/* `full` with its `from` replaced. */
static void parsing_is_reading_with(const char *from, const char *to)
{
    char text[sizeof full + 400];
    const char *at = strstr(full, from);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - full), full, to, at + strlen(from));
    parsing_text_is_reading_what_it_holds(text);
}

static void text_is_read_as_its_json_is(void)
{
    static const char *const ages[] = {"0",
                                       "-0",
                                       "12345678901234567",
                                       "123456789012345678",
                                       "9223372036854775807",
                                       "9223372036854775808",
                                       "-5",
                                       "7.0",
                                       "7e2",
                                       "-",
                                       "01",
                                       "0x7",
                                       "\"7\"",
                                       "true",
                                       "-9223372036854775808",
                                       "nul",
                                       "[]",
                                       "{}"};
    static const char *const heights[] = {"0.1",
                                          "-0.0",
                                          "-0",
                                          "2.5e-3",
                                          "0.00123",
                                          "123456789.012345",
                                          "1e400",
                                          "1e-400",
                                          "1.",
                                          ".5",
                                          "5",
                                          "1E5",
                                          "0.10000000000000001",
                                          "4.7229999999999885e-05",
                                          "99999999999999.9",
                                          "-12345678901234567",
                                          "1234567890123456789012",
                                          "-0.0000000000000000001",
                                          "-0e0",
                                          "0.1000000000000000055511151231257827021181583404541015625000000000000",
                                          "1.e5",
                                          "--1",
                                          "NaN"};
    static const char *const names[] = {
        "\"\"",    "\"a\\\"b\"", "\"\\u00e4\"", "\"\xC3\xA4\"", "\"\xC3\"",  "\"a\tb\"", "\"open",
        "\"\\q\"", "null",       "nullx",       "\"\\u0000\"",  "\"a\\\\\"", "7"};
    static const char *const more[] = {"true,\"new\":{\"a\":[1,{},[]],\"b\":\"\\u00e4\",\"c\":-1.5e+3}",
                                       "true , \"new\" : [ ] ",
                                       "true,\"new\":\"\xFF\"",
                                       "true,\"new\":[1,]",
                                       "true,\"new\":{1:2}",
                                       "true,\"evergreen\":false",
                                       "true,\"gr\\u00fcn\":1",
                                       "false",
                                       "truth",
                                       "\ttrue\n",
                                       "true,"};
    static const char *const rings[] = {"[ 10 ,\t-20, 3 ]",
                                        "[]",
                                        "[ ]",
                                        "[1,]",
                                        "[,1]",
                                        "[1 2]",
                                        "[1,-2",
                                        "1,-2]",
                                        "[[1],-2]",
                                        "[1,12345678901234567890]",
                                        "[-9223372036854775808,9223372036854775807]",
                                        "[1,2.0]",
                                        "[1,null]",
                                        "null",
                                        "[\"1,2\",3]",
                                        "{}"};
    for (size_t i = 0; i < sizeof rings / sizeof rings[0]; i++)
        parsing_is_reading_with("[1,-2]", rings[i]);
    for (size_t i = 0; i < sizeof ages / sizeof ages[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "\"age\":%s", ages[i]);
        parsing_is_reading_with("\"age\":7", text);
        snprintf(text, sizeof text, "\"felled_ns\":%s", ages[i]);
        parsing_is_reading_with("\"felled_ns\":5", text);
    }
    for (size_t i = 0; i < sizeof heights / sizeof heights[0]; i++)
        parsing_is_reading_with("2.5", heights[i]);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        parsing_is_reading_with("\"fir\"", names[i]);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        parsing_is_reading_with("true", more[i]);
    parsing_text_is_reading_what_it_holds(empty);
    for (size_t size = 0; size < strlen(full); size++) { /* a text that was cut off */
        char text[sizeof full];
        snprintf(text, sizeof text, "%.*s", (int)size, full);
        parsing_text_is_reading_what_it_holds(text);
        snprintf(text, sizeof text, "%.*s%s", (int)size, full, full + size + 1);
        parsing_text_is_reading_what_it_holds(text);
    }
}

struct part {
    const char *name;
};
struct glimpse {
    bool green;
    int blooms, colour;
    int64_t age;
    double height;
    const char *name;
    const ys_json *word;
    struct part part;
};
static const struct ys_field part_fields[] = {YS_FIELD(struct part, name, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, "")};
static const struct ys_record part_record = YS_RECORD("part", struct part, part_fields);
static const struct ys_field glimpse_fields[] = {
    YS_FIELD(struct glimpse, green, YS_FIELD_FLAG, NULL, 0, ""),
    YS_FIELD(struct glimpse, blooms, YS_FIELD_TRUTH, NULL, YS_FIELD_NULL, ""),
    YS_FIELD_NAMED(struct glimpse, colour, &colours, YS_FIELD_NULL, ""),
    YS_FIELD(struct glimpse, age, YS_FIELD_INT, "a", YS_FIELD_NULL, ""),
    YS_FIELD(struct glimpse, height, YS_FIELD_REAL, "m", YS_FIELD_NULL, ""),
    YS_FIELD(struct glimpse, name, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, ""),
    YS_FIELD(struct glimpse, word, YS_FIELD_JSON, NULL, YS_FIELD_NULL, ""),
    YS_FIELD_OF(struct glimpse, part, YS_FIELD_OBJECT, &part_record, 0, ""),
};
static const struct ys_record glimpse_record = YS_RECORD("glimpse", struct glimpse, glimpse_fields);

static void a_glance_takes_what_is_there_and_of_its_kind(void)
{
    struct glimpse seen;
    ys_json *value = parsed("{\"green\":true,\"blooms\":false,\"colour\":\"green\",\"age\":7,\"height\":2,\"name\":"
                            "\"fir\",\"word\":[1],\"part\":{\"name\":\"top\"}}");
    ys_record_glance(&glimpse_record, value, &seen);
    CHECK(seen.blooms == 0 && seen.colour == GREEN);
    CHECK(seen.green && seen.age == 7 && seen.height == 2 && seen.word == ys_json_get(value, "word"));
    CHECK(seen.name == ys_json_get_text(value, "name", NULL));
    CHECK_TEXT(seen.part.name, "top");
    ys_json_free(value);
    static const char *const others[] = {
        "{}", "[]", "7", "null",
        "{\"green\":1,\"blooms\":0,\"colour\":\"blue\",\"age\":\"7\",\"height\":null,\"name\":{},\"part\":3}"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        value = parsed(others[i]);
        ys_record_glance(&glimpse_record, value, &seen);
        CHECK(!seen.green && seen.blooms == YS_NAME_NONE && seen.colour == YS_NAME_NONE && seen.age == YS_FIELD_NONE &&
              isnan(seen.height) && !seen.name && !seen.word && !seen.part.name);
        ys_json_free(value);
    }
}

static void want_of_memory_loses_nothing(void)
{
    ys_json *value = parsed(full);
    int failed = 0;
    for (int n = 1; n < 200; n++) {
        struct tree tree;
        ys_mem_fail_at(n);
        ys_status status = ys_record_read(&tree_record, value, "the test", &tree);
        ys_json *back = status == YS_OK ? ys_record_json(&tree_record, &tree) : NULL;
        ys_mem_fail_at(0);
        failed += status == YS_ENOMEM || !back;
        CHECK(status == YS_OK || status == YS_ENOMEM);
        ys_json_free(back);
        ys_record_fini(&tree_record, &tree);
        ys_mem_fail_at(n);
        status = ys_record_parse(&tree_record, full, strlen(full), "the test", &tree);
        ys_mem_fail_at(0);
        CHECK(status == YS_OK || status == YS_ENOMEM);
        ys_record_fini(&tree_record, &tree);
    }
    CHECK(failed > 30 && failed < 199);
    ys_json_free(value);
}

static void lists_grow_and_are_told(void)
{
    struct ys_list leaves = {0}, names = {0};
    struct leaf *leaf = ys_list_add(&leaf_record, &leaves);
    REQUIRE(leaf && leaf->note == NULL);
    leaf->size = 4;
    leaf->note = ys_strdup("low");
    REQUIRE(ys_list_add(&leaf_record, &leaves) != NULL);
    ys_json *array = ys_list_json(&leaf_record, &leaves);
    char *text = ys_json_dump(array, YS_JSON_COMPACT);
    CHECK_TEXT(text, "[{\"size\":4,\"note\":\"low\"},{\"size\":0}]");
    ys_free(text);
    ys_json_free(array);
    ys_list_fini(&leaf_record, &leaves);
    CHECK(!leaves.items && leaves.count == 0);
    CHECK_INT(ys_list_add_text(&names, "a"), YS_OK);
    for (int n = 1; n <= 2; n++) { /* room, then the copy */
        ys_mem_fail_at(n);
        CHECK_INT(ys_list_add_text(&names, "b"), YS_ENOMEM);
        ys_mem_fail_at(0);
    }
    CHECK_INT(ys_list_add_text(&names, "c"), YS_OK);
    CHECK(names.count == 2 && strcmp(((char **)names.items)[1], "c") == 0);
    for (size_t i = 0; i < names.count; i++)
        ys_free(((char **)names.items)[i]);
    ys_free(names.items);
}

/* Types, null where it is a value that is written, words, what is inside, and what is always there. */
static void a_table_prints_its_schema(void)
{
    static const char *const members[][2] = {
        {"evergreen", "{\"type\":\"boolean\"}"},
        {"blooms", "{\"type\":\"boolean\"}"},
        {"age", "{\"type\":[\"integer\",\"null\"]}"},
        {"felled_ns", "{\"type\":[\"integer\",\"null\"]}"},
    };
    ys_json *schema = ys_record_schema(&tree_record);
    const ys_json *properties = ys_json_get(schema, "properties"), *required = ys_json_get(schema, "required");
    CHECK_INT(ys_json_size(properties), tree_record.count);
    CHECK(ys_json_lists(required, "age") && !ys_json_lists(required, "blooms"));
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        char *text = ys_json_dump(ys_json_get(properties, members[i][0]), YS_JSON_COMPACT);
        CHECK_TEXT(text, members[i][1]);
        ys_free(text);
    }
    const ys_json *leaves = ys_json_get(ys_json_get(properties, "leaves"), "items");
    CHECK_TEXT(ys_json_get_text(ys_json_get(ys_json_get(leaves, "properties"), "size"), "type", ""), "integer");
    CHECK_TEXT(ys_json_text(ys_json_at(ys_json_get(ys_json_get(properties, "colour"), "enum"), 0), ""), "red");
    ys_json_free(schema);
}

TAP_MAIN(TAP_CASE(a_table_prints_its_schema), TAP_CASE(lists_grow_and_are_told),
         TAP_CASE(a_record_comes_back_as_it_went), TAP_CASE(members_hold_what_was_read),
         TAP_CASE(what_is_not_as_the_table_says_is_refused),
         TAP_CASE(a_word_that_no_name_is_becomes_null_where_the_table_says_so),
         TAP_CASE(what_came_later_may_be_absent_and_is_written), TAP_CASE(members_of_a_newer_version_are_passed_over),
         TAP_CASE(text_is_read_as_its_json_is), TAP_CASE(a_glance_takes_what_is_there_and_of_its_kind),
         TAP_CASE(want_of_memory_loses_nothing))
