#include "plans.h"
#include "tap.h"
#include "verify/oracle/twin.h"

#include <float.h>

struct twin {
    struct ys_plan plan;
    struct ys_safetensors *data, *weights;
    const struct ys_tensor *x, *y;
};

static struct twin make_twin(enum ys_precision precision, int number, int64_t batch)
{
    const struct ys_proof_extent extent = {.rows = 8, .steps = 10, .rate_change = 5};
    struct ys_plan plan = make_plan(16);
    const char *order = files_path("proof-order");
    char *folder = ys_path_dir(order);
    struct twin twin;
    if (ys_proof_plan(&plan, extent, files_path("graph"), order, precision, folder, &twin.plan) != YS_OK ||
        ys_proof_order_write(&plan, extent, order) != YS_OK ||
        ys_twin_write(&twin.plan, number, batch, folder) != YS_OK ||
        ys_safetensors_open(twin.plan.input.path, &twin.data) != YS_OK ||
        ys_safetensors_open(twin.plan.weights, &twin.weights) != YS_OK) {
        printf("# %s\n", ys_error());
        abort();
    }
    twin.x = ys_safetensors_find(twin.data, "x");
    twin.y = ys_safetensors_find(twin.data, "y");
    ys_free(folder);
    ys_plan_fini(&plan);
    return twin;
}

static void free_twin(struct twin *twin)
{
    ys_safetensors_close(twin->data);
    ys_safetensors_close(twin->weights);
    ys_plan_fini(&twin->plan);
}

/* `unit`: of the format, at 1. It is at most that much of any value. */
static void check_moves(enum ys_precision precision, double unit)
{
    number_pixels();
    struct twin twin = make_twin(precision, 0, 0);
    CHECK_INT(twin.x->dtype, YS_F32);
    CHECK_INT(twin.x->shape[0], 8);
    int changed = 0;
    for (size_t i = 0; i < ys_tensor_count(twin.x); i++) {
        double was = (double)i, is = ys_tensor_value(twin.x, i);
        CHECK_NEAR(is, was, was * unit);
        CHECK(is == was || fabs(is - was) >= was * unit / 4); /* half a unit below a power of two, at least */
        changed += is != was;
    }
    CHECK(changed > 8); /* 31 values, each changed with probability 2/3: fewer than 9 has probability below 1e-5 */
    CHECK_NEAR(ys_tensor_value(twin.x, 0), 0, 0);
    const struct ys_tensor *w = ys_safetensors_find(twin.weights, "w");
    CHECK_NEAR(ys_tensor_value(w, 1), 0, 0);
    CHECK_NEAR(ys_tensor_value(w, 2), -2, 2 * unit);
    CHECK_NEAR(ys_tensor_value(twin.y, 4), 1, 0); /* labels as they are: row 4's is 4 % 3 */
    CHECK_INT(twin.plan.steps, 1);
    free_twin(&twin);
}

static void a_twin_moves_every_value_by_at_most_one_unit_of_its_format_and_leaves_zero_alone(void)
{
    check_moves(YS_PRECISION_F32, FLT_EPSILON);
    check_moves(YS_PRECISION_BF16, 0x1p-7); /* eight bits with the leading one */
}

static void what_a_twin_of_bf16_moves_is_a_number_of_bf16_again(void)
{
    number_pixels();
    struct twin twin = make_twin(YS_PRECISION_BF16, 3, 0);
    for (size_t i = 0; i < ys_tensor_count(twin.x); i++) {
        uint32_t bits;
        memcpy(&bits, (const float *)twin.x->data + i, sizeof bits);
        CHECK_INT(bits & 0xffff, 0); /* pixels up to 31 were */
    }
    free_twin(&twin);
}

static void no_two_twins_are_alike(void)
{
    number_pixels();
    float first[32];
    struct twin one = make_twin(YS_PRECISION_F32, 0, 0);
    memcpy(first, one.x->data, sizeof first);
    free_twin(&one);
    struct twin other = make_twin(YS_PRECISION_F32, 1, 0);
    CHECK(memcmp(first, other.x->data, sizeof first) != 0);
    free_twin(&other);
}

static void a_twin_of_the_oracle_moves_weights_alone_by_a_unit_of_a_double(void)
{
    struct ys_plan plan = make_plan(16);
    char *folder = ys_path_dir(files_path("x"));
    struct ys_safetensors *file = NULL;
    int changed = 0;
    for (int twin = 0; twin < 20; twin++) {
        struct ys_plan moved;
        REQUIRE(ys_plan_copy(&plan, &moved) == YS_OK);
        REQUIRE(ys_twin_write_double(&moved, twin, folder) == YS_OK);
        CHECK_TEXT(moved.input.path, files_path("data"));
        REQUIRE(ys_safetensors_open(moved.weights, &file) == YS_OK);
        const struct ys_tensor *w = ys_safetensors_find(file, "w");
        CHECK_INT(w->dtype, YS_F64);
        CHECK_NEAR(ys_tensor_value(w, 0), 1, DBL_EPSILON);
        CHECK_NEAR(ys_tensor_value(w, 1), 0, 0);
        changed += ys_tensor_value(w, 0) != 1;
        ys_safetensors_close(file);
        ys_plan_fini(&moved);
    }
    CHECK(changed > 2 && changed < 20); /* two in three: outside with a probability below 1e-3, for this seed not */
    ys_free(folder);
    ys_plan_fini(&plan);
}

