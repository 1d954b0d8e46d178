/* Batches: by number, by ring and as a file they are the same bytes, and a slot stays as it is until it is freed. */
#include "base/files/fs.h"
#include "base/stored/safetensors.h"
#include "feeder/augment.h"
#include "feeder/serve/fill_ring.h"
#include "protocol/batch_ring.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROWS = 24, SIDE = 8, PIXELS = 3 * SIDE * SIDE, BATCH = 5, STEPS = 9 };

static char folder[] = "/tmp/ys-test-stream-XXXXXX";
static char data[64], order[64];
static uint8_t x[ROWS][PIXELS];
static int64_t y[ROWS];
static uint32_t rows[STEPS][BATCH], epochs[STEPS];
static struct ys_stream *stream; /* the last one */

static void remove_folder(void)
{
    if (ys_fs_remove_tree(folder) != YS_OK)
        printf("# %s\n", ys_error());
}

static void make_files(void)
{
    static double lr[STEPS];
    if (data[0])
        return;
    for (int r = 0; r < ROWS; r++) {
        y[r] = r % 7;
        for (int i = 0; i < PIXELS; i++)
            x[r][i] = (uint8_t)(r * 37 + i * 11 + i * i);
    }
    for (int s = 0; s < STEPS; s++) {
        epochs[s] = (uint32_t)(s / 4);
        for (int i = 0; i < BATCH; i++)
            rows[s][i] = (uint32_t)((s * BATCH + i) * 5 % ROWS);
    }
    const struct ys_tensor set[] = {{"x", YS_U8, 4, {ROWS, 3, SIDE, SIDE}, x, sizeof x},
                                    {"y", YS_I64, 1, {ROWS}, y, sizeof y}};
    const struct ys_tensor plan[] = {{"order", YS_U32, 2, {STEPS, BATCH}, rows, sizeof rows},
                                     {"epoch", YS_U32, 1, {STEPS}, epochs, sizeof epochs},
                                     {"lr", YS_F64, 1, {STEPS}, lr, sizeof lr}};
    if (!mkdtemp(folder))
        abort();
    atexit(remove_folder);
    snprintf(data, sizeof data, "%s/data", folder);
    snprintf(order, sizeof order, "%s/order", folder);
    if (ys_safetensors_write(data, set, 2, NULL) != YS_OK || ys_safetensors_write(order, plan, 3, NULL) != YS_OK)
        abort();
}

static struct ys_batches *batches_of(const char *augment)
{
    struct ys_batches *batches = NULL;
    const struct ys_batches_asked asked = {.data = data, .order = order, .augment = augment, .seed = 3};
    make_files();
    CHECK(ys_batches_open(&asked, &batches) == YS_OK);
    return batches;
}

static struct ys_feed *feed_of(const char *augment, int threads, bool wraps)
{
    int ends[2];
    struct ys_feed *feed = NULL;
    const int memory = memfd_create("ring", 0), copy = dup(memory);
    struct ys_stream_asked asked = {
        .batches = batches_of(augment), .memory = memory, .threads = threads, .wraps = wraps};
    if (memory < 0 || copy < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        abort();
    asked.channel = ends[0];
    CHECK(ys_stream_begin(&asked, &stream) == YS_OK);
    CHECK(ys_feed_open(ends[1], copy, &feed) == YS_OK);
    return feed;
}

static bool holds(const struct ys_feed *feed, int64_t batch)
{
    const struct ys_tensor *pixels = ys_feed_array(feed, "x"), *labels = ys_feed_array(feed, "y");
    bool same = pixels && labels && pixels->dtype == YS_U8 && labels->dtype == YS_I64;
    for (int i = 0; same && i < BATCH; i++)
        same = memcmp((const uint8_t *)pixels->data + i * PIXELS, x[rows[batch][i]], PIXELS) == 0 &&
               ((const int64_t *)labels->data)[i] == y[rows[batch][i]];
    return same;
}

static void batches_come_in_order_and_by_number(void)
{
    struct ys_feed *feed = feed_of(NULL, 3, false);
    REQUIRE(feed);
    for (int64_t b = 0; b < STEPS; b++) {
        CHECK(ys_feed_take(feed, b) == YS_OK);
        tap_check(holds(feed, b), __LINE__, "batch %lld is another", (long long)b);
        CHECK(ys_feed_free(feed) == YS_OK);
    }
    static const int64_t jumps[] = {7, 2, 3, 3, 0, 8, 1};
    for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
        CHECK(ys_feed_take(feed, jumps[i]) == YS_OK);
        tap_check(holds(feed, jumps[i]), __LINE__, "batch %lld is another after a jump", (long long)jumps[i]);
    }
    ys_feed_close(feed);
}

