#include "prepare/find_parameters.h"

#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 5, COLUMNS = 7, COUNT = ROWS * COLUMNS };

static float values[COUNT];

/* Two parameters: a matrix, and ten zeros that cannot be told from other bytes. */
static struct ys_safetensors *weights_of(void)
{
    static const float zeros[10];
    char path[64];
    struct ys_safetensors *file = NULL;
    for (int i = 0; i < COUNT; i++)
        values[i] = sinf((float)i + 1);
    const struct ys_tensor tensors[] = {
        {.name = "w",
         .dtype = YS_F32,
         .rank = 2,
         .shape = {ROWS, COLUMNS},
         .data = values,
         .size_bytes = sizeof values},
        {.name = "b", .dtype = YS_F32, .rank = 1, .shape = {10}, .data = zeros, .size_bytes = sizeof zeros}};
    snprintf(path, sizeof path, "/tmp/ys-parameters-%d", (int)getpid());
    if (ys_safetensors_write(path, tensors, 2, NULL) != YS_OK || ys_safetensors_load(path, &file) != YS_OK)
        file = NULL;
    unlink(path);
    return file;
}

static void put_half(float value, unsigned char *to)
{
    static const float scale = 1024;
    const float size = fabsf(value); /* between 2^-14 and 1 here */
    int exponent;
    const float fraction = frexpf(size, &exponent);
    const unsigned units = (unsigned)nearbyintf(fraction * 2 * scale);
    const unsigned bits = (value < 0 ? 0x8000u : 0) | (((unsigned)(exponent + 13) << 10) + units);
    to[0] = (unsigned char)bits;
    to[1] = (unsigned char)(bits >> 8);
}

static void parameters_are_found_in_each_type_and_order(void)
{
    unsigned char plain[200] = {1, 2, 3}, turned[200] = {0}, half[200] = {0};
    struct ys_safetensors *weights = weights_of();
    struct ys_found_parameters found;
    REQUIRE(weights);
    memcpy(plain + 13, values, sizeof values);
    for (int c = 0; c < COLUMNS; c++)
        for (int r = 0; r < ROWS; r++)
            memcpy(turned + 3 + sizeof(float) * (size_t)(c * ROWS + r), &values[r * COLUMNS + c], sizeof(float));
    for (int i = 0; i < COUNT; i++)
        put_half(values[i], half + 8 + 2 * i);
    struct ys_bytes files[] = {{plain, sizeof plain}, {turned, sizeof turned}, {half, sizeof half}};
    CHECK(ys_parameters_find(weights, files, 1, &found) == YS_OK);
    CHECK_INT(found.elements, COUNT + 10);
    CHECK_INT(found.known, COUNT);
    CHECK_INT(found.found, COUNT);
    CHECK_INT(found.bytes, COUNT * 4);
    CHECK_INT(found.type, YS_STORED_F32);
    CHECK(ys_parameters_find(weights, files, 2, &found) == YS_OK);
    CHECK_INT(found.copies, 2 * COUNT);
    CHECK(ys_parameters_find(weights, files + 2, 1, &found) == YS_OK);
    CHECK_INT(found.bytes, COUNT * 2);
    CHECK_INT(found.type, YS_STORED_F16);
    plain[13 + 20] ^= 1; /* one bit of one number: it is not there */
    CHECK(ys_parameters_find(weights, files, 1, &found) == YS_OK);
    CHECK_INT(found.found, 0);
    ys_safetensors_close(weights);
}

static void numbers_are_rounded_to_the_nearest_ties_to_even(void)
{
    static const struct {
        float value;
        enum ys_stored_type type;
        float rounded;
    } cases[] = {{0, YS_STORED_F16, 0},
                 {0x1.002p0F, YS_STORED_F16, 1},          /* half a place above 1: to even */
                 {0x1.006p0F, YS_STORED_F16, 0x1.008p0F}, /* and above an odd one */
                 {65519, YS_STORED_F16, 65504},
                 {65520, YS_STORED_F16, INFINITY},
                 {0x1p-24F, YS_STORED_F16, 0x1p-24F},
                 {0x1p-25F, YS_STORED_F16, 0},
                 {-0x1.8p-24F, YS_STORED_F16, -0x1p-23F},
                 {0x1.01p0F, YS_STORED_BF16, 1},
                 {0x1.03p0F, YS_STORED_BF16, 0x1.04p0F},
                 {0x1.010002p0F, YS_STORED_BF16, 0x1.02p0F}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        tap_check(ys_stored_round(cases[i].value, cases[i].type) == cases[i].rounded, __LINE__, "%a became %a, not %a",
                  (double)cases[i].value, (double)ys_stored_round(cases[i].value, cases[i].type),
                  (double)cases[i].rounded);
}

TAP_MAIN(TAP_CASE(parameters_are_found_in_each_type_and_order),
         TAP_CASE(numbers_are_rounded_to_the_nearest_ties_to_even))
