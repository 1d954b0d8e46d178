/* Timetables: what is read, whose turn it is, and what is refused. */
#include "builtin/timetable.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

#define BEGIN "{\"format\":\"yardstick/timetable/1\",\"of\":\"a test\",\"numbers\":10,\"ranks\":["
#define RANK  "{\"before_ns\":[10,20,30,40],\"after_ns\":[1,2,3,4]}"

/* The status of reading a file with that text. */
static ys_status read_text(const char *text, struct ys_timetable *table)
{
    char path[] = "/tmp/ys-timetable-XXXXXX";
    const int fd = mkstemp(path);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!CHECK(file != NULL))
        return YS_EIO;
    fputs(text, file);
    fclose(file);
    ys_status status = ys_timetable_read(path, table);
    unlink(path);
    return status;
}

static void steps_begin_again_with_the_first(void)
{
    struct ys_timetable table;
    REQUIRE(read_text(BEGIN RANK "]}", &table) == YS_OK);
    CHECK_INT(table.numbers, 10);
    CHECK_TEXT(table.of, "a test");
    for (int64_t step = 0; step < 9; step++) {
        const struct ys_timetable_step now = ys_timetable_at(&table, 0, 1, step);
        CHECK_INT(now.before_ns, 10 * (step % 4 + 1));
        CHECK_INT(now.after_ns, step % 4 + 1);
    }
    ys_timetable_fini(&table);
}

static void ranks_that_were_not_measured_take_turns_evenly_apart(void)
{
    struct ys_timetable table;
    REQUIRE(read_text(BEGIN RANK ",{\"before_ns\":[5,6,7,8],\"after_ns\":[0,0,0,0]}]}", &table) == YS_OK);
    const int64_t expected_ns[] = {10, 5, 30, 7};
    for (int64_t rank = 0; rank < 4; rank++)
        CHECK_INT(ys_timetable_at(&table, rank, 4, 0).before_ns, expected_ns[rank]);
    CHECK_INT(ys_timetable_at(&table, 2, 4, 1).before_ns, 40);
    CHECK_INT(ys_timetable_at(&table, 2, 4, 2).before_ns, 10);
    CHECK_INT(ys_timetable_at(&table, 2, 3, 0).before_ns, 30);
    ys_timetable_fini(&table);
}

static void what_is_no_timetable_is_refused(void)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"{\"format\":\"other\",\"of\":\"\",\"numbers\":10,\"ranks\":[" RANK "]}", "its format is \"other\""},
        {"{\"format\":\"yardstick/timetable/1\",\"of\":\"\",\"numbers\":0,\"ranks\":[" RANK "]}", "0 numbers"},
        {BEGIN "]}", "no ranks"},
        {BEGIN "{\"before_ns\":[],\"after_ns\":[]}]}", "rank 0 has 0 times"},
        {BEGIN "{\"before_ns\":[1,2],\"after_ns\":[1]}]}", "2 times before_ns and 1 after_ns"},
        {BEGIN RANK ",{\"before_ns\":[1],\"after_ns\":[1]}]}", "rank 1 has 1 times"},
        {BEGIN "{\"before_ns\":[-1],\"after_ns\":[1]}]}", "a time of rank 0"},
        {BEGIN "{\"before_ns\":[1],\"after_ns\":[86400000000001]}]}", "longer than a day"},
        {BEGIN "{\"before_ns\":[1]}]}", "after_ns"},
        {"[]", "/tmp/ys-timetable-"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_timetable table;
        CHECK_INT(read_text(cases[i].text, &table), YS_EFORMAT);
        CHECK_HAS(ys_error(), cases[i].word);
    }
    struct ys_timetable table;
    CHECK(ys_timetable_read("/nowhere/table.json", &table) != YS_OK);
    CHECK_HAS(ys_error(), "/nowhere/table.json");
}

TAP_MAIN(TAP_CASE(steps_begin_again_with_the_first), TAP_CASE(ranks_that_were_not_measured_take_turns_evenly_apart),
         TAP_CASE(what_is_no_timetable_is_refused))
