/* What ranks count for in the mean over a batch. */
#include "data/rank_share.h"

#include "base/stored/safetensors.h"
#include "data/row_order.h"
#include "tap.h"
#include "unit/base/scratch.h"

enum { ROWS = 4, POSITIONS = 3, BATCH = 4, STEPS = 2 };

static void write_data(const char *path, const int64_t *labels, size_t rank)
{
    const struct ys_tensor y = {.name = "y",
                                .dtype = YS_I64,
                                .rank = rank,
                                .shape = {ROWS, POSITIONS},
                                .data = labels,
                                .size_bytes = ROWS * (rank > 1 ? POSITIONS : 1) * sizeof *labels};
    REQUIRE(ys_safetensors_write(path, &y, 1, NULL) == YS_OK);
}

/* Rows that show 3, 1, 2 and 0 of their targets, in the order 0 1 2 3, then 2 0 3 1. */
static struct ys_shares *made(const int64_t *labels, size_t rank, int64_t ranks)
{
    static const uint32_t order[STEPS * BATCH] = {0, 1, 2, 3, 2, 0, 3, 1};
    static const double lr[STEPS] = {0.1, 0.1};
    struct ys_shares *shares = NULL;
    const char *data = scratch("data"), *path = scratch("order");
    write_data(data, labels, rank);
    CHECK(ys_order_save(path, order, NULL, BATCH, STEPS, lr) == YS_OK);
    CHECK(ys_shares_open(data, path, ranks, &shares) == YS_OK);
    return shares;
}

static const int64_t hiding[ROWS * POSITIONS] = {0, 1, 2, 5, -1, -1, 7, 7, -1, -1, -1, -1};

static void a_rank_counts_by_the_targets_that_its_rows_show(void)
{
    struct ys_shares *shares = made(hiding, 2, 2);
    REQUIRE(shares);
    CHECK_NEAR(ys_share_of(shares, 2, 0, 0), 4.0 / 6, 1e-15);
    CHECK_NEAR(ys_share_of(shares, 2, 0, 1), 2.0 / 6, 1e-15);
    CHECK_NEAR(ys_share_of(shares, 2, 1, 0), 5.0 / 6, 1e-15);
    CHECK_NEAR(ys_share_of(shares, 2, 1, 1), 1.0 / 6, 1e-15);
    CHECK_NEAR(ys_share_of(shares, 2, STEPS, 1), 0.5, 0); /* there is no such step */
    ys_shares_close(shares);
    shares = made(hiding, 2, 4);
    REQUIRE(shares);
    CHECK_NEAR(ys_share_of(shares, 4, 0, 3), 0, 0); /* its one row hides all */
    CHECK_NEAR(ys_share_of(shares, 4, 1, 1), 0.5, 1e-15);
    ys_shares_close(shares);
}

static void all_count_the_same_where_nothing_is_hidden(void)
{
    static const int64_t seen[ROWS * POSITIONS] = {0};
    CHECK(!made(seen, 2, 2));
    CHECK(!made(seen, 1, 2));
    CHECK(!made(hiding, 2, 1)); /* one process is all there is */
    CHECK_NEAR(ys_share_of(NULL, 4, 0, 3), 0.25, 0);
}

static void what_does_not_fit_has_no_shares(void)
{
    CHECK(!made(hiding, 2, 3)); /* which four rows do not divide into */
    struct ys_shares *shares = NULL;
    CHECK_INT(ys_shares_open(scratch("none"), scratch("none"), 2, &shares), YS_OK);
    CHECK(!shares);
}

TAP_MAIN(TAP_CASE(a_rank_counts_by_the_targets_that_its_rows_show),
         TAP_CASE(all_count_the_same_where_nothing_is_hidden), TAP_CASE(what_does_not_fit_has_no_shares))
