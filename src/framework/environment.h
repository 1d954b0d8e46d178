/* Environments: one folder a framework and version below the cache, made by `install`, read by everyone else.
 *
 *     envs/NAME@VERSION/installed.json   written last: {python, python_version, requirements (SHA-256), size_bytes,
 * date} envs/NAME@VERSION/failed.json      instead of it: {reason, unsupported, date} envs/NAME@VERSION/env/ the
 * virtual environment envs/NAME@VERSION.lock             held while it is made or removed (env_lock.h) */
#ifndef YS_FRAMEWORK_ENVIRONMENT_H
#define YS_FRAMEWORK_ENVIRONMENT_H

#include "base/hash.h"
#include "framework/recipe.h"

struct ys_environment {
    char *folder;  /* envs/NAME@VERSION */
    char *python;  /* the environment's interpreter; exists only when `complete` */
    bool complete; /* installed.json is there, the interpreter is there, and the pinned requirements are still the same
                    */
    bool unsupported; /* the last attempt found that this host cannot have it */
    char *reason;     /* why not complete; NULL when it is */
    uint64_t size_bytes;
    char requirements_hash[YS_SHA256_TEXT]; /* of the file it was made from */
};

/** Reads the state of recipe `recipe` at `version`. Free with ys_environment_fini(). */
ys_status ys_environment_read(const struct ys_recipe *recipe, const char *version,
                              struct ys_environment *environment) YS_MUST_CHECK;
void ys_environment_fini(struct ys_environment *environment);

/** The pinned requirement file for `python` ("3.11"); new string. It need not exist. */
char *ys_recipe_requirements(const struct ys_recipe *recipe, const char *version, const char *python);

/** Makes it, replacing what an interrupted attempt left; progress goes to stderr. One that another process has made
 * meanwhile is left as it is. YS_EBUSY: another process is at it; YS_EUNSUPPORTED: this host cannot have it; YS_EIO: it
 * failed. */
ys_status ys_environment_make(const struct ys_recipe *recipe, const char *version) YS_MUST_CHECK;
/** Removes it, whole or not. YS_EBUSY as above. */
ys_status ys_environment_remove(const struct ys_environment *environment) YS_MUST_CHECK;

#endif
