#include "base/utf8.h"

#include <ctype.h>
#include <stdbool.h>

size_t ys_utf8_length(const char *text, size_t size)
{
    const unsigned char *c = (const unsigned char *)text;
    if (size == 0)
        return 0;
    const size_t length = c[0] < 0x80 ? 1 : c[0] < 0xC2 ? 0 : c[0] < 0xE0 ? 2 : c[0] < 0xF0 ? 3 : c[0] < 0xF5 ? 4 : 0;
    if (length > size)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    if ((c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xED && c[1] > 0x9F) || (c[0] == 0xF0 && c[1] < 0x90) ||
        (c[0] == 0xF4 && c[1] > 0x8F))
        return 0;
    return length;
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

void ys_utf8_word(struct ys_buf *out, const char *bytes, size_t size)
{
    for (size_t at = 0, length; at < size; at += length) {
        length = ys_utf8_length(bytes + at, size - at);
        const bool shown =
            is_visible((const unsigned char *)bytes + at, length) && !looks_escaped(bytes + at, size - at);
        if (shown)
            ys_buf_append(out, bytes + at, length);
        length += length == 0;
        for (size_t i = 0; i < length && !shown; i++)
            ys_buf_printf(out, "\\x%02x", (unsigned char)bytes[at + i]);
    }
}
