/* Which of several places of an audit counts. Audits themselves need adapters: tests/adversaries, tests/frameworks. */
#include "verify/audit.h"

#include "base/mem.h"
#include "tap.h"

#include <math.h>

/* What each place is to come to, in turn. */
struct places {
    const struct found {
        enum ys_audit_verdict verdict;
        bool may_be_flip;
        ys_status status;
    } * found;
    int asked;
};

static ys_status look(void *context, struct ys_audit *audit)
{
    struct places *places = context;
    const struct found *found = &places->found[places->asked++];
    ys_record_init(&ys_audit_record, audit);
    audit->run_s = places->asked == 2 ? NAN : 2; /* one that never ran took no time */
    audit->judge_s = 0.5;
    audit->step = 10 * places->asked;
    audit->may_be_flip = found->may_be_flip;
    ys_audit_settle(audit, found->verdict, found->verdict == YS_AUDIT_PASS ? NULL : "a reason");
    return found->status == YS_OK ? YS_OK : ys_fail(found->status, "the engine broke off");
}

static int64_t ask(const struct found *found, ys_status wanted, struct ys_audit *audit)
{
    struct places places = {found, 0};
    CHECK_INT(ys_audit_try_places(look, &places, audit), wanted);
    CHECK_INT(audit->tries, places.asked);
    CHECK_INT(audit->step, 10 * places.asked); /* the last place is the one that is told */
    return places.asked;
}

static void a_place_that_holds_is_the_only_one(void)
{
    static const struct found once[] = {{YS_AUDIT_PASS, false, YS_OK}};
    struct ys_audit audit;
    CHECK_INT(ask(once, YS_OK, &audit), 1);
    CHECK_INT(audit.verdict, YS_AUDIT_PASS);
    CHECK(audit.run_s == 2 && audit.judge_s == 0.5);
    ys_record_fini(&ys_audit_record, &audit);
}

static void a_failure_that_no_flip_explains_is_not_tried_again(void)
{
    static const struct found other[] = {{YS_AUDIT_FAIL, false, YS_OK}};
    struct ys_audit audit;
    CHECK_INT(ask(other, YS_OK, &audit), 1);
    CHECK_INT(audit.verdict, YS_AUDIT_FAIL);
    ys_record_fini(&ys_audit_record, &audit);
}

static void a_flip_comes_and_goes(void)
{
    static const struct found flip[] = {
        {YS_AUDIT_FAIL, true, YS_OK}, {YS_AUDIT_FAIL, true, YS_OK}, {YS_AUDIT_WEAK, false, YS_OK}};
    struct ys_audit audit;
    CHECK_INT(ask(flip, YS_OK, &audit), 3);
    CHECK_INT(audit.verdict, YS_AUDIT_WEAK);
    CHECK(audit.run_s == 4 && audit.judge_s == 1.5); /* of all tries */
    ys_record_fini(&ys_audit_record, &audit);
}

static void a_failure_behind_a_flip_counts(void)
{
    static const struct found both[] = {{YS_AUDIT_FAIL, true, YS_OK}, {YS_AUDIT_FAIL, false, YS_OK}};
    struct ys_audit audit;
    CHECK_INT(ask(both, YS_OK, &audit), 2);
    CHECK_INT(audit.verdict, YS_AUDIT_FAIL);
    ys_record_fini(&ys_audit_record, &audit);
}

static void what_stays_at_all_places_fails(void)
{
    static const struct found stays[] = {{YS_AUDIT_FAIL, true, YS_OK},
                                         {YS_AUDIT_FAIL, true, YS_OK},
                                         {YS_AUDIT_FAIL, true, YS_OK},
                                         {YS_AUDIT_PASS, false, YS_OK}};
    struct ys_audit audit;
    CHECK_INT(ask(stays, YS_OK, &audit), YS_AUDIT_TRIES);
    CHECK_INT(audit.verdict, YS_AUDIT_FAIL);
    ys_record_fini(&ys_audit_record, &audit);
}

static void an_engine_that_breaks_off_ends_it(void)
{
    static const struct found broken[] = {{YS_AUDIT_FAIL, true, YS_OK}, {YS_AUDIT_NONE, true, YS_EPROTOCOL}};
    struct ys_audit audit;
    CHECK_INT(ask(broken, YS_EPROTOCOL, &audit), 2);
    ys_record_fini(&ys_audit_record, &audit);
}

TAP_MAIN(TAP_CASE(a_place_that_holds_is_the_only_one), TAP_CASE(a_failure_that_no_flip_explains_is_not_tried_again),
         TAP_CASE(a_flip_comes_and_goes), TAP_CASE(a_failure_behind_a_flip_counts),
         TAP_CASE(what_stays_at_all_places_fails), TAP_CASE(an_engine_that_breaks_off_ends_it))
