#include "framework/environment_lock.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"

#include <string.h>

/* To end takes what a killed installation left a moment; an installation under way takes minutes. */
static const double PATIENCE_S = 2;

/* An environment that this process uses; each once, whatever the number of trials. */
struct ys_held {
    struct ys_held *next;
    char *folder;
    struct ys_lock lock;
    size_t users;
    struct ys_env_files files; /* as they were when it was taken */
};

static struct ys_held *all_held;

static char *lock_path(const char *folder)
{
    return ys_format("%s.lock", folder);
}

/* Asked for like one that uses it: that disturbs nobody but who would take it alone in this very moment. */
static bool is_alone(const char *path)
{
    struct ys_lock lock;
    if (!ys_fs_exists(path))
        return false;
    ys_status status = ys_lock_take(path, YS_LOCK_SHARED, 0, &lock);
    ys_lock_release(&lock);
    return status == YS_EBUSY;
}

bool ys_environment_is_taken(const char *folder, long *holder)
{
    char *path = lock_path(folder);
    bool taken = path && is_alone(path);
    *holder = taken ? ys_lock_holder(path) : 0;
    ys_free(path);
    return taken;
}

bool ys_environment_is_used(const char *folder)
{
    char *path = lock_path(folder);
    bool used = !path || ys_lock_is_taken(path);
    ys_free(path);
    return used;
}

static ys_status fail_busy(const char *folder, const char *path)
{
    const char *name = ys_path_base(folder);
    if (!is_alone(path))
        return ys_fail(YS_EBUSY, "%s is in use by a study: wait for its end, then try again", name);
    return ys_fail(YS_EBUSY, "%s is being installed or removed by process %ld: wait for it, then try again", name,
                   ys_lock_holder(path));
}

ys_status ys_environment_share(const char *folder, struct ys_lock *lock)
{
    char *path = lock_path(folder);
    ys_status status = ys_lock_take(path, YS_LOCK_SHARED, PATIENCE_S, lock);
    if (status == YS_EBUSY)
        status = fail_busy(folder, path);
    ys_free(path);
    return status;
}

ys_status ys_environment_take(const char *folder, struct ys_lock *lock)
{
    char *parent = ys_path_dir(folder), *path = lock_path(folder);
    *lock = YS_LOCK_NONE;
    ys_status status = ys_fs_make_dirs(parent);
    if (status == YS_OK)
        status = ys_lock_take(path, YS_LOCK_ALONE, YS_LOCK_PATIENCE_S, lock);
    if (status == YS_EBUSY && is_alone(path)) {
        ys_progress("%s: waiting for another install to end", ys_path_base(folder));
        status = ys_lock_take(path, YS_LOCK_ALONE, PATIENCE_S, lock);
        ys_progress_clear();
    }
    if (status == YS_EBUSY)
        status = fail_busy(folder, path);
    ys_free(parent);
    ys_free(path);
    return status;
}

static void free_held(struct ys_held *held)
{
    ys_lock_release(&held->lock);
    ys_env_files_fini(&held->files);
    ys_free(held->folder);
    ys_free(held);
}

void ys_held_release(struct ys_held *held)
{
    if (!held || --held->users > 0)
        return;
    for (struct ys_held **at = &all_held; *at; at = &(*at)->next) {
        if (*at == held) {
            *at = held->next;
            break;
        }
    }
    free_held(held);
}

static void warn(const struct ys_held *held)
{
    const char *name = ys_path_base(held->folder);
    char *text =
        ys_env_files_count(&held->files) && !held->files.missing ? ys_env_files_text(&held->files, held->folder) : NULL;
    if (text)
        ys_log_warn("%s: `yardstick install --repair %s` makes it anew", text, name);
    ys_free(text);
}

/* The lock, and a look at what it keeps from changing. YS_ENOTFOUND: it was removed in the meantime. */
static ys_status take_shared(struct ys_held *held)
{
    char *path = lock_path(held->folder);
    ys_status status = ys_lock_take(path, YS_LOCK_SHARED, YS_LOCK_PATIENCE_S, &held->lock);
    ys_free(path);
    return status == YS_OK ? ys_env_files_look(held->folder, &held->files) : status;
}

static ys_status hold(const char *folder, struct ys_held **held)
{
    for (*held = all_held; *held; *held = (*held)->next) {
        if (strcmp((*held)->folder, folder) == 0) {
            (*held)->users++;
            return YS_OK;
        }
    }
    struct ys_held *h = ys_alloc(1, sizeof *h);
    *h = (struct ys_held){.folder = ys_strdup(folder), .lock = YS_LOCK_NONE, .users = 1};
    ys_status status = take_shared(h);
    if (status != YS_OK) {
        free_held(h);
        return status;
    }
    warn(h);
    h->next = all_held;
    all_held = *held = h;
    return YS_OK;
}

/* Takes over `reason`. */
static void become_missing(struct ys_framework *framework, char *reason_taken, const char *flag)
{
    framework->state = YS_FRAMEWORK_MISSING;
    ys_free(framework->reason);
    ys_free(framework->command);
    framework->reason = reason_taken;
    framework->command = ys_format("yardstick install %s%s", flag, ys_path_base(framework->environment));
}

static void take_findings(struct ys_framework *framework, const struct ys_env_files *files)
{
    memcpy(framework->fingerprint, files->fingerprint, sizeof framework->fingerprint);
    if (!ys_env_files_count(files))
        return;
    char *text = ys_env_files_text(files, framework->environment);
    if (files->missing) {
        become_missing(framework, text, "--repair ");
        return;
    }
    framework->changes = text;
}

/* Of what failed, that which another process did since the framework was found is no failure. */
static ys_status take_failure(struct ys_framework *framework, ys_status status)
{
    if (status == YS_EBUSY) {
        become_missing(framework, ys_strdup("it is being installed or removed"), "");
        return YS_OK;
    }
    if (status == YS_ENOTFOUND) {
        become_missing(framework, ys_strdup("its environment was removed in the meantime"), "");
        return YS_OK;
    }
    return status;
}

ys_status ys_framework_look(struct ys_framework *framework, struct ys_env_files *files)
{
    *files = (struct ys_env_files){0};
    if (framework->state != YS_FRAMEWORK_READY || !framework->environment)
        return YS_OK;
    ys_status status = ys_env_files_look(framework->environment, files);
    if (status != YS_OK)
        return take_failure(framework, status);
    take_findings(framework, files);
    return YS_OK;
}

ys_status ys_framework_hold(struct ys_framework *framework)
{
    if (framework->state != YS_FRAMEWORK_READY || !framework->environment || framework->held)
        return YS_OK;
    ys_status status = hold(framework->environment, &framework->held);
    if (status == YS_OK)
        take_findings(framework, &framework->held->files);
    else
        status = take_failure(framework, status);
    if (framework->state != YS_FRAMEWORK_READY || status != YS_OK) {
        ys_held_release(framework->held);
        framework->held = NULL;
    }
    return status;
}
