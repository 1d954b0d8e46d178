#include "fixture.h"

#include "tap.h"

struct found {
    ys_status status;
    int64_t study, trial;
};

static struct found find(struct ys_store *store, const char *selector)
{
    struct found found = {YS_OK, -1, -1};
    found.status = ys_store_select(store, selector, &found.study, &found.trial);
    return found;
}

static bool is(struct found found, int64_t study, int64_t trial)
{
    return found.status == YS_OK && found.study == study && found.trial == trial;
}

static void last_is_the_newest_study(void)
{
    struct fixture f;
    fixture_open(&f);
    begin_study(f.store, "first");
    begin_study(f.store, "second");
    CHECK(is(find(f.store, "last"), 2, 0));
    fixture_close(&f);
}

static void a_name_means_its_latest_study(void)
{
    struct fixture f;
    fixture_open(&f);
    begin_study(f.store, "first");
    begin_study(f.store, "other");
    begin_study(f.store, "first");
    CHECK(is(find(f.store, "first"), 3, 0));
    CHECK(is(find(f.store, "001-first"), 1, 0));
    CHECK(is(find(f.store, "2"), 2, 0));
    fixture_close(&f);
}

static void an_id_goes_before_a_name_of_digits(void)
{
    struct fixture f;
    fixture_open(&f);
    begin_study(f.store, "2");
    begin_study(f.store, "first");
    begin_study(f.store, "7");
    CHECK(is(find(f.store, "2"), 2, 0));
    CHECK(is(find(f.store, "7"), 3, 0));
    fixture_close(&f);
}

static void a_date_begins_with_a_whole_day(void)
{
    static const char *const dates[] = {"2026-11-26", "2026-11-26T", "2026-11-26T03:1", "2026-11-26T03:17:33Z"};
    static const char *const others[] = {"",           "2026-11",       "2026-11-2",
                                         "2026-11-2x", "2026-11-26 03", "2026-11-26T03:17:33Z1"};
    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++)
        tap_check(ys_store_is_date(dates[i], strlen(dates[i])), __LINE__, "%s", dates[i]);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        tap_check(!ys_store_is_date(others[i], strlen(others[i])), __LINE__, "%s", others[i]);
    struct fixture f;
    fixture_open(&f);
    begin_study(f.store, "2026-11-26");
    begin_study(f.store, "other");
    CHECK(is(find(f.store, "2026-11-26"), 1, 0)); /* a name goes before */
    CHECK(find(f.store, "1999-12-31").status == YS_ENOTFOUND);
    fixture_close(&f);
}

static void a_trial_is_named_by_id_or_index(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first");
    int64_t a = put_trial(f.store, study, "lenet:data=x/y,threads=1", 0),
            b = put_trial(f.store, study, "lenet:threads=2", 1);
    CHECK(is(find(f.store, "last/lenet:data=x/y,threads=1"), study, a));
    CHECK(is(find(f.store, "first/1"), study, b));
    CHECK(is(find(f.store, "001-first/0"), study, a));
    fixture_close(&f);
}

static void what_does_not_exist_is_answered_with_what_does(void)
{
    struct fixture f;
    fixture_open(&f);
    int64_t study = begin_study(f.store, "first");
    put_trial(f.store, study, "lenet:threads=2", 0);
    CHECK(find(f.store, "frist").status == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "`frist`");
    CHECK_HAS(ys_error(), "001-first");
    CHECK(find(f.store, "first/9").status == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "lenet:threads=2");
    CHECK(find(f.store, "99999999999999999999").status == YS_ENOTFOUND);
    CHECK(find(f.store, "").status == YS_ENOTFOUND);
    fixture_close(&f);
}

static void an_empty_store_says_that_it_is_empty(void)
{
    struct fixture f;
    fixture_open(&f);
    CHECK(find(f.store, "last").status == YS_ENOTFOUND);
    CHECK_HAS(ys_error(), "no study in");
    fixture_close(&f);
}

static void a_trial_where_a_study_is_meant_is_an_error(void)
{
    struct fixture f;
    fixture_open(&f);
    begin_study(f.store, "first");
    int64_t study = 0;
    CHECK(ys_store_select(f.store, "last", &study, NULL) == YS_OK);
    CHECK(ys_store_select(f.store, "last/0", &study, NULL) == YS_EINVAL);
    CHECK_HAS(ys_error(), "/0");
    fixture_close(&f);
}

TAP_MAIN(TAP_CASE(last_is_the_newest_study), TAP_CASE(a_name_means_its_latest_study),
         TAP_CASE(an_id_goes_before_a_name_of_digits), TAP_CASE(a_date_begins_with_a_whole_day),
         TAP_CASE(a_trial_is_named_by_id_or_index), TAP_CASE(what_does_not_exist_is_answered_with_what_does),
         TAP_CASE(an_empty_store_says_that_it_is_empty), TAP_CASE(a_trial_where_a_study_is_meant_is_an_error))
