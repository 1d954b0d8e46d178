/* Folders in the cache that can be made again at any time: each is named by the hash of everything that its files
 * depend on, made once, sealed (base/stored/sealed.h), held while it is used, and removed when all of them together
 * take too much room, the longest unused first. Several processes may use one cache at once. */
#ifndef YS_BASE_STORED_SHELF_H
#define YS_BASE_STORED_SHELF_H

#include "base/files/lock.h"
#include "base/json/record.h"
#include <stdbool.h>
#include <stdint.h>

struct ys_shelf_item {
    char *folder; /* absolute; NULL while nothing is held */
    struct ys_lock lock;
    bool filled; /* just now: it was not there, or was damaged */
};

/** Fills `folder`, which is there and empty. */
typedef ys_status (*ys_shelf_fill)(void *context, const char *folder);

/** Holds the folder `key` of the shelf cache/`shelf`, whose files are what they were when it was made. When it is not
 * there, or damaged (which a warning says), `fill` makes its content; a folder appears under its name only when it is
 * complete. Damage after something was measured with the files (ys_sealed_use()) is not mended but YS_EIO. YS_EIO,
 * YS_EINTR, and what `fill` returns; then nothing is held. */
ys_status ys_shelf_take(const char *shelf, const char *key, ys_shelf_fill fill, void *context,
                        struct ys_shelf_item *item) YS_MUST_CHECK;
void ys_shelf_release(struct ys_shelf_item *item); /* a zeroed one is fine */
/** Reads the record that is file `name` of an item's folder; `made` [out] is the caller's to end, after success alone.
 */
ys_status ys_shelf_read_record(const char *folder, const char *name, const struct ys_record *record,
                               void *made) YS_MUST_CHECK;

/** Removes folders that nobody holds, the longest unused first, until the shelf takes at most `limit_bytes`, and what
 * killed processes left. Does nothing while another process is taking from the shelf: that one comes here later. */
ys_status ys_shelf_trim(const char *shelf, uint64_t limit_bytes) YS_MUST_CHECK;

#endif
