/* Images that are decoded while they are wanted: of a file no more than is looked at, with the pixels that the whole
 * has there; and rows that are those which a prepared file gives. */
#include "base/hash.h"
#include "base/mem.h"
#include "base/rng.h"
#include "data/listed_images.h"
#include "feeder/batches.h"
#include "feeder/draw_photos.h"
#include "feeder/image_rows.h"
#include "feeder/listed_files.h"

#include "picture_files.h"
#include "tap.h"
#include "unit/base/scratch.h"

#include <fcntl.h>
#include <sys/stat.h>

static const uint64_t seed = 41;

/* A JPEG of noise, of which every pixel matters. */
static void put_noise(struct ys_buf *out, int height, int width, int across, int down, bool progressive)
{
    struct jpeg_compress_struct encoder;
    struct jpeg_error_mgr errors;
    struct ys_rng rng;
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    uint8_t row[3 * 600], *pointer = row;
    ys_rng_init(&rng, seed, "noise");
    encoder.err = jpeg_std_error(&errors);
    jpeg_create_compress(&encoder);
    jpeg_mem_dest(&encoder, &bytes, &size);
    encoder.image_height = (JDIMENSION)height;
    encoder.image_width = (JDIMENSION)width;
    encoder.input_components = across ? 3 : 1;
    encoder.in_color_space = across ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&encoder);
    if (across) {
        encoder.comp_info[0].h_samp_factor = across;
        encoder.comp_info[0].v_samp_factor = down;
    }
    if (progressive)
        jpeg_simple_progression(&encoder);
    jpeg_start_compress(&encoder, TRUE);
    while (encoder.next_scanline < encoder.image_height) {
        for (int i = 0; i < width * encoder.input_components; i++)
            row[i] = (uint8_t)ys_rng_below(&rng, 256);
        jpeg_write_scanlines(&encoder, &pointer, 1);
    }
    jpeg_finish_compress(&encoder);
    jpeg_destroy_compress(&encoder);
    ys_buf_append(out, bytes, size);
    free(bytes);
}

static struct ys_image_part as_said(const void *context, int64_t full_height, int64_t full_width)
{
    (void)full_height;
    (void)full_width;
    return *(const struct ys_image_part *)context;
}

static bool decode_part(const struct ys_buf *file, const struct ys_image_part *part, struct ys_image *image)
{
    const struct ys_image_chooser chooser = {as_said, part};
    return ys_image_decode_part(ys_buf_text(file), file->size, "noise", &chooser, image) == YS_OK;
}

static bool holds(const struct ys_image *whole, const struct ys_image *part)
{
    const size_t channels = (size_t)whole->channels;
    for (int64_t y = 0; y < part->height; y++)
        if (memcmp(part->pixels + (size_t)(y * part->width) * channels,
                   whole->pixels + (size_t)((part->top + y) * whole->width + part->left) * channels,
                   (size_t)part->width * channels) != 0)
            return false;
    return true;
}

static void parts_are_those_of_the_whole(void)
{
    static const struct {
        int height, width, across, down;
        bool progressive;
    } kinds[] = {{375, 500, 2, 2, false}, {375, 500, 2, 1, false}, {97, 131, 1, 1, false}, {375, 500, 0, 0, false},
                 {97, 131, 1, 2, false},  {97, 131, 2, 2, true},   {33, 17, 2, 2, false},  {500, 333, 2, 2, false}};
    struct ys_rng rng;
    ys_rng_init(&rng, seed, "parts");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct ys_buf file = {0};
        put_noise(&file, kinds[k].height, kinds[k].width, kinds[k].across, kinds[k].down, kinds[k].progressive);
        for (int reduction = 1; reduction <= 8; reduction *= 2) {
            struct ys_image whole, some;
            const int64_t height = ys_image_reduced(kinds[k].height, reduction);
            const int64_t width = ys_image_reduced(kinds[k].width, reduction);
            const struct ys_image_part all = {0, 0, height, width, reduction};
            REQUIRE(decode_part(&file, &all, &whole));
            CHECK(whole.height == height && whole.width == width && whole.full_height == kinds[k].height);
            for (int round = 0; round < 60 + 66; round++) { /* some by lot, then two rows from each on */
                struct ys_image_part part = {.top = round - 60, .width = width, .height = 2, .reduction = reduction};
                if (round < 60) {
                    part.top = ys_rng_below(&rng, (uint32_t)height);
                    part.left = ys_rng_below(&rng, (uint32_t)width);
                    part.height = 1 + ys_rng_below(&rng, (uint32_t)(height - part.top));
                    part.width = 1 + ys_rng_below(&rng, (uint32_t)(width - part.left));
                }
                if (part.top + part.height > height)
                    break;
                REQUIRE(decode_part(&file, &part, &some));
                tap_check(some.height == part.height && some.width == part.width && holds(&whole, &some), __LINE__,
                          "seed %llu, kind %zu at 1/%d: %lldx%lld from %lld, %lld differs", (unsigned long long)seed, k,
                          reduction, (long long)part.width, (long long)part.height, (long long)part.left,
                          (long long)part.top);
                ys_image_fini(&some);
            }
            ys_image_fini(&whole);
        }
        ys_buf_free(&file);
    }
}

