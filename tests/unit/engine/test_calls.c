/* The calls of a program, one by one: what each is, and that all of them are a step. */
#include "unit/engine/families.h"

#include "engine/program.h"

static const struct backend_case onednn_bf16 = {"onednn", YS_ENGINE_BF16, 2};

static bool is_product(const struct ys_node *node)
{
    return node->op == YS_OP_CONV || node->op == YS_OP_GEMM;
}

/** How many calls of this kind and segment the node has. */
static int calls_of(const struct ys_program *program, const struct ys_node *node, enum ys_call_kind kind,
                    enum ys_segment segment)
{
    int count = 0;
    for (size_t i = 0; i < program->call_count; i++) {
        const struct ys_call *call = &program->calls[i];
        count += call->kind == kind && call->segment == segment && strcmp(call->name, node->name) == 0;
    }
    return count;
}

/** Every convolution and product is marked once forward and once by its weights, and once by its data unless it is the
 * first, which every family has one of; nothing else is marked so. */
static void check_marks(const struct family *family, const struct backend_case *b)
{
    struct net n;
    family->build(&n);
    struct ys_engine *e = open_case(&n, b);
    REQUIRE(e != NULL);
    const struct ys_program *program = ys_engine_program(e);
    int firsts = 0;
    for (size_t i = 0; i < n.graph.node_count; i++) {
        const struct ys_node *node = &n.nodes[i];
        int data = calls_of(program, node, YS_CALL_PRODUCT, YS_SEGMENT_BACKWARD), here = is_product(node);
        tap_check(calls_of(program, node, YS_CALL_PRODUCT, YS_SEGMENT_FORWARD) == here &&
                      calls_of(program, node, YS_CALL_WEIGHTS, YS_SEGMENT_BACKWARD) == here && data <= here,
                  __LINE__, "%s, %s: the products of %s are marked otherwise", family->name, b->name, node->name);
        firsts += here && !data;
    }
    tap_check(firsts == 1, __LINE__, "%s, %s: %d convolutions or products have no gradient by their data", family->name,
              b->name, firsts);
    for (size_t i = 0; i < program->call_count; i++) {
        const struct ys_call *call = &program->calls[i];
        CHECK((call->segment == YS_SEGMENT_UPDATE) == (call->kind == YS_CALL_UPDATE));
        CHECK((strcmp(call->name, "loss") == 0) == (call->kind == YS_CALL_LOSS));
    }
    ys_engine_close(e);
}

/** A second step, call by call, with every convolution and product run three times. */
static void check_step(const struct family *family, const struct backend_case *b)
{
    struct net n;
    family->build(&n);
    struct ys_engine *whole = open_case(&n, b), *parts = open_case(&n, b);
    REQUIRE(whole && parts);
    void *x = net_rows(&n, "x");
    int64_t *y = net_labels(&n, "y");
    CHECK(ys_engine_step(whole, x, y, 0.01, NULL) == 0 && ys_engine_step(whole, x, y, 0.01, NULL) == 0);
    CHECK(ys_engine_step(parts, x, y, 0.01, NULL) == 0);
    const struct ys_program *program = ys_engine_program(parts);
    for (size_t i = 0; i < program->call_count; i++) {
        enum ys_call_kind kind = program->calls[i].kind;
        for (int k = 0; k < (kind == YS_CALL_PRODUCT || kind == YS_CALL_WEIGHTS ? 3 : 1); k++)
            CHECK(ys_engine_run_call(parts, i) == 0);
    }
    CHECK_INT(ys_engine_counters(parts).steps, 1);
    size_t count;
    double *v = flat_of(whole, false, &count), *w = flat_of(parts, false, &count);
    tap_check(memcmp(v, w, count * sizeof *v) == 0, __LINE__, "weights of %s differ", family->name);
    ys_engine_close(whole);
    ys_engine_close(parts);
    free(v);
    free(w);
    free(x);
    free(y);
}

static void check_families(const struct backend_case *b,
                           void (*check)(const struct family *, const struct backend_case *))
{
    for (int f = 0; f < FAMILIES; f++)
        check(&families[f], b);
}

static void products_are_marked_ref(void)
{
    check_families(&ref64, check_marks);
}

static void products_are_marked_onednn(void)
{
    check_families(&onednn2, check_marks);
}

static void products_are_marked_simd(void)
{
    check_families(&simd2, check_marks);
}

static void products_are_marked_bf16(void)
{
    if (lacks_bf16())
        return;
    check_families(&onednn_bf16, check_marks);
}

static void all_calls_are_a_step_ref(void)
{
    check_families(&ref64, check_step);
}

static void all_calls_are_a_step_onednn(void)
{
    check_families(&onednn2, check_step);
}

static void all_calls_are_a_step_simd(void)
{
    check_families(&simd2, check_step);
}

static void all_calls_are_a_step_bf16(void)
{
    if (lacks_bf16())
        return;
    check_families(&onednn_bf16, check_step);
}

TAP_MAIN(TAP_CASE(products_are_marked_ref), TAP_CASE(products_are_marked_onednn), TAP_CASE(products_are_marked_simd),
         TAP_CASE(products_are_marked_bf16), TAP_CASE(all_calls_are_a_step_ref), TAP_CASE(all_calls_are_a_step_onednn),
         TAP_CASE(all_calls_are_a_step_simd), TAP_CASE(all_calls_are_a_step_bf16))
