/* A growing byte string. After a failed append every later append fails too, so only the last one need be checked. */
#ifndef YS_BASE_BUF_H
#define YS_BASE_BUF_H

#include "base/status.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct ys_buf {
    char *data;  /* always followed by a 0 byte once anything was appended; NULL before that */
    size_t size; /* bytes in use, without the 0 */
    size_t capacity;
    bool failed; /* an append ran out of memory */
};

void ys_buf_free(struct ys_buf *buf);  /* leaves it empty and usable */
void ys_buf_clear(struct ys_buf *buf); /* keeps the memory */
ys_status ys_buf_append(struct ys_buf *buf, const void *data, size_t size);
ys_status ys_buf_puts(struct ys_buf *buf, const char *text);
ys_status ys_buf_printf(struct ys_buf *buf, const char *format, ...) YS_PRINTF(2, 3);
ys_status ys_buf_vprintf(struct ys_buf *buf, const char *format, va_list arguments) YS_PRINTF(2, 0);
/** `word` so that a shell reads it back as one: in single quotes where it has anything but letters, digits and
 * -_=./,:@%+. */
void ys_buf_put_word(struct ys_buf *buf, const char *word);
/** A name as one visible word: UTF-8 as it is, but of blanks, control characters, bytes that are no UTF-8, and
 * backslashes before what looks like the following, each byte as \xNN. Bytes that differ are words that differ. */
void ys_buf_put_name(struct ys_buf *buf, const char *bytes, size_t size);
/** The text so far, "" when empty; borrowed until the next append. */
const char *ys_buf_text(const struct ys_buf *buf);
/** `text` with every `word` in it replaced; new string (ys_free), NULL without memory. */
char *ys_replace(const char *text, const char *word, const char *by);
/** Hands the bytes to the caller (free with ys_free) and empties the buffer; NULL if an append had failed. */
char *ys_buf_take(struct ys_buf *buf);

#endif
