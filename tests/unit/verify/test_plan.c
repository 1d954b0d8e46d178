#include "files.h"
#include "tap.h"
#include "verify/plan.h"
#include "verify/verify.h"

#include <float.h>

/* A data set of 40 rows of 4 pixels and a plan over it: 12 steps of `batch` rows, row r of step s being (s * batch + r)
 * % 40. */
static ys_json *make_plan(int64_t batch)
{
    static uint8_t pixels[160];
    static int64_t labels[40];
    static uint32_t order[12 * 16];
    static double lr[12];
    static float weights[3] = {1.0f, 0.0f, -2.0f};
    for (int i = 0; i < 160; i++)
        pixels[i] = (uint8_t)i;
    for (int i = 0; i < 40; i++)
        labels[i] = i % 10;
    for (int i = 0; i < 12 * batch; i++)
        order[i] = (uint32_t)(i % 40);
    for (int i = 0; i < 12; i++)
        lr[i] = 0.5;
    struct ys_tensor data[] = {
        {.name = "x", .dtype = YS_U8, .rank = 4, .shape = {40, 1, 2, 2}, .data = pixels, .size_bytes = sizeof pixels},
        {.name = "y", .dtype = YS_I64, .rank = 1, .shape = {40}, .data = labels, .size_bytes = sizeof labels}};
    struct ys_tensor orders[] = {{.name = "order",
                                  .dtype = YS_U32,
                                  .rank = 2,
                                  .shape = {12, batch},
                                  .data = order,
                                  .size_bytes = (size_t)(12 * batch) * 4},
                                 vector64("lr", lr, 12)};
    struct ys_tensor weight = {
        .name = "w", .dtype = YS_F32, .rank = 1, .shape = {3}, .data = weights, .size_bytes = sizeof weights};
    ys_safetensors_close(files_make("data", data, 2));
    ys_safetensors_close(files_make("orders", orders, 2));
    ys_safetensors_close(files_make("weights", &weight, 1));
    ys_json *plan = ys_json_object(), *input = ys_json_object();
    ys_json_set_string(input, "path", files_path("data"));
    ys_json_set_string(input, "order", files_path("orders"));
    ys_json_set(plan, "input", input);
    ys_json_set_string(plan, "weights", files_path("weights"));
    ys_json_set_int(plan, "batch", batch);
    ys_json_set_int(plan, "steps", 12);
    return plan;
}

static void a_proof_takes_the_first_rows_of_the_first_batches_and_cuts_the_rate(void)
{
    ys_json *plan = make_plan(16);
    const char *path = files_path("proof-order");
    int64_t rows = 0;
    struct ys_safetensors *file = NULL;
    REQUIRE(ys_proof_order_write(plan, path, &rows) == YS_OK);
    CHECK_INT(rows, YS_VERIFY_ROWS);
    REQUIRE(ys_safetensors_open(path, &file) == YS_OK);
    const struct ys_tensor *order = ys_safetensors_find(file, "order"), *lr = ys_safetensors_find(file, "lr");
    CHECK_INT(order->shape[0], YS_VERIFY_BATCHES);
    CHECK_INT(order->shape[1], YS_VERIFY_ROWS);
    CHECK_NEAR(ys_tensor_value(order, 0), 0, 0);
    CHECK_NEAR(ys_tensor_value(order, YS_VERIFY_ROWS), 16, 0);     /* first row of the second batch of 16 */
    CHECK_NEAR(ys_tensor_value(order, 2 * YS_VERIFY_ROWS), 32, 0); /* and of the third */
    CHECK_NEAR(ys_tensor_value(lr, 4), 0.5, 0);
    CHECK_NEAR(ys_tensor_value(lr, 5), 0.05, DBL_EPSILON); /* one rounding of a value below 1 */
    ys_safetensors_close(file);
    ys_json_free(plan);
}

static void a_batch_below_eight_is_taken_whole(void)
{
    ys_json *plan = make_plan(3);
    int64_t rows = 0;
    CHECK(ys_proof_order_write(plan, files_path("proof-order"), &rows) == YS_OK);
    CHECK_INT(rows, 3);
    ys_json_free(plan);
}

static void a_twin_moves_every_value_by_at_most_one_unit_and_leaves_zero_alone(void)
{
    ys_json *plan = make_plan(16);
    int64_t rows = 0;
    const char *order = files_path("proof-order");
    REQUIRE(ys_proof_order_write(plan, order, &rows) == YS_OK);
    ys_json *twin = ys_proof_plan(plan, order, rows, "f32", "");
    char *folder = ys_path_dir(files_path("x"));
    REQUIRE(ys_proof_move(twin, 7, 0, folder) == YS_OK);
    struct ys_safetensors *data = NULL, *weights = NULL;
    REQUIRE(ys_safetensors_open(ys_json_get_text(ys_json_get(twin, "input"), "path", ""), &data) == YS_OK);
    REQUIRE(ys_safetensors_open(ys_json_get_text(twin, "weights", ""), &weights) == YS_OK);
    const struct ys_tensor *x = ys_safetensors_find(data, "x"), *y = ys_safetensors_find(data, "y");
    CHECK_INT(x->dtype, YS_F32);
    CHECK_INT(x->shape[0], YS_VERIFY_ROWS);
    int changed = 0;
    for (size_t i = 0; i < ys_tensor_count(x); i++) {
        double was = (double)i, is = ys_tensor_value(x, i);
        CHECK_NEAR(is, was, was * FLT_EPSILON); /* a unit in the last place is at most this much of the value */
        changed += is != was;
    }
    CHECK(changed > 8); /* 31 values, each changed with probability 2/3: fewer than 9 has probability below 1e-5 */
    CHECK_NEAR(ys_tensor_value(x, 0), 0, 0);
    CHECK_NEAR(ys_tensor_value(ys_safetensors_find(weights, "w"), 1), 0, 0);
    CHECK_NEAR(ys_tensor_value(y, 3), 3, 0);
    ys_safetensors_close(data);
    ys_safetensors_close(weights);
    ys_free(folder);
    ys_json_free(twin);
    ys_json_free(plan);
}

static void a_plan_for_the_oracle_keeps_the_work_and_drops_the_options(void)
{
    ys_json *plan = make_plan(16), *options = ys_json_object();
    ys_json_set_bool(options, "channels_last", true);
    ys_json_set(plan, "options", options);
    ys_json *proof = ys_proof_plan(plan, "order", 8, "f64", "folder");
    ys_json *oracle = ys_proof_plan_builtin(proof, "ref", "other");
    CHECK(ys_json_get_bool(ys_json_get(proof, "options"), "channels_last", false));
    CHECK(ys_json_get(ys_json_get(oracle, "options"), "channels_last") == NULL);
    CHECK_TEXT(ys_json_get_text(ys_json_get(oracle, "options"), "backend", ""), "ref");
    CHECK_TEXT(ys_json_get_text(oracle, "precision", ""), "f64");
    CHECK_INT(ys_json_get_int(oracle, "steps", 0), YS_VERIFY_BATCHES);
    CHECK_INT(ys_json_get_int(plan, "steps", 0), 12);
    ys_json_free(oracle);
    ys_json_free(proof);
    ys_json_free(plan);
}

TAP_MAIN(TAP_CASE(a_proof_takes_the_first_rows_of_the_first_batches_and_cuts_the_rate),
         TAP_CASE(a_batch_below_eight_is_taken_whole),
         TAP_CASE(a_twin_moves_every_value_by_at_most_one_unit_and_leaves_zero_alone),
         TAP_CASE(a_plan_for_the_oracle_keeps_the_work_and_drops_the_options))
