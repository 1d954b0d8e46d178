#include "data/row_order.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/stored/safetensors.h"
#include "tap.h"
#include "unit/base/scratch.h"

#define N     10
#define BATCH 3
#define STEPS 8 /* an epoch has floor(10 / 3) = 3 */

static const double rates[STEPS] = {0.1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.01};

static void each_epoch_takes_each_row_at_most_once(void)
{
    char hash[65];
    struct ys_safetensors *file;
    const struct ys_tensor *order, *lr;
    const char *path = scratch("order.safetensors");
    REQUIRE(ys_order_write(path, 5, false, N, BATCH, STEPS, rates, hash) == YS_OK);
    REQUIRE(ys_safetensors_open(path, &file) == YS_OK);
    CHECK(ys_safetensors_need(file, "order", YS_U32, 2, (const int64_t[]){STEPS, BATCH}, &order) == YS_OK);
    CHECK(ys_safetensors_need(file, "lr", YS_F64, 1, (const int64_t[]){STEPS}, &lr) == YS_OK);
    const uint32_t *rows = order->data;
    for (int epoch = 0; epoch * 3 < STEPS; epoch++) {
        int seen[N] = {0};
        for (int i = epoch * 3 * BATCH; i < (epoch + 1) * 3 * BATCH && i < STEPS * BATCH; i++) {
            REQUIRE(rows[i] < N);
            seen[rows[i]]++;
        }
        for (int row = 0; row < N; row++)
            CHECK(seen[row] <= 1);
    }
    CHECK(memcmp(rows, rows + 3 * BATCH, 3 * BATCH * sizeof *rows) != 0);
    CHECK(memcmp(lr->data, rates, sizeof rates) == 0);
    ys_safetensors_close(file);
}

static void each_row_of_batches_is_a_stream(void)
{
    static const uint32_t wanted[STEPS][BATCH] = {{0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 3, 6},
                                                  {1, 4, 7}, {2, 5, 8}, {0, 3, 6}, {1, 4, 7}};
    static const uint32_t wanted_epochs[STEPS] = {0, 0, 0, 1, 1, 1, 2, 2};
    char hash[65];
    struct ys_safetensors *file;
    const char *path = scratch("streams");
    REQUIRE(ys_order_write(path, 5, true, N, BATCH, STEPS, rates, hash) == YS_OK);
    REQUIRE(ys_safetensors_open(path, &file) == YS_OK);
    CHECK(memcmp(ys_safetensors_find(file, "order")->data, wanted, sizeof wanted) == 0);
    CHECK(memcmp(ys_order_epochs(file, STEPS), wanted_epochs, sizeof wanted_epochs) == 0);
    ys_safetensors_close(file);
}

static void the_order_is_the_same_on_every_machine(void)
{
    char hash[65] = "";
    CHECK(ys_order_write(scratch("a"), 1, false, 3840, 64, 1, (const double[]){0.05}, hash) == YS_OK);
    CHECK_TEXT(hash, "8cd02023c270ed3fe8cfbf0544fb44cc6f10a89e270d52cdba01db860bded359");
}

static void the_hash_is_of_order_and_rates(void)
{
    char hash[65], other_seed[65], other_rate[65];
    uint8_t digest[32];
    struct ys_safetensors *file;
    const char *path = scratch("b");
    const double changed[STEPS] = {0.1, 0.1, 0.1, 0.1, 0.01, 0.01, 0.01, 0.02};
    REQUIRE(ys_order_write(path, 5, false, N, BATCH, STEPS, rates, hash) == YS_OK);
    CHECK(ys_order_write(scratch("c"), 6, false, N, BATCH, STEPS, rates, other_seed) == YS_OK);
    CHECK(ys_order_write(scratch("d"), 5, false, N, BATCH, STEPS, changed, other_rate) == YS_OK);
    CHECK(strcmp(hash, other_seed) != 0 && strcmp(hash, other_rate) != 0);
    REQUIRE(ys_safetensors_open(path, &file) == YS_OK);
    ys_sha256_joined(ys_safetensors_find(file, "order")->data, STEPS * BATCH * 4, rates, sizeof rates, digest);
    char first[3];
    snprintf(first, sizeof first, "%02x", digest[0]);
    CHECK(strncmp(hash, first, 2) == 0);
    ys_safetensors_close(file);
}

