/* What a block message must be to be believed. */
#include "unit/run/taking.h"

/** A request for steps 10 to 17 in blocks of 4, of which the first four are done; the message is right. */
static void begin(struct setup *setup)
{
    *setup = (struct setup){.take = ys_run_take_block};
    int64_t now_ns = (int64_t)ys_time_ns();
    setup->run = (struct ys_run){.spec = &setup->spec,
                                 .mode = ys_mode_of(YS_MODE_TRAIN),
                                 .series = &setup->series,
                                 .steps = 20,
                                 .to = 17,
                                 .request_block = 4,
                                 .next_step = 14,
                                 .asked_ns = (uint64_t)now_ns - 9000,
                                 .last_end_ns = (uint64_t)now_ns - 5000};
    setup->message = fixture_message("block");
    ys_json_set_int(setup->message, "first", 14);
    ys_json_set_int(setup->message, "count", 3);
    ys_json_set_int(setup->message, "t_start_ns", now_ns - 4000);
    ys_json_set_int(setup->message, "t_end_ns", now_ns - 1000);
    ys_json_set_int(setup->message, "input_ns", 500);
    ys_json *loss = ys_json_array();
    for (int i = 0; i < 3; i++)
        ys_json_append(loss, ys_json_real(0.5 * i));
    ys_json_set(setup->message, "loss", loss);
}

static void one_carries_its_rank(void)
{
    struct setup setup;
    begin(&setup);
    setup.spec.launch.rank = 3;
    CHECK_INT(ys_run_take_block(&setup.run, setup.message), YS_OK);
    CHECK_INT(ys_series_rank(ys_series_find(&setup.series, "block_rank"), 0), 3);
    finish(&setup);
    begin(&setup);
    CHECK_INT(ys_run_take_block(&setup.run, setup.message), YS_OK);
    CHECK(!ys_series_find(&setup.series, "block_rank")); /* nothing is written of rank 0 */
    finish(&setup);
}

static void one_that_is_right_is_kept(void)
{
    struct setup setup;
    begin(&setup);
    CHECK_INT(ys_run_take_block(&setup.run, setup.message), YS_OK);
    CHECK_INT(setup.run.next_step, 17);
    CHECK_INT(ys_series_find(&setup.series, "block_input_ns")->ints[0], 500);
    CHECK_INT(ys_series_find(&setup.series, "step_loss")->count, 3);
    CHECK_NEAR(ys_series_find(&setup.series, "step_loss")->reals[2], 1, 0);
    finish(&setup);
}

static void steps_may_not_be_left_out_or_repeated(void)
{
    check_its_first(begin, 15, "step 15 where step 14 was due", "step -1");
}

static void a_block_has_the_size_that_was_asked_for(void)
{
    struct setup setup;
    begin(&setup);
    ys_json_set_int(setup.message, "count", 2);
    check_refused(&setup, "2 steps where 3 were due");
    begin(&setup);
    setup.run.to = 20;
    check_refused(&setup, "3 steps where 4 were due");
}

static void blocks_lie_between_question_and_answer(void)
{
    check_its_times(begin);
}

static void waiting_for_data_is_a_part_of_the_block(void)
{
    struct setup setup;
    begin(&setup);
    ys_json_set_int(setup.message, "input_ns", 3001);
    check_refused(&setup, "waited 3001 ns for data in 3000 ns");
    begin(&setup);
    ys_json_remove(setup.message, "input_ns");
    check_refused(&setup, "waited -1 ns");
}

static void there_is_a_loss_for_each_step(void)
{
    struct setup setup;
    begin(&setup);
    ys_json_set(setup.message, "loss", ys_json_array());
    check_refused(&setup, "0 losses for 3 steps");
    begin(&setup);
    ys_json_set_string(setup.message, "loss", "none");
    check_refused(&setup, "0 losses");
    begin(&setup);
    ys_json_append(ys_json_get(setup.message, "loss"), ys_json_real(1));
    check_refused(&setup, "4 losses for 3 steps");
}

static void one_that_does_no_work_needs_no_losses(void)
{
    struct setup setup;
    begin(&setup);
    setup.run.no_work = true;
    ys_json_set(setup.message, "loss", ys_json_array());
    CHECK_INT(ys_run_take_block(&setup.run, setup.message), YS_OK);
    CHECK_INT(setup.run.next_step, 17);
    finish(&setup);
}

static void a_loss_is_a_number(void)
{
    struct setup setup;
    begin(&setup);
    ys_json *loss = ys_json_array();
    ys_json_append(loss, ys_json_int(1));
    ys_json_append(loss, ys_json_string("small"));
    ys_json_append(loss, ys_json_null());
    ys_json_set(setup.message, "loss", loss);
    check_refused(&setup, "loss of step 15 is not a number");
}

static void put_times(struct setup *setup, const char *name, int64_t a, int64_t b, int64_t c)
{
    ys_json *times = ys_json_array();
    const int64_t values[] = {a, b, c};
    for (int i = 0; i < 3; i++)
        ys_json_append(times, ys_json_int(values[i]));
    ys_json_set(setup->message, name, times);
}

