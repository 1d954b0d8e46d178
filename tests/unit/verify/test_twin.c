#include "plans.h"
#include "tap.h"
#include "verify/twin.h"

#include <float.h>

struct twin {
    ys_json *plan;
    struct ys_safetensors *data, *weights;
    const struct ys_tensor *x, *y;
};

static struct twin make_twin(const char *precision, int number, int64_t batch)
{
    const struct ys_proof_extent extent = {.rows = 8, .steps = 10, .rate_change = 5};
    ys_json *plan = make_plan(16);
    const char *order = files_path("proof-order");
    char *folder = ys_path_dir(order);
    struct twin twin = {.plan = ys_proof_plan(plan, extent, files_path("graph"), order, precision, folder)};
    if (ys_proof_order_write(plan, extent, order) != YS_OK ||
        ys_twin_write(twin.plan, number, batch, folder) != YS_OK ||
        ys_safetensors_open(ys_json_get_text(ys_json_get(twin.plan, "input"), "path", ""), &twin.data) != YS_OK ||
        ys_safetensors_open(ys_json_get_text(twin.plan, "weights", ""), &twin.weights) != YS_OK) {
        printf("# %s\n", ys_error());
        abort();
    }
    twin.x = ys_safetensors_find(twin.data, "x");
    twin.y = ys_safetensors_find(twin.data, "y");
    ys_free(folder);
    ys_json_free(plan);
    return twin;
}

static void free_twin(struct twin *twin)
{
    ys_safetensors_close(twin->data);
    ys_safetensors_close(twin->weights);
    ys_json_free(twin->plan);
}

/* `unit`: of the format, at 1. It is at most that much of any value. */
static void check_moves(const char *precision, double unit)
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
    CHECK_INT(ys_json_get_int(twin.plan, "steps", 0), 1);
    free_twin(&twin);
}

static void a_twin_moves_every_value_by_at_most_one_unit_of_its_format_and_leaves_zero_alone(void)
{
    check_moves("f32", FLT_EPSILON);
    check_moves("bf16", 0x1p-7); /* eight bits with the leading one */
}

static void what_a_twin_of_bf16_moves_is_a_number_of_bf16_again(void)
{
    number_pixels();
    struct twin twin = make_twin("bf16", 3, 0);
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
    struct twin one = make_twin("f32", 0, 0);
    memcpy(first, one.x->data, sizeof first);
    free_twin(&one);
    struct twin other = make_twin("f32", 1, 0);
    CHECK(memcmp(first, other.x->data, sizeof first) != 0);
    free_twin(&other);
}

static void a_twin_of_the_oracle_moves_weights_alone_by_a_unit_of_a_double(void)
{
    ys_json *plan = make_plan(16);
    char *folder = ys_path_dir(files_path("x"));
    struct ys_safetensors *file = NULL;
    int changed = 0;
    for (int twin = 0; twin < 20; twin++) {
        ys_json *moved = ys_json_copy(plan);
        REQUIRE(ys_twin_write_double(moved, twin, folder) == YS_OK);
        CHECK_TEXT(ys_json_get_text(ys_json_get(moved, "input"), "path", ""), files_path("data"));
        REQUIRE(ys_safetensors_open(ys_json_get_text(moved, "weights", ""), &file) == YS_OK);
        const struct ys_tensor *w = ys_safetensors_find(file, "w");
        CHECK_INT(w->dtype, YS_F64);
        CHECK_NEAR(ys_tensor_value(w, 0), 1, DBL_EPSILON);
        CHECK_NEAR(ys_tensor_value(w, 1), 0, 0);
        changed += ys_tensor_value(w, 0) != 1;
        ys_safetensors_close(file);
        ys_json_free(moved);
    }
    CHECK(changed > 2 && changed < 20); /* two in three: outside with a probability below 1e-3, for this seed not */
    ys_free(folder);
    ys_json_free(plan);
}

static void a_twin_of_another_batch_has_its_rows_there(void)
{
    number_pixels();
    struct twin twin = make_twin("f32", 0, 2);
    CHECK_NEAR(ys_tensor_value(twin.x, 1), 32 * 4 + 1, 1e-4); /* batch 2 begins with row 32; a unit there is 2^-16 */
    CHECK_INT(ys_json_get_int(twin.plan, "steps", 0), 3);
    struct ys_safetensors *file = NULL;
    REQUIRE(ys_safetensors_open(ys_json_get_text(ys_json_get(twin.plan, "input"), "order", ""), &file) == YS_OK);
    const struct ys_tensor *order = ys_safetensors_find(file, "order");
    CHECK_INT(order->shape[0], 3);
    CHECK_NEAR(ys_tensor_value(order, 2 * 8), 0, 0);
    CHECK_NEAR(ys_tensor_value(order, 2 * 8 + 7), 7, 0);
    ys_safetensors_close(file);
    free_twin(&twin);
}

TAP_MAIN(TAP_CASE(a_twin_moves_every_value_by_at_most_one_unit_of_its_format_and_leaves_zero_alone),
         TAP_CASE(what_a_twin_of_bf16_moves_is_a_number_of_bf16_again), TAP_CASE(no_two_twins_are_alike),
         TAP_CASE(a_twin_of_the_oracle_moves_weights_alone_by_a_unit_of_a_double),
         TAP_CASE(a_twin_of_another_batch_has_its_rows_there))
