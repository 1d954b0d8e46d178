/* The tables of verbs and flags. */
#include "cli/verb.h"

#include "job/option.h"
#include "tap.h"

#include <string.h>

static void every_verb_that_is_named_exists(void)
{
    for (const struct ys_flag *flag = ys_flags(); flag->name; flag++) {
        size_t found = 0;
        for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++)
            found += ys_verb_flag(verb, flag->name, strlen(flag->name)) == flag;
        size_t named = flag->verbs ? 1 : found;
        for (const char *at = flag->verbs; at && (at = strchr(at, ' ')); at++)
            named++;
        CHECK_INT(found, named); /* no misspelt verb, and no line that another hides */
        CHECK(found > 0);
    }
}

static void no_flag_hides_a_key_of_a_job(void)
{
    for (const struct ys_verb *verb = ys_verbs(); verb->name; verb++)
        for (const struct ys_option *option = ys_options(); verb->keys == YS_VERB_ALL_KEYS && option->name; option++)
            CHECK(option->file_only || !ys_verb_flag(verb, option->name, strlen(option->name)));
}

static void verbs_are_found(void)
{
    CHECK_TEXT(ys_verb_find("show")->name, "show");
    CHECK(!ys_verb_find("sho") && !ys_verb_find(""));
    CHECK(ys_verb_has_word("table json", "json") && !ys_verb_has_word("table json", "js"));
    CHECK(!ys_verb_has_word(NULL, "json") && !ys_verb_has_word("table json", "table json"));
    CHECK(!ys_verb_has_word("table", ""));
}

TAP_MAIN(TAP_CASE(every_verb_that_is_named_exists), TAP_CASE(no_flag_hides_a_key_of_a_job), TAP_CASE(verbs_are_found))