static void a_twin_of_another_batch_has_its_rows_there(void)
{
    number_pixels();
    struct twin twin = make_twin(YS_PRECISION_F32, 0, 2);
    CHECK_NEAR(ys_tensor_value(twin.x, 1), 32 * 4 + 1, 1e-4); /* batch 2 begins with row 32; a unit there is 2^-16 */
    CHECK_INT(twin.plan.steps, 3);
    struct ys_safetensors *file = NULL;
    REQUIRE(ys_safetensors_open(twin.plan.input.order, &file) == YS_OK);
    const struct ys_tensor *order = ys_safetensors_find(file, "order");
    CHECK_INT(order->shape[0], 3);
    CHECK_NEAR(ys_tensor_value(order, 2 * 8), 0, 0);
    CHECK_NEAR(ys_tensor_value(order, 2 * 8 + 7), 7, 0);
    ys_safetensors_close(file);
    free_twin(&twin);
}

/* A value of f32 is a whole number of units of 2^-24 of itself at least, 2^-23 at most. */
static void weights_are_moved_by_as_many_units_as_are_asked(void)
{
    char *to = ys_format("%s-moved", files_path("weights"));
    struct ys_safetensors *from = NULL, *moved = NULL;
    const int units = 2048;
    size_t changed = 0;
    struct ys_plan plan = make_plan(16); /* writes the weights */
    ys_plan_fini(&plan);
    REQUIRE(ys_twin_write_weights(1, 3, units, YS_PRECISION_F32, files_path("weights"), to) == YS_OK);
    REQUIRE(ys_safetensors_open(files_path("weights"), &from) == YS_OK && ys_safetensors_open(to, &moved) == YS_OK);
    for (size_t i = 0; i < ys_safetensors_count(from); i++) {
        const struct ys_tensor *was = ys_safetensors_at(from, i), *is = ys_safetensors_find(moved, was->name);
        REQUIRE(is && ys_tensor_count(is) == ys_tensor_count(was));
        for (size_t k = 0; k < ys_tensor_count(was); k++) {
            double value = ys_tensor_value(was, k), apart = fabs(ys_tensor_value(is, k) - value);
            CHECK(apart == 0 || (apart >= units * 0x1p-25 * fabs(value) && apart <= units * 0x1p-23 * fabs(value)));
            changed += apart > 0;
        }
    }
    CHECK(changed > 0);
    ys_safetensors_close(from);
    ys_safetensors_close(moved);
    ys_free(to);
}

static void a_twin_of_all_batches_has_each_where_it_was(void)
{
    number_pixels();
    struct ys_plan plan = make_plan(8), moved;
    struct ys_safetensors *data = NULL, *rows = NULL;
    char *folder = ys_path_dir(files_path("x"));
    REQUIRE(ys_plan_copy(&plan, &moved) == YS_OK);
    REQUIRE(ys_twin_write_all(&moved, 0, 3, folder) == YS_OK);
    CHECK_INT(moved.steps, 3);
    REQUIRE(ys_safetensors_open(moved.input.path, &data) == YS_OK);
    REQUIRE(ys_safetensors_open(moved.input.order, &rows) == YS_OK);
    const struct ys_tensor *x = ys_safetensors_find(data, "x"), *order = ys_safetensors_find(rows, "order");
    CHECK_INT(x->shape[0], 24);
    CHECK_INT(order->shape[0], 3);
    for (int64_t step = 0; step < 3; step++)
        for (int64_t r = 0; r < 8; r++) {
            const int64_t row = (int64_t)ys_tensor_value(order, (size_t)(8 * step + r));
            /* a unit of a number up to 128 is at most 2^-17 */
            CHECK_NEAR(ys_tensor_value(x, (size_t)(4 * row + 1)), (double)(4 * (8 * step + r) + 1), 1e-4);
        }
    ys_safetensors_close(data);
    ys_safetensors_close(rows);
    ys_plan_fini(&moved);
    ys_plan_fini(&plan);
    ys_free(folder);
}

TAP_MAIN(TAP_CASE(weights_are_moved_by_as_many_units_as_are_asked),
         TAP_CASE(a_twin_moves_every_value_by_at_most_one_unit_of_its_format_and_leaves_zero_alone),
         TAP_CASE(what_a_twin_of_bf16_moves_is_a_number_of_bf16_again), TAP_CASE(no_two_twins_are_alike),
         TAP_CASE(a_twin_of_the_oracle_moves_weights_alone_by_a_unit_of_a_double),
         TAP_CASE(a_twin_of_another_batch_has_its_rows_there), TAP_CASE(a_twin_of_all_batches_has_each_where_it_was))
