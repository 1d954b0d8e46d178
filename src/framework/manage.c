/* Installing and removing, one framework or all. install.c makes an environment; this says which, and whether. */
#include "framework/framework.h"

#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/size.h"
#include "base/stop.h"
#include "framework/environment.h"

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
    char *name = NULL, *asked = NULL;
    ys_status status = ys_recipe_split(spec, &name, &asked);
    if (status == YS_OK)
        status = ys_recipe_find(spec, recipe_dirs, recipe);
    if (status == YS_OK)
        status = ys_recipe_version(*recipe, asked, version);
    ys_free(name);
    ys_free(asked);
    return status;
}

/* Makes what is not complete. `present`: whether it was. */
static ys_status install(const struct ys_recipe *recipe, const char *version, bool *present)
{
    struct ys_environment environment;
    char size[YS_SIZE_TEXT];
    YS_TRY(ys_environment_read(recipe, version, &environment));
    ys_status status = YS_OK;
    *present = environment.complete;
    if (environment.complete && recipe->get)
        ys_log_info("%s %s is installed: %s runs it", recipe->title, version, environment.interpreter);
    else if (environment.complete)
        ys_log_info("%s %s is installed in %s (%s)", recipe->title, version, environment.folder,
                    ys_size_text(environment.size_bytes, size));
    else if (recipe->get)
        status =
            ys_fail(YS_EUNSUPPORTED, "%s, then name the program that runs it: yardstick install %s@%s --from=PROGRAM",
                    environment.reason, recipe->name, version);
    else
        status = ys_environment_make(recipe, version);
    ys_environment_fini(&environment);
    return status;
}

ys_status ys_framework_install(const char *spec, const char *const *recipe_dirs)
{
    struct ys_recipe *recipe = NULL;
    const char *version = NULL;
    bool present;
    ys_status status = find_recipe(spec, recipe_dirs, &recipe, &version);
    if (status == YS_OK && recipe->program)
        ys_log_info("%s needs no installation", recipe->name);
    else if (status == YS_OK && recipe->uses)
        ys_log_info("%s needs no installation of its own: it uses %s", recipe->name, recipe->uses);
    else if (status == YS_OK)
        status = install(recipe, version, &present);
    ys_recipe_free(recipe);
    return status;
}

ys_status ys_framework_register(const char *spec, const char *const *recipe_dirs, const char *interpreter)
{
    struct ys_recipe *recipe = NULL;
    const char *version = NULL;
    struct ys_environment environment = {0};
    ys_status status = find_recipe(spec, recipe_dirs, &recipe, &version);
    if (status == YS_OK)
        status = ys_environment_read(recipe, version, &environment);
    if (status == YS_OK)
        status = ys_environment_register(&environment, interpreter);
    ys_environment_fini(&environment);
    ys_recipe_free(recipe);
    return status;
}

/* Whether the disk that holds `folder` has room for the framework of a list's entry; says so where it has not. While
 * it is installed its packages lie there beside it, in the installer's own cache and unpacked half way. */
static bool has_room(const char *folder, const char *spec, const ys_json *entry)
{
    struct statvfs disk;
    uint64_t stays = (uint64_t)ys_json_get_int(entry, "disk_bytes", 0);
    uint64_t need = stays + 2 * (uint64_t)ys_json_get_int(entry, "download_bytes", 0);
    if (statvfs(folder, &disk) != 0)
        return true; /* a file system that does not say fails when it is full */
    uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (need + RESERVE_BYTES <= room)
        return true;
    char needed[YS_SIZE_TEXT], free_now[YS_SIZE_TEXT], reserve[YS_SIZE_TEXT];
    ys_log_info(
        "skipped %s: installing it takes %s, and of the %s that are free in %s %s are kept for data and results", spec,
        ys_size_text(need, needed), ys_size_text(room, free_now), folder, ys_size_text(RESERVE_BYTES, reserve));
    return false;
}

struct tally {
    int installed, present, skipped, failed;
};

