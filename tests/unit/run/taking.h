/* A message of a run's work that is taken or refused: what the tests of blocks and of latencies share. */
#ifndef YS_TEST_TAKING_H
#define YS_TEST_TAKING_H

#include "base/clock.h"
#include "crew/run_state.h"
#include "run_fixture.h"

struct setup {
    struct ys_run run;
    struct ys_run_spec spec;
    struct ys_plan plan;
    struct ys_series_set series;
    ys_json *message;
    ys_session_on_message take;
    bool is_whole; /* of one that is refused nothing is kept */
};

static void finish(struct setup *setup)
{
    ys_json_free(setup->message);
    ys_series_set_free(&setup->series);
}

/** Refused with `part` in the message, and the run is where it was. */
static void check_refused(struct setup *setup, const char *part)
{
    const int64_t next_step = setup->run.next_step;
    CHECK_INT(setup->take(&setup->run, setup->message), YS_EPROTOCOL);
    CHECK_HAS(ys_error(), part);
    CHECK_INT(setup->run.next_step, next_step);
    if (setup->is_whole)
        CHECK_INT(setup->series.count, 0);
    finish(setup);
}

/** Of the message that `begin` makes: its times lie between question and answer, one after the other. */
static void check_its_times(void (*begin)(struct setup *setup))
{
    struct setup setup;
    begin(&setup);
    ys_json_set_int(setup.message, "t_start_ns", (int64_t)setup.run.last_end_ns - 1);
    check_refused(&setup, "before the one before it ended");
    begin(&setup);
    setup.run.last_end_ns = setup.run.asked_ns;
    ys_json_set_int(setup.message, "t_start_ns", (int64_t)setup.run.asked_ns - 1);
    check_refused(&setup, "before it was asked for");
    begin(&setup);
    ys_json_remove(setup.message, "t_start_ns");
    check_refused(&setup, "began");
    begin(&setup);
    ys_json_set_int(setup.message, "t_end_ns", ys_json_get_int(setup.message, "t_start_ns", 0) - 1);
    check_refused(&setup, "ended before it began");
    begin(&setup);
    ys_json_set_int(setup.message, "t_end_ns", (int64_t)ys_time_ns() + 3600000000000);
    check_refused(&setup, "after its message came");
}

/** With another first step or request, and without one. */
static void check_its_first(void (*begin)(struct setup *setup), int64_t other, const char *part, const char *without)
{
    struct setup setup;
    begin(&setup);
    ys_json_set_int(setup.message, "first", other);
    check_refused(&setup, part);
    begin(&setup);
    ys_json_remove(setup.message, "first");
    check_refused(&setup, without);
}

#endif
