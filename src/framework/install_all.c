/* Installing and removing, one framework or all. install.c makes an environment; this says which, and whether. */
#include "framework/framework.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "base/size_text.h"
#include "base/stop.h"
#include "framework/env_files.h"
#include "framework/environment.h"
#include "framework/framework_list.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* Installing everything leaves this much of the disk: the files of a proof of VGG-16, the largest there are, and some
 * for data and results. */
static const uint64_t RESERVE_BYTES = 8000000000;

/* The recipe of `spec` and the version meant. */
static ys_status find_recipe(const char *spec, const char *const *recipe_dirs, struct ys_recipe **recipe,
                             const char **version)
{
    char *named = ys_recipe_named(spec, recipe_dirs), *name = NULL, *asked = NULL;
    ys_recipe_split(named, &name, &asked);
    ys_status status = ys_recipe_find(named, recipe_dirs, recipe);
    if (status == YS_OK)
        status = ys_recipe_version(*recipe, asked, version);
    ys_free(named);
    ys_free(name);
    ys_free(asked);
    return status;
}

/* Says what there is of packages, and in which state. */
static ys_status say_present(const struct ys_recipe *recipe, const char *version,
                             const struct ys_environment *environment, const struct ys_env_files *files, bool repair)
{
    char *text = ys_env_files_count(files) ? ys_env_files_text(files, environment->folder) : NULL;
    const char *name = ys_path_base(environment->folder);
    char size[YS_SIZE_TEXT];
    ys_status status = YS_OK;
    if (files->missing)
        status = ys_fail(YS_EIO, "%s: `yardstick install --repair %s` makes it anew", text ? text : "", name);
    else if (text)
        ys_log_warn("%s: `yardstick install --repair %s` makes it anew", text, name);
    if (status == YS_OK)
        ys_log_info("%s %s is installed in %s (%s)%s", recipe->title, version, environment->folder,
                    ys_size_text(environment->size_bytes, size),
                    repair ? ", and every file is as it was installed" : "");
    ys_free(text);
    return status;
}

/* An environment that is complete, of packages. */
static ys_status keep_or_repair(const struct ys_recipe *recipe, const char *version,
                                const struct ys_environment *environment, bool repair)
{
    struct ys_env_files files;
    YS_TRY(ys_env_files_look(environment->folder, &files));
    bool whole = files.known && !ys_env_files_count(&files);
    ys_status status = repair && !whole ? ys_environment_make(recipe, version, true)
                                        : say_present(recipe, version, environment, &files, repair);
    ys_env_files_fini(&files);
    return status;
}

/* Makes what is not complete, and with `repair` what is not whole. */
static ys_status install(const struct ys_recipe *recipe, const char *version, bool repair)
{
    struct ys_environment environment;
    ys_environment_read(recipe, version, &environment);
    ys_status status = YS_OK;
    if (environment.complete && recipe->get)
        ys_log_info("%s %s is installed: %s runs it", recipe->title, version, environment.interpreter);
    else if (environment.complete)
        status = keep_or_repair(recipe, version, &environment, repair);
    else if (recipe->get)
        status =
            ys_fail(YS_EUNSUPPORTED, "%s, then name the program that runs it: `yardstick install %s@%s --from=PROGRAM`",
                    environment.reason, recipe->name, version);
    else
        status = ys_environment_make(recipe, version, false);
    ys_environment_fini(&environment);
    return status;
}

/* One that runs in the environment of another. */
static ys_status check_shared(const char *spec, const struct ys_recipe *recipe, const char *const *recipe_dirs)
{
    struct ys_framework *framework = NULL;
    YS_TRY(ys_framework_find(spec, recipe_dirs, &framework));
    ys_status status = YS_OK;
    if (framework->state != YS_FRAMEWORK_READY)
        status = ys_fail(YS_EIO, "it runs in the environment of %s: %s%s%s", recipe->uses, framework->reason,
                         framework->command ? "; " : "", framework->command ? framework->command : "");
    else
        ys_log_info("%s needs no installation of its own: it uses %s", recipe->name, recipe->uses);
    ys_framework_free(framework);
    return status;
}

/* What yardstick's own Makefile makes for a program, where its sources are. */
static ys_status make_own(const struct ys_recipe *recipe)
{
    char *makefile = ys_find_support("Makefile"), *folder = makefile ? ys_path_dir(makefile) : NULL;
    const char *argv[] = {"make", "-C", folder, recipe->make, NULL};
    const struct ys_child_options options = {0};
    struct ys_buf said = {0};
    int code = 1;
    ys_free(makefile);
    if (!folder)
        return ys_fail(YS_EUNSUPPORTED, "it is made of yardstick's sources, which are not here: run `make %s` there",
                       recipe->make);
    ys_log_info("making %s: make -C %s %s", recipe->title, folder, recipe->make);
    ys_status status = ys_child_run(argv, &options, &said, &code);
    if (status == YS_OK && code != 0)
        status = ys_fail(YS_EIO, "`make -C %s %s` ended with %d", folder, recipe->make, code);
    if (status == YS_OK && said.size)
        ys_log_info("%s", ys_child_last_line(said.data));
    ys_buf_free(&said);
    ys_free(folder);
    return status;
}

