#include "../../fuzz/onnx.c"
#include "fuzz/replay.h"

static void the_corpus_is_read_or_refused(void)
{
    replay_each("onnx", 8, replay_whole);
}

/* Files of tens of kilobytes, most of it weights: cut at every 41st byte. */
static void cut(const char *name, const struct ys_buf *input)
{
    (void)name;
    for (size_t size = 0; size < input->size; size += 1 + size % 41)
        replay_copy(input->data, size);
}

static void files_that_were_cut_are_refused(void)
{
    replay_each("onnx", 8, cut);
}

/* The nodes stand before the weights: most changes go there. */
static void change(const char *name, const struct ys_buf *input)
{
    struct ys_rng rng;
    ys_rng_init(&rng, 1, name);
    for (int round = 0; round < 1500; round++) {
        uint32_t reach = (uint32_t)input->size;
        char *copy = ys_alloc(input->size, 1);
        memcpy(copy, input->data, input->size);
        if (round % 8 && reach > 3000)
            reach = 3000;
        for (uint32_t i = 0, changes = 1 + ys_rng_below(&rng, 4); i < changes; i++) {
            char *at = &copy[ys_rng_below(&rng, reach)];
            *at = (char)(i % 2 ? ys_rng_u32(&rng) : (unsigned char)*at ^ 1U << ys_rng_below(&rng, 8));
        }
        CHECK_INT(LLVMFuzzerTestOneInput((const uint8_t *)copy, input->size), 0);
        ys_free(copy);
    }
}

static void changed_files_are_read_or_refused(void)
{
    replay_each("onnx", 8, change);
}

TAP_MAIN(TAP_CASE(the_corpus_is_read_or_refused), TAP_CASE(files_that_were_cut_are_refused),
         TAP_CASE(changed_files_are_read_or_refused))
