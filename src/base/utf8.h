/* Text of others, which may hold any bytes. */
#ifndef YS_BASE_UTF8_H
#define YS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/** Bytes of the valid UTF-8 character at `text` (Unicode 15, table 3-7); 0 when there is none within `size`. */
size_t ys_utf8_length(const char *text, size_t size);
bool ys_utf8_is_text(const char *bytes);
/** The first character of `bytes`, or its first byte as \xNN where that is no UTF-8; how many bytes it has there. */
size_t ys_utf8_show(const char *bytes, char shown[5]);

#endif
