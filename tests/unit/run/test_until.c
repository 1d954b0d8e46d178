/* A training that ends where the weights of a checkpoint are said to be good enough: what is asked when, and which time
 * is whose, by the account of an adapter that knows what it does (yardstick-known). */
#include "base/clock.h"
#include "base/files/fs.h"
#include "run/execute.h"
#include "run_fixture.h"

#include <sys/wait.h>

enum { MOST_LOOKS = 16, TAKES_MS = 30 };

/* Judges in another process, which takes its time. */
struct judge {
    int64_t steps[MOST_LOOKS];
    uint64_t begun_ns[MOST_LOOKS], ended_ns[MOST_LOOKS];
    size_t looks;
    int64_t meets; /* the target at that step; 0: never */
    bool breaks;   /* asks for a stop of the run instead of an answer */
    pid_t pid;
    int fd;
};

static ys_status begin(void *of, int64_t step, const char *path, int *fd)
{
    struct judge *judge = of;
    int ends[2];
    struct stat file;
    CHECK(judge->looks < MOST_LOOKS && judge->pid == 0);
    CHECK_INT(stat(path, &file), 0);
    CHECK_INT(pipe(ends), 0);
    judge->begun_ns[judge->looks] = ys_time_ns();
    judge->steps[judge->looks] = step;
    judge->pid = fork();
    if (judge->pid == 0) {
        usleep(TAKES_MS * 1000);
        _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
    }
    close(ends[1]);
    *fd = judge->fd = ends[0];
    return YS_OK;
}

static ys_status end(void *of, bool *is_met)
{
    struct judge *judge = of;
    waitpid(judge->pid, NULL, 0);
    judge->pid = 0;
    close(judge->fd);
    *is_met = judge->steps[judge->looks] == judge->meets;
    judge->ended_ns[judge->looks++] = ys_time_ns();
    return judge->breaks ? ys_fail(YS_EINTR, "stopped") : YS_OK;
}

/** Twelve steps in blocks of two, looked at every four. */
static ys_status run_known(struct judge *judge, struct ys_run_record *record)
{
    fixture_open();
    char *known = ys_find_support("yardstick-known");
    const char *argv[] = {known, NULL};
    struct ys_plan plan = fixture_plan(12, 2);
    plan.eval_every = 4;
    plan.options = ys_json_object();
    ys_json_set_string(plan.options, "act", "phases");
    const struct ys_run_until until = {begin, end, judge};
    struct ys_run_spec spec = {
        .plan = &plan,
        .until = &until,
        .launch =
            {.argv = argv, .folder = fixture_open(), .stall_limit_s = 20, .run_time_limit_s = 60, .sample_hz = 100},
    };
    ys_status status = ys_run_execute(&spec, record);
    CHECK_INT(fixture_descendants(), 0);
    ys_plan_fini(&plan);
    ys_free(known);
    return status;
}

static const struct ys_series *series_of(const struct ys_run_record *record, const char *name)
{
    static const struct ys_series none;
    const struct ys_series *series = ys_series_find(&record->series, name);
    return series ? series : &none;
}

static int64_t pause_at(const struct ys_run_record *record, size_t pause, size_t end_of)
{
    return ys_json_integer(ys_json_at(ys_json_at(record->facts.times.pauses, pause), end_of), -1);
}

/** What the adapter's own clock made of its steps, those behind a gap too. */
static double slept_ns(void)
{
    ys_json *account = NULL;
    char *path = ys_path_join(fixture_open(), "known-sleeps.json");
    double slept = -1;
    if (ys_json_read(path, &account) == YS_OK)
        slept = ys_json_get_number(account, "train_ns", 0) + ys_json_get_number(account, "gap_ns", 0);
    ys_json_free(account);
    ys_free(path);
    return slept;
}

