#include "feeder/image.h"

#include "picture_files.h"
#include "tap.h"
#include "unit/base/scratch.h"

enum { HEIGHT = 37, WIDTH = 53 }; /* neither is a multiple of a block of 8 or 16 */

static ys_status decode(const struct ys_buf *file, struct ys_image *image)
{
    *image = (struct ys_image){0};
    return ys_image_decode(ys_buf_text(file), file->size, "a.file", image);
}

/* Half a JPEG's step at quality 95 (the coarsest entries of its tables are 10) and the rounding of two conversions of
 * colours move a pixel of a smooth picture by a few; 12 is far from the differences of a swapped channel or row. */
static void check_near(const struct ys_image *image, const uint8_t *pixels)
{
    int largest = 0;
    for (int i = 0; i < HEIGHT * WIDTH * image->channels; i++)
        largest = abs(image->pixels[i] - pixels[i]) > largest ? abs(image->pixels[i] - pixels[i]) : largest;
    tap_check(largest <= 12, __LINE__, "a pixel is off by %d", largest);
}

static void jpeg_is_read_baseline_and_progressive(void)
{
    uint8_t *pixels = smooth_colors(HEIGHT, WIDTH);
    for (int progressive = 0; progressive < 2; progressive++) {
        struct ys_buf file = {0};
        struct ys_image image;
        put_jpeg(&file, pixels, HEIGHT, WIDTH, JCS_RGB, progressive);
        REQUIRE(decode(&file, &image) == YS_OK);
        CHECK(image.height == HEIGHT && image.width == WIDTH && image.channels == 3);
        check_near(&image, pixels);
        ys_image_fini(&image);
        ys_buf_free(&file);
    }
    free(pixels);
}

static void grey_jpeg_is_grey_until_colors_are_asked_for(void)
{
    uint8_t pixels[HEIGHT * WIDTH];
    struct ys_buf file = {0};
    struct ys_image image;
    memset(pixels, 77, sizeof pixels);
    put_jpeg(&file, pixels, HEIGHT, WIDTH, JCS_GRAYSCALE, false);
    REQUIRE(decode(&file, &image) == YS_OK);
    CHECK_INT(image.channels, 1);
    CHECK_INT(image.pixels[HEIGHT * WIDTH - 1], 77);
    ys_image_set_channels(&image, 3);
    CHECK(image.channels == 3 && image.pixels[3 * HEIGHT * WIDTH - 1] == 77);
    ys_image_fini(&image);
    ys_buf_free(&file);
}

static void png_of_every_kind_is_8_bits_without_transparency(void)
{
    static const struct {
        int kind, depth, channels;
    } kinds[] = {{PNG_COLOR_TYPE_GRAY, 8, 1},      {PNG_COLOR_TYPE_RGB, 8, 3},  {PNG_COLOR_TYPE_GRAY_ALPHA, 8, 2},
                 {PNG_COLOR_TYPE_RGB_ALPHA, 8, 4}, {PNG_COLOR_TYPE_RGB, 16, 3}, {PNG_COLOR_TYPE_GRAY, 16, 1}};
    enum { SIDE = 9 };
    uint8_t pixels[SIDE * SIDE * 8];
    for (size_t i = 0; i < 2 * sizeof kinds / sizeof kinds[0]; i++) {
        const int kind = kinds[i / 2].kind, bytes = kinds[i / 2].channels * kinds[i / 2].depth / 8;
        const int kept = kind & PNG_COLOR_MASK_COLOR ? 3 : 1, size = kinds[i / 2].depth / 8;
        struct ys_buf file = {0};
        struct ys_image image;
        for (int j = 0; j < SIDE * SIDE * bytes; j++)
            pixels[j] = (uint8_t)(37 * j + 5);
        put_png(&file, pixels, SIDE, SIDE, kind, kinds[i / 2].depth, i % 2);
        REQUIRE(decode(&file, &image) == YS_OK);
        CHECK(image.height == SIDE && image.width == SIDE && image.channels == kept);
        for (int j = 0; j < SIDE * SIDE * kept; j++) {
            const uint8_t *sample = pixels + j / kept * bytes + j % kept * size;
            /* 16 bits to 8: v * 255 / 65535, rounded half up */
            const int expected = size == 1 ? sample[0] : ((sample[0] * 256 + sample[1]) * 255 + 32767) / 65535;
            CHECK_INT(image.pixels[j], expected);
        }
        ys_image_fini(&image);
        ys_buf_free(&file);
    }
}

static void grey_of_colors_is_the_stated_sum(void)
{
    static const uint8_t colors[] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 10, 200, 90};
    struct ys_image image;
    REQUIRE(ys_image_init(&image, "a", 1, 5, 3) == YS_OK);
    memcpy(image.pixels, colors, sizeof colors);
    ys_image_set_channels(&image, 1);
    /* 0.299 R + 0.587 G + 0.114 B: 76.2, 149.7, 29.1, 255 and 130.7; none is near a half */
    static const uint8_t grey[] = {76, 150, 29, 255, 131};
    CHECK(memcmp(image.pixels, grey, sizeof grey) == 0);
    ys_image_fini(&image);
}