/* A part reaches as far as the taps do: resampled it gives what the whole gives. */
static void a_box_of_a_part_is_that_of_the_whole(void)
{
    struct ys_buf file = {0};
    struct ys_image whole, some;
    struct ys_rng rng;
    static uint8_t expected[3 * 40 * 50], planes[sizeof expected];
    put_noise(&file, 375, 500, 2, 2, false);
    ys_rng_init(&rng, seed, "boxes");
    REQUIRE(ys_image_decode(ys_buf_text(&file), file.size, "noise", &whole) == YS_OK);
    for (int round = 0; round < 60; round++) {
        struct ys_box box = {.height = 1 + 374 * ys_rng_uniform(&rng), .width = 1 + 499 * ys_rng_uniform(&rng)};
        box.top = (375 - box.height) * ys_rng_uniform(&rng);
        box.left = (500 - box.width) * ys_rng_uniform(&rng);
        const struct ys_resampling all = ys_resampling_whole(&box, 40, 50);
        struct ys_image_part part = ys_resampling_part(&all, false);
        CHECK_INT(part.reduction, 1);
        REQUIRE(decode_part(&file, &part, &some));
        ys_image_resize(&whole, &box, 40, 50, expected);
        ys_image_resize(&some, &box, 40, 50, planes);
        CHECK(memcmp(planes, expected, sizeof planes) == 0);
        ys_image_fini(&some);
        part = ys_resampling_part(&all, true);
        const double least = box.height / 40 < box.width / 50 ? box.height / 40 : box.width / 50;
        CHECK(part.reduction <= least || part.reduction == 1);
        CHECK(2 * part.reduction > least || part.reduction == 8);
        REQUIRE(decode_part(&file, &part, &some));
        ys_image_resize(&some, &box, 40, 50, planes);
        ys_image_fini(&some);
    }
    ys_image_fini(&whole);
    ys_buf_free(&file);
}

enum { FILES = 6, SIDE = 24, CUT = 16, STEPS = 7, BATCH = 4, ROW = 3 * SIDE * SIDE, MOST = 3 * 120 * 100 };

static const char *const paths[FILES] = {"a.jpg", "b.jpg", "c.png", "d.jpg", "e.png", "f.jpg"};