static ys_status find_and_install(const char *spec, const char *const *recipe_dirs, bool repair, bool anywhere)
{
    struct ys_recipe *recipe = NULL;
    const char *version = NULL;
    ys_status status = find_recipe(spec, recipe_dirs, &recipe, &version);
    if (status == YS_OK && recipe->make)
        status = make_own(recipe);
    else if (status == YS_OK && recipe->program)
        ys_log_info("%s needs no installation", recipe->name);
    else if (status == YS_OK && recipe->uses)
        status = check_shared(spec, recipe, recipe_dirs);
    else if (status == YS_OK) {
        recipe->anywhere = anywhere;
        status = install(recipe, version, repair);
        if (status == YS_OK && recipe->converter)
            status = find_and_install(recipe->converter, recipe_dirs, repair, false);
    }
    ys_recipe_free(recipe);
    return status;
}

ys_status ys_framework_install(const char *spec, const char *const *recipe_dirs)
{
    return find_and_install(spec, recipe_dirs, false, false);
}

ys_status ys_framework_install_anywhere(const char *spec, const char *const *recipe_dirs)
{
    return find_and_install(spec, recipe_dirs, false, true);
}

ys_status ys_framework_repair(const char *spec, const char *const *recipe_dirs)
{
    return find_and_install(spec, recipe_dirs, true, false);
}

ys_status ys_framework_register(const char *spec, const char *const *recipe_dirs, const char *interpreter)
{
    struct ys_recipe *recipe = NULL;
    const char *version = NULL;
    struct ys_environment environment = {0};
    ys_status status = find_recipe(spec, recipe_dirs, &recipe, &version);
    if (status == YS_OK)
        ys_environment_read(recipe, version, &environment);
    if (status == YS_OK)
        status = ys_environment_register(&environment, interpreter);
    ys_environment_fini(&environment);
    ys_recipe_free(recipe);
    return status;
}

/* Whether the disk that holds `folder` has room for the framework of a list's entry; says so where it has not. */
static bool has_room(const char *folder, const struct ys_framework_entry *entry)
{
    struct statvfs disk;
    uint64_t need = ys_environment_need_bytes(entry->download_bytes, entry->disk_bytes);
    if (statvfs(folder, &disk) != 0)
        return true; /* a file system that does not say fails when it is full */
    uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (need + RESERVE_BYTES <= room)
        return true;
    char needed[YS_SIZE_TEXT], free_now[YS_SIZE_TEXT], reserve[YS_SIZE_TEXT];
    ys_log_info(
        "skipped %s: installing it takes %s, and of the %s that are free in %s %s are kept for data and results",
        entry->spec, ys_size_text(need, needed), ys_size_text(room, free_now), folder,
        ys_size_text(RESERVE_BYTES, reserve));
    return false;
}

struct install_tally {
    int installed, present, skipped, failed;
};

static ys_status install_entry(const struct ys_framework_entry *entry, const char *const *recipe_dirs,
                               const char *folder, struct install_tally *tally)
{
    bool ready = entry->state == YS_ENTRY_READY, damaged = entry->state == YS_ENTRY_DAMAGED;
    if (!damaged && (entry->kind == YS_ENTRY_PROGRAM || entry->kind == YS_ENTRY_SHARED))
        return YS_OK;
    if (!ready && !damaged && entry->kind == YS_ENTRY_PACKAGES && !has_room(folder, entry)) {
        tally->skipped++;
        return YS_OK;
    }
    ys_status status =
        damaged ? ys_fail(YS_EFORMAT, "%s", entry->reason) : ys_framework_install(entry->spec, recipe_dirs);
    if (status == YS_EINTR)
        return status;
    if (status == YS_OK) {
        *(ready ? &tally->present : &tally->installed) += 1;
    } else if (status == YS_EUNSUPPORTED) {
        ys_log_info("skipped %s: %s", entry->spec, ys_error());
        tally->skipped++;
    } else {
        ys_log_warn("%s could not be installed: %s", entry->spec, ys_error());
        tally->failed++;
    }
    return YS_OK;
}

static int by_size(const void *a, const void *b)
{
    const struct ys_framework_entry *x = a, *y = b;
    if (x->disk_bytes != y->disk_bytes)
        return x->disk_bytes < y->disk_bytes ? -1 : 1;
    return strcmp(x->spec, y->spec);
}

