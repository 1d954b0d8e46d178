#include "framework/environment.h"

#include "base/fs.h"
#include "base/mem.h"
#include "framework/env_lock.h"

#include <stdio.h>
#include <string.h>

void ys_environment_fini(struct ys_environment *environment)
{
    ys_free(environment->folder);
    ys_free(environment->python);
    ys_free(environment->reason);
    *environment = (struct ys_environment){0};
}

/* `pattern` with {version} and {python} replaced. */
static char *substitute(const char *pattern, const char *version, const char *python)
{
    struct ys_buf text = {0};
    while (*pattern) {
        if (strncmp(pattern, "{version}", 9) == 0) {
            ys_buf_puts(&text, version);
            pattern += 9;
        } else if (strncmp(pattern, "{python}", 8) == 0) {
            ys_buf_puts(&text, python);
            pattern += 8;
        } else {
            ys_buf_append(&text, pattern++, 1);
        }
    }
    return ys_buf_take(&text);
}

char *ys_recipe_requirements(const struct ys_recipe *recipe, const char *version, const char *python)
{
    char *relative = substitute(recipe->requirements, version, python);
    char *path = relative ? ys_path_join(recipe->folder, relative) : NULL;
    ys_free(relative);
    return path;
}

/* Looks at installed.json; sets `reason` when the environment is not what the recipe asks for today. */
static ys_status read_installed(const struct ys_recipe *recipe, const char *version, const ys_json *installed,
                                struct ys_environment *environment)
{
    const char *made_from = ys_json_get_text(installed, "requirements", "");
    const char *python = ys_json_get_text(installed, "python_version", "");
    char now[YS_SHA256_TEXT] = "", *file = ys_recipe_requirements(recipe, version, python);
    if (!file)
        return ys_out_of_memory();
    bool same = ys_fs_exists(file) && ys_sha256_file(file, now) == YS_OK && strcmp(now, made_from) == 0;
    ys_free(file);
    snprintf(environment->requirements_hash, sizeof environment->requirements_hash, "%s", made_from);
    environment->size_bytes = (uint64_t)ys_json_get_int(installed, "size_bytes", 0);
    if (!same)
        environment->reason = ys_format("its pinned requirements changed since it was installed");
    else if (!ys_fs_is_executable(environment->python))
        environment->reason = ys_format("its environment is damaged: %s is not there", environment->python);
    environment->complete = !environment->reason;
    return YS_OK;
}

static ys_status read_state(const struct ys_recipe *recipe, const char *version, struct ys_environment *environment)
{
    char *installed = ys_path_join(environment->folder, "installed.json");
    char *failed = ys_path_join(environment->folder, "failed.json");
    ys_json *state = NULL;
    long holder = 0;
    ys_status status = installed && failed ? YS_OK : ys_out_of_memory();
    if (status == YS_OK && ys_fs_exists(installed) && ys_json_read(installed, &state) == YS_OK) {
        status = read_installed(recipe, version, state, environment);
    } else if (status == YS_OK && ys_fs_exists(failed) && ys_json_read(failed, &state) == YS_OK) {
        environment->unsupported = ys_json_get_bool(state, "unsupported", false);
        environment->reason =
            ys_format("the last attempt to install it failed: %s", ys_json_get_text(state, "reason", "?"));
    } else if (status == YS_OK && ys_env_lock_is_taken(environment->folder, &holder)) {
        environment->reason = ys_format("process %ld is installing it", holder);
    } else if (status == YS_OK && ys_fs_is_dir(environment->folder)) {
        environment->reason = ys_format("its installation was interrupted");
    } else if (status == YS_OK) {
        environment->reason = ys_format("it is not installed");
    }
    if (status == YS_OK && !environment->complete && !environment->reason)
        status = ys_out_of_memory();
    ys_json_free(state);
    ys_free(installed);
    ys_free(failed);
    return status;
}

ys_status ys_environment_read(const struct ys_recipe *recipe, const char *version, struct ys_environment *environment)
{
    char *cache = ys_cache_dir();
    *environment = (struct ys_environment){0};
    if (cache)
        environment->folder = ys_format("%s/envs/%s@%s", cache, recipe->name, version);
    ys_free(cache);
    if (environment->folder)
        environment->python = ys_path_join(environment->folder, "env/bin/python");
    ys_status status = environment->python ? read_state(recipe, version, environment) : ys_out_of_memory();
    if (status != YS_OK)
        ys_environment_fini(environment);
    return status;
}
