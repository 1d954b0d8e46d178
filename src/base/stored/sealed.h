/* Folders of the cache whose files never change: a manifest beside the files holds the size and SHA-256 of each.
 *
 * Such a folder is filled elsewhere and appears under its name whole. Before its files are used they are compared with
 * the manifest: the first time in this process byte for byte, from then on by size, inode and times, and byte for byte
 * again where one of these differs. What was found the first time is what this process goes by to its end: another
 * manifest, written later, does not count. */
#ifndef YS_BASE_STORED_SEALED_H
#define YS_BASE_STORED_SEALED_H

#include "base/hash.h"
#include "base/status.h"
#include <stdbool.h>

#define YS_SEALED_MANIFEST "manifest.json" /* {format, version, files: [{name, size, sha256}]} */

/** Writes the manifest of the regular files in `folder`, which nobody else knows yet. *hash: SHA-256 of the manifest,
 * equal for equal files. */
ys_status ys_sealed_seal(const char *folder, char hash[YS_SHA256_TEXT]) YS_MUST_CHECK;

/** Gives `made`, sealed by this process and on the same file system, the name `folder`. Where a whole folder of that
 * name is there already (another process was faster) it stays, and `made` does too; one that is damaged changes places
 * with `made`. So whatever is at `made` afterwards is of no use any more. YS_EIO. */
ys_status ys_sealed_put(const char *made, const char *folder) YS_MUST_CHECK;

/** Compares the files with what they were; YS_EFORMAT says what is wrong with which file ("the prepared FILE in FOLDER
 * was damaged (SHA-256 differs)") and that there is no manifest. Files that it does not name do not matter. */
ys_status ys_sealed_check(const char *folder) YS_MUST_CHECK;

/** Notes that something was measured with the files of `folder`, which was checked: to make them again would hide that
 * they changed meanwhile. */
void ys_sealed_use(const char *folder);
bool ys_sealed_is_used(const char *folder);

/** Somebody may have written files of `folder` in a way that leaves size, inode and times, through a mapping: the next
 * check compares every byte of those that this user could have written. */
void ys_sealed_doubt(const char *folder);

/** Gives up a damaged `folder`, so that it can be made again although it was used: forgets what was known of it, and
 * removes its manifest, which whoever damaged the files may have written anew. YS_EIO. */
ys_status ys_sealed_discard(const char *folder) YS_MUST_CHECK;

#endif
