#include "framework/environment.h"

#include "base/files/fs.h"
#include "base/mem.h"
#include "framework/environment_lock.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const ys_environment_variables[] = {
    "PYTHONNOUSERSITE=1", "PYTHONHASHSEED=0",  "PYTHONPATH=",     "PYTHONHOME=",     "PYTHONUSERBASE=",
    "PYTHONSAFEPATH=",    "PYTHONPLATLIBDIR=", "PYTHONOPTIMIZE=", "PYTHONDEVMODE=",  "PYTHONWARNINGS=",
    "PYTHONINSPECT=",     "PYTHONMALLOC=",     "PIP_USER=0",      "PIP_TARGET=",     "PIP_PREFIX=",
    "PIP_ROOT=",          "PIP_PYTHON=",       "PIP_DRY_RUN=",    "PIP_CONSTRAINT=", NULL};

void ys_environment_fini(struct ys_environment *environment)
{
    ys_free(environment->folder);
    ys_free(environment->interpreter);
    ys_free(environment->python);
    ys_free(environment->reason);
    *environment = (struct ys_environment){0};
}

char *ys_recipe_requirements(const struct ys_recipe *recipe, const char *version, const char *python)
{
    if (ys_recipe_is_unpinned(recipe, version)) {
        char *all = ys_environments_dir();
        char *resolved = all ? ys_format("%s/%s@%s/resolved.txt", all, recipe->name, version) : NULL;
        ys_free(all);
        return resolved;
    }
    char *versioned = ys_replace(recipe->requirements, "{version}", version);
    char *relative = ys_replace(versioned, "{python}", python);
    char *path = ys_path_join(recipe->folder, relative);
    ys_free(versioned);
    ys_free(relative);
    return path;
}

char *ys_environment_fill_in(const struct ys_environment *environment, const char *pattern)
{
    char *folder = ys_path_join(environment->folder, "env");
    char *filled = ys_replace(pattern, "{environment}", folder);
    ys_free(folder);
    return filled;
}

/* Whether the environment's interpreter is another one than when it was made: a link of the system's, such as
 * /usr/bin/python3, may lead to a newer Python since, which does not see the packages. */
static void check_python(const ys_json *installed, struct ys_environment *environment)
{
    const char *then = ys_json_get_text(installed, "python_path", "");
    char now[PATH_MAX];
    if (!ys_fs_is_executable(environment->interpreter))
        environment->reason = ys_format("its environment is damaged: %s is not there", environment->interpreter);
    else if (*then && realpath(environment->interpreter, now) && strcmp(now, then) != 0)
        environment->reason =
            ys_format("its Python is another one since it was installed: %s in place of %s", now, then);
}

static void read_packages(const struct ys_recipe *recipe, const char *version, const ys_json *installed,
                          struct ys_environment *environment)
{
    const char *made_from = ys_json_get_text(installed, "requirements", "");
    const char *python = ys_json_get_text(installed, "python_version", "");
    char now[YS_SHA256_TEXT] = "", *file = ys_recipe_requirements(recipe, version, python);
    bool same = ys_fs_exists(file) && ys_sha256_file(file, now) == YS_OK && strcmp(now, made_from) == 0;
    ys_free(file);
    snprintf(environment->made_from, sizeof environment->made_from, "%s", made_from);
    environment->size_bytes = (uint64_t)ys_json_get_int(installed, "size_bytes", 0);
    if (same)
        check_python(installed, environment);
    else
        environment->reason = ys_format("its pinned requirements changed since it was installed");
    ys_free(environment->python);
    environment->python = ys_strdup(python);
}

/* A framework that the user built: the interpreter that was named, which is not ours. */
static void read_build(const ys_json *installed, struct ys_environment *environment)
{
    ys_free(environment->interpreter);
    environment->interpreter = ys_strdup(ys_json_get_text(installed, "interpreter", ""));
    if (!ys_fs_is_executable(environment->interpreter))
        environment->reason = ys_format("the program it was installed from, %s, is not there or may not be executed",
                                        environment->interpreter);
    else if (ys_sha256_file(environment->interpreter, environment->made_from) != YS_OK)
        environment->reason = ys_strdup(ys_error());
}

/* Looks at installed.json; sets `reason` when the environment is not what the recipe asks for today. */
static void read_installed(const struct ys_recipe *recipe, const char *version, const ys_json *installed,
                           struct ys_environment *environment)
{
    if (recipe->get)
        read_build(installed, environment);
    else
        read_packages(recipe, version, installed, environment);
    environment->complete = !environment->reason;
}

static void read_state(const struct ys_recipe *recipe, const char *version, struct ys_environment *environment)
{
    char *installed = ys_path_join(environment->folder, "installed.json");
    char *failed = ys_path_join(environment->folder, "failed.json");
    ys_json *state = NULL;
    long holder = 0;
    if (ys_fs_exists(installed) && ys_json_read(installed, &state) == YS_OK) {
        read_installed(recipe, version, state, environment);
    } else if (ys_fs_exists(failed) && ys_json_read(failed, &state) == YS_OK) {
        environment->unsupported = ys_json_get_bool(state, "unsupported", false);
        environment->reason =
            ys_format("the last attempt to install it failed: %s", ys_json_get_text(state, "reason", "?"));
    } else if (ys_environment_is_taken(environment->folder, &holder)) {
        environment->reason = ys_format("it is being installed by process %ld", holder);
    } else if (ys_fs_is_dir(environment->folder)) {
        environment->reason = ys_format("its installation was interrupted");
    } else {
        environment->reason =
            recipe->get ? ys_format("it is in no package index: %s", recipe->get) : ys_format("it is not installed");
    }
    ys_json_free(state);
    ys_free(installed);
    ys_free(failed);
}

char *ys_environments_dir(void)
{
    char *cache = ys_cache_dir(), *folder = cache ? ys_path_join(cache, "envs") : NULL;
    ys_free(cache);
    return folder;
}

/* What a page's script is run by. */
static char *find_bridge(void)
{
    char *bridge = ys_find_support(YS_BRIDGE);
    return bridge ? bridge : ys_strdup(YS_BRIDGE);
}

void ys_environment_read(const struct ys_recipe *recipe, const char *version, struct ys_environment *environment)
{
    char *all = ys_environments_dir();
    *environment = (struct ys_environment){.python = ys_strdup("")};
    environment->folder = ys_format("%s/%s@%s", all, recipe->name, version);
    ys_free(all);
    environment->interpreter = recipe->is_npm ? find_bridge() : ys_path_join(environment->folder, "env/bin/python");
    read_state(recipe, version, environment);
}
