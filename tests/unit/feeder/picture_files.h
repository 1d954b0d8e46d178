/* Files of images for the tests, made by the libraries themselves. */
#ifndef YS_TESTS_FEEDER_PICTURE_FILES_H
#define YS_TESTS_FEEDER_PICTURE_FILES_H

#include "base/buf.h"
#include <png.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/** Appends a JPEG of `pixels`, [height, width, components of `space`]. */
__attribute__((unused)) static void put_jpeg(struct ys_buf *out, const uint8_t *pixels, int height, int width,
                                             J_COLOR_SPACE space, bool progressive)
{
    struct jpeg_compress_struct encoder;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    encoder.err = jpeg_std_error(&errors); /* ends the program */
    jpeg_create_compress(&encoder);
    jpeg_mem_dest(&encoder, &bytes, &size);
    encoder.image_height = (JDIMENSION)height;
    encoder.image_width = (JDIMENSION)width;
    encoder.input_components = space == JCS_GRAYSCALE ? 1 : space == JCS_CMYK ? 4 : 3;
    encoder.in_color_space = space;
    jpeg_set_defaults(&encoder);
    jpeg_set_quality(&encoder, 95, TRUE);
    if (progressive)
        jpeg_simple_progression(&encoder);
    jpeg_start_compress(&encoder, TRUE);
    while (encoder.next_scanline < encoder.image_height) {
        JSAMPROW row = (JSAMPROW)(uintptr_t)(pixels + (size_t)encoder.next_scanline * (size_t)width *
                                                          (size_t)encoder.input_components);
        jpeg_write_scanlines(&encoder, &row, 1);
    }
    jpeg_finish_compress(&encoder);
    jpeg_destroy_compress(&encoder);
    ys_buf_append(out, bytes, size);
    free(bytes);
}

__attribute__((unused)) static void give_png(png_structp png, png_bytep bytes, size_t size)
{
    ys_buf_append(png_get_io_ptr(png), bytes, size);
}

/** Appends a PNG of `pixels`, [height, width, channels of `kind`] of `depth` bits, the high byte first. */
__attribute__((unused)) static void put_png(struct ys_buf *out, const uint8_t *pixels, int height, int width, int kind,
                                            int depth, bool interlaced)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL); /* ends the program */
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png)))
        abort();
    png_set_write_fn(png, out, give_png, NULL);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, depth, kind,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    const int passes = png_set_interlace_handling(png);
    const size_t row_bytes = png_get_rowbytes(png, info);
    for (int pass = 0; pass < passes; pass++)
        for (int y = 0; y < height; y++)
            png_write_row(png, pixels + (size_t)y * row_bytes);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
}

/** A smooth picture in colours, which JPEG keeps well: [height, width, 3]. */
__attribute__((unused)) static uint8_t *smooth_colors(int height, int width)
{
    uint8_t *pixels = malloc((size_t)height * (size_t)width * 3);
    for (int y = 0; pixels && y < height; y++) {
        for (int x = 0; x < width; x++) {
            uint8_t *at = pixels + 3 * (y * width + x);
            at[0] = (uint8_t)(40 + 160 * y / height);
            at[1] = (uint8_t)(200 - 150 * x / width);
            at[2] = (uint8_t)(60 + 60 * x / width + 60 * y / height);
        }
    }
    return pixels;
}

#endif
