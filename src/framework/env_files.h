/* What an environment's files are, and whether they are still those that were installed.
 *
 *     envs/NAME@VERSION/installed.files   a line a file of env/, sorted by path: "SIZE MTIME PATH" (bytes, ns), or
 *                                         "-> TARGET PATH" of a link. Left out are the folders __pycache__, which
 * Python fills as it runs, and env/cache, where the framework keeps what is its own
 *
 * The SHA-256 of this text is the environment's fingerprint; installed.json has the one of the installation. Contents
 * are not read: that takes a fraction of a second for the largest, reading them would take minutes. A file that was
 * changed and given its old size and its old time to the nanosecond is not noticed. */
#ifndef YS_FRAMEWORK_ENV_FILES_H
#define YS_FRAMEWORK_ENV_FILES_H

#include "base/hash.h"
#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

struct ys_env_files {
    char fingerprint[YS_SHA256_TEXT]; /* of the files as they are now */
    bool known;                       /* what was installed is on record; without it the rest is 0 */
    size_t changed, missing, added;   /* files, against what was installed */
    char *first;                      /* one of them, below env/: a missing one before a changed before a new one */
    const char *how;                  /* "is missing", "changed", "is new"; NULL without one */
};

/** Writes installed.files of the environment `folder` (envs/NAME@VERSION); its SHA-256 into `fingerprint`. */
ys_status ys_env_files_note(const char *folder, char fingerprint[YS_SHA256_TEXT]) YS_MUST_CHECK;

/** Looks at the environment `folder`, which has an installed.json. Of a framework that the user built the fingerprint
 * is of its program: size, time and content. What cannot be read counts as missing. Free with ys_env_files_fini(). */
ys_status ys_env_files_look(const char *folder, struct ys_env_files *files) YS_MUST_CHECK;
void ys_env_files_fini(struct ys_env_files *files);

/** How many differ from what was installed. */
size_t ys_env_files_count(const struct ys_env_files *files);
/** "3 files of toy@1.0 are not as they were installed (lib/toy.py changed)"; new string, NULL without memory. */
char *ys_env_files_text(const struct ys_env_files *files, const char *folder);

#endif
