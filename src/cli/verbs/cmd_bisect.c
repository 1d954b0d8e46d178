/* bisect: which version of a framework made it slower, or wrong. */
#include "base/mem.h"
#include "base/stop.h"
#include "campaign/bisect.h"
#include "cli/command.h"
#include "framework/recipe.h"
#include "report/judged/judged.h"

enum { UNDECIDED = 4 };

static ys_status check_words(const struct ys_args *args)
{
    if (!args->good || !args->bad)
        return ys_fail(YS_EINVAL, "say between which versions: yardstick bisect STUDY.ys --good=pytorch@1.13.1 "
                                  "--bad=pytorch@2.13.0");
    for (const char *const *end = (const char *const[]){args->good, args->bad, NULL}; *end; end++)
        if (**end >= '0' && **end <= '9')
            return ys_fail(YS_EINVAL, "%s is a version of what? write NAME@%s, as pytorch@2.13.0", *end, *end);
    return ys_command_need_study(args, false);
}

/* The folder is a key of the job, as for `run`. */
static ys_status bisect(const struct ys_args *args, const char *good, const char *bad, struct ys_bisected *found)
{
    const struct ys_bisect_wish wish = {.path = args->word_count ? args->words[0] : NULL,
                                        .flags = args->flags.items,
                                        .flag_count = args->flags.count,
                                        .good = good,
                                        .bad = bad,
                                        .install = args->install,
                                        .versions = args->versions,
                                        .metric = args->metric ? args->metric : "rate_per_s",
                                        .recipe_dirs = args->recipe_dirs,
                                        .command = args->command};
    struct ys_store *store = NULL;
    YS_TRY(ys_command_open_store(args, &store));
    ys_status status = ys_bisect(&wish, store, found);
    ys_store_close(store);
    return status;
}

int ys_command_bisect(const struct ys_args *args)
{
    struct ys_bisected found;
    struct ys_buf out = {0};
    int printed;
    ys_status status = check_words(args);
    if (status == YS_OK) {
        char *good = ys_recipe_named(args->good, args->recipe_dirs);
        char *bad = ys_recipe_named(args->bad, args->recipe_dirs);
        status = bisect(args, good, bad, &found);
        ys_free(good);
        ys_free(bad);
    }
    if (status != YS_OK)
        return ys_command_fail(status);
    ys_stop_release(0);
    const int code = found.decided ? 0 : UNDECIDED;
    if (args->format == YS_FORMAT_JSON) {
        ys_json *json = ys_record_json(&ys_bisected_record, &found);
        ys_record_fini(&ys_bisected_record, &found);
        printed = ys_command_print_json(json);
        return printed ? printed : code;
    }
    ys_report_bisected(&found, ys_command_width(), ys_command_colour(), &out);
    ys_record_fini(&ys_bisected_record, &found);
    printed = ys_command_print(&out);
    return printed ? printed : code;
}
