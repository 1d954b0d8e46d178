#include "data/archives/gzip.h"
#include "base/mem.h"
#include <limits.h>
#include <string.h>
#include <zlib.h>

enum { LARGEST_WINDOW = 15 };

static void *zlib_alloc(void *context, uInt items, uInt size)
{
    (void)context;
    return ys_alloc(items, size);
}

static void zlib_free(void *context, void *block)
{
    (void)context;
    ys_free(block);
}

static bool is_gzip(const unsigned char *data, size_t size)
{
    return size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
}

static ys_status expand_plain(const void *data, size_t size, void *out, size_t room, size_t *got, bool *more)
{
    *got = size < room ? size : room;
    *more = size > room;
    if (*got)
        memcpy(out, data, *got);
    return YS_OK;
}

/** One call of inflate, and what it means. *ended: all members were read to their ends. */
static ys_status inflate_some(z_stream *stream, const char *name, bool *ended)
{
    int result = inflate(stream, Z_NO_FLUSH);
    *ended = false;
    if (result == Z_MEM_ERROR)
        return ys_out_of_memory();
    if (result == Z_BUF_ERROR || (result == Z_OK && stream->avail_in == 0 && stream->avail_out > 0))
        return ys_fail(YS_EFORMAT, "%s: the compressed data is cut short", name);
    if (result != Z_OK && result != Z_STREAM_END)
        return ys_fail(YS_EFORMAT, "%s: the compressed data is damaged: %s", name,
                       stream->msg ? stream->msg : "it is none");
    if (result == Z_STREAM_END) {
        *ended = stream->avail_in == 0;
        if (!*ended && !is_gzip(stream->next_in, stream->avail_in))
            return ys_fail(YS_EFORMAT, "%s: %u bytes follow the end of the compressed data", name, stream->avail_in);
        if (!*ended && inflateReset(stream) != Z_OK)
            return ys_fail(YS_EINTERNAL, "%s: zlib cannot start again", name);
    }
    return YS_OK;
}

static ys_status expand_stream(z_stream *stream, const char *name, void *out, size_t room, size_t *got, bool *more)
{
    bool ended = false;
    stream->next_out = out;
    stream->avail_out = (uInt)room;
    while (!ended && stream->avail_out > 0)
        YS_TRY(inflate_some(stream, name, &ended));
    *got = room - stream->avail_out;
    unsigned char beyond;
    stream->next_out = &beyond;
    stream->avail_out = 1;
    while (!ended && stream->avail_out > 0)
        YS_TRY(inflate_some(stream, name, &ended));
    *more = stream->avail_out == 0;
    return YS_OK;
}

/* `window` as inflateInit2() has it: how large, and what surrounds the data. */
static ys_status expand(int window, const void *data, size_t size, const char *name, void *out, size_t room,
                        size_t *got, bool *more)
{
    if (size > UINT_MAX || room > UINT_MAX)
        return ys_fail(YS_EFORMAT, "%s: larger than 4 GiB", name);
    z_stream stream = {.zalloc = zlib_alloc, .zfree = zlib_free, .avail_in = (uInt)size};
    stream.next_in = (z_const Bytef *)(uintptr_t)data; /* zlib reads it only, but its type does not say so */
    if (inflateInit2(&stream, window) != Z_OK)
        return ys_out_of_memory();
    ys_status status = expand_stream(&stream, name, out, room, got, more);
    inflateEnd(&stream);
    return status;
}

ys_status ys_gzip_expand(const void *data, size_t size, const char *name, void *out, size_t room, size_t *got,
                         bool *more)
{
    if (!is_gzip(data, size))
        return expand_plain(data, size, out, room, got, more);
    return expand(LARGEST_WINDOW + 16, data, size, name, out, room, got, more); /* 16: gzip only */
}

ys_status ys_zlib_expand(const void *data, size_t size, const char *name, void *out, size_t room, size_t *got,
                         bool *more)
{
    return expand(LARGEST_WINDOW, data, size, name, out, room, got, more);
}

ys_status ys_deflate_expand(const void *data, size_t size, const char *name, void *out, size_t room, size_t *got,
                            bool *more)
{
    return expand(-LARGEST_WINDOW, data, size, name, out, room, got, more); /* below 0: nothing surrounds it */
}

uint32_t ys_crc32(const void *data, size_t size)
{
    uLong sum = crc32(0, NULL, 0);
    for (const unsigned char *at = data; size > 0;) {
        const uInt some = size > UINT_MAX ? UINT_MAX : (uInt)size;
        sum = crc32(sum, at, some);
        at += some;
        size -= some;
    }
    return (uint32_t)sum;
}
