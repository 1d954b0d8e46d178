#include "data/archives/idx.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "data/archives/gzip.h"
#include <string.h>

#define HEAD_BYTES(rank) (4 + 4 * (rank))

static uint32_t load_u32_big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/** Reads rank and shape; *total becomes the size that the whole content must have. */
static ys_status parse_head(const uint8_t *head, size_t size, const char *name, struct ys_idx *idx, size_t *total)
{
    if (size < 4)
        return ys_fail(YS_EFORMAT, "%s: cut short: %zu bytes, an IDX file begins with 4", name, size);
    if (head[0] || head[1] || head[2] != 0x08)
        return ys_fail(YS_EFORMAT, "%s: begins with %02x %02x %02x, not 00 00 08: not an IDX file of unsigned bytes",
                       name, head[0], head[1], head[2]);
    idx->rank = head[3];
    if (idx->rank < 1 || idx->rank > YS_IDX_MAX_RANK)
        return ys_fail(YS_EFORMAT, "%s: rank %zu, must be 1 to %d", name, idx->rank, YS_IDX_MAX_RANK);
    *total = HEAD_BYTES(idx->rank);
    if (size < *total)
        return ys_fail(YS_EFORMAT, "%s: cut short: %zu bytes, the header alone has %zu", name, size, *total);
    size_t elements = 1;
    for (size_t i = 0; i < idx->rank; i++) {
        idx->shape[i] = load_u32_big_endian(head + HEAD_BYTES(i));
        if (idx->shape[i] < 1)
            return ys_fail(YS_EFORMAT, "%s: dimension %zu is 0", name, i);
        if ((size_t)idx->shape[i] > YS_IDX_MAX_BYTES / elements)
            return ys_fail(YS_EFORMAT, "%s: its header announces more than %zu bytes", name, YS_IDX_MAX_BYTES);
        elements *= (size_t)idx->shape[i];
    }
    *total += elements;
    return YS_OK;
}

ys_status ys_idx_parse(const void *bytes, size_t size, const char *name, struct ys_idx *idx)
{
    struct ys_idx fresh = {0};
    uint8_t head[HEAD_BYTES(YS_IDX_MAX_RANK)];
    size_t got, total = 0;
    bool more;
    YS_TRY(ys_gzip_expand(bytes, size, name, head, sizeof head, &got, &more));
    YS_TRY(parse_head(head, got, name, &fresh, &total));
    fresh.content = ys_alloc(total, 1);
    ys_status status = ys_gzip_expand(bytes, size, name, fresh.content, total, &got, &more);
    if (status == YS_OK && got < total)
        status = ys_fail(YS_EFORMAT, "%s: cut short: %zu bytes, its header announces %zu", name, got, total);
    if (status == YS_OK && more)
        status = ys_fail(YS_EFORMAT, "%s: goes on after the %zu bytes that its header announces", name, total);
    if (status != YS_OK) {
        ys_free(fresh.content);
        return status;
    }
    fresh.data = fresh.content + HEAD_BYTES(fresh.rank);
    ys_md5_text(fresh.content, total, fresh.md5);
    ys_md5_text(bytes, size, fresh.file_md5);
    *idx = fresh;
    return YS_OK;
}

ys_status ys_idx_read(const char *path, struct ys_idx *idx)
{
    struct ys_buf bytes = {0};
    ys_status status = ys_fs_read(path, YS_IDX_MAX_BYTES, &bytes);
    if (status == YS_OK)
        status = ys_idx_parse(ys_buf_text(&bytes), bytes.size, path, idx);
    ys_buf_free(&bytes);
    return status;
}

void ys_idx_fini(struct ys_idx *idx)
{
    ys_free(idx->content);
    *idx = (struct ys_idx){0};
}
