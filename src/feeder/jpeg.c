#include "feeder/codec.h"
#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include <stdio.h> /* before jpeglib.h, which needs it */

#include <jerror.h>
#include <jpeglib.h>

/* Columns around a part: the last one that is decoded has no neighbour to be enlarged from. Rows need none: the one
 * that skipping leaves without its neighbour above is thrown away by libjpeg itself. */
#define MARGIN_COLUMNS 4

#define ROWS 16 /* that are asked for at a time */

#define TEXT_OF(number) #number
#define AS_TEXT(number) TEXT_OF(number)

/* libjpeg's own struct first, so that its callbacks find the rest. */
struct failing {
    struct jpeg_error_mgr manager;
    jmp_buf stop;
    char message[JMSG_LENGTH_MAX];
};

static void on_error(j_common_ptr codec)
{
    struct failing *failing = (struct failing *)codec->err;
    codec->err->format_message(codec, failing->message);
    longjmp(failing->stop, 1);
}

/* What libjpeg only warns about and goes on with grey pixels, as when a file ends early, is no image to learn from. A
 * few warnings are about what surrounds the pixels: many files of cameras have them. */
static void on_message(j_common_ptr codec, int level)
{
    const int code = codec->err->msg_code;
    const bool harmless = code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR ||
                          code == JWRN_BOGUS_ICC || code == JWRN_BOGUS_PROGRESSION;
    if (level < 0 && !harmless)
        on_error(codec);
}

/* Called while the scans of a progressive file are read. */
static void on_progress(j_common_ptr codec)
{
    struct failing *failing = (struct failing *)codec->err;
    const j_decompress_ptr decoder = (j_decompress_ptr)codec;
    if (decoder->input_scan_number <= YS_IMAGE_MAX_SCANS)
        return;
    snprintf(failing->message, sizeof failing->message, "more than %d scans", YS_IMAGE_MAX_SCANS);
    longjmp(failing->stop, 1);
}

static ys_status read_header(struct jpeg_decompress_struct *decoder, const char *name,
                             const struct ys_image_chooser *chooser, struct ys_image *image)
{
    jpeg_read_header(decoder, TRUE);
    if (decoder->jpeg_color_space == JCS_CMYK || decoder->jpeg_color_space == JCS_YCCK)
        return ys_fail(YS_EFORMAT, "%s: a JPEG in CMYK, whose colours depend on a printer: convert it to RGB", name);
    decoder->out_color_space = decoder->jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
    decoder->dct_method = JDCT_ISLOW;
    const int64_t height = (int64_t)decoder->image_height, width = (int64_t)decoder->image_width;
    const int channels = decoder->out_color_space == JCS_GRAYSCALE ? 1 : 3;
    const struct ys_image_part part = chooser && height > 0 && width > 0
                                          ? chooser->choose(chooser->context, height, width)
                                          : (struct ys_image_part){0, 0, height, width, 1};
    decoder->scale_num = 1;
    decoder->scale_denom = (unsigned)part.reduction;
    return ys_image_init_part(image, name, height, width, channels, &part);
}

/* Of a progressive file everything is read before the first row comes out, and forms of sampling that are rare are not
 * trusted to be cut right. */
static bool can_cut(const struct jpeg_decompress_struct *decoder)
{
    const jpeg_component_info *c = decoder->comp_info;
    if (decoder->progressive_mode)
        return false;
    if (decoder->num_components == 1)
        return true;
    return decoder->num_components == 3 && c[0].h_samp_factor <= 2 && c[0].v_samp_factor <= c[0].h_samp_factor &&
           c[1].h_samp_factor == 1 && c[1].v_samp_factor == 1 && c[2].h_samp_factor == 1 && c[2].v_samp_factor == 1;
}

static JDIMENSION rows_to_ask(const struct jpeg_decompress_struct *decoder, int64_t end)
{
    const int64_t left = end - (int64_t)decoder->output_scanline;
    return (JDIMENSION)(left < ROWS ? left : ROWS);
}

/* The rows of the part out of wider ones, `left` of which come before it. */
static void read_part(struct jpeg_decompress_struct *decoder, JDIMENSION left, bool skips, const struct ys_image *image)
{
    const size_t channels = (size_t)image->channels, row_bytes = (size_t)image->width * channels;
    const int64_t end = image->top + image->height;
    JSAMPARRAY rows = decoder->mem->alloc_sarray((j_common_ptr)decoder, JPOOL_IMAGE,
                                                 decoder->output_width * (JDIMENSION)channels, ROWS);
    if (skips && image->top > 0)
        jpeg_skip_scanlines(decoder, (JDIMENSION)image->top);
    while ((int64_t)decoder->output_scanline < end) {
        int64_t y = (int64_t)decoder->output_scanline - image->top;
        const JDIMENSION got = jpeg_read_scanlines(decoder, rows, rows_to_ask(decoder, end));
        for (JDIMENSION i = 0; i < got; i++, y++)
            if (y >= 0)
                memcpy(image->pixels + (size_t)y * row_bytes, rows[i] + (size_t)left * channels, row_bytes);
    }
}