/* Files, a list of them, a prepared file of them with rows of that size, and an order. */
static void make_sets(int height, int width)
{
    static uint8_t rows[FILES * MOST], sums[FILES][YS_LISTED_SUM_BYTES];
    char said[32];
    static int64_t starts[FILES], sizes[FILES], times[FILES], labels[FILES];
    static uint32_t order[STEPS][BATCH], epochs[STEPS];
    static double lr[STEPS];
    const char *names[FILES];
    char full[FILES][PATH_MAX];
    struct ys_buf text = {0};
    for (int i = 0; i < FILES; i++) {
        struct ys_buf file = {0};
        struct stat found;
        snprintf(full[i], sizeof full[i], "%s", scratch(paths[i]));
        names[i] = full[i];
        uint8_t *pixels = smooth_colors(40 + 7 * i, 50);
        if (strstr(paths[i], "png"))
            put_png(&file, pixels, 40 + 7 * i, 50, PNG_COLOR_TYPE_RGB, 8, false);
        else
            put_noise(&file, 60 + 5 * i, 90, i == 3 ? 0 : 2, 2, false); /* one is grey */
        free(pixels);
        if (ys_fs_write(full[i], ys_buf_text(&file), file.size) != YS_OK || stat(full[i], &found) != 0)
            abort();
        ys_buf_free(&file);
        starts[i] = (int64_t)text.size;
        sizes[i] = found.st_size;
        times[i] = (int64_t)found.st_mtim.tv_sec * 1000000000 + found.st_mtim.tv_nsec;
        labels[i] = i % 3;
        ys_buf_append(&text, full[i], strlen(full[i]) + 1);
    }
    for (int s = 0; s < STEPS; s++) {
        epochs[s] = (uint32_t)(s / 2);
        for (int i = 0; i < BATCH; i++)
            order[s][i] = (uint32_t)((s * 5 + i) % FILES);
    }
    const struct ys_feeder_preparation p = {
        .paths = names, .count = FILES, .channels = 3, .height = height, .width = width, .threads = 2};
    struct ys_feeder_preparation check = p;
    check.checks = true;
    if (ys_feeder_prepare(&p, rows) != YS_OK || ys_feeder_prepare(&check, sums) != YS_OK)
        abort();
    struct ys_buf first = {0};
    uint8_t sum[YS_LISTED_SUM_BYTES];
    CHECK(ys_fs_read(full[0], 1 << 20, &first) == YS_OK);
    ys_sha256(first.data, first.size, sum);
    CHECK(memcmp(sum, sums[0], sizeof sum) == 0);
    ys_buf_free(&first);
    snprintf(said, sizeof said, "3x%dx%d", height, width);
    const struct ys_tensor set[] = {
        {"x", YS_U8, 4, {FILES, 3, height, width}, rows, (size_t)(FILES * 3 * height * width)},
        {"y", YS_I64, 1, {FILES}, labels, sizeof labels}};
    const struct ys_tensor list[] = {{YS_LISTED_PATHS, YS_U8, 1, {(int64_t)text.size}, text.data, text.size},
                                     {YS_LISTED_STARTS, YS_I64, 1, {FILES}, starts, sizeof starts},
                                     {YS_LISTED_SIZES, YS_I64, 1, {FILES}, sizes, sizeof sizes},
                                     {YS_LISTED_TIMES, YS_I64, 1, {FILES}, times, sizeof times},
                                     {"y", YS_I64, 1, {FILES}, labels, sizeof labels}};
    const struct ys_tensor plan[] = {{"order", YS_U32, 2, {STEPS, BATCH}, order, sizeof order},
                                     {"epoch", YS_U32, 1, {STEPS}, epochs, sizeof epochs},
                                     {"lr", YS_F64, 1, {STEPS}, lr, sizeof lr}};
    ys_json *meta = ys_json_object();
    if (ys_json_set_string(meta, YS_LISTED_ROWS, said) != YS_OK ||
        ys_safetensors_write(scratch("set"), set, 2, NULL) != YS_OK ||
        ys_safetensors_write(scratch("list"), list, 5, meta) != YS_OK ||
        ys_safetensors_write(scratch("order"), plan, 3, NULL) != YS_OK)
        abort();
    ys_json_free(meta);
    ys_buf_free(&text);
}

static struct ys_batches *batches_of(const char *data, struct ys_batches_asked asked)
{
    struct ys_batches *batches = NULL;
    char order[PATH_MAX];
    snprintf(order, sizeof order, "%s", scratch("order"));
    asked.data = scratch(data);
    asked.order = order;
    asked.seed = seed;
    if (ys_batches_open(&asked, &batches) != YS_OK) {
        printf("# %s\n", ys_error());
        CHECK(false);
    }
    return batches;
}

/* Of batch `number`; room for the largest. */
static size_t make_x(const struct ys_batches *batches, int64_t number, void *x)
{
    int64_t y[BATCH];
    size_t count, size = 0;
    void *places[2];
    const struct ys_tensor *arrays = ys_batches_arrays(batches, &count);
    for (size_t i = 0; i < 2; i++) {
        places[i] = strcmp(arrays[i].name, "x") == 0 ? x : (void *)y;
        size = strcmp(arrays[i].name, "x") == 0 ? arrays[i].size_bytes : size;
    }
    CHECK(ys_batches_make(batches, number, places) == YS_OK);
    return size;
}

