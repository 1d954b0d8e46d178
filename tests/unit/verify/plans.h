/* A plan of a trial with its files, for the tests of this room. */
#ifndef YS_TESTS_VERIFY_PLANS_H
#define YS_TESTS_VERIFY_PLANS_H

#include "files.h"
#include "base/mem.h"
#include "protocol/plan.h"

/* A dense layer of 4 pixels behind a dropout; the numbers of parameters and multiply-adds do not matter here. */
static const char PLAN_GRAPH[] =
    "{\"format\":\"yardstick-graph\",\"version\":1,\"name\":\"tiny\",\"inputs\":[{\"name\":\"x\",\"shape\":[\"N\",1,2,"
    "2],"
    "\"dtype\":\"F32\"}],"
    "\"nodes\":[{\"op\":\"Flatten\",\"name\":\"f\",\"in\":[\"x\"],\"out\":[\"a\"]},"
    "{\"op\":\"Dropout\",\"name\":\"drop\",\"in\":[\"a\"],\"out\":[\"b\"],\"attrs\":{\"ratio\":0.5}},"
    "{\"op\":\"Gemm\",\"name\":\"d\",\"in\":[\"b\"],\"out\":[\"logits\"],\"params\":{\"weight\":\"w\"}}],"
    "\"params\":[{\"name\":\"w\",\"shape\":[3,4],\"role\":\"weight\",\"init\":{\"dist\":\"constant\",\"value\":0.5}}],"
    "\"output\":\"logits\",\"loss\":\"softmax_cross_entropy\"}";

enum { PLAN_ROWS = 40, PLAN_STEPS = 12 };

/* What make_plan() writes next. */
static uint8_t plan_pixels[4 * PLAN_ROWS];
static double plan_rate = 0.5;

static void write_graph(const char *path)
{
    if (ys_fs_write(path, PLAN_GRAPH, sizeof PLAN_GRAPH - 1) != YS_OK)
        abort();
}

/** Of the files that were written, in batches of `batch` rows. */
__attribute__((unused)) static struct ys_plan plan_of_files(int64_t batch)
{
    struct ys_plan plan;
    ys_plan_init(&plan);
    ys_set_text(&plan.input.path, files_path("data"));
    ys_set_text(&plan.input.order, files_path("orders"));
    ys_set_text(&plan.graph, files_path("graph"));
    ys_set_text(&plan.weights, files_path("weights"));
    plan.mode = YS_MODE_TRAIN;
    plan.precision = YS_PRECISION_F32;
    plan.batch = batch;
    plan.steps = PLAN_STEPS;
    plan.seed = 7;
    return plan;
}

/* 40 rows of 4 pixels, pixel k of all being k until a test changes it; 12 steps of `batch` rows, row r of step s being
 * (s * batch + r) % 40. */
__attribute__((unused)) static struct ys_plan make_plan(int64_t batch)
{
    static int64_t labels[PLAN_ROWS];
    static uint32_t order[PLAN_STEPS * 16];
    static double lr[PLAN_STEPS];
    static float weights[12] = {1.0f, 0.0f, -2.0f};
    for (int i = 0; i < PLAN_ROWS; i++)
        labels[i] = i % 3;
    for (int i = 0; i < PLAN_STEPS * batch; i++)
        order[i] = (uint32_t)(i % PLAN_ROWS);
    for (int i = 0; i < PLAN_STEPS; i++)
        lr[i] = plan_rate;
    struct ys_tensor data[] = {
        {.name = "x",
         .dtype = YS_U8,
         .rank = 4,
         .shape = {PLAN_ROWS, 1, 2, 2},
         .data = plan_pixels,
         .size_bytes = sizeof plan_pixels},
        {.name = "y", .dtype = YS_I64, .rank = 1, .shape = {PLAN_ROWS}, .data = labels, .size_bytes = sizeof labels}};
    struct ys_tensor orders[] = {{.name = "order",
                                  .dtype = YS_U32,
                                  .rank = 2,
                                  .shape = {PLAN_STEPS, batch},
                                  .data = order,
                                  .size_bytes = (size_t)(PLAN_STEPS * batch) * sizeof *order},
                                 vector64("lr", lr, PLAN_STEPS)};
    struct ys_tensor weight = {
        .name = "w", .dtype = YS_F32, .rank = 2, .shape = {3, 4}, .data = weights, .size_bytes = sizeof weights};
    ys_safetensors_close(files_make("data", data, 2));
    ys_safetensors_close(files_make("orders", orders, 2));
    ys_safetensors_close(files_make("weights", &weight, 1));
    write_graph(files_path("graph"));
    return plan_of_files(batch);
}

/* Pixel k of all is k: every pixel is another. */
__attribute__((unused)) static void number_pixels(void)
{
    for (int i = 0; i < 4 * PLAN_ROWS; i++)
        plan_pixels[i] = (uint8_t)i;
}

#endif
