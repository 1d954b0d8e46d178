/* What a rank gets so that its collectives are heard, and what is made of what was heard. */
#include "crew/heard_collectives.h"

#include "probe/collectives.h"
#include "unit/run/run_fixture.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { MS = 1000000, STEPS = 7 };
static const int64_t START_NS = 5000 * (int64_t)MS;

static void add(struct ys_series_set *set, const char *name, int64_t value)
{
    ys_series_add_int(set, name, value);
}

/* Seven steps of 10 ms, the first alone, then in blocks of two, 5 ms between them; of each the gradients are there
 * after 4 ms and those of all after 7. */
static int64_t step_ns(int step)
{
    return START_NS + step * (10 * (int64_t)MS) + (step + 1) / 2 * (5 * (int64_t)MS);
}

static void fill(struct ys_series_set *set, bool has_stamps)
{
    *set = (struct ys_series_set){0};
    for (int step = 0; step < STEPS; step++) {
        if (step == 0 || step % 2 == 1) {
            const int count = step == 0 ? 1 : 2;
            add(set, "block_count", count);
            add(set, "block_start_ns", step_ns(step));
            add(set, "block_end_ns", step_ns(step) + count * (10 * (int64_t)MS));
        }
        if (has_stamps) {
            add(set, "exchange_ready_ns", step_ns(step) + 4 * MS);
            add(set, "exchange_reduced_ns", step_ns(step) + 7 * MS);
        }
    }
}

static struct ys_launch launch_of(const char *program, const char *const *env)
{
    static const char *argv[2];
    argv[0] = program;
    return (struct ys_launch){.argv = argv, .env = env, .folder = fixture_open()};
}

/* Notes as a rank of these steps leaves them: of each step two calls at once, from 2 to 6 ms and from 3 to 5, the
 * larger of which waits 1 ms before it ends. Before the first step, and between blocks, one each. Of `begun` calls
 * those of the first `steps` steps are noted; of step `unsized` one does not show its bytes. */
struct notes {
    uint64_t begun;
    int steps, unsized;
};

static void write_notes(const char *path, const struct notes *made)
{
    struct ys_collectives_head head = {.version = YS_COLLECTIVES_VERSION,
                                       .owner = 1,
                                       .begun = made->begun,
                                       .calls = made->begun,
                                       .bytes = 4000,
                                       .unsized = made->unsized < made->steps};
    const int fd = open(path, O_WRONLY);
    off_t at = offsetof(struct ys_collectives_notes, items);
    REQUIRE(fd >= 0 && pwrite(fd, &head, sizeof head, 0) == (ssize_t)sizeof head);
    for (int step = -1; step < made->steps; step++) {
        const uint64_t t_ns = (uint64_t)(step < 0 ? START_NS - 20 * MS : step_ns(step));
        const int64_t large = step == made->unsized ? -1 : 300;
        const struct ys_collective_note notes[] = {{t_ns + 2 * MS, t_ns + 6 * MS, large, YS_COLLECTIVE_GLOO},
                                                   {t_ns + 3 * MS, t_ns + 5 * MS, 100, YS_COLLECTIVE_GLOO},
                                                   {t_ns - 2 * MS, t_ns - 1 * MS, 7, YS_COLLECTIVE_GLOO}};
        const size_t size = step == 1 ? sizeof notes : 2 * sizeof notes[0];
        CHECK(pwrite(fd, notes, size, at) == (ssize_t)size);
        at += (off_t)size;
    }
    close(fd);
}

static struct ys_facts_collectives *hear_notes(bool has_stamps, const struct notes *made)
{
    struct ys_listening listening;
    struct ys_series_set series;
    struct ys_facts_collectives *facts = NULL;
    struct ys_launch launch = launch_of("/usr/bin/python3", NULL);
    ys_listening_begin(true, &launch, &listening);
    if (!CHECK(listening.path))
        return NULL;
    char *path = ys_strdup(listening.path);
    if (made->begun > 0)
        write_notes(path, made);
    fill(&series, has_stamps);
    ys_listening_end(&listening, &series, &facts);
    CHECK(!ys_fs_exists(path));
    ys_free(path);
    ys_series_set_free(&series);
    return facts;
}

static struct ys_facts_collectives *hear(bool has_stamps, uint64_t begun)
{
    return hear_notes(has_stamps, &(struct notes){begun, STEPS, STEPS});
}

static void drop(struct ys_facts_collectives *facts)
{
    if (facts)
        ys_record_fini(&ys_facts_collectives_record, facts);
    ys_free(facts);
}

