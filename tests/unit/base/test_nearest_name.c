#include "base/nearest_name.h"

#include "tap.h"

#include <stdint.h>

static void distance_counts_edits_and_swaps(void)
{
    CHECK_INT(ys_edit_distance("", ""), 0);
    CHECK_INT(ys_edit_distance("", "abc"), 3);
    CHECK_INT(ys_edit_distance("kitten", "sitting"), 3);
    CHECK_INT(ys_edit_distance("bacth", "batch"), 1); /* a swap is one edit */
    CHECK_INT(ys_edit_distance("ca", "abc"), 3);      /* the restricted form: 2 in the unrestricted one */
}

static void names_that_are_too_long_are_infinitely_far(void)
{
    char name[65];
    memset(name, 'a', 64);
    name[64] = 0;
    CHECK(ys_edit_distance(name, name) == SIZE_MAX);
    name[63] = 0;
    CHECK_INT(ys_edit_distance(name, name), 0);
}

static void the_first_of_the_nearest_is_suggested(void)
{
    static const char *const names[] = {"threads", "thread_x", "batch", NULL};
    CHECK_TEXT(ys_nearest("thraeds", names), "threads");
    CHECK_TEXT(ys_nearest("btach", names), "batch");
    CHECK(ys_nearest("momentum", names) == NULL);
    static const char *const equals[] = {"aab", "aac", NULL};
    CHECK_TEXT(ys_nearest("aaa", equals), "aab");
    CHECK_TEXT(ys_nearest("modle", (const char *const[]){"mode", "model", NULL}), "model");
}

static void nothing_absurd_is_suggested_for_short_names(void)
{
    static const char *const names[] = {"a", "lr", NULL};
    CHECK(ys_nearest("b", names) == NULL);
    CHECK_TEXT(ys_nearest("rl", names), "lr");
    CHECK(ys_nearest("xy", names) == NULL);
    CHECK(ys_nearest("x", (const char *const[]){NULL}) == NULL);
}

TAP_MAIN(TAP_CASE(distance_counts_edits_and_swaps), TAP_CASE(names_that_are_too_long_are_infinitely_far),
         TAP_CASE(the_first_of_the_nearest_is_suggested), TAP_CASE(nothing_absurd_is_suggested_for_short_names))
