/* Environments: one folder a framework and version below the cache, made by `install`, read by everyone else.
 *
 *     envs/NAME@VERSION/installed.json   written last. Made of packages: {python, python_version, python_path (what its
 *                                        interpreter is a link to), requirements (SHA-256), size_bytes, date}; of a
 *                                        framework that the user built: {interpreter, date}
 *     envs/NAME@VERSION/failed.json      instead of it: {reason, unsupported, date}
 *     envs/NAME@VERSION/env/             the virtual environment, and in env/cache what its framework keeps
 *     envs/NAME@VERSION.lock             held while it is made or removed (env_lock.h) */
#ifndef YS_FRAMEWORK_ENVIRONMENT_H
#define YS_FRAMEWORK_ENVIRONMENT_H

#include "base/hash.h"
#include "framework/recipe.h"

struct ys_environment {
    char *folder;      /* envs/NAME@VERSION */
    char *interpreter; /* what runs the adapter's file: the environment's Python, or what the user named; exists only
                          when `complete` */
    bool complete;     /* installed.json is there, the interpreter is there and the same as then, and the pinned
                          requirements are still the same */
    bool unsupported;  /* the last attempt found that this host cannot have it */
    char *reason;      /* why not complete; NULL when it is */
    char *python;      /* the version of its Python, "3.11"; "" where it has none or is not complete */
    uint64_t size_bytes;
    char made_from[YS_SHA256_TEXT]; /* of the requirements, or of the interpreter that the user named */
};

/** Reads the state of recipe `recipe` at `version`. Free with ys_environment_fini(). */
ys_status ys_environment_read(const struct ys_recipe *recipe, const char *version,
                              struct ys_environment *environment) YS_MUST_CHECK;
void ys_environment_fini(struct ys_environment *environment);

/** Variables, "NAME=value", ended by NULL, under which every interpreter is started: it sees neither the caller's
 * modules nor his own settings, and pip puts nothing elsewhere. An empty variable is to Python, from
 * 3.7 on, and pip as if it were not there. */
extern const char *const ys_environment_variables[];

/** The pinned requirement file for `python` ("3.11"); new string. It need not exist. */
char *ys_recipe_requirements(const struct ys_recipe *recipe, const char *version, const char *python);

/** `pattern` with {environment} replaced by the folder envs/NAME@VERSION/env; new string, NULL without memory. */
char *ys_environment_fill_in(const struct ys_environment *environment, const char *pattern);

/** Makes it, replacing what an interrupted attempt left; progress goes to stderr. One that another process has made
 * meanwhile is left as it is. YS_EBUSY: another process is at it; YS_EUNSUPPORTED: this host cannot have it; YS_EIO: it
 * failed. */
ys_status ys_environment_make(const struct ys_recipe *recipe, const char *version) YS_MUST_CHECK;
/** Notes that `interpreter`, an absolute path, runs the adapter, in place of what was there. YS_EBUSY as above. */
ys_status ys_environment_register(const struct ys_environment *environment, const char *interpreter) YS_MUST_CHECK;
/** Removes the environment in `folder`, whole or not. YS_EBUSY as above. */
ys_status ys_environment_remove(const char *folder) YS_MUST_CHECK;

/** The folder of all environments, below the cache; new string. It need not exist. */
char *ys_environments_dir(void);

#endif