static void a_step_has_its_calls_bytes_and_time_and_what_was_hidden(void)
{
    struct ys_facts_collectives *facts = hear(true, 2 * (STEPS + 1) + 1);
    REQUIRE(facts);
    CHECK_TEXT(facts->library, "gloo");
    CHECK(!facts->reason);
    CHECK_INT(facts->calls, 17);
    CHECK_INT(facts->bytes, 4000);
    CHECK_NEAR(facts->step_calls, 2, 1e-12);
    CHECK_NEAR(facts->step_bytes, 400, 1e-12);
    CHECK_NEAR(facts->busy_s, 0.004, 1e-12);   /* from 2 to 6 ms */
    CHECK_NEAR(facts->hidden_s, 0.002, 1e-12); /* from 2 to 4, when the gradients were there */
    drop(facts);
}

static void without_stamps_nobody_knows_what_was_hidden(void)
{
    struct ys_facts_collectives *facts = hear(false, 2 * (STEPS + 1) + 1);
    REQUIRE(facts);
    CHECK_NEAR(facts->busy_s, 0.004, 1e-12);
    CHECK(isnan(facts->hidden_s));
    drop(facts);
}

static void who_calls_nothing_has_a_reason(void)
{
    struct ys_facts_collectives *facts = hear(true, 0);
    REQUIRE(facts);
    CHECK(!facts->library && isnan(facts->busy_s));
    CHECK_HAS(facts->reason, "no call of gloo or MPI was heard");
    drop(facts);
}

/* What of a rank is only counted tells nothing of steps. */
static void steps_are_those_whose_calls_are_known_one_by_one(void)
{
    struct ys_facts_collectives *facts = hear(true, UINT64_C(1) << 40);
    REQUIRE(facts);
    CHECK_INT(facts->calls, INT64_C(1) << 40);
    CHECK_NEAR(facts->step_calls, 2, 1e-12);
    CHECK_NEAR(facts->busy_s, 0.004, 1e-12);
    drop(facts);
    /* They end in step 1, inside the block of steps 1 and 2. */
    facts = hear_notes(true, &(struct notes){UINT64_C(1) << 40, 2, 2});
    REQUIRE(facts);
    CHECK(isnan(facts->step_calls) && isnan(facts->step_bytes) && isnan(facts->busy_s));
    CHECK_HAS(facts->reason, "before its first block after the first step was over: take shorter blocks");
    drop(facts);
}

static void calls_of_unknown_size_have_a_reason(void)
{
    struct ys_facts_collectives *facts = hear_notes(true, &(struct notes){2 * (STEPS + 1) + 1, STEPS, 3});
    REQUIRE(facts);
    CHECK_INT(facts->bytes, YS_FIELD_NONE);
    CHECK(isnan(facts->step_bytes));
    CHECK_NEAR(facts->step_calls, 2, 1e-12);
    CHECK_HAS(facts->reason, "do not show how many bytes they were handed");
    drop(facts);
    /* Of the first step it is bytes in the whole life alone. */
    facts = hear_notes(true, &(struct notes){2 * (STEPS + 1) + 1, STEPS, 0});
    REQUIRE(facts);
    CHECK_INT(facts->bytes, YS_FIELD_NONE);
    CHECK_NEAR(facts->step_bytes, 400, 1e-12);
    CHECK_HAS(facts->reason, "do not show how many bytes they were handed");
    drop(facts);
}

static const char *value_of(const struct ys_launch *launch, const char *name)
{
    const char *found = NULL;
    for (size_t i = 0; launch->env[i]; i++)
        if (strncmp(launch->env[i], name, strlen(name)) == 0 && launch->env[i][strlen(name)] == '=')
            found = launch->env[i] + strlen(name) + 1;
    return found;
}

static void what_the_user_preloads_stays(void)
{
    static const char *const env[] = {"A=1", "LD_PRELOAD=/x/own.so", "B=2", NULL};
    struct ys_listening listening;
    struct ys_series_set series = {0};
    struct ys_facts_collectives *facts;
    struct ys_launch launch = launch_of("python3", env);
    ys_listening_begin(true, &launch, &listening);
    const char *preload = value_of(&launch, "LD_PRELOAD");
    REQUIRE(preload);
    CHECK(strncmp(preload, "/x/own.so:/", 11) == 0 && strstr(preload, YS_COLLECTIVES_LIBRARY));
    CHECK_TEXT(value_of(&launch, YS_COLLECTIVES_VARIABLE), listening.path);
    CHECK_TEXT(value_of(&launch, "A"), "1");
    CHECK_TEXT(value_of(&launch, "B"), "2");
    ys_listening_end(&listening, &series, &facts);
    drop(facts);
}

