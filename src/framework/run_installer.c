#include "framework/run_installer.h"

#include "base/clock.h"
#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "base/size_text.h"
#include "framework/environment.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const double SAID_EVERY_S = 10; /* where there is no terminal */

static bool has_one_of(const char *line, const char *const *signs)
{
    for (size_t i = 0; signs[i]; i++)
        if (strstr(line, signs[i]))
            return true;
    return false;
}

/* How pip and uv say that an index could not be asked. Neither has an exit code for it. */
static bool says_unreachable(const char *line)
{
    static const char *const signs[] = {"connection broken by",
                                        "Failed to establish a new connection",
                                        "Temporary failure in name resolution",
                                        "error sending request",
                                        "Could not connect",
                                        "Network is unreachable",
                                        NULL};
    return has_one_of(line, signs);
}

/* ENOSPC and EDQUOT, as Python and uv write them, in the language of the user or not. */
static bool says_full(const char *line)
{
    static const char *const signs[] = {
        "No space left on device", "[Errno 28]", "os error 28)", "Disk quota exceeded", "[Errno 122]",
        "os error 122)",           NULL};
    return has_one_of(line, signs);
}

/* ", 120 MB of about 210 MB downloaded, about 40 s left", as far as that is known. */
static void put_download(const struct ys_installer_talk *talk, char *text, size_t size)
{
    char have[YS_SIZE_TEXT], all[YS_SIZE_TEXT], left[32];
    uint64_t have_bytes = 0;
    const uint64_t all_bytes = talk->recipe->download_bytes;
    text[0] = 0;
    /* Small files are wrappers, and above what there is to download something is being unpacked. */
    if (ys_fs_tree_size(talk->tmp, &have_bytes) != YS_OK || have_bytes < 1000000 || have_bytes >= all_bytes)
        return;
    const double spent_s = (double)(ys_time_ns() - talk->start_ns) * 1e-9;
    snprintf(text, size, ", %s of about %s downloaded, about %s left", ys_size_text(have_bytes, have),
             ys_size_text(all_bytes, all),
             ys_span_text(spent_s * (double)(all_bytes - have_bytes) / (double)have_bytes, left, sizeof left));
}

/* "PyTorch 2.13.0: package 3 of 10, torch, 120 MB of about 210 MB downloaded, about 40 s left" */
static void show(const struct ys_installer_talk *talk)
{
    char spent[32], of[32] = "", download[128];
    ys_span_text((double)(ys_time_ns() - talk->start_ns) * 1e-9, spent, sizeof spent);
    if (!talk->collecting) {
        ys_progress("%s: %s, for %s", talk->what, talk->doing, spent);
        return;
    }
    put_download(talk, download, sizeof download);
    if (talk->packages)
        snprintf(of, sizeof of, " of %d", talk->packages);
    ys_progress("%s: package %d%s, %s%s", talk->what, talk->begun, of, talk->doing, download);
}

/* What of an installer's talk says where it is; its sentences themselves are for --debug. */
static void follow(struct ys_installer_talk *talk, const char *line)
{
    static const char collecting[] = "Collecting ", installing[] = "Installing collected packages",
                      building[] = "Building ";
    line += strspn(line, " ");
    if (strncmp(line, collecting, strlen(collecting)) == 0) {
        const char *name = line + strlen(collecting);
        talk->begun++;
        talk->collecting = true;
        snprintf(talk->doing, sizeof talk->doing, "%.*s", (int)strcspn(name, " =<>!~;[@"), name);
    } else if (strncmp(line, installing, strlen(installing)) == 0 || strncmp(line, building, strlen(building)) == 0) {
        talk->collecting = false;
        snprintf(talk->doing, sizeof talk->doing, *line == 'I' ? "unpacking" : "building");
    }
}

