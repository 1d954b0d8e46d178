/* clean: what was left over by processes that were killed. What nobody holds a lock of is a leftover
 * (base/files/working_folder.h); each room knows its own. */
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/size_text.h"
#include "base/files/temporary.h"
#include "cli/command.h"
#include "framework/framework.h"
#include "store/store.h"
#include "probe/own_cgroup.h"
#include "prepare/sweep_work.h"

struct clean_tally {
    bool dry, broken; /* broken: standard output takes no more */
    size_t count;
    uint64_t size_bytes;
};

static void report(void *context, const char *path, uint64_t size_bytes)
{
    struct clean_tally *tally = context;
    struct ys_buf line = {0};
    char size[YS_SIZE_TEXT];
    ys_buf_printf(&line, "%s %s, %s\n", tally->dry ? "left over" : "removed", path, ys_size_text(size_bytes, size));
    tally->count++;
    tally->size_bytes += size_bytes;
    if (tally->broken)
        ys_buf_free(&line);
    else
        tally->broken = ys_command_print(&line) != 0;
}

static int print_total(const struct clean_tally *tally)
{
    struct ys_buf out = {0};
    char size[YS_SIZE_TEXT];
    if (tally->broken)
        return 7;
    if (tally->count)
        ys_buf_printf(&out, "%zu in all, %s%s\n", tally->count, ys_size_text(tally->size_bytes, size),
                      tally->dry ? "; without --dry-run they are removed" : "");
    else
        ys_buf_puts(&out, "nothing is left over\n");
    return ys_command_print(&out);
}

/* Whether `folder` holds results: without them nothing in it is ours to remove. */
static ys_status has_results(const struct ys_args *args, const char *folder, bool *found)
{
    char *database = ys_path_join(folder, "results.db");
    *found = ys_fs_exists(database);
    ys_free(database);
    if (!*found && args->results)
        return ys_fail(YS_ENOTFOUND, "--results=%s: there are no results in that folder", args->results);
    return YS_OK;
}

int ys_command_clean(const struct ys_args *args)
{
    struct clean_tally tally = {.dry = args->dry_run};
    const struct ys_sweep sweep = {.dry = args->dry_run, .on_leftover = report, .context = &tally};
    char *folder = ys_path_absolute(ys_command_results(args));
    bool found = false;
    ys_status status = has_results(args, folder, &found);
    if (status == YS_OK && found)
        status = ys_store_sweep(folder, &sweep);
    ys_free(folder);
    if (status == YS_EBUSY) {
        ys_log_info("the results stay as they are: %s", ys_error());
        status = YS_OK;
    }
    if (status != YS_OK)
        return ys_command_fail(status);
    if (!args->dry_run)
        ys_group_sweep("");
    ys_cache_sweep(&sweep);
    ys_environments_sweep(&sweep);
    ys_temporary_sweep(&sweep);
    return print_total(&tally);
}