static void read_whole(struct jpeg_decompress_struct *decoder, const struct ys_image *image)
{
    const size_t row_bytes = (size_t)image->width * (size_t)image->channels;
    while ((int64_t)decoder->output_scanline < image->height) {
        JSAMPROW rows[ROWS];
        const JDIMENSION asked = rows_to_ask(decoder, image->height);
        for (JDIMENSION i = 0; i < asked; i++)
            rows[i] = image->pixels + (decoder->output_scanline + i) * row_bytes;
        jpeg_read_scanlines(decoder, rows, asked);
    }
}

/* Decodes no more columns than are needed; how many of them come before the part. */
static JDIMENSION cut_columns(struct jpeg_decompress_struct *decoder, const struct ys_image *image)
{
    const int64_t first = image->left > MARGIN_COLUMNS ? image->left - MARGIN_COLUMNS : 0;
    int64_t last = image->left + image->width + MARGIN_COLUMNS;
    if (last > (int64_t)decoder->output_width)
        last = (int64_t)decoder->output_width;
    JDIMENSION start = (JDIMENSION)first, width = (JDIMENSION)(last - first);
    if (width < decoder->output_width)
        jpeg_crop_scanline(decoder, &start, &width);
    else
        start = 0;
    return (JDIMENSION)image->left - start;
}

/* Apart from ys_jpeg_decode(), which longjmp() comes back to: nothing here changes what that one has in registers. */
static ys_status decode(struct jpeg_decompress_struct *decoder, const void *bytes, size_t size, const char *name,
                        const struct ys_image_chooser *chooser, struct ys_image *image)
{
    jpeg_mem_src(decoder, bytes, (unsigned long)size);
    YS_TRY(read_header(decoder, name, chooser, image));
    jpeg_start_decompress(decoder);
    const bool is_whole =
        image->height == (int64_t)decoder->output_height && image->width == (int64_t)decoder->output_width;
    if (!is_whole) {
        const bool cuts = can_cut(decoder);
        read_part(decoder, cuts ? cut_columns(decoder, image) : (JDIMENSION)image->left, cuts, image);
        return YS_OK; /* what follows is not looked at */
    }
    read_whole(decoder, image);
    jpeg_finish_decompress(decoder);
    return YS_OK;
}

/* What is whole and not read is told apart from what is damaged. */
static ys_status refuse(const char *name, const struct failing *failing)
{
    const int code = failing->manager.msg_code;
    if (code == JERR_BAD_PRECISION || code == JERR_SOF_UNSUPPORTED)
        return ys_fail(
            YS_EFORMAT,
            "%s: a kind of JPEG that is not read (%s): save it with 8 bits a colour, baseline or progressive", name,
            failing->message);
    return ys_fail(YS_EFORMAT, "%s: a damaged JPEG file: %s", name, failing->message);
}

ys_status ys_jpeg_decode(const void *bytes, size_t size, const char *name, const struct ys_image_chooser *chooser,
                         struct ys_image *image)
{
    struct jpeg_decompress_struct decoder = {0};
    struct jpeg_progress_mgr progress = {.progress_monitor = on_progress};
    struct failing failing;
    struct ys_image made = {0}, *volatile kept = &made; /* looked at after longjmp() */
    ys_status status;
    decoder.err = jpeg_std_error(&failing.manager);
    failing.manager.error_exit = on_error;
    failing.manager.emit_message = on_message;
    if (setjmp(failing.stop) == 0) {
        jpeg_create_decompress(&decoder);
        decoder.progress = &progress;
        status = decode(&decoder, bytes, size, name, chooser, &made);
    } else {
        status = refuse(name, &failing);
    }
    jpeg_destroy_decompress(&decoder);
    if (status == YS_OK)
        *image = *kept;
    else
        ys_image_fini(kept);
    return status;
}

static void encode(struct jpeg_compress_struct *encoder, const struct ys_image *image, int quality, FILE *file)
{
    jpeg_create_compress(encoder);
    jpeg_stdio_dest(encoder, file);
    encoder->image_height = (JDIMENSION)image->height;
    encoder->image_width = (JDIMENSION)image->width;
    encoder->input_components = image->channels;
    encoder->in_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(encoder);
    jpeg_set_quality(encoder, quality, TRUE);
    jpeg_start_compress(encoder, TRUE);
    while (encoder->next_scanline < encoder->image_height) {
        JSAMPROW row = image->pixels + (size_t)encoder->next_scanline * (size_t)image->width * (size_t)image->channels;
        jpeg_write_scanlines(encoder, &row, 1);
    }
    jpeg_finish_compress(encoder);
}

ys_status ys_jpeg_write(const char *path, const struct ys_image *image, int quality)
{
    struct jpeg_compress_struct encoder = {0};
    struct failing failing;
    FILE *volatile file = fopen(path, "we");
    volatile bool is_written = false;
    if (!file)
        return ys_fail(YS_EIO, "cannot write %s: %s", path, strerror(errno));
    encoder.err = jpeg_std_error(&failing.manager);
    failing.manager.error_exit = on_error;
    if (setjmp(failing.stop) == 0) {
        encode(&encoder, image, quality, file);
        is_written = true;
    }
    jpeg_destroy_compress(&encoder);
    if (fclose(file) != 0)
        is_written = false;
    return is_written ? YS_OK : ys_fail(YS_EIO, "cannot write %s: the disk took not all of it", path);
}

const char *ys_jpeg_version(void)
{
    return AS_TEXT(LIBJPEG_TURBO_VERSION);
}
