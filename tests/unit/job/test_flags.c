#include "job/job.h"

#include "tap.h"

/* Takes all flags of `argv` (ended by NULL); the number that was left alone, or -1 when refused. */
static int take(struct ys_job_flags *flags, char **argv)
{
    int argc = 0, left = 0;
    while (argv[argc])
        argc++;
    for (int i = 0; i < argc; i++) {
        bool taken;
        if (ys_job_flags_take(flags, argc, argv, &i, &taken) != YS_OK)
            return -1;
        left += !taken;
    }
    return left;
}

#define ARGUMENTS(...) ((char *[]){__VA_ARGS__, NULL})

static char *word(const char *text) /* argv is not const, literals are */
{
    static char words[32][64];
    static int next;
    char *copy = words[next++ % 32];
    snprintf(copy, sizeof words[0], "%s", text);
    return copy;
}

static void a_value_follows_an_equals_sign_or_a_blank(void)
{
    struct ys_job_flags flags = {0};
    CHECK_INT(take(&flags, ARGUMENTS(word("--threads=1,2"), word("--batch"), word("32"), word("--lr"), word("-1"))), 0);
    REQUIRE(flags.count == 3);
    CHECK_TEXT(flags.items[0].key, "threads");
    CHECK_TEXT(flags.items[0].value, "1,2");
    CHECK_TEXT(flags.items[1].key, "batch");
    CHECK_TEXT(flags.items[1].value, "32");
    CHECK_TEXT(flags.items[2].value, "-1");
    ys_job_flags_fini(&flags);
    CHECK_INT(flags.count, 0);
}

static void dashes_in_keys_are_underscores(void)
{
    struct ys_job_flags flags = {0};
    CHECK_INT(take(&flags, ARGUMENTS(word("--run-time-limit=5s"), word("--opt.a-b.c-d=on"), word("--env.A=x=y"))), 0);
    REQUIRE(flags.count == 3);
    CHECK_TEXT(flags.items[0].key, "run_time_limit");
    CHECK_TEXT(flags.items[1].key, "opt.a-b.c-d");
    CHECK_TEXT(flags.items[2].value, "x=y");
    ys_job_flags_fini(&flags);
}

static void other_arguments_are_left_alone(void)
{
    struct ys_job_flags flags = {0};
    CHECK_INT(take(&flags, ARGUMENTS(word("study.ys"), word("--quiet"), word("--"), word("-h"), word("--version"),
                                     word("--format=csv"))),
              6);
    CHECK_INT(flags.count, 0);
    ys_job_flags_fini(&flags);
}

static void a_missing_value_is_refused(void)
{
    struct ys_job_flags flags = {0};
    CHECK_INT(take(&flags, ARGUMENTS(word("--threads"))), -1);
    CHECK_TEXT(ys_error(), "--threads has no value: write --threads=VALUE");
    CHECK_INT(take(&flags, ARGUMENTS(word("--threads="))), -1);
    CHECK_INT(take(&flags, ARGUMENTS(word("--threads"), word("--batch=3"))), -1);
    ys_job_flags_fini(&flags);
}

static void a_flag_may_be_given_once_except_exclude(void)
{
    struct ys_job_flags flags = {0};
    CHECK_INT(take(&flags, ARGUMENTS(word("--exclude=threads=1"), word("--exclude=threads=2"))), 0);
    CHECK_INT(flags.count, 2);
    CHECK_INT(take(&flags, ARGUMENTS(word("--stall-limit=1s"), word("--stall_limit=2s"))), -1);
    CHECK_TEXT(ys_error(), "--stall_limit is given twice: keep one of them");
    ys_job_flags_fini(&flags);
}

TAP_MAIN(TAP_CASE(a_value_follows_an_equals_sign_or_a_blank), TAP_CASE(dashes_in_keys_are_underscores),
         TAP_CASE(other_arguments_are_left_alone), TAP_CASE(a_missing_value_is_refused),
         TAP_CASE(a_flag_may_be_given_once_except_exclude))
