#include "data/sets/text_pieces.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "data/sets/unicode.inc"

enum character_kind { SPACE, LETTER, NUMBER, SIGN, NOTHING /* the end of the text */ };

static bool is_within(const uint32_t ranges[][2], size_t count, uint32_t code)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (code > ranges[middle][1])
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && code >= ranges[low][0];
}

static bool is_space(uint32_t code)
{
    return (code >= 0x9 && code <= 0xd) || code == 0x20 || code == 0x85 || code == 0xa0 || code == 0x1680 ||
           (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
           code == 0x3000;
}

/** The character at the begin; *length is its bytes. A byte that begins none is 0xfffd, a sign. */
static uint32_t decode(const char *text, size_t size, size_t *length)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *b = (const uint8_t *)text;
    const size_t wanted = b[0] < 0x80 ? 1 : b[0] >> 5 == 6 ? 2 : b[0] >> 4 == 14 ? 3 : b[0] >> 3 == 30 ? 4 : 0;
    uint32_t code = wanted == 1 ? b[0] : b[0] & (0xffu >> (wanted + 1));
    bool whole = wanted > 0 && wanted <= size;
    for (size_t i = 1; whole && i < wanted; i++) {
        whole = b[i] >> 6 == 2;
        code = code << 6 | (b[i] & 0x3f);
    }
    whole = whole && code >= least[wanted] && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    *length = whole ? wanted : 1;
    return whole ? code : 0xfffd;
}

static enum character_kind kind_at(const char *text, size_t size, size_t *length)
{
    *length = 0;
    if (size == 0)
        return NOTHING;
    const uint32_t code = decode(text, size, length);
    if (is_space(code))
        return SPACE;
    if (is_within(letters, sizeof letters / sizeof letters[0], code))
        return LETTER;
    return is_within(numbers, sizeof numbers / sizeof numbers[0], code) ? NUMBER : SIGN;
}

/** Bytes of the stretch of that kind; *last: of its last character. */
static size_t stretch(const char *text, size_t size, enum character_kind kind, size_t *last)
{
    size_t end = 0, length;
    while (kind_at(text + end, size - end, &length) == kind) {
        end += length;
        *last = length;
    }
    return end;
}

static size_t contraction(const char *text, size_t size)
{
    static const char *const known[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (size >= strlen(known[i]) && memcmp(text, known[i], strlen(known[i])) == 0)
            return strlen(known[i]);
    return 0;
}

size_t ys_piece_length(const char *text, size_t size)
{
    size_t length, last = 0;
    const size_t found = contraction(text, size);
    if (found)
        return found;
    const size_t blank = text[0] == ' ';
    const enum character_kind kind = kind_at(text + blank, size - blank, &length);
    if (kind != SPACE && kind != NOTHING)
        return blank + stretch(text + blank, size - blank, kind, &last);
    /* The last space belongs to what follows it. */
    const size_t spaces = stretch(text, size, SPACE, &last);
    return spaces < size && spaces > last ? spaces - last : spaces;
}
