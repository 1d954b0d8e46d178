#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/** Makes room for `extra` bytes and the closing 0. */
static ys_status reserve(struct ys_buf *buf, size_t extra)
{
    if (buf->failed)
        return ys_out_of_memory();
    size_t needed;
    if (__builtin_add_overflow(buf->size, extra, &needed) || __builtin_add_overflow(needed, 1, &needed)) {
        buf->failed = true;
        return ys_out_of_memory();
    }
    if (needed <= buf->capacity)
        return YS_OK;
    size_t capacity = buf->capacity < SIZE_MAX / 2 ? 2 * buf->capacity : needed;
    if (capacity < needed)
        capacity = needed;
    if (capacity < 64)
        capacity = 64;
    char *data = ys_realloc(buf->data, capacity, 1);
    if (!data) {
        buf->failed = true;
        return ys_out_of_memory();
    }
    buf->data = data;
    buf->capacity = capacity;
    return YS_OK;
}

void ys_buf_free(struct ys_buf *buf)
{
    ys_free(buf->data);
    *buf = (struct ys_buf){0};
}

void ys_buf_clear(struct ys_buf *buf)
{
    buf->size = 0;
    buf->failed = false;
    if (buf->data)
        buf->data[0] = 0;
}

ys_status ys_buf_append(struct ys_buf *buf, const void *data, size_t size)
{
    YS_TRY(reserve(buf, size));
    if (size > 0)
        memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = 0;
    return YS_OK;
}

ys_status ys_buf_puts(struct ys_buf *buf, const char *text)
{
    return ys_buf_append(buf, text, strlen(text));
}

char *ys_replace(const char *text, const char *word, const char *by)
{
    struct ys_buf replaced = {0};
    for (const char *found; (found = strstr(text, word)); text = found + strlen(word)) {
        ys_buf_append(&replaced, text, (size_t)(found - text));
        ys_buf_puts(&replaced, by);
    }
    ys_buf_puts(&replaced, text);
    return ys_buf_take(&replaced);
}

void ys_buf_put_word(struct ys_buf *buf, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:@%+";
    if (*word && word[strspn(word, plain)] == 0) {
        ys_buf_puts(buf, word);
        return;
    }
    ys_buf_puts(buf, "'");
    for (; *word; word++)
        ys_buf_printf(buf, *word == '\'' ? "'\\''" : "%c", *word);
    ys_buf_puts(buf, "'");
}

ys_status ys_buf_vprintf(struct ys_buf *buf, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) {
        buf->failed = true;
        return ys_fail(YS_EINTERNAL, "cannot format \"%s\"", format);
    }
    YS_TRY(reserve(buf, (size_t)length));
    vsnprintf(buf->data + buf->size, (size_t)length + 1, format, arguments);
    buf->size += (size_t)length;
    return YS_OK;
}

ys_status ys_buf_printf(struct ys_buf *buf, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    ys_status status = ys_buf_vprintf(buf, format, arguments);
    va_end(arguments);
    return status;
}

static bool looks_escaped(const char *bytes, size_t size)
{
    return size >= 4 && bytes[0] == '\\' && bytes[1] == 'x' && isxdigit((unsigned char)bytes[2]) &&
           isxdigit((unsigned char)bytes[3]);
}

/* U+0080 to U+009F are control characters too, U+00A0 is a blank. */
static bool is_visible(const unsigned char *character, size_t length)
{
    if (length == 1)
        return character[0] > ' ' && character[0] < 0x7F;
    return length > 1 && !(character[0] == 0xC2 && character[1] <= 0xA0);
}

void ys_buf_put_name(struct ys_buf *buf, const char *bytes, size_t size)
{
    for (size_t at = 0, length; at < size; at += length) {
        length = ys_utf8_length(bytes + at, size - at);
        const bool shown =
            is_visible((const unsigned char *)bytes + at, length) && !looks_escaped(bytes + at, size - at);
        if (shown)
            ys_buf_append(buf, bytes + at, length);
        length += length == 0;
        for (size_t i = 0; i < length && !shown; i++)
            ys_buf_printf(buf, "\\x%02x", (unsigned char)bytes[at + i]);
    }
}

const char *ys_buf_text(const struct ys_buf *buf)
{
    return buf->data ? buf->data : "";
}

char *ys_buf_take(struct ys_buf *buf)
{
    if (buf->failed || reserve(buf, 0) != YS_OK) {
        ys_buf_free(buf);
        return NULL;
    }
    char *data = buf->data;
    data[buf->size] = 0;
    *buf = (struct ys_buf){0};
    return data;
}
