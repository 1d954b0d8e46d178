/* Channels that become pixels and pixels that become channels, the largest along some axes, extents that are repeated.
 */
#include "unit/onnx/eval_onnx.h"

#define CHANNELS 8
#define HEIGHT   2
#define WIDTH    6 /* no NHWC of 6 channels */
#define SIZE     (CHANNELS * HEIGHT * WIDTH)
#define CLASSES  3 /* of end_in_dense() */

static void fill(unsigned char x[SIZE])
{
    for (int i = 0; i < SIZE; i++)
        x[i] = (unsigned char)(i * 37 % 251);
}

/* The dense layer's weight is 0.1 (3 i + c + 1). */
static void check_dense(struct ys_onnx_import *import, const double *out, int count)
{
    unsigned char x[SIZE];
    double logits[CLASSES];
    fill(x);
    if (import && made_evaluate(import, x, 1, logits))
        for (int c = 0; c < CLASSES; c++) {
            double expected = 0;
            for (int i = 0; i < count; i++)
                expected += out[i] * (double)(0.1F * (float)(3 * i + c + 1));
            CHECK_NEAR(logits[c], expected, 1e-12 * expected); /* a hundred products, in double */
        }
    ys_onnx_import_free(import);
}

/* By ONNX's own words: element (c, h, w) of the many pixels is that of the few at h / 2, w / 2, in the channel that the
 * place in its block says; DCR has the block's place before the channels, CRD behind them. */
static void blocks_become_pixels_and_pixels_blocks(void)
{
    static const char *const modes[] = {"", "DCR", "CRD"};
    for (int k = 0; k < 6; k++) {
        const bool is_down = k > 2, by_columns = k % 3 == 2;
        const int c_many = is_down ? CHANNELS : CHANNELS / 4, h_many = is_down ? HEIGHT : 2 * HEIGHT,
                  w_many = is_down ? WIDTH : 2 * WIDTH;
        unsigned char x[SIZE];
        double out[SIZE];
        struct made m = {0};
        fill(x);
        for (int c = 0; c < c_many; c++)
            for (int h = 0; h < h_many; h++)
                for (int w = 0; w < w_many; w++) {
                    const int block = h % 2 * 2 + w % 2, channel = by_columns ? c * 4 + block : block * c_many + c;
                    const int few = (channel * (h_many / 2) + h / 2) * (w_many / 2) + w / 2,
                              many = (c * h_many + h) * w_many + w;
                    out[is_down ? few : many] = x[is_down ? many : few] / 255.0;
                }
        made_input(&m, -1, CHANNELS, HEIGHT, WIDTH);
        made_node(&m, is_down ? "SpaceToDepth" : "DepthToSpace", "x", "b");
        made_integer(&m, "blocksize", 2);
        if (*modes[k % 3])
            made_text(&m, "mode", modes[k % 3]);
        end_in_dense(&m, "b", SIZE);
        check_dense(made_read(&m, "y", 17), out, SIZE);
    }
}

static void blocks_that_do_not_fit_are_refused(void)
{
    static const struct {
        const char *op, *mode;
        int64_t size;
    } cases[] = {{"DepthToSpace", "DCR", 3},  {"DepthToSpace", "DCR", 0},  {"DepthToSpace", "CRD", -2},
                 {"DepthToSpace", "RCD", 2},  {"SpaceToDepth", "DCR", 4},  {"DepthToSpace", "DCR", (int64_t)1 << 62},
                 {"SpaceToDepth", "DCR", -1}, {"DepthToSpace", "CRD", 16}, {"SpaceToDepth", "DCR", (int64_t)1 << 33}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[96];
        struct made m = {0};
        made_input(&m, -1, CHANNELS, HEIGHT, WIDTH);
        made_node(&m, cases[i].op, "x", "b");
        made_integer(&m, "blocksize", cases[i].size);
        made_text(&m, "mode", cases[i].mode);
        end_in_dense(&m, "b", SIZE);
        snprintf(words, sizeof words, "node b (%s): blocksize %lld, mode %s", cases[i].op, (long long)cases[i].size,
                 cases[i].mode);
        check_read(&m, "y", 17, words);
    }
    struct made m = {0};
    made_input(&m, -1, CHANNELS, 0, 0);
    made_node(&m, "DepthToSpace", "x", "b");
    made_integer(&m, "blocksize", 2);
    end_in_dense(&m, "b", CHANNELS);
    check_read(&m, "y", 17, "node b (DepthToSpace): blocksize 2");
}

