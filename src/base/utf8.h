/* Text of others, which may hold any bytes. */
#ifndef YS_BASE_UTF8_H
#define YS_BASE_UTF8_H

#include "base/buf.h"
#include <stddef.h>

/** Bytes of the valid UTF-8 character at `text` (Unicode 15, table 3-7); 0 when there is none within `size`. */
size_t ys_utf8_length(const char *text, size_t size);
/** Appends a name as one visible word: UTF-8 as it is, but of blanks, control characters, bytes that are no UTF-8, and
 * backslashes before what looks like the following, each byte as \xNN. Bytes that differ are words that differ. */
void ys_utf8_word(struct ys_buf *out, const char *bytes, size_t size);

#endif