ys_status ys_framework_install_all(const char *const *recipe_dirs, bool *failed)
{
    struct ys_list list;
    struct install_tally tally = {0};
    ys_framework_list(recipe_dirs, &list);
    struct ys_framework_entry *entries = list.items;
    char *folder = ys_environments_dir();
    ys_status status = ys_fs_make_dirs(folder);
    if (list.count)
        qsort(entries, list.count, sizeof *entries, by_size); /* the smallest first: most of them fit then */
    for (size_t i = 0; status == YS_OK && i < list.count; i++)
        status = install_entry(&entries[i], recipe_dirs, folder, &tally);
    if (status == YS_OK)
        ys_log_info("%d installed, %d were there, %d skipped, %d failed", tally.installed, tally.present, tally.skipped,
                    tally.failed);
    *failed = tally.failed > 0;
    ys_free(folder);
    ys_list_fini(&ys_framework_entry_record, &list);
    return status;
}

static ys_status remove_folder(const char *folder, const char *spec)
{
    if (!ys_fs_is_dir(folder)) {
        ys_log_info("%s is not installed: there is nothing to remove", spec);
        return YS_OK;
    }
    YS_TRY(ys_environment_remove(folder));
    ys_log_info("removed %s", folder);
    return YS_OK;
}

ys_status ys_framework_uninstall(const char *spec, const char *const *recipe_dirs)
{
    struct ys_recipe *recipe = NULL;
    const char *version = NULL;
    struct ys_environment environment = {0};
    ys_status status = find_recipe(spec, recipe_dirs, &recipe, &version);
    if (status == YS_OK && (recipe->program || recipe->uses))
        status = ys_fail(YS_EINVAL, "%s has no environment of its own, so there is nothing to remove", recipe->name);
    if (status == YS_OK)
        ys_environment_read(recipe, version, &environment);
    if (status == YS_OK)
        status = remove_folder(environment.folder, spec);
    ys_environment_fini(&environment);
    ys_recipe_free(recipe);
    return status;
}

/* Does something with the environment in `folder`, envs/NAME@VERSION. */
typedef ys_status on_environment(const char *folder, void *context);

/* Each environment in turn. One that is in use, or with which it fails, is a warning and sets *failed. */
static ys_status for_each_environment(on_environment *act, void *context, size_t *found, bool *failed)
{
    char *all = ys_environments_dir();
    DIR *dir = opendir(all);
    ys_status status = YS_OK;
    for (struct dirent *entry; dir && status == YS_OK && (entry = readdir(dir));) {
        char *folder = ys_path_join(all, entry->d_name);
        if (strchr(entry->d_name, '@') && ys_fs_is_dir(folder)) {
            status = act(folder, context);
            ++*found;
        }
        ys_free(folder);
        if (status != YS_OK && status != YS_EINTR) {
            ys_log_warn("%s", ys_error());
            *failed = true;
            status = YS_OK;
        }
        if (status == YS_OK && ys_stop_signal())
            status = ys_stopped();
    }
    if (dir)
        closedir(dir);
    ys_free(all);
    return status;
}

static ys_status remove_one(const char *folder, void *context)
{
    (void)context;
    return remove_folder(folder, ys_path_base(folder));
}

ys_status ys_framework_uninstall_all(bool *failed)
{
    size_t found = 0;
    *failed = false;
    ys_status status = for_each_environment(remove_one, NULL, &found, failed);
    if (status == YS_OK && !found)
        ys_log_info("no framework is installed: there is nothing to remove");
    return status;
}

static ys_status repair_one(const char *folder, void *context)
{
    const char *const *const *recipe_dirs = context;
    const char *spec = ys_path_base(folder);
    ys_status status = ys_framework_repair(spec, *recipe_dirs);
    if (status == YS_EUNSUPPORTED) {
        ys_log_info("skipped %s: %s", spec, ys_error());
        return YS_OK;
    }
    return status == YS_OK || status == YS_EINTR ? status : ys_fail_in(status, "%s", spec);
}

ys_status ys_framework_repair_all(const char *const *recipe_dirs, bool *failed)
{
    size_t found = 0;
    *failed = false;
    ys_status status = for_each_environment(repair_one, &recipe_dirs, &found, failed);
    if (status == YS_OK && !found)
        ys_log_info("no framework is installed: there is nothing to repair");
    return status;
}

static ys_status sweep_one(const char *folder, void *context)
{
    const struct ys_sweep *const *sweep = context;
    ys_environment_sweep(folder, *sweep);
    return YS_OK;
}

void ys_environments_sweep(const struct ys_sweep *sweep)
{
    size_t found = 0;
    bool failed = false;
    if (for_each_environment(sweep_one, &sweep, &found, &failed) != YS_OK)
        ys_log_debug("%s", ys_error());
}
