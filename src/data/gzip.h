/* Bytes that may be compressed with gzip (RFC 1952), expanded into room that is fixed beforehand. */
#ifndef YS_DATA_GZIP_H
#define YS_DATA_GZIP_H

#include "base/status.h"
#include <stdbool.h>
#include <stddef.h>

/** Fills `out` with the first bytes of the content, at most `room`. `data` that does not begin with the two bytes of
 * gzip is itself the content. *got: bytes written. *more: the content goes on after them, and nothing beyond was
 * expanded or checked. When *more is false, the whole was read: check sums and lengths hold and nothing follows. `name`
 * begins messages. YS_EFORMAT when damaged or cut short, YS_ENOMEM. */
ys_status ys_gzip_expand(const void *data, size_t size, const char *name, void *out, size_t room, size_t *got,
                         bool *more) YS_MUST_CHECK;

#endif