static void what_is_waited_for_is_known(void)
{
    double since_s = -1;
    struct ys_feed *feed = feed_of(NULL, 1, false);
    REQUIRE(feed);
    CHECK_INT(ys_stream_awaited(stream, &since_s), -1); /* nothing was asked for */
    CHECK(ys_feed_take(feed, STEPS - 1) == YS_OK);
    CHECK_INT(ys_stream_awaited(stream, &since_s), -1); /* it has what it asked for, and there is no more */
    CHECK(ys_feed_free(feed) == YS_OK);
    ys_feed_close(feed);

    const struct ys_feed_wish wish = {YS_FEED_BEGIN, 1, 4};
    int ends[2];
    struct ys_stream_asked asked = {.batches = batches_of(NULL), .memory = memfd_create("ring", 0), .threads = 0};
    if (asked.memory < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        abort();
    asked.channel = ends[0];
    REQUIRE(ys_stream_begin(&asked, &stream) == YS_OK); /* nobody makes batches */
    CHECK(send(ends[1], &wish, sizeof wish, 0) == (ssize_t)sizeof wish);
    while (ys_stream_awaited(stream, &since_s) < 0) /* until it has heard of it */
        usleep(1000);
    CHECK_INT(ys_stream_awaited(stream, &since_s), 4);
    CHECK(since_s >= 0 && since_s < 1000); /* ends[1] stays open: a stream is never freed, and its thread holds it */
}

static void requests_go_round(void)
{
    struct ys_feed *feed = feed_of(NULL, 2, true);
    REQUIRE(feed);
    CHECK(ys_feed_take(feed, STEPS - 1) == YS_OK);
    CHECK(holds(feed, STEPS - 1));
    CHECK(ys_feed_free(feed) == YS_OK);
    /* The next round is part of the same turn: the slots go on in their order, where one that was asked anew would lie
     * in the first. */
    const void *last = ys_feed_array(feed, "x")->data;
    for (int64_t i = 0; i < 2 * STEPS; i++) {
        CHECK(ys_feed_take(feed, i % STEPS) == YS_OK);
        CHECK(holds(feed, i % STEPS));
        const uint8_t *slot = ys_feed_array(feed, "x")->data;
        CHECK((slot == last) == (i % YS_FEED_SLOTS == YS_FEED_SLOTS - 1));
        CHECK(ys_feed_free(feed) == YS_OK);
    }
    ys_feed_close(feed);
}

/* All slots are held: the first one must not be written into, however long the feeder has had. */
static void what_is_held_stays(void)
{
    struct ys_feed *feed = feed_of(NULL, 4, false);
    uint8_t before[BATCH * PIXELS];
    REQUIRE(feed);
    CHECK(ys_feed_take(feed, 0) == YS_OK);
    const void *first = ys_feed_array(feed, "x")->data;
    memcpy(before, first, sizeof before);
    for (int64_t b = 1; b < YS_FEED_SLOTS; b++)
        CHECK(ys_feed_take(feed, b) == YS_OK);
    CHECK(memcmp(first, before, sizeof before) == 0);
    CHECK(ys_feed_free(feed) == YS_OK); /* now the next one may come, into that slot alone */
    CHECK(ys_feed_take(feed, YS_FEED_SLOTS) == YS_OK);
    CHECK(holds(feed, YS_FEED_SLOTS));
    CHECK(ys_feed_array(feed, "x")->data == first);
    ys_feed_close(feed);
}

static void a_file_of_batches_has_the_same_bytes(void)
{
    static const char *const kinds[] = {NULL, "flip", "crop+flip"};
    char path[64];
    snprintf(path, sizeof path, "%s/made", folder);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct ys_safetensors *file = NULL;
        struct ys_batches *batches = batches_of(kinds[k]);
        struct ys_feed *feed = feed_of(kinds[k], 2, false);
        REQUIRE(batches && feed);
        CHECK(ys_batches_write(batches, path) == YS_OK);
        REQUIRE(ys_safetensors_open(path, &file) == YS_OK);
        const struct ys_tensor *all = ys_safetensors_find(file, "x");
        CHECK_INT(all->shape[0], STEPS * BATCH);
        for (int64_t b = STEPS - 1; b >= 0; b--) {
            CHECK(ys_feed_take(feed, b) == YS_OK);
            CHECK(memcmp(ys_feed_array(feed, "x")->data, (const uint8_t *)all->data + b * BATCH * PIXELS,
                         BATCH * PIXELS) == 0);
        }
        ys_safetensors_close(file);
        ys_feed_close(feed);
        ys_batches_close(batches);
    }
}