static ys_status install_entry(const ys_json *entry, const char *const *recipe_dirs, const char *folder,
                               struct tally *tally)
{
    const char *spec = ys_json_get_text(entry, "spec", ""), *kind = ys_json_get_text(entry, "kind", "damaged");
    bool ready = strcmp(ys_json_get_text(entry, "state", ""), "ready") == 0;
    if (strcmp(kind, "program") == 0 || strcmp(kind, "shared") == 0)
        return YS_OK;
    if (!ready && strcmp(kind, "packages") == 0 && !has_room(folder, spec, entry)) {
        tally->skipped++;
        return YS_OK;
    }
    ys_status status = strcmp(kind, "damaged") == 0 ? ys_fail(YS_EFORMAT, "%s", ys_json_get_text(entry, "reason", ""))
                                                    : ys_framework_install(spec, recipe_dirs);
    if (status == YS_EINTR || status == YS_ENOMEM)
        return status;
    if (status == YS_OK) {
        *(ready ? &tally->present : &tally->installed) += 1;
    } else if (status == YS_EUNSUPPORTED) {
        ys_log_info("skipped %s: %s", spec, ys_error());
        tally->skipped++;
    } else {
        ys_log_warn("%s could not be installed: %s", spec, ys_error());
        tally->failed++;
    }
    return YS_OK;
}

static int by_size(const void *a, const void *b)
{
    const ys_json *x = *(const ys_json *const *)a, *y = *(const ys_json *const *)b;
    int64_t difference = ys_json_get_int(x, "disk_bytes", 0) - ys_json_get_int(y, "disk_bytes", 0);
    if (difference)
        return difference < 0 ? -1 : 1;
    return strcmp(ys_json_get_text(x, "spec", ""), ys_json_get_text(y, "spec", ""));
}

ys_status ys_framework_install_all(const char *const *recipe_dirs, bool *failed)
{
    ys_json *list = NULL;
    struct tally tally = {0};
    YS_TRY(ys_framework_list(recipe_dirs, &list));
    size_t count = ys_json_size(list);
    const ys_json **entries = ys_alloc(count, sizeof *entries);
    char *folder = ys_environments_dir();
    ys_status status = entries && folder ? ys_fs_make_dirs(folder) : ys_out_of_memory();
    for (size_t i = 0; entries && i < count; i++)
        entries[i] = ys_json_at(list, i);
    if (entries)
        qsort(entries, count, sizeof *entries, by_size); /* the smallest first: most of them fit then */
    for (size_t i = 0; status == YS_OK && i < count; i++)
        status = install_entry(entries[i], recipe_dirs, folder, &tally);
    if (status == YS_OK)
        ys_log_info("%d installed, %d were there, %d skipped, %d failed", tally.installed, tally.present, tally.skipped,
                    tally.failed);
    *failed = tally.failed > 0;
    ys_free(entries);
    ys_free(folder);
    ys_json_free(list);
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
        status = ys_environment_read(recipe, version, &environment);
    if (status == YS_OK)
        status = remove_folder(environment.folder, spec);
    ys_environment_fini(&environment);
    ys_recipe_free(recipe);
    return status;
}

ys_status ys_framework_uninstall_all(bool *failed)
{
    char *all = ys_environments_dir();
    DIR *dir = all ? opendir(all) : NULL;
    ys_status status = all ? YS_OK : ys_out_of_memory();
    int found = 0;
    *failed = false;
    for (struct dirent *entry; dir && status == YS_OK && (entry = readdir(dir));) {
        char *folder = ys_path_join(all, entry->d_name);
        if (!folder) {
            status = ys_out_of_memory();
        } else if (strchr(entry->d_name, '@') && ys_fs_is_dir(folder)) {
            status = remove_folder(folder, entry->d_name);
            found++;
        }
        ys_free(folder);
        if (status == YS_EBUSY || status == YS_EIO) {
            ys_log_warn("%s", ys_error());
            *failed = true;
            status = YS_OK;
        }
        if (status == YS_OK && ys_stop_signal())
            status = ys_stopped();
    }
    if (dir)
        closedir(dir);
    if (status == YS_OK && !found)
        ys_log_info("no framework is installed: there is nothing to remove");
    ys_free(all);
    return status;
}
