/* What `onednn` has not is refused when the engine is opened, by a sentence that says what to take; `ref` has it. */
#include "engine/backend.h"
#include "engine/engine.h"
#include "graph/builder.h"
#include "tap.h"

/** Closes the network behind `v`, and opens it in both back ends. */
static void check_refused(struct ys_build *b, int v, const char *said)
{
    struct ys_graph *graph = NULL;
    struct ys_engine *e = NULL;
    const int logits = ys_build_gemm(b, ys_build_flatten(b, v, "flatten"), 3, "fc");
    REQUIRE(ys_build_finish(b, logits, &graph) == YS_OK);
    struct ys_engine_config config = {
        .batch = 2, .precision = YS_ENGINE_F32, .backend = "ref", .threads = 1, .training = true};
    tap_check(ys_engine_open_graph(graph, &config, &e) == 0, __LINE__, "ref: %s", ys_engine_error());
    ys_engine_close(e);
    e = NULL;
    config.backend = "onednn";
    CHECK_INT(ys_engine_open_graph(graph, &config, &e), YS_EUNSUPPORTED);
    if (ys_backend_left_out("onednn")) {
        CHECK_TEXT(ys_engine_error(), ys_backend_left_out("onednn"));
        tap_skip("%s", ys_engine_error());
    } else {
        CHECK_HAS(ys_engine_error(), said);
        CHECK_HAS(ys_engine_error(), "take the back end \"ref\", in f32 or f64");
    }
    ys_engine_close(e);
    ys_graph_free(graph);
}

static struct ys_build *begin(size_t rank, const int64_t *row)
{
    struct ys_build *b = NULL;
    CHECK(ys_build_new("refused", row, rank, YS_F32, &b) == YS_OK);
    return b;
}

static struct ys_build *begin_image(void)
{
    return begin(3, (const int64_t[]){4, 6, 6});
}

static void normalisation_within_the_network(void)
{
    struct ys_build *b = begin_image();
    const int v = ys_build_conv(b, ys_build_input(b), 4, 1, 1, 0, "conv");
    check_refused(b, ys_build_normalize(b, v, 0.5, 0.25, 2, "normalize"),
                  "normalize: the back end onednn normalizes the graph's inputs only");
}

static void normalisation_of_five_dimensions(void)
{
    struct ys_build *b = begin(4, (const int64_t[]){2, 3, 2, 2});
    check_refused(b, ys_build_normalize(b, ys_build_input(b), 0.5, 0.25, 2, "normalize"),
                  "normalize: the back end onednn normalizes up to 4 dimensions");
}

static void lrn_over_an_even_number_of_channels(void)
{
    struct ys_build *b = begin_image();
    check_refused(b, ys_build_lrn(b, ys_build_input(b), (struct ys_lrn){2, 0.1, 0.75, 1}, "lrn"),
                  "the back end onednn has no LRN over an even number of channels");
}

static void a_pool_that_counts_padding_and_ends_beyond_it(void)
{
    static const struct ys_window window = {{3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 1, .ceil = true, .include_pad = true};
    struct ys_build *b = begin_image();
    check_refused(b, ys_build_pool(b, YS_OP_AVERAGEPOOL, ys_build_input(b), &window, "pool"),
                  "pool: the back end onednn has no average pool that counts padding and ends beyond it");
}

static void a_shared_weight_in_groups(void)
{
    struct ys_build *b = begin_image();
    const int v = ys_build_conv_plain(b, ys_build_input(b), 4, 3, 1, 1, 2, "conv");
    check_refused(b, ys_build_shared(b, v, v, "again"),
                  "conv: the back end onednn shares no weight of a convolution in groups");
}

static void a_shared_weight_in_groups_transposed(void)
{
    static const struct ys_window window = {{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 2};
    struct ys_build *b = begin_image();
    const int v = ys_build_conv_transpose(b, ys_build_input(b), 4, &window, "conv");
    check_refused(b, ys_build_shared(b, v, v, "again"),
                  "conv: the back end onednn shares no weight of a convolution in groups");
}

TAP_MAIN(TAP_CASE(normalisation_within_the_network), TAP_CASE(normalisation_of_five_dimensions),
         TAP_CASE(lrn_over_an_even_number_of_channels), TAP_CASE(a_pool_that_counts_padding_and_ends_beyond_it),
         TAP_CASE(a_shared_weight_in_groups), TAP_CASE(a_shared_weight_in_groups_transposed))