static void check_live(const struct ys_batches_asked *asked)
{
    static float expected[BATCH * MOST], got[BATCH * MOST];
    struct ys_batches *prepared = batches_of("set", *asked), *live = batches_of("list", *asked);
    REQUIRE(prepared && live);
    for (int64_t step = STEPS - 1; step >= 0; step--) {
        const size_t size = make_x(prepared, step, expected);
        CHECK_INT(make_x(live, step, got), size);
        tap_check(memcmp(got, expected, size) == 0, __LINE__, "%s, cut to %lld, batch %lld is another",
                  asked->augment ? asked->augment : "none", (long long)asked->crop, (long long)step);
    }
    ys_batches_close(prepared);
    ys_batches_close(live);
}

/* Rows smaller than the images, as large as some are, once with edges between two pixels, and larger ones. */
static void live_rows_are_those_of_a_prepared_file(void)
{
    static const int sizes[][2] = {{SIDE, SIDE}, {60, 90}, {65, 65}, {54, 50}, {120, 100}};
    static const struct ys_batches_asked kinds[] = {{0},
                                                    {.augment = "flip"},
                                                    {.augment = "crop+flip"},
                                                    {.augment = "place", .crop = CUT},
                                                    {.crop = CUT},
                                                    {.augment = "crop+flip", .crop = 3}, /* some see nothing but 0 */
                                                    {.augment = "cifar", .crop = CUT},
                                                    {.floats = true},
                                                    {.augment = "flip", .floats = true, .crop = CUT},
                                                    {.evaluates = true, .augment = "place", .crop = CUT},
                                                    {.evaluates = true, .augment = "area", .crop = CUT}};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        make_sets(sizes[s][0], sizes[s][1]);
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            check_live(&kinds[k]);
    }
}

/* A box by lot is one of the file's own pixels. */
static void an_area_is_cut_out_of_the_file(void)
{
    static uint8_t got[BATCH * 3 * CUT * CUT], expected[3 * CUT * CUT];
    make_sets(SIDE, SIDE);
    struct ys_batches *live = batches_of("list", (struct ys_batches_asked){.augment = "area", .crop = CUT});
    REQUIRE(live);
    for (int64_t step = 0; step < STEPS; step++) {
        CHECK_INT(make_x(live, step, got), sizeof got);
        for (int i = 0; i < BATCH; i++) {
            const int64_t row = (step * 5 + i) % FILES;
            struct ys_image image;
            REQUIRE(ys_image_read(scratch(paths[row]), &image) == YS_OK);
            ys_image_set_channels(&image, 3);
            const struct ys_augment_draw draw = {.seed = seed, .epoch = (uint64_t)(step / 2), .row = (uint64_t)row};
            REQUIRE(ys_augment_bytes(ys_augmentation_find("area"), &image, "a", &draw, CUT, CUT, expected) == YS_OK);
            tap_check(memcmp(got + (size_t)i * sizeof expected, expected, sizeof expected) == 0, __LINE__,
                      "row %lld of step %lld is another", (long long)row, (long long)step);
            ys_image_fini(&image);
        }
    }
    ys_batches_close(live);
}

/* Of a reduced image it is nearly the same picture: never more than its own noise away, and not the same. */
static void a_reduced_image_is_no_other_picture(void)
{
    static uint8_t full[BATCH * ROW], reduced[BATCH * ROW];
    make_sets(SIDE, SIDE);
    struct ys_batches *one = batches_of("list", (struct ys_batches_asked){0});
    struct ys_batches *other = batches_of("list", (struct ys_batches_asked){.reduces = true});
    REQUIRE(one && other);
    double sum = 0;
    make_x(one, 0, full);
    make_x(other, 0, reduced);
    for (size_t i = 0; i < sizeof full; i++)
        sum += abs(full[i] - reduced[i]);
    CHECK(sum > 0);
    CHECK(sum / sizeof full < 32); /* two pictures of uniform noise, resampled 2.5 times smaller, are further apart */
    ys_batches_close(one);
    ys_batches_close(other);
}

