/* Trains LeNet by yardstick's engine, on noise with a bright bar whose height is the class (docs/engine.md):
 *     cc train_lenet.c $(pkg-config --cflags --libs yardstick-engine) -o train_lenet && ./train_lenet */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yardstick/engine.h>

enum { BATCH = 64, SIDE = 28, CLASSES = 10, STEPS = 100 };
static unsigned char x[BATCH][SIDE * SIDE];
static int64_t y[BATCH];

static void draw_rows(void)
{
    for (int row = 0; row < BATCH; row++) {
        y[row] = rand() % CLASSES;
        for (int i = 0; i < SIDE * SIDE; i++)
            x[row][i] = (unsigned char)(rand() % 128);
        memset(&x[row][SIDE * (4 + 2 * y[row])], 255, SIDE);
    }
}

int main(void)
{
    struct ys_engine_config config = {.batch = BATCH, .precision = YS_ENGINE_F32, .threads = 1, .training = true};
    struct ys_engine *net = NULL;
    double loss = 0;
    int failed = ys_engine_open_model("lenet", &config, &net) || ys_engine_draw(net, 1);
    for (int step = 0; !failed && step < STEPS; step++) {
        draw_rows();
        failed = ys_engine_step(net, x, y, 0.05, &loss);
    }
    draw_rows(); /* rows that it has not seen */
    if (failed || ys_engine_forward(net, x, y, YS_ENGINE_EVAL, &loss) || ys_engine_save(net, "lenet.safetensors")) {
        fprintf(stderr, "%s\n", ys_engine_error());
        return 1;
    }
    printf("%d steps on %s: a loss of %.1e on new rows\n", STEPS, ys_engine_backend(net), loss);
    ys_engine_close(net);
    return 0;
}
