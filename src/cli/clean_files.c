/* What is left over in the results folder and in the cache: named after the process that was making it. */
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/clean.h"
#include "store/lock.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static bool ends_in(const char *name, size_t *length, const char *end)
{
    size_t size = strlen(end);
    if (*length <= size || memcmp(name + *length - size, end, size) != 0)
        return false;
    *length -= size;
    return true;
}

/* The number at the end of the first *length letters, after the letter `before`: takes both off. -1: there is none. */
static long take_number(const char *name, size_t *length, char before)
{
    size_t from = *length;
    while (from > 0 && isdigit((unsigned char)name[from - 1]))
        from--;
    if (from == *length || from < 1 || name[from - 1] != before || *length - from > 18)
        return -1;
    long number = strtol(name + from, NULL, 10);
    *length = from - 1;
    return number;
}

/* Whether no process has that number any more. A number that another process has got since keeps what is named after
 * it. */
static bool is_gone(long pid)
{
    return pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* "report.html.PID-N.tmp" (base/atomic_file.c), "report.html.PID.tmp"; "x.PID.part" (adapters/common.py);
 * ".probe-PID" (store/lock.c). The number of the process, -1 for any other name. */
static long writer_of(const char *name)
{
    static const char PROBE[] = ".probe-", PAGE[] = "report.html";
    size_t length = strlen(name);
    if (strncmp(name, PROBE, strlen(PROBE)) == 0)
        return take_number(name, &length, '-');
    if (ends_in(name, &length, ".part"))
        return take_number(name, &length, '.');
    if (!ends_in(name, &length, ".tmp"))
        return -1;
    if (take_number(name, &length, '-') >= 0)
        return take_number(name, &length, '.');
    const long pid = take_number(name, &length, '.');
    return length == strlen(PAGE) && memcmp(name, PAGE, length) == 0 ? pid : -1;
}

/* "working-PID" (base/support.c); ".mnist.PID.TIME" (data/prepared.c); "HASH.PID" (study/shelf.c). */
static long maker_of(const char *name, const char **what)
{
    static const char WORKING[] = "working-";
    size_t length = strlen(name);
    if (strncmp(name, WORKING, strlen(WORKING)) == 0) {
        *what = "a working folder";
        return take_number(name, &length, '-');
    }
    *what = name[0] == '.' ? "half-made data" : "half-made work";
    if (name[0] == '.')
        return take_number(name, &length, '.') >= 0 ? take_number(name, &length, '.') : -1;
    const long pid = take_number(name, &length, '.');
    return length == 64 && strspn(name, "0123456789abcdef") == length ? pid : -1;
}

static ys_status visit_half_written(const struct ys_clean *clean, const char *path, const char *name, bool is_folder,
                                    bool *taken)
{
    *taken = !is_folder && is_gone(writer_of(name));
    return *taken ? ys_clean_away(clean, path, "a half-written file") : YS_OK;
}

static ys_status visit_cached(const struct ys_clean *clean, const char *path, const char *name, bool is_folder,
                              bool *taken)
{
    const char *what = NULL;
    if (!is_folder)
        return visit_half_written(clean, path, name, is_folder, taken);
    *taken = is_gone(maker_of(name, &what));
    return *taken ? ys_clean_away(clean, path, what) : YS_OK;
}

/* Once a run is stored, none of these is there any more. */
static ys_status visit_run(const struct ys_clean *clean, const char *path, const char *name, bool is_folder,
                           bool *taken)
{
    size_t length = strlen(name);
    *taken = !is_folder && (ends_in(name, &length, ".safetensors") || strcmp(name, "model.onnx") == 0);
    return *taken ? ys_clean_away(clean, path, "weights of a run that was cut off") : YS_OK;
}

static ys_status visit_study(const struct ys_clean *clean, const char *path, const char *name, bool is_folder,
                             bool *taken)
{
    (void)name;
    *taken = true;
    char *runs = is_folder ? ys_path_join(path, "runs") : NULL;
    if (is_folder && !runs)
        return ys_out_of_memory();
    ys_status status = runs ? ys_clean_walk(clean, runs, 3, visit_run) : YS_OK;
    ys_free(runs);
    return status;
}

ys_status ys_sweep_results(const struct ys_clean *clean)
{
    /* studies, their runs, a run's parts */
    return clean->results ? ys_clean_walk(clean, clean->results, 5, visit_half_written) : YS_OK;
}

ys_status ys_sweep_runs(const struct ys_clean *clean)
{
    struct ys_lock lock = YS_LOCK_NONE;
    if (!clean->results)
        return YS_OK;
    ys_status status = ys_store_lock_take(clean->results, &lock);
    if (status == YS_EBUSY || (status == YS_EIO && clean->dry_run)) {
        ys_log_info("the folders of runs stay as they are: %s", ys_error());
        return YS_OK;
    }
    if (status == YS_OK)
        status = ys_clean_walk(clean, clean->results, 1, visit_study);
    ys_lock_release(&lock);
    return status;
}

ys_status ys_sweep_cache(const struct ys_clean *clean)
{
    char *cache = ys_cache_dir();
    ys_status status = cache ? ys_clean_walk(clean, cache, 2, visit_cached) : ys_out_of_memory();
    ys_free(cache);
    return status;
}