static void files_that_changed_are_refused(void)
{
    struct ys_image image = {0};
    struct ys_image_files files;
    struct ys_safetensors *list = NULL;
    make_sets(SIDE, SIDE);
    REQUIRE(ys_safetensors_open(scratch("list"), &list) == YS_OK);
    REQUIRE(ys_image_files_open(list, "list", &files) == YS_OK);
    CHECK_INT(files.count, FILES);
    REQUIRE(ys_fs_write(scratch(paths[1]), "another", 7) == YS_OK);
    CHECK_INT(ys_image_files_decode(&files, 1, NULL, &image), YS_EFORMAT);
    CHECK_HAS(ys_error(), "b.jpg changed since this study began");
    unlink(scratch(paths[1]));
    CHECK_INT(ys_image_files_decode(&files, 1, NULL, &image), YS_EIO);
    CHECK_HAS(ys_error(), "b.jpg: No such file");
    struct timespec earlier[2] = {{1000, 0}, {1000, 0}};
    CHECK(utimensat(AT_FDCWD, scratch(paths[0]), earlier, 0) == 0);
    CHECK_INT(ys_image_files_decode(&files, 0, NULL, &image), YS_EFORMAT);
    CHECK_HAS(ys_error(), "a.jpg changed since this study began");
    ys_safetensors_close(list);
}

static void lists_that_cannot_be_are_refused(void)
{
    static const int64_t one[1] = {0}, beyond[1] = {5};
    struct ys_image_files files;
    static const struct {
        const char *rows, *path;
        const int64_t *starts;
        const char *said;
    } bad[] = {{"3x24", "a", one, "no size"},
               {"2x24x24", "a", one, "no size"},
               {"3x24x24", "ab", beyond, "row 0 names no path"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct ys_safetensors *list = NULL;
        const size_t bytes = strlen(bad[i].path) + 1;
        const struct ys_tensor arrays[] = {{YS_LISTED_PATHS, YS_U8, 1, {(int64_t)bytes}, bad[i].path, bytes},
                                           {YS_LISTED_STARTS, YS_I64, 1, {1}, bad[i].starts, sizeof one},
                                           {YS_LISTED_SIZES, YS_I64, 1, {1}, one, sizeof one},
                                           {YS_LISTED_TIMES, YS_I64, 1, {1}, one, sizeof one}};
        ys_json *meta = ys_json_object();
        REQUIRE(ys_json_set_string(meta, YS_LISTED_ROWS, bad[i].rows) == YS_OK);
        REQUIRE(ys_safetensors_write(scratch("bad"), arrays, 4, meta) == YS_OK);
        REQUIRE(ys_safetensors_open(scratch("bad"), &list) == YS_OK);
        CHECK_INT(ys_image_files_open(list, "bad", &files), YS_EFORMAT);
        CHECK_HAS(ys_error(), bad[i].said);
        ys_safetensors_close(list);
        ys_json_free(meta);
    }
}

static void a_drawn_folder_has_images_of_each_class(void)
{
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", scratch("drawn"));
    const struct ys_feeder_drawing drawing = {folder, 3, 30, 40, 3, 7};
    struct ys_image image;
    REQUIRE(ys_feeder_draw(&drawing) == YS_OK);
    REQUIRE(ys_image_read(scratch("drawn/train/000/000006.jpg"), &image) == YS_OK);
    CHECK(image.height == 30 && image.width == 40 && image.channels == 3);
    ys_image_fini(&image);
    CHECK(ys_fs_exists(scratch("drawn/test/002/000002.jpg")));
    CHECK(!ys_fs_exists(scratch("drawn/train/001/000007.jpg")));
    const struct ys_feeder_drawing few = {folder, 3, 30, 40, 3, 2};
    CHECK_INT(ys_feeder_draw(&few), YS_EINVAL);
}

TAP_MAIN(TAP_CASE(parts_are_those_of_the_whole), TAP_CASE(a_box_of_a_part_is_that_of_the_whole),
         TAP_CASE(live_rows_are_those_of_a_prepared_file), TAP_CASE(an_area_is_cut_out_of_the_file),
         TAP_CASE(a_reduced_image_is_no_other_picture), TAP_CASE(files_that_changed_are_refused),
         TAP_CASE(lists_that_cannot_be_are_refused), TAP_CASE(a_drawn_folder_has_images_of_each_class))
