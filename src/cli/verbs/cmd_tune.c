/* tune: the settings that make each trial of a study best. */
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/number_text.h"
#include "base/stop.h"
#include "campaign/tune.h"
#include "campaign/tune_over.h"
#include "cli/command.h"
#include "report/judged/judged.h"

#include <stdlib.h>
#include <string.h>

/* "20000 steps" */
static ys_status read_steps(const char *text, int64_t *steps)
{
    const size_t digits = strspn(text, "0123456789"), blanks = strspn(text + digits, " ");
    if (digits < 1 || digits > 15 || strcmp(text + digits + blanks, "steps") != 0 || strtoll(text, NULL, 10) < 1)
        return ys_fail(YS_EINVAL,
                       "--budget=%s: with --over every framework gets the same number of steps: write \"20000 steps\"",
                       text);
    *steps = strtoll(text, NULL, 10);
    return YS_OK;
}

static ys_status read_words(const struct ys_args *args, double *budget_s, int64_t *budget_steps)
{
    const char *out = args->out ? strrchr(args->out, '.') : NULL;
    if (!args->wish)
        return ys_fail(YS_EINVAL, "say what is to be best: yardstick tune STUDY.ys --for=rate_per_s --budget=30min");
    if (!args->budget)
        return ys_fail(YS_EINVAL, "say how long it may take: --budget=30min, shared by all trials");
    if (args->over && args->knobs)
        return ys_fail(YS_EINVAL, "--over and --knobs: hyper-parameters change what is learned, knobs only how fast: "
                                  "search one after the other");
    if (args->search && !args->over)
        return ys_fail(YS_EINVAL, "--search=%s is of hyper-parameters: say which, --over=\"lr={log 1e-4..1e-1 x 13}\"",
                       args->search);
    if (args->over)
        YS_TRY(read_steps(args->budget, budget_steps));
    else if (!ys_value_duration(args->budget, budget_s) || !(*budget_s > 0 && *budget_s < 1e7))
        return ys_fail(YS_EINVAL, "--budget=%s: write a time, such as 30min", args->budget);
    if (args->out && (!out || strcmp(out, ".ys") != 0))
        return ys_fail(YS_EINVAL, "--out=%s: a study is written, so name it FILE.ys", args->out);
    return ys_command_need_study(args, false);
}

static ys_status tune(const struct ys_args *args, struct ys_tuned *tuned)
{
    struct ys_tune_wish wish = {.path = args->word_count ? args->words[0] : NULL,
                                .flags = args->flags.items,
                                .flag_count = args->flags.count,
                                .wanted = args->wish,
                                .knobs = args->knobs,
                                .over = args->over,
                                .search = args->search,
                                .recipe_dirs = args->recipe_dirs,
                                .command = args->command};
    struct ys_store *store = NULL;
    YS_TRY(read_words(args, &wish.budget_s, &wish.budget_steps));
    YS_TRY(ys_command_open_store(args, &store));
    ys_status status = wish.over ? ys_tune_over(&wish, store, tuned) : ys_tune(&wish, store, tuned);
    ys_store_close(store);
    return status;
}

static ys_status write_study(const char *path, const struct ys_tuned *tuned)
{
    struct ys_buf text = {0};
    ys_report_tuned_study(tuned, &text);
    ys_status status = ys_fs_write(path, ys_buf_text(&text), text.size);
    ys_buf_free(&text);
    if (status == YS_OK)
        ys_log_info("wrote %s; run it: yardstick run %s", path, path);
    return status;
}

static int print(const struct ys_args *args, const struct ys_tuned *tuned)
{
    struct ys_buf out = {0};
    if (args->format == YS_FORMAT_JSON)
        return ys_command_print_json(ys_record_json(&ys_tuned_record, tuned));
    ys_report_tuned(tuned, ys_command_width(), ys_command_colour(), &out);
    return ys_command_print(&out);
}

/* What was found before it failed is told all the same. */
static int end_failed(const struct ys_args *args, struct ys_tuned *tuned, ys_status status)
{
    const struct ys_tuned_trial *trials = tuned->trials.items;
    const int code = ys_command_fail(status);
    if (tuned->trials.count && trials[tuned->trials.count - 1].sentence)
        print(args, tuned);
    ys_record_fini(&ys_tuned_record, tuned);
    return code;
}

int ys_command_tune(const struct ys_args *args)
{
    struct ys_tuned tuned = {0};
    ys_status status = tune(args, &tuned);
    if (status != YS_OK)
        return end_failed(args, &tuned, status);
    const int stopped_by = tuned.interrupted ? ys_stop_signal() : 0;
    int code = stopped_by ? 128 + stopped_by : ys_tuned_code(&tuned);
    if (args->out)
        status = write_study(args->out, &tuned);
    ys_stop_release(stopped_by);
    const int printed = print(args, &tuned);
    ys_record_fini(&ys_tuned_record, &tuned);
    if (status != YS_OK)
        return ys_command_fail(status);
    return printed ? printed : code;
}
