/* One image of a file as pixels. JPEG is read by libjpeg-turbo (8 bits, baseline or progressive, grey or YCbCr or RGB;
 * the accurate integer transform, JDCT_ISLOW, with its smooth enlargement of colours), PNG by libpng (every kind; 16
 * bits are rounded to 8, transparency is dropped, neither gamma nor a colour profile is applied). What a camera noted
 * about how it was held (EXIF) is not applied either. Pixels of equal files are equal for equal versions of both
 * libraries.
 *
 * Files are strangers' work: nothing is allocated for an image before its announced pixels were compared with
 * YS_IMAGE_MAX_PIXELS, and one that ends early, is damaged or unpacks without end is YS_EFORMAT. */
#ifndef YS_FEEDER_IMAGE_H
#define YS_FEEDER_IMAGE_H

#include "base/status.h"
#include <stddef.h>
#include <stdint.h>

#define YS_IMAGE_MAX_PIXELS     ((int64_t)1 << 26) /* 8192x8192: 192 MiB of colours */
#define YS_IMAGE_MAX_FILE_BYTES ((size_t)256 << 20)
#define YS_IMAGE_MAX_SCANS      200 /* of a progressive JPEG: each goes over all pixels, a camera's has about ten */

struct ys_image {
    int64_t height, width; /* at least 1 */
    int channels;          /* 1: grey, 3: red, green, blue */
    uint8_t *pixels;       /* [height, width, channels]; owned */
};

/** The image in `size` bytes of a file. `name` begins messages. YS_EFORMAT: neither JPEG nor PNG, damaged, too large,
 * or of a kind that is not read (CMYK). YS_ENOMEM. `image` is untouched on failure. */
ys_status ys_image_decode(const void *bytes, size_t size, const char *name, struct ys_image *image) YS_MUST_CHECK;
/** The same of a file; YS_EIO where it cannot be read. */
ys_status ys_image_read(const char *path, struct ys_image *image) YS_MUST_CHECK;
void ys_image_fini(struct ys_image *image); /* a zeroed one is fine */

/** Makes a grey image of one in colours, and the other way round: `channels` is 1 or 3. Grey is
 * (19595 R + 38470 G + 7471 B + 32768) / 65536 without its remainder (ITU-R BT.601 in 16 bits); colours of grey are
 * three times the same. */
ys_status ys_image_set_channels(struct ys_image *image, int channels) YS_MUST_CHECK;

/** Room for an image of that size, for who decodes one; YS_EFORMAT when it is too large or has no pixels. */
ys_status ys_image_init(struct ys_image *image, const char *name, int64_t height, int64_t width,
                        int channels) YS_MUST_CHECK;

/** "libjpeg-turbo 2.1.5, libpng 1.6.39": by which pixels are decoded. */
const char *ys_image_decoders(void);

#endif
