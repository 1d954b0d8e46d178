/* clean: what was left over by processes that were killed. */
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/size.h"
#include "base/stop.h"
#include "cli/clean.h"
#include "cli/command.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static ys_sweep *const sweepers[] = {ys_sweep_results, ys_sweep_runs, ys_sweep_cache, ys_sweep_temporary};

struct tally {
    bool dry_run, broken; /* standard output takes no more */
    size_t count;
    uint64_t size_bytes;
};

static void report(void *context, const char *path, uint64_t size_bytes, const char *what)
{
    struct tally *tally = context;
    struct ys_buf line = {0};
    char size[YS_SIZE_TEXT];
    ys_buf_printf(&line, "%s %s: %s, %s\n", tally->dry_run ? "left over" : "removed", path, what,
                  ys_size_text(size_bytes, size));
    tally->count++;
    tally->size_bytes += size_bytes;
    if (tally->broken)
        ys_buf_free(&line);
    else
        tally->broken = ys_command_print(&line) != 0;
}

ys_status ys_clean_away(const struct ys_clean *clean, const char *path, const char *what)
{
    uint64_t size_bytes = 0;
    struct stat entry;
    if (lstat(path, &entry) != 0)
        return YS_OK;
    if (ys_fs_tree_size(path, &size_bytes) != YS_OK)
        size_bytes = 0; /* removing it says what is wrong, if anything is */
    if (!clean->dry_run)
        YS_TRY(ys_fs_remove_tree(path));
    clean->report(clean->context, path, size_bytes, what);
    return YS_OK;
}

static ys_status visit_entry(const struct ys_clean *clean, const char *folder, const char *name, int depth,
                             ys_clean_visit *visit)
{
    struct stat entry;
    bool taken = false;
    char *path = ys_path_join(folder, name);
    ys_status status = path ? YS_OK : ys_out_of_memory();
    if (status == YS_OK && lstat(path, &entry) == 0) {
        status = visit(clean, path, name, S_ISDIR(entry.st_mode), &taken);
        if (status == YS_OK && !taken && S_ISDIR(entry.st_mode) && depth > 1)
            status = ys_clean_walk(clean, path, depth - 1, visit);
    }
    ys_free(path);
    return status;
}

ys_status ys_clean_walk(const struct ys_clean *clean, const char *folder, int depth, ys_clean_visit *visit)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, NULL, alphasort);
    ys_status status = YS_OK;
    if (count < 0 && errno != ENOENT && errno != ENOTDIR)
        return ys_fail(YS_EIO, "cannot list the folder %s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (status == YS_OK && ys_stop_signal())
            status = ys_stopped();
        if (status == YS_OK && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            status = visit_entry(clean, folder, name, depth, visit);
        free(entries[i]);
    }
    free(entries);
    return status;
}

static int print_total(struct tally *tally)
{
    struct ys_buf out = {0};
    char size[YS_SIZE_TEXT];
    if (tally->broken)
        return 7;
    if (tally->count)
        ys_buf_printf(&out, "%zu in all, %s%s\n", tally->count, ys_size_text(tally->size_bytes, size),
                      tally->dry_run ? "; without --dry-run they are removed" : "");
    else
        ys_buf_puts(&out, "nothing is left over\n");
    return ys_command_print(&out);
}

/* The folder with results, *results NULL where there is none: without them nothing in it is ours to remove. */
static ys_status find_results(const struct ys_args *args, const char **results)
{
    const char *folder = ys_command_results(args);
    char *database = ys_path_join(folder, "results.db");
    if (!database)
        return ys_out_of_memory();
    const bool found = ys_fs_exists(database);
    ys_free(database);
    if (!found && args->results)
        return ys_fail(YS_ENOTFOUND, "--results=%s: there are no results in that folder", folder);
    *results = found ? folder : NULL;
    return YS_OK;
}

int ys_command_clean(const struct ys_args *args)
{
    struct tally tally = {.dry_run = args->dry_run};
    struct ys_clean clean = {.dry_run = args->dry_run, .report = report, .context = &tally};
    int code = 0;
    ys_status status = find_results(args, &clean.results);
    if (status != YS_OK)
        return ys_command_fail(status);
    for (size_t i = 0; i < sizeof sweepers / sizeof sweepers[0] && status != YS_EINTR; i++) {
        status = sweepers[i](&clean);
        if (status != YS_OK)
            code = ys_command_fail(status);
    }
    if (status == YS_EINTR)
        return code;
    int printed = print_total(&tally);
    return printed ? printed : code;
}
