#include "base/mem.h"
#include "feeder/codec.h"
#include <png.h>
#include <stdio.h>
#include <string.h>

#define CHUNK_LIMIT ((png_alloc_size_t)8 << 20) /* bytes that one chunk beside the pixels may unpack to */

struct png_reading {
    const uint8_t *next;
    size_t left;
    char message[160];
};

static void on_error(png_structp png, png_const_charp message)
{
    struct png_reading *reading = png_get_error_ptr(png);
    snprintf(reading->message, sizeof reading->message, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png; /* of what is beside the pixels; those have sums of their own, which are errors */
    (void)message;
}

static void give(png_structp png, png_bytep bytes, size_t size)
{
    struct png_reading *reading = png_get_io_ptr(png);
    if (size > reading->left)
        png_error(png, "it ends early");
    memcpy(bytes, reading->next, size);
    reading->next += size;
    reading->left -= size;
}

/* Whatever the file holds becomes 8 bits, grey or red, green and blue. */
static ys_status read_header(png_structp png, png_infop info, const char *name, struct ys_image *image)
{
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* ys_image_init() looks at both together */
    png_set_chunk_malloc_max(png, CHUNK_LIMIT);
    png_read_info(png, info);
    const int kind = png_get_color_type(png, info);
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_strip_alpha(png);
    png_set_interlace_handling(png);
    YS_TRY(ys_image_init(image, name, (int64_t)png_get_image_height(png, info), (int64_t)png_get_image_width(png, info),
                         kind & PNG_COLOR_MASK_COLOR ? 3 : 1));
    png_read_update_info(png, info);
    YS_ASSERT(png_get_rowbytes(png, info) == (size_t)image->width * (size_t)image->channels);
    return YS_OK;
}

static ys_status decode(png_structp png, png_infop info, const char *name, struct ys_image *image)
{
    YS_TRY(read_header(png, info, name, image));
    const int passes = png_get_interlace_type(png, info) == PNG_INTERLACE_NONE ? 1 : PNG_INTERLACE_ADAM7_PASSES;
    for (int pass = 0; pass < passes; pass++)
        for (int64_t y = 0; y < image->height; y++)
            png_read_row(png, image->pixels + (size_t)(y * image->width) * (size_t)image->channels, NULL);
    png_read_end(png, NULL);
    return YS_OK;
}

ys_status ys_png_decode(const void *bytes, size_t size, const char *name, struct ys_image *image)
{
    struct png_reading reading = {.next = bytes, .left = size};
    struct ys_image made = {0}, *volatile kept = &made; /* looked at after longjmp() */
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    ys_status status;
    if (!info) {
        status = ys_out_of_memory();
    } else if (setjmp(png_jmpbuf(png)) == 0) {
        png_set_read_fn(png, &reading, give);
        status = decode(png, info, name, &made);
    } else {
        status = ys_fail(YS_EFORMAT, "%s: a damaged PNG file: %s", name, reading.message);
    }
    png_destroy_read_struct(&png, &info, NULL);
    if (status == YS_OK)
        *image = *kept;
    else
        ys_image_fini(kept);
    return status;
}

const char *ys_png_version(void)
{
    return PNG_LIBPNG_VER_STRING;
}