static void what_ends_early_is_refused(void)
{
    uint8_t *pixels = smooth_colors(HEIGHT, WIDTH);
    struct ys_buf files[3] = {{0}};
    put_jpeg(&files[0], pixels, HEIGHT, WIDTH, JCS_RGB, false);
    put_jpeg(&files[1], pixels, HEIGHT, WIDTH, JCS_RGB, true);
    put_png(&files[2], pixels, HEIGHT, WIDTH, PNG_COLOR_TYPE_RGB, 8, false);
    for (int i = 0; i < 3; i++) {
        const size_t whole = files[i].size;
        for (size_t size = 0; size + 4 < whole; size += 1 + whole / 60) {
            struct ys_image image;
            files[i].size = size;
            tap_check(decode(&files[i], &image) == YS_EFORMAT && !image.pixels, __LINE__,
                      "file %d of %zu bytes: the first %zu are taken", i, whole, size);
            CHECK_HAS(ys_error(), "a.file");
        }
        ys_buf_free(&files[i]);
    }
    free(pixels);
}

static void damage_is_refused_or_harmless_but_never_more(void)
{
    uint8_t *pixels = smooth_colors(HEIGHT, WIDTH);
    struct ys_buf files[2] = {{0}};
    int refused = 0;
    put_jpeg(&files[0], pixels, HEIGHT, WIDTH, JCS_RGB, true);
    put_png(&files[1], pixels, HEIGHT, WIDTH, PNG_COLOR_TYPE_RGB, 8, true);
    for (int i = 0; i < 2; i++) {
        for (size_t at = 0; at < files[i].size; at++) {
            struct ys_image image;
            files[i].data[at] ^= 0x55;
            refused += decode(&files[i], &image) != YS_OK;
            ys_image_fini(&image);
            files[i].data[at] ^= 0x55;
        }
        ys_buf_free(&files[i]);
    }
    CHECK(refused > 100); /* of a PNG alone every byte of its pixels has a sum */
    free(pixels);
}

/* Where the marker SOF0 is: ff c0, two bytes of length, one of depth, then height and width. */
static size_t frame_of(const struct ys_buf *jpeg)
{
    size_t frame = 2;
    while (frame + 9 < jpeg->size && ((uint8_t)jpeg->data[frame] != 0xff || (uint8_t)jpeg->data[frame + 1] != 0xc0))
        frame++;
    return frame;
}

static void bombs_are_refused_before_their_pixels_have_room(void)
{
    uint8_t *pixels = smooth_colors(HEIGHT, WIDTH);
    struct ys_buf jpeg = {0}, png = {0};
    struct ys_image image;
    put_jpeg(&jpeg, pixels, HEIGHT, WIDTH, JCS_RGB, false);
    const size_t frame = frame_of(&jpeg);
    memcpy(jpeg.data + frame + 5, "\xff\xdc\xff\xdc", 4); /* 65500x65500, the most that libjpeg takes */
    CHECK(decode(&jpeg, &image) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "a.file: the image announces 65500x65500 pixels; at most 67108864 are read");
    put_png(&png, pixels, HEIGHT, WIDTH, PNG_COLOR_TYPE_RGB, 8, false);
    static const uint8_t header[] = {'I', 'H', 'D', 'R', 0, 1, 0, 0, 0, 1, 0, 0, 8, 2, 0, 0, 0};
    memcpy(png.data + 12, header, sizeof header);
    unsigned long sum = 0xffffffff; /* the chunk's CRC-32 */
    for (size_t i = 0; i < sizeof header; i++) {
        sum ^= header[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum & 1 ? (sum >> 1) ^ 0xedb88320 : sum >> 1;
    }
    sum ^= 0xffffffff;
    for (int i = 0; i < 4; i++)
        png.data[12 + sizeof header + i] = (char)(sum >> (24 - 8 * i));
    CHECK(decode(&png, &image) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "a.file: the image announces 65536x65536 pixels");
    ys_buf_free(&jpeg);
    ys_buf_free(&png);
    free(pixels);
}

static void cmyk_and_other_files_are_refused(void)
{
    uint8_t inks[4 * 64] = {0};
    struct ys_buf file = {0};
    struct ys_image image;
    put_jpeg(&file, inks, 8, 8, JCS_CMYK, false);
    CHECK(decode(&file, &image) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "a.file: a JPEG in CMYK, whose colours depend on a printer: convert it to RGB");
    ys_buf_clear(&file);
    put_jpeg(&file, inks, 8, 8, JCS_RGB, false);
    const size_t frame = frame_of(&file);
    file.data[frame + 4] = 12; /* bits */
    CHECK(decode(&file, &image) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "a.file: a kind of JPEG that is not read (Unsupported JPEG data precision 12): save it with");
    file.data[frame + 4] = 8;
    file.data[frame + 1] = (char)0xc3; /* without loss */
    CHECK(decode(&file, &image) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "a.file: a kind of JPEG that is not read (Unsupported JPEG process: SOF type 0xc3): save it");
    ys_buf_clear(&file);
    ys_buf_puts(&file, "GIF89a and more");
    CHECK(decode(&file, &image) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "a.file is neither a JPEG nor a PNG file");
    CHECK(ys_image_read(scratch("none.jpg"), &image) != YS_OK);
    CHECK_HAS(ys_error(), "none.jpg");
    ys_buf_free(&file);
}

TAP_MAIN(TAP_CASE(jpeg_is_read_baseline_and_progressive), TAP_CASE(grey_jpeg_is_grey_until_colors_are_asked_for),
         TAP_CASE(png_of_every_kind_is_8_bits_without_transparency), TAP_CASE(grey_of_colors_is_the_stated_sum),
         TAP_CASE(what_ends_early_is_refused), TAP_CASE(damage_is_refused_or_harmless_but_never_more),
         TAP_CASE(bombs_are_refused_before_their_pixels_have_room), TAP_CASE(cmyk_and_other_files_are_refused))
