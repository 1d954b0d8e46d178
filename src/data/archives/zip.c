#include "data/archives/zip.h"
#include "data/archives/gzip.h"
#include <string.h>

/* How records begin, and how long they are without what their fields announce. */
#define MEMBER_MARK   0x04034b50u
#define ENTRY_MARK    0x02014b50u
#define END_MARK      0x06054b50u
#define LOCATOR_MARK  0x07064b50u
#define WIDE_END_MARK 0x06064b50u
#define COMMENT_BYTES 65535 /* behind the end, at most */
#define ELSEWHERE     0xffffffffu
enum { MEMBER_BYTES = 30, ENTRY_BYTES = 46, END_BYTES = 22, LOCATOR_BYTES = 20, WIDE_END_BYTES = 56 };
enum { STORED = 0, DEFLATED = 8, ENCRYPTED_FLAG = 1 };

static uint32_t load_u16(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8;
}

static uint32_t load_u32(const uint8_t *bytes)
{
    return load_u16(bytes) | load_u16(bytes + 2) << 16;
}

static uint64_t load_u64(const uint8_t *bytes)
{
    return load_u32(bytes) | (uint64_t)load_u32(bytes + 4) << 32;
}

/* A record of `length` bytes that begins with `mark`; NULL when there is none at `place`. */
static const uint8_t *record_at(const struct ys_zip *zip, uint64_t place, size_t length, uint32_t mark)
{
    if (place > zip->size || length > zip->size - place || load_u32(zip->bytes + place) != mark)
        return NULL;
    return zip->bytes + place;
}

static ys_status damaged(const struct ys_zip *zip, const char *what, uint64_t place)
{
    return ys_fail(YS_EFORMAT, "%s: a damaged zip archive: there is no %s at byte %llu", zip->name, what,
                   (unsigned long long)place);
}

/* Where an archive is so large that the end says "elsewhere", a record before it says where. */
static ys_status find_wide(struct ys_zip *zip, size_t end, uint64_t *directory)
{
    const uint64_t before = end >= LOCATOR_BYTES ? end - LOCATOR_BYTES : zip->size;
    const uint8_t *locator = record_at(zip, before, LOCATOR_BYTES, LOCATOR_MARK);
    if (!locator)
        return damaged(zip, "locator of its directory", before);
    const uint8_t *wide = record_at(zip, load_u64(locator + 8), WIDE_END_BYTES, WIDE_END_MARK);
    if (!wide)
        return damaged(zip, "end of its directory", load_u64(locator + 8));
    *directory = load_u64(wide + 48);
    return YS_OK;
}

ys_status ys_zip_open(const uint8_t *bytes, size_t size, const char *name, struct ys_zip *zip)
{
    *zip = (struct ys_zip){.bytes = bytes, .size = size, .name = name};
    const size_t last = size >= END_BYTES ? size - END_BYTES : 0,
                 first = last > COMMENT_BYTES ? last - COMMENT_BYTES : 0;
    size_t end = last;
    while (end > first && !record_at(zip, end, END_BYTES, END_MARK))
        end--;
    const uint8_t *record = record_at(zip, end, END_BYTES, END_MARK);
    if (!record)
        return ys_fail(YS_EFORMAT, "%s is no zip archive, or is cut short: it has no directory at its end", name);
    uint64_t directory = load_u32(record + 16);
    if (directory == ELSEWHERE)
        YS_TRY(find_wide(zip, end, &directory));
    if (directory > end)
        return damaged(zip, "directory", directory);
    zip->place = (size_t)directory;
    return YS_OK;
}

static ys_status check_entry(const struct ys_zip *zip, const uint8_t *entry, const struct ys_zip_member *member)
{
    const uint32_t method = load_u16(entry + 10);
    if (load_u16(entry + 8) & ENCRYPTED_FLAG)
        return ys_fail(YS_EFORMAT, "%s: %s is encrypted", zip->name, member->name);
    if (method != STORED && method != DEFLATED)
        return ys_fail(YS_EFORMAT, "%s: %s is packed by method %u: stored (0) and deflated (8) are read", zip->name,
                       member->name, method);
    if (member->size == ELSEWHERE || member->packed_size == ELSEWHERE || member->place == ELSEWHERE)
        return ys_fail(YS_EFORMAT, "%s: %s is larger than 4 GiB", zip->name, member->name);
    return YS_OK;
}

ys_status ys_zip_next(struct ys_zip *zip, struct ys_zip_member *member, bool *ended)
{
    const uint8_t *entry = record_at(zip, zip->place, ENTRY_BYTES, ENTRY_MARK);
    *ended = record_at(zip, zip->place, END_BYTES, END_MARK) || record_at(zip, zip->place, END_BYTES, WIDE_END_MARK);
    if (*ended)
        return YS_OK;
    if (!entry)
        return damaged(zip, "entry of its directory", zip->place);
    const size_t name = load_u16(entry + 28), all = ENTRY_BYTES + name + load_u16(entry + 30) + load_u16(entry + 32);
    if (all > zip->size - zip->place)
        return damaged(zip, "whole entry of its directory", zip->place);
    if (name < 1 || name > YS_ZIP_NAME_BYTES || memchr(entry + ENTRY_BYTES, 0, name))
        return ys_fail(YS_EFORMAT, "%s: the entry at byte %zu has a name of %zu bytes, or a 0 in it: 1 to %d are read",
                       zip->name, zip->place, name, YS_ZIP_NAME_BYTES);
    *member = (struct ys_zip_member){.size = load_u32(entry + 24),
                                     .packed_size = load_u32(entry + 20),
                                     .sum = load_u32(entry + 16),
                                     .is_deflated = load_u16(entry + 10) == DEFLATED,
                                     .place = load_u32(entry + 42)};
    memcpy(member->name, entry + ENTRY_BYTES, name);
    zip->place += all;
    return check_entry(zip, entry, member);
}

ys_status ys_zip_read(const struct ys_zip *zip, const struct ys_zip_member *member, uint8_t *out)
{
    const uint8_t *header = record_at(zip, member->place, MEMBER_BYTES, MEMBER_MARK);
    if (!header)
        return damaged(zip, "member", member->place);
    const uint64_t begin = (uint64_t)member->place + MEMBER_BYTES + load_u16(header + 26) + load_u16(header + 28);
    if (begin > zip->size || member->packed_size > zip->size - begin)
        return damaged(zip, "whole member", member->place);
    size_t got = member->packed_size;
    bool more = !member->is_deflated && member->packed_size != member->size;
    if (member->is_deflated)
        YS_TRY(
            ys_deflate_expand(zip->bytes + begin, member->packed_size, member->name, out, member->size, &got, &more));
    else if (!more)
        memcpy(out, zip->bytes + begin, member->size);
    if (more || got != member->size)
        return ys_fail(YS_EFORMAT, "%s: %s has not the %zu bytes that its directory says", zip->name, member->name,
                       member->size);
    if (ys_crc32(out, member->size) != member->sum)
        return ys_fail(YS_EFORMAT, "%s: %s is damaged: its CRC-32 is %08x, not %08x", zip->name, member->name,
                       ys_crc32(out, member->size), member->sum);
    return YS_OK;
}
