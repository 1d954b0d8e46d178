/* Reading a tar archive in memory, member by member.
 *
 * Format: POSIX.1-2001, pax, "ustar Interchange Format"; older archives differ in members that are not read here. */
#ifndef YS_DATA_ARCHIVES_TAR_H
#define YS_DATA_ARCHIVES_TAR_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_TAR_BLOCK_BYTES 512
#define YS_TAR_NAME_BYTES  100

struct ys_tar_member {
    char name[YS_TAR_NAME_BYTES + 1]; /* as in the header: with its folders; longer names are cut */
    bool is_file;                     /* a regular file; folders, links and extended headers are not */
    const uint8_t *data;              /* `size` bytes, into the archive */
    size_t size;
};

/** The member whose header begins at byte *place of the archive, which moves to the next one. *ended: there is none.
 * `name` begins messages. YS_EFORMAT, with the place, when the header is damaged or the member goes beyond the end. */
ys_status ys_tar_next(const uint8_t *tar, size_t size, const char *name, size_t *place, struct ys_tar_member *member,
                      bool *ended) YS_MUST_CHECK;

#endif
