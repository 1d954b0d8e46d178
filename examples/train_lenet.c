/* Trains LeNet with yardstick's engine, on images that it makes itself: noise, and a bright bar whose height is the
 * class. It uses nothing but the installed header and library (docs/engine.md, "As a library"):
 *
 *     cc train_lenet.c $(pkg-config --cflags --libs yardstick-engine) -o train_lenet && ./train_lenet */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yardstick/engine.h>

enum { BATCH = 64, SIDE = 28, CLASSES = 10, STEPS = 40 };

static void draw_rows(unsigned char *x, int64_t *y)
{
    for (int row = 0; row < BATCH; row++, x += SIDE * SIDE) {
        y[row] = rand() % CLASSES;
        for (int i = 0; i < SIDE * SIDE; i++)
            x[i] = (unsigned char)(rand() % 128);
        memset(x + (4 + 2 * y[row]) * SIDE, 255, SIDE);
    }
}

int main(void)
{
    static unsigned char x[BATCH * SIDE * SIDE];
    int64_t y[BATCH];
    struct ys_engine_config config = {.batch = BATCH,
                                      .precision = YS_ENGINE_F32,
                                      .threads = 1,
                                      .training = true,
                                      .optimizer = {.momentum = 0.9, .weight_decay = 0.0005}};
    struct ys_engine *engine = NULL;
    double loss = 0;
    int failed = ys_engine_open_model("lenet", &config, &engine) || ys_engine_draw(engine, 1);
    for (int step = 0; !failed && step < STEPS; step++) {
        draw_rows(x, y);
        failed = ys_engine_step(engine, x, y, 0.02, &loss);
    }
    draw_rows(x, y); /* rows that it has not seen */
    if (failed || ys_engine_forward(engine, x, y, YS_ENGINE_EVAL, &loss) ||
        ys_engine_save(engine, "lenet.safetensors")) {
        fprintf(stderr, "%s\n", ys_engine_error());
        return 1;
    }
    const float *logits = ys_engine_logits(engine);
    int correct = 0;
    for (int row = 0; row < BATCH; row++, logits += CLASSES) {
        int best = 0;
        for (int k = 1; k < CLASSES; k++)
            best = logits[k] > logits[best] ? k : best;
        correct += best == y[row];
    }
    printf("%d steps on %s: loss %.1e, %d of %d right\n", STEPS, ys_engine_library(engine), loss, correct, BATCH);
    ys_engine_close(engine);
    return 0;
}
