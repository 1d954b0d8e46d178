/* What is shown of a study while it runs. */
#include "study/live_progress.h"

#include "base/mem.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static void add(struct ys_live_trial *trial, const char *text)
{
    ys_json *metrics = NULL;
    REQUIRE(ys_json_parse(text, strlen(text), "metrics", &metrics) == YS_OK);
    ys_live_add(trial, metrics);
    ys_json_free(metrics);
}

static void a_line_tells_runs_and_median(void)
{
    struct ys_live live;
    struct ys_buf out = {0};
    ys_live_init(&live, 3);
    live.trials[0] = (struct ys_live_trial){.id = "lenet:framework=builtin", .planned = 7, .done = 3};
    live.trials[1] = (struct ys_live_trial){.id = "b", .planned = 7, .done = 2, .failed = 2, .over = true};
    live.trials[2] = (struct ys_live_trial){.id = "c", .planned = 7};
    add(&live.trials[0], "{\"rate_per_s\":{\"value\":300}}");
    add(&live.trials[0], "{\"rate_per_s\":{\"value\":100}}");
    add(&live.trials[0], "{\"rate_per_s\":{\"value\":200.5}}");
    add(&live.trials[1], "{\"rate_per_s\":{\"value\":null,\"reason\":\"crashed\"}}");
    ys_live_print(&live, 10, &out);
    CHECK_TEXT(ys_buf_text(&out), "lenet:framework=builtin                            3/7      200.5/s\n"
                                  "b                                                  2/7          -   2 failed\n"
                                  "c                                                  0/7          -  \n");
    ys_buf_free(&out);
    ys_live_fini(&live);
}

static void no_line_is_wider_than_a_terminal_and_none_too_many(void)
{
    struct ys_live live;
    struct ys_buf out = {0};
    char name[400];
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = 0;
    ys_live_init(&live, 50);
    for (size_t i = 0; i < live.count; i++)
        live.trials[i] = (struct ys_live_trial){.id = name, .planned = 1000000, .done = 1000000, .failed = 1000000};
    live.trials[0].id = "\xC3\xA4\xC3\xA4\x1B[31m\tx";
    add(&live.trials[0], "{\"rate_per_s\":{\"value\":1.23456789e-300}}");
    ys_live_print(&live, 10, &out);
    size_t lines = 0;
    for (const char *line = ys_buf_text(&out); *line; line += strcspn(line, "\n") + 1, lines++) {
        size_t columns = 0;
        for (const char *c = line; *c != '\n'; c++)
            columns += ((unsigned char)*c & 0xC0) != 0x80;
        CHECK(columns <= YS_LIVE_WIDTH);
    }
    CHECK_INT(lines, 10);
    CHECK(strstr(ys_buf_text(&out), "... and 41 trials more\n"));
    CHECK(!strchr(ys_buf_text(&out), 0x1B));
    ys_buf_free(&out);
    ys_live_fini(&live);
}

static void what_is_left_is_told_by_each_trials_own_runs(void)
{
    struct ys_live live;
    ys_live_init(&live, 3);
    live.trials[0] = (struct ys_live_trial){.id = "a", .planned = 5, .done = 3, .spent_s = 6, .spent_on = 3};
    live.trials[1] = (struct ys_live_trial){.id = "b", .planned = 5, .done = 5, .spent_s = 4, .spent_on = 1};
    live.trials[2] = (struct ys_live_trial){.id = "c", .planned = 1};
    live.pause_s = 1;
    /* Two runs of 2 s, one of the mean of 10 s over 4, and a pause before each of the three. */
    CHECK_NEAR(ys_live_left_s(&live, NULL, 0, NAN), 4 + 2.5 + 3, 1e-12);
    live.trials[2].over = true;
    CHECK_NEAR(ys_live_left_s(&live, NULL, 0, NAN), 4 + 2, 1e-12);
    /* It does not stand still while a run is under way, and a run that takes longer than others leaves no less than the
     * others will take. */
    CHECK_NEAR(ys_live_left_s(&live, &live.trials[0], 0.5, NAN), 4 + 2 - 0.5, 1e-12);
    CHECK_NEAR(ys_live_left_s(&live, &live.trials[0], 7, NAN), 4 + 2 - 2, 1e-12);
    /* One that will take 10 s has 3 left, and says of the other that it may take (6 + 10) / 4. */
    CHECK_NEAR(ys_live_left_s(&live, &live.trials[0], 7, 10), 3 + 4 + 2, 1e-12);
    /* A run beyond those planned is what is left of it. */
    CHECK_NEAR(ys_live_left_s(&live, &live.trials[1], 1, NAN), 4 + 2 + 3, 1e-12);
    CHECK_NEAR(ys_live_left_s(&live, &live.trials[1], 1, 2), 4 + 2 + 1, 1e-12);
    for (size_t i = 0; i < live.count; i++)
        live.trials[i].spent_s = 0, live.trials[i].spent_on = 0;
    CHECK(isnan(ys_live_left_s(&live, NULL, 0, NAN)));
    CHECK(isnan(ys_live_left_s(&live, &live.trials[0], 3, NAN)));
    /* The first run has taken 3 s of 12: nine more, and a whole one, each with its pause. */
    CHECK_NEAR(ys_live_left_s(&live, &live.trials[0], 3, 12), 9 + 12 + 2, 1e-12);
    ys_live_fini(&live);
}

TAP_MAIN(TAP_CASE(a_line_tells_runs_and_median), TAP_CASE(no_line_is_wider_than_a_terminal_and_none_too_many),
         TAP_CASE(what_is_left_is_told_by_each_trials_own_runs))