static void the_largest_along_axes_is_found(void)
{
    static const struct {
        int64_t axes[3];
        size_t count;
        bool reduced[3]; /* channels, height, width */
    } cases[] = {{{2, 3}, 2, {false, true, true}},   {{1}, 1, {true, false, false}},
                 {{-1}, 1, {false, false, true}},    {{1, -1}, 2, {true, false, true}},
                 {{1, 2, 3}, 3, {true, true, true}}, {{-2}, 1, {false, true, false}}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const bool *r = cases[i / 2].reduced;
        const int c_left = r[0] ? 1 : CHANNELS, h_left = r[1] ? 1 : HEIGHT, w_left = r[2] ? 1 : WIDTH;
        unsigned char x[SIZE];
        double out[SIZE] = {0};
        struct made m = {0};
        fill(x);
        for (int at = 0; at < SIZE; at++) {
            const int c = at / (HEIGHT * WIDTH) % c_left, h = at / WIDTH % HEIGHT % h_left, w = at % WIDTH % w_left;
            double *largest = &out[(c * h_left + h) * w_left + w];
            *largest = x[at] / 255.0 > *largest ? x[at] / 255.0 : *largest;
        }
        made_input(&m, -1, CHANNELS, HEIGHT, WIDTH);
        made_node(&m, "ReduceMax", "x", "m");
        made_integers(&m, "axes", cases[i / 2].axes, cases[i / 2].count);
        made_integer(&m, "keepdims", i % 2 == 0);
        if (cases[i / 2].count == 3 && i % 2) { /* nothing but the batch is left */
            made_node(&m, "Unsqueeze", "m", "u");
            made_integers(&m, "axes", (const int64_t[]){1}, 1);
        } else
            made_node(&m, "Identity", "m", "u");
        end_in_dense(&m, "u", c_left * h_left * w_left);
        if (cases[i / 2].count == 3 && i % 2) {
            check_read(&m, "y", 11, "node m (ReduceMax): leaves nothing but the batch");
            continue;
        }
        check_dense(made_read(&m, "y", 11), out, c_left * h_left * w_left);
    }
}

static void the_largest_of_all_rows_is_refused(void)
{
    struct made m = {0};
    made_input(&m, -1, CHANNELS, HEIGHT, WIDTH);
    made_node(&m, "ReduceMax", "x", "m");
    end_in_dense(&m, "m", 1);
    check_read(&m, "y", 17, "node m (ReduceMax): names no axes");
    made_input(&m, -1, CHANNELS, HEIGHT, WIDTH);
    made_node(&m, "ReduceMax", "x", "m");
    made_integers(&m, "axes", (const int64_t[]){0}, 1);
    end_in_dense(&m, "m", 1);
    check_read(&m, "y", 17, "node m (ReduceMax)|batch");
    made_input(&m, -1, CHANNELS, HEIGHT, WIDTH);
    made_node(&m, "ReduceMax", "x", "m");
    made_integer(&m, "noop_with_empty_axes", 1);
    end_in_dense(&m, "m", SIZE);
    check_read(&m, "y", 18, "");
}

static void begin_expand(struct made *m, const int64_t *shape, int64_t count)
{
    made_input(m, -1, CHANNELS, 1, WIDTH);
    made_tensor(m, "shape", 7, &count, 1, shape, (size_t)count * sizeof *shape);
    made_node(m, "Expand", "x shape", "e");
}

static void extents_of_1_are_repeated(void)
{
    unsigned char x[SIZE];
    double out[SIZE];
    struct made m = {0};
    fill(x);
    for (int i = 0; i < SIZE; i++)
        out[i] = x[i / (HEIGHT * WIDTH) * WIDTH + i % WIDTH] / 255.0;
    begin_expand(&m, (const int64_t[]){1, CHANNELS, HEIGHT, 1}, 4);
    end_in_dense(&m, "e", SIZE);
    struct ys_onnx_import *import = made_read(&m, "y", 17);
    if (import)
        CHECK_INT(ys_graph_parameter_count(import->graph), SIZE * CLASSES); /* zeros that are added are none */
    check_dense(import, out, SIZE);
    for (int i = 0; i < CHANNELS * WIDTH; i++)
        out[i] = x[i] / 255.0;
    begin_expand(&m, (const int64_t[]){1, WIDTH}, 2); /* of the last axes, and nothing is repeated */
    end_in_dense(&m, "e", CHANNELS * WIDTH);
    check_dense(made_read(&m, "y", 17), out, CHANNELS * WIDTH);
}

static void rows_and_longer_extents_are_not_repeated(void)
{
    static const struct {
        int64_t shape[5], count;
        const char *words;
    } cases[] = {{{2, CHANNELS, 1, WIDTH}, 4, "node e (Expand): makes axis 0 2 long, and 0 for each row"},
                 {{1, CHANNELS, 2, 3}, 4, "node e (Expand): makes axis 3, of the extent 6, 3 long"},
                 {{1, CHANNELS, 0, 1}, 4, "node e (Expand): makes axis 2, of the extent 1, 0 long"},
                 {{3, 1, CHANNELS, 1, 1}, 5, "node e (Expand): makes 5 dimensions of 4"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made m = {0};
        begin_expand(&m, cases[i].shape, cases[i].count);
        end_in_dense(&m, "e", SIZE);
        check_read(&m, "y", 17, cases[i].words);
    }
}

TAP_MAIN(TAP_CASE(blocks_become_pixels_and_pixels_blocks), TAP_CASE(blocks_that_do_not_fit_are_refused),
         TAP_CASE(the_largest_along_axes_is_found), TAP_CASE(the_largest_of_all_rows_is_refused),
         TAP_CASE(extents_of_1_are_repeated), TAP_CASE(rows_and_longer_extents_are_not_repeated))
