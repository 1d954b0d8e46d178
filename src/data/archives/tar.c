#include "data/archives/tar.h"
#include <string.h>

/* Where the fields of a header stand, and how long they are. */
enum { SIZE_AT = 124, SIZE_BYTES = 12, SUM_AT = 148, SUM_BYTES = 8, TYPE_AT = 156 };

/** An octal number of `length` characters at most; spaces before it, a space or a 0 after it. */
static bool read_octal(const uint8_t *field, size_t length, size_t *value)
{
    size_t i = 0;
    *value = 0;
    while (i < length && field[i] == ' ')
        i++;
    if (i == length || field[i] < '0' || field[i] > '7')
        return false;
    for (; i < length && field[i] >= '0' && field[i] <= '7'; i++)
        *value = *value * 8 + (field[i] - '0'); /* 12 digits have 36 bits */
    return i == length || field[i] == ' ' || field[i] == 0;
}

/** The sum of all bytes of the header, those of the sum itself read as spaces. */
static size_t sum_header(const uint8_t *header)
{
    size_t sum = 0;
    for (size_t i = 0; i < YS_TAR_BLOCK_BYTES; i++)
        sum += i >= SUM_AT && i < SUM_AT + SUM_BYTES ? ' ' : header[i];
    return sum;
}

static bool is_zero(const uint8_t *block)
{
    for (size_t i = 0; i < YS_TAR_BLOCK_BYTES; i++)
        if (block[i])
            return false;
    return true;
}

ys_status ys_tar_next(const uint8_t *tar, size_t size, const char *name, size_t *place, struct ys_tar_member *member,
                      bool *ended)
{
    const uint8_t *header = tar + *place;
    size_t left = size - *place, sum, length;
    *ended = left == 0 || (left >= YS_TAR_BLOCK_BYTES && is_zero(header));
    if (*ended)
        return YS_OK;
    if (left < YS_TAR_BLOCK_BYTES)
        return ys_fail(YS_EFORMAT, "%s: cut short: the header at byte %zu has %zu bytes, not %d", name, *place, left,
                       YS_TAR_BLOCK_BYTES);
    if (!read_octal(header + SUM_AT, SUM_BYTES, &sum) || sum != sum_header(header) ||
        !read_octal(header + SIZE_AT, SIZE_BYTES, &length))
        return ys_fail(YS_EFORMAT, "%s: there is no tar header at byte %zu", name, *place);
    left -= YS_TAR_BLOCK_BYTES;
    *member = (struct ys_tar_member){
        .is_file = header[TYPE_AT] == '0' || header[TYPE_AT] == 0, .data = header + YS_TAR_BLOCK_BYTES, .size = length};
    memcpy(member->name, header, YS_TAR_NAME_BYTES);
    if (length > left)
        return ys_fail(YS_EFORMAT, "%s: cut short: %s at byte %zu has %zu bytes, %zu are there", name, member->name,
                       *place, length, left);
    size_t padded = (length + YS_TAR_BLOCK_BYTES - 1) / YS_TAR_BLOCK_BYTES * YS_TAR_BLOCK_BYTES;
    *place += YS_TAR_BLOCK_BYTES + (padded < left ? padded : left);
    return YS_OK;
}
