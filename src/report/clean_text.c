#include "report/clean_text.h"
#include <string.h>

struct range {
    uint32_t first, last;
};

size_t ys_text_decode(const char *text, uint32_t *character)
{
    const unsigned char *c = (const unsigned char *)text;
    size_t length = c[0] < 0x80             ? 1
                    : (c[0] & 0xE0) == 0xC0 ? 2
                    : (c[0] & 0xF0) == 0xE0 ? 3
                    : (c[0] & 0xF8) == 0xF0 ? 4
                                            : 0;
    static const unsigned char mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t value = length ? c[0] & mask[length] : 0;
    for (size_t i = 1; i < length; i++) {
        if ((c[i] & 0xC0) != 0x80) {
            length = 0;
            break;
        }
        value = value << 6 | (c[i] & 0x3F);
    }
    *character = length ? value : 0xFFFD;
    return length ? length : 1;
}

static bool is_in(const struct range *ranges, size_t count, uint32_t character)
{
    for (size_t i = 0; i < count; i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    return false;
}

/** After Unicode 15: combining marks in common use, and East_Asian_Width W or F by block. */
static int character_width(uint32_t character)
{
    static const struct range none[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},   {0x610, 0x61A},
                                        {0x64B, 0x65F},   {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200D},
                                        {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};
    static const struct range wide[] = {{0x1100, 0x115F},   {0x231A, 0x231B},  {0x2E80, 0x303E},   {0x3041, 0xA4CF},
                                        {0xA960, 0xA97F},   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
                                        {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
                                        {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
    if (character < 0x300)
        return 1;
    if (is_in(none, sizeof none / sizeof none[0], character))
        return 0;
    return is_in(wide, sizeof wide / sizeof wide[0], character) ? 2 : 1;
}

int ys_text_width(const char *text)
{
    int width = 0;
    uint32_t character;
    for (; *text; text += ys_text_decode(text, &character)) {
        ys_text_decode(text, &character);
        width += character_width(character);
    }
    return width;
}

/** Bytes of the terminal escape sequence at `text`, which begins with ESC (ECMA-48, 5.4 and 8.3.89). */
static size_t escape_length(const char *text)
{
    size_t i = 1;
    if (text[1] == '[') {
        for (i = 2; text[i] >= 0x20 && text[i] <= 0x3F; i++)
            ;
        return text[i] >= 0x40 && text[i] <= 0x7E ? i + 1 : i;
    }
    if (text[1] == ']' || text[1] == 'P' || text[1] == '_' || text[1] == '^') {
        for (i = 2; text[i] && text[i] != '\a' && text[i] != '\n' && text[i] != 0x1B; i++)
            ;
        return text[i] == '\a' ? i + 1 : text[i] == 0x1B && text[i + 1] == '\\' ? i + 2 : i;
    }
    return 1;
}

void ys_text_clean(struct ys_buf *out, const char *text, bool keep_lines)
{
    static const struct range unwanted[] = {{0, 0x1F},        {0x7F, 0x9F},     {0x200E, 0x200F}, {0x2028, 0x202E},
                                            {0x2066, 0x2069}, {0xD800, 0xDFFF}, {0xFEFF, 0xFEFF}, {0xFFFE, 0xFFFF}};
    size_t length;
    for (; *text; text += length) {
        uint32_t character;
        length = ys_text_decode(text, &character);
        if (character == 0x1B) {
            length = escape_length(text);
        } else if (character == '\n' || character == '\r') {
            length += text[0] == '\r' && text[1] == '\n';
            ys_buf_puts(out, keep_lines ? "\n" : " ");
        } else if (character == '\t') {
            ys_buf_puts(out, " ");
        } else if (character == 0xFFFD || is_in(unwanted, sizeof unwanted / sizeof unwanted[0], character)) {
            ys_buf_puts(out, "\xEF\xBF\xBD");
        } else {
            ys_buf_append(out, text, length);
        }
    }
}

/** Bytes of the longest beginning of `text` that fits `width` columns. */
static size_t fitting(const char *text, int width)
{
    size_t size = 0;
    uint32_t character;
    while (text[size]) {
        size_t length = ys_text_decode(text + size, &character);
        width -= character_width(character);
        if (width < 0)
            break;
        size += length;
    }
    return size;
}

void ys_text_clip(struct ys_buf *out, const char *text, int width)
{
    if (ys_text_width(text) <= width) {
        ys_buf_puts(out, text);
        return;
    }
    ys_buf_append(out, text, fitting(text, width - 1));
    ys_buf_puts(out, "\xE2\x80\xA6");
}

static void new_line(struct ys_buf *out, int indent)
{
    while (out->size > 0 && out->data[out->size - 1] == ' ')
        out->data[--out->size] = 0;
    ys_buf_printf(out, "\n%*s", indent, "");
}

enum { MOST_QUOTED = 200 }; /* bytes of a command that stays whole */

/** The end of the word that begins at `word`. A percent sign stays with the number before it, and what stands between
 * backquotes is one word: a command, which somebody pastes. */
static char *word_end(char *word)
{
    char *end = word + strcspn(word, " `");
    while (*end) {
        const char *closing = *end == '`' ? strchr(end + 1, '`') : NULL;
        if (*end == ' ' && end[1] != '%')
            break;
        end += closing && closing - end <= MOST_QUOTED ? closing - end + 1 : 1;
        end += strcspn(end, " `");
    }
    return end;
}

/** Cuts the next word off `*rest`, NULL at the end. */
static char *next_word(char **rest)
{
    if (!*rest)
        return NULL;
    char *word = *rest + strspn(*rest, " "), *end = word_end(word);
    *rest = *end ? end + 1 : end;
    *end = 0;
    return *word ? word : NULL;
}

void ys_text_end_colour(struct ys_buf *out, bool colour)
{
    if (!colour || out->size == 0)
        return;
    out->data[--out->size] = 0;
    ys_buf_puts(out, "\x1B[0m\n");
}

void ys_text_wrap(struct ys_buf *out, const char *text, int used, int indent, int width)
{
    struct ys_buf clean = {0};
    ys_text_clean(&clean, text, false);
    int column = used;
    bool begun = false; /* something of ours is on the line already */
    for (char *rest = clean.data, *word; (word = next_word(&rest));) {
        int length = ys_text_width(word);
        const bool whole = strchr(word, '`') && strchr(word, ' ');
        /* The first word too goes below where it fits there alone. */
        if (begun ? column + 1 + length > width
                  : column > indent && column + length > width && (whole || indent + length <= width)) {
            new_line(out, indent);
            column = indent;
        } else if (begun) {
            ys_buf_puts(out, " ");
            column++;
        }
        while (!whole && column + ys_text_width(word) > width) {
            size_t part = fitting(word, width - column);
            if (part == 0) {
                if (column <= indent)
                    break;
            }
            ys_buf_append(out, word, part);
            word += part;
            new_line(out, indent);
            column = indent;
        }
        ys_buf_puts(out, word);
        column += ys_text_width(word);
        begun = true;
    }
    ys_buf_puts(out, "\n");
    ys_buf_free(&clean);
}

void ys_text_html(struct ys_buf *out, const char *text)
{
    struct ys_buf clean = {0};
    ys_text_clean(&clean, text, true);
    for (const char *c = ys_buf_text(&clean); *c;) {
        size_t plain = strcspn(c, "&<>\"'");
        ys_buf_append(out, c, plain);
        c += plain;
        if (!*c)
            break;
        ys_buf_puts(out, *c == '&'   ? "&amp;"
                         : *c == '<' ? "&lt;"
                         : *c == '>' ? "&gt;"
                         : *c == '"' ? "&quot;"
                                     : "&#39;");
        c++;
    }
    ys_buf_free(&clean);
}
