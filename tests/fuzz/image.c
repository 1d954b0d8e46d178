/* Fuzz target of the images that the feeder decodes, and of what it makes of them: whatever the bytes, an answer within
 * bounded memory. tests/unit/feeder/test_fuzz.c replays the corpus tests/fuzz/image. With libFuzzer, from the root of
 * the source, in one line:
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -std=gnu17 -D_GNU_SOURCE -Isrc tests/fuzz/image.c
 *           src/feeder/decode_image.c src/feeder/jpeg.c src/feeder/png.c src/feeder/resize.c src/feeder/augment.c
 *           $(find src/base -name "*.c") -ljpeg -lpng -ljansson -lmd -lm -o image-fuzz
 *     ./image-fuzz -max_len=8192 -rss_limit_mb=4096 NEW-INPUTS tests/fuzz/image
 */
#include "feeder/augment.h"
#include "feeder/image.h"
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { SIDE = 4, MOST = 1 << 22 }; /* larger images are decoded, and not resampled: each pixel takes its time */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void use_row(struct ys_image *image)
{
    float planes[3 * SIDE * SIDE];
    const struct ys_augment_draw draw = {.seed = 1, .epoch = 2, .row = 3};
    const struct ys_augmentation *area = ys_augmentation_find("area");
    ys_image_set_channels(image, 3);
    if (ys_augment(area, image, "input", &draw, SIDE, SIDE, planes) != YS_OK)
        abort();
    for (int i = 0; i < 3 * SIDE * SIDE; i++)
        if (!(planes[i] >= 0 && planes[i] <= 255 && planes[i] == floorf(planes[i])))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct ys_image image = {0};
    ys_status status = ys_image_decode(bytes, size, "input", &image);
    if (status != YS_OK && status != YS_EFORMAT && status != YS_ENOMEM)
        abort();
    if ((status == YS_OK) != (image.pixels != NULL))
        abort();
    if (status == YS_OK && (image.height < 1 || image.width < 1 || image.width > YS_IMAGE_MAX_PIXELS / image.height ||
                            (image.channels != 1 && image.channels != 3)))
        abort();
    if (status == YS_OK && image.height * image.width <= MOST)
        use_row(&image);
    ys_image_fini(&image);
    return 0;
}