static void times_of_an_exchange_are_kept(void)
{
    struct setup setup;
    begin(&setup);
    put_times(&setup, "ready_ns", 10, 1000, 2999);
    put_times(&setup, "reduced_ns", 900, 1000, 3000);
    const int64_t start_ns = ys_json_get_int(setup.message, "t_start_ns", 0);
    CHECK_INT(ys_run_take_block(&setup.run, setup.message), YS_OK);
    CHECK_INT(ys_series_find(&setup.series, "exchange_step")->ints[2], 16);
    CHECK_INT(ys_series_find(&setup.series, "exchange_ready_ns")->ints[0], start_ns + 10);
    CHECK_INT(ys_series_find(&setup.series, "exchange_reduced_ns")->ints[2], start_ns + 3000);
    CHECK(!ys_series_find(&setup.series, "exchange_began_ns")); /* said by nobody */
    finish(&setup);
    begin(&setup);
    put_times(&setup, "began_ns", 10, 1000, 2500);
    put_times(&setup, "ready_ns", 10, 1000, 2999);
    put_times(&setup, "reduced_ns", 900, 1000, 3000);
    put_times(&setup, "updated_ns", 950, 1200, 3000);
    const int64_t all_start_ns = ys_json_get_int(setup.message, "t_start_ns", 0);
    CHECK_INT(ys_run_take_block(&setup.run, setup.message), YS_OK);
    CHECK_INT(ys_series_find(&setup.series, "exchange_began_ns")->ints[0], all_start_ns + 10);
    CHECK_INT(ys_series_find(&setup.series, "exchange_updated_ns")->ints[1], all_start_ns + 1200);
    finish(&setup);
}

/* A block of three steps in which `began` and `updated` of the second are these. */
static void begin_with(struct setup *setup, int64_t began_ns, int64_t updated_ns)
{
    begin(setup);
    put_times(setup, "began_ns", 0, began_ns, 2000);
    put_times(setup, "ready_ns", 100, 1100, 2100);
    put_times(setup, "reduced_ns", 200, 1200, 2200);
    put_times(setup, "updated_ns", 300, updated_ns, 2300);
}

static void a_step_begins_behind_the_update_of_that_before_and_its_data(void)
{
    struct setup setup;
    begin_with(&setup, 299, 1300);
    check_refused(&setup, "step 15 has as \"began_ns\" 299 ns behind another time of 300 ns");
    begin_with(&setup, 1101, 1300);
    check_refused(&setup, "step 15 has as \"ready_ns\" 1100 ns behind another time of 1101 ns");
    begin_with(&setup, 1000, 1199);
    check_refused(&setup, "step 15 has as \"updated_ns\" 1199 ns behind another time of 1200 ns");
    begin_with(&setup, 1000, 2001);
    check_refused(&setup, "step 16 has as \"began_ns\" 2000 ns behind another time of 2001 ns");
    begin_with(&setup, 1000, 1300);
    ys_json_remove(setup.message, "updated_ns");
    check_refused(&setup, "0 times \"updated_ns\" for 3 steps");
    const int64_t between_ns = 700 + 700 + 700; /* of 3000 that the block takes */
    begin_with(&setup, 1000, 1300);
    ys_json_set(setup.message, "input_ns", ys_json_int(between_ns + 1));
    check_refused(&setup, "waited 2101 ns for data, and 2100 ns passed between its steps");
    begin_with(&setup, 1000, 1300);
    ys_json_set(setup.message, "input_ns", ys_json_int(between_ns));
    CHECK_INT(ys_run_take_block(&setup.run, setup.message), YS_OK);
    finish(&setup);
}

static void times_of_an_exchange_lie_inside_the_block_one_after_the_other(void)
{
    static const struct {
        int64_t ready[3], reduced[3];
    } wrong[] = {{{-1, 20, 30}, {15, 25, 35}},
                 {{10, 20, 30}, {15, 25, 3001}},
                 {{10, 14, 30}, {15, 25, 35}},
                 {{10, 20, 30}, {15, 19, 35}}};
    struct setup setup;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        begin(&setup);
        put_times(&setup, "ready_ns", wrong[i].ready[0], wrong[i].ready[1], wrong[i].ready[2]);
        put_times(&setup, "reduced_ns", wrong[i].reduced[0], wrong[i].reduced[1], wrong[i].reduced[2]);
        check_refused(&setup, "not times one after the other inside the block");
    }
    begin(&setup);
    put_times(&setup, "ready_ns", 10, 20, 30);
    check_refused(&setup, "0 times \"reduced_ns\" for 3 steps");
    begin(&setup);
    put_times(&setup, "began_ns", 10, 20, 30);
    put_times(&setup, "updated_ns", 10, 20, 30);
    check_refused(&setup, "0 times \"ready_ns\" for 3 steps");
}

TAP_MAIN(TAP_CASE(one_that_is_right_is_kept), TAP_CASE(one_carries_its_rank),
         TAP_CASE(steps_may_not_be_left_out_or_repeated), TAP_CASE(a_block_has_the_size_that_was_asked_for),
         TAP_CASE(blocks_lie_between_question_and_answer), TAP_CASE(waiting_for_data_is_a_part_of_the_block),
         TAP_CASE(there_is_a_loss_for_each_step), TAP_CASE(one_that_does_no_work_needs_no_losses),
         TAP_CASE(a_loss_is_a_number), TAP_CASE(times_of_an_exchange_are_kept),
         TAP_CASE(a_step_begins_behind_the_update_of_that_before_and_its_data),
         TAP_CASE(times_of_an_exchange_lie_inside_the_block_one_after_the_other))
