#include "base/hash.h"
#include "base/sha256_blocks.h"
#include <errno.h>
#include <fcntl.h>
#include <md5.h>
#include <sha2.h>
#include <string.h>
#include <unistd.h>

void ys_hex_text(const uint8_t *bytes, size_t size, char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * size] = 0;
}

/* As SHA256Update(), whole blocks by the processor's own instructions where it has them. */
static void add(SHA2_CTX *context, const uint8_t *data, size_t size)
{
    size_t blocks = context->bitcount[0] % (8 * SHA256_BLOCK_LENGTH) == 0 ? size / SHA256_BLOCK_LENGTH : 0;
    if (blocks > 0 && ys_sha256_blocks(context->state.st32, data, blocks)) {
        size_t done = blocks * SHA256_BLOCK_LENGTH;
        context->bitcount[0] += (uint64_t)done * 8;
        data += done;
        size -= done;
    }
    if (size > 0)
        SHA256Update(context, data, size);
}

void ys_sha256(const void *data, size_t size, uint8_t digest[32])
{
    ys_sha256_joined(data, size, NULL, 0, digest);
}

void ys_sha256_joined(const void *first, size_t first_size, const void *second, size_t second_size, uint8_t digest[32])
{
    SHA2_CTX context;
    SHA256Init(&context);
    add(&context, first, first_size);
    add(&context, second, second_size);
    SHA256Final(digest, &context);
}

void ys_sha256_text(const void *data, size_t size, char text[YS_SHA256_TEXT])
{
    uint8_t digest[32];
    ys_sha256(data, size, digest);
    ys_hex_text(digest, sizeof digest, text);
}

ys_status ys_sha256_file(const char *path, char text[YS_SHA256_TEXT])
{
    return ys_sha256_file_beside(path, NULL, NULL, text);
}

ys_status ys_sha256_file_beside(const char *path, ys_status (*beside)(void *context), void *context,
                                char text[YS_SHA256_TEXT])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ys_fail(errno == ENOENT ? YS_ENOTFOUND : YS_EIO, "cannot open %s: %s", path, strerror(errno));
    SHA2_CTX sum;
    SHA256Init(&sum);
    uint8_t block[65536];
    ys_status status = YS_OK;
    ssize_t got;
    while (status == YS_OK && (got = read(fd, block, sizeof block)) != 0) {
        if (got > 0)
            add(&sum, block, (size_t)got);
        else if (errno != EINTR)
            status = ys_fail(YS_EIO, "cannot read %s: %s", path, strerror(errno));
        if (status == YS_OK && beside)
            status = beside(context);
    }
    close(fd);
    YS_TRY(status);
    uint8_t digest[32];
    SHA256Final(digest, &sum);
    ys_hex_text(digest, sizeof digest, text);
    return YS_OK;
}

void ys_md5_text(const void *data, size_t size, char text[YS_MD5_TEXT])
{
    MD5_CTX context;
    MD5Init(&context);
    if (size > 0)
        MD5Update(&context, data, size);
    uint8_t digest[16];
    MD5Final(digest, &context);
    ys_hex_text(digest, sizeof digest, text);
}
