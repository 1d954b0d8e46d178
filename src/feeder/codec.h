/* The two formats that ys_image_decode() tells apart by their first bytes. */
#ifndef YS_FEEDER_CODEC_H
#define YS_FEEDER_CODEC_H

#include "feeder/image.h"

/** As ys_image_decode_part(), of a file that begins as a JPEG file does; `chooser` NULL: all of it. */
ys_status ys_jpeg_decode(const void *bytes, size_t size, const char *name, const struct ys_image_chooser *chooser,
                         struct ys_image *image) YS_MUST_CHECK;
/** As ys_image_decode(), of a PNG file. */
ys_status ys_png_decode(const void *bytes, size_t size, const char *name, struct ys_image *image) YS_MUST_CHECK;

/** Writes all of an image, with colours at half their resolution, at `quality` from 1 to 100. YS_EIO. */
ys_status ys_jpeg_write(const char *path, const struct ys_image *image, int quality) YS_MUST_CHECK;

/** The version of libjpeg-turbo as "2.1.5", that of libpng likewise. */
const char *ys_jpeg_version(void);
const char *ys_png_version(void);

#endif
