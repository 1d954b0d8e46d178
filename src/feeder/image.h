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

/** All of an image, or a part of it. */
struct ys_image {
    int64_t height, width; /* of the pixels that are here; at least 1 */
    int channels;          /* 1: grey, 3: red, green, blue */
    uint8_t *pixels;       /* [height, width, channels]; owned */
    /* Which pixels of the whole these are: it was decoded at 1 / reduction of the size that its file announces. */
    int64_t top, left, full_height, full_width;
    int reduction; /* 1, 2, 4 or 8 */
};

/** Pixels of an image that is decoded at 1 / reduction of its size: ceil(height / reduction) x ceil(width / reduction)
 * of them. */
struct ys_image_part {
    int64_t top, left, height, width;
    int reduction;
};

/** Says, once the size of an image is known, which part of it is looked at. */
struct ys_image_chooser {
    struct ys_image_part (*choose)(const void *context, int64_t full_height, int64_t full_width);
    const void *context;
};

/** The image in `size` bytes of a file. `name` begins messages. YS_EFORMAT: neither JPEG nor PNG, damaged, too large,
 * or of a kind that is not read (CMYK). `image` is untouched on failure. */
ys_status ys_image_decode(const void *bytes, size_t size, const char *name, struct ys_image *image) YS_MUST_CHECK;
/** The same of a file; YS_EIO where it cannot be read. */
ys_status ys_image_read(const char *path, struct ys_image *image) YS_MUST_CHECK;
/** As ys_image_decode(), but no more of it need be decoded than the part that is chosen: the pixels of that part are
 * those that the whole image has there. Damage elsewhere may go unseen. Only JPEG has a reduction: of other images the
 * whole is given, at its size. */
ys_status ys_image_decode_part(const void *bytes, size_t size, const char *name, const struct ys_image_chooser *chooser,
                               struct ys_image *image) YS_MUST_CHECK;
void ys_image_fini(struct ys_image *image); /* a zeroed one is fine */

/** Makes a grey image of one in colours, and the other way round: `channels` is 1 or 3. Grey is
 * (19595 R + 38470 G + 7471 B + 32768) / 65536 without its remainder (ITU-R BT.601 in 16 bits); colours of grey are
 * three times the same. */
void ys_image_set_channels(struct ys_image *image, int channels);

/** Room for an image of that size, for who decodes one and writes every pixel; YS_EFORMAT when it is too large or has
 * no pixels. */
ys_status ys_image_init(struct ys_image *image, const char *name, int64_t height, int64_t width,
                        int channels) YS_MUST_CHECK;
/** The same for a part of one that announces such a size, which is looked at; the part is cut to what there is. */
ys_status ys_image_init_part(struct ys_image *image, const char *name, int64_t full_height, int64_t full_width,
                             int channels, const struct ys_image_part *part) YS_MUST_CHECK;
/** ceil(size / reduction). */
int64_t ys_image_reduced(int64_t size, int reduction);

/** "libjpeg-turbo 2.1.5, libpng 1.6.39": by which pixels are decoded. */
const char *ys_image_decoders(void);

#endif
