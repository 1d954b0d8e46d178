/* Files and folders. */
#ifndef YS_BASE_FILES_FS_H
#define YS_BASE_FILES_FS_H

#include "base/buf.h"
#include "base/status.h"
#include <stdbool.h>
#include <stdint.h>

bool ys_fs_exists(const char *path);
bool ys_fs_is_dir(const char *path);
bool ys_fs_is_file(const char *path);                      /* a regular one */
bool ys_fs_is_executable(const char *path);                /* a regular file that this user may execute */
ys_status ys_fs_make_dirs(const char *path) YS_MUST_CHECK; /* as mkdir -p */
/** Removes a file, or a folder of any depth; a missing path is fine, links are not followed. */
ys_status ys_fs_remove_tree(const char *path) YS_MUST_CHECK;
/** Reads a whole regular file of at most `limit_bytes`; a larger one is YS_EFORMAT. `buf` is appended to. */
ys_status ys_fs_read(const char *path, size_t limit_bytes, struct ys_buf *buf) YS_MUST_CHECK;
/** The same for whatever can be read to its end, pipes and terminals too; `path` NULL is standard input. Waits for who
 * writes into a pipe; YS_EINTR when asked to stop meanwhile. *is_regular tells a regular file opened by its path. */
ys_status ys_fs_read_any(const char *path, size_t limit_bytes, struct ys_buf *buf, bool *is_regular) YS_MUST_CHECK;
/** Writes under a temporary name in the same folder, syncs, then renames: readers see the old file or the new one. */
ys_status ys_fs_write(const char *path, const void *data, size_t size) YS_MUST_CHECK;
/** Copies the bytes of `from` to the new file `to`, for this user alone. YS_EIO has the reason and neither name. */
ys_status ys_fs_copy(const char *from, const char *to) YS_MUST_CHECK;
/** Lets go of what the system holds of the file in memory and no process has mapped, so that it is read from the disk
 * by who wants it next; where that cannot be, nothing happens. */
void ys_fs_forget(const char *path);
/** Sum of the sizes of the regular files below `path`; each inode once. */
ys_status ys_fs_tree_size(const char *path, uint64_t *size_bytes) YS_MUST_CHECK;

/* New strings, NULL without memory. */
char *ys_path_join(const char *folder, const char *name); /* an absolute name stays as it is */
char *ys_path_absolute(const char *path);                 /* against the current folder; need not exist */
char *ys_path_dir(const char *path);                      /* before the last '/', "." without one */
/** Where `path` really lies, links resolved, if that is below the folder `folder`; NULL too when it is not there. */
char *ys_path_real_below(const char *path, const char *folder);
const char *ys_path_base(const char *path); /* after the last '/'; borrowed */
/** What is written into results, and told to adapters in JSON, must be read back as it is: YS_EINVAL. */
ys_status ys_path_check_text(const char *path) YS_MUST_CHECK;

/** The folder of the running executable; borrowed, valid for the life of the process. */
const char *ys_exe_dir(void);

/** Finds a support file or folder (adapters, frameworks, studies, metrics, the other programs) named by its path
 * relative to the source tree's root, such as "adapters/pytorch.py" or "yardstick-builtin". Looked for, in order:
 * beside the running program; in the prefix of `make install` (share/yardstick; a plain name also in bin and
 * libexec/yardstick), which is taken from where the running program lies; a plain name in YARDSTICK_BIN; in
 * YARDSTICK_HOME. New absolute path, or NULL when nowhere. An absolute path and ".." are never found. */
char *ys_find_support(const char *relative);

/** The first program called `name` in a folder of PATH. New path; NULL. */
char *ys_find_on_path(const char *name);
/** The browser that pages run in: the first of chromium, chromium-browser and google-chrome on PATH. New path; NULL. */
char *ys_find_browser(void);

/** The cache folder: YARDSTICK_CACHE, else XDG_CACHE_HOME/yardstick, else ~/.cache/yardstick. New absolute path. */
char *ys_cache_dir(void);
/** cache_dir/<sub>, created; new absolute path in *path. */
ys_status ys_cache_path(const char *sub, char **path) YS_MUST_CHECK;

#endif
