/* Threads that were asked for and threads that there are. */
#include "backend/parallel.h"
#include "engine/backend.h"
#include "engine/engine.h"
#include "graph/builder.h"
#include "tap.h"

enum { ROWS = 2, WIDTH = 5 };

static struct ys_engine *open_engine(const struct ys_graph *graph)
{
    struct ys_engine *e = NULL;
    const struct ys_engine_config config = {
        .batch = ROWS, .precision = YS_ENGINE_F32, .threads = 2, .backend = "onednn"};
    CHECK_INT(ys_engine_open_graph(graph, &config, &e), YS_OK);
    return e;
}

static struct ys_graph *make_graph(void)
{
    struct ys_build *b = NULL;
    struct ys_graph *graph = NULL;
    if (ys_build_new("parallel", (const int64_t[]){WIDTH}, 1, YS_F32, &b) == YS_OK)
        CHECK_INT(ys_build_finish(b, ys_build_gemm(b, ys_build_input(b), 3, "fc"), &graph), YS_OK);
    return graph;
}

struct seen {
    const struct ys_graph *graph;
    struct ys_engine *engine;
    int counted, run, threads;
};

/* Within a region the runtime gives a thread nobody else. */
static void look(const void *context, void *const *operand, size_t first, size_t end)
{
    struct seen *seen = operand[0];
    static const float x[ROWS * WIDTH];
    (void)context;
    if (first > 0 || end == 0)
        return;
    seen->counted = ys_parallel_count(2);
    if (!seen->engine)
        return;
    seen->run = ys_engine_forward(seen->engine, x, NULL, YS_ENGINE_EVAL, NULL);
    CHECK_HAS(ys_engine_error(), "divided among 2 threads");
    struct ys_engine *inner = open_engine(seen->graph);
    seen->threads = ys_engine_threads(inner);
    CHECK_INT(ys_engine_forward(inner, x, NULL, YS_ENGINE_EVAL, NULL), YS_OK);
    ys_engine_close(inner);
}

static void threads_are_counted_where_they_are(void)
{
    struct seen seen = {0};
    void *const operand[] = {&seen};
    CHECK_INT(ys_parallel_count(1), 1);
    CHECK_INT(ys_parallel_count(2), 2);
    ys_parallel_for(2, 2, 1, look, NULL, operand);
    CHECK_INT(seen.counted, 1);
    CHECK_INT(ys_parallel_count(2), 2);
}

static void an_engine_whose_threads_are_gone_says_so(void)
{
    struct ys_graph *graph = make_graph();
    static const float x[ROWS * WIDTH];
    if (ys_backend_left_out("onednn")) {
        tap_skip("onednn is not built in");
        ys_graph_free(graph);
        return;
    }
    struct seen seen = {.graph = graph, .engine = open_engine(graph)};
    void *const operand[] = {&seen};
    CHECK_INT(ys_engine_threads(seen.engine), 2);
    ys_parallel_for(2, 2, 1, look, NULL, operand);
    CHECK_INT(seen.run, YS_EUNSUPPORTED);
    CHECK_INT(seen.threads, 1);
    CHECK_INT(ys_engine_forward(seen.engine, x, NULL, YS_ENGINE_EVAL, NULL), YS_OK);
    ys_engine_close(seen.engine);
    ys_graph_free(graph);
}

TAP_MAIN(TAP_CASE(threads_are_counted_where_they_are), TAP_CASE(an_engine_whose_threads_are_gone_says_so))
