/* The rows that yardstick-builtin reads. */
#include "builtin/plan_rows.h"

#include "tap.h"
#include "unit/base/scratch.h"

#define ROWS 3

static float pixels[ROWS * 4];
static int64_t labels[ROWS];

/** Writes a file of ROWS rows of 1x2x2 pixels and opens it for a graph of that input and 5 classes. */
static ys_status open_rows(enum ys_dtype dtype)
{
    static const uint8_t bytes[ROWS * 4] = {0, 255};
    char input[] = "x", output[] = "logits";
    struct ys_value values[2] = {{.name = input, .rank = 4, .shape = {-1, 1, 2, 2}, .dtype = YS_U8},
                                 {.name = output, .rank = 2, .shape = {-1, 5}}};
    struct ys_graph graph = {.values = values, .value_count = 2, .input_count = 1, .inputs = {0}, .output = 1};
    struct ys_builtin_rows rows = {0};
    const struct ys_tensor tensors[] = {
        {"x",
         dtype,
         4,
         {ROWS, 1, 2, 2},
         dtype == YS_U8 ? (const void *)bytes : pixels,
         sizeof bytes * ys_dtype_size(dtype)},
        {"y", YS_I64, 1, {ROWS}, labels, sizeof labels},
    };
    const char *path = scratch("rows.safetensors");
    YS_TRY(ys_safetensors_write(path, tensors, 2, NULL));
    YS_TRY(ys_builtin_rows_open(path, &graph, &rows));
    CHECK(values[0].dtype == dtype && rows.count == ROWS);
    ys_builtin_rows_close(&rows);
    return YS_OK;
}

static void reset(void)
{
    for (int i = 0; i < ROWS * 4; i++)
        pixels[i] = (float)i;
    for (int i = 0; i < ROWS; i++)
        labels[i] = i;
}

static void bytes_and_finite_floats_are_taken(void)
{
    reset();
    CHECK(open_rows(YS_U8) == YS_OK);
    CHECK(open_rows(YS_F32) == YS_OK);
}

static void a_pixel_that_is_not_finite_is_named(void)
{
    reset();
    pixels[6] = NAN;
    CHECK(open_rows(YS_F32) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "rows.safetensors: number 2 of row 1 of tensor x is nan");
    pixels[6] = 0;
    pixels[11] = -INFINITY;
    CHECK(open_rows(YS_F32) == YS_EFORMAT);
    CHECK_HAS(ys_error(), "number 3 of row 2 of tensor x is -inf");
}

static void a_label_that_is_no_class_is_named(void)
{
    static const int64_t wrong[] = {-1, 5, INT64_MAX, INT64_MIN};
    for (int i = 0; i < 4; i++) {
        reset();
        labels[1] = wrong[i];
        CHECK(open_rows(YS_U8) == YS_EFORMAT);
        CHECK_HAS(ys_error(), " of row 1 is not one of 5 classes");
    }
}

TAP_MAIN(TAP_CASE(bytes_and_finite_floats_are_taken), TAP_CASE(a_pixel_that_is_not_finite_is_named),
         TAP_CASE(a_label_that_is_no_class_is_named))