static void on_line(void *context, const char *line)
{
    struct ys_installer_talk *talk = context;
    if (strncasecmp(line, "error", 5) == 0 || strstr(line, "No matching distribution") || strstr(line, "× "))
        snprintf(talk->error, sizeof talk->error, "%s", line);
    talk->unreachable |= says_unreachable(line);
    talk->full |= says_full(line);
    talk->lacks_pip |= strstr(line, "ensurepip") != NULL;
    const char *remedy = talk->lacks_pip ? strstr(line, "apt install ") : NULL; /* as Debian's Python prints it */
    if (remedy)
        snprintf(talk->remedy, sizeof talk->remedy, ": `%s`", remedy);
    follow(talk, line);
    show(talk);
    ys_log_debug("%s", line);
}

static void on_wait(void *context)
{
    show(context);
}

/* The variables of every interpreter, and a folder of its own for what the installer unpacks: what a killed one leaves
 * there goes with the rest. NULL without memory; free it and its last string. */
static const char **installer_env(const char *folder, char **tmp)
{
    size_t count = 0;
    while (ys_environment_variables[count])
        count++;
    const char **env = ys_alloc(count + 2, sizeof *env);
    *tmp = ys_format("TMPDIR=%s/tmp", folder);
    if (!env || !*tmp) {
        ys_free(env);
        return NULL;
    }
    memcpy(env, ys_environment_variables, count * sizeof *env);
    env[count] = *tmp;
    return env;
}

static ys_status run(const struct ys_installer *way, const char *folder, struct ys_installer_talk *talk, bool *worked)
{
    char *tmp = NULL;
    const char **env = installer_env(folder, &tmp);
    struct ys_child_options options = {
        .env = env, .folder = folder, .merge_stderr = true, .on_line = on_line, .on_wait = on_wait, .context = talk};
    struct ys_buf output = {0};
    int code = 0;
    talk->tmp = tmp ? tmp + strlen("TMPDIR=") : "";
    talk->start_ns = ys_time_ns();
    talk->collecting = false;
    snprintf(talk->doing, sizeof talk->doing, "%s", way->how);
    ys_progress_every(SAID_EVERY_S);
    show(talk);
    ys_status status = ys_child_run(way->argv, &options, &output, &code);
    ys_progress_clear();
    ys_buf_free(&output);
    ys_free(env);
    ys_free(tmp);
    *worked = status == YS_OK && code == 0;
    if (status == YS_OK && code != 0 && !talk->error[0])
        snprintf(talk->error, sizeof talk->error, "%s ended with exit code %d", way->how, code);
    return status == YS_EINTR ? status : YS_OK;
}
static ys_status fail_full(const struct ys_installer_talk *talk, const char *folder)
{
    char size[YS_SIZE_TEXT];
    const uint64_t need_bytes = ys_environment_need_bytes(talk->recipe->download_bytes, talk->recipe->disk_bytes);
    if (!need_bytes)
        return ys_fail(YS_EIO, "no space left in %s: make room, then try again", folder);
    return ys_fail(YS_EIO, "no space left in %s: it needs about %s while it is installed", folder,
                   ys_size_text(need_bytes, size));
}

ys_status ys_installer_try(const struct ys_installer *ways, size_t count, const char *folder,
                           struct ys_installer_talk *talk)
{
    bool worked = false;
    for (size_t i = 0; i < count && !worked; i++) {
        char first[sizeof talk->error];
        memcpy(first, talk->error, sizeof first);
        talk->error[0] = 0;
        YS_TRY(run(&ways[i], folder, talk, &worked));
        /* The first way's complaint is the one about how this machine is set up. */
        if (!worked && first[0])
            memcpy(talk->error, first, sizeof first);
    }
    if (worked)
        return YS_OK;
    if (talk->full)
        return fail_full(talk, folder);
    if (talk->lacks_pip)
        return ys_fail(
            YS_EIO,
            "this Python comes without ensurepip, which environments are made with; install that%s, or uv, in "
            "whose place no package of the system is needed",
            talk->remedy[0] ? talk->remedy : " (a package such as python3-venv)");
    return ys_fail(YS_EIO, "%s%s%s", talk->unreachable ? "a package index could not be reached (" : "", talk->error,
                   talk->unreachable ? ")" : "");
}
