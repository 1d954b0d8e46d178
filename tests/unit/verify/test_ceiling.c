/* How far twins may lie from the oracle, whoever they are. */
#include "tap.h"
#include "verify/oracle/ceiling.h"
#include "verify/verify.h"

#include "graph/builder.h"

#include <math.h>

/* Two layers of 10 and 3 outputs over rows of 12 numbers; a ReLU between them, or a Tanh. */
static struct ys_graph *make_graph(enum ys_op between)
{
    struct ys_build *b = NULL;
    struct ys_graph *graph = NULL;
    CHECK_INT(ys_build_new("ceiling", (const int64_t[]){12}, 1, YS_F32, &b), YS_OK);
    int v = ys_build_plain(b, between, ys_build_gemm(b, ys_build_input(b), 10, "one"), "between");
    CHECK_INT(ys_build_finish(b, ys_build_gemm(b, v, 3, "two"), &graph), YS_OK);
    return graph;
}

static struct ys_graph *make_images(void)
{
    struct ys_build *b = NULL;
    struct ys_graph *graph = NULL;
    CHECK_INT(ys_build_new("ceiling", (const int64_t[]){3, 6, 6}, 3, YS_F32, &b), YS_OK);
    int v = ys_build_conv(b, ys_build_input(b), 4, 3, 1, 1, "conv");
    CHECK_INT(ys_build_finish(b, ys_build_gemm(b, ys_build_flatten(b, v, "flatten"), 5, "fc"), &graph), YS_OK);
    return graph;
}

static void its_factor_is_that_of_the_longest_sum(void)
{
    struct ys_graph *rows = make_graph(YS_OP_TANH), *images = make_images();
    CHECK(ys_ceiling_factor(rows, 8, YS_PRECISION_F32) == 4 + sqrt(12));     /* the numbers of a row */
    CHECK(ys_ceiling_factor(rows, 100, YS_PRECISION_F32) == 4 + sqrt(100));  /* a gradient is a sum over rows */
    CHECK(ys_ceiling_factor(images, 2, YS_PRECISION_F32) == 4 + sqrt(144));  /* the pixels of a flattened image */
    CHECK(ys_ceiling_factor(images, 10, YS_PRECISION_F32) == 4 + sqrt(360)); /* the pixels of all rows */
    /* Sums are rounded more finely than what goes into them. */
    CHECK(ys_ceiling_factor(rows, 100, YS_PRECISION_BF16) == 8 + 10 * 0x1p-16);
    CHECK(ys_ceiling_factor(rows, 100, YS_PRECISION_F64) == 4 + 10 * 0x1p-29);
    ys_graph_free(rows);
    ys_graph_free(images);
}

static struct ys_findings found(double logits, double gradients)
{
    return (struct ys_findings){.logits = {.error = logits}, .gradients = {.error = gradients}};
}

static void twins_above_it_are_no_judges(void)
{
    const double factor = 4 + sqrt(12);
    struct ys_reference reference = {.graph = make_graph(YS_OP_TANH), .extent = {.rows = 8}};
    struct ys_findings moved = found(1e-6, 1e-5);
    CHECK(fabs(ys_ceiling_forward(&reference, YS_PRECISION_F32, &moved) / (8 * YS_VERIFY_ROOM * factor * 1e-6) - 1) <
          1e-12);
    struct ys_findings twins = found(1e-6 * factor * 0.99, 1e-5 * factor * 0.99);
    CHECK_INT(ys_ceiling_check(&reference, YS_PRECISION_F32, &moved, &twins), YS_OK);
    twins = found(0.77, 1e-5);
    CHECK_INT(ys_ceiling_check(&reference, YS_PRECISION_F32, &moved, &twins), YS_EPROTOCOL);
    CHECK_HAS(ys_error(), "the oracle or its twins failed: a twin lies 0.77 from the oracle in logits and loss");
    twins = found(1e-6, 613);
    CHECK_INT(ys_ceiling_check(&reference, YS_PRECISION_F32, &moved, &twins), YS_EPROTOCOL);
    CHECK_HAS(ys_error(), "613 from the oracle in gradients");
    twins = found(NAN, 0);
    CHECK_INT(ys_ceiling_check(&reference, YS_PRECISION_F32, &moved, &twins), YS_EPROTOCOL);
    reference.evaluation = true;
    twins = found(1e-6, 613);
    CHECK_INT(ys_ceiling_check(&reference, YS_PRECISION_F32, &moved, &twins), YS_OK);
    ys_graph_free(reference.graph);
}

/* What agrees to the last digit may be a unit of float32 apart, and a ReLU may flip. */
static void rounding_has_a_least_and_flips(void)
{
    const struct ys_findings moved = found(0, 0);
    struct ys_reference reference = {.graph = make_graph(YS_OP_RELU), .extent = {.rows = 8}};
    struct ys_findings twins = found(0x1p-23, 0.99);
    CHECK_INT(ys_ceiling_check(&reference, YS_PRECISION_F32, &moved, &twins), YS_OK);
    twins.gradients.error = 1.01;
    CHECK_INT(ys_ceiling_check(&reference, YS_PRECISION_F32, &moved, &twins), YS_EPROTOCOL);
    ys_graph_free(reference.graph);
    reference.graph = make_graph(YS_OP_TANH);
    twins.gradients.error = 1e-3;
    CHECK_INT(ys_ceiling_check(&reference, YS_PRECISION_F32, &moved, &twins), YS_EPROTOCOL);
    ys_graph_free(reference.graph);
}

TAP_MAIN(TAP_CASE(its_factor_is_that_of_the_longest_sum), TAP_CASE(twins_above_it_are_no_judges),
         TAP_CASE(rounding_has_a_least_and_flips))
