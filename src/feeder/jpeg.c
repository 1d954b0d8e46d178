#include "feeder/codec.h"
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h> /* before jpeglib.h, which needs it */

#include <jerror.h>
#include <jpeglib.h>

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

static ys_status read_header(struct jpeg_decompress_struct *decoder, const char *name, struct ys_image *image)
{
    jpeg_read_header(decoder, TRUE);
    if (decoder->jpeg_color_space == JCS_CMYK || decoder->jpeg_color_space == JCS_YCCK)
        return ys_fail(YS_EFORMAT, "%s: a JPEG in CMYK, whose colours depend on a printer: convert it to RGB", name);
    decoder->out_color_space = decoder->jpeg_color_space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
    decoder->dct_method = JDCT_ISLOW;
    return ys_image_init(image, name, (int64_t)decoder->image_height, (int64_t)decoder->image_width,
                         decoder->out_color_space == JCS_GRAYSCALE ? 1 : 3);
}

/* Apart from ys_jpeg_decode(), which longjmp() comes back to: nothing here changes what that one has in registers. */
static ys_status decode(struct jpeg_decompress_struct *decoder, const void *bytes, size_t size, const char *name,
                        struct ys_image *image)
{
    jpeg_mem_src(decoder, bytes, (unsigned long)size);
    YS_TRY(read_header(decoder, name, image));
    jpeg_start_decompress(decoder);
    while (decoder->output_scanline < decoder->output_height) {
        const size_t row_bytes = (size_t)image->width * (size_t)image->channels;
        JSAMPROW row = image->pixels + decoder->output_scanline * row_bytes;
        jpeg_read_scanlines(decoder, &row, 1);
    }
    jpeg_finish_decompress(decoder);
    return YS_OK;
}

ys_status ys_jpeg_decode(const void *bytes, size_t size, const char *name, struct ys_image *image)
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
        status = decode(&decoder, bytes, size, name, &made);
    } else {
        status = ys_fail(YS_EFORMAT, "%s: a damaged JPEG file: %s", name, failing.message);
    }
    jpeg_destroy_decompress(&decoder);
    if (status == YS_OK)
        *image = *kept;
    else
        ys_image_fini(kept);
    return status;
}

const char *ys_jpeg_version(void)
{
    return AS_TEXT(LIBJPEG_TURBO_VERSION);
}
