/* show --follow: a study that another process runs, as it goes on. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/verbs/show_result.h"
#include "job/settings.h"
#include "metric/metric.h"
#include "metric/remaining_time.h"
#include "metric/result_document.h"
#include "report/report.h"
#include "store/stored_study.h"

#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_S = 1, LINE_S = 30 }; /* how often it is looked, and said where there is no terminal */

struct following {
    const struct ys_args *args;
    struct ys_store *store;
    int64_t study_id;
    int64_t runs; /* as of the last table; -1: none yet */
    uint64_t said_ns;
    bool terminal;
};

/* Whether runs may still come: it is not ended, and somebody writes here. *pause_s is what lies between two of them. */
static ys_status goes_on(const struct following *following, bool *on, double *pause_s)
{
    ys_json *document = NULL;
    struct ys_study_record study;
    struct ys_study_timing timing;
    struct ys_study_settings settings;
    YS_TRY(ys_store_study_get(following->store, following->study_id, &document));
    ys_study_record_read(document, &study, &timing);
    ys_study_settings_read(study.job, &settings);
    *on = study.status == YS_STUDY_RUNNING && ys_store_is_written(following->store);
    *pause_s = isnan(settings.cooldown_s) ? 0 : settings.cooldown_s;
    ys_json_free(document);
    return YS_OK;
}

static void count_runs(const struct ys_result *result, int64_t *runs, int64_t *planned)
{
    *runs = *planned = 0;
    for (size_t i = 0; i < result->trial_count; i++) {
        *runs += result->trials[i].runs;
        *planned += result->trials[i].runs_planned > 0 ? result->trials[i].runs_planned : 0;
    }
}

/* "12 of 40 runs, about 3 min left" */
static void put_progress(const struct ys_result *result, int64_t runs, int64_t planned, double pause_s,
                         struct ys_buf *out)
{
    char span[32];
    const double left_s = ys_result_left_s(result, pause_s);
    ys_buf_printf(out, "%lld of %lld runs", (long long)runs, (long long)planned);
    if (left_s > 0)
        ys_buf_printf(out, ", about %s left", ys_span_text(left_s, span, sizeof span));
}

/* On a terminal the table anew, else a line now and then. */
static ys_status show_now(struct following *following, double pause_s)
{
    struct ys_result result = {0};
    struct ys_buf line = {0}, out = {0};
    int64_t runs, planned;
    bool left;
    YS_TRY(ys_metric_result_load(following->store, following->study_id, 0, &result));
    count_runs(&result, &runs, &planned);
    const bool is_new = runs != following->runs, due = ys_time_ns() - following->said_ns > LINE_S * 1000000000ULL;
    ys_status status = YS_OK;
    put_progress(&result, runs, planned, pause_s, &line);
    if (following->terminal && is_new) {
        ys_buf_puts(&out, "\033[H\033[2J");
        ys_result_text(following->args, following->store, following->study_id, &result, &out);
        ys_buf_printf(&out, "\n%s\n", ys_buf_text(&line));
        status = ys_command_write(&out, &left);
    } else if (!following->terminal && is_new && due) {
        ys_log_info("%s", ys_buf_text(&line));
        following->said_ns = ys_time_ns();
    }
    following->runs = runs;
    ys_buf_free(&out);
    ys_buf_free(&line);
    ys_result_fini(&result);
    return status;
}

int ys_result_follow(const struct ys_args *args, struct ys_store *store, int64_t study_id)
{
    struct following following = {args, store, study_id, -1, 0, ys_log_is_terminal(STDOUT_FILENO)};
    const struct timespec pause = {.tv_sec = LOOK_S};
    bool on = true;
    double pause_s;
    for (;;) {
        ys_status status = goes_on(&following, &on, &pause_s);
        if (status == YS_OK && on)
            status = show_now(&following, pause_s);
        if (status != YS_OK)
            return ys_command_fail(status);
        if (!on)
            break;
        nanosleep(&pause, NULL);
    }
    if (following.terminal && following.runs >= 0)
        fputs("\033[H\033[2J", stdout);
    return ys_result_print(args, store, study_id);
}
