/* Records: there and back, what null means of each kind, what is refused, and want of memory. */
#include "base/mem.h"
#include "base/record.h"

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
    int64_t age;
    uint64_t felled_ns;
    double height;
    char *name;
    int colour;
    ys_json *word;
    struct leaf top;
    struct leaf *lowest;
    struct ys_list leaves, names, rings, widths;
};
static const struct ys_field tree_fields[] = {
    YS_FIELD(struct tree, evergreen, YS_FIELD_FLAG, NULL, 0, ""),
    YS_FIELD(struct tree, age, YS_FIELD_INT, "a", YS_FIELD_NULL, ""),
    YS_FIELD(struct tree, felled_ns, YS_FIELD_TIME, "ns", 0, ""),
    YS_FIELD(struct tree, height, YS_FIELD_REAL, "m", YS_FIELD_NULL, ""),
    YS_FIELD(struct tree, name, YS_FIELD_TEXT, NULL, YS_FIELD_NULL, ""),
    YS_FIELD_NAMED(struct tree, colour, &colours, YS_FIELD_NULL, ""),
    YS_FIELD(struct tree, word, YS_FIELD_JSON, NULL, YS_FIELD_NULL, ""),
    YS_FIELD_OF(struct tree, top, YS_FIELD_OBJECT, &leaf_record, 0, ""),
    YS_FIELD_OF(struct tree, lowest, YS_FIELD_OBJECT_OWNED, &leaf_record, YS_FIELD_NULL, ""),
    YS_FIELD_OF(struct tree, leaves, YS_FIELD_LIST, &leaf_record, 0, ""),
    YS_FIELD(struct tree, names, YS_FIELD_TEXTS, NULL, YS_FIELD_MAY_LACK, ""),
    YS_FIELD(struct tree, rings, YS_FIELD_INTS, "mm", YS_FIELD_NULL, ""),
    YS_FIELD(struct tree, widths, YS_FIELD_REALS, "mm", YS_FIELD_NULL | YS_FIELD_EMPTY, ""),
};
static const struct ys_record tree_record = YS_RECORD("tree", struct tree, tree_fields);

static const char full[] =
    "{\"evergreen\":true,\"age\":7,\"felled_ns\":5,\"height\":2.5,\"name\":\"fir\",\"colour\":\"green\","
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
    CHECK(tree.evergreen && tree.age == 7 && tree.felled_ns == 5 && tree.height == 2.5 && tree.colour == GREEN);
    CHECK(tree.top.size == 3 && tree.lowest->size == 4 && tree.leaves.count == 2);
    CHECK_TEXT(((struct leaf *)tree.leaves.items)[1].note, "small");
    CHECK(((int64_t *)tree.rings.items)[1] == -2 && isnan(((double *)tree.widths.items)[1]));
    ys_record_fini(&tree_record, &tree);
    CHECK(tree.age == YS_FIELD_NONE && isnan(tree.height) && tree.colour == YS_NAME_NONE && !tree.name);
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
    }
    CHECK(failed > 30 && failed < 199);
    ys_json_free(value);
}

TAP_MAIN(TAP_CASE(a_record_comes_back_as_it_went), TAP_CASE(members_hold_what_was_read),
         TAP_CASE(what_is_not_as_the_table_says_is_refused), TAP_CASE(what_came_later_may_be_absent_and_is_written),
         TAP_CASE(members_of_a_newer_version_are_passed_over), TAP_CASE(want_of_memory_loses_nothing))
