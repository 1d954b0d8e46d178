#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

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

bool ys_utf8_is_text(const char *bytes)
{
    for (size_t length; *bytes; bytes += length)
        if ((length = ys_utf8_length(bytes, strnlen(bytes, 4))) == 0)
            return false;
    return true;
}

size_t ys_utf8_show(const char *bytes, char shown[5])
{
    const size_t length = ys_utf8_length(bytes, strnlen(bytes, 4));
    if (length == 0)
        snprintf(shown, 5, "\\x%02x", (unsigned char)*bytes);
    else
        snprintf(shown, 5, "%.*s", (int)length, bytes);
    return length ? length : 1;
}
