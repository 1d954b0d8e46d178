/* What a framework's adapter consists of, as text that ys_framework_find() hashes: a proof holds for this alone. */
#ifndef YS_FRAMEWORK_ADAPTER_CLOSURE_H
#define YS_FRAMEWORK_ADAPTER_CLOSURE_H

#include "base/buf.h"

/** Mixes in one file's content; a file that cannot be read mixes in its absence. */
void ys_closure_mix_file(struct ys_buf *closure, const char *path);

/** Mixes in the code at `path` and all that it imports, and what that imports, from the folder it lies in, from folders
 * there, and from yardstick's own adapters/ (common.py). What it imports is told from its text:
 *   - a file of the same ending, or .so, whose name without it stands as a word on a line that has a word such as
 * import, require, exec or open and is no comment;
 *   - a file .py, .so, .lua or .sh whose whole name stands after a quote or a slash;
 *   - all such files of a folder whose name stands there as a word.
 * A name that is put together while the adapter runs is not found. */
void ys_closure_mix_code(struct ys_buf *closure, const char *path);

#endif
