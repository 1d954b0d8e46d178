/* Small IDX files, made here. */
#ifndef YS_TESTS_DATA_IDX_FILES_H
#define YS_TESTS_DATA_IDX_FILES_H

#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "base/status.h"
#include <string.h>
#include <zlib.h>

/** Header of an IDX file of unsigned bytes. */
__attribute__((unused)) static void put_head(struct ys_buf *buf, size_t rank, const uint32_t *shape)
{
    const unsigned char magic[4] = {0, 0, 8, (unsigned char)rank};
    ys_buf_append(buf, magic, sizeof magic);
    for (size_t i = 0; i < rank; i++) {
        const unsigned char bytes[4] = {(unsigned char)(shape[i] >> 24), (unsigned char)(shape[i] >> 16),
                                        (unsigned char)(shape[i] >> 8), (unsigned char)shape[i]};
        ys_buf_append(buf, bytes, sizeof bytes);
    }
}

__attribute__((unused)) static void put_bytes(struct ys_buf *buf, size_t count, unsigned modulus)
{
    for (size_t i = 0; i < count; i++) {
        unsigned char byte = (unsigned char)(i % modulus);
        ys_buf_append(buf, &byte, 1);
    }
}

/** `data` as gzip, appended to `out`. */
__attribute__((unused)) static void put_gzip(struct ys_buf *out, const void *data, size_t size)
{
    z_stream stream = {0};
    YS_ASSERT(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    size_t room = deflateBound(&stream, (uLong)size);
    unsigned char *packed = ys_alloc(room, 1), *copy = ys_alloc(size, 1);
    memcpy(copy, data, size);
    stream.next_in = copy;
    stream.avail_in = (uInt)size;
    stream.next_out = packed;
    stream.avail_out = (uInt)room;
    YS_ASSERT(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    ys_buf_append(out, packed, room - stream.avail_out);
    deflateEnd(&stream);
    ys_free(packed);
    ys_free(copy);
}

#endif
