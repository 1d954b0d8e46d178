/* Environments: one folder a framework and version below the cache, made by `install`, read by everyone else.
 *
 *     envs/NAME@VERSION/installed.json   written last. Made of packages: {python, python_version, python_path (what its
 *                                        interpreter is a link to), requirements (SHA-256), fingerprint (of its
 *                                        files, env_files.h), size_bytes, date}; of a framework that the user built:
 *                                        {interpreter, date}
 *     envs/NAME@VERSION/installed.files  what the fingerprint is of
 *     envs/NAME@VERSION/failed.json      instead of it: {reason, unsupported, date}
 *     envs/NAME@VERSION/resolved.txt     of a version that is not pinned: every package that it came to,
 * PACKAGE==VERSION envs/NAME@VERSION/env/             the virtual environment, and in env/cache what its framework
 * keeps envs/NAME@VERSION/tmp/             temporary files of the installer, while it runs envs/NAME@VERSION.lock
 * base/files/lock.h: held alone by who makes or removes it, shared by who uses it */
#ifndef YS_FRAMEWORK_ENVIRONMENT_H
#define YS_FRAMEWORK_ENVIRONMENT_H

#include "base/files/working_folder.h"
#include "base/hash.h"
#include "framework/recipe.h"

/** The program that runs a page's script. */
#define YS_BRIDGE "yardstick-browser"

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
void ys_environment_read(const struct ys_recipe *recipe, const char *version, struct ys_environment *environment);
void ys_environment_fini(struct ys_environment *environment);

/** Variables, "NAME=value", ended by NULL, under which every interpreter is started: it sees neither the caller's
 * modules nor his own settings, and pip puts nothing elsewhere. An empty variable is to Python, from
 * 3.7 on, and pip as if it were not there. */
extern const char *const ys_environment_variables[];

/** The pinned requirement file for `python` ("3.11"), or for a version that is not pinned what was resolved when it was
 * installed, envs/NAME@VERSION/resolved.txt; new string. It need not exist. */
char *ys_recipe_requirements(const struct ys_recipe *recipe, const char *version, const char *python);

/** `pattern` with {environment} replaced by the folder envs/NAME@VERSION/env; new string, NULL without memory. */
char *ys_environment_fill_in(const struct ys_environment *environment, const char *pattern);

/** What the disk must have free to install it: its own room, and what is downloaded, packed and unpacked, meanwhile. 0
 * where the recipe does not say. */
uint64_t ys_environment_need_bytes(uint64_t download_bytes, uint64_t disk_bytes);

/** Makes it where it is not complete, replacing what an interrupted attempt left; with `repair` also where its files
 * are not known to be as they were installed. Progress goes to stderr. One that another process has made meanwhile is
 * left as it is. YS_EBUSY: it is in use, or another process is at it, for longer than a killed one's helpers take to
 * end; YS_EUNSUPPORTED: this host cannot have it; YS_EIO: it failed. */
ys_status ys_environment_make(const struct ys_recipe *recipe, const char *version, bool repair) YS_MUST_CHECK;
/** Notes that `interpreter`, an absolute path, runs the adapter, in place of what was there. YS_EBUSY as above. */
ys_status ys_environment_register(const struct ys_environment *environment, const char *interpreter) YS_MUST_CHECK;
/** Removes the environment in `folder`, whole or not. YS_EBUSY as above. */
ys_status ys_environment_remove(const char *folder) YS_MUST_CHECK;
/** What ys_environments_sweep() does with `folder`, one of them. */
void ys_environment_sweep(const char *folder, const struct ys_sweep *sweep);

/** The folder of all environments, below the cache; new string. It need not exist. */
char *ys_environments_dir(void);

#endif