static void fewer_steps_are_the_beginning_of_more(void)
{
    char hash[65];
    struct ys_safetensors *few, *many;
    const char *short_path = scratch("few"), *long_path = scratch("many");
    CHECK(ys_order_write(short_path, 5, false, N, BATCH, 4, rates, hash) == YS_OK);
    CHECK(ys_order_write(long_path, 5, false, N, BATCH, STEPS, rates, hash) == YS_OK);
    REQUIRE(ys_safetensors_open(short_path, &few) == YS_OK);
    REQUIRE(ys_safetensors_open(long_path, &many) == YS_OK);
    CHECK(memcmp(ys_safetensors_find(few, "order")->data, ys_safetensors_find(many, "order")->data, 4 * BATCH * 4) ==
          0);
    ys_safetensors_close(few);
    ys_safetensors_close(many);
}

static void what_cannot_be_is_refused(void)
{
    char hash[65];
    CHECK(ys_order_write(scratch("e"), 1, false, 10, 11, 1, rates, hash) == YS_EINVAL);
    CHECK_HAS(ys_error(), "a batch of 11 is larger than the data set, which has 10 rows");
    CHECK(ys_order_write(scratch("e"), 1, false, 10, 0, 1, rates, hash) == YS_EINVAL);
    CHECK(ys_order_write(scratch("e"), 1, false, 10, 1, 0, rates, hash) == YS_EINVAL);
    CHECK(ys_order_write(scratch("e"), 1, false, -1, 1, 1, rates, hash) == YS_EINVAL);
    CHECK(ys_order_write(scratch("e"), 1, false, (int64_t)1 << 33, 1, 1, rates, hash) == YS_EINVAL);
    CHECK(ys_order_write(scratch("e"), 1, false, 10, 10, INT64_MAX, rates, hash) == YS_EINVAL);
    CHECK_HAS(ys_error(), "9223372036854775807 steps of 10 rows");
    CHECK(!ys_fs_exists(scratch("e")));
    CHECK(ys_order_write(scratch("missing/folder"), 1, false, 10, 5, 1, rates, hash) == YS_EIO);
}

static void rows_that_are_kept_are_in_no_step(void)
{
    char hash[65];
    uint32_t kept[N], other[N];
    bool seen[N] = {false};
    struct ys_safetensors *file;
    const char *path = scratch("kept");
    ys_order_kept(5, N, 3, kept);
    ys_order_kept(6, N, 3, other);
    CHECK(memcmp(kept, other, sizeof kept) != 0);
    for (int i = 0; i < N; i++) {
        REQUIRE(kept[i] < N && !seen[kept[i]]);
        seen[kept[i]] = true;
        CHECK(i == 0 || i == 3 || kept[i - 1] < kept[i]);
    }
    REQUIRE(ys_order_write_kept(path, 5, 3, N, BATCH, STEPS, rates, hash) == YS_OK);
    REQUIRE(ys_safetensors_open(path, &file) == YS_OK);
    const uint32_t *rows = ys_safetensors_find(file, "order")->data;
    for (int epoch = 0; epoch * 2 < STEPS; epoch++) { /* of floor(7 / 3) steps */
        int times[N] = {0};
        for (int i = epoch * 2 * BATCH; i < (epoch + 1) * 2 * BATCH; i++)
            times[rows[i]]++;
        for (int i = 0; i < N; i++)
            CHECK(times[kept[i]] <= (i < 3 ? 0 : 1));
    }
    CHECK_INT(ys_order_epochs(file, STEPS)[2], 1);
    ys_safetensors_close(file);
    CHECK(ys_order_write_kept(path, 5, 8, N, BATCH, STEPS, rates, hash) == YS_EINVAL);
    CHECK_HAS(ys_error(), "a batch of 3 is larger than the data set, which has 2 rows");
}

TAP_MAIN(TAP_CASE(rows_that_are_kept_are_in_no_step), TAP_CASE(each_epoch_takes_each_row_at_most_once),
         TAP_CASE(each_row_of_batches_is_a_stream), TAP_CASE(the_order_is_the_same_on_every_machine),
         TAP_CASE(the_hash_is_of_order_and_rates), TAP_CASE(fewer_steps_are_the_beginning_of_more),
         TAP_CASE(what_cannot_be_is_refused))