static void the_answer_at_a_checkpoint_decides_whether_the_next_question_is_asked(void)
{
    static const int64_t firsts[] = {0, 1, 3, 4, 6};
    struct judge judge = {.meets = 8};
    struct ys_run_record record;
    CHECK_INT(run_known(&judge, &record), YS_OK);
    REQUIRE(record.has_facts);
    CHECK_INT(record.facts.status, YS_RUN_OK);
    CHECK_INT(record.facts.steps_done, 8);
    REQUIRE(judge.looks == 2);
    CHECK(judge.steps[0] == 4 && judge.steps[1] == 8);
    CHECK_INT(record.facts.checkpoints.count, 2);
    const struct ys_series *first = series_of(&record, "block_first");
    REQUIRE(first->count == sizeof firsts / sizeof firsts[0]);
    for (size_t i = 0; i < first->count; i++)
        CHECK_INT(first->ints[i], firsts[i]);
    CHECK(record.facts.weights != NULL);
    ys_run_record_fini(&record);
}

static void standing_still_is_a_pause_and_no_training(void)
{
    struct judge judge = {.meets = 8};
    struct ys_run_record record;
    CHECK_INT(run_known(&judge, &record), YS_OK);
    REQUIRE(record.has_facts && judge.looks == 2);
    const struct ys_series *sent = series_of(&record, "request_sent_ns"), *done = series_of(&record, "request_done_ns");
    REQUIRE(ys_json_size(record.facts.times.pauses) == 2 && sent->count == 3 && done->count == 3);
    double asked_ns = 0;
    for (size_t i = 0; i < sent->count; i++)
        asked_ns += (double)(done->ints[i] - sent->ints[i]);
    CHECK(asked_ns >= slept_ns() && slept_ns() > 0);
    for (size_t i = 0; i < 2; i++) { /* from the end of one question to the next one, with all of the judging in it */
        CHECK(pause_at(&record, i, 0) >= done->ints[i + 1]);
        CHECK((uint64_t)pause_at(&record, i, 0) <= judge.begun_ns[i]);
        CHECK((uint64_t)pause_at(&record, i, 1) >= judge.ended_ns[i]);
        CHECK(i == 1 || pause_at(&record, i, 1) <= sent->ints[i + 2]);
    }
    CHECK_INT(record.facts.times.trained_ns, done->ints[2]);
    CHECK(record.facts.times.save_ns >= pause_at(&record, 1, 1));
    CHECK_INT(record.facts.times.paused_ns,
              pause_at(&record, 0, 1) - pause_at(&record, 0, 0) + pause_at(&record, 1, 1) - pause_at(&record, 1, 0));
    CHECK(record.facts.harness.samples > 0);
    ys_run_record_fini(&record);
}

static void a_target_that_is_never_met_leaves_all_steps(void)
{
    struct judge judge = {0};
    struct ys_run_record record;
    CHECK_INT(run_known(&judge, &record), YS_OK);
    REQUIRE(record.has_facts);
    CHECK_INT(record.facts.status, YS_RUN_OK);
    CHECK_INT(record.facts.steps_done, 12);
    CHECK_INT(judge.looks, 2); /* the last weights are those of the end */
    ys_run_record_fini(&record);
}

static void who_stops_while_it_stands_still_ends_the_run(void)
{
    struct judge judge = {.breaks = true};
    struct ys_run_record record;
    CHECK_INT(run_known(&judge, &record), YS_EINTR);
    REQUIRE(record.has_facts);
    CHECK_INT(record.facts.status, YS_RUN_CANCELLED);
    CHECK_INT(record.facts.steps_done, 4);
    ys_run_record_fini(&record);
}

TAP_MAIN(TAP_CASE(the_answer_at_a_checkpoint_decides_whether_the_next_question_is_asked),
         TAP_CASE(standing_still_is_a_pause_and_no_training), TAP_CASE(a_target_that_is_never_met_leaves_all_steps),
         TAP_CASE(who_stops_while_it_stands_still_ends_the_run))
