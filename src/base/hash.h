/* SHA-256 (names of plans, proofs, files) and MD5 (only to check files whose publishers give no better sum). */
#ifndef YS_BASE_HASH_H
#define YS_BASE_HASH_H

#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

#define YS_SHA256_TEXT 65 /* 64 hexadecimal digits and the 0 */
#define YS_MD5_TEXT    33

void ys_sha256(const void *data, size_t size, uint8_t digest[32]);
/** Of `first` followed by `second`. */
void ys_sha256_joined(const void *first, size_t first_size, const void *second, size_t second_size, uint8_t digest[32]);
void ys_sha256_text(const void *data, size_t size, char text[YS_SHA256_TEXT]);
ys_status ys_sha256_file(const char *path, char text[YS_SHA256_TEXT]) YS_MUST_CHECK;
/** The same of a file that may take long: `beside` is called each time that a part of it was read, at most 64 KiB. Its
 * failure ends the reading, and is returned. */
ys_status ys_sha256_file_beside(const char *path, ys_status (*beside)(void *context), void *context,
                                char text[YS_SHA256_TEXT]) YS_MUST_CHECK;
/** Two small hexadecimal digits for each byte, and the 0: `text` has room for 2 * size + 1. */
void ys_hex_text(const uint8_t *bytes, size_t size, char *text);
void ys_md5_text(const void *data, size_t size, char text[YS_MD5_TEXT]);

#endif
