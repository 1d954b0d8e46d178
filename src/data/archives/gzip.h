/* Bytes that may be compressed, as gzip (RFC 1952), zlib (RFC 1950) or bare (RFC 1951), expanded into room that is
 * fixed beforehand. */
#ifndef YS_DATA_ARCHIVES_GZIP_H
#define YS_DATA_ARCHIVES_GZIP_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Fills `out` with the first bytes of the content, at most `room`. `data` that does not begin with the two bytes of
 * gzip is itself the content. *got: bytes written. *more: the content goes on after them, and nothing beyond was
 * expanded or checked. When *more is false, the whole was read: check sums and lengths hold and nothing follows. `name`
 * begins messages. YS_EFORMAT when damaged or cut short, YS_ENOMEM. */
ys_status ys_gzip_expand(const void *data, size_t size, const char *name, void *out, size_t room, size_t *got,
                         bool *more) YS_MUST_CHECK;

/** The same of one stream of zlib, and of compressed data with nothing around it, whose sum is the caller's to compare.
 */
ys_status ys_zlib_expand(const void *data, size_t size, const char *name, void *out, size_t room, size_t *got,
                         bool *more) YS_MUST_CHECK;
ys_status ys_deflate_expand(const void *data, size_t size, const char *name, void *out, size_t room, size_t *got,
                            bool *more) YS_MUST_CHECK;

/** The sum that gzip and zip have of what they hold (ISO 3309). */
uint32_t ys_crc32(const void *data, size_t size);

#endif