/* One pixel of a row as "crop+flip" has it: where it came from is said by its neighbours' places alone. */
static void a_padded_crop_moves_and_flips(void)
{
    enum { SHIFTS = 2 * YS_AUGMENT_PAD + 1 };
    struct ys_batches *batches = batches_of("crop+flip");
    uint8_t pixels[BATCH * PIXELS];
    int64_t labels[BATCH];
    size_t count = 0;
    bool differs = false;
    REQUIRE(batches);
    const struct ys_tensor *arrays = ys_batches_arrays(batches, &count);
    void *places[2];
    for (size_t i = 0; i < 2; i++)
        places[i] = strcmp(arrays[i].name, "x") == 0 ? (void *)pixels : (void *)labels;
    for (int64_t b = 0; b < STEPS; b++) {
        REQUIRE(ys_batches_make(batches, b, places) == YS_OK);
        for (int r = 0; r < BATCH; r++) {
            const uint8_t *from = x[rows[b][r]], *to = pixels + r * PIXELS;
            int found = 0;
            for (int shift = 0; shift < SHIFTS * SHIFTS * 2; shift++) {
                const int top = shift / 2 / SHIFTS - YS_AUGMENT_PAD, left = shift / 2 % SHIFTS - YS_AUGMENT_PAD;
                bool same = true;
                for (int i = 0; same && i < PIXELS; i++) {
                    const int c = i / (SIDE * SIDE), row = i / SIDE % SIDE + top, at = i % SIDE;
                    const int column = (shift % 2 ? SIDE - 1 - at : at) + left;
                    const bool inside = row >= 0 && row < SIDE && column >= 0 && column < SIDE;
                    same = to[i] == (inside ? from[c * SIDE * SIDE + row * SIDE + column] : 0);
                }
                found += same;
            }
            tap_check(found == 1, __LINE__, "row %d of batch %lld is %d shifts of its image", r, (long long)b, found);
            differs |= memcmp(from, to, PIXELS) != 0;
        }
    }
    CHECK(differs);
    ys_batches_close(batches);
}

/* Batches that no cache holds are written another way, where place and size allow it. */
static void a_large_batch_has_the_same_bytes(void)
{
    enum { LARGE = 4 << 20, MOST = LARGE + 32 };
    static const struct {
        int64_t bytes;
        size_t offset;
    } cases[] = {{LARGE, 0}, {LARGE + 16, 16}, {LARGE + 16, 8}, {LARGE + 1, 0}, {LARGE - 16, 0}};
    uint8_t *large = malloc(2 * MOST), *made = malloc(MOST + 32);
    char path[80];
    make_files();
    snprintf(path, sizeof path, "%s/large", folder);
    if (!large || !made)
        abort();
    for (size_t i = 0; i < 2 * MOST; i++)
        large[i] = (uint8_t)(i * 2654435761u >> 13);
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const int64_t bytes = cases[c].bytes;
        const struct ys_tensor set = {"x", YS_U8, 2, {2, bytes}, large, 2 * (size_t)bytes};
        const struct ys_batches_asked asked = {.data = path};
        struct ys_batches *batches = NULL;
        void *places[] = {made + cases[c].offset};
        REQUIRE(ys_safetensors_write(path, &set, 1, NULL) == YS_OK);
        REQUIRE(ys_batches_open(&asked, &batches) == YS_OK);
        for (int64_t row = 0; row < 2; row++) {
            memset(made, 0, MOST + 32);
            CHECK(ys_batches_make(batches, row, places) == YS_OK);
            tap_check(memcmp(places[0], large + row * bytes, (size_t)bytes) == 0, __LINE__, "row %d of case %zu",
                      (int)row, c);
            CHECK_INT(made[cases[c].offset + (size_t)bytes], 0);
        }
        ys_batches_close(batches);
    }
    free(large);
    free(made);
}

static void what_cannot_be_is_refused(void)
{
    struct ys_batches *batches = NULL;
    struct ys_batches_asked asked = {.data = data, .order = order, .augment = "twirl"};
    make_files();
    CHECK_INT(ys_batches_open(&asked, &batches), YS_EINVAL);
    CHECK_HAS(ys_error(), "twirl");
    asked = (struct ys_batches_asked){.data = order, .order = order};
    CHECK_INT(ys_batches_open(&asked, &batches), YS_EFORMAT); /* names rows that this one has not */
    asked = (struct ys_batches_asked){.data = data, .order = data};
    CHECK(ys_batches_open(&asked, &batches) != YS_OK);
    CHECK_HAS(ys_error(), "order");
}

TAP_MAIN(TAP_CASE(batches_come_in_order_and_by_number), TAP_CASE(what_is_waited_for_is_known),
         TAP_CASE(requests_go_round), TAP_CASE(what_is_held_stays), TAP_CASE(a_file_of_batches_has_the_same_bytes),
         TAP_CASE(a_padded_crop_moves_and_flips), TAP_CASE(a_large_batch_has_the_same_bytes),
         TAP_CASE(what_cannot_be_is_refused))
