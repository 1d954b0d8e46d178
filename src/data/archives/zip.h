/* Reading a zip archive in memory, member by member, as its directory lists them.
 *
 * Format: PKWARE, "APPNOTE.TXT - .ZIP File Format Specification", 6.3: members that are stored or deflated, of archives
 * below 4 GiB; of zip64, which archives of more than 65535 members have, the place of the directory is read. */
#ifndef YS_DATA_ARCHIVES_ZIP_H
#define YS_DATA_ARCHIVES_ZIP_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define YS_ZIP_NAME_BYTES 255

struct ys_zip {
    const uint8_t *bytes; /* of the archive; the caller's */
    size_t size, place;   /* the next entry of the directory */
    const char *name;     /* begins messages */
};

struct ys_zip_member {
    char name[YS_ZIP_NAME_BYTES + 1]; /* with its folders; those end with a slash */
    size_t size, packed_size;
    uint32_t sum;     /* CRC-32 of the content */
    bool is_deflated; /* otherwise it lies there as it is */
    size_t place;     /* of its own header */
};

/** Finds the directory. YS_EFORMAT. */
ys_status ys_zip_open(const uint8_t *bytes, size_t size, const char *name, struct ys_zip *zip) YS_MUST_CHECK;

/** The next entry of the directory. *ended: there is none. YS_EFORMAT, with the place: damaged, encrypted, packed
 * otherwise, or a name that is too long. Nothing of the content is looked at. */
ys_status ys_zip_next(struct ys_zip *zip, struct ys_zip_member *member, bool *ended) YS_MUST_CHECK;

/** Its content into `out`, which has member->size bytes, and its sum compared. YS_EFORMAT. */
ys_status ys_zip_read(const struct ys_zip *zip, const struct ys_zip_member *member, uint8_t *out) YS_MUST_CHECK;

#endif