/** Of a library in `folder`, where TMPDIR is too: the rank gets a path of it without a separator. */
static void check_reached(const char *folder)
{
    struct ys_listening listening;
    struct ys_series_set series = {0};
    struct ys_facts_collectives *facts;
    struct ys_launch launch = launch_of("python3", (const char *const[]){"LD_PRELOAD=", NULL});
    char *library = ys_path_join(folder, YS_COLLECTIVES_LIBRARY), found[PATH_MAX] = "";
    REQUIRE(ys_fs_make_dirs(folder) == YS_OK && ys_fs_write(library, "", 0) == YS_OK);
    setenv("YARDSTICK_BIN", folder, 1);
    setenv("TMPDIR", folder, 1);
    ys_listening_begin(true, &launch, &listening);
    char *preload = ys_strdup(value_of(&launch, "LD_PRELOAD"));
    CHECK(preload && !strpbrk(preload, " :"));
    CHECK(realpath(preload, found));
    CHECK_TEXT(found, library);
    ys_listening_end(&listening, &series, &facts);
    CHECK(!ys_fs_exists(preload));
    drop(facts);
    ys_free(preload);
    ys_free(library);
}

/* LD_PRELOAD separates paths by blanks and colons, and has no quotes. */
static void a_library_in_a_folder_with_a_blank_is_reached_by_a_path_without(void)
{
    static const char *const names[] = {"a blank", "a:colon"};
    const char *programs = getenv("YARDSTICK_BIN"), *temporary = getenv("TMPDIR");
    char *usual[] = {programs ? ys_strdup(programs) : NULL, temporary ? ys_strdup(temporary) : NULL};
    char top[PATH_MAX] = "";
    REQUIRE(realpath(fixture_open(), top));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *folder = ys_path_join(top, names[i]);
        check_reached(folder);
        ys_free(folder);
    }
    usual[0] ? setenv("YARDSTICK_BIN", usual[0], 1) : unsetenv("YARDSTICK_BIN");
    usual[1] ? setenv("TMPDIR", usual[1], 1) : unsetenv("TMPDIR");
    ys_free(usual[0]);
    ys_free(usual[1]);
}

static void why_nobody_listens_is_told(void)
{
    struct ys_listening listening;
    struct ys_series_set series = {0};
    struct ys_facts_collectives *facts;
    struct ys_launch launch = launch_of("python3", NULL);
    ys_listening_begin(false, &launch, &listening);
    CHECK(!launch.env);
    ys_listening_end(&listening, &series, &facts);
    REQUIRE(facts);
    CHECK_TEXT(facts->reason, "listen = off");
    drop(facts);
    launch.folder = "/nowhere";
    ys_listening_begin(true, &launch, &listening);
    CHECK(!launch.env);
    ys_listening_end(&listening, &series, &facts);
    REQUIRE(facts);
    CHECK_HAS(facts->reason, "/nowhere/" YS_COLLECTIVES_FILE);
    drop(facts);
}

/* Nothing is loaded into it; what its blocks say is taken. */
static void a_program_of_yardsticks_own_counts_by_itself(void)
{
    char *program = ys_format("%s/yardstick-builtin", ys_exe_dir());
    struct ys_listening listening;
    struct ys_series_set series;
    struct ys_facts_collectives *facts;
    struct ys_launch launch = launch_of(program, NULL);
    ys_listening_begin(true, &launch, &listening);
    CHECK(!launch.env && !listening.path);
    fill(&series, true);
    for (int block = 0; block < 4; block++)
        add(&series, "block_exchange_ns", (block == 0 ? 1 : 2) * 5 * MS);
    ys_listening_end(&listening, &series, &facts);
    REQUIRE(facts);
    CHECK_TEXT(facts->library, "own");
    CHECK_NEAR(facts->busy_s, 0.005, 1e-12);
    CHECK_NEAR(facts->hidden_s, 0.002, 1e-12); /* but for the 3 ms of which the stamps tell */
    CHECK(isnan(facts->step_calls) && facts->calls == YS_FIELD_NONE);
    drop(facts);
    ys_series_set_free(&series);
    series = (struct ys_series_set){0};
    ys_listening_begin(true, &launch, &listening);
    ys_listening_end(&listening, &series, &facts);
    CHECK(!facts);
    ys_free(program);
}

TAP_MAIN(TAP_CASE(a_step_has_its_calls_bytes_and_time_and_what_was_hidden),
         TAP_CASE(without_stamps_nobody_knows_what_was_hidden), TAP_CASE(who_calls_nothing_has_a_reason),
         TAP_CASE(steps_are_those_whose_calls_are_known_one_by_one), TAP_CASE(calls_of_unknown_size_have_a_reason),
         TAP_CASE(what_the_user_preloads_stays),
         TAP_CASE(a_library_in_a_folder_with_a_blank_is_reached_by_a_path_without),
         TAP_CASE(why_nobody_listens_is_told), TAP_CASE(a_program_of_yardsticks_own_counts_by_itself))
