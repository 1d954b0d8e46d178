#include "feeder/image.h"
#include "base/buf.h"
#include "base/files/fs.h"
#include "base/mem.h"
#include "feeder/codec.h"
#include <stdio.h>
#include <string.h>

static ys_status check_size(const char *name, int64_t height, int64_t width)
{
    if (height < 1 || width < 1)
        return ys_fail(YS_EFORMAT, "%s: the image has no pixels (%lldx%lld)", name, (long long)width,
                       (long long)height);
    if (width > YS_IMAGE_MAX_PIXELS / height)
        return ys_fail(YS_EFORMAT, "%s: the image announces %lldx%lld pixels; at most %lld are read: make it smaller",
                       name, (long long)width, (long long)height, (long long)YS_IMAGE_MAX_PIXELS);
    return YS_OK;
}

ys_status ys_image_init(struct ys_image *image, const char *name, int64_t height, int64_t width, int channels)
{
    const struct ys_image_part all = {.height = height, .width = width, .reduction = 1};
    return ys_image_init_part(image, name, height, width, channels, &all);
}

int64_t ys_image_reduced(int64_t size, int reduction)
{
    return (size + reduction - 1) / reduction;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

ys_status ys_image_init_part(struct ys_image *image, const char *name, int64_t full_height, int64_t full_width,
                             int channels, const struct ys_image_part *part)
{
    YS_TRY(check_size(name, full_height, full_width));
    const int64_t top = part->top > 0 ? part->top : 0, left = part->left > 0 ? part->left : 0;
    struct ys_image made = {
        .height = least(part->top + part->height, ys_image_reduced(full_height, part->reduction)) - top,
        .width = least(part->left + part->width, ys_image_reduced(full_width, part->reduction)) - left,
        .channels = channels,
        .top = top,
        .left = left,
        .full_height = full_height,
        .full_width = full_width,
        .reduction = part->reduction,
    };
    YS_ASSERT(made.height >= 1 && made.width >= 1);
    made.pixels = ys_realloc(NULL, (size_t)(made.height * made.width), (size_t)channels); /* as they are: all follow */
    *image = made;
    return YS_OK;
}

void ys_image_fini(struct ys_image *image)
{
    ys_free(image->pixels);
    *image = (struct ys_image){0};
}

ys_status ys_image_decode(const void *bytes, size_t size, const char *name, struct ys_image *image)
{
    return ys_image_decode_part(bytes, size, name, NULL, image);
}

ys_status ys_image_decode_part(const void *bytes, size_t size, const char *name, const struct ys_image_chooser *chooser,
                               struct ys_image *image)
{
    static const uint8_t jpeg[] = {0xff, 0xd8, 0xff};
    static const uint8_t png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    if (size >= sizeof jpeg && memcmp(bytes, jpeg, sizeof jpeg) == 0)
        return ys_jpeg_decode(bytes, size, name, chooser, image);
    if (size >= sizeof png && memcmp(bytes, png, sizeof png) == 0)
        return ys_png_decode(bytes, size, name, image);
    return ys_fail(YS_EFORMAT, "%s is neither a JPEG nor a PNG file", name);
}

ys_status ys_image_read(const char *path, struct ys_image *image)
{
    struct ys_buf bytes = {0};
    ys_status status = ys_fs_read(path, YS_IMAGE_MAX_FILE_BYTES, &bytes);
    if (status == YS_OK)
        status = ys_image_decode(ys_buf_text(&bytes), bytes.size, path, image);
    ys_buf_free(&bytes);
    return status;
}

static uint8_t grey_of(const uint8_t *rgb)
{
    return (uint8_t)((19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 32768u) >> 16);
}

void ys_image_set_channels(struct ys_image *image, int channels)
{
    if (image->channels == channels)
        return;
    size_t count = (size_t)(image->height * image->width);
    uint8_t *pixels = ys_alloc(count, (size_t)channels);
    for (size_t i = 0; i < count; i++)
        if (channels == 1)
            pixels[i] = grey_of(image->pixels + 3 * i);
        else
            memset(pixels + 3 * i, image->pixels[i], 3);
    ys_free(image->pixels);
    image->pixels = pixels;
    image->channels = channels;
}

const char *ys_image_decoders(void)
{
    static char text[96];
    snprintf(text, sizeof text, "libjpeg-turbo %s, libpng %s", ys_jpeg_version(), ys_png_version());
    return text;
}
