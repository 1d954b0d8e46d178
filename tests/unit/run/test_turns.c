/* Runs that take turns: who is started, and that each is asked the same. */
#include "run/turns.h"
#include "run_fixture.h"

enum { COUNT = 3, STEPS = 40 };

static int rooms; /* how often there is room for one more */

static int64_t room(void)
{
    return rooms-- > 0 ? INT64_MAX : 0;
}

static size_t take_turns(int64_t block, struct ys_run_record records[COUNT])
{
    char *null = fixture_null();
    const char *argv[] = {null, NULL};
    struct ys_plan plan = fixture_plan(STEPS, block);
    struct ys_run_spec specs[COUNT];
    const struct ys_turns turns = {.turn_s = 0.001, .seed = 1, .drops = true, .room = room};
    size_t started = 0;
    for (size_t i = 0; i < COUNT; i++)
        specs[i] = (struct ys_run_spec){
            .plan = &plan,
            .by_turns = true,
            .launch = {
                .argv = argv, .folder = fixture_open(), .stall_limit_s = 20, .run_time_limit_s = 60, .sample_hz = 100}};
    CHECK_INT(ys_turns_execute(specs, COUNT, &turns, records, &started), YS_OK);
    CHECK_INT(fixture_descendants(), 0);
    ys_plan_fini(&plan);
    ys_free(null);
    return started;
}

static void free_all(struct ys_run_record records[COUNT])
{
    for (size_t i = 0; i < COUNT; i++)
        ys_run_record_fini(&records[i]);
}

static void as_many_are_started_as_memory_has_room_for(void)
{
    for (int room_for = 0; room_for < COUNT; room_for++) {
        struct ys_run_record records[COUNT];
        rooms = room_for;
        CHECK_INT(take_turns(5, records), room_for + 1);
        for (int i = 0; i < COUNT; i++) {
            CHECK(records[i].has_facts == (i <= room_for));
            if (!records[i].has_facts || !records[i].facts.turns)
                continue;
            CHECK_INT(records[i].facts.status, YS_RUN_OK);
            CHECK_INT(records[i].facts.turns->members, room_for + 1);
            CHECK_INT(records[i].facts.turns->place, i);
        }
        free_all(records);
    }
}

/* One step that settles and does not count, then at least three that do; all of them, each once. */
static void a_turn_is_a_step_to_settle_in_and_those_that_count(void)
{
    struct ys_run_record records[COUNT];
    rooms = COUNT;
    CHECK_INT(take_turns(5, records), COUNT);
    for (size_t m = 0; m < COUNT; m++) {
        size_t rows = SIZE_MAX;
        const int64_t *first = ys_series_column(&records[m].series, "request_first", &rows),
                      *cycle = ys_series_column(&records[m].series, "request_cycle", &rows),
                      *settles = ys_series_column(&records[m].series, "request_settles", &rows);
        REQUIRE(first && cycle && settles && rows > 4);
        CHECK(first[0] == 0 && cycle[0] == -1 && first[1] == 1);
        for (size_t i = 1; i < rows; i++) {
            const int64_t next = i + 1 < rows ? first[i + 1] : STEPS, steps = next - first[i];
            CHECK_INT(cycle[i], (i - 1) / 2);
            CHECK_INT(settles[i], i % 2);
            CHECK(settles[i] ? steps == 1 : steps >= 3 || next == STEPS);
        }
    }
    free_all(records);
}

TAP_MAIN(TAP_CASE(as_many_are_started_as_memory_has_room_for),
         TAP_CASE(a_turn_is_a_step_to_settle_in_and_those_that_count))
